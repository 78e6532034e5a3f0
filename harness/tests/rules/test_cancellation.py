"""`cancellation` asks whether what was cancelled is shown so, and never executed."""

from dataclasses import replace
from functools import partial

from account_information import AT, BROKEN, FAILED, LOST, NO, UNKNOWN
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
    ruled,
    shown,
    sign,
    withdrawn,
)
from rows import for_each

from assay.contract.model import Capability
from assay.history import Ending
from assay.testing import history

PUT_OFF = {"mode": "deferred", "date": "2026-09-19"}
LATER = {"mode": "deferred", "date": "2026-09-20"}
LATE = AT.replace(day=19)
NEVER_P, NEVER_C = "by-tpp-never-done", "by-customer-never-done"
SHOWN_P, SHOWN_C = "by-tpp-shown", "by-customer-shown"


def says(*events, facet=None, subject=None):
    """Return what the check says of a history, of one facet or of all."""
    return check("cancel", subject or payer(), *events, facet=facet)


taken = partial(says, facet="accepted")
shown_so = partial(says, facet=SHOWN_P)
never_done = partial(says, facet=NEVER_P)


def put_off(key="P1", came=None, **how):
    """Write down that a request was made that waits for its day."""
    return make(came or shown(key), key=key, **{**PUT_OFF, **how})


def carried(**how):
    """Write down a control: signed, not cancelled, and seen to be executed."""
    return flow(key="P9", **{**LATER, **how})


# -- whether it is taken ----------------------------------------------------------------
@for_each(
    ("at", "came", "says_"),
    [
        (AT, BROKEN, ["accepted disagrees 1,2", "accepted agrees 3,4,5"]),
        (AT, FAILED, ["accepted agrees 3,4,5"]),
        (LATE, BROKEN, ["accepted unclear 1,2", "accepted agrees 3,4,5"]),
    ],
)
def test_a_cancellation_that_comes_in_time_is_not_answered_by_a_server_error(at, came, says_):
    """Another one, after a signature, was accepted: the target fails over an unsigned request."""
    other = put_off("P2", at=at), sign(key="P2", at=at), cancel(key="P2", at=at)

    assert says_ == taken(put_off(), cancel(came, at=at), *other)


def test_a_cancellation_is_accepted():
    """Before it is signed, and after."""
    assert ["accepted agrees 1,2"] == taken(put_off(), cancel())
    assert ["accepted agrees 1,2,3"] == taken(put_off(), sign(), cancel())


def test_a_request_that_can_never_be_cancelled_is_wrong():
    """Refused unsigned and signed, and seen open after that, so nothing stood in the way."""
    unsigned, signed = [put_off(), cancel(NO), read()], [sign(), cancel(NO), read()]
    assert ["accepted disagrees 1,2,4,5"] == says(*unsigned, *signed)
    other = [put_off("P2"), sign(key="P2"), cancel(NO, key="P2"), read(shown("P2"), key="P2")]
    assert ["accepted disagrees 1,2,4,5,6"] == says(*unsigned, *other)


def test_until_when_a_request_can_be_cancelled_is_open():
    """Refused at one time only, it may be accepted at the other."""
    assert ["accepted unclear 1,2"] == says(put_off(), cancel(NO), read())
    assert ["accepted unclear 1,2,3"] == says(put_off(), sign(), cancel(NO), read())
    assert ["accepted agrees 1,4,5"] == taken(put_off(), cancel(NO), read(), sign(), cancel())


@for_each(
    "then",
    [[], [read(LOST)], [read(shown(state=REJECTED))], [read(shown(state=None))]],
)
def test_a_refused_cancellation_of_who_knows_what(then):
    """It may have been rejected when it was signed."""
    assert ["accepted unclear 1,2,3"] == says(put_off(), sign(), cancel(NO), *then)


@for_each("came", [LOST, FAILED, UNKNOWN])
def test_what_is_no_refusal_leaves_doubt(came):
    """A bank that fails, or does not know who asks, has not said no."""
    assert ["accepted unclear 1,2"] == says(put_off(), cancel(came), read())


