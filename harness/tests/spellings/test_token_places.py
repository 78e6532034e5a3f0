"""Tokens that stand in the body, in headers of their own, or in the query, in runs and recordings."""

import base64
import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner
from embedded import run_plan
from foreign.dialects import OSPREY, QUERYING
from foreign.faults import OSPREY_FAULTS, repeating_token
from literal_har import entry, write
from openapi_spec_validator import OpenAPIV31SpecValidator
from rows import for_each

from assay.binding.model.security import forged
from assay.binding.read.join import bind
from assay.binding.wire.encode import Access, encode
from assay.cli.main import group
from assay.errors import InputError
from assay.files.load import loads
from assay.history import Call, Malformed, Token
from assay.journal.writer import Journal
from assay.openapi import document
from assay.parsing.parse import parse_document
from assay.planning.plan import plan
from assay.preparation.target_file import read_document
from assay.rules.verdict import Standing

HERE = Path(__file__).parent
TOKENS = """\
  - id: tokens
    kind: token-required
    says: Nothing is shown without a token.
    source: {section: Security, line: 9}
    operations: [accounts, entries, show]
unspecified: []
"""
CONTRACT = (HERE / "kestrel.yaml").read_text("utf-8").replace("unspecified: []\n", TOKENS)
BODY = 'token_in: [{header: X-Ticket}, {body: /head/ticket, text: "T:{}"}]'
QUERY = "token_in: {query: ticket}"
#: The token of the customers, which is written nowhere.
SECRET = "tick-4711-et-secret"


def target_text(places):
    """Return the target file of Kestrel Bank with other places of the token."""
    text = (HERE / "kestrel-target.yaml").read_text("utf-8")
    text = text.replace("./kestrel.yaml", "kestrel")
    text = text.replace("{kind: bearer}", f"{{kind: bearer, {places}}}")
    refused = "rejected: [{statuses: [400, 401, 403, 422]}]"
    return text.replace("rejected: [{statuses: [400, 403, 422]}]", refused)


@cache
def bound(places):
    """Return the contract and the target."""
    contract, target = parse_document(loads(CONTRACT)), read_document(loads(target_text(places)))
    return bind([contract], target), target


def run(bank, places, journal=None):
    """Run the contract against a bank; return the verdicts."""
    contracts, target = bound(places)
    planned = plan(contracts, target)
    result = run_plan(planned, target, lambda _: bank, journal=Journal(out=journal))
    return {each.obligation.removeprefix("kestrel/"): each.standing for each in result.verdicts}


@pytest.mark.parametrize(("bank", "places"), [(OSPREY, BODY), (QUERYING, QUERY)])
def test_the_sound_bank_conforms(bank, places):
    """Every call has its token in each place, next pages and requests by POST included."""
    assert {Standing.CONFORMS} == set(run(bank(), places).values())


@pytest.mark.parametrize("fault", OSPREY_FAULTS, ids=lambda each: each.name)
def test_a_gate_that_is_open_is_found(fault):
    """The rules about tokens leave it out, or invent one, wherever it stands."""
    found = run(fault.of(OSPREY)(), BODY)
    assert fault.breaks == {name for name in found if found[name] is Standing.VIOLATES}


def encoded(places, operation="entries", **call):
    """Return the request of a call, with its token."""
    (contract,), target = bound(places)
    called = contract.contract.operations[operation]
    given = {"arguments": {"iban": "IT60X0542811101000000000001"}, **call}
    return encode(
        Call(operation=operation, subject="psu", **given), called, target, Access(token=SECRET)
    )


def test_each_place_has_the_token():
    """A GET has no body, and so no token in it; nothing is in the header Authorization."""
    request = encoded(BODY)
    assert f"T:{SECRET}" == json.loads(request.body)["head"]["ticket"]
    assert SECRET == dict(request.headers)["X-Ticket"]
    shown = encoded(BODY, "show", arguments={"number": "1", "product": "instant"})
    assert (b"", SECRET) == (shown.body, dict(shown.headers)["X-Ticket"])
    assert encoded(QUERY).url.endswith(f"api-version=7&ticket={SECRET}")
    assert all("Authorization" not in dict(each.headers) for each in (request, shown))


