"""`duplicate`: what was executed is not executed again, and all else is."""

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
    withdrawn,
)
from rows import for_each

from assay.contract.model import Capability
from assay.history import Advance, Arrange, Authorise, Code, Decision, Ending
from assay.planning.plan import count_calls
from assay.testing import START, play

DAY = timedelta(days=1)
REPEAT, NEXT_DAY = "repeat-refused", "next-day-accepted"
AMOUNT = "amount-changed-accepted"


says = partial(check, "duplicate")
#: A request that was made, signed and read, all at one moment.
paid = partial(flow, at=AT)

#: What was executed first; a second customer, and what is like a second request of his.
FIRST = [payer(), *paid(key="P0")]
OTHER = payer("b", "A2")


def beside(**arguments):
    """Write down the like of a request, which another customer made and was granted."""
    return [OTHER, *paid(key="P9", by="b", debtorAccount="A2", **arguments)]


# -- repeats -----------------------------------------------------------------------
def test_a_repeat_that_is_rejected():
    """After its signature, or at once."""
    assert [f"{REPEAT} agrees 1,2,3,4,5,6"] == says(FIRST, paid(REJECTED))
    assert [f"{REPEAT} agrees 1,2,3,4"] == says(FIRST, make(NO, at=AT))
    assert [f"{REPEAT} agrees 1,2,3,4"] == says(FIRST, make(GONE, at=AT))


def test_a_repeat_that_is_carried_out():
    """By the interface's word, or the world's."""
    assert [f"{REPEAT} disagrees 1,2,3,4,5,6"] == says(FIRST, paid())
    assert [f"{REPEAT} disagrees 1,2,3,4,5,6"] == says(FIRST, paid(OPEN), effects("P0", "P1"))


def test_a_repeat_of_what_the_world_says_was_carried_out():
    """Nobody needs to have read it."""
    first = [payer(), *paid(OPEN, key="P0"), effects("P0")]

    assert [f"{REPEAT} agrees 1,2,3,4,5,6"] == says(first, paid(REJECTED))


@for_each("state", [OPEN, ENDED, None])
def test_a_repeat_that_came_to_nothing(state):
    """It was signed, and neither executed nor rejected as far as anybody saw."""
    assert [f"{REPEAT} unclear 1,2,3,4,5,6"] == says(FIRST, paid(state))


@for_each("came", [LOST, FAILED, UNKNOWN])
def test_what_is_no_refusal(came):
    """A target that fails, or does not know who asks, says nothing of a rule."""
    assert [] == says(FIRST, make(came, at=AT))
    assert [] == says(FIRST, make(came, at=AT, amount="1.00"), beside(amount="1.00"))


@for_each("amount", ["12.3", "012.30"])
def test_another_spelling_of_a_value_is_no_other_request(amount):
    """A bank that compares amounts as numbers rejects it as a repeat, and may."""
    assert [] == says(FIRST, make(NO, at=AT, amount=amount), beside(amount=amount))
    assert [f"{AMOUNT} disagrees 1,2,3,4,5,6,7"] == says(
        FIRST, make(NO, at=AT, amount="1.00"), beside(amount="1.00")
    )


def test_an_unsigned_repeat_shows_nothing():
    """Two identical ones may lie there unsigned."""
    assert [] == says(FIRST, make(at=AT), read(at=AT))


def test_the_first_has_to_be_carried_out_before():
    """What was not, or of which nobody knew it by then, forbids nothing."""
    first, second = paid(key="P0"), paid()
    made, signed, seen = second

    assert [] == says(payer(), first[0], made, *first[1:], seen)
    assert [f"{REPEAT} disagrees 1,2,3,4,5,6"] == says(
        payer(), first[0], made, *first[1:], signed, seen
    )
    assert [] == [line for line in says(payer(), first[:2], second) if "disagrees" in line]


def test_where_everything_is_rejected_nothing_is_shown():
    """The first was not executed, so the second repeats nothing."""
    assert [] == says(payer(), paid(REJECTED, key="P0"), paid(REJECTED))
    assert [] == says(payer(), make(NO, at=AT), make(NO, at=AT))


def test_where_nothing_is_answered_nothing_is_shown():
    """There is nothing to repeat."""
    assert [] == says(payer(), make(LOST), make(LOST, amount="1.00"), make(FAILED))


