"""`mandatory`: a request without a mandatory field, or with a bad value in it, is rejected.

The valid type is learned from the first request that was accepted with all fields; values
of other types are derived from its value. A number or a truth value is no other type than a
text: documents rarely give types, and a bank may read one as the other. A request with two
invalid fields proves nothing about either. A request in which a field of `may-be-empty` is empty is
accepted, if requests before and after it are. `argument_rules` defines when a request counts as accepted,
and when a refusal counts.

The TPP: it makes no request without a mandatory field.
A missing, null or empty field is absent. Types are not judged, because only the bank knows
them, nor are requests that are not a JSON object or that are truncated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from assay.contract.model import Json
from assay.files.document import Finding, Pointer
from assay.history import Call, Exchange
from assay.rules import steps
from assay.rules.argument_rules import (
    Beside,
    Defect,
    Defects,
    RequestArgumentRule,
    Tried,
    looked_at,
    replaced,
)
from assay.rules.controls import served_between
from assay.rules.facets import Facts, Schema
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.parameters import arguments
from assay.rules.lifecycle.tracker import Instance
from assay.rules.parameters import Raw, all_known, names, ref
from assay.rules.rule import Facet, Scenario, Script
from assay.rules.verdict import AGREES, DISAGREES, Agreement, Evidence

#: The ways in which a mandatory field can be invalid, with their predicates.
WAYS: Mapping[str, str] = {
    "missing": "is missing",
    "null": "is null",
    "empty": "is empty",
    "type": "is of another type",
}
#: The way that is none where a field may be empty, and how the facet ends that says so.
EMPTY, MAY_BE_EMPTY = "empty", "may-be-empty"
#: The value of a field that was not sent.
_ABSENT = object()


def _expects(value: Json) -> str:
    """Return that a value is not empty, if it is."""
    return "a value" if value is None or _is_empty(value) else ""


def _is_empty(value: Json) -> bool:
    """Whether a value is an empty text, list or object."""
    return value == "" or (_kind(value) in {"list", "object"} and not value)


def _among_fields(at: Pointer, wanted: list[str], clause: Raw, _raw: Raw) -> Iterator[Finding]:
    yield from all_known(at, wanted, clause.get("fields", ()), "mandatory field")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mandatory(RequestArgumentRule):
    """The mandatory fields of a request."""

    name = "mandatory"
    duty_facet = "fields-there"

    fields: tuple[str, ...] = arguments()
    may_be_empty: tuple[str, ...] = names(
        ref("words"), key=MAY_BE_EMPTY, references=_among_fields, required=False
    )

    def facts(self) -> Facts:
        """Return that each argument has a value that is not empty, but for those that may be."""
        create = self.lifecycle.create.id
        filled = ((create, each) for each in self.fields if each not in self.may_be_empty)
        return Facts(expected=dict.fromkeys(filled, (_expects,)))

    def value_schema(self) -> tuple[Schema, bool]:
        """Return that each field is mandatory."""
        return {}, True

    def facets(self) -> tuple[Facet, ...]:
        """Return a facet for each field and way, with one trial for each field."""
        described = (
            (field, MAY_BE_EMPTY, f"a request is accepted if {field} is empty")
            if way == EMPTY and field in self.may_be_empty
            else (field, way, f"a request is not accepted if {field} {predicate}")
            for field in self.fields
            for way, predicate in WAYS.items()
        )
        return tuple(
            self.argument_facet(
                f"{field}-{id_}", says, field, field, *self.lifecycle.open_mode_requirement()
            )
            for field, id_, says in described
        )

    def refusing(self) -> frozenset[str]:
        """Return the facets that expect a refusal."""
        accepted = {f"{field}-{MAY_BE_EMPTY}" for field in self.may_be_empty}
        return frozenset(facet.id for facet in self.own_facets) - accepted

    def probe(self, scenario: Scenario) -> Script:
        """Make a valid request, then one for each way in which the field can be invalid."""
        psu = yield from request_steps.customer(self.lifecycle)
        control = request_steps.request(self.lifecycle, psu, self.lifecycle.open_mode)
        made = yield from steps.send(control)
        right = made.call.arguments.get(scenario.id, "")
        may_be_empty = scenario.id in self.may_be_empty
        calls = _variations(control, scenario.id, right, may_be_empty=may_be_empty)
        yield from self.send_and_read(calls)
        if may_be_empty:
            yield from steps.send(control)

    def arguments_of(self) -> Mapping[str, Sequence[str]]:
        """Return the mandatory fields."""
        return {self.lifecycle.create.id: self.fields}

    def faults(self, made: Sequence[Instance]) -> Iterator[Defects]:
        """Yield the faults of each request; None until the valid types are known."""
        types = self._types(made)
        for request in made:
            wrong = tuple(
                Defect(argument=field, facet=f"{field}-{way}", why=f"{field} {WAYS[way]}")
                for field, way in self._wrong(request.made.call.arguments, types).items()
            )
            yield wrong if wrong or types else None

    def judge_other(self, tried: Tried, beside: Beside) -> Iterator[Evidence]:
        """Judge a request with nothing in a field that may be empty."""
        call = tried.made.call
        for field in self.may_be_empty if tried.faults == () else ():
            if _is_empty(call.arguments.get(field)):
                controls = [each.made.n for each in beside(field) if each is not tried]
                yield from served_between(f"{field}-{MAY_BE_EMPTY}", tried.made, controls, ())

    def duty(self) -> str:
        """Return that every request has the fields."""
        return f"every request has {', '.join(self.fields)}"

    def judge_sent(self, exchange: Exchange) -> tuple[Agreement, str, str]:
        """Judge whether a request has the fields."""
        sent = exchange.call.arguments
        lacking = [
            name
            for name in self.fields
            if sent.get(name) is None or (_is_empty(sent[name]) and name not in self.may_be_empty)
        ]
        done = f"it has no {', '.join(lacking)}" if lacking else "it has them"
        return DISAGREES if lacking else AGREES, f"a request with {', '.join(self.fields)}", done

    def _types(self, made: Sequence[Instance]) -> Mapping[str, str]:
        """Return the types in the first request that was accepted with all fields.

        A bank may reject later what varies, so that has to be looked at.
        """
        for request in made:
            sent = request.made.call.arguments
            sure = looked_at(request, self.fields) or not request.made.call.variation
            if sure and request.stays_accepted and not self._wrong(sent, {}):
                return {field: _kind(sent[field]) for field in self.fields}
        return {}

    def _wrong(self, sent: Mapping[str, Json], types: Mapping[str, str]) -> Mapping[str, str]:
        """Return the invalid fields of a request and how, as far as the types are known."""
        ways = {field: _way(sent.get(field, _ABSENT), types.get(field)) for field in self.fields}
        return {
            field: way
            for field, way in ways.items()
            if way and not (way == EMPTY and field in self.may_be_empty)
        }


def _kind(value: Json) -> str:
    """Return the JSON type of a value."""
    match value:
        case bool():
            return "truth value"
        case int() | float() | Decimal():
            return "number"
        case list() | tuple():
            return "list"
        case Mapping():
            return "object"
        case _:
            return "text"


def _others(right: Json) -> Sequence[tuple[str, Json]]:
    """Return values of two types that are certainly others, each with a description."""
    values_by_type: Mapping[str, Sequence[tuple[str, Json]]] = {
        "list": (("an empty list", []), ("a list that holds the value", [right])),
        "object": (("an empty object", {}), ("an object that holds the value", {"value": right})),
        "text": (("the value as a text", str(right)), ("a text", "x")),
    }
    others = [kind for kind in values_by_type if _differs(kind, _kind(right))][:2]
    return [described for kind in others for described in values_by_type[kind]]


def _differs(kind: str, right: str) -> bool:
    """Whether a type is certainly another one: a text can stand for any scalar, and for it."""
    scalars = {"text", "number", "truth value"}
    return kind != right and not ("text" in (kind, right) and {kind, right} <= scalars)


def _variations(
    control: Call, field: str, right: Json, *, may_be_empty: bool = False
) -> Iterator[Call]:
    """Yield the request with each invalid value of the field; an empty one is valid where it may be."""
    yield replace(control, without=(field,), variation=f"{field} is missing")
    nothing: Json = {"list": [], "object": {}}.get(_kind(right), "")
    empty = "" if may_be_empty else EMPTY
    for description, value in (("null", None), (empty, nothing), *_others(right)):
        yield replaced(control, field, value, description)


def _way(value: Json, right: str | None) -> str:
    if value is _ABSENT:
        return "missing"
    if value is None:
        return "null"
    kind = _kind(value)
    if value == "" or (kind == right and kind in {"list", "object"} and not value):
        return "empty"
    return "type" if right is not None and _differs(kind, right) else ""
