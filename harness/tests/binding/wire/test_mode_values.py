"""The value of a mode repeats an argument, wherever it is written and read."""

import json
from dataclasses import replace
from typing import Any

import pytest
from rows import for_each

from assay.binding.model.target import (
    Auth,
    AuthKind,
    OperationBinding,
    Place,
    Spelling,
    Target,
    TransportKind,
)
from assay.binding.read.checks import names_in_braces
from assay.binding.wire.encode import Access, HttpRequest, encode
from assay.binding.wire.values import RequestValues
from assay.contract.model import Operation
from assay.errors import CannotArrange
from assay.history import Accepted, Call, Exchange, Wire
from assay.history.steps import SEVERAL_MODES, UNBOUND_MODE
from assay.running.calls import VariationGuard
from assay.running.resend import nearest
from assay.testing import START
from assay.traffic.parse_request import ExplainedParts, ParsedRequest, find_mode

MAKE = Operation(
    id="make",
    method="POST",
    path="/consents",
    makes="consent",
    grants="access",
    modes=("named", "detailed", "few", "quiet"),
    arguments=("access", "word"),
)
SHAPED = Spelling(
    place=Place.BODY, name="/access/accounts", also=("/access/balances",), each={"": {"iban": "{}"}}
)
PLAIN = Spelling(place=Place.BODY, name="/access/accounts")
WORD = Spelling(place=Place.BODY, name="/word", value="all", words={"all": "ALL"})
MODES = {
    "named": Spelling(place=Place.BODY, name="/access/names", value="{access}"),
    "detailed": Spelling(
        place=Place.BODY,
        name="/more",
        value={"of": "{access}", "word": "{word}", "by": ["{trial}"]},
    ),
    "few": Spelling(place=Place.BODY, name="/access/balances", value=[]),
    "quiet": Spelling(place=Place.HEADER, name="X-Mode", value="{word}"),
}


def target(access: Spelling = SHAPED) -> Target:
    """Return a target whose modes repeat arguments."""
    binding = OperationBinding(arguments={"access": access, "word": WORD}, modes=MODES)
    return Target(
        name="t",
        transport=TransportKind.HTTP,
        base_url="https://bank.example",
        auth=Auth(kind=AuthKind.BEARER),
        operations={"make": binding},
    )


def call(mode: str | None, *keys: str, **how: Any) -> Call:
    """Return the call that makes a consent."""
    return Call(operation="make", subject="psu", arguments={"access": list(keys)}, mode=mode, **how)


def written(made: Call, bank: Target | None = None) -> HttpRequest:
    """Return its request."""
    values = RequestValues(trial="t-1")
    return encode(made, MAKE, bank or target(), Access(token="tok"), values)


def body(made: Call) -> Any:
    """Return the body of its request."""
    return json.loads(written(made).body)


def test_the_argument_is_sent_again_as_it_is_sent() -> None:
    """With its list, its shape and its words, also inside an object, beside other placeholders."""
    both = [{"iban": "A"}, {"iban": "B"}]
    access = {"accounts": both, "balances": both}
    assert {"access": access, "word": "ALL"} == body(call(None, "A", "B"))
    assert {"access": {**access, "names": both}, "word": "ALL"} == body(call("named", "A", "B"))
    more = {"of": both, "word": "ALL", "by": ["t-1"]}
    assert {"access": access, "word": "ALL", "more": more} == body(call("detailed", "A", "B"))
    assert ("X-Mode", "ALL") in written(call("quiet", "A")).headers


def test_a_mode_has_further_values_that_request_it() -> None:
    """Each is sent in place of the first, and a recorded request with any of them is in the mode."""
    mode = replace(MODES["few"], others=([1], [2, 3]))
    bank = target(PLAIN)
    binding = replace(bank.operations["make"], modes={**MODES, "few": mode})
    bank = replace(bank, operations={"make": binding})
    for number, value in enumerate(([], [1], [2, 3])):
        sent = written(call("few", "A", spelling=number), bank).body
        assert {"accounts": ["A"], "balances": value} == json.loads(sent)["access"]
        wire = Wire(method="POST", url="https://bank.example/consents", request_body=sent)
        found = find_mode(ParsedRequest(wire), MAKE, binding, {}, ExplainedParts(), future=False)
        assert "few" == found


