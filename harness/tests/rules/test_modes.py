"""`modes` judges who may ask in which mode, by a control in a plain one."""

from dataclasses import replace
from datetime import timedelta

from account_information import AT, NO
from payment_initiation import (
    DONE,
    OPEN,
    PIS,
    REJECTED,
    carrying_out,
    check,
    make,
    payer,
    price,
    probed,
    read,
    registered,
    ruled,
    shown,
    sign,
)
from rows import for_each

from assay.contract.model import Capability
from assay.history import Arrange, Call, Lack, Lacking, Malformed
from assay.rules.kinds.requests.modes import Modes
from assay.rules.verdict import Standing
from assay.testing import count_calls, history, play

LATER = "2026-09-21"
DEFERRED = make(mode="deferred", date=LATER)
LACKING = Lacking(mode="instant", now=AT)


def types(*events, who=None):
    return check("payment-types", who or payer(), *events)


def single(*events, who=None):
    return check("single", who or payer(), *events)


def several(came=None, **changes):
    return make(came or shown("P2"), mode="several", **changes)


# -- modes that are served ------------------------------------------------------------
def test_what_is_served_is_accepted():
    """Each acceptance is one for its mode."""
    assert ["immediate agrees 1", "deferred agrees 2"] == types(make(), DEFERRED)


def test_a_refusal_beside_an_accepted_one_is_a_violation():
    """The same request, accepted in another mode, shows that it is the mode that is refused."""
    assert ["deferred agrees 1", "immediate disagrees 1,2"] == types(DEFERRED, make(NO))
    assert ["deferred disagrees 1,2", "immediate agrees 2"] == types(
        make(NO, mode="deferred", date=LATER), make()
    )


def test_one_that_ended_rejected_is_not_served():
    """Another rule may have rejected it, or time may: nothing is shown then, and never that it is served."""
    rejected = read(shown("P2", REJECTED), key="P2")
    assert ["deferred agrees 1", "immediate unclear 2,3,4"] == types(
        DEFERRED, make(shown("P2")), sign(key="P2"), rejected
    )
    late = replace(rejected, at=AT + timedelta(hours=1))
    assert ["deferred agrees 1"] == types(DEFERRED, make(shown("P2")), late)


@for_each(
    "refused",
    [
        make(NO, amount="12.31"),
        make(NO, without=("categoryPurpose",)),
        make(NO, tpp="another"),
        make(NO, host=0),
        make(NO, debtorAccount="A2"),
        make(NO, by="other", debtorAccount="B1"),
        make(NO, by="joint"),
        make(NO, by="stranger"),
        make(NO, at=AT + timedelta(minutes=6)),
        make(NO, date=LATER),
        make(NO, mode="deferred"),
        make(NO, mode="deferred", date="soon"),
        make(NO, mode="deferred", date="2026-09-16"),
        make(NO, mode="deferred", date="2027-09-19"),
    ],
)
def test_a_refusal_for_another_reason_is_no_violation(refused):
    """Whatever else differs from what was accepted may have been why."""
    who = payer("psu", "A1", "A2"), payer("other", "B1"), payer("joint", "A1")
    said = check("payment-types", *who, make(), DEFERRED, refused)
    assert ["immediate agrees 1", "deferred agrees 2"] == said


@for_each(
    ("accepted", "refused"),
    [
        ({"debtorAccount": "B1"}, {"without": ("debtorAccount",)}),
        ({"without": ("debtorAccount",)}, {"debtorAccount": "B1"}),
        ({"debtorAccount": "B1"}, {"debtorAccount": "unheard-of"}),
        ({"debtorAccount": "B1"}, {"debtorAccount": ""}),
        ({"without": ("debtorAccount",)}, {}),
        ({"without": ("debtorAccount",)}, {"debtorAccount": None}),
        ({"debtorAccount": None}, {"without": ("debtorAccount",)}),
    ],
)
def test_what_is_not_the_customers_is_no_control_for_anything_else(accepted, refused):
    """Another's account, one that nobody has and none at all are three things."""
    who = payer(), payer("other", "B1")
    control = make(mode="deferred", date=LATER, **accepted)

    assert ["deferred agrees 1"] == check("payment-types", *who, control, make(NO, **refused))
    assert ["deferred agrees 1", "immediate disagrees 1,2"] == check(
        "payment-types", *who, control, make(NO, **accepted)
    )
    assert [] == check("single", *who, make(**accepted), several(NO, **refused))
    assert ["several-refused agrees 1,2"] == check(
        "single", *who, make(**accepted), several(NO, **accepted)
    )


