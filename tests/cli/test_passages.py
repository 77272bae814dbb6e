"""`show`: the text of a range, exactly, or one line that says why not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cli.conftest import LEASE, Ragchat

KEPT = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)


@KEPT
@given(st.integers(0, len(LEASE)), st.integers(0, len(LEASE)))
def test_any_range_is_that_slice(ragchat: Ragchat, one: int, other: int) -> None:
    ragchat("index")
    start, end = sorted((one, other))
    assert ragchat("show", "house/lease.md", "--chars", f"{start},{end}").out == LEASE[start:end]


@pytest.mark.parametrize("form", ["house/lease.md#char=9,16", "house/lease.md#char=9,16&page=2"])
def test_a_citation_as_it_was_copied(form: str, ragchat: Ragchat) -> None:
    ragchat("index")
    assert ragchat("show", form).out == LEASE[9:16]


@pytest.mark.parametrize(
    ("form", "first", "last"), [(":1", 1, 1), ("#L3", 3, 3), (":1-3", 1, 3), ("#L1-L3", 1, 3)]
)
@pytest.mark.parametrize("whole", [False, True])
def test_a_line_as_editors_write_it(
    form: str, first: int, last: int, whole: bool, ragchat: Ragchat, notes: Path
) -> None:
    ragchat("index")
    name = str(notes / "house/lease.md") if whole else "house/lease.md"
    assert ragchat("show", f"{name}{form}").out == "\n".join(LEASE.split("\n")[first - 1 : last])


@pytest.mark.parametrize("form", ["#char=9,16", ""])
def test_a_whole_path_below_the_folder(form: str, ragchat: Ragchat, notes: Path) -> None:
    ragchat("index")
    chars = () if form else ("--chars", "9,16")
    assert ragchat("show", f"{notes / 'house/lease.md'}{form}", *chars).out == LEASE[9:16]


def test_a_note_that_is_named_like_a_line_is_that_note(ragchat: Ragchat, notes: Path) -> None:
    (notes / "at 10:30").write_text("half past ten")
    ragchat("index")
    assert ragchat("show", "at 10:30").out == "half past ten"


@pytest.mark.parametrize("form", [":0", ":9999", "#L3-L1"])
def test_a_line_that_is_not_there_is_usage(form: str, ragchat: Ragchat) -> None:
    ragchat("index")
    told = ragchat("show", f"house/lease.md{form}")
    assert (told.code, told.out) == (2, "")
    assert f"house/lease.md has {len(LEASE.split(chr(10)))} lines" in told.err


def test_without_a_range_the_whole_document(ragchat: Ragchat) -> None:
    ragchat("index")
    assert ragchat("show", "house/lease.md").out == LEASE


def test_json(ragchat: Ragchat) -> None:
    ragchat("index")
    told = json.loads(ragchat("show", "house/lease.md", "--chars", "0,7", "--json").out)
    assert told == {
        "document": "house/lease.md",
        "locator": "#char=0,7",
        "start": 0,
        "end": 7,
        "text": "# Lease",
    }


def test_crlf_and_other_scripts_keep_their_ranges(ragchat: Ragchat, notes: Path) -> None:
    (notes / "テスト.md").write_bytes("# 鍵\r\n\r\n鍵は隣にあります。\r\n".encode())
    ragchat("index")
    assert ragchat("show", "テスト.md#char=3,9").out == "\r\n\r\n鍵は"


@pytest.mark.parametrize("chars", ["5", "a,b", "9,4", "0,99999", "-1,4", ""])
def test_an_impossible_range_is_usage(chars: str, ragchat: Ragchat) -> None:
    ragchat("index")
    told = ragchat("show", "house/lease.md", "--chars", chars)
    assert (told.code, told.out) == (2, "")


def test_an_unknown_document_names_the_nearest(ragchat: Ragchat) -> None:
    ragchat("index")
    told = ragchat("show", "house/leese.md")
    assert told.code == 2
    assert "did you mean house/lease.md?" in told.err


def test_before_indexing_it_is_set_up(ragchat: Ragchat) -> None:
    assert ragchat("show", "house/lease.md").code == 3


def test_a_note_that_changed_or_went_says_so(ragchat: Ragchat, notes: Path) -> None:
    ragchat("index")
    (notes / "house/lease.md").write_text("another text\n")
    told = ragchat("show", "house/lease.md")
    assert told.out == LEASE
    assert "has changed since" in told.err
    (notes / "house/lease.md").unlink()
    assert "no longer there" in ragchat("show", "house/lease.md").err


@pytest.mark.parametrize("end", ["9" * 18, "9" * 5000])
def test_a_range_of_endless_digits_is_a_mistake_of_the_user(ragchat: Ragchat, end: str) -> None:
    """Python refuses to read a number of more than 4,300 digits."""
    ragchat("index")
    for arguments in (["house/lease.md", "--chars", f"1,{end}"], [f"house/lease.md#char=1,{end}"]):
        told = ragchat("show", *arguments)
        assert told.code == 2
        assert len(told.err) < 1000


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("a#char=1,2", "The umbrella stands in the cellar."),
        ("a#char=1,2#char=4,12", "umbrella"),
        ("rents.csv#char=0,4&sheet=x#char=1,2&y!A1:B2", "item"),
    ],
)
def test_a_name_may_look_like_a_range(ragchat: Ragchat, notes: Path, written: str, shown: str) -> None:
    (notes / "a#char=1,2").write_text("The umbrella stands in the cellar.")
    (notes / "rents.csv").write_text("item,price\nflat,900\n")
    ragchat("index")
    assert ragchat("show", written).out == shown


def test_a_deleted_note_is_not_taken_for_its_neighbour(ragchat: Ragchat, notes: Path) -> None:
    for day in (1, 2):
        (notes / f"2024-10-0{day}-walk.md").write_text("# Walk\n\nWe went out.\n")
    (notes / "2024-10-19-fair.md").write_text("# Fair\n\nIt rained.\n")
    ragchat("index")
    (notes / "2024-10-19-fair.md").unlink()
    ragchat("index")
    told = ragchat("show", "2024-10-19-fair.md")
    assert told.code == 2
    assert "there is no note 2024-10-19-fair.md (any more)" in told.err
    assert "did you mean" not in told.err


def test_a_note_that_is_not_indexed_yet_names_the_command(ragchat: Ragchat, notes: Path) -> None:
    ragchat("index")
    (notes / "new.md").write_text("New.\n")
    told = ragchat("show", "new.md")
    assert f"hint: ragchat index -f {notes}" in told.err


def test_without_a_folder_the_wrong_one_is_not_to_be_indexed(
    ragchat: Ragchat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = tmp_path / "away"
    away.mkdir()
    monkeypatch.chdir(away)
    told = ragchat("show", "house/lease.md")
    assert told.code == 3
    assert "hint: name the folder of the notes: -f FOLDER" in told.err
