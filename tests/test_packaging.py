"""The wheel, installed away from the checkout, carries everything that ragchat reads at run time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(made), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (path,) = made.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the wheel's content and nothing of the checkout."""
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--quiet"]
    subprocess.run([*command, "--target", str(target), str(wheel)], check=True, capture_output=True)
    return target


def run(installed: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("RAGCHAT_")}
    environ |= {"PYTHONPATH": str(installed), "RAGCHAT_DATA_DIR": str(cwd / "data")}
    environ |= {"RAGCHAT_CONFIG_DIR": str(cwd / "config"), "RAGCHAT_OLLAMA_HOST": "127.0.0.1:9"}
    return subprocess.run(
        [sys.executable, "-m", "ragchat", *arguments],
        cwd=cwd,
        env=environ,
        text=True,
        capture_output=True,
        timeout=240,
        encoding="utf-8",
    )


def test_the_wheel_is_named_apart_and_typed(wheel: Path) -> None:
    assert wheel.name.startswith("ragchat_tui-")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        told = HeaderParser().parsestr(archive.read(metadata).decode("utf-8"))
    assert "ragchat/py.typed" in names
    assert told["License-Expression"] == "MIT"
    assert [name for name in names if not name.startswith(("ragchat/", "ragchat_tui-"))] == []


def test_the_wheel_holds_every_data_file_of_the_checkout(wheel: Path) -> None:
    source = ROOT / "src" / "ragchat"
    files = {
        f"ragchat/{path.relative_to(source).as_posix()}"
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    }
    files |= {f"ragchat/themes/{path.name}" for path in (ROOT / "themes").glob("*.toml")}
    with zipfile.ZipFile(wheel) as archive:
        assert files <= set(archive.namelist())


def test_installed_it_finds_its_own_files(installed: Path, tmp_path: Path) -> None:
    told = run(installed, tmp_path, "paths", "--json")
    assert told.returncode == 0, told.stderr
    places = json.loads(told.stdout)
    for name in ("bundled_themes", "sample_notes"):
        assert Path(places[name]).is_relative_to(installed), name
        assert Path(places[name]).is_dir()
    assert (installed / "ragchat" / "data" / "off_topic_questions.txt").is_file()
    assert list((installed / "ragchat" / "tui" / "styles").glob("*.tcss"))


def test_installed_it_runs_the_demo(installed: Path, tmp_path: Path) -> None:
    told = run(installed, tmp_path, "demo", "--plain")
    assert told.returncode == 0, told.stderr
    assert "31 March 2027" in told.stdout
    assert "house/lease.md#char=" in told.stdout
    assert "(auto)" in told.stdout
    assert told.stdout.count("NO ANSWER: ") == 1


def test_installed_it_prints_help(installed: Path, tmp_path: Path) -> None:
    told = run(installed, tmp_path, "--help")
    assert told.returncode == 0
    assert "ragchat [FOLDER]" in told.stdout
