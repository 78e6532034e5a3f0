"""`field`: the values that a field of every item may have, or that it is there at all.

Every item on every page of every resource of the customer is judged, because faults hide on the
last page of the second account; of a request, every answer about it. The absence of a mandatory
field is a facet of its own; of a request, it is absent from the answer that reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from assay.contract.model import Capability, Json, Operation
from assay.contract.scalars import same, text_of
from assay.files.document import Finding, Pointer
from assay.history import Call, Exchange, History, Holding, Item, Subject
from assay.rules import parameters, steps, text_shape
from assay.rules.facets import Facts, FieldSchema, Schema, SchemaPiece
from assay.rules.formats import BY_RESOURCE, FAULTS, FORMATS, LOOKALIKES, OPEN, RECURRING, SEVERAL
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.tracker import lifecycle_of_request
from assay.rules.parameters import VALUES, Raw, all_known, known
from assay.rules.queries import bare, has_value, is_part, resources_by_key
from assay.rules.rule import (
    Calls,
    Facet,
    Kind,
    Purpose,
    Scenario,
    Scope,
    Script,
    bound,
    clauses_of,
    consent,
    facts_of,
    needs,
)
from assay.rules.text_shape import TextShape
from assay.rules.verdict import AGREES, DISAGREES, UNCLEAR, Evidence, doubt

#: How many of each resource the customer owns, and their entries: two pages of both.
EACH, MANY, FEW = 3, 18, 2


def _completed(at: Pointer, value: Sequence[str], clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find resources whose lists cannot have each value, since the clause names none or they have no owner."""
    yield from all_known(at, value, clause["resources"], "resource of the clause")
    if "enum" not in clause:
        yield at, "the clause does not list the values", "add `enum`"
    for index, name in enumerate(value):
        if name in raw["resources"] and "of" not in raw["resources"][name]:
            yield (*at, index), f"{name!r} belongs to no other resource", "remove it"