def test_without_the_argument_nothing_is_sent_in_its_place() -> None:
    """Neither the name in braces, nor null."""
    bare = replace(call("named"), arguments={}, without=("access",))
    assert {"word": "ALL"} == body(bare)
    assert {"word": "ALL", "more": {"word": "ALL", "by": ["t-1"]}} == body(
        replace(bare, mode="detailed")
    )


@for_each(
    ("value", "message"),
    [
        ("{access}", ""),
        ({"of": ["{access}"]}, ""),
        ("{unique}", ""),
        ("{acces}", "did you mean 'access'?"),
        ({"of": "{acces}"}, "did you mean 'access'?"),
        ("all of {access}", 'an argument is the whole text: write "{access}"'),
        ("{access}{access}", 'an argument is the whole text: write "{access}"'),
    ],
)
def test_an_unknown_name_is_a_finding(value: Any, message: str) -> None:
    """An argument is known in the modes of its own operation, as a whole text."""
    named = {
        "arguments": {"access": {"body": "/a"}},
        "modes": {"m": {"body": "/m", "value": value}},
    }
    assert [message] * bool(message) == list(
        dict.fromkeys(hint for _, _, hint in names_in_braces({"operations": {"make": named}}))
    )
    other = {"make": {"arguments": {"access": {"body": "/a"}}}, "read": {"modes": named["modes"]}}
    found = [*names_in_braces({"operations": other})]
    assert bool(found) is (value != "{unique}")


def test_an_argument_does_not_repeat_another_one() -> None:
    """Only the value of a mode does."""
    arguments = {"access": {"body": "/a"}, "word": {"body": "/b", "value": "{access}"}}
    assert [*names_in_braces({"operations": {"make": {"arguments": arguments}}})]


@for_each(
    ("sent", "mode"),
    [
        (written(call("named", "A", "B")).body, "named"),
        (written(call("detailed", "A")).body, "detailed"),
        (written(call("few", "A")).body, "few"),
        (b'{"access": {"accounts": ["A", "B"], "names": ["A"]}}', UNBOUND_MODE),
        (b'{"access": {"names": ["A"]}}', UNBOUND_MODE),
        (b'{"access": {"accounts": ["A"]}}', None),
        # The place of a mode is that of an argument, too.
        (written(call(None, "A")).body, None),
        (b"{}", None),
    ],
)
def test_a_recorded_request_is_in_the_mode_if_the_values_are_equal(
    sent: bytes, mode: str | None
) -> None:
    """A list that names others, or a part of them, is another mode than any that is known."""
    wire = Wire(method="POST", url="https://bank.example/consents", request_body=sent)
    binding = target().operations["make"]
    found = find_mode(ParsedRequest(wire), MAKE, binding, {}, ExplainedParts(), future=False)
    assert mode == found


@pytest.mark.parametrize(
    ("sent", "mode"),
    [
        (b'{"kind": "NAMED"}', "named"),
        (b'{"speed": "FAST"}', "detailed"),
        (b'{"kind": "NAMED", "speed": "FAST"}', SEVERAL_MODES),
        # More members that fit are a more exact mode, wherever they are.
        (b'{"kind": "NAMED", "few": {"a": 1, "b": 2}}', "few"),
    ],
)
def test_a_request_that_fits_two_modes_is_in_neither_for_certain(sent: bytes, mode: str) -> None:
    """Which one the bank reads is not known, be one of them the first of the file."""
    values: dict[str, tuple[str, Any]] = {
        "named": ("/kind", "NAMED"),
        "detailed": ("/speed", "FAST"),
        "few": ("/few", {"a": 1, "b": 2}),
    }
    binding = OperationBinding(
        modes={
            name: Spelling(place=Place.BODY, name=at, value=value)
            for name, (at, value) in values.items()
        }
    )
    wire = Wire(method="POST", url="https://bank.example/consents", request_body=sent)
    found = find_mode(ParsedRequest(wire), MAKE, binding, {}, ExplainedParts(), future=False)
    assert mode == found


