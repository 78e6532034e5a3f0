"""A scene that somebody else wrote, of which nothing is believed before it is looked at.

Its answers are checked as strictly as those of a control API. Whatever goes wrong in it
is told as its fault: the place in its code and the kind of error, but never the error's
own words, for they may name a customer. What it says on purpose (`CannotArrange`,
`TargetError`) is passed on, in one line.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from traceback import extract_tb
from typing import Any, TypeVar, cast

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
from assay.run.sca.person import legible
from assay.target.encode import Access
from assay.target.world import Scene

__all__ = ["CheckedScene", "blame", "blamed"]

T = TypeVar("T")

#: So much of what a world says on purpose is passed on.
MOST_WORDS = 300
#: Where nobody else's code is: an error in his is told by the place in his.
OURS = {Path(__file__).parents[1], Path(importlib.__file__).parent}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedScene:
    """One trial of a world called `name`; `moves` if it has a clock that can be moved."""

    scene: Scene
    name: str
    moves: bool

    def arrange(self, step: Arrange) -> tuple[Subject, Access]:
        """Let a customer be made, who owns what was asked for."""
        answer: Any = self._told("arrange", lambda: self.scene.arrange(step))
        subject, access = answer if _is_pair(answer) else (None, None)
        if not isinstance(subject, Subject):
            raise self._wrong("arrange", "a Subject and an Access")
        if why := _unlike(subject, step):
            raise TargetError(f"{self.name}.arrange: {why}")
        return subject, self._access("arrange", access)

    def clock(self, to: datetime | None) -> datetime:
        """Let the clock be moved where there is one, or be read."""
        if to is not None and not self.moves:
            raise CannotArrange("a clock that can be moved (world.offers: clock)")
        return self._moment("clock", lambda: self.scene.clock(to))

    def close(self) -> None:
        """Let the world clean up."""
        self._told("close", self.scene.close)

    def provider(self) -> Access:
        """Let another third party be made."""
        return self._access("provider", self._told("provider", self.scene.provider))

    def lack(self, step: Lack) -> datetime:
        """Go to a bank that does not offer something."""
        return self._moment("lack", lambda: self.scene.lack(step))

    def register(self, step: Register, access: Access, value: Json) -> datetime:
        """Let a customer have known a value for so long."""
        return self._moment("register", lambda: self.scene.register(step, access, value))

    def withdraw(self, step: Withdraw) -> bool:
        """Let the customer cancel a request."""
        return self._truth("withdraw", lambda: self.scene.withdraw(step))

    def sign(self, step: Authorise, access: Access, factor: str) -> bool:
        """Let the customer sign with no screens."""
        return self._truth("sign", lambda: self.scene.sign(step, access, factor))

    def effects(self) -> tuple[Effect, ...] | None:
        """Ask what was carried out."""
        answer: Any = self._told("effects", self.scene.effects)
        if answer is not None and not _are(answer, _is_effect):
            raise self._wrong("effects", "a tuple of Effect, or None")
        return cast("tuple[Effect, ...] | None", answer)

    def _told(self, method: str, ask: Callable[[], T]) -> T:
        with blamed(f"{self.name}.{method}"):
            return ask()

    def _moment(self, method: str, ask: Callable[[], object]) -> datetime:
        answer = self._told(method, ask)
        if not _is_moment(answer):
            raise self._wrong(method, "a moment with an offset")
        return cast("datetime", answer)

    def _truth(self, method: str, ask: Callable[[], object]) -> bool:
        answer = self._told(method, ask)
        if not isinstance(answer, bool):
            raise self._wrong(method, "True or False")
        return answer

    def _access(self, method: str, answer: object) -> Access:
        if not (isinstance(answer, Access) and _is_access(answer)):
            raise self._wrong(method, "an Access whose parts are texts")
        return answer

    def _wrong(self, method: str, wanted: str) -> TargetError:
        return TargetError(f"{self.name}.{method} did not return {wanted}")


@contextmanager
def blamed(where: str) -> Generator[None]:
    """Tell whatever goes wrong in somebody else's code as his fault.

    Raises:
        CannotArrange: he says so.
        TargetError: he says so, or anything else went wrong in there.

    """
    try:
        yield
    except (CannotArrange, TargetError) as error:
        raise type(error)(legible(str(error), MOST_WORDS)) from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 -- whatever stands in there
        raise TargetError(f"{blame(error)} in {where}") from None


def blame(error: BaseException) -> str:
    """Return the place in somebody else's code where an error arose, and its kind."""
    kind = type(error).__name__
    if isinstance(error, SyntaxError) and error.filename:
        return f"{Path(error.filename).name}:{error.lineno}: {kind}"
    frames = [
        one
        for one in extract_tb(error.__traceback__)
        if not one.filename.startswith("<") and OURS.isdisjoint(Path(one.filename).parents)
    ]
    if not frames:
        return kind
    # The deepest place in his own files: a library below them tells him less.
    home = Path(frames[0].filename).parent
    last = [one for one in frames if home in Path(one.filename).parents][-1]
    return f"{Path(last.filename).name}:{last.lineno}: {kind}"


