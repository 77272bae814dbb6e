"""Filters as they are typed in a question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragchat.answering.filter_words import filters_of_options, followed, split_filters, without_filters
from ragchat.errors import UsageError
from ragchat.retrieval.filters import NO_FILTERS, Filters


@pytest.mark.parametrize(
    ("typed", "question", "filters"),
    [
        ("in:house/ when is rent due", "when is rent due", Filters(within=("house/",))),
        ("when is in:house/ rent due", "when is rent due", Filters(within=("house/",))),
        ("when is rent due in:lease.md", "when is rent due", Filters(within=("lease.md",))),
        ('in:"My notes/" rent', "rent", Filters(within=("My notes/",))),
        ("in:a/ in:b/ -in:c/ x", "x", Filters(within=("a/", "b/"), without=("c/",))),
        ("tag:tax -tag:draft x", "x", Filters(tags=("tax",), not_tags=("draft",))),
        ("tag:#tax x", "x", Filters(tags=("#tax",))),
        (
            "after:2025-01 before:2025-06-30 x",
            "x",
            Filters(after="2025-01", before="2025-06-30"),
        ),
        ("after:2024 after:2025-02 before:2026 before:2025 x", "x", Filters(after="2025-02", before="2025")),
        ("-after:2025 -before:2024-05 x", "x", Filters(after="2024-05", before="2025")),
        ("line one\nin:house/ line two\n", "line one\nline two\n", Filters(within=("house/",))),
        ("in:дом/ где ключ", "где ключ", Filters(within=("дом/",))),
        ("in:house/", "", Filters(within=("house/",))),
        ("in:/ x", "x", Filters(within=("/",))),
    ],
)
def test_filters_are_taken_out_of_the_question(typed: str, question: str, filters: Filters) -> None:
    assert split_filters(typed) == (question, filters)


@pytest.mark.parametrize(
    "typed",
    [
        "in: what does the lease say",
        "the rent is due in:",
        "is it built-in:yes",
        'what does "in:house/" mean',
        'what does "look in:house/ first" mean',
        "what does `tag:tax` do",
        "In:House is a company",
        "https://e.org/in:here",
        "see (in:house/)",
        'in:"never closed',
        "after:",
        "within:house/ x",
        "tag: tax",
    ],
)
def test_text_is_no_filter(typed: str) -> None:
    assert split_filters(typed) == (typed, NO_FILTERS)


@pytest.mark.parametrize("typed", ["after:lunch x", "before:2025-13 x", "after:2025-02-30 x", "after:25 x"])
def test_what_is_no_date_is_told(typed: str) -> None:
    with pytest.raises(UsageError, match=r"^(after|before):\S+ is no date$"):
        split_filters(typed)
    assert without_filters(typed) == typed


def test_options_are_the_same_filters() -> None:
    assert filters_of_options(("house/",), ("tax",), "2025", "2025-06") == Filters(
        within=("house/",), tags=("tax",), after="2025", before="2025-06"
    )
    assert filters_of_options(("",), (), None, "") == NO_FILTERS
    with pytest.raises(UsageError, match="--after soon is no date"):
        filters_of_options((), (), "soon", None)


_VALUES = st.text(alphabet="abÄ漢/ .-#", min_size=1, max_size=8)
_DAYS = st.sampled_from(["", "2024", "2025-02", "2025-02-28"])


@given(
    st.builds(
        Filters,
        *[st.lists(_VALUES, max_size=2).map(tuple)] * 4,
        after=_DAYS,
        before=_DAYS,
    )
)
def test_what_is_shown_may_be_typed_again(filters: Filters) -> None:
    assert split_filters(f"{filters} the rest") == ("the rest" if filters else " the rest", filters)


@given(st.text(max_size=60))
def test_any_text_can_be_asked(text: str) -> None:
    assert isinstance(without_filters(text), str)


def test_a_chain_of_questions_has_the_latest_filters() -> None:
    assert followed("in:a/ one", "two") == "in:a/ one two"
    assert followed("in:a/ one", "in:b/ two") == "one in:b/ two"
