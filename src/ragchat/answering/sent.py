"""What became of one request that was sent to a model, in a line."""

from __future__ import annotations

from ragchat.answering.events import SentRequest
from ragchat.answering.generation import Generation
from ragchat.answering.request import Request
from ragchat.answering.server import PromptTooLong


def sent_request(request: Request, generation: Generation, host: str) -> SentRequest:
    """The request as it was sent to `host`, with what came of it."""
    return SentRequest(
        address=f"{host}/api/chat",
        model=request.model.name,
        messages=request.prompt.messages,
        options=request.options,
        think=request.think,
        outcome=_outcome(request, generation),
    )


def _outcome(request: Request, generation: Generation) -> str:
    failure = generation.failure
    if isinstance(failure, PromptTooLong):
        window = f" of {failure.window:,}" if failure.window else ""
        return f"not read: its {failure.tokens:,} tokens are more than the window{window} has room for"
    if failure is not None:
        return failure.message
    if generation.last is None:
        return "stopped by you"
    context = generation.context(request)
    about = "" if context.counted else "about "
    cut = ", CUT by the server" if context.truncated else ""
    written = f", {context.answer_tokens:,} written" if context.answer_tokens is not None else ""
    return f"{about}{context.prompt_tokens or 0:,} tokens read{cut}{written}"
