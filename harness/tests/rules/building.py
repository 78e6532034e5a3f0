"""Literal histories, and a bank that accepts every call, for tests of kinds.

A history is written as what was asked and what came back, in order; numbers and
times are filled in. Nothing here knows what a rule expects.
"""

from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from itertools import count
from zoneinfo import ZoneInfo

from assay.history import (
    Accepted,
    Advance,
    Advanced,
    Arrange,
    Authorised,
    Call,
    Cause,
    Entry,
    Exchange,
    History,
    Indeterminate,
    Item,
    Owned,
    Rejected,
    Subject,
    Unavailable,
    Wire,
)
from assay.parsing.parse import find_contract, parse_contract
from assay.rules.kinds import kind_of
from assay.rules.obligation import obligations
from assay.rules.rule import facts_of

PARIS = ZoneInfo("Europe/Paris")
#: A quiet Wednesday morning.
AT = datetime(2026, 9, 16, 10, 0, tzinfo=PARIS)
TODAY = date(2026, 9, 16)
AISP = replace(parse_contract(find_contract("aisp")), zone=PARIS)

# -- what came back: an outcome and the status that it had ------------------------
NO = Rejected(), 403
UNKNOWN = Rejected(), 401
GONE = Unavailable(), 404
FAILED = Indeterminate(cause=Cause.SERVER, why="the target failed (503)"), 503
BROKEN = Indeterminate(cause=Cause.SERVER, why="the target failed (500)"), 500
LOST = Indeterminate(cause=Cause.TRANSPORT, why="no answer within 10 s"), 0
ODD = Indeterminate(cause=Cause.BINDING, why="the profile does not know status 302"), 302
DONE = Accepted(), 200
NONE = Accepted(items=()), 200


def listed(*items, next=None, **values):
    """Say that a list came back; a text stands for an item with this key."""
    made = tuple(Item(key=one) if isinstance(one, str) else one for one in items)
    return Accepted(items=made, next=next, values=values), 200


def leaked(*keys):
    """Say that it was refused, with items in the refusal all the same."""
    return Rejected(leaked=tuple(Item(key=key) for key in keys)), 403


def item(key=None, on=None, resource=None, **fields):
    """Make one item of a list."""
    return Item(key=key, on=on, resource=resource, fields=fields)


# -- what was asked ---------------------------------------------------------------
def ask(operation, came, about=None, *, by="psu", at=None, wire=None, **call):
    """Write one exchange down; ``about`` is an IBAN, ``arguments`` anything else."""
    outcome, status = came
    arguments = dict(call.pop("arguments", {}))
    if about is not None:
        arguments["iban"] = about
    return Exchange(
        n=0,
        at=at,
        call=Call(operation=operation, subject=by, arguments=arguments, **call),
        outcome=outcome,
        wire=Wire(method="GET", url="https://bank.example/x", status=status, **(wire or {})),
    )


def consent(*keys, by="psu", came=DONE, **call):
    """Write a transmitted consent down."""
    return ask("consents", came, arguments={"accounts": list(keys)}, by=by, **call)


def owner(name="psu", *things, fresh=True, now=AT):
    """Write down that a subject exists."""
    return Subject(name=name, now=now, owns=things, fresh=fresh)


def account(key="A1", *days, **traits):
    """Make an account with an entry so many days ago for each number."""
    entries = tuple(Entry(key=f"{key}-{n}", on=TODAY - timedelta(days=n)) for n in days)
    return Owned(key=key, resource="account", traits=traits, entries=entries)


def card(key="C1", *days, **traits):
    """Make a card likewise."""
    return replace(account(key, *days, **traits), resource="card")


def history(*events):
    """Number exchanges and signatures, a second apart where nothing else is said."""
    numbers = count(1)
    out = []
    for event in events:
        if isinstance(event, Exchange):
            n = next(numbers)
            out.append(replace(event, n=n, at=event.at or AT + timedelta(seconds=n)))
        elif isinstance(event, Authorised):
            n = next(numbers)
            moments = event.moments or (AT + timedelta(seconds=n),)
            out.append(replace(event, n=n, moments=moments))
        else:
            out.append(event)
    return History(events=tuple(out))


