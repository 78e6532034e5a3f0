"""Account information: the shipped contract, named answers, and a bank that serves everybody."""

from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from assay.history import Call, Cause, Entry, Exchange, Indeterminate, Item, Owned, Subject
from assay.parsing.parse import find_contract, parse_contract
from assay.rules.kinds import kind_of
from assay.rules.obligation import obligations
from assay.rules.rule import facts_of
from assay.testing import (
    accepted,
    evidence,
    exchange,
    failed,
    history,
    listed,
    lost,
    play,
    refused,
    unavailable,
)
from assay.testing.histories import Answer

PARIS = ZoneInfo("Europe/Paris")
#: A quiet Wednesday morning.
AT = datetime(2026, 9, 16, 10, 0, tzinfo=PARIS)
TODAY = date(2026, 9, 16)
AISP = replace(parse_contract(find_contract("aisp")), zone=PARIS)

# -- answers ----------------------------------------------------------------------
NO = refused()
UNKNOWN = refused(status=401)
GONE = unavailable()
FAILED = failed()
BROKEN = failed(status=500)
LOST = lost()
ODD = Answer(
    outcome=Indeterminate(cause=Cause.BINDING, why="the profile does not know status 302"),
    status=302,
)
DONE = accepted()
NONE = listed()


def item(key=None, on=None, resource=None, **fields):
    """Return one item of a list."""
    return Item(key=key, on=on, resource=resource, fields=fields)


# -- calls and customers ----------------------------------------------------------
def ask(operation, answer, about=None, *, by="psu", tpp="", at=None, arguments=(), **call):
    """Return one exchange; `about` is an IBAN, `arguments` anything else."""
    about = {} if about is None else {"iban": about}
    sent = {**dict(arguments), **about}
    made = Call(operation=operation, subject=by, by=tpp, arguments=sent, **call)
    return exchange(made, answer, at=at)


def consent(*keys, by="psu", came=DONE, **call):
    """Return the exchange in which a consent is transmitted."""
    return ask("consents", came, arguments={"accounts": list(keys)}, by=by, **call)


def owner(name="psu", *things, fresh=True, now=AT):
    """Return a customer with what it owns."""
    return Subject(name=name, now=now, owns=things, fresh=fresh)


def account(key="A1", *days, **traits):
    """Return an account with one entry for each number of days before today."""
    entries = tuple(Entry(key=f"{key}-{n}", on=TODAY - timedelta(days=n)) for n in days)
    return Owned(key=key, resource="account", traits=traits, entries=entries)


def card(key="C1", *days, **traits):
    """Return a card likewise."""
    return replace(account(key, *days, **traits), resource="card")


# -- clauses ----------------------------------------------------------------------
def ruled(clause, zone=PARIS, contract=AISP, **changed):
    """Return a clause as an instance of its kind, with some of its parameters changed."""
    contract = replace(contract, zone=zone)
    found = next(one for one in contract.clauses if one.id == clause)
    found = replace(found, params={**found.params, **changed})
    return kind_of(found.kind).parse(found, contract)


def check(clause, *events, facet=None, **changed):
    """Return the evidence of a clause, with some of its parameters changed, on a history.

    Of one `facet`, if it is named; among `events` may be lists of several.
    """
    flat = [one for many in events for one in (many if isinstance(many, list) else [many])]
    lines = evidence(ruled(clause, **changed), history(*flat), alone=True)
    return [line for line in lines if facet is None or line.startswith(f"{facet} ")]


def facets():
    """Return (obligation, clause) of everything that the contract asks."""
    out = []
    for obligation in obligations(AISP):
        if obligation.kind != "unspecified":
            params = ruled(obligation.clause)
            out.append((obligation, params))
    return out


# -- a bank -----------------------------------------------------------------------
PAGES = {"accounts": 5, "transactions": 15}


@dataclass
class Obliging:
    """A bank that does what it is asked, page by page, and lets everybody in."""

    now: datetime = AT
    contract: object = AISP
    people: dict = field(default_factory=dict)

    def play(self, kind, scenario):
        """Play a scenario, by its id."""
        return play(kind, scenario, self.page, reply=self.reply, start=self.now)

    def reply(self, step, reply):
        """Keep in mind who there is, and what time it is, which calls do not change."""
        match reply:
            case Subject(name=name):
                self.people[name] = reply
            case Exchange():
                return replace(reply, at=self.now)
        self.now = getattr(reply, "now", self.now)
        return reply

    def page(self, call):
        operation = self.contract.operations[call.operation]
        if not operation.lists:
            return accepted()
        items = self.items(operation, call)
        size = PAGES.get(call.operation, 100)
        number = int(call.follow.rpartition("=")[2]) if call.follow else 0
        goes_on = (number + 1) * size < len(items)
        return listed(
            *items[number * size : (number + 1) * size],
            next=f"{call.operation}?{call.arguments}&page={number + 1}" if goes_on else None,
        )

    def items(self, operation, call):
        owns = self.people[call.subject].owns
        if not operation.about:
            return [
                Item(key=one.key, resource=one.resource)
                for one in owns
                if facts_of(self.contract).surely_listed(one, self.now, self.now)
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
