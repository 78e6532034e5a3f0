"""Whether each answer is known to the outcomes, and a refusal is a mistake of our own.

An ordinary call that is not accepted says that something is misspelt: the address, the
path, the method, an argument, or what a status means. Which one, the status tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from assay.binding.decode import decode
from assay.binding.target import Matcher, Outcomes, Target
from assay.contract.model import Operation
from assay.doctor import items, refusals
from assay.doctor.context import DoctorContext, SeenAnswer
from assay.doctor.finding import Finding, Weight, at
from assay.doctor.pointer_probe import nearest
from assay.history import Accepted, Cause, Indeterminate, Rejected, Unavailable

__all__ = ["examine", "matched"]

_Judge: TypeAlias = Callable[[DoctorContext, SeenAnswer], Iterator[Finding]]
UNKNOWN, NOT_MADE, CLOSED = 404, 501, 503
DENIED = frozenset({401, 403})
MOVED, REFUSED = range(300, 400), range(400, 500)


def examine(patient: DoctorContext) -> Iterator[Finding]:
    """Judge the answers to plain calls, operation by operation."""
    called = [one for one in patient.operations if one.available and patient.plain(one.id)]
    if called and all(_status(patient, one) == {UNKNOWN} for one in called) and len(called) > 1:
        what = f"404 from each of {', '.join(one.id for one in called)}"
        yield at(patient.target, ("base_url",), "the operations below it", what)
        return
    yield from refusals.credentials(patient)
    for operation in called:
        refused = next((one for one in patient.plain(operation.id) if not _taken(one)), None)
        if refused is not None and not _follows(patient, refused):
            yield from _refused(patient, refused)
    for operation in patient.operations:
        if not operation.available:
            yield from _unavailable(patient, operation)
    yield from _aliases(patient)


def _status(patient: DoctorContext, operation: Operation) -> set[int]:
    return {one.status for one in patient.plain(operation.id)}


def _taken(answer: SeenAnswer) -> bool:
    return isinstance(answer.exchange.outcome, Accepted)


def _follows(patient: DoctorContext, answer: SeenAnswer) -> bool:
    """Whether a refusal follows from another mistake.

    Without a consent nothing is shown, and by a wrong key nothing is found.
    """
    if answer.operation.request and not answer.operation.makes and answer.status in REFUSED:
        return any(items.miskeyed(patient, one) for one in patient.operations if one.makes)
    granting = [one for one in patient.operations if one.grants and one.available]
    denied = answer.operation.about and answer.status in REFUSED
    return bool(denied) and any(
        not _taken(one) for each in granting for one in patient.plain(each.id)
    )


def _refused(patient: DoctorContext, answer: SeenAnswer) -> Iterator[Finding]:
    status = answer.status
    if answer.good:
        yield from _misread(patient, answer)
    elif status in DENIED:
        return  # said by `credentials`
    elif status in MOVED:
        where = next((v for k, v in answer.exchange.wire.headers if k.lower() == "location"), "")
        what = f"{status}, which sends elsewhere"
        hint = f"is it {patient.redactor.bounded(where, 100)}?" if where else ""
        yield at(patient.target, ("base_url",), "an address that answers itself", what, hint)
    elif status in REFUSED:
        yield from _REFUSALS.get(status, refusals.arguments)(patient, answer)
    elif status == CLOSED:
        what, hint = "503", "it may be closed for the moment: try again later"
        yield at(patient.target, _op(answer), "an answer", what, hint, weight=Weight.UNSEEN)
    else:
        yield from _failed(patient, answer)


def _failed(patient: DoctorContext, answer: SeenAnswer) -> Iterator[Finding]:
    """Say that no answer came, or one that says that the target failed: no line explains that."""
    outcome = answer.exchange.outcome
    why = outcome.why if isinstance(outcome, Indeterminate) else str(answer.status)
    slow = isinstance(outcome, Indeterminate) and outcome.cause is Cause.TRANSPORT
    place = ("timeout",) if slow and "whole answer" in why else _op(answer)
    weight = Weight.DOUBT if slow else Weight.UNSEEN
    yield at(patient.target, place, "an answer", why, weight=weight)


def _misread(patient: DoctorContext, answer: SeenAnswer) -> Iterator[Finding]:
    """Say which matcher takes a good answer for something else, or what none of them knows."""
    outcome, target = answer.exchange.outcome, patient.target
    expected = "a good answer to count as accepted"
    if isinstance(outcome, Rejected | Unavailable):
        name = "rejected" if isinstance(outcome, Rejected) else "unavailable"
        index = matched(target, answer, name)
        if index is not None:
            place = (*_outcomes(target, answer, name), index)
            yield at(target, place, expected, f"{answer.status} that counts as {name}")
    elif isinstance(outcome, Indeterminate) and "do not know" in outcome.why:
        place = _outcomes(target, answer, "accepted")
        narrow = _narrow(target, answer)
        if narrow:
            index, part = narrow
            found = answer.exchange.wire.media_type or "none"
            what = f"media type {found}" if part == "media_type" else f"another {part}"
            yield at(target, (*place, index, part), expected, what)
        else:
            what = f"no matcher that knows {answer.status}"
            yield at(target, place, expected, what, "add it to statuses")


#: The parts of a matcher besides the statuses, each with what takes it out.
_PARTS: Final[Mapping[str, Callable[[Matcher], Matcher]]] = {
    "media_type": lambda one: replace(one, media_type=None),
    "body": lambda one: replace(one, body={}),
    "empty": lambda one: replace(one, empty=None),
    "states": lambda one: replace(one, states=frozenset()),
}


def _narrow(target: Target, answer: SeenAnswer) -> tuple[int, str] | None:
    """Return the matcher of accepted answers, and its part, that alone keeps one from it."""
    every = (answer.binding.outcomes or target.outcomes).accepted
    for index, one in enumerate(every):
        for part, without in _PARTS.items():
            wider = without(one)
            if wider != one and _taken_by(target, answer, wider):
                return index, part
    return None


def matched(target: Target, answer: SeenAnswer, name: str) -> int | None:
    """Return which matcher of an outcome takes an answer, counted from 0, if one does."""
    outcomes = answer.binding.outcomes or target.outcomes
    every: tuple[Matcher, ...] = getattr(outcomes, name)
    taken = (n for n, one in enumerate(every) if _taken_by(target, answer, one))
    return next(taken, None)


def _taken_by(target: Target, answer: SeenAnswer, matcher: Matcher) -> bool:
    """Whether a matcher alone takes an answer: asked of what judges it in a run."""
    alone = replace(
        answer.binding, outcomes=Outcomes(unavailable=(), rejected=(matcher,), accepted=())
    )
    name = answer.operation.id
    spelt = replace(target, operations={**target.operations, name: alone})
    outcome = decode(answer.exchange.wire, answer.body, answer.operation, spelt)
    return isinstance(outcome, Rejected)


def _outcomes(target: Target, answer: SeenAnswer, name: str) -> tuple[str | int, ...]:
    """Return where an outcome is spelt: with the operation, or for all of them."""
    own = _op(answer)
    here = target.place(*own, "outcomes", name) != target.place(*own, "outcomes")
    return (*own, "outcomes", name) if answer.binding.outcomes and here else ("outcomes", name)


def _op(answer: SeenAnswer) -> tuple[str, str]:
    return ("operations", answer.operation.id)


def _path(patient: DoctorContext, answer: SeenAnswer) -> Iterator[Finding]:
    """Say that nothing is there: by the path, or because what it names is not."""
    binding, operation = answer.binding, answer.operation
    path = binding.path or operation.path
    slots = [name for name in binding.arguments if f"{{{name}}}" in path]
    key = operation.about if f"{{{operation.about}}}" in path else None
    place: tuple[str, ...] = (*_op(answer), "path")
    hint = f"the contract has {operation.path}" if binding.path else "add path: as the bank has it"
    if key and operation.request:
        hint = f"{hint}; or is it {key} that is not known: see item.key where it is made"
    for name in slots:
        if binding.arguments[name].found is None and name != key:
            place = (*_op(answer), "arguments", name)
    yield at(patient.target, place, "the path of a method that is available", "404", hint)


def _method(patient: DoctorContext, answer: SeenAnswer) -> Iterator[Finding]:
    allow = next((v for k, v in answer.exchange.wire.headers if k.lower() == "allow"), "")
    hint = f"it allows {allow[:60]}" if allow else f"the contract has {answer.operation.method}"
    found = f"405 to {answer.exchange.wire.method}"
    yield at(patient.target, (*_op(answer), "method"), "a method that is allowed", found, hint)


def _media(patient: DoctorContext, answer: SeenAnswer) -> Iterator[Finding]:
    place = (*_op(answer), "headers") if answer.binding.headers else ("headers",)
    what = f"{answer.status}: {patient.said(answer)}"
    hint = "a header can be given under headers, for all calls or for one operation"
    yield at(patient.target, place, "the media types that the bank speaks", what, hint)


def _slower(patient: DoctorContext, answer: SeenAnswer) -> Iterator[Finding]:
    if any(one.status == answer.status for one in patient.presences):
        return  # said by `presences`
    what = "429: it takes no more calls for now"
    yield at(patient.target, _op(answer), "an answer", what, weight=Weight.UNSEEN)


#: What a refusal of an ordinary call says, where it is not the arguments.
_REFUSALS: Final[Mapping[int, _Judge]] = {
    404: _path,
    410: _path,
    405: _method,
    406: _media,
    415: _media,
    429: _slower,
}


def _unavailable(patient: DoctorContext, operation: Operation) -> Iterator[Finding]:
    """Judge whether the refusal of what is not there is known as one."""
    for answer in patient.plain(operation.id)[:1]:
        target, outcome = patient.target, answer.exchange.outcome
        refused = answer.status in REFUSED or answer.status == NOT_MADE
        if not refused or answer.status in DENIED:
            continue
        if isinstance(outcome, Accepted):
            index = matched(target, answer, "accepted")
            place = _outcomes(target, answer, "accepted")
            what = f"that {answer.status} counts as accepted"
            where = place if index is None else (*place, index)
            yield at(target, where, "a refusal to count as none", what)
        elif isinstance(outcome, Indeterminate) and outcome.cause is Cause.BINDING:
            place = _outcomes(target, answer, "unavailable")
            what = f"no matcher that knows {answer.status}"
            yield at(target, place, "the refusal of a method that is not there", what)


def _aliases(patient: DoctorContext) -> Iterator[Finding]:
    """Judge the other names of the methods."""
    for operation in patient.operations:
        if not any(_taken(one) for one in patient.plain(operation.id)):
            continue
        for answer in patient.of(operation.id):
            alias = answer.exchange.call.alias
            if alias is None or answer.status not in {404, 405}:
                continue
            spelt = answer.binding.aliases
            given = operation.aliases if spelt is None else spelt
            hint = nearest(given[alias], operation.aliases) if spelt else ""
            place = (*_op(answer), "aliases", alias)
            found = f"{answer.status} at {given[alias]}"
            said = f"did you mean {hint!r}?" if hint and hint != given[alias] else ""
            yield at(patient.target, place, "another name of the method", found, said)
