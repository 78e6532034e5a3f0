"""Cards of violated obligations, as the texts with which their items fail.

A card is read from a journal. Here it is a temporary one, of the trial that shows the violation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.journal.journal_file import JOURNAL, create
from assay.journal.writer import Journal
from assay.judging.waivers import covered, waiver_results
from assay.pytest_plugin.relay import TrialJournal
from assay.report.build import read_journal
from assay.report.values import Report, ReportedResult
from assay.report.views import card_lines, exchange_lines, exchange_title
from assay.report.wording import SIGNS
from assay.rules.verdict import Verdict
from assay.running.session import Session

#: How much of a card is in the text of a failure: exchanges, characters of a body, and entries of
#: the timeline.
EXCHANGES = 2
BODY = 1_000
ENTRIES = 20
#: How long the line is that says what is wrong.
SUMMARY = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What a violated obligation says in pytest: a line, a text, and the card they come from.

    `path` is that of the contract, relative to the working directory if it is there.
    """

    summary: str
    text: str
    card: ReportedResult
    path: str

    def exchanges(self) -> Iterator[tuple[str, str]]:
        """Yield title and text of each exchange of the card."""
        for exchange in self.card.exchanges:
            yield exchange_title(exchange), "\n".join(exchange_lines(exchange))


def failure_of(session: Session, journal: TrialJournal, verdict: Verdict) -> Failure:
    """Return what the item of a violated obligation says.

    Raises:
        AssayError: the temporary journal cannot be written.

    """
    report = _report(session, journal, verdict)
    card = report.results[0]
    lines = card_lines(card, exchanges=EXCHANGES, body=BODY, entries=ENTRIES)
    text = "\n".join(
        (
            f"{SIGNS[card.standing]} {card.planned.id}  {card.standing.value}",
            *(f"    {line}" if line else "" for line in lines),
        )
    )
    path = _nearest(report.contract(card.planned.contract).path)
    return Failure(summary=_summary(card), text=text, card=card, path=path)


def _summary(card: ReportedResult) -> str:
    """Return the verdict and the reason for it in one line."""
    reason = card.further_reason
    if card.findings and not reason:
        first = card.findings[0]
        reason = f"expected {first.expected}; seen {first.seen}"
    return f"{card.standing.value}: {reason}"[:SUMMARY]


def _nearest(path: str) -> str:
    """Return a path relative to the working directory, or the name of a file that is elsewhere."""
    here = Path.cwd()
    return str(Path(path).relative_to(here)) if Path(path).is_relative_to(here) else Path(path).name


def _report(session: Session, journal: TrialJournal, verdict: Verdict) -> Report:
    """Return the report of one obligation."""
    (planned,) = (item for item in session.plan.items if item.obligation.id == verdict.obligation)
    source = session.sources.get(verdict.obligation)
    with TemporaryDirectory(prefix="assay-") as folder:
        path = Path(folder) / JOURNAL
        extract = Journal(out=create(path), redactor=journal.redactor)
        extract.header(
            replace(session.plan, items=(planned,), shard=None),
            session.environment.target,
            seed=session.options.seed,
            selection={},
            command="",
        )
        # The redactor has given every value its pseudonym when the trial was recorded.
        journal.redactor.begin()
        trial = source or planned.obligation.trial
        for event, access in journal.events_of(trial):
            extract.event(trial, event, access)
        reproduce = session.sources.reproduce(verdict.obligation)
        extract.verdict(verdict, reproduce, source, preliminary=True)
        waivers = session.environment.target.waivers
        names = covered(waivers, session.plan)
        seen = {verdict.obligation: verdict.standing}
        extract.waivers(waiver_results(waivers, names, seen, datetime.now(UTC).date()))
        if extract.out is not None:
            extract.out.close()
        return read_journal(path, partial=True)
