"""Price of a trial: how many calls it takes, as a dry run shows.

The submission of a request is a call that no probe asks for; only the target file says that there
is one.
"""

from __future__ import annotations

from collections.abc import Callable

from assay.binding.target import Target

__all__ = ["FREE", "Price", "submitting"]


class Price:
    """How many calls a trial takes, counted by a dry run when it is first asked for."""

    __slots__ = ("_calls", "_count")

    def __init__(self, count: Callable[[], int]) -> None:
        self._count: Callable[[], int] | None = count
        self._calls = 0

    @property
    def calls(self) -> int:
        """The number of calls."""
        if self._count is not None:
            self.know(self._count())
        return self._calls

    def know(self, calls: int) -> None:
        """Keep the number of calls where a dry run has shown it already."""
        self._calls, self._count = calls, None


#: The price of what is not tested.
FREE = Price(lambda: 0)


def submitting(target: Target) -> frozenset[str]:
    """Return the operations whose requests the TPP submits."""
    return frozenset(name for name, each in target.operations.items() if each.submission)
