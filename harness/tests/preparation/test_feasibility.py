"""Feasibility: what stops a trial, and what it costs, is known before anything is sent."""

import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from assay.binding.model.origin import place_of
from assay.binding.model.security import Auth, AuthKind
from assay.binding.model.target import (
    Budget,
    FixtureKind,
    Fixtures,
    Role,
    RoleHolding,
    Safety,
    Sca,
    ScaKind,
)
from assay.binding.read.join import bind
from assay.contract.model import Capability
from assay.journal.writer import Journal
from assay.planning.plan import Disposition, plan
from assay.planning.remedies import ALLOW_WRITES
from assay.preparation.cost import cost_of, lines, record
from assay.preparation.dry_run import dry_run_trial
from assay.preparation.feasibility import assess
from assay.preparation.prepare import prepare
from assay.rules.verdict import Standing
from assay.running.environment import set_up
from assay.running.ledger import Ledger, QuotaUse
from assay.running.session import Session, run_session

SANDBOX = prepare().target
CONTRACTS = [one.contract for one in prepare().bound]
NOW = datetime(2026, 9, 16, 8, tzinfo=UTC)
TODAY = NOW.date()
#: Capabilities that fixtures of kind `roles` may offer without any entries.
READS = (Capability.PSU, Capability.TWO_PSU, Capability.CONSENT, Capability.ROSTER)


def role(name, accounts, cards=0, **keys):
    owns = [RoleHolding(resource="account", key=f"{name}-{n}") for n in range(accounts)]
    owns += [RoleHolding(resource="card", key=f"{name}-card-{n}") for n in range(cards)]
    return Role(name=name, token_env=f"TOKEN_{name}".upper(), owns=tuple(owns), **keys)


def target(*roles, offers=READS, **keys):
    """Return a target with these customers, whose secrets are not set."""
    fixtures = Fixtures(kind=FixtureKind.ROLES, offers=frozenset(offers), roles=roles)
    return replace(SANDBOX, fixtures=fixtures, **{"sca": Sca(), **keys})


def assessed(target, selection="", ledger=None, **keys):
    """Return the feasibility of a plan of the obligations with one of these words."""
    bound = bind(CONTRACTS, target)
    planned = plan(
        bound, target, lambda one: any(word in one.id for word in selection.split() or [""])
    )
    return assess(planned, target, now=NOW, ledger=ledger, **keys)


def dispositions(feasibility):
    """Return for each obligation that it is tested ("asked"), or the reason why not."""
    return {
        one.obligation.id: "asked" if one.disposition is Disposition.ASK else one.reason
        for one in feasibility.plan.items
    }


def spent(path, number, *, customer="alice-0", method="accounts", day=TODAY):
    """Return a ledger with the accesses of another run."""
    ledger = Ledger.at(path)
    use = QuotaUse(
        targets=(place_of(SANDBOX.base_url),),
        customers=(f"owns:{customer}",),
        method=method,
        at=datetime.combine(day, NOW.timetz()),
        zone=SANDBOX.zone,
    )
    for _ in range(number):
        ledger.spend(use, most=None, run="another")
    return path


# -- values that a target file lacks -------------------------------------------------
AMOUNT = "amount: {body: /amount, value: null, other: null}"


@pytest.mark.parametrize("lacking", [AMOUNT, ""])
def test_what_lacks_a_value_is_not_planned(tmp_path, lacking):
    """A plan leaves unverified what a run leaves unverified, where an argument has no value."""
    path = tmp_path / "own.yaml"
    create = f"operations: {{create-payment: {{arguments: {{{lacking}}}}}}}\n" if lacking else ""
    path.write_text(f"assay: 1\ntarget: own\nextends: sandbox\n{create}", encoding="utf-8")
    prepared = prepare(target_name=str(path), keywords="euro or duplicate or payments")
    planned = {
        item.obligation.id: item.reason
        for item in prepared.plan.items
        if item.disposition is Disposition.UNVERIFIED
    }
    environment = set_up(prepared.target)
    session = Session(plan=prepared.plan, environment=environment, journal=Journal(out=None))
    verdicts = run_session(session).verdicts
    unverified = {one.obligation for one in verdicts if one.standing is Standing.UNVERIFIED}
    assert unverified == planned.keys()
    assert bool(lacking) is bool(planned)
    reason = "needs a value for operations.create-payment.arguments.amount in the target file"
    assert {*planned.values()} <= {
        reason,
        "needs operations.create-payment.arguments.amount.other in the target file",
    }


