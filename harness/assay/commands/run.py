"""`assay run`: the main job."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.commands import options
from assay.commands.progress import Progress
from assay.errors import InputError, TargetError
from assay.prepare import Prepared, prepare
from assay.run.conduct import Options, Result, Session, conduct
from assay.run.journal import Journal
from assay.run.stage import set_up

if TYPE_CHECKING:
    from assay.report import Report

#: What is written beside the journal when the run is over.
VIEWS = {
    "html": "report.html",
    "json": "report.json",
    "junit": "junit.xml",
    "markdown": "report.md",
}

EPILOG = """\b
Examples:
  assay run
  assay run --target http://127.0.0.1:8080
  assay run --target bank.yaml --out reports/local/before-go-live
  assay run -m quota -k "next-day or midnight"
  assay run --seed 7
"""


@click.command(epilog=EPILOG)
@options.contracts
@options.target
@options.selection
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Makes other customers, on another day; the same seed, the same run.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Where to write. Default: a new folder below reports/local.",
)
@click.option(
    "--allow-incomplete", is_flag=True, help="Exit 0 although something could not be verified."
)
@click.option("-q", "--quiet", is_flag=True, help="Print the closing line only.")
def command(
    contracts: Sequence[str],
    target: str | None,
    keywords: str,
    marks: str,
    seed: int,
    out: Path | None,
    allow_incomplete: bool,
    quiet: bool,
) -> int:
    """Test a target against its contracts and write a conformance report.

    Without options: the shipped contracts against the sandbox that Assay brings along.
    """
    prepared = prepare(contracts, target, keywords=keywords, marks=marks)
    stage = set_up(prepared.profile, seed=seed)
    folder = out or _folder(prepared)
    session = Session(
        plan=prepared.plan,
        stage=stage,
        journal=Journal.at(folder / "journal.jsonl"),
        options=Options(
            seed=seed,
            allow_incomplete=allow_incomplete,
            selection={"k": keywords, "m": marks},
            command="assay " + " ".join(sys.argv[1:]),
            reproduce=prepared.reproduce,
        ),
    )
    try:
        with Progress(session, quiet=quiet) as progress:
            result = conduct(session, progress.on_trial)
    except TargetError as error:
        hint = f"no obligation is blamed on the bank; the record is in {folder}"
        raise InputError.one(target or prepared.profile.name, str(error), hint=hint) from None
    finally:
        stage.close()
    return finish(folder, result, quiet=quiet)


def _folder(prepared: Prepared) -> Path:
    stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S-%fZ")
    name = "".join(c if c.isalnum() or c in "-_." else "-" for c in prepared.profile.name)
    return Path("reports") / "local" / f"{stamp}-{name[:40]}"


def _summarise(read: Report, *, quiet: bool) -> None:
    """Print the summary, in colour where a person looks at a terminal."""
    from assay.report import plain, text  # noqa: PLC0415 -- see above

    if quiet:
        click.echo(plain.closing(read))
    elif sys.stdout.isatty():
        from rich.console import Console  # noqa: PLC0415 -- only for eyes

        text.show(read, Console(highlight=False))
    else:
        text.render(read, sys.stdout)


def finish(folder: Path, result: Result, *, quiet: bool) -> int:
    """Render every view of the journal and print the summary; return the exit code."""
    from assay import report  # noqa: PLC0415 -- not needed before the first exchange

    read = report.read_journal(folder / "journal.jsonl")
    for name, file in VIEWS.items():
        report.render(read, name, folder / file)
    _summarise(read, quiet=quiet)
    click.echo(f"report: {folder / VIEWS['html']}")
    for fault in result.faults:
        click.echo(f"assay: harness fault: {fault}", err=True)
    return result.exit.value
