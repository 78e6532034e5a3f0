"""Search through the schema cases of an operation, judged by every check.

Each case varies one thing of a request that was just accepted for this customer. After
a case that was accepted, and may have changed something, the next one gets a new
customer. Nothing is shortened: such a sequence is minimal already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from assay.binding.encode import BARE, HttpRequest
from assay.binding.spelling import SLOT
from assay.binding.target import OperationBinding
from assay.contract.model import Contract, Operation
from assay.errors import CannotArrange
from assay.execution.environment import Environment
from assay.execution.executor import Executor, Recorder, executing
from assay.fuzzing.schema.case_requests import SchemaCase, nearest, send
from assay.fuzzing.schema.findings import (
    BEFORE,
    SchemaFinding,
    SentCase,
    by_checks,
    by_document,
    once,
    vouched,
)
from assay.fuzzing.schema.generator import Generator, Remark
from assay.history import Call, Event, Exchange, Holding
from assay.planning.plan import Plan
from assay.rules import steps
from assay.rules.clauses import clauses_of
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.tracker import lifecycle_of_operation
from assay.rules.steps import Part


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaLimits:
    """The limits of a search: random cases of each path, calls of each operation.

    `reads` restricts it to reading with the customer present.
    """

    fuzz: int = 20
    calls: int | None = None
    reads: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationResult:
    """The result for one operation; `stopped` says why there were no more cases."""

    findings: tuple[SchemaFinding, ...]
    cases: int
    exchanges: int
    stopped: str = ""


def _ignore(_event: Event, _access: object) -> None:
    """Record nothing."""


@dataclass(slots=True, kw_only=True)
class SchemaSearch:
    """The schema cases of one contract, at one target; `number` numbers exchanges.

    `calls` counts those of the operation that is examined.
    """

    document: Mapping[str, Any]
    plan: Plan
    contract: Contract
    environment: Environment
    number: Callable[[], int]
    record: Recorder = _ignore
    limits: SchemaLimits = field(default_factory=SchemaLimits)
    seed: int = 0
    generator: Generator
    calls: int = 0

    def examine(self, operation: Operation) -> OperationResult:
        """Send every case of an operation, under each of its names, and judge them all.

        Raises:
            TargetError: the target's fixture provider cannot be used at all.

        """
        searches = [
            _PathSearch(search=self, operation=operation, path=path, alias=alias)
            for alias, path in self._paths(operation)
        ]
        self.calls = 0
        for search in searches:
            search.run()
        return OperationResult(
            findings=once([finding for search in searches for finding in search.findings()]),
            cases=sum(search.cases for search in searches),
            exchanges=self.calls,
            stopped=next((search.stopped for search in searches if search.stopped), ""),
        )

    def _paths(self, operation: Operation) -> Iterator[tuple[int | None, str]]:
        """Yield each name of an operation with its path in the document."""
        binding = self.environment.target.operations.get(operation.id, BARE)
        own = binding.path or operation.path
        written = {SLOT.sub("{}", path): path for path in self.document["paths"]}
        for n, path in enumerate((own, *binding.names(operation))):
            yield (n - 1 if n else None), written[SLOT.sub("{}", path)]


@dataclass(slots=True, kw_only=True)
class _PathSearch:
    """The cases of one name of an operation, in one sequence."""

    search: SchemaSearch
    operation: Operation
    path: str
    alias: int | None
    sent: list[SentCase] = field(default_factory=list[SentCase])
    events: list[Event] = field(default_factory=list[Event])
    cases: int = 0
    stopped: str = ""

    @property
    def method(self) -> str:
        """The method, in lower case as in OpenAPI."""
        return (self._binding.method or self.operation.method).lower()

    @property
    def _binding(self) -> OperationBinding:
        return self.search.environment.target.operations.get(self.operation.id, BARE)

    def run(self) -> None:
        """Send all cases, as far as the limits and the fixture allow."""
        search = self.search
        if search.limits.reads and (self.operation.writes or self.operation.grants):
            self.stopped = "the search is restricted to reading"
            return
        operations = search.contract.operations
        with executing(
            search.environment, operations, number=self._number, record=search.record
        ) as executor:
            try:
                self._send(executor)
            except CannotArrange as error:
                self.stopped = f"needs {error}"
            self.events = executor.events

    def _number(self) -> int:
        self.search.calls += 1
        return self.search.number()

    def _send(self, executor: Executor) -> None:
        control, sent, customers = None, set[HttpRequest](), 0
        for case in self._cases():
            if self._spent():
                self.stopped = f"the limit of {self.search.limits.calls} calls is reached"
                return
            if control is None:
                customers += 1
                control = self._control(executor, f"psu-{customers}")
            if not control.accepted and self.operation.available:
                self.stopped = f"a plain call was not accepted ({control.wire.status})"
                return
            accepted = _request(control)
            request = case.applied(accepted, self.path)
            # Two customers' cases are the same if they vary the accepted request in the
            # same way.
            alike = HttpRequest(method=case.says, url=request.url, body=request.body)
            if request == accepted or alike in sent:
                continue
            sent.add(alike)
            call = nearest(
                request, control, self._operations(), self.search.environment.target, case.says
            )
            if self.search.limits.reads and not call.present:
                continue
            exchange = send(executor, call, request)
            known = vouched(call, control.call, self._binding)
            self._note(exchange, case.says, valid=case.valid, vouched=known)
            self.cases += 1
            if exchange.accepted and (self.operation.writes or self.operation.grants):
                control = None

    def _cases(self) -> tuple[SchemaCase, ...]:
        search = self.search
        return search.generator.cases(
            self.method, self.path, fuzz=search.limits.fuzz, seed=search.seed
        )

    def _spent(self) -> bool:
        most = self.search.limits.calls
        return most is not None and self.search.calls >= most

    def _control(self, executor: Executor, subject: str) -> Exchange:
        """Have a request accepted for a new customer, from which the next cases start."""
        script = _ready_call(self.search.contract, self.operation, subject, self.alias)
        call = steps.perform_all(script, executor.perform)
        reply = executor.perform(call)
        if not isinstance(reply, Exchange):
            raise TypeError("a call is answered by an exchange")
        self._note(reply, BEFORE, valid=True, vouched=True)
        return reply

    def _note(self, exchange: Exchange, says: str, *, valid: bool, vouched: bool) -> None:
        remarks: tuple[Remark, ...] = ()
        if exchange.wire.status:  # without an answer nothing is known
            remarks = self.search.generator.judge(self.method, self.path, exchange.wire)
        self.sent.append(
            SentCase(says=says, valid=valid, vouched=vouched, exchange=exchange, remarks=remarks)
        )

    def _operations(self) -> Iterator[Operation]:
        """Yield the operations that share method and path, and differ in the body."""
        bindings = self.search.environment.target.operations
        for operation in self.search.contract.operations.values():
            binding = bindings.get(operation.id, BARE)
            path = SLOT.sub("{}", binding.path or operation.path)
            method = (binding.method or operation.method).lower()
            same = path == SLOT.sub("{}", self.path) and method == self.method
            if operation.id == self.operation.id or (same and self.alias is None):
                yield operation

    def findings(self) -> Iterator[SchemaFinding]:
        """Yield the violations: of the contract's checks, then of the document alone."""
        search = self.search
        yield from by_checks(search.plan, search.contract, self.events, self.sent)
        yield from by_document(
            search.document,
            self.path,
            self.method,
            plan=search.plan,
            contract=search.contract,
            sent=self.sent,
        )


