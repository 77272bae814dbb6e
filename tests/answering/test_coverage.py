"""How much of the folder was searched, told with every answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragchat.answering.at_once import RetrieverAtOnce
from ragchat.answering.coverage import coverage_line
from ragchat.answering.filtered import retrieve_filtered
from ragchat.chunking.options import ChunkOptions
from ragchat.index.protocol import Coverage
from ragchat.index.store import open_index
from ragchat.settings import RetrievalSettings
from tests.index.building import EMBEDDER, STAMP, put
from tests.index.test_waiting import waiting_for


@pytest.mark.parametrize(
    ("coverage", "said"),
    [
        (Coverage(412, 0, 0), "searched 412 notes"),
        (Coverage(1, 0, 0), "searched 1 note"),
        (Coverage(412, 3, 0, changed=2), "searched 412 of 415 notes, 3 failed, 2 changed since"),
        (Coverage(12, 1, 0, outside=400), "searched 12 of 413 notes, 1 failed"),
        (Coverage(9, 0, 3), "searched 9 of 12 notes, 3 to be read anew"),
        (
            Coverage(4, 0, 0, pending=1996, by_words=1990),
            "searched 1,994 of 2,000 notes, 1,990 by their words alone so far, 6 not read yet",
        ),
    ],
)
def test_the_line_says_what_was_not_searched_and_why(coverage: Coverage, said: str) -> None:
    assert coverage_line(coverage) == said


def test_a_filter_is_named_beside_the_count() -> None:
    assert coverage_line(Coverage(12, 0, 0, outside=400), "in:house/") == (
        "searched 12 of 412 notes (in:house/)"
    )
    assert coverage_line(Coverage(1, 0, 0), 'in:"a\x1b[2J b"') == 'searched 1 note (in:"a\\x1b[2J b")'


def test_a_filter_holds_for_notes_that_wait_to_be_embedded(tmp_path: Path) -> None:
    index = open_index(tmp_path)
    index.begin(STAMP)
    put(index, "house/old.md", "the lease ends in March")
    put(index, "work/old.md", "the lease ends in May")
    texts = {"house/new.md": "the lease ends in June", "work/new.md": "the lease ends in July"}
    waiting = waiting_for({}, **texts)
    waiting.rest()
    retriever = RetrieverAtOnce(index, waiting, EMBEDDER, ChunkOptions(), RetrievalSettings())
    for typed, names, told in [
        (
            "in:house/ when ends the lease",
            {"house/old.md", "house/new.md"},
            "searched 2 of 4 notes (in:house/)",
        ),
        (
            "-in:house/ when ends the lease",
            {"work/old.md", "work/new.md"},
            "searched 2 of 4 notes (-in:house/)",
        ),
    ]:
        trace = retrieve_filtered(retriever, typed)
        assert {candidate.chunk.document for candidate in trace.candidates} == names
        assert coverage_line(trace.coverage, str(trace.filters)).startswith(told)
    index.close()
