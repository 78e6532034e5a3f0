"""`notice` looks for what was done before, without or against its customer's signature."""

from dataclasses import replace

from account_information import FAILED, LOST, NO, UNKNOWN
from payment_initiation import (
    DONE,
    ENDED,
    OPEN,
    REJECTED,
    check,
    effects,
    flow,
    make,
    payer,
    read,
    ruled,
    shown,
    sign,
)
from rows import for_each

from assay.contract.model import Capability
from assay.history import Decision, Ending, Wire
from assay.planning.plan import count_calls
from assay.testing import history

PUT_OFF = {"mode": "deferred", "date": "2026-09-19"}
LATER = {"mode": "deferred", "date": "2026-09-20"}
REFUSE = {"step": {"decision": Decision.REFUSE}, "ending": Ending.REFUSED}
SCREENS = ("login", "password")


def says(*events, subject=None, **changed):
    """Return what the check says of a history about one customer."""
    return check("sca.required", subject or payer(), *events, **changed)


def carried(key="P9", **how):
    """Write down a control: made, signed, and seen to be executed."""
    return flow(key=key, **how)


def stranger(ending=Ending.STOPPED, **how):
    """Write down that another customer tried to sign P1."""
    return sign(ending, step={"by": "other"}, **{"screens": SCREENS, **how})


def test_what_lies_unsigned_is_not_carried_out():
    """It agrees when its like was executed once it was signed."""
    assert ["nothing-before-signing agrees 1,2,3,4,5"] == says(make(), *carried(), read())


def test_what_was_not_looked_at_before_it_was_signed_says_nothing():
    """When it was executed, before or after the signature, nobody knows."""
    assert [] == says(*carried("P1"))


def test_a_look_too_early_says_nothing():
    """Its time had not come, for its like was not executed either; making it is no look."""
    assert [] == says(make(), read(), *carried())
    assert [] == says(make(), read(), sign(), read(shown(state=DONE)))
    assert [] == says(*carried(), make())


@for_each(
    "seen",
    [
        [make(), read(shown(state=DONE))],
        [make(shown(state=DONE))],
        [make(), effects("P1")],
        [make(**PUT_OFF), read(), read(shown(state=DONE))],
        [make(), read(shown(state=DONE)), sign(), read(shown(state=DONE))],
        [make(), sign(Ending.STOPPED, step={"decision": Decision.REFUSE}), effects("P1")],
    ],
)
def test_what_is_carried_out_unsigned_is_wrong(seen):
    """However that is known, and whatever is signed later; no control is needed."""
    (found,) = says(*seen)
    assert found.startswith("nothing-before-signing disagrees 1")


def test_the_world_outweighs_what_is_shown():
    """Shown as open, and executed all the same."""
    assert ["nothing-before-signing disagrees 1,2"] == says(make(), read(), effects("P1"))


def test_the_day_has_to_come():
    """The control is due no earlier, and had been executed when the other was looked at."""
    agrees = ["nothing-before-signing agrees 1,2,3,4,5"]
    unsigned = make(**PUT_OFF)
    assert agrees == says(unsigned, *carried(**LATER), read())
    assert agrees == says(unsigned, *carried(**PUT_OFF), read())
    assert [] == says(unsigned, read(), *carried(**LATER))
    earlier = {"mode": "deferred", "date": "2026-09-18"}
    assert [] == says(unsigned, *carried(**earlier), read())


def test_of_several_controls_the_last_day_counts():
    """A control of an earlier day beside it takes nothing away."""
    earlier = carried("P8", mode="deferred", date="2026-09-18")
    assert ["nothing-before-signing agrees 1,2,3,4,8"] == says(
        make(**PUT_OFF), *carried(**LATER), *earlier, read()
    )


def test_a_later_day_that_did_not_come_takes_nothing_away():
    """A control counts only once it was executed, and was signed before that."""
    still = [make(shown("P8"), key="P8", mode="deferred", date="2026-09-21"), sign(key="P8")]
    last = read(shown("P8"), key="P8")
    found = says(make(**PUT_OFF), *still, *carried(**LATER), last, read())
    assert ["nothing-before-signing agrees 1,4,5,6,8"] == found


def test_what_is_wrong_itself_is_no_control():
    """It was executed, and nobody had signed it."""
    found = says(make(), make(shown("P9"), key="P9"), read(shown("P9", DONE), key="P9"), read())
    assert ["nothing-before-signing unclear 1,4", "nothing-before-signing disagrees 2,3"] == found


