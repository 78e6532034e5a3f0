"""The sound bank against the document, clause by clause."""

import base64
from datetime import date, timedelta

import pytest
from stdnum import iban, luhn

ACCOUNT = {"resource": "account", "entries": []}
CARD = {"resource": "card", "entries": []}
TODAY = date(2026, 9, 16)


def days(*back):
    """Name days before the world's first."""
    return [(TODAY - timedelta(days=n)).isoformat() for n in back]


def listed(guest):
    """Return the keys of all pages."""
    pages = guest.walk("/accounts", "accounts")
    return [row["iban"] for page in pages for row in page]


def operate(guest, operation, **how):
    """Call one of the four operations for the first holding."""
    key = guest.keys()[0]
    if operation == "consents":
        return guest.consent(key, **how)
    path = {"accounts": "/accounts"}.get(operation, f"/{operation}?iban={key}")
    return guest.get(path, **how)


OPERATIONS = ("accounts", "consents", "balances", "transactions")


def test_lists_what_is_eligible(world):
    """Current, active, online accounts and active, recently used cards are listed."""
    guest = world.customer(
        ACCOUNT,
        CARD,
        {**CARD, "traits": {"last-used": "2026-07-16"}},
        {**ACCOUNT, "traits": {"savings": True}},
        {**ACCOUNT, "traits": {"inactive": True}},
        {**ACCOUNT, "traits": {"offline": True}},
        {**CARD, "traits": {"last-used": "2026-07-15"}},
        {**CARD, "traits": {"inactive": True}},
        {**CARD, "traits": {"never-used": True}},
    )
    assert guest.keys()[:3] == listed(guest)


def test_lists_all_with_a_consent(world):
    """A consent for one account does not change the list."""
    guest = world.customer({**ACCOUNT, "count": 2}, {**CARD, "count": 2})
    before = listed(guest)
    guest.consent(guest.keys()[0])
    assert guest.keys() == before == listed(guest)


def test_identifiers(world):
    """Accounts have valid IBANs; no card identifier looks like a PAN."""
    keys = world.customer({**ACCOUNT, "count": 50}, {**CARD, "count": 50}).keys()
    assert all(iban.is_valid(key) for key in keys[:50])
    assert not any(luhn.is_valid(key) for key in keys[50:])
    assert len(set(keys)) == 100


def test_accounts_pages(world):
    """Twelve accounts are listed as five, five and two."""
    guest = world.customer({**ACCOUNT, "count": 12})
    pages = guest.walk("/accounts", "accounts")
    assert [len(page) for page in pages] == [5, 5, 2]
    assert guest.keys() == listed(guest)


def test_transactions_pages(world):
    """Forty transactions are listed as fifteen, fifteen and ten, newest first."""
    guest = world.customer({"resource": "account", "entries": days(*range(40, 0, -1))})
    key = guest.keys()[0]
    guest.consent(key)
    pages = guest.walk(f"/transactions?iban={key}", "transactions")
    assert [len(page) for page in pages] == [15, 15, 10]
    dates = [row["bookingDate"] for page in pages for row in page]
    assert days(*range(1, 41)) == dates


@pytest.mark.parametrize("asked", ["", "&dateFrom=2020-01-01"])
def test_depth(world, asked):
    """Ninety days back are shown and ninety-one are not, whatever is requested."""
    guest = world.customer({"resource": "account", "entries": days(0, 90, 91, 200)})
    key = guest.keys()[0]
    guest.consent(key)
    rows = guest.get(f"/transactions?iban={key}{asked}").json()["transactions"]
    assert days(0, 90) == [row["bookingDate"] for row in rows]


def test_depth_counts_from_the_local_day(bank):
    """Half an hour after midnight in Paris is another day, although not in UTC."""
    world = bank.world(now="2026-09-16T00:30:00+02:00")
    guest = world.customer({"resource": "account", "entries": days(90, 91)})
    key = guest.keys()[0]
    guest.consent(key)
    rows = guest.get(f"/transactions?iban={key}").json()["transactions"]
    assert days(90) == [row["bookingDate"] for row in rows]


def test_dates_filter(world):
    """Both ends of the requested dates are included."""
    guest = world.customer({"resource": "account", "entries": days(1, 2, 3, 4)})
    key = guest.keys()[0]
    guest.consent(key)
    path = f"/transactions?iban={key}&dateFrom={days(3)[0]}&dateTo={days(2)[0]}"
    rows = guest.get(path).json()["transactions"]
    assert days(2, 3) == [row["bookingDate"] for row in rows]


