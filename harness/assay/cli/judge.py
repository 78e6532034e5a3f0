"""`assay judge`: somebody else's traffic, against the bank's duties or the provider's."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from assay.cli import options
from assay.cli.run import VIEWS, finish
from assay.contract.files.document import file_name
from assay.contract.model import Party
from assay.execution.session import RunResult
from assay.traffic.session import RecordingSession, open_recording

EPILOG = """\b
Examples:
  assay judge traffic.har --target bank.yaml
  assay judge traffic.har --target http://127.0.0.1:8080 --party tpp
  assay judge traffic.har --target bank.yaml --base http://127.0.0.1:9000 --party tpp
  assay judge reports/local/before-go-live/journal.jsonl
"""
#: So many sorts of requests that are none of the contract's are named.
NAMED = 10


@click.command(epilog=EPILOG)
@click.argument("file", type=click.Path(path_type=Path))
@options.contracts
@options.target
@options.selection
@click.option(
    "--party",
    type=click.Choice([one.value for one in Party]),
    default=Party.BANK.value,
    show_default=True,
    help="Whose duties: those of the bank, who answered, or of the provider, who asked.",
)
@click.option(
    "--base",
    "bases",
    multiple=True,
    metavar="URL",
    help="Where the recorded requests went, if not to the base URL of the target: through a "
    "proxy. May be given again for the target's other hosts, in their order.",
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
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON, for a machine.")
@click.option("-q", "--quiet", is_flag=True, help="Print the closing line only.")
def command(
    file: Path,
    contracts: Sequence[str],
    target: str | None,
    keywords: str,
    marks: str,
    party: str,
    bases: Sequence[str],
    out: Path | None,
    allow_incomplete: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Judge recorded traffic: a HAR file, or the journal of a run.

    Nothing is sent. What the traffic does not show is unverified. The target file tells
    how the requests are spelt, and in which zone the days are counted.
    """
    case = open_recording(
        file,
        contracts=contracts,
        target_name=target,
        party=Party(party),
        keywords=keywords,
        marks=marks,
        bases=bases,
    )
    folder = out or _folder(file)
    result = case.close(
        folder / "journal.jsonl",
        allow_incomplete=allow_incomplete,
        command="assay " + " ".join(sys.argv[1:]),
    )
    if as_json:
        return _told(folder, result)
    if not quiet:
        _introduce(case, party)
    return finish(folder, result, quiet=quiet)


def _introduce(case: RecordingSession, party: str) -> None:
    """Say what was judged, and what was not."""
    click.echo(f"judged {case.exchanges} exchanges, for the duties of the {party}")
    others = sum(case.strangers.values())
    if others:
        click.echo(f"{others} requests are not of this contract, and are not judged:")
        for what, count in _most(case.strangers):
            click.echo(f"  {count:>5}  {what}")
    if case.unread:
        click.echo(f"{case.unread} requests are not judged: their bodies were not recorded")


def _most(strangers: Mapping[str, int]) -> Sequence[tuple[str, int]]:
    ranked = sorted(strangers.items(), key=lambda one: (-one[1], one[0]))
    more = len(ranked) - NAMED
    rest = [(f"and {more} other sorts", sum(count for _, count in ranked[NAMED:]))]
    return ranked[:NAMED] + (rest if more > 0 else [])


def _told(folder: Path, result: RunResult) -> int:
    """Write every view, and print the one for machines."""
    from assay import report  # noqa: PLC0415 -- not needed before all is judged

    read = report.read_journal(folder / "journal.jsonl")
    for name, view in VIEWS.items():
        report.render(read, name, folder / view)
    click.echo((folder / VIEWS["json"]).read_text(encoding="utf-8"), nl=False)
    return result.exit.value


def _folder(file: Path) -> Path:
    stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S-%fZ")
    return Path("reports") / "local" / f"{stamp}-judged-{file_name(file.stem, 40)}"
