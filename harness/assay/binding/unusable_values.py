"""Values in the binding of an operation that no call could use, or that no answer could mean.

Each of them passes the schema, and would otherwise show in a run only as something that was never
sent or never recognised. `binding.contract_names` checks the names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast
from urllib.parse import urlsplit

from assay.binding.pointer import MISSING, find
from assay.binding.spelling import SLOT
from assay.binding.submission import SUBMISSION, SUBMITTED
from assay.contract.model import Json, Operation
from assay.contract.scalars import number_of
from assay.errors import did_you_mean
from assay.files.document import Finding, Pointer, found

_Raw: TypeAlias = Mapping[str, Any]
#: Yields each clause that a value of an argument breaks, with what it must be.
Expected: TypeAlias = Callable[[Operation, str, Json], Iterable[tuple[str, str]]]

#: The values that an argument has in requests.
_VALUES: Final = ("value", "other")
#: The states of which a request of one may also be listed under the other.
_NESTED: Final = frozenset({"open", "accepted"})


def unusable(
    binding: _Raw, operation: Operation, expected: Expected, at: Pointer
) -> Iterator[Finding]:
    """Yield what is wrong with how the arguments and modes of an operation are sent."""
    templates = [*_templates(binding, operation)]
    yield from _lost(binding, at)
    for section in ("arguments", "modes"):
        for name, spelling in (binding.get(section) or {}).items():
            where: Pointer = (*at, section, name)
            yield from _without_slot(spelling or {}, templates, where)
            if section == "arguments" and spelling is not None:
                yield from _argument(name, spelling, operation, where)
                for key in _VALUES:
                    if key in spelling:
                        given = spelling[key]
                        yield from not_allowed(operation, name, given, expected, (*where, key))


def _lost(binding: _Raw, at: Pointer) -> Iterator[Finding]:
    """Yield the pointers into a list, or below a value, that the template does not have.

    A change that repeats its whole request has that request's body, a submission that of the
    request; and what stands inside another argument's value may be in a list of that value.
    """
    places = [
        ((*at, section, name, "body"), pointer)
        for section in ("arguments", "modes")
        for name, spelling in (binding.get(section) or {}).items()
        for given in [(spelling or {}).get("body") or []]
        for pointer in (given if isinstance(given, list) else [given])
    ]
    whole = binding.get("whole") or at[-1] in (SUBMISSION, SUBMITTED)
    for where, pointer in () if whole else places:
        inside = any(pointer.startswith(f"{other}/") for _, other in places if other != pointer)
        template, way = binding.get("template") or {}, pointer.split("/")
        for n in () if inside else range(1, len(way)):
            above, below = (find(template, "/".join(way[:size])) for size in (n, n + 1))
            open_ = above is MISSING or isinstance(above, Mapping)
            if below is MISSING and (way[n].isdecimal() or not open_):
                hint = f"write a `template` with a list or an object there that has a {way[n]}"
                yield where, f"there is no place for {pointer} in the template", hint
                break


def _templates(binding: _Raw, operation: Operation) -> Iterator[str]:
    """Yield the paths under which an operation, or what follows from it, is called."""
    yield binding.get("path") or operation.path
    for alias in binding.get("aliases", operation.aliases) or ():
        yield alias if isinstance(alias, str) else cast("_Raw", alias)["path"]
    for part in (SUBMISSION, SUBMITTED):
        if isinstance(below := binding.get(part), Mapping):
            yield cast("_Raw", below).get("path") or ""


def _without_slot(spelling: _Raw, templates: Sequence[str], at: Pointer) -> Iterator[Finding]:
    """Yield a place in the path that no path of the operation has."""
    slot = spelling.get("path")
    slots = {name for template in templates for name in SLOT.findall(template)}
    if slot is not None and slot not in slots:
        what = f"the path {templates[0]} has no {{{slot}}}"
        yield (*at, "path"), what, did_you_mean(slot, slots)


def _argument(name: str, spelling: _Raw, operation: Operation, at: Pointer) -> Iterator[Finding]:
    """Yield what is wrong with the shape and the values of an argument."""
    yield from _shapes(spelling, at)
    if "other" in spelling and spelling.get("value") == spelling["other"]:
        hint = "write a different valid value, or remove the key"
        yield (*at, "other"), f"value and other are both {found(spelling['other'])}", hint
    if operation.makes and name != operation.returns and "adds" in spelling:
        hint = f"move it to {operation.returns}" if operation.returns else "remove it"
        yield (*at, "adds"), "the argument is not the address to which the customer returns", hint
    given = [(key, spelling[key]) for key in _VALUES if isinstance(spelling.get(key), str)]
    for key, value in given:
        if name == operation.amount and number_of(value) is None:
            yield (*at, key), f"expected an amount, found {found(value)}", 'for example "12.30"'
        if name == operation.returns and "text" not in spelling and not urlsplit(value).scheme:
            hint = "for example https://tpp.example/back"
            yield (*at, key), f"expected an absolute URL, found {found(value)}", hint


def _shapes(spelling: _Raw, at: Pointer) -> Iterator[Finding]:
    """Yield the shapes of listed values that have no place for the value."""
    each = spelling.get("each")
    if each is None:
        return
    shapes = {(*at, "each", "by", name): shape for name, shape in (each.get("by") or {}).items()}
    for where, shape in (shapes or {(*at, "each"): each}).items():
        if not _has_place(shape):
            yield where, "the shape has no placeholder for the value", 'write "{}" where it stands'


def not_allowed(
    operation: Operation, name: str, value: Json, expected: Expected, at: Pointer
) -> Iterator[Finding]:
    """Yield a value of an ordinary call that the contract itself does not allow."""
    for clause, wanted in expected(operation, name, value):
        hint = f"the clause {clause} allows no other value"
        yield at, f"expected {wanted}, found {found(value)}", hint


def _has_place(shape: Any) -> bool:
    if isinstance(shape, Mapping):
        return any(map(_has_place, cast("Mapping[str, Any]", shape).values()))
    if isinstance(shape, list):
        return any(map(_has_place, shape))
    return isinstance(shape, str) and "{}" in shape


def wrong_states(binding: _Raw, operation: Operation, at: Pointer) -> Iterator[Finding]:
    """Yield words for a state that the thing cannot have, and words that stand for two states."""
    state = (binding.get("item") or {}).get("state") or {}
    values = cast("Mapping[str, Sequence[Json]]", state.get("values") or {})
    where: Pointer = (*at, "item", "state", "values")
    wrong, right = ("done", "valid") if operation.about_consent else ("valid", "done")
    if operation.request and wrong in values:
        noun = "consent" if operation.about_consent else "request"
        yield (*where, wrong), f"a {noun} has no state {wrong!r}", f"write {right!r}"
    first: list[tuple[Json, str]] = []
    for name, words in values.items():
        for index, word in enumerate(words or ()):
            before = next((listed for known, listed in first if known == word), None)
            if before is not None and before != name and frozenset((before, name)) != _NESTED:
                what = f"{found(word)} is also a word for {before}"
                yield (*where, name, index), what, "keep one of the two"
            first.append((word, name))
