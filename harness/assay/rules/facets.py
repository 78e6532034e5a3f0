"""Facets: the ways in which a clause can hold or be broken, and what testing each of them needs.

A kind hands them out, each with the scenario of its trial; how it is probed is for the kind to say.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeVar

from assay.contract.model import Capability, Operation
from assay.rules.verdict import Standing

#: What a target file can bind at an operation, and what a facet can require of it.
FEATURES: Final = (
    "path",
    "key",
    "on",
    "field",
    "state",
    "argument",
    "unlisted",
    "other",
    "mode",
    "next",
    "value",
    "links",
    "approval",
    "aliases",
    "credentials",
    "output",
    "token",
    "token-endpoint",
    "error",
)

#: The name of an `approval` that the facet is about, so that a signer without screens needs it, too.
LINK: Final = "link"
#: The same for one that needs the address to which the customer returns to be that of the request.
RETURN: Final = "return"


@dataclass(frozen=True, slots=True, kw_only=True)
class BindingRequirement:
    """A feature that the target file must bind before a facet can be tested.

    `feature` is one of `FEATURES`; `name` says which argument, field, mode or value is meant.
    `if_missing` is the verdict where the target does not bind it.
    """

    operation: str
    feature: str
    name: str = ""
    if_missing: Standing = Standing.UNVERIFIED

    def __str__(self) -> str:
        tail = f".{self.name}" if self.name else ""
        return f"operations.{self.operation}.{self.feature}{tail}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """The setting of one trial, named by `id`; a kind may derive a class with further fields."""

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallScenario(Scenario):
    """Calls of one operation."""

    operation: Operation


S = TypeVar("S", bound=Scenario)


def scenario_of(scenario: Scenario, class_: type[S]) -> S:
    """Return a scenario as what its kind made it, or raise `TypeError`."""
    if not isinstance(scenario, class_):
        raise TypeError(f"{scenario.id}: a {class_.__name__} was expected")
    return scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """One way in which a clause can hold or be broken; becomes one obligation.

    `description` completes the clause's sentence. `not_applicable_because` gives the reason
    where the facet can neither hold nor be broken. `rests_on` is the facet that shows that a
    bank can accept what is refused here: unless that one conforms, a refusal proves nothing.
    `exercises` are the operations that a bank must have accepted before it can conform: a facet of
    several operations is not shown by one of them.
    """

    id: str
    description: str
    scenario: Scenario
    needs: frozenset[Capability]
    requires: tuple[BindingRequirement, ...] = ()
    not_applicable_because: str = ""
    rests_on: str = ""
    exercises: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TppFacet:
    """The obligation of the TPP under a clause; only recordings can show it.

    `needs` and `requires` are what the target file must define before a recording can
    show it.
    """

    id: str
    description: str
    needs: frozenset[Capability] = frozenset()
    requires: tuple[BindingRequirement, ...] = ()


def needs(*capabilities: Capability) -> frozenset[Capability]:
    """Return the capabilities as the set that a facet takes."""
    return frozenset(capabilities)


def bound(
    operation: Operation | None,
    feature: str,
    name: str | Iterable[str | None] = "",
    *,
    if_missing: Standing = Standing.UNVERIFIED,
) -> tuple[BindingRequirement, ...]:
    """Require the target file to bind a feature of an operation, or one for each of some names."""
    if operation is None:
        return ()
    return tuple(
        BindingRequirement(
            operation=operation.id, feature=feature, name=each, if_missing=if_missing
        )
        for each in ((name,) if isinstance(name, str) else filter(None, name))
    )


def call_needs(
    operation: Operation, grant: Operation | None, *more: Capability
) -> frozenset[Capability]:
    """Return what a customer's call of an operation needs: a consent, where it is about a thing."""
    consenting = grant if operation.about and not operation.request else operation
    writing = [Capability.WRITE] if operation.request else []
    return needs(Capability.PSU, *writing, *more) | consent(consenting)


def consent(*operations: Operation | None) -> frozenset[Capability]:
    """Return the need for consents, where one of the operations transmits them."""
    granting = any(operation is not None and operation.grants for operation in operations)
    return needs(Capability.CONSENT) if granting else needs()
