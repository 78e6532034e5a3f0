"""The document of the control API: valid, and what the sandbox answers and Assay sends, no more."""

import io
import json

import httpx
import pytest
from command_line import assay
from control_document import (
    DOCUMENT,
    Recorder,
    body_schema,
    faults,
    members,
    misfits,
    operation_of,
    operations,
    resolved,
)
from openapi_spec_validator import OpenAPIV31SpecValidator

from assay._resources import control_api, shipped_contracts
from assay.onboarding.doctor.fixtures import CAPABILITIES
from assay.sandbox.app import make_app
from assay.sandbox.control import CAPABILITIES as OF_THE_SANDBOX
from assay.sandbox.control import PREFIX
from assay.sandbox.guard import guarded
from assay.sandbox.serve import serving

pytestmark = pytest.mark.slow

#: The sandbox's calls name items by their keys.
NOT_SAID_BY_THE_SANDBOX = {"createCustomer holdings/id"}
#: What people send by hand; a run leaves it out. And what only another bank needs.
NOT_SENT_BY_RUNS = {"createWorld now", "registerCreditor registered/hours_ago"}
NOT_READ_BY_THE_SANDBOX = {"createWorld bank"}
PAYMENT = {
    "paymentType": "immediate",
    "creditorAccount": "FR7630006000011234567890189",
    "amount": "12.30",
    "currency": "EUR",
    "chargeBearer": "SLEV",
    "categoryPurpose": "DVPM",
    "successfulReportUrl": "https://tpp.example/yes",
}


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
    assert [] == misfits([*runs, *by_hand])


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
    assert documented("answers") - NOT_SAID_BY_THE_SANDBOX == named(answered, 4)
    seen = {(operation_of(*call[:2])["operationId"], call[3]) for call in (*runs, *by_hand)}
    assert seen == {
        (operation["operationId"], status)
        for _, _, operation in operations()
        for status in operation["responses"]
    }
