"""Schema search: the cases of Schemathesis, how they are sent and judged, and its findings.

Tests that need Schemathesis are skipped where it is not installed, unless the environment
requires it: the gate sets `ASSAY_SCHEMA=required`.
"""

import json
import os
from dataclasses import replace
from datetime import UTC, datetime
from importlib.util import find_spec
from io import BytesIO
from itertools import count
from pathlib import Path

import pytest

import assay
from assay.binding.encode import HttpRequest
from assay.binding.pointer import MISSING
from assay.binding.target import Place, Spelling
from assay.execution.environment import set_up
from assay.execution.session import Session
from assay.fuzzing.schema.case_requests import SchemaCase
from assay.fuzzing.schema.findings import SchemaFinding, SentCase, clauses, once, vouched
from assay.fuzzing.schema.generator import CHECKS, Generator
from assay.fuzzing.schema.items import LIVE, SchemaRun, items
from assay.fuzzing.schema.search import SchemaLimits, SchemaSearch
from assay.history import Call, Exchange, Indeterminate, Item, Rejected, Wire
from assay.journal.writer import Journal
from assay.kill_matrix import variants
from assay.openapi import document
from assay.planning.prepare import prepare
from assay.sandbox.app import make_app
from assay.sandbox.policies import SOUND
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
TEMPLATE = "/things/{thing}"


def applied(place, made, name="", usual=(), *, valid=False):
    """Return the accepted request with the variation of a case."""
    case = SchemaCase(says="so", valid=valid, place=place, name=name, made=made, usual=dict(usual))
    return case.applied(KNOWN, TEMPLATE)


def test_one_slot_of_the_path():
    """The value of a path parameter is quoted; the base URL and the query stay."""
    url = applied(Place.PATH, {"thing": "ü/?"}, "thing").url
    assert "https://bank.example/v1/things/%C3%BC%2F%3F?on=1&off=2" == url


def test_one_member_of_the_query():
    """A query parameter is set, repeated, or left out; all others stay as they were accepted."""
    made = {"on": "7", "off": "nonsense"}
    assert applied(Place.QUERY, made, "on").url.endswith("?on=7&off=2")
    assert applied(Place.QUERY, {"on": ["7", "8"]}, "on").url.endswith("?on=7&on=8&off=2")
    assert applied(Place.QUERY, {"off": "0"}, "on").url.endswith("?off=2")


def test_one_header_whatever_its_capitals():
    """Names of headers are case-insensitive, and a header keeps its spelling."""
    assert (("Accept", "x"), ("Authorization", "Bearer x")) == applied(
        Place.HEADER, {"accept": "x", "Authorization": "Bearer "}, "accept"
    ).headers
    left = applied(Place.HEADER, {}, "Authorization").headers
    assert (("Accept", "application/json"),) == left


def test_an_invalid_part_lacks_or_has_too_much():
    """Of an invalid part, the missing or additional members are taken, not the values."""
    usual = {"one": 7, "two": "x"}
    fewer = applied(Place.BODY, {"two": "y"}, usual=usual).body
    assert {"two": "2"} == json.loads(fewer)
    additional = applied(Place.BODY, {"one": 8, "two": "y", "three": 3}, usual=usual).body
    assert {"one": 1, "two": "2", "three": 3} == json.loads(additional)


def test_a_valid_part_differs_in_values_or_in_what_is_there():
    """Of a valid part, the values that differ from the usual are taken, or else the members."""
    usual = {"one": 7, "two": "x", "three": 3}
    changed = applied(Place.BODY, {**usual, "two": "y"}, usual=usual, valid=True).body
    assert {"one": 1, "two": "y"} == json.loads(changed)
    fewer = applied(Place.BODY, {"one": 7, "three": 3}, usual=usual, valid=True).body
    assert {"one": 1, "three": 3} == json.loads(fewer)


def test_a_whole_body():
    """A body that is no object replaces the whole body; a missing one leaves none."""
    assert b"[null]" == applied(Place.BODY, [None]).body
    assert b"" == applied(Place.BODY, MISSING).body


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


