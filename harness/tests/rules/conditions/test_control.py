"""Controls of decision rows: requests that differ at one input and must be accepted."""

from dataclasses import replace
from datetime import timedelta

from building import driven
from orders import AT, make, payer, shown, sign
from visits import FIVE, params, table

from assay.contract.model import Capability
from assay.history import Accepted, Authorise, Call, Item, Owned, Register, State, Subject
from assay.rules.conditions import control


def of(when, row):
    """Return the control of a row, as the names of its points."""
    found = table(when)
    one = control(found, found.row(row))
    return one, [point.name for point in one.points] if one else None


def test_a_control_differs_in_one_input():
    """And is accepted, by the condition itself."""
    found = table(FIVE)
    for row in found.rows:
        twin = control(found, row)
        differs = [
            n for n, (a, b) in enumerate(zip(row.points, twin.points, strict=True)) if a != b
        ]
        assert 1 == len(differs)
        assert row.points[differs[0]] is twin.moved


def test_a_control_asks_for_something_else_if_it_can():
    """Then it is no repeat, and costs neither another thing nor another customer."""
    twin, points = of("{all: [{field: work, is: gas}, {factor: card}]}", "work-gas")

    assert ["not-gas", "card"] == points
    assert (False, False) == (twin.about_another, twin.for_another)


def test_a_control_that_asks_for_the_same_is_about_another_thing():
    """Else it would make a repeat of what it is to stand beside."""
    twin, points = of("{factor: card}", "factor-card")

    assert ["code"] == points
    assert (True, False) == (twin.about_another, twin.for_another)


def test_a_control_with_another_past_is_for_another_customer():
    """Nobody's registrations can be taken back."""
    twin, points = of("{not: {registered: work, more-than-hours: 48}}", "work-unregistered")

    assert ["just-over-48h"] == points
    assert (False, True) == (twin.about_another, twin.for_another)
    assert {Capability.REGISTRATIONS, Capability.TWO_PSU} == twin.needs


def test_a_control_may_have_the_same_truths():
    """If nothing that differs more is accepted."""
    _, points = of("{factor: card}", "factor-code")

    assert ["stamp"] == points


def test_where_nothing_else_is_accepted_there_is_no_control():
    """A single row that is not rejected stands alone."""
    assert (None, None) == of("{field: price, above: 1}", "price-at-1")


def play(when, scenario):
    """Play a probe, and return who asked about what, and what was prepared, in order."""
    out = []

    def answer(step):
        match step:
            case Call(operation="order", subject=subject, arguments=arguments):
                out.append(f"{subject} {arguments['number']}")
                return make(shown("V1"), at=AT)
            case Call():
                items = (Item(key="V1", state=State.DONE),)
                return replace(make(shown("V1"), at=AT), outcome=Accepted(items=items))
            case Authorise():
                return replace(sign(at=AT), step=step)
            case Register(subject=subject, age=age):
                out.append(f"{subject} known for {age}")
                return payer()
        owns = tuple(Owned(key=f"M{n}", resource="meter") for n in range(2))
        return Subject(name=step.subject, now=AT, owns=owns[: step.holdings[0].count])

    driven(params(when).probe(params(when).scenario(scenario)), answer)
    return out


def test_a_probe_asks_the_control_about_another_thing():
    """First, and of the same customer."""
    assert ["psu M1", "psu M0"] == play("{factor: card}", "factor-card")


def test_a_probe_asks_the_control_of_another_customer():
    """Who has the past that it takes."""
    known = timedelta(hours=48, seconds=1)
    when = "{not: {registered: work, more-than-hours: 48}}"

    assert [f"psu-beside known for {known}", "psu-beside M0", "psu M0"] == play(
        when, "work-unregistered"
    )


def test_a_facet_needs_what_its_control_does():
    """If it is asked in any case."""
    when = "{not: {registered: work, more-than-hours: 48}}"
    facets = {one.id: one for one in params(when).facets()}

    assert {Capability.REGISTRATIONS, Capability.TWO_PSU} <= facets["work-unregistered"].needs
    assert Capability.TWO_PSU not in facets["work-long"].needs
