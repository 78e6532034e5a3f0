"""The table of value shapes, and the strategies derived from it.

Each strategy takes one draw, from a table or an integer, whatever it generates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hypothesis.strategies import SearchStrategy, sampled_from

from assay.fuzzing.fields import keys, numbers, texts
from assay.fuzzing.fields.ill_typed import lacking, wrong
from assay.fuzzing.fields.shape import Argument, Keys, Sort, Value, ValueShape

#: In the order in which they are tried: the last one fits any text.
SHAPES: tuple[ValueShape, ...] = (
    ValueShape(
        name="key",
        fits=keys.is_key,
        valid=keys.own,
        edge=texts.nothing,
        beyond=keys.strangers,
    ),
    ValueShape(
        name="keys",
        fits=keys.is_keys,
        valid=keys.owns,
        edge=keys.edge_lists,
        beyond=keys.beyond_lists,
    ),
    ValueShape(
        name="number",
        fits=numbers.is_number,
        valid=numbers.valid_number,
        edge=numbers.edge_numbers,
        beyond=numbers.beyond_numbers,
    ),
    ValueShape(
        name="day",
        fits=numbers.is_day,
        valid=numbers.valid_day,
        edge=numbers.edge_days,
        beyond=numbers.beyond_days,
    ),
    ValueShape(
        name="account number",
        fits=texts.is_account,
        valid=texts.as_good,
        edge=texts.edge_accounts,
        beyond=texts.beyond_accounts,
    ),
    ValueShape(
        name="address",
        fits=texts.is_address,
        valid=texts.valid_address,
        edge=texts.edge_addresses,
        beyond=texts.beyond_addresses,
    ),
    ValueShape(
        name="code",
        fits=texts.is_code,
        valid=texts.as_good,
        edge=texts.known_codes,
        beyond=texts.beyond_codes,
    ),
    ValueShape(
        name="text",
        fits=texts.is_text,
        valid=texts.as_good,
        edge=texts.known_codes,
        beyond=texts.beyond_codes,
    ),
    ValueShape(  # a truth value, a list, an object
        name="whatever",
        fits=lambda _: True,
        valid=texts.as_good,
        edge=texts.nothing,
        beyond=texts.nothing,
    ),
)


def shape(argument: Argument) -> ValueShape:
    """Return the shape of an argument, as far as the binding and the contract tell."""
    return next(one for one in SHAPES if one.fits(argument))


def strategies(argument: Argument) -> Mapping[Sort, SearchStrategy[Value]]:
    """Return a strategy for each sort of which there is anything; each takes one draw.

    An argument of which the binding has no value, and the shape tells none, has no valid
    ones; and neither has the key of a request, which a story has to make first.
    """
    found = shape(argument)
    out: dict[Sort, SearchStrategy[Value]] = {}
    if argument.goods or found.name in {"day", "keys"} or argument.keys is Keys.OWNED:
        out[Sort.VALID] = found.valid(argument)
    tables: Mapping[Sort, Iterable[Value]] = {
        Sort.EDGE: found.edge(argument),
        Sort.BEYOND: found.beyond(argument),
        Sort.WRONG: (*lacking(argument), *wrong(argument)),
    }
    for sort, table in tables.items():
        if values := tuple(table):
            out[sort] = sampled_from(values)
    return out
