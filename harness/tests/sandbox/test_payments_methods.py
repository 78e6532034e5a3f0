"""The operations of payment initiation on the sound bank."""

import json
import re
from importlib.resources import files

import pytest

CREDITOR = "DE89370400440532013000"


@pytest.fixture
def tpp(world):
    return world.tpp()


@pytest.fixture
def payer(world):
    return world.payer()


def test_create(tpp, payer):
    """A new payment is received, with a link to itself and one for the customer."""
    answer = tpp.create(payer)
    assert answer.status_code == 201
    made = answer.json()
    assert {"paymentRequestResourceId", "status", "links"} == set(made)
    assert made["status"] == "received"
    path = f"/payment-requests/{made['paymentRequestResourceId']}"
    assert f"http://bank.test{path}" == made["links"]["self"]
    assert made["links"]["consentApproval"].startswith("http://bank.test/consent-approval/")


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"paymentType": "instant"},
        {"paymentType": "deferred", "requestedExecutionDate": "2026-09-17"},
        {"reference": ...},
        {"reference": ""},
        {"unsuccessfulReportUrl": ...},
        {"amount": "0.1"},
        {"amount": "12"},
        {"categoryPurpose": "CASH"},
    ],
)
def test_reads_back_as_created(tpp, payer, changes):
    """Every member reads back as it was sent; members not sent are absent."""
    payment = tpp.pay(payer, **changes)
    shown = payment.read().json()
    links = shown.pop("links")
    assert {"self": f"http://bank.test/payment-requests/{payment.id}"} == links
    assert payment.id == shown.pop("paymentRequestResourceId")
    assert shown.pop("status") == "received"
    assert tpp.body(payer, **changes) == shown


@pytest.mark.parametrize(
    "field", ["chargeBearer", "categoryPurpose", "creditorAccount", "successfulReportUrl"]
)
@pytest.mark.parametrize("value", [..., None, "", " ", 17, True, ["SLEV"], {"a": 1}, "SLEV "])
def test_mandatory_fields(tpp, payer, field, value):
    """A mandatory member must be present, a non-empty string, and valid."""
    assert tpp.create(payer, **{field: value}).status_code == 400


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("chargeBearer", ("SHAR", "DEBT", "CRED", "slev", "Slev", " SLEV", "SLEV\u200b")),
        ("categoryPurpose", ("cash", "CASH ", "XXXX")),
        (
            "creditorAccount",
            (
                "FR7630006000011234567890188",
                "FR76 3000 6000 0112 3456 7890 189",
                "fr7630006000011234567890189",
                "DE8937040044053201300",
                "FR0030006000011234567890189",
                "DE8937040044053201300٠",
                "X" * 60_000,
            ),
        ),
        (
            "successfulReportUrl",
            (
                "tpp.example/yes",
                "//tpp.example/yes",
                "/yes",
                "ftp://tpp.example",
                "javascript:alert(1)",
                "https://",
                "https:///yes",
                "https://tpp.example:99999/",
                "https://me@tpp.example/",
                "https://tpp.example/yes\r\nSet-Cookie: a=b",
                "https://tpp.example/a b",
                "https://tpp.example/é",
                "https://tpp.example;form-action/",
                "https://tpp.example/%zz",
                "https://tpp.example/" + "a" * 3_000,
            ),
        ),
        ("unsuccessfulReportUrl", ("", "/no", 17, "https://tpp.example/\n")),
        ("currency", (..., None, "", "USD", "eur", "EUR ", 978)),
        (
            "amount",
            (
                *(..., None, "", 12.3, 12, "0", "0.00", "-1.00", "+1.00", "1.234", "1,00", "1."),
                *(".5", "1e3", " 1.00", "NaN", "Infinity", "١٢", "1" * 16, "1_0"),
            ),
        ),
        ("debtorAccount", (..., None, "", 17, [])),
        ("paymentType", (..., None, "", "Immediate", "bulk", 1)),
        ("reference", (17, [], {})),
        ("transfers", ([{}, {}], [1, 2, 3], {}, "two", 2)),
    ],
)
def test_what_does_not_read(tpp, payer, field, values):
    """Each wrong value is refused with 400, and not repeated in the answer."""
    for value in values:
        answer = tpp.create(payer, **{field: value})
        assert (value, answer.status_code) == (value, 400)
        assert {"status", "message"} == set(answer.json())
        assert len(answer.json()["message"]) < 80


@pytest.mark.parametrize("transfers", [None, [], [{"amount": "1.00"}]])
def test_one_transfer_is_no_offence(tpp, payer, transfers):
    """A list of at most one transfer is accepted."""
    assert tpp.create(payer, transfers=transfers).status_code == 201


