"""150 faults that real gateways have, chosen before the harness was ever run on one of them.

Each is one value: what is wrong, in one sentence; the line of the service's document that it
breaks; its class; and the decisions of the bank that it overrides. `plain`: a rule is simply
broken. `context`: it is broken in one context only. `consequence`: what is said is right,
and what follows is wrong.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from holdout.bank import Bank
from holdout.domain import (
    APP,
    CANCELLED,
    CAP,
    CLOSED,
    DONE,
    INSTANT,
    LATER,
    MAIL,
    NOW,
    OPEN,
    PLANNED,
    REJECTED,
    SMS,
    Call,
    Customer,
    Entry,
    Item,
    Movement,
    Order,
    Payment,
    World,
    iban_holds,
    months_before,
)
from holdout.policy import Policy

Decision = Callable[..., Any]


@dataclass(frozen=True)
class Fault:
    """One way in which the bank is wrong."""

    id: str
    kind: str
    line: int
    sentence: str
    overrides: Mapping[str, Decision] = field(repr=False)

    def policy(self) -> Policy:
        made: Policy = type("FaultyPolicy", (Policy,), dict(self.overrides))()
        return made

    def bank(self) -> Bank:
        return Bank(self.policy())


def plain(id: str, line: int, sentence: str, **overrides: Decision) -> Fault:
    return Fault(id, "plain", line, sentence, overrides)


def context(id: str, line: int, sentence: str, **overrides: Decision) -> Fault:
    return Fault(id, "context", line, sentence, overrides)


def consequence(id: str, line: int, sentence: str, **overrides: Decision) -> Fault:
    return Fault(id, "consequence", line, sentence, overrides)


def when(name: str, condition: Decision, otherwise: Decision) -> dict[str, Decision]:
    """Decide differently where a condition holds, and soundly elsewhere."""
    sound = getattr(Policy, name)

    def decide(policy: Policy, *args: Any) -> Any:
        chosen = otherwise if condition(*args) else sound
        return chosen(policy, *args)

    return {name: decide}


def also(name: str, effect: Decision) -> dict[str, Decision]:
    """Decide soundly, and do something more afterwards."""
    sound = getattr(Policy, name)

    def decide(policy: Policy, *args: Any) -> Any:
        result = sound(policy, *args)
        effect(policy, *args)
        return result

    return {name: decide}


# What several faults have in common.


def yes(*_: Any) -> bool:
    return True


def no(*_: Any) -> bool:
    return False


def nothing(*_: Any) -> None:
    return None


def move(world: World, payment: Payment, on: date | None = None) -> None:
    """Money is moved, whatever is said."""
    order = payment.order
    world.movements.append(
        Movement(payment.id, on or world.today, str(order.amount), order.creditor, order.debtor)
    )


def later_page(call: Call, *_: Any) -> bool:
    return "apres" in call.args or call.args.get("page", "0") != "0"


def hide(world: World, payment: Payment) -> None:
    """A cancellation is shown and has no effect."""
    world.counts["hidden", payment.id] += 1


def shown_as_cancelled(policy: Policy, call: Call, payment: Payment) -> tuple[str, str | None]:
    if call.world.counts["hidden", payment.id] and payment.state in (OPEN, PLANNED):
        return CLOSED, CANCELLED
    return payment.state, payment.cause


def changed_state(policy: Policy, call: Call, payment: Payment, order: Order) -> None:
    payment.order = order
    policy.cancelled(call.world, payment)


def old(payment: Payment) -> Order:
    return payment.first or payment.order


def large(order: Order) -> bool:
    return isinstance(order.amount, str) and len(order.amount.partition(".")[0]) >= 3


def since_given(call: Call, *_: Any) -> bool:
    return "depuis" in call.args


def repeated_without(name: str) -> Decision:
    """Two payments count as identical although one parameter differs."""

    def parameters(policy: Policy, order: Order) -> tuple[Any, ...]:
        return Policy.parameters(policy, order.with_(**{name: None}))

    return parameters


def movement_with(**change: Callable[[World, Payment], Any]) -> Decision:
    """What is executed differs in one point."""

    def movements(policy: Policy, world: World, payment: Payment, on: date) -> list[Movement]:
        order = policy.carried_out(world, payment)
        values = {"amount": order.amount, "creditor": order.creditor, "debtor": order.debtor}
        values |= {name: of(world, payment) for name, of in change.items()}
        return [Movement(payment.id, on, **values)]

    return movements


def any_customers_creditor(policy: Policy, world: World, payment: Payment, order: Order) -> bool:
    times = [one.known.get(order.creditor) for one in world.customers]
    return any(since is not None and world.now - since > timedelta(hours=72) for since in times)


def shifted(days: int) -> Decision:
    def due_on(policy: Policy, world: World, payment: Payment) -> date:
        return payment.order.day + timedelta(days=days)

    return due_on


def twice(policy: Policy, world: World, payment: Payment, on: date) -> list[Movement]:
    return Policy.movements(policy, world, payment, on) * 2


def entries_twice(
    policy: Policy, call: Call, item: Item, rows: list[Entry], page: int
) -> tuple[list[Entry], bool]:
    size = policy.entry_size(call, item)
    start = max(0, page * size - (1 if page else 0))
    return rows[start : (page + 1) * size], len(rows) > (page + 1) * size


def entries_lost(
    policy: Policy, call: Call, item: Item, rows: list[Entry], page: int
) -> tuple[list[Entry], bool]:
    found, more = Policy.entry_page(policy, call, item, rows, page)
    return (found[1:] if page else found), more


def entries_cut(
    policy: Policy, call: Call, item: Item, rows: list[Entry], page: int
) -> tuple[list[Entry], bool]:
    found, more = Policy.entry_page(policy, call, item, rows, page)
    return found, more and page == 0


def other_item(policy: Policy, call: Call, item: Item) -> Item:
    others = [one for one in policy.holds(call) if one.card == item.card and one is not item]
    return others[0] if others else item


def any_trait(*ignored: str) -> Decision:
    """An account is listed although it has one of these traits."""

    def listed(policy: Policy, call: Call, item: Item) -> bool:
        traits = {"savings", "inactive", "offline"} - set(ignored)
        return not any(item.is_(trait) for trait in traits)

    return listed


def card_within(months: int) -> Decision:
    def listed(policy: Policy, call: Call, item: Item) -> bool:
        used = item.last_used
        if item.is_("inactive") or item.is_("never-used") or used is None:
            return False
        return months_before(call.world.today, months) <= used

    return listed


def without_check(name: str) -> Decision:
    """A mandatory field may be left out."""

    def check(policy: Policy, call: Call, order: Order) -> bool:
        return getattr(order, name) is None or bool(SOUND_CHECKS[name](policy, call, order))

    return check


SOUND_CHECKS: dict[str, Decision] = {
    "charge": Policy.charge_ok,
    "purpose": Policy.purpose_ok,
    "creditor": Policy.creditor_ok,
    "success": Policy.success_ok,
}


def refused_for(*reasons: str) -> Decision:
    """A refused request is executed all the same."""

    def refused(policy: Policy, call: Call, payment: Payment, reason: str) -> None:
        if reason in reasons and isinstance(payment.order.creditor, str):
            move(call.world, payment)

    return refused


PLAIN = (
    plain("list-savings", 11, "savings accounts are listed", account_listed=any_trait("savings")),
    plain(
        "list-inactive", 11, "inactive accounts are listed", account_listed=any_trait("inactive")
    ),
    plain(
        "list-offline",
        11,
        "accounts that are not accessible online are listed",
        account_listed=any_trait("offline"),
    ),
    plain(
        "card-inactive",
        12,
        "inactive cards are listed",
        card_listed=lambda p, c, i: i.is_("inactive") or Policy.card_listed(p, c, i),
    ),
    plain(
        "card-never-used",
        12,
        "cards that were never used are listed",
        card_listed=lambda p, c, i: i.is_("never-used") or Policy.card_listed(p, c, i),
    ),
    plain(
        "card-three-months",
        122,
        "cards that were last used three months ago are listed",
        card_listed=card_within(3),
    ),
    plain(
        "card-one-month",
        12,
        "cards that were last used more than one month ago are not listed",
        card_listed=card_within(1),
    ),
    plain(
        "beneficiaries",
        62,
        "the list of trusted beneficiaries answers",
        **when("unavailable", lambda c: c.operation == "beneficiaries", nothing),
    ),
    plain(
        "identity-offered",
        63,
        "the identity of the end user answers",
        **when("unavailable", lambda c: c.operation == "identity", nothing),
    ),
    plain(
        "confirmation-offered",
        72,
        "the confirmation of a payment request answers",
        **when("unavailable", lambda c: c.operation == "confirm", nothing),
    ),
    plain("list-page-6", 120, "six accounts and cards are on a page", list_size=lambda p, c: 6),
    plain("entry-page-20", 121, "twenty entries are on a page", entry_size=lambda p, c, i: 20),
    plain("depth-120", 118, "the history is 120 days deep", depth=lambda p, c, i: 120),
    plain("depth-60", 61, "the history is only 60 days deep", depth=lambda p, c, i: 60),
    plain("no-consent-needed", 90, "balances and entries need no consent", consented=yes),
    plain(
        "empty-without-consent",
        89,
        "without a consent nothing is listed",
        narrowed=lambda p, c, items: [] if c.consent is None else Policy.narrowed(p, c, items),
    ),
    plain("no-psu-identity", 91, "the identity is never transmitted", identity=nothing),
    plain(
        "psu-identity-always",
        36,
        "the identity is transmitted without a consent",
        identity=lambda p, c: c.customer.name,
    ),
    plain("quota-none", 116, "accesses without the customer are not limited", quota=nothing),
    plain(
        "quota-3",
        116,
        "only three accesses without the customer are allowed in a day",
        quota=lambda p, c: 3 if c.absent else None,
    ),
    plain(
        "quota-5",
        116,
        "five accesses without the customer are allowed in a day",
        quota=lambda p, c: 5 if c.absent else None,
    ),
    plain(
        "quota-present",
        117,
        "accesses of a customer who is present are limited, too",
        quota=lambda p, c: 4,
        counts=yes,
    ),
    plain(
        "currency-usd", 33, "balances and entries are in dollars", currency=lambda p, c, i: "USD"
    ),
    plain(
        "balance-type",
        35,
        "a balance has a type that the document does not name",
        kinds=lambda p, c, i: ("CLBD", "XPCD"),
    ),
    plain("extended-history", 14, "an extended history may be asked for", extended=yes),
    plain(
        "credentials",
        83,
        "a call with the customer's credentials is served",
        carries_credentials=no,
    ),
    plain(
        "charge-any",
        37,
        "another chargeBearer than SLEV is accepted",
        charge_ok=lambda p, c, o: isinstance(o.charge, str),
    ),
    plain("charge-missing", 106, "chargeBearer may be missing", charge_ok=without_check("charge")),
    plain(
        "purpose-missing", 38, "categoryPurpose may be missing", purpose_ok=without_check("purpose")
    ),
    plain(
        "creditor-missing",
        39,
        "creditorAccount may be missing",
        creditor_ok=without_check("creditor"),
    ),
    plain(
        "success-missing",
        40,
        "successfulReportUrl may be missing",
        success_ok=without_check("success"),
    ),
    plain("currency-any", 119, "payments in other currencies are accepted", euro=yes),
    plain("several", 20, "several payments in one request are accepted", single=yes),
    plain(
        "instant-refused",
        20,
        "instant payments are refused at every bank",
        instant_offered=lambda p, c, o: o.kind != INSTANT,
    ),
    plain(
        "instant-lacking", 21, "instant payments are accepted at every bank", instant_offered=yes
    ),
    plain("segments-all", 19, "customers of the excluded segments are served", served=yes),
    plain(
        "segment-pro",
        18,
        "small professionals are not served",
        served=lambda p, w, k, o: k.segment == "PART",
    ),
    plain("duplicate", 104, "a payment that was executed already is accepted again", repeated=no),
    plain("cash-never", 105, "no CASH payment is ever rejected", cash_refused=no),
    plain(
        "cash-soft-token",
        105,
        "a CASH payment is rejected although it was signed with the soft token",
        cash_refused=lambda p, w, x, o: o.purpose == "CASH" and not p.known_long(w, x, o),
    ),
    plain(
        "cash-24h",
        124,
        "a creditor is known after 24 hours",
        known_age=lambda p, w, x: timedelta(hours=24),
    ),
    plain(
        "modify-immediate",
        71,
        "payments that are not deferred can be modified",
        may_change=lambda p, c, x: x.state in (OPEN, PLANNED),
    ),
    plain("modify-never", 71, "deferred payments cannot be modified", may_change=no),
    plain("cancel-never", 74, "payments cannot be cancelled through the API", may_cancel=no),
    plain("password-alone", 85, "the password alone signs a payment", exempt=yes),
    plain(
        "pro-soft-token",
        86,
        "professionals can sign with the soft token",
        factors=lambda p, w, x, k: (SMS, CAP, APP),
    ),
    plain(
        "email-code",
        85,
        "a code by e-mail signs a payment",
        factors=lambda p, w, x, k: (*Policy.factors(p, w, x, k), MAIL),
    ),
    plain(
        "idle-10",
        123,
        "a customer may be idle for 10 minutes",
        idle=lambda p, w, x, s: timedelta(minutes=10),
    ),
    plain(
        "overall-none",
        107,
        "a customer may stay before the screens for hours",
        overall=lambda p, w, x, s: timedelta(hours=9),
    ),
    plain(
        "idle-redirect",
        107,
        "a disconnected customer is sent back to the TPP",
        disconnect_redirect=lambda p, w, x: x.order.success,
    ),
)

CONTEXT = (
    context(
        "savings-on-page-2",
        11,
        "savings accounts are listed on later pages only",
        **when("account_listed", later_page, any_trait("savings")),
    ),
    context(
        "offline-absent",
        11,
        "accounts that are not accessible online are listed while the customer is absent",
        **when("account_listed", lambda c, i: c.absent, any_trait("offline")),
    ),
    context(
        "cancel-second-tpp",
        74,
        "only the first TPP that the bank knows can cancel its payments",
        **when("may_cancel", lambda c, x: not c.tpp.endswith(".1"), no),
    ),
    context(
        "card-inactive-recent",
        12,
        "inactive cards are listed if they were used in the last week",
        **when(
            "card_listed",
            lambda c, i: i.last_used is not None and (c.world.today - i.last_used).days < 7,
            yes,
        ),
    ),
    context(
        "list-page-later",
        120,
        "pages of accounts after the first one hold six",
        **when("list_size", later_page, lambda p, c: 6),
    ),
    context(
        "list-page-loses-one",
        58,
        "one account is lost between two pages",
        **when(
            "list_rest", later_page, lambda p, c, items, a: Policy.list_rest(p, c, items, a)[1:]
        ),
    ),
    context(
        "quota-weekend",
        116,
        "accesses without the customer are not limited at weekends",
        **when("quota", lambda c: c.world.today.weekday() >= 5, nothing),
    ),
    context(
        "entry-page-card",
        121,
        "pages of card slips hold ten",
        **when("entry_size", lambda c, i: i.card, lambda p, c, i: 10),
    ),
    context(
        "entry-page-since",
        121,
        "pages hold thirty entries if a first day is given",
        **when("entry_size", since_given, lambda p, c, i: 30),
    ),
    context(
        "entry-repeated",
        61,
        "a page repeats the last entry of the page before",
        entry_page=entries_twice,
    ),
    context("entry-lost", 61, "a later page lacks its first entry", entry_page=entries_lost),
    context(
        "depth-card",
        118,
        "the history of cards is 120 days deep",
        **when("depth", lambda c, i: i.card, lambda p, c, i: 120),
    ),
    context(
        "depth-since",
        118,
        "entries of any age are shown if a first day is given",
        **when("depth", since_given, lambda p, c, i: 9999),
    ),
    context(
        "depth-alias",
        61,
        "the history under another name of the operation is 120 days deep",
        **when("depth", lambda c, i: c.route != "/operations", lambda p, c, i: 120),
    ),
    context(
        "consent-alias",
        90,
        "the other names of balances and transactions need no consent",
        **when("consented", lambda c, i: c.route not in ("/soldes", "/operations"), yes),
    ),
    context(
        "consent-slips",
        90,
        "slips and outstandings of cards need no consent",
        **when("consented", lambda c, i: i.card, yes),
    ),
    context(
        "consent-absent",
        90,
        "no consent is needed while the customer is absent",
        **when("consented", lambda c, i: c.absent, yes),
    ),
    context(
        "identity-absent",
        91,
        "the identity is not transmitted while the customer is absent",
        **when("identity", lambda c: c.absent, nothing),
    ),
    context(
        "quota-transactions",
        116,
        "transactions are not limited while the customer is absent",
        **when("quota", lambda c: c.operation == "transactions", nothing),
    ),
    context(
        "quota-shared",
        116,
        "the methods share one quota",
        quota_key=lambda p, c: (c.customer.id, c.tpp, p.quota_day(c)),
    ),
    context(
        "quota-alias",
        116,
        "the other names of an operation have a quota of their own",
        quota_key=lambda p, c: (Policy.quota_key(p, c), c.route),
    ),
    context(
        "quota-customers",
        116,
        "all customers share one quota",
        quota_key=lambda p, c: (c.tpp, c.operation, p.quota_day(c)),
    ),
    context(
        "quota-noon",
        116,
        "the quota begins again at noon, not with the calendar day",
        quota_day=lambda p, c: (c.world.now + timedelta(hours=12)).date(),
    ),
    context(
        "quota-counts-present",
        117,
        "accesses of a present customer count towards the quota of batch accesses",
        counts=yes,
    ),
    context(
        "quota-renewed-token",
        116,
        "accesses with a renewed token are not limited",
        **when("quota", lambda c: c.renewed, nothing),
    ),
    context(
        "consent-renewed-token",
        90,
        "a renewed token needs no consent",
        **when("consented", lambda c, i: c.renewed, yes),
    ),
    context(
        "currency-card",
        33,
        "outstandings and slips of cards are in dollars",
        **when("currency", lambda c, i: i.card, lambda p, c, i: "USD"),
    ),
    context(
        "iban-masked-absent",
        34,
        "the IBAN is masked in the list of a customer who is absent",
        **when("list_key", lambda c, i: c.absent, lambda p, c, i: i.key[:4] + "****" + i.key[-4:]),
    ),
    context(
        "credentials-consent",
        83,
        "a consent with the customer's credentials is accepted",
        **when("carries_credentials", lambda c: c.operation == "consents", no),
    ),
    context(
        "charge-deferred",
        106,
        "chargeBearer is not checked for deferred payments",
        **when("charge_ok", lambda c, o: o.kind == LATER, yes),
    ),
    context(
        "charge-lower-case",
        37,
        "chargeBearer is accepted in lower case",
        charge_ok=lambda p, c, o: isinstance(o.charge, str) and o.charge.upper() == "SLEV",
    ),
    context(
        "purpose-missing-instant",
        106,
        "categoryPurpose may be missing in instant payments",
        **when("purpose_ok", lambda c, o: o.kind == INSTANT, without_check("purpose")),
    ),
    context(
        "success-missing-deferred",
        106,
        "successfulReportUrl may be missing in deferred payments",
        **when("success_ok", lambda c, o: o.kind == LATER, without_check("success")),
    ),
    context(
        "currency-instant",
        20,
        "instant payments in other currencies are accepted",
        **when("euro", lambda c, o: o.kind == INSTANT, yes),
    ),
    context(
        "segment-guardian",
        19,
        "legal guardians are served",
        **when("served", lambda w, k, o: k.segment == "TUTEUR", yes),
    ),
    context(
        "segment-deferred",
        19,
        "customers of the excluded segments are served if the payment is deferred",
        **when("served", lambda w, k, o: o.kind == LATER, yes),
    ),
    context(
        "duplicate-instant",
        104,
        "an instant payment that was executed already is accepted again",
        **when("repeated", lambda w, o, but="": o.kind == INSTANT, no),
    ),
    context(
        "duplicate-purpose",
        104,
        "a payment with another categoryPurpose is rejected as identical",
        parameters=repeated_without("purpose"),
    ),
    context(
        "duplicate-large",
        104,
        "payments of 100 euro and more are not compared with executed ones",
        **when("repeated", lambda w, o, but="": large(o), no),
    ),
    context(
        "cash-instant",
        105,
        "the rule about CASH is not applied to instant payments",
        **when("cash_refused", lambda w, x, o: o.kind == INSTANT, no),
    ),
    context(
        "cash-cap",
        105,
        "the CAP reader counts as the soft token",
        **when("cash_refused", lambda w, x, o: x.factor == CAP, no),
    ),
    context(
        "cash-any-customer",
        105,
        "a creditor that another customer has registered counts as registered",
        known_long=any_customers_creditor,
    ),
    context(
        "cash-modified",
        105,
        "the rule about CASH is not applied to a modified payment",
        **when("cash_refused", lambda w, x, o: x.state == PLANNED or x.changes > 0, no),
    ),
    context(
        "modify-signed",
        71,
        "a deferred payment cannot be modified once it is signed",
        **when("may_change", lambda c, x: x.signed is not None, no),
    ),
    context(
        "modify-second",
        71,
        "a deferred payment can be modified only once",
        **when("may_change", lambda c, x: x.changes > 0, no),
    ),
    context(
        "exempt-small",
        87,
        "payments below 30 euro need no second factor",
        **when("exempt", lambda w, x, k: float(x.order.amount) < 30, yes),
    ),
    context(
        "exempt-second",
        87,
        "the second payment to the same creditor needs no second factor",
        **when(
            "exempt",
            lambda w, x, k: any(
                o.state == DONE and o.order.creditor == x.order.creditor
                for o in w.payments.values()
            ),
            yes,
        ),
    ),
    context(
        "code-second-try",
        85,
        "any code signs after a wrong one",
        **when("code_ok", lambda w, x, s, code: s.failures > 0, yes),
    ),
    context(
        "idle-before-login",
        107,
        "a customer who has not signed in yet is never disconnected",
        **when("idle", lambda w, x, s: s.customer is None, lambda *a: timedelta(hours=1)),
    ),
    context(
        "links-first-host",
        52,
        "links lead to the first host although the flow uses the second",
        link_base=lambda p, c, link: c.base.replace("localhost", "127.0.0.1"),
    ),
)


def approve_elsewhere(policy: Policy, world: World, payment: Payment) -> str | None:
    """The return address of the first request of all."""
    first = next(iter(world.payments.values()))
    return first.order.success


def cut_query(policy: Policy, world: World, payment: Payment) -> str | None:
    return str(payment.order.success).partition("?")[0]


def moved_unless_ok(name: str) -> dict[str, Decision]:
    """What the screens refuse is executed all the same."""
    sound = getattr(Policy, name)

    def decide(policy: Policy, world: World, payment: Payment, *args: Any) -> Any:
        holds = sound(policy, world, payment, *args)
        if not holds:
            move(world, payment)
        return holds

    return {name: decide}


def forget_range(policy: Policy, call: Call, item: Item, entry: Entry, *days: date | None) -> bool:
    since, end = days
    return Policy.entry_shown(policy, call, item, entry, None if later_page(call) else since, end)


def next_day(policy: Policy, world: World, payment: Payment) -> date:
    if payment.order.kind == LATER:
        return payment.order.day
    return (payment.signed or world.now).date() + timedelta(days=1)


def presigned_effect(policy: Policy, call: Call, payment: Payment) -> None:
    move(call.world, payment)


def both_amounts(policy: Policy, world: World, payment: Payment, on: date) -> list[Movement]:
    made = Policy.movements(policy, world, payment, on)
    before = old(payment)
    if before != payment.order:
        made.append(Movement(payment.id, on, before.amount, before.creditor, payment.order.debtor))
    return made


def first_only(policy: Policy, call: Call, keys: list[str]) -> None:
    Policy.consent_stored(policy, call, keys[:1])


def everything_open(policy: Policy, call: Call, item: Item) -> bool:
    return call.consent is not None


def others_identity(policy: Policy, call: Call) -> str | None:
    if call.consent is None:
        return None
    return str(call.world.customers[0].name)


def executed_stays_open(policy: Policy, call: Call, payment: Payment) -> tuple[str, str | None]:
    return (OPEN, None) if payment.state == DONE else (payment.state, payment.cause)


def cancelled_stays(policy: Policy, call: Call, payment: Payment) -> tuple[str, str | None]:
    cancelled = payment.cause == CANCELLED
    return (PLANNED, None) if cancelled else (payment.state, payment.cause)


def first_account(world: World, payment: Payment) -> str:
    owner = world.owner(payment.order.debtor)
    others = [i.key for i in owner.items if i.key != payment.order.debtor] if owner else []
    return next(iter(others), str(payment.order.debtor))


def euros(world: World, payment: Payment) -> str:
    return str(payment.order.amount).partition(".")[0] + ".00"


def swapped_creditor(world: World, payment: Payment) -> str:
    if payment.order.kind != INSTANT:
        return str(payment.order.creditor)
    return str(next(iter(world.payments.values())).order.creditor)


def cancel_anyway(policy: Policy, call: Call, payment: Payment) -> None:
    if payment.state in (OPEN, PLANNED):
        policy.cancelled(call.world, payment)


def change_anyway(policy: Policy, call: Call, payment: Payment, order: Order) -> None:
    if iban_holds(order.creditor) and payment.state in (OPEN, PLANNED):
        payment.order = order


def pay_the_planned(policy: Policy, world: World, payment: Payment) -> bool:
    waits = Policy.planned(policy, world, payment)
    if waits:
        move(world, payment)
    return waits


def quota_for_all(policy: Policy, call: Call) -> int | None:
    return 4


def spent_quota_day(policy: Policy, call: Call) -> date:
    """A quota that was used up stays used up for the next day."""
    today = call.world.today
    before = today - timedelta(days=1)
    customer = call.customer.id if call.customer else ""
    used = call.world.accesses[customer, call.tpp, call.operation, before]
    return before if used >= 4 else today


def money_after_disconnect(policy: Policy, world: World, payment: Payment) -> None:
    if payment.customer is None and payment.order.debtor:
        move(world, payment)


def reject_and_pay(policy: Policy, world: World, payment: Payment) -> None:
    if payment.order.purpose == "CASH":
        move(world, payment)


def withdraw_and_tell(policy: Policy, world: World, payment: Payment) -> None:
    hide(world, payment)


def refused_stays_repeatable(policy: Policy, world: World, order: Order, id: str = "") -> bool:
    """A cancelled or refused payment counts as executed."""
    if Policy.repeated(policy, world, order, id):
        return True
    return not id and any(
        other.state == CLOSED
        and other.cause != REJECTED
        and policy.parameters(other.order) == policy.parameters(order)
        for other in world.payments.values()
    )


def signs_for_others(policy: Policy, world: World, payment: Payment, customer: Customer) -> bool:
    holds = Policy.signer_ok(policy, world, payment, customer)
    if not holds and payment.state == OPEN:
        move(world, payment)
    return holds


CONSEQUENCE = (
    consequence(
        "repeat-refused-and-paid",
        104,
        "an identical payment is refused and executed",
        refused=refused_for("DOUBLON"),
    ),
    consequence(
        "incomplete-refused-and-paid",
        106,
        "a request without a mandatory field is refused and executed",
        refused=refused_for("FRAIS", "MOTIF", "RETOUR"),
    ),
    consequence(
        "several-refused-and-paid",
        20,
        "a request for several payments is refused and one is executed",
        refused=refused_for("UNIQUE"),
    ),
    consequence(
        "segment-refused-and-paid",
        19,
        "a request of an excluded segment is refused and executed",
        refused=refused_for("SEGMENT"),
    ),
    consequence(
        "account-refused-and-paid",
        17,
        "a request from an ineligible account is refused and executed",
        refused=refused_for("COMPTE"),
    ),
    consequence(
        "instant-refused-and-paid",
        21,
        "a refused instant payment is executed as another transfer",
        refused=refused_for("INSTANTANE"),
    ),
    consequence(
        "cash-rejected-and-paid",
        105,
        "a rejected CASH payment is executed",
        **also("sign_refused", reject_and_pay),
    ),
    consequence(
        "refused-signature-paid",
        82,
        "a payment that its customer refused is executed",
        **also("declined", lambda p, w, x: move(w, x)),
    ),
    consequence(
        "refused-signature-redirect",
        40,
        "after a refusal the customer is sent to the address for success",
        declined_redirect=lambda p, w, x: x.order.success,
    ),
    consequence(
        "refused-signature-open",
        70,
        "a payment that its customer refused is shown as open",
        shown_state=lambda p, c, x: (OPEN, None) if x.cause == "REFUS" else (x.state, x.cause),
    ),
    consequence(
        "no-return",
        40,
        "a customer who has signed is not sent back to the TPP",
        success_redirect=nothing,
    ),
    consequence(
        "return-without-query",
        40,
        "the customer is sent back without the query of the address",
        success_redirect=cut_query,
    ),
    consequence(
        "return-of-another",
        40,
        "the customer is sent back to the address of an earlier request",
        success_redirect=approve_elsewhere,
    ),
    consequence(
        "cancelled-still-paid",
        74,
        "a deferred payment that was cancelled through the API is executed on its day",
        cancelled=lambda p, w, x: hide(w, x),
        shown_state=shown_as_cancelled,
    ),
    consequence(
        "withdrawn-still-paid",
        74,
        "a payment that its customer cancelled in direct access is executed on its day",
        withdrawn=withdraw_and_tell,
        shown_state=shown_as_cancelled,
    ),
    consequence(
        "cancelled-shown-planned",
        74,
        "a cancelled payment is shown as planned",
        shown_state=cancelled_stays,
    ),
    consequence(
        "cancel-refused-and-done",
        8,
        "a refused cancellation of a payment that is not deferred cancels it",
        cancel_refused=cancel_anyway,
    ),
    consequence(
        "modified-old-amount",
        71,
        "a modified payment is executed with its old amount",
        carried_out=lambda p, w, x: x.order.with_(amount=old(x).amount),
    ),
    consequence(
        "modified-old-creditor",
        71,
        "a modified payment is executed in favour of its old creditor",
        carried_out=lambda p, w, x: x.order.with_(creditor=old(x).creditor),
    ),
    consequence(
        "modified-old-day",
        71,
        "a modified payment is executed on its old day",
        due_on=lambda p, w, x: old(x).day,
    ),
    consequence(
        "modified-shown-old",
        70,
        "a modified payment is shown as it was before",
        shown=lambda p, c, x: old(x),
    ),
    consequence(
        "modified-both-paid",
        71,
        "a modified payment is executed as it was and as it is",
        movements=both_amounts,
    ),
    consequence(
        "modify-refused-and-done",
        71,
        "a refused modification of a payment that is not deferred takes effect",
        change_refused=change_anyway,
    ),
    consequence(
        "modify-cancels",
        71,
        "a modification is accepted and cancels the payment",
        changed=changed_state,
    ),
    consequence("paid-twice", 20, "a payment is executed twice", movements=twice),
    consequence("deferred-at-once", 20, "a deferred payment is executed at once", planned=no),
    consequence(
        "deferred-day-late", 125, "a deferred payment is executed a day late", due_on=shifted(1)
    ),
    consequence("deferred-never", 8, "a deferred payment is never executed", due_on=shifted(3650)),
    consequence(
        "deferred-twice",
        20,
        "a deferred payment is executed when it is signed and on its day",
        planned=pay_the_planned,
    ),
    consequence(
        "instant-next-day",
        20,
        "an instant payment is executed on the next day",
        **when("planned", lambda w, x: x.order.kind == INSTANT and x.state == OPEN, yes),
        due_on=next_day,
    ),
    consequence(
        "instant-wrong-creditor",
        39,
        "an instant payment goes to the creditor of an earlier payment",
        movements=movement_with(creditor=swapped_creditor),
    ),
    consequence(
        "cents-lost",
        8,
        "the cents of the amount are not executed",
        movements=movement_with(amount=euros),
    ),
    consequence(
        "wrong-debtor",
        17,
        "another account of the customer is debited",
        movements=movement_with(debtor=first_account),
    ),
    consequence(
        "done-but-unpaid",
        8,
        "a signed immediate payment is shown as executed, and is not",
        **when("movements", lambda w, x, on: x.order.kind == NOW, lambda *a: []),
    ),
    consequence(
        "paid-but-open", 70, "an executed payment is shown as open", shown_state=executed_stays_open
    ),
    consequence(
        "paid-unsigned",
        82,
        "a payment is executed when it is requested, before it is signed",
        **also("accepted", presigned_effect),
    ),
    consequence(
        "wrong-code-paid",
        85,
        "a payment is executed although the code was wrong, which the screen says",
        **moved_unless_ok("code_ok"),
    ),
    consequence(
        "disconnected-paid",
        107,
        "a payment whose customer was disconnected is executed",
        **also("after_disconnect", money_after_disconnect),
    ),
    consequence(
        "wrong-signer-paid",
        17,
        "a payment is executed when another customer signs, whom the screen refuses",
        signer_ok=signs_for_others,
    ),
    consequence(
        "consent-refused-stored",
        90,
        "a consent that is refused takes effect",
        consent_refused=lambda p, c, keys: p.consent_stored(c, keys),
    ),
    consequence(
        "consent-lost", 59, "a consent is accepted and has no effect", consent_stored=nothing
    ),
    consequence(
        "consent-opens-all",
        90,
        "a consent for one account opens all accounts",
        consented=everything_open,
    ),
    consequence(
        "other-account-shown",
        60,
        "the balances and entries of another account of the customer are shown",
        shown_item=other_item,
    ),
    consequence(
        "cancelled-counts-as-executed",
        104,
        "a payment is refused as identical to one that was cancelled or refused",
        repeated=refused_stays_repeatable,
    ),
    consequence(
        "identity-of-another",
        36,
        "the identity of another customer is transmitted",
        identity=others_identity,
    ),
    consequence(
        "range-forgotten",
        61,
        "later pages forget the first day that was asked for",
        entry_shown=forget_range,
    ),
    consequence(
        "entries-end-early",
        61,
        "the second page says that it is the last one, and it is not",
        entry_page=entries_cut,
    ),
    consequence(
        "quota-blocks-customer",
        117,
        "once the batch accesses are used up, the customer is refused, too",
        quota=quota_for_all,
    ),
    consequence(
        "consent-first-only",
        59,
        "of a consent for several accounts only the first one takes effect",
        consent_stored=first_only,
    ),
    consequence(
        "quota-next-day",
        116,
        "a quota that was used up is refused on the next day as well",
        quota_day=spent_quota_day,
    ),
)

FAULTS = PLAIN + CONTEXT + CONSEQUENCE
BY_ID = {fault.id: fault for fault in FAULTS}
