"""Filters are completed as they are typed."""

from __future__ import annotations

from tests.tui.stage import on_stage


async def test_tab_takes_what_the_prompt_shows() -> None:
    async with on_stage() as stage:
        await stage.opened()
        prompt = stage.app.chat.prompt
        await stage.pilot.press(*"in:ho")
        await stage.until(lambda: prompt.suggestion == "use/", "the suggestion")
        await stage.pilot.press("tab")
        assert (prompt.text, prompt.suggestion) == ("in:house/", "lease.md")
        await stage.pilot.press("right")
        assert prompt.text == "in:house/lease.md "
        await stage.pilot.press(*"tag:t")
        assert prompt.suggestion == "ax"
        await stage.pilot.press(*"ea")
        assert prompt.suggestion == ""
        assert stage.app.focused is prompt


async def test_tab_goes_on_to_the_next_pane_where_nothing_is_shown() -> None:
    async with on_stage() as stage:
        await stage.opened()
        await stage.pilot.press(*"Note: in words")
        await stage.pilot.pause()
        await stage.pilot.press("tab")
        assert stage.app.focused is not stage.app.chat.prompt
        assert stage.app.chat.prompt.text == "Note: in words"
