"""The page about test systems: every ability has a row, with its true cost and a check of the doctor."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import httpx

from assay._resources import contract_dir
from assay.binding.model.target import ScaKind, Target
from assay.binding.read.join import bind
from assay.contract.model import Capability
from assay.fixtures import spi
from assay.onboarding.doctor.examination import STEPS
from assay.onboarding.doctor.fixtures import CAPABILITIES
from assay.parsing.parse import find_contract, parse_contract
from assay.planning.plan import Disposition, plan
from assay.preparation.target_file import find_target, read_target

PAGE = contract_dir() / "test-system.md"
TEXT = PAGE.read_text("utf-8")
CONTRACTS = [parse_contract(find_contract(name)) for name in ("aisp", "pis")]
SANDBOX = read_target(find_target("sandbox"))
#: What is missing where a key of the target file is.
KEYS: Mapping[str, dict[str, Any]] = {
    "sca": {"sca": replace(SANDBOX.sca, kind=ScaKind.NONE)},
    "sca.kind": {"sca": replace(SANDBOX.sca, kind=ScaKind.CONTROL)},
    "presence": {"presence": None},
    "zone": {"zone": None},
    "hosts": {"hosts": ()},
    "safety.concurrency": {"safety": replace(SANDBOX.safety, concurrency=1)},
}
#: The keys of the capabilities that are no offers.
OF_CAPABILITIES = {
    Capability.BATCH: "presence",
    Capability.SCREENS: "sca.kind",
    Capability.TOGETHER: "safety.concurrency",
}


def without(key: str) -> Target:
    """Return the sandbox's target without an offer or a key."""
    offers = {each for each in SANDBOX.fixtures.offers if each.value != key}
    if len(offers) < len(SANDBOX.fixtures.offers):
        return replace(SANDBOX, fixtures=replace(SANDBOX.fixtures, offers=frozenset(offers)))
    return replace(SANDBOX, **KEYS[key])


def cost(key: str) -> str:
    """Return how many obligations of each contract the plan leaves unverified without a key."""
    target = without(key)
    items = plan(bind(CONTRACTS, target), target).items
    left = Counter(
        each.obligation.id.partition("/")[0]
        for each in items
        if each.disposition is Disposition.UNVERIFIED
    )
    return f"{left['aisp']}, {left['pis']}"


def rows() -> list[list[str]]:
    """Return the cells of each line of the checklist: ability, key, words, cost, checks."""
    table = TEXT.partition("## The checklist")[2].partition("\n## ")[0]
    lines = [line for line in table.splitlines() if line.startswith("| ")][1:]
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]


def key_of(row: list[str]) -> str:
    """Return the offer or the key of the target file that a line is about."""
    (name,) = re.findall(r"^`([a-z.-]+)`", row[1])
    return name


def test_the_costs_are_those_of_the_plan(generated) -> None:
    """What an ability costs is what `assay plan` leaves unverified at the sandbox without it."""
    text, counted = TEXT, 0
    for row in rows():
        if re.search(r"\d+, \d+", row[3]):
            counted += 1
            new = re.sub(r"\d+, \d+", cost(key_of(row)), row[3])
            (line,) = re.findall(rf"^\| {re.escape(row[0])} \|.*$", text, re.MULTILINE)
            text = text.replace(line, line.replace(f"| {row[3]} |", f"| {new} |"))
    assert 22 == counted
    items = plan(bind(CONTRACTS, SANDBOX), SANDBOX).items
    every = Counter(each.obligation.id.partition("/")[0] for each in items)
    of_all = f"of the {every['aisp']} about account information,\nand of the {every['pis']} about payments"
    assert of_all in text
    generated(PAGE, text)


def test_every_capability_has_a_line() -> None:
    """Each capability that an obligation can need is a line of the checklist."""
    assert {OF_CAPABILITIES.get(each, each.value) for each in Capability} <= set(
        map(key_of, rows())
    )


def test_every_line_names_its_check_of_the_doctor() -> None:
    """Each line is tested by checks that exist, and says the words of both interfaces."""
    names = {step.name for step in STEPS}
    for row in rows():
        checks = re.findall(r"`([a-z]+)`", row[4])
        assert checks, row
        assert {*checks} <= names, row
        offered = [name for each, name in CAPABILITIES.items() if each.value == key_of(row)]
        assert not offered or f"`{offered[0]}`" in row[2] or key_of(row) in {"clock", "entries"}, (
            row
        )
        for name in re.findall(r"`([A-Z][A-Za-z]+)\.[a-z]+`", row[2]):
            assert name in spi.__all__, row


def test_the_example_of_the_middleware_works(monkeypatch) -> None:
    """The class on the page serves a customer and a clock at any application."""
    (code,) = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    key = "a key of the test system"
    monkeypatch.setenv("BANK_CONTROL_KEY", key)
    names: dict[str, Any] = {}
    exec(compile(code, str(PAGE), "exec"), names)
    branch = SimpleNamespace(now=datetime(2026, 9, 16, 10, tzinfo=UTC), new_customer=customer)
    branch.run_days_until = lambda to: setattr(branch, "now", to)
    bank = SimpleNamespace(new_branch=lambda seed: branch)
    transport = httpx.WSGITransport(app=names["test_system"](bank))
    headers = {"Assay-Control-Key": key}
    with httpx.Client(transport=transport, base_url="http://a", headers=headers) as http:
        api = "/assay-control/1"
        offered = http.get(f"{api}/").json()["capabilities"]
        http.post(f"{api}/worlds", json={})
        order = {"holdings": [{"resource": "account", "traits": {"savings": True}}]}
        made = http.post(f"{api}/worlds/w1/customers", json=order).json()
        moved = http.post(f"{api}/worlds/w1/clock", json={"to": "2026-09-17T10:00:00Z"}).json()
    assert ["clock", "consent", "customers", "roster"] == offered
    assert ("A1", "t") == (made["holdings"][0]["key"], made["token"])
    assert {"now": "2026-09-17T10:00:00+00:00"} == moved


def customer() -> Any:
    """Return a customer of the example's bank."""
    return SimpleNamespace(id="c1", token="t", open_account=lambda savings: "A1")
