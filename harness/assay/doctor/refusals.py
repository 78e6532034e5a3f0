"""Explanations of refused ordinary calls: which credential or argument of the target file is wrong.

A 401 or 403 is taken for a mistake in the file, not of the bank, until the same
credentials are accepted elsewhere. For another 4xx, the words of the answer are compared
with the names in the request; where none matches, all sent arguments are listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from assay.binding.target import AuthKind, OperationBinding, Place, Spelling
from assay.doctor.context import DoctorContext, Finding, SeenAnswer, Weight
from assay.doctor.pointer_probe import ALIKE, likeness
from assay.history import Accepted

UNAUTHENTICATED, FORBIDDEN = 401, 403
#: Words of a refusal that are about the signature, and about its key.
_SIGNATURE = re.compile(r"signature|digest|keyid|key id", re.IGNORECASE)
_KEY = re.compile(r"key.?id|unknown key|no such key|key is not known", re.IGNORECASE)


def credentials(context: DoctorContext) -> Iterator[Finding]:
    """Examine refusals for credentials, separately for the customer and the TPP."""
    keys: set[str] = set()
    for finding in _by_party(context):
        if finding.key not in keys:  # a key for both parties is reported once
            keys.add(finding.key)
            yield finding


def _by_party(context: DoctorContext) -> Iterator[Finding]:
    for by_provider in (False, True):
        every = [
            one
            for name in context.operations
            if name.available and name.by_provider is by_provider
            for one in context.plain(name.id)
        ]
        accepted = any(isinstance(one.exchange.outcome, Accepted) for one in every)
        unauthenticated = [one for one in every if one.status == UNAUTHENTICATED]
        if unauthenticated:
            yield from _unauthenticated(
                context, unauthenticated, by_provider=by_provider, accepted=accepted
            )
        forbidden = [one for one in every if one.status == FORBIDDEN]
        if forbidden and not _without_consent(context, forbidden[0]):
            yield from _forbidden(context, forbidden[0], by_provider=by_provider, accepted=accepted)


def _without_consent(context: DoctorContext, answer: SeenAnswer) -> bool:
    """Whether a refusal follows from a consent that was not transmitted or not accepted."""
    if not answer.operation.about or answer.operation.request:
        return False
    granting = [one.id for one in context.operations if one.grants and one.available]
    given = (one for name in granting for one in context.plain(name))
    return not any(isinstance(one.exchange.outcome, Accepted) for one in given)


def _unauthenticated(
    context: DoctorContext, answers: list[SeenAnswer], *, by_provider: bool, accepted: bool
) -> Iterator[Finding]:
    """Report refused credentials: of each customer that has its own, or of the party."""
    target, first = context.target, answers[0]
    said = context.excerpt(first)
    found = f"401 from {first.operation.id}" + (f": {said}" if said else "")
    if target.fixtures.roles and not by_provider and not target.auth.token_env:
        roles = {one.name for one in target.fixtures.roles}
        for name in dict.fromkeys(context.role_of.get(_subject(one), "") for one in answers):
            own = (name, "token_env") if name in roles else ()
            place: tuple[str, ...] = ("fixtures", "roles", *own)
            yield context.finding(place, "a token that the bank accepts", found)
        return
    place = _place(context, first, by_provider=by_provider)
    weight = Weight.DOUBT if accepted else Weight.FAULT
    yield context.finding(place, "credentials that the bank accepts", found, weight=weight)


def _subject(answer: SeenAnswer) -> str:
    return f"{answer.probe} {answer.exchange.call.subject}"


def _place(context: DoctorContext, answer: SeenAnswer, *, by_provider: bool) -> tuple[str, ...]:
    """Return the key whose secret, or way of sending it, is refused."""
    target = context.target
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


def _forbidden(
    context: DoctorContext, answer: SeenAnswer, *, by_provider: bool, accepted: bool
) -> Iterator[Finding]:
    """Report what may be wrong with a token that is known but not sufficient.

    Where it is accepted elsewhere and the call is about an item, the refusal may be right.
    """
    target = context.target
    challenge = " ".join(v for k, v in answer.exchange.wire.headers if "authenticate" in k.lower())
    auth = target.auth.of(by_provider=by_provider)
    name = ("auth", "provider") if by_provider and target.auth.provider else ("auth",)
    found = f"403 from {answer.operation.id}: {context.excerpt(answer)}"
    if auth.oauth and (not accepted or "insufficient_scope" in challenge):
        place: tuple[str, ...] = (*name, "scope")
        yield context.finding(place, "a scope that allows the call", found)
    elif "insufficient_scope" in challenge:
        yield context.finding(name, "a token that allows the call", found)
    else:
        place = ("operations", answer.operation.id)
        hint = "is the token valid for this interface, and does a consent exist?"
        weight = Weight.UNSEEN if accepted and answer.operation.about else Weight.DOUBT
        yield context.finding(place, "permission for an ordinary call", found, hint, weight=weight)


_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{2,60}")
#: How many words of a refusal are compared.
_MOST = 400


def arguments(context: DoctorContext, answer: SeenAnswer) -> Iterator[Finding]:
    """Report the argument that a refusal names, or list all that were sent."""
    place = (*_op(answer), *argument_key(answer))
    sent = ", ".join(_sent(answer)) or "no arguments"
    said = context.excerpt(answer)
    found = f"{answer.status}: {said}" if said else str(answer.status)
    yield context.finding(place, "an ordinary call to be accepted", found, f"sent: {sent}")


def argument_key(answer: SeenAnswer) -> tuple[str, ...]:
    """Return the key, below the operation, of the argument that a refusal is about."""
    names_by_key = _names_by_key(answer)
    text = answer.exchange.wire.body[:10_000].decode("utf-8", "replace")
    words = set(_WORD.findall(text)[:_MOST])
    best: tuple[float, tuple[str, ...]] = (0.0, ())
    for key, names in names_by_key.items():
        score = max((likeness(word, name) for word in words for name in names), default=0.0)
        best = max(best, (score, key), key=lambda one: one[0])
    if best[0] >= max(ALIKE, 0.75):
        return best[1]
    if len(names_by_key) == 1:
        return next(iter(names_by_key))
    return ("arguments",)


def _op(answer: SeenAnswer) -> tuple[str, str]:
    return ("operations", answer.operation.id)


def _names_by_key(answer: SeenAnswer) -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """Return the key of each sent argument, with the names that a refusal may use for it."""
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
    """Yield where each argument was sent, without its value."""
    binding = answer.binding
    for section, name in _names_by_key(answer):
        spelling = (binding.arguments if section == "arguments" else binding.modes)[name]
        yield f"{name} in the {spelling.place.value} at {spelling.name or 'the top level'}"
