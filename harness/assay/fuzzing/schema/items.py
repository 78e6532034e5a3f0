"""Schema search as pytest items: one for each operation of each contract.

Journal, redaction and exchange numbers are those of the surrounding run, so there is
one record. The text of a failure is redacted.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from assay.binding.encode import Access
from assay.contract.model import Contract, Operation
from assay.execution.session import Session
from assay.fuzzing.schema.findings import SchemaFinding
from assay.fuzzing.schema.generator import Generator
from assay.fuzzing.schema.search import SchemaLimits, SchemaSearch
from assay.history import Event, Exchange
from assay.journal.redact import Redactor
from assay.openapi import document
from assay.planning.prepare import Prepared

#: At a live bank, the most calls of an operation; they only read.
LIVE = SchemaLimits(fuzz=0, calls=40, reads=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaItem:
    """One operation to examine."""

    contract: Contract
    operation: Operation

    @property
    def id(self) -> str:
        """The name of the item, in pytest and in the journal."""
        return f"schema/{self.contract.id}/{self.operation.id}"


def items(prepared: Prepared) -> tuple[SchemaItem, ...]:
    """Return an item for each operation of each contract, offered or not."""
    return tuple(
        SchemaItem(contract=contract, operation=operation)
        for contract in prepared.plan.contracts.values()
        for operation in contract.operations.values()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemResult:
    """The result of an item: number of cases, violations, why there were no more cases."""

    cases: int
    broken: tuple[str, ...]
    stopped: str = ""

    def __str__(self) -> str:
        return "\n".join(self.broken)


@dataclass(slots=True, kw_only=True)
class SchemaRun:
    """The schema search of one run."""

    prepared: Prepared
    session: Session
    _document: dict[str, Any] = field(init=False)
    _generator: Generator = field(init=False)

    def __post_init__(self) -> None:
        self._document = document(self.prepared.bound, self.prepared.target)
        self._generator = Generator(self._document)

    def examine(self, item: SchemaItem) -> ItemResult:
        """Send every case of an item, and return the violations.

        Raises:
            TargetError: the target's fixture provider cannot be used at all.

        """
        journal = self.session.journal
        journal.redactor.begin()

        def record(event: Event, access: Access) -> None:
            journal.event(item.id, event, access)
            if isinstance(event, Exchange):
                self.session.on_exchange()

        live = self.prepared.target.environment == "live"
        search = SchemaSearch(
            document=self._document,
            generator=self._generator,
            plan=self.prepared.plan,
            contract=item.contract,
            environment=self.session.environment,
            number=self._number,
            record=record,
            limits=LIVE if live else SchemaLimits(),
            seed=self.session.options.seed,
        )
        done = search.examine(item.operation)
        # While the redactor knows whose values these are.
        broken = tuple(self._explained(one) for one in done.found)
        return ItemResult(cases=done.cases, broken=broken, stopped=done.stopped)

    def _number(self) -> int:
        self.session.exchanges += 1
        return self.session.exchanges

    def _explained(self, found: SchemaFinding) -> str:
        redactor = self.session.journal.redactor
        whose = "general" if found.general else found.obligation or ", ".join(found.clauses)
        lines = [
            f"{whose}: {self._sentence(found)}",
            f"  {redactor.bounded(found.says, 1000)}",
            f"  by       {redactor.bounded(found.case, 1000)}",
        ]
        if found.exchange is not None:
            lines.append(f"  call {found.exchange.n}, answered {found.exchange.wire.status}:")
            lines.append(f"  {curl(found.exchange, redactor)}")
        return "\n".join(lines)

    def _sentence(self, found: SchemaFinding) -> str:
        """Return the sentence of the violated clause; a general finding has none."""
        plan = self.prepared.plan
        for one in plan.items:
            if one.obligation.id == found.obligation:
                return one.obligation.statement
        said = (name.split("/", 1) for name in found.clauses)
        every = [plan.clauses[contract][clause].clause.statement for contract, clause in said]
        return " ".join(every) or "required by the exported document, not by a clause of its own"


def curl(exchange: Exchange, redactor: Redactor) -> str:
    """Return a curl command that repeats a call, once the redacted secrets are filled in."""
    told: Any = redactor.wire(exchange.wire)["request"]
    return " ".join(shlex.quote(part) for part in _words(told))


def _words(told: Any) -> Iterator[str]:
    yield from ("curl", "-X", told["method"], told["url"])
    for name, value in told["headers"]:
        yield from ("-H", f"{name}: {value}")
    if told["body"]:
        yield from ("--data-raw", told["body"])
