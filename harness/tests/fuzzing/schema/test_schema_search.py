"""Schema search: the cases of Schemathesis, how they are sent and judged, and its findings.

Tests that need Schemathesis are skipped where it is not installed, unless the environment
requires it: the gate sets `ASSAY_SCHEMA=required`.
"""

import json
import os
from datetime import UTC, datetime
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

import command_line
import pytest
from rows import for_each

import assay
from assay.binding.model.pointer import MISSING
from assay.binding.model.target import Place
from assay.binding.wire.encode import HttpRequest
from assay.cli import run
from assay.fuzzing.limits import SearchLimits
from assay.fuzzing.schema.cases import SchemaCase
from assay.fuzzing.schema.generator import CHECKS, Generator
from assay.fuzzing.schema.search import SchemaSearch, clauses
from assay.fuzzing.search import Search
from assay.fuzzing.sequences.step_codec import encode_step
from assay.history import Wire
from assay.openapi import document
from assay.preparation.prepare import prepare
from assay.proof.kill_matrix import variants
from assay.report import read_journal
from assay.running.environment import set_up
from assay.sandbox.app import make_app
from assay.sandbox.policies import SOUND
from assay.sandbox.serve import serving
from assay.transport.protocol import Embedded, unanswered

pytestmark = pytest.mark.slow

