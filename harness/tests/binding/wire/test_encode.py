"""How calls are spelt: in every place, bent in every way, and never by a guess."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import replace
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from rows import for_each

from assay.binding.model.target import (
    Auth,
    AuthKind,
    CredentialSpelling,
    OperationBinding,
    Place,
    Presence,
    Spelling,
    Target,
    TransportKind,
)
from assay.binding.wire.encode import Access, encode
from assay.binding.wire.values import RequestValues, arguments, sent
from assay.contract.model import Operation
from assay.errors import CannotArrange
from assay.history import Call, Malformed

BALANCES = Operation(
    id="balances",
    method="GET",
    path="/accounts/{iban}/balances",
    aliases=("/balances",),
    about="iban",
    modes=("long",),
)
CONSENTS = Operation(id="consents", method="PUT", path="/consents", grants="accounts")
PROFILE = Target(
    name="t",
    transport=TransportKind.HTTP,
    base_url="https://bank.example/v1/",
    auth=Auth(kind=AuthKind.BEARER),
    presence=Presence(place=Place.HEADER, name="PSU-IP-Address", value="192.0.2.10"),
    operations={
        "balances": OperationBinding(
            arguments={
                "iban": Spelling(place=Place.QUERY, name="iban"),
                "since": Spelling(place=Place.HEADER, name="X-Since"),
            },
            modes={"long": Spelling(place=Place.QUERY, name="scope", value="all of it")},
            credentials=CredentialSpelling(basic=True),
        ),
        "consents": OperationBinding(
            arguments={"accounts": Spelling(place=Place.BODY, name="/access/accounts")},
            credentials=CredentialSpelling(
                body={"login": "/psu/login", "password": "/psu/password"}
            ),
        ),
    },
)
ACCESS = Access(token="tok", login="l\u00f6gin", password="pass:word")
ASK = Call(operation="balances", subject="psu", arguments={"iban": "a/b?c#d%e f"})
GIVE = Call(operation="consents", subject="psu", arguments={"accounts": ["A", "B"]})


def test_the_path() -> None:
    """An argument in the path is one step of it, whatever it holds."""
    asked = encode(ASK, BALANCES, PROFILE, ACCESS)
    assert "https://bank.example/v1/accounts/a%2Fb%3Fc%23d%25e%20f/balances" == asked.url
    assert ("GET", b"") == (asked.method, asked.body)


def test_another_name() -> None:
    """By another name, an argument goes where the profile says if the path has no room."""
    asked = encode(replace(ASK, alias=0), BALANCES, PROFILE, ACCESS)
    parts = urlsplit(asked.url)
    assert ("/v1/balances", [("iban", "a/b?c#d%e f")]) == (parts.path, parse_qsl(parts.query))


def test_headers() -> None:
    """Token and presence are in the headers, and presence only when the customer is there."""
    standing = (("Accept", "application/json"), ("Authorization", "Bearer tok"))
    here = (("PSU-IP-Address", "192.0.2.10"),)
    assert standing + here == encode(ASK, BALANCES, PROFILE, ACCESS).headers
    assert standing == encode(replace(ASK, present=False), BALANCES, PROFILE, ACCESS).headers


def test_a_header_replaces_another() -> None:
    """A header is sent once: an argument, then the operation, then the file decide its value."""
    consents = PROFILE.operations["consents"]
    accounts = {"accounts": Spelling(place=Place.HEADER, name="accept")}
    own = {"accept": "text/a", "CONTENT-TYPE": "application/json; charset=utf-8"}
    file = replace(PROFILE, headers={"Accept": "text/b", "X-Own": "1"})

    def sent(call: Call, **changes: Any) -> list[tuple[str, str]]:
        operations = {"consents": replace(consents, **changes)}
        encoded = encode(call, CONSENTS, replace(file, operations=operations), Access())
        return [header for header in encoded.headers if header[0] != "PSU-IP-Address"]

    plain = ("Content-Type", "application/json")
    assert [("Accept", "text/b"), ("X-Own", "1"), plain] == sent(GIVE)
    assert [("X-Own", "1"), *own.items()] == sent(GIVE, headers=own)
    given = replace(GIVE, arguments={"accounts": "text/c"})
    assert [("X-Own", "1"), ("accept", "text/c"), plain] == sent(given, arguments=accounts)
    left_out = replace(GIVE, arguments={}, without=("accounts",))
    assert [("X-Own", "1"), plain] == sent(left_out, arguments=accounts)


def test_a_query_parameter_replaces_another() -> None:
    """A parameter is sent once: an argument, then the operation, then the file decide its value."""
    binding = PROFILE.operations["balances"]
    file = replace(PROFILE, queries={"lang": "en", "since": "2020-01-01"})
    since = {**binding.arguments, "since": Spelling(place=Place.QUERY, name="since")}

    def sent(call: Call, **changes: Any) -> list[tuple[str, str]]:
        operations = {"balances": replace(binding, arguments=since, **changes)}
        url = encode(call, BALANCES, replace(file, operations=operations), Access()).url
        return parse_qsl(urlsplit(url).query)

    assert [("lang", "en"), ("since", "2020-01-01")] == sent(ASK)
    assert [("lang", "fr"), ("since", "2020-01-01")] == sent(ASK, queries={"lang": "fr"})
    given = replace(ASK, arguments={**ASK.arguments, "since": "2026-01-01"})
    assert [("lang", "en"), ("since", "2026-01-01")] == sent(given)
    assert [("lang", "en")] == sent(replace(ASK, without=("since",)))
    mode = {"long": Spelling(place=Place.QUERY, name="lang", value="de")}
    in_mode = sent(replace(ASK, mode="long"), modes=mode)
    assert [("since", "2020-01-01"), ("lang", "de")] == in_mode


def test_no_token() -> None:
    """Without a token, or with no authentication at all, none is sent."""
    for target, access in ((PROFILE, Access()), (replace(PROFILE, auth=Auth()), ACCESS)):
        names = [name for name, _ in encode(ASK, BALANCES, target, access).headers]
        assert "Authorization" not in names


def test_a_key() -> None:
    """A key stands as it is in a header of its own, and not where credentials are sent."""
    target = replace(PROFILE, auth=Auth(kind=AuthKind.KEY, header="X-Api-Key"))
    headers = dict(encode(ASK, BALANCES, target, ACCESS).headers)
    assert ("tok", None) == (headers["X-Api-Key"], headers.get("Authorization"))
    bent = encode(replace(ASK, credentials=True), BALANCES, target, ACCESS)
    assert "X-Api-Key" not in dict(bent.headers)


@for_each(
    ("own", "other", "given", "sent"),
    [
        ("12.30", None, Decimal("40.01"), "40.01"),
        ("12.30", None, Decimal(40), "40"),
        (5, None, Decimal(40), 40),
        (5, None, Decimal("40.5"), 40.5),
        (Decimal("1.5"), None, None, 1.5),
        (None, None, Decimal(40), "40"),
        (None, 6, Decimal(40), 40),
        (None, "6.00", Decimal(40), "40"),
        (5, None, "40", "40"),
        ("12.30", None, 40, 40),
    ],
)
def test_an_exact_number(own: object, other: object, given: object, sent: object) -> None:
    """It is spelt as the profile spells what stands there; anything else stays as it is."""
    make = Operation(id="make", method="POST", path="/x", makes="x", arguments=("amount",))
    spelling = Spelling(place=Place.BODY, name="/sum", value=own, other=other)
    target = replace(PROFILE, operations={"make": OperationBinding(arguments={"amount": spelling})})
    call = Call(operation="make", subject="psu", arguments={"amount": given} if given else {})
    assert {"sum": sent} == json.loads(encode(call, make, target, ACCESS).body)


def test_a_header_argument_and_a_mode() -> None:
    """Arguments may be headers, and a mode is spelt by its own value."""
    asked = encode(
        replace(ASK, arguments={**ASK.arguments, "since": "2026-01-01"}, mode="long"),
        BALANCES,
        PROFILE,
        ACCESS,
    )
    assert ("X-Since", "2026-01-01") in asked.headers
    assert asked.url.endswith("?scope=all+of+it")


def test_a_body() -> None:
    """Arguments in the body stand where the pointer says, as JSON."""
    asked = encode(GIVE, CONSENTS, PROFILE, ACCESS)
    assert {"access": {"accounts": ["A", "B"]}} == json.loads(asked.body)
    assert ("Content-Type", "application/json") in asked.headers


def test_a_page() -> None:
    """Another page is asked for by its link and by nothing else."""
    asked = encode(replace(ASK, follow="https://bank.example/x?p=2"), BALANCES, PROFILE, ACCESS)
    assert ("GET", "https://bank.example/x?p=2", b"") == (asked.method, asked.url, asked.body)


def test_basic() -> None:
    """The customer's credentials take the place of the token."""
    asked = encode(replace(ASK, credentials=True), BALANCES, PROFILE, ACCESS)
    pair = b64encode("l\u00f6gin:pass:word".encode()).decode()
    assert [f"Basic {pair}"] == [one for name, one in asked.headers if name == "Authorization"]


