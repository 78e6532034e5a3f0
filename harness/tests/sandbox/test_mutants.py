"""Mutants break exactly what they declare, checked without the harness's rules.

Each facet has a small probe: True if the bank meets it, False if not, None if its control
fails. The kill matrix of the harness is another test; this one helps in writing mutants.
"""

import base64
import json
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import date, timedelta
from functools import partial

from rows import for_each
from stdnum import iban, luhn

from assay.sandbox.mutants import MUTANTS, NEUTRAL
from assay.sandbox.policies import SOUND

TODAY = date(2026, 9, 16)
DAYS = ["2026-09-15", "2026-09-14"]
ACCOUNT = {"resource": "account", "entries": DAYS}
CARD = {**ACCOUNT, "resource": "card"}
OPERATIONS = ("accounts", "consents", "balances", "transactions")
READ = {
    "balance": (ACCOUNT, "balances"),
    "outstanding": (CARD, "balances"),
    "transaction": (ACCOUNT, "transactions"),
    "slip": (CARD, "transactions"),
}
READING = ("accounts", "balances", "transactions")
FACETS = {}


def facet(*ids):
    """Register a probe; a probe of several facets gets the facet."""

    def enter(probe):
        FACETS.update({f"aisp/{name}": (probe, name) for name in ids})
        return probe

    return enter


def operate(guest, operation, **how):
    key = guest.keys()[0]
    if operation == "consents":
        return guest.consent(key, **how)
    path = "/accounts" if operation == "accounts" else f"/{operation}?iban={key}"
    path = path.replace("/balances", "/accounts/balances")
    return guest.get(path.replace("/tr", "/accounts/tr"), **how)


def body_of(answer):
    """Parse an accepted body; None if refused or no JSON."""
    if not answer.is_success:
        return None
    try:
        return answer.json()
    except json.JSONDecodeError:
        return None


def rows(answer, what):
    body = body_of(answer)
    return None if body is None else body[what]


def ready(bank, holding=ACCOUNT, **how):
    """Create a world, and a customer whose first item is consented to."""
    world = bank.world(**how)
    guest = world.customer(holding)
    if not guest.consent(guest.keys()[0]).is_success:
        return world, None
    return world, guest


def walked(guest, path, what):
    """Read a list until it ends, repeats or goes on too long."""
    pages, urls, url = [], set(), path
    while url and url not in urls and len(pages) < 9:
        urls.add(url)
        body = body_of(guest.get(url))
        if body is None:
            return None, False
        if body[what] and body[what] in pages:
            break
        pages.append(body[what])
        url = body["links"].get("next")
    return pages, url is None


def listed(guest):
    pages, ends = walked(guest, "/accounts", "accounts")
    if not ends:
        return None
    return [row["iban"] for page in pages for row in page if "iban" in row]


@facet(*(f"{operation}.available/answers" for operation in OPERATIONS))
def answers(bank, id):
    _, guest = ready(bank)
    operation = id.partition(".")[0]
    if operation == "consents":
        return guest is not None
    if guest is None:
        return None
    sent = [operate(guest, operation, batch=away) for away in (False, True)]
    if operation == "accounts":
        several = bank.world().customer({**ACCOUNT, "count": 6})
        several.consent(*several.keys())
        sent.append(several.get("/accounts?page=2"))
    if operation == "transactions":
        sent.append(guest.get(f"/transactions?iban={guest.keys()[0]}&dateTo={DAYS[0]}"))
    return all(answer.status_code < 500 for answer in sent)


@facet("accounts.available/refused-outside")
def refused_outside(bank, _):
    _, guest = ready(bank)
    codes = ("30001", "30004")
    hosts = [{"Host": f"www.{code}.live.sandbox.example"} for code in codes]
    here, there = (guest.get("/accounts", headers=host) for host in hosts)
    return here.is_success and not there.is_success


