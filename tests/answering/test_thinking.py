"""Reasoning never reaches the answer, however tags leak and however the stream cuts them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragchat.answering.thinking import ThinkingFilter

TOKENS = [
    "<think>",
    "</think>",
    "<thought>",
    "</Thought>",
    "<",
    ">",
    "/",
    "think",
    "`",
    "a",
    "b ",
    "\n",
    "<b>",
]


def sorted_out(pieces: list[str]) -> tuple[str, str]:
    """(answer, thinking) as they stand after the last piece."""
    sorter = ThinkingFilter()
    answer, thinking = "", ""
    parts = [part for piece in pieces for part in sorter.feed(piece)]
    for part in [*parts, *sorter.finish()]:
        if part.restarts:
            answer = ""
        elif part.kind == "answer":
            answer += part.text
        else:
            thinking += part.text
    return answer, thinking


@given(st.lists(st.sampled_from(TOKENS), max_size=14).map("".join), st.data())
@example("`<think>", None)
@example("a`</think>b", None)
def test_any_split_gives_the_same_answer(text: str, data: st.DataObject | None) -> None:
    cuts = (
        data.draw(st.lists(st.integers(0, len(text)), max_size=8).map(sorted)) if data else range(len(text))
    )
    edges = [0, *cuts, len(text)]
    pieces = [text[a:b] for a, b in itertools.pairwise(edges)]
    assert sorted_out(pieces) == sorted_out([text])


@given(st.text(alphabet=st.characters(blacklist_characters="<`"), max_size=60))
def test_text_without_tags_passes_untouched(text: str) -> None:
    assert sorted_out(list(text)) == (text.lstrip(), "")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>secret</think>\n\nIn March [1].", "In March [1]."),
        ("<thought>secret</thought>In March.", "In March."),
        ("<THINK>secret</THINK>In March.", "In March."),
        ("In March.<think>secret", "In March."),
        ("<think>secret", ""),
        ("secret</think>In March.", "In March."),
        ("</think>In March.", "In March."),
        ("<think>secret `code`</think>In March.", "In March."),
        ("In <think>secret</think>March<think>more</think>.", "In March."),
        ("a < b and c > d, <thinker>", "a < b and c > d, <thinker>"),
        ("The tags `<think>` and `</think>` mark it.", "The tags `<think>` and `</think>` mark it."),
    ],
)
def test_forms_that_models_leak(text: str, answer: str) -> None:
    assert sorted_out(list(text))[0] == answer
    assert "secret" not in sorted_out([text])[0]
