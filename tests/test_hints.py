"""What a message or a page tells to type or press exists: commands, options, settings, keys."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import ragchat
from ragchat.cli.program import COMMANDS, program
from ragchat.settings_schema import setting_types
from ragchat.tui import keys
from ragchat.tui.keymap import key_rows

SOURCES = Path(ragchat.__file__).parent
_OLLAMA = {"serve", "list", "pull", "ps", "show"}
_PROSE = {"on", "has", "needs", "fetch", "that", "itself"}
"""What else follows the name in a sentence."""
_RAGCHAT = re.compile(r"(?<![\w/.~-])ragchat ((?:[a-z]+|\{\})(?: [^;:,)\n\"`]*)?)")


def _told(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every text of a module that is no docstring, what is filled in standing as {}."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values]
            yield node.lineno, "".join(parts)
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docstrings | inside
        ):
            yield node.lineno, node.value


TEXTS = [
    (f"{path.relative_to(SOURCES)}:{line}", text)
    for path in sorted(SOURCES.rglob("*.py"))
    for line, text in _told(ast.parse(path.read_text(encoding="utf-8")))
]
COMMANDS_TOLD = [
    (place, match[1])
    for place, text in TEXTS
    for match in _RAGCHAT.finditer(text)
    if match[1].split()[0] not in _PROSE
]

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_OF_OTHER_PROGRAMS = {"comparison.md"}
_TYPED = re.compile(r"^(?:\$ |\w+=\S+ )*ragchat ([a-z]+\b(?: [^#|]*)?)")


def _code(page: Path) -> list[str]:
    """Each line of a block of code, and each span of code."""
    text = page.read_text(encoding="utf-8")
    lines = [
        line for block in re.findall(r"^```\w*\n(.*?)^```", text, re.S | re.M) for line in block.split("\n")
    ]
    return lines + re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M))


CODE = [(page.name, code) for page in PAGES for code in _code(page)]
COMMANDS_TOLD += [(page, match[1]) for page, code in CODE if (match := _TYPED.match(code))]


def _command(words: list[str]) -> click.Command:
    """The command, or the subcommand of `config`. Fails where there is none."""
    assert words[0] in COMMANDS, words
    context = click.Context(program)
    assert isinstance(program, click.Group)
    command = program.get_command(context, words[0])
    if isinstance(command, click.Group) and len(words) > 1:
        command = command.get_command(click.Context(command), words[1]) or command
    assert command is not None, words
    return command


def test_the_search_for_hints_finds_them() -> None:
    told = {words.split()[0] for _, words in COMMANDS_TOLD}
    assert {"index", "pull", "doctor", "status", "show", "ask"} <= told
    assert {"README.md", "evaluation.md", "guide.md"} <= {place for place, _ in COMMANDS_TOLD}


@pytest.mark.parametrize(("place", "words"), COMMANDS_TOLD, ids=[f"{p} {w[:30]}" for p, w in COMMANDS_TOLD])
def test_a_command_that_is_told_exists_with_its_options(place: str, words: str) -> None:
    split = words.split()
    if split[0] == "{}":  # what stands there was found by looking commands up
        return
    options = {option for parameter in _command(split).params for option in parameter.opts}
    for word in split[1:]:
        if word.startswith("-") and len(word) > 1 and word != "--":
            assert word in options | {"--help"}, place
    if split[:2] == ["config", "set"] and len(split) > 2 and split[2] != "KEY":
        assert split[2] in setting_types(), place


def test_a_command_of_ollama_that_is_told_exists() -> None:
    hints = [
        text
        for _, text in TEXTS
        if re.search(r"(^|[:;,] )(OLLAMA_HOST=\S+ )?ollama [a-z]+( \{\})?($|[:;,])", text)
    ]
    verbs = {verb for text in hints for verb in re.findall(r"\bollama ([a-z]+)", text)}
    assert "serve" in verbs
    assert verbs <= _OLLAMA, verbs


def test_a_setting_that_is_told_exists() -> None:
    sections = {name.partition(".")[0] for name in setting_types()} - {"screen"}
    for place, text in TEXTS:
        for section, name in re.findall(r"\b([a-z]+)\.([a-z_]+)\b(?!\()", text):
            if section in sections and name not in ("com", "toml", "md", "lock"):
                assert f"{section}.{name}" in setting_types(), place


def test_a_key_that_is_told_is_asked_for_by_its_action() -> None:
    """Keys can be changed: a sentence with a key in it would lie then."""
    told = {
        action
        for path in sorted((SOURCES / "tui").rglob("*.py"))
        for action in re.findall(r"\b(?:key|sign)_for\(['\"]([^'\"]+)", path.read_text(encoding="utf-8"))
    }
    assert len(told) > 10
    assert told <= set(keys.DEFAULTS)
    literal = [
        (place, text)
        for place, text in TEXTS
        if place.startswith("tui/")
        and not place.startswith(("tui/keys.py", "tui/keymap.py", "tui/terminal_keys"))
        if re.search(r"[^+]\bctrl\+[a-z]\b|\w \^[a-z]\b|\bF\d\d?\b", text)
    ]
    assert literal == []


def test_a_setting_of_a_page_exists() -> None:
    sections = {name.partition(".")[0] for name in setting_types()}
    for page, code in CODE:
        if named := re.match(r"([a-z]+)\.([a-z_]+)(?: = .*)?$", code):
            section, name = named.groups()
            if section in sections and name not in ("toml", "md", "py"):
                assert f"{section}.{name}" in setting_types().keys() | keys.DEFAULTS.keys(), page


def test_a_key_of_a_page_is_bound() -> None:
    bound = {key.replace("^", "ctrl+") for row in key_rows() for key in row.keys}
    told = {
        (page, code.replace("^", "ctrl+"))
        for page, code in CODE
        if re.fullmatch(r"(ctrl\+|\^)[a-z]|F\d\d?", code) and page not in _OF_OTHER_PROGRAMS
    }
    assert {page for page, _ in told} >= {"README.md", "keys.md", "guide.md"}
    assert sorted((page, key) for page, key in told if key not in bound) == []