@facet(*(f"{operation}.available/survives-malformed" for operation in OPERATIONS))
def survives(bank, id):
    _, guest = ready(bank)
    operation = id.partition(".")[0]
    if guest is None or not operate(guest, operation).is_success:
        return None
    if operation == "accounts":
        sent = [guest.get("/accounts?page=abc")]
    elif operation == "consents":
        deep = b'{"accounts":' + b"[" * 100 + b"]" * 100 + b"}"
        bodies = (b"x", b'{"accounts":["FR', b'{"accounts":1}', b"", deep, b'"x"')
        sent = [guest.call("PUT", "/consents", content=body) for body in bodies]
    else:
        key = guest.keys()[0]
        path = f"/accounts/{operation}?iban="
        bad = ("%00%01", "A" * 10_000, "%D0%96", f"{key}&page=abc", f"{key}&dateFrom=no")
        sent = [guest.get(path + query) for query in bad]
    return all(answer.status_code < 500 for answer in sent)


@facet("consents.available/refuses-malformed")
def refuses_malformed(bank, _):
    _, guest = ready(bank)
    if guest is None:
        return None
    bodies = (b"hello", b'{"accounts":["FR')
    return not any(guest.call("PUT", "/consents", content=body).is_success for body in bodies)


@facet("balances.available/aliases-agree", "transactions.available/aliases-agree")
def aliases_agree(bank, id):
    _, guest = ready(bank)
    what = id.partition(".")[0]
    if guest is None or (main := rows(operate(guest, what), what)) is None:
        return None
    key = guest.keys()[0]
    paths = [f"/{what}?iban={key}"]
    if what == "transactions":
        paths.append(f"/accounts/{key}/transactions")
    return all(rows(guest.get(path), what) == main for path in paths)


@facet(
    *(
        f"{clause}/refused-{state}-consent"
        for clause in ("trusted-beneficiaries", "end-user-identity")
        for state in ("with", "without")
    )
)
def unavailable(bank, id):
    _, guest = ready(bank)
    if "without" in id:
        guest = bank.world().customer(ACCOUNT)
    path = "/trustedBeneficiaries" if id.startswith("trusted") else "/endUserIdentity"
    return None if guest is None else not guest.get(path).is_success


@facet("accounts.listing/all-without-consent", "accounts.listing/consented-with-consent")
def lists_what_it_owes(bank, id):
    guest = bank.world().customer({**ACCOUNT, "count": 2}, {**CARD, "count": 2})
    owed = guest.keys()
    if "without" not in id:
        owed = [owed[0], owed[-1]]
        if not guest.consent(*owed).is_success:
            return None
    keys = listed(guest)
    return None if keys is None else set(owed) <= set(keys)


@facet("accounts.listing/only-own")
def lists_its_own(bank, id):
    world = bank.world()
    guest, other = world.customer(ACCOUNT), world.customer(ACCOUNT)
    before = listed(guest)
    if not other.consent(*other.keys()).is_success:
        return None
    after = listed(guest)
    if not before or not after:
        return None
    return set(before) | set(after) <= set(guest.keys())


@facet(*(f"accounts.eligible/hides-{trait}" for trait in ("savings", "inactive")))
@facet("accounts.eligible/hides-offline")
def hides_accounts(bank, id):
    trait = id.rpartition("-")[2]
    guest = bank.world().customer(ACCOUNT, {**ACCOUNT, "traits": {trait: True}})
    keys = listed(guest)
    if not keys or guest.keys()[0] not in keys:
        return None
    return guest.keys()[1] not in keys


@facet(
    "cards.eligible/lists-recent",
    "cards.eligible/lists-just-inside",
    "cards.eligible/hides-just-outside",
    "cards.eligible/hides-inactive",
    "cards.eligible/hides-never-used",
)
def cards(bank, id):
    traits = {
        "lists-recent": {},
        "lists-just-inside": {"last-used": "2026-07-17"},
        "hides-just-outside": {"last-used": "2026-07-15"},
        "hides-inactive": {"inactive": True},
        "hides-never-used": {"never-used": True},
    }
    name = id.partition("/")[2]
    guest = bank.world().customer(ACCOUNT, {**CARD, "traits": traits[name]})
    keys = listed(guest)
    if not keys or guest.keys()[0] not in keys:
        return None
    return (guest.keys()[1] in keys) is name.startswith("lists")


