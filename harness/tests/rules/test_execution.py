"""`execution` reconciles what was executed with what the history implies."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from functools import partial

from account_information import AT, LOST, NO
from payment_initiation import (
    DONE,
    ENDED,
    OPEN,
    REJECTED,
    cancel,
    check,
    effects,
    make,
    modify,
    payer,
    read,
    ruled,
    shown,
    sign,
    withdrawn,
)
from rows import for_each

from assay.history import Code, Decision, Ending, Item
from assay.testing import refused

MAIN, ONCE, AS_ASKED, SHOWN = "main-flow", "once", "as-asked", "shown-as-it-is"
DAY = date(2026, 9, 22)
PUT_OFF = {"mode": "deferred", "date": DAY.isoformat()}
ASKED = {"amount": "12.30", "creditorAccount": "C1", "debtorAccount": "A1"}
LONG_AFTER = AT + timedelta(days=40)
#: The customer was idle for five minutes, and was then disconnected.
IDLE = (AT, AT + timedelta(minutes=5))


def says(*events, facet=None, subject=None):
    """Return what the check says of a history, of one facet or of all."""
    found = check("execution", subject or payer(), *events, facet=facet)
    return [line.rpartition(" ")[0] for line in found]


main_flow = partial(says, facet=MAIN)
as_asked = partial(says, facet=AS_ASKED)
not_early = partial(says, facet="not-early")
not_late = partial(says, facet="not-late")


def carried(key="P9", **how):
    """Write down a control: another amount, signed, and told to be executed."""
    sent = {"amount": "7.00", **how}
    return make(shown(key), key=key, **sent), sign(key=key), effects(key)


def put_off(key="P1", day=DAY, **how):
    """Write down that a request was made that waits for its day."""
    return make(shown(key), key=key, **{**PUT_OFF, "date": day.isoformat(), **how})


# -- what is due ---------------------------------------------------------------------
def test_what_was_signed_is_carried_out():
    """At once, once, and as it was asked for."""
    found = says(make(), sign(), effects("P1", **ASKED), read(shown(state=DONE)))
    assert [f"{MAIN} agrees", f"{SHOWN} agrees", f"{ONCE} agrees", f"{AS_ASKED} agrees"] == found


@for_each("amount", ["12.30", 12, 12.3, Decimal("12.3")])
def test_an_amount_of_any_scalar_type_is_plain_once_it_was_accepted(amount):
    """A bank may take amounts as numbers of JSON, with decimals or without."""
    done = effects("P1", **{**ASKED, "amount": str(amount)})
    made = make(amount=amount)
    assert [f"{MAIN} agrees"] == main_flow(made, sign(), done, read(shown(state=DONE)))


def test_what_is_shown_without_a_key_is_what_was_asked_about():
    """Who asks about one request by its key is answered about that one."""
    found = says(make(), sign(), effects("P1", **ASKED), read(shown(None, state=DONE)))
    assert f"{SHOWN} agrees" in found


def test_what_may_still_come_is_not_missing():
    """The document does not say when an immediate payment is executed."""
    assert [f"{MAIN} unclear"] == says(make(), sign(), effects())


def test_what_long_did_not_come_is_missing():
    """No calendar has so many days off."""
    assert [f"{MAIN} disagrees"] == says(make(), sign(), effects(now=LONG_AFTER))


def test_what_was_overtaken_is_missing():
    """The like of it was signed after it, and was executed."""
    first = make(), sign()
    assert [f"{MAIN} disagrees"] == main_flow(*first, *carried(varied=["amount"]))[:1]


@for_each(
    "events",
    [
        [make(LOST), effects(now=LONG_AFTER)],
        [make(), sign(Ending.STOPPED), effects(now=LONG_AFTER)],
        [make(), sign(step={"linger": (timedelta(minutes=5),)}), read(shown(state=ENDED))],
        [make(), sign(step={"typed": Code.WRONG}), read(shown(state=REJECTED))],
        [make(amount="15000"), sign(), effects(now=LONG_AFTER)],
        [make(categoryPurpose="CASH"), sign(), effects(now=LONG_AFTER)],
        [put_off(), sign(), modify(LOST, amount="9.00"), effects(now=LONG_AFTER)],
        [put_off(), sign(), modify(amount="9.00"), effects(now=LONG_AFTER)],
        [make(), sign()],
    ],
)
def test_where_the_history_does_not_tell_nothing_is_due(events):
    """Nothing is missing that a bank may rightly not execute."""
    assert [] == [one for one in says(*events) if one.endswith("disagrees")]


def test_a_repeat_need_not_be_carried_out():
    """It is identical to one that may have been."""
    events = make(), sign(), make(shown("P2"), key="P2"), sign(key="P2")
    assert [] == main_flow(*events, effects("P1", now=LONG_AFTER))


@for_each("came", [NO, shown(approval=None), shown(key=None)])
def test_a_plain_request_that_cannot_go_on_breaks_the_main_flow(came):
    """It is refused, or lacks what it takes to sign it."""
    assert f"{MAIN} disagrees" in says(make(came))


@for_each("came", [shown(approval=None), shown(key=None)])
def test_a_request_of_every_segment_can_go_on(came):
    """Whoever is served signs, and needs a link for it."""
    assert f"{MAIN} disagrees" in says(make(came), subject=payer(segment="PRO"))


@for_each("came", [shown("P2", approval=None), shown(key=None)])
@for_each(("sent", "facet"), [({"varied": ["amount"]}, MAIN), (PUT_OFF, "deferred-carried-out")])
def test_a_later_request_that_cannot_go_on_breaks_its_flow(came, sent, facet):
    """It does if an earlier one got a key and a link."""
    later = make(came, key="P2", **sent)

    assert [f"{facet} disagrees"] == says(make(), later, facet=facet)
    assert [] == says(make(shown(approval=None)), later, facet="deferred-carried-out")
    rejected = make(shown(key=None, state=REJECTED), key="P2", **sent)
    assert [] == says(make(), rejected, facet=facet)


def test_a_repeat_may_be_accepted_without_a_key():
    """It may be rejected afterwards."""
    assert [] == main_flow(*carried(), make(shown(key=None), amount="7.00"))[1:]


def test_a_plain_request_that_is_rejected_breaks_the_main_flow():
    """Only the first: later ones may be rejected for what came before."""
    assert [f"{MAIN} disagrees"] == says(make(NO))
    assert [] == main_flow(*carried(), make(NO))[1:]


def test_a_deferred_request_is_carried_out_on_its_day():
    """Its day, and neither before nor after."""
    found = says(put_off(), sign(), effects("P1", now=LONG_AFTER, on=DAY))
    assert [
        "deferred-carried-out agrees",
        "once agrees",
        "not-early agrees",
        "not-late agrees",
    ] == found


def test_early_is_before_the_day_however_it_is_told():
    """By the date of the execution, or because it was told before the day."""
    for event in (effects("P1", on=DAY - timedelta(days=1), now=LONG_AFTER), effects("P1", on=DAY)):
        assert ["not-early disagrees"] == not_early(put_off(), sign(), event)


def test_late_takes_another_one_in_between():
    """Alone, its day may have been one on which nothing is executed."""
    late = effects("P1", on=DAY + timedelta(days=1), now=LONG_AFTER)
    other = put_off("P2", amount="9.00"), sign(key="P2")
    between = effects("P2", on=DAY, now=LONG_AFTER)
    assert ["not-late unclear"] == not_late(put_off(), sign(), late)
    found = not_late(put_off(), sign(), *other, between, late)
    assert ["not-late disagrees", "not-late agrees"] == found


# -- how it is executed -------------------------------------------------------------
def test_twice_is_once_too_often():
    """In one list, or on two days; told again is not done again."""
    done = make(), sign()
    assert [f"{ONCE} disagrees"] == says(*done, effects("P1", "P1"), facet=ONCE)
    later = effects("P1", on=date(2026, 9, 17))
    assert [f"{ONCE} disagrees"] == says(*done, effects("P1"), later, facet=ONCE)
    assert [f"{ONCE} agrees"] == says(*done, effects("P1"), effects("P1"), facet=ONCE)


@for_each("name", ASKED)
def test_another_value_is_not_as_asked(name):
    """Each value that the fixture tells is compared."""
    event = effects("P1", **{**ASKED, name: "99"})
    assert [f"{AS_ASKED} disagrees"] == as_asked(make(), sign(), event)


def test_what_is_null_was_left_to_the_bank():
    """It chooses the account; what else was asked for is compared."""
    events = make(debtorAccount=None), sign()
    for amount, word in ((ASKED["amount"], "agrees"), ("9.99", "disagrees")):
        done = effects("P1", **{**ASKED, "amount": amount, "debtorAccount": "A1"})
        assert [f"{AS_ASKED} {word}"] == as_asked(*events, done)


def test_the_values_in_force_are_those_of_the_last_change():
    """If it was accepted, and nothing is doubtful."""
    done = effects("P1", now=LONG_AFTER, on=DAY, amount="9.00")
    changed = put_off(), modify(amount="9.00"), sign(), done
    assert [f"{AS_ASKED} agrees"] == as_asked(*changed)
    refused = put_off(), modify(NO, amount="9.00"), sign(), done
    assert [f"{AS_ASKED} disagrees"] == as_asked(*refused)
    lost = put_off(), modify(LOST, amount="9.00"), sign(), done
    assert [] == as_asked(*lost)


# -- what is not due -------------------------------------------------------------------
WAYS = {
    "unsigned-undone": (make(),),
    "denied-undone": (make(), sign(Ending.REFUSED, step={"decision": Decision.REFUSE})),
    "timed-out-undone": (make(), sign(Ending.DISCONNECTED, moments=IDLE)),
    "refused-undone": (make(categoryPurpose="CASH"), sign(), read(shown(state=REJECTED))),
}


@for_each("facet", WAYS)
def test_what_was_not_accepted_is_not_carried_out(facet):
    """Beside a control that was; without one, nothing shows that its time had come."""
    events = WAYS[facet]
    assert f"{facet} disagrees" in says(*events, effects("P1"))
    assert [f"{facet} agrees"] == says(*events, *carried(), facet=facet)
    assert [f"{facet} unclear"] == says(*events, effects(), facet=facet)


def test_the_first_plain_request_of_a_customer_is_not_rejected():
    """Neither when it is made nor once it is signed; after a wrong entry it may be."""
    rejected = sign(), read(shown(state=REJECTED))
    assert [f"{MAIN} disagrees"] == says(make(), *rejected, effects(), facet=MAIN)
    wrong = sign(Ending.DISCONNECTED, step={"code": Code.WRONG})
    assert [] == says(make(), wrong, *rejected, effects(), facet=MAIN)
    assert [] == says(make(), *rejected, effects("P1"), facet=MAIN)


@for_each("by", [cancel(), withdrawn()])
def test_what_was_cancelled_is_not_carried_out(by):
    """Whoever cancelled it, before its day."""
    events = put_off(), sign(), by
    found = says(*events, effects("P1", now=LONG_AFTER, on=DAY), facet="cancelled-undone")
    assert ["cancelled-undone disagrees"] == found


def test_what_was_refused_at_once_has_no_key():
    """An execution with its values, of no request that was accepted, is its own."""
    control = carried(debtorAccount="A2")
    refused = make(NO, chargeBearer="SHAR", variation="it does not meet the contract")
    owner = payer("psu", "A1", "A2")
    stranger = effects("P7", **ASKED)
    facet = "refused-undone"
    assert [f"{facet} agrees"] == says(*control, refused, effects(), facet=facet, subject=owner)
    found = says(*control, refused, stranger, facet=facet, subject=owner)
    assert [f"{facet} disagrees"] == found
    lost = make(LOST)
    assert [] == says(*control, refused, lost, stranger, facet=facet, subject=owner)


# -- what is shown -------------------------------------------------------------------
def test_what_is_shown_is_what_was_done():
    """Shown as executed, and not told; or told, and long after that still shown as open."""
    events = make(), sign(), read(shown(state=DONE))
    assert [f"{SHOWN} disagrees"] == says(*events, effects(), facet=SHOWN)
    told = make(), sign(), effects("P1")
    assert [] == says(*told, read(shown(state=OPEN)), facet=SHOWN)
    late = read(shown(state=OPEN), at=LONG_AFTER)
    assert [f"{SHOWN} disagrees"] == says(*told, late, facet=SHOWN)


@for_each(
    "events",
    [
        [make(), effects("P1")],
        [make(), effects(), read(shown(state=DONE))],
        [make(), sign(), effects(now=LONG_AFTER)],
        [make(), sign(), effects("P1", "P1")],
        [make(NO)],
        [make(shown(approval=None))],
    ],
)
def test_a_customer_with_a_past_breaks_nothing(events):
    """What an earlier history did is not known: the bank may answer with an equal request of it."""
    assert [each for each in says(*events) if each.endswith("disagrees")]
    found = says(*events, subject=payer(fresh=False))
    assert not [each for each in found if each.endswith("disagrees")]


def test_a_request_of_a_customer_with_a_past_is_carried_out():
    """That it is executed needs nothing from before."""
    events = make(), sign(), read(shown(state=DONE))
    assert f"{MAIN} agrees" in says(*events, subject=payer(fresh=False))


@for_each("amount", [12, Decimal("12.34"), "12.34"])
def test_an_amount_may_be_a_number(amount):
    """What the target file sends as a number is as valid as a text, once the bank accepts it."""
    made = make(amount=amount)
    assert f"{MAIN} agrees" in says(made, sign(), read(shown(state=DONE)))
    assert f"{MAIN} disagrees" in says(made, sign(), effects(now=LONG_AFTER))


def test_trials_end_with_an_inquiry():
    """What was executed is seen at the end of every trial."""
    assert ruled("execution").inquires


# -- what was refused and shows all the same -----------------------------------------
def test_a_second_execution_is_told_by_a_later_inquiry():
    """Of the same day, as the first: an event that has both counts both."""
    once = make(), sign(), effects("P1")

    assert [f"{ONCE} agrees"] == says(*once, effects("P1", now=LONG_AFTER), facet=ONCE)
    assert [f"{ONCE} disagrees"] == says(*once, effects("P1", "P1", now=LONG_AFTER), facet=ONCE)


@for_each("refused", [{}, {"tpp": "other"}])
@for_each(("amount", "agreement"), [("12.30", "agrees"), ("9.00", "disagrees")])
def test_a_change_that_was_refused_is_not_shown(amount, agreement, refused):
    """Neither when it is read nor when it is executed."""
    facet, sent = "refused-change-undone", make(amount="12.30")
    change = modify(NO, amount="9.00")
    if refused:
        change = replace(change, call=replace(change.call, by="other"))

    assert [f"{facet} {agreement}"] == says(sent, change, read(shown(amount=amount)), facet=facet)
    told = sent, sign(), change, effects("P1", amount=amount)
    assert [f"{facet} {agreement}"] == says(*told, facet=facet)


@for_each(
    "events",
    [
        [read(shown(amount="9.00"))],
        [modify(amount="9.00"), read(shown(amount="9.00"))],
        [modify(LOST, amount="9.00"), read(shown(amount="9.00"))],
        [modify(NO, amount="9.00"), modify(amount="9.00"), read(shown(amount="9.00"))],
        [modify(NO, amount="9.00"), modify(LOST, amount="9.00"), read(shown(amount="9.00"))],
        [modify(NO, amount="9.00"), read(shown(amount="8.00"))],
    ],
)
def test_what_was_not_refused_may_show(events):
    """And a value that nobody sent is the matter of another clause."""
    found = says(put_off(amount="12.30"), *events, facet="refused-change-undone")

    assert "refused-change-undone disagrees" not in found


@for_each(("state", "told"), [(OPEN, True), (DONE, True), (REJECTED, False)])
def test_a_request_that_was_refused_is_not_open(state, told):
    """A refusal may name a key, and show there that it was rejected."""
    refusal = refused(Item(key="P1", resource="payment"))
    found = says(*carried(), make(refusal), read(shown(state=state)), facet="refused-undone")

    assert (["refused-undone disagrees"] if told else []) == found


@for_each(("fresh", "told"), [(True, True), (False, False)])
def test_what_is_carried_out_for_a_new_customer_is_of_this_history(fresh, told):
    """Nobody else can have asked for it, though nothing else was executed."""
    events = make(NO, chargeBearer="SHAR"), effects("X", amount="12.30", debtorAccount="A1")
    found = says(*events, facet="refused-undone", subject=payer(fresh=fresh))

    assert (["refused-undone disagrees"] if told else []) == found


# -- no longer open, where the bank says so ------------------------------------------------
REFUSING = sign(Ending.REFUSED, step={"decision": Decision.REFUSE})
IDLING = sign(Ending.DISCONNECTED, moments=IDLE)
NOT_OPEN = {"denied": "not-open", "timed-out": "not-open"}
TOMORROW = AT + timedelta(days=2)


def over(*events, **parameters):
    """Return what is said of a request that came to an end without an execution."""
    found = check("execution", payer(), *events, **(parameters or NOT_OPEN))
    return [line.rpartition(" ")[0] for line in found if "-over " in line]


def ended(way, state, at=None, *, before=()):
    """Write down that a request came to an end in a way, and was read after a control was done."""
    control = carried(varied=["amount"])
    return make(), *before, way, *control, read(shown(state=state), at=at)


@for_each(("way", "facet"), [(REFUSING, "denied-over"), (IDLING, "timed-out-over")])
@for_each(
    ("state", "words"),
    [(ENDED, ["agrees"]), (REJECTED, ["agrees"]), (OPEN, ["disagrees"]), (DONE, [])],
)
def test_what_is_over_is_no_longer_shown_as_open(way, facet, state, words):
    """What it is shown as instead is for nobody to say; an execution is the matter of other facets."""
    assert [f"{facet} {word}" for word in words] == over(*ended(way, state, TOMORROW))


@for_each("way", [REFUSING, IDLING])
def test_without_an_answer_it_may_stay_open(way):
    """The document does not say how it is shown."""
    unsaid = dict.fromkeys(NOT_OPEN, "unspecified")
    assert [] == over(*ended(way, OPEN, TOMORROW), **unsaid)
    known = {facet.id for facet in ruled("execution").facets()}
    assert known.isdisjoint({"denied-over", "timed-out-over"})


def test_who_only_left_may_still_sign():
    """A bank that asks for no decision cannot know that this was a refusal."""
    left = sign(Ending.LEFT, step={"decision": Decision.REFUSE}, why="the customer left")
    assert ["denied-over unclear"] == over(*ended(left, OPEN, TOMORROW))
    assert ["denied-over agrees"] == over(*ended(left, ENDED, TOMORROW))


def test_a_bank_may_need_some_time():
    """Nothing shows that it has had enough: no like request went on since, or it is the same day."""
    soon = read(shown(state=OPEN), at=TOMORROW)
    assert ["denied-over unclear"] == over(make(), REFUSING, soon)
    assert ["denied-over unclear"] == over(*carried(varied=["amount"]), make(), REFUSING, soon)
    assert ["timed-out-over unclear"] == over(*ended(IDLING, OPEN))
    late = read(shown(state=ENDED), at=TOMORROW)
    assert ["denied-over agrees"] == over(*ended(REFUSING, OPEN), late)


@for_each(
    "events",
    [
        # The page after the decision was an error: perhaps nothing was refused.
        ended(replace(REFUSING, wire=replace(REFUSING.wire, status=503)), OPEN, TOMORROW),
        ended(replace(REFUSING, wire=replace(REFUSING.wire, status=409)), OPEN, TOMORROW),
        # It was changed, so that the screen may have asked again.
        ended(REFUSING, OPEN, TOMORROW, before=[modify(amount="9.00")]),
        # Another customer refused, and its own may still sign.
        ended(
            sign(Ending.REFUSED, step={"decision": Decision.REFUSE, "by": "other"}), OPEN, TOMORROW
        ),
        # Who was idle for less is not known to be disconnected for that.
        ended(sign(Ending.DISCONNECTED, moments=(AT, AT + timedelta(minutes=3))), OPEN, TOMORROW),
        # It can no longer be read, or was never read again.
        (make(), REFUSING, *carried(varied=["amount"]), read(NO)),
        (make(), REFUSING, *carried(varied=["amount"])),
    ],
)
def test_what_may_be_open_for_another_reason(events):
    """Nothing is said of it."""
    assert [] == over(*events)
