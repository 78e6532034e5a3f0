"""The STET 1.4.0 dialect of the sandbox bank: every operation, in both directions."""

import json
import os
import re
import subprocess
import sys
from io import BytesIO

import httpx
import pytest
from click.testing import CliRunner
from rows import for_each

from assay.cli.serve import command
from assay.sandbox.app import make_app
from assay.sandbox.dialects import BASE_PATHS, DIALECTS
from assay.sandbox.dialects.stet.values import (
    UNFIT,
    OpaqueIds,
    calendar_day,
    find,
    to_bank_query,
    with_value,
)
from assay.sandbox.payments.terms import ABSENT

HOST, ROOT = "http://bank.test", "/stet/psd2/v1"
ACCOUNT = {"resource": "account", "entries": ["2026-09-15", "2026-09-10", "2026-09-01"]}
CARD = {"resource": "card", "entries": ["2026-09-15"]}
HAL = "application/hal+json;charset=utf-8"


def href(links, name):
    return links[name]["href"]


def test_the_table_names_every_dialect():
    """Every dialect has a base path, and wraps an application."""
    assert {"stet": ROOT} == dict(BASE_PATHS)
    assert set(BASE_PATHS) == set(DIALECTS)


def test_accounts(stet):
    """The list has IBANs of accounts and encrypted PANs of cards, without links."""
    guest = stet.world.customer(ACCOUNT, CARD)
    answer = stet.get(guest, "/accounts", headers={"X-Request-ID": "r-17"})
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, HAL)
    assert answer.headers["X-Request-ID"] == "r-17"
    account, card = answer.json()["accounts"]
    iban, pan = guest.keys()
    assert {
        "resourceId": account["resourceId"],
        "accountId": {"iban": iban},
        "cashAccountType": "CACC",
        "name": "Compte courant 2",
        "currency": "EUR",
        "psuStatus": "Account Holder",
        "_links": {},
    } == account
    assert card["cashAccountType"] == "CARD"
    assert {"other": {"identification": pan, "schemeName": "CPAN", "issuer": "30001"}} == card[
        "accountId"
    ]
    assert {"self": {"href": f"{HOST}{ROOT}/accounts"}} == answer.json()["_links"]


def test_resource_ids_are_opaque(stet):
    """An identifier is short and stable, and does not contain the IBAN."""
    guest = stet.world.customer(ACCOUNT, CARD)
    ids = stet.ids(guest)
    assert ids == stet.ids(guest)
    for opaque, key in zip(ids, guest.keys(), strict=True):
        assert re.fullmatch(r"[0-9a-f]{32}", opaque)
        assert key not in opaque
    assert set(ids).isdisjoint(OpaqueIds().issue(key) for key in guest.keys())


def test_nothing_to_list(stet):
    """A customer without items gets 204; a page after the last is an empty list."""
    nobody, guest = stet.world.customer(), stet.world.customer(ACCOUNT)
    empty = stet.get(nobody, "/accounts")
    assert (empty.status_code, empty.content) == (204, b"")
    assert "Content-Type" not in empty.headers
    after = stet.get(guest, "/accounts?page=2")
    assert (after.status_code, after.json()["accounts"]) == (200, [])


def test_empty_but_named(stet):
    """An empty list that names the customer has a body."""
    guest, _ = stet.ready(CARD)
    stet.world.at("2026-12-16T10:00:00+01:00")
    answer = stet.get(guest, "/accounts")
    assert answer.status_code == 200
    assert (answer.json()["accounts"], answer.json()["connectedPsu"]) == ([], guest.name)


def test_connected_psu(stet):
    """The customer is named once there is a consent."""
    guest = stet.world.customer(ACCOUNT)
    assert "connectedPsu" not in stet.get(guest, "/accounts").json()
    stet.consent(guest, {"iban": guest.keys()[0]})
    assert stet.get(guest, "/accounts").json()["connectedPsu"] == guest.name


def test_walk_accounts(stet):
    """Links lead through all pages of the list, and no further."""
    guest = stet.world.customer({**ACCOUNT, "count": 7}, {**CARD, "count": 5})
    pages = stet.walk(guest, "/accounts", "accounts")
    assert [5, 5, 2] == [len(page) for page in pages]
    shown = [row["accountId"] for page in pages for row in page]
    assert guest.keys() == [
        account.get("iban") or account["other"]["identification"] for account in shown
    ]


