"""Answers are held against the bank's document as it is: both versions, references, hidden texts, hostile schemas."""

import json
from time import process_time

import pytest
from rows import for_each

from assay.binding.model.bank_document import BankDocument
from assay.binding.wire.decode import body_of
from assay.binding.wire.document_remarks import remarks
from assay.files.document import Document, Spot
from assay.history import Wire
from assay.history.outcomes import HIDDEN

BASE = "https://bank.example/v1"


def document(response=None, *, version="3.1.0", more=None, **given):
    """Return a document with one operation, whose 200 has this response."""
    schemas = given.pop("schemas", {})
    operation = {"responses": {"200": response or {}, "4XX": {}, **(more or {})}, **given}
    data = {
        "openapi": version,
        "servers": [
            {"url": "https://other.example/{stage}", "variables": {"stage": {"default": "v1"}}}
        ],
        "paths": {"/things/{id}": {"get": operation}, "/things/mine": {"get": {"responses": {}}}},
        "components": {"schemas": schemas},
    }
    return BankDocument.of(Document(data=data, path="x", digest="", spots=Spot("x", 1)), ())


def typed(schema, **more):
    """Return a response with a JSON body of a schema."""
    return {"content": {"application/json": {"schema": schema}}, **more}


def answer(body=None, *, status=200, path="/things/7", media="application/json", **more):
    """Return an answer with a JSON body."""
    headers = (("Content-Type", media), *more.pop("headers", ()))
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Wire(method="GET", url=BASE + path, status=status, headers=headers, body=content, **more)


def found(doc, wire):
    """Return what differs, by aspect; None for what is open."""
    return {each.aspect.value: each.fits for each in remarks(doc, wire, body_of(wire))}


def says(doc, wire):
    """Return the texts of all remarks."""
    return "; ".join(each.says for each in remarks(doc, wire, body_of(wire)) if each.says)


def structure(schema, body, **more):
    """Return whether a body fits a schema."""
    return found(document(typed(schema), **more), answer(body)).get("structure")


OLD, NEW = {"version": "3.0.3"}, {"version": "3.1.0"}


