"""Payments that have no modes, at the sandbox bank: they are executed, and a fault in that is found."""

from dataclasses import replace

import pytest
import yaml
from embedded import run_plan, standings
from rows import for_each

from assay.binding.read.join import bind
from assay.history import Authorise, Call, Effect, Effects, Item, Owned, State, Subject
from assay.parsing.parse import parse_contract
from assay.planning.plan import plan
from assay.preparation.target_file import read_target
from assay.rules.dry_run import START
from assay.rules.verdict import Standing
from assay.sandbox.app import make_app
from assay.sandbox.mutants import PIS_MUTANTS
from assay.sandbox.policies import SOUND
from assay.testing import accepted, evidence, exchange, history, problems, signature

RULE = {
    "id": "done",
    "kind": "execution",
    "says": "A payment is executed.",
    "source": {"section": "Payments", "line": 1},
    "request": "payment",
    "unmet": {"chargeBearer": "SHAR"},
    "minutes": 4,
    "denied": "not-open",
}
PAID = {"by": "tpp", "path": "/payment-requests/{id}", "about": "id"}
CONTRACT = {
    "assay": 1,
    "contract": "plain",
    "title": "Payments",
    "version": "1",
    "interface": "plain",
    "document": "Payments",
    "zone": "Europe/Paris",
    "resources": {
        "account": {"says": "an account", "key": "number", "fields": ["number"]},
        "payment": {"says": "a payment", "key": "id", "fields": ["id", "status"]},
    },
    "operations": {
        "pay": {
            "method": "POST",
            "path": "/payment-requests",
            "by": "tpp",
            "makes": "payment",
            "owned": "payer",
            "amount": "amount",
            "payee": "payee",
            "returns": "back",
            "arguments": ["payer", "payee", "amount", "back", "chargeBearer"],
        },
        "show": {"method": "GET", **PAID, "shows": "payment"},
    },
    "rules": [RULE],
}
ITEM = """\
    item:
      key: /paymentRequestResourceId
      state:
        at: /status
        values:
          open: [received, pending]
          done: [executed]
          rejected: [rejected]
          ended: [refused, expired, cancelled]
"""
TARGET = f"""\
assay: 1
target: plain
extends: sandbox
hosts: null
operations:
  create-payment: null
  read-payment: null
  modify-payment: null
  cancel-payment: null
  pay:
    one: ""
    approval: /links/consentApproval
    template: {{paymentType: immediate, categoryPurpose: DVPM, currency: EUR}}
    arguments:
      payer: {{body: /debtorAccount}}
      payee: {{body: /creditorAccount, value: FR7630006000011234567890189}}
      amount: {{body: /amount, value: "12.30"}}
      back: {{body: /successfulReportUrl, value: "https://tpp.example/back"}}
      chargeBearer: {{body: /chargeBearer, value: SLEV}}
{ITEM}  show:
    one: ""
{ITEM}"""
NAMES = {
    "main-flow",
    "once",
    "as-asked",
    "shown-as-it-is",
    "refused-undone",
    "denied-undone",
    "denied-over",
    "unsigned-undone",
    "timed-out-undone",
}
#: What a fault of the sandbox bank breaks.
FAULTS = {
    "pis.execution.no-immediate": {"main-flow"},
    "pis.execution.immediate-twice": {"once"},
    "pis.execution.with-fee": {"as-asked"},
    "pis.execution.refused-open": {"refused-undone"},
    "pis.sca.refused-executed": {"denied-undone"},
    "pis.sca.immediate-unsigned": {"unsigned-undone"},
    "pis.redirect.idle-executes": {"timed-out-undone"},
}


@pytest.fixture(scope="session")
def planned(tmp_path_factory):
    """Plan the contract for the sandbox bank."""
    folder = tmp_path_factory.mktemp("plain")
    (folder / "plain.yaml").write_text(yaml.safe_dump(CONTRACT))
    (folder / "t.yaml").write_text(TARGET)
    target = read_target(folder / "t.yaml")
    return plan(bind([parse_contract(folder / "plain.yaml")], target), target), target


def run(planned, policies):
    """Return the standing of each facet at a bank."""
    found = standings(run_plan(*planned, lambda url: make_app(policies, base_url=url)))
    return {name.removeprefix("plain/done/"): standing for name, standing in found.items()}


def test_the_sound_bank_conforms(planned):
    """Every facet is tested, and none is of a mode."""
    assert dict.fromkeys(NAMES, Standing.CONFORMS) == run(planned, SOUND)


@for_each("fault", [*FAULTS])
def test_a_fault_is_found(fault, planned):
    """Each turns its own facet red, and no other."""
    (mutant,) = (each for each in PIS_MUTANTS if each.id == fault)
    found = run(planned, mutant.change(SOUND))
    assert FAULTS[fault] == {name for name, each in found.items() if each is Standing.VIOLATES}


def test_literal_histories(planned):
    """What was signed is executed, with its values; what was not signed is not."""
    contract = planned[0].contracts["plain"]
    (clause,) = contract.clauses
    sent = {
        "payer": "A1",
        "payee": "C1",
        "amount": "12.30",
        "chargeBearer": "SLEV",
        "back": "https://x",
    }
    call = Call(operation="pay", subject="psu", arguments=sent)
    psu = Subject(name="psu", now=START, owns=(Owned(key="A1", resource="account"),))
    made = exchange(call, accepted(Item(key="P1", state=State.OPEN), approval="https://x"))
    signed = signature(Authorise(subject="psu", request="P1", approval=None), at=START)
    done = Effects(
        now=START, done=(Effect(request="P1", on=START.date(), fields={"amount": "12.30"}),)
    )

    def says(*events):
        found = evidence(clause.rule.parse(clause, contract), history(psu, *events), alone=True)
        return {line.rpartition(" ")[0] for line in found}

    assert {"main-flow agrees", "once agrees", "as-asked agrees"} <= says(made, signed, done)
    assert "unsigned-undone disagrees" in says(made, done)
    assert "main-flow unclear" in says(made, signed, replace(done, done=()))


def test_a_request_with_modes_must_name_those_that_are_served(tmp_path):
    """And one without modes can name none."""
    path = tmp_path / "plain.yaml"

    def found(rule, **pay):
        operations = {**CONTRACT["operations"], "pay": {**CONTRACT["operations"]["pay"], **pay}}
        data = {**CONTRACT, "operations": operations, "rules": [{**RULE, **rule}]}
        path.write_text(yaml.safe_dump(data))
        return problems(path)

    assert [] == found({})
    assert "'served' is missing" in found({}, modes=["now"])[0]
    assert "now" in found({"served": ["now"]})[0]
    assert [] == found({"served": ["now"]}, modes=["now"])
