"""Checks of statuses: which key is wrong when an ordinary call is not accepted.

The status shows whether the address, the path, the method, an argument or the matchers of
the outcomes are wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, Final, TypeAlias

from assay.binding.model.submission import SUBMITTED
from assay.binding.model.target import Auth, AuthKind, Matcher, Outcomes, Place, Spelling, Target
from assay.binding.read.absent_parts import absent_grants
from assay.binding.wire.decode import decode
from assay.contract.model import Operation
from assay.files.edits import Edit
from assay.history import Accepted, Cause, Detail, Indeterminate, Rejected, Unavailable
from assay.onboarding.doctor import items
from assay.onboarding.doctor.pointer_probe import ALIKE, likeness, meant, nearest
from assay.onboarding.doctor.probe_plan import HOST
from assay.onboarding.doctor.probes import SIGNED, WAITING
from assay.onboarding.doctor.record import Examined, Finding, SeenAnswer, Weight, by_key
from assay.rules.consent_probes import named_operations
from assay.rules.refusing_kind import RefusingKind
from assay.rules.rule import clauses_of
from assay.rules.verdict import FOR_A_WHILE, UNAVAILABLE

__all__ = ["examine"]

_Judge: TypeAlias = Callable[[Examined, SeenAnswer], Iterator[Finding]]
UNAUTHENTICATED, FORBIDDEN = 401, 403
UNKNOWN, NOT_ALLOWED, NOT_MADE = 404, 405, 501
DENIED = frozenset({UNAUTHENTICATED, FORBIDDEN})
#: The statuses with which banks answer what they do not have.
ABSENT = frozenset({404, 405, 501})
#: The statuses with which banks answer a call that lacks an argument, or has a wrong one.
MALFORMED = frozenset({400, 422})
MOVED, REFUSED = range(300, 400), range(400, 500)
#: The key of a submission that is most likely wrong, by the status of its refusal.
_SUBMISSION_KEYS: Final = {401: "by", UNKNOWN: "path", NOT_ALLOWED: "method"}


def examine(record: Examined) -> Iterator[Finding]:
    """Examine the answers to ordinary calls, operation by operation."""
    called = [
        operation
        for operation in record.operations
        if operation.available and record.plain(operation.id)
    ]
    statuses = {answer.status for operation in called for answer in record.plain(operation.id)}
    if statuses == {UNKNOWN} and len(called) > 1:
        found = f"404 from each of {', '.join(operation.id for operation in called)}"
        yield record.finding(("base_url",), "the operations below this URL", found)
        return
    yield from without_grant(record)
    yield from credentials(record)
    for operation in called:
        yield from _available(record, operation)
    for operation in record.operations:
        if not operation.available:
            yield from _unavailable(record, operation)
    yield from _aliases(record)
    yield from _hosts(record)
    yield from _refused_submissions(record)
    yield from _lost_by_submission(record)


def _available(record: Examined, operation: Operation) -> Iterator[Finding]:
    """Examine the first answer of an available operation that did not accept the call."""
    failed = next((each for each in record.plain(operation.id) if not each.accepted), None)
    if failed is not None and not _follows(record, failed):
        for finding in _not_accepted(record, failed):
            seen_at = "" if finding.key.startswith("operations.") else f"seen at {operation.id}"
            yield replace(finding, hint="; ".join(filter(None, (finding.hint, seen_at))))


def _follows(record: Examined, answer: SeenAnswer) -> bool:
    """Whether a refusal follows from another problem: a missing consent, or a wrong key."""
    operation = answer.operation
    if answer.status not in REFUSED:
        return False
    if operation.request and not operation.makes:
        return any(items.has_wrong_key(record, each) for each in record.operations if each.makes)
    return bool(operation.about) and not all(grant.accepted for grant in record.grants)


def _not_accepted(record: Examined, answer: SeenAnswer) -> Iterator[Finding]:
    """Report what the status says of a call that was not accepted."""
    status = answer.status
    reason = record.not_offered(answer.operation) if status in ABSENT else ""
    if reason:
        found = f"{status}, as `not_offered` says: {reason}"
        yield record.finding(answer.place(), "", found, weight=Weight.NOTE)
    elif answer.good:
        yield from _misread(record, answer)
    elif status in DENIED:
        return  # reported by `credentials`
    elif status in MOVED:
        where = answer.wire.header("Location")
        hint = f"is it {record.redactor.bounded(where, 100)}?" if where else ""
        expected = "an address that answers directly"
        yield record.finding(("base_url",), expected, f"a redirect ({status})", hint)
    elif answer.operation.grants and status in ABSENT:
        yield _no_consents(record, answer)
    elif status in REFUSED and status not in FOR_A_WHILE and _plain_mode_accepted(record, answer):
        yield _mode(record, answer)
    elif status in REFUSED:
        yield from _REFUSALS.get(status, arguments)(record, answer)
    elif status == UNAVAILABLE:
        yield record.unavailable(answer.place(), "an answer")
    else:
        yield _failed(record, answer)


def _no_consents(record: Examined, answer: SeenAnswer) -> Finding:
    """Ask whether the bank has consents, which are optional, or has them at another path."""
    place = answer.place("method" if answer.status == NOT_ALLOWED else "path")
    found = f"{answer.status} at {_path_of(answer)}"
    hint = "if the bank has no consents, say so under `absent`"
    return record.finding(place, "the path of consents", found, hint)


def _path_of(answer: SeenAnswer) -> str:
    return answer.binding.path or answer.operation.path


def _plain_mode_accepted(record: Examined, answer: SeenAnswer) -> bool:
    """Whether the same request was accepted in another mode."""
    plain = record.plain(answer.operation.id)
    accepted = {other.call.mode for other in plain if other.accepted}
    return bool(answer.call.mode and answer.operation.makes and accepted - {answer.call.mode})


def _mode(record: Examined, answer: SeenAnswer) -> Finding:
    """Ask whether the bank offers a mode, or has another word for it."""
    mode, key = answer.call.mode or "", argument_key(answer)
    expected = f"a request in the mode {mode} to be accepted, as in another mode"
    hint = f"if the bank has no {mode} requests, set modes.{mode} to null"
    place = answer.place(*(("modes", mode) if key == ("arguments",) else key))
    return record.finding(place, expected, record.refusal(answer), hint)


def _failed(record: Examined, answer: SeenAnswer) -> Finding:
    """Report that there was no answer, or that the target failed."""
    outcome, place, weight = answer.outcome, answer.place(), Weight.UNSEEN
    found = outcome.why if isinstance(outcome, Indeterminate) else str(answer.status)
    if isinstance(outcome, Indeterminate):
        place = ("timeout",) if outcome.detail is Detail.TIMEOUT else place
        weight = Weight.DOUBT if outcome.cause is Cause.TRANSPORT else weight
    return record.finding(place, "an answer", found, weight=weight)


def _misread(record: Examined, answer: SeenAnswer) -> Iterator[Finding]:
    """Report the matcher that misjudges a good answer, or what keeps all of them from matching."""
    outcome, target = answer.outcome, record.target
    expected = "a successful answer to count as accepted"
    if isinstance(outcome, Rejected | Unavailable):
        name = "rejected" if isinstance(outcome, Rejected) else "unavailable"
        index = matched(target, answer, name)
        if index is not None:
            place = (*_outcomes(target, answer, name), index)
            yield record.finding(place, expected, f"{answer.status} that counts as {name}")
    elif isinstance(outcome, Indeterminate) and outcome.detail is Detail.UNKNOWN_STATUS:
        place = _outcomes(target, answer, "accepted")
        narrow = _narrow(target, answer)
        if narrow:
            media_type = answer.wire.media_type or "none"
            different = f"a different {narrow[1]}"
            found = f"media type {media_type}" if narrow[1] == "media_type" else different
            yield record.finding((*place, *narrow), expected, found)
        else:
            found = f"no matcher for {answer.status}"
            yield record.finding(place, expected, found, "add it to statuses")


#: What the parts of a matcher besides the statuses are where nothing is said of them.
_PARTS: Final[Mapping[str, Any]] = {
    "media_type": None,
    "body": {},
    "empty": None,
    "states": frozenset(),
}


def _narrow(target: Target, answer: SeenAnswer) -> tuple[int, str] | None:
    """Return the `accepted` matcher, and its part, that alone keeps an answer from matching."""
    matchers = (answer.binding.outcomes or target.outcomes).accepted
    for index, matcher in enumerate(matchers):
        for part, unsaid in _PARTS.items():
            wider = replace(matcher, **{part: unsaid})
            if wider != matcher and _matches(target, answer, wider):
                return index, part
    return None


def matched(target: Target, answer: SeenAnswer, name: str) -> int | None:
    """Return the index of the matcher of an outcome that an answer matches, if any."""
    matchers: tuple[Matcher, ...] = getattr(answer.binding.outcomes or target.outcomes, name)
    matching = (n for n, matcher in enumerate(matchers) if _matches(target, answer, matcher))
    return next(matching, None)


def _matches(target: Target, answer: SeenAnswer, matcher: Matcher) -> bool:
    """Whether an answer matches a matcher alone, by the code that decodes it in a run."""
    alone = replace(
        answer.binding, outcomes=Outcomes(unavailable=(), rejected=(matcher,), accepted=())
    )
    name = answer.operation.id
    narrowed = replace(target, operations={**target.operations, name: alone})
    outcome = decode(answer.wire, answer.body, answer.operation, narrowed)
    return isinstance(outcome, Rejected)


def _outcomes(target: Target, answer: SeenAnswer, name: str) -> tuple[str | int, ...]:
    """Return the place of an outcome: in the operation, or the common one."""
    own = answer.place()
    here = target.place(*own, "outcomes", name) != target.place(*own, "outcomes")
    return (*own, "outcomes", name) if answer.binding.outcomes and here else ("outcomes", name)


def _path(record: Examined, answer: SeenAnswer) -> Iterator[Finding]:
    """Report a 404: the path is wrong, or the item that it names does not exist."""
    binding, operation, path = answer.binding, answer.operation, _path_of(answer)
    key = operation.about if f"{{{operation.about}}}" in path else None
    own = f"the contract has {operation.path}"
    hint = own if binding.path else "add `path` with the bank's own path"
    if key and operation.request:
        hint = f"{hint}; or is {key} unknown: see item.key of the operation that creates it"
    fixed = [
        name
        for name, spelling in binding.arguments.items()
        if f"{{{name}}}" in path and spelling.found is None and name != key
    ]
    place = answer.place("arguments", fixed[-1]) if fixed else answer.place("path")
    method = binding.method or operation.method
    if method != operation.method:
        # Some banks answer 404 to another method. Of two lines, the only one is wrong.
        place = place if fixed or binding.path else answer.place("method")
        hint = f"{hint}; is {method} correct? the contract has {operation.method}"
    expected = "an allowed method" if place[-1] == "method" else "the path of an available method"
    yield record.finding(place, expected, "404", hint)


#: The methods that may take the place of another.
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})


def _method(record: Examined, answer: SeenAnswer) -> Iterator[Finding]:
    allow = answer.wire.header("Allow")
    hint = f"allowed: {allow[:60]}" if allow else f"the contract has {answer.operation.method}"
    hint = f"{hint}; if the bank does not offer it, say so under `not_offered` or `absent`"
    found = f"405 to {answer.wire.method}"
    place, only = answer.place("method"), (allow or "").strip()
    edit = None
    if only in _METHODS and answer.binding.method:
        edit = Edit(at=place, old=answer.binding.method, new=only, certain=True)
    yield record.finding(place, "an allowed method", found, hint, edit=edit)


def _media(record: Examined, answer: SeenAnswer) -> Iterator[Finding]:
    place = answer.place("headers") if answer.binding.headers else ("headers",)
    expected = "media types that the bank accepts"
    hint = "set headers under `headers`, for all calls or for one operation"
    yield record.finding(place, expected, record.refusal(answer), hint)


def _rate_limited(record: Examined, answer: SeenAnswer) -> Iterator[Finding]:
    if any(presence.status == answer.status for presence in record.presences):
        return  # reported by `request_effects.presence`
    found = "429: the bank currently limits calls"
    yield record.finding(answer.place(), "an answer", found, weight=Weight.UNSEEN)


#: How the refusal of an ordinary call is explained, by status; others are about arguments.
_REFUSALS: Final[Mapping[int, _Judge]] = {
    404: _path,
    410: _path,
    405: _method,
    406: _media,
    415: _media,
    429: _rate_limited,
}


def _unavailable(record: Examined, operation: Operation) -> Iterator[Finding]:
    """Examine whether the refusal of an unavailable operation counts as one."""
    for answer in record.plain(operation.id)[:1]:
        target, outcome = record.target, answer.outcome
        refused = answer.status in REFUSED or answer.status == NOT_MADE
        if not refused or answer.status in DENIED:
            continue
        if isinstance(outcome, Accepted):
            index = matched(target, answer, "accepted")
            place = (*_outcomes(target, answer, "accepted"), *(() if index is None else (index,)))
            found = f"{answer.status} that counts as accepted"
            yield record.finding(place, "a refusal not to count as accepted", found)
        elif isinstance(outcome, Indeterminate) and outcome.cause is Cause.BINDING:
            place = _outcomes(target, answer, "unavailable")
            expected = "the refusal of an unavailable method to match"
            yield record.finding(place, expected, f"no matcher for {answer.status}")
        elif answer.status in MALFORMED and answer.binding.arguments:
            yield from _not_as_unavailable(record, answer)


def _not_as_unavailable(record: Examined, answer: SeenAnswer) -> Iterator[Finding]:
    """Report a refusal that may be for an argument, where a rule expects another status."""
    contract = record.contract_of(answer.operation)
    expected = [
        status
        for kind in clauses_of(contract)
        if isinstance(kind, RefusingKind) and answer.operation in named_operations(kind)
        for status in kind.refusal_statuses
    ]
    if expected and str(answer.status) not in expected:
        for finding in arguments(record, answer):
            refused = f"a refusal with the status {' or '.join(expected)}"
            yield replace(finding, expected=refused)


def _aliases(record: Examined) -> Iterator[Finding]:
    """Examine the other paths of each method, where its own path is right."""
    for operation in record.operations:
        if any(answer.accepted for answer in record.plain(operation.id)):
            for answer in record.of(operation.id):
                if answer.call.alias is not None and answer.status in {404, 405}:
                    yield _alias(record, answer, answer.call.alias)


def _alias(record: Examined, answer: SeenAnswer, alias: int) -> Finding:
    path = answer.binding.names(answer.operation)[alias]
    near = nearest(path, answer.operation.aliases) if answer.binding.aliases else ""
    hint = meant(repr(near)) if near and near != path else ""
    found = f"{answer.status} at {path}"
    return record.finding(answer.place("aliases", alias), "another path of the method", found, hint)


def _hosts(record: Examined) -> Iterator[Finding]:
    """Examine the other hosts, where the first one has what is called."""
    for answer in record.varied(HOST):
        host, known = answer.call.host, record.first(answer.operation.id)
        if answer.status in ABSENT and host is not None and known is not None and known.accepted:
            found = f"{answer.status} for {answer.operation.id}"
            yield record.finding(("hosts", host), "the operations below this URL", found)


def _refused_submissions(record: Examined) -> Iterator[Finding]:
    """Report a submission that was not accepted, where none of its operation was."""
    for operation in record.submitting:
        answers = [answer for answer in record.submissions if answer.operation is operation]
        if not answers or any(answer.accepted for answer in answers):
            continue
        place = answers[0].place(_SUBMISSION_KEYS.get(answers[0].status, "template"))
        expected = "the submission of a request that was just signed to be accepted"
        hint = "are the path, the form and the token of the submission correct?"
        yield record.finding(place, expected, record.refusal(answers[0]), hint)


def _lost_by_submission(record: Examined) -> Iterator[Finding]:
    """Report an operation that shows requests, but none that was submitted."""
    probes = (record.submitted(probe) for probe in record.events)
    submitted = {each.request for each in chain.from_iterable(probes) if each.accepted}
    for operation in (each for each in record.operations if each.shows):
        shown = [each for each in record.varied(SIGNED, WAITING) if each.operation is operation]
        answers = [each for each in shown if each.about in submitted]
        known = record.binding(operation).submitted or not record.first(operation.id)
        if answers and not known and all(each.status in ABSENT for each in answers):
            expected = "a request to be shown after its submission, too"
            hint = "has it another address then? give it under `submitted`"
            place = answers[0].place(SUBMITTED)
            yield record.finding(place, expected, record.refusal(answers[0]), hint)


# -- Refusals ------------------------------------------------------------------------------------
# Explanations of refused ordinary calls: which credential or argument of the target file is wrong.
#
# A 401 or 403 is taken for a mistake in the file, not of the bank, until the same
# credentials are accepted elsewhere. For another 4xx, the words of the answer are compared
# with the names in the request; where none matches, all sent arguments are listed.
#: The keys of credentials that all calls of a party have.
_OF_ALL_CALLS = frozenset({"kind", "token_in", "token_env"})
#: Words of a refusal that are about the signature, and about its key.
_SIGNATURE = re.compile(r"signature|digest|keyid|key id", re.IGNORECASE)
_KEY = re.compile(r"key.?id|unknown key|no such key|key is not known", re.IGNORECASE)

#: Words of a refusal that may be names, and how many of them are compared.
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{2,60}")
_MOST = 400


def credentials(record: Examined) -> Iterator[Finding]:
    """Examine refusals for credentials, separately for the customer and the TPP."""
    yield from by_key(_by_party(record))  # a key for both parties is reported once


def _by_party(record: Examined) -> Iterator[Finding]:
    for by_tpp in (False, True):
        called = (operation for operation in record.operations if operation.by_tpp is by_tpp)
        answers = record.plain(*(operation.id for operation in called if operation.available))
        accepted = any(answer.accepted for answer in answers)
        known = [each for each in answers if not _missing_grants(record, each)]
        # Where nothing at all is accepted, a token may be wrong, too.
        refused = [
            each for each in (known if accepted else answers) if each.status == UNAUTHENTICATED
        ]
        if refused:
            yield from _unauthenticated(record, refused, by_tpp=by_tpp, accepted=accepted)
        forbidden = next((answer for answer in known if answer.status == FORBIDDEN), None)
        if forbidden and not _without_consent(record, forbidden):
            yield from _forbidden(record, forbidden, by_tpp=by_tpp, accepted=accepted)


def without_grant(record: Examined) -> Iterator[Finding]:
    """Doubt that there is no call for a consent, where the bank refuses calls without one."""
    for operation in record.operations:
        for answer in record.plain(operation.id)[:1]:
            for name in _missing_grants(record, answer):
                given = name in record.contract_of(operation).given
                place = ("operations", name, "given") if given else ("absent", "operations", name)
                expected = "calls to be accepted without the call that makes a consent"
                hint = f"if the bank has such a call, bind operations.{name}"
                found = record.refusal(answer, of=operation.id)
                yield record.finding(place, expected, found, hint)


def _missing_grants(record: Examined, answer: SeenAnswer) -> tuple[str, ...]:
    """Return the operations that would make the consent for a call that was refused without one.

    None if the bank accepts such a call of another item, or refuses it for another reason.
    """
    operation = answer.operation
    if answer.status not in DENIED or operation.request or not operation.available:
        return ()
    if any(each.accepted for each in record.plain(operation.id)):
        return ()
    return absent_grants(record.contract_of(operation), operation)


def _without_consent(record: Examined, answer: SeenAnswer) -> bool:
    """Whether a refusal follows from a consent that was not transmitted or not accepted."""
    about = bool(answer.operation.about and not answer.operation.request)
    return about and not any(grant.accepted for grant in record.grants)


def _unauthenticated(
    record: Examined, answers: list[SeenAnswer], *, by_tpp: bool, accepted: bool
) -> Iterator[Finding]:
    """Report refused credentials: of each customer that has its own, or of the party."""
    target, first = record.target, answers[0]
    found = record.refusal(first, of=first.operation.id)
    # Where nothing is accepted at all, a run could not show anything either.
    served = any(answer.accepted for answer in record.answers)
    weight = Weight.DOUBT if served else Weight.FAULT
    if target.fixtures.roles and not by_tpp and not target.auth.token_env:
        roles = {role.name for role in target.fixtures.roles}
        for name in dict.fromkeys(record.role_of.get(answer.subject, "") for answer in answers):
            own = (name, "token_env") if name in roles else ()
            place = ("fixtures", "roles", *own)
            yield record.finding(place, "a token that the bank accepts", found, weight=weight)
        return
    place, hint = _refused_key(target, first, by_tpp=by_tpp), ""
    if accepted and place[-1] in _OF_ALL_CALLS:
        # A gateway may answer so at a path that it does not know.
        place, hint = first.place("path"), "other calls are accepted with them: is the path right?"
    yield record.finding(place, "credentials that the bank accepts", found, hint, weight=weight)


def _challenge(answer: SeenAnswer) -> str:
    """Return what the headers of an answer say about authentication."""
    headers = answer.wire.headers
    return " ".join(value for name, value in headers if "authenticate" in name.lower())


def _party(target: Target, *, by_tpp: bool) -> tuple[Auth, tuple[str, ...]]:
    """Return how a party authenticates, and the key that says so."""
    if by_tpp and target.auth.tpp:
        return target.auth.tpp, ("auth", "tpp")
    return target.auth, ("auth",)


def _refused_key(target: Target, answer: SeenAnswer, *, by_tpp: bool) -> tuple[str, ...]:
    """Return the key whose secret, or way of sending it, is refused."""
    challenge = _challenge(answer)
    text = answer.wire.body[:2_000].decode("utf-8", "replace") + challenge
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
    record: Examined, answer: SeenAnswer, *, by_tpp: bool, accepted: bool
) -> Iterator[Finding]:
    """Report what may be wrong with a token that is known but not sufficient.

    Where it is accepted elsewhere and the call is about an item, the refusal may be right.
    """
    auth, place = _party(record.target, by_tpp=by_tpp)
    insufficient = "insufficient_scope" in _challenge(answer)
    found = record.refusal(answer, of=answer.operation.id)
    if auth.oauth and (insufficient or not accepted):
        yield record.finding((*place, "scope"), "a scope that allows the call", found)
    elif insufficient:
        yield record.finding(place, "a token that allows the call", found)
    elif not accepted and auth.kind in {AuthKind.NONE, AuthKind.KEY}:
        key = "header" if auth.header else "kind"
        yield record.finding((*place, key), "credentials that the bank accepts", found)
    else:
        expected = "permission for an ordinary call"
        hint = "is the token valid for this interface, and does a consent exist?"
        used = ", ".join(_outputs(record.target, answer))
        hint = f"{hint} Does it need another value than that of {used}?" if used else hint
        right = accepted and _may_be_right(record, answer)
        weight = Weight.UNSEEN if right else Weight.DOUBT
        yield record.finding(answer.place(), expected, found, hint, weight=weight)


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


def _may_be_right(record: Examined, answer: SeenAnswer) -> bool:
    """Whether a bank may refuse a call about an item: some of them, or those of real customers.

    It may not refuse all of a customer's, who was created with them and consented to their use.
    """
    served = any(each.accepted for each in record.plain(answer.operation.id))
    consented = answer.operation.consent is not None and record.makes_customers
    return bool(answer.operation.about) and (served or not consented)


# -- Arguments


def arguments(record: Examined, answer: SeenAnswer) -> Iterator[Finding]:
    """Report the argument that a refusal names, or list all that were sent."""
    place, expected = answer.place(*argument_key(answer)), "an ordinary call to be accepted"
    common = [name for name in ("headers", "queries") if getattr(record.target, name)]
    also = f"; and {' and '.join(common)} of the whole file" if common else ""
    hint = f"sent: {', '.join(_sent(answer)) or 'no arguments'}{also}"
    yield record.finding(place, expected, record.refusal(answer), hint)


def argument_key(answer: SeenAnswer) -> tuple[str, ...]:
    """Return the key, below the operation, of the argument that a refusal is about."""
    text = answer.wire.body[:10_000].decode("utf-8", "replace")
    words = set(_WORD.findall(text)[:_MOST])
    scores = {
        key: max((likeness(word, name) for word in words for name in names), default=0.0)
        for key, names in _names_by_key(answer).items()
    }
    best = max(scores, key=lambda key: scores[key], default=("arguments",))
    likely = len(scores) == 1 or scores.get(best, 0.0) >= max(ALIKE, 0.75)
    return best if likely else ("arguments",)


def _names_by_key(answer: SeenAnswer) -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """Return the key of each sent argument, with the names that a refusal may use for it."""
    call, binding = answer.call, answer.binding
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