def _unlike(subject: Any, step: Arrange) -> str:
    """Say in what a customer is not what was asked for; empty if it is."""
    sound = {
        "the Subject is not called as the step says (name=step.subject)": (
            subject.name == step.subject
        ),
        "the Subject's now is no moment with an offset": _is_moment(subject.now),
        "the Subject's fresh is neither True nor False": isinstance(subject.fresh, bool),
        "the Subject's owns is no tuple of Owned, with texts, states and entries": (
            _are(subject.owns, _is_owned)
        ),
        f"the Subject is not of segment {step.segment} (segment=step.segment)": (
            subject.segment == (step.segment or subject.segment)
        ),
    }
    why = next((words for words, holds in sound.items() if not holds), "")
    return why or _lacking(subject, step)


def _lacking(subject: Subject, step: Arrange) -> str:
    """Say what is not there, or does not come first; empty if all is."""
    wanted = [one for one in step.holdings for _ in range(one.count)]
    things: list[Owned | None] = [*subject.owns, *[None] * len(wanted)]
    for number, (holding, owned) in enumerate(zip(wanted, things, strict=False), 1):
        if owned is None or not _suits(owned, holding):
            return f"thing {number} of those that it owns is not the {_words(holding)} asked for"
    return ""


def _suits(owned: Owned, holding: Holding) -> bool:
    days = Counter(holding.entries or ()) - Counter(one.on for one in owned.entries)
    return (
        owned.resource == holding.resource
        and all(owned.traits.get(name, False) == one for name, one in holding.traits.items())
        and not days
    )


def _words(holding: Holding) -> str:
    traits = "".join(f" {name}={value}" for name, value in holding.traits.items())
    entries = f" with {len(holding.entries)} entries" if holding.entries else ""
    return f"{holding.resource}{traits}{entries}"


def _are(answer: Any, sound: Callable[[Any], bool]) -> bool:
    return isinstance(answer, tuple) and all(map(sound, cast("tuple[object, ...]", answer)))


def _is_pair(answer: Any) -> bool:
    return isinstance(answer, tuple) and len(cast("tuple[object, ...]", answer)) == len("ab")


def _is_owned(one: Any) -> bool:
    return (
        isinstance(one, Owned)
        and _texts(one.key, one.resource)
        and _is_mapping(one.traits, bool | str)
        and _are(one.entries, _is_entry)
    )


def _is_entry(one: Any) -> bool:
    return isinstance(one, Entry) and _texts(one.key) and _is_day(one.on)


def _is_effect(one: Any) -> bool:
    return (
        isinstance(one, Effect)
        and _texts(one.request)
        and _is_day(one.on)
        and _is_mapping(one.fields, object)
    )


def _is_access(one: Any) -> bool:
    parts = (one.token, one.login, one.password, one.name, one.id)
    return _texts(*(part for part in parts if part is not None)) and _is_mapping(one.codes, str)


def _is_mapping(value: Any, kind: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    items = cast("Mapping[object, object]", value).items()
    return all(isinstance(name, str) and isinstance(one, kind) for name, one in items)


def _is_moment(value: Any) -> bool:
    return isinstance(value, datetime) and value.utcoffset() is not None


def _is_day(value: Any) -> bool:
    return isinstance(value, date) and not isinstance(value, datetime)


def _texts(*values: Any) -> bool:
    return all(isinstance(one, str) for one in values)
