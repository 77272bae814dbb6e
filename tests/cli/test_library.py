"""`index`, `status`, `forget`: counters count what is, and a failed document shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragchat.answering.workspace import Workspace
from ragchat.settings import Settings
from tests.cli.conftest import Ragchat
from tests.doubles import WordEmbedder


@pytest.fixture
def broken(notes: Path) -> Path:
    """A file that is no text, under a note's name."""
    path = notes / "broken\x1b[2J.md"
    path.write_bytes(bytes(range(256)) * 8)
    return path


def test_index_says_what_it_did(ragchat: Ragchat) -> None:
    told = ragchat("index")
    assert told.code == 0
    assert told.out.startswith("2 documents, 3 passages indexed (2 new; ")
    assert "(2 unchanged; " in ragchat("index").out


def test_without_a_terminal_progress_is_a_few_lines(ragchat: Ragchat) -> None:
    assert [line.split(":")[0] for line in ragchat("index").err.splitlines()] == ["indexing"]
    assert ragchat("index").err == ""


def test_a_failed_document_fails_alone_and_shows(ragchat: Ragchat, broken: Path) -> None:
    told = ragchat("index")
    assert told.code == 1
    assert "2 documents, 3 passages indexed" in told.out
    assert "failed: broken\\x1b[2J.md: " in told.out
    assert ragchat("index").code == 1  # it is still failed
    assert ragchat("ask", "The lease ends on 31 March 2027", "--threshold", "0.7").code == 0


def test_retry_reads_a_failed_document_again(ragchat: Ragchat, broken: Path) -> None:
    ragchat("index")
    told = json.loads(ragchat("index", "--json", "--retry").out)
    assert [failure["document"] for failure in told["failures"]] == [broken.name]
    broken.write_text("words at last\n")
    assert ragchat("index").code == 0


def test_rebuild_embeds_everything_again(ragchat: Ragchat, embedder: WordEmbedder) -> None:
    ragchat("index")
    embedder.texts_embedded.clear()
    ragchat("index")
    assert embedder.texts_embedded == []
    assert ragchat("index", "--rebuild").code == 0
    assert len(embedder.texts_embedded) >= 3


def test_rebuild_is_the_way_out_of_a_stale_index(ragchat: Ragchat) -> None:
    ragchat("index")
    smaller = ("--set", "chunking.size=300")
    assert ragchat("index", *smaller).code == 3
    assert ragchat("index", *smaller, "--rebuild").code == 0
    assert ragchat("index", *smaller).code == 0


def test_yes_indexes_a_huge_folder(ragchat: Ragchat) -> None:
    assert ragchat("index", "--yes", "--set", "notes.confirm_files=1").code == 0


def test_an_empty_folder_is_no_error(ragchat: Ragchat, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    told = ragchat("index", "-f", str(tmp_path / "empty"))
    assert told.code == 0
    assert told.out.startswith("0 documents, 0 passages")


def test_asking_an_empty_folder_says_that_it_is_empty(ragchat: Ragchat, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    told = ragchat("ask", "anything", "-f", str(tmp_path / "empty"))
    assert told.code == 1
    assert "there is no passage to search" in told.err


def test_status_before_and_after(ragchat: Ragchat, broken: Path, notes: Path) -> None:
    assert "not indexed yet" in ragchat("status").out
    ragchat("index")
    told = ragchat("status")
    assert told.code == 0
    assert str(notes) in told.out
    assert "2 indexed, 1 failed, 0 stale" in told.out
    assert "words, 256 dimensions" in told.out
    assert "(default: " in told.out
    assert "broken\\x1b[2J.md" in told.out


def test_status_failed_lists_only_those(ragchat: Ragchat, broken: Path) -> None:
    ragchat("index")
    lines = ragchat("status", "--failed").out.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("failed: broken\\x1b[2J.md: ")


def test_status_json(ragchat: Ragchat, broken: Path, notes: Path) -> None:
    ragchat("index")
    (notes / "house/boiler.md").write_text("changed\n")
    told = json.loads(ragchat("status", "--json").out)
    assert told["folder"] == str(notes)
    assert told["documents"] == {"indexed": 1, "failed": 1, "skipped": 0, "stale": 1}
    assert [set(failure) for failure in told["failures"]] == [{"document", "reason", "hint"}]
    assert set(told["stamp"]) == {"embedder", "dimensions", "weights", "chunker", "extractors"}
    assert told["threshold_from"] == "default"


def test_status_names_the_remedy_of_an_index_made_otherwise(ragchat: Ragchat) -> None:
    """As after an upgrade: no question reads such an index again, only a rebuild does."""
    ragchat("index")
    told = ragchat("status", "--set", "chunking.size=100")
    assert "0 indexed, 0 failed, 2 stale" in told.out
    assert "ragchat index --rebuild" in told.err
    assert "read again by" not in told.err
    assert ragchat("search", "lease", "--set", "chunking.size=100").code == 3


@pytest.mark.parametrize("fault", ["shorter", "missing"])
def test_status_and_doctor_see_an_index_that_cannot_answer(
    ragchat: Ragchat, notes: Path, tmp_path: Path, fault: str
) -> None:
    for number in range(300):  # so many that they make a segment
        (notes / f"{number}.md").write_text(f"Note {number}.\n")
    ragchat("index")
    (segment,) = (tmp_path / "data").rglob("*.segment")
    if fault == "missing":
        segment.unlink()
    else:
        segment.write_bytes(segment.read_bytes()[:-1000])
    for command in ("status", "doctor"):
        told = ragchat(command)
        assert told.code == 3, command
        assert "ragchat index --rebuild" in told.out + told.err, command
    assert ragchat("index", "--rebuild").code == 0
    assert ragchat("status").code == 0


def test_status_of_a_folder_that_is_not_there(ragchat: Ragchat) -> None:
    assert ragchat("status", "-f", "nowhere").code == 3


def test_forget_deletes_ours_and_leaves_theirs(ragchat: Ragchat, notes: Path, tmp_path: Path) -> None:
    ragchat("ask", "The lease ends on 31 March 2027", "--threshold", "0.7")
    before = sorted(notes.rglob("*"))
    told = ragchat("forget", "--yes")
    assert told.code == 0
    assert "untouched" in told.err
    assert sorted(notes.rglob("*")) == before
    assert list((tmp_path / "data" / "folders").iterdir()) == []
    assert Workspace(notes, Settings()).conversation().turns() == ()


@pytest.mark.parametrize(
    "command", [("forget", "--yes", "-f", ""), ("index", "--folder="), ("open", ""), ("open", "-f", "")]
)
def test_an_empty_name_is_not_the_current_folder(ragchat: Ragchat, notes: Path, command: list[str]) -> None:
    """As from a script in which the variable is not set."""
    ragchat("index")
    told = ragchat(*command)
    assert (told.code, "name of the folder is empty" in told.err) == (2, True)
    assert Workspace(notes, Settings()).has_index()


def test_forget_asks_first(ragchat: Ragchat, monkeypatch: pytest.MonkeyPatch, notes: Path) -> None:
    ragchat("index")
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda prompt: "n")
    told = ragchat("forget")
    assert (told.code, "nothing was deleted" in told.err) == (0, True)
    assert Workspace(notes, Settings()).has_index()


def test_forget_says_so_where_nothing_is_kept(ragchat: Ragchat, tmp_path: Path) -> None:
    """A folder name with a typo must not pass for forgotten."""
    told = ragchat("forget", "--yes", "-f", str(tmp_path / "nots"))
    assert "nothing is kept of" in told.err
    assert "forgotten" not in told.err
