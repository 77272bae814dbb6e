"""`bootstrap.py`: set up once, then run what was asked for and say how it ended."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "bootstrap.py"


@pytest.fixture
def bootstrap(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The script, with an environment in `tmp_path` and every command recorded instead of run."""
    spec = importlib.util.spec_from_file_location("bootstrap", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(module, "PYTHON", tmp_path / ".venv" / "bin" / "python")
    return module


@pytest.fixture
def commands(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    ran: list[list[str]] = []

    def record(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        ran.append(command)
        if "venv" in command:
            bootstrap.PYTHON.parent.mkdir(parents=True)
            bootstrap.PYTHON.touch()
        fails = {"show", "ruff"} & {Path(word).name for word in command}
        return subprocess.CompletedProcess(command, 1 if fails else 0)

    monkeypatch.setattr(subprocess, "run", record)
    return ran


def test_set_up_happens_once(bootstrap: ModuleType, commands: list[list[str]]) -> None:
    assert bootstrap.main(["demo", "--plain"]) == 0
    first = [" ".join(command) for command in commands]
    assert any("--no-index --no-deps torch==" in command for command in first)
    assert first[-1].endswith("-m ragchat demo --plain")
    commands.clear()
    assert bootstrap.main(["demo"]) == 0
    assert [" ".join(command[1:]) for command in commands] == ["-m ragchat demo"]


def test_tests_come_last_and_a_failed_check_counts(
    bootstrap: ModuleType, commands: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert bootstrap.main(["test"]) == 1
    assert commands[-1][1:3] == ["-m", "pytest"]
    assert bootstrap.main(["test", "-k", "laws"]) == 0
    assert commands[-1][-2:] == ["-k", "laws"]


@pytest.mark.parametrize("arguments", [[], ["tests"], ["--help"]])
def test_anything_else_is_told_the_two_commands(arguments: list[str]) -> None:
    told = subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True)
    assert told.returncode == 2
    assert "bootstrap.py demo | test" in told.stderr
