"""The words and glyphs for the state of folder, index and model server; and what an empty screen says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from ragchat.tui.formatting import count, folder_name, one_line, shown
from ragchat.tui.widgets.header import State

if TYPE_CHECKING:
    from pathlib import Path

    from ragchat.answering.server import ServerHealth
    from ragchat.answering.status import FolderStatus
    from ragchat.errors import RagchatError
    from ragchat.index.progress import IndexProgress, IndexReport, Survey


def server_state(health: ServerHealth, model: str) -> State:
    """Whether the model in use can be asked now."""
    if not health.reachable:
        return State("○", "no server: quotations", "quiet")
    chatting = [each.name for each in health.models if each.chats]
    if not chatting:
        return State("▲", "no model: quotations", "busy")
    if model and model not in chatting and f"{model}:latest" not in chatting:
        return State("▲", "not installed", "busy")
    where = "" if health.loopback else " · notes leave this machine"
    if not model:
        return State("●", f"{count(len(chatting), 'model')}: ^l picks{where}", "good")
    return State("●", f"ready{where}", "good" if health.loopback else "busy")


def index_state(status: FolderStatus) -> State:
    """How the index stands when nothing is going on."""
    if status.stale:
        return State("▲", "stale", "busy")
    if status.failed:
        return State("●", f"fresh, {status.failed:,} failed", "busy")
    return State("●", "fresh", "good") if status.indexed else State("○", "empty", "quiet")


def progress_state(progress: IndexProgress) -> State:
    """How the index stands while it is being made."""
    if progress.phase == "indexing" and progress.documents_total:
        return State("◐", f"{progress.documents_done:,}/{progress.documents_total:,}", "busy")
    return State("◐", progress.phase, "busy")


def report_line(report: IndexReport) -> str:
    """What indexing did, in one line; "" when it had nothing to do."""
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
    if not report.complete:
        parts.append("stopped before the end: the rest is pending")
    return f"Indexed in {report.seconds:.1f} s: {', '.join(parts)}." if parts else ""


def empty_without_folder() -> Content:
    """No folder was named."""
    return _empty(
        "No folder of notes is open.",
        ("ctrl+o", "chooses one"),
        "or leave with ctrl+q and type: ragchat demo",
    )


def empty_after_failure(error: RagchatError) -> Content:
    """The folder cannot be opened."""
    hint = f"or type: {shown(error.hint)}" if error.hint else "or leave with ctrl+q and type: ragchat demo"
    return _empty(shown(error.message), ("ctrl+o", "chooses another folder"), hint)


def empty_while_opening(folder: Path) -> Content:
    """The first moment."""
    return _empty(
        f"Opening {folder_name(folder)} …", ("F1", "shows every key"), "You may write your question already."
    )


def empty_while_indexing(progress: IndexProgress) -> Content:
    """Notes are being read for the first time."""
    done = progress.documents_done
    if progress.chunks_embedded + progress.chunks_reused == 0:
        return _empty(
            "Reading your notes for the first time.",
            ("enter", "asks as soon as the first are read"),
            "Nothing leaves this machine.",
        )
    return _empty(
        f"{count(done, 'document')} of {progress.documents_total:,} read so far.",
        ("enter", "asks those that are read"),
        "Ask again later for the others.",
    )


def empty_when_unconfirmed(survey: Survey) -> Content:
    """The user has not agreed yet that this folder be read."""
    return _empty(
        f"Not read yet: {shown(survey.confirm)}",
        ("ctrl+r", "asks again whether to index it"),
        "or open another folder with ctrl+o",
    )


def empty_when_ready(status: FolderStatus, health: ServerHealth | None, *, demo: bool) -> Content:
    """Everything is in place; without a model server, what answers instead and what to start."""
    if status.indexed == 0:
        return _empty(
            "There are no notes in this folder: Markdown, text and HTML are read.",
            ("ctrl+o", "opens another folder"),
            "or put notes there and press ctrl+r",
        )
    if demo:
        ready = _empty(
            f"{count(status.indexed, 'sample note')} ready: a small household's papers.",
            ("enter", "asks; try a question about them"),
            "and then one they cannot answer: Why is the sky blue?",
        )
    else:
        ready = _empty(
            f"{count(status.indexed, 'document')} ready.",
            ("enter", "asks them anything"),
            "ctrl+p lists every command, F1 every key",
        )
    return ready + _without_model(health)


def _without_model(health: ServerHealth | None) -> Content:
    if health is None or (health.reachable and any(model.chats for model in health.models)):
        return Content("")
    problem = health.problem or f"no model is installed at {health.host}"
    hint = health.hint or "ollama pull qwen3:4b"
    return Content.assemble(
        ("\n\n▲ ", "$warning"),
        (f"{one_line(problem, 200)}", "bold"),
        "\n  Answers are quotations from your notes, word for word, until then.",
        ("\n  next: ", "$quiet"),
        (one_line(hint, 200), "bold"),
    )


def nothing_read_yet(folder: Path) -> str:
    """A question came before anything was indexed."""
    return f"nothing of {folder_name(folder)} is read yet: ask again in a moment"


def _empty(sentence: str, key: tuple[str, str], alternative: str) -> Content:
    return Content.assemble(
        (one_line(sentence, 300), "bold"),
        "\n\n",
        (key[0], "bold $accent"),
        f" {key[1]}\n",
        (one_line(alternative, 300), "$quiet"),
    )
