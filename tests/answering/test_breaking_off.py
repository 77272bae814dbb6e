"""Whatever breaks, stalls or is stopped: what arrived is kept, and the next question starts clean."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from ragchat.answering.escape import escape_control
from ragchat.answering.events import AnswerEvent, AnswerText, Waiting
from tests.answering.making import an_assistant, the_answer
from tests.ollama_server import Break, ErrorLine, OllamaTestServer, Pause, Raw, Reply, Stall, Step

QUESTION = "When does the lease end?"


def ask(server: OllamaTestServer) -> list[AnswerEvent]:
    return list(an_assistant(server.url).ask(QUESTION))


BROKEN: list[tuple[str, Sequence[Step], bool]] = [
    ("error line", ["The lease", ErrorLine("an error was encountered while running the model")], True),
    ("nested error", ["The lease", ErrorLine({"code": 400, "message": "too long"})], True),
    ("cut body", ["The lease", Break()], True),
    ("reset", ["The lease", Break(reset=True)], True),
    ("no done", ["The lease"], False),
    ("bad JSON", ["The lease", Raw(b'{"message": {"conte\n')], True),
    ("blank line", ["The lease", Raw(b"\n")], True),
    ("a list", ["The lease", Raw(b"[1]\n")], True),
    ("wrong type", ["The lease", Raw(b'{"message": {"role": "assistant", "content": 5}}\n')], True),
    ("half a line at the end", ["The lease", Raw(b'{"message": ')], False),
]


@pytest.mark.parametrize(("steps", "done"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN])
def test_a_broken_stream_fails_and_keeps_what_arrived(steps: Sequence[Step], done: bool) -> None:
    with OllamaTestServer(reply=Reply(steps, done=done)) as server:
        answer = the_answer(ask(server))
    assert answer.outcome == "failed"
    assert answer.text == "The lease"
    assert answer.error
    assert "\n" not in answer.error


@pytest.mark.parametrize("separator", ["\x85", "\u2028", "\u2029", "\x0b", "\x1e"])
def test_a_line_separator_that_a_model_wrote_tears_no_line(separator: str) -> None:
    with OllamaTestServer(answer=["The lease", f" ends{separator}in March [1]."]) as server:
        answer = the_answer(ask(server))
    assert answer.outcome == "answered"
    assert answer.text == escape_control(f"The lease ends{separator}in March [1].")


@pytest.mark.parametrize("status", [400, 500, 503])
def test_a_refusing_server_is_a_failure_in_its_own_words(status: int) -> None:
    with OllamaTestServer(reply=Reply(status=status, error="the queue\nis \x1b[2J full")) as server:
        answer = the_answer(ask(server))
    assert answer.outcome == "failed"
    assert "is \\x1b[2J full" in answer.error
    assert "\n" not in answer.error


def test_a_server_killed_in_mid_stream_keeps_the_partial_answer() -> None:
    with OllamaTestServer(answer=["The lease ends", Stall()]) as server:
        events = an_assistant(server.url).ask(QUESTION)
        seen = []
        for event in events:
            seen.append(event)
            if isinstance(event, AnswerText):
                server.kill()
    answer = the_answer(seen)
    assert answer.outcome == "failed"
    assert answer.text == "The lease ends"


def test_stop_acts_at_once_while_the_server_is_silent_and_hangs_up() -> None:
    cancel = threading.Event()
    with OllamaTestServer(answer=[Stall()]) as server:
        seen, stopped_at = [], 0.0
        for event in an_assistant(server.url).ask(QUESTION, cancel=cancel):
            seen.append(event)
            if isinstance(event, Waiting) and not cancel.is_set():
                stopped_at = time.monotonic()
                cancel.set()
        took = time.monotonic() - stopped_at
        server.wait_for_disconnect(1.0)
    assert the_answer(seen).outcome == "stopped"
    assert took < 0.3
    assert 0.2 < next(event.seconds for event in seen if isinstance(event, Waiting)) < 0.6


def test_stop_in_mid_stream_keeps_the_text_and_the_next_answer_starts_clean() -> None:
    cancel = threading.Event()
    with OllamaTestServer(answer=["Old words", Stall()]) as server:
        assistant = an_assistant(server.url)
        seen = []
        for event in assistant.ask(QUESTION, cancel=cancel):
            seen.append(event)
            if isinstance(event, AnswerText):
                cancel.set()
        stopped = the_answer(seen)
        server.reply = Reply(["New", " words [1]"])
        again = the_answer(list(assistant.ask(QUESTION)))
    assert (stopped.outcome, stopped.text) == ("stopped", "Old words")
    assert (again.outcome, again.text) == ("answered", "New words [1]")


def test_stop_acts_while_the_server_does_not_even_describe_itself() -> None:
    cancel = threading.Event()
    threading.Timer(0.1, cancel.set).start()
    with _Mute() as url:
        started = time.monotonic()
        answer = the_answer(list(an_assistant(url).ask(QUESTION, cancel=cancel)))
        assert time.monotonic() - started < 0.4
    assert answer.outcome == "stopped"


def test_an_answer_given_up_by_its_reader_hangs_up() -> None:
    with OllamaTestServer(answer=["The lease", Stall()]) as server:
        events = an_assistant(server.url).ask(QUESTION)
        while not isinstance(next(events), AnswerText):
            pass
        events.close()  # type: ignore[attr-defined]
        server.wait_for_disconnect(1.0)


def test_loading_is_told_and_has_no_timeout() -> None:
    with OllamaTestServer(answer=[Pause(0.8), "It ends in March [1]."]) as server:
        events = ask(server)
    waits = [event.seconds for event in events if isinstance(event, Waiting)]
    assert len(waits) >= 2
    assert waits == sorted(waits)
    assert the_answer(events).outcome == "answered"


def test_a_program_that_quits_in_mid_stream_is_gone_at_once_and_says_nothing() -> None:
    with OllamaTestServer(answer=["The lease", Stall()]) as server:
        program = (
            "import time\nfrom tests.answering.making import an_assistant\n"
            f"events = an_assistant({server.url!r}).ask('x')\n"
            "while type(next(events)).__name__ != 'AnswerText': pass\nprint(time.time(), flush=True)"
        )
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, cwd=Path(__file__).parents[2]
        )
        ended = time.time()
        server.wait_for_disconnect(1.0)
    assert done.stderr == ""
    assert ended - float(done.stdout) < 0.6


class _Mute:
    """Accepts connections and never says a word."""

    def __enter__(self) -> str:
        self._socket = socket.create_server(("127.0.0.1", 0))
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def __exit__(self, *error: object) -> None:
        self._socket.close()
