"""`fixed` wants requests refused in which a field has another value than the one that is right."""

from dataclasses import replace

from account_information import BROKEN, FAILED, LOST, NO, UNKNOWN
from payment_initiation import (
    ARGUMENTS,
    OPEN,
    REJECTED,
    check,
    make,
    modify,
    payer,
    read,
    ruled,
    shown,
    sign,
)
from rows import for_each

from assay.history import Arrange, Call
from assay.planning.plan import count_calls
from assay.rules.verdict import Agreement
from assay.testing import accepted, evidence, history, play


def says(*events, clause="charge-bearer", **changed):
    return check(clause, payer(), *events, **changed)


def bent(came, value="SHAR", **changes):
    """Write down a request with another value in the field."""
    return make(came, chargeBearer=value, **changes)


#: Values and the facets that they belong to, where spelling is exact.
SPELT = [
    ("SHAR", "other-value"),
    ("DEBT", "other-value"),
    ("TMFW", "other-value"),
    ("SLEVV", "other-value"),
    ("SLE", "other-value"),
    ("S LEV", "other-value"),
    ("shar", "other-value"),
    ("slev", "lower-case"),
    ("Slev", "lower-case"),
    (" SLEV", "padded"),
    ("SLEV ", "padded"),
    ("SLEV\n", "padded"),
    ("\tSLEV\r\n", "padded"),
]


@for_each(("value", "facet"), SPELT)
def test_refused_beside_an_accepted_control_is_right(value, facet):
    """Another value, other letters, and blanks around are facets of their own."""
    assert [f"{facet} agrees 1,2"] == says(make(), bent(NO, value))


@for_each(("value", "facet"), SPELT)
def test_accepted_is_wrong(value, facet):
    """It was not to be accepted, beside a control or not."""
    taken = bent(shown("P2"), value, key="P2"), read(shown("P2", OPEN), key="P2")
    assert [f"{facet} disagrees 1,2,3"] == says(make(), *taken)
    assert [f"{facet} disagrees 2,3"] == says(make(NO), *taken)


@for_each(
    ("value", "facet"), [("USD", "other-value"), ("EUS", "other-value"), ("usd", "other-value")]
)
def test_where_spelling_is_unspecified_other_values_are_wrong_all_the_same(value, facet):
    """Dollars are no euro, however they are spelt."""
    assert [f"{facet} agrees 1,2"] == says(make(), make(NO, currency=value), clause="euro")
    taken = make(shown("P2"), key="P2", currency=value), read(shown("P2", OPEN), key="P2")
    assert [f"{facet} disagrees 1,2,3"] == says(make(), *taken, clause="euro")


@for_each("value", ["eur", "Eur", " EUR", "EUR\n", " eur "])
@for_each("came", [NO, shown("P2"), LOST])
def test_where_spelling_is_unspecified_another_spelling_is_not_judged(value, came):
    """Nobody knows whether it is another value."""
    assert [] == says(make(), make(came, currency=value), clause="euro")


def test_two_deviations_of_spelling_at_once_belong_to_neither():
    """Small letters with blanks around them are nobody's facet."""
    assert [] == says(make(), bent(NO, " slev"), bent(shown("P2"), "slev\n"))


@for_each("value", [None, "", " ", "\n", 7, True, ["SHAR"], {"value": "SHAR"}])
@for_each("came", [NO, shown("P2")])
def test_what_is_no_text_is_not_judged(value, came):
    """A field that is not there, or of another type, is another rule's matter."""
    assert [] == says(make(), bent(came, value), make(came, without=("chargeBearer",)))


def test_everything_refused_is_no_merit():
    """A target that refuses the control as well has shown nothing."""
    assert [] == says(make(NO), *(bent(NO, value) for value, _ in SPELT))


def test_the_control_has_the_right_value():
    """That a request is accepted is no merit if it has a wrong value itself."""
    taken = bent(shown(), "SHAR"), read(shown())
    assert ["other-value disagrees 1,2"] == says(*taken, bent(NO, "DEBT"))


