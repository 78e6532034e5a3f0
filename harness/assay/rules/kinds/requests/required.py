"""`required`: a call without a header or query parameter, or with a bad value in it, is refused.

The parameter is an argument of the operations; the target file says where it goes. A refusal
counts only beside an accepted control, the same call with a good value. For a call that ends or
changes a request, the control comes last, since it can be accepted only once.

That a good value is served is shown for each value of an `enum`, and for the `limit` itself. A
refusal of one of them is a violation only between two accepted controls.

The TPP: it sends the parameter, with a good value, in every call.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum

from assay.contract.model import Json, Operation
from assay.history import Call, Exchange, History
from assay.rules import operation_parameters, parameters, steps, text_shape
from assay.rules.controls import Shared, refused_beside, same_but, served_between
from assay.rules.facets import ArgumentSchema, Facts, SchemaPiece
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.defects import replaced
from assay.rules.queries import ordinary, perhaps_exhausted
from assay.rules.refusing_kind import RefusingKind
from assay.rules.rule import (
    CallScenario,
    Facet,
    Purpose,
    Scenario,
    Script,
    TppFacet,
    bound,
    call_needs,
    facts_of,
    scenario_of,
)
from assay.rules.scope import Calls, Scope
from assay.rules.text_shape import TextShape
from assay.rules.verdict import AGREES, DISAGREES, Evidence, tpp_evidence

#: The TPP's obligation.
TPP_FACET = "sends-it"
#: The most digits of a number that is compared with a limit.
LONGEST_NUMBER = 18
#: Values that say nothing: whether they count as absent, documents leave open.
_EMPTY: tuple[Json, ...] = (None, "")


class ParameterFault(Enum):
    """What is wrong with the parameter in a call; the value is the last part of a facet's id."""

    MISSING = "missing"
    INVALID = "invalid"
    BEYOND = "beyond"


