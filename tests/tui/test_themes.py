"""Theme files: checked, overlaid, and a bad one costs one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.color import Color

from ragchat import paths
from ragchat.tui.themes import VARIABLES, ThemeError, load_shelf, read_theme, theme_of
from tests.tui.stage import on_stage

SHIPPED = ("high-contrast", "ragchat-dark", "ragchat-light", "terminal")


def contrast(one: str, other: str) -> float:
    """WCAG 2.2 contrast ratio, 1 to 21."""

    def luminance(color: str) -> float:
        parts = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
            for part in Color.parse(color).normalized
        ]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_four_themes_are_shipped_and_all_are_good() -> None:
    shelf = load_shelf([paths.bundled_themes_dir()])
    assert set(SHIPPED) <= set(shelf.themes)
    assert shelf.problems == ()


@pytest.mark.parametrize(
    ("name", "least"), [("ragchat-dark", 4.5), ("ragchat-light", 4.5), ("high-contrast", 7)]
)
def test_words_stand_out_from_every_background(name: str, least: float) -> None:
    theme = read_theme(paths.bundled_themes_dir() / f"{name}.toml")
    words = [theme.foreground, theme.primary, theme.secondary, theme.accent, theme.success, theme.error]
    for background in (theme.background, theme.surface, theme.panel):
        for word in [*words, theme.variables["quiet"], theme.variables["cite"]]:
            assert word is not None
            assert background is not None
            assert contrast(word, background) >= least, (word, background)
    quote = theme.variables["quote-background"]
    assert contrast(theme.foreground or "", quote) >= least


def test_a_theme_without_our_variables_gets_them_from_its_colours() -> None:
    theme = theme_of({"primary": "#336699"}, default_name="plain")
    assert set(VARIABLES) <= set(theme.variables)
    assert not any("$" in value for value in theme.variables.values())


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("primary = ", "is no TOML"),
        ('dark = true\nname = "x"', "needs a colour named 'primary'"),
        ('primary = "bleu"', "'primary' is no colour"),
        ("primary = 7", "must be a colour in quotes"),
        ('primary = "#fff"\nfont = "Comic"', "unknown key 'font'"),
        ('primary = "#fff"\nname = "\\u001b[2J"', "'name' must be"),
        ('primary = "#fff"\ndark = "yes"', "'dark' must be true or false"),
        ('primary = "#fff"\n[variables]\n"a; b" = "red"', "is no variable"),
        ('primary = "#fff"\n[variables]\ncite = "red; width: 0"', "is no colour"),
    ],
)
def test_a_bad_theme_is_one_line_that_says_what_and_where(text: str, word: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(ThemeError, match=word) as caught:
        read_theme(path)
    assert "\n" not in str(caught.value)
    assert load_shelf([paths.bundled_themes_dir(), tmp_path]).problems[0].startswith("theme bad.toml: ")


def test_bytes_that_are_no_text_are_a_bad_theme(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe\x00")
    assert len(load_shelf([tmp_path]).problems) == 1


def _own_theme(name: str, text: str) -> None:
    folder = paths.config_dir() / "themes"
    folder.mkdir(parents=True)
    (folder / f"{name}.toml").write_text(text)


async def test_the_users_own_theme_is_used() -> None:
    _own_theme("mine", 'primary = "#ff00ff"\n')
    async with on_stage(theme="mine") as stage:
        await stage.opened()
        assert stage.app.theme == "mine"
        assert stage.app.get_css_variables()["primary"] == "#FF00FF"


async def test_a_bad_theme_is_told_in_a_toast_and_another_is_on() -> None:
    _own_theme("mine", "primary = \n")
    async with on_stage(theme="mine") as stage:
        await stage.opened()
        await stage.until(lambda: "mine.toml" in stage.text(), "the toast")
        assert stage.app.theme == "ragchat-dark"


@pytest.mark.parametrize("name", SHIPPED)
async def test_every_shipped_theme_starts_and_answers(name: str) -> None:
    async with on_stage(theme=name) as stage:
        await stage.opened()
        await stage.ask("When does the lease end?")
        assert stage.app.theme == name
        assert "31 March 2027" in stage.text()


async def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with on_stage() as stage:
        await stage.opened()
        colours = {
            segment.style.color.triplet
            for strip in stage.app.screen._compositor.render_strips()
            for segment in strip
            if segment.style and segment.style.color and segment.style.color.triplet
        }
        assert colours
        assert all(colour.red == colour.green == colour.blue for colour in colours)
