"""The world of a target where nothing can be made: customers that exist already.

A profile lists them with what they own. A probe gets the first one, not yet in
this trial, that owns all that is asked for in the states asked for; where there
is none, the obligation is unverified and the reason says which customer would
unblock it. A customer of a kind that the probe names is one of whom the profile says
so. All other parts go to those of whom it names no kind, for a contract may exclude
the kind; where all have one, to those of the first one's.

Dated entries cannot be arranged here, but things whose entries are listed are taken
first where entries are asked for. The clock is the real one. Nobody here is fresh:
consents and calls of earlier trials, or of earlier today, may still have their effect.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from assay.errors import CannotArrange
from assay.history import Arrange, Entry, Holding, Owned, Subject
from assay.target.encode import Access
from assay.target.profile import Role, RoleHolding
from assay.target.world import NoRequests

#: A date among the traits (of a card's last use) that lies no further back makes
#: nothing special of its bearer: no document takes "recent" for less than this.
ORDINARY = timedelta(days=28)


@dataclass(frozen=True, slots=True, kw_only=True)
class RolesWorld:
    """Hands out the listed customers, by name in the order of the profile."""

    roles: Sequence[Role]
    now: Callable[[], datetime]

    def open(self) -> RolesScene:
        """Begin a trial; every customer is free again."""
        return RolesScene(roles=self.roles, now=self.now)


@dataclass(slots=True, kw_only=True)
class RolesScene(NoRequests):
    """Which of the customers play in this trial."""

    roles: Sequence[Role]
    now: Callable[[], datetime]
    taken: set[str] = field(default_factory=set[str])

    def arrange(self, step: Arrange) -> tuple[Subject, Access]:
        """Find a customer for the part."""
        for role in playing(self.roles, step.segment):
            now = self.now()
            owns = None if role.name in self.taken else cast_for(role, step.holdings, now.date())
            if owns is not None:
                self.taken.add(role.name)
                subject = Subject(
                    name=step.subject, now=now, owns=owns, fresh=False, segment=role.segment
                )
                return subject, access_of(role, os.environ)
        kind = f" of segment {step.segment}" if step.segment is not None else ""
        raise CannotArrange(f"a customer{kind} who owns {_wanted(step.holdings)} (world.roles)")

    def clock(self, to: datetime | None) -> datetime:
        """Tell the time; it cannot be moved."""
        if to is not None:
            raise CannotArrange("a clock that can be moved")
        return self.now()

    def close(self) -> None:
        """Do nothing: the customers stay as they are."""


def playing(roles: Sequence[Role], segment: str | None) -> tuple[Role, ...]:
    """Return who may play a part, for a customer of this kind, or of none in particular."""
    if segment is None and all(role.segment is not None for role in roles):
        segment = roles[0].segment if roles else None
    return tuple(role for role in roles if role.segment == segment)


def access_of(role: Role, environ: Mapping[str, str]) -> Access:
    """Return what a customer calls and signs with, as far as the profile names variables."""

    def secret(name: str | None) -> str | None:
        return environ.get(name) if name else None

    codes = {factor: secret(name) for factor, name in role.code_envs.items()}
    return Access(
        token=secret(role.token_env),
        login=secret(role.login_env),
        password=secret(role.password_env),
        codes={factor: code for factor, code in codes.items() if code is not None},
        id=role.name,
    )


def cast_for(role: Role, holdings: Sequence[Holding], today: date) -> tuple[Owned, ...] | None:
    """Return all that a customer owns, the wanted things first; None if some lack.

    The order matters: a probe speaks only of what it asked for, which comes first.
    """
    left = list(role.owns)
    first: list[RoleHolding] = []
    for holding in holdings:
        for _ in range(holding.count):
            suiting = [one for one in left if _suits(one, holding, today)]
            if not suiting:
                return None
            found = max(suiting, key=lambda one: _listed(one, holding))
            left.remove(found)
            first.append(found)
    return tuple(map(_owned, (*first, *left)))


def _suits(one: RoleHolding, holding: Holding, today: date) -> bool:
    """Whether a thing is in the states asked for, and ordinary in every other way."""
    others = {name: value for name, value in one.traits.items() if name not in holding.traits}
    return (
        one.resource == holding.resource
        and all(one.traits.get(name) == value for name, value in holding.traits.items())
        and all(value is False or _recent(value, today) for value in others.values())
    )


def _listed(one: RoleHolding, holding: Holding) -> tuple[int, int]:
    """Return how well the list of what is below a thing fits the entries asked for.

    Those count to whose day the list goes back; then, how many entries are on it.
    """
    wanted = holding.entries or ()
    days = [date.fromisoformat(day) for _, day in one.entries or ()]
    if not (days and wanted):
        return 0, 0
    return sum(min(days) <= day for day in wanted), min(len(days), len(wanted))


def _recent(value: object, today: date) -> bool:
    try:
        return today - ORDINARY <= date.fromisoformat(str(value)) <= today
    except ValueError:
        return False


def _owned(one: RoleHolding) -> Owned:
    listed = tuple(Entry(key=key, on=date.fromisoformat(day)) for key, day in one.entries or ())
    return Owned(key=one.key, resource=one.resource, traits=dict(one.traits), entries=listed)


def _wanted(holdings: Sequence[Holding]) -> str:
    return ", ".join(
        f"{holding.count} {holding.resource}"
        + "".join(f" {name}={value}" for name, value in holding.traits.items())
        for holding in holdings
    )
