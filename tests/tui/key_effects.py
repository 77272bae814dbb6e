"""What each key of the help does that can be seen: place by place, action by action.

`before` is pressed first; then `seen` must not hold, and must hold after the key itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from textual.screen import Screen
from textual.widgets import Input, OptionList

from ragchat.retrieval.calibrated import kept_calibration
from ragchat.tui.screens.calibration import CalibrationScreen
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
from ragchat.tui.screens.viewer import ViewerScreen
from tests.tui.stage import Stage


@dataclass
class World:
    """The stage, and what left it: copied, opened in another program, the program itself."""

    stage: Stage
    copied: list[str]
    opened: list[str] = field(default_factory=list)
    left: list[int] = field(default_factory=list)

    @property
    def turns(self) -> list[str]:
        """The questions of the conversation."""
        return [turn.question for turn in self.stage.app.chat.conversation.turns]


Seen = Callable[[World], bool]


@dataclass(frozen=True)
class Effect:
    """seen: what holds after the key and did not before it. ready: words to wait for before the key."""

    seen: Seen
    before: tuple[str, ...] = ()
    ready: str = ""


def on(screen: type[Screen[Any]], *before: str) -> Effect:
    """It opens a screen."""
    return Effect(lambda world: isinstance(world.stage.app.screen, screen), before)


def says(words: str, *before: str) -> Effect:
    """It puts words on the screen, a message or a line; how they are wrapped counts for nothing."""
    return Effect(lambda world: words in " ".join(world.stage.text().replace("│", " ").split()), before)


def copies(words: str, *before: str) -> Effect:
    """It copies a text that holds the words."""
    return Effect(lambda world: any(words in text for text in world.copied), before)


def leaves(*before: str) -> Effect:
    """Back to the main screen."""
    return Effect(lambda world: world.stage.app.screen is world.stage.app.chat, before)


def _prompt(text: str, *before: str) -> Effect:
    return Effect(lambda world: world.stage.app.chat.prompt.text == text, before)


def _turns(*questions: str) -> Effect:
    return Effect(lambda world: world.turns == list(questions))


def _at(position: int, *before: str) -> Effect:
    """The cursor of the list stands on that row; -1: the last."""

    def seen(world: World) -> bool:
        options = world.stage.app.screen.query_one(OptionList)
        return options.highlighted == position % options.option_count

    return Effect(seen, before)


def _beyond_first(world: World) -> bool:
    return (world.stage.app.screen.query_one(OptionList).highlighted or 0) > 1


def _scrolled(*, down: bool) -> Seen:
    def seen(world: World) -> bool:
        pane = world.stage.app.chat.conversation
        return pane.scroll_offset.y == pane.max_scroll_y if down else pane.scroll_offset.y < pane.max_scroll_y

    return seen


def _turn(position: int, *before: str) -> Effect:
    def seen(world: World) -> bool:
        conversation = world.stage.app.chat.conversation
        return conversation.selected is conversation.turns[position]

    return Effect(seen, before)


def _source(position: int, *before: str) -> Effect:
    return Effect(lambda world: world.stage.app.chat.sources._current == position, before)


def _chosen(end: str, *before: str) -> Effect:
    """The range that is chosen in the viewer ends so."""

    def seen(world: World) -> bool:
        viewer = world.stage.app.screen
        assert isinstance(viewer, ViewerScreen)
        return viewer._text[slice(*viewer._range)].endswith(end)

    return Effect(seen, before)


def _opens(*, before: str = "") -> Mapping[str, Effect]:
    """1 to 9: the four sources that there are, and a word about the others."""
    pressed = (before,) if before else ()
    there = {f"screen.open_source({n})": says(f" {n} of 4 · #char", *pressed) for n in range(1, 5)}
    others = {
        f"screen.open_source({n})": says(f"This answer has no source {n}", *pressed) for n in range(5, 10)
    }
    return {**there, **others}


LEASE, SKY = "When does the lease end?", "Why is the sky blue?"

EFFECTS: Mapping[str, Mapping[str, Effect]] = {
    "chat": {
        **_opens(),
        "chat.inspect": on(InspectorScreen),
        "chat.copy_answer": copies("The lease ends"),
        "chat.take_offer": says("Nothing is on offer"),
        "chat.interrupt": says("Nothing is marked and nothing runs"),
        "chat.switch_folder": on(FolderScreen),
        "chat.pick_model": on(ModelScreen),
        "chat.conversations": on(ConversationsScreen),
        "chat.new_conversation": _turns(),
        "chat.show_thinking": says("This answer came without thinking"),
        "chat.reindex": Effect(lambda world: len(world.stage.workspace.updates) > 1),
        "chat.settings": on(SettingsScreen),
        "chat.pick_theme": on(PickScreen),
        "chat.toggle_sources": Effect(lambda world: not world.stage.app.chat.sources.display),
        "chat.zoom": Effect(lambda world: world.stage.app.chat.is_zoomed),
        "chat.show_index": on(IndexScreen),
        "chat.calibrate": on(CalibrationScreen),
        "chat.leave": says("Quit: once more"),
    },
    "app": {
        "app.help": on(HelpScreen),
        "app.commands": on(PaletteScreen),
        "app.jump": on(JumpScreen),
        "app.quit": Effect(lambda world: bool(world.left)),
    },
    "move": {  # in the list of models
        "move.down": _at(1, "home"),
        "move.up": _at(0, "home", "down"),
        "move.home": _at(0, "end"),
        "move.end": _at(-1, "home"),
        "move.pagedown": Effect(_beyond_first, ("home",)),
        "move.pageup": Effect(lambda world: not _beyond_first(world), ("home", "pagedown")),
    },
    "prompt": {
        "prompt.ask": Effect(lambda world: world.turns[-1:] == ["a"], ("a",)),
        "prompt.new_line": _prompt("a\n", "a"),
        "prompt.follow_up": Effect(lambda world: LEASE in world.stage.workspace.followed, ("a",)),
        "prompt.earlier": _prompt(LEASE),
        "prompt.later": _prompt("", "up"),
        "prompt.page_up": Effect(_scrolled(down=False)),
        "prompt.page_down": Effect(_scrolled(down=True), ("pageup",)),
    },
    "pane": {
        **_opens(),
        "pane.inspect": on(InspectorScreen),
        "pane.zoom": Effect(lambda world: world.stage.app.chat.is_zoomed),
        "pane.focus_prompt": Effect(lambda world: world.stage.app.focused is world.stage.app.chat.prompt),
    },
    "conversation": {
        "conversation.previous_turn": _turn(0),
        "conversation.next_turn": _turn(1, "up"),
        "conversation.copy_turn": copies("The lease ends"),
        "conversation.copy_code": says("This answer has no code block"),
        "conversation.ask_again": Effect(lambda world: len(world.turns) == 3),
        "conversation.edit_question": _prompt(LEASE),
        "conversation.mark_refused": says("Kept as to be refused"),
        "conversation.take_back": says("Taken back", "x"),
        "conversation.branch": Effect(lambda world: len(world.turns) == 1, ("up",)),
        "conversation.delete_turn": on(ConfirmScreen),
        "conversation.show_thinking": says("This answer came without thinking"),
    },
    "sources": {
        "sources.previous_source": _source(0, "down"),
        "sources.next_source": _source(1),
        "sources.open": on(ViewerScreen),
        "sources.copy": copies("The term begins"),
        "sources.copy_citation": copies("house/lease.md#char=68,166"),
    },
    "viewer": {
        "viewer.previous_source": says("1 of 4 · #", "right"),
        "viewer.next_source": says("2 of 4 · #"),
        "viewer.mark_answer": says("Kept as an answer to"),
        "viewer.take_back": says("Taken back", "m"),
        "viewer.edit": says("The note is no longer there"),
        "viewer.find": Effect(lambda world: world.stage.app.screen.query_one(Input).has_focus),
        "viewer.find_next": says("2 of 3", "slash", "e", "n", "d", "enter"),
        "viewer.find_previous": says("1 of 3", "slash", "e", "n", "d", "enter", "n"),
        "viewer.copy_quote": copies("The term begins"),
        "viewer.copy_citation": copies("house/lease.md#char=68,135", "s"),
        "viewer.copy_place": copies("/home/ada/notes/house/lease.md:7"),
        "viewer.next_sentence": _chosen("31 March 2027."),
        "viewer.more_sentences": _chosen("in writing.", "s"),
        "viewer.centre": _chosen("in writing.", "s"),
        "viewer.render": Effect(lambda world: bool(world.stage.app.screen.query("MarkdownBlock.cited"))),
        "viewer.facts": on(FactsScreen),
        "viewer.open_original": Effect(lambda world: bool(world.opened)),
        "viewer.back": leaves(),
    },
    "facts": {"facts.copy": copies("/home/ada/notes/house/lease.md"), "facts.back": on(ViewerScreen)},
    "inspector": {
        "inspector.lower": says("0.520 → 0.515"),
        "inspector.raise": says("0.520 → 0.525"),
        "inspector.reach": says("0.520 → 0.742", "end"),
        "inspector.to_line": says("the line · 6", "s"),
        "inspector.apply": says("Every threshold here moves by", "right"),
        "inspector.put_back": Effect(lambda world: "0.520 → 0.525" not in world.stage.text(), ("right",)),
        "inspector.open": on(ViewerScreen),
        "inspector.sort": says("Candidates by fused"),
        "inspector.filter": Effect(lambda world: world.stage.app.screen.query_one(Input).has_focus),
        "inspector.prompt": on(PromptPage),
        "inspector.copy_json": copies('"verdict": "sent"'),
        "inspector.back": leaves(),
    },
    "prompt_page": {
        "prompt_page.copy": copies(LEASE),
        "prompt_page.back": on(InspectorScreen),
    },
    "calibration": {
        "calibration.lower": says("line moved -0.005"),
        "calibration.raise": says("line moved +0.005"),
        "calibration.cheapest": says("line moved -0.040"),
        "calibration.dearer": says("a bluff costs 3 answers"),
        "calibration.cheaper": says("a bluff costs 1 answer"),
        "calibration.apply": Effect(
            lambda world: kept_calibration(world.stage.workspace.index()) is not None, ("right",)
        ),
        "calibration.put_back": Effect(lambda world: "line moved" not in world.stage.text(), ("right",)),
        "calibration.ask_question": Effect(
            lambda world: world.stage.app.chat.prompt.text.startswith(("answer", "near", "far")), ("down",)
        ),
        "calibration.back": leaves(),
    },
    "index": {
        "index.standing": says("Documents · failed"),
        "index.find": Effect(lambda world: world.stage.app.screen.query_one(Input).has_focus),
        "index.retry": Effect(lambda world: (False, True) in world.stage.workspace.updates),
        "index.stop": says("Nothing is being indexed"),
        "index.open": Effect(lambda world: bool(world.opened)),
        "index.ignore": Effect(
            lambda world: (
                world.stage.app.folder is not None and (world.stage.app.folder / ".ragchatignore").exists()
            )
        ),
        "index.unignore": says("Nothing to take back"),
        "index.copy": copies("/old/notes.txt"),
        "index.back": leaves(),
    },
    "list": {"list.back": leaves()},
    "palette": {"palette.back": leaves()},
    "jump": {"jump.back": leaves()},
    "welcome": {"welcome.back": leaves()},
    "folder": {
        "folder.complete": Effect(
            lambda world: world.stage.app.screen.query_one(Input).value == "/usr/share/",
            ("/", "u", "s", "r", "/", "s", "h"),
            ready="/usr/share/",
        ),
        "folder.back": leaves(),
    },
    "settings": {
        "settings.edit": Effect(lambda world: world.stage.app.screen.query_one(Input).has_focus),
        "settings.next": says("✓ written into the file", "end"),
        "settings.default": says("it is the default already"),
        "settings.back": leaves(),
    },
    "models": {
        "models.stop_pull": replace(says("■ 50% of", "down", "down", "enter"), ready="50% of"),
        "models.back": leaves(),
    },
    "conversations": {
        "conversations.rename": says("keeps the title"),
        "conversations.forget": on(ConfirmScreen),
        "conversations.back": leaves(),
    },
    "confirm": {
        "confirm.yes": Effect(lambda world: len(world.turns) == 1),
        "confirm.no": leaves(),
    },
    "help": {"help.change_keys": on(RemapScreen), "help.back": leaves()},
    "remap": {
        "remap.replace": on(PressScreen),
        "remap.add": on(PressScreen),
        "remap.default": says("It has its default keys"),
        "remap.back": on(HelpScreen),
    },
}
"""place -> action -> what is seen."""
