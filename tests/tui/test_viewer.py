"""The source viewer: every key, what is marked, what is kept as an answer, the user's own editor."""

from __future__ import annotations

import errno
import json
import math
import os
import signal
import stat
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.events import Key

from ragchat.answering.turn import TurnSource
from ragchat.evaluation.collection import Collection, collected_path
from ragchat.tui.editor import NoEditor, editor_command, run_editor
from ragchat.tui.finding import next_place, places_of
from ragchat.tui.widgets.document_view import DocumentView
from ragchat.tui.widgets.find_line import FindLine
from ragchat.tui.widgets.rendered import Rendered
from tests.tui.fake_workspace import LEASE, Scene
from tests.tui.stage import FOLDER, Stage, on_stage

TERM = "The term begins on 1 April 2024 and the term ends on 31 March 2027."


async def viewing(stage: Stage, key: str = "alt+1") -> DocumentView:
    await stage.opened()
    await stage.ask("When does the lease end?")
    await stage.pilot.press(key)
    await stage.until(lambda: "since this answer" in stage.text() or "exact" in stage.text(), "the document")
    return stage.app.screen.query_one(DocumentView)


def collected() -> list[dict[str, object]]:
    return [json.loads(line) for line in collected_path(FOLDER).read_text("utf-8").splitlines()]


async def test_sources_one_after_the_other_with_the_others_marked(clipboard: list[str]) -> None:
    async with on_stage() as stage:
        view = await viewing(stage)
        text = stage.text()
        assert "7 ┃ The term begins" in text
        assert "11 ┇ Either party" in text  # source 3 lies in this note too
        assert "[3]" in text
        await stage.pilot.press("right")
        await stage.until(lambda: "2 of 4" in stage.text(), "the next source")
        await stage.pilot.press("left")
        await stage.until(lambda: "1 of 4" in stage.text(), "the source before")
        await stage.pilot.press("left")
        await stage.until(lambda: "No further source" in stage.text(), "the word")
        await stage.pilot.press("y")
        assert clipboard[-1] in LEASE
        await stage.pilot.press("Y")
        assert clipboard[-1] == "/home/ada/notes/house/lease.md:7"
        assert stage.app.focused is view


async def test_find_goes_on_either_way_and_marks_every_place() -> None:
    async with on_stage() as stage:
        view = await viewing(stage)
        await stage.pilot.press("slash", *"end")
        await stage.until(lambda: "1 of 3" in stage.text(), "the first place")
        await stage.pilot.press("enter", "n", "n")
        assert "3 of 3" in stage.text()
        await stage.pilot.press("n")
        assert "1 of 3" in stage.text()
        await stage.pilot.press("N")
        assert "3 of 3" in stage.text()
        assert len(view._found) == 3
        await stage.pilot.press("slash", *"x")
        await stage.until(lambda: "“endx” is not in this document" in stage.text(), "the word")
        await stage.pilot.press("escape")
        assert view._found == []
        assert "not in this document" not in stage.text()


@pytest.mark.parametrize("rendered", [False, True])
async def test_words_typed_in_one_go_are_words_to_find_and_no_keys(*, rendered: bool) -> None:
    async with on_stage() as stage:
        await viewing(stage)
        if rendered:
            await stage.pilot.press("r")
            await stage.until(lambda: bool(stage.app.screen.query(".cited")), "the note rendered")
        for letter in "/terms":  # t, e, r, m and s are keys of the page
            stage.app.post_message(Key("slash" if letter == "/" else letter, letter))
        line = stage.app.screen.query_one(FindLine)
        await stage.until(lambda: sorted(line.value) == sorted("terms"), "the word")
        assert line.value == "terms"
        assert bool(stage.app.screen.query(Rendered)) == rendered
        assert not collected_path(FOLDER).exists()
        assert not stage.app._notifications


MARKED_UP = (
    "# Lease\n\nThe *long term* ends **31 March**; see the [terms](terms.md).\n\n- one term\n- no other\n\n"
    "| what | term |\n|---|---|\n| lease | two years |\n\n```\nterm = 2\n```\n\n"
    + "filler\n\n" * 60
    + "The very last term.\n"
)


async def test_words_are_found_in_the_rendered_note_as_they_are_shown() -> None:
    async with on_stage(Scene(documents={"house/lease.md": MARKED_UP + LEASE})) as stage:
        await viewing(stage)
        await stage.pilot.press("r")
        await stage.until(lambda: bool(stage.app.screen.query(".cited")), "the note rendered")
        rendered = stage.app.screen.query_one(Rendered)
        top = rendered.scroll_offset.y
        await stage.pilot.press("slash", *"long term ends 31")  # signs of Markdown stand between them
        await stage.until(lambda: "1 of 1" in stage.text(), "the place")
        await stage.until(lambda: "long term ends 31 March" in stage.text(), "the place in view")
        assert rendered.scroll_offset.y != top
        await stage.pilot.press("escape", "slash", *"term")
        await stage.until(lambda: "of 10" in stage.text(), "all places: item, cell, link and code too")
        await stage.pilot.press("enter", "n", "N", "N")
        assert stage.app.focused is rendered
        await stage.pilot.press("r")  # the same words in the text
        await stage.until(lambda: not stage.app.screen.query(Rendered), "the text")
        assert len(stage.app.screen.query_one(DocumentView)._found) == 10
        await stage.pilot.press("r", "s")  # sentences are chosen in the text
        await stage.until(lambda: not stage.app.screen.query(Rendered), "the text")


