"""Payment initiation: the shipped contract, valid requests, their signatures, and banks."""

from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import partial
from itertools import count

import account_information
from account_information import AT, NO, PARIS, ask

from assay.history import (
    Advanced,
    Authorise,
    Authorised,
    Decision,
    Effect,
    Effects,
    Ending,
    Exchange,
    Item,
    Owned,
    Registered,
    State,
    Subject,
    Wire,
    Withdrawn,
)
from assay.parsing.parse import find_contract, parse_contract
from assay.testing import accepted, count_calls, evidence, play, signature

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


ruled = partial(account_information.ruled, contract=PIS)
check = partial(account_information.check, contract=PIS)


# -- requests ---------------------------------------------------------------------
def payer(name="psu", *accounts, segment=None, fresh=True, now=AT):
    """Write down that a customer exists, who owns these accounts (A1 if none is named)."""
    owns = tuple(Owned(key=key, resource="account") for key in accounts or ("A1",))
    return Subject(name=name, now=now, owns=owns, fresh=fresh, segment=segment)


def shown(key="P1", state=OPEN, approval=LINK, **fields):
    """Say that one request came back."""
    return accepted(Item(key=key, state=state, fields=fields), approval=approval)


def make(came=None, *, by="psu", mode="immediate", without=(), at=None, key="P1", **arguments):
    """Write down that a request was made; `came` is `shown(key)` if nothing else is said.

    In `arguments` of the call stands what was sent: what is named here takes the place
    of what a valid request has, and `tpp` is who called; `varied` are those that the
    profile vouches for.
    """
    call = {name: arguments.pop(name) for name in ("variation", "host", "tpp") if name in arguments}
    call["varied"] = tuple(arguments.pop("varied", ()))
    sent = {**ARGUMENTS, **arguments}
    call["arguments"] = {name: value for name, value in sent.items() if name not in without}
    call["without"] = tuple(without)
    return ask("create-payment", came or shown(key), by=by, at=at, mode=mode, **call)


def read(came=None, *, key="P1", **call):
    """Write down that a request was read."""
    return ask("read-payment", came or shown(key), arguments={KEY: key}, **call)


def modify(came=None, *, key="P1", by="psu", at=None, varied=None, **arguments):
    """Write down that a request was to be changed; the profile vouches for the new values.

    `varied` are those that it vouches for, if not for all.
    """
    vouched = tuple(arguments if varied is None else varied)
    sent = {KEY: key, **arguments}
    return ask("modify-payment", came or shown(key), by=by, at=at, arguments=sent, varied=vouched)


def cancel(came=None, *, key="P1", by="psu", at=None):
    """Write down that a request was to be cancelled through the interface."""
    sent = {KEY: key, "cancellation": "cancelled"}
    return ask("cancel-payment", came or shown(key, ENDED), by=by, at=at, arguments=sent)


def sign(ending=Ending.CONFIRMED, *, key="P1", by="psu", at=None, step=None, **seen):
    """Write down what became of a signature; `step` are words of the step, `seen` of its end.

    `moments` are all those at which the customer did something, else the one of `at`.
    """
    asked = Authorise(subject=by, request=key, approval=LINK, **(step or {}))
    signed = replace(signature(asked, ending=ending, at=at), **seen)
    return replace(signed, wire=Wire(method="POST", url=LINK, status=303))


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


def flow(state=DONE, *, key="P1", by="psu", at=None, signed=None, step=None, **arguments):
    """Write down that a request was made, signed and read, and the state in which it was then."""
    return [
        make(shown(key), key=key, by=by, at=at, **arguments),
        sign(key=key, by=by, at=signed or at, step=step),
        read(shown(key, state), key=key, by=by, at=signed or at),
    ]


# -- signatures -------------------------------------------------------------------
BACK = "https://tpp.example/back"
ALL = ("login", "password", "factor", "code", "decision")
FACTORS = ("sms", "cap")
CONFIRMED, REFUSED = Ending.CONFIRMED, Ending.REFUSED
DISCONNECTED, STOPPED = Ending.DISCONNECTED, Ending.STOPPED


