"""What a picker can offer, and a pull that is watched, stopped and taken up again."""

from __future__ import annotations

import itertools
import threading
import time
from pathlib import Path

import pytest

from ragchat.answering.models import WORTH_PULLING, ModelEntry, list_models
from ragchat.answering.ollama import OllamaServer
from ragchat.answering.workspace import Workspace
from ragchat.embedding.ollama_pull import PullProgress
from ragchat.errors import GenerationFailed, ServerUnreachable
from ragchat.settings import OllamaSettings, Settings
from tests.ollama_server import OllamaTestServer, Reply, TestModel
from tests.ollama_transcripts import ReplayServer, needs_transcripts

THINKER = TestModel("qwen3:4b", context=40960, capabilities=("completion", "thinking"), size=2_500_000_000)
NEW = TestModel("gemma3:4b", size=3_000_000)


def a_workspace(server: OllamaTestServer, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    for name in ("DATA", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"RAGCHAT_{name}_DIR", str(folder / name.lower()))
    return Workspace(folder, Settings(ollama=OllamaSettings(host=server.url)))


def named(entries: tuple[ModelEntry, ...]) -> dict[str, ModelEntry]:
    return {entry.model.name: entry for entry in entries}


def test_a_picker_knows_size_context_thinking_and_what_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embeds = TestModel("bge-m3", capabilities=("embedding",))
    with OllamaTestServer(models=[THINKER, "mistral", embeds]) as server:
        workspace = a_workspace(server, tmp_path, monkeypatch)
        workspace.remember_model("mistral")
        entries = named(workspace.models())
    thinker = entries["qwen3:4b"]
    assert (thinker.model.size, thinker.model.context, thinker.model.thinks) == (2_500_000_000, 40960, True)
    assert (thinker.installed, thinker.chosen) == (True, False)
    assert (entries["mistral:latest"].installed, entries["mistral:latest"].chosen) == (True, True)
    assert "bge-m3:latest" not in entries
    assert entries["gemma3:4b"] == ModelEntry(WORTH_PULLING[1], installed=False, chosen=False)
    assert [entry.installed for entry in entries.values()] == sorted(
        (entry.installed for entry in entries.values()), reverse=True
    )


def test_a_chosen_model_that_is_gone_is_still_listed() -> None:
    with OllamaTestServer(models=["mistral"]) as server:
        entries = named(list_models(OllamaServer(server.url), "llama9:1b"))
    assert (entries["llama9:1b"].installed, entries["llama9:1b"].chosen) == (False, True)


def test_without_a_server_there_is_nothing_to_pick() -> None:
    with pytest.raises(ServerUnreachable):
        list_models(OllamaServer("http://127.0.0.1:9"), "")


@needs_transcripts
def test_a_real_servers_models_are_described_by_itself() -> None:
    with ReplayServer("version", "tags", "show_smol-think") as server:
        entries = named(list_models(OllamaServer(server.url), ""))
    assert entries["smol-think:latest"].model.thinks
    assert entries["smol-think:latest"].model.context == 8192


def test_a_tag_that_means_another_model_now_is_described_again() -> None:
    with OllamaTestServer(models=[TestModel("m", context=2048)]) as server:
        client = OllamaServer(server.url)
        assert client.describe("m").context == 2048
        renewed = TestModel("m", context=4096, size=7)
        server.models["m:latest"] = renewed
        assert client.describe("m").digest == renewed.digest


def test_a_pull_tells_how_far_it_is_and_the_model_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[PullProgress] = []
    with OllamaTestServer(models=[], registry=[NEW]) as server:
        workspace = a_workspace(server, tmp_path, monkeypatch)
        assert workspace.pull_model("gemma3:4b", on_progress=told.append)
        assert named(workspace.models())["gemma3:4b"].installed
    assert told[0] == PullProgress("pulling manifest")
    assert told[-1].done
    assert told[-1].completed == told[-1].total == NEW.size
    assert all(one.completed <= other.completed for one, other in itertools.pairwise(told))


def test_a_pull_that_is_cancelled_stops_at_once_and_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancel, told = threading.Event(), []

    def watch(progress: PullProgress) -> None:
        told.append(progress)
        if progress.completed >= NEW.size // 2:
            cancel.set()

    with OllamaTestServer(models=[], registry=[NEW]) as server:
        server.pull_delay = 0.05
        workspace = a_workspace(server, tmp_path, monkeypatch)
        assert not workspace.pull_model("gemma3:4b", on_progress=watch, cancel=cancel)
        server.wait_for_disconnect(1.0)
        stopped_at = server.downloaded["gemma3:4b"]
        assert NEW.size // 2 <= stopped_at < NEW.size
        again: list[PullProgress] = []
        assert workspace.pull_model("gemma3:4b", on_progress=again.append)
    assert min(progress.completed for progress in again if progress.completed) > stopped_at


def test_a_pull_can_be_cancelled_while_the_server_is_silent() -> None:
    cancel = threading.Event()
    with OllamaTestServer(models=[], registry=[NEW]) as server:
        server.pull_delay = 60.0
        threading.Timer(0.1, cancel.set).start()
        started = time.monotonic()
        list(OllamaServer(server.url).pull("gemma3:4b", cancel))
        assert time.monotonic() - started < 0.6


def test_a_pull_that_breaks_off_says_that_it_goes_on() -> None:
    with OllamaTestServer(models=[], registry=[NEW]) as server:
        client = OllamaServer(server.url)
        server.pull_breaks_at = 0.5
        with pytest.raises(GenerationFailed) as broken:
            list(client.pull("gemma3:4b", threading.Event()))
        assert "goes on where it stopped" in broken.value.hint
        server.pull_breaks_at = 1.0
        assert list(client.pull("gemma3:4b", threading.Event()))[-1].done


def test_a_pull_of_what_does_not_exist_says_so() -> None:
    with OllamaTestServer(models=[]) as server, pytest.raises(GenerationFailed) as missing:
        list(OllamaServer(server.url).pull("nope", threading.Event()))
    assert "file does not exist" in missing.value.message


def test_a_probe_is_asked_for_by_name_and_remembered_for_the_folders_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OllamaTestServer(models=[THINKER], reply=Reply(["42"])) as server:
        assert a_workspace(server, tmp_path, monkeypatch).probe_thinking("qwen3:4b") is True
        assert a_workspace(server, tmp_path, monkeypatch).probe_thinking("qwen3:4b") is True
        assert server.count("/api/chat") == 1
