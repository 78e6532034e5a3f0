"""Kinds about operations, where the operations make, show, change or end requests."""

from dataclasses import replace
from datetime import timedelta

from account_information import AT, FAILED, GONE, LOST, NO, ODD, UNKNOWN, account, ask, owner
from account_information import ruled as ruled_accounts
from payment_initiation import (
    DONE,
    KEY,
    OPEN,
    REJECTED,
    cancel,
    check,
    effects,
    make,
    modify,
    payer,
    probed,
    read,
    ruled,
    shown,
    sign,
)
from rows import for_each

from assay.history import Ending, Malformed, Owned, Subject
from assay.planning.plan import count_calls
from assay.rules.checks import checked
from assay.rules.lifecycle import request_steps
from assay.testing import failed, history, play, refused

ANSWERS = [
    (NO, "disagrees"),
    (GONE, "disagrees"),
    (FAILED, "disagrees"),
    (UNKNOWN, "unclear"),
    (LOST, "unclear"),
    (ODD, "unclear"),
]


# -- available ----------------------------------------------------------------------
@for_each(
    ("made", "came", "says"),
    [
        (None, None, ["agrees", "agrees"]),
        (None, FAILED, ["agrees", "disagrees"]),
        (None, NO, ["agrees", "disagrees"]),
        (NO, FAILED, ["agrees"]),
        (FAILED, FAILED, ["agrees"]),
    ],
)
def test_a_request_that_names_no_account_is_read_where_the_bank_takes_one(made, came, says):
    """It may refuse such a request: the document does not say that the account can be absent."""
    open_ = set()

    def bank(call, key):
        if call.operation == "create-payment" and "debtorAccount" not in call.arguments:
            open_.add(key)
            return made or shown(key)
        key = call.arguments.get(KEY) or key
        return came if came and key in open_ else shown(key)

    played, said = probed("payments.read", "answers", bank)
    assert [f"answers {each}" for each in says] == said
    asked = [one for one in played.calls if one.operation == "create-payment"]
    assert [True, False] == ["debtorAccount" in one.arguments for one in asked]


@for_each(("came", "says"), [(shown(), "agrees"), *ANSWERS])
def test_a_valid_request_must_be_taken(came, says):
    """A refusal or failure breaks it; a time-out or unknown credentials leave it open."""
    assert [f"answers {says} 1"] == check("payments.create", payer(), make(came))


@for_each(
    ("event", "customer"),
    [
        (make(NO, chargeBearer="SHAR"), payer()),
        (make(NO, currency="USD"), payer()),
        (make(NO, amount=""), payer()),
        (make(NO, creditorAccount=None), payer()),
        (make(NO, without=["categoryPurpose"]), payer()),
        (make(NO, mode="instant"), payer()),
        (make(NO, mode="deferred"), payer()),
        (make(NO, debtorAccount="B9"), payer()),
        (make(NO), payer("other")),
        (make(NO), payer(segment="corporate")),
        (
            make(NO),
            Subject(
                name="psu",
                now=AT,
                owns=(Owned(key="A1", resource="account", traits={"savings": True}),),
            ),
        ),
    ],
)
def test_a_request_that_may_be_refused_is_no_violation(event, customer):
    """What is known to speak against a request makes its refusal no evidence."""
    assert [] == check("payments.create", customer, event)


@for_each(
    "events",
    [
        [make(NO, categoryPurpose="CASH")],
        [make(), sign(), make(NO, key="P2")],
        [make(), sign(Ending.STOPPED), make(NO, key="P2")],
        [make(), effects("P1"), make(NO, key="P2")],
        [make(), make(NO, key="P2", amount=12)],
        [make(NO, creditorAccount=["C1"])],
    ],
)
def test_a_request_that_another_rule_may_reject_is_no_violation(events):
    """A bank may say no at once to what others reject once it is signed."""
    assert "answers disagrees" not in " ".join(check("payments.create", payer(), *events))


def test_the_like_of_what_was_never_signed_must_be_taken():
    """Only what may have been executed can be repeated."""
    said = check("payments.create", payer(), make(), make(NO, key="P2"))
    assert ["answers agrees 1", "answers disagrees 2"] == said


