"""`decision`: what the condition rejects is rejected, and nothing else is."""

from dataclasses import replace
from datetime import timedelta
from functools import partial

from account_information import AT, FAILED, GONE, LOST, NO, UNKNOWN
from payment_initiation import (
    DONE,
    ENDED,
    OPEN,
    REJECTED,
    cancel,
    check,
    effects,
    flow,
    make,
    modify,
    payer,
    read,
    registered,
    ruled,
    shown,
    sign,
)
from rows import for_each

from assay.cli.plan import plan_lines
from assay.history import Advance, Authorise, Call, Code, Decision, Ending, Owned
from assay.planning.plan import count_calls
from assay.preparation.prepare import prepare
from assay.testing import play

CASH, USUAL = "categoryPurpose-CASH", "categoryPurpose-not-CASH"
HOUR = 3600


says = partial(check, "cash")


def paid(state, purpose="DVPM", factor="sms", *, step=None, at=AT, **how):
    """Write down a request that was made, signed and read, all at one moment."""
    return flow(
        state, at=at, step={"factor": factor, **(step or {})}, categoryPurpose=purpose, **how
    )


#: What is executed whatever the rule says.
CONTROL = paid(DONE, key="P0")
CONTROLLED = f"{USUAL} agrees 1,2,3"


# -- what the condition rejects ----------------------------------------------------
def test_what_must_be_rejected_and_is():
    """Rejected after the signature, beside one that was executed."""
    assert [CONTROLLED, f"{CASH} agrees 1,2,3,4,5,6"] == says(
        payer(), CONTROL, paid(REJECTED, "CASH")
    )


def test_what_must_be_rejected_and_is_carried_out():
    """It needs no control to be wrong."""
    assert [f"{CASH} disagrees 1,2,3"] == says(payer(), paid(DONE, "CASH"))


def test_what_the_world_says_was_carried_out():
    """The interface may say what it likes."""
    assert [f"{CASH} disagrees 1,2,3"] == says(payer(), paid(OPEN, "CASH"), effects("P1"))


def test_a_rejection_alone_shows_nothing():
    """Nothing like it was executed: perhaps everything is rejected."""
    assert [f"{CASH} unclear 1,2,3"] == says(payer(), paid(REJECTED, "CASH"))


def test_where_everything_is_rejected_nothing_holds():
    """Neither is the rule kept, nor can the rejection of others be laid at its door."""
    said = says(
        payer(),
        registered(80),
        paid(REJECTED),
        paid(REJECTED, "CASH", key="P2", creditorAccount="C2"),
        paid(REJECTED, "CASH", key="P3"),
        paid(REJECTED, "CASH", "soft-token", key="P4", creditorAccount="C2"),
    )

    assert {"unclear"} == {line.split()[1] for line in said}


@for_each("came", [LOST, FAILED, UNKNOWN])
def test_where_nothing_is_answered_nothing_is_said(came):
    """A target that fails, or that does not know who asks, says nothing of a rule."""
    assert [] == says(payer(), make(came), make(came, categoryPurpose="CASH"))


def test_the_control_is_like_it():
    """What was executed for another sort of customer, or of another amount, shows little."""
    small = paid(DONE, key="P0", amount="1.00")
    for control in (
        [payer("b", "A2", segment="PRO"), *paid(DONE, key="P0", by="b", debtorAccount="A2")],
        small,
        [
            replace(payer("b"), owns=(Owned(key="A2", resource="account", traits={"old": True}),)),
            *paid(DONE, key="P0", by="b", debtorAccount="A2"),
        ],
    ):
        assert f"{CASH} unclear 4,5,6" in says(payer(), control, paid(REJECTED, "CASH"))


def test_the_control_may_be_another_customers():
    """If they are of one sort, and what they pay from."""
    control = [payer("b", "A2"), *paid(DONE, key="P0", by="b", debtorAccount="A2")]

    assert f"{CASH} agrees 1,2,3,4,5,6" in says(payer(), control, paid(REJECTED, "CASH"))


