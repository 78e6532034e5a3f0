"""Parts of a target file that have no effect, and words that usually mean something else.

Most of them are mistakes that no name gives away. `assay check` and `assay doctor` both report them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from assay.binding.model.pointer import texts
from assay.binding.model.target import AuthKind, FixtureKind, ScaKind, Target, TransportKind
from assay.contract.model import Capability, Contract, Json
from assay.errors import did_you_mean
from assay.files.document import Pointer
from assay.history import State
from assay.rules.rule import clauses_of, facts_of

#: States that are confused without consequence: a request that was not carried out.
_NOT_DONE: Final = frozenset({State.REJECTED, State.ENDED})
#: Words that mean one thing wherever they are used for a request, in lower case. Most banks take
#: them from English or from ISO 20022.
_MEANINGS: Final[Mapping[str, State]] = {
    **dict.fromkeys(("received", "pending", "rcvd", "pdng", "actc", "acsp"), State.OPEN),
    **dict.fromkeys(("executed", "completed", "settled", "acsc", "accc"), State.DONE),
    **dict.fromkeys(("rejected", "refused", "declined", "rjct"), State.REJECTED),
    **dict.fromkeys(("cancelled", "canceled", "expired", "canc"), State.ENDED),
}


def without_effect(target: Target, contracts: Sequence[Contract]) -> Iterator[tuple[Pointer, str]]:
    """Yield the keys of the file that have no effect, each with what stands there.

    One that is inherited may have an effect for other files that extend the same one.
    """
    for at, what in _without_effect(target, contracts):
        if target.place(*at)[0] == target.path:
            yield at, what


def _without_effect(target: Target, contracts: Sequence[Contract]) -> Iterator[tuple[Pointer, str]]:
    yield from _unknown_fields(target, contracts)
    secure = target.base_url.startswith("https:") or target.transport is TransportKind.EMBEDDED
    if target.tls and not secure:
        yield ("tls",), "TLS settings for a base_url with plain http"
    yield from _items_without_place(target, contracts)
    for key in () if target.fixtures.kind is FixtureKind.CONTROL else ("segments", "effects"):
        if getattr(target.fixtures, key):
            where = f"words for a control API (fixtures.kind is {target.fixtures.kind.value})"
            yield ("fixtures", key), where
    if target.sca.kind is not ScaKind.NONE and not _signs(target, contracts):
        yield ("sca",), "an SCA signer but nothing to sign: fixtures.offers has no write"


def _signs(target: Target, contracts: Sequence[Contract]) -> bool:
    """Whether a customer may have something to sign, or may have to sign in."""
    offers = target.fixtures.offers
    if any(auth and auth.kind is AuthKind.CODE for auth in (target.auth, target.auth.tpp)):
        return True
    operations = [each for contract in contracts for each in contract.operations.values()]
    made = [each for each in operations if each.makes]
    needed = (Capability.CONSENT if each.about_consent else Capability.WRITE for each in made)
    return not made or any(capability in offers for capability in needed)


def _unknown_fields(target: Target, contracts: Sequence[Contract]) -> Iterator[tuple[Pointer, str]]:
    """Yield the fields that no contract has, and why they have no effect."""
    for name, binding in target.operations.items():
        contract = next((each for each in contracts if name in each.operations), None)
        known = _fields(contract, name) if contract else {*binding.item.fields}
        for field in binding.item.fields:
            if field not in known:
                hint = did_you_mean(field, known)
                why = "a name that is no field of the contract" + (f" ({hint})" if hint else "")
                yield ("operations", name, "item", "fields", field), why


def _fields(contract: Contract, operation: str) -> set[str]:
    """Return the fields that an operation's items may have."""
    known = contract.operations[operation]
    resources = [*known.lists, *([known.request] if known.request else [])]
    named = {name for resource in resources for name in contract.resources[resource].fields}
    return named or {name for resource in contract.resources.values() for name in resource.fields}


def _items_without_place(
    target: Target, contracts: Sequence[Contract]
) -> Iterator[tuple[Pointer, str]]:
    """Yield the items whose pointers lead nowhere, because nothing says where the items are."""
    for contract in contracts:
        for name, operation in contract.operations.items():
            binding = target.operations.get(name)
            placed = binding is None or binding.list or binding.one is not None
            wanted = operation.lists or operation.makes or operation.shows
            located = binding is not None and (binding.item.keyed or binding.item.fields)
            if located and not placed and wanted:
                need = "list" if operation.lists else "one"
                yield ("operations", name, "item"), f"pointers into items, without `{need}`"


def other_meanings(
    target: Target, contracts: Sequence[Contract]
) -> Iterator[tuple[Pointer, str, str]]:
    """Yield what usually means something else, each with what was expected and what stands there.

    A word under the wrong heading cannot be recognised in the answers where no probe brings a
    request into that state. A value that is never the same twice makes a repeat another request.
    """
    yield from _never_repeated(target, contracts)
    for name, binding in target.operations.items():
        state = binding.item.state
        for listed, words in state.values.items() if state else ():
            for word in words:
                meant = _other_state(listed, word)
                if meant is not None:
                    place = ("operations", name, "item", "state", "values", listed.value)
                    found = f"{word!r}, which usually means {meant.value}"
                    yield place, f"a word for {listed.value}", found
    known = {factor for contract in contracts for factor in facts_of(contract).factors}
    for factor, word in target.sca.factors.items():
        if word != factor and word in known:
            found = f"{word!r}, the name of another factor"
            yield ("sca", "factors", factor), f"the bank's word for {factor}", found


def _never_repeated(
    target: Target, contracts: Sequence[Contract]
) -> Iterator[tuple[Pointer, str, str]]:
    """Yield the bodies with a value that is new in a repeat, where a clause has repeats rejected.

    The id of a request names the call, and no bank compares it.
    """
    new = {
        name
        for name, each in target.operations.items()
        for way, text in texts(each.template)
        if "{unique}" in text and not any("request" in str(step).lower() for step in way[-1:])
    }
    for contract in contracts if new else ():
        for clause, kind in zip(contract.clauses, clauses_of(contract), strict=True):
            for operation in map(contract.operations.get, new):
                if operation and operation.makes in kind.facts().unrepeatable:
                    what = f"{{unique}} where {clause.id} has repeats rejected, and equal requests"
                    what += " have equal bodies only with {alike}"
                    yield (
                        ("operations", operation.id, "template"),
                        "the same body in a repeat",
                        what,
                    )


def _other_state(listed: State, word: Json) -> State | None:
    """Return the state that a word usually means, if that is another than it is listed for."""
    meant = _MEANINGS.get(word.lower()) if isinstance(word, str) else None
    return None if meant is listed or {meant, listed} <= _NOT_DONE else meant
