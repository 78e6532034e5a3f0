"""Search through the schema cases of operations, judged by every check like any sequence.

Each case varies one thing of a request that was just accepted for this customer. After a
case that was accepted, and may have changed something, the next one gets a new customer. The
cases of an operation are sent in several sequences, which are shortened like all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from assay.binding.model.pointer import find
from assay.binding.model.spelling import SLOT
from assay.binding.wire.encode import BARE
from assay.contexts.context import Context, DimensionValue
from assay.contract.model import Contract, Operation
from assay.errors import CannotArrange
from assay.fuzzing.findings import DocumentFinding, FuzzFinding, Remark, SearchResult
from assay.fuzzing.schema.cases import SchemaCase
from assay.fuzzing.schema.generator import JSON, Generator
from assay.fuzzing.search import Search
from assay.fuzzing.sequences.abstract_step import AbstractSequence, AbstractStep
from assay.fuzzing.sequences.sequence import SequenceBuilder
from assay.fuzzing.sequences.shrink import without
from assay.history import Call, Exchange, Holding, Resend
from assay.openapi import document
from assay.rules import steps
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.tracker import lifecycle_of_operation
from assay.rules.rule import facts_of
from assay.rules.steps import Part
from assay.running.resend import changed, request_of

#: The most cases of one sequence.
BATCH = 20
#: The most random cases of one sequence: each sequence has a context of its own.
FEW = 5
#: The case of an exchange that comes before all cases.
BEFORE = "the accepted request, or its preparation"


def run_schema(search: Search, on_finding: Callable[[FuzzFinding], None]) -> SearchResult:
    """Send the cases of each operation, or of one, under each of its names.

    The cases are those of the bank's own document if the target file names it, else of the exported one.
    Each operation gets as many random cases as the search may run sequences, after those that the
    document always has.

    Raises:
        TargetError: the target's fixture provider cannot be used at all.

    """
    bank = search.environment.target.document_of_bank
    written = bank.data if bank else document(search.bound, search.environment.target)
    schema = SchemaSearch(search=search, document=written, generator=Generator(written))
    operations = search.contract.operations.values()
    chosen = [each for each in operations if search.operation in {"", each.id}]
    return schema.run(chosen, on_finding)


@dataclass(slots=True, kw_only=True)
class SchemaSearch:
    """The schema cases of one contract, at one target; `cases` counts those that were sent.

    `most` is the number of exchanges at which the current operation has had its share.
    """

    search: Search
    document: Mapping[str, Any]
    generator: Generator
    cases: int = 0
    most: int | None = None
    notes: list[str] = field(default_factory=list[str])
    findings: dict[tuple[str, str], DocumentFinding] = field(
        default_factory=dict[tuple[str, str], DocumentFinding]
    )

    def run(
        self, operations: Sequence[Operation], on_finding: Callable[[FuzzFinding], None]
    ) -> SearchResult:
        """Send the cases of operations, and return what was found."""
        limit = self.search.limits.calls
        for number, operation in enumerate(operations):
            if limit is not None:
                share = (limit - self.search.exchanges) // (len(operations) - number)
                self.most = self.search.exchanges + share
            self.search.reach.quiet = 0
            stopped = self._examine(operation, on_finding)
            if stopped:
                self.notes.append(f"{operation.id}: {stopped}")
        self.search.reach.quiet = 0
        return replace(
            self.search.result(),
            sequences=self.cases,
            documented=tuple(self.findings.values()),
            notes=tuple(self.notes),
        )

    def _examine(self, operation: Operation, on_finding: Callable[[FuzzFinding], None]) -> str:
        """Send the cases of an operation; return why there were no more."""
        if self.search.limits.reads and (operation.writes or operation.grants):
            return "the search only reads"
        paths = [*self._paths(operation)]
        for alias, path in paths:
            named = _NamedOperation(schema=self, operation=operation, path=path, alias=alias)
            stopped = named.run(on_finding)
            if stopped:
                return stopped
        return "" if paths else "the bank's document does not have it"

    def _paths(self, operation: Operation) -> Iterator[tuple[int | None, str]]:
        """Yield each name of an operation with its path in the document; the bank's may lack some."""
        target = self.search.environment.target
        binding, bank = target.operations.get(operation.id, BARE), target.document_of_bank
        own, method = binding.path or operation.path, binding.method or operation.method
        written = {SLOT.sub("{}", path): path for path in self.document["paths"]}
        for n, path in enumerate((own, *binding.names(operation))):
            if bank is None:
                documented = written[SLOT.sub("{}", path)]
            elif part := bank.bound(method, path, target.base_url):
                documented = str(part.at[1])
            else:
                continue
            # A part of the path that is fixed for one of the two is no parameter.
            if len(SLOT.findall(documented)) == len(SLOT.findall(path)):
                yield (n - 1 if n else None), documented

    def spent(self) -> bool:
        """Whether the current operation has had its share of the calls."""
        return self.most is not None and self.search.exchanges >= self.most


