"""Fifty faults that others reported of real gateways, as faults of the holdout bank.

`reports.md` names the reports, by the same numbers. Each fault was written from its report,
with its trigger, before the harness was run on any of them.
"""

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any

from holdout.bank import Bank, named
from holdout.bureau import first_moment
from holdout.domain import (
    DONE,
    INSTANT,
    LATER,
    NOW,
    OPEN,
    PLANNED,
    PREFIX,
    Call,
    Customer,
    Entry,
    Item,
    Order,
    Payment,
    RefusedError,
    Session,
    World,
    days_before,
    iban_holds,
)
from holdout.policy import Policy
from holdout.screens import sign
from werkzeug.wrappers import Response

Decision = Callable[..., Any]
Rows = list[Entry]


class FaultyPolicy(Policy):
    """Counts how often its fault took effect, and may change a whole answer."""

    triggered = 0

    def change(self, call: Call, response: Response) -> bool:
        """Change the answer to a call, or return that it stays as it is."""
        return False


class FaultyBank(Bank):
    """A bank whose policy may change a whole answer."""

    policy: FaultyPolicy

    def answered(self, call: Call) -> Response:
        response = super().answered(call)
        self.policy.triggered += self.policy.change(call, response)
        return response


@dataclass(frozen=True)
class Fault:
    """A report, as a fault of the bank: the clauses of which any is the right one."""

    number: int
    id: str
    kind: str
    clauses: tuple[str, ...]
    sentence: str
    overrides: Mapping[str, Decision] = field(repr=False)

    def bank(self) -> Bank:
        return FaultyBank(type("OneFault", (FaultyPolicy,), dict(self.overrides))())


def fault(kind: str) -> Callable[..., Fault]:
    """Return what makes a fault of one class; its clauses are separated by blanks."""

    def made(number: int, id: str, clauses: str, sentence: str, **overrides: Decision) -> Fault:
        return Fault(number, id, kind, tuple(clauses.split()), sentence, overrides)

    return made


plain, context, consequence = fault("plain"), fault("context"), fault("consequence")


def when(name: str, condition: Decision, otherwise: Decision) -> dict[str, Decision]:
    """Decide differently where a condition holds, and soundly elsewhere."""
    sound = getattr(Policy, name)

    def decide(policy: FaultyPolicy, *args: Any) -> Any:
        if not condition(*args):
            return sound(policy, *args)
        policy.triggered += 1
        return otherwise(policy, *args)

    return {name: decide}


def also(name: str, effect: Decision) -> dict[str, Decision]:
    """Decide soundly, and do something more before."""
    sound = getattr(Policy, name)

    def decide(policy: FaultyPolicy, *args: Any) -> Any:
        effect(*args)
        return sound(policy, *args)

    return {name: decide}


def changed(change: Callable[[Call, Any], bool]) -> dict[str, Decision]:
    """Change the body of what is answered with success."""

    def answer(policy: FaultyPolicy, call: Call, response: Response) -> bool:
        if response.status_code >= 400:
            return False
        body = json.loads(response.get_data())
        differs = change(call, body)
        response.set_data(json.dumps(body) if body else b"")
        return differs

    return {"change": answer}


def yes(*_: Any) -> bool:
    return True


def no(*_: Any) -> bool:
    return False


def nothing(*_: Any) -> None:
    return None


def none(*_: Any) -> list[Any]:
    return []


def failing(status: int = 500) -> Decision:
    def fail(*_: Any) -> Any:
        raise RefusedError(status, "INTERNE")

    return fail


def every(number: int, call: Call, what: str) -> bool:
    """Whether this is the third, sixth, … time in a world that something happens."""
    call.world.counts[what] += 1
    return call.world.counts[what] % number == 0


def who(call: Call) -> str:
    return call.customer.id if call.customer else ""


def later(call: Call, item: Item, rows: Rows, page: int) -> bool:
    return page >= 1


# Lists and pages.


