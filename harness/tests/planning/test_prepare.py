"""The plan of what a user named: targets, selections, and their errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from rows import for_each

from assay._resources import contract_dir
from assay.binding.model.target import TransportKind
from assay.errors import InputError
from assay.preparation.prepare import load_target, matching, prepare, selector


def test_the_shipped_run() -> None:
    """Without arguments, the shipped contracts are planned on the embedded sandbox."""
    prepared = prepare()
    assert (["aisp", "pis"], "sandbox") == (
        [one.contract.id for one in prepared.bound],
        prepared.target.name,
    )
    assert ("", TransportKind.EMBEDDED) == (prepared.reproduce, prepared.target.transport)


@for_each("url", ["http://127.0.0.1:8080", "https://sandbox.example/v1/"])
def test_a_url(url: str) -> None:
    """A URL is a served sandbox, reached over HTTP."""
    target = load_target(url)
    assert (TransportKind.HTTP, url.rstrip("/")) == (target.transport, target.base_url)


@for_each(
    ("target", "says"),
    [
        ("http://user:secret@bank.example", "the URL contains credentials"),
        ("http://bank.example/?key=secret", "query"),
        ("http://", "expected an http or https URL"),
        ("sandbo", "sandbox"),
        ("no/such/file.yaml", "no/such/file.yaml"),
    ],
)
def test_an_unusable_target(target: str, says: str) -> None:
    """A target that cannot be used is one clear error, without its secrets."""
    with pytest.raises(InputError, match=says) as caught:
        load_target(target)
    assert "secret" not in str(caught.value)


@for_each(
    ("keywords", "marks", "ids"),
    [
        ("psu-identity", "", {"disclosed-after", "withheld-before", "own-value"}),
        ("PSU-Identity and after", "", {"disclosed-after"}),
        ("", "disclosed_when", {"disclosed-after", "withheld-before", "own-value"}),
        ("not withheld", "disclosed_when and must", {"disclosed-after", "own-value"}),
    ],
)
def test_selections(keywords: str, marks: str, ids: set[str]) -> None:
    """-k and -m mean the same as in pytest, for ids and for kinds, contracts and levels."""
    items = prepare(keywords=keywords, marks=marks).plan.items
    assert ids == {one.obligation.facet for one in items}


def test_no_selection() -> None:
    """Without expressions everything is selected."""
    assert selector()(prepare().plan.items[0].obligation) is True
    assert matching("-k", "")("anything") is True


@for_each("text", ["a and", "(a", "a b", "or", "a == 1"])
def test_an_unreadable_expression(text: str) -> None:
    """An expression that pytest cannot read is an error of the option."""
    with pytest.raises(InputError, match="-k: cannot read the expression") as caught:
        prepare(keywords=text)
    assert "join words with and, or, not" in str(caught.value)
    with pytest.raises(InputError, match="-m: cannot read the expression"):
        prepare(marks=text)


def test_nothing_selected() -> None:
    """A selection of nothing is an error, not a successful run."""
    with pytest.raises(InputError, match="nothing is selected by 'ships'"):
        prepare(keywords="ships")


def test_reproduce(tmp_path: Path) -> None:
    """The options of a run are quoted for a shell."""
    path = tmp_path / "my bank.yaml"
    path.write_text("assay: 1\ntarget: t\nextends: sandbox\n")
    prepared = prepare(["aisp"], str(path))
    assert f" --contract aisp --target '{path}'" == prepared.reproduce


def test_unmatched_waiver(tmp_path: Path) -> None:
    """A waiver that matches no obligation is an error, with its line and a suggestion."""
    path = tmp_path / "t.yaml"
    path.write_text(
        "assay: 1\ntarget: t\nextends: sandbox\nwaivers:\n"
        "  - obligation: aisp/psu-identity/disclosed-aftr\n"
        "    owner: o\n    reason: r\n    expires: 2027-01-01\n"
    )
    with pytest.raises(InputError) as caught:
        prepare(target_name=str(path))
    assert (
        f"{path}:5: waiver of 'aisp/psu-identity/disclosed-aftr': no such obligation in this run"
        " (did you mean 'aisp/psu-identity/disclosed-after'?)"
    ) == str(caught.value)


def test_a_contract_that_is_named_twice(tmp_path: Path) -> None:
    """By its name and by its path it is one; another file with the same id is an error."""
    shipped = contract_dir() / "aisp.yaml"
    once, twice = prepare(["aisp"]), prepare(["aisp", str(shipped), "aisp"])
    assert once.plan.items == twice.plan.items
    other = tmp_path / "other.yaml"
    other.write_bytes(shipped.read_bytes())
    with pytest.raises(InputError, match=r"other.yaml: a second contract with the id 'aisp'"):
        prepare(["aisp", str(other)])
