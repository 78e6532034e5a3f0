"""The world of a target that speaks `assay-control/1`, a small control API.

Every scene is a world of its own at the target, with its own clock. What the
API answers is checked as strictly as anything else that comes from outside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, cast
from urllib.parse import quote

from assay.errors import CannotArrange, TargetError
from assay.history import (
    Arrange,
    Authorise,
    Effect,
    Entry,
    Holding,
    Lack,
    Owned,
    Register,
    Subject,
    Withdraw,
)
from assay.model import Json
from assay.target.encode import Access
from assay.target.pointer import MISSING, find

#: Sends (method, path below the API, JSON body) and returns (status, JSON answer).
Send = Callable[[str, str, Mapping[str, Any] | None], tuple[int, Any]]

OK, CREATED, CONFLICT = 200, 201, 409


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlWorld:
    """Opens a fresh world at the target for every trial."""

    send: Send
    seed: int = 0
    segments: Mapping[str, str] = field(default_factory=dict[str, str])
    effects: Mapping[str, str] = field(default_factory=dict[str, str])

    def open(self) -> ControlScene:
        """Begin a trial in a world made from the seed."""
        world, now = self.make()
        return ControlScene(maker=self, send=self.send, world=world, now=now)

    def make(self, **more: Any) -> tuple[str, datetime]:
        """Make a world, and return its name and its clock."""
        status, answer = self.send("POST", "/worlds", {"seed": self.seed, **more})
        if status != CREATED:
            raise TargetError(f"the control API did not make a world (status {status})")
        return _segment(answer, "world"), _moment(answer)


@dataclass(slots=True, kw_only=True)
class ControlScene:
    """One world at the target; its clock stands still unless it is moved."""

    maker: ControlWorld
    send: Send
    world: str
    now: datetime

    def arrange(self, step: Arrange) -> tuple[Subject, Access]:
        """Make a customer who owns what is asked for."""
        wanted: dict[str, Any] = {"holdings": [_holding(one) for one in step.holdings]}
        if step.segment is not None:
            wanted["segment"] = self.maker.segments.get(step.segment, step.segment)
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
        subject = Subject(name=step.subject, now=_moment(answer), owns=owns, segment=step.segment)
        access = Access(
            token=_maybe(answer, "token"),
            login=_maybe(answer, "login"),
            password=_maybe(answer, "password"),
            name=_maybe(answer, "name"),
            codes=_texts(answer, "factors"),
            id=_maybe(answer, "customer"),
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

    def provider(self) -> Access:
        """Make a provider with a token of its own."""
        answer = self._do("POST", "/providers", {}, CREATED, "a provider")
        client = _maybe(answer, "client_id")
        return Access(
            # Who is a client asks for tokens, and need not be given one.
            token=_maybe(answer, "token") if client else _text(answer, "token"),
            client_id=client,
            client_secret=_maybe(answer, "client_secret"),
        )

    def lack(self, step: Lack) -> datetime:
        """Leave this world for one of a bank that does not offer a mode."""
        self.close()
        self.world, self.now = self.maker.make(offers={step.mode: False})
        return self.now

    def register(self, step: Register, access: Access, value: Json) -> datetime:
        """Register a creditor for a customer, since so long ago."""
        since = self.now - step.age
        path = f"/customers/{quote(access.id or '', safe='')}/creditors"
        wanted = {"iban": value, "registered": since.isoformat()}
        self._do("POST", path, wanted, CREATED, "a registration")
        return since

    def withdraw(self, step: Withdraw) -> bool:
        """Cancel a payment as the customer."""
        return self._act(step.request, "cancel", {})

    def sign(self, step: Authorise, access: Access, factor: str) -> bool:
        """Sign a payment, or refuse it, with no screens."""
        wanted = {"customer": access.id, "factor": factor, "decision": step.decision.value}
        return self._act(step.request, "sign", wanted)

    def effects(self) -> tuple[Effect, ...] | None:
        """Tell what was executed in this world."""
        answer = self._do("GET", "/executions", None, OK, "what was carried out")
        return tuple(self._effect(one) for one in _list(answer, "executions"))

    def _effect(self, one: Any) -> Effect:
        found = {name: find(one, pointer) for name, pointer in self.maker.effects.items()}
        return Effect(
            request=_text(one, "payment"),
            on=_day(one),
            fields={name: value for name, value in found.items() if value is not MISSING},
        )

    def _act(self, request: str, what: str, wanted: Mapping[str, Any]) -> bool:
        path = f"/worlds/{self.world}/payments/{quote(request, safe='')}/{what}"
        status, _ = self.send("POST", path, wanted)
        if status not in {OK, CONFLICT}:
            raise CannotArrange(f"a control API that can {what} (it answered {status})")
        return status == OK

    def _do(
        self, method: str, path: str, wanted: Mapping[str, Any] | None, good: int, what: str
    ) -> Any:
        status, answer = self.send(method, f"/worlds/{self.world}{path}", wanted)
        if status != good:
            raise CannotArrange(f"{what} of the world's making (it answered {status})")
        return answer


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


def _segment(answer: Any, name: str) -> str:
    return quote(_text(answer, name), safe="", errors="replace")


def _texts(answer: Any, name: str) -> Mapping[str, str]:
    value = cast("dict[str, Any]", answer).get(name)
    named = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    return {key: one for key, one in named.items() if isinstance(one, str)}


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
