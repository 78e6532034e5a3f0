"""Faults of the foreign banks, each a row: what it replaces, and which obligations that breaks.

It breaks exactly these. A row that breaks nothing is another sound bank, which only looks different.
"""

from datetime import date, timedelta

from faulty import always, changed, row
from foreign.bank import Refused
from foreign.dialects import (
    COUNTED,
    DESK,
    ERRORS,
    FJORD,
    HERON,
    KESTREL,
    LOCKERS,
    OSPREY,
    PLOVER,
    QUAY,
    SISTER,
)

OPERATIONS = ("accounts", "entries", "order", "show", "call-off")


def refusing(status=400, error=None):
    """Return what refuses, whatever it is asked."""

    def refuse(*_):
        raise Refused(status, error)

    return refuse


def shown_as(status, other):
    """Return what shows one state of a request as another."""
    return lambda bank, request: other if request.status == status else QUAY.state(bank, request)


def marking(mark, status="ended"):
    """Return what gives a request another state, and a mark."""

    def mark_it(bank, request):
        request.status = status
        request.marks.add(mark)

    return mark_it


def unless(mark):
    """Return whether a consent is over, unless it has a mark."""
    return lambda bank, consent: consent.status == "ended" and mark not in consent.marks


def valid_if(mark):
    """Return the state of a consent, which is valid if it has a mark."""
    return lambda bank, consent: "valid" if mark in consent.marks else QUAY.state(bank, consent)


def serving_if(mark):
    """Return whether a consent opens anything: also if it has a mark."""
    return lambda bank, consent: FJORD.usable(bank, consent) or mark in consent.marks


def last_day(consent):
    """Whether it is the last day of a consent, or later."""
    today = consent.world.now.astimezone(FJORD.zone).date()
    return today.isoformat() >= consent.body["until"]


def early(bank, consent):
    """Whether a consent opens anything, which it does not on its last day."""
    return QUAY.usable(bank, consent) and not last_day(consent)


def ends_at_once(bank, consent):
    for other in consent.world.requests.values():
        if other.owner is consent.owner:
            bank.replace(other)


def remembered(bank, consent, number):
    """Whether a consent asked for a holder, now or before."""
    asked = consent.body.get("names", {}).get("holders", [])
    bank.seen += [each["number"] for each in asked]
    return number in bank.seen


def any_consent(bank, call):
    if call.header("Consent-ID") is None:
        raise Refused(403)
    return call.world.requests[call.header("Consent-ID")]


HOLDER, PAYER = "holder/withheld-otherwise", "payer/withheld-otherwise"
UNAUTHORISED = {"unusable": 401}
QUAY_FAULTS = (
    row("unsigned serves",
        "signed/unsigned-refused", shows=["scope/entry-before"],
        signed=lambda bank, consent: consent.status != "rejected"),
    row("declined serves",
        "signed/declined-refused", shows=["scope/entry-before"],
        signed=lambda bank, consent: consent.status != "open"),
    row("unsigned shown as valid", "signed/unsigned-shown", shows=["scope/entry-granted"],
        state=shown_as("open", "valid")),
    row("declined shown as valid", "signed/declined-shown", shows=["scope/entry-granted"],
        state=shown_as("rejected", "valid")),
    row("no link to sign", "signed/link", sign_link=""),
    row("signed shown as received",
        "signed/signed-shown", words={**QUAY.words, "valid": "received"}),
    row("serves after its last day", "until/next-day-refused",
        usable=lambda bank, consent: bank.signed(consent) and not bank.over(consent)),
    row("ends a day early", "until/last-day-served",
        shows=["signed/signed-served", "scope/entry-granted"], usable=early),
    row("ends a day early with 401", "until/last-day-served", usable=early, **UNAUTHORISED),
    row("ends an hour late", "until/next-day-refused", "until/expired-shown",
        expired=lambda bank, consent: QUAY.expired(bank, consent, -timedelta(hours=1))),
    row("expired shown as valid",
        "until/expired-shown", state=lambda bank, consent: consent.status),
    row("ended serves", "revoked/ended-refused", shows=["scope/entry-before"],
        end=marking("deleted"), over=unless("deleted")),
    row("ended shown as valid",
        "revoked/ended-shown", shows=["scope/entry-granted"], end=marking("deleted"),
        state=valid_if("deleted")),
    row("cannot be ended", "revoked/end-accepted", end=refusing(409)),
    row("former serves",
        "one/former-refused", replace=marking("replaced"), over=unless("replaced")),
    row("former shown as valid",
        "one/replaced-shown", replace=marking("replaced"), state=valid_if("replaced")),
    row("former ends before the next is signed",
        "one/former-kept", shows=["signed/signed-served"], on_making=ends_at_once),
    row("covers all", "scope/entry-refused", covers=always(True)),
    row("any customer's consent will do", "signed/others-refused", chosen=any_consent,
        covers=lambda bank, consent, number: (
        number in consent.accounts or number not in consent.owner.accounts)),
    row("always names holders", HOLDER, names_holder=always(True)),
    row("names no holder", "holder/shown-in-mode", names_holder=always(False)),
    row("names holders but the first", HOLDER, names_holder=lambda bank, consent, number: (
        QUAY.names_holder(bank, consent, number) or number != consent.accounts[0])),
    row("names holders once asked for", HOLDER, names_holder=remembered),
    row("always names payers", PAYER, names_payer=always(True)),
    row("names no payer", "payer/shown-in-mode", names_payer=always(False)),
    row("refuses with 401", **UNAUTHORISED),
    row("ended shown as expired", state=shown_as("ended", "expired")),
    row("declined shown as ended", state=shown_as("rejected", "ended")),
)  # fmt: skip


