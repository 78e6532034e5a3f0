"""What marks a call as made with the customer present, where it is no header."""

import json
from io import BytesIO
from urllib.parse import parse_qs

import pytest
from embedded import run_plan, standing
from rows import for_each

from assay.binding.read.join import bind
from assay.binding.wire.encode import Access, HttpRequest, encode
from assay.errors import InputError
from assay.files.load import loads
from assay.history import Call, Malformed, Wire
from assay.parsing.parse import find_contract, parse_contract
from assay.planning.plan import plan
from assay.preparation.target_file import read_document
from assay.rules.verdict import Standing
from assay.running.environment import sound_bank
from assay.running.guard import absent
from assay.traffic.parse_request import ParsedRequest

READS = ("accounts", "balances", "transactions")
BODY = "{header: null, body: /head/isDirect, value: true}"
QUERY = "{header: null, query: attended, value: direct}"
AISP = parse_contract(find_contract("aisp"))


def marked(presence):
    """Return the sandbox's target file with another mark, in which every operation is a POST."""
    reads = [f"  {name}: {{method: POST}}" for name in READS]
    head = [
        "assay: 1",
        "target: marked",
        "extends: sandbox",
        f"presence: {presence}",
        "operations:",
    ]
    return read_document(loads("\n".join([*head, *reads])))


class Gateway:
    """The sandbox, whose gateway takes the mark from the query or the body."""

    def __init__(self, app, *, forgets=False):
        self.app, self.forgets = app, forgets

    def __call__(self, environ, start_response):
        """Translate a call."""
        content = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        if "/assay-control/" not in environ["PATH_INFO"]:
            content = self.translated(environ, json.loads(content) if content else {})
        environ |= {"wsgi.input": BytesIO(content), "CONTENT_LENGTH": str(len(content))}
        return self.app(environ, start_response)

    def translated(self, environ, body):
        """Put the mark into the header; return the body without it."""
        query = environ["QUERY_STRING"]
        marks = [body.pop("head", {}).get("isDirect"), *parse_qs(query).get("attended", [])]
        environ["QUERY_STRING"] = "&".join(
            each for each in query.split("&") if "attended" not in each
        )
        if marks[-1] in (True, "direct") and not self.forgets:
            environ["HTTP_PSU_IP_ADDRESS"] = "192.0.2.10"
        if not environ["PATH_INFO"].endswith("/consents"):
            environ["REQUEST_METHOD"] = "GET"
        return json.dumps(body).encode() if body else b""


def run(presence, **gateway):
    """Run what the document says of calls with and without the customer."""
    target = marked(presence)

    def asked(obligation):
        return obligation.id.split("/")[1] in {"batch-quota", "online-unlimited"}

    planned = plan(bind([AISP], target), target, asked)
    return run_plan(planned, target, lambda url: Gateway(sound_bank(url), **gateway))


@pytest.mark.parametrize("presence", [BODY, QUERY])
def test_calls_are_marked(presence):
    """The sound bank limits those without the customer, and no other."""
    result = run(presence)
    conforming = standing(result, Standing.CONFORMS)
    assert conforming > {"batch-quota/accounts-refused", "online-unlimited/accounts-unlimited"}
    assert not standing(result, Standing.VIOLATES, Standing.INDETERMINATE)


def test_a_bank_that_forgets_the_mark_is_found():
    """It limits calls with the customer, too."""
    found = standing(run(BODY, forgets=True), Standing.VIOLATES)
    assert "online-unlimited/accounts-unlimited" in found


def encoded(presence, **call):
    """Return the request of a call for accounts."""
    asked = Call(operation="accounts", subject="psu", **call)
    return encode(asked, AISP.operations["accounts"], marked(presence), Access(token="t"))


@for_each("malformed", [None, Malformed.WRONG_TYPES, Malformed.DEEP])
def test_a_body_has_the_mark_however_it_is_malformed(malformed):
    """Or a refusal might be for the number of calls without the customer."""
    body = json.loads(encoded(BODY, malformed=malformed).body)
    assert body["head"]["isDirect"] is True


@for_each(
    ("presence", "present", "counts"),
    [(BODY, True, False), (BODY, False, True), (QUERY, True, False), (QUERY, False, True)],
)
def test_what_the_request_says_is_counted(presence, present, counts):
    """A quota is kept by what the bank sees."""
    assert counts is absent(
        Call(operation="accounts", subject="psu"),
        encoded(presence, present=present),
        marked(presence),
    )


@for_each(
    ("sent", "present"),
    [
        ({"isDirect": True}, True),
        ({"isDirect": False}, False),
        ({}, False),
        ({"isDirect": 1}, True),
    ],
)
def test_recorded_calls_are_told_apart(sent, present):
    """A client that says false says that the customer is not there."""
    mark = marked(BODY).presence
    body = json.dumps({"head": sent}).encode()
    headers = (("Content-Type", "application/json"),)
    wire = Wire(
        method="POST", url="https://x.example/accounts", request_headers=headers, request_body=body
    )
    assert present is mark.shows(ParsedRequest(wire).value_at(mark))


def test_a_changed_mark_is_none():
    """Where a member of the body was varied."""
    request = HttpRequest(
        method="POST", url="https://x.example/", body=b'{"head": {"isDirect": "true"}}'
    )
    assert absent(Call(operation="accounts", subject="psu"), request, marked(BODY))


@for_each(
    ("presence", "says"),
    [
        ("{header: null, value: x}", "found none of them"),
        ("{body: /a, value: true}", "found header and body"),
        ("{header: X, value: true}", 'write it in quotes: "true"'),
        ("{header: null, body: a, value: x}", "pointer"),
    ],
)
def test_a_wrong_mark_is_an_error(presence, says):
    """With its line."""
    with pytest.raises(InputError) as raised:
        marked(presence)
    (problem,) = raised.value.problems
    assert (4, True) == (problem.line, says in f"{problem.what} {problem.hint}"), problem