def second_again(
    policy: Policy, call: Call, item: Item, rows: Rows, page: int
) -> tuple[Rows, bool]:
    return Policy.entry_page(policy, call, item, rows, 1)[0], True


def last_again(policy: Policy, call: Call, item: Item, rows: Rows, page: int) -> tuple[Rows, bool]:
    last = max(0, len(rows) - 1) // 15
    return Policy.entry_page(policy, call, item, rows, last)[0], True


def at_the_end(call: Call, item: Item, rows: Rows, page: int) -> bool:
    return bool(rows) and (page + 1) * 15 >= len(rows)


def three_lost(policy: Policy, call: Call, item: Item, rows: Rows, page: int) -> tuple[Rows, bool]:
    found, more = Policy.entry_page(policy, call, item, rows, page)
    return found[3:], more


def note_read(call: Call, item: Item) -> None:
    call.world.counts["read", item.key] += 1


def later_after_another(call: Call, item: Item, rows: Rows, page: int) -> bool:
    items = call.customer.items if call.customer else []
    others = (one for one in items if one is not item)
    return page >= 1 and any(call.world.counts["read", one.key] for one in others)


def fourth_page(call: Call, items: list[Item], after: str) -> bool:
    return bool(after) and sum(item.ref >= after for item in items) >= 15


def same_days(call: Call, item: Item, rows: Rows) -> bool:
    return len({row.on for row in rows}) < len(rows)


def other_order(policy: Policy, call: Call, item: Item, rows: Rows) -> Rows:
    call.world.counts["order"] += 1
    mixed = list(rows)
    random.Random(call.world.counts["order"]).shuffle(mixed)
    return sorted(mixed, key=lambda row: row.on)


def recent(call: Call, row: Entry) -> bool:
    return row.on >= days_before(call.world.today, 3)


def recent_twice(policy: Policy, call: Call, item: Item, rows: Rows) -> Rows:
    again = [replace(row, key=f"P{row.key}") for row in rows if recent(call, row)]
    return Policy.entries(policy, call, item, rows + again)


def others_of(call: Call, item: Item) -> list[Item]:
    items = call.customer.items if call.customer else []
    return [one for one in items if one.card == item.card and one is not item]


def rarely_another(call: Call, item: Item) -> bool:
    reads = call.operation == "transactions" and bool(others_of(call, item))
    return reads and every(4, call, "reads")


def key_asked_for(policy: Policy, call: Call, item: Item) -> str:
    return call.path.get("key") or call.args["compte"]


def up_to_today(call: Call, item: Item, rows: Rows) -> bool:
    tomorrow = call.world.today + timedelta(days=1)
    return call.args.get("avant", "").startswith(tomorrow.isoformat())


def no_entries(call: Call, body: Any) -> bool:
    if call.operation != "transactions" or body["mouvements"]:
        return False
    body.clear()
    return True


def foreign_entries(call: Call, body: Any) -> bool:
    rows = [row for row in body.get("mouvements", ()) if row["numero"].endswith("7")]
    for row in rows:
        row["valeur"]["devise"] = "USD"
    return bool(rows)


def read_before(call: Call, item: Item, rows: Rows) -> bool:
    """Whether the entries were read from their beginning since the last consent."""
    if call.args.get("page", "0") != "0":
        return False
    times = ("times", who(call), item.key, call.world.counts["consents", who(call)])
    call.world.counts[times] += 1
    return call.world.counts[times] > 1


def note_consent(call: Call, keys: list[str]) -> None:
    call.world.counts["consents", who(call)] += 1
    call.world.counts["consent at", who(call)] = int(call.world.moment.timestamp())


def just_consented(call: Call, item: Item) -> bool:
    return call.world.moment.timestamp() - call.world.counts["consent at", who(call)] < 180


def another_day_in_greenwich(call: Call, item: Item) -> bool:
    offset = call.world.now.utcoffset() or timedelta(0)
    return (call.world.now - offset).date() != call.world.today


def days_since_start(call: Call) -> int:
    return (call.world.today - first_moment(call.world.seed).date()).days


