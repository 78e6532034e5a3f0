"""`consent-scope`: data are served for what was consented to, and for nothing else.

Per kind of data four facets: granted and served; own but not granted; before any
consent; somebody else's, although the other consented to it. Each refusal has
its control: the same question about a granted thing, answered in the trial.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from assay.contract.model import Capability, Clause, Contract, Operation, Party
from assay.history import Accepted, Call, Exchange, History, Holding, Owned
from assay.judging.verdict import Evidence
from assay.rules import parameters, steps
from assay.rules.kinds import eligibility
from assay.rules.queries import (
    DISAGREES,
    UNCLEAR,
    bare,
    describe,
    doubt,
    fresh,
    must_be_refused,
    must_be_served,
)
from assay.rules.rule import Facet, Rule, Script, needs
from assay.rules.state.calendar import dates
from assay.rules.state.consents import EARLIER, Consents

#: Entries of so many last days are in every history, however short.
LATELY = timedelta(days=7)
#: Words of a facet after the kind of data, and what each asks.
ASKS: Mapping[str, str] = {
    "granted": "served once consent was given",
    "refused": "refused where consent was given for another one only",
    "before": "refused before any consent",
    "foreign": "refused to anyone but its owner, whose own consent does not help",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The guarded operations, how consent is given, and which data are guarded."""

    operations: tuple[Operation, ...]
    grant: Operation
    guarded: Mapping[str, tuple[Operation, str]]
    states: tuple[eligibility.Params, ...]
    contract: Contract


def parse(clause: Clause, contract: Contract) -> Params:
    """Read the clause's parameters."""
    operations = parameters.operations(clause, contract)
    grant = parameters.granting(clause, contract)
    if grant is None:
        raise TypeError(f"{clause.id} names no granting operation")
    guarded = {
        child: (operation, contract.resources[child].of or "")
        for operation in operations
        for child in operation.lists
    }
    return Params(
        operations=operations,
        grant=grant,
        guarded=guarded,
        states=eligibility.states(contract),
        contract=contract,
    )


def facets(p: Params) -> tuple[Facet, ...]:
    """Four facets for each kind of data."""
    return tuple(
        Facet(
            id=f"{child}-{word}",
            description=f"a {child} is {asks}",
            scenario=child,
            needs=needs(Capability.PSU, Capability.CONSENT)
            | (needs(Capability.TWO_PSU) if word == "foreign" else needs()),
        )
        for child in p.guarded
        for word, asks in ASKS.items()
    )


def price(p: Params, scenario: str) -> int:
    """Count the calls: before, consent, granted, refused; the other's two; foreign."""
    return 7


