"""Whole clauses about payments, asked of the sandbox: what they cost, and what they find there."""

from dataclasses import replace

from payment_initiation import PIS
from rows import for_each

from assay.binding.read.join import bind
from assay.history import Advance
from assay.journal.writer import Journal
from assay.planning.plan import plan
from assay.preparation.target_file import find_target, read_target
from assay.rules.dry_run import DryTarget, dry_run
from assay.rules.rule import clauses_of
from assay.running.environment import set_up
from assay.running.session import Session, run_session
from assay.sandbox.app import make_app
from assay.sandbox.policies import SOUND

SANDBOX = read_target(find_target("sandbox"))


def judged(clause, *, seed=0, words=None, **policies):
    """Return the calls planned, the calls made, and verdicts by facet.

    `words` take the place of the clause's own parameters, `policies` of the sound bank's.
    """
    clauses = (
        replace(one, params={**one.params, **(words or {})}) if one.id == clause else one
        for one in PIS.clauses
    )
    bound = bind([replace(PIS, clauses=tuple(clauses))], SANDBOX)
    chosen = plan(bound, SANDBOX, lambda one: one.clause == clause)
    bank = replace(SOUND, payments=replace(SOUND.payments, **policies))
    environment = set_up(
        SANDBOX, seed=seed, bank=lambda base_url: make_app(bank, base_url=base_url)
    )
    try:
        result = run_session(
            Session(plan=chosen, environment=environment, journal=Journal(out=None))
        )
    finally:
        environment.close()
    assert () == result.faults
    verdicts = {one.obligation.rpartition("/")[2]: one.standing.value for one in result.verdicts}
    return chosen.calls, result.exchanges, verdicts


@for_each("seed", [0, 7])
@for_each(
    ("clause", "facets", "price"),
    [("cancel", 5, 36), ("modify.deferred-only", 6, 37), ("sca.required", 4, 33)],
)
def test_each_facet_has_its_control_and_price(clause, facets, price, seed):
    """At the sound bank all is as planned, on every trial's first moment."""
    calls, made, verdicts = judged(clause, seed=seed)
    assert (price, price, ["conforms"] * facets) == (calls, made, [*verdicts.values()])


@for_each(
    ("clause", "words", "facets", "price"),
    [
        # Where no mode is closed none is asked: only what was put off is executed, and then changed.
        ("modify.deferred-only", {"never": []}, 4, 24),
        ("sca.required", {"modes": ["deferred"]}, 4, 10 + 6 + 6),
        ("sca.required", {"modes": ["instant", "deferred"]}, 4, 15 + 12 + 6),
        ("sca.required", {"modes": []}, 4, 10 + 6 + 6),
    ],
)
def test_whatever_modes_are_named_the_price_is_right(clause, words, facets, price):
    """And the sound bank keeps the clause in each of them."""
    calls, made, verdicts = judged(clause, words=words)
    assert (price, price, ["conforms"] * facets) == (calls, made, [*verdicts.values()])


def test_a_bank_that_changes_signed_requests_only_has_a_control():
    """Where the control takes no change before its signature, it is asked again after it."""

    def signed(payment):
        return SOUND.payments.modifiable(payment) and payment.signed is not None

    *_, verdicts = judged("modify.deferred-only", modifiable=signed)
    assert verdicts["done-refused"] == "conforms"


def test_a_request_that_nobody_signs_is_not_kept_for_the_control():
    """Banks drop one within a day, so it is made after the days that the others need."""
    kind = {clause.id: kind for clause, kind in zip(PIS.clauses, clauses_of(PIS), strict=True)}
    rule = kind["modify.deferred-only"]
    (done,) = (facet for facet in rule.facets() if facet.id == "done-refused")
    steps = [*dry_run(rule.probe(done.scenario), DryTarget(contract=PIS))]
    waits = [n for n, step in enumerate(steps) if isinstance(step, Advance)]
    made = [n for n, step in enumerate(steps) if getattr(step, "operation", "") == "create-payment"]
    assert made[-1] > waits[-1] > made[-2]


def test_a_bank_that_executes_nothing_does_not_conform():
    """Where what was not cancelled, or was signed, is not executed either, nothing is shown."""
    *_, verdicts = judged("cancel", executable=lambda _payment: False)
    never = [word for facet, word in verdicts.items() if facet.endswith("-never-done")]
    assert ["indeterminate"] * 2 == never
    *_, verdicts = judged("sca.required", executable=lambda _payment: False)
    assert {"indeterminate"} == set(verdicts.values())


def test_a_bank_that_refuses_everything_does_not_conform():
    """Nothing that must be refused has a control then."""
    *_, verdicts = judged("modify.deferred-only", offered=lambda _type, _instant: False)
    assert {"indeterminate"} == set(verdicts.values())


def test_a_bank_at_which_nothing_can_be_cancelled_is_said_so_once():
    """Where no cancellation is accepted, neither what is shown nor what is executed is judged."""
    *_, verdicts = judged("cancel", cancellable=lambda _payment: False)
    assert "violates" == verdicts.pop("accepted")
    assert {"indeterminate"} == set(verdicts.values())


def test_a_bank_that_lets_only_amounts_be_changed_keeps_the_clause():
    """Which arguments can be changed does not stand in the document."""

    def amounts_only(former, new):
        return replace(former, amount=new.amount)

    *_, verdicts = judged("modify.deferred-only", modified=amounts_only)
    assert "violates" == verdicts["persists"]  # it said OK to the others
    assert "conforms" == verdicts["deferred-accepted"]