LISTS = (
    context(
        1,
        "next-is-itself",
        "transactions.page-size",
        "from the second page on, each page of transactions names itself as the next one",
        **when("entry_page", later, second_again),
    ),
    context(
        2,
        "next-after-another",
        "transactions.page-size transactions.available",
        "later pages of transactions fail once another account was read",
        **also("shown_item", note_read),
        **when("entry_page", later_after_another, failing()),
    ),
    plain(
        3,
        "next-not-found",
        "transactions.page-size",
        "the second page of transactions is not found",
        **when("entry_page", later, failing(404)),
    ),
    plain(
        4,
        "links-without-host",
        "live-host",
        "links begin with the word null in place of the host",
        **when(
            "link_base",
            lambda c, link: c.operation in ("accounts", "balances", "transactions"),
            lambda p, c, link: f"null{PREFIX}",
        ),
    ),
    context(
        5,
        "some-lost-sometimes",
        "transactions.page-size consistent",
        "every third time, three entries are missing where a later page begins",
        **when(
            "entry_page",
            lambda c, i, rows, page: page >= 1 and every(3, c, "later pages"),
            three_lost,
        ),
    ),
    context(
        6,
        "another-account-sometimes",
        "own-data consistent",
        "every fourth reading shows the entries of another account under the key asked for",
        **when("shown_item", rarely_another, lambda p, c, i: others_of(c, i)[0]),
        shown_key=key_asked_for,
    ),
    context(
        7,
        "until-today-fails",
        "transactions.available",
        "transactions up to today fail",
        **when("entries", up_to_today, failing()),
    ),
    context(
        8,
        "many-entries-fail",
        "transactions.available transactions.page-size",
        "transactions of an account with more than sixty entries fail",
        **when("entries", lambda c, i, rows: len(rows) > 60, failing()),
    ),
    context(
        9,
        "no-entries-no-body",
        "well-formed transactions.available",
        "the answer has no body if an account has no entries",
        **changed(no_entries),
    ),
    context(
        10,
        "slips-fail",
        "transactions.available",
        "slips of cards fail",
        **when("entries", lambda c, i, rows: i.card, failing()),
    ),
    context(
        11,
        "newest-missing",
        "transactions.page-size transactions.available",
        "unless a first day is given, the entries of the last 45 days are missing",
        **when(
            "entry_shown",
            lambda c, i, e, since, end: since is None and e.on > days_before(c.world.today, 45),
            no,
        ),
    ),
    context(
        12,
        "same-day-order",
        "transactions.page-size consistent",
        "entries of one day are in another order at each call",
        **when("entries", same_days, other_order),
    ),
    plain(
        13,
        "last-page-again",
        "transactions.page-size",
        "the last page names a next one, which is the last page again",
        **when("entry_page", at_the_end, last_again),
    ),
    context(
        14,
        "empty-pages-go-on",
        "transactions.page-size",
        "where nothing is to be shown, each empty page names a next one",
        **when("entry_page", lambda c, i, rows, page: not rows, lambda *_: ([], True)),
    ),
    context(
        15,
        "fourth-page-of-accounts",
        "accounts.page-size accounts.listing accounts.available",
        "the fourth page of accounts fails",
        **when("list_rest", fourth_page, failing()),
    ),
    context(
        16,
        "business-customers",
        "accounts.listing",
        "small professionals have no accounts in the interface",
        **when("holds", lambda c: c.customer is not None and c.customer.segment == "PRO", none),
    ),
    context(
        17,
        "some-accounts-forbidden",
        "consent.scope consent.effect balances.available",
        "one account in ten stays forbidden, whatever the consent",
        **when("consented", lambda c, i: i.ref.endswith("7"), no),
    ),
    context(
        18,
        "recent-twice",
        "transactions.page-size own-data",
        "entries of the last three days are shown twice, under two identifiers",
        **when("entries", lambda c, i, rows: any(recent(c, row) for row in rows), recent_twice),
    ),
    context(
        19,
        "empty-across-accounts",
        "transactions.available transactions.page-size",
        "the short name of the method shows entries of the first account only",
        **when(
            "entries",
            lambda c, i, rows: c.route == "/operations" and c.customer.items[0] is not i,
            none,
        ),
    ),
    context(
        20,
        "alias-unknown-account",
        "transactions.available",
        "the account is not found if it is named in the path",
        **when("addressed", lambda c, key: "key" in c.path, nothing),
    ),
    context(
        21,
        "expired-breaks-list",
        "accounts.available accounts.listing cards.eligible",
        "the list fails for a customer who has an inactive card",
        **when(
            "holds",
            lambda c: any(i.card and i.is_("inactive") for i in c.customer.items),
            failing(),
        ),
    ),
    context(
        22,
        "foreign-entries",
        "euro",
        "one entry in ten is shown in the foreign currency in which it was made",
        **changed(foreign_entries),
    ),
    context(
        23,
        "slips-without-key",
        "iban",
        "slips of cards do not name their card",
        **when("shown_key", lambda c, i: i.card and c.operation == "transactions", nothing),
    ),
    context(
        24,
        "first-reading-only",
        "transactions.page-size consistent",
        "after a consent, only the first reading shows the entries",
        **also("consent_stored", note_consent),
        **when("entries", read_before, none),
    ),
    context(
        25,
        "older-for-three-minutes",
        "transactions.depth",
        "for three minutes after a consent, entries of any age are shown",
        **also("consent_stored", note_consent),
        **when("depth", just_consented, lambda p, c, i: 9999),
    ),
    context(
        26,
        "depth-in-greenwich",
        "transactions.depth",
        "after midnight, the history is counted from yesterday",
        **when("depth", another_day_in_greenwich, lambda p, c, i: 91),
    ),
    context(
        27,
        "depth-from-start",
        "transactions.depth",
        "the history is counted from the day on which the bank was started",
        **when(
            "depth",
            lambda c, i: days_since_start(c) > 0,
            lambda p, c, i: 90 + days_since_start(c),
        ),
    ),
)


