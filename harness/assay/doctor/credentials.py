"""Are the credentials of the profile taken? What a 401 or a 403 says of the file.

Not whether the bank is right to refuse: a token that opens nothing is a matter of who
wrote the file, until it opens something.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.binding.target import AuthKind
from assay.doctor.context import DoctorContext, SeenAnswer
from assay.doctor.finding import Finding, Weight, at
from assay.history import Accepted

__all__ = ["examine"]

UNAUTHENTICATED, FORBIDDEN = 401, 403
#: What a refusal says of a signature, and of the key that it was made with.
_SIGNATURE = re.compile(r"signature|digest|keyid|key id", re.IGNORECASE)
_KEY = re.compile(r"key.?id|unknown key|no such key|key is not known", re.IGNORECASE)


def examine(patient: DoctorContext) -> Iterator[Finding]:
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
