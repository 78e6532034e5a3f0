"""Changes that send the whole request again, and links that a change answers."""

import json
from datetime import UTC, datetime
from itertools import count

import httpx

from assay.contract.model import Operation
from assay.files.load import loads
from assay.history import Authorise, Authorised, Call, Ending, Wire
from assay.preparation.target_file import read_document
from assay.running.calls import TrialCalls
from assay.running.environment import Environment
from assay.running.executor import Executor
from assay.running.trial_state import TrialState
from assay.sca.protocol import ScreenFlowResult
from assay.transport.http import HttpClient

BASE = "https://bank.example"
NOW = datetime(2026, 9, 16, tzinfo=UTC)
FILE = """\
assay: 1
target: t
transport: http
base_url: https://bank.example
fixtures: {kind: control, offers: [psu, write]}
operations:
  pay:
    path: /orders/{product}
    approval: /link
    one: ""
    template: {sentAs: {kind: letter}, memo: "{unique}"}
    arguments: {price: {body: /price, value: "1"}}
    modes: {later: {path: product, value: later}}
    item: {key: /id}
  move:
    path: /orders/{product}/{id}
    whole: true
    approval: /link
    one: ""
    template: {sentAs: {kind: parcel, weight: 2}, reason: wish}
    arguments: {price: {body: /price, other: "2"}, memo: {body: /memo}}
    item: {key: /id}
  confirm: {path: "/orders/{product}/{id}/confirmation"}
"""
OPERATIONS = {
    each.id: each
    for each in (
        Operation(id="pay", method="POST", path="/o", makes="order", arguments=("price",)),
        Operation(
            id="move",
            method="PUT",
            path="/o",
            changes="order",
            about="id",
            arguments=("price", "memo"),
        ),
        Operation(id="confirm", method="POST", path="/o", about="id", available=False),
    )
}


class Bank:
    """A bank that answers as a test says; it is its own client, fixture and signer."""

    def __init__(self, *answers):
        self.answers, self.sent, self.signed, numbers = list(answers), [], [], count(1)
        client = HttpClient(base_url=BASE, transport=httpx.MockTransport(self.respond))
        target = read_document(loads(FILE))
        trial = TrialState(
            environment=Environment(target=target, client=client, fixtures=self),
            fixture=self,
            signer=self,
            operations=OPERATIONS,
            number=lambda: next(numbers),
        )
        self.executor = Executor(calls=TrialCalls(trial=trial), record=lambda event, access: None)

    def respond(self, request):
        self.sent.append(request)
        status, body = self.answers.pop(0)
        return httpx.Response(status, stream=httpx.ByteStream(json.dumps(body).encode()))

    def clock(self, to):
        return to or NOW

    def return_address(self):
        return None

    def sign(self, step, access, wait):
        self.signed.append(step.approval)
        return ScreenFlowResult(
            ending=Ending.CONFIRMED, moments=[NOW], wire=Wire(method="GET", url="")
        )

    def call(self, operation, **more):
        self.executor.perform(Call(operation=operation, subject="psu", **more))
        body = self.sent[-1].content
        return json.loads(body) if body else None


def test_a_change_repeats_what_was_accepted_last():
    """The body is that of the request or of its last accepted change, as it was sent."""
    bank = Bank(
        (201, {"id": "1"}), (200, {"id": "1"}), (422, {}), (201, {"id": "2"}), (200, {"id": "1"})
    )
    made = bank.call("pay", mode="later")
    about = {"mode": None, "arguments": {"id": "1", "memo": "new"}}
    first = bank.call("move", **about)
    bank.call("move", arguments={"id": "1", "memo": "refused"})
    bank.call("pay", mode="later", arguments={"price": "99"})
    last = bank.call("move", arguments={"id": "1"}, varied=("price",))

    assert made["memo"] not in ("", "new")
    # What the request has counts for more than the template, which adds to it.
    added = {"sentAs": {"kind": "letter", "weight": 2}, "reason": "wish"}
    assert {**made, **added, "memo": "new"} == first
    assert {**first, "price": "2"} == last
    assert "/orders/later/1" == bank.sent[-1].url.path


def test_an_unavailable_operation_repeats_the_slots_of_the_request():
    """It neither shows nor changes a request, and yet is called below its product."""
    bank = Bank((201, {"id": "1"}), (405, {}))
    bank.call("pay", mode="later")
    bank.call("confirm", arguments={"id": "1"})
    assert "/orders/later/1/confirmation" == bank.sent[-1].url.path


def test_a_changed_request_is_signed_at_its_newest_link():
    """That of a refused change, or of another request, is not its own."""
    bank = Bank(
        (201, {"id": "1", "link": f"{BASE}/a"}),
        (200, {"id": "1", "link": f"{BASE}/b"}),
        (422, {"link": f"{BASE}/c"}),
        (201, {"id": "2", "link": f"{BASE}/d"}),
        (200, {"id": "2", "link": f"{BASE}/e"}),
        (200, {"id": "1"}),
    )
    bank.call("pay", mode="later")
    for arguments in ({"id": "1", "memo": "x"}, {"id": "1", "memo": "y"}):
        bank.call("move", arguments=arguments)
    bank.call("pay", mode="later")
    for arguments in ({"id": "2", "memo": "x"}, {"id": "1", "memo": "z"}):
        bank.call("move", arguments=arguments)
    for request, link in (("1", "a"), ("2", "d"), ("3", "f")):
        bank.executor.perform(Authorise(subject="psu", request=request, approval=link))
    assert [f"{BASE}/b", f"{BASE}/e", "f"] == bank.signed


def test_a_change_of_a_signed_request_is_signed_where_its_answer_says():
    """At a link that is new, and neither before the first signature nor for another request."""
    bank = Bank(
        (201, {"id": "1", "link": f"{BASE}/a"}),
        (200, {"id": "1", "link": f"{BASE}/b"}),
        (200, {"id": "1", "link": f"{BASE}/b"}),
        (200, {"id": "1", "link": f"{BASE}/c"}),
        (422, {"id": "1", "link": f"{BASE}/d"}),
        (200, {"id": "1"}),
    )
    bank.call("pay", mode="later")
    bank.call("move", arguments={"id": "1", "memo": "unsigned"})
    bank.executor.perform(Authorise(subject="psu", request="1", approval=f"{BASE}/a"))
    assert [f"{BASE}/b"] == bank.signed
    for memo in ("the same link", "a new link", "refused", "no link"):
        bank.call("move", arguments={"id": "1", "memo": memo})

    assert [f"{BASE}/b", f"{BASE}/c"] == bank.signed
    last = [each.step for each in bank.executor.trial.events if isinstance(each, Authorised)][-1]
    assert ("psu", "1", f"{BASE}/c", True) == (
        last.subject,
        last.request,
        last.approval,
        last.submits,
    )
