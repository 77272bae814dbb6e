"""`pull`: progress, an end, a stop, a name that is not there."""

from __future__ import annotations

import json
import os
import signal
import threading

import pytest

from ragchat.embedding.ollama_pull import PullProgress
from tests.cli.conftest import Ragchat
from tests.ollama_server import OllamaTestServer, TestModel

NEW = TestModel("gemma3:4b", size=3_000_000)


def test_a_pulled_model_is_installed(ragchat: Ragchat, server: OllamaTestServer) -> None:
    server.registry[NEW.tagged] = NEW
    told = ragchat("pull", "gemma3:4b")
    assert (told.code, told.out) == (0, "gemma3:4b is installed\n")
    assert "pulling gemma3:4b: pulling manifest" in told.err
    assert "\x1b" not in told.err
    assert NEW.tagged in server.models


def test_without_a_name_it_is_the_folders_model(
    ragchat: Ragchat, server: OllamaTestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.registry[NEW.tagged] = NEW
    monkeypatch.setenv("RAGCHAT_OLLAMA_MODEL", "gemma3:4b")
    assert json.loads(ragchat("pull", "--json").out) == {"model": "gemma3:4b", "installed": True}


def test_a_name_that_is_not_there_is_one_error_with_a_remedy(
    ragchat: Ragchat, server: OllamaTestServer
) -> None:
    told = ragchat("pull", "no-such-model")
    assert (told.code, told.out) == (4, "")
    assert "no-such-model" in told.err
    assert "hint: " in told.err


def test_without_a_server_it_says_what_to_start(ragchat: Ragchat) -> None:
    told = ragchat("pull", "gemma3:4b")
    assert told.code == 4
    assert "ollama serve" in told.err


def test_ctrl_c_stops_a_pull_and_the_same_command_goes_on(ragchat: Ragchat, server: OllamaTestServer) -> None:
    server.registry[NEW.tagged] = NEW
    server.pull_delay = 0.05
    interrupt = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    interrupt.start()
    told = ragchat("pull", "gemma3:4b")
    interrupt.join()
    assert (told.code, told.out) == (130, "")
    assert "goes on where it stopped with: ragchat pull gemma3:4b" in told.err
    assert NEW.tagged not in server.models
    kept = server.downloaded[NEW.tagged]
    assert kept > 0
    server.pull_delay = 0.0
    assert ragchat("pull", "gemma3:4b").code == 0


def test_on_a_terminal_one_line_shows_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from ragchat.cli.progress import PullLine

    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    line = PullLine("gemma3:4b")
    line(PullProgress("pulling abc", 1_650_000_000, 3_300_000_000))
    line.finish()
    assert " 50% of 3.3 GB ████████████░░░░░░░░░░░░" in capsys.readouterr().err
