"""The picker: what there is, choosing, getting another with progress, stopping and going on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from textual.widgets import Input

from ragchat.answering.events import AnswerEvent, Finished, Retrieved
from ragchat.answering.server import InstalledModel
from ragchat.embedding.ollama_pull import PullProgress
from ragchat.errors import GenerationFailed
from ragchat.tui.screens.models import ModelScreen
from tests.tui.fake_workspace import HEALTHY, NO_SERVER, FakeWorkspace, Scene, answer_of, answered_trace
from tests.tui.stage import Stage, on_stage

Report = Callable[[PullProgress], None]


async def picker(stage: Stage) -> None:
    await stage.opened()
    await stage.pilot.press("ctrl+l")
    await stage.until(lambda: isinstance(stage.app.screen, ModelScreen), "the picker")
    await stage.until(lambda: "asking the server" not in stage.text(), "the models")


def slow_pull(name: str, report: Report, cancel: threading.Event) -> bool:
    """Half of it comes; the rest only when it is asked for once more."""
    report(PullProgress("pulling manifest"))
    report(PullProgress("pulling abc", 1_250_000_000, 2_500_000_000))
    return not cancel.wait(20)


async def test_the_picker_shows_size_context_thinking_and_what_is_installed() -> None:
    thinker = InstalledModel("qwen3:4b", 2_600_000_000, "a" * 12, 40_960, thinks=True)
    async with on_stage(Scene(health=replace(HEALTHY, models=(thinker, *HEALTHY.models[1:])))) as stage:
        await picker(stage)
        rows = stage.text().splitlines()
        row = next(line for line in rows if "✓ qwen3:4b" in line)
        assert "✓ qwen3:4b 2.6 GB 40,960 thinks installed" in " ".join(row.split())
        assert any("gemma3:4b" in line and "3.3 GB" in line and "enter gets it" in line for line in rows)
        assert "bge-m3" not in stage.text()
        await stage.pilot.press("escape")


async def test_a_choice_is_remembered_for_the_folder_and_probed_behind() -> None:
    async with on_stage() as stage:
        await picker(stage)
        await stage.pilot.press("down", "enter")
        await stage.until(lambda: "llama3.2:3b ● ready" in stage.text(), "the header")
        await stage.until(lambda: stage.workspace.probed == ["llama3.2:3b"], "the probe")
        assert stage.workspace.model() == "llama3.2:3b"


async def test_a_probe_waits_for_the_answer_and_makes_way_for_the_next_question() -> None:
    probing, order = threading.Event(), []

    class Probed(FakeWorkspace):
        def probe_thinking(self, name: str, *, cancel: threading.Event | None = None) -> bool | None:
            assert cancel is not None
            order.append("probe")
            probing.set()
            if len(order) == 1:
                assert cancel.wait(10)  # a question comes
            return None

    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        order.append("question")
        time.sleep(0.1)
        trace = answered_trace(question)
        yield Retrieved(trace)
        yield Finished(answer_of(trace, "In March [1]."))

    async with on_stage(Scene(script=script), workspace=Probed) as stage:
        await picker(stage)
        await stage.pilot.press("down", "enter")
        await stage.until(probing.is_set, "the probe")
        await stage.ask("When?")
        await stage.until(lambda: order == ["probe", "question", "probe"], "the probe after it")


async def test_a_pull_shows_progress_goes_on_behind_and_is_stopped_and_taken_up_again() -> None:
    scene = Scene(pull=slow_pull)
    async with on_stage(scene) as stage:
        await picker(stage)
        await stage.pilot.press("down", "down", "enter")
        await stage.until(lambda: "pulling gemma3:4b  50% of 2.5 GB" in stage.text(), "progress")
        await stage.pilot.press("escape")
        await stage.until(
            lambda: "⇣ pulling gemma3:4b 50% of 2.5 GB ████████░░░░░░░░" in stage.text(), "the line"
        )
        await stage.ask("When does the lease end?")
        await stage.pilot.press("ctrl+l")
        await stage.until(lambda: "x Stop pulling" in stage.text(), "the key")
        await stage.pilot.press("x")
        await stage.until(lambda: "■ 50% of 2.5 GB" in stage.text(), "stopping")
        scene.pull = None
        await stage.pilot.press("down", "down", "enter")
        await stage.until(lambda: scene.model == "gemma3:4b", "the end")
        await stage.pilot.press("escape")
        await stage.until(lambda: "gemma3:4b ● ready" in stage.text(), "the header")
        assert stage.workspace.pulled == ["gemma3:4b", "gemma3:4b"]
        assert "⇣" not in stage.text()


async def test_any_other_name_can_be_typed() -> None:
    async with on_stage() as stage:
        await picker(stage)
        stage.app.screen.query_one(Input).focus()
        await stage.pilot.press(*"mistral:7b", "enter")
        await stage.until(lambda: stage.workspace.pulled == ["mistral:7b"], "the pull")
        await stage.until(lambda: stage.workspace.model() == "mistral:7b", "the choice")


async def test_a_pull_that_fails_says_why_and_how_to_go_on() -> None:
    def broken(name: str, report: Report, cancel: threading.Event) -> bool:
        report(PullProgress("pulling abc", 10, 100))
        raise GenerationFailed("the download ended before it was whole", hint="ragchat pull gemma3:4b")

    async with on_stage(Scene(pull=broken)) as stage:
        await picker(stage)
        await stage.pilot.press("down", "down", "enter")
        await stage.until(lambda: "ended before it was whole" in " ".join(stage.text().split()), "the reason")
        await stage.until(lambda: "■ 10% of" in stage.text(), "what is kept")


async def test_without_a_server_the_picker_says_so_and_fills_when_there_is_one() -> None:
    scene = Scene(health=NO_SERVER, model="")
    async with on_stage(scene) as stage:
        await picker(stage)
        assert "no model server answers" in stage.text()
        assert "next: ollama serve" in stage.text()
        scene.health = HEALTHY
        await stage.until(lambda: "llama3.2:3b" in stage.text(), "the models")


async def test_leaving_in_mid_pull_is_prompt() -> None:
    async with on_stage(Scene(pull=slow_pull)) as stage:
        await picker(stage)
        await stage.pilot.press("down", "down", "enter")
        await stage.until(lambda: "50% of" in stage.text(), "progress")
        start = time.monotonic()
    assert time.monotonic() - start < 1.5
