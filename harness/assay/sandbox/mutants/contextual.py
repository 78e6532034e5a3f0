"""Contextual mutants: banks with a fault that shows in one situation only.

A fault of a real gateway is often confined: to instant payments, to the second name of a
method, to the weekend. Every mutant gives such banks: the wrong bank answers the requests of
the situation, and the sound one all others, on the same state. A situation is what a request
shows of itself (host, path, headers, caller) and what it is about (a payment, an item). Or it is
what happened before in the world of the request (`ORDERS`): from then on the bank is wrong.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from io import BytesIO
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from assay.sandbox.app import make_app
from assay.sandbox.calendar import local
from assay.sandbox.control import PREFIX
from assay.sandbox.messages import (
    BODY_LIMIT,
    Malformed,
    credentials_in,
    decoded_path,
    read_body,
    read_object,
)
from assay.sandbox.payments.records import Payment, Tpp
from assay.sandbox.policies import Policies
from assay.sandbox.world import Customer, Registry, Session, World, find_session_by_basic

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

#: Items on a page of the accounts.
_PAGE = 5
#: The bank's page size for the entries of an item.
_ENTRIES = 15
#: The ordinary amount lies between these.
_SMALL, _LARGE = Decimal(1), Decimal(10_000)
_SATURDAY, _SUNDAY = 6, 7
#: Shorter times are no pause.
_PAUSE = timedelta(minutes=1)
#: The offset of summer time.
_SUMMER = timedelta(hours=2)
#: Less than a week: a week that begins at noon may end at an earlier hour.
_DAYS = timedelta(days=6)
#: The name of a method with the account in its path.
_LONG = re.compile("/accounts/[^/]+/transactions")
#: An IBAN, in whatever way it is written.
_IBAN = re.compile("[A-Za-z]{2}[0-9]{2}[A-Za-z0-9 ]{11,}")
#: The status of payments that nothing more happens to.
_OPEN = ("received", "pending")


@dataclass(frozen=True, slots=True, kw_only=True)
class Concern:
    """A payment that a request is about, as far as it says: its type, and whose it is."""

    type: str = ""
    amount: str = ""
    creditor: str = ""
    factor: str = ""
    owner: Customer | None = None
    changes: int = 0
    #: From the request to the first screen, and on the screens.
    waited: timedelta = timedelta(0)
    lingered: timedelta = timedelta(0)
    #: What the screen asks for that the customer has before her.
    screen: str = ""


@dataclass(slots=True, kw_only=True)
class Past:
    """What happened in a world before a request: since when, how often, by how many customers."""

    began: datetime
    consents: int = 0
    emptied: bool = False
    #: When the customer was first absent.
    unattended: datetime | None = None
    refused: int = 0
    customers: set[str] = field(default_factory=set[str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What a request shows of itself, and what it is about.

    `content` is its query and its body. `payments` are those that it concerns, as they are and
    as they were made: the one that it makes or names, or for the clock all that are open.
    `earlier` counts the requests of the world before with its method and path, `renewals` how
    often the token of the caller, or of the TPP of the payment, was renewed. `consented` is when
    the customer first sent a consent, `past` what happened before in its world, if that is known.
    """

    path: str
    host: str
    world: World | None
    customer: Customer | None
    tpp: str
    attended: bool
    content: str
    payments: tuple[Concern, ...]
    earlier: int
    renewals: int
    consented: datetime | None
    past: Past | None

    def any(self, test: Callable[[Concern], bool]) -> bool:
        """Whether a payment that the request concerns passes a test."""
        return any(map(test, self.payments))

    @property
    def owner(self) -> Customer | None:
        """The customer, or the owner of the first payment."""
        return self.customer or next((each.owner for each in self.payments if each.owner), None)

    @property
    def segment(self) -> str:
        """The segment of the owner."""
        return self.owner.segment if self.owner else ""

    @property
    def owned(self) -> int:
        """How many items the owner has."""
        return len(self.owner.items) if self.owner else 0

    @property
    def on_a_later_page(self) -> bool:
        """Whether an item that the request names stands beyond the first page of its owner's list.

        A request that names none is about all that its customer has.
        """
        if self.world is None:
            return False
        named = [key for key in self.world.owners if key in self.path or key in self.content]
        if named:
            return any(key in [*self.world.owners[key].items][_PAGE:] for key in named)
        return self.customer is not None and len(self.customer.items) > _PAGE

    @property
    def entries(self) -> list[int]:
        """How many entries each item that the request names has."""
        return [
            len(customer.items[key].ledger.days or ())
            for key, customer in (self.world.owners if self.world else {}).items()
            if key in self.path or key in self.content
        ]

    @property
    def keys(self) -> list[str]:
        """The keys that the query and the path have, with their parts as they are written."""
        parts = [*self.path.split("/"), *(value for _, value in parse_qsl(self.content))]
        return [part for part in parts if _IBAN.fullmatch(part)]

    @property
    def fills_pages(self) -> bool:
        """Whether the customer's items fill whole pages, or the entries of a named item do."""
        lists = ((self.owned, _PAGE), *((number, _ENTRIES) for number in self.entries))
        return any(number and number % size == 0 for number, size in lists)

    @property
    def is_in_reverse(self) -> bool:
        """Whether several items of the customer are named, in the reverse of their order."""
        items = self.customer.items if self.customer else ()
        places = [self.content.index(key) for key in items if key in self.content]
        return len(places) > 1 and places == sorted(places, reverse=True)

    @property
    def is_of_several_tpps(self) -> bool:
        """Whether several TPPs have made payments, the caller included."""
        made = self.world.payments.payments.values() if self.world else ()
        return len({payment.tpp for payment in made} | {self.tpp} - {""}) > 1

    @property
    def is_about_cards(self) -> bool:
        """Whether the items that the request names are cards; without one, all of the customer's."""
        owners = self.world.owners if self.world else {}
        named = [
            owner.items[key].resource
            for key, owner in owners.items()
            if key in self.path or key in self.content
        ]
        own = [item.resource for item in self.customer.items.values()] if self.customer else []
        return set(named or own) == {"card"}

    def happened(self, test: Callable[[Payment], bool], times: int = 1) -> bool:
        """Whether at least this number of payments of the world pass a test."""
        book = self.world.payments.payments if self.world else {}
        return sum(map(test, book.values())) >= times

    def passed(self, days: int) -> bool:
        """Whether at least this number of days passed in the world since its first request."""
        if self.world is None or self.past is None:
            return False
        return self.world.now - self.past.began >= timedelta(days=days)

    @property
    def was_unattended_before_today(self) -> bool:
        """Whether a call without the customer was made on an earlier day."""
        first = self.past.unattended if self.past else None
        return (
            self.world is not None
            and first is not None
            and local(first).date() < local(self.world.now).date()
        )

    def weekday(self, day: int) -> bool:
        """Whether it is this day of the week (ISO) in the world."""
        return self.world is not None and local(self.world.now).isoweekday() == day


