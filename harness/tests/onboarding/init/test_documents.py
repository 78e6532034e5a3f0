"""Documents in the manner of several interfaces: what is found in each, and what must not be guessed."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from rows import for_each

from assay._resources import contract_dir
from assay.binding.read.join import bind
from assay.cli.main import group
from assay.errors import InputError
from assay.files.load import load
from assay.onboarding.init.foreign_document import MAX_BYTES, ForeignDocument, from_swagger, read
from assay.parsing.parse import find_contract, parse_contract
from assay.preparation.target_file import extended, read_target, shipped_file

HERE = Path(__file__).parent
SHOWN = {"at": "/transactionStatus"}

#: What the draft of each document has, by key.
FOUND = {
    "berlin.yaml": {
        "auth.kind": "authorization-code",
        "base_url": "https://x.example/xs2a",
        "operations.create-payment.path": "/v1/payments/{payment-product}",
        "operations.create-payment.modes.instant": {
            "path": "payment-product",
            "value": "instant-sepa-credit-transfers",
        },
        "operations.create-payment.modes.deferred": {
            "path": "payment-product",
            "value": "sepa-credit-transfers",
        },
        "operations.transactions.item.fields.iban": {"body": "/account/iban"},
        "operations.create-payment.arguments.creditorAccount.body": "/creditorAccount/iban",
        "operations.create-payment.arguments.date": {"body": "/requestedExecutionDate"},
        "operations.consents.template.validUntil": "{today+30}",
        "operations.cancel-payment.method": "DELETE",
    },
    "stet.json": {
        "auth.scope": "aisp",
        "operations.accounts.item.id": "/resourceId",
        "operations.transactions.arguments.until": {"query": "dateTo", "exclusive": True},
        "operations.trusted-beneficiaries.path": "/trusted-beneficiaries",
    },
    "uk.yaml": {
        "auth.kind": "authorization-code",
        "auth.scope": "accounts",
        "auth.tpp.kind": "client-credentials",
        "auth.tpp.scope": "payments",
        "headers": {"x-idempotency-key": "{unique}"},
        "presence.header": "x-fapi-customer-ip-address",
        "operations.accounts.path": "/accounts",
        "operations.accounts.item.key": {
            "in": "/Account",
            "where": {"/SchemeName": "UK.IBAN"},
            "at": "/Identification",
        },
        "operations.balances.item.fields.balanceType": "/Type",
        "operations.transactions.aliases": [],
        "operations.transactions.arguments.until.text": "{}T23:59:59{offset}",
        "operations.create-payment.path": "/domestic-payments",
        "operations.create-payment.one": "/Data",
        "operations.create-payment.item.key": "/DomesticPaymentId",
        "operations.create-payment.template.Data.Initiation": {
            "EndToEndIdentification": "{alike}",
            "CreditorAccount": {"SchemeName": "UK.IBAN"},
        },
        "operations.read-payment.item.fields.amount": "/Initiation/InstructedAmount/Amount",
    },
    "poland.yaml": {
        "base_url": "https://api.bank.example/open/v2",
        "auth.kind": "authorization-code",
        "auth.scope": "ais-list ais",
        "auth.token_in": [{"header": "Authorization"}, {"body": "/header/token"}],
        "headers": {"X-REQUEST-ID": "{unique}", "Accept-Charset": "utf-8"},
        "operations.accounts.method": "POST",
        "operations.accounts.path": "/accounts/getAccounts",
        "operations.accounts.next": {"cursor": "/pageInfo/nextPage", "body": "/pageId"},
        "operations.accounts.template": {"header": {"requestId": "{unique}"}},
        "operations.transactions.path": "/accounts/getTransactionsDone",
        "operations.transactions.arguments": {
            "iban": {"body": "/accountNumber"},
            "since": {"body": "/bookingDateFrom"},
            "until": {"body": "/bookingDateTo"},
        },
        "operations.transactions.item.on": "/bookingDate",
        "operations.create-payment.path": "/payments/transfer",
        "operations.create-payment.template.system": "SEPA",
        "operations.create-payment.modes.deferred": {
            "body": "/executionMode",
            "value": "FutureDated",
        },
        "operations.transactions.item.key": "/itemId",
        "operations.create-payment.arguments.creditorAccount": {"body": "/recipient/accountNumber"},
        "operations.read-payment.method": "POST",
        "operations.read-payment.arguments": {"paymentRequestResourceId": {"body": "/paymentId"}},
        "operations.cancel-payment.path": "/payments/cancelPayments",
    },
    "coast.yaml": {
        "contracts": ["aisp"],
        "auth.kind": "bearer",
        "operations.accounts.list": "/data",
        "operations.accounts.item.id": "/accountId",
        "operations.balances.path": "/accounts/{accountId}/balance",
        "operations.balances.arguments.iban": {"path": "accountId", "found": "accounts"},
        "operations.transactions.arguments.since": {
            "query": "oldest-time",
            "text": "{}T00:00:00{offset}",
        },
        "operations.transactions.arguments.until": {
            "query": "newest-time",
            "text": "{}T23:59:59{offset}",
        },
        "operations.transactions.item.on": "/postedAt",
    },
    "trade.yaml": {
        "operations.create-payment.one": "/data",
        "operations.create-payment.item.key": "/id",
        "operations.create-payment.template": {
            "debtorAccount": {"scheme": "IBAN"},
            "lines": [{"reference": {"endToEndId": "{alike}"}}],
        },
        "operations.read-payment.path": "/payments/{id}/",
        "operations.read-payment.item.fields.debtorAccount": "/debtorAccount/identification",
        "operations.cancel-payment.method": "DELETE",
    },
}
#: What no draft may have: it would be another operation, another value, or one of no meaning.
NEVER = {
    "berlin.yaml": [
        "operations.modify-payment",
        "operations.confirm-payment",
        "operations.trusted-beneficiaries",
        "operations.create-payment.arguments.debtorAccount.value",
    ],
    "stet.json": ["operations.balances.item.fields.iban", "operations.end-user-identity"],
    "uk.yaml": [
        "operations.consents",
        "operations.confirm-payment",
        "operations.trusted-beneficiaries",
        "operations.create-payment.arguments.date",
        "operations.read-payment.item.fields.date",
        "operations.create-payment.arguments.chargeBearer",
    ],
    "poland.yaml": [
        "auth.tpp",
        "operations.consents",
        "operations.balances",
        "operations.accounts.item",
        "operations.modify-payment",
        "operations.confirm-payment",
        "operations.accounts.template.header.token",
    ],
    "coast.yaml": [
        "operations.accounts.item.resource",
        "operations.accounts.item.key",
        "operations.balances.method",
        "operations.balances.list",
    ],
    "trade.yaml": [
        "operations.modify-payment",
        "operations.create-payment.arguments.creditorAccount",
        "operations.read-payment.item.fields.creditorAccount",
    ],
}


@pytest.fixture(scope="module")
def drafts(tmp_path_factory):
    """Return the target files drafted from the documents."""
    folder = tmp_path_factory.mktemp("documents")
    return {name: draft(folder, HERE / name) for name in FOUND}


def draft(folder, source, *args):
    """Draft a target file, and return its path; what it binds is known to the contracts."""
    name = Path(source).stem
    out = folder / f"{name}-target.yaml"
    given = ["--openapi", str(source), "--out", str(out), "--name", name]
    group.main(["init", "--yes", *given, *args], standalone_mode=False)
    return out


def at(value, key):
    """Return the value at a key with dots; None if there is none."""
    for step in key.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


@for_each(("name", "key"), [(name, key) for name in FOUND for key in FOUND[name]])
def test_what_the_document_says_is_found(drafts, name, key):
    """A key has the value that the document gives."""
    assert FOUND[name][key] == at(load(drafts[name]).data, key)


@for_each(("name", "key"), [(name, key) for name in NEVER for key in NEVER[name]])
def test_what_would_be_wrong_is_not_guessed(drafts, name, key):
    """A key is not written: nothing of the document has this meaning."""
    assert at(load(drafts[name]).data, key) is None


XS2A = contract_dir() / "examples" / "xs2a" / "xs2a.yaml"


def test_modes_in_a_path_keep_its_parameter(tmp_path):
    """Products that are modes of the contract by name stay in the path; another mode is a gap."""
    path = draft(tmp_path, HERE / "berlin.yaml", "--contract", str(XS2A))
    drafted = load(path).data["operations"]
    assert "/v1/payments/{payment-product}" == drafted["make-payment"]["path"]
    products = ("sepa-credit-transfers", "instant-sepa-credit-transfers")
    assert drafted["make-payment"]["modes"] == {
        name: {"path": "payment-product", "value": name} for name in products
    }
    text = path.read_text(encoding="utf-8")
    gap = (
        "# TODO: how this mode is requested, for example `{0}: {{path: payment-product, value: …}}`"
    )
    assert all(gap.format(mode) in text for mode in ("on-a-day", "target-2-payments"))
    # A request is read and cancelled where it was made, with no value of its own.
    for name in ("payment", "cancel-payment"):
        assert "/v1/payments/{payment-product}/{paymentId}" == drafted[name]["path"]
    assert "for example `path: /v1/payments/…/{paymentId}`" not in text
    # A grant is placed once.
    assert "the place of access in the request" not in text
    assert bind([parse_contract(XS2A)], read_target(path))


def test_the_authorisation_of_a_cancellation_is_no_cancellation(tmp_path):
    """Without the DELETE, the POST that lets a customer sign it is not taken for it; `absent` is named."""
    text = (HERE / "berlin.yaml").read_text(encoding="utf-8")
    assert "operationId: startPaymentInitiationCancellationAuthorisation" in text
    before, deletes, after = text.partition("    delete:\n      operationId: cancelPayment\n")
    assert deletes
    after = after.partition("responses: {204: {description: gone}}\n")[2]
    (tmp_path / "berlin.yaml").write_text(before + after, encoding="utf-8")
    path = draft(tmp_path, tmp_path / "berlin.yaml")
    assert "cancel-payment" not in load(path).data["operations"]
    text = path.read_text(encoding="utf-8")
    assert (
        "if the bank has none, give the reason with `absent: {operations: {cancel-payment: …}}`"
        in text
    )


def test_an_operation_that_is_not_offered_is_listed_with_the_path_to_ask_at(drafts):
    """Where the document lacks an unavailable operation, no path of the contract is asked."""
    text = drafts["uk.yaml"].read_text(encoding="utf-8")
    what = "# TODO: the path at which this bank would offer GET /trustedBeneficiaries"
    assert f"{what}, for example `trusted-beneficiaries: {{path: /…}}`" in text
    assert "the document specifies different authentication for POST /domestic-payments" in text


def test_a_document_of_no_bank_is_refused(tmp_path):
    """A payment for a train is no payment request: nothing is guessed, in one line."""
    with pytest.raises(InputError) as caught:
        draft(tmp_path, HERE / "trains.yaml")
    what = "none of the 4 operations in the document matches an operation of the contracts"
    hint = "is this the right document? if so, say which it is: --operation accounts='GET /path'"
    assert f"{what} ({hint})" in str(caught.value)
    assert [] == list(tmp_path.iterdir())


# -- with a file that is extended ----------------------------------------------


def test_a_document_of_the_inherited_interface_changes_no_operation(tmp_path):
    """With `--extends`, everything that the STET document agrees with is left to the base."""
    path = draft(tmp_path, HERE / "stet.json", "--extends", "stet-1.4.0", "--fixtures", "control")
    base = read_target(shipped_file("stet-1.4.0"))
    target = read_target(path)
    assert bindings(base) == bindings(target)
    assert base.outcomes == target.outcomes
    assert (base.headers, base.presence) == (target.headers, target.presence)
    contracts = [parse_contract(find_contract(name)) for name in ("aisp", "pis")]
    assert bind(contracts, target)
    gaps = [row for row in path.read_text(encoding="utf-8").splitlines() if "# TODO: " in row]
    # What the base has is no gap: its templates, values and credentials.
    assert not [row for row in gaps if "template" in row or "credentials" in row]


def bindings(target):
    """Return the bindings of a target without their lines."""
    return {name: replace(binding, line=0) for name, binding in target.operations.items()}


def test_what_the_document_contradicts_is_corrected(tmp_path):
    """A parameter that the document does not have gives way to the one that it has."""
    document = json.loads((HERE / "stet.json").read_text(encoding="utf-8"))
    path = "/accounts/{accountResourceId}/transactions"
    parameters = document["paths"][path]["get"]["parameters"]
    parameters[2]["name"] = "startDate"
    item = document["components"]["schemas"]["AccountResource"]["properties"]
    item["resourceIdentifier"] = item.pop("resourceId")
    source = tmp_path / "changed.json"
    source.write_text(json.dumps(document))
    data = load(draft(tmp_path, source, "--extends", "stet-1.4.0")).data
    argument = {"query": "startDate", "text": "{}T00:00:00{offset}"}
    assert {"transactions": {"arguments": {"since": argument}}} == data["operations"]


# -- documents of version 2, and large ones --------------------------------------


def test_the_versions_of_a_document_give_the_same_draft():
    """A document of version 2 is converted into what version 3 says, references included."""
    old = read(HERE / "poland.yaml")
    get = old.root["paths"]["/accounts/getAccounts"]["post"]
    assert {"type": "string"} == get["parameters"][0]["schema"]
    schema = get["requestBody"]["content"]["application/json"]["schema"]
    assert ["header"] == schema["required"]
    payment = old.root["paths"]["/payments/transfer"]["post"]["responses"]["200"]
    assert {"$ref": "#/definitions/Payment"} == payment["content"]["application/json"]["schema"]
    flows = old.root["components"]["securitySchemes"]["login"]["flows"]
    assert ["authorizationCode"] == [*flows]
    assert [{"url": "https://api.bank.example/open/v2"}] == old.root["servers"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # Not in each body; of an authorization server; nowhere required.
        (
            'in: body, schema: {$ref: "#/definitions/OfPayment"}',
            "in: body, schema: {properties: {paymentId: {}}}",
        ),
        ("token: {type: string}", "refreshToken: {type: string}"),
        ("[requestId, token]", "[requestId]"),
    ],
)
def test_a_token_in_some_bodies_is_no_place_of_tokens(old, new, tmp_path):
    """It stays a gap where it is required, and nothing is said of tokens."""
    text = (HERE / "poland.yaml").read_text("utf-8")
    assert old in text
    other = tmp_path / "other.yaml"
    other.write_text(text.replace(old, new), "utf-8")
    drafted = draft(tmp_path, other).read_text("utf-8")
    assert "token_in" not in drafted
    assert ("header.token" in drafted) is ("OfPayment" in old)


@pytest.mark.parametrize(
    ("root", "url"),
    [
        ({"host": "a.example", "basePath": "/b/", "schemes": ["http"]}, "http://a.example/b"),
        ({"host": "a.example", "schemes": ["http", "https"]}, "https://a.example"),
        ({"host": "placeholder", "basePath": "/b"}, None),
        ({}, None),
    ],
)
def test_the_base_url_of_version_2(root, url):
    """Host, base path and scheme make the URL; a host that is a placeholder makes none."""
    converted = from_swagger(ForeignDocument({"swagger": "2.0", **root}, "x"))
    assert ([{"url": url}] if url else []) == converted.root["servers"]


def test_a_form_is_the_body(tmp_path):
    """The fields of a form are the members of the body, a basic scheme is one of HTTP."""
    fields = [
        {"name": "iban", "in": "formData", "type": "string", "required": "true"},
        {"name": "page", "in": "query", "type": "integer"},
    ]
    root = {
        "swagger": "2.0",
        "securityDefinitions": {"who": {"type": "basic"}, "odd": {"type": "oauth2", "flow": "x"}},
        "paths": {"/a": {"post": {"parameters": fields}}},
    }
    converted = from_swagger(ForeignDocument(root, "x")).root
    post = converted["paths"]["/a"]["post"]
    content = {"type": "object", "properties": {"iban": {"type": "string"}}, "required": ["iban"]}
    assert {"content": {"application/json": {"schema": content}}} == post["requestBody"]
    assert ["page"] == [each["name"] for each in post["parameters"]]
    schemes = converted["components"]["securitySchemes"]
    assert {"type": "http", "scheme": "basic"} == schemes["who"]
    assert {"type": "oauth2", "flows": {}} == schemes["odd"]


def test_a_document_may_have_32_mib_and_no_more(tmp_path):
    """The limit is said in the error; a document just below it is read."""
    source = tmp_path / "large.json"
    document = '{"openapi": "3.0.0", "paths": {}, "x": "%s"}'
    source.write_text(document % ("x" * (MAX_BYTES - len(document) + 2)))
    assert MAX_BYTES == source.stat().st_size
    assert "3.0.0" == read(source).root["openapi"]
    with source.open("a") as file:
        file.write(" ")
    with pytest.raises(InputError, match="larger than 32 MiB"):
        read(source)


HOSTILE = {
    "values": '{"openapi": "3.0.0", "x": [' + "[]," * 4_000_000 + "[]]}",
    "commas": '{"openapi": "3.0.0", "x": "' + "," * 8_000_001 + '"}',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_document_of_too_many_values_is_refused_before_it_is_built(tmp_path, name):
    """The number of values is bounded before they take memory."""
    source = tmp_path / "hostile.json"
    source.write_text(HOSTILE[name])
    with pytest.raises(InputError, match="too large or too deeply nested"):
        read(source)


def test_parameters_that_are_aliases_of_each_other_do_no_harm(tmp_path):
    """Many operations that share a long list of parameters and of properties are read in no time."""
    names = ", ".join(f"p{number}: {{type: string}}" for number in range(3_000))
    shared = ", ".join(f"{{name: p{number}, in: query}}" for number in range(3_000))
    rows = [
        "openapi: 3.0.0",
        f"x: {{p: &p [{shared}], s: &s {{type: object, properties: {{{names}}}}}}}",
        "paths:",
        *(
            f"  /accounts/{number}: {{get: {{operationId: accounts{number}, parameters: *p,"
            " responses: {200: {content: {application/json: {schema: *s}}}}}}"
            for number in range(300)
        ),
        "  /accounts: {get: {parameters: *p}}",
    ]
    source = tmp_path / "aliases.yaml"
    source.write_text("\n".join(rows))
    path = draft(tmp_path, source, "--contract", "aisp")
    assert "/accounts" == load(path).data["operations"]["accounts"]["path"]


# -- own contracts ---------------------------------------------------------------

OWN = """
assay: 1
contract: accesses
title: Accesses
version: "1"
interface: x
document: A document of our own
zone: Europe/Berlin
operations:
  make-consent:
    method: POST
    path: /v1/consents
    by: tpp
    makes: consent
    grants: access
    until: validUntil
    arguments: [recurringIndicator, frequencyPerDay, validUntil, X-Request-ID]
  account-list:
    method: GET
    path: /v1/accounts
    lists: [account]
    consent: make-consent
