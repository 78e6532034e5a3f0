"""Check of words in a target file whose usual meaning differs from their entry.

Most banks take the words of a request's states from English or from ISO 20022, and many name
the factors as the contract does. A word under the wrong heading cannot be recognised in the
answers where no probe brings a request into that state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from assay.contract.model import Json
from assay.doctor.context import DoctorContext, Finding, Weight
from assay.history import State
from assay.rules.clauses import clauses_of

#: States that are confused without consequence: a request that was not executed.
_NOT_DONE: Final = frozenset({State.REJECTED, State.ENDED})
#: Words that mean one thing wherever they are used for a request, in lower case.
_MEANINGS: Final[Mapping[str, State]] = {
    **dict.fromkeys(("received", "pending", "rcvd", "pdng", "actc", "acsp"), State.OPEN),
    **dict.fromkeys(("executed", "completed", "settled", "acsc", "accc"), State.DONE),
    **dict.fromkeys(("rejected", "refused", "declined", "rjct"), State.REJECTED),
    **dict.fromkeys(("cancelled", "canceled", "expired", "canc"), State.ENDED),
}


def examine(context: DoctorContext) -> Iterator[Finding]:
    """Report words for states and factors under another heading than their own."""
    for name, binding in context.target.operations.items():
        state = binding.item.state
        for listed, words in state.values.items() if state else ():
            for word in words:
                yield from _state(context, name, listed, word)
    yield from _factors(context)


def _state(context: DoctorContext, operation: str, listed: State, word: Json) -> Iterator[Finding]:
    meant = _MEANINGS.get(word.lower()) if isinstance(word, str) else None
    if meant is None or meant is listed or {meant, listed} <= _NOT_DONE:
        return
    place = ("operations", operation, "item", "state", "values", listed.value)
    found = f"{word!r}, which usually means {meant.value}"
    yield context.finding(place, f"a word for {listed.value}", found, weight=Weight.DOUBT)


def _factors(context: DoctorContext) -> Iterator[Finding]:
    known = {
        factor
        for contract in context.contracts_bound
        for clause in clauses_of(contract)
        for factor in clause.factors()
    }
    for factor, word in context.target.sca.factors.items():
        if word != factor and word in known:
            place, found = ("sca", "factors", factor), f"{word!r}, the name of another factor"
            expected = f"the bank's word for {factor}"
            yield context.finding(place, expected, found, weight=Weight.DOUBT)
