"""Reader of a journal file: returns a `Report`, or refuses the file.

A truncated or altered journal is refused: if it could be read as a complete one, a run would be
green without proof. There are two passes. The first checks every line and reads plan, verdicts and
footer; the second reads the timelines of the trials that verdicts cite, and the exchanges that a
finding cites. So memory grows with the number of obligations, not with that of exchanges. Nothing
is judged here: verdicts are read. Callers that need more than a report has, to resume, verify or
judge a run again, are given each line of the second pass (`each`).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, TypeAlias

from assay.errors import JournalError
from assay.journal.codec import EVENTS, trial_end
from assay.journal.lines import (
    Line,
    abandoned_lines,
    complete_lines,
    parse,
    raw_lines,
    refuse,
)
from assay.judging.waivers import WaiverResult
from assay.report import decode
from assay.report.sanitize import clean, one_line, shown_text
from assay.report.timeline import TimelineReader
from assay.report.values import (
    EMBEDDED,
    ENDED,
    ElsewhereObligation,
    Fault,
    Footer,
    Header,
    PlannedObligation,
    RecordedLines,
    Report,
    ReportedExchange,
    ReportedResult,
    ReportedSearch,
    UnfinishedTrial,
)
from assay.report.views import curl_command
from assay.report.wording import lapsed
from assay.rules.verdict import Standing

#: What is done with a line of a journal.
EachLine: TypeAlias = Callable[[Line], None]
#: Lines that a resumed run needs, and a report only checks.
CHECKED: Mapping[str, Callable[[Line], object]] = {
    "ended": trial_end,
    "resumed": decode.resumed,
}


@dataclass(slots=True)
class _Draft:
    """What the first pass has read so far."""

    path: str
    partial: bool
    lines: RecordedLines = field(default_factory=RecordedLines)
    header: Header | None = None
    plan: dict[str, PlannedObligation] = field(default_factory=dict[str, PlannedObligation])
    results: dict[str, ReportedResult] = field(default_factory=dict[str, ReportedResult])
    preliminary: dict[str, ReportedResult] = field(default_factory=dict[str, ReportedResult])
    searches: dict[tuple[str, str, str], ReportedSearch] = field(
        default_factory=dict[tuple[str, str, str], ReportedSearch]
    )
    elsewhere: dict[str, ElsewhereObligation] = field(
        default_factory=dict[str, ElsewhereObligation]
    )
    faults: list[Fault] = field(default_factory=list[Fault])
    unfinished: list[UnfinishedTrial] = field(default_factory=list[UnfinishedTrial])
    waivers: tuple[WaiverResult, ...] = ()
    footer: Footer | None = None
    begun: bool = False


def read_journal(
    path: str | Path,
    *,
    partial: bool = False,
    passes: bool = False,
    each: EachLine | None = None,
    abandoned: EachLine | None = None,
) -> Report:
    """Read a journal; refuse one that is damaged, unfinished or not ours.

    With `partial`, an unfinished journal is read too, wherever it was cut: the last preliminary
    verdicts count, and obligations that the run did not reach are unverified. A damaged journal
    is always refused. With `passes`, the exchanges that show that an obligation conforms are
    read as well. When all lines were checked, `each` gets those that count, in order, and `abandoned`
    those that a resumed run abandoned.
    """
    name = str(path)
    try:
        with Path(path).open("rb") as stream:
            draft = _first_pass(stream, name, partial=partial)
            results = [_result(draft, planned) for planned in draft.plan.values()]
            stream.seek(0)
            cited = CitedExchanges(results, draft.searches.values(), passes=passes)
            for number, raw, is_abandoned in complete_lines(stream, name):
                take = abandoned if is_abandoned else each
                wanted = not is_abandoned and cited.wants(raw)
                if wanted or take is not None:
                    line = parse(name, number, raw)
                    if wanted:
                        cited.take(line)
                    if take is not None:
                        take(line)
    except FileNotFoundError:
        refuse(name, "no such journal")
    except IsADirectoryError:
        refuse(name, "a directory, not a journal")
    except OSError as error:
        refuse(name, f"cannot be read: {error.strerror}")
    if draft.header is None:
        refuse(name, "not an Assay journal: it is empty")
    network = draft.header.target.transport != EMBEDDED
    expired = lapsed(draft.waivers)
    return Report(
        header=draft.header,
        results=tuple(
            replace(
                cited.add_to(result, network=network), waiver=expired.get(result.planned.id, "")
            )
            for result in results
        ),
        faults=tuple(draft.faults),
        footer=draft.footer,
        complete=_is_complete(draft),
        searches=tuple(map(cited.add_to_search, draft.searches.values())),
        unfinished=tuple(draft.unfinished),
        elsewhere=tuple(draft.elsewhere.values()),
        journal=name,
        waivers=draft.waivers,
        lines=draft.lines,
    )


def _first_pass(stream: BinaryIO, path: str, *, partial: bool) -> _Draft:
    draft = _Draft(path=path, partial=partial)
    is_abandoned = abandoned_lines(stream, path)
    digest = hashlib.sha256()
    for number, raw in raw_lines(stream, path):
        if is_abandoned(number):
            digest.update(raw)
            continue
        if draft.footer is not None:
            refuse(path, "damaged: there is data after the footer", number)
        try:
            line = parse(path, number, raw)
        except JournalError:
            if raw.endswith(b"\n") or not partial:
                raise
            if draft.header is None:
                what = "unfinished: the run ended while writing the first line"
                refuse(path, f"{what} (nothing was tested; run it again)", number)
            break  # the writer was stopped in the middle of this line
        _take(draft, line)
        if draft.footer is None:
            digest.update(raw)
        elif draft.footer.digest != f"sha256:{digest.hexdigest()}":
            what = "damaged: the digest does not match the lines before it"
            line.refuse(f"{what} (`assay verify` names the line)")
    _check_findings(draft)
    _check_complete(draft)
    return draft


def _take(draft: _Draft, line: Line) -> None:
    if draft.header is None:
        draft.header, draft.lines.header = decode.header(line), line
        return
    match line.text("type"):
        case "plan":
            _take_plan(draft, line)
        case "elsewhere":
            _take_elsewhere(draft, line)
        case "preliminary" | "verdict" as kind:
            _take_verdict(draft, line, preliminary=kind == "preliminary")
        case "search":
            _take_search(draft, line)
        case "fault":
            draft.faults.append(decode.read_fields(Fault, line))
        case "unfinished":
            draft.unfinished.append(decode.read_fields(UnfinishedTrial, line))
        case "waivers":
            draft.waivers = decode.waivers(line)
        case "footer":
            draft.footer, draft.lines.footer = decode.footer(line), line
        case kind:
            draft.begun = True
            _take_other(draft, line, kind)


def _take_other(draft: _Draft, line: Line, kind: str) -> None:
    if kind in CHECKED:
        CHECKED[kind](line)
    elif kind == "observations":
        draft.lines.observations = line
    elif kind not in EVENTS:
        line.refuse(f"unknown kind of line {kind[:40]!r}")


def _take_plan(draft: _Draft, line: Line) -> None:
    planned = decode.planned(line)
    if draft.begun:
        line.refuse(f"{planned.id} is planned after the run began")
    if planned.id in draft.plan:
        line.refuse(f"{planned.id} is planned twice")
    draft.plan[planned.id], draft.lines.plan[planned.id] = planned, line


def _take_elsewhere(draft: _Draft, line: Line) -> None:
    obligation = decode.elsewhere(line)
    name = obligation.planned.id
    if draft.begun or name in draft.plan or name in draft.elsewhere:
        line.refuse(f"{name} is planned twice, or after the run began")
    draft.elsewhere[name], draft.lines.elsewhere[name] = obligation, line


def _take_verdict(draft: _Draft, line: Line, *, preliminary: bool) -> None:
    draft.begun = True
    name = decode.obligation(line)
    planned = draft.plan.get(name)
    if preliminary and name in draft.elsewhere:
        violated = decode.standing(line) is Standing.VIOLATES
        draft.elsewhere[name] = replace(draft.elsewhere[name], violated=violated)
        draft.lines.written[name] = line
        return
    if planned is None:
        line.refuse(f"a verdict on {name}, which was not planned")
    if name in draft.results:
        line.refuse(f"{name} has two verdicts")
    results = draft.preliminary if preliminary else draft.results
    results[name], draft.lines.written[name] = decode.result(line, planned), line


def _take_search(draft: _Draft, line: Line) -> None:
    draft.begun = True
    search = decode.search(line)
    known = draft.header.contracts if draft.header else ()
    if search.contract not in {contract.id for contract in known}:
        line.refuse(f"a search of {search.contract}, which is no contract of this run")
    key = (search.contract, search.how, search.operation)
    if key in draft.searches:
        line.refuse(f"two searches of {search.contract} by {search.how}")
    draft.searches[key] = search


def _check_findings(draft: _Draft) -> None:
    """Refuse a journal in which an obligation conforms that a search found violated."""
    for search in draft.searches.values():
        for finding in search.findings:
            result = draft.results.get(finding.obligation)
            if result is not None and result.standing is Standing.CONFORMS:
                what = f"{finding.obligation} conforms, but a search found a violation of it"
                refuse(draft.path, f"damaged: {what}")


def _check_complete(draft: _Draft) -> None:
    """Refuse an unfinished journal unless it may be partial; one that is finished must add up."""
    footer, path = draft.footer, draft.path
    if draft.header is None or (draft.partial and (footer is None or footer.aborted)):
        return
    if footer is None:
        refuse(path, "unfinished: no footer; the run was stopped before its end")
    if footer.aborted:
        refuse(path, f"unfinished: the run was aborted: {footer.aborted}")
    known = len(draft.results)
    if not footer.planned == len(draft.plan) == known == sum(footer.counts.values()):
        refuse(
            path,
            f"unfinished: {footer.planned} planned by the footer,"
            f" {len(draft.plan)} plan lines, {known} verdicts,"
            f" {sum(footer.counts.values())} counted",
        )
    counts = Counter(result.standing.value for result in draft.results.values())
    if any(counts[verdict] != number for verdict, number in footer.counts.items()):
        refuse(path, "damaged: the footer's counts are not those of the verdicts")


def _is_complete(draft: _Draft) -> bool:
    footer = draft.footer
    whole = len(draft.results) == len(draft.plan)
    return footer is not None and not footer.aborted and whole


def _result(draft: _Draft, planned: PlannedObligation) -> ReportedResult:
    """Return the verdict on an obligation; in an unfinished journal, the last preliminary one."""
    missing = ReportedResult(planned=planned, standing=Standing.UNVERIFIED, reason=ENDED)
    return draft.results.get(planned.id) or draft.preliminary.get(planned.id, missing)


# -- Exchanges that verdicts cite, and timelines of their trials, read from a journal ------------
# This is the second pass through a journal, after verdicts and plan are known. It reads only the
# lines of trials that a verdict cites, so its memory does not grow with the number of exchanges.
#: Verdicts of which the exchanges are always shown.
FINDINGS = frozenset({Standing.VIOLATES, Standing.INDETERMINATE, Standing.WAIVED})
#: Verdicts of which the evidence and the timeline are shown.
SHOWN = FINDINGS | {Standing.CONFORMS}

#: How the line of an event begins, as the writer orders it.
_EVENT = re.compile(rb'\{"type": "([a-z]+)", "trial": ("(?:[^"\\]|\\.)*")')

Key = tuple[str, int]
#: Trial, operation and customer of a call.
Call = tuple[str, str, str]


class CitedExchanges:
    """What the journal has of the exchanges that the results and searches of a run cite.

    `passes` says that those of conforming obligations are read as well.
    """

    def __init__(
        self,
        results: Iterable[ReportedResult],
        searches: Iterable[ReportedSearch],
        *,
        passes: bool,
    ) -> None:
        self._shown = SHOWN if passes else FINDINGS
        self._exchanges: dict[Key, ReportedExchange] = {}
        self._accepted: dict[Call, Line] = {}
        self._varied: dict[Key, tuple[Call, Line | None]] = {}
        cited: dict[str, set[int]] = {}
        wanted: set[Key] = set()
        for result in results:
            if result.standing in SHOWN:
                cited.setdefault(result.shown_by, set()).update(result.cites)
            wanted.update(self._keys(result))
        for search in searches:
            wanted.update((answer.trial, answer.exchange) for answer in search.documented)
        self._wanted = frozenset(wanted)
        self._timelines = TimelineReader(
            cited={trial: frozenset(numbers) for trial, numbers in cited.items()}
        )
        self._shown_trials = {trial for trial, _ in wanted}
        self._trials = self._shown_trials | cited.keys()

    def wants(self, raw: bytes) -> bool:
        """Whether a line is an event of a trial that is cited, without reading all of it."""
        match = _EVENT.match(raw)
        if match is None or match[1].decode() not in EVENTS:
            return False
        return one_line(clean(json.loads(match[2]))) in self._trials

    def take(self, line: Line) -> None:
        """Read the line of an event; each was checked before."""
        kind, trial = line.text("type"), shown_text(line, "trial")
        if trial in self._timelines.cited:
            self._timelines.add(trial, kind, line)
        if kind == "exchange" and (key := decode.exchange_key(line)) in self._wanted:
            if key in self._exchanges:
                line.refuse(f"exchange {key[1]} of {key[0]} is recorded twice")
            self._exchanges[key] = decode.exchange(line)
        if kind == "exchange" and trial in self._shown_trials:
            self._take_control(line)

    def _take_control(self, line: Line) -> None:
        """Keep the last call accepted without a variation, and what there was before a varied one."""
        key, varied = decode.exchange_key(line), line.text("variation", "")
        call = key[0], line.text("operation", ""), line.text("subject", "")
        if varied and key in self._wanted:
            self._varied[key] = call, self._accepted.get(call)
        elif not varied and line.inner("outcome").text("kind", "") == "accepted":
            self._accepted[call] = line

    def _controls(self, keys: Iterable[Key]) -> Iterator[tuple[int, ReportedExchange]]:
        """Yield the number and the control of varied exchanges; the one before it, or else after it."""
        for key in keys:
            call, before = self._varied.get(key, (None, None))
            if line := before or (self._accepted.get(call) if call else None):
                yield key[1], decode.exchange(line)

    def add_to(self, result: ReportedResult, *, network: bool) -> ReportedResult:
        """Return a result with what it cites; `network` says that requests can be sent again."""
        cited = tuple(self._exchanges[key] for key in self._keys(result) if key in self._exchanges)
        return replace(
            result,
            exchanges=cited,
            controls=dict(self._controls(self._keys(result))),
            timeline=self._timelines.of(result.shown_by),
            resend=curl_command(cited[0]) if cited and network else "",
        )

    def add_to_search(self, search: ReportedSearch) -> ReportedSearch:
        """Return a search with the exchanges of the answers that it saw."""
        documented = tuple(
            replace(
                answer,
                exchanges=tuple(
                    filter(None, [self._exchanges.get((answer.trial, answer.exchange))])
                ),
            )
            for answer in search.documented
        )
        return replace(search, documented=documented)

    def _keys(self, result: ReportedResult) -> tuple[Key, ...]:
        if result.standing not in self._shown:
            return ()
        return tuple((result.shown_by, n) for n in result.cites)
