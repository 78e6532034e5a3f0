"""The shipped contracts on the sound sandbox: everything conforms, on any day, by any way."""

import json
import os
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest
from command_line import assay
from embedded import run_plan
from nights import NIGHTS, beginning

from assay.cli.plan import plan_lines
from assay.errors import Exit
from assay.preparation.prepare import prepare
from assay.rules.verdict import Standing
from assay.sandbox.app import make_app
from assay.sandbox.calendar import SUNDAY_NIGHT
from assay.sandbox.serve import serving

#: The clocks never change on a Monday, so there is no short night to ask about.
NOT_APPLICABLE = {
    "aisp/redirect-only/password-grant",
    "pis/redirect-only/password-grant",
    "pis/maintenance/short-night",
}
#: Another facet has the calls late on a day of 25 hours, and a week later may be in maintenance hours.
OTHER_FACET = {"aisp/batch-quota/before-midnight", "aisp/transactions.depth/later"}
#: The calls of a run in all contexts, without those of lives.
CALLS_IN_CONTEXTS = 7344
REFERENCE = Path(__file__).parents[3] / "reports" / "reference"
#: On how many days everything is run; each day has customers of its own.
DAYS = int(os.environ.get("ASSAY_DAYS", "6"))


def run(target=None, seed=0, keywords=None):
    """Run everything, or what is chosen, and return the plan with the result."""
    prepared = prepare(target_name=target, keywords=keywords)
    return prepared.plan, run_plan(prepared.plan, prepared.target, seed=seed)


@cache
def embedded():
    """Run everything on the embedded sandbox, once for all tests that look at the result."""
    return run()


def verdicts(result):
    """Return the verdicts as pairs of id and word."""
    return [(one.obligation, one.standing.value) for one in result.verdicts]


def test_everything_conforms_on_the_embedded_sandbox():
    """All obligations conform; only what the document leaves open is not verified."""
    plan, result = embedded()
    left = [one for one in verdicts(result) if one[1] not in {"conforms", "unspecified"}]
    assert dict.fromkeys(NOT_APPLICABLE, "not-applicable") == dict(left)
    assert {"aisp", "pis"} == set(plan.contracts)
    assert (Exit.OK, ()) == (result.exit, result.faults)
    assert len(plan.items) == len(result.verdicts)


def test_a_run_costs_what_the_plan_says():
    """The calls that are made are exactly the calls that were priced."""
    plan, result = embedded()
    assert plan.calls == result.exchanges


def test_every_context_is_tested_whole(tmp_path):
    """No trial ends early in a context, nothing is red, and all takes as many calls as were counted.

    Each trial that shows nothing in a context is tried again in parts of it, so that the number of
    calls tells of what is no longer shown, or costs more than it did.
    """
    code, out, _ = assay("run", "--contexts", "each", "--out", "out", cwd=tmp_path)
    report = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    assert (0, []) == (code, report.get("unfinished", [])), out
    assert CALLS_IN_CONTEXTS == report["run"]["exchanges"]


def test_no_pass_is_vacuous():
    """Every obligation that conforms rests on exchanges that agree."""
    _, result = embedded()
    for one in result.verdicts:
        if one.standing is Standing.CONFORMS:
            assert any(evidence.exchanges for evidence in one.evidence), one.obligation


@pytest.mark.parametrize("seed", range(1, DAYS + 1))
def test_no_false_alarm_on_any_day(seed):
    """Another seed makes other customers on another day, and all conforms again."""
    _, result = run(seed=seed)
    left = [one for one in verdicts(result) if one[1] not in {"conforms", "unspecified"}]
    assert dict.fromkeys(NOT_APPLICABLE, "not-applicable") == dict(left)


@pytest.mark.parametrize("night", NIGHTS, ids=str)
def test_no_false_alarm_in_the_night_of_a_change(night):
    """Nothing is violated where an hour is skipped or comes twice, be it in maintenance; all are settled."""
    with beginning(night):
        plan, result = run()
    assert [] == [one for one in verdicts(result) if one[1] == "violates"]
    assert ((), len(plan.items)) == (result.faults, len(result.verdicts))
    if not SUNDAY_NIGHT(night):
        open_ = [name for name, word in verdicts(result) if word == "indeterminate"]
        assert {*open_} <= OTHER_FACET


def test_a_run_may_begin_in_maintenance_hours():
    """Where the clock can be moved, all is settled: also at the bank of the group that a trial goes on to."""
    with beginning(datetime(2026, 9, 14, 1, 0, tzinfo=UTC)):
        _, result = run(keywords="payment-types")
    assert {"conforms"} == {word for _, word in verdicts(result)}


def test_the_same_over_http():
    """A served sandbox gets the same verdicts as the embedded one."""
    with serving(make_app()) as url:
        _, served = run(target=url)
    _, result = embedded()
    assert verdicts(result) == verdicts(served)


def test_the_same_seed_gives_the_same_run():
    """Two runs with one seed send the same calls and get the same evidence."""
    some = "quota or consent or duplicate or factors or pagination"
    _, first = run(seed=5, keywords=some)
    _, second = run(seed=5, keywords=some)
    assert first.verdicts == second.verdicts


def test_the_reference_plan_is_up_to_date(generated):
    """What the shipped contract asks is the committed plan (assay plan --verbose)."""
    made = "\n".join(plan_lines(prepare().plan, verbose=True)) + "\n"
    generated(REFERENCE / "plan.txt", made)
