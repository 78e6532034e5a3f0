"""`assay completion`: the script with which a shell completes commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from assay.errors import InputError

EPILOG = """\b
Examples:
  eval "$(assay completion bash)"                       # in ~/.bashrc
  eval "$(assay completion zsh)"                        # in ~/.zshrc
  assay completion fish > ~/.config/fish/completions/assay.fish
"""
#: The variable by which a completing shell asks this program.
VARIABLE = "_ASSAY_COMPLETE"


@click.command(epilog=EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell."""
    completion = get_completion_class(shell)
    if completion is None:
        raise InputError.one("SHELL", f"no completion is known for {shell}")
    group = context.find_root().command
    click.echo(completion(group, {}, "assay", VARIABLE).source())
