"""Explanations of refused ordinary calls: which credential or argument of the target file is wrong.

A 401 or 403 is taken for a mistake in the file, not of the bank, until the same
credentials are accepted elsewhere. For another 4xx, the words of the answer are compared
with the names in the request; where none matches, all sent arguments are listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from assay.binding.absent_parts import absent_grants
from assay.binding.target import Auth, AuthKind, Place, Spelling, Target
from assay.doctor.context import DoctorContext, Finding, SeenAnswer, Weight
from assay.doctor.pointer_probe import ALIKE, likeness

UNAUTHENTICATED, FORBIDDEN = 401, 403
#: The keys of credentials that all calls of a party have.
_OF_ALL_CALLS = frozenset({"kind", "token_in", "token_env"})
#: Words of a refusal that are about the signature, and about its key.
_SIGNATURE = re.compile(r"signature|digest|keyid|key id", re.IGNORECASE)
_KEY = re.compile(r"key.?id|unknown key|no such key|key is not known", re.IGNORECASE)

#: Words of a refusal that may be names, and how many of them are compared.
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{2,60}")
_MOST = 400


def credentials(context: DoctorContext) -> Iterator[Finding]:
    """Examine refusals for credentials, separately for the customer and the TPP."""
    keys: set[str] = set()
    for finding in _by_party(context):
        if finding.key not in keys:  # a key for both parties is reported once
            keys.add(finding.key)
            yield finding


def _by_party(context: DoctorContext) -> Iterator[Finding]:
    for by_tpp in (False, True):
        called = (operation for operation in context.operations if operation.by_tpp is by_tpp)
        answers = context.plain(*(operation.id for operation in called if operation.available))
        accepted = any(answer.accepted for answer in answers)
        known = [each for each in answers if not _missing_grants(context, each)]
        # Where nothing at all is accepted, a token may be wrong, too.
        refused = [
            each for each in (known if accepted else answers) if each.status == UNAUTHENTICATED
        ]
        if refused:
            yield from _unauthenticated(context, refused, by_tpp=by_tpp, accepted=accepted)
        forbidden = next((answer for answer in known if answer.status == FORBIDDEN), None)
        if forbidden and not _without_consent(context, forbidden):
            yield from _forbidden(context, forbidden, by_tpp=by_tpp, accepted=accepted)


def without_grant(context: DoctorContext) -> Iterator[Finding]:
    """Doubt that there is no call for a consent, where the bank refuses calls without one."""
    for operation in context.operations:
        for answer in context.plain(operation.id)[:1]:
            for name in _missing_grants(context, answer):
                given = name in context.contract_of(operation).given
                place = ("operations", name, "given") if given else ("absent", "operations", name)
                excerpt = context.excerpt(answer)
                found = f"{answer.status} from {operation.id}" + (f": {excerpt}" if excerpt else "")
                expected = "calls to be accepted without the call that makes a consent"
                hint = f"if the bank has such a call, bind operations.{name}"
                yield context.finding(place, expected, found, hint)


def _missing_grants(context: DoctorContext, answer: SeenAnswer) -> tuple[str, ...]:
    """Return the operations that would make the consent for a call that was refused without one.

    None if the bank accepts such a call of another item, or refuses it for another reason.
    """
    operation, denied = answer.operation, answer.status in {UNAUTHENTICATED, FORBIDDEN}
    if not denied or operation.request or not operation.available:
        return ()
    if any(each.accepted for each in context.plain(operation.id)):
        return ()
    return absent_grants(context.contract_of(operation), operation)


def _without_consent(context: DoctorContext, answer: SeenAnswer) -> bool:
    """Whether a refusal follows from a consent that was not transmitted or not accepted."""
    if not answer.operation.about or answer.operation.request:
        return False
    return not any(grant.accepted for grant in context.grants)


def _unauthenticated(
    context: DoctorContext, answers: list[SeenAnswer], *, by_tpp: bool, accepted: bool
) -> Iterator[Finding]:
    """Report refused credentials: of each customer that has its own, or of the party."""
    target, first = context.target, answers[0]
    excerpt = context.excerpt(first)
    found = f"401 from {first.operation.id}" + (f": {excerpt}" if excerpt else "")
    # Where nothing is accepted at all, a run could not show anything either.
    served = any(answer.accepted for answer in context.answers)
    weight = Weight.DOUBT if served else Weight.FAULT
    if target.fixtures.roles and not by_tpp and not target.auth.token_env:
        roles = {role.name for role in target.fixtures.roles}
        for name in dict.fromkeys(context.role_of.get(answer.subject, "") for answer in answers):
            own = (name, "token_env") if name in roles else ()
            place = ("fixtures", "roles", *own)
            yield context.finding(place, "a token that the bank accepts", found, weight=weight)
        return
    place, hint = _refused_key(target, first, by_tpp=by_tpp), ""
    if accepted and place[-1] in _OF_ALL_CALLS:
        # A gateway may answer so at a path that it does not know.
        place, hint = first.place("path"), "other calls are accepted with them: is the path right?"
    yield context.finding(place, "credentials that the bank accepts", found, hint, weight=weight)


def _challenge(answer: SeenAnswer) -> str:
    """Return what the headers of an answer say about authentication."""
    headers = answer.exchange.wire.headers
    return " ".join(value for name, value in headers if "authenticate" in name.lower())


def _party(target: Target, *, by_tpp: bool) -> tuple[Auth, tuple[str, ...]]:
    """Return how a party authenticates, and the key that says so."""
    if by_tpp and target.auth.tpp:
        return target.auth.tpp, ("auth", "tpp")
    return target.auth, ("auth",)


def _refused_key(target: Target, answer: SeenAnswer, *, by_tpp: bool) -> tuple[str, ...]:
    """Return the key whose secret, or way of sending it, is refused."""
    challenge = _challenge(answer)
    text = answer.exchange.wire.body[:2_000].decode("utf-8", "replace") + challenge
    if _SIGNATURE.search(text):
        return ("signature", "key_id") if target.signature and _KEY.search(text) else ("signature",)
    if target.auth.kind is AuthKind.NONE:
        return ("auth",)
    auth, place = _party(target, by_tpp=by_tpp)
    if auth.oauth and "scope" in challenge:
        return (*place, "scope")
    if auth.token_env and not auth.oauth:
        return (*place, "token_env")
    return (*place, "token_in" if auth.token_in else "kind")


def _forbidden(
    context: DoctorContext, answer: SeenAnswer, *, by_tpp: bool, accepted: bool
) -> Iterator[Finding]:
    """Report what may be wrong with a token that is known but not sufficient.

    Where it is accepted elsewhere and the call is about an item, the refusal may be right.
    """
    auth, place = _party(context.target, by_tpp=by_tpp)
    insufficient = "insufficient_scope" in _challenge(answer)
    found = f"403 from {answer.operation.id}: {context.excerpt(answer)}"
    if auth.oauth and (insufficient or not accepted):
        yield context.finding((*place, "scope"), "a scope that allows the call", found)
    elif insufficient:
        yield context.finding(place, "a token that allows the call", found)
    elif not accepted and auth.kind in {AuthKind.NONE, AuthKind.KEY}:
        key = "header" if auth.header else "kind"
        yield context.finding((*place, key), "credentials that the bank accepts", found)
    else:
        expected = "permission for an ordinary call"
        hint = "is the token valid for this interface, and does a consent exist?"
        used = ", ".join(_outputs(context.target, answer))
        hint = f"{hint} Does it need another value than that of {used}?" if used else hint
        yield context.finding(
            answer.place(),
            expected,
            found,
            hint,
            weight=Weight.UNSEEN if accepted and _may_be_right(context, answer) else Weight.DOUBT,
        )


def _outputs(target: Target, answer: SeenAnswer) -> Iterator[str]:
    """Yield the keys of the outputs that a request sent."""
    binding = answer.binding
    common, own = (target.headers, target.queries), (binding.headers, binding.queries)
    texts = [text for each in (*common, *own) for text in each.values()]
    texts += [binding.path or "", str(binding.template)]
    for operation, other in target.operations.items():
        for name in other.outputs:
            if any(f"{{{name}}}" in text for text in texts):
                yield f"operations.{operation}.outputs.{name}"


def _may_be_right(context: DoctorContext, answer: SeenAnswer) -> bool:
    """Whether a bank may refuse a call about an item: some of them, or those of real customers.

    It may not refuse all of a customer's, who was created with them and consented to their use.
    """
    operation = answer.operation
    served = any(each.accepted for each in context.plain(operation.id))
    consented = operation.consent is not None and context.makes_customers
    return bool(operation.about) and (served or not consented)


# -- Arguments


def arguments(context: DoctorContext, answer: SeenAnswer) -> Iterator[Finding]:
    """Report the argument that a refusal names, or list all that were sent."""
    sent, excerpt = ", ".join(_sent(answer)) or "no arguments", context.excerpt(answer)
    place, expected = answer.place(*argument_key(answer)), "an ordinary call to be accepted"
    found = f"{answer.status}: {excerpt}" if excerpt else str(answer.status)
    common = [name for name in ("headers", "queries") if getattr(context.target, name)]
    also = f"; and {' and '.join(common)} of the whole file" if common else ""
    yield context.finding(place, expected, found, f"sent: {sent}{also}")


def argument_key(answer: SeenAnswer) -> tuple[str, ...]:
    """Return the key, below the operation, of the argument that a refusal is about."""
    names_by_key = _names_by_key(answer)
    text = answer.exchange.wire.body[:10_000].decode("utf-8", "replace")
    answer_words = set(_WORD.findall(text)[:_MOST])
    scores = {
        key: max((likeness(word, name) for word in answer_words for name in names), default=0.0)
        for key, names in names_by_key.items()
    }
    best = max(scores, key=lambda key: scores[key], default=("arguments",))
    if len(scores) == 1 or scores.get(best, 0.0) >= max(ALIKE, 0.75):
        return best
    return ("arguments",)


def _names_by_key(answer: SeenAnswer) -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """Return the key of each sent argument, with the names that a refusal may use for it."""
    call, binding = answer.exchange.call, answer.binding
    path = binding.path or answer.operation.path
    always = (name for name, at in binding.arguments.items() if at.value is not None)
    names: dict[tuple[str, ...], tuple[str, ...]] = {
        ("arguments", name): (name, _last(binding.arguments[name]) or name)
        for name in dict.fromkeys((*call.arguments, *call.varied, *always))
        if f"{{{name}}}" not in path and name in binding.arguments and name not in call.without
    }
    if call.mode and call.mode in binding.modes:
        names["modes", call.mode] = (_last(binding.modes[call.mode]) or call.mode,)
    return names


def _last(spelling: Spelling) -> str:
    """Return the name of a parameter, or the last step of a pointer into the body."""
    return spelling.name.rpartition("/")[2] if spelling.place is Place.BODY else spelling.name


def _sent(answer: SeenAnswer) -> Iterator[str]:
    """Yield where each argument was sent, without its value."""
    binding = answer.binding
    for section, name in _names_by_key(answer):
        spelling = (binding.arguments if section == "arguments" else binding.modes)[name]
        yield f"{name} in the {spelling.place.value} at {spelling.name or 'the top level'}"
