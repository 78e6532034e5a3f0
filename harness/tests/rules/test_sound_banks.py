"""No sound bank ever violates a decision or a repeat, whatever its customers do.

A bank of few lines, which keeps both rules in one of the ways that the document allows,
is used at random: requests are made, signed or refused, cancelled, read or not, answers
are lost, time passes. What the checks make of it must hold no disagreement.
"""

import copy
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count

import pytest
from account_information import AT, FAILED, LOST, NO, PARIS, UNKNOWN
from hypothesis import given, settings
from hypothesis import strategies as st
from payment_initiation import (
    DONE,
    ENDED,
    OPEN,
    REJECTED,
    cancel,
    effects,
    make,
    modify,
    payer,
    read,
    registered,
    ruled,
    shown,
    sign,
    withdrawn,
)
from tiers import examples

from assay.history import Ending, Exchange
from assay.rules.verdict import Agreement
from assay.testing import exchange, history

HOURS_72 = timedelta(hours=72)
MODES = ("immediate", "instant", "deferred")


@dataclass
class Payment:
    """One payment of the bank."""

    asked: dict
    by: str
    mode: str
    made: datetime
    state: object = OPEN
    factor: str = ""
    signed: datetime | None = None
    day: object = None


@dataclass
class Bank:
    """A sound bank. `at_making` counts ages so; `anywhere` compares return addresses too."""

    at_making: bool = False
    anywhere: bool = True
    early: bool = False
    now: datetime = AT
    payments: dict = field(default_factory=dict)
    since: dict = field(default_factory=dict)
    events: list = field(default_factory=list)
    keys: object = field(default_factory=lambda: count(1))

    def risky(self, payment, at):
        if payment.asked["categoryPurpose"] != "CASH" or payment.factor == "soft-token":
            return False
        since = self.since.get((payment.by, payment.asked["creditorAccount"]))
        return since is None or not at - since > HOURS_72

    def what(self, payment):
        left_out = () if self.anywhere else ("successfulReportUrl",)
        asked = {k: v for k, v in payment.asked.items() if k not in left_out}
        return payment.mode, sorted(asked.items())

    def repeats(self, payment):
        day = self.now.astimezone(PARIS).date()
        return any(
            other.state is DONE and other.day == day and self.what(other) == self.what(payment)
            for other in self.payments.values()
        )

    def make(self, by, mode, lost, **asked):
        key = f"P{next(self.keys)}"
        payment = Payment(asked=asked, by=by, mode=mode, made=self.now)
        if mode == "deferred":
            asked["date"] = (self.now + timedelta(days=2)).date().isoformat()
        if self.early and mode != "deferred" and self.repeats(payment):
            came = NO
        else:
            self.payments[key] = payment
            came = LOST if lost else shown(key, OPEN)
        self.events.append(make(came, key=key, by=by, mode=mode, at=self.now, **asked))

    def sign(self, key, decision, factor):
        payment = self.payments[key]
        if payment.state is not OPEN or payment.signed:
            self.events.append(
                sign(
                    Ending.DISCONNECTED,
                    key=key,
                    by=payment.by,
                    at=self.now,
                    step={"factor": factor},
                )
            )
            return
        ending = decision
        if decision is Ending.CONFIRMED:
            payment.signed, payment.factor = self.now, factor
            if payment.mode != "deferred":
                self.carry_out(payment)
            elif self.risky(payment, payment.made if self.at_making else self.now):
                payment.state = REJECTED
        elif decision is Ending.REFUSED:
            payment.state = ENDED
        self.events.append(
            sign(ending, key=key, by=payment.by, at=self.now, step={"factor": factor})
        )

    def carry_out(self, payment):
        risky = self.risky(payment, payment.made if self.at_making else self.now)
        if self.repeats(payment) or risky:
            payment.state = REJECTED
        else:
            payment.state, payment.day = DONE, self.now.astimezone(PARIS).date()

    def read(self, key, lost):
        one = self.payments[key]
        came = LOST if lost else shown(key, one.state)
        self.events.append(read(came, key=key, by=one.by, at=self.now))

    def cancel(self, key, himself):
        payment = self.payments[key]
        taken = payment.mode == "deferred" and payment.state is OPEN
        payment.state = ENDED if taken else payment.state
        if himself:
            self.events.append(withdrawn(key=key, by=payment.by, done=taken, now=self.now))
        else:
            came = shown(key, ENDED) if taken else NO
            self.events.append(cancel(came, key=key, by=payment.by, at=self.now))

    def change(self, key, lost):
        payment = self.payments[key]
        if payment.mode == "deferred" and payment.state is OPEN and payment.signed is None:
            payment.asked["amount"] = "2.00"
            came = LOST if lost else shown(key, OPEN)
        else:
            came = NO
        self.events.append(modify(came, key=key, by=payment.by, at=self.now, amount="2.00"))

    def register(self, by, value, hours):
        self.events.append(registered(hours, by=by, value=value, now=self.now))
        since = self.now - timedelta(hours=hours)
        known = self.since.get((by, value), since)
        self.since[by, value] = min(known, since)

    def wait(self, span):
        self.now += span
        for one in self.payments.values():
            if one.mode == "deferred" and one.state is OPEN and one.signed:
                self.carry_out_late(one)

    def carry_out_late(self, payment):
        if self.now.date().isoformat() >= payment.asked["date"]:
            self.carry_out(payment)


