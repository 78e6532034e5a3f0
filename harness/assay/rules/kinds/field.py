"""`field`: what stands in a field of every item: a constant, one of a set, a format.

Every item of every page of everything the customer owns is judged, for the odd
one is on the last page of the second account. A mandatory field that is missing
is a facet of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from assay.contract.model import Capability, Clause, Contract, Json, Operation, Party
from assay.history import Call, Exchange, History, Holding, Item
from assay.judging.verdict import Evidence
from assay.rules import parameters, steps
from assay.rules.formats import FORMATS
from assay.rules.queries import AGREES, DISAGREES, kinds
from assay.rules.rule import BindingRequirement, Facet, Rule, Script, consent, needs

#: Things owned of each resource, and entries below the second: two pages of both.
EACH, MANY, FEW = 3, 18, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The field, the resources that carry it, and what may stand there."""

    field: str
    resources: tuple[str, ...]
    allowed: Mapping[str, tuple[str, Callable[[Json], bool]]]
    mandatory: bool
    grant: Operation | None
    contract: Contract

    def operation(self, resource: str) -> Operation:
        """Return the operation that lists a resource."""
        return next(one for one in self.contract.operations.values() if resource in one.lists)

    @property
    def owners(self) -> tuple[str, ...]:
        """Return the resources that must be owned for all this to be seen."""
        named = {self.contract.resources[one].of or one for one in self.resources}
        return tuple(one.id for one in steps.roots(self.contract) if one.id in named)


def _allowed(clause: Clause, resource: str) -> tuple[str, Callable[[Json], bool]]:
    if "const" in clause.params:
        const = clause.params["const"]
        return repr(const), lambda value: value == const
    if "enum" in clause.params:
        values = parameters.texts(clause, "enum")
        return f"one of {', '.join(values)}", lambda value: value in values
    form = str(parameters.mapping(clause, "format")[resource])
    return f"the format {form}", FORMATS[form]


def parse(clause: Clause, contract: Contract) -> Params:
    """Read the clause's parameters."""
    resources = parameters.texts(clause, "resources")
    return Params(
        field=parameters.text(clause, "field"),
        resources=resources,
        allowed={resource: _allowed(clause, resource) for resource in resources},
        mandatory=clause.params.get("mandatory") is True,
        grant=parameters.granting(clause, contract),
        contract=contract,
    )


def facets(p: Params) -> tuple[Facet, ...]:
    """One facet a resource for the value, one for its being there if it must."""
    out: list[Facet] = []
    consented = consent(p.grant) if any(one.about for one in _listed(p)) else needs()
    for resource in p.resources:
        want = BindingRequirement(operation=p.operation(resource).id, feature="field", name=p.field)
        words, _ = p.allowed[resource]
        asked = [(resource, f"{p.field} of every {resource} is {words}")]
        if p.mandatory:
            asked.append((f"{resource}-present", f"every {resource} has {p.field}"))
        out += [
            Facet(
                id=id_,
                description=asks,
                scenario="everything",
                needs=needs(Capability.PSU) | consented,
                requires=(want,),
            )
            for id_, asks in asked
        ]
    return tuple(out)


def _listed(p: Params) -> tuple[Operation, ...]:
    """Return the operations to call, each once, in the contract's order."""
    named = {p.operation(resource).id for resource in p.resources}
    return tuple(one for one in p.contract.operations.values() if one.id in named)


def _page_size(p: Params, operation: Operation) -> int:
    """Return the page size that the contract states for an operation, or no end."""
    for clause in p.contract.clauses:
        if clause.kind == "pagination" and clause.params["operation"] == operation.id:
            return parameters.whole(clause, "size")
    return 10**9


def _most(p: Params, operation: Operation) -> int:
    """Return how many pages what the probe asks for fills; customers may have far more."""
    size = _page_size(p, operation)
    items = MANY if operation.about else EACH * len(p.owners)
    return -(-items // size) if size < items else steps.MOST_PAGES


def price(p: Params, scenario: str) -> int:
    """Count the calls of a bank that keeps the contract's page sizes."""
    calls = 0
    for operation in _listed(p):
        size = _page_size(p, operation)
        if operation.about:
            owners = [owner for owner in p.owners if p.contract.children(owner, operation.id)]
            pages = sum(-(-(MANY if n == 1 else FEW) // size) for n in range(EACH))
            calls += len(owners) * pages
        else:
            calls += -(-EACH * len(p.owners) // size)
    return calls + (1 if p.grant and any(one.about for one in _listed(p)) else 0)


def probe(p: Params, scenario: str) -> Script:
    """Own several of each, consent to all, and read every page of everything."""
    today = (yield from steps.clock()).date()
    few = steps.days_before(today, *range(1, FEW + 1))
    many = steps.days_before(today, *range(1, MANY + 1))
    holdings = [
        Holding(resource=owner, entries=many if n == 1 else few)
        for owner in p.owners
        for n in range(EACH)
    ]
    psu = yield from steps.arrange("psu", *holdings)
    if any(one.about for one in _listed(p)):
        yield from steps.grant(p.grant, "psu", *(one.key for one in psu.owns))
    for operation in _listed(p):
        asked: list[dict[str, Json]] = [{}]
        if operation.about:
            asked = [
                dict(steps.arguments(operation, one.key))
                for one in psu.owns
                if p.contract.children(one.resource, operation.id)
            ]
        for arguments in asked:
            call = Call(operation=operation.id, subject="psu", arguments=arguments)
            yield from steps.walk(call, most=_most(p, operation))


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every item of every accepted answer."""
    known = kinds(history, p.contract)
    for exchange in history.exchanges:
        operation = p.contract.operations.get(exchange.call.operation)
        if exchange.accepted and operation and operation.lists:
            yield from _judge(p, operation, exchange, known)


def _judge(
    p: Params, operation: Operation, exchange: Exchange, known: Mapping[str, str]
) -> Iterator[Evidence]:
    about = str(exchange.call.arguments.get(operation.about or "", ""))
    below = p.contract.children(known.get(about, ""), operation.id)
    sorted_: dict[str, list[Item]] = {}
    for item in exchange.items:
        resource = item.resource or below
        if resource in p.resources:
            sorted_.setdefault(resource, []).append(item)
    for resource, items in sorted_.items():
        words, allowed = p.allowed[resource]
        named = (item.fields.get(p.field) for item in items)
        there = [value for value in named if value not in (None, "")]
        wrong = [value for value in there if not allowed(value)]
        if there:
            yield Evidence(
                facet=resource,
                agreement=DISAGREES if wrong else AGREES,
                expected=f"{p.field} to be {words}",
                seen=f"{wrong[0]!r}" if wrong else f"so in {len(there)} items",
                exchanges=(exchange.n,),
            )
        if p.mandatory:
            lacking = len(items) - len(there)
            yield Evidence(
                facet=f"{resource}-present",
                agreement=DISAGREES if lacking else AGREES,
                expected=f"{p.field} in each of {len(items)} items",
                seen=f"missing in {lacking}" if lacking else "it is there",
                exchanges=(exchange.n,),
            )


RULE = Rule(
    kind="field",
    party=Party.BANK,
    parse=parse,
    facets=facets,
    price=price,
    probe=probe,
    check=check,
)
