"""Calls that a manual shows are read as a document; what they leave out is not made up."""

import pytest
from command_line import assay
from rows import for_each

from assay.errors import InputError
from assay.files.load import load
from assay.onboarding.init.example_calls import document, is_calls, schema
from assay.onboarding.init.foreign_document import read
from assay.onboarding.init.openapi_operations import openapi_operations
from assay.onboarding.init.synonyms import called


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


def test_bodies_without_a_common_member_are_alternatives():
    """A change and a cancellation of one path; others only show more values of the same body."""
    found = document('PUT /a\n{"b": "X"}\nPUT /a\n{"c": 1}\nPUT /a\n{"b": "Y"}', "x")
    (node,) = found["paths"]["/a"].values()
    first, second = node["requestBody"]["content"]["application/json"]["schema"]["oneOf"]
    assert [["X", "Y"], ["c"]] == [first["properties"]["b"]["enum"], [*second["properties"]]]


def test_headers_of_a_call_and_of_its_answer(tmp_path):
    """On the line of the status, too; a secret without its value."""
    text = "POST /a\nX-Present: 1\nX-Api-Key: k\n\n201 Location: /a/1\nX-Count: 2\n\n{}"
    found = operation(tmp_path, text)
    headers = {name: each.leaf.values for name, each in found.named("header").items()}
    assert {"X-Present": ("1",), "X-Api-Key": ()} == headers
    assert ("Location", "X-Count") == found.headers


def test_a_list_has_all_words_of_a_member(tmp_path):
    """Only of a member with no other word, wherever the text shows it."""
    text = 'GET /a\n200 {"state": "NEW", "why": null, "type": "OTHER"}\n'
    text += "state: NEW, DONE\nwhy: A1 | A2\ntype: ONE, TWO\n"
    values = {leaf.pointer: leaf.values for leaf in operation(tmp_path, text).answer}
    assert ("NEW", "DONE") == values["/state"]
    assert ("A1", "A2") == values["/why"]
    assert ("OTHER",) == values["/type"]


PAYMENT = """{"amount": "1.00", "creditorAccount": "x", "currency": "EUR", "chargeBearer": "SLEV",
 "categoryPurpose": "OTHR", "successfulReportUrl": "https://x.example"}"""


def drafted(tmp_path, calls, *given):
    """Return the target file that is drafted from calls about payments."""
    (tmp_path / "calls.txt").write_text(calls)
    url = ("--base-url", "https://bank.example/v1")
    code, _, said = assay(
        "init", "--yes", "-c", "pis", *url, "--openapi", "calls.txt", *given, cwd=tmp_path
    )
    assert (0, "") == (code, said)
    return load(tmp_path / "my-bank.yaml").data


def test_a_change_and_a_cancellation_of_one_path(tmp_path):
    """The body with a word for a cancelled state cancels; the whole payment changes it."""
    calls = f"POST /payments\n{PAYMENT}\n201 Location: /payments/7\n" + '{"approval": "x"}\n'
    calls += f"PUT /payments/{{id}}\n{PAYMENT}\n" + 'PUT /payments/{id}\n{"status": "CANC"}\n'
    operations = drafted(tmp_path, calls)["operations"]
    assert {"header": "Location"} == operations["create-payment"]["item"]["key"]
    change, end = operations["modify-payment"], operations["cancel-payment"]
    assert change["whole"] is True
    assert "template" not in change.keys() | end.keys()
    assert {"body": "/amount"} == change["arguments"]["amount"]
    assert {"body": "/status", "value": "CANC"} == end["arguments"]["cancellation"]
    assert ["cancellation", "paymentRequestResourceId"] == sorted(end["arguments"])


def test_a_delete_cancels_beside_a_put(tmp_path):
    """Even at the path of the contract; nothing says so in a body, and a change is not whole."""
    path = "/payment-requests/{paymentRequestResourceId}"
    calls = f'POST /payment-requests\n{PAYMENT}\nPUT {path}\n{{"amount": "1.01"}}\nDELETE {path}\n'
    operations = drafted(tmp_path, calls)["operations"]
    assert "DELETE" == operations["cancel-payment"]["method"]
    assert "arguments" not in operations["cancel-payment"]
    assert "cancellation:" not in (tmp_path / "my-bank.yaml").read_text("utf-8")
    assert "whole" not in operations["modify-payment"]
    assert {"body": "/amount", "value": "1.01"} == operations["modify-payment"]["arguments"][
        "amount"
    ]


