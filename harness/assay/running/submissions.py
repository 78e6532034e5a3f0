"""Submissions of the requests of one trial, and the bank's own names of requests since.

A history names a request by one key, from the call that made it to its end. Since its submission,
the bank may have another one for it: that is what calls about it send then, and what answers show.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from assay.binding.encode import BARE, encode
from assay.binding.spelling import SLOT, OperationBinding
from assay.binding.submission import SUBMISSION
from assay.binding.target import Target
from assay.contract.model import Json, Operation
from assay.errors import CannotArrange
from assay.history import (
    Accepted,
    Authorised,
    Call,
    Effect,
    Ending,
    Event,
    Exchange,
    Indeterminate,
    Item,
    Outcome,
    Rejected,
    State,
    Step,
    Submit,
    Submitted,
    Unavailable,
)
from assay.running.call_values import making, values_for
from assay.running.consent_tokens import lacks_token
from assay.running.credentials import credentials_for

if TYPE_CHECKING:
    from assay.running.executor import Executor

__all__ = ["Submissions", "sent_call", "submit", "submit_signed"]

#: The status of a refusal that is one of the credentials.
UNAUTHENTICATED = 401


@dataclass(slots=True)
class Submissions:
    """The requests that were submitted: the bank's key of each since, and those it refused then.

    A refusal counts only where the customer had signed the request.
    """

    keys: dict[str, str] = field(default_factory=dict[str, str])
    refused: set[str] = field(default_factory=set[str])

    def bank_key(self, key: str) -> str:
        """Return the key that the bank has for a request now."""
        return self.keys.get(key, key)

    def key(self, bank_key: str) -> str:
        """Return the key of a request in the history, by the bank's own."""
        return next((key for key, own in self.keys.items() if own == bank_key), bank_key)

    def effects(self, done: Iterable[Effect]) -> list[Effect]:
        """Return executions under the keys of the history."""
        return [replace(effect, request=self.key(effect.request)) for effect in done]

    def outcome(self, outcome: Outcome, refused: str | None) -> Outcome:
        """Return an outcome under the keys of the history.

        The answer is about the request `refused`, if it is one: that is not executed any more,
        however its consent is shown.
        """
        if not self.keys and refused is None:
            return outcome
        match outcome:
            case Accepted(items=items) if items is not None:
                return replace(outcome, items=self._items(items, refused))
            case Rejected(leaked=items) | Unavailable(leaked=items):
                return replace(outcome, leaked=self._items(items, refused))
            case _:
                return outcome

    def _items(self, items: tuple[Item, ...], refused: str | None) -> tuple[Item, ...]:
        own = {bank_key: key for key, bank_key in self.keys.items()}
        return tuple(
            replace(
                item,
                key=own.get(item.key or "", item.key),
                fields={name: _known(value, own) for name, value in item.fields.items()},
                state=State.REJECTED if refused and item.state is State.OPEN else item.state,
            )
            for item in items
        )


def _known(value: Json, own: Mapping[str, str]) -> Json:
    return own.get(value, value) if isinstance(value, str) else value


# -- calls about requests ------------------------------------------------------------
def sent_call(executor: Executor, call: Call) -> tuple[Call, Target]:
    """Return a call as it is sent, and the target as its operation is called now, or by this name."""
    target, operation = executor.environment.target, executor.operations[call.operation]
    binding = target.operations.get(operation.id, BARE)
    if (named := binding.under(call.alias)) is not binding:
        target = _with_binding(target, operation, named)
    key = _request_of(call, operation)
    if key not in executor.submissions.keys:
        return call, target
    about, bank_key = operation.about or "", executor.submissions.bank_key(key)
    if call.arguments.get(about) == key and bank_key != key:
        call = replace(call, arguments={**call.arguments, about: bank_key})
    return call, _with_binding(target, operation, binding.submitted or binding)


def refused_request(executor: Executor, call: Call) -> str | None:
    """Return the request that a call is about, if its submission was refused."""
    key = _request_of(call, executor.operations[call.operation])
    return key if key in executor.submissions.refused else None


def _request_of(call: Call, operation: Operation) -> str:
    """Return the key of the request that a call is about, or from which its key was made."""
    about = operation.about or ""
    return call.invented.get(about) or str(call.arguments.get(about, ""))


def _with_binding(target: Target, operation: Operation, binding: OperationBinding) -> Target:
    return replace(target, operations={**target.operations, operation.id: binding})


