"""Atoms of conditions: the points that each tries, and the values of which it holds."""

from datetime import timedelta
from decimal import Decimal

from payment_initiation import PIS, make, payer, registered, shown
from rows import for_each
from visits import contract, table

from assay.history import Authorise, Call
from assay.rules.conditions import atoms
from assay.rules.conditions.atoms import (
    EVER,
    Age,
    Factor,
    FieldAbove,
    FieldIs,
    Given,
    IsRegistered,
    named_values,
    sent_values,
)
from assay.rules.conditions.table import FAR, DecidedRequest, Registrations
from assay.rules.lifecycle import tracker
from assay.rules.lifecycle.tracker import Tracker, lifecycle_of_request

LIFE = lifecycle_of_request(PIS, "payment")
CALL = Call(operation="create-payment", subject="psu", arguments={"amount": "1.00"})
HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)


def tried(atom):
    """Return the names of the points, each with whether the atom is true there."""
    return {one.name: atom.holds(one.value) for one in atom.points}


def test_a_field_is_a_value():
    """Letter by letter; what the profile has is taken to be another."""
    atom = FieldIs(argument="amount", value="7", lifecycle=LIFE)

    assert {"7": True, "not-7": False, "not-7-other": False} == tried(atom)
    assert [True, False, False] == [atom.holds(Given(text=one)) for one in ("7", "7.0", "07")]
    asked = [one.ask(CALL) for one in atom.points]
    assert [{"amount": "7"}, {"amount": "1.00"}, {"amount": "1.00"}] == [
        one.arguments for one in asked
    ]
    assert [(), (), ("amount",)] == [one.varied for one in asked]


@for_each("usual", [True, False])
@for_each("value", [True, False])
def test_a_truth_value_is_sent_with_its_negation(value, usual):
    """Whatever the target file sends by default: neither row can rest on the other's value."""
    atom = FieldIs(argument="instant", value=value, lifecycle=LIFE)
    call = Call(operation="create-payment", subject="psu", arguments={"instant": usual})
    assert [True, False] == [*tried(atom).values()]
    assert [value, not value] == [one.ask(call).arguments["instant"] for one in atom.points]
    seen = Given(text=str(not value).lower())
    assert [FAR, 0] == [one.distance(seen) for one in atom.points]


def test_what_was_varied_is_the_other_value():
    """So that two values that are both not it have rows of their own."""
    usual, different = FieldIs(argument="amount", value="7", lifecycle=LIFE).points[1:]
    seen = Given(text="8"), Given(text="9", other=True)

    assert [[0, 1], [1, 0]] == [
        [one.distance(value) for value in seen] for one in (usual, different)
    ]


@for_each(
    ("limit", "points"),
    [
        ("500", {"500": False, "501": True, "499": False}),
        ("500.00", {"500.00": False, "500.01": True, "499.99": False}),
        ("0.5", {"0.5": False, "0.51": True, "0.49": False}),
        ("0.125", {"0.125": False, "0.126": True, "0.124": False}),
        ("1", {"1": False, "2": True}),
        ("0.00", {"0.01": True}),
    ],
)
def test_a_field_above_a_number(limit, points):
    """At it, and a step to each side, as it is written; nobody asks for nothing."""
    atom = FieldAbove(argument="amount", limit=limit, lifecycle=LIFE)

    assert points == {one.value.text: atom.holds(one.value) for one in atom.points}
    assert list(points) == [str(one.ask(CALL).arguments["amount"]) for one in atom.points]


@for_each("text", ["", "much", "NaN", "Infinity", None, "1_0", " 10", "1e1"])
def test_what_is_no_number_is_neither_above_nor_below(text):
    """Also not infinitely much, nor what nobody knows, nor what only Python reads as a number."""
    atom = FieldAbove(argument="amount", limit="500", lifecycle=LIFE)

    assert atom.holds(Given(text=text)) is None
    assert {FAR} == {one.distance(Given(text=text)) for one in atom.points}


def test_a_number_of_a_contract_stays_as_it_is_written():
    """The step depends on it."""
    whole, exact = (table(f"{{field: price, above: {one}}}").atoms[0] for one in (500, "500.00"))

    assert ["500", "500.00"] == [whole.limit, exact.limit]
    assert Decimal("500.00") == Decimal(exact.limit)


def test_a_factor_is_one_of_those_that_the_contract_names():
    """Each other one is tried, with the segments that have it."""
    atom = table("{factor: card}").atoms[0]

    assert {"code": False, "stamp": False, "card": True} == tried(atom)
    assert {"code": ("household",), "stamp": ("farm",), "card": ("household", "farm")} == {
        one.name: one.segments for one in atom.points
    }
    how = Authorise(subject="psu", request="V1", approval=None)
    assert ["code", "stamp", "card"] == [one.sign(how).factor for one in atom.points]


def test_where_no_factors_are_named_any_other_is_tried():
    """Which one it was, nobody may know."""
    atom = table("{factor: card}", factors=False).atoms[0]

    assert {"other": False, "card": True} == tried(atom)
    how = Authorise(subject="psu", request="V1", approval=None)
    assert [None, "card"] == [one.sign(how).factor for one in atom.points]


def test_a_factor_of_another_request_is_none():
    """What signs a payment does not sign a visit."""
    assert isinstance(
        Factor(factor="card", lifecycle=lifecycle_of_request(contract("{factor: card}"), "visit")),
        Factor,
    )
    assert ["sms", "cap", "soft-token"] == [
        one.name for one in Factor(factor="soft-token", lifecycle=LIFE).points
    ]


