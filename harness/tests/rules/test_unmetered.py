"""`unmetered` judges attended calls beyond any quota, and the quota beside them."""

from datetime import timedelta

from account_information import AT, FAILED, LOST, NO, UNKNOWN, account, ask, check, consent, owner
from rows import for_each

from assay.testing import listed

DATA = listed("x")
PSU, OTHER = owner("psu", account("A1")), owner("other", account("B1"))
OURS = [PSU, consent("A1")]
THEIRS = [OTHER, consent("B1", by="other")]


def there(came=DATA, about="A1", **how):
    return ask("balances", came, about, **how)


def batch(came=DATA, about="A1", **how):
    return there(came, about, present=False, **how)


def says(*events, **how):
    return check("online-unlimited", *events, **how)


def test_what_any_quota_would_have_allowed_is_no_evidence():
    """Four calls are within the batch quota; the fifth goes beyond."""
    assert [] == says(*OURS, *[there()] * 4)
    assert ["balances-unlimited agrees 6"] == says(*OURS, *[there()] * 5)


@for_each(
    ("came", "agreement"),
    [(NO, "disagrees"), (UNKNOWN, "unclear"), (FAILED, "unclear"), (LOST, "unclear")],
)
def test_a_refusal_after_the_same_question_was_answered_is_a_limit(came, agreement):
    """Failures and time-outs are none."""
    assert [f"balances-unlimited {agreement} 3"] == says(*OURS, there(), there(came))


def test_five_calls_on_five_days_show_nothing():
    """Only calls of one day can use a daily quota up."""
    days = [there(at=AT + timedelta(days=n)) for n in range(6)]

    assert [] == says(*OURS, *days)
    assert [] == says(*OURS, *days, zone=None)


@for_each(
    "refused",
    [
        there(NO, "A2"),
        there(NO, arguments={"limit": 1}),
        there(NO, mode="m"),
        there(NO, follow="p2"),
        there(NO, "B1", by="other"),
    ],
)
def test_other_questions_may_be_refused_for_other_reasons(refused):
    """The control is the very same question."""
    assert [] == says(*OURS, OTHER, there(), refused)


def test_a_refusal_after_the_consent_went_elsewhere_is_no_limit():
    """A later consent may have replaced the former."""
    assert [] == says(*OURS, there(), consent("A2"), there(NO))


# -- beside the quota --------------------------------------------------------------
CONTROL = [*THEIRS, batch(about="B1", by="other")]


@for_each(("came", "agreement"), [(DATA, "agrees"), (NO, "disagrees"), (LOST, "unclear")])
def test_attended_calls_do_not_use_the_quota_up(came, agreement):
    """After more of them than the quota has, the first batch call is served."""
    found = says(*OURS, *CONTROL, *[there()] * 5, batch(came))

    assert f"not-counted {agreement} 9" == found[-1]


@for_each(
    "events",
    [
        [*OURS, *CONTROL, *[there()] * 4, batch(NO)],
        [*OURS, *[there()] * 5, batch(NO)],
        [*OURS, *CONTROL, batch(LOST), *[there()] * 5, batch(NO)],
        [*OURS, *CONTROL, *[there()] * 5, batch(NO, at=AT + timedelta(days=1))],
    ],
)
def test_a_batch_call_that_may_be_refused_is_no_evidence(events):
    """It takes enough attended calls of the day, no batch call before, and a control."""
    assert not [line for line in says(*events) if "not-counted" in line]


def test_of_a_customer_who_was_there_before_a_refused_batch_call_is_open():
    """Others may have used the quota up today."""
    ours = [owner("psu", fresh=False), consent("A1")]
    found = says(*ours, *CONTROL, *[there()] * 5, batch(NO))

    assert "not-counted unclear 9" == found[-1]


@for_each(("came", "agreement"), [(DATA, "agrees"), (NO, "disagrees"), (FAILED, "unclear")])
def test_attended_calls_are_served_when_the_quota_is_used_up(came, agreement):
    """The control is another customer's attended call."""
    control = [*THEIRS, there(about="B1", by="other")]
    found = says(*OURS, *control, *[batch()] * 4, batch(NO), there(came))

    assert [f"after-exhausted {agreement} 9"] == found


@for_each(
    "events",
    [
        [*[batch()] * 3, batch(NO), there()],
        [*[batch()] * 4, batch(LOST), there()],
        [*[batch()] * 4, batch(NO), there(at=AT + timedelta(days=1))],
        [*[batch()] * 4, batch(NO), there(NO)],
    ],
)
def test_without_a_used_up_quota_and_a_control_nothing_is_said(events):
    """An attended call shows nothing of a quota that was not reached."""
    assert [] == says(*OURS, *events)


def test_methods_that_are_not_named_are_left_alone():
    """The clause names four; an attended consent needs no consent before it."""
    assert [] == says(*[ask("trusted-beneficiaries", DATA)] * 9)
    assert "consents-unlimited agrees 5" == says(*[consent("A1")] * 5)[0]
