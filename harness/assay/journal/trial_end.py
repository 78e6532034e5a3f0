"""Ends of trials in a journal, with everything that a resumed run must know about them.

A line of this kind is written when a trial, or a search, has ended, before its preliminary
verdicts. What a value of a class has in JSON follows from its fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.journal.lines import Line
from assay.journal.typed_values import read_line, read_record
from assay.judging.corrections import AnswersSeen
from assay.rules.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictSource:
    """The trial that shows a violation, with its sequence or the obligation that it settles."""

    trial: str = ""
    replay: str = ""
    settles: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedVerdict:
    """A verdict before corrections, and what shows it, if that is not the trial of the obligation."""

    verdict: Verdict
    source: VerdictSource = VerdictSource()


@dataclass(frozen=True, slots=True, kw_only=True)
class Accesses:
    """How many accesses without the customer a run has made."""

    customer: str
    operation: str
    accesses: int


def accesses(line: Line) -> tuple[Accesses, ...]:
    """Read the accesses without the customer that a footer names."""
    return tuple(
        Accesses(
            customer=each.text("customer"),
            operation=each.text("operation"),
            accesses=each.count("accesses"),
        )
        for each in line.objects("spent")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialEnd:
    """What a trial changed. It is not `done` if the target could not be used.

    `shown` counts what agreed by facet, and `hides` says whether that is less than in the base
    context. `answers` are those of the operations that showed something new; `spent` is what the
    run had spent until then.
    """

    trial: str
    done: bool = True
    hides: bool = False
    shown: Mapping[str, int] = field(default_factory=dict[str, int])
    verdicts: tuple[RecordedVerdict, ...] = ()
    answers: AnswersSeen = field(default_factory=AnswersSeen)
    spent: tuple[Accesses, ...] = ()


def trial_end(line: Line) -> TrialEnd:
    """Read the line of a trial that ended.

    Raises:
        JournalError: it is damaged.

    """
    return read_line(line, lambda values: read_record(TrialEnd, values, {}))
