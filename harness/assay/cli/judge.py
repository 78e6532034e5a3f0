"""`assay judge`: verdicts on recorded traffic, for the bank or for the TPP."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from assay.cli import options, publication
from assay.cli.crash_report import note_folder
from assay.cli.results import exit_code, finish, new_folder, write_reports
from assay.contract.model import Party
from assay.files.document import file_name
from assay.journal.journal_file import JOURNAL
from assay.judging.exit_policy import Floor
from assay.report import read_journal, rendered
from assay.report.wording import counted
from assay.rules.verdict import Standing
from assay.running.session import RunResult
from assay.traffic.session import RecordingSession, open_recording

EPILOG = """\b
Examples:
  assay judge traffic.har --target bank.yaml
  assay judge traffic.har --target http://127.0.0.1:8080 --party tpp
  assay judge traffic.har --target bank.yaml --base http://127.0.0.1:9000 --party tpp
  assay judge reports/local/before-go-live/journal.jsonl
"""
#: What may be otherwise than a HAR file shows, unless an option declares that it is not.
UNDECLARED = {
    "--complete": "a call or a header may be missing from the file (pass `--complete` if none is)",
    "--bank-clock": "its times may not be the bank's, whose clock can be moved (pass `--bank-clock` if they are)",
}
#: The number of kinds of unjudged requests that are listed.
LISTED = 10


@click.command(epilog=EPILOG)
@click.argument("file", type=click.Path(path_type=Path))
@options.contracts
@options.target
@options.waivers
@options.selection
@click.option(
    "--party",
    type=click.Choice([party.value for party in Party]),
    default=Party.BANK.value,
    show_default=True,
    help="Party to judge: the bank (responses) or the TPP (requests).",
)
@click.option(
    "--base",
    "bases",
    multiple=True,
    metavar="URL",
    help="Base URL of the recorded requests if it differs from the target's, for example the"
    " address of a proxy. Repeat it for the other hosts of the target file, in their order.",
)
@click.option(
    "--complete",
    is_flag=True,
    help="Declare that the HAR file contains every call of its callers, unchanged. Without this"
    " option, a call or header that is missing from the file, such as a consent, never"
    " counts as a violation.",
)
@click.option(
    "--bank-clock",
    is_flag=True,
    help="Declare that the times in the HAR file are those of the bank's clock, although this"
    " target's clock can be moved. Without this option, a difference between the clocks"
    " never counts as a violation.",
)
@options.out
@options.allow_incomplete
@publication.format_option
@publication.annotation_option
@options.gate
@click.option(
    "--json", "as_json", is_flag=True, help="Print the JSON report instead of the summary."
)
@options.quiet
def command(
    file: Path,
    contracts: Sequence[str],
    target: str | None,
    waivers: Path | None,
    keywords: str,
    marks: str,
    party: str,
    bases: Sequence[str],
    complete: bool,
    bank_clock: bool,
    out: Path | None,
    allow_incomplete: bool,
    min_verified: Floor | None,
    baseline: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Judge recorded traffic: a HAR file, or the journal of a run. Nothing is sent.

    Obligations that the traffic does not exercise are unverified. The target file maps the
    recorded requests to the contracts, and sets the time zone of the bank's calendar day.
    """
    policy = options.exit_policy(
        allow_incomplete=allow_incomplete,
        min_verified=min_verified,
        baseline=baseline,
        selection={"k": keywords, "m": marks},
    )
    recording = open_recording(
        file,
        contracts=contracts,
        target_name=target,
        waivers=waivers,
        party=Party(party),
        keywords=keywords,
        marks=marks,
        bases=bases,
        complete=complete,
        bank_clock=bank_clock,
    )
    folder = out or new_folder(f"judged-{file_name(file.stem, 40)}")
    note_folder(folder)
    result = recording.close(
        folder / JOURNAL,
        policy=policy,
        command=_again(sys.argv[1:]),
    )
    with publication.commands_stopped(err=as_json):
        if as_json:
            return _print_json(folder, result)
        if not quiet:
            _print_scope(recording, party)
            if any(each.standing is Standing.INDETERMINATE for each in result.verdicts):
                for option in recording.undeclared:
                    click.echo(f"some verdicts may be indeterminate because {UNDECLARED[option]}")
        return finish(folder, result, quiet=quiet)


def _again(arguments: Sequence[str]) -> str:
    """Return the command that judges a recording again: without the folder, which exists now."""
    kept = list[str]()
    words = iter(arguments)
    for word in words:
        if word == "--out":
            next(words, "")
        elif not word.startswith("--out="):
            kept.append(word)
    return shlex.join(["assay", *kept])


def _print_scope(recording: RecordingSession, party: str) -> None:
    name = {"bank": "bank", "tpp": "TPP"}[party]
    click.echo(
        f"{counted(recording.exchanges, 'exchange')} judged against the obligations of the {name}"
    )
    unmatched = sum(recording.unmatched.values())
    if unmatched:
        click.echo(
            f"{counted(unmatched, 'request')} not judged because they match no operation of these contracts:"
        )
        for what, count in _most_frequent(recording.unmatched):
            click.echo(f"  {count:>5}  {what}")
        if not recording.exchanges:
            click.echo("  if they were recorded under another base URL, pass it with `--base URL`")
    if recording.unread:
        click.echo(f"{counted(recording.unread, 'request')} not judged: the body was not recorded")


def _most_frequent(requests: Mapping[str, int]) -> Sequence[tuple[str, int]]:
    ranked = sorted(requests.items(), key=lambda item: (-item[1], item[0]))
    rest = ranked[LISTED:]
    others = [(f"and {len(rest)} other kinds", sum(count for _, count in rest))] if rest else []
    return ranked[:LISTED] + others


def _print_json(folder: Path, result: RunResult) -> int:
    """Print the JSON report, and write every report."""
    read = read_journal(folder / JOURNAL)
    # As bytes: the encoding of the terminal must not change the document.
    click.echo(rendered(read, "json").encode(), nl=False)
    return exit_code(result.exit.value, written=write_reports(read, folder))
