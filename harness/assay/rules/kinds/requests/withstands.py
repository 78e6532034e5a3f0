"""`withstands`: no value of an argument causes a server error.

Each argument of an operation that makes or changes a request is sent in turn with values that
no target expects: of other types, far too long, beyond all bounds; and the address to which the
customer returns with odd ones. The target may accept or
refuse them, but not fail (5xx). The control is the same call with the ordinary value in this
one argument, accepted. Whether a value must be refused is for other kinds to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from assay.contract.model import Capability, Json, Operation
from assay.files.document import Finding, Pointer
from assay.history import History
from assay.rules import parameters, steps
from assay.rules.argument_rules import ArgumentRule, Defect, Tried, replaced
from assay.rules.lifecycle import request_steps
from assay.rules.parameters import Raw
from assay.rules.queries import ordinary
from assay.rules.rule import (
    CallScenario,
    Facet,
    Purpose,
    Script,
    bound,
    facts_of,
    needs,
)
from assay.rules.verdict import (
    AGREES,
    DISAGREES,
    FOR_A_WHILE,
    UNCLEAR,
    Evidence,
    describe_answer,
    failed_instead,
)

#: Values that no argument expects, each in words.
STRANGE: Final[Mapping[str, Json]] = {
    "null": None,
    "true": True,
    "a number of forty digits": 10**40,
    "an object with control characters": {"\u0000": "\u2028"},
    "nested lists": [[[]]],
    "an empty text": "",
    "a text of 10,000 letters": "A" * 10_000,
    "quotes, brackets and percent signs": "'\"<>;--%00{}",
    "a huge negative number": "-1E+400",
    "a date that does not exist": "2026-02-30",
}

#: More of them for an argument that is the address to which customers return.
STRANGE_ADDRESSES: Final[Mapping[str, Json]] = {
    "an address with a port above 65535": "https://tpp.example:65536/return",
    "an address with a user name": "https://user:word@tpp.example/return",
}


def _made_or_changed(at: Pointer, name: str, _clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find an operation that neither makes nor changes a request."""
    if not raw["operations"].get(name, {}).keys() & {"makes", "changes"}:
        hint = "name operations that make or change a request"
        yield at, f"{name!r} neither makes nor changes a request", hint


@dataclass(frozen=True, slots=True, kw_only=True)
class WithstandsScenario(CallScenario):
    """An argument of an operation."""

    argument: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Withstands(ArgumentRule[WithstandsScenario]):
    """Operations around a request whose arguments may have any value."""

    name = "withstands"
    purpose = Purpose.SAFEGUARD

    operations: tuple[Operation, ...] = parameters.operations(also=_made_or_changed)

    def facets(self) -> tuple[Facet, ...]:
        """One facet for each argument of each operation."""
        return tuple(
            Facet(
                id=f"{operation.id}-{argument}",
                description=f"no value of {argument} causes a server error in {operation.id}",
                scenario=WithstandsScenario(
                    id=f"{operation.id}:{argument}", operation=operation, argument=argument
                ),
                needs=needs(Capability.PSU, Capability.WRITE),
                requires=bound(operation, "argument", argument),
            )
            for operation in self.operations
            for argument in operation.arguments
        )

    def arguments_of(self) -> Mapping[str, Sequence[str]]:
        """Return all arguments of the operations."""
        return {operation.id: operation.arguments for operation in self.operations}

    def unaffected_by(self) -> Mapping[str, str]:
        """Return what has nothing to do with the values that a call can be read with."""
        why = "how a value is read does not depend on it"
        return dict.fromkeys(
            (
                *("segment", "presence", "tpp", "factor", "amount", "payee", "weekday", "season"),
                *("owned", "registered", "token", "past", "turn"),
            ),
            why,
        )

    def probe(self, scenario: WithstandsScenario) -> Script:
        """Send a valid call, and then each strange value in the one argument."""
        tried = scenario
        _, call = yield from request_steps.prepare_call(self.contract, tried.operation)
        if call is None:
            return
        yield from steps.send(call)
        for description, value in strange_values(tried.operation, tried.argument).items():
            yield from steps.send(replaced(call, tried.argument, value, description))

    def tried(self, history: History) -> Iterator[Tried]:
        """Yield the calls of the operations, with the arguments whose values are strange."""
        named = {operation.id: operation for operation in self.operations}
        for exchange in history.exchanges:
            operation = named.get(exchange.call.operation)
            if operation is None or not ordinary(exchange.call):
                continue
            strange = tuple(
                Defect(argument=name, facet=f"{operation.id}-{name}", why="")
                for name in operation.arguments
                if _strange(exchange.call.arguments.get(name, 1), strange_values(operation, name))
            )
            yield Tried(
                made=facts_of(self.contract).without_call_ids(exchange),
                faults=strange,
                control=exchange.accepted and not strange,
            )

    def judge(self, tried: Tried, fault: Defect, beside: Sequence[Tried]) -> Iterator[Evidence]:
        """Judge a call with a strange value beside the last one with an ordinary value before it."""
        exchange = tried.made
        before = [each.made for each in beside if each.made.n < exchange.n]
        for control in before[-1:]:
            # A call that comes too soon is refused before its values are read.
            unread = exchange.wire.status in FOR_A_WHILE
            answered = exchange.accepted or (exchange.refused and not unread)
            yield Evidence(
                facet=fault.facet,
                agreement=AGREES
                if answered
                else DISAGREES
                if failed_instead(exchange)
                else UNCLEAR,
                expected="an answer or a refusal, not a server error",
                seen=describe_answer(exchange),
                exchanges=(control.n, exchange.n),
                controls=(control.n,),
                variation=exchange.call.variation,
            )


def strange_values(operation: Operation, argument: str) -> Mapping[str, Json]:
    """Return the strange values of an argument, each in words."""
    return {**STRANGE, **STRANGE_ADDRESSES} if argument == operation.returns else STRANGE


def _strange(value: Json, values: Mapping[str, Json]) -> bool:
    return any(type(value) is type(strange) and value == strange for strange in values.values())