def page(status=303):
    """Make the last page of a way, with this status."""
    return Wire(method="POST", url="https://bank.example/sign", status=status)


def story(key, ending=CONFIRMED, state=DONE, *, made=None, looked=None, status=None, **seen):
    """Write down that a request was made, signed in some way, and read.

    What is said in `seen` of the way takes the place of that of a plain one; `made` and
    `looked` are what came when it was made and read, if that was not as it should be.
    """
    by = seen.pop("by", "psu")
    arguments = seen.pop("arguments", {})
    status = status or {CONFIRMED: 303, REFUSED: 200, DISCONNECTED: 410, STOPPED: 200}[ending]
    seen = {
        "offered": FACTORS,
        "screens": ALL,
        "coded": True,
        "redirected": BACK if ending is CONFIRMED else None,
        "moments": (AT, AT),
        **seen,
    }
    way = replace(sign(ending, key=key, by=by, **seen), wire=page(status))
    first = make(made or shown(key, OPEN), by=by, key=key, **arguments)
    return first, way, read(looked or shown(key, state), key=key, by=by)


# -- banks ------------------------------------------------------------------------
def anything(call, key):
    """Accept what is asked, and show the request that is new, or that was asked for."""
    return shown(call.arguments.get(KEY) or key)


def carrying_out(call, key):
    """Accept what is asked, and say of whatever is read that it was executed."""
    return shown(call.arguments[KEY], DONE) if KEY in call.arguments else shown(key)


def probed(clause, scenario, bank=anything):
    """Play a scenario; return what was played, and its evidence without numbers.

    The bank is asked with a call, and a key that a new request may have.
    """
    kind, numbers = ruled(clause), count(1)
    played = play(kind, scenario, lambda call: bank(call, f"R{next(numbers)}00-0001-4711"))
    return played, [line.rpartition(" ")[0] for line in evidence(kind, played.history, alone=True)]


def price(clause, scenario):
    """Return what the plan says that a scenario costs."""
    kind = ruled(clause)
    return count_calls(kind, kind.scenario(scenario))


@dataclass
class Signing:
    """A bank whose customers sign whatever they like, and which carries everything out."""

    now: datetime = AT
    ticks: timedelta = timedelta(0)
    offered: tuple = ("sms", "cap", "soft-token")
    asked: dict = field(default_factory=dict)
    states: dict = field(default_factory=dict)
    refuses: bool = False
    address: str = f"{BACK}?state=1"

    def play(self, kind, scenario):
        """Play a scenario, by its id."""
        return play(kind, scenario, self.answer, reply=self.reply, start=self.now)

    def answer(self, call):
        if call.operation != "create-payment":
            key = call.arguments[KEY]
            return shown(key, self.states.get(key, OPEN))
        key = f"P{len(self.asked)}"
        self.asked[key] = self.sent(call)
        return NO if self.refuses else shown(key, OPEN)

    def sent(self, call):
        return {"successfulReportUrl": self.address, **call.arguments}

    def reply(self, step, reply):
        match reply:
            case Subject():
                return replace(reply, now=self.now)
            case Advanced():
                self.now = (getattr(step, "to", None) or self.now) + self.ticks
                return Advanced(now=self.now)
            case Exchange():
                call = step
                if step.operation == "create-payment":
                    call = replace(step, arguments=self.sent(step))
                return replace(reply, at=self.now, call=call)
            case Authorised():
                return self.sign(reply)
        raise AssertionError(step)

    def sign(self, reply):
        step, moments = reply.step, [self.now]
        for span in (*[step.pace] * 3, *step.linger[:-1], sum(step.linger[-1:], step.pace)):
            moments.append(moments[-1] + span)
        self.now = moments[-1]
        confirms = step.decision is Decision.CONFIRM
        self.states[step.request] = DONE if confirms else ENDED
        return replace(
            reply,
            moments=tuple(moments),
            offered=self.offered,
            screens=ALL,
            coded=True,
            redirected=self.asked[step.request]["successfulReportUrl"] if confirms else None,
            wire=page(),
        )
