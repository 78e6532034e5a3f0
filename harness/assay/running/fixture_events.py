"""What a fixture does besides keeping time: customers, registrations and executed requests.

A trial asks for one customer who owns all that its facets need. If a part of it cannot be
prepared (a card's slips, a card that was never used), the customer is arranged without that part,
and the trial goes on: the checks judge what there is, and what needs the part stays without
evidence, for the reason that the provider gave. A refusal may say which part it is about; of
others, each kind of thing is left out in turn, or there is one of each kind, whichever leaves the most.
Nothing is reduced to a customer who owns nothing.

A customer who existed before has values (creditors) of its own on file, which is all that it can
have. One that fits the age which a probe asks for is taken instead of the target file's value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeAlias

from assay.binding.model.target import FixtureKind
from assay.binding.wire.encode import Access
from assay.contract.model import Capability
from assay.contract.scalars import one_word
from assay.errors import CannotArrange
from assay.fixtures.protocol import Fixture
from assay.history import (
    Arrange,
    Effect,
    Holding,
    Register,
    Registered,
    Registration,
    Subject,
    Withdraw,
    Withdrawn,
)
from assay.rules.rule import Script
from assay.rules.steps import answered, attempted
from assay.running.tokens import sendable_access
from assay.running.trial_state import TrialState
from assay.sca.protocol import codes_by_factor

__all__ = ["FixtureEvents", "PartialArrangement"]

#: A kind of thing that a customer owns: its resource, its states, whether it has entries.
_Kind: TypeAlias = tuple[str, tuple[str, ...], bool]
#: The most parts that are left out of one customer.
_MOST = 4


#: An older registration will do where at least this age is asked for: no limit is near.
LONG = timedelta(days=7)
#: Otherwise it must be of this age, give or take.
CLOSE = timedelta(seconds=1)
#: Older than any registration.
EVER = timedelta(days=1_000_000)


# -- Customers without a part --------------------------------------------------------------------
@dataclass(slots=True)
class PartialArrangement:
    """The customers of one trial: what was prepared of each, and why something is missing.

    `allowed` says that a customer may lack something at all.
    """

    allowed: bool = True
    prepared: dict[str, int] = field(default_factory=dict[str, int])
    missing: list[str] = field(default_factory=list[str])

    @property
    def reason(self) -> str:
        """What is missing, for the sentence that begins with "needs"."""
        return "; ".join(dict.fromkeys(self.missing))

    def arrange(self, fixture: Fixture, step: Arrange) -> tuple[Subject, Access]:
        """Return a customer, as far as there is one.

        Raises:
            CannotArrange: the whole customer is refused, or nothing is left to ask for.

        """
        try:
            return fixture.arrange(step)
        except CannotArrange as refusal:
            # What is there on another day, or needs another key, is missing as a whole.
            if not self.allowed or refusal.shortage is not None or refusal.key:
                raise
            part = _in_part(fixture, step, refusal)
            if part is None:
                raise
        reduced, customer, reasons = part
        self.prepared[step.subject] = sum(holding.count for holding in reduced.holdings)
        self.missing += reasons
        return customer

    def going_on(self, script: Script) -> Script:
        """Run a probe whose customers may lack something; it ends where it needs what is missing.

        It sees of such a customer what was prepared for it: the others are not in its price. A
        probe that goes on without a whole customer lacks something, too.

        Raises:
            CannotArrange: customers lacked something, so that some evidence may be missing.

        """
        try:
            step = next(script)
            while True:
                reply = yield from attempted(step)
                # What the target file does not bind is not something that a customer lacks.
                if isinstance(reply, CannotArrange) and reply.key[:1] != ("operations",):
                    self.missing.append(str(reply))
                elif isinstance(reply, Subject) and reply.name in self.prepared:
                    reply = replace(reply, owns=reply.owns[: self.prepared[reply.name]])
                step = answered(script, reply)
        except StopIteration:
            if self.missing:
                raise CannotArrange(self.reason) from None
        except CannotArrange as last:
            self.missing.append(str(last))
            raise CannotArrange(self.reason, last.shortage, key=last.key) from None
        except (LookupError, RuntimeError, TypeError, ValueError):
            if not self.missing:
                raise
            raise CannotArrange(self.reason) from None
        finally:
            script.close()


def _in_part(
    fixture: Fixture, step: Arrange, refusal: CannotArrange
) -> tuple[Arrange, tuple[Subject, Access], list[str]] | None:
    """Return the largest customer that is not refused, and why it is not the whole one."""
    reasons = [str(refusal)]
    for _ in range(_MOST):
        for holdings in sorted(_reductions(step.holdings, refusal), key=_size, reverse=True):
            reduced = replace(step, holdings=holdings)
            try:
                return reduced, fixture.arrange(reduced), reasons
            except CannotArrange as another:
                if another.resource:
                    # It names a part itself, which is left out as well.
                    step, refusal = reduced, another
                    reasons.append(str(another))
                    break
        else:
            return None
    return None


def _reductions(
    holdings: Sequence[Holding], refusal: CannotArrange
) -> Iterator[tuple[Holding, ...]]:
    """Yield what is left to ask for."""
    if refusal.resource:
        meant = [holding for holding in holdings if _is_meant(holding, refusal)]
        kinds = list(dict.fromkeys(map(_kind, meant)))
        ways = [kinds] if kinds else []
    else:
        ways = [[kind] for kind in dict.fromkeys(map(_kind, holdings))]
    for kinds in ways:
        dated = any(dates for _, _, dates in kinds)
        if dated and (refusal.entries or not refusal.resource):
            yield tuple(
                replace(holding, entries=()) if _kind(holding) in kinds else holding
                for holding in holdings
            )
        left = tuple(holding for holding in holdings if _kind(holding) not in kinds)
        if left:
            yield left
    if not refusal.resource and sum(holding.count for holding in holdings) > len(ways):
        # Perhaps there are only fewer of them.
        single = {_kind(holding): replace(holding, count=1) for holding in reversed(holdings)}
        yield tuple(reversed(single.values()))


def _size(holdings: Sequence[Holding]) -> int:
    """Return how many things are asked for: the most are tried first."""
    return sum(holding.count for holding in holdings)


def _is_meant(holding: Holding, refusal: CannotArrange) -> bool:
    """Whether a refusal is about a thing that was asked for."""
    return (
        holding.resource == refusal.resource
        and (not refusal.trait or refusal.trait in holding.traits)
        and (not refusal.entries or bool(holding.entries))
    )


def _kind(holding: Holding) -> _Kind:
    return holding.resource, tuple(sorted(holding.traits)), bool(holding.entries)


# -- Events --------------------------------------------------------------------------------------
@dataclass(slots=True)
class FixtureEvents:
    """The events of one trial in which its fixture takes part."""

    trial: TrialState
    partly: PartialArrangement = field(default_factory=lambda: PartialArrangement(allowed=False))
    #: The executions that earlier events have, by request.
    seen: dict[str, list[Effect]] = field(default_factory=dict[str, list[Effect]])

    def arranged(self, step: Arrange) -> Subject:
        """Set up a customer, and remember its credentials and things."""
        environment = self.trial.environment
        if Capability.ENTRIES not in environment.target.fixtures.offers:
            # What is not offered is not asked for.
            bare = tuple(replace(holding, entries=()) for holding in step.holdings)
            step = replace(step, holdings=bare)
        subject, access = self.partly.arrange(self.trial.fixture, step)
        owns = tuple(replace(owned, key=one_word(owned.key)) for owned in subject.owns)
        subject = replace(subject, owns=owns)
        access = sendable_access(access)
        codes = codes_by_factor(environment.target.sca.factors, access.codes)
        token = access.token or environment.common.token
        self.trial.learn(step.subject, subject, replace(access, token=token, codes=codes))
        return replace(subject, identity=access.name or "")

    def new_effects(self) -> tuple[Effect, ...] | None:
        """Return all executions of each request of which earlier events do not have all."""
        offered = Capability.EFFECTS in self.trial.target.fixtures.offers
        if not offered or (done := self.trial.fixture.effects()) is None:
            return None
        by_request: dict[str, list[Effect]] = {}
        for effect in self.trial.submissions.effects(done):
            by_request.setdefault(effect.request, []).append(effect)
        new = {key: those for key, those in by_request.items() if self.seen.get(key) != those}
        self.seen |= new
        return tuple(effect for those in new.values() for effect in those)

    def withdrawn(self, step: Withdraw) -> Withdrawn:
        """Have the customer cancel a request at the bank, under the key that the bank has for it."""
        known = replace(step, request=self.trial.submissions.bank_key(step.request))
        done = self.trial.fixture.withdraw(known)
        now = self.trial.look()
        return Withdrawn(subject=step.subject, request=step.request, done=done, now=now)

    def registered(self, step: Register) -> Registered:
        """Have a value registered, or take one that is on file; return the event.

        Raises:
            CannotArrange: there is no value to register, or none of this age is on file.

        """
        spelling = self.trial.binding(step.operation).arguments.get(step.argument)
        value = step.value if step.value is not None else spelling.value if spelling else None
        customer = next(
            (
                event
                for event in reversed(self.trial.events)
                if isinstance(event, Subject) and event.name == step.subject
            ),
            None,
        )
        if customer is not None and not customer.fresh and customer.registrations is not None:
            known = _on_file(customer.registrations, step, self.trial.look())
            # The value of the target file is preferred: other calls have it, too.
            known = sorted(known, key=lambda each: each.value != value)
            if not known:
                fixtures = self.trial.target.fixtures
                running = fixtures.kind is FixtureKind.ROLES and fixtures.now is None
                raise CannotArrange(_wanted(step, running=running))
            first = known[0]
            return Registered(
                subject=step.subject,
                argument=step.argument,
                value=first.value,
                since=first.since,
                latest=first.latest,
            )
        if value is None:
            key = ("operations", step.operation, "arguments", step.argument)
            raise CannotArrange(f"a value for {'.'.join(key)} in the target file", key=key)
        access = self.trial.access.get(step.subject, Access())
        since = self.trial.fixture.register(step, access, value)
        return Registered(subject=step.subject, argument=step.argument, value=value, since=since)


def _on_file(
    registrations: Sequence[Registration], step: Register, now: datetime
) -> list[Registration]:
    """Return the registrations that are as old as asked for."""
    return [
        known
        for known in registrations
        if known.argument == step.argument
        and step.value in (None, known.value)
        and _fits(known, step, now)
    ]


def _fits(known: Registration, step: Register, now: datetime) -> bool:
    """Whether a registration is surely as old as asked for."""
    latest = known.latest or known.since
    span = step.exact if latest == known.since else step.rough
    if step.exact is None:
        span = (step.age, step.age + CLOSE) if step.age < LONG else (step.age, EVER)
    return span is not None and span[0] <= now - latest and now - known.since <= span[1]


def _wanted(step: Register, *, running: bool) -> str:
    """Say what registration is missing; by a `running` clock no age is known to the second."""
    what = f"a customer with a {step.argument} registered"
    where = "(fixtures.roles.….registrations)"
    span = step.rough if running else step.exact
    if step.exact is None or step.age >= LONG:
        return f"{what} {_told(step.age)} before {where}"
    if span is None:
        clock = "and a clock that is fixed (fixtures.now) or can be moved"
        return f"{what} exactly {_told(step.age)} before {where}, {clock}"
    least, most = (_told(age) for age in span)
    if least == most:
        return f"{what} {least} before {where}"
    if not running:
        return f"{what} {least} to {most} before {where}"
    return f"{what} {least} to {most} before, give or take 5 minutes {where}"


def _told(age: timedelta) -> str:
    """Format an age for a reader: in days, if it is long."""
    if age >= LONG:
        return f"{-(-age // timedelta(days=1))} days"
    minutes, seconds = divmod(int(age.total_seconds()), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02} h"
