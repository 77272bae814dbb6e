"""What the command palette offers, and the dialogs behind it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SystemCommand
from textual.content import Content

from ragchat import paths
from ragchat.errors import RagchatError
from ragchat.tui.formatting import folder_name, shown

if TYPE_CHECKING:
    from ragchat.tui.app import RagchatApp


def commands(app: RagchatApp) -> Iterator[SystemCommand]:
    """Every command by name; those that need an open folder only when there is one."""
    yield SystemCommand("Open folder", "another folder of notes (ctrl+o)", lambda: choose_folder(app))
    yield SystemCommand("Theme", "choose one, with a preview (ctrl+t)", lambda: choose_theme(app))
    yield SystemCommand("Keys", "every key on one page (F1)", app.chat.action_help)
    yield SystemCommand("Quit", "leave; nothing is lost (ctrl+q)", lambda: app.exit(0))
    session = app.session
    if session is None or not session.is_open:
        return
    yield SystemCommand(
        "Model", "choose the model that answers, or get one (ctrl+l)", lambda: choose_model(app)
    )
    yield SystemCommand("Re-index", "read what changed in the folder (ctrl+r)", app.reindex)
    yield SystemCommand("Rebuild index", "read every document afresh", lambda: session.index(rebuild=True))
    yield SystemCommand("Retry failed documents", "read them again", lambda: session.index(retry=True))
    yield SystemCommand("Stop indexing", "what was read stays", session.stop_indexing)
    yield SystemCommand("Failed documents", "which, and why (F3)", lambda: show_failures(app))
    yield SystemCommand("Why these sources", "all candidates (ctrl+e)", app.chat.action_inspect)
    yield SystemCommand("Conversations", "search, go on, rename, delete (F5)", app.chat.action_conversations)
    yield SystemCommand("New conversation", "the open one stays (ctrl+n)", app.chat.action_new_conversation)
    yield SystemCommand(
        "Export conversation", "as Markdown, into the current folder or your own", lambda: export(app)
    )
    yield SystemCommand("Clear conversation", "forget every turn of this one", lambda: clear(app))


def choose_folder(app: RagchatApp) -> None:
    """Ask for a folder and open it."""
    from ragchat.tui.recent import recent_folders
    from ragchat.tui.screens.folder import FolderScreen

    async def chosen(folder: Path | None) -> None:
        if folder is not None:
            await app.open_folder(folder)

    app.push_screen(FolderScreen(recent_folders(), app.folder), chosen)


def choose_theme(app: RagchatApp) -> None:
    """Choose among ours, previewed as the cursor moves."""
    from ragchat.tui.recent import remember_theme
    from ragchat.tui.screens.pick import Choice, PickScreen

    def preview(name: str) -> None:
        app.theme = name

    def chosen(name: str | None) -> None:
        if name is None:
            return
        remember_theme(name)
        if app.theme_is_set:
            text = f"{name} is on until you leave: the settings name {app.settings.screen.theme}."
            app.notify(shown(text), markup=False)

    choices = [Choice(name, Content(name)) for name in app.theme_names]
    note = Content.styled("Your own go into the configuration folder, themes/NAME.toml.", "$quiet")
    app.push_screen(PickScreen("Theme", note, choices, current=app.theme, preview=preview), chosen)


def choose_model(app: RagchatApp) -> None:
    """Choose the model that answers this folder, or get another."""
    from ragchat.tui.screens.models import ModelScreen

    session = app.session
    if session is None or not session.is_open:
        app.notify("No folder is open yet: ctrl+o chooses one.", severity="warning")
        return

    def chosen(name: str | None) -> None:
        if name is not None:
            session.models.choose(name)

    app.push_screen(ModelScreen(session.models), chosen)


def show_conversations(app: RagchatApp) -> None:
    """Search the conversations of the folder and go on with one."""
    from ragchat.tui.screens.conversations import ConversationsScreen

    session = app.session
    if session is None or not session.is_open:
        app.notify("No folder is open yet: ctrl+o chooses one.", severity="warning")
        return

    def chosen(name: str | None) -> None:
        if name is not None:
            session.talks.resume(name)

    app.push_screen(ConversationsScreen(session.talks), chosen)


def show_failures(app: RagchatApp) -> None:
    """Which documents could not be read, and why."""
    from ragchat.tui.screens.failures import FailuresScreen

    if app.feed.status is None:
        app.notify("The folder is not open yet.", severity="warning")
    else:
        app.push_screen(FailuresScreen(app.feed.status))


def export(app: RagchatApp) -> None:
    """Write the conversation as Markdown, never over another file and never among the notes."""
    session = app.session
    assert session is not None
    try:
        text = session.talks.current.export_markdown(session.folder)
        path = _free_name(_outside(session.folder), f"ragchat-{session.folder.resolve().name or 'notes'}")
        path.write_text(text, encoding="utf-8")
    except (RagchatError, OSError) as error:
        app.notify(f"Not exported: {shown(str(error))}", severity="error", markup=False)
    else:
        app.notify(f"Exported to {folder_name(path)}", markup=False, timeout=10)


def _outside(notes: Path) -> Path:
    """The current folder, else the user's own: an export among the notes would be cited as one of them."""
    wanted = (Path.cwd(), Path.home())
    outside = (folder for folder in wanted if not folder.resolve().is_relative_to(notes.resolve()))
    return next(outside, paths.data_dir())


def _free_name(folder: Path, stem: str) -> Path:
    """`stem.md`, else `stem-2.md`, …"""
    path, number = folder / f"{stem}.md", 1
    while path.exists():
        number += 1
        path = folder / f"{stem}-{number}.md"
    return path


def clear(app: RagchatApp) -> None:
    """Forget every turn, after asking."""
    from ragchat.tui.screens.confirm import ConfirmScreen

    session = app.session
    assert session is not None
    body = Content("Every question and answer of this conversation is forgotten. The notes stay as they are.")

    async def answered(yes: bool | None) -> None:
        if yes:
            session.talks.current.clear()
            await app.chat.conversation.clear()
            await app.chat.sources.show(None)

    app.push_screen(ConfirmScreen("Clear the conversation?", body), answered)
