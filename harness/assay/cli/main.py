"""The command line `assay`: a table of commands, each imported when it is used.

Each error that a user can fix is one line; the exit code is 2. An error in Assay itself is one
line, too, with the file that has its traceback; the exit code is 4. No error is 1, which means a
violation. The commands and the pytest plugin call the same functions.
"""

from __future__ import annotations

import errno
import io
import os
import re
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path
from select import select
from typing import Any, TextIO

import click

from assay import __version__
from assay.cli.crash_report import Invocation, keep, where
from assay.cli.signals import INTERRUPTED, collect_rarely, loading
from assay.errors import AssayError, Exit, InputError, did_you_mean, one_line

#: Every command, with its module and the line that `assay --help` shows; in a module with several
#: commands, with its function.
COMMANDS: Mapping[str, tuple[str, str]] = {
    "run": ("assay.cli.run", "Test a target against its contracts."),
    "fleet": ("assay.cli.fleet", "Test many banks with one target-file template."),
    "plan": ("assay.cli.plan", "List what a run would test, its cost, and what cannot be tested."),
    "explain": ("assay.cli.explain", "Explain one obligation, and its verdict in a run."),
    "check": ("assay.cli.check", "Validate contract and target files offline."),
    "diff": ("assay.cli.diff", "Compare two versions of a contract."),
    "doctor": ("assay.cli.doctor", "Check a target file against its target before a run."),
    "init": ("assay.cli.init", "Draft a target file for your bank."),
    "report": ("assay.cli.report", "Render the journal of a run in any report format."),
    "compare": ("assay.cli.compare", "Compare two runs and list regressions and fixes."),
    "trend": ("assay.cli.compare:trend", "Write an HTML page on all runs in a folder."),
    "verify": ("assay.cli.verify", "Re-judge a recorded run and check its signature."),
    "attest": ("assay.cli.verify:attest", "Sign the journal and reports of a run."),
    "export": ("assay.cli.export", "Write an OpenAPI document of contracts and a target."),
    "serve": ("assay.cli.serve", "Serve the sandbox bank over HTTP."),
    "proxy": ("assay.cli.proxy", "Record the traffic between a client and a bank."),
    "judge": (
        "assay.cli.judge",
        "Judge recorded traffic of the bank or the TPP.",
    ),
    "completion": ("assay.cli.main:completion", "Print the completion script of a shell."),
    "schema": ("assay.cli.export:schema", "Print the JSON Schema of a kind of file, for editors."),
    "prove": ("assay.cli.prove", "Test the harness on mutants and print the kill matrix."),
}


def find_command(name: str) -> click.Command:
    """Import and return a command of the table."""
    module, _, function = COMMANDS[name][0].partition(":")
    command: click.Command = getattr(import_module(module), function or "command")
    return command


class Commands(click.Group):
    """A group that imports a command when it is used, to start fast."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take `--no-color` wherever it stands; Rich and we follow the variable."""
        end = args.index("--") if "--" in args else len(args)
        if NO_COLOR in args[:end]:
            os.environ["NO_COLOR"] = "1"
            args = [*(each for each in args[:end] if each != NO_COLOR), *args[end:]]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the table's order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command."""
        if cmd_name not in COMMANDS:
            return None
        with loading():
            command = find_command(cmd_name)
        collect_rarely()
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or suggest the nearest name."""
        name = args[0]
        if name == "help":
            if not args[1:]:
                click.echo(ctx.get_help())
                ctx.exit()
            name, args = args[1], [args[1], "--help"]
        if name not in COMMANDS and not name.startswith("-"):
            hint = did_you_mean(name, COMMANDS)
            raise click.UsageError(f"there is no command {name!r}" + (f" ({hint})" if hint else ""))
        return super().resolve_command(ctx, args)


#: The option for terminals and logs that show no colours.
NO_COLOR = "--no-color"

EXAMPLES = """\b
Examples:
  assay run                                 test the embedded sandbox with the shipped contracts
  assay serve --port 8080                   serve the same sandbox over HTTP
  assay run --target http://127.0.0.1:8080  test the served sandbox
  assay plan --target bank.yaml             show what a run on your bank would test and cost
  assay run --target bank.yaml -k quota     test the obligations with this word in their id

\b
Exit codes:
  0  no violation, every `must` verified   4    an error in Assay itself
  1  a violation of the contract           130  interrupted
  2  a usage, contract or target-file error
  3  a `must` could not be verified        141  the reader of the output closed the pipe
