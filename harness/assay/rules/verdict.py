"""Verdicts, the evidence that they rest on, how a check writes it, and how it is weighed.

`conforms` is earned by at least one piece of evidence that agrees and could have disagreed;
everything else has a reason. Nothing here looks at a target.

Most checks need only `must_be_served` and `must_be_refused` for the bank, and `tpp_evidence` for
the TPP. Other checks build an `Evidence` themselves, and describe what they saw with
`describe_answer`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from enum import Enum

from assay.errors import Shortage
from assay.history import Accepted, AnsweredCall, Cause, Exchange, Indeterminate, Member


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
    stands for the last one that belongs to no control. `member` is the member of its answer that
    decides, if a single one does. Judging replaces it by where this target has it: the JSON
    `pointer` into the body, or the `header`.
    """

    facet: str
    agreement: Agreement
    expected: str
    seen: str
    exchanges: tuple[int, ...]
    variation: str = ""
    decisive: int = 0
    controls: tuple[int, ...] = ()
    member: Member | None = None
    pointer: str = ""
    header: str = ""

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


# -- how a check writes evidence -------------------------------------------------------------
AGREES, DISAGREES, UNCLEAR = Agreement.AGREES, Agreement.DISAGREES, Agreement.UNCLEAR

#: The status for unknown credentials. It points to the target file rather than to the bank,
#: so no check counts it as the bank's answer to a rule.
UNAUTHENTICATED = 401
#: The status of a target that cannot answer just now.
UNAVAILABLE = 503
#: The statuses of a gateway that says that the target cannot answer anything just now.
GATEWAY = frozenset({502, UNAVAILABLE, 504})
#: Statuses of refusals that end by themselves: they answer no rule but one about a limit.
FOR_A_WHILE = frozenset({408, 425, 429})


def describe_answer(exchange: AnsweredCall) -> str:
    """Describe the answer of an exchange, as reports quote it."""
    outcome, status = exchange.outcome, exchange.wire.status
    match outcome:
        case Accepted(items=None):
            return f"it was accepted ({status})"
        case Accepted(items=items):
            return f"it was accepted ({status}) with {_items(len(items or ()))}"
        case Indeterminate(why=why):
            return why
        case _:
            leak = len(exchange.items)
            return f"it was refused ({status})" + (
                f", but the answer carries {_items(leak)}" if leak else ""
            )


def _items(number: int) -> str:
    return f"{number:,} item{'' if number == 1 else 's'}"


def counts_unattended(evidence: Evidence, exchange: Exchange, over_quota: Collection[int]) -> bool:
    """Whether evidence counts although the customer may be absent.

    A call without the customer can be refused for its number, so a refusal is no violation,
    and beyond the quota no agreement. What was shown counts whenever it was shown.
    """
    if exchange.call.present or exchange.items:
        return True
    return evidence.agreement is AGREES and exchange.n not in over_quota


def must_be_served(facet: str, exchange: Exchange, why: str) -> Evidence:
    """Judge a call that must be accepted; `UNCLEAR` where the target itself failed."""
    if exchange.accepted:
        agreement = AGREES
    elif exchange.refused and exchange.wire.status != UNAUTHENTICATED:
        agreement = DISAGREES
    else:
        agreement = UNCLEAR
    return Evidence(
        facet=facet,
        agreement=agreement,
        expected=f"an answer: {why}",
        seen=describe_answer(exchange),
        exchanges=(exchange.n,),
        variation=exchange.call.variation,
    )


def failed_instead(exchange: Exchange) -> bool:
    """Whether the target failed (5xx) where it had to refuse.

    It is evidence of a violation only with a control that shows that the target works otherwise.
    """
    outcome = exchange.outcome
    failed = isinstance(outcome, Indeterminate) and outcome.cause is Cause.SERVER
    return failed and exchange.wire.status not in {0, *GATEWAY}


def must_be_refused(
    facet: str, exchange: Exchange, why: str, *, controlled: bool = False, limit: bool = False
) -> Evidence:
    """Judge a call that must be refused, with an answer that discloses no items.

    `controlled` says that a control was accepted, so that a failure is no refusal. `limit` says
    that the rule limits calls: for any other one, a call that comes too soon shows nothing.
    """
    empty = isinstance(exchange.outcome, Accepted) and exchange.outcome.items == ()
    for_a_while = exchange.wire.status in FOR_A_WHILE and not limit
    if exchange.refused and not exchange.items and for_a_while:
        agreement = UNCLEAR
    elif exchange.refused and not exchange.items:
        agreement = AGREES
    elif controlled and failed_instead(exchange):
        agreement = DISAGREES
    elif empty or isinstance(exchange.outcome, Indeterminate):
        agreement = UNCLEAR
    else:
        agreement = DISAGREES
    hint = (
        "; if an empty list is a refusal at this bank, say so under `outcomes` in the target file"
    )
    return Evidence(
        facet=facet,
        agreement=agreement,
        expected=f"a refusal: {why}",
        seen=describe_answer(exchange) + (hint if empty else ""),
        exchanges=(exchange.n,),
        variation=exchange.call.variation,
    )


def doubt(evidence: Evidence, why: str) -> Evidence:
    """Weaken evidence of a violation to `UNCLEAR`, and append the reason to what was seen."""
    if evidence.agreement is not DISAGREES:
        return evidence
    return replace(evidence, agreement=UNCLEAR, seen=f"{evidence.seen}; {why}")


# -- the TPP -------------------------------------------------------------------------
def tpp_evidence(
    facet: str, agreement: Agreement, exchange: Exchange, expected: str, done: str, *others: int
) -> Evidence:
    """Return evidence on one call of the TPP; `others` are the exchanges that it depends on."""
    seen = done if agreement is AGREES else f"{done}; {describe_answer(exchange)}"
    return Evidence(
        facet=facet,
        agreement=agreement,
        expected=expected,
        seen=seen,
        exchanges=tuple(sorted({exchange.n, *others})),
        variation=exchange.call.variation,
        decisive=exchange.n,
    )