# -- what it does not reject -------------------------------------------------------
def test_what_must_be_accepted_and_is():
    """Carried out is accepted."""
    assert [f"{USUAL} agrees 1,2,3"] == says(payer(), paid(DONE))
    assert ["factor-soft-token agrees 1,2,3"] == says(payer(), paid(DONE, "CASH", "soft-token"))


@for_each(
    ("days", "fresh", "code", "words"),
    [
        (14, True, Code.RIGHT, ["disagrees"]),
        (13, True, Code.RIGHT, ["unclear"]),
        (14, False, Code.RIGHT, []),
        (14, True, Code.WRONG, []),
    ],
)
def test_what_must_be_accepted_does_not_wait_for_ever(days, fresh, code, words):
    """Two weeks after its customer signed it, beside one that was executed, it is not accepted."""
    signed = sign(key="P1", at=AT, step={"factor": "soft-token", "code": code})
    looked = read(shown("P1", OPEN), at=AT + timedelta(days=days))
    made = make(key="P1", categoryPurpose="CASH")
    said = says(payer(fresh=fresh), *CONTROL, made, signed, looked)
    assert words == [line.split()[1] for line in said if line.startswith("factor-soft-token ")]


def test_a_row_that_waits_is_looked_at_later():
    """Only one that must be accepted: two weeks pass, and its control is made."""
    waits = asked("factor-soft-token", state=OPEN)
    moved = [step.to - AT for step in waits if isinstance(step, Advance) and step.to]
    assert [15] == [span.days for span in moved]
    assert not any(isinstance(step, Advance) for step in asked("factor-soft-token"))
    assert not any(isinstance(step, Advance) for step in asked(CASH, state=OPEN))


def test_what_must_be_accepted_and_is_rejected():
    """Beside one that is like it in all that the rule does not look at."""
    assert "factor-soft-token disagrees 1,2,3,4,5,6" in says(
        payer(), CONTROL, paid(REJECTED, "CASH", "soft-token")
    )


@for_each("came", [NO, GONE])
def test_a_refusal_at_once_is_a_rejection(came):
    """Where it does not matter how it would have been signed."""
    asked = make(came, at=AT, varied=("categoryPurpose",), categoryPurpose="SUPP")

    assert [CONTROLLED, f"{USUAL}-other disagrees 1,2,3,4"] == says(payer(), CONTROL, asked)


@for_each(
    "strange", [{"categoryPurpose": "SUPP"}, {"creditorAccount": ""}, {"creditorAccount": None}]
)
def test_a_value_that_nobody_vouches_for_may_be_refused_for_itself(strange):
    """The profile does not give it, the contract does not name it, nobody accepted it."""
    assert [CONTROLLED] == says(payer(), CONTROL, make(NO, at=AT, **strange))
    once = [
        make(shown("P5"), key="P5", at=AT, amount="7.00", **strange),
        sign(key="P5", at=AT, step={"factor": "sms"}),
        read(shown("P5", DONE), key="P5", at=AT),
    ]
    said = says(payer(), CONTROL, once, make(NO, at=AT, **strange))
    assert f"{USUAL} disagrees 1,2,3,7" in said


#: What must be accepted, and is like the control in all but what the condition looks at.
SUPP = {"varied": ("categoryPurpose",), "categoryPurpose": "SUPP"}
OTHER = f"{USUAL}-other"
THERE = "https://tpp.example/there"


def test_an_address_that_nobody_came_back_to_may_be_refused_for_itself():
    """Letter by letter: a good address may be followed by a bad one of the same host."""
    for address in (THERE, "https://tpp.example:99999/back", "https://tpp.example/ back"):
        refused = make(NO, at=AT, successfulReportUrl=address, **SUPP)
        assert [CONTROLLED] == says(payer(), CONTROL, refused)
    assert [CONTROLLED, f"{OTHER} disagrees 1,2,3,4"] == says(
        payer(), CONTROL, make(NO, at=AT, **SUPP)
    )


