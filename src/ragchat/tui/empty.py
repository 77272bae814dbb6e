"""What an empty conversation says: one sentence, one key, one alternative."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from ragchat.tui.formatting import count, folder_name, one_line, shown
from ragchat.tui.keys import key_for

if TYPE_CHECKING:
    from pathlib import Path

    from ragchat.answering.server import ServerHealth
    from ragchat.answering.status import FolderStatus
    from ragchat.errors import RagchatError
    from ragchat.index.progress import IndexProgress, Survey


KINDS = (
    "Markdown, text, HTML, PDF and scanned pages, Word, Excel, PowerPoint, OpenDocument, EPUB, e-mail, "
    "notebooks, subtitles, code"
)
"""What is read, in the words of the README."""


def _demo() -> str:
    return f"or leave with {key_for('app.quit')} and type: ragchat demo"


def opening(folder: Path | None) -> Content:
    """The first moment, or no folder at all."""
    if folder is None:
        return _empty("No folder of notes is open.", (key_for("chat.switch_folder"), "chooses one"), _demo())
    sentence = f"Opening {folder_name(folder)} …"
    return _empty(sentence, (key_for("app.help"), "shows every key"), "You may write your question already.")


def after_failure(error: RagchatError) -> Content:
    """The folder cannot be opened."""
    hint = f"or type: {shown(error.hint)}" if error.hint else _demo()
    return _empty(shown(error.message), (key_for("chat.switch_folder"), "chooses another folder"), hint)


def while_indexing(progress: IndexProgress) -> Content:
    """Notes are being read for the first time."""
    read = max(progress.documents_read, progress.documents_done)
    if read == 0:
        return _empty(
            "Reading your notes for the first time.",
            ("enter", "asks as soon as the first are read"),
            "Nothing leaves this machine.",
        )
    return _empty(
        f"{count(read, 'document')} of {progress.documents_total:,} searched by their words, "
        f"{progress.documents_done:,} by meaning too.",
        ("enter", "asks what is searched so far"),
        "A refusal is asked again by itself when all notes are indexed.",
    )


def when_unreadable(remedy: str) -> Content:
    """The index cannot be opened; the line above says why."""
    key, _, does = remedy.partition(" ")
    return _empty(
        "The index of this folder cannot be read.",
        (key, does),
        f"or open another folder with {key_for('chat.switch_folder')}",
    )


def when_unconfirmed(survey: Survey) -> Content:
    """The user has not agreed yet that this folder be read."""
    return _empty(
        f"Not read yet: {shown(survey.confirm)}",
        (key_for("chat.reindex"), "asks again whether to index it"),
        f"or open another folder with {key_for('chat.switch_folder')}",
    )


def when_ready(status: FolderStatus, health: ServerHealth | None, model: str, *, demo: bool) -> Content:
    """Everything is in place; else what answers instead, and what to start or to choose.

    model: the chosen one, "" for none.
    """
    if status.indexed == 0:
        return _empty(
            f"There are no notes in this folder. Read are {KINDS}.",
            (key_for("chat.switch_folder"), "opens another folder"),
            f"or put notes there and press {key_for('chat.reindex')}",
        )
    if demo:
        ready = _empty(
            f"{count(status.indexed, 'sample note')} ready: a household's papers, recipes, plans.",
            ("enter", "asks; try: When does the lease end?"),
            "and then one they cannot answer: Why is the sky blue?",
        )
    else:
        ready = _empty(
            f"{count(status.indexed, 'document')} ready.",
            ("enter", "asks them anything"),
            f"{key_for('app.commands')} lists every command, {key_for('app.help')} every key",
        )
    return ready + _who_answers(health, model)


def _who_answers(health: ServerHealth | None, model: str) -> Content:
    """Nothing where the chosen model is installed, or the only one."""
    if health is None:
        return Content("")
    able = [each.name for each in health.models if each.chats]
    if not health.reachable or not able:
        return _without_model(health)
    other = (key_for("chat.pick_model"), "bold $accent")
    if not model and len(able) > 1:
        words = f"\n\n{one_line(able[0], 60)} answers: the first of {len(able)} installed, none is chosen. "
        return Content.assemble((words, "$quiet"), other, (" chooses", "$quiet"))
    if model and model not in able and f"{model}:latest" not in able:
        get = (key_for("chat.take_offer"), "bold $accent")
        missing = (f"{one_line(model, 60)} is not installed", "bold")
        return Content.assemble(
            ("\n\n▲ ", "$warning"), missing, "\n  ", get, " gets it, ", other, " shows others"
        )
    return Content("")


def _without_model(health: ServerHealth) -> Content:
    problem = health.problem or f"no model is installed at {health.host}"
    return Content.assemble(
        ("\n\n▲ ", "$warning"),
        (f"{one_line(problem, 200)}", "bold"),
        "\n  Answers are quotations from your notes, word for word, until then.",
        *_next_step(health),
    )


def _next_step(health: ServerHealth) -> list[tuple[str, str]]:
    if health.reachable:
        from ragchat.answering.choice import SUGGESTED_MODEL

        keys = [
            (key_for("chat.take_offer"), "bold $accent"),
            (f" gets {SUGGESTED_MODEL}, ", ""),
            (key_for("chat.pick_model"), "bold $accent"),
        ]
        return [("\n  ", ""), *keys, (" shows others", "")]
    return [("\n  next: ", "$quiet"), (one_line(health.hint, 200), "bold")]


def _empty(sentence: str, key: tuple[str, str], alternative: str) -> Content:
    return Content.assemble(
        (one_line(sentence, 300), "bold"),
        "\n\n",
        (key[0], "bold $accent"),
        f" {key[1]}\n",
        (one_line(alternative, 300), "$quiet"),
    )
