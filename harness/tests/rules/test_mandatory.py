"""`mandatory` wants requests refused in which a field is missing, null, empty or of another type."""

from dataclasses import replace
from decimal import Decimal
from functools import cache

from account_information import NO
from payment_initiation import (
    ARGUMENTS,
    DONE,
    OPEN,
    PIS,
    REJECTED,
    cancel,
    check,
    flow,
    make,
    modify,
    payer,
    read,
    ruled,
    shown,
)
from rows import for_each

from assay.history import Arrange, Call
from assay.planning.plan import count_calls
from assay.rules.rule import clauses_of
from assay.rules.verdict import Agreement
from assay.testing import evidence, history, play

FIELDS = ("chargeBearer", "categoryPurpose", "creditorAccount", "successfulReportUrl")
#: One value for each way of being wrong, where a text is right; None stands for no field at all.
WRONG = {"missing": ..., "null": None, "empty": "", "type": ["x"]}


def says(*events):
    return check("mandatory-fields", payer(), *events)


def bent(came, field="chargeBearer", value=..., **changes):
    """Write down a request with one field bent; `...` leaves it out."""
    if value is ...:
        return make(came, without=(field,), **changes)
    return make(came, **{field: value}, **changes)


@for_each("field", FIELDS)
@for_each("way", WRONG)
def test_refused_beside_an_accepted_control_is_right(field, way):
    """Each field and each way is a facet of its own."""
    assert [f"{field}-{way} agrees 1,2"] == says(make(), bent(NO, field, WRONG[way]))


@for_each("field", FIELDS)
@for_each("way", WRONG)
def test_accepted_is_wrong(field, way):
    """It takes no signature to see that such a request was taken, but a look at it."""
    bad = bent(shown("P2"), field, WRONG[way], key="P2")
    assert [f"{field}-{way} disagrees 1,2,3"] == says(make(), bad, read(shown("P2"), key="P2"))


def test_everything_refused_is_no_merit():
    """A target that refuses the control as well has shown nothing."""
    events = [bent(NO, field, value) for field in FIELDS for value in WRONG.values()]
    assert [] == says(make(NO), *events)


def test_two_deviations_at_once_belong_to_neither():
    """Nobody knows for which of the two it was refused, or accepted."""
    for came in (NO, shown("P2")):
        assert [] == says(make(), bent(came, "chargeBearer", None, categoryPurpose=""))
        assert [] == says(make(), make(came, without=("chargeBearer", "creditorAccount")))
        assert [] == says(make(), bent(came, "chargeBearer", [7], categoryPurpose=[]))


@for_each("value", [0, 4711, 1.5, Decimal("1.5"), True, False])
def test_a_bank_may_read_a_scalar_as_a_text(value):
    """Types are not in the document, so neither answer says anything."""
    for came in (NO, shown("P2")):
        assert [] == says(make(), bent(came, value=value))


@for_each("value", [[], ["SLEV"], {}, {"value": "SLEV"}])
def test_structures_are_of_another_type(value):
    """Also those that are empty, and a list that holds the right value."""
    assert ["chargeBearer-type agrees 1,2"] == says(make(), bent(NO, value=value))


@for_each(
    ("right", "empty", "other", "plain"),
    [
        ({"iban": "C1"}, {}, "C1", {"iban": "C2"}),
        (["C1"], [], {"iban": "C1"}, ["C2", "C3"]),
        (7, "", True, Decimal("7.5")),
        (7, "", [7], "7.5"),
        (True, "", 1, "true"),
    ],
)
def test_the_right_type_is_the_one_that_is_accepted(right, empty, other, plain):
    """Another bank may spell a field as an object or a number."""
    assert ["creditorAccount-empty agrees 1,2", "creditorAccount-type agrees 1,3"] == says(
        make(creditorAccount=right),
        make(NO, creditorAccount=empty),
        make(NO, creditorAccount=other),
        make(NO, creditorAccount=plain),
    )


def test_where_no_type_is_known_to_be_right_none_is_wrong():
    """Nothing was accepted whole, so a list may be what is right."""
    assert [] == says(make(NO), bent(NO, value=["SLEV"]))
    assert [] == says(bent(shown(), value=["SLEV"]))


def test_a_type_that_was_refused_is_not_the_right_one():
    """Nor is that of a request in which something else is wrong."""
    assert ["chargeBearer-type agrees 1,2"] == says(bent(NO, value=["SLEV"]), make())
    events = [make(shown(), chargeBearer=["SLEV"], without=("creditorAccount",)), make()]
    assert ["chargeBearer-type agrees 2,3"] == says(*events, bent(NO, value=["SLEV"]))


