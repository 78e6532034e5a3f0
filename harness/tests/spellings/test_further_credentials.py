"""Credentials that stand in one call beside its token: of the TPP, of the customer, of the gateway."""

from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import httpx
import pytest
from embedded import run_plan
from examined_files import doubts
from foreign.dialects import HARRIER

from assay.binding.read.join import bind
from assay.binding.wire.encode import Access
from assay.errors import InputError
from assay.files.load import loads
from assay.history import Call
from assay.journal.writer import Journal
from assay.parsing.parse import find_contract, parse_contract
from assay.planning.plan import plan
from assay.preparation.target_file import read_document
from assay.rules.verdict import Standing
from assay.running.calls import TrialCalls
from assay.running.environment import Environment, set_up
from assay.running.executor import Executor
from assay.running.trial_state import TrialState
from assay.transport.http import HttpClient

HERE = Path(__file__).parent
CONTRACT = HERE / "kestrel.yaml"
FURTHER = (
    "[{header: X-Api-Key, env: HARRIER_KEY}, {query: customer, of: customer-id},"
    ' {body: /head/tpp, text: "T:{}", of: tpp}]'
)
KESTREL = (HERE / "kestrel-target.yaml").read_text("utf-8")


def text(further=FURTHER, auth="kind: bearer"):
    """Return the target file of Kestrel Bank with further credentials."""
    changed = KESTREL.replace("{kind: bearer}", f"{{{auth}, further: {further}}}")
    changed = changed.replace("roster, write]", "roster, write, tpps]")
    return changed.replace("[400, 403, 422]", "[400, 401, 403, 422]")


@pytest.fixture(autouse=True)
def gate_key(monkeypatch):
    """Set the key of the gateway."""
    monkeypatch.setenv("HARRIER_KEY", HARRIER.api_key)


def run(bank, journal=None):
    """Return the standing of each obligation at a bank."""
    target = read_document(loads(text(), str(HERE / "harrier.yaml")))
    planned = plan(bind([parse_contract(CONTRACT)], target), target)
    result = run_plan(planned, target, lambda _: bank, journal=Journal(out=journal))
    return {each.obligation.partition("/")[2]: each.standing for each in result.verdicts}


def test_the_sound_bank_conforms_and_no_credential_is_recorded(tmp_path):
    """Each call has all of them, and each is masked wherever it stands."""
    bank, path = HARRIER(), tmp_path / "journal.jsonl"
    with path.open("w") as journal:
        assert {Standing.CONFORMS} == {*run(bank, journal).values()}
    recorded = path.read_text("utf-8")
    secrets = [bank.api_key, *(name for world in bank.worlds.values() for name in world.tpps)]
    owners = [each for world in bank.worlds.values() for each in world.customers]
    secrets += [f"id-of-{each.login}" for each in owners]
    assert len(secrets) > 10
    assert "?api-version=" in recorded
    assert not [each for each in secrets if f'"{each}"' in recorded or f"={each}" in recorded]


@pytest.mark.parametrize(
    ("further", "key", "what"),
    [
        ("[{header: Authorization, of: tpp}]", "auth.further", "same place"),
        ("[{header: X-A, of: tpp}, {header: x-a, env: HARRIER_KEY}]", "auth.further", "same place"),
        ("[{header: X-A, of: customer}]", "auth.further", "is that of the customer"),
        ("[{header: X-A, of: bank}]", "auth.further", "customer-id or login"),
        ("[{header: X-A, env: HARRIER_KEY, of: tpp}]", "auth.further", "expected nothing here"),
        ("[{header: X-A, secret: number, of: tpp}]", "auth.further", "expected nothing here"),
        ("[{header: X-A, secret: number, env: A}]", "auth.further", "expected nothing here"),
        ("[{header: X-A}]", "auth.further", "'of' is missing"),
        ("[{env: HARRIER_KEY}]", "auth.further", "exactly one of header, query and body"),
        ("[]", "auth.further", ""),
    ],
)
def test_a_place_that_cannot_be_right_is_refused(further, key, what):
    """At its own line, before any call."""
    with pytest.raises(InputError) as raised:
        read_document(loads(text(further)))
    assert any(key in str(each) and what in str(each) for each in raised.value.problems)


