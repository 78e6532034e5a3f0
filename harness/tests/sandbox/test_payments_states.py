"""The life cycle of payments: signing, execution, cancellation, and the two rules."""

import pytest

CREDITOR = "DE89370400440532013000"
NOW = "2026-09-16T10:00:00+02:00"


@pytest.fixture
def tpp(world):
    return world.tpp()


@pytest.fixture
def payer(world):
    return world.payer()


def deferred(tpp, payer, day, **changes):
    """Create a deferred payment and sign it."""
    return tpp.pay(payer, paymentType="deferred", requestedExecutionDate=day, **changes).sign()


@pytest.mark.parametrize("type", ["immediate", "instant"])
def test_executed_at_signing(world, tpp, payer, type):
    """Immediate and instant payments are executed as soon as they are signed."""
    payment = tpp.pay(payer, paymentType=type)
    world.at("2026-09-20T10:00:00+02:00")
    assert payment.status() == "received"
    assert [] == world.executions()
    payment.sign()
    assert payment.status() == "executed"
    assert world.executions() == [
        {
            "payment": payment.id,
            "date": "2026-09-20",
            "debtor": payer.keys()[0],
            "creditor": "FR7630006000011234567890189",
            "amount": "250.00",
        }
    ]


@pytest.mark.parametrize("type", ["immediate", "instant", "deferred"])
def test_refused(world, tpp, payer, type):
    """What the customer refuses is never executed."""
    payment = tpp.pay(payer, paymentType=type).sign(decision="refuse")
    world.at("2026-10-16T10:00:00+02:00")
    assert payment.status() == "refused"
    assert [] == world.executions()


@pytest.mark.parametrize("type", ["immediate", "instant", "deferred"])
def test_unsigned(world, tpp, payer, type):
    """No payment is executed without a signature, whatever its amount and day."""
    payment = tpp.pay(payer, paymentType=type, amount="0.01")
    world.at("2026-10-16T10:00:00+02:00")
    assert payment.status() == "received"
    assert [] == world.executions()


@pytest.mark.parametrize(
    ("day", "before", "at"),
    [
        ("2026-09-17", "2026-09-17T06:29:59+02:00", "2026-09-17T06:30:00+02:00"),
        # A Saturday, a Sunday and Christmas Day are ordinary days.
        ("2026-09-19", "2026-09-19T06:29:59+02:00", "2026-09-19T06:30:00+02:00"),
        ("2026-09-20", "2026-09-20T06:29:59+02:00", "2026-09-20T06:30:00+02:00"),
        ("2026-12-25", "2026-12-25T06:29:59+01:00", "2026-12-25T06:30:00+01:00"),
        # The clock was set back, and set forward, in the night before.
        ("2026-10-25", "2026-10-25T06:29:59+01:00", "2026-10-25T06:30:00+01:00"),
        ("2027-03-28", "2027-03-28T06:29:59+02:00", "2027-03-28T06:30:00+02:00"),
    ],
)
def test_the_calendar(world, tpp, payer, *, day, before, at):
    """A deferred payment is executed on its day at half past six local time."""
    payment = deferred(tpp, payer, day)
    world.at(before)
    assert payment.status() == "pending"
    world.at(at)
    assert payment.status() == "executed"
    assert [day] == [row["date"] for row in payment.executed()]


def test_days_skipped_at_once(world, tpp, payer):
    """When the clock jumps, due payments are executed in order, each on its day."""
    days = ("2026-09-20", "2026-09-18", "2026-10-30", "2026-09-19", "2026-09-18")
    made = [deferred(tpp, payer, day, amount=f"1{at}.00").id for at, day in enumerate(days)]
    world.at("2026-10-01T12:00:00+02:00")
    executions = [(row["payment"], row["date"]) for row in world.executions()]
    assert [(made[at], days[at]) for at in (1, 4, 3, 0)] == executions


def test_executed_once(world, tpp, payer):
    """An executed payment is not executed again later."""
    deferred(tpp, payer, "2026-09-17")
    tpp.pay(payer).sign()
    for day in (17, 18, 19):
        world.at(f"2026-09-{day}T12:00:00+02:00")
    assert len(world.executions()) == 2


def test_signed_too_late_for_its_day(world, tpp, payer):
    """A deferred payment signed after its moment is executed at signing."""
    payment = tpp.pay(payer, paymentType="deferred", requestedExecutionDate="2026-09-17")
    world.at("2026-09-17T06:00:00+02:00")
    assert payment.status() == "received"
    world.at("2026-09-19T12:00:00+02:00")
    payment.sign()
    assert payment.status() == "executed"
    assert ["2026-09-19"] == [row["date"] for row in payment.executed()]


