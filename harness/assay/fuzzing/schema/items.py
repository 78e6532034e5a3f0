"""Schema search as pytest items: one for each operation of each contract.

Journal, redaction and exchange numbers are those of the surrounding run, so there is
one record. The text of a failure is redacted.
"""

from __future__ import annotations

import shlex
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
        result = search.examine(item.operation)
        # The redactor knows this customer's values only until the next item begins.
        broken = tuple(map(self._explained, result.findings))
        return ItemResult(cases=result.cases, broken=broken, stopped=result.stopped)

    def _number(self) -> int:
        self.session.exchanges += 1
        return self.session.exchanges

    def _explained(self, finding: SchemaFinding) -> str:
        redactor, exchange = self.session.journal.redactor, finding.exchange
        names = "general" if finding.general else finding.obligation or ", ".join(finding.clauses)
        lines = [
            f"{names}: {self._sentence(finding)}",
            f"  {redactor.bounded(finding.says, 1000)}",
            f"  by       {redactor.bounded(finding.case, 1000)}",
        ]
        if exchange is not None:
            lines.append(f"  call {exchange.n}, answered {exchange.wire.status}:")
            lines.append(f"  {curl(exchange, redactor)}")
        return "\n".join(lines)

    def _sentence(self, finding: SchemaFinding) -> str:
        """Return the sentence of the violated clause; a general finding has none."""
        plan = self.prepared.plan
        for item in plan.items:
            if item.obligation.id == finding.obligation:
                return item.obligation.statement
        names = (name.split("/", 1) for name in finding.clauses)
        statements = [plan.clauses[contract][clause].clause.statement for contract, clause in names]
        general = "required by the exported document, not by a clause of its own"
        return " ".join(statements) or general


def curl(exchange: Exchange, redactor: Redactor) -> str:
    """Return a curl command that repeats a call, once the redacted secrets are filled in."""
    request: Any = redactor.wire(exchange.wire)["request"]
    command = ["curl", "-X", request["method"], request["url"]]
    for name, value in request["headers"]:
        command += ["-H", f"{name}: {value}"]
    if request["body"]:
        command += ["--data-raw", request["body"]]
    return shlex.join(command)