def test_the_world_tells_of_all_at_once():
    """One word of the world is a look at the control and at the other."""
    assert ["nothing-before-signing agrees 1,2,3"] == says(
        make(**PUT_OFF), make(shown("P9"), key="P9", **LATER), sign(key="P9"), effects("P9")
    )


def test_without_a_control_nothing_is_earned():
    """Nothing shows that it would have been executed, had it been signed."""
    unclear = ["nothing-before-signing unclear 1,2"]
    assert unclear == says(make(), read())
    for like in (
        [make(shown("P9"), key="P9"), sign(key="P9")],
        carried(**LATER),
        carried(amount="0.01"),
        [payer("other", "B1"), *carried(by="other")],
        [make(shown("P9"), key="P9", tpp="two"), *carried()[1:]],
    ):
        (found,) = says(make(), *like, read())
        assert found.startswith("nothing-before-signing unclear")


@for_each("amount", ["0.01", "0.010"])
def test_a_value_that_might_exempt_is_a_facet_of_its_own(amount):
    """However it is spelt; and its control has the value, too."""
    assert ["even-amount agrees 1,2,3,4,5"] == says(
        make(amount=amount), *carried(amount="0.01"), read()
    )
    assert ["even-amount disagrees 1,2"] == says(make(amount=amount), read(shown(state=DONE)))
    assert ["even-amount unclear 1,5"] == says(make(amount=amount), *carried(), read())


@for_each("state", [OPEN, ENDED, REJECTED])
def test_what_was_refused_is_not_carried_out(state):
    """In whatever state it is then."""
    assert ["nothing-after-refusal agrees 1,2,3,4,5,6"] == says(
        make(), sign(**REFUSE), *carried(), read(shown(state=state))
    )


def test_a_value_that_is_not_there_exempts_nothing():
    """A request without the argument is one like any other."""
    assert ["nothing-before-signing unclear 1,2"] == says(make(without=("amount",)), read())


def test_what_was_refused_and_carried_out_is_wrong():
    """A look before the refusal makes no difference."""
    assert ["nothing-after-refusal disagrees 1,3,4"] == says(
        make(), read(), sign(**REFUSE), read(shown(state=DONE))
    )


def test_a_look_before_the_refusal_is_none_after_it():
    """It was not looked at again, so the look speaks of what went before."""
    (found,) = says(make(), *carried(), read(), sign(**REFUSE))
    assert found.startswith("nothing-before-signing agrees")


def test_who_refuses_and_then_signs_has_signed():
    """The last word is the customer's."""
    assert [] == says(make(), sign(**REFUSE), sign(), read(shown(state=DONE)))


def test_another_customer_cannot_sign():
    """It agrees where a stranger tried, and the owner's own signature does it."""
    assert ["only-the-owner agrees 1,2,3,4,5,6"] == says(make(), stranger(), *carried(), read())
    assert ["only-the-owner agrees 1,2,3,4,5,6"] == says(
        make(), stranger(Ending.CONFIRMED), *carried(), read(shown(state=REJECTED))
    )


def test_who_signs_what_names_nobody_may_be_its_payer():
    """A bank may let the signer choose the account, where the request leaves it open."""
    done = read(shown(state=DONE))
    for made in (make(debtorAccount=None), make(without=("debtorAccount",))):
        (found,) = says(made, stranger(Ending.CONFIRMED), done)
        assert "only-the-owner unclear 1,2,3" == found


def test_an_undecided_verdict_says_what_was_missing():
    """An unexecuted request lacks an executed control, whatever it names."""
    made = make(debtorAccount=None), stranger(Ending.CONFIRMED)
    for last, why in ((read(), "its control was not executed"), (read(shown(state=DONE)), "owner")):
        (found,) = ruled("sca.required").check(history(payer(), *made, last))
        assert found.seen.endswith(why)


@for_each("ending", [Ending.CONFIRMED, Ending.STOPPED, Ending.DISCONNECTED])
def test_what_another_customer_signed_is_not_carried_out(ending):
    """Whatever the screens said in the end."""
    assert ["only-the-owner disagrees 1,2,3"] == says(
        make(), stranger(ending), read(shown(state=DONE))
    )


@for_each("how", [{"screens": ()}, {"status": 0}, {"status": 503}])
def test_a_stranger_who_never_got_to_a_screen_shows_nothing(how):
    """Where the screens failed, nobody was kept from signing."""
    status = how.pop("status", 200)
    tried = replace(stranger(**how), wire=Wire(method="POST", url="/sign", status=status))
    assert [] == says(make(), tried, *carried(), read())


