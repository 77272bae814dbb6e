"""Lists in an answer look as Textual's own and come out the same however the stream cuts them."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Markdown

from ragchat.answering.markdown import answer_parser
from ragchat.tui.widgets.answer_lists import ListItem
from ragchat.tui.widgets.answer_text import AnswerText

TEXTS = {
    "bullets": "A.\n\n- **bold** `code` [1]\n- two, which is long enough for a second line\n- three\n\nB.",
    "ordered": "1. one\n2. two\n3. three",
    "from nine on": "9. nine\n10. ten, and enough words to go on in the line below it\n11. eleven",
    "nested": "- one\n  - inner one\n  - inner two, with words for the next line too\n    1. deep\n- two",
    "loose": "- one\n\n  more of one\n\n- two\n\n  ```\n  code\n  ```\n",
    "code first": "1.     indented code\n2. two",
    "a heading in an item": "- # Title\n- two",
    "wide letters": "- 冷蔵庫の保証は二〇二七年三月までです。修理は山田電機に頼みます。\n- 日本語",
}

EMPTY = "-\n- two\n-"


class Stage(App[None]):
    def __init__(self, markdown: Markdown) -> None:
        super().__init__()
        self.markdown = markdown

    def compose(self) -> ComposeResult:
        yield self.markdown

    @property
    def lines(self) -> list[str]:
        width, height = self.size
        rows = self.screen._compositor.render_strips()
        return [strip.text[:width].rstrip() for strip in rows[:height]]


async def shown(markdown: Markdown, *pieces: str) -> list[str]:
    app = Stage(markdown)
    async with app.run_test(size=(44, 30)) as pilot:
        for piece in pieces:
            await markdown.append(piece)
        await pilot.pause()
        return app.lines


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
async def test_a_list_looks_as_textuals_own(text: str) -> None:
    own = Markdown(parser_factory=lambda: answer_parser(1))
    assert await shown(AnswerText(sources=1), text) == await shown(own, text)


@pytest.mark.parametrize("text", [*TEXTS.values(), EMPTY], ids=[*TEXTS, "empty items"])
async def test_a_streamed_list_comes_out_as_a_whole_one(text: str) -> None:
    pieces = [text[at : at + 7] for at in range(0, len(text), 7)]
    assert await shown(AnswerText(sources=1), *pieces) == await shown(AnswerText(sources=1), text)


async def test_an_item_is_one_widget_and_stays_it_while_the_list_grows() -> None:
    answer = AnswerText()
    async with Stage(answer).run_test() as pilot:
        await answer.append("- one\n- two")
        first = list(answer.query("*"))
        assert [type(widget).__name__ for widget in first] == ["BulletList", "ListItem", "ListItem"]
        await answer.append(" and more\n- three")
        await pilot.pause()
        assert list(answer.query("*"))[:3] == first
        assert [str(item.content) for item in answer.query(ListItem)] == ["one", "two and more", "three"]


async def test_a_bullet_is_copied_with_its_words() -> None:
    answer = AnswerText()
    app = Stage(answer)
    async with app.run_test() as pilot:
        await answer.append("- one\n- two")
        await pilot.pause()
        app.screen.text_select_all()
        assert app.screen.get_selected_text() == "• one\n• two"


async def test_an_empty_item_has_its_bullet_too() -> None:
    assert (await shown(AnswerText(), EMPTY))[:3] == ["  •", "  • two", "  •"]


async def test_an_item_that_is_taken_away_can_still_be_painted() -> None:
    """The screen is painted from the layout before, until there is a new one."""
    markdown = AnswerText(sources=1)
    app = Stage(markdown)
    async with app.run_test(size=(44, 30)) as pilot:
        await markdown.append("- one\n- two")
        await pilot.pause()
        item = app.query(ListItem).first()
        item._component_styles.clear()  # as Textual does first, when a widget is removed
        item._rich_style_cache.clear()
        assert item.render_lines(item.region.reset_offset)[0].text.strip() == "• one"