# -- dry runs ----------------------------------------------------------------------
def test_no_trial_is_stopped_on_the_sandbox():
    """On the shipped sandbox every trial runs to its end."""
    prepared = prepare()
    dry_runs = [
        dry_run_trial(prepared.plan, one, prepared.target, NOW) for one in prepared.plan.trials
    ]
    assert {""} == {one.stopped for one in dry_runs}
    assert all(one.calls for one in dry_runs)


def test_nothing_is_sent_and_no_ledger_is_created(monkeypatch, tmp_path):
    """The assessment opens no connection and creates no file."""
    monkeypatch.setenv("ASSAY_LEDGER", str(tmp_path / "l"))
    monkeypatch.setattr("socket.socket", None)
    assert assessed(target(role("alice", 3))).trials
    assert [] == list(tmp_path.iterdir())


def test_a_missing_customer():
    """A trial without a suitable customer is not run; its reason says what is missing."""
    by_id = dispositions(assessed(target(role("alice", 1)), "aisp/accounts.page-size"))
    assert {"needs a customer who owns 11 accounts, 2 cards (fixtures.roles)"} == set(
        by_id.values()
    ) - {
        "asked",
        "needs a customer who owns 18 accounts (fixtures.roles)",
    }
    assert "asked" not in by_id.values()


def test_a_suitable_customer():
    """The same trials are run if a customer owns enough."""
    found = dispositions(assessed(target(role("alice", 18, 2)), "aisp/accounts.page-size"))
    assert {"asked"} == set(found.values())


#: The authentication of a target whose TPP has a token of its own.
WITH_TPP = Auth(kind=AuthKind.BEARER, tpp=Auth(kind=AuthKind.BEARER, token_env="TPP"))


def test_a_missing_token_of_the_tpp_stops_a_trial_in_the_plan():
    """The plan says that the TPP has no token; nothing would be sent without one."""
    offers = (*READS, Capability.WRITE)
    found = assessed(target(role("alice", 3), offers=offers), "pis/well-formed")
    assert () == found.plan.trials
    reasons = {one.reason for one in found.plan.items}
    assert any(reason.startswith("needs a token of the TPP (`auth.tpp`") for reason in reasons)


def test_a_trial_that_is_stopped_half_way():
    """Facets observed before the stop are tested, at that price; the others have the reason."""
    offers = (*READS, Capability.WRITE)
    assessment = assessed(target(role("alice", 3), offers=offers, auth=WITH_TPP), "pis/well-formed")
    (item,) = (one for one in assessment.plan.items if one.obligation.facet == "json")
    (trial,) = assessment.plan.trials
    rehearsed = assessment.trials[trial.id]
    assert rehearsed.stopped.startswith("needs ")
    assert (Disposition.ASK, rehearsed.calls) == (item.disposition, item.calls)
    assert rehearsed.calls == trial.calls > 0


def test_a_missing_signer_stops_a_trial_in_the_plan():
    """A signer that refuses stops the trial in the plan as it would in the run."""
    offers = (*READS, Capability.WRITE)
    by_hand = Sca(kind=ScaKind.CONTROL, factors={"sms": "sms"})
    signed_by = target(role("alice", 3), offers=offers, sca=by_hand, auth=WITH_TPP)
    by_id = dispositions(assessed(signed_by, "pis/duplicate"))
    assert (
        "needs a control API that signs (set `fixtures.kind` to `control` in the target file)"
        in by_id.values()
    )


def test_the_lists_with_the_ids_of_a_target_are_counted():
    """One list is read for each customer if calls need the target's own ids."""
    argument = SANDBOX.operations["balances"].arguments["iban"]
    balances = replace(
        SANDBOX.operations["balances"], arguments={"iban": replace(argument, found="accounts")}
    )
    plain, longer = (
        assessed(
            target(role("alice", 3, 3), operations={**SANDBOX.operations, "balances": binding}),
            "aisp/balances.available/answers",
        )
        for binding in (SANDBOX.operations["balances"], balances)
    )
    (trial,) = plain.plan.trials
    assert plain.trials[trial.id].calls + 1 == longer.trials[trial.id].calls


