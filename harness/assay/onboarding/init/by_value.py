"""Guesses by values, where a document calls nothing as the contract does: in whatever language.

A contract says the only value of some arguments (`SLEV`), or one of a list of codes that all banks use
(`CASH`). An IBAN that other calls name as well is the customer's own, and the other one is the payee's.
A day, or a URL, may be the only one. What a new request has at some place, a change of it and the
request that is shown have there, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from assay.contract.model import Operation
from assay.onboarding.init.example_calls import DAYS, IBAN
from assay.onboarding.init.openapi_operations import OpenApiOperation, SchemaLeaf
from assay.onboarding.init.operation_matching import MatchedOperation
from assay.onboarding.init.synonyms import beside_currency, called, guessed
from assay.rules.rule import facts_of

#: Codes for the purpose of a payment (ISO 20022, ExternalCategoryPurpose).
_PURPOSES = frozenset(
    [
        "BONU",
        "CASH",
        "CBLK",
        "CCRD",
        "CORT",
        "DCRD",
        "DIVI",
        "DVPM",
        "EPAY",
        "FCIN",
        "FCOL",
        "GOVT",
        "GP2P",
        "HEDG",
        "ICCP",
        "IDCP",
        "INTC",
        "INTE",
        "LBOX",
        "LOAN",
        "MP2B",
        "MP2P",
        "OTHR",
        "PENS",
        "RPRE",
        "RRCT",
        "RVPM",
        "SALA",
        "SECU",
        "SSBE",
        "SUPP",
        "TAXS",
        "TRAD",
        "TREA",
        "VATX",
        "WHLD",
    ]
)
#: How the address ends, or what it has, to which a customer returns who has not signed.
_REFUSED_END, _REFUSED = "ko", ("fail", "error", "cancel", "refus", "reject", "abort", "denied")
#: A leaf, and why it is taken for an argument.
Guess = tuple[SchemaLeaf, str]


def argument(shape: MatchedOperation, name: str) -> Guess | None:
    """Return the part of a body that holds an argument of a request, by its name or its value."""
    leaf = called(name, shape.offered.request)
    if leaf is not None:
        return leaf, guessed(name, leaf)
    maker = _maker(shape)
    if shape.operation.makes:
        return _valued(shape, name, shape.operation, shape.offered)
    made = made_with(shape, name) if maker else None
    same = next((each for each in shape.offered.request if made and each.steps == made.steps), None)
    return (same, f"a new {shape.operation.request} has it there") if same else None


def made_with(shape: MatchedOperation, name: str) -> SchemaLeaf | None:
    """Return the part of a new request that holds an argument of it, where the document has the call."""
    maker, made = _maker(shape), shape.made
    if maker is None or made is None or name not in maker.arguments:
        return None
    found = called(name, made.request)
    if found is None:
        guess = _valued(replace(shape, operation=maker, offered=made), name, maker, made)
        found = guess[0] if guess else None
    return found


def _maker(shape: MatchedOperation) -> Operation | None:
    operations = shape.contract.operations.values()
    return next((each for each in operations if each.makes == shape.operation.request), None)


def _valued(
    shape: MatchedOperation, name: str, maker: Operation, made: OpenApiOperation
) -> Guess | None:
    """Return the only part of the body of a new request whose value tells that it is an argument."""
    plain = [leaf for leaf in made.request if leaf.steps and leaf.is_value and not leaf.is_listed]
    found, why = list[SchemaLeaf](), ""
    facts = facts_of(shape.contract)
    fixed = {str(value) for value in facts.fixed_values.get(name, ())}
    named = {
        str(value) for said, value in facts.named_values.get(maker.makes or "", ()) if said == name
    }
    if fixed:
        found = [leaf for leaf in plain if fixed & {*leaf.values}]
        why = f"{', '.join(sorted(fixed))} is the contract's value of {name}"
    elif named & _PURPOSES:
        found = [leaf for leaf in plain if leaf.values and {*leaf.values} <= _PURPOSES]
        why = "its value is a code for the purpose of a payment"
    elif name in (maker.owned, maker.payee):
        own = {*_own_ibans(shape, made)}
        ibans = [leaf for leaf in plain if leaf.form == IBAN and leaf.values]
        found = [leaf for leaf in ibans if (name == maker.owned) is bool(own & {*leaf.values})]
        why = "other calls name this IBAN, too" if name == maker.owned else "no other call has it"
        found = found if own else []
    elif name == maker.amount:
        currency = next(
            (each for each in maker.arguments if facts.fixed_values.get(each, ())[:1] == ("EUR",)),
            "",
        )
        beside = _valued(shape, currency, maker, made) if currency else None
        only = beside_currency(plain, beside[0]) if beside else None
        found, why = [only] if only else [], "it stands beside the currency"
    elif maker.due and name == maker.due.argument:
        found, why = [leaf for leaf in plain if leaf.form in DAYS], "it is the only day"
    elif name == maker.returns:
        urls = [leaf for leaf in plain if leaf.form == "uri"]
        found = [leaf for leaf in urls if not _is_refused(leaf)]
        why = "it is the only URL" + (" that is not for a refusal" if len(urls) > 1 else "")
    return (found[0], why) if len(found) == 1 else None


def _is_refused(leaf: SchemaLeaf) -> bool:
    """Whether a URL is that to which a customer returns who has not signed."""
    said = " ".join((leaf.name, *leaf.values)).lower()
    return said.endswith(_REFUSED_END) or any(word in said for word in _REFUSED)


def _own_ibans(shape: MatchedOperation, made: OpenApiOperation) -> Iterator[str]:
    """Yield the IBANs in calls that are not about the request: those of the customer's accounts."""
    for offer in shape.offers:
        if not offer.path.startswith(made.path):
            leaves: Sequence[SchemaLeaf] = (
                *offer.request,
                *(parameter.leaf for parameter in offer.parameters),
            )
            yield from (value for leaf in leaves if leaf.form == IBAN for value in leaf.values)
