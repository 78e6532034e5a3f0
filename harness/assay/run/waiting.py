"""Waiting in earnest, where no clock can be moved: for as long as a user agreed to.

A world of real customers (roles, or Python without a clock) is put into one whose clock
"moves" because time passes. It never waits longer than the span of the whole run. What
it will come to is foretold in `forecast`; the waiting itself is done by whatever `sleep`
is given, in small pieces, so that a machine that was asleep meanwhile is noticed, and an
interruption ends it at once.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from assay.errors import CannotArrange, InputError, TargetError
from assay.history import Arrange, Authorise, Effect, Lack, Register, Subject, Withdraw
from assay.model import Capability, Json
from assay.run.guard import real
from assay.target.encode import Access
from assay.target.profile import Profile, WorldKind
from assay.target.world import Scene, World

NONE = timedelta(0)
#: So long is slept at once.
SLICE = timedelta(seconds=30)
#: A span is written with these, the largest first: `1d2h`, `45m`, `90s`.
UNITS = {"d": timedelta(days=1), "h": timedelta(hours=1), "m": timedelta(minutes=1)}
SPAN = re.compile(r"(?:(\d{1,3})d)?(?:(\d{1,4})h)?(?:(\d{1,5})m)?(?:(\d{1,6})s)?")
HINT = "for example 45m, 26h or 1d12h"


def span(text: str, option: str = "--wait") -> timedelta:
    """Read how long may be waited in all, as an option says it.

    Raises:
        InputError: it is no span of time, or none at all.

    """
    read = SPAN.fullmatch(text.strip())
    days, hours, minutes, seconds = (int(one or 0) for one in read.groups()) if read else (0,) * 4
    found = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    if not found:
        raise InputError.one(option, f"expected a span of time, found {text[:40]!r}", hint=HINT)
    return found


def spelt(wanted: timedelta) -> str:
    """Spell a span as `--wait` takes it, in whole minutes, never too short."""
    left = max(UNITS["m"], -(-wanted // UNITS["m"]) * UNITS["m"])
    text = ""
    for unit, one in UNITS.items():
        count, left = divmod(left, one)
        text += f"{count}{unit}" if count else ""
    return text


def in_words(wanted: timedelta) -> str:
    """Tell a span to a reader: `1 d 2 h 5 min`."""
    words = {"d": "d", "h": "h", "m": "min"}
    return re.sub(r"(\d+)([dhm])", lambda one: f" {one[1]} {words[one[2]]}", spelt(wanted)).strip()


def lends_itself(profile: Profile) -> bool:
    """Whether waiting helps: real customers, and no clock that can be moved."""
    return real(profile) and Capability.CLOCK not in profile.world.offers


def timed(profile: Profile) -> Profile:
    """Return the profile of the same target if its clock could be moved."""
    world = profile.world
    return replace(profile, world=replace(world, offers=world.offers | {Capability.CLOCK}))


def refuse_elsewhere(profile: Profile) -> None:
    """Refuse to wait where that would be of no use.

    Raises:
        InputError: this world moves its clock, or has nobody to wait with.

    """
    if lends_itself(profile):
        return
    what = "this target's world has a clock that can be moved"
    if profile.world.kind is WorldKind.NONE:
        what = "this target's profile names no world, so there is nobody to wait with"
    raise InputError.one("--wait", what, hint="leave it out")


@dataclass(slots=True, kw_only=True)
class Waiting:
    """How long may be waited in a whole run, and how long it was already.

    `sleep` takes seconds, and is asked for so much as a `piece` at once. `tell` is told of what is left of each wait, first of all of
    it, and at the end of nothing; and until when it is waited.
    """

    span: timedelta
    sleep: Callable[[float], None] = time.sleep
    tell: Callable[[timedelta, datetime], None] = lambda _left, _until: None
    piece: timedelta = SLICE
    waited: timedelta = NONE

    def until(self, to: datetime, clock: Callable[[], datetime]) -> datetime:
        """Wait until a clock shows this, or do nothing if it does; return what it shows.

        Raises:
            CannotArrange: that would be longer than the span of the run.
            TargetError: the clock does not go on.

        """
        now, slept = clock(), NONE
        left = to - now
        if left <= NONE:
            return now
        whole = self.waited + left
        if whole > self.span:
            raise CannotArrange(f"more waiting: --wait {spelt(whole)}")
        most = 2 * left + 2 * SLICE
        while left > NONE:
            self.tell(left, to)
            piece = min(left, self.piece)
            self.sleep(piece.total_seconds())
            slept += piece
            now = clock()
            left = to - now
            if slept > most:
                raise TargetError("the world's clock does not go on while it is waited for")
        self.tell(NONE, to)
        self.waited = whole
        return now


def telling(waiting: Waiting, tell: Callable[[str], None]) -> Callable[[timedelta, datetime], None]:
    """Return what says of each wait when it begins: for how long, and until when."""
    begun: list[datetime] = []

    def told(left: timedelta, until: datetime) -> None:
        if left and begun != [until]:
            clock = until.astimezone().strftime("%Y-%m-%d %H:%M:%S")
            rest = waiting.span - waiting.waited - left
            more = f"; {in_words(rest)} more are allowed" if rest else ""
            tell(f"waiting {in_words(left)}, until {clock}{more}")
        begun[:] = [until] if left else []

    return told


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingWorld:
    """A world whose clock cannot be moved, and is waited for instead."""

    world: World
    waiting: Waiting = field(repr=False)

    def open(self) -> WaitingScene:
        """Begin a trial."""
        return WaitingScene(scene=self.world.open(), waiting=self.waiting)


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingScene:
    """A scene in which time is let pass; all else is asked of the scene within."""

    scene: Scene
    waiting: Waiting

    def clock(self, to: datetime | None) -> datetime:
        """Wait until then, or only read the clock."""
        if to is None:
            return self.scene.clock(None)
        return self.waiting.until(to, lambda: self.scene.clock(None))

    def arrange(self, step: Arrange) -> tuple[Subject, Access]:
        """Ask the scene within."""
        return self.scene.arrange(step)

    def close(self) -> None:
        """Close the scene within."""
        self.scene.close()

    def provider(self) -> Access:
        """Ask the scene within."""
        return self.scene.provider()

    def lack(self, step: Lack) -> datetime:
        """Ask the scene within."""
        return self.scene.lack(step)

    def register(self, step: Register, access: Access, value: Json) -> datetime:
        """Ask the scene within."""
        return self.scene.register(step, access, value)

    def withdraw(self, step: Withdraw) -> bool:
        """Ask the scene within."""
        return self.scene.withdraw(step)

    def sign(self, step: Authorise, access: Access, factor: str) -> bool:
        """Ask the scene within."""
        return self.scene.sign(step, access, factor)

    def effects(self) -> tuple[Effect, ...] | None:
        """Ask the scene within."""
        return self.scene.effects()
