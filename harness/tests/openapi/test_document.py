"""What an exported document holds: all that contract and target say, and nothing else."""

import json
import re
from dataclasses import dataclass, replace

import pytest
from documented import LAB, SHIPPED, STET, XS2A, Documented, joined, made, operations
from openapi_spec_validator import OpenAPIV31SpecValidator

from assay._resources import contract_dir
from assay.binding.read.join import bind
from assay.openapi import document
from assay.parsing.parse import parse_contract
from assay.preparation.prepare import load_target
from assay.preparation.target_file import read_target
from assay.rules import parameters
from assay.rules.rule import Kind

EVERY = pytest.mark.parametrize(
    "name",
    [
        SHIPPED,
        (("aisp",), "sandbox"),
        (("pis",), "sandbox"),
        (("aisp", "pis"), "remote"),
        LAB,
        STET,
        XS2A,
    ],
    ids=["shipped", "aisp alone", "pis alone", "remote", "laboratory", "stet", "xs2a"],
)


def invalid(doc):
    """Return the errors of a document by the OpenAPI specification."""
    return [error.message for error in OpenAPIV31SpecValidator(doc).iter_errors()]


def schemas(node):
    """Yield every object of a document."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from schemas(value)
    elif isinstance(node, list):
        for value in node:
            yield from schemas(value)


def operation(name, doc=None):
    """Return the operation of an operationId."""
    return next(one for *_, one in operations(doc or made()) if one["operationId"] == name)


def sent(name, doc=None):
    """Return the schema of the request body of an operation."""
    return operation(name, doc)["requestBody"]["content"]["application/json"]["schema"]


@EVERY
def test_it_is_valid(name):
    """openapi-spec-validator finds nothing."""
    assert [] == invalid(made(*name))


@EVERY
def test_it_can_be_mocked(name):
    """Each list says what is in it, and each media type is one that a header can have."""

    def parts(value):
        yield value
        for below in (
            value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        ):
            yield from parts(below)

    found = [part for part in parts(made(*name)) if isinstance(part, dict)]
    assert [] == [part for part in found if part.get("type") == "array" and "items" not in part]
    types = {
        media
        for part in found
        if isinstance(part.get("content"), dict)
        for media in part["content"]
    }
    assert "application/json" in types
    assert not [media for media in types if "*" in media]


@EVERY
def test_it_is_json_and_the_same_every_time(name):
    """A document can be written as JSON, and a second one has the same text."""
    assert json.dumps(made(*name)) == json.dumps(document(*joined(*name)))


@EVERY
def test_nothing_is_lost(name):
    """Every operation, clause, obligation, open point and scope statement is in the document."""
    doc, (bound, _) = made(*name), joined(*name)
    clauses = [one for *_, each in operations(doc) for one in each["x-assay-clauses"]]
    clauses += doc["x-assay-clauses"]
    assert {one for *_, each in operations(doc) for one in each["x-assay-operations"]} == {
        f"{each.contract.id}/{one}" for each in bound for one in each.contract.operations
    }
    assert {one["id"]: one["says"] for one in clauses} == {
        f"{each.contract.id}/{one.id}": one.statement
        for each in bound
        for one in each.contract.clauses
    }
    points = {one["id"] for one in doc["x-assay-open-points"]}
    assert points == {
        f"{each.contract.id}/{one.id}" for each in bound for one in each.contract.open_points
    }
    assert {one["id"] for one in doc["x-assay-scope"]} == {
        f"{each.contract.id}/{one.id}" for each in bound for one in each.contract.scope
    }
    owed = {one for each in clauses for one in each["obligations"]}
    owed |= {one.replace("/", "/unspecified/") for one in points}
    assert {one.id for each in bound for one in each.obligations} == owed


@EVERY
def test_every_constraint_of_a_clause_names_it(name):
    """A schema that comes from a clause names a clause of its operations."""
    doc = made(*name)
    known = {one["id"] for *_, each in operations(doc) for one in each["x-assay-clauses"]}
    named = {one for each in schemas(doc) for one in each.get("x-assay-from", ())}
    assert named <= known
    assert len(named) > 1


@EVERY
def test_examples_are_examples(name):
    """Every example fits its schema."""
    known = Documented(made(*name))
    for where, one in placed(known.doc, ()):
        for value in one.get("examples", ()) if isinstance(one.get("examples"), list) else ():
            assert [] == known.wrong(value, *where)


def placed(node, where):
    """Yield every object of a document with its place."""
    if isinstance(node, dict):
        yield where, node
        for key, value in node.items():
            yield from placed(value, (*where, key))
    elif isinstance(node, list):
        for n, value in enumerate(node):
            yield from placed(value, (*where, n))


@EVERY
def test_references_and_links_lead_somewhere(name):
    """Every $ref is there, and every link leads to an operation and a parameter of it."""
    doc = made(*name)
    ids = {one["operationId"]: one for *_, one in operations(doc)}
    for schema in schemas(doc):
        if "$ref" in schema:
            assert (
                schema["$ref"].removeprefix("#/components/schemas/") in doc["components"]["schemas"]
            )
        for link in (schema.get("links", {}) if "x-assay-outcomes" in schema else {}).values():
            there = {
                f"{each['in']}.{each['name']}" for each in ids[link["operationId"]]["parameters"]
            }
            assert link["parameters"].keys() <= there


def test_nothing_of_a_test_customer_is_exported():
    """Keys and tokens of customers in a target file are not exported."""
    text = json.dumps(made(SHIPPED[0], "remote"))
    assert "FR7630001007941234567890185" not in text
    assert "REMOTE_ALICE_TOKEN" not in text


def test_every_name_of_a_method_is_a_path():
    """Aliases are paths of their own; an argument in the path is no query parameter."""
    paths = made()["paths"]
    assert {"/accounts/transactions", "/accounts/{iban}/transactions", "/transactions"} <= set(
        paths
    )
    (where,) = (
        one["in"]
        for one in paths["/accounts/{iban}/transactions"]["get"]["parameters"]
        if one["name"] == "iban"
    )
    assert "path" == where


def test_two_operations_of_one_path_are_one():
    """Modifying and cancelling share method and path, and differ in the body."""
    one = operation("modify-payment-or-cancel-payment")
    modified, cancelled = sent("modify-payment-or-cancel-payment")["anyOf"]
    assert ["pis/modify-payment", "pis/cancel-payment"] == one["x-assay-operations"]
    assert {"amount", "creditorAccount", "currency", "requestedExecutionDate"} == set(
        modified["properties"]
    )
    assert {"const": "cancelled"}.items() <= cancelled["properties"]["status"].items()
    assert ["status"] == cancelled["required"]


def test_a_request_is_as_the_clauses_want_it():
    """Only mandatory fields are required and not empty; fixed fields have their value."""
    schema = sent("create-payment")
    fields = schema["properties"]
    mandatory = ["chargeBearer", "categoryPurpose", "creditorAccount", "successfulReportUrl"]
    assert mandatory == schema["required"]
    assert all(
        {"type": "string", "minLength": 1}.items() <= fields[one].items() for one in mandatory
    )
    assert ("SLEV", "EUR") == (fields["chargeBearer"]["const"], fields["currency"]["const"])
    assert {"enum": ["immediate", "deferred", "instant"]} == fields["paymentType"]
    assert "date" == fields["requestedExecutionDate"]["format"]
    assert "additionalProperties" not in json.dumps(schema)


def test_what_is_not_available_has_no_answer_but_that():
    """An operation that the document declares unavailable is never accepted; 204 serves nothing."""
    one = operation("trusted-beneficiaries")
    assert one["x-assay-available"] is False
    assert {"204", "404", "405", "501", "4XX"} == set(one["responses"])
    assert "content" not in one["responses"]["204"]


def test_no_content_is_an_answer_where_nothing_must_be_said():
    """A change needs no words, and 204 serves nothing; but what is read or made is shown."""
    silent = {one["operationId"] for _, _, one in operations(made()) if "204" in one["responses"]}
    assert {"modify-payment-or-cancel-payment", "consents", "trusted-beneficiaries"} <= silent
    assert not {"accounts", "balances", "create-payment", "read-payment"} & silent


def test_limits_are_stated():
    """Quota, page size, depth, timers and windows are numbers at the operations that they limit."""
    limits = {
        (one["operationId"], each["kind"]): each
        for *_, one in operations(made())
        for each in one.get("x-assay-limits", ())
    }
    assert 4 == limits["accounts", "quota"]["limit"]
    assert 5 == limits["accounts", "pagination"]["size"]
    assert 15 == limits["transactions.1", "pagination"]["size"]
    assert 90 == limits["transactions", "history-depth"]["days"]
    assert 30 == limits["create-payment", "timeout"]["minutes"]
    assert "monday" == limits["read-payment", "maintenance-window"]["weekday"]
    assert ("create-payment", "quota") not in limits


def test_security_is_the_targets():
    """The customer's or the TPP's token is in the header that the target uses."""
    sandbox, laboratory = made()["components"], made(*LAB)["components"]
    assert {"bearer"} == {one["scheme"] for one in sandbox["securitySchemes"].values()}
    assert {"Hill-Key"} == {one["name"] for one in laboratory["securitySchemes"].values()}
    assert [{"customer": []}] == operation("accounts")["security"]
    assert [{"tpp": []}] == operation("create-payment")["security"]


def test_a_mode_that_is_not_to_be_asked_for_is_no_parameter():
    """An unsupported mode is listed with its clause, and is no valid value."""
    one = operation("transactions")
    assert "scope" not in {each["name"] for each in one["parameters"]}
    (mode,) = one["x-assay-modes"]
    assert ("unsupported", "aisp/no-extended-history") == (mode["barred"], mode["clause"])


TARGET = """\
assay: 1
target: mine
transport: http
base_url: https://bank.example/v1
{0}
"""


def mine(tmp_path, text, contracts=("aisp", "pis")):
    """Return the document for a target file of a few lines."""
    (tmp_path / "mine.yaml").write_text(TARGET.format(text), "utf-8")
    target = load_target(str(tmp_path / "mine.yaml"))
    return document(
        bind([each.contract for each in joined(contracts, "sandbox")[0]], target), target
    )


STRANGE = {
    "nothing": "",
    "no auth": "auth: {kind: none}",
    "same header twice": """\