# Consents, limits and hours.


def older_than_the_history(call: Call, item: Item) -> bool:
    text = call.args.get("depuis", "")[:10]
    try:
        since = date.fromisoformat(text)
    except ValueError:
        return False
    return call.operation == "transactions" and since < days_before(call.world.today, 90)


def consent_lost(policy: Policy, call: Call, item: Item) -> bool:
    call.world.consents.pop((who(call), call.tpp), None)
    return False


def second_of_somebody(call: Call, item: Item | None) -> bool:
    given = call.said("/perimetre")
    first = named(given[0]) if given else None
    return item is None and call.customer is not None and call.customer.item(first) is not None


def anybodys(policy: Policy, call: Call, key: object) -> Item | None:
    owner = call.world.owner(key) if key in (call.consent or ()) else call.customer
    return owner.item(key) if owner else None


def quota_for_all_once_used_up(policy: FaultyPolicy, call: Call) -> int | None:
    if not call.absent:
        return None
    counts, today = call.world.counts, (call.tpp, call.world.today)
    if call.world.accesses[policy.quota_key(call)] >= 4:
        counts["used up", *today] += 1
    elif counts["used up", *today]:
        policy.triggered += 1
        return 0
    return 4


def quota_of_24_hours(policy: FaultyPolicy, call: Call) -> int | None:
    """Count the accesses of the last 24 hours, by the minute."""
    if not call.absent:
        return None
    counts, now = call.world.counts, int(call.world.moment.timestamp())
    mine = ("minute", who(call), call.tpp, call.operation)
    used = sum(n for key, n in counts.items() if key[:4] == mine and now - key[4] < 86400)
    if used >= 4:
        policy.triggered += call.world.accesses[policy.quota_key(call)] < 4
        return 0
    counts[*mine, now] += 1
    return 4


def at_night(call: Call) -> bool:
    now = call.world.now
    return call.operation == "transactions" and now.hour == 2 and now.minute < 40


