"""Changes of requests in a history, and whether accepted changes took effect.

The data that the kind `modification` judges. A call is a change only if it gives some argument a
value other than the current one. An accepted change is checked by reading the request,
and by its execution. Where the answer to a change was lost, came too late, or the
change was made by somebody else, the current values are unknown, and nothing is
concluded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from assay.contract.model import Json
from assay.history import Effect, Effects, Event, Exchange, State, Withdrawn
from assay.rules.lifecycle import request_queries
from assay.rules.lifecycle.tracker import Instance, Lifecycle, Tracker
from assay.rules.queries import has_value
from assay.rules.verdict import (
    AGREES,
    DISAGREES,
    UNCLEAR,
    Evidence,
    describe_answer,
    doubt,
    failed_instead,
)


class Phase(Enum):
    """The phase of a request at the time of a change."""

    UNSIGNED = "unsigned"
    SIGNED = "signed"
    DONE = "done"
    UNKNOWN = "unknown"


#: The phases in which a deferred request may accept changes.
PENDING = (Phase.UNSIGNED, Phase.SIGNED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change by the TPP and for the customer of the request.

    `new` has the arguments to change. `untouched` says that nothing had ended the request
    before, `ahead` that neither its former nor its new day had come.
    """

    request: Instance
    exchange: Exchange
    new: Mapping[str, Json]
    phase: Phase
    untouched: bool
    ahead: bool

    @property
    def lost(self) -> bool:
        """Whether the answer does not show if it was accepted."""
        return not self.exchange.accepted and not self.exchange.refused

    @property
    def failed(self) -> bool:
        """Whether the target failed where it may have had to refuse."""
        return failed_instead(self.exchange)

    @property
    def like(self) -> tuple[str, str, str]:
        """Return caller and content of the change: equal for equal changes."""
        call = self.exchange.call
        return call.subject, call.by, repr(sorted(self.new.items()))

    @property
    def done_when_made(self) -> bool:
        """Whether the request was executed, and nobody had to sign it."""
        return self.request.unsigned and self.phase is Phase.DONE

    @property
    def numbers(self) -> tuple[int, ...]:
        """The exchanges and signatures that it depends on: those up to it."""
        numbers = [
            self.request.made.n,
            *(signing.n for signing in self.request.signings),
            self.exchange.n,
        ]
        return tuple(n for n in sorted(numbers) if n <= self.exchange.n)


def change_of(lifecycle: Lifecycle, tracker: Tracker, event: Event) -> Change | None:
    """Return the change that an event asks for, before the tracker processes it."""
    change = lifecycle.change
    if not isinstance(event, Exchange) or change is None or event.call.operation != change.id:
        return None
    request = tracker.find(str(event.call.arguments.get(change.about or "")))
    if request is None or not request_queries.is_by_requester(request, event.call):
        return None
    force = request.arguments
    new = {
        name: value
        for name, value in lifecycle.new_values(event).items()
        if not (name in force and request_queries.same_value(value, force[name]))
    }
    if not new:
        return None
    then = {**force, **new}
    return Change(
        request=request,
        exchange=event,
        new=new,
        phase=_phase(request),
        untouched=_untouched(request),
        ahead=lifecycle.create.due is None
        or (
            not request_queries.shown_for_another_day(lifecycle, request)
            and all(
                request_queries.is_before_due_day(lifecycle, arguments, event.at)
                for arguments in (force, then)
            )
        ),
    )


def _phase(request: Instance) -> Phase:
    if request.done:
        return Phase.DONE
    if not request.screen_flows:
        return Phase.UNSIGNED
    return Phase.SIGNED if request_queries.signed(request) else Phase.UNKNOWN


def _untouched(request: Instance) -> bool:
    over = [end for end in request.ends if not end.refused]
    over_elsewhere = [withdrawal for withdrawal in request.withdrawn if withdrawal.done]
    return request.state in (None, State.OPEN) and not over and not over_elsewhere