def test_a_request_that_is_taken_answers_whatever_speaks_against_it():
    """Too lenient is another clause's matter; here the method answered."""
    assert ["answers agrees 1"] == check("payments.create", payer(), make(chargeBearer="SHAR"))


@for_each(("came", "says"), [(shown(), "agrees"), *ANSWERS])
def test_a_request_can_be_read(came, says):
    """Its maker is answered about it."""
    assert [f"answers {says} 2"] == check("payments.read", payer(), make(), read(came))


@for_each(
    "events",
    [
        [read(NO)],
        [make(NO), read(NO)],
        [make(LOST), read(NO)],
        [make(), read(NO, key="P2")],
        [make(tpp="one"), read(NO, tpp="two")],
    ],
)
def test_what_was_never_made_need_not_be_read(events):
    """Only what surely exists, and is the caller's own, must be answered."""
    assert [] == check("payments.read", payer(), *events)


DEFERRED = make(mode="deferred", date="2026-09-19")


@for_each(("came", "says"), [(shown(), "agrees"), *ANSWERS])
def test_a_request_that_can_be_changed_must_be(came, says):
    """One that is put off, open, and not signed; a refusal leaves open which changes are."""
    says = "unclear" if came in (NO, GONE) else says
    events = payer(), DEFERRED, modify(came, amount="1.00")
    assert [f"answers {says} 2"] == check("payments.modify", *events)


@for_each(
    "events",
    [
        [make(), modify(NO, amount="1.00")],
        [DEFERRED, sign(), modify(NO, amount="1.00")],
        [DEFERRED, sign(Ending.STOPPED), modify(NO, amount="1.00")],
        [DEFERRED, cancel(), modify(NO, amount="1.00")],
        [DEFERRED, cancel(LOST), modify(NO, amount="1.00")],
        [DEFERRED, read(shown(state=DONE)), modify(NO, amount="1.00")],
        [DEFERRED, read(shown(state=None)), modify(NO, at=AT + timedelta(days=3), amount="1.00")],
    ],
)
def test_a_change_that_may_be_refused_is_no_violation(events):
    """What has happened to a request may stand in the way."""
    assert [] == check("payments.modify", payer(), *events)


@for_each(
    ("came", "says"),
    [(NO, "agrees"), (FAILED, "disagrees"), (LOST, "unclear"), (shown("P2"), "agrees")],
)
def test_a_malformed_request_needs_a_control(came, says):
    """It must be survived, and is judged beside a request that was taken."""
    bent = make(came)
    bent = replace(bent, call=replace(bent.call, malformed=Malformed.DEEP))
    assert [f"survives-malformed {says} 2"] == check("payments.create", payer(), make(), bent)[1:]
    assert [] == check("payments.create", payer(), make(NO, mode="instant"), bent)


def test_an_unreadable_request_must_be_refused():
    """Text is no request, whatever the answer says."""
    bent = make(shown("P2"))
    bent = replace(bent, call=replace(bent.call, malformed=Malformed.NOT_JSON))
    said = check("payments.create", payer(), make(), bent)
    assert ["survives-malformed agrees 2", "refuses-malformed disagrees 2"] == said[1:]


# -- unavailable ---------------------------------------------------------------------
def confirm(came, key="P1"):
    return ask("confirm-payment", came, arguments={KEY: key})


def offered(*events):
    return check("payments.confirmation", payer(), *events)


@for_each(
    ("came", "says"),
    [(NO, "agrees"), (GONE, "agrees"), (shown(), "disagrees"), (LOST, "unclear")],
)
def test_a_method_that_is_not_there_is_refused_before_and_after(came, says):
    """Which of the two it is, the signature tells."""
    assert [f"refused-before-signing {says} 3"] == offered(make(), read(), confirm(came))
    assert [f"refused-after-signing {says} 4"] == offered(make(), sign(), read(), confirm(came))


@for_each(
    "events",
    [
        [make(), confirm(NO)],
        [make(), read(NO), confirm(NO)],
        [make(), read(), confirm(NO, key="P2")],
        [make(), read(), sign(Ending.STOPPED), confirm(NO)],
    ],
)
def test_a_refusal_that_shows_nothing(events):
    """Who refuses everything does not pass, nor is a doubtful signature one or the other."""
    assert [] == offered(*events)


