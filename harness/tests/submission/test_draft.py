"""A draft from a document in which a consent precedes a payment names both calls."""

import json

import pytest
from click.testing import CliRunner

from assay.cli.main import group


def body(*names):
    """Return the schema of an object whose members are required texts."""
    members = {name: {"type": "string"} for name in names}
    return {"type": "object", "required": list(names), "properties": members}


def post(sent, answered):
    """Return an operation that makes something."""
    return {
        "post": {
            "requestBody": {"content": {"application/json": {"schema": sent}}},
            "responses": {
                "201": {
                    "description": "made",
                    "content": {"application/json": {"schema": answered}},
                }
            },
        }
    }


PAID = ("amount", "currency", "creditorAccount", "debtorAccount")


@pytest.mark.parametrize(
    ("consent", "named"), [(PAID, True), (("amount", "purpose", "consentId"), False)]
)
def test_the_comment_names_both_calls(consent, named, tmp_path):
    """The id that a payment requires is that of the call with the same body, and of no other."""
    paths = {
        "/payments": post(body(*PAID, "consentId"), body(*PAID, "paymentId", "status")),
        "/payment-consents": post(body(*consent), body(*consent, "consentId", "status")),
    }
    document, out = tmp_path / "bank.json", tmp_path / "bank.yaml"
    info = {"title": "Bank", "version": "1"}
    document.write_text(json.dumps({"openapi": "3.0.0", "info": info, "paths": paths}))
    asked = ["init", "--yes", "--contract", "pis", "--openapi", str(document), "--out", str(out)]
    result = CliRunner().invoke(group, [*asked, "--base-url", "https://bank.example"])
    assert out.exists(), result.output
    written = [line for line in out.read_text().splitlines() if "submission:" in line]
    assert named is any("TODO: POST /payments requires consentId" in line for line in written)
    example = 'submission: {path: /payments, template: {consentId: "{consent-id}"}}'
    assert named is any(example in line for line in written), out.read_text()
