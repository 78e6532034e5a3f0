"""Limits that each consent has, and names the number of: literal histories."""

from dataclasses import replace
from datetime import timedelta

from rows import for_each
from xs2a_consents import PSU, clause, consent, read

from assay.history import Accepted, Item
from assay.rules.queries import perhaps_over_quota
from assay.testing import START, accepted, evidence, history, refused

OLD = replace(PSU, fresh=False)
NO, DATA = refused(status=429), accepted("x")


ABOUT = "frequency.account"


def limited(number=4, key="c", subject="psu"):
    """A consent was made, which names a number of calls, and signed."""
    return consent(key, frequencyPerDay=number, subject=subject)


def called(answer=DATA, *, at=START, present=False, **call):
    """The balances were read."""
    return read(answer, at=at + timedelta(seconds=1), present=present, **call)


def says(*events, subject=PSU):
    """Return what the clause says of a history, but that a call was served as it should be."""
    events = (subject, *events, called(present=True))
    every = evidence(clause(ABOUT), history(*events))
    about_body = ("-code ", "-status ")
    counted = [each for each in every if not any(part in each for part in about_body)]
    return [each for each in counted if "-served agrees" not in each]


@for_each(
    ("named", "times", "facet"),
    [(4, 4, "balances-refused"), (2, 2, "fewer-named"), (6, 4, "more-named")],
)
def test_a_consent_names_the_number_up_to_the_largest(named, times, facet):
    """The next call is refused, and none before it."""
    used = [*limited(named), *[called()] * times]

    assert [f"{facet} agrees {3 + times}"] == says(*used, called(NO))
    assert [f"{facet} disagrees {3 + times}"] == says(*used, called())
    assert [f"balances-served disagrees {2 + times}"] == says(*used[:-1], called(NO))


@for_each("named", ["four", None, True, 0, -1])
def test_of_a_number_that_is_none_only_the_largest_is_certain(named):
    """How many calls must be served is unknown, and beyond the largest number none is."""
    used = [*limited(named), *[called()] * 4]

    assert [] == says(*used[:3], called(NO))
    assert ["balances-refused disagrees 7"] == says(*used, called())


def test_a_new_consent_has_a_count_of_its_own():
    """After four calls under one consent, the next one is served four times."""
    used = [*limited(), *[called()] * 4]

    assert ["per-consent agrees 9"] == says(*used, *limited(key="d"), called())
    assert ["per-consent disagrees 9"] == says(*used, *limited(key="d"), called(NO))
    assert ["per-consent agrees 9", "balances-refused disagrees 13"] == says(
        *used, *limited(key="d"), *[called()] * 5
    )


def test_a_call_that_names_its_consent_counts_for_that():
    """It leaves the count of the last consent as it is."""
    former = [called(consent="c")] * 3

    assert [] == says(*limited(), *limited(key="d"), *former, *[called()] * 4)
    assert ["balances-served disagrees 7"] == says(
        *limited(), *limited(key="d"), *former[:2], called(NO)
    )


def test_nothing_is_certain_before_the_signature():
    """A call under a consent that is not signed may be refused for that."""
    consent, _ = limited()
    assert [] == says(consent, called(NO))


def test_the_past_of_a_customer_does_not_count_for_a_new_consent():
    """Nothing was counted for it before it was made; without one, earlier calls are unknown."""
    assert ["balances-served disagrees 3"] == says(*limited(), called(NO), subject=OLD)
    assert [] == says(called(NO), subject=OLD)


def test_a_consent_without_a_key_leaves_the_count_open():
    """Which consent later calls use is unknown."""
    consent, signed = limited()
    nameless = replace(consent, outcome=Accepted(items=(Item(),)))
    assert [] == says(consent, signed, *[called()] * 4, nameless, called(NO))


def test_the_tpp_makes_no_more_calls_than_its_consent_names():
    """The count is that of the consent, by whatever name its customer calls."""

    def duty(*events):
        return evidence(clause(ABOUT), history(PSU, *events), tpp=True)[-1]

    assert "not-exceeded agrees 4" == duty(*limited(2), called(), called())
    assert "not-exceeded disagrees 3,4,5" == duty(*limited(2), *[called()] * 3)
    assert "not-exceeded agrees 6" == duty(*limited(1), called(), *limited(1, "d"), called())


def test_a_refusal_may_be_for_the_number_that_a_consent_names():
    """To other clauses, each call beyond the smallest number may be one too many."""

    def beyond(named):
        events = history(PSU, *limited(named), *[called()] * 3)
        return perhaps_over_quota(clause(ABOUT).contract, events)

    assert (frozenset({5}), frozenset(), frozenset({3, 4, 5})) == (
        beyond(2),
        beyond(4),
        beyond("x"),
    )
