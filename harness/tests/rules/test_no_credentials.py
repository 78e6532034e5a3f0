"""`no-credentials` wants a refusal of what its proper twin is granted."""

import pytest
from building import (
    BROKEN,
    DONE,
    FAILED,
    LOST,
    NO,
    NONE,
    UNKNOWN,
    ask,
    check,
    consent,
    leaked,
    listed,
)

CONTROL = ask("accounts", listed("A1"))


def tricked(came, **how):
    return ask("accounts", came, credentials=True, **how)


@pytest.mark.parametrize(
    ("came", "agreement"),
    [
        (NO, "agrees"),
        (UNKNOWN, "agrees"),
        (listed("A1"), "disagrees"),
        (DONE, "disagrees"),
        (leaked("A1"), "disagrees"),
        (NONE, "unclear"),
        (FAILED, "unclear"),
        (LOST, "unclear"),
    ],
)
def test_the_customers_credentials_open_nothing(came, agreement):
    """Any refusal will do that tells nothing."""
    assert [f"accounts {agreement} 2"] == check("redirect-only", CONTROL, tricked(came))


@pytest.mark.parametrize(
    "control",
    [
        [],
        [ask("accounts", NO)],
        [ask("accounts", listed("A1"), by="other")],
        [ask("accounts", listed("A1"), present=False)],
        [consent("A1")],
    ],
    ids=["none", "refused", "another's", "unattended", "another method"],
)
def test_without_the_proper_twin_nothing_is_said(control):
    """It may be refused for quite another reason."""
    for came in (NO, listed("A1")):
        assert [] == check("redirect-only", *control, tricked(came))


def test_proper_calls_and_other_methods_are_not_judged():
    """The clause names accounts and consents."""
    assert ["consents disagrees 3"] == check(
        "redirect-only",
        CONTROL,
        consent("A1"),
        consent("A1", credentials=True),
        ask("balances", listed("x"), "A1", credentials=True),
    )


def test_a_failure_is_no_refusal():
    """The proper twin was answered: it is the credentials over which the target fails."""
    assert ["accounts disagrees 2"] == check("redirect-only", CONTROL, tricked(BROKEN))
