"""Words become commands or folders; what goes wrong becomes one line, a hint and an exit code."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ragchat.answering.workspace import Workspace
from ragchat.cli.program import COMMANDS, FAULT, program
from ragchat.errors import (
    EmbedderUnavailable,
    GenerationFailed,
    IndexLocked,
    RagchatError,
    UsageError,
)
from ragchat.settings import Settings
from tests.cli.conftest import Ragchat


def test_help_lists_every_command(ragchat: Ragchat) -> None:
    told = ragchat("--help")
    assert told.code == 0
    for name, (_, _, line) in COMMANDS.items():
        assert name in told.out
        assert line in told.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str, ragchat: Ragchat) -> None:
    told = ragchat(name, "--help")
    assert told.code == 0
    assert f"ragchat {name}" in told.out


def test_a_word_that_is_nothing_names_the_nearest_command(ragchat: Ragchat) -> None:
    told = ragchat("serch")
    assert (told.code, told.out) == (2, "")
    assert told.err == "ragchat: serch is neither a command nor a folder\n  hint: ragchat search\n"


def test_a_question_without_a_command_is_told_how_to_ask(ragchat: Ragchat) -> None:
    assert 'hint: ragchat ask "when does it end?"' in ragchat("when does it end?").err


@pytest.mark.parametrize("word", ["./gone", "/gone/notes", "~/no-such-folder-here"])
def test_a_path_that_is_not_there_is_a_missing_folder(word: str, ragchat: Ragchat) -> None:
    told = ragchat(word)
    assert told.code == 3
    assert "is not there" in told.err


def test_a_file_is_no_folder(ragchat: Ragchat) -> None:
    told = ragchat("house/lease.md")
    assert told.code == 3
    assert "is no folder" in told.err


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders that the screen was opened on."""
    folders: list[Path] = []

    def screen(folder: Path, settings: Settings, *, demo: bool, welcome: bool) -> int:
        folders.append(folder)
        return 0

    monkeypatch.setattr("ragchat.cli.screen.on_a_terminal", lambda: True)
    monkeypatch.setattr("ragchat.tui.run", screen)
    return folders


@pytest.mark.parametrize("arguments", [(), ("house",), ("-f", "house"), ("./house",), ("open", "house")])
def test_the_screen_opens_the_folder(
    arguments: tuple[str, ...], ragchat: Ragchat, notes: Path, opened: list[Path]
) -> None:
    assert ragchat(*arguments).code == 0
    assert opened == [notes / "house" if arguments else notes]


def test_a_folder_named_like_a_command_is_opened_as_a_path(
    ragchat: Ragchat, notes: Path, opened: list[Path]
) -> None:
    (notes / "index").mkdir()
    assert ragchat("./index").code == 0
    assert opened == [notes / "index"]


def test_a_folder_that_is_away_opens_while_it_has_an_index(
    ragchat: Ragchat, notes: Path, opened: list[Path]
) -> None:
    ragchat("index")
    notes.rename(notes.with_name("away"))
    assert ragchat(str(notes)).code == 0
    assert opened == [notes]


def test_the_screen_needs_a_terminal(ragchat: Ragchat) -> None:
    told = ragchat("house")
    assert told.code == 2
    assert "needs a terminal" in told.err


def test_the_folder_may_be_named_before_the_command(ragchat: Ragchat, notes: Path) -> None:
    assert str(notes / "house") in ragchat("-f", "house", "paths").out


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("written wrong"), 2),
        (EmbedderUnavailable("no model"), 3),
        (IndexLocked("another ragchat writes"), 3),
        (GenerationFailed("it broke off"), 4),
        (RagchatError("something"), 1),
    ],
)
def test_each_error_has_its_code_and_one_line(
    error: RagchatError, code: int, ragchat: Ragchat, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(workspace: Workspace) -> None:
        raise error

    error.hint = "do\x1b[2J this"
    monkeypatch.setattr(Workspace, "status", fail)
    told = ragchat("status")
    assert (told.code, told.out) == (code, "")
    assert told.err == f"ragchat: {error.message}\n  hint: do\\x1b[2J this\n"


def test_a_fault_is_one_line_and_a_private_log(
    ragchat: Ragchat, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Workspace, "status", lambda workspace: 1 / 0)
    told = ragchat("status")
    log = tmp_path / "data" / "last_error.log"
    assert told.code == FAULT
    assert "Traceback" not in told.err
    assert str(log) in told.err
    assert "ZeroDivisionError" in log.read_text(encoding="utf-8")
    assert log.stat().st_mode & 0o077 == 0


def test_a_fault_where_nothing_can_be_written_is_still_one_line(
    ragchat: Ragchat, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("RAGCHAT_DATA_DIR", str(tmp_path / "file" / "data"))
    monkeypatch.setattr(Workspace, "status", lambda workspace: 1 / 0)
    told = ragchat("status")
    assert told.code == FAULT
    assert "unexpected ZeroDivisionError" in told.err


def test_the_fault_itself_shows_when_asked_for(ragchat: Ragchat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGCHAT_DEBUG", "1")
    monkeypatch.setattr(Workspace, "status", lambda workspace: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        ragchat("status")


def test_ctrl_c_is_130(ragchat: Ragchat, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(workspace: Workspace) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Workspace, "status", interrupted)
    told = ragchat("status")
    assert (told.code, told.err) == (130, "interrupted\n")


@pytest.mark.parametrize(
    "arguments", [("ask",), ("search", "a", "b"), ("index", "--no-such"), ("show",), ("config", "sett")]
)
def test_wrong_arguments_are_usage(arguments: tuple[str, ...], ragchat: Ragchat) -> None:
    told = ragchat(*arguments)
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith("ragchat: ")
    assert f"hint: ragchat {arguments[0]}" in told.err


def test_version(ragchat: Ragchat) -> None:
    assert ragchat("--version").out.startswith("ragchat, version ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_completion_script(shell: str, ragchat: Ragchat) -> None:
    told = ragchat("completion", shell)
    assert told.code == 0
    assert "_RAGCHAT_COMPLETE" in told.out


def test_a_shell_completes_commands_and_folders(ragchat: Ragchat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_RAGCHAT_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "ragchat s")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert ragchat().out.split() == ["plain,search", "plain,show", "plain,status", "plain,share"]
    monkeypatch.setenv("COMP_WORDS", "ragchat x")
    assert ragchat().out.split() == ["dir,x"]


def test_a_command_line_leaves_no_handler_behind(ragchat: Ragchat) -> None:
    import signal

    before = signal.getsignal(signal.SIGINT)
    ragchat("index")
    assert signal.getsignal(signal.SIGINT) is before


def test_names_in_the_table_are_the_commands_own() -> None:
    context = program.make_context("ragchat", ["--"], resilient_parsing=True)
    for name in COMMANDS:
        command = program.get_command(context, name)
        assert command is not None
        assert command.name == name
    assert os.environ.get("_RAGCHAT_COMPLETE") is None