def test_an_address_that_was_accepted_is_good():
    """Signed or not, before or after; but not when that request was rejected, too."""

    def there(came=None, key="P5", **changes):
        return make(came or shown(key), key=key, at=AT, successfulReportUrl=THERE, **changes)

    refused = there(NO, **SUPP)
    assert f"{OTHER} disagrees 1,2,3,5" in says(payer(), CONTROL, there(), refused)
    assert f"{OTHER} disagrees 1,2,3,4" in says(payer(), CONTROL, refused, there())
    for bad in (
        [there(shown("P5", REJECTED), amount="7.00")],
        [there(amount="7.00"), read(shown("P5", REJECTED), key="P5", at=AT)],
        [there(LOST, amount="7.00")],
    ):
        assert OTHER not in " ".join(says(payer(), CONTROL, *bad, refused))


def test_an_address_that_was_accepted_with_the_request_itself_is_good():
    """It was signed, so that it was rejected for its address is out of the question."""
    rejected = paid(REJECTED, "SUPP", varied=("categoryPurpose",), successfulReportUrl=THERE)

    assert [CONTROLLED, f"{OTHER} disagrees 1,2,3,4,5,6"] == says(payer(), CONTROL, rejected)


@for_each(
    "address",
    [
        *(None, "", "nowhere", "/back", "tpp:back", "https://[", "http://tpp.example/back"),
        *("https://tpp.example:99999/back", "https://tpp.example:https/back"),
    ],
)
def test_what_is_no_such_address_makes_another_sort(address):
    """The control came back to an address of the web: what did not is nothing like it."""
    back = {"successfulReportUrl": address}
    usual = paid(REJECTED, "SUPP", varied=("categoryPurpose",), **back)

    assert [CONTROLLED, f"{OTHER} unclear 4,5,6"] == says(payer(), CONTROL, usual)
    assert [CONTROLLED, f"{CASH} unclear 4,5,6"] == says(
        payer(), CONTROL, paid(REJECTED, "CASH", **back)
    )
    like = paid(DONE, key="P0", **back)
    assert [CONTROLLED, f"{OTHER} disagrees 1,2,3,4,5,6"] == says(payer(), like, usual)
    assert [CONTROLLED, f"{CASH} agrees 1,2,3,4,5,6"] == says(
        payer(), like, paid(REJECTED, "CASH", **back)
    )


def test_a_request_with_no_address_is_another_sort():
    """Whatever was executed with one."""
    rejected = paid(REJECTED, "CASH", without=("successfulReportUrl",))

    assert [CONTROLLED, f"{CASH} unclear 4,5,6"] == says(payer(), CONTROL, rejected)


@for_each("came", [UNKNOWN, LOST, FAILED])
def test_what_is_no_refusal_is_no_violation(came):
    """Who asks was not known, or the target failed."""
    assert [CONTROLLED] == says(payer(), CONTROL, make(came, categoryPurpose="SUPP"))


def test_what_was_left_out_explains_a_refusal():
    """A request that lacks something else is like none that was executed."""
    said = says(payer(), CONTROL, make(NO, without=("currency",), categoryPurpose="SUPP"))

    assert [CONTROLLED] == said


def test_a_repeat_explains_a_rejection():
    """The same was executed before: another rule may mind."""
    assert [CONTROLLED, f"{USUAL} unclear 1,2,3,4,5,6"] == says(payer(), CONTROL, paid(REJECTED))


def test_what_was_made_first_may_be_the_repeat():
    """Which of two was decided on first, their signatures tell."""
    first, second = paid(REJECTED), paid(DONE, key="P2")
    made = [first[0], second[0]]

    assert [f"{USUAL} unclear 1,2,3,4,5,6", f"{USUAL} agrees 2,3,4"] == says(
        payer(), made, second[1:], first[1:]
    )
    assert [f"{USUAL} disagrees 1,2,3,4,5,6", f"{USUAL} agrees 2,5,6"] == says(
        payer(), made, first[1:], second[1:]
    )


