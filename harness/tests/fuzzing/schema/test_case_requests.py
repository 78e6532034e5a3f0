"""A ready request in a story: sent as it is, and recorded as the call that is nearest."""

from dataclasses import replace
from itertools import count

import pytest

from assay.binding.encode import HttpRequest
from assay.execution.environment import set_up
from assay.execution.executor import executing
from assay.fuzzing.schema.case_requests import nearest, send, slots
from assay.history import Arrange, Call, Exchange, Holding, Malformed
from assay.planning.prepare import prepare

PREPARED = prepare()
PROFILE = PREPARED.target
AISP, PIS = (PREPARED.plan.contracts[one].operations for one in ("aisp", "pis"))


@pytest.fixture
def account():
    """Return a story in which a customer has asked for balances, and that exchange."""
    numbers = count(1)
    with executing(set_up(PROFILE), AISP, number=lambda: next(numbers)) as play:
        psu = play.perform(Arrange(subject="psu", holdings=(Holding(resource="account"),)))
        key = psu.owns[0].key
        play.perform(Call(operation="consents", subject="psu", arguments={"accounts": [key]}))
        asked = Call(operation="balances", subject="psu", arguments={"iban": key})
        yield play, play.perform(asked)


@pytest.fixture
def payment():
    """Return a story in which a customer's payment was asked for, and that exchange."""
    numbers = count(1)
    with executing(set_up(PROFILE), PIS, number=lambda: next(numbers)) as play:
        psu = play.perform(Arrange(subject="psu", holdings=(Holding(resource="account"),)))
        own = {"debtorAccount": psu.owns[0].key}
        asked = Call(operation="create-payment", subject="psu", arguments=own, mode="immediate")
        yield play, play.perform(asked)


def request(exchange):
    """Return the request of an exchange, ready to be sent once more."""
    wire = exchange.wire
    return HttpRequest(
        method=wire.method, url=wire.url, headers=wire.request_headers, body=wire.request_body
    )


def read(exchange, changed, operations):
    """Return the call that a changed request is."""
    ones = [operations[exchange.call.operation]]
    return nearest(changed, exchange, ones, PROFILE, "so")


def test_the_same_request_is_the_same_call(account, payment):
    """A call that was sent is read off its own request, every argument and the mode."""
    for _, control in (account, payment):
        operations = AISP if control.call.operation == "balances" else PIS
        call = read(control, request(control), operations)
        assert replace(control.call, variation="so", varied=()) == call


def test_another_value_is_another_call(account, payment):
    """What stands where the target has an argument is that argument, of whatever type."""
    _, control = account
    known = request(control)
    other = replace(known, url=known.url.partition("?")[0] + "?iban=FR76+1")
    assert {"iban": "FR76 1"} == read(control, other, AISP).arguments
    _, control = payment
    known = request(control)
    other = replace(known, body=known.body.replace(b'"12.30"', b"[1]"))
    call = read(control, other, PIS)
    assert [1] == call.arguments["amount"]
    assert call.malformed is None


def test_what_is_left_out_is_named(payment):
    """An argument that the profile would add is said to be left out."""
    _, control = payment
    known = request(control)
    call = read(control, replace(known, body=known.body.replace(b"chargeBearer", b"x", 1)), PIS)
    assert "chargeBearer" in call.without
    # And "x" is nothing that a call has.
    assert Malformed.WRONG_TYPES is call.malformed


def test_a_call_in_the_customers_absence(account):
    """Without the header of presence the customer is not there."""
    _, control = account
    known = request(control)
    kept = tuple(one for one in known.headers if one[0] != "PSU-IP-Address")
    call = read(control, replace(known, headers=kept), AISP)
    assert not call.present
    assert call.malformed is None