def test_the_owners_own_way_is_no_strangers():
    """A stranger who was kept from the screens, and an owner who refused without an end."""
    owner = sign(Ending.STOPPED, step={"decision": Decision.REFUSE}, screens=SCREENS)
    assert [] == says(make(), stranger(screens=()), owner, *carried(), read())


@for_each("ending", [Ending.STOPPED, Ending.DISCONNECTED])
def test_a_signature_whose_end_was_not_seen_leaves_doubt(ending):
    """It may have been taken, and then it is no wonder that it was executed."""
    assert [] == says(make(), sign(ending), read(shown(state=DONE)))
    assert [] == says(make(), sign(ending), *carried(), read())


@for_each("ending", [Ending.STOPPED, Ending.DISCONNECTED])
def test_who_was_to_refuse_may_have_signed_on_the_way(ending):
    """The target file may name a screen for the decision that the bank does not have."""
    refused = sign(ending, step={"decision": Decision.REFUSE}, screens=SCREENS)
    assert [] == says(make(), refused, read(shown(state=DONE)))
    nothing = sign(ending, step={"decision": Decision.REFUSE}, screens=())
    assert ["nothing-before-signing disagrees 1,2,3"] == says(
        make(), nothing, read(shown(state=DONE))
    )


def test_nobody_knows_what_was_done_before():
    """Of a customer who existed before, somebody may have signed it elsewhere."""
    old = payer(fresh=False)
    assert ["nothing-before-signing unclear 1,2"] == says(
        make(), read(shown(state=DONE)), subject=old
    )
    assert [] == check("sca.required", make(), read(shown(state=DONE)))[1:]
    assert "unclear" in check("sca.required", make(), read(shown(state=DONE)))[0]


def test_a_key_that_came_twice_is_either_ones():
    """A bank that gives the same request back has not executed the second one unsigned."""
    again = make(shown(state=DONE))
    assert [] == says(*carried("P1"), again)


@for_each("came", [NO, LOST, FAILED, UNKNOWN])
def test_everything_refused_or_lost_earns_nothing(came):
    """There is no request to speak of."""
    assert [] == says(make(came), read(came), make(came, key="P9"), read(came, key="P9"))
    assert [] == says(make(), *carried(), read(came))


def test_a_state_that_the_profile_does_not_know_says_nothing():
    """Neither done nor not done."""
    assert [] == says(make(shown(state=None)), *carried(), read(shown(state=None)))


def test_other_modes_are_not_spoken_of():
    """The clause names the modes that it is about."""
    assert [] == says(make(mode="instant"), read(shown(state=DONE)), modes=["immediate"])


def test_what_the_report_says():
    """What sets it apart stands in the call or in the signature; and why it is in doubt."""
    params = ruled("sca.required")

    def first(*events):
        return next(iter(params.check(history(payer(), *events))))

    unsigned = first(make(variation="never signed"), read(shown(state=DONE)))
    assert ("never signed", "it was accepted (200), then executed") == (
        unsigned.variation,
        unsigned.seen,
    )
    step = {"decision": Decision.REFUSE, "variation": "the customer refuses"}
    refused = first(make(), sign(Ending.REFUSED, step=step), read())
    assert "the customer refuses" == refused.variation
    assert refused.seen.endswith("then open; its control was not executed")
    events = history(payer(fresh=False), make(), read(shown(state=DONE)))
    (doubtful,) = params.check(events)
    assert doubtful.seen.endswith("it may have been signed before this history")


def test_modes_are_optional():
    """The plain mode is tried where none is named, and then no clock is needed."""
    params = ruled("sca.required", modes=[], even={})
    assert ("immediate",) == params.modes
    assert ["nothing-before-signing", "nothing-after-refusal", "only-the-owner"] == [
        facet.id for facet in params.facets()
    ]
    assert not any(Capability.CLOCK in facet.needs for facet in params.facets())
    assert [5, 6, 6] == [count_calls(params, facet.scenario) for facet in params.facets()]


def test_a_stranger_signs_what_would_be_done_at_once():
    """Of several modes the first that waits for no day; only where all do, one that does."""
    params = ruled("sca.required", modes=["deferred", "immediate"])
    assert ["immediate"] == [one.mode for one in params.variants("another")]
    params = ruled("sca.required", modes=["deferred"])
    assert ["deferred"] == [one.mode for one in params.variants("another")]
    assert all(Capability.CLOCK in facet.needs for facet in params.facets())
