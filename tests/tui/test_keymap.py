"""Keys can be given to other actions; what cannot be taken costs one line, and the default stays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.binding import Binding
from textual.widgets import OptionList

from ragchat.settings import Settings
from ragchat.settings_loader import load_settings
from ragchat.tui import keys
from ragchat.tui.keymap import TOPICS, key_rows, read_key, read_keymap, with_keys
from ragchat.tui.screens.help import HelpScreen
from ragchat.tui.screens.inspector import InspectorScreen
from ragchat.tui.screens.remap import RemapScreen
from ragchat.tui.screens.viewer import ViewerScreen
from ragchat.tui.widgets.document_view import DocumentView
from tests.tui.fake_workspace import LEASE, Scene
from tests.tui.stage import NARROW, Stage, on_stage


@pytest.fixture(autouse=True)
def own_keys_again() -> Iterator[None]:
    yield
    keys.use({})


async def answered(stage: Stage) -> None:
    await stage.opened()
    await stage.ask("When does the lease end?")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("n", "n"),
        ("Y", "Y"),
        ("shift+y", "Y"),
        ("Ctrl+E", "ctrl+e"),
        ("^e", "ctrl+e"),
        (" esc ", "escape"),
        ("F12", "f12"),
        ("/", "slash"),
        ("?", "question_mark"),
        ("+", "plus"),
        ("alt++", "alt+plus"),
        ("space", "space"),
        ("pgdn", "pagedown"),
        ("shift+ctrl+left", "ctrl+shift+left"),
        ("ö", "ö"),
    ],
)
def test_a_key_is_read_as_people_write_it(text: str, key: str) -> None:
    assert read_key(text) == key


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("foo", "there is no key 'foo'"),
        ("foo+b", "'foo' is none of ctrl"),
        ("", "there is no key ''"),
        ("ctrl+m", "cannot tell ctrl+m from enter"),
        ("ctrl+i", "cannot tell ctrl+i from tab"),
        ("ctrl+[", "cannot tell ctrl+[ from esc"),
        ("\x1b[31m", "there is no key '\\x1b[31m'"),
    ],
)
def test_what_is_no_key_is_said_in_one_line(text: str, word: str) -> None:
    with pytest.raises(ValueError) as caught:
        read_key(text)
    assert word in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.text(max_size=12))
def test_any_text_is_a_key_or_a_line(text: str) -> None:
    try:
        read_key(text)
    except ValueError as error:
        line = str(error)
    else:
        line = ""
    assert line.isprintable()


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ({"viewer.nxt_source": "x"}, "there is no such action; did you mean viewer.next_source?"),
        ({"viewer.next_source": 3}, "write the keys in quotes"),
        ({"viewer.next_source": " "}, "names no key"),
        ({"viewer.next_source": "y"}, "y is viewer.copy_quote already; → l stays"),
        ({"chat.inspect": "ctrl+y"}, "^y is chat.copy_answer already; ^e stays"),
        ({"prompt.follow_up": "ctrl+q"}, "^q is app.quit already; ^f stays"),
        ({"conversation.branch": "3"}, "3 is the source of that number already; b stays"),
        ({"chat.help": "f12"}, "there is no such action"),
        ({"chat.inspect": "h"}, "h is typed text there"),
        ({"chat.reindex": "plus"}, "+ is typed text there"),
        ({"prompt.new_line": "shift+a"}, "A is typed text there"),
        ({"app.quit": "€"}, "typed text there"),
        ({"app.quit": "🙂"}, "typed text there"),
        ({"app.quit": "backspace"}, "typed text there"),
        ({"chat.leave": "shift+delete"}, "typed text there"),
        ({"chat.interrupt": "shift+left"}, "typed text there"),
    ],
)
def test_what_cannot_be_taken_costs_one_line_and_the_default_stays(
    table: dict[str, object], line: str
) -> None:
    changed, problems = read_keymap(table)
    assert changed == {}
    assert len(problems) == 1
    assert line in problems[0]


def test_two_actions_may_change_places() -> None:
    swapped = {"viewer.find_next": "p, N", "viewer.find_previous": "n"}
    assert read_keymap(swapped) == ({"viewer.find_next": "p,N", "viewer.find_previous": "n"}, ())


def test_of_two_entries_with_one_key_the_first_has_it() -> None:
    changed, problems = read_keymap({"viewer.centre": "x", "viewer.copy_quote": ["x"]})
    assert changed == {"viewer.centre": "x"}
    assert "viewer.copy_quote: x is viewer.centre already; y stays" in problems[0]


def test_one_key_may_serve_on_different_screens() -> None:
    assert read_keymap({"viewer.centre": "x", "inspector.sort": "x"}).problems == ()


_ACTIONS = st.sampled_from(sorted(keys.DEFAULTS))
_KEYS = st.sampled_from(["n", "y", "x", "f12", "ctrl+e", "ctrl+q", "escape", "alt+1", "3", "enter", "q,x"])


@given(st.dictionaries(_ACTIONS, _KEYS, max_size=6))
def test_no_keymap_leaves_two_actions_with_one_key_that_had_not(table: dict[str, object]) -> None:
    before, changed = _shared({}), read_keymap(table).changed
    assert _shared(changed) <= before
    assert set(changed) <= set(table)


def _shared(changed: object) -> set[tuple[str, str, str]]:
    """(key, action, action) for every key that has two actions in the reach of one place."""
    assert isinstance(changed, dict)
    places = {topic.place: topic for topic in TOPICS}
    found = set()
    for topic in TOPICS:
        owners: dict[str, str] = {}
        for place in dict.fromkeys((topic.place, *topic.above)):
            for binding in places[place].bindings:
                assert isinstance(binding, Binding)
                if binding.id and not binding.id.startswith(f"{place}."):
                    continue
                for key in changed.get(binding.id, binding.key).split(","):
                    mine = binding.id or "source"
                    other = owners.setdefault(key, mine)
                    if other != mine:
                        found.add((key, other, mine))
    return found


async def test_changed_keys_act_and_the_footer_the_help_and_the_words_name_them(
    clipboard: list[str],
) -> None:
    table = {"chat.inspect": "f12", "viewer.copy_quote": "x", "prompt.ask": "ctrl+s", "app.help": "f11"}
    async with on_stage(settings=Settings(keys=dict(table))) as stage:
        await stage.opened()
        assert "^s ask" in stage.text()
        assert "F11 every key" in stage.text()
        stage.app.chat.prompt.put("When does the lease end?")
        await stage.pilot.press("enter")
        assert stage.app.chat.prompt.text.count("\n") == 1
        await stage.pilot.press("backspace", "ctrl+s")
        await stage.until(lambda: bool(stage.app.chat.conversation.turns), "the turn")
        await stage.answered()
        assert "F12 Why these" in stage.text()
        await stage.pilot.press("ctrl+e")
        assert stage.app.screen is stage.app.chat
        await stage.pilot.press("alt+1")
        await stage.until(lambda: isinstance(stage.app.screen, ViewerScreen), "the viewer")
        await stage.until(lambda: "✓ exact" in stage.text(), "the document")
        assert "x Copy" in stage.text()
        await stage.pilot.press("y")
        assert clipboard == []
        await stage.pilot.press("x")
        assert clipboard[-1] in LEASE
        await stage.pilot.press("f11")
        await stage.until(lambda: isinstance(stage.app.screen, HelpScreen), "the help")
        assert "x          copy the range" in stage.text()


async def test_a_bad_entry_is_told_once_and_everything_works() -> None:
    async with on_stage(settings=Settings(keys={"viewer.bak": "x"})) as stage:
        await stage.opened()
        told = [note.message for note in stage.app._notifications]
        assert [line for line in told if "viewer.bak: there is no such action" in line] == told
        assert len(told) == 1


@pytest.mark.parametrize("place", ["prompt", "sources", "viewer", "inspector", "list"])
async def test_help_begins_with_the_keys_of_where_one_comes_from(place: str) -> None:
    titles = {topic.place: topic.title for topic in TOPICS}
    async with on_stage() as stage:
        await answered(stage)
        if place == "sources":
            stage.app.chat.sources.focus()
        elif place != "prompt":
            await stage.pilot.press({"viewer": "alt+1", "inspector": "ctrl+e", "list": "ctrl+t"}[place])
            await stage.until(lambda: stage.app.screen is not stage.app.chat, "the screen")
        before = stage.app.screen
        await stage.pilot.press("f1")
        await stage.until(lambda: isinstance(stage.app.screen, HelpScreen), "the help")
        first = stage.text().split("\n")[2]  # under the line to type in
        assert titles[place] in first
        await stage.pilot.press("f1")
        assert isinstance(stage.app.screen, HelpScreen)
        await stage.pilot.press("escape")
        assert stage.app.screen is before


async def test_letters_move_in_a_list() -> None:
    async with on_stage() as stage:
        await stage.opened()
        await stage.pilot.press("ctrl+l")
        await stage.until(lambda: "gemma3:4b" in stage.text(), "the models")
        options = stage.app.screen.query_one(OptionList)
        seen = []
        for key in ("g", "j", "j", "k", "G", "g", "ctrl+d", "ctrl+u"):
            await stage.pilot.press(key)
            seen.append(options.highlighted)
        last = options.option_count - 1
        assert seen[:6] == [0, 1, 2, 1, last, 0]
        assert seen[7] == 0
        assert seen[6] is not None
        assert seen[6] > 0


async def test_letters_move_in_a_text_and_are_typed_in_the_prompt() -> None:
    long = "line\n" * 300 + LEASE + "line\n" * 300
    async with on_stage(Scene(documents={"house/lease.md": long}), size=NARROW) as stage:
        await answered(stage)
        await stage.pilot.press("j", "G")
        assert stage.app.chat.prompt.text == "jG"
        await stage.pilot.press("alt+1")
        await stage.until(lambda: "The term begins" in stage.text(), "the quote")
        view = stage.app.screen.query_one(DocumentView)
        seen = []
        for key in ("g", "j", "ctrl+d", "ctrl+u", "k", "G"):
            await stage.pilot.press(key)
            await stage.pilot.pause(0.05)
            seen.append(view.scroll_offset.y)
        assert seen[0] == 0
        assert seen[1] > 0
        assert seen[2] > seen[1] + 5
        assert seen[4] == 0
        assert seen[5] == view.max_scroll_y


def test_the_table_has_every_action_once() -> None:
    rows = [row for row in key_rows() if row.action]
    assert {row.action for row in rows} == set(keys.DEFAULTS)
    assert len(rows) == len(keys.DEFAULTS)
    assert all(row.keys and row.description and row.place for row in key_rows())


async def in_remap(stage: Stage, *sought: str) -> None:
    await stage.opened()
    await stage.pilot.press("f1", "f2")
    await stage.until(lambda: isinstance(stage.app.screen, RemapScreen), "the screen")
    await stage.pilot.press(*sought)


async def test_a_key_is_changed_added_and_put_back_on_the_screen(tmp_path: Path) -> None:
    file = tmp_path / "config" / "config.toml"
    async with on_stage() as stage:
        await in_remap(stage, *"why these main")
        await stage.pilot.press("enter", "f12")
        await stage.until(lambda: "✓ F12: why these" in stage.text(), "the word")
        assert load_settings().keys == {"chat.inspect": "f12"}
        await stage.pilot.press("f2", "ctrl+b")
        await stage.until(lambda: "✓ F12 ^b: why these" in stage.text(), "the word")
        assert load_settings().keys == {"chat.inspect": "f12,ctrl+b"}
        await stage.pilot.press("escape")
        await stage.until(lambda: "F12 ^b" in stage.text(), "the help names it")
        await stage.pilot.press("escape")
        await stage.ask("When does the lease end?")
        await stage.pilot.press("f12")
        await stage.until(lambda: isinstance(stage.app.screen, InspectorScreen), "the inspector")
        await stage.pilot.press("escape", "f1", "f2", *"why these main", "f8")
        await stage.until(lambda: "✓ ^e: why these" in stage.text(), "the word")
        assert "inspect" not in file.read_text()


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("ctrl+q", "chat.inspect: ^q is app.quit already"),
        ("f1", "chat.inspect: F1 is app.help already"),
        ("a", "a is typed text there"),
        ("escape", ""),
    ],
)
async def test_a_key_that_cannot_be_had_is_told_in_one_line(tmp_path: Path, key: str, line: str) -> None:
    async with on_stage() as stage:
        await in_remap(stage, *"why these main")
        await stage.pilot.press("enter", key)
        await stage.until(lambda: isinstance(stage.app.screen, RemapScreen), "coming back")
        await stage.until(lambda: line in stage.text(), line)
        assert not (tmp_path / "config" / "config.toml").exists()


def test_default_keys_that_another_action_has_now_are_not_taken_back() -> None:
    swapped = {"viewer.find_next": "N", "viewer.find_previous": "n"}
    with pytest.raises(ValueError, match=r"n is viewer\.find_next already"):
        with_keys(swapped, "viewer.find_next", None)
    assert with_keys({"viewer.find_next": "f4"}, "viewer.find_next", None).changed == {}


def test_an_entry_that_is_wrong_already_is_no_reason_to_take_it() -> None:
    for wrong in ("f2", "no such key"):
        with pytest.raises(ValueError, match=r"chat\.zoom: (F2 is chat\.toggle|there is no key)"):
            with_keys({"chat.zoom": wrong}, "chat.zoom", wrong)
    assert with_keys({"chat.zoom": "f2"}, "chat.zoom", "f12").changed == {"chat.zoom": "f12"}


async def test_space_is_a_key_and_the_prompt_names_its_keys_of_now() -> None:
    async with on_stage() as stage:
        await in_remap(stage, *"ask the question")
        await stage.pilot.press("enter", "ctrl+s")
        await stage.until(lambda: "✓ ^s: ask the question" in stage.text(), "the word")
        assert "^s ask" in str(stage.app.chat.prompt.border_subtitle)
        await stage.app.push_screen(RemapScreen("viewer.find_next"))
        await stage.pilot.press("enter", "space")
        await stage.until(lambda: "✓ space: " in stage.text(), "the key")
        await stage.pilot.press("enter", "f1")
        await stage.until(lambda: "✗ viewer.find_next: F1 is app.help already" in stage.text(), "the reason")
        assert "stays" not in stage.text()  # the default does not: the space has taken its place


async def test_the_help_is_searched_by_keys_words_and_places() -> None:
    async with on_stage() as stage:
        await stage.opened()
        await stage.pilot.press("f1", *"viewer ^")
        await stage.until(lambda: "none found" in stage.text(), "nothing")
        await stage.pilot.press("backspace", *"quote")
        await stage.until(lambda: "1 found" in stage.text(), "one")
        assert "back to the quote" in stage.text()
        assert "ask the question" not in stage.text()


async def test_a_heading_of_the_help_has_the_whole_column() -> None:
    async with on_stage(size=(120, 100)) as stage:
        await stage.opened()
        await stage.pilot.press("f1", *"copy the path")
        await stage.until(lambda: "Looking at the facts of a document" in stage.text(), "in one line")
