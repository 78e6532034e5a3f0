"""`consent-scope`: data are served for what was consented to, and for nothing else.

Per kind of data four facets: granted and served; own but not granted; before any
consent; somebody else's, although the other consented to it. Each refusal has
its control: the same question about a granted thing, answered in the trial.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from assay.history import Call, Exchange, History, Holding
from assay.model import Capability, Clause, Contract, Operation, Party
from assay.rules import params, script
from assay.rules.folds import (
    AGREES,
    DISAGREES,
    UNCLEAR,
    describe,
    must_be_refused,
    must_be_served,
    plain,
)
from assay.rules.rule import Facet, Rule, Script, needs
from assay.verdict import Evidence

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
    contract: Contract


def parse(clause: Clause, contract: Contract) -> Params:
    """Read the clause's parameters."""
    operations = params.operations(clause, contract)
    grant = params.granting(clause, contract)
    if grant is None:
        raise TypeError(f"{clause.id} names no granting operation")
    guarded = {
        child: (operation, contract.resources[child].of or "")
        for operation in operations
        for child in operation.lists
    }
    return Params(operations=operations, grant=grant, guarded=guarded, contract=contract)


def facets(p: Params) -> tuple[Facet, ...]:
    """Four facets for each kind of data."""
    return tuple(
        Facet(
            id=f"{child}-{word}",
            asks=f"a {child} is {asks}",
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
    today = (yield from script.clock()).date()
    entries = script.days_before(today, 1, 2)
    psu = yield from script.arrange("psu", Holding(resource=owner, count=2, entries=entries))
    first, second = psu.owns[0].key, psu.owns[1].key
    ask = Call(
        operation=operation.id,
        subject="psu",
        arguments=script.arguments(operation, first),
    )
    yield from script.send(replace(ask, deviation="before any consent"))
    yield from script.grant(p.grant, "psu", first)
    yield from script.send(ask)
    yield from script.send(
        replace(
            ask,
            arguments=script.arguments(operation, second),
            deviation=f"about the {owner} that is not in the consent",
        )
    )
    other = yield from script.arrange("other", Holding(resource=owner, entries=entries))
    theirs = script.arguments(operation, other.owns[0].key)
    yield from script.grant(p.grant, "other", other.owns[0].key)
    yield from script.send(replace(ask, subject="other", arguments=theirs))
    yield from script.send(
        replace(ask, arguments=theirs, deviation=f"about another customer's {owner}")
    )


@dataclass(slots=True)
class _Ledger:
    """What has been granted so far, by subject: now, and ever."""

    now: dict[str, frozenset[str]]
    ever: dict[str, set[str]]

    def note(self, exchange: Exchange, argument: str) -> None:
        listed = exchange.call.arguments.get(argument)
        keys = frozenset(str(one) for one in listed) if isinstance(listed, list) else frozenset()
        self.now[exchange.call.subject] = keys
        self.ever.setdefault(exchange.call.subject, set()).update(keys)


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every call about a thing whose owner and kind are known."""
    owner_of = {
        one.key: (name, one.resource, bool(one.entries))
        for name, subject in history.subjects.items()
        for one in subject.owns
    }
    shown = _shown(p, history)
    ledger = _Ledger(now={}, ever={})
    for exchange in history.exchanges:
        call = exchange.call
        if call.operation == p.grant.id and exchange.accepted and plain(call):
            ledger.note(exchange, p.grant.grants or "")
        operation = next((one for one in p.operations if one.id == call.operation), None)
        if operation is None or not plain(call):
            continue
        key = str(call.arguments.get(operation.about or ""))
        owner, resource, filled = owner_of.get(key, ("", "", False))
        child = p.contract.children(resource, operation.id)
        if child is None:
            continue
        controlled = (operation.id, resource, owner if owner != call.subject else call.subject)
        yield from _judge(
            exchange, child, key, ledger,
            owner=owner, filled=filled, controlled=controlled in shown,
        )  # fmt: skip


def _shown(p: Params, history: History) -> frozenset[tuple[str, str, str]]:
    """Return (operation, resource, subject) for what owners were themselves served."""
    out: set[tuple[str, str, str]] = set()
    owned = {
        (name, one.key): one.resource
        for name, subject in history.subjects.items()
        for one in subject.owns
    }
    consented: set[tuple[str, str]] = set()
    for exchange in history.exchanges:
        call = exchange.call
        if call.operation == p.grant.id and exchange.accepted:
            listed = call.arguments.get(p.grant.grants or "")
            keys = listed if isinstance(listed, list) else []
            consented |= {(call.subject, str(key)) for key in keys}
        for operation in p.operations:
            at = (call.subject, str(call.arguments.get(operation.about or "")))
            if call.operation == operation.id and at in consented and exchange.items:
                out.add((operation.id, owned.get(at, ""), call.subject))
    return frozenset(out)


def _judge(
    exchange: Exchange,
    child: str,
    key: str,
    ledger: _Ledger,
    *,
    owner: str,
    filled: bool,
    controlled: bool,
) -> Iterator[Evidence]:
    subject = exchange.call.subject
    if owner == subject and key in ledger.now.get(subject, ()):
        yield _granted(f"{child}-granted", exchange, filled=filled)
    elif not controlled:
        return
    elif owner != subject:
        yield must_be_refused(f"{child}-foreign", exchange, "it is another customer's")
    elif subject not in ledger.ever:
        yield must_be_refused(f"{child}-before", exchange, "there is no consent yet")
    elif key not in ledger.ever[subject]:
        yield must_be_refused(f"{child}-refused", exchange, "it is not in the consent")


def _granted(facet: str, exchange: Exchange, *, filled: bool) -> Evidence:
    evidence = must_be_served(facet, exchange, "consent was given for it")
    if exchange.accepted and not exchange.items:
        return replace(
            evidence,
            agreement=DISAGREES if filled else UNCLEAR,
            seen=f"{describe(exchange)}, though there are some",
        )
    return replace(evidence, agreement=AGREES) if exchange.items else evidence


RULE = Rule(
    kind="consent-scope",
    party=Party.BANK,
    parse=parse,
    facets=facets,
    price=price,
    probe=probe,
    check=check,
)
