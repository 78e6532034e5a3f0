"""Reader of a journal file: returns a `Report`, or refuses the file.

A journal is refused rather than read charitably: a truncated or altered one that reads as a full
one would make a run green without proof. Two passes: the first checks every line and takes plan,
verdicts and footer, the second takes only the exchanges that a finding cites; so memory grows with
the obligations, never with the exchanges. No judgement here: verdicts are read.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from assay.errors import JournalError
from assay.journal.codec import EVENTS
from assay.journal.lines import Line, parse, raw_lines, refuse
from assay.judging.verdict import Standing
from assay.report import decode
from assay.report.values import (
    ENDED,
    Fault,
    Footer,
    Header,
    PlannedObligation,
    Report,
    ReportedExchange,
    ReportedResult,
    ReportedSearch,
)

_FINDINGS = (Standing.VIOLATES, Standing.INDETERMINATE)

Key = tuple[str, int]


@dataclass(slots=True)
class _Draft:
    """What the first pass has gathered so far."""

    path: str
    partial: bool
    header: Header | None = None
    plan: dict[str, PlannedObligation] = field(default_factory=dict[str, PlannedObligation])
    results: dict[str, ReportedResult] = field(default_factory=dict[str, ReportedResult])
    searches: dict[tuple[str, str], ReportedSearch] = field(
        default_factory=dict[tuple[str, str], ReportedSearch]
    )
    faults: list[Fault] = field(default_factory=list[Fault])
    footer: Footer | None = None
    begun: bool = False


def read_journal(path: str | Path, *, partial: bool = False) -> Report:
    """Read a journal, refusing one that is damaged, foreign or unfinished.

    With `partial` an unfinished run is read all the same: what it did not
    reach is unverified. Damage is refused either way.
    """
    name = str(path)
    try:
        with Path(path).open("rb") as stream:
            draft = _first_pass(stream, name, partial=partial)
            results = [_result(draft, one) for one in draft.plan.values()]
            stream.seek(0)
            found = _second_pass(stream, name, _wanted(results))
    except FileNotFoundError:
        refuse(name, "no such journal")
    except IsADirectoryError:
        refuse(name, "a directory, not a journal")
    except OSError as error:
        refuse(name, f"cannot be read: {error.strerror}")
    if draft.header is None:
        refuse(name, "not an Assay journal: it is empty")
    return Report(
        header=draft.header,
        results=tuple(_with_exchanges(one, found) for one in results),
        faults=tuple(draft.faults),
        footer=draft.footer,
        complete=_is_complete(draft),
        searches=tuple(draft.searches.values()),
    )


def _first_pass(stream: BinaryIO, path: str, *, partial: bool) -> _Draft:
    draft = _Draft(path=path, partial=partial)
    digest = hashlib.sha256()
    for number, raw in raw_lines(stream, path):
        if draft.footer is not None:
            refuse(path, "damaged: something follows the footer", number)
        try:
            line = parse(path, number, raw)
        except JournalError:
            if partial and draft.header and not raw.endswith(b"\n"):
                break  # the writer was stopped in the middle of this line
            raise
        _take(draft, line)
        if draft.footer is None:
            digest.update(raw)
        elif draft.footer.digest != f"sha256:{digest.hexdigest()}":
            line.refuse("damaged: the digest does not match the lines before it")
    _check_found(draft)
    _check_whole(draft)
    return draft


def _take(draft: _Draft, line: Line) -> None:
    if draft.header is None:
        draft.header = decode.header(line)
        return
    match line.text("type"):
        case "plan":
            _take_plan(draft, line)
        case "verdict":
            _take_verdict(draft, line)
        case "search":
            _take_search(draft, line)
        case "fault":
            draft.faults.append(decode.fault(line))
        case "footer":
            draft.footer = decode.footer(line)
        case kind if kind in EVENTS:
            draft.begun = True
        case kind:
            line.refuse(f"unknown kind of line {kind[:40]!r}")


def _take_plan(draft: _Draft, line: Line) -> None:
    planned = decode.planned(line)
    if draft.begun:
        line.refuse(f"{planned.id} is planned after the run began")
    if planned.id in draft.plan:
        line.refuse(f"{planned.id} is planned twice")
    draft.plan[planned.id] = planned


def _take_verdict(draft: _Draft, line: Line) -> None:
    draft.begun = True
    name = decode.obligation(line)
    planned = draft.plan.get(name)
    if planned is None:
        line.refuse(f"a verdict on {name}, which was not planned")
    if name in draft.results:
        line.refuse(f"{name} has two verdicts")
    draft.results[name] = decode.result(line, planned)


def _take_search(draft: _Draft, line: Line) -> None:
    draft.begun = True
    search = decode.search(line)
    known = draft.header.contracts if draft.header else ()
    if search.contract not in {one.id for one in known}:
        line.refuse(f"a search of {search.contract}, which is no contract of this run")
    key = (search.contract, search.how)
    if key in draft.searches:
        line.refuse(f"two searches of {search.contract} by {search.how}")
    draft.searches[key] = search


def _check_found(draft: _Draft) -> None:
    """Refuse a record that passes what one of its searches found broken."""
    for search in draft.searches.values():
        for one in search.findings:
            result = draft.results.get(one.obligation)
            if result is not None and result.standing is Standing.CONFORMS:
                what = f"{one.obligation} conforms, but a search found it broken"
                refuse(draft.path, f"damaged: {what}")


def _check_whole(draft: _Draft) -> None:
    """Refuse an unfinished record unless it may be partial."""
    if draft.partial or draft.header is None:
        return
    footer, path = draft.footer, draft.path
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
    counts = Counter(one.standing.value for one in draft.results.values())
    if any(counts[word] != number for word, number in footer.counts.items()):
        refuse(path, "damaged: the footer's counts are not those of the verdicts")


def _is_complete(draft: _Draft) -> bool:
    footer = draft.footer
    whole = len(draft.results) == len(draft.plan)
    return footer is not None and not footer.aborted and whole


def _result(draft: _Draft, planned: PlannedObligation) -> ReportedResult:
    missing = ReportedResult(planned=planned, standing=Standing.UNVERIFIED, reason=ENDED)
    return draft.results.get(planned.id, missing)


def _keys(result: ReportedResult) -> tuple[Key, ...]:
    if result.standing not in _FINDINGS:
        return ()
    trial = result.trial or result.planned.trial
    return tuple((trial, n) for n in result.cites)


def _wanted(results: list[ReportedResult]) -> frozenset[Key]:
    return frozenset(key for result in results for key in _keys(result))


def _second_pass(
    stream: BinaryIO, path: str, wanted: frozenset[Key]
) -> dict[Key, ReportedExchange]:
    found: dict[Key, ReportedExchange] = {}
    if not wanted:
        return found
    for number, raw in raw_lines(stream, path):
        if b'"exchange"' not in raw or not raw.endswith(b"\n"):
            continue
        line = parse(path, number, raw)
        if line.text("type") != "exchange":
            continue
        key = decode.exchange_key(line)
        if key in found:
            line.refuse(f"exchange {key[1]} of {key[0]} is recorded twice")
        if key in wanted:
            found[key] = decode.exchange(line)
    return found


def _with_exchanges(result: ReportedResult, found: dict[Key, ReportedExchange]) -> ReportedResult:
    cited = tuple(found[key] for key in _keys(result) if key in found)
    return replace(result, exchanges=cited)
