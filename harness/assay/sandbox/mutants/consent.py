"""Mutants of who is shown what: consents, the customer's name, credentials and others' data.

Each scope fault is limited to balances, outstandings, transactions or slips. A consent
also discloses the customer's name. A fault of the redirect approach honours customers'
own credentials.

Banks that mix up whose data they show remember the last row of each kind. The first time that a
list or a report is read to its end, on a page with room for one more row, a remembered row of
somebody or something else is added to it, then and ever after: the answers stay consistent.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Literal, TypeAlias, cast

from assay.sandbox.access import (
    AccessRequest,
    ConsentRequest,
    Decision,
    Listing,
    RefusedConsent,
    Scope,
    all_or_none,
    consented_only,
    list_all,
)
from assay.sandbox.accounts import AliasView, Identity, Item, Row
from assay.sandbox.messages import (
    KINDS,
    OPERATIONS,
    Answer,
    Json,
    Kind,
    Malformed,
    Operation,
    Request,
    Route,
    Table,
    consented_keys,
)
from assay.sandbox.mutants.mutant import Change, Mutant, breaking, neutral, only_when
from assay.sandbox.policies import SOUND, Approach, put


def _outside(request: AccessRequest) -> bool:
    """Return whether an own item is outside the consent."""
    return request.own and request.consent is not None and request.item.key not in request.consent


def _before(request: AccessRequest) -> bool:
    """Return whether an own item is requested before any consent."""
    return request.own and request.consent is None


def _owner_consented(request: AccessRequest) -> bool:
    """Return whether it is another customer's item, to which that customer consented."""
    return not request.own and request.item.key in (request.owners_consent or ())


def _decided(when: Callable[[AccessRequest], bool], decision: Decision) -> Scope:
    """Return one decision in some situations, and the right one in all others."""
    return only_when(when, lambda _: decision, consented_only)


def _all_or_nothing(request: AccessRequest) -> Decision:
    """Serve the consented items only if the consent names all of the customer's items."""
    if request.owned <= (request.consent or frozenset()):
        return consented_only(request)
    return Decision.REFUSED


def _takes_strangers(request: ConsentRequest) -> frozenset[str] | None:
    """Grant what is not the customer's as well."""
    mine = replace(request, named=request.named & request.owned)
    return None if all_or_none(mine) is None else request.named


def _named(request: AccessRequest) -> Decision:
    """Serve whatever the caller's consent names, whoever owns it."""
    named = request.consent is not None and request.item.key in request.consent
    return Decision.SERVED if named else Decision.REFUSED


def _never(_ask: AccessRequest) -> Decision:
    return Decision.REFUSED


# fmt: off
_SCOPES: tuple[tuple[str, str, str, Scope], ...] = (
    ("all-or-nothing", "granted", "refused unless the consent names all items of the customer",
     _all_or_nothing),
    ("any-consent", "refused", "any consent grants access to all items",
     _decided(_outside, Decision.SERVED)),
    ("leaks-outside", "refused", "the refusal contains the data",
     _decided(_outside, Decision.LEAKED)),
    ("before-any", "before", "served as long as there is no consent",
     _decided(_before, Decision.SERVED)),
    ("leaks-before", "before", "the refusal contains the data", _decided(_before, Decision.LEAKED)),
    ("owners-consent", "foreign", "another customer's consent counts",
     _decided(_owner_consented, Decision.SERVED)),
    ("leaks-foreign", "foreign", "the refusal contains the data",
     _decided(_owner_consented, Decision.LEAKED)),
)
# fmt: on
#: What else shows a fault: a link to a page is served to another customer, too.
_ALSO: Mapping[tuple[Kind, str], str] = {
    ("transaction", "owners-consent"): " own-data/transaction",
}
_CARDS: tuple[Kind, ...] = ("outstanding", "slip")


