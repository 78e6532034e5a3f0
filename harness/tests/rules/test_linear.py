"""Judging costs the same for each exchange, however long the history is.

Nothing is timed: what is counted are the lines of Python that run, which no machine and
no neighbour changes. So a check is caught that goes over what was before for every event.
"""

import sys
from dataclasses import replace
from datetime import timedelta
from functools import cache
from itertools import count

import pytest
from account_information import (
    AISP,
    AT,
    FAILED,
    GONE,
    LOST,
    NO,
    TODAY,
    account,
    ask,
    card,
    consent,
    item,
    owner,
)
from payment_initiation import DONE as CARRIED_OUT
from payment_initiation import (
    ENDED,
    KEY,
    OPEN,
    PIS,
    REJECTED,
    cancel,
    effects,
    make,
    modify,
    payer,
    read,
    registered,
    shown,
    sign,
    withdrawn,
)
from rows import for_each

from assay.history import (
    Advanced,
    Authorised,
    Effects,
    Ending,
    Exchange,
    History,
    Malformed,
    Subject,
    Token,
)
from assay.rules.kinds.reading.addressed import similar_key
from assay.rules.lifecycle.tracker import Tracker, lifecycle_of_request
from assay.rules.obligation import bound_clauses
from assay.testing import listed

#: Each chapter begins at the hour of the maintenance, on another day than that.
BEGIN = AT.replace(hour=2)
#: Longer than anybody may be idle; and never idle for long, and too long in all.
IDLE = timedelta(minutes=5)
SLOWLY = tuple(AT + n * timedelta(minutes=3) for n in range(12))
#: Screens as they are filled in, for who signs.
SCREENS = {
    "screens": ("password", "factor", "code", "decision"),
    "offered": ("sms",),
    "coded": True,
}
#: From so many chapters to so many: three of them near the beginning, and three later.
EARLY, LATE = (2, 5), (12, 15)
#: How much more the later ones may cost. To look back at all that was before costs nearly
#: four times as much; a fold costs the same to the line, but for odd days of the calendar.
BOUND = 1.05


# -- histories of any length ------------------------------------------------------
# Each chapter holds whatever can happen, a week after the one before it: with customers of
# its own, or with the same two to the end. Nothing is said of what is right.
def with_wire(exchange, **words):
    """Return an exchange with more of its wire: a body, if nothing else."""
    return replace(exchange, wire=replace(exchange.wire, body=b"{}", **words))