@for_each(
    "bent",
    [{"variation": "cancellation: null"}, {"without": ("cancellation",)}],
)
@for_each("before", [[], [sign()]])
def test_what_is_no_plain_cancellation_may_be_refused(before, bent):
    """It may have asked for something else; taken all the same, it is one."""
    events = [put_off(), *before, read()]

    def sent(came=None):
        mine = cancel(came)
        return replace(mine, call=replace(mine.call, **bent))

    assert [] == says(*events, sent(NO), read())
    assert ["unclear"] == [line.split()[1] for line in says(*events, cancel(NO), read())]
    assert ["accepted agrees", f"{SHOWN_P} disagrees"] == [
        line.rpartition(" ")[0] for line in says(*events, sent(), read())
    ]
    (found,) = never_done(*events, sent(), effects("P1"))
    assert found.startswith(f"{NEVER_P} disagrees 1")


def test_a_request_that_was_changed_is_cancelled_as_it_is():
    """Executed all the same, it was not; nor seen executed beside one that was, it was."""
    changed = [put_off(), sign(), modify(amount="13.00"), cancel()]
    (found,) = never_done(*changed, effects("P1"))
    assert found.startswith(f"{NEVER_P} disagrees 1,2,3")
    (found,) = never_done(*changed, *carried(), effects("P9"), read(shown(state=ENDED)))
    assert found.startswith(f"{NEVER_P} agrees 1,2,3")


def test_a_bent_cancellation_that_was_refused_leaves_the_next_one_to_be_judged():
    """It has not ended anything."""
    bent = cancel(NO)
    bent = replace(bent, call=replace(bent.call, without=("cancellation",)))

    assert ["accepted unclear 1,3"] == says(put_off(), bent, cancel(NO), read())
    assert ["accepted agrees 1,3"] == taken(put_off(), bent, cancel())


@for_each("ending", [Ending.STOPPED, Ending.DISCONNECTED, Ending.REFUSED])
def test_after_a_way_that_did_not_end_with_a_signature(ending):
    """It is neither unsigned nor signed for sure."""
    for came in (None, NO):
        assert ["accepted unclear 1,2,3"] == taken(put_off(), sign(ending), cancel(came), read())


def test_from_its_day_on_it_may_be_too_late():
    """Nothing is said of a refusal then, nor where nobody can tell the day."""
    for made, at in ((put_off(), LATE), (put_off(date="soon"), None)):
        assert [] == says(made, cancel(NO, at=at), read())
        assert ["accepted agrees 1,2"] == says(made, cancel(at=at))


@for_each(
    ("before", "found"),
    [
        (cancel(), ["accepted agrees 1,2"]),
        (cancel(LOST), ["accepted unclear 1,2"]),
        (withdrawn(), []),
        (read(shown(state=ENDED)), []),
        (read(shown(state=DONE)), []),
        (effects("P1"), []),
    ],
)
def test_what_is_over_cannot_be_cancelled(before, found):
    """Whatever is said then is nobody's business."""
    for came in (None, NO):
        assert found == taken(put_off(), before, cancel(came), read())


def test_other_modes_and_other_people_are_not_judged():
    """The clause names the mode; a stranger has nothing to cancel."""
    assert [] == says(make(), cancel(NO), read())
    assert [] == says(make(), cancel(), read())
    mine = cancel(NO)
    for how in ({"by": "two"}, {"subject": "other"}, {"credentials": True}):
        assert [] == says(put_off(), replace(mine, call=replace(mine.call, **how)), read())


# -- how it is shown --------------------------------------------------------------------
@for_each("state", [ENDED, REJECTED])
def test_what_was_cancelled_is_shown_so(state):
    """In whatever words a bank has for it; by whomever it was cancelled."""
    assert [f"{SHOWN_P} agrees 1,3"] == shown_so(put_off(), cancel(), read(shown(state=state)))
    assert [f"{SHOWN_C} agrees 1,2"] == says(put_off(), withdrawn(), read(shown(state=state)))


@for_each("state", [OPEN, DONE])
def test_what_was_cancelled_and_shown_as_before_is_wrong(state):
    """Every reading counts."""
    assert [f"{SHOWN_P} agrees 1,3", f"{SHOWN_P} disagrees 1,4"] == shown_so(
        put_off(), cancel(), read(shown(state=ENDED)), read(shown(state=state))
    )
    assert [f"{SHOWN_C} disagrees 1,2"] == says(
        put_off(), withdrawn(), read(shown(state=state)), facet=SHOWN_C
    )