def test_of_several_that_were_carried_out_the_first_decided_on_counts():
    """What was made before all may have been signed after all, when a like was let through."""
    first, second, third = paid(DONE), paid(DONE, key="P2"), paid(REJECTED, key="P3")
    made = [first[0], second[0], third[0]]

    assert f"{USUAL} unclear 1,3,6,7,8,9" in says(payer(), made, second[1:], third[1:], first[1:])
    assert f"{USUAL} unclear 1,3,4,5,6,7" in says(payer(), made, first[1:], third[1:], second[1:])
    assert f"{USUAL} disagrees 1,3,4,5,6,7" in says(payer(), made, third[1:], first[1:], second[1:])


def test_what_was_refused_before_its_like_was_signed_was_no_repeat():
    """However early that was made; and what was refused after it may have been one."""
    made, *signed = CONTROL

    assert f"{USUAL} disagrees 1,2,3,4" in says(payer(), made, make(NO, at=AT), signed)
    assert [CONTROLLED] == says(payer(), CONTROL, make(NO, at=AT))


def test_a_repeat_about_another_account_may_be_one_as_well():
    """Not every gateway looks at the account."""
    said = says(payer("psu", "A1", "A2"), CONTROL, paid(REJECTED, debtorAccount="A2"))

    assert [CONTROLLED, f"{USUAL} unclear 1,2,3,4,5,6"] == said


def test_what_came_before_the_history_explains_a_rejection():
    """A customer who is not fresh may have asked for the same before."""
    old = [payer(fresh=False), registered(800)]
    rejected = paid(REJECTED, "CASH")

    assert ["creditorAccount-long unclear 1,2,3,4,5,6"] == says(*old, CONTROL, rejected)
    assert [] == says(payer(fresh=False), CONTROL, paid(REJECTED, "SUPP"))


# -- what nobody knows -------------------------------------------------------------
@for_each(
    "signed",
    [
        sign(at=AT),
        sign(at=AT, step={"factor": "soft-token"}, screens=("login", "password", "decision")),
        sign(at=AT, step={"factor": "soft-token", "code": Code.WRONG}),
        sign(at=AT, step={"factor": "soft-token", "by": "somebody"}),
        sign(Ending.STOPPED, at=AT, step={"factor": "soft-token"}),
    ],
)
@for_each("state", [DONE, REJECTED])
def test_an_unknown_factor_leaves_it_open(signed, state):
    """Nobody knows whether the factor that matters was used."""
    asked = make(shown("P1"), at=AT, categoryPurpose="CASH")
    said = says(payer(), CONTROL, asked, signed, read(shown("P1", state)))

    assert said[0].startswith(CONTROLLED)
    assert {"unclear"} >= {line.split()[1] for line in said[1:]}


def test_the_only_factor_that_is_offered_is_known():
    """Whoever signed used it."""
    asked = make(shown("P1"), at=AT, categoryPurpose="CASH")
    signed = sign(at=AT, offered=("sms",), screens=("factor", "code", "decision"))

    assert [f"{CASH} disagrees 1,2,3"] == says(payer(), asked, signed, read(shown("P1", DONE)))


def test_an_unknown_factor_does_not_matter_for_others():
    """What is not CASH is accepted, however it is signed; only, it is no row's own request."""
    other = {"varied": ("categoryPurpose",), "categoryPurpose": "SUPP"}
    asked = [make(shown("P1"), at=AT, **other), sign(at=AT)]

    assert [] == says(payer(), asked, read(shown("P1", DONE)))
    assert [CONTROLLED, f"{USUAL}-other disagrees 1,2,3,4,5,6"] == says(
        payer(), CONTROL, asked, read(shown("P1", REJECTED))
    )


def test_too_early_to_decide():
    """Refused before anybody could sign, it may be any of the rows that it would have been."""
    assert [CONTROLLED, *(f"{one} unclear 1,2,3,4" for one in (CASH, *FACTORS))] == says(
        payer(), CONTROL, make(NO, at=AT, categoryPurpose="CASH")
    )


FACTORS = ("factor-cap", "factor-soft-token")


