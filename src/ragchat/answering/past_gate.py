"""An answer that was taken though the gate had refused: which sources went past it, and why."""

from __future__ import annotations

from ragchat.answering.escape import escape_line
from ragchat.retrieval.trace import RetrievalTrace

_LONGEST_TERM = 60


def past_gate_line(trace: RetrievalTrace) -> str:
    """`[1] went past the gate by your key: …` on one line; "" where every source is near enough."""
    taken = trace.past_gate
    if not taken:
        return ""
    numbers = ", ".join(f"[{source.number}]" for source in taken)
    far = ", ".join(f"{source.distance:.3f}" for source in taken)
    literal = trace.literal
    ids = {source.chunk_id for source in taken}
    why = (
        f" because “{escape_line(literal.term)[:_LONGEST_TERM]}” stands there word for word"
        if literal is not None and literal.candidate.chunk_id in ids
        else ""
    )
    return (
        f"{numbers} went past the gate: taken by hand{why}, at {far}, "
        f"beyond the threshold of {trace.threshold.value:.3f}"
    )
