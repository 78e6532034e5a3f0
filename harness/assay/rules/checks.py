"""The facets of a clause and the evidence of its check, as every other room asks for them.

A missing consent, and a breach by the TPP, explain refusals whatever the kind. A clause by which
calls are refused can say with which code and which status, and when: each facet that expects a refusal
then has others, with `-code`, `-status` or the moment behind its id. Where the check of the kind agrees that
a call was refused, they compare that answer. Where a body has the code is for the target file to say (`error`).

A call can be refused for several reasons. A wrong code is a violation only in a trial, where the
call differs from its control in one thing; in other recordings, and where a limit of calls may be
used up, it is a doubt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from assay.errors import KindError, did_you_mean
from assay.history import ERROR_CODE, AnsweredCall, Authorised, Exchange, History, Rejected, State
from assay.rules.consent_probes import named_operations
from assay.rules.consents import without_unconsented
from assay.rules.queries import at_own_bank, perhaps_exhausted, perhaps_over_quota
from assay.rules.refusing_kind import AT_ONCE, CODE, REJECTION, STATUS, RefusingKind
from assay.rules.rule import BindingRequirement, Facet, Kind, TppFacet, clauses_of, facts_of
from assay.rules.verdict import (
    DISAGREES,
    FOR_A_WHILE,
    UNAVAILABLE,
    UNCLEAR,
    Agreement,
    Evidence,
    doubt,
)

_Calls: TypeAlias = Mapping[int, AnsweredCall]
#: What was seen where a check cannot count days from a date.
OUTSIDE_CALENDAR = "a date is at the beginning or the end of the calendar"
#: How the ids of facets end that are about the code, or the status, of a refusal.
OF_CODE, OF_STATUS = "-code", "-status"


def checked(
    kind: Kind, history: History, *, own: bool = True, whole: History | None = None
) -> Iterator[Evidence]:
    """Yield the evidence of a kind's check; a missing consent is for kinds about consents to judge.

    The refusal of a call that breaches a duty of the TPP is no violation, whichever clause has the
    duty. The history may be a part of the `whole` one.

    In the trial of another rule, or in another context (not `own`), a call may be refused for
    several reasons: which code and status the refusal has is not judged there.
    """
    if not kind.across_banks:
        history = at_own_bank(history)
    shown = history if kind.own_consents else without_unconsented(kind.contract, history)
    found = _unless_explained(kind, whole or history, kind.check(shown))
    yield from check_refusals(kind, shown, found) if own else found


def _unless_explained(
    kind: Kind, history: History, evidences: Iterator[Evidence]
) -> Iterator[Evidence]:
    """Yield evidence, in doubt where something else explains the refusal or failure that it blames.

    That is the TPP's own breach of a duty, or that the bank takes no call for a while.
    """
    breaches: dict[int, str] | None = None
    to_wait: dict[int, str] = {}
    for evidence in evidences:
        if evidence.agreement is not DISAGREES or kind.accepts_refusals:
            yield evidence
            continue
        if breaches is None:
            breaches = _refused_breaches(kind, history)
            to_wait = {each.n: why for each in history.exchanges if (why := _to_wait(kind, each))}
        owed = next((breaches[n] for n in evidence.exchanges if n in breaches), None)
        blamed = (evidence.decisive,) if evidence.decisive else evidence.exchanges
        wait = next((to_wait[n] for n in blamed if n in to_wait), None)
        if owed:
            yield doubt(evidence, f"the TPP breached its own duty: {owed}")
        else:
            yield doubt(evidence, wait) if wait else evidence


def _to_wait(kind: Kind, exchange: Exchange) -> str:
    """Return that an answer asks the TPP to wait, for a number of calls that the contract does not limit.

    Or for as long as its Retry-After says: such an answer is a pause, not a failure of the call, but for
    a clause about when the bank is closed.
    """
    until = exchange.wire.header("Retry-After")
    if exchange.wire.status == UNAVAILABLE and until is not None and not kind.facts().closures:
        return "it asks the TPP to call again later (Retry-After)"
    limited = exchange.call.operation in facts_of(kind.contract).call_limits
    if exchange.refused and exchange.wire.status in FOR_A_WHILE and not limited:
        return "it asks the TPP to wait, and the contract does not say how many calls there may be"
    return ""


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
    kind: Kind,
    history: History,
    *,
    tpp: bool = False,
    own: bool = True,
    whole: History | None = None,
) -> Iterator[Evidence]:
    """Yield the evidence of a kind's check (`checked`), or of its check of the TPP.

    A date in an answer may be the first or last day of the calendar. Where a check counts days
    from it, nothing is certain about any facet. The history may be a part of the `whole` one.

    Raises:
        KindError: the evidence is for a facet that the kind does not have.

    """
    known: set[str] = set()
    try:
        shown = checked(kind, history, own=own, whole=whole)
        for evidence in kind.check_tpp(history) if tpp else shown:
            # The facets of a clause can be many, and most histories show nothing of it.
            known = known or {facet.id for facet in _facets_for(kind, tpp=tpp)}
            if evidence.facet not in known:
                hint = did_you_mean(evidence.facet, known) or "it has no facet at all"
                what = f"the check of kind {kind.name!r} yields evidence for"
                raise KindError(f"{what} {evidence.facet!r}, which is none of its facets ({hint})")
            yield evidence
    except OverflowError:
        numbers = tuple(exchange.n for exchange in (whole or history).exchanges)
        for facet in _facets_for(kind, tpp=tpp):
            yield Evidence(
                facet=facet.id,
                agreement=UNCLEAR,
                expected="dates that leave room to count days",
                seen=OUTSIDE_CALENDAR,
                exchanges=numbers,
            )


def _facets_for(kind: Kind, *, tpp: bool) -> Sequence[Facet | TppFacet]:
    """Return the facets of the party that is judged."""
    owed = kind.tpp_facet()
    return facets_of(kind) if not tpp else [owed] if owed else []


def countable(evidence: Iterator[Evidence]) -> Iterator[Evidence]:
    """Yield evidence up to a date from which no days can be counted."""
    with suppress(OverflowError):
        yield from evidence


# -- codes and statuses of refusals ------------------------------------------------------
def facets_of(kind: Kind) -> Sequence[Facet]:
    """Return the facets of a clause, with those of the codes and statuses of its refusals."""
    facets = kind.own_facets
    if not isinstance(kind, RefusingKind) or not kind.says_more:
        return facets
    refusing = kind.refusing()
    derived = (_derived(kind, facet) for facet in facets if facet.id in refusing)
    return (*facets, *(each for several in derived for each in several))


def without_refusal(kind: Kind) -> Sequence[str]:
    """Return the keys that say how a clause refuses, if none of its facets expects a refusal."""
    if not isinstance(kind, RefusingKind):
        return ()
    refusing = kind.refusing()
    if any(facet.id in refusing for facet in kind.own_facets):
        return ()
    said = {CODE: kind.codes, STATUS: kind.refusal_statuses, REJECTION: kind.moment}
    return [key for key, value in said.items() if value]


def _derived(kind: RefusingKind, facet: Facet) -> Iterator[Facet]:
    if kind.codes:
        operations = [each.operation for each in facet.requires]
        operations += [each.id for each in named_operations(kind)] or [*kind.contract.operations]
        located = BindingRequirement(operation=operations[0], feature="error", name=ERROR_CODE)
        yield replace(
            facet,
            id=f"{facet.id}{OF_CODE}",
            description=f"{facet.description}, with the code {' or '.join(kind.codes)}",
            requires=(*facet.requires, located),
        )
    if kind.refusal_statuses:
        statuses = " or ".join(kind.refusal_statuses)
        yield replace(
            facet,
            id=f"{facet.id}{OF_STATUS}",
            description=f"{facet.description}, with the status {statuses}",
        )
    if kind.moment:
        when = kind.moment.replace("-", " ")
        description = f"{facet.description}, {when}"
        yield replace(facet, id=f"{facet.id}-{kind.moment}", description=description)


def check_refusals(
    kind: Kind, history: History, evidences: Iterator[Evidence]
) -> Iterator[Evidence]:
    """Yield the evidence of a kind's check, and of what each refusal says that it agrees with."""
    if not isinstance(kind, RefusingKind) or not kind.says_more:
        yield from evidences
        return
    calls = history.answered
    signed = frozenset(each.n for each in history.events if isinstance(each, Authorised))
    timed = partial(_timed, kind, calls, signed) if kind.moment else None
    refusing, subjects = kind.refusing(), history.subjects
    for evidence in evidences:
        yield evidence
        if evidence.facet not in refusing:
            continue
        decisive = calls.get(evidence.shown_by)
        if timed is not None:
            yield timed(evidence)
        refused = decisive is not None and decisive.refused
        if decisive is None or not refused or evidence.agreement is not Agreement.AGREES:
            yield from _not_refused(kind, evidence)
            continue
        sure = bool(decisive.call.variation) or decisive.call.subject in subjects
        sure = sure and not _perhaps_limited(kind, decisive, history)
        sure = sure and not _of_another_token(decisive)
        yield from _judged(kind, evidence, decisive, sure=sure)


