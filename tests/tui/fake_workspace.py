"""A workspace without a model, an index or a server: scripted notes, answers, delays and failures."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ragchat import paths
from ragchat.answering.assistant import Assistant
from ragchat.answering.conversation import Conversation
from ragchat.answering.conversations import FIRST, Conversations
from ragchat.answering.events import Answer, AnswerEvent, AnswerText, Citation, Finished, Retrieved
from ragchat.answering.models import WORTH_PULLING, ModelEntry
from ragchat.answering.receipt import receipt_line
from ragchat.answering.server import InstalledModel, ServerHealth
from ragchat.answering.status import FolderStatus
from ragchat.answering.turn import Turn, dropped_by, line_of, source_of
from ragchat.answering.verification import VerifiedSpan, locate
from ragchat.answering.workspace import Workspace
from ragchat.chunking.chunk import Chunk
from ragchat.documents.document import FailedDocument, Locator
from ragchat.embedding.embedder import Embedder
from ragchat.embedding.ollama_pull import PullProgress
from ragchat.errors import EmbedderUnavailable, RagchatError, ServerUnreachable
from ragchat.index.contexts import Contexts
from ragchat.index.progress import IndexProgress, IndexReport, ProgressListener, Survey
from ragchat.index.protocol import Coverage, Heading, Index, IndexStamp, Scope
from ragchat.index.source import Source
from ragchat.retrieval.filters import NO_FILTERS, Filters
from ragchat.retrieval.trace import Candidate, LiteralMatch, RetrievalTrace, Threshold, Verdict
from ragchat.settings import Settings
from tests.doubles import WordEmbedder

LEASE = (
    "# Lease\n\nThe flat at Lindenweg 4 is let to Ada Lindqvist.\n\n## Term\n\n"
    "The term begins on 1 April 2024 and the term ends on 31 March 2027. It is renewed only in writing.\n\n"
    "## Notice\n\nEither party may end the lease with a notice of two months to the end of a quarter.\n"
)
MAIL = (
    "Subject: the flat\n\nDear Ada,\n\nas agreed on the phone the notice period is two months, counted from"
    " the end of the month in which the letter arrives.\n\nYours, Per\n"
)
KITCHEN = "# キッチン\n\n冷蔵庫の保証は二〇二七年三月までです。修理は山田電機に頼みます。\n"
DOCUMENTS = {"house/lease.md": LEASE, "mail/2025-03.md": MAIL, "家/台所.md": KITCHEN}
THRESHOLD = Threshold(0.52, "auto", "5 % of 231 off-topic questions pass")
COVERAGE = Coverage(indexed=412, failed=2, stale=0)


def chunk_of(document: str, words: str, section: tuple[str, ...] = ()) -> Chunk:
    """The passage of a scripted document that consists of these words."""
    text = DOCUMENTS[document]
    start = text.index(words)
    end = start + len(words)
    return Chunk(
        document=document,
        title=document,
        section=section,
        start=start,
        end=end,
        first_line=text.count("\n", 0, start) + 1,
        last_line=text.count("\n", 0, end) + 1,
        content=words,
        text=words,
        context_start=start,
        tokens=len(words.split()),
        header_tokens=0,
    )


def candidate(
    number: int | None,
    chunk: Chunk,
    distance: float,
    verdict: Verdict = "sent",
    *,
    fused: int = 1,
    dense: int | None = 1,
    bm25: int | None = 1,
) -> Candidate:
    """One scripted candidate."""
    return Candidate(
        chunk_id=fused,
        chunk=chunk,
        distance=distance,
        dense_rank=dense,
        bm25_rank=bm25,
        bm25_score=None if bm25 is None else 4.2,
        fused_rank=fused,
        rerank_score=None,
        verdict=verdict,
        number=number,
    )


_TERM = "The term begins on 1 April 2024 and the term ends on 31 March 2027. It is renewed only in writing."
_NOTICE = "Either party may end the lease with a notice of two months to the end of a quarter."
_LETTER = (
    "as agreed on the phone the notice period is two months, counted from the end of the month in which"
    " the letter arrives."
)
_FRIDGE = "冷蔵庫の保証は二〇二七年三月までです。修理は山田電機に頼みます。"


def passages() -> list[tuple[Chunk, float]]:
    """The scripted passages with their distances, nearest first."""
    return [
        (chunk_of("house/lease.md", _TERM, ("Lease", "Term")), 0.312),
        (chunk_of("mail/2025-03.md", _LETTER), 0.401),
        (chunk_of("house/lease.md", _NOTICE, ("Lease", "Notice")), 0.447),
        (chunk_of("家/台所.md", _FRIDGE, ("キッチン",)), 0.508),
        (chunk_of("house/lease.md", "The flat at Lindenweg 4 is let to Ada Lindqvist.", ("Lease",)), 0.611),
        (chunk_of("mail/2025-03.md", "Yours, Per"), 0.742),
    ]


def answered_trace(question: str) -> RetrievalTrace:
    """Four sources sent, two candidates too far."""
    ranks: list[tuple[int | None, int | None]] = [(1, 2), (2, 1), (3, None), (4, 5), (None, 3), (6, None)]
    candidates = [
        candidate(
            at if distance <= THRESHOLD.value else None,
            chunk,
            distance,
            "sent" if distance <= THRESHOLD.value else "too far",
            fused=at,
            dense=ranks[at - 1][0],
            bm25=ranks[at - 1][1],
        )
        for at, (chunk, distance) in enumerate(passages(), start=1)
    ]
    return trace_of(question, candidates)


def refused_trace(question: str, *, literal: str = "") -> RetrievalTrace:
    """Nothing near enough; with `literal`, a note that holds that word is on offer."""
    candidates = [
        candidate(None, chunk, distance + 0.35, "too far", fused=at)
        for at, (chunk, distance) in enumerate(passages(), start=1)
    ]
    offer = LiteralMatch(literal, candidates[1]) if literal else None
    return trace_of(question, candidates, literal=offer)


def trace_of(
    question: str, candidates: Sequence[Candidate], literal: LiteralMatch | None = None
) -> RetrievalTrace:
    """A trace with fixed timings."""
    return RetrievalTrace(
        question=question,
        scope=Scope(),
        candidates=tuple(candidates),
        threshold=THRESHOLD,
        nearest=min((each.distance for each in candidates), default=None),
        coverage=COVERAGE,
        literal=literal,
        timings_ms={"embed": 9.0, "search": 2.0, "rerank": 0.0},
    )


def answer_of(trace: RetrievalTrace, text: str | None, **changed: object) -> Answer:
    """An answered (or, without text, refused) question; seconds are fixed at 3.1."""
    marks = [(f"[{n}]", n) for n in range(1, 10)]
    citations = tuple(
        Citation(
            start=at,
            end=at + len(mark),
            numbers=(n,) if n <= len(trace.sources) else (),
            invalid=() if n <= len(trace.sources) else (n,),
        )
        for mark, n in marks
        for at in _places(text or "", mark)
    )
    values: dict[str, object] = {
        "question": trace.question,
        "trace": trace,
        "outcome": "refused" if text is None else "answered",
        "text": text,
        "message": f"NO ANSWER: nothing under cosine distance {trace.threshold.value:.3f} for "
        f"“{trace.question}”".replace("“", '"').replace("”", '"')
        if text is None
        else None,
        "answered_by": "none" if text is None else "model",
        "model": None if text is None else "qwen3:4b",
        "citations": citations,
        "abstained": False,
        "context": None,
        "timings_ms": {"embed": 9.0, "search": 2.0, "total": 12.0 if text is None else 3100.0},
    }
    return Answer(**{**values, **changed})  # type: ignore[arg-type]


def _places(text: str, mark: str) -> Iterator[int]:
    at = text.find(mark)
    while at >= 0:
        yield at
        at = text.find(mark, at + 1)


ANSWER = (
    "The lease ends on **31 March 2027** [1], with a two-month notice period [2][3].\n\n"
    "- renewal only in writing [1]\n- the letter counts from the end of its month [2]\n"
)

Script = Callable[[str, frozenset[int], threading.Event], Iterator[AnswerEvent]]


def usual_script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
    """Answers about the lease; refuses what mentions the sky; offers a literal match for E1234."""
    if not admit and ("sky" in question or "E1234" in question):
        trace = refused_trace(question, literal="E1234" if "E1234" in question else "")
        yield Retrieved(trace)
        yield Finished(answer_of(trace, None))
        return
    trace = answered_trace(question)
    yield Retrieved(trace)
    for at in range(0, len(ANSWER), 12):
        yield AnswerText(ANSWER[at : at + 12])
        if cancel.is_set():
            yield Finished(answer_of(trace, ANSWER[: at + 12], outcome="stopped"))
            return
    yield Finished(answer_of(trace, ANSWER))


class FakeAssistant(Assistant):
    """Plays a script."""

    def __init__(self, script: Script, answer_tokens: list[int], followed: list[str]) -> None:
        self._script = script
        self.answer_tokens = answer_tokens
        self.followed = followed

    def ask(
        self,
        question: str,
        *,
        filters: Filters = NO_FILTERS,
        model: str | None = None,
        admit: frozenset[int] = frozenset(),
        cancel: threading.Event | None = None,
        answer_tokens: int = 0,
        follows: str = "",
    ) -> Iterator[AnswerEvent]:
        self.followed.append(follows)
        self.answer_tokens.append(answer_tokens)
        yield from self._script(question, admit, cancel or threading.Event())


def turn_of(answer: Answer) -> Turn:
    """The kept turn of an answer, asked at a fixed time."""
    return Turn(
        asked_at="2026-03-01T09:30:00+01:00",
        question=answer.question,
        outcome=answer.outcome,
        text=answer.text,
        message=answer.message,
        answered_by=answer.answered_by,
        model=answer.model,
        abstained=answer.abstained,
        sources=tuple(
            source_of(each, number=number, cited=number in answer.cited)
            for number, each in enumerate(answer.trace.sources, start=1)
        ),
        threshold=answer.trace.threshold.value,
        seconds=answer.timings_ms.get("total", 0.0) / 1000,
        error=answer.error,
        receipt=receipt_line(answer),
        dropped=tuple(source_of(each, number=0, cited=False) for each in dropped_by(answer.trace)),
        truncated=answer.context is not None and answer.context.truncated,
        notice=answer.notice,
        hint=answer.hint,
    )


class FakeIndex:
    """The documents' texts, a stamp, and the values that are kept."""

    stamp = IndexStamp(WordEmbedder().stamp, "chunks")

    def __init__(self, documents: dict[str, str], values: dict[str, str]) -> None:
        self._documents = documents
        self._values = values

    def read_value(self, key: str) -> str | None:
        return self._values.get(key)

    def write_value(self, key: str, value: str) -> None:
        self._values[key] = value

    def document_text(self, name: str) -> str | None:
        return self._documents.get(name)

    def sources(self) -> dict[str, Source]:
        return {
            name: Source(
                name,
                10,
                1_700_000_000_000_000_000,
                "d",
                "markdown/2",
                "indexed",
                tags=("tax",),
                dated="2026-03-01",
            )
            for name in self._documents
        }

    def document_locators(self, name: str) -> tuple[Locator, ...]:
        return ()

    def passages_of(self, name: str) -> int:
        return 2 if name in self._documents else 0

    def gaps(self) -> dict[str, tuple[str, ...]]:
        return {}

    def sections(self) -> list[Heading]:
        return [Heading("house/lease.md", ("Lease", "Term"), 9, 40, 3)] if self._documents else []


