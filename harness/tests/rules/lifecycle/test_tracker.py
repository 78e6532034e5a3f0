"""The tracker of requests: who made each, who signed it, and its outcome."""

from dataclasses import replace
from datetime import date, timedelta

import pytest
from account_information import AT, FAILED, GONE, LOST, NO, NONE, ODD, UNKNOWN, ask
from payment_initiation import (
    ARGUMENTS,
    DONE,
    ENDED,
    KEY,
    OPEN,
    PIS,
    REJECTED,
    cancel,
    effects,
    make,
    modify,
    payer,
    read,
    registered,
    shown,
    sign,
    withdrawn,
)
from rows import for_each

from assay.contract.model import Due, Operation
from assay.history import Advanced, Effects, Ending, Item, Lacking, Malformed
from assay.parsing.parse import find_contract, parse_contract
from assay.rules.lifecycle.tracker import REJECTED as NOT_ACCEPTED
from assay.rules.lifecycle.tracker import (
    InstanceOutcome,
    Tracker,
    instances,
    lifecycle_of_operation,
    lifecycle_of_request,
)
from assay.testing import accepted, history, refused

LIFE = lifecycle_of_request(PIS, "payment")


def book(*events):
    """Return the book of a history, at its end."""
    out = Tracker(lifecycle=LIFE)
    for event in history(*events).events:
        out.note(event)
    return out


def one(*events):
    """Return the only request of a history."""
    (found,) = book(*events).requests
    return found


# -- what a contract offers around a request --------------------------------------
def test_the_life_of_a_request():
    """All four operations, and what a customer has to own."""
    assert ["create-payment", "read-payment", "modify-payment", "cancel-payment"] == [
        operation.id for operation in LIFE.operations
    ]
    assert ("payment", "account", "immediate") == (LIFE.request.id, LIFE.owner, LIFE.mode)
    assert [("read-payment", "state")] == [
        (want.operation, want.feature) for want in LIFE.state_requirement()
    ]


def test_only_some_modes_are_put_off():
    """A plain request is not, and neither is one of no mode or of an unknown one."""
    assert {
        "deferred": True,
        "immediate": False,
        "instant": False,
        "later": False,
        None: False,
    } == {mode: LIFE.deferred(mode) for mode in ("deferred", "immediate", "instant", "later", None)}
    assert not lifecycle_of_request(without("due"), "payment").deferred("deferred")


def without(word):
    """Return the contract without a word of the operation that makes a request."""
    empty = {"due": None, "modes": ()}[word]
    create = replace(PIS.operations["create-payment"], **{word: empty})
    return replace(PIS, operations={**PIS.operations, create.id: create})


def test_what_a_plain_change_is():
    """It is asked of a mode that can be changed, and names no day."""
    assert ("deferred", ("amount",)) == (LIFE.changeable_mode, LIFE.changeable_arguments)


def test_the_mode_that_can_be_changed_is_named_by_the_clause_on_changes():
    """Of this request, and of no other; and by no other clause."""
    found = next(each for each in PIS.clauses if each.kind == "modification")
    instant = replace(found, params={**found.params, "only": ["instant"]})
    another = replace(instant, params={**instant.params, "request": "order"})
    ordering = replace(PIS.operations["create-payment"], id="create-order", makes="order")
    pis = replace(
        PIS,
        operations={**PIS.operations, "create-order": ordering},
        resources={**PIS.resources, "order": replace(PIS.resources["payment"], id="order")},
    )
    other = next(each for each in PIS.clauses if each.kind == "duplicate")

    assert (
        "instant"
        == lifecycle_of_request(replace(pis, clauses=(another, instant)), "payment").changeable_mode
    )
    for clause in (another, other):
        assert (
            "deferred"
            == lifecycle_of_request(replace(pis, clauses=(clause,)), "payment").changeable_mode
        )


def test_the_mode_that_can_be_changed_where_no_clause_names_one():
    """Then it is one that is put off, or the plain one, or none."""
    silent = replace(PIS, clauses=())
    assert "deferred" == lifecycle_of_request(silent, "payment").changeable_mode
    assert (
        "immediate"
        == lifecycle_of_request(replace(without("due"), clauses=()), "payment").changeable_mode
    )
    bare = lifecycle_of_request(replace(without("modes"), clauses=()), "payment")
    assert (None, "deferred") == (bare.mode, bare.changeable_mode)