def test_what_ended_before_shows_nothing():
    """It has to be seen open after it was signed, for signing may have ended it."""
    assert [] == shown_so(put_off(), sign(), cancel(), read(shown(state=ENDED)))
    assert [f"{SHOWN_P} agrees 1,5"] == shown_so(
        put_off(), sign(), read(), cancel(), read(shown(state=ENDED))
    )
    assert [] == shown_so(
        put_off(), read(shown(state=REJECTED)), cancel(), read(shown(state=REJECTED))
    )


def test_the_answer_to_a_cancellation_is_no_reading():
    """An OK that shows it as before has not been read again."""
    assert [] == shown_so(put_off(), cancel(shown(state=OPEN)))


@for_each("came", [NO, LOST, FAILED, UNKNOWN])
def test_a_cancellation_that_was_not_taken_is_not_shown(came):
    """Nor is one that nobody knows of."""
    assert [] == shown_so(put_off(), cancel(came), read())
    assert [] == says(put_off(), withdrawn(done=False), read())


def test_what_was_done_with_it_after_that_leaves_doubt():
    """A change that was taken, or a signature, may have brought it back."""
    for after in (modify(amount="1.00"), sign()):
        assert [f"{SHOWN_P} unclear 1,4"] == shown_so(put_off(), cancel(), after, read())


def test_a_late_cancellation_is_shown_too():
    """It was accepted, and it is open as if nothing had been."""
    assert [f"{SHOWN_P} disagrees 1,5"] == shown_so(
        put_off(), sign(), read(), cancel(at=LATE), read()
    )


def test_a_late_cancellation_of_what_was_carried_out():
    """Done is what it was, and it may have been so before."""
    assert [f"{SHOWN_P} unclear 1,4"] == shown_so(
        put_off(), sign(), cancel(at=LATE), read(shown(state=DONE))
    )


# -- what is done -----------------------------------------------------------------------
@for_each(("facet", "done"), [(NEVER_P, cancel()), (NEVER_C, withdrawn())])
def test_what_was_cancelled_is_not_carried_out(facet, done):
    """Its control was, on a day no earlier."""
    history = [put_off(), sign(), done, *carried(), read(shown(state=ENDED))]
    (found,) = says(*history, facet=facet)
    assert found.startswith(f"{facet} agrees 1,2")
    (found,) = says(*history[:3], *carried(date="2026-09-19"), history[-1], facet=facet)
    assert "agrees" in found


def test_of_several_controls_the_last_day_counts():
    """One that was due before adds nothing, and takes nothing away."""
    earlier = {"mode": "deferred", "date": "2026-09-18"}
    first = [
        make(shown("P8"), key="P8", **earlier),
        sign(key="P8"),
        read(shown("P8", DONE), key="P8"),
    ]
    for controls in ([*first, *carried()], [*carried(), *first]):
        history = [put_off(), sign(), cancel(), *controls, read(shown(state=ENDED))]
        (found,) = never_done(*history)
        assert "agrees" in found


@for_each(("facet", "done"), [(NEVER_P, cancel()), (NEVER_C, withdrawn())])
def test_what_was_cancelled_and_carried_out_is_wrong(facet, done):
    """Signed or not, shown or not, with a control or without."""
    for known in (read(shown(state=DONE)), effects("P1")):
        for before in ([], [sign()]):
            (found,) = says(put_off(), *before, done, known, facet=facet)
            assert found.startswith(f"{facet} disagrees 1")
    (found,) = says(put_off(), sign(), done, read(shown(state=ENDED)), effects("P1"), facet=facet)
    assert "disagrees" in found


def test_the_first_to_cancel_is_who_cancelled():
    """What comes after that adds nothing."""
    found = says(put_off(), sign(), withdrawn(), cancel(), effects("P1"))
    assert any(one.startswith(f"{NEVER_C} disagrees") for one in found)
    assert not any(one.startswith(NEVER_P) for one in found)


