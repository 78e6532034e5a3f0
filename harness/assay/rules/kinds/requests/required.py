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

from assay.contract.model import Json, Operation
from assay.history import Call, Exchange, History
from assay.rules import operation_parameters, parameters, steps, text_shape
from assay.rules.argument_rules import Beside, Defect, GoodValueRule, Tried, replaced
from assay.rules.controls import refused_beside, served_between
from assay.rules.facets import Facts, Schema
from assay.rules.lifecycle import request_steps
from assay.rules.queries import ordinary, perhaps_exhausted
from assay.rules.rule import (
    CallScenario,
    Facet,
    Script,
    bound,
    call_needs,
    facts_of,
)
from assay.rules.text_shape import TextShape
from assay.rules.verdict import AGREES, DISAGREES, Agreement, Evidence

#: The most digits of a number that is compared with a limit.
LONGEST_NUMBER = 18
#: Values that say nothing: whether they count as absent, documents leave open.
_EMPTY: tuple[Json, ...] = (None, "")


#: What is wrong with the parameter in a call, as the last part of a facet's id.
FAULTS = MISSING, INVALID, BEYOND = "missing", "invalid", "beyond"
#: The same where it is open whether anything is.
OPEN = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Required(GoodValueRule[CallScenario]):
    """Operations, the parameter that their calls must have, and the values that it may have."""

    name = "required"
    duty_facet = "sends-it"
    at_most_one_of = text_shape.ALTERNATIVES

    operations: tuple[Operation, ...] = parameters.operations(
        also=operation_parameters.lacks_argument
    )
    argument: str = parameters.word(key="argument")
    format: str = text_shape.format_of_text()
    pattern: str = text_shape.pattern()
    enum: tuple[str, ...] = text_shape.enum()
    limit: int | None = parameters.whole(key="limit", required=False)
    optional: bool = parameters.flag(key="optional")
    grant: Operation | None = parameters.grant()

    @property
    def shape(self) -> TextShape:
        """The shape of a good value."""
        return TextShape(format=self.format, pattern=self.pattern, enum=self.enum)

    def arguments_of(self) -> Mapping[str, Sequence[str]]:
        """Return the parameter of each operation."""
        return {operation.id: (self.argument,) for operation in self.operations}

    def value_schema(self) -> tuple[Schema, bool]:
        """Return the values of the parameter."""
        largest = {} if self.limit is None else {"maximum": self.limit}
        return self.shape.schema() if self.shape else largest, not self.optional

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
        return value not in _EMPTY and self._fault(value) not in ("", OPEN)

    def _bars(self, call: Call) -> bool:
        """Whether the parameter is missing in a call, or has a bad value."""
        return bool(self.fault(call))

    def _expects(self, value: Json) -> str:
        """Return the shape or the limit of the parameter, if the value is a bad one."""
        expected = {INVALID: str(self.shape), BEYOND: f"at most {self.limit}"}
        return expected.get(self._fault(value), "")

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
        return [f"{each.id}-{fault}" for each in self.operations for fault in FAULTS]

    def _described(self, operation: Operation) -> Iterator[tuple[str, str, str]]:
        """Yield the facets of an operation, with their descriptions and why one cannot be tested."""
        name = self.argument
        if not self.optional:
            yield MISSING, f"a call without {name} is refused", ""
        if self.shape:
            reason = "" if self.shape.misfits() else "every text that Assay knows matches"
            yield (INVALID, f"a call whose {name} is not {self.shape} is refused", reason)
        if self.limit is not None:
            reached = f"a call whose {name} is above {self.limit} is refused"
            yield BEYOND, reached, ""
        # A request is made, ended or changed only once.
        if not operation.request and self.enum:
            yield "values", f"a call is served with each {name}: {', '.join(self.enum)}", ""
        if not operation.request and self.limit is not None:
            yield "limit", f"a call whose {name} is {self.limit} is served", ""

    def probe(self, scenario: CallScenario) -> Script:
        """Make calls with each fault, beside good ones."""
        operation = scenario.operation
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

    def tried(self, history: History) -> Iterator[Tried]:
        """Yield the calls of the operations that are well formed in all else."""
        named = {operation.id for operation in self.operations}
        exhausted = {
            number
            for operation in named
            for number in perhaps_exhausted(self.contract, operation, history)
        }
        ids = facts_of(self.contract).call_ids
        for exchange in history.exchanges:
            call = exchange.call
            if call.operation in named and ordinary(call):
                fault, facet = self.fault(call), f"{call.operation}-{self.fault(call)}"
                why = call.variation or f"{self.argument} is {fault}"
                wrong = (Defect(argument=self.argument, facet=facet, why=why),)
                yield Tried(
                    made=exchange,
                    faults=None if fault == OPEN else wrong if fault else (),
                    control=exchange.accepted and not fault,
                    ids=ids.get(call.operation, ()),
                    exhausted=exchange.n in exhausted,
                )

    def judge(self, tried: Tried, fault: Defect, beside: Sequence[Tried]) -> Iterator[Evidence]:
        """Judge a call without the parameter, or with a bad value in it."""
        controls = [each.made.n for each in beside]
        yield from refused_beside(
            fault.facet, tried.made, fault.why, controls, open_=tried.exhausted
        )

    def judge_other(self, tried: Tried, beside: Beside) -> Iterator[Evidence]:
        """Judge a call with a value that must be served."""
        call = tried.made.call
        if tried.faults is None or self.contract.operations[call.operation].request:
            return
        value = call.arguments.get(self.argument)
        for id_, owed in (
            ("values", self.enum and value in self.enum),
            ("limit", self.limit is not None and _number(value) == self.limit),
        ):
            if owed:
                controls = [each.made.n for each in beside(self.argument)]
                exhausted = [tried.made.n] if tried.exhausted else []
                yield from served_between(
                    f"{call.operation}-{id_}", tried.made, controls, exhausted
                )

    def fault(self, call: Call) -> str:
        """Return what is wrong with the parameter in a call; "" for a good one."""
        if self.argument in call.without:
            return OPEN if self.optional else MISSING
        if self.argument not in call.arguments:
            return ""  # the value of the target file was sent
        return self._fault(call.arguments[self.argument])

    def _fault(self, value: Json) -> str:
        if value in _EMPTY:
            return OPEN
        fits = self.shape.fits(value) if self.shape else True
        if not fits:
            return OPEN if fits is None else INVALID
        number = _number(value)
        if self.limit is None or (number is not None and 0 < number <= self.limit):
            return ""
        return BEYOND if number is not None and number > self.limit else OPEN

    def duty(self) -> str:
        """Return that the parameter has a valid value."""
        return f"every call has a valid {self.argument}"

    def judge_sent(self, exchange: Exchange) -> tuple[Agreement, str, str] | None:
        """Judge the parameter of a call; None where it is open whether it is valid."""
        fault, owed = self.fault(exchange.call), f"a call with a valid {self.argument}"
        if fault == OPEN:
            return None
        done = f"{self.argument} is {fault}" if fault else "it has a valid one"
        return DISAGREES if fault else AGREES, owed, done


def _number(value: Json) -> Decimal | None:
    """Return a number that is sent as one or as a text."""
    text = str(value)
    return (
        Decimal(text)
        if text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER
        else None
    )
