"""Cards of violated obligations, as pytest, JUnit, pytest-html and Allure show them.

pytest shows the card of a violation instead of source code, and JUnit has it from there. Allure and
pytest-html get what they have a place for, if they are installed and in use.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from assay.contract.model import Contract, Level
from assay.journal.journal_file import JOURNAL, create
from assay.journal.writer import Journal
from assay.judging.waivers import covered, waiver_results
from assay.pytest_plugin.relay import TrialJournal
from assay.report.build import read_journal
from assay.report.values import Report, ReportedResult
from assay.report.views import card_lines, exchange_lines, exchange_title
from assay.report.wording import SIGNS
from assay.rules.obligation import Obligation
from assay.rules.verdict import Verdict
from assay.running.session import Session

#: The names under which the plugins of Allure and pytest-html are registered while in use.
ALLURE, HTML = "allure_listener", "html"
#: The title of an item in Allure: the name of its parameter is replaced.
_TITLE = "{obligation}"
_URL = re.compile(r"https?://[^\s,;]+")


@dataclass(frozen=True, slots=True)
class FailureLine:
    """Place and line of a failure, with the names that pytest reads."""

    path: str
    lineno: int
    message: str


@dataclass(frozen=True, slots=True)
class FailureText:
    """The text of a failure that no item raised, and its line."""

    text: str
    reprcrash: FailureLine

    def __str__(self) -> str:
        """Return the text."""
        return self.text


# -- cards ---------------------------------------------------------------------------
# A card is read from a journal. Here it is a temporary one, of the trial that shows the violation.
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


# -- items ---------------------------------------------------------------------------
def allure_marks(
    config: pytest.Config, function: Callable[..., object], contract: Contract
) -> Callable[[Obligation], Sequence[pytest.MarkDecorator]]:
    """Return a function to the marks from which Allure takes title, groups and links of an item."""
    if not config.pluginmanager.has_plugin(ALLURE):
        return lambda _: ()
    allure: Any = import_module("allure")
    allure.title(_TITLE)(function)
    levels = allure.severity_level

    def marks(obligation: Obligation) -> Sequence[pytest.MarkDecorator]:
        must = obligation.level is Level.MUST
        urls = _URL.findall(contract.document)
        return [
            allure.feature(contract.title or contract.id),
            allure.story(obligation.clause),
            allure.severity(levels.CRITICAL if must else levels.MINOR),
            allure.description(_description(obligation, contract)),
            *(allure.link(url, name=contract.document) for url in urls),
        ]

    return marks


def _description(obligation: Obligation, contract: Contract) -> str:
    """Return what an obligation says, and where the document says it."""
    quotes = [
        f"{source}: “{source.text}”" if source.text else str(source)
        for source in obligation.sources
    ]
    lines = [obligation.statement, obligation.description, contract.document, *quotes]
    return "\n\n".join(filter(None, lines))


# -- failures ------------------------------------------------------------------------
def attach(config: pytest.Config, failure: Failure) -> None:
    """Attach the card of a failure and its exchanges to the item that runs, if Allure is in use."""
    if not config.pluginmanager.has_plugin(ALLURE):
        return
    allure: Any = import_module("allure")
    text = allure.attachment_type.TEXT
    allure.attach(failure.text, name="card", attachment_type=text)
    for title, exchange in failure.exchanges():
        allure.attach(exchange, name=title, attachment_type=text)


def present(
    config: pytest.Config,
    report: pytest.TestReport,
    call: pytest.CallInfo[None],
    failure: Failure,
) -> None:
    """Give the report of a failed item the line of its failure, and pytest-html the exchanges."""
    if call.excinfo is not None and isinstance(call.excinfo.value, pytest.fail.Exception):
        call.excinfo.value.msg = failure.summary  # the text is in the report; Allure wants both
    line: Any = getattr(report.longrepr, "reprcrash", None)
    if line is not None:
        line.path, line.lineno, line.message = (
            failure.path,
            failure.card.planned.line,
            failure.summary,
        )
    if config.pluginmanager.has_plugin(HTML) or hasattr(config, "workerinput"):
        extras: list[dict[str, object]] = [
            {
                "name": title,
                "format_type": "text",
                "content": text,
                "mime_type": "text/plain",
                "extension": "txt",
            }
            for title, text in failure.exchanges()
        ]
        vars(report)["extras"] = [*getattr(report, "extras", []), *extras]


def summary_of(report: pytest.TestReport) -> str:
    """Return the line of a failed report that says what is wrong."""
    return str(getattr(getattr(report.longrepr, "reprcrash", None), "message", ""))
