"""Generated sequences: a control, and the same call varied, for any contract and target."""

import dataclasses
from itertools import count

import pytest
from drawing import bound, drawn, sequences_of
from laboratory import Laboratory
from service import Service

from assay.contract.model import Capability
from assay.fuzzing.fields import field_sequences
from assay.fuzzing.fields.arguments import Sort, bound_arguments
from assay.fuzzing.fields.shapes import missing_values, shape_of, wrong_values
from assay.fuzzing.limits import SearchLimits
from assay.fuzzing.search import Search
from assay.fuzzing.sequences.actions import Actions
from assay.fuzzing.sequences.concretize import script
from assay.history import Advance, Arrange, Authorise, Call, Inquire
from assay.proof.kill_matrix import make_app, variants
from assay.running.environment import set_up
from assay.running.executor import run_probe
from assay.sandbox.policies import SOUND

pytestmark = pytest.mark.slow

#: Descriptions of values that are as good as those of a control.
GOOD = ("as good as the usual one", "the usual one", "with another query", "the other good one")
NAMES = ("aisp", "pis", "lab")


def calls(sequences):
    """Return the calls of sequences."""
    steps = [abstract_step.step for sequence in sequences for abstract_step in sequence]
    return [step for step in steps if isinstance(step, Call)]


def search(name, bank=None, sequences=100, seed=0):
    """Return a search through one contract."""
    plan, contract, target = bound(name)
    environment = set_up(target, seed=seed, **({"bank": bank} if bank else {}))
    limits = SearchLimits(sequences=sequences, tries=60)
    return Search(plan=plan, contract=contract, environment=environment, limits=limits, seed=seed)


@pytest.mark.parametrize("name", NAMES)
def test_a_sequence_begins_with_its_customer_and_refers_only_to_earlier_steps(name):
    """Each subject exists when it is used, and each place is that of an earlier step."""
    for sequence in drawn(sequences_of(name)):
        assert isinstance(sequence[0].step, Arrange)
        created = set()
        for place, abstract_step in enumerate(sequence):
            assert abstract_step.names <= created
            assert all(earlier < place for earlier in abstract_step.places)
            if isinstance(abstract_step.step, Arrange):
                created.add(abstract_step.step.subject)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_makes_the_same_sequences(name):
    """Another seed makes other sequences."""
    assert drawn(sequences_of(name), 40, seed=3) == drawn(sequences_of(name), 40, seed=3)
    assert drawn(sequences_of(name), 40, seed=3) != drawn(sequences_of(name), 40, seed=4)


@pytest.mark.parametrize("name", NAMES)
def test_sequences_are_seldom_repeated(name):
    """Nine of ten sequences differ, though Hypothesis likes to repeat what it has drawn."""
    sequences = drawn(sequences_of(name), 200)

    assert len({repr(sequence) for sequence in sequences}) >= 0.9 * len(sequences)


@pytest.mark.parametrize("name", NAMES)
def test_a_varied_call_has_a_control_in_its_sequence(name):
    """Each operation with a varied call has a plain one, too, unless it ends a request."""
    ends = {operation.id for operation in bound(name)[1].operations.values() if operation.ends}
    for sequence in drawn(sequences_of(name)):
        every = calls([sequence])
        plain = {call.operation for call in every if not call.variation}
        plain |= {call.operation for call in every if call.variation.endswith(GOOD)}
        assert {call.operation for call in every if call.variation} <= plain | ends


@pytest.mark.parametrize("name", ["pis", "lab"])
def test_every_sort_of_every_argument_comes_up(name):
    """Each argument of a request is varied by values of every sort."""
    _, contract, target = bound(name)
    create = next(operation for operation in contract.operations.values() if operation.makes)
    variations = {
        part
        for call in calls(drawn(sequences_of(name), 400))
        if call.operation == create.id
        for part in call.variation.split(", ")
    }
    for argument in bound_arguments(contract, target)[create.id]:
        shape = shape_of(argument)
        tables = {
            Sort.EDGE: shape.edge(argument),
            Sort.BEYOND: shape.beyond(argument),
            Sort.WRONG: (*missing_values(argument), *wrong_values(argument)),
        }
        for sort, table in tables.items():
            descriptions = {f"{argument.name} is {value.says}" for value in table}
            missed = bool(descriptions) and not descriptions & variations
            assert not missed, f"{argument.name} {sort.value}"


def test_requests_are_made_varied_read_signed_changed_and_ended():
    """Requests are made in every bound mode, and time passes in some sequences."""
    sequences = drawn(sequences_of("pis"), 300)
    made = calls(sequences)

    assert {Arrange, Advance, Call, Authorise, Inquire} == {
        type(abstract_step.step) for sequence in sequences for abstract_step in sequence
    }
    assert {"create-payment", "read-payment", "modify-payment", "cancel-payment"} == {
        call.operation for call in made
    }
    modes = {call.mode for call in made if call.operation == "create-payment"}
    assert {"immediate", "deferred", "instant", "several"} == modes
    assert any(call.malformed for call in made)