resources:
  account: {says: an account, key: iban, fields: [iban]}
  consent: {says: a consent, key: consentId, fields: [consentId]}
rules:
  - id: made
    kind: available
    says: A consent can be made.
    source: {section: One, line: 1}
    operation: make-consent
"""


def test_a_contract_of_ones_own_has_its_zone_and_the_id_of_a_consent(tmp_path, capsys):
    """The zone is the contract's; what a call makes is sent by later ones in the header of its name."""
    contract = tmp_path / "accesses.yaml"
    contract.write_text(OWN)
    path = draft(tmp_path, HERE / "berlin.yaml", "--contract", str(contract), "--auth", "bearer")
    data = load(path).data
    assert ("Europe/Berlin", ["./accesses.yaml"]) == (data["zone"], data["contracts"])
    assert "guessed" not in next(
        row for row in path.read_text(encoding="utf-8").splitlines() if row.startswith("zone")
    )
    operations = data["operations"]
    assert {"consent-id": "/consentId"} == operations["make-consent"]["outputs"]
    assert {"Consent-ID": "{consent-id}"} == operations["account-list"]["headers"]
    # Values have the types of the document, and lists only the resources that operations list.
    assert {
        "access": {
            "body": ["/access/accounts", "/access/balances", "/access/transactions"],
            "each": {"iban": "{}"},
        },
        "recurringIndicator": {"body": "/recurringIndicator", "value": False},
        "frequencyPerDay": {"body": "/frequencyPerDay", "value": 4},
        "validUntil": {"body": "/validUntil", "value": "{today+30}"},
        "X-Request-ID": {"header": "X-Request-ID", "value": "{unique}"},
    } == operations["make-consent"]["arguments"]
    assert {
        "open": ["received"],
        "valid": ["valid"],
        "rejected": ["rejected"],
        "ended": ["expired", "terminatedByTpp"],
    } == operations["make-consent"]["item"]["state"]["values"]
    # What an argument sets is not sent by every call as well.
    assert "headers" not in data
    assert {"kind": "bearer", "tpp": {"kind": "bearer", "token_env": "BERLIN_TPP_TOKEN"}} == data[
        "auth"
    ]
    assert "Consent-ID is required" not in path.read_text(encoding="utf-8")
    out = capsys.readouterr().out
    assert f"check     assay check {contract} {path}" in out
    assert f"examine   assay doctor --target {path}" in out


