"""Stories about fields: a control, and the same call bent, for any contract and target."""

import dataclasses
from itertools import count

import pytest
from drawing import bound, drawn, sequences_of
from laboratory import Laboratory
from service import Service

from assay.contract.model import Capability
from assay.execution.environment import set_up
from assay.execution.executor import run_probe
from assay.fuzzing.fields import field_sequences
from assay.fuzzing.fields.arguments import Sort, bound_arguments
from assay.fuzzing.fields.shapes import missing_values, shape_of, wrong_values
from assay.fuzzing.search import Search, SearchLimits
from assay.fuzzing.sequences.actions import Actions
from assay.fuzzing.sequences.concretize import script
from assay.history import Advance, Arrange, Authorise, Call, Inquire
from assay.kill_matrix import make_app, variants
from assay.sandbox.policies import SOUND

pytestmark = pytest.mark.slow

#: What is said of the values that are as good as a control's.
GOOD = ("as good as the usual one", "the usual one", "with another query", "the other good one")
NAMES = ("aisp", "pis", "lab")


def calls(sequence):
    """Return the calls of a sequence."""
    return [one.step for one in sequence if isinstance(one.step, Call)]


def search(name, bank=None, sequences=100, seed=0):
    """Return a search through one contract."""
    plan, contract, target = bound(name)
    environment = set_up(target, seed=seed, **({"bank": bank} if bank else {}))
    limits = SearchLimits(sequences=sequences, tries=60)
    return Search(plan=plan, contract=contract, environment=environment, limits=limits, seed=seed)


@pytest.mark.parametrize("name", NAMES)
def test_a_story_begins_with_its_customer_and_rests_on_what_came_before(name):
    """Who is spoken of is there, and every place that is named lies before its step."""
    for sequence in drawn(sequences_of(name)):
        assert isinstance(sequence[0].step, Arrange)
        there = set()
        for place, one in enumerate(sequence):
            assert one.names <= there
            assert all(before < place for before in one.places)
            there |= {one.step.subject} if isinstance(one.step, Arrange) else set()


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_tells_the_same_stories(name):
    """And another seed tells others."""
    assert drawn(sequences_of(name), 40, seed=3) == drawn(sequences_of(name), 40, seed=3)
    assert drawn(sequences_of(name), 40, seed=3) != drawn(sequences_of(name), 40, seed=4)


@pytest.mark.parametrize("name", NAMES)
def test_stories_are_seldom_told_twice(name):
    """Nine of ten are others, though Hypothesis likes to repeat what it has drawn."""
    every = drawn(sequences_of(name), 200)

    assert len({repr(one) for one in every}) >= 0.9 * len(every)


@pytest.mark.parametrize("name", NAMES)
def test_a_bent_call_stands_beside_one_with_nothing_bent(name):
    """Of the operation of every bent call there is a plain call, too; what ends comes to its end."""
    ends = {one.id for one in bound(name)[1].operations.values() if one.ends}
    for sequence in drawn(sequences_of(name)):
        plain = {one.operation for one in calls(sequence) if not one.variation}
        plain |= {one.operation for one in calls(sequence) if one.variation.endswith(GOOD)}
        assert {one.operation for one in calls(sequence) if one.variation} <= plain | ends


@pytest.mark.parametrize("name", ["pis", "lab"])
def test_every_sort_of_every_argument_comes_up(name):
    """No way to bend a request is out of reach, and some are bent in two at once."""
    _, contract, target = bound(name)
    create = next(one for one in contract.operations.values() if one.makes)
    seen = {
        part
        for sequence in drawn(sequences_of(name), 400)
        for one in calls(sequence)
        if one.operation == create.id
        for part in one.variation.split(", ")
    }
    for one in bound_arguments(contract, target)[create.id]:
        found = shape_of(one)
        tables = {
            Sort.EDGE: found.edge(one),
            Sort.BEYOND: found.beyond(one),
            Sort.WRONG: (*missing_values(one), *wrong_values(one)),
        }
        for sort, table in tables.items():
            says = {f"{one.name} is {value.says}" for value in table}
            assert not says or says & seen, f"{one.name} {sort.value}"


def test_requests_are_made_bent_read_signed_changed_and_ended():
    """And time passes in some, in every mode that is spelt."""
    every = [one for sequence in drawn(sequences_of("pis"), 300) for one in sequence]
    steps = [one.step for one in every]
    made = [one for one in steps if isinstance(one, Call)]

    assert {Arrange, Advance, Call, Authorise, Inquire} == set(map(type, steps))
    assert {"create-payment", "read-payment", "modify-payment", "cancel-payment"} == {
        one.operation for one in made
    }
    modes = {one.mode for one in made if one.operation == "create-payment"}
    assert {"immediate", "deferred", "instant", "several"} == modes
    assert any(one.malformed for one in made)