presence: {header: X-It, value: a}
operations: {balances: {arguments: {iban: {header: x-it}}}}""",
    "same query twice": """\
operations:
  transactions: {arguments: {iban: {query: q}, since: {query: q}}}""",
    "one path for all": """\
operations:
  accounts: {path: "/{iban}"}
  balances: {path: "/{x}", aliases: ["/{y}", "/{x}"], arguments: {iban: {path: x}}}
  transactions: {path: "/{z}/{z}", aliases: []}
  create-payment: {method: GET, path: "/{q}"}""",
    "lists in lists": """\
operations:
  accounts: {list: /0/1, next: /7000000000, item: {key: /0, fields: {iban: /0/3}}}
  balances: {list: "", template: {"0": {}}, item: {fields: {balanceType: ""}}, arguments: {iban: {body: /0/a~1b~0}}}""",
    "outcomes that overlap": """\
outcomes:
  accepted: [{statuses: [2xx], body: {/ok: true}}, {empty: false, statuses: [200]}]
  rejected: [{statuses: [2xx]}, {media_type: text/html}, {statuses: [404], empty: true}]
  unavailable: [{statuses: [200], body: {/ok: null}}]""",
    "one outcome": "outcomes: {accepted: [{statuses: [200]}], rejected: [], unavailable: []}",
    "numbers": """\