def test_both_types_accepted():
    """Whichever is right, the other is not."""
    assert ["chargeBearer-type disagrees 1,2,3"] == says(
        bent(shown(), value=["SLEV"]), make(shown("P2"), key="P2"), read(shown("P2"), key="P2")
    )


@for_each("value", [" ", "slev", "SHAR", "\n"])
def test_a_text_that_is_not_empty_is_not_judged(value):
    """Whether it is a right one is another rule's matter."""
    assert [] == says(make(), bent(shown("P2"), value=value), bent(NO, value=value))


def test_the_evidence_says_what_happened():
    """Its words name the field, the way, and what came."""
    params = ruled("mandatory-fields")
    wrong = bent(shown("P2"), value=None, key="P2", variation="chargeBearer is null")
    events = history(payer(), make(), wrong, read(shown("P2", DONE), key="P2"))
    (evidence,) = params.check(events)

    assert Agreement.DISAGREES is evidence.agreement
    assert "a refusal: chargeBearer is null" == evidence.expected
    assert "it was accepted (200), then executed" == evidence.seen
    assert "chargeBearer is null" == evidence.variation


def test_one_trial_a_field():
    """The control is paid for once a field, and a target needs nobody who signs."""
    params = ruled("mandatory-fields")
    facets = params.facets()

    assert 16 == len(facets)
    assert dict.fromkeys(FIELDS, 4) == {
        name: sum(one.scenario.id == name for one in facets) for name in FIELDS
    }
    assert {"psu", "write"} == {need.value for one in facets for need in one.needs}


def test_who_was_refused_saw_nothing_of_a_request():
    """A bank may reject it when its customer reads it; the refused call of another party does not show that it did not."""
    bad = bent(shown("P2"), value=None, key="P2")
    for seen in (
        modify(NO, key="P2", by="other", amount="1.00"),
        cancel(NO, key="P2", by="other"),
        read(NO, key="P2", by="other"),
    ):
        (line,) = says(make(), bad, seen)
        assert line.startswith("chargeBearer-null unclear")


def test_the_type_of_a_value_that_nobody_looked_at_is_not_the_right_one():
    """Taken and not looked at, a value that varies may be rejected yet: the plain one is not wrong."""
    varied = bent(shown(), value=["SLEV"], variation="chargeBearer is a list")
    plain = make(shown("P2"), key="P2")
    assert not any("disagrees" in line for line in says(varied, plain, read(shown("P2"), key="P2")))


def test_a_change_of_the_field_may_correct_it():
    """What is shown after it is about another value; a change of something else shows the wrong one."""
    listed = bent(shown(key="P1", state=OPEN), value=["SLEV"], variation="chargeBearer is a list")
    corrected = modify(shown(), chargeBearer="SLEV")
    plain = make(shown("P2"), key="P2")
    for after in ((corrected,), (corrected, read(shown())), (corrected, *flow()[1:])):
        told = says(plain, listed, *after, read(shown("P2"), key="P2"))
        assert not any("disagrees" in line for line in told)
    assert any("disagrees" in line for line in says(plain, listed, read(shown()), corrected))
    assert any("disagrees" in line for line in says(plain, listed, modify(shown(), amount="1.00")))


# -- the probe --------------------------------------------------------------------
def played(field, accepts, params=None, **known):
    """Play a probe at a bank that takes what `accepts` says; return its steps, and what the check says."""
    params = params or ruled("mandatory-fields")

    def sent(call):
        arguments = {**ARGUMENTS, **known, **call.arguments}
        return {name: value for name, value in arguments.items() if name not in call.without}

    def bank(call):
        if call.operation == "read-payment":
            return shown("P1", REJECTED)
        return shown() if accepts(sent(call)) else NO

    def reply(step, reply):
        if isinstance(step, Call) and step.operation != "read-payment":
            return replace(reply, call=replace(step, arguments=sent(step)))
        return reply

    found = play(params, field, bank, reply=reply)
    # No clock is moved and nobody signs.
    assert {Arrange, Call} == {type(step) for step in found.steps}
    return found.calls, [
        line.rpartition(" ")[0] for line in evidence(params, found.history, alone=True)
    ]


@for_each("field", FIELDS)
@for_each("right", ["SLEV", {"iban": "C1"}, ["C1"], 7, True])
def test_the_price_is_the_same_whatever_type_is_right(field, right):
    """Two values of each of two other types, and the three other ways."""
    params = ruled("mandatory-fields")
    calls, results = played(field, lambda sent: sent.get(field) == right, **{field: right})

    assert 8 == count_calls(params, params.scenario(field)) == len(calls)
    assert [f"{field}-{way} agrees" for way in ("missing", "null", "empty")] == results[:3]
    assert [f"{field}-type agrees"] * 4 == results[3:]