# -- Fjord -----------------------------------------------------------------------------------
def any_named(bank, consent, number):
    """Whether any consent of the TPP names an account that is not the customer's own."""
    if number in consent.owner.accounts:
        return number in consent.accounts
    others = consent.world.requests.values()
    return any(number in each.accounts for each in others if each.tpp == consent.tpp)


def any_owner(bank, call, consent, number):
    return next((each for each in call.world.customers if number in each.accounts), None)


def revoke_marked(bank, consent):
    consent.marks.add(f"was {consent.status}")
    consent.status = "ended"


def dies_with_the_next(bank, call, mode, body):
    named = {each["number"] for each in body["consent"]["accounts"]}
    for each in call.world.requests.values():
        own = each.tpp == call.grant.tpp and each.status == "valid"
        if own and named & {*each.accounts}:
            bank.replace(each)
    FJORD.check(bank, call, mode, body)


def code_for_declined(bank, session):
    consent = session["consent"]
    consent.owner, consent.status = session["customer"], "rejected"
    consent.marks.add("declined")
    return {"code": bank.code(session)}


def open_to_tpp(bank, call):
    return FJORD.opened(bank, call) if call.grant.consent else None


def entries_for_tpp(bank, call, number):
    if call.grant.consent is None:
        return 200, {"entries": [{"id": f"{number}-0", "day": "2026-09-15"}]}
    return FJORD.list_entries(bank, call, number)


def forbidden(bank, call):
    """Refuse what a token does not open with 403, and no error of a token."""
    try:
        return FJORD.opened(bank, call)
    except Refused:
        raise Refused(403) from None


def outside_scope(bank, call, number):
    try:
        return FJORD.list_entries(bank, call, number)
    except Refused as refusal:
        if (refusal.status, refusal.error) == (403, None):
            raise Refused(403, "insufficient_scope") from None
        raise


def lasting(bank, world, client, consent):
    """Issue a token of a consent for a year, and no refresh token."""
    status, body = FJORD.granted(bank, world, client, consent)
    if consent is not None:
        del body["refresh_token"]
        body["expires_in"] = 365 * 86400
        bank.grants[body["access_token"]].until = world.now + timedelta(days=365)
    return status, body


def in_fragment(bank, given, answer):
    """Return the customer with the answer in the fragment, with an ID token."""
    if "code" in answer:
        answer = {**answer, "id_token": f"id-{answer['code'][::-1]}"}
    status, body, [(name, url)] = FJORD.back(bank, given, answer)
    return status, body, [(name, url.replace("?", "#", 1))]