def accounts(n, who, other):
    """Consent, read, turn pages or not, ask again, ask for what is not there."""
    mine, second, theirs = f"{who}-A", f"{who}-B", f"{other}-A"
    pages = [
        [item(f"{mine}-{day}", on=TODAY - timedelta(days=day), currency="EUR") for day in days]
        for days in (range(1, 16), range(16, 31), range(31, 40))
    ]
    first = [mine, second, *(f"{who}-{one}" for one in "DEF")]
    batch = {"present": False, "by": who}
    return [
        owner(
            who,
            account(mine, *range(1, 40), 100),
            account(second, 1),
            *(account(f"{who}-{one}") for one in "DEF"),
            card(f"{who}-C", 1),
            card(f"{who}-N", **{"never-used": True}),
            card(f"{who}-I", **{"immediate-debit": True}),
        ),
        owner(other, account(theirs, 1, 2), account(f"{other}-S", savings=True)),
        ask("transactions", NO, mine, by=who, variation="before any consent"),
        ask("accounts", listed(values={"PsuIdentity": None}), by=who),
        consent(mine, f"{who}-nobody's-{n}", by=who),
        consent(theirs, by=other),
        consent(second, by=who, came=LOST),
        consent(mine, by=who),
        ask("accounts", listed(*first, next=f"{n}-more", values={"PsuIdentity": "P"}), by=who),
        ask(
            "accounts",
            listed(item(f"{who}-C", resource="account", iban="FR76")),
            by=who,
            follow=f"{n}-more",
        ),
        ask("accounts", NO, by=who, credentials=True),
        ask("accounts", NO, by=who, bearer=Token.NONE),
        ask("accounts", listed(theirs), by=other),
        ask("transactions", listed(*pages[0], next=f"{n}-2"), mine, by=who),
        ask("transactions", listed(*pages[1], next=f"{n}-3"), mine, by=who, follow=f"{n}-2"),
        ask("transactions", listed(*pages[2]), mine, by=who, follow=f"{n}-3"),
        ask("transactions", listed(*pages[0], next="again"), mine, by=who),
        ask("transactions", listed(*pages[0]), mine, by=who, alias=0),
        ask("transactions", NO, mine, by=who, mode="extended_transaction_history"),
        ask("transactions", listed(), mine, by=who, arguments={"since": "2026-01-01"}),
        ask("transactions", listed(*pages[0]), mine, by=who, arguments={"since": "2026-09-10"}),
        ask("transactions", NO, theirs, by=who),
        ask("transactions", listed(item(f"{theirs}-1", on=TODAY)), theirs, by=other),
        ask("balances", listed(item("b", balanceType="CLBD", currency="EUR")), mine, by=who),
        ask("balances", listed(item("b", balanceType="CLBD", currency="EUR")), mine, **batch),
        ask("balances", listed(item("o", balanceType="OTHR", currency="EUR")), f"{who}-C", by=who),
        # A consent that names nothing gives access to nothing.
        ask("balances", NO, f"{who}-F", by=who),
        ask("consents", NO, arguments={"accounts": []}, by=who),
        ask("balances", NO, f"{who}-F", by=who),
        ask("balances", NO, second, by=who),
        ask("balances", FAILED, mine, by=who, malformed=Malformed.BAD_IDENTIFIER),
        ask("trusted-beneficiaries", GONE, by=who),
        ask("end-user-identity", GONE, by=who),
        *(ask("accounts", listed(mine), **batch) for _ in range(4)),
        ask("accounts", NO, **batch),
        with_wire(ask("accounts", listed(mine), by=who), links=("/x",)),
        consent(by=who, came=NO),
        ask("accounts", NO, by=who, bearer=Token.INVENTED),
        Advanced(now=AT),
    ]


