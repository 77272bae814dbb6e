"""What `doctor` finds out about the model server and the model that would answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ragchat.answering.choice import SUGGESTED_MODEL
from ragchat.answering.models import ModelEntry
from ragchat.answering.server import InstalledModel, ServerHealth
from ragchat.answering.workspace import Workspace
from ragchat.errors import RagchatError

State = Literal["ok", "note", "broken"]

_THINK_SINCE = (0, 9)
"""The first release that takes `think`; an older one mixes a model's reasoning into its answer."""


@dataclass(frozen=True, slots=True)
class Check:
    """One finding. note: ragchat works without it. remedy: the next thing to do, or ""."""

    name: str
    state: State
    finding: str
    remedy: str = ""


def model_checks(workspace: Workspace) -> Iterator[Check]:
    """The server with its version, the model with its window; asks no model anything."""
    health = workspace.server_health()
    yield _server(health)
    if not health.reachable:
        return
    yield _version(health)
    try:
        entries = workspace.models()
    except RagchatError as error:  # it has gone away since
        yield Check("model", "note", error.message, error.hint)
        return
    yield from _model(entries, workspace.model(), workspace.settings.ollama.context_tokens)


def _server(health: ServerHealth) -> Check:
    if not health.reachable:
        finding = f"{health.problem}; answers are quoted from the notes until it is there"
        return Check("model server", "note", finding, health.hint)
    if not health.loopback:
        finding = f"{health.host}; your questions and passages LEAVE THIS MACHINE"
        return Check("model server", "note", finding, "ragchat config set ollama.host http://127.0.0.1:11434")
    return Check("model server", "ok", health.host)


def _version(health: ServerHealth) -> Check:
    numbers = re.match(r"(\d+)\.(\d+)", health.version)
    if numbers is None:
        return Check("server version", "note", "unknown", "is it Ollama that answers there?")
    if (int(numbers[1]), int(numbers[2])) < _THINK_SINCE:
        finding = f"{health.version} is older than 0.9: it cannot keep a model's thinking apart"
        return Check("server version", "note", finding, "update Ollama: https://ollama.com/download")
    return Check("server version", "ok", health.version)


def _model(entries: tuple[ModelEntry, ...], wanted: str, window: int) -> Iterator[Check]:
    installed = [entry.model for entry in entries if entry.installed]
    chosen = [entry for entry in entries if entry.chosen]
    if not installed:
        pull = f"ragchat pull {wanted or SUGGESTED_MODEL}"
        yield Check("model", "note", "none that answers is installed", pull)
    elif chosen and not chosen[0].installed:
        others = ", ".join(model.name for model in installed)
        yield Check("model", "note", f"{wanted} is not installed; {others} is", f"ragchat pull {wanted}")
    elif not chosen and wanted:
        remedy = f"ragchat config set ollama.model {installed[0].name}"
        yield Check("model", "note", f"{wanted} cannot answer: it only embeds", remedy)
    else:
        model = chosen[0].model if chosen else installed[0]
        names = ", ".join(each.name for each in installed if each != model)
        how = "thinks before it answers" if model.thinks else "answers at once"
        more = f"; also installed: {names}" if names else ""
        yield Check("model", "ok", f"{model.name}, {how}{more}")
        yield _window(model, window)


def _window(model: InstalledModel, wanted: int) -> Check:
    name = "model's window"
    if not model.context:
        return Check(
            name, "note", f"unknown: {wanted:,} tokens are asked for", "another model, if answers fail"
        )
    if model.context < wanted:
        finding = f"{model.context:,} tokens, fewer than the {wanted:,} of ollama.context_tokens"
        return Check(name, "note", f"{finding}: fewer sources fit", "choose a model with a larger window")
    used = f"of which {wanted:,} are used (ollama.context_tokens)"
    return Check(name, "ok", f"{model.context:,} tokens, {used}")