@facet("cards.eligible/hides-outdated")
def outdated(bank, _):
    world = bank.world()
    guest = world.customer(ACCOUNT, {**CARD, "traits": {"last-used": "2026-07-18"}})
    if not guest.consent(*guest.keys()).is_success or set(guest.keys()) != set(listed(guest) or ()):
        return None
    world.at("2026-09-21T10:00:00+02:00")
    keys = listed(guest)
    return None if not keys or guest.keys()[0] not in keys else guest.keys()[1] not in keys


IMMEDIATE = {**CARD, "traits": {"immediate-debit": True}}


@facet("cards.delayed-debit/hides-immediate-debit")
def immediate_listed(bank, _):
    guest = bank.world().customer(ACCOUNT, CARD, IMMEDIATE)
    keys = listed(guest)
    if not keys or not set(guest.keys()[:2]) <= set(keys):
        return None
    return guest.keys()[2] not in keys


@facet("cards.delayed-debit/withholds-immediate-debit")
def immediate_served(bank, _):
    _, delayed = ready(bank, CARD)
    if delayed is None or not all(operate(delayed, what).is_success for what in READING[1:]):
        return None
    guest = bank.world().customer(IMMEDIATE)
    guest.consent(*guest.keys())
    return not any(operate(guest, what).is_success for what in READING[1:])


@facet(
    *(
        f"{what}.page-size/{part}"
        for what in ("accounts", "transactions")
        for part in ("first-page", "full-pages", "complete", "no-repeats", "ends")
    ),
    "transactions.page-size/exact",
)
def paging(bank, id):
    what, _, part = id.replace(".page-size/", " ").partition(" ")
    return all(paging_of(bank, what, part, exact) for exact in (False, True))


def paging_of(bank, what, part, exact):
    if what == "accounts":
        guest = bank.world().customer({**ACCOUNT, "count": 10 if exact else 12})
        size, owned, path = 5, guest.keys(), "/accounts"
    else:
        dates = [(TODAY - timedelta(days=n)).isoformat() for n in range(30 if exact else 40)]
        _, guest = ready(bank, {"resource": "account", "entries": dates})
        if guest is None:
            return None
        size, owned = 15, [entry["key"] for entry in guest.holdings[0]["entries"]]
        path = f"/accounts/transactions?iban={guest.keys()[0]}"
    pages, ends = walked(guest, path, what)
    if pages is None:
        return part not in {"ends", "exact"}
    pages = [page for page in pages if page]
    seen = Counter(row["iban" if what == "accounts" else "id"] for page in pages for row in page)
    return {
        "first-page": len(pages[0]) == size,
        "full-pages": all(len(page) == size for page in pages[1:-1]),
        "complete": set(owned) <= set(seen),
        "no-repeats": max(seen.values()) == 1,
        "ends": ends,
        "exact": not exact or len(pages) == 2,
    }[part]


@facet(
    "transactions.depth/default",
    "transactions.depth/asked-older",
    "transactions.depth/until-alone",
    "transactions.depth/later",
    "transactions.depth/local-day",
    "no-extended-history/gives-no-more",
)
def depth(bank, id):
    at = "00:30" if "local" in id else "10:00"
    dates = [(TODAY - timedelta(days=n)).isoformat() for n in (1, 20, 84, 90, 91, 100, 400)]
    holding = {"resource": "account", "entries": dates}
    world, guest = ready(bank, holding, now=f"2026-09-16T{at}:00+02:00")
    if guest is None:
        return None
    path = f"/accounts/transactions?iban={guest.keys()[0]}"
    control = rows(guest.get(path), "transactions")
    if not control:
        return None
    if "asked" in id:
        path += "&dateFrom=2020-01-01"
    if "until" in id:
        path += f"&dateTo={dates[1]}"
    if "later" in id:
        world.at("2026-09-23T10:00:00+02:00")
        dates = dates[:1] + dates
    if "extended" in id:
        path += "&scope=aisp+extended_transaction_history"
    further = {"asked-older": "&dateTo=2026-06-10", "until-alone": "&dateTo=2026-06-10"}
    wholly = re.sub("&dateTo=[0-9-]*", "", path) + further.get(id.partition("/")[2], "")
    pages = [rows(guest.get(url), "transactions") or [] for url in (path, wholly)]
    if id.endswith("/default"):
        _, guest = ready(bank, {**holding, "entries": dates[:1] * 15 + dates})
        pages += walked(guest, f"/transactions?iban={guest.keys()[0]}", "transactions")[0] or []
    shown = {row["bookingDate"] for page in pages for row in page}
    return not shown & set(dates[3 if "later" in id else 4 :])


