"""Values of arguments: as good as the binding's, at an edge, just beyond, and wrong."""

import ast
import dataclasses
from itertools import count
from pathlib import Path

import pytest
from drawing import bound, drawn
from hypothesis.control import BuildContext
from hypothesis.internal.conjecture.data import ConjectureData

import assay.fuzzing.fields
from assay.binding.target import Place
from assay.execution.environment import set_up
from assay.execution.executor import executing
from assay.fuzzing.fields.arguments import (
    ABSENT,
    Argument,
    NamedValues,
    Sort,
    Value,
    bound_arguments,
    reference_arguments,
)
from assay.fuzzing.fields.mutations import with_value
from assay.fuzzing.fields.shapes import (
    SHAPES,
    json_type,
    missing_values,
    shape_of,
    strategies,
    wrong_values,
)
from assay.fuzzing.fields.texts import UNKNOWN, checked
from assay.fuzzing.sequences.abstract_step import OwnedRef, RelativeDay
from assay.history import Arrange, Call, Holding
from assay.rules.formats import is_iban

PACKAGE = Path(assay.fuzzing.fields.__file__).parent
EVERY = [
    pytest.param(name, one, id=f"{one.operation}.{one.name}")
    for name in ("aisp", "pis", "lab")
    for some in bound_arguments(*bound(name)[1:]).values()
    for one in some
]
OWN = Argument(operation="order", name="size", place=Place.BODY, own="12.30", other="14.00")


def table(argument, sort):
    """Return all values of a sort that do not come from an integer."""
    found = shape_of(argument)
    if sort is Sort.WRONG:
        return [*missing_values(argument), *wrong_values(argument)]
    return list((found.edge if sort is Sort.EDGE else found.beyond)(argument))


def create_argument(name):
    """Return an argument of a payment request."""
    return next(
        one for one in bound_arguments(*bound("pis")[1:])["create-payment"] if one.name == name
    )


@pytest.fixture(scope="module")
def made():
    """Return what makes a payment request with some bent arguments, each in a world of its own."""
    _, contract, target = bound("pis")
    environment, numbers = set_up(target, seed=7), count(1)

    def make(bend):
        with executing(environment, contract.operations, number=lambda: next(numbers)) as play:
            psu = play.perform(Arrange(subject="psu", holdings=(Holding(resource="account"),)))
            given = {"debtorAccount": psu.owns[0].key}
            call = Call(operation="create-payment", subject="psu", arguments=given)
            return play.perform(bend(dataclasses.replace(call, mode="immediate")))

    yield make
    environment.close()