def test_the_evidence_says_what_happened():
    """Its words name the field, what is right, and what came."""
    params = ruled("charge-bearer")
    wrong = bent(accepted(status=201), variation="chargeBearer is 'SHAR'")
    (evidence,) = params.check(history(payer(), make(), wrong))

    assert Agreement.DISAGREES is evidence.agreement
    assert "a refusal: chargeBearer must be 'SLEV'" == evidence.expected
    assert "it was accepted (201)" == evidence.seen
    assert "chargeBearer is 'SHAR'" == evidence.variation


# -- facets and the probe ---------------------------------------------------------
def asked(**changed):
    params = ruled("charge-bearer", **changed)
    return [facet.id for facet in params.facets()]


def test_spelling_is_asked_only_where_it_is_exact():
    """Where it is unspecified, there is one facet."""
    assert ["other-value", "lower-case", "padded"] == asked()
    assert ["other-value"] == asked(spelling="unspecified")


@for_each("const", ["1.0", "slev", "42"])
def test_what_has_no_other_letters_has_no_facet_for_them(const):
    """A value in small letters, or without letters, cannot be asked in small letters."""
    assert ["other-value", "padded"] == asked(const=const)


def played(accepts=lambda sent: sent["chargeBearer"] == "SLEV", **changed):
    """Return the rule, the calls of its probe at a bank that takes what `accepts` says, and what its check says."""
    params = ruled("charge-bearer", **changed)
    found = play(
        params, "values", lambda call: shown() if accepts(sent(call)) else NO, reply=with_all_sent
    )
    assert {Arrange, Call} == {type(step) for step in found.steps}
    said = evidence(params, found.history, alone=True)
    return params, found.calls, [line.rpartition(" ")[0] for line in said]


def sent(call):
    """Return the arguments of a call with those that the target file adds."""
    return {**ARGUMENTS, **call.arguments}


def with_all_sent(step, reply):
    return (
        replace(reply, call=replace(step, arguments=sent(step)))
        if isinstance(step, Call)
        else reply
    )


@for_each("spelling", ["exact", "unspecified"])
@for_each("const", ["SLEV", "EUR", "1.0", "x", "aa", "-", "Aé 9z", "ß"])
def test_the_price_is_what_is_spent(const, spelling):
    """No two values are the same, and each belongs to a facet that is there."""
    params, calls, results = played(
        lambda sent: sent["chargeBearer"] == const, const=const, spelling=spelling
    )
    values = [one.arguments["chargeBearer"] for one in calls]

    assert count_calls(params, params.scenario("values")) == len(calls) == len(set(values))
    assert const == values[0]
    assert len(calls) - 1 == len(results)
    assert {facet.id for facet in params.facets()} == {one.partition(" ")[0] for one in results}
    assert {"agrees"} == {one.partition(" ")[2] for one in results}


def test_the_values_that_are_asked():
    """Those of the contract, some that nobody can know, and other spellings."""
    *_, calls, _ = played()

    assert [
        ["SLEV", "SHAR", "DEBT", "CRED"],
        ["TMFW", "SLEW", "TLEV", "VELS", "SLEVV", "SLE"],
        ["slev", " SLEV", "SLEV ", "SLEV\n"],
    ] == [
        [one.arguments["chargeBearer"] for one in calls[part]]
        for part in (slice(4), slice(4, 10), slice(10, None))
    ]
    control, *bends = calls
    assert "" == control.variation
    assert "chargeBearer is 'SHAR'" == bends[0].variation
    assert len(bends) == len({one.variation for one in bends})
    for bend in bends:
        assert control.arguments == {**bend.arguments, "chargeBearer": "SLEV"}


def test_what_the_contract_names_by_mistake_is_not_asked():
    """The right value among the others, or spelt otherwise, is no other value."""
    *_, calls, results = played(others=["SLEV", "SHAR", "slev"], spelling="unspecified")

    assert ["SLEV", "SHAR", "TMFW"] == [one.arguments["chargeBearer"] for one in calls][:3]
    assert {"other-value agrees"} == set(results)