def test_extended_history_is_refused(world):
    """The extended history mode is not supported."""
    guest = world.customer(ACCOUNT)
    key = guest.keys()[0]
    guest.consent(key)
    query = {"iban": key, "scope": "aisp extended_transaction_history"}
    assert guest.get("/accounts/transactions", params=query).status_code == 403


@pytest.mark.parametrize("holding", [ACCOUNT, CARD])
def test_balances(world, holding):
    """Accounts and cards have three balances, in euro and of the three types."""
    guest = world.customer(holding)
    key = guest.keys()[0]
    guest.consent(key)
    rows = guest.get(f"/accounts/balances?iban={key}").json()["balances"]
    assert [row["balanceType"] for row in rows] == ["CLBD", "VALU", "OTHR"]
    assert {"EUR"} == {row["currency"] for row in rows}


def test_aliases_agree(world):
    """Every path of an operation shows the same rows."""
    guest = world.customer({"resource": "account", "entries": days(1, 2)})
    key = guest.keys()[0]
    guest.consent(key)
    for what, paths in {
        "balances": (f"/accounts/balances?iban={key}", f"/balances?iban={key}"),
        "transactions": (
            f"/accounts/transactions?iban={key}",
            f"/transactions?iban={key}",
            f"/accounts/{key}/transactions",
        ),
    }.items():
        seen = [guest.get(path).json()[what] for path in paths]
        assert all(seen[0] == rows for rows in seen)


@pytest.mark.parametrize("what", ["balances", "transactions"])
@pytest.mark.parametrize("holding", [ACCOUNT, CARD])
def test_consent_scope(world, what, holding):
    """Only the customer's own items that the consent names are served."""
    guest = world.customer({**holding, "count": 2})
    other = world.customer(holding)
    granted, kept = guest.keys()
    other.consent(*other.keys())
    assert guest.get(f"/{what}?iban={granted}").status_code == 403
    guest.consent(granted)
    keys = (granted, kept, *other.keys(), "FR7630001000000000000000000")
    statuses = [guest.get(f"/{what}?iban={key}").status_code for key in keys]
    assert statuses == [200, 403, 403, 404]


def test_consent_replaces(world):
    """A new consent replaces the former one."""
    guest = world.customer({**ACCOUNT, "count": 2})
    first, second = guest.keys()
    guest.consent(first)
    guest.consent(second)
    statuses = [guest.get(f"/balances?iban={key}").status_code for key in guest.keys()]
    assert statuses == [403, 200]


def test_consent_takes_eligible_items_only(world):
    """Savings accounts and other customers' accounts cannot be consented to."""
    guest = world.customer({**ACCOUNT, "traits": {"savings": True}})
    other = world.customer(ACCOUNT)
    assert guest.consent(*guest.keys()).status_code == 403
    assert guest.consent(*other.keys()).status_code == 403


def test_psu_identity(world):
    """The customer is named once there is a consent."""
    guest = world.customer(ACCOUNT)
    assert "PsuIdentity" not in guest.get("/accounts").json()
    guest.consent(*guest.keys())
    assert guest.name == guest.get("/accounts").json()["PsuIdentity"]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_batch_quota(world, operation):
    """Four batch accesses per local day are served, and four more the next day."""
    guest = world.customer(ACCOUNT)
    guest.consent(*guest.keys())

    def accepted():
        return operate(guest, operation, batch=True).is_success

    assert [accepted() for _ in range(5)] == [True] * 4 + [False]
    world.at("2026-09-16T23:59:30+02:00")
    assert not accepted()
    world.at("2026-09-17T00:00:30+02:00")
    assert [accepted() for _ in range(5)] == [True] * 4 + [False]


def test_batch_quota_is_per_method_and_customer(world):
    """A quota concerns one operation and one customer only."""
    guest, other = world.customer(ACCOUNT), world.customer(ACCOUNT)
    guest.consent(*guest.keys())
    for _ in range(4):
        guest.get("/accounts", batch=True)
    assert guest.get("/accounts", batch=True).status_code == 429
    assert other.get("/accounts", batch=True).status_code == 200
    for operation in OPERATIONS[1:]:
        assert operate(guest, operation, batch=True).is_success