def test_the_first_line_names_the_schema_for_editors(drafts):
    """Editors find the schema that `assay schema target` prints."""
    first, *_ = drafts["berlin.yaml"].read_text(encoding="utf-8").splitlines()
    assert "# yaml-language-server: $schema=assay-target.schema.json" == first


def test_what_an_object_must_have_is_missing_where_an_argument_makes_it(drafts):
    """Of an object that is optional, and of an element of a list, what is required is listed."""
    text = drafts["trade.yaml"].read_text(encoding="utf-8")
    assert "required members of the body: debtorAccount.name, lines.0.texts, for" in text
    # A day to come may be all that puts a payment off; no query is suggested.
    assert 'if date alone says so, for example `deferred: {body: "", value: {}}`' in text


def test_the_zone_of_a_document_is_not_guessed(drafts):
    """The bank of a document is in any country."""
    for path in drafts.values():
        assert "zone" not in load(path).data
        assert "for example `zone: Europe/Paris`" in path.read_text(encoding="utf-8")


def test_the_shipped_binding_requires_no_more_than_its_standard():
    """In STET no link of a payment is required, and the answer to a PUT does not show the request."""
    operations = extended(load(shipped_file("stet-1.4.0"))).data["operations"]
    for name in ("read-payment", "modify-payment"):
        assert all(link["optional"] for link in operations[name]["links"])
    for name in ("modify-payment", "cancel-payment"):
        assert "" == operations[name]["one"]
        assert "item" not in operations[name]


