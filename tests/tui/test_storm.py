"""A hundred times the model server is killed, stalls, breaks off or is restarted under the open screen.

Real assistant, real client, real sockets; the moments are random and seeded. The conversation goes on.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable

import pytest

from ragchat.answering.assistant import Assistant
from ragchat.tui.widgets.turn import TurnView
from tests.answering.making import an_assistant
from tests.ollama_server import Break, ErrorLine, OllamaTestServer, Raw, Reply, Stall, Step, Think
from tests.tui.fake_workspace import FakeWorkspace, Scene
from tests.tui.stage import NARROW, Stage, on_stage

ROUNDS = 100
WORDS = tuple(f"word{n} " for n in range(6))


class Storm:
    """One port on which servers come and go under one screen."""

    def __init__(self, stage: Stage, server: OllamaTestServer, chance: random.Random) -> None:
        self.stage = stage
        self.server = server
        self.chance = chance
        self.asked = 0

    def says(self, *steps: Step, done: bool = True, status: int = 200) -> None:
        self.server.reply = Reply(
            steps, done=done, status=status, error="out of luck" if status != 200 else ""
        )

    def some(self) -> tuple[Step, ...]:
        """A random part of an answer, perhaps with some thinking before it."""
        thinking = (Think("hm"),) if self.chance.random() < 0.3 else ()
        return thinking + WORDS[: self.chance.randrange(len(WORDS))]

    async def begin(self) -> TurnView:
        """Ask; returns the new turn."""
        before = self.stage.app.chat.conversation.turns[-1:]
        self.stage.begin(f"question {self.asked}")
        self.asked += 1
        await until(lambda: self.stage.app.chat.conversation.turns[-1:] != before)
        return self.stage.app.chat.conversation.turns[-1]

    async def a_moment(self) -> None:
        await asyncio.sleep(self.chance.random() * 0.05)

    def come_back(self) -> None:
        self.server = OllamaTestServer(port=self.server.port)


async def killed(storm: Storm) -> str:
    storm.says(*storm.some(), Stall())
    turn = await storm.begin()
    await storm.a_moment()
    storm.server.kill()
    how = await ended(turn)
    storm.come_back()
    return how


async def restarted(storm: Storm) -> str:
    storm.says(*storm.some(), Stall())
    turn = await storm.begin()
    await storm.a_moment()
    storm.server.kill()
    storm.come_back()
    return await ended(turn)


async def stalled(storm: Storm) -> str:
    storm.says(*storm.some(), Stall())
    turn = await storm.begin()
    await storm.a_moment()
    storm.stage.app.simulate_key(storm.chance.choice(["escape", "ctrl+c"]))
    return await ended(turn)


def broken(*steps: Step, done: bool = True) -> Callable[[Storm], Awaitable[str]]:
    async def run(storm: Storm) -> str:
        storm.says(*storm.some(), *steps, done=done)
        return await ended(await storm.begin())

    return run


async def refusing(storm: Storm) -> str:
    storm.says(status=storm.chance.choice([429, 500, 503]))
    return await ended(await storm.begin())


async def gone(storm: Storm) -> str:
    storm.server.kill()
    turn = await storm.begin()
    how = await ended(turn)
    storm.come_back()
    return how


async def ended(turn: TurnView) -> str:
    await until(lambda: turn.has_class("finished"))
    assert turn.answer is not None
    return turn.answer.outcome


async def until(true: Callable[[], bool]) -> None:
    """Without the pilot, which waits until nothing moves: the moments are to be any."""
    deadline = time.monotonic() + 60.0
    while not true():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


TROUBLES: list[tuple[Callable[[Storm], Awaitable[str]], set[str]]] = [
    (killed, {"failed", "answered"}),  # before the first byte it is quoted from the notes
    (restarted, {"failed", "answered"}),
    (stalled, {"stopped"}),
    (broken(Break()), {"failed"}),
    (broken(Break(reset=True)), {"failed"}),
    (broken(ErrorLine("unexpected EOF")), {"failed"}),
    (broken(Raw(b'{"mes\n')), {"failed"}),
    (broken(done=False), {"failed"}),
    (refusing, {"failed"}),
    (gone, {"answered"}),
]


@pytest.mark.timeout(900)
async def test_the_conversation_survives_a_hundred_troubles_under_the_open_screen() -> None:
    server, chance = OllamaTestServer(), random.Random(6)
    assistant = an_assistant(server.url)

    class Stormy(FakeWorkspace):
        def assistant(self) -> Assistant:
            return assistant

    try:
        async with on_stage(Scene(), size=NARROW, workspace=Stormy) as stage:
            await stage.opened()
            storm = Storm(stage, server, chance)
            for number in range(ROUNDS):
                trouble, outcomes = TROUBLES[number] if number < len(TROUBLES) else chance.choice(TROUBLES)
                assert await trouble(storm) in outcomes, (number, trouble)
                assert not stage.app.session.questions.asking  # type: ignore[union-attr]
                if number % 10 == 9:
                    storm.says("All ", "is ", f"well {number} ", "[1].")
                    turn = await storm.begin()
                    assert await ended(turn) == "answered"
                    assert turn.text == f"All is well {number} [1]."
            assert storm.asked == ROUNDS + ROUNDS // 10
            await stage.until(lambda: "All is well 99 [1]" in stage.text(), "the last answer")
            assert len(stage.workspace.kept.turns()) == storm.asked
            assert stage.app.focused is stage.app.chat.prompt
    finally:
        storm.server.close()