class _Stopped(Exception):  # noqa: N818 -- no error: the operation has no more cases
    """There are no more cases of an operation; the text says why."""


@dataclass(slots=True, kw_only=True)
class _NamedOperation:
    """The cases of an operation under one of its names."""

    schema: SchemaSearch
    operation: Operation
    path: str
    alias: int | None
    method: str = ""
    template: str = ""
    sent: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        target = self.schema.search.environment.target
        binding = target.operations.get(self.operation.id, BARE)
        self.method = (binding.method or self.operation.method).lower()
        own = binding.path or self.operation.path
        names = binding.names(self.operation)
        self.template = own if self.alias is None else names[self.alias]

    def run(self, on_finding: Callable[[FuzzFinding], None]) -> str:
        """Send all cases, some in each sequence; return why there were no more."""
        search = self.schema.search
        cases = self.schema.generator.cases(
            self.method, self.path, fuzz=search.limits.sequences, seed=search.seed
        )
        for context, batched in self._batches(cases):
            batch = _Batch(named=self, cases=batched, context=context)
            if not search.attempt(batch.run, on_finding) and not batch.stopped:
                quiet = search.reach.quiet
                why = f"stopped early: nothing new in the last {quiet} sequences"
                return why if search.stale else "the limits of the search are reached"
            if batch.stopped:
                return batch.stopped
        return ""

    def _batches(
        self, cases: Sequence[SchemaCase]
    ) -> Iterator[tuple[Context, Sequence[SchemaCase]]]:
        """Yield the fixed cases in the base context, and then the random ones in others."""
        fixed = [case for case in cases if not case.random]
        random = [case for case in cases if case.random]
        for start in range(0, len(fixed), BATCH):
            yield (), fixed[start : start + BATCH]
        for start in range(0, len(random), FEW):
            context = self.schema.search.reach.next_context()
            yield tuple(filter(self._keeps_name, context)), random[start : start + FEW]

    def _keeps_name(self, value: DimensionValue) -> bool:
        """Whether a value leaves the name of the method alone, which is chosen here."""
        plain = Call(operation=self.operation.id, subject="")
        step = value.mapper().map(plain)
        return isinstance(step, Call) and step.alias == plain.alias

    def names(self) -> Mapping[str, str]:
        """Return the path parameters of the document, with their names in the target file."""
        written, own = SLOT.split(self.path)[1::2], SLOT.split(self.template)[1::2]
        return dict(zip(written, own, strict=True))

    def judge(self, exchange: Exchange) -> tuple[Remark, ...]:
        """Return the remarks on an answer; without an answer nothing is known."""
        if not exchange.wire.status or facts_of(self.schema.search.contract).closed_at(exchange.at):
            return ()
        return self.schema.generator.judge(self.method, self.path, exchange.wire)


