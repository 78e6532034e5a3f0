"""Any OpenAPI document is refused or leads to a valid target file."""

import json

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from assay.binding.read.join import bind
from assay.errors import InputError
from assay.files.load import loads
from assay.onboarding.init.defaults import init_defaults
from assay.onboarding.init.target_file import render_target_file
from assay.parsing.parse import find_contract, parse_contract
from assay.preparation.target_file import read_document

CONTRACTS = tuple(parse_contract(find_contract(one)) for one in ("aisp", "pis"))
TOLD = {
    "name": "any",
    "base_url": "https://x.example",
    "environment": "sandbox",
    "zone": "",
    "auth": "bearer",
    "presence": "",
    "fixtures": "roles",
    "extends": "none",
}

WORDS = st.text(max_size=5) | st.sampled_from(
    [
        *("iban", "id", "resourceId", "accounts", "balances", "transactions", "other"),
        *("next", "href", "_links", "bookingDate", "status", "amount", "currency", "cursor"),
        *("identification", "paymentId", "PSU-IP-Address", "dateFrom", "to", "page"),
        *("X-Request-ID", "account-id", "x y", "a/b~", "#", "{}", "'\"", ": ", "- a"),
        *("null", "on", "true", "CACC", "CARD", "\n# x", "]", "%", "&a", "*a", "!t", "? a"),
    ]
)
LEAF = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["string", "object", "array", "integer", None, ["null"]]),
        "format": WORDS | st.sampled_from(["date", "date-time"]),
        "enum": st.lists(WORDS, max_size=4),
        "example": WORDS | st.integers() | st.booleans() | st.none(),
        "const": WORDS,
    },
)


def schemas(inner):
    """Make objects and lists of schemas, some of which refer elsewhere."""
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["object", "array"]),
            "properties": st.dictionaries(WORDS, inner, max_size=4),
            "items": inner,
            "required": st.lists(WORDS, max_size=3),
            "allOf": st.lists(inner, max_size=2),
            "$ref": st.sampled_from(["#/components/schemas/a", "#/x", "http://x", ""]),
        },
    )


SCHEMA = st.recursive(LEAF, schemas, max_leaves=8)
PARAMETER = st.fixed_dictionaries(
    {"name": WORDS, "in": st.sampled_from(["query", "header", "path", "cookie", "x"])},
    optional={"required": st.booleans(), "schema": SCHEMA, "description": WORDS},
)
CONTENT = st.dictionaries(
    st.sampled_from(["application/json", "text/html", "*/*"]),
    st.fixed_dictionaries({"schema": SCHEMA}),
    max_size=2,
)
ANSWER = st.fixed_dictionaries(
    {"content": CONTENT},
    optional={"headers": st.dictionaries(st.sampled_from(["Link", "Location"]), LEAF, max_size=2)},
)
STATUSES = st.sampled_from(["200", "201", "2XX", "404", "default", "20", "2000"])
OPERATION = st.fixed_dictionaries(
    {"responses": st.dictionaries(STATUSES, ANSWER, max_size=2)},
    optional={
        "parameters": st.lists(PARAMETER, max_size=4),
        "operationId": WORDS,
        "summary": WORDS,
        "requestBody": st.fixed_dictionaries({"content": CONTENT}),
    },
)
PATHS = st.sampled_from(
    [
        *("/accounts", "/accounts/{account-id}/balances", "/accounts/{x}/transactions"),
        *("/transactions", "/consents", "/payments/{p}", "/payments/{p}/{q}"),
        *("/payment-requests", "/a b", "/{", "/accounts/{}", "/accounts/{a}{b}", "accounts"),
    ]
)
METHODS = st.sampled_from(["get", "post", "put", "delete", "parameters"])
DOCUMENT = st.fixed_dictionaries(
    {
        "openapi": st.just("3.0.0"),
        "paths": st.dictionaries(
            PATHS, st.dictionaries(METHODS, OPERATION, max_size=3), min_size=1, max_size=5
        ),
    },
    optional={
        "components": st.fixed_dictionaries({"schemas": st.fixed_dictionaries({"a": SCHEMA})})
    },
)


def test_whatever_a_document_says_the_file_can_be_read(tmp_path):
    """Random documents are refused or give a file that is valid and binds; both happen often."""
    source = tmp_path / "told.json"
    read, refused = [], []

    @settings(
        max_examples=100,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @example({"openapi": "3.0.0", "paths": {"/payment-requests/{}": {"get": {"responses": {}}}}})
    @given(DOCUMENT)
    def check(document):
        source.write_text(json.dumps(document), encoding="utf-8")
        try:
            start = init_defaults(CONTRACTS, source, named=True)
        except InputError as error:
            refused.append(str(error))
            return
        text = render_target_file(start.draft(TOLD, start.whys))
        bind(start.contracts, read_document(loads(text)))
        read.append(text)

    check()
    assert len(read) > 20
    assert all("matches an operation of the contracts" in one for one in refused)
    assert any("  # guessed: " in one for one in read)
