"""Random searches find violations, shorten their sequences, and keep to their limits."""

from dataclasses import replace
from itertools import count

import pytest
from shipped import VARIANTS, prepared

from assay.binding.model.target import ScaKind
from assay.errors import CannotArrange, TargetError
from assay.fuzzing.limits import limits_of
from assay.fuzzing.search import Search
from assay.fuzzing.sequences.shrink import without
from assay.fuzzing.session import SEARCH_METHODS
from assay.history import Call, Exchange
from assay.running.environment import Environment, MissingSigner

pytestmark = pytest.mark.slow

#: Faults that random sequences find soon, each in another way: one call, a sequence, two
#: customers, time, the screens, what was executed.
FOUND_SOON = (
    "available.accounts-500",
    "consent.slip-leaks-outside",
    "quota.consents-five-a-day",
    "pis.content.amount",
    "pis.sca.immediate-unsigned",
    "pis.modify.immediate",
    "pis.report-url.no-query",
)


def contract_of(variant):
    """Return the contract that a variant violates."""
    return min(VARIANTS[variant].breaks).partition("/")[0]


@pytest.mark.parametrize("variant", FOUND_SOON)
def test_a_fault_is_found_in_a_short_sequence(searching, variant):
    """The sequence violates the obligation at the bank with the fault, and not at the sound one."""
    contract = contract_of(variant)
    # Far more than it takes: what Hypothesis chooses depends on the modules that are loaded.
    result = searching(contract, variant, sequences=3000, findings=1).run_actions()
    finding = result.findings[0]
    assert len(finding.sequence) <= 10
    breaches = searching(contract, variant).violations(finding.sequence, finding.context)
    assert finding.obligation in {breach.obligation for breach in breaches}
    assert () == searching(contract).violations(finding.sequence, finding.context)


def test_a_sequence_has_no_step_too_many(searching):
    """Without any single step, the sequence violates nothing any more."""
    result = searching("pis", "pis.content.amount", sequences=3000, findings=1).run_actions()
    (sequence,) = [finding.sequence for finding in result.findings]
    bank = searching("pis", "pis.content.amount")
    shorter = [without(sequence, range(n, n + 1)) for n in range(len(sequence))]
    assert [] == [steps for steps in shorter if bank.violations(steps)]


@pytest.mark.parametrize("contract", ["aisp", "pis"])
def test_the_same_seed_makes_the_same_sequences(searching, contract, monkeypatch):
    """Another seed makes other sequences."""
    judge = Search.judge

    def sequences(seed):
        judged = []

        def noted(search, sequence):
            judged.append(tuple(sequence))
            judge(search, sequence)

        monkeypatch.setattr(Search, "judge", noted)
        search = searching(contract, sequences=6)
        search.seed = seed
        search.run_actions()
        return judged

    sequences(1)  # the first search loads modules, whose constants Hypothesis uses
    first = sequences(1)
    assert len(first) >= 6
    assert first == sequences(1) != sequences(2)


def test_known_violations_are_not_searched_for(searching):
    """An obligation that is known to be violated is no finding, and the search goes on."""
    search = searching("pis", "pis.content.amount", sequences=20)
    search.known = frozenset({"pis/payments.content/amount"})
    result = search.run_actions()
    assert () == result.findings
    assert result.sequences == 20


def test_each_violation_is_found_once(searching):
    """An obligation has one finding, though many sequences violate it."""
    result = searching("aisp", "available.accounts-500", sequences=80).run_actions()
    names = [finding.obligation for finding in result.findings]
    assert "aisp/accounts.available/answers" in names
    assert len(names) == len(set(names))


def test_limits(searching):
    """A search makes no more sequences and calls, and takes no longer, than it may."""
    result = searching("aisp", sequences=7).run_actions()
    assert (result.sequences, result.findings) == (7, ())
    result = searching("aisp", sequences=500, calls=50).run_actions()
    assert result.exchanges == 50
    assert searching("aisp", sequences=500, seconds=0).run_actions().sequences == 0


def test_only_reading(searching, monkeypatch):
    """A search that only reads grants, varies, signs and advances nothing."""
    events = []
    perform = Search.perform

    def noted(search, step):
        events.append(perform(search, step))
        return events[-1]

    monkeypatch.setattr(Search, "perform", noted)
    searching("aisp", sequences=5, restricted="live").run_actions()
    calls = [event.call for event in events if isinstance(event, Exchange)]
    assert {call.operation for call in calls} <= {"accounts", "balances", "transactions"}
    assert all(call.present and not call.malformed for call in calls)
    assert len(calls) > 20


def test_only_reading_where_everything_writes(searching):
    """A search that only reads makes no payment."""
    result = searching("pis", sequences=5, restricted="live").run_actions()
    assert result.findings == ()
    assert result.exchanges == 0


@pytest.mark.parametrize("how", ["journeys", "fields"])
def test_no_person_signs_random_requests(searching, how, monkeypatch):
    """A person signs only what is planned; a program signs in random sequences, too."""
    target = prepared().target
    assert limits_of(target, 5).signs
    manual = replace(target, sca=replace(target.sca, kind=ScaKind.MANUAL))
    assert not limits_of(manual, 5).signs

    class Refusing(MissingSigner):
        def sign(self, step, access, wait):
            raise ZeroDivisionError

    monkeypatch.setattr(Environment, "signer", lambda _environment, _fixture: Refusing())
    search = searching("pis", sequences=30, signs=False)
    assert SEARCH_METHODS[how](search, lambda _: None).findings == ()
    with pytest.raises(ZeroDivisionError):
        SEARCH_METHODS[how](searching("pis", sequences=100), lambda _: None)


def test_a_target_that_is_gone_ends_the_search(searching, monkeypatch):
    """A target that cannot be reached is an error, not a finding."""

    def gone(_search, _step):
        raise TargetError("gone")

    monkeypatch.setattr(Search, "perform", gone)
    with pytest.raises(TargetError, match="gone"):
        searching("aisp", sequences=5).run_actions()


def test_a_fault_of_the_harness_is_no_finding(searching, monkeypatch):
    """An exception of the harness is raised as it is."""

    def broken(_search, _sequence):
        raise ZeroDivisionError

    monkeypatch.setattr(Search, "judge", broken)
    with pytest.raises(ZeroDivisionError):
        searching("aisp", sequences=5).run_actions()


def test_what_cannot_be_arranged_is_left_out(searching, monkeypatch):
    """A target at which this or that call cannot be made now and then does not end the search."""
    turns = count()
    perform = Search.perform

    def moody(search, step):
        if isinstance(step, Call) and next(turns) % 3 == 0:
            raise CannotArrange("today")
        return perform(search, step)

    monkeypatch.setattr(Search, "perform", moody)
    search = searching("aisp", sequences=40)
    assert search.run_actions().sequences >= 40