def test_links_of_pages(stet):
    """Pages link to first and next, then also to prev; the last links to last instead of next."""
    guest = stet.world.customer({**ACCOUNT, "count": 12})
    first, second, third = (
        stet.get(guest, f"/accounts{query}").json()["_links"]
        for query in ("", "?page=2", "?page=3")
    )
    assert {"self", "next", "first"} == set(first)
    assert {"self", "next", "first", "prev"} == set(second)
    assert {"self", "first", "prev", "last"} == set(third)
    assert href(second, "prev") == href(first, "first") == f"{HOST}{ROOT}/accounts?page=1"
    assert href(third, "last") == href(second, "next") == f"{HOST}{ROOT}/accounts?page=3"


def test_balances(stet):
    """Balances have a name, a type and a textual amount."""
    guest, ids = stet.ready(ACCOUNT, CARD)
    for opaque in ids:
        answer = stet.get(guest, f"/accounts/{opaque}/balances")
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, HAL)
        rows = answer.json()["balances"]
        assert ["CLBD", "VALU", "OTHR"] == [row["balanceType"] for row in rows]
        assert all({"name", "balanceType", "balanceAmount"} == set(row) for row in rows)
        assert all(re.fullmatch(r"-?\d+\.\d\d", row["balanceAmount"]["amount"]) for row in rows)
        assert {"EUR"} == {row["balanceAmount"]["currency"] for row in rows}
        here = f"{HOST}{ROOT}/accounts/{opaque}"
        assert {
            "self": {"href": f"{here}/balances"},
            "parent-list": {"href": f"{HOST}{ROOT}/accounts"},
            "transactions": {"href": f"{here}/transactions"},
        } == answer.json()["_links"]


def test_transactions(stet):
    """Transactions have a positive amount and an indicator of the direction."""
    guest, ids = stet.ready(ACCOUNT)
    rows = stet.get(guest, f"/accounts/{ids[0]}/transactions").json()["transactions"]
    own = {entry["key"] for entry in guest.holdings[0]["entries"]}
    assert own == {row["entryReference"] for row in rows}
    assert ["2026-09-15", "2026-09-10", "2026-09-01"] == [row["bookingDate"] for row in rows]
    for row in rows:
        assert set(row) == {
            "entryReference",
            "transactionAmount",
            "creditDebitIndicator",
            "status",
            "bookingDate",
            "remittanceInformation",
        }
        assert re.fullmatch(r"\d+\.\d\d", row["transactionAmount"]["amount"])
        assert (row["status"], len(row["remittanceInformation"])) == ("BOOK", 1)
    assert {"DBIT", "CRDT"} >= {row["creditDebitIndicator"] for row in rows}


def test_signs_are_the_banks(stet):
    """What the bank books as negative is a debit."""
    guest, ids = stet.ready({"resource": "account"})
    own = httpx.Client(transport=httpx.WSGITransport(app=make_app()), base_url=HOST)
    made = own.post("/assay-control/1/worlds", json={}).json()["world"]
    twin = own.post(
        f"/assay-control/1/worlds/{made}/customers", json={"holdings": [{"resource": "account"}]}
    ).json()
    key, headers = twin["holdings"][0]["key"], {"Authorization": f"Bearer {twin['token']}"}
    own.put("/consents", json={"accounts": [key]}, headers=headers)
    theirs = own.get(f"/transactions?iban={key}", headers=headers).json()["transactions"]
    ours = stet.get(guest, f"/accounts/{ids[0]}/transactions").json()["transactions"]
    signs = {"DBIT": "-", "CRDT": ""}
    assert [row["amount"] for row in theirs] == [
        signs[row["creditDebitIndicator"]] + row["transactionAmount"]["amount"] for row in ours
    ]
    assert {"DBIT", "CRDT"} == {row["creditDebitIndicator"] for row in ours}


def test_walk_transactions(stet):
    """Links lead through all pages of a history, and keep the requested period."""
    days = [f"2026-08-{day:02d}" for day in range(1, 31)]
    guest, ids = stet.ready({"resource": "account", "entries": days})
    path = f"/accounts/{ids[0]}/transactions"
    assert [15, 15] == [len(page) for page in stet.walk(guest, path, "transactions")]
    asked = f"{path}?dateFrom=2026-08-03&dateTo=2026-08-29"
    pages = stet.walk(guest, asked, "transactions")
    assert days[2:28][::-1] == [row["bookingDate"] for page in pages for row in page]
    link = href(stet.get(guest, asked).json()["_links"], "next")
    assert link == f"{HOST}{ROOT}{asked}&page=2"


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("dateFrom=2026-09-10", ["2026-09-15", "2026-09-10"]),
        ("dateFrom=2026-09-10T00:00:00.000", ["2026-09-15", "2026-09-10"]),
        ("dateFrom=2026-09-10T00:00:00.000%2B0200", ["2026-09-15", "2026-09-10"]),
        ("dateFrom=2026-09-10T00:00:00%2B02:00", ["2026-09-15", "2026-09-10"]),
        ("dateTo=2026-09-10", ["2026-09-01"]),
        ("dateTo=2026-09-11", ["2026-09-10", "2026-09-01"]),
        ("dateTo=2026-09-11T00:00:00.000%2B02:00", ["2026-09-10", "2026-09-01"]),
        ("dateFrom=2026-09-10&dateTo=2026-09-15", ["2026-09-10"]),
        ("dateTo=0001-01-01", []),
        ("dateTo=9999-12-31", ["2026-09-15", "2026-09-10", "2026-09-01"]),
    ],
)
def test_periods(stet, query, shown):
    """A period includes its first day and excludes its last."""
    guest, ids = stet.ready(ACCOUNT)
    answer = stet.get(guest, f"/accounts/{ids[0]}/transactions?{query}")
    assert shown == [row["bookingDate"] for row in answer.json()["transactions"]]


