"""The control API's answers, believed only as far as they make sense."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

import pytest

from assay.errors import CannotArrange, TargetError
from assay.history import Arrange, Entry, Holding, Owned
from assay.target.control import ControlWorld
from assay.target.encode import Access

NOW = "2026-09-16T10:00:00+02:00"
WORLD = {"world": "w1", "now": NOW}
HOLDING = {
    "resource": "account",
    "key": "FR1",
    "traits": {"inactive": True},
    "entries": [{"key": "T1", "date": "2026-09-01"}],
}
CUSTOMER = {
    "token": "t",
    "login": "l",
    "password": "p",
    "name": "Somebody",
    "now": NOW,
    "holdings": [HOLDING],
}
WANTED = Arrange(
    subject="psu", holdings=(Holding(resource="account", entries=(date(2026, 9, 1),)),)
)


@dataclass
class Api:
    """A control API that says what it is told to say, in turn."""

    answers: list[tuple[int, Any]]
    asked: list[tuple[str, str, Mapping[str, Any] | None]] = field(default_factory=list)

    def __call__(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[int, Any]:
        self.asked.append((method, path, body))
        return self.answers.pop(0)


def test_a_trial() -> None:
    """A world is made, a customer arranged in it, its clock moved, and it is given back."""
    later = "2026-09-17T00:00:30+02:00"
    api = Api([(201, WORLD), (201, CUSTOMER), (200, {"now": later}), (204, {})])
    scene = ControlWorld(send=api, seed=7).open()
    subject, access = scene.arrange(WANTED)
    assert ("psu", datetime.fromisoformat(NOW), True) == (
        subject.name,
        subject.now,
        subject.fresh,
    )
    assert (
        Owned(
            key="FR1",
            resource="account",
            traits={"inactive": True},
            entries=(Entry(key="T1", on=date(2026, 9, 1)),),
        ),
    ) == subject.owns
    assert Access(token="t", login="l", password="p", name="Somebody") == access
    moved = datetime.fromisoformat(later)
    assert moved == scene.clock(moved)
    assert moved == scene.clock(None)
    scene.close()
    wanted = {"resource": "account", "count": 1, "traits": {}, "entries": ["2026-09-01"]}
    assert [
        ("POST", "/worlds", {"seed": 7}),
        ("POST", "/worlds/w1/customers", {"holdings": [wanted]}),
        ("POST", "/worlds/w1/clock", {"to": later}),
        ("DELETE", "/worlds/w1", None),
    ] == api.asked


@pytest.mark.parametrize(
    "answer",
    [
        (200, WORLD),
        (404, {"message": "no"}),
        (201, []),
        (201, None),
        (201, {"now": NOW}),
        (201, {"world": 1, "now": NOW}),
        (201, {"world": "w1"}),
        (201, {"world": "w1", "now": 0}),
        (201, {"world": "w1", "now": "soon"}),
        (201, {"world": "w1", "now": "2026-09-16T10:00:00"}),
    ],
)
def test_no_world(answer: tuple[int, Any]) -> None:
    """A world that is not told of properly is an error of the target, not of the harness."""
    with pytest.raises(TargetError, match="control API"):
        ControlWorld(send=Api([answer])).open()


@pytest.mark.parametrize("world", ["../../../accounts", "w1?x=1", "w 1", "w\ud800"])
def test_odd_names(world: str) -> None:
    """A world's name is one step of a path, whatever it looks like."""
    api = Api([(201, {"world": world, "now": NOW}), (204, {})])
    ControlWorld(send=api).open().close()
    path = api.asked[-1][1]
    assert path.startswith("/worlds/")
    assert (2, True) == (path.count("/"), path.isascii() and not set(path) & set("? #"))


@pytest.mark.parametrize(
    "changed",
    [
        {"holdings": []},
        {"holdings": {}},
        {"holdings": None},
        {"holdings": [None]},
        {"holdings": [{**HOLDING, "resource": "card"}]},
        {"holdings": [{**HOLDING, "key": 1}]},
        {"holdings": [{**HOLDING, "traits": []}]},
        {"holdings": [{**HOLDING, "traits": {"a": {"b": 1}}}]},
        {"holdings": [{**HOLDING, "entries": {"key": "T1"}}]},
        {"holdings": [{**HOLDING, "entries": [{"key": "T1", "date": "soon"}]}]},
        {"holdings": [{"resource": "account", "key": "FR1"}]},
        {"now": "2026-09-16"},
    ],
)
def test_no_customer(changed: dict[str, Any]) -> None:
    """A customer who is not told of properly, or owns too little, is the target's error."""
    api = Api([(201, WORLD), (201, {**CUSTOMER, **changed})])
    with pytest.raises(TargetError, match="control API"):
        ControlWorld(send=api).open().arrange(WANTED)


def test_cannot_make() -> None:
    """A customer whom the world cannot make leaves open what needs one, with its reason."""
    api = Api([(201, WORLD), (400, {"message": "holdings: at most 500 items"})])
    with pytest.raises(CannotArrange, match="cannot make this customer: holdings: at most 500"):
        ControlWorld(send=api).open().arrange(WANTED)


def test_the_clock_does_not_follow() -> None:
    """A clock that refuses to be moved leaves open what needs it."""
    scene = ControlWorld(send=Api([(201, WORLD), (409, {"message": "backwards"})])).open()
    with pytest.raises(CannotArrange, match=r"clock did not follow \(status 409\)"):
        scene.clock(datetime.fromisoformat(NOW))
