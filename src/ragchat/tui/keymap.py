"""The table of all actions, and what the settings file changes in it.

    [keys]
    viewer.find_next = "n, f3"

What cannot be taken (no such action, no such key, taken already) costs one line, and the default stays.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from textual.binding import Binding, BindingType
from textual.keys import Keys, _character_to_key

from ragchat.tui import keys, page_keys


@dataclass(frozen=True, slots=True)
class Topic:
    """One heading of the help with its keys; `place` begins the ids of its actions.

    above: the places whose keys work there too.
    """

    place: str
    title: str
    bindings: list[BindingType]
    above: tuple[str, ...] = ("app",)

    def actions(self) -> Iterator[Binding]:
        """One binding an action, with all of its keys; those of other places left out."""
        merged: dict[str, Binding] = {}
        for binding in self.bindings:
            assert isinstance(binding, Binding)
            name = binding.id or binding.action
            if binding.id is not None and not binding.id.startswith(f"{self.place}."):
                continue
            if name in merged:
                merged[name] = replace(merged[name], key=f"{merged[name].key},{binding.key}")
            elif binding.tooltip or binding.description:
                merged[name] = binding
        yield from merged.values()


TOPICS: tuple[Topic, ...] = (
    Topic("chat", "Everywhere on the main screen", keys.CHAT),
    Topic("app", "Everywhere", keys.APP_KEYS),
    Topic("move", "In every pane and list", keys.MOVES),
    Topic("prompt", "In the prompt", keys.PROMPT, ("chat", "app")),
    Topic("pane", "In the conversation and the sources", keys.PANE, ("chat", "app")),
    Topic("conversation", "In the conversation", keys.CONVERSATION, ("pane", "chat", "app")),
    Topic("sources", "In the sources", keys.SOURCES, ("pane", "chat", "app")),
    Topic("viewer", "In the source viewer", [*page_keys.DOCUMENT, *page_keys.VIEWER]),
    Topic("facts", "Looking at the facts of a document", page_keys.FACTS),
    Topic("inspector", "In the inspector", [*page_keys.INSPECTOR, *page_keys.INSPECTOR_PAGE]),
    Topic("prompt_page", "Looking at a prompt", page_keys.PROMPT_PAGE),
    Topic("calibration", "Calibrating the threshold", page_keys.CALIBRATION),
    Topic("index", "In the index view", [*page_keys.INDEX, *page_keys.INDEX_PAGE]),
    Topic("list", "When choosing from a list", page_keys.LIST),
    Topic("palette", "Among the commands", page_keys.PALETTE),
    Topic("jump", "Jumping", page_keys.JUMP),
    Topic("welcome", "At the first start", page_keys.WELCOME),
    Topic("folder", "When choosing a folder", page_keys.FOLDER),
    Topic("settings", "Among the settings", page_keys.SETTINGS),
    Topic("models", "Among the models", page_keys.MODELS),
    Topic("conversations", "Among the conversations", page_keys.CONVERSATIONS),
    Topic("confirm", "When asked yes or no", page_keys.CONFIRM),
    Topic("help", "On the page of keys", page_keys.HELP),
    Topic("remap", "Changing keys", page_keys.REMAP),
)

WHILE_TYPING = frozenset({"chat", "app", "prompt", "conversations", "folder", "help", "remap"})
"""Places whose keys work while one types: a plain letter would be lost to them."""

_SPELLINGS = {
    "esc": "escape",
    "return": "enter",
    "del": "delete",
    "ins": "insert",
    "pgup": "pageup",
    "pgdn": "pagedown",
    "pgdown": "pagedown",
    "space": "space",
    "control": "ctrl",
    "option": "alt",
}
_MODIFIERS = ("ctrl", "alt", "shift", "super", "hyper", "meta")
_SAME = {"ctrl+m": "enter", "ctrl+i": "tab", "ctrl+h": "backspace", "ctrl+left_square_bracket": "escape"}
_SIGNS = frozenset(_character_to_key(chr(code)) for code in range(32, 127))
_NEVER_TYPED = frozenset(
    {"escape", "enter", "tab", "up", "down", "pageup", "pagedown", "insert", *(f"f{n}" for n in range(1, 25))}
)
"""Plain keys that write nothing: those a prompt needs are somebody's already."""
_KNOWN = _SIGNS | {str(key.value) for key in Keys}


class KeyRow(NamedTuple):
    """One line of the table of keys. keys: as the footer writes them. action: "" where it is fixed."""

    place: str
    keys: tuple[str, ...]
    action: str
    description: str


class Keymap(NamedTuple):
    """action -> "key,key" as Textual takes it, and one line for each entry that could not be taken."""

    changed: Mapping[str, str]
    problems: tuple[str, ...]


def key_rows() -> Iterator[KeyRow]:
    """Every key in the order of the help, as it is now."""
    for topic in TOPICS:
        for binding in topic.actions():
            does = binding.tooltip or binding.description
            yield KeyRow(topic.title, keys_now(binding), binding.id or "", does)


def keys_now(binding: Binding) -> tuple[str, ...]:
    """The keys of an action as the footer writes them."""
    if binding.key_display and binding.id is None:
        return (binding.key_display,)
    return tuple(keys.sign(key) for key in _keys_of(binding))


def read_keymap(table: Mapping[str, object]) -> Keymap:
    """What the settings file says under [keys]. table: action -> "key, key" or a list of keys."""
    changed: dict[str, str] = {}
    problems: list[str] = []
    for action, given in table.items():
        try:
            changed[action] = ",".join(_read(action, given))
        except ValueError as error:
            problems.append(f"[keys] {action[:60]}: {error}")
    while (clash := _clash(changed)) is not None:
        action, key, other = clash
        del changed[action]
        default = " ".join(keys.sign(each) for each in keys.DEFAULTS[action].split(","))
        problems.append(f"[keys] {action}: {keys.sign(key)} is {other} already; {default} stays")
    return Keymap(changed, tuple(problems))


