"""Literal histories of requests, for tests of kinds about requests.

What `building` is for calls and lists: a history is written as what was asked and what
came back, in order. Nothing here knows what a rule expects.
"""

from dataclasses import replace
from datetime import date, timedelta
from functools import partial

import building
from building import AT, PARIS, ask

from assay.history import (
    Accepted,
    Authorise,
    Authorised,
    Effect,
    Effects,
    Ending,
    Item,
    Owned,
    Registered,
    State,
    Subject,
    Wire,
    Withdrawn,
)
from assay.parsing.parse import find_contract, parse_contract

PIS = replace(parse_contract(find_contract("pis")), zone=PARIS)
KEY = "paymentRequestResourceId"
LINK = "https://bank.example/sign/P1"
ARGUMENTS = {
    "chargeBearer": "SLEV",
    "categoryPurpose": "DVPM",
    "creditorAccount": "C1",
    "successfulReportUrl": "https://tpp.example/back",
    "debtorAccount": "A1",
    "amount": "12.30",
    "currency": "EUR",
}
OPEN, DONE, REJECTED, ENDED = State.OPEN, State.DONE, State.REJECTED, State.ENDED


def payer(name="psu", *accounts, segment=None, fresh=True, now=AT):
    """Write down that a customer exists, who owns these accounts (A1 if none is named)."""
    owns = tuple(Owned(key=key, resource="account") for key in accounts or ("A1",))
    return Subject(name=name, now=now, owns=owns, fresh=fresh, segment=segment)


def shown(key="P1", state=OPEN, approval=LINK, **fields):
    """Say that one request came back."""
    item = Item(key=key, state=state, fields=fields)
    return Accepted(items=(item,), approval=approval), 200


def make(came=None, *, by="psu", mode="immediate", without=(), at=None, key="P1", **arguments):
    """Write down that a request was made; `came` is `shown(key)` if nothing else is said.

    In `arguments` of the call stands what was sent: what is named here takes the place
    of what a valid request has, and `tpp` is who called; `varied` are those that the
    profile vouches for.
    """
    call = {name: arguments.pop(name) for name in ("variation", "host") if name in arguments}
    varied = tuple(arguments.pop("varied", ()))
    tpp = arguments.pop("tpp", "")
    sent = {**ARGUMENTS, **arguments}
    sent = {name: value for name, value in sent.items() if name not in without}
    event = ask(
        "create-payment", came or shown(key), by=by, at=at, mode=mode, arguments=sent, **call
    )
    return replace(event, call=replace(event.call, by=tpp, without=tuple(without), varied=varied))


def read(came=None, *, key="P1", by="psu", at=None, tpp="", **call):
    """Write down that a request was read."""
    arguments = {KEY: key}
    event = ask("read-payment", came or shown(key), by=by, at=at, arguments=arguments, **call)
    return replace(event, call=replace(event.call, by=tpp))


def modify(came=None, *, key="P1", by="psu", at=None, varied=None, **arguments):
    """Write down that a request was to be changed; the profile vouches for the new values.

    `varied` are those that it vouches for, if not for all.
    """
    event = ask(
        "modify-payment", came or shown(key), by=by, at=at, arguments={KEY: key, **arguments}
    )
    vouched = tuple(arguments) if varied is None else tuple(varied)
    return replace(event, call=replace(event.call, varied=vouched))


def cancel(came=None, *, key="P1", by="psu", at=None):
    """Write down that a request was to be cancelled through the interface."""
    sent = {KEY: key, "cancellation": "cancelled"}
    return ask("cancel-payment", came or shown(key, ENDED), by=by, at=at, arguments=sent)


def sign(ending=Ending.CONFIRMED, *, key="P1", by="psu", at=None, step=None, **seen):
    """Write down what became of a signature; `step` are words of the step, `seen` of its end.

    `moments` are all those at which the customer did something, else the one of `at`.
    """
    asked = Authorise(subject=by, request=key, approval=LINK, **(step or {}))
    moments = seen.pop("moments", (at,) if at else ())
    return Authorised(
        n=0,
        step=asked,
        ending=ending,
        moments=moments,
        wire=Wire(method="POST", url=LINK, status=303),
        **seen,
    )


def effects(*keys, now=AT, on=date(2026, 9, 16), **fields):
    """Write down what the world says was executed."""
    return Effects(now=now, done=tuple(Effect(request=key, on=on, fields=fields) for key in keys))


def registered(hours, *, by="psu", value="C1", argument="creditorAccount", now=AT):
    """Write down since when a customer has known a creditor."""
    return Registered(
        subject=by, argument=argument, value=value, since=now - timedelta(hours=hours)
    )


def withdrawn(*, key="P1", by="psu", done=True, now=AT):
    """Write down that the customer cancelled a request by himself."""
    return Withdrawn(subject=by, request=key, done=done, now=now)


history = building.history
ruled = partial(building.ruled, contract=PIS)
check = partial(building.check, contract=PIS)