def test_credentials_in_the_body() -> None:
    """Or they stand in the body, and there is no authorization at all."""
    asked = encode(replace(GIVE, credentials=True), CONSENTS, PROFILE, ACCESS)
    assert {"login": "l\u00f6gin", "password": "pass:word"} == json.loads(asked.body)["psu"]
    assert "Authorization" not in [name for name, _ in asked.headers]


@pytest.mark.parametrize(
    ("call", "operation", "access"),
    [
        (replace(ASK, arguments={"unknown": 1}), BALANCES, ACCESS),
        (replace(ASK, mode="short"), BALANCES, ACCESS),
        (replace(ASK, credentials=True), BALANCES, Access(token="tok")),
    ],
)
def test_not_spelt(call: Call, operation: Operation, access: Access) -> None:
    """What the profile does not spell cannot be asked, and nothing is made up."""
    with pytest.raises(CannotArrange):
        encode(call, operation, PROFILE, access)


_DAYS = {day: Spelling(place=Place.QUERY, name=day) for day in ("from", "to")}
_BINDING = PROFILE.operations["balances"]
_BINDING = replace(_BINDING, arguments={**_BINDING.arguments, **_DAYS})
DATED = replace(PROFILE, operations={**PROFILE.operations, "balances": _BINDING})


@for_each("bend", list(Malformed))
def test_bent(bend: Malformed) -> None:
    """Every bent request differs from the valid one, and its URL stays one that can be sent."""
    iban = {**ASK.arguments, "iban": "FR7630001007941234567890185"}
    call, operation = (replace(ASK, arguments=iban) if bend.respells else ASK, BALANCES)
    if bend.name in {"NOT_JSON", "TRUNCATED", "WRONG_TYPES", "EMPTY", "DEEP", "SCALAR", "HUGE"}:
        call, operation = (GIVE, CONSENTS)
    if bend.name in {"BAD_SINCE", "BAD_UNTIL"}:
        operation = replace(BALANCES, since="from", until="to")
    plain = encode(call, operation, DATED, ACCESS)
    bent = encode(replace(call, malformed=bend), operation, DATED, ACCESS)
    assert (plain.url, plain.body) != (bent.url, bent.body)
    assert plain.headers == bent.headers
    assert bent.url.isascii()
    assert bent.url.isprintable()
    assert " " not in bent.url


