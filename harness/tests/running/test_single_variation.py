"""Varied requests beside their controls: one difference, where the calls differ, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from rows import for_each

from assay.binding.model.target import (
    Auth,
    AuthKind,
    OperationBinding,
    Place,
    Presence,
    Spelling,
    Target,
    TransportKind,
)
from assay.binding.wire.encode import Access
from assay.binding.wire.values import RequestValues
from assay.contract.model import Operation
from assay.history import Call, Exchange, Malformed, Rejected, Wire
from assay.judging.corrections import soften
from assay.rules.verdict import Agreement, Evidence
from assay.running.calls import VariationGuard

PAY = Operation(
    id="pay",
    method="POST",
    path="/{product}/payments",
    makes="payment",
    arguments=("amount", "currency", "product", "key", "word"),
    modes=("one", "several"),
)
TRANSFER = {"id": "{alike}", "money": {"amount": "1.00"}}


def target(**several: Any) -> Target:
    """Return a target whose mode `several` is laid over the whole body."""
    binding = OperationBinding(
        headers={"X-Id": "{unique}"},
        template={"number": 1, "made": "{now}", "transfers": [TRANSFER]},
        arguments={
            "amount": Spelling(place=Place.BODY, name="/transfers/0/money/amount", value="12.30"),
            "currency": Spelling(place=Place.QUERY, name="currency", value="EUR"),
            "product": Spelling(place=Place.PATH, name="product", value="sepa"),
            "key": Spelling(place=Place.HEADER, name="X-Key", value="{unique}"),
            "word": Spelling(
                place=Place.BODY, name="/word", value="a", words={"a": "same", "b": "same"}
            ),
        },
        modes={
            "one": Spelling(place=Place.BODY, name="/kind", value="single"),
            "several": Spelling(place=Place.BODY, name="", value=several),
            "silent": Spelling(place=Place.BODY, name="", value={}),
        },
    )
    return Target(
        name="t",
        transport=TransportKind.HTTP,
        base_url="https://bank.example",
        hosts=("https://other.example",),
        auth=Auth(kind=AuthKind.BEARER),
        presence=Presence(place=Place.HEADER, name="PSU-IP-Address", value="192.0.2.10"),
        operations={"pay": binding},
    )


CONTROL = Call(operation="pay", subject="psu")


def doubt(call: Call, bank: Target, control: Call = CONTROL) -> str:
    """Return the doubt about a varied call after an accepted control."""
    guard = VariationGuard()
    guard.see(control, Access(token="t1"), accepted=True)
    made = RequestValues(now="now", unique="u", alike="a")
    varied = replace(call, variation="it")
    return guard.doubt(varied, PAY, target=bank, access=Access(token="t2"), made=made)


@for_each(
    "changes",
    [
        {},
        {"arguments": {"amount": "12.31"}},
        {"arguments": {"currency": "USD"}},
        {"arguments": {"product": "target-2"}},
        {"arguments": {"amount": {"value": "12.30"}}},
        {"without": ("amount",)},
        {"without": ("currency",)},
        {"mode": "one"},
        {"present": False},
        {"host": 0},
        {"malformed": Malformed.EMPTY},
    ],
)
def test_one_thing(changes: dict[str, Any]) -> None:
    """A request that differs where its call differs is judged; generated values do not count."""
    assert not doubt(replace(CONTROL, **changes), target())


WHOLE = {"number": 2, "transfers": [{**TRANSFER, "money": {"amount": "12.30"}}, TRANSFER]}


@pytest.mark.parametrize(
    ("several", "reason"),
    [
        (WHOLE, ""),
        (
            {"transfers": [{"money": {"amount": "12.30"}}, TRANSFER]},
            "more than one thing: /transfers/0/id of the body is missing",
        ),
        (
            {"transfers": [WHOLE["transfers"][0], {"id": "2"}]},
            "more than one thing: /transfers/1/money/amount of the body is missing",
        ),
        (
            {"transfers": [TRANSFER, TRANSFER]},
            "more than one thing: /transfers/0/money/amount of the body is another",
        ),
        ({}, "equals its control: mode changes nothing in it"),
    ],
)
def test_a_mode(several: dict[str, Any], reason: str) -> None:
    """A mode that loses members of the control, or changes an argument, varies more than itself."""
    said = doubt(replace(CONTROL, mode="several"), target(**several))
    assert reason in said
    assert bool(reason) == bool(said)


@for_each(
    ("second", "repeats", "reason"),
    [
        ({"amount": "1.00", "currency": "EUR"}, "{currency}", ""),
        ({"amount": "1.00", "currency": "EUR"}, "EUR", "/data/currency of the body is missing"),
    ],
)
def test_a_mode_that_makes_a_list_of_an_object(
    second: dict[str, str], repeats: str, reason: str
) -> None:
    """It varies only itself where it repeats each argument that the object has."""
    places = {
        name: Spelling(place=Place.BODY, name=f"/data/{name}", value=value)
        for name, value in (("amount", "12.30"), ("currency", "EUR"))
    }
    arguments = {**target().operations["pay"].arguments, **places}
    value = [{"amount": "{amount}", "currency": repeats}, second]
    several = Spelling(place=Place.BODY, name="/data", value=value)
    binding = OperationBinding(arguments=arguments, modes={"several": several})
    bank = replace(target(), operations={"pay": binding})
    assert reason in (said := doubt(replace(CONTROL, mode="several"), bank))
    assert bool(reason) == bool(said)


def test_nothing() -> None:
    """A value that the target file spells like the control's is no variation."""
    said = doubt(replace(CONTROL, arguments={"word": "b"}), target())
    assert said == "the request equals its control: word changes nothing in it"


def test_the_nearest_control() -> None:
    """Of several accepted calls, the one that differs least is the control."""
    guard = VariationGuard()
    far = replace(CONTROL, mode="one", arguments={"amount": "99.00", "currency": "EUR"})
    for control in (CONTROL, far):
        guard.see(control, Access(), accepted=True)
    near = replace(CONTROL, arguments={"amount": "12.31"}, variation="amount is another")
    made = RequestValues()
    assert not guard.doubt(near, PAY, target=target(), access=Access(), made=made)


def test_no_control() -> None:
    """Without an accepted control nothing is compared: the checks demand one themselves."""
    guard, made = VariationGuard(), RequestValues()
    varied = replace(CONTROL, mode="several", variation="several")
    assert not guard.doubt(varied, PAY, target=target(), access=Access(), made=made)
    guard.see(CONTROL, Access(), accepted=False)
    guard.see(varied, Access(), accepted=True)
    assert not guard.controls


@pytest.mark.parametrize("agreement", list(Agreement))
def test_evidence_is_not_judged(agreement: Agreement) -> None:
    """Evidence on a confounded request is unclear, whichever way it went, and says why."""
    evidence = Evidence(
        facet="f", agreement=agreement, expected="a refusal", seen="it was refused", exchanges=(7,)
    )
    exchange = Exchange(
        n=7,
        at=datetime(2026, 9, 16, tzinfo=UTC),
        call=CONTROL,
        outcome=Rejected(),
        wire=Wire(method="POST", url="https://bank.example/payments", status=400),
        confounded="the request differs in two things",
    )
    softened = soften(evidence, {7: exchange}, ())
    assert Agreement.UNCLEAR is softened.agreement
    assert softened.seen == "it was refused; not judged: the request differs in two things"
