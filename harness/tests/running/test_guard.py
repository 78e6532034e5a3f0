"""The guard and its limits: which calls are never sent to a bank."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from rows import for_each

from assay.binding.model.target import (
    Auth,
    AuthKind,
    Budget,
    FixtureKind,
    Fixtures,
    Place,
    Presence,
    Role,
    RoleHolding,
    Safety,
)
from assay.binding.wire.encode import Access, HttpRequest, encode
from assay.contract.model import Capability
from assay.errors import CannotArrange, Shortage
from assay.history import Call, Malformed
from assay.planning.remedies import ALLOW_WRITES
from assay.preparation.prepare import prepare
from assay.rules.verdict import Standing, Verdict
from assay.running.guard import Customer, Guard, customer_of, is_held_back, quotas
from assay.running.ledger import Ledger

PLAN = prepare().plan
SANDBOX = prepare().target
LIVE = replace(
    SANDBOX,
    environment="live",
    safety=Safety(
        allow_writes=True,
        only={"creditorAccount": ("FR7630006000011234567890189",)},
        most={"amount": "12.30"},
    ),
)
REAL = replace(SANDBOX, fixtures=Fixtures(kind=FixtureKind.ROLES, offers=frozenset(Capability)))
OPERATIONS = {id_: one for each in PLAN.contracts.values() for id_, one in each.operations.items()}
NOW = datetime(2026, 9, 16, 8, tzinfo=UTC)
ALICE = Customer(name="alice", keys=frozenset({"owns:FR76-alice"}))
PAY = Call(operation="create-payment", subject="psu", arguments={"debtorAccount": "FR1"})
READ = Call(operation="accounts", subject="psu")
ABSENT = replace(READ, present=False)


def encoded(call, target=SANDBOX):
    return encode(call, OPERATIONS[call.operation], target, Access(token="t"))


def refusal(call, target, request=None, guard=None):
    """Return why a call must not be sent; empty if it may be."""
    guard = guard or Guard(target=target)
    try:
        guard.admit(
            call,
            OPERATIONS[call.operation],
            request or encoded(call),
            lambda: ALICE,
            lambda: NOW,
        )
    except CannotArrange as error:
        return str(error)
    return ""


def with_body(change, call=PAY):
    """Return the request of a call with another body."""
    request = encoded(call)
    return replace(request, body=json.dumps({**json.loads(request.body), **change}).encode())


# -- writing -------------------------------------------------------------------------
@pytest.mark.parametrize(
    "call",
    [
        PAY,
        Call(
            operation="modify-payment", subject="psu", arguments={"paymentRequestResourceId": "1"}
        ),
        Call(
            operation="cancel-payment", subject="psu", arguments={"paymentRequestResourceId": "1"}
        ),
        Call(operation="consents", subject="psu", arguments={"accounts": ["FR1"]}),
    ],
)
def test_a_live_bank_is_only_read(call):
    """Nothing is written at a live bank unless the target file allows it."""
    closed = replace(LIVE, safety=Safety())
    assert str(ALLOW_WRITES) == refusal(call, closed)
    assert refusal(call, SANDBOX) == refusal(call, LIVE) == ""


def test_a_live_bank_is_read():
    """Reading needs no permission."""
    assert "" == refusal(READ, replace(LIVE, safety=Safety()))


@for_each(
    ("change", "reason"),
    [
        ({}, ""),
        ({"amount": "12.31"}, "amount of no more than 12.30 (safety.most)"),
        ({"amount": "-12.31"}, "amount of no more than 12.30 (safety.most)"),
        ({"amount": 12.3}, ""),
        ({"amount": 12.31}, "amount of no more than 12.30 (safety.most)"),
        ({"amount": "1E+9"}, "amount of no more than 12.30 (safety.most)"),
        ({"amount": "NaN"}, "amount of no more than 12.30 (safety.most)"),
        ({"amount": "a lot"}, "amount of no more than 12.30 (safety.most)"),
        ({"amount": True}, "amount of no more than 12.30 (safety.most)"),
        ({"amount": ["1.00"]}, "amount of no more than 12.30 (safety.most)"),
        (
            {"creditorAccount": "DE89370400440532013000"},
            "creditorAccount to be listed in safety.only",
        ),
        ({"creditorAccount": None}, "creditorAccount to be listed in safety.only"),
        (
            {"transfers": [{"amount": "1.00"}, {"amount": "5000"}]},
            "amount of no more than 12.30 (safety.most)",
        ),
        (
            {"transfers": [{"creditorAccount": "DE89370400440532013000"}]},
            "creditorAccount to be listed in safety.only",
        ),
    ],
)
def test_the_content_of_the_request_counts(change, reason):
    """Listed creditors and the maximum amount apply to every place in a request."""
    assert reason == refusal(PAY, LIVE, with_body(change))


@pytest.mark.parametrize("name", ["amount", "creditorAccount"])
def test_a_live_bank_gets_no_unreadable_value(name):
    """A limited value must be readable in a request to a live bank; elsewhere it may be missing."""
    call = replace(PAY, without=(name,))
    assert f"{name} in a place where it can be checked before sending (safety)" == refusal(
        call, LIVE, encoded(call)
    )
    assert "" == refusal(call, replace(LIVE, environment="sandbox"), encoded(call))


def test_a_body_with_a_repeated_member():
    """A body with a repeated member is ambiguous, so nothing in it can be read."""
    body = encoded(PAY).body.replace(b'{"', b'{"amount": "5000", "', 1)
    assert "can be checked" in refusal(PAY, LIVE, replace(encoded(PAY), body=body))


@pytest.mark.parametrize("malformed", [Malformed.NOT_JSON, Malformed.WRONG_TYPES])
def test_nothing_malformed_is_written_to_a_live_bank(malformed):
    """Malformed requests that write are not sent to a live bank."""
    assert "malformed" in refusal(replace(PAY, malformed=malformed), LIVE)
    assert "" == refusal(replace(READ, malformed=Malformed.JUNK_QUERY), LIVE)


def test_limits_apply_to_other_targets_too():
    """Limits apply to any target that has them, and only to what they name."""
    there = replace(LIVE, environment="sandbox")
    assert "safety.most" in refusal(PAY, there, with_body({"amount": "12.31"}))
    assert "safety.only" in refusal(PAY, there, with_body({"creditorAccount": "DE89"}))
    assert "" == refusal(PAY, SANDBOX, with_body({"amount": "12.31"}))


def test_a_limit_of_an_amount_in_cents():
    """The limit is in the main unit, whatever unit the target counts in."""
    binding = LIVE.operations[PAY.operation]
    amount = replace(binding.arguments["amount"], unit=Decimal("0.01"))
    bound = replace(binding, arguments={**binding.arguments, "amount": amount})
    cents = replace(LIVE, operations={**LIVE.operations, PAY.operation: bound})
    assert "" == refusal(PAY, cents, with_body({"amount": 1230}))
    assert "safety.most" in refusal(PAY, cents, with_body({"amount": 1231}))


def test_limits_on_a_modification():
    """A modification need not have the limited values; those that it has must be within the limits."""
    call = Call(operation="modify-payment", subject="psu", arguments={"amount": "12.31"})
    call = replace(call, arguments={**call.arguments, "paymentRequestResourceId": "1"})
    assert "safety.most" in refusal(call, LIVE)
    less = replace(call, arguments={**call.arguments, "amount": "1.00"})
    assert "" == refusal(less, LIVE)


def test_reasons_have_no_private_value():
    """A reason names arguments and keys, never the content of a request."""
    said = refusal(PAY, LIVE, with_body({"creditorAccount": "DE89370400440532013000"}))
    assert "DE89" not in said
    assert "FR76" not in said


# -- the number and the sum of requests ------------------------------------------------
@pytest.mark.parametrize(
    ("environment", "safety", "reasons"),
    [
        ("live", {"requests": 2}, ["", "", "1 more request; 0 of 2 left (safety.requests)"]),
        ("sandbox", {"requests": 1}, ["", "1 more request; 0 of 1 left (safety.requests)"]),
        ("sandbox", {}, [""] * 50),
        (
            "live",
            {"total": {"amount": "25.00"}},
            ["", "", "12.30 more of amount; 0.40 of 25.00 left (safety.total)"],
        ),
    ],
)
def test_the_requests_of_a_run(environment, safety, reasons):
    """Beyond the number or the sum nothing is sent; what was not sent does not count."""
    target = replace(LIVE, environment=environment, safety=replace(LIVE.safety, **safety))
    guard = Guard(target=target)
    assert reasons == [refusal(PAY, target, guard=guard) for _ in reasons]
    assert reasons[-1] == refusal(PAY, target, guard=guard)
    assert "" == refusal(READ, target, guard=guard)


def test_a_live_bank_gets_twenty_requests():
    """Without a number in the target file, a run makes twenty requests at a live bank."""
    guard = Guard(target=LIVE)
    said = [refusal(PAY, LIVE, guard=guard) for _ in range(21)]
    assert [""] * 20 + ["1 more request; 0 of 20 left (safety.requests)"] == said


def test_a_second_amount_in_a_request():
    """Every amount of a request counts for the sum, and each once."""
    target = replace(LIVE, safety=replace(LIVE.safety, total={"amount": "20.00"}))
    twice = with_body({"amount": "10.00", "more": [{"amount": "10.00"}]})
    assert "" == refusal(PAY, target, twice)
    more = with_body({"amount": "10.00", "more": [{"amount": "10.01"}]})
    assert "20.01 more of amount; 20.00 of 20.00 left (safety.total)" == refusal(PAY, target, more)


# -- calls ---------------------------------------------------------------------------
def test_the_budget_of_calls():
    """A call beyond the budget is not sent."""
    target = replace(SANDBOX, budget=Budget(calls=2))
    guard = Guard(target=target)
    assert ["", "", "1 more call; 0 of 2 left (budget.calls)"] == [
        refusal(READ, target, guard=guard) for _ in range(3)
    ]


# -- accesses without the customer ---------------------------------------------------
def guarded(tmp_path, target):
    guard = Guard(target=target, book=Ledger.at(tmp_path / "l"))
    guard.learn(PLAN)
    return guard


def test_accesses_are_counted_by_operation(tmp_path):
    """Each operation has its own count, and calls with the customer are not counted."""
    target = replace(REAL, budget=Budget(batch=1))
    guard = guarded(tmp_path, target)
    no = "1 more access of accounts without the customer today; 0 of 1 left (budget.batch, alice)"
    assert ["", no] == [refusal(ABSENT, target, encoded(ABSENT), guard) for _ in range(2)]
    assert ["", ""] == [refusal(READ, target, encoded(READ), guard) for _ in range(2)]
    assert {("alice", "accounts"): 1} == guard.spent


def test_the_next_run_knows_the_accesses(tmp_path):
    """The ledger outlives the guard."""
    target = replace(REAL, budget=Budget(batch=1))
    assert "" == refusal(ABSENT, target, encoded(ABSENT), guarded(tmp_path, target))
    assert "0 of 1 left" in refusal(ABSENT, target, encoded(ABSENT), guarded(tmp_path, target))


def test_the_quota_is_the_budget_at_a_live_bank(tmp_path):
    """Without a budget in the target file, the contract's quota is the limit at a live bank."""
    target = replace(REAL, environment="live")
    guard = guarded(tmp_path, target)
    said = [refusal(ABSENT, target, encoded(ABSENT), guard) for _ in range(5)]
    assert ["", "", "", ""] == said[:4]
    assert "0 of 4 left (budget.batch, alice)" in said[4]
    assert {"accounts": 4, "consents": 4, "balances": 4, "transactions": 4} == quotas(PLAN.clauses)