def with_keys(table: Mapping[str, object], action: str, given: str | None) -> Keymap:
    """The keymap when an action has these keys, or (None) its default ones.

    Raises ValueError with one line where that cannot be, or takes a key from another action.
    """
    others = {name: value for name, value in table.items() if name != action}
    keymap = read_keymap(others if given is None else {**others, action: given})
    # An entry that is wrong already says nothing of a new one for the same action.
    known = read_keymap(table if given is None else others).problems
    for problem in keymap.problems:
        if problem not in known:
            # What stays is the keys of now, which need not be the default ones.
            raise ValueError(re.sub(r"; [^;]+ stays$", "", problem.removeprefix("[keys] ")))
    return keymap


def read_key(text: str) -> str:
    """A key by the name Textual has for it; `Ctrl+E`, `^e`, `esc` and `/` are understood.

    Raises ValueError with one line.
    """
    spelled = text.strip()
    if spelled.startswith("^") and len(spelled) > 1:
        spelled = f"ctrl+{spelled[1:]}"
    *modifiers, base = [spelled] if spelled in ("+", "") else spelled.replace("++", "+plus").split("+")
    modifiers = [_SPELLINGS.get(each.lower(), each.lower()) for each in modifiers]
    if unknown := [each for each in modifiers if each not in _MODIFIERS]:
        raise ValueError(
            f"there is no key {text[:30]!r} ({unknown[0][:20]!r} is none of {', '.join(_MODIFIERS)})"
        )
    if modifiers == ["shift"] and len(base) == 1 and base.isalpha():
        modifiers, base = [], base.upper()
    base = _base(base, text, plain=not modifiers)
    key = "+".join([*sorted(set(modifiers), key=_MODIFIERS.index), base])
    if key in _SAME:
        raise ValueError(f"a terminal cannot tell {text} from {keys.sign(_SAME[key])}")
    return key


def _base(base: str, text: str, *, plain: bool) -> str:
    if len(base) == 1 and base.isprintable():
        return _character_to_key(base if plain else base.lower())
    lower = _SPELLINGS.get(base.lower(), base.lower())
    if lower in _KNOWN and "<" not in lower:
        return lower
    raise ValueError(f"there is no key {text[:30]!r}")


def _nearest(action: str) -> str:
    """The action that is meant: of its place where there is such a place; "" where none is near."""
    place, _, name = action.partition(".")
    names = [each.partition(".")[2] for each in keys.DEFAULTS if each.startswith(f"{place}.")]
    if names:
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.65)
        return f"{place}.{near[0]}" if near else ""
    return next(iter(difflib.get_close_matches(action, list(keys.DEFAULTS), n=1, cutoff=0.75)), "")


def _read(action: str, given: object) -> list[str]:
    """The keys given to an action. Raises ValueError with what is wrong."""
    if action not in keys.DEFAULTS:
        near = _nearest(action)
        meant = f"; did you mean {near}?" if near else "; ragchat config keys lists them"
        raise ValueError(f"there is no such action{meant}")
    if isinstance(given, str):
        texts = [","] if given.strip() == "," else given.split(",")
    elif isinstance(given, list) and all(isinstance(each, str) for each in given):
        texts = given
    else:
        raise ValueError('write the keys in quotes, as in "n, right"')
    found = [read_key(text) for text in texts if text.strip()]
    if not found:
        raise ValueError("names no key")
    place = action.partition(".")[0]
    for key in found:
        if place in WHILE_TYPING and _is_typed(key):
            raise ValueError(f"{keys.sign(key)} is typed text there: take one with ctrl or alt, or F1 to F12")
    return list(dict.fromkeys(found))


def _is_typed(key: str) -> bool:
    """Whether a prompt takes the key itself: it writes, deletes or moves the cursor."""
    *modifiers, base = key.split("+")
    return set(modifiers) <= {"shift"} and base not in _NEVER_TYPED


def _keys_of(binding: Binding, changed: Mapping[str, str] | None = None) -> list[str]:
    """The keys of an action, each once."""
    if binding.id is None:
        return binding.key.split(",")
    now = keys.keys_of(binding.id) if changed is None else changed.get(binding.id, binding.key).split(",")
    return list(dict.fromkeys(now))


def _clash(changed: Mapping[str, str]) -> tuple[str, str, str] | None:
    """The last changed action that has a key of another one, that key, and the other; else None."""
    topics = {topic.place: topic for topic in TOPICS}
    clashes = []
    for topic in TOPICS:
        owners: dict[str, str] = {}
        for place in (topic.place, *topic.above):
            for name, key in _all_keys(topics[place], changed):
                other = owners.setdefault(key, name)
                if other != name and (name in changed or other in changed):
                    mine, theirs = (name, other) if name in changed else (other, name)
                    if name in changed and other in changed:
                        mine, theirs = sorted((name, other), key=list(changed).index, reverse=True)
                    clashes.append((list(changed).index(mine), mine, key, theirs))
    return max(clashes)[1:] if clashes else None


def _all_keys(topic: Topic, changed: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Every key of a place with the action it belongs to, also those that the help shows as one."""
    for binding in topic.bindings:
        assert isinstance(binding, Binding)
        if binding.id is None or binding.id.startswith(f"{topic.place}."):
            for key in _keys_of(binding, changed):
                fixed = (
                    "the source of that number" if "open_source" in binding.action else "a move in the list"
                )
                yield binding.id or fixed, key
