"""Pages, slides, rows and times beside a document, and its file in the system's viewer."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from textual.app import App, ComposeResult

from ragchat.documents.document import Locator
from ragchat.tui.formatting import place_name
from ragchat.tui.original import command_for, open_original
from ragchat.tui.widgets.document_view import DocumentView


@pytest.mark.parametrize(
    ("kind", "value", "name"),
    [
        ("page", "12", "page 12"),
        ("slide", "3", "slide 3"),
        ("sheet", "My rents!A2:C2", "A2:C2"),
        ("t", "132.4,158.9", "2:12"),
        ("t", "3725,3730", "1:02:05"),
        ("page", "1\x1b[2J", "page 1\\x1b[2J"),
    ],
)
def test_a_place_has_a_name(kind: str, value: str, name: str) -> None:
    assert place_name(Locator(kind, value, 0, 1)).casefold().startswith(name[:6].casefold())
    assert "\x1b" not in place_name(Locator(kind, value, 0, 1))


class Viewing(App[None]):
    def compose(self) -> ComposeResult:
        yield DocumentView()


async def test_the_viewer_tells_where_a_page_begins() -> None:
    text = "first page\n\nsecond page, " + "long " * 40 + "\n\nthird"
    marks = {0: "page 1", 12: "page 2", len(text) - 5: "page 3"}
    async with Viewing().run_test(size=(60, 20)) as pilot:
        view = pilot.app.query_one(DocumentView)
        view.show(text, 12, 23, marks=marks)
        await pilot.pause()
        rows = [view.render_line(row).text for row in range(view.virtual_size.height)]
        told = {
            row.split("│")[-1].split("┃")[-1].strip().rpartition("page ")[2]
            for row in rows
            if "page " in row[-7:]
        }
        assert told == {"1", "2", "3"}
        assert all(len(row) == 60 for row in rows)
        assert rows[0].rstrip().endswith("page 1")
        view.show(text, 0, 3)
        await pilot.pause()
        assert not view.render_line(0).text.rstrip().endswith("page 1")


def test_a_pdf_opens_at_its_page_where_the_viewer_can(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    there = {"okular", "xdg-open"}
    monkeypatch.setattr(shutil, "which", lambda program: program if program in there else None)
    monkeypatch.setattr("sys.platform", "linux")
    pdf, note = tmp_path / "a.pdf", tmp_path / "a.md"
    assert command_for(pdf, "page=12") == (["okular", "--page=12", str(pdf)], "page 12")
    assert command_for(pdf, "page=1; rm") == (["xdg-open", str(pdf)], "")
    assert command_for(note, "page=12") == (["xdg-open", str(note)], "")
    there.clear()
    assert command_for(pdf, "page=12") == ([], "")


def test_a_file_that_is_gone_is_not_opened(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no longer there"):
        open_original(tmp_path / "gone.pdf", "page=1")
