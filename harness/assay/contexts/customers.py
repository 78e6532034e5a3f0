"""Dimensions of the customer: segment, what else she owns, and whether she is present."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from assay.contexts.context import StepMapper
from assay.contract.model import Contract
from assay.history import Arrange, Call, Holding, Reply, Step, Subject
from assay.rules import clauses
from assay.rules.steps import roots

OWN = "the trial varies it itself"


def arrangements(steps: Sequence[Step]) -> list[Arrange]:
    """Return the arrangements among steps."""
    return [step for step in steps if isinstance(step, Arrange)]


def calls(steps: Sequence[Step]) -> list[Call]:
    """Return the calls among steps, without page turns: a page is asked for by its link."""
    return [step for step in steps if isinstance(step, Call) and step.follow is None]


@dataclass(slots=True, kw_only=True)
class InSegment(StepMapper):
    """Every customer is of another segment."""

    segment: str

    def map(self, step: Step) -> Step:
        """Return an arrangement of a customer of the segment."""
        if isinstance(step, Arrange) and step.segment is None:
            return replace(step, segment=self.segment)
        return step


def segment_reason(steps: Sequence[Step]) -> str:
    """Say why a trial cannot have another segment."""
    arranged = arrangements(steps)
    if not arranged:
        return "the trial has no customer"
    return OWN if any(step.segment is not None for step in arranged) else ""


@dataclass(slots=True, kw_only=True)
class OnALaterPage(StepMapper):
    """Every customer owns a page full of other things before those of the trial."""

    contract: Contract
    size: int
    added: dict[str, int] = field(default_factory=dict[str, int])

    def map(self, step: Step) -> Step:
        """Return an arrangement with more things, which come first."""
        if not isinstance(step, Arrange) or not step.holdings:
            return step
        resource = step.holdings[0].resource
        if resource not in {root.id for root in roots(self.contract)}:
            return step
        self.added[step.subject] = self.size
        return replace(step, holdings=(Holding(resource=resource, count=self.size), *step.holdings))

    def reply(self, step: Step, reply: Reply) -> Reply:
        """Return the customer without the things that were added."""
        if isinstance(step, Arrange) and isinstance(reply, Subject):
            return replace(reply, owns=reply.owns[self.added.get(step.subject, 0) :])
        return reply


def list_size(contract: Contract) -> int | None:
    """Return the page size of an operation that lists what customers own, if one has any."""
    owned = {root.id for root in roots(contract)}
    for operation in contract.operations.values():
        if operation.available and not operation.about and owned & set(operation.lists):
            size = clauses.page_size(contract, operation.id)
            if size is not None:
                return size
    return None


def page_reason(contract: Contract, size: int, steps: Sequence[Step]) -> str:
    """Say why the things of a trial cannot be moved to a later page."""
    owned = {root.id for root in roots(contract)}
    arranged = arrangements(steps)
    if not any(step.holdings for step in arranged):
        return "the trial needs nothing that the customer owns"
    for step in arranged:
        if any(holding.resource not in owned for holding in step.holdings):
            return OWN
        if sum(holding.count for holding in step.holdings) > size:
            return OWN
    return ""


@dataclass(slots=True, kw_only=True)
class Unattended(StepMapper):
    """The customer is absent in every call that is made in her name."""

    operations: frozenset[str]

    def map(self, step: Step) -> Step:
        """Return the call as made without the customer."""
        if isinstance(step, Call) and step.operation in self.operations:
            return replace(step, present=False)
        return step


def unattended_reason(limits: Mapping[str, int], steps: Sequence[Step]) -> str:
    """Say why the calls of a trial cannot be made without the customer."""
    all_calls = [step for step in steps if isinstance(step, Call)]
    if any(not step.present for step in all_calls):
        return OWN
    for operation, limit in limits.items():
        made = sum(step.operation == operation for step in all_calls)
        if made > limit:
            return f"the {made} calls of {operation} exceed the {limit} that are allowed"
    if not any(step.operation in limits for step in all_calls):
        return "the contract limits no call of the trial"
    return ""
