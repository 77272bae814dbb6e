"""The words and glyphs for the state of folder, index and model server; and what an empty screen says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragchat.tui.formatting import folder_name, shown
from ragchat.tui.offers import Offer
from ragchat.tui.widgets.header import State

if TYPE_CHECKING:
    from pathlib import Path

    from ragchat.answering.server import ServerHealth
    from ragchat.answering.status import FolderStatus
    from ragchat.index.progress import IndexProgress, IndexReport


def server_state(health: ServerHealth, model: str) -> State:
    """Whether the model in use can be asked now."""
    if not health.reachable:
        return State("○", "no server: quotations", "quiet")
    chatting = [each.name for each in health.models if each.chats]
    if not chatting:
        return State("▲", "no model: quotations", "busy")
    if model and model not in chatting and f"{model}:latest" not in chatting:
        return State("▲", "not installed", "busy")
    return State("●", "ready", "good")


def answering_model(health: ServerHealth, model: str) -> str:
    """Who answers: the chosen model, else the first that is installed; "" for none."""
    return model or next((each.name for each in health.models if each.chats), "")


def missing_model(health: ServerHealth, model: str) -> Offer | None:
    """To get the model in use where it is not installed, or a first one where none is."""
    from ragchat.answering.choice import SUGGESTED_MODEL

    if not health.reachable:
        return None
    names = [each.name for each in health.models if each.chats]
    wanted = model or ("" if names else SUGGESTED_MODEL)
    if not wanted or wanted in names or f"{wanted}:latest" in names:
        return None
    return Offer("pull", model=wanted)


def index_state(status: FolderStatus) -> State:
    """How the index stands when nothing is going on."""
    if status.stale:
        return State("▲", "stale", "busy")
    if status.notice:
        return State("▲", FOREIGN, "busy")
    if status.library:
        return State("●", "shared", "good")
    if status.failed:
        return State("●", f"fresh, {status.failed:,} failed", "busy")
    return State("●", "fresh", "good") if status.indexed else State("○", "empty", "quiet")


def progress_state(progress: IndexProgress) -> State:
    """How the index stands while it is being made."""
    if progress.phase == "indexing" and progress.documents_total:
        return State(
            "▲" if progress.notice else "◐",
            f"{progress.documents_done:,}/{progress.documents_total:,}",
            "busy",
        )
    return State("◐", progress.phase, "busy")


FOREIGN = "foreign script"
"""The embedder cannot read these notes: it stands in the header for as long as that is so."""
UPDATING = State("◐", "updating", "busy")
"""Notes have changed, and are not in the index yet."""


def report_line(report: IndexReport, *, edits: bool = False) -> str:
    """What indexing did, in one line; "" when it had nothing to do, or no more than a few edits."""
    changes = {
        "added": report.added,
        "updated": report.updated,
        "moved": report.moved,
        "removed": report.removed,
        "failed": len(report.failures),
    }
    parts = [f"{number:,} {word}" for word, number in changes.items() if number]
    if report.warning:
        return shown(report.warning)
    if edits and report.complete and report.added + report.updated + report.removed <= 20:
        return ""
    if not report.complete:
        parts.append("stopped before the end: the rest is pending")
    return f"Indexed in {report.seconds:.1f} s: {', '.join(parts)}." if parts else ""


def nothing_read_yet(folder: Path) -> str:
    """A question came before anything was indexed."""
    return f"nothing of {folder_name(folder)} is read yet: ask again in a moment"
