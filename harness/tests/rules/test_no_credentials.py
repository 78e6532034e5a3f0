"""`no-credentials` wants a refusal of what its proper twin is granted."""

from dataclasses import replace

from account_information import (
    AISP,
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
from payment_initiation import DONE as DONE_
from payment_initiation import (
    ENDED,
    OPEN,
    PIS,
    REJECTED,
    effects,
    make,
    modify,
    payer,
    read,
    shown,
    sign,
)
from payment_initiation import check as payments
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


def test_an_argument_with_the_name_of_a_password_is_no_credential():
    """A target may ignore parameters that it does not know."""
    beside = ask("accounts", listed("A1"), arguments={"password": "secret"})

    assert [] == check("redirect-only", CONTROL, beside)


@for_each(
    ("operation", "places"),
    [
        ("accounts", {CredentialPlace.BASIC, CredentialPlace.PARAMETERS}),
        ("transactions", {CredentialPlace.BASIC, CredentialPlace.PARAMETERS}),
        ("consents", set(CredentialPlace) - {CredentialPlace.GRANT, CredentialPlace.BESIDE}),
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


def beside(call):
    """Put the customer's credentials beside the token of a call."""
    sent = replace(call.call, credentials=True, credentials_in=CredentialPlace.BESIDE)
    return replace(call, call=sent)


def ask_a2(came):
    return ask("balances", came, "A2")


@for_each(
    ("came", "says"),
    [
        (NO, ["beside-token agrees 3"]),
        (refused("A2"), ["beside-token disagrees 3"]),
        (listed("x"), ["beside-token disagrees 3"]),
        (NONE, ["beside-token unclear 3"]),
        (FAILED, ["beside-token unclear 3"]),
    ],
)
def test_credentials_beside_a_token_open_nothing_that_is_refused_without(came, says):
    """The controls are the same call with the token alone, which was refused, and another that was served."""
    served = ask("balances", listed("x"))
    assert says == check("redirect-only", served, ask_a2(NO), beside(ask_a2(came)))
    for control in (
        [],
        [ask_a2(refused("A2"))],
        [ask_a2(listed("x"))],
        [ask_a2(NO), consent("A2")],
        [ask_a2(FAILED)],
    ):
        assert [] == check("redirect-only", served, *control, beside(ask_a2(came)))
    again = ask_a2(listed("x")), beside(ask_a2(came))
    assert [] == check("redirect-only", served, ask_a2(NO), *again)
    # To whom nothing is served, nothing is refused for lack of a consent.
    assert [] == check("redirect-only", ask_a2(NO), beside(ask_a2(came)))


SEEN = [(OPEN, "agrees"), (DONE_, "disagrees"), (REJECTED, "agrees"), (ENDED, "agrees")]


@for_each(("state", "says"), SEEN)
def test_credentials_beside_a_token_sign_nothing(state, says):
    """Where the request was made with them, and where it was read or changed with them."""
    for sent in (
        [beside(make())],
        [make(), beside(read())],
        [make(), beside(modify(NO, amount="1.00"))],
    ):
        numbers = ",".join(str(len(sent) + n) for n in (0, 1))
        said = payments("redirect-only", payer(), *sent, read(shown("P1", state)))
        assert [f"beside-token {says} {numbers}"] == said


def test_what_was_executed_of_an_unsigned_request_is_told_by_the_fixture():
    """What the customer signed, and what was sent with the token alone, may be executed."""
    assert ["beside-token disagrees 1"] == payments(
        "redirect-only", payer(), beside(make()), effects("P1")
    )
    for events in ([make(), effects("P1")], [beside(make()), sign(), effects("P1")]):
        assert [] == payments("redirect-only", payer(), *events)
    assert [] == payments("redirect-only", payer(), beside(make(NO)), read(NO))
    unsigned = [make(shown("P2", DONE_)), beside(make()), effects("P1")]
    assert [] == payments("redirect-only", payer(), *unsigned)
    late = [make(), sign(), beside(read(shown("P1", DONE_))), read(shown("P1", DONE_))]
    assert [] == payments("redirect-only", payer(), *late)


def test_a_contract_without_a_signature_or_a_consent_has_nothing_that_they_could_open():
    """What nobody signs is executed all the same."""
    for kind, named, there in (
        ("pis", {}, True),
        ("pis", {"operations": ["read-payment"]}, False),
        ("aisp", {}, True),
        ("aisp", {"operations": ["accounts", "consents"]}, False),
    ):
        clause = ruled("redirect-only", contract={"pis": PIS, "aisp": AISP}[kind], **named)
        assert there is ("beside-token" in {facet.id for facet in clause.facets()})