def test_signed_in_the_morning_of_its_day(world, tpp, payer):
    """A deferred payment signed on its day before half past six waits until then."""
    payment = tpp.pay(payer, paymentType="deferred", requestedExecutionDate="2026-09-17")
    world.at("2026-09-17T06:00:00+02:00")
    assert payment.sign().status() == "pending"
    world.at("2026-09-17T06:30:00+02:00")
    assert payment.status() == "executed"


def test_modified_after_signing(world, tpp, payer):
    """A modified payment keeps its signature, and is executed as modified."""
    payment = deferred(tpp, payer, "2026-09-17")
    payment.modify(amount="3.00", creditorAccount=CREDITOR, requestedExecutionDate="2026-09-18")
    assert payment.status() == "pending"
    world.at("2026-09-17T12:00:00+02:00")
    assert [] == world.executions()
    world.at("2026-09-18T12:00:00+02:00")
    (row,) = payment.executed()
    assert ("3.00", CREDITOR, "2026-09-18") == (row["amount"], row["creditor"], row["date"])


@pytest.mark.parametrize("by", ["tpp", "customer"])
@pytest.mark.parametrize("signed", [False, True])
def test_cancelled(world, tpp, payer, by, signed):
    """Either party can cancel, signed or not; it shows at once, and nothing is executed."""
    payment = tpp.pay(payer, paymentType="deferred")
    if signed:
        payment.sign()
    assert payment.cancel(by=by)
    assert payment.status() == "cancelled"
    assert not payment.cancel(by=by)
    world.at("2026-10-16T12:00:00+02:00")
    assert payment.status() == "cancelled"
    assert [] == world.executions()


def test_shows_in_the_account(world, tpp, payer):
    """An executed payment appears among the account's transactions, on its day."""
    account = {"resource": "account", "entries": ["2026-09-16", "2026-09-17"]}
    payer = world.customer(account)
    key = payer.keys()[0]
    payer.consent(key)
    tpp.pay(payer, amount="12.3", reference="Rent").sign()
    deferred(tpp, payer, "2026-09-17", reference=...)
    tpp.pay(payer).sign(decision="refuse")

    def rows():
        rows = payer.get(f"/transactions?iban={key}").json()["transactions"]
        return [(row["bookingDate"], row["amount"], row["label"]) for row in rows]

    assert len(rows()) == 2
    assert ("2026-09-16", "-12.30", "VIR Rent") == rows()[0]
    world.at("2026-09-18T12:00:00+02:00")
    assert ("2026-09-17", "-250.00", "VIR FR7630006000011234567890189") == rows()[0]
    assert [row[0] for row in rows()] == ["2026-09-17", "2026-09-17", "2026-09-16", "2026-09-16"]
    ids = [row["id"] for row in payer.get(f"/transactions?iban={key}").json()["transactions"]]
    assert len(set(ids)) == 4


def test_a_repeat(tpp, payer):
    """A repeat of a payment executed today is rejected once it is signed."""
    tpp.pay(payer).sign()
    again = tpp.pay(payer)
    assert again.status() == "received"
    assert again.sign().status() == "rejected"
    assert again.read().json()["reason"] == "duplicate"
    assert [] == again.executed()


def test_a_repeat_in_other_words(world, tpp, payer):
    """Another spelling of the amount, or another TPP, does not make another payment."""
    tpp.pay(payer, amount="12.30").sign()
    assert tpp.pay(payer, amount="12.3").sign().status() == "rejected"
    assert world.tpp().pay(payer, amount="012.30").sign().status() == "rejected"


@pytest.mark.parametrize(
    "change",
    [
        {"creditorAccount": CREDITOR},
        {"amount": "250.01"},
        {"categoryPurpose": "SUPP"},
        {"reference": "Invoice 18"},
        {"reference": ...},
        {"paymentType": "instant"},
    ],
)
def test_no_repeats(tpp, payer, change):
    """One different parameter makes another payment."""
    tpp.pay(payer).sign()
    assert tpp.pay(payer, **change).sign().status() == "executed"


def test_another_debtor_is_no_repeat(world, tpp):
    """The same payment from another account is another payment."""
    payer = world.customer({"resource": "account", "entries": [], "count": 2})
    for key in payer.keys():
        assert tpp.pay(payer, debtorAccount=key).sign().status() == "executed"


def test_the_next_day_is_no_repeat(world, tpp, payer):
    """One minute after midnight in Paris the same payment is another one."""
    world.at("2026-09-16T23:59:00+02:00")
    assert tpp.pay(payer).sign().status() == "executed"
    world.at("2026-09-17T00:01:00+02:00")
    assert tpp.pay(payer).sign().status() == "executed"