PREPARED = prepare()
DOCUMENT = document(PREPARED.bound, PREPARED.target)
NOW = datetime(2024, 5, 15, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def generator():
    """Load Schemathesis; skip without it, or fail where it is required."""
    if find_spec("schemathesis") is None:
        if os.environ.get("ASSAY_SCHEMA") == "required":
            pytest.fail("ASSAY_SCHEMA=required, and there is no Schemathesis")
        pytest.skip("there is no Schemathesis (pip install 'assay[schema]')")
    return Generator(DOCUMENT)


# -- one variation -------------------------------------------------------------

KNOWN = HttpRequest(
    method="POST",
    url="https://bank.example/v1/things/a%2Fb?on=1&off=2",
    headers=(("Accept", "application/json"), ("Authorization", "Bearer x")),
    body=b'{"one": 1, "two": "2"}',
)


def step(place, made, name="", usual=(), *, valid=False):
    """Return what a case sets in the accepted request, and what it leaves out."""
    case = SchemaCase(says="so", valid=valid, place=place, name=name, made=made, usual=dict(usual))
    resend = case.step(KNOWN, "psu", {"thing": "own"})
    assert resend.forbidden is not valid
    assert ("psu", place.value, "so") == (resend.subject, resend.place, resend.variation)
    return resend.values, resend.removed


def test_one_slot_of_the_path():
    """A path parameter has the name of the target file."""
    assert ({"own": "x"}, ()) == step(Place.PATH, {"thing": "x"}, "thing")


def test_one_member_of_the_query():
    """A query parameter is set, or left out; others stay as they were accepted."""
    assert ({"on": "7"}, ()) == step(Place.QUERY, {"on": "7", "off": "nonsense"}, "on")
    assert ({}, ("on",)) == step(Place.QUERY, {"off": "0"}, "on")


def test_one_header_whatever_its_capitals():
    """Names of headers are case-insensitive."""
    made = {"accept": "x", "Authorization": "Bearer "}
    assert ({"accept": "x"}, ()) == step(Place.HEADER, made, "Accept")
    assert ({}, ("authorization",)) == step(Place.HEADER, {}, "Authorization")


def test_an_invalid_part_lacks_or_has_too_much():
    """Of an invalid part, the missing or additional members are taken, not the values."""
    usual = {"one": 7, "two": "x"}
    assert ({}, ("one",)) == step(Place.BODY, {"two": "y"}, usual=usual)
    made = {"one": 8, "two": "y", "three": 3}
    assert ({"three": 3}, ()) == step(Place.BODY, made, usual=usual)


def test_a_valid_part_differs_in_values_or_in_what_is_there():
    """Of a valid part, the values that differ from the usual are taken, or else the members."""
    usual = {"one": 7, "two": "x", "three": 3}
    assert ({"two": "y"}, ()) == step(Place.BODY, {**usual, "two": "y"}, usual=usual, valid=True)
    made = {"one": 7, "three": 3}
    assert ({"three": 3}, ("two",)) == step(Place.BODY, made, usual=usual, valid=True)


def test_a_whole_body():
    """A body that is no object replaces the whole body; a missing one leaves none."""
    assert ({"": [None]}, ()) == step(Place.BODY, [None])
    assert ({}, ("",)) == step(Place.BODY, MISSING)


# -- the clause of a finding ---------------------------------------------------

SCHEMAS = {
    "paths": {
        "/x": {
            "get": {
                "responses": {
                    "2XX": {
                        "content": {"application/json": {"schema": {"$ref": "#/components/a~1b"}}}
                    },
                    "404": {"description": "no content"},
                }
            }
        }
    },
    "components": {
        "a/b": {
            "properties": {
                "list": {
                    "items": {
                        "x-assay-from": ["c/outer"],
                        "properties": {
                            "code": {"enum": ["A"], "x-assay-from": ["c/codes", "c/more"]},
                            "free": {"type": "string"},
                        },
                    }
                }
            }
        }
    },
}
ITEM = ("$ref", "properties", "list", "items", "properties")


@for_each(
    ("status", "at", "expected"),
    [
        (200, (*ITEM, "code", "enum"), ("c/codes", "c/more")),
        (201, (*ITEM, "free", "type"), ("c/outer",)),
        (200, ("properties", "list", "items", "properties", "code"), ("c/codes", "c/more")),
        (200, ("$ref", "properties", "list", "type"), ()),
        (200, (), ()),
        (404, (*ITEM, "code", "enum"), ()),
        (500, (*ITEM, "code", "enum"), ()),
    ],
)
def test_the_innermost_clause_is_named(status, at, expected):
    """The clause is the one that the document names nearest to the keyword, if any."""
    assert expected == clauses(SCHEMAS, "/x", "get", status, at)


# -- Schemathesis itself -------------------------------------------------------


def test_one_module_knows_schemathesis():
    """Schemathesis is loaded by one module, and only when that is used."""
    package = Path(assay.__file__).parent
    paths = [path for path in package.rglob("*.py") if "suites" not in path.parts]
    naming = [path for path in paths if 'import_module("schemathesis' in path.read_text("utf-8")]
    assert ["generator.py"] == [path.name for path in naming]


def test_coverage_cases_are_as_they_were(generator):
    """The adapter still finds in Schemathesis what it uses."""
    cases = generator.cases("post", "/payment-requests", fuzz=0, seed=0)
    varied = {(case.place, case.name, case.valid) for case in cases}
    assert (Place.BODY, "chargeBearer", False) in varied
    assert (Place.HEADER, "Content-Type", False) in varied
    assert (Place.HEADER, "Authorization", False) in varied
    body = [case for case in cases if case.place is Place.BODY]
    assert "the body: Missing required property: chargeBearer" in [case.says for case in body]
    assert any(case.made is MISSING for case in body)
    assert any(case.valid for case in body)
    query = generator.cases("get", "/transactions", fuzz=0, seed=0)
    assert {"iban", "dateFrom"} <= {case.name for case in query if case.place is Place.QUERY}
    path = generator.cases("get", "/accounts/{iban}/transactions", fuzz=0, seed=0)
    assert "iban" in {case.name for case in path if case.place is Place.PATH}


def test_random_cases_are_those_of_the_seed(generator):
    """Each random case has one member of a request, the same for the same seed."""
    args = "post", "/payment-requests"
    cases = Generator(DOCUMENT).cases(*args, fuzz=5, seed=3)
    assert cases == generator.cases(*args, fuzz=5, seed=3)
    assert cases != generator.cases(*args, fuzz=5, seed=4)
    random = cases[len(generator.cases(*args, fuzz=0, seed=3)) :]
    assert random
    assert all(case.valid and case.name for case in random)


def answer(status, body=b'{"accounts": []}', media="application/json"):
    """Return the wire record of such an answer."""
    headers = (("Content-Type", media), ("Content-Encoding", "gzip"))
    return Wire(method="GET", url="x:", status=status, headers=headers, body=body)


def test_an_answer_as_documented_gets_no_remark(generator):
    """There is no remark on an accepted call, nor on a documented rejection."""
    for wire in (answer(200), answer(404, b"", "text/html"), answer(429, b"{}")):
        assert () == generator.judge("get", "/accounts", wire)
    nothing = Wire(method="GET", url="x:", status=204, headers=(), body=b"")
    assert () == generator.judge("get", "/accounts", nothing)
    not_offered = answer(501, b"{}")
    assert () == generator.judge("get", "/trustedBeneficiaries", not_offered)


@pytest.mark.parametrize(
    ("wire", "check"),
    [
        (answer(500), "ServerError"),
        (answer(302), "UndefinedStatusCode"),
        (answer(200, media="text/plain"), "UndefinedContentType"),
        (answer(200, b'{"accounts": 7}'), "JsonSchemaError"),
    ],
)
def test_each_check_can_fail(generator, wire, check):
    """Every check of Schemathesis that is used reports its kind of violation."""
    remarks = generator.judge("get", "/accounts", wire)
    assert check in [remark.check for remark in remarks]
    assert len(CHECKS) == 3
    schema = [remark for remark in remarks if remark.check == "JsonSchemaError"]
    assert all(remark.at for remark in schema)


def test_a_wrong_value_names_its_clause(generator):
    """The schema of an answer stands behind a reference, and its clause is found there."""
    wire = answer(200, b'{"balances": [{"balanceType": "CLBD", "currency": "USD"}]}')
    (remark,) = generator.judge("get", "/accounts/balances", wire)
    assert "Response violates schema: 'USD' is not one of ['EUR', None, '']" == remark.says
    found = clauses(DOCUMENT, "/accounts/balances", "get", 200, remark.at)
    assert ("aisp/euro",) == found


SECOND = """\
assay: 1
target: mine
extends: sandbox
operations:
  balances:
    item: {fields: {currency: /amounts/1/currency}}
"""


@pytest.mark.usefixtures("generator")
def test_a_place_in_a_list_has_its_schema(tmp_path):
    """A pointer into a list constrains that element, and no other one."""
    (tmp_path / "mine.yaml").write_text(SECOND, "utf-8")
    made = prepare(["aisp"], str(tmp_path / "mine.yaml"))
    generator = Generator(document(made.bound, made.target))

    def remarks(*currencies):
        amounts = [{"currency": each} for each in currencies]
        body = {"balances": [{"balanceType": "CLBD", "amounts": amounts}]}
        wire = answer(200, json.dumps(body).encode())
        return [each.says for each in generator.judge("get", "/accounts/balances", wire)]

    wrong = "Response violates schema: 'USD' is not one of ['EUR', None, '']"
    assert [] == remarks("USD", "EUR")
    assert [wrong] == remarks("EUR", "USD")


@pytest.mark.parametrize(
    "body",
    [b"[" * 100_000, b'{"accounts": [], "n": 1e999999999}', b'{"accounts": [], "a": "\\ud800"}'],
    ids=["deep", "huge number", "half a character"],
)
def test_a_strange_body_makes_no_failure(generator, body):
    """What cannot be read is no matter of schemas; a strange value is one."""
    assert () == generator.judge("get", "/accounts", answer(200, body))


def test_a_long_value_is_not_quoted(generator):
    """A remark does not repeat a whole answer."""
    body = json.dumps({"accounts": {"name": "x" * 500}}).encode()
    (remark,) = generator.judge("get", "/accounts", answer(200, body))
    assert "Response violates schema: the value at /accounts fails type" == remark.says
    (remark,) = generator.judge("get", "/accounts", answer(200, b"<html>"))
    assert "MalformedJson" == remark.check


# -- against a bank ------------------------------------------------------------


def examined(generator, contract, operation, bank=None, **limits):
    """Search an operation of a bank."""
    search = Search(
        plan=PREPARED.plan,
        contract=PREPARED.plan.contracts[contract],
        environment=set_up(PREPARED.target, **({"bank": bank} if bank else {})),
        limits=SearchLimits(**{"sequences": 2, **limits}),
    )
    schema = SchemaSearch(search=search, document=DOCUMENT, generator=generator)
    return schema.run([search.contract.operations[operation]], lambda _: None)


def mutant(id_):
    """Return what makes the sandbox with one fault."""
    policies = variants()[id_].change(SOUND)
    return lambda base_url: make_app(policies, base_url=base_url)


@for_each(
    ("contract", "operation"),
    [
        (contract.id, operation)
        for contract in PREPARED.plan.contracts.values()
        for operation in contract.operations
    ],
)
def test_the_sound_bank_passes(generator, contract, operation):
    """No check, and no schema, finds anything; and cases were sent."""
    result = examined(generator, contract, operation)
    assert () == result.findings == result.documented
    assert () == result.notes
    assert result.sequences > 3


@for_each(
    ("id_", "operation", "obligation"),
    [
        ("form.balances-as-text", "aisp/balances", "aisp/well-formed/media-type"),
        ("balance-type.balance-fourth-type", "aisp/balances", "aisp/balance-type/balance"),
        (
            "available.consents-500-on-body-type",
            "aisp/consents",
            "aisp/consents.available/survives-malformed",
        ),
        (
            "pis.mandatory.chargeBearer-missing",
            "pis/create-payment",
            "pis/mandatory-fields/chargeBearer-missing",
        ),
        (
            "pis.charge-bearer.strange-code",
            "pis/create-payment",
            "pis/charge-bearer/other-value",
        ),
        (
            "pis.confirmation.201-before-signing",
            "pis/confirm-payment",
            "pis/payments.confirmation/refused-before-signing",
        ),
    ],
)
def test_a_fault_violates_an_obligation(generator, id_, operation, obligation):
    """A finding is the violated obligation, with a short sequence that shows it."""
    contract, _, name = operation.partition("/")
    result = examined(generator, contract, name, mutant(id_))
    findings = {finding.obligation: finding for finding in result.findings}
    assert obligation in findings
    assert len(findings[obligation].sequence) < 8
    assert obligation not in {finding.remark.says for finding in result.documented}


def strange(base_url):
    """Make a bank that answers an unknown header with a redirection."""
    app = make_app(base_url=base_url)

    def odd(environ, start_response):
        if "HTTP_X_SCHEMATHESIS_UNKNOWN_PROPERTY" not in environ:
            return app(environ, start_response)
        start_response("302 Found", [("Location", "/elsewhere")])
        return [b""]

    return odd


def test_an_answer_that_only_the_document_forbids(generator):
    """An undocumented status violates no clause; it is told apart, with its case and sequence."""
    result = examined(generator, "aisp", "balances", strange)
    assert () == result.findings
    (finding,) = result.documented
    assert () == finding.clauses
    assert "Undocumented status code: Received: 302" in finding.remark.says
    assert "unexpected" in finding.case
    assert "resend" == encode_step(finding.sequence[-1])["do"]
    assert 1 == [encode_step(step)["do"] for step in finding.sequence].count("resend")


def failing(base_url):
    """Make a bank that fails at a consent to a number."""
    app = make_app(base_url=base_url)

    def odd(environ, start_response):
        length = int(environ.get("CONTENT_LENGTH") or 0)
        body = environ["wsgi.input"].read(length)
        environ["wsgi.input"] = BytesIO(body)
        if body != b'{"accounts": [0]}':
            return app(environ, start_response)
        start_response("500 Oh", [("Content-Type", "application/json")])
        return [b"{}"]

    return odd


def test_a_failure_at_a_forbidden_call_violates_a_clause(generator):
    """A clause says that a call which the document forbids must not make the bank fail."""
    result = examined(generator, "aisp", "consents", failing)
    names = [finding.obligation for finding in result.findings]
    assert ["aisp/consents.available/survives-malformed"] == names
    assert () == result.documented


def test_a_missing_answer_is_not_judged(generator, monkeypatch):
    """A call without an answer violates no schema."""
    send = Embedded.send

    def lost(self, request):
        sent = send(self, request)
        odd = any("schemathesis" in name for name, _ in request.headers)
        return unanswered(request, "it is lost") if odd else sent

    monkeypatch.setattr(Embedded, "send", lost)
    result = examined(generator, "aisp", "balances")
    assert () == result.findings == result.documented


def test_a_search_keeps_to_its_limits(generator):
    """A search makes no more calls than it may, and none that writes where it only reads."""
    result = examined(generator, "aisp", "transactions", calls=6)
    assert result.exchanges <= 6
    assert result.notes
    result = examined(generator, "pis", "create-payment", restricted="live")
    assert (0, 0, ("create-payment: the search only reads",)) == (
        result.sequences,
        result.exchanges,
        result.notes,
    )


# -- as a part of a run --------------------------------------------------------


def assay_run(url, tmp_path, *args):
    """Run the search by command; return its exit code and output."""
    return command_line.assay(
        *("run", "-t", url, "--contexts", "base", "--no-doctor"),
        *("--examples", "none", *args),
        cwd=tmp_path,
        COLUMNS="300",
    )


def test_a_finding_of_a_run_is_a_verdict(generator, tmp_path):
    """What violates an obligation is its verdict, and its sequence can be replayed."""
    with serving(mutant("pis.mandatory.chargeBearer-missing")(None)) as url:
        search = ("-c", "pis", "-k", "mandatory-fields/chargeBearer", "--schema", 1)
        code, out, err = assay_run(url, tmp_path, *search, "--out", "a")
        assert code == 1
        assert all(line.startswith("✗ ") for line in err.splitlines())
        name = "pis/mandatory-fields/chargeBearer-missing"
        assert f"✗ {name}  violates" in out
        report = read_journal(tmp_path / "a" / "journal.jsonl")
        (search,) = report.searches
        assert ("pis", "schema", "") == (search.contract, search.how, search.operation)


def test_a_recorded_case_is_replayed_without_schemathesis(generator, tmp_path):
    """A case that only a search finds is a sequence that anybody can replay."""
    with serving(failing("http://127.0.0.1")) as url:
        search = ("-c", "aisp", "-k", "consents.available", "--schema", 1, "--out", "a")
        code, out, _ = assay_run(url, tmp_path, *search)
        assert 1 == code, out
        assert "found by random search (schema), in a sequence of" in out
        (path,) = (tmp_path / "a" / "sequences").iterdir()
        assert "FR76" not in path.read_text()
        assert '"do": "resend"' in path.read_text()
        code, out, _ = assay_run(url, tmp_path, "--replay", path, "--out", "b")
        assert (1, True) == (code, "consents.available/survives-malformed  violates" in out)


def test_what_only_the_document_forbids_is_told_in_every_report(generator, tmp_path):
    """It changes no verdict and not the exit code, but every report has it."""
    with serving(strange("http://127.0.0.1")) as url:
        args = ("-c", "aisp", "-k", "aisp/balances.available", "--schema", 1, "--out", "a")
        code, out, _ = assay_run(url, tmp_path, *args)
    assert 0 == code, out
    assert "that the exported document does not allow. This alone violates no" in out
    assert "Undocumented status code: Received: 302" in out
    for name in ("report.html", "report.md", "junit.xml"):
        assert "Undocumented status code" in (tmp_path / "a" / name).read_text("utf-8")
    values = json.loads((tmp_path / "a" / "report.json").read_text("utf-8"))
    answers = values["searches"][0]["documented"]
    assert "balances" in {answer["operation"] for answer in answers}
    shown = {(each["trial"], each["number"]): each for each in values["exchanges"]}
    for answer in answers:
        assert 302 == shown[answer["trial"], answer["exchange"]]["response"]["status"]
        assert [] == answer["clauses"]


def test_schemathesis_is_an_extra(tmp_path, monkeypatch):
    """Without Schemathesis the option is an error of one line, with the command to install it."""
    monkeypatch.setattr(run, "find_spec", lambda _: None)
    code, out, err = command_line.assay("run", "--schema", 1, cwd=tmp_path)
    assert (2, "") == (code, out)
    assert "pip install 'assay[schema]'" in err
    assert 1 == len(err.splitlines())
