"""`unavailable` wants a refusal before and after consent, of one who is known."""

from account_information import DONE, FAILED, GONE, LOST, NO, NONE, UNKNOWN, ask, check, consent
from rows import for_each

from assay.testing import accepted, listed, refused

CONTROL = ask("accounts", listed("A1"))


def says(*events):
    return check("trusted-beneficiaries", *events)


@for_each(
    ("came", "agreement"),
    [
        (GONE, "agrees"),
        (NO, "agrees"),
        (UNKNOWN, "agrees"),
        (DONE, "disagrees"),
        (listed("x"), "disagrees"),
        (refused("x"), "disagrees"),
        (NONE, "unclear"),
        (FAILED, "unclear"),
        (LOST, "unclear"),
    ],
)
def test_a_method_that_is_not_there_is_refused(came, agreement):
    """Any refusal will do; an empty list, a failure and a time-out leave it open."""
    assert [f"refused-without-consent {agreement} 2"] == says(
        CONTROL, ask("trusted-beneficiaries", came)
    )


def test_no_content_may_be_a_refusal():
    """Status codes are not in the document; a POST without content is accepted all the same."""
    done = ask("trusted-beneficiaries", accepted(status=204))
    assert ["refused-without-consent unclear 2"] == says(CONTROL, done)


def test_after_a_consent_it_is_another_facet():
    """What was refused before may be served with a consent."""
    assert ["refused-without-consent agrees 2", "refused-with-consent disagrees 4"] == says(
        CONTROL,
        ask("trusted-beneficiaries", GONE),
        consent("A1"),
        ask("trusted-beneficiaries", listed("x")),
    )


@for_each(
    "control",
    [[], [ask("accounts", UNKNOWN)], [ask("accounts", listed("A1"), by="other")]],
)
def test_without_the_control_nothing_is_said(control):
    """One whom no method answers tells nothing about this one."""
    assert [] == says(*control, ask("trusted-beneficiaries", GONE))
    assert [] == says(*control, ask("trusted-beneficiaries", listed("x")))


def test_a_refusal_after_a_doubtful_consent_bears_on_neither_facet():
    """Nobody knows whether a consent that timed out is there; a served call is red anyway."""
    doubtful = [CONTROL, consent("A1", came=LOST)]

    assert [] == says(*doubtful, ask("trusted-beneficiaries", GONE))
    assert ["refused-without-consent disagrees 3"] == says(
        *doubtful, ask("trusted-beneficiaries", listed("x"))
    )


def test_another_customers_consent_and_bent_calls_do_not_matter():
    """Consents are counted by customer, and a malformed call is none of the method's."""
    assert ["refused-without-consent agrees 4"] == says(
        CONTROL,
        consent("B1", by="other"),
        ask("trusted-beneficiaries", GONE, credentials=True),
        ask("trusted-beneficiaries", GONE),
    )