# -- the submission ------------------------------------------------------------------
def submit_signed(executor: Executor, step: Step, event: Event) -> None:
    """Submit a request that its customer has just signed, or that takes no signature.

    Raises:
        CannotArrange: the bank does not say what it did.

    """
    request = ""
    if isinstance(event, Authorised) and event.ending is Ending.CONFIRMED:
        request = event.step.request
    elif isinstance(event, Exchange) and event.item is not None and isinstance(step, Call):
        operation = executor.operations[step.operation]
        request = (event.item.key or "") if operation.makes and not operation.signed else ""
    submitted = submit(executor, request, signed=True) if request else None
    if submitted is None:
        return
    executor.keep(submitted, submitted.call.subject)
    outcome, key = submitted.outcome, _key_of(executor, submitted)
    if isinstance(outcome, Rejected) and submitted.wire.status != UNAUTHENTICATED:
        executor.submissions.refused.add(request)
    elif not isinstance(outcome, Accepted):
        why = outcome.why if isinstance(outcome, Indeterminate) else ""
        why = why or f"the target answered {submitted.wire.status}"
        raise CannotArrange(f"an outcome of the submission ({'.'.join(key)}): {why}", key=key)


def submit(executor: Executor, request: str, *, signed: bool = False) -> Submitted | None:
    """Submit a request; None if the bank takes no submission of it, or has had it.

    What was `signed` is not submitted if that led to no token. What was not is submitted with the TPP's
    own token, if it takes one of the customer.

    Raises:
        CannotArrange: the call cannot be made.

    """
    made = making(executor, request)
    known = {*executor.submissions.keys, *executor.submissions.refused}
    if made is None or request in known or made.call.malformed or made.call.credentials:
        return None
    target, operation = executor.environment.target, executor.operations[made.call.operation]
    binding = target.operations.get(operation.id, BARE).submission
    if binding is None:
        return None
    call = _call(_in_force(executor, made, request), operation, binding)
    caller = operation if binding.by is None else replace(operation, by_tpp=binding.by == "tpp")
    if signed and lacks_token(executor, request, caller):
        return None
    with_submission = _with_binding(target, operation, binding)
    named = replace(call, consent=request)
    access = credentials_for(executor, named, caller)
    values = values_for(executor, named, with_submission)
    sent = encode(call, caller, with_submission, access, values)
    exchange = executor.submitted(call, sent, request, with_submission)
    outcome = exchange.outcome
    if isinstance(outcome, Accepted):
        shown = exchange.item.key if exchange.item else None
        executor.submissions.keys[request] = shown or request
        executor.kept.keep_submission(request, outcome, binding)
        outcome = executor.submissions.outcome(outcome, None)
    return Submitted(
        n=exchange.n,
        at=exchange.at,
        call=made.call,
        outcome=outcome,
        wire=exchange.wire,
        ms=exchange.ms,
        request=request,
    )


def _in_force(executor: Executor, made: Exchange, request: str) -> Call:
    """Return the call that made a request, with what the TPP has changed since then."""
    call = made.call
    for event in executor.events:
        if not isinstance(event, Exchange) or not event.accepted:
            continue
        operation, sent = executor.operations[event.call.operation], event.call.arguments
        if operation.changes and sent.get(operation.about or "") == request:
            call = replace(
                call,
                arguments={**call.arguments, **sent},
                varied=tuple(name for name in call.varied if name not in sent),
            )
    return call


def _call(made: Call, operation: Operation, binding: OperationBinding) -> Call:
    """Return the call that made a request without what its submission does not say."""
    slots = SLOT.findall(binding.path or operation.path)
    said = {name for name in made.arguments if name in binding.arguments or name in slots}
    unsaid = [name for name in (*operation.arguments, *made.arguments) if name not in said]
    # What identifies a call is another in each.
    unique = {name for name, each in binding.arguments.items() if "{unique}" in str(each.value)}
    arguments = {name: value for name, value in made.arguments.items() if name in said - unique}
    varied = tuple(name for name in made.varied if name in said)
    without = tuple(dict.fromkeys((*made.without, *unsaid)))
    return replace(made, arguments=arguments, varied=varied, without=without, alias=None)


def _key_of(executor: Executor, submitted: Submitted) -> tuple[str, ...]:
    return ("operations", submitted.call.operation, SUBMISSION)


def was_not_submitted(step: Step, event: Event) -> bool:
    """Whether a step asked for a submission that the bank does not take: nothing happened."""
    return isinstance(step, Submit) and not isinstance(event, Submitted)
