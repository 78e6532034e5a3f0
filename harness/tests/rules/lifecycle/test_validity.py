"""Validity of calls: a refusal is a violation only where the call was certainly valid."""

from dataclasses import replace
from datetime import datetime

from account_information import BROKEN, LOST, NO
from payment_initiation import (
    DONE,
    PIS,
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

from assay.rules.lifecycle.validity import PLAIN
from assay.testing import history

LATER = "2026-09-21"
DEFERRED = make(mode="deferred", date=LATER)
WRONG = "answers disagrees"


def create(*events, who=None):
    """Return what is said of the last of these calls, which is to make a request."""
    return last("payments.create", who or payer(), *events)


def change(*events):
    """Return what is said of the last of these calls, which is to change one."""
    return last("payments.modify", payer(), *events)


def last(clause, customer, *events):
    n = len(events)
    said = check(clause, customer, *events)
    return [one.removesuffix(f" {n}") for one in said if one.endswith(f" {n}")]


# -- what a plain request holds -------------------------------------------------------
@for_each("date", [LATER, "soon", "", None])
@for_each("before", [[], [make()], [make(), DEFERRED]])
def test_an_argument_that_a_mode_has_no_use_for_may_be_refused(before, date):
    """A request at once has no day; with one it is not plain, whatever was accepted before."""
    assert [] == create(*before, make(NO, date=date))
    assert [WRONG] == create(*before, make(NO))


def test_an_argument_that_the_contract_does_not_know_may_be_refused():
    """It is nothing that has to be accepted; neither the first time nor later."""
    odd = make(shown("P2"), memo="12.30")

    assert [] == create(make(NO, memo="12.30"))
    assert [] == create(make(), odd, make(NO, memo="12.30"))
    assert [WRONG] == create(make(), odd, make(NO))


# -- the day, where a plain request has one ----------------------------------------
CREATE = PIS.operations["create-payment"]
#: A contract whose plain requests are put off to a day.
PUT_OFF = replace(
    PIS,
    operations={
        **PIS.operations,
        CREATE.id: replace(CREATE, modes=("deferred", *CREATE.modes[:1])),
    },
)


def put_off(*events):
    """Return what is said of the last of these calls, which is to make a request for a day."""
    said = ruled("payments.create", contract=PUT_OFF).check(history(payer(), *events))
    return [one.agreement.value for one in said if one.exchanges == (len(events),)]


def due(day, came=None, **call):
    """Write down a request for a day; it is made on 16 September."""
    return make(came, mode="deferred", date=day, **call)


@for_each("day", [[], {}, None, "", "soon", "2026-09-31", "2026-09-15", "2026-09-16", 20260919])
def test_a_day_that_is_none_or_has_begun_may_be_refused(day):
    """Whatever was accepted before: such a request is not valid."""
    assert [] == put_off(due(day, NO))
    assert [] == put_off(due(LATER), due(day, NO))


def test_a_day_to_come_has_to_be_accepted():
    """As far ahead as another was, or, in the first request, as the probe chose it."""
    assert ["disagrees"] == put_off(due(LATER, NO))
    assert ["disagrees"] == put_off(due(LATER), due("2026-09-17", NO, key="P2"))
    assert ["disagrees"] == put_off(due(LATER), due(LATER, NO, key="P2"))


def test_a_day_on_which_nothing_is_settled_may_be_refused():
    """At a weekend, at Easter; unless the bank takes orders for such days."""
    saturday, far = "2026-09-19", "2027-04-30"
    assert [] == put_off(due(LATER), due(saturday, NO, key="P2"))
    assert ["disagrees"] == put_off(
        due("2026-09-20"), due(LATER, key="P2"), due(saturday, NO, key="P3")
    )
    assert [] == put_off(due(far), due("2027-03-29", NO, key="P2"))
    assert ["disagrees"] == put_off(due(far), due("2027-03-30", NO, key="P2"))


def test_a_day_further_ahead_than_any_that_was_accepted_may_be_refused():
    """A bank may have a limit of its own; and the first day may be a variation."""
    assert [] == put_off(due(LATER), due("2026-09-22", NO, key="P2"))
    assert [] == put_off(due(LATER, NO, variation="a day far ahead"))


# -- values, before anything was accepted ---------------------------------------------
def test_what_is_asked_first_is_the_targets_own():
    """Its file is taken at its word, unless the call says that it departs from it."""
    assert [WRONG] == create(make(NO))
    assert [WRONG] == create(make(NO, amount="12.30"), make(NO))
    assert [] == create(make(NO, amount="-1", variation="amount: below zero"))


@for_each("value", [12, 12.3, True, ["12.30"], {"value": "12.30"}])
def test_only_text_is_plain_where_nothing_was_accepted(value):
    """An amount may be a text and nothing else; once a number was accepted it is good."""
    assert {str} == PLAIN
    assert [] == create(make(NO, amount=value))
    assert [] == create(make(NO), make(LOST), make(NO, amount=value))
    assert [WRONG] == create(make(amount=value), make(NO, amount=value))


# -- values, once something was accepted ----------------------------------------------
@for_each("name", ["amount", "creditorAccount", "successfulReportUrl"])
@for_each("came", [NO, LOST, None])
def test_a_value_of_the_right_type_may_be_a_bad_one(name, came):
    """As long as nobody accepted it: refused or lost, it is no better for being sent again."""
    said = create(make(), make(came, key="P2", **{name: "7.00"}), make(NO, **{name: "7.00"}))

    assert ([WRONG] if came is None else []) == said
    assert [] == create(make(), make(NO, **{name: "7.00"}))


def test_values_that_were_accepted_each_in_its_argument_are_good_together():
    """No single request had them all; and what is good in one argument is not in another."""
    taken = [make(), make(amount="7.00", key="P2"), make(creditorAccount="C2", key="P3")]

    assert [WRONG] == create(*taken, make(NO, amount="7.00", creditorAccount="C2"))
    assert [] == create(*taken, make(NO, amount="7.00", creditorAccount="7.00"))


def test_a_value_of_another_type_is_another_value():
    """The number was accepted, and not the text; nor is true one."""
    assert [] == create(make(), make(amount=1, key="P2"), make(NO, amount="1"))
    assert [] == create(make(), make(amount=1, key="P2"), make(NO, amount=True))
    assert [WRONG] == create(make(), make(amount=1, key="P2"), make(NO, amount=1))


def test_what_was_accepted_as_a_change_need_not_do_to_make_a_request():
    """A bank may look at what is made only: it may have limits that a change does not meet."""
    assert [] == create(DEFERRED, modify(amount="7.00"), make(NO, amount="7.00"))
    assert [] == create(DEFERRED, modify(amount="0.01"), make(NO, amount="0.01"))
    made = make(amount="7.00", key="P2")
    assert [WRONG] == create(DEFERRED, modify(amount="7.00"), made, make(NO, amount="7.00"))


def test_what_was_made_as_rejected_was_not_accepted():
    """Some say no by accepting a request that is rejected already."""
    over = make(shown("P2", REJECTED), amount="7.00", key="P2")
    once = make(shown("P2"), amount="7.00", key="P2")

    assert [] == create(make(), over, make(NO, amount="7.00"))
    assert [WRONG] == create(make(), once, make(NO, amount="7.00"))


def test_what_the_target_vouches_for_is_good():
    """Its file has another value for an argument; only for the one that the call names."""
    assert [WRONG] == create(make(), make(NO, amount="7.00", varied=("amount",)))
    assert [] == create(make(), make(NO, amount="7.00", varied=("currency",)))


def test_a_thing_that_is_owned_need_not_have_been_accepted():
    """Who owns it is known from elsewhere."""
    two = payer("psu", "A1", "A2")

    assert [WRONG] == create(make(), make(NO, debtorAccount="A2"), who=two)
    assert [] == create(make(), make(NO, debtorAccount="A2"))


def test_a_thing_of_another_resource_may_be_refused():
    """A payment is made from an account, not from a card."""
    both = payer("psu", "A1", "C1")
    both = replace(both, owns=(both.owns[0], replace(both.owns[1], resource="card")))

    assert [] == create(make(), make(NO, debtorAccount="C1"), who=both)
    assert [WRONG] == create(make(), make(NO), who=both)


# -- changes --------------------------------------------------------------------------
# A refused change is no violation, but a failure where a change is valid does.
@for_each("before", [[DEFERRED], [DEFERRED, modify(amount="7.00")]])
def test_a_refused_change_leaves_open_whether_changes_are_accepted(before):
    """Which changes are accepted, and when, is not for this clause to say."""
    after = [] if before[1:] else ["answers unclear"]
    assert after == [
        line for line in change(*before, modify(NO, amount="1.00")) if "unclear" in line
    ]


@for_each("before", [[DEFERRED], [DEFERRED, modify(amount="7.00")]])
def test_a_change_that_names_nothing_may_fail(before):
    """It asks for nothing; one that names something good has to be accepted."""
    assert [] == change(*before, modify(BROKEN))
    assert [WRONG] == change(*before, modify(BROKEN, amount="1.00"))


@for_each("amount", ["12.30", "12.3"])
def test_a_change_to_what_is_so_already_may_be_refused(amount):
    """It asks for nothing, in whatever words; once something else is in force it is a change."""
    back = modify(BROKEN, amount=amount)

    assert [] == change(DEFERRED, back)
    assert [] == change(DEFERRED, modify(amount="7.00"), modify(amount=amount), back)
    assert [WRONG] == change(DEFERRED, modify(amount="7.00"), back)


def test_a_change_to_what_nobody_vouches_for_may_be_refused():
    """Neither the target's file nor an answer of its own says that it is good."""
    bad = modify(BROKEN, amount="7.00", varied=())

    assert [] == change(DEFERRED, bad)
    assert [] == change(DEFERRED, make(NO, amount="7.00"), bad)
    assert [] == change(DEFERRED, make(creditorAccount="7.00", key="P2"), bad)
    assert [] == change(DEFERRED, modify(BROKEN, amount="7.00", varied=("creditorAccount",)))


@for_each(
    "before",
    [[make(amount="7.00", key="P2")], [modify(amount="7.00", varied=()), modify(amount="1.00")]],
)
def test_a_change_to_what_was_accepted_before_must_be(before):
    """By the target's own answer the value is good."""
    assert [WRONG] == change(DEFERRED, *before, modify(BROKEN, amount="7.00", varied=()))


@for_each(
    "names",
    [{"creditorAccount": "C2"}, {"date": "2026-09-20"}, {"amount": "1.00", "date": "2026-09-20"}],
)
def test_which_arguments_can_be_changed_is_left_open(names):
    """Only a change of the one that is asked of all disagrees."""
    assert [] == change(DEFERRED, modify(BROKEN, **names))
    assert ["answers agrees"] == change(DEFERRED, modify(**names))


def test_what_was_made_as_rejected_takes_no_change():
    """However good the value is."""
    over = make(shown(state=REJECTED), mode="deferred", date=LATER)

    assert [] == change(over, modify(BROKEN, amount="1.00"))


@for_each("given", [{"without": ("debtorAccount",)}, {"debtorAccount": None}])
def test_what_was_executed_for_a_thing_that_the_bank_chose_may_be_repeated(given):
    """Where the account is left out, the bank has filled it in: with the one that is named now."""
    first = [make(**given), sign(), read(shown(state=DONE))]
    assert [] == create(*first, make(NO))
    assert [WRONG] == create(*first, make(NO, amount="13.30", varied=["amount"]))
    other = [make(), sign(), read(shown(state=DONE))]
    assert [] == create(*other, make(NO, **given))


def test_what_is_long_over_may_be_archived():
    """A day after anything was due on it; what was refused meanwhile does not keep it."""
    done = [make(), sign(), read(shown("P1", DONE))]

    def read_on(day, *events):
        at = datetime.fromisoformat(f"{day}T12:00:00+02:00")
        events = (*events, replace(read(NO), at=at))
        return last("payments.read", payer(), *done, *events)

    assert [WRONG] == read_on("2026-09-16")
    assert [WRONG] == read_on("2026-09-17")
    assert [] == read_on("2026-09-18")
    late = datetime.fromisoformat("2026-09-18T12:00:00+02:00")
    assert [] == read_on("2026-09-18", replace(modify(NO, amount="1.00"), at=late))
    due = [make(mode="deferred", date=LATER, key="P2"), sign(key="P2")]
    lost = replace(read(NO, key="P2"), at=late)
    assert [WRONG] == last("payments.read", payer(), *due, lost)
