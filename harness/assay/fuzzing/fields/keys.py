"""Generated keys of things and requests, which only the target can name."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis.strategies import SearchStrategy, integers

from assay.contract.model import Json
from assay.fuzzing.fields.shape import Argument, Keys, Value
from assay.fuzzing.fields.texts import IBANS
from assay.fuzzing.sequences.abstract_step import OwnedRef
from assay.fuzzing.sequences.actions import OTHER, SELF

#: One of this many things of the customer is picked; the customer of a sequence owns as
#: many.
MANY = 64
#: The most keys in a list of them.
FEW = 4
#: Keys that exist nowhere, whatever a target's keys look like.
UNKNOWN = ("0", "unknown-4711", "00000000-0000-4000-8000-000000000000", *IBANS)


def is_key(argument: Argument) -> bool:
    """Whether it names one thing, or one request."""
    return argument.keys in {Keys.OWNED, Keys.MADE}


def is_keys(argument: Argument) -> bool:
    """Whether it names things, in a list."""
    return argument.keys is Keys.SEVERAL


def own(_argument: Argument) -> SearchStrategy[Value]:
    """One thing of the customer's; a story counts on from the last to the first."""
    return integers(0, MANY - 1).map(lambda n: Value("of his own", OwnedRef(SELF, n)))


def owns(_argument: Argument) -> SearchStrategy[Value]:
    """One thing of the customer's, or the first few."""

    def listed(n: int) -> Value:
        first, count = divmod(n, FEW)
        return Value("of his own", [OwnedRef(SELF, first + place) for place in range(count + 1)])

    return integers(0, MANY - 1).map(listed)


def strangers(argument: Argument) -> Iterator[Value]:
    """What belongs to somebody else, or to nobody."""
    if argument.keys is Keys.OWNED:
        yield Value("of somebody else's", OwnedRef(OTHER, 0))
    for text in dict.fromkeys((*UNKNOWN, *argument.strange)):
        yield Value("of nobody's", text)


def edge_lists(_argument: Argument) -> Iterator[Value]:
    """One thing, the same thing twice, and two in another order."""
    first, second = OwnedRef(SELF, 0), OwnedRef(SELF, 1)
    yield Value("of one", [first])
    yield Value("of the same twice", [first, first])
    yield Value("in another order", [second, first])


def beyond_lists(argument: Argument) -> Iterator[Value]:
    """Lists that name what is not the customer's beside what is, or nothing, or no key."""
    first = OwnedRef(SELF, 0)
    listed: list[tuple[str, list[Json]]] = [
        ("of nothing", []),
        ("of somebody else's", [OwnedRef(OTHER, 0)]),
        ("of his own and somebody else's", [first, OwnedRef(OTHER, 0)]),
        ("of null", [None]),
        ("of his own and null", [first, None]),
        ("of a number", [4711]),
        ("of an empty text", [""]),
        ("of a list", [[first]]),
        ("of an object", [{"key": first}]),
        ("of the same many times", [first] * 500),
    ]
    for text in UNKNOWN[:2]:
        listed.append(("of nobody's", [text]))
        listed.append(("of his own and nobody's", [first, text]))
    yield from (Value(says, value) for says, value in listed)
    yield Value("one that is no list", first)
    yield Value("an object of one", {"0": first})
