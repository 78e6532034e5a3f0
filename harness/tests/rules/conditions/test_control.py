"""Controls of decision rows: requests that differ at one input and must be accepted."""

from datetime import timedelta

from payment_initiation import shown
from visits import FIVE, params, table

from assay.contract.model import Capability
from assay.history import Register, State
from assay.rules.conditions import control
from assay.testing import play


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


def asked(when, scenario):
    """Play a probe, and return who asked about what, and what was prepared, in order."""
    out = []

    def bank(call):
        if call.operation == "order":
            out.append(f"{call.subject} {call.arguments['number']}")
        return shown("V1", State.OPEN if call.operation == "order" else State.DONE)

    def reply(step, reply):
        if isinstance(step, Register):
            out.append(f"{step.subject} known for {step.age}")
        return reply

    play(params(when), scenario, bank, reply=reply)
    return out


def test_a_probe_asks_the_control_about_another_thing():
    """First, and of the same customer."""
    assert ["psu psu-2", "psu psu-1"] == asked("{factor: card}", "factor-card")


def test_a_probe_asks_the_control_of_another_customer():
    """Who has the past that it takes."""
    known = timedelta(hours=48, seconds=1)
    when = "{not: {registered: work, more-than-hours: 48}}"

    assert [f"psu-beside known for {known}", "psu-beside psu-beside-1", "psu psu-1"] == asked(
        when, "work-unregistered"
    )


def test_a_facet_needs_what_its_control_does():
    """If it is asked in any case."""
    when = "{not: {registered: work, more-than-hours: 48}}"
    facets = {one.id: one for one in params(when).facets()}

    assert {Capability.REGISTRATIONS, Capability.TWO_PSU} <= facets["work-unregistered"].needs
    assert Capability.TWO_PSU not in facets["work-long"].needs
