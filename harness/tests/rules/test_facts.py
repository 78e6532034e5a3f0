"""Facts of a contract: what its clauses say that others depend on, put together once."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from assay.history import Call
from assay.parsing.parse import find_contract, parse_contract
from assay.rules.facets import NOTHING, CallLimit, Facts
from assay.rules.rule import Kind, clauses_of, facts_of
from assay.testing import exchange, refused

AISP = parse_contract(find_contract("aisp"))
NOW = datetime(2026, 9, 16, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guest(Kind):
    """A kind of another package that has a fact for everybody else."""

    name = "guest"

    def facts(self):
        return Facts(call_ids={"accounts": ("trace",)})


def test_they_are_made_once():
    """Asking again parses nothing; another contract, or a part of one, has its own."""
    assert facts_of(AISP) is facts_of(AISP)
    assert clauses_of(AISP) is clauses_of(AISP)
    assert NOTHING == facts_of(replace(AISP, clauses=()))


def test_kinds_of_other_packages_have_facts():
    """Their clauses say as much as ours do."""
    clause = replace(AISP.clauses[0], id="theirs", rule=Guest)
    contract = replace(AISP, clauses=(*AISP.clauses, clause))
    call = Call(operation="accounts", subject="psu", arguments={"trace": "7", "since": "x"})
    made = exchange(call, refused())

    assert "guest" == contract.clauses[-1].kind
    assert {"since": "x"} == facts_of(contract).without_call_ids(made).call.arguments
    assert made is facts_of(AISP).without_call_ids(made)


def test_two_clauses_about_the_same_are_one_fact():
    """The first one has its say, the shortest time counts, and the rest is listed."""
    one = Facts(
        page_sizes={"a": 10},
        signing_limits={"order": {"idle": 5 * MINUTE}},
        factors_by_segment={"order": {"PRO": ("sms",)}},
        accepted_modes={"order": ("instant",)},
        conditional_fields={("a", "owner"): "in a mode"},
        factors=("sms",),
        unrepeatable=frozenset({"order"}),
    )
    other = Facts(
        page_sizes={"a": 20, "b": 30},
        signing_limits={"order": {"idle": 3 * MINUTE, "overall": 9 * MINUTE}},
        factors_by_segment={"order": {"PRO": ("app",), "PART": ("sms",)}},
        accepted_modes={"order": ("instant", "deferred")},
        conditional_fields={("a", "owner"): "in another"},
        factors=("app", "sms"),
        unrepeatable=frozenset({"loan"}),
    )

    both = Facts(
        page_sizes={"a": 10, "b": 30},
        signing_limits={"order": {"idle": 3 * MINUTE, "overall": 9 * MINUTE}},
        factors_by_segment={"order": {"PRO": ("sms", "app"), "PART": ("sms",)}},
        accepted_modes={"order": ("instant", "deferred")},
        conditional_fields={("a", "owner"): "in another"},
        factors=("sms", "app"),
        unrepeatable=frozenset({"order", "loan"}),
    )
    assert both == Facts.together([one, other])
    assert one == Facts.together([NOTHING, one])


def test_the_smallest_limit_of_calls_counts():
    """Those with the customer, and those without, are limited apart."""
    limits = [
        CallLimit(number=number, attended=attended, daily=True, shared=frozenset({"a", "b"}))
        for number, attended in ((9, True), (4, False), (6, True))
    ]
    facts = Facts(call_limits={"a": tuple(limits), "b": (limits[1],)})

    assert {"a": 6} == facts.limits(attended=True)
    assert {"a": 4, "b": 4} == facts.limits(attended=False)
    assert {"a", "b"} == facts.counted_together("a")
    assert {"c"} == facts.counted_together("c")


def test_a_closure_is_closed_in_its_middle():
    """Neither before nor after, nor where it is unknown when it is."""
    closed = [
        Facts(closures=(lambda _, phase=phase: phase,)).closed_at(NOW) for phase in (-1, 0, 1)
    ]

    assert [False, True, False] == closed
    assert not Facts(closures=(lambda _: None,)).closed_at(NOW)
