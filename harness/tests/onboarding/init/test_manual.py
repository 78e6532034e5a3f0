"""A draft from a document and the bank's manual: each says what the other leaves out."""

from __future__ import annotations

import pytest
from command_line import assay
from rows import for_each

from assay.files.load import load
from assay.onboarding.init.foreign_document import read, with_calls
from assay.onboarding.init.openapi_operations import openapi_operations
from assay.onboarding.signer_guess import asked_by, guessed_signer
from assay.parsing.parse import parse_contracts
from assay.sca.html_forms import forms

DOCUMENT = """
openapi: 3.0.3
servers:
  - url: https://www.{code}.bank.example
    variables: {code: {default: "20110"}}
paths:
  /v1/accounts:
    get:
      security: [{psu: [AIS]}]
      responses: {200: {content: {application/json: {schema: {$ref: "#/components/schemas/List"}}}}}
  /v1/accounts/transactions: &entries
    get:
      security: [{psu: [AIS]}]
      parameters: [{name: iban, in: query, required: true, schema: {type: string}}, {name: dateFrom, in: query, schema: {type: string, format: date}}]
      responses: {200: {content: {application/json: {schema: {$ref: "#/components/schemas/Entries"}}}}}
  /v1/transactions: *entries
  /v1/accounts/{account-id}/transactions:
    get:
      parameters: [{name: account-id, in: path, required: true, description: resourceId or iban, schema: {type: string}}, {name: dateFrom, in: query, schema: {type: string, format: date}}]
      responses: {200: {content: {application/json: {schema: {$ref: "#/components/schemas/Entries"}}}}}
  /v1/payments/{product}:
    post:
      security: [{tpp: [PIS]}]
      parameters: [{name: product, in: path, required: true, schema: {type: string, enum: [sepa-credit-transfers, instant-sepa-credit-transfers]}}]
      requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/Payment"}}}}
      responses: {201: {content: {application/json: {schema: {$ref: "#/components/schemas/Made"}}}}}
  /v1/payments/{product}/{paymentId}:
    parameters: [{name: product, in: path, required: true, schema: {type: string, enum: [sepa-credit-transfers, instant-sepa-credit-transfers]}}, {name: paymentId, in: path, required: true, schema: {type: string}}]
    get: {security: [{tpp: [PIS]}], responses: {200: {content: {application/json: {schema: {$ref: "#/components/schemas/Made"}}}}}}
    delete: {security: [{tpp: [PIS]}], responses: {204: {description: gone}}}
components:
  securitySchemes:
    psu: {type: oauth2, flows: {authorizationCode: {authorizationUrl: /oauth/authorize, tokenUrl: /oauth/token, scopes: {AIS: x}}}}
    tpp: {type: oauth2, flows: {clientCredentials: {tokenUrl: /oauth/token, scopes: {PIS: x}}}}
  schemas:
    Links: {type: object, additionalProperties: {type: object, properties: {href: {type: string}}}}
    Account: {type: object, properties: {iban: {type: string}, cashAccountType: {type: string, enum: [CACC, CARD]}}}
    List: {type: object, properties: {accounts: {type: array, items: {$ref: "#/components/schemas/Account"}}, _links: {$ref: "#/components/schemas/Links"}}}
    Report: {type: object, properties: {booked: {type: array, items: {$ref: "#/components/schemas/Entry"}}, _links: {$ref: "#/components/schemas/Links"}}}
    Entry: {type: object, properties: {transactionId: {type: string}, bookingDate: {type: string, format: date}}}
    Entries:
      type: object
      properties:
        account: {type: object, properties: {iban: {type: string}}}
        transactions: {$ref: "#/components/schemas/Report"}
        cardTransactions: {$ref: "#/components/schemas/Report"}
    Payment:
      type: object
      required: [instructedAmount, creditorAccount, creditorName, chargeBearer, categoryPurpose, successfulReportUrl]
      properties:
        instructedAmount: {type: object, required: [currency, amount], properties: {currency: {type: string}, amount: {type: string}}}
        debtorAccount: {type: object, properties: {iban: {type: string}}}
        creditorAccount: {type: object, properties: {iban: {type: string}}}
        creditorName: {type: string}
        chargeBearer: {type: string}
        categoryPurpose: {type: string}
        successfulReportUrl: {type: string}
        requestedExecutionDate: {type: string, format: date}
      example:
        instructedAmount: {currency: EUR, amount: "12.30"}
        creditorAccount: {iban: NL91ABNA0417164300}
        creditorName: Bakker
        chargeBearer: SLEV
        categoryPurpose: SUPP
        successfulReportUrl: https://kompas.example/ok
    Made: {type: object, properties: {paymentId: {type: string}, transactionStatus: {type: string}, _links: {$ref: "#/components/schemas/Links"}}}
"""
MANUAL = """# Manual

Days are those of Europe/Amsterdam. PKCE is mandatory: `/oauth/authorize?redirect_uri=http%3A%2F%2F127.0.0.1:9/cb&scope=AIS`. Factors: SMS, CAP, SOFT. Follow `_links.next.href`; the customer signs at `_links.scaRedirect.href`.

```
API=http://127.0.0.1:8810
```
```
$ curl -s $API/v1/payments/sepa-credit-transfers -d '{"creditorName": "Bakker"}'
{"paymentId": "f1", "transactionStatus": "RCVD", "_links": {"self": {"href": "https://x.example/p"}}}
```
```
$ curl -s $API/v1/payments/sepa-credit-transfers/f1
{"paymentId": "f1", "transactionStatus": "ACSC"}
```
```
$ curl -s $API/psu/betaling/31
<form method="post" action="/psu/stap">
<input type="hidden" name="sessie" value="1">
<input type="text" name="gebruikersnaam"><input type="password" name="wachtwoord">
<button type="submit" name="actie" value="verder">Verder</button>
<button type="submit" name="actie" value="weigeren">Weigeren</button>
</form>
```
```
$ curl -s $API/psu/stap -d stap=aanmelden | grep methode
<input type="radio" name="methode" value="SMS"><input type="radio" name="methode" value="SOFT">
```
```
$ curl -s $API/psu/stap -d stap=methode | grep label
<label>Code <input type="text" name="woord" autocomplete="one-time-code"></label>
```
"""


