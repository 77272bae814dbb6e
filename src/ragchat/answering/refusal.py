"""The one line of a question that no model was asked."""

from __future__ import annotations

import math

from ragchat.answering.escape import escape_line
from ragchat.retrieval.trace import RetrievalTrace


def refusal_message(trace: RetrievalTrace) -> str:
    """`NO ANSWER: nothing under cosine distance 0.520 for "…"`: the whole question, on one line.

    `NO ANSWER: there are no notes …` over none; `NOT FOUND SO FAR: …` while notes wait to be indexed. Scripts
    compare it, so that filters are told beside it, in the coverage; but one that leaves none is the reason.
    """
    if any(candidate.verdict == "did not fit" for candidate in trace.candidates):
        return f'NO ANSWER: no source fits into the model\'s window for "{escape_line(trace.question)}"'
    if trace.coverage.outside and trace.coverage.outside == trace.coverage.total:
        left_out = escape_line(str(trace.filters))
        return f'NO ANSWER: {left_out} leaves no notes to search for "{escape_line(trace.question)}"'
    if not trace.coverage.total and not trace.candidates:
        return f'NO ANSWER: there are no notes to search for "{escape_line(trace.question)}"'
    # Over a part of the notes nothing can be denied.
    verdict = "NOT FOUND SO FAR" if trace.coverage.pending else "NO ANSWER"
    return (
        f"{verdict}: nothing under cosine distance {trace.threshold.value:.3f} "
        f'for "{escape_line(trace.question)}"'
    )


def admitting(distance: float) -> float:
    """The smallest threshold of three decimals that admits this distance."""
    return math.ceil(distance * 1000 - 1e-9) / 1000


def why_refused(distance: float, threshold: float, threshold_from: str) -> str:
    """What would have let the nearest passage pass, and where the threshold comes from, on one line."""
    origin = f" ({threshold_from})" if threshold_from else ""
    return f"a threshold of {admitting(distance):.3f} would admit it; it is {threshold:.3f}{origin}"
