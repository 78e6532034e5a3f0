"""Checks of statuses: which key is wrong when an ordinary call is not accepted.

The status shows whether the address, the path, the method, an argument or the matchers of
the outcomes are wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from assay.binding.decode import decode
from assay.binding.target import Matcher, Outcomes, Target
from assay.contract.model import Operation
from assay.doctor import items, refusals, submissions
from assay.doctor.context import DoctorContext, Finding, SeenAnswer, Weight
from assay.doctor.pointer_probe import nearest
from assay.doctor.probe_plan import HOST
from assay.history import Accepted, Cause, Detail, Indeterminate, Rejected, Unavailable
from assay.rules.clauses import clauses_of
from assay.rules.consent_probes import named_operations
from assay.rules.refusing_kind import RefusingKind

__all__ = ["examine", "matched"]

_Judge: TypeAlias = Callable[[DoctorContext, SeenAnswer], Iterator[Finding]]
UNKNOWN, NOT_ALLOWED, NOT_MADE, CLOSED = 404, 405, 501, 503
DENIED = frozenset({401, 403})
#: The statuses with which banks answer what they do not have.
ABSENT = frozenset({404, 405, 501})
#: The statuses with which banks answer a call that lacks an argument, or has a wrong one.
MALFORMED = frozenset({400, 422})
MOVED, REFUSED = range(300, 400), range(400, 500)


def examine(context: DoctorContext) -> Iterator[Finding]:
    """Examine the answers to ordinary calls, operation by operation."""
    called = [
        operation
        for operation in context.operations
        if operation.available and context.plain(operation.id)
    ]
    statuses = {answer.status for operation in called for answer in context.plain(operation.id)}
    if statuses == {UNKNOWN} and len(called) > 1:
        found = f"404 from each of {', '.join(operation.id for operation in called)}"
        yield context.finding(("base_url",), "the operations below this URL", found)
        return
    yield from refusals.without_grant(context)
    yield from refusals.credentials(context)
    for operation in called:
        yield from _available(context, operation)
    for operation in context.operations:
        if not operation.available:
            yield from _unavailable(context, operation)
    yield from _aliases(context)
    yield from _hosts(context)
    yield from submissions.refused(context)


def _available(context: DoctorContext, operation: Operation) -> Iterator[Finding]:
    """Examine the first answer of an available operation that did not accept the call."""
    answers = context.plain(operation.id)
    failed = next((answer for answer in answers if not answer.accepted), None)
    if failed is not None and not _follows(context, failed):
        for finding in _not_accepted(context, failed):
            own = finding.key.startswith("operations.")
            seen_at = "" if own else f"seen at {operation.id}"
            hint = "; ".join(text for text in (finding.hint, seen_at) if text)
            yield replace(finding, hint=hint)


def _follows(context: DoctorContext, answer: SeenAnswer) -> bool:
    """Whether a refusal follows from another problem: a missing consent, or a wrong key."""
    operation = answer.operation
    if answer.status not in REFUSED:
        return False
    if operation.request and not operation.makes:
        return any(
            items.has_wrong_key(context, operation)
            for operation in context.operations
            if operation.makes
        )
    return bool(operation.about) and not all(grant.accepted for grant in context.grants)


def _not_accepted(context: DoctorContext, answer: SeenAnswer) -> Iterator[Finding]:
    """Report what the status says of a call that was not accepted."""
    status = answer.status
    reason = context.not_offered(answer.operation) if status in ABSENT else ""
    if reason:
        found = f"{status}, as `not_offered` says: {reason}"
        yield context.finding(answer.place(), "", found, weight=Weight.NOTE)
    elif answer.good:
        yield from _misread(context, answer)
    elif status in DENIED:
        return  # reported by `refusals.credentials`
    elif status in MOVED:
        where = answer.exchange.wire.header("Location")
        hint = f"is it {context.redactor.bounded(where, 100)}?" if where else ""
        expected, found = "an address that answers directly", f"a redirect ({status})"
        yield context.finding(("base_url",), expected, found, hint)
    elif answer.operation.grants and status in ABSENT:
        yield _no_consents(context, answer)
    elif status in REFUSED and _plain_mode_accepted(context, answer):
        yield _mode(context, answer)
    elif status in REFUSED:
        yield from _REFUSALS.get(status, refusals.arguments)(context, answer)
    elif status == CLOSED:
        hint = "the bank may be under maintenance; try again later"
        yield context.finding(answer.place(), "an answer", "503", hint, weight=Weight.UNSEEN)
    else:
        yield from _failed(context, answer)


def _no_consents(context: DoctorContext, answer: SeenAnswer) -> Finding:
    """Ask whether the bank has consents, which are optional, or has them at another path."""
    path = answer.binding.path or answer.operation.path
    place = answer.place("method" if answer.status == NOT_ALLOWED else "path")
    expected, found = "the path of consents", f"{answer.status} at {path}"
    hint = "if the bank has no consents, say so under `absent`"
    return context.finding(place, expected, found, hint)


def _plain_mode_accepted(context: DoctorContext, answer: SeenAnswer) -> bool:
    """Whether the same request was accepted in another mode."""
    mode, plain = answer.exchange.call.mode, context.plain(answer.operation.id)
    accepted = {other.exchange.call.mode for other in plain if other.accepted}
    return bool(mode and answer.operation.makes and accepted - {mode})


def _mode(context: DoctorContext, answer: SeenAnswer) -> Finding:
    """Ask whether the bank offers a mode, or has another word for it."""
    mode = answer.exchange.call.mode or ""
    found = f"{answer.status}: {context.excerpt(answer)}"
    expected = f"a request in the mode {mode} to be accepted, as in another mode"
    hint = f"if the bank has no {mode} requests, set modes.{mode} to null"
    place = answer.place(*refusals.argument_key(answer))
    where = answer.place("modes", mode) if place == answer.place("arguments") else place
    return context.finding(where, expected, found, hint)


def _failed(context: DoctorContext, answer: SeenAnswer) -> Iterator[Finding]:
    """Report that there was no answer, or that the target failed."""
    outcome = answer.exchange.outcome
    if not isinstance(outcome, Indeterminate):
        yield context.finding(answer.place(), "an answer", str(answer.status), weight=Weight.UNSEEN)
        return
    place = ("timeout",) if outcome.detail is Detail.TIMEOUT else answer.place()
    weight = Weight.DOUBT if outcome.cause is Cause.TRANSPORT else Weight.UNSEEN
    yield context.finding(place, "an answer", outcome.why, weight=weight)


def _misread(context: DoctorContext, answer: SeenAnswer) -> Iterator[Finding]:
    """Report the matcher that misjudges a good answer, or what keeps all of them from matching."""
    outcome, target = answer.exchange.outcome, context.target
    expected = "a successful answer to count as accepted"
    if isinstance(outcome, Rejected | Unavailable):
        name = "rejected" if isinstance(outcome, Rejected) else "unavailable"
        index = matched(target, answer, name)
        if index is not None:
            place = (*_outcomes(target, answer, name), index)
            yield context.finding(place, expected, f"{answer.status} that counts as {name}")
    elif isinstance(outcome, Indeterminate) and outcome.detail is Detail.UNKNOWN_STATUS:
        place = _outcomes(target, answer, "accepted")
        narrow = _narrow(target, answer)
        if narrow:
            index, part = narrow
            media_type = answer.exchange.wire.media_type or "none"
            found = f"media type {media_type}" if part == "media_type" else f"a different {part}"
            yield context.finding((*place, index, part), expected, found)
        else:
            found = f"no matcher for {answer.status}"
            yield context.finding(place, expected, found, "add it to statuses")


#: The parts of a matcher besides the statuses, each with a function that removes it.
_PARTS: Final[Mapping[str, Callable[[Matcher], Matcher]]] = {
    "media_type": lambda matcher: replace(matcher, media_type=None),
    "body": lambda matcher: replace(matcher, body={}),
    "empty": lambda matcher: replace(matcher, empty=None),
    "states": lambda matcher: replace(matcher, states=frozenset()),
}


def _narrow(target: Target, answer: SeenAnswer) -> tuple[int, str] | None:
    """Return the `accepted` matcher, and its part, that alone keeps an answer from matching."""
    matchers = (answer.binding.outcomes or target.outcomes).accepted
    for index, matcher in enumerate(matchers):
        for part, without in _PARTS.items():
            wider = without(matcher)
            if wider != matcher and _matches(target, answer, wider):
                return index, part
    return None


def matched(target: Target, answer: SeenAnswer, name: str) -> int | None:
    """Return the index of the matcher of an outcome that an answer matches, if any."""
    outcomes = answer.binding.outcomes or target.outcomes
    matchers: tuple[Matcher, ...] = getattr(outcomes, name)
    return next(
        (n for n, matcher in enumerate(matchers) if _matches(target, answer, matcher)), None
    )


def _matches(target: Target, answer: SeenAnswer, matcher: Matcher) -> bool:
    """Whether an answer matches a matcher alone, by the code that decodes it in a run."""
    alone = replace(
        answer.binding, outcomes=Outcomes(unavailable=(), rejected=(matcher,), accepted=())
    )
    name = answer.operation.id
    narrowed = replace(target, operations={**target.operations, name: alone})
    outcome = decode(answer.exchange.wire, answer.body, answer.operation, narrowed)
    return isinstance(outcome, Rejected)


def _outcomes(target: Target, answer: SeenAnswer, name: str) -> tuple[str | int, ...]:
    """Return the place of an outcome: in the operation, or the common one."""
    own = answer.place()
    here = target.place(*own, "outcomes", name) != target.place(*own, "outcomes")
    return (*own, "outcomes", name) if answer.binding.outcomes and here else ("outcomes", name)


def _path(context: DoctorContext, answer: SeenAnswer) -> Iterator[Finding]:
    """Report a 404: the path is wrong, or the item that it names does not exist."""
    binding, operation = answer.binding, answer.operation
    path = binding.path or operation.path
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
    yield context.finding(place, expected, "404", hint)


def _method(context: DoctorContext, answer: SeenAnswer) -> Iterator[Finding]:
    allow = answer.exchange.wire.header("Allow")
    hint = f"allowed: {allow[:60]}" if allow else f"the contract has {answer.operation.method}"
    hint = f"{hint}; if the bank does not offer it, say so under `not_offered` or `absent`"
    found = f"405 to {answer.exchange.wire.method}"
    yield context.finding(answer.place("method"), "an allowed method", found, hint)


def _media(context: DoctorContext, answer: SeenAnswer) -> Iterator[Finding]:
    place = answer.place("headers") if answer.binding.headers else ("headers",)
    found = f"{answer.status}: {context.excerpt(answer)}"
    hint = "set headers under `headers`, for all calls or for one operation"
    yield context.finding(place, "media types that the bank accepts", found, hint)


def _rate_limited(context: DoctorContext, answer: SeenAnswer) -> Iterator[Finding]:
    if any(presence.status == answer.status for presence in context.presences):
        return  # reported by `request_effects.presence`
    found = "429: the bank currently limits calls"
    yield context.finding(answer.place(), "an answer", found, weight=Weight.UNSEEN)


#: How the refusal of an ordinary call is explained, by status; others are about arguments.
_REFUSALS: Final[Mapping[int, _Judge]] = {
    404: _path,
    410: _path,
    405: _method,
    406: _media,
    415: _media,
    429: _rate_limited,
}


def _unavailable(context: DoctorContext, operation: Operation) -> Iterator[Finding]:
    """Examine whether the refusal of an unavailable operation counts as one."""
    for answer in context.plain(operation.id)[:1]:
        target, outcome = context.target, answer.exchange.outcome
        refused = answer.status in REFUSED or answer.status == NOT_MADE
        if not refused or answer.status in DENIED:
            continue
        if isinstance(outcome, Accepted):
            index = matched(target, answer, "accepted")
            place = _outcomes(target, answer, "accepted")
            found = f"{answer.status} that counts as accepted"
            where = place if index is None else (*place, index)
            yield context.finding(where, "a refusal not to count as accepted", found)
        elif isinstance(outcome, Indeterminate) and outcome.cause is Cause.BINDING:
            place = _outcomes(target, answer, "unavailable")
            found = f"no matcher for {answer.status}"
            yield context.finding(place, "the refusal of an unavailable method to match", found)
        elif answer.status in MALFORMED and answer.binding.arguments:
            yield from _not_as_unavailable(context, answer)


def _not_as_unavailable(context: DoctorContext, answer: SeenAnswer) -> Iterator[Finding]:
    """Report a refusal that may be for an argument, where a rule expects another status."""
    contract = context.contract_of(answer.operation)
    expected = [
        status
        for kind in clauses_of(contract)
        if isinstance(kind, RefusingKind) and answer.operation in named_operations(kind)
        for status in kind.refusal_statuses
    ]
    if expected and str(answer.status) not in expected:
        for finding in refusals.arguments(context, answer):
            refused = f"a refusal with the status {' or '.join(expected)}"
            yield replace(finding, expected=refused)


def _aliases(context: DoctorContext) -> Iterator[Finding]:
    """Examine the other paths of each method, where its own path is right."""
    for operation in context.operations:
        if any(answer.accepted for answer in context.plain(operation.id)):
            for answer in context.of(operation.id):
                if answer.exchange.call.alias is not None and answer.status in {404, 405}:
                    yield _alias(context, answer, answer.exchange.call.alias)


def _alias(context: DoctorContext, answer: SeenAnswer, alias: int) -> Finding:
    path = answer.binding.names(answer.operation)[alias]
    near = nearest(path, answer.operation.aliases) if answer.binding.aliases else ""
    hint = f"did you mean {near!r}?" if near and near != path else ""
    found = f"{answer.status} at {path}"
    return context.finding(
        answer.place("aliases", alias), "another path of the method", found, hint
    )


def _hosts(context: DoctorContext) -> Iterator[Finding]:
    """Examine the other hosts, where the first one has what is called."""
    for answer in context.answers:
        host, known = answer.exchange.call.host, context.first(answer.operation.id)
        elsewhere = answer.exchange.call.variation == HOST and answer.status in ABSENT
        if elsewhere and host is not None and known is not None and known.accepted:
            found = f"{answer.status} for {answer.operation.id}"
            yield context.finding(("hosts", host), "the operations below this URL", found)
