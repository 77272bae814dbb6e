"""The receipt under an answer: what was sent, to which model, and whether it was read whole."""

from __future__ import annotations

from ragchat.answering.escape import escape_line
from ragchat.answering.events import Answer, Context

_DIGEST_SHOWN = 12
"""As `ollama list` shows it."""


def receipt_line(answer: Answer) -> str:
    """One line for under an answer that a model gave, stopped giving or failed to give; "" for any other.

    `4 sources · 612 of 16,384 tokens · qwen3:4b 3b8e3da71929 · temperature 0 · seed 0`
    """
    if answer.context is None:
        return ""
    return " · ".join(
        part
        for part in (
            _sources(answer.context),
            _tokens(answer.context),
            _model(answer.context),
            _sampling(answer.context),
            _thinking(answer),
        )
        if part
    )


def _sources(context: Context) -> str:
    dropped = f" ({context.dropped} did not fit)" if context.dropped else ""
    return f"{context.sources} source{'' if context.sources == 1 else 's'}{dropped}"


def _tokens(context: Context) -> str:
    if context.prompt_tokens is None or context.num_ctx is None:
        return ""
    about = "" if context.counted else "about "
    cut = ", CUT by the server" if context.truncated else ""
    return f"{about}{context.prompt_tokens:,} of {context.num_ctx:,} tokens{cut}"


def _model(context: Context) -> str:
    digest = context.digest.removeprefix("sha256:")[:_DIGEST_SHOWN]
    return " ".join(filter(None, (escape_line(context.model), digest)))


def _sampling(context: Context) -> str:
    if context.temperature is None or context.seed is None:
        return ""
    return f"temperature {context.temperature:g} · seed {context.seed}"


def _thinking(answer: Answer) -> str:
    thought = answer.timings_ms.get("thinking")
    return "" if thought is None else f"thought for {thought / 1000.0:.1f} s"
