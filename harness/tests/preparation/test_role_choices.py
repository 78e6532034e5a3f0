"""Which of the listed customers a trial takes: in the plan, in the run, and on the same day again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from assay.binding.model.origin import place_of
from assay.binding.model.target import (
    FixtureKind,
    Fixtures,
    Role,
    RoleHolding,
    RoleRegistration,
    Sca,
    ScaKind,
    Target,
)
from assay.binding.read.join import bind
from assay.contract.model import Capability
from assay.errors import InputError
from assay.history import Entry
from assay.journal.writer import Journal
from assay.parsing.parse import find_contract, parse_contract
from assay.planning.plan import Disposition, plan
from assay.preparation.feasibility import Feasibility, assess
from assay.preparation.prepare import prepare
from assay.running.environment import set_up
from assay.running.ledger import Ledger, QuotaUse
from assay.running.session import Options, Session, run_session
from assay.sandbox.app import make_app
from assay.sandbox.serve import serving

NOW = datetime(2026, 9, 16, 8, tzinfo=UTC)
SANDBOX = prepare().target
OFFERS = frozenset({Capability.PSU, Capability.TWO_PSU, Capability.CONSENT, Capability.ROSTER})
WRITES = OFFERS | {Capability.WRITE, Capability.CREDENTIALS, Capability.REGISTRATIONS}


def role(name: str, accounts: int = 3, **keys: Any) -> Role:
    """Return a customer with accounts, and one card."""
    owns = [RoleHolding(resource="account", key=f"{name}-{n}") for n in range(accounts)]
    owns.append(RoleHolding(resource="card", key=f"{name}-card"))
    secrets = {"token_env": f"T_{name}", "login_env": "L", "password_env": "P"}
    return Role(name=name, owns=tuple(owns), **{**secrets, **keys})


def target_of(roles: Sequence[Role], offers: frozenset[Capability] = OFFERS) -> Target:
    """Return a target with these customers, whose secrets are not set."""
    fixtures = Fixtures(kind=FixtureKind.ROLES, offers=offers, roles=tuple(roles))
    sca = SANDBOX.sca if Capability.WRITE in offers else Sca(kind=ScaKind.NONE)
    tpp = replace(SANDBOX.auth, token_env="T_TPP")
    return replace(SANDBOX, fixtures=fixtures, sca=sca, auth=replace(SANDBOX.auth, tpp=tpp))


def assessed(target: Target, words: str, ledger: Path | None = None) -> Feasibility:
    """Return the feasibility of the obligations that have one of the words."""
    bound = bind([parse_contract(find_contract(name)) for name in ("aisp", "pis")], target)
    planned = plan(bound, target, lambda each: any(word in each.id for word in words.split()))
    return assess(planned, target, now=NOW, ledger=ledger)


def taken(feasibility: Feasibility) -> dict[str, tuple[str, ...]]:
    """Return the customers that each trial takes."""
    choices = {trial.id: trial.choice for trial in feasibility.plan.trials}
    return {name: choice.taken for name, choice in choices.items() if choice}


def reasons(feasibility: Feasibility) -> dict[str, str]:
    """Return why obligations are not tested."""
    return {
        item.obligation.id: item.reason
        for item in feasibility.plan.items
        if item.disposition is not Disposition.ASK
    }


def test_the_first_customer_is_taken_where_nothing_was_used() -> None:
    """Trials that use nothing up take the customers in the order of the file, each time."""
    people = target_of([role("alice", 6), role("bob", 6)])
    first = taken(assessed(people, "accounts.available accounts.page-size"))
    assert first == taken(assessed(people, "accounts.available accounts.page-size"))
    assert {("alice",)} == {*first.values()}


def test_a_quota_that_is_used_up_is_tested_with_another_customer(tmp_path: Path) -> None:
    """By an earlier run or an earlier trial: the plan takes the customer whose quota is unused."""
    people = [role("alice"), role("bob")]
    ledger = Ledger.at(tmp_path / "ledger")
    places, customers = (place_of(SANDBOX.base_url),), ("owns:alice-0",)
    use = QuotaUse(targets=places, customers=customers, method="accounts", at=NOW)
    ledger.spend(use, most=None, run="earlier")
    words = "batch-quota/accounts-served batch-quota/accounts-refused"
    spent = assessed(target_of(people[:1]), words, ledger.path)
    assert 2 == len(reasons(spent))
    both = assessed(target_of(people), words, ledger.path)
    assert {} == reasons(both)
    assert {("bob",)} == {*taken(both).values()}
    # Within one run: two trials that need an unused day of the same operation.
    words += " batch-quota/per-method"
    alone = assessed(target_of(people[:1]), words)
    assert ["aisp/batch-quota/per-method"] == [*reasons(alone)]
    together = assessed(target_of(people), words)
    assert {} == reasons(together)
    assert [("alice",), ("bob",)] == [*taken(together).values()]


def test_requests_are_about_the_least_used_accounts() -> None:
    """Trials that sign requests spread them over customers, and over what these own."""
    people = target_of([role("alice", 2), role("bob", 2)], WRITES)
    found = assessed(people, "payments.create payments.read report-url duplicate")
    used = [each.items for each in found.trials.values() if max(each.items.values(), default=0) > 9]
    assert 4 < len(used)
    # Each of the four accounts is used once before any of them is used again.
    firsts = [next(iter(items)) for items in used if len(items) == 1][:4]
    assert len(firsts) == len({*firsts})
    assert {"alice", "bob"} == {name for names in taken(found).values() for name in names}


def test_a_customer_of_the_right_creditor_is_found() -> None:
    """A trial that needs an old registration takes who has one; another, who has none."""
    value = "FR7630006000011234567890189"
    old = (RoleRegistration(argument="creditorAccount", value=value, since="2026-01-01"),)
    names = ("alice", "bob", "carol")
    people = target_of(
        [role(name, registrations=old if name == "bob" else ()) for name in names], WRITES
    )
    found = taken(assessed(people, "cash/creditorAccount-long cash/categoryPurpose-CASH"))
    assert ("bob",) == found["pis/cash#creditorAccount-long"]
    assert "bob" not in found["pis/cash#categoryPurpose-CASH"]


def test_the_best_matching_entries_come_before_the_least_use() -> None:
    """A customer whose entries fit is taken, however often; one without is no substitute."""
    day = NOW.date().replace(day=1)
    entries = tuple(Entry(key=f"E{n}", on=day) for n in range(20))
    full = role("bob", 1)
    full = replace(full, owns=(replace(full.owns[0], entries=entries), *full.owns[1:]))
    people = target_of([role("alice"), full], OFFERS | {Capability.ENTRIES})
    found = taken(assessed(people, "transactions.page-size"))
    assert {("bob",)} == {*found.values()}


def test_the_segment_of_the_first_role_stays() -> None:
    """Where all customers have a segment, use does not change whose segment is the usual one."""
    segments = {"alice": "PART", "bob": "PRO", "carol": "PART"}
    people = [role(name, segment=segment) for name, segment in segments.items()]
    found = taken(assessed(target_of(people, WRITES), "payments.create report-url execution"))
    assert {"alice", "carol"} == {name for names in found.values() for name in names}


# -- the whole way -----------------------------------------------------------------
def target_file(url: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Make two customers as an operator would by hand, and write the file that lists them."""
    control = f"{url}/assay-control/1/worlds"
    roles: dict[str, Any] = {}
    with httpx.Client(trust_env=False) as http:
        world = http.post(control, json={"now": NOW.isoformat()}).json()["world"]
        for name in ("alice", "bob"):
            holdings = [{"resource": "account", "count": 2}, {"resource": "card"}]
            made = http.post(f"{control}/{world}/customers", json={"holdings": holdings}).json()
            monkeypatch.setenv(f"T_{name.upper()}", made["token"])
            owns = [{"resource": each["resource"], "key": each["key"]} for each in made["holdings"]]
            roles[name] = {"token_env": f"T_{name.upper()}", "owns": owns}
    path = folder / "bank.yaml"
    path.write_text(
        f"""\
assay: 1
target: bank
extends: sandbox
transport: http
base_url: {url}
hosts: null
sca: null
fixtures:
  kind: roles
  effects: null
  now: "{NOW.isoformat()}"
  offers: [psu, two-psu, consent, roster]
  roles: {json.dumps(roles)}
"""
    )
    return str(path)


