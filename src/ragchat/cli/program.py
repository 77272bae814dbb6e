"""The command `ragchat`: finds the subcommand, runs it, and turns what went wrong into one line and a code.

A command returns its exit code. Its module is imported only when it is run, so that the screen's first frame
and `--help` wait for nothing they do not need.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragchat import __version__
from ragchat.errors import RagchatError, UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS = {
    "open": ("ragchat.cli.screen", "open_screen", "Open the screen on a folder of notes (the default)."),
    "demo": ("ragchat.cli.screen", "demo", "Try ragchat on bundled sample notes."),
    "index": ("ragchat.cli.library", "index", "Bring the index up to date."),
    "search": (
        "ragchat.cli.questions",
        "search",
        "Find passages, with distances and verdicts; asks no model.",
    ),
    "ask": ("ragchat.cli.questions", "ask", "Answer a question from the notes, with numbered sources."),
    "show": ("ragchat.cli.passages", "show", "Print what a citation points to, exactly."),
    "status": (
        "ragchat.cli.library",
        "status",
        "What is indexed, failed, skipped, stale; stamp and threshold.",
    ),
    "eval": (
        "ragchat.cli.evaluation",
        "evaluate",
        "Measure retrieval and refusals on questions; asks no model.",
    ),
    "pull": ("ragchat.cli.models", "pull", "Have the model server download a model; goes on after a stop."),
    "calibrate": ("ragchat.cli.calibration", "calibrate", "Choose the threshold from your own questions."),
    "forget": ("ragchat.cli.library", "forget", "Delete a folder's index, conversation and questions."),
    "share": ("ragchat.cli.sharing", "share", "Let a database role read a shared library."),
    "doctor": ("ragchat.cli.doctor", "doctor", "Check everything ragchat needs, each with its remedy."),
    "config": ("ragchat.cli.configuration", "config", "Show or set settings, and where each comes from."),
    "paths": ("ragchat.cli.configuration", "paths", "Where everything lies."),
    "completion": ("ragchat.cli.completion", "completion", "Print a completion script: bash, zsh or fish."),
}
"""name -> (module, its command, one line for --help)."""

FAULT = 70
"""Exit code of a fault in ragchat itself (EX_SOFTWARE of sysexits.h): not to be taken for NO ANSWER."""

COMPLETION_VARIABLE = "_RAGCHAT_COMPLETE"

_OWN_OPTIONS = {"-h", "--help", "--version"}


class Program(click.Group):
    """A word that is no command is a folder to open; so is nothing at all."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, in the order of the README."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module, name, _ = COMMANDS[cmd_name]
        gc.disable()  # nothing that is imported is garbage, and later collections need not look at it
        command = getattr(importlib.import_module(module), name)
        gc.freeze()
        gc.enable()
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in `--help`, without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, _, line) in COMMANDS.items()])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """`ragchat` and `ragchat --set …` open the screen; `ragchat -f notes ask …` is `ask -f notes …`."""
        if len(args) > 2 and args[0] in ("-f", "--folder") and args[2] in COMMANDS:
            args = [args[2], *args[:2], *args[3:]]
        elif args and args[0].startswith("-") and args[0] not in _OWN_OPTIONS:
            args = ["open", *args]
        elif not args and not ctx.resilient_parsing:  # a shell that completes the first word has none yet
            args = ["open"]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """`ragchat ~/notes` is `ragchat open ~/notes`."""
        word = args[0]
        if word not in COMMANDS:
            if not _looks_like_path(word) and not Path(word).exists():
                raise UsageError(f"{word} is neither a command nor a folder", hint=_meant(word))
            args = ["open", *args]
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands and folders, without importing any command."""
        from click.shell_completion import CompletionItem

        commands = [
            CompletionItem(name, help=line)
            for name, (_, _, line) in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        # Not both: bash's script forgets the commands as soon as it is told to complete folders.
        return commands if commands and incomplete else [*commands, CompletionItem(incomplete, type="dir")]


@click.command(
    cls=Program,
    options_metavar="",
    subcommand_metavar="[FOLDER] | COMMAND [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 no answer or a failed document, 2 usage, 3 set-up, 4 model server.",
)
@click.version_option(__version__, prog_name="ragchat")
def program() -> None:
    """Ask your own notes. `ragchat FOLDER` opens the screen on a folder of notes.

    A folder that is named like a command is opened as ./index.
    """


def run(arguments: Sequence[str]) -> int:
    """Run one command line; returns its exit code. Raises only a fault, with RAGCHAT_DEBUG=1."""
    from ragchat.cli.console import complain, note, prepare_streams

    prepare_streams()
    try:
        return _invoke(arguments)
    except RagchatError as error:
        complain(error)
        return error.exit_code
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.ClickException as error:
        command = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "ragchat"
        complain(UsageError(error.format_message(), hint=f"{command} --help"))
        return UsageError.exit_code
    except (KeyboardInterrupt, click.Abort):
        note("interrupted")
        return 130
    except BrokenPipeError:
        # The reader has had enough (`| head`); nothing more may be written, not even when we end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if os.environ.get("RAGCHAT_DEBUG"):
            raise
        complain(RagchatError(f"unexpected {type(error).__name__}: {error}", hint=_where_details_are(error)))
        return FAULT


def _invoke(arguments: Sequence[str]) -> int:
    if instruction := os.environ.get(COMPLETION_VARIABLE):
        from click.shell_completion import shell_complete

        return shell_complete(program, {}, "ragchat", COMPLETION_VARIABLE, instruction)
    with program.make_context("ragchat", list(arguments)) as ctx:
        outcome = program.invoke(ctx)
    return outcome if isinstance(outcome, int) else 0


def _looks_like_path(word: str) -> bool:
    return word.startswith(("~", ".")) or os.sep in word


def _meant(word: str) -> str:
    import difflib

    if " " in word.strip():
        return f'ragchat ask "{word}"'
    near = difflib.get_close_matches(word, list(COMMANDS), n=1)
    return f"ragchat {near[0]}" if near else "ragchat --help"


def _where_details_are(error: Exception) -> str:
    import traceback

    from ragchat.paths import data_dir, make_private_dir

    try:
        path = make_private_dir(data_dir()) / "last_error.log"
        path.touch(mode=0o600)
        details = "".join(traceback.format_exception(error))
        path.write_text(details, encoding="utf-8", errors="backslashreplace")
    except OSError:
        return "RAGCHAT_DEBUG=1 shows the details"
    return f"the details are in {path}; RAGCHAT_DEBUG=1 shows them here"