FAILURES = (
    FailedDocument("scans/receipt.md", "is binary, not text", "convert it to text, or exclude it"),
    FailedDocument("old/notes.txt", "cannot be decoded as any usual encoding", "save it as UTF-8"),
)
HEALTHY = ServerHealth(
    host="http://127.0.0.1:11434",
    loopback=True,
    reachable=True,
    version="0.33.0",
    models=(
        InstalledModel("qwen3:4b", 2_600_000_000, "a" * 12, 40_960),
        InstalledModel("llama3.2:3b", 2_000_000_000, "b" * 12, 131_072),
        InstalledModel("bge-m3:latest", 1_200_000_000, "c" * 12, 8_192, chats=False),
    ),
)
NO_SERVER = ServerHealth(
    host="http://127.0.0.1:11434",
    loopback=True,
    reachable=False,
    problem="no model server answers at http://127.0.0.1:11434",
    hint="ollama serve",
)


SURVEY = Survey(files=415, bytes=9_000_000, skipped={"hidden": 3})


@dataclass
class Scene:
    """What a fake workspace plays. Steps of indexing are shown one after another, `pause` seconds apart."""

    documents: dict[str, str] = field(default_factory=lambda: dict(DOCUMENTS))
    indexed: int = 412
    chunks: int = 6031
    notice: str = ""
    failures: tuple[FailedDocument, ...] = ()
    turns: tuple[Turn, ...] = ()
    health: ServerHealth = HEALTHY
    model: str = "qwen3:4b"
    script: Script = usual_script
    steps: tuple[IndexProgress, ...] = ()
    pause: float = 0.0
    hold: threading.Event | None = None
    survey: Survey = SURVEY
    pull: Callable[[str, Callable[[PullProgress], None], threading.Event], bool] | None = None
    open_error: RagchatError | None = None
    index_error: RagchatError | None = None
    polled: str = ""
    embeds: bool = False