def test_a_sandbox_without_a_budget_is_only_counted(tmp_path):
    """Without a budget, accesses to a sandbox are recorded and not limited."""
    guard = guarded(tmp_path, REAL)
    assert [""] * 6 == [refusal(ABSENT, REAL, encoded(ABSENT), guard) for _ in range(6)]
    assert 6 == guard.book.used(guard.use("accounts", ALICE, NOW))


def test_a_live_bank_with_unknown_quotas(tmp_path):
    """A live bank whose quotas are unknown is not called without the customer."""
    target = replace(REAL, environment="live")
    guard = Guard(target=target, book=Ledger.at(tmp_path / "l"))
    assert "0 of 0 left" in refusal(ABSENT, target, encoded(ABSENT), guard)


def test_a_budget_without_a_ledger():
    """An access that cannot be recorded is not made."""
    target = replace(REAL, budget=Budget(batch=4))
    assert "(--ledger)" in refusal(ABSENT, target, encoded(ABSENT))


@pytest.mark.parametrize(
    ("headers", "counted"),
    [
        ((("PSU-IP-Address", "192.0.2.10"),), 0),
        ((("psu-ip-address", "192.0.2.10"),), 0),
        ((), 1),
        ((("PSU-IP-Address", ""),), 1),
        ((("PSU-IP-Address", "192.0.2.10"), ("PSU-IP-Address", "x")), 1),
    ],
)
def test_the_header_counts_and_not_the_intention(tmp_path, headers, counted):
    """A call with a mutated presence header is one without the customer."""
    guard = guarded(tmp_path, REAL)
    assert "" == refusal(READ, REAL, HttpRequest(method="GET", url="x", headers=headers), guard)
    assert counted == guard.spent.total()


