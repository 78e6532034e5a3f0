"""`no-credentials` wants a refusal of what its proper twin is granted."""

from account_information import (
    BROKEN,
    DONE,
    FAILED,
    LOST,
    NO,
    NONE,
    UNKNOWN,
    Obliging,
    ask,
    check,
    consent,
    ruled,
)
from rows import for_each

from assay.history import CredentialPlace, Token
from assay.testing import listed, refused

CONTROL = ask("accounts", listed("A1"))


def tricked(came, **how):
    return ask("accounts", came, credentials=True, **how)


@for_each(
    ("came", "agreement"),
    [
        (NO, "agrees"),
        (UNKNOWN, "agrees"),
        (listed("A1"), "disagrees"),
        (DONE, "disagrees"),
        (refused("A1"), "disagrees"),
        (NONE, "unclear"),
        (FAILED, "unclear"),
        (LOST, "unclear"),
    ],
)
def test_the_customers_credentials_open_nothing(came, agreement):
    """Any refusal will do that tells nothing."""
    assert [f"accounts {agreement} 2"] == check("redirect-only", CONTROL, tricked(came))


@for_each(
    "control",
    [
        [],
        [ask("accounts", NO)],
        [ask("accounts", listed("A1"), by="other")],
        [ask("accounts", listed("A1"), present=False)],
        [consent("A1")],
    ],
)
def test_without_the_proper_twin_nothing_is_said(control):
    """It may be refused for quite another reason."""
    for came in (NO, listed("A1")):
        assert [] == check("redirect-only", *control, tricked(came))


def test_proper_calls_and_other_methods_are_not_judged():
    """The clause does not name the identity."""
    assert ["consents disagrees 3"] == check(
        "redirect-only",
        CONTROL,
        consent("A1"),
        consent("A1", credentials=True),
        ask("end-user-identity", listed("x")),
        ask("end-user-identity", listed("x"), credentials=True),
    )


@for_each(
    ("anyone", "says"),
    [(UNKNOWN, "disagrees"), (NO, "disagrees"), (listed("A1"), "unclear"), (BROKEN, "unclear")],
)
def test_what_anyone_is_served_is_not_served_for_the_credentials(anyone, says):
    """The same call with neither token nor credentials must be refused, if it is made."""
    bare = ask("accounts", anyone, bearer=Token.NONE)
    for came in (listed("A1"), BROKEN):
        assert [f"accounts {says} 3"] == check("redirect-only", CONTROL, bare, tricked(came))


def test_credentials_beside_a_token_show_nothing():
    """A target may ignore parameters that it does not know."""
    beside = ask("accounts", listed("A1"), arguments={"password": "secret"})

    assert [] == check("redirect-only", CONTROL, beside)


@for_each(
    ("operation", "places"),
    [
        ("accounts", {CredentialPlace.BASIC, CredentialPlace.PARAMETERS}),
        ("transactions", {CredentialPlace.BASIC, CredentialPlace.PARAMETERS}),
        ("consents", set(CredentialPlace) - {CredentialPlace.GRANT}),
        ("password-grant", {CredentialPlace.GRANT}),
    ],
)
def test_credentials_are_sent_in_every_place_that_a_call_has(operation, places):
    """After the call with its token, and after one with nothing in its place."""
    clause = ruled("redirect-only")
    calls = Obliging().play(clause, operation).calls
    asked = [call for call in calls if call.operation in {operation, "accounts"}]

    assert [None, Token.NONE] == [call.bearer for call in asked[-2 - len(places) :][:2]]
    assert places == {call.credentials_in for call in asked if call.credentials}


def test_a_failure_is_no_refusal():
    """The proper twin was answered: it is the credentials over which the target fails."""
    assert ["accounts disagrees 2"] == check("redirect-only", CONTROL, tricked(BROKEN))


@for_each(("came", "says"), [(listed("A1"), "disagrees"), (UNKNOWN, "agrees")])
def test_a_token_for_the_password_opens_nothing(came, says):
    """It has a facet of its own, whatever the operation."""
    granted = tricked(came, credentials_in=CredentialPlace.GRANT)

    assert [f"password-grant {says} 2"] == check("redirect-only", CONTROL, granted)
