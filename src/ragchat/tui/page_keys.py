"""The keys of every page and dialog over the main screen; see `keys`."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from ragchat.tui.keys import MOVES, named

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
    Binding("C", "copy_citation", "", tooltip="copy the citation, as `ragchat show` takes it", show=False),
    Binding("s", "next_sentence", "Sentence", tooltip="choose a sentence, then the next one"),
    Binding("S", "more_sentences", "", tooltip="choose one sentence more", show=False),
    Binding("c", "centre", "Quote", tooltip="back to the quote", show=False),
    Binding("r", "render", "Rendered", tooltip="Markdown rendered, or its text"),
    Binding("i", "facts", "Facts", tooltip="facts of the document: file, encoding, passages, state"),
    Binding("o", "open_original", "Open file", tooltip="open the file itself, at its page where that can be"),
    *_BACK,
)

FACTS = named("facts", Binding("y", "copy", "Copy path", tooltip="copy the path"), *_BACK)

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

HELP = named(
    "help",
    Binding("f2", "change_keys", "Change keys", tooltip="give an action other keys", priority=True),
    Binding("escape", "app.pop_screen", "Back", tooltip="back"),
)

REMAP = named(
    "remap",
    Binding("enter", "replace", "Change", tooltip="then press the key it shall have", priority=True),
    Binding("f2", "add", "One more", tooltip="one more key for the action", priority=True),
    Binding("f8", "default", "Default", tooltip="its default keys again", priority=True),
    Binding("escape", "app.pop_screen", "Back", tooltip="back"),
)

CONFIRM = named(
    "confirm",
    Binding("y", "yes", "Yes", tooltip="yes, go on"),
    Binding("n,escape", "no", "No", tooltip="no, leave it"),
)