@for_each(("state", "word"), [(REJECTED, "agrees"), (DONE, "disagrees")])
def test_a_repeat_after_a_different_one_is_a_repeat(state, word):
    """Whatever was executed in between."""
    between = paid(key="P5", creditorAccount="C2")

    assert f"{REPEAT} {word} 1,2,3,7,8,9" in says(FIRST, between, paid(state))


def test_another_customers_request_is_no_repeat():
    """It is about another account."""
    assert [] == [line for line in says(FIRST, beside()) if REPEAT in line]


# -- changed in one thing ----------------------------------------------------------
PARAMETERS = {
    "debtorAccount": "A3",
    "creditorAccount": "C2",
    "amount": "12.31",
    "categoryPurpose": "SUPP",
}


@for_each(("name", "value"), PARAMETERS.items())
def test_what_differs_in_a_parameter_is_accepted(name, value):
    """Each parameter alone is a facet."""
    people = payer("psu", "A1", "A3")
    facet = f"{name}-changed-accepted"

    assert [f"{facet} agrees 1,2,3,4,5,6"] == says(people, paid(key="P0"), paid(**{name: value}))
    rejected = paid(REJECTED, **{name: value})
    (said,) = says(people, paid(key="P0"), rejected)
    alone = "disagrees" if name == "debtorAccount" else "unclear"
    assert f"{facet} {alone} 1,2,3,4,5,6" == said
    control = beside(**{name: value}) if alone == "unclear" else ()
    assert f"{facet} disagrees" in says(people, paid(key="P0"), rejected, control)[0]


def test_what_differs_in_its_mode_may_be_a_repeat():
    """Whether the mode is one of the parameters is open; nothing is said of either answer."""
    for came in ((), (REJECTED,)):
        assert [] == says(FIRST, paid(*came, mode="instant"))


def test_a_request_in_another_mode_may_explain_a_rejection():
    """What differs in one thing from the first may repeat what was done in another mode."""
    again = paid(REJECTED, amount="1.00")
    control = beside(amount="1.00")

    assert "disagrees" in says(FIRST, again, control)[0]
    assert (
        "unclear" in says(FIRST, paid(mode="instant", amount="1.00", key="P7"), again, control)[0]
    )


def test_a_refusal_at_once_is_a_rejection():
    """Whatever is sent with it; but for who asks."""
    control = beside(amount="1.00")

    assert [f"{AMOUNT} disagrees 1,2,3,4,5,6,7"] == says(
        FIRST, make(NO, at=AT, amount="1.00"), control
    )[:1]
    assert [] == [
        line for line in says(FIRST, make(UNKNOWN, at=AT, amount="1.00"), control) if AMOUNT in line
    ]


def test_what_differs_in_two_things_is_not_judged():
    """It shows nothing of either."""
    assert [] == says(FIRST, paid(amount="1.00", creditorAccount="C2"))
    assert [] == says(FIRST, paid(REJECTED, amount="1.00", chargeBearer="DEBT"))


def test_a_parameter_that_the_clause_does_not_name_is_not_judged():
    """What the others are, the document does not say."""
    assert [] == says(FIRST, paid(successfulReportUrl="https://tpp.example/elsewhere"))
    assert [] == says(FIRST, paid(REJECTED, successfulReportUrl="https://tpp.example/elsewhere"))


@for_each(
    "control",
    [
        (),
        [*beside(amount="1.00")[:-1], read(shown("P9", REJECTED), key="P9", by="b", at=AT)],
        [
            payer("b", "A2", segment="PRO"),
            *paid(key="P9", by="b", debtorAccount="A2", amount="1.00"),
        ],
        beside(amount="1.00", step={"factor": "cap"}),
        [registered(800, by="b"), *beside(amount="1.00")],
        beside(amount="1.00", currency="USD"),
    ],
)
def test_without_a_control_a_rejection_may_have_another_reason(control):
    """Perhaps this amount, or this creditor, is never accepted of such a customer."""
    said = says(FIRST, paid(REJECTED, amount="1.00"), control)

    assert [line.split()[:2] for line in said][:1] == [[AMOUNT, "unclear"]]
    assert not [line for line in said if "disagrees" in line]


