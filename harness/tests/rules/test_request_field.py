"""The form of an argument of a request: literal histories, and what the TPP owes."""

from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

from rows import for_each

from assay.history import Call, Item, State, Subject
from assay.history.events import Masked
from assay.rules.kinds.requests.request_field import RequestField
from assay.rules.rule import facts_of
from assay.testing import START, accepted, evidence, exchange, history, kind_in, refused

DESK = Path(__file__).parents[1] / "general_kinds" / "desk.yaml"
USUAL = {"number": "A", "amount": "10.00", "label": "Label 1", "until": "2026-10-01"}
MADE = accepted(Item(key="O-1", state=State.OPEN), status=201)


def ordered(answer=MADE, *, at=None, mode="now", **changes):
    """Write down an order with some of its arguments changed."""
    arguments = {name: value for name, value in {**USUAL, **changes}.items() if value is not None}
    call = Call(operation="order", subject="psu", arguments=arguments, mode=mode)
    return exchange(call, answer, at=at)


def shown(key="O-1", **fields):
    """Write down a reading of an order."""
    item = Item(key=key, state=State.OPEN, fields=fields)
    return exchange(
        Call(operation="show", subject="psu", arguments={"orderId": key}), accepted(item)
    )


def says(clause, *events, tpp=False):
    """Return what a clause says of a history."""
    psu = Subject(name="psu", now=START, owns=())
    return evidence(kind_in(DESK, clause), history(psu, *events), tpp=tpp)


NO = refused(status=422)


@for_each(
    ("clause", "change", "facet"),
    [
        ("amount", {"amount": "10.001"}, "too-precise"),
        ("amount", {"amount": Decimal("10.001")}, "too-precise"),
        ("amount", {"amount": 10.001}, "too-precise"),
        ("label", {"label": "x" * 31}, "too-long"),
        ("label", {"label": "a-b"}, "invalid"),
        ("day", {"day": "2026-09-15"}, "past"),
    ],
)
def test_a_bad_value_is_refused_beside_a_control(clause, change, facet):
    """Without the control the refusal says nothing; accepted, it is a violation by itself."""
    usual = {"day": "2026-09-20"} if clause == "day" else {}

    assert [] == says(clause, ordered(NO, **change))
    assert [f"{facet} agrees 1,2"] == says(clause, ordered(**usual), ordered(NO, **change))
    assert [f"{facet} disagrees 1,2"] == says(clause, ordered(**change), shown())


@for_each(
    ("clause", "change"),
    [
        ("amount", {"amount": "10.100"}),
        ("amount", {"amount": "1E1"}),
        ("amount", {"amount": "ten"}),
        ("amount", {"amount": None}),
        ("amount", {"amount": "10"}),
        ("label", {"label": "x" * 31 + "-"}),
        ("label", {"label": ""}),
        ("label", {"label": "<private 459f44cd1abae8b03f>"}),
        ("label", {"label": "order of <account-1>"}),
        ("label", {"label": Masked("x" * 30)}),
        ("day", {"day": "2026-09-16"}),
        ("day", {"day": "soon"}),
        ("until", {"until": "2027-03-15"}),
    ],
)
def test_what_is_open_is_not_judged(clause, change):
    """Zeros at the end, other spellings, two defects at once, today, and no value at all."""
    assert [] == says(clause, ordered(**change))
    assert [] == says(clause, ordered(), ordered(NO, **change))


def test_today_depends_on_the_zone():
    """Where the contract has none, a day is over only where it is over everywhere."""
    kind = kind_in(DESK, "day")
    anywhere = replace(
        kind, lifecycle=replace(kind.lifecycle, contract=replace(kind.contract, zone=None))
    )
    psu, late = Subject(name="psu", now=START, owns=()), START.replace(hour=20)

    def judged(clause, day):
        return evidence(clause, history(psu, ordered(day=day, at=late), shown()))

    assert ["past disagrees 1,2"] == judged(kind, "2026-09-15")
    assert ["past disagrees 1,2"] == judged(anywhere, "2026-09-15")
    assert [] == judged(anywhere, "2026-09-16")
    early = START.replace(hour=2)
    assert [] == evidence(anywhere, history(psu, ordered(day="2026-09-15", at=early)))