def test_batch_quota_on_a_long_day(bank):
    """On a day of 25 hours the quota applies until local midnight."""
    world = bank.world(now="2026-10-25T12:00:00+01:00")
    guest = world.customer(ACCOUNT)
    for _ in range(4):
        guest.get("/accounts", batch=True)
    world.at("2026-10-25T23:30:00+01:00")
    assert guest.get("/accounts", batch=True).status_code == 429
    world.at("2026-10-26T00:00:30+01:00")
    assert guest.get("/accounts", batch=True).status_code == 200


def test_what_the_quota_does_not_count(world):
    """Attended calls, further pages and refused accesses are not counted."""
    guest = world.customer({**ACCOUNT, "count": 6})
    for _ in range(20):
        assert guest.get("/accounts").status_code == 200
        assert guest.get("/accounts?page=2", batch=True).status_code == 200
        assert guest.get("/accounts?page=x", batch=True).status_code == 400
        refused = guest.get(f"/balances?iban={guest.keys()[0]}", batch=True)
        assert refused.status_code == 403
    served = [guest.get("/accounts", batch=True).status_code for _ in range(5)]
    assert served == [200] * 4 + [429]
    assert guest.get("/accounts").status_code == 200
    assert guest.get("/accounts?page=2", batch=True).status_code == 200


@pytest.mark.parametrize("path", ["/trustedBeneficiaries", "/endUserIdentity"])
def test_unavailable_methods(world, path):
    """Unavailable operations are refused with and without a consent."""
    guest = world.customer(ACCOUNT)
    assert guest.get(path).status_code == 405
    guest.consent(*guest.keys())
    assert guest.get(path).status_code == 405


@pytest.mark.parametrize(
    ("moment", "status"),
    [
        ("2026-09-20T01:59:59+02:00", 200),
        ("2026-09-20T02:00:00+02:00", 503),
        ("2026-09-20T05:59:59+02:00", 503),
        ("2026-09-20T06:00:00+02:00", 200),
        ("2026-09-21T03:00:00+02:00", 200),
        # On a day of 25 hours the closure lasts five hours.
        ("2026-10-25T01:59:30+02:00", 200),
        ("2026-10-25T02:30:00+02:00", 503),
        ("2026-10-25T02:30:00+01:00", 503),
        ("2026-10-25T06:00:00+01:00", 200),
        # On a day of 23 hours it lasts three hours.
        ("2027-03-28T01:59:30+01:00", 200),
        ("2027-03-28T03:00:00+02:00", 503),
        ("2027-03-28T06:00:00+02:00", 200),
    ],
)
def test_maintenance(world, moment, status):
    """The bank is closed on Sunday from two to six local time; the control API is not."""
    guest = world.customer(ACCOUNT)
    assert world.at(moment).status_code == 200
    assert status == guest.get("/accounts").status_code


def test_tokens_are_needed(world):
    """Calls without a token, or with an unknown one, are refused."""
    guest = world.customer(ACCOUNT)
    for value in ("", "Bearer", "Bearer nobody", "Token x", "Basic !", "Bearer  "):
        headers = {"Authorization": value}
        answer = guest.http.get("/accounts", headers=headers)
        assert answer.status_code == 401
        assert {"status", "message"} == set(answer.json())


def test_credentials_never_authorise(world):
    """Neither Basic nor a login in a body is honoured."""
    guest = world.customer(ACCOUNT)
    pair = f"{guest.login}:{guest.password}".encode()
    basic = {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}
    assert guest.http.get("/accounts", headers=basic).status_code == 401
    body = {"login": guest.login, "password": guest.password, "accounts": guest.keys()}
    assert guest.http.put("/consents", json=body).status_code == 401


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?iban=",
        "?iban=%00%01%0a",
        "?iban=" + "A" * 10_000,
        "?iban=%D0%96%F0%9F%98%80",
        "?iban=%ff%fe",
        "?iban=FR76&page=abc",
        "?iban=FR76&page=0",
        "?iban=FR76&page=-1",
        "?iban=FR76&page=%C2%B2",
        "?" + "&".join(f"a{n}=1" for n in range(300)),
    ],
)
@pytest.mark.parametrize("what", ["balances", "transactions"])
def test_malformed_reads(world, what, query):
    """Malformed requests are refused with 400."""
    guest = world.customer(ACCOUNT)
    assert guest.get(f"/{what}{query}").status_code == 400
    assert guest.get(f"/accounts/{what}{query}").status_code == 400


