"""What the screen does about folders, indexes, small terminals, the mouse, and hostile text."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from textual.screen import ModalScreen

from ragchat.answering.events import AnswerEvent, AnswerText, Finished, Retrieved
from ragchat.answering.refusal import refusal_message
from ragchat.documents.document import FailedDocument
from ragchat.errors import FolderMissing, IndexCorrupt, IndexLocked, IndexStale
from ragchat.index.progress import IndexProgress, Survey
from ragchat.index.protocol import Coverage
from ragchat.retrieval.trace import RetrievalTrace
from ragchat.tui.empty import KINDS, while_indexing
from ragchat.tui.screens.confirm import ConfirmScreen
from ragchat.tui.screens.viewer import ViewerScreen
from tests.tui.fake_workspace import (
    NO_SERVER,
    Scene,
    answer_of,
    answered_trace,
    passages,
    refused_trace,
    trace_of,
    usual_script,
)
from tests.tui.fake_workspace import candidate as scripted
from tests.tui.stage import NARROW, Stage, on_stage

HOSTILE = "\x1b[2J\x1b]0;owned\x07[bold]not markup[/bold]\x00"


async def test_without_a_folder_one_sentence_one_key_one_alternative() -> None:
    async with on_stage(folder=None) as stage:
        await stage.until(lambda: "No folder of notes is open" in stage.text(), "the sentence")
        assert "^o chooses one" in stage.text()
        assert "ragchat demo" in stage.text()


async def test_a_missing_folder_says_so() -> None:
    async with on_stage(Scene(open_error=FolderMissing("there is no folder /nowhere"))) as stage:
        await stage.until(lambda: "there is no folder /nowhere" in stage.text(), "the sentence")
        assert "^o chooses another folder" in stage.text()


async def test_a_huge_folder_is_asked_about_first_with_its_size_and_number() -> None:
    survey = Survey(120_345, 7_200_000_000, {"hidden": 400}, confirm="this is your home folder")
    async with on_stage(Scene(indexed=0, chunks=0, survey=survey)) as stage:
        await stage.until(lambda: isinstance(stage.app.screen, ConfirmScreen), "the question")
        await stage.pilot.pause()
        assert "120,345 files, 7.2 GB" in stage.text()
        await stage.pilot.press("n")
        assert stage.workspace.updates == []
        await stage.pilot.press("ctrl+r")
        await stage.until(lambda: isinstance(stage.app.screen, ConfirmScreen), "the question again")
        await stage.pilot.press("y")
        await stage.until(lambda: stage.workspace.updates == [(False, False)], "indexing")


@pytest.mark.parametrize(
    ("error", "rebuild", "word"),
    [
        (IndexStale("made by all-MiniLM-L6-v2, you asked for bge-m3"), True, "^r rebuilds"),
        (IndexCorrupt("the index cannot be read"), True, "^r rebuilds"),
        (IndexLocked("another ragchat is indexing"), False, "^r tries again"),
    ],
)
async def test_a_problem_with_the_index_is_a_banner_with_the_key_that_mends_it(
    error: IndexStale | IndexCorrupt | IndexLocked, rebuild: bool, word: str
) -> None:
    async with on_stage(Scene(index_error=error)) as stage:
        await stage.until(lambda: word in stage.text(), "the banner")
        assert error.message in stage.text()
        await stage.pilot.press("ctrl+r")
        await stage.until(lambda: stage.workspace.updates[1:] == [(rebuild, False)], "trying again")


def over_a_part(trace: RetrievalTrace) -> RetrievalTrace:
    return replace(trace, coverage=Coverage(12, 0, 0, pending=400, by_words=398))


async def test_an_answer_while_indexing_says_how_much_was_searched() -> None:
    step = IndexProgress("indexing", 12, 412, 80, 0, 1, "house/lease.md")

    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        yield Finished(answer_of(over_a_part(answered_trace(question)), "In March [1]."))

    scene = Scene(indexed=12, steps=(step,), hold=threading.Event(), script=script)
    async with on_stage(scene) as stage:
        await stage.until(lambda: "12 of 412" in stage.text(), "progress")
        assert "1 failed (F3)" in stage.text()
        await stage.ask("When does the lease end?")
        assert "searched 410 of 412 notes" in stage.text()
        assert "ask again later" in stage.text()
        assert "Ask again later" not in stage.text()
        assert scene.hold is not None
        scene.hold.set()
        await stage.until(lambda: "ask again later" not in stage.text(), "the note gone with its reason")


async def test_a_script_that_cannot_be_read_is_told_once_early_and_marked_for_good() -> None:
    notice = "MiniLM reads English: expect wrong answers. Better: ragchat index --rebuild -f /notes"
    step = IndexProgress("indexing", 5, 412, 80, notice=notice)
    scene = Scene(steps=(step, step), hold=threading.Event(), notice=notice)
    async with on_stage(scene) as stage:
        await stage.until(lambda: "MiniLM reads English" in stage.text(), "the word")
        await stage.until(lambda: bool(stage.app.screen.query("Toast")), "the toast")
        assert "F3 shows what to do" in stage.words("Toast")
        assert "▲ 5/412" in stage.text()
        assert scene.hold is not None
        scene.hold.set()
        await stage.until(lambda: "index ▲ foreign script" in stage.text(), "the mark")
        assert stage.text().count("MiniLM reads English") == 1
        await stage.pilot.press("f3")
        await stage.until(lambda: "ragchat index --rebuild -f /notes" in stage.text(), "the remedy")


async def test_what_was_indexed_is_still_told_while_the_threshold_is_found() -> None:
    steps = (IndexProgress("indexing", 31, 31, 106, 0, 0, ""), IndexProgress("calibrating"))
    async with on_stage(Scene(indexed=0, steps=steps, hold=threading.Event())) as stage:
        await stage.until(lambda: "finding the threshold" in stage.text(), "calibrating")
        assert "31 docs · 106 passages" in stage.text()


async def test_what_was_not_found_so_far_is_asked_again_in_its_place_when_all_is_indexed() -> None:
    whole = threading.Event()

    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        if not whole.is_set():
            trace = over_a_part(refused_trace(question))
            yield Retrieved(trace)
            yield Finished(answer_of(trace, None, message=refusal_message(trace)))
        elif "lease" in question:
            yield from usual_script(question, admit, cancel)
        else:
            trace = refused_trace(question)
            yield Finished(answer_of(trace, None, message=refusal_message(trace)))

    async with on_stage(Scene(hold=whole, script=script)) as stage:
        await stage.until(lambda: stage.app.session is not None and stage.app.session.is_open, "opening")
        await stage.ask("When does the lease end?")
        await stage.ask("Why is the sea salty?")
        assert stage.text().count("NOT FOUND SO FAR") == 2
        assert "asked again by itself" in stage.text()
        whole.set()
        lease, sea = stage.app.chat.conversation.turns
        await stage.until(lambda: "31 March 2027" in lease.text, "the answer in its place")
        await stage.until(lambda: "NO ANSWER" in sea.copyable, "the last word on the other")
        assert lease.answer is not None
        assert lease.answer.outcome == "answered"
        assert [question for question, _ in stage.workspace.questions] == [
            "When does the lease end?",
            "Why is the sea salty?",
        ] * 2
        await stage.until(lambda: "NOT FOUND" not in stage.text(), "the old words gone")


def test_the_first_moments_say_what_is_searched_and_what_is_read() -> None:
    words = while_indexing(IndexProgress("indexing", 0, 56, documents_read=12)).plain
    assert words.startswith("12 documents of 56 searched by their words, 0 by meaning too.")
    assert "Reading your notes" in while_indexing(IndexProgress("indexing", 0, 56)).plain
    assert KINDS in Path("README.md").read_text(encoding="utf-8")


async def test_a_question_over_no_notes_says_that_there_are_none() -> None:
    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        trace = replace(trace_of(question, []), coverage=Coverage(0, 0, 0))
        yield Finished(answer_of(trace, None, message=refusal_message(trace)))

    async with on_stage(Scene(documents={}, indexed=0, chunks=0, script=script)) as stage:
        await stage.until(lambda: "There are no notes in this folder." in stage.words(), "the empty folder")
        assert KINDS in stage.words()
        await stage.ask("When?")
        assert 'NO ANSWER: there are no notes to search for "When?"' in stage.words()
        assert "nothing in the notes" not in stage.words()


async def test_without_a_server_the_screen_says_what_to_start() -> None:
    async with on_stage(Scene(health=NO_SERVER, model="")) as stage:
        await stage.opened()
        assert "no server: quotations" in stage.text()
        assert "ollama serve" in stage.text()


async def test_a_remote_server_is_always_shown() -> None:
    remote = replace(NO_SERVER, host="http://far:11434", loopback=False, reachable=True, problem="", hint="")
    remote = replace(remote, models=Scene().health.models)
    async with on_stage(Scene(health=remote)) as stage:
        await stage.opened()
        assert "notes leave this machine" in stage.text()


_KEYS = ("alt+1", "escape", "ctrl+e", "escape", "f1", "escape", "f3", "escape", "f2")


@pytest.mark.parametrize("size", [(40, 10), (79, 24), (99, 30), (250, 80)])
async def test_no_size_crashes(size: tuple[int, int]) -> None:
    async with on_stage(size=size) as stage:
        await stage.opened()
        await stage.ask("When does the lease end?")
        for key in _KEYS:
            await stage.pilot.press(key)


@pytest.mark.parametrize("size", [(20, 6), (1, 1)])
@pytest.mark.parametrize("last", ["f1", "ctrl+p", "ctrl+t", "f7", "escape"])
async def test_keys_on_a_screen_that_is_too_small_do_no_harm(size: tuple[int, int], last: str) -> None:
    async with on_stage(size=size) as stage:
        await stage.opened()
        for key in (*_KEYS, last):
            await stage.pilot.press(key)
        await stage.pilot.resize_terminal(80, 24)
        if stage.app.screen is not stage.app.chat:
            await stage.pilot.press("escape")
        await stage.until(lambda: stage.app.screen is stage.app.chat, "the main screen")
        await stage.ask("When does the lease end?")


async def test_a_dialog_that_came_over_the_line_does_not_leave_it_behind() -> None:
    async with on_stage(size=(20, 6)) as stage:
        await stage.opened()
        await stage.app.push_screen(ModalScreen[None]())
        await stage.pilot.resize_terminal(80, 24)
        stage.app.pop_screen()
        await stage.until(lambda: stage.app.screen is stage.app.chat, "the main screen")


async def test_resizing_in_mid_stream_loses_nothing() -> None:
    gate = threading.Event()

    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        trace = answered_trace(question)
        yield Retrieved(trace)
        yield AnswerText("before ")
        gate.wait(5)
        yield AnswerText("after [1]")
        yield Finished(answer_of(trace, "before after [1]"))

    async with on_stage(Scene(script=script)) as stage:
        await stage.opened()
        stage.begin("When?")
        await stage.until(lambda: "before" in stage.text(), "the stream")
        await stage.pilot.resize_terminal(60, 18)
        gate.set()
        await stage.answered()
        assert "before after [1]" in stage.text()
        assert stage.app.chat.drawer_is_open


async def _click(stage: Stage, words: str) -> None:
    """Click where these words stand."""
    for y, line in enumerate(stage.text().splitlines()):
        if (x := line.find(words)) >= 0:
            await stage.pilot.click(offset=(x + 1, y))
            return
    raise AssertionError(f"{words!r} is not on the screen")


@pytest.mark.parametrize("words", ["[1]", "house/lease.md", "#char=68,166"])
async def test_a_click_on_a_mark_or_on_a_source_opens_it(words: str) -> None:
    async with on_stage() as stage:
        await stage.opened()
        await stage.ask("When does the lease end?")
        await _click(stage, words)
        await stage.until(lambda: isinstance(stage.app.screen, ViewerScreen), "the viewer")
        await stage.until(lambda: "✓ exact" in stage.text(), "the document")


async def test_the_footer_and_the_header_can_be_clicked() -> None:
    async with on_stage() as stage:
        await stage.opened()
        await _click(stage, "F1 Help")
        await stage.until(lambda: "In the prompt" in stage.text(), "the help")
        await stage.pilot.press("escape")
        await _click(stage, "qwen3:4b")
        await stage.until(lambda: "llama3.2:3b" in stage.text(), "the models")


async def test_the_wheel_scrolls_the_document() -> None:
    documents = {"house/lease.md": "x\n" * 400}
    async with on_stage(Scene(documents=documents)) as stage:
        await stage.opened()
        await stage.ask("When?")
        await stage.pilot.press("alt+1")
        await stage.until(lambda: "changed since" in stage.text(), "the document")
        view = stage.app.screen.query_one("#document")
        before = view.scroll_offset.y
        view.scroll_down(animate=False)
        await stage.pilot.pause()
        assert view.scroll_offset.y > before


async def test_a_document_that_is_gone_is_shown_by_its_quote() -> None:
    async with on_stage(Scene(documents={})) as stage:
        await stage.opened()
        await stage.ask("When does the lease end?")
        await stage.pilot.press("alt+1")
        await stage.until(lambda: "no longer there" in stage.text(), "the word")
        assert "The term begins on 1 April 2024" in stage.text()


async def test_hostile_text_is_shown_and_never_obeyed() -> None:
    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        chunk, distance = passages()[0]
        chunk = replace(chunk, document=f"evil{HOSTILE}.md", section=(HOSTILE,), content=HOSTILE)
        trace = trace_of(question, [scripted(1, chunk, distance)])
        yield Retrieved(trace)
        yield Finished(answer_of(trace, "Look [1] \\x1b[2J [bold]plain[/bold]", notice=HOSTILE))

    failures = (FailedDocument(f"bad{HOSTILE}", HOSTILE, HOSTILE),)
    async with on_stage(Scene(script=script, failures=failures, model=HOSTILE)) as stage:
        await stage.opened()
        await stage.ask(f"what? {HOSTILE}")
        for key in ("alt+1", "escape", "ctrl+e", "escape", "f3", "escape"):
            text = stage.text()
            assert not set("\x1b\x07\x00") & set(text)
            await stage.pilot.press(key)
        await stage.pilot.pause()
        assert "[bold]not markup[/bold]" in stage.text()
        assert "\\x1b[2J" in stage.text()


async def test_wide_characters_keep_their_columns() -> None:
    async with on_stage(size=NARROW) as stage:
        await stage.opened()
        await stage.ask("冷蔵庫の保証は？")
        await stage.pilot.press("alt+4")
        await stage.until(lambda: "冷蔵庫" in stage.text(), "the document")
        for line in stage.app.screen._compositor.render_strips():
            assert line.cell_length == NARROW[0]


async def test_what_is_typed_before_the_prompt_is_there_is_kept() -> None:
    async with on_stage() as stage:
        await stage.opened()
        stage.app.chat._typed_early = "early"
        await _without_prompt(stage)
        await stage.pilot.press("x")
        await stage.app.chat.mount_prompt()
        assert stage.app.chat.prompt.text == "earlyx"


async def test_what_is_asked_before_the_prompt_is_there_is_asked() -> None:
    async with on_stage() as stage:
        await stage.opened()
        await _without_prompt(stage)
        await stage.pilot.press("enter", *"leash", "backspace", *"e?", "enter", *"and", "enter", "x")
        await stage.app.chat.mount_prompt()
        assert stage.app.chat.prompt.text == "andx"
        await stage.until(lambda: len(stage.app.chat.conversation.turns) == 1, "the question")
        assert stage.app.chat.conversation.turns[0].question == "lease?"


async def _without_prompt(stage: Stage) -> None:
    """As between the first frame and the prompt."""
    from ragchat.tui.widgets.prompt_place import PromptPlace

    await stage.app.chat.prompt.remove()
    await stage.app.chat.mount(PromptPlace())
    stage.app.chat.set_focus(None)


def test_the_first_frame_loads_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from ragchat.settings import Settings\n"
        "from ragchat.tui.app import RagchatApp\n"
        "async def begin(self):\n"
        "    heavy = {'numpy', 'sqlite3', 'onnxruntime', 'ollama', 'torch', 'sentence_transformers',\n"
        "             'markdown_it', 'textual.widgets._markdown', 'textual.widgets._text_area'}\n"
        "    self.exit(len(heavy & set(sys.modules)))\n"
        "RagchatApp.begin = begin\n"
        f"app = RagchatApp(Path({str(tmp_path)!r}), Settings())\n"
        "app.run(headless=True)\n"
        "sys.exit(app.return_value)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()


async def test_the_conversation_is_exported_beside_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ragchat.tui.commands import export

    monkeypatch.chdir(tmp_path)
    async with on_stage() as stage:
        await stage.opened()
        await stage.ask("When does the lease end?")
        export(stage.app)
        (tmp_path / "ragchat-notes-2.md").symlink_to(tmp_path / "elsewhere.md")
        export(stage.app)
        second = tmp_path / "ragchat-notes-3.md"
        await stage.until(lambda: any(str(second) in toast.message for toast in stage.app._notifications))
    names = ["ragchat-notes-2.md", "ragchat-notes-3.md", "ragchat-notes.md"]
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix == ".md") == names
    assert "31 March 2027" in (tmp_path / "ragchat-notes.md").read_text(encoding="utf-8")


async def test_no_turn_is_exported_to_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ragchat.tui.commands import export

    monkeypatch.chdir(tmp_path)
    async with on_stage() as stage:
        await stage.opened()
        export(stage.app)
        await stage.until(lambda: "no turn to export yet" in stage.text(), "the word")
    assert list(tmp_path.glob("*.md")) == []


async def test_the_key_bar_offers_what_a_refusal_needs_and_no_code_without_code() -> None:
    async with on_stage(size=NARROW) as stage:
        await stage.opened()
        await stage.ask("Why is the sky blue?")
        await stage.pilot.press("tab")
        await stage.until(lambda: "x Must refuse" in stage.text(), "the key")
        assert "c Code" not in stage.text()


async def test_an_export_never_lands_among_the_notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be indexed, and cited instead of the notes it quotes."""
    from ragchat.tui.commands import export

    notes, home = tmp_path / "notes", tmp_path / "home"
    (notes / "house").mkdir(parents=True)
    home.mkdir()
    monkeypatch.chdir(notes / "house")
    monkeypatch.setenv("HOME", str(home))
    async with on_stage(folder=notes) as stage:
        await stage.opened()
        await stage.ask("When does the lease end?")
        export(stage.app)
        await stage.until(lambda: "Exported to" in stage.text(), "the toast")
    assert list(notes.rglob("*.md")) == []
    assert [path.name for path in home.glob("*.md")] == ["ragchat-notes.md"]