def _request(exchange: Exchange) -> HttpRequest:
    """Return the request of an exchange, ready to be sent again."""
    wire = exchange.wire
    return HttpRequest(
        method=wire.method, url=wire.url, headers=wire.request_headers, body=wire.request_body
    )


# -- the accepted request ----------------------------------------------------------
def _ready_call(
    contract: Contract, operation: Operation, subject: str, alias: int | None
) -> Part[Call]:
    """Set up whatever a call without variation needs, for a new customer; return the call.

    A method that is not offered has no such call: its control shows that all else is valid.
    """
    control = _control(contract, operation)
    call = yield from _plain(contract, control, subject)
    if control.id == operation.id:
        return replace(call, alias=alias)
    yield from steps.send(call)
    about = call.arguments.get(control.about or "")
    arguments = {operation.about: about} if operation.about else {}
    return replace(call, operation=operation.id, arguments=arguments, alias=alias)


def _control(contract: Contract, operation: Operation) -> Operation:
    """Return the operation whose answer shows that all else is valid, usually the same one."""
    controls = (clause.control_of(operation.id) for clause in clauses_of(contract))
    control = next((name for name in controls if name is not None), operation.id)
    return contract.operations[control]


def _plain(contract: Contract, operation: Operation, subject: str) -> Part[Call]:
    call: Call | None = None
    if operation.ends:
        # An operation that can change a request can also end it.
        lifecycle = lifecycle_of_operation(contract, operation)
        psu = yield from request_steps.customer(lifecycle, subject)
        made = yield from steps.send(
            request_steps.request(lifecycle, psu, lifecycle.changeable_mode)
        )
        call = request_steps.call_about(operation, made)
    elif operation.request:
        _, call = yield from request_steps.prepare_call(contract, operation, subject)
    if operation.request:
        if call is None:
            raise CannotArrange("a request that is made")
        return call
    owners = steps.owners(contract, operation)
    entries = steps.days_before((yield from steps.clock()).date(), 1, 2)
    holdings = (Holding(resource=owner, entries=entries) for owner in owners)
    psu = yield from steps.arrange(subject, *holdings)
    if not psu.owns:
        raise CannotArrange("something that a customer owns")
    if not operation.grants:
        every = contract.operations.values()
        grants = (grant for grant in every if grant.grants and grant.available)
        yield from steps.grant(next(grants, None), subject, *(owned.key for owned in psu.owns))
    arguments = steps.arguments(operation, psu.owns[0].key)
    return Call(operation=operation.id, subject=subject, arguments=arguments)
