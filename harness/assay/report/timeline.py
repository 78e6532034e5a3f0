"""Timelines of trials: what was prepared, called and signed, and how the clock was moved.

A timeline lets a reader follow a rule on time, counts or states without the journal. It has
every exchange that a verdict cites; of the others, a bounded number. Nothing here judges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import Enum

from assay.journal.codec import SIGNING
from assay.journal.lines import Line
from assay.report.sanitize import clean, one_line, shown_text

#: How many entries of a trial are kept besides those that a verdict cites.
KEPT_ENTRIES = 40
#: How many requests an entry names as carried out.
_NAMED = 3


class EntryKind(Enum):
    """What an entry of a timeline is about; the value is the word in reports."""

    CUSTOMER = "customer"
    REGISTERED = "registered"
    CLOCK = "clock"
    CALL = "call"
    SIGNATURE = "signature"
    CARRIED_OUT = "carried out"
    CANCELLED = "cancelled"
    TOKEN = "token"  # noqa: S105 -- a word in a report, not a secret
    MODE = "mode"
    LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEntry:
    """One event of a trial. `at` is the target's clock as an ISO date and time.

    `exchange` is the number of a call or a signature, and 0 for everything else. `outcome`
    and `status` are those of its answer.
    """

    kind: EntryKind
    at: str = ""
    subject: str = ""
    text: str
    exchange: int = 0
    operation: str = ""
    variation: str = ""
    outcome: str = ""
    status: int = 0
    why: str = ""


Timeline = tuple[TimelineEntry, ...]


def _customer(line: Line) -> TimelineEntry:
    owned = line.objects("owns")
    resources: dict[str, int] = {}
    for each in owned:
        name = shown_text(each, "resource")
        resources[name] = resources.get(name, 0) + 1
    owns = ", ".join(f"{name} ({number})" for name, number in resources.items())
    segment = shown_text(line, "segment")
    what = f"customer prepared with {owns}" if owns else "customer prepared"
    return TimelineEntry(
        kind=EntryKind.CUSTOMER,
        at=shown_text(line, "now"),
        subject=shown_text(line, "name"),
        text=f"{what}, segment {segment}" if segment else what,
    )


def _registered(line: Line) -> TimelineEntry:
    value = line.values.get("value")
    shown = one_line(clean(value if isinstance(value, str) else repr(value), 200))
    return TimelineEntry(
        kind=EntryKind.REGISTERED,
        subject=shown_text(line, "subject"),
        text=f"{shown_text(line, 'argument')} {shown} registered since {moment(shown_text(line, 'since'))}",
    )


def _clock(line: Line) -> TimelineEntry:
    now = shown_text(line, "now")
    return TimelineEntry(kind=EntryKind.CLOCK, at=now, text=f"clock at {moment(now)}")


def _effects(line: Line) -> TimelineEntry | None:
    done = line.objects("done") if line.values.get("done") is not None else []
    if not done:
        return None
    named = [f"{shown_text(each, 'request')} on {shown_text(each, 'on')}" for each in done[:_NAMED]]
    rest = f" and {len(done) - _NAMED:,} more" if len(done) > _NAMED else ""
    return TimelineEntry(
        kind=EntryKind.CARRIED_OUT,
        at=shown_text(line, "now"),
        text=f"executed: {', '.join(named)}{rest}",
    )


def _withdrawn(line: Line) -> TimelineEntry:
    result = "accepted" if line.flag("done", default=False) else "not accepted"
    text = f"request {shown_text(line, 'request')} cancelled by the customer at the bank, {result}"
    return TimelineEntry(
        kind=EntryKind.CANCELLED,
        at=shown_text(line, "now"),
        subject=shown_text(line, "subject"),
        text=text,
    )


def _renewed(line: Line) -> TimelineEntry:
    result = "token renewed" if line.flag("done", default=False) else "token not renewed"
    owner = shown_text(line, "by") or shown_text(line, "subject")
    return TimelineEntry(
        kind=EntryKind.TOKEN,
        at=shown_text(line, "now"),
        subject=owner,
        text=f"{result} for {shown_text(line, 'operation')}",
    )


def _lacking(line: Line) -> TimelineEntry:
    bank, mode = shown_text(line, "bank"), shown_text(line, "mode")
    at = [f"at the bank {bank} of the group"] if bank else []
    text = ", ".join([*at, *([f"the bank does not offer {mode}"] if mode else [])])
    return TimelineEntry(kind=EntryKind.MODE, at=shown_text(line, "now"), text=text)


def _exchange(line: Line) -> TimelineEntry:
    request, response, outcome = (line.inner(key) for key in ("request", "response", "outcome"))
    operation = shown_text(line, "operation")
    signing = operation == SIGNING
    presence = "" if signing or line.flag("present", default=False) else ", customer absent"
    return TimelineEntry(
        kind=EntryKind.SIGNATURE if signing else EntryKind.CALL,
        at=shown_text(line, "at"),
        subject=shown_text(line, "subject"),
        text=operation
        if signing
        else f"{shown_text(request, 'method')} {shown_text(request, 'url')}{presence}",
        exchange=line.number_of("n"),
        operation=operation,
        variation=shown_text(line, "variation"),
        outcome=shown_text(outcome, "kind"),
        status=response.number_of("status", 0),
        why=shown_text(outcome, "why"),
    )


#: The entry of each kind of journal line; None where there is nothing to say.
ENTRIES: Mapping[str, Callable[[Line], TimelineEntry | None]] = {
    "subject": _customer,
    "registered": _registered,
    "advanced": _clock,
    "effects": _effects,
    "withdrawn": _withdrawn,
    "renewed": _renewed,
    "lacking": _lacking,
    "exchange": _exchange,
}


@dataclass(slots=True, kw_only=True)
class TimelineReader:
    """Collects the timelines of trials from the lines of a journal, in their order."""

    cited: Mapping[str, frozenset[int]]
    _entries: dict[str, list[TimelineEntry]] = field(default_factory=dict[str, list[TimelineEntry]])
    _uncited: dict[str, int] = field(default_factory=dict[str, int])
    _left_out: dict[str, int] = field(default_factory=dict[str, int])
    _finished: dict[str, Timeline] = field(default_factory=dict[str, Timeline])

    def add(self, trial: str, kind: str, line: Line) -> None:
        """Take in a line of a trial that a verdict cites."""
        entry = ENTRIES[kind](line)
        if entry is None or self._is_known(trial, entry):
            return
        entries = self._entries.setdefault(trial, [])
        if entry.exchange not in self.cited[trial]:
            if self._uncited.get(trial, 0) >= KEPT_ENTRIES:
                self._left_out[trial] = self._left_out.get(trial, 0) + 1
                return
            self._uncited[trial] = self._uncited.get(trial, 0) + 1
        self._note_left_out(trial)
        entries.append(_moved(entry, entries))

    def of(self, trial: str) -> Timeline:
        """Return the timeline of a trial, the same one each time; empty if it has no event."""
        if trial not in self._finished:
            self._note_left_out(trial)
            self._finished[trial] = tuple(self._entries.pop(trial, ()))
        return self._finished[trial]

    def _is_known(self, trial: str, entry: TimelineEntry) -> bool:
        """Whether an entry only repeats what was carried out."""
        same = (each.text for each in self._entries.get(trial, ()) if each.kind is entry.kind)
        return entry.kind is EntryKind.CARRIED_OUT and entry.text in same

    def _note_left_out(self, trial: str) -> None:
        if number := self._left_out.pop(trial, 0):
            events = "event" if number == 1 else "events"
            text = f"{number:,} more {events} that no verdict cites"
            self._entries[trial].append(TimelineEntry(kind=EntryKind.LEFT_OUT, text=text))


def _moved(entry: TimelineEntry, before: Iterable[TimelineEntry]) -> TimelineEntry:
    """Say of a clock entry how far the clock was moved, if the time before is known."""
    if entry.kind is not EntryKind.CLOCK:
        return entry
    moments = [each.at for each in before if each.at]
    try:
        span = datetime.fromisoformat(entry.at) - datetime.fromisoformat(moments[-1])
    except (IndexError, ValueError, TypeError):
        return entry
    if not span:
        return entry
    return replace(entry, text=f"clock moved by {span_text(span)} to {moment(entry.at)}")


def relative_times(timeline: Timeline) -> Iterator[tuple[TimelineEntry, str]]:
    """Yield each entry with its time since the first one, or with how far it moved the clock.

    The times do not count by how much the clock was moved; the text is empty if there is none.
    """
    start = last = None
    moved = timedelta()
    for entry in timeline:
        try:
            now = datetime.fromisoformat(entry.at)
        except ValueError:
            yield entry, ""
            continue
        now = now if now.tzinfo else now.replace(tzinfo=UTC)
        start, step = start or now, now - (last or now)
        last = now
        if entry.kind is EntryKind.CLOCK:
            moved += step
            yield entry, f"clock moved: {span_text(step)}" if step else entry.text
        else:
            yield entry, f"{(now - start - moved).total_seconds():+.2f} s"


def span_text(span: timedelta) -> str:
    """Return a span exactly, to the second: `2 days 3 h 59 min`."""
    sign, span = ("-", -span) if span < timedelta(0) else ("", span)
    hours, rest = divmod(round(span.total_seconds()), 3_600)
    minutes, seconds = divmod(rest, 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "day" if days == 1 else "days"), (hours, "h"), (minutes, "min"), (seconds, "s")]
    return sign + (" ".join(f"{number} {unit}" for number, unit in parts if number) or "0 s")


def moment(text: str) -> str:
    """Return an ISO date and time for a reader: a space between them, the zone kept."""
    return text.replace("T", " ", 1) if "T" in text[10:11] else text