def test_a_day_is_never_the_plain_change():
    """Also where the change names it first, or says itself which argument is a day."""
    change = replace(LIFE.change, arguments=("date", "amount"))
    assert ("amount",) == replace(LIFE, change=change).changeable_arguments
    change = replace(change, arguments=("day", "amount"), due=Due(argument="day"))
    assert ("amount",) == replace(LIFE, change=change).changeable_arguments
    assert () == replace(LIFE, change=replace(change, arguments=("day",))).changeable_arguments
    assert () == replace(LIFE, change=None).changeable_arguments


def test_an_interface_may_offer_less():
    """Without a way to read, change or end a request there is none, and no state is wanted."""
    create = PIS.operations["create-payment"]
    bare = lifecycle_of_request(replace(PIS, operations={create.id: create}), "payment")

    assert (create,) == bare.operations
    assert () == bare.state_requirement()
    closed = replace(PIS.operations["read-payment"], available=False)
    assert (
        None
        is lifecycle_of_request(
            replace(PIS, operations={**PIS.operations, closed.id: closed}), "payment"
        ).read
    )


def test_what_nobody_makes_has_no_life():
    """A clause about it is a fault of the harness, which checks references before."""
    with pytest.raises(TypeError, match="nothing makes account"):
        lifecycle_of_request(PIS, "account")
    reading = parse_contract(find_contract("aisp"))
    with pytest.raises(TypeError, match="nothing makes"):
        lifecycle_of_operation(reading, reading.operations["accounts"])


@for_each("operation", [one.id for one in LIFE.operations])
def test_every_operation_leads_to_the_life(operation):
    """Whichever of them a rule names, the request around it is the same."""
    assert LIFE == lifecycle_of_operation(PIS, PIS.operations[operation])


def test_a_clause_leads_to_the_life():
    """By the request that it names."""
    clause = next(each for each in PIS.clauses if each.id == "payments.content")
    assert LIFE == lifecycle_of_request(PIS, str(clause.params["request"]))


def test_what_is_made_without_anything_of_the_customers():
    """An interface whose customers own nothing asks for nothing of theirs."""
    create = Operation(id="create", method="POST", path="/p", makes="payment")
    one_only = {"payment": PIS.resources["payment"]}
    bare = lifecycle_of_request(
        replace(PIS, operations={"create": create}, resources=one_only, clauses=()), "payment"
    )

    assert ("", None, False, None) == (
        bare.owner,
        bare.mode,
        bare.deferred(None),
        bare.changeable_mode,
    )


# -- making -----------------------------------------------------------------------
def test_a_request_that_was_made():
    """It is whose it is, has its key, its mode and its arguments, and stands as was said."""
    made = one(payer(), make(mode="deferred"))

    assert ("psu", "P1", "deferred") == (made.subject.name, made.key, made.mode)
    assert ARGUMENTS == made.arguments
    assert (OPEN, InstanceOutcome.OPEN, False) == (made.state, made.outcome, made.done)
    assert (made.made.at, 1) == (made.seen_at, made.seen_in)
    assert made.signed is None
    assert (1,) == made.numbers


def test_arguments_are_those_that_were_sent():
    """Not those that were left out; and the call's own mapping is never changed."""
    made = one(make(without=("amount",)), modify(amount="1.00"))

    assert "amount" not in made.made.call.arguments
    assert "1.00" == made.arguments["amount"]


