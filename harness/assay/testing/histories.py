"""Answers of a bank, and literal histories of calls with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TypeAlias

from assay.contract.model import Json
from assay.history import (
    Accepted,
    Authorise,
    Authorised,
    Call,
    Cause,
    Ending,
    ErrorBody,
    Event,
    Exchange,
    History,
    Indeterminate,
    Item,
    Outcome,
    Rejected,
    ShownError,
    Submitted,
    Unavailable,
    Wire,
)
from assay.rules.checks import evidence_of
from assay.rules.rule import Kind

#: The moment at which literal histories and scripted banks begin.
START = datetime(2026, 9, 16, 8, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a call came back with: its meaning, its status, its headers."""

    outcome: Outcome
    status: int
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


#: A scripted bank, a function from a call to its answer.
Bank: TypeAlias = Callable[[Call], Answer]


def accepted(
    *items: Item | str,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    values: Mapping[str, Json] | None = None,
    next: str | None = None,  # noqa: A002 -- its name in `Accepted`
    approval: str | None = None,
) -> Answer:
    """Return an answer that does what was asked; a text stands for an item with this key.

    Without items the answer shows none; `listed` returns an empty list. `approval` is where
    the customer signs what was asked for.
    """
    outcome = Accepted(
        items=_items(items) or None, values=values or {}, next=next, approval=approval
    )
    return Answer(outcome=outcome, status=status, headers=headers or {})


def listed(
    *items: Item | str,
    next: str | None = None,  # noqa: A002 -- likewise
    values: Mapping[str, Json] | None = None,
) -> Answer:
    """Return an answer with a list, which may be empty; `next` names the next page."""
    outcome = Accepted(items=_items(items), next=next, values=values or {})
    return Answer(outcome=outcome, status=200)


def refused(
    *leaked: Item | str,
    status: int = 403,
    headers: Mapping[str, str] | None = None,
    error: ErrorBody | None = None,
) -> Answer:
    """Return a refusal; `leaked` are items, or their keys, that it discloses all the same.

    `error` is what the target file finds in its body; `errors` returns one.
    """
    outcome = Rejected(leaked=_items(leaked), error=error)
    return Answer(outcome=outcome, status=status, headers=headers or {})


def errors(*codes: str, fields: Mapping[str, Json] | None = None) -> ErrorBody:
    """Return the errors in the body of a refusal: one for each code, with these fields."""
    shown = tuple(ShownError(fields=fields or {}, codes=(code,) if code else ()) for code in codes)
    return ErrorBody(located=("code", *(fields or {})), errors=shown)


def unavailable(*, status: int = 404, headers: Mapping[str, str] | None = None) -> Answer:
    """Return an answer that says that the operation or the thing does not exist."""
    return Answer(outcome=Unavailable(), status=status, headers=headers or {})


def failed(*, status: int = 503, headers: Mapping[str, str] | None = None) -> Answer:
    """Return an answer with which the target itself fails."""
    outcome = Indeterminate(cause=Cause.SERVER, why=f"the target failed ({status})")
    return Answer(outcome=outcome, status=status, headers=headers or {})


def lost() -> Answer:
    """Return what is recorded where no answer arrives."""
    why = "no answer within 10 s"
    return Answer(outcome=Indeterminate(cause=Cause.TRANSPORT, why=why), status=0)


def _items(items: Iterable[Item | str]) -> tuple[Item, ...]:
    return tuple(Item(key=item) if isinstance(item, str) else item for item in items)


# -- literal histories ---------------------------------------------------------------
def exchange(call: Call, answer: Answer, *, at: datetime | None = None) -> Exchange:
    """Return a call with its answer; `history` fills in its number and, without `at`, its time."""
    wire = Wire(
        method="GET",
        url="https://bank.example/",
        status=answer.status,
        headers=tuple(answer.headers.items()),
    )
    return Exchange(n=0, at=at or START, call=call, outcome=answer.outcome, wire=wire)


def signature(
    step: Authorise, *, ending: Ending = Ending.CONFIRMED, at: datetime | None = None
) -> Authorised:
    """Return a signature with its end; `history` fills in its number and, without `at`, its time."""
    wire = Wire(method="POST", url="https://bank.example/sign", status=200)
    moments = (at,) if at else ()
    return Authorised(n=0, step=step, ending=ending, moments=moments, wire=wire)


def history(*events: Event) -> History:
    """Return the events as a history: numbered, and a second apart where no time is given.

    Without `moments`, a signature has one moment, which is its time.
    """
    numbers = count(1)
    return History(events=tuple(_numbered(event, numbers) for event in events))


def _numbered(event: Event, numbers: Iterator[int]) -> Event:
    match event:
        case Exchange():
            n = next(numbers)
            # Only this object says that no time is given: an equal one is a time.
            at = START + timedelta(seconds=n) if event.at is START else event.at
            return replace(event, n=n, at=at)
        case Authorised():
            n = next(numbers)
            moments = event.moments or (START + timedelta(seconds=n),)
            return replace(event, n=n, moments=moments)
        case Submitted():
            return replace(event, n=next(numbers))
        case _:
            return event


def evidence(kind: Kind, history: History, *, tpp: bool = False, alone: bool = False) -> list[str]:
    """Return what a check says of a history, one text for each piece of evidence.

    A text is the facet, the agreement and the numbers of the exchanges, for example
    `returned disagrees 1,2`. With `tpp` it is the check of the TPP's side. With
    `alone` it is the check by itself: other clauses, whose duties of the TPP may explain a
    refusal, are left aside.

    Raises:
        KindError: the check yields evidence for a facet that the kind does not have.

    """
    if alone:
        found = kind.check_tpp(history) if tpp else kind.check(history)
    else:
        found = evidence_of(kind, history, tpp=tpp)
    return [
        f"{item.facet} {item.agreement.value} {','.join(map(str, item.exchanges))}"
        for item in found
    ]
