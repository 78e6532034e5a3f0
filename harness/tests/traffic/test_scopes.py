"""What is out of the scope of a check makes no difference to its evidence."""

import sys
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

from assay.history import Authorised, Exchange, History, Subject
from assay.parsing.parse import find_contract, parse_contract
from assay.rules.checks import evidence_of
from assay.rules.obligation import bound_clauses
from assay.rules.rule import Calls
from assay.traffic import judge
from assay.traffic.judge import HistoryParts, operations_in_scope

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from wandering import driven

CONTRACTS = ("aisp", "pis")
LENGTH, EACH = 300, 20


@cache
def mixed():
    """Return both contracts, and a history with calls of both in turns, each event with a number."""
    made = [driven(name, LENGTH) for name in CONTRACTS]
    turns = zip(*(_turns(history.events) for _, history in made), strict=False)
    events = tuple(
        replace(event, n=n) if isinstance(event, Exchange | Authorised) else event
        for n, event in enumerate(chain.from_iterable(chain.from_iterable(turns)), 1)
    )
    return tuple(contract for contract, _ in made), History(events=events)


def _turns(events):
    return [events[at : at + EACH] for at in range(0, len(events), EACH)]


def without(history, *kinds):
    """Return a history without the events of some kinds."""
    return History(events=tuple(each for each in history.events if not isinstance(each, kinds)))


CLAUSES = [
    pytest.param(number, clause, id=f"{name}/{clause}")
    for number, name in enumerate(CONTRACTS)
    for clause in bound_clauses(parse_contract(find_contract(name)))
]


@pytest.mark.parametrize(("number", "clause"), CLAUSES)
def test_the_part_is_enough(number, clause, monkeypatch):
    """Calls of other operations, wherever they are, change no evidence on the contract's own calls."""
    monkeypatch.setattr(judge, "LONG", 0)
    contracts, every = mixed()
    kind = bound_clauses(contracts[number])[clause].kind
    for whole in (every, without(every, Subject), without(every, Subject, Authorised)):
        own = {
            each.n
            for each in whole.events
            if isinstance(each, Authorised)
            or (isinstance(each, Exchange) and each.call.operation in contracts[number].operations)
        }
        part = HistoryParts(whole).of(kind)
        assert (kind.scope.calls is Calls.ALL) is (len(part.events) == len(whole.events))
        seen, expected = (
            [each for each in evidence_of(kind, history) if own & {*each.exchanges}]
            for history in (part, whole)
        )
        assert expected == seen


def test_what_it_needs():
    """A history without the events that a check needs shows it nothing; with them, it may."""
    contracts, every = mixed()
    shown = set()
    for contract in contracts:
        for bound in bound_clauses(contract).values():
            for needed in bound.kind.scope.needs:
                assert [] == [*evidence_of(bound.kind, without(every, needed))]
                shown |= {needed} if any(evidence_of(bound.kind, every)) else set()
    assert {Subject, Authorised} == shown


def test_operations_on_the_same_request():
    """A clause that names one operation on requests looks at all operations on them."""
    (_, pis), _ = mixed()
    kind = bound_clauses(pis)["payments.read"].kind
    assert operations_in_scope(kind) >= {
        each.id for each in pis.operations.values() if each.request
    }