async def test_i_shows_the_facts_of_the_document(tmp_path: Path, clipboard: list[str]) -> None:
    (tmp_path / "house").mkdir()
    (tmp_path / "house" / "lease.md").write_text(LEASE, "utf-8")
    async with on_stage(folder=tmp_path, size=(80, 24)) as stage:
        await viewing(stage)
        await stage.pilot.press("i")
        await stage.until(lambda: "changed since it was indexed" in stage.text(), "the facts")
        told = stage.words(".dialog")
        assert "path" in told
        assert f"size {len(LEASE.encode()):,} bytes" in told
        assert "kind markdown" in told
        assert "encoding utf-8" in told
        assert "passages 2 in 1 section" in told
        assert "day 2026-03-01 tags tax" in told
        await stage.pilot.press("y")
        assert clipboard[-1] == str(tmp_path / "house" / "lease.md")
        await stage.pilot.press("q")
        await stage.until(lambda: not stage.app.screen.query(".dialog"), "the document again")


async def test_the_facts_of_a_note_that_is_gone_say_so() -> None:
    async with on_stage() as stage:
        await viewing(stage)
        await stage.pilot.press("i")
        await stage.until(lambda: "✗ no longer there" in stage.text(), "the facts")


async def test_c_comes_back_to_the_quote_where_it_stands_now(clipboard: list[str]) -> None:
    long = "line\n" * 500 + LEASE + "line\n" * 500
    async with on_stage(Scene(documents={"house/lease.md": long})) as stage:
        view = await viewing(stage)
        await stage.until(lambda: "The term begins" in stage.text(), "the quote")
        where = view.scroll_offset.y
        assert "moved since this answer" in stage.text()
        await stage.pilot.press("Y")
        assert clipboard[-1].endswith(":507")  # where it stands now, not where it stood
        await stage.pilot.press("home")
        await stage.until(lambda: view.scroll_offset.y == 0, "the top")
        await stage.pilot.press("c")
        await stage.until(lambda: view.scroll_offset.y == where, "the quote again")


async def test_sentences_are_chosen_copied_and_kept_as_the_answer(clipboard: list[str]) -> None:
    async with on_stage() as stage:
        await viewing(stage)
        await stage.pilot.press("s", "y")
        assert clipboard[-1] == TERM
        await stage.pilot.press("m")
        await stage.until(lambda: "Kept as an answer to “When does the lease end?”" in stage.words("Toast"))
        assert "0 refusals collected. u takes it back." in stage.words("Toast")
        (kept,) = collected()
        start = LEASE.index(TERM)
        assert (kept["document"], kept["from"], kept["to"]) == ("house/lease.md", start, start + len(TERM))
        assert kept["evidence"] == TERM
        await stage.pilot.press("s", "y")
        assert clipboard[-1] == "It is renewed only in writing."
        await stage.pilot.press("c", "s", "S", "y")
        assert clipboard[-1] == f"{TERM} It is renewed only in writing."
        await stage.pilot.press("u")
        await stage.until(lambda: "Taken back" in stage.text(), "the word")
        assert collected() == []
        await stage.pilot.press("u")
        await stage.until(lambda: "Nothing to take back" in stage.text(), "the word")


async def test_what_is_gone_cannot_be_kept_as_an_answer() -> None:
    async with on_stage(Scene(documents={})) as stage:
        await stage.opened()
        await stage.ask("When does the lease end?")
        await stage.pilot.press("alt+1")
        await stage.until(lambda: "the note is no longer there" in stage.text(), "the word")
        await stage.pilot.press("m")
        await stage.until(lambda: "cannot be kept as an answer" in stage.words("Toast"), "the reason")
        assert not collected_path(FOLDER).exists()


async def test_markdown_is_rendered_with_the_cited_block_marked() -> None:
    note = f"---\ntitle: x\n---\n{LEASE}\n[click](http://evil.example) \x1b[2J"
    async with on_stage(Scene(documents={"house/lease.md": note})) as stage:
        view = await viewing(stage)
        await stage.pilot.press("r")
        await stage.until(lambda: bool(stage.app.screen.query("MarkdownBlock.cited")), "the rendered note")
        (cited,) = stage.app.screen.query("MarkdownBlock.cited")
        assert "The term begins" in str(cited._content)  # type: ignore[attr-defined]
        assert "## Term" not in stage.text()
        assert "\x1b" not in stage.text()
        assert "[click](http://evil.example)" in stage.text()
        await stage.pilot.press("r")
        await stage.until(lambda: not stage.app.screen.query(Rendered), "the text again")
        assert view.display


