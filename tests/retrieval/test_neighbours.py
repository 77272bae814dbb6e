from __future__ import annotations

from dataclasses import replace

import pytest

from ragchat.retrieval.neighbours import LONGEST
from ragchat.retrieval.retriever import Retriever
from ragchat.retrieval.trace import Candidate, Threshold
from ragchat.settings import RetrievalSettings
from tests.doubles import WordEmbedder
from tests.retrieval.doubles import MemorySnapshot, passage

EMBEDDER = WordEmbedder()
CONDITION = "This holds for tenants. If the boiler fails in winter, the rent falls."
ANSWER = "By how much it falls: by half."
CONCLUSION = "It rises again when heat is back. Nothing else changes."


def part(content: str, start: int, section: str = "Rent"):  # type: ignore[no-untyped-def]
    return passage(content, "lease.md", start=start, section=(section,))


NOTES = [part(CONDITION, 0), part(ANSWER, 100), part(CONCLUSION, 200)]


def source(notes=NOTES, **wanted: bool) -> Candidate:  # type: ignore[no-untyped-def]
    settings = RetrievalSettings(sources=1, **wanted)  # type: ignore[arg-type]
    ours = Retriever(MemorySnapshot(notes, EMBEDDER), EMBEDDER, settings, Threshold(0.9, "setting"))
    trace = ours.retrieve("by how much, by half")
    assert all((c.before, c.after) == ("", "") for c in trace.candidates if c.verdict != "sent")
    (sent,) = trace.sources
    assert sent.chunk.content == ANSWER
    return sent


def test_the_sentence_before_and_the_one_after_are_sent_along() -> None:
    sent = source()
    assert sent.before == "If the boiler fails in winter, the rent falls."
    assert sent.after == "It rises again when heat is back."
    assert (sent.chunk.start, sent.chunk.end) == (100, 100 + len(ANSWER))


def test_it_can_be_left_out() -> None:
    sent = source(neighbours=False)
    assert (sent.before, sent.after) == ("", "")


def test_another_section_and_another_document_are_no_neighbours() -> None:
    elsewhere = [part(CONDITION, 0, "Heat"), part(ANSWER, 100), passage(CONCLUSION, "other.md", start=200)]
    sent = source(elsewhere)
    assert (sent.before, sent.after) == ("", "")


def test_with_an_overlap_the_words_before_are_there_already() -> None:
    sent = source([NOTES[0], replace(NOTES[1], lead="the rent falls. "), NOTES[2]])
    assert sent.before == ""
    assert sent.after


def test_a_list_without_an_end_is_not_sent_along() -> None:
    endless = "item, " * (LONGEST // 6 + 1)
    sent = source([part(endless, 0), NOTES[1], part("z" * (LONGEST + 1), 200)])
    assert (sent.before, sent.after) == ("", "")


@pytest.mark.parametrize("count", [2, 3])
def test_what_is_a_source_itself_is_not_sent_twice(count: int) -> None:
    settings = RetrievalSettings(sources=count)
    ours = Retriever(MemorySnapshot(NOTES, EMBEDDER), EMBEDDER, settings, Threshold(1.0, "setting"))
    sources = ours.retrieve("by how much it falls when the boiler fails and rises again").sources
    assert len(sources) == count
    own = {one.chunk.content for one in sources}
    for one in sources:
        assert not any(words and words in content for words in (one.before, one.after) for content in own)


def test_japanese_sentences() -> None:
    notes = [
        part("家賃は毎月払う。ボイラーが壊れた場合は家賃が下がる。", 0),
        part(ANSWER, 100),
        part("その後は元に戻る。以上。", 200),
    ]
    sent = source(notes)
    assert sent.before == "ボイラーが壊れた場合は家賃が下がる。"
    assert sent.after == "その後は元に戻る。"
