"""Tokens that last ten minutes: of an endpoint that wants an audience, and of a fixture."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from embedded import run_plan
from examined_files import doubts
from foreign.dialects import BRIEF, COUSIN

from assay.binding.read.join import bind
from assay.binding.wire.encode import Access
from assay.errors import InputError
from assay.files.load import loads
from assay.parsing.parse import parse_contract
from assay.planning.plan import plan
from assay.preparation.target_file import read_document
from assay.rules.verdict import Standing
from assay.transport.auth.tokens import TokenRequest, TokenStore
from assay.transport.protocol import Embedded

HERE = Path(__file__).parent
START = datetime(2026, 9, 16, 10, tzinfo=UTC)
CONTRACT = HERE / "sister.yaml"
DESK = HERE.parent / "general_kinds"
SISTER = (HERE / "sister-target.yaml").read_text("utf-8").replace("[sister]", "[./sister.yaml]")
TARGET = (
    SISTER.replace("  kind: bearer\n", "  kind: bearer\n  expires_in: 600\n")
    .replace(
        "    scope: payments\n",
        "    scope: payments\n    expires_in: 600\n    parameters: {audience: 'https://one.example'}\n",
    )
    .replace("offers: [psu, write]", "offers: [psu, write, renewal]")
)


def run(lasts):
    """Return the standing of each obligation of the desk, whose tokens are said to last so long."""
    text = (
        (DESK / "desk-target.yaml").read_text("utf-8").replace("desk.yaml", str(DESK / "desk.yaml"))
    )
    text = text.replace("auth: {kind: bearer}", f"auth: {{kind: bearer, expires_in: {lasts}}}")
    text = text.replace("offers: [", "offers: [renewal, ")
    target = read_document(loads(text, str(DESK / "changed.yaml")))
    planned = plan(
        bind([parse_contract(DESK / "desk.yaml")], target),
        target,
    )
    result = run_plan(planned, target, lambda _: BRIEF())
    return {each.obligation.partition("/")[2]: each.standing for each in result.verdicts}


def test_the_tokens_of_a_fixture_are_renewed_in_time():
    """By the clock of the bank, so that what is asked a day later is decided."""
    found = run(600)
    left = {name for name, each in found.items() if each is not Standing.CONFORMS}
    assert {"echo/accounts-in-refusals"} == left


def test_a_wrong_lifetime_is_not_the_banks_fault():
    """A token that has expired is refused, and that violates nothing."""
    found = run(31_536_000)
    assert Standing.VIOLATES not in found.values()
    assert Standing.INDETERMINATE is found["key/late"]


def test_the_tokens_of_an_endpoint_last_as_long_as_the_file_says():
    """A token is kept so long, unless the bank does not take it any more."""
    target, bank = read_document(loads(TARGET, str(HERE / "cousin.yaml"))), COUSIN()
    transport = Embedded(bank, target.base_url, ["https://login.example/token"])
    transport.control("POST", "/worlds", {})
    store = TokenStore(target=target, transport=transport, secrets={})

    def token(minutes):
        now = START + timedelta(minutes=minutes)
        return store.token(
            TokenRequest(
                by_tpp=True, customer=Access(), tpp=Access, now=now, sign_in=lambda _: None
            )
        )

    first = token(0)
    assert first == token(8)
    second = token(10)
    assert first != second
    store.forget(second)
    assert token(10) not in {first, second}


def test_a_missing_parameter_is_named():
    """The doctor names the line, and the bank is not blamed."""
    wrong = TARGET.replace("https://one.example'", "https://two.example'")
    found = doubts(CONTRACT, wrong, COUSIN)
    assert any(each.key.startswith("auth.tpp") for each in found), found


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        (", renewal]", "]", "auth.expires_in"),
        ("parameters: {audience:", "parameters: {scope:", "auth.tpp.parameters.scope"),
        ("parameters: {audience:", "parameters: {api_key:", "auth.tpp.parameters.api_key"),
        ("expires_in: 600", "expires_in: 5", "auth.expires_in"),
        ("  kind: bearer\n", "  kind: bearer\n  parameters: {a: b}\n", "auth.parameters"),
    ],
)
def test_a_key_that_cannot_be_right_is_refused(old, new, key):
    """At its own line, before any call."""
    with pytest.raises(InputError) as raised:
        read_document(loads(TARGET.replace(old, new), str(HERE / "cousin.yaml")))
    assert any(key in str(each) for each in raised.value.problems), raised.value