@facet(*(f"euro/{kind}" for kind in READ))
@facet("balance-type/balance", "balance-type/balance-present", "outstanding-type/outstanding")
def fields(bank, id):
    rule, _, kind = id.partition("/")
    holding, what = READ[kind.partition("-")[0]]
    _, guest = ready(bank, holding)
    shown = None if guest is None else rows(operate(guest, what), what)
    if not shown:
        return None
    if rule == "euro":
        return {"EUR"} == {row["currency"] for row in shown}
    if kind.endswith("present"):
        return all("balanceType" in row for row in shown)
    kinds = {row["balanceType"] for row in shown if "balanceType" in row}
    return kinds <= {"CLBD", "VALU", "OTHR"}


@facet("iban/account", "iban/card", "iban/account-present", "iban/card-present")
def identifiers(bank, id):
    guest = bank.world().customer(ACCOUNT, CARD)
    shown = rows(guest.get("/accounts"), "accounts")
    if not shown:
        return None
    kind = id[5:].partition("-")[0]
    keys = [row.get("iban") for row in shown if row["kind"] == kind]
    if not keys:
        return None
    if id.endswith("present"):
        return None not in keys
    if kind == "account":
        return all(iban.is_valid(key) for key in keys if key)
    return not any(shows_pan(key) for key in keys if key)


def shows_pan(key):
    """Whether a PAN stands in an identifier or its base64 form, whole or without its middle."""
    texts = [key]
    with suppress(ValueError):
        texts.append(base64.urlsafe_b64decode(key).decode("ascii"))
    whole = (run for text in texts for run in re.findall(r"\d{13,19}", text))
    halved = any(re.search(r"\d{6}[X_]+\d{4}", text) for text in texts)
    return halved or any(luhn.is_valid(run) for run in whole)


@facet(
    *(
        f"consent.scope/{kind}-{part}"
        for kind in READ
        for part in ("granted", "refused", "before", "foreign", "usurped")
    )
)
def consent_scope(bank, id):
    kind, _, part = id.partition("/")[2].partition("-")
    holding, what = READ[kind]
    world = bank.world()
    guest, other = world.customer({**holding, "count": 2}), world.customer(holding)
    granted, kept = guest.keys()
    path = f"/accounts/{what}?iban="
    before = guest.get(path + granted)
    if not all((other.consent(*other.keys()).is_success, guest.consent(granted))):
        return None
    control = guest.get(path + granted)
    if part == "granted":
        return None if control.status_code >= 500 else control.is_success
    if body_of(control) is None:
        return None
    key = {"refused": kept, "foreign": other.keys()[0], "usurped": other.keys()[0]}.get(part)
    if part == "usurped":
        guest.consent(granted, key)
    answer = guest.get(path + key) if key else before
    return not answer.is_success and f'"{what}"' not in answer.text


@facet(
    "consent.effect/each-named",
    "consent.effect/later-served",
    "consent.effect/refused-grants-nothing",
    "consent.effect/refused-keeps",
    "consent.effect/malformed-grants-nothing",
    "consent.effect/beyond-limit-grants-nothing",
    "consent.effect/survives-lists",
)
def consent_effect(bank, id):
    part = id.partition("/")[2]
    guest = bank.world().customer({**ACCOUNT, "count": 3})
    first, second, third = guest.keys()
    guest.consent(first, second)
    served = {key: operate_on(guest, key) for key in (first, second, third)}
    if not served[first] or served[third]:
        return None
    if part == "each-named":
        return served[second]
    if part in {"malformed-grants-nothing", "survives-lists"}:
        answer = guest.call("PUT", "/consents", json={"accounts": None})
        answer = answer if answer.status_code >= 500 else guest.consent()
    elif part == "later-served":
        answer = guest.consent(third)
    elif part == "beyond-limit-grants-nothing":
        answer = guest.consent(third, batch=True) if exhausted(guest, "consents") else None
    else:
        answer = guest.consent(third, "FR1420041010050500013M02606")
    if answer is None or part == "survives-lists":
        return answer and answer.status_code < 500
    then = {"refused-keeps": first}.get(part, third)
    return operate_on(guest, then) is (part in {"refused-keeps", "later-served"})