operations:
  create-payment:
    arguments: {amount: {body: /a, value: 1.50}, debtorAccount: {body: /b, value: [1.25, {x: 2.0}]}}
    modes: {instant: {body: /m, value: 1.0}, several: {body: /m, value: 2}}""",
}


@pytest.mark.parametrize("name", STRANGE)
def test_a_strange_target_gets_a_valid_document(tmp_path, name):
    """For any target file, the document is valid, JSON, and complete."""
    doc = mine(tmp_path, STRANGE[name])
    assert [] == invalid(doc)
    assert json.loads(json.dumps(doc)) == doc
    assert {one for *_, each in operations(doc) for one in each["x-assay-operations"]} >= {
        "aisp/accounts",
        "pis/cancel-payment",
    }


def test_outcomes_that_overlap_are_tried_in_their_order(tmp_path):
    """A status that is refused without conditions is never accepted, whatever comes later."""
    one = operation("accounts", mine(tmp_path, STRANGE["outcomes that overlap"]))
    outcomes = {status: each["x-assay-outcomes"] for status, each in one["responses"].items()}
    assert {
        "200": ["rejected"],
        "2XX": ["rejected"],
        "default": ["rejected"],
    } == outcomes


def test_a_consent_is_for_something():
    """The list of a consent must not be empty."""
    schema = sent("consents")
    assert ["accounts"] == schema["required"]
    assert "array" == schema["properties"]["accounts"]["type"]


def test_an_empty_list_can_be_a_refusal(tmp_path):
    """A status whose outcome depends on an empty list has a schema for each outcome."""
    text = """\
outcomes: {accepted: [{statuses: [200], empty: false}], rejected: [{statuses: [200], empty: true}]}
operations: {accounts: {list: /rows}}"""
    known = Documented(mine(tmp_path, text))
    where = (
        "paths",
        "/accounts",
        "get",
        "responses",
        "200",
        "content",
        "application/json",
        "schema",
    )
    refused, accepted = known.doc["paths"]["/accounts"]["get"]["responses"]["200"]["content"][
        "application/json"
    ]["schema"]["anyOf"]
    assert {"type": "array", "items": {}, "maxItems": 0} == refused["properties"]["rows"]
    assert {"minItems": 1} == accepted["properties"]["rows"]
    assert [[], [], False] == [known.wrong({"rows": rows}, *where) for rows in ([], [1])] + [
        known.wrong({}, *where) == []
    ]


def test_a_media_type_can_tell_a_refusal(tmp_path):
    """Where an accepted answer is JSON and a refused one HTML, each has its own schema."""
    text = """\
