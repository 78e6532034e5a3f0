"""`fixed`: an argument has exactly one valid value, and any other is rejected.

The invalid values are those that the contract names, which a target may know, and some
derived from the valid one, which no target can know. Another spelling (lower case, spaces
around it) is tested only if `spelling` is exact; if it is unspecified, such values are not
judged. `lifecycle.defects` defines when a request counts as accepted, and when a refusal
counts.

Where requests can be changed, and the contract has the argument among those of a change, it
keeps its value: another one is refused, or has no effect on what is shown. The control is
the same change without it, accepted.

The TPP: the field has its one valid value.
`mandatory` covers absent fields. If the spelling is unspecified, the valid value in another
case is not judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.contract.model import Capability, Json, Operation
from assay.contract.scalars import is_word, text_of
from assay.files.document import found
from assay.history import Call, Exchange, History, State, Subject
from assay.rules import parameters, steps
from assay.rules.consequences import LIMIT
from assay.rules.evidence import (
    AGREES,
    DISAGREES,
    UNCLEAR,
    describe_answer,
    tpp_evidence,
)
from assay.rules.lifecycle import request_queries, request_steps
from assay.rules.lifecycle.changes import Change, Phase, change_of
from assay.rules.lifecycle.defects import Defect, DefectRule
from assay.rules.lifecycle.other_values import CASE, OTHER, PADDED, difference, others, spellings
from assay.rules.lifecycle.parameters import check_argument
from assay.rules.lifecycle.tracker import Instance, Tracker
from assay.rules.rule import BindingRequirement, Facet, Scenario, Script, TppFacet, needs
from assay.rules.schema_pieces import ArgumentSchema, SchemaPiece
from assay.rules.scope import Calls, Scope
from assay.rules.verdict import Agreement, Evidence

#: The facet of changes.
STAYS = "stays-when-changed"


_OTHERS: Mapping[str, Json] = {
    "description": "a list of invalid values that are valid elsewhere",
    "type": "array",
    "uniqueItems": True,
    "items": {
        "description": "a text, a number, true or false",
        "type": ["string", "number", "boolean"],
        "minLength": 1,
    },
}


#: The TPP's obligation.
TPP_FACET = "value-kept"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed(DefectRule):
    """A field of a request and its only valid value; `exact` if its spelling matters."""

    name = "fixed"
    refusing_facets = (OTHER, CASE, PADDED)
    scope = Scope(calls=Calls.NAMED)
    purpose = LIMIT
    applies_to = ("makes",)

    field: str = parameters.word(key="field", references=check_argument)
    const: Json = parameters.parameter(
        {
            "description": "the only valid value",
            "type": ["string", "number", "boolean"],
            "minLength": 1,
        },
        lambda value, _: value,
        key="const",
    )
    others: tuple[Json, ...] = parameters.parameter(
        _OTHERS, lambda value, _: tuple(value), key="others"
    )
    exact: bool = parameters.choice(
        "exact",
        "unspecified",
        key="spelling",
        description="exact or unspecified",
        hint="does another spelling of the value count as another value?",
        convert=lambda value: value == "exact",
    )

    def admits(self, request: str, call: Call, subject: Subject | None) -> bool:
        """Whether the field has its one value."""
        concerned = request == self.lifecycle.request.id
        return not concerned or is_word(self.const, call.arguments.get(self.field))

    def schema_pieces(self) -> Iterator[SchemaPiece]:
        """Yield the schema of the field."""
        create = self.lifecycle.create.id
        yield ArgumentSchema(operation=create, argument=self.field, schema={"const": self.const})

    def expects(self, operation: Operation, argument: str, value: Json) -> str:
        """Return the value, for any other one."""
        concerned = operation.request == self.lifecycle.request.id and argument == self.field
        return found(self.const) if concerned and not is_word(self.const, value) else ""

    def fixed_value(self, argument: str) -> Json:
        """Return the value, for the field of this clause."""
        return self.const if argument == self.field else None

    def facets(self) -> tuple[Facet, ...]:
        """Return one facet for other values, and one for each other spelling of the valid one."""
        descriptions = {
            OTHER: f"a request is not accepted with another {self.field}",
            CASE: f"a request is not accepted with {self.const} in lower case",
            PADDED: f"a request is not accepted with spaces around {self.const}",
        }
        facets = {facet for _, facet, _ in _values(self)}
        out = tuple(
            Facet(
                id=facet,
                description=description,
                scenario=Scenario(id="values"),
                needs=needs(Capability.PSU, Capability.WRITE),
                requires=(
                    BindingRequirement(
                        operation=self.lifecycle.create.id, feature="argument", name=self.field
                    ),
                    *self.lifecycle.open_mode_requirement(),
                ),
            )
            for facet, description in descriptions.items()
            if facet in facets
        )
        change = self.lifecycle.change
        if change is None or self.field not in change.arguments:
            return out
        create, varied = self.lifecycle.create, self.lifecycle.changeable_arguments
        changes = Facet(
            id=STAYS,
            description=f"no change gives a request another {self.field}",
            scenario=Scenario(id="changes"),
            needs=needs(Capability.PSU, Capability.WRITE),
            requires=(
                *self.lifecycle.state_requirement(),
                BindingRequirement(
                    operation=create.id, feature="mode", name=self.lifecycle.changeable_mode or ""
                ),
                BindingRequirement(operation=change.id, feature="argument", name=self.field),
                *(
                    BindingRequirement(operation=change.id, feature="other", name=name)
                    for name in varied
                ),
            ),
        )
        return (*out, changes)

    def probe(self, scenario: Scenario) -> Script:
        """Make a request with the valid value, then with each other; read the accepted ones."""
        if scenario.id == "changes":
            yield from _probe_changes(self)
            return
        psu = yield from request_steps.customer(self.lifecycle)
        control = request_steps.request(
            self.lifecycle, psu, self.lifecycle.open_mode, {self.field: self.const}
        )
        yield from steps.send(control)
        for value, _, description in _values(self):
            sent = {**control.arguments, self.field: value}
            call = replace(control, arguments=sent, variation=f"{self.field} is {description}")
            made = yield from steps.send(call)
            yield from request_steps.read(self.lifecycle, made)

    def judged_arguments(self) -> Sequence[str]:
        """Return the field."""
        return (self.field,)

    def defects(self, made: Sequence[Instance]) -> Iterator[Sequence[Defect] | None]:
        """Yield for each request whether its field has an invalid value."""
        why = f"{self.field} must be {self.const!r}"
        for request in made:
            value = request.made.call.arguments.get(self.field)
            facet = _facet(self, value)
            if facet:
                yield (Defect(argument=self.field, facet=facet, why=why),)
            else:
                yield () if is_word(self.const, value) else None

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every request with another value, and every change to one."""
        yield from DefectRule.check(self, history)
        yield from _changes(self, history)

    def tpp_facet(self) -> TppFacet:
        """Return the one obligation of the TPP."""
        return TppFacet(
            id=TPP_FACET,
            description=f"{self.field} is {self.const} in every request",
            requires=(
                BindingRequirement(
                    operation=self.lifecycle.create.id, feature="argument", name=self.field
                ),
            ),
        )

    def check_tpp(self, history: History) -> Iterator[Evidence]:
        """Judge every request that names the field."""
        for exchange in history.exchanges:
            call = exchange.call
            value = call.arguments.get(self.field)
            if (
                call.operation == self.lifecycle.create.id
                and not call.malformed
                and value not in (None, "")
            ):
                judged = _judge(self, value)
                done = "it is" if judged is AGREES else f"it is {value!r}"
                yield tpp_evidence(
                    TPP_FACET, judged, exchange, f"{self.field} is {self.const!r}", done
                )


