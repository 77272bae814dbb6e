"""Everything that happened to one question before any model was asked.

The source panel, the inspector, `--json` and the evaluation all read this; nothing recomputes it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ragchat.chunking.chunk import Chunk
from ragchat.index.protocol import Coverage, Scope
from ragchat.retrieval.filters import NO_FILTERS, Filters

if TYPE_CHECKING:
    from ragchat.retrieval.adaptive import FolderGate

Verdict = Literal["sent", "too far", "beyond top k", "duplicate", "did not fit"]
ThresholdOrigin = Literal["auto", "calibrated", "setting", "default", "provisional"]


LIMIT = "limit"
"""The part that keeps a threshold within the folder's reach."""
_ROUNDED = 0.001
"""A value that lies nearer to the sum of its parts than this was only rounded."""
_WORDS = {  # of a shift down, of a shift up
    "length": ("a short question", "a long question"),
    "wording": ("its words hardly met", "its words met"),
    "telling words": ("its rare words not met", "its rare words met"),
    "standing out": ("nothing stands out", "the nearest stands out"),
    LIMIT: ("beyond this lies the unrelated", "what is this near passes"),
    "order by words": ("words decide", "words decide"),
}


@dataclass(frozen=True, slots=True)
class ThresholdPart:
    """One reason why a question's threshold is not the folder's.

    name: "length", a signal of `Signals`, or "limit" where the others would lead too far.
    shift: in cosine distance, positive where it lets more pass.
    """

    name: str
    shift: float

    @property
    def words(self) -> str:
        """The reason in a few words, for a line that tells several."""
        if self.name in _WORDS:
            return _WORDS[self.name][self.shift > 0]
        word = self.name.removeprefix("literal ")
        return self.name if word == self.name else f"{word} word for word"


@dataclass(frozen=True, slots=True)
class Threshold:
    """The largest cosine distance at which a passage counts as evidence, and who says so.

    origin: auto (from off-topic questions on this folder), default (too few chunks to tell),
        calibrated (from the user's own questions), setting (a fixed number in the settings),
        provisional (estimated while the folder is embedded in part).
    detail: one line for the user, "5 % of 231 off-topic questions pass".
    gates: of a folder, what moves its threshold for a question; none where the number holds as it stands.
    folders: of a question whose threshold was moved, the folder's. parts: the shifts from there.
    shift: what the user moved every threshold of the folder by, which is in all of these numbers.
    """

    value: float
    origin: ThresholdOrigin
    detail: str = ""
    gates: tuple[FolderGate, ...] = ()
    folders: float | None = None
    parts: tuple[ThresholdPart, ...] = ()
    shift: float = 0.0

    def shift_to(self, line: float) -> float:
        """What the folder's shift must be so that this question's threshold stands at the line.

        Where a limit holds the threshold, it leaves it only once the other parts lead to the line.
        """
        by = line - self.value
        held = sum(part.shift for part in self.parts if part.name == LIMIT)
        if held > 0 >= by:  # nothing leads below the closest
            return round(self.shift + by, 3)
        free = self.shift + by + held
        reaching = max(self.shift, 0.0) + by  # the reach goes up with a shift, and never down
        return round(max(free, reaching) if held < 0 < reaching else free, 3)

    @property
    def story(self) -> str:
        """How the number came about, on one line: "0.471 in this folder, its words met +0.120"."""
        if self.folders is None:
            return self.detail
        shifts = [f"{part.words} {part.shift:+.3f}" for part in self.shown_parts]
        return ", ".join([f"{self.folders:.3f} in this folder", *shifts])

    @property
    def shown_parts(self) -> tuple[ThresholdPart, ...]:
        """The parts in three decimals, such that with `folders` they add up to `value`; none of 0.000.

        Each is rounded by where the sum stands with it, so that none is off by more than 0.001. What holds
        the value back beyond its parts is one part more.
        """
        if self.folders is None:
            return ()
        exact = list(itertools.accumulate((part.shift for part in self.parts), initial=self.folders))
        sums = [round(each, 3) for each in exact]
        names = [part.name for part in self.parts]
        if self.parts and abs(self.value - exact[-1]) < _ROUNDED:
            sums[-1] = round(self.value, 3)
        else:
            sums, names = [*sums, round(self.value, 3)], [*names, LIMIT]
        shifts = [round(after - before, 3) for before, after in itertools.pairwise(sums)]
        return tuple(ThresholdPart(name, shift) for name, shift in zip(names, shifts, strict=True) if shift)

    @property
    def told_from(self) -> str:
        """Who says it and how it came about, on one line: "auto: 5 % of 231 off-topic questions pass"."""
        return f"{self.origin}: {self.story}" if self.story else self.origin