def _formats(at: Pointer, value: Raw, clause: Raw, _raw: Raw) -> Iterator[Finding]:
    """Find fault with formats of other resources than the clause's, and with missing ones."""
    for name in value:
        yield from known((*at, name), name, clause["resources"], "resource")
    for name in clause["resources"]:
        if name not in value:
            yield at, f"there is no format for {name!r}", f"add `{name}: ...`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Field(Kind):
    """A field, the resources that carry it, and the values that it may have."""

    name = "field"
    scope = Scope(calls=Calls.CONTRACT)
    purpose = Purpose.PROMISE
    at_least_one_of = ("const", "enum", "format", "pattern", "mandatory")
    at_most_one_of = ("const", "enum", "format", "pattern")

    field: str = parameters.word(key="field")
    resources: tuple[str, ...] = parameters.resources()
    const: Json = parameters.parameter(
        {"description": "the only valid value", "type": ["string", "number", "boolean"]},
        lambda value, _: value,
        key="const",
        required=False,
    )
    enum: tuple[Json, ...] = parameters.parameter(
        VALUES, lambda value, _: tuple(value), key="enum", required=False, default=()
    )
    format: Mapping[str, str] = parameters.parameter(
        BY_RESOURCE,
        lambda value, _: dict(value),
        key="format",
        references=_formats,
        required=False,
        default={},
    )
    pattern: str = text_shape.pattern()
    mandatory: bool = parameters.flag(key="mandatory")
    complete: tuple[str, ...] = parameters.names(
        parameters.ref("names"), key="complete", references=_completed, required=False
    )
    grant: Operation | None = parameters.grant()

    def operation(self, resource: str) -> Operation:
        """Return the operation that lists a resource, or reads one that is made."""
        every = self.contract.operations.values()
        return next(each for each in every if resource in (*each.lists, each.shows))

    def _showing(self, resource: str) -> tuple[Kind, ...]:
        """Return the clauses by which only some answers have the field of a resource."""
        named = [self.operation(resource).id] if resource in self.resources else []
        return tuple(
            each
            for id_ in named
            if (id_, self.field) in facts_of(self.contract).conditional_fields
            for each in clauses_of(self.contract)
            if (id_, self.field) in each.facts().conditional_fields
        )

    @property
    def unrestricted(self) -> bool:
        """Whether the clause says nothing of the value, only that there is one."""
        return self.const is None and not (self.enum or self.format or self.pattern)

    @property
    def owners(self) -> tuple[str, ...]:
        """Return the resources that the customer must own for all items to appear."""
        named = {self.contract.resources[resource].of or resource for resource in self.resources}
        return tuple(root.id for root in steps.roots(self.contract) if root.id in named)

    def schema_pieces(self) -> Iterator[SchemaPiece]:
        """Yield the allowed values of the field for each resource."""
        for resource in self.resources:
            yield FieldSchema(
                resource=resource,
                field=self.field,
                schema=self._schema(resource),
                mandatory=self.mandatory and not self._showing(resource),
            )

    def facts(self) -> Facts:
        """Return the constant, or the values listed, and where there is an IBAN."""
        named = self.enum or (() if self.const is None else (self.const,))
        allowed = {(resource, self.field): (named,) for resource in self.resources if named}
        ibans = [(resource, self.field) for resource, form in self.format.items() if form == "iban"]
        return Facts(allowed_values=allowed, iban_fields=frozenset(ibans))

    def facets(self) -> tuple[Facet, ...]:
        """Return a facet for the value in each resource, and one for its presence if mandatory."""
        out: list[Facet] = []
        consented = (
            consent(self.grant) if any(operation.about for operation in self._listed()) else needs()
        )
        for resource in self.resources:
            requirement = bound(self.operation(resource), "field", self.field)
            allowed, _ = self._allowed(resource)
            text = f"{self.field} of every {resource} is {allowed}"
            descriptions = [] if self.unrestricted else [(resource, text)]
            made = self.operation(resource).shows == resource
            shown = [each.facets()[0] for each in self._showing(resource)[:1]]
            if resource in self.complete:
                named = ", ".join(map(text_of, self.enum))
                each = f"every list of what belongs to one thing has {resource}s with {named}"
                descriptions.append((f"{resource}-each", each))
            if self.mandatory:
                descriptions.append((f"{resource}-present", f"every {resource} has {self.field}"))
            out += [
                Facet(
                    id=id_,
                    description=description,
                    scenario=Scenario(id=resource if made or shown else "everything"),
                    needs=needs(Capability.PSU, Capability.WRITE)
                    if made
                    else needs(Capability.PSU).union(consented, *(each.needs for each in shown)),
                    requires=(*requirement, *(each for facet in shown for each in facet.requires)),
                    not_applicable_because=_SOMETIMES if shown and id_ != resource else "",
                )
                for id_, description in descriptions
            ]
        return tuple(out)

    def probe(self, scenario: Scenario) -> Script:
        """Own several of each resource, consent to all, and read every page; or make a request."""
        if showing := self._showing(scenario.id):
            yield from showing[0].probe(showing[0].facets()[0].scenario)
            return
        if scenario.id in self.resources:
            lifecycle = lifecycle_of_request(self.contract, scenario.id)
            customer = yield from request_steps.customer(lifecycle)
            for mode in dict.fromkeys([lifecycle.mode, *lifecycle.deferred_modes[:1]]):
                made = yield from steps.send(request_steps.request(lifecycle, customer, mode))
                yield from request_steps.read(lifecycle, made)
            return
        today = (yield from steps.clock()).date()
        few = steps.days_before(today, *range(1, FEW + 1))
        many = steps.days_before(today, *range(1, MANY + 1))
        # Of another resource than the first, the last thing has no entries: its list is empty.
        holdings = [
            Holding(resource=owner, entries=entries)
            for n, owner in enumerate(self.owners)
            for entries in (few, many, () if n else few)
        ]
        psu = yield from steps.arrange("psu", *holdings)
        if any(operation.about for operation in self._listed()):
            yield from steps.grant(self.grant, "psu", *(owned.key for owned in psu.owns))
        for operation in self._listed():
            questions: list[dict[str, Json]] = [{}]
            if operation.about:
                questions = [
                    dict(steps.arguments(operation, owned.key))
                    for owned in psu.owns
                    if self.contract.children(owned.resource, operation.id)
                ]
            for arguments in questions:
                call = Call(operation=operation.id, subject="psu", arguments=arguments)
                yield from steps.walk(call, most=self._most(operation, psu))

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every item of every accepted answer."""
        known = resources_by_key(history, self.contract)
        shown = [
            (exchange, resource, items)
            for exchange in history.exchanges
            for resource, items in self._items_by_resource(exchange, known).items()
        ]
        doubtful = {
            resource
            for _, resource, items in shown
            if any(self._is_lookalike(resource, item) for item in items)
        }
        for exchange, resource, items in shown:
            yield from self._judge(exchange, resource, items, doubtful=resource in doubtful)
        for resource in dict.fromkeys(resource for _, resource, _ in shown):
            yield from self._judge_all(
                resource, [(exchange.n, items) for exchange, of, items in shown if of == resource]
            )

    def _judge_all(
        self, resource: str, shown: Sequence[tuple[int, Sequence[Item]]]
    ) -> Iterator[Evidence]:
        """Judge what several values of a resource show together, each of which may be chance."""
        holds, what = RECURRING.get(self.format.get(resource, ""), (None, ""))
        values = [item.fields.get(self.field) for _, items in shown for item in items]
        if holds and all(map(holds, values)) and len({*map(str, values)}) >= SEVERAL:
            yield Evidence(
                facet=resource,
                agreement=DISAGREES,
                expected=f"{self.field} to be {self._allowed(resource)[0]}",
                seen=f"each of {len({*map(str, values)})} values has {what}",
                exchanges=tuple(n for n, _ in shown),
            )

    def _schema(self, resource: str) -> Schema:
        """Return the allowed values of the field in a resource, as JSON Schema."""
        if self.unrestricted:
            return {"not": {"enum": list(_NOTHING)}}
        if self.const is None and not self.enum:
            schema: Schema = {"type": "string", "minLength": 1} | (
                {"pattern": self.pattern} if self.pattern else {"format": self.format[resource]}
            )
            return schema if self.mandatory else {"anyOf": [schema, {"enum": list(_NOTHING)}]}
        values: list[Json] = list(self.enum) or [self.const]
        if self.mandatory and len(values) == 1:
            return {"const": values[0]}
        return {"enum": [*values, *(() if self.mandatory else _NOTHING)]}

    def _allowed(self, resource: str) -> tuple[str, Callable[[Json], bool | None]]:
        """Return the allowed values of the field in a resource, in words and as a predicate."""
        if self.const is not None:
            return repr(self.const), lambda value: _is_constant(self.const, value)
        if self.enum:
            named = ", ".join(map(text_of, self.enum))
            return f"one of {named}", partial(_is_one_of, self.enum)
        if self.pattern:
            shape = TextShape(pattern=self.pattern)
            return str(shape), shape.fits
        if not self.format:
            return "any value", has_value
        form = self.format[resource]
        return f"in the format {form}", FORMATS[form]

    def _listed(self) -> tuple[Operation, ...]:
        """Return the operations to call, in the contract's order."""
        named = {self.operation(resource).id for resource in self.resources}
        return tuple(
            operation
            for operation in self.contract.operations.values()
            if operation.id in named and operation.lists
        )

    def _most(self, operation: Operation, psu: Subject) -> int:
        """Return the number of pages that the probe's items fill; real customers may have more."""
        size = (psu.fresh or operation.about) and facts_of(self.contract).page_sizes.get(
            operation.id
        )
        items = MANY if operation.about else EACH * len(self.owners)
        return -(-items // size) if size and size < items else steps.MOST_PAGES

    def _items_by_resource(
        self, exchange: Exchange, known: Mapping[str, str]
    ) -> Mapping[str, Sequence[Item]]:
        operation = self.contract.operations.get(exchange.call.operation)
        if not exchange.accepted or operation is None:
            return {}
        if operation.request in self.resources and not operation.lists:
            return {operation.request: exchange.items} if exchange.items else {}
        about = str(exchange.call.arguments.get(operation.about or "", ""))
        below = (
            self.contract.children(known.get(about, ""), operation.id) if operation.lists else None
        )
        if len(operation.lists) == 1:
            below = operation.lists[0]
        sorted_: dict[str, list[Item]] = {}
        for item in exchange.items:
            resource = item.resource or below
            if resource in self.resources:
                sorted_.setdefault(resource, []).append(item)
        return sorted_

    def _is_lookalike(self, resource: str, item: Item) -> bool:
        """Whether a valid value looks as if an invalid one could be valid as well."""
        value, form = item.fields.get(self.field), self.format.get(resource, "")
        return form in LOOKALIKES and LOOKALIKES[form](value) and FORMATS[form](value)

    def _describe(self, resource: str, value: Json) -> str:
        """Describe a wrong value; a report masks the value, and not what is wrong with it."""
        form = self.format.get(resource, "")
        fault = FAULTS[form](value) if form in FAULTS else ""
        return f"{value!r}: {fault}" if fault else f"{value!r}"

    def _judge(
        self, exchange: Exchange, resource: str, items: Sequence[Item], *, doubtful: bool
    ) -> Iterator[Evidence]:
        description, allowed = self._allowed(resource)
        having = [item for item in items if item.fields.get(self.field) not in (None, "")]
        there = [item.fields[self.field] for item in having]
        there_or_open = [(value, allowed(value)) for value in there]
        wrong = [value for value, good in there_or_open if good is False]
        is_wrong = (item for item in having if allowed(item.fields[self.field]) is False)
        is_open, why = OPEN.get(self.format.get(resource, ""), (None, ""))
        open_ = why if is_open and any(map(is_open, there)) else ""
        if there and not self.unrestricted and (wrong or all(good for _, good in there_or_open)):
            evidence = Evidence(
                facet=resource,
                agreement=DISAGREES if wrong else UNCLEAR if open_ else AGREES,
                expected=f"{self.field} to be {description}",
                seen=self._describe(resource, wrong[0])
                if wrong
                else open_ or f"as expected in {len(there)} items",
                exchanges=(exchange.n,),
                member=exchange.member_of(next(is_wrong, None), "field", self.field),
            )
            yield (
                doubt(evidence, "some items have a similar value that is not valid")
                if doubtful
                else evidence
            )
        operation = self.contract.operations[exchange.call.operation]
        whole = operation.about and bare(exchange.call, operation) and not is_part(exchange)
        if whole and resource in self.complete:
            unseen = [word for word in self.enum if not any(_is_constant(word, v) for v in there)]
            yield Evidence(
                facet=f"{resource}-each",
                agreement=DISAGREES if unseen else AGREES,
                expected=f"{self.field} to be each of {', '.join(map(text_of, self.enum))}",
                seen=f"missing: {', '.join(map(text_of, unseen))}" if unseen else "each of them",
                exchanges=(exchange.n,),
            )
        if self.mandatory and (operation.lists or self.operation(resource) == operation):
            lacking = len(items) - len(there)
            lacks = (item for item in items if item.fields.get(self.field) in (None, ""))
            yield Evidence(
                facet=f"{resource}-present",
                agreement=DISAGREES if lacking else AGREES,
                expected=f"{self.field} in each of {len(items)} items",
                seen=f"missing in {lacking}" if lacking else "present",
                exchanges=(exchange.n,),
                member=exchange.member_of(next(lacks, None), "field", self.field),
            )


#: Why a field is not in every answer.
_SOMETIMES = "under another rule, only some answers have the field"
#: Values that count as absent.
_NOTHING: tuple[Json, ...] = (None, "")


def _is_constant(word: Json, value: Json) -> bool:
    """Whether a value is the constant; "true" in quotes stands for the truth value, too."""
    return same(word, value) or (isinstance(value, bool) and word == text_of(value))


def _is_one_of(words: Sequence[Json], value: Json) -> bool:
    return any(_is_constant(word, value) for word in words)