def test_too_early_and_alone():
    """Without a control it may have been refused for anything."""
    assert [] == says(payer(), make(NO, at=AT, categoryPurpose="CASH"))


@for_each("state", [OPEN, ENDED, None])
def test_a_signed_request_that_came_to_nothing(state):
    """It was neither executed nor rejected, as far as anybody saw."""
    assert [f"{CASH} unclear 1,2,3"] == says(payer(), paid(state, "CASH"))
    assert [f"{USUAL} unclear 1,2,3"] == says(payer(), paid(state))


def test_an_unsigned_request_shows_nothing():
    """Nobody decided on it."""
    assert [] == says(payer(), make(), read())


def test_a_change_leaves_open_what_was_decided_on():
    """Nobody knows whether the new amount was there already; a refused one changed nothing."""
    asked, signed, seen = paid(DONE, "CASH")

    assert [] == says(payer(), asked, modify(creditorAccount="C2"), signed, seen)
    assert [] == says(payer(), asked, modify(LOST, creditorAccount="C2"), signed, seen)
    assert [f"{CASH} disagrees 1,2,3,4"] == says(
        payer(), asked, modify(NO, creditorAccount="C2"), signed, seen
    )


def test_a_key_that_was_given_twice():
    """What is said of the one may be of the other."""
    assert [] == says(payer(), paid(DONE, "CASH"), make(shown("P1"), amount="1.00"))


def test_a_stranger_is_not_judged():
    """Of somebody whom the history does not introduce, no registration is known."""
    assert [] == says(payer(), paid(DONE, "CASH", by="stranger"))


# -- registrations -----------------------------------------------------------------
ROWS = [
    (72 - 1 / HOUR, "creditorAccount-just-under-72h", REJECTED),
    (72, "creditorAccount-at-72h", REJECTED),
    (72 + 1 / HOUR, "creditorAccount-just-over-72h", DONE),
    (72 + 30 * 24, "creditorAccount-long", DONE),
]


@for_each(("hours", "facet", "right"), ROWS)
def test_the_age_of_a_registration(hours, facet, right):
    """Each age is a row of its own, and is right in one way only."""
    numbers = "4,5,6" if right is DONE else "1,2,3,4,5,6"
    wrong = DONE if right is REJECTED else REJECTED
    (good,) = says(payer(), registered(hours), CONTROL, paid(right, "CASH"))
    (bad,) = says(payer(), registered(hours), CONTROL, paid(wrong, "CASH"))

    assert good.startswith(f"{facet} agrees ")
    assert good.endswith(numbers)
    assert bad.startswith(f"{facet} disagrees ")


@for_each(
    ("hours", "facet", "right"),
    [
        (10, "creditorAccount-just-under-72h", REJECTED),
        (71.9, "creditorAccount-just-under-72h", REJECTED),
        (80, "creditorAccount-just-over-72h", DONE),
        (24 * 50, "creditorAccount-long", DONE),
    ],
)
def test_other_ages_count_only_where_they_show_the_limit(hours, facet, right):
    """Ten hours may not be enough; that they are not says little of 72."""
    wrong = DONE if right is REJECTED else REJECTED
    good = says(payer(), registered(hours), CONTROL, paid(right, "CASH"))
    (bad,) = says(payer(), registered(hours), CONTROL, paid(wrong, "CASH"))

    assert (facet == "creditorAccount-long") is bool(good)
    assert bad.startswith(f"{facet} disagrees ")


def test_another_customers_registration_does_not_count():
    """It is a row of its own."""
    mine = [payer(), payer("b"), registered(800, by="b")]

    assert "creditorAccount-by-another agrees 1,2,3,4,5,6" in says(
        *mine, CONTROL, paid(REJECTED, "CASH")
    )
    assert ["creditorAccount-by-another disagrees 1,2,3"] == says(*mine, paid(DONE, "CASH"))


def test_a_registration_of_something_else_does_not_count():
    """Neither of another creditor, nor of another argument."""
    for odd in (registered(800, value="C9"), registered(800, argument="debtorAccount")):
        assert [f"{CASH} disagrees 1,2,3"] == says(payer(), odd, paid(DONE, "CASH"))


