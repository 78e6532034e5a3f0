"""Every probe, as a generator, against a bank that obliges."""

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from account_information import AISP, AT, PARIS, Obliging, facets, ruled
from rows import for_each

from assay.contract.model import Capability
from assay.history import (
    Advance,
    Advanced,
    Arrange,
    Call,
    Holding,
    Lack,
    Malformed,
    Owned,
    Subject,
    Together,
)
from assay.planning.plan import count_calls
from assay.rules import steps
from assay.rules.verdict import Agreement
from assay.testing import exchange, listed

FACETS = facets()


@for_each(("obligation", "params"), FACETS)
def test_price_is_the_number_of_calls_on_an_obliging_bank(obligation, params):
    """What the plan says a trial costs is what it costs."""
    calls = Obliging().play(params, obligation.scenario.id).calls

    assert count_calls(params, obligation.scenario) == len(calls)


@for_each("hour", [0, 3, 12, 23])
@for_each("day", [18, 19, 20, 21])
def test_maintenance_costs_the_same_whenever_it_is_asked(day, hour):
    """A run on the eve of the window asks as often as any other."""
    params = ruled("maintenance")
    bank = Obliging(now=AT.replace(day=day, hour=hour))

    assert count_calls(params, params.scenario("week")) == len(bank.play(params, "week").calls)


@for_each(("obligation", "params"), FACETS)
def test_every_call_names_an_operation_and_a_subject_that_was_arranged(obligation, params):
    """A probe calls for nobody whom it has not brought into being before."""
    played = Obliging().play(params, obligation.scenario.id)
    arranged = set()
    for step in played.steps:
        if isinstance(step, Arrange):
            arranged.add(step.subject)
        elif isinstance(step, Call):
            assert step.subject in arranged
            assert step.operation in AISP.operations


@for_each(("obligation", "params"), FACETS)
def test_a_probe_on_a_bank_that_serves_everybody_never_agrees_with_a_refusal(obligation, params):
    """A bank that lets everybody in is never said to refuse."""
    bank = Obliging()
    played = bank.play(params, obligation.scenario.id)
    agreed = {
        evidence.facet
        for evidence in params.check(played.history)
        if evidence.agreement is Agreement.AGREES
    }
    words = ("-refused", "foreign", "before-midnight", "long-day")

    assert not [one for one in agreed if one.startswith("refused") or one.endswith(words)]


def used(step):
    """Return the capabilities that performing a step takes."""
    match step:
        case Arrange():
            return {Capability.PSU}
        case Advance(to=to):
            return {Capability.CLOCK} if to else set()
        case Together():
            return {Capability.TOGETHER}
        case Lack():
            return {Capability.BANKS}
        case Call(operation=operation, present=present, credentials=credentials):
            grants = AISP.operations[operation].grants
            return (
                ({Capability.CONSENT} if grants else set())
                | (set() if present else {Capability.BATCH})
                | ({Capability.CREDENTIALS} if credentials else set())
            )


@for_each(("obligation", "params"), FACETS)
def test_a_facet_needs_what_its_probe_uses(obligation, params):
    """No probe transmits a consent or spends a quota on a target that does not offer it."""
    played = Obliging().play(params, obligation.scenario.id)
    taken = set().union(*map(used, played.steps))
    arranged = {step.subject for step in played.steps if isinstance(step, Arrange)}
    if len(arranged) > 1 and obligation.facet not in ONE_IS_ENOUGH:
        taken.add(Capability.TWO_PSU)

    assert taken <= obligation.needs


#: Facets that share their trial with one that needs a second customer, and come first in it.
ONE_IS_ENOUGH = {
    f"{child}-{word}"
    for child in ("balance", "outstanding", "transaction", "slip")
    for word in ("granted", "refused", "before")
} | {"disclosed-after", "withheld-before", "refused-outside"}


def test_the_available_probe_bends_between_two_plain_calls():
    """Each malformation is sent once, with a control before it and after it."""
    params = ruled("consents.available")
    calls = Obliging().play(params, "malformed").calls

    assert [None, None] == [calls[0].malformed, calls[-1].malformed]
    assert {
        Malformed.NOT_JSON,
        Malformed.TRUNCATED,
        Malformed.WRONG_TYPES,
        Malformed.EMPTY,
        Malformed.DEEP,
        Malformed.SCALAR,
        Malformed.HUGE,
    } == {call.malformed for call in calls[1:-1]}


def test_the_quota_probe_crosses_midnight_between_two_refusals_that_differ():
    """Used up before local midnight, it asks again half a minute after it, and no more."""
    params = ruled("batch-quota")
    played = Obliging().play(params, "balances:next-day")
    moved = [step.to for step in played.steps if isinstance(step, Advance) and step.to]

    assert [AT.replace(day=17, hour=0, minute=0, second=30)] == moved
    assert [True] + [False] * 6 + [True] == [call.present for call in played.calls]