@for_each(
    ("body", "amount"),
    [
        ('{"sum": {"value": "12.30", "currency": "EUR"}}', "/sum/value"),
        ('{"sum": {"total": "12.30", "note": "no", "ccy": "EUR"}}', "/sum/total"),
        ('{"sum": {"total": "12.30", "fee": "1.00", "currency": "EUR"}}', None),
        ('{"sum": {"total": 1230, "currency": "EUR"}}', None),
        ('{"sum": {"currency": "EUR"}, "rate": "1.50"}', None),
    ],
)
def test_the_amount_beside_a_currency(body, amount, tmp_path):
    """The only sum there; a whole number may be one of cents."""
    leaf = called("amount", operation(tmp_path, f"POST /a\n{body}").request)
    assert amount == (leaf and leaf.pointer)


def test_a_payment_is_known_by_its_body_whatever_its_path_is_called(tmp_path):
    """And what is below this path by its method, or by a word for what it does."""
    calls = f"POST /orders\n{PAYMENT}\nGET /orders/{{id}}\nPOST /orders/{{id}}/withdrawal\n"
    calls += 'PUT /orders/{id}\n{"amount": "1.01"}\nPOST /orders/{id}/confirmation\n'
    found = {
        name: each.get("path") for name, each in drafted(tmp_path, calls)["operations"].items()
    }
    assert found == {
        "create-payment": "/orders",
        "read-payment": "/orders/{id}",
        "modify-payment": "/orders/{id}",
        "cancel-payment": "/orders/{id}/withdrawal",
        "confirm-payment": "/orders/{id}/confirmation",
    }
    assert "POST /parcels" not in str(found)


def test_another_body_is_no_payment(tmp_path):
    """A few names that anything may have are not enough."""
    (tmp_path / "calls.txt").write_text(
        'POST /parcels\n{"amount": 1, "date": "2026-01-01", "currency": "EUR"}'
    )
    code, _, said = assay("init", "--yes", "--openapi", "calls.txt", cwd=tmp_path)
    assert 2 == code
    assert "none of the 1 operations" in said


def test_where_tokens_are_issued(tmp_path):
    """By the forms of the token endpoint: for payments, the TPP's own."""
    calls = (
        f"POST /payments\n{PAYMENT}\nPOST /oauth/token\ngrant_type=client_credentials&scope=pisp\n"
    )
    auth = drafted(tmp_path, calls)["auth"]
    assert ("client-credentials", "https://bank.example/v1/oauth/token", "pisp") == (
        auth["kind"],
        auth["token_url"],
        auth["scope"],
    )


@pytest.mark.parametrize(
    ("header", "presence"),
    [
        ("PSU-IP-Address: 192.0.2.1", {"header": "PSU-IP-Address", "value": "192.0.2.1"}),
        ("X-Psu-Present: 1", {"header": "X-Psu-Present", "value": "1"}),
        ("X-Representation: 1", None),
    ],
)
def test_the_header_of_a_customer_who_is_there(header, presence, tmp_path):
    """By its name, with the value that is shown."""
    assert presence == drafted(tmp_path, f"POST /payments\n{header}\n{PAYMENT}\n").get("presence")


def test_each_word_of_a_state_is_known_or_asked_for(tmp_path):
    """A word of several parts by the only one that means a state."""
    calls = (
        f"POST /payments\n{PAYMENT}\nGET /payments/{{id}}\n" + '200 {"id": "1", "status": "NEW"}\n'
    )
    calls += "status: NEW, awaiting_authorisation, executed, partially_executed, REVIEWED, cancelled_by_tpp\n"
    state = drafted(tmp_path, calls)["operations"]["read-payment"]["item"]["state"]
    assert state["values"] == {
        "open": ["NEW", "awaiting_authorisation"],
        "done": ["executed"],
        "ended": ["cancelled_by_tpp"],
    }
    text = (tmp_path / "my-bank.yaml").read_text("utf-8")
    assert "# TODO: which of partially_executed, REVIEWED are open, done, rejected or ended" in text


def test_an_account_and_a_day_of_the_manual_are_not_sent(tmp_path):
    """Whose account it is, and which day, is not that of a trial."""
    body = PAYMENT.replace(
        "{", '{"payer": "FR7630001007941234567890185", "runOn": "20260102", "ref": "R 1", ', 1
    )
    template = drafted(tmp_path, f"POST /payments\n{body}\n")["operations"]["create-payment"][
        "template"
    ]
    assert {"ref": "R 1"} == template


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
