"""Schemathesis as generator and judge: what it makes, what becomes of it, what is told.

What takes Schemathesis is skipped where it is not installed, unless the environment says
that it has to be: the gate sets `ASSAY_SCHEMA=required`.
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
from assay.fuzzing.schema.case import SchemaCase
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
from assay.transport.embedded import Embedded
from assay.transport.protocol import unanswered

pytestmark = pytest.mark.slow

PREPARED = prepare()
DOCUMENT = document(PREPARED.bound, PREPARED.target)
NOW = datetime(2024, 5, 15, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def generator():
    """Load Schemathesis, or skip; or be told that there has to be one."""
    if find_spec("schemathesis") is None:
        if os.environ.get("ASSAY_SCHEMA") == "required":
            pytest.fail("ASSAY_SCHEMA=required, and there is no Schemathesis")
        pytest.skip("there is no Schemathesis (pip install 'assay[schema]')")
    return Generator(DOCUMENT)


# -- one thing that is different -----------------------------------------------

KNOWN = HttpRequest(
    method="POST",
    url="https://bank.example/v1/things/a%2Fb?on=1&off=2",
    headers=(("Accept", "application/json"), ("Authorization", "Bearer x")),
    body=b'{"one": 1, "two": "2"}',
)
TEMPLATE = "/things/{thing}"


def applied(place, made, name="", usual=(), *, valid=False):
    """Return the known-good request with what is different in a case."""
    case = SchemaCase(says="so", valid=valid, place=place, name=name, made=made, usual=dict(usual))
    return case.applied(KNOWN, TEMPLATE)


def test_one_slot_of_the_path():
    """What stands in a slot is quoted; the base URL and the query stay."""
    url = applied(Place.PATH, {"thing": "ü/?"}, "thing").url
    assert "https://bank.example/v1/things/%C3%BC%2F%3F?on=1&off=2" == url


def test_one_member_of_the_query():
    """It is set, repeated, or left away; all others stay as they are known to be good."""
    asked = {"on": "7", "off": "nonsense"}
    assert applied(Place.QUERY, asked, "on").url.endswith("?on=7&off=2")
    assert applied(Place.QUERY, {"on": ["7", "8"]}, "on").url.endswith("?on=7&on=8&off=2")
    assert applied(Place.QUERY, {"off": "0"}, "on").url.endswith("?off=2")


def test_one_header_whatever_its_capitals():
    """A header is the same in any capitals, and keeps those that it had."""
    assert (("Accept", "x"), ("Authorization", "Bearer x")) == applied(
        Place.HEADER, {"accept": "x", "Authorization": "Bearer "}, "accept"
    ).headers
    left = applied(Place.HEADER, {}, "Authorization").headers
    assert (("Accept", "application/json"),) == left


def test_an_invalid_part_lacks_or_has_too_much():
    """Of an invalid part only what is there or not is meant, not the values."""
    usual = {"one": 7, "two": "x"}
    less = applied(Place.BODY, {"two": "y"}, usual=usual).body
    assert {"two": "2"} == json.loads(less)
    more = applied(Place.BODY, {"one": 8, "two": "y", "three": 3}, usual=usual).body
    assert {"one": 1, "two": "2", "three": 3} == json.loads(more)


def test_a_valid_part_differs_in_values_or_in_what_is_there():
    """Of a valid part the values are meant that differ from the usual; else what is there."""
    usual = {"one": 7, "two": "x", "three": 3}
    other = applied(Place.BODY, {**usual, "two": "y"}, usual=usual, valid=True).body
    assert {"one": 1, "two": "y"} == json.loads(other)
    fewer = applied(Place.BODY, {"one": 7, "three": 3}, usual=usual, valid=True).body
    assert {"one": 1, "three": 3} == json.loads(fewer)


def test_a_whole_body():
    """A body that is no object replaces the whole; one that is not there leaves none."""
    assert b"[null]" == applied(Place.BODY, [None]).body
    assert b"" == applied(Place.BODY, MISSING).body


# -- whose clause it is --------------------------------------------------------

SPELT = {
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
    """The clause is the one that the document names nearest to the keyword; or none."""
    assert expected == clauses(SPELT, "/x", "get", status, at)


def exchange(outcome, n=1, **call):
    """Return an exchange with this outcome."""
    asked = Call(operation="x", subject="psu", **call)
    return Exchange(n=n, at=NOW, call=asked, outcome=outcome, wire=Wire(method="GET", url="x:"))


def test_who_is_excused():
    """A refusal excuses a call that nobody vouches for; a failure, or a leak, does not."""
    binding = replace(
        PREPARED.target.operations["create-payment"],
        arguments={
            "a": Spelling(place=Place.BODY, name="/a", value=1, other=2),
            "b": Spelling(place=Place.BODY, name="/b"),
        },
    )
    control = Call(operation="x", subject="psu", arguments={"a": 3, "b": "y"})
    told = [
        vouched(replace(control, arguments={"a": one, **rest}), control, binding)
        for one, rest in ((3, {"b": "y"}), (2, {"b": "y"}), (True, {"b": "y"}), (4, {"b": "y"}))
    ]
    assert [True, True, False, False] == told
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


def test_the_same_is_told_once():
    """An obligation is told once, and no remark on the exchange that shows it broken."""
    one, other = exchange(Rejected(), n=1), exchange(Rejected(), n=2)
    broken = SchemaFinding(obligation="c/x/y", says="first", case="", exchange=one)
    remark = SchemaFinding(says="status", case="", exchange=one)
    every = [broken, replace(broken, exchange=other, says="second"), remark]
    assert (broken,) == once(every)
    apart = replace(remark, exchange=other)
    assert (broken, apart) == once([broken, apart, apart])
    assert apart.general


# -- Schemathesis itself -------------------------------------------------------


def test_nobody_else_knows_schemathesis():
    """It is loaded by one module, and only when that is used."""
    package = Path(assay.__file__).parent
    paths = [one for one in package.rglob("*.py") if "suites" not in one.parts]
    naming = [one for one in paths if '"schemathesis' in one.read_text(encoding="utf-8")]
    assert ["generator.py"] == [one.name for one in naming]


def test_coverage_cases_are_as_they_were(generator):
    """The contract of the adapter: what it takes from Schemathesis is still there."""
    every = generator.cases("post", "/payment-requests", fuzz=0, seed=0)
    said = {(one.place, one.name, one.valid) for one in every}
    assert (Place.BODY, "chargeBearer", False) in said
    assert (Place.HEADER, "Content-Type", False) in said
    assert (Place.HEADER, "Authorization", False) in said
    body = [one for one in every if one.place is Place.BODY]
    assert "the body: Missing required property: chargeBearer" in [one.says for one in body]
    assert any(one.made is MISSING for one in body)
    assert any(one.valid for one in body)
    query = generator.cases("get", "/transactions", fuzz=0, seed=0)
    assert {"iban", "dateFrom"} <= {one.name for one in query if one.place is Place.QUERY}
    path = generator.cases("get", "/accounts/{iban}/transactions", fuzz=0, seed=0)
    assert "iban" in {one.name for one in path if one.place is Place.PATH}


def test_random_cases_are_those_of_the_seed(generator):
    """One thing of each, the same for the same seed."""
    args = "post", "/payment-requests"
    one = Generator(DOCUMENT).cases(*args, fuzz=5, seed=3)
    assert one == generator.cases(*args, fuzz=5, seed=3)
    assert one != generator.cases(*args, fuzz=5, seed=4)
    rest = one[len(generator.cases(*args, fuzz=0, seed=3)) :]
    assert rest
    assert all(case.valid and case.name for case in rest)


def answer(status, body=b'{"accounts": []}', media="application/json"):
    """Return what went over the wire for such an answer."""
    headers = (("Content-Type", media), ("Content-Encoding", "gzip"))
    return Wire(method="GET", url="x:", status=status, headers=headers, body=body)


def test_an_answer_as_documented_gets_no_remark(generator):
    """Neither a good answer nor a documented refusal is remarked upon."""
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
    """Every check of Schemathesis that is used sees what it is used for."""
    remarks = generator.judge("get", "/accounts", wire)
    assert check in [one.check for one in remarks]
    assert len(CHECKS) == 4
    schema = [one for one in remarks if one.check == "JsonSchemaError"]
    assert all(one.at for one in schema)


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
    """No check, and no schema, finds anything; and something was asked."""
    done = examined(generator, item.contract.id, item.operation.id)
    assert () == done.found
    assert "" == done.stopped
    assert done.cases > 3


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
def test_a_fault_is_its_clauses(generator, id_, operation, obligation):
    """What a case shows is told as the obligation that is broken, with what shows it."""
    contract, _, name = operation.partition("/")
    done = examined(generator, contract, name, mutant(id_))
    found = {one.obligation: one for one in done.found}
    assert obligation in found
    assert found[obligation].exchange is not None


def strange(base_url):
    """Make a bank that answers a header that it does not know with a redirection."""
    app = make_app(base_url=base_url)

    def odd(environ, start_response):
        if "HTTP_X_SCHEMATHESIS_UNKNOWN_PROPERTY" not in environ:
            return app(environ, start_response)
        start_response("302 Found", [("Location", "/elsewhere")])
        return [b""]

    return odd


def test_what_only_the_document_says_is_general(generator):
    """An undocumented status breaks no clause, and is told as general, with its case."""
    (found,) = examined(generator, "aisp", "balances", strange).found
    assert found.general
    assert "Undocumented status code: Received: 302" in found.says
    assert "unexpected" in found.case
    assert 302 == found.exchange.wire.status


def failing(base_url):
    """Make a bank that fails at a consent to anything that is no text."""
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


def test_a_failure_at_what_the_document_forbids_is_the_clauses(generator):
    """A call that the document forbids must not make the bank fail: there is a clause for it."""
    (found,) = examined(generator, "aisp", "consents", failing).found
    assert "aisp/consents.available/survives-malformed" == found.obligation
    assert "Server error" in found.says


def test_what_never_came_is_not_judged(generator, monkeypatch):
    """An answer that did not come breaks no schema."""
    send = Embedded.send

    def lost(self, request):
        sent = send(self, request)
        odd = any("schemathesis" in name for name, _ in request.headers)
        return unanswered(request, "it is lost") if odd else sent

    monkeypatch.setattr(Embedded, "send", lost)
    assert () == examined(generator, "aisp", "balances").found


def test_a_search_keeps_to_its_limits(generator):
    """It makes no more calls than it may, and none that writes where it may only read."""
    done = examined(generator, "aisp", "transactions", calls=6)
    assert 6 == done.exchanges
    assert "the limit of 6 calls" in done.stopped
    done = examined(generator, "pis", "create-payment", reads=True)
    assert (0, 0, "the search is restricted to reading") == (
        done.cases,
        done.exchanges,
        done.stopped,
    )
    assert LIVE.reads


# -- as a part of a run --------------------------------------------------------


def told(tmp_path, id_, name, bank):
    """Run an item in a run with a journal; return what is told, the run, and its record."""
    path = tmp_path / "j.jsonl"
    session = Session(
        plan=PREPARED.plan,
        environment=set_up(PREPARED.target, bank=bank),
        journal=Journal.at(path),
    )
    (item,) = [one for one in items(PREPARED) if one.id == f"schema/{id_}/{name}"]
    out = SchemaRun(prepared=PREPARED, session=session).examine(item)
    session.journal.out.close()
    return out, session, [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_one_record_of_all(generator, tmp_path):
    """What is sent stands in the run's own journal, numbered along, under the item's name."""
    out, session, lines = told(tmp_path, "aisp", "accounts", lambda url: make_app(base_url=url))
    calls = [one for one in lines if one["type"] == "exchange"]
    assert session.exchanges == len(calls) > out.cases
    assert {"schema/aisp/accounts"} == {one["trial"] for one in lines}
    assert list(range(1, len(calls) + 1)) == [one["n"] for one in calls]
    assert () == out.broken


def test_a_failure_is_told_to_anybody(generator, tmp_path):
    """Clause, sentence, case and a curl line stand there, and no secret does."""
    bank = mutant("pis.mandatory.chargeBearer-missing")
    out, _, lines = told(tmp_path, "pis", "create-payment", bank)
    text = str(out)
    assert "pis/mandatory-fields/chargeBearer-missing: chargeBearer, categoryPurpose," in text
    assert "by       the body: Missing required property: chargeBearer" in text
    assert "curl -X POST https://www.30001.live.sandbox.example/payment-requests" in text
    assert "authorization: <hidden>" in text
    assert "FR76" not in text
    assert "FR76" not in json.dumps(lines)
