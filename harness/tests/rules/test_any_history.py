"""Whatever happened, a check says what it sees, and nothing of what it is not about."""

import copy
from dataclasses import replace
from datetime import timedelta

import pytest
from account_information import (
    AISP,
    AT,
    DONE,
    FAILED,
    GONE,
    LOST,
    NO,
    NONE,
    ODD,
    UNKNOWN,
    account,
    ask,
    card,
    owner,
    ruled,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import for_each
from tiers import examples

from assay.history import Advanced, Item, Malformed
from assay.rules.verdict import Agreement
from assay.testing import exchange, history, listed, refused

KEYS = ["A1", "A2", "C1", "B1", "nobody's"]
TRAITS = st.dictionaries(
    st.sampled_from(["savings", "inactive", "never-used", "last-used", "odd"]),
    st.sampled_from([True, False, None, "2026-07-16", "2026-07-17", "soon"]),
    max_size=2,
)
AGES = st.lists(st.integers(-1, 200), max_size=20)
VALUES = st.none() | st.sampled_from(["EUR", "CLBD", "", "4111111111111111"]) | st.integers(0, 9)


@st.composite
def items(draw):
    ages = st.none() | st.integers(-1, 200)
    age = draw(ages)
    return Item(
        key=draw(st.none() | st.sampled_from([*KEYS, *(f"k{n}" for n in range(20))])),
        on=None if age is None else AT.date() - timedelta(days=age),
        resource=draw(st.sampled_from([None, "account", "card", "vault"])),
        fields=draw(st.dictionaries(st.sampled_from(["iban", "balanceType", "currency"]), VALUES)),
    )


@st.composite
def lists(draw):
    return listed(
        *draw(st.lists(items(), max_size=7)),
        next=draw(st.sampled_from([None, None, "p1", "p2"])),
        values=draw(st.sampled_from([{}, {"PsuIdentity": "P1"}, {"PsuIdentity": None}])),
    )


CAME = st.one_of(
    lists(), st.sampled_from([DONE, NONE, NO, GONE, UNKNOWN, FAILED, LOST, ODD, refused("A1")])
)
INSTANTS = st.none() | st.builds(
    lambda hours, seconds: AT + timedelta(hours=hours, seconds=seconds),
    st.integers(-24 * 3, 24 * 45),
    st.integers(-90, 90),
)
#: Links and bodies, good, odd and hostile.
WIRES = st.fixed_dictionaries(
    {},
    optional={
        "body": st.sampled_from([b"{}", b"{", b"[" * 9999, b"\xff"]),
        "headers": st.sampled_from([(), (("Content-Type", "application/json"),)]),
        "links": st.sampled_from([("/x",), ("http://[", "https://bank.example:x/"), ("",)]),
    },
)


@st.composite
def calls(draw):
    operation = draw(st.sampled_from([*AISP.operations]))
    arguments = draw(
        st.dictionaries(
            st.sampled_from(["iban", "since", "limit"]),
            st.sampled_from([*KEYS, "2026-01-01", "2026-09-01", 7, None]),
        )
    )
    if operation == "consents":
        keys = st.lists(st.sampled_from(KEYS), max_size=3)
        arguments["accounts"] = draw(st.one_of(keys, keys, st.just("A1"), st.none()))
    rarely = st.sampled_from([None, None, None, "odd"])
    event = ask(
        operation,
        draw(CAME),
        draw(st.sampled_from([None, *KEYS])),
        by=draw(st.sampled_from(["psu", "other", "stranger"])),
        at=draw(INSTANTS),
        arguments=arguments,
        present=draw(st.booleans()),
        follow=draw(st.sampled_from([None, None, None, "p1", "p2"])),
        alias=draw(st.sampled_from([None, None, 0])),
        mode=draw(st.sampled_from([None, None, None, "extended_transaction_history"])),
        credentials=draw(rarely) is not None,
        malformed=draw(st.sampled_from([None, None, None, *Malformed])),
    )
    return replace(event, wire=replace(event.wire, **draw(WIRES)))


@st.composite
def subjects(draw, name):
    things = [
        draw(st.sampled_from([account, card]))(key, *draw(AGES), **draw(TRAITS))
        for key in draw(st.lists(st.sampled_from(KEYS[:4]), unique=True, max_size=4))
    ]
    return owner(name, *things, fresh=draw(st.booleans()))


@st.composite
def histories(draw):
    names = draw(st.sampled_from([[], ["psu"], ["psu", "other"]]))
    people = [draw(subjects(name)) for name in names]
    happened = draw(st.lists(calls(), max_size=14))
    # The same question again and again is what quotas are about.
    for one in draw(st.lists(st.sampled_from(happened), max_size=2)) if happened else ():
        happened += [one] * draw(st.integers(1, 6))
    return history(*people, *happened, Advanced(now=AT))


CLAUSES = [clause.id for clause in AISP.clauses]
ZONES = {"Paris": ruled("maintenance").zone, "unknown": None}
RULED = {(clause, zone): ruled(clause, ZONES[zone]) for clause in CLAUSES for zone in ZONES}
#: No shipped contract has a quota by the hour, or one on all calls.
RULED |= {
    (per, zone): ruled("batch-quota", ZONES[zone], per=per, counts="all")
    for per in ("clock-hour", "rolling-hour", "hour")
    for zone in ZONES
}


@settings(max_examples=examples(80))
@given(histories())
def test_every_check_takes_any_history(events):
    """It never raises, cites what happened, keeps to its own facets, and changes nothing."""
    before, numbers = copy.deepcopy(events), {exchange.n for exchange in events.exchanges}
    for (clause, zone), params in RULED.items():
        names = {facet.id for facet in params.facets()}
        evidence = list(params.check(events))

        assert {one.facet for one in evidence} <= names, (clause, zone)
        assert all(one.exchanges and set(one.exchanges) <= numbers for one in evidence)
        assert evidence == list(params.check(events))
    assert before == events


@pytest.mark.parametrize("came", [LOST, UNKNOWN])
@settings(max_examples=examples(40))
@given(events=histories())
def test_a_bank_that_answers_nobody_leaves_all_unclear(came, events):
    """Nothing comes back, or every call is answered "who are you?": no control is ever accepted."""
    silent = history(
        *(one for one in events.events if hasattr(one, "owns")),
        *(
            exchange(replace(each.call, alias=None, malformed=None), came)
            for each in events.exchanges
        ),
    )
    for kind in RULED.values():
        assert {Agreement.UNCLEAR} >= {evidence.agreement for evidence in kind.check(silent)}


@for_each("clause", CLAUSES)
def test_nothing_is_concluded_from_nothing(clause):
    """An empty history, and one in which somebody merely exists, hold no evidence."""
    params = ruled(clause)

    for events in (history(), history(owner("psu", account("A1", 1), card("C1")))):
        assert [] == list(params.check(events))