def operate_on(guest, key):
    return guest.get(f"/accounts/balances?iban={key}").is_success


@facet(*(f"accounts.eligible/withholds-{state}" for state in ("savings", "inactive", "offline")))
def withheld(bank, id):
    state = id.partition("-")[2]
    guest = bank.world().customer(ACCOUNT, {**ACCOUNT, "traits": {state: True}})
    plain, hidden = guest.keys()
    if not guest.consent(plain).is_success or not operate(guest, "balances").is_success:
        return None
    guest.consent(plain, hidden)
    paths = (f"/accounts/{what}?iban={hidden}" for what in ("balances", "transactions"))
    return not any(guest.get(path).is_success for path in paths)


@facet(*(f"own-data/{kind}" for kind in ("account", "card", *READ)))
def own_data(bank, id):
    kind = id.partition("/")[2]
    holding, what = READ.get(kind, ({**ACCOUNT, "resource": kind}, "accounts"))
    world = bank.world()
    guest, other = (world.customer(holding) for _ in range(2))
    for customer in (guest, other):
        if not customer.consent(*customer.keys()).is_success:
            return None
        shown = rows(operate(customer, what), what)
        if not shown or {row["iban"] for row in shown} != set(customer.keys()):
            return False
    many = {**holding, "count": 6} if what == "accounts" else {**holding, "entries": DAYS * 8}
    rich = world.customer(many)
    rich.consent(*rich.keys())
    link = body_of(operate(rich, what))["links"].get("next")
    shown = rows(other.get(link), what) if link else None
    return not {row["iban"] for row in shown or ()} & set(rich.keys())


@facet(*(f"{what}.available/survives-unserved" for what in OPERATIONS[1:]))
def unserved(bank, id):
    what = id.partition(".")[0]
    world, guest = ready(bank)
    if guest is None or not operate(guest, what).is_success:
        return None
    key = world.customer(ACCOUNT).keys()[0]
    path = f"/accounts/{what}?iban={key}"
    answer = guest.consent(key) if what == "consents" else guest.get(path)
    return answer.status_code < 500


@facet("psu-identity/own-value")
def own_identity(bank, id):
    world = bank.world()
    shown = []
    for guest in (world.customer(ACCOUNT), world.customer(ACCOUNT)):
        guest.consent(*guest.keys())
        shown.append((body_of(guest.get("/accounts")) or {}).get("PsuIdentity"))
    return None in shown or shown[0] != shown[1]


@facet("psu-identity/disclosed-after", "psu-identity/withheld-before")
def identity(bank, id):
    guest = bank.world().customer(ACCOUNT)
    if "after" in id and not guest.consent(*guest.keys()).is_success:
        return None
    body = body_of(guest.get("/accounts"))
    return None if body is None else ("PsuIdentity" in body) is ("after" in id)


def batch(guest, operation):
    return operate(guest, operation, batch=True).is_success


def exhausted(guest, operation):
    """Use up a quota; False if four are not served, or a fifth is."""
    return guest is not None and [batch(guest, operation) for _ in range(5)] == [True] * 4 + [False]


@facet(
    *(
        f"batch-quota/{operation}-{part}"
        for operation in OPERATIONS
        for part in ("served", "refused", "next-day")
    )
)
def quota(bank, id):
    operation, _, part = id.partition("/")[2].partition("-")
    world, guest = ready(bank)
    if guest is None or not operate(guest, operation).is_success:
        return None
    served = [batch(guest, operation) for _ in range(4)]
    if part == "served":
        return all(served)
    if not all(served):
        return None
    refused = not batch(guest, operation)
    if part == "refused" or not refused:
        return refused if part == "refused" else None
    world.at("2026-09-17T00:00:30+02:00")
    return batch(guest, operation)


