"""`fixed`: a field has one value that is right, and a request with any other is refused.

The other values are those that the contract names, which a target may well know, and
some that are made from the right one, so that a target cannot know them. Whether another
spelling (small letters, blanks around it) is another value is asked only where `spelling`
is exact; where it is unspecified, such values are nobody's matter. What became of a
request that was accepted, and what it takes for a refusal to count, is said in `bent`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from assay.contract.model import Capability, Clause, Contract, Json, Party
from assay.history import History
from assay.judging.verdict import Evidence
from assay.rules import parameters, steps
from assay.rules.lifecycle import attempts, request_steps, tracker
from assay.rules.rule import BindingRequirement, Facet, Rule, Script, needs

#: The ways in which a value can be another one.
OTHER, CASE, PADDED = "other-value", "lower-case", "padded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The request, its field, and what stands there; `exact` where spelling matters."""

    lifecycle: tracker.Lifecycle
    field: str
    const: str
    others: tuple[str, ...]
    exact: bool


def parse(clause: Clause, contract: Contract) -> Params:
    """Read the clause's parameters."""
    return Params(
        lifecycle=tracker.of_clause(clause, contract),
        field=parameters.text(clause, "field"),
        const=parameters.text(clause, "const"),
        others=parameters.texts(clause, "others"),
        exact=parameters.text(clause, "spelling") == "exact",
    )


def facets(p: Params) -> tuple[Facet, ...]:
    """One facet for other values, and one for each way of spelling the right one otherwise."""
    asks = {
        OTHER: f"a request with another {p.field} is not accepted",
        CASE: f"nor is one with {p.const} in small letters",
        PADDED: f"nor is one with blanks around {p.const}",
    }
    asked = {facet for facet, _ in _values(p).values()}
    return tuple(
        Facet(
            id=facet,
            description=says,
            scenario="values",
            needs=needs(Capability.PSU, Capability.WRITE),
            requires=(
                BindingRequirement(
                    operation=p.lifecycle.create.id, feature="argument", name=p.field
                ),
            ),
        )
        for facet, says in asks.items()
        if facet in asked
    )


def _facet(p: Params, value: Json) -> str:
    """Return the way in which a value is not the right one; nothing where that is not asked."""
    if not isinstance(value, str) or not value.strip() or value == p.const:
        return ""
    if value.strip().casefold() != p.const.strip().casefold():
        return OTHER
    if not p.exact:
        return ""
    if value.casefold() == p.const.casefold():
        return CASE
    return PADDED if value.strip() == p.const.strip() else ""


def _values(p: Params) -> Mapping[str, tuple[str, str]]:
    """Return all values that are not right, each with its facet and what it is in words."""
    every = {
        **{one: repr(one) for one in (*p.others, *_alike(p.const))},
        p.const.lower(): f"{p.const} in small letters",
        f" {p.const}": f"{p.const} after a blank",
        f"{p.const} ": f"{p.const} before a blank",
        f"{p.const}\n": f"{p.const} before the end of a line",
    }
    return {value: (facet, says) for value, says in every.items() if (facet := _facet(p, value))}


def _alike(text: str) -> Iterator[str]:
    """Make texts that differ from one wholly, at its ends, in its order, or in its length."""
    yield "".join(map(_next, text))
    yield text[:-1] + _next(text[-1])
    yield _next(text[0]) + text[1:]
    yield text[::-1]
    yield text + text[-1]
    yield text[:-1]


def _next(letter: str) -> str:
    """Return the next letter or digit of the same sort; anything else stays."""
    for first, last in ("AZ", "az", "09"):
        if first <= letter <= last:
            return first if letter == last else chr(ord(letter) + 1)
    return letter


def price(p: Params, scenario: str) -> int:
    """Count the calls: the control, and one for each value."""
    return 1 + len(_values(p))


def probe(p: Params, scenario: str) -> Script:
    """Make a request with the right value, and then with all others; read what was accepted."""
    psu = yield from request_steps.customer(p.lifecycle)
    control = request_steps.request(p.lifecycle, psu, arguments={p.field: p.const})
    yield from steps.send(control)
    for value, (_, says) in _values(p).items():
        sent = {**control.arguments, p.field: value}
        call = replace(control, arguments=sent, variation=f"{p.field} is {says}")
        made = yield from steps.send(call)
        yield from request_steps.read(p.lifecycle, made)


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every request whose field is a text other than the right one."""
    made = tuple(tracker.follow(history, p.lifecycle))
    controls = {
        attempts.frame(one, p.field): one
        for one in made
        if _sent(p, one) == p.const and attempts.control(one)
    }
    for one in made:
        facet = _facet(p, _sent(p, one))
        beside = controls.get(attempts.frame(one, p.field))
        why = f"{p.field} must be {p.const!r}"
        found = attempts.judge(facet, one, beside, why) if facet else None
        if found is not None:
            yield found


def _sent(p: Params, request: tracker.Instance) -> Json:
    return request.made.call.arguments.get(p.field)


RULE = Rule(
    kind="fixed",
    party=Party.BANK,
    parse=parse,
    facets=facets,
    price=price,
    probe=probe,
    check=check,
)
