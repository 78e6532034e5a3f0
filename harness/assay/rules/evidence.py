"""Helpers with which checks write evidence: descriptions of answers, and two common judgements.

Most checks need only `must_be_served` and `must_be_refused` for the bank, and
`tpp_evidence` for the TPP. Other checks build an `Evidence` themselves, and describe what
they saw with `describe_answer`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.errors import KindError, did_you_mean
from assay.history import Accepted, Cause, Exchange, History, Indeterminate
from assay.rules.consents import without_unconsented
from assay.rules.refusing_kind import check_refusals, facets_of
from assay.rules.rule import clauses_of
from assay.rules.verdict import Agreement, Evidence

if TYPE_CHECKING:
    from assay.rules.rule import Kind

AGREES, DISAGREES, UNCLEAR = Agreement.AGREES, Agreement.DISAGREES, Agreement.UNCLEAR

#: The status for unknown credentials. It points to the target file rather than to the bank,
#: so no check counts it as the bank's answer to a rule.
UNAUTHENTICATED = 401
#: The statuses of a gateway that says that the target cannot answer anything just now.
GATEWAY = frozenset({502, 503, 504})
#: Statuses of refusals that end by themselves: they answer no rule but one about a limit.
FOR_A_WHILE = frozenset({408, 425, 429})
#: What was seen where a check cannot count days from a date.
OUTSIDE_CALENDAR = "a date is at the beginning or the end of the calendar"


def describe_answer(exchange: Exchange) -> str:
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

    It convicts only beside a control that shows that the target works otherwise.
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


# -- every kind ----------------------------------------------------------------------
def checked(
    kind: Kind, history: History, *, own: bool = True, whole: History | None = None
) -> Iterator[Evidence]:
    """Yield the evidence of a kind's check; a missing consent is for kinds about consents to judge.

    The refusal of a call that breaches a duty of the TPP is no violation, whichever clause has the
    duty. The history may be a part of the `whole` one.

    In the trial of another rule, or in another context (not `own`), a call may be refused for
    several reasons: which code and status the refusal has is not judged there.
    """
    shown = history if kind.own_consents else without_unconsented(kind.contract, history)
    found = _without_breaches(kind, whole or history, kind.check(shown))
    yield from check_refusals(kind, shown, found) if own else found


def _without_breaches(
    kind: Kind, history: History, evidences: Iterator[Evidence]
) -> Iterator[Evidence]:
    """Yield evidence, in doubt where the TPP's own breach explains the refusal that it blames."""
    breaches: dict[int, str] | None = None
    for evidence in evidences:
        if evidence.agreement is not DISAGREES or kind.accepts_refusals:
            yield evidence
            continue
        if breaches is None:
            breaches = _refused_breaches(kind, history)
        owed = next((breaches[n] for n in evidence.exchanges if n in breaches), None)
        yield doubt(evidence, f"the TPP breached its own duty: {owed}") if owed else evidence


def _refused_breaches(kind: Kind, history: History) -> dict[int, str]:
    """Return the calls that were refused and breach a duty of another clause, and which duty."""
    refused = {each.n for each in history.exchanges if each.refused and not each.items}
    return {
        n: evidence.expected
        for clause in (clauses_of(kind.contract) if refused else ())
        if clause != kind
        for evidence in countable(clause.check_tpp(history))
        for n in [evidence.in_reading_order[0]]
        if evidence.agreement is DISAGREES and n in refused
    }


def evidence_of(
    kind: Kind, history: History, *, tpp: bool = False, whole: History | None = None
) -> Iterator[Evidence]:
    """Yield the evidence of a kind's check, or of its check of the TPP.

    A date in an answer may be the first or last day of the calendar. Where a check counts days
    from it, nothing is certain about any facet. The history may be a part of the `whole` one.

    Raises:
        KindError: the evidence is for a facet that the kind does not have.

    """
    own = kind.tpp_facet()
    facets = facets_of(kind) if not tpp else [own] if own else []
    known = {facet.id for facet in facets}
    try:
        for evidence in kind.check_tpp(history) if tpp else checked(kind, history, whole=whole):
            if evidence.facet not in known:
                hint = did_you_mean(evidence.facet, known) or "it has no facet at all"
                what = f"the check of kind {kind.name!r} yields evidence for"
                raise KindError(f"{what} {evidence.facet!r}, which is none of its facets ({hint})")
            yield evidence
    except OverflowError:
        numbers = tuple(exchange.n for exchange in (whole or history).exchanges)
        for facet in facets:
            yield Evidence(
                facet=facet.id,
                agreement=UNCLEAR,
                expected="dates that leave room to count days",
                seen=OUTSIDE_CALENDAR,
                exchanges=numbers,
            )


def countable(evidence: Iterator[Evidence]) -> Iterator[Evidence]:
    """Yield evidence up to a date from which no days can be counted."""
    with suppress(OverflowError):
        yield from evidence
