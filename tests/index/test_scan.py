from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragchat.documents.reader import supported
from ragchat.errors import FolderMissing
from ragchat.index.scan import note_path, scan, survey
from ragchat.settings import NotesSettings
from tests.index.building import write

DEFAULTS = NotesSettings()


def names(folder: Path, *, exclude: tuple[str, ...] = ()) -> list[str]:
    return [note.name for note in scan(folder, NotesSettings(exclude=exclude), supported).notes]


def skipped(folder: Path) -> dict[str, int]:
    return dict(scan(folder, DEFAULTS, supported).skipped)


def test_notes_come_sorted_by_name_with_their_facts(tmp_path: Path) -> None:
    write(tmp_path, {"b.md": "xyz", "a/z.txt": "", "a.md": "", "a/b/c.html": "", "README": "r"})
    found = scan(tmp_path, DEFAULTS, supported)
    assert [note.name for note in found.notes] == ["README", "a.md", "a/b/c.html", "a/z.txt", "b.md"]
    note = found.notes[-1]
    status = (tmp_path / "b.md").stat()
    assert (note.size, note.modified_ns, note.path) == (3, status.st_mtime_ns, tmp_path / "b.md")


def test_what_is_passed_over_is_counted_by_reason(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            ".hidden.md": "",
            ".git/config": "",
            ".obsidian/x.md": "",
            ".gitignore": "*.log\n",
            "a.log": "",
            "a.zip": "",
            "b.ZIP": "",
            "c.tar.gz": "",
            "x.averyverylongsuffix": "",
            "ok.md": "",
        },
    )
    os.mkfifo(tmp_path / "pipe.md")
    assert skipped(tmp_path) == {
        "hidden": 4,
        "ignored": 1,
        "unsupported .zip": 2,
        "unsupported .gz": 1,
        "unsupported suffix": 1,
        "no ordinary file": 1,
    }
    assert names(tmp_path) == ["ok.md"]


def test_a_socket_is_no_note(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(tmp_path / "s.md"))
        assert skipped(tmp_path) == {"no ordinary file": 1}


def test_links_are_never_followed(tmp_path: Path) -> None:
    notes, outside = tmp_path / "notes", tmp_path / "outside"
    write(notes, {"a.md": "", "sub/b.md": ""})
    write(outside, {"secret.md": ""})
    links: dict[str, str | Path] = {
        "passwd.md": "/etc/passwd",
        "out": outside,
        "out.md": outside / "secret.md",
        "sub/relative-out.md": "../../outside/secret.md",
        "twin.md": notes / "a.md",
        "sub/twin.md": "../a.md",
        "twin-folder": notes / "sub",
        "sub/self": ".",
        "sub/above": "..",
        "sub/far-above": tmp_path,
        "broken.md": "nowhere",
        "loop-a": "loop-b",
        "loop-b": "loop-a",
    }
    for link, target in links.items():
        (notes / link).symlink_to(target)
    assert names(notes) == ["a.md", "sub/b.md"]
    assert skipped(notes) == {
        "link out of the folder": 4,
        "link to another note": 2,
        "link to another folder": 1,
        "link loop": 5,
        "broken link": 1,
    }


def test_the_notes_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    write(tmp_path / "real", {"a.md": "", "sub/b.md": ""})
    (tmp_path / "link").symlink_to("real")
    assert names(tmp_path / "link") == ["a.md", "sub/b.md"]


def test_ignore_files_hold_below_their_folder_and_inner_ones_win(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            ".gitignore": "*.txt\n/top.md\nbuild/\n[z-a]\n!\n",
            "top.md": "",
            "in/top.md": "",
            "a.txt": "",
            "keep/.gitignore": "!*.txt\n",
            "keep/a.txt": "",
            "keep/in/a.txt": "",
            "keep/drop/.ragchatignore": "*\n!stay.md\n",
            "keep/drop/a.txt": "",
            "keep/drop/stay.md": "",
            "build/a.md": "",
            "build/.gitignore": "!a.md\n",
            "in/build/a.md": "",
            "both/.gitignore": "a.md\nb.md\n",
            "both/.ragchatignore": "!a.md\n",
            "both/a.md": "",
            "both/b.md": "",
        },
    )
    assert names(tmp_path) == [
        "both/a.md",
        "in/top.md",
        "keep/a.txt",
        "keep/drop/stay.md",
        "keep/in/a.txt",
    ]