def test_a_variable_that_is_not_set_is_named(monkeypatch):
    """With the place that needs it."""
    monkeypatch.delenv("HARRIER_KEY")
    with pytest.raises(InputError, match=r"auth\.further\.0: the environment variable HARRIER_KEY"):
        set_up(read_document(loads(text(), str(HERE / "harrier.yaml"))), bank=lambda _: HARRIER())


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("{header: X-Api-Key, env: HARRIER_KEY}, ", "", "auth"),
        ("env: HARRIER_KEY", "of: login", "auth"),
        (' {body: /head/tpp, text: "T:{}", of: tpp}', "", "auth"),
        ("{query: customer, of: customer-id},", "", "operations.accounts"),
        ("of: customer-id", "of: login", "operations.accounts"),
    ],
)
def test_a_credential_that_is_missing_or_wrong_is_named(old, new, key):
    """The doctor stops at a call that is refused, and says that credentials may be the reason."""
    found = doubts(CONTRACT, text(FURTHER.replace(old, new)), HARRIER)
    assert any(each.key.startswith(key) for each in found), found
    assert any("credential" in str(each) or "token" in str(each) for each in found), found


class TwoTpps:
    """A fixture whose TPPs have keys of their own, and the client of a bank that serves all."""

    def __init__(self, hosts="[]"):
        self.sent, self.tokens, numbers = [], [], count(1)
        self.names = iter([Access(), Access(id="second", secrets={"key": "key-of-the-second"})])
        head = ["assay: 1", "target: t", "extends: sandbox", "transport: http"]
        auth = "auth: {kind: bearer, further: [{header: X-Key, secret: key}]}"
        lines = [*head, "base_url: https://bank.example", f"hosts: {hosts}", auth]
        target = read_document(loads("\n".join(lines)))
        client = HttpClient(
            base_url=target.base_url,
            hosts=target.hosts,
            transport=httpx.MockTransport(self.respond),
        )
        trial = TrialState(
            environment=Environment(target=target, client=client, fixtures=self),
            fixture=self,
            signer=self,
            operations=parse_contract(find_contract("aisp")).operations,
            number=lambda: next(numbers),
        )
        own = {"second": "t2", "third": "t3", "https://other.example": "at-the-other"}
        trial.access["psu"] = Access(token="t1", tokens=own, secrets={"key": "key-of-the-customer"})
        self.executor = Executor(calls=TrialCalls(trial=trial), record=lambda event, access: None)

    def respond(self, request):
        self.sent.append(request.headers["X-Key"])
        self.tokens.append(request.headers["Authorization"])
        return httpx.Response(200, stream=httpx.ByteStream(b'{"accounts": []}'))

    def clock(self, to):
        return to or datetime(2026, 9, 16, tzinfo=UTC)

    def tpp(self):
        return next(self.names)


def test_a_host_may_have_a_token_of_its_own():
    """The usual one is sent elsewhere."""
    bank = TwoTpps(hosts="[https://other.example, https://third.example]")
    for host in (None, 0, 1):
        bank.executor.perform(Call(operation="accounts", subject="psu", host=host))
    assert ["Bearer t1", "Bearer at-the-other", "Bearer t1"] == bank.tokens


def test_a_further_tpp_has_its_own_secret():
    """That of the customer stands in the calls of the usual one, which has none."""
    bank = TwoTpps()
    for by in ("", "second", ""):
        bank.executor.perform(Call(operation="accounts", subject="psu", by=by))
    assert ["key-of-the-customer", "key-of-the-second", "key-of-the-customer"] == bank.sent
