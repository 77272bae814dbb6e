"""Every key of every screen in one place: bindings, help, footer and the keymap are all made from it.

Each binding of a list gets an id, `place.action` (`viewer.next_source`), by which the settings file names it.
Keys that work while the prompt has the focus are modified ones; plain letters and digits belong to panes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from textual.binding import Binding, BindingType

_SHORT = {"pop_screen": "back", "cancel": "back", "command_palette": "commands"}

DEFAULTS: dict[str, str] = {}
"""The keys of every action that can be given others: id -> "key,key"."""
_changed: dict[str, str] = {}
"""What the settings file says otherwise. One screen a process, so one keymap."""


def named(place: str, *bindings: BindingType) -> list[BindingType]:
    """The bindings with their ids. Those of one action share an id; what has an argument keeps its own."""
    found: list[BindingType] = []
    for binding in bindings:
        assert isinstance(binding, Binding)
        name = binding.action.rpartition(".")[2]
        each = binding if "(" in name else replace(binding, id=f"{place}.{_SHORT.get(name, name)}")
        if each.id is not None:
            before = DEFAULTS.get(each.id, "")
            DEFAULTS[each.id] = each.key if not before or before == each.key else f"{before},{each.key}"
        found.append(each)
    return found


def _everywhere(key: str, action: str, description: str, tooltip: str) -> Binding:
    """A key that also works while the prompt has the focus."""
    return Binding(key, action, description, tooltip=tooltip, priority=True)


def _hidden(key: str, action: str, description: str, tooltip: str) -> Binding:
    """A key that the help lists and the footer has no room for."""
    return Binding(key, action, description, tooltip=tooltip, priority=True, show=False)


def _digits(prefix: str, *, priority: bool) -> list[BindingType]:
    """1 to 9 open a source; the footer and the help show the nine as one."""
    tooltip = "open the source of that number"
    first = Binding(
        f"{prefix}1",
        "screen.open_source(1)",
        "Source",
        tooltip=tooltip,
        key_display=f"{prefix}1-9",
        priority=priority,
    )
    rest = [
        Binding(f"{prefix}{digit}", f"screen.open_source({digit})", "", show=False, priority=priority)
        for digit in range(2, 10)
    ]
    return [first, *rest]


_BACK: list[BindingType] = [
    Binding("escape", "app.pop_screen", "Back", tooltip="back"),
    Binding("q", "app.pop_screen", "", show=False),
]
"""Two bindings, because of one with two keys each would stand in the footer."""

_LIST_MOVES: list[BindingType] = [
    Binding("up", "up", "", show=False),
    Binding("down", "down", "", show=False),
    Binding("home", "first", "", show=False),
    Binding("end", "last", "", show=False),
    Binding("pageup", "page(-1)", "", show=False),
    Binding("pagedown", "page(1)", "", show=False),
]
"""Of a list that is our own widget; the letters for them are everybody's."""


def _move(keys: str, to: str, tooltip: str) -> Binding:
    """A letter for a key of every list and text; the focused pane's own keys come first."""
    return Binding(keys, f"app.move({to!r})", "", show=False, tooltip=tooltip, id=f"move.{to}")


MOVES = named(
    "move",
    _move("j", "down", "down, as ↓"),
    _move("k", "up", "up, as ↑"),
    _move("g", "home", "to the beginning"),
    _move("G", "end", "to the end"),
    _move("ctrl+d", "pagedown", "a page down"),
    _move("ctrl+u", "pageup", "a page up"),
)

