"""Anything is found by its name, and anything in sight is gone to by a letter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content
from textual.events import Key
from textual.widgets import Input, OptionList, Static

from ragchat.tui import keys
from ragchat.tui.commands import commands
from ragchat.tui.fuzzy import best
from ragchat.tui.screens.confirm import ConfirmScreen
from ragchat.tui.screens.inspector import InspectorScreen
from ragchat.tui.screens.jump import JumpScreen
from ragchat.tui.screens.palette import PaletteScreen
from ragchat.tui.screens.settings import SettingsScreen
from ragchat.tui.screens.viewer import ViewerScreen
from tests.tui.stage import NARROW, Stage, on_stage

_NAMES = st.lists(st.text("abc é/_日", min_size=1, max_size=12), max_size=12)


@given(st.text("abc é日", max_size=6), _NAMES)
def test_every_match_holds_the_letters_in_order_and_whole_words_come_first(
    typed: str, names: list[str]
) -> None:
    folded = [name.casefold() for name in names]
    matches = best(typed, folded, 5)
    assert len({match.at for match in matches}) == len(matches) <= 5
    words = typed.casefold().split()
    whole = [all(word in folded[match.at] for word in words) for match in matches]
    assert whole == sorted(whole, reverse=True)
    for match in matches:
        assert all(at < len(folded[match.at]) for at in match.letters)
        assert set("".join(words)) <= {folded[match.at][at] for at in match.letters}


def test_the_beginning_of_a_word_and_a_short_name_come_first() -> None:
    names = ["house/please.md", "house/lease.md", "lease.md", "le-a-s-e.md"]
    assert [match.at for match in best("lease", names, 9)] == [2, 1, 0, 3]
    assert best("lm", names, 1)[0].letters
    assert best("  ", names, 9) == []


async def palette(stage: Stage) -> PaletteScreen:
    await stage.opened()
    await stage.ask("When does the lease end?")
    await stage.pilot.press("ctrl+p")
    await stage.until(lambda: isinstance(stage.app.screen, PaletteScreen), "the palette")
    screen = stage.app.screen
    assert isinstance(screen, PaletteScreen)
    await stage.until(lambda: bool(screen.query_one(OptionList).option_count), "the rows")
    return screen


async def found(stage: Stage, screen: PaletteScreen, typed: str) -> str:
    """Type it; the first row when it has been looked for."""
    screen.query_one(Input).value = typed
    await stage.until(lambda: screen._for == typed, typed)
    return str(screen.query_one(OptionList).get_option_at_index(0).prompt)


async def test_nothing_typed_lists_the_actions_and_none_that_cannot_be_taken_back_is_first() -> None:
    async with on_stage() as stage:
        screen = await palette(stage)
        rows = [str(option.prompt) for option in screen.query_one(OptionList).options]
        assert rows[0].startswith("Why these sources")
        assert rows[0].rstrip().endswith("^e")
        assert [row.split("  ")[0].strip() for row in rows[-2:]] == ["Rebuild index", "Clear conversation"]
        told = {command.action for command in commands(stage.app)}
        rowless = {name for name in keys.DEFAULTS if name.startswith(("chat.", "app."))}
        assert rowless - told == {"app.commands", "chat.leave", "chat.interrupt"}


async def test_documents_sections_themes_settings_models_and_conversations_are_found() -> None:
    async with on_stage() as stage:
        screen = await palette(stage)
        await stage.until(lambda: any(item.kind == "model" for item in screen._items), "the models")
        await stage.until(lambda: any(item.kind == "section" for item in screen._items), "the sections")
        assert (await found(stage, screen, "lease.md doc")).split()[0] == "house/lease.md"
        assert (await found(stage, screen, "term section")).startswith("Lease > Term")
        assert (await found(stage, screen, "nord")).startswith("nord ")
        assert (await found(stage, screen, "retr.sources")).startswith("retrieval.sources")
        assert (await found(stage, screen, "llama model")).startswith("llama3.2:3b")
        kinds = {item.kind for item in screen._items}
        assert kinds == {"action", "theme", "setting", "conversation", "document", "section", "model"}


async def test_a_section_opens_in_the_viewer_a_setting_at_its_line() -> None:
    async with on_stage() as stage:
        screen = await palette(stage)
        await stage.until(lambda: any(item.kind == "section" for item in screen._items), "the sections")
        await found(stage, screen, "term section")
        await stage.pilot.press("enter")
        await stage.until(lambda: isinstance(stage.app.screen, ViewerScreen), "the viewer")
        await stage.until(lambda: "exact" in stage.text(), "the document")
        assert "Lease > Term" in stage.text()
        assert "distance" not in stage.text().split("\n")[1]
        await stage.pilot.press("ctrl+p")
        await stage.until(lambda: isinstance(stage.app.screen, PaletteScreen), "the palette")
        screen = stage.app.screen  # type: ignore[assignment]
        await found(stage, screen, "chunking.size")
        await stage.pilot.press("enter")
        await stage.until(lambda: isinstance(stage.app.screen, SettingsScreen), "the settings")
        await stage.pilot.pause()
        assert "Target length of a passage" in stage.words("#meaning")


async def test_enter_before_the_search_takes_what_was_typed_not_what_was_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with on_stage() as stage:
        screen = await palette(stage)
        monkeypatch.setattr(screen, "_rank", lambda: None)
        screen.query_one(Input).value = "theme nord"
        await stage.pilot.press("enter")
        await stage.until(lambda: stage.app.theme == "nord", "the theme")


async def test_the_list_is_walked_while_one_types_and_escape_does_nothing() -> None:
    async with on_stage(size=NARROW) as stage:
        screen = await palette(stage)
        await stage.pilot.press("down", "down", "up")
        assert screen.query_one(OptionList).highlighted == 1
        await stage.pilot.press("escape")
        assert stage.app.screen is stage.app.chat


async def test_a_letter_goes_to_a_pane_a_source_or_a_link() -> None:
    async with on_stage() as stage:
        await stage.opened()
        await stage.ask("When does the lease end?")

        async def jump_to(x: int, y: int) -> None:
            await stage.pilot.press("f7")
            await stage.until(lambda: isinstance(stage.app.screen, JumpScreen), "the letters")
            labels = {
                label.region.offset: label for label in stage.app.screen.query(".letter").results(Static)
            }
            letter = str(labels[next(at for at in labels if (at.x, at.y) == (x, y))].content)
            await stage.pilot.press(letter)

        sources = stage.app.chat.sources
        await jump_to(sources.region.x + 1, sources.region.y)
        assert stage.app.focused is sources
        card = sources.cards[1]
        await jump_to(card.region.x, card.region.y)
        await stage.until(lambda: isinstance(stage.app.screen, ViewerScreen), "the viewer")
        await stage.pilot.press("escape")
        line = next(y for y, line in enumerate(stage.text().split("\n")) if "two-month" in line)
        x = stage.text().split("\n")[line].index("[1]") + 1
        before = stage.app.chat.region
        await jump_to(x, line)
        await stage.until(lambda: isinstance(stage.app.screen, ViewerScreen), "the viewer")
        assert before == stage.app.chat.region


async def test_any_other_key_leaves_the_letters_with_nothing_done() -> None:
    async with on_stage() as stage:
        await stage.opened()
        for key in ("escape", "f2", "0"):
            await stage.pilot.press("f7")
            await stage.until(lambda: isinstance(stage.app.screen, JumpScreen), "the letters")
            await stage.pilot.press(key)
            assert stage.app.screen is stage.app.chat
        await stage.ask("When does the lease end?")
        await stage.pilot.press("ctrl+e")
        await stage.until(lambda: isinstance(stage.app.screen, InspectorScreen), "the inspector")
        await stage.pilot.press("f7")
        assert stage.app.screen.query(".letter")


async def test_keys_faster_than_the_letters_go_take_nothing_else_away() -> None:
    """Several keys reach a dialog before it has gone: only the first may answer."""
    async with on_stage() as stage:
        await stage.opened()
        await stage.pilot.press("f7")
        await stage.until(lambda: isinstance(stage.app.screen, JumpScreen), "the letters")
        letters = stage.app.screen
        for key in "/0!":
            letters.post_message(Key("x", key))
        await stage.until(lambda: stage.app.screen is stage.app.chat, "the main screen")
        await stage.pilot.pause()
        stage.app.pop_screen()
        assert stage.app.screen is stage.app.chat
        assert stage.app.is_running


async def test_a_question_is_answered_once() -> None:
    answers: list[bool | None] = []
    async with on_stage() as stage:
        await stage.opened()
        dialog = ConfirmScreen("Sure?", Content(""))
        stage.app.push_screen(dialog, answers.append)
        await stage.until(lambda: stage.app.screen is dialog, "the dialog")
        for _ in range(3):
            dialog.dismiss(True)
        await stage.until(lambda: stage.app.screen is stage.app.chat, "the main screen")
        assert answers == [True]


async def test_the_palette_counts_what_is_found_of_all_names() -> None:
    async with on_stage() as stage:
        await stage.opened()
        await stage.pilot.press("ctrl+p")
        await stage.until(lambda: "names · several words narrow it" in stage.text(), "the names")
        await stage.pilot.press(*"theme nord")
        screen = stage.app.screen

        def agrees() -> bool:
            told = str(screen.query_one(".body", Static).content)
            return told.startswith(f"{screen.query_one(OptionList).option_count} of ")

        await stage.until(agrees, "the number of those that match")
        await stage.pilot.press(*"xyz")
        await stage.until(lambda: " 0 of " in stage.text(), "none")
