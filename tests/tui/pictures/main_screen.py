"""The main screen: empty for every reason, answered in every way."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace

import pytest

from ragchat.answering.events import (
    Answer,
    AnswerEvent,
    AnswerText,
    Finished,
    Retrieved,
    Thinking,
    Waiting,
)
from ragchat.answering.status import FolderStatus
from ragchat.errors import EmbedderUnavailable, FolderMissing, IndexCorrupt, IndexLocked, IndexStale
from ragchat.index.progress import IndexProgress, Survey
from ragchat.retrieval.trace import RetrievalTrace
from ragchat.tui.screens.chat import ChatScreen
from ragchat.tui.screens.confirm import ConfirmScreen
from tests.tui.fake_workspace import (
    HEALTHY,
    NO_SERVER,
    FakeWorkspace,
    Scene,
    answer_of,
    answered_trace,
    turn_of,
)
from tests.tui.outcomes import CONTEXT, crowded, used_up
from tests.tui.pictures.walk import walk
from tests.tui.stage import Stage

Patch = pytest.MonkeyPatch
LEASE = "When does the lease end?"


@walk({"opening-none": ChatScreen}, folder=None)
async def without_a_folder(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
    await stage.until(lambda: "No folder of notes" in stage.text(), "the word")
    yield "opening-none"


class _Slow(FakeWorkspace):
    """Opens when the stage is torn down."""

    opens = threading.Event()

    def status(self) -> FolderStatus:
        self.opens.wait(5)
        return super().status()


@walk({"opening": ChatScreen}, workspace=_Slow)
async def opening(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
    _Slow.opens.clear()
    await stage.until(lambda: bool(stage.app.chat.query("#prompt")), "the prompt")
    await stage.until(lambda: "Opening ~/notes" in stage.text(), "the word")
    yield "opening"
    _Slow.opens.set()


@walk({"when_ready": ChatScreen})
async def ready(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
    await stage.opened()
    yield "when_ready"


@walk({"when_ready-demo": ChatScreen}, demo=True)
async def ready_demo(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
    await stage.opened()
    yield "when_ready-demo"


@walk({"when_ready-no-notes": ChatScreen}, lambda: Scene(indexed=0, chunks=0))
async def no_notes(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
    await stage.opened()
    yield "when_ready-no-notes"


@walk({"when_ready-no-server": ChatScreen}, lambda: Scene(health=NO_SERVER, model=""))
async def no_server(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
    await stage.opened()
    yield "when_ready-no-server"


@walk({"when_ready-no-model": ChatScreen}, lambda: Scene(health=replace(HEALTHY, models=()), model=""))
async def no_model(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
    await stage.opened()
    yield "when_ready-no-model"


@walk({"when_ready-none-chosen": ChatScreen}, lambda: Scene(model=""))
async def none_chosen(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
    await stage.opened()
    yield "when_ready-none-chosen"


def _elsewhere() -> Scene:
    health = replace(HEALTHY, host="http://10.0.0.7:11434", loopback=False)
    return Scene(health=health, model="phi4:14b")


@walk({"when_ready-missing-model-elsewhere": ChatScreen}, _elsewhere)
async def missing_model(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
    await stage.opened()
    yield "when_ready-missing-model-elsewhere"


@walk(
    {"after_failure": ChatScreen},
    lambda: Scene(open_error=FolderMissing("there is no folder ~/notes", hint="ragchat demo")),
)
async def folder_missing(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
    await stage.until(lambda: "there is no folder" in stage.text(), "the word")
    yield "after_failure"


@walk({"when_unreadable": ChatScreen}, lambda: Scene(open_error=IndexCorrupt("the index is damaged")))
async def unreadable(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
    await stage.until(lambda: "cannot be read" in stage.text(), "the word")
    await stage.until(lambda: "ready" in stage.text(), "the server")
    yield "when_unreadable"


def _home_folder() -> Scene:
    survey = Survey(120_345, 7_200_000_000, {"hidden": 400}, confirm="this is your home folder")
    return Scene(indexed=0, chunks=0, survey=survey)


@walk({"confirm-folder": ConfirmScreen, "when_unconfirmed": ChatScreen}, _home_folder)
async def unconfirmed(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
    await stage.until(lambda: "Index this folder?" in stage.text(), "the question")
    await stage.until(lambda: "ready" in stage.text(), "the server")
    yield "confirm-folder"
    await stage.pilot.press("n")
    await stage.until(lambda: stage.app.screen is stage.app.chat, "the answer")
    yield "when_unconfirmed"


def _indexing(done: int, embedded: int) -> Callable[[], Scene]:
    step = IndexProgress("indexing", done, 412, embedded, 0, min(done, 1), "house/lease.md")
    return lambda: Scene(indexed=0, chunks=0, steps=(step,), hold=threading.Event())


async def _indexes(stage: Stage) -> None:
    await stage.until(lambda: "of 412" in stage.text(), "progress")
    await stage.until(lambda: "ready" in stage.text(), "the server")


@walk({"while_indexing-nothing-yet": ChatScreen}, _indexing(0, 0))
async def indexing_first(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
    await _indexes(stage)
    yield "while_indexing-nothing-yet"


@walk({"while_indexing": ChatScreen}, _indexing(12, 80))
async def indexing(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
    await _indexes(stage)
    yield "while_indexing"


_STALE = IndexStale("this index was made by all-MiniLM-L6-v2, you asked for bge-m3", hint="ragchat index")


@walk({"banner-stale": ChatScreen}, lambda: Scene(index_error=_STALE))
async def stale(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
    await stage.until(lambda: "^r rebuilds" in stage.text(), "the banner")
    await stage.until(lambda: "ready" in stage.text(), "the server")
    yield "banner-stale"


@walk({"banner-locked": ChatScreen}, lambda: Scene(index_error=IndexLocked("another ragchat is indexing")))
async def locked(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
    await stage.until(lambda: "^r tries again" in stage.text(), "the banner")
    await stage.until(lambda: "ready" in stage.text(), "the server")
    yield "banner-locked"


def _quoted(trace: RetrievalTrace) -> Answer:
    return answer_of(
        trace,
        "“The term begins on 1 April 2024 and ends on 31 March 2027.” [1]",
        answered_by="quotation",
        model=None,
        notice="no model server answers at http://127.0.0.1:11434",
        hint="ollama serve",
    )


def _broken(trace: RetrievalTrace) -> Answer:
    error = "the model server closed the connection in the middle of the answer"
    return answer_of(trace, "The lease ends on 31", outcome="failed", error=error, hint="ollama serve")


def _fits_nowhere(trace: RetrievalTrace) -> Answer:
    return answer_of(
        crowded(trace.question, 0),
        None,
        message=f'NO ANSWER: no source fits into the model\'s window for "{trace.question}"',
        notice="the window of tiny has 512 tokens, of which 256 are kept for its answer",
        hint="choose a model with a larger window",
    )


def _partly(trace: RetrievalTrace) -> Answer:
    context = replace(CONTEXT, sources=2, dropped=2, truncated=True)
    return answer_of(
        crowded(trace.question, 2),
        "The lease ends on **31 March 2027** [1]. The landlord is a duke [7].",
        context=context,
        timings_ms={"total": 9400.0, "thinking": 6200.0},
    )


_TABLE = """\
The notice period depends on who gives it [1]:

