"""A hundred times the server is killed, stalls, breaks off or is restarted under one assistant.

The conversation goes on, nothing bleeds over, nothing is left running.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ragchat.answering.assistant import Assistant
from ragchat.answering.conversation import Conversation
from ragchat.answering.events import Answer, AnswerText, Waiting
from tests.answering.making import an_assistant, shown, the_answer
from tests.ollama_server import Break, ErrorLine, OllamaTestServer, Raw, Reply, Stall, Step

ROUNDS = 100
PARTIAL = "half an answer"


class Troubled:
    """One port on which servers come and go, and an assistant that knows nothing of it."""

    def __init__(self) -> None:
        self.server = OllamaTestServer()
        self.assistant: Assistant = an_assistant(self.server.url)

    def restart(self) -> None:
        self.server.kill()
        self.server = OllamaTestServer(port=self.server.port)

    def says(self, steps: Sequence[Step], *, done: bool = True, status: int = 200) -> None:
        self.server.reply = Reply(
            steps, done=done, status=status, error="out of luck" if status != 200 else ""
        )

    def ask(
        self,
        do: Callable[[threading.Event], None] | None = None,
        *,
        on: type[AnswerText] | type[Waiting] = AnswerText,
    ) -> Answer:
        """do: once, at the first event of the kind `on`."""
        cancel, seen = threading.Event(), []
        for event in self.assistant.ask("When does the lease end?", cancel=cancel):
            seen.append(event)
            if do is not None and isinstance(event, on):
                do(cancel)
                do = None
        answer = the_answer(seen)
        assert (answer.text or "") == shown(seen).rstrip()
        return answer


def killed(trouble: Troubled) -> str:
    trouble.says([PARTIAL, Stall()])
    answer = trouble.ask(lambda _: trouble.server.kill())
    trouble.server = OllamaTestServer(port=trouble.server.port)
    assert answer.text == PARTIAL
    return answer.outcome


def gone(trouble: Troubled) -> str:
    trouble.server.kill()
    answer = trouble.ask()
    assert answer.answered_by == "quotation"
    trouble.server = OllamaTestServer(port=trouble.server.port)
    return answer.outcome


def stalled(trouble: Troubled) -> str:
    trouble.says([PARTIAL, Stall()])
    started = time.monotonic()
    answer = trouble.ask(lambda cancel: cancel.set())
    assert time.monotonic() - started < 1.0
    assert answer.text == PARTIAL
    return answer.outcome


def silent(trouble: Troubled) -> str:
    trouble.says([Stall()])
    answer = trouble.ask(lambda cancel: cancel.set(), on=Waiting)
    assert answer.text == ""
    return answer.outcome


def restarted(trouble: Troubled) -> str:
    trouble.says([PARTIAL, Stall()])
    return trouble.ask(lambda _: trouble.restart()).outcome


def broken(*steps: Step, done: bool = True) -> Callable[[Troubled], str]:
    def run(trouble: Troubled) -> str:
        trouble.says([PARTIAL, *steps], done=done)
        answer = trouble.ask()
        assert answer.text == PARTIAL
        assert answer.error
        assert answer.hint
        return answer.outcome

    return run


def refusing(trouble: Troubled) -> str:
    trouble.says([], status=random.choice([500, 503, 429]))
    return trouble.ask().outcome


TROUBLES: list[tuple[Callable[[Troubled], str], str]] = [
    (killed, "failed"),
    (gone, "answered"),
    (stalled, "stopped"),
    (silent, "stopped"),
    (restarted, "failed"),
    (broken(Break()), "failed"),
    (broken(Break(reset=True)), "failed"),
    (broken(ErrorLine("unexpected EOF")), "failed"),
    (broken(Raw(b'{"mes\n')), "failed"),
    (broken(done=False), "failed"),
    (refusing, "failed"),
]


def test_a_conversation_survives_a_hundred_troubles(tmp_path: Path) -> None:
    conversation, order = Conversation(tmp_path / "conversation.jsonl"), random.Random(3)
    trouble = Troubled()
    try:
        for number in range(ROUNDS):
            run, outcome = TROUBLES[number] if number < len(TROUBLES) else order.choice(TROUBLES)
            assert run(trouble) == outcome, run
            trouble.says([f"Answer {number}", " [1]."])
            answer = trouble.ask()
            assert answer.outcome == "answered"
            assert answer.text == f"Answer {number} [1]."
            conversation.keep(answer)
    finally:
        trouble.server.close()
    assert [turn.text for turn in conversation.turns()] == [f"Answer {n} [1]." for n in range(ROUNDS)]
    deadline = time.monotonic() + 3.0
    while any(thread.name.startswith("ragchat") for thread in threading.enumerate()):
        assert time.monotonic() < deadline, threading.enumerate()
        time.sleep(0.01)
