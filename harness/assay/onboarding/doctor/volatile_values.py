"""Checks of `volatile`: the values of an item that change from one answer to the next by themselves.

The rules compare all other values of an item. So the probe of reads ends with the same calls once
more, and a value that has changed by then is either missing under `volatile`, or a fault of the bank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from assay.binding.pointer import MISSING, find
from assay.binding.spelling import ItemBinding
from assay.contract.model import Json
from assay.contract.scalars import same
from assay.onboarding.doctor.context import Finding, SeenAnswer, ordinary
from assay.onboarding.doctor.pointer_probe import (
    AnsweredOperation,
    PointerProbe,
    compare,
    members,
    paired,
)
from assay.onboarding.doctor.probes import AGAIN

__all__ = ["examine"]

#: The most values that one finding names.
_MOST = 3


def examine(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the pointers, which an item may lack, and what no pointer names."""
    yield from _misspelt(seen)
    again = (each for each in seen.answers if each.exchange.call.variation == AGAIN)
    for answer in again:
        before = _before(seen, answer)
        changed = _changed(before, answer) if before else ()
        if changed:
            pointers = ", ".join(changed[:_MOST])
            yield seen.context.finding(
                seen.place("volatile"),
                "the same values in two answers to the same call",
                f"other values at {pointers}",
                f"if they change by themselves, add {pointers}",
            )


def _misspelt(seen: AnsweredOperation) -> Iterator[Finding]:
    """Doubt a pointer that finds nothing, if another one differs in the spelling of one step."""
    for n, pointer in enumerate(seen.binding.item.volatile or ()):
        probe = PointerProbe(
            feature="volatile", below=(n,), at=(pointer,), fits=_any, spelling_only=True
        )
        for finding in compare(seen, probe, seen.items):
            if finding.hint:
                yield finding


def _any(_value: Json) -> bool:
    return True


def _before(seen: AnsweredOperation, again: SeenAnswer) -> SeenAnswer | None:
    """Return the last ordinary answer to the same call; after it, nothing was consented to."""
    context, call, n = seen.context, again.exchange.call, again.exchange.n
    granted = [each.exchange.n for each in context.grants if each.subject == again.subject]
    former = [
        each
        for each in seen.answers
        if each.subject == again.subject
        and ordinary(each.exchange)
        and each.exchange.call.arguments == call.arguments
        and max(granted, default=-1) < each.exchange.n < n
    ]
    return max(former, key=lambda each: each.exchange.n, default=None)


def _changed(before: SeenAnswer, after: SeenAnswer) -> tuple[str, ...]:
    """Return the pointers at what differs in the items of two answers, except what is volatile.

    A value that has a meaning for the contract does not change by itself, nor does the order of
    the items or their number: that is for the rules to judge.
    """
    old, new = _by_key(before), _by_key(after)
    known = (*_bound(before.binding.item), *(before.binding.item.volatile or ()))
    pointers = (
        pointer
        for key in old.keys() & new.keys()
        for pointer in _different(old[key], new[key])
        if not any(f"{pointer}/".startswith(f"{each}/") for each in known)
    )
    return tuple(sorted({*pointers}))


def _by_key(answer: SeenAnswer) -> Mapping[str, Json]:
    """Return the items as they were sent, by their keys, or by their fields where they have none.

    Of several that cannot be told apart, none: they may come in any order.
    """
    named = [
        (item.key or repr((item.on, sorted(item.fields.items()))), dict(shown))
        for shown, item in paired(answer)
    ]
    number = Counter(name for name, _ in named)
    return {name: shown for name, shown in named if number[name] == 1}


def _bound(item: ItemBinding) -> Iterator[str]:
    """Yield the pointers at what has a meaning for the contract."""
    yield from (*item.key, *item.on, *filter(None, (item.id,)))
    yield from (pointer for each in item.fields.values() for pointer in each.at)
    if item.resource:
        yield item.resource.at
    if item.state:
        yield from item.state.at


def _different(old: Json, new: Json) -> Iterator[str]:
    """Yield the pointers at the values that differ, or that one of two items lacks."""
    for pointer in dict.fromkeys(at for item in (old, new) for at, _ in members(item)):
        mine, others = find(old, pointer), find(new, pointer)
        inside = isinstance(mine, dict) and isinstance(others, dict)
        if isinstance(mine, list) and isinstance(others, list):
            inside = len(mine) == len(others)
        above = find(old, pointer.rpartition("/")[0]), find(new, pointer.rpartition("/")[0])
        if not inside and MISSING not in above and not same(mine, others):
            yield pointer