def test_the_age_counts_when_it_is_signed():
    """One that was decided on before a registration is not touched by it."""
    assert [f"{CASH} disagrees 1,2,3"] == says(payer(), paid(DONE, "CASH"), registered(800))


def test_nobody_knows_whether_the_age_counts_at_the_making():
    """The limit was passed between the making and the signature."""
    asked, signed, seen = paid(DONE, "CASH")
    late = AT + timedelta(hours=2)

    assert [] == says(
        payer(), registered(71), asked, replace(signed, moments=(late,)), replace(seen, at=late)
    )


def test_of_several_registrations_any_may_count():
    """A bank may keep the first one, or put the last one in its place."""
    for both in ([registered(1), registered(800)], [registered(800), registered(2)]):
        for state in (DONE, REJECTED):
            assert [] == says(payer(), *both, paid(state, "CASH"))
    old = [registered(800), registered(900)]
    assert ["creditorAccount-long agrees 1,2,3"] == says(payer(), *old, paid(DONE, "CASH"))


@for_each("known", [(), (registered(10),)])
def test_of_a_customer_with_a_past_there_may_be_older_ones(known):
    """Only what is old enough anyway is known."""
    old = payer(fresh=False)

    assert [] == says(old, *known, paid(DONE, "CASH"))
    both = says(old, *known, registered(800), paid(DONE, "CASH"))
    assert ([] if known else ["creditorAccount-long agrees 1,2,3"]) == both


# -- requests that are put off -----------------------------------------------------
def test_a_request_that_is_put_off_is_accepted_while_it_is_open():
    """Its day is yet to come."""
    late = {"mode": "deferred", "date": "2026-09-19"}

    assert [f"{USUAL} agrees 1,2,3"] == says(payer(), paid(OPEN, **late))
    assert [f"{CASH} unclear 1,2,3"] == says(payer(), paid(OPEN, "CASH", **late))
    assert [f"{CASH} disagrees 1,2,3"] == says(payer(), paid(DONE, "CASH", **late))


@for_each("state", [OPEN, DONE, REJECTED])
def test_what_may_grow_old_enough_until_its_day(state):
    """Nobody knows whether the age counts at the signature or on the day."""
    late = paid(state, "CASH", mode="deferred", date="2026-09-19")

    assert [] == says(payer(), registered(10), late)
    assert [] == says(payer(), late, registered(10))


def test_a_cancelled_request_is_not_judged_as_rejected():
    """It ended, and not by the rule."""
    late = paid(OPEN, "CASH", mode="deferred", date="2026-09-19")

    assert [f"{CASH} unclear 1,2,3,4"] == says(payer(), late, cancel())


# -- what is asked -----------------------------------------------------------------
PARAMS = ruled("cash")
FACETS = {facet.id: facet for facet in PARAMS.facets()}


def test_a_cancelled_request_that_is_shown_as_rejected():
    """A bank may show so what the TPP cancelled: no rule rejected it."""
    cancelled = [
        make(shown("P1"), key="P1", at=AT),
        cancel(shown("P1", REJECTED), key="P1", at=AT),
        read(shown("P1", REJECTED), key="P1", at=AT),
    ]
    assert [CONTROLLED] == says(payer(), CONTROL, cancelled)


WRONGS = {
    "a wrong code": {"code": Code.WRONG},
    "half a password": {"typed": Code.HALF},
    "another customer": {"by": "b"},
    "a factor that is not offered": {"forced": True},
    "a refusal": {"decision": Decision.REFUSE},
    "a pause": {"linger": (timedelta(minutes=5),)},
}