@pytest.mark.parametrize("malformed", [Malformed.WRONG_TYPES, Malformed.DEEP, Malformed.HUGE])
def test_a_malformed_body_keeps_its_token(malformed):
    """A refusal must be for what is malformed, and not for the lack of a token."""
    body = json.loads(encoded(BODY, malformed=malformed).body)
    assert f"T:{SECRET}" == body["head"]["ticket"]
    assert body.keys() > {"head"}


def test_a_link_is_followed_with_the_token():
    """A token in the query of the link itself is replaced, and one in a body is added."""
    link = "https://kestrel.example/entries?page=2&ticket=old"
    followed = encoded(QUERY, "show", follow=link)
    assert f"https://kestrel.example/entries?page=2&ticket={SECRET}" == followed.url
    request = encoded(BODY, "pay", follow=link)
    assert {"head": {"ticket": f"T:{SECRET}"}} == json.loads(request.body)


def test_no_token_and_an_invented_one():
    """Both differ from the call's own in every place."""
    without = encoded(BODY, bearer=Token.NONE)
    assert ("head" in json.loads(without.body), "X-Ticket" in dict(without.headers)) == (
        False,
        False,
    )
    invented = encoded(BODY, bearer=Token.INVENTED)
    assert "T:0000-0000-00-000000" == json.loads(invented.body)["head"]["ticket"]


def test_the_token_is_written_nowhere(tmp_path):
    """A bank that repeats it under other names does not get it into a journal."""
    tokens = set()

    class Echoing(OSPREY):
        echoed = repeating_token

        def new_customer(self, call, world):
            made = super().new_customer(call, world)
            token = made["token"] = f"{SECRET}-{made['token']}"
            self.let_in(token, world=world, customer=world.customers[-1])
            world.customers[-1].token = token
            tokens.add(token)
            return made

    path = tmp_path / "journal.jsonl"
    assert {Standing.CONFORMS} == set(run(Echoing(), BODY, path.open("w")).values())
    text = path.read_text("utf-8")
    assert (True, []) == (len(tokens) > 1, [token for token in tokens if token in text])
    assert (True, False) == ("<token-1>" in text, SECRET in text)


def test_a_recording_is_read_by_its_tokens(tmp_path):
    """Callers are distinguished by the token in the body, which no report has."""

    def call(second, token, body, answer, status=200):
        at = f"2026-09-16T20:00:{second:02d}.000Z"
        url = "https://kestrel.example/accounts/search?api-version=7"
        body = body if token is None else {**body, "head": {"ticket": f"T:{token}"}}
        ticket = {} if token is None else {"X-Ticket": token}
        return entry(at, "POST", url, status, answer, token="", sent=body, headers=ticket)

    asked = {"type": "LIST", "until": "2026-09-17T00:00:00Z", "trace": "1"}
    account = {"ids": [{"scheme": "IBAN", "value": "IT60X0542811101000000123456"}], "active": "yes"}
    shown = {"items": [account], "page": {}}
    entries = [call(0, SECRET, asked, shown), call(1, None, asked, {}, 401)]
    har, contract, target = tmp_path / "t.har", tmp_path / "kestrel.yaml", tmp_path / "t.yaml"
    write(har, entries)
    contract.write_text(CONTRACT)
    target.write_text(target_text(BODY))
    command = ["judge", har, "-c", contract, "--target", target, "--out", tmp_path / "out"]
    result = CliRunner().invoke(group, [*map(str, command)])
    report = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    violated = {each["id"] for each in report["obligations"] if each["verdict"] == "violates"}
    assert {"kestrel/accounts.active/account"} == violated, result.output
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert written
    assert not any(SECRET in path.read_text("utf-8") for path in written)


def exported(places):
    """Return the OpenAPI document, which is valid."""
    contracts, target = bound(places)
    made = document(contracts, target)
    OpenAPIV31SpecValidator(made).validate()
    return made


