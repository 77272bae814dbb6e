"""What is made for the documentation is up to date: pages to the letter, pictures as far as they can be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.make.__main__ import FILM, PAGE, PICTURES, page, taken
from docs.make.scenes import SCENES
from docs.make.stage import home
from docs.make.tables import pages

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SHOWN = [
    (page, alternative, page.parent / path)
    for page in PAGES
    for alternative, path in re.findall(r"!\[([^\]]*)\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
]
MADE = {f"{scene.name}.png" for scene in SCENES} | {f"{FILM}.gif"}


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Path]:
    with home(tmp_path / "home") as notes:
        yield notes


async def test_a_scene_plays_on_the_real_program(notes: Path) -> None:
    answer = next(scene for scene in SCENES if scene.name == "answer")
    svg = await taken(answer, notes)
    words = " ".join(re.sub(r"<[^>]+>", " ", svg).replace("&#160;", " ").split())
    assert "qwen3:4b" in words
    assert "house/lease.md" in words
    assert "an e-mail does not count" in words


@pytest.mark.parametrize(("page", "alternative", "path"), SHOWN, ids=[path.name for *_, path in SHOWN])
def test_a_picture_that_is_shown_exists_and_is_described(page: Path, alternative: str, path: Path) -> None:
    assert path.is_file(), page.name
    assert alternative, page.name


def test_every_picture_is_shown_and_can_be_made_again() -> None:
    kept = {path.name for path in PICTURES.iterdir()}
    assert kept == MADE
    assert kept == {path.name for *_, path in SHOWN}


def test_the_pages_that_are_made_are_up_to_date() -> None:
    for path, made in (pages() | {PAGE: page()}).items():
        assert path.read_text(encoding="utf-8") == made, "run: python -m docs.make tables"


def test_pictures_are_small() -> None:
    for path in PICTURES.iterdir():
        assert path.stat().st_size < (1_000_000 if path.suffix == ".gif" else 100_000), path.name
