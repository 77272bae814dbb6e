"""What the command palette finds: actions, settings, themes, models, conversations, documents, sections."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ragchat.tui.formatting import one_line
from ragchat.tui.keys import key_for

if TYPE_CHECKING:
    from ragchat.tui.app import RagchatApp
    from ragchat.tui.session import Session


class Item(NamedTuple):
    """One row. kind: the word that also finds it. detail: what is said beside the name."""

    kind: str
    name: str
    detail: str
    run: Callable[[], object]
    key: str = ""

    @property
    def sought(self) -> str:
        """What the typed words are looked for in: a name counts more than what stands far behind it."""
        return f"{self.name}{'':60}{self.detail} {self.kind}".casefold()


def at_hand(app: RagchatApp) -> Iterator[Item]:
    """What can be listed without a thread: actions in the order of their use, themes, settings."""
    from ragchat.settings_schema import setting_rows
    from ragchat.tui.commands import commands, take_theme

    for command in commands(app):
        key = key_for(command.action) if command.action else ""
        yield Item("action", command.title, command.does, command.run, key)
    for name in app.theme_names:
        theme = app.get_theme(name)
        look = "" if theme is None or theme.ansi else "dark" if theme.dark else "light"
        yield Item("theme", name, look, partial(take_theme, app, name))
    for row in setting_rows():
        yield Item("setting", row.name, row.meaning, partial(app.chat.action_settings, row.name))


def looked_up(app: RagchatApp, session: Session) -> Iterator[Item]:
    """What the folder holds; reads the index and asks the server, so it is run in a thread."""
    workspace = session.workspace
    for summary in workspace.conversations().summaries():
        yield Item(
            "conversation",
            one_line(summary.title, 120),
            f"{summary.turns} · {summary.used_at:%Y-%m-%d}",
            partial(session.talks.resume, summary.id),
        )
    index = workspace.index()
    for name, source in sorted(index.sources().items()):
        if source.state != "failed":
            yield Item("document", one_line(name, 200), "", partial(open_place, app, name))
    for heading in index.sections():
        if heading.section:
            yield Item(
                "section",
                one_line(" > ".join(heading.section), 200),
                one_line(heading.document, 100),
                partial(open_place, app, *heading),
            )


def of_models(session: Session) -> Iterator[Item]:
    """The models that are installed; nothing where no server answers."""
    from ragchat.errors import RagchatError

    try:
        entries = session.workspace.models()
    except RagchatError:
        return
    for entry in entries:
        if not entry.installed:
            continue
        yield Item(
            "model", one_line(entry.model.name, 120), "", partial(session.models.choose, entry.model.name)
        )


def open_place(
    app: RagchatApp, document: str, section: tuple[str, ...] = (), start: int = 0, end: int = 0, line: int = 1
) -> None:
    """Open a document in the viewer, as a source that no answer has: it has no number and no distance."""
    from ragchat.answering.turn import TurnSource

    place = TurnSource(
        number=0,
        document=document,
        section=" > ".join(section),
        start=start,
        end=end,
        first_line=line,
        last_line=line,
        locator="",
        distance=math.nan,
        quote="",
        cited=False,
    )
    app.view_sources([place], 0)