class FakeWorkspace(Workspace):
    """Plays a scene; counts what was asked of it."""

    def __init__(self, folder: Path, settings: Settings, scene: Scene) -> None:
        self.folder = folder
        self.settings = settings
        self.scene = scene
        data = paths.make_private_dir(paths.data_dir() / "fake")
        kept = Path(tempfile.mkdtemp(dir=data))
        self._conversations = Conversations(kept)
        if scene.turns:
            (kept / f"{FIRST}.jsonl").write_bytes(b"".join(map(line_of, scene.turns)))
        self.updates: list[tuple[bool, bool]] = []
        self.questions: list[tuple[str, frozenset[int]]] = []
        self.answer_tokens: list[int] = []
        self.followed: list[str] = []
        self.pulled: list[str] = []
        self.probed: list[str] = []
        self.values: dict[str, str] = {}
        self.closed = False
        self.is_watched = False
        self.stir: Callable[[], None] | None = None
        self.change: Callable[[], None] | None = None

    @property
    def is_shared(self) -> bool:
        return False

    def has_index(self) -> bool:
        return True

    def index(self) -> Index:
        return FakeIndex(self.scene.documents, self.values)  # type: ignore[return-value]

    def embedder(self) -> Embedder:
        if not self.scene.embeds:
            raise EmbedderUnavailable("there is none on this stage")
        return WordEmbedder()

    def survey(self) -> Survey:
        return self.scene.survey

    def update(
        self,
        *,
        rebuild: bool = False,
        retry: bool = False,
        on_progress: ProgressListener | None = None,
        cancel: threading.Event | None = None,
        contexts: Contexts | None = None,
    ) -> IndexReport:
        self.updates.append((rebuild, retry))
        if self.scene.index_error is not None and not rebuild:
            raise self.scene.index_error
        for step in self.scene.steps:
            if on_progress is not None:
                on_progress(step)
            time.sleep(self.scene.pause)
        stopped = self._wait(cancel)
        return IndexReport(
            indexed=self.scene.indexed,
            added=len(self.scene.steps),
            updated=0,
            moved=0,
            removed=0,
            unchanged=self.scene.indexed,
            chunks=self.scene.chunks,
            chunks_embedded=0,
            failures=self.scene.failures,
            skipped={"hidden": 3},
            seconds=1.2,
            complete=not stopped,
            warning=self.scene.notice,
        )

    def _wait(self, cancel: threading.Event | None) -> bool:
        while self.scene.hold is not None and not self.scene.hold.is_set():
            if cancel is not None and cancel.wait(0.01):
                return True
        return False

    def watch(
        self,
        stop: threading.Event,
        *,
        on_stir: Callable[[], None],
        on_change: Callable[[], None],
        on_poll: Callable[[str], None],
    ) -> None:
        self.stir, self.change = on_stir, on_change
        if self.scene.polled:
            on_poll(self.scene.polled)
        stop.wait()

    def assistant(self) -> Assistant:
        def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
            self.questions.append((question, admit))
            return self.scene.script(question, admit, cancel)

        return FakeAssistant(script, self.answer_tokens, self.followed)

    def verify(self, document: str, start: int, end: int, quote: str = "") -> VerifiedSpan:
        text = self.scene.documents.get(document)
        if text is None:
            return VerifiedSpan("gone", quote, "", 0, 0)
        before = DOCUMENTS[document]
        return locate(quote or before[start:end], start, end, before, text)

    @property
    def kept(self) -> Conversation:
        return self.conversation()

    def conversations(self) -> Conversations:
        return self._conversations

    def server_health(self) -> ServerHealth:
        return self.scene.health

    def model(self) -> str:
        return self.scene.model

    def models(self) -> tuple[ModelEntry, ...]:
        if not self.scene.health.reachable:
            raise ServerUnreachable(self.scene.health.problem, hint=self.scene.health.hint)
        installed = [model for model in self.scene.health.models if model.chats]
        names = {model.name for model in installed}
        others = [model for model in WORTH_PULLING if model.name not in names]
        return tuple(
            ModelEntry(model, installed=model in installed, chosen=model.name == self.scene.model)
            for model in [*installed, *others]
        )

    def pull_model(
        self,
        name: str,
        *,
        on_progress: Callable[[PullProgress], None] | None = None,
        cancel: threading.Event | None = None,
    ) -> bool:
        self.pulled.append(name)
        assert on_progress is not None
        assert cancel is not None
        done = self.scene.pull(name, on_progress, cancel) if self.scene.pull is not None else True
        if done:
            models = (*self.scene.health.models, InstalledModel(name, 1_000_000, "d" * 12, 8_192))
            self.scene.health = replace(self.scene.health, models=models)
        return done

    def probe_thinking(self, name: str, *, cancel: threading.Event | None = None) -> bool | None:
        self.probed.append(name)
        return None

    def remember_model(self, name: str) -> None:
        self.scene.model = name

    def status(self) -> FolderStatus:
        if self.scene.open_error is not None:
            raise self.scene.open_error
        return FolderStatus(
            folder=self.folder,
            indexed=self.scene.indexed,
            failed=len(self.scene.failures),
            stale=0,
            skipped={"hidden": 3, "unsupported .zip": 1},
            failures=self.scene.failures,
            chunks=self.scene.chunks,
            stamp=None,
            extractors=("markdown/2",),
            threshold=THRESHOLD,
            notice=self.scene.notice,
        )

    def close(self) -> None:
        self.closed = True
