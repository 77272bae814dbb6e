"""What a filter leaves of the notes."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragchat.errors import UsageError
from ragchat.index.protocol import Scope
from ragchat.index.source import Source
from ragchat.retrieval.filters import NO_FILTERS, Filters, narrow

DAY_NS = 86_400_000_000_000


def source(name: str, *tags: str, dated: str = "", state: str = "indexed", modified_ns: int = 1) -> Source:
    return Source(name, 1, modified_ns, "d", "t/1", state, tags=tags, dated=dated)  # type: ignore[arg-type]


NOTES = {
    each.name: each
    for each in [
        source("house/lease.md", "Tax", "rent", dated="2025-01-31"),
        source("house/old/lease.md", "rent/2024", dated="2024-12-31"),
        source("household.md", dated="2025-06-30"),
        source("mail/2025-03.md", "tax"),
        source("work/Archive/plan.md", dated="2025-01-01"),
        source("My notes/caf\u00e9.md", "\u7a0e\u91d1", dated="2026-01-01"),
        source("house/broken.pdf", state="failed", modified_ns=400 * DAY_NS),
    ]
}


def left(**filters: object) -> set[str]:
    narrowed = narrow(Filters(**filters), NOTES)  # type: ignore[arg-type]
    found = {name for name in NOTES if narrowed.scope.admits(name)}
    assert narrowed.outside_indexed + narrowed.outside_failed == len(NOTES) - len(found)
    return found


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("house/", {"house/lease.md", "house/old/lease.md", "house/broken.pdf"}),
        ("house", {"house/lease.md", "house/old/lease.md", "house/broken.pdf"}),
        ("./house/", {"house/lease.md", "house/old/lease.md", "house/broken.pdf"}),
        ("HOUSE/", {"house/lease.md", "house/old/lease.md", "house/broken.pdf"}),
        ("house/old", {"house/old/lease.md"}),
        ("old/", {"house/old/lease.md"}),
        ("archive", {"work/Archive/plan.md"}),
        ("house/lease.md", {"house/lease.md"}),
        ("lease.md", {"house/lease.md", "house/old/lease.md"}),
        ("old/lease.md", {"house/old/lease.md"}),
        ("plan", {"work/Archive/plan.md"}),
        ("house/le", {"house/lease.md"}),
        ("househ", {"household.md"}),
        ("my notes/", {"My notes/caf\u00e9.md"}),
        ("cafe\u0301.md", {"My notes/caf\u00e9.md"}),
        ("/", set(NOTES)),
    ],
)
def test_a_place_is_a_folder_a_note_or_a_beginning(value: str, names: set[str]) -> None:
    assert left(within=(value,)) == names
    assert left(without=(value,)) == set(NOTES) - names


def test_folders_are_joined_and_kinds_narrow() -> None:
    assert left(within=("old/", "mail/")) == {"house/old/lease.md", "mail/2025-03.md"}
    assert left(within=("house/",), without=("old/",), tags=("rent",)) == {"house/lease.md"}
    assert left(within=("work/",), tags=("tax",)) == set()


def test_a_tag_includes_those_below_it_and_knows_no_case() -> None:
    assert left(tags=("rent",)) == {"house/lease.md", "house/old/lease.md"}
    assert left(tags=("rent/2024",)) == {"house/old/lease.md"}
    assert left(tags=("#TAX",)) == {"house/lease.md", "mail/2025-03.md"}
    assert left(tags=("tax", "rent")) == {"house/lease.md"}
    assert left(not_tags=("rent", "tax")) == set(NOTES) - {
        "house/lease.md",
        "house/old/lease.md",
        "mail/2025-03.md",
    }
    assert left(tags=("\u7a0e\u91d1",)) == {"My notes/caf\u00e9.md"}


@pytest.mark.parametrize("day", ["2025", "2025-01", "2025-01-31", "2025-02", "2024", "2026-01-01"])
def test_every_note_is_before_a_day_or_from_it_on(day: str) -> None:
    assert left(after=day) | left(before=day) == set(NOTES)
    assert left(after=day) & left(before=day) == set()


def test_days_from_the_first_to_before_the_last() -> None:
    assert left(after="2025-01", before="2025-06-30") == {
        "house/lease.md",
        "mail/2025-03.md",
        "work/Archive/plan.md",
    }
    assert left(before="1972") == {"house/broken.pdf"}  # by its last change, of which alone it has a day


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        (Filters(within=("hause/",)), "in:hause/: no note's name begins so; did you mean house/, "),
        (Filters(without=("leese.md",)), "-in:leese.md: no note's name begins so; did you mean lease.md"),
        (Filters(tags=("tex",)), "tag:tex: no note has this tag; did you mean Tax?"),
        (Filters(tags=("zzzzzz",)), "tag:zzzzzz: no note has this tag$"),
        (Filters(within=("zzzzzz",)), "in:zzzzzz: no note's name begins so$"),
    ],
)
def test_what_there_is_not_is_told_with_the_nearest_names(filters: Filters, message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("?", r"\?")) as told:
        narrow(filters, NOTES)
    assert "in quotes" in str(told.value.hint)
    wanted = "Tax" if filters.tags else "there are My notes/, house/"
    assert wanted in told.value.hint
    assert "ragchat" not in told.value.hint


def test_a_folder_is_handed_on_by_its_name_and_all_notes_as_everything() -> None:
    assert narrow(Filters(within=("house/",)), NOTES).scope == Scope(prefix="house/")
    assert narrow(Filters(within=("/",)), NOTES).scope == Scope()
    assert narrow(Filters(after="1970-01-01"), NOTES).scope == Scope()
    assert narrow(NO_FILTERS, NOTES).scope == Scope()
    assert narrow(Filters(within=("house/",)), {}).scope == Scope(documents=frozenset())


@given(
    st.sets(
        st.sampled_from(["a", "b/c", "B/c", "b/d e", "\u00e9/f", "e\u0301/g", "b.md", "b/c.md"]), min_size=1
    )
)
def test_every_note_is_found_by_its_own_name(names: set[str]) -> None:
    notes = {name: source(name) for name in names}
    for name in names:
        narrowed = narrow(Filters(within=(name,)), notes)
        assert narrowed.scope.admits(name)
        composed = unicodedata.normalize("NFC", name)
        assert narrow(Filters(within=(composed,)), notes).scope.admits(name)


def test_the_day_of_a_note_is_its_own_then_its_names_then_its_last_change() -> None:
    note = source("2024-05-06.md", dated="2025-01-31", modified_ns=1_700_000_000_000_000_000)
    assert note.day == "2025-01-31"
    assert note._replace(dated="").day == "2024-05-06"
    assert note._replace(dated="", name="a.md").day[:7] == "2023-11"