def test_a_second_scheme_is_named(drafts):
    """Where each call needs a token and a key, the token is guessed and the key is named."""
    text = drafts["coast.yaml"].read_text(encoding="utf-8")
    assert "the bearer scheme in the document, which requires portalKey, too" in text


def test_a_list_may_be_the_whole_answer(tmp_path):
    """A list of objects that is the body has the empty pointer."""
    document = json.loads((HERE / "stet.json").read_text(encoding="utf-8"))
    answers = document["paths"]["/accounts"]["get"]["responses"]["200"]["content"]
    schema = next(iter(answers.values()))
    schema["schema"] = schema["schema"]["properties"]["accounts"]
    source = tmp_path / "list.json"
    source.write_text(json.dumps(document))
    path = draft(tmp_path, source)
    assert "" == at(load(path).data, "operations.accounts.list")
    assert bind([parse_contract(find_contract("aisp"))], read_target(path))


def test_an_inherited_target_by_default_is_a_guess(tmp_path, monkeypatch):
    """What a draft without a document extends is marked if it was not asked for."""
    monkeypatch.chdir(tmp_path)
    for given, mark in ((), True), (("--extends", "stet-1.4.0"), False):
        out = f"{mark}.yaml"
        group.main(["init", "--yes", "--out", out, *given], standalone_mode=False)
        text = Path(out).read_text(encoding="utf-8")
        assert ("extends: stet-1.4.0  # guessed: a default" in text) is mark


