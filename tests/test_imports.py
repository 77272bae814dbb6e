"""Nothing heavy is loaded before it is needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import ragchat

HEAVY = {"torch", "sentence_transformers", "transformers", "onnxruntime", "onnx"}
SLOW = {"numpy", "ollama", "httpx", "textual", "lxml", "sqlite3"}

FIRST_FRAME = """
import asyncio
from pathlib import Path
from ragchat.settings import Settings
from ragchat.tui.app import RagchatApp

async def main():
    async with RagchatApp(None, Settings()).run_test() as pilot:
        await pilot.pause()

asyncio.run(main())
"""


def modules_after(code: str, tmp_path: Path) -> set[str]:
    """Top-level modules that a fresh interpreter has loaded after running the code."""
    script = f"{code}\nimport sys\nprint('\\n'.join(sys.modules), file=sys.__stderr__)"
    environ = {**os.environ, "RAGCHAT_DATA_DIR": str(tmp_path), "RAGCHAT_CONFIG_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environ, check=True, timeout=60
    )
    return {name.partition(".")[0] for name in done.stderr.splitlines()}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["serch"], ["config"], ["paths"]])
def test_what_needs_no_index_loads_nothing_slow(arguments: list[str], tmp_path: Path) -> None:
    code = f"from ragchat.cli.program import run; import sys; sys.stderr = sys.stdout; run({arguments!r})"
    assert not (HEAVY | SLOW) & modules_after(code, tmp_path)


def test_importing_ragchat_loads_nothing(tmp_path: Path) -> None:
    assert not (HEAVY | SLOW | {"click"}) & modules_after("import ragchat", tmp_path)


@pytest.mark.parametrize(
    "name", ["ask", "search", "index", "status", "show", "eval", "calibrate", "doctor", "demo", "open"]
)
def test_a_commands_help_loads_no_model(name: str, tmp_path: Path) -> None:
    code = f"from ragchat.cli.program import run; run([{name!r}, '--help'])"
    assert not HEAVY & modules_after(code, tmp_path)


def test_the_first_frame_loads_no_model(tmp_path: Path) -> None:
    assert not HEAVY & modules_after(FIRST_FRAME, tmp_path)


def test_no_module_loads_a_model_when_imported(tmp_path: Path) -> None:
    assert ragchat.__file__
    root = Path(ragchat.__file__).parent
    names = [
        ".".join(("ragchat", *path.relative_to(root).with_suffix("").parts)).removesuffix(".__init__")
        for path in root.rglob("*.py")
        if path.name != "__main__.py"
    ]
    assert len(names) > 50
    code = "import importlib\n" + "\n".join(f"importlib.import_module({name!r})" for name in sorted(names))
    assert not (HEAVY | {"ollama"}) & modules_after(code, tmp_path)
