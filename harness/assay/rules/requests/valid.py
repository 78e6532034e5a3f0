"""Whether a call about a request is valid, as far as a contract and a history tell.

Nothing that is known must speak against it: the values that the contract fixes, who is
served, what a request can be about, who made it. A history seldom tells all; what it
does not tell makes a call doubtful, and a doubtful call convicts nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import cast

from assay.history import Exchange, State, Subject
from assay.model import Clause, Json, Operation
from assay.rules import params
from assay.rules.requests import Book, Life, Request

#: Types of values that a request may well have, as long as none was accepted.
PLAIN = frozenset({str, int, float, Decimal})
#: A request that is put off and was made within the hour is not carried out, in seconds.
HOUR = 3600


def valid(life: Life, operation: Operation, exchange: Exchange, book: Book) -> bool:
    """Whether a call that has been made should be accepted beyond doubt.

    `book` has taken the history in up to this exchange, and may have this one, too.
    """
    if operation.makes:
        made = _made(life, exchange, book.subjects.get(exchange.call.subject))
        typed = _typed(exchange, book)
        return (
            made and typed and not _decided(life, exchange) and not _repeats(life, exchange, book)
        )
    key = str(exchange.call.arguments.get(operation.about or ""))
    request = book.known(key)
    if request is None or request.made.call.by != exchange.call.by:
        return False
    return bool(operation.shows) or (_untouched(request) and _changeable(life, exchange, request))


def _clauses(life: Life, kind: str) -> Iterator[Clause]:
    for clause in life.contract.clauses:
        if clause.kind == kind and clause.params.get("request") == life.request.id:
            yield clause


def _made(life: Life, exchange: Exchange, subject: Subject | None) -> bool:
    call, create = exchange.call, life.create
    named = set(create.arguments)
    if create.due and not life.due(call.mode):
        named.discard(create.due.argument)
    whole = all(call.arguments.get(name) not in (None, "") for name in named)
    fixed = all(
        call.arguments.get(params.text(one, "field")) == params.text(one, "const")
        for one in _clauses(life, "fixed")
    )
    served = all(
        subject is not None and (subject.segment or "") in ("", *params.texts(one, "served"))
        for one in _clauses(life, "segments")
    )
    return whole and fixed and served and call.mode == life.mode and _owned(life, exchange, subject)


def _typed(exchange: Exchange, book: Book) -> bool:
    """Whether its values are of the types of a request that was accepted; or plain ones."""
    taken = next((one.made.call.arguments for one in book.requests if one.made.accepted), {})
    return all(
        type(value) is type(taken[name]) if name in taken else type(value) in PLAIN
        for name, value in exchange.call.arguments.items()
    )


def _decided(life: Life, exchange: Exchange) -> bool:
    """Whether a value stands in it for which some rule may reject a request."""
    sent = exchange.call.arguments
    for clause in _clauses(life, "decision"):
        for leaf in _leaves(clause.params["when"]):
            value = sent.get(str(leaf.get("field")))
            if ("is" in leaf and value == leaf["is"]) or ("above" in leaf and value is not None):
                return True
    return False


def _leaves(condition: Json) -> Iterator[Mapping[str, Json]]:
    """Return the atoms of a condition, whatever joins them."""
    node = cast("Mapping[str, Json]", condition)
    below = [*cast("list[Json]", node.get("all", [])), *cast("list[Json]", node.get("any", []))]
    below += [node["not"]] if "not" in node else []
    if not below:
        yield node
    for one in below:
        yield from _leaves(one)


def _repeats(life: Life, exchange: Exchange, book: Book) -> bool:
    """Whether the like of it may have been carried out already, where that matters."""
    if not any(_clauses(life, "duplicate")):
        return False
    call = exchange.call
    return any(
        one.made.call.arguments == call.arguments
        and one.made.call.mode == call.mode
        and (one.done or one.signings)
        for one in book.requests
    )


def _owned(life: Life, exchange: Exchange, subject: Subject | None) -> bool:
    """Whether it is about something ordinary that the customer owns."""
    if not life.create.owned:
        return True
    one = subject.owned(exchange.call.arguments.get(life.create.owned)) if subject else None
    return one is not None and not any(one.traits.values())


def _untouched(request: Request) -> bool:
    """Whether nothing has happened to a request that might stand in the way of a change."""
    refused = [one for one in request.changes if not one.accepted]
    over = request.signings or request.ends or request.withdrawn or refused[:-1]
    return not over and request.state in (None, State.OPEN)


def _changeable(life: Life, exchange: Exchange, request: Request) -> bool:
    """Whether a change is of a mode that can be changed, before its day, and names little."""
    only = [params.texts(one, "only") for one in _clauses(life, "modification")]
    soon = (exchange.at - request.made.at).total_seconds() < HOUR
    return soon and all(request.mode in modes for modes in only)
