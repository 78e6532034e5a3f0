"""Consents in a mode, which do not open everything: literal histories."""

from rows import for_each
from xs2a_consents import PSU, clause, consent, ended, made, read, signed

from assay.history import (
    Code,
)
from assay.testing import accepted, evidence, history, refused

NO, DATA = refused(), accepted("x")
NARROW = "without-balances"


PLAIN = (*consent("d"), read(DATA))


@for_each(
    ("events", "expected"),
    [
        ((*consent("c", NARROW), read(NO), *PLAIN), ["mode-refused agrees 1,2,3"]),
        ((*consent("c", NARROW), read(DATA), *PLAIN), ["mode-refused disagrees 1,2,3"]),
        # Without a control, the bank may serve nothing at all.
        ((*consent("c", NARROW), read(NO)), []),
        # Nothing is certain of another mode, of a wrong signature, beside another consent, or later.
        ((*consent("c", "another"), read(DATA), *PLAIN), []),
        ((made("c", NARROW), signed(code=Code.WRONG), read(DATA), *PLAIN), []),
        ((made("c", NARROW), read(NO), *PLAIN), []),
        ((*consent("b"), *consent("c", NARROW), read(DATA), *PLAIN), []),
        ((*consent("c", NARROW), ended("c"), read(NO), *PLAIN), []),
    ],
)
def test_data_is_refused_under_a_consent_in_the_mode(events, expected):
    """The control is the same call, served under a consent in no mode."""
    said = evidence(clause("balances.named"), history(PSU, *events))
    assert expected == [each for each in said if not each.startswith("plain-served agrees")]


@for_each(("answer", "agreement"), [(DATA, "agrees"), (NO, "disagrees")])
def test_data_is_served_under_a_consent_in_no_mode(answer, agreement):
    """Otherwise a refusal in the mode says nothing."""
    assert [f"plain-served {agreement} 1,2,3"] == evidence(
        clause("balances.named"), history(PSU, *consent("c"), read(answer))
    )