def test_offered_is_offered_also_to_one_who_may_have_signed():
    """An accepted call is a fault on either side of the signature."""
    events = make(), read(), sign(Ending.STOPPED), confirm(shown())
    assert ["refused-before-signing disagrees 4"] == offered(*events)


def test_what_the_world_carried_out_was_signed():
    """Effects tell as much as a signature does."""
    said = offered(make(), read(), sign(Ending.STOPPED), effects("P1"), confirm(shown()))
    assert ["refused-after-signing disagrees 4"] == said


# -- no-credentials, host-affinity, maintenance-window --------------------------------
def test_credentials_do_not_make_a_request():
    """The control is the same request, properly authorised, in whatever mode."""
    bent = make(shown("P2"))
    bent = replace(bent, call=replace(bent.call, credentials=True))
    assert ["create-payment disagrees 2"] == check("redirect-only", payer(), make(), bent)
    assert [] == check("redirect-only", payer(), make(NO), bent)


@for_each(("came", "says"), [(shown("P2"), "agrees"), (NO, "disagrees")])
def test_every_host_answers_what_the_first_one_does(came, says):
    """The same call on another host is judged where the first host took it."""
    other = make(came, host=0)
    assert [f"every-host {says} 2"] == check("host", payer(), make(), other)
    assert [] == check("host", payer(), make(NO), other)
    assert [] == check("host", payer(), make(mode="deferred"), other)
    # Once the first one is signed, the second may be a repeat of what was executed.
    perhaps = says.replace("disagrees", "unclear")
    assert [f"every-host {perhaps} 3"] == check("host", payer(), make(), sign(), other)
    assert [f"every-host {says} 4"] == check("host", payer(), make(), sign(), make(), other)


@for_each(
    ("came", "says"),
    [
        (GONE, "agrees"),
        (NO, "agrees"),
        (shown(), "disagrees"),
        # Its tokens may be its own, and whether it works is not for this bank to answer for.
        (UNKNOWN, "unclear"),
        (FAILED, "unclear"),
        (LOST, "unclear"),
    ],
)
def test_another_bank_does_not_know_a_request_of_this_one(came, says):
    """The control is the same call at this bank; an answer elsewhere that shows it needs none."""
    other = read(came, bank=0)
    assert [f"read-payment-elsewhere {says} 2,3"] == check("host", payer(), make(), other, read())
    assert [f"read-payment-elsewhere {says} 2,3"] == check("host", payer(), make(), read(), other)
    alone = [f"read-payment-elsewhere {says} 2"] if says == "disagrees" else []
    assert alone == check("host", payer(), make(), other)
    assert alone == check("host", payer(), make(), other, read(NO))
    # A request that nobody made here may belong to the other bank, and `hosts` belong to this one.
    assert [] == check("host", payer(), other, read())
    assert [] == check("host", payer(), make(), read(came, host=0), read())


def test_other_rules_judge_nothing_from_the_first_call_at_another_bank_on():
    """A change that another bank took by mistake is no fault of what this bank shows after it."""
    events = [payer(), make(mode="deferred"), read()]
    change = modify(amount="47.11")
    moved = replace(change, call=replace(change.call, bank=0))
    kind = ruled("payments.read")
    said = [evidence.exchanges for evidence in checked(kind, history(*events, moved, read(NO)))]
    assert [(2,)] == said
    assert [(2,), (4,)] == [
        evidence.exchanges for evidence in checked(kind, history(*events, change, read(NO)))
    ]


def test_reading_outside_the_window_must_be_answered():
    """A request that was read before is read again just after the window."""
    after = AT.replace(day=21, hour=6, minute=1)
    said = check("maintenance", payer(), make(), read(), read(FAILED, at=after))
    assert ["after disagrees 3"] == said


