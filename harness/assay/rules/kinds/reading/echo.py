"""`echo`: every answer has the value of a header of its request, unchanged.

Usually it is a request id that the TPP chooses, with which both parties find the call in their
logs. Refusals are judged beside an accepted call of the same operation whose answer repeats its
value: what a gateway answers before it has read the call is not the bank's answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from assay.contract.model import Operation
from assay.history import Call, Exchange, History, Malformed
from assay.rules import operation_parameters, parameters, steps
from assay.rules.facets import Facts
from assay.rules.lifecycle import request_steps
from assay.rules.rule import (
    Calls,
    CallScenario,
    Facet,
    Kind,
    Purpose,
    Scope,
    Script,
    bound,
    call_needs,
)
from assay.rules.steps import fresh_id
from assay.rules.verdict import UNAUTHENTICATED, Agreement, Evidence

#: The last part of a facet's id.
RETURNED, IN_REFUSALS = "returned", "in-refusals"
#: What it means whether the header has the value; None where a journal hides it.
AGREEMENTS: Final = {True: Agreement.AGREES, False: Agreement.DISAGREES, None: Agreement.UNCLEAR}


@dataclass(frozen=True, slots=True, kw_only=True)
class EchoScenario(CallScenario):
    """Calls of one operation, the last of them refused where `invalid` says how."""

    invalid: Malformed | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Echo(Kind[EchoScenario]):
    """The operations, the argument that is sent, and the header of the answer that repeats it."""

    name = "echo"
    scope = Scope(calls=Calls.NAMED)
    purpose = Purpose.PROMISE
    accepts_refusals = True

    operations: tuple[Operation, ...] = parameters.operations(
        also=operation_parameters.lacks_argument
    )
    argument: str = parameters.word(key="argument")
    answered_in: str = parameters.parameter(
        {
            "description": "the name of a header",
            "x-hint": "for example X-Request-ID",
            "type": "string",
            "pattern": "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$",
        },
        lambda value, _: str(value),
        key="header",
        required=False,
        default="",
    )
    grant: Operation | None = parameters.grant()

    @property
    def header(self) -> str:
        """The header of the answer: that of the argument's name, unless the clause says another."""
        return self.answered_in or self.argument

    def facts(self) -> Facts:
        """Return the argument: it only identifies a call."""
        return Facts(call_ids={operation.id: (self.argument,) for operation in self.operations})

    def facets(self) -> tuple[Facet, ...]:
        """Return two facets for each operation: accepted calls, and refused ones."""
        return tuple(
            Facet(
                id=scenario.id,
                description=f"{answer} of {operation.id} repeats {self.argument} in {self.header}",
                scenario=scenario,
                needs=call_needs(operation, self.grant),
                requires=bound(operation, "argument", self.argument),
                not_applicable_because=""
                if scenario.id.endswith(RETURNED) or scenario.invalid
                else "nothing in a call can be made invalid",
            )
            for operation in self.operations
            for scenario, answer in _scenarios(operation)
        )

    def probe(self, scenario: EchoScenario) -> Script:
        """Call with two values; in the second scenario one of the calls is refused."""
        call = yield from request_steps.plain_call(self.contract, scenario.operation, self.grant)
        if call is None:
            return
        now = yield from steps.clock()
        first, second = (
            replace(call, arguments={**call.arguments, self.argument: value})
            for value in (fresh_id(call, now, scenario.id, n) for n in ("first", "second"))
        )
        refused = replace(
            second,
            malformed=scenario.invalid,
            variation=scenario.invalid.value if scenario.invalid else "",
        )
        # A request is ended, or changed, only once: the refused call comes first.
        once = scenario.operation.ends or scenario.operation.changes
        in_order = (refused, first) if once else (first, refused)
        for each in in_order[-1:] if once and not scenario.invalid else in_order:
            yield from steps.send(each)

    def check(self, history: History) -> Iterator[Evidence]:
        """Compare the header of each answer with the argument of its call."""
        named = {operation.id for operation in self.operations}
        calls = [each for each in history.exchanges if each.call.operation in named]
        controls: dict[str, int] = {}
        for exchange in calls:
            sent = self._sent(exchange.call)
            if sent and exchange.accepted and exchange.wire.has_header(self.header, sent):
                controls.setdefault(exchange.call.operation, exchange.n)
        for exchange in calls:
            sent, operation = self._sent(exchange.call), exchange.call.operation
            if sent is None:
                continue
            if exchange.accepted:
                yield self._judge(f"{operation}-{RETURNED}", exchange, sent)
            elif (
                operation in controls
                and exchange.refused
                and not exchange.early
                and exchange.wire.status != UNAUTHENTICATED
            ):
                yield self._judge(f"{operation}-{IN_REFUSALS}", exchange, sent, controls[operation])

    def _sent(self, call: Call) -> str | None:
        value = call.arguments.get(self.argument)
        return value if isinstance(value, str) and value and value.isprintable() else None

    def _judge(self, facet: str, exchange: Exchange, sent: str, *control: int) -> Evidence:
        seen = exchange.wire.header(self.header)
        return Evidence(
            facet=facet,
            agreement=AGREEMENTS[exchange.wire.has_header(self.header, sent)],
            expected=f"{self.header}: {sent}",
            seen=f"{self.header}: {seen}" if seen is not None else f"no header {self.header}",
            exchanges=tuple(sorted({*control, exchange.n})),
            variation=exchange.call.variation,
            decisive=exchange.n,
            controls=control,
            member=exchange.member("header", self.header),
        )


def _scenarios(operation: Operation) -> Iterator[tuple[EchoScenario, str]]:
    """Yield the scenarios of an operation, each with the answers that it is about."""
    returned = f"{operation.id}-{RETURNED}"
    yield EchoScenario(id=returned, operation=operation), "an answer"
    invalid = (
        Malformed.BAD_IDENTIFIER
        if operation.about
        else Malformed.NOT_JSON
        if operation.makes or operation.grants
        else None
    )
    refused = f"{operation.id}-{IN_REFUSALS}"
    yield EchoScenario(id=refused, operation=operation, invalid=invalid), "a refusal"