# -- what a check says of it ------------------------------------------------------
def ruled(clause, zone=PARIS, contract=AISP, **changed):
    """Return a clause as an instance of its kind, with some of its words changed."""
    contract = replace(contract, zone=zone)
    found = next(one for one in contract.clauses if one.id == clause)
    found = replace(found, params={**found.params, **changed})
    return kind_of(found.kind).parse(found, contract)


def check(clause, *events, zone=PARIS, contract=AISP, **changed):
    """Return what a clause's check says of a history: ``facet agreement [calls]``."""
    params = ruled(clause, zone, contract, **changed)
    return [
        f"{one.facet} {one.agreement.value} {','.join(map(str, one.exchanges))}"
        for one in params.check(history(*events))
    ]


# -- probes -----------------------------------------------------------------------
def driven(script, answer):
    """Run a probe to its end, with an answer to each of its steps, and return the steps."""
    steps, step = [], next(script, None)
    while step is not None:
        steps.append(step)
        try:
            step = script.send(answer(step))
        except StopIteration:
            break
    return steps


PAGES = {"accounts": 5, "transactions": 15}
BELOW = {"balances": 3, "transactions": None}


@dataclass
class Obliging:
    """A bank that does what it is asked, page by page, and lets everybody in."""

    now: datetime = AT
    contract: object = AISP
    people: dict = field(default_factory=dict)
    steps: list = field(default_factory=list)
    events: list = field(default_factory=list)

    def play(self, script):
        """Run a probe to its end, and return the calls that it made."""
        driven(script, self.reply)
        return [step for step in self.steps if isinstance(step, Call)]

    def reply(self, step):
        self.steps.append(step)
        self.events.append(self.answer(step))
        return self.events[-1]

    def answer(self, step):
        if isinstance(step, Advance):
            self.now = step.to or self.now
            return Advanced(now=self.now)
        if isinstance(step, Arrange):
            owns = tuple(
                Owned(
                    key=f"{step.subject}-{n}-{m}",
                    resource=holding.resource,
                    traits=holding.traits,
                    entries=tuple(
                        Entry(key=f"{step.subject}-{n}-{m}-{k}", on=on)
                        for k, on in enumerate(holding.entries or ())
                    ),
                )
                for n, holding in enumerate(step.holdings)
                for m in range(holding.count)
            )
            self.people[step.subject] = Subject(name=step.subject, now=self.now, owns=owns)
            return self.people[step.subject]
        n = 1 + sum(isinstance(event, Exchange) for event in self.events)
        wire = Wire(method="GET", url="https://bank.example/x", status=200)
        return Exchange(n=n, at=self.now, call=step, outcome=self.page(step), wire=wire)

    def page(self, call):
        operation = self.contract.operations[call.operation]
        if not operation.lists:
            return Accepted()
        items = self.items(operation, call)
        size = PAGES.get(call.operation, 100)
        number = int(call.follow.rpartition("=")[2]) if call.follow else 0
        goes_on = (number + 1) * size < len(items)
        return Accepted(
            items=tuple(items[number * size : (number + 1) * size]),
            next=f"{call.operation}?{call.arguments}&page={number + 1}" if goes_on else None,
        )

    def items(self, operation, call):
        owns = self.people[call.subject].owns
        if not operation.about:
            return [
                Item(key=one.key, resource=one.resource)
                for one in owns
                if facts_of(self.contract).surely_listed(one, self.now)
            ]
        key = call.arguments[operation.about]
        known = (got for each in self.people.values() if (got := each.owned(key)))
        item = next(known, None)
        if item is None:
            return []
        first = str(self.now.date() - timedelta(days=90))
        since = max(first, call.arguments.get(operation.since or "", first))
        until = call.arguments.get(operation.until or "", "9999-12-31")
        return [
            Item(key=entry.key, on=entry.on)
            for entry in item.entries
            if since <= str(entry.on) <= until
        ]


def facets():
    """Return (obligation, clause) of everything that the contract asks."""
    out = []
    for obligation in obligations(AISP):
        if obligation.kind != "unspecified":
            params = ruled(obligation.clause)
            out.append((obligation, params))
    return out