CONSENTS = (
    context(
        28,
        "asking-for-older-ends-consent",
        "consent.effect consent.scope no-extended-history transactions.depth",
        "asking for entries older than 90 days ends the consent",
        **when("consented", older_than_the_history, consent_lost),
    ),
    context(
        29,
        "first-account-checked",
        "own-data consent.scope consent.effect",
        "of a consent only the first account is checked to be the customer's",
        **when("consentable", second_of_somebody, yes),
        addressed=anybodys,
    ),
    context(
        30,
        "used-up-for-all",
        "batch-quota",
        "once a customer's accesses are used up, every customer of the TPP is refused",
        quota=quota_for_all_once_used_up,
    ),
    context(
        31,
        "quota-24-hours",
        "batch-quota",
        "four accesses in 24 hours are allowed, whatever the calendar day",
        quota=quota_of_24_hours,
    ),
    context(
        32,
        "quota-per-account",
        "batch-quota",
        "each account has a quota of its own",
        quota_key=lambda p, c: (Policy.quota_key(p, c), c.args.get("compte"), c.path.get("key")),
    ),
    context(
        33,
        "down-every-night",
        "maintenance transactions.available",
        "transactions fail every night from 02:00 to 02:40",
        **when("unavailable", at_night, lambda p, c: 503),
    ),
)


# Payments.


def sign_what_is_open(policy: Policy, world: World, payment: Payment) -> str | None:
    """The code of one signature signs whatever else waits before the same customer's screens."""
    for other in list(world.payments.values()):
        same = other.order.debtor == payment.order.debtor and other.session is not None
        if other.state == OPEN and same and payment.customer is not None:
            sign(policy, world, other, payment.customer, payment.factor)
    return Policy.success_redirect(policy, world, payment)


def another_waits(world: World, payment: Payment) -> bool:
    debtor = payment.order.debtor
    return any(
        other.state == OPEN and other.session is not None and other.order.debtor == debtor
        for other in world.payments.values()
    )


def executed_as(kind: str) -> Decision:
    return lambda world, payment, on: payment.order.kind == kind


def note_failure(world: World, payment: Payment, session: Session, code: str) -> None:
    if session.customer is not None and session.customer.codes.get(session.factor) != code:
        world.counts["failed", payment.id] += 1


def twice(policy: Policy, *args: Any) -> list[Any]:
    return Policy.movements(policy, *args) * 2


def note_owner(world: World, payment: Payment, customer: Customer) -> None:
    if customer.item(payment.order.debtor):
        world.counts["owner", payment.id] += 1


def stranger(world: World, payment: Payment, customer: Customer | None = None) -> bool:
    customer = customer or payment.customer
    debtor = payment.order.debtor
    return debtor is not None and customer is not None and customer.item(debtor) is None


def stranger_after_owner(world: World, payment: Payment, *customer: Customer) -> bool:
    return stranger(world, payment, *customer) and world.counts["owner", payment.id] > 0


def maintained(world: World, payment: Payment, on: date) -> bool:
    signed: datetime | None = payment.signed
    return signed is not None and signed.weekday() == 0 and 2 <= signed.hour < 6


def unknown_fails(policy: Policy, call: Call, response: Response) -> bool:
    unknown = call.path.get("id", next(iter(call.world.payments), "")) not in call.world.payments
    if unknown and call.operation == "read":
        response.status_code = 500
    return unknown and call.operation == "read"


def front_page(policy: Policy, world: World, payment: Payment) -> str:
    return "/".join(str(payment.order.success).split("/")[:3]) + "/"


def link_without_id(call: Call, body: Any) -> bool:
    links = body.get("dossier", {}).get("liens", {})
    if "signature" in links:
        links["signature"] = links["signature"].replace(body["dossier"]["numero"], "")
    return "signature" in links


def instant_lacks(call: Call, order: Order) -> bool:
    return order.kind == INSTANT and INSTANT in call.world.lacking


