"""What the answers of one trial may be in total."""

from __future__ import annotations

import pytest

from assay.history import Accepted, Cause, Indeterminate, Item, Outcome, Rejected, Wire
from assay.running.calls import MOST_BYTES, MOST_ITEMS, ResponseLimit

WHY = "the answers of this trial have more than 25000 items or 32 MiB in total"


def wire(size: int = 2) -> Wire:
    return Wire(method="GET", url="https://bank.example/a", status=200, body=b"x" * size)


def accepted(number: int) -> Accepted:
    return Accepted(items=(Item(key="a"),) * number)


@pytest.mark.parametrize(
    ("size", "outcome"),
    [
        (2, accepted(MOST_ITEMS)),
        (MOST_BYTES, accepted(1)),
        (MOST_BYTES, Accepted()),
        (2, Rejected(leaked=(Item(),) * MOST_ITEMS)),
        (MOST_BYTES, Indeterminate(cause=Cause.SERVER, why="503")),
    ],
)
def test_up_to_the_limit(size: int, outcome: Outcome) -> None:
    """Answers up to the limit stay as they are."""
    answer = wire(size)
    assert (answer, outcome) == ResponseLimit().limited(answer, outcome)


@pytest.mark.parametrize(
    ("size", "outcome"),
    [
        (2, accepted(MOST_ITEMS + 1)),
        (MOST_BYTES + 1, accepted(1)),
        (2, Rejected(leaked=(Item(),) * (MOST_ITEMS + 1))),
    ],
)
def test_over_the_limit(size: int, outcome: Outcome) -> None:
    """An answer that exceeds the limit loses its content, and is not judged."""
    limited, instead = ResponseLimit().limited(wire(size), outcome)
    assert (b"", True, 200) == (limited.body, limited.truncated, limited.status)
    assert Indeterminate(cause=Cause.TRANSPORT, why=WHY) == instead


def test_answers_are_added_up() -> None:
    """Many answers together have the limit of one; what is left out does not count."""
    limit = ResponseLimit()
    outcomes = [limit.limited(wire(), accepted(10_000))[1] for _ in range(4)]
    small = limit.limited(wire(), accepted(5_000))[1]
    expected = [Accepted, Accepted, Indeterminate, Indeterminate]
    assert (expected, Accepted) == ([type(outcome) for outcome in outcomes], type(small))