def test_a_request_that_is_sent_again_is_in_the_mode() -> None:
    """It is decoded by the argument in it; with another list it is in no mode that is known."""
    bank = target(PLAIN)
    sent = written(call("named", "A"), bank)
    wire = Wire(
        method="POST",
        url=sent.url,
        request_headers=sent.headers,
        request_body=sent.body,
        status=201,
    )
    control = Exchange(
        n=1, call=call("named", "A"), outcome=Accepted(items=()), wire=wire, at=START
    )
    words = replace(bank.operations["make"].arguments["word"], words={})
    binding = replace(
        bank.operations["make"], arguments={"access": PLAIN, "word": replace(words, value="ALL")}
    )
    bank = replace(bank, operations={"make": binding})
    same = nearest(sent, control, [MAKE], bank, "so")
    assert ("named", None) == (same.mode, same.malformed)
    both = replace(sent, body=sent.body.replace(b'["A"]', b'["B"]'))
    assert "named" == nearest(both, control, [MAKE], bank, "so").mode
    other = json.loads(sent.body)
    other["access"]["names"] = ["B"]
    changed = nearest(replace(sent, body=json.dumps(other).encode()), control, [MAKE], bank, "so")
    assert changed.mode is None
    assert changed.malformed is not None


@pytest.mark.parametrize(
    ("control", "varied", "doubted"),
    [
        (call(None, "A"), call("named", "A"), False),
        (call("named", "A"), call("named", "B"), False),
        (call("named", "A"), call("named", "A", "B"), False),
        # What the mode writes over an argument is no mode alone.
        (call(None, "A"), call("few", "A"), True),
    ],
)
def test_a_variation_of_the_argument_is_one_in_the_mode(
    control: Call, varied: Call, *, doubted: bool
) -> None:
    """The repeated argument differs with its own place; that explains both."""
    guard, access, made = VariationGuard(), Access(token="tok"), RequestValues(trial="t-1")
    guard.see(control, access, accepted=True)
    asked = replace(varied, variation="so")
    doubt = guard.doubt(asked, MAKE, target=target(), access=access, made=made)
    assert doubted is bool(doubt), doubt


PAY = Operation(
    id="pay",
    method="POST",
    path="/payments/{product}",
    makes="payment",
    modes=("plain", "fast", "several", "north"),
    arguments=("amount",),
)
PRODUCTS = {
    "plain": Spelling(place=Place.PATH, name="product", value="sepa"),
    "fast": Spelling(place=Place.PATH, name="product", value="instant"),
    "several": Spelling(place=Place.BODY, name="/transfers", value=[{}, {}]),
    "north": Spelling(place=Place.BASE, name="", value="https://north.example"),
}


def product_bank() -> Target:
    """Return a bank with its products in the path."""
    amount = Spelling(place=Place.BODY, name="/amount", value="12.30")
    binding = OperationBinding(arguments={"amount": amount}, modes=PRODUCTS)
    return replace(target(), operations={"pay": binding})


@pytest.mark.parametrize(
    ("mode", "url"),
    [
        ("plain", "https://bank.example/payments/sepa"),
        ("fast", "https://bank.example/payments/instant"),
        ("several", "https://bank.example/payments/sepa"),
        ("north", "https://north.example/payments/sepa"),
    ],
)
def test_the_slot_of_the_modes_has_the_plain_one_where_a_mode_stands_elsewhere(
    mode: str, url: str
) -> None:
    """It differs from a plain request in the mode alone; a recorded request is in that mode."""
    made = Call(operation="pay", subject="psu", mode=mode)
    request = encode(made, PAY, product_bank(), Access(token="tok"), RequestValues())
    assert url == request.url
    if mode != "north":  # a recording has one base URL
        bank = product_bank().operations["pay"]
        wire = Wire(
            method="POST",
            url=url,
            request_headers=request.headers,
            request_body=request.body,
            status=201,
        )
        seen = ParsedRequest(wire)
        product = {"product": request.url.rpartition("/")[2]}
        found = find_mode(seen, PAY, bank, product, ExplainedParts(), future=False)
        assert mode == found
        control = Exchange(n=1, call=made, outcome=Accepted(items=()), wire=wire, at=START)
        assert mode == nearest(request, control, [PAY], product_bank(), "so").mode


def test_a_request_in_no_mode_has_no_slot_of_a_mode() -> None:
    """Only the plain mode of a request is what another one differs from."""
    with pytest.raises(CannotArrange):
        encode(Call(operation="pay", subject="psu"), PAY, product_bank(), Access(), RequestValues())