@pytest.mark.parametrize(
    ("type", "day", "status"),
    [
        ("deferred", ..., 400),
        ("deferred", None, 400),
        ("deferred", "2026-09-15", 400),
        ("deferred", "2026-09-16", 400),
        ("deferred", "2026-09-17", 201),
        ("deferred", "9999-12-31", 201),
        ("deferred", "2026-02-30", 400),
        ("deferred", "20260917", 400),
        ("deferred", "2026-9-17", 400),
        ("deferred", 20260917, 400),
        ("immediate", "2026-09-17", 400),
        ("instant", "2026-09-17", 400),
    ],
)
def test_the_day(tpp, payer, type, day, status):
    """A deferred payment needs a future day; other payments have none."""
    answer = tpp.create(payer, paymentType=type, requestedExecutionDate=day)
    assert status == answer.status_code


def test_the_day_is_local(bank):
    """Half an hour before midnight in UTC, it is the next day in Paris."""
    world = bank.world(now="2026-09-16T00:30:00+02:00")
    tpp, payer = world.tpp(), world.payer()
    days = ("2026-09-16", "2026-09-17")
    made = [tpp.create(payer, paymentType="deferred", requestedExecutionDate=day) for day in days]
    assert [answer.status_code for answer in made] == [400, 201]


def test_instant_where_it_is_offered(bank):
    """A bank without instant payments refuses only those."""
    for offered, status in ((True, 201), (False, 400)):
        world = bank.world(offers={"instant": offered})
        tpp, payer = world.tpp(), world.payer()
        assert status == tpp.create(payer, paymentType="instant").status_code
        assert tpp.create(payer).status_code == 201


@pytest.mark.parametrize(
    ("segment", "status"),
    [
        ("PART", 201),
        ("PRO", 201),
        ("LARGE_PRO", 403),
        ("CORPORATE", 403),
        ("ASSOCIATION", 403),
        ("GUARDIAN", 403),
    ],
)
def test_segments(world, tpp, segment, status):
    """Only retail customers and small professionals are served."""
    assert status == tpp.create(world.payer(segment)).status_code


@pytest.mark.parametrize("trait", ["savings", "inactive", "offline"])
def test_ineligible_accounts(world, tpp, trait):
    """Only active current accounts, accessible online, can be debited."""
    assert tpp.create(world.payer(**{trait: True})).status_code == 403


def test_accounts_of_nobody(world, tpp, payer):
    """Neither an unknown account nor a card can be debited."""
    card = world.customer({"resource": "card", "entries": []})
    for debtor in (CREDITOR, "nonsense", card.keys()[0]):
        assert tpp.create(payer, debtorAccount=debtor).status_code == 403


BODIES = [
    b"",
    b"  ",
    b"hello",
    b'{"amount": "12',
    b"\xff\xfe",
    b'"text"',
    b"[]",
    b"null",
    b"17",
    b"{}",
    b'{"a": ' + b"[" * 100 + b"]" * 100 + b"}",
    b"[" * 30_000,
    b'{"a": "' + b"a" * 70_000 + b'"}',
    b'{"amount": ' + b"9" * 5_000 + b"}",
]


@pytest.mark.parametrize("body", BODIES)
def test_bodies_that_do_not_read(tpp, payer, body):
    """A body that is no object, too deep or too long is refused without effect."""
    assert tpp.call("POST", "/payment-requests", content=body).status_code == 400
    payment = tpp.pay(payer, paymentType="deferred")
    before = payment.read().json()
    path = f"/payment-requests/{payment.id}"
    assert tpp.call("PUT", path, content=body).status_code == 400
    assert before == payment.read().json()


def test_a_good_body_that_is_too_long(tpp, payer):
    """A request of more than 64 KiB is refused even if it is valid."""
    whole = tpp.body(payer)
    padding = 64 * 1024 - len(json.dumps({**whole, "x": ""}))
    statuses = [
        tpp.call(
            "POST", "/payment-requests", content=json.dumps({**whole, "x": "x" * (padding + more)})
        ).status_code
        for more in (0, 1)
    ]
    assert statuses == [201, 400]


def test_unknown_payments(tpp, payer):
    """A payment that does not exist is not found by any operation."""
    payment = tpp.pay(payer, paymentType="deferred")
    for wrong in ("0" * 24, payment.id[:-1], payment.id.upper() + "x", "%00", "a" * 9_000):
        payment.id = wrong
        assert payment.read().status_code == 404
        assert payment.modify(amount="1.00").status_code == 404