def test_the_settings_have_the_last_word(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "a.md\n", "a.md": "", "b.md": "", "archive/c.md": ""})
    assert names(tmp_path, exclude=("archive/", "b.*", "!a.md")) == ["a.md"]


@pytest.mark.parametrize("content", ["\ufeff*.txt\n", "*.txt\r\n", "*.txt"])
def test_an_ignore_file_from_any_editor(tmp_path: Path, content: str) -> None:
    write(tmp_path, {".gitignore": content, "a.txt": "", "b.md": ""})
    assert names(tmp_path) == ["b.md"]


def test_an_ignore_file_that_is_none(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "", "sub/a.md": ""})
    (tmp_path / ".gitignore").mkdir()
    (tmp_path / "sub/.ragchatignore").write_bytes(b"\xff\xfe\x00*\x00.")
    assert names(tmp_path) == ["a.md", "sub/a.md"]


_PARTS = st.sampled_from(["a", "b", "c.md", "d.txt"])
_PATTERNS = st.lists(
    st.tuples(
        st.sampled_from(["", "!"]),
        st.sampled_from(["", "/", "**/", "a/"]),
        st.sampled_from(["a", "b", "*.md", "d.txt", "*", "?", "c.*"]),
        st.sampled_from(["", "/", "/**", "/**/", "/*"]),
    ).map("".join),
    max_size=4,
)