FJORD_FAULTS = (
    row("opens all accounts of the customer", "scope/entry-refused", covers=always(True)),
    row("opens what any consent names",
        "signed/others-refused", "scope/entry-foreign", covers=any_named, owner_of=any_owner),
    row("outlives revocation",
        "revoked/ended-refused", shows=["scope/entry-before"], end=revoke_marked, usable=serving_if("was valid")),
    row("outlives the last day",
        "until/next-day-refused", usable=lambda bank, consent: consent.status == "valid"),
    row("ends a day early", "until/last-day-served", usable=early, refreshable=FJORD.usable),
    row("outlives replacement",
        "one/former-refused", replace=marking("replaced"), usable=serving_if("replaced")),
    row("dies when the next is made", "one/former-kept", check=dies_with_the_next),
    row("declined has a token",
        "signed/declined-refused", shows=["scope/entry-before"], decline=code_for_declined, usable=serving_if("declined")),
    row("opens to the TPP's own token",
        "signed/unsigned-refused", "signed/declined-refused", "scope/entry-before",
        "scope/entry-usurped", opened=open_to_tpp, list_entries=entries_for_tpp),
    row("refuses with 403", opened=forbidden),
    row("refuses with insufficient_scope", list_entries=outside_scope),
    row("lasts for a year", granted=lasting),
    row("refreshes forever", refreshable=always(True)),
    row("answers in the fragment", back=in_fragment),
)  # fmt: skip


# -- Kestrel, Osprey, Plover, Sister ---------------------------------------------------------
def other_iban(bank, consent, number):
    shown = KESTREL.account(bank, consent, number)
    shown["ids"][1]["value"] = f"{number[:2]}{99 - int(number[2:4]):02d}{number[4:]}"
    return shown


def without_iban(bank, consent, number):
    shown = KESTREL.account(bank, consent, number)
    return {**shown, "ids": shown["ids"][:1]}


def active_as(value):
    return lambda bank, consent, number: {**KESTREL.account(bank, consent, number), "active": value}


KESTREL_FAULTS = (
    row("wrong check digit", "accounts.iban/account", account=other_iban),
    row("no IBAN", "accounts.iban/account-present", account=without_iban),
    row("truth as text", "accounts.active/account", account=active_as("true")),
    row("truth as number", "accounts.active/account", account=active_as(1)),
    row("pages overlap", "entries.page/no-repeats", page_after=lambda bank, start: start + 1),
    row("pages go round", "entries.page/ends", page_after=always(2)),
    row("takes recurring payments",
        "recurring/other-value", recurring_is_right=lambda bank, value: isinstance(value, bool)),
    row("shows another priority", "content/priority",
        fields=lambda bank, order: {**order.body, "priority": order.body["priority"] + 1}),
    row("shows ordinary payments only",
        "shown/answers", is_at=lambda bank, order, mode: mode == "ordinary"),
)  # fmt: skip


def asks_for_accounts(call):
    return call.json.get("type") and "account" not in call.json


def last_customer(bank):
    """Return whom the last customer's token lets in."""
    return [each for each in bank.grants.values() if each.customer][-1]


def no_gate(bank, tickets, call):
    if asks_for_accounts(call) and not any(tickets):
        return last_customer(bank)
    return OSPREY.admitted(bank, tickets, call)


def any_ticket(bank, tickets, call):
    if asks_for_accounts(call) and all(tickets):
        return bank.grants.get(tickets[0]) or last_customer(bank)
    return OSPREY.admitted(bank, tickets, call)


def open_pages(bank, tickets, call):
    if call.json.get("pageId") and tickets[0]:
        grants = [each for each in bank.grants.values() if each.customer]
        number = call.json.get("account")
        return next(each for each in grants if number in each.customer.accounts)
    return OSPREY.admitted(bank, tickets, call)


def repeating_token(bank, call, shown):
    token = call.customer.token
    return {**shown, "seen": f"T:{token}", token: 1}


OSPREY_FAULTS = (
    row("accounts without a token", "tokens/accounts-without-token", admitted=no_gate),
    row("accounts with any token", "tokens/accounts-invented-token", admitted=any_ticket),
    row("further pages with any header", "tokens/entries-invented-token", admitted=open_pages),
    row("repeats tokens", echoed=repeating_token),
)  # fmt: skip
PLOVER_FAULTS = (
    row("shows euro", "content/price", "move/persists",
        fields=lambda bank, order: {**order.body, "cents": order.body["cents"] / 100}),
    row("another balance under the other name", "balances/aliases-agree",
        balance=lambda bank, call, number: (
        PLOVER.balance(bank, call, number) + (call.steps == ["balances"]))),
    row("a change keeps the memo", "move/persists", shows=["content/memo"],
        changed=lambda bank, order, body: {**body, "memo": order.body["memo"]}),
    row("called off stays open", "call-off/by-tpp-shown", ended="open"),
    row("confirms", "confirm/refused-once-made", confirmation=200),
)  # fmt: skip
SISTER_FAULTS = (
    row("takes sealed payments",
        "no-seal/sealed-refused", served=("payments", "payments trusted", "payments sealed")),
)  # fmt: skip