def test_accounts_are_read_with_a_consent_their_pages_and_dates():
    """Reads use every name and mode, with the customer's own keys and those of others."""
    sequences = drawn(sequences_of("aisp"), 300)
    steps = [abstract_step for sequence in sequences for abstract_step in sequence]
    made = calls(sequences)

    assert {"accounts", "balances", "transactions", "consents"} == {call.operation for call in made}
    assert any(abstract_step.page is not None for abstract_step in steps)
    assert any("another" in abstract_step.names for abstract_step in steps)
    assert {None, "extended_transaction_history"} == {call.mode for call in made}
    aliases = {call.alias for call in made if call.operation == "transactions"}
    assert {None, 0, 1} == aliases
    assert {"since", "until"} <= {name for call in made for name in call.arguments}


def test_reading_only_changes_nothing_and_makes_sense():
    """A search that only reads has no consent, request, clock or structurally wrong value."""
    sequences = drawn(field_sequences(*bound("aisp"), reads=True))
    made = calls(sequences)

    assert {Arrange, Call} == {
        type(abstract_step.step) for sequence in sequences for abstract_step in sequence
    }
    assert {"accounts", "balances", "transactions"} == {call.operation for call in made}
    assert not any(call.malformed or call.without or call.mode for call in made)
    assert field_sequences(*bound("pis"), reads=True) is None


def test_without_bindings_or_customers_there_are_no_sequences():
    """A target without operations, customers or households cannot be fuzzed."""
    plan, contract, target = bound("pis")
    no_operations = dataclasses.replace(target, operations={})
    no_offers = dataclasses.replace(target.fixtures, offers=frozenset())
    no_customers = dataclasses.replace(target, fixtures=no_offers)

    assert field_sequences(plan, contract, no_operations) is None
    assert field_sequences(plan, contract, no_customers) is None
    assert field_sequences(plan, contract, target, actions=Actions()) is None


def test_an_argument_without_a_value_leaves_requests_out():
    """A request cannot be made if the target file has no value for one of its arguments."""
    plan, contract, target = bound("pis")
    create = target.operations["create-payment"]
    no_amount = dataclasses.replace(create.arguments["amount"], value=None)
    incomplete = dataclasses.replace(create, arguments={**create.arguments, "amount": no_amount})
    operations = {**target.operations, "create-payment": incomplete}

    assert (
        field_sequences(plan, contract, dataclasses.replace(target, operations=operations)) is None
    )


def test_only_bound_operations_are_called():
    """With a target that binds only the making of requests, nothing else is called."""
    plan, contract, target = bound("pis")
    only = {"create-payment": target.operations["create-payment"]}
    fixtures = dataclasses.replace(
        target.fixtures, offers=frozenset({Capability.PSU, Capability.WRITE})
    )
    bare = dataclasses.replace(target, operations=only, fixtures=fixtures)
    sequences = drawn(field_sequences(plan, contract, bare))
    steps = [abstract_step.step for sequence in sequences for abstract_step in sequence]

    # A cancellation needs a binding; the other operations need only their path.
    assert {"create-payment", "read-payment", "modify-payment"} == {
        call.operation for call in calls(sequences)
    }
    assert {"psu"} == {step.subject for step in steps if isinstance(step, Arrange)}
    assert Advance not in set(map(type, steps))


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
    """A bank that violates a clause about fields is found within 900 sequences."""
    mutant = variants()[id_]
    policies = mutant.change(SOUND)
    searching = search(name, lambda base_url: make_app(policies, base_url=base_url))
    seen = set()

    for sequence in drawn(sequences_of(name), 900):
        seen |= {breach.obligation for breach in searching.violations(sequence)}
        if seen & mutant.breaks:
            break

    assert seen & mutant.breaks


def test_nothing_is_found_at_the_sound_bank():
    """No check reports a violation in the sandbox's answers about accounts."""
    assert () == search("aisp").run_drawn(sequences_of("aisp")).findings


def test_the_laboratory_is_called_as_well():
    """Most orders without variation are accepted, and many varied ones are not."""
    searching, outcomes = search("lab", lambda _: Service(Laboratory())), {True: [], False: []}
    zone = searching.contract.zone
    for sequence in drawn(sequences_of("lab"), 40):
        probe_run = run_probe(
            script(sequence, zone),
            searching.environment,
            searching.contract.operations,
            number=count(1).__next__,
            record=lambda _event, _access: None,
        )
        assert "" == probe_run.stopped
        for exchange in probe_run.history.exchanges:
            if exchange.call.operation == "place":
                outcomes[bool(exchange.call.variation)].append(exchange.accepted)

    assert sum(outcomes[False]) > 0.5 * len(outcomes[False]) > 10
    assert sum(outcomes[True]) + 10 < len(outcomes[True])
