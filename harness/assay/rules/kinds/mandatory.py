"""`mandatory`: a request without a mandatory field, or with a bad value in it, is rejected.

What type is right is learned from the first request that was accepted whole; the values
of other types are made from the one that it had. A request in which two of the fields
are wrong at once belongs to neither. What became of one that was accepted, and what it
takes for a refusal to count, is said in `bent`: it is refused at once or read as rejected,
and nobody signs it.

The TPP: no request is made without a field that it must have.
A field that is missing, null or empty is not there. What type is right, only the bank can
tell. A request that is no object at all, or was cut short, is not judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from assay.contract.model import Capability, Json
from assay.history import Call, History
from assay.judging.verdict import Evidence
from assay.rules import steps
from assay.rules.lifecycle import attempts, request_steps, tracker
from assay.rules.lifecycle.parameters import arguments, the_request
from assay.rules.rule import BindingRequirement, Facet, Kind, Scenario, Script, TppFacet, needs
from assay.rules.schema_pieces import ArgumentSchema, SchemaPiece
from assay.rules.tpp_evidence import BROKEN, KEPT, say

#: Each way in which a mandatory field can be wrong.
WAYS: Mapping[str, str] = {
    "missing": "is missing",
    "null": "is null",
    "empty": "is empty",
    "type": "is of another type",
}
#: Stands for a field that was not sent.
_ABSENT = object()


#: The TPP's obligation.
TPP_FACET = "fields-there"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mandatory(Kind):
    """The mandatory fields of a request."""

    name = "mandatory"
    applies_to = ("makes",)

    lifecycle: tracker.Lifecycle = the_request()
    fields: tuple[str, ...] = arguments()

    def schema_pieces(self) -> Iterator[SchemaPiece]:
        """Yield what the clause says of the shape of a request."""
        for argument in self.fields:
            yield ArgumentSchema(
                operation=self.lifecycle.create.id, argument=argument, mandatory=True
            )

    def facets(self) -> tuple[Facet, ...]:
        """One facet a field and a way, and one trial a field."""
        return tuple(
            Facet(
                id=f"{field}-{way}",
                description=f"a request in which {field} {says} is not accepted",
                scenario=Scenario(id=field),
                needs=needs(Capability.PSU, Capability.WRITE),
                requires=(
                    BindingRequirement(
                        operation=self.lifecycle.create.id, feature="argument", name=field
                    ),
                ),
            )
            for field in self.fields
            for way, says in WAYS.items()
        )

    def probe(self, scenario: Scenario) -> Script:
        """Make a valid request, and then bend one field in every way; read what was accepted."""
        psu = yield from request_steps.customer(self.lifecycle)
        control = request_steps.request(self.lifecycle, psu)
        made = yield from steps.send(control)
        right = made.call.arguments.get(scenario.id, "")
        for call in _bent(control, scenario.id, right):
            made = yield from steps.send(call)
            yield from request_steps.read(self.lifecycle, made)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every request that is wrong in one of the fields."""
        made = tuple(tracker.follow(history, self.lifecycle))
        types = _types(self, made)
        wrong = [_wrong(self, one.made.call.arguments, types) for one in made]
        controls = {
            (field, attempts.frame(one, field)): one
            for one, ways in zip(made, wrong, strict=True)
            if not ways and types and attempts.control(one)
            for field in self.fields
        }
        for one, ways in zip(made, wrong, strict=True):
            if len(ways) != 1:
                continue
            ((field, way),) = ways.items()
            beside = controls.get((field, attempts.frame(one, field)))
            found = attempts.judge(f"{field}-{way}", one, beside, f"{field} {WAYS[way]}")
            if found is not None:
                yield found

    def tpp_facet(self) -> TppFacet:
        """Return the one obligation of the TPP."""
        return TppFacet(
            id=TPP_FACET,
            description=f"every request has {', '.join(self.fields)}",
            requires=tuple(
                BindingRequirement(operation=self.lifecycle.create.id, feature="argument", name=one)
                for one in self.fields
            ),
        )

    def check_tpp(self, history: History) -> Iterator[Evidence]:
        """Judge every request that is made."""
        for one in history.exchanges:
            call = one.call
            if call.operation != self.lifecycle.create.id or call.malformed:
                continue
            lacking = [
                name for name in self.fields if call.arguments.get(name) in (None, "", [], {})
            ]
            owed = f"a request with {', '.join(self.fields)}"
            done = f"it has no {', '.join(lacking)}" if lacking else "it has them"
            yield say(TPP_FACET, BROKEN if lacking else KEPT, one, owed, done)


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
    """Return values of all other types than the right one's, each with what it is."""
    every: Mapping[str, Sequence[tuple[str, Json]]] = {
        "text": (("the value as a text", str(right)), ("a text", "x")),
        "number": (("a number", 4711), ("zero", 0)),
        "truth value": (("true", True), ("false", False)),
        "list": (("an empty list", []), ("a list that holds the value", [right])),
        "object": (("an empty object", {}), ("an object that holds it", {"value": right})),
    }
    return [one for kind, values in every.items() if kind != _kind(right) for one in values]


def _bent(control: Call, field: str, right: Json) -> Iterator[Call]:
    """Bend a request in every way that its field can be wrong."""
    yield replace(control, without=(field,), variation=f"{field} is missing")
    nothing: Json = {"list": [], "object": {}}.get(_kind(right), "")
    for what, value in (("null", None), ("empty", nothing), *_others(right)):
        sent = {**control.arguments, field: value}
        yield replace(control, arguments=sent, variation=f"{field} is {what}")


def _types(p: Mandatory, made: Sequence[tracker.Instance]) -> Mapping[str, str]:
    """Return the types of the first request that was accepted with all fields in it."""
    for one in made:
        sent = one.made.call.arguments
        if attempts.taken(one) and not _wrong(p, sent, {}):
            return {field: _kind(sent[field]) for field in p.fields}
    return {}


def _wrong(p: Mandatory, sent: Mapping[str, Json], types: Mapping[str, str]) -> Mapping[str, str]:
    """Return in which ways the fields of a request are wrong, as far as the types are known."""
    ways = {field: _way(sent.get(field, _ABSENT), types.get(field)) for field in p.fields}
    return {field: way for field, way in ways.items() if way}


def _way(value: Json, right: str | None) -> str:
    if value is _ABSENT:
        return "missing"
    if value is None:
        return "null"
    kind = _kind(value)
    if value == "" or (kind == right and kind in {"list", "object"} and not value):
        return "empty"
    return "type" if right is not None and kind != right else ""
