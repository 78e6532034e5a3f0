"""Histories of any length, for tests of the cost of judging.

Each chapter holds whatever can happen, a week after the one before it: with customers of
its own, or with the same two to the end. Nothing is said of what is right.
"""

from dataclasses import replace
from datetime import timedelta
from itertools import count

from building import (
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
    listed,
    owner,
)
from orders import DONE as CARRIED_OUT
from orders import (
    ENDED,
    KEY,
    OPEN,
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

from assay.history import Advanced, Authorised, Ending, Exchange, History, Malformed, Subject, Token
from assay.rules.kinds.reading.addressed import similar_key

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
        ),
        owner(other, account(theirs, 1, 2), account(f"{other}-S", savings=True)),
        ask("transactions", NO, mine, by=who, variation="before any consent"),
        ask("accounts", listed(PsuIdentity=None), by=who),
        consent(mine, f"{who}-nobody's-{n}", by=who),
        consent(theirs, by=other),
        consent(second, by=who, came=LOST),
        consent(mine, by=who),
        ask("accounts", listed(*first, next=f"{n}-more", PsuIdentity="P"), by=who),
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
        ask("accounts", listed(mine), by=who, wire={"links": ("/x",), "body": b"{}"}),
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
        read(shown(key["f"], OPEN), key=key["f"], by=who, wire={"body": b"{}"}),
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
    """Put so many chapters together, a week apart; the `same` customers are met only once."""
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