@for_each("wrong", WRONGS.values())
@for_each("ending", [Ending.STOPPED, Ending.DISCONNECTED, Ending.CONFIRMED])
def test_who_signs_otherwise_may_be_why_a_request_is_rejected(wrong, ending):
    """A bank may end a request after one wrong entry, and whatever comes after it on the screens."""
    made, signed, seen = paid(REJECTED, "CASH", "soft-token")
    otherwise = sign(ending, at=AT, step={"factor": "soft-token", **wrong})
    assert [CONTROLLED] == says(payer(), CONTROL, [made, otherwise, seen])
    assert [CONTROLLED] == says(payer(), CONTROL, [made, otherwise, signed, seen])


def test_a_wrong_entry_may_be_why_other_requests_of_the_customer_are_rejected():
    """The bank may lock the customer out, until one of the customer's requests is executed."""
    lost = [make(shown("P5"), key="P5", at=AT), sign(Ending.STOPPED, key="P5", step={"by": "b"})]
    rejected = paid(REJECTED, "CASH", "soft-token")
    assert [CONTROLLED] == says(payer(), CONTROL, lost, rejected)
    assert [CONTROLLED] == says(payer(), CONTROL, rejected[0], lost, rejected[1:])
    assert [CONTROLLED] == says(payer(), CONTROL, lost, make(NO, key="P6", at=AT))
    unlocked = says(payer(), CONTROL, lost, paid(DONE, key="P6", amount="3.00"), rejected)
    assert "factor-soft-token disagrees 1,2,3,9,10,11" in unlocked


@for_each("days", [1, 2, 5])
def test_a_day_that_has_come_may_explain_a_refusal(days):
    """What was accepted for a day ahead may be refused on that day, and after it."""
    ahead = {"mode": "deferred", "date": (AT + timedelta(days=2)).date().isoformat()}
    odd = {"varied": ("categoryPurpose",), "categoryPurpose": "SUPP"}
    refused = make(NO, at=AT + timedelta(days=days), **odd, **ahead)
    said = says(payer(), paid(DONE, key="P0", **ahead), refused)
    assert (days < 2) is any("disagrees" in each for each in said), said


@for_each(("ahead", "word"), [(7, "agrees"), (3, "unclear")])
def test_a_control_of_another_day_is_one_for_as_many_days_ahead(ahead, word):
    """A control that was put off is executed before its row is made, and put off as long."""
    week, later = timedelta(days=7), AT + timedelta(days=7)
    control = paid(DONE, key="P0", mode="deferred", date=(AT + week).date().isoformat())
    day = (later + timedelta(days=ahead)).date().isoformat()
    row = paid(REJECTED, "CASH", at=later, mode="deferred", date=day)
    *_, said = says(payer(), control, row)
    assert said.startswith(f"{CASH} {word}")


def test_the_facets_are_the_rows_of_the_table():
    """Ten requests, each with its own trial."""
    assert [
        ("categoryPurpose-CASH", 6),
        ("categoryPurpose-not-CASH", 3),
        ("categoryPurpose-not-CASH-other", 3),
        ("factor-cap", 6),
        ("factor-soft-token", 3),
        ("creditorAccount-by-another", 6),
        ("creditorAccount-just-under-72h", 6),
        ("creditorAccount-at-72h", 6),
        ("creditorAccount-just-over-72h", 3),
        ("creditorAccount-long", 3),
    ] == [(facet.id, count_calls(PARAMS, facet.scenario)) for facet in FACETS.values()]
    assert len(FACETS) == len({facet.scenario for facet in FACETS.values()})


def test_a_facet_needs_what_its_row_does():
    """A registration where there is one, a second customer where another registers."""

    def extra(facet):
        return sorted(one.value for one in FACETS[facet].needs - FACETS[CASH].needs)

    assert ["psu", "sca", "write"] == sorted(facet.value for facet in FACETS[CASH].needs)
    assert ["registrations"] == extra("creditorAccount-at-72h")
    assert ["registrations", "two-psu"] == extra("creditorAccount-by-another")
    wanted = {
        f"{facet.feature} {facet.name}"
        for facet in FACETS["categoryPurpose-not-CASH-other"].requires
    }
    assert {"key ", "state ", "approval ", "other categoryPurpose"} == wanted