def test_a_control_with_the_same_registrations_will_do():
    """Both customers registered the creditor at one time, before either paid."""
    known = [registered(800), registered(800, by="b")]
    first = [payer(), OTHER, *known, *paid(key="P0")]
    control = paid(key="P9", by="b", debtorAccount="A2", amount="1.00")
    said = says(first, paid(REJECTED, amount="1.00"), control)
    assert [[AMOUNT, "disagrees"]] == [line.split()[:2] for line in said]

    later = [payer(), OTHER, registered(800, by="b"), *paid(key="P0")]
    said = says(later, paid(REJECTED, amount="1.00"), control, registered(800))
    assert [[AMOUNT, "unclear"]] == [line.split()[:2] for line in said]


def test_what_came_before_the_history_may_be_repeated():
    """Of a customer with a past nobody knows everything."""
    first = [payer(fresh=False), *paid(key="P0")]
    said = says(first, paid(REJECTED, amount="1.00"), beside(amount="1.00"))

    assert [AMOUNT, "unclear"] == said[0].split()[:2]


@for_each(
    "former",
    [
        make(LOST, at=AT, amount="1.00"),
        [make(shown("PX"), at=AT, amount="1.00"), sign(key="PX", at=AT)],
        [make(shown("PX"), at=AT), modify(LOST, key="PX", amount="1.00")],
        make(shown("PX", None), at=AT, amount="1.00", successfulReportUrl="https://tpp.example/b"),
    ],
)
def test_an_identical_one_of_which_nobody_knows_what_became(former):
    """It may have been executed, and then a rejection is right."""
    said = says(FIRST, former, paid(REJECTED, amount="1.00"), beside(amount="1.00"))

    assert [AMOUNT, "unclear"] == said[0].split()[:2]
    assert not [line for line in said if "disagrees" in line]


def test_another_of_which_nobody_knows_what_became_does_not_matter():
    """It is not the same."""
    former = make(LOST, at=AT, amount="2.00")
    said = says(FIRST, former, paid(REJECTED, amount="1.00"), beside(amount="1.00"))

    assert f"{AMOUNT} disagrees 1,2,3,5,6,7,8,9,10" == said[0]


def test_a_repeat_is_no_change():
    """What is the same as one request and nearly the same as another repeats the one."""
    said = says(FIRST, paid(key="P2", amount="1.00"), paid(REJECTED, key="P3", amount="1.00"))

    assert [f"{AMOUNT} agrees 1,2,3,4,5,6", f"{REPEAT} agrees 4,5,6,7,8,9"] == said


# -- days --------------------------------------------------------------------------
def test_the_next_day_is_another_day():
    """And the first request shows that nothing else is wrong with it."""
    assert [f"{NEXT_DAY} agrees 1,2,3,4,5,6"] == says(FIRST, paid(at=AT + DAY))
    assert [f"{NEXT_DAY} disagrees 1,2,3,4,5,6"] == says(FIRST, paid(REJECTED, at=AT + DAY))


def test_midnight_is_that_of_the_zone():
    """An hour may be enough, or too little."""
    late = AT.replace(hour=23, minute=50)
    first = [payer(), *paid(key="P0", at=late)]
    soon = late + timedelta(minutes=20)

    assert [f"{NEXT_DAY} agrees 1,2,3,4,5,6"] == says(first, paid(at=soon))
    assert [] == says(first, paid(at=soon), zone=None)
    assert [f"{NEXT_DAY} agrees 1,2,3,4,5,6"] == says(first, paid(at=late + 3 * DAY), zone=None)


def test_a_request_between_two_days_is_of_neither():
    """Nobody knows whether its making, its signature or its end gives the day."""
    late = AT.replace(hour=23, minute=59)
    soon = late + timedelta(minutes=2)
    first = [payer(), *paid(key="P0", at=late)]

    assert [] == says(first, paid(at=late, signed=soon))
    assert [] == says(first, paid(REJECTED, at=late, signed=soon))
    over = [payer(), *paid(key="P0", at=late, signed=soon)]
    assert [] == says(over, paid(at=soon))
    assert [] == says(first, paid(amount="1.00", at=late, signed=soon))


def test_where_no_zone_is_known_one_moment_is_one_day():
    """And the day is asked about no further."""
    assert [f"{REPEAT} agrees 1,2,3,4,5,6"] == says(FIRST, paid(REJECTED), zone=None)


def test_yesterdays_identical_one_does_not_explain_a_rejection():
    """Of another day, it is another."""
    before = [payer(), *paid(key="P7", at=AT - DAY, amount="1.00"), *paid(key="P0")]
    said = says(before, paid(REJECTED, amount="1.00"), beside(amount="1.00"))

    assert [f"{NEXT_DAY} disagrees 1,2,3,7,8,9", f"{AMOUNT} disagrees 1,2,3,4,5,6,7,8,9"] == [
        line for line in said if "disagrees" in line
    ]


