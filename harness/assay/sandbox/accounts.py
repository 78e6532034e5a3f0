"""Accounts and cards, their booked entries, and their form in the bank's JSON.

All data is fictitious and follows from seeds by arithmetic, so that a world is the same
whenever it is created again. Entries are computed on first use: most worlds live for a
few calls. Each detail of the JSON (a currency, the host of a link, a page) is a function
of its own, so that a mutant can replace exactly one. Which items are shown is decided in
:mod:`assay.sandbox.access`.
"""

from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from hashlib import sha256
from typing import Literal, NamedTuple, TypeAlias
from urllib.parse import quote, urlencode

from assay.sandbox.messages import Json, Request, Resource, Route

_BANK = 30001
_OWN_DAYS = 200
_FIRST = ("Camille", "Louise", "Jules", "Adèle", "Hugo", "Inès", "Paul", "Zoé")
_LAST = ("Fictif", "Exemple", "Essai", "Modèle", "Témoin", "Maquette", "Tissot")
_LABELS = ("PRLV ELECTRICITE", "CB BOULANGERIE", "VIR LOYER", "CB LIBRAIRIE")


@dataclass(frozen=True, slots=True, kw_only=True)
class IdSeed:
    """Input for an identifier: the world's seed and a serial number."""

    seed: int
    serial: int


def iban(id_seed: IdSeed) -> str:
    """Return a French IBAN with valid check digits and RIB key."""
    number = (id_seed.seed * 7919 + id_seed.serial * 104_729 + 20_041_010_050) % 10**11
    branch = 10_000 + id_seed.serial % 90_000
    key = 97 - (89 * _BANK + 15 * branch + 3 * number) % 97
    bban = f"{_BANK:05d}{branch:05d}{number:011d}{key:02d}"
    return f"FR{98 - int(bban + '152700') % 97:02d}{bban}"


def electronic_iban(text: str) -> str:
    """Return an IBAN in its electronic format: in capitals, and without spaces."""
    return text.replace(" ", "").upper()


def card_token(id_seed: IdSeed) -> str:
    """Return a stand-in for an encrypted PAN: opaque and URL-safe."""
    digest = sha256(b"card %d %d" % (id_seed.seed, id_seed.serial)).digest()
    return urlsafe_b64encode(digest[:24]).decode("ascii")


def customer_name(id_seed: IdSeed) -> str:
    """Return the name of a fictitious customer."""
    number = id_seed.seed * 31 + id_seed.serial
    return f"{_FIRST[number % len(_FIRST)]} {_LAST[number % len(_LAST)]}"


class Entry(NamedTuple):
    """One transaction of an account, or one slip of a card.

    A tuple for speed: hundreds are created for one reading.
    """

    id: str
    date: date
    #: Signed, in cents.
    cents: int
    label: str


def _entry_id(serial: int, index: int) -> str:
    return f"T{serial:04d}{index:06d}"


def _entry(serial: int, index: int, day: date) -> Entry:
    noise = (serial * 7919 + index * 104_729) % 20_000
    return Entry(
        _entry_id(serial, index),
        day,
        noise - 15_000 or 100,
        _LABELS[noise % len(_LABELS)],
    )


