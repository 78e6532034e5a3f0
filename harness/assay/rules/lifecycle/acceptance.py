"""Base of the kinds that say which requests are accepted, and which are rejected.

A kind says what it expects of an attempt, and which attempts can be controls. Its check follows
from that: each attempt is judged beside the nearest controls (`attempts`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from assay.history import History
from assay.rules.lifecycle.attempts import (
    Attempt,
    attempts,
    controls,
    must_be_accepted,
    must_be_rejected,
)
from assay.rules.lifecycle.parameters import the_request
from assay.rules.lifecycle.tracker import Lifecycle
from assay.rules.refusing_kind import RefusingKind
from assay.rules.verdict import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The outcome that a rule expects of an attempt, the facet that it shows, and the reason."""

    facet: str
    accepted: bool
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceRule(RefusingKind):
    """Base of the kinds that say which requests are accepted, and which are rejected.

    A subclass defines `case`, `is_control` and `common`; the check follows from them.
    """

    lifecycle: Lifecycle = the_request()  # noqa: RUF009 -- declares a parameter

    def case(self, attempt: Attempt) -> Case | None:
        """Return what the rule expects of an attempt; None where it does not apply."""
        raise NotImplementedError

    def is_control(self, attempt: Attempt) -> bool:
        """Whether the rule expects an attempt to be accepted, so that others compare with it."""
        raise NotImplementedError

    def common(self, attempt: Attempt) -> Hashable:
        """Return what an attempt and its control must have in common, besides what was sent."""
        raise NotImplementedError

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every attempt to which the rule applies, beside its controls."""
        tries = attempts(self.lifecycle, history)
        beside = controls(tries, self.is_control, self.common)
        for attempt in tries:
            case = self.case(attempt)
            if case is not None:
                judge = must_be_accepted if case.accepted else must_be_rejected
                yield from judge(case.facet, attempt, beside.get(attempt.made.n, ()), case.why)
