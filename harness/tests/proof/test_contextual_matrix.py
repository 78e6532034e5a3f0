"""The contextual matrix: which confined faults are found, and why others cannot be."""

import pytest
from rows import for_each

from assay.cli.prove import contextual_lines
from assay.proof.contextual_matrix import (
    ELSEWHERE,
    ContextualMatrix,
    ContextualRow,
    Outcome,
    pairs,
    prove_contexts,
)
from assay.proof.contextual_neutral import NeutralRow


def rows(*chosen):
    """Run these pairs of a mutant and a situation."""
    return prove_contexts(chosen=lambda name: name in chosen, workers=1).rows


def test_the_order_of_pairs_is_stable():
    """The first pairs are a sample of all mutants, the same on every machine."""
    names = {mutant for mutant, _ in pairs()[:100]}
    assert len(names) >= 90
    assert len(pairs()) > 3000


@pytest.mark.slow
def test_a_sample_of_contextual_mutants_is_found():
    """At least 98 % of the faults that can be found are, and the others have a reason."""
    matrix = prove_contexts(24, workers=2)
    assert matrix.reached, matrix.missed
    assert all(row.reason for row in matrix.rows if row.outcome is Outcome.EXCLUDED)


@pytest.mark.parametrize(
    "pair",
    [
        # One value shows less than the base context: a factor that the segment lacks. So may a
        # fault itself.
        "pis.factors.soft-token-not-asked-for mode=deferred",
        "pis.cash.every-purpose tpp=other",
        # A value of which the clause says nothing is not tested beside others.
        "pis.available.create-500 turn=third",
        # Days pass in the trial of a deferred payment, and it is still the same weekday.
        "pis.confirmation.200-after-signing weekday=sunday",
        "pis.factors.login-alone weekday=sunday",
        # The fault of the bank is confined to nothing else: not to one page, nor to one TPP.
        "listing.consented-item-lost weekday=saturday",
        "listing.last-item-lost page=later",
        "pis.credentials.basic-for-read turn=third",
        # A malformed identifier is one in a path as well.
        "available.transactions-500-on-identifier-alphabet weekday=saturday",
        # A rule applies in the situation, and says so.
        "pis.execution.no-link segment=PRO",
        "pis.duplicate.any-amount payee=registered",
        # The trial of another clause shows it.
        "pis.execution.shown-too-soon factor=sms",
        # The customer is absent in every call, on as many days as that takes.
        "consent.balance-any-consent presence=absent",
        # Nor does a first or last day open what no consent covers.
        "consent.transaction-any-consent arguments=one",
        # A renewed token belongs to the same customer.
        "consistent.named-for-one-account token=renewed",
        # The control of a repeat goes to the same payee.
        "pis.duplicate.of-refused payee=own",
        # The third change of a signed payment is tried as well.
        "pis.modify.shows-former-creditor turn=third",
    ],
)
def test_no_value_hides_what_another_shows(pair):
    """A fault is found although the values of its situation are tested with others."""
    (row,) = rows(pair)
    assert Outcome.FOUND is row.outcome


@for_each(
    "pair",
    [
        # A request that names no item is about all of its customer's.
        "quota.consents-unlimited page=later",
        "form.accounts-cut-off page=later",
        # The item is on a later page of its owner's list, whoever asks.
        "consent.balance-usurped page=later",
        # Credentials say whose customer it is, and so which day.
        "credentials.basic-for-accounts weekday=sunday",
        "credentials.body-for-consents page=later",
        "pis.credentials.basic-for-create weekday=sunday",
        # A payment keeps what it was made with.
        "pis.modify.shows-former-creditor payee=registered",
        "pis.modify.shows-former-amount amount=small",
    ],
)
def test_a_request_shows_what_it_is_about(pair):
    """The bank of the proof knows the situation of a request by all that it names."""
    (row,) = rows(pair)
    assert Outcome.FOUND is row.outcome


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        ("own.card-of-another-customer name=alias-1", "no operation of the trial has another name"),
        ("pis.factors.no-password factor=sms", "the trial itself varies this value"),
        ("pis.factors.any-password factor=cap", ELSEWHERE),
        # Shown by the trial of another clause, on a later day.
        ("pis.execution.refused-change-shown weekday=sunday", ELSEWHERE),
        ("pis.available.create-500-on-body-text amount=small", ELSEWHERE),
        (
            "pis.execution.no-immediate amount=small",
            "a bank may limit the amounts that it executes",
        ),
    ],
)
def test_what_cannot_be_found_has_a_reason(pair, reason):
    """A clause, a trial, the place of the fault, or the rule excludes the situation."""
    (row,) = rows(pair)
    assert (Outcome.EXCLUDED, reason) == (row.outcome, row.reason)


def test_the_situation_alone_is_that_of_the_contract():
    """Two contracts have a value of one name; a trial gets the one of its own contract."""
    pair = ("listing.last-item-lost", "turn=second")
    assert pair in pairs()
    (row,) = rows(" ".join(pair))
    assert pair == (row.mutant, row.situation)


def row(mutant, situation, outcome, reason=""):
    return ContextualRow(mutant=mutant, situation=situation, outcome=outcome, reason=reason)


def test_the_result_is_printed_by_policy_and_dimension():
    """Excluded rows do not count; what is missed is named; so are the neutral variants."""
    matrix = ContextualMatrix(
        rows=(
            row("quota.all", "page=later", Outcome.FOUND),
            row("quota.all", "weekday=sunday", Outcome.MISSED),
            row("pis.sca.none", "factor=sms", Outcome.EXCLUDED, ELSEWHERE),
        )
    )
    neutral = (
        NeutralRow(variants=("a", "b"), exchanges=9, violated=frozenset({"x"}), blamed=("b",)),
        NeutralRow(variants=("c",), exchanges=9, violated=frozenset()),
    )
    assert not matrix.reached
    assert [
        "",
        "found by policy",
        "    1 of 2     quota",
        "",
        "found by dimension",
        "    1 of 1     page",
        "    0 of 1     weekday",
        "",
        "found by situation",
        "    1 of 1     page=later",
        "    0 of 1     weekday=sunday",
        "",
        "excluded, by dimension and reason",
        f"    1 factor: {ELSEWHERE}",
        "",
        "missed: quota.all weekday=sunday",
        "1 of 2 contextual mutants found by their own clause (50.0 %)",
        "1 more cannot be found in their situation for the reasons above",
        "2 of 3 neutral variants without a violation in every context",
    ] == [*contextual_lines(matrix, neutral)]
