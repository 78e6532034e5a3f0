"""A shortened sequence still violates its obligation, and has no needless step."""

from datetime import timedelta

from rows import for_each

from assay.fuzzing.sequences.abstract_step import AbstractStep, After, OwnedRef, RequestRef
from assay.fuzzing.sequences.shrink import shrink, without
from assay.history import Advance, Arrange, Authorise, Call, Code, Decision, Holding


def arrange(name="psu", *holdings, days=()):
    """Return a step that creates a customer."""
    return AbstractStep(step=Arrange(subject=name, holdings=holdings), days=days)


def call(operation="read", *, subject="psu", page=None, **parts):
    """Return a step that calls an operation."""
    return AbstractStep(step=Call(operation=operation, subject=subject, **parts), page=page)


def operations(sequence):
    """Return the operation of each step, "" for other steps."""
    return [getattr(abstract_step.step, "operation", "") for abstract_step in sequence]


def test_a_step_is_removed_with_those_that_refer_to_it():
    """References are to a request, to a page, and to a customer; other places move."""
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
    kept = without(sequence, range(1, 2))
    assert kept == (sequence[0], call("make", subject="a"), call("list", subject="a", page=1))


def test_only_the_needed_steps_are_left():
    """Of forty steps the two needed ones are left, wherever they stand, with their customer."""
    sequence = tuple([arrange()] + [call("x" if n in {7, 31} else f"noise{n}") for n in range(40)])
    short = shrink(sequence, lambda shorter: operations(shorter).count("x") == 2)
    assert operations(short) == ["", "x", "x"]


@for_each("length", range(1, 12))
def test_every_single_step_is_needed(length):
    """No step of a shortened sequence can be removed."""
    sequence = tuple(call(f"s{n}") for n in range(12))
    wanted = {f"s{n}" for n in range(0, 12, 12 // length)}

    def breaks(shorter):
        return wanted <= set(operations(shorter))

    short = shrink(sequence, breaks)
    assert set(operations(short)) == wanted
    assert not any(breaks(without(short, range(n, n + 1))) for n in range(len(short)))


def test_a_sequence_that_violates_nothing_stays():
    """The sequence is returned as it is once all tries are used."""
    sequence = tuple(call(f"s{n}") for n in range(20))
    tried = []
    assert shrink(sequence, lambda shorter: bool(tried.append(shorter)), most=30) == sequence
    assert len(tried) == 30


def test_no_more_tries_than_allowed():
    """The number of tries is limited; with none the sequence stays."""
    sequence = tuple(call(f"s{n}") for n in range(20))
    assert shrink(sequence, lambda _: True, most=0) == sequence
    assert len(shrink(sequence, lambda _: True, most=1)) == 10


def test_each_step_is_simplified():
    """A step keeps only the members without which nothing is violated."""
    varied = call(
        present=False, alias=1, mode="m", by="other", varied=("a",), arguments={"a": 1, "b": 2}
    )
    (short,) = shrink(
        (varied,),
        lambda shorter: (
            shorter and not shorter[0].step.present and "b" in shorter[0].step.arguments
        ),
    )
    assert short == call(present=False, arguments={"b": 2})


def test_signatures_and_households_are_simplified():
    """A household gets smaller, and its first things keep their places."""
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

    def breaks(shorter):
        return (
            len(shorter) == 3
            and shorter[0].step.holdings[0].count >= 3
            and -90 in shorter[0].days[0]
            and shorter[2].step.code is Code.WRONG
        )

    short = shrink(sequence, breaks)
    assert short[0] == arrange("psu", Holding(resource="account", count=3), days=((-90,),))
    assert short[2].step == Authorise(subject="psu", request="", approval=None, code=Code.WRONG)


def test_a_needed_reference_stays():
    """A call keeps the key of the thing that it is about, if it needs it."""
    sequence = (arrange(), call(arguments={"iban": OwnedRef("psu", 0)}))
    short = shrink(sequence, lambda shorter: len(shorter) == 2 and shorter[1].step.arguments)
    assert short == sequence