"""


@click.group(
    cls=Commands,
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", prog_name="assay")
@click.option(NO_COLOR, is_flag=True, expose_value=False, help="Print without colours.")
def group() -> None:
    """Test a bank's API gateway against a contract.

    The report lists what conforms, what violates the contract, and what could not be verified,
    with the reason.
    """


#: The exit code if a reader closed the pipe before everything was written, as shells have it.
CLOSED_PIPE = 141


def _without_credentials(line: str) -> str:
    """Return a line of a message without the secrets in the URLs that it quotes."""
    if "://" not in line:
        return line
    from assay.journal.redact.secret_positions import parameters  # noqa: PLC0415 -- only on a mistake

    return parameters(line, lambda _, kind: f"<{kind}>")


def main() -> None:
    """Run the command line and exit."""
    with safe_streams() as (out, _):
        code = _lost_output(_run(Invocation()), out)
    sys.exit(code)


def _run(invocation: Invocation) -> int:
    """Run the command line; return the exit code, whatever happens."""
    try:
        code = group.main(prog_name="assay", standalone_mode=False, obj=invocation)
    except click.ClickException as error:
        return _refused(usage_message(error))
    except click.Abort:
        recorded = " `assay report --partial JOURNAL` renders the journal." * bool(
            invocation.folder
        )
        click.echo(f"Interrupted.{recorded}", err=True)
        return INTERRUPTED
    except AssayError as error:
        return _refused(str(error))
    except OSError as error:
        return _refused(_system_message(error))
    except SystemExit as error:
        code = error.code
    except Exception as error:  # noqa: BLE001 -- whatever it is, it is no violation
        return _failed(error, invocation)
    return code if isinstance(code, int) else Exit.OK.value


def _system_message(error: OSError) -> str:
    """Return what the system refused: a file that no command names itself, or a full disk."""
    what = error.strerror or type(error).__name__
    if isinstance(error.filename, str | bytes):
        return f"{os.fsdecode(error.filename)}: {what}"
    try:
        Path.cwd()
    except OSError:
        return "the working directory does not exist any more"
    return what


def _refused(message: str) -> int:
    for line in message.splitlines():
        click.echo(f"assay: {one_line(_without_credentials(line))}", err=True)
    return Exit.USAGE.value


def _failed(error: Exception, invocation: Invocation) -> int:
    """Print that Assay failed, and where the details are kept."""
    path = keep(error, invocation)
    kept = f"details are in {path}" if path else "no folder to keep the details in"
    click.echo(f"assay: an error in Assay itself: {where(error)}; {kept}", err=True)
    return Exit.FAULT.value


def _lost_output(code: int, out: SafeOutput) -> int:
    """Return the exit code of a command, with respect to what could not be written."""
    lost = out.flush()
    if lost is None or code in {Exit.USAGE.value, Exit.FAULT.value, INTERRUPTED}:
        return code
    if lost.errno == errno.EPIPE:
        return CLOSED_PIPE
    return _refused(f"standard output cannot be written: {lost.strerror}")


# -- Standard streams that can always be written to, and remember what could not be written ------
# A reader may close a pipe, a disk may be full, a stream may be closed from the start, and a
# terminal may not have every character. A command must not fail halfway because of that: what
# cannot be written is discarded, and the exit code says so at the end.
#: For characters that the encoding of a stream does not have.
ERRORS = "backslashreplace"


class LossyOutput(io.RawIOBase):
    """A raw stream that discards everything after the first failure, and has it as `error`."""

    def __init__(self, raw: io.RawIOBase) -> None:
        super().__init__()
        self._raw = raw
        self.error: OSError | None = None

    def write(self, data: Any) -> int | None:
        """Write data, or pretend to."""
        count: int | None = len(data)
        if self.error is None:
            try:
                while (count := self._raw.write(data)) is None:
                    select([], [self._raw], [])  # a full pipe that does not block
            except OSError as error:
                self.error = error
        return len(data) if self.error else count

    def writable(self) -> bool:
        """Return true: nothing is refused."""
        return True

    def isatty(self) -> bool:
        """Whether the stream is a terminal."""
        return self._raw.isatty()

    def fileno(self) -> int:
        """Return the descriptor of the stream."""
        return self._raw.fileno()


class SafeOutput:
    """Standard output or standard error, as a text stream that does not fail."""

    def __init__(self, stream: TextIO | None) -> None:
        # The stream that is replaced is kept: it would be closed with its last reference.
        self.replaced = stream
        self.stream = stream if stream is not None else _discarding()
        self._lossy: LossyOutput | None = None
        buffer = getattr(stream, "buffer", None)
        raw = getattr(buffer, "raw", buffer)
        if isinstance(self.stream, io.TextIOWrapper) and isinstance(raw, io.RawIOBase):
            self._lossy = LossyOutput(raw)
            self.stream = io.TextIOWrapper(
                io.BufferedWriter(self._lossy),
                encoding=self.stream.encoding,
                errors=ERRORS,
                line_buffering=self.stream.line_buffering,
                write_through=self.stream.write_through,
            )
        elif isinstance(self.stream, io.TextIOWrapper):
            self.stream.reconfigure(errors=ERRORS)

    def flush(self) -> OSError | None:
        """Write what is left; return the first failure of all writes."""
        self.stream.flush()
        return self._lossy.error if self._lossy is not None else None

    def end(self) -> None:
        """Write what is left, and close what was opened in place of a closed stream."""
        self.flush()
        if self.replaced is None:
            self.stream.close()


def _discarding() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 -- open to the end


@contextmanager
def safe_streams() -> Generator[tuple[SafeOutput, SafeOutput]]:
    """Replace the standard streams by some that do not fail; yield output and errors."""
    with ExitStack() as stack:
        if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison] -- it was closed
            # A file that is opened later must not take its place.
            sys.stdin = stack.enter_context(open(os.devnull, encoding="utf-8"))  # noqa: PTH123
        out, err = SafeOutput(sys.stdout), SafeOutput(sys.stderr)
        stack.enter_context(redirect_stdout(out.stream))
        stack.enter_context(redirect_stderr(err.stream))
        try:
            yield out, err
        finally:
            out.end()
            err.end()


# -- Usage errors of click in Assay's style: `assay: --seed: expected an integer, found 'x'` -----
#: What click says of a value, and what is said instead.
_VALUES: Mapping[str, Callable[[re.Match[str]], str]] = {
    r"(?P<value>'.*') is not a valid integer(?: range)?": lambda m: (
        f"an integer, found {m['value']}"
    ),
    r"(?P<value>'.*') is not a valid float(?: range)?": lambda m: f"a number, found {m['value']}",
    r"(?P<value>\S+) is not in the range (?P<range>.+)": lambda m: (
        f"a number in the range {m['range']}, found {m['value']}"
    ),
    r"(?P<value>'.*') is not one of (?P<words>.+)": lambda m: (
        f"one of {m['words']}, found {m['value']}"
    ),
    r"\S+ '(?P<value>.*)' does not exist": lambda m: f"a path that exists, found {m['value']!r}",
    r"\S+ '(?P<value>.*)' is a directory": lambda m: f"a file, found the folder {m['value']!r}",
    r"\S+ '(?P<value>.*)' is a file": lambda m: f"a folder, found the file {m['value']!r}",
}


#: What click says of a word that belongs to no option.
_EXTRA = re.compile(r"Got unexpected extra arguments? \((?P<first>\S+).*\)")


def usage_message(error: click.ClickException) -> str:
    """Return an error of the command line as one line, with the command that shows the usage."""
    message = _message(error)
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{message} (see `{context.command_path} --help`)" if context else message


def _message(error: click.ClickException) -> str:
    match error:
        case click.NoSuchOption():
            known = [name for param in _parameters(error) for name in param.opts]
            hint = did_you_mean(error.option_name, known)
            suffix = f"; {hint}" if hint.startswith("did you") else ""
            return f"there is no option {error.option_name}{suffix}"
        case click.MissingParameter() if error.param is not None:
            return f"the argument {_name(error.param)} is missing"
        case click.BadParameter() if error.param is not None:
            return f"{_name(error.param)}: {_expected(error.message)}"
        case click.UsageError() if match := _EXTRA.fullmatch(error.format_message()):
            named = "--target" in [name for each in _parameters(error) for name in each.opts]
            hint = f"; did you mean --target {match['first']}?" if named else ""
            return f"{_plain(error.format_message())}{hint}"
        case _:
            return _plain(error.format_message())


def _parameters(error: click.UsageError) -> list[click.Parameter]:
    return error.ctx.command.get_params(error.ctx) if error.ctx is not None else []


def _name(parameter: click.Parameter) -> str:
    """Return the long name of an option, or the name of an argument as the usage has it."""
    if isinstance(parameter, click.Argument):
        return (parameter.metavar or (parameter.name or "").upper()).strip("[].")
    return max(parameter.opts, key=len)


def _expected(message: str) -> str:
    """Return what click says of a value as what is expected, and what is there."""
    plain = message.strip().removesuffix(".")
    for pattern, words in _VALUES.items():
        match = re.fullmatch(pattern, plain, re.DOTALL)
        if match:
            return f"expected {words(match)}"
    return _plain(message)


def _plain(message: str) -> str:
    """Return a sentence as part of a line."""
    text = message.strip().removesuffix(".")
    return text[:1].lower() + text[1:]


# -- The script with which a shell completes commands and options --------------------------------
COMPLETION_EPILOG = """\b
Examples:
  eval "$(assay completion bash)"                       # in ~/.bashrc
  eval "$(assay completion zsh)"                        # in ~/.zshrc
  assay completion fish > ~/.config/fish/completions/assay.fish
"""
#: The variable by which a completing shell asks this program.
VARIABLE = "_ASSAY_COMPLETE"


@click.command(epilog=COMPLETION_EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell."""
    from click.shell_completion import get_completion_class  # noqa: PLC0415 -- seldom used

    found = get_completion_class(shell)
    if found is None:
        raise InputError.one("SHELL", f"no completion is known for {shell}")
    click.echo(found(group, {}, "assay", VARIABLE).source())
