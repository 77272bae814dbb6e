"""What the command palette offers, and the dialogs behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SystemCommand
from textual.content import Content

from ragchat import paths
from ragchat.errors import RagchatError
from ragchat.tui.formatting import folder_name, shown
from ragchat.tui.keys import key_for

if TYPE_CHECKING:
    from textual.theme import Theme

    from ragchat.tui.app import RagchatApp


def commands(app: RagchatApp) -> Iterator[SystemCommand]:
    """Every command by name; those that need an open folder only when there is one."""
    yield _command("Open folder", "another folder of notes", lambda: choose_folder(app), "chat.switch_folder")
    yield _command("Theme", "choose one, with a preview", lambda: choose_theme(app), "chat.pick_theme")
    yield _command(
        "Settings", "what each means, and where it comes from", app.chat.action_settings, "chat.settings"
    )
    yield _command("Keys", "those that work here, then all others", app.action_help, "app.help")
    yield _command("Quit", "leave; nothing is lost", lambda: app.exit(0), "app.quit")
    session, chat = app.session, app.chat
    if session is None or not session.is_open:
        return
    yield _command(
        "Model", "choose the model that answers, or get one", lambda: choose_model(app), "chat.pick_model"
    )
    yield _command("Re-index", "read what changed in the folder", app.reindex, "chat.reindex")
    yield _command("Rebuild index", "read every document afresh", lambda: session.index(rebuild=True))
    yield _command("Retry failed documents", "read them again", lambda: session.index(retry=True))
    yield _command("Stop indexing", "what was read stays", session.stop_indexing)
    yield _command("Index", "documents by state, progress", lambda: show_index(app), "chat.show_index")
    yield _command("Why these sources", "all candidates", chat.action_inspect, "chat.inspect")
    yield _command("Threshold", "against your own questions", lambda: calibrate(app), "chat.calibrate")
    yield _command(
        "Conversations", "search, go on, rename, delete", chat.action_conversations, "chat.conversations"
    )
    yield _command(
        "New conversation", "the open one stays", chat.action_new_conversation, "chat.new_conversation"
    )
    yield _command(
        "Export conversation", "as Markdown, into the current folder or your own", lambda: export(app)
    )
    yield _command("Clear conversation", "forget every turn of this one", lambda: clear(app))


def _command(title: str, does: str, run: Callable[[], object], action: str = "") -> SystemCommand:
    """A command, with the key that does the same."""
    return SystemCommand(title, f"{does} ({key_for(action)})" if action else does, run)


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

    choices = [Choice(name, _swatch(app.get_theme(name), name)) for name in app.theme_names]
    note = Content.styled("Your own: themes/NAME.toml in the configuration folder.", "$quiet")
    app.push_screen(PickScreen("Theme", note, choices, current=app.theme, preview=preview), chosen)


def _swatch(theme: Theme | None, name: str) -> Content:
    """A theme's name, some of its colours, and whether it is dark."""
    line = Content(f"{name:<18.18}")
    if theme is None or theme.ansi:
        return Content.assemble(line, (" the terminal's own", "$quiet"))
    colors = (theme.primary, theme.accent, theme.success, theme.error)
    blocks = [("█▌", f"{color} on {theme.background}") for color in colors if color]
    return Content.assemble(line, " ", *blocks, (f"  {'dark' if theme.dark else 'light'}", "$quiet"))


def choose_model(app: RagchatApp) -> None:
    """Choose the model that answers this folder, or get another."""
    from ragchat.tui.screens.models import ModelScreen

    session = app.session
    if session is None or not session.is_open:
        app.say_no_folder()
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
        app.say_no_folder()
        return

    def chosen(name: str | None) -> None:
        if name is not None:
            session.talks.resume(name)

    app.push_screen(ConversationsScreen(session.talks), chosen)


def calibrate(app: RagchatApp) -> None:
    """The threshold against the collected questions."""
    from ragchat.tui.screens.calibration import CalibrationScreen

    session = app.session
    if session is None or not session.is_open:
        app.say_no_folder()
    elif session.indexing:
        app.notify("The notes are still being indexed: try again when they are.", severity="warning")
    else:
        app.push_screen(CalibrationScreen(session))


def show_index(app: RagchatApp) -> None:
    """Every document by its state, what failed and why, how far indexing is."""
    from ragchat.tui.screens.index_view import IndexScreen

    session = app.session
    if session is None or not session.is_open:
        app.notify("The folder is not open yet.", severity="warning")
    else:
        app.push_screen(IndexScreen(session))


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
