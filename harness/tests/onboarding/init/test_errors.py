"""The errors of a document's refusals, as `assay init` writes them into a target file."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from assay.cli.main import group
from assay.files.load import load

CONTRACT = Path(__file__).parents[2] / "general_kinds" / "errors.yaml"
TEXT = {"type": "string"}


def thing(**members):
    """Return the schema of an object."""
    return {"type": "object", "properties": members}


#: Each form of errors in a document, and the key `error` of the draft.
FORMS = {
    "a list of messages": (
        thing(
            trace=TEXT,
            tppMessages={"type": "array", "items": thing(**{"class": TEXT, "code": TEXT})},
        ),
        {"list": "/tppMessages", "code": "/code", "fields": {"class": "/class"}},
    ),
    "a list beside a code": (
        thing(Code=TEXT, Errors={"type": "array", "items": thing(ErrorCode=TEXT, Message=TEXT)}),
        {"list": "/Errors", "code": "/ErrorCode"},
    ),
    "a code alone": (thing(code={"type": "integer"}, message=TEXT), {"code": "/code"}),
    "problem details": (thing(type=TEXT, title=TEXT, status=TEXT), {"code": "/type"}),
    "nothing that is a code": (thing(message=TEXT, status=TEXT), None),
    "codes of something else": (thing(message=TEXT, account=thing(code=TEXT)), None),
}


def drafted(folder, schema, *contract):
    """Return the target file for a document whose refusals have this form."""
    answers = {
        "200": {
            "description": "good",
            "content": {
                "application/json": {"schema": {"type": "array", "items": thing(number=TEXT)}}
            },
        },
        "400": {"description": "bad", "content": {"application/problem+json": {"schema": schema}}},
    }
    document = {
        "openapi": "3.0.3",
        "info": {"title": "Desk", "version": "1"},
        "servers": [{"url": "https://desk.example/v1"}],
        "paths": {"/accounts": {"get": {"operationId": "accounts", "responses": answers}}},
    }
    source, target = folder / "document.json", folder / "target.yaml"
    source.write_text(json.dumps(document), "utf-8")
    words = ["init", "--yes", "--openapi", str(source), "--out", str(target), *contract]
    ended = CliRunner().invoke(group, words)
    assert 0 == ended.exit_code, ended.output
    return load(target).data


@pytest.mark.parametrize("form", FORMS)
def test_where_the_errors_are(form, tmp_path):
    """A list comes first; what is no code of an error is not guessed."""
    schema, expected = FORMS[form]
    assert expected == drafted(tmp_path, schema, "--contract", str(CONTRACT)).get("error")
