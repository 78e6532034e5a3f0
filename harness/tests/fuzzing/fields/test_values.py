"""Values of arguments: as good as the binding's, at an edge, just beyond, and wrong."""

import ast
import dataclasses
from itertools import count
from pathlib import Path

import pytest
from drawing import bound, drawn
from rows import for_each

import assay.fuzzing.fields
from assay.binding.model.target import Place
from assay.fuzzing.fields.arguments import (
    ABSENT,
    Argument,
    NamedValues,
    Sort,
    bound_arguments,
    reference_arguments,
)
from assay.fuzzing.fields.mutations import with_value
from assay.fuzzing.fields.shapes import (
    SHAPES,
    draws,
    json_type,
    missing_values,
    shape_of,
    wrong_values,
)
from assay.fuzzing.fields.texts import UNKNOWN, checked
from assay.fuzzing.sequences.abstract_step import OwnedRef, RelativeDay
from assay.history import Arrange, Call, Holding
from assay.rules.formats import is_iban
from assay.running.environment import set_up
from assay.running.executor import executing

PACKAGE = Path(assay.fuzzing.fields.__file__).parent
EVERY = [
    pytest.param(name, argument, id=f"{argument.operation}.{argument.name}")
    for name in ("aisp", "pis", "lab")
    for arguments in bound_arguments(*bound(name)[1:]).values()
    for argument in arguments
]
OWN = Argument(operation="order", name="size", place=Place.BODY, own="12.30", other="14.00")


def table(argument, sort):
    """Return all values of a sort that do not come from an integer."""
    shape = shape_of(argument)
    if sort is Sort.WRONG:
        return [*missing_values(argument), *wrong_values(argument)]
    return list((shape.edge if sort is Sort.EDGE else shape.beyond)(argument))


def values_of(argument, sort):
    """Return the values of a sort without their descriptions."""
    return [value.json for value in table(argument, sort)]


def argument_of(contract, operation, name):
    """Return an argument of an operation."""
    arguments = bound_arguments(*bound(contract)[1:])[operation]
    return next(argument for argument in arguments if argument.name == name)


def create_argument(name):
    """Return an argument of a payment request."""
    return argument_of("pis", "create-payment", name)


@pytest.fixture(scope="module")
def made():
    """Return a function that makes a varied payment request with a fixture of its own."""
    _, contract, target = bound("pis")
    environment, numbers = set_up(target, seed=7), count(1)

    def make(vary):
        with executing(environment, contract.operations, number=numbers.__next__) as executor:
            psu = executor.perform(Arrange(subject="psu", holdings=(Holding(resource="account"),)))
            own = {"debtorAccount": psu.owns[0].key}
            call = Call(operation="create-payment", subject="psu", arguments=own, mode="immediate")
            return executor.perform(vary(call))

    yield make
    environment.close()


@for_each(
    ("name", "shape"),
    [
        ("chargeBearer", "code"),
        ("categoryPurpose", "code"),
        ("creditorAccount", "account number"),
        ("successfulReportUrl", "address"),
        ("debtorAccount", "key"),
        ("amount", "number"),
        ("currency", "code"),
        ("date", "day"),
    ],
)
def test_a_shape_follows_from_the_binding_and_the_contract(name, shape):
    """Each argument of a payment request has the shape of its value."""
    assert shape == shape_of(create_argument(name)).name


@for_each(
    ("own", "shape"),
    [
        (5, "number"),
        (True, "whatever"),
        (["a"], "whatever"),
        ({"a": 1}, "whatever"),
        ("2024-05-15", "day"),
        ("D-4711", "text"),
        (None, "text"),
    ],
)
def test_any_value_has_a_shape(own, shape):
    """Any value of a binding, and a missing one, has at least wrong values."""
    argument = dataclasses.replace(OWN, own=own, other=None)

    assert shape == shape_of(argument).name
    assert Sort.WRONG in draws(argument)
    assert (own is not None) == (Sort.VALID in draws(argument))


@pytest.mark.parametrize(
    "name", ["categoryPurpose", "creditorAccount", "successfulReportUrl", "amount"]
)
def test_valid_values_are_accepted(made, name):
    """The sandbox accepts every value that is as good as the binding's own."""
    for value in drawn(draws(create_argument(name))[Sort.VALID], 25):
        assert made(with_value(name, value)).accepted, value


@for_each(
    "name",
    [
        "chargeBearer",
        "categoryPurpose",
        "creditorAccount",
        "successfulReportUrl",
        "amount",
        "currency",
    ],
)
def test_structurally_wrong_values_are_rejected(made, name):
    """The sandbox accepts none of the structurally wrong values."""
    for value in table(create_argument(name), Sort.WRONG):
        assert made(with_value(name, value)).refused, value


@pytest.mark.parametrize("name", ["chargeBearer", "creditorAccount", "successfulReportUrl"])
def test_values_just_beyond_are_rejected(made, name):
    """The sandbox accepts no other spelling of a value."""
    for value in table(create_argument(name), Sort.BEYOND):
        if value.says == "of a country that does not exist":
            continue  # a bank without a list of countries may accept it
        assert made(with_value(name, value)).refused, value


