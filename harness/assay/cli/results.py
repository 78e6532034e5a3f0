"""Result of a run on the command line: summary, reports, and the folder of the record.

The journal is whole before any of this begins. What cannot be written or shown costs no verdict.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING

import click

from assay.cli.publication import chosen_formats, link_latest, publish, time_stamp
from assay.errors import Exit, InputError, JournalError
from assay.journal.journal_file import JOURNAL
from assay.running.session import RunResult

if TYPE_CHECKING:
    from assay.report import Report

#: The reports that are written next to the journal, by format.
REPORTS = {
    "html": "report.html",
    "json": "report.json",
    "junit": "junit.xml",
    "markdown": "report.md",
}


def new_folder(name: str) -> Path:
    """Return the folder of a run for which `--out` names none: the time and a name."""
    return Path("reports") / "local" / f"{time_stamp()}-{name}"


def print_summary(read: Report, *, quiet: bool) -> None:
    """Print the summary, coloured on a terminal."""
    from assay.report import rendered, wording  # noqa: PLC0415 -- not before the run is over
    from assay.report.formats import terminal  # noqa: PLC0415 -- the same

    if quiet:
        click.echo(wording.closing(read))
    elif sys.stdout.isatty():
        from rich.console import Console  # noqa: PLC0415 -- only on a terminal

        # Rich shows nothing on a terminal that says that it has no columns.
        terminal.show(read, Console(highlight=False, width=get_terminal_size().columns))
    else:
        click.echo(rendered(read, "text"), nl=False)


def write_reports(read: Report, folder: Path) -> bool:
    """Write every report next to the journal, and publish what a build server reads.

    Print which report cannot be written, and return whether all can.
    """
    names = dict.fromkeys((*REPORTS, *chosen_formats()))
    written = write_formats(read, folder, tuple(names))
    if not written:
        click.echo(f"assay: `assay report {folder / JOURNAL}` renders the journal", err=True)
    publish(read)
    link_latest()
    return written


def write_formats(read: Report, folder: Path, names: Sequence[str]) -> bool:
    """Write a report in these formats to a folder; print which cannot be written."""
    from assay import report  # noqa: PLC0415 -- not before the run is over

    written = True
    for name in names:
        try:
            report.render(read, name, folder / report.FORMATS[name].file)
        except InputError as error:
            click.echo(f"assay: {error}", err=True)
            written = False
    return written


def print_document(text: str, form: str, out: Path | None) -> None:
    """Print a document, or write it to a file."""
    from assay.report import write_file  # noqa: PLC0415 -- not before the run is over

    if out is not None:
        write_file(out, lambda stream: stream.write(text))
    else:
        # As bytes: the encoding of the terminal must not change what a program reads.
        click.echo(text if form == "text" else text.encode(), nl=False)


def finish(folder: Path, result: RunResult, *, quiet: bool) -> int:
    """Print the summary and write the reports; return the exit code."""
    from assay.report import read_journal  # noqa: PLC0415 -- not before the run is over

    read = read_journal(folder / JOURNAL)
    print_summary(read, quiet=quiet)
    written = write_reports(read, folder)
    if written:
        click.echo(f"report: {folder / REPORTS['html']}")
        click.echo(f"folder: {folder}")
    for line in _shortage_lines(result):
        click.echo(line)
    for fault in result.faults:
        click.echo(f"assay: harness fault: {fault}", err=True)
    return exit_code(result.exit.value, written=written)


def exit_code(code: int, *, written: bool) -> int:
    """Return the exit code of a run; a report that cannot be written is an error of the system."""
    graver = {Exit.FAULT.value, Exit.VIOLATION.value}
    return code if written or code in graver else Exit.USAGE.value


def _shortage_lines(result: RunResult) -> Iterator[str]:
    """Yield how many obligations the budgets left out of a run, and what stopped the run."""
    from assay.running.guard import is_held_back  # noqa: PLC0415 -- only after a run

    number = sum(map(is_held_back, result.verdicts))
    if number:
        skipped = "1 obligation was" if number == 1 else f"{number} obligations were"
        yield (
            f'{skipped} skipped because today\'s call budget is used up (see "Not verified").'
            " Run again tomorrow."
        )
    if result.stopped:
        yield result.stopped


def continued_by(folder: Path) -> str:
    """Return which command continues a run."""
    return f"`assay run --resume {shlex.quote(str(folder))}` continues the run"


@contextmanager
def named_if_cut_short(folder: Path, *, quiet: bool) -> Generator[None]:
    """Print where the record of a run is if the run ends early, and what it has."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo(f"assay: the run ended early; its journal is {folder / JOURNAL}", err=True)
        click.echo(f"assay: {continued_by(folder)}", err=True)
        raise
    except JournalError as error:
        from assay.report import read_journal  # noqa: PLC0415 -- only on an error

        with suppress(JournalError):
            print_summary(read_journal(folder / JOURNAL, partial=True), quiet=quiet)
        raise JournalError(f"{error}; what was recorded is in {folder / JOURNAL}") from None