@pytest.mark.parametrize("state", ["cancelled", "refused", "received", "expired", "pending"])
def test_what_was_not_executed_can_be_repeated(world, tpp, payer, state):
    """A payment that was not executed can be repeated."""
    first = tpp.pay(payer, paymentType="deferred")
    if state == "expired":
        first.screens()
        world.at("2026-09-16T10:04:00+02:00")
    elif state != "received":
        first.sign(decision="refuse" if state == "refused" else "confirm")
    if state == "cancelled":
        first.cancel(by="tpp")
    assert state == first.status()
    assert tpp.pay(payer, paymentType="deferred").sign().status() == "pending"


def test_repeats_of_one_day(world, tpp, payer):
    """Of two equal deferred payments, only the first is executed."""
    first, second = (deferred(tpp, payer, "2026-09-18") for _ in range(2))
    world.at("2026-09-18T06:30:00+02:00")
    assert (first.status(), second.status()) == ("executed", "rejected")
    assert second.read().json()["reason"] == "duplicate"
    late = tpp.pay(payer, paymentType="deferred", requestedExecutionDate="2026-09-19")
    assert late.sign().status() == "pending"


@pytest.mark.parametrize(
    ("registered", "factor", "purpose", "status"),
    [
        (None, "sms", "CASH", "rejected"),
        (None, "cap", "CASH", "rejected"),
        (None, "soft-token", "CASH", "executed"),
        (None, "sms", "SALA", "executed"),
        ("2026-09-13T10:00:01+02:00", "sms", "CASH", "rejected"),
        ("2026-09-13T10:00:00+02:00", "sms", "CASH", "rejected"),
        ("2026-09-13T10:00:00+02:00", "soft-token", "CASH", "executed"),
        ("2026-09-13T09:59:59+02:00", "sms", "CASH", "executed"),
        ("2026-09-13T09:59:59+02:00", "cap", "CASH", "executed"),
        ({"hours_ago": 72}, "cap", "CASH", "rejected"),
        ({"hours_ago": 73}, "cap", "CASH", "executed"),
        ({"hours_ago": 0}, "cap", "DVPM", "executed"),
    ],
)
def test_cash(world, tpp, payer, *, registered, factor, purpose, status):
    """CASH needs the soft token, or a creditor registered for more than 72 hours."""
    creditor = world.register(payer, registered) if registered else CREDITOR
    payment = tpp.pay(payer, creditorAccount=creditor, categoryPurpose=purpose)
    assert status == payment.sign(factor).status()
    assert ("cash" if status == "rejected" else None) == payment.read().json().get("reason")
    assert (status == "executed") is bool(payment.executed())


def test_cash_looks_at_the_moment_of_signing(world, tpp, payer):
    """A registration grows old while a payment waits to be signed."""
    creditor = world.register(payer, {"hours_ago": 71})
    payment = tpp.pay(payer, creditorAccount=creditor, categoryPurpose="CASH")
    world.at("2026-09-16T11:00:01+02:00")
    assert payment.sign().status() == "executed"


def test_cash_looks_at_the_customers_own_registration(world, tpp, payer):
    """Another customer's registration does not count."""
    creditor = world.register(world.payer(), {"hours_ago": 1000})
    payment = tpp.pay(payer, creditorAccount=creditor, categoryPurpose="CASH")
    assert payment.sign().status() == "rejected"


def test_cash_over_the_night_of_25_hours(bank):
    """Three local days are more than 72 hours when the clock is set back."""
    world = bank.world(now="2026-10-26T10:00:00+01:00")
    tpp, payer = world.tpp(), world.payer()
    creditor = world.register(payer, "2026-10-23T10:00:00+02:00")
    payment = tpp.pay(payer, creditorAccount=creditor, categoryPurpose="CASH")
    assert payment.sign().status() == "executed"


def test_cash_waits_for_no_day(world, tpp, payer):
    """A deferred payment that breaks the rule is rejected at signing."""
    payment = deferred(tpp, payer, "2026-12-24", categoryPurpose="CASH")
    assert payment.status() == "rejected"


def test_cash_to_a_creditor_that_was_changed(world, tpp, payer):
    """CASH modified to an unknown creditor is rejected on its day."""
    known = world.register(payer, {"hours_ago": 100})
    payment = deferred(tpp, payer, "2026-09-18", creditorAccount=known, categoryPurpose="CASH")
    assert payment.modify(creditorAccount=CREDITOR).status_code == 200
    assert payment.status() == "pending"
    world.at("2026-09-18T12:00:00+02:00")
    assert payment.status() == "rejected"
    assert [] == world.executions()


