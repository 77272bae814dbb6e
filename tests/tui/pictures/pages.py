"""The pages and dialogs over the main screen, and what each says when it has nothing to show."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest
from textual.widgets import Input, OptionList

from ragchat.answering.server import InstalledModel
from ragchat.embedding.ollama_pull import PullProgress
from ragchat.evaluation.promise import Promise
from ragchat.evaluation.statistics import proportion
from ragchat.index.progress import IndexProgress
from ragchat.tui.calibrating import Examined
from ragchat.tui.screens import calibration
from ragchat.tui.screens.calibration import CalibrationScreen
from ragchat.tui.screens.chat import ChatScreen
from ragchat.tui.screens.confirm import ConfirmScreen
from ragchat.tui.screens.conversations import ConversationsScreen
from ragchat.tui.screens.facts import FactsScreen
from ragchat.tui.screens.folder import FolderScreen
from ragchat.tui.screens.help import HelpScreen
from ragchat.tui.screens.index_view import IndexScreen
from ragchat.tui.screens.inspector import InspectorScreen
from ragchat.tui.screens.jump import JumpScreen
from ragchat.tui.screens.models import ModelScreen
from ragchat.tui.screens.palette import PaletteScreen
from ragchat.tui.screens.pick import PickScreen
from ragchat.tui.screens.prompt_page import PromptPage
from ragchat.tui.screens.remap import PressScreen, RemapScreen
from ragchat.tui.screens.settings import SettingsScreen
from ragchat.tui.screens.too_small import TooSmallScreen
from ragchat.tui.screens.viewer import ViewerScreen
from ragchat.tui.screens.welcome import WelcomeScreen
from tests.tui.fake_workspace import FAILURES, HEALTHY, LEASE, NO_SERVER, THRESHOLD, Scene
from tests.tui.pictures.walk import walk
from tests.tui.stage import NARROW, Stage
from tests.tui.test_calibration import ENOUGH, examined, questions

Patch = pytest.MonkeyPatch


async def _still(stage: Stage) -> None:
    """No blinking cursor in a line that one types into."""
    for line in stage.app.screen.query(Input):
        line.cursor_blink = False
    await stage.pilot.pause()


async def _answered(stage: Stage, question: str = "When does the lease end?") -> None:
    await stage.opened()
    await stage.ask(question)


@walk(
    {
        "turn-answered": ChatScreen,
        "sources-focused": ChatScreen,
        "conversation-focused": ChatScreen,
        "filter-completed": ChatScreen,
        "jumping": JumpScreen,
        "palette": PaletteScreen,
        "palette-nothing-found": PaletteScreen,
        "themes": PickScreen,
        "confirm-clear": ConfirmScreen,
        "help-conversation": HelpScreen,
        "zoomed": ChatScreen,
    }
)
async def over_an_answer(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
    press, until, text = stage.pilot.press, stage.until, stage.text
    await _answered(stage)
    yield "turn-answered"
    await press("shift+tab")
    yield "sources-focused"
    stage.app.chat.conversation.focus()
    await stage.pilot.pause()
    yield "conversation-focused"
    await press("f1")
    await until(lambda: "Keys that work here" in text(), "the help")
    await _still(stage)
    yield "help-conversation"
    await press("escape", "z")
    yield "zoomed"
    await press("z", "slash", *"When? in:h")
    await until(lambda: bool(stage.app.chat.prompt.suggestion), "the suggestion")
    yield "filter-completed"
    stage.app.chat.prompt.put("")
    await press("f7")
    await until(lambda: bool(stage.app.screen.query(".letter")), "the letters")
    yield "jumping"
    await press("escape", "ctrl+p")
    await _still(stage)
    line = stage.app.screen.query_one(Input)
    line.value = "term"
    await until(lambda: "section" in text() and "terminal" in text(), "the rows")
    yield "palette"
    line.value = "zzz"
    await until(lambda: "section" not in text(), "no rows")
    yield "palette-nothing-found"
    await press("escape", "ctrl+t")
    await until(lambda: "catppuccin-mocha" in text(), "the themes")
    await _still(stage)
    yield "themes"
    await press("escape")
    stage.app.chat.conversation.focus()
    await press("d")
    await until(lambda: isinstance(stage.app.screen, ConfirmScreen), "the question")
    yield "confirm-clear"


@walk(
    {
        "viewer-exact": ViewerScreen,
        "facts": FactsScreen,
        "viewer-found": ViewerScreen,
        "viewer-not-found": ViewerScreen,
        "viewer-rendered": ViewerScreen,
        "inspector": InspectorScreen,
        "inspector-filtered-away": InspectorScreen,
        "prompt-page": PromptPage,
        "turn-refused": ChatScreen,
        "inspector-refused": InspectorScreen,
        "inspector-moved": InspectorScreen,
    }
)
async def reading(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
    press, until, text = stage.pilot.press, stage.until, stage.text
    await _answered(stage)
    await press("alt+1")
    await until(lambda: "✓ exact" in text(), "the document")
    yield "viewer-exact"
    await press("i")
    await until(lambda: "no longer there" in text(), "the facts")
    yield "facts"
    await press("escape")
    await press("slash", *"notice")
    await _still(stage)
    await press("enter")
    await until(lambda: "1 of 2" in text(), "the places")
    yield "viewer-found"
    await press("slash", *"x")
    await _still(stage)
    await until(lambda: "is not in this document" in text(), "the word")
    yield "viewer-not-found"
    await press("escape", "r")
    await until(lambda: bool(stage.app.screen.query("MarkdownBlock.cited")), "the rendered note")
    yield "viewer-rendered"
    await press("escape", "ctrl+e")
    await until(lambda: "Candidates by" in text(), "the inspector")
    yield "inspector"
    await press("slash", *"zzz")
    await _still(stage)
    yield "inspector-filtered-away"
    await press("escape", "p")
    await until(lambda: "Would be sent" in text(), "the prompt")
    yield "prompt-page"
    await press("escape", "escape")
    await stage.ask("What does error E1234 mean?")
    yield "turn-refused"
    await press("ctrl+e")
    await until(lambda: "Candidates by" in text(), "the inspector")
    yield "inspector-refused"
    await press("down", "space")
    await until(lambda: "would be sent" in text(), "the line")
    yield "inspector-moved"


def _viewer(name: str, documents: dict[str, str]) -> None:
    async def viewing(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
        await _answered(stage)
        await stage.pilot.press("alt+1")
        await stage.until(lambda: "house/lease.md" in stage.text(), "the document")
        await stage.pilot.pause(0.1)
        yield name

    viewing.__name__ = name
    walk({name: ViewerScreen}, lambda: Scene(documents=documents))(viewing)


for _name, _documents in (
    ("viewer-moved", {"house/lease.md": f"A new beginning.\n\n{LEASE}"}),
    ("viewer-changed", {"house/lease.md": LEASE.replace("2027", "2028")}),
    ("viewer-gone", {}),
):
    _viewer(_name, _documents)


@walk(
    {
        "help": HelpScreen,
        "help-found": HelpScreen,
        "help-nothing-found": HelpScreen,
        "remap": RemapScreen,
        "remap-asked": PressScreen,
        "remap-conflict": RemapScreen,
        "settings": SettingsScreen,
        "settings-typing": SettingsScreen,
        "settings-wrong": SettingsScreen,
        "confirm-embedding": ConfirmScreen,
        "folder": FolderScreen,
        "folder-not-there": FolderScreen,
        "no-conversations": ConversationsScreen,
        "too-small": TooSmallScreen,
    }
)
async def over_an_empty_one(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
    press, until, text = stage.pilot.press, stage.until, stage.text
    await stage.opened()
    await press("f1")
    await _still(stage)
    yield "help"
    await press(*"quote")
    yield "help-found"
    await press("z", "z")
    yield "help-nothing-found"
    await press(*["backspace"] * 7, "f2")
    await _still(stage)
    yield "remap"
    await press(*"quote", "enter")
    await until(lambda: isinstance(stage.app.screen, PressScreen), "the question")
    yield "remap-asked"
    await press("i")
    await until(lambda: "pane.inspect already" in text(), "the conflict")
    yield "remap-conflict"
    await press("escape", "escape", "f9")
    stage.app.screen.query_one(OptionList).border_subtitle = "~/.config/ragchat/config.toml"
    yield "settings"
    await press("down", "down", "enter")
    await _still(stage)
    yield "settings-typing"
    await press(*"x0")
    yield "settings-wrong"
    await press("escape")
    options = stage.app.screen.query_one(OptionList)
    options.highlighted = options.get_option_index("embedding.precision")
    await press("enter")
    await until(lambda: isinstance(stage.app.screen, ConfirmScreen), "the question")
    yield "confirm-embedding"
    await press("n", "escape", "ctrl+o")
    await _still(stage)
    line = stage.app.screen.query_one(Input)
    line.value = "/usr/s"
    options = stage.app.screen.query_one(OptionList)
    await until(lambda: options.option_count > 0, "the folders")
    options.set_options(["/usr/sbin/", "/usr/share/", "/usr/src/"])
    yield "folder"
    line.value = "/nowhere"
    await until(lambda: options.option_count == 0, "no folders")
    await press("enter")
    await until(lambda: "there is no folder" in text(), "the word")
    yield "folder-not-there"
    await press("escape", "f5")
    await until(lambda: "There is none yet" in text(), "the word")
    await _still(stage)
    yield "no-conversations"
    await press("escape")
    await stage.pilot.resize_terminal(*((30, 8) if stage.app.size == NARROW else (38, 30)))
    await until(lambda: isinstance(stage.app.screen, TooSmallScreen), "the line")
    yield "too-small"


@walk(
    dict.fromkeys(
        ("conversations", "conversations-found", "conversations-none-found", "conversations-renaming"),
        ConversationsScreen,
    )
)
async def conversations(stage: Stage, patch: Patch) -> AsyncIterator[str]:
    patch.setattr("ragchat.answering.conversations._used", lambda _path: 1_772_000_000.0)
    await _answered(stage)
    await stage.pilot.press("ctrl+n")
    await stage.until(lambda: not stage.app.chat.conversation.turns, "the new one")
    await stage.ask("What does error E1234 mean?")
    await stage.pilot.press("f5")
    options = stage.app.screen.query_one(OptionList)
    await stage.until(lambda: options.option_count == 2, "the rows")
    await _still(stage)
    yield "conversations"
    await stage.pilot.press(*"lease")
    await stage.until(lambda: options.option_count == 1, "the row")
    yield "conversations-found"
    await stage.pilot.press("f2")
    yield "conversations-renaming"
    await stage.pilot.press("escape", *"zzz")
    await stage.until(lambda: options.option_count == 0, "no row")
    yield "conversations-none-found"


@walk({"welcome-no-server": WelcomeScreen}, lambda: Scene(health=NO_SERVER, model=""), welcome=True)
async def welcome_without_server(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
    await stage.until(lambda: "next: " in stage.text(), "the server")
    yield "welcome-no-server"


@walk({"welcome": WelcomeScreen}, welcome=True)
async def welcome(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
    await stage.until(lambda: "Ollama answers" in stage.text(), "the server")
    yield "welcome"


@walk({"index": IndexScreen, "index-nothing-found": IndexScreen}, lambda: Scene(failures=FAILURES))
async def index_view(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
    await stage.opened()
    await stage.pilot.press("f3")
    await stage.until(lambda: "3 indexed" in stage.text(), "the list")
    yield "index"
    await stage.pilot.press("slash", *"zzz")
    await _still(stage)
    await stage.pilot.pause(0.1)
    yield "index-nothing-found"


def _indexing() -> Scene:
    step = IndexProgress("indexing", 12, 412, 80, 0, 1, "house/lease.md")
    return Scene(steps=(step,), hold=threading.Event(), documents={})


@walk({"index-working": IndexScreen}, _indexing)
async def index_at_work(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
    await stage.until(lambda: "12 of 412" in stage.text(), "progress")
    await stage.pilot.press("f3")
    await stage.until(lambda: "indexing 12 of 412" in stage.text(), "progress in the view")
    yield "index-working"


@walk(
    dict.fromkeys(("calibration", "calibration-few", "calibration-empty"), CalibrationScreen),
)
async def calibrating(stage: Stage, patch: Patch) -> AsyncIterator[str]:
    await stage.opened()
    promise = Promise(proportion([1.0] * 10 + [0.0] * 220))  # type: ignore[arg-type]
    for name, data in (
        ("calibration", examined(ENOUGH)),
        ("calibration-few", examined(questions([0.3, 0.6], [0.4]))),
        ("calibration-empty", Examined(THRESHOLD, promise=promise)),
    ):
        patch.setattr(calibration, "examine_folder", lambda *_, data=data: data)
        await stage.pilot.press("f6")
        await stage.until(lambda: "threshold 0.520" in stage.text(), "the questions")
        yield name
        await stage.pilot.press("escape")


def _pulling() -> Scene:
    def pull(name: str, report: Callable[[PullProgress], None], cancel: threading.Event) -> bool:
        report(PullProgress("pulling abc", 1_650_000_000, 3_300_000_000))
        return not cancel.wait(60)

    thinker = InstalledModel("qwen3:4b", 2_600_000_000, "a" * 12, 40_960, thinks=True)
    return Scene(health=replace(HEALTHY, models=(thinker, *HEALTHY.models[1:])), pull=pull)


@walk({"models": ModelScreen, "models-pulling": ModelScreen, "pulling": ChatScreen}, _pulling)
async def models(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
    await stage.opened()
    await stage.pilot.press("ctrl+l")
    await stage.until(lambda: "gemma3:4b" in stage.text(), "the models")
    yield "models"
    await stage.pilot.press("down", "down", "enter")
    await stage.until(lambda: "50% of" in stage.text(), "the pull")
    yield "models-pulling"
    await stage.pilot.press("escape")
    await stage.until(lambda: "50%" in stage.text(), "the pull")
    yield "pulling"


@walk({"models-no-server": ModelScreen}, lambda: Scene(health=NO_SERVER, model=""))
async def models_without_server(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
    await stage.opened()
    await stage.pilot.press("ctrl+l")
    await stage.until(lambda: "no model server answers" in stage.text(), "the word")
    yield "models-no-server"
