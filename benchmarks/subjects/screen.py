"""The screen in a pty: key to paint while idle, indexing and streaming; leaving in mid-answer.

Beside each stands a bare Textual app that is nothing but a text area, in a pty of its own: what Textual
itself takes for a key on this machine at that moment. Keys alternate between the two.
"""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.plan import Plan
from benchmarks.report import Row, row_of
from benchmarks.series import Series, take_turns
from benchmarks.synthetic import blocks
from benchmarks.terminal import Terminal
from tests.ollama_script import Pause, Reply, Step, pieces
from tests.ollama_server import OllamaTestServer

SUBJECT = "screen"

_LETTERS = "бгджзийлптуфцчшщъыьэюяВГДЖЗИЙЛПУФЦЧШЩЪЫЬЭЮЯ"
"""Letters that stand nowhere else on the screen."""
_BARE = (
    "from textual.app import App\n"
    "from textual.widgets import TextArea\n"
    "class Bare(App):\n"
    "    def compose(self):\n"
    "        yield TextArea('ready')\n"
    "Bare().run()\n"
)
_SENTENCE = (
    "The **lease** of the flat runs on until the `boiler` is seen to [1], and after that a month more."
)
_ITEM = f"- {_SENTENCE}\n"
_PART = f"## Part {{}}\n\n{_SENTENCE} {_SENTENCE}\n\n{_ITEM * 3}"
_PARTS = 16
_TOKENS_A_SECOND = 40
_BOUND = 0.050


def measure(plan: Plan) -> list[Row]:
    """Keys, then leaving."""
    keys = max(20, plan.rounds * 6)
    rows: list[Row] = []
    with _bare(plan) as bare:
        for case, scene in (("idle", _idle), ("indexing", _indexing), ("streaming", _streaming)):
            with scene(plan) as terminal:
                rows += _rows_of_keys(case, *_keys(terminal, bare, keys))
    return rows + _leaving(plan)


def _rows_of_keys(case: str, ours: Series, bare: Series) -> list[Row]:
    name = f"key to paint, {case}"
    slow, slow_bare = ours.percentile(99), bare.percentile(99)
    keys = len(ours.values)
    return [
        row_of(SUBJECT, name, "a bare Textual app, p50", bare),
        Row(SUBJECT, name, "a bare Textual app, p99", slow_bare * 1000, "ms", rounds=keys),
        row_of(SUBJECT, name, "ragchat, p50", ours, against=("bare app", bare)),
        Row(
            SUBJECT,
            name,
            "ragchat, p99",
            slow * 1000,
            "ms",
            rounds=keys,
            ratio=slow / slow_bare,
            against="bare app's p99",
            goal=f"{_BOUND * 1000:.0f} ms",
            met=slow <= _BOUND,
            note=f"slowest {max(ours.values) * 1000:.0f} ms of {keys} keys",
        ),
    ]


def _keys(terminal: Terminal, bare: Terminal, keys: int) -> tuple[Series, Series]:
    """Letters at uneven times, about ten a second, so that they fall anywhere among what else is drawn."""
    pauses = random.Random(keys)
    letters = itertools.cycle(_LETTERS)
    letter = ""

    def type_into(one: Terminal) -> float:
        one.rest(pauses.uniform(0.02, 0.08))
        return one.seconds_to_paint(letter)

    ours: list[float] = []
    theirs: list[float] = []
    for number in range(keys):
        if number % len(_LETTERS) == 0:
            for one in (terminal, bare):
                one.press("\x15" * 2)  # ctrl+u: what was typed before does not stand there any more
                one.rest(0.3)
        letter = next(letters)
        ours.append(type_into(terminal))
        theirs.append(type_into(bare))
    return Series(tuple(ours)), Series(tuple(theirs))


@contextmanager
def _bare(plan: Plan) -> Iterator[Terminal]:
    home = plan.work / "bare"
    with Terminal([sys.executable, "-c", _BARE], plan.environment(home)) as terminal:
        terminal.wait_for("ready")
        terminal.rest(1.0)
        yield terminal