@for_each(
    ("accepts", "red"),
    [
        (lambda value: value in ("SLEV", "CRED"), {"other-value"}),
        (lambda value: value not in ("SHAR", "DEBT", "CRED") and value.isupper(), None),
        (lambda value: value[:3] == "SLE", None),
        (lambda value: value.upper() == "SLEV", {"lower-case"}),
        (lambda value: value.strip() == "SLEV", {"padded"}),
        (lambda value: value.removesuffix("\n") == "SLEV", {"padded"}),
        (lambda value: len(value) == 4 and value.isupper() and value != "SLEV", set()),
    ],
)
def test_a_bank_that_is_wrong_in_one_way(accepts, red):
    """Each kind of leniency is seen, and only where it is."""
    *_, found = played(lambda sent: accepts(sent["chargeBearer"]))
    seen = {one.partition(" ")[0] for one in found if one.endswith("disagrees")}

    assert (red or {"other-value"}) <= seen
    assert red is None or not red or red == seen


def test_what_is_accepted_is_read_and_never_signed():
    """It costs more only at a bank that deviates, and nothing is executed."""
    *_, calls, results = played(lambda _: True)

    assert 1 + 2 * 13 == len(calls)
    assert {"create-payment", "read-payment"} == {one.operation for one in calls}
    assert {"disagrees"} == {one.partition(" ")[2] for one in results}


# -- changes ------------------------------------------------------------------------------

PUT_OFF = make(mode="deferred", date="2026-09-19")
CONTROL = modify(amount="47.11")


def to_dollars(came=None, **changes):
    """Write down that a request was to be changed to another currency, too."""
    return modify(came, amount="47.11", currency="USD", varied=("amount",), **changes)


def changed(*events):
    return [one for one in says(PUT_OFF, *events, clause="euro") if one.startswith("stays")]


def seen(currency="EUR", state=OPEN):
    return read(shown("P1", state, currency=currency))


@for_each(
    ("events", "word"),
    [
        ((to_dollars(NO), CONTROL), "agrees 1,2,3"),
        ((to_dollars(NO), seen(), CONTROL), "agrees 1,2,3,4"),
        ((to_dollars(), seen()), "agrees 1,2,3"),
        ((to_dollars(), seen("USD", REJECTED)), "agrees 1,2,3"),
        ((to_dollars(), seen("USD")), "disagrees 1,2,3"),
        ((to_dollars(NO), seen("USD")), "disagrees 1,2,3"),
        ((to_dollars(LOST), seen("USD")), "disagrees 1,2,3"),
        ((to_dollars(BROKEN), CONTROL), "disagrees 1,2,3"),
        ((to_dollars(BROKEN), seen(), CONTROL), "disagrees 1,2,3,4"),
        ((to_dollars(FAILED), CONTROL), "unclear 1,2,3"),
        ((to_dollars(LOST), seen(), CONTROL), "unclear 1,2,3,4"),
        ((to_dollars(UNKNOWN), CONTROL), "unclear 1,2,3"),
        ((to_dollars(), seen("GBP")), "unclear 1,2,3"),
        ((to_dollars(), read()), "unclear 1,2,3"),
        ((to_dollars(),), "unclear 1,2"),
    ],
)
def test_a_change_leaves_the_value_as_it_is(events, word):
    """It is refused, beside the same change without it, or has no effect on what is shown."""
    assert [f"stays-when-changed {word}"] == changed(*events)


@for_each(
    "events",
    [
        (to_dollars(NO),),
        (to_dollars(BROKEN), modify(NO, amount="47.11")),
        (to_dollars(NO), modify(creditorAccount="C2")),
        (modify(amount="47.11", currency="EUR"), seen("USD")),
        (modify(amount="47.11", currency="eur"), seen("eur")),
        (sign(), to_dollars(NO), CONTROL),
        (to_dollars(NO, key="P2"), CONTROL),
    ],
)
def test_what_shows_nothing_of_a_change(events):
    """Nobody knows whether anything can be changed at all, or it was no other value."""
    assert [] == changed(*events)
