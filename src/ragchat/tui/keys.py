"""The keys of the main screen, and how any key is named, shown and changed; the pages' are in `page_keys`.

Bindings, help, footer and the keymap are all made from these lists. Each binding of a list gets an id,
`place.action` (`viewer.next_source`), by which the settings file names it. Keys that work while the prompt
has the focus are modified ones; plain letters and digits belong to panes.
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
    _hidden("f8", "zoom", "Zoom", "the focused pane over the whole screen, and back"),
    _everywhere("f3", "show_index", "Index", "the index: documents by state, what failed and why, progress"),
    _hidden("f6", "calibrate", "Threshold", "the threshold against the questions you collected"),
    _hidden("escape", "leave", "Stop", "stop; go back; twice in the prompt: quit"),
)

PANE = named(
    "pane",
    *_digits("", priority=False),
    Binding("i", "screen.inspect", "Why these", tooltip="why these: all candidates, ranks, verdicts"),
    Binding("slash", "screen.focus_prompt", "Ask", tooltip="back to the prompt"),
    Binding("z", "screen.zoom", "", tooltip="this pane over the whole screen, and back", show=False),
)

CONVERSATION = named(
    "conversation",
    Binding(
        "up,k,N",
        "previous_turn",
        "Earlier",
        tooltip="to the beginning of a long turn; the one before",
        show=False,
    ),
    Binding(
        "down,j,n",
        "next_turn",
        "Later",
        tooltip="to the end of a long turn; the one after",
        show=False,
    ),
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
    Binding("C", "copy_citation", "", tooltip="copy the citation, as `ragchat show` takes it", show=False),
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
    """An action's first key as footer, help and sentences write it: ^e, F1."""
    return sign(keys_of(action)[0])
