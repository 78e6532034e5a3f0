"""Where a contract and a target file do not go together, and what a target offers."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from rows import for_each

from assay._resources import contract_dir
from assay.binding.model.features import BINDING_FEATURES, is_bound, missing_reason
from assay.binding.model.security import AuthKind
from assay.binding.model.target import NextPage, OperationBinding, Sca, ScaKind, Turn, Waiver
from assay.binding.read.join import bind, capabilities, expired
from assay.contract.model import Capability
from assay.errors import InputError
from assay.files.load import load
from assay.parsing.parse import find_contract, parse_contract
from assay.preparation.target_file import find_target, read_target
from assay.rules.rule import FEATURES, BindingRequirement
from assay.rules.verdict import Standing

SMALL = "assay: 1\ntarget: t\nextends: sandbox\n"


@pytest.fixture
def problems(tmp_path):
    """Give a function from the rest of a target file to the problems of binding it."""

    def bound(text: str) -> list[str]:
        path = tmp_path / "t.yaml"
        path.write_text(SMALL + text)
        with pytest.raises(InputError) as caught:
            bind([parse_contract(find_contract("aisp"))], read_target(path))
        return [
            f"{one.line}: {one.what}" + (f" ({one.hint})" if one.hint else "")
            for one in caught.value.problems
        ]

    return bound


def test_the_sandbox() -> None:
    """The shipped pair goes together, and the bank's zone fills in what the document leaves."""
    target = read_target(find_target("sandbox"))
    (bound,) = bind([parse_contract(find_contract("aisp"))], target)
    assert ("Europe/Paris", 176) == (str(bound.contract.zone), len(bound.obligations))
    offered = capabilities(bound.contract, target)
    assert {Capability.BATCH, Capability.ZONE} <= offered


@pytest.mark.parametrize(
    ("text", "together"),
    [("", True), ("safety: {concurrency: 1}\n", False), ("safety: {concurrency: 2}\n", True)],
)
def test_nothing_is_offered_at_one_moment_where_one_call_is_made_at_a_time(
    tmp_path, text, together
) -> None:
    """What the file allows at a time holds, even where the fixtures offer more."""
    path = tmp_path / "t.yaml"
    path.write_text(SMALL + f"fixtures: {{offers: [psu, together]}}\n{text}")
    contract = parse_contract(find_contract("aisp"))
    offered = capabilities(contract, read_target(path))
    assert together == (Capability.TOGETHER in offered)


def test_all_at_once(problems) -> None:
    """Everything that is wrong is told together, each with its line."""
    message = problems(
        "outside: [bank-group]\n"
        "operations:\n"
        "  acounts: {path: /x}\n"
        "  transactions:\n"
        "    arguments: {sins: {query: x}}\n"
        "    modes: {extended: {query: x, value: y}}\n"
        "  accounts:\n"
        "    values: {PsuIdentiti: /x}\n"
    )
    assert 5 == len(message)
    assert "4: outside: this target is outside the scope of aisp" in message[0]
    assert any(one.startswith("6: operations.acounts") and "'accounts'" in one for one in message)
    assert any("operations.transactions.arguments.sins" in one for one in message)
    assert any("operations.transactions.modes.extended" in one for one in message)
    assert any("did you mean 'PsuIdentity'?" in one for one in message)


@pytest.mark.parametrize(
    "host",
    [
        "https://www.30001.live.api.bank.example",
        "https://www.00000.live.x.example/v1",
    ],
)
def test_live_hosts(tmp_path, host: str) -> None:
    """A live host of the document's form is taken."""
    path = tmp_path / "t.yaml"
    path.write_text(f"{SMALL}environment: live\nbase_url: {host}\n")
    assert bind([parse_contract(find_contract("aisp"))], read_target(path))


@pytest.mark.parametrize(
    "host",
    [
        "https://www.3001.live.api.bank.example",
        "https://www.300011.live.api.bank.example",
        "https://www.30001.test.api.bank.example",
        "https://30001.live.api.bank.example",
        "https://www.30001.live",
        "https://www.30001.live.api.bank.example.evil..example",
        "https://evil.example/www.30001.live.api.bank.example",
    ],
)
def test_no_live_hosts(problems, host: str) -> None:
    """Another host is refused while the environment is called live."""
    (found,) = problems(f"environment: live\nbase_url: {host}\n")
    assert found.startswith("5: base_url: expected a live host of the form www.<bankcode>.live")


@for_each(
    ("bank", "expected"),
    [
        ("lacks: [instantly]", "banks.b.lacks[0]: no contract has the mode 'instantly'"),
        ("outside: [bank-groups]", "banks.b.outside[0]: no contract has the scope statement"),
    ],
)
def test_a_bank_of_the_group_lacks_what_the_contract_has(problems, bank, expected) -> None:
    """A misspelt mode, or statement, of a bank is reported at its own key."""
    (found,) = problems(
        "base_url: https://a.example\nhosts: null\n"
        f"banks: {{second: null, third: null, fourth: null, b: {{base_url: 'https://b.example', {bank}}}}}\n"
    )
    assert found.startswith(f"6: {expected}")


