"""A request that is sent again with one change: what is sent, and the nearest call."""

import json
from dataclasses import replace
from itertools import count

import pytest

from assay.binding.model.spelling import quoted_slots
from assay.binding.model.target import Place, Spelling
from assay.binding.wire.encode import HttpRequest
from assay.errors import CannotArrange
from assay.history import Arrange, Call, Exchange, Holding, Malformed, Resend
from assay.preparation.prepare import prepare
from assay.running.environment import set_up
from assay.running.executor import executing
from assay.running.resend import changed, nearest, request_of, vouched

PREPARED = prepare()
TARGET = PREPARED.target
AISP, PIS = (PREPARED.plan.contracts[name].operations for name in ("aisp", "pis"))


@pytest.fixture
def account():
    """Return an executor after balances of a customer were read, and that exchange."""
    numbers = count(1)
    with executing(set_up(TARGET), AISP, number=lambda: next(numbers)) as executor:
        psu = executor.perform(Arrange(subject="psu", holdings=(Holding(resource="account"),)))
        key = psu.owns[0].key
        executor.perform(Call(operation="consents", subject="psu", arguments={"accounts": [key]}))
        call = Call(operation="balances", subject="psu", arguments={"iban": key})
        yield executor, executor.perform(call)


@pytest.fixture
def payment():
    """Return an executor after a customer's payment was requested, and that exchange."""
    numbers = count(1)
    with executing(set_up(TARGET), PIS, number=lambda: next(numbers)) as executor:
        psu = executor.perform(Arrange(subject="psu", holdings=(Holding(resource="account"),)))
        own = {"debtorAccount": psu.owns[0].key}
        call = Call(operation="create-payment", subject="psu", arguments=own, mode="immediate")
        yield executor, executor.perform(call)


def read(exchange, changed, operations):
    """Return the call that a changed request is."""
    operation = operations[exchange.call.operation]
    return nearest(changed, exchange, [operation], TARGET, "so")


def test_the_same_request_is_the_same_call(account, payment):
    """A call is decoded from its own request, with every argument and the mode."""
    for _, control in (account, payment):
        operations = AISP if control.call.operation == "balances" else PIS
        call = read(control, request_of(control), operations)
        assert replace(control.call, variation="so", varied=()) == call


def test_another_value_is_another_call(account, payment):
    """A value at the place of an argument is that argument, of whatever type."""
    _, control = account
    known = request_of(control)
    other = replace(known, url=known.url.partition("?")[0] + "?iban=FR76+1")
    assert {"iban": "FR76 1"} == read(control, other, AISP).arguments
    _, control = payment
    known = request_of(control)
    other = replace(known, body=known.body.replace(b'"12.30"', b"[1]"))
    call = read(control, other, PIS)
    assert [1] == call.arguments["amount"]
    assert call.malformed is None


def test_a_missing_argument_is_named(payment):
    """An argument that the target file would add is named as left out."""
    _, control = payment
    known = request_of(control)
    call = read(control, replace(known, body=known.body.replace(b"chargeBearer", b"x", 1)), PIS)
    assert "chargeBearer" in call.without
    # No call has the member "x".
    assert Malformed.WRONG_TYPES is call.malformed


def test_a_call_in_the_customers_absence(account):
    """Without the presence header the customer is not present."""
    _, control = account
    known = request_of(control)
    kept = tuple(header for header in known.headers if header[0] != "PSU-IP-Address")
    call = read(control, replace(known, headers=kept), AISP)
    assert not call.present
    assert call.malformed is None


@pytest.mark.parametrize(
    ("name", "value"),
    [("X-Strange", "1"), ("Accept", "text/plain"), ("PSU-IP-Address", "elsewhere")],
)
def test_strange_headers_are_malformed(account, name, value):
    """A header that no call has makes a malformed call, whose arguments are decoded."""
    _, control = account
    known = request_of(control)
    kept = tuple(header for header in known.headers if header[0] != name)
    call = read(control, replace(known, headers=(*kept, (name, value))), AISP)
    assert Malformed.JUNK_QUERY is call.malformed
    assert control.call.arguments == call.arguments


def test_no_token_is_no_call(account):
    """A request without the credentials of the control is a malformed call."""
    _, control = account
    known = request_of(control)
    kept = tuple(header for header in known.headers if header[0] != "Authorization")
    assert read(control, replace(known, headers=kept), AISP).malformed


@pytest.mark.parametrize(
    ("body", "malformed"),
    [
        (b"", Malformed.EMPTY),
        (b"7", Malformed.WRONG_TYPES),
        (b"{", Malformed.WRONG_TYPES),
    ],
)
def test_bodies_that_no_call_has(payment, body, malformed):
    """A body that no call has makes a malformed call."""
    _, control = payment
    assert malformed is read(control, replace(request_of(control), body=body), PIS).malformed


def test_one_of_several_operations(payment):
    """Of operations with the same method and path, the body decides."""
    executor, made = payment
    key = made.item.key
    change = Call(
        operation="modify-payment",
        subject="psu",
        arguments={"paymentRequestResourceId": key, "amount": "47.11"},
    )
    control = executor.perform(change)
    known = replace(request_of(control), body=b'{"status": "cancelled"}')
    both = [PIS["modify-payment"], PIS["cancel-payment"]]
    call = nearest(known, control, both, TARGET, "so")
    assert ("cancel-payment", None) == (call.operation, call.malformed)
    neither = nearest(replace(known, body=b'{"status": 1}'), control, both[:1], TARGET, "so")
    assert ("modify-payment", Malformed.WRONG_TYPES) == (neither.operation, neither.malformed)