# fmt: off
_NAMES: tuple[tuple[str, str, str, Identity], ...] = (
    ("never", "disclosed-after", "the customer is never named", lambda _name, _consented: {}),
    ("of-another", "own-value", "every customer is shown the same name",
     lambda _name, consented: {"PsuIdentity": "Zoé Exemple"} if consented else {}),
    ("misnamed", "disclosed-after",
     "the customer's name is in the member psuIdentity instead of PsuIdentity",
     lambda name, consented: {"psuIdentity": name} if consented else {}),
    ("always", "withheld-before", "the customer is named without a consent",
     lambda name, _consented: {"PsuIdentity": name}),
    ("wrong-way-round", "disclosed-after psu-identity/withheld-before",
     "the customer is named before the consent, but not after it",
     lambda name, consented: {} if consented else {"PsuIdentity": name}),
)
# fmt: on

# fmt: off
CONSENT = (
    *(breaking(f"consent.{kind}-{name}",
          f"consent.scope/{kind}-{facet}{_ALSO.get((kind, name), '')}",
          f"{kind}: {says}", scope=put(SOUND.scope, **{kind: scope}))
      for kind in KINDS.values() for name, facet, says, scope in _SCOPES),
    *(breaking(f"consent.{kind}-usurped", f"consent.scope/{kind}-usurped",
          f"{kind}: served to whoever names the item in a consent of his own",
          granted=_takes_strangers, scope=put(SOUND.scope, **{kind: _named}))
      for kind in KINDS.values()),
    *(breaking(f"consent.{kind}-never", f"consent.scope/{kind}-granted",
          f"{kind}: refused despite the consent", scope=put(SOUND.scope, **{kind: _never}))
      for kind in _CARDS),
    *(breaking(f"identity.{name}", f"psu-identity/{facet}", says, identity=identity)
      for name, facet, says, identity in _NAMES),
)
# fmt: on


def _stores_the_known(refused: RefusedConsent) -> frozenset[str] | None:
    """Store what is the customer's own of a consent that names something unknown."""
    known = refused.named & refused.owned
    return refused.former if known == refused.named else known | (refused.former or frozenset())


def _clears(refused: RefusedConsent) -> frozenset[str] | None:
    return frozenset[str]() if refused.former else None


def _stores_over_quota(refused: RefusedConsent) -> frozenset[str] | None:
    return refused.named if refused.why == "quota" else refused.former


def _keys_or_none(body: bytes) -> Sequence[str]:
    """Parse the identifiers that a consent names; none of a list that is no list of them."""
    try:
        return consented_keys(body)
    except Malformed as exc:
        if exc.fault in ("list-empty", "body-type"):
            return ()
        raise


def _empty_is_all(request: ConsentRequest) -> frozenset[str] | None:
    return all_or_none(request) if request.named else request.owned


def _first_alone(body: bytes) -> Sequence[str]:
    return consented_keys(body)[:1]


def _former_stays(former: frozenset[str] | None, new: frozenset[str]) -> frozenset[str]:
    return former or new


# fmt: off
EFFECT = (
    breaking("effect.first-alone", "consent.effect/each-named",
        "a consent covers only the first account that it names", body=_first_alone),
    breaking("effect.former-stays", "consent.effect/later-served",
        "a second consent is accepted, and the first one stays in force", renew=_former_stays),
    breaking("effect.stores-the-known", "consent.effect/refused-grants-nothing",
        "a consent that names an unknown account is refused, and the rest of it is stored",
        after_refusal=_stores_the_known),
    breaking("effect.clears", "consent.effect/refused-keeps",
        "a consent that is refused ends the former one", after_refusal=_clears),
    breaking("effect.stores-over-quota", "consent.effect/beyond-limit-grants-nothing",
        "the fifth consent of a day is refused, and stored", after_refusal=_stores_over_quota),
    breaking("effect.empty-is-all", "consent.effect/malformed-grants-nothing",
        "a consent without accounts covers all of them", body=_keys_or_none, granted=_empty_is_all),
    breaking("effect.fails-on-empty", "consent.effect/survives-lists",
        "an empty list of accounts makes the bank fail",
        malformed=put(SOUND.malformed,
                      consents=lambda fault: 500 if fault == "list-empty" else 400)),
)
# fmt: on