def _amount(concern: Concern) -> Decimal:
    """Return the amount of a payment; an ordinary one where it cannot be read."""
    try:
        amount = Decimal(concern.amount)
    except InvalidOperation:
        return _SMALL
    return amount if amount.is_finite() else _SMALL


def _registered(concern: Concern) -> bool:
    return concern.owner is not None and concern.creditor in concern.owner.creditors


def _registered_another(concern: Concern) -> bool:
    return concern.owner is not None and bool(concern.owner.creditors.keys() - {concern.creditor})


#: Stands for the TPP of a request that has none.
NO_CALLER = Tpp(id="", token="")
#: Each situation by the name of its dimension and its value.
SITUATIONS: Mapping[str, Callable[[Situation], bool]] = {
    "bank=second": lambda s: ".30002." in s.host,
    "bank=third": lambda s: ".30003." in s.host,
    "bank=fourth": lambda s: ".30004." in s.host,
    "mode=deferred": lambda s: s.any(lambda each: each.type == "deferred"),
    "mode=instant": lambda s: s.any(lambda each: each.type == "instant"),
    "segment=PRO": lambda s: s.segment == "PRO",
    "item=card": lambda s: s.is_about_cards,
    "page=later": lambda s: s.on_a_later_page,
    "page=entries": lambda s: any(number > _ENTRIES for number in s.entries),
    "owned=more": lambda s: s.owned > 1,
    "owned=full-pages": lambda s: s.fills_pages,
    "order=reversed": lambda s: s.is_in_reverse,
    "since=week": lambda s: (
        s.world is not None and s.consented is not None and s.world.now - s.consented > _DAYS
    ),
    "presence=absent": lambda s: not s.attended,
    "name=alias-1": lambda s: s.path == "/balances" or _LONG.fullmatch(s.path) is not None,
    "name=alias-2": lambda s: s.path == "/transactions",
    "host=host-2": lambda s: ".live." in s.host and s.host.endswith(".bank.example"),
    "tpp=other": lambda s: s.tpp not in ("", "p1"),
    "factor=sms": lambda s: s.any(lambda each: each.factor == "sms"),
    "factor=cap": lambda s: s.any(lambda each: each.factor == "cap"),
    "factor=soft-token": lambda s: s.any(lambda each: each.factor == "soft-token"),
    "amount=small": lambda s: s.any(lambda each: _amount(each) < _SMALL),
    "amount=large": lambda s: s.any(lambda each: _amount(each) > _LARGE),
    "payee=registered": lambda s: s.any(_registered),
    "payee=own": lambda s: s.any(
        lambda concern: concern.owner is not None and concern.creditor in concern.owner.items
    ),
    "registered=another": lambda s: s.any(_registered_another),
    "season=other": lambda s: s.world is not None and local(s.world.now).utcoffset() != _SUMMER,
    "weekday=saturday": lambda s: s.weekday(_SATURDAY),
    "weekday=sunday": lambda s: s.weekday(_SUNDAY),
    "arguments=all": lambda s: "dateFrom=" in s.content and "dateTo=" in s.content,
    "arguments=one": lambda s: ("dateFrom=" in s.content) != ("dateTo=" in s.content),
    "spelling=lower-case": lambda s: any(key != key.upper() for key in s.keys),
    "spelling=groups": lambda s: any(" " in key for key in s.keys),
    "change=changed": lambda s: s.any(lambda each: each.changes > 0),
    "pause=login": lambda s: s.any(lambda each: each.waited >= _PAUSE),
    "pause=screens": lambda s: s.any(lambda each: each.lingered >= _PAUSE),
    "screen=password": lambda s: s.any(lambda each: each.screen == "password"),
    "screen=factor": lambda s: s.any(lambda each: each.screen == "factor"),
    "screen=code": lambda s: s.any(lambda each: each.screen == "code"),
    "token=renewed": lambda s: s.renewals > 0,
    "turn=second": lambda s: s.earlier > 0,
    "turn=third": lambda s: s.earlier > 1,
}
#: What happened before a request of either interface; the bank is wrong from then on.
_BEFORE: Mapping[str, Callable[[Situation], bool]] = {
    "after=refused-call": lambda s: s.past is not None and s.past.refused > 0,
    "after=another-customer": lambda s: s.past is not None and len(s.past.customers) > 1,
    "after=day": lambda s: s.passed(1),
    "after=week": lambda s: s.passed(7),
}
#: What happened before, by interface and name.
ORDERS: Mapping[str, Mapping[str, Callable[[Situation], bool]]] = {
    "aisp": {
        **_BEFORE,
        "after=second-consent": lambda s: s.past is not None and s.past.consents > 1,
        "after=batch-day": lambda s: s.was_unattended_before_today,
        "after=emptied-consent": lambda s: s.past is not None and s.past.emptied,
    },
    "pis": {
        **_BEFORE,
        "after=another-tpp": lambda s: s.is_of_several_tpps,
        "after=execution": lambda s: s.happened(lambda each: each.status == "executed"),
        "after=third-execution": lambda s: s.happened(lambda each: each.status == "executed", 3),
        "after=rejection": lambda s: s.happened(lambda each: each.status == "rejected"),
        "after=refusal": lambda s: s.happened(lambda each: each.status == "refused"),
        "after=cancellation": lambda s: s.happened(lambda each: each.status == "cancelled"),
        "after=change": lambda s: s.happened(lambda each: each.changes > 0),
        "after=second-change": lambda s: s.happened(lambda each: each.changes > 1),
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """What was asked before: how often each request, when each customer first consented, in which world."""

    counted: dict[tuple[str, str, str], int] = field(
        default_factory=dict[tuple[str, str, str], int]
    )
    consents: dict[tuple[str, str], datetime] = field(
        default_factory=dict[tuple[str, str], datetime]
    )
    worlds: dict[str, Past] = field(default_factory=dict[str, Past])


def make_contextual_app(
    wrong: Policies, right: Policies, situation: str, base_url: str | None = None
) -> "WSGIApplication":
    """Return a bank that decides wrongly in one situation, and rightly in all others."""
    registry = Registry()
    apps = {
        False: make_app(right, base_url=base_url, registry=registry),
        True: make_app(wrong, base_url=base_url, registry=registry),
    }
    applies = {**SITUATIONS, **ORDERS["aisp"], **ORDERS["pis"]}[situation]
    seen = _Seen()

    def app(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        now = _situation(environ, registry, seen)
        past = now.past

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            if past is not None and status.startswith("4"):
                past.refused += 1
            return start_response(status, headers, exc_info)

        answer = apps[applies(now)](environ, start)
        if past is not None and now.path == "/consents":
            past.consents += 1
            past.emptied |= "[]" in now.content
        if past is not None and now.customer and now.world and not now.attended:
            past.unattended = past.unattended or now.world.now
        if past is not None:
            concerned = [now.customer, *(each.owner for each in now.payments)]
            past.customers |= {customer.id for customer in concerned if customer}
        return answer

    return app


def _situation(environ: "WSGIEnvironment", registry: Registry, seen: _Seen) -> Situation:
    path, method = decoded_path(environ), str(environ["REQUEST_METHOD"])
    body = read_body(environ, BODY_LIMIT)
    environ["wsgi.input"] = BytesIO(body)
    scheme, _, token = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    session = _session(scheme.lower(), token.strip(), body, registry)
    caller = registry.by_tpp_token(token.strip())
    world = session.world if session else caller[0] if caller else _named(path, registry)
    key = (world.id if world else "", method, path)
    earlier = seen.counted.get(key, 0)
    if not path.startswith(PREFIX):
        seen.counted[key] = earlier + 1
    who = (session.world.id, session.customer.id) if session else ("", "")
    consented = seen.consents.get(who)
    if session and consented is None and path == "/consents":
        seen.consents[who] = session.world.now
    payments = tuple(_concerns(method, path, body, world)) if world else ()
    tpp = caller[1].id if caller else session.tpp if session else ""
    if world and not tpp:
        tpp = next((each.tpp for each in _payments(path, world)), "")
    query = str(environ.get("QUERY_STRING", ""))
    owner = world.payments.tpps.get(tpp) if world else None
    return Situation(
        path=path,
        host=str(environ.get("HTTP_HOST", "")),
        world=world,
        customer=session.customer if session else None,
        tpp=tpp,
        attended=bool(environ.get("HTTP_PSU_IP_ADDRESS")),
        content=query + body.decode(errors="replace"),
        payments=payments,
        earlier=earlier,
        renewals=(session.customer if session else owner or NO_CALLER).renewals,
        consented=consented,
        past=seen.worlds.setdefault(world.id, Past(began=world.now)) if world else None,
    )


def _named(path: str, registry: Registry) -> World | None:
    """Return the world that a path of the control API or of a screen names."""
    for part in path.split("/"):
        world = registry.world(part)
        if world is not None:
            return world
    return None


def _payments(path: str, world: World) -> Iterator[Payment]:
    """Yield the payments that a path names; for the control API all that are open."""
    book, parts = world.payments, path.split("/")
    for part in parts:
        for known in (book.payments, book.approvals, book.signings):
            if part in known:
                yield known[part]
                return
    if path.startswith(PREFIX):
        yield from (each for each in book.payments.values() if each.status in _OPEN)


def _session(scheme: str, token: str, body: bytes, registry: Registry) -> Session | None:
    """Return whose customer a request says it is about, by a token or by credentials."""
    if scheme == "basic":
        return find_session_by_basic(token, registry)
    credentials = None if scheme else credentials_in(body)
    return registry.by_login(*credentials) if credentials else registry.by_token(token)


def _concerns(method: str, path: str, body: bytes, world: World) -> Iterator[Concern]:
    for payment in _payments(path, world):
        signing = payment.signing
        first = signing.first if signing else world.now
        decided = payment.signed or world.now
        for terms in dict.fromkeys((payment.terms, payment.original)):
            yield Concern(
                type=terms.type,
                amount=terms.amount,
                creditor=terms.creditor,
                factor=payment.factor or (signing.factor if signing else None) or "",
                owner=world.owners.get(terms.debtor),
                changes=payment.changes,
                waited=first - payment.created,
                lingered=decided - first,
                screen=signing.step if signing else "",
            )
    if method == "POST" and path == "/payment-requests":
        try:
            sent = read_object(body)
        except Malformed:
            sent = {}
        yield Concern(
            type=str(sent.get("paymentType", "")),
            amount=str(sent.get("amount", "")),
            creditor=str(sent.get("creditorAccount", "")),
            owner=world.owners.get(str(sent.get("debtorAccount", ""))),
        )
