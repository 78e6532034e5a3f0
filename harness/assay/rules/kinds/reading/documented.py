"""`documented`: the answers of an operation are as the bank's own OpenAPI document has them.

The clauses are added where a target file names the document (`openapi`), one for each operation that
it has. Every answer was held against it when it came (`documented` of an exchange), so that a
record that hides private texts says the same. Nothing certain is what a gateway in front of the
bank answers, and a status that the document lacks for a request that it lacks, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from assay.contract.model import Json, Operation
from assay.history import Aspect, Exchange, History, Submitted
from assay.rules import parameters, steps
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.tracker import lifecycle_of_operation
from assay.rules.rule import Calls, Facet, Kind, Purpose, Scenario, Scope, Script, call_needs
from assay.rules.verdict import AGREES, DISAGREES, GATEWAY, UNCLEAR, Evidence

#: What each aspect of an answer is, as the document has it.
_DESCRIBED: Final[Mapping[Aspect, str]] = {
    Aspect.STATUS: "every status is documented for the operation",
    Aspect.MEDIA_TYPE: "every body has a media type that is documented for its status",
    Aspect.STRUCTURE: "every body fits the schema of its status and media type",
    Aspect.HEADERS: "every answer has the headers that are required with its status",
}
_ASPECTS: Final[Mapping[str, Json]] = {
    "description": "a list of status, media-type, structure, headers",
    "type": "array",
    "minItems": 1,
    "uniqueItems": True,
    "items": {"description": "an aspect", "enum": [aspect.value for aspect in Aspect]},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Documented(Kind):
    """The operation, and in which aspects the document can be broken."""

    name = "documented"
    scope = Scope(calls=Calls.CONTRACT)
    purpose = Purpose.PROMISE
    accepts_refusals = True
    ambient = True

    operation: Operation = parameters.operation()
    aspects: tuple[str, ...] = parameters.names(_ASPECTS, key="aspects")
    grant: Operation | None = parameters.the_grant()

    def facets(self) -> tuple[Facet, ...]:
        """Return one facet for each aspect; one trial decides them."""
        return tuple(
            Facet(
                id=aspect.value,
                description=_DESCRIBED[aspect],
                scenario=Scenario(id="plain"),
                needs=call_needs(self.operation, self.grant),
                exercises=(self.operation.id,),
            )
            for aspect in Aspect
            if aspect.value in self.aspects
        )

    def probe(self, scenario: Scenario) -> Script:
        """Make one plain call."""
        operation, contract = self.operation, self.contract
        if operation.ends:
            # A request that can be changed can also be ended.
            lifecycle = lifecycle_of_operation(contract, operation)
            psu = yield from request_steps.customer(lifecycle)
            made = request_steps.request(lifecycle, psu, lifecycle.changeable_mode)
            call = request_steps.call_about(operation, (yield from steps.send(made)))
        else:
            call = yield from request_steps.plain_call(contract, operation, self.grant)
        yield from request_steps.send_if_any(call)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every answer to a call of the operation, or to its submission."""
        for event in history.events:
            if not isinstance(event, Exchange | Submitted):
                continue
            if event.call.operation != self.operation.id:
                continue
            between = event.early or event.wire.status in GATEWAY
            for remark in event.documented:
                unclear = remark.fits is None or (between and not remark.fits)
                if remark.aspect.value in self.aspects:
                    yield Evidence(
                        facet=remark.aspect.value,
                        agreement=UNCLEAR if unclear else AGREES if remark.fits else DISAGREES,
                        expected=f"as the bank's own document has it, {_DESCRIBED[remark.aspect]}",
                        seen=remark.says or "it is as documented",
                        exchanges=(event.n,),
                    )