@for_each(
    ("came", "fate"),
    [
        (shown(), InstanceOutcome.OPEN),
        (shown(state=DONE), InstanceOutcome.DONE),
        (shown(state=REJECTED), InstanceOutcome.REJECTED),
        (shown(state=ENDED), InstanceOutcome.ENDED),
        (shown(state=None), InstanceOutcome.UNKNOWN),
        (accepted(status=201), InstanceOutcome.UNKNOWN),
        (replace(NONE, status=201), InstanceOutcome.UNKNOWN),
        (
            accepted(Item(key="P1", state=DONE), Item(key="P2", state=DONE)),
            InstanceOutcome.UNKNOWN,
        ),
        (NO, InstanceOutcome.REFUSED),
        (GONE, InstanceOutcome.REFUSED),
        (UNKNOWN, InstanceOutcome.REFUSED),
        (refused(Item(key="P1", state=DONE), status=400), InstanceOutcome.REFUSED),
        (LOST, InstanceOutcome.UNKNOWN),
        (FAILED, InstanceOutcome.UNKNOWN),
        (ODD, InstanceOutcome.UNKNOWN),
    ],
)
def test_the_fate_at_once(came, fate):
    """What an answer says of a request, and nothing more."""
    made = one(make(came))

    assert fate is made.outcome
    assert (fate is InstanceOutcome.DONE) is made.done
    assert (fate in (InstanceOutcome.REFUSED, InstanceOutcome.REJECTED)) is (
        made.outcome in NOT_ACCEPTED
    )


def test_what_a_refusal_leaks_is_not_followed():
    """A key in a refusal makes no request."""
    came = refused(Item(key="P1", state=OPEN), status=400)
    made = one(make(came), read(shown(state=DONE)))

    assert (None, None, InstanceOutcome.REFUSED, ()) == (
        made.key,
        made.state,
        made.outcome,
        made.reads,
    )


def test_who_made_it_may_not_be_known():
    """Recorded traffic does not introduce anybody, or only later."""
    assert None is one(make()).subject
    assert None is one(make(), payer()).subject
    assert ["psu", "other"] == [
        each.subject.name
        for each in book(payer(), payer("other"), make(), make(shown("P2"), by="other")).requests
    ]


@for_each("bend", [{"malformed": Malformed.NOT_JSON}, {"credentials": True}])
def test_what_is_bent_on_purpose_makes_no_request(bend):
    """Neither a body that does not read nor one with credentials asks for anything."""
    bent = make()
    bent = replace(bent, call=replace(bent.call, **bend))
    assert [] == book(payer(), bent, read()).requests


def test_a_key_that_was_given_twice():
    """All that follows belongs to the later one."""
    first, second = book(
        make(), make(shown(), amount="9.99"), read(shown(state=DONE)), sign()
    ).requests

    assert ("P1", InstanceOutcome.OPEN, ()) == (first.key, first.outcome, first.signings)
    assert ("P1", InstanceOutcome.DONE, 1) == (second.key, second.outcome, len(second.signings))


# -- what is noted ----------------------------------------------------------------
def test_noting_tells_which_request_an_event_is_about():
    """Or None, for what is about none or about one that nobody knows."""
    out = Tracker(lifecycle=LIFE)
    events = history(
        payer(),
        make(),
        read(),
        modify(),
        sign(),
        withdrawn(),
        cancel(),
        read(key="P9"),
        modify(key="P9"),
        sign(key="P9"),
        withdrawn(key="P9"),
        effects("P1"),
        effects(),
        Advanced(now=AT),
        registered(80),
        Lacking(mode="instant", now=AT),
        ask("confirm-payment", NO, arguments={KEY: "P1"}),
        ask("read-payment", NO),
        read(malformed=Malformed.LONG_IDENTIFIER),
    ).events
    noted = [out.note(event) for event in events]
    (made,) = out.requests

    assert [None, *[made] * 6, *[None] * 12] == noted
    assert made is out.find("P1")
    assert None is out.find("P9")
    assert (1, 1, 1, 1, 1) == tuple(
        map(len, (made.reads, made.changes, made.ends, made.signings, made.withdrawn))
    )


def test_a_book_is_a_fold():
    """At every event it says what a book of the events so far says."""
    events = history(
        payer(),
        make(),
        make(NO),
        sign(),
        effects("P1"),
        make(shown("P2")),
        read(),
        cancel(key="P2"),
    ).events
    out = Tracker(lifecycle=LIFE)
    for n, event in enumerate(events, 1):
        out.note(event)
        fresh = Tracker(lifecycle=LIFE)
        for former in events[:n]:
            fresh.note(former)
        assert fresh == out

    assert out.requests == list(instances(history(*events), LIFE))