# -- not executed ---------------------------------------------------------------
LATE = {"mode": "deferred", "date": "2026-09-19"}
CANCELLED = [payer(), *paid(OPEN, key="P0", **LATE), cancel(key="P0", at=AT)]
DECLINED = [payer(), make(shown("P0"), key="P0", at=AT), sign(Ending.REFUSED, key="P0", at=AT)]
LYING = [payer(), make(shown("P0"), key="P0", at=AT)]
ROWS = [
    ("after-cancelled-accepted", CANCELLED, LATE, OPEN, ENDED),
    ("after-refused-accepted", DECLINED, {}, DONE, ENDED),
    ("after-unsigned-accepted", LYING, {}, DONE, OPEN),
]


@for_each(("facet", "first", "arguments", "good", "stands"), ROWS)
def test_what_was_not_carried_out_is_not_repeated(facet, first, arguments, good, stands):
    """Cancelled, refused or never signed."""
    (said,) = says(first, paid(good, **arguments))

    assert [facet, "agrees"] == said.split()[:2]


@for_each(("facet", "first", "arguments", "good", "stands"), ROWS)
def test_the_repeat_of_what_was_not_carried_out_is_rejected(facet, first, arguments, good, stands):
    """It disagrees if the former still stands so, and the like of it was accepted."""
    rejected, like = (
        paid(REJECTED, **arguments),
        [OTHER, *paid(good, key="P9", by="b", debtorAccount="A2", **arguments)],
    )
    look = read(shown("P0", stands), key="P0", at=AT)

    assert [facet, "disagrees"] == says(first, rejected, look, like)[0].split()[:2]
    for less in ((rejected, like), (rejected, look)):
        assert [facet, "unclear"] == says(first, *less)[0].split()[:2]
    done = read(shown("P0", DONE), key="P0", at=AT)
    assert [] == [line for line in says(first, rejected, done, like) if facet in line]


def test_what_the_customer_cancelled_is_cancelled():
    """Elsewhere than at the TPP."""
    first = [payer(), *paid(OPEN, key="P0", **LATE), withdrawn(key="P0")]

    assert "after-cancelled-accepted agrees" in says(first, paid(OPEN, **LATE))[0]
    kept = [payer(), *paid(OPEN, key="P0", **LATE), withdrawn(key="P0", done=False)]
    assert [] == says(kept, paid(OPEN, **LATE))


def test_a_cancellation_that_was_not_taken():
    """Nobody knows, or the former stands as it stood."""
    for came in (LOST, NO):
        first = [payer(), *paid(OPEN, key="P0", **LATE), cancel(came, key="P0", at=AT)]
        assert [] == says(first, paid(REJECTED, **LATE))


def test_one_that_was_perhaps_signed_is_not_unsigned():
    """A way through the screens that was cut short may have been one to its end."""
    first = [*LYING, sign(Ending.STOPPED, key="P0", at=AT)]

    assert [] == says(first, paid(REJECTED))


def test_one_that_is_put_off_repeats_nothing_before_its_day():
    """Two that are open are both to be executed, and only then one repeats the other."""
    first = [payer(), *paid(OPEN, key="P0", **LATE)]

    assert [] == says(first, paid(OPEN, **LATE))
    assert [] == says(first, paid(REJECTED, **LATE))


# -- whose key, which change -------------------------------------------------------
def test_a_key_that_was_given_twice():
    """What is said of the one may be of the other."""
    assert [] == says(FIRST, paid(), make(shown("P1"), amount="7.00", creditorAccount="C7"))


def test_a_request_that_was_changed_is_not_compared():
    """A refused change is none."""
    changed, kept = modify(amount="5.00"), modify(NO, amount="5.00")
    made, signed, seen = paid(REJECTED)

    assert [] == says(FIRST, made, changed, signed, seen)
    assert [f"{REPEAT} agrees 1,2,3,4,5,6,7"] == says(FIRST, made, kept, signed, seen)


def test_a_change_to_what_a_request_says_already_is_none():
    """Unless another one came between, or it is written in another way."""
    made, signed, seen = paid(REJECTED, amount="12.30")
    same, other = modify(amount="12.30"), modify(amount="5.00")
    first = [payer(), *paid(key="P0", amount="12.30")]

    assert [f"{REPEAT} agrees 1,2,3,4,5,6,7"] == says(first, made, same, signed, seen)
    assert [] == says(first, made, other, same, signed, seen)
    assert [] == says(first, made, modify(amount="12.3"), signed, seen)


