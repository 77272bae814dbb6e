"""One line below the header while a model is downloaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from ragchat.tui.formatting import bar, megabytes, one_line
from ragchat.tui.keys import key_for

if TYPE_CHECKING:
    from ragchat.tui.model_desk import Pull


def how_far(pull: Pull) -> str:
    """ "48 % of 2.5 GB", or what the server does where nothing is counted."""
    progress = pull.progress
    if progress is None:
        return "asking the server"
    if not progress.total:
        return one_line(progress.status, 60)
    return f"{progress.completed / progress.total:.0%} of {megabytes(progress.total)}"


def pull_bar(pull: Pull, width: int) -> str:
    """How much of it is there."""
    progress = pull.progress
    return bar(progress.completed / progress.total, width) if progress is not None and progress.total else ""


class PullLine(Static):
    """Which model, how far."""

    def show(self, pull: Pull) -> None:
        """It went on."""
        self.update(
            Content.assemble(
                ("⇣ ", "$accent"),
                (f"pulling {one_line(pull.model, 60)} ", "bold"),
                f"{how_far(pull)} ",
                (pull_bar(pull, 16), "$accent"),
                (f"  {key_for('chat.pick_model')}", "$accent"),
                " shows and stops it",
            )
        )
