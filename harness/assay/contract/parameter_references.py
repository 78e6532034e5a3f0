"""Whether a name is known: the one question that all references ask.

What the known names are is for those who ask.

What the condition of a decision refers to: arguments of the request, and factors.

What the parameters of rules refer to, by the name of the parameter.

A parameter means the same in every kind that has it. What only one kind can know is
asked by the rule of that kind.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from assay.contract.files.document import Finding, Pointer, found
from assay.errors import did_you_mean

#: A part of a contract that has the right shape.
Raw: TypeAlias = Mapping[str, Any]


def known(at: Pointer, name: str, names: Collection[str], noun: str) -> Iterator[Finding]:
    """Find fault with a name that is not among the names."""
    if name not in names:
        hint = did_you_mean(name, names) or f"the contract names no {noun}"
        yield at, f"there is no {noun} {found(name)}", hint


def all_known(
    at: Pointer, wanted: Sequence[str], names: Collection[str], noun: str
) -> Iterator[Finding]:
    """Find fault with each of a list of names that is not among the names."""
    for index, name in enumerate(wanted):
        yield from known((*at, index), name, names, noun)


#: What holds further conditions, and the keys whose values are arguments.
_PARTS: Final = ("all", "any")
_ARGUMENTS: Final = ("field", "registered")
#: The table of a condition doubles with each atom.
_MOST: Final = 8


def when(at: Pointer, value: Raw, rule: Raw, raw: Raw) -> Iterator[Finding]:
    """Find fault with a condition."""
    every: Mapping[str, Raw] = raw["operations"]
    request = rule.get("request")
    makes = next((one for one in every.values() if one.get("makes") == request), None)
    factors = {
        name
        for one in raw["rules"]
        if one["kind"] == "factors" and one.get("request") == request
        for names in one["offered"].values()
        for name in names
    }
    atoms = list(_atoms(at, value))
    for where, atom in atoms:
        for key in _ARGUMENTS:
            if key in atom and makes is not None:
                yield from known((*where, key), atom[key], makes.get("arguments", ()), "argument")
        if "factor" in atom and factors:
            yield from known((*where, "factor"), atom["factor"], factors, "factor")
    if len({tuple(sorted(atom.items())) for _, atom in atoms}) > _MOST:
        yield at, f"there are more than {_MOST} atoms", "write several rules"


def _atoms(at: Pointer, node: Raw) -> Iterator[tuple[Pointer, Raw]]:
    parts = [(key, n, one) for key in _PARTS for n, one in enumerate(node.get(key, ()))]
    if parts:
        for key, n, one in parts:
            yield from _atoms((*at, key, n), one)
    elif "not" in node:
        yield from _atoms((*at, "not"), node["not"])
    else:
        yield at, node


#: Where it stands, its value, the rule and the whole contract -> what is wrong.
_Reference: TypeAlias = Callable[[Pointer, Any, Raw, Raw], Iterator[Finding]]


def _operation(at: Pointer, name: str, rule: Raw, raw: Raw) -> Iterator[Finding]:
    yield from known(at, name, raw["operations"], "operation")
    offered = raw["operations"].get(name, {}).get("available", True)
    if name in raw["operations"] and at[-1] == "operation":
        if rule["kind"] == "unavailable" and offered:
            hint = f"add `available: false` to operations.{name}"
            yield at, f"the operation {name!r} is available", hint
        elif rule["kind"] != "unavailable" and not offered:
            hint = "only a rule of kind unavailable can be about it"
            yield at, f"the operation {name!r} is not available", hint


#: How an operation can be about a request that was made.
_ABOUT: Final = ("shows", "changes", "ends")


def _operations(at: Pointer, names: list[str], rule: Raw, raw: Raw) -> Iterator[Finding]:
    yield from all_known(at, names, raw["operations"], "operation")
    for index, name in enumerate(names):
        one = raw["operations"].get(name)
        if one is None:
            continue
        if not one.get("available", True):
            hint = "only a rule of kind unavailable can be about it"
            yield (*at, index), f"the operation {name!r} is not available", hint
        elif rule["kind"] in {"consent-scope", "addressed"} and "about" not in one:
            hint = f"add `about` to operations.{name}, or leave it out here"
            yield (*at, index), f"{name!r} is not asked about one thing", hint
        elif rule["kind"] == "addressed" and rule["request"] not in map(one.get, _ABOUT):
            hint = f"add `shows`, `changes` or `ends` to operations.{name}, or leave it out here"
            yield (*at, index), f"{name!r} is about no {rule['request']!r}", hint


def _grant(at: Pointer, name: str, _rule: Raw, raw: Raw) -> Iterator[Finding]:
    yield from known(at, name, raw["operations"], "operation")
    if name in raw["operations"] and "grants" not in raw["operations"][name]:
        hint = f"add `grants`, the argument that says for what, to operations.{name}"
        yield at, f"the operation {name!r} transmits no consent", hint


def _resource(at: Pointer, name: str, rule: Raw, raw: Raw) -> Iterator[Finding]:
    yield from known(at, name, raw["resources"], "resource")
    lists = raw["operations"].get(rule.get("operation"), {}).get("lists", [name])
    if name in raw["resources"] and name not in lists:
        yield at, f"{rule['operation']!r} does not list {name!r}", did_you_mean(name, lists)


def _resources(at: Pointer, names: list[str], rule: Raw, raw: Raw) -> Iterator[Finding]:
    yield from all_known(at, names, raw["resources"], "resource")
    wanted = str(rule.get("field"))
    for index, name in enumerate(names):
        fields = raw["resources"].get(name, {"fields": [wanted]}).get("fields", ())
        if wanted not in fields:
            hint = did_you_mean(wanted, fields) or f"resources.{name}.fields is empty"
            yield (*at, index), f"{name!r} has no field {wanted!r}", hint
        elif not any(name in one.get("lists", ()) for one in raw["operations"].values()):
            yield (*at, index), f"no operation lists {name!r}", "add it to the lists of one"


def _traits(at: Pointer, names: list[str], rule: Raw, raw: Raw) -> Iterator[Finding]:
    one = raw["resources"].get(rule["resource"])
    if one:
        yield from all_known(at, names, one.get("traits", {}), "trait")


def _recent(at: Pointer, value: Raw, rule: Raw, raw: Raw) -> Iterator[Finding]:
    one = raw["resources"].get(rule["resource"])
    if one:
        yield from known((*at, "trait"), value["trait"], one.get("traits", {}), "trait")


def _format(at: Pointer, value: Raw, rule: Raw, _raw: Raw) -> Iterator[Finding]:
    for name in value:
        yield from known((*at, name), name, rule["resources"], "resource")
    for name in rule["resources"]:
        if name not in value:
            yield at, f"it names no format for {name!r}", f"add `{name}: ...`"


def _mode(at: Pointer, name: str, rule: Raw, raw: Raw) -> Iterator[Finding]:
    one = raw["operations"].get(rule.get("operation")) or _makes(rule.get("request", ""), raw)
    if one:
        yield from known(at, name, one.get("modes", ()), "mode")
        if rule["kind"] == "cancellation":
            yield from _put_off(at, name, one)


def _put_off(at: Pointer, name: str, makes: Raw) -> Iterator[Finding]:
    """Find fault with a mode that leaves no time, for rules on what is done meanwhile."""
    modes = makes.get("due", {}).get("modes", ())
    if name in makes.get("modes", ()) and name not in modes:
        hint = did_you_mean(name, modes) or "add it to the modes of `due`, if it is"
        yield at, f"the mode {name!r} is put off to no day", hint


def _value(at: Pointer, name: str, rule: Raw, raw: Raw) -> Iterator[Finding]:
    one = raw["operations"].get(rule["operation"])
    if one:
        yield from known(at, name, one.get("disclosures", ()), "disclosure")


def _to(at: Pointer, value: str, rule: Raw, _raw: Raw) -> Iterator[Finding]:
    if value <= rule["from"]:
        yield at, f"the window ends at {value}, before it begins", "write two windows"


def _makes(name: str, raw: Raw) -> Raw:
    """Return the operation that makes a request, or nothing."""
    every: Mapping[str, Raw] = raw["operations"]
    return next((one for one in every.values() if one.get("makes") == name), {})


def _request(at: Pointer, name: str, rule: Raw, raw: Raw) -> Iterator[Finding]:
    yield from known(at, name, raw["resources"], "resource")
    makes = _makes(name, raw)
    if name in raw["resources"] and not makes:
        yield at, f"no operation makes {name!r}", f"add `makes: {name}` to one"
    elif makes and rule["kind"] == "return-address" and "returns" not in makes:
        hint = "add `returns`, the argument with the address, to what makes it"
        yield at, f"a {name} names no address to return to", hint


def _fields(at: Pointer, names: list[str], rule: Raw, raw: Raw) -> Iterator[Finding]:
    one = _makes(rule.get("request", ""), raw)
    if one:
        yield from all_known(at, names, one.get("arguments", ()), "argument")
    if one and rule["kind"] == "modification":
        yield from _changed(at, names, rule, raw)


def _changed(at: Pointer, names: list[str], rule: Raw, raw: Raw) -> Iterator[Finding]:
    """Find fault with arguments that a request has, and a change of it has not."""
    every: Mapping[str, Raw] = raw["operations"]
    request, known_ = rule["request"], _makes(rule["request"], raw).get("arguments", ())
    change = next((one for one in every.values() if one.get("changes") == request), None)
    if change is None:
        yield at, f"no operation changes {request!r}", f"add `changes: {request}` to one"
        return
    for index, name in enumerate(names):
        if name in known_ and name not in change.get("arguments", ()):
            hint = "add it to the arguments of what changes it, or leave it out here"
            yield (*at, index), f"{name!r} is no argument of a change", hint


def _one_field(at: Pointer, name: str, rule: Raw, raw: Raw) -> Iterator[Finding]:
    if "request" in rule:
        yield from _fields(at[:-1], [name], rule, raw)


def _modes(at: Pointer, names: list[str], rule: Raw, raw: Raw) -> Iterator[Finding]:
    one = _makes(rule.get("request", ""), raw)
    if one and rule["kind"] != "segments":
        yield from all_known(at, names, one.get("modes", ()), "mode")
        if rule["kind"] == "duplicate":
            yield from _at_once(at, names, one)


def _at_once(at: Pointer, names: list[str], makes: Raw) -> Iterator[Finding]:
    """Find fault with modes in which nothing is carried out that could be repeated."""
    for index, name in enumerate(names):
        if name in makes.get("due", {}).get("modes", ()):
            hint = "name modes in which it is carried out when it is signed"
            yield (*at, index), f"the mode {name!r} is put off to a day", hint


def _refuses(at: Pointer, names: list[str], rule: Raw, raw: Raw) -> Iterator[Finding]:
    """Find fault with traits that what a request is about cannot have."""
    one = _makes(rule["request"], raw)
    if not one:
        return
    if "owned" not in one:
        hint = "add `owned`, the argument that names a thing of the customer's, to what makes it"
        yield at, f"{rule['request']!r} is about nothing that the customer owns", hint
        return
    made = {each.get("makes") for each in raw["operations"].values()}
    roots: Iterator[Raw] = (
        each for name, each in raw["resources"].items() if "of" not in each and name not in made
    )
    owner: Raw = next(roots, {})
    yield from all_known(at, names, owner.get("traits", {}), "trait")


def _even(at: Pointer, value: Raw, rule: Raw, raw: Raw) -> Iterator[Finding]:
    one = _makes(rule["request"], raw)
    for name in value if one else ():
        yield from known((*at, name), name, one.get("arguments", ()), "argument")


def _only(at: Pointer, names: list[str], rule: Raw, raw: Raw) -> Iterator[Finding]:
    yield from _modes(at, names, rule, raw)
    for index, name in enumerate(names):
        yield from _put_off((*at, index), name, _makes(rule["request"], raw))


#: Every parameter that refers to something.
PARAMETERS: Final[Mapping[str, _Reference]] = {
    "operation": _operation,
    "control": _operation,
    "operations": _operations,
    "grant": _grant,
    "resource": _resource,
    "resources": _resources,
    "hides": _traits,
    "refuses": _refuses,
    "recent": _recent,
    "format": _format,
    "mode": _mode,
    "value": _value,
    "to": _to,
    "request": _request,
    "fields": _fields,
    "parameters": _fields,
    "field": _one_field,
    "modes": _modes,
    "served": _modes,
    "where-offered": _modes,
    "refused": _modes,
    "even": _even,
    "only": _only,
    "never": _modes,
    "when": when,
}
