"""A turn that was kept survives a kill; the export's links lead to where the words are."""

from __future__ import annotations

import json
import stat
from dataclasses import fields, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ragchat.answering.citations import attach_citations
from ragchat.answering.conversation import Conversation
from ragchat.answering.events import Answer, Support
from ragchat.answering.export import export_markdown
from ragchat.answering.turn import Turn, TurnSource, line_of, read_turn, turn_of
from ragchat.errors import StorageFailed
from ragchat.retrieval.trace import RetrievalTrace
from tests.answering.making import a_chunk, a_trace


def an_answer(
    text: str | None = "It ends [1].", trace: RetrievalTrace | None = None, **changes: object
) -> Answer:
    trace = trace or a_trace()
    answer = Answer(
        question=trace.question,
        trace=trace,
        outcome="answered",
        text=text,
        message=None,
        answered_by="model",
        model="qwen3:4b",
        citations=attach_citations(text or "", 2),
        abstained=False,
        context=None,
        timings_ms={"total": 1500.0},
    )
    return replace(answer, **changes)  # type: ignore[arg-type]


@pytest.fixture
def conversation(tmp_path: Path) -> Conversation:
    return Conversation(tmp_path / "data" / "conversation.jsonl")


MARKS = (Support(0, 12, (1,), found=True), Support(0, 7, (1, 2), found=False), Support(3, 7, (), found=None))


def test_how_sentences_stood_comes_back_with_the_turn(conversation: Conversation) -> None:
    first, second = conversation.keep(an_answer()), conversation.keep(an_answer(), MARKS[:1])
    conversation.keep_support(first.id, MARKS)
    kept = replace(first, support=MARKS), replace(second, support=MARKS[:1])
    assert conversation.turns() == kept
    branched = Conversation(conversation.path.with_name("branched.jsonl"))
    conversation.copy_up_to(first.id, branched)
    assert branched.turns() == kept[:1]
    conversation.delete(first.id)
    assert conversation.turns() == kept[1:]
    assert first.id.encode() not in conversation.path.read_bytes()


def test_the_export_tells_which_sentences_were_not_found(conversation: Conversation, tmp_path: Path) -> None:
    conversation.keep(
        an_answer("It ends [1]. *Rent* is 9 [1]."),
        [Support(0, 12, (1,), found=True), Support(13, 29, (1,), found=False), Support(0, 2, (), found=None)],
    )
    told = conversation.export_markdown(tmp_path)
    assert r"*1 of 2 sentences found in the source they cite; not: \*Rent\* is 9 \[1\].*" in told


@pytest.mark.parametrize(
    "wrong",
    [
        [{"start": 0, "end": 900, "numbers": [1], "found": True}],
        [{"start": 5, "end": 2, "numbers": [1], "found": True}],
        [{"start": 0, "end": 2, "numbers": [9], "found": True}],
        [{"start": 0, "end": 2, "numbers": [1], "found": "yes"}],
        [{"start": True, "end": 2, "numbers": [1], "found": True}],
        [{"start": 0, "end": 2, "numbers": 1, "found": True}],
        [{"start": 0}],
        ["x"],
        {"a": 1},
        None,
    ],
)
def test_marks_that_do_not_fit_cost_the_marks_not_the_turn(conversation: Conversation, wrong: object) -> None:
    turn = conversation.keep(an_answer())
    with conversation.path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"support_of": turn.id, "support": wrong}) + "\n")
    assert conversation.turns() == (turn,)
    assert conversation.title() == turn.question
    kept = json.loads(conversation.path.read_bytes().split(b"\n")[0])
    conversation.path.write_text(json.dumps({**kept, "support": wrong}), "utf-8")
    assert conversation.turns() == (turn,)


def test_marks_that_come_late_bring_nothing_back(conversation: Conversation) -> None:
    gone, stays = conversation.keep(an_answer()), conversation.keep(an_answer())
    conversation.delete(gone.id)
    conversation.keep_support(gone.id, MARKS)
    assert conversation.turns() == (stays,)
    assert gone.id.encode() not in conversation.path.read_bytes()
    conversation.clear()
    conversation.keep_support(stays.id, MARKS)
    assert not conversation.path.exists()


