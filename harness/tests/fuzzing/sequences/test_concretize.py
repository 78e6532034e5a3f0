"""References in abstract steps are resolved while a sequence runs."""

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from rows import for_each

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


def concretizer():
    """Return a concretizer after a customer with two things and one request was made."""
    concretizer = Concretizer(zone=PARIS)
    owns = tuple(Owned(key=key, resource="account") for key in ("A", "B"))
    concretizer.note(Subject(name="psu", now=NOW, owns=owns))
    accepted = Accepted(items=(Item(key="P1"),), approval="https://sign", next="/page-2")
    concretizer.note(answer(accepted))
    concretizer.note(answer(Rejected()))
    return concretizer


def answer(outcome, at=NOW):
    """Return an exchange with this outcome."""
    return Exchange(n=1, at=at, call=CALL, outcome=outcome, wire=WIRE)


def read(**arguments):
    """Return a step that calls with these arguments."""
    return AbstractStep(step=replace(CALL, arguments=arguments))


def test_references_are_resolved():
    """References are resolved in arguments, in lists of them, and below objects."""
    step = concretizer().step(
        read(
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


@for_each(
    "abstract_step",
    [
        read(a=OwnedRef("psu", 2)),
        read(a=OwnedRef("unknown", 0)),
        read(a=RequestRef(0)),
        read(a=RequestRef(2)),
        read(a=RequestRef(7)),
        AbstractStep(step=CALL, page=2),
        AbstractStep(step=CALL, page=0),
        AbstractStep(step=Authorise(subject="psu", request="", approval=None), request=2),
        AbstractStep(step=Withdraw(subject="psu", request=""), request=None),
        AbstractStep(step=Advance(), moment=At(0, time(11))),
    ],
)
def test_a_missing_reference_is_an_error(abstract_step):
    """There may be no such thing, request or page; and clocks are not turned back."""
    with pytest.raises(MissingReference):
        concretizer().step(abstract_step)


def test_signatures_withdrawals_and_pages():
    """A step gets the key of the request and its link, or the link to the next page."""
    bare = Authorise(subject="psu", request="", approval=None, factor="sms")
    signed = concretizer().step(AbstractStep(step=bare, request=1))
    assert (signed.request, signed.approval, signed.factor) == ("P1", "https://sign", "sms")
    withdrawn = AbstractStep(step=Withdraw(subject="psu", request=""), request=1)
    assert concretizer().step(withdrawn).request == "P1"
    assert concretizer().step(AbstractStep(step=CALL, page=1)).follow == "/page-2"


def test_entries_are_days_from_today():
    """Entries count from the target's today; None leaves them to the fixture provider."""
    holding = Holding(resource="account", traits={"last-used": RelativeDay(-1)})
    household = AbstractStep(
        step=Arrange(subject="b", holdings=(holding, holding)), days=((0, -1), None)
    )
    first, second = concretizer().step(household).holdings
    assert [str(day) for day in first.entries] == ["2024-05-15", "2024-05-14"]
    assert first.traits == {"last-used": "2024-05-14"}
    assert second.entries is None


@for_each(
    ("moment", "then"),
    [
        (After(timedelta(minutes=4)), "2024-05-15T12:04:00+02:00"),
        (At(0, time(23, 59, 30)), "2024-05-15T23:59:30+02:00"),
        (At(1, time(0, 0, 30)), "2024-05-16T00:00:30+02:00"),
        (On(6, time(3)), "2024-05-19T03:00:00+02:00"),
        (On(2, time(13)), "2024-05-15T13:00:00+02:00"),
        (On(2, time(12)), "2024-05-22T12:00:00+02:00"),
    ],
)
def test_moments(moment, then):
    """Days are those of the zone, whatever zone the clock shows; a weekday is in the future."""
    assert moment_of(moment, NOW, PARIS).isoformat() == then
    assert moment_of(moment, NOW.astimezone(UTC), PARIS) == datetime.fromisoformat(then)


@for_each(
    ("now", "moment", "then"),
    [
        ("2027-03-28T00:30+01:00", At(0, time(2)), "2027-03-28T03:00:00+02:00"),
        ("2027-03-28T00:30+01:00", At(0, time(2, 30)), "2027-03-28T03:30:00+02:00"),
        ("2027-03-28T01:59:30+01:00", After(timedelta(minutes=1)), "2027-03-28T02:00:30+01:00"),
        ("2027-03-28T03:00+02:00", On(6, time(2)), "2027-04-04T02:00:00+02:00"),
        ("2027-10-31T02:30+02:00", On(6, time(2)), "2027-11-07T02:00:00+01:00"),
        ("2027-10-31T02:30+01:00", After(timedelta(hours=1)), "2027-10-31T03:30:00+01:00"),
    ],
)
def test_moments_where_clocks_change(now, moment, then):
    """Every moment is an instant that passes, and a local time that clocks show."""
    assert moment_of(moment, datetime.fromisoformat(now), PARIS).isoformat() == then


def test_a_whole_sequence():
    """The clock is read first; a step that cannot be resolved is left out."""
    sequence = [
        AbstractStep(step=Arrange(subject="psu", holdings=())),
        read(a=RequestRef(3)),
        read(a=RelativeDay(0)),
    ]
    probe = script(sequence, PARIS)
    assert next(probe) == Advance(to=None)
    assert isinstance(probe.send(Advanced(now=NOW)), Arrange)
    last = probe.send(Subject(name="psu", now=NOW, owns=()))
    assert last.arguments == {"a": "2024-05-15"}
    with pytest.raises(StopIteration):
        probe.send(answer(Rejected()))


def test_time_goes_by():
    """Today is the day of the last reply."""
    resolving = concretizer()
    resolving.note(answer(Rejected(), at=NOW + timedelta(days=1)))
    assert resolving.step(read(a=RelativeDay(0))).arguments == {"a": "2024-05-16"}
    resolving.note(None)
    assert resolving.replies[-1] is None


def test_places_and_names():
    """A step knows the places and subjects to which it refers, and can refer to others."""
    abstract_step = read(a=RequestRef(3), b=[RequestRef(4)], c=OwnedRef("b", 0))
    assert [*abstract_step.places] == [3, 4]
    assert abstract_step.names == {"psu", "b"}
    assert [*AbstractStep(step=CALL, page=2).places] == [2]
    assert AbstractStep(step=Arrange(subject="psu", holdings=())).names == frozenset()
    moved = replace(abstract_step, page=1).moved(lambda place: place - 1)
    assert [*moved.places] == [0, 2, 3]
    renamed = abstract_step.subjects({"psu": "x", "b": "y"})
    assert renamed.names == {"x", "y"}