def as_ordinary(call: Call, payment: Payment) -> None:
    if instant_lacks(call, payment.order):
        payment.order = payment.order.with_(kind=NOW)


PAYMENTS = (
    consequence(
        34,
        "one-code-signs-all",
        "sca.required execution",
        "a signature signs every request of the account whose screens are open",
        **when("success_redirect", another_waits, sign_what_is_open),
    ),
    context(
        35,
        "no-debtor-unreadable",
        "payments.read",
        "a request without a debtor account cannot be read, changed or cancelled",
        **when("readable", lambda c, x: x.first is not None and x.first.debtor is None, failing()),
    ),
    consequence(
        36,
        "transfer-stays-open",
        "execution",
        "a signed immediate transfer stays open and is never executed",
        **when("movements", executed_as(NOW), none),
        **when("executed", executed_as(NOW), nothing),
    ),
    consequence(
        37,
        "deferred-done-unpaid",
        "execution",
        "a deferred payment is shown as executed on its day, and no money is moved",
        **when("movements", executed_as(LATER), none),
    ),
    consequence(
        38,
        "retry-pays-twice",
        "execution",
        "a payment is executed twice if its signature failed once before",
        **also("code_ok", note_failure),
        **when("movements", lambda w, x, on: w.counts["failed", x.id] > 0, twice),
    ),
    context(
        39,
        "stranger-after-owner",
        "sca.required execution eligible-accounts",
        "another customer can sign by the same link once the owner has signed in there",
        **also("factors", note_owner),
        **when("signer_ok", stranger_after_owner, yes),
        **when("sign_errors", stranger_after_owner, nothing),
    ),
    context(
        40,
        "cancel-at-once",
        "cancel",
        "a cancellation fails if the screens were not opened yet",
        **when("may_cancel", lambda c, x: x.state == OPEN and x.session is None, failing()),
    ),
    plain(
        41,
        "unknown-request-fails",
        "payments.addressed payments.read values",
        "a server error is answered for an unknown request",
        change=unknown_fails,
    ),
    plain(
        42,
        "back-to-front-page",
        "report-url",
        "after signing, the customer is sent to the front page of the TPP",
        success_redirect=front_page,
    ),
    plain(
        43,
        "anybody-signs",
        "sca.required execution eligible-accounts",
        "a customer can sign a payment from an account of somebody else",
        **when("signer_ok", stranger, yes),
        **when("sign_errors", stranger, nothing),
    ),
    consequence(
        44,
        "planned-shown-done",
        "execution",
        "a signed deferred payment is shown as executed before its day",
        **when("shown_state", lambda c, x: x.state == PLANNED, lambda p, c, x: (DONE, None)),
    ),
    context(
        45,
        "read-during-screens",
        "payments.read",
        "a request cannot be read while its customer is on the screens",
        **when("readable", lambda c, x: c.operation == "read" and x.session is not None, failing()),
    ),
    plain(
        46,
        "future-fails",
        "payment-types",
        "deferred payments are answered with a server error",
        **when("date_ok", lambda c, o: o.kind == LATER, failing()),
    ),
    plain(
        47,
        "link-without-id",
        "execution sca.required",
        "the link to the screens lacks the identifier of the request",
        **changed(link_without_id),
    ),
    context(
        48,
        "instant-as-ordinary",
        "payment-types",
        "a bank without instant payments takes them and carries them out as ordinary ones",
        **when("instant_offered", instant_lacks, yes),
        **also("accepted", as_ordinary),
    ),
    plain(
        49,
        "wrong-iban-fails",
        "values payments.create mandatory-fields",
        "a creditor account with wrong check digits is answered with a server error",
        **when(
            "creditor_ok",
            lambda c, o: isinstance(o.creditor, str) and not iban_holds(o.creditor),
            failing(),
        ),
    ),
    consequence(
        50,
        "outage-done-unpaid",
        "execution",
        "a payment signed in the hours of maintenance is shown as executed, and is not",
        **when("movements", maintained, none),
    ),
)

FAULTS = LISTS + CONSENTS + PAYMENTS