@dataclass(frozen=True, slots=True)
class Candidate:
    """One chunk considered for a question, and why it was sent or not.

    distance: cosine distance to the question, in [0, 2]; computed for every candidate, also for those that
        only BM25 found, because the gate must be able to judge them.
    dense_rank, bm25_rank, fused_rank: 1-based; None where that search did not propose it.
    number: n of `[n]` for what was sent, else None.
    before, after: sentences around what is sent, for the model alone: never quoted, never cited.
    also_in: other documents that hold the same content; it takes one place among the sources.
    """

    chunk_id: int
    chunk: Chunk
    distance: float
    dense_rank: int | None
    bm25_rank: int | None
    bm25_score: float | None
    fused_rank: int
    rerank_score: float | None
    verdict: Verdict
    number: int | None = None
    before: str = ""
    after: str = ""
    also_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LiteralMatch:
    """A rare term of the question that stands word for word in a note the distance refused."""

    term: str
    candidate: Candidate


@dataclass(frozen=True, slots=True)
class RetrievalTrace:
    """One question, all its candidates in fused order, and the gate's judgement.

    nearest: smallest distance of any candidate; None where there is no candidate at all.
    literal: set only on a refusal by distance alone, and on what the user took of it past the gate.
    timings_ms: "embed", "search", "rerank".
    follows: the question that this one was searched together with, "" where it stands alone.
    filters: which notes it was asked of; `coverage` counts those.
    typed, typed_before: the question and the one it follows as the user wrote them, filters included;
        "" where nothing was typed.
    """

    question: str
    scope: Scope
    candidates: tuple[Candidate, ...]
    threshold: Threshold
    nearest: float | None
    coverage: Coverage
    literal: LiteralMatch | None
    timings_ms: Mapping[str, float]
    follows: str = ""
    filters: Filters = NO_FILTERS
    typed: str = ""
    typed_before: str = ""

    @property
    def asked(self) -> str:
        """The question in the user's own words, as it may be typed again after `asked_before`."""
        return self.typed or (f"{self.filters} {self.question}" if self.filters else self.question)

    @property
    def asked_before(self) -> str:
        """The question that it follows, with the filters that hold for both."""
        return self.typed_before or self.follows

    @property
    def searched(self) -> str:
        """The query in effect."""
        return f"{self.follows} {self.question}" if self.follows else self.question

    @property
    def sources(self) -> tuple[Candidate, ...]:
        """What is sent to the model, in the order of its numbers: source n is sources[n - 1]."""
        return tuple(candidate for candidate in self.candidates if candidate.verdict == "sent")

    @property
    def nearest_candidate(self) -> Candidate | None:
        """The passage at the smallest distance; None where `nearest` is."""
        near = (candidate for candidate in self.candidates if not math.isnan(candidate.distance))
        return min(near, key=lambda candidate: candidate.distance, default=None)

    @property
    def past_gate(self) -> tuple[Candidate, ...]:
        """What is sent though it is too far, because the user let it through by hand."""
        return tuple(source for source in self.sources if source.distance > self.threshold.value)

    @property
    def refused(self) -> bool:
        """Whether there is no evidence, so that no model may be asked."""
        return not any(candidate.verdict == "sent" for candidate in self.candidates)
