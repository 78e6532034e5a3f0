"""The world of a target where nothing can be made: customers that exist already.

A profile lists them with what they own. A probe gets the first one, not yet in
this trial, that owns all that is asked for in the states asked for; where there
is none, the obligation is unverified and the reason says which customer would
unblock it. Dated entries cannot be arranged here, and the clock is the real one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from assay.errors import CannotArrange
from assay.history import Arrange, Entry, Holding, Owned, Subject
from assay.target.encode import Access
from assay.target.profile import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class RolesWorld:
    """Hands out the listed customers, by name in the order of the profile."""

    roles: Sequence[Role]
    now: Callable[[], datetime]

    def open(self) -> RolesScene:
        """Begin a trial; every customer is free again."""
        return RolesScene(roles=self.roles, now=self.now)


@dataclass(slots=True, kw_only=True)
class RolesScene:
    """Which of the customers play in this trial."""

    roles: Sequence[Role]
    now: Callable[[], datetime]
    taken: set[str] = field(default_factory=set[str])

    def arrange(self, step: Arrange) -> tuple[Subject, Access]:
        """Find a customer for the part."""
        for role in self.roles:
            owns = None if role.name in self.taken else cast_for(role, step.holdings)
            if owns is not None:
                self.taken.add(role.name)
                token = os.environ.get(role.token_env) if role.token_env else None
                subject = Subject(name=step.subject, now=self.now(), owns=owns)
                return subject, Access(token=token)
        raise CannotArrange(f"a customer who owns {_wanted(step.holdings)} (world.roles)")

    def clock(self, to: datetime | None) -> datetime:
        """Tell the time; it cannot be moved."""
        if to is not None:
            raise CannotArrange("a clock that can be moved")
        return self.now()

    def close(self) -> None:
        """Do nothing: the customers stay as they are."""


def cast_for(role: Role, holdings: Sequence[Holding]) -> tuple[Owned, ...] | None:
    """Return all that a customer owns, the wanted things first; None if some lack.

    The order matters: probes speak of "the first thing owned".
    """
    left = list(role.owns)
    first: list[Owned] = []
    for holding in holdings:
        for _ in range(holding.count):
            found = next(
                (
                    one
                    for one in left
                    if one.resource == holding.resource and dict(one.traits) == dict(holding.traits)
                ),
                None,
            )
            if found is None:
                return None
            left.remove(found)
            first.append(_owned(found.key, found.resource, found.traits, found.entries))
    rest = [_owned(one.key, one.resource, one.traits, one.entries) for one in left]
    return (*first, *rest)


def _owned(
    key: str, resource: str, traits: object, entries: Sequence[tuple[str, str]] | None
) -> Owned:
    known = traits if isinstance(traits, dict) else {}
    listed = tuple(Entry(key=one, on=date.fromisoformat(day)) for one, day in entries or ())
    return Owned(key=key, resource=resource, traits=dict(known), entries=listed)


def _wanted(holdings: Sequence[Holding]) -> str:
    return ", ".join(
        f"{holding.count} {holding.resource}"
        + "".join(f" {name}={value}" for name, value in holding.traits.items())
        for holding in holdings
    )