@pytest.mark.parametrize(
    "text",
    [
        "yesterday",
        "20260910",
        "2026-9-10",
        "2026-02-30",
        "2026-09-10T25:00:00",
        "2026-09-10T10:00:00 0200",
        "2026-09-10\n",
        "2026-W38-3",
        "",
    ],
)
def test_dates_that_do_not_read(stet, text):
    """An invalid date is passed to the bank, which refuses it."""
    guest, ids = stet.ready(ACCOUNT)
    assert calendar_day(text) is None
    for name in ("dateFrom", "dateTo"):
        answer = stet.get(guest, f"/accounts/{ids[0]}/transactions", params={name: text})
        assert answer.status_code == 400


def test_queries_stay_as_they_are():
    """A query keeps everything but its two dates."""
    junk = "page=minus+one&page=%E2%98%83&%00=%00&limit=9&&x&scope=aisp%20extended"
    assert junk == to_bank_query(junk)
    assert f"dateTo=2026-09-09&{junk}" == to_bank_query(f"dateTo=2026-09-10&{junk}")


def test_extended_history(stet):
    """The extended history is requested as at the bank itself, and refused."""
    guest, ids = stet.ready(ACCOUNT)
    scope = {"scope": "aisp extended_transaction_history"}
    assert stet.get(guest, f"/accounts/{ids[0]}/transactions", params=scope).status_code == 403


def test_consent_is_what_both_lists_name(stet):
    """Consent is given to the accounts in both lists."""
    guest = stet.world.customer(ACCOUNT, ACCOUNT, CARD)
    accounts = [row["accountId"] for row in stet.rows(guest)]
    answer = stet.consent(guest, *accounts, transactions=[accounts[0], accounts[2]])
    assert (answer.status_code, answer.json()) == (201, {})
    for opaque, status in zip(stet.ids(guest), (200, 403, 200), strict=True):
        assert status == stet.get(guest, f"/accounts/{opaque}/balances").status_code
        assert status == stet.get(guest, f"/accounts/{opaque}/transactions").status_code


@pytest.mark.parametrize(
    "members",
    [
        {"balances": ...},
        {"transactions": ...},
        {"trustedBeneficiaries": ...},
        {"psuIdentity": ...},
        {"psuIdentity": "yes"},
        {"balances": 42},
        {"balances": "FR7630001100022004121950842"},
        {"balances": {}},
        {"balances": []},
        {"balances": [42]},
        {"balances": ["FR7630001100022004121950842"]},
        {"balances": [{}]},
        {"balances": [{"iban": None}]},
        {"balances": [{"iban": ["x"]}]},
        {"balances": [{"other": "x"}]},
        {"balances": [{"other": {"schemeName": "CPAN"}}]},
    ],
)
def test_consents_that_are_none(stet, members):
    """A consent needs all mandatory members, and valid account identifications."""
    guest = stet.world.customer(ACCOUNT)
    assert stet.consent(guest, {"iban": guest.keys()[0]}, **members).status_code == 400
    assert "connectedPsu" not in stet.get(guest, "/accounts").json()


def test_consent_to_somebody_elses(stet):
    """A consent to another customer's account is refused."""
    other, guest = stet.world.customer(ACCOUNT), stet.world.customer(ACCOUNT)
    assert stet.consent(guest, {"iban": other.keys()[0]}).status_code == 403


