"""Outputs: a value of an answer is sent in later calls of the same customer and TPP."""

import json
from datetime import UTC, datetime
from itertools import count

import httpx
import pytest
from rows import for_each

from assay.binding.wire.encode import Access
from assay.binding.wire.links import LONGEST
from assay.contract.model import Operation
from assay.errors import CannotArrange, InputError
from assay.files.load import loads
from assay.history import Call, Subject
from assay.journal.writer import Journal
from assay.preparation.target_file import read_document
from assay.running.calls import TrialCalls
from assay.running.environment import Environment
from assay.running.executor import Executor
from assay.running.trial_state import TrialState
from assay.transport.http import HttpClient

NOW = datetime(2026, 9, 16, tzinfo=UTC)
BASE = "https://bank.example"
FILE = """\
assay: 1
target: t
transport: http
base_url: https://bank.example
operations:
  consents:
    outputs: {consent-id: [/consentId, /id], order: {header: Location}}
  accounts:
    headers: {Consent-ID: "{consent-id}", X-Request-ID: "{unique}"}
    queries: {consent: "{consent-id}"}
  status: {path: "/consents/{consent-id}/status"}
  payments:
    template: {data: {order: "{order}"}}
"""
OPERATIONS = {
    name: Operation(id=name, method=method, path=f"/{name}")
    for name, method in (
        ("consents", "POST"),
        ("accounts", "GET"),
        ("status", "GET"),
        ("payments", "POST"),
    )
}


class Bank:
    """A bank that answers with a consent, in the way that a test says."""

    def __init__(self, *answers, file=FILE):
        self.answers, self.sent, self.events, numbers = list(answers), [], [], count(1)
        target = read_document(loads(file))
        client = HttpClient(base_url=BASE, transport=httpx.MockTransport(self.respond))
        trial = TrialState(
            environment=Environment(target=target, client=client, fixtures=self),
            fixture=self,
            signer=None,
            operations=OPERATIONS,
            number=lambda: next(numbers),
        )
        self.executor = Executor(
            calls=TrialCalls(trial=trial), record=lambda event, access: self.events.append(event)
        )

    def respond(self, request):
        self.sent.append(request)
        status, body, *headers = self.answers.pop(0) if self.answers else (200, {})
        return httpx.Response(
            status, headers=dict(headers), stream=httpx.ByteStream(json.dumps(body).encode())
        )

    def clock(self, to):
        return to or NOW

    def call(self, operation, subject="psu", **more):
        self.executor.perform(Call(operation=operation, subject=subject, **more))
        return self.sent[-1]


def test_a_header_and_a_query_are_left_out_until_there_is_a_value():
    """Before the first accepted answer they are not sent, and then with its value."""
    bank = Bank((200, {}), (201, {"consentId": "C 1/2"}))
    before = bank.call("accounts")
    bank.call("consents")
    after = bank.call("accounts")

    assert (None, b"") == (before.headers.get("Consent-ID"), before.url.query)
    assert ("C 1/2", b"consent=C+1%2F2") == (after.headers["Consent-ID"], after.url.query)


def test_a_path_without_the_value_makes_the_call_impossible():
    """The reason names the key; later the value is one step of the path, whatever it holds."""
    bank = Bank((201, {"id": "a/../b?c#d"}))
    with pytest.raises(CannotArrange, match=r"operations\.consents\.outputs\.consent-id") as none:
        bank.call("status")
    bank.call("consents")

    assert ("operations", "consents", "outputs", "consent-id") == none.value.key
    assert b"/consents/a%2F..%2Fb%3Fc%23d/status" == bank.call("status").url.raw_path


def test_a_body_needs_the_value():
    """A template is filled with it; a URL in a header ends with it."""
    bank = Bank((201, {"id": "1"}, ("Location", f"{BASE}/consents/o%201?x=y")))
    with pytest.raises(CannotArrange, match="no answer of consents has contained it yet"):
        bank.call("payments")
    bank.call("consents")

    assert {"data": {"order": "o 1"}} == json.loads(bank.call("payments").content)


def test_only_an_accepted_answer_counts_and_the_last_one():
    """A refusal changes nothing; a later answer takes the place of an earlier one."""
    bank = Bank((201, {"id": "1"}), (403, {"id": "2"}), (201, {"id": "3"}))
    seen = []
    for _ in range(3):
        bank.call("consents")
        bank.answers.insert(0, (200, {}))
        seen.append(bank.call("accounts").headers["Consent-ID"])

    assert ["1", "1", "3"] == seen


def test_it_is_never_that_of_another_customer_or_another_tpp():
    """What one customer's answer had is not sent for another, nor by another TPP."""
    bank = Bank((201, {"id": "own"}), (201, {"id": "theirs"}))
    bank.call("consents", "psu")
    bank.call("consents", "other")
    sent = [bank.call("accounts", name).headers["Consent-ID"] for name in ("psu", "other")]

    assert ["own", "theirs"] == sent
    assert "Consent-ID" not in bank.call("accounts", "third").headers
    bank.executor.calls.tokens.tpps["another"] = Access()
    bank.executor.trial.access["psu"] = Access(token="psu", tokens={"another": "psu-of-another"})
    by_another = bank.call("accounts", "psu", by="another").headers
    assert "Consent-ID" not in by_another


@for_each(
    "value",
    ["", "a\r\nX-Admin: 1", "a\nb", " a", "é", "\x00", "..", "x" * (LONGEST + 1), True, None, {}],
)
def test_a_hostile_value_is_sent_nowhere(value):
    """A call that needs it is impossible, and says why; it is not sent without it."""
    bank = Bank((201, {"consentId": value}))
    bank.call("consents")
    with pytest.raises(CannotArrange, match="has no value that can be sent"):
        bank.call("accounts")
    assert 1 == len(bank.sent)


def test_a_value_with_braces_is_not_filled_in_again():
    """What looks like another output in it stays as it is."""
    bank = Bank((201, {"id": "{order}{consent-id}"}, ("Location", "/x/secret")))
    bank.call("consents")

    assert "{order}{consent-id}" == bank.call("accounts").headers["Consent-ID"]


def test_a_number_is_a_value():
    """An id may be a number."""
    bank = Bank((201, {"id": 4711}))
    bank.call("consents")
    assert "4711" == bank.call("accounts").headers["Consent-ID"]


def test_it_is_private_in_a_record():
    """A journal shows a pseudonym wherever the value stands."""
    bank, written = Bank((201, {"id": "consent-0815-4711"})), Journal(out=None)
    bank.call("consents")
    bank.call("status")
    for event in bank.events:
        written.learn(event, Access())
        assert "0815" not in json.dumps(written._encode(event))
    assert "<consent-id-1>" in json.dumps(written._encode(bank.events[-1]))
    assert not any(isinstance(event, Subject) for event in bank.events)


@pytest.mark.parametrize(
    ("right", "wrong", "line", "hint"),
    [
        ('Consent-ID: "{consent-id}"', 'Consent-ID: "{consent-it}"', 9, "consent-id"),
        ('{consent: "{consent-id}"}', '{consent: "{token}"}', 10, "known: alike, consent-id"),
        ('{order: "{order}"}', '{order: ["{ordre}"]}', 13, "order"),
        ("{consent-id: [", "{unique: [", 7, "another name"),
    ],
)
def test_a_name_that_means_nothing_is_an_error(right, wrong, line, hint):
    """Each has its line, and a hint that names what was probably meant."""
    with pytest.raises(InputError) as error:
        read_document(loads(FILE.replace(right, wrong)))
    problem = error.value.problems[0]
    assert line == problem.line
    assert hint in str(problem)
