"""Cards of the HTML page: what shows each violated, inconclusive or conforming obligation.

They stay within the size that a browser opens quickly: what is beyond it is only counted. Violations
of one cause stand together, and inconclusive obligations with one cause share a card: the cause is
shown once, not forty times. What shows that an obligation conforms is there as well, if the report
has it. The decisive exchange of a card comes first, controls last. Nothing here escapes for HTML.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import groupby
from typing import TypeAlias

from assay.journal.codec import SIGNING
from assay.report.timeline import EntryKind, TimelineEntry, relative_times
from assay.report.values import EvidenceRole, Headers, Report, ReportedExchange, ReportedResult
from assay.report.views import (
    Group,
    by_cause,
    exchange_lines,
    explain_command,
    nearest_entries,
    notes,
    violation_groups,
)
from assay.report.wording import counted
from assay.rules.verdict import Evidence, Standing

# -- Two panes of an exchange --------------------------------------------------------------------
# Request and response as lines, with what differs from the control. A body in JSON is broken into
# lines without being decoded, so that its numbers, its order and its escapes stay as they were sent.
# The member that decides is marked, or what it should be in; where none does, the status.
#: Lines of a message that a pane shows, and the deepest indent of a member.
LINES = 600
DEEPEST = 12
#: Headers that differ from call to call, whatever is varied.
_VOLATILE = re.compile(r"(?i)((content-)?(digest|length)|date|signature(-input)?|x-request-id): ")
_JSON = re.compile(r'\s*[{\[]\s*["{\[\]}\d]')
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\],:]|[^\s"{}\[\],:]+')
_CUT = re.compile(r"… \([\d,]+ more characters left out\)$")
#: The texts of a pane, each with the HTML element that it stands in: `ins`, `del`, `mark` or none.
Pane: TypeAlias = tuple[tuple[str, str], ...]
#: A line of JSON with the pointer to the member that begins in it, if one does.
Place: TypeAlias = tuple[str, str | None]
#: The last line of a body that is longer.
TRUNCATED = "(the body is truncated in the journal)"
#: The sign at the beginning of a marked line.
MARK = "→"


@dataclass(frozen=True, slots=True, kw_only=True)
class Panes:
    """Request and response of an exchange; `control` is the exchange it is compared with, or 0.

    `decisive` are the pointers and headers that decide, each with a note if it is not there.
    """

    request: Pane
    response: Pane
    control: int = 0
    decisive: tuple[tuple[str, str], ...] = ()


def panes(
    exchange: ReportedExchange, control: ReportedExchange | None, findings: Sequence[Evidence]
) -> Panes:
    """Return the panes of an exchange, with what the control and the findings say of it."""
    if exchange.operation == SIGNING:
        lines = tuple(exchange_lines(exchange))
        shown = ([each for each in lines if (each[:1] in "*>") is sent] for sent in (True, False))
        request, response = (_spans(("", each[2:]) for each in part) for part in shown)
        return Panes(request=request, response=response)
    sent = _limited(_request_lines(exchange))
    response, decisive = _response(exchange, findings)
    return Panes(
        request=_spans(_difference(_limited(_request_lines(control)), sent))
        if control
        else _spans(("", f"  {line}") for line in sent),
        response=response,
        control=control.n if control else 0,
        decisive=decisive,
    )


def _response(exchange: ReportedExchange, findings: Iterable[Evidence]) -> tuple[Pane, Pane]:
    """Return status, headers and body with what decides marked, and the names of that."""
    response, marked, decisive = exchange.response, set[int](), dict[str, str]()
    body = [*_json_places(response.body, truncated=response.truncated)]
    head = [str(response.status or "no response")]
    head += [*(f"{name}: {value}" for name, value in response.headers), *([""] if body else [])]
    names = ["", *(name.lower() for name, _ in response.headers)]
    for each in (each for each in findings if exchange.n == each.shown_by):
        line, note = 0, " (missing)"
        if each.pointer and body:
            line, note = _line_of(body, each.pointer, len(head))
        elif each.header.lower() in names:
            line, note = names.index(each.header.lower()), ""
        marked.add(line)
        decisive |= {name: note for name in (each.pointer or each.header,) if name}
    # The sign of a mark is for those who see no colour.
    lines = enumerate([*head, *(line for line, _ in body)])
    signed = [f"{MARK if n in marked else ' '} {line}" for n, line in lines]
    spans = _spans(("mark" if line[0] == MARK else "", line) for line in _limited(signed))
    return spans, tuple(decisive.items())


def _line_of(body: Sequence[Place], pointer: str, before: int) -> tuple[int, str]:
    """Return the line that a pointer finds, below others, or that of what should have it."""
    cut = body[-1][0] == TRUNCATED or _CUT.fullmatch(body[-1][0])
    lines = {at: before + n for n, (_, at) in enumerate(body[:-1] if cut else body)}
    if pointer in lines:
        return lines[pointer], ""
    parent = pointer
    while parent and parent not in lines:
        parent = parent.rpartition("/")[0]
    if cut and f"{body[-1][1]}/".startswith(f"{parent}/"):
        return before + len(body) - 1, " (in what is left out)"
    return lines.get(parent, 0), " (missing)"


def _request_lines(exchange: ReportedExchange) -> Iterator[str]:
    """Yield method and address, each parameter of the query, headers and body."""
    address, mark, query = exchange.request.url.partition("?")
    yield f"{exchange.request.method} {address}"
    for parameter in query.split("&") if mark else ():
        yield f"  {mark} {parameter}"
        mark = "&"
    yield from _message(exchange.request.headers, exchange.request.body)


def _message(headers: Headers, body: str) -> Iterator[str]:
    yield from (f"{name}: {value}" for name, value in headers)
    if body:
        yield ""
    yield from json_lines(body)


def json_lines(text: str) -> Iterator[str]:
    """Yield JSON with a line for each member, even if it is cut; any other text in its lines."""
    yield from (line for line, _ in _json_places(text))


def _json_places(text: str, *, truncated: bool = False) -> Iterator[Place]:
    """Yield these lines with their pointers; the note on what is cut has that to what it was in."""
    cut = _CUT.search(text)
    whole = text[: cut.start()] if cut else text
    note = cut[0] if cut else TRUNCATED if truncated else ""
    if not _JSON.match(whole) or not (note or _is_json(whole)):
        every = [*text.split("\n"), *([TRUNCATED] if truncated else [])] if text else []
        yield from ((line, None) for line in every)
        return
    lines, depth, within = list[Place]([("", None)]), 0, _Containers()
    for part in _TOKEN.findall(whole):
        closing, opening = part in {"}", "]"}, part in {"{", "["}
        depth += opening - closing
        indent = "  " * max(min(depth, DEEPEST), 0)
        if closing and lines[-1][0].strip():
            lines.append((indent, None))
        elif closing and lines[-2:-1] and lines[-2][0].endswith(("{", "[")):
            lines.pop()
        line, at = lines[-1]
        lines[-1] = line + (f"{part} " if part == ":" else part), within.note(part, at)
        if opening or part == ",":
            lines.append((indent, None))
    yield from (each for each in lines if each[0].strip())
    if note:
        yield note, within.open[-1][0]


@dataclass(slots=True)
class _Containers:
    """The containers that are open: the pointer to each, and of a list the number of its elements.

    The first one is what the document is in: it has one element, without a step.
    """

    open: list[tuple[str, int | None]] = field(default_factory=lambda: [("", None)])
    before: str = ""

    def note(self, part: str, at: str | None) -> str | None:
        """Return the pointer to the member that is in a line, with one more part of the line."""
        (pointer, number), name, self.before = self.open[-1], self.before, part
        if part == ":":
            at = f"{pointer}/{_step(name)}"
        elif part in {"}", "]"}:
            del self.open[max(1, len(self.open) - 1) :]
        elif part == "," and number is not None:
            self.open[-1] = pointer, number + 1
        elif at is None and (number is not None or not self.open[1:]):
            at = pointer if number is None else f"{pointer}/{number}"
        if part in {"{", "["}:
            self.open.append((at or "", 0 if part == "[" else None))
        return at


def _step(name: str) -> str:
    """Return the name of a member, in quotes, as a step of a pointer."""
    try:
        text = str(json.loads(name))
    except ValueError:
        text = name
    return text.replace("~", "~0").replace("/", "~1")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _limited(lines: Iterable[str]) -> Sequence[str]:
    """Return the lines for which a pane has room, and how many are left out."""
    every = list(lines)
    rest = len(every) - LINES
    return [*every[:LINES], f"… ({counted(rest, 'more line')} left out)"] if rest > 0 else every


def _difference(control: Sequence[str], sent: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the lines sent, with those that only one of control and varied request has."""
    before, after = (list(map(_comparable, lines)) for lines in (control, sent))
    for change, start, end, first, last in SequenceMatcher(
        None, before, after, autojunk=False
    ).get_opcodes():
        if change == "equal":
            yield from (("", f"  {line}") for line in sent[first:last])
        else:
            yield from (("del", f"- {line}") for line in control[start:end])
            yield from (("ins", f"+ {line}") for line in sent[first:last])


