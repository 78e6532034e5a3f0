"""`mirror`: a header of the answer repeats what an argument of the call says.

Usually the argument is a request id that the TPP chooses, with which both parties find the
call in their logs. Refused calls are judged only beside an accepted call of the same
operation whose answer repeats its value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.kinds import (
    UNAUTHENTICATED,
    Agreement,
    BindingRequirement,
    Call,
    Capability,
    Evidence,
    Exchange,
    Facet,
    History,
    Holding,
    Kind,
    Malformed,
    Operation,
    Purpose,
    Scenario,
    Script,
    needs,
    operation_parameters,
    parameters,
    steps,
)

RETURNED, IN_REFUSALS = "returned", "in-refusals"
#: What it means whether the header has the value; None where a journal hides it.
AGREEMENTS = {True: Agreement.AGREES, False: Agreement.DISAGREES, None: Agreement.UNCLEAR}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirror(Kind):
    """The operation, the argument that is sent, and the header that repeats it."""

    name = "mirror"
    purpose = Purpose.PROMISE

    operation: Operation = parameters.operation()
    argument: str = operation_parameters.argument()
    header: str = parameters.parameter(
        {
            "description": "the name of a header",
            "x-hint": "for example X-Request-ID",
            "type": "string",
            "pattern": "^[A-Za-z0-9-]+$",
        },
        lambda value, _: str(value),
        key="header",
    )
    owner: str = operation_parameters.owner()

    def facets(self) -> tuple[Facet, ...]:
        """One facet for answers, one for refusals."""
        spelt = BindingRequirement(
            operation=self.operation.id, feature="argument", name=self.argument
        )
        reason = "" if self.operation.about else "no argument can be made invalid"
        return (
            Facet(
                id=RETURNED,
                description=f"the answer repeats {self.argument} in {self.header}",
                scenario=Scenario(id=RETURNED),
                needs=needs(Capability.PSU),
                requires=(spelt,),
            ),
            Facet(
                id=IN_REFUSALS,
                description=f"a refusal repeats {self.argument} in {self.header}",
                scenario=Scenario(id=IN_REFUSALS),
                needs=needs(Capability.PSU),
                requires=(spelt,),
                not_applicable_because=reason,
            ),
        )

    def probe(self, scenario: Scenario) -> Script:
        """Call with two values; in the second scenario the second call names nothing real."""
        psu = yield from steps.arrange("psu", Holding(resource=self.owner))
        plain = steps.arguments(self.operation, psu.owns[0].key)
        for value in ("assay-mirror-1", "assay-mirror-2"):
            invalid = scenario.id == IN_REFUSALS and value.endswith("2")
            call = Call(
                operation=self.operation.id,
                subject="psu",
                arguments={**plain, self.argument: value},
                malformed=Malformed.BAD_IDENTIFIER if invalid else None,
                variation=Malformed.BAD_IDENTIFIER.value if invalid else "",
            )
            yield from steps.send(call)

    def check(self, history: History) -> Iterator[Evidence]:
        """Compare the header of each answer with the argument of its call."""
        control: Exchange | None = None
        for exchange in history.exchanges:
            sent = exchange.call.arguments.get(self.argument)
            if exchange.call.operation != self.operation.id or not isinstance(sent, str):
                continue
            if exchange.accepted:
                yield self._judge(RETURNED, exchange, sent)
                if exchange.wire.has_header(self.header, sent):
                    control = exchange
            elif control and exchange.refused and exchange.wire.status != UNAUTHENTICATED:
                yield self._judge(IN_REFUSALS, exchange, sent, control.n)

    def _judge(self, facet: str, exchange: Exchange, sent: str, *control: int) -> Evidence:
        seen = exchange.wire.header(self.header)
        return Evidence(
            facet=facet,
            agreement=AGREEMENTS[exchange.wire.has_header(self.header, sent)],
            expected=f"{self.header}: {sent}",
            seen=f"{self.header}: {seen}" if seen is not None else f"no header {self.header}",
            exchanges=(*control, exchange.n),
            variation=exchange.call.variation,
        )
