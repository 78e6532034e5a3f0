"""Evidence from a reconciled history: each request beside what was executed of it.

The data come from `executions`; the kind `execution` says which facets a clause has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from assay.history import Accepted, Ending, State
from assay.rules.lifecycle import request_queries
from assay.rules.lifecycle.attempts import EARLIER
from assay.rules.lifecycle.execution_record import OVER, Look, Record
from assay.rules.lifecycle.executions import GRACE, Books
from assay.rules.lifecycle.signing import FAILED, REFUSALS
from assay.rules.queries import has_value
from assay.rules.state.calendar import dates
from assay.rules.verdict import (
    AGREES,
    DISAGREES,
    UNCLEAR,
    Agreement,
    Evidence,
    describe_answer,
    doubt,
)

MAIN, ONCE, AS_ASKED, SHOWN = "main-flow", "once", "as-asked", "shown-as-it-is"
EARLY, LATE, CARRIED = "not-early", "not-late", "-carried-out"
REFUSED, REPEAT, DENIED = "refused-undone", "repeat-undone", "denied-undone"
CHANGE = "refused-change-undone"
DENIED_OVER, TIMED_OUT_OVER = "denied-over", "timed-out-over"
TIMED_OUT, CANCELLED, UNSIGNED = "timed-out-undone", "cancelled-undone", "unsigned-undone"
_EXPECTED = {
    REFUSED: "that it is not executed: it was refused or rejected",
    REPEAT: "that it is not executed: it was rejected as a repeat",
    DENIED: "that it is not executed: the customer refused it",
    TIMED_OUT: "that it is not executed: the customer was disconnected",
    CANCELLED: "that it is not executed: it was cancelled",
    UNSIGNED: "that it is not executed: it was never signed",
    DENIED_OVER: "that it is no longer shown as open: the customer refused it",
    TIMED_OUT_OVER: "that it is no longer shown as open: it was not signed in time",
}


def reconcile(books: Books, idle: timedelta) -> Iterator[Evidence]:
    """Yield what a history says of every request; after `idle`, customers are disconnected.

    A customer who was there before may have made the same request before, and a bank may answer
    with that one: then nothing is a violation.
    """
    others_begun = False
    for record in books.records:
        if record.request.subject is None:
            continue
        for evidence in _of_record(books, record, idle, others_begun=others_begun):
            yield _as_known(evidence, record)
        others_begun |= record.request.made.accepted and not _lacking(record)
    for look in books.refusals.looks:
        if look.record.request.subject is not None:
            yield _as_known(_not_changed(look), look.record)


def _as_known(evidence: Evidence, record: Record) -> Evidence:
    return evidence if request_queries.is_known(record.request) else doubt(evidence, EARLIER)


def _of_record(
    books: Books, record: Record, idle: timedelta, *, others_begun: bool
) -> Iterator[Evidence]:
    """Yield what is said of one request."""
    yield from _begun(books, record, others_begun=others_begun)
    not_due = _not_due(books, record, idle)
    if record.request.made.refused:
        yield from _refused(books, record)
    elif not_due is not None:
        yield from _undone(books, record, not_due)
        yield from _over(books, record, idle)
    else:
        yield from _carried_out(books, record)
        yield from _shown(books, record)
    if record.effects:
        yield from _times(record)
        yield from _values(record)
        yield from _day(books, record)


def _evidence(
    record: Record, facet: str, agreement: Agreement, expected: str, seen: str = "", *beside: Record
) -> Evidence:
    controls = tuple(n for each in beside for n in each.request.numbers)
    return Evidence(
        facet=facet,
        agreement=agreement,
        expected=expected,
        seen=seen or record.request.describe(),
        exchanges=tuple(sorted({*record.request.numbers, *controls})),
        variation=record.request.made.call.variation,
        controls=controls,
    )


# -- what must be executed ----------------------------------------------------------
def _begun(books: Books, record: Record, *, others_begun: bool) -> Iterator[Evidence]:
    """Judge whether a request got what it takes to go on: a key and a link.

    A later one, or one in another mode, is judged if an earlier one got both.
    """
    made, lacking = record.request.made, _lacking(record)
    stopped = record.over or any(item.state in OVER for item in made.items)
    if not made.accepted or stopped or not lacking:
        return
    valid = record.valid and record.usual and not books.repeats(record)
    if books.in_main_flow(record) or (others_begun and valid):
        expected = f"that a valid request gets {lacking}"
        seen = f"{describe_answer(made)}, without {lacking}"
        evidence = _evidence(record, _main_facet(books, record), DISAGREES, expected, seen)
        keyless = record.request.key is None
        member = made.member_of(made.item, "key") if keyless else made.member("approval")
        yield replace(evidence, decisive=made.n, member=member)


def _lacking(record: Record) -> str:
    """Return what an accepted request lacks to be signed and read, if anything."""
    outcome = record.request.made.outcome
    approval = isinstance(outcome, Accepted) and outcome.approval is not None
    if record.request.key is None:
        return "a key"
    return "" if approval or record.request.signings else "a link to sign it"


def _main_facet(books: Books, record: Record) -> str:
    """Return the facet of requests that are executed in the mode of a request."""
    plain = books.lifecycle.mode
    main = (record.request.mode or plain) == plain
    return MAIN if main else f"{record.request.mode}{CARRIED}"


def _carried_out(books: Books, record: Record) -> Iterator[Evidence]:
    """Judge a request against the lower bound."""
    request, facet = record.request, _main_facet(books, record)
    fresh = books.plain(record)
    signed = "" if request.unsigned else ", was signed"
    expected = f"that it is executed: it is valid{signed}, and there is no reason to reject it"
    if not books.surely_due(record):
        return
    if record.over and record.done is None:
        if fresh:
            yield _evidence(record, facet, DISAGREES, expected)
    elif record.done is not None:
        yield _evidence(record, facet, AGREES, expected)
    else:
        look = books.last_look(record)
        if books.missing(record):
            seen = f"{request.describe()}, and was not executed"
            yield _evidence(record, facet, DISAGREES, expected, seen)
        elif look is not None and look[0] > (record.signed or 0):
            yield _evidence(record, facet, UNCLEAR, expected)


def _refused(books: Books, record: Record) -> Iterator[Evidence]:
    """Judge a request that was refused at once: as the main flow, and by what was done of it."""
    made = record.request.made
    if books.plain(record) and request_queries.was_refused(made):
        yield _evidence(record, MAIN, DISAGREES, "that a plain request is accepted")
    facet = REPEAT if books.repeats(record) else REFUSED
    opened = books.refusals.opened.get(id(record))
    if opened is not None:
        expected = "that a refused request does not exist"
        evidence = _evidence(record, facet, DISAGREES, expected, "it can be read and is still open")
        yield replace(evidence, exchanges=(made.n, opened.n), controls=())
    if not books.asked_since(record.place) or not books.tells(record):
        return  # nothing shows that the fixture tells what is executed
    if not request_queries.was_refused(made):
        return
    if books.stranger_like(made):
        if not books.unkeyed:
            seen = f"{record.request.describe()}, and it was executed"
            yield _evidence(record, facet, DISAGREES, _EXPECTED[facet], seen)
    elif books.another_was_done(record):
        yield _evidence(record, facet, AGREES, _EXPECTED[facet])


# -- what must not be executed ------------------------------------------------------
def _not_due(books: Books, record: Record, idle: timedelta) -> str | None:
    """Return the facet of the way in which a request was surely not accepted, if it was not."""
    request = record.request
    if request.key is None or not request.made.accepted:
        return None
    rejected = any(state is State.REJECTED for _, state, _ in record.told)
    # Nothing explains that the first plain request of a customer is rejected.
    rejected &= record.done is not None or not (books.plain(record) and books.surely_due(record))
    at_once = request.made.item is not None and request.made.item.state is State.REJECTED
    refused = REPEAT if books.repeats(record) else REFUSED
    ways = (
        (refused, at_once),
        (CANCELLED, record.cancelled is not None),
        (UNSIGNED, not request.signings),
        (DENIED, record.denied),
        (TIMED_OUT, record.timed_out(idle)),
        (refused, rejected and request_queries.signed(request)),
    )
    way = next((facet for facet, holds in ways if holds), None)
    return None if way == CANCELLED and record.revived else way


def _undone(books: Books, record: Record, facet: str) -> Iterator[Evidence]:
    """Judge a request against the upper bound: nothing."""
    done = record.effects[0][0] if record.effects else record.done
    if done is not None:
        seen = f"{record.request.describe()}, and was executed"
        yield _evidence(record, facet, DISAGREES, _EXPECTED[facet], seen)
        return
    control = books.control(record)
    if control is not None:
        yield _evidence(record, facet, AGREES, _EXPECTED[facet], "", control)
    elif books.last_look(record) is not None:
        yield _evidence(record, facet, UNCLEAR, _EXPECTED[facet])


def _over(books: Books, record: Record, idle: timedelta) -> Iterator[Evidence]:
    """Judge the last state shown of a request that was refused, or not signed in time.

    A bank may need some time: a refusal must show once a like request was signed after it, and
    executed; that the time is over must show on a later day.
    """
    signings, signed = record.request.signings, record.signed or 0
    touched = record.request.changes or record.request.ends or record.request.withdrawn
    looks = [look for look in record.told if look[0] > signed]
    if touched or not looks or not signings or signings[-1].wire.status >= FAILED:
        return
    place, state, read = looks[-1]
    control = books.control(record)
    known = control is not None and control.done is not None and control.done <= place
    left = ""
    if record.denied and signings[-1].wire.status not in REFUSALS:
        facet = DENIED_OVER
        left = signings[-1].why if signings[-1].ending is Ending.LEFT else ""
        known = known and control is not None and (control.signed or 0) > signed
    elif record.timed_out(idle):
        facet, zone = TIMED_OUT_OVER, books.lifecycle.contract.zone
        known = known and dates(read.at, zone)[0] > dates(signings[-1].at, zone)[-1]
    else:
        return
    if state in OVER or state is State.OPEN:
        agreement = AGREES if state in OVER else DISAGREES if known and not left else UNCLEAR
        beside = (control,) if control is not None else ()
        yield _evidence(record, facet, agreement, _EXPECTED[facet], left, *beside)


def _not_changed(look: Look) -> Evidence:
    """Judge what is shown, or was executed, after a change that was refused."""
    shown = look.stored or look.kept
    return Evidence(
        facet=CHANGE,
        agreement=DISAGREES if look.stored else AGREES,
        expected="that a refused change has no effect",
        seen=", ".join(f"{name} {value!r}" for name, value in sorted(shown.items())),
        exchanges=tuple(sorted(look.numbers)),
        variation=look.record.request.made.call.variation,
    )


# -- how it is executed -------------------------------------------------------------
def _times(record: Record) -> Iterator[Evidence]:
    times = len(record.effects)
    yield _evidence(
        record,
        ONCE,
        AGREES if times == 1 else DISAGREES,
        "that it is executed once",
        f"it was executed {times} times" if times > 1 else "it was executed once",
    )


def _values(record: Record) -> Iterator[Evidence]:
    """Judge the values of an execution, where those in force are certain."""
    for _, effect, _ in record.effects:
        # What is empty was perhaps not asked for.
        told = [name for name in effect.fields if has_value(record.force.get(name))]
        if not record.certain or not told:
            continue
        wrong = [
            name
            for name in told
            if not request_queries.same_value(effect.fields[name], record.force[name])
        ]
        expected = ", ".join(f"{name} {record.force[name]!r}" for name in wrong or told)
        seen = ", ".join(f"{name} {effect.fields[name]!r}" for name in wrong or told)
        agreement = DISAGREES if wrong else AGREES
        yield _evidence(record, AS_ASKED, agreement, f"that it is executed with {expected}", seen)


def _day(books: Books, record: Record) -> Iterator[Evidence]:
    """Judge the day of an execution; late is one that others on that day were not."""
    day, effect = books.day(record), record.effect
    if day is None or effect is None or not record.certain:
        return
    _, _, told = record.effects[0]
    before = request_queries.is_before_due_day(books.lifecycle, record.force, told)
    early = effect.on < day or before
    seen = f"it was executed on {effect.on}" + (", and was already reported" if before else "")
    expected = f"that it is executed on {day}"
    yield _evidence(record, EARLY, DISAGREES if early else AGREES, expected, seen)
    if early or record.changed or not record.usual or not books.signed_before_its_day(record):
        return
    between = books.executed_between(day, effect.on)
    agreement = AGREES if effect.on == day else DISAGREES if between else UNCLEAR
    yield _evidence(record, LATE, agreement, expected, seen, *((between,) if between else ()))


def _shown(books: Books, record: Record) -> Iterator[Evidence]:
    """Judge each state that was read, beside what the fixture told."""
    told = record.effects[0][0] if record.effects else None
    zone = books.lifecycle.contract.zone
    for place, state, exchange in record.told:
        asked = books.asked_since(place)
        if state is State.DONE and told is not None:
            agreement, seen = AGREES, "it is shown as executed, and was"
        elif state is State.DONE and asked and not books.strangers:
            agreement, seen = DISAGREES, "it is shown as executed, but was not"
        elif told is None or place < told or record.effect is None:
            continue
        elif state in OVER:
            agreement, seen = DISAGREES, f"it was executed, but is shown as {state.value}"
        elif dates(exchange.at, zone)[0] > record.effect.on + timedelta(days=GRACE):
            agreement, seen = DISAGREES, f"it was executed long ago, but is shown as {state.value}"
        else:
            continue
        expected = "that it is shown as executed if and only if it was"
        evidence = _evidence(record, SHOWN, agreement, expected, seen)
        member = exchange.member_of(exchange.item, "state")
        yield replace(evidence, decisive=exchange.n, member=member)
