"""The models a person can choose from: those installed, and a few worth pulling."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ragchat.answering.choice import SUGGESTED_MODEL
from ragchat.answering.ollama import OllamaServer, tagged
from ragchat.answering.server import InstalledModel
from ragchat.errors import BackendError, ModelMissing

_GB = 1_000_000_000
WORTH_PULLING = (
    InstalledModel(SUGGESTED_MODEL, round(2.5 * _GB), "", thinks=True),
    InstalledModel("gemma3:4b", round(3.3 * _GB), ""),
    InstalledModel("llama3.2:3b", round(2.0 * _GB), ""),
    InstalledModel("qwen3:1.7b", round(1.4 * _GB), "", thinks=True),
)
"""Small enough for a laptop; sizes are of the download, roughly. Their contexts are known once installed."""


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """One line of a picker. chosen: it answers this folder's questions.

    model: its size in bytes, context in tokens (0 unknown) and whether it thinks.
    """

    model: InstalledModel
    installed: bool
    chosen: bool


def list_models(server: OllamaServer, chosen: str) -> tuple[ModelEntry, ...]:
    """Models that can chat: installed ones first, as the server itself describes each, then others.

    A chosen model that is not installed is listed too. One quick request for each installed model the first
    time. Raises ServerUnreachable.
    """
    health = server.health()
    if not health.reachable:
        server.describe(chosen or SUGGESTED_MODEL)  # raises what is wrong
    installed = {model.name: _described(server, model) for model in health.models if model.chats}
    wanted = tagged(chosen) if chosen else ""
    entries = [
        ModelEntry(model, installed=True, chosen=name == wanted)
        for name, model in installed.items()
        if model.chats
    ]
    others = {model.name: model for model in WORTH_PULLING}
    if wanted and wanted not in installed:
        others = {wanted: others.get(wanted) or InstalledModel(wanted, 0, ""), **others}
    entries += [
        ModelEntry(model, installed=False, chosen=name == wanted)
        for name, model in others.items()
        if name not in {listed.name for listed in health.models}
    ]
    return tuple(entries)


def _described(server: OllamaServer, listed: InstalledModel) -> InstalledModel:
    """The list's capabilities can be wrong, and older servers give no context there."""
    try:
        described = server.describe(listed.name)
    except (BackendError, ModelMissing):
        return listed
    return replace(described, context=described.context or listed.context) if described.digest else listed