def again(control, place, values=(), removed=(), **more):
    """Return the step that sends the request of an exchange again with a change."""
    return Resend(
        subject="psu",
        exchange=control.n,
        place=place,
        values=dict(values),
        removed=removed,
        variation="so",
        **more,
    )


def test_a_sent_request_is_a_part_of_the_history(account):
    """A request is numbered, timed, decoded and recorded like any other call."""
    executor, control = account
    seen = []
    executor.record = lambda event, access: seen.append((event, access.token))
    exchange = executor.perform(again(control, "query"))
    assert isinstance(exchange, Exchange)
    assert exchange.accepted
    assert control.n + 1 == exchange.n
    assert control.at == exchange.at
    assert control.items == exchange.items
    assert exchange is executor.trial.events[-1]
    assert [(exchange, executor.trial.access["psu"].token)] == seen


def test_only_an_earlier_exchange_is_sent_again(account):
    """A step about an exchange that there is not cannot be performed."""
    executor, control = account
    with pytest.raises(CannotArrange):
        executor.perform(replace(again(control, "query"), exchange=99))


def test_nothing_leaves_the_host(account):
    """A request to another host is not sent, and its outcome says so."""
    executor, control = account
    elsewhere = replace(request_of(control), url="https://elsewhere.example/accounts")
    exchange = executor.calls.exchanged(control.call, elsewhere)
    assert "other hosts" in exchange.outcome.why
    assert exchange.wire.status == 0


def test_the_refusal_of_an_unknown_value_shows_nothing(payment):
    """The refusal of a value that was never accepted before is not judged."""
    executor, control = payment
    odd = executor.perform(again(control, "body", {"amount": "-7"}))
    assert odd.refused
    assert "never accepted before" in odd.confounded
    assert "" == executor.perform(again(control, "body")).confounded


def test_only_known_values_are_vouched_for():
    """A call is vouched for if all its values are those of the control or the target file."""
    binding = replace(
        TARGET.operations["create-payment"],
        arguments={
            "a": Spelling(place=Place.BODY, name="/a", value=1, other=2),
            "b": Spelling(place=Place.BODY, name="/b"),
        },
    )
    control = Call(operation="x", subject="psu", arguments={"a": 3, "b": "y"})
    known = [
        vouched(replace(control, arguments={"a": value, "b": "y"}), control, binding)
        for value in (3, 2, True, 4)
    ]
    assert [True, True, False, False] == known
    assert not vouched(replace(control, arguments={"a": 3, "b": None}), control, binding)
    assert not vouched(replace(control, arguments={"a": 3}), control, binding)
    assert not vouched(replace(control, mode="other"), control, binding)


# -- the changed request -------------------------------------------------------

KNOWN = HttpRequest(
    method="POST",
    url="https://bank.example/v1/things/a%2Fb?on=1&off=2",
    headers=(("Accept", "application/json"), ("Authorization", "Bearer x")),
    body=b'{"one": 1, "two": "2"}',
)


def sent(place, values=(), removed=()):
    """Return the known request with a change."""
    step = Resend(
        subject="psu", exchange=1, place=place, values=dict(values), removed=removed, variation=""
    )
    return changed(KNOWN, step, "/things/{thing}")


def test_one_slot_of_the_path():
    """The value of a path parameter is quoted; the base URL and the query stay."""
    url = sent("path", {"thing": "ü/?"}).url
    assert "https://bank.example/v1/things/%C3%BC%2F%3F?on=1&off=2" == url


def test_one_member_of_the_query():
    """A query parameter is set, repeated, or left out; all others stay as they were accepted."""
    assert sent("query", {"on": "7"}).url.endswith("?on=7&off=2")
    assert sent("query", {"on": ["7", "8"]}).url.endswith("?on=7&on=8&off=2")
    assert sent("query", removed=("on",)).url.endswith("?off=2")


def test_one_header_whatever_its_capitals():
    """Names of headers are case-insensitive, and a header keeps its spelling."""
    authorization = ("Authorization", "Bearer x")
    assert (("Accept", "x"), authorization) == sent("header", {"accept": "x"}).headers
    assert (authorization,) == sent("header", removed=("accept",)).headers


def test_members_of_a_body():
    """Members are set and left out; the others stay as they were accepted."""
    assert {"two": "2"} == json.loads(sent("body", removed=("one",)).body)
    more = sent("body", {"one": None, "three": 3}).body
    assert {"one": None, "two": "2", "three": 3} == json.loads(more)


def test_a_whole_body():
    """The name "" is the whole body, which may be left out."""
    assert b"[null]" == sent("body", {"": [None]}).body
    assert b"" == sent("body", removed=("",)).body


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
    """The values of a path's parameters follow from its template alone."""
    assert expected == quoted_slots(template, path)


@pytest.mark.parametrize(
    "spelling", [{"found": "accounts"}, {"words": {"a": "b"}}, {"text": "x{}"}, {"exclusive": True}]
)
def test_translated_values_are_not_decoded(account, spelling):
    """A request with values that the target translates is a malformed call."""
    _, control = account
    binding = TARGET.operations["balances"]
    arguments = {name: replace(own, **spelling) for name, own in binding.arguments.items()}
    other = replace(TARGET, operations={"balances": replace(binding, arguments=arguments)})
    call = nearest(request_of(control), control, [AISP["balances"]], other, "so")
    assert Malformed.JUNK_QUERY is call.malformed