def test_the_document_has_each_place():
    """A header and a parameter are security schemes; in a body the token is a required member."""
    made = exported(BODY)
    scheme = made["components"]["securitySchemes"]["customer"]
    assert ("apiKey", "header", "X-Ticket") == (scheme["type"], scheme["in"], scheme["name"])
    asked = made["paths"]["/accounts/search"]["post"]
    assert [{"customer": []}] == asked["security"]
    head = asked["requestBody"]["content"]["application/json"]["schema"]["properties"]["head"]
    assert (["ticket"], True) == (head["required"], head["properties"]["ticket"]["writeOnly"])
    scheme = exported(QUERY)["components"]["securitySchemes"]["customer"]
    assert ("query", "ticket") == (scheme["in"], scheme["name"])


def test_a_token_only_in_the_body_is_no_scheme():
    """A requirement without a scheme would say that no token is needed."""
    contract = parse_document(loads(CONTRACT))
    target = read_document(loads(target_text("token_in: {body: /token}")))
    posted = replace(
        target,
        operations={**target.operations, "show": replace(target.operations["show"], method="POST")},
    )
    made = document(bind([contract], posted), posted)
    assert "securitySchemes" not in made["components"]
    assert all("security" not in each for item in made["paths"].values() for each in item.values())


@for_each(
    ("auth", "says"),
    [
        ("{kind: none, token_in: {query: t}}", "auth.token_in: `kind: none` sends no token"),
        ("{kind: key, header: X-K, token_in: {query: t}}", "auth.token_in: header is set as well"),
        ("{kind: bearer, token_in: {body: /t}}", "GET requests of show have no body"),
        ("{kind: bearer, token_in: {body: t}}", "expected a JSON pointer into the body"),
        ('{kind: bearer, token_in: {query: t, text: "x"}}', "expected a text in one line with {}"),
        (
            "{kind: bearer, token_in: {query: t, header: X}}",
            "exactly one of header, query and body",
        ),
        ("{kind: key}", "header"),
    ],
)
def test_a_wrong_place_is_an_error(auth, says):
    """It has the line of `auth`."""
    text = target_text(QUERY).replace(f"{{kind: bearer, {QUERY}}}", auth)
    with pytest.raises(InputError) as raised:
        bind([parse_document(loads(CONTRACT))], read_document(loads(text)))
    (problem,) = raised.value.problems
    assert (7, True) == (problem.line, says in f"{problem.what} {problem.hint}"), problem


def jwt(signature):
    """Return a signed token of one claim."""
    claims = base64.urlsafe_b64encode(b'{"sub":"ada"}').decode().rstrip("=")
    return f"eyJhbGciOiJIUzI1NiJ9.{claims}.{signature}"


@for_each("size", [31, 32, 33, 64])
@for_each("last", [0, 4, 15, 16, 255])
def test_another_ending_is_another_signature(size, last):
    """The last character of a signature may have unused bits, so the bytes must differ, too."""
    signature = base64.urlsafe_b64encode(bytes(size - 1) + bytes([last])).decode().rstrip("=")
    changed = forged(jwt(signature), Token.ENDING)
    head, claims, other = changed.split(".")

    assert jwt(signature) == f"{head}.{claims}.{signature}"
    pad = "=" * (-len(other) % 4)
    assert base64.urlsafe_b64decode(signature + pad) != base64.urlsafe_b64decode(other + pad)


def test_another_claim_has_the_old_signature():
    """A bank that reads claims and verifies nothing finds all that it needs."""
    head, claims, signature = forged(jwt("c2ln"), Token.CONTENT).split(".")

    assert ("eyJhbGciOiJIUzI1NiJ9", "c2ln") == (head, signature)
    assert {"sub": "ada", "changed": True} == json.loads(
        base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4))
    )


@pytest.mark.parametrize(
    ("token", "ending", "content"),
    [
        ("token-1234", "token-1200", "toke0-1234"),
        ("00", "11", "01"),
        ("x", "0", "0"),
        ("a.b.c", "a.0.0", "a.0.c"),
        ("YWJjZA==", "YWJj00==", "YWJ0ZA=="),
    ],
)
def test_an_opaque_token_is_altered_where_nothing_pads_it(token, ending, content):
    """Padding and separators stay; each altered token differs from the one that was issued."""
    assert (ending, content) == (forged(token, Token.ENDING), forged(token, Token.CONTENT))
    assert token == forged(token, None)
