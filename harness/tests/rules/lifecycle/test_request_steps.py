"""The steps of probes about requests: each function yields one step and judges nothing."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from account_information import AISP, AT, GONE, LOST, NO, PARIS, ask
from payment_initiation import KEY, LINK, PIS, make, payer, shown, sign
from rows import for_each

from assay.history import (
    Advance,
    Advanced,
    Arrange,
    Authorise,
    Call,
    Code,
    Decision,
    Effects,
    Holding,
    Inquire,
    Item,
    Lack,
    Lacking,
    Register,
    Registered,
    State,
    Withdraw,
    Withdrawn,
)
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.tracker import lifecycle_of_request
from assay.testing import accepted

LIFE = lifecycle_of_request(PIS, "payment")
#: Somebody who owns two accounts.
PSU = payer("psu", "A1", "A2")


def play(part, *replies):
    """Run a part of a probe with these replies; return its steps and what it returns."""
    steps, waiting = [], list(replies)
    try:
        steps.append(next(part))
        while True:
            steps.append(part.send(waiting.pop(0)))
    except StopIteration as end:
        assert not waiting
        return steps, end.value


def bare(**changes):
    """Return the life of a request with other words in the operation that makes it."""
    return replace(LIFE, create=replace(LIFE.create, **changes))


# -- customers --------------------------------------------------------------------
def test_a_list_is_asked_for_by_somebody_who_owns_what_it_lists():
    """An empty list of cards would say nothing of an argument in it."""
    accounts = AISP.operations["accounts"]
    cards = replace(accounts, lists=("card",))

    for operation, owned in ((accounts, "account"), (cards, "card")):
        part = request_steps.plain_call(AISP, operation, None)
        assert Advance(to=None) == next(part)
        assert [owned] == [each.resource for each in part.send(Advanced(now=AT)).holdings]


def test_a_customer_owns_what_a_request_can_be_about():
    """One account, with nothing special, of no special kind of customer."""
    steps, subject = play(request_steps.customer(LIFE), PSU)

    assert [Arrange(subject="psu", holdings=(Holding(resource="account"),))] == steps
    assert PSU is subject


def test_a_customer_of_another_sort():
    """More things, in other states, of another segment, under another name."""
    part = request_steps.customer(LIFE, "other", count=3, segment="PRO", traits={"savings": True})
    steps, _ = play(part, PSU)
    owned = Holding(resource="account", count=3, traits={"savings": True})

    assert [Arrange(subject="other", holdings=(owned,), segment="PRO")] == steps


def test_a_customer_who_owns_nothing():
    """Where a contract knows nothing of the customer's, nothing is asked for."""
    steps, _ = play(request_steps.customer(replace(LIFE, owner="")), PSU)
    assert [Arrange(subject="psu", holdings=())] == steps


@for_each(
    ("now", "zone", "day"),
    [
        (AT, PARIS, "2026-09-16"),
        (datetime(2026, 9, 16, 21, 59, tzinfo=UTC), PARIS, "2026-09-16"),
        (datetime(2026, 9, 16, 22, 0, tzinfo=UTC), PARIS, "2026-09-17"),
        (datetime(2026, 9, 16, 22, 0, tzinfo=UTC), None, "2026-09-16"),
        (datetime(2026, 9, 16, 0, 30, tzinfo=PARIS), ZoneInfo("America/New_York"), "2026-09-15"),
    ],
)
def test_today_is_the_banks_day(now, zone, day):
    """Not that of the clock that tells it; where no zone is known, there is no other."""
    told = replace(LIFE, contract=replace(PIS, zone=zone))
    assert day == request_steps.today(told, payer(now=now)).isoformat()


# -- making -----------------------------------------------------------------------
def test_a_plain_request():
    """Of the first mode, about the first thing that is owned; all else is the profile's."""
    call = Call(
        operation="create-payment",
        subject="psu",
        arguments={"debtorAccount": "A1"},
        mode="immediate",
    )
    assert call == request_steps.request(LIFE, PSU)


@for_each(("ahead", "day"), [(None, "2026-09-21"), (1, "2026-09-17"), (20, "2026-10-06")])
def test_a_request_that_is_put_off(ahead, day):
    """It has a day, so many from now, and only in the modes that have one."""
    keywords = {} if ahead is None else {"ahead": ahead}
    call = request_steps.request(LIFE, PSU, "deferred", **keywords)

    assert ("deferred", {"debtorAccount": "A1", "date": day}) == (call.mode, call.arguments)
    assert "date" not in request_steps.request(LIFE, PSU, "instant", **keywords).arguments


def test_the_day_is_counted_from_the_banks_today():
    """Just after local midnight the day of UTC is still yesterday's."""
    psu = payer(now=datetime(2026, 9, 13, 22, 0, tzinfo=UTC))
    assert "2026-09-21" == request_steps.request(LIFE, psu, "deferred").arguments["date"]
    before = payer(now=datetime(2026, 9, 13, 21, 59, tzinfo=UTC))
    assert "2026-09-16" == request_steps.request(LIFE, before, "deferred").arguments["date"]


