"""`modification` asks what can be changed, and whether a change that was accepted held."""

from dataclasses import replace
from datetime import date
from functools import partial

from account_information import BROKEN, FAILED, LOST, NO, UNKNOWN, ask
from payment_initiation import (
    DONE,
    ENDED,
    KEY,
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

from assay.contract.model import Capability
from assay.history import Effect, Effects, Ending, Malformed

PUT_OFF = {"mode": "deferred", "date": "2026-09-19"}
OTHER = {"amount": "47.11", "creditorAccount": "C2", "date": "2026-09-20"}


def says(*events, subject=None, **changed):
    """Return what the check says of a history, of one facet or of all."""
    return check("modify.deferred-only", subject or payer(), *events, **changed)


persists = partial(says, facet="persists")
as_changed = partial(says, facet="carried-out-as-changed")
immediate = partial(says, facet="immediate-refused")
when_done = partial(says, facet="done-refused")
undone = partial(says, facet="refused-change-undone")


def change(came=None, *names, varied=True, **how):
    """Write down that some arguments were to take the profile's other value."""
    named = {name: OTHER[name] for name in names or ("amount",)}
    event = modify(came, **{**named, **how})
    return replace(event, call=replace(event.call, varied=tuple(named) if varied else ()))


def closed(came=NO, **how):
    """Write down that each argument was to be changed, and none was."""
    return [change(came, name, **how) for name in OTHER]


def put_off(key="P1", came=None, **how):
    """Write down that a request was made that waits for its day."""
    return make(came or shown(key), key=key, **{**PUT_OFF, **how})


# -- changes that have to be accepted -----------------------------------------------
def test_a_change_is_accepted():
    """One that is taken is enough: which arguments can be changed is the target's choice."""
    assert ["deferred-accepted agrees 1,2"] == says(put_off(), change())
    assert ["deferred-accepted agrees 1,4"] == says(
        put_off(), change(NO, "date"), change(NO), change(None, "creditorAccount")
    )


def test_a_request_that_takes_no_change_is_closed():
    """Each argument was refused, unsigned and signed, and it was still open after that."""
    assert ["deferred-accepted disagrees 1,2,3,4,6,7,8,9"] == says(
        put_off(), *closed(), read(), sign(), *closed(), read()
    )
    signed = [put_off("P2"), sign(key="P2"), *closed(key="P2"), read(shown("P2"), key="P2")]
    assert ["deferred-accepted disagrees 1,2,3,4,6,7,8,9,10"] == says(
        put_off(), *closed(), read(), *signed
    )


def test_it_may_be_open_at_one_time_only():
    """Whether a change is accepted before it is signed, or after, is open; not whether at all."""
    assert ["deferred-accepted unclear 1,2,3,4"] == says(put_off(), *closed(), read())
    assert ["deferred-accepted agrees 1,6,7"] == says(
        put_off(), *closed(), read(), sign(), change()
    )


@for_each(
    "then",
    [
        [],
        [read(LOST)],
        [read(shown(state=None))],
        [read(shown(state=REJECTED))],
        [read(shown(state=ENDED))],
    ],
)
def test_it_may_have_ended_before(then):
    """Then it is no wonder that nothing can be changed."""
    assert ["deferred-accepted unclear 1,2,3,4"] == says(put_off(), *closed(), *then)


@for_each("came", [LOST, FAILED, UNKNOWN])
def test_what_was_not_refused_for_what_it_asked_leaves_doubt(came):
    """A bank that fails, or does not know who asks, has not said no."""
    assert ["deferred-accepted unclear 1,2,3,4"] == says(put_off(), *closed(came), read())


def test_one_argument_that_was_not_tried_might_have_been_taken():
    """So nothing is concluded."""
    assert ["deferred-accepted unclear 1,2,3"] == says(put_off(), *closed()[:2], read())


def test_values_that_are_not_the_profiles_prove_nothing_when_refused():
    """Who knows whether they were any good; but accepted is accepted."""
    assert [] == says(put_off(), *closed(varied=False)[:2], read())
    assert ["deferred-accepted agrees 1,2"] == says(put_off(), change(varied=False))


def test_an_accepted_change_is_one_on_any_day():
    """As long as it is not signed nothing is executed, whether its day has come or not."""
    assert ["deferred-accepted agrees 1,2"] == says(put_off(date="soon"), change())


def test_several_arguments_at_once_prove_nothing_when_refused():
    """It may be the lot that was too much."""
    together = change(NO, "amount", "creditorAccount")
    assert [] == says(put_off(), together, change(NO, *OTHER), read())


def test_after_its_day_nothing_has_to_be_accepted():
    """Nor where the new day has come, nor where nobody can tell the day."""
    late = {"at": replace(payer(), now=payer().now.replace(day=19)).now}
    assert [] == says(put_off(), *closed(**late), read())
    assert [] == says(put_off(date="2026-09-18"), change(NO, "date", date="2026-09-16"), read())
    assert [] == says(put_off(date="soon"), change(NO), read())


@for_each("over", [[cancel()], [cancel(LOST)], [withdrawn()]])
def test_what_is_cancelled_need_take_no_change(over):
    """Whatever it does then is nobody's business."""
    assert [] == says(put_off(), *over, *closed(), read())


def test_a_refused_cancellation_changes_nothing():
    """It is as open as before."""
    assert ["deferred-accepted disagrees 1,3,4,5,7,8,9,10"] == says(
        put_off(), cancel(NO), *closed(), withdrawn(done=False), read(), sign(), *closed(), read()
    )


def test_a_change_by_somebody_else_is_not_judged():
    """Another TPP's, another customer's, one with credentials, or a broken one."""
    mine = change(NO)
    others = [
        replace(mine, call=replace(mine.call, **how))
        for how in (
            {"by": "two"},
            {"subject": "other"},
            {"credentials": True},
            {"malformed": Malformed.EMPTY},
        )
    ]
    assert [] == says(put_off(), *others, read())


def test_asking_for_what_is_so_already_is_no_change():
    """The same amount in other words, neither accepted nor refused."""
    for came in (None, NO):
        assert [] == says(put_off(), change(came, amount="12.3"))
        assert [] == says(make(), change(came, amount="12.30"))


# -- after it is signed -------------------------------------------------------------
def test_a_signed_request_can_be_changed():
    """As long as its day is to come; it need not be."""
    assert ["deferred-accepted agrees 1,2,3"] == says(put_off(), sign(), change())
    assert ["deferred-accepted unclear 1,2,3,4,5"] == says(put_off(), sign(), *closed(), read())
    late = payer().now.replace(day=19)
    assert [] == says(put_off(), sign(), change(at=late))


def test_before_and_after_are_judged_together():
    """Open before it is signed, and closed after that: some change is accepted."""
    assert ["deferred-accepted agrees 1,2"] == says(
        put_off(), change(None, "amount", amount="1.00"), sign(), *closed(), read()
    )


@for_each("ending", [Ending.STOPPED, Ending.DISCONNECTED, Ending.REFUSED])
def test_a_way_that_did_not_end_with_a_signature(ending):
    """Neither unsigned nor signed for sure."""
    assert [] == says(put_off(), sign(ending), *closed(), read())


# -- changes that have to be refused ------------------------------------------------
def test_other_modes_cannot_be_changed():
    """The same change of one that can be changed is the control."""
    control = [put_off("P9"), change(key="P9")]
    assert ["immediate-refused agrees 3,4"] == immediate(*control, make(), change(NO))
    assert ["instant-refused agrees 1,2"] == says(
        make(mode="instant"), change(NO), *control, facet="instant-refused"
    )


def test_an_accepted_change_of_another_mode_is_wrong():
    """With or without a control, signed or not."""
    assert ["immediate-refused disagrees 1,2"] == says(make(), change())
    assert ["instant-refused disagrees 1,2,3"] == says(make(mode="instant"), sign(), change())


def test_an_argument_that_it_did_not_have_is_a_change_too():
    """What was made with no day is given one."""
    assert ["immediate-refused disagrees 1,2"] == says(make(), change(None, "date"))


def test_everything_refused_is_no_virtue():
    """Without an accepted control a refusal earns nothing."""
    assert [] == says(put_off("P9"), change(NO, key="P9", varied=False), make(), change(NO))
    assert [] == says(make(), change(NO))


@for_each(
    "control",
    [
        [put_off("P9"), change(None, "creditorAccount", key="P9")],
        [put_off("P9"), change(key="P9", amount="1.00")],
        [payer("other", "B1"), put_off("P9", by="other"), change(key="P9", by="other")],
        [make(shown("P9", DONE), key="P9", **PUT_OFF), change(key="P9")],
        [make(shown("P9"), key="P9", mode="instant"), change(key="P9")],
    ],
)
def test_what_is_no_control(control):
    """The control is the same change, by the same, of a request that can be changed."""
    assert [] == immediate(*control, make(), change(NO))


@for_each(
    "how",
    [[sign()], [cancel()], [read(shown(state=DONE))], [read(shown(state=ENDED))]],
)
def test_a_refusal_for_another_reason_earns_nothing(how):
    """Only the mode may set it apart from its control."""
    control = [put_off("P9"), change(key="P9")]
    assert [] == immediate(*control, make(), *how, change(NO))


def test_who_is_not_known_is_not_refused():
    """A 401 says nothing of the mode; a failure leaves it open."""
    control = [put_off("P9"), change(key="P9")]
    assert [] == immediate(*control, make(), change(UNKNOWN))
    for came in (LOST, FAILED):
        assert ["immediate-refused unclear 3,4"] == immediate(*control, make(), change(came))


def test_what_was_carried_out_cannot_be_changed():
    """The control is a change of the same sort of request that was not executed."""
    done = [put_off(), sign(), read(shown(state=DONE))]
    control = [put_off("P9"), change(key="P9")]
    agrees = ["done-refused agrees 1,2,6"]
    assert agrees == when_done(*done, *control, change(NO))
    assert agrees == when_done(put_off(), sign(), effects("P1"), read(), *control, change(NO))
    assert [] == when_done(*done, change(NO))
    assert ["done-refused disagrees 1,2,4"] == says(*done, change())
    assert ["done-refused unclear 1,2,4"] == says(*done, change(LOST))


def test_nor_can_what_could_not_be_changed_before():
    """Accepted then, it is wrong twice; refused, it says nothing new."""
    done = [make(), sign(), read(shown(state=DONE))]
    assert {"immediate-refused disagrees 1,2,4", "done-refused disagrees 1,2,4"} == set(
        says(*done, change())
    )
    assert [] == when_done(*done, put_off("P9"), change(key="P9"), change(NO))


def test_modes_that_the_clause_does_not_name_are_not_judged():
    """Neither changed nor executed."""
    instant = [make(mode="instant"), change(), sign(), read(shown(state=DONE)), change(amount="1")]
    assert [] == says(*instant, never=["immediate"])


# -- what was accepted holds ----------------------------------------------------------
def test_a_change_is_read_back():
    """Each argument that was changed, as numbers where they are numbers."""
    fields = {"amount": "47.110", "creditorAccount": "C2", "date": "2026-09-20"}
    for name, value in fields.items():
        assert ["persists agrees 1,2,3"] == persists(
            put_off(), change(None, name), read(shown(**{name: value}))
        )
        former = {"amount": "12.30", "creditorAccount": "C1", "date": "2026-09-19"}[name]
        assert ["persists disagrees 1,2,3"] == persists(
            put_off(), change(None, name), read(shown(**{name: former}))
        )


def test_a_change_to_nothing_may_change_nothing():
    """A bank may read an empty value as one that is left out."""
    for shown_then, word in (("12.30", "unclear"), ("", "agrees")):
        assert [f"persists {word} 1,2,3"] == persists(
            put_off(), change(amount=""), read(shown(amount=shown_then))
        )


def test_the_answer_to_a_change_is_no_reading():
    """An OK that shows what was asked for has not kept it yet."""
    assert [] == persists(put_off(), change(shown(amount="47.11")))
    assert ["persists disagrees 1,2,3"] == persists(
        put_off(), change(shown(amount="47.11")), read(shown(amount="12.30"))
    )


@for_each("came", [NO, LOST, shown(), shown(state=ENDED)])
def test_what_is_not_shown_is_not_missed(came):
    """The next reading that shows it counts, and only that one."""
    right, wrong = read(shown(amount="47.11")), read(shown(amount="12.30"))
    assert ["persists agrees 1,2,4"] == persists(put_off(), change(), read(came), right, wrong)


@for_each("amount", ["12.30", "47.11", "9.99"])
def test_of_what_was_rejected_nothing_is_in_force(amount):
    """It may have been rejected for the change; then whatever it shows says nothing."""
    seen = read(shown(state=REJECTED, amount=amount))

    assert [] == persists(put_off(), change(), seen)
    assert ["persists disagrees 1,2,4"] == persists(
        put_off(), change(), seen, read(shown(amount="12.30"))
    )


@for_each("state", [OPEN, DONE, ENDED, None])
def test_of_all_else_the_change_is_in_force(state):
    """Whether it is executed, has ended or is not said to stand anywhere."""
    for amount, word in (("47.11", "agrees"), ("12.30", "disagrees")):
        assert [f"persists {word} 1,2,3"] == persists(
            put_off(), change(), read(shown(state=state, amount=amount))
        )


@for_each(
    "between",
    [
        change(LOST, amount="9.99"),
        modify(amount="9.99", by="other"),
        cancel(),
        cancel(LOST),
        withdrawn(),
        ask("modify-payment", LOST, arguments={KEY: "P1"}, malformed=Malformed.EMPTY),
    ],
)
def test_what_came_between_may_have_changed_it(between):
    """Then nobody knows what is in force."""
    assert [] == persists(put_off(), change(), between, read(shown(amount="12.30")))


@for_each(
    "between",
    [cancel(NO), withdrawn(done=False), modify(NO, amount="9.99", by="other"), sign()],
)
def test_what_was_refused_in_between_changed_nothing(between):
    """What was accepted as a change is in force."""
    (found,) = persists(put_off(), change(), between, read(shown(amount="12.30")))
    assert "disagrees" in found


def test_a_later_change_takes_the_place_of_the_former():
    """And one of something else does not."""
    assert ["persists agrees 1,3,5"] == persists(
        put_off(),
        change(LOST, amount="9.99"),
        change(),
        change(NO, amount="1.00"),
        read(shown(amount="47.11")),
    )
    assert ["persists agrees 1,2,4", "persists disagrees 1,3,4"] == persists(
        put_off(),
        change(),
        change(None, "creditorAccount"),
        read(shown(amount="47.11", creditorAccount="C1")),
    )


def test_what_should_have_been_refused_need_not_persist():
    """It is wrong that it was accepted, and that is said once."""
    read_back = read(shown(amount="12.30"))
    assert ["immediate-refused disagrees 1,2"] == says(make(), change(), read_back)


def test_a_stranger_reads_nothing():
    """What another TPP is shown is another matter."""
    other = read(shown(amount="12.30"), tpp="two")
    assert [] == persists(put_off(), change(), other)


def carried(amount="47.11", creditor="C2", on=20, **more):
    """Write down what the world says was executed."""
    fields = {"amount": amount, "creditorAccount": creditor, **more}
    effect = Effect(request="P1", on=date(2026, 9, on), fields=fields)
    return Effects(now=payer().now, done=(effect,))


def test_what_is_carried_out_is_what_was_changed():
    """Argument by argument, and on the day."""
    made = [put_off(), *(change(None, name) for name in OTHER), sign()]
    facet = "carried-out-as-changed"
    assert [f"{facet} agrees 1,{n}" for n in (2, 3, 4)] == says(*made, carried(), facet=facet)
    assert [
        f"{facet} {word} 1,{n}" for n, word in ((2, "disagrees"), (3, "agrees"), (4, "agrees"))
    ] == says(*made, carried(amount="12.30"), facet=facet)
    for wrong in ({"creditor": "C1"}, {"on": 19}):
        words = [line.split()[1] for line in says(*made, carried(**wrong), facet=facet)]
        assert ["agrees", "agrees", "disagrees"] == sorted(words)


def test_what_the_world_does_not_tell_is_not_judged():
    """It may tell of some arguments only."""
    effect = Effects(now=payer().now, done=(Effect(request="P1", on=date(2026, 9, 20)),))
    assert [] == as_changed(put_off(), change(), sign(), effect)


def test_a_day_later_may_be_the_next_working_day():
    """Too early is wrong; later is left open."""
    made = [put_off(), change(None, "date"), sign()]
    assert ["carried-out-as-changed unclear 1,2"] == as_changed(*made, carried(on=21))


def test_a_day_that_cannot_be_read_is_no_violation():
    """Accepted all the same, nobody knows which it is."""
    (found,) = as_changed(put_off(), change(None, "date", date="soon"), sign(), carried(on=19))
    assert "unclear" in found


def test_what_was_changed_back_shows_nothing():
    """It would have been executed so anyway; but not otherwise."""
    made = [put_off(), change(), change(amount="12.30"), sign()]
    facet = "carried-out-as-changed"
    assert [] == says(*made, carried(amount="12.30"), facet=facet)
    assert [] == says(put_off(), change(NO), sign(), carried(), facet=facet)
    assert [] == says(put_off(), sign(), carried(), facet=facet)


@for_each(
    "other",
    [
        change(LOST, amount="9.99"),
        modify(amount="9.99", by="other"),
        change(amount="9.99", at=payer().now.replace(day=19)),
        cancel(),
    ],
)
def test_what_may_have_been_changed_otherwise_is_no_violation(other):
    """Nobody knows what was in force when it was executed."""
    (found,) = as_changed(put_off(), change(), other, sign(), carried(amount="9.98"))
    assert "unclear" in found


def test_a_change_of_what_had_ended_is_no_violation():
    """Accepted or not, it need not be executed so."""
    for over in (cancel(), read(shown(state=ENDED))):
        (found,) = as_changed(put_off(), over, change(), carried(amount="1"))
        assert "unclear" in found


def test_a_change_after_it_was_carried_out_comes_too_late():
    """What was executed before need not be so."""
    first = carried(amount="47.11")
    assert ["carried-out-as-changed agrees 1,2"] == as_changed(
        put_off(), change(), first, change(amount="9.99"), first
    )
    assert [] == as_changed(
        put_off(),
        read(shown(state=DONE)),
        change(),
        carried(amount="12.30"),
        read(shown(amount="12.30")),
    )


def test_of_a_customer_who_existed_before_not_all_is_known():
    """Nothing from before explains a lost change, but a request of theirs may be an earlier one."""
    old = payer(fresh=False)
    assert ["persists disagrees 1,2,3"] == persists(
        put_off(), change(), read(shown(amount="12.30")), subject=old
    )
    assert ["carried-out-as-changed unclear 1,2"] == as_changed(
        put_off(), change(), carried(amount="1.00"), subject=old
    )


def test_a_key_that_came_twice_is_either_ones():
    """Nothing is said of it."""
    assert [] == says(put_off(), make(), change(), read(shown(amount="12.30")))


@for_each("came", [NO, LOST, FAILED, UNKNOWN])
def test_where_nothing_can_be_made_nothing_is_said(came):
    """A bank that refuses everything is not praised for it."""
    assert [] == says(put_off(came=came), change(came), make(came), change(came), read(came))


# -- the probe ------------------------------------------------------------------------
def test_without_an_operation_that_changes_there_is_nothing_to_ask():
    """And without an argument but the day, nothing to change in the other modes."""
    params = ruled("modify.deferred-only")
    assert () == replace(params, lifecycle=replace(params.lifecycle, change=None)).facets()
    params = ruled("modify.deferred-only", fields=["date"])
    assert ["deferred-accepted", "persists", "carried-out-as-changed"] == [
        facet.id for facet in params.facets()
    ]


def test_what_each_facet_needs():
    """Only what has to be signed needs somebody who signs, and only a day a clock."""
    params = ruled("modify.deferred-only")
    needs = {facet.id: facet.needs for facet in params.facets()}
    base = {Capability.PSU, Capability.WRITE}
    assert base == needs["deferred-accepted"] == needs["persists"] == needs["instant-refused"]
    assert base | {Capability.SCA, Capability.CLOCK} == needs["done-refused"]
    assert Capability.EFFECTS in needs["carried-out-as-changed"]


@for_each(
    ("day", "found"),
    [
        ("2026-09-16", []),
        ("2026-09-16T10:00:00Z", []),
        ("2026-09-19", ["deferred-accepted disagrees 1,2,3,4,6,7,8,9"]),
        (None, ["deferred-accepted disagrees 1,2,3,4,6,7,8,9"]),
    ],
)
def test_what_is_shown_for_another_day_may_not_be_put_off(day, found):
    """Then a change may be refused for that; null is no day."""
    twice = (*closed(), read(), sign(), *closed(), read())
    assert found == says(put_off(came=shown(date=day)), *twice)


def test_a_failure_is_no_refusal():
    """The same change of a request that can be changed is accepted beside it."""
    control = put_off("P9"), change(key="P9")
    broken = *control, make(), change(BROKEN)
    assert ["immediate-refused disagrees 3,4"] == immediate(*broken)
    alone = make(), change(BROKEN)
    assert ["immediate-refused unclear 1,2"] == immediate(*alone)