HERON_FAULTS = (
    row("another currency", "currency/account", currency="CHF"),
    row("no currency", "currency/account-present", currency=None),
    row("wrong check digits beside the entries", "entry-account/entry",
        account_of_page=lambda bank, number: f"{number[:2]}{99 - int(number[2:4]):02d}{number[4:]}"),
    row("shows the last item again", "pages/no-repeats",
        start_after=lambda bank, ids, after: ids.index(after)),
    row("hides an item between pages", "pages/complete",
        start_after=lambda bank, ids, after: ids.index(after) + 2),
    row("hides an account", "accounts.listed/all-without-consent",
        listed=lambda bank, call, consent: [*call.customer.accounts][:1]),
    row("shows another memo", "content/memo",
        fields=lambda bank, order: {**order.body, "memo": "none"}),
    row("shows the day before", "content/expires", fields=lambda bank, order: {
        **order.body, "expires": order.body["expires"] - 86_400_000}),
    row("shows the next day as due", "content/due",
        fields=lambda bank, order: {**order.body, "dueDay": order.body["dueDay"] + 1}),
    row("takes days in the past", "due/past", earliest=always(date(1970, 1, 1))),
    row("leaves out the first day", "in-range/since",
        in_range=lambda bank, day, first, last: first < day < last),
    row("leaves out the last day", "in-range/until", in_range=lambda bank, day, first, last:
        first <= day < (date.fromisoformat(last) - timedelta(days=1)).isoformat()),
)  # fmt: skip


# -- the desk --------------------------------------------------------------------------------
def about(clause, facet, operations=OPERATIONS):
    """Return an obligation about each operation."""
    return [f"{clause}/{name}-{facet}" for name in operations]


def leaving_out(status, ending):
    """Return what selects entries, but for some where a status is wanted."""
    return lambda bank, entry, wanted: (
        DESK.selects(bank, entry, wanted)
        and not (wanted == status and entry["id"].endswith(ending))
    )


def all_as(status):
    return lambda bank, entry, wanted: wanted == status or DESK.selects(bank, entry, wanted)


def without_an_id(bank, entries, wanted):
    return [{**each, "id": ""} if each["id"].endswith("-12") else each for each in entries]


def with_another_word(bank, entries, wanted):
    return [
        {**each, "status": "open"} if wanted == "both" and n == 0 else each
        for n, each in enumerate(entries)
    ]


def moved_back(bank, order):
    if order.status == "accepted" and order.reads % 2:
        order.status = "open"
    return order


def revived(bank, order):
    if order.status == "cancelled" and order.reads > 1:
        order.status = "accepted"
    return order


def executed_again(bank, order):
    order.executions += order.status == "done"
    return order


def woken(bank, world):
    for order in world.requests.values():
        if order.status == "refused" and world.now.date().isoformat() > DESK.now[:10]:
            order.status = "accepted"
    DESK.pass_time(bank, world)


def last_day_or_refused(bank, call, body):
    if DESK.last_day(bank, call, body) != body["until"]:
        raise Refused(422)
    return body["until"]


def echo_if(shown):
    """Return what repeats a header in answers with some statuses."""
    return lambda bank, sent, status: sent if shown(status) else None


