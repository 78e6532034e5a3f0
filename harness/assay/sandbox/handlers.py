"""Handlers of account information: one function per operation, from a call to an answer.

The order of refusals is the same everywhere: malformed requests, then missing rights,
then the quota. So an access refused for another reason does not use the quota. Routing,
sessions and maintenance are handled in :mod:`assay.sandbox.app`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from assay.sandbox.access import (
    Access,
    AccessRequest,
    ConsentRequest,
    Decision,
    Listing,
    RefusedConsent,
    admit,
)
from assay.sandbox.accounts import (
    Entry,
    Item,
    LinkPlace,
    Position,
    account_row,
    balance_rows,
    entry_row,
    link,
)
from assay.sandbox.calendar import Span, today
from assay.sandbox.messages import (
    KINDS,
    Answer,
    Json,
    Malformed,
    Operation,
    Request,
    read_day,
    read_identifier,
    read_page,
)
from assay.sandbox.policies import Policies, Refusal
from assay.sandbox.world import Customer, World

__all__ = ["METHODS", "AccountCall", "Refused"]

_EXTENDED = "extended_transaction_history"
_MESSAGES: Mapping[Refusal, str] = {
    "scope": "the consent does not cover this",
    "ineligible": "not an eligible account or card of this customer",
    "unknown": "no such account or card",
    "extended": "the extended history mode is not supported",
    "quota": "no more accesses without the customer today",
}


class Refused(Exception):  # noqa: N818 - a refusal is no error of the bank
    """A refusal; carries the status and a short text."""

    def __init__(self, policies: Policies, reason: Refusal) -> None:
        """Look up the bank's answer for the reason."""
        super().__init__(reason)
        self.reason: Refusal = reason
        self.status = policies.refusals[reason]
        self.message = _MESSAGES[reason]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountCall:
    """One authorised call, with the state and the policies it concerns."""

    policies: Policies
    world: World
    customer: Customer
    request: Request

    def charge_quota(self, operation: Operation, page: int = 1) -> None:
        """Charge the quota, or raise :class:`Refused`."""
        access = Access(
            customer=self.customer.id,
            operation=operation,
            attended=self.request.attended,
            page=page,
            now=self.world.now,
            renewals=self.customer.renewals,
        )
        if not admit(self.policies.quota[operation], self.world.uses, access):
            raise Refused(self.policies, "quota")

    def link(self, place: LinkPlace, page: int | None = None) -> str:
        """Return a link to this request, or to another page of it."""
        request = self.request
        if page is not None:
            request = replace(request, query=self.policies.carried(request.query))
        return link(request, self.policies.links[place](request.base), page)


def _accounts(call: AccountCall) -> Answer:
    page = read_page(call.request.query)
    call.charge_quota("accounts", page)
    policies, customer = call.policies, call.customer
    day = today(call.world.now)
    items = policies.listed(_listing(call, day, page))
    cut = policies.pages["accounts"](len(items), page)
    links = {"self": call.link("accounts-self")}
    if cut.next is not None:
        links["next"] = call.link("accounts-next", cut.next)
    body: dict[str, Json] = {
        **policies.identity(customer.name, customer.consent is not None),
        "accounts": [account_row(items[at]) for at in cut.positions],
        "links": links,
    }
    return Answer(status=200, body=body)


def _listing(call: AccountCall, day: date, page: int) -> Listing:
    def eligible(customer: Customer) -> list[Item]:
        return [
            item
            for item in customer.items.values()
            if call.policies.eligible[item.resource](item, day)
        ]

    own = call.customer
    others = [customer for customer in call.world.customers.values() if customer.id != own.id]
    return Listing(
        items=eligible(own),
        consent=own.consent,
        today=day,
        foreign=[item for customer in others for item in eligible(customer)],
        foreign_consented=[
            item
            for customer in others
            for item in eligible(customer)
            if item.key in (customer.consent or ())
        ],
        page=page,
    )


def _consents(call: AccountCall) -> Answer:
    customer = call.customer
    try:
        granted = _granted(call)
    except (Malformed, Refused) as exc:
        customer.consent = call.policies.after_refusal(_refused(call, exc))
        raise
    if granted:
        customer.consent = call.policies.renew(customer.consent, granted)
    return Answer(status=201, body={})