@pytest.fixture
def drafted(tmp_path):
    """Return a function that drafts a target file from a document, and a manual if there is one."""
    (tmp_path / "bank.yaml").write_text(DOCUMENT)

    def draft(manual="", *more):
        (tmp_path / "manual.md").write_text(manual)
        args = ["--manual", "manual.md"] if manual else []
        words = ["init", "--yes", "--openapi", "bank.yaml", *args, *more, "--out", "draft.yaml"]
        code, _, error = assay(*words, cwd=tmp_path)
        assert (0, "") == (code, error)
        assert 0 == assay("check", "draft.yaml", cwd=tmp_path)[0]
        return load(tmp_path / "draft.yaml").data

    return draft


def test_a_server_has_its_defaults_and_what_is_relative_to_it(drafted):
    """So the flows of OAuth are known, one for each party."""
    data = drafted()
    assert "https://www.20110.bank.example" == data["base_url"]
    auth = data["auth"]
    assert ("authorization-code", "client-credentials") == (auth["kind"], auth["tpp"]["kind"])
    assert "https://www.20110.bank.example/oauth/token" == auth["token_url"]
    assert "pkce" not in auth
    assert "zone" not in data


def test_a_base_url_that_is_given_counts_for_all_that_is_relative(drafted):
    """A test system has its own endpoints."""
    data = drafted("", "--base-url", "http://127.0.0.1:8810")
    assert "http://127.0.0.1:8810/oauth/token" == data["auth"]["tpp"]["token_url"]