@for_each(("lacks", "kept"), [("read", 2), ("change", 2), ("end", 2)])
def test_a_book_of_an_interface_that_offers_less(lacks, kept):
    """What is not offered is about no request, and all else is noted as ever."""
    out = Tracker(lifecycle=replace(LIFE, **{lacks: None}))
    noted = [out.note(event) for event in history(make(), read(), modify(), cancel()).events]
    (made,) = out.requests

    assert 1 + kept == sum(each is made for each in noted)
    assert (
        ()
        == {
            "read": made.reads,
            "change": made.changes,
            "end": made.ends,
        }[lacks]
    )


def test_subjects_are_kept():
    """Checks ask who somebody is, also for calls that are about no request."""
    assert {"psu": payer(), "other": payer("other", "A2")} == book(
        payer(), payer("other", "A2")
    ).subjects


# -- reading ----------------------------------------------------------------------
def test_a_look_moves_the_state():
    """It stands where it was last said to stand, and since when is told."""
    later = AT + timedelta(hours=1)
    made = one(make(), read(shown(state=DONE), at=later))

    assert (DONE, later, 2, InstanceOutcome.DONE, True) == (
        made.state,
        made.seen_at,
        made.seen_in,
        made.outcome,
        made.done,
    )


@for_each("came", [NO, LOST, FAILED, shown(state=None), accepted()])
def test_a_look_that_tells_nothing_moves_nothing(came):
    """The last word counts; and the exchange that had it is still cited."""
    made = one(make(), read(shown(state=REJECTED)), read(came))

    assert (REJECTED, 2, InstanceOutcome.REJECTED) == (made.state, made.seen_in, made.outcome)
    assert (1, 2, 3) == made.numbers


def test_a_state_may_be_taken_back():
    """What a target says last is what it says."""
    assert InstanceOutcome.OPEN is one(make(), read(shown(state=DONE)), read()).outcome
    assert not one(make(), read(shown(state=DONE)), read()).done


def test_anybodys_look_is_a_look():
    """Another TPP who is let in sees where the request stands, too."""
    made = one(make(), read(shown(state=DONE), by="other", tpp="second"))
    assert (InstanceOutcome.DONE, 1) == (made.outcome, len(made.reads))


# -- changing and ending ----------------------------------------------------------
def test_an_accepted_change_is_in_force():
    """Only what it names is changed, and its own address is no argument."""
    made = one(make(mode="deferred"), modify(amount="1.00", date="2026-09-30"))

    assert {**ARGUMENTS, "amount": "1.00", "date": "2026-09-30"} == made.arguments
    assert KEY not in made.arguments


def test_changes_add_up():
    """The last accepted one of each field counts."""
    made = one(
        make(),
        modify(amount="1.00"),
        modify(creditorAccount="C2"),
        modify(amount="2.00"),
        modify(NO),
    )
    assert ("2.00", "C2", 4) == (
        made.arguments["amount"],
        made.arguments["creditorAccount"],
        len(made.changes),
    )


@for_each("came", [NO, GONE, LOST, FAILED, ODD])
def test_a_change_that_was_not_accepted_is_kept_but_not_in_force(came):
    """One that was lost may have been taken: who judges has to look at it."""
    made = one(make(), modify(came, amount="1.00"))

    assert ("12.30", 1, (1, 2)) == (made.arguments["amount"], len(made.changes), made.numbers)
    assert OPEN is made.state


def test_a_change_shows_where_it_stands():
    """Its answer is a look as well."""
    assert InstanceOutcome.ENDED is one(make(), modify(shown(state=ENDED))).outcome


def test_a_cancellation_changes_no_arguments():
    """It ends the request, if the target says so."""
    made = one(make(), cancel())

    assert (ARGUMENTS, InstanceOutcome.ENDED, 1, 0) == (
        made.arguments,
        made.outcome,
        len(made.ends),
        len(made.changes),
    )
    assert InstanceOutcome.OPEN is one(make(), cancel(NO)).outcome
    assert InstanceOutcome.OPEN is one(make(), cancel(LOST)).outcome
    assert InstanceOutcome.OPEN is one(make(), cancel(accepted(status=204))).outcome


def test_the_customers_own_cancellation():
    """It is noted, taken or not; where the request stands is the target's word."""
    made = one(make(), withdrawn(done=False), withdrawn())

    assert [False, True] == [each.done for each in made.withdrawn]
    assert InstanceOutcome.OPEN is made.outcome