def asked(scenario, *, offered=None, state=DONE, refuse=False):
    """Play a probe to its end, and return its steps; every request comes to `state`."""
    keys = iter(range(99))

    def bank(call):
        if call.operation == "create-payment":
            return NO if refuse else shown(f"P{next(keys)}")
        return shown("P1", state)

    def reply(step, reply):
        if isinstance(step, Authorise) and offered is not None:
            ending = Ending.CONFIRMED if step.factor in offered else Ending.STOPPED
            return replace(reply, ending=ending, offered=offered)
        return reply

    return play(PARAMS, scenario, bank, reply=reply).steps


def told(steps):
    """Return the steps in short."""
    out = []
    for step in steps:
        match step:
            case Call(operation="create-payment", varied=varied):
                words = [str(step.arguments.get("categoryPurpose", "usual")), *varied]
                out.append(
                    f"make {' '.join(words)} {'' if step.variation else '(control)'}".strip()
                )
            case Call():
                out.append("read")
            case Authorise():
                out.append(f"sign {step.factor}")
            case _:
                name = type(step).__name__.lower()
                out.append(f"{name} {getattr(step, 'subject', '')}")
    return out


def test_a_row_that_must_be_rejected_comes_after_its_control():
    """The two differ in one thing alone."""
    assert [
        "arrange psu",
        *("make usual (control)", "sign cap", "read"),
        *("make CASH", "sign cap", "read"),
    ] == told(asked("factor-cap"))


def test_a_row_that_must_be_accepted_has_controls_only_if_it_is_rejected():
    """On a good day it costs three calls; on a bad one, controls until one is accepted."""
    assert ["arrange psu", "make CASH", "sign soft-token", "read"] == told(
        asked("factor-soft-token")
    )
    assert [
        "arrange psu",
        *("make CASH", "sign soft-token", "read"),
        *("make usual (control)", "sign soft-token", "read"),
        *("make usual categoryPurpose (control)", "sign soft-token", "read"),
    ] == told(asked("factor-soft-token", state=REJECTED))
    assert [
        "arrange psu",
        "make CASH",
        "make usual (control)",
        "make usual categoryPurpose (control)",
    ] == told(asked("factor-soft-token", refuse=True))


def test_what_is_prepared_comes_first():
    """A registration before the request whose row it is of, with the age that is asked."""
    steps = asked("creditorAccount-by-another")
    assert ["arrange psu", "arrange psu-other", "register psu-other"] == told(steps)[:3]
    ages = [one.age for one in asked("creditorAccount-at-72h") if hasattr(one, "age")]
    assert {timedelta(hours=72)} == set(ages)


def test_the_other_value_is_the_profiles():
    """And it is signed as the row says."""
    assert ["arrange psu", "make usual categoryPurpose", "sign sms", "read"] == told(
        asked("categoryPurpose-not-CASH-other")
    )


def test_a_customer_of_another_segment_is_asked_where_a_factor_is_lacking():
    """Of those that the contract says to have it; when all lack it, that is the end."""
    steps = told(asked(CASH, offered=("cap",)))
    arranged = [step for step in steps if step.startswith("arrange")]

    assert ["arrange psu", "arrange psu-PART", "arrange psu-PRO"] == arranged
    assert ["arrange psu"] == [
        one for one in told(asked("factor-cap", offered=("cap",))) if one.startswith("arrange")
    ]


def test_the_derived_table_is_printed():
    """`assay plan --verbose` shows it below the clause, one column an atom."""
    lines = [
        one.rstrip() for one in plan_lines(prepare(["pis"], keywords="cash").plan, verbose=True)
    ]
    (head,) = (n for n, one in enumerate(lines) if "result" in one and "facet" in one)

    assert [
        ["categoryPurpose is CASH", "signed with soft-token"],
        ["yes: CASH *", "no: sms *"],
    ] == [[lines[n][4:29].strip(), lines[n][29:53].strip()] for n in (head, head + 2)]
    assert lines[head + 2].endswith(
        "no: unregistered *                 rejected  categoryPurpose-CASH"
    )
