"""Limit on the calls of an operation in a period, as other clauses ask for it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimit:
    """A number of calls in a period; `attended` if calls with the customer count, too.

    `shared` are the operations whose calls count together; empty if each has its own count.
    A consent that `grant` makes may name a smaller number, in `argument`.
    """

    number: int
    attended: bool
    daily: bool
    shared: frozenset[str] = frozenset()
    argument: str = ""
    grant: str = ""
