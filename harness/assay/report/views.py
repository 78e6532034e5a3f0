"""Content that all formats share: cards of findings, results by reason, and results by clause.

The card of a result shows one violated or inconclusive obligation: the sentence of the contract,
its source, what was expected and seen, the variation sent, the redacted exchanges (the decisive
ones first, controls last) and the command that reproduces it. `card_lines` writes it as plain text
for terminal and JUnit.

A `Group` has the unverified obligations with one reason, which usually names what is
missing and the key of the target file that provides it. Inconclusive ones are grouped by their
cause: one failing call, however many it leaves open. It is read from an exchange that the evidence
cites and that could not be judged, or else from the reason, beside a violation that the same trial
shows, or one of the same clause. Reasons are texts, and are never taken apart.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from assay.contract.model import Source
from assay.history.outcomes import HIDDEN
from assay.journal.codec import SIGNING
from assay.report.sanitize import bounded, clean, one_line
from assay.report.timeline import EntryKind, TimelineEntry, moment
from assay.report.values import (
    ENDED,
    EvidenceRole,
    Headers,
    PlannedObligation,
    Report,
    ReportedExchange,
    ReportedResult,
)
from assay.report.wording import counted, listed, shared_reasons
from assay.rules.verdict import Standing

#: What to do about a reason, by a word in it.
ADVICE: tuple[tuple[str, str], ...] = (
    (ENDED, "complete the run"),
    ("budget", "raise `budget` in the target file, or run again when the budget is renewed"),
    ("person", "run again with a person present to sign"),
)


def source_text(source: Source) -> str:
    """Return section, line and words of a place in the source document."""
    place = ", line ".join(filter(None, (source.section, str(source.line or ""))))
    return f"{place}: “{source.text}”" if source.text else place


def card_lines(
    result: ReportedResult, *, exchanges: int = 10, body: int = 4_096, entries: int = 60
) -> Iterator[str]:
    """Yield a card as lines of plain text, without its title.

    `exchanges` and `entries` are the largest numbers of exchanges and of entries of the
    timeline, `body` is the largest number of characters of a body.
    """
    for label, text, place in sentences(result):
        yield f"{label:<11}{text}{place}"
    if result.timeline and entries:
        yield ""
        yield "timeline   (the target's clock)"
        yield from timeline_lines(result, entries=entries)
    roles = result.roles
    for exchange in result.exchanges[:exchanges]:
        yield ""
        yield exchange_title(exchange, roles.get(exchange.n))
        yield from exchange_lines(exchange, body=body)
    for note in notes(result, shown=exchanges):
        yield f"({note})"
    if result.reproduce:
        yield ""
        yield f"reproduce  {result.reproduce}"
    if result.resend:
        yield f"request    {result.resend}"


def sentences(result: ReportedResult, most: int | None = None) -> Iterator[tuple[str, str, str]]:
    """Yield the sentences of a card: a label, a text, and where it was seen, if it was.

    `most` is the largest number of sources and of findings.
    """
    yield "contract", result.planned.says, ""
    if result.planned.asks:
        yield "facet", result.planned.asks, ""
    for source in result.planned.sources[:most]:
        yield "source", source_text(source), ""
    if result.waiver:
        yield "waiver", result.waiver, ""
    if result.further_reason:
        yield "reason", result.further_reason, ""
    for finding in result.findings[:most]:
        yield "expected", finding.expected, ""
        place = f" (exchange {finding.shown_by})" if finding.shown_by else ""
        yield "seen", finding.seen, place
        if finding.variation:
            yield "variation", finding.variation, ""


def timeline_lines(result: ReportedResult, *, entries: int = 60) -> Iterator[str]:
    """Yield the timeline of a card, a line for each moment and each entry.

    If it is longer, the entries closest to the decisive exchanges stay.
    """
    now, roles = "", result.roles
    for entry in nearest_entries(result, entries):
        if entry.at and entry.at != now:
            now = entry.at
            yield f"  {moment(now)}"
        role = roles.get(entry.exchange)
        mark = f", {role.value}" if role else ""
        number = str(entry.exchange or "")
        yield f"    {number:>6}  {entry_text(entry)}{mark}"


def nearest_entries(result: ReportedResult, limit: int) -> Iterator[TimelineEntry]:
    """Yield the entries that are left if the timeline is cut to a number of entries."""
    timeline = result.timeline
    if len(timeline) <= limit:
        yield from timeline
        return
    decisive = [n for n, role in result.roles.items() if role is EvidenceRole.DECISIVE]
    last = max((i for i, each in enumerate(timeline) if each.exchange in decisive), default=limit)
    end = min(max(last + 1, limit), len(timeline))
    for skipped, part in ((end - limit, timeline[end - limit : end]), (len(timeline) - end, ())):
        if skipped:
            text = f"{counted(skipped, 'more event')}, in the JSON report"
            yield TimelineEntry(kind=EntryKind.LEFT_OUT, text=text)
        yield from part


def entry_text(entry: TimelineEntry) -> str:
    """Return what an entry of a timeline says, in one line."""
    subject = f"{entry.subject}: " if entry.subject else ""
    if not entry.exchange:
        return f"{subject}{entry.text}"
    variation = f" [{entry.variation}]" if entry.variation else ""
    return f"{subject}{entry.operation}{variation} -> {entry_outcome(entry)}"


def entry_outcome(entry: TimelineEntry) -> str:
    """Return the outcome of a call or a signature, with its status and why."""
    status = f" ({entry.status})" if entry.status else ""
    return f"{entry.outcome}{status}{f': {entry.why}' if entry.why else ''}"


def notes(result: ReportedResult, *, shown: int) -> Iterator[str]:
    """Yield what the evidence cites and the card does not show."""
    if len(result.exchanges) > shown:
        hidden = counted(len(result.exchanges) - shown, "more exchange")
        yield f"and {hidden} in the JSON report"
    for number in result.missing:
        yield f"exchange {number} is cited but missing from the journal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Obligations that share a reason, and what to do about it, if known."""

    reason: str
    advice: str
    results: tuple[ReportedResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseRow:
    """A clause with the results of all its facets, in plan order."""

    contract: str
    clause: str
    kind: str
    statement: str
    results: tuple[ReportedResult, ...]


def by_reason(results: Iterable[ReportedResult]) -> tuple[Group, ...]:
    """Group by reason, the largest group first, ties in plan order.

    Reasons that differ only in how long a trial would wait are one.
    """
    every = tuple(results)
    shared = shared_reasons(map(reason_of, every))
    reasons = ((shared[reason_of(result)], result) for result in every)
    return _grouped(((reason, advice(reason)), result) for reason, result in reasons)


def _grouped(causes: Iterable[tuple[tuple[str, str], ReportedResult]]) -> tuple[Group, ...]:
    """Group by reason and advice, the largest group first."""
    members: dict[tuple[str, str], list[ReportedResult]] = {}
    for cause, result in causes:
        members.setdefault(cause, []).append(result)
    groups = (
        Group(reason=reason, advice=hint, results=tuple(results))
        for (reason, hint), results in members.items()
    )
    return tuple(sorted(groups, key=lambda group: -len(group.results)))


def explain_command(obligation: str, journal: str) -> str:
    """Return the command that explains an obligation and its verdict in the run of a journal."""
    run = str(Path(journal).parent)
    return f"assay explain {shlex.quote(obligation)} {shlex.quote(run)}"


def reason_of(result: ReportedResult) -> str:
    """Return the reason of the verdict, or that of the plan if the verdict has none."""
    return result.reason or result.planned.reason or "no reason was recorded"


def advice(reason: str) -> str:
    """Return what to do about a reason, or '' where the reason itself says it."""
    return next((hint for keyword, hint in ADVICE if keyword in reason), "")


def violation_groups(
    violations: Iterable[ReportedResult],
) -> tuple[tuple[ReportedResult, ...], ...]:
    """Group violations of one sentence, or shown by one exchange: they are likely to have one cause."""
    same: dict[object, object] = {}

    def cause(key: object) -> object:
        while same.setdefault(key, key) != key:
            same[key] = key = same[same[key]]
        return key

    every = tuple(violations)
    for each in every:
        for finding in each.findings:
            if finding.shown_by:
                same[cause((each.shown_by, finding.shown_by))] = cause(each.planned.says)
    groups: dict[object, list[ReportedResult]] = {}
    for each in every:
        groups.setdefault(cause(each.planned.says), []).append(each)
    return tuple(map(tuple, groups.values()))


def by_clause(report: Report) -> tuple[ClauseRow, ...]:
    """Return every clause with its facets in plan order, without the open points."""
    by: dict[tuple[str, str], list[ReportedResult]] = {}
    for result in report.results:
        if not is_open_point(result.planned):
            key = (result.planned.contract, result.planned.clause)
            by.setdefault(key, []).append(result)
    return tuple(
        ClauseRow(
            contract=contract,
            clause=clause,
            kind=members[0].planned.kind,
            statement=members[0].planned.says,
            results=tuple(members),
        )
        for (contract, clause), members in by.items()
    )


def is_open_point(planned: PlannedObligation) -> bool:
    """Whether this is a point that the source document leaves open."""
    return planned.kind == Standing.UNSPECIFIED.value


# -- causes of inconclusive obligations ------------------------------------------------
#: The outcome of an exchange that could not be judged, as timelines have it.
INDETERMINATE = Standing.INDETERMINATE.value
#: How many violations a cause names.
NAMED = 3


def by_cause(report: Report) -> tuple[Group, ...]:
    """Group the inconclusive obligations by their cause, the largest group first."""
    violations = _Violations(report)
    return _grouped((violations.cause(each), each) for each in report.of(Standing.INDETERMINATE))


class _Violations:
    """The violations of a report: by the trial that shows them, by clause, and by answer."""

    def __init__(self, report: Report) -> None:
        self.of_trial: dict[str, list[str]] = {}
        self.of_clause: dict[tuple[str, str], list[str]] = {}
        self.of_answer: dict[tuple[str, int], list[str]] = {}
        for result in report.of(Standing.VIOLATES):
            self.of_trial.setdefault(result.shown_by, []).append(result.planned.id)
            clause = result.planned.contract, result.planned.clause
            self.of_clause.setdefault(clause, []).append(result.planned.id)
            for exchange in result.exchanges[:1]:
                answer = exchange.operation, exchange.response.status
                self.of_answer.setdefault(answer, []).append(result.planned.id)

    def cause(self, result: ReportedResult) -> tuple[str, str]:
        """Return why an obligation is inconclusive, and which violations show the same."""
        failed = next(_failed(result), None)
        if failed is not None:
            cause = f"{failed.operation}: {failed.why}"
            same = self.of_answer.get((failed.operation, failed.status), [])
        else:
            cause = reason_of(result)
            clause = result.planned.contract, result.planned.clause
            same = self.of_trial.get(result.shown_by) or self.of_clause.get(clause, [])
        return cause, f"see {listed(same, NAMED)}" if same else ""


def _failed(result: ReportedResult) -> Iterator[TimelineEntry]:
    """Yield the exchanges that evidence cites and that could not be judged; others explain nothing."""
    for entry in result.timeline:
        if entry.outcome == INDETERMINATE and entry.exchange in result.cites:
            yield entry


# -- exchanges as text -----------------------------------------------------------------
_HOST = re.compile(r"^[a-z]+://[^/?#]*")
#: The longest body that a command sends.
COMMAND_BODY = 4_000
#: Headers that curl writes itself.
_OWN_HEADERS = frozenset({"content-length", "host"})
_NO_NAME = re.compile(r"[^A-Za-z0-9]+")
_TOO_LONG = " more characters left out)"


def exchange_title(exchange: ReportedExchange, role: EvidenceRole | None = None) -> str:
    """Return the line that identifies an exchange: number, operation, customer, time, role."""
    customer = f"{exchange.subject}, " if exchange.subject else ""
    presence = "customer present" if exchange.present else "customer absent"
    who = f"{customer}{presence}"
    title = f"exchange {exchange.n} · {exchange.operation} · {who} · clock {moment(exchange.at)}"
    return f"{title} · {role.value}" if role else title


def call_title(exchange: ReportedExchange) -> str:
    """Return method, path and status of a call, or who signed, in a few words."""
    if exchange.operation == SIGNING:
        return f"signature by {exchange.subject or 'the customer'} → {exchange.outcome}"
    path = _HOST.sub("", exchange.request.url) or "/"
    return f"{exchange.request.method} {path} → {exchange.response.status or 'no response'}"


def exchange_lines(exchange: ReportedExchange, *, body: int = 4_096) -> Iterator[str]:
    """Yield request (`>`), response (`<`), variation (`*`) and outcome (`=`) of an exchange."""
    request, response = exchange.request, exchange.response
    if exchange.variation:
        yield f"* variation: {exchange.variation}"
    if exchange.operation == SIGNING:
        yield from _signature_lines(exchange, body)
        return
    yield f"> {request.method} {request.url}"
    yield from _message(request.headers, request.body, ">", body)
    yield f"< {response.status or 'no response'}"
    yield from _message(response.headers, response.body, "<", body)
    if response.truncated:
        yield "* the response body is truncated in the journal"
    why = f": {exchange.why}" if exchange.why else ""
    yield f"= {exchange.outcome}{why} ({exchange.ms:g} ms)"


def _signature_lines(exchange: ReportedExchange, limit: int) -> Iterator[str]:
    """Yield what a customer did on the screens, which is no call and has no body."""
    yield f"> signature by {exchange.subject or 'the customer'} at {exchange.request.url}"
    for sign, text in ((">", exchange.request.body), ("<", exchange.response.body)):
        for name, value in _members(text):
            # Decoded from JSON, a text may have what was harmless in its escapes.
            yield one_line(clean(f"{sign} {name}: {value}", limit))
    status = f" (status {exchange.response.status})" if exchange.response.status else ""
    why = f": {exchange.why}" if exchange.why else ""
    yield f"= {exchange.outcome}{why}{status}"


def _members(text: str) -> Iterator[tuple[str, str]]:
    """Yield the members of a JSON object that say something, lists as words with commas."""
    try:
        values: object = json.loads(text or "{}")
    except (ValueError, RecursionError):
        yield "body", text
        return
    members = cast("dict[str, object]", values) if isinstance(values, dict) else {"body": text}
    for name, value in members.items():
        if isinstance(value, list):
            words = dict.fromkeys(str(item) for item in cast("list[object]", value))
            yield name, ", ".join(words)
        elif value not in (None, ""):
            yield name, str(value)


def _message(headers: Headers, text: str, sign: str, limit: int) -> Iterator[str]:
    for name, value in headers:
        yield f"{sign} {name}: {value}"
    if text:
        yield sign
        for line in bounded(text, limit).split("\n"):
            yield f"{sign} {line}"


def curl_command(exchange: ReportedExchange) -> str:
    """Return the command that sends a request again; "" for a signature, or without an address.

    A hidden header becomes a shell variable. Pseudonyms stay: the reader puts the values back.
    """
    request = exchange.request
    if exchange.operation == SIGNING or not request.url.startswith(("http://", "https://")):
        return ""
    method = [] if request.method == "GET" else ["-X", shlex.quote(request.method)]
    words = ["curl", "-i", *method, shlex.quote(request.url)]
    for name, value in request.headers:
        if name.lower() not in _OWN_HEADERS:
            words += ["-H", _header(name, value)]
    if request.body and len(request.body) <= COMMAND_BODY and not request.body.endswith(_TOO_LONG):
        words += ["--data-raw", shlex.quote(request.body)]
    return " ".join(words)


def _header(name: str, value: str) -> str:
    if value != HIDDEN:
        return shlex.quote(f"{name}: {value}")
    variable = _NO_NAME.sub("_", name).strip("_").upper() or "HIDDEN"
    return f'{shlex.quote(name + ": ")}"${{{variable}}}"'