CHAT = named(
    "chat",
    *_digits("alt+", priority=True),
    _everywhere("ctrl+e", "inspect", "Why these", "why these: all candidates, ranks, verdicts"),
    _everywhere("ctrl+y", "copy_answer", "Copy", "copy the last answer"),
    _everywhere("ctrl+g", "take_offer", "As offered", "take what is offered under the turn"),
    _hidden("ctrl+c", "interrupt", "Stop", "copy what is marked; else stop the answer"),
    _everywhere("ctrl+o", "switch_folder", "Folder", "open another folder of notes"),
    _hidden("ctrl+l", "pick_model", "Model", "choose the model that answers, or get one"),
    _hidden("f5", "conversations", "Conversations", "all conversations: search, go on, rename"),
    _hidden("ctrl+n", "new_conversation", "New", "begin a new conversation"),
    _hidden("f4", "show_thinking", "Thinking", "show or hide the model's thinking"),
    _hidden("ctrl+r", "reindex", "Re-index", "read what changed; rebuild what is stale"),
    _hidden("f9", "settings", "Settings", "every setting: what it means, where it comes from"),
    _hidden("ctrl+t", "pick_theme", "Theme", "choose a theme, with a preview"),
    _everywhere("f2", "toggle_sources", "Sources", "show or hide the sources"),
    _everywhere("f3", "show_index", "Index", "the index: documents by state, what failed and why, progress"),
    _hidden("f6", "calibrate", "Threshold", "the threshold against the questions you collected"),
    _hidden("escape", "leave", "Stop", "stop; go back; twice in the prompt: quit"),
)

PANE = named(
    "pane",
    *_digits("", priority=False),
    Binding("i", "screen.inspect", "Why these", tooltip="why these: all candidates, ranks, verdicts"),
    Binding("slash", "screen.focus_prompt", "Ask", tooltip="back to the prompt"),
)

CONVERSATION = named(
    "conversation",
    Binding("up,k,N", "previous_turn", "Earlier", tooltip="select the turn before", show=False),
    Binding("down,j,n", "next_turn", "Later", tooltip="select the turn after", show=False),
    Binding("y", "screen.copy_turn", "Copy", tooltip="copy the selected answer"),
    Binding("c", "screen.copy_code", "Code", tooltip="copy its code block; again: the next one"),
    Binding("r", "screen.ask_again", "Again", tooltip="ask the question again"),
    Binding("e", "screen.edit_question", "Edit", tooltip="edit the question and ask it again"),
    Binding("x", "screen.mark_refused", "Must refuse", tooltip="keep the question as one to be refused"),
    Binding("u", "screen.take_back", "Undo", tooltip="take back what was kept", show=False),
    Binding("b", "screen.branch", "Branch", tooltip="go on from here in a new conversation"),
    Binding("d", "screen.delete_turn", "Delete", tooltip="delete the turn"),
    Binding("t", "screen.show_thinking", "Thinking", tooltip="show or hide the thinking", show=False),
)

SOURCES = named(
    "sources",
    Binding("up,k,N", "previous_source", "Up", tooltip="the source before", show=False),
    Binding("down,j,n", "next_source", "Down", tooltip="the source after", show=False),
    Binding("enter", "open", "Open", tooltip="open it at the cited range"),
    Binding("y", "copy", "Copy quote", tooltip="copy the quote"),
)

PROMPT = named(
    "prompt",
    Binding("enter", "ask", "Ask", tooltip="ask the question", show=False),
    Binding("ctrl+j", "new_line", "New line", tooltip="a new line in the question", show=False),
    Binding("ctrl+f", "follow_up", "Follow up", tooltip="ask it as a follow-up of the question before"),
    Binding(
        "up",
        "earlier",
        "Earlier",
        tooltip="on the first line: an earlier question",
        show=False,
    ),
    Binding("down", "later", "Later", tooltip="on the last line: a later question", show=False),
    Binding("pageup", "screen.page_up", "", tooltip="scroll the conversation up", show=False),
    Binding(
        "pagedown",
        "screen.page_down",
        "",
        tooltip="scroll the conversation down",
        show=False,
    ),
)

DOCUMENT = named(
    "viewer",
    Binding("left,h", "screen.previous_source", "Source", tooltip="the source before", key_display="← →"),
    Binding("right,l", "screen.next_source", "", tooltip="the next source", show=False),
)
"""On the text itself, whose own left and right would scroll it."""