def must_be_taken(
    changes: Iterable[Change],
    opened: Mapping[str | None, int],
    modes: Collection[str | None],
    fields: Collection[str],
    day: str | None,
) -> Iterator[Evidence]:
    """Judge the changes in each changeable mode and by each caller together.

    A mode is closed if every change was refused, before signing and after, of requests that
    were open afterwards. `opened` has the last exchange that showed each request as open,
    `day` is the argument with the day.
    """
    groups: dict[tuple[str | None, str, str], list[Change]] = {}
    for change in changes:
        early = change.ahead or change.phase is Phase.UNSIGNED
        # A refusal counts only of one argument, with a value that is certainly valid.
        alone = len(change.new) == 1 and change.new.keys() <= {*change.exchange.call.varied, day}
        counts = early if change.exchange.accepted else change.untouched and change.ahead and alone
        if counts and change.phase in PENDING and change.request.mode in modes:
            made = change.request.made.call
            groups.setdefault((change.request.mode, made.subject, made.by), []).append(change)
    for (mode, _, _), group in groups.items():
        taken = [change for change in group if change.exchange.accepted]
        unsigned = group[0].request.unsigned
        phases, when = (PENDING[:1], "") if unsigned else (PENDING, ", signed or not")
        closed = all(_is_closed(group, phase, fields, opened) for phase in phases)
        yield Evidence(
            facet=f"{mode}-accepted",
            agreement=AGREES if taken else DISAGREES if closed else UNCLEAR,
            expected=f"some change before the day of the request to be accepted{when}",
            seen=describe_answer((taken or group)[0].exchange),
            exchanges=tuple(sorted({n for change in taken or group for n in change.numbers})),
            decisive=(taken or group)[0].exchange.n,
        )


def _is_closed(
    changes: Iterable[Change],
    phase: Phase,
    fields: Collection[str],
    opened: Mapping[str | None, int],
) -> bool:
    """Whether some request refused a change of each field in a phase, and was open afterwards."""
    refused: dict[str | None, set[str]] = {}
    last: dict[str | None, int] = {}
    for change in changes:
        if change.phase is phase and request_queries.was_refused(change.exchange):
            key = change.request.key
            refused.setdefault(key, set()).update(change.new)
            last[key] = change.exchange.n
    return any(
        names.issuperset(fields) and opened.get(key, 0) > last[key]
        for key, names in refused.items()
    )


PERSISTS, CARRIED, OTHERS = "persists", "carried-out-as-changed", "others-unchanged"
#: Why what a change led to is not judged.
UNKNOWN = "the history may be incomplete"


@dataclass(slots=True, kw_only=True)
class _CurrentValues:
    """The current values of one request: the last accepted change of each argument.

    `unread` are the changes not read back since. `unknown_because` says why the current values
    are unknown, where they are. `place` is its place among all changed requests.
    """

    request: Instance
    place: int
    last: dict[str, Change] = field(default_factory=dict[str, Change])
    unread: dict[str, Change] = field(default_factory=dict[str, Change])
    unknown_because: str = ""
    carried: bool = False

    def take(self, change: Change) -> None:
        """Process a change that was not refused."""
        names = dict.fromkeys(change.new, change)
        if change.lost:
            self.unknown_because = "it is unknown whether a change was accepted"
            for name in names:
                self.unread.pop(name, None)
            return
        self.last |= names
        self.unread |= names
        if not (change.untouched and change.ahead):
            self.unknown_because = "a change may have come too late"

    def forget_unread(self) -> None:
        """Forget the unread changes, since something else happened to the request."""
        self.unread.clear()
        self.unknown_because = "another operation was applied to it"


