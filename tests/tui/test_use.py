"""What annoyed in half an hour of use, once each: it stays mended."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from textual._xterm_parser import XTermParser
from textual.events import Key
from textual.widgets._toast import Toast

import ragchat.tui
from ragchat.answering.events import AnswerEvent, AnswerText, Finished, Retrieved
from ragchat.errors import IndexCorrupt, IndexStale
from ragchat.settings import ScreenSettings, Settings
from ragchat.settings_loader import load_settings
from ragchat.tui.app import RagchatApp
from ragchat.tui.recent import recent_folders
from ragchat.tui.screens.viewer import ViewerScreen
from tests.tui.fake_workspace import (
    FAILURES,
    HEALTHY,
    Scene,
    answer_of,
    answered_trace,
    candidate,
    passages,
    refused_trace,
    trace_of,
    turn_of,
)
from tests.tui.stage import NARROW, WIDE, Stage, on_stage
from tests.tui.test_screen import _click


def says(*pieces: AnswerText, text: str, gate: threading.Event | None = None, notice: str = "") -> Scene:
    """Streams the pieces, waits for the gate, ends with the text."""

    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        trace = answered_trace(question)
        yield Retrieved(trace)
        yield from pieces
        if gate is not None:
            gate.wait(5)
        yield Finished(answer_of(trace, text, notice=notice))

    return Scene(script=script)


def footer(stage: Stage) -> str:
    return stage.text().splitlines()[-1]


async def test_reasoning_that_was_shown_as_answer_is_taken_back_when_the_model_says_so() -> None:
    gate = threading.Event()
    pieces = (
        AnswerText("hm, the lease "),
        AnswerText("perhaps"),
        AnswerText("In March [1].", restarts=True),
    )
    async with on_stage(says(*pieces, text="In March [1].", gate=gate)) as stage:
        await stage.opened()
        stage.begin("When does it end?")
        await stage.until(lambda: "In March [1]." in stage.text(), "the answer")
        assert "perhaps" not in stage.text()
        assert "· 21 characters, not part of the answer" in stage.text()
        gate.set()
        await stage.answered()
        assert stage.app.chat.conversation.turns[-1].text == "In March [1]."


async def test_an_empty_piece_does_no_harm() -> None:
    async with on_stage(says(AnswerText(""), text="Yes [1].")) as stage:
        await stage.opened()
        await stage.ask("Is it?")
        assert "Yes [1]." in stage.text()


@pytest.mark.parametrize("keys", [["f1"], ["f3"], ["ctrl+e"], ["alt+1"], ["ctrl+t"], ["ctrl+o"]])
async def test_every_footer_names_the_way_back_once(keys: list[str]) -> None:
    async with on_stage() as stage:
        await stage.opened()
        await stage.ask("When does the lease end?")
        await stage.pilot.press(*keys)
        await stage.until(lambda: stage.app.screen is not stage.app.chat, "the other screen")
        assert stage.text().count("esc Back") == 1


async def test_the_footer_offers_only_what_has_something_to_act_on() -> None:
    async with on_stage() as stage:
        await stage.opened()
        assert not any(key in footer(stage) for key in ("alt+1-9", "^e", "^y", "F3"))
        await stage.ask("When does the lease end?")
        assert all(key in footer(stage) for key in ("alt+1-9", "^e", "^y"))
        await stage.pilot.press("f3")
        assert "r Retry" not in footer(stage)
    async with on_stage(Scene(failures=FAILURES)) as stage:
        await stage.opened()
        assert "F3 Index" in footer(stage)
        await stage.pilot.press("f3")
        assert "r Retry failed" in footer(stage)


async def test_the_conversation_scrolls_while_the_prompt_has_the_focus() -> None:
    long = "\n\n".join(f"paragraph {number} [1]" for number in range(60))
    async with on_stage(says(AnswerText(long), text=long)) as stage:
        await stage.opened()
        await stage.ask("Everything?")
        conversation = stage.app.chat.conversation
        conversation.scroll_end(animate=False, immediate=True)
        bottom = conversation.scroll_y
        await stage.pilot.press("pageup")
        assert conversation.scroll_y < bottom
        assert stage.app.focused is stage.app.chat.prompt
        await stage.pilot.press("pagedown")
        assert conversation.scroll_y == bottom


async def test_what_is_typed_is_not_lost_when_a_pane_has_the_focus() -> None:
    async with on_stage() as stage:
        await stage.opened()
        stage.app.chat.conversation.focus()
        await stage.pilot.press("W", "h", "y", "question_mark")
        assert stage.app.chat.prompt.text == "Why?"
        assert stage.app.focused is stage.app.chat.prompt


@pytest.mark.parametrize("words", ["[1]", "house/lease.md"])
async def test_a_click_that_opens_a_source_leaves_the_focus_in_the_prompt(words: str) -> None:
    async with on_stage() as stage:
        await stage.opened()
        await stage.ask("When does the lease end?")
        await _click(stage, words)
        await stage.until(lambda: isinstance(stage.app.screen, ViewerScreen), "the viewer")
        await stage.pilot.press("escape", "i", "f")
        assert stage.app.chat.prompt.text == "if"


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_a_toast_covers_neither_the_answer_nor_a_source_in_the_drawer(size: tuple[int, int]) -> None:
    async with on_stage(size=size) as stage:
        await stage.opened()
        await stage.ask("When does the lease end?")
        stage.app.notify("Indexed in 1.2 s: 412 added, 3 updated, 12 removed.")
        await stage.until(lambda: bool(stage.app.screen.query(Toast)), "the toast")
        toast = stage.app.screen.query_one(Toast).region
        answer = stage.app.chat.conversation.turns[-1].query_one("AnswerText").region
        cards = [card.region for card in stage.app.chat.sources.cards]
        assert not toast.overlaps(answer)
        assert size is WIDE or not any(toast.overlaps(card) for card in cards)


async def test_hints_name_the_keys_of_the_screen_and_a_notice_is_said_once() -> None:
    notice = "no model is chosen, so qwen3:4b answered; choose with --model"
    async with on_stage(says(AnswerText("Yes [1]."), text="Yes [1].", notice=notice)) as stage:
        await stage.opened()
        await stage.ask("one?")
        await stage.ask("two?")
        assert stage.text().count("choose with ^l") == 1
        assert "--model" not in stage.text()


async def test_a_pasted_page_does_not_fill_the_screen_with_itself() -> None:
    page = "\n".join(f"line {number} of the sky" for number in range(200))
    async with on_stage() as stage:
        await stage.opened()
        await stage.ask(page)
        assert "line 7 of the sky" in stage.text()
        assert "line 8 of the sky" not in stage.text()
        assert "characters more" in stage.text()
        assert stage.workspace.questions[-1][0] == page
        await stage.pilot.press("up")
        assert stage.app.chat.prompt.text == page


async def test_a_folder_named_on_the_command_line_is_offered_again(tmp_path: Path) -> None:
    async with on_stage(folder=tmp_path) as stage:
        await stage.opened()
        assert recent_folders() == [tmp_path]


async def test_the_sample_notes_are_no_recent_folder(tmp_path: Path) -> None:
    async with on_stage(folder=tmp_path, demo=True) as stage:
        await stage.opened()
        assert recent_folders() == []


async def test_a_chosen_theme_is_there_again_unless_the_settings_name_one() -> None:
    async with on_stage() as stage:
        await stage.opened()
        await stage.pilot.press("ctrl+t", "up", "enter")
        chosen = stage.app.theme
        assert chosen != "ragchat-dark"
    assert RagchatApp(None, load_settings(environ={})).theme == chosen
    configured = Settings(screen=ScreenSettings("ragchat-light"), origins={"screen.theme": "config.toml"})
    assert RagchatApp(None, configured).theme == "ragchat-light"


async def test_a_stale_index_is_not_said_to_be_empty() -> None:
    async with on_stage(Scene(indexed=0, chunks=0, index_error=IndexStale("made otherwise"))) as stage:
        await stage.until(lambda: "^r rebuilds" in stage.text(), "the banner")
        assert "0 docs" not in stage.text()


async def test_an_earlier_refusal_does_not_claim_what_is_no_longer_known() -> None:
    turn = turn_of(answer_of(refused_trace("Why is the sky blue?"), None))
    async with on_stage(Scene(turns=(turn,))) as stage:
        await stage.until(lambda: "Why is the sky blue?" in stage.text(), "the turn")
        await stage.until(lambda: "No source was near enough" in stage.text(), "the words")
        assert "resembles" not in stage.text()


async def test_an_earlier_answer_still_marks_the_number_that_has_no_source() -> None:
    turn = turn_of(answer_of(answered_trace("When?"), "So [1] and so [9]."))
    async with on_stage(Scene(turns=(turn,))) as stage:
        await stage.until(lambda: "[9]✗" in stage.text(), "the mark")


async def test_long_lines_of_code_are_wrapped_because_no_key_scrolls_them() -> None:
    code = "```sh\nrestic " + "--exclude=cache " * 12 + "--last-word\n```\n"
    async with on_stage(says(AnswerText(code), text=code)) as stage:
        await stage.opened()
        await stage.ask("How?")
        assert "--last-word" in stage.text()


@pytest.mark.parametrize("size", [(60, 15), NARROW])
async def test_the_drawer_leaves_the_answer_more_room_than_it_takes(size: tuple[int, int]) -> None:
    async with on_stage(size=size) as stage:
        await stage.opened()
        await stage.ask("When does the lease end?")
        chat = stage.app.chat
        assert chat.drawer_is_open
        assert chat.conversation.size.height >= chat.sources.size.height


async def test_the_text_does_not_move_when_the_scrollbar_comes() -> None:
    async with on_stage() as stage:
        await stage.opened()
        await stage.ask("When does the lease end?")
        before = stage.app.chat.conversation.turns[0].size.width
        for _ in range(4):
            await stage.ask("When does the lease end?")
        assert stage.app.chat.conversation.max_scroll_y > 0
        assert stage.app.chat.conversation.turns[0].size.width == before


def test_leaving_sorts_out_no_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RagchatApp, "run", lambda _app, **_options: None)
    try:
        assert ragchat.tui.run(None, Settings()) == 0
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
        gc.enable()


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_a_long_name_is_cut_with_a_sign(size: tuple[int, int]) -> None:
    name = "a folder of long names/" * 5 + "lease.md"
    chunk, _ = passages()[0]

    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        trace = trace_of(question, [candidate(1, replace(chunk, document=name), 0.3)])
        yield Retrieved(trace)
        yield Finished(answer_of(trace, "Yes [1]."))

    async with on_stage(Scene(script=script), size=size) as stage:
        await stage.opened()
        await stage.ask("Is it?")
        line = next(line for line in stage.text().splitlines() if "0.30" in line)
        assert "…" in line.split("0.30")[0]


async def test_alt_and_a_letter_types_no_letter() -> None:
    async with on_stage() as stage:
        await stage.opened()
        stage.app.chat.prompt.focus()
        for key, character in (("alt+x", "x"), ("alt+shift+x", "X"), ("alt+l", "@")):
            stage.app.chat.prompt.post_message(Key(key, character))
        await stage.pilot.pause()
        assert stage.app.chat.prompt.text == "@"


@pytest.mark.parametrize("key", ["shift+enter", "ctrl+enter"])
async def test_terminals_that_can_tell_make_new_lines_as_elsewhere(key: str) -> None:
    async with on_stage() as stage:
        await stage.opened()
        await stage.pilot.press("a", key, "b")
        assert stage.app.chat.prompt.text == "a\nb"
        assert stage.workspace.questions == []


async def test_the_footer_offers_the_sources_while_the_answer_streams() -> None:
    gate = threading.Event()
    async with on_stage(says(AnswerText("Yes"), text="Yes [1].", gate=gate)) as stage:
        await stage.opened()
        stage.begin("Is it?")
        await stage.until(lambda: "Yes" in stage.text(), "the stream")
        assert "alt+1-9 Source" in footer(stage)
        gate.set()
        await stage.answered()


async def test_a_damaged_index_hides_no_conversation_and_names_its_remedy_once() -> None:
    turn = turn_of(answer_of(answered_trace("When?"), "In March [1]."))
    damaged = IndexCorrupt("the index is damaged", hint="ragchat index --rebuild")
    async with on_stage(Scene(open_error=damaged, turns=(turn,))) as stage:
        await stage.until(lambda: "In March" in stage.text(), "the conversation")
        await stage.until(lambda: "damaged" in stage.text(), "the banner")
        assert stage.text().count("^r rebuilds the index") == 1


async def test_a_damaged_index_without_a_conversation_names_the_key_in_the_middle() -> None:
    async with on_stage(Scene(open_error=IndexCorrupt("the index is damaged"))) as stage:
        await stage.until(lambda: "cannot be read" in stage.text(), "the empty state")
        assert "Opening" not in stage.text()


async def test_models_that_only_embed_are_no_choice() -> None:
    health = replace(HEALTHY, models=tuple(model for model in HEALTHY.models if not model.chats))
    async with on_stage(Scene(health=health, model="")) as stage:
        await stage.opened()
        await stage.pilot.press("ctrl+l")
        await stage.until(lambda: "enter gets it" in stage.text(), "the models")
        assert "bge-m3" not in stage.text()


@pytest.mark.parametrize(
    ("sent", "keys"),
    [
        ("\x1b\r", ["ctrl+j"]),
        ("\x1b1\x1b2", ["alt+1", "alt+2"]),
        ("\x1bx\x1b[1;5A", ["alt+x", "ctrl+up"]),
        ("\x1b1\x1b[<0;1;1M", ["alt+1"]),
        ("\x1b[A\x1b", ["up", "escape"]),
    ],
)
def test_keys_with_alt_are_themselves_whatever_follows_at_once(sent: str, keys: list[str]) -> None:
    parser = XTermParser()
    events = [*parser.feed(sent), *parser.feed("")]
    assert [event.key for event in events if isinstance(event, Key)] == keys


@pytest.mark.parametrize("width", [100, 120, 80])
async def test_what_a_source_is_worth_is_never_cut_off(width: int) -> None:
    chunk, _ = passages()[0]
    far = replace(chunk, start=1_234_567, end=1_234_999, first_line=20_123, last_line=20_131)

    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        trace = trace_of(question, [candidate(1, far, 0.3)])
        yield Retrieved(trace)
        yield Finished(answer_of(trace, "Yes."))

    async with on_stage(Scene(script=script), size=(width, 30)) as stage:
        await stage.opened()
        await stage.ask("Is it?")
        assert "not cited" in stage.text()


async def test_a_drawing_that_took_long_is_followed_by_a_longer_pause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with on_stage() as stage:
        await stage.opened()
        turn = await stage.app.chat.conversation.begin_turn("When does the lease end?")
        pauses = []
        with monkeypatch.context() as stopped:
            stopped.setattr(time, "monotonic", lambda: 100.0)
            for began in (100.0, 99.75, 90.0):
                turn._drawn(began)
                pauses.append(turn._pause)
        assert pauses == [0.1, 0.75, 1.0]