def probe(p: Params, scenario: str) -> Script:
    """Ask before consent, for the granted, for the other one, and for a stranger's."""
    operation, owner = p.guarded[scenario]
    today = (yield from steps.clock()).date()
    entries = steps.days_before(today, 1, 2)
    psu = yield from steps.arrange("psu", Holding(resource=owner, count=2, entries=entries))
    first, second = psu.owns[0].key, psu.owns[1].key
    ask = Call(
        operation=operation.id,
        subject="psu",
        arguments=steps.arguments(operation, first),
    )
    yield from steps.send(replace(ask, variation="before any consent"))
    yield from steps.grant(p.grant, "psu", first)
    yield from steps.send(ask)
    yield from steps.send(
        replace(
            ask,
            arguments=steps.arguments(operation, second),
            variation=f"about the {owner} that is not in the consent",
        )
    )
    other = yield from steps.arrange("other", Holding(resource=owner, entries=entries))
    theirs = steps.arguments(operation, other.owns[0].key)
    yield from steps.grant(p.grant, "other", other.owns[0].key)
    yield from steps.send(replace(ask, subject="other", arguments=theirs))
    yield from steps.send(
        replace(ask, arguments=theirs, variation=f"about another customer's {owner}")
    )


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every attended call about a thing whose owners and kind are known."""
    untouched = fresh(history)
    owners = _owners(history)
    shown = _shown(p, history)
    consents = Consents(grant=p.grant)
    for exchange in history.exchanges:
        call = exchange.call
        consents.note(exchange)
        operation = next((one for one in p.operations if one.id == call.operation), None)
        if operation is None or not call.present or not bare(call, operation):
            continue
        key = str(call.arguments.get(operation.about or ""))
        whose = owners.get(key, {})
        child = next(
            (p.contract.children(one.resource, operation.id) for one in whose.values()), None
        )
        if child is None:
            continue
        if call.subject not in whose:
            yield from _foreign(child, exchange, key, whose, shown)
        elif key in consents.sure(call.subject):
            if eligibility.surely_listed(p.states, whose[call.subject], exchange.at):
                yield _granted(f"{child}-granted", exchange, whose[call.subject])
        elif key not in consents.perhaps(call.subject):
            evidence = _own(child, exchange, consents, shown)
            known = call.subject in untouched
            yield from evidence if known else (doubt(one, EARLIER) for one in evidence)


def _owners(history: History) -> Mapping[str, Mapping[str, Owned]]:
    """Return who owns what: a thing may be held by several."""
    out: dict[str, dict[str, Owned]] = {}
    for name, subject in history.subjects.items():
        for one in subject.owns:
            out.setdefault(one.key, {})[name] = one
    return out


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """What was served under a consent: (operation, subject, key), and the first two of it."""

    things: frozenset[tuple[str, str, str]]
    callers: frozenset[tuple[str, str]]


def _shown(p: Params, history: History) -> _Shown:
    """Return what was served under a consent."""
    about = {one.id: one.about or "" for one in p.operations}
    out: set[tuple[str, str, str]] = set()
    consents = Consents(grant=p.grant)
    for exchange in history.exchanges:
        call = exchange.call
        consents.note(exchange)
        if call.operation in about and exchange.accepted and exchange.items:
            key = str(call.arguments.get(about[call.operation]))
            if key in consents.sure(call.subject):
                out.add((call.operation, call.subject, key))
    return _Shown(things=frozenset(out), callers=frozenset((what, who) for what, who, _ in out))


def _own(child: str, exchange: Exchange, consents: Consents, shown: _Shown) -> Iterator[Evidence]:
    """Judge a call about an own thing that no consent covers.

    The control is another one, or the same one later, served under a consent.
    """
    call = exchange.call
    if (call.operation, call.subject) not in shown.callers:
        return
    if consents.perhaps(call.subject):
        yield must_be_refused(f"{child}-refused", exchange, "it is not in the consent")
    else:
        yield must_be_refused(f"{child}-before", exchange, "there is no consent yet")


def _foreign(
    child: str,
    exchange: Exchange,
    key: str,
    whose: Mapping[str, Owned],
    shown: _Shown,
) -> Iterator[Evidence]:
    """Judge a call about a stranger's thing.

    The controls are the owner, who was served it, and the caller's own things.
    """
    call = exchange.call
    served = any((call.operation, owner, key) in shown.things for owner in whose)
    if served and (call.operation, call.subject) in shown.callers:
        yield must_be_refused(f"{child}-foreign", exchange, "it is another customer's")


def _granted(facet: str, exchange: Exchange, owned: Owned) -> Evidence:
    """Judge a call about a consented thing; an empty answer by what is surely there."""
    evidence = must_be_served(facet, exchange, "consent was given for it")
    if not exchange.accepted or exchange.items:
        return evidence
    if isinstance(exchange.outcome, Accepted) and exchange.outcome.items is None:
        seen = f"{describe(exchange)}; the profile points at no list in it"
        return replace(evidence, agreement=UNCLEAR, seen=seen)
    today = dates(exchange.at, None)
    filled = any(today[-1] - one.on <= LATELY and one.on <= today[0] for one in owned.entries)
    return replace(
        evidence,
        agreement=DISAGREES if filled else UNCLEAR,
        seen=f"{describe(exchange)}" + (", though there are some" if filled else ""),
    )


RULE = Rule(
    kind="consent-scope",
    party=Party.BANK,
    parse=parse,
    facets=facets,
    price=price,
    probe=probe,
    check=check,
)