def test_a_call_that_is_bent_on_purpose_is_none_of_these():
    """Neither a broken body nor credentials make an attempt, and neither is a control."""
    for words in ({"malformed": Malformed.DEEP}, {"credentials": True}, {"follow": "x"}):
        bent = make(NO)
        bent = replace(bent, call=replace(bent.call, **words))
        assert ["deferred agrees 1"] == types(DEFERRED, bent)


def test_a_repeat_of_one_that_was_signed_is_no_violation():
    """It may be refused for being one."""
    events = make(), sign(), make(NO), replace(DEFERRED, outcome=shown("P3").outcome)
    assert ["immediate agrees 1,2", "deferred agrees 4"] == types(*events)


@for_each(
    ("amount", "said"),
    [("17.11", "disagrees"), ("17.10", "unclear"), ("12.31", "unclear")],
)
def test_an_amount_that_nobody_asked_for_before(amount, said):
    """The minute of the refusal, as cents more: no request from before the history has it."""
    refused = make(NO, mode="deferred", date=LATER)
    again = make(NO, mode="deferred", date=LATER, amount=amount)
    events = refused, make(), again, make(shown("P4"), amount=amount)
    first, second, third, fourth = types(*events, who=payer(fresh=False))
    assert ("deferred unclear 1", "immediate agrees 2") == (first[:18], second)
    assert (f"deferred {said} 3", "immediate agrees 4") == (third.partition(",")[0], fourth)


def test_the_amount_of_another_customer_shows_nothing():
    """Who was not refused before has no reason to ask for just this amount."""
    again = make(NO, mode="deferred", date=LATER, amount="17.11")
    said = types(again, make(shown("P4"), amount="17.11"), who=payer(fresh=False))
    assert "deferred unclear 1,2" == said[0]


@for_each(
    ("fresh", "refuses", "asked"),
    [
        (True, "deferred", ["deferred", "immediate"]),
        (False, "", ["deferred", "immediate"]),
        (False, "deferred", ["deferred", "immediate", "deferred 17.11", "immediate 17.11"]),
        (False, "immediate", ["deferred", "immediate", "immediate 17.11", "deferred 17.11"]),
        (False, "deferred immediate", ["deferred", "immediate"]),
    ],
)
def test_what_a_real_customer_is_refused_is_asked_again(fresh, refuses, asked):
    """With another amount, beside a control; at a bank that accepts it, nothing more is spent."""
    clause = ruled("payment-types")
    seen = []

    def bank(call):
        amount = call.arguments.get("amount", "12.30")
        seen.append(f"{call.mode} {amount}".removesuffix(" 12.30"))
        return NO if call.mode in refuses.split() else shown(f"P{len(seen)}")

    def reply(step, reply):
        match step:
            case Arrange():
                return replace(reply, fresh=fresh)
            case Call():
                sent = {"amount": "12.30", **step.arguments}
                return replace(reply, call=replace(step, arguments=sent))
        return reply

    play(clause, "served", bank, reply=reply)
    assert asked == seen


def test_what_a_customer_has_registered_may_matter():
    """Where a rule speaks of what is sent and of registrations, their age may decide."""
    cash = {"categoryPurpose": "CASH"}
    deferred = make(mode="deferred", date=LATER, **cash)
    assert [] == types(registered(71), deferred, make(NO, **cash))