def test_other_tpp(world, tpp, payer):
    """Another TPP's payment is neither found nor modified."""
    payment, other = tpp.pay(payer, paymentType="deferred"), world.tpp()
    assert payment.read(other).status_code == 404
    assert payment.modify(other, amount="1.00").status_code == 404
    assert payment.modify(other, status="cancelled").status_code == 404
    assert payment.status() == "received"
    assert payment.read().json()["amount"] == "250.00"


def test_tpps_of_other_worlds(bank, tpp, payer):
    """Payments of another world are not visible."""
    payment = tpp.pay(payer)
    assert payment.read(bank.world().tpp()).status_code == 404


def test_tokens(bank, world, tpp, payer):
    """Payments need a TPP's token, and account information a customer's."""
    path = f"/payment-requests/{tpp.pay(payer).id}"
    for token in ("", "Bearer", "Bearer nobody", f"Token {tpp.token}", payer.token):
        answer = bank.http.get(path, headers={"Authorization": token})
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert payer.get(path).status_code == 401
    assert tpp.call("GET", "/accounts").status_code == 401


def test_tokens_end_with_their_world(bank, world, tpp, payer):
    """The TPPs and screens of a closed world do not exist any more."""
    payment = tpp.pay(payer)
    bank.http.delete(f"/assay-control/1/worlds/{world.id}")
    assert payment.read().status_code == 401
    assert bank.http.get(payment.approval).status_code == 404


def test_demo_tpp(bank):
    """The demo world has two TPPs, which do not see each other's payments."""
    headers = {"Authorization": "Bearer demo-alice", "PSU-IP-Address": "192.0.2.7"}
    debtor = bank.http.get("/accounts", headers=headers).json()["accounts"][0]["iban"]
    body = {
        "paymentType": "immediate",
        "debtorAccount": debtor,
        "creditorAccount": CREDITOR,
        "amount": "1.00",
        "currency": "EUR",
        "chargeBearer": "SLEV",
        "categoryPurpose": "DVPM",
        "successfulReportUrl": "http://localhost:9000/back",
    }
    own, foreign = ({"Authorization": f"Bearer {name}"} for name in ("demo-tpp", "demo-tpp-2"))
    made = bank.http.post("/payment-requests", json=body, headers=own)
    assert made.status_code == 201
    link = made.json()["links"]["self"]
    assert [bank.http.get(link, headers=who).status_code for who in (own, foreign)] == [200, 404]


@pytest.mark.parametrize(
    "changes",
    [
        {"amount": "3.5"},
        {"creditorAccount": CREDITOR},
        {"requestedExecutionDate": "2026-12-24"},
        {"reference": "Other"},
        {"amount": "0.01", "reference": "Both"},
    ],
)
@pytest.mark.parametrize("signed", [False, True])
def test_modify(tpp, payer, changes, signed):
    """A deferred payment can be modified, signed or not, and reads back as modified."""
    payment = tpp.pay(payer, paymentType="deferred")
    if signed:
        payment.sign()
    before = payment.read().json()
    answer = payment.modify(**changes)
    assert answer.status_code == 200
    assert {**before, **changes} == answer.json() == payment.read().json()


@pytest.mark.parametrize(
    "changes",
    [
        {"amount": "0"},
        {"amount": None},
        {"amount": 3},
        {"creditorAccount": "FR76"},
        {"creditorAccount": None},
        {"requestedExecutionDate": "2026-09-16"},
        {"requestedExecutionDate": None},
        {"reference": 3},
        {"currency": "EUR"},
        {"debtorAccount": CREDITOR},
        {"amount": "1.00", "nonsense": 1},
        {"status": "executed"},
        {"status": None},
        {"status": "cancelled", "amount": "1.00"},
    ],
)
def test_modifications_that_do_not_read(tpp, payer, changes):
    """The rules for fields are the same, and no other field can be modified."""
    payment = tpp.pay(payer, paymentType="deferred")
    before = payment.read().json()
    assert payment.modify(**changes).status_code == 400
    assert before == payment.read().json()


@pytest.mark.parametrize("type", ["immediate", "instant"])
@pytest.mark.parametrize("changes", [{"amount": "3.00"}, {"status": "cancelled"}])
def test_only_deferred_payments(tpp, payer, type, changes):
    """Immediate and instant payments can be neither modified nor cancelled."""
    payment = tpp.pay(payer, paymentType=type)
    before = payment.read().json()
    assert payment.modify(**changes).status_code == 403
    assert before == payment.read().json()
    assert not payment.cancel(by="customer")