def test_anybody_elses_signature_decides_nothing():
    """The repeat was signed by somebody, and then executed: that is another matter."""
    made, signed, seen = paid()
    other = replace(signed, step=replace(signed.step, by="b"))

    assert [f"{REPEAT} disagrees 1,2,3,4,5,6"] == says(FIRST, made, other, seen)
    assert [] == says(FIRST, made, other, replace(seen, outcome=shown("P1", OPEN).outcome))


def test_what_is_rejected_after_a_wrong_entry_is_no_rejected_repeat():
    """Neither does it show that repeats are rejected, nor that anything else is."""
    made, signed, seen = paid(REJECTED)
    wrong = replace(signed, step=replace(signed.step, typed=Code.WRONG), ending=Ending.STOPPED)
    assert [] == says(FIRST, made, wrong, seen)
    made, signed, seen = paid(REJECTED, amount="1.00")
    assert f"{AMOUNT} disagrees" in " ".join(says(FIRST, made, signed, seen, beside(amount="1.00")))
    assert [] == says(FIRST, made, wrong, signed, seen)


# -- what is asked -----------------------------------------------------------------
PARAMS = ruled("duplicate")
FACETS = {facet.id: facet for facet in PARAMS.facets()}


def test_the_facets_and_what_they_cost():
    """A trial for each; one of them goes on to a repeat of its first request."""
    assert {
        "repeat-refused": 6,
        "debtorAccount-changed-accepted": 6,
        "creditorAccount-changed-accepted": 9,
        "amount-changed-accepted": 6,
        "categoryPurpose-changed-accepted": 6,
        "next-day-accepted": 9,
        "after-cancelled-accepted": 6,
        "after-refused-accepted": 5,
        "after-unsigned-accepted": 4,
        "at-once": 6,
    } == {facet.id: count_calls(PARAMS, facet.scenario) for facet in FACETS.values()}


def test_what_facets_need():
    """A clock for the next day, and the profile's other value of all but the account."""
    base = {Capability.PSU, Capability.WRITE, Capability.SCA}
    others = {facet.id: facet.needs - base for facet in FACETS.values() if facet.needs != base}
    varied = {one.id for one in FACETS.values() for want in one.requires if want.feature == "other"}

    together = {Capability.SCREENS, Capability.TOGETHER}
    assert {NEXT_DAY: {Capability.CLOCK, Capability.ZONE}, "at-once": together} == others
    assert {f"{one}-changed-accepted" for one in PARAMETERS if one != "debtorAccount"} == varied


def test_no_way_to_cancel():
    """What cannot be asked is no facet."""
    lifecycle = replace(PARAMS.lifecycle, end=None)
    ids = {facet.id for facet in replace(PARAMS, lifecycle=lifecycle).facets()}

    assert {"after-cancelled-accepted"} == FACETS.keys() - ids


def asked(scenario, state=DONE, **when):
    """Play a probe; every second request comes to `state`. Return its steps in short."""
    out, keys = [], []

    def bank(call):
        if call.operation != "create-payment":
            out.append(call.operation.partition("-")[0])
            return shown("P", state if len(keys) > 1 else DONE)
        keys.append(f"P{len(keys)}")
        out.append(f"make {call.mode} {call.arguments['debtorAccount']}")
        out[-1] += "".join(f" other {one}" for one in call.varied)
        out[-1] += f": {call.variation}" if call.variation else ""
        return shown(keys[-1])

    def reply(step, reply):
        match step:
            case Authorise(decision=decision):
                out.append("sign" if decision is Decision.CONFIRM else "refuse")
            case Advance() | Arrange():
                out.append(type(step).__name__.lower())
        return reply

    play(PARAMS, scenario, bank, reply=reply, **when)
    return out


FIRSTLY = ["arrange", "make immediate psu-1", "sign", "read"]


def test_a_repeat_is_made_after_the_first_was_carried_out():
    """And nothing more is asked, whatever comes of it."""
    asks = [*FIRSTLY, "make immediate psu-1: the same request again", "sign", "read"]

    assert asks == asked(REPEAT) == asked(REPEAT, REJECTED)


