"""`error-body`: a refusal carries an error of the form that the document describes.

The clause says which statuses have such an error, its media type, the fields that every error in
the body has, and the values that a field may have. Where errors and their fields stand in a body is
for the target file to say (`error`). Only answers that the target file counts as refusals are
judged, and of these only the statuses that the clause names. What a server or a gateway in front of
the interface answers has a form of its own, so no refusal is judged that may come from there: of
requests that are malformed on purpose, or too large for many servers. Nor are values that a journal
hides.

The probe calls an operation without a token, and goes on with other faults where the clause does
not name the status of that refusal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from assay.contract.model import Capability, Json, Operation
from assay.contract.scalars import is_word, text_of
from assay.files.document import Finding, Pointer
from assay.history import ERROR_CODE, Call, ErrorBody, Exchange, History, ShownError, Token
from assay.rules import parameters, steps
from assay.rules.facets import Facts
from assay.rules.lifecycle import request_steps
from assay.rules.parameters import VALUES, Raw, all_known
from assay.rules.queries import has_error_field
from assay.rules.rule import (
    Calls,
    Facet,
    Kind,
    Purpose,
    Scenario,
    Scope,
    Script,
    bound,
    facts_of,
    needs,
)
from assay.rules.text_shape import is_hidden
from assay.rules.verdict import AGREES, DISAGREES, UNCLEAR, Evidence

MEDIA_TYPE, PRESENT, ALLOWED = "media-type", "-present", "-allowed"

_STATUSES: Final[Mapping[str, Json]] = {
    "description": "a list of statuses of refusals",
    "x-hint": "for example [400, 401, 403, 404, 429], or [4xx]",
    "type": "array",
    "minItems": 1,
    "uniqueItems": True,
    "items": {
        "description": "a status from 400 to 599, or 4xx or 5xx",
        "type": ["integer", "string"],
        "minimum": 400,
        "maximum": 599,
        "pattern": "^[45]xx$",
    },
}
_VALUES: Final[Mapping[str, Json]] = {
    "description": "a list of values for each field",
    "x-hint": "for example {category: [ERROR, WARNING]}",
    "type": "object",
    "minProperties": 1,
    "propertyNames": parameters.ref("word"),
    "additionalProperties": VALUES,
}


def _check_operations(at: Pointer, wanted: list[str], _clause: Raw, raw: Raw) -> Iterator[Finding]:
    yield from all_known(at, wanted, raw["operations"], "operation")


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorBodyRule(Kind):
    """The refusals that carry an error, and its form; `names` are the operations, empty for all."""

    name = "error-body"
    scope = Scope(calls=Calls.CONTRACT)
    purpose = Purpose.PROMISE
    accepts_refusals = True
    at_least_one_of = (MEDIA_TYPE, "fields", "values")
    #: No consent is made: without one, a call is one more refusal.
    own_consents = True

    names: tuple[str, ...] = parameters.names(
        parameters.ref("operations"), key="operations", references=_check_operations, required=False
    )
    statuses: tuple[str, ...] = parameters.parameter(
        _STATUSES, lambda value, _: tuple(map(text_of, value)), key="statuses"
    )
    media_type: str = parameters.parameter(
        {
            "description": "a media type",
            "x-hint": "for example application/problem+json",
            "type": "string",
            "pattern": "^[^\\s/;]+/[^\\s/;]+$",
        },
        lambda value, _: str(value).lower(),
        key=MEDIA_TYPE,
        required=False,
        default="",
    )
    fields: tuple[str, ...] = parameters.names(
        parameters.ref("names"), key="fields", required=False
    )
    values: Mapping[str, tuple[Json, ...]] = parameters.parameter(
        _VALUES,
        lambda value, _: {name: tuple(words) for name, words in value.items()},
        key="values",
        required=False,
        default={},
    )

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations whose refusals are judged."""
        every = self.contract.operations
        return tuple(every[name] for name in self.names or every if name in every)

    @property
    def refused(self) -> Operation:
        """The operation that the probe has refused: a list of all, before what is about one thing."""
        offered = [each for each in self.operations if each.available]
        return min(offered or self.operations, key=_effort)

    def facts(self) -> Facts:
        """Return which refusals must have a code, if the clause says that errors have one."""
        return Facts(coded_refusals=(self.concerns,) if ERROR_CODE in self.fields else ())

    def facets(self) -> tuple[Facet, ...]:
        """Return a facet for the media type, one for each field, and one for its values."""
        described: list[tuple[str, str, str]] = []
        if self.media_type:
            described.append((MEDIA_TYPE, f"the body of a refusal is {self.media_type}", ""))
        described += [
            (f"{name}{PRESENT}", f"every error in a refusal has {name}", name)
            for name in self.fields
        ]
        for name, words in self.values.items():
            allowed = ", ".join(map(text_of, words))
            text = f"{name} of every error in a refusal is one of {allowed}"
            described.append((f"{name}{ALLOWED}", text, name))
        operation = self.refused
        writes = [Capability.WRITE] if operation.request else []
        return tuple(
            Facet(
                id=id_,
                description=f"{description} ({', '.join(self.statuses)})",
                scenario=Scenario(id="refused"),
                needs=needs(Capability.PSU, *writes),
                requires=bound(operation, "error", field) if field else (),
            )
            for id_, description, field in described
        )

    def probe(self, scenario: Scenario) -> Script:
        """Make calls that must be refused, until one is with a status of the clause."""
        call = yield from request_steps.plain_call(self.contract, self.refused, None)
        if call is None:
            return
        for each in self._refused_calls(call):
            answer = yield from steps.send(each)
            if self.concerns(answer):
                return
        yield from self._about_nothing(call.subject)

    def _refused_calls(self, call: Call) -> Iterator[Call]:
        """Yield a call without its token, without its consent, and without each mandatory argument."""
        yield replace(call, bearer=Token.NONE, variation=Token.NONE.value)
        if self.refused.consent:
            yield call
        for name in self.refused.arguments:
            without = replace(call, without=(name,), variation=f"{name} is missing")
            if facts_of(self.contract).is_barred(without):
                yield without

    def _about_nothing(self, subject: str) -> Script:
        """Call an operation about something that does not exist."""
        for operation in self.operations:
            if operation.available and operation.about and not operation.makes:
                yield from steps.send(
                    Call(
                        operation=operation.id,
                        subject=subject,
                        arguments={operation.about: "000000000000"},
                        invented={operation.about: "000000000000"},
                        variation="about something that does not exist",
                    )
                )
                return

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every refusal with one of the statuses."""
        for exchange in history.exchanges:
            if self.concerns(exchange):
                yield from self._judged(exchange)

    def concerns(self, exchange: Exchange) -> bool:
        """Whether an exchange is a refusal that must have an error of the clause's form."""
        call, status = exchange.call, str(exchange.wire.status)
        known = status in self.statuses or f"{status[:1]}xx" in self.statuses
        named = call.operation in (self.names or self.contract.operations)
        return exchange.refused and not exchange.early and known and named and not call.malformed

    def _judged(self, exchange: Exchange) -> Iterator[Evidence]:
        """Yield the evidence of one refusal."""
        wire, error = exchange.wire, exchange.error
        if self.media_type and wire.body:
            evidence = self._evidence(
                MEDIA_TYPE,
                exchange,
                f"a body of the media type {self.media_type}",
                wire.media_type or "no media type",
                good=wire.media_type == self.media_type,
            )
            yield replace(evidence, member=exchange.member("header", "content-type"))
        if error is not None:
            for name in self.fields:
                if name in error.located:
                    yield self._present(name, exchange, error)
            for name, words in self.values.items():
                if name in error.located:
                    yield from self._allowed(name, words, exchange, error)

    def _present(self, name: str, exchange: Exchange, error: ErrorBody) -> Evidence:
        lacking = [each for each in error.errors if not has_error_field(each, name)]
        seen = "the body has no error"
        if error.errors:
            seen = f"missing in {len(lacking)} of {len(error.errors)}" if lacking else "present"
        good = bool(error.errors) and not lacking
        evidence = self._evidence(
            f"{name}{PRESENT}", exchange, f"{name} in every error", seen, good=good
        )
        first = exchange.member_of(next(iter(lacking), None), "error", name)
        return replace(evidence, member=first or exchange.member("error", name))

    def _allowed(
        self, name: str, words: tuple[Json, ...], exchange: Exchange, error: ErrorBody
    ) -> Iterator[Evidence]:
        shown = [each for each in error.errors if has_error_field(each, name)]
        outside = [(each, value) for each in shown for value in _outside(each, name, words)]
        wrong = [value for _, value in outside]
        hidden = bool(wrong) and all(map(is_hidden, wrong))
        if shown:
            evidence = self._evidence(
                f"{name}{ALLOWED}",
                exchange,
                f"{name} to be one of {', '.join(map(text_of, words))}",
                f"{wrong[0]!r}" if wrong else "as expected",
                good=None if hidden else not wrong,
            )
            first = outside[0][0] if outside else None
            yield replace(evidence, member=exchange.member_of(first, "error", name))

    def _evidence(
        self, facet: str, exchange: Exchange, expected: str, seen: str, *, good: bool | None
    ) -> Evidence:
        return Evidence(
            facet=facet,
            agreement=UNCLEAR if good is None else AGREES if good else DISAGREES,
            expected=f"{expected} in a refusal ({exchange.wire.status})",
            seen=seen,
            exchanges=(exchange.n,),
            variation=exchange.call.variation,
        )


def _outside(error: ShownError, name: str, words: tuple[Json, ...]) -> Iterator[Json]:
    """Yield the value of a field that is none of some words."""
    if name == ERROR_CODE:
        if not {*error.codes} & {*map(text_of, words)}:
            yield ", ".join(error.codes)
    elif not any(is_word(word, error.fields[name]) for word in words):
        yield error.fields[name]


def _effort(operation: Operation) -> int:
    """Return how much a call of an operation takes: a list least, a call about a request most."""
    if operation.request:
        return 1 if operation.makes else 3
    return 2 if operation.about or operation.grants else 0