def test_only_customers_with_the_same_registrations_are_compared():
    """A registration between the two requests may have made the difference."""
    said = ["deferred agrees 1", "immediate disagrees 1,2"]
    assert said == types(registered(71), DEFERRED, make(NO))
    assert said == types(DEFERRED, make(NO), registered(71))
    assert ["deferred agrees 1"] == types(DEFERRED, registered(71), make(NO))


# -- modes that are offered somewhere ---------------------------------------------------
def test_a_mode_is_accepted_where_it_is_offered():
    """A refusal counts beside a plain request, as it does for other modes."""
    assert ["immediate agrees 1", "instant-offered agrees 2"] == types(
        make(), make(shown("P2"), mode="instant")
    )
    assert ["immediate agrees 1", "instant-offered disagrees 1,2"] == types(
        make(), make(NO, mode="instant")
    )
    assert [] == types(make(NO), make(NO, mode="instant"))


def test_a_mode_is_rejected_where_it_is_not_offered():
    """At once, or after signing, beside a plain one that went on."""
    assert ["immediate agrees 1", "instant-not-offered agrees 1,2"] == check(
        "payment-types", LACKING, payer(), make(), make(NO, mode="instant")
    )
    assert ["immediate agrees 1,4,5", "instant-not-offered agrees 1,2,3,4,5,6"] == check(
        "payment-types",
        LACKING,
        payer(),
        make(),
        make(shown("P2"), mode="instant"),
        sign(key="P2"),
        sign(),
        read(shown(state=DONE)),
        read(shown("P2", REJECTED), key="P2"),
    )


def test_carrying_it_out_where_it_is_not_offered_is_a_violation():
    """It needs no control to be wrong."""
    events = make(shown("P2"), mode="instant"), sign(key="P2"), read(shown("P2", DONE), key="P2")
    assert ["instant-not-offered disagrees 1,2,3"] == check(
        "payment-types", LACKING, payer(), *events
    )


def test_another_bank_is_no_control():
    """What one bank accepted tells nothing of one that lacks a mode."""
    events = payer(), make(), LACKING, payer(), make(NO), make(NO, mode="instant")
    assert ["immediate agrees 1"] == check("payment-types", *events)


# -- modes that are refused -------------------------------------------------------------
def test_the_rejection_of_a_repeat_shows_nothing():
    """At once or late, it may be for being one, when the control was signed before it was made."""
    assert [] == single(make(), sign(), several(NO))
    late = several(), sign(key="P2"), read(shown("P2", REJECTED), key="P2")
    said = single(make(), sign(), read(shown(state=DONE)), *late)
    assert ["several-refused unclear 4,5,6"] == said


# -- the probes ---------------------------------------------------------------------------
@for_each(
    ("clause", "scenario", "modes"),
    [
        ("payment-types", "served", ["deferred", "immediate"]),
        ("payment-types", "instant:offered", ["immediate", "instant", None]),
        ("payment-types", "instant:not-offered", ["immediate", "instant"]),
        ("single", "several:refused", ["immediate", "several"]),
    ],
)
def test_a_bank_that_says_no_costs_what_was_planned(clause, scenario, modes):
    """Each mode is asked for once, with a day where it is put off to one."""

    def bank(call, key):
        plain = call.mode in {"immediate", "deferred"} or scenario == "instant:offered"
        return shown(key) if plain else NO

    played, said = probed(clause, scenario, bank)
    asked = [call.mode for call in played.calls]
    assert (modes, price(clause, scenario)) == (asked, played.spent)
    assert [step.mode == "deferred" for step in played.calls] == [
        "date" in step.arguments for step in played.calls
    ]
    assert all(line.endswith("agrees") for line in said)
    wanted = {id_ for id_, one in facets(clause).items() if one.scenario.id == scenario}
    assert set() < wanted <= {line.partition(" ")[0] for line in said}


def facets(clause):
    """Return the facets of a clause by id."""
    params = ruled(clause)
    return {facet.id: facet for facet in params.facets()}