@pytest.mark.parametrize("bend", [Malformed.NOT_JSON, Malformed.TRUNCATED, Malformed.EMPTY])
def test_no_json(bend: Malformed) -> None:
    """Bodies that are meant to be no JSON are none."""
    bent = encode(replace(GIVE, malformed=bend), CONSENTS, PROFILE, ACCESS)
    with pytest.raises(json.JSONDecodeError):
        json.loads(bent.body)


def test_wrong_types() -> None:
    """With all types wrong the names are still the right ones."""
    bent = encode(replace(GIVE, malformed=Malformed.WRONG_TYPES), CONSENTS, PROFILE, ACCESS)
    assert {"access": {"accounts": 42}} == json.loads(bent.body)


@for_each(
    ("sent", "recorded"),
    [(False, "no"), (True, "yes"), ("no", "no"), (0, 0), (1, "once"), ("False", "False")],
)
def test_a_target_word_that_is_no_text(sent: object, recorded: object) -> None:
    """It is recorded as the contract's word: a target's own value is of no other type."""
    words = {"no": False, "yes": True, "once": 1}
    spelling = Spelling(place=Place.BODY, name="/recurring", value="no", words=words)
    making = Operation(id="make", method="POST", path="/p", arguments=("recurring",))
    binding = OperationBinding(arguments={"recurring": spelling})
    call = Call(operation="make", subject="psu", arguments={"recurring": sent})
    assert {"recurring": recorded} == arguments(call, making, binding, RequestValues())


@pytest.mark.parametrize(
    ("shape", "value", "body"),
    [
        ({"iban": "{}"}, None, {"to": None}),
        ({"iban": "{}"}, "", {"to": {}}),
        ({"iban": "{}"}, 5, {"to": {"iban": 5}}),
        ({"amount": "{}", "currency": "EUR"}, "", {"to": {"amount": "", "currency": "EUR"}}),
        ({"amount": "{}", "currency": "EUR"}, None, {"to": {"amount": None, "currency": "EUR"}}),
    ],
)
def test_empty_values_with_a_shape(shape, value, body) -> None:
    """What is null or empty is the object itself, where the object has nothing but the value."""
    spelling = Spelling(place=Place.BODY, name="/to", each={"": shape})
    assert body == {"to": sent(value, spelling, RequestValues())}


def test_what_stands_inside_another_value_comes_after_it() -> None:
    """A currency of its own replaces the one that goes with the amount, in whatever order."""
    amount = Spelling(place=Place.BODY, name="/sum", each={"": {"amount": "{}", "currency": "EUR"}})
    currency = Spelling(place=Place.BODY, name="/sum/currency")
    operation = Operation(id="change", method="PUT", path="/x", arguments=("amount", "currency"))
    binding = OperationBinding(arguments={"currency": currency, "amount": amount})
    target = replace(PROFILE, operations={"change": binding})
    for given in ({"currency": "USD", "amount": "1"}, {"amount": "1", "currency": "USD"}):
        call = Call(operation="change", subject="a", present=True, arguments=given)
        request = encode(call, operation, target, Access())
        assert {"sum": {"amount": "1", "currency": "USD"}} == json.loads(request.body)