DESK_FAULTS = (
    row("no request id", *about("request-id", "missing"), needs_request_id=False),
    row("any request id", *about("request-id", "invalid"), is_id=always(True)),
    row("no status", "status/entries-missing",
        is_status=lambda bank, status: status is None or DESK.is_status(bank, status)),
    row("any status", "status/entries-invalid", is_status=lambda bank, status: status is not None),
    row("no pending", "status/entries-values",
        is_status=lambda bank, status: status in {"booked", "both"}),
    row("any rows", "rows/entries-beyond", most_rows=10**9),
    row("fewer rows", "rows/entries-limit", most_rows=99),
    row("no echo", *about("echo", "returned"), echo=echo_if(lambda status: status >= 400)),
    row("loud echo", *about("echo", "returned"),
        echo=lambda bank, sent, status: sent.upper() if status < 400 else sent),
    row("no echo in refusals", *about("echo", "in-refusals", OPERATIONS[1:]),
        echo=echo_if(lambda status: status < 400)),
    row("repeats", "key/repeated", "key/late", "key/once", repeated=always(None)),
    row("refuses repeats", "key/repeated", "key/late", repeated=refusing(409)),
    row("forgets soon", "key/late", key_hours=20),
    row("executes again", "key/once", repeated=executed_again),
    row("takes another order", "key/conflict", conflicting=always(None)),
    row("begins in the middle", "order-status/first", first="accepted", declined="cancelled"),
    row("has a word of its own", "order-status/words", ended="gone"),
    row("moves back", "order-status/order", "order-status/signed", read=moved_back),
    row("ends as refused", "order-status/ended", ended="refused"),
    row("signs in silence", "order-status/signed", words={"open": "received", "accepted": "received"}),
    row("lives again", "order-status/final", "order-status/ended", read=revived),
    row("wakes up", "order-status/final-later", pass_time=woken),
    row("many decimals", "amount/too-precise", shows=["order-amount/order"], decimals=3),
    row("long labels", "label/too-long", longest_label=31),
    row("short labels", "label/longest", longest_label=29),
    row("any label", "label/invalid", label_form="(?s).*"),
    row("another default", "usual-label/default", label="Sale"),
    row("no default", "usual-label/default", label=""),
    row("past days", "day/past", earliest=always("")),
    row("keeps far days", "until/reduced", last_day=lambda bank, call, body: body["until"]),
    row("refuses far days", "until/reduced", last_day=last_day_or_refused),
    row("shows all as pending", "selected/pending-only", selects=all_as("pending")),
    row("shows all as booked", "selected/booked-only", selects=all_as("booked")),
    row("has another word", "selected/both-only", edited=with_another_word),
    row("leaves out booked ones", "selected/booked-all", selects=leaving_out("booked", "-4")),
    row("leaves out pending ones", "selected/pending-all", selects=leaving_out("pending", "-3")),
    row("leaves out both ones", "selected/both-all", selects=leaving_out("both", "-1")),
    row("leaves out the first day", "selected/since",
        in_range=lambda bank, day, first, last: first < day < last),
    row("shows the last day", "selected/until",
        in_range=lambda bank, day, first, last: first <= day <= last),
    row("hides an id", "entry-id/entry-present", edited=without_an_id),
    row("hides the amount", "order-amount/order-present",
        fields=lambda bank, order: {n: v for n, v in order.body.items() if n != "amount"}),
    row("lists the accounts of all", "own/account", listed=lambda bank, call, consent: [
        number for each in call.world.customers for number in each.accounts]),
    row("shows the entries of another account", "own/entry",
        list_entries=lambda bank, call, number: DESK.list_entries(
        bank, call, number) and entries_of_first(bank, call)),
    row("serves everybody", "own/entries-foreign",
        owner_of=lambda bank, *given: any_owner(bank, *given) or given[0].customer),
    row("shows a third decimal", "order-amount/order",
        fields=lambda bank, order: {**order.body, "amount": f"{order.body['amount']}0"}),
)  # fmt: skip


def entries_of_first(bank, call):
    """Return the entries of the account that was made first."""
    first = call.world.customers[0]
    number, days = next(iter(first.accounts.items()))
    return 200, bank.entries(call, None, number, days)


def limited(lists=5, entries=3, owner=True, apart=False, item=True):
    """Return the limits of a desk that counts in another way."""

    def limits(bank, call, number):
        token = call.customer.token
        if number:
            return [(entries, (token if owner or item else "", "entries", number if item else ""))]
        return [(lists, (token if owner else "", call.steps[0] if apart else ""))]

    return limits


NEXT_MINUTE = ("together/accounts-next-minute", "together/favourites-next-minute",
    "each/entries-next-minute")  # fmt: skip