def test_a_base_path_does_not_hide_the_paths_of_the_contract(drafted):
    """They are certain, with the aliases that name the item in the same place."""
    entries = drafted()["operations"]["transactions"]
    assert "/v1/accounts/transactions" == entries["path"]
    named = "/v1/accounts/{account-id}/transactions"
    other = {"path": named, "arguments": {"iban": {"path": "account-id"}}}
    assert [other, "/v1/transactions"] == entries["aliases"]
    assert {"body": "/account/iban"} == entries["item"]["fields"]["iban"]


def test_the_example_of_a_whole_body_is_that_of_its_members(drafted):
    """For an argument, for what else a body must have, and another amount for a second request."""
    made = drafted()["operations"]["create-payment"]
    assert {"creditorName": "Bakker"} == made["template"]
    iban, amount = made["arguments"]["creditorAccount"], made["arguments"]["amount"]
    assert {"body": "/creditorAccount/iban", "value": "NL91ABNA0417164300"} == iban
    assert ("12.30", "13.30") == (amount["value"], amount["other"])


def test_a_mode_is_what_a_product_says_beside_the_plain_one(drafted):
    """The others are requested by the plain one, also where a request is read."""
    operations = drafted()["operations"]
    plain = {"path": "product", "value": "sepa-credit-transfers"}
    instant = {"path": "product", "value": "instant-sepa-credit-transfers"}
    modes = {"immediate": plain, "deferred": plain, "instant": instant}
    assert modes == operations["create-payment"]["modes"]
    assert "/v1/payments/{product}/{paymentId}" == operations["read-payment"]["path"]


def test_an_answer_without_a_body_lacks_no_item(drafted, tmp_path):
    """A cancellation that is answered with 204 shows no request."""
    drafted()
    text = (tmp_path / "draft.yaml").read_text("utf-8")
    assert "the single item" not in text.partition("cancel-payment:")[2]


def test_a_manual_says_what_a_document_leaves_out(drafted):
    """The zone, the proof key, the links, and all words for states that its answers show."""
    data = drafted(MANUAL)
    assert ("Europe/Amsterdam", True) == (data["zone"], data["auth"]["pkce"])
    assert "http://127.0.0.1:9/cb" == data["auth"]["redirect_uri"]
    operations = data["operations"]
    assert "/_links/next/href" == operations["accounts"]["next"]
    links = ["/transactions/_links/next/href", "/cardTransactions/_links/next/href"]
    assert links == operations["transactions"]["next"]
    made = operations["create-payment"]
    assert "/_links/scaRedirect/href" == made["approval"]
    # A link that is only told of is none that each answer must have.
    assert [{"at": "/_links/self/href", "optional": True}] == made["links"]
    states = operations["read-payment"]["item"]["state"]["values"]
    assert {"done": ["ACSC"]} == states
    assert {"creditorName": "Bakker"} == made["template"]


def test_a_manual_shows_the_screens(drafted):
    """In whatever language: by types and places; where a line was cut out, and who may refuse where."""
    screens = [
        {"gebruikersnaam": "login", "wachtwoord": "password"},
        {"methode": "factor"},
        {"woord": "code", "actie": "decision"},
    ]
    assert {
        "kind": "forms",
        "screens": screens,
        "factors": {"sms": "SMS", "soft-token": "SOFT", "cap": "CAP"},
        "decisions": {"confirm": "verder", "refuse": "weigeren"},
    } == drafted(MANUAL)["sca"]


def test_a_manual_alone_stands_in_place_of_a_document(drafted, tmp_path):
    """With the operation said, as its name does not tell."""
    (tmp_path / "manual.md").write_text("curl https://x.example/v1/holdings\n")
    told = ("--operation", "accounts=GET /holdings")
    words = ["init", "--yes", "--manual", "manual.md", *told, "--out", "draft.yaml"]
    code, _, error = assay(*words, cwd=tmp_path)
    assert (0, "") == (code, error)
    data = load(tmp_path / "draft.yaml").data
    assert ("https://x.example/v1", "/holdings") == (
        data["base_url"],
        data["operations"]["accounts"]["path"],
    )