def _facet(clause: Fixed, value: Json) -> str:
    """Return the facet that an invalid value tests; "" if none does."""
    facet = difference(clause.const, value)
    return facet if clause.exact or facet == OTHER else ""


def _values(clause: Fixed) -> Sequence[tuple[Json, str, str]]:
    """Return the invalid values to try, each with its facet and a description."""
    described = [(value, repr(value)) for value in _others(clause)]
    described += spellings(clause.const)
    facets = {repr(value): (value, _facet(clause, value), text) for value, text in described}
    return [tried for tried in facets.values() if tried[1]]


def _others(clause: Fixed) -> Sequence[Json]:
    """Return the values that the contract names as invalid, and some like the valid one."""
    return (*clause.others, *others(clause.const))


def _probe_changes(clause: Fixed) -> Script:
    """Change a request, also to each other value of the field, and read it each time."""
    lifecycle = clause.lifecycle
    psu = yield from request_steps.customer(lifecycle)
    mode = lifecycle.changeable_mode
    for value in _others(clause)[:1]:
        made = yield from steps.send(request_steps.request(lifecycle, psu, mode))
        for sent in ({clause.field: value}, {}):
            call = request_steps.call_about(lifecycle.change, made, **sent)
            if call is not None:
                words = f"{clause.field} is to be changed to {value!r}" if sent else ""
                varied = lifecycle.changeable_arguments
                yield from steps.send(replace(call, varied=varied, variation=words))
                yield from request_steps.read(lifecycle, made)


