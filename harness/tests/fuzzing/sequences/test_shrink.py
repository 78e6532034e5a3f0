"""A sequence made shorter keeps what it is about, and nothing else."""

from datetime import timedelta

import pytest

from assay.fuzzing.sequences.abstract_step import AbstractStep, After, OwnedRef, RequestRef
from assay.fuzzing.sequences.shrink import shrink, without
from assay.history import Advance, Arrange, Authorise, Call, Code, Decision, Holding


def arrange(name="psu", *holdings, days=()):
    return AbstractStep(step=Arrange(subject=name, holdings=holdings), days=days)


def call(operation="read", *, subject="psu", page=None, **parts):
    return AbstractStep(step=Call(operation=operation, subject=subject, **parts), page=page)


def operations(sequence):
    return [getattr(told.step, "operation", "") for told in sequence]


def test_what_rests_on_a_step_goes_with_it():
    """The request that was made, the page that was named, the customer."""
    sequence = (
        arrange("a"),
        arrange("b"),
        call("make", subject="a"),
        call("make", subject="b"),
        call("show", subject="a", arguments={"id": RequestRef(3)}),
        call("show", subject="b", arguments={"id": RequestRef(2)}),
        AbstractStep(step=Authorise(subject="a", request="", approval=None, by="b"), request=2),
        call("list", subject="a", page=2),
    )
    assert without(sequence, range(8)) == ()
    assert without(sequence, range(2, 3)) == (
        sequence[0],
        sequence[1],
        sequence[3],
        call("show", subject="a", arguments={"id": RequestRef(2)}),
    )
    left = without(sequence, range(1, 2))
    assert left == (sequence[0], call("make", subject="a"), call("list", subject="a", page=1))


def test_what_is_left_is_what_matters():
    """Of forty steps the two that it takes, wherever they stand, and whose they are."""
    sequence = tuple([arrange()] + [call("x" if n in {7, 31} else f"noise{n}") for n in range(40)])
    short = shrink(sequence, lambda told: operations(told).count("x") == 2)
    assert operations(short) == ["", "x", "x"]


@pytest.mark.parametrize("length", range(1, 12))
def test_every_single_step_is_needed(length):
    """No step of what comes out can be left away."""
    sequence = tuple(call(f"s{n}") for n in range(12))
    wanted = {f"s{n}" for n in range(0, 12, 12 // length)}

    def breaks(told):
        return wanted <= set(operations(told))

    short = shrink(sequence, breaks)
    assert set(operations(short)) == wanted
    assert not any(breaks(without(short, range(n, n + 1))) for n in range(len(short)))


def test_a_story_that_breaks_nothing_stays():
    """And is not asked about for ever."""
    sequence = tuple(call(f"s{n}") for n in range(20))
    asked = []
    assert shrink(sequence, lambda told: bool(asked.append(told)), most=30) == sequence
    assert len(asked) == 30


def test_no_more_tries_than_allowed():
    """For a target that is slow; none at all for one that counts its calls."""
    sequence = tuple(call(f"s{n}") for n in range(20))
    assert shrink(sequence, lambda _: True, most=0) == sequence
    assert len(shrink(sequence, lambda _: True, most=1)) == 10


def test_each_step_is_made_plain():
    """As far as it still breaks what it broke."""
    bent = call(
        present=False, alias=1, mode="m", by="other", varied=("a",), arguments={"a": 1, "b": 2}
    )
    (short,) = shrink(
        (bent,), lambda told: told and not told[0].step.present and "b" in told[0].step.arguments
    )
    assert short == call(present=False, arguments={"b": 2})


def test_signatures_and_households_are_made_plain():
    """A smaller household, whose first things keep their places; a plain signature."""
    household = arrange(
        "psu",
        Holding(resource="account", count=7),
        Holding(resource="card", traits={"x": True}),
        days=((-1, -2, -3, -90), None),
    )
    signed = Authorise(
        subject="psu",
        request="",
        approval=None,
        factor="sms",
        code=Code.WRONG,
        decision=Decision.REFUSE,
        pace=timedelta(minutes=3),
    )
    sequence = (
        household,
        AbstractStep(step=Advance(), moment=After(timedelta(1))),
        AbstractStep(step=signed, request=0),
    )

    def breaks(told):
        return (
            len(told) == 3
            and told[0].step.holdings[0].count >= 3
            and -90 in told[0].days[0]
            and told[2].step.code is Code.WRONG
        )

    short = shrink(sequence, breaks)
    assert short[0] == arrange("psu", Holding(resource="account", count=3), days=((-90,),))
    assert short[2].step == Authorise(subject="psu", request="", approval=None, code=Code.WRONG)


def test_what_is_owned_is_left_alone():
    """A call about something still names it, unless it need not."""
    sequence = (arrange(), call(arguments={"iban": OwnedRef("psu", 0)}))
    short = shrink(sequence, lambda told: len(told) == 2 and told[1].step.arguments)
    assert short == sequence
