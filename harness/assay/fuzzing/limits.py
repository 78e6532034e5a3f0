"""Limits and cost of a search at a target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.binding.model.target import ScaKind, Target, TransportKind
from assay.fixtures.providers import Customers, customers_of
from assay.fuzzing.findings import SearchRequest

#: The calls for each sequence of a search that only reads.
CALLS = 10
#: The providers whose customers can be new in each trial; each customer says whether it is.
CREATING = frozenset({Customers.CREATED, Customers.CHOSEN})
#: The calls of a sequence, and of a mutated field with its controls, as seen at the sandbox.
CALLS_OF = {"journeys": 37, "fields": 14}
#: The calls of an operation's fixed cases in a search by schemas, and of each random case.
FIXED_CASES, RANDOM_CASE = 30, 1.5
#: Why a search only reads.
LIVE = "the target is a live bank"
LASTING = "the customers of this target are not created for the run"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchLimits:
    """The limits of a search: sequences, steps of each, tries to shorten one, seconds.

    `calls` limits the calls of the generated sequences, for a bank with a quota;
    `restricted` says why they only read with the customer present, where they do;
    signatures are given only if `signs`. The search ends after this many `findings`.
    """

    sequences: int = 100
    steps: int = 25
    tries: int = 400
    seconds: float | None = None
    calls: int | None = None
    findings: int | None = None
    restricted: str = ""
    signs: bool = True

    @property
    def reads(self) -> bool:
        """Whether the search only reads with the customer present."""
        return bool(self.restricted)


def limits_of(target: Target, sequences: int, *, fresh: bool = True) -> SearchLimits:
    """Return how far a search may go at a target.

    A bank in this process is called without restraint; over a network, a sequence is
    replayed less often to make it shorter. A live bank, or one whose customers are not
    created for the run (`fresh`), has real customers and calls: it is only read, a little,
    and findings are not shortened, but replayed once for the record. A person who signs
    is asked for the planned signatures only.
    """
    restricted = LIVE if target.environment == "live" else ""
    if not restricted and not (fresh and customers_of(target) in CREATING):
        restricted = LASTING
    if restricted:
        calls = CALLS * sequences
        return SearchLimits(
            sequences=sequences, steps=10, tries=0, calls=calls, restricted=restricted
        )
    signs = target.sca.kind is not ScaKind.MANUAL
    tries = 400 if target.transport is TransportKind.EMBEDDED else 150
    return SearchLimits(sequences=sequences, tries=tries, signs=signs)


def expected_calls(
    request: SearchRequest, target: Target, operations: int, lives: Sequence[int] = ()
) -> int:
    """Return about how many calls a search will make; arguments are those of `price_of`."""
    most = limits_of(target, request.times).calls
    if most is not None:
        return 0 if request.how == "lives" else most
    if request.how == "schema":
        return round(operations * (FIXED_CASES + RANDOM_CASE * request.times))
    return sum(lives) if request.how == "lives" else CALLS_OF[request.how] * request.times


def price_of(
    request: SearchRequest, target: Target, operations: int, lives: Sequence[int] = ()
) -> str:
    """Return what a search may cost in a contract with this many operations, for a dry run.

    `lives` are the calls of each life.
    """
    limits = limits_of(target, request.times)
    size = {
        "lives": f"{len(lives)} lives of {' and '.join(map(str, sorted({*lives})))} calls",
        "journeys": f"up to {request.times} sequences of up to {limits.steps} steps",
        "fields": f"up to {request.times} sequences, each with its controls",
        "schema": f"the cases of {operations} operations, and {request.times} random ones of each",
    }[request.how]
    price = f"search {request.how} ({request.contract}): {size}"
    if limits.restricted:
        return f"{price}, at most {limits.calls} calls; only reads: {limits.restricted}"
    if customers_of(target) is not Customers.CREATED:
        most = limits_of(target, request.times, fresh=False).calls
        return f"{price}; at most {most} calls that only read, unless each customer is new"
    return price