def _changes(clause: Fixed, history: History) -> Iterator[Evidence]:
    """Judge changes that name another value, beside the same change without it."""
    book, facets = Tracker(lifecycle=clause.lifecycle), list[Change]()
    for event in history.events:
        change = change_of(clause.lifecycle, book, event)
        if change is not None and change.untouched and change.phase is Phase.UNSIGNED:
            facets.append(change)
        book.note(event)
    apart = {request.key for request in request_queries.with_own_key(book)}
    taken = {
        (change.request.key, _besides(clause, change)): change.exchange
        for change in facets
        if clause.field not in change.exchange.call.arguments and change.exchange.accepted
    }
    for change in facets:
        if change.request.key in apart and _facet(clause, change.new.get(clause.field)) == OTHER:
            control = taken.get((change.request.key, _besides(clause, change)))
            yield from _changed(clause, change, control)


def _besides(clause: Fixed, change: Change) -> str:
    """Return what a change asks for besides the field."""
    sent = change.exchange.call.compared
    return repr(sorted((name, repr(value)) for name, value in sent.items() if name != clause.field))


def _changed(clause: Fixed, change: Change, control: Exchange | None) -> Iterator[Evidence]:
    exchange, value = change.exchange, change.new[clause.field]
    later = (read for read in change.request.reads if read.n > exchange.n and read.item)
    read = next(later, None)
    item = read.item if read else None
    shown = item.fields.get(clause.field) if item else None
    over = item is not None and item.state is State.REJECTED
    if shown is not None and not over and request_queries.same_value(shown, value):
        agreement = DISAGREES
    elif exchange.accepted:
        kept = shown is not None and request_queries.same_value(shown, clause.const)
        agreement = AGREES if kept or over else UNCLEAR
    elif control is None:
        return
    elif request_queries.was_refused(exchange):
        agreement = AGREES
    else:
        agreement = DISAGREES if change.failed else UNCLEAR
    beside = (exchange.n for exchange in (control, read) if exchange is not None)
    yield Evidence(
        facet=STAYS,
        agreement=agreement,
        expected=f"a refusal, or that {clause.field} stays {clause.const!r}",
        seen=describe_answer(exchange) + (f"; it shows {shown!r}" if shown is not None else ""),
        exchanges=tuple(sorted({*change.numbers, *beside})),
        variation=exchange.call.variation,
        decisive=exchange.n,
        controls=(control.n,) if control else (),
    )


def _judge(clause: Fixed, value: Json) -> Agreement:
    if is_word(clause.const, value):
        return AGREES
    right = text_of(clause.const).casefold()
    alike = isinstance(value, str) and value.strip().casefold() == right
    return UNCLEAR if alike and not clause.exact else DISAGREES
