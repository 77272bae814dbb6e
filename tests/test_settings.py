"""Settings: the four layers, and one clear line for what does not fit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from ragchat.errors import StorageFailed, UsageError
from ragchat.settings import Settings
from ragchat.settings_file import write_entry
from ragchat.settings_loader import load_settings, load_usable_settings, read_setting
from ragchat.settings_schema import allowed_values, setting_range, setting_rows, setting_types


def value_of(settings: Settings, name: str) -> object:
    section, _, key = name.partition(".")
    return getattr(getattr(settings, section), key)


def fitting(name: str, kind: Any) -> st.SearchStrategy[Any]:
    """Values that a setting may have."""
    low, high = setting_range(name)
    if get_origin(kind) is Literal:
        return st.sampled_from(get_args(kind))
    if get_origin(kind) is tuple:
        item = st.text(
            st.characters(exclude_characters=os.pathsep + "\0", exclude_categories=["Cs"]), min_size=1
        ).filter(lambda text: "[" not in text)  # a whole list may be written so
        return st.lists(item, max_size=3).map(tuple)
    if get_args(kind):
        return st.one_of(*(fitting(name, alternative) for alternative in get_args(kind)))
    plain: dict[Any, st.SearchStrategy[Any]] = {
        bool: st.booleans(),
        int: st.integers(int(low), int(high)) if high < float("inf") else st.integers(),
        float: st.floats(low, high) if high < float("inf") else st.floats(allow_nan=False),
        str: st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    }
    return plain[kind]


@st.composite
def settings_and_values(draw: st.DrawFn) -> tuple[str, Any]:
    name = draw(st.sampled_from(sorted(setting_types())))
    return name, draw(fitting(name, setting_types()[name]))


def spelled(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "off"
    return os.pathsep.join(value) if isinstance(value, tuple) else str(value)


@given(settings_and_values())
def test_a_value_is_the_same_from_file_environment_and_flag(
    tmp_path_factory: pytest.TempPathFactory, given: tuple[str, Any]
) -> None:
    name, value = given
    section, _, key = name.partition(".")
    file = tmp_path_factory.mktemp("settings") / "config.toml"
    written = list(value) if isinstance(value, tuple) else value
    file.write_text(tomlkit.dumps({section: {key: written}}), encoding="utf-8")
    variable = f"RAGCHAT_{section}_{key}".upper()
    nowhere = file.with_name("none.toml")
    for settings, origin in (
        (load_settings(environ={}, config_file=file), str(file)),
        (load_settings(environ={variable: spelled(value)}, config_file=nowhere), variable),
        (load_settings({name: value}, environ={}, config_file=nowhere), "flag"),
        (load_settings({name: spelled(value)}, environ={}, config_file=nowhere), "flag"),
    ):
        assert value_of(settings, name) == value
        assert settings.origins == {name: origin}


def test_without_anything_the_defaults_hold(tmp_path: Path) -> None:
    assert load_settings(environ={}, config_file=tmp_path / "none.toml") == Settings()


def test_later_layers_win(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[retrieval]\nsources = 5\ncandidates = 50\nthreshold = 0.5\n")
    settings = load_settings(
        {"retrieval.sources": 7, "retrieval.candidates": None},
        environ={"RAGCHAT_RETRIEVAL_SOURCES": "6", "RAGCHAT_RETRIEVAL_CANDIDATES": "60"},
        config_file=file,
    )
    assert (settings.retrieval.sources, settings.retrieval.candidates) == (7, 60)
    assert settings.retrieval.threshold == 0.5
    assert settings.origins == {
        "retrieval.sources": "flag",
        "retrieval.candidates": "RAGCHAT_RETRIEVAL_CANDIDATES",
        "retrieval.threshold": str(file),
    }


def test_ollamas_own_variable_stands_below_ours(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[ollama]\nhost = "from-the-file"\n')
    both = {"OLLAMA_HOST": "0.0.0.0", "RAGCHAT_OLLAMA_HOST": "ours:1"}
    assert load_settings(environ=both, config_file=file).ollama.host == "ours:1"
    theirs = load_settings(environ={"OLLAMA_HOST": "0.0.0.0"}, config_file=file)
    assert (theirs.ollama.host, theirs.origins["ollama.host"]) == ("0.0.0.0", "OLLAMA_HOST")
    assert load_settings(environ={"OLLAMA_HOST": " "}, config_file=file).ollama.host == "from-the-file"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[retrieval]\nsorces = 3", "there is no setting retrieval.sorces; did you mean retrieval.sources?"),
        ("[retreival]\nsources = 3", "there is no setting retreival; did you mean retrieval?"),
        ("retrieval = 3", "retrieval is a section: write [retrieval]"),
        ("[retrieval]\nsources = 0", "retrieval.sources = 0 does not fit: it is a whole number from 1 to 50"),
        ("[retrieval]\nsources = 2.5", "a whole number"),
        ('[retrieval]\nsources = "4"', "a whole number"),
        ("[retrieval]\nsources = true", "a whole number"),
        ("[retrieval]\nthreshold = 2.1", "a number from 0 to 2 or 'auto'"),
        ("[retrieval]\nthreshold = nan", "a number from 0 to 2 or 'auto'"),
        ("[retrieval]\nthreshold = -0.1", "a number from 0 to 2 or 'auto'"),
        ("[chunking]\nsize = 10", "a whole number from 40"),
        ("[chunking]\nheader = 1", "true or false"),
        ('[chunking]\nstrategy = "semantic"', "'boundaries' or 'blind' or 'sections'"),
        ('[notes]\nexclude = "*.log"', "a list of texts"),
        ("[notes]\nexclude = [1]", "a list of texts"),
        ("[notes]\nfolder = 1", "a text"),
        ("[notes", "cannot be read"),
    ],
)
def test_what_does_not_fit_names_the_file_and_what_is_allowed(text: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    with pytest.raises(UsageError) as raised:
        load_settings(environ={}, config_file=file)
    assert str(file) in raised.value.message
    assert told in raised.value.message
    assert raised.value.hint


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("RAGCHAT_RETRIEVAL_SORCES", "3", "did you mean RAGCHAT_RETRIEVAL_SOURCES?"),
        ("RAGCHAT_RETRIEVAL_SOURCES", "many", "a whole number"),
        ("RAGCHAT_RETRIEVAL_SOURCES", "1e400", "a whole number"),
        ("RAGCHAT_RETRIEVAL_THRESHOLD", "inf", "'auto'"),
        ("RAGCHAT_CHUNKING_CODE", "maybe", "true or false"),
    ],
)
def test_a_variable_that_does_not_fit_is_named(variable: str, value: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as raised:
        load_settings(environ={variable: value}, config_file=tmp_path / "none.toml")
    assert variable in raised.value.message
    assert told in raised.value.message


def test_variables_of_others_are_none_of_ours(tmp_path: Path) -> None:
    environ = {"RAGCHAT_DATA_DIR": "/x", "RAGCHAT_DEBUG": "1", "RAGCHAT": "1", "OLLAMA_MODELS": "/y"}
    assert load_settings(environ=environ, config_file=tmp_path / "none.toml") == Settings()


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="cannot be read"):
        load_settings(environ={}, config_file=file)
    with pytest.raises(UsageError, match="cannot be read"):
        load_settings(environ={}, config_file=tmp_path)


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(b"\xef\xbb\xbf[retrieval]\nsources = 3\n")
    assert load_settings(environ={}, config_file=file).retrieval.sources == 3


def test_an_unknown_flag_is_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"did you mean retrieval\.sources"):
        load_settings({"retrieval.source": 3}, environ={}, config_file=tmp_path / "none.toml")


def test_every_setting_says_what_it_may_be() -> None:
    for name in setting_types():
        assert allowed_values(name)
    assert read_setting("retrieval.threshold", "auto", "here") == "auto"


def test_loading_is_light() -> None:
    code = (
        "import sys, ragchat.settings_loader as loader; loader.load_settings();"
        "assert not {'pydantic', 'numpy', 'click', 'textual', 'tomlkit'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "url",
    ["postgresql://ann:secret@db/notes", "postgresql://db/notes?password=secret"],
)
def test_a_password_in_clear_is_refused_and_not_repeated(url: str, tmp_path: Path) -> None:
    for given_ in ({"index.backend": url}, None):
        environ = {} if given_ else {"RAGCHAT_INDEX_BACKEND": url}
        with pytest.raises(UsageError) as refused:
            load_settings(given_, environ=environ, config_file=tmp_path / "none.toml")
        assert "secret" not in refused.value.message + refused.value.hint
    assert load_settings({"index.backend": "postgresql://ann@db/notes"}, environ={}).index.library == "notes"


def test_every_setting_has_a_meaning_in_one_line_and_says_when_it_takes_hold() -> None:
    rows = list(setting_rows())
    assert [row.name for row in rows] == list(setting_types())
    for row in rows:
        assert row.meaning.endswith("."), row.name
        assert "\n" not in row.meaning
        assert row.kind
        assert row.effect


def test_the_line_of_a_wrong_entry_is_told_however_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("retrieval.sorces = 1\n\n[chunking]\n'size' = 1\n[ notes ]\nexclude = 3\nseed = 1\n")
    settings, problems = load_usable_settings(environ={}, config_file=file)
    assert settings == Settings()
    places = [problem.message.split(": ")[0].rpartition("line ")[2] for problem in problems]
    assert places == ["1", "4", "6", "7"]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("a = " + "[" * 20_000, "nested too deeply"),
        ("[retrieval]\nthreshold = " + "9" * 6000, "cannot be read"),
        ("#" * (1 << 20) + "#", "larger than 1024 KB"),
        ("[retrieval]\nthreshold" + ".a" * 5000 + " = 1", "threshold = {'a': "),
    ],
)
def test_whatever_the_file_holds_costs_one_line(tmp_path: Path, content: str, line: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(content)
    with pytest.raises(UsageError) as caught:
        load_settings(environ={}, config_file=file)
    assert line in caught.value.message
    assert len(caught.value.message) < 600


def test_keys_that_are_nested_without_end_are_no_actions(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[keys]\nviewer.back = 'x'\n" + ".".join("a" * 5000) + " = 1")
    settings = load_settings(environ={}, config_file=file)
    assert set(settings.keys) == {"viewer.back", "a.a"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_file_that_is_a_pipe_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGCHAT_CONFIG_DIR", str(tmp_path))
    os.mkfifo(tmp_path / "config.toml")
    with pytest.raises(UsageError, match="it is no file"):
        load_settings(environ={})
    with pytest.raises(UsageError, match="it is no file"):
        write_entry("retrieval.threshold", 3)


@pytest.mark.parametrize("text", ["keys = [1]\n", 'keys = "x"\n', '[keys]\nchat = "x"\n'])
def test_a_value_where_a_table_should_be_is_told_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("RAGCHAT_CONFIG_DIR", str(tmp_path))
    file = tmp_path / "config.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match="a value stands where a table should"):
        write_entry("keys.chat.zoom", "f12")
    assert file.read_text() == text
    file.unlink()
    file.mkdir()
    with pytest.raises(StorageFailed, match=r"cannot be written: Is a directory$"):
        write_entry("keys.chat.zoom", "f12")
