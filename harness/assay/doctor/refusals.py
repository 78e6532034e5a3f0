"""Are the credentials of the profile taken? What a 401 or a 403 says of the file.

Not whether the bank is right to refuse: a token that opens nothing is a matter of who
wrote the file, until it opens something.

Which argument of a request is misspelt, when an ordinary call is refused as unreadable.

The refusal may name it: its words are held against every name in the request. Where none
fits and there is only one argument, it is that one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from assay.binding.target import AuthKind, OperationBinding, Place, Spelling
from assay.doctor.context import DoctorContext, SeenAnswer
from assay.doctor.finding import Finding, Weight, at
from assay.doctor.pointer_probe import ALIKE, likeness
from assay.history import Accepted

UNAUTHENTICATED, FORBIDDEN = 401, 403
#: What a refusal says of a signature, and of the key that it was made with.
_SIGNATURE = re.compile(r"signature|digest|keyid|key id", re.IGNORECASE)
_KEY = re.compile(r"key.?id|unknown key|no such key|key is not known", re.IGNORECASE)


def credentials(patient: DoctorContext) -> Iterator[Finding]:
    """Judge the refusals of ordinary calls, apart for the customer and the third party."""
    named: set[str] = set()
    for found in _examined(patient):
        if found.key not in named:  # one key for both parties is wrong once
            named.add(found.key)
            yield found


def _examined(patient: DoctorContext) -> Iterator[Finding]:
    for by_provider in (False, True):
        every = [
            one
            for name in patient.operations
            if name.available and name.by_provider is by_provider
            for one in patient.plain(name.id)
        ]
        unknown = [one for one in every if one.status == UNAUTHENTICATED]
        taken = any(isinstance(one.exchange.outcome, Accepted) for one in every)
        if unknown:
            yield from _unknown(patient, unknown, by_provider=by_provider, taken=taken)
        denied = [one for one in every if one.status == FORBIDDEN]
        if denied and not _consequent(patient, denied[0]):
            yield from _denied(patient, denied[0], by_provider=by_provider, taken=taken)


def _consequent(patient: DoctorContext, answer: SeenAnswer) -> bool:
    """Whether a consent that was not given, or not taken, explains a refusal."""
    if not answer.operation.about or answer.operation.request:
        return False
    granting = [one.id for one in patient.operations if one.grants and one.available]
    given = (one for name in granting for one in patient.plain(name))
    return not any(isinstance(one.exchange.outcome, Accepted) for one in given)


def _unknown(
    patient: DoctorContext, answers: list[SeenAnswer], *, by_provider: bool, taken: bool
) -> Iterator[Finding]:
    target, first = patient.target, answers[0]
    said = patient.said(first)
    found = f"401 from {first.operation.id}" + (f": {said}" if said else "")
    if target.fixtures.roles and not by_provider and not target.auth.token_env:
        roles = {one.name for one in target.fixtures.roles}
        for name in dict.fromkeys(patient.played.get(_who(one), "") for one in answers):
            own = (name, "token_env") if name in roles else ()
            place: tuple[str, ...] = ("fixtures", "roles", *own)
            yield at(target, place, "a token that the bank takes", found)
        return
    place = _place(patient, first, by_provider=by_provider)
    weight = Weight.DOUBT if taken else Weight.FAULT
    yield at(target, place, "credentials that the bank takes", found, weight=weight)


def _who(answer: SeenAnswer) -> str:
    return f"{answer.story} {answer.exchange.call.subject}"


def _place(patient: DoctorContext, answer: SeenAnswer, *, by_provider: bool) -> tuple[str, ...]:
    """Return the key whose secret, or way of showing it, is refused."""
    target = patient.target
    said = answer.exchange.wire.body[:2_000].decode("utf-8", "replace")
    challenge = " ".join(v for k, v in answer.exchange.wire.headers if "authenticate" in k.lower())
    if _SIGNATURE.search(said + challenge):
        part = ("key_id",) if target.signature and _KEY.search(said + challenge) else ()
        return ("signature", *part)
    if target.auth.kind is AuthKind.NONE:
        return ("auth",)
    auth, name = target.auth, ["auth"]
    if by_provider and auth.provider:
        auth, name = auth.provider, [*name, "provider"]
    if auth.oauth:
        return (*name, "scope" if "scope" in challenge else "kind")
    return (*name, "token_env" if auth.token_env else "kind")


def _denied(
    patient: DoctorContext, answer: SeenAnswer, *, by_provider: bool, taken: bool
) -> Iterator[Finding]:
    """Say what may be wrong with a token that is known, and does not do.

    Where it does elsewhere, and the call is about something, the bank may well mean it.
    """
    target = patient.target
    challenge = " ".join(v for k, v in answer.exchange.wire.headers if "authenticate" in k.lower())
    auth = target.auth.of(by_provider=by_provider)
    name = ("auth", "provider") if by_provider and target.auth.provider else ("auth",)
    found = f"403 from {answer.operation.id}: {patient.said(answer)}"
    if auth.oauth and (not taken or "insufficient_scope" in challenge):
        place: tuple[str, ...] = (*name, "scope")
        yield at(target, place, "a scope that allows the call", found)
    elif "insufficient_scope" in challenge:
        yield at(target, name, "a token that allows the call", found)
    else:
        place = ("operations", answer.operation.id)
        hint = "is the token one for this interface, and is a consent there?"
        weight = Weight.UNSEEN if taken and answer.operation.about else Weight.DOUBT
        yield at(target, place, "an ordinary call to be allowed", found, hint, weight=weight)


_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{2,60}")
#: Words of a refusal that are looked at.
_MOST = 400


def arguments(patient: DoctorContext, answer: SeenAnswer) -> Iterator[Finding]:
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