def test_questions_are_asked_with_a_consent_their_pages_and_dates():
    """By every name and in every mode, about one's own things and others'."""
    every = [one for sequence in drawn(sequences_of("aisp"), 300) for one in sequence]
    made = [one.step for one in every if isinstance(one.step, Call)]

    assert {"accounts", "balances", "transactions", "consents"} == {one.operation for one in made}
    assert any(one.page is not None for one in every)
    assert any(name == "another" for one in every for name in one.names)
    assert {None, "extended_transaction_history"} == {one.mode for one in made}
    assert {None, 0, 1} == {one.alias for one in made if one.operation == "transactions"}
    assert {"since", "until"} <= {name for one in made for name in one.arguments}


def test_reading_only_changes_nothing_and_makes_sense():
    """No consent, no request, no time, nothing that is structurally wrong."""
    every = [
        one for sequence in drawn(field_sequences(*bound("aisp"), reads=True)) for one in sequence
    ]
    made = [one.step for one in every if isinstance(one.step, Call)]

    assert {Arrange, Call} == {type(one.step) for one in every}
    assert {"accounts", "balances", "transactions"} == {one.operation for one in made}
    assert not any(one.malformed or one.without or one.mode for one in made)
    assert field_sequences(*bound("pis"), reads=True) is None


def test_where_a_target_spells_nothing_there_is_nothing_to_tell():
    """Without operations, customers or households there are no stories."""
    plan, contract, target = bound("pis")
    dry_target = dataclasses.replace(target.fixtures, offers=frozenset())

    assert field_sequences(plan, contract, dataclasses.replace(target, operations={})) is None
    assert field_sequences(plan, contract, dataclasses.replace(target, fixtures=dry_target)) is None
    assert field_sequences(plan, contract, target, actions=Actions()) is None


def test_a_value_that_the_target_does_not_give_leaves_requests_out():
    """A request with an argument of which nobody knows what to put there cannot be made."""
    plan, contract, target = bound("pis")
    create = target.operations["create-payment"]
    spelt = {
        **create.arguments,
        "amount": dataclasses.replace(create.arguments["amount"], value=None),
    }
    operations = {
        **target.operations,
        "create-payment": dataclasses.replace(create, arguments=spelt),
    }

    assert (
        field_sequences(plan, contract, dataclasses.replace(target, operations=operations)) is None
    )


def test_what_is_spelt_is_told_and_the_rest_is_not():
    """Of a target that spells the making of requests alone, nothing else is asked."""
    plan, contract, target = bound("pis")
    only = {"create-payment": target.operations["create-payment"]}
    world = dataclasses.replace(
        target.fixtures, offers=frozenset({Capability.PSU, Capability.WRITE})
    )
    bare = dataclasses.replace(target, operations=only, fixtures=world)
    every = [one for sequence in drawn(field_sequences(plan, contract, bare)) for one in sequence]
    made = {one.step.operation for one in every if isinstance(one.step, Call)}

    # How a request is cancelled, the target does not say; the others need only their path.
    assert {"create-payment", "read-payment", "modify-payment"} == made
    assert {"psu"} == {one.step.subject for one in every if isinstance(one.step, Arrange)}
    assert Advance not in {type(one.step) for one in every}


@pytest.mark.parametrize(
    ("id_", "name"),
    [
        ("iban.wrong-check-digits", "aisp"),
        ("euro.slip-last-in-francs", "aisp"),
        ("depth.one-day-more", "aisp"),
        ("pis.mandatory.chargeBearer-missing", "pis"),
        ("pis.charge-bearer.any-code", "pis"),
        ("pis.mandatory.creditorAccount-type", "pis"),
    ],
)
def test_a_fault_is_found(id_, name):
    """A bank that breaks a clause about fields is caught at it within 300 stories."""
    mutant = variants()[id_]
    policies = mutant.change(SOUND)
    found = search(name, lambda base_url: make_app(policies, base_url=base_url))
    seen = set()

    for sequence in drawn(sequences_of(name), 300):
        seen |= {one.obligation for one in found.violations(sequence)}
        if seen & mutant.breaks:
            break

    assert seen & mutant.breaks


def test_a_sound_bank_is_left_alone():
    """Whatever is asked for, no check minds what the sandbox answers about accounts."""
    assert () == search("aisp").run_strategy(sequences_of("aisp")).findings


def test_the_laboratory_is_asked_as_well():
    """Of orders that nobody has bent most are accepted, of bent ones many are not."""
    found, outcomes = search("lab", lambda _: Service(Laboratory())), {True: [], False: []}
    zone = found.contract.zone
    for sequence in drawn(sequences_of("lab"), 40):
        driven = run_probe(
            script(sequence, zone),
            found.environment,
            found.contract.operations,
            number=count(1).__next__,
            record=lambda _event, _access: None,
        )
        assert "" == driven.stopped
        for one in driven.history.exchanges:
            if one.call.operation == "place":
                outcomes[bool(one.call.variation)].append(one.accepted)

    assert sum(outcomes[False]) > 0.5 * len(outcomes[False]) > 10
    assert sum(outcomes[True]) + 10 < len(outcomes[True])