@for_each(
    ("schema", "body", "version", "fits"),
    [
        ({"type": "string", "nullable": True}, None, OLD, True),
        ({"type": "string", "nullable": True}, None, NEW, False),
        ({"type": ["string", "null"]}, None, NEW, True),
        ({"type": "string"}, None, OLD, False),
        ({"type": "integer", "minimum": 1, "exclusiveMinimum": True}, 1, OLD, False),
        ({"type": "integer", "exclusiveMinimum": 1}, 1, NEW, False),
        ({"type": "integer"}, 1.0, NEW, True),
        ({"const": "a"}, "b", NEW, False),
        ({"format": "date"}, "2026-02-30", OLD, False),
        ({"format": "date-time"}, "2026-02-28", NEW, False),
        ({"format": "int32"}, 1 << 40, OLD, False),
        ({"format": "double"}, 1.5, OLD, True),
        ({"format": "byte"}, "é", OLD, True),
        ({"format": "iban"}, "FR7612345", NEW, False),
        ({"format": "of-our-own"}, "any", NEW, True),
        ({"multipleOf": 0.01}, 19.99, NEW, True),
        ({"multipleOf": 0.01}, 19.995, NEW, False),
        ({"pattern": "^[A-Z]+$"}, "abc", NEW, False),
        ({"pattern": "^(?=a)b"}, "abc", NEW, True),
        ({"type": "object", "properties": {"a": {}}, "additionalProperties": False}, {"b": 1}, NEW, False),
        ({"type": "object", "required": ["a"], "properties": {"a": {"writeOnly": True}}}, {}, OLD, True),
        ({"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False}, {"b": 1}, NEW, False),
        ({"patternProperties": {"^a": {}}, "additionalProperties": False}, {"b": 1}, NEW, True),
        ({"$ref": "#/components/schemas/Thing"}, {"id": "x"}, NEW, False),
    ],
)  # fmt: skip
def test_a_body_fits_its_schema_or_not(schema, body, version, fits):
    """By the rules of each version; what cannot be compared is left open."""
    thing = {
        "Thing": {"properties": {"id": {"$ref": "#/components/schemas/Id"}}},
        "Id": {"type": "integer"},
    }
    assert fits is structure(schema, body, schemas=thing, **version)


def test_a_discriminator_of_a_plain_name_leads_nowhere_wrong():
    """The alternatives are compared as they are."""
    of = {"propertyName": "kind", "mapping": {"cat": "Cat"}}
    cat = {"type": "object", "properties": {"kind": {"enum": ["cat"]}}, "required": ["kind"]}
    schema = {"oneOf": [{"$ref": "#/components/schemas/Cat"}], "discriminator": of}
    for version in (OLD, NEW):
        assert structure(schema, {"kind": "cat"}, schemas={"Cat": cat}, **version) is True
        assert structure(schema, {"kind": "dog"}, schemas={"Cat": cat}, **version) is False


def test_each_aspect_by_itself():
    """A status, a media type, a body, a header: each is one remark."""
    doc = document(typed({"type": "object"}, headers={"X-Id": {"required": True}}))
    id_ = (("X-ID", "1"),)
    good = {"status": True, "media-type": True, "structure": True, "headers": True}
    assert good == found(doc, answer({}, headers=id_))
    assert {"status": False} == found(doc, answer({}, status=500, headers=id_))
    assert {"status": True} == found(doc, answer({}, status=404))
    assert {**good, "structure": False} == found(doc, answer([], headers=id_))
    assert {**good, "headers": False} == found(doc, answer({}))
    wrong = {"status": True, "media-type": False, "headers": True}
    assert wrong == found(doc, answer({}, media="text/html", headers=id_))


def test_where_an_answer_is_found():
    """Behind the path of a server; a fixed segment comes before a parameter."""
    doc = document()
    assert {"status": True} == found(doc, answer({}))
    assert {"status": False} == found(doc, answer({}, path="/things/mine"))
    assert {} == found(doc, answer({}, path="/things/7/parts"))
    assert {} == found(doc, answer({}, status=0))


def test_ranges_and_the_default():
    """An exact status, its range, or anything else."""
    wrong = typed({"type": "array"})
    doc = document(typed({}), more={"2XX": wrong, "default": wrong})
    assert found(doc, answer({}))["structure"] is True
    assert found(doc, answer({}, status=201))["structure"] is False
    assert found(doc, answer({}, status=500))["structure"] is False


def test_what_a_record_hides_decides_nothing():
    """A format, a pattern, a type or an alternative of a hidden text is open; what is beside it is not."""
    iban = {"type": "string", "format": "iban", "pattern": "^FR"}
    schema = {"properties": {"iban": iban, "n": {"type": "integer"}}, "required": ["n"]}
    assert structure(schema, {"iban": "<account-1>", "n": 1}) is True
    assert structure(schema, {"iban": "<account-1>"}) is False
    assert structure({"properties": {"n": {"type": "integer"}}}, {"n": "<private>"}) is True
    either = {"oneOf": [schema, {"required": ["other"]}]}
    assert structure(either, {"iban": "<account-1>", "n": 1}) is True
    assert structure({"not": {"properties": {"iban": {"enum": ["x"]}}}}, {"iban": "<a-1>"}) is True


def test_no_value_is_quoted():
    """A difference is named by its place and keyword."""
    doc = document(typed({"items": {"properties": {"iban": {"format": "iban"}}}}))
    text = says(doc, answer([{"iban": "FR7630006000011234567890180"}]))
    assert "/0/iban fails format iban" in text
    assert "FR76" not in text


NESTED = {"allOf": [{"$ref": "#/components/schemas/A0"}]}
BOMB = {
    f"A{n}": {"anyOf": [{"not": {"$ref": f"#/components/schemas/A{n + 1}"}}] * 10}
    for n in range(20)
}


@for_each(
    ("schema", "schemas"),
    [
        ({"$ref": "#/components/schemas/A0"}, {"A0": {"$ref": "#/components/schemas/A0"}}),
        (NESTED, {"A0": NESTED}),
        (NESTED, {**BOMB, "A20": {"type": "string"}}),
        ({"$ref": "https://evil.example/schema.json"}, {}),
        ({"$ref": "other.yaml#/x"}, {}),
        ({"$ref": "#/nowhere"}, {}),
        ({"type": 7}, {}),
        ({"required": True}, {}),
        ({"properties": []}, {}),
        ({"multipleOf": 0}, {}),
    ],
)
@pytest.mark.parametrize("version", [OLD, NEW])
def test_a_hostile_or_faulty_schema_leaves_the_body_open(schema, schemas, version):
    """Nothing fails, nothing is fetched, and it takes a bounded time."""
    began = process_time()
    assert (
        structure(schema, {"a": 1} if "multipleOf" not in schema else 3, schemas=schemas, **version)
        is None
    )
    assert process_time() - began < 20


@pytest.mark.parametrize(
    "body", [b"[" * 100_000, b'{"n": 1e999999999}', b'"\\ud800"', b"", b"nope"]
)
def test_a_hostile_body(body):
    """What cannot be read is open; what is not JSON is not."""
    fits = found(document(typed({})), answer(body)).get("structure")
    assert fits is (None if body[:2] == b"[[" else body not in {b"", b"nope"})


def test_a_request_that_the_document_forbids_excuses_its_undocumented_refusal():
    """A missing parameter, a wrong value, a wrong body: the evidence says so, and it is no violation."""
    asked = [
        {"name": "X-Id", "in": "header", "required": True},
        {"name": "from", "in": "query", "schema": {"type": "string", "format": "date"}},
        {"name": "n", "in": "query", "schema": {"type": "integer"}},
    ]
    doc = document(parameters=asked)
    id_ = {"request_headers": (("x-id", HIDDEN),)}
    assert found(doc, answer({}, status=500, path="/things/7?from=2026-01-01&n=3", **id_)) == {
        "status": False
    }
    for path, given, why in (
        ("/things/7", {}, "the header parameter X-Id is missing"),
        ("/things/7?from=yesterday", id_, "the query parameter from has another value"),
        ("/things/7?n=three", id_, "the query parameter n has another value"),
    ):
        wire = answer({}, status=500, path=path, **given)
        assert {"status": None} == found(doc, wire)
        assert why in says(doc, wire)
    body = {"required": True, **typed({"required": ["a"]})}
    doc = document(requestBody=body)
    sent = (("Content-Type", "application/json"),)
    for content, headers, why in (
        (b"", (), "the body is missing"),
        (b"{}", sent, "the body: the top: 'a' is a required property"),
        (b"{}", (("Content-Type", "text/plain"),), "the body is text/plain"),
    ):
        wire = answer({}, status=500, request_body=content, request_headers=headers)
        assert {"status": None} == found(doc, wire)
        assert why in says(doc, wire)
    assert {"status": False} == found(
        doc, answer({}, status=500, request_body=b'{"a": 1}', request_headers=sent)
    )