def _timed(
    kind: RefusingKind, calls: _Calls, signed: frozenset[int], evidence: Evidence
) -> Evidence:
    """Return evidence on when a request was rejected: by the call that made it, or once it was signed.

    One that was rejected unsigned was not rejected at once, and might be so after a signature, too. Only a
    variation shows what a call was refused for.
    """
    made = calls.get(evidence.shown_by)
    agreement = UNCLEAR
    if made is not None and evidence.agreement is Agreement.AGREES:
        shown = any(each.state is State.REJECTED for each in made.items)
        at_once, wanted = made.refused or shown, kind.moment == AT_ONCE
        late = not signed.isdisjoint({*evidence.exchanges} - {*evidence.controls})
        if at_once is wanted:
            agreement = Agreement.AGREES if at_once or late else UNCLEAR
        elif made.call.variation:
            agreement = DISAGREES
    return replace(
        evidence,
        facet=f"{evidence.facet}-{kind.moment}",
        agreement=agreement,
        expected=f"a rejection {kind.moment.replace('-', ' ')}",
    )


def _not_refused(kind: RefusingKind, evidence: Evidence) -> Iterator[Evidence]:
    """Yield that a call that was not refused, or only later, shows neither code nor status."""
    for ending, expected in ((OF_CODE, kind.codes), (OF_STATUS, kind.refusal_statuses)):
        if expected:
            noun = ending.removeprefix("-")
            yield replace(
                evidence,
                facet=f"{evidence.facet}{ending}",
                agreement=Agreement.UNCLEAR,
                expected=f"a refusal with the {noun} {' or '.join(expected)}",
            )


