"""The trace of policies: which trials a changed bank concerns, seen from outside of the bank."""

from dataclasses import replace
from types import MappingProxyType

import pytest

from assay.proof import kill_matrix
from assay.proof.kill_matrix import (
    ChangedBank,
    MatrixRow,
    Trace,
    prove,
    reference,
    run_on_bank,
    traced,
    trials_of,
    variants,
)
from assay.sandbox.mutants import Mutant
from assay.sandbox.policies import SOUND, put


def trace_of(**changes):
    """Return a trace of banks that replace policies, each under a name."""
    return Trace(
        tuple(
            ChangedBank.of(name, lambda bank, change=change: replace(bank, **change))
            for name, change in changes.items()
        )
    )


def test_a_plain_value_concerns_the_trials_that_read_it():
    """A number or a set is compared nowhere: who reads it may do something else."""
    trace = trace_of(status={"refusals": put(SOUND.refusals, quota=400)})
    policies = trace.policies()
    trace.trial = "a"
    assert 403 == policies.refusals["scope"]
    trace.trial = "b"
    assert 429 == policies.refusals["quota"]
    assert {"b"} == trace.concerning("status")


def test_a_function_concerns_the_trials_in_which_it_answers_otherwise():
    """A fault that shows in one situation only concerns the trials in that situation."""

    def carried(query):
        return {} if "since" in query else query

    trace = trace_of(forgetful={"carried": carried})
    policies = trace.policies()
    trace.trial = "a"
    assert {"until": "x"} == policies.carried({"until": "x"})
    trace.trial = "b"
    assert {"since": "x"} == policies.carried({"since": "x"})
    assert {"b"} == trace.concerning("forgetful")


def test_an_error_is_an_answer():
    """The sound policy's error reaches the bank; a variant's stays in the trace."""

    def failing(query):
        raise KeyError(*query)

    trace = trace_of(failing={"carried": failing})
    trace.trial = "a"
    assert {} == trace.policies().carried({})
    assert {"a"} == trace.concerning("failing")


def test_a_policy_with_a_state_is_called_by_its_bank_only():
    """What counts its calls would count those of the trace; every call concerns it."""
    calls = []

    def change(bank):
        def carried(query):
            calls.append(query)
            return query

        return replace(bank, carried=carried)

    trace = Trace((ChangedBank.of("counting", change),))
    trace.trial = "a"
    trace.policies().carried({})
    assert [] == calls
    assert {"a"} == trace.concerning("counting")


def test_the_whole_table_concerns_all_its_entries():
    """Who goes through a table has read each entry."""
    trace = trace_of(status={"refusals": put(SOUND.refusals, quota=400)})
    trace.trial = "a"
    assert set(SOUND.refusals) == set(trace.policies().refusals)
    assert {"a"} == trace.concerning("status")


def test_a_replaced_table_concerns_who_asks_for_a_missing_entry():
    """An entry that only the variant has is asked for in vain at the sound bank."""
    table = MappingProxyType({**SOUND.refusals, "odd": 400})
    trace = trace_of(odd={"refusals": table})
    trace.trial = "a"
    assert trace.policies().refusals.get("odd") is None
    assert {"a"} == trace.concerning("odd")


def test_what_is_read_outside_a_trial_concerns_all():
    """The bank that is being made reads policies for every trial."""
    trace = trace_of(status={"refusals": put(SOUND.refusals, quota=400)})
    assert 429 == trace.policies().refusals["quota"]
    assert trace.concerning("status") is None


def test_an_argument_that_can_be_read_once_is_read_by_all():
    """The bank gives iterators; each policy gets what the sound one got."""

    def debtor(_item, items):
        return len(list(items)) < 2

    sound = replace(SOUND, payments=replace(SOUND.payments, debtor=lambda _, items: any(items)))
    payments = replace(sound.payments, debtor=debtor)
    trace = Trace(
        (
            ChangedBank(
                id="two",
                policies=replace(sound, payments=payments),
                places=frozenset({".payments.debtor"}),
                has_state=False,
            ),
        )
    )
    for trial, items, same in (("a", [1], True), ("b", [1, 2], False)):
        trace.trial = trial
        path = (".payments", ".debtor")
        assert trace.call(path, sound.payments.debtor, (None, iter(items)), {})
        assert same is (trial not in trace.concerning("two"))


