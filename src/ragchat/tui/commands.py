"""What the command palette offers, and the dialogs behind it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import suppress
from inspect import isawaitable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from ragchat import paths
from ragchat.errors import RagchatError
from ragchat.tui.formatting import shown

if TYPE_CHECKING:
    from textual.theme import Theme

    from ragchat.tui.app import RagchatApp
    from ragchat.tui.jumping import Place
    from ragchat.tui.palette_items import Item
    from ragchat.tui.session import Session


class Command(NamedTuple):
    """action: the key that does the same, "" for none."""

    title: str
    does: str
    run: Callable[[], object]
    action: str = ""


def commands(app: RagchatApp) -> Iterator[Command]:
    """Every command, those first that are used most; what cannot be taken back is last."""
    session, chat = app.session, app.chat
    if session is not None and session.is_open:
        yield from _of_the_folder(app, session)
    yield Command("Open folder", "another folder of notes", chat.action_switch_folder, "chat.switch_folder")
    yield Command("Theme", "choose one, with a preview", chat.action_pick_theme, "chat.pick_theme")
    yield Command("Settings", "each with its meaning and origin", chat.action_settings, "chat.settings")
    yield Command("Keys", "those that work here, then all others", app.action_help, "app.help")
    yield Command("Quit", "leave; nothing is lost", lambda: app.exit(0), "app.quit")
    if session is not None and session.is_open:
        yield Command("Rebuild index", "read every document afresh", lambda: session.index(rebuild=True))
        yield Command("Clear conversation", "forget every turn of this one", lambda: clear(app))


def _of_the_folder(app: RagchatApp, session: Session) -> Iterator[Command]:
    chat = app.chat
    yield Command("Why these sources", "all candidates", chat.action_inspect, "chat.inspect")
    yield Command("Conversations", "search, go on, rename", chat.action_conversations, "chat.conversations")
    yield Command(
        "New conversation", "the open one stays", chat.action_new_conversation, "chat.new_conversation"
    )
    yield Command("Copy answer", "the last one", chat.action_copy_answer, "chat.copy_answer")
    yield Command("Follow up", "with the question before", chat.follow_up, "prompt.follow_up")
    yield Command("Take the offer", "as offered under the turn", chat.action_take_offer, "chat.take_offer")
    yield Command("Stop the answer", "what came stays", session.questions.stop)
    yield Command("Sources", "show or hide them", chat.action_toggle_sources, "chat.toggle_sources")
    yield Command("Zoom", "the focused pane over the whole screen", chat.action_zoom, "chat.zoom")
    yield Command("Thinking", "show or hide the model's", chat.action_show_thinking, "chat.show_thinking")
    yield Command("Model", "choose who answers, or get one", chat.action_pick_model, "chat.pick_model")
    yield Command("Threshold", "against your own questions", chat.action_calibrate, "chat.calibrate")
    yield Command("Index", "documents by state, what failed", chat.action_show_index, "chat.show_index")
    yield Command("Re-index", "read what changed in the folder", app.reindex, "chat.reindex")
    yield Command("Retry failed documents", "read them again", lambda: session.index(retry=True))
    yield Command("Stop indexing", "what was read stays", session.stop_indexing)
    yield Command("Export conversation", "as Markdown, never among the notes", lambda: export(app))
    yield Command("Jump", "a letter on each place that can be gone to", app.action_jump, "app.jump")


def jump(app: RagchatApp) -> None:
    """Go to a place on the screen by its letter."""
    from ragchat.tui.jumping import letters, places
    from ragchat.tui.screens.jump import JumpScreen

    async def chosen(place: Place | None) -> None:
        if place is not None and isawaitable(done := place.go()):
            await done

    if not isinstance(app.screen, JumpScreen):
        app.push_screen(JumpScreen(letters(places(app, app.screen))), chosen)


def show_palette(app: RagchatApp) -> None:
    """Find anything by its name."""
    from ragchat.tui.screens.palette import PaletteScreen

    async def chosen(item: Item | None) -> None:
        if item is not None and isawaitable(done := item.run()):
            await done

    app.push_screen(PaletteScreen(), chosen)


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
    if app.no_color:
        app.notify("NO_COLOR is set: every theme would look the same.", severity="warning")
        return
    from ragchat.tui.screens.pick import Choice, PickScreen

    def preview(name: str) -> None:
        app.theme = name

    def chosen(name: str | None) -> None:
        if name is not None:
            take_theme(app, name)

    choices = [Choice(name, _swatch(app.get_theme(name), name)) for name in app.theme_names]
    note = Content.styled("Your own: themes/NAME.toml in the configuration folder.", "$quiet")
    app.push_screen(PickScreen("Theme", note, choices, current=app.theme, preview=preview), chosen)


def take_theme(app: RagchatApp, name: str) -> None:
    """Put it on, and write it into the settings file: it is what `config` and F9 tell from now on."""
    from ragchat.errors import RagchatError
    from ragchat.tui import changing

    app.theme = name
    fixed = changing.origin_of(app.settings, "screen.theme", demo=app.demo)
    if fixed not in ("default", "file"):
        text = f"{name} is on until you leave: {fixed} names {app.settings.screen.theme}."
        app.notify(shown(text), markup=False)
        return
    try:
        app.settings = changing.changed(app.settings, "screen.theme", name)
    except RagchatError as error:
        text = f"{name} is on until you leave, and is not kept: {error.message}"
        app.notify(shown(text), severity="warning", markup=False)


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
        if not session.talks.current.turns():
            app.notify("There is no turn to export yet.", severity="warning")
            return
        text = session.talks.current.export_markdown(session.folder)
        stem = f"ragchat-{session.folder.resolve().name or 'notes'}"
        path = _write_anew(_outside(session.folder), stem, text)
    except (RagchatError, OSError) as error:
        app.notify(f"Not exported: {shown(str(error))}", severity="error", markup=False)
    else:
        app.notify(f"Exported to {shown(str(path.absolute()))}", markup=False, timeout=10)


def _outside(notes: Path) -> Path:
    """The current folder, else the user's own: an export among the notes would be cited as one of them."""
    wanted = (Path.cwd(), Path.home())
    outside = (folder for folder in wanted if not folder.resolve().is_relative_to(notes.resolve()))
    return next(outside, paths.data_dir())


def _write_anew(folder: Path, stem: str, text: str) -> Path:
    """To `stem.md`, else to `stem-2.md`, …: never over a file or through a link that is there."""
    for number in itertools.count(1):
        path = folder / (f"{stem}.md" if number == 1 else f"{stem}-{number}.md")
        with suppress(FileExistsError), path.open("x", encoding="utf-8") as file:
            file.write(text)
            return path
    raise AssertionError


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
