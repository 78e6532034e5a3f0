"""Calls that a manual shows are read as a document; what they leave out is not made up."""

import pytest
from command_line import assay
from rows import for_each

from assay.errors import InputError
from assay.onboarding.init.example_calls import document, is_calls, schema
from assay.onboarding.init.foreign_document import read
from assay.onboarding.init.openapi_operations import openapi_operations


def operation(tmp_path, text):
    """Return the only operation of a text."""
    path = tmp_path / "calls.http"
    path.write_text(text)
    (found,) = openapi_operations(read(path))
    return found


def test_a_call_with_all_it_may_have(tmp_path):
    """Slots of the path, parameters of the query, a body, and an answer over several lines."""
    text = """\
    Create a payment:
    POST /x/{bank}/payments?dry=true HTTP/1.1
    Content-Type: application/json

    {"charge": "SLEV",
     "amount": 12.5}
    HTTP/1.1 201 Created
    Location: /x/1

    {"id": 7,
     "state": "OPEN"}
    """
    found = operation(tmp_path, text)
    assert (found.method, found.path) == ("POST", "/x/{bank}/payments")
    assert [*found.named("path")] == ["bank"]
    assert found.named("query")["dry"].leaf.values == ("true",)
    assert {leaf.pointer: leaf.values for leaf in found.request if leaf.steps} == {
        "/charge": ("SLEV",),
        "/amount": ("12.5",),
    }
    assert [leaf.pointer for leaf in found.answer if leaf.steps] == ["/id", "/state"]
    assert found.statuses == ("2xx",)


def test_an_answer_that_is_not_whole_is_left_out(tmp_path):
    """Manuals write dots for the rest."""
    assert operation(tmp_path, 'GET /accounts\n200 {"items": [...]}').answer == ()


def test_a_body_that_is_not_json_is_an_error(tmp_path):
    """With its line: what is sent must be whole."""
    with pytest.raises(InputError) as raised:
        operation(tmp_path, 'GET /a\nPUT /a\n\n{"b": 1,\n "a": ...}\n')
    (problem,) = raised.value.problems
    assert problem.line == 5
    assert "not JSON" in problem.what


@for_each(
    ("text", "word"),
    [
        ("GET /accounts", True),
        ("openapi: 3.0.0\npaths: {}", False),
        ('{"a": "GET /x"}', False),
        ("get /accounts", False),
        ("GET accounts", False),
    ],
)
def test_a_document_is_no_call(text, word):
    """A call begins with its method, in capitals, and its path."""
    assert is_calls(text) is word


def test_the_last_of_like_calls_counts():
    """One operation of a document is one method and path."""
    found = document('PUT /a\n{"b": 1}\nPUT /a\n{"c": 1}', "x")
    (node,) = found["paths"]["/a"].values()
    assert [*node["requestBody"]["content"]["application/json"]["schema"]["properties"]] == ["c"]


@for_each(
    ("values", "expected"),
    [
        (["OPEN", "DONE", "OPEN"], {"type": "string", "enum": ["OPEN", "DONE"]}),
        (["OPEN", "not yet"], {"type": "string"}),
        (["2026-01-01"], {"type": "string", "format": "date"}),
        (["2026-01-01T10:00:00Z"], {"type": "string", "format": "date-time"}),
        ([1, None], {"type": "integer"}),
        ([True], {"type": "boolean"}),
        ([None], {"type": ""}),
        ([[], [1.5]], {"type": "array", "items": {"type": "number"}}),
        (
            [{"a": "FR76 1"}, {"a": "x y", "b": 1}],
            {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
                "required": ["a"],
            },
        ),
    ],
)
def test_the_schema_of_what_was_seen(values, expected):
    """Without the values, which may be private; words for one of few things are none."""
    assert schema(values) == expected


def test_what_a_change_gives_is_missing_where_it_is_not_shown(tmp_path):
    """A call with one value does not say which other one a request may be changed to."""
    calls = 'POST /payment-requests\n{"amount": "1.00", "creditorAccount": "x", "currency": "EUR",'
    calls += ' "chargeBearer": "SLEV", "categoryPurpose": "OTHR", "successfulReportUrl": "https://x.example"}\n'
    calls += 'PUT /payment-requests/{paymentRequestResourceId}\n{"amount": "1.01"}\n'
    (tmp_path / "calls.txt").write_text(calls)
    code, *_ = assay("init", "--yes", "-c", "pis", "--openapi", "calls.txt", cwd=tmp_path)
    assert code == 0
    gap = 'the amount that a change gives, for example `amount: {body: /amount, value: "1.01", other: …}`'
    assert f"# TODO: {gap}" in (tmp_path / "my-bank.yaml").read_text("utf-8")