def test_every_deviation_is_alone_and_says_what_it_is():
    """All else is as in the control, which has no variation."""
    control, *bends = played("chargeBearer", lambda sent: sent.get("chargeBearer") == "SLEV")[0]

    assert "" == control.variation
    assert all(one.variation.startswith("chargeBearer is ") for one in bends)
    assert len(bends) == len({one.variation for one in bends})
    assert [("chargeBearer",)] + [()] * 6 == [bend.without for bend in bends]
    for bend in bends:
        assert control.arguments == {
            name: value for name, value in bend.arguments.items() if name != "chargeBearer"
        }
    values = [None, "", [], ["SLEV"], {}, {"value": "SLEV"}]
    assert values == [one.arguments["chargeBearer"] for one in bends[1:]]
    assert [type(value) for value in values] == [
        type(one.arguments["chargeBearer"]) for one in bends[1:]
    ]


def test_what_is_accepted_is_read_and_never_signed():
    """It costs more only at a bank that deviates, and nothing is executed."""
    calls, _ = played("chargeBearer", lambda _: True)

    assert 1 + 2 * 7 == len(calls)
    assert {"create-payment", "read-payment"} == {one.operation for one in calls}
    assert ["P1"] * 7 == [
        one.arguments["paymentRequestResourceId"]
        for one in calls
        if one.operation == "read-payment"
    ]


# -- fields that may be empty ------------------------------------------------------------
@cache
def may_be_empty():
    """Return the clause of a contract that says so of one of its fields."""
    contract = PIS
    number = next(n for n, each in enumerate(contract.clauses) if each.id == "mandatory-fields")
    clause = contract.clauses[number]
    said = replace(clause, params={**clause.params, "may-be-empty": ["chargeBearer"]})
    clauses = (*contract.clauses[:number], said, *contract.clauses[number + 1 :])
    return clauses_of(replace(contract, clauses=clauses))[number]


def says_of_empty(*events):
    return evidence(may_be_empty(), history(payer(), *events))


def test_a_field_that_may_be_empty_is_a_facet_of_its_own():
    """In place of the one that wants it refused; it expects no refusal."""
    clause = may_be_empty()
    ids = {facet.id for facet in clause.facets()}
    assert "chargeBearer-empty" not in ids
    assert ids - set(clause.refusing()) == {"chargeBearer-may-be-empty"}
    assert 16 == len(ids)


def test_an_empty_field_that_is_taken_is_right():
    """It is no fault of the request either, so the request can be a control."""
    taken = bent(shown("P2"), value="", key="P2")
    assert ["chargeBearer-may-be-empty agrees 2"] == says_of_empty(make(), taken)
    assert [
        "chargeBearer-may-be-empty agrees 1",
        "chargeBearer-missing agrees 1,2",
    ] == says_of_empty(taken, bent(NO))


def test_an_empty_field_that_is_refused_between_two_that_are_taken_is_wrong():
    """Refused before or after both, it may have been the moment."""
    refused = bent(NO, value="")
    assert ["chargeBearer-may-be-empty disagrees 1,2,3"] == says_of_empty(make(), refused, make())
    for events in ([make(), refused], [refused, make()], [make(NO), refused, make(NO)]):
        assert not any("disagrees" in line for line in says_of_empty(*events))


@for_each(("accepts", "agreement"), [(True, "agrees"), (False, "disagrees")])
def test_the_probe_of_a_field_that_may_be_empty(accepts, agreement):
    """The bank is asked once with nothing in the field, between two plain requests."""
    good = ["SLEV", ""] if accepts else ["SLEV"]
    calls, results = played(
        "chargeBearer", lambda sent: sent.get("chargeBearer") in good, may_be_empty()
    )
    assert [f"chargeBearer-may-be-empty {agreement}"] == [one for one in results if "may-be" in one]
    (empty,) = (call for call in calls if call.arguments.get("chargeBearer") == "")
    assert "" == empty.variation


def test_the_tpp_may_leave_it_empty():
    """But not out."""

    def duty(**sent):
        (found,) = may_be_empty().check_tpp(history(payer(), make(**sent)))
        return found.agreement.value

    assert "agrees" == duty(chargeBearer="")
    assert "disagrees" == duty(chargeBearer=None)
    assert "disagrees" == duty(categoryPurpose="")
