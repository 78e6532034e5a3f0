"""The document of the control API: valid, and what the sandbox answers and Assay sends, no more."""

import io
import json
import re
from collections.abc import Mapping
from datetime import date, datetime
from functools import cache

import httpx
import pytest
import yaml
from command_line import assay
from jsonschema import Draft202012Validator, FormatChecker
from openapi_spec_validator import OpenAPIV31SpecValidator

from assay._resources import control_api, shipped_contracts
from assay.onboarding.doctor.fixtures import CAPABILITIES
from assay.sandbox.app import make_app
from assay.sandbox.control import CAPABILITIES as OF_THE_SANDBOX
from assay.sandbox.control import PREFIX
from assay.sandbox.guard import guarded
from assay.sandbox.serve import serving

pytestmark = pytest.mark.slow

DOCUMENT = yaml.safe_load(control_api().read_text("utf-8"))
#: What people send by hand; a run leaves it out. And what only another bank needs.
NOT_SENT_BY_RUNS = {"createWorld now", "registerCreditor registered/hours_ago"}
NOT_READ_BY_THE_SANDBOX = {"createWorld bank"}
FORMATS = FormatChecker(())
PAYMENT = {
    "paymentType": "immediate",
    "creditorAccount": "FR7630006000011234567890189",
    "amount": "12.30",
    "currency": "EUR",
    "chargeBearer": "SLEV",
    "categoryPurpose": "DVPM",
    "successfulReportUrl": "https://tpp.example/yes",
}


@FORMATS.checks("date-time", raises=ValueError)
def is_moment(text):
    """Whether a text is a time with an offset."""
    return not isinstance(text, str) or datetime.fromisoformat(text).tzinfo is not None


@FORMATS.checks("date", raises=ValueError)
def is_day(text):
    """Whether a text is a day."""
    return not isinstance(text, str) or bool(date.fromisoformat(text))


@cache
def operations():
    """Return each operation with its method and the pattern of its path."""
    return [
        (method.upper(), re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), operation)
        for path, item in DOCUMENT["paths"].items()
        for method, operation in item.items()
        if method != "parameters"
    ]


def operation_of(method, path):
    """Return the one operation that a call is for."""
    (found,) = [
        operation
        for known, pattern, operation in operations()
        if known == method and pattern.fullmatch(path)
    ]
    return found


def resolved(node):
    """Follow a reference, and keep what stands beside it."""
    while "$ref" in node:
        aim = DOCUMENT
        for step in node["$ref"].removeprefix("#/").split("/"):
            aim = aim[step]
        node = {**aim, **{name: value for name, value in node.items() if name != "$ref"}}
    return node


def members(schema, value=None, path=""):
    """Yield the path of each documented member; of `value`, only those that it has.

    Names that are free, those of states for example, are `*`.
    """
    schema = resolved(schema)
    for each in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
        yield from members(each, value, path)
    known = schema.get("properties", {})
    if known:
        for name in known if value is None else value if isinstance(value, Mapping) else ():
            inner = None if value is None else value[name]
            yield f"{path}/{name}".removeprefix("/")
            yield from members(known.get(name, {}), inner, f"{path}/{name}")
    if "items" in schema:
        for item in [None] if value is None else value if isinstance(value, list) else ():
            yield from members(schema["items"], item, path)


def body_schema(node):
    """Return the schema of a request or of a response; None without a body."""
    content = resolved(node).get("content")
    return content and content["application/json"]["schema"]


def faults(schema, value):
    """Return what is wrong with a body by its schema."""
    whole = {**resolved(schema), "components": DOCUMENT["components"]}
    found = Draft202012Validator(whole, format_checker=FORMATS).iter_errors(value)
    return [error.message for error in found]


