"""The schemas for editors: each stands alone, takes what Assay takes, and marks what is wrong."""

import json
import re
from pathlib import Path

from click.testing import CliRunner
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from rows import for_each

from assay._resources import contract_dir
from assay.cli.export import schema as command
from assay.files.load import load, loads
from assay.parsing.editor_schema import EDITOR_SCHEMAS, editor_schema

TESTS = Path(__file__).parent.parent
TARGETS = [
    *sorted((contract_dir() / "targets").glob("*.yaml")),
    *(
        TESTS / name
        for name in ("onboarding/doctor/bank.yaml", "elsewhere/target.yaml", "holdout/target.yaml")
    ),
]
CONTRACTS = [
    contract_dir() / "aisp.yaml",
    contract_dir() / "pis.yaml",
    TESTS / "elsewhere/lab.yaml",
]
VALIDATORS = {
    name: Draft202012Validator(json.loads(editor_schema(name))) for name in EDITOR_SCHEMAS
}


def plain(document):
    """Return the data of a document as an editor has them."""
    return json.loads(json.dumps(document.data, default=float))


def wrong(name, data):
    """Return the message of the problem that an editor would mark."""
    problem = best_match(VALIDATORS[name].iter_errors(data))
    return problem and problem.message


@for_each("name", EDITOR_SCHEMAS)
def test_stands_alone(name):
    """Every reference leads into the document itself."""
    schema = json.loads(editor_schema(name))
    Draft202012Validator.check_schema(schema)
    references = set(re.findall(r'"\$ref": "([^"]+)"', editor_schema(name)))
    assert references <= {f"#/$defs/{definition}" for definition in schema["$defs"]}


@for_each("path", TARGETS)
def test_targets(path):
    """The shipped targets and those of other banks have no mistake."""
    assert wrong("target", plain(load(path))) is None


@for_each("path", CONTRACTS)
def test_contracts(path):
    """Contracts have no mistake."""
    assert wrong("contract", plain(load(path))) is None


EXTENDING = """
assay: 1
target: ours
extends: sandbox
hosts: null
sca: {screens: [{user: login}]}
operations: {accounts: {next: {first: 0}, item: null}, balances: null}
"""


def test_extending_file():
    """A file that extends another one may leave out or remove what that one has."""
    extending = plain(loads(EXTENDING))
    assert wrong("target", extending) is None
    alone = {key: value for key, value in extending.items() if key != "extends"}
    assert wrong("target", alone) is not None
    assert "wrong_key" in wrong("target", extending | {"wrong_key": 1})
    assert "'accountz' was unexpected" in wrong(
        "target", extending | {"operations": {"accounts": {"accountz": "/x"}}}
    )


@for_each(
    ("change", "message"),
    [
        ({"kind": "paginaton"}, "'paginaton' is not one of"),
        ({"limit": "four"}, "'four' is not of type 'integer'"),
        ({"limits": 4}, "'limits' was unexpected"),
    ],
)
def test_rules(change, message):
    """A mistake in a rule is marked, since the schema of its kind is there."""
    contract = plain(load(contract_dir() / "aisp.yaml"))
    (quota,) = (rule for rule in contract["rules"] if rule["id"] == "batch-quota")
    quota.update(change)
    assert message in wrong("contract", contract)


def test_command():
    """The command prints the document."""
    result = CliRunner().invoke(command, ["target"])
    assert result.exit_code == 0
    assert json.loads(result.output) == json.loads(editor_schema("target"))
