"""A target file that names the bank's document: the rules that it adds, and the mistakes that are told."""

import json
import subprocess
import sys

import pytest
from command_line import assay
from rows import for_each

from assay.binding.read import document_clauses
from assay.binding.read.document_clauses import document_notes, document_problems
from assay.binding.read.join import bind
from assay.contexts.context import Depth
from assay.errors import InputError
from assay.parsing.parse import find_contract, parse_contract
from assay.planning.contextual import with_contexts
from assay.planning.plan import plan
from assay.preparation.target_file import read_target

CONTRACTS = [parse_contract(find_contract(name)) for name in ("aisp", "pis")]
TARGET = "assay: 1\ntarget: t\nextends: sandbox\nopenapi: bank.yaml\n"
#: As banks write: statuses are numbers, a date is no text, and aliases.
WRITTEN = """\
openapi: 3.0.3
info: {title: Bank, version: 2026-01-01}
paths:
  /accounts:
    get:
      parameters:
        - {name: X-Request-ID, in: header, required: true, schema: {type: string}}
      responses:
        200:
          description: "Yes \\uD83D\\uDE00"
          headers: {X-Trace: {required: true, schema: {type: string}}}
          content:
            application/json:
              schema: {$ref: '#/components/schemas/Accounts'}
        4XX: {$ref: '#/components/responses/Refused'}
  /accounts/balances:
    get:
      responses:
        default: {description: Anything.}
  /consents:
    put:
      responses: {204: {description: Done.}}
components:
  responses:
    Refused: {description: No.}
  schemas:
    Accounts: {type: object, required: [accounts]}
"""


@pytest.fixture
def read(tmp_path):
    """Give a function from a document to the target of a file that names it."""

    def target(text, more="", name="bank.yaml"):
        (tmp_path / "t.yaml").write_text(TARGET.replace("bank.yaml", name) + more)
        (tmp_path / name).write_text(text, "utf-8")
        return read_target(tmp_path / "t.yaml")

    return target


def added(target):
    """Return the obligations that the document adds, by id."""
    every = (each for bound in bind(CONTRACTS, target) for each in bound.obligations)
    return {each.id: each for each in every if "/openapi." in each.id}


def test_each_operation_gets_the_facets_that_can_fail(read):
    """Others would be met whatever a bank does: a default documents every status."""
    found = added(read(WRITTEN))
    facets = ("status", "media-type", "structure", "headers")
    accounts = [f"aisp/openapi.accounts/{each}" for each in facets]
    assert [*accounts, "aisp/openapi.consents/status"] == [*found]
    one = found["aisp/openapi.accounts/status"]
    assert "must" == one.level.value
    assert ("openapi: bank.yaml#/paths/~1accounts/get, line 5") == str(one.sources[0])
    assert "openapi" == one.decision.point


def test_one_plain_call_decides(read):
    """One trial for each operation, and no other trial makes a call more."""
    target = read(WRITTEN)
    planned = plan(bind(CONTRACTS, target), target)
    extra = [each for each in planned.trials if ".accounts#" in each.id or "openapi." in each.id]
    assert {"aisp/openapi.accounts#plain": 1, "aisp/openapi.consents#plain": 1} == {
        each.id: each.calls for each in extra if "openapi." in each.id
    }


def test_no_context_adds_a_trial(read):
    """Contextual trials of other rules are held against the document, too."""
    target = read(WRITTEN)
    planned = with_contexts(plan(bind(CONTRACTS, target), target), target, Depth.EACH).plan
    assert planned.contextual
    assert [] == [each.id for each in planned.contextual if "/openapi." in each.id]


def test_the_library_is_an_extra(read, monkeypatch):
    """Without it, the key of the target file is an error, with the command to install it."""
    monkeypatch.setattr(document_clauses, "find_spec", lambda _: None)
    with pytest.raises(InputError) as caught:
        read(WRITTEN)
    problem = caught.value.problems[0]
    assert (4, "pip install 'assay[openapi]'") == (problem.line, problem.hint)
    assert "openapi-schema-validator is not installed" in problem.what


def test_a_waiver_and_what_is_absent(read):
    """They act on these obligations as on all others."""
    waiver = (
        "waivers:\n  - {clause: aisp/openapi.accounts, owner: us, reason: known, expires: 2099-01-01}\n"
        "absent: {operations: {consents: the token covers all}}\n"
    )
    found = added(read(WRITTEN, waiver))
    assert found["aisp/openapi.consents/status"].not_applicable_because
    assert not found["aisp/openapi.accounts/status"].not_applicable_because


