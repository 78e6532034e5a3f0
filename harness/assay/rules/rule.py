"""What a rule kind is: parameters, facets, price, probe, check.

One frozen record a kind, in a file of the kind's name; `rules.RULES` is the
visible table of them. A probe is a generator that yields steps and is sent
replies, so it does no I/O and cannot tell a sandbox from a live bank. A check
is a pure function that judges any history, its own probe's or a stranger's.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from assay.contract.model import Capability, Clause, Contract, Operation, Party
from assay.history import History, Reply, Step
from assay.judging.verdict import Evidence, Standing

P = TypeVar("P")

#: A probe at work: yields steps, is sent what became of each.
Script: TypeAlias = Generator[Step, Reply, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class BindingRequirement:
    """A feature that the target file must bind before a facet can be tested.

    `feature` is one of `binding.features.BINDING_FEATURES`; `name` says which argument, field,
    mode or value is meant. `if_missing` is the verdict where the target does not bind it.
    """

    operation: str
    feature: str
    name: str = ""
    if_missing: Standing = Standing.UNVERIFIED

    def __str__(self) -> str:
        tail = f".{self.name}" if self.name else ""
        return f"operations.{self.operation}.{self.feature}{tail}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """One way in which a clause can hold or be broken; becomes one obligation.

    `asks` completes the clause's sentence; facets of one `scenario` share a trial.
    `void` says why it can neither hold nor be broken here, where that is so.
    """

    id: str
    description: str
    scenario: str
    needs: frozenset[Capability]
    requires: tuple[BindingRequirement, ...] = ()
    not_applicable_because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(Generic[P]):
    """A rule kind. `price` is the number of calls that a scenario spends.

    `explain` writes down, in a few lines, what the kind derived from its parameters,
    where that is more than its facets say.
    """

    kind: str
    party: Party
    parse: Callable[[Clause, Contract], P]
    facets: Callable[[P], tuple[Facet, ...]]
    price: Callable[[P, str], int]
    probe: Callable[[P, str], Script]
    check: Callable[[P, History], Iterator[Evidence]]
    explain: Callable[[P], str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Duty(Generic[P]):
    """The provider's side of a kind: what whoever calls owes under the same clause.

    It takes the parameters of the kind's rule. `id` is the facet of its one obligation and
    `asks` its sentence, `needs` and `wants` are what the profile must tell before a
    recording can show it. A check speaks of a call that could have broken the duty only,
    and convicts on what is sure.
    """

    kind: str
    id: str
    description: Callable[[P], str]
    check: Callable[[P, History], Iterator[Evidence]]
    needs: frozenset[Capability] = frozenset()
    requires: Callable[[P], tuple[BindingRequirement, ...]] | None = None


def needs(*capabilities: Capability) -> frozenset[Capability]:
    """Return the capabilities as the set that a facet takes."""
    return frozenset(capabilities)


def consent(*operations: Operation | None) -> frozenset[Capability]:
    """Return the need for consents, where one of the operations transmits them."""
    granting = any(one is not None and one.grants for one in operations)
    return needs(Capability.CONSENT) if granting else needs()
