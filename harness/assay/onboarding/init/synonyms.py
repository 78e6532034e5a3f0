"""Names of a document that mean the same as a name of a contract, and values that stand beside them.

From the surest to the loosest: the same name at the top, a usual synonym, and the same name further
down; one general word, such as `date`, only near the top: a body has several dates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from assay.contract.model import Json
from assay.onboarding.init.example_calls import DECIMAL, IBAN, OWN_DAYS
from assay.onboarding.init.openapi_operations import SchemaLeaf, words

#: Words of parties other than the customer.
THEIRS = frozenset(
    [
        *("creditor", "debtor", "beneficiary", "counterparty", "ultimate", "original"),
        *("recipient", "sender", "payee", "payer"),
    ]
)
_ACCOUNT = (("iban",), ("identification",), ("number",), ("account", "number"))
#: Other names of the contract's arguments and fields, as the words at the end of a path, the
#: surest first.
_SYNONYMS: dict[str, tuple[tuple[tuple[str, ...], ...], ...]] = {
    "creditorAccount": (
        (("creditor", "iban"),),
        *(
            (party, inner)
            for party in (("creditor", "account"), ("recipient",), ("payee",), ("beneficiary",))
            for inner in _ACCOUNT
        ),
    ),
    "debtorAccount": (
        (("debtor", "iban"),),
        *(
            (party, inner)
            for party in (("debtor", "account"), ("sender",), ("payer",))
            for inner in _ACCOUNT
        ),
    ),
    "amount": (
        (("instructed", "amount"), ("amount",)),
        (("instructed", "amount"),),
        (("amount", "minor"),),
    ),
    "currency": ((("instructed", "amount"), ("currency",)), (("ccy",),)),
    "date": (
        (("requested", "execution", "date"),),
        (("requested", "execution", "date", "time"),),
        (("execution", "date"),),
        (("execution", "date", "time"),),
    ),
    "successfulReportUrl": (
        (("success", "url"),),
        (("redirect", "uri"),),
        (("redirect", "url"),),
        (("return", "url"),),
    ),
    "iban": ((("account", "number"),),),
    "categoryPurpose": ((("purpose",),),),
}
#: The patterns of numbers.
_DIGITS = re.compile(r"\^?(\[0-9\]|\\d)([+*]|[{][0-9,]+[}])\$?")
#: Words for the state of a request that was cancelled, or for what cancels it.
_CANCELLED = frozenset(["canc", "cancelled", "canceled", "cancel", "withdrawn", "revoked"])
#: What hundredths of a currency are called.
_CENTS = frozenset({"cent", "centimo", "centime", "centesimo", "centesimi", "centen"})
#: How far below the top a name of one word is still taken for that of the contract.
MOST_GENERAL = 2


def guessed(name: str, leaf: SchemaLeaf) -> str:
    """Return why a leaf is taken for the contract's name; empty if it is certain."""
    if leaf.steps == (name,):
        return ""
    return "same name" if leaf.name == name else f"{' '.join(leaf.steps)} is similar to {name}"


def called(name: str, leaves: Iterable[SchemaLeaf]) -> SchemaLeaf | None:
    """Return the leaf that has a name of the contract, or another name for the same."""
    mine = words(name)
    values = [leaf for leaf in leaves if leaf.steps and _may_hold(mine, leaf)]
    top = [leaf for leaf in values if leaf.name == name and leaf.is_member]
    if top:
        return top[0]
    for ending in _SYNONYMS.get(name, ()):
        near = [leaf for leaf in values if _ends_with(leaf, ending) and not is_masked(leaf)]
        if near:
            return min(near, key=_depth)
    # The account of another party is another field.
    own = [leaf for leaf in values if leaf.path & set(mine) & THEIRS or not leaf.path & THEIRS]
    # What is in a list, or a general word far below, is about something else.
    own = [leaf for leaf in own if not leaf.is_listed]
    own = own if len(mine) > 1 else [leaf for leaf in own if len(leaf.steps) <= MOST_GENERAL]
    same = [leaf for leaf in own if leaf.words == mine]
    same = same or only_iban(mine, own)
    nearest = min(same, key=lambda leaf: (leaf.name != name, *_depth(leaf)), default=None)
    if nearest is None and name == "amount" and (currency := called("currency", values)):
        return beside_currency(values, currency)
    return nearest