def test_the_embedded_sandbox_needs_no_assessment():
    """Neither the dry run nor SQLite is imported for the embedded sandbox; the price is the same."""
    code = (
        "import sys; from assay.preparation.prepare import prepare; from assay.running.environment import set_up;"
        "import assay.running.session; p = prepare(); set_up(p.target);"
        "print({'sqlite3', 'assay.preparation.dry_run', 'assay.running.ledger'} & set(sys.modules),"
        " p.feasibility, p.plan.calls)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "set() None 1485\n" == out.stdout


# -- budgets -------------------------------------------------------------------------
def test_a_budget_is_used_in_order():
    """The first trials are planned while the budget lasts; the others say what is left."""
    bound = target(role("alice", 3), role("bob", 1), budget=Budget(batch=4))
    by_id = dispositions(assessed(bound, "aisp/batch-quota/per-"))
    assert {
        "aisp/batch-quota/per-method": "asked",
        "aisp/batch-quota/per-customer": "needs 1 more access of accounts without the customer "
        "today; 0 of 4 left (budget.batch, alice)",
    } == by_id


def test_a_trial_beyond_the_whole_budget():
    """A trial with five accesses is not planned where four are allowed, even if none is used."""
    by_id = dispositions(
        assessed(target(role("alice", 3), budget=Budget(batch=4)), "accounts-refused")
    )
    why = (
        "needs 5 more accesses of accounts without the customer today; "
        "4 of 4 left (budget.batch, alice)"
    )
    assert {why} == set(by_id.values())


def test_the_ledger_is_subtracted(tmp_path):
    """Accesses of another run today are subtracted; those of yesterday are not."""
    few = target(role("alice", 3), budget=Budget(batch=8))
    selection = "aisp/batch-quota/accounts-"
    clean = dispositions(
        assessed(few, selection, spent(tmp_path / "a", 5, day=TODAY - timedelta(1)))
    )
    assert "asked" in clean.values()
    gone = dispositions(assessed(few, selection, spent(tmp_path / "b", 5)))
    why = (
        "needs 5 more accesses of accounts without the customer today; "
        "3 of 8 left (budget.batch, alice)"
    )
    assert [why, why] == [gone[f"{selection}{end}"] for end in ("served", "refused")]


@pytest.mark.parametrize("before", [1, 5])
def test_a_count_that_is_partly_used(tmp_path, before):
    """Without a budget, a probe that would misread a partly used count is not run."""
    path = spent(tmp_path / "l", before)
    by_id = dispositions(assessed(target(role("alice", 3)), "aisp/batch-quota/accounts-", path))
    why = (
        "needs a day with no earlier call of accounts without the customer; "
        f"{before} made earlier today (alice)"
    )
    assert why == by_id["aisp/batch-quota/accounts-served"]
    assert why == by_id["aisp/batch-quota/accounts-refused"]


def test_a_probe_that_still_fits_into_the_quota(tmp_path):
    """One access fits if three of four are used, and not if four are."""
    selection = "online-unlimited/not-counted"
    people = target(role("alice", 3), role("bob", 3))
    for gone, asked in ((3, True), (4, False)):
        path = spent(tmp_path / str(gone), gone)
        assert asked is (
            dispositions(assessed(people, selection, path))[f"aisp/{selection}"] == "asked"
        )


def test_a_budget_of_calls():
    """Trials are planned while the calls last, each at its full price."""
    selection = "aisp/accounts.available aisp/balances.available"
    whole = assessed(target(role("alice", 3, 3)), selection)
    first, *rest = whole.plan.trials
    assert rest
    calls = first.calls + 1
    found = assessed(target(role("alice", 3, 3), budget=Budget(calls=calls)), selection)
    assert found.plan.calls <= calls
    left = {*dispositions(found).values()} - {*dispositions(whole).values()}
    assert left
    assert all(f" of {calls} left (budget.calls)" in why for why in left)


def test_the_order_of_trials_stays():
    """The remaining trials keep the order of the plan."""
    chosen = target(role("alice", 3))
    bound = bind(CONTRACTS, chosen)
    planned = plan(bound, chosen)
    backwards = replace(planned, trials=planned.trials[::-1])
    found = [one.id for one in assess(backwards, chosen, now=NOW).plan.trials]
    assert found
    assert found == [one.id for one in backwards.trials if one.id in found]


# -- a live bank ---------------------------------------------------------------------
def test_a_live_bank_that_is_only_read():
    """Trials that write need safety.allow_writes, and the plan says so for any fixtures."""
    live = replace(SANDBOX, environment="live")
    by_id = dispositions(assessed(live))
    writing = {
        obligation.id
        for each in bind(CONTRACTS, live)
        for obligation in each.obligations
        if obligation.needs & {Capability.WRITE, Capability.CONSENT}
        and not obligation.not_applicable_because
    }
    assert writing
    others = "token endpoint", "several calls at one moment"
    writing = {id_ for id_ in writing if not any(other in by_id[id_] for other in others)}
    assert {f"needs {ALLOW_WRITES}"} == {by_id[id_] for id_ in writing}
    allowed = replace(live, safety=Safety(allow_writes=True))
    assert f"needs {ALLOW_WRITES}" not in dispositions(assessed(allowed)).values()


def test_a_live_bank_without_a_budget():
    """The quota of the contract is the budget there, so a trial with a fifth access is not planned."""
    live = target(role("alice", 3), environment="live", safety=Safety(allow_writes=True))
    by_id = dispositions(assessed(live, "batch-quota/accounts batch-quota/per-method"))
    why = (
        "needs 5 more accesses of accounts without the customer today; "
        "4 of 4 left (budget.batch, alice)"
    )
    assert why == by_id["aisp/batch-quota/accounts-refused"]
    assert "asked" == by_id["aisp/batch-quota/per-method"]


def test_a_maximum_amount_limits_the_plan():
    """If the target file's own amounts exceed its maximum, no trial that pays is planned."""
    small = replace(SANDBOX, safety=Safety(most={"amount": "0.50"}))
    found = dispositions(assessed(small, "pis/payments.create/"))
    assert {"needs amount of no more than 0.50 (safety.most)"} == set(found.values()) - {"asked"}
    enough = replace(SANDBOX, safety=Safety(most={"amount": "12.30"}))
    assert "asked" in dispositions(assessed(enough, "pis/payments.create/")).values()


def test_allowed_creditors_limit_the_plan():
    """A probe that pays another creditor is not planned either."""
    only = Safety(only={"creditorAccount": ("FR7630006000011234567890189",)})
    by_id = dispositions(assessed(replace(SANDBOX, safety=only), "pis/duplicate"))
    why = "needs creditorAccount to be listed in safety.only"
    assert why == by_id["pis/duplicate/creditorAccount-changed-accepted"]
    assert "asked" == by_id["pis/duplicate/amount-changed-accepted"]


# -- cost ----------------------------------------------------------------------------
def test_the_cost_of_a_run(tmp_path):
    """The cost has accesses, what is left of them, and consents, by the target file's names."""
    chosen = target(role("alice", 3), role("bob", 3), budget=Budget(batch=8))
    path = spent(tmp_path / "l", 2)
    cost = cost_of(assessed(chosen, "online-unlimited/not-counted", path), chosen)
    assert {("alice", "accounts", 1, 2, 8), ("bob", "accounts", 1, 0, 8)} == {
        (one.customer, one.operation, one.number, one.earlier, one.most)
        for one in cost.batch
        if one.operation == "accounts"
    }
    said = (
        "1 access of accounts without the customer (alice, 2026-09-16); 2 made earlier; 6 of 8 left"
    )
    assert said in list(lines(cost))
    assert {"alice", "bob"} == set(cost.consents)
    assert json.loads(json.dumps(record(cost)))["consents"] == dict(cost.consents)


def test_requests_are_shown_with_their_amounts_only():
    """Of a request only amounts are shown, because the rest may be personal data."""
    prepared = prepare(keywords="pis and duplicate and repeat")
    cost = cost_of(prepared.foreseen(), prepared.target)
    assert {("create-payment", "amount 12.30"): 2} == cost.written
    assert ["2 calls of create-payment (amount 12.30)", "up to 2 signatures"] == list(lines(cost))


def test_each_customer_has_its_own_count():
    """Two subjects that one customer cannot be are two customers, each with its own count."""
    chosen = target(role("alice", 3), role("bob", 1))
    found = assessed(chosen, "batch-quota/per-customer")
    (one,) = found.trials.values()
    accesses = Counter()
    for (who, _, _), number in one.batch.items():
        accesses[who.name] += number
    assert {"alice", "bob"} == {*accesses}
    assert accesses["bob"] < accesses["alice"]