@contextmanager
def _idle(plan: Plan) -> Iterator[Terminal]:
    """A small folder that is indexed already."""
    with _screen(plan, "idle", notes=20) as terminal:
        yield terminal


@contextmanager
def _indexing(plan: Plan) -> Iterator[Terminal]:
    """A folder that takes minutes to embed."""
    with _screen(plan, "indexing", notes=plan.files // 5, indexed=False) as terminal:
        yield terminal


@contextmanager
def _streaming(plan: Plan) -> Iterator[Terminal]:
    """An answer of 1,600 words with headings, paragraphs and lists."""
    with _answering(plan, "streaming") as terminal:
        yield terminal


@contextmanager
def _answering(plan: Plan, name: str) -> Iterator[Terminal]:
    steps: list[Step] = []
    for piece in pieces("\n\n".join(_PART.format(number) for number in range(_PARTS))):
        steps += [piece, Pause(1 / _TOKENS_A_SECOND)]
    with (
        OllamaTestServer(models=["qwen3:4b"], reply=Reply(steps)) as server,
        _screen(plan, name, notes=20, server=server.url) as terminal,
    ):
        terminal.press("\x15what of the lease and the boiler\r")
        terminal.wait_for("answering")
        terminal.rest(1.0)
        yield terminal


@contextmanager
def _screen(
    plan: Plan, name: str, *, notes: int, indexed: bool = True, server: str = "127.0.0.1:9"
) -> Iterator[Terminal]:
    """`ragchat FOLDER` as its user starts it, at the state that is waited for."""
    home = plan.work / f"screen-{name}"
    folder = home / "notes"
    if not folder.exists():
        _write_notes(folder, notes)
    environment = {
        **plan.environment(home),
        "OLLAMA_HOST": server,
        "RAGCHAT_OLLAMA_MODEL": "qwen3:4b",
        # Everything is evidence: the question has to reach the model.
        "RAGCHAT_RETRIEVAL_THRESHOLD": "2.0",
    }
    if indexed:  # and the model exported, the threshold calibrated
        command = [sys.executable, "-m", "ragchat", "index", "-f", str(folder)]
        subprocess.run(command, env=environment, capture_output=True, check=True)
    with Terminal([sys.executable, "-m", "ragchat", str(folder)], environment) as terminal:
        terminal.wait_for("Ask your notes")
        terminal.wait_for("fresh" if indexed else " of ")
        terminal.rest(1.0)
        yield terminal


def _write_notes(folder: Path, notes: int) -> None:
    folder.mkdir(parents=True)
    texts = [text for block in blocks(notes * 10) for text in block.texts]
    for number in range(notes):
        text = "\n\n".join(texts[number * 10 : number * 10 + 10])
        (folder / f"note-{number:05d}.md").write_text(f"# Note {number}\n\n{text}\n", encoding="utf-8")


def _leaving(plan: Plan) -> list[Row]:
    """ctrl+q in mid-answer and at rest, until the process has ended."""

    def idle(_: int) -> float:
        with _screen(plan, "leaving", notes=20) as terminal:
            return terminal.seconds_to_end("\x11")

    def answering(_: int) -> float:
        with _answering(plan, "leaving-answer") as terminal:
            return terminal.seconds_to_end("\x11")

    turns = take_turns({"idle": idle, "answering": answering}, max(3, plan.rounds // 4))
    bound = 0.3
    slowest = turns["answering"].percentile(100)
    return [
        row_of(SUBJECT, "leaving", "at rest", turns["idle"]),
        row_of(
            SUBJECT,
            "leaving",
            "in mid-answer",
            turns["answering"],
            against=("at rest", turns["idle"]),
            goal=f"{bound * 1000:.0f} ms",
            met=turns["answering"].median <= bound,
            note=f"slowest {slowest * 1000:.0f} ms",
        ),
    ]