def test_turns_come_back_as_they_were_kept(conversation: Conversation) -> None:
    kept = [
        conversation.keep(an_answer()),
        conversation.keep(an_answer(None, outcome="refused", message="NO ANSWER: …", answered_by="none")),
        conversation.keep(an_answer("Half", a_trace("why\n\udcff\u2028?"), outcome="stopped")),
        conversation.keep(an_answer("", outcome="failed", error="broke off")),
    ]
    assert conversation.turns() == Conversation(conversation.path).turns() == tuple(kept)
    assert kept[0].sources[0].cited
    assert not kept[0].sources[1].cited
    assert kept[0].seconds == 1.5
    assert stat.S_IMODE(conversation.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(conversation.path.parent.stat().st_mode) == 0o700


def test_a_kill_in_mid_write_costs_only_that_turn(conversation: Conversation) -> None:
    first = conversation.keep(an_answer())
    whole = conversation.path.read_bytes()
    for cut in range(0, len(whole), 97):
        conversation.path.write_bytes(whole + whole[:cut])
        last = conversation.keep(an_answer("Later."))
        assert conversation.turns()[0] == first
        assert conversation.turns()[-1] == last
        assert len(conversation.turns()) == 2


def test_damaged_lines_are_skipped(conversation: Conversation) -> None:
    turn = conversation.keep(an_answer())
    damage = b'\xff\xfe\n[]\n{}\n"x"\nnull\n{"question": 5, "sources": []}\n' + b"[" * 100_000 + b"\n"
    conversation.path.write_bytes(damage + conversation.path.read_bytes() + damage)
    assert conversation.turns() == (turn,)


def test_a_later_versions_fields_do_not_lose_the_turn(conversation: Conversation) -> None:
    turn = conversation.keep(an_answer())
    line = conversation.path.read_text().replace('{"asked_at"', '{"mood": "good", "asked_at"')
    conversation.path.write_text(line)
    assert conversation.turns() == (turn,)


def test_earlier_questions_are_listed_without_repeats(conversation: Conversation) -> None:
    for question in ("a?", "b?", "b?", "a?"):
        conversation.keep(an_answer(trace=a_trace(question)))
    assert conversation.questions() == ("a?", "b?", "a?")
    conversation.clear()
    assert conversation.turns() == ()
    assert conversation.questions() == ()


def test_a_folder_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageFailed):
        Conversation(tmp_path / "file" / "conversation.jsonl").keep(an_answer())


def a_reader() -> MarkdownIt:
    """One that opens files too, as editors do; on its own markdown-it refuses them."""
    reader = MarkdownIt("gfm-like")
    reader.validateLink = lambda url: True  # type: ignore[method-assign]
    return reader


def links_of(markdown: str) -> list[str]:
    tokens = a_reader().parse(markdown)
    children = [child for token in tokens for child in token.children or ()]
    return [str(child.attrs["href"]) for child in children if child.type == "link_open"]


def test_the_export_leads_to_every_cited_range(conversation: Conversation, tmp_path: Path) -> None:
    name = "häuser/le [a] (1) <b>#?%20 テスト.md"
    folder = tmp_path / "my notes"
    path = folder / name
    path.parent.mkdir(parents=True)
    path.write_text("x" * 100 + "The lease ends.")
    conversation.keep(an_answer(trace=a_trace(chunks=[a_chunk("The lease ends.", name)])))
    links = links_of(conversation.export_markdown(folder))
    assert len(links) == 2  # the mark in the answer and the source in the list
    for link in links:
        parts = urlsplit(link)
        start, end = map(int, parts.fragment.removeprefix("char=").split(","))
        assert Path(unquote(parts.path)) == path
        assert path.read_text()[start:end] == "The lease ends."


def test_hostile_texts_stay_texts_in_the_export(conversation: Conversation, tmp_path: Path) -> None:
    hostile = "x\n# Heading\n[click](http://evil.example) <b>www.evil.example</b>\n```\n1. one\n---\n\x1b[2J"
    trace = a_trace(hostile, [a_chunk(hostile, "evil]( <x>.md", (hostile,))])
    conversation.keep(an_answer("Open fence:\n```\n[1](http://evil.example)", trace))
    conversation.keep(an_answer(f"{hostile} [1]", trace, answered_by="quotation"))
    conversation.keep(an_answer(None, trace, outcome="refused", message=hostile))
    exported = conversation.export_markdown(tmp_path)
    tokens = a_reader().parse(exported)
    assert "\x1b" not in exported
    assert all(link.startswith("file://") for link in links_of(exported))
    assert [token.tag for token in tokens if token.type == "heading_open"] == ["h1", "h2", "h2", "h2"]
    inner = [child.type for token in tokens for child in token.children or ()]
    assert not {"html_inline", "image"} & set(inner)
    assert "html_block" not in [token.type for token in tokens]
    assert sum(token.type == "fence" for token in tokens) == 1


_ANYTHING = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)


@given(
    st.sampled_from([field.name for field in fields(Turn)]),
    st.sampled_from([field.name for field in fields(TurnSource)]),
    _ANYTHING | st.lists(_ANYTHING, max_size=2) | st.dictionaries(st.text(max_size=3), _ANYTHING, max_size=2),
)
def test_whatever_stands_in_a_line_is_a_turn_that_can_be_shown_or_none(
    name: str, of_source: str, value: object
) -> None:
    whole = json.loads(line_of(turn_of(an_answer())))
    source = whole["sources"][0]
    for changed in (whole | {name: value}, whole | {"sources": [source | {of_source: value}]}):
        if (turn := read_turn(json.dumps(changed).encode())) is not None:
            assert "\x1b" not in export_markdown([turn], Path("/notes"))


@pytest.mark.parametrize("value", ["0.3", None, [0.3], 10**400])
def test_a_distance_that_is_no_number_is_a_damaged_line(value: object) -> None:
    kept = json.loads(line_of(turn_of(an_answer())))
    kept["sources"][0]["distance"] = value
    assert read_turn(json.dumps(kept).encode()) is None