def payments(n, who, other):
    """Make, sign, change, cancel, repeat, and ask the world again and again."""
    day = str(TODAY + timedelta(weeks=n, days=1))
    put_off = {"mode": "deferred", "date": day, "by": who, "debtorAccount": f"{who}-A"}
    once = {"by": who, "debtorAccount": f"{who}-A", "amount": f"{n}.00"}
    plain = {"by": who, "debtorAccount": f"{who}-B", "amount": f"{n}.50"}
    key = {one: f"{n:04}-{one}-0123-4567-89ab" for one in "abcdefghijk"}
    carried_out = {one: shown(key[one], CARRIED_OUT) for one in key}
    return [
        payer(who, f"{who}-A", f"{who}-B", segment="PART"),
        payer(other, f"{other}-A", segment="PRO"),
        registered(100, by=other),
        # Carried out, and repeated: the same, and the same but for one thing.
        make(shown(key["a"]), **once),
        make(NO, **once | {"mode": "several"}),
        sign(key=key["a"], by=who, redirected="https://tpp.example/back", **SCREENS),
        effects(key["a"], amount="12.30"),
        read(carried_out["a"], key=key["a"], by=who),
        read(NO, key=key["a"], by=who, bearer=Token.NONE),
        make(NO, **once),
        make(shown(key["b"]), **once | {"amount": "12.30"}),
        sign(key=key["b"], by=who, step={"by": other}, **SCREENS),
        read(key=key["b"], by=who),
        sign(Ending.REFUSED, key=key["b"], by=who, **SCREENS),
        effects(),
        # Put off, changed, cancelled.
        make(shown(key["c"]), **put_off),
        modify(shown(key["c"]), key=key["c"], by=who, amount="7.00"),
        read(shown(key["c"], amount="7.00"), key=key["c"], by=who),
        sign(key=key["c"], by=who, **SCREENS),
        make(shown(key["d"]), **put_off | {"amount": "8.00"}),
        sign(key=key["d"], by=who, **SCREENS),
        cancel(key=key["d"], by=who),
        read(shown(key["d"], ENDED), key=key["d"], by=who),
        make(shown(key["e"]), **put_off | {"amount": "9.00"}),
        withdrawn(key=key["e"], by=who),
        modify(LOST, key=key["e"], by=who, amount="7.00"),
        effects(),
        Advanced(now=AT),
        effects(key["c"], amount="7.00"),
        modify(NO, key=key["c"], by=who, amount="8.00"),
        # Bent in one way, beside what is not.
        make(shown(key["f"]), **plain),
        make(NO, without=("creditorAccount",), **plain),
        make(shown(key["g"], REJECTED), **plain | {"chargeBearer": "DEBT"}),
        make(NO, **plain | {"currency": "USD"}),
        make(NO, **plain | {"amount": None}),
        ask("create-payment", NO, by=who, mode="immediate", malformed=Malformed.NOT_JSON),
        ask("create-payment", NO, by=who, mode="immediate", credentials=True),
        make(LOST, **plain | {"amount": "1.00"}),
        # About what is another's, or not available, or not there; and on another host.
        make(shown(key["h"]), tpp="other", **plain | {"amount": "2.00"}),
        read(shown(key["h"]), key=key["h"], by=who, tpp="other"),
        read(NO, key=key["f"], by=who, tpp="other"),
        read(NO, key=similar_key(key["f"]), by=who),
        with_wire(read(shown(key["f"], OPEN), key=key["f"], by=who)),
        read(shown(key["f"], OPEN), key=key["f"], by=who, host=0),
        ask("confirm-payment", GONE, by=who, arguments={KEY: key["f"]}),
        read(NO, key=f"{n}-nothing", by=who),
        read(NO, key=key["f"], by=who, bearer=Token.INVENTED),
        # Signed too slowly, or in another way than is needed.
        make(shown(key["i"]), mode="instant", by=other, debtorAccount=f"{other}-A"),
        sign(Ending.DISCONNECTED, key=key["i"], by=other, moments=(AT, AT + IDLE), **SCREENS),
        make(shown(key["j"]), by=other, debtorAccount=f"{other}-A", amount="3.00"),
        sign(Ending.DISCONNECTED, key=key["j"], by=other, moments=SLOWLY, **SCREENS),
        make(shown(key["k"]), categoryPurpose="CASH", creditorAccount="C2", **once),
        sign(key=key["k"], by=who, step={"factor": "sms"}, **SCREENS),
        read(shown(key["k"], REJECTED), key=key["k"], by=who),
        effects(),
    ]


def long(chapter, chapters, *, same):
    """Put this number of chapters together, a week apart; the `same` customers are introduced once."""
    numbers, out = count(1), []
    for n in range(chapters):
        people = ("psu", "other") if same else (f"psu-{n}", f"other-{n}")
        events = chapter(n, *people)
        for minute, event in enumerate(events):
            at = BEGIN + timedelta(weeks=n, minutes=minute)
            if isinstance(event, Subject) and (n == 0 or not same):
                out.append(replace(event, now=at))
            elif isinstance(event, Exchange):
                out.append(replace(event, n=next(numbers), at=at))
            elif isinstance(event, Authorised):
                moments = [at + (one - AT) for one in event.moments or (AT, AT)]
                out.append(replace(event, n=next(numbers), moments=tuple(moments)))
            elif not isinstance(event, Subject):
                out.append(replace(event, now=at) if hasattr(event, "now") else event)
    return History(events=tuple(out))


