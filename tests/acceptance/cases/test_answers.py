"""Cases 22-26: the model server, and what reaches the terminal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ragchat.paths import folder_data_dir
from tests.acceptance.cases.conftest import Desk
from tests.acceptance.terminal import Terminal
from tests.ollama_server import Pause, Reply, Stall, TestModel

pytestmark = pytest.mark.acceptance

PROGRAM = Path(sys.executable).parent / "ragchat"
QUESTION = "When does the lease of the flat end?"
LEASE = "# Lease\n\nThe lease of the flat ends on 31 March 2027.\n"


@pytest.fixture(autouse=True)
def _indexed(desk: Desk) -> None:
    desk.write({"lease.md": LEASE})
    assert desk.ragchat("index").code == 0


def on_terminal(desk: Desk, *arguments: str) -> Terminal:
    environ = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    return Terminal([str(PROGRAM), *arguments], desk.notes, environ, 100, 30)


@pytest.mark.parametrize("form", ["0.0.0.0:{}", "http://0.0.0.0:{}/", "localhost:{}", " '127.0.0.1:{}' "])
def test_case_22_every_form_of_ollama_host(desk: Desk, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    monkeypatch.setenv("OLLAMA_HOST", form.format(desk.server.port))
    answer = desk.ask(QUESTION)
    assert (answer["answered_by"], desk.asked) == ("model", 1)


def test_case_22_a_host_without_a_port_and_a_bare_name(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.server.models["phi4:latest"] = TestModel("phi4")
    answer = desk.ask(QUESTION, "--model", "phi4")
    assert answer["answered_by"] == "model"
    assert desk.server.received("/api/chat")[-1].body["model"] in ("phi4", "phi4:latest")
    monkeypatch.setenv("OLLAMA_HOST", "0.0.0.0")
    told = desk.ragchat("doctor", "--json").out or desk.ragchat("doctor").out
    assert "127.0.0.1:11434" in told


def test_case_23_a_server_that_loads_its_model_first(desk: Desk) -> None:
    desk.server.reply = Reply([Pause(2.5), "In March ", "2027 [1]."])
    with on_terminal(desk, "ask", QUESTION) as terminal:
        terminal.wait_for(r"(?i)(waiting for|loading) .*qwen3")
        terminal.wait_for("In March 2027")
        assert terminal.wait_for_exit() == 0
    desk.server.requests.clear()
    desk.server.reply = Reply([Stall()])
    with on_terminal(desk, "ask", QUESTION) as terminal:
        terminal.wait_for(r"(?i)(waiting for|loading) .*qwen3")
        desk.server.wait_for("/api/chat", seconds=20)
        terminal.interrupt()
        assert terminal.wait_for_exit(seconds=10) == 130
    desk.server.wait_for_disconnect()


def test_case_24_stopped_in_mid_stream_and_asked_again(desk: Desk) -> None:
    desk.server.reply = Reply(["The OLD words ", Stall()])
    asking = subprocess.Popen(
        [str(PROGRAM), "ask", QUESTION, "-f", str(desk.notes)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    desk.server.wait_for("/api/chat", seconds=30)
    time.sleep(0.5)
    stopped = time.monotonic()
    asking.send_signal(signal.SIGINT)
    out, err = asking.communicate(timeout=20)
    assert time.monotonic() - stopped < 5
    assert asking.returncode == 130, err
    assert out.startswith(b"The OLD words")
    desk.server.reply = Reply(["In March 2027 [1]."])
    said = desk.ragchat("ask", QUESTION)
    assert said.code == 0
    assert "OLD" not in said.out
    assert "OLD" not in desk.prompt
    kept = (folder_data_dir(desk.notes) / "conversation.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["outcome"] for line in kept if "outcome" in line][-2:] == ["stopped", "answered"]


def test_case_25_notes_that_would_drive_the_terminal(desk: Desk) -> None:
    hostile = "Tea is at \x1b[2J\x1b]0;owned\x07four\x00 o'clock \x9b31m\x1b]8;;http://evil\x1b\\here.\n"
    desk.write({"tea\x1b[2J.md": f"# Tea \x1b[31m\n\n{hostile}"})
    desk.server.reply = Reply(["At \x1b[2J four \x9b31m", "\x1b]0;owned\x07 [1]."])
    for command in (
        ["search", "When is tea?", "--threshold", "1.2"],
        ["ask", "When is tea?", "--threshold", "1.2"],
        ["status"],
    ):
        piped = desk.ragchat(*command)
        assert piped.code == 0
        assert not set(piped.out + piped.err) & {"\x1b", "\x07", "\x00", "\x9b"}, command
        with on_terminal(desk, *command) as terminal:
            assert terminal.wait_for_exit() == 0
            for sequence in ("\x1b[2J", "\x1b]0;", "\x07", "\x00", "\x9b", "http://evil\x1b\\"):
                assert sequence not in terminal.raw, command
    assert "\x1b" not in desk.prompt


def test_case_26_an_answer_that_ends_in_a_code_fence(desk: Desk) -> None:
    desk.server.reply = Reply(["Run this [1]:\n\n``", "`sh\n", "renew --lease\n", "```"])
    assert "renew --lease" in desk.ragchat("ask", QUESTION).out
    with on_terminal(desk, "ask", QUESTION) as terminal:
        assert terminal.wait_for_exit() == 0
        assert "renew --lease" in terminal.text
    with on_terminal(desk, ".") as terminal:
        terminal.wait_for("fresh")
        terminal.type(f"{QUESTION}\r")
        terminal.wait_for(r"renew --lease")
        terminal.wait_for(r"#char=")
        assert "renew --lease" in terminal.text
        terminal.type("ctrl+q")
        assert terminal.wait_for_exit() == 0
