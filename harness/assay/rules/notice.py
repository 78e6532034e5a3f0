"""`notice`: PLACEHOLDER, to be written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.history import History
from assay.model import Clause, Contract, Party
from assay.rules import requests
from assay.rules.rule import Facet, Rule, Script
from assay.verdict import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The request."""

    life: requests.Life


def parse(clause: Clause, contract: Contract) -> Params:
    """Read the clause's parameters."""
    return Params(life=requests.of_clause(clause, contract))


def facets(p: Params) -> tuple[Facet, ...]:
    """Return the facets."""
    return ()


def price(p: Params, scenario: str) -> int:
    """Count the calls of a scenario."""
    return 0


def probe(p: Params, scenario: str) -> Script:
    """Ask."""
    yield from ()


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge."""
    yield from ()


RULE = Rule(
    kind="notice",
    party=Party.BANK,
    parse=parse,
    facets=facets,
    price=price,
    probe=probe,
    check=check,
)