# -- costs ------------------------------------------------------------------------
RULED = {
    (contract.id, clause): (chapter, ruled)
    for contract, chapter in ((AISP, accounts), (PIS, payments))
    for clause, ruled in bound_clauses(contract).items()
}


@cache
def told(chapter, chapters, *, same):
    """Return a history; every clause judges the same."""
    return long(chapter, chapters, same=same)


def lines(check, history):
    """Count the lines that a check runs, and the frames that it enters, to judge a history."""
    ran = 0

    def trace(_frame, _event, _argument):
        nonlocal ran
        ran += 1
        return trace

    former = sys.gettrace()
    sys.settrace(trace)
    try:
        for _ in check(history):
            pass
    finally:
        sys.settrace(former)
    return ran


def growth(check, chapter, *, same):
    """Return how many times as much late chapters cost as early ones."""
    lines(check, told(chapter, 1, same=same))  # what is worked out only once
    cost = {size: lines(check, told(chapter, size, same=same)) for size in (*EARLY, *LATE)}
    return (cost[LATE[1]] - cost[LATE[0]]) / (cost[EARLY[1]] - cost[EARLY[0]])


@pytest.mark.parametrize("same", [True, False], ids=["the-same-customers", "new-customers"])
@pytest.mark.parametrize("clause", RULED, ids="/".join)
def test_a_late_chapter_costs_what_an_early_one_does(clause, same):
    """No check looks back at all that was before."""
    chapter, ruled = RULED[clause]

    assert growth(ruled.kind.check, chapter, same=same) <= BOUND


def looks_back(history):
    """Look for each answer whether the same was asked before."""
    before = []
    for event in history.exchanges:
        if any(one.call == event.call for one in before):
            yield event.n
        before.append(event)


def goes_over_all_requests(history):
    """Follow requests as a fold does, but for each inquiry look at all that there are."""
    book = Tracker(lifecycle=lifecycle_of_request(PIS, "payment"))
    for event in history.events:
        book.note(event)
        if isinstance(event, Effects):
            for one in book.requests:
                if one.done:
                    yield one.made.n


def reads_again(history):
    """Gather the exchanges anew for each inquiry."""
    for event in history.events:
        if isinstance(event, Effects):
            yield sum(isinstance(one, Exchange) for one in history.events)


@for_each("check", [looks_back, goes_over_all_requests, reads_again])
def test_a_check_that_looks_back_is_caught(check):
    """The bound is one that can be broken, also by what does so only now and then."""
    assert growth(check, payments, same=True) > BOUND + 0.1


def again(history):
    """Let the world tell at every inquiry all that it has told before."""
    done, out = (), []
    for event in history.events:
        if isinstance(event, Effects):
            done += event.done
            out.append(replace(event, done=done))
        else:
            out.append(event)
    return History(events=tuple(out))


@for_each("clause", [one for one in RULED if one[0] == PIS.id])
def test_what_the_world_has_told_it_need_not_tell_again(clause):
    """A history in which it does so is longer, and says the same."""
    chapter, ruled = RULED[clause]
    brief = told(chapter, 4, same=True)

    assert list(ruled.kind.check(brief)) == list(ruled.kind.check(again(brief)))


def test_a_thing_is_found_by_its_key_however_many_there_are():
    """Of two with one key it is the first; what is no key names nothing."""
    things = [account("A1"), account("A2"), account("A1", savings=True)]
    psu = owner("psu", *things)

    assert [*things[:2], None, None] == [psu.owned(key) for key in ("A1", "A2", "A3", ["A1"])]
    assert owner("psu", *things) == psu


@for_each("clause", RULED)
def test_there_is_something_to_judge_in_a_chapter(clause):
    """What a check does not look at costs nothing, however it is done."""
    chapter, ruled = RULED[clause]

    assert list(ruled.kind.check(told(chapter, 7, same=True)))
