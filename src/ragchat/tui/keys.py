"""Every key of every screen in one place: the bindings and the help are both made from it.

Keys that work while the prompt has the focus are modified ones; plain letters and digits belong to panes.
"""

from __future__ import annotations

from dataclasses import dataclass

from textual.binding import Binding, BindingType


def _everywhere(key: str, action: str, description: str, tooltip: str, display: str | None = None) -> Binding:
    """A key that also works while the prompt has the focus."""
    return Binding(key, action, description, tooltip=tooltip, key_display=display, priority=True)


def _hidden(key: str, action: str, description: str, tooltip: str, display: str | None = None) -> Binding:
    """A key that the help lists and the footer has no room for."""
    return Binding(key, action, description, tooltip=tooltip, key_display=display, priority=True, show=False)


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
    Binding("escape", "app.pop_screen", "Back", key_display="esc"),
    Binding("q", "app.pop_screen", "", show=False),
]
"""Two bindings, because of one with two keys each would stand in the footer."""

_LIST_MOVES: list[BindingType] = [
    Binding("up,k", "up", "", show=False),
    Binding("down,j", "down", "", show=False),
    Binding("home,g", "first", "", show=False),
    Binding("end,G", "last", "", show=False),
    Binding("pageup", "page(-1)", "", show=False),
    Binding("pagedown", "page(1)", "", show=False),
]

CHAT: list[BindingType] = [
    *_digits("alt+", priority=True),
    _everywhere("ctrl+e", "inspect", "Why these", "why these: all candidates, ranks, verdicts"),
    _everywhere("ctrl+y", "copy_answer", "Copy", "copy the last answer"),
    _everywhere("ctrl+g", "take_offer", "As offered", "take what is offered under the turn"),
    _hidden("ctrl+c", "interrupt", "Stop", "copy what is marked; else stop the answer"),
    _everywhere("ctrl+o", "switch_folder", "Folder", "open another folder of notes"),
    _hidden("ctrl+l", "pick_model", "Model", "choose the model that answers, or get one"),
    _hidden("f5", "conversations", "Conversations", "all conversations: search, go on, rename", "F5"),
    _hidden("ctrl+n", "new_conversation", "New", "begin a new conversation"),
    _hidden("f4", "show_thinking", "Thinking", "show or hide the model's thinking", "F4"),
    _hidden("ctrl+r", "reindex", "Re-index", "read what changed; rebuild what is stale"),
    _hidden("ctrl+t", "pick_theme", "Theme", "choose a theme, with a preview"),
    _everywhere("f2", "toggle_sources", "Sources", "show or hide the sources", "F2"),
    _everywhere("f3", "show_failures", "Failed", "documents that could not be read, and why", "F3"),
    _everywhere("f1", "help", "Help", "this page", "F1"),
    _hidden("escape", "leave", "Stop", "stop; go back; twice in the prompt: quit", "esc"),
]

PANE: list[BindingType] = [
    *_digits("", priority=False),
    Binding("i", "screen.inspect", "Why these", tooltip="why these: all candidates, ranks, verdicts"),
    Binding("slash", "screen.focus_prompt", "Ask", tooltip="back to the prompt", key_display="/"),
]

CONVERSATION: list[BindingType] = [
    Binding(
        "up,k", "previous_turn", "Earlier", tooltip="select the turn before", key_display="↑", show=False
    ),
    Binding("down,j", "next_turn", "Later", tooltip="select the turn after", key_display="↓", show=False),
    Binding("y", "screen.copy_turn", "Copy", tooltip="copy the selected answer"),
    Binding("c", "screen.copy_code", "Code", tooltip="copy its code block; again: the next one"),
    Binding("r", "screen.ask_again", "Again", tooltip="ask the question again"),
    Binding("e", "screen.edit_question", "Edit", tooltip="edit the question and ask it again"),
    Binding("b", "screen.branch", "Branch", tooltip="go on from here in a new conversation"),
    Binding("d", "screen.delete_turn", "Delete", tooltip="delete the turn"),
    Binding("t", "screen.show_thinking", "Thinking", tooltip="show or hide the thinking", show=False),
]

SOURCES: list[BindingType] = [
    Binding("up,k", "previous_source", "Up", tooltip="the source before", key_display="↑", show=False),
    Binding("down,j", "next_source", "Down", tooltip="the source after", key_display="↓", show=False),
    Binding("enter", "open", "Open", tooltip="open it at the cited range"),
    Binding("y", "copy", "Copy quote", tooltip="copy the quote"),
]

