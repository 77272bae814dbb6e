"""README and help say the same as the program does."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from textual.binding import Binding

from ragchat import __version__, errors
from ragchat.cli.program import COMMANDS, FAULT
from ragchat.settings_loader import load_settings
from ragchat.tui.keymap import read_keymap
from ragchat.tui.keys import APP_KEYS, CHAT, PROMPT

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "open"])
def test_every_command_stands_in_the_readme(name: str) -> None:
    assert re.search(rf"^\| `ragchat {name}[ `]", README, re.MULTILINE)


def test_no_other_command_stands_there() -> None:
    named = set(re.findall(r"^\| `ragchat ([a-z]+)", README, re.MULTILINE))
    assert named == COMMANDS.keys() - {"open"}


def test_every_exit_code_stands_in_the_readme() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    codes = {kind.exit_code for kind in kinds if issubclass(kind, errors.RagchatError)}
    told = {int(code) for code in re.findall(r"^\| (\d+) \|", README, re.MULTILINE)}
    assert told == codes | {0, FAULT, 130}


def test_every_key_of_the_readme_is_bound() -> None:
    table = README.partition("### Keys")[2].partition("\n## ")[0]
    bound = {
        key
        for binding in [*CHAT, *PROMPT, *APP_KEYS]
        if isinstance(binding, Binding)
        for key in binding.key.split(",")
    }
    for key in re.findall(r"`(ctrl\+[a-z]|F\d|alt\+\d)`", table):
        assert key.lower() in bound, key


def test_the_settings_of_the_readme_can_be_loaded(tmp_path: Path) -> None:
    keymap, block = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    file = tmp_path / "config.toml"
    file.write_text(block + keymap, encoding="utf-8")
    settings = load_settings(environ={}, config_file=file)
    assert settings.notes.exclude == ("drafts/", "*.log")
    changed, problems = read_keymap(settings.keys)
    assert changed == {"viewer.back": "x,q,escape", "chat.inspect": "f12"}
    assert problems == ()


def test_both_commands_stand_on_their_own_lines() -> None:
    assert re.search(r"^python3 bootstrap\.py demo\b", README, re.MULTILINE)
    assert re.search(r"^python3 bootstrap\.py test\b", README, re.MULTILINE)


def test_the_version_is_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == __version__
    assert (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").startswith("# Changelog\n")