def test_refusals(stet):
    """A refusal has a status, four letters, a text and a path."""
    guest = stet.world.customer(ACCOUNT)
    path = f"{ROOT}/accounts/{stet.ids(guest)[0]}/balances"
    answer = stet.get(guest, f"{HOST}{path}")
    assert answer.status_code == 403
    assert answer.headers["Content-Type"] == "application/json"
    assert {
        "status": 403,
        "error": "the consent does not cover this",
        "message": "NGAC",
        "path": path,
    } == answer.json()


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/accounts?page=0", 400, "FF01"),
        ("GET", "/accounts?page=last", 400, "FF01"),
        ("GET", "/accounts/{iban}/balances", 404, "NAAC"),
        ("GET", "/accounts/UNKNOWN/transactions", 404, "NAAC"),
        ("GET", "/accounts//balances", 400, "FF01"),
        ("GET", "/accounts/a b/balances", 400, "FF01"),
        ("GET", "/accounts/%00%0d%0a/balances", 400, "FF01"),
        ("GET", f"/accounts/{'9' * 10_000}/balances", 400, "FF01"),
        ("GET", "/accounts/x%2F..%252f%C3%A9'%22%3C%3E/transactions", 400, "FF01"),
        ("GET", "/trusted-beneficiaries", 501, "NIMP"),
        ("GET", "/end-user-identity", 501, "NIMP"),
        ("GET", "/nothing", 404, "NAAC"),
        ("GET", "/accounts/", 404, "NAAC"),
        ("GET", "", 404, "NAAC"),
        ("DELETE", "/accounts", 405, "NIMP"),
        ("POST", "/accounts/UNKNOWN/balances", 405, "NIMP"),
        ("GET", "/consents", 405, "NIMP"),
    ],
)
def test_refused_calls(stet, method, path, status, code):
    """A faulty call is answered as at the bank itself."""
    guest = stet.world.customer(ACCOUNT)
    answer = stet.call(guest, method, path.format(iban=guest.keys()[0]))
    assert (status, code) == (answer.status_code, answer.json()["message"])
    assert status == answer.json()["status"]
    assert len(answer.json()["path"]) <= 140


@pytest.mark.parametrize(
    "path",
    [
        "/accounts",
        "/balances?iban={iban}",
        "/accounts/balances?iban={iban}",
        "/accounts/{iban}/transactions",
        "/stet/psd2/v1accounts",
        f"{ROOT}/balances?iban={{iban}}",
        f"{ROOT}/accounts/balances?iban={{iban}}",
        f"{ROOT}/trustedBeneficiaries",
    ],
)
def test_the_banks_own_paths_lead_nowhere(stet, path):
    """The bank's own paths do not exist in the dialect."""
    guest, _ = stet.ready(ACCOUNT)
    answer = stet.get(guest, HOST + path.format(iban=guest.keys()[0]))
    assert answer.status_code == 404


def test_an_iban_in_the_query_opens_nothing(stet):
    """A query cannot override the account in the path."""
    guest, ids = stet.ready(ACCOUNT)
    path = f"/accounts/UNKNOWN/balances?iban={guest.keys()[0]}"
    assert stet.get(guest, path).status_code == 404
    assert stet.get(guest, f"/accounts/{ids[0]}/balances?iban=UNKNOWN").status_code == 200


def test_without_a_token(stet):
    """A call without a token is refused with its challenge."""
    for path in ("/accounts", "/payment-requests/x"):
        answer = stet.http.get(f"{ROOT}{path}")
        assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
        assert answer.json()["status"] == 401


def test_the_quota_is_too_many_requests(stet):
    """The fifth batch access is 403 with TMRQ; attended accesses are unlimited."""
    guest, ids = stet.ready(ACCOUNT)
    path = f"/accounts/{ids[0]}/balances"
    answers = [stet.get(guest, path, batch=True) for _ in range(5)]
    assert [200, 200, 200, 200, 403] == [answer.status_code for answer in answers]
    refused = answers[-1].json()
    assert (refused["status"], refused["message"]) == (403, "TMRQ")
    assert stet.get(guest, path).status_code == 200


def test_maintenance(stet):
    """A closed bank answers 503 with the time to wait."""
    guest = stet.world.customer(ACCOUNT)
    stet.world.at("2026-09-20T03:00:00+02:00")
    answer = stet.get(guest, "/accounts")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "3600")


def test_head(stet):
    """HEAD has the headers of GET, and no body."""
    guest = stet.world.customer(ACCOUNT)
    whole, head = stet.get(guest, "/accounts"), stet.call(guest, "HEAD", "/accounts")
    assert (head.status_code, head.content) == (200, b"")
    assert str(len(whole.content)) == head.headers["Content-Length"]


@for_each("id", ["", "x" * 71, "a b", "a\r\nSet-Cookie: b", "é"])
def test_request_ids_that_are_none(id):
    """A request id is returned only if it fits into a header and the standard's length."""
    status, headers, _ = call("GET", "/accounts", HTTP_X_REQUEST_ID=id)
    assert status == 401
    assert "X-Request-ID" not in dict(headers)


