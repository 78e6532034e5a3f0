"""The shapes: every error in its line and in our words, all of them at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from rows import for_each

from assay._resources import contract_dir
from assay.contract.model import Capability
from assay.errors import InputError
from assay.files.document import spell
from assay.files.load import load, loads
from assay.files.shape_check import check, found
from assay.parsing.parse import parse_document, shape_problems
from assay.rules.formats import FORMATS
from assay.rules.kinds import KINDS, published_schema

FOLDER = contract_dir() / "schema"
SCHEMAS = sorted(FOLDER.rglob("*.yaml"))

CONTRACT = """\
assay: 1
contract: loans
title: Library loans
version: "2"
interface: loans
document: Library Guide
zone: unspecified
resources:
  loan: {says: a book on loan, key: number, fields: [number]}
operations:
  loans: {method: GET, path: /loans, lists: [loan]}
rules:
  - id: loans.quota
    kind: quota
    says: Four a day.
    source: {section: Limits, line: 4}
    operations: [loans]
    limit: 4
    per: calendar-day
    refused-calls: unspecified
    page-turns: unspecified
"""

TARGET = """\
assay: 1
target: library
transport: http
base_url: https://library.example
"""


def errors(text: str, name: str = "contract") -> list[str]:
    """List the errors of a text as lines."""
    document = loads(text, "f.yaml")
    found = shape_problems(document) if name == "contract" else check(document, name)
    return [str(one) for one in found]


def changed(old: str, new: str) -> list[str]:
    """List the errors of the contract above with one thing changed."""
    assert old in CONTRACT
    return errors(CONTRACT.replace(old, new, 1))


def test_the_right_shape_has_no_errors() -> None:
    """The examples that the other tests break are right to begin with."""
    assert errors(CONTRACT) == []
    assert errors(TARGET, "target") == []


@for_each(
    ("old", "new", "said"),
    [
        ("/loans, lists", "/loans, by: provider, lists", "f.yaml:11: operations.loans.by: expected tpp, found 'provider' (remove the key for calls in the name of a customer)"),
        ("limit: 4", "limit: four", "f.yaml:18: rules[0].limit: expected a whole number of at least 1, found 'four'"),
        ("limit: 4", "limit: 0", "f.yaml:18: rules[0].limit: expected a whole number of at least 1, found 0"),
        ("limit: 4", "limit: 4.5", "f.yaml:18: rules[0].limit: expected a whole number of at least 1, found 4.5"),
        ("limit: 4", "limit: true", "f.yaml:18: rules[0].limit: expected a whole number of at least 1, found true"),
        ("limit: 4", "limit:", "f.yaml:18: rules[0].limit: expected a whole number of at least 1, found nothing"),
        ("limit: 4", "limit: 100001", "f.yaml:18: rules[0].limit: expected at most 100000, found 100001"),
        ("    limit: 4\n", "", "f.yaml:13: rules[0]: 'limit' is missing (expected a whole number of at least 1)"),
        ("limit: 4", "limit: 4\n    limmit: 4", "f.yaml:19: rules[0].limmit: unknown key 'limmit' (did you mean 'limit'?)"),
        ("calendar-day", "calender-day", "f.yaml:19: rules[0].per: expected calendar-day, clock-hour, rolling-hour, hour or minute, found 'calender-day' (did you mean 'calendar-day'?)"),
        ("page-turns: unspecified", "page-turns: maybe", "f.yaml:21: rules[0].page-turns: expected counted, free or unspecified, found 'maybe' (does the document, or the bank, say whether these calls count?)"),
        ("kind: quota", "kind: qouta", "f.yaml:14: rules[0].kind: there is no rule kind 'qouta' (did you mean 'quota'?)"),
        ("kind: quota", "kind: ../quota", "f.yaml:14: rules[0].kind: there is no rule kind '../quota' (did you mean 'quota'?)"),
        ("kind: quota", "kind: [quota]", "f.yaml:14: rules[0].kind: expected the name of a rule kind, found a list"),
        ('version: "2"', "version: 2", 'f.yaml:4: version: expected a version in quotes, found 2 (for example "1.0")'),
        ("assay: 1", "assay: 2", "f.yaml:1: assay: expected the version of this language, 1, found 2"),
        ("operations: [loans]", "operations: []", "f.yaml:17: rules[0].operations: expected a list of at least one operation, found an empty list"),
        ("operations: [loans]", "operations: loans", "f.yaml:17: rules[0].operations: expected a list of at least one operation, found 'loans'"),
        ("operations: [loans]", "operations: [loans, loans]", "f.yaml:17: rules[0].operations[1]: duplicate item 'loans' (remove one)"),
        ("id: loans.quota", "id: Loans Quota", "f.yaml:13: rules[0].id: expected a name of small letters, digits, dots and hyphens, found 'Loans Quota' (for example batch-quota)"),
        ("id: loans.quota", 'id: "loans\\n"', "f.yaml:13: rules[0].id: expected a name of small letters, digits, dots and hyphens, found 'loans\\n' (for example batch-quota)"),
        ("says: Four a day.", "says: ''", "f.yaml:15: rules[0].says: expected a sentence, found an empty text"),
        ("says: Four a day.", "says: 4", 'f.yaml:15: rules[0].says: expected a sentence, found 4 (write it in quotes: "4")'),
        ("says: Four a day.", f"says: {'x' * 401}", "f.yaml:15: rules[0].says: expected at most 400 characters, found 401 (shorten it)"),
        ("line: 4}", "lime: 4}", "f.yaml:16: rules[0].source.lime: unknown key 'lime' (did you mean 'line'?)"),
        ("{section: Limits, line: 4}", "[]", "f.yaml:16: rules[0].source: expected where the document says so, one place or a list of places, found an empty list (for example {section: Limits, line: 116, text: Up to 4 per calendar day})"),
        ("  loans: {method", "  Loans: {method", "f.yaml:11: operations.Loans: expected a name of small letters, digits, dots and hyphens as the key, found 'Loans' (for example batch-quota)"),
        ("says: Four a day.", "says: {Four, or more}", "f.yaml:15: rules[0].says: expected a sentence, found a mapping"),
        ("line: 4}", "line: 4, text: Four, or more}", "f.yaml:16: rules[0].source.or more: unknown key 'or more' (if it belongs to the text before it, quote that text: in braces, a comma ends it)"),
        ("path: /loans", "path: loans", "f.yaml:11: operations.loans.path: expected a path that begins with /, found 'loans' (for example /accounts)"),
        ("method: GET", "method: get", "f.yaml:11: operations.loans.method: expected a method: GET, POST, PUT, PATCH or DELETE, found 'get'"),
    ],
)  # fmt: skip
def test_wording(old: str, new: str, said: str) -> None:
    """Each keyword has its own words: where, what was expected, what was found, a hint."""
    assert said in changed(old, new)


def test_one_mistake_is_one_error() -> None:
    """A rule of a kind is compared with that kind alone, so there is no noise."""
    assert len(changed("limit: 4", "limit: four")) == 1
    assert len(changed("kind: quota", "kind: qouta")) == 1
    assert len(changed("limit: 4", "limitt: 4\n    limit: 4")) == 1


def test_all_errors_come_at_once_in_the_order_of_their_lines() -> None:
    """Nothing hides behind the first error."""
    text = CONTRACT.replace("assay: 1", "assay: one").replace("limit: 4", "limit: four")
    text = text.replace("calendar-day", "day").replace("/loans", "loans") + "colour: red\n"
    lines = [one.line for one in shape_problems(loads(text))]
    assert lines == [1, 11, 18, 19, 22]


def test_some_of_several() -> None:
    """A field rule says one sort of value, or that there is one, and not two sorts."""
    rule = CONTRACT[: CONTRACT.index("    kind: quota")]
    rule += "    kind: field\n    says: x\n    source: {section: x, line: 1}\n    field: a\n    resources: [loan]\n"
    expected = (
        "f.yaml:13: rules[0]: expected at least one of const, enum, format, pattern and mandatory"
    )
    assert [f"{expected}, found none of them"] == errors(rule)
    assert errors(rule + "    const: 1\n") == errors(rule + "    mandatory: true\n") == []
    both = rule.replace("fields: [number]", "fields: [number, a]") + "    const: 1\n    enum: [a]\n"
    with pytest.raises(InputError) as raised:
        parse_document(loads(both, "f.yaml"))
    message = "f.yaml:20: rules[0].enum: `enum` beside `const` (say one of them)"
    assert [message] == [str(each) for each in raised.value.problems]


@for_each("key", ["token", "password", "client_secret", "api-key"])
def test_a_secret_is_refused_and_not_repeated(key: str) -> None:
    """A literal secret is pointed at, without its value, with the way to name it."""
    (said,) = errors(f"{TARGET}auth:\n  kind: bearer\n  {key}: hunter2\n", "target")
    assert said.startswith(f"f.yaml:7: auth.{key}: a file must not contain a secret")
    assert f"`{'client_secret' if key == 'client_secret' else 'token'}_env: BANK_TOKEN`" in said


def test_a_secret_in_the_place_of_its_name_is_not_repeated() -> None:
    """What is no name of a variable may be the secret itself."""
    (said,) = errors(f"{TARGET}auth: {{kind: bearer, token_env: hunter2-abc}}\n", "target")
    assert "hunter2" not in said
    assert "the name of an environment variable, such as BANK_TOKEN" in said


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_has_a_schema(kind: str, generated) -> None:
    """The published schema of a kind is the one that its class declares, and no more are there."""
    generated(FOLDER / "rules" / f"{kind}.yaml", published_schema(KINDS[kind]))
    assert set(KINDS) == {one.stem for one in (FOLDER / "rules").glob("*.yaml")}


def test_words_that_stand_in_two_places_agree() -> None:
    """Formats and capabilities are the same in the schema as in the code."""
    field: Any = load(FOLDER / "rules" / "field.yaml").data
    target: Any = load(FOLDER / "target.yaml").data
    formats = field["properties"]["format"]["additionalProperties"]["enum"]
    offers = target["$defs"]["fixtures"]["properties"]["offers"]["items"]["enum"]
    assert set(FORMATS) == set(formats)
    assert {one.value for one in Capability} == set(offers)


@for_each("path", SCHEMAS)
def test_schemas_are_schemas(path: Path) -> None:
    """Each file is valid JSON Schema 2020-12."""
    Draft202012Validator.check_schema(plain(load(path).data))


@for_each("path", SCHEMAS)
def test_references_lead_somewhere(path: Path) -> None:
    """A reference names a file that is there, and something in it."""
    for reference in references(load(path).data):
        file, _, name = reference.partition("#/$defs/")
        aim = (path.parent / file).resolve() if file else path
        assert FOLDER.resolve() in aim.resolve().parents
        definitions: Any = load(aim).data["$defs"]
        assert name in definitions


@for_each("path", SCHEMAS)
def test_values_are_described(path: Path) -> None:
    """Whatever can be wrong has a noun phrase for its error."""
    for where, schema in leaves(load(path).data):
        assert schema.get("description"), where


def plain(value: Any) -> Any:
    """Turn exact numbers into those that JSON Schema's own check knows."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list) else value


def references(value: Any) -> Iterator[str]:
    """Find every reference in a schema."""
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for part in value.values():
            yield from references(part)
    elif isinstance(value, list):
        for part in value:
            yield from references(part)


def leaves(value: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """Find the schemas that ask for a type or for words, but for a file's outermost."""
    if isinstance(value, dict):
        if where and ("enum" in value or isinstance(value.get("type"), str | list)):
            below = where.rpartition(".")[2] not in {"if", "properties"}
            if below and "$ref" not in value:
                yield where, value
        for key, one in value.items():
            yield from leaves(one, f"{where}.{key}")


def test_small_words() -> None:
    """Places and values are named the way a reader would."""
    assert spell(("rules", 3, "limit")) == "rules[3].limit"
    assert found({}) == "an empty mapping"
    assert found("x" * 50) == "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'… (50 characters)"
