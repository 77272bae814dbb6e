"""Nothing of the real user's home is read or written; snapshots are single SVG files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet


@pytest.fixture(scope="session", autouse=True)
def styles_are_parsed_once() -> Iterator[None]:
    """Textual parses every style of every widget at each start and each change of the theme."""
    parse, parsed = Stylesheet._parse_rules, dict[Any, list[RuleSet]]()

    def once(sheet: Stylesheet, *given: Any, **named: Any) -> list[RuleSet]:
        key = (given, tuple(named.items()), frozenset(sheet._variables.items()))
        if key not in parsed:
            parsed[key] = parse(sheet, *given, **named)
        return parsed[key]

    with patch.object(Stylesheet, "_parse_rules", once):
        yield


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of our own, an 80x24 terminal, no ssh, no colour settings of the developer's."""
    for name in ("data", "cache", "config"):
        monkeypatch.setenv(f"RAGCHAT_{name.upper()}_DIR", str(tmp_path / name))
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv("COLORTERM", "truecolor")
    for name in ("NO_COLOR", "SSH_CONNECTION", "SSH_TTY", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def clipboard(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was copied natively, oldest first."""
    copied: list[str] = []
    monkeypatch.setattr("pyperclip.copy", copied.append)
    return copied


class SvgExtension(SingleFileSnapshotExtension):
    """One .svg a snapshot, as text."""

    _write_mode = WriteMode.TEXT
    file_extension = "svg"


@pytest.fixture
def svg(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Compares screenshots."""
    return snapshot.use_extension(SvgExtension)