def call(method, path, body=b"", **environ):
    """Call with arbitrary values; return status, headers and body."""
    begun = []
    parts = DIALECTS["stet"](make_app())(
        {
            "REQUEST_METHOD": method,
            "PATH_INFO": ROOT + path,
            "QUERY_STRING": "",
            "CONTENT_LENGTH": str(len(body)),
            "SERVER_NAME": "bank.test",
            "SERVER_PORT": "80",
            "wsgi.url_scheme": "http",
            "wsgi.input": BytesIO(body),
            **environ,
        },
        lambda line, headers, error=None: begun.append((line, headers)),
    )
    line, headers = begun[-1]
    return int(line[:3]), headers, b"".join(parts)


def test_create(stet, payer, tpp, write):
    """A new payment is 201, with its location in a header and a link for the customer."""
    request, _ = write
    answer = stet.call(tpp, "POST", "/payment-requests", json=request(payer))
    assert (answer.status_code, answer.headers["Content-Type"]) == (201, HAL)
    body = answer.json()
    assert {"appliedAuthenticationApproach", "_links"} == set(body)
    assert body["appliedAuthenticationApproach"] == "REDIRECT"
    assert href(body["_links"], "consentApproval").startswith(f"{HOST}/consent-approval/")
    place = f"{HOST}{ROOT}/payment-requests/"
    assert re.fullmatch(re.escape(place) + "[0-9a-f]{24}", answer.headers["Location"])


def test_a_host_that_is_no_header(write):
    """There is no Location if the caller's host does not fit into a header."""
    _, headers, listed = call("GET", "/accounts", HTTP_AUTHORIZATION="Bearer demo-alice")
    account = json.loads(listed)["accounts"][0]["accountId"]
    request, _ = write
    body = {**request(None, debtorAccount=account)}
    for host, given in (("bank.test", True), ("b\xe9", False), ("b\r\nX: y", False)):
        status, headers, _ = call(
            "POST",
            "/payment-requests",
            json.dumps(body).encode(),
            HTTP_AUTHORIZATION="Bearer demo-tpp",
            HTTP_HOST=host,
        )
        assert (status, given) == (201, "Location" in dict(headers))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"requestedExecutionDate": "2026-09-18"},
        {"requestedExecutionDate": "2026-09-18T00:00:00.000+02:00"},
        {"supplementaryData": {"successfulReportUrl": "https://tpp.example/yes"}},
        {"paymentTypeInformation": {"categoryPurpose": "CASH", "localInstrument": "INST"}},
        {"debtor": {"name": "Camille Fictif"}, "purpose": "TRPT"},
    ],
)
def test_reads_back_as_created(stet, payer, tpp, write, changes):
    """A payment is shown as it was sent, with its identifier and status."""
    request, _ = write
    body = request(payer, **changes)
    link = stet.pay(tpp, body)
    shown = stet.get(tpp, link).json()
    assert {"self": {"href": link}} == shown["_links"]
    payment = shown["paymentRequest"]
    assert link.rpartition("/")[2] == payment.pop("resourceId")
    assert payment.pop("paymentInformationStatus") == "ACTC"
    assert body == payment


def test_only_what_the_standard_has_is_given_back(stet, payer, tpp, write):
    """Unknown members of a request, such as a password, are not shown."""
    request, _ = write
    link = stet.pay(tpp, request(payer, password="hunter2", note="x"))
    assert {"password", "note"}.isdisjoint(stet.payment(tpp, link))


def kind(stet, guest, tpp, body):
    """Return the type that the bank gave a payment, from its screens; None if refused."""
    answer = stet.call(tpp, "POST", "/payment-requests", json=body)
    if not answer.is_success:
        return None
    page = stet.http.get(href(answer.json()["_links"], "consentApproval"), follow_redirects=True)
    for fields in (
        {"login": guest.login, "password": guest.password},
        {"factor": "sms"},
        {"code": guest.factors["sms"]},
    ):
        action = re.search(r'action="([^"]+)"', page.text)[1]
        page = stet.http.post(action, data=fields, follow_redirects=True)
    return re.search(r"<dt>What</dt><dd><bdi>([^<]+)</bdi>", page.text)[1]


TRANSFER, LATER, INSTANT = (
    "Credit transfer",
    "Credit transfer on a later day",
    "Instant credit transfer",
)
INST = {"serviceLevel": "SEPA", "categoryPurpose": "DVPM", "localInstrument": "INST"}


