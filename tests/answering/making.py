"""Small values that these tests share: chunks, traces, a stand-in for the retriever."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from ragchat.answering.assistant import Assistant
from ragchat.answering.events import Answer, AnswerEvent, AnswerText, Finished
from ragchat.answering.model_memory import ModelMemory
from ragchat.answering.ollama import OllamaServer
from ragchat.answering.retrieves import EVERYWHERE
from ragchat.chunking.chunk import Chunk
from ragchat.index.protocol import Coverage, Scope
from ragchat.index.source import Source
from ragchat.retrieval.trace import Candidate, RetrievalTrace, Threshold, Verdict
from ragchat.settings import OllamaSettings
from tests.doubles import WordEmbedder

LEASE = "The lease ends on 31 March 2027. Notice must be given two months before. The rent is 900 euros."
GARDEN = "Tomatoes need six hours of sun. Water them in the morning."


def a_chunk(
    content: str = LEASE,
    document: str = "house/lease.md",
    section: Sequence[str] = ("Lease", "Term"),
    start: int = 100,
    title: str = "Lease",
) -> Chunk:
    return Chunk(
        document=document,
        title=title,
        section=tuple(section),
        start=start,
        end=start + len(content),
        first_line=3,
        last_line=3 + content.count("\n"),
        content=content,
        text=f"[{title}]\n{content}",
        context_start=start,
        tokens=len(content) // 4,
        header_tokens=3,
    )


def a_candidate(chunk: Chunk, rank: int, verdict: Verdict = "sent", distance: float = 0.3) -> Candidate:
    return Candidate(
        chunk_id=rank,
        chunk=chunk,
        distance=distance,
        dense_rank=rank,
        bm25_rank=None,
        bm25_score=None,
        fused_rank=rank,
        rerank_score=None,
        verdict=verdict,
        number=rank if verdict == "sent" else None,
    )


def a_trace(
    question: str = "When does the lease end?",
    chunks: Sequence[Chunk] = (a_chunk(), a_chunk(GARDEN, "garden.md", ("Garden",), 0)),
    verdict: Verdict = "sent",
    distance: float = 0.3,
) -> RetrievalTrace:
    return RetrievalTrace(
        question=question,
        scope=Scope(),
        candidates=tuple(
            a_candidate(chunk, rank, verdict, distance) for rank, chunk in enumerate(chunks, start=1)
        ),
        threshold=Threshold(0.52, "default"),
        nearest=distance if chunks else None,
        coverage=Coverage(indexed=2, failed=0, stale=0),
        literal=None,
        timings_ms={"embed": 1.0, "search": 2.0, "rerank": 0.0},
    )


class FixedRetriever:
    """Gives the same evidence for every question."""

    def __init__(self, trace: RetrievalTrace) -> None:
        self.trace = trace

    def sources(self) -> Mapping[str, Source]:
        return {}

    def retrieve(
        self, question: str, scope: Scope = EVERYWHERE, admit: AbstractSet[int] = frozenset()
    ) -> RetrievalTrace:
        return self.trace


def an_assistant(
    url: str,
    trace: RetrievalTrace | None = None,
    *,
    preferred: str = "qwen3:4b",
    settings: OllamaSettings | None = None,
    memory: ModelMemory | None = None,
) -> Assistant:
    retriever, server, embedder = FixedRetriever(trace or a_trace()), OllamaServer(url), WordEmbedder()
    return Assistant(
        retriever=lambda: retriever,
        embedder=lambda: embedder,
        server=lambda: server,
        preferred_model=lambda: preferred,
        settings=settings or OllamaSettings(),
        memory=memory,
    )


def the_answer(events: Sequence[AnswerEvent]) -> Answer:
    last = events[-1]
    assert isinstance(last, Finished)
    assert sum(isinstance(event, Finished) for event in events) == 1
    return last.answer


def shown(events: Sequence[AnswerEvent]) -> str:
    """The answer text as a screen that follows the events shows it in the end."""
    text = ""
    for event in events:
        if isinstance(event, AnswerText):
            text = event.text if event.restarts else text + event.text
    return text
