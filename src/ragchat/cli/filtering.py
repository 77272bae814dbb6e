"""`--in`, `--tag`, `--after`, `--before`: which notes are asked, with completion by the shell."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from ragchat.answering.filter_words import filters_of_options
from ragchat.cli.console import readable
from ragchat.errors import RagchatError

Command = TypeVar("Command", bound=Callable[..., Any])


def filter_options(command: Command) -> Command:
    """The four options, given to the command together as `filters`."""

    @functools.wraps(command)
    def with_filters(**given: Any) -> Any:
        within, tags = (tuple(map(readable, given.pop(name))) for name in ("within", "tags"))
        filters = filters_of_options(within, tags, given.pop("after"), given.pop("before"))
        return command(filters=filters, **given)

    decorated: Any = with_filters
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    completed: Command = decorated
    return completed


def _completing(
    kind: str,
) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    def complete(context: click.Context, _parameter: click.Parameter, typed: str) -> list[CompletionItem]:
        """What the index of the folder named so far knows; nothing where that cannot be told."""
        from ragchat.answering.suggestions import filter_suggestions
        from ragchat.answering.workspace import Workspace
        from ragchat.cli.options import chosen_folder, settings_of

        try:
            with context:
                settings = settings_of(context.params.get("assignments") or ())
            workspace = Workspace(chosen_folder(context.params.get("folder"), settings), settings)
            found = filter_suggestions(workspace, f'{kind}:"{typed}')
            workspace.close()
        except RagchatError:
            return []
        return [CompletionItem(each.partition(":")[2].strip('"')) for each in found]

    return complete


_OPTIONS = (
    click.option(
        "--in",
        "within",
        multiple=True,
        metavar="PLACE",
        help="Only this folder or note: house/.",
        shell_complete=_completing("in"),
    ),
    click.option(
        "--tag",
        "tags",
        multiple=True,
        metavar="TAG",
        help="Only notes with this tag.",
        shell_complete=_completing("tag"),
    ),
    click.option("--after", metavar="DATE", help="Only notes of this day or later: 2025, 2025-01-31."),
    click.option("--before", metavar="DATE", help="Only notes of earlier than this: 2025, 2025-07-01."),
)
