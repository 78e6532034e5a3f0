"""One request of a history: how it was made, signed, changed and ended, and its outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from assay.contract.model import Json
from assay.history import (
    Authorised,
    Effect,
    Ending,
    Exchange,
    Indeterminate,
    State,
    Subject,
    Submitted,
    Withdrawn,
)

__all__ = ["REJECTED", "Inquiries", "Instance", "InstanceOutcome"]


class InstanceOutcome(Enum):
    """The outcome of a request, as far as the history shows."""

    REFUSED = "refused at once"
    REJECTED = "rejected later"
    DONE = "executed"
    ENDED = "ended without being executed"
    OPEN = "still open"
    UNKNOWN = "unknown"


#: The outcomes that a contract's "rejected" covers.
REJECTED = frozenset({InstanceOutcome.REFUSED, InstanceOutcome.REJECTED})
_OUTCOMES: Mapping[State, InstanceOutcome] = {
    State.OPEN: InstanceOutcome.OPEN,
    State.VALID: InstanceOutcome.DONE,
    State.DONE: InstanceOutcome.DONE,
    State.REJECTED: InstanceOutcome.REJECTED,
    State.ENDED: InstanceOutcome.ENDED,
}


@dataclass(slots=True, kw_only=True)
class Inquiries:
    """The number of inquiries at the fixture, in total and when time last passed."""

    count: int = 0
    count_when_time_passed: int = 0


@dataclass(slots=True, kw_only=True)
class Instance:
    """One attempt to make a request, and everything that happened to it since.

    `changed` are the arguments in force since the first accepted change. `state` is the last
    state that was read, at `seen_at`, in the exchange with the number `seen_in`. `effect` is the
    execution that the fixture reports. `inquiries_before` is the number of inquiries until anything
    last happened to the request. `made` and `changed` have no arguments that only identify a call.
    `unsigned` says that the call that makes it is all that it takes: if that is accepted, it is its
    signature, too. `settled` says that the bank no longer rejects what it was last read as.
    `distrusted` says that something wrong was entered on the screens of its customer since it was
    made and before it was last read, or before it was made, with none executed in between.
    """

    made: Exchange
    subject: Subject | None
    key: str | None
    changed: Mapping[str, Json] | None = None
    state: State | None = None
    seen_at: datetime | None = None
    seen_in: int | None = None
    effect: Effect | None = None
    inquiries: Inquiries
    inquiries_before: int
    signings: Sequence[Authorised] = ()
    reads: Sequence[Exchange] = ()
    changes: Sequence[Exchange] = ()
    ends: Sequence[Exchange] = ()
    withdrawn: Sequence[Withdrawn] = ()
    submissions: Sequence[Submitted] = ()
    unsigned: bool = False
    settled: bool = False
    distrusted: bool = False

    @property
    def screen_flows(self) -> Sequence[Authorised]:
        """What customers did about it on the screens, since it was made."""
        return () if self.unsigned else self.signings

    @property
    def stands(self) -> bool:
        """Whether it was executed, or was read as accepted although no customer has to sign it."""
        waits = self.unsigned and self.made.accepted and self.state is State.OPEN and self.settled
        return self.done or (waits and (self.seen_in or 0) > self.made.n)

    @property
    def undecided(self) -> bool:
        """Whether the bank may still reject it, although no customer has to sign it."""
        return (
            self.unsigned
            and self.made.accepted
            and self.outcome is InstanceOutcome.OPEN
            and not self.settled
        )

    @property
    def arguments(self) -> Mapping[str, Json]:
        """The arguments in force: from its creation, and then from each accepted change."""
        return self.made.call.arguments if self.changed is None else self.changed

    @property
    def mode(self) -> str | None:
        """The mode it was made in."""
        return self.made.call.mode

    @property
    def signed(self) -> Authorised | None:
        """The signature that the customer gave, if any was."""
        return next((each for each in self.signings if each.ending is Ending.CONFIRMED), None)

    @property
    def inquired(self) -> bool:
        """Whether the fixture was asked since anything happened to it, or time passed."""
        since = max(self.inquiries_before, self.inquiries.count_when_time_passed)
        return self.key is not None and self.inquiries.count > since

    @property
    def done(self) -> bool:
        """Whether it was executed, or is a consent in force, by the target or the fixture."""
        return self.effect is not None or self.state in (State.DONE, State.VALID)

    @property
    def outcome(self) -> InstanceOutcome:
        """The outcome of the request, as far as the history shows."""
        if self.made.refused:
            return InstanceOutcome.REFUSED
        if self.effect is not None:
            return InstanceOutcome.DONE
        return (
            _OUTCOMES.get(self.state, InstanceOutcome.OPEN)
            if self.state
            else InstanceOutcome.UNKNOWN
        )

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the exchanges and signatures about it, in order."""
        numbers = {self.made.n, self.seen_in or self.made.n, *(each.n for each in self.signings)}
        numbers |= {exchange.n for exchange in (*self.reads[-1:], *self.changes, *self.ends)}
        numbers |= {each.n for each in self.submissions}
        return tuple(sorted(numbers))

    def describe(self) -> str:
        """Describe its outcome."""
        status = self.made.wire.status
        if isinstance(self.made.outcome, Indeterminate):
            return self.made.outcome.why
        if self.made.refused:
            return f"it was refused ({status})"
        word = "executed" if self.state is State.DONE else self.state and self.state.value
        said = f", then {word}" if word else ""
        moved = " and was executed" if self.effect and self.state is not State.DONE else ""
        refused = [each for each in self.submissions if each.refused]
        submitted = f", its submission was refused ({refused[-1].wire.status})" if refused else ""
        why = "; whether the bank has decided is unknown (`accepted` in item.state.values)"
        more = why if self.undecided else ""
        return f"it was accepted ({status}){submitted}{said}{moved}{more}"
