"""A mode that lists once more what a consent covers is guessed from the document of a bank."""

import json
from pathlib import Path

import pytest
import yaml

from assay._resources import contract_dir
from assay.cli.main import group

XS2A = contract_dir() / "examples" / "xs2a" / "xs2a.yaml"
BERLIN = Path(__file__).parent / "berlin.yaml"
REFERENCES = {
    "type": "array",
    "items": {"type": "object", "properties": {"iban": {"type": "string"}}},
}


def drafted(folder, name, schema):
    """Return the modes of a consent in the draft for a bank that also takes further information."""
    document = yaml.safe_load(BERLIN.read_text("utf-8"))
    (body,) = document["paths"]["/v1/consents"]["post"]["requestBody"]["content"].values()
    access = body["schema"]["properties"]["access"]["properties"]
    access.clear()
    access |= {"accounts": REFERENCES, "balances": REFERENCES}
    access["additionalInformation"] = {"type": "object", "properties": {name: schema}}
    (folder / "bank.json").write_text(json.dumps(document, default=str))
    words = ["--contract", str(XS2A), "--openapi", str(folder / "bank.json"), "--auth", "bearer"]
    out = folder / "draft.yaml"
    group.main(["init", "--yes", *words, "--out", str(out)], standalone_mode=False)
    made = yaml.safe_load(out.read_text("utf-8"))["operations"]["make-consent"]
    return made["arguments"]["access"]["body"], (made.get("modes") or {}).get("with-owner-name")


@pytest.mark.parametrize(
    ("name", "schema", "guessed"),
    [
        ("ownerName", REFERENCES, "/access/additionalInformation/ownerName"),
        ("owner", REFERENCES, "/access/additionalInformation/owner"),
        # A list of another name, and one of something else.
        ("trustedBeneficiaries", REFERENCES, None),
        ("ownerName", {"type": "array", "items": {"type": "string"}}, None),
        ("ownerName", {"type": "boolean"}, None),
    ],
)
def test_the_list_of_the_name_of_the_mode(name, schema, guessed, tmp_path):
    """It has the shape of the list of what is covered, and is no part of that."""
    places, mode = drafted(tmp_path, name, schema)
    assert ["/access/accounts", "/access/balances"] == places
    assert (guessed and {"body": guessed, "value": "{access}"}) == mode