def _of_another_token(exchange: AnsweredCall) -> bool:
    """Whether a call had not a valid token of its consent, so that this may be what was refused."""
    return isinstance(exchange.outcome, Rejected) and exchange.outcome.other_token


def _perhaps_limited(kind: Kind, exchange: AnsweredCall, history: History) -> bool:
    """Whether a call may have been refused for a limit of calls that another clause sets."""
    operation = exchange.call.operation
    if operation in kind.facts().call_limits:
        return False
    limited = perhaps_exhausted(kind.contract, operation, history)
    if exchange.call.present:
        return exchange.n in limited
    return exchange.n in limited | perhaps_over_quota(kind.contract, history)


def _judged(
    kind: RefusingKind, evidence: Evidence, exchange: AnsweredCall, *, sure: bool
) -> Iterator[Evidence]:
    """Yield the evidence on the code and the status of a refusal."""
    error, status = exchange.error, str(exchange.wire.status)
    refused = f"it was refused ({status})"
    if kind.codes:
        shown = [code for each in error.errors for code in each.codes] if error else []
        seen = f"{refused} with " + (f"the code {', '.join(shown)}" if shown else "no code")
        judged = _compared(
            evidence, exchange, OF_CODE, kind.codes, shown=shown, seen=seen, sure=sure
        )
        judged = replace(judged, member=exchange.member("error", ERROR_CODE))
        if error is None or ERROR_CODE not in error.located:
            seen = f"{refused}; the target file does not say where the code is (`error.code`)"
            judged = replace(judged, agreement=Agreement.UNCLEAR, seen=seen)
        elif not shown and (not error.errors or _is_owed(kind, exchange)):
            # That there is an error with a code is for that rule to judge.
            judged = replace(judged, agreement=Agreement.UNCLEAR)
        yield judged
    if kind.refusal_statuses:
        statuses = kind.refusal_statuses
        yield _compared(
            evidence, exchange, OF_STATUS, statuses, shown=[status], seen=refused, sure=sure
        )


def _is_owed(kind: Kind, exchange: AnsweredCall) -> bool:
    """Whether a rule says that the error in a refusal has a code."""
    concerned = facts_of(kind.contract).coded_refusals
    return isinstance(exchange, Exchange) and any(concerns(exchange) for concerns in concerned)


def _compared(
    evidence: Evidence,
    exchange: AnsweredCall,
    ending: str,
    expected: Sequence[str],
    *,
    shown: Sequence[str],
    seen: str,
    sure: bool,
) -> Evidence:
    agreement = Agreement.DISAGREES if sure else Agreement.UNCLEAR
    if {*shown} & {*expected}:
        agreement = Agreement.AGREES
    elif not sure:
        seen += "; the call may have been refused for another reason"
    return replace(
        evidence,
        facet=f"{evidence.facet}{ending}",
        agreement=agreement,
        expected=f"a refusal with the {ending.removeprefix('-')} {' or '.join(expected)}",
        seen=seen,
        decisive=exchange.n,
    )