#: Which payment, counted from the last one made.
KEYS = st.integers(0, 2)
LOSES = st.sampled_from([False, False, False, True])
SPANS = [0, 60, 3600, 3600 * 13, 3600 * 24, 3600 * 71, 3600 * 72]
#: Mostly the same again, so that requests repeat one another, or differ in one thing.
ASKED = st.tuples(
    st.sampled_from(["psu", "psu", "b"]),
    st.sampled_from([*MODES, "immediate", "immediate"]),
    LOSES,
    st.sampled_from(["CASH", "DVPM"]),
    st.sampled_from(["1.00", "1.00", "1.00", "2.00"]),
    st.sampled_from(["C1", "C1", "C1", "C2"]),
    st.sampled_from(["https://tpp.example/1", "https://tpp.example/1", "https://tpp.example/2"]),
)
DECISIONS = st.sampled_from([Ending.CONFIRMED, Ending.CONFIRMED, Ending.CONFIRMED, Ending.REFUSED])
FACTORS = st.sampled_from(["sms", "sms", "cap", "soft-token"])
PAY = st.tuples(st.just("pay"), ASKED, DECISIONS, FACTORS, LOSES)
ACTS = st.one_of(
    PAY,
    PAY,
    PAY,
    ASKED.map(lambda one: ("make", *one)),
    st.tuples(st.just("sign"), KEYS, DECISIONS, FACTORS),
    st.tuples(st.just("read"), KEYS, LOSES),
    st.tuples(st.just("cancel"), KEYS, st.booleans()),
    st.tuples(st.just("change"), KEYS, LOSES),
    st.tuples(
        st.just("register"),
        st.sampled_from(["psu", "b"]),
        st.just("C1"),
        st.sampled_from([0, 71, 72, 73, 900]),
    ),
    st.tuples(st.just("wait"), st.sampled_from(SPANS)),
    st.tuples(st.just("tell")),
)
ACCOUNTS = {"psu": "A1", "b": "A2"}


def act(bank, name, *rest):
    """Do one thing with the bank."""
    if name == "pay":
        asked, decision, factor, lost = rest
        act(bank, "make", *asked)
        if bank.payments:
            act(bank, "sign", 0, decision, factor)
            act(bank, "read", 0, lost)
    elif name == "make":
        by, mode, lost, purpose, amount, creditor, back = rest
        asked = {"categoryPurpose": purpose, "amount": amount, "creditorAccount": creditor}
        asked |= {"debtorAccount": ACCOUNTS[by], "successfulReportUrl": back}
        bank.make(by, mode, lost, **asked)
    elif name == "register":
        bank.register(*rest)
    elif name == "wait":
        bank.wait(timedelta(seconds=rest[0]))
    elif name == "tell":
        done = [key for key, one in bank.payments.items() if one.state is DONE]
        bank.events.append(effects(*done, now=bank.now))
    elif keys := list(bank.payments):
        key, *more = rest
        getattr(bank, name)(keys[-1 - key % len(keys)], *more)


def lived(acts, past, **ways):
    """Return what happened at a bank whose customers did all that."""
    bank, half = Bank(**ways), len(acts) // 2 if past else 0
    for act_and_arguments in acts[:half]:
        act(bank, *act_and_arguments)
    # What was before the history is not in it.
    people = [payer("psu", "A1", fresh=not past), payer("b", "A2", fresh=not past)]
    bank.events = people
    for act_and_arguments in acts[half:]:
        act(bank, *act_and_arguments)
    return history(*bank.events)


ZONES = {"Paris": PARIS, "unknown": None}
RULED = [ruled(clause, zone) for clause in ("cash", "duplicate") for zone in ZONES.values()]
LIVES = st.lists(ACTS, min_size=6, max_size=20)


@settings(max_examples=examples(200))
@given(LIVES, st.booleans(), st.booleans(), st.booleans(), st.booleans())
def test_a_sound_bank_never_violates(acts, past, at_making, anywhere, early):
    """Whichever of the fair readings it has, and whatever is left unseen."""
    events = lived(acts, past, at_making=at_making, anywhere=anywhere, early=early)
    for params in RULED:
        wrong = [
            evidence
            for evidence in params.check(events)
            if evidence.agreement is Agreement.DISAGREES
        ]
        assert [] == wrong


@settings(max_examples=examples(60))
@given(LIVES, st.booleans())
def test_a_check_keeps_to_its_own_facets_and_to_what_happened(acts, past):
    """It changes nothing, says the same again, and cites only what there was."""
    events = lived(acts, past)
    before = copy.deepcopy(events)
    numbers = {one.n for one in events.events if hasattr(one, "n")}
    for params in RULED:
        names = {facet.id for facet in params.facets()}
        evidence = list(params.check(events))

        assert {one.facet for one in evidence} <= names
        assert all(one.exchanges and set(one.exchanges) <= numbers for one in evidence)
        assert evidence == list(params.check(events))
    assert before == events


@pytest.mark.parametrize("came", [LOST, FAILED, UNKNOWN])
@settings(max_examples=examples(40))
@given(acts=LIVES)
def test_a_bank_that_answers_nobody_leaves_all_unclear(came, acts):
    """Nothing came of anything, as far as anybody knows."""
    silent = [
        exchange(event.call, came, at=event.at) if isinstance(event, Exchange) else event
        for event in lived(acts, past=False).events
        if not hasattr(event, "done")
    ]
    for params in RULED:
        found = {evidence.agreement for evidence in params.check(history(*silent))}
        assert {Agreement.UNCLEAR} >= found


def test_the_lives_of_these_banks_do_show_something():
    """Else it would be no wonder that nothing is violated."""
    asked = ("psu", "immediate", False, "DVPM", "1.00", "C1", "https://tpp.example/1")
    pay = ("pay", asked, Ending.CONFIRMED, "sms", False)
    events = lived([pay, pay], past=False)
    said = [
        f"{one.facet} {one.agreement.value}"
        for params in RULED[::2]
        for one in params.check(events)
    ]

    assert "categoryPurpose-not-CASH agrees" in said
    assert "repeat-refused agrees" in said
