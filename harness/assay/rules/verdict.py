"""Verdicts, the evidence that they rest on, and how evidence is weighed.

`conforms` is earned by at least one piece of evidence that agrees and could have disagreed;
everything else has a reason. Nothing here looks at a target.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from assay.errors import Shortage


class Agreement(Enum):
    """What one observation says about one facet."""

    AGREES = "agrees"
    DISAGREES = "disagrees"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One observation on one facet, resting on numbered exchanges.

    A check yields it only where the observation could have come out otherwise.
    `variation` is the one difference from the accepted control, if any. `controls` are those
    exchanges that belong to the control, `decisive` is the one that shows the observation; 0
    stands for the last one that belongs to no control.
    """

    facet: str
    agreement: Agreement
    expected: str
    seen: str
    exchanges: tuple[int, ...]
    variation: str = ""
    decisive: int = 0
    controls: tuple[int, ...] = ()

    @property
    def in_reading_order(self) -> tuple[int, ...]:
        """Return the numbers of the exchanges: the decisive one first, then others, controls last."""
        beside = [n for n in self.exchanges if n in self.controls]
        own = [n for n in self.exchanges if n not in self.controls]
        first = [self.decisive] if self.decisive in self.exchanges else own[-1:] or beside[-1:]
        return tuple(dict.fromkeys((*first, *own, *beside)))

    @property
    def shown_by(self) -> int:
        """Return the number of the exchange that shows the observation; 0 if there is none."""
        return next(iter(self.in_reading_order), 0)


class Standing(Enum):
    """The seven verdicts; the value is the word used everywhere."""

    CONFORMS = "conforms"
    VIOLATES = "violates"
    INDETERMINATE = "indeterminate"
    UNVERIFIED = "unverified"
    UNSPECIFIED = "unspecified"
    NOT_APPLICABLE = "not-applicable"
    WAIVED = "waived"


#: The verdicts that evidence alone decides, and that a correction may take back.
DECIDED = frozenset({Standing.CONFORMS, Standing.VIOLATES})
#: The verdicts that leave a must unsettled.
OPEN = frozenset({Standing.INDETERMINATE, Standing.UNVERIFIED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict on one obligation, why, and on what evidence.

    `shortage` is set if it is unverified only for lack of something that is there another day.
    """

    obligation: str
    standing: Standing
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    calls: int = 0
    shortage: Shortage | None = None


class Exit(Enum):
    """What the exit code of a run means."""

    OK = 0
    VIOLATION = 1
    USAGE = 2
    INCOMPLETE = 3
    FAULT = 4


def weigh(evidence: Iterable[Evidence]) -> tuple[Standing, str]:
    """Merge evidence on one facet: a violation outweighs doubt, doubt a pass; without any, no reason."""
    seen = tuple(evidence)
    for agreement, standing in (
        (Agreement.DISAGREES, Standing.VIOLATES),
        (Agreement.UNCLEAR, Standing.INDETERMINATE),
        (Agreement.AGREES, Standing.CONFORMS),
    ):
        for each in seen:
            if each.agreement is agreement:
                conforms = standing is Standing.CONFORMS
                return standing, "" if conforms else f"expected {each.expected}; {each.seen}"
    return Standing.INDETERMINATE, ""


def tally(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """Count verdicts by standing, every standing named, in a fixed order."""
    counts = Counter(verdict.standing for verdict in verdicts)
    return {standing.value: counts[standing] for standing in Standing}


def explain(verdict: Verdict) -> str:
    """Return a few lines on why an obligation does not conform."""
    lines = [f"{verdict.obligation} {verdict.standing.value}: {verdict.reason}"]
    for evidence in verdict.evidence:
        if evidence.agreement is Agreement.DISAGREES:
            calls = ", ".join(str(n) for n in evidence.exchanges)
            lines.append(f"  expected {evidence.expected}")
            lines.append(f"  seen     {evidence.seen} (call {calls})")
            lines += [f"  by       {evidence.variation}"] if evidence.variation else []
    return "\n".join(lines)