def test_a_header_that_marks_absence(tmp_path):
    """Where a header marks absence, every request with it is counted."""
    mark = Presence(place=Place.HEADER, name="X-Batch", value="1", absent=True)
    target = replace(REAL, presence=mark)
    guard = guarded(tmp_path, target)
    for headers, counted in (((), 0), ((("x-batch", "no"),), 1)):
        refusal(READ, target, HttpRequest(method="GET", url="x", headers=headers), guard)
        assert counted == guard.spent.total()


def test_the_calendar_day():
    """The day is that of the contract's zone, else of the target file's, else UTC."""
    late = datetime(2026, 9, 16, 22, 30, tzinfo=UTC)
    guard = Guard(target=replace(REAL, zone=None))
    assert "2026-09-16" == guard.use("accounts", ALICE, late).day.isoformat()
    guard.zones = {"accounts": ZoneInfo("Europe/Paris")}
    assert "2026-09-17" == guard.use("accounts", ALICE, late).day.isoformat()


def test_the_identity_of_a_customer(monkeypatch):
    """A name, any item and any token identify a customer, whatever the variables are called."""
    for name, value in {"A": "secret-a", "B": "secret-b", "C": "secret-a"}.items():
        monkeypatch.setenv(name, value)

    def entry(name, token, *owns, shared=None):
        owned = tuple(RoleHolding(resource="account", key=key) for key in owns)
        role = Role(name=name, token_env=token, owns=owned)
        auth = Auth(kind=AuthKind.BEARER, token_env=shared)
        fixtures = replace(REAL.fixtures, roles=(role,))
        target = replace(REAL, auth=auth, fixtures=fixtures)
        return customer_of(target, Access(id=name), "psu", [])

    alice = entry("alice", "A", "FR1", "FR2")
    for same in (
        entry("alice", "B", "FR9"),
        entry("bob", "A", "FR9"),
        entry("bob", "C"),
        entry("bob", None, "FR9", shared="C"),
        entry("bob", "B", "FR9", " fr 2"),
    ):
        assert alice.keys & same.keys
    for other in (entry("bob", "B", "FR9"), entry("bob", None, "FR9"), entry("b", "UNSET", "FR9")):
        assert not alice.keys & other.keys
    assert "secret-a" not in f"{alice.keys}"
    chosen = customer_of(REAL, Access(token="secret-a"), "psu", ["FR9"])
    assert alice.keys & chosen.keys
    assert not chosen.keys & customer_of(REAL, Access(token="secret-b"), "psu", ["FR8"]).keys


