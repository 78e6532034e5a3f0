"""Calls that a manual shows are read as a document; what they leave out is not made up."""

import click
import pytest
from command_line import assay
from rows import for_each

from assay.cli import init
from assay.errors import InputError
from assay.files.load import load
from assay.onboarding.init.defaults import init_defaults
from assay.onboarding.init.example_calls import document, is_calls, schema
from assay.onboarding.init.foreign_document import read
from assay.onboarding.init.openapi_operations import openapi_operations
from assay.onboarding.init.synonyms import called
from assay.parsing.parse import parse_contracts


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


def drafted(tmp_path, calls, *given, contracts=("pis",)):
    """Return the target file that is drafted from calls, about payments or those of other contracts."""
    (tmp_path / "calls.txt").write_text(calls)
    url = ("--base-url", "https://bank.example/v1")
    named = [word for contract in contracts for word in ("-c", contract)]
    code, _, said = assay(
        "init", "--yes", *named, *url, "--openapi", "calls.txt", *given, cwd=tmp_path
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
    assert {"body": "/amount", "other": "2.00"} == change["arguments"]["amount"]
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
    assert {"body": "/amount", "other": "1.01"} == operations["modify-payment"]["arguments"][
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
        (["20260101", "20261231"], {"type": "string", "format": "YYYYMMDD"}),
        (["20261301"], {"type": "string"}),
        (["FR7630001007941234567890185"], {"type": "string", "format": "iban"}),
        (["https://bank.example/a?b"], {"type": "string", "format": "uri"}),
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
    """A change to the value that a request has does not say which other one it may be changed to, but of an amount."""
    calls = 'POST /payment-requests\n{"amount": "1.00", "creditorAccount": "x", "currency": "EUR",'
    calls += ' "chargeBearer": "SLEV", "categoryPurpose": "OTHR", "successfulReportUrl": "https://x.example"}\n'
    calls += 'PUT /payment-requests/{paymentRequestResourceId}\n{"amount": "1.00", "creditorAccount": "x"}\n'
    (tmp_path / "calls.txt").write_text(calls)
    code, *_ = assay("init", "--yes", "-c", "pis", "--openapi", "calls.txt", cwd=tmp_path)
    assert code == 0
    gap = "the creditorAccount that a change gives, for example `creditorAccount: {body: /creditorAccount, value: x, other: …}`"
    text = (tmp_path / "my-bank.yaml").read_text("utf-8")
    assert f"# TODO: {gap}" in text
    assert 'amount: {body: /amount, value: "1.00", other: "2.00"}' in text


#: Calls in which nothing is called as in the contracts; of each operation, who knows it says so.
STRANGE = """
accounts: GET /ai/1/holdings?take=5&after=100004
200 {"items": [{"id": 100002, "sort": "konto", "ref": "FR7630001007941234567890185"}], "after": 100002}
sort: konto, karte
consents: PUT /ai/1/grant
{"holdings": [100002, 100004]}
balances: GET /ai/1/positions?ref=FR7630001007941234567890185
200 {"ref": "FR7630001007941234567890185", "positions": [{"kind": "CLBD", "minor": 98766, "ccy": "EUR"}]}
kind: CLBD, VALU
transactions: GET /ai/1/entries?ref=FR7630001007941234567890185&from=20261101&to=20261129
200 {"items": [{"id": 100009, "booked": "20261129", "minor": -1234}]}
create-payment: POST /pi/1/orders
amount_minor=1234&creditor_iban=DE89370400440532013000&kind=SCT&purpose=SUPP&execution_date=20261203
201 {"order_no": 100007, "state": "NEW", "sign_url": "https://bank.example/sign/L3y"}
kind: SCT, INST
GET /pi/1/orders/100007
200 {"order_no": 100007, "state": "SIGNED", "amount_minor": 1234}
state: NEW, SIGNED, DONE, LAPSED
DELETE /pi/1/orders/100007
"""


def test_a_call_may_say_which_operation_it_is(tmp_path):
    """Then what it shows is drafted by structure: the only list, an IBAN, ids, days without hyphens."""
    bound = drafted(tmp_path, STRANGE, contracts=())["operations"]
    accounts, entries = bound["accounts"], bound["transactions"]
    assert ("/ai/1/holdings", "/items") == (accounts["path"], accounts["list"])
    assert {"cursor": "/after", "query": "after"} == accounts["next"]
    words = {"account": "konto", "card": "karte"}
    assert accounts["item"] == {
        "key": "/ref",
        "id": "/id",
        "resource": {"at": "/sort", "values": words},
        "fields": {"iban": "/ref"},
    }
    given = {"body": "/holdings", "found": "accounts", "unit": "1"}
    assert given == bound["consents"]["arguments"]["accounts"]
    assert {"iban": {"query": "ref"}} == bound["balances"]["arguments"]
    fields = {"iban": {"body": "/ref"}, "balanceType": "/kind", "currency": "/ccy"}
    assert fields == bound["balances"]["item"]["fields"]
    assert {"query": "from", "format": "YYYYMMDD"} == entries["arguments"]["since"]
    assert {"at": "/booked", "format": "YYYYMMDD"} == entries["item"]["on"]


def test_the_id_that_a_path_copies_is_the_key_of_the_request(tmp_path):
    """What reads, and what cancels, is below the call that makes one, with the member of that value."""
    bound = drafted(tmp_path, STRANGE, contracts=())["operations"]
    made, read_again = bound["create-payment"], bound["read-payment"]
    assert "/pi/1/orders/{order_no}" == read_again["path"] == bound["cancel-payment"]["path"]
    assert "/order_no" == made["item"]["key"] == read_again["item"]["key"]
    assert "/sign_url" == made["approval"]
    assert {"Content-Type": "application/x-www-form-urlencoded"} == made["headers"]
    states = {"open": ["NEW", "SIGNED"], "done": ["DONE"], "ended": ["LAPSED"]}
    assert states == read_again["item"]["state"]["values"]
    amount = {"body": "/amount_minor", "unit": "0.01", "value": "12.34", "other": "13.34"}
    assert amount == made["arguments"]["amount"]
    assert {"body": "/execution_date", "format": "YYYYMMDD"} == made["arguments"]["date"]
    kinds = {mode: each["value"] for mode, each in made["modes"].items()}
    assert {"immediate": "SCT", "deferred": "SCT", "instant": "INST"} == kinds


SPANISH = """\
create-payment: POST /ordenes/

{"importe": {"centimos": "12550", "div": "EUR"}, "gastos": "SLEV", "urgencia": "NORMAL"}
201 {
 "orden": "OP586",
 "situacion": "PDTE"
}

POST /ordenes/

{"importe": {"centimos": "12550", "div": "EUR"}}
422 {"codigo": "FALTA"}

GET /ordenes/OP586/
200 {"orden": "OP586", "situacion": "PDTE"}

PUT /ordenes/OP586/

{"importe": {"centimos": "99", "div": "EUR"}}
200 {"orden": "OP586", "situacion": "PDTE"}

POST /ordenes/OP586/anulacion/
200 {"orden": "OP586", "situacion": "ANULADA"}

POST /ordenes/OP586/confirmacion/
404 {"codigo": "NO"}
"""


def test_what_reads_changes_and_ends_a_request_in_another_language(tmp_path):
    """By the path of the call that makes one, its id, and the members that a change shares with it."""
    operations = drafted(tmp_path, SPANISH)["operations"]
    paths = {
        name: (each.get("method", ""), each["path"])
        for name, each in operations.items()
        if name.endswith("payment")
    }
    assert paths == {
        "create-payment": ("", "/ordenes/"),
        "read-payment": ("", "/ordenes/{orden}/"),
        "modify-payment": ("", "/ordenes/{orden}/"),
        "cancel-payment": ("POST", "/ordenes/{orden}/anulacion/"),
    }
    for name in paths:
        assert "/orden" == operations[name]["item"]["key"]


def test_what_was_refused_says_nothing_of_what_is_needed(tmp_path):
    """The body without `urgencia` was refused, so the member is required."""
    create = drafted(tmp_path, SPANISH)["operations"]["create-payment"]
    assert {"urgencia": "NORMAL"} == create["template"]


def test_a_body_without_members_is_a_body(tmp_path):
    """It is sent, and what it may have is not known; one that was refused says nothing, nor does a form."""
    calls = "POST /a\n{}\n201\nPOST /b\nx=1\n400\n"
    paths = document(calls, "calls.txt")["paths"]
    assert "requestBody" in paths["/a"]["post"]
    assert "requestBody" not in paths["/b"]["post"]


def test_a_version_in_a_path_is_no_id(tmp_path):
    """Only below the path of another call is a step with a digit the id of a thing."""
    (tmp_path / "calls.http").write_text("GET /v1/a\nGET /v1/a/7f\nGET /v1/a/b/2\n")
    paths = [each.path for each in openapi_operations(read(tmp_path / "calls.http"))]
    assert ["/v1/a", "/v1/a/{id}", "/v1/a/b/2"] == paths


@for_each(
    ("options", "expected"),
    [
        (
            ["acounts=GET /ai/1/holdings"],
            "'acounts' is no operation of the contracts (did you mean",
        ),
        (["accounts=GET /ai/1/holding"], "'GET /ai/1/holding' is no call of the document (did you"),
        (["accounts=/ai/1/holdings"], "'accounts' has no call: expected a method and a path (for"),
    ],
)
def test_an_operation_that_is_told_wrongly(options, expected, tmp_path):
    """One line says what is wrong, with what was probably meant; nothing is written."""
    (tmp_path / "calls.txt").write_text(STRANGE.replace("accounts: GET", "GET"))
    told = [word for option in options for word in ("--operation", option)]
    code, _, error = assay("init", "--yes", "--openapi", "calls.txt", *told, cwd=tmp_path)
    assert 2 == code
    assert expected in error
    assert not (tmp_path / "my-bank.yaml").exists()


def test_a_document_in_which_nothing_is_alike_needs_to_be_told(tmp_path):
    """By an option for each operation; without, the error says how."""
    (tmp_path / "calls.txt").write_text('GET /ai/1/holdings\n200 {"rows": [{"id": 1}]}\n')
    words = ["init", "--yes", "--openapi", "calls.txt"]
    code, _, error = assay(*words, cwd=tmp_path)
    assert 2 == code
    assert "--operation accounts='GET /path'" in error
    code, *_ = assay(*words, "--operation", "accounts=GET /ai/1/holdings", cwd=tmp_path)
    assert 0 == code
    file = load(tmp_path / "my-bank.yaml").data
    drafted = file["operations"]["accounts"]
    assert ("/ai/1/holdings", "/rows") == (drafted["path"], drafted["list"])


def test_a_customer_at_a_terminal_is_asked(tmp_path, monkeypatch):
    """What is left of a contract that has a match; a wrong answer is asked again."""
    (tmp_path / "calls.txt").write_text(STRANGE.replace("balances: GET", "GET"))
    asked = []
    answers = iter(["GET /ai/1/position", "GET  /ai/1/positions", "-", "-"])
    monkeypatch.setattr(click, "prompt", lambda text, **_: asked.append(text) or next(answers))
    chosen = init_defaults(
        tuple(parse_contracts(["aisp", "pis"])),
        tmp_path / "calls.txt",
        named=False,
        choose=init._choose,
    )
    assert "GET /ai/1/positions" == str(chosen.found["aisp"]["balances"].offered)
    assert asked[0].startswith("Which call is balances (GET /accounts/balances in the contract)?")
    assert "GET /ai/1/positions" in asked[0]
    assert asked[0] == asked[1]
    assert asked[2].startswith("Which call is modify-payment")


#: A payment of which only the values tell what is what.
SEPA = """\
PUT /consentimiento
{"productos": [{"iban": "ES6721000418100000000000"}]}
204

create-payment: POST /ordenes
{"modo": "SCT", "importe": {"centimos": "12550", "div": "EUR"}, "gastos": "SLEV",
 "proposito": "SUPP", "ordenante": {"iban": "ES6721000418100000000000"},
 "beneficiario": {"nombre": "Sol", "iban": "ES3800490418777000000003"}, "fecha": "08/12/2026",
 "urlExito": "https://tpp.example/ok", "urlFracaso": "https://tpp.example/ko"}
201 {"orden": "OP586", "gastos": "SLEV", "importe": {"centimos": "12550", "div": "EUR"},
 "urlExito": "https://tpp.example/ok", "enlaces": {"self": "https://bank.example/o/1",
 "firma": "https://bank.example/firma/1"}}

PUT /ordenes/OP586
{"importe": {"centimos": "9900", "div": "EUR"}, "fecha": "09/12/2026"}
200 {"orden": "OP586"}

GET /ordenes/OP586
200 {"orden": "OP586", "gastos": "SLEV", "importe": {"centimos": "12550", "div": "EUR"},
 "fecha": "08/12/2026"}
"""


def test_values_tell_what_an_argument_is_in_any_language(tmp_path):
    """What the contract says of it, a code that all banks use, and whose account it is."""
    operations = drafted(tmp_path, SEPA)["operations"]
    cents = {"unit": "0.01"}
    assert {
        "chargeBearer": {"body": "/gastos", "value": "SLEV"},
        "categoryPurpose": {"body": "/proposito", "value": "SUPP"},
        "creditorAccount": {"body": "/beneficiario/iban", "value": "ES3800490418777000000003"},
        "successfulReportUrl": {"body": "/urlExito", "value": "https://tpp.example/ok"},
        "debtorAccount": {"body": "/ordenante/iban"},
        "amount": {"body": "/importe/centimos", **cents, "value": "125.50", "other": "126.50"},
        "currency": {"body": "/importe/div", "value": "EUR"},
        "date": {"body": "/fecha", "format": "DD/MM/YYYY"},
    } == operations["create-payment"]["arguments"]
    assert "/enlaces/firma" == operations["create-payment"]["approval"]
    plain = {"body": "", "value": {}}
    assert {"immediate": plain, "deferred": plain} == operations["create-payment"]["modes"]
    changed = operations["modify-payment"]["arguments"]
    assert {"body": "/importe/centimos", **cents, "other": "99.00"} == {
        name: changed["amount"].get(name) for name in ("body", "unit", "other")
    }
    assert "/fecha" == changed["date"]["body"]
    shown = operations["read-payment"]["item"]["fields"]
    assert "/gastos" == shown["chargeBearer"]
    assert {"at": "/fecha", "format": "DD/MM/YYYY"} == shown["date"]
    assert "categoryPurpose" not in shown


def test_where_a_word_may_say_the_mode_none_is_taken_for_granted(tmp_path):
    """A word may stand for a mode, and a list of words does not say for which."""
    create = drafted(tmp_path, f"{SEPA}\nmodo: SCT, RTP\n")["operations"]["create-payment"]
    assert "modes" not in create


@for_each(
    ("was", "is_", "unknown"),
    [
        ('"gastos": "SLEV"', '"gastos": "SLEV", "costes": "SLEV"', "chargeBearer"),
        ('"proposito": "SUPP"', '"proposito": "NOMI"', "categoryPurpose"),
        ('"proposito": "SUPP"', '"proposito": "SUPP", "local": "INTC"', "categoryPurpose"),
        ('{"productos": [{"iban": "ES6721000418100000000000"}]}', "{}", "debtorAccount"),
        ('{"productos": [{"iban": "ES6721000418100000000000"}]}', "{}", "creditorAccount"),
        ("https://tpp.example/ko", "https://tpp.example/x", "successfulReportUrl"),
        ('"fecha": "08/12/2026"', '"fecha": "08/12/2026", "alta": "01/12/2026"', "date"),
        ('"centimos": "12550"', '"valor": "12550"', "amount"),
    ],
)
def test_what_values_do_not_tell_is_left_open(was, is_, unknown, tmp_path_factory):
    """Two of a kind, a word that is no code, and an account that no other call has."""
    text = SEPA.replace("urlFracaso", "urlOtra").replace(was, is_)
    folder = tmp_path_factory.mktemp("draft")
    arguments = drafted(folder, text)["operations"]["create-payment"]["arguments"]
    assert unknown not in arguments
    assert len(arguments) > 5


def test_a_header_of_all_calls_is_sent_with_all(tmp_path):
    """Calls of which no header is shown say nothing, and neither does one alone; a secret is not copied."""
    calls = SEPA.replace("PUT /consentimiento", "PUT /consentimiento\nX-App: lince\nX-Api-Key: k7")
    several = calls.replace(
        "GET /ordenes/OP586", "GET /ordenes/OP586\nX-App: lince\nX-Lang: es\nX-Api-Key: k7"
    )
    for name, text in (("one", calls), ("several", several)):
        (tmp_path / name).mkdir()
        headers = drafted(tmp_path / name, text).get("headers", {})
        assert ({"X-App": "lince"} if name == "several" else {}) == headers
        assert "k7" not in (tmp_path / name / "my-bank.yaml").read_text("utf-8")


@for_each(
    ("query", "since", "until"),
    [
        ("desde=01/12/2026&hasta=05/12/2026", "desde", "hasta"),
        ("vonDatum=01.12.2026&bisDatum=05.12.2026", "vonDatum", "bisDatum"),
        ("dateDebut=01-12-2026&dateFin=05-12-2026", "dateDebut", "dateFin"),
    ],
)
def test_a_range_in_another_language_and_its_format(query, since, until, tmp_path_factory):
    """The format is that of the example."""
    calls = f"accounts: GET /c\n200 [{{}}]\ntransactions: GET /m?iban=FR7630006000011234567890189&{query}\n200 []\n"
    folder = tmp_path_factory.mktemp("draft")
    made = drafted(folder, calls, contracts=("aisp",))["operations"]["transactions"]["arguments"]
    written = f"DD{query[len(since) + 3]}MM{query[len(since) + 3]}YYYY"
    assert {"query": since, "format": written} == made["since"]
    assert {"query": until, "format": written} == made["until"]


def test_a_list_of_objects_with_one_member_has_the_key_in_it(tmp_path):
    """Whatever it is called; of several members none is certain."""
    calls = 'accounts: GET /c\n200 [{{}}]\nconsents: PUT /f\n{{"freigaben": [{{"kennung": "DE08"{more}}}]}}\n204\n'
    each = {}
    for name, more in (("one", ""), ("two", ', "art": "konto 1"')):
        (tmp_path / name).mkdir()
        made = drafted(tmp_path / name, calls.format(more=more), contracts=("aisp",))
        each[name] = made["operations"]["consents"]["arguments"]["accounts"].get("each")
    assert {"one": {"kennung": "{}"}, "two": None} == each


def test_a_value_that_a_rule_names_is_no_part_of_an_ordinary_request(tmp_path):
    """Where the member is not known to be the argument, another word of it is sent."""
    calls = SEPA.replace('"proposito": "SUPP"', '"tipo": "CASH"') + "\ntipo: CASH, X1, X2\n"
    create = drafted(tmp_path, calls)["operations"]["create-payment"]
    assert "X1" == create["template"]["tipo"]
    assert "categoryPurpose" not in create["arguments"]


CURL = """\
1. Pay
create-payment: curl -X POST "$API/op/v1/payments/now?dry=1" \\
  -H 'X-Key: k' -sS \\
  --data '{"charge": "SLEV",
           "to": "it'"'"'s"}' -o out.json
HTTP/1.1 202 Accepted

{"id": "P1"}
$ curl -G https://bank.example/op/v1/accounts -d page=2 -d "size=3" -Haccept:\\ json
curl https://bank.example/op/v1/accounts/{id}/balances
curl -d 'grant=x&scope=a' https://bank.example/op/v1/token
"""


def test_commands_of_curl_are_calls():
    """Their URLs, options and bodies are read as the shell and curl would; all URLs begin with the base."""
    made = document(CURL, "t")
    assert "https://bank.example/op/v1" == made["servers"][0]["url"]
    assert {"/payments/now", "/accounts", "/accounts/{id}/balances", "/token"} == {*made["paths"]}
    pay = made["paths"]["/payments/now"]["post"]
    assert ["create-payment"] == pay["x-operations"]
    assert ["dry", "X-Key"] == [each["name"] for each in pay["parameters"]]
    ((_, sent),) = pay["requestBody"]["content"].items()
    assert "it's" == sent["schema"]["properties"]["to"]["example"]
    assert {"2XX"} == {*pay["responses"]}
    listed = made["paths"]["/accounts"]["get"]["parameters"]
    assert ["page", "size"] == [each["name"] for each in listed if each["in"] == "query"]
    assert {"application/x-www-form-urlencoded"} == {
        *made["paths"]["/token"]["post"]["requestBody"]["content"]
    }


@for_each(
    ("text", "paths"),
    [
        ("curl https://a.example/v1/x", {"/x"}),
        ("curl https://a.example/x", {"/x"}),
        ("curl https://a.example", {"/"}),
        ("curl a.example/v1/x\ncurl a.example/v2/x", {"/v1/x", "/v2/x"}),
        ("curl '{base}/v1/{id}/x'\ncurl '{base}/v1/{id}/y'", {"/v1/{id}/x", "/v1/{id}/y"}),
        # The base URL of a variable is what the reader knows; a link, or a test API, is no call.
        ("curl $A/v1.1/x\ncurl $A/v1.1/y\ncurl ${B}/t\ncurl $LINK", {"/v1.1/x", "/v1.1/y"}),
        ("GET /x\ncurl https://a.example/v1/y", {"/x", "/y"}),
        ("GET /x\ncurl 'https://a.example/v1/y", {"/x"}),
    ],
)
def test_what_the_urls_of_commands_have_in_common(text, paths):
    """A path that all begin with is that of the base URL; a command without an end is no call."""
    assert is_calls(text)
    assert paths == {*document(text, "t")["paths"]}


MARKDOWN = """\
```sh
curl -X POST $BANK/v2.0/pay -d @- <<EOF
{"to": "$TO", "id": "$(uuidgen)", "type": "NOW"}
EOF
```

```json
{"status": "NEW"}
```

```json
{"code": "E-1"}
```

```sh
curl $BANK/v2.0/list
```

Nothing is shown.
"""


def test_in_markdown_the_next_block_of_json_is_the_answer():
    """Only the next one; and what the shell fills in is no example."""
    paths = document(MARKDOWN, "t")["paths"]
    pay = paths["/v2.0/pay"]["post"]
    shown = pay["responses"]["2XX"]["content"]["application/json"]["schema"]["properties"]
    sent = pay["requestBody"]["content"]["application/json"]["schema"]["properties"]
    assert {"status": {"type": "string", "enum": ["NEW"]}} == shown
    plain = {"type": "string"}
    assert {"to": plain, "id": plain, "type": {**plain, "enum": ["NOW"]}} == sent
    assert "responses" not in paths["/v2.0/list"]["get"]


def test_what_is_not_offered_is_asked_for_in_full(tmp_path):
    """A bank may refuse it for a member that is missing, before it says that it is not there."""
    calls = 'accounts: GET /c\n200 []\nend-user-identity: POST /me\n{"head": {"channel": "WEB"}}\n'
    asked = drafted(tmp_path, calls, contracts=("aisp",))["operations"]["end-user-identity"]
    assert {"head": {"channel": "WEB"}} == asked["template"]


def test_an_iban_that_an_item_may_lack_is_not_its_key(tmp_path):
    """A card names its account; a list has IBANs, and cards that are encrypted."""
    account = '{"number": "PL86102070194389598769986660", "parent": {}}'
    card = (
        '{"number": "1D5E33B538F5C380D55E17EE3773600E", "parent": "PL86102070194389598769986660"}'
    )
    calls = f'accounts: GET /c\n200 {{"list": [{account.replace("{}", "null")}, {card}]}}\n'
    item = drafted(tmp_path, calls, contracts=("aisp",))["operations"]["accounts"]["item"]
    assert "/number" == item["key"] == item["fields"]["iban"]


def test_a_body_of_a_command_that_is_not_json_is_an_error_at_its_line():
    """Though a command has more lines than it takes as a call, or fewer."""
    with pytest.raises(InputError) as caught:
        document("Pay\n\ncurl https://a.example/x \\\n -H 'A: b' -d '{x}'\n", "t")
    assert 3 == caught.value.problems[0].line
