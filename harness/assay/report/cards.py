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
# Members that the finding names are marked: the evidence has them only in its words, so a pane
# without a mark is possible.
#: Lines of a message that a pane shows, and the deepest indent of a member.
LINES = 200
DEEPEST = 12
#: The shortest word of a finding that is a value without quotes, and how many are looked for.
LONG = 6
VALUES = 20
#: Headers that differ from call to call, whatever is varied.
_VOLATILE = re.compile(r"(?i)((content-)?(digest|length)|date|signature(-input)?|x-request-id): ")
_JSON = re.compile(r'\s*[{\[]\s*["{\[\]}\d]')
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\],:]|[^\s"{}\[\],:]+')
#: Name and value of a header, a parameter or a member.
_PAIR = re.compile(r'\s*[?&]? ?"?([^\s":=]+)"?(?:: |=)"?(.*?)"?,?$')
_CUT = re.compile(r"… \([\d,]+ more characters left out\)$")
_QUOTED = re.compile(r"'([^']{2,})'")
_WORD = re.compile(r"\w+(?:[.:+-]\w+)*")
_STATUS = re.compile(r"\(\d{3}\)")

#: The texts of a pane, each with the HTML element that it stands in: `ins`, `del`, `mark` or none.
Pane = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Panes:
    """Request and response of an exchange; `control` is the exchange it is compared with, or 0."""

    request: Pane
    response: Pane
    control: int = 0


def panes(
    exchange: ReportedExchange, control: ReportedExchange | None, findings: Sequence[Evidence]
) -> Panes:
    """Return the panes of an exchange, with what the control and the findings say of it."""
    if exchange.operation == SIGNING:
        lines = tuple(exchange_lines(exchange))
        shown = ([each for each in lines if (each[:1] in "*>") is sent] for sent in (True, False))
        request, response = (_spans(("", each[2:]) for each in part) for part in shown)
        return Panes(request=request, response=response)
    words = _Words(each for each in findings if exchange.n == each.shown_by)
    sent, seen = _limited(_request_lines(exchange)), _limited(_response_lines(exchange))
    return Panes(
        request=_spans(_difference(_limited(_request_lines(control)), sent))
        if control
        else _marked(sent, words),
        response=_marked(seen, words),
        control=control.n if control else 0,
    )


def _request_lines(exchange: ReportedExchange) -> Iterator[str]:
    """Yield method and address, each parameter of the query, headers and body."""
    address, mark, query = exchange.request.url.partition("?")
    yield f"{exchange.request.method} {address}"
    for parameter in query.split("&") if mark else ():
        yield f"  {mark} {parameter}"
        mark = "&"
    yield from _message(exchange.request.headers, exchange.request.body)


def _response_lines(exchange: ReportedExchange) -> Iterator[str]:
    """Yield status, headers and body."""
    response = exchange.response
    yield str(response.status or "no response")
    yield from _message(response.headers, response.body)
    if response.truncated:
        yield "(the body is truncated in the journal)"


def _message(headers: Headers, body: str) -> Iterator[str]:
    yield from (f"{name}: {value}" for name, value in headers)
    if body:
        yield ""
    yield from json_lines(body)


def json_lines(text: str) -> Iterator[str]:
    """Yield JSON with a line for each member, even if it is cut; any other text in its lines."""
    cut = _CUT.search(text)
    whole = text[: cut.start()] if cut else text
    if not _JSON.match(whole) or not (cut or _is_json(whole)):
        yield from text.split("\n") if text else ()
        return
    lines, depth = [""], 0
    for part in _TOKEN.findall(whole):
        closing, opening = part in {"}", "]"}, part in {"{", "["}
        depth += opening - closing
        indent = "  " * max(min(depth, DEEPEST), 0)
        if closing and lines[-1].strip():
            lines.append(indent)
        elif closing and lines[-2:-1] and lines[-2].endswith(("{", "[")):
            lines.pop()
        lines[-1] += f"{part} " if part == ":" else part
        if opening or part == ",":
            lines.append(indent)
    yield from filter(str.strip, lines)
    if cut:
        yield cut[0]


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


def _marked(lines: Sequence[str], words: _Words) -> Pane:
    decisive = words.decisive(lines)
    return _spans(("mark" if line in decisive else "", f"  {line}") for line in lines)


class _Words:
    """The names and values that findings on an exchange have in their words."""

    def __init__(self, findings: Iterable[Evidence]) -> None:
        every = tuple(findings)
        seen = " ".join(each.seen for each in every)
        required = " ".join(f"{each.expected} {each.variation}" for each in every)
        words = [word for word in _WORD.findall(seen) if len(word) >= LONG and not word.isalpha()]
        self._names = frozenset(_WORD.findall(f"{seen} {required}"))
        self._values = frozenset([*_QUOTED.findall(seen), *words][:VALUES])
        self._statuses = frozenset(_STATUS.findall(seen))

    def decisive(self, lines: Iterable[str]) -> frozenset[str]:
        """Return a named status, and the lines named best: by name and value, by value, or by name."""
        scores = {line: self._score(line) for line in lines}
        best = max(scores.values(), default=0)
        named = (line for line, score in scores.items() if 0 < score == best)
        return frozenset(named) | {line for line in scores if f"({line})" in self._statuses}

    def _score(self, line: str) -> int:
        pair = _PAIR.match(line)
        name, value = pair.groups() if pair else ("", line)
        if any(each == value or (len(each) >= LONG and each in value) for each in self._values):
            return 2 + (name in self._names)
        # A name in lower case may be any word of the sentence.
        return int(name in self._names and not name.islower())


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
