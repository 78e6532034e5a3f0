"""The world of a target that speaks `assay-control/1`, a small control API.

Every scene is a world of its own at the target, with its own clock. What the
API answers is checked as strictly as anything else that comes from outside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, cast
from urllib.parse import quote

from assay.errors import CannotArrange, TargetError
from assay.history import Arrange, Entry, Holding, Owned, Subject
from assay.target.encode import Access

#: Sends (method, path below the API, JSON body) and returns (status, JSON answer).
Send = Callable[[str, str, Mapping[str, Any] | None], tuple[int, Any]]

OK, CREATED = 200, 201


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlWorld:
    """Opens a fresh world at the target for every trial."""

    send: Send
    seed: int = 0

    def open(self) -> ControlScene:
        """Begin a trial in a world made from the seed."""
        status, answer = self.send("POST", "/worlds", {"seed": self.seed})
        if status != CREATED:
            raise TargetError(f"the control API did not make a world (status {status})")
        world = quote(_text(answer, "world"), safe="", errors="replace")
        return ControlScene(send=self.send, world=world, now=_moment(answer))


@dataclass(slots=True, kw_only=True)
class ControlScene:
    """One world at the target; its clock stands still unless it is moved."""

    send: Send
    world: str
    now: datetime

    def arrange(self, step: Arrange) -> tuple[Subject, Access]:
        """Make a customer who owns what is asked for."""
        wanted = {"holdings": [_holding(one) for one in step.holdings]}
        status, answer = self.send("POST", f"/worlds/{self.world}/customers", wanted)
        if status != CREATED:
            what = answer.get("message", "") if isinstance(answer, dict) else ""
            raise CannotArrange(f"the world cannot make this customer: {str(what)[:200]}")
        owns = tuple(_owned(one) for one in _list(answer, "holdings"))
        made = Counter(one.resource for one in owns)
        for holding in step.holdings:
            made[holding.resource] -= holding.count
        if lacking := sorted(resource for resource, left in made.items() if left < 0):
            raise TargetError(f"the control API made fewer than asked for: {lacking[0]}")
        subject = Subject(name=step.subject, now=_moment(answer), owns=owns)
        access = Access(
            token=_maybe(answer, "token"),
            login=_maybe(answer, "login"),
            password=_maybe(answer, "password"),
            name=_maybe(answer, "name"),
        )
        return subject, access

    def clock(self, to: datetime | None) -> datetime:
        """Move the world's clock, or tell what it shows."""
        if to is not None:
            path = f"/worlds/{self.world}/clock"
            status, answer = self.send("POST", path, {"to": to.isoformat()})
            if status != OK:
                raise CannotArrange(f"the world's clock did not follow (status {status})")
            self.now = _moment(answer)
        return self.now

    def close(self) -> None:
        """Let the target forget this world."""
        self.send("DELETE", f"/worlds/{self.world}", None)


def _holding(holding: Holding) -> Mapping[str, Any]:
    out: dict[str, Any] = {
        "resource": holding.resource,
        "count": holding.count,
        "traits": dict(holding.traits),
    }
    if holding.entries is not None:
        out["entries"] = [day.isoformat() for day in holding.entries]
    return out


def _owned(one: Any) -> Owned:
    traits = _get(one, "traits")
    if not isinstance(traits, dict) or not all(
        isinstance(state, bool | str) for state in cast("dict[str, object]", traits).values()
    ):
        raise TargetError("the control API's answer has 'traits' that are no states")
    return Owned(
        key=_text(one, "key"),
        resource=_text(one, "resource"),
        traits=cast("dict[str, object]", traits),
        entries=tuple(
            Entry(key=_text(entry, "key"), on=_day(entry)) for entry in _list(one, "entries")
        ),
    )


def _get(answer: Any, name: str) -> Any:
    if not isinstance(answer, dict) or name not in answer:
        raise TargetError(f"the control API's answer has no {name!r}")
    return cast("dict[str, Any]", answer)[name]


def _text(answer: Any, name: str) -> str:
    value = _get(answer, name)
    if not isinstance(value, str):
        raise TargetError(f"the control API's answer has a {name!r} that is no text")
    return value


def _maybe(answer: Any, name: str) -> str | None:
    value = cast("dict[str, Any]", answer).get(name)
    return value if isinstance(value, str) else None


def _list(answer: Any, name: str) -> list[Any]:
    value = _get(answer, name)
    if not isinstance(value, list):
        raise TargetError(f"the control API's answer has a {name!r} that is no list")
    listed: list[Any] = value
    return listed


def _moment(answer: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(_text(answer, "now"))
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise TargetError("the control API's answer has a 'now' that is no moment with an offset")
    return moment


def _day(entry: Any) -> date:
    try:
        return date.fromisoformat(_text(entry, "date"))
    except ValueError:
        raise TargetError("the control API's answer has a 'date' that is no day") from None
