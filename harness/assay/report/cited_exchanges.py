"""Exchanges that verdicts cite, and timelines of their trials, read from a journal.

This is the second pass through a journal, after verdicts and plan are known. It reads only the
lines of trials that a verdict cites, so its memory does not grow with the number of exchanges.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import BinaryIO

from assay.journal.codec import EVENTS
from assay.journal.lines import parse, raw_lines
from assay.judging.verdict import Standing
from assay.report import decode
from assay.report.exchange_text import curl_command
from assay.report.sanitize import clean, one_line
from assay.report.timeline import TimelineReader
from assay.report.values import ReportedExchange, ReportedResult, ReportedSearch

#: Verdicts of which the exchanges are always shown.
FINDINGS = frozenset({Standing.VIOLATES, Standing.INDETERMINATE, Standing.WAIVED})
#: Verdicts of which the evidence and the timeline are shown.
SHOWN = FINDINGS | {Standing.CONFORMS}

#: How the line of an event begins, as the writer orders it.
_EVENT = re.compile(rb'\{"type": "([a-z]+)", "trial": ("(?:[^"\\]|\\.)*")')

Key = tuple[str, int]


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

    def read(self, stream: BinaryIO, path: str, abandoned: Callable[[int], bool]) -> None:
        """Read the lines of a journal, from the start; each was checked before."""
        trials = {trial for trial, _ in self._wanted} | self._timelines.cited.keys()
        for number, raw in raw_lines(stream, path):
            if abandoned(number):
                continue
            kind, trial = _event(raw)
            if not kind or trial not in trials:
                continue
            line = parse(path, number, raw)
            if trial in self._timelines.cited:
                self._timelines.add(trial, kind, line)
            if kind == "exchange" and (key := decode.exchange_key(line)) in self._wanted:
                if key in self._exchanges:
                    line.refuse(f"exchange {key[1]} of {key[0]} is recorded twice")
                self._exchanges[key] = decode.exchange(line)

    def add_to(self, result: ReportedResult, *, network: bool) -> ReportedResult:
        """Return a result with what it cites; `network` says that requests can be sent again."""
        cited = tuple(self._exchanges[key] for key in self._keys(result) if key in self._exchanges)
        return replace(
            result,
            exchanges=cited,
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


def _event(raw: bytes) -> tuple[str, str]:
    """Return kind and trial of the line of an event without reading all of it; "" if it is none."""
    match = _EVENT.match(raw)
    if match is None or not raw.endswith(b"\n") or match[1].decode() not in EVENTS:
        return "", ""
    trial: str = json.loads(match[2])
    return match[1].decode(), one_line(clean(trial))
