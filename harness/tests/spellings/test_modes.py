"""Modes that stand in no part of a request: in the scope of its token, or in the bank that gets it."""

from pathlib import Path

import pytest
from foreign.dialects import SISTER
from literal_har import entry, violated
from openapi_spec_validator import OpenAPIV31SpecValidator

from assay.binding.read.join import bind
from assay.contract.model import Party
from assay.errors import InputError
from assay.files.load import loads
from assay.openapi import document
from assay.parsing.parse import parse_document
from assay.preparation.target_file import read_document
from assay.rules.verdict import Standing
from assay.testing import verdicts

HERE = Path(__file__).parent
CONTRACT = (HERE / "sister.yaml").read_text("utf-8")
TARGET = (HERE / "sister-target.yaml").read_text("utf-8")


@pytest.fixture
def run(tmp_path):
    """Return what runs the contract against a bank."""
    contract, target = tmp_path / "sister.yaml", tmp_path / "target.yaml"
    contract.write_text(CONTRACT)
    target.write_text(TARGET)
    return lambda bank: verdicts(contract, target, bank)


def test_a_mode_in_the_token_and_a_mode_that_is_a_bank(run):
    """Each call has the token with the scope of its mode, and goes to the bank of its mode."""
    bank = SISTER()
    assert {Standing.CONFORMS} == set(run(bank).values())
    assert {
        ("one.example", "plain", "payments"),
        ("one.example", None, "payments trusted"),
        ("one.example", None, "payments sealed"),
        ("two.example", None, "payments"),
    } == {*bank.seen}


def test_one_token_for_each_scope(run):
    """A token is requested once for each scope in a trial's life, and not for each call."""
    bank = SISTER()
    run(bank)
    scopes = [grant.scope for grant in bank.grants.values() if not grant.customer]
    assert 3 == len(set(scopes))
    assert len(scopes) <= len(bank.seen)


def test_a_recorded_request_does_not_show_the_scope_of_its_token(tmp_path):
    """What is refused may be in a mode that is served: neither party is convicted."""
    contract, target = tmp_path / "sister.yaml", tmp_path / "target.yaml"
    contract.write_text(CONTRACT)
    target.write_text(TARGET)
    at, url = "2026-11-24T12:00:00+01:00", "https://one.example/v1/payments"
    calls = [entry(at, "POST", url, 403, {}, sent={"account": "A"})]
    files = {"contracts": (str(contract),), "target_name": str(target), "complete": True}
    for party in Party:
        assert set() == violated(tmp_path / "x.har", calls, party=party, **files)


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("kind: client-credentials", "kind: bearer", 23, "no token is requested"),
        ("https://two.example/v2/", "two.example", 29, "expected an http or https URL"),
        ("{scope: payments trusted}", "{scope: a, value: b}", 27, "value"),
        ("{scope: payments trusted}", "{base_url: 5}", 27, "expected an http or https URL"),
    ],
)
def test_a_wrong_mode_is_an_error(old, new, line, says):
    """It has the line of the mode and says what is wrong."""
    text = TARGET.replace(old, new)
    if "kind: bearer" in new:
        before, _, after = text.partition("    token_url:")
        text = before + after[after.index("fixtures:") :]
    with pytest.raises(InputError) as raised:
        read_document(loads(text))
    problems = raised.value.problems
    assert any(says in problem.what and problem.line == line for problem in problems), problems


def test_the_scope_is_of_the_token_of_that_party():
    """The tokens of customers are no reason for a scope of the TPP's own calls to be there."""
    contract = parse_document(loads(CONTRACT))
    at_customers = TARGET.replace(
        "kind: bearer\n  tpp:\n    kind: client-credentials",
        "kind: client-credentials\n  token_url: https://login.example/token\n  client_auth: none\n"
        "  tpp:\n    kind: bearer",
    )
    for setting in ("token_url: https://login.example/token", "client_id: us", "client_auth: none"):
        at_customers = at_customers.replace(f"    {setting}\n", "")
    at_customers = at_customers.replace("    scope: payments\n", "")
    with pytest.raises(InputError) as raised:
        bind([contract], read_document(loads(at_customers)))
    keys = {problem.key for problem in raised.value.problems}
    assert {f"operations.pay.modes.{mode}.scope" for mode in ("trusted", "sealed")} == keys


# -- the exported document --------------------------------------------------------------
def exported(contract=CONTRACT, target=TARGET):
    """Return the OpenAPI document, which is valid."""
    read = read_document(loads(target))
    made = document(bind([parse_document(loads(contract))], read), read)
    OpenAPIV31SpecValidator(made).validate()
    return made


def test_a_scope_is_a_security_requirement_of_its_own():
    """The scheme has all scopes; one that must not be asked for is in none of them."""
    made = exported()
    flow = made["components"]["securitySchemes"]["tpp"]["flows"]["clientCredentials"]
    assert ("https://login.example/token", {"payments": "", "trusted": ""}) == (
        flow["tokenUrl"],
        flow["scopes"],
    )
    pay = made["paths"]["/payments"]["post"]
    assert [{"tpp": ["payments"]}, {"tpp": ["payments", "trusted"]}] == pay["security"]
    assert [{"customer": []}] == made["paths"]["/accounts"]["get"]["security"]
    served = exported(CONTRACT.replace("refused: [sealed]", "served: [sealed]"))
    assert {"tpp": ["payments", "sealed"]} in served["paths"]["/payments"]["post"]["security"]


def test_a_bank_of_its_own_is_a_server():
    """Only the operation that has the mode is served there."""
    made = exported()
    pay = made["paths"]["/payments"]["post"]
    assert [
        {"url": "https://one.example/v1"},
        {"url": "https://two.example/v2", "description": "Selects the mode sister."},
    ] == pay["servers"]
    assert "servers" not in made["paths"]["/accounts"]["get"]
    (mode,) = [each for each in pay["x-assay-modes"] if each["mode"] == "sister"]
    assert {"mode": "sister", "in": "base_url", "value": "https://two.example/v2"} == mode


def test_operations_at_one_path_keep_their_scopes_and_servers():
    """Two operations that a target binds to the same path are one, with those of both."""
    contract = CONTRACT.replace(
        "rules:", "  ask: {method: POST, path: /payments, by: tpp, lists: [account]}\nrules:"
    )
    made = exported(contract, TARGET.replace("  pay:\n", '  ask: {list: ""}\n  pay:\n'))
    both = made["paths"]["/payments"]["post"]
    assert (2, 2) == (len(both["servers"]), len(both["security"]))
