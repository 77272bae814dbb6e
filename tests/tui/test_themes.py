"""Theme files: checked, overlaid, and a bad one costs one line."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest
from textual.color import Color

from ragchat import paths
from ragchat.settings_file import write_entry
from ragchat.settings_loader import config_file_path, load_settings
from ragchat.tui.default_theme import DEFAULT, VARIABLES, has_sixteen_colors
from ragchat.tui.themes import ThemeError, load_shelf, read_theme, theme_of
from tests.tui.stage import Stage, on_stage

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


ALL = sorted(path.stem for path in paths.bundled_themes_dir().glob("*.toml"))


def test_themes_are_shipped_and_all_are_good() -> None:
    shelf = load_shelf([paths.bundled_themes_dir()])
    assert len(ALL) >= 8
    assert set(shelf.themes) == set(ALL) > set(SHIPPED)
    assert shelf.problems == ()
    assert sum(not theme.dark for theme in shelf.themes.values()) >= 2


def test_the_default_theme_is_what_its_file_says() -> None:
    assert read_theme(paths.bundled_themes_dir() / f"{DEFAULT.name}.toml") == DEFAULT
    assert set(VARIABLES) <= set(DEFAULT.variables)


@pytest.mark.parametrize("name", [name for name in ALL if name != "terminal"])
def test_words_and_borders_stand_out_from_every_background(name: str) -> None:
    """WCAG 2.2: 4.5:1 for words (7:1 for high contrast), 3:1 for what only borders."""
    theme = read_theme(paths.bundled_themes_dir() / f"{name}.toml")
    least = 7 if name == "high-contrast" else 4.5
    words = [theme.foreground, theme.primary, theme.secondary, theme.accent]
    words += [theme.success, theme.warning, theme.error]
    for border in (theme.variables["pane-border"], theme.variables["pane-border-focus"]):
        assert contrast(border, theme.background or "") >= 3, border
        assert contrast(border, theme.surface or "") >= 3, border
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


@pytest.mark.parametrize(
    ("term", "colorterm", "sixteen"),
    [
        ("xterm", "", True),
        ("linux", "", True),
        ("screen", "", True),
        ("xterm", "truecolor", False),
        ("xterm-256color", "", False),
        ("tmux-256color", "", False),
        ("xterm-kitty", "", False),
        ("dumb", "", False),
        ("", "", False),
    ],
)
def test_sixteen_colours_are_told_from_more(term: str, colorterm: str, *, sixteen: bool) -> None:
    assert has_sixteen_colors({"TERM": term, "COLORTERM": colorterm}) is sixteen


async def test_a_terminal_of_sixteen_colours_gets_its_own_unless_a_theme_was_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("COLORTERM")
    async with on_stage() as stage:
        await stage.opened()
        assert stage.app.theme == "terminal"
    write_entry("screen.theme", "nord")
    async with on_stage(theme="nord", settings=load_settings(environ={})) as stage:
        await stage.opened()
        assert stage.app.theme == "nord"


async def test_moving_in_the_list_of_themes_shows_each_and_escape_puts_back() -> None:
    async with on_stage() as stage:
        await stage.opened()
        await stage.pilot.press("ctrl+t")
        await stage.until(lambda: "catppuccin-mocha" in stage.text(), "the list")
        before = stage.app.theme
        await stage.pilot.press(*["up"] * ALL.index(before))
        assert stage.app.theme == ALL[0] == "catppuccin-latte"
        await stage.pilot.press("down")
        assert stage.app.theme == ALL[1]
        await stage.pilot.press("escape")
        assert stage.app.theme == before


async def test_a_theme_is_found_by_its_name_as_one_types_and_previewed() -> None:
    async with on_stage() as stage:
        await stage.opened()
        await stage.pilot.press("ctrl+t", *"light so")
        await stage.until(lambda: stage.app.theme == "solarized-light", "the preview")
        assert "nord" not in stage.words(".dialog")
        await stage.pilot.press("z", "enter")
        await stage.pilot.press("backspace", "enter")
        await stage.until(lambda: stage.app.screen is stage.app.chat, "the choice")
        assert stage.app.theme == "solarized-light"
        settings = load_settings(environ={})
        assert settings.screen.theme == stage.app.settings.screen.theme == "solarized-light"
        assert settings.origins["screen.theme"] == str(config_file_path())
        await stage.pilot.press("f9", "end")
        await stage.until(lambda: "  theme " in stage.text(), "the end of the list")
        line = next(line for line in stage.text().split("\n") if "  theme " in line)
        assert line.split()[1:4] == ["theme", "solarized-light", "file"]


async def test_a_theme_chosen_over_one_of_the_environment_is_not_kept_and_says_so() -> None:
    settings = load_settings(environ={"RAGCHAT_SCREEN_THEME": "nord"})
    async with on_stage(theme="nord", settings=settings) as stage:
        await stage.opened()
        await stage.pilot.press("ctrl+t", *"light so", "enter")
        await stage.until(lambda: "RAGCHAT_SCREEN_THEME names nord" in stage.words("Toast"), "the word")
        assert not config_file_path().exists()


async def test_a_theme_that_cannot_be_kept_is_on_all_the_same(home: Path) -> None:
    config_file_path().parent.mkdir(parents=True)
    config_file_path().write_text("[screen\n")
    async with on_stage() as stage:
        await stage.opened()
        await stage.pilot.press("ctrl+t", *"light so", "enter")
        await stage.until(lambda: "is not kept" in stage.words("Toast"), "the word")
        assert stage.app.theme == "solarized-light"
    assert config_file_path().read_text() == "[screen\n"


LEASE = "When does the lease end?"


def _stands(stage: Stage, words: str) -> bool:
    return words in stage.text()


@pytest.mark.parametrize("theme", ["ragchat-dark", "nord"])
async def test_no_color_means_no_colour_at_all_and_the_cursor_is_still_seen(
    monkeypatch: pytest.MonkeyPatch, theme: str
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with on_stage(theme=theme) as stage:
        await stage.opened()
        await stage.ask(LEASE)
        await stage.pilot.press("ctrl+t")
        await stage.until(lambda: "every theme would look the same" in stage.words("Toast"), "the word")
        stage.app.theme = "nord"
        for keys, marked in (
            ([], ""),
            (["alt+1"], "The term begins"),
            (["escape", "f5", "up"], LEASE),
        ):
            await stage.pilot.press(*keys)
            await stage.until(partial(_stands, stage, marked), marked)
            segments = [each for strip in stage.app.screen._compositor.render_strips() for each in strip]
            for line_filter in stage.app.get_line_filters():
                segments = line_filter.apply(segments, Color(0, 0, 0))
            for segment in segments:
                for colour in (segment.style.color, segment.style.bgcolor) if segment.style else ():
                    assert colour is None or colour.is_default
            reversed_ = "".join(each.text for each in segments if each.style and each.style.reverse)
            assert marked in reversed_


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("primary = " + "[" * 20_000, "nested too deeply"),
        ("primary = " + "9" * 10_000, "cannot be read"),
        ("#" * 70_000, "larger than 64 KB"),
        ('primary = "red"\n"' + "k" * 5000 + '" = 1', "unknown key 'kkk"),
        ("primary = '\udcff'", "not UTF-8"),
    ],
)
def test_whatever_a_theme_file_holds_costs_one_short_line(tmp_path: Path, content: str, line: str) -> None:
    file = tmp_path / "own.toml"
    file.write_text(content, "utf-8", errors="surrogateescape")
    with pytest.raises(ThemeError, match=line) as caught:
        read_theme(file)
    assert len(str(caught.value)) < 200


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_theme_that_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "endless.toml").symlink_to("/dev/zero")
    problems = load_shelf([tmp_path]).problems
    assert problems == (
        "theme endless.toml: cannot be read (it is no file)",
        "theme pipe.toml: cannot be read (it is no file)",
    )