def test_the_longest_text_is_accepted():
    """A refusal is a violation between two controls; one control leaves it open."""
    longest = ordered(NO, label="x" * 30)

    assert ["longest agrees 1"] == says("label", ordered(label="x" * 30))
    assert ["longest unclear 1,2"] == says("label", ordered(), longest)
    assert ["longest disagrees 1,2,3"] == says("label", ordered(), longest, ordered())


@for_each(
    ("day", "agreement"),
    [
        ("2027-03-15", "agrees"),
        ("2027-03-16", "agrees"),
        ("2027-03-14", "agrees"),
        ("2027-03-13", "disagrees"),
        ("2027-04-30", "disagrees"),
    ],
)
def test_a_day_that_is_too_far_away_is_reduced(day, agreement):
    """What is shown is the last possible day, counted in either way."""
    far = ordered(until="2027-04-30")

    assert [f"reduced {agreement} 1,2"] == says("until", far, shown(until=day))


def test_it_is_not_refused_for_that():
    """A refusal beside a control is a violation, and without one it is open."""
    far = ordered(NO, until="2027-04-30")

    assert ["reduced disagrees 1,2"] == says("until", ordered(), far)
    assert [] == says("until", far)
    assert [] == says("until", ordered(until="2027-04-30"), shown())


def test_what_is_reduced_need_not_be_given_back():
    """`gives-back` leaves such a day open, and judges any other."""
    far = [ordered(until="2027-04-30"), shown(until="2027-03-15")]
    near = [ordered(), shown(until="2026-10-02")]

    assert [] == says("content", *far)
    assert ["until disagrees 1,2"] == says("content", *near)
    (alters,) = facts_of(kind_in(DESK, "until").contract).alterations["until"]
    assert alters("2027-04-30", datetime.fromisoformat("2026-09-16T08:00:00+00:00"))
    assert not alters("2027-04-30", START + timedelta(days=60))


def test_other_clauses_leave_a_bad_value_open():
    """A request with it may be rejected, and need not be accepted."""
    facts = facts_of(kind_in(DESK, "amount").contract)
    call = Call(operation="order", subject="psu", arguments={**USUAL, "amount": "1.234"})

    assert facts.may_reject("order", {"amount": "1.234"})
    assert not facts.may_reject("order", {"amount": "1.23"})
    assert not facts.may_reject("account", {"amount": "1.234"})
    assert not facts.admits("order", call, None)
    assert facts.admits("order", replace(call, arguments=USUAL), None)


def test_the_tpp_sends_good_values():
    """What is open for the bank is open for the TPP."""
    assert [
        f"{RequestField.duty_facet} agrees 1",
        f"{RequestField.duty_facet} disagrees 2",
    ] == says(
        "amount",
        ordered(),
        ordered(NO, amount="1.234"),
        ordered(amount="1.230"),
        ordered(amount=None),
        tpp=True,
    )


# -- a default ---------------------------------------------------------------------------
def unlabelled(answer=MADE):
    """Write down an order without a label."""
    order = ordered(answer, label=None)
    return replace(order, call=replace(order.call, without=("label",)))


@for_each(
    ("label", "agreement"),
    [("Order", "agrees"), ("ORDER", "unclear"), ("Or***", "unclear"), ("Sale", "disagrees")],
)
def test_what_is_left_out_is_shown_as_the_default(label, agreement):
    """By the answer that made it, or by a later one."""
    assert [f"default {agreement} 1,2"] == says("usual-label", unlabelled(), shown(label=label))
    made = accepted(Item(key="O-1", state=State.OPEN, fields={"label": label}), status=201)
    assert [f"default {agreement} 1"] == says("usual-label", unlabelled(made))


def test_a_default_that_nobody_needs_is_not_judged():
    """Something was sent, nothing is shown, or it may have been changed since."""
    assert [] == says("usual-label", ordered(), shown(label="Sale"))
    assert [] == says("usual-label", unlabelled(), shown(label=None))
    assert [] == says("usual-label", unlabelled(), shown(amount="10.00"))


def test_an_order_without_what_has_a_default_is_taken():
    """Refused between two like it that are taken, it violates; otherwise that may be the moment."""
    events = ordered(), unlabelled(NO), ordered()
    assert ["default disagrees 1,2,3"] == says("usual-label", *events)
    for few in (events[:2], events[1:]):
        assert not any("disagrees" in line for line in says("usual-label", *few))
