"""Mistakes in what a target file says of the requests of an operation, and of outcomes."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from wrong_reads import words
from wrong_values import GONE, Change, Path, misspelt, nearly, set_to, swapped


def requested(data: Any, at: Path, operation: Mapping[str, Any]) -> Iterator[Change]:
    for section in ("arguments", "modes"):
        bound = {name: each for name, each in (operation.get(section) or {}).items() if each}
        for name, spelling in bound.items():
            yield from _spelling(data, (*at, section, name), section[:-1], spelling)
            yield set_to(f"{section[:-1]} removed", (*at, section, name), GONE)
        for name, other in pairwise(bound):
            pair = bound[name], bound[other]
            yield from _exchanged(data, (*at, section, name), (*at, section, other), pair)
    yield from _template(at, operation)
    yield from _authorize((*at, "approval"), operation.get("approval"))
    for section in ("headers", "queries"):
        for name, value in (operation.get(section) or {}).items():
            yield set_to(f"{section} removed", (*at, section, name), GONE)
            yield set_to(f"{section} with another value", (*at, section, name), misspelt(value))
    for where, names in (operation.get("credentials") or {}).items():
        if isinstance(names, Mapping):
            for name, pointer in names.items():
                here = (*at, "credentials", where, name)
                yield set_to("credentials misspelt", here, misspelt(pointer))


def _authorize(at: Path, approval: Any) -> Iterator[Change]:
    """Yield the mistakes of the parameters of an authorization request."""
    parameters = approval.get("authorize") if isinstance(approval, Mapping) else None
    for name, value in (parameters or {}).items():
        here = (*at, "authorize", name)
        renamed = {misspelt(key) if key == name else key: each for key, each in parameters.items()}
        yield set_to("authorize misspelt", (*at, "authorize"), renamed)
        yield set_to("authorize with another value", here, nearly(value))
        if len(parameters) > 1:
            yield set_to("authorize removed", here, GONE)


def _exchanged(data: Any, here: Path, there: Path, pair: tuple[Any, Any]) -> Iterator[Change]:
    """Yield the mistake that two arguments or modes have one another's places, or values."""
    mine, theirs = pair
    common = mine.keys() & theirs.keys()
    place = next((key for key in ("query", "header", "path", "body") if key in common), "")
    what = here[-2][:-1]
    if place and mine[place] != theirs[place]:
        yield swapped(f"{what}s swapped", data, (*here, place), (*there, place))
    elif "value" in common:
        yield swapped(f"{what} values swapped", data, (*here, "value"), (*there, "value"))


def _spelling(data: Any, at: Path, what: str, spelling: Mapping[str, Any]) -> Iterator[Change]:
    yield from _placed(at, what, spelling)
    for key in ("value", "other"):
        if key in spelling:
            yield set_to(f"{what} {key} misspelt", (*at, key), nearly(spelling[key]))
            yield set_to(f"{what} {key} removed", (*at, key), GONE)
    if "other" in spelling and "value" in spelling:
        yield set_to(f"{what} other the same", (*at, "other"), spelling["value"])
    if "text" in spelling:
        yield set_to(f"{what} text wrong", (*at, "text"), "day {}")
    if at[-1] in {"since", "until"}:
        flipped = not spelling.get("exclusive", False)
        yield set_to(f"{what} exclusive flipped", (*at, "exclusive"), flipped)
    if "found" in spelling:
        yield set_to(f"{what} found misspelt", (*at, "found"), misspelt(spelling["found"]))
    yield from _shortened(at, what, spelling)
    yield from _shape(data, (*at, "each"), f"{what} each", spelling.get("each"))
    yield from words(data, at, spelling)


def _shortened(at: Path, what: str, spelling: Mapping[str, Any]) -> Iterator[Change]:
    """Yield the mistakes of a word that is missing, or of one in a list."""
    for key in ("text", "found", "each", "adds"):
        if key in spelling:
            yield set_to(f"{what} {key} removed", (*at, key), GONE)
    for n, name in enumerate(spelling.get("adds") or ()):
        yield set_to(f"{what} adds misspelt", (*at, "adds", n), misspelt(name))
    for key in ("scope", "base_url"):
        if key in spelling:
            yield set_to(f"{what} {key} misspelt", (*at, key), misspelt(spelling[key]))