@for_each(
    "control",
    [
        [],
        carried(date="2026-09-18"),
        [put_off("P9", **LATER), read(shown("P9", DONE), key="P9")],
        [put_off("P9", **LATER), sign(key="P9"), read(shown("P9"), key="P9")],
        [*carried()[:2], cancel(LOST, key="P9"), carried()[2]],
        [payer("other", "B1"), *carried(by="other")],
        [make(shown("P9"), key="P9", mode="instant", date="2026-09-20"), *carried()[1:]],
        [*carried()[:2], withdrawn(key="P9"), carried()[2]],
        carried(date="soon"),
    ],
)
def test_without_its_control_nothing_is_earned(control):
    """Nothing shows that the day has come, and that a signature is enough."""
    history = [put_off(), sign(), cancel(), *control, read(shown(state=ENDED))]
    assert [] == never_done(*history)


def test_it_has_to_be_looked_at_when_the_day_has_come():
    """And it has to have been signed, for what nobody signed is not executed anyway."""
    assert [] == never_done(put_off(), sign(), cancel(), read(shown(state=ENDED)), *carried())
    assert [] == never_done(put_off(), cancel(), *carried(), read(shown(state=ENDED)))
    assert [] == never_done(put_off(), sign(Ending.STOPPED), cancel(), *carried(), read(shown(state=ENDED)))  # fmt: skip


def test_the_world_tells_of_all_at_once():
    """One word of the world is a look at the control and at the other."""
    (found,) = never_done(put_off(), sign(), cancel(), *carried()[:2], effects("P9"))
    assert "agrees" in found


def test_a_cancellation_that_came_too_late_is_no_violation():
    """It may have been executed before; known to have been, it is no matter at all."""
    assert "unclear" in never_done(put_off(), sign(), cancel(at=LATE), read(shown(state=DONE)))[0]
    assert [] == never_done(
        put_off(), sign(), read(shown(state=DONE)), cancel(), read(shown(state=DONE))
    )


@for_each("after", [modify(amount="1.00"), sign()])
def test_what_was_brought_back_is_no_violation(after):
    """Nobody says that a cancelled request stays so whatever is done with it."""
    (found,) = never_done(put_off(), sign(), cancel(), after, effects("P1"))
    assert "unclear" in found


@for_each("came", [NO, LOST, FAILED])
def test_what_was_not_cancelled_is_carried_out(came):
    """As it should be; a lost cancellation may or may not have been taken."""
    assert [] == never_done(put_off(), sign(), cancel(came), effects("P1"))
    assert [] == says(put_off(), sign(), withdrawn(done=False), effects("P1"))


def test_a_key_that_came_twice_is_either_ones():
    """Nothing is said of it."""
    assert [] == says(put_off(), put_off(), sign(), cancel(), effects("P1"))


@for_each("came", [NO, LOST, FAILED, UNKNOWN])
def test_where_nothing_can_be_made_nothing_is_said(came):
    """A bank that refuses everything does not conform by executing nothing."""
    assert [] == says(put_off(came=came), cancel(came), withdrawn(), read(came), effects("P7"))


# -- the probe --------------------------------------------------------------------------
def test_what_the_report_says():
    """That it is to be accepted at some time, and how it was shown then."""
    params = ruled("cancel")
    unsigned = [put_off(), cancel(), read()]
    signed = [put_off("P2"), sign(key="P2"), cancel(key="P2"), read(shown("P2", DONE), key="P2")]
    found = list(params.check(history(payer(), *unsigned, *signed)))
    assert ["a cancellation to be accepted, before signing or after"] == [
        one.expected for one in found if one.facet == "accepted"
    ]
    assert ["it is open", "it is done"] == [one.seen for one in found if one.facet == SHOWN_P]


def test_without_an_operation_that_ends_only_the_customer_is_left():
    """And what the customer does takes access of his own, and the day a clock."""
    params = ruled("cancel")
    found = replace(params, lifecycle=replace(params.lifecycle, end=None)).facets()
    assert [SHOWN_C, NEVER_C] == [one.id for one in found]
    assert all(Capability.DIRECT_ACCESS in one.needs for one in found)
    assert [False, True] == [Capability.CLOCK in one.needs for one in found]
    own = [facet for facet in params.facets() if facet.id.startswith(("by-tpp", "accepted"))]
    assert 3 == len(own)
    assert not any(Capability.DIRECT_ACCESS in one.needs for one in own)