VIEWER = named(
    "viewer",
    Binding("m", "mark_answer", "Is the answer", tooltip="keep the range as the answer to the question"),
    Binding("u", "take_back", "Undo", tooltip="take back what was kept", show=False),
    Binding("e", "edit", "Edit", tooltip="open in $EDITOR at the line"),
    Binding("slash", "find", "Find", tooltip="find words in this document"),
    Binding("n", "find_next", "", tooltip="the next place found", show=False),
    Binding("N", "find_previous", "", tooltip="the place found before", show=False),
    Binding("y", "copy_quote", "Copy", tooltip="copy the range"),
    Binding("Y", "copy_place", "path:line", tooltip="copy path:line"),
    Binding("s", "next_sentence", "Sentence", tooltip="choose a sentence, then the next one"),
    Binding("S", "more_sentences", "", tooltip="choose one sentence more", show=False),
    Binding("c", "centre", "Quote", tooltip="back to the quote"),
    Binding("r", "render", "Rendered", tooltip="Markdown rendered, or its text"),
    Binding("o", "open_original", "Open file", tooltip="open the file itself, at its page where that can be"),
    *_BACK,
)

INSPECTOR = [
    *named(
        "inspector",
        Binding(
            "left,h",
            "screen.step(-1)",
            "Line",
            tooltip="the threshold's line down: fewer would be sent",
            key_display="← →",
            id="inspector.lower",
        ),
        Binding(
            "right,l",
            "screen.step(1)",
            "",
            tooltip="the line up: more would be sent",
            show=False,
            id="inspector.raise",
        ),
        Binding("space", "screen.reach", "Reach", tooltip="the line where it just admits this passage"),
        Binding("t", "screen.to_line", "To line", tooltip="to the line, and why it stands there"),
        Binding("a", "screen.apply", "Set", tooltip="set the line as this folder's threshold"),
        Binding("u", "screen.put_back", "Undo", tooltip="put back the line, and what was set"),
        Binding("enter", "open", "Open", tooltip="open the passage in its document"),
        Binding("s", "screen.sort", "Sort", tooltip="by distance, fused, dense, bm25, late"),
        Binding("slash", "screen.filter", "Filter", tooltip="list what holds the words typed"),
        Binding("p", "screen.prompt", "Prompt", tooltip="the exact prompt that was or would be sent"),
        Binding("y", "screen.copy_json", "JSON", tooltip="copy as `search --json` prints it"),
    ),
    *_LIST_MOVES,
]

INSPECTOR_PAGE = named("inspector", *_BACK)

PROMPT_PAGE = named(
    "prompt_page",
    Binding("y", "copy", "Copy", tooltip="copy the prompt"),
    *_BACK,
)

CALIBRATION = named(
    "calibration",
    Binding(
        "left,h",
        "step(-1)",
        "Line",
        tooltip="the line down: fewer questions are answered",
        key_display="← →",
        id="calibration.lower",
        priority=True,
    ),
    Binding(
        "right,l",
        "step(1)",
        "",
        tooltip="the line up: more are answered",
        show=False,
        id="calibration.raise",
        priority=True,
    ),
    Binding("c", "cheapest", "Cheapest", tooltip="the line at which these questions cost least"),
    Binding(
        "plus",
        "dearer(1)",
        "Bluffs cost",
        tooltip="a bluff costs more lost answers",
        key_display="+ -",
        id="calibration.dearer",
    ),
    Binding(
        "minus",
        "dearer(-1)",
        "",
        tooltip="a bluff costs fewer",
        show=False,
        id="calibration.cheaper",
    ),
    Binding("a", "apply", "Set", tooltip="set the line as this folder's threshold"),
    Binding("u", "put_back", "Undo", tooltip="put back the line, and what was set"),
    Binding("enter", "ask_question", "Ask it", tooltip="the question under the cursor into the prompt"),
    *_BACK,
)

INDEX = [
    *named(
        "index",
        Binding("s", "screen.standing", "State", tooltip="list by state: failed, in part, stale, skipped"),
        Binding("slash", "screen.find", "Find", tooltip="list what holds the words typed"),
        Binding("r", "screen.retry", "Retry failed", tooltip="read the failed documents again"),
        Binding("x", "screen.stop", "Stop", tooltip="stop indexing; what is done stays"),
        Binding("enter", "open", "Open", tooltip="open the file itself"),
        Binding("i", "screen.ignore", "Ignore", tooltip="pass it over: a line in .ragchatignore"),
        Binding("u", "screen.unignore", "Undo", tooltip="take that line out again"),
        Binding("y", "screen.copy", "Copy path", tooltip="copy the document's path"),
    ),
    *_LIST_MOVES,
]

