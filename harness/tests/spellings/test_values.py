"""Values as they are written in contracts and target files, sent, and read again."""

import json
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from jsonschema import Draft202012Validator
from rows import for_each

from assay.binding.model.pointer import MISSING, ElementPointer, find
from assay.binding.read.join import bind
from assay.binding.wire.encode import Access, encode
from assay.binding.wire.values import RequestValues, arguments, filled
from assay.contract.model import Operation
from assay.errors import InputError
from assay.files.load import loads
from assay.history import Owned, Subject
from assay.kinds import Call
from assay.openapi import document
from assay.parsing.parse import parse_contract
from assay.preparation.target_file import read_document, read_target
from assay.rules.kinds.requests.fixed import OTHER, difference, others
from assay.testing import (
    START,
    accepted,
    evidence,
    exchange,
    history,
    kind_in,
    refused,
    unavailable,
)

CONTRACT = Path(__file__).parent / "kestrel.yaml"
PAY = Operation(id="pay", method="POST", path="/pay/{kind}", arguments=("value",), makes="order")
FILE = """\
assay: 1
target: values
transport: http
base_url: https://bank.example
operations:
  pay:
    arguments: {{value: {0}}}
    path: {1}
"""


def sent(value, path="/pay", made=None, **call):
    """Return the request with a value, as the file has it."""
    target = read_document(loads(FILE.format(value, path)))
    made = made or RequestValues()
    return encode(Call(operation="pay", subject="anna", **call), PAY, target, Access(), made)


@for_each(
    ("written", "json_value"),
    [
        ("true", True),
        ("false", False),
        ("3", 3),
        ("1.50", "1.50"),
        ('"true"', "true"),
        ('"3"', "3"),
        ("[1, false]", [1, False]),
    ],
)
def test_a_value_in_a_body_has_its_type(written, json_value):
    """A truth value is one in JSON, and a text in quotes is a text."""
    body = json.loads(sent(f"{{body: /v, value: {written}}}").body)
    assert json_value == (f"{body['v']:.2f}" if isinstance(body["v"], float) else body["v"])
    assert type(json_value) is type(body["v"]) or isinstance(body["v"], float)


@pytest.mark.parametrize(
    ("written", "text"), [("true", "true"), ("false", "false"), ("3", "3"), ("0.50", "0.50")]
)
def test_a_value_elsewhere_is_its_text(written, text):
    """In a query, a header and a path a value stands as JSON writes it."""
    in_query = sent(f"{{query: v, value: {written}}}")
    assert {"v": [text]} == parse_qs(urlsplit(in_query.url).query)
    assert ("V", text) in sent(f"{{header: V, value: {written}}}").headers
    in_path = sent(f"{{path: kind, value: {written}}}", '"/pay/{kind}"')
    assert f"https://bank.example/pay/{text}" == in_path.url


@for_each(
    ("value", "expected"),
    [(True, "Y"), (False, "N"), ("true", "Y"), (4, "IV"), ("4", "IV"), ("V", "V")],
)
def test_words_of_truth_values_and_numbers(value, expected):
    """A word is found by its text, whatever type it has in the contract."""
    spelling = '{body: /v, words: {"true": Y, "false": N, "4": IV}}'
    body = json.loads(sent(spelling, arguments={"value": value}).body)
    assert expected == body["v"]


def test_a_value_is_a_word_of_the_contract():
    """Words that are other truth values are no reason to turn a value around."""
    target = read_document(
        loads(FILE.format('{body: /v, value: true, words: {"true": false, "false": true}}', "/p"))
    )
    binding, made = target.operations["pay"], RequestValues()
    call = Call(operation="pay", subject="anna")
    assert {"value": True} == arguments(call, PAY, binding, made)
    assert {"v": False} == json.loads(encode(call, PAY, target, Access(), made).body)


# -- days ----------------------------------------------------------------------------------
@for_each(
    ("text", "expected"),
    [
        ("{today}", "2026-12-31"),
        ("{today+1}", "2027-01-01"),
        ("{today-31}", "2026-11-30"),
        ("{today+60}T00:00:00Z", "2027-03-01T00:00:00Z"),
        ("{today}/{today+1} {unique}", "2026-12-31/2027-01-01 u-1"),
        ("{Today}", "{Today}"),
    ],
)
def test_days_from_today(text, expected):
    """Days are counted from the bank's day, wherever they stand in a text."""
    made = RequestValues(today=date(2026, 12, 31), unique="u-1")
    assert {"a": [expected]} == filled({"a": [text]}, made)
    request = sent(f'{{body: /v, value: "{text}"}}', made=made) if "{T" not in text else None
    assert request is None or {"v": expected} == json.loads(request.body)


@pytest.mark.parametrize("text", ["{today+}", "{today +1}", "{today+1d}", "{todays}", "{today+1"])
def test_a_wrong_day_is_an_error(text):
    """The line is that of the value."""
    with pytest.raises(InputError) as raised:
        read_document(loads(FILE.format(f'{{body: /v, value: "x {text}"}}', "/pay")))
    (problem,) = raised.value.problems
    assert (7, True) == (problem.line, "{today+90}" in problem.hint)


def test_a_value_of_the_file_is_filled_in_wherever_it_comes_from():
    """A search that tries the file's own value tries what is really sent."""
    made = RequestValues(today=date(2026, 12, 31), unique="u-1")
    spelling = '{body: /v, value: "{today}", other: "{unique}"}'
    for given, expected in (("{today}", "2026-12-31"), ("{unique}", "u-1"), ("{now}", "{now}")):
        body = sent(spelling, made=made, arguments={"value": given}).body
        assert {"v": expected} == json.loads(body)
    assert {"v": "u-1"} == json.loads(sent(spelling, made=made, varied=("value",)).body)


