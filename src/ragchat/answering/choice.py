"""Which model answers, if any: asked for by name, remembered or configured, else one that is installed."""

from __future__ import annotations

from dataclasses import dataclass

from ragchat.answering.server import InstalledModel, ModelServer
from ragchat.errors import BackendError, ModelMissing, ServerUnreachable

SUGGESTED_MODEL = "qwen3:4b"
"""What a user without any model is told to pull: small enough for a laptop, and it cites."""

_MOST_LISTED = 5


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model that can be asked, or None where quotation answers; notice says why, in one line.

    pull: a model that would answer if it were installed.
    """

    model: InstalledModel | None
    notice: str = ""
    pull: str = ""


def choose_model(server: ModelServer, asked: str | None, preferred: str) -> ModelChoice:
    """The model that answers one question.

    asked: by name for this question; preferred: remembered or configured, "" for neither.
    Raises ModelMissing when the model that was asked for by name cannot be asked.
    """
    if not (name := asked or preferred):
        return _installed(server)
    try:
        model = server.describe(name)
        if not model.chats:
            raise _missing(f"{name} cannot chat: it only embeds")
    except BackendError as failure:
        if asked and isinstance(failure, ModelMissing):
            raise
        return quoting_instead(failure)
    return ModelChoice(model)


def _why_quoted(failure: BackendError) -> str:
    remedy = "start it with" if isinstance(failure, ServerUnreachable) else "get it with"
    hint = f"; {remedy}: {failure.hint}" if failure.hint else ""
    return f"{failure.message}, so the notes are quoted{hint}"


def _missing(message: str) -> ModelMissing:
    return ModelMissing(message, hint=f"ragchat pull {SUGGESTED_MODEL}", pull=SUGGESTED_MODEL)


def quoting_instead(failure: BackendError) -> ModelChoice:
    """No model, because of this; the command that changes it stands in the notice."""
    pull = failure.pull if isinstance(failure, ModelMissing) else ""
    return ModelChoice(None, _why_quoted(failure), pull)


def _installed(server: ModelServer) -> ModelChoice:
    health = server.health()
    if not health.reachable:
        return quoting_instead(ServerUnreachable(health.problem, hint=health.hint))
    able = [model for model in health.models if model.chats]
    if not able:
        return quoting_instead(_missing("no model is installed"))
    more = [model.name for model in able[1 : _MOST_LISTED + 1]]
    try:
        first = server.describe(able[0].name)
    except BackendError as failure:
        return quoting_instead(failure)
    if not more:
        return ModelChoice(first)  # there is nothing to choose
    others = f" (also installed: {', '.join(more)}{', …' if len(able) > _MOST_LISTED + 1 else ''})"
    return ModelChoice(first, f"no model is chosen, so {first.name} answered{others}; choose with --model")