@dataclass(slots=True, kw_only=True)
class _Batch:
    """One sequence with some of the cases.

    `unread` says that a request was changed in a way that no call describes: what it is now
    cannot be compared with anything.
    """

    named: _NamedOperation
    cases: Sequence[SchemaCase]
    context: Context = ()
    stopped: str = ""
    unread: bool = False
    findings: list[DocumentFinding] = field(default_factory=list[DocumentFinding])

    def run(self) -> None:
        """Send the cases, and judge the sequence.

        Raises:
            ObligationBroken: it violates an obligation.
            ExplorationEnded: the limits are reached.

        """
        search = self.named.schema.search
        builder = search.begin(self.context)
        try:
            self._send(builder)
        except _Stopped as reason:
            self.stopped = str(reason)
        except CannotArrange as error:
            self.stopped = f"needs {error}"
        except BaseException:
            search.end()
            raise
        self._keep_findings()
        builder.end(closing=not self.unread)

    def _send(self, builder: SequenceBuilder) -> None:
        named, schema = self.named, self.named.schema
        control, place = None, 0
        for case in self.cases:
            if schema.spent():
                raise _Stopped(f"its share of {schema.search.limits.calls} calls is used up")
            if control is None:
                control, place = self._control(builder)
            accepted = request_of(control)
            step = case.step(accepted, control.call.subject, named.names())
            key = repr((step.place, step.values, step.removed))
            if changed(accepted, step, named.template) == accepted or key in named.sent:
                continue
            named.sent.add(key)
            reply = builder.perform(AbstractStep(step=step, request=place))
            if not isinstance(reply, Exchange):
                continue
            schema.cases += 1
            self._note(reply, builder.steps, case.says)
            operation = named.operation
            if reply.accepted and operation.makes:
                # A bank may take a request, and show it as rejected when it is read.
                lifecycle = lifecycle_of_operation(schema.search.contract, operation)
                builder.play(request_steps.read(lifecycle, reply))
            if reply.accepted and (operation.writes or operation.grants):
                control = None
                changes = operation.changes or operation.ends
                self.unread |= bool(changes and reply.call.malformed)

    def _control(self, builder: SequenceBuilder) -> tuple[Exchange, int]:
        """Have a request accepted for a new customer; return it with its place."""
        operation = self.named.operation
        subject = f"psu-{len(builder.customers) + 1}"
        contract = self.named.schema.search.contract
        call = builder.play(ready_call(contract, operation, subject, self.named.alias))
        control = builder.play(steps.send(call))
        self._note(control, builder.steps, BEFORE)
        if not control.accepted and operation.available:
            raise _Stopped(f"a plain call was not accepted ({control.wire.status})")
        return control, len(builder.steps) - 1

    def _note(self, exchange: Exchange, sequence: Sequence[AbstractStep], case: str) -> None:
        named = self.named
        self.findings += (
            DocumentFinding(
                operation=named.operation.id,
                clauses=clauses(
                    named.schema.document,
                    named.path,
                    named.method,
                    exchange.wire.status,
                    remark.at,
                ),
                remark=remark,
                case=case,
                n=exchange.n,
                sequence=_relevant(sequence),
                context=self.context,
                judge=named.judge,
            )
            for remark in named.judge(exchange)
        )

    def _keep_findings(self) -> None:
        """Keep the first of equal findings, unless an obligation covers the exchange."""
        if not self.findings:
            return
        schema = self.named.schema
        breaches = schema.search.breaches_so_far()
        covered = {n for breach in breaches for n in breach.evidence.exchanges}
        for finding in self.findings:
            if finding.n not in covered:
                schema.findings.setdefault((finding.operation, finding.remark.says), finding)


def _relevant(sequence: Sequence[AbstractStep]) -> AbstractSequence:
    """Return a sequence without the cases and customers before the last step."""
    last = sequence[-1].step
    subject = getattr(last, "subject", "")
    kept = tuple(sequence)
    for place in range(len(sequence) - 2, -1, -1):
        step = sequence[place].step
        if isinstance(step, Resend) or getattr(step, "subject", subject) != subject:
            kept = without(kept, range(place, place + 1))
    return kept


# -- The call from which the schema cases of an operation start: one that a bank accepts ---------
def ready_call(
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
    return contract.operations[facts_of(contract).controls.get(operation.id, operation.id)]


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


# -- Clauses that the exported document names for a keyword of its schemas -----------------------
# The document says of a schema which clauses put it there (`x-assay-from`). The innermost one on
# the way to the failed keyword counts; there may be none.
#: The media type whose schema is validated.


def clauses(
    document: Mapping[str, Any], path: str, method: str, status: int, at: Sequence[str]
) -> tuple[str, ...]:
    """Return the clauses that put a keyword into the schema of an answer."""
    responses: Mapping[str, Any] = document["paths"][path][method]["responses"]
    keys = (str(status), f"{status // 100}XX", "default")
    response: Mapping[str, Any] = next((responses[key] for key in keys if key in responses), {})
    schema: Any = response.get("content", {}).get(JSON, {}).get("schema", {})
    innermost: tuple[str, ...] = ()
    for node in _path_nodes(document, schema, at):
        innermost = tuple(cast("Sequence[str]", node.get("x-assay-from", ()))) or innermost
    return innermost


def _path_nodes(
    document: Mapping[str, Any], here: Any, at: Sequence[str]
) -> Iterator[Mapping[str, Any]]:
    """Yield every schema on the path to a keyword, references resolved."""
    for step in (*at, ""):
        while isinstance(here, dict) and "$ref" in here:
            yield here
            here = find(document, str(here["$ref"]).removeprefix("#"))
        if isinstance(here, dict):
            yield here
            here = here if step == "$ref" else cast("dict[str, Any]", here).get(step)
        elif isinstance(here, list) and step.isdecimal() and int(step) < len(here):
            here = here[int(step)]
        else:
            return
