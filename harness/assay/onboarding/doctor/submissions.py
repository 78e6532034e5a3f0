"""Submissions of signed requests in an examination, and what their answers show of the file.

The pointers into the answers are examined with those of the operations (`pointers`). A submission
that the bank refuses in an ordinary probe is a mistake of the file: the customer has just signed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from assay.binding.decode import body_of
from assay.binding.encode import BARE
from assay.binding.submission import SUBMISSION, SUBMITTED
from assay.contract.model import Contract, Operation
from assay.history import Event, Exchange, Submitted
from assay.onboarding.doctor.context import DoctorContext, Finding, SeenAnswer, Weight

__all__ = ["note", "refused", "rejected", "unseen"]

NOT_FOUND, NOT_ALLOWED = 404, 405
#: The key that is most likely wrong, by the status of the refusal.
_KEYS: Final = {401: "by", NOT_FOUND: "path", NOT_ALLOWED: "method"}


def note(context: DoctorContext, probe: str, contract: Contract, event: Event) -> None:
    """Keep the answer to a submission, and since then the binding of answers about the request."""
    if isinstance(event, Submitted):
        operation = contract.operations[event.call.operation]
        submission = context.target.operations.get(operation.id, BARE).submission
        if submission is not None:
            context.submissions.append(
                SeenAnswer(
                    probe=probe,
                    operation=operation,
                    binding=submission,
                    exchange=_exchange(event),
                    body=body_of(event.wire),
                    part=SUBMISSION,
                )
            )
    elif isinstance(event, Exchange) and context.answers:
        answer = context.answers[-1]
        binding = answer.binding.submitted
        about = event.call.arguments.get(answer.operation.about or "")
        if binding is not None and about in _submitted(context, probe):
            context.answers[-1] = replace(answer, binding=binding, part=SUBMITTED)


def _exchange(event: Submitted) -> Exchange:
    return Exchange(
        n=event.n, at=event.at, call=event.call, outcome=event.outcome, wire=event.wire, ms=event.ms
    )


def _submitted(context: DoctorContext, probe: str) -> frozenset[str]:
    """Return the requests of a probe whose submission was accepted."""
    events = (event for event in context.events[probe] if isinstance(event, Submitted))
    return frozenset(event.request for event in events if event.accepted)


def rejected(context: DoctorContext, answer: SeenAnswer) -> bool:
    """Whether an answer is about a request whose submission was refused."""
    about = answer.exchange.call.arguments.get(answer.operation.about or "")
    events = (event for event in context.events[answer.probe] if isinstance(event, Submitted))
    return any(event.refused and event.request == about for event in events)


def _submitting(context: DoctorContext) -> Iterator[Operation]:
    """Yield the operations whose requests are submitted."""
    for operation in context.operations:
        if context.target.operations.get(operation.id, BARE).submission is not None:
            yield operation


def refused(context: DoctorContext) -> Iterator[Finding]:
    """Report a submission that was not accepted, where none of its operation was."""
    for operation in _submitting(context):
        answers = [answer for answer in context.submissions if answer.operation is operation]
        if not answers or any(answer.accepted for answer in answers):
            continue
        answer = answers[0]
        key = _KEYS.get(answer.status, "template")
        shown = context.excerpt(answer)
        found = f"{answer.status}{': ' if shown else ''}{shown}"
        expected = "the submission of a request that was just signed to be accepted"
        hint = "are the path, the form and the token of the submission correct?"
        yield context.finding(answer.place(key), expected, found, hint)


def unseen(context: DoctorContext) -> Iterator[Finding]:
    """Report a submission that no probe has come to."""
    for operation in _submitting(context):
        if not any(answer.operation is operation for answer in context.submissions):
            place = ("operations", operation.id, SUBMISSION)
            found = "no request was signed, so none was submitted"
            yield context.finding(place, "", found, weight=Weight.UNSEEN)