@pytest.mark.parametrize(
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


def exchange(outcome, n=1, **call):
    """Return an exchange with this outcome."""
    sent = Call(operation="x", subject="psu", **call)
    return Exchange(n=n, at=NOW, call=sent, outcome=outcome, wire=Wire(method="GET", url="x:"))


def test_rejections_that_are_excused():
    """A rejection of a value never accepted before is excused; a failure, or a leak, is not."""
    binding = replace(
        PREPARED.target.operations["create-payment"],
        arguments={
            "a": Spelling(place=Place.BODY, name="/a", value=1, other=2),
            "b": Spelling(place=Place.BODY, name="/b"),
        },
    )
    control = Call(operation="x", subject="psu", arguments={"a": 3, "b": "y"})
    known = [
        vouched(replace(control, arguments={"a": value, "b": "y"}), control, binding)
        for value in (3, 2, True, 4)
    ]
    assert [True, True, False, False] == known
    assert not vouched(replace(control, arguments={"a": 3, "b": None}), control, binding)
    assert not vouched(replace(control, arguments={"a": 3}), control, binding)
    assert not vouched(replace(control, mode="other"), control, binding)
    refused, failed = exchange(Rejected()), exchange(Indeterminate(cause="server", why=""))
    sent = SentCase(says="", valid=True, vouched=False, exchange=refused, remarks=())
    assert sent.excused
    assert not replace(sent, vouched=True).excused
    assert not replace(sent, exchange=failed).excused
    leaking = exchange(Rejected(leaked=(Item(key="a"),)))
    assert not replace(sent, exchange=leaking).excused


def test_an_obligation_is_reported_once():
    """Remarks on the exchange that shows an obligation violated are left out."""
    first, second = exchange(Rejected(), n=1), exchange(Rejected(), n=2)
    violation = SchemaFinding(obligation="c/x/y", says="first", case="", exchange=first)
    remark = SchemaFinding(says="status", case="", exchange=first)
    repeated = replace(violation, exchange=second, says="second")
    assert (violation,) == once([violation, repeated, remark])
    apart = replace(remark, exchange=second)
    assert (violation, apart) == once([violation, apart, apart])
    assert apart.general


# -- Schemathesis itself -------------------------------------------------------


def test_one_module_knows_schemathesis():
    """Schemathesis is loaded by one module, and only when that is used."""
    package = Path(assay.__file__).parent
    paths = [path for path in package.rglob("*.py") if "suites" not in path.parts]
    naming = [path for path in paths if '"schemathesis' in path.read_text(encoding="utf-8")]
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
    assert len(CHECKS) == 4
    schema = [remark for remark in remarks if remark.check == "JsonSchemaError"]
    assert all(remark.at for remark in schema)


# -- against a bank ------------------------------------------------------------


def examined(generator, contract, operation, bank=None, **limits):
    """Examine an operation of a bank."""
    environment = set_up(PREPARED.target, **({"bank": bank} if bank else {}))
    numbers = count(1)
    search = SchemaSearch(
        document=DOCUMENT,
        generator=generator,
        plan=PREPARED.plan,
        contract=PREPARED.plan.contracts[contract],
        environment=environment,
        number=lambda: next(numbers),
        limits=SchemaLimits(**{"fuzz": 2, **limits}),
    )
    return search.examine(search.contract.operations[operation])


def mutant(id_):
    """Return what makes the sandbox with one fault."""
    policies = variants()[id_].change(SOUND)
    return lambda base_url: make_app(policies, base_url=base_url)


@pytest.mark.parametrize("item", items(PREPARED), ids=lambda item: item.id)
def test_the_sound_bank_passes(generator, item):
    """No check, and no schema, finds anything; and cases were sent."""
    result = examined(generator, item.contract.id, item.operation.id)
    assert () == result.findings
    assert "" == result.stopped
    assert result.cases > 3


@pytest.mark.parametrize(
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
    """A finding is the violated obligation, with the exchange that shows it."""
    contract, _, name = operation.partition("/")
    result = examined(generator, contract, name, mutant(id_))
    findings = {finding.obligation: finding for finding in result.findings}
    assert obligation in findings
    assert findings[obligation].exchange is not None


def strange(base_url):
    """Make a bank that answers an unknown header with a redirection."""
    app = make_app(base_url=base_url)

    def odd(environ, start_response):
        if "HTTP_X_SCHEMATHESIS_UNKNOWN_PROPERTY" not in environ:
            return app(environ, start_response)
        start_response("302 Found", [("Location", "/elsewhere")])
        return [b""]

    return odd


def test_a_violation_of_the_document_alone_is_general(generator):
    """An undocumented status violates no clause; it is a general finding, with its case."""
    (finding,) = examined(generator, "aisp", "balances", strange).findings
    assert finding.general
    assert "Undocumented status code: Received: 302" in finding.says
    assert "unexpected" in finding.case
    assert 302 == finding.exchange.wire.status


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
    findings = examined(generator, "aisp", "consents", failing).findings
    by_obligation = {finding.obligation: finding.says for finding in findings}
    assert "Server error" in by_obligation["aisp/consents.available/survives-malformed"]


def test_a_missing_answer_is_not_judged(generator, monkeypatch):
    """A call without an answer violates no schema."""
    send = Embedded.send

    def lost(self, request):
        sent = send(self, request)
        odd = any("schemathesis" in name for name, _ in request.headers)
        return unanswered(request, "it is lost") if odd else sent

    monkeypatch.setattr(Embedded, "send", lost)
    assert () == examined(generator, "aisp", "balances").findings


def test_a_search_keeps_to_its_limits(generator):
    """A search makes no more calls than it may, and none that writes where it only reads."""
    result = examined(generator, "aisp", "transactions", calls=6)
    assert 6 == result.exchanges
    assert "the limit of 6 calls" in result.stopped
    result = examined(generator, "pis", "create-payment", reads=True)
    assert (0, 0, "the search is restricted to reading") == (
        result.cases,
        result.exchanges,
        result.stopped,
    )
    assert LIVE.reads


# -- as a part of a run --------------------------------------------------------


def run_item(tmp_path, id_, name, bank):
    """Run an item with a journal; return its result, the session, and the journal's lines."""
    path = tmp_path / "j.jsonl"
    session = Session(
        plan=PREPARED.plan,
        environment=set_up(PREPARED.target, bank=bank),
        journal=Journal.at(path),
    )
    (item,) = [item for item in items(PREPARED) if item.id == f"schema/{id_}/{name}"]
    result = SchemaRun(prepared=PREPARED, session=session).examine(item)
    session.journal.out.close()
    return result, session, [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_an_item_is_recorded_in_the_journal(generator, tmp_path):
    """The run's journal has the exchanges of an item, numbered, under the item's name."""
    result, session, lines = run_item(
        tmp_path, "aisp", "accounts", lambda url: make_app(base_url=url)
    )
    calls = [line for line in lines if line["type"] == "exchange"]
    assert session.exchanges == len(calls) > result.cases
    assert {"schema/aisp/accounts"} == {line["trial"] for line in lines}
    assert list(range(1, len(calls) + 1)) == [line["n"] for line in calls]
    assert () == result.broken


def test_a_failure_has_no_secret(generator, tmp_path):
    """A failure has clause, sentence, case and a curl command, and no secret."""
    bank = mutant("pis.mandatory.chargeBearer-missing")
    result, _, lines = run_item(tmp_path, "pis", "create-payment", bank)
    text = str(result)
    assert "pis/mandatory-fields/chargeBearer-missing: chargeBearer, categoryPurpose," in text
    assert "by       the body: Missing required property: chargeBearer" in text
    assert "curl -X POST https://www.30001.live.sandbox.example/payment-requests" in text
    assert "authorization: <hidden>" in text
    assert "FR76" not in text
    assert "FR76" not in json.dumps(lines)