def test_names_that_begin_alike_are_different_places():
    """`.pages` is no part of `.page`, nor the other way round."""
    variant = ChangedBank(id="x", policies=SOUND, places=frozenset({".a[b].c"}), has_state=False)
    concerned = [
        place for place in (".a", ".a[b]", ".a[b].c", ".a[b].c.d") if variant.concerns(place)
    ]
    assert [".a", ".a[b]", ".a[b].c", ".a[b].c.d"] == concerned
    assert not any(map(variant.concerns, (".ab", ".a[bc]", ".a[b].cd", ".a[c]")))


def test_the_bank_is_sound_while_it_is_traced():
    """Every trial conforms, and most variants concern some of the trials only."""
    some = [id_ for id_ in variants() if traced().concerning(id_) is not None]
    assert len(some) > 0.9 * len(variants())


def test_every_mutant_concerns_the_trials_of_its_own_facets():
    """The trials that settle what a fault violates are among those that it concerns."""
    planned, _ = reference()
    own = {each.id: trial.id for trial in planned.trials for each in trial.settles}
    # What was executed shows at the end of every trial.
    kinds = {name: each.kind for name, each in planned.clauses["pis"].items()}
    executed = {
        name for name in own if name.startswith("pis/") and kinds[name.split("/")[1]].inquires
    }
    for variant in variants().values():
        concerned = traced().concerning(variant.id)
        if isinstance(variant, Mutant) and concerned is not None:
            settled = {own[id_] for id_ in variant.breaks - executed}
            # Calls without the customer, of a later page or for a range, and answers about requests
            # that were changed, are those of other clauses' trials.
            ends = ("-unattended", "-later", "-ranged", "modify.another-key")
            elsewhere = variant.id.endswith(ends)
            assert elsewhere or settled <= concerned, variant.id


def test_the_sample_is_the_same_everywhere_and_beside_the_others():
    """It follows from names alone, and has a trial of every twenty that are not concerned."""
    planned, _ = reference(("aisp",))
    mutant = (
        "paging.first-link-lost"
        if "paging.first-link-lost" in variants()
        else next(iter(variants()))
    )
    trials, concerned = trials_of(mutant, planned.trials), traced().concerning(mutant)
    assert trials == trials_of(mutant, planned.trials)
    others = len(planned.trials) - sum(trial.id in concerned for trial in planned.trials)
    assert -(-others // kill_matrix.SAMPLED) == len(trials - concerned)


def test_a_part_of_a_run_settles_what_its_trials_settle():
    """The verdicts of a few trials are those of the whole run on the same bank."""
    chosen = next(each for each in variants().values() if isinstance(each, Mutant))
    policies = chosen.change(SOUND)
    planned, _ = reference(("aisp",))
    trials = trials_of(chosen.id, planned.trials)
    part = run_on_bank(policies, contracts=("aisp",), trials=trials)
    whole = run_on_bank(policies, contracts=("aisp",))
    assert whole.violated == part.violated == chosen.breaks


def test_a_trial_of_the_sample_that_turns_red_is_an_error(monkeypatch):
    """Were the trace wrong, the sample would say so: it is no excuse that a trial is not concerned."""
    chosen = next(each for each in variants().values() if isinstance(each, Mutant))
    planned, _ = reference(("aisp",))
    own = {
        trial.id
        for trial in planned.trials
        if any(obligation.id in chosen.breaks for obligation in trial.settles)
    }
    # A mutant that says that it breaks nothing, and a trace that concerns nothing.
    silent = replace(chosen, breaks=frozenset())
    monkeypatch.setattr(kill_matrix, "variants", lambda: {silent.id: silent})
    monkeypatch.setattr(kill_matrix, "trials_of", lambda _variant, _trials: frozenset(own))
    matrix = prove(workers=1)
    assert [silent.id] == [row.id for row in matrix.wrong]


@pytest.mark.parametrize("whole", [False, True])
def test_the_row_says_how_many_trials_ran(whole):
    """A whole proof holds every trial, any other fewer."""
    chosen = next(iter(variants()))
    row: MatrixRow
    (row,) = prove([chosen].__contains__, workers=1, whole=whole).rows
    assert row.as_expected
    assert row.planned == len(reference(("aisp",))[0].trials)
    assert whole is (row.trials == row.planned)
