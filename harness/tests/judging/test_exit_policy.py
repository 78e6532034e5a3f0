"""The exit code of a run, and the reasons for it."""

from dataclasses import replace

import pytest
from rows import for_each

from assay.errors import InputError
from assay.judging.exit_policy import (
    Baseline,
    ChangeKind,
    ExitPolicy,
    Floor,
    RunFacts,
    change_of,
    decide_exit,
    read_floor,
)
from assay.judging.waivers import WaiverResult, WaiverState
from assay.rules.verdict import OPEN, Standing

C, V, W, U, D, N, P = (
    Standing.CONFORMS,
    Standing.VIOLATES,
    Standing.WAIVED,
    Standing.UNVERIFIED,
    Standing.INDETERMINATE,
    Standing.NOT_APPLICABLE,
    Standing.UNSPECIFIED,
)
PASSES = ExitPolicy()
ALLOWED = ExitPolicy(allow_incomplete=True)


def facts(*standings, **other):
    """Return a run with these verdicts on the musts a, b and so on."""
    verdicts = dict(zip("abcdefghij", standings, strict=False))
    return RunFacts(verdicts=verdicts, musts=set(verdicts), **other)


def waiver(state, **other):
    """Return a waiver in a state."""
    return WaiverResult(name="a", owner="o", reason="r", expires="2026-01-01", state=state, **other)


def code(run, policy=PASSES):
    """Return the exit code of a run."""
    return decide_exit(run, policy).exit.value


@for_each(
    ("run", "policy", "expected"),
    [
        (facts(C), PASSES, 0),
        (facts(C, V), PASSES, 1),
        (facts(C, U), PASSES, 3),
        (facts(C, D), PASSES, 3),
        (facts(C, U), ALLOWED, 0),
        (facts(V, U), ALLOWED, 1),
        (facts(C, faults=1), PASSES, 4),
        (facts(V, U, faults=1), ALLOWED, 4),
        (facts(C, stopped=True), ALLOWED, 3),
        (facts(C, U, elsewhere=("z",)), PASSES, 1),
        (facts(W, C), PASSES, 0),
        (facts(W), PASSES, 0),
        (facts(U), ALLOWED, 3),
        (facts(N, P), PASSES, 3),
        (facts(), ALLOWED, 3),
        (facts(N, P, part=True), PASSES, 0),
        (replace(facts(C, U), musts={"a"}), PASSES, 0),
    ],
)
def test_the_worst_decides_the_exit_code(run, policy, expected):
    """A fault comes before a violation, and that before incompleteness; nothing verified is no pass."""
    assert expected == code(run, policy)


@for_each(
    ("state", "tested", "standing", "expected"),
    [
        ("in-force", True, W, 0),
        ("expires-soon", True, W, 0),
        ("superfluous", True, C, 2),
        ("expired", True, V, 1),
        ("expired", True, U, 2),
        ("expired", False, C, 0),
    ],
)
def test_waivers_to_edit(state, tested, standing, expected):
    """A waiver that must be removed or renewed is an error of the user, and no violation."""
    run = facts(standing, C, waivers=[waiver(WaiverState(state), tested=tested)])
    decision = decide_exit(run, ALLOWED)
    assert expected == decision.exit.value
    assert any("waiver" in reason for reason in decision.reasons) == (expected > 0)


@pytest.mark.parametrize(
    ("text", "floor"),
    [
        ("120", Floor(number=120)),
        ("0", Floor()),
        ("80%", Floor(percent=80.0)),
        ("99.5 %", Floor(percent=99.5)),
        ("100%", Floor(percent=100.0)),
    ],
)
def test_a_floor(text, floor):
    """A floor is a number or a percentage."""
    assert floor == read_floor(text)


@for_each("text", ["", "-1", "many", "101%", "1e3", "5 of 6", "٣", "1" * 30])
def test_no_floor(text):
    """Whatever else is refused, with an example."""
    with pytest.raises(InputError, match="--min-verified: expected a number"):
        read_floor(text)


@for_each(
    ("floor", "standings", "expected"),
    [
        ("3", (C, C, U), 3),
        ("2", (C, C, U), 0),
        ("2", (C, W, U), 0),
        ("67%", (C, C, U), 3),
        ("66%", (C, C, U), 0),
        ("100%", (C, C, N, P), 0),
    ],
)
def test_enough_must_be_verified(floor, standings, expected):
    """What was tested counts, of all that applies."""
    policy = ExitPolicy(allow_incomplete=True, min_verified=read_floor(floor))
    decision = decide_exit(facts(*standings), policy)
    assert expected == decision.exit.value
    assert ("--min-verified" in decision.reasons[0]) == (expected == 3)


@for_each("before", [None, *Standing])
@for_each("now", [None, *Standing])
def test_only_what_is_worse_than_the_baseline_fails(before, now):
    """Newly violated is 1; conformed, but is not verified or planned any more, is 3; else 0."""
    old = {} if before is None else {"a": before}
    new = facts(C) if now is None else facts(now, C)
    if now is None:
        new = replace(new, verdicts={"b": C})
    baseline = Baseline(name="last", verdicts={**old, "b": C})
    decision = decide_exit(new, ExitPolicy(baseline=baseline))
    if now is V and before is not V:
        expected = 1
    elif before is C and (now in OPEN or now in {None, N, P}):
        expected = 3
    else:
        expected = 0
    assert expected == decision.exit.value
    assert all("baseline (last)" in reason for reason in decision.reasons)


def test_another_selection_than_that_of_the_baseline():
    """What is not selected now is not missing."""
    baseline = Baseline(name="last", verdicts={"a": C, "z": C}, whole=False)
    assert 0 == code(facts(C), ExitPolicy(baseline=baseline))
    assert 3 == code(facts(C), ExitPolicy(baseline=replace(baseline, whole=True)))


@for_each("before", [None, *Standing])
@for_each("now", [None, *Standing])
def test_a_change_is_named_once_and_has_an_opposite(before, now):
    """Two equal verdicts are no change; what becomes worse, and better again, has two names."""
    there, back = change_of(before, now), change_of(now, before)
    assert (before is now) == (there is None) == (back is None)
    assert there is not back or there in {ChangeKind.OTHER, ChangeKind.NEWLY_WAIVED, None}