@facet("batch-quota/at-once")
def quota_at_once(bank, id):
    served = []
    for operation in OPERATIONS:
        _, guest = ready(bank)
        if guest is None or not all(batch(guest, operation) for _ in range(3)):
            continue
        with ThreadPoolExecutor(2) as pool:
            served.append(sum(pool.map(partial(batch, guest), [operation] * 2)))
    return max(served) <= 1 if served else None


@facet(*(f"{what}.available/at-once" for what in ("accounts", "balances", "transactions")))
def like_reads_at_once(bank, id):
    what = id.partition(".")[0]
    _, guest = ready(bank)
    if guest is None or not operate(guest, what).is_success:
        return None
    before = body_of(operate(guest, what))
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(partial(operate, guest), [what] * 2))
    return all(each.is_success and body_of(each) == before for each in both)


@facet("batch-quota/before-midnight", "batch-quota/long-day")
def quota_late(bank, id):
    noon, late = ("2026-10-25T12:00:00+01:00", "2026-10-25T23:30:00+01:00")
    if "before" in id:
        noon, late = ("2026-09-16T12:00:00+02:00", "2026-09-16T23:59:30+02:00")
    outcomes = []
    for operation in OPERATIONS:
        world, guest = ready(bank, now=noon)
        if exhausted(guest, operation):
            world.at(late)
            outcomes.append(not batch(guest, operation))
    return all(outcomes) if outcomes else None


@facet("batch-quota/per-method", "batch-quota/per-customer")
def quota_apart(bank, id):
    outcomes = []
    for operation in OPERATIONS:
        world, guest = ready(bank)
        other = world.customer(ACCOUNT)
        if not other.consent(*other.keys()).is_success:
            return None
        if not exhausted(guest, operation):
            continue
        if id.endswith("customer"):
            outcomes.append(batch(other, operation))
            continue
        others = [name for name in OPERATIONS if name != operation]
        if all(operate(guest, name).is_success for name in others):
            outcomes.extend(batch(guest, name) for name in others)
    return all(outcomes) if outcomes else None


@facet(*(f"online-unlimited/{operation}-unlimited" for operation in OPERATIONS))
def unlimited(bank, id):
    operation = id.partition("/")[2].partition("-")[0]
    _, guest = ready(bank)
    if guest is None or not operate(guest, operation).is_success:
        return None
    return all(operate(guest, operation).is_success for _ in range(20))


@facet("online-unlimited/not-counted", "online-unlimited/after-exhausted")
def attended(bank, id):
    outcomes = []
    for operation in OPERATIONS:
        _, guest = ready(bank)
        if guest is None or not operate(guest, operation).is_success:
            continue
        if "not-counted" in id:
            _, fresh = ready(bank)
            if not exhausted(fresh, operation):
                continue
            for _ in range(5):
                operate(guest, operation)
            outcomes.append(all(batch(guest, operation) for _ in range(4)))
        elif exhausted(guest, operation):
            outcomes.append(operate(guest, operation).is_success)
    return all(outcomes) if outcomes else None


@facet(*(f"redirect-only/{operation}" for operation in OPERATIONS))
def credentials(bank, id):
    operation = id.partition("/")[2]
    _, guest = ready(bank)
    if guest is None or not operate(guest, operation).is_success:
        return None
    anyone = operate(guest, operation, headers={"Authorization": ""}).is_success
    pair = {"login": guest.login, "password": guest.password}
    coded = base64.b64encode(f"{guest.login}:{guest.password}".encode()).decode()
    verb, path = "PUT" if operation == "consents" else "GET", f"/{operation}"
    query = {"iban": guest.keys()[0]} if operation in {"balances", "transactions"} else {}
    body = {"accounts": guest.keys()} if operation == "consents" else {}
    ways = (
        {"params": {**query, **pair}, "json": body},
        {"params": query, "json": {**body, **pair}},
        {"params": query, "json": body, "headers": {"Authorization": f"Basic {coded}"}},
    )
    return anyone or not any(guest.http.request(verb, path, **way).is_success for way in ways)