# -- signing ----------------------------------------------------------------------
def test_a_signature_is_the_first_that_was_given():
    """Ways through the screens that ended otherwise are no signatures."""
    lost = [sign(Ending.STOPPED), sign(Ending.DISCONNECTED)]
    made = one(make(), *lost, sign(), sign(Ending.REFUSED), sign())

    assert made.signed.n == 4
    assert [2, 3, 4, 5, 6] == [each.n for each in made.signings]
    assert (1, 2, 3, 4, 5, 6) == made.numbers
    stuck = one(make(), *lost)
    assert stuck.signed is None


def test_a_signature_alone_carries_nothing_out():
    """That is for the target to say, or for the world."""
    made = one(make(), sign())
    assert (False, InstanceOutcome.OPEN) == (made.done, made.outcome)


# -- what the world says ----------------------------------------------------------
@for_each("state", [OPEN, REJECTED, ENDED, None])
def test_the_world_outweighs_the_target(state):
    """What was executed was executed, whatever is shown."""
    made = one(make(), read(shown(state=state)), effects("P1", amount="12.30"))

    assert (InstanceOutcome.DONE, True) == (made.outcome, made.done)
    assert ("P1", date(2026, 9, 16), "12.30") == (
        made.effect.request,
        made.effect.on,
        made.effect.fields["amount"],
    )


def test_a_world_that_names_others_says_that_this_one_was_not():
    """It was asked, and it did not name it."""
    made = one(make(), effects("P7"))
    assert (None, True, False) == (made.effect, made.inquired, made.done)


def test_a_world_that_cannot_tell_was_not_asked():
    """Nothing follows from its silence."""
    made = one(make(), Effects(now=AT, done=None))
    assert (None, False) == (made.effect, made.inquired)


def test_an_effect_is_not_taken_back():
    """A later word of the world that does not name it leaves it executed."""
    assert one(make(), effects("P1"), effects()).done


@for_each(
    ("event", "asked"),
    [
        (sign(), False),
        (modify(), False),
        (modify(LOST), False),
        (cancel(), False),
        (withdrawn(), False),
        (Advanced(now=AT), False),
        (sign(key="P2"), False),
        (read(), True),
        (make(shown("P2")), True),
        (modify(key="P2"), True),
        (Effects(now=AT, done=None), True),
    ],
)
def test_whether_the_world_was_asked_since(event, asked):
    """What may have carried it out, the passing of time included, makes its word old."""
    found = book(make(), effects(), event).requests[0]
    assert asked is found.inquired
    assert book(make(), effects(), event, effects()).requests[0].inquired


def test_a_request_made_since_was_not_asked_about():
    """The world said nothing of what was not there yet."""
    assert [True, False] == [
        each.inquired for each in book(make(), effects(), make(shown("P2"), key="P2")).requests
    ]


# -- words ------------------------------------------------------------------------
@for_each(
    ("events", "description"),
    [
        ((make(),), "it was accepted (200), then open"),
        ((make(accepted(status=201)),), "it was accepted (201)"),
        ((make(shown(state=None)),), "it was accepted (200)"),
        ((make(), read(shown(state=REJECTED))), "it was accepted (200), then rejected"),
        ((make(), effects("P1")), "it was accepted (200), then open and was executed"),
        ((make(), read(shown(state=DONE)), effects("P1")), "it was accepted (200), then executed"),
        ((make(NO),), "it was refused (403)"),
        ((make(GONE),), "it was refused (404)"),
        ((make(LOST),), "no answer within 10 s"),
        ((make(FAILED),), "the target failed (503)"),
        ((make(ODD),), "the profile does not know status 302"),
    ],
)
def test_telling_a_story(events, description):
    """In few words, and never more than is known."""
    assert description == one(*events).describe()


def test_the_numbers_of_a_story():
    """Every event that has one, once, in order; of the looks the last, and the one that told."""
    made = one(
        make(),
        read(),
        sign(),
        read(shown(state=DONE)),
        read(LOST),
        modify(NO),
        cancel(NO),
        read(NO),
    )
    assert (1, 3, 4, 6, 7, 8) == made.numbers
    assert (1,) == one(make(LOST)).numbers == one(make(NO)).numbers