class Recorder:
    """An application that keeps the calls of its control API, and the answers."""

    def __init__(self, app):
        self.app, self.calls = app, []

    def __call__(self, environ, start_response):
        path, lines = environ["PATH_INFO"], []
        if not path.startswith(PREFIX):
            return self.app(environ, start_response)
        sent = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ = {**environ, "wsgi.input": io.BytesIO(sent)}
        body = b"".join(self.app(environ, lambda *line: lines.append(line[:2])))
        status = lines[0][0][:3]
        self.calls.append((environ["REQUEST_METHOD"], path[len(PREFIX) :], sent, status, body))
        start_response(*lines[0])
        return [body]


TARGET = """\
assay: 1
target: recorded
extends: sandbox
transport: http
base_url: {url}
hosts: null
"""
BY_CONTROL = "sca: {kind: control, screens: null}\n"
#: Runs that need, together, all that the control API can do: what is selected, in which contexts,
#: and what the target file has besides.
RUNS = {
    "base": ("batch-quota or cash or eligible-accounts or payment-types or segments", "base", ""),
    "each": ("psu-identity or payments.read", "each", ""),
    "control": ("cancel", "base", BY_CONTROL),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Return the control calls of runs at the served sandbox."""
    folder, recorder = tmp_path_factory.mktemp("recorded"), Recorder(make_app())
    with serving(recorder) as url:
        for name, (selected, contexts, more) in RUNS.items():
            file = folder / f"{name}.yaml"
            file.write_text(TARGET.format(url=url) + more, "utf-8")
            options = ("-k", selected, "--contexts", contexts, "--out", folder / name)
            ran = assay("run", "--target", file, *options, cwd=folder)
            assert ran[0] in {0, 3}, ran
    return recorder.calls


def called(app, method, path, body=None, **environ):
    """Call a control API by hand."""
    sent = b"" if body is None else json.dumps(body).encode()
    app(
        {
            "REQUEST_METHOD": method,
            "PATH_INFO": PREFIX + path,
            "CONTENT_LENGTH": str(len(sent)),
            "wsgi.input": io.BytesIO(sent),
            **environ,
        },
        lambda *_: None,
    )
    return json.loads(app.calls[-1][4] or b"null")


@pytest.fixture(scope="module")
def by_hand():
    """Return the control calls that no run makes: those of people, and each kind of refusal."""
    recorder = Recorder(guarded(make_app(), oauth=True))
    called(recorder, "GET", "/")
    called(recorder, "GET", "/", HTTP_ORIGIN="https://page.example")
    world = called(recorder, "POST", "/worlds", {"now": "2026-09-16T10:00:00+02:00"})["world"]
    called(recorder, "POST", f"/worlds/{world}/tpps")
    owner = called(recorder, "POST", f"/worlds/{world}/customers", {"holdings": []})["customer"]
    ago = {"registered": {"hours_ago": 73}}
    called(recorder, "POST", f"/worlds/{world}/customers/{owner}/creditors", ago)
    called(recorder, "POST", "/worlds", {"seed": "x"})
    called(recorder, "DELETE", "/worlds/demo")
    for method, path, operation in operations():
        if "404" in operation["responses"] and operation["operationId"] != "describe":
            called(recorder, method, path.pattern.replace("[^/]+", "none"), {})
    here = f"/worlds/{world}"
    called(recorder, "POST", f"{here}/clock", {"to": "2020-01-01T00:00:00Z"})
    for what in ("clock", "customers", f"customers/{owner}/creditors"):
        called(recorder, "POST", f"{here}/{what}", {"holdings": 1})
    return [*recorder.calls, *refused_payments()]


def refused_payments():
    """Return calls about a payment: two signatures and a cancellation that are refused."""
    recorder = Recorder(make_app())
    account = {"holdings": [{"resource": "account", "entries": []}]}
    mine, other = (called(recorder, "POST", "/worlds/demo/customers", account) for _ in range(2))
    with httpx.Client(transport=httpx.WSGITransport(app=recorder), base_url="http://a") as bank:
        debtor = {**PAYMENT, "debtorAccount": mine["holdings"][0]["key"]}
        headers = {"Authorization": "Bearer demo-tpp"}
        made = bank.post("/payment-requests", json=debtor, headers=headers).json()
    at = f"/worlds/demo/payments/{made['paymentRequestResourceId']}"
    signature = {"customer": other["customer"], "factor": "sms", "decision": "confirm"}
    called(recorder, "POST", f"{at}/sign", {**signature, "decision": "maybe"})
    called(recorder, "POST", f"{at}/sign", signature)
    called(recorder, "POST", f"{at}/sign", {**signature, "customer": mine["customer"]})
    called(recorder, "POST", f"{at}/cancel")
    return recorder.calls


def test_it_is_openapi():
    """The document is valid, and so are its examples."""
    assert [] == [str(each) for each in OpenAPIV31SpecValidator(DOCUMENT).iter_errors()]
    for _, _, operation in operations():
        bodies = [operation.get("requestBody", {}), *operation["responses"].values()]
        for content in (resolved(each).get("content", {}) for each in bodies):
            for media in content.values():
                assert [] == faults(media["schema"], media.get("example", {})) or not media.get(
                    "example"
                )


def test_it_is_no_contract():
    """It stands beside the contracts, and is not taken for one."""
    assert control_api().parent == shipped_contracts()[0].parent
    assert ["aisp", "pis"] == [path.stem for path in shipped_contracts()]


def test_its_capabilities_are_those_of_both_sides():
    """The sandbox and the doctor know the capabilities of the document, and no others."""
    named = {each["const"] for each in DOCUMENT["components"]["schemas"]["Capability"]["oneOf"]}
    assert named == {*OF_THE_SANDBOX, "clients"}
    assert named == {*CAPABILITIES.values(), "sign", "clients"}


def test_every_call_is_documented(runs, by_hand):
    """Each request and each answer has an operation and a status, and fits their schemas."""
    for method, path, sent, status, body in (*runs, *by_hand):
        operation = operation_of(method, path)
        answer = body_schema(operation["responses"][status])
        assert (answer is None) is (not body)
        assert not body or [] == faults(answer, json.loads(body)), (path, body)
        if sent and status < "4":
            assert [] == faults(body_schema(operation["requestBody"]), json.loads(sent)), path


def named(calls, at):
    """Return the members that requests (2) or answers (4) have, each with its operation."""
    found = set()
    for call in calls:
        operation = operation_of(*call[:2])
        node = operation["requestBody"] if at == 2 else operation["responses"][call[3]]
        found |= {
            f"{operation['operationId']} {each}"
            for each in members(body_schema(node), json.loads(call[at]))
        }
    return found


def documented(side):
    """Return the members of all requests, or of all answers, that the document has."""
    return {
        f"{operation['operationId']} {member}"
        for _, _, operation in operations()
        for node in (
            [operation["requestBody"]] if side == "requests" and "requestBody" in operation
            else operation["responses"].values() if side == "answers" else ()
        )
        if body_schema(node)
        for member in members(body_schema(node))
    }  # fmt: skip


def test_runs_call_every_operation(runs):
    """Each operation is one that Assay calls."""
    called = {operation_of(*call[:2])["operationId"] for call in runs}
    assert called == {operation["operationId"] for _, _, operation in operations()}


def test_what_is_sent_is_documented_and_the_other_way_round(runs, by_hand):
    """Every member of a request is one that Assay sends, or one for people."""
    sent = named([call for call in runs if call[2]], 2)
    assert documented("requests") - NOT_SENT_BY_RUNS - NOT_READ_BY_THE_SANDBOX == sent
    further = named([call for call in by_hand if call[2] and call[3] < "4"], 2)
    assert documented("requests") - NOT_READ_BY_THE_SANDBOX == sent | further


def test_what_is_answered_is_documented_and_the_other_way_round(runs, by_hand):
    """Every member of an answer, and every status, is one that the sandbox has answered."""
    answered = [call for call in (*runs, *by_hand) if call[4]]
    assert documented("answers") == named(answered, 4)
    seen = {(operation_of(*call[:2])["operationId"], call[3]) for call in (*runs, *by_hand)}
    assert seen == {
        (operation["operationId"], status)
        for _, _, operation in operations()
        for status in operation["responses"]
    }
