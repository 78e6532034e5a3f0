"""Checks of names in a target file that refer to the contract.

A misspelt name would otherwise be a key without effect: a limit that limits nothing, a mode that
is never asked for. Each finding has the pointer of its own key. Values are checked
below, and by `binding.checks`, which needs no contract.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, TypeAlias, cast
from urllib.parse import urlsplit

from assay.binding.authorization import misfits
from assay.binding.pointer import MISSING, find
from assay.binding.spelling import SLOT
from assay.binding.submission import (
    SUBMISSION,
    SUBMITTED,
    all_bindings,
    misplaced,
    without_submission,
)
from assay.binding.target import Target
from assay.binding.values import EXAMPLE, filled
from assay.contract.model import Contract, Json, Operation
from assay.contract.scalars import number_of, text_of
from assay.errors import did_you_mean
from assay.files.document import Finding, Pointer, found
from assay.rules.kinds.reading.error_body import ErrorBodyRule
from assay.rules.refusing_kind import CODE, RefusingKind
from assay.rules.rule import Kind, clauses_of, facts_of

_Raw: TypeAlias = Mapping[str, Any]

#: What a name of the target file must be one of, and the noun for it.
_Known: TypeAlias = tuple[str, Collection[str]]


@dataclass(frozen=True, kw_only=True)
class ContractNames:
    """The names of some contracts that a target file may use."""

    contracts: Sequence[Contract]

    @cached_property
    def operations(self) -> Mapping[str, Operation]:
        """The operations, by their names."""
        return {
            name: operation
            for contract in self.contracts
            for name, operation in contract.operations.items()
        }

    @cached_property
    def arguments(self) -> frozenset[str]:
        """The arguments of all operations."""
        return frozenset(
            name for operation in self.operations.values() for name in arguments_of(operation)
        )

    @cached_property
    def resources(self) -> Mapping[str, tuple[str, ...]]:
        """The fields of each resource."""
        return {
            name: resource.fields
            for contract in self.contracts
            for name, resource in contract.resources.items()
        }

    @cached_property
    def traits(self) -> Mapping[str, frozenset[str]]:
        """The states that things of each resource can be in."""
        return {
            name: frozenset(resource.traits)
            for contract in self.contracts
            for name, resource in contract.resources.items()
        }

    @cached_property
    def segments(self) -> frozenset[str]:
        """The segments that clauses name."""
        return frozenset(
            segment for contract in self.contracts for segment in facts_of(contract).segments
        )

    @cached_property
    def factors(self) -> frozenset[str]:
        """The factors that clauses name."""
        return frozenset(
            factor for contract in self.contracts for factor in facts_of(contract).factors
        )

    @cached_property
    def codes(self) -> frozenset[str]:
        """The codes of refusals that clauses name."""
        every = (kind for contract in self.contracts for kind in clauses_of(contract))
        return frozenset(code for kind in every for code in _codes(kind))

    @cached_property
    def error_fields(self) -> frozenset[str]:
        """The fields of errors that clauses name."""
        every = (kind for contract in self.contracts for kind in clauses_of(contract))
        return frozenset(
            name
            for kind in every
            if isinstance(kind, ErrorBodyRule)
            for name in (*kind.fields, *kind.values)
        )

    @cached_property
    def effects(self) -> frozenset[str]:
        """The fields of all requests, which are what can be executed."""
        return frozenset(
            name
            for operation in self.operations.values()
            for name in self.resources.get(operation.makes or "", ())
        )

    def expected(
        self, operation: Operation, argument: str, value: Json
    ) -> Iterator[tuple[str, str]]:
        """Yield each clause that an ordinary value of an argument breaks, and what it must be."""
        value = filled(value, EXAMPLE)
        for contract in self.contracts:
            for clause, kind in zip(contract.clauses, clauses_of(contract), strict=True):
                for expects in kind.facts().expected.get((operation.id, argument), ()):
                    if expected := expects(value):
                        yield clause.id, expected

    @cached_property
    def scope(self) -> frozenset[str]:
        """The ids of what the contracts say about their scope."""
        return frozenset(each.id for contract in self.contracts for each in contract.scope)


def _codes(kind: Kind) -> Iterator[str]:
    """Yield the codes of refusals that a clause names."""
    if isinstance(kind, RefusingKind):
        yield from kind.codes
    elif isinstance(kind, ErrorBodyRule):
        yield from map(text_of, kind.values.get(CODE, ()))


def arguments_of(operation: Operation) -> frozenset[str]:
    """Return the names of everything that a call of an operation can be given."""
    named = {operation.about, operation.grants, operation.since, operation.until}
    return frozenset(name for name in {*named, *operation.arguments} if name)


def unknown_names(
    target: Target, names: ContractNames, others: Callable[[], ContractNames | None]
) -> Iterator[Finding]:
    """Yield each name of a target file that none of its contracts has, at its own key.

    `others` returns the names of the contracts that the file binds and that are not in this run;
    it is called only if a name is not known without them.
    """
    raw = cast("_Raw", target.document.data) if target.document else {}
    bindings = raw.get("operations", {})
    for at, name, binding in all_bindings(bindings):
        if name in names.operations:
            yield from _operation(binding, names.operations[name], names, at)
            yield from misplaced(binding, names.operations[name], at)
            yield from misfits(binding, names.operations[name], at)
            yield from unusable(binding, names.operations[name], names.expected, at)
            yield from wrong_states(binding, names.operations[name], at)
            yield from _identifiers(at, binding, raw, names, others)
    yield from without_submission(bindings, names.operations)
    sections = ("fixtures", "sca", "safety", "error")
    fixtures, sca, safety, error = (raw.get(key) or {} for key in sections)
    yield from _elsewhere(
        [
            (("fixtures", "segments"), fixtures.get("segments", ()), "segments", "segment"),
            (("fixtures", "effects"), fixtures.get("effects", ()), "effects", "request field"),
            (("outside",), raw.get("outside", ()), "scope", "scope statement"),
            (("safety", "only"), safety.get("only", ()), "arguments", "argument"),
            (("safety", "most"), safety.get("most", ()), "arguments", "argument"),
            (("safety", "total"), safety.get("total", ()), "arguments", "argument"),
            (("error", "fields"), error.get("fields", ()), "error_fields", "error field"),
            (("error", "codes"), error.get("codes", ()), "codes", "code"),
        ],
        names,
        others,
    )
    yield from _factors(("sca", "factors"), sca.get("factors", {}), names, others)
    words = sca.get("factors", {})
    for role, content in (fixtures.get("roles") or {}).items():
        # Codes are by the bank's words; where it has none, by those of the contract.
        codes = [word for word in content.get("code_envs", ()) if word not in words.values()]
        yield from _factors(("fixtures", "roles", role, "code_envs"), codes, names, others, words)


def _elsewhere(
    uses: Iterable[tuple[Pointer, Iterable[str], str, str]],
    names: ContractNames,
    others: Callable[[], ContractNames | None],
) -> Iterator[Finding]:
    """Yield names that stand outside `operations`, and so may be those of any contract."""
    for at, given, kind, noun in uses:
        known = cast("Collection[str]", getattr(names, kind))
        unknown = [name for name in given if name not in known]
        if unknown and (more := others()):
            known = {*known, *cast("Collection[str]", getattr(more, kind))}
        for index, name in enumerate(given):
            # The fixture provider may serve contracts that name no segment or request at all.
            if name not in known and (known or at[0] == "error"):
                step = index if isinstance(given, Sequence) else name
                what = f"no contract has the {noun} {found(name)}"
                yield (*at, step), what, did_you_mean(name, known) or "remove it: nothing uses it"


def _factors(
    at: Pointer,
    given: Collection[str],
    names: ContractNames,
    others: Callable[[], ContractNames | None],
    words: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Finding]:
    """Yield factors that look like misspelt ones; a bank may have factors that no contract names.

    `words` are those of the bank, which stand for factors of the contract.
    """
    if all(name in names.factors for name in given):
        return
    more = others()
    factors = names.factors | (more.factors if more else frozenset())
    known = (factors - words.keys()) | {*words.values()}
    for name in given:
        hint = did_you_mean(name, known - {*given}) if name not in known else ""
        if hint.startswith("did"):
            yield (*at, name), f"no contract has the factor {found(name)}", hint


def _operation(
    binding: _Raw, operation: Operation, names: ContractNames, at: Pointer
) -> Iterator[Finding]:
    """Yield the unknown names in the binding of one operation."""
    arguments = arguments_of(operation)
    for section, known in (
        ("arguments", arguments),
        ("modes", operation.modes),
        ("values", operation.disclosures),
    ):
        yield from _unknown((*at, section), binding.get(section) or (), (section, known))
    item = binding.get("item") or {}
    shown = _shown(operation)
    known_fields = [field for name in shown for field in names.resources.get(name, ())]
    yield from _unknown((*at, "item", "fields"), item.get("fields") or (), ("fields", known_fields))
    if operation.lists:
        values = (item.get("resource") or {}).get("values") or ()
        where = (*at, "item", "resource", "values")
        yield from _unknown(where, values, ("resources", operation.lists))
    for argument, spelling in (binding.get("arguments") or {}).items():
        resources = ((spelling or {}).get("each") or {}).get("by") or ()
        where = (*at, "arguments", argument, "each", "by")
        yield from _unknown(where, resources, ("resources", names.resources))


def _shown(operation: Operation) -> tuple[str, ...]:
    """Return the resources that an answer of an operation shows."""
    request = (operation.makes, operation.shows, operation.changes, operation.ends)
    return (*operation.lists, *(name for name in request if name))


def _identifiers(
    place: Pointer,
    binding: _Raw,
    raw: _Raw,
    names: ContractNames,
    others: Callable[[], ContractNames | None],
) -> Iterator[Finding]:
    """Yield arguments whose identifiers are to be found in what lists none, or not theirs."""
    bindings, roles = raw["operations"], (raw.get("fixtures") or {}).get("roles") or {}
    keys = {thing["key"] for role in roles.values() for thing in role.get("owns", ())}
    for argument, spelling in (binding.get("arguments") or {}).items():
        lister = (spelling or {}).get("found")
        if lister is None:
            continue
        at: Pointer = (*place, "arguments", argument, "found")
        operations = names.operations
        if lister not in operations and (more := others()):
            operations = {**operations, **more.operations}
        if lister not in operations or not operations[lister].lists:
            listing = [each for each, operation in operations.items() if operation.lists]
            yield at, f"no operation {found(lister)} lists anything", did_you_mean(lister, listing)
        elif not ((bindings.get(lister) or {}).get("item") or {}).get("id"):
            hint = f"add operations.{lister}.item.id, the pointer to the bank's own identifier"
            yield at, f"{lister} shows no identifier: its item has no id", hint
        elif operations[lister].about:
            hint = "name the operation that lists what a customer owns"
            yield at, f"{lister} lists what belongs to one {operations[lister].about}", hint
        elif keys and (value := spelling.get("value")) not in [None, *keys]:
            what = f"no customer owns {found(value)}, so {lister} lists no identifier of it"
            yield (*at[:-1], "value"), what, "write a key under `owns` of a role, or remove `found`"


def _unknown(at: Pointer, given: Iterable[str], known: _Known) -> Iterator[Finding]:
    noun, names = known
    for name in given:
        if name not in names:
            what = f"the contract has no such {noun.removesuffix('s')} here"
            yield (*at, name), what, did_you_mean(name, names)


# -- Values in the binding of an operation that no call could use, or that no answer could mean
# Each of them passes the schema, and would otherwise show in a run only as something that was never
# sent or never recognised. `binding.contract_names` checks the names.

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
