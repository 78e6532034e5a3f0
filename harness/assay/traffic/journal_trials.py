"""Trials of a journal, as histories that can be judged again.

The journal of a run that was cut short has the trials before the cut. Its last trial may lack
events, so it counts only if something recorded at the end of a trial follows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from assay.errors import InputError
from assay.history import Event, History
from assay.journal.codec import EVENTS, decode
from assay.journal.lines import Line
from assay.journal.typed_values import read_line
from assay.journal.writer import QUOTED
from assay.planning.plan import Disposition
from assay.report import Report, read_journal
from assay.traffic.judge import NamedHistory

#: The first bytes of a journal.
JOURNAL_START = b'{"type": "header"'
#: What is written when a trial has ended, or a search.
AFTER_A_TRIAL = frozenset({"preliminary", "search", "unfinished", "fault", "ended"})


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalHistories:
    """The histories of a journal's trials, with the contracts of the run and their digests.

    `unfinished` says why the journal is not that of a whole run; empty if it is.
    """

    contracts: tuple[str, ...]
    digests: Mapping[str, str]
    histories: tuple[NamedHistory, ...]
    unfinished: str = ""


def is_journal(path: Path) -> bool:
    """Whether a file begins as a journal does.

    Raises:
        InputError: it cannot be read.

    """
    try:
        with path.open("rb") as stream:
            return stream.read(len(JOURNAL_START)) == JOURNAL_START
    except OSError as error:
        raise InputError.one(str(path), f"cannot be read: {error.strerror}") from None


def read_trials(path: Path) -> JournalHistories:
    """Read the histories of a journal's trials.

    Raises:
        JournalError: it is damaged, or of another version of Assay.

    """
    recorded = _RecordedTrials()
    report = read_journal(path, partial=True, each=recorded.take)
    about: dict[str, set[str]] = {}
    for result in report.results:
        if result.planned.disposition == Disposition.ASK.value:
            about.setdefault(result.planned.trial, set()).add(result.planned.id)
    left_out = {fault.where for fault in report.faults}
    if not report.complete and not recorded.ended:
        left_out.add(recorded.last)
    histories = tuple(
        NamedHistory(
            name=name,
            history=History(events=tuple(events)),
            about=frozenset(about.get(name, ())),
            sequence=name not in about,
            own=True,
        )
        for name, events in recorded.trials.items()
        if name not in left_out
    )
    contracts = report.header.contracts
    return JournalHistories(
        contracts=tuple(contract.id for contract in contracts),
        digests={contract.id: contract.digest for contract in contracts},
        histories=histories,
        unfinished="" if report.complete else _unfinished(report),
    )


def _unfinished(report: Report) -> str:
    why = report.footer.aborted if report.footer else ""
    reason = f" ({why})" if why else ""
    return f"the recorded run ended early{reason}; obligations that it did not reach are unverified"


@dataclass(slots=True, kw_only=True)
class _RecordedTrials:
    """The events of each trial; the `last` trial, and whether it `ended`."""

    trials: dict[str, list[Event]] = field(default_factory=dict[str, list[Event]])
    last: str = ""
    ended: bool = True

    def take(self, line: Line) -> None:
        """Take in the next line."""
        kind = line.text("type")
        if kind == "header" and line.text("exchanges", "") == QUOTED:
            line.refuse(
                "this journal of `assay judge` contains only cited exchanges; judge the original"
                " recording instead"
            )
        if kind in EVENTS:
            self.last, self.ended = line.text("trial"), False
            self.trials.setdefault(self.last, []).append(read_line(line, decode))
        elif kind in AFTER_A_TRIAL:
            self.ended = True