def test_what_should_have_been_rejected_is_signed_to_see():
    """And read, so that a lenient bank is found."""
    played, said = probed("single", "several:refused", carrying_out)
    assert ["R200-0001-4711"] == [step.request for step in played.signatures]
    assert ["several-refused disagrees"] == said


def test_a_mode_that_is_offered_counts_when_it_is_signed():
    """Accepted, and then rejected, while a like request is carried out, is not served."""

    def bank(call, key):
        late = call.arguments.get("paymentRequestResourceId")
        return shown(late or key, {None: OPEN, "R200-0001-4711": REJECTED}.get(late, DONE))

    _, said = probed("payment-types", "instant:offered", bank)
    assert ["immediate agrees", "instant-offered disagrees"] == sorted(said)
    events = payer(), make(), make(mode="instant", came=shown("P2")), sign(key="P2")
    rejected = read(shown("P2", REJECTED), key="P2")
    said = check("payment-types", *events, rejected)
    assert ["immediate agrees 1", "instant-offered unclear 2,3,4"] == said


def test_a_late_rejection_is_compared_with_the_control():
    """The control is signed after it, and only then."""

    def bank(call, key):
        late = call.arguments.get("paymentRequestResourceId")
        return shown(late or key, {None: OPEN, "R200-0001-4711": REJECTED}.get(late, DONE))

    played, said = probed("single", "several:refused", bank)
    signed = [step.request for step in played.signatures]
    assert ["R200-0001-4711", "R100-0001-4711"] == signed
    assert ["several-refused agrees"] == said


def test_what_is_rejected_as_it_is_made_need_not_be_signed():
    """Nobody signs what has ended already."""

    def bank(call, key):
        return shown(key, REJECTED if call.mode == "several" else OPEN)

    played, said = probed("single", "several:refused", bank)
    assert 2 == played.spent
    assert ["several-refused agrees"] == said


def test_one_goes_to_the_other_bank_first():
    """Nobody can be brought into being before that."""
    played, _ = probed("payment-types", "instant:not-offered")
    assert isinstance(played.steps[0], Lack)
    assert not any(isinstance(step, Lack) for step in played.steps[1:])
    assert "instant" == played.steps[0].mode


def test_a_mode_that_nobody_spells_is_not_offered():
    """A target file need not spell what its bank does not have."""
    by_id = facets("payment-types")
    (here,) = by_id["instant-offered"].requires
    (there,) = by_id["instant-not-offered"].requires
    assert (Standing.NOT_APPLICABLE, Standing.UNVERIFIED) == (here.if_missing, there.if_missing)
    assert Capability.BANKS in by_id["instant-not-offered"].needs
    assert {"immediate", "deferred"} == {
        requirement.name for requirement in by_id["immediate"].requires
    }


def test_a_request_without_the_day_of_the_plain_mode_may_be_refused_for_that():
    """It differs in more than its mode from a control that has a day; with the day it does not."""
    create = PIS.operations["create-payment"]
    modes = ("deferred", "several", *create.modes[:1])
    for due, said in (
        (("deferred",), []),
        (("deferred", "several"), ["several-refused agrees 1,2"]),
    ):
        plain = replace(create, modes=modes, due=replace(create.due, modes=due))
        contract = replace(PIS, operations={**PIS.operations, plain.id: plain})
        day = {"date": LATER} if "several" in due else {}
        events = history(payer(), several(NO, **day), DEFERRED)
        found = ruled("single", contract=contract).check(events)
        assert said == [
            f"{one.facet} {one.agreement.value} {','.join(map(str, one.exchanges))}"
            for one in found
        ]


# -- a day that is not needed, where the bank says so ----------------------------------------
TODAY = "2026-09-16"
PLAIN = make(mode="instant")
EVENING, SATURDAY = AT.replace(hour=18), AT + timedelta(days=3)


def dated(word, *events, who=None):
    """Return what is said of instant requests that name a day, where the bank says it."""
    events = (who or payer(), *events)
    lines = check("payment-types", *events, dated={"instant": word})
    return [line.removeprefix("instant-dated-") for line in lines if "dated" in line]