@pytest.mark.parametrize(
    ("changes", "taken"),
    [
        ({}, TRANSFER),
        ({"requestedExecutionDate": "2026-09-17"}, LATER),
        ({"requestedExecutionDate": "2026-09-17T00:00:00+02:00"}, LATER),
        ({"requestedExecutionDate": "2026-09-16T12:00:00+02:00"}, TRANSFER),
        ({"requestedExecutionDate": "2026-09-16", "creationDateTime": ...}, None),
        ({"requestedExecutionDate": "2026-09-15"}, None),
        ({"requestedExecutionDate": "soon"}, None),
        ({"requestedExecutionDate": 20260917}, None),
        ({"requestedExecutionDate": None}, TRANSFER),
        ({"paymentTypeInformation": INST}, INSTANT),
        ({"paymentTypeInformation": INST, "requestedExecutionDate": "2026-09-16"}, INSTANT),
        ({"paymentTypeInformation": INST, "requestedExecutionDate": "2026-09-17"}, None),
        ({"paymentTypeInformation": {**INST, "localInstrument": "FAST"}}, None),
        ({"paymentTypeInformation": {**INST, "localInstrument": None}}, TRANSFER),
        ({"paymentTypeInformation": {**INST, "serviceLevel": "NURG"}}, None),
        ({"paymentTypeInformation": {"categoryPurpose": "DVPM"}}, TRANSFER),
    ],
)
def test_types_of_payments(stet, payer, write, changes, taken):
    """Immediate, deferred and instant differ by date and instrument."""
    request, _ = write
    tpp = stet.world.tpp()
    assert taken == kind(stet, payer, tpp, request(payer, **changes))


@pytest.mark.parametrize(
    "changes",
    [
        *({"chargeBearer": value} for value in (..., None, "", 17, "SHAR", "slev", " SLEV")),
        *({"paymentTypeInformation": value} for value in (..., None, "DVPM", {}, [])),
        *(
            {"paymentTypeInformation": {"categoryPurpose": value}}
            for value in (None, "", 17, [], "XXXX")
        ),
        *({"beneficiary": value} for value in (..., None, "FR7630006000011234567890189", [], {})),
        *(
            {"beneficiary": {"creditorAccount": value}}
            for value in (None, "FR7630006000011234567890189", {"iban": 17}, {"iban": ""}, {})
        ),
        *({"debtorAccount": value} for value in (..., {}, {"iban": None}, {"iban": "FR76"})),
        *({"supplementaryData": value} for value in (..., None, "https://tpp.example/", {})),
        {"supplementaryData": {"successfulReportUrl": "nowhere"}},
        *({"creditTransferTransaction": value} for value in (..., None, [], {}, [None], ["x"])),
        {"numberOfTransactions": 2},
        {"numberOfTransactions": "1"},
        {"numberOfTransactions": True},
    ],
)
def test_requests_that_are_refused(stet, payer, tpp, write, changes):
    """A missing, null, empty, ill-typed or wrong value is refused, as at the bank."""
    request, _ = write
    answer = stet.call(tpp, "POST", "/payment-requests", json=request(payer, **changes))
    assert answer.status_code in (400, 403)
    assert answer.json()["message"] in ("FF01", "AG01")


@pytest.mark.parametrize(
    "changes",
    [
        {"amount": 250},
        {"amount": "0.00"},
        {"amount": None},
        {"currency": "USD"},
        {"currency": "XXX"},
        {"instructedAmount": "250.00"},
        {"instructedAmount": None},
        {"remittanceInformation": "Invoice 17"},
        {"remittanceInformation": ["one", "two"]},
        {"remittanceInformation": [17]},
        {"frequency": "MNTH"},
        {"endDate": "2027-01-01"},
        {"requestedExecutionDate": "2026-09-18"},
    ],
)
def test_transfers_that_are_refused(stet, payer, tpp, write, changes):
    """A transfer is one amount in euro, made once, with at most one text."""
    request, transfer = write
    single = transfer(**{"amount": "250.00", **changes})
    body = request(payer, creditTransferTransaction=[single])
    assert stet.pay(tpp, body) is None


def test_several_transfers_are_refused(stet, payer, tpp, write):
    """A request has exactly one transfer."""
    request, transfer = write
    two = [transfer("1.00"), transfer("2.00")]
    assert stet.pay(tpp, request(payer, creditTransferTransaction=two)) is None


LATER_DAY = {"requestedExecutionDate": "2026-09-18"}


def standing(stet, tpp, link):
    payment = stet.payment(tpp, link)
    return payment["paymentInformationStatus"], payment.get("statusReasonInformation")


