"""`assay report`: the journal of a run, rendered in any format."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from assay import report
from assay.cli import options, publication
from assay.cli.results import REPORTS, exit_code, print_summary, write_formats, write_reports
from assay.errors import Exit, InputError
from assay.journal.journal_file import journal_at
from assay.judging.exit_policy import ExitPolicy, Floor

EPILOG = """\b
Examples:
  assay report journal.jsonl
  assay report journal.jsonl --format html --out report.html
  assay report journal.jsonl --format markdown >> "$GITHUB_STEP_SUMMARY"
  assay report journal.jsonl -f sarif -f ctrf --out report
  assay report --merge shard-1 shard-2 shard-3 --out report
"""


@click.command(epilog=EPILOG)
@click.argument("journals", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "-f",
    "--format",
    "names",
    multiple=True,
    default=("text",),
    show_default=True,
    metavar="NAME",
    help=f"Format of the report: {', '.join(report.FORMATS)}; or all. Repeatable.",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE|DIR",
    help="Write to this file instead of standard output. With several formats: folder to write"
    " to. With --merge: new folder to create.",
)
@click.option(
    "--partial", is_flag=True, help="Render the journal of an unfinished run as far as it goes."
)
@click.option(
    "--passes",
    is_flag=True,
    help="Also show the exchanges behind passed obligations (html, json).",
)
@click.option(
    "--merge",
    is_flag=True,
    help="Merge shards (`assay run --shard`), given as journals or folders, into one run.",
)
@options.allow_incomplete
@publication.annotation_option
@options.gate
def command(
    journals: Sequence[Path],
    names: Sequence[str],
    out: Path | None,
    partial: bool,
    passes: bool,
    merge: bool,
    allow_incomplete: bool,
    min_verified: Floor | None,
    baseline: Path | None,
) -> int:
    """Render the journal of a run in any report format, or merge the journals of its shards.

    Damaged and unfinished journals are rejected, because they are no evidence of conformance.
    With --merge, the exit code follows from the merged verdicts.
    """
    names = [*publication.format_names(names)]
    if merge:
        policy = options.exit_policy(
            allow_incomplete=allow_incomplete,
            min_verified=min_verified,
            baseline=baseline,
            selection=report.read_journal(
                journal_at(journals[0]), partial=partial
            ).header.selection,
        )
        with publication.commands_stopped():
            return _merge(journals, out, names, partial=partial, policy=policy)
    for option, value in {"--min-verified": min_verified, "--baseline": baseline}.items():
        if value is not None:
            hint = "a run, `assay judge` and --merge decide an exit code; `assay compare` compares runs"
            raise InputError.one(option, "only for --merge", hint=hint)
    if len(journals) > 1:
        hint = "--merge makes one report of the shards of a run"
        raise InputError.one(str(journals[1]), "more than one journal", hint=hint)
    read = report.read_journal(journal_at(journals[0]), partial=partial, passes=passes)
    name, *others = names
    if others:
        return _write_all(read, out, names)
    if out is not None:
        report.render(read, name, out / report.FORMATS[name].file if out.is_dir() else out)
    else:
        _print(read, name)
    return 0


def _write_all(read: report.Report, out: Path | None, names: Sequence[str]) -> int:
    """Write a report in several formats to a folder, and print the paths."""
    if out is None:
        hint = "add --out DIR: each format gets a file in it"
        raise InputError.one("--format", "several formats need a folder to write to", hint=hint)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError.one(str(out), f"cannot be a folder: {error.strerror}") from error
    if not write_formats(read, out, names):
        return Exit.USAGE.value
    for name in names:
        click.echo(out / report.FORMATS[name].file)
    return 0


def _merge(
    journals: Sequence[Path],
    out: Path | None,
    names: Sequence[str],
    *,
    partial: bool,
    policy: ExitPolicy,
) -> int:
    from assay.report.merge import merge  # noqa: PLC0415 -- seldom used

    if out is None:
        raise InputError.one("--merge", "no folder to write to", hint="add --out DIR")
    command_line = "assay " + " ".join(sys.argv[1:])
    merged = merge(journals, out, command=command_line, partial=partial, policy=policy)
    read = report.read_journal(merged.journal)
    print_summary(read, quiet=False)
    further = tuple(name for name in names if name not in {"text", *REPORTS})
    written = write_reports(read, out) and write_formats(read, out, further)
    return exit_code(merged.exit.value, written=written)


def _print(read: report.Report, name: str) -> None:
    """Print a report: text as the terminal has it, documents in UTF-8."""
    text = report.rendered(read, name)
    if name == "text":
        with publication.commands_stopped():
            click.echo(text, nl=False)
    else:
        click.echo(text.encode(), nl=False)