@pytest.mark.parametrize(
    ("name", "is_"),
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
def test_a_shape_is_read_off_the_binding_and_the_contract(name, is_):
    """Of what a payment request holds, each argument has the shape that it looks like."""
    assert is_ == shape_of(create_argument(name)).name


@pytest.mark.parametrize(
    ("own", "is_"),
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
def test_any_value_has_a_shape(own, is_):
    """Whatever a binding has there, and nothing at all, has wrong values at least."""
    argument = dataclasses.replace(OWN, own=own, other=None)

    assert is_ == shape_of(argument).name
    assert Sort.WRONG in strategies(argument)
    assert (own is not None) == (Sort.VALID in strategies(argument))


@pytest.mark.parametrize(("_", "argument"), EVERY)
def test_a_value_takes_one_draw(_, argument):
    """Each strategy makes its value out of a single choice."""
    for values in strategies(argument).values():
        data = ConjectureData.for_choices((1,))
        with BuildContext(data, wrapped_test=lambda: None):
            assert isinstance(data.draw(values), Value)
        assert len(data.nodes) <= 1  # of a single value there is nothing to choose


@pytest.mark.parametrize(
    "name", ["categoryPurpose", "creditorAccount", "successfulReportUrl", "amount"]
)
def test_what_is_valid_is_accepted(made, name):
    """The sandbox takes every value that is called as good as its own."""
    for value in drawn(strategies(create_argument(name))[Sort.VALID], 25):
        assert made(with_value(name, value)).accepted, value


@pytest.mark.parametrize(
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
def test_what_is_structurally_wrong_is_refused(made, name):
    """The sandbox takes none of the values that no reading could take."""
    for value in table(create_argument(name), Sort.WRONG):
        assert made(with_value(name, value)).refused, value


@pytest.mark.parametrize("name", ["chargeBearer", "creditorAccount", "successfulReportUrl"])
def test_what_is_just_beyond_is_refused(made, name):
    """The sandbox takes nothing that is spelt otherwise, either."""
    for value in table(create_argument(name), Sort.BEYOND):
        if value.says == "of a country that does not exist":
            continue  # a bank that knows no list of countries may take it
        assert made(with_value(name, value)).refused, value


@pytest.mark.parametrize(("_", "argument"), EVERY)
def test_what_is_not_valid_is_not_the_bindings_own(_, argument):
    """What is beyond or wrong is never one of the values that the binding gives for good."""
    for sort in (Sort.BEYOND, Sort.WRONG):
        values = [one.json for one in table(argument, sort)]
        assert values
        assert not any(
            type(own) is type(one) and own == one for own in argument.good_values for one in values
        )


@pytest.mark.parametrize(("_", "argument"), EVERY)
def test_outside_of_a_body_there_is_nothing_but_text(_, argument):
    """A query, a header and a path hold texts and days; a header none that would break it."""
    if argument.place is not Place.BODY:
        values = [one.json for sort in (Sort.BEYOND, Sort.WRONG) for one in table(argument, sort)]
        assert all(isinstance(one, str | RelativeDay | OwnedRef) or one is ABSENT for one in values)
        if argument.place is Place.HEADER:
            assert all(
                one.isascii() and one.isprintable() for one in values if isinstance(one, str)
            )
        if argument.place is Place.PATH:
            assert not {"", ABSENT} & {one for one in values if not isinstance(one, RelativeDay)}


def test_limits_that_the_contract_names_are_tried_from_both_sides():
    """At the limit and one unit below is an edge, one unit above is beyond it."""
    argument = dataclasses.replace(OWN, named=NamedValues(limits=("40",), small=("0.01",)))
    edge = {str(one.json) for one in table(argument, Sort.EDGE)}
    beyond = {str(one.json) for one in table(argument, Sort.BEYOND)}

    assert {"40", "39.99", "0.01"} <= edge
    assert {"40.01", "0.00", "-0.01", "0.001"} <= beyond


def test_days_that_the_contract_names_are_tried_from_both_sides():
    """The ninetieth day is an edge, the day before that is beyond it."""
    since = next(
        one for one in bound_arguments(*bound("aisp")[1:])["transactions"] if one.name == "since"
    )

    assert (90,) == since.named.days
    assert {RelativeDay(-89), RelativeDay(-90), RelativeDay(0)} == {
        one.json for one in table(since, Sort.EDGE)
    }
    assert {RelativeDay(-91), RelativeDay(-92), RelativeDay(1)} <= {
        one.json for one in table(since, Sort.BEYOND) if isinstance(one.json, RelativeDay)
    }
    valid = [one.json for one in drawn(strategies(since)[Sort.VALID])]
    assert all(-90 < one.days <= 0 for one in valid)


def test_what_the_contract_names_is_beyond_or_at_the_edge():
    """Other codes than the fixed one are beyond, a code that makes a difference is an edge."""
    beyond = {one.json for one in table(create_argument("chargeBearer"), Sort.BEYOND)}

    assert {"SHAR", "DEBT", "CRED", "slev", "SLEV\n", " SLEV"} <= beyond
    assert ["CASH"] == [one.json for one in table(create_argument("categoryPurpose"), Sort.EDGE)]


def test_account_numbers_at_the_edge_are_right_and_beyond_it_are_not():
    """Check digits are right in the ones and wrong, or the length is, in the others."""
    argument = create_argument("creditorAccount")

    assert argument.own == checked(argument.own[:2], argument.own[4:])
    assert all(is_iban(one.json) for one in table(argument, Sort.EDGE))
    # Blanks and small letters are no matter of the check digits.
    wrong_ones = [one.json for one in table(argument, Sort.BEYOND) if one.json.isalnum()]
    assert sum(not is_iban(one) for one in wrong_ones) >= 6


def test_every_json_type_stands_where_it_does_not_belong():
    """A text is replaced by a number, a truth value, a list, an object and nothing at all."""
    kinds = {json_type(one.json) for one in wrong_values(create_argument("chargeBearer"))}

    assert {"text", "number", "truth value", "list", "object"} == kinds
    lacks = [one.json for one in missing_values(create_argument("chargeBearer"))]
    assert [ABSENT, "", None] == lacks


def test_keys_are_the_customers_own_or_somebody_elses_or_nobodys():
    """What is valid names a thing of the customer's, what is beyond does not."""
    argument = create_argument("debtorAccount")
    valid = [one.json for one in drawn(strategies(argument)[Sort.VALID])]

    assert {"self"} == {one.of for one in valid}
    strangers = [one.json for one in table(argument, Sort.BEYOND)]
    assert OwnedRef("other", 0) == strangers[0]
    assert set(UNKNOWN) <= set(strangers[1:])


def test_the_table_of_shapes_ends_with_one_that_fits_anything():
    """Names are unique, so that a shape can be spoken of."""
    assert len(SHAPES) == len({one.name for one in SHAPES})
    assert SHAPES[-1].fits(OWN)


def test_no_word_of_a_contract_is_in_the_code():
    """Nothing is written down that a contract or a binding says: neither names nor values."""
    said = set()
    for name in ("aisp", "pis", "lab"):
        _, contract, target = bound(name)
        for id_, operation in contract.operations.items():
            said |= {id_, *operation.arguments, *operation.modes, *reference_arguments(operation)}
        for some in bound_arguments(contract, target).values():
            for one in some:
                said |= {
                    *map(str, one.good_values),
                    *one.named.others,
                    *one.named.known,
                    *one.named.right,
                }
    said -= {one.name for one in SHAPES}  # the laboratory has an argument "day"
    for path in PACKAGE.glob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text("utf-8")))
        texts = {one.value for one in nodes if isinstance(one, ast.Constant)}
        assert not said & {one for one in texts if isinstance(one, str)}, path.name


def test_nothing_is_looked_up_and_no_clock_is_read():
    """A strategy is the same today and tomorrow, here and elsewhere."""
    for path in PACKAGE.glob("*.py"):
        text = path.read_text("utf-8")
        for effect in (".now(", ".today(", "import random", "import time", "socket", "open("):
            assert effect not in text, f"{path.name}: {effect}"