| who | months | from |
|---|---:|---|
| tenant | 2 | the end of its month |
| 家主 | 6 | its arrival |

```python
notice = {"tenant": 2, "landlord": 6}  # months
```

> Only in writing [2].

1. write the letter
2. keep a copy [3]
"""

_OUTCOMES: dict[str, Callable[[RetrievalTrace], Answer]] = {
    "Show me a table": lambda trace: answer_of(trace, _TABLE),
    "Who painted it?": lambda trace: answer_of(trace, "The sources do not say.", abstained=True),
    "Quote me": _quoted,
    "Break off": _broken,
    "Fit nowhere": _fits_nowhere,
    "Think and cut": _partly,
    "Use it up": used_up,
}


def _every_outcome(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
    trace = answered_trace(question)
    if question == "Fail at once":
        raise EmbedderUnavailable("the embedding model cannot be loaded", hint="ragchat doctor")
    yield Retrieved(trace)
    if question == "Wait":
        yield Waiting("qwen3:4b", 12.0)
        cancel.wait(9)
        yield Finished(answer_of(trace, "", outcome="stopped"))
        return
    if question == "Stream":
        yield AnswerText("The lease ends on **31 March")
        cancel.wait(9)
        yield Finished(answer_of(trace, "The lease ends on **31 March", outcome="stopped"))
        return
    if question == "Think and cut":
        yield Thinking("The question is about the lease, then about its end. Source 1 says it.")
    yield Finished(_OUTCOMES[question](trace))


async def _asks(stage: Stage, question: str) -> None:
    """Ask, with nothing of the turns before in sight."""
    await stage.pilot.press("ctrl+n")
    await stage.until(lambda: not stage.app.chat.conversation.turns, "a new conversation")
    await stage.ask(question)


@walk(
    dict.fromkeys(
        (
            "turn-waiting",
            "turn-stopped",
            "turn-streaming",
            "turn-answered-table",
            "turn-abstained",
            "turn-quotation",
            "turn-failed",
            "turn-fits-nowhere",
            "turn-thought-and-cut",
            "turn-used-up",
            "turn-not-asked",
        ),
        ChatScreen,
    ),
    lambda: Scene(script=_every_outcome),
)
async def outcomes(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
    await stage.opened()
    stage.begin("Wait")
    await stage.until(lambda: "12 s" in stage.text(), "waiting")
    yield "turn-waiting"
    await stage.pilot.press("escape")
    await stage.answered()
    yield "turn-stopped"
    stage.begin("Stream")
    await stage.until(lambda: "31 March" in stage.text(), "the stream")
    stage.app.screen.refresh_bindings()
    await stage.until(lambda: "^y Copy" in stage.text(), "the keys of an answer that has begun")
    yield "turn-streaming"
    await stage.pilot.press("escape")
    await stage.answered()
    for name, question in (
        ("turn-answered-table", "Show me a table"),
        ("turn-abstained", "Who painted it?"),
        ("turn-quotation", "Quote me"),
        ("turn-failed", "Break off"),
        ("turn-fits-nowhere", "Fit nowhere"),
        ("turn-used-up", "Use it up"),
        ("turn-not-asked", "Fail at once"),
        ("turn-thought-and-cut", "Think and cut"),
    ):
        await _asks(stage, question)
        if question.startswith("Think"):
            await stage.pilot.press("f4")
            await stage.until(lambda: "lease, then" in stage.words(), "the thinking")
        yield name


def _earlier() -> Scene:
    answered = turn_of(answer_of(answered_trace(LEASE), "On 31 March 2027 [1]. A duke owns it [7]."))
    stopped = turn_of(answer_of(answered_trace("And then?"), "It is", outcome="stopped"))
    return Scene(turns=(answered, stopped))


@walk({"turn-earlier": ChatScreen}, _earlier)
async def earlier(stage: Stage, _patch: Patch) -> AsyncIterator[str]:
    await stage.opened()
    await stage.until(lambda: "And then?" in stage.text(), "the turns")
    yield "turn-earlier"