# -- failures ------------------------------------------------------------------------
def test_failures_in_a_row_stop_a_run():
    """A success restarts the count; after the limit nothing more is sent."""
    target = replace(SANDBOX, safety=Safety(breaker=3))
    guard = Guard(target=target)
    for status, trouble in ((500, ""), (0, "timed out"), (404, ""), (503, ""), (0, "reset")):
        guard.see(status, trouble)
    assert "" == guard.stopped
    assert "" == refusal(READ, target, guard=guard)
    guard.see(500, "")
    assert "the run was stopped after 3 failures in a row (safety.breaker)" == guard.stopped
    assert guard.stopped in refusal(READ, target, guard=guard)


@pytest.mark.parametrize(("environment", "most"), [("live", 5), ("sandbox", None)])
def test_the_default_limit_of_failures(environment, most):
    """Without safety.breaker, five failures stop a run on a live bank, and none on a sandbox."""
    guard = Guard(target=replace(SANDBOX, environment=environment))
    for _ in range(4):
        guard.see(500, "")
    assert "" == guard.stopped
    for _ in range(100):
        guard.see(500, "")
    assert bool(most) is bool(guard.stopped)


def test_obligations_left_open_by_a_budget():
    """Only open obligations with a shortage count as held back."""
    why = "needs 5 more accesses of x without the customer today; 0 of 4 left (budget.batch, a)"
    held = Verdict(
        obligation="o", standing=Standing.UNVERIFIED, reason="any", shortage=Shortage.BUDGET
    )
    assert is_held_back(held)
    assert is_held_back(replace(held, shortage=Shortage.UNUSED_QUOTA))
    assert not is_held_back(replace(held, standing=Standing.CONFORMS))
    assert not is_held_back(replace(held, reason=why, shortage=None))
