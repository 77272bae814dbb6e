"""The program in a real terminal: the screen from start to end, and the commands that stream."""

from __future__ import annotations

import pytest

from tests.acceptance.conftest import ANSWER, LEASE, SKY, Program
from tests.ollama_server import OllamaTestServer, Pause, Reply, Stall

pytestmark = pytest.mark.acceptance


def test_open_a_folder_ask_read_the_source_and_leave(program: Program, server: OllamaTestServer) -> None:
    with program.on_terminal(".") as terminal:
        terminal.wait_for("4 documents ready")
        terminal.type(f"{LEASE}\r")
        terminal.wait_for("ends on 31 March 2027")
        screen = terminal.wait_for(r"house/lease\.md")
        assert "Lease > Term" in screen
        assert "#char=" in screen
        terminal.type("alt+1")
        terminal.wait_for("due on the third working day")
        terminal.type("escape")
        terminal.wait_for("Ask your notes")
        terminal.type("ctrl+q")
        assert terminal.wait_for_exit() == 0
    assert server.count("/api/chat") == 1


def test_a_refusal_on_the_screen_asks_no_model(program: Program, server: OllamaTestServer) -> None:
    with program.on_terminal(".") as terminal:
        terminal.wait_for("4 documents ready")
        terminal.type(f"{SKY}\r")
        terminal.wait_for("NO ANSWER")
        terminal.type("ctrl+q")
        assert terminal.wait_for_exit() == 0
    assert server.count("/api/chat") == 0
    assert server.count("/api/generate") == 0


def test_quitting_in_mid_answer_is_prompt(program: Program, server: OllamaTestServer) -> None:
    program.run("index")
    server.reply = Reply(["The lease ", Stall()])
    with program.on_terminal(".") as terminal:
        terminal.wait_for("4 documents ready")
        terminal.type(f"{LEASE}\r")
        terminal.wait_for("The lease")
        terminal.type("ctrl+q")
        assert terminal.wait_for_exit(seconds=10) == 0


def test_the_demo_opens_on_the_sample_notes(program: Program) -> None:
    with program.on_terminal("demo") as terminal:
        terminal.wait_for(r"\d+ sample notes ready", seconds=90)
        terminal.type("When does the lease end?\r")
        terminal.wait_for(r"house/lease\.md")
        terminal.type("ctrl+q")
        assert terminal.wait_for_exit() == 0


def test_ask_streams_to_a_terminal(program: Program, server: OllamaTestServer) -> None:
    program.run("index")
    server.reply = Reply(["The lease ", "ends ", Pause(3), "on 31 March 2027 [1]."])
    with program.on_terminal("ask", LEASE) as terminal:
        screen = terminal.wait_for("The lease ends")
        assert "2027" not in screen
        assert terminal.wait_for_exit() == 0
        assert ANSWER in terminal.text
        assert "\x1b]8;;file://" in terminal.raw


def test_no_color_means_none(program: Program) -> None:
    program.run("index")
    program.environ["NO_COLOR"] = "1"
    with program.on_terminal("ask", LEASE) as terminal:
        assert terminal.wait_for_exit() == 0
        assert "\x1b[1m" not in terminal.raw
        assert "\x1b[2m" not in terminal.raw


def test_ctrl_c_in_mid_answer_keeps_it(program: Program, server: OllamaTestServer) -> None:
    program.run("index")
    server.reply = Reply(["The lease ", "ends ", Stall()])
    with program.on_terminal("ask", LEASE) as terminal:
        terminal.wait_for("The lease ends")
        terminal.interrupt()
        assert terminal.wait_for_exit() == 130
        assert "The lease ends" in terminal.text


def test_hostile_notes_leave_the_terminal_intact(program: Program, server: OllamaTestServer) -> None:
    text = "# Kiosk\n\nThe kiosk opens \x1b[2J\x1b]0;pwned\x07 at nine \x1b[31mred\x00.\n"
    (program.notes / "kiosk.md").write_text(text)
    server.reply = Reply(["It opens \x1b]0;pwn", "ed\x07 at nine [1]."])
    for command in ("search", "ask"):
        with program.on_terminal(command, "When does the kiosk open?", "--threshold", "1.2") as terminal:
            assert terminal.wait_for_exit() == 0
            assert "\x1b]0;" not in terminal.raw
            assert "\x1b[2J" not in terminal.raw
            assert "\x07" not in terminal.raw
            assert "nine" in terminal.text


def test_a_huge_folder_is_asked_about(program: Program) -> None:
    program.environ["RAGCHAT_NOTES_CONFIRM_FILES"] = "2"
    with program.on_terminal("index") as terminal:
        terminal.wait_for(r"more than 2 notes.*Index it\?")
        terminal.type("n\r")
        assert terminal.wait_for_exit() == 3
    with program.on_terminal("index") as terminal:
        terminal.wait_for(r"Index it\?")
        terminal.type("y\r")
        assert terminal.wait_for_exit() == 0
        assert "4 documents" in terminal.text
