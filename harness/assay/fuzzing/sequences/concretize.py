"""Resolution of abstract steps into concrete ones while a sequence runs.

What a step refers to may not exist (a refused request has no key); then the step is
left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import cast
from zoneinfo import ZoneInfo

from assay.contract.model import Json
from assay.fuzzing.sequences.abstract_step import (
    AbstractStep,
    Moment,
    OwnedRef,
    RelativeDay,
    RequestRef,
    map_leaves,
    moment_of,
)
from assay.history import (
    Accepted,
    Advance,
    Advanced,
    Arrange,
    Authorise,
    Authorised,
    Call,
    Event,
    Exchange,
    Holding,
    Resend,
    Step,
    Subject,
    Submit,
    Withdraw,
)
from assay.rules.rule import Script
from assay.rules.state.calendar import local_day

#: The time zone where neither contract nor target file name one.
ANYWHERE = ZoneInfo("UTC")
#: The time of a clock that nothing has read yet.
UNKNOWN = datetime.min.replace(tzinfo=UTC)


class MissingReference(Exception):  # noqa: N818 -- no error: the step is left out
    """A step refers to something that does not exist."""


@dataclass(slots=True, kw_only=True)
class Concretizer:
    """The progress of a sequence: its subjects, and the result of each of its steps."""

    zone: ZoneInfo = ANYWHERE
    now: datetime = UNKNOWN
    subjects: dict[str, Subject] = field(default_factory=dict[str, Subject])
    replies: list[Event | None] = field(default_factory=list["Event | None"])

    def step(self, abstract_step: AbstractStep) -> Step:
        """Return the concrete step.

        Raises:
            MissingReference: it refers to something that does not exist.

        """
        try:
            return self._concrete(abstract_step)
        except OverflowError:
            raise MissingReference("no calendar has this day") from None

    def _concrete(self, abstract_step: AbstractStep) -> Step:
        step = abstract_step.step
        match step:
            case Call():
                page = abstract_step.page
                follow = None if page is None else self.next_page(page)
                arguments = cast("dict[str, Json]", map_leaves(step.arguments, self._value))
                step = replace(step, arguments=arguments, follow=follow)
            case Arrange():
                step = replace(step, holdings=self._holdings(step, abstract_step.days))
            case Advance() if abstract_step.moment is not None:
                step = Advance(to=self._moment(abstract_step.moment))
            case Authorise():
                outcome = self._made(abstract_step.request).outcome
                approval = outcome.approval if isinstance(outcome, Accepted) else None
                step = replace(step, request=self._key(abstract_step.request), approval=approval)
            case Withdraw() | Submit():
                step = replace(step, request=self._key(abstract_step.request))
            case Resend():
                step = replace(step, exchange=self._exchange(abstract_step.request).n)
            case _:
                pass
        return step

    def note(self, reply: Event | None) -> None:
        """Note the result of the next step; None for one that was left out."""
        self.replies.append(reply)
        if isinstance(reply, Subject):
            self.subjects[reply.name] = reply
        match reply:
            case Exchange(at=now) | Advanced(now=now) | Subject(now=now):
                self.now = now
            case Authorised():
                self.now = reply.at
            case _:
                pass

    def next_page(self, place: int) -> str:
        """Return the link to the next page in the answer to an earlier call.

        Raises:
            MissingReference: the answer has no such link.

        """
        match self._reply(place):
            case Exchange(outcome=Accepted(next=str(link))):
                return link
            case _:
                raise MissingReference("no further page was named")

    def _moment(self, moment: Moment) -> datetime:
        to = moment_of(moment, self.now, self.zone)
        if to < self.now:
            raise MissingReference("a clock is not turned back")
        return to

    def _reply(self, place: int | None) -> Event | None:
        inside = place is not None and 0 <= place < len(self.replies)
        return self.replies[place] if inside and place is not None else None

    def _exchange(self, place: int | None) -> Exchange:
        reply = self._reply(place)
        if not isinstance(reply, Exchange):
            raise MissingReference("no call was made")
        return reply

    def _made(self, place: int | None) -> Exchange:
        reply = self._exchange(place)
        if not reply.item or reply.item.key is None:
            raise MissingReference("no request was made")
        return reply

    def _key(self, place: int | None) -> str:
        item = self._made(place).item
        return cast("str", item.key if item else None)

    def _value(self, value: Json) -> Json:
        match value:
            case OwnedRef(of=of, n=n):
                owns = self.subjects[of].owns if of in self.subjects else ()
                if n >= len(owns):
                    raise MissingReference("nothing is owned")
                return owns[n].key
            case RequestRef(step=place):
                return self._key(place)
            case RelativeDay(days=days):
                return (local_day(self.now, self.zone) + timedelta(days=days)).isoformat()
            case _:
                return value

    def _holdings(
        self, step: Arrange, entry_days: Sequence[tuple[int, ...] | None]
    ) -> tuple[Holding, ...]:
        today = local_day(self.now, self.zone)
        return tuple(
            replace(
                holding,
                traits=cast("dict[str, Json]", map_leaves(holding.traits, self._value)),
                entries=None if days is None else tuple(today + timedelta(days=n) for n in days),
            )
            for holding, days in zip(step.holdings, entry_days, strict=True)
        )


def script(sequence: Sequence[AbstractStep], zone: ZoneInfo | None = None) -> Script:
    """Yield the concrete steps of a whole sequence; those with missing references are left out."""
    concretizer = Concretizer(zone=zone or ANYWHERE)
    clock = yield Advance(to=None)
    if isinstance(clock, Advanced):
        concretizer.now = clock.now
    for abstract_step in sequence:
        try:
            step = concretizer.step(abstract_step)
        except MissingReference:
            concretizer.note(None)
        else:
            concretizer.note((yield step))