def test_where_a_payment_stands(stet, payer, tpp, write):
    """Each status of the bank has its own status and reason."""
    request, transfer = write

    def made(amount, **changes):
        body = request(payer, creditTransferTransaction=[transfer(amount)], **changes)
        return stet.pay(tpp, body)

    def sign(link, decision="confirm"):
        content = {"customer": payer.customer, "factor": "sms", "decision": decision}
        stet.world.control(f"payments/{link.rpartition('/')[2]}/sign", **content)
        return standing(stet, tpp, link)

    received, repeat = made("1.00"), made("2.00")
    cash = made("4.00", paymentTypeInformation={"categoryPurpose": "CASH"})
    assert ("ACTC", None) == standing(stet, tpp, received)
    assert ("ACSC", None) == sign(made("2.00"))
    assert ("ACSP", None) == sign(made("3.00", **LATER_DAY))
    assert ("RJCT", "MS03") == sign(repeat)
    assert ("RJCT", "FRAD") == sign(cash)
    assert ("RJCT", "CUST") == sign(made("5.00"), "refuse")
    cancelled = made("6.00", **LATER_DAY)
    stet.world.control(f"payments/{cancelled.rpartition('/')[2]}/cancel")
    assert ("RJCT", "DS02") == standing(stet, tpp, cancelled)
    answer = stet.call(tpp, "POST", "/payment-requests", json=request(payer))
    stet.http.get(href(answer.json()["_links"], "consentApproval"), follow_redirects=True)
    stet.world.at("2026-09-16T10:05:00+02:00")
    assert ("RJCT", "NOAS") == standing(stet, tpp, answer.headers["Location"])


def test_modify(stet, payer, tpp, write):
    """A modification changes what it names, and is answered with the payment."""
    request, _ = write
    body = request(payer, requestedExecutionDate="2026-09-18T00:00:00+02:00")
    link = stet.pay(tpp, body)
    for change, expected in (
        ({"instructedAmount": {"amount": "47.11"}}, "47.11"),
        ({"instructedAmount": {"amount": "47.12", "currency": "EUR"}}, "47.12"),
    ):
        answer = stet.call(tpp, "PUT", link, json={"creditTransferTransaction": [change]})
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, HAL)
        transfer = answer.json()["paymentRequest"]["creditTransferTransaction"][0]
        assert {"amount": expected, "currency": "EUR"} == transfer["instructedAmount"]
        assert body["creditTransferTransaction"][0]["paymentId"] == transfer["paymentId"]
    day = {"requestedExecutionDate": "2026-12-20T00:00:00+01:00"}
    creditor = {"beneficiary": {"creditorAccount": {"iban": "DE89370400440532013000"}}}
    answer = stet.call(tpp, "PUT", link, json={**day, **creditor})
    shown = stet.payment(tpp, link)
    assert shown == answer.json()["paymentRequest"]
    assert day["requestedExecutionDate"] == shown["requestedExecutionDate"]
    assert shown["beneficiary"]["creditorAccount"] == {"iban": "DE89370400440532013000"}
    assert shown["beneficiary"]["creditor"] == body["beneficiary"]["creditor"]


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"chargeBearer": "SLEV"},
        {"debtorAccount": {"iban": "FR7630006000011234567890189"}},
        {"paymentTypeInformation": {"localInstrument": "INST"}},
        {"creditTransferTransaction": [{"instructedAmount": {"currency": "EUR"}}]},
        {
            "creditTransferTransaction": [
                {"instructedAmount": {"amount": "1.00", "currency": "USD"}}
            ]
        },
        {"creditTransferTransaction": {"0": {"instructedAmount": {"amount": "1.00"}}}},
        {"requestedExecutionDate": "2026-09-16"},
        {"paymentInformationStatus": "RJCT"},
        {"statusReasonInformation": "DS02"},
        {"paymentInformationStatus": "CANC", "statusReasonInformation": "DS02"},
        {"paymentInformationStatus": "RJCT", "statusReasonInformation": "DUPL"},
        {"paymentInformationStatus": ["RJCT"], "statusReasonInformation": None},
        {"password": "x"},
    ],
)
def test_changes_that_are_refused(stet, payer, tpp, write, change):
    """Nothing else can be modified, and nothing else cancels."""
    request, _ = write
    link = stet.pay(tpp, request(payer, **LATER_DAY))
    before = stet.payment(tpp, link)
    assert stet.call(tpp, "PUT", link, json=change).status_code == 400
    assert before == stet.payment(tpp, link)


def test_cancel(stet, payer, tpp, write):
    """RJCT with DS02 cancels a deferred payment, even if the whole request is sent along."""
    request, _ = write
    cancellation = {"paymentInformationStatus": "RJCT", "statusReasonInformation": "DS02"}
    for more in ({}, request(payer, **LATER_DAY)):
        link = stet.pay(tpp, request(payer, **LATER_DAY))
        answer = stet.call(tpp, "PUT", link, json={**more, **cancellation})
        assert answer.status_code == 200
        assert cancellation.items() <= answer.json()["paymentRequest"].items()
        assert ("RJCT", "DS02") == standing(stet, tpp, link)
    immediate = stet.pay(tpp, request(payer))
    refused = stet.call(tpp, "PUT", immediate, json=cancellation)
    assert (refused.status_code, refused.json()["message"]) == (403, "AG01")