def test_the_quota_probe_waits_for_the_long_day():
    """The day of 25 hours begins at noon of the Sunday on which summer time ends."""
    params = ruled("batch-quota")
    played = Obliging().play(params, "long-day")
    moved = [step.to for step in played.steps if isinstance(step, Advance) and step.to]

    assert ["2026-10-25T12:00:00+01:00", "2026-10-25T23:30:00+01:00"] == [
        one.isoformat() for one in moved
    ]


def test_before_midnight_is_no_long_day_s():
    """Where a day has 25 hours, its end is another obligation's: the next midnight is approached."""
    params = ruled("batch-quota")
    early = datetime(2026, 10, 24, 22, 30, tzinfo=UTC)
    played = Obliging(now=early).play(params, "before-midnight")
    moved = [step.to for step in played.steps if isinstance(step, Advance) and step.to]

    assert ["2026-10-25T23:00:30+00:00", "2026-10-26T22:59:30+00:00"] == [
        one.isoformat() for one in moved
    ]


@for_each("clause", ["batch-quota", "maintenance"])
def test_without_a_zone_nothing_is_asked_about_odd_days(clause):
    """Where nobody knows whose day it is, the probe asks nothing of it."""
    params = ruled(clause, zone=None)
    scenario = {"batch-quota": "long-day", "maintenance": "week"}[clause]

    assert () == Obliging().play(params, scenario).calls


def test_before_midnight_without_a_zone_moves_no_clock():
    """There is no midnight to approach where the zone is unknown."""
    params = ruled("batch-quota", zone=None)
    played = Obliging().play(params, "before-midnight")

    assert [] == [step.to for step in played.steps if isinstance(step, Advance) and step.to]


def test_the_maintenance_probe_of_a_zone_without_odd_days_asks_nothing():
    """Where no hour is ever skipped there is no short night."""
    params = ruled("maintenance", zone=ZoneInfo("Asia/Tokyo"))

    assert () == Obliging().play(params, "night").calls


def test_the_maintenance_probe_avoids_a_window_on_an_odd_day():
    """Edges are not asked on the day on which the clocks change."""
    params = ruled("maintenance")
    played = Obliging(now=AT.replace(month=10, day=22)).play(params, "week")
    moved = [step.to.date().day for step in played.steps if isinstance(step, Advance) and step.to]

    assert [31, 1, 1, 2] == moved


def test_the_depth_probe_holds_entries_on_both_sides_of_the_edge():
    """There is one entry on the last day, one inside it, and some outside."""
    params = ruled("transactions.depth")
    played = Obliging().play(params, "default")
    (arranged,) = [step for step in played.steps if isinstance(step, Arrange)]
    ages = [(AT.date() - on).days for on in arranged.holdings[0].entries]

    assert {1, 89, 90, 91} <= set(ages)


def test_depth_by_the_local_day_is_asked_half_an_hour_after_local_midnight():
    """Then the UTC day of a bank east of Greenwich is still yesterday's."""
    params = ruled("transactions.depth")
    bank = Obliging()
    played = bank.play(params, "local-day")
    moved = [step.to for step in played.steps if isinstance(step, Advance) and step.to]

    assert [AT.replace(day=17, hour=0, minute=30)] == moved


def test_the_eligibility_probe_holds_cards_on_both_sides_of_the_edge():
    """Two calendar months before 16 September is 16 July."""
    params = ruled("cards.eligible")
    played = Obliging().play(params, "states")
    (arranged,) = [step for step in played.steps if isinstance(step, Arrange)]

    assert ["2026-09-15", "2026-07-17", "2026-07-16", "2026-07-15"] == [
        holding.traits["last-used"]
        for holding in arranged.holdings
        if "last-used" in holding.traits
    ]


def test_the_depth_probe_without_a_range_asks_plainly_only():
    """An operation that takes no dates has no second question."""
    params = ruled("transactions.depth")
    params = replace(params, operation=replace(params.operation, since=None, until=None))

    assert ["default", "later", "local-day"] == [one.id for one in params.facets()]
    assert "asked-older" not in {one.scenario.id for one in params.facets()}


def test_the_mode_probe_without_a_range_asks_once():
    """An operation that takes no dates is asked in the mode only once."""
    params = ruled("no-extended-history")
    params = replace(params, operation=replace(params.operation, since=None))

    assert (
        3
        == count_calls(params, params.scenario("asked"))
        == len(Obliging().play(params, "asked").calls)
    )