_ANYBODY: tuple[tuple[Approach, str, str], ...] = (
    ("none", "without-token", "to a call without a token"),
    ("invented", "invented-token", "to a call with a token that was never issued"),
)


_PAGED: tuple[Operation, ...] = ("accounts", "transactions")
_PARTS: tuple[Approach, ...] = ("beginning", "ending")
_LOGINS: tuple[tuple[Approach, str], ...] = (
    ("basic", "as HTTP Basic"),
    ("query", "in the query"),
)


def _with_credentials(request: AccessRequest) -> Decision:
    return Decision.SERVED if request.own and request.credentials else consented_only(request)


def _honours(operation: Operation, approach: Approach) -> Table[Operation, frozenset[Approach]]:
    honoured: frozenset[Approach] = frozenset({"token", approach})
    return put(SOUND.honours, **{operation: honoured})


# fmt: off
CREDENTIALS = (
    *(breaking(f"token.{operation}-later-pages", f"token-required/{operation}-invented-token",
          f"{operation}: every page after the first is served with any token",
          honours=_honours(operation, "any-later"))
      for operation in _PAGED),
    *(breaking(f"token.{operation}-{approach}", f"token-required/{operation}-{facet}",
          f"{operation} serves whoever was there last {says}",
          honours=_honours(operation, approach))
      for operation in OPERATIONS for approach, facet, says in _ANYBODY),
    *(breaking(f"token.{operation}-{approach}-alone", f"token-required/{operation}-invented-token",
          f"{operation} looks at the {approach} of a token alone",
          honours=_honours(operation, approach))
      for operation in OPERATIONS for approach in _PARTS),
    *(breaking(f"credentials.{approach}-for-{operation}", f"redirect-only/{operation}",
          f"{operation}: login and password {says} replace a token",
          honours=_honours(operation, approach))
      for operation in OPERATIONS for approach, says in _LOGINS),
    *(breaking(f"credentials.open-{kind}", "redirect-only/beside-token",
          f"{kind}: login and password beside the token replace a consent",
          scope=put(SOUND.scope, **{kind: _with_credentials}))
      for kind in ("balance", "transaction")),
    breaking("credentials.body-for-consents", "redirect-only/consents",
        "a consent is accepted with login and password in the body",
        honours=_honours("consents", "body")),
)
# fmt: on


#: Accounts and cards on a page.
_PAGE = 5


def _with(name: str, value: str, route: Route) -> AliasView:
    """Show another value of one member under another name of the method."""

    def view(called: Route, rows: Sequence[Row]) -> Sequence[Row]:
        return [{**row, name: value} if called == route else row for row in rows]

    return view


def _own_links(route: Route, rows: Sequence[Row]) -> Sequence[Row]:
    """Give each row a link with the name that was called."""
    return [{**row, "links": {"report": f"/reports/{route}/{row['iban']}"}} for row in rows]


def _others_later_page(listing: Listing) -> bool:
    return listing.page > 1 and len(listing.items) <= _PAGE


def _others_accounts(listing: Listing) -> Sequence[Item]:
    return [item for item in listing.foreign if item.resource == "account"]


def _on_later_pages(request: AccessRequest) -> Decision:
    return Decision.SERVED if request.page > 1 else consented_only(request)


# fmt: off
READING = (
    breaking("own.transaction-on-anyones-page", "own-data/transaction",
        "the link to the next page of a transaction list serves any customer",
        scope=put(SOUND.scope, transaction=_on_later_pages)),
    breaking("own.account-on-anyones-page", "own-data/account",
        "the link to the next page of the list of accounts serves any customer",
        listed=only_when(_others_later_page, _others_accounts, list_all)),
    breaking("available.balances-alias-amount", "balances.available/aliases-agree",
        "/balances shows every balance with the amount 0.00",
        aliases=put(SOUND.aliases, balances=_with("amount", "0.00", "short"))),
    breaking("available.transactions-alias-label", "transactions.available/aliases-agree",
        "/transactions shows every transaction with another label",
        aliases=put(SOUND.aliases, transactions=_with("label", "VIR", "short"))),
    breaking("available.transactions-path-amount", "transactions.available/aliases-agree",
        "/accounts/{}/transactions shows every transaction with the amount 1.00",
        aliases=put(SOUND.aliases, transactions=_with("amount", "1.00", "path"))),
)
# fmt: on

