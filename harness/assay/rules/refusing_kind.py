"""Codes and statuses of refusals: the base of the kinds by which calls are refused, and more facets.

A clause of such a kind can say with `code` which code an answer that refuses has, and with
`refusal-status` which status. Each facet that expects a refusal then has others, with `-code` or
`-status` behind its id: where the check of the kind agrees that a call was refused, they compare
that answer. Where a body has the code is for the target file to say (`error`).

A call can be refused for several reasons. A wrong code is a violation only in a trial, where the
call differs from its control in one thing; in other recordings, and where a limit of calls may be
used up, it is a doubt.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from assay.contract.model import Contract, Json
from assay.contract.scalars import text_of
from assay.history import ERROR_CODE, Exchange, History, Rejected
from assay.rules import parameters
from assay.rules.call_limit import perhaps_exhausted, perhaps_over_quota
from assay.rules.consent_probes import named_operations
from assay.rules.rule import BindingRequirement, Facet, Kind, facts_of
from assay.rules.verdict import Agreement, Evidence

#: How the ids of facets end that are about the code, or the status, of a refusal.
OF_CODE, OF_STATUS = "-code", "-status"
#: The name of the parameter with the codes of a refusal.
CODE = ERROR_CODE
#: The name of the parameter with the statuses of a refusal.
STATUS = "refusal-status"

_CODE: Mapping[str, Json] = {
    "description": "the code of the refusal, or a list of codes",
    "x-hint": "for example CONSENT_EXPIRED",
    "type": ["string", "integer", "array"],
    "minLength": 1,
    "minItems": 1,
    "uniqueItems": True,
    "items": {"description": "a code", "type": ["string", "integer"], "minLength": 1},
}
_STATUS: Mapping[str, Json] = {
    "description": "the status of the refusal, or a list of statuses",
    "x-hint": "for example 429, or [403, 404]",
    "type": ["integer", "array"],
    "minimum": 200,
    "maximum": 599,
    "minItems": 1,
    "uniqueItems": True,
    "items": {
        "description": "a status from 200 to 599",
        "type": "integer",
        "minimum": 200,
        "maximum": 599,
    },
}


def _listed(value: Json) -> tuple[str, ...]:
    return tuple(map(text_of, value if isinstance(value, list | tuple) else (value,)))


def _read(value: Json, _contract: Contract) -> tuple[str, ...]:
    return _listed(value)


def _said(schema: Mapping[str, Json], key: str) -> Any:
    return parameters.parameter(schema, _read, key=key, required=False, default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusingKind(Kind):
    """The base of kinds by which calls are refused: the codes and statuses that a refusal may have."""

    codes: tuple[str, ...] = _said(_CODE, CODE)
    refusal_statuses: tuple[str, ...] = _said(_STATUS, STATUS)

    #: The facets that expect a refusal, where they are the same in every clause; empty for all.
    refusing_facets: ClassVar[tuple[str, ...]] = ()

    def refusing(self) -> Collection[str]:
        """Return the facets that expect a refusal."""
        return self.refusing_facets or [facet.id for facet in self.facets()]


def facets_of(kind: Kind) -> Sequence[Facet]:
    """Return the facets of a clause, with those of the codes and statuses of its refusals."""
    facets = kind.facets()
    if not isinstance(kind, RefusingKind) or not (kind.codes or kind.refusal_statuses):
        return facets
    refusing = kind.refusing()
    derived = (_derived(kind, facet) for facet in facets if facet.id in refusing)
    return (*facets, *(each for several in derived for each in several))


def without_refusal(kind: Kind) -> Sequence[str]:
    """Return the keys that say how a clause refuses, if none of its facets expects a refusal."""
    if not isinstance(kind, RefusingKind):
        return ()
    refusing = kind.refusing()
    if any(facet.id in refusing for facet in kind.facets()):
        return ()
    return [key for key, said in ((CODE, kind.codes), (STATUS, kind.refusal_statuses)) if said]


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


def check_refusals(
    kind: Kind, history: History, evidences: Iterator[Evidence]
) -> Iterator[Evidence]:
    """Yield the evidence of a kind's check, and of what each refusal says that it agrees with."""
    if not isinstance(kind, RefusingKind) or not (kind.codes or kind.refusal_statuses):
        yield from evidences
        return
    refusals = {exchange.n: exchange for exchange in history.exchanges if exchange.refused}
    refusing, subjects = kind.refusing(), history.subjects
    for evidence in evidences:
        yield evidence
        if evidence.facet not in refusing:
            continue
        decisive = refusals.get(next(iter(evidence.in_reading_order), 0))
        if decisive is None or evidence.agreement is not Agreement.AGREES:
            yield from _not_refused(kind, evidence)
            continue
        sure = bool(decisive.call.variation) or decisive.call.subject in subjects
        sure = sure and not _perhaps_limited(kind, decisive, history)
        sure = sure and not _of_another_token(decisive)
        yield from _judged(kind, evidence, decisive, sure=sure)


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


def _of_another_token(exchange: Exchange) -> bool:
    """Whether a call had not a valid token of its consent, so that this may be what was refused."""
    return isinstance(exchange.outcome, Rejected) and exchange.outcome.other_token


def _perhaps_limited(kind: Kind, exchange: Exchange, history: History) -> bool:
    """Whether a call may have been refused for a limit of calls that another clause sets."""
    operation = exchange.call.operation
    if operation in kind.facts().call_limits:
        return False
    limited = perhaps_exhausted(kind.contract, operation, history)
    if exchange.call.present:
        return exchange.n in limited
    return exchange.n in limited | perhaps_over_quota(kind.contract, history)


def _judged(
    kind: RefusingKind, evidence: Evidence, exchange: Exchange, *, sure: bool
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


def _is_owed(kind: Kind, exchange: Exchange) -> bool:
    """Whether a rule says that the error in a refusal has a code."""
    return any(concerns(exchange) for concerns in facts_of(kind.contract).coded_refusals)


def _compared(
    evidence: Evidence,
    exchange: Exchange,
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