def is_synonym(name: str, leaf: SchemaLeaf) -> bool:
    """Whether a member has another usual name for the contract's."""
    return leaf.is_member and any(_ends_with(leaf, each) for each in _SYNONYMS.get(name, ()))


def only_iban(mine: Sequence[str], leaves: Sequence[SchemaLeaf]) -> list[SchemaLeaf]:
    """Return the only leaf that has an IBAN in each item, whatever it is called, for `iban`."""
    ibans = [leaf for leaf in leaves if leaf.form == IBAN and leaf.is_member]
    if any(leaf.needed for leaf in leaves):
        ibans = [leaf for leaf in ibans if leaf.needed]
    return ibans if [*mine] == ["iban"] and len(ibans) == 1 else []


def days_of(leaf: SchemaLeaf) -> dict[str, Json]:
    """Return the `format` of a day that is not written as in ISO 8601; empty for another."""
    return {"format": leaf.form} if leaf.form in OWN_DAYS else {}


def beside_currency(values: Sequence[SchemaLeaf], currency: SchemaLeaf) -> SchemaLeaf | None:
    """Return the only sum beside a currency; none for a whole number, which may be one of cents."""
    near = [leaf for leaf in values if leaf.steps[:-1] == currency.steps[:-1]]
    sums = [
        leaf
        for leaf in near
        if leaf.kind == "number"
        or unit_of(leaf)
        or (leaf.is_text and (leaf.form == DECIMAL or leaf.words == ("value",)))
    ]
    return sums[0] if len(sums) == 1 else None


def cancelling(leaves: Iterable[SchemaLeaf]) -> tuple[SchemaLeaf, str] | None:
    """Return the member of a body that cancels by its word for a state, and this word."""
    for leaf in leaves:
        word = next((each for each in leaf.values if each.lower() in _CANCELLED), None)
        if word and {"status", "state", "action"} & {*leaf.words} and not leaf.is_listed:
            return leaf, word
    return None


def _may_hold(mine: Sequence[str], leaf: SchemaLeaf) -> bool:
    """Whether a leaf has a value, which for an account is an IBAN: neither digits nor a UUID."""
    if not leaf.is_value:
        return False
    if not {"account", "iban"} & {*mine}:
        return True
    is_number = leaf.kind in {"integer", "number"} or bool(_DIGITS.fullmatch(leaf.form))
    return not is_number and leaf.form != "uuid"


def _depth(leaf: SchemaLeaf) -> tuple[int, int]:
    """Return a rank: what is not in a list comes first, then what is nearer to the top."""
    return leaf.steps.count("*"), len(leaf.steps)


def _ends_with(leaf: SchemaLeaf, ending: Sequence[tuple[str, ...]]) -> bool:
    """Whether the last steps to a leaf, without those of lists, have the words of an ending."""
    steps = [words(step) for step in leaf.steps if step != "*"]
    return tuple(steps[-len(ending) :]) == tuple(ending)


def is_unique_header(header: str) -> bool:
    """Whether the name of a header says that each request has another value."""
    mine = set(words(header))
    return ("id" in mine and bool({"request", "correlation"} & mine)) or "idempotency" in mine


def unit_of(leaf: SchemaLeaf) -> dict[str, Json]:
    """Return the `unit` of an amount that is named as one in minor units; empty for another."""
    is_minor = leaf.words == ("amount", "minor") or bool({*leaf.words[-1:]} & _CENTS)
    return {"unit": "0.01"} if is_minor else {}


def is_masked(leaf: SchemaLeaf) -> bool:
    """Whether the document says that a value is shown only in part."""
    return "mask" in leaf.description.lower()


def beside(leaf: SchemaLeaf, leaves: Iterable[SchemaLeaf]) -> SchemaLeaf | None:
    """Return the leaf beside the key that identifies other resources."""
    above = leaf.steps[:-1]
    for candidate in leaves:
        if candidate.words == ("identification",) and candidate.steps[: len(above)] == above:
            return candidate
    return None
