"""Date ranges: a range compared with the full list, and two ranges that meet on a day.

The full list is shown when no range is asked for. It may go back less far than a range,
so a range is compared with it only from its oldest item on. Whether a range includes
the days that it names is left open; but of two ranges that meet on a day, one must show
the items of that day.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date

from assay.contract.model import Operation
from assay.rules.state.answers import ComparedAnswer, Question, SeenAnswers
from assay.rules.verdict import AGREES, DISAGREES, UNCLEAR, Agreement, Evidence

SHORTER, MEETING = "shorter-range", "meeting-ranges"


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The first and last day that a question asks for; None where it names none."""

    since: date | None
    until: date | None

    def outside(self, on: date) -> bool:
        """Whether a date is certainly outside."""
        return bool((self.since and on < self.since) or (self.until and on > self.until))

    def inside(self, on: date) -> bool:
        """Whether a date is certainly inside."""
        return not self.outside(on) and on not in {self.since, self.until}

    def __str__(self) -> str:
        return f"from {self.since or 'the first'} to {self.until or 'the last'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edge:
    """The items of a day in a range that begins or ends on it."""

    n: int
    keys: frozenset[str]


@dataclass(slots=True, kw_only=True)
class _Whole:
    """The full list, shown without a range, by date."""

    n: int
    on: Mapping[str, date]
    days: list[date]
    of_day: Mapping[date, frozenset[str]]
    begin: dict[date, _Edge] = field(default_factory=dict[date, _Edge])
    end: dict[date, _Edge] = field(default_factory=dict[date, _Edge])


@dataclass(slots=True, kw_only=True)
class Ranges:
    """The full list and the ranges that were shown of each thing; `judge` advances it."""

    _wholes: dict[Question, tuple[int, _Whole | None]] = field(
        default_factory=dict[Question, tuple[int, "_Whole | None"]]
    )

    def judge(self, operation: Operation, seen: SeenAnswers) -> Iterator[Evidence]:
        """Judge a complete answer to a question for a range by what was shown before it."""
        answer, call = seen.answer, seen.answer.call
        ends = {operation.since, operation.until} - {None}
        varied = call.mode or call.without or call.varied
        if not ends or varied or not call.arguments.keys() <= {operation.about, *ends}:
            return
        about = repr(call.arguments.get(operation.about or ""))
        way = call.alias, call.host, call.by, call.present
        thing = call.subject, call.operation, about, way
        if not call.arguments.keys() & ends:
            self._wholes[thing] = answer.state, _whole(answer)
            return
        asked = _asked(operation, seen)
        if asked is not None:
            state, whole = self._wholes.get(thing, (None, None))
            yield from _judge(seen, asked, whole if state == answer.state else None)


def _asked(operation: Operation, seen: SeenAnswers) -> Range | None:
    """Return the range of a call; None if it is empty or malformed."""
    days: list[date | None] = []
    for name in (operation.since, operation.until):
        value = seen.answer.call.arguments.get(name or "")
        try:
            days.append(None if value is None else date.fromisoformat(str(value)))
        except ValueError:
            return None
    since, until = days
    if (since is None and until is None) or (since and since > min(until or since, seen.today)):
        return None
    return Range(since=since, until=until)


def _whole(answer: ComparedAnswer) -> _Whole | None:
    """Index an answer by date; None if not every item has a key and a date."""
    on: dict[str, date] = {}
    of_day: dict[date, set[str]] = {}
    for item in answer.items:
        if item.key is None or item.on is None:
            return None
        if on.setdefault(item.key, item.on) == item.on:
            of_day.setdefault(item.on, set()).add(item.key)
    if not on:
        return None
    return _Whole(
        n=answer.pages[0].n,
        on=on,
        days=sorted(on.values()),
        of_day={day: frozenset(keys) for day, keys in of_day.items()},
    )


def _judge(seen: SeenAnswers, asked: Range, whole: _Whole | None) -> Iterator[Evidence]:
    answer = seen.answer
    outside = sum(1 for item in answer.items if item.on and asked.outside(item.on))
    compared = whole and (asked.since is None or asked.since >= whole.days[0])
    if whole is None or not compared:
        if outside:
            yield _shorter(seen, asked, None, DISAGREES, f"{outside} items are outside the range")
        return
    shown = {item.key for item in answer.items if item.key is not None}
    extra, owed = _extra(answer, whole), _owed(seen, asked, whole)
    lost = owed - sum(1 for key in shown if _is_owed(seen, asked, whole.on.get(key)))
    if outside or lost or (extra and seen.settled):
        agreement = DISAGREES
    else:
        agreement = UNCLEAR if extra else AGREES
    if agreement is not AGREES or owed:
        said = (
            f"{outside} are outside the range, {extra} are not in the full list, {lost} are missing"
        )
        yield _shorter(
            seen, asked, whole, agreement, "exactly these" if agreement is AGREES else said
        )
    yield from _meet(seen, asked, whole)


def _extra(answer: ComparedAnswer, whole: _Whole) -> int:
    """Count the items shown although the full list, which goes further back, lacks them."""
    first, last = whole.days[0], whole.days[-1]
    return sum(
        1
        for item in answer.items
        if item.key is not None
        and item.on is not None
        and first < item.on <= last
        and item.key not in whole.on
    )


def _is_owed(seen: SeenAnswers, asked: Range, on: date | None) -> bool:
    """Whether an item of the full list with this date must be in the range."""
    return on is not None and asked.inside(on) and (seen.settled or on < seen.lately)


def _owed(seen: SeenAnswers, asked: Range, whole: _Whole) -> int:
    """Count the items of the full list that must be in the range."""
    days = whole.days
    low = bisect_right(days, asked.since) if asked.since else 0
    high = bisect_left(days, asked.until) if asked.until else len(days)
    if not seen.settled:
        high = min(high, bisect_left(days, seen.lately))
    return max(0, high - low)


def _shorter(
    seen: SeenAnswers, asked: Range, whole: _Whole | None, agreement: Agreement, said: str
) -> Evidence:
    control = (whole.n,) if whole else ()
    return Evidence(
        facet=SHORTER,
        agreement=agreement,
        expected=f"the entries of the full list {asked}, and no others",
        seen=said,
        exchanges=(*control, *(page.n for page in seen.answer.pages)),
        controls=control,
        variation=seen.answer.call.variation,
    )


def _meet(seen: SeenAnswers, asked: Range, whole: _Whole) -> Iterator[Evidence]:
    """Judge the two days on which a range may meet another one."""
    if asked.since == asked.until:
        return  # a range of one day may exclude the day itself
    n = seen.page.n
    for day, mine, others in (
        (asked.since, whole.begin, whole.end),
        (asked.until, whole.end, whole.begin),
    ):
        if day is None:
            continue
        there = whole.of_day.get(day, frozenset())
        shown = frozenset(item.key for item in seen.answer.items if item.key in there)
        mine[day] = _Edge(n=n, keys=frozenset(key for key in shown if key))
        meeting = others.get(day)
        if meeting and there and (seen.settled or day < seen.lately):
            full = len(there) in {len(shown), len(meeting.keys)}
            lost = 0 if full else len(there - shown - meeting.keys)
            yield Evidence(
                facet=MEETING,
                agreement=DISAGREES if lost else AGREES,
                expected=f"all {len(there)} entries of {day} in one of the adjacent ranges",
                seen=f"{lost} are in neither range" if lost else "all of them",
                exchanges=(whole.n, meeting.n, n),
                controls=(whole.n, meeting.n),
            )