@facet("redirect-only/beside-token")
def credentials_beside_token(bank, _):
    """Beside a token, login and password serve no more than the consent does."""
    opened = []
    for what in READING[1:]:
        guest = bank.world().customer({**ACCOUNT, "count": 2})
        first, second = guest.keys()
        login = f"&login={guest.login}&password={guest.password}"
        guest.consent(first)
        if not guest.get(f"/accounts/{what}?iban={first}").is_success:
            return None
        opened.append(guest.get(f"/accounts/{what}?iban={second}{login}").is_success)
    return not any(opened)


@facet(
    *(
        f"token-required/{operation}-{which}"
        for operation in OPERATIONS
        for which in ("without-token", "invented-token")
    )
)
def token_required(bank, id):
    operation, _, which = id.partition("/")[2].partition("-")
    _, guest = ready(bank)
    if guest is None or not operate(guest, operation).is_success:
        return None
    own, middle = guest.token, len(guest.token) // 2
    headers = {"Authorization": ""}
    for altered in ("0000", f"{own[:-1]}~", f"{own[:middle]}~{own[middle + 1 :]}"):
        if which == "invented-token":
            headers = {"Authorization": f"Bearer {altered}"}
        if operate(guest, operation, headers=headers).is_success:
            return False
    if operation not in {"accounts", "transactions"}:
        return True
    headers = headers if which == "without-token" else {"Authorization": "Bearer 0000"}
    _, rich = ready(bank, {"resource": "account", "count": 6, "entries": DAYS * 8})
    return not rich.get(
        operate(rich, operation).json()["links"]["next"], headers=headers
    ).is_success


@facet(*(f"live-host/{what}-links" for what in ("accounts", "balances")))
@facet("live-host/transactions-links")
def links(bank, id):
    what = id.partition("/")[2].partition("-")[0]
    holding = {"resource": "account", "entries": ["2026-09-15"] * 20, "count": 6}
    _, guest = ready(bank, holding)
    body = None if guest is None else body_of(operate(guest, what))
    if body is None:
        return None
    return all(link.startswith(("http://bank.test/", "/")) for link in body["links"].values())


@facet(*(f"maintenance/{part}" for part in ("before", "after", "other-days")))
@facet("maintenance/short-night")
def maintenance(bank, id):
    moment = {
        "before": "2026-09-20T01:59:30+02:00",
        "after": "2026-09-20T06:00:30+02:00",
        "other-days": "2026-09-18T03:00:00+02:00",
        "short-night": "2027-03-28T06:00:30+02:00",
    }[id.partition("/")[2]]
    world, guest = ready(bank)
    if guest is None or not operate(guest, "accounts").is_success:
        return None
    world.at(moment)
    return operate(guest, "accounts").status_code < 500


@facet("well-formed/json", "well-formed/media-type")
def form(bank, id):
    guest = bank.world().customer({**ACCOUNT, "entries": ["2026-09-15"] * 16})
    answers = [operate(guest, one) for one in ("consents", "accounts", "balances", "transactions")]
    answers.append(guest.get(f"/transactions?page=2&iban={guest.keys()[0]}"))
    for answer in answers:
        if not answer.is_success or not answer.content:
            continue
        is_json = body_of(answer) is not None
        if id.endswith("json") and not is_json:
            return False
        if id.endswith("type") and is_json and "json" not in answer.headers["Content-Type"]:
            return False
    return True


@facet("consistent/same-twice")
def same_twice(bank, _):
    _, guest = ready(bank)
    answers = [operate(guest, what) for what in READING for _ in range(2)]
    return all(map(same, answers[::2], answers[1::2]))


@facet("consistent/unchanged-by-reading")
def reading_changes_nothing(bank, _):
    _, guest = ready(bank)
    answers = [operate(guest, what) for what in (*READING, *READING)]
    return all(map(same, answers[:3], answers[3:]))


def same(first, second):
    return first.is_success and first.json() == second.json()


EARLY, LATE = "2026-09-10", "2026-09-14"