def naming(came=None, day=TODAY, key="P2", **changes):
    return make(came or shown(key), key=key, mode="instant", date=day, **changes)


def carried_out(state=DONE):
    """Write down that a request that names a day was accepted, signed and read."""
    return naming(), sign(key="P2"), read(shown("P2", state), key="P2")


def test_a_day_that_is_not_needed_is_accepted_or_refused():
    """Beside a request without one, in the same mode."""
    assert ["refused agrees 1,2"] == dated("refused", PLAIN, naming(NO))
    assert ["accepted disagrees 1,2"] == dated("accepted", PLAIN, naming(NO))
    assert ["refused disagrees 2,3,4"] == dated("refused", PLAIN, *carried_out())
    assert ["accepted agrees 2,3,4"] == dated("accepted", PLAIN, *carried_out())


def test_such_a_day_is_judged_only_where_it_is_said():
    """In the mode of which it is said, and not in a deferred one."""
    for events in ((PLAIN, naming(NO)), (PLAIN, *carried_out())):
        assert [] == dated("unspecified", *events)
        assert not [line for line in types(*events) if "dated" in line]
    assert [] == dated("refused", make(), make(NO, date=TODAY), DEFERRED)
    clause = ruled("payment-types", dated={"instant": "unspecified"})
    assert not [facet.id for facet in clause.facets() if "dated" in facet.id]


@for_each(
    "refused",
    [
        (PLAIN, naming(NO, LATER)),
        (PLAIN, naming(NO, "2026-09-15")),
        (PLAIN, naming(NO, amount="12.31")),
        (PLAIN, naming(NO, debtorAccount="A2")),
        (make(), naming(NO)),
        (naming(NO),),
        (make(mode="instant", at=EVENING), naming(NO, at=EVENING)),
        (make(mode="instant", at=SATURDAY), naming(NO, day="2026-09-19", at=SATURDAY)),
        (PLAIN, sign(), read(shown(state=DONE)), naming(NO)),
    ],
)
def test_a_day_may_be_refused_for_another_reason(refused):
    """Another day, the hour, what else it says or repeats, or a mode that the bank does not offer."""
    assert [] == dated("accepted", *refused, who=payer("psu", "A1", "A2"))
    assert not [line for line in dated("refused", *refused) if " agrees" in line]


@for_each("day", ["", "soon", None])
def test_what_is_no_day_is_not_judged(day):
    """It is refused for that, or says nothing."""
    assert (
        [] == dated("accepted", PLAIN, naming(NO, day)) == dated("refused", PLAIN, naming(NO, day))
    )


def test_a_day_may_be_refused_after_the_signature():
    """As everything else may; where nobody looked, or it may still come, nothing is known."""
    assert ["refused unclear 2"] == dated("refused", PLAIN, naming())
    late = dated("refused", PLAIN, *carried_out(REJECTED), sign(), read(shown(state=DONE)))
    assert ["refused agrees 1,2,3,4,5,6"] == late
    assert ["refused unclear 2,3,4"] == dated("refused", PLAIN, *carried_out(OPEN))


def test_the_price_of_a_day():
    """Where it is accepted, it is signed, too."""
    for word, cost in (("refused", 2), ("accepted", 4)):
        clause = ruled("payment-types", dated={"instant": word})
        assert cost == count_calls(clause, clause.scenario("instant:dated"))


def test_a_mode_of_which_a_day_is_said_must_be_there():
    """It is one of the request's, and not one that always has a day."""
    raw = {"id": "types", "request": "payment", "dated": {"instnat": "refused"}}
    ((_, _, hint),) = Modes.references((), raw, PIS.data)
    assert "did you mean 'instant'?" == hint
    raw["dated"] = {"deferred": "refused"}
    ((at, what, _),) = Modes.references((), raw, PIS.data)
    assert ("dated", "deferred") == at, what