outcomes: {rejected: [{statuses: [200], media_type: text/html}, {statuses: [403], empty: true}]}
operations: {accounts: {list: /rows}}"""
    doc = mine(tmp_path, text)
    content = operation("accounts", doc)["responses"]["200"]["content"]
    assert {"text/html", "application/json"} == set(content)
    assert {"schema": {}} == content["text/html"]
    assert "$ref" in content["application/json"]["schema"]
    assert "403" in operation("accounts", doc)["responses"]
    assert "403" not in operation("balances", doc)["responses"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Odd(Kind):
    """A kind of another package, about no operation."""

    name = "odd"

    depth: int = parameters.whole(key="depth")

    def facets(self):
        return ()


def test_a_clause_about_no_operation_stands_at_the_root(monkeypatch):
    """A clause of another package's kind may name no operation."""
    monkeypatch.setattr("assay.rules.kinds.installed", lambda: {"odd": Odd})
    bound, target = joined(*LAB)
    clause = replace(bound[0].contract.clauses[0], id="odd", rule=Odd, params={"depth": 3})
    contract = replace(bound[0].contract, clauses=(*bound[0].contract.clauses, clause))
    doc = document([replace(bound[0], contract=contract)], target)
    (one,) = doc["x-assay-clauses"]
    assert ("lab/odd", {"depth": 3}) == (one["id"], one["parameters"])
    assert [] == invalid(doc)


def test_either_body_will_do_where_two_operations_meet(tmp_path):
    """A merged body is required only if both operations require one."""
    text = """\
operations:
  create-payment: {method: PUT, path: /x, arguments: {chargeBearer: {body: /c}}}
  cancel-payment: {method: PUT, path: /x, arguments: {cancellation: {body: /s, value: no}}}
  modify-payment: {method: PUT, path: /y, arguments: {amount: {body: /c}}}
  consents: {method: PUT, path: /y, arguments: {accounts: {body: /s}}}"""
    doc = mine(tmp_path, text)
    assert [] == invalid(doc)
    assert doc["paths"]["/x"]["put"]["requestBody"]["required"]
    assert not doc["paths"]["/y"]["put"]["requestBody"]["required"]


def test_two_contracts_may_share_names():
    """Two contracts with the same operations get unique operation ids."""
    bound, target = joined(*LAB)
    other = replace(bound[0], contract=replace(bound[0].contract, id="other"))
    doc = document([*bound, other], target)
    assert [] == invalid(doc)
    assert "lab.specimens-or-other.specimens" == doc["paths"]["/tubes"]["get"]["operationId"]


def test_a_barred_value_is_excluded(tmp_path):
    """The value of an unsupported mode is excluded."""
    doc = mine(tmp_path, STRANGE["numbers"])
    schema = sent("create-payment", doc)["properties"]["m"]
    assert ([1], {"const": 2}) == (schema["enum"], schema["not"])


@pytest.mark.parametrize("path", ["/a{b", "/a}b", "/a{}b", "/{a{b}}"])
def test_braces_that_make_no_slot_are_an_error(tmp_path, path):
    """The error has the line of the operation, and the path."""
    with pytest.raises(Exception, match=re.escape(repr(path))) as caught:
        mine(tmp_path, f'operations:\n  accounts: {{path: "{path}"}}')
    assert "mine.yaml:6: operations.accounts: expected names in braces" in str(caught.value)


@EVERY
def test_every_extension_is_explained(name):
    """The manual names every extension of the document."""
    page = (contract_dir() / "openapi.md").read_text("utf-8")
    used = {key for each in schemas(made(*name)) for key in each if key.startswith("x-")}
    assert [] == sorted(one for one in used if f"`{one}`" not in page)


def test_a_mode_that_repeats_an_argument_has_its_schema():
    """It is no fixed value; and the place of an argument takes that and the value of a mode."""
    folder = contract_dir() / "examples" / "xs2a"
    contract, target = parse_contract(folder / "xs2a.yaml"), read_target(folder / "nordhafen.yaml")
    made = document(bind([contract], target), target)["paths"]["/v1/consents"]["post"]
    body = made["requestBody"]["content"]["application/json"]["schema"]
    access = body["properties"]["access"]["properties"]
    asked = access["additionalInformation"]["properties"]["ownerName"]
    assert access["accounts"]["items"] == asked["items"]
    assert "x-assay-arguments" not in asked
    assert {"enum": [[]]} in access["balances"]["anyOf"]
    named = {each["mode"]: each for each in made["x-assay-modes"]}
    assert "access" == named["with-owner-name"]["argument"]
    assert [] == named["without-balances"]["value"]