def test_one_account_is_no_list_of_accounts(tmp_path):
    """Without the list, the operation on one account is not taken for it."""
    text = (HERE / "coast.yaml").read_text(encoding="utf-8")
    before, path, after = text.partition("  /accounts:\n")
    assert path
    (tmp_path / "coast.yaml").write_text(
        before + after[after.index("  /accounts/{accountId}:") :], encoding="utf-8"
    )
    path = draft(tmp_path, tmp_path / "coast.yaml", "--contract", "aisp")
    assert {"balances", "transactions"} == load(path).data["operations"].keys()


def test_what_is_inherited_as_nothing_is_no_gap(tmp_path):
    """A null of the inherited file says that there is no such thing, and so it is not missing."""
    text = draft(tmp_path, HERE / "stet.json", "--extends", "stet-1.4.0").read_text("utf-8")
    inherited = load(shipped_file("stet-1.4.0")).data["operations"]
    assert inherited["balances"]["item"]["fields"]["iban"] is None
    assert "iban: /iban" not in text
    assert "extended_transaction_history: {" not in text


def test_a_list_in_a_body_is_in_the_template(tmp_path):
    """An argument in a list of the body finds the list there, and is sent in its first element."""
    amount = {"type": "object", "properties": {"amount": {"type": "string"}}}
    transfer = {"type": "object", "properties": {"instructedAmount": amount}}
    body = {"type": "object", "properties": {"transfers": {"type": "array", "items": transfer}}}
    content = {"content": {"application/json": {"schema": body}}}
    made = {"requestBody": content, "responses": {"201": {"description": "made"}}}
    document = {"openapi": "3.0.3", "info": {"title": "Lists", "version": "1"}}
    source = tmp_path / "lists.json"
    source.write_text(json.dumps({**document, "paths": {"/payment-requests": {"post": made}}}))
    bound = load(draft(tmp_path, source)).data["operations"]["create-payment"]
    assert "/transfers/0/instructedAmount/amount" == bound["arguments"]["amount"]["body"]
    assert {"transfers": [{}]} == bound["template"]