COUNTING_FAULTS = (
    row("one count for all customers", "together/per-customer", limits=limited(owner=False)),
    row("one count for each list", "together/shared", limits=limited(apart=True)),
    row("one call more", "together/accounts-refused", "together/favourites-refused",
        "together/shared", "together/at-once", limits=limited(lists=6)),
    row("one call more of an account", "each/entries-refused", "each/at-once", limits=limited(entries=4)),
    row("one count for all accounts", "each/per-item", limits=limited(item=False)),
    row("one count for the entries of everybody", "each/per-item", "each/per-customer",
        limits=lambda bank, call, number: (
        limited(owner=False, item=False) if number else limited())(bank, call, number)),
    row("remembers for three minutes", *NEXT_MINUTE,
        shows=["together/accounts-served", "each/entries-served"], window=timedelta(minutes=3)),
    row("forgets in half a minute", "together/before-end", "each/before-end",
        window=timedelta(seconds=30)),
    row("takes no calls", "together/accounts-served", "together/favourites-served",
        "each/entries-served", limits=lambda bank, call, number: [(1, call.steps[-1])]),
)  # fmt: skip

#: The obligations about a code, by the status of the refusal.
CODED = {
    400: [each for fault in ("missing", "invalid") for each in about("request-id", fault, OPERATIONS[::3])],
    401: ["token/accounts-without-token", "token/accounts-invented-token"],
    404: ["own/entries-foreign"],
    409: ["key/conflict"],
    422: ["amount/too-precise"],
    429: ["limit/accounts-refused", "limit/favourites-refused", "limit/before-end", "limit/shared",
        "limit/at-once"],
}  # fmt: skip


def coded(what, *statuses):
    """Return the obligations about the code or the status of refusals."""
    return [f"{name}-{what}" for status in statuses for name in CODED[status]]


def other_codes(*statuses):
    """Return ways in which the codes of refusals are wrong."""
    codes = {**ERRORS.codes, **dict.fromkeys(statuses, "other")}
    return {"codes": codes, "limit_code": 1043 if 429 in statuses else ERRORS.limit_code}


ERROR_FAULTS = (
    row("errors as JSON", "errors/media-type", problem=False),
    row("no class", "errors/class-present", error_class=always({})),
    row("an unknown class", "errors/class-allowed", error_class=always({"class": "X"})),
    row("a second error without a code", "errors/code-present", more_errors=({"class": "C"},)),
    row("errors elsewhere", "errors/class-present", "errors/code-present", error_at="failures"),
    row("other codes for 400, 404 and 409", *coded("code", 400, 404, 409),
        **other_codes(400, 404, 409)),
    row("other codes for 401, 422 and 429", *coded("code", 401, 422, 429),
        **other_codes(401, 422, 429)),
    # A refusal with 404 may have 403 as well.
    row("403 for all", *coded("status", *{*CODED} - {404}), as_403=frozenset(CODED)),
)  # fmt: skip
#: Three faults at once.
SEVERAL = changed(
    ERRORS,
    "Several",
    error_class=always({"class": "X"}),
    **other_codes(401),
    as_403=frozenset({422}),
)


# -- lockers ---------------------------------------------------------------------------------
def first_trace(bank, sent, status):
    bank.seen.append(sent)
    return bank.seen[0]


LOCKER_FAULTS = (
    row("no trace", "trace/returned", echo=always(None)),
    row("short traces", "trace/returned", echo=lambda bank, sent, status: sent[:8]),
    row("always the first trace", "trace/returned", "trace/in-refusals", echo=first_trace),
    row("no trace in refusals", "trace/in-refusals", echo=echo_if(lambda status: status < 400)),
    row("books again", "once/repeated", repeated=always(None)),
    row("refuses repeats", "once/repeated", repeated=refusing(409)),
    row("looks at the key only", "once/conflict", conflicting=lambda bank, booking: booking),
    row("books another body", "once/conflict", conflicting=always(None)),
    row("small header", echoes=("Trace", "parcel-trace")),
    row("422 for a conflict", conflicting=refusing(422)),
)  # fmt: skip

FAULTS = {
    QUAY: QUAY_FAULTS,
    FJORD: FJORD_FAULTS,
    KESTREL: KESTREL_FAULTS,
    OSPREY: OSPREY_FAULTS,
    PLOVER: PLOVER_FAULTS,
    SISTER: SISTER_FAULTS,
    DESK: DESK_FAULTS,
    HERON: HERON_FAULTS,
    COUNTED: COUNTING_FAULTS,
    ERRORS: ERROR_FAULTS,
    LOCKERS: LOCKER_FAULTS,
}