@for_each(
    ("scenario", "second", "like"),
    [
        (AMOUNT, "immediate psu-1 other amount", "immediate another-1 other amount"),
        ("debtorAccount-changed-accepted", "immediate psu-2", None),
    ],
)
def test_a_rejection_is_looked_into(scenario, second, like):
    """By the like of it, where the first is not like it in all that matters."""
    good, bad = asked(scenario), asked(scenario, REJECTED)

    assert 7 == len(good)
    assert [f"make {second}", "sign", "read"] == [good[4].partition(":")[0], *good[5:]]
    more = ["arrange", f"make {like}", "sign", "read"] if like else []
    assert [*good, *more] == bad


def test_a_repeat_is_made_after_a_different_one_too():
    """In one trial, and only where the different one was accepted."""
    creditor = "creditorAccount-changed-accepted"
    last = "make immediate psu-1: the first request again, after a different one"

    assert [last, "sign", "read"] == asked(creditor)[7:]
    assert last not in asked(creditor, REJECTED)


def test_the_next_day_is_waited_for():
    """Until noon, when no window is near; on the same day, it is repeated hours later."""
    later, again = (
        [f"make immediate psu-1: the same request {when}", "sign", "read"]
        for when in ("again, hours later", "on the next day")
    )

    assert [*FIRSTLY, "advance", *later, "advance", *again] == asked(NEXT_DAY)
    assert asked(NEXT_DAY) == asked(NEXT_DAY, REJECTED)
    # Late in the evening, hours later is another day.
    evening = START.astimezone(PARAMS.lifecycle.contract.zone).replace(hour=22, minute=30)
    assert [*FIRSTLY, "advance", *again] == asked(NEXT_DAY, start=evening)


@for_each(
    ("scenario", "begins"),
    [
        ("after-cancelled-accepted", ["make deferred psu-1", "sign", "cancel"]),
        ("after-refused-accepted", ["make immediate psu-1", "refuse"]),
        ("after-unsigned-accepted", ["make immediate psu-1"]),
    ],
)
def test_a_first_that_is_not_carried_out(scenario, begins):
    """It is read again if its repeat is rejected."""
    good, bad = asked(scenario), asked(scenario, REJECTED)

    assert begins == good[1 : 1 + len(begins)]
    assert count_calls(PARAMS, PARAMS.scenario(scenario)) == len(
        [one for one in good if one != "arrange"]
    )
    assert [*good, "read", "arrange"] == bad[: len(good) + 2]


# -- at one moment -------------------------------------------------------------------------
ONCE = "at-once"


def signed_together(first, second, *, looked=AT, amount="12.30"):
    """Write down two requests that were signed at one moment, and then read."""
    both = {"P1": (first, "12.30"), "P2": (second, amount)}
    return [
        *(make(shown(key), key=key, at=AT, amount=much) for key, (_, much) in both.items()),
        *(sign(key=key, at=AT, step={"together": 1}) for key in both),
        *(read(shown(key, state), key=key, at=looked) for key, (state, _) in both.items()),
    ]


@for_each(
    ("states", "word"),
    [
        ((DONE, REJECTED), "agrees"),
        ((REJECTED, DONE), "agrees"),
        ((DONE, DONE), "disagrees"),
        ((DONE, OPEN), "unclear"),
        ((OPEN, OPEN), "unclear"),
        ((REJECTED, REJECTED), "unclear"),
    ],
)
def test_of_two_that_are_signed_at_one_moment_one_is_carried_out(states, word):
    """Whichever it is, the other one is its repeat, and no other clause minds the rejection."""
    assert [f"{ONCE} {word} 1,2,3,4,5,6"] == says(payer(), signed_together(*states))
    events = payer(), signed_together(*states)
    others = [*check("cash", *events), *check("payment-types", *events)]
    assert not any("disagrees" in line for line in others)


def test_what_is_carried_out_later_may_not_have_been_yet():
    """A bank that executes some time after the signature had executed neither."""
    late = signed_together(DONE, DONE, looked=AT + timedelta(minutes=2))
    assert [f"{ONCE} unclear 1,2,3,4,5,6"] == says(payer(), late)


def test_what_differs_or_is_signed_at_another_moment_is_not_compared():
    """Only identical requests of one moment are."""
    assert not any(ONCE in line for line in says(payer(), signed_together(DONE, DONE, amount="7")))
    assert not any(ONCE in line for line in says(FIRST, paid(DONE)))
