"""Which argument of a request is misspelt, when an ordinary call is refused as unreadable.

The refusal may name it: its words are held against every name in the request. Where none
fits and there is only one argument, it is that one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from assay.binding.target import OperationBinding, Place, Spelling
from assay.doctor.context import DoctorContext, SeenAnswer
from assay.doctor.finding import Finding, at
from assay.doctor.suggest import ALIKE, likeness

__all__ = ["examine", "named"]

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{2,60}")
#: Words of a refusal that are looked at.
_MOST = 400


def examine(patient: DoctorContext, answer: SeenAnswer) -> Iterator[Finding]:
    """Say which argument it is, or list all that were sent."""
    place = (*_op(answer), *named(answer))
    sent = ", ".join(_sent(answer)) or "no argument"
    said = patient.said(answer)
    found = f"{answer.status}: {said}" if said else str(answer.status)
    yield at(patient.target, place, "an ordinary call to be accepted", found, f"it sent {sent}")


def named(answer: SeenAnswer) -> tuple[str, ...]:
    """Return the key, below the operation, of what a refusal complains about."""
    spelt = _spelt(answer)
    text = answer.exchange.wire.body[:10_000].decode("utf-8", "replace")
    words = set(_WORD.findall(text)[:_MOST])
    best: tuple[float, tuple[str, ...]] = (0.0, ())
    for key, names in spelt.items():
        score = max((likeness(word, name) for word in words for name in names), default=0.0)
        best = max(best, (score, key), key=lambda one: one[0])
    if best[0] >= max(ALIKE, 0.75):
        return best[1]
    if len(spelt) == 1:
        return next(iter(spelt))
    return ("arguments",)


def _op(answer: SeenAnswer) -> tuple[str, str]:
    return ("operations", answer.operation.id)


def _spelt(answer: SeenAnswer) -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """Return the keys of what was sent, each with the names that a refusal may use for it."""
    call, binding = answer.exchange.call, answer.binding
    path = binding.path or answer.operation.path
    found: dict[tuple[str, ...], tuple[str, ...]] = {
        ("arguments", name): (name, _last(binding, name))
        for name in {**dict.fromkeys(call.arguments), **dict.fromkeys(call.varied)}
        if f"{{{name}}}" not in path and name in binding.arguments
    }
    if call.mode and call.mode in binding.modes:
        spelling = binding.modes[call.mode]
        found["modes", call.mode] = (spelling.name.rpartition("/")[2] or call.mode,)
    return found


def _last(binding: OperationBinding, name: str) -> str:
    spelling: Spelling = binding.arguments[name]
    if spelling.place is not Place.BODY:
        return spelling.name
    return spelling.name.rpartition("/")[2] or name


def _sent(answer: SeenAnswer) -> Iterator[str]:
    """Yield where each argument was put, without what was put there."""
    binding = answer.binding
    for section, name in _spelt(answer):
        spelling = (binding.arguments if section == "arguments" else binding.modes)[name]
        yield f"{name} in the {spelling.place.value} at {spelling.name or 'the top'}"