def test_json_in_place_of_yaml(read):
    """With halves of characters, as JSON writes them."""
    text = json.dumps(
        {
            "openapi": "3.1.0",
            "paths": {"/accounts": {"get": {"responses": {"200": {"description": "\U0001f600"}}}}},
        }
    )
    assert ["aisp/openapi.accounts/status"] == [*added(read(text, name="bank.json"))]


def test_notes(read):
    """What is not held against the document, and what the target file never sends."""
    target = read(WRITTEN)
    notes = {at[1]: what for at, what in document_notes(target, CONTRACTS)}
    assert "requires the header parameter X-Request-ID" in notes["accounts"]
    assert "does not have this operation" in notes["create-payment"]
    sent = read(WRITTEN, "headers: {x-request-id: '{unique}'}\n")
    assert "accounts" not in {at[1] for at, _ in document_notes(sent, CONTRACTS)}


@for_each(
    ("text", "where", "what"),
    [
        ("openapi: 2.0\npaths: {}\n", "bank.yaml:1", "unknown version"),
        ("openapi: 3.0.3\npaths: []\n", "bank.yaml:2", "a mapping of paths"),
        ("openapi: 3.0.3\n", "bank.yaml:1", "a mapping of paths"),
        ("swagger: '2.0'\n", "t.yaml:4", "it has no key `openapi`"),
        ("secret: x\n", "t.yaml:4", "it has no key `openapi`"),
        ("openapi: 3.0.3\npaths: {a: [}\n", "bank.yaml:2", "YAML cannot be read"),
        ("openapi: 3.0.3\npaths: " + "[" * 200 + "]" * 200, "bank.yaml:2", "nested more than 100"),
        ("openapi: 3.0.3\npaths: &a {x: *a}\n", "bank.yaml:2", "refers to itself"),
        ("openapi: 3.0.3\n\x00", "bank.yaml:2", "control character"),
    ],
)
def test_what_is_no_document_is_told_with_its_place(read, text, where, what):
    """Bad input is a problem with file and line, and never a traceback."""
    with pytest.raises(InputError) as caught:
        read(text)
    (told,) = caught.value.problems
    assert f"{told.path.rpartition('/')[2]}:{told.line}" == where
    assert what in told.what


def test_a_file_that_is_not_there(tmp_path):
    """The line of the target file is named."""
    (tmp_path / "t.yaml").write_text(TARGET)
    with pytest.raises(InputError) as caught:
        read_target(tmp_path / "t.yaml")
    assert (4, True) == (caught.value.problems[0].line, "no such file" in str(caught.value))


@for_each(
    ("old", "new", "line", "what"),
    [
        ("schemas/Accounts'", "schemas/Account'", 14, "leads nowhere"),
        ("'#/components/schemas/Accounts'", "https://x.example/y.json", 14, "another document"),
        ("'#/components/schemas/Accounts'", "../secret.yaml#/x", 14, "another document"),
        ("responses/Refused'}", "responses/Refuse'}", 15, "leads nowhere"),
        ("required: [accounts]", "required: yes", 27, "this is no schema"),
        ("type: object", "type: 7", 27, "this is no schema"),
    ],
)
def test_mistakes_of_the_document_are_findings_of_check(read, old, new, line, what):
    """Each with its line in the document; a run goes on, and leaves the body open."""
    target = read(WRITTEN.replace(old, new))
    (told,) = document_problems(target, CONTRACTS)
    assert (line, True) == (told.line, what in told.what)
    assert bind(CONTRACTS, target)


def test_the_command(read, tmp_path):
    """`check` exits with 2 for a mistake, and with 0 for notes."""
    read(WRITTEN)
    code, out, _ = assay("check", tmp_path / "t.yaml", "aisp", cwd=tmp_path)
    assert (0, True) == (code, "requires the header parameter X-Request-ID" in out)
    asked = "aisp/openapi.accounts/structure"
    code, out, _ = assay("explain", asked, "--target", tmp_path / "t.yaml", cwd=tmp_path)
    assert (0, True) == (code, "source     openapi: bank.yaml#/paths/~1accounts/get" in out)
    read(WRITTEN.replace("schemas/Accounts'", "schemas/Account'"))
    code, _, err = assay("check", tmp_path / "t.yaml", "aisp", cwd=tmp_path)
    assert (2, True) == (code, "bank.yaml:14" in err)


def test_the_digest_is_that_of_both_files(read):
    """A journal of one document is not that of another."""
    assert read(WRITTEN).digest != read(WRITTEN.replace("Bank", "bank")).digest


def test_without_a_document_the_library_stays_out():
    """Reading, binding and planning import nothing of it."""
    code = (
        "import sys\nfrom assay.preparation.prepare import prepare\nprepare()\n"
        "assert not {'openapi_schema_validator', 'jsonschema', 'pydantic'} & {*sys.modules}\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
