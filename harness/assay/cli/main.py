"""The command line `assay`: a table of commands, each imported when it is used.

Each error that a user can fix is one line; the exit code is 2. The commands and the pytest
plugin call the same functions.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from assay import __version__
from assay.errors import AssayError
from assay.judging.verdict import Exit

#: Every command, with its module and the line that `assay --help` shows.
COMMANDS: Mapping[str, tuple[str, str]] = {
    "run": ("assay.cli.run", "Test a target against its contracts (the main job)."),
    "plan": ("assay.cli.plan", "Show what a run would test, what it costs, and what stays open."),
    "check": ("assay.cli.check", "Check contract and target files. Nothing is sent."),
    "doctor": ("assay.cli.doctor", "Check a target file against its target, before a run."),
    "init": ("assay.cli.init", "Write a first target file for your bank."),
    "report": ("assay.cli.report", "Render the journal of a run, in any format."),
    "export": ("assay.cli.export", "Write an OpenAPI document of contracts and a target."),
    "serve": ("assay.cli.serve", "Serve the sandbox bank over HTTP."),
    "proxy": ("assay.cli.proxy", "Record the traffic between a client and a bank."),
    "judge": (
        "assay.cli.judge",
        "Judge recorded traffic, for the bank or for the TPP.",
    ),
    "prove": ("assay.cli.prove", "Test the harness on faulty sandboxes; print the kill matrix."),
}


class Commands(click.Group):
    """A group that imports a command when it is used, to start fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the table's order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command."""
        if cmd_name not in COMMANDS:
            return None
        command: Any = import_module(COMMANDS[cmd_name][0]).command
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or suggest the nearest name."""
        from assay.errors import did_you_mean  # noqa: PLC0415 -- only on a mistake

        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            hint = did_you_mean(name, COMMANDS)
            raise click.UsageError(f"there is no command {name!r}" + (f" ({hint})" if hint else ""))
        return super().resolve_command(ctx, args)


EXAMPLES = """\b
Examples:
  assay run                                 test the embedded sandbox with the shipped contracts
  assay serve --port 8080                   serve the same sandbox over HTTP
  assay run --target http://127.0.0.1:8080  test the served sandbox
  assay plan --target bank.yaml             show what a run on your bank would test and cost
  assay run --target bank.yaml -k quota     test the obligations with this word in their id

\b
Exit codes:
  0  no violation, every must verified     3  a must could not be verified
  1  a violation of the contract           4  a fault of Assay itself
  2  a usage, contract or target-file error
"""


@click.group(
    cls=Commands,
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="assay")
def group() -> None:
    """Test a bank's API gateway against a contract.

    The report says what conforms, what violates the contract, and what could not be verified
    and why.
    """


def _without_credentials(line: str) -> str:
    """Return a line of a message without the secrets in the URLs that it quotes."""
    if "://" not in line:
        return line
    from assay.journal.positions import parameters  # noqa: PLC0415 -- only on a mistake

    return parameters(line, lambda _, kind: f"<{kind}>")


def main() -> None:
    """Run the command line and exit."""
    try:
        code = group.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = Exit.USAGE.value
    except click.Abort:
        click.echo("Interrupted. `assay report --partial JOURNAL` renders the journal.", err=True)
        code = 130
    except AssayError as error:
        for line in str(error).splitlines():
            click.echo(f"assay: {_without_credentials(line)}", err=True)
        code = Exit.USAGE.value
    except BrokenPipeError:
        sys.stderr.close()
        code = Exit.OK.value
    sys.exit(code if isinstance(code, int) else Exit.OK.value)