async def test_e_opens_the_users_editor_at_the_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, log = tmp_path / "my notes", tmp_path / "log"
    (folder / "house").mkdir(parents=True)
    (folder / "house/lease.md").write_text(LEASE, "utf-8")
    vim = tmp_path / "vim"
    vim.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {log}\n')
    vim.chmod(vim.stat().st_mode | stat.S_IXUSR)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{vim} -R")
    async with on_stage(folder=folder) as stage:
        await viewing(stage)
        monkeypatch.setattr(stage.app, "suspend", nullcontext)
        await stage.pilot.press("e")
        await stage.until(log.exists, "the editor")
        assert log.read_text() == f"-R\n+7\n{folder}/house/lease.md\n"
        monkeypatch.delenv("EDITOR")
        await stage.pilot.press("e")
        await stage.until(lambda: "No editor is set" in stage.text(), "the line")
        (folder / "house/lease.md").write_bytes(b"%PDF\0\0")
        await stage.pilot.press("e")
        await stage.until(lambda: "no text file" in stage.text(), "the word")
        monkeypatch.setattr(Path, "read_bytes", refused)
        await stage.pilot.press("e")
        await stage.until(lambda: "cannot be read: Permission denied" in stage.text(), "the reason")


def refused(path: Path) -> bytes:
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


@pytest.mark.skipif(not hasattr(signal, "SIGQUIT"), reason="what POSIX terminals send")
@pytest.mark.parametrize("typed", ["INT", "QUIT"])
def test_what_stops_an_editor_does_not_stop_the_program(typed: str) -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGQUIT)
    script = f"kill -{typed} $PPID; ulimit -c 0; kill -{typed} $$; exit 7"
    assert run_editor(["sh", "-c", script]) == -getattr(signal, f"SIG{typed}")
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGQUIT)) == before


@pytest.mark.parametrize(
    ("editor", "arguments"),
    [
        ("vim", ["+12", "/n/a b.md"]),
        ("/usr/bin/nvim", ["+12", "/n/a b.md"]),
        ("nano", ["+12", "/n/a b.md"]),
        ("emacs -nw", ["-nw", "+12", "/n/a b.md"]),
        ("code --wait", ["--wait", "--goto", "/n/a b.md:12"]),
        ("hx", ["/n/a b.md:12"]),
        ("micro", ["+12", "/n/a b.md"]),
        ("kate", ["--line", "12", "/n/a b.md"]),
    ],
)
def test_each_editor_is_told_the_line_in_its_own_way(
    editor: str, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", editor)
    monkeypatch.setattr("shutil.which", lambda name: name)
    command, at_line = editor_command(Path("/n/a b.md"), 12)
    assert command[1:] == arguments
    assert at_line


def test_editors_that_are_unknown_missing_or_nonsense(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "python3")
    command, at_line = editor_command(Path("/n/a.md"), 12)
    assert (command[-1], at_line) == ("/n/a.md", False)
    for told, reason in (("no-such-editor-x", "not there"), ("vim 'x", "cannot be read"), (" ", "no editor")):
        monkeypatch.setenv("EDITOR", told)
        with pytest.raises(NoEditor, match=reason):
            editor_command(Path("/n/a.md"), 1)


@given(st.text("ab \nÄẞİ.*", max_size=60), st.text("ab ÄẞİB.*", max_size=4), st.integers(0, 60))
def test_places_are_where_the_words_stand(text: str, needle: str, offset: int) -> None:
    places = places_of(needle, text)
    wanted = needle.split()
    for start, end in places:
        found = text[start:end].split()
        assert [each.casefold() for each in found] == [each.casefold() for each in wanted] or (
            "".join(found).lower() == "".join(wanted).lower()
        )
    assert places == sorted(places)
    if needle.strip() and needle.split() == [needle] and needle in text:
        assert places
    if places:
        assert 0 <= next_place(places, offset) < len(places)


def test_undo_puts_the_question_back_as_it_was(tmp_path: Path) -> None:
    collection = Collection(tmp_path)
    assert not collection.undo()
    collection.mark_answer("Q?", "a.md", 0, 4, "word")
    before = collection.path.read_text("utf-8")
    collection.mark_answer("q?", "a.md", 9, 13, "more")
    assert collection.undo()
    assert collection.path.read_text("utf-8") == before
    assert not collection.undo()
    collection.mark_refused("Other?")
    assert collection.undo()
    assert collection.path.read_text("utf-8") == before


async def test_a_document_opened_by_its_name_has_no_range_that_is_marked() -> None:
    whole = TurnSource(0, "house/lease.md", "", 0, 0, 1, 1, "", math.nan, "", cited=False)
    async with on_stage(size=(80, 24)) as stage:
        await stage.opened()
        stage.app.view_sources([whole], 0)
        await stage.until(lambda: "exact" in stage.text(), "the document")
        await stage.pilot.press("r")
        await stage.until(lambda: bool(stage.app.screen.query("MarkdownH1")), "the note rendered")
        assert not stage.app.screen.query(".cited")