def test_a_live_bank_of_the_group_has_a_live_host(problems) -> None:
    """The form of the host is that of this bank."""
    (found,) = problems(
        "environment: live\nbase_url: https://www.30001.live.b.example\nhosts: null\nbanks:\n"
        "  {second: null, third: null, fourth: null, b: {base_url: https://www.3.live.b.example}}\n"
    )
    assert found.startswith("8: banks.b.base_url: expected a live host of the form www.<bankcode>")


def test_the_banks_of_another_group_are_not_inherited(tmp_path) -> None:
    """A file with another base URL is about another bank; one without is about the same."""
    path = tmp_path / "t.yaml"
    path.write_text(f"{SMALL}base_url: https://a.example\n")
    assert () == read_target(path).banks
    path.write_text(SMALL)
    target = read_target(path)
    assert ["second", "third", "fourth"] == [bank.name for bank in target.banks]
    assert target.banks == read_target(path, base_url="https://127.0.0.1:8000").banks
    assert target.group_bank("fourth") == target.group_bank("bank-group") == target.banks[2]
    assert target.group_bank("", "instant") == target.banks[0]
    assert target.group_bank("fifth") is target.group_bank("", "several") is None


def test_the_banks_of_a_file_in_between_are_inherited(tmp_path) -> None:
    """It lies over the one with the base URL, so they are of the same group."""
    draft, middle, top = (tmp_path / f"{name}.yaml" for name in ("draft", "middle", "top"))
    draft.write_text(f"{SMALL}base_url: https://a.example\n")
    banks = "banks: {b: {base_url: https://b.example}}"
    middle.write_text(f"assay: 1\ntarget: m\nextends: ./draft.yaml\n{banks}\n")
    top.write_text("assay: 1\ntarget: t\nextends: ./middle.yaml\n")
    assert ["b"] == [bank.name for bank in read_target(top).banks]
    top.write_text("assay: 1\ntarget: t\nextends: ./middle.yaml\nbase_url: https://c.example\n")
    assert () == read_target(top).banks


def test_what_needs_another_bank_is_not_applicable_without_one() -> None:
    """The reason names the key, for a bank that a statement excludes as for any."""
    target = read_target(find_target("sandbox"))
    contract = parse_contract(find_contract("aisp"))
    excluded = BindingRequirement(operation="accounts", feature="banks", name="bank-group")
    assert is_bound(excluded, contract, target)
    without = replace(target, banks=target.banks[:2])
    assert not is_bound(excluded, contract, without)
    assert is_bound(replace(excluded, name=""), contract, without)
    assert not is_bound(replace(excluded, name=""), contract, replace(target, banks=()))
    assert "(`banks`)" in missing_reason(excluded)


@for_each(
    ("want", "there"),
    [
        (BindingRequirement(operation="accounts", feature="key"), True),
        (BindingRequirement(operation="balances", feature="key"), False),
        (BindingRequirement(operation="transactions", feature="on"), True),
        (BindingRequirement(operation="accounts", feature="on"), False),
        (BindingRequirement(operation="accounts", feature="links"), True),
        (BindingRequirement(operation="consents", feature="links"), False),
        (BindingRequirement(operation="consents", feature="credentials"), True),
        (BindingRequirement(operation="end-user-identity", feature="credentials"), False),
        (BindingRequirement(operation="accounts", feature="value", name="PsuIdentity"), True),
        (BindingRequirement(operation="accounts", feature="value", name="Other"), False),
        (BindingRequirement(operation="balances", feature="field", name="currency"), True),
        (BindingRequirement(operation="accounts", feature="field", name="currency"), False),
        (BindingRequirement(operation="balances", feature="argument", name="iban"), True),
        (BindingRequirement(operation="end-user-identity", feature="argument", name="iban"), False),
        (
            BindingRequirement(
                operation="transactions", feature="mode", name="extended_transaction_history"
            ),
            True,
        ),
        (BindingRequirement(operation="transactions", feature="mode", name="other"), False),
    ],
)
def test_is_bound(want: BindingRequirement, there: bool) -> None:
    """Whether a target binds a feature is read off its binding."""
    contract = parse_contract(find_contract("aisp"))
    assert there is is_bound(want, contract, read_target(find_target("sandbox")))


@pytest.mark.parametrize(
    ("turn", "there"),
    [(Turn.LINK, True), (Turn.HEADER, True), (Turn.CURSOR, False), (Turn.PAGE, False)],
)
def test_a_cursor_is_no_link(turn: Turn, *, there: bool) -> None:
    """Pages that are turned by a cursor or a number have no link that could lead elsewhere."""
    contract = parse_contract(find_contract("aisp"))
    target = read_target(find_target("sandbox"))
    binding = OperationBinding(next=NextPage(turn=turn, at="/next"))
    turned = replace(target, operations={"accounts": binding})
    want = BindingRequirement(operation="accounts", feature="links")
    assert there is is_bound(want, contract, turned)