PROMPT: list[BindingType] = [
    Binding("enter", "ask", "Ask", tooltip="ask the question", show=False),
    Binding("ctrl+j", "new_line", "New line", tooltip="a new line in the question", show=False),
    Binding("ctrl+f", "follow_up", "Follow up", tooltip="ask it as a follow-up of the question before"),
    Binding(
        "up",
        "earlier",
        "Earlier",
        tooltip="on the first line: an earlier question",
        key_display="↑",
        show=False,
    ),
    Binding(
        "down", "later", "Later", tooltip="on the last line: a later question", key_display="↓", show=False
    ),
    Binding(
        "pageup", "screen.page_up", "", tooltip="scroll the conversation up", key_display="PgUp", show=False
    ),
    Binding(
        "pagedown",
        "screen.page_down",
        "",
        tooltip="scroll the conversation down",
        key_display="PgDn",
        show=False,
    ),
]

VIEWER: list[BindingType] = [
    Binding("n", "next_source", "Next", tooltip="the next source"),
    Binding("p", "previous_source", "Previous", tooltip="the source before"),
    Binding("y", "copy_quote", "Copy quote", tooltip="copy the quote"),
    Binding("Y", "copy_place", "Copy path:line", tooltip="copy path:line"),
    Binding("c", "centre", "Quote", tooltip="back to the quote"),
    Binding("o", "open_original", "Open file", tooltip="open the file itself, at its page where that can be"),
    *_BACK,
]

INSPECTOR: list[BindingType] = [
    Binding(
        "left,h",
        "screen.step(-1)",
        "Line",
        tooltip="move the threshold's line: fewer or more would be sent",
        key_display="← →",
    ),
    Binding("right,l", "screen.step(1)", "", show=False),
    Binding("space", "screen.reach", "Reach", tooltip="the line where it just admits this passage"),
    Binding("a", "screen.apply", "Set", tooltip="set the line as this folder's threshold"),
    Binding("u", "screen.put_back", "Undo", tooltip="put back the line, and what was set"),
    Binding("enter", "open", "Open", tooltip="open the passage in its document"),
    Binding("s", "screen.sort", "Sort", tooltip="by distance, fused, dense, bm25, late"),
    Binding("slash", "screen.filter", "Filter", tooltip="list what holds the words typed", key_display="/"),
    Binding("p", "screen.prompt", "Prompt", tooltip="the exact prompt that was or would be sent"),
    Binding("y", "screen.copy_json", "JSON", tooltip="copy as `search --json` prints it"),
    *_LIST_MOVES,
]

INSPECTOR_PAGE: list[BindingType] = list(_BACK)

PROMPT_PAGE: list[BindingType] = [
    Binding("y", "copy", "Copy", tooltip="copy the prompt"),
    *_BACK,
]

FAILURES: list[BindingType] = [
    Binding("r", "retry", "Retry all", tooltip="read the failed documents again"),
    Binding("y", "copy", "Copy path", tooltip="copy the document's path"),
    *_BACK,
]

LIST: list[BindingType] = [
    Binding("escape", "cancel", "Back", tooltip="back, nothing changed", key_display="esc")
]

MODELS: list[BindingType] = [
    Binding("x", "stop_pull", "Stop pulling", tooltip="stop the download; what came stays"),
    Binding("escape", "cancel", "Back", key_display="esc"),
]

CONVERSATIONS: list[BindingType] = [
    Binding("f2", "rename", "Rename", tooltip="give it a title", key_display="F2", priority=True),
    Binding("f8", "forget", "Delete", tooltip="delete it", key_display="F8", priority=True),
    Binding("escape", "cancel", "Back", key_display="esc"),
]

HELP: list[BindingType] = [*_BACK, Binding("f1", "app.pop_screen", "", show=False)]

CONFIRM: list[BindingType] = [
    Binding("y", "yes", "Yes", tooltip="yes, go on"),
    Binding("n,escape", "no", "No", tooltip="no, leave it", key_display="n"),
]


@dataclass(frozen=True, slots=True)
class Topic:
    """One heading of the help with its keys."""

    title: str
    bindings: list[BindingType]


APP_KEYS: list[BindingType] = [
    Binding("ctrl+p", "command_palette", "Commands", tooltip="every command, by name"),
    Binding("ctrl+q", "quit", "Quit", tooltip="leave; nothing is lost", show=False),
]

TOPICS: tuple[Topic, ...] = (
    Topic("Everywhere", [*CHAT, *APP_KEYS]),
    Topic("In the prompt", PROMPT),
    Topic("In the conversation and the sources", PANE),
    Topic("In the conversation", CONVERSATION),
    Topic("In the sources", SOURCES),
    Topic("In the source viewer", VIEWER),
    Topic("In the inspector", INSPECTOR),
    Topic("Looking at a prompt", PROMPT_PAGE),
    Topic("Among failed documents", FAILURES),
    Topic("Among the models", MODELS),
    Topic("Among the conversations", CONVERSATIONS),
    Topic("When asked yes or no", CONFIRM),
)


def shown_key(binding: Binding) -> str:
    """The key as the footer and the help write it."""
    if binding.key_display:
        return binding.key_display
    first = binding.key.split(",")[0]
    return first.replace("ctrl+", "^") if first.startswith("ctrl+") else first