PAYMENTS = """\
openapi: 3.0.3
info: {title: mini, version: "1"}
paths:
  /payments:
    post:
      requestBody:
        content:
          application/json:
            schema:
              type: object
              properties:
                creditorAccount: {type: object, properties: {iban: {type: string, example: IBAN}}}
                amount: {type: string, example: "AMOUNT"}
                currency: {type: string, example: EUR}
                OTHER
      responses: {"201": {description: ok, content: {application/json: {schema: &payment
        {type: object, properties: {paymentId: {type: string}, transactionStatus: {type: string}}}}}}}
  /payments/{paymentId}:
    get:
      parameters: [{in: path, name: paymentId, required: true, schema: {type: string}}]
      responses: {"200": {description: ok, content: {application/json: {schema: *payment}}}}
"""


@pytest.mark.parametrize(
    ("iban", "amount", "values"),
    [
        ("NL91INGB0123456789", "5877.78", (None, None)),
        ("NL91ABNA0417164300", "587.78", ("NL91ABNA0417164300", "587.78")),
    ],
)
def test_a_short_body_makes_a_payment(iban, amount, values, tmp_path, capsys):
    """Most of what it has is of the contract; an IBAN that cannot be and a large amount are not taken."""
    source = tmp_path / "mini.yaml"
    text = PAYMENTS.replace("IBAN", iban).replace("AMOUNT", amount)
    source.write_text(text.replace("OTHER", ""), "utf-8")
    bound = read_target(draft(tmp_path, source)).operations["create-payment"]
    assert "/payments" == bound.path
    assert values == tuple(bound.arguments[name].value for name in ("creditorAccount", "amount"))
    assert "Left out: aisp, of which the document has too little" in capsys.readouterr().out


