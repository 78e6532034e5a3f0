"""A report's results put together for reading: by reason, and by clause.

"What would unblock it" is looked up in a visible table, by the capability
that the obligations need and their reason names; a reason that no row knows
gets no advice rather than a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from assay.contract.model import Capability
from assay.judging.verdict import Standing
from assay.report.values import ENDED, PlannedObligation, Report, ReportedResult

#: What gives a target a capability that was missing.
CAPABILITY_ADVICE: Mapping[str, str] = {
    Capability.PSU.value: "name a test customer in the profile's world",
    Capability.TWO_PSU.value: "name two customers in the profile's world",
    Capability.CONSENT.value: "say in the profile how a consent is given",
    Capability.BATCH.value: "say in the profile how the absent customer is signalled",
    Capability.CLOCK.value: "give the target a clock that the harness can move",
    Capability.ROSTER.value: "let the profile's world hold the things that are listed",
    Capability.ZONE.value: "have the document say whose calendar day counts",
    Capability.CREDENTIALS.value: "name the variables that hold the credentials",
    Capability.ENTRIES.value: "let the profile's world make dated entries",
}

#: The same for reasons that are no capability, by a word in them.
REASON_ADVICE: tuple[tuple[str, str], ...] = (
    (ENDED, "run again to the end"),
    ("budget", "raise the profile's budget, or run again when it is renewed"),
    ("read-only", "allow writing in the profile, if this target may be written to"),
    ("person", "run with somebody there to sign"),
    ("human", "run with somebody there to sign"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Obligations that share a reason, and what would unblock them, if known."""

    reason: str
    advice: str
    results: tuple[ReportedResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseRow:
    """A clause with all its facets, in plan order."""

    contract: str
    clause: str
    kind: str
    says: str
    results: tuple[ReportedResult, ...]


def by_reason(results: Iterable[ReportedResult]) -> tuple[Group, ...]:
    """Group by reason, the largest group first, ties in plan order."""
    found: dict[str, list[ReportedResult]] = {}
    for one in results:
        found.setdefault(reason_of(one), []).append(one)
    groups = (
        Group(reason=reason, advice=advice(reason, members), results=tuple(members))
        for reason, members in found.items()
    )
    return tuple(sorted(groups, key=lambda group: -len(group.results)))


def reason_of(result: ReportedResult) -> str:
    """Return the reason of the verdict, or else of the plan."""
    return result.reason or result.planned.why or "no reason was recorded"


def advice(reason: str, results: Iterable[ReportedResult]) -> str:
    """Return what would unblock obligations with this reason, or ''."""
    needed = {need for one in results for need in one.planned.needs}
    words = set(re.findall(r"[a-z]+(?:-[a-z]+)*", reason.lower()))
    hints = [hint for name, hint in CAPABILITY_ADVICE.items() if name in needed and name in words]
    hints = hints or [hint for word, hint in REASON_ADVICE if word in reason][:1]
    return "; ".join(hints)


def by_clause(report: Report) -> tuple[ClauseRow, ...]:
    """Return every clause with its facets, open points left out, in plan order."""
    found: dict[tuple[str, str], list[ReportedResult]] = {}
    for one in report.results:
        if not is_open_point(one.planned):
            key = (one.planned.contract, one.planned.clause)
            found.setdefault(key, []).append(one)
    return tuple(
        ClauseRow(
            contract=contract,
            clause=clause,
            kind=members[0].planned.kind,
            says=members[0].planned.says,
            results=tuple(members),
        )
        for (contract, clause), members in found.items()
    )


def is_open_point(planned: PlannedObligation) -> bool:
    """Tell whether this is a point on which the document is silent."""
    return planned.kind == Standing.UNSPECIFIED.value
