"""Guesses of which part of a body is an argument: by its name, or by its value in whatever language.

A contract says the only value of some arguments (`SLEV`), or one of a list of codes that all banks use
(`CASH`). An IBAN that other calls name as well is the customer's own, and the other one is the payee's.
A day, or a URL, may be the only one. What a new request has at some place, a change of it and the
request that is shown have there, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from assay.onboarding.init.example_calls import DAYS, IBAN
from assay.onboarding.init.openapi_operations import SchemaLeaf
from assay.onboarding.init.operation_matching import MatchedOperation
from assay.onboarding.init.synonyms import beside_currency, called, guessed
from assay.rules.rule import facts_of

#: Codes for the purpose of a payment (ISO 20022, ExternalCategoryPurpose).
_PURPOSES = frozenset(
    [
        *("BONU", "CASH", "CBLK", "CCRD", "CORT", "DCRD", "DIVI", "DVPM", "EPAY", "FCIN", "FCOL"),
        *("GOVT", "GP2P", "HEDG", "ICCP", "IDCP", "INTC", "INTE", "LBOX", "LOAN", "MP2B", "MP2P"),
        *("OTHR", "PENS", "RPRE", "RRCT", "RVPM", "SALA", "SECU", "SSBE", "SUPP", "TAXS", "TRAD"),
        *("TREA", "VATX", "WHLD"),
    ]
)
_CURRENCY = re.compile("[A-Z]{3}")
#: How the address ends, or what it has, to which a customer returns who has not signed.
_REFUSED_END, _REFUSED = "ko", ("fail", "error", "cancel", "refus", "reject", "abort", "denied")
#: A leaf, and why it is taken for an argument.
Guess: TypeAlias = tuple[SchemaLeaf, str]


def argument(shape: MatchedOperation, name: str) -> Guess | None:
    """Return the part of a body that holds an argument of a request, by its name or its value."""
    leaf = called(name, shape.offered.request)
    if leaf is not None:
        return leaf, guessed(name, leaf)
    if shape.operation.makes:
        return _valued(shape, name)
    return as_made(shape, name, shape.offered.request)


def as_made(shape: MatchedOperation, name: str, leaves: Sequence[SchemaLeaf]) -> Guess | None:
    """Return the leaf that stands where a new request has an argument."""
    made = made_with(shape, name)
    same = next((leaf for leaf in leaves if made and leaf.steps == made.steps), None)
    return (same, f"a new {shape.operation.request} has it there") if same else None


def made_with(shape: MatchedOperation, name: str) -> SchemaLeaf | None:
    """Return the part of a new request that holds an argument of it, where the document has the call."""
    operations = shape.contract.operations.values()
    maker = next((each for each in operations if each.makes == shape.operation.request), None)
    if maker is None or shape.made is None or name not in maker.arguments:
        return None
    found = argument(replace(shape, operation=maker, offered=shape.made), name)
    return found[0] if found else None


def _valued(shape: MatchedOperation, name: str) -> Guess | None:
    """Return the only part of the body of a new request whose value tells that it is an argument."""
    maker, facts = shape.operation, facts_of(shape.contract)
    plain = [leaf for leaf in shape.offered.request if leaf.is_value and not leaf.is_listed]
    fixed = {str(value) for value in facts.fixed_values.get(name, ())}
    named = dict(facts.named_values.get(maker.makes or "", ()))
    found, why = list[SchemaLeaf](), ""
    if fixed:
        found = [leaf for leaf in plain if fixed & {*leaf.values}]
        why = f"{', '.join(sorted(fixed))} is the contract's value of {name}"
    elif named.get(name) in _PURPOSES:
        found = [leaf for leaf in plain if leaf.values and {*leaf.values} <= _PURPOSES]
        why = "its value is a code for the purpose of a payment"
    elif name in (maker.owned, maker.payee) and (own := {*_own_ibans(shape)}):
        ibans = [leaf for leaf in plain if leaf.form == IBAN and leaf.values]
        found = [leaf for leaf in ibans if (name == maker.owned) is bool(own & {*leaf.values})]
        why = "other calls name this IBAN, too" if name == maker.owned else "no other call has it"
    elif name == maker.amount:
        found, why = [*_beside_currency(shape, plain)], "it stands beside the currency"
    elif maker.due and name == maker.due.argument:
        found, why = [leaf for leaf in plain if leaf.form in DAYS], "it is the only day"
    elif name == maker.returns:
        urls = [leaf for leaf in plain if leaf.form == "uri"]
        found = [leaf for leaf in urls if not _is_refused(leaf)]
        why = "it is the only URL" + (" that is not for a refusal" if len(urls) > 1 else "")
    return (found[0], why) if len(found) == 1 else None


def _beside_currency(shape: MatchedOperation, plain: Sequence[SchemaLeaf]) -> Iterator[SchemaLeaf]:
    """Yield the sum that stands beside the only currency that the contract allows."""
    for name, values in facts_of(shape.contract).fixed_values.items():
        if all(_CURRENCY.fullmatch(str(value)) for value in values):
            currency = _valued(shape, name)
            found = beside_currency(plain, currency[0]) if currency else None
            yield from (found,) if found else ()


def _is_refused(leaf: SchemaLeaf) -> bool:
    """Whether a URL is that to which a customer returns who has not signed."""
    said = " ".join((leaf.name, *leaf.values)).lower()
    return said.endswith(_REFUSED_END) or any(word in said for word in _REFUSED)


def _own_ibans(shape: MatchedOperation) -> Iterator[str]:
    """Yield the IBANs in calls that are not about the request: those of the customer's accounts."""
    for offer in shape.offers:
        if not offer.path.startswith(shape.offered.path):
            leaves = [*offer.request, *(parameter.leaf for parameter in offer.parameters)]
            yield from (value for leaf in leaves if leaf.form == IBAN for value in leaf.values)
