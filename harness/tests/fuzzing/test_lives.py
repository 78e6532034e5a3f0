"""Lives: events in every order, judged by every check, shortened, told and replayed."""

import json
import re
from itertools import combinations, permutations
from threading import Lock

import command_line
import pytest
from shipped import VARIANTS

from assay.binding.read.join import capabilities
from assay.contexts.life_events import events_of
from assay.contract.model import Capability
from assay.fuzzing.lives import Life, lives_of, orders, run_lives
from assay.history import Advance, Arrange, Call
from assay.proof.kill_matrix import reference
from assay.rules.dry_run import ConformingTarget, play
from assay.sandbox.app import make_app
from assay.sandbox.mutants.contextual import make_contextual_app
from assay.sandbox.policies import SOUND
from assay.sandbox.serve import serving

#: A fault that no trial shows in the base context: there is no consent to one thing after an empty one.
FAULT, AFTER = "consent.outstanding-all-or-nothing", "after=emptied-consent"
BROKEN = "aisp/consent.scope/outstanding-granted"


def shipped(contract):
    """Return a shipped contract, and what the sandbox offers for it."""
    plan, target = reference((contract,))
    return plan.contracts[contract], capabilities(plan.contracts[contract], target)


def assay(*args, cwd):
    """Run the command line in a folder."""
    return command_line.assay(*args, cwd=cwd)


@pytest.mark.parametrize("contract", ["aisp", "pis"])
def test_every_two_events_come_in_either_order(contract):
    """Two lives are enough: an order, and its reverse."""
    events = events_of(*shipped(contract))
    forward, backward = orders(events, 2)
    assert {*forward} == {*events}
    met = {pair for order in (forward, backward) for pair in combinations(map(id, order), 2)}
    assert met == {*permutations(map(id, events), 2)}


def test_every_three_events_come_in_every_order():
    """With strength 3, far fewer lives than there are orders have all of them."""
    events = events_of(*shipped("aisp"))
    every = orders(events, 3)
    met = {three for order in every for three in combinations(map(id, order), 3)}
    assert met == {*permutations(map(id, events), 3)}
    assert len(every) <= 20


def test_there_are_no_lives_without_strength():
    """Strength 1 is one life with each event once."""
    events = events_of(*shipped("aisp"))
    assert [0, 1] == [len(orders(events, strength)) for strength in (0, 1)]


def test_events_follow_from_what_is_offered():
    """What a target cannot do does not happen."""
    contract, offers = shipped("pis")

    def names(*lacking):
        return {each.name for each in events_of(contract, offers - {*lacking})}

    assert "a withdrawn request" in names() - names(Capability.DIRECT_ACCESS)
    assert "a repeat by another TPP" in names() - names(Capability.TPPS)
    assert "another customer's signature" in names() - names(Capability.TWO_PSU)
    assert not {"8 days", "changed requests"} & names(Capability.CLOCK)
    assert {"1 days", "8 days"} == names(Capability.SCA)


def test_events_follow_from_what_the_contract_says():
    """The value of which a clause speaks is in some requests, and every mode is repeated."""
    names = {each.name for each in events_of(*shipped("pis"))}
    assert {"requests with categoryPurpose CASH", "repeated instant requests"} <= names
    assert "a consent to nothing" in {each.name for each in events_of(*shipped("aisp"))}


def steps_of_a_life(name):
    contract, offers = shipped(name)
    (order,) = orders(events_of(contract, offers), 1)
    life = Life(id="life", contract=contract, offers=offers, order=order)
    return list(play(life.script(), ConformingTarget(contract=contract, accepts_variation=False)))


def test_everything_is_looked_at_after_each_event():
    """Between two events lists, and things that are named and not named, are read."""
    steps = steps_of_a_life("aisp")
    days = [n for n, step in enumerate(steps) if isinstance(step, Advance) and step.to]
    between = [each for each in steps[days[0] : days[1]] if isinstance(each, Call)]
    read = {(each.operation, each.arguments.get("iban")) for each in between}
    assert ("accounts", None) in read
    assert {"balances", "transactions"} == {name for name, iban in read if iban}
    assert len({iban for name, iban in read if name == "balances"}) > 2
    assert {"psu-1", "psu-2"} == {each.subject for each in steps if isinstance(each, Arrange)}