def _comparable(line: str) -> str:
    volatile = _VOLATILE.match(line)
    return volatile[0].lower() if volatile else line.rstrip(",")


def _spans(lines: Iterable[tuple[str, str]]) -> Pane:
    """Return lines as few texts: neighbours of one element are one."""
    parts = groupby(lines, key=lambda line: line[0])
    return tuple((element, "\n".join(text for _, text in part)) for element, part in parts)


#: Cards shown in full of each verdict; the rest is only counted.
CARDS = 500
#: The size of all exchanges and timelines, in characters, and what the markup of each part counts.
EXCHANGES = 6_000_000
MARKUP = 100
#: Entries of each timeline.
ENTRIES = 60
_HOST = re.compile(r"(?<= )[a-z]+://[^/?#\s]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeCard:
    """An exchange with its two panes, and its role in the evidence."""

    exchange: ReportedExchange
    panes: Panes
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRow:
    """An entry of a timeline: the relative time, or how far it moved the clock, and what was sent."""

    entry: TimelineEntry
    at: str
    sent: str
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedCard:
    """A card with the exchanges and the timeline for which the page has room.

    `explain` is the command that explains the verdict. `contexts` are those in which its trial was
    run; the base context is the empty text.
    """

    result: ReportedResult
    explain: str
    exchanges: tuple[ExchangeCard, ...]
    timeline: tuple[TimelineRow, ...]
    notes: tuple[str, ...]
    contexts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseCard:
    """Inconclusive obligations with one cause, and the evidence of the first of them."""

    cause: Group
    first: BoundedCard


@dataclass(frozen=True, slots=True, kw_only=True)
class PageEvidence:
    """The cards of a page, violations of one cause together; `carded` have their place on one.

    `passes` are the conforming obligations whose exchanges the report has.
    """

    violations: tuple[tuple[BoundedCard, ...], ...]
    causes: tuple[CauseCard, ...]
    passes: Mapping[str, BoundedCard]
    left_out: Mapping[Standing, int]
    carded: frozenset[str]


def evidence_of(report: Report, contexts: Mapping[str, tuple[str, ...]]) -> PageEvidence:
    """Return the cards of a report, as far as the page has room; `contexts` are those of each trial."""
    room = _Room(contexts=contexts, journal=report.journal)
    violated, causes = report.of(Standing.VIOLATES), by_cause(report)
    groups = violation_groups(violated[:CARDS])
    shown = (*groups, *(each.results for each in causes[:CARDS]))
    passed = (each for each in report.of(Standing.CONFORMS) if each.exchanges)
    return PageEvidence(
        violations=tuple(tuple(map(room.card, group)) for group in groups),
        causes=tuple(
            CauseCard(cause=each, first=room.card(each.results[0])) for each in causes[:CARDS]
        ),
        passes={each.planned.id: room.card(each) for each in passed},
        left_out={
            Standing.VIOLATES: len(violated[CARDS:]),
            Standing.INDETERMINATE: sum(len(each.results) for each in causes[CARDS:]),
        },
        carded=frozenset(result.planned.id for group in shown for result in group),
    )


@dataclass(slots=True, kw_only=True)
class _Room:
    """What is left of the page's budget for exchanges and timelines."""

    contexts: Mapping[str, tuple[str, ...]]
    journal: str
    left: int = field(default_factory=lambda: EXCHANGES)

    def card(self, result: ReportedResult) -> BoundedCard:
        """Return the card of a result."""
        exchanges = tuple(self._exchanges(result))
        return BoundedCard(
            result=result,
            explain=explain_command(result.planned.id, self.journal),
            exchanges=exchanges,
            timeline=tuple(self._timeline(result)),
            notes=tuple(notes(result, shown=len(exchanges))),
            contexts=self.contexts.get(result.planned.trial, ()),
        )

    def _exchanges(self, result: ReportedResult) -> Iterator[ExchangeCard]:
        """Yield the exchanges for which there is room."""
        for exchange in result.exchanges if self.left > 0 else ():
            shown = panes(exchange, _control(result, exchange), result.findings or result.evidence)
            spans = *shown.request, *shown.response
            self.left -= sum(len(text) + MARKUP for _, text in spans)
            if self.left < 0:
                return
            yield ExchangeCard(exchange=exchange, panes=shown, role=_role(result, exchange.n))

    def _timeline(self, result: ReportedResult) -> Iterator[TimelineRow]:
        """Yield the timeline, if there is room for all of it."""
        rows = tuple(_rows(result))
        self.left -= sum(len(row.sent) + MARKUP for row in rows)
        if self.left >= 0:
            yield from rows


def _role(result: ReportedResult, number: int) -> str:
    role = result.roles.get(number)
    return role.value if role else ""


def _control(result: ReportedResult, exchange: ReportedExchange) -> ReportedExchange | None:
    """Return the control of an exchange: one that the evidence names, or else one of its trial."""
    controls = [n for n, role in result.roles.items() if role is EvidenceRole.CONTROL]
    if exchange.n in controls:
        return None
    alike = (each for each in result.exchanges if each.operation == exchange.operation)
    named = (each for each in alike if each.n in controls)
    return next(named, result.controls.get(exchange.n))


def _rows(result: ReportedResult) -> Iterator[TimelineRow]:
    """Yield the entries of a timeline; a time stands where it is another than before."""
    times = {id(entry): text for entry, text in relative_times(result.timeline)}
    before = ""
    for entry in nearest_entries(result, ENTRIES):
        time = times.get(id(entry), "")
        subject = f"{entry.subject}: " if entry.subject else ""
        text = _HOST.sub("", entry.text, count=1) if entry.kind is EntryKind.CALL else entry.text
        yield TimelineRow(
            entry=entry,
            at="" if time == before else time,
            sent=f"{subject}{text}",
            role=_role(result, entry.exchange),
        )
        before = time or before
