"""Neutral variants in all contexts: banks that only look different stay green there."""

from dataclasses import replace

import pytest

from assay.contexts.context import Depth
from assay.proof.contextual_neutral import planned, prove_neutral, run_in_contexts
from assay.sandbox.mutants.bundles import blamed, bundles, replaced, together
from assay.sandbox.policies import SOUND


@pytest.mark.slow
def test_neutral_variants_stay_green_in_every_context():
    """Every variant is run in a share of the trials, which together are all trials of a run.

    `assay prove --contexts` runs every variant in all of them.
    """
    plan, _ = planned(Depth.EACH)
    banks = bundles()
    assert len(plan.contextual) > 300
    for number, bank in enumerate(banks):
        share = replace(plan, trials=(), contextual=plan.contextual[number :: len(banks)])
        exchanges, violated = run_in_contexts(together(bank), share)
        assert exchanges > 0
        assert not violated, blamed(
            bank, lambda policies, share=share: bool(run_in_contexts(policies, share)[1])
        )


@pytest.mark.slow
def test_the_sound_bank_stays_green_where_any_two_values_meet():
    """A share of the trials with `--contexts pairs`; the whole takes about a minute."""
    plan, _ = planned(Depth.PAIRS)
    assert len(plan.contextual) > 1000
    share = replace(plan, trials=(), contextual=plan.contextual[::16])
    _, violated = run_in_contexts(SOUND, share)
    assert not violated


def test_a_variant_that_turns_red_is_named(monkeypatch):
    """What a bank violates is reported with the fewest variants that it takes."""
    guilty = bundles()[0][1]
    places = replaced(SOUND, guilty.change(SOUND))

    def run(policies, _plan):
        return 10, frozenset({"aisp/a/b"} if places <= replaced(SOUND, policies) else ())

    monkeypatch.setattr("assay.proof.contextual_neutral.run_in_contexts", run)
    names = {each.id for each in bundles()[0]}
    shown = []
    (row,) = prove_neutral(names.__contains__, workers=1, on_row=shown.append)
    assert [row] == shown
    assert frozenset({"aisp/a/b"}) == row.violated
    assert names == set(row.variants)
    assert (guilty.id,) == row.blamed
