"""Scenarios: ids are unique whatever the operations are called."""

from collections import defaultdict

import pytest
from account_information import AISP, Obliging
from rows import for_each

from assay.errors import InputError
from assay.files.load import loads
from assay.parsing.parse import find_contract, parse_contract, parse_document
from assay.planning.plan import count_calls
from assay.rules.obligation import obligations
from assay.rules.rule import clauses_of

#: Every operation, mode and word here is the beginning of another, or another facet's name.
CONTRACT = """
assay: 1
contract: rates
title: Rates
version: "1"
interface: rates
document: Guide to rates
zone: Europe/Vienna
resources:
  rate: {says: a rate of the customer, key: number, fields: [number]}
  order: {says: an order, key: orderId, fields: [orderId]}
operations:
  rates: {method: GET, path: /rates, lists: [rate]}
  rates-next-day: {method: GET, path: /rates/next, lists: [rate]}
  long-day: {method: GET, path: /rates/long, lists: [rate]}
  not-counted: {method: GET, path: /rates/free, lists: [rate]}
  every-host: {method: GET, path: /rates/every, lists: [rate]}
  make:
    method: POST
    path: /orders
    makes: order
    owned: number
    modes: [MODES]
    due: {argument: day, modes: [later]}
    arguments: [number, day]
  show: {method: GET, path: "/orders/{orderId}", shows: order, about: orderId}
  show-unknown: {method: PUT, path: "/orders/{orderId}", shows: order, about: orderId}
rules:
  - id: quota
    kind: quota
    says: Four calls a day.
    source: {section: Limits, line: 1}
    operations: [rates, rates-next-day, long-day]
    limit: 4
    per: calendar-day
    refused-calls: unspecified
    page-turns: unspecified
  - id: online
    kind: unmetered
    says: No limit online.
    source: {section: Limits, line: 2}
    operations: [rates, not-counted]
    quota: 4
  - id: host
    kind: host-affinity
    says: Links stay on the host.
    source: {section: Hosts, line: 3}
    operations: [rates, every-host]
    every-host: true
  - id: modes
    kind: modes
    says: Some modes are served.
    source: {section: Modes, line: 4}
    request: order
    served: [plain, served]
    where-offered: [fast]
    refused: [WORD]
"""


def parsed(word="fast-not"):
    """Return the contract with this refused mode."""
    text = CONTRACT.replace("MODES", f"plain, served, later, fast, {word}").replace("WORD", word)
    return parse_document(loads(text, "rates.yaml"))


def trials(contract):
    """Return the scenarios of all obligations, by the id of their trial."""
    by_trial = defaultdict(list)
    for one in obligations(contract):
        if one.scenario is not None and one.scenario not in by_trial[one.trial]:
            by_trial[one.trial].append(one.scenario)
    return by_trial


def shipped(name):
    """Return a shipped contract."""
    return parse_contract(find_contract(name))


@for_each("contract", [parsed(), AISP, shipped("pis")])
def test_two_scenarios_never_share_a_trial(contract):
    """What is tried for one obligation is not counted for another."""
    assert {} == {id_: tried for id_, tried in trials(contract).items() if len(tried) != 1}


@for_each("clause", ["quota", "online", "host"])
def test_every_operation_is_called_in_a_trial_of_its_own(clause):
    """Also `rates-next-day`, beside the trial of `rates` that waits for the next day."""
    contract = parsed()
    found = {one.id: kind for one, kind in zip(contract.clauses, clauses_of(contract), strict=True)}
    kind, called = found[clause], {}
    for facet in kind.facets():
        calls = Obliging(contract=contract).play(kind, facet.scenario.id).calls
        called[facet.id] = {call.operation for call in calls}
        assert count_calls(kind, facet.scenario) == len(calls)

    assert {
        "quota": {
            **{
                f"{name}-{word}": {name}
                for name in ("rates", "rates-next-day", "long-day")
                for word in ("served", "refused", "next-day")
            },
            **{
                name: {"rates", "rates-next-day", "long-day"}
                for name in ("before-midnight", "long-day", "per-method", "per-customer", "at-once")
            },
        },
        "online": {
            "rates-unlimited": {"rates"},
            "not-counted-unlimited": {"not-counted"},
            "not-counted": {"rates", "not-counted"},
            "after-exhausted": {"rates", "not-counted"},
        },
        "host": {
            "rates-links": {"rates"},
            "every-host-links": {"every-host"},
            "every-host": {"rates"},
        },
    }[clause] == called


@for_each("word", ["fast-not", "slow-fast"])
def test_modes_that_begin_or_end_with_another_are_told_apart(word):
    """Their names are parts of ids, and never read out of them."""
    scenarios = [facet.scenario for facet in clauses_of(parsed(word))[3].facets()]

    assert [None, None, "fast", "fast", word] == [one.mode for one in scenarios]


def test_two_obligations_of_one_id_are_a_fault_of_the_contract():
    """One would hide the other in every report."""
    text = CONTRACT.replace("MODES", "plain, fast-offered, later, fast, no").replace("WORD", "no")
    with pytest.raises(
        InputError, match=r"rules\[3\]: 2 of its obligations have the id 'fast-offered'"
    ):
        parse_document(
            loads(text.replace("[plain, served]", "[plain, fast-offered]"), "rates.yaml")
        )