def test_a_registration():
    """Never, by another, and about the limit."""
    atom = IsRegistered(argument="creditorAccount", hours=72, lifecycle=LIFE)

    assert {
        "unregistered": False,
        "by-another": False,
        "just-under-72h": False,
        "at-72h": False,
        "just-over-72h": True,
        "long": True,
    } == tried(atom)


def test_what_is_just_under_stays_so_while_it_is_signed():
    """On a clock that runs, the customer has some seconds until the decision."""
    atom = IsRegistered(argument="creditorAccount", hours=72, lifecycle=LIFE)
    (under,) = (point for point in atom.points if point.name == "just-under-72h")

    prepared = under.value.most
    assert prepared == under.value.least
    assert under.distance(Age(least=prepared, most=prepared + 4 * SECOND)) == 0


def age(least, most=None):
    """Make an age of so many seconds more than 72 hours."""
    start = 72 * HOUR
    return Age(
        least=start + least * SECOND, most=start + (least if most is None else most) * SECOND
    )


@for_each(
    ("seen", "name", "exact"),
    [
        (Age(), "unregistered", True),
        (Age(another=True), "by-another", True),
        (age(-1), "just-under-72h", True),
        (age(-60), "just-under-72h", True),
        (age(-5, -4.2), "just-under-72h", True),
        (age(-61), "just-under-72h", False),
        (age(0), "at-72h", True),
        (age(1), "just-over-72h", True),
        (age(60), "just-over-72h", True),
        (age(61), "just-over-72h", False),
        (age(1, 5), "just-over-72h", True),
        (age(1, 61), "just-over-72h", False),
        (age(30 * 24 * 3600), "long", True),
        (age(29 * 24 * 3600), "long", False),
        (Age(least=100 * 24 * HOUR, most=EVER), "long", True),
        (Age(least=10 * HOUR, most=10 * HOUR), "just-under-72h", False),
    ],
)
def test_an_age_is_nearest_to_a_point(seen, name, exact):
    """And exactly it only where it shows where the limit is."""
    atom = IsRegistered(argument="creditorAccount", hours=72, lifecycle=LIFE)
    alike = [one for one in atom.points if atom.holds(one.value) is atom.holds(seen)]
    best = min(alike, key=lambda one: one.distance(seen))

    assert (name, exact) == (best.name, best.distance(seen) == 0)


def test_an_age_that_passes_the_limit_is_neither():
    """Nobody knows when it is counted."""
    atom = IsRegistered(argument="creditorAccount", hours=72, lifecycle=LIFE)

    assert atom.holds(age(-1, 1)) is None
    assert atom.holds(age(0, 0)) is False


def test_values_of_other_inputs_are_nothing_to_an_atom():
    """They are neither true nor near."""
    for atom in (
        FieldIs(argument="amount", value="7", lifecycle=LIFE),
        FieldAbove(argument="amount", limit="7", lifecycle=LIFE),
        IsRegistered(argument="amount", hours=7, lifecycle=LIFE),
    ):
        assert atom.holds("sms") is None
        assert FAR in {one.distance("sms") for one in atom.points}


def test_what_was_not_sent_is_unknown():
    """A field that is not there, and the registration of what nobody named."""
    book = Tracker(lifecycle=LIFE)
    book.note(payer())
    request = book.note(make(shown(), without=("amount",)))
    known = Registrations()
    known.note(registered(800, argument="amount", value="12.30"))
    seen = DecidedRequest(lifecycle=LIFE, request=request, registrations=known)

    assert FieldIs(argument="amount", value="7", lifecycle=LIFE).look(seen) is None
    assert IsRegistered(argument="amount", hours=7, lifecycle=LIFE).look(seen) is None
    assert Given(text="C1") == FieldIs(argument="creditorAccount", value="C1", lifecycle=LIFE).look(
        seen
    )
    assert tracker.lifecycle_of_request(PIS, "payment") == LIFE


@for_each(
    ("value", "alike"),
    [
        ("47.11", True),
        (Decimal("0.01"), True),
        ("12.34E0", False),
        ("12,34", False),
        ("+12.34", False),
        (" 12.34", False),
        ("1_0.34", False),
        ("\u0661.\u0662\u0663", False),
        ("-12.34", False),
        ("0.00", False),
        ("12.345", False),
        (True, False),
    ],
)
def test_numbers_in_one_spelling_are_alike(value, alike):
    """Another spelling, no amount at all or more decimals may be rejected for themselves."""
    atoms = [FieldAbove(argument="amount", limit="100.00", lifecycle=LIFE)]
    book = Tracker(lifecycle=LIFE)
    usual, other = (
        sent_values(atoms, book.note(make(shown(key), key=key, amount=one)))
        for key, one in (("P1", "12.34"), ("P2", value))
    )
    assert alike is (usual == other)
    assert usual == set(named_values(atoms))


def test_a_number_without_quotes_is_a_value_of_its_own():
    """A bank that expects a text may refuse it for that, whatever the rule about amounts says."""
    texts = {atoms._kind(value) for value in ("4711", Decimal(4711))}

    assert 1 == len(texts)
    assert atoms._kind(4711) not in texts
    assert atoms._kind(47.11) != atoms._kind("47.11")
