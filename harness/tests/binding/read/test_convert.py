"""From the data of a target file to values: each key of the schema is a field of a class."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from rows import for_each

from assay._resources import contract_dir
from assay.binding.model.security import Auth, Budget, OAuth, Safety, Signature, Tls
from assay.binding.model.spelling import CredentialSpelling, Matcher, OperationBinding, ResourceAt
from assay.binding.model.target import Fixtures, Role, RoleHolding, Sca, Target, Waiver
from assay.files.load import load, loads
from assay.history import Entry
from assay.preparation.target_file import read_document

SMALLEST = "assay: 1\ntarget: bank\ntransport: http\nbase_url: https://bank.example\n"


def target(text: str = "") -> Target:
    return read_document(loads(SMALLEST + text, Path("t.yaml")))


def properties(*way: str) -> set[str]:
    """Return the keys that the schema allows at a place."""
    here: Any = load(contract_dir() / "schema/target.yaml").data
    for step in way:
        here = here[step]
    return set(here["properties"])


#: Fields that a key of another name has in one of its forms: `{header: …}`, `{authorize: …}`, `optional`.
SHAPED = {
    OperationBinding: {
        "optional_list",
        "optional_links",
        "link_headers",
        "approval_header",
        "authorize",
        "named",
    }
}


@for_each(
    ("kind", "way"),
    [
        (Budget, ("properties", "budget")),
        (Safety, ("properties", "safety")),
        (Tls, ("properties", "tls")),
        (Signature, ("properties", "signature")),
        (Fixtures, ("$defs", "fixtures")),
        (Role, ("$defs", "role")),
        (RoleHolding, ("$defs", "holding")),
        (Entry, ("$defs", "holding", "properties", "entries", "items")),
        (Sca, ("$defs", "sca")),
        (OperationBinding, ("$defs", "operation")),
        (CredentialSpelling, ("$defs", "operation", "properties", "credentials")),
        (ResourceAt, ("$defs", "item", "properties", "resource")),
        (Matcher, ("$defs", "matchers", "items")),
        (Waiver, ("$defs", "waiver")),
    ],
)
def test_every_key_is_a_field(kind, way):
    """What the schema allows has a field of the same name, and nothing else but its place has."""
    shaped = SHAPED.get(kind, set())
    assert properties(*way) == {one.name for one in fields(kind)} - {"name", "line"} - shaped


def test_the_keys_of_auth_are_its_own_or_those_of_oauth():
    """What the schema allows under auth is a field of `Auth` or of `OAuth`."""
    names = {one.name for kind in (Auth, OAuth) for one in fields(kind)}
    assert properties("$defs", "auth") == names - {"oauth"}


def test_a_target_file_has_a_field_for_each_key():
    """What the schema allows at the top is a field of `Target`; three keys are for reading it."""
    names = {one.name for one in fields(Target)} - {"name", "nearby"}
    read = {"path", "digest", "lines", "document", "contract_files", "document_of_bank"}
    assert properties() - {"assay", "extends", "target"} == names - read


def test_a_single_pointer_is_a_list_of_one():
    """Where a list of pointers can stand, one pointer alone means the same."""
    single = target("operations: {accounts: {list: /a, item: {on: /b, fields: {x: /c}}}}")
    listed = target("operations: {accounts: {list: [/a], item: {on: [/b], fields: {x: [/c]}}}}")
    assert single.operations == listed.operations
    assert ("/c",) == single.operations["accounts"].item.fields["x"].at


def test_the_outcomes_of_an_operation_complete_the_common_ones():
    """An operation's own outcomes take the place of the common ones of the same name only."""
    text = (
        "outcomes: {accepted: [{statuses: [200]}], rejected: [{statuses: [403]}]}\n"
        "operations: {a: {outcomes: {rejected: [{statuses: [404]}]}}, b: {}}"
    )
    read = target(text)
    outcomes = read.operations["a"].outcomes
    assert outcomes is not None
    assert read.outcomes.accepted == outcomes.accepted
    assert (("403",), ("404",)) == (
        read.outcomes.rejected[0].statuses,
        outcomes.rejected[0].statuses,
    )
    assert read.operations["b"].outcomes is None


def test_a_file_is_relative_to_the_file_that_names_it(tmp_path):
    """A certificate that an extended file names is found beside that file."""
    (tmp_path / "base").mkdir()
    base = "tls: {ca_file: ca.pem}\nwaivers: [{obligation: a/b/c, owner: O, reason: R, expires: 2027-01-31}]\n"
    (tmp_path / "base/bank.yaml").write_text(SMALLEST + base)
    top = "assay: 1\ntarget: ours\nextends: base/bank.yaml\n"
    (tmp_path / "ours.yaml").write_text(top + "tls: {certificate_file: own.pem}\n")
    read = read_document(load(tmp_path / "ours.yaml"))
    assert read.tls == Tls(ca_file=tmp_path / "base/ca.pem", certificate_file=tmp_path / "own.pem")
    assert [3] == [one.line for one in read.waivers]
