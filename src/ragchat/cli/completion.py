"""`completion`: the script that teaches a shell our commands."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from ragchat.cli.console import say
from ragchat.cli.program import COMPLETION_VARIABLE, program


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print the completion script for SHELL.

    \b
    bash: eval "$(ragchat completion bash)"            in ~/.bashrc
    zsh:  eval "$(ragchat completion zsh)"             in ~/.zshrc
    fish: ragchat completion fish > ~/.config/fish/completions/ragchat.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    say(kind(program, {}, "ragchat", COMPLETION_VARIABLE).source())
    return 0
