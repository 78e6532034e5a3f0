"""Decorator that caches values which depend only on a contract.

A contract cannot be hashed, and never changes: answers are kept by its identity. Without it, what
is asked at each step of each trial would take longer with each clause and operation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Concatenate, Final, ParamSpec, TypeVar, cast

from assay.contract.model import Contract

_P = ParamSpec("_P")
_Answer = TypeVar("_Answer")

#: How many contracts each function remembers.
_MOST: Final = 64


class _Same:
    """A contract as a cache key, compared by identity."""

    __slots__ = ("contract",)

    def __init__(self, contract: Contract) -> None:
        self.contract = contract

    def __hash__(self) -> int:
        return id(self.contract)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.contract is self.contract


def per_contract(
    function: Callable[Concatenate[Contract, _P], _Answer],
) -> Callable[Concatenate[Contract, _P], _Answer]:
    """Keep the answers of a function, whose further arguments are hashable, for each contract."""

    @lru_cache(maxsize=_MOST)
    def kept(key: _Same) -> dict[object, _Answer]:
        del key
        return {}

    @wraps(function)
    def answer(contract: Contract, *args: _P.args, **kwargs: _P.kwargs) -> _Answer:
        answers = kept(_Same(contract))
        key = (args, tuple(kwargs.items()))
        if key not in answers:
            answers[key] = function(contract, *args, **kwargs)
        return answers[key]

    return cast("Callable[Concatenate[Contract, _P], _Answer]", answer)
