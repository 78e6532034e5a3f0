"""Division of a plan into shards, which are run by themselves and merged afterwards.

The same plan and number of shards always give the same division. A shard is made of whole clauses:
a trial settles several obligations, and a trial in a further context is compared with the others
of its clause. The clauses with the most calls are dealt out first, each to the shard with the
fewest calls so far.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from decimal import ROUND_DOWN, Decimal

from assay.binding.model.target import Target
from assay.errors import InputError
from assay.planning.plan import Plan, Shard, restrict

__all__ = ["check_divisible", "divide", "part_of", "read_shard", "share", "with_share"]

#: The greatest number of shards.
MOST_SHARDS = 1000

_Clause = tuple[str, str]


def read_shard(text: str, option: str = "--shard") -> Shard:
    """Read a shard such as `2/5`.

    Raises:
        InputError: it is no shard.

    """
    match = re.fullmatch(r"([0-9]{1,4})/([0-9]{1,4})", text)
    number, of = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= of <= MOST_SHARDS:
        what = f"expected a shard from 1/1 to {MOST_SHARDS}/{MOST_SHARDS}, found {text[:40]!r}"
        raise InputError.one(option, what, hint="for example 2/5, the second of five")
    return Shard(number=number, of=of)


def check_divisible(given: Mapping[str, object]) -> None:
    """Check that a run in shards has no option whose work is not divided; `given` is by option.

    Raises:
        InputError: it has.

    """
    for option, value in given.items():
        if value:
            what = "cannot be divided into shards"
            raise InputError.one(option, what, hint=f"run it without --shard: {option}")


def divide(plan: Plan, of: int) -> Mapping[str, int]:
    """Return the number of the shard of each obligation of a plan."""
    calls: Counter[_Clause] = Counter()
    for item in plan.items:
        calls[item.obligation.contract, item.obligation.clause] += 0
    for trial in plan.all_trials:
        calls[trial.contract, trial.clause] += trial.calls
    # A clause without calls goes to the shard with the fewest clauses among the idlest.
    loads = [(0, 0, number) for number in range(1, of + 1)]
    shards: dict[_Clause, int] = {}
    for clause in sorted(calls, key=lambda clause: (-calls[clause], clause)):
        load, clauses, number = min(loads)
        shards[clause] = number
        loads[number - 1] = (load + calls[clause], clauses + 1, number)
    return {
        item.obligation.id: shards[item.obligation.contract, item.obligation.clause]
        for item in plan.items
    }


def part_of(plan: Plan, shard: Shard) -> Plan:
    """Return the part of a plan that a shard runs."""
    shards = divide(plan, shard.of)
    digest = hashlib.sha256(
        "".join(f"{number} {name}\n" for name, number in shards.items()).encode()
    )
    part = restrict(plan, [name for name, number in shards.items() if number == shard.number])
    elsewhere = (
        (position, number, item)
        for position, item in enumerate(plan.items)
        if (number := shards[item.obligation.id]) != shard.number
    )
    known = replace(shard, digest=f"sha256:{digest.hexdigest()}", elsewhere=tuple(elsewhere))
    return replace(part, shard=known)


#: What a share of a sum is rounded down to.
CENT = Decimal("0.01")


def with_share(target: Target, shard: Shard | None, calls: int | None = None) -> Target:
    """Return a target with the part of its limits that a shard may spend, or with `calls`."""
    if shard is not None and target.most_requests is not None:
        requests = share(target.most_requests, shard.number, shard.of)
        target = replace(target, safety=replace(target.safety, requests=requests))
    if shard is not None and target.safety.total:
        sums = {
            name: f"{(Decimal(limit) / shard.of).quantize(CENT, ROUND_DOWN)}"
            for name, limit in target.safety.total.items()
        }
        target = replace(target, safety=replace(target.safety, total=sums))
    most = target.budget.calls
    if most is None:
        return target
    if calls is None and shard is not None:
        calls = share(most, shard.number, shard.of)
    if calls is None or calls >= most:
        return target
    return replace(target, budget=replace(target.budget, calls=calls))


def share(calls: int, number: int, of: int) -> int:
    """Return the share of a part, from 1 on, of calls; all shares together are all calls."""
    return calls * number // of - calls * (number - 1) // of