# -- elements of lists ---------------------------------------------------------------------
IDS = [
    {"scheme": "BBAN", "no": 1, "value": "1"},
    {"scheme": "IBAN", "no": 2, "value": "2"},
    {"scheme": "IBAN", "no": True, "value": "3"},
]


@for_each(
    ("document", "where", "expected"),
    [
        ({"ids": IDS}, {"/scheme": "IBAN"}, "2"),
        ({"ids": IDS}, {"/scheme": "IBAN", "/no": True}, "3"),
        ({"ids": IDS}, {"/no": 1}, "1"),
        ({"ids": IDS}, {"/scheme": "PAN"}, MISSING),
        ({"ids": []}, {"/scheme": "IBAN"}, MISSING),
        ({"ids": {"scheme": "IBAN", "value": "4"}}, {"/scheme": "IBAN"}, MISSING),
        ({"ids": ["IBAN", None, {"scheme": "IBAN"}]}, {"/scheme": "IBAN"}, MISSING),
        ([], {"/scheme": "IBAN"}, MISSING),
    ],
)
def test_the_first_element_with_all_values(document, where, expected):
    """Without the list, such an element, or the value in it, nothing is found."""
    assert expected == find(document, ElementPointer("/ids", where, "/value"))


# -- constants -----------------------------------------------------------------------------
@for_each(
    ("right", "value", "facet"),
    [
        (False, True, OTHER),
        (False, "false", ""),
        (False, "true", ""),
        (False, 0, ""),
        (3, 4, OTHER),
        (3, Decimal("3.0"), ""),
        (3, "3", ""),
        (1, True, ""),
        (3, None, ""),
        ("3", 4, ""),
        ("EUR", "USD", OTHER),
        ("EUR", ["EUR"], ""),
    ],
)
def test_what_is_certainly_another_value(right, value, facet):
    """A text may be read as what it says, and another type shows nothing about the value."""
    assert facet == difference(right, value)


@for_each("right", [True, False, 0, 3, Decimal("1.5"), "EUR"])
def test_other_values_are_others(right):
    """What is derived from the right value is never that value."""
    tried = [*others(right)]
    assert tried
    assert {OTHER} <= {difference(right, value) for value in tried}


def test_a_payment_of_another_customer_need_not_be_shown():
    """Where customers make requests themselves, another customer's call for one need not be served."""
    kind = kind_in(CONTRACT, "shown")
    values = {"iban": "A1", "recurring": False, "priority": 3, "until": "2026-10-17"}
    pay = Call(operation="pay", subject="anna", mode="instant", arguments=values)
    read = Call(operation="show", subject="anna", arguments={"number": "P1"})
    other = Call(operation="show", subject="bert", arguments={"number": "P1"})
    made = exchange(pay, accepted("P1"))
    assert ["answers disagrees 2"] == evidence(kind, history(made, exchange(read, unavailable())))
    assert [] == evidence(kind, history(made, exchange(other, unavailable())))


MORE = """\
rules:
  - id: made
    kind: available
    says: Payments can be made.
    source: {section: Payments, line: 1}
    operation: pay
  - id: whole
    kind: mandatory
    says: A payment says whether it recurs.
    source: {section: Payments, line: 1}
    request: order
    fields: [recurring, priority]
"""


@pytest.mark.parametrize("clause", ["made", "whole", "recurring"])
@pytest.mark.parametrize("value", [{"priority": "12.34E0"}, {"recurring": "false"}])
def test_another_notation_shows_nothing_when_it_is_refused(clause, value, tmp_path):
    """A number with an exponent and a truth value as a text may be refused, or taken as they are."""
    contract = tmp_path / "kestrel.yaml"
    contract.write_text(CONTRACT.read_text("utf-8").replace("rules:\n", MORE))
    kind = kind_in(contract, clause)
    values = {"iban": "A1", "recurring": False, "priority": "3.10", "until": "2026-10-17"}
    anna = Subject(name="anna", now=START, owns=(Owned(key="A1", resource="account"),))
    pay = Call(operation="pay", subject="anna", mode="instant", arguments=values)
    other = replace(pay, arguments={**values, **value})
    for answer in (accepted("P2"), refused(status=400)):
        events = (anna, exchange(pay, accepted("P1")), exchange(other, answer))
        assert not [each for each in evidence(kind, history(*events)) if "disagrees" in each]


def test_the_export_describes_elements_of_lists():
    """Each element that meets the condition has the format; what else is in the list is open."""
    target = read_target(CONTRACT.parent / "kestrel-target.yaml")
    exported = document(bind([parse_contract(CONTRACT)], target), target)
    operation = exported["paths"]["/accounts/search"]["post"]
    answer = operation["responses"]["200"]["content"]["application/json"]["schema"]
    validator = Draft202012Validator({**exported, **answer})

    def valid(*ids):
        return validator.is_valid({"items": [{"ids": [*ids], "active": True}], "page": {}})

    key = {"scheme": "KEY", "value": "x"}
    assert valid(key, {"scheme": "IBAN", "value": "NO9386011117947"})
    assert not valid(key, {"scheme": "IBAN", "value": ""})
    assert not valid(key, {"scheme": "IBAN"})