def test_a_long_body_with_few_names_of_the_contract_makes_none(tmp_path):
    """Where most of a body means nothing to the contract, it is another request."""
    source = tmp_path / "mini.yaml"
    other = "".join(f"\n                part{n}: {{type: string}}" for n in range(9))
    source.write_text(PAYMENTS.replace("OTHER", other.strip()), "utf-8")
    out = draft(tmp_path, source, "--contract", "pis")
    assert "create-payment" not in read_target(out).operations


ENERGY = """\
openapi: 3.0.3
info: {title: energy, version: "1"}
paths:
  /energy/accounts:
    get:
      responses: {"200": {description: ok, content: {application/json: {schema: {type: object, properties: {
        accounts: {type: array, items: {type: object, properties: {
          accountId: {type: string}, accountNumber: {type: string}, plan: {type: string}}}}}}}}}}
  /energy/accounts/{accountId}/balance:
    get:
      parameters: [{in: path, name: accountId, required: true, schema: {type: string}}]
      responses: {"200": {description: ok, content: {application/json: {schema: {type: object, properties: {
        balance: {type: string}}}}}}}
"""


def test_accounts_of_an_energy_supplier_are_none_of_a_bank(tmp_path):
    """The words and the number of an account are no evidence; an IBAN in place of the number is."""
    source = tmp_path / "energy.yaml"
    source.write_text(ENERGY, "utf-8")
    with pytest.raises(InputError, match="none of the 2 operations in the document matches"):
        draft(tmp_path, source)
    source.write_text(ENERGY.replace("accountNumber", "iban"), "utf-8")
    assert "/energy/accounts" == read_target(draft(tmp_path, source)).operations["accounts"].path