@pytest.mark.parametrize(
    "day", ["2026-13-01", "20260901", "2026-W01-1", "x", "", "2026-9-1", "٢٠٢٦-٠٩-٠١"]
)
def test_malformed_dates(world, day):
    """Days are YYYY-MM-DD."""
    guest = world.customer(ACCOUNT)
    guest.consent(*guest.keys())
    query = {"iban": guest.keys()[0], "dateFrom": day}
    assert guest.get("/transactions", params=query).status_code == 400


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"  ",
        b"hello",
        b'{"accounts": ["FR',
        b"\xff\xfe",
        b'"text"',
        b"[]",
        b"null",
        b"{}",
        b'{"accounts": []}',
        b'{"accounts": "FR76"}',
        b'{"accounts": [1]}',
        b'{"accounts": [null]}',
        b'{"accounts": ' + b"[" * 100 + b"]" * 100 + b"}",
        b"[" * 30_000,
        b"[" * 30_000 + b"]" * 30_000,
        b'{"accounts": ["' + b"A" * 70_000 + b'"]}',
    ],
)
def test_malformed_consents(world, body):
    """An invalid consent is refused with 400, and changes nothing."""
    guest = world.customer(ACCOUNT)
    assert guest.call("PUT", "/consents", content=body).status_code == 400
    assert "PsuIdentity" not in guest.get("/accounts").json()


def test_unpaired_surrogates(world):
    """JSON can contain invalid Unicode; it then names no account."""
    guest = world.customer(ACCOUNT)
    body = b'{"accounts": ["\\ud800"]}'
    assert guest.call("PUT", "/consents", content=body).status_code == 403


def test_paths_and_verbs(world):
    """Unknown paths are 404, other methods 405 with the allowed ones."""
    guest = world.customer(ACCOUNT)
    assert guest.get("/nothing").status_code == 404
    assert guest.get("/" + "a" * 10_000).status_code == 404
    assert guest.get("/%ff%00").status_code == 404
    answer = guest.call("POST", "/accounts")
    assert answer.status_code == 405
    assert "GET" in answer.headers["Allow"]
    assert guest.get("/consents").headers["Allow"] == "PUT"


@pytest.mark.parametrize(
    ("base_url", "base"),
    [(None, "http://other.test:81"), ("https://b.example/", "https://b.example")],
)
def test_links_stay_on_the_host(open_bank, base_url, base):
    """Links use the host that was called, or the configured one."""
    guest = open_bank(base_url=base_url).world().customer({**ACCOUNT, "count": 6})
    links = guest.get("/accounts", headers={"Host": "other.test:81"}).json()["links"]
    assert {"self": f"{base}/accounts", "next": f"{base}/accounts?page=2"} == links


def test_links_repeat_what_was_asked(world):
    """The next page has the same dates."""
    guest = world.customer({"resource": "account", "entries": days(*range(20))})
    key = guest.keys()[0]
    guest.consent(key)
    pages = guest.walk(f"/accounts/{key}/transactions?dateFrom={days(16)[0]}", "transactions")
    assert [len(page) for page in pages] == [15, 2]


def test_demo_customers(bank):
    """The demo world is available at once, with two pages for Bob."""
    headers = {"Authorization": "Bearer demo-alice", "PSU-IP-Address": "192.0.2.7"}
    rows = bank.http.get("/accounts", headers=headers).json()["accounts"]
    assert [row["kind"] for row in rows] == ["account", "account", "card", "card"]
    headers["Authorization"] = "Bearer demo-bob"
    assert "next" in bank.http.get("/accounts", headers=headers).json()["links"]
    keys = [row["iban"] for row in rows[:1]]
    headers["Authorization"] = "Bearer demo-alice"
    bank.http.put("/consents", headers=headers, json={"accounts": keys})
    path = f"/transactions?iban={keys[0]}"
    assert "next" in bank.http.get(path, headers=headers).json()["links"]


def test_links_are_spelt_one_way(world):
    """A page has one URL, by whichever link, so that repetitions can be detected."""
    guest = world.customer({"resource": "account", "entries": days(*range(40))})
    key = guest.keys()[0]
    guest.consent(key)
    path = f"/accounts/transactions?iban={key}&dateTo={days(0)[0]}"
    second = guest.get(path).json()["links"]["next"]
    third = guest.get(second).json()["links"]["next"]
    assert second.replace("page=2", "page=3") == third
    assert third == guest.get(third).json()["links"]["self"]