# -- what the probes do ----------------------------------------------------------------
@for_each(
    ("clause", "scenario"),
    [
        ("payments.create", "answers"),
        ("payments.read", "malformed"),
        ("payments.modify", "malformed"),
        ("payments.confirmation", "unsigned"),
        ("payments.confirmation", "signed"),
        ("host", "every-host"),
        ("host", "modify-payment:links"),
        ("maintenance", "week"),
        ("redirect-only", "create-payment"),
    ],
)
def test_a_probe_stops_where_no_request_is_made(clause, scenario):
    """A target that refuses the request leaves nothing to ask about, and that is no fault of ours."""
    params = ruled(clause)

    played = play(params, scenario, lambda call: NO)
    assert 1 <= len(played.calls) <= count_calls(params, params.scenario(scenario))


def test_the_key_of_a_request_is_that_of_its_answer():
    """Nothing is known of a request that was not accepted."""
    (made, refused) = history(make(shown("P7")), make(NO)).exchanges
    assert ("P7", None) == (request_steps.key_of(made), request_steps.key_of(refused))
    assert OPEN is made.item.state


@for_each(
    "over",
    [
        [cancel()],
        [cancel(LOST)],
        [sign(Ending.REFUSED)],
        [sign(Ending.DISCONNECTED)],
        [read(shown(state=REJECTED))],
    ],
)
def test_what_has_ended_need_not_be_readable(over):
    """The states of a request, and how long it can be read, are not in the document."""
    said = check(
        "payments.read", payer(), make(mode="deferred", date="2026-09-19"), *over, read(NO)
    )
    assert "answers disagrees" not in " ".join(said)


def test_what_was_signed_must_be_readable():
    """Unless another rule may reject it."""
    assert ["answers disagrees 3"] == check("payments.read", payer(), make(), sign(), read(NO))
    cash = make(categoryPurpose="CASH")
    assert [] == check("payments.read", payer(), cash, sign(), read(NO))
    again = [make(), sign(), make(key="P2"), sign(key="P2"), read(NO, key="P2")]
    assert [] == check("payments.read", payer(), *again)


@for_each(("days", "violates"), [(1, True), (3, False), (8, False)])
def test_what_nobody_signed_may_be_gone_after_some_days(days, violates):
    """Whenever it would have been due: the document does not say how long it is kept."""
    made = make(mode="deferred", date="2026-09-29")
    said = check("payments.read", payer(), made, read(NO, at=AT + timedelta(days=days)))
    assert violates is ("answers disagrees" in " ".join(said))


@for_each("status", [408, 425, 429])
def test_a_bank_that_takes_no_call_for_a_while_violates_nothing(status):
    """The contract does not say how many requests there may be; of accounts it does."""

    def says(kind, *events):
        found = checked(kind, history(*events))
        return [one.agreement.value for one in found if one.facet == "answers"]

    wait, create = refused(status=status), ruled("payments.create")
    assert ["unclear"] == says(create, payer(), make(wait))
    assert ["disagrees"] == says(create, payer(), make(NO))
    accounts = ruled_accounts("accounts.available")
    assert ["disagrees"] == says(accounts, owner("psu", account("A1")), ask("accounts", wait))


@for_each(
    ("status", "headers", "agreement"),
    [
        (503, {"Retry-After": "1"}, "unclear"),
        (503, {"retry-after": "120"}, "unclear"),
        (503, {}, "disagrees"),
        (500, {"Retry-After": "1"}, "disagrees"),
    ],
)
def test_a_pause_is_no_failure_of_a_call(status, headers, agreement):
    """A target that says when to call again is not there just now; any other failure is one."""
    pause = failed(status=status, headers=headers)
    found = checked(ruled("payments.create"), history(payer(), make(pause)))
    assert {agreement} == {one.agreement.value for one in found if one.facet == "answers"}


@for_each("amount", ["0.01", "15000.50"])
def test_a_bank_may_have_limits_of_its_own(amount):
    """An unusual amount may be refused, unless it was accepted before; it may not fail."""
    assert [] == check("payments.create", payer(), make(NO, amount=amount))
    assert ["answers disagrees 1"] == check("payments.create", payer(), make(FAILED, amount=amount))
    assert ["answers agrees 1", "answers disagrees 2"] == check(
        "payments.create", payer(), make(amount=amount), make(NO, key="P2", amount=amount)
    )