@pytest.mark.parametrize(("_", "argument"), EVERY)
def test_good_values_are_neither_beyond_nor_wrong(_, argument):
    """A value beyond or wrong is never one of the values that the binding has."""
    for sort in (Sort.BEYOND, Sort.WRONG):
        values = values_of(argument, sort)
        assert values
        assert not any(
            type(own) is type(value) and own == value
            for own in argument.good_values
            for value in values
        )


@pytest.mark.parametrize(("_", "argument"), EVERY)
def test_outside_of_a_body_all_values_are_texts(_, argument):
    """A query, a header and a path have texts and days; a header has printable ASCII."""
    if argument.place is not Place.BODY:
        values = [*values_of(argument, Sort.BEYOND), *values_of(argument, Sort.WRONG)]
        assert all(
            isinstance(value, str | RelativeDay | OwnedRef) or value is ABSENT for value in values
        )
        texts = {value for value in values if isinstance(value, str)}
        if argument.place is Place.HEADER:
            assert all(text.isascii() and text.isprintable() for text in texts)
        if argument.place is Place.PATH:
            assert ABSENT not in values
            assert "" not in texts


def test_limits_that_the_contract_names_are_tried_from_both_sides():
    """The limit and one unit below it are at the edge, one unit above it is beyond."""
    argument = dataclasses.replace(OWN, named=NamedValues(limits=("40",), small=("0.01",)))
    edge = set(map(str, values_of(argument, Sort.EDGE)))
    beyond = set(map(str, values_of(argument, Sort.BEYOND)))

    assert {"40", "39.99", "0.01"} <= edge
    assert {"40.01", "0.00", "-0.01", "0.001"} <= beyond


def test_days_that_the_contract_names_are_tried_from_both_sides():
    """The ninetieth day is at the edge, the day before it is beyond."""
    since = argument_of("aisp", "transactions", "since")

    assert (90,) == since.named.days
    edge, beyond = values_of(since, Sort.EDGE), values_of(since, Sort.BEYOND)
    assert {RelativeDay(-89), RelativeDay(-90), RelativeDay(0)} == set(edge)
    assert all(RelativeDay(days) in beyond for days in (-91, -92, 1))
    valid = [value.json for value in drawn(draws(since)[Sort.VALID])]
    assert all(-90 < day.days <= 0 for day in valid)


def test_values_that_the_contract_names_are_tried():
    """Other codes than the fixed one are beyond, a code that makes a difference is at the edge."""
    beyond = set(values_of(create_argument("chargeBearer"), Sort.BEYOND))

    assert {"SHAR", "DEBT", "CRED", "slev", "SLEV\n", " SLEV"} <= beyond
    assert ["CASH"] == values_of(create_argument("categoryPurpose"), Sort.EDGE)


def test_account_numbers_at_the_edge_are_valid_and_beyond_it_are_not():
    """Beyond the edge, the check digits are wrong or the length is."""
    argument = create_argument("creditorAccount")

    assert argument.own == checked(argument.own[:2], argument.own[4:])
    assert all(map(is_iban, values_of(argument, Sort.EDGE)))
    # Blanks and small letters do not change the check digits.
    beyond = [iban for iban in values_of(argument, Sort.BEYOND) if iban.isalnum()]
    assert sum(not is_iban(iban) for iban in beyond) >= 6


def test_every_json_type_stands_where_it_does_not_belong():
    """A text is replaced by a number, a truth value, a list, an object and nothing at all."""
    types = {json_type(value.json) for value in wrong_values(create_argument("chargeBearer"))}

    assert {"text", "number", "truth value", "list", "object"} == types
    missing = [value.json for value in missing_values(create_argument("chargeBearer"))]
    assert [ABSENT, "", None] == missing


def test_keys_of_others_and_unknown_keys_are_beyond():
    """A valid key is one of the customer's own."""
    argument = create_argument("debtorAccount")
    valid = [value.json for value in drawn(draws(argument)[Sort.VALID])]

    assert {"self"} == {key.of for key in valid}
    other, *unknown = values_of(argument, Sort.BEYOND)
    assert OwnedRef("other", 0) == other
    assert set(UNKNOWN) <= set(unknown)


def test_the_table_of_shapes_ends_with_one_that_fits_anything():
    """The names of the shapes are unique."""
    assert len(SHAPES) == len({shape.name for shape in SHAPES})
    assert SHAPES[-1].fits(OWN)


def test_no_name_of_a_contract_is_in_the_code():
    """The code has neither names nor values of a contract or a binding."""
    names = set()
    for contract_id in ("aisp", "pis", "lab"):
        _, contract, target = bound(contract_id)
        for id_, operation in contract.operations.items():
            names |= {id_, *operation.arguments, *operation.modes, *reference_arguments(operation)}
        for arguments in bound_arguments(contract, target).values():
            for argument in arguments:
                named = argument.named
                names |= {*map(str, argument.good_values)}
                names |= {*named.others, *named.known, *named.right}
    names -= {shape.name for shape in SHAPES}  # the laboratory has an argument "day"
    for path in PACKAGE.glob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text("utf-8")))
        constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
        assert not names & {text for text in constants if isinstance(text, str)}, path.name


def test_strategies_have_no_effects():
    """A strategy reads no clock, no file and no network, and draws nothing at random."""
    for path in PACKAGE.glob("*.py"):
        text = path.read_text("utf-8")
        for effect in (".now(", ".today(", "import random", "import time", "socket", "open("):
            assert effect not in text, f"{path.name}: {effect}"