NEUTRAL_READING = (
    neutral(
        "links-of-each-name",
        "every balance and transaction has a link with the name of the method that was called",
        aliases=put(SOUND.aliases, balances=_own_links, transactions=_own_links),
    ),
)


_What: TypeAlias = Literal["accounts", "balances", "transactions"]
_ROOM: Mapping[_What, int] = {"accounts": 5, "balances": 100, "transactions": 15}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mixed:
    """A bank's memory of the rows of one kind, and the row that it adds to each answer."""

    what: _What
    mine: Callable[[Row], bool]
    last: dict[str, Row] = field(default_factory=dict[str, Row])
    added: dict[str, Row | None] = field(default_factory=dict[str, "Row | None"])

    def __call__(self, request: Request, answer: Answer) -> Answer:
        """Add a row to an answer that ends here, and remember one of its own."""
        if request.operation != self.what or answer.status != HTTPStatus.OK:
            return answer
        body = cast("dict[str, list[Row]]", answer.body)
        rows, links = body[self.what], cast("Row", body["links"])
        whose = self._whose(request)
        if "next" in links or len(rows) >= _ROOM[self.what]:
            return answer
        if whose not in self.added:
            world = whose.partition("-")[0]
            others = [
                row
                for name, row in self.last.items()
                if name != whose and name.partition("-")[0] == world
            ]
            mine = not rows or self.what == "accounts" or self.mine(rows[0])
            self.added[whose] = others[-1] if others and mine else None
        for row in filter(self.mine, rows):
            self.last.pop(whose, None)
            self.last[whose] = row
        extra = self.added[whose]
        shown = [*rows, extra] if extra and _in_range(extra, request.query) else rows
        return replace(answer, body=cast("Json", {**body, self.what: shown}))

    def _whose(self, request: Request) -> str:
        """Return the customer of a list, or the item of a report; both after their world."""
        if self.what == "accounts":
            return request.customer
        world = request.customer.partition("-")[0]
        return f"{world}-{request.identifier or request.query.get('iban', '')}"


def _in_range(row: Row, query: Mapping[str, str]) -> bool:
    """Whether a row is of a day that was asked for; dates are written in the order of time."""
    day = row.get("bookingDate")
    if not isinstance(day, str):
        return True
    return query.get("dateFrom", day) <= day <= query.get("dateTo", day)


def _mixing(what: _What, mine: Callable[[Row], bool]) -> Change:
    return lambda bank: replace(bank, respond=_Mixed(what=what, mine=mine))


def _of(resource: str) -> Callable[[Row], bool]:
    return lambda row: row["kind"] == resource


def _of_account(row: Row) -> bool:
    return str(row["iban"]).startswith("FR")


def _of_card(row: Row) -> bool:
    return not _of_account(row)


_REPORTS: tuple[tuple[Kind, _What, Callable[[Row], bool]], ...] = (
    ("balance", "balances", _of_account),
    ("outstanding", "balances", _of_card),
    ("transaction", "transactions", _of_account),
    ("slip", "transactions", _of_card),
)

# fmt: off
MIXED: tuple[Mutant, ...] = (
    *(breaking(f"own.{resource}-of-another-customer", f"own-data/{resource}",
          f"the list shows one {resource} of the customer who asked before",
          _mixing("accounts", _of(resource)))
      for resource in ("account", "card")),
    *(breaking(f"own.{kind}-of-another-item", f"own-data/{kind}",
          f"a report shows one {kind} of what was asked about before", _mixing(what, mine))
      for kind, what, mine in _REPORTS),
)
# fmt: on
