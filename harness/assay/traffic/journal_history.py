"""Histories of the trials of a run, read back from its journal.

A journal does not have private texts, but shows which of them were the same, so every check says of
it what it said in the run. A journal that is damaged or unfinished is refused, as in a report.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.errors import InputError
from assay.history import Event, History
from assay.journal.codec import EVENTS, decode
from assay.journal.lines import parse, raw_lines, refuse
from assay.report import read_journal
from assay.traffic.judge import NamedHistory

#: The first bytes of a journal.
BEGINS = b'{"type": "header"'
#: Why a line cannot be read back.
UNREADABLE = "damaged, or written by another version of Assay"


def is_journal(path: Path) -> bool:
    """Whether a file begins as a journal does.

    Raises:
        InputError: it cannot be read.

    """
    try:
        with path.open("rb") as stream:
            return stream.read(len(BEGINS)) == BEGINS
    except OSError as error:
        raise InputError.one(str(path), f"cannot be read: {error.strerror}") from None


@dataclass(slots=True, kw_only=True)
class JournalHistories:
    """A journal's trials, with the contracts that were asked and what each trial was for."""

    contracts: tuple[str, ...]
    digests: Mapping[str, str]
    told: tuple[NamedHistory, ...]


def read_trials(path: Path) -> JournalHistories:
    """Read the histories of a journal's trials.

    Raises:
        JournalError: it is damaged, foreign, unfinished, or of an older version.

    """
    report = read_journal(path)
    about: dict[str, set[str]] = {}
    for one in report.results:
        if one.planned.fate == "ask":
            about.setdefault(one.planned.trial, set()).add(one.planned.id)
    faulty = {fault.where for fault in report.faults}
    trials: dict[str, list[Event]] = {}
    for trial, event in _events(path):
        trials.setdefault(trial, []).append(event)
    told = tuple(
        NamedHistory(
            name=name,
            history=History(events=tuple(events)),
            about=frozenset(about.get(name, ())),
            from_search=name not in about,
            own=True,
        )
        for name, events in trials.items()
        if name not in faulty
    )
    contracts = report.header.contracts
    return JournalHistories(
        contracts=tuple(one.id for one in contracts),
        digests={one.id: one.digest for one in contracts},
        told=told,
    )


def _events(path: Path) -> Iterator[tuple[str, Event]]:
    name = str(path)
    with path.open("rb") as stream:
        for number, raw in raw_lines(stream, name):
            line = parse(name, number, raw).values
            if line.get("type") not in EVENTS:
                continue
            try:
                yield str(line.get("trial", "")), decode(line)
            except (KeyError, ValueError, TypeError, AttributeError) as error:
                refuse(name, f"{UNREADABLE} ({type(error).__name__})", number)
