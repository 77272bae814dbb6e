"""What the first frame waits for: counted, not timed. Whoever adds to it changes a list here, knowingly.

Goal: at most 1.3 times `from textual.app import App` (`python -m benchmarks start`). A module costs it one to
three milliseconds, a widget two, a rule of CSS a fifth of one. Screens, widgets that show something only
later, their styles and keys belong to `RagchatApp.begin`, which is called when the frame is painted.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import NamedTuple

import pytest

OURS = {
    "ragchat": {"answering", "paths", "settings", "tui"},
    "ragchat.answering": {"escape"},
    "ragchat.tui": {
        "app",
        "default_theme",
        "empty",
        "formatting",
        "garbage",
        "keys",
        "recent",
        "screens",
        "terminal_keys",
        "themed_app",
        "toasts",
        "widgets",
    },
    "ragchat.tui.screens": {"chat", "dialogs", "parts", "questions", "turns"},
    "ragchat.tui.widgets": {
        "banner",
        "conversation",
        "header",
        "keeps_place",
        "key_bar",
        "pressable",
        "prompt_place",
        "sources",
    },
}
WIDGETS = [
    "Banner",
    "Container",
    "Conversation",
    "Header",
    "KeyBar",
    "PromptPlace",
    "SourcesPanel",
    "Static",
    "Static",
    "ToastRack",
    "Tooltip",
]

SCRIPT = """
import json, os, sys
from pathlib import Path
import textual.app
before = set(sys.modules)
display = textual.app.App._display

def told(self, screen, renderable):
    if renderable is None:
        return
    rules = [rule for source in self.stylesheet.source for rule in [source[0]] if "ragchat" in rule]
    facts = {
        "modules": sorted(set(sys.modules) - before),
        "widgets": sorted(type(node).__name__ for node in screen.walk_children()),
        "styles": sorted({Path(path).name for path in rules}),
        "timers": len(self._timers),
    }
    os.write(1, json.dumps(facts).encode())
    os._exit(0)

textual.app.App._display = told
from ragchat.settings import Settings
from ragchat.tui.app import RagchatApp
RagchatApp(Path(sys.argv[1]), Settings()).run(headless=True, size=(120, 36))
"""


class FirstFrame(NamedTuple):
    """modules: beyond those of `textual.app`. styles: the files that are parsed. timers: of the app."""

    modules: list[str]
    widgets: list[str]
    styles: list[str]
    timers: int


@pytest.fixture(scope="module")
def first_frame(tmp_path_factory: pytest.TempPathFactory) -> FirstFrame:
    home = tmp_path_factory.mktemp("home")
    own = {"RAGCHAT_DATA_DIR": str(home), "RAGCHAT_CONFIG_DIR": str(home), "TERM": "xterm-256color"}
    environ = {**os.environ, **own}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(home)],
        capture_output=True,
        text=True,
        env=environ,
        check=True,
        timeout=60,
    )
    return FirstFrame(**json.loads(done.stdout))


def test_no_module_of_ours_is_imported_before_it_is_needed(first_frame: FirstFrame) -> None:
    allowed = {f"{room}.{name}" for room, names in OURS.items() for name in names}
    assert {name for name in first_frame.modules if name.startswith("ragchat.")} - allowed == set()


def test_nothing_else_is_imported_but_what_textual_itself_starts_with(first_frame: FirstFrame) -> None:
    assert {name.partition(".")[0] for name in first_frame.modules} <= {
        "ragchat",
        "textual",
        "rich",
        "gc",
        "_queue",
        "queue",
        "termios",
        "tty",
    }


def test_few_widgets_are_mounted(first_frame: FirstFrame) -> None:
    assert first_frame.widgets == WIDGETS


def test_only_two_style_sheets_are_parsed(first_frame: FirstFrame) -> None:
    assert first_frame.styles == ["app.tcss", "chat.tcss"]


def test_no_timer_runs(first_frame: FirstFrame) -> None:
    assert first_frame.timers == 0