@dataclass(frozen=True, slots=True, kw_only=True)
class Required(RefusingKind):
    """Operations, the parameter that their calls must have, and the values that it may have."""

    name = "required"
    scope = Scope(calls=Calls.NAMED)
    purpose = Purpose.LIMIT
    at_most_one_of = text_shape.ALTERNATIVES

    operations: tuple[Operation, ...] = parameters.operations(
        also=operation_parameters.lacks_argument
    )
    argument: str = parameters.word(key="argument")
    format: str = text_shape.format_of_text()
    pattern: str = text_shape.pattern()
    enum: tuple[str, ...] = text_shape.enum()
    limit: int | None = parameters.whole(
        key="limit",
        required=False,
    )
    optional: bool = parameters.flag(key="optional")
    grant: Operation | None = parameters.grant()

    @property
    def shape(self) -> TextShape:
        """The shape of a good value."""
        return TextShape(format=self.format, pattern=self.pattern, enum=self.enum)

    def schema_pieces(self) -> Iterator[SchemaPiece]:
        """Yield the values of the parameter in each operation."""
        largest = {} if self.limit is None else {"maximum": self.limit}
        schema = self.shape.schema() if self.shape else largest
        for operation in self.operations:
            yield ArgumentSchema(
                operation=operation.id,
                argument=self.argument,
                schema=schema,
                mandatory=not self.optional,
            )

    def facts(self) -> Facts:
        """Return what the parameter must be, and that calls are refused where it is not."""
        made = (each.makes for each in self.operations if each.makes)
        named = [each.id for each in self.operations]
        return Facts(
            rejections=dict.fromkeys(made, (self._may_reject,)),
            bars=dict.fromkeys(named, (self._bars,)),
            expected=dict.fromkeys(((each, self.argument) for each in named), (self._expects,)),
        )

    def _may_reject(self, arguments: Mapping[str, Json]) -> bool:
        """Whether the value of the parameter is a bad one."""
        value = arguments.get(self.argument, "")
        return value not in _EMPTY and self._fault(value) not in (None, "open")

    def _bars(self, call: Call) -> bool:
        """Whether the parameter is missing in a call, or has a bad value."""
        return self.fault(call) is not None

    def _expects(self, value: Json) -> str:
        """Return the shape or the limit of the parameter, if the value is a bad one."""
        fault = self._fault(value)
        limit = f"at most {self.limit}" if fault is ParameterFault.BEYOND else ""
        return str(self.shape) if fault is ParameterFault.INVALID else limit

    def facets(self) -> tuple[Facet, ...]:
        """Return up to five facets for each operation."""
        return tuple(
            Facet(
                id=f"{operation.id}-{id_}",
                description=description,
                scenario=CallScenario(id=operation.id, operation=operation),
                needs=call_needs(operation, self.grant),
                requires=bound(operation, "argument", self.argument),
                not_applicable_because=reason,
            )
            for operation in self.operations
            for id_, description, reason in self._described(operation)
        )

    def refusing(self) -> Collection[str]:
        """Return the facets that expect a refusal."""
        return [f"{each.id}-{fault.value}" for each in self.operations for fault in ParameterFault]

    def _described(self, operation: Operation) -> Iterator[tuple[str, str, str]]:
        """Yield the facets of an operation, with their descriptions and why one cannot be tested."""
        name = self.argument
        if not self.optional:
            yield ParameterFault.MISSING.value, f"a call without {name} is refused", ""
        if self.shape:
            reason = "" if self.shape.misfits() else "every text that Assay knows matches"
            yield (
                ParameterFault.INVALID.value,
                f"a call whose {name} is not {self.shape} is refused",
                reason,
            )
        if self.limit is not None:
            reached = f"a call whose {name} is above {self.limit} is refused"
            yield ParameterFault.BEYOND.value, reached, ""
        # A request is made, ended or changed only once.
        if not operation.request and self.enum:
            yield "values", f"a call is served with each {name}: {', '.join(self.enum)}", ""
        if not operation.request and self.limit is not None:
            yield "limit", f"a call whose {name} is {self.limit} is served", ""

    def probe(self, scenario: Scenario) -> Script:
        """Make calls with each fault, beside good ones."""
        operation = scenario_of(scenario, CallScenario).operation
        control = yield from request_steps.plain_call(self.contract, operation, self.grant)
        if control is None:
            return
        repeatable = operation.makes or not operation.request
        if repeatable:
            yield from steps.send(control)
        for call in self._variations(control):
            yield from steps.send(call)
        if not operation.request:
            for value in self._good_values():
                yield from steps.send(replaced(control, self.argument, value))
        if not repeatable or not operation.request:
            yield from steps.send(control)

    def _variations(self, control: Call) -> Iterator[Call]:
        """Yield the call with each fault."""
        if not self.optional:
            name = self.argument
            yield replace(control, without=(name,), variation=f"{name} is missing")
        values: list[Json] = [*self.shape.misfits()] if self.shape else []
        for value in values + ([] if self.limit is None else [self.limit + 1]):
            yield replaced(control, self.argument, value, f"{value}")

    def _good_values(self) -> Sequence[Json]:
        return [*self.enum, *([] if self.limit is None else [self.limit])]

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge each call with a fault, and each with a value that must be served."""
        judged = _Judged(clause=self, history=history)
        for exchange in history.exchanges:
            if judged.concerns(exchange):
                yield from judged.evidence(exchange)

    def fault(self, call: Call) -> ParameterFault | str | None:
        """Return what is wrong with the parameter in a call; "open" where that is open."""
        if self.argument in call.without:
            return "open" if self.optional else ParameterFault.MISSING
        if self.argument not in call.arguments:
            return None  # the value of the target file was sent
        return self._fault(call.arguments[self.argument])

    def _fault(self, value: Json) -> ParameterFault | str | None:
        if value in _EMPTY:
            return "open"
        fits = self.shape.fits(value) if self.shape else True
        if not fits:
            return "open" if fits is None else ParameterFault.INVALID
        number = _number(value)
        if self.limit is None or (number is not None and 0 < number <= self.limit):
            return None
        return ParameterFault.BEYOND if number is not None and number > self.limit else "open"

    def tpp_facet(self) -> TppFacet:
        """Return the one obligation of the TPP."""
        return TppFacet(
            id=TPP_FACET,
            description=f"every call has a valid {self.argument}",
            requires=tuple(
                each
                for operation in self.operations
                for each in bound(operation, "argument", self.argument)
            ),
        )

    def check_tpp(self, history: History) -> Iterator[Evidence]:
        """Judge every call of the operations."""
        named = {operation.id for operation in self.operations}
        for exchange in history.exchanges:
            call = exchange.call
            if call.operation not in named or call.malformed or call.follow:
                continue
            fault = self.fault(call)
            if fault == "open":
                continue
            bad = isinstance(fault, ParameterFault)
            done = (
                f"{self.argument} is {fault.value}"
                if isinstance(fault, ParameterFault)
                else "it has a valid one"
            )
            owed = f"a call with a valid {self.argument}"
            yield tpp_evidence(TPP_FACET, DISAGREES if bad else AGREES, exchange, owed, done)


class _Judged:
    """The calls of a history by what they ask beside the parameter, with the accepted good ones."""

    def __init__(self, *, clause: Required, history: History) -> None:
        self.clause = clause
        self.named = {operation.id for operation in clause.operations}
        self.exhausted = {
            number
            for operation in clause.operations
            for number in perhaps_exhausted(clause.contract, operation.id, history)
        }
        self.controls: dict[Shared, list[int]] = {}
        for exchange in history.exchanges:
            if self.concerns(exchange) and exchange.accepted and not clause.fault(exchange.call):
                self.controls.setdefault(self._shared(exchange.call), []).append(exchange.n)

    def concerns(self, exchange: Exchange) -> bool:
        """Whether a call is one of the clause's operations, and well formed in all else."""
        return exchange.call.operation in self.named and ordinary(exchange.call)

    def evidence(self, exchange: Exchange) -> Iterator[Evidence]:
        """Yield what an exchange shows."""
        clause, call = self.clause, exchange.call
        fault, controls = clause.fault(call), self.controls.get(self._shared(call), [])
        if isinstance(fault, ParameterFault):
            facet = f"{call.operation}-{fault.value}"
            why = call.variation or f"{clause.argument} is {fault.value}"
            yield from refused_beside(
                facet, exchange, why, controls, open_=exchange.n in self.exhausted
            )
        elif fault is None and not clause.contract.operations[call.operation].request:
            value = call.arguments.get(clause.argument)
            if clause.enum and value in clause.enum:
                yield from served_between(
                    f"{call.operation}-values", exchange, controls, self.exhausted
                )
            if clause.limit is not None and _number(value) == clause.limit:
                yield from served_between(
                    f"{call.operation}-limit", exchange, controls, self.exhausted
                )

    def _shared(self, call: Call) -> Shared:
        """Return what a call shares with its controls: all but the parameter."""
        ids = facts_of(self.clause.contract).call_ids.get(call.operation, ())
        return same_but(call, self.clause.argument, *ids)


def _number(value: Json) -> Decimal | None:
    """Return a number that is sent as one or as a text."""
    text = str(value)
    return (
        Decimal(text)
        if text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER
        else None
    )