@dataclass(slots=True, kw_only=True)
class ChangeTracker:
    """Follows the changes of all requests of these modes, and yields evidence of their effect."""

    lifecycle: Lifecycle
    modes: Collection[str | None]
    fields: tuple[str, ...]
    at_any_time: bool = False
    evidence: list[tuple[str | None, Evidence]] = field(
        default_factory=list[tuple[str | None, Evidence]]
    )
    _force: dict[str | None, _CurrentValues] = field(
        default_factory=dict[str | None, _CurrentValues]
    )

    def before(self, tracker: Tracker, event: Event, change: Change | None) -> None:
        """Process an event before the tracker does, with the change that it asks for."""
        if change is None:
            self._disturb(tracker, event)
        elif not change.exchange.refused and change.request.mode in self.modes:
            new = _CurrentValues(request=change.request, place=len(self._force))
            force = self._force.setdefault(change.request.key, new)
            if change.phase is Phase.DONE:
                force.unread.clear()
            else:
                force.take(change)

    def after(self, event: Event, request: Instance | None) -> None:
        """Compare the current values with an event that the tracker has processed."""
        if isinstance(event, Effects):
            listed = (self._force.get(effect.request) for effect in event.done or ())
            for values in sorted(filter(None, listed), key=lambda values: values.place):
                if values.request.effect is not None and not values.carried:
                    values.carried = True
                    self._carried(values, values.request.effect)
        elif isinstance(event, Exchange) and request is not None and request.key in self._force:
            self._read(self._force[request.key], event)

    def _disturb(self, tracker: Tracker, event: Event) -> None:
        """Process a call that may have changed or ended a request in some other way."""
        key: object = None
        if isinstance(event, Withdrawn) and event.done:
            key = event.request
        elif isinstance(event, Exchange) and not event.refused:
            about = {
                operation.id: operation.about
                for operation in (self.lifecycle.change, self.lifecycle.end)
                if operation
            }
            key = event.call.arguments.get(about.get(event.call.operation) or "")
        request = tracker.find(str(key))
        if request is not None and request.key in self._force:
            self._force[request.key].forget_unread()

    def _read(self, force: _CurrentValues, exchange: Exchange) -> None:
        read = self.lifecycle.read
        if read is None or exchange.call.operation != read.id or exchange.item is None:
            return
        if (
            not request_queries.is_by_requester(force.request, exchange.call)
            or exchange.item.state is State.REJECTED
        ):
            return  # a rejected request has no current values
        if self.at_any_time:
            self._others(force, exchange)
        for name in self.fields:
            if name not in force.unread or name not in exchange.item.fields:
                continue
            change, shown = force.unread.pop(name), exchange.item.fields[name]
            value = change.new[name]
            good = request_queries.shows_argument(self.lifecycle, name, value, shown)
            evidence = Evidence(
                facet=PERSISTS,
                agreement=UNCLEAR if good is None else AGREES if good else DISAGREES,
                expected=f"{name} as changed: {value!r}",
                seen=f"{shown!r}",
                exchanges=(force.request.made.n, change.exchange.n, exchange.n),
                member=exchange.member_of(exchange.item, "field", name),
            )
            # Whatever came before: a change that was accepted is read back, unless another followed.
            recorded = force.request.subject is None
            self._add(force, evidence, UNKNOWN if recorded else "", known=not recorded)

    def _others(self, force: _CurrentValues, exchange: Exchange) -> None:
        """Compare what two reads show, between which other fields were changed."""
        request, shows = force.request, request_queries.shows_value
        before = next((each for each in request.reads[-2:-1] if each.item is not None), exchange)
        taken = [each for each in request.changes if each.accepted and each.n > before.n]
        first, now = (each.item.fields if each.item else {} for each in (before, exchange))
        values = [item for each in taken for item in each.call.arguments.items()]
        named = {name for name, value in values if not shows(value, first.get(name))}
        names = sorted((first.keys() & now.keys() & request.arguments.keys()) - named)
        gone = {name: same for name in names if not (same := shows(first[name], now[name]))}
        # A PUT may reset what it does not send.
        put = self.lifecycle.change is not None and self.lifecycle.change.method == "PUT"
        evidence = Evidence(
            facet=OTHERS,
            agreement=AGREES
            if not gone
            else UNCLEAR
            if put or False not in gone.values()
            else DISAGREES,
            expected="the fields that were not changed to stay",
            seen=f"{' and '.join(gone)} changed, too" if gone else "they stay",
            exchanges=(request.made.n, before.n, *(each.n for each in taken), exchange.n),
        )
        if names and taken:
            self._add(force, evidence, force.unknown_because, known=request.subject is not None)

    def _carried(self, force: _CurrentValues, effect: Effect) -> None:
        due = self.lifecycle.create.due
        for name, change in force.last.items():
            value = change.new[name]
            if request_queries.same_value(force.request.made.call.arguments.get(name), value):
                continue  # changed and changed back: the execution shows nothing
            if due is not None and name == due.argument:
                shown: Json = effect.on.isoformat()
                day = request_queries.due_day(self.lifecycle, change.new)
                # An execution after the day may be due to a day without executions.
                doubtful = day is None or effect.on > day
            elif name in effect.fields:
                shown, doubtful = effect.fields[name], not has_value(value)
            else:
                continue
            wrong = UNCLEAR if doubtful else DISAGREES
            evidence = Evidence(
                facet=CARRIED,
                agreement=AGREES if request_queries.same_value(value, shown) else wrong,
                expected=f"it is executed with {name} as changed: {value!r}",
                seen=f"{shown!r}",
                exchanges=change.numbers,
                decisive=change.exchange.n,
            )
            self._add(force, evidence, force.unknown_because)

    def _add(
        self, force: _CurrentValues, evidence: Evidence, why: str, *, known: bool = False
    ) -> None:
        why = why or ("" if known or request_queries.is_known(force.request) else UNKNOWN)
        self.evidence.append((force.request.key, doubt(evidence, why) if why else evidence))