@for_each(
    ("path", "expected"),
    [
        ("/v1/payments/sepa-credit-transfers", {"paymentId", "transactionStatus", "_links"}),
        ("/v1/payments/other", {"paymentId", "transactionStatus", "_links"}),
        ("/v1/unknown", None),
    ],
)
def test_a_call_of_a_manual_is_at_the_template_of_its_path(tmp_path, path, expected):
    """One of a path that the document lacks is left out; what it requires is not required there."""
    (tmp_path / "bank.yaml").write_text(DOCUMENT)
    calls = f'POST {path}\n{{"creditorName": "B", "more": "1"}}\n201 {{"extra": "NEW"}}\n'
    (tmp_path / "calls.txt").write_text(calls)
    both = with_calls(read(tmp_path / "bank.yaml"), read(tmp_path / "calls.txt"))
    operations = {str(each): each for each in openapi_operations(both)}
    assert f"POST {path}" not in operations
    made = operations["POST /v1/payments/{product}"]
    names = {leaf.name for leaf in made.answer if leaf.is_member}
    assert ("extra" in names) is (expected is not None)
    assert "more" not in {leaf.name for leaf in made.request if leaf.required}
    assert ("more" in {leaf.name for leaf in made.request}) is (expected is not None)


LOGIN = "<form><input name=a><input name=b type=password></form>"


@for_each(
    ("more", "expected"),
    [
        ("", [{"a": "login", "b": "password"}]),
        (
            "<form><button name=x value=ja><button name=x value=ablehnen></form>",
            [{"a": "login", "b": "password"}, {"x": "decision"}],
        ),
        # Two buttons that say nothing, and a field that is only carried on.
        (
            "<form><button name=x value=1><button name=x value=2><input name=code type=hidden>",
            [{"a": "login", "b": "password"}],
        ),
    ],
)
def test_a_signer_is_guessed_from_forms(more, expected):
    """No screen of a bank is filled in by chance: what says nothing is left out."""
    shown = forms((LOGIN + more).encode())
    signer = guessed_signer(shown, parse_contracts(["pis"]))
    assert expected == signer["screens"]
    assert guessed_signer(shown[1:], parse_contracts(["pis"])) is None


@for_each(
    ("page", "expected"),
    [
        (
            "<input type=radio name=methode value=SMS><button name=x value=ablehnen>",
            {"methode": "factor"},
        ),
        ("<button name=x value=ja><button name=x value=ablehnen>", {"x": "decision"}),
        ("<input name=b type=password><input name=pin>", {}),
        ("<button name=seen value=1>", {}),
        # What a page says is written into a file.
        ("<input name=a><input name='p w' type=password>", {}),
        ("<input name=user><select name='k\n'><option>sms</select>", {"user": "login"}),
        ("<input name=user><select name=k><option>sms<option>ca\7p</select>", {"user": "login"}),
    ],
)
def test_a_screen_that_a_file_lacks_is_proposed(page, expected):
    """By what it asks for; where that is not clear, not at all."""
    (form,) = forms(f"<form>{page}</form>".encode())
    assert expected == asked_by(form, parse_contracts(["pis"]))


def test_the_doctor_proposes_it(tmp_path):
    """With its fields, as the line of the target file."""
    lines = "assay: 1\ntarget: bank\nextends: sandbox\n"
    lines += (
        "sca: {screens: [{login: login, password: password}, {code: code}, {decision: decision}]}\n"
    )
    (tmp_path / "bank.yaml").write_text(lines)
    _, out, _ = assay("doctor", "--target", "bank.yaml", "-c", "pis", cwd=tmp_path)
    assert "(add the screen `{factor: factor}`)" in " ".join(out.split())