@pytest.mark.parametrize(
    ("name", "value"),
    [("X-Strange", "1"), ("Accept", "text/plain"), ("PSU-IP-Address", "elsewhere")],
)
def test_strange_headers_are_malformed(account, name, value):
    """A header that no call has makes a malformed call, in which all else is read."""
    _, control = account
    known = request(control)
    kept = tuple(one for one in known.headers if one[0] != name)
    call = read(control, replace(known, headers=(*kept, (name, value))), AISP)
    assert Malformed.JUNK_QUERY is call.malformed
    assert control.call.arguments == call.arguments


def test_no_token_is_no_call(account):
    """A request without what authorised the control is no call of the contract's."""
    _, control = account
    known = request(control)
    kept = tuple(one for one in known.headers if one[0] != "Authorization")
    assert read(control, replace(known, headers=kept), AISP).malformed


@pytest.mark.parametrize(
    ("body", "way"),
    [
        (b"", Malformed.EMPTY),
        (b"7", Malformed.WRONG_TYPES),
        (b"{", Malformed.WRONG_TYPES),
    ],
)
def test_bodies_that_no_call_has(payment, body, way):
    """A body that is no call's is malformed."""
    _, control = payment
    assert way is read(control, replace(request(control), body=body), PIS).malformed


def test_one_of_several_operations(payment):
    """Of operations that are spelt alike the one is meant that the body spells."""
    play, made = payment
    key = made.item.key
    change = Call(
        operation="modify-payment",
        subject="psu",
        arguments={"paymentRequestResourceId": key, "amount": "47.11"},
    )
    control = play.perform(change)
    known = replace(request(control), body=b'{"status": "cancelled"}')
    both = [PIS["modify-payment"], PIS["cancel-payment"]]
    call = nearest(known, control, both, PROFILE, "so")
    assert ("cancel-payment", None) == (call.operation, call.malformed)
    neither = nearest(replace(known, body=b'{"status": 1}'), control, both[:1], PROFILE, "so")
    assert ("modify-payment", Malformed.WRONG_TYPES) == (neither.operation, neither.malformed)


def test_what_is_sent_is_a_part_of_the_story(account):
    """It is numbered, timed, decoded and recorded like any other call."""
    play, control = account
    seen = []
    play.record = lambda event, access: seen.append((event, access.token))
    call = read(control, request(control), AISP)
    exchange = send(play, call, request(control))
    assert isinstance(exchange, Exchange)
    assert exchange.accepted
    assert control.n + 1 == exchange.n
    assert control.at == exchange.at
    assert control.items == exchange.items
    assert exchange is play.events[-1]
    assert [(exchange, play.access["psu"].token)] == seen


def test_nothing_leaves_the_host(account):
    """A request to elsewhere is not sent, and says so."""
    play, control = account
    elsewhere = replace(request(control), url="https://elsewhere.example/accounts")
    exchange = send(play, control.call, elsewhere)
    assert "other hosts" in exchange.outcome.why
    assert exchange.wire.status == 0


@pytest.mark.parametrize(
    ("template", "path", "expected"),
    [
        ("/a/{x}/b", "/base/a/1%2F2/b", {"x": "1%2F2"}),
        ("/a/{x}/{y}", "/a/1/2", {"x": "1", "y": "2"}),
        ("/a/{x}", "/a/1/2", {}),
        ("/a", "/a", {}),
    ],
)
def test_slots(template, path, expected):
    """What stands in a path's slots is found by its template alone."""
    assert expected == slots(template, path)


@pytest.mark.parametrize(
    "more", [{"found": "accounts"}, {"words": {"a": "b"}}, {"text": "x{}"}, {"exclusive": True}]
)
def test_what_is_sent_in_other_words_is_not_read_back(account, more):
    """Where the target's word is not the contract's, a request is nobody's plain call."""
    _, control = account
    binding = PROFILE.operations["balances"]
    spelt = {name: replace(one, **more) for name, one in binding.arguments.items()}
    other = replace(PROFILE, operations={"balances": replace(binding, arguments=spelt)})
    call = nearest(request(control), control, [AISP["balances"]], other, "so")
    assert Malformed.JUNK_QUERY is call.malformed