@pytest.mark.parametrize(
    ("paths", "flows"),
    [
        (
            (
                "  /oauth/token: {post: {requestBody: {content: {application/x-www-form-urlencoded:"
                " {schema: {type: object, properties: {grant_type: {}}}}}}}}\n"
            ),
            "",
        ),
        ("", "{flows: {password: {tokenUrl: /v1/oauth/token, scopes: {}}}, type: oauth2}"),
    ],
)
def test_the_token_endpoint_of_a_document_is_found(paths, flows, tmp_path):
    """It is that of any flow, relative to the server, or a call that takes a `grant_type`."""
    source = tmp_path / "mini.yaml"
    text = PAYMENTS.replace("OTHER", "").replace("AMOUNT", "5.00")
    text = text.replace("\npaths:\n", f"\npaths:\n{paths}")
    schemes = f"components: {{securitySchemes: {{one: {flows}}}}}\n" if flows else ""
    source.write_text(f"{text}servers: [{{url: https://bank.example/v1}}]\n{schemes}", "utf-8")
    auth = load(draft(tmp_path, source, "--auth", "client-credentials")).data["auth"]
    assert "https://bank.example/v1/oauth/token" == auth["token_url"]


def test_an_amount_in_minor_units_has_a_unit(tmp_path):
    """A member `amountMinor` counts cents, in a request and where it is shown."""
    source = tmp_path / "mini.yaml"
    text = PAYMENTS.replace("amount: {type: string", "amountMinor: {type: integer")
    text = text.replace(
        "paymentId: {type: string},", "paymentId: {}, amountMinor: {type: integer},"
    )
    source.write_text(text.replace("AMOUNT", "1250").replace("OTHER", ""), "utf-8")
    bound = read_target(draft(tmp_path, source)).operations
    sent, shown = (
        bound["create-payment"].arguments["amount"],
        bound["read-payment"].item.fields["amount"],
    )
    assert ("/amountMinor", "12.50", "13.50", "0.01") == (
        sent.name,
        sent.value,
        sent.other,
        str(sent.unit),
    )
    assert (("/amountMinor",), "0.01") == (shown.at, str(shown.unit))