def _placed(at: Path, what: str, spelling: Mapping[str, Any]) -> Iterator[Change]:
    """Yield the mistakes of the place of an argument or a mode."""
    for place in ("query", "header", "path", "body"):
        name = spelling.get(place)
        if isinstance(name, list):
            for n, each in enumerate(name):
                yield set_to(f"{what} misspelt", (*at, place, n), misspelt(each))
            yield set_to(f"{what} in one place only", (*at, place), name[0])
        elif isinstance(name, str):
            yield set_to(f"{what} misspelt", (*at, place), misspelt(name) if name else "/data")
            elsewhere = "header" if place == "query" else "query"
            word = name.rpartition("/")[2] or "data"
            moved = {key: value for key, value in spelling.items() if key != place}
            yield set_to(f"{what} elsewhere", at, {elsewhere: word, **moved})


def _shape(data: Any, at: Path, what: str, shape: Any) -> Iterator[Change]:
    """Yield the mistakes of the shape of a value."""
    if not isinstance(shape, Mapping):
        return
    names = list(shape)
    for name, other in pairwise(names):
        yield swapped(f"{what} swapped", data, (*at, name), (*at, other))
    for name, member in shape.items():
        if name != "by" and at[-1] != "by":
            renamed = {misspelt(key) if key == name else key: value for key, value in shape.items()}
            yield set_to(f"{what} misspelt", at, renamed)
        elif at[-1] == "by":
            yield set_to(f"{what} removed", (*at, name), GONE)
        yield from _shape(data, (*at, name), what, member)


def _template(at: Path, operation: Mapping[str, Any]) -> Iterator[Change]:
    template = operation.get("template")
    if not template:
        return
    yield set_to("template removed", (*at, "template"), GONE)
    for place, value in _below(template):
        here = (*at, "template", *place)
        yield set_to("template without a part", here, GONE)
        if isinstance(place[-1], str):
            changes = ((*here[:-1], misspelt(place[-1])), value), (here, GONE)
            yield "template misspelt", here, misspelt(place[-1]), changes
        if value == "{alike}":
            yield set_to("template constant", here, "label-1")
            yield set_to("template unique", here, "{unique}")
        elif isinstance(value, str | int | bool):
            yield set_to("template with another value", here, nearly(value))


def _below(value: Any, at: Path = ()) -> Iterator[tuple[Path, Any]]:
    named = value.items() if isinstance(value, Mapping) else ()
    listed = enumerate(value) if isinstance(value, list) else ()
    for step, member in (*named, *listed):
        yield (*at, step), member
        yield from _below(member, (*at, step))


# -- Where it is sent, what it means


def addressed(at: Path, operation: Mapping[str, Any], contract: Any) -> Iterator[Change]:
    path = operation.get("path") or (contract.path if contract else None)
    if path:
        head, slash, _ = path.partition("/{")
        yield set_to("path misspelt", (*at, "path"), misspelt(head) + path[len(head) :])
        if slash:
            yield set_to("path without its slot", (*at, "path"), head)
    method = operation.get("method") or (contract.method if contract else "GET")
    yield set_to("method wrong", (*at, "method"), "PATCH" if method != "PATCH" else "PUT")
    for n, alias in enumerate(operation.get("aliases") or ()):
        yield set_to("aliases misspelt", (*at, "aliases", n), misspelt(alias))
    yield from matchers_of((*at, "outcomes"), operation.get("outcomes") or {})
    if "given" in operation:
        yield set_to("given removed", (*at, "given"), GONE)
    if "by" in operation:
        by = "tpp" if operation["by"] == "customer" else "customer"
        yield set_to("by another", (*at, "by"), by)
    part = at[-1] if len(at) > len(("operations", "accounts")) else "operation"
    yield set_to(f"{part} removed", at, GONE)


def matchers_of(at: Path, outcomes: Mapping[str, Any]) -> Iterator[Change]:
    for outcome, matchers in outcomes.items():
        yield set_to("outcomes removed", (*at, outcome), GONE)
        for n, matcher in enumerate(matchers or ()):
            here = (*at, outcome, n)
            if len(matchers) > 1:
                yield set_to("outcomes without a matcher", here, GONE)
            statuses = matcher.get("statuses") or []
            for m in range(len(statuses)):
                yield set_to("statuses wrong", (*here, "statuses", m), 418)
                if len(statuses) > 1:
                    yield set_to("statuses without one", (*here, "statuses", m), GONE)
            for pointer, value in (matcher.get("body") or {}).items():
                yield set_to("matcher misspelt", (*here, "body"), {misspelt(pointer): value})
                yield set_to("matcher value wrong", (*here, "body"), {pointer: nearly(value)})
                if statuses:
                    yield set_to("matcher without body", (*here, "body"), GONE)
            for other in outcomes:
                if other != outcome:
                    moved = [*outcomes[other], matcher]
                    rest = [each for each in matchers if each is not matcher]
                    left = ((*at, outcome), rest or GONE)
                    place = (*at, other)
                    yield "matcher moved", place, moved, ((place, moved), left)