@for_each(
    ("today", "day"),
    [
        ("2026-09-14", "2026-09-21"),  # on Thursday, only one more day would follow it
        ("2026-09-18", "2026-09-21"),
        ("2026-12-22", "2026-12-28"),  # Christmas, and a weekend
        ("2027-03-23", "2027-03-30"),  # Good Friday to Easter Monday
        ("2027-04-26", "2027-05-03"),  # May Day
        ("2027-12-29", "2028-01-03"),
    ],
)
def test_a_request_is_due_on_a_banking_day(today, day):
    """Two more follow it, for later requests and changes."""
    psu = payer(now=datetime.fromisoformat(f"{today}T12:00:00+00:00"))
    assert day == request_steps.request(LIFE, psu, "deferred").arguments["date"]


def test_arguments_win_over_what_is_made_up():
    """Bent ones, too; and the mapping that was given is not changed."""
    given = {"debtorAccount": "A2", "date": None, "amount": 7}
    call = request_steps.request(LIFE, PSU, "deferred", given, variation="7")

    assert (given, "7") == (call.arguments, call.variation)
    request_steps.request(LIFE, PSU, "deferred", given, ahead=9)
    assert {"debtorAccount": "A2", "date": None, "amount": 7} == given


def test_a_request_about_nothing_of_the_customers():
    """It names nothing of theirs, has no mode, and no day."""
    dry_target = replace(PSU, owns=())
    call = request_steps.request(bare(owned=None, modes=(), due=None), dry_target)

    assert (None, {}) == (call.mode, call.arguments)
    assert {} == request_steps.request(bare(owned=None, due=None), dry_target, "deferred").arguments


# -- what was made ----------------------------------------------------------------
@for_each("came", [NO, GONE, LOST, accepted(status=201), accepted(Item(), status=201)])
def test_what_was_not_made_is_left_out(came):
    """Nothing is read, signed or cancelled that has no key."""
    made = make(came)

    assert None is request_steps.key_of(made)
    assert None is request_steps.call_about(LIFE.read, made)
    for part in (
        request_steps.read(LIFE, made),
        request_steps.sign(LIFE, made),
        request_steps.withdraw(made),
    ):
        assert ([], None) == play(part)


def test_a_call_about_what_was_made():
    """It has its key, its customer and its TPP."""
    made = make(shown("P7"), by="other", tpp="second")
    call = request_steps.call_about(LIFE.change, made, amount="1.00")

    assert "P7" == request_steps.key_of(made)
    assert {KEY: "P7", "amount": "1.00"} == call.arguments
    assert ("modify-payment", "other", "second") == (call.operation, call.subject, call.by)
    assert None is request_steps.call_about(None, made)


def test_reading_what_was_made():
    """One call, whose exchange is returned; none where nothing can be read."""
    seen = ask("read-payment", shown())
    call = Call(operation="read-payment", subject="psu", arguments={KEY: "P1"})

    assert ([call], seen) == play(request_steps.read(LIFE, make()), seen)
    assert ([], None) == play(request_steps.read(replace(LIFE, read=None), make()))


def test_a_call_that_may_be_none():
    """It is made if it is one."""
    seen = ask("read-payment", shown())

    assert ([seen.call], seen) == play(request_steps.send_if_any(seen.call), seen)
    assert ([], None) == play(request_steps.send_if_any(None))


# -- signing ----------------------------------------------------------------------
def test_signing_what_was_made():
    """The customer who made it follows its link, and signs plainly."""
    steps, reply = play(request_steps.sign(LIFE, make(by="other")), event := sign())

    assert [Authorise(subject="other", request="P1", approval=LINK)] == steps
    assert event is reply


def test_signing_in_another_way():
    """How it is done is kept; whose it is and what is signed is what was made."""
    how = Authorise(
        subject="nobody",
        request="P9",
        approval="elsewhere",
        decision=Decision.REFUSE,
        factor="cap",
        by="other",
        code=Code.HALF,
        pace=timedelta(minutes=3),
        variation="in another way",
    )
    (step,), _ = play(request_steps.sign(LIFE, make(), how), sign())

    assert replace(how, subject="psu", request="P1", approval=LINK) == step


def test_signing_without_a_link():
    """Whoever signs has to say that it cannot be done so."""
    (step,), _ = play(request_steps.sign(LIFE, make(shown(approval=None))), sign())
    assert None is step.approval