@for_each(
    ("clause", "scenario"),
    [
        ("transactions.page-size", "walk"),
        ("transactions.depth", "default"),
        ("transactions.depth", "asked-older"),
        ("no-extended-history", "asked"),
        ("balances.available", "aliases"),
        ("batch-quota", "per-customer"),
        ("batch-quota", "per-method"),
        ("online-unlimited", "not-counted"),
        ("euro", "everything"),
        ("well-formed", "each"),
        ("live-host", "balances:links"),
    ],
)
def test_without_a_grant_no_consent_is_priced_or_sent(clause, scenario):
    """An interface that knows no consent is asked for none."""
    params = ruled(clause)
    params = replace(params, grant=None)
    if clause in {"batch-quota", "online-unlimited"}:
        operations = tuple(one for one in params.operations if one.id != "consents")
        params = replace(params, operations=operations)
    calls = Obliging().play(params, scenario).calls
    sent = [call for call in calls if call.operation == "consents"]

    assert count_calls(params, params.scenario(scenario)) == len(calls)
    assert (1 if clause == "well-formed" else 0) == len(sent)


@for_each(
    ("clause", "after"),
    [
        ("accounts.listing", "consented-with-consent"),
        ("trusted-beneficiaries", "refused-with-consent"),
    ],
)
def test_without_a_grant_there_is_no_facet_after_consent(clause, after):
    """Where nothing can be consented to, the other facets are left."""
    params = ruled(clause)
    ids = [facet.id for facet in params.facets()]

    assert [one for one in ids if one != after] == [
        facet.id for facet in replace(params, grant=None).facets()
    ]
    assert after in ids


@for_each("clause", ["consent.scope", "psu-identity"])
def test_a_clause_on_consent_without_a_grant_is_a_fault(clause):
    """The schema lets none through; reaching one is the harness's fault."""
    kind = type(ruled(clause))
    original = next(one for one in AISP.clauses if one.id == clause)
    bad = {name: value for name, value in original.params.items() if name != "grant"}
    with pytest.raises(TypeError, match="grant is missing"):
        kind.parse(replace(original, params=bad), AISP)


@for_each("step", ["arrange", "clock", "send"])
def test_a_step_that_is_answered_by_the_wrong_event_is_a_fault(step):
    """A driver that answers with something else is found out at once."""
    made = {
        "arrange": steps.arrange("psu"),
        "clock": steps.clock(),
        "send": steps.send(Call(operation="accounts", subject="psu")),
    }[step]
    wrong = Advanced(now=AT) if step != "clock" else Subject(name="psu", now=AT, owns=())
    next(made)

    with pytest.raises(TypeError, match="answered by"):
        made.send(wrong)


def test_an_arranged_customer_is_seen_as_far_as_was_asked():
    """What one who existed before owns besides does not change a probe's price."""
    part = steps.arrange("psu", Holding(resource="account", count=1))
    next(part)
    owns = tuple(Owned(key=key, resource="account") for key in ("A1", "A2"))
    with pytest.raises(StopIteration) as end:
        part.send(Subject(name="psu", now=AT, owns=owns))

    assert ("A1",) == tuple(one.key for one in end.value.value.owns)


@for_each(("fickle", "calls"), [(True, 7), (False, 2)])
def test_a_walk_turns_back_from_circles_and_ends_at_its_bound(fickle, calls):
    """A page that comes round again ends a walk; new ones end it at the bound."""
    walk = steps.walk(Call(operation="accounts", subject="psu"), most=7)
    made = []
    call = next(walk, None)
    while call is not None:
        made.append(call)
        page = listed(next=f"page={len(made) if fickle else 1}")
        try:
            call = walk.send(exchange(call, page))
        except StopIteration:
            call = None

    assert calls == len(made)
    assert [None, *["page"] * (calls - 1)] == [
        call.follow and call.follow.partition("=")[0] for call in made
    ]


def test_the_zone_of_the_probes_is_the_contracts():
    """Paris is what the builders say it is."""
    assert PARIS is ruled("batch-quota").zone


def test_entries_are_asked_for_only_of_what_can_have_any():
    """Where no resource of the contract is of an account or a card, neither has entries."""
    depth = ruled("transactions.depth")
    alone = {name: replace(each, of=None) for name, each in AISP.resources.items()}
    clauses = tuple(each for each in AISP.clauses if each.kind == "history-depth")
    contract = replace(AISP, resources=alone, clauses=clauses)
    for each, entries in ((depth, True), (replace(depth, contract=contract), False)):
        played = Obliging().play(each, each.facets()[0].scenario.id)
        asked = [step.holdings for step in played.steps if isinstance(step, Arrange)]
        assert entries is any(holding.entries for holdings in asked for holding in holdings)
