"""Shards: parts of a plan that together are the whole, each run by itself."""

from collections import Counter
from dataclasses import replace

import pytest
from rows import for_each

from assay.binding.model.security import Budget
from assay.contexts.context import Depth
from assay.errors import InputError
from assay.planning.plan import Shard
from assay.planning.shards import check_divisible, divide, part_of, read_shard, share, with_share
from assay.preparation.prepare import load_target, prepare

FEW = "quota or listing or execution or unspecified"


@pytest.fixture(scope="module")
def whole():
    return prepare(keywords=FEW, contexts=Depth.EACH).plan


def parts(plan, of):
    return [part_of(plan, Shard(number=number, of=of)) for number in range(1, of + 1)]


@pytest.mark.parametrize("of", [1, 2, 5, 40])
def test_every_obligation_is_in_exactly_one_shard(whole, of):
    """The shards have each obligation and each trial of the plan once, in the plan's order."""
    shards = parts(whole, of)
    for read in (
        lambda plan: [item.obligation.id for item in plan.items],
        lambda plan: [trial.id for trial in plan.all_trials],
    ):
        every = read(whole)
        seen = [name for shard in shards for name in read(shard)]
        assert Counter(every) == Counter(seen)
        for shard in shards:
            order = [every.index(name) for name in read(shard)]
            assert order == sorted(order)


def test_trials_stay_whole(whole):
    """A trial settles all its obligations in one shard, where it has its further contexts, too."""
    trials = {trial.id: trial for trial in whole.all_trials}
    for shard in parts(whole, 3):
        base = {trial.id for trial in shard.trials}
        assert all(trials[trial.id].settles == trial.settles for trial in shard.all_trials)
        assert all(trial.settles[0].trial in base for trial in shard.contextual)


def test_shards_are_balanced_and_the_same_every_time(whole):
    """No shard has more calls than the mean and one clause; dividing again gives the same."""
    loads = [sum(trial.calls for trial in shard.all_trials) for shard in parts(whole, 3)]
    clauses = Counter()
    for trial in whole.all_trials:
        clauses[trial.contract, trial.clause] += trial.calls
    assert max(loads) <= sum(loads) / 3 + max(clauses.values())
    again = prepare(keywords=FEW, contexts=Depth.EACH).plan
    assert divide(whole, 3) == divide(again, 3)
    assert parts(whole, 3)[1].shard.digest == parts(again, 3)[2].shard.digest
    assert parts(whole, 3)[1].shard.digest != parts(whole, 2)[1].shard.digest


def test_a_trial_may_violate_what_is_elsewhere(whole):
    """What a shard judges is what the whole plan judges."""
    assert {shard.judged for shard in parts(whole, 3)} == {whole.judged}
    assert whole.judged == whole.asked


def test_shards_share_the_call_budget():
    """The shards of a budget are the whole of it; without a budget there is nothing to share."""
    assert [3, 3, 4] == [share(10, number, 3) for number in (1, 2, 3)]
    assert 1000 == sum(share(1000, number, 7) for number in range(1, 8))
    target = load_target(None)
    assert target is with_share(target, Shard(number=1, of=2))
    limited = replace(target, budget=Budget(calls=11))
    assert 6 == with_share(limited, Shard(number=2, of=2)).budget.calls
    assert 4 == with_share(limited, Shard(number=2, of=2), 4).budget.calls


def test_shards_share_the_requests_of_a_run():
    """All shards together make no more requests, of no larger sum, than a run that is not divided."""
    live = replace(prepare().target, environment="live")
    live = replace(live, safety=replace(live.safety, total={"amount": "10.00"}))
    shares = [with_share(live, Shard(number=n, of=3)) for n in (1, 2, 3)]
    assert [6, 7, 7] == [each.most_requests for each in shares]
    assert ["3.33"] * 3 == [each.safety.total["amount"] for each in shares]
    (rest,) = {with_share(live, Shard(number=1, of=30)).most_requests}
    assert 0 == rest


@for_each("text", ["", "2", "0/3", "4/3", "1/0", "-1/3", "1/1001", "1/2/3", "²/3", "a"])
def test_a_shard_is_a_number_of_a_number(text):
    """What is no shard is refused with an example."""
    with pytest.raises(InputError, match=r"--shard: expected a shard .*for example 2/5"):
        read_shard(text)


def test_what_is_not_divided_is_refused():
    """Searches, replays and waiting are not divided."""
    check_divisible({"--journeys": 0, "--wait": None})
    with pytest.raises(InputError, match="--fields: cannot be divided"):
        check_divisible({"--journeys": 0, "--fields": 5})