def _granted(call: AccountCall) -> frozenset[str]:
    """Return the keys that a consent grants, or raise what it is refused for."""
    policies, customer = call.policies, call.customer
    keys = frozenset(policies.body(call.request.body))
    day = today(call.world.now)
    asked = ConsentRequest(
        named=keys,
        owned=frozenset(customer.items),
        grantable=frozenset(
            key
            for key in keys & customer.items.keys()
            if policies.grantable[customer.items[key].resource](customer.items[key], day)
        ),
    )
    granted = policies.granted(asked)
    if granted is None:
        raise Refused(policies, "ineligible")
    call.charge_quota("consents")
    return granted


def _refused(call: AccountCall, exc: Malformed | Refused) -> RefusedConsent:
    """Return a consent that was refused, with what it names."""
    read = isinstance(exc, Refused)
    return RefusedConsent(
        why=exc.reason if isinstance(exc, Refused) else "malformed",
        former=call.customer.consent,
        named=frozenset(call.policies.body(call.request.body) if read else ()),
        owned=frozenset(call.customer.items),
    )


def _find(call: AccountCall) -> tuple[Item, Customer]:
    """Return the requested item and its owner."""
    request = call.request
    key = read_identifier(request.identifier or request.query.get("iban"))
    owner = call.world.owners.get(key)
    if owner is None:
        raise Refused(call.policies, "unknown")
    return owner.items[key], owner


def _decide(call: AccountCall, operation: Operation, item: Item, owner: Customer) -> int:
    """Return the status of the answer that shows the item, or raise :class:`Refused`."""
    customer = call.customer
    request = AccessRequest(
        item=item,
        own=owner is customer,
        consent=customer.consent,
        owners_consent=owner.consent,
        owned=frozenset(customer.items),
        page=read_page(call.request.query),
    )
    match call.policies.scope[KINDS[operation, item.resource]](request):
        case Decision.SERVED:
            return 200
        case Decision.LEAKED:
            return call.policies.refusals["scope"]
        case Decision.REFUSED:
            raise Refused(call.policies, "scope")


def _balances(call: AccountCall) -> Answer:
    policies = call.policies
    read_page(call.request.query)
    item, owner = _find(call)
    status = _decide(call, "balances", item, owner)
    call.charge_quota("balances")
    rows = balance_rows(
        item,
        policies.balance_types[item.resource],
        policies.currency[KINDS["balances", item.resource]],
    )
    body: dict[str, Json] = {
        "balances": policies.aliases["balances"](call.request.route, rows),
        "links": {"self": call.link("balances-self")},
    }
    return Answer(status=status, body=body)


def _history(call: AccountCall, item: Item, page: int) -> Sequence[Entry]:
    """Return the entries of an item that the request asks for."""
    query, now, policies = call.request.query, call.world.now, call.policies
    asked, until = read_day(query, "dateFrom"), read_day(query, "dateTo")
    span = Span(now=now, asked=asked, until=until, opened=item.ledger.opened, page=page)
    if _EXTENDED in query.get("scope", ""):
        oldest = policies.extended(span)
        if oldest is None:
            raise Refused(policies, "extended")
    else:
        oldest = policies.depth(span)
    begin, end = policies.period(asked, until)
    first = max(oldest, begin) if begin else oldest
    last = min(today(now), end) if end else today(now)
    return [
        entry for entry in policies.order(item.ledger.newest_first()) if first <= entry.date <= last
    ]


def _transactions(call: AccountCall) -> Answer:
    policies, route = call.policies, call.request.route
    page = read_page(call.request.query)
    item, owner = _find(call)
    status = _decide(call, "transactions", item, owner)
    entries = _history(call, item, page)
    call.charge_quota("transactions", page)
    cut = policies.pages["transactions"](len(entries), page)
    currency = policies.currency[KINDS["transactions", item.resource]]
    rows = [
        entry_row(item, entries[at], currency(Position(index=at, count=len(entries))))
        for at in cut.positions
    ]
    links = {"self": call.link("transactions-self")}
    if cut.next is not None:
        links["next"] = call.link("transactions-next", cut.next)
    body: dict[str, Json] = {
        "transactions": policies.aliases["transactions"](route, rows),
        "links": links,
    }
    return Answer(status=status, body=body)


#: Handler of each operation.
METHODS: Mapping[Operation, Callable[[AccountCall], Answer]] = {
    "accounts": _accounts,
    "consents": _consents,
    "balances": _balances,
    "transactions": _transactions,
}