def test_a_run_takes_the_customers_of_its_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second run of a day takes the other customer, and its command says which."""
    words = "batch-quota/accounts-served"
    with serving(make_app()) as url:
        path = target_file(url, tmp_path, monkeypatch)
        commands: list[str] = []
        for expected in ("alice", "bob"):
            prepared = prepare(["aisp"], path, keywords=words, ledger=tmp_path / "ledger")
            assert {} == reasons_of_plan(prepared.plan.items)
            (chosen,) = (trial.choice.taken for trial in prepared.plan.trials if trial.choice)
            environment = set_up(prepared.target, ledger=tmp_path / "ledger")
            options = Options(reproduce=prepared.reproduce)
            journal = Journal(out=None)
            session = Session(
                plan=prepared.plan, environment=environment, journal=journal, options=options
            )
            result = run_session(session)
            environment.close()
            assert {"conforms"} == {each.standing.value for each in result.verdicts}
            commands.append(session.sources.reproduce("aisp/batch-quota/accounts-served"))
            assert (expected,) == chosen
    assert commands[0].endswith("--role alice -k aisp/batch-quota/accounts-served")
    assert commands[1].endswith("--role bob -k aisp/batch-quota/accounts-served")


def reasons_of_plan(items: Any) -> dict[str, str]:
    """Return why obligations are not tested."""
    return {each.obligation.id: each.reason for each in items if each.reason}


def test_a_role_that_is_named_is_the_only_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--role` restricts the plan; a name that the file lacks is an error with a hint."""
    with serving(make_app()) as url:
        path = target_file(url, tmp_path, monkeypatch)
    prepared = prepare(["aisp"], path, keywords="accounts.available", roles=["bob"])
    assert {("bob",)} == {each.choice.taken for each in prepared.plan.trials if each.choice}
    two = prepare(["aisp"], path, keywords="batch-quota/per-customer", roles=["bob", "alice"])
    assert {("bob", "alice")} == {each.choice.taken for each in two.plan.trials if each.choice}
    with pytest.raises(InputError, match=r"--role: bank has no role 'bbo' \(did you mean 'bob'"):
        prepare(["aisp"], path, roles=["bbo"])
    with pytest.raises(InputError, match=r"sandbox has no role 'bob' \(the option is for"):
        prepare(roles=["bob"])