def test_payments_of_others(stet, payer, tpp, write):
    """The stored request is shown only to TPPs to whom the bank shows the payment."""
    request, _ = write
    link = stet.pay(tpp, request(payer))
    other = stet.world.tpp()
    for answer in (stet.get(other, link), stet.call(other, "PUT", link, json=LATER_DAY)):
        assert answer.status_code == 404
        assert {"status", "error", "message", "path"} == set(answer.json())


def test_confirmation(stet, payer, tpp, write):
    """The confirmation is 405, and NIMP."""
    request, _ = write
    link = stet.pay(tpp, request(payer))
    answer = stet.call(tpp, "POST", f"{link}/confirmation", json={})
    assert (answer.status_code, answer.json()["message"]) == (405, "NIMP")


def test_screens_and_controls_pass(stet, payer, tpp, write):
    """Paths that are not for TPPs are answered as without the dialect."""
    request, _ = write
    answer = stet.call(tpp, "POST", "/payment-requests", json=request(payer))
    page = stet.http.get(href(answer.json()["_links"], "consentApproval"), follow_redirects=True)
    assert (page.status_code, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    controls = stet.http.get("/assay-control/1/").json()
    assert controls["api"] == "assay-control/1"


def test_what_is_forgotten_is_shown_as_the_bank_shows_it(stet, payer, tpp, write, monkeypatch):
    """Without a stored request, the bank's own members are still shown."""
    monkeypatch.setattr("assay.sandbox.dialects.stet.payments._MOST", 1)
    request, _ = write
    first = stet.pay(tpp, request(payer, paymentTypeInformation=INST))
    stet.pay(tpp, request(payer))
    shown = stet.payment(tpp, first)
    assert {"localInstrument": "INST", "categoryPurpose": "DVPM"} == shown["paymentTypeInformation"]
    assert [
        {
            "instructedAmount": {"amount": "250.00", "currency": "EUR"},
            "remittanceInformation": ["Invoice 17"],
        }
    ] == shown["creditTransferTransaction"]
    assert "paymentInformationId" not in shown


def test_ids_make_room(monkeypatch):
    """The oldest identifiers are removed, and then stand for nothing."""
    monkeypatch.setattr("assay.sandbox.dialects.stet.values._MOST", 2)
    ids = OpaqueIds()
    first, second = ids.issue("FR1"), ids.issue("FR2")
    assert first == ids.issue("FR1")
    ids.issue("FR3")
    assert ["FR1", "UNKNOWN"] == [ids.key(first), ids.key(second)]
    assert "secret" not in repr(ids)


def test_trees():
    """A missing value, a null and a container of a wrong type are distinguished."""
    tree = {"a": [{"b": "x"}], "n": None, "t": "text"}
    assert find(tree, ("a", 0, "b")) == "x"
    assert find(tree, ("a", 1, "b")) is ABSENT
    assert find(tree, ("c", "d")) is ABSENT
    assert find(tree, ("n", "d", 0)) is None
    assert find(tree, ("t", "d")) is UNFIT
    assert find(tree, ("t", 0)) is UNFIT
    assert with_value(tree, ("a", 0, "b"), "y") == {**tree, "a": [{"b": "y"}]}
    assert with_value(tree, ("a", 0, "b"), ABSENT) == {**tree, "a": [{}]}
    assert with_value(tree, ("c", 0, "d"), ABSENT) == tree
    assert with_value({}, ("c", 0, "d"), "z") == {"c": [{"d": "z"}]}
    assert tree == {"a": [{"b": "x"}], "n": None, "t": "text"}


def test_json_with_marks(stet):
    """Arbitrary texts survive both translations."""
    guest = stet.world.customer(ACCOUNT)
    strange = json.dumps({"balances": [{"iban": "\ud800\u2603"}]})
    answer = stet.call(guest, "PUT", "/consents", content=strange)
    assert answer.status_code == 400


def test_serve():
    """`assay serve` wraps the bank in the dialect, and prints a base URL that answers."""
    start = [sys.executable, "-c", "from assay.cli.main import main; main()"]
    with subprocess.Popen(
        [*start, "serve", "--dialect", "stet", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        try:
            url = re.search(r"http://\S+", process.stdout.readline())[0]
            token = {"Authorization": "Bearer demo-alice"}
            answer = httpx.get(f"{url}/accounts", headers=token)
        finally:
            process.terminate()
    assert url.endswith(ROOT)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, HAL)


def test_serve_knows_its_dialects():
    """An unknown dialect is refused with a list of those that exist."""
    result = CliRunner().invoke(command, ["--dialect", "berlin"])
    assert result.exit_code == 2
    assert "'stet'" in result.output