@pytest.mark.skipif(shutil.which("git") is None, reason="git tells what is ignored")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(
    files=st.sets(st.lists(_PARTS, min_size=1, max_size=3).map("/".join), min_size=1, max_size=8),
    outer=_PATTERNS,
    inner=_PATTERNS,
)
def test_git_agrees_about_what_is_ignored(
    tmp_path_factory: pytest.TempPathFactory, files: set[str], outer: list[str], inner: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("repository")
    for name in sorted(files):
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        except OSError:  # it is a folder of another one, or the other way round
            continue
    (folder / ".gitignore").write_text("\n".join(outer))
    if (folder / "a").is_dir():
        (folder / "a/.gitignore").write_text("\n".join(inner))
    subprocess.run(["git", "init", "-q", "."], cwd=folder, check=True)
    listing = subprocess.run(
        ["git", "ls-files", "-o", "--exclude-standard"],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    expected = {name for name in listing.stdout.splitlines() if "/." not in f"/{name}"}
    found = scan(folder, DEFAULTS, lambda name: True)
    assert {note.name for note in found.notes} == expected


def test_a_name_that_is_not_utf8_is_counted(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": ""})
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.md"))).touch()
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/d\xe9p"))).mkdir()
    assert names(tmp_path) == ["a.md"]
    assert skipped(tmp_path) == {"name is not UTF-8": 2}


def test_a_japanese_name_under_an_ascii_locale(tmp_path: Path) -> None:
    write(tmp_path, {"テスト/メモ.md": "日本"})
    script = (
        "import sys; from pathlib import Path\n"
        "from ragchat.index.scan import note_path, scan; from ragchat.settings import NotesSettings\n"
        "assert sys.getfilesystemencoding() == 'ascii', sys.getfilesystemencoding()\n"
        "folder = Path(sys.argv[1])\n"
        "(note,) = scan(folder, NotesSettings(), lambda name: True).notes\n"
        "assert note.path == note_path(folder, note.name)\n"
        "print(ascii(note.name), len(note.path.read_bytes()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path],
        env={"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.strip(), done.stderr) == (f"{'テスト/メモ.md'!a} 6", "")
    assert note_path(tmp_path, "テスト/メモ.md").read_text() == "日本"


@pytest.mark.skipif(sys.platform == "darwin", reason="its file system takes both for one")
def test_twins_in_case_and_unicode_form_are_all_kept(tmp_path: Path) -> None:
    files = ["Note.md", "note.md", "caf\u00e9.md", "cafe\u0301.md"]
    write(tmp_path, dict.fromkeys(files, ""))
    assert names(tmp_path) == sorted(files)


def test_a_folder_that_cannot_be_listed_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"a.md": "", "locked/b.md": "", "vanished/c.md": ""})
    scandir = os.scandir

    def refusing(path: Path) -> object:
        if path.name == "locked":
            raise PermissionError(13, "Permission denied")
        if path.name == "vanished":
            raise FileNotFoundError(2, "No such file")
        return scandir(path)

    monkeypatch.setattr("ragchat.index.scan.os.scandir", refusing)
    found = scan(tmp_path, DEFAULTS, supported)
    assert [note.name for note in found.notes] == ["a.md"]
    assert (found.skipped, found.unreadable) == ({"unreadable folder": 1}, ["locked/"])


def test_folders_deeper_than_any_path(tmp_path: Path) -> None:
    folder = tmp_path
    for _ in range(60):
        folder = folder / ("d" * 60)
    folder.mkdir(parents=True)
    (folder / "deep.md").touch()
    assert names(tmp_path) == [str((folder / "deep.md").relative_to(tmp_path))]


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "file.md").touch()
    with pytest.raises(FolderMissing, match="not there"):
        scan(tmp_path / "absent", DEFAULTS, supported)
    with pytest.raises(FolderMissing, match="no folder"):
        survey(tmp_path / "file.md", DEFAULTS, supported)


def test_a_survey_counts_and_asks_nothing_about_an_ordinary_folder(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "12345", "b/c.txt": "123", "d.zip": "1"})
    counted = survey(tmp_path, DEFAULTS, supported)
    assert (counted.files, counted.bytes, counted.confirm) == (2, 8, "")
    assert counted.skipped == {"unsupported .zip": 1}


def test_a_survey_asks_about_homes_and_roots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    write(tmp_path / "home", {"notes/a.md": ""})
    few = NotesSettings(confirm_files=5)
    assert survey(tmp_path / "home", DEFAULTS, supported).confirm == "this is your home folder"
    assert survey(tmp_path, DEFAULTS, supported).confirm == "your home folder lies in it"
    assert survey(tmp_path / "home/notes", DEFAULTS, supported).confirm == ""
    assert survey(Path("/"), few, supported).confirm.startswith("this is the root of a file system; it holds")


def test_a_survey_of_a_huge_folder_stops_early(tmp_path: Path) -> None:
    write(tmp_path, {f"{number}.md": "12345678" for number in range(40)})
    many = survey(tmp_path, NotesSettings(confirm_files=10), supported)
    assert (many.files, many.confirm) == (11, "it holds more than 10 notes")
    large = survey(tmp_path, NotesSettings(confirm_mb=0.0001), supported)
    assert (large.bytes, large.confirm) == (104, "it holds more than 0 MB of notes")
    none = survey(tmp_path, NotesSettings(confirm_files=3), lambda name: False)
    assert (none.files, none.confirm) == (0, "it holds more than 30 files, 0 of them notes so far")


@pytest.mark.parametrize("place", ["notes/ragchat", "notes", "linked"])
def test_what_ragchat_keeps_is_no_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    """A conversation found as a note would let an answer prove itself: the gate would open for anything."""
    notes = tmp_path / "notes"
    (notes / "ragchat").mkdir(parents=True)
    (tmp_path / "linked").symlink_to(notes / "ragchat")
    data = tmp_path / place
    monkeypatch.setenv("RAGCHAT_DATA_DIR", str(data))
    kept = {"folders/0123/conversation.jsonl": "{}", "folders/0123/conversations/1.jsonl": "{}"}
    write(data, kept)
    write(notes, {"a.md": "x", "sub/folders/b.md": "x"})
    assert names(notes) == ["a.md", "sub/folders/b.md"]
    assert skipped(notes)["ragchat's own folder"] == 1


def test_a_notes_folder_inside_a_folder_of_ours_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the sample notes of the demo are."""
    monkeypatch.setenv("RAGCHAT_DATA_DIR", str(tmp_path))
    write(tmp_path / "demo", {"a.md": "x"})
    assert names(tmp_path / "demo") == ["a.md"]