def test_registered_twice(world, payer):
    """Of several registrations, the first counts."""
    creditor = world.register(payer, {"hours_ago": 100})
    url = f"customers/{payer.customer}/creditors"
    again = world.control(url, iban=creditor, registered={"hours_ago": 1})
    assert again.json() == {"iban": creditor, "registered": "2026-09-12T06:00:00+02:00"}


def test_what_the_controls_refuse_to_sign(world, tpp, payer):
    """Only the owner can sign, with an offered factor, and once."""
    payment, pro = tpp.pay(payer), world.payer("PRO")
    url = f"payments/{payment.id}/sign"
    right = {"customer": payer.customer, "factor": "sms", "decision": "confirm"}
    assert world.control(url, **{**right, "customer": pro.customer}).status_code == 409
    assert world.control(url, **{**right, "customer": "c99"}).status_code == 404
    assert world.control(url, **{**right, "customer": None}).status_code == 404
    assert world.control(url, **{**right, "factor": "fax"}).status_code == 400
    assert world.control(url, **{**right, "decision": ["confirm"]}).status_code == 400
    assert world.control("payments/nothing/sign", **right).status_code == 404
    assert payment.status() == "received"
    done = world.control(url, **right)
    assert done.json() == {"payment": payment.id, "status": "executed"}
    assert world.control(url, **right).status_code == 409
    other = tpp.pay(pro)
    pros = {**right, "customer": pro.customer, "factor": "soft-token"}
    assert world.control(f"payments/{other.id}/sign", **pros).status_code == 409


@pytest.mark.parametrize(
    ("path", "content", "says"),
    [
        ("customers/c1/creditors", {}, "registered"),
        ("customers/c1/creditors", {"registered": "yesterday"}, "registered"),
        ("customers/c1/creditors", {"registered": "2026-09-16T10:00:01+02:00"}, "a past moment"),
        ("customers/c1/creditors", {"registered": {"hours_ago": -1}}, "hours_ago"),
        ("customers/c1/creditors", {"registered": {"hours_ago": True}}, "hours_ago"),
        ("customers/c1/creditors", {"registered": {"hours_ago": 1e300}}, "hours_ago"),
        ("customers/c1/creditors", {"registered": {"hours_ago": 1}, "iban": "FR76"}, "iban"),
        ("customers", {"segment": "BIG"}, "PART"),
        ("customers", {"segment": ["PART"]}, "PART"),
    ],
)
def test_what_the_controls_do_not_understand(world, payer, path, content, says):
    """A refusal says what was expected."""
    answer = world.control(path, **content)
    assert answer.status_code == 400
    assert says in answer.json()["message"]


def test_renewed_tokens(bank, world, payer, tpp):
    """A renewed token stands for the same party, and the former one for nobody."""
    url = f"customers/{payer.customer}/token"
    token = world.control(url).json()["token"]
    assert [401, 200] == [_accounts(bank, each) for each in (payer.token, token)]
    payment = tpp.pay(payer)
    renewed = world.control("tpps/p1/token").json()
    headers = {"Authorization": f"Bearer {renewed['token']}"}
    read = bank.http.get(f"/payment-requests/{payment.id}", headers=headers)
    assert 200 == read.status_code
    for path in ("tpps/p9/token", "customers/c9/token"):
        assert 404 == world.control(path).status_code


def _accounts(bank, token):
    headers = {"Authorization": f"Bearer {token}", "PSU-IP-Address": "192.0.2.7"}
    return bank.http.get("/accounts", headers=headers).status_code


@pytest.mark.parametrize("offers", [[], {"gold": True}, {"instant": "no"}])
def test_offers_that_there_are_not(bank, offers):
    """A world with unknown offers is refused."""
    answer = bank.http.post("/assay-control/1/worlds", json={"offers": offers})
    assert answer.status_code == 400


def test_controls_say_what_they_can(bank, world, payer):
    """The capabilities of payments are reported, and customers have their codes."""
    about = bank.http.get("/assay-control/1/").json()["capabilities"]
    new = ["tpps", "tpp-tokens", "creditors", "segments", "offers", "executions", "sign", "cancel"]
    assert [*new, "tokens"] == about[-9:]
    assert payer.segment == "PART"
    assert ["sms", "cap", "soft-token", "email"] == list(payer.factors)
    assert all(len(code) == 6 and code.isdigit() for code in payer.factors.values())
    for path in ("customers/c99/creditors", "payments/x/nothing", "executions", "nothing"):
        assert world.control(path, registered={"hours_ago": 1}).status_code == 404
