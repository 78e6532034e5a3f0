"""Limits that each consent has, and names the number of: literal histories."""

from dataclasses import replace
from datetime import timedelta
from functools import cache

import pytest
from rows import for_each

from assay._resources import contract_dir
from assay.history import Accepted, Authorise, Authorised, Call, Ending, Item, Owned, State, Subject
from assay.history import Wire as Answered
from assay.rules.queries import perhaps_over_quota
from assay.testing import START, accepted, evidence, exchange, history, kind_in, problems, refused

XS2A = contract_dir() / "examples" / "xs2a" / "xs2a.yaml"
PSU = Subject(name="psu", now=START, owns=(Owned(key="A", resource="account"),))
OLD = replace(PSU, fresh=False)
NO, DATA = refused(status=429), accepted("x")
DAY = timedelta(days=1)


@cache
def clause():
    """Return the limit on the calls about an account."""
    return kind_in(XS2A, "frequency.account")


def made(key="c", named=4, by="psu"):
    """A consent was made, which names a number of calls, and signed."""
    arguments = {"access": ["A"], "frequencyPerDay": named, "validUntil": "2027-01-01"}
    call = Call(operation="make-consent", subject=by, arguments=arguments)
    answer = accepted()
    event = exchange(call, answer)
    item = Item(key=key, state=State.OPEN)
    step = Authorise(subject=by, request=key, approval=None)
    wire = Answered(method="POST", url="https://bank.example/sign", status=200)
    signed = Authorised(n=0, step=step, ending=Ending.CONFIRMED, moments=(START,), wire=wire)
    return replace(event, outcome=Accepted(items=(item,))), signed


def read(answer=DATA, *, at=START, present=False, consent=None, by="psu"):
    """The balances were read."""
    call = Call(
        operation="balances",
        subject=by,
        arguments={"iban": "A"},
        present=present,
        consent=consent,
    )
    return exchange(call, answer, at=at + timedelta(seconds=1))


def says(*events, subject=PSU):
    """Return what the clause says of a history, but that a call was served as it should be."""
    events = (subject, *events, read(present=True))
    every = evidence(clause(), history(*events))
    about_body = ("-code ", "-status ")
    counted = [each for each in every if not any(part in each for part in about_body)]
    return [each for each in counted if "-served agrees" not in each]


@for_each(
    ("named", "times", "facet"),
    [(4, 4, "balances-refused"), (2, 2, "fewer-named"), (6, 4, "more-named")],
)
def test_a_consent_names_the_number_up_to_the_largest(named, times, facet):
    """The next call is refused, and none before it."""
    used = [*made(named=named), *[read()] * times]

    assert [f"{facet} agrees {3 + times}"] == says(*used, read(NO))
    assert [f"{facet} disagrees {3 + times}"] == says(*used, read())
    assert [f"balances-served disagrees {2 + times}"] == says(*used[:-1], read(NO))


@for_each("named", ["four", None, True, 0, -1])
def test_of_a_number_that_is_none_only_the_largest_is_certain(named):
    """How many calls must be served is unknown, and beyond the largest number none is."""
    used = [*made(named=named), *[read()] * 4]

    assert [] == says(*used[:3], read(NO))
    assert ["balances-refused disagrees 7"] == says(*used, read())


def test_a_new_consent_has_a_count_of_its_own():
    """After four calls under one consent, the next one is served four times."""
    used = [*made("c"), *[read()] * 4]

    assert ["per-consent agrees 9"] == says(*used, *made("d"), read())
    assert ["per-consent disagrees 9"] == says(*used, *made("d"), read(NO))
    assert ["per-consent agrees 9", "balances-refused disagrees 13"] == says(
        *used, *made("d"), *[read()] * 5
    )


def test_a_call_that_names_its_consent_counts_for_that():
    """It leaves the count of the last consent as it is."""
    former = [read(consent="c")] * 3

    assert [] == says(*made("c"), *made("d"), *former, *[read()] * 4)
    assert ["balances-served disagrees 7"] == says(*made("c"), *made("d"), *former[:2], read(NO))


def test_nothing_is_certain_before_the_signature():
    """A call under a consent that is not signed may be refused for that."""
    consent, _ = made()
    assert [] == says(consent, read(NO))


def test_the_past_of_a_customer_does_not_count_for_a_new_consent():
    """Nothing was counted for it before it was made; without one, earlier calls are unknown."""
    assert ["balances-served disagrees 3"] == says(*made(), read(NO), subject=OLD)
    assert [] == says(read(NO), subject=OLD)


def test_a_consent_without_a_key_leaves_the_count_open():
    """Which consent later calls use is unknown."""
    consent, signed = made()
    nameless = replace(consent, outcome=Accepted(items=(Item(),)))
    assert [] == says(consent, signed, *[read()] * 4, nameless, read(NO))


def test_the_tpp_makes_no_more_calls_than_its_consent_names():
    """The count is that of the consent, by whatever name its customer calls."""

    def duty(*events):
        return evidence(clause(), history(PSU, *events), tpp=True)[-1]

    assert "not-exceeded agrees 4" == duty(*made(named=2), read(), read())
    assert "not-exceeded disagrees 3,4,5" == duty(*made(named=2), *[read()] * 3)
    assert "not-exceeded agrees 6" == duty(*made(named=1), read(), *made("d", named=1), read())


def test_a_refusal_may_be_for_the_number_that_a_consent_names():
    """To other clauses, each call beyond the smallest number may be one too many."""

    def beyond(named):
        events = history(PSU, *made(named=named), *[read()] * 3)
        return perhaps_over_quota(clause().contract, events)

    assert (frozenset({5}), frozenset(), frozenset({3, 4, 5})) == (
        beyond(2),
        beyond(4),
        beyond("x"),
    )


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("argument: frequencyPerDay,", "argument: frequency,", "there is no argument"),
        ("    counted-for: consent\n", "", "add `counted-for: consent`"),
        ("    grant: make-consent\n    limit", "    limit", "no operation that makes consents"),
        ("at-most: 4}", "at-least: 4}", "at-most"),
    ],
)
def test_a_number_that_no_consent_names_is_a_finding(right, wrong, said, tmp_path):
    """Each has a line and a hint."""
    path = tmp_path / "xs2a.yaml"
    path.write_text(XS2A.read_text("utf-8").replace(right, wrong))
    assert any(said in each for each in problems(path)), problems(path)