def test_no_two_requests_are_alike_unless_one_is_to_repeat_the_other():
    """A rejection as a repeat would say nothing of the event."""
    made = [
        step.arguments["amount"]
        for step in steps_of_a_life("pis")
        if isinstance(step, Call) and step.operation == "create-payment"
    ]
    alike = len(made) - len({*made})
    assert 0 < alike < len(made) / 2


@pytest.mark.slow
def test_a_fault_that_shows_after_an_event_is_found(tmp_path):
    """It is shortened to what it takes, told as a verdict, and replayed at any bank."""
    wrong = VARIANTS[FAULT].change(SOUND)
    with serving(make_contextual_app(wrong, SOUND, AFTER)) as url:
        run = ("run", "-c", "aisp", "-t", url, "--no-doctor", "--quiet", "--contexts", "base")
        assert 1 == assay(*run, "--lives", 2, "--out", "out", cwd=tmp_path)[0]
        text = (tmp_path / "out" / "report.md").read_text("utf-8")
        assert BROKEN in text
        (length,) = re.findall(r"found in a life, in a sequence of (\d+) steps", text)[:1]
        assert int(length) < 12
        (replay,) = (tmp_path / "out" / "sequences").glob("*outstanding-granted.json")
        again = ("run", "--replay", replay, "--quiet")
        assert 1 == assay(*again, "-t", url, cwd=tmp_path)[0]
    assert 0 == assay(*again, cwd=tmp_path)[0]


def test_lives_run_beside_the_trials(tmp_path):
    """Several lanes perform them at once, and find what one would; the record is the same."""
    sound, lock, opened = make_app(base_url="https://bank.example"), Lock(), []

    def counted(environ, start):
        with lock:
            now = opened[-1] if opened else 0
            if environ["PATH_INFO"].rpartition("/")[2] == "worlds":
                opened.append(now + 1)
            elif environ["REQUEST_METHOD"] == "DELETE":
                opened.append(now - 1)
        return sound(environ, start)

    records = []
    for lanes in (1, 3):
        opened.clear()
        with serving(counted) as url:
            selected = ("-c", "aisp", "-k", "aisp/accounts.available/answers", "--lives", 2)
            run = ("run", *selected, "-t", url, "--no-doctor", "--quiet", "--concurrency", lanes)
            assert 0 == assay(*run, "--out", f"with-{lanes}", cwd=tmp_path)[0]
        lines = (tmp_path / f"with-{lanes}" / "journal.jsonl").read_text("utf-8").splitlines()
        (record,) = (each for each in map(json.loads, lines) if each["type"] == "search")
        records.append({**record, "seconds": 0, "chain": ""})
        assert (max(opened) > 1) is (lanes > 1)
    assert records[0] == records[1]
    assert 2 == records[0]["made"]


@pytest.mark.slow
def test_lives_belong_to_contexts(tmp_path):
    """They are run with contexts, whole runs only, and their price is told."""
    said = assay("run", "-c", "aisp", "--dry-run", "--contexts", "each", cwd=tmp_path)[1]
    contract, _ = shipped("aisp")
    first, second = (each.calls for each in lives_of(contract, reference(("aisp",))[1], 2))
    assert f"2 lives of {first} calls" in said
    assert first == second
    for other in (("--contexts", "base"), ("-k", "euro"), ("--lives", 0)):
        assert "lives" not in assay("run", "-c", "aisp", "--dry-run", *other, cwd=tmp_path)[1]
    code, out, _ = assay("run", "-c", "aisp", "--contexts", "base", "--lives", 1, cwd=tmp_path)
    assert (0, True) == (code, f"aisp: 1 life, {first} calls, seed 0: no violation found" in out)


def test_lives_reach_no_pairs_of_dimension_values(searching):
    """Lives vary no dimensions, so none are reported; as many lives are asked as there are."""
    search = searching("aisp", tries=0)
    search.strength = 1
    reached = run_lives(search, lambda _: None).reached
    assert (1, 0, 0) == (reached.asked, reached.pairs, reached.possible)
    assert reached.states