def _own_days(serial: int, last: date) -> Iterator[date]:
    """Yield days backwards from the last one, each one to three times."""
    for back in range(_OWN_DAYS):
        day = last - timedelta(days=back)
        for _ in range(1 + (serial + 2 * back + back // 3) % 3):
            yield day


@dataclass(slots=True, kw_only=True)
class Ledger:
    """All entries of one item, computed on first use."""

    serial: int
    #: Days of the entries in the requested order; None for generated days.
    days: tuple[date, ...] | None
    #: The world's local day when the ledger was opened.
    opened: date
    _arranged: tuple[Entry, ...] | None = field(default=None, init=False)
    _newest_first: tuple[Entry, ...] | None = field(default=None, init=False)
    #: Entries booked since then; they precede the other entries of their day.
    _posted: tuple[Entry, ...] = field(default=(), init=False)

    def arranged(self) -> tuple[Entry, ...]:
        """Return the entries in the order in which they were requested."""
        if self._arranged is None:
            days = self.days
            if days is None:
                days = tuple(_own_days(self.serial, self.opened))
            self._arranged = tuple(
                _entry(self.serial, index, day) for index, day in enumerate(days)
            )
        return self._arranged

    def newest_first(self) -> tuple[Entry, ...]:
        """Return the entries, newest first; entries of one day keep their order."""
        if self._newest_first is None:
            entries = (*self._posted, *self.arranged())
            self._newest_first = tuple(sorted(entries, key=lambda entry: entry.date, reverse=True))
        return self._newest_first

    def post(self, day: date, cents: int, label: str) -> None:
        """Book one more entry."""
        index = len(self.arranged()) + len(self._posted)
        posted = Entry(_entry_id(self.serial, index), day, cents, label)
        self._posted = (posted, *self._posted)
        self._newest_first = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An account or a card, with everything its eligibility depends on."""

    resource: Resource
    #: The IBAN or the encrypted PAN by which TPPs identify the item.
    key: str
    serial: int
    savings: bool = False
    active: bool = True
    #: Whether the customer can access it online.
    online: bool = True
    #: Last day of use of a card; None for accounts and unused cards.
    last_used: date | None = None
    #: Whether each use of a card is debited at once; the bank offers delayed debit cards only.
    immediate_debit: bool = False
    ledger: Ledger = field(compare=False)

    @property
    def name(self) -> str:
        """The display name of the account or card."""
        if self.resource == "card":
            debit = "immédiat" if self.immediate_debit else "différé"
            return f"Carte à débit {debit} {self.serial}"
        return f"{'Livret' if self.savings else 'Compte courant'} {self.serial}"

    def balance(self, index: int) -> int:
        """Return one of the three balances (or outstandings), in cents."""
        return (self.serial * 104_729 + index * 1_250) % 500_000 + 10_000


#: One account, balance or transaction in JSON.
Row: TypeAlias = Mapping[str, Json]
#: The links in answers.
LinkPlace: TypeAlias = Literal[
    "accounts-self",
    "accounts-next",
    "balances-self",
    "transactions-self",
    "transactions-next",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Zero-based position of an entry in its whole list (not its page)."""

    index: int
    count: int


#: Returns the currency of the entry at a position.
Currency: TypeAlias = Callable[[Position], str]
#: Returns scheme and host of a link, given those that were called.
Base: TypeAlias = Callable[[str], str]
#: Returns the rows an alias of a path shows, given those of the main path.
AliasView: TypeAlias = Callable[[Route, Sequence[Row]], Sequence[Row]]
#: Returns members of the account list, given the name and whether there is a consent.
Identity: TypeAlias = Callable[[str, bool], Row]


def euro(_spot: Position) -> str:
    """Return EUR for every entry."""
    return "EUR"


def same_everywhere(base: str) -> str:
    """Return the host that was called."""
    return base


def as_is(_route: Route, rows: Sequence[Row]) -> Sequence[Row]:
    """Return the same rows for every path."""
    return rows


def disclosed_after_consent(name: str, consented: bool) -> Row:
    """Return the customer's name if there is a consent."""
    return {"PsuIdentity": name} if consented else {}


def account_row(item: Item) -> Row:
    """Return one account or card of the list as JSON."""
    return {
        "kind": item.resource,
        "iban": item.key,
        "name": item.name,
        "currency": "EUR",
    }


def balance_rows(item: Item, types: Sequence[str | None], currency: Currency) -> Sequence[Row]:
    """Return balances (or outstandings) as JSON; a type of None omits the member."""
    rows: list[Row] = []
    for index, kind in enumerate(types):
        named: Row = {"iban": item.key}
        if kind is not None:
            named = {**named, "balanceType": kind}
        money: Row = {
            "amount": _amount(item.balance(index)),
            "currency": currency(Position(index=index, count=len(types))),
        }
        rows.append({**named, **money})
    return rows


def entry_row(item: Item, entry: Entry, currency: str) -> Row:
    """Return one transaction or slip as JSON."""
    return {
        "id": entry.id,
        "iban": item.key,
        "bookingDate": entry.date.isoformat(),
        "amount": _amount(entry.cents),
        "currency": currency,
        "label": entry.label,
    }


def link(request: Request, base: str, page: int | None = None) -> str:
    """Return a link to the request itself, or to another page of it."""
    query = request.query
    if page is not None:
        query = {**query, "page": str(page)}
    path = base + quote(request.path)
    return f"{path}?{urlencode(query)}" if query else path


def _amount(cents: int) -> str:
    whole, rest = divmod(abs(cents), 100)
    return f"{'-' if cents < 0 else ''}{whole}.{rest:02d}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """One page: the positions of the list it shows, and the next page number, if any."""

    positions: Sequence[int]
    next: int | None


#: Cuts page ``page`` (from 1) out of a list of ``count``.
Cutter: TypeAlias = Callable[[int, int], Cut]


def pages_of(size: int) -> Cutter:
    """Return a function that cuts pages of one size; pages after the last are empty."""

    def cut(count: int, page: int) -> Cut:
        end = page * size
        return Cut(
            positions=range(min(end - size, count), min(end, count)),
            next=page + 1 if end < count else None,
        )

    return cut