@pytest.mark.parametrize("state", ["executed", "cancelled", "refused", "expired", "rejected"])
def test_not_after_the_end(world, tpp, payer, state):
    """A payment in a final status can be neither modified nor cancelled."""
    purpose = "CASH" if state == "rejected" else "DVPM"
    payment = tpp.pay(payer, paymentType="deferred", categoryPurpose=purpose)
    if state == "cancelled":
        payment.cancel(by="customer")
    elif state == "expired":
        payment.screens()
    else:
        payment.sign(decision="refuse" if state == "refused" else "confirm")
    world.at("2026-09-18T06:30:00+02:00")
    assert state == payment.status()
    assert payment.modify(amount="1.00").status_code == 403
    assert payment.modify(status="cancelled").status_code == 403
    assert not payment.cancel(by="customer")
    assert state == payment.status()


def test_confirmation(tpp, payer):
    """The confirmation is not available, neither before signing nor after it."""
    payment = tpp.pay(payer)
    assert payment.confirmation().status_code == 405
    payment.sign()
    assert payment.confirmation().status_code == 405
    assert payment.status() == "executed"


def test_paths_and_verbs(tpp, payer):
    """Unknown paths are 404, other methods 405 with the allowed ones."""
    made = tpp.pay(payer).id
    assert tpp.call("GET", "/payment-requests").headers["Allow"] == "POST"
    assert tpp.call("DELETE", f"/payment-requests/{made}").status_code == 405
    for path in ("/payment-requestsx", f"/payment-requests/{made}/nothing", "/payment-requests//"):
        assert tpp.call("GET", path).status_code == 404
    assert tpp.call("HEAD", f"/payment-requests/{made}").content == b""


@pytest.mark.parametrize(
    "host",
    ["www.30001.live.sandbox.example", "www.30001.live.bank.example", "localhost:8080", "[::1]:80"],
)
@pytest.mark.parametrize("base_url", [None, "https://www.30001.live.sandbox.example"])
def test_links_stay_on_the_host(open_bank, host, base_url):
    """All links of a flow stay on the host that was called, in either form."""
    world = open_bank(base_url=base_url).world()
    tpp, payer = world.tpp(), world.payer()
    how = {"headers": {"Host": host}}
    made = tpp.create(payer, how=how, paymentType="deferred").json()
    path = f"/payment-requests/{made['paymentRequestResourceId']}"
    read = tpp.call("GET", path, **how).json()
    modified = tpp.call("PUT", path, json={"amount": "1.00"}, **how).json()
    links = [*made["links"].values(), read["links"]["self"], modified["links"]["self"]]
    assert len(links) == 4
    assert all(link.startswith(f"http://{host}/") for link in links)


@pytest.mark.parametrize(
    ("moment", "closed"),
    [
        ("2026-09-21T01:59:59+02:00", False),
        ("2026-09-21T02:00:00+02:00", True),
        ("2026-09-21T05:59:59+02:00", True),
        ("2026-09-21T06:00:00+02:00", False),
        ("2026-09-20T03:00:00+02:00", False),
        ("2026-09-22T03:00:00+02:00", False),
        # The Monday after the clock was set back.
        ("2026-10-26T01:59:59+01:00", False),
        ("2026-10-26T02:00:00+01:00", True),
    ],
)
def test_maintenance(world, tpp, payer, moment, closed):
    """Calls and screens are closed on Monday from two to six local time."""
    payment = tpp.pay(payer)
    world.at(moment)
    statuses = [
        tpp.create(payer).status_code,
        payment.read().status_code,
        payment.modify(amount="1.00").status_code,
        tpp.call("GET", "/payment-requests/nothing").status_code,
        payment.screens().answer.status_code,
    ]
    assert statuses == ([503] * 5 if closed else [201, 200, 403, 404, 200])


def test_the_halves_close_apart(world, tpp, payer):
    """On Sunday night only accounts are closed, on Monday night only payments."""
    world.at("2026-09-20T03:00:00+02:00")
    assert (payer.get("/accounts").status_code, tpp.create(payer).status_code) == (503, 201)
    world.at("2026-09-21T03:00:00+02:00")
    assert (payer.get("/accounts").status_code, tpp.create(payer).status_code) == (200, 503)


def test_the_document_of_the_control_api(bank):
    """The example payment of CONTROL.md is accepted."""
    text = files("assay.sandbox").joinpath("CONTROL.md").read_text(encoding="utf-8")
    body = re.search(r"/payment-requests -d '(\{.*?\})'", text, re.DOTALL)[1]
    headers = {"Authorization": "Bearer demo-tpp"}
    assert bank.http.post("/payment-requests", content=body, headers=headers).status_code == 201