def ranged(bank, *ranges):
    """Request five days in ranges; return the ages of what each shows."""
    dates = [(TODAY - timedelta(days=n)).isoformat() for n in range(1, 6)]
    _, guest = ready(bank, {"resource": "account", "entries": dates})
    key, shown = guest.keys()[0], []
    for first, last in ranges:
        asked = f"&dateFrom={dates[first - 1]}" if first else ""
        asked += f"&dateTo={dates[last - 1]}" if last else ""
        rows = guest.get(f"/transactions?iban={key}{asked}").json()["transactions"]
        shown.append({1 + dates.index(row["bookingDate"]) for row in rows})
    return shown


@facet("consistent/shorter-range")
def shorter_range(bank, _):
    """The days at the edges are not judged."""
    late, early = ranged(bank, (4, None), (None, 2))
    both = ranged(bank, (4, 2))[0]
    pages = [{1, 2, 3}] * 2
    _, guest = ready(bank, {"resource": "account", "entries": [LATE] * 20 + [EARLY] * 5})
    if guest is not None:
        shown, _ = walked(
            guest, f"/transactions?iban={guest.keys()[0]}&dateFrom={LATE}", "transactions"
        )
        pages = [{row["bookingDate"] for row in page} for page in shown or ()]
    return (
        late - {4} == {1, 2, 3}
        and early - {2} == {3, 4, 5}
        and both - {4, 2} == {3}
        and not any(EARLY in page for page in pages)
        and whole_in_ranges(bank)
    )


def whole_in_ranges(bank):
    """Whether a range of several pages has what the whole list has of its inner days."""
    dates = [(TODAY - timedelta(days=n)).isoformat() for n in range(1, 6)]
    _, guest = ready(bank, {"resource": "account", "entries": dates * 4})
    if guest is None:
        return True
    path = f"/transactions?iban={guest.keys()[0]}"
    lists = [walked(guest, url, "transactions")[0] for url in (path, f"{path}&dateTo={dates[1]}")]
    whole, ranged = (
        {row["id"] for page in pages or () for row in page if row["bookingDate"] < dates[1]}
        for pages in lists
    )
    return whole <= ranged


@facet("consistent/meeting-ranges")
def meeting_ranges(bank, _):
    return {1, 2, 3, 4, 5} == set().union(*ranged(bank, (None, 4), (4, 2), (2, None)))


@facet("consistent/smaller-consent")
def smaller_consent(bank, _):
    guest = bank.world().customer({**ACCOUNT, "count": 3})
    key, another, _ = guest.keys()
    shown = []
    for keys in ((key, another), (key,)):
        if not guest.consent(*keys).is_success:
            return None
        ids = [row["id"] for row in rows(operate(guest, "transactions"), "transactions")]
        list_ = body_of(operate(guest, "accounts"))
        shown.append({*ids, *(row["iban"] for row in list_["accounts"]), *list_} - {"links"})
    return shown[1] <= shown[0]


def holds(bank, obligation):
    """Probe one facet on one bank."""
    probe, name = FACETS[obligation]
    return probe(bank, name)


def test_ids_are_unique():
    """The ids of mutants and variants are unique."""
    names = [change.id for change in (*MUTANTS, *NEUTRAL)]
    assert len(names) == len(set(names))


@for_each("wrong", [*MUTANTS, *NEUTRAL])
def test_changes_change(wrong):
    """Each results in another bank, and is described in one sentence."""
    assert wrong.change(SOUND) != SOUND
    assert wrong.says
    assert "\n" not in wrong.says


def test_every_obligation_has_a_mutant():
    """Each facet is broken by a mutant that breaks nothing else; a higher limit is one at once, too."""
    at_once = {"aisp/batch-quota/at-once"}
    broken = [mutant.breaks - at_once or mutant.breaks for mutant in MUTANTS]
    alone = {min(breaks) for breaks in broken if len(breaks) == 1}
    assert set(FACETS) == alone


@for_each("obligation", FACETS)
def test_the_sound_bank_keeps_all(bank, obligation):
    """On the sound bank no probe is red or inconclusive."""
    assert holds(bank, obligation) is True


@for_each("mutant", MUTANTS)
def test_mutants_break_what_they_say(open_bank, mutant):
    """Each facet that a mutant declares turns red."""
    bank = open_bank(policies=mutant.change(SOUND))
    assert {False} == {holds(bank, obligation) for obligation in mutant.breaks}