@for_each(
    ("state", "link", "signs"),
    [
        (State.REJECTED, None, False),
        (State.ENDED, None, False),
        (State.REJECTED, LINK, True),
        (State.OPEN, None, True),
        (None, None, True),
    ],
)
def test_what_was_made_as_rejected_is_not_signed(state, link, signs):
    """A bank need not give a link for it; that it lacks one is nothing that the target file misses."""
    script = request_steps.sign(LIFE, make(shown(state=state, approval=link)))
    assert signs is (next(script, None) is not None)


# -- a call of any operation ------------------------------------------------------
def readied(operation, *replies):
    """Return the steps of making an operation's plain call ready, and the call."""
    steps, (subject, call) = play(
        request_steps.prepare_call(PIS, PIS.operations[operation]), PSU, *replies
    )
    assert PSU is subject
    calls = [step for step in steps if isinstance(step, Call)]
    needed = 0 if PIS.operations[operation].makes else 1
    assert needed == len(calls) == len(steps) - 1
    return calls, call


def test_what_makes_a_request_is_ready_at_once():
    """It takes a customer, and nothing before."""
    assert ([], request_steps.request(LIFE, PSU)) == readied("create-payment")


def test_what_reads_a_request_takes_one():
    """A plain one is made first."""
    calls, call = readied("read-payment", make())

    assert [request_steps.request(LIFE, PSU)] == calls
    assert request_steps.call_about(LIFE.read, make()) == call


def test_what_changes_a_request_takes_one_that_can_be_changed():
    """And changes something in it, to what the profile has for it."""
    calls, call = readied("modify-payment", make())

    assert [request_steps.request(LIFE, PSU, "deferred")] == calls
    assert (("amount",), {KEY: "P1"}) == (call.varied, call.arguments)


@for_each("operation", ["read-payment", "modify-payment", "cancel-payment"])
def test_there_is_no_call_about_what_was_not_made(operation):
    """Where the request was refused, there is nothing to be asked about."""
    _, call = readied(operation, make(NO))
    assert None is call


def test_a_customer_of_any_name():
    """Rules that need two of them name them."""
    part = request_steps.prepare_call(PIS, PIS.operations["create-payment"], "other")
    (step,), (_, call) = play(part, payer("other"))
    assert ("other", "other") == (step.subject, call.subject)


# -- the other steps --------------------------------------------------------------
def test_the_steps_of_the_world():
    """Each word is one step."""
    done = Withdrawn(subject="psu", request="P1", done=True, now=AT)
    known = Registered(subject="psu", argument="creditorAccount", value="C1", since=AT)
    effects = Effects(now=AT)
    age = timedelta(hours=80)

    assert ([Inquire()], effects) == play(request_steps.inquire(), effects)
    assert ([Withdraw(subject="psu", request="P1")], done) == play(
        request_steps.withdraw(make()), done
    )
    assert ([Lack(mode="instant")], None) == play(
        request_steps.without_mode("instant"), Lacking(mode="instant", now=AT)
    )
    step = Register(subject="psu", operation="create-payment", argument="creditorAccount", age=age)
    assert ([step], None) == play(request_steps.register(LIFE, PSU, "creditorAccount", age), known)


@for_each(
    ("now", "days", "hour", "then"),
    [
        (AT, 3, 12, "2026-09-19T12:00:00+02:00"),
        (AT, 0, 23, "2026-09-16T23:00:00+02:00"),
        (AT.replace(day=30, hour=23, minute=59, second=59), 1, 12, "2026-10-01T12:00:00+02:00"),
        (AT.replace(month=10, day=24), 1, 12, "2026-10-25T12:00:00+01:00"),
        (
            datetime(2026, 10, 24, 10, tzinfo=timezone(timedelta(hours=2))),
            1,
            12,
            "2026-10-25T12:00:00+02:00",
        ),
    ],
)
def test_days_pass_until_an_hour_of_the_last(now, days, hour, then):
    """By the clock that the target shows: its own day and hour."""
    (step,), _ = play(request_steps.wait_days(payer(now=now), days, hour), Advanced(now=AT))

    assert isinstance(step, Advance)
    assert then == step.to.isoformat()


def test_days_pass_until_noon():
    """When nothing else is said: far from the hours in which a bank may be closed."""
    (step,), _ = play(request_steps.wait_days(PSU, 1), Advanced(now=AT))
    assert AT.replace(day=17, hour=12) == step.to


@for_each(
    "part",
    [
        lambda: request_steps.customer(LIFE),
        lambda: request_steps.sign(LIFE, make()),
        request_steps.inquire,
        lambda: request_steps.read(LIFE, make()),
    ],
)
def test_a_step_that_is_answered_by_the_wrong_event_is_a_fault(part):
    """A driver that answers with something else is found out at once."""
    waiting = part()
    next(waiting)

    with pytest.raises(TypeError, match="answered by"):
        waiting.send(Advanced(now=AT))


def test_a_plain_signature_is_nobodys():
    """It is only a way of signing, filled in when something is signed."""
    assert Authorise(subject="", request="", approval=None) == request_steps.SIGN
