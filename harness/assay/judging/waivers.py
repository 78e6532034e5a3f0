"""Waivers of a run: which verdicts they change, and the state that each of them is in.

A waiver excuses a violation through its last day. The verdict on an obligation always says what
was seen: a waiver that has expired, or that is no longer needed, never makes a violation of it.
Nothing here does I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, timedelta
from enum import Enum

from assay.binding.model.target import Waiver
from assay.binding.read.join import expired
from assay.planning.plan import Plan
from assay.rules.checks import facets_of
from assay.rules.verdict import Standing, Verdict

#: A waiver that ends within this time expires soon.
SOON = timedelta(days=14)


class WaiverState(Enum):
    """What is to be done about a waiver; the value is the word used everywhere."""

    IN_FORCE = "in-force"
    EXPIRES_SOON = "expires-soon"
    EXPIRED = "expired"
    SUPERFLUOUS = "superfluous"
    UNMATCHED = "unmatched"


@dataclass(frozen=True, slots=True, kw_only=True)
class WaiverResult:
    """A waiver with its state after a run.

    `name` is the id of an obligation, or of a clause. `waived` are the obligations that it
    excuses, `violated` those that it would excuse if it had not expired. `tested` says that the run
    has verdicts on what it names.
    """

    name: str
    owner: str
    reason: str
    expires: str
    state: WaiverState
    waived: tuple[str, ...] = ()
    violated: tuple[str, ...] = ()
    tested: bool = True

    @property
    def invalid(self) -> bool:
        """Whether the waiver must be removed or renewed before a run can pass."""
        return self.tested and self.state in INVALID


#: The states in which a waiver must be removed or renewed.
INVALID = frozenset({WaiverState.EXPIRED, WaiverState.SUPERFLUOUS, WaiverState.UNMATCHED})


def apply_waivers(verdict: Verdict, waivers: Sequence[Waiver], today: date) -> Verdict:
    """Waive a violation, if a waiver is in force; if one has expired, say so."""
    if verdict.standing is not Standing.VIOLATES or not waivers:
        return verdict
    naming = sorted(
        (waiver for waiver in waivers if waiver.covers(verdict.obligation)),
        key=lambda waiver: (expired(waiver, today), not waiver.obligation),
    )
    if not naming:
        return verdict
    first = naming[0]
    if expired(first, today):
        reason = f"the waiver of {first.owner} expired on {first.expires}: {verdict.reason}"
        return replace(verdict, reason=reason)
    reason = f"{first.reason} ({first.owner}, until {first.expires})"
    return replace(verdict, standing=Standing.WAIVED, reason=reason)


def covered(waivers: Iterable[Waiver], plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return the obligations that each waiver names, by its name, whether they are selected or not."""
    names: dict[str, tuple[str, ...]] = {}
    for waiver in waivers:
        contract, _, clause = waiver.clause.partition("/")
        bound = plan.clauses.get(contract, {}).get(clause)
        facets = (f"{waiver.clause}/{facet.id}" for facet in facets_of(bound.kind)) if bound else ()
        names[waiver.name] = (waiver.obligation,) if waiver.obligation else tuple(facets)
    return names


def waiver_results(
    waivers: Iterable[Waiver],
    covers: Mapping[str, Sequence[str]],
    verdicts: Mapping[str, Standing],
    today: date,
    *,
    sample: bool = False,
) -> tuple[WaiverResult, ...]:
    """Return the state of each waiver, given the final verdicts.

    `covers` has what each of them names. A recording is only a `sample` of what a bank does: it
    makes no waiver superfluous.
    """
    return tuple(
        _result(waiver, covers.get(waiver.name, ()), verdicts, today, sample=sample)
        for waiver in waivers
    )


def _result(
    waiver: Waiver,
    names: Sequence[str],
    verdicts: Mapping[str, Standing],
    today: date,
    *,
    sample: bool,
) -> WaiverResult:
    seen = {name: verdicts[name] for name in names if name in verdicts}
    needless = {Standing.CONFORMS, Standing.NOT_APPLICABLE}
    conforms = Standing.CONFORMS in seen.values() and len(seen) == len(names)
    if conforms and needless >= {*seen.values()} and not (waiver.intermittent or sample):
        state = WaiverState.SUPERFLUOUS
    else:
        state = state_on(waiver, today)
    return WaiverResult(
        name=waiver.name,
        owner=waiver.owner,
        reason=waiver.reason,
        expires=waiver.expires,
        state=state,
        waived=tuple(
            name
            for name, standing in seen.items()
            if standing is Standing.WAIVED and state is not WaiverState.EXPIRED
        ),
        violated=tuple(name for name, standing in seen.items() if standing is Standing.VIOLATES),
        tested=bool(seen),
    )


def state_on(waiver: Waiver, today: date) -> WaiverState:
    """Return the state of a waiver on a day, before anything was tested."""
    if expired(waiver, today):
        return WaiverState.EXPIRED
    soon = date.fromisoformat(waiver.expires) - today <= SOON
    return WaiverState.EXPIRES_SOON if soon else WaiverState.IN_FORCE


def untested(waiver: Waiver, today: date) -> WaiverResult:
    """Return a waiver with its state on a day, before anything was tested."""
    return _result(waiver, (), {}, today, sample=True)


def as_record(result: WaiverResult) -> dict[str, object]:
    """Return a waiver as the journal has it."""
    return {**asdict(result), "state": result.state.value}
