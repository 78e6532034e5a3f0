"""Recordings are held against the bank's own document, too; what they hide decides nothing."""

import json

import pytest
from command_line import assay
from literal_har import entry, write

ACCOUNTS = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "accounts": {"items": {"properties": {"iban": {"format": "iban", "maxLength": 27}}}}
    },
}
DOCUMENT = {
    "openapi": "3.0.3",
    "paths": {
        "/accounts": {
            "get": {"responses": {"200": {"content": {"application/json": {"schema": ACCOUNTS}}}}}
        }
    },
}
GOOD, HIDDEN = "FR7630006000011234567890189", "<account-1>"


@pytest.mark.parametrize(
    ("account", "more", "code"),
    [(GOOD, {}, 0), (HIDDEN, {}, 0), (HIDDEN, {"more": 1}, 1), ("FR7612345", {}, 1)],
    ids=["right", "hidden", "hidden beside a wrong member", "wrong"],
)
def test_a_recording(tmp_path, account, more, code):
    """`assay judge` finds a wrong member beside a hidden text, and a wrong text that is not hidden."""
    (tmp_path / "bank.json").write_text(json.dumps(DOCUMENT))
    (tmp_path / "t.yaml").write_text("assay: 1\ntarget: t\nextends: sandbox\nopenapi: bank.json\n")
    body = {"accounts": [{"kind": "account", "iban": account}], **more}
    url = "https://www.30001.live.sandbox.example/accounts"
    calls = [entry("2026-09-16T10:00:00+02:00", "GET", url, 200, body)]
    har = write(tmp_path / "calls.har", calls)
    given = ("--target", tmp_path / "t.yaml", "-k", "openapi.accounts/structure")
    found, out, err = assay("judge", har, *given, "--out", tmp_path / "o", cwd=tmp_path)
    assert code == found, (out, err)