INDEX_PAGE = named("index", *_BACK)

LIST = [*named("list", Binding("escape", "cancel", "Back", tooltip="back, nothing changed")), *MOVES]

JUMP = named("jump", Binding("escape", "cancel", "Back", tooltip="stay; so does any other key"))

PALETTE = [
    *named(
        "palette",
        Binding("escape", "cancel", "Back", tooltip="back, nothing done"),
    ),
    *MOVES,
]

WELCOME = [
    *named("welcome", Binding("escape", "back", "Skip", tooltip="skip: open the folder you are in")),
    *MOVES,
]

FOLDER = [
    *named(
        "folder",
        Binding(
            "tab", "complete", "Complete", tooltip="go on typing as the folders in the list do", priority=True
        ),
        Binding("escape", "cancel", "Back", tooltip="back, nothing changed"),
    ),
    *MOVES,
]

SETTINGS = named(
    "settings",
    Binding("enter", "edit", "Change", tooltip="type a value, or take the next of a few", priority=True),
    Binding("space", "next", "Next value", tooltip="the next of a few values", show=False),
    Binding("x", "default", "Default", tooltip="back to the default"),
    Binding("escape", "back", "Back", tooltip="leave the value; else back, and what changed takes hold"),
)

MODELS = [
    *named(
        "models",
        Binding("x", "stop_pull", "Stop pulling", tooltip="stop the download; what came stays"),
        Binding("escape", "cancel", "Back", tooltip="back"),
    ),
    *MOVES,
]

CONVERSATIONS = named(
    "conversations",
    Binding("f2", "rename", "Rename", tooltip="give it a title", priority=True),
    Binding("f8", "forget", "Delete", tooltip="delete it", priority=True),
    Binding("escape", "cancel", "Back", tooltip="back"),
)

HELP = named("help", *_BACK)

CONFIRM = named(
    "confirm",
    Binding("y", "yes", "Yes", tooltip="yes, go on"),
    Binding("n,escape", "no", "No", tooltip="no, leave it"),
)


APP_KEYS: list[BindingType] = [
    *named(
        "app",
        _everywhere("f1", "help", "Help", "the keys that work here, then all others"),
        Binding("ctrl+p", "command_palette", "Commands", tooltip="every command, by name"),
        _hidden("f7", "jump", "Jump", "a letter on each place: typing it goes there"),
        _hidden("ctrl+q", "quit", "Quit", "leave; nothing is lost"),
    ),
    *MOVES,
]


_SIGNS = {  # of keys whose name is not what one reads on them
    "escape": "esc",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "slash": "/",
    "backslash": "\\",
    "question_mark": "?",
    "full_stop": ".",
    "comma": ",",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "plus": "+",
    "minus": "-",
}


def sign(key: str) -> str:
    """A key as the footer and the help write it: ^e, F1, ↑."""
    *modifiers, base = key.split("+")
    base = _SIGNS.get(base, base)
    if len(base) > 1 and base[0] == "f" and base[1:].isdigit():
        base = base.upper()
    if modifiers == ["ctrl"]:
        return f"^{base}"
    return "+".join([*modifiers, base])


def shown_key(binding: Binding) -> str:
    """The first key of a binding as the footer writes it."""
    return binding.key_display or sign(binding.key.split(",")[0])


def use(changed: Mapping[str, str]) -> None:
    """Let the words on the screen name these keys instead of the defaults."""
    _changed.clear()
    _changed.update(changed)


def keys_of(action: str) -> tuple[str, ...]:
    """The keys that an action has now. action: its id."""
    return tuple(_changed.get(action, DEFAULTS[action]).split(","))


def key_for(action: str) -> str:
    """An action's first key as a sentence writes it: ctrl+e, F1."""
    return sign(keys_of(action)[0]).replace("^", "ctrl+")


def sign_for(action: str) -> str:
    """An action's first key as the footer writes it: ^e, F1."""
    return sign(keys_of(action)[0])