def test_a_reason_names_the_key_that_is_missing() -> None:
    """A reason gives the whole key in the target file."""
    places = (("field", "item.fields.x"), ("other", "arguments.x.other"), ("mode", "modes.x"))
    for feature, key in places:
        assert f"operations.op.{key}" == ".".join(BINDING_FEATURES[feature].place("op", "x"))
        want = BindingRequirement(operation="op", feature=feature, name="x")
        assert f"needs operations.op.{key} in the target file" == missing_reason(want)


def test_every_key_of_an_operation_is_a_feature() -> None:
    """The table has the keys of the schema, each once, and in the schema each has a title."""
    defs: Any = load(contract_dir() / "schema" / "target.yaml").data["$defs"]
    operation = defs["operation"]["properties"]
    item = defs["item"]["properties"]
    named = {("arguments",), ("modes",), ("values",), ("outputs",), ("item", "fields")}
    plain = {(key,) for key in operation if key != "item"} | {("item", key) for key in item}
    expected = [(*key, "x") if key in named else key for key in plain]
    keys = [feature.place("op", "x")[2:] for feature in BINDING_FEATURES.values()]
    assert sorted([*expected, ("arguments", "x"), ("arguments", "x", "other")]) == sorted(keys)
    assert all(feature.title for feature in BINDING_FEATURES.values())


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("", True),
        ("operations: {accounts: {path: /konten}}", False),
        ("operations: {accounts: {path: /konten}, trusted-beneficiaries: {path: /gut}}", True),
        ("operations: {create-payment: {path: /zahlungen}}", True),
    ],
)
def test_a_path_that_the_target_lacks(tmp_path: Path, text: str, asked: bool) -> None:
    """Where a target has paths of its own, no method is asked at the contract's path: it is a 404."""
    path = tmp_path / "t.yaml"
    path.write_text(SMALL + text)
    target = read_target(path)
    (bound,) = bind([parse_contract(find_contract("aisp"))], target)
    facet = "aisp/trusted-beneficiaries/refused-without-consent"
    (bound_facet,) = [one for one in bound.obligations if one.id == facet]
    unbound = [
        missing_reason(one)
        for one in bound_facet.requires
        if not is_bound(one, bound.contract, target)
    ]
    needed = ["needs operations.trusted-beneficiaries.path in the target file"]
    assert ([] if asked else needed) == unbound


def test_a_requirement_is_of_a_feature_of_the_binding() -> None:
    """The words that a facet can require are features that a target file can bind.

    A token is bound for all operations, under `auth`, what errors have under `error`, and the other
    banks of the group under `banks`.
    """
    assert {*FEATURES} <= {*BINDING_FEATURES, "token", "token-endpoint", "error", "banks"}


def test_a_token_is_required_where_the_target_file_has_one() -> None:
    """Where calls need none, there is nothing to leave out, and that is no gap."""
    target = read_target(find_target("sandbox"))
    none = replace(target, auth=replace(target.auth, kind=AuthKind.NONE))
    contract = parse_contract(find_contract("aisp"))
    required = BindingRequirement(
        operation="accounts", feature="token", if_missing=Standing.NOT_APPLICABLE
    )

    assert is_bound(required, contract, target)
    assert not is_bound(required, contract, none)
    assert "need no token" in missing_reason(required)


def test_waivers() -> None:
    """A waiver holds through its last day, and for its own obligation or clause only."""
    waiver = Waiver(obligation="a/b/c", owner="o", reason="r", expires="2026-09-16")
    assert (False, True) == (
        expired(waiver, date(2026, 9, 16)),
        expired(waiver, date(2026, 9, 17)),
    )
    assert (True, False) == (waiver.covers("a/b/c"), waiver.covers("a/b/d"))
    clause = replace(waiver, obligation="", clause="a/b")
    covered = [clause.covers(name) for name in ("a/b/c", "a/b/d", "a/bc/d", "a/b")]
    assert [True, True, False, True] == covered


def test_what_signs_without_screens_needs_no_link_to_them() -> None:
    """Where the control API signs, an answer need not hold the way to any screen."""
    target = read_target(find_target("sandbox"))
    pis = parse_contract(find_contract("pis"))
    want = BindingRequirement(operation="read-payment", feature="approval")
    signing = replace(target, sca=Sca(kind=ScaKind.CONTROL))
    assert (False, True) == (is_bound(want, pis, target), is_bound(want, pis, signing))


@pytest.mark.parametrize("pattern", ["(a+)+$", "([a-z]+)*x", "(a|a)+!|b"])
def test_the_pattern_of_a_host_takes_no_time(tmp_path, pattern: str) -> None:
    """A pattern of a contract cannot keep a command busy; it is used as a whole, with each `|`."""
    text = find_contract("aisp").read_text("utf-8")
    contract = tmp_path / "c.yaml"
    contract.write_text(re.sub(r"(?m)^  bankcode: .*$", f'  bankcode: "{pattern}"', text))
    path = tmp_path / "t.yaml"
    path.write_text(f"{SMALL}environment: live\nbase_url: https://www.{'a' * 60}.live.x.example\n")
    with pytest.raises(InputError, match="expected a live host of the form"):
        bind([parse_contract(contract)], read_target(path))
