"""A story is told with what its references stand for, there and then."""

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from assay.fuzzing.sequences.abstract_step import (
    AbstractStep,
    After,
    At,
    On,
    OwnedRef,
    RelativeDay,
    RequestRef,
    moment_of,
)
from assay.fuzzing.sequences.concretize import Concretizer, MissingReference, script
from assay.history import (
    Accepted,
    Advance,
    Advanced,
    Arrange,
    Authorise,
    Call,
    Exchange,
    Holding,
    Item,
    Owned,
    Rejected,
    Subject,
    Wire,
    Withdraw,
)

PARIS = ZoneInfo("Europe/Paris")
#: A Wednesday, noon in Paris.
NOW = datetime(2024, 5, 15, 12, tzinfo=PARIS)
CALL = Call(operation="read", subject="psu")
WIRE = Wire(method="GET", url="x:")


def telling():
    """Return a telling in which a customer owns two things, and one request was made."""
    told = Concretizer(zone=PARIS)
    owns = tuple(Owned(key=key, resource="account") for key in ("A", "B"))
    told.note(Subject(name="psu", now=NOW, owns=owns))
    told.note(answer(Accepted(items=(Item(key="P1"),), approval="https://sign", next="/page-2")))
    told.note(answer(Rejected()))
    return told


def answer(outcome, at=NOW):
    return Exchange(n=1, at=at, call=CALL, outcome=outcome, wire=WIRE)


def asked(**arguments):
    return AbstractStep(step=replace(CALL, arguments=arguments))


def test_references_become_what_they_stand_for():
    """In arguments, in lists of them, and below objects."""
    step = telling().step(
        asked(
            a=OwnedRef("psu", 1),
            b=[OwnedRef("psu", 0), "x"],
            c=RequestRef(1),
            d=RelativeDay(-90),
            e={"f": RelativeDay(1)},
        )
    )
    assert step.arguments == {
        "a": "B",
        "b": ["A", "x"],
        "c": "P1",
        "d": "2024-02-15",
        "e": {"f": "2024-05-16"},
    }


@pytest.mark.parametrize(
    "told",
    [
        asked(a=OwnedRef("psu", 2)),
        asked(a=OwnedRef("nobody", 0)),
        asked(a=RequestRef(0)),
        asked(a=RequestRef(2)),
        asked(a=RequestRef(7)),
        AbstractStep(step=CALL, page=2),
        AbstractStep(step=CALL, page=0),
        AbstractStep(step=Authorise(subject="psu", request="", approval=None), request=2),
        AbstractStep(step=Withdraw(subject="psu", request=""), request=None),
        AbstractStep(step=Advance(), moment=At(0, time(11))),
    ],
    ids=repr,
)
def test_what_did_not_come_about_is_not_told(told):
    """No such thing, no such request, no page; and clocks are not turned back."""
    with pytest.raises(MissingReference):
        telling().step(told)


def test_signing_withdrawing_turning():
    """The request's key and its link, and the page that an answer named."""
    bare = Authorise(subject="psu", request="", approval=None, factor="sms")
    signed = telling().step(AbstractStep(step=bare, request=1))
    assert (signed.request, signed.approval, signed.factor) == ("P1", "https://sign", "sms")
    withdrawn = AbstractStep(step=Withdraw(subject="psu", request=""), request=1)
    assert telling().step(withdrawn).request == "P1"
    assert telling().step(AbstractStep(step=CALL, page=1)).follow == "/page-2"


def test_households_have_days_of_today():
    """Entries are so many days from the target's today; None is left to the world."""
    holding = Holding(resource="account", traits={"last-used": RelativeDay(-1)})
    told = AbstractStep(
        step=Arrange(subject="b", holdings=(holding, holding)), days=((0, -1), None)
    )
    first, second = telling().step(told).holdings
    assert [str(one) for one in first.entries] == ["2024-05-15", "2024-05-14"]
    assert first.traits == {"last-used": "2024-05-14"}
    assert second.entries is None


@pytest.mark.parametrize(
    ("moment", "then"),
    [
        (After(timedelta(minutes=4)), "2024-05-15T12:04:00+02:00"),
        (At(0, time(23, 59, 30)), "2024-05-15T23:59:30+02:00"),
        (At(1, time(0, 0, 30)), "2024-05-16T00:00:30+02:00"),
        (On(6, time(3)), "2024-05-19T03:00:00+02:00"),
        (On(2, time(13)), "2024-05-15T13:00:00+02:00"),
        (On(2, time(12)), "2024-05-22T12:00:00+02:00"),
    ],
    ids=str,
)
def test_moments(moment, then):
    """Of the zone's days, whatever zone the clock shows; a weekday is always to come."""
    assert moment_of(moment, NOW, PARIS).isoformat() == then
    assert moment_of(moment, NOW.astimezone(UTC), PARIS) == datetime.fromisoformat(then)


def test_a_whole_story():
    """The clock is looked at first, and what cannot be told is left out, not the rest."""
    story = [
        AbstractStep(step=Arrange(subject="psu", holdings=())),
        asked(a=RequestRef(3)),
        asked(a=RelativeDay(0)),
    ]
    probe = script(story, PARIS)
    assert next(probe) == Advance(to=None)
    assert isinstance(probe.send(Advanced(now=NOW)), Arrange)
    last = probe.send(Subject(name="psu", now=NOW, owns=()))
    assert last.arguments == {"a": "2024-05-15"}
    with pytest.raises(StopIteration):
        probe.send(answer(Rejected()))


def test_time_goes_by():
    """Whoever tells the time last is right."""
    later = NOW + timedelta(days=1)
    told = telling()
    told.note(answer(Rejected(), at=later))
    assert told.step(asked(a=RelativeDay(0))).arguments == {"a": "2024-05-16"}
    told.note(None)
    assert told.replies[-1] is None


def test_places_and_names():
    """What a step rests on; one that brings a customer into being rests on nobody."""
    told = asked(a=RequestRef(3), b=[RequestRef(4)], c=OwnedRef("b", 0))
    assert [*told.places] == [3, 4]
    assert told.names == {"psu", "b"}
    assert [*AbstractStep(step=CALL, page=2).places] == [2]
    assert AbstractStep(step=Arrange(subject="psu", holdings=())).names == frozenset()
    moved = replace(told, page=1).moved(lambda place: place - 1)
    assert [*moved.places] == [0, 2, 3]
    other = told.subjects({"psu": "x", "b": "y"})
    assert other.names == {"x", "y"}
