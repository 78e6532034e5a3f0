"""Checks of names in a target file that refer to the contract.

A misspelt name would otherwise be a key without effect: a limit that limits nothing, a mode that
is never asked for. Each finding has the pointer of its own key. Values are checked
below, and by `binding.read.checks`, which needs no contract.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import Any, Final, TypeAlias, cast
from urllib.parse import urlsplit

from assay.binding.model.pointer import MISSING, find, texts
from assay.binding.model.security import AUTHORIZE
from assay.binding.model.spelling import SLOT
from assay.binding.model.submission import (
    SUBMISSION,
    SUBMITTED,
    all_bindings,
    misplaced,
    without_submission,
)
from assay.binding.model.target import Target
from assay.binding.read.checks import authorization_parameters
from assay.binding.wire.values import EXAMPLE, filled
from assay.contract.model import Contract, Json, Operation
from assay.contract.scalars import number_of, text_of
from assay.errors import did_you_mean
from assay.files.document import Finding, Pointer, found
from assay.rules.kinds.reading.error_body import ErrorBodyRule
from assay.rules.refusing_kind import CODE, RefusingKind
from assay.rules.rule import Kind, clauses_of, facts_of
from assay.rules.steps import roots

_Raw: TypeAlias = Mapping[str, Any]

#: The names of each kind that a contract has and a target file may use, by the noun for them.
_NAMES: Final[Mapping[str, Callable[[Contract], Iterable[str]]]] = {
    "argument": lambda contract: chain(*map(arguments_of, contract.operations.values())),
    "code": lambda contract: (code for kind in clauses_of(contract) for code in _codes(kind)),
    "error field": lambda contract: chain(*map(_error_fields, clauses_of(contract))),
    "factor": lambda contract: facts_of(contract).factors,
    "mode": lambda contract: (
        mode for operation in contract.operations.values() for mode in operation.modes
    ),
    "request field": lambda contract: (
        field
        for operation in contract.operations.values()
        if operation.makes
        for field in contract.resources[operation.makes].fields
    ),
    "resource": lambda contract: contract.resources,
    "scope statement": lambda contract: (each.id for each in contract.scope),
    "segment": lambda contract: facts_of(contract).segments,
}


@dataclass(frozen=True, kw_only=True)
class ContractNames:
    """The names of some contracts that a target file may use.

    `outside` returns the names of the contracts that the file binds and that are not in this run;
    it is called only if a name is not known without them.
    """

    contracts: Sequence[Contract]
    outside: Callable[[], ContractNames | None] = lambda: None

    @cached_property
    def operations(self) -> Mapping[str, Operation]:
        """The operations, by their names."""
        return {
            name: operation
            for contract in self.contracts
            for name, operation in contract.operations.items()
        }

    @property
    def codes(self) -> frozenset[str]:
        """The codes of refusals that clauses name."""
        return self.of("code")

    @property
    def error_fields(self) -> frozenset[str]:
        """The fields of errors that clauses name."""
        return self.of("error field")

    def of(self, noun: str) -> frozenset[str]:
        """Return the names of a kind; "account state" are the states of the resource `account`."""
        resource = noun.removesuffix(" state")
        if resource == noun:
            names = _NAMES[noun]
            return frozenset(name for contract in self.contracts for name in names(contract))
        known = (contract.resources.get(resource) for contract in self.contracts)
        return frozenset(trait for each in known if each for trait in each.traits)

    def around(self, noun: str, *given: str) -> frozenset[str]:
        """Return the names of a kind, with those of the contracts outside if these lack one."""
        known = self.of(noun)
        more = self.outside() if any(name not in known for name in given) else None
        return known | more.of(noun) if more else known

    def lacking(self, name: str, every: Callable[[Contract], Collection[str]]) -> set[str] | None:
        """Return the names of a kind if neither these contracts nor those outside have this one."""
        known = {each for contract in self.contracts for each in every(contract)}
        more = self.outside() if name not in known else None
        found_outside = more and any(name in every(contract) for contract in more.contracts)
        return None if name in known or found_outside else known

    def fields(self, resources: Iterable[str]) -> list[str]:
        """Return the fields of some resources."""
        known = {
            name: resource.fields
            for contract in self.contracts
            for name, resource in contract.resources.items()
        }
        return [field for name in resources for field in known.get(name, ())]

    def not_allowed(
        self, operation: Operation, argument: str, value: Json, at: Pointer
    ) -> Iterator[Finding]:
        """Yield each clause that an ordinary value of an argument breaks."""
        sent = filled(value, EXAMPLE)
        for contract in self.contracts:
            for clause, kind in zip(contract.clauses, clauses_of(contract), strict=True):
                for expects in kind.facts().expected.get((operation.id, argument), ()):
                    if wanted := expects(sent):
                        hint = f"the clause {clause.id} allows no other value"
                        yield at, f"expected {wanted}, found {found(value)}", hint


def _codes(kind: Kind) -> Iterator[str]:
    """Yield the codes of refusals that a clause names."""
    if isinstance(kind, RefusingKind):
        yield from kind.codes
    elif isinstance(kind, ErrorBodyRule):
        yield from map(text_of, kind.values.get(CODE, ()))


def _error_fields(kind: Kind) -> Iterator[str]:
    """Yield the fields of errors that a clause names."""
    if isinstance(kind, ErrorBodyRule):
        yield from (*kind.fields, *kind.values)


def arguments_of(operation: Operation) -> frozenset[str]:
    """Return the names of everything that a call of an operation can be given."""
    named = {operation.about, operation.grants, operation.since, operation.until}
    return frozenset(name for name in {*named, *operation.arguments} if name)


def unknown_names(target: Target, names: ContractNames) -> Iterator[Finding]:
    """Yield each name of a target file that none of its contracts has, at its own key."""
    raw = cast("_Raw", target.document.data) if target.document else {}
    bindings = raw.get("operations", {})
    for at, name, binding in all_bindings(bindings):
        if name in names.operations:
            operation = names.operations[name]
            yield from _operation(binding, operation, names, at)
            yield from misplaced(binding, operation, at)
            yield from _misplaced_authorization(binding, operation, at)
            yield from _unusable(binding, operation, names, at)
            yield from _wrong_states(binding, operation, at)
            yield from _identifiers(at, binding, raw, names)
    yield from without_submission(bindings, names.operations)
    sections = ("fixtures", "sca", "safety", "error")
    fixtures, sca, safety, error = (raw.get(key) or {} for key in sections)
    for at, given, noun in (
        (("fixtures", "segments"), fixtures.get("segments", ()), "segment"),
        (("fixtures", "effects"), fixtures.get("effects", ()), "request field"),
        (("outside",), raw.get("outside", ()), "scope statement"),
        *(
            (("banks", name, key), bank.get(key, ()), noun)
            for name, bank in (raw.get("banks") or {}).items()
            for key, noun in (("outside", "scope statement"), ("lacks", "mode"))
        ),
        *((("safety", key), safety.get(key, ()), "argument") for key in ("only", "most", "total")),
        (("error", "fields"), error.get("fields", ()), "error field"),
        (("error", "codes"), error.get("codes", ()), "code"),
    ):
        known = names.around(noun, *given)
        for index, name in enumerate(given):
            # The fixture provider may serve contracts that name no segment or request at all.
            if name not in known and (known or at[0] == "error"):
                step = index if isinstance(given, Sequence) else name
                hint = did_you_mean(name, known) or "remove it: nothing uses it"
                yield (*at, step), f"no contract has the {noun} {found(name)}", hint
    words = sca.get("factors", {})
    yield from _factors(("sca", "factors"), words, names)
    for role, content in (fixtures.get("roles") or {}).items():
        # Codes are by the bank's words; where it has none, by those of the contract.
        codes = [word for word in content.get("code_envs", ()) if word not in words.values()]
        yield from _factors(("fixtures", "roles", role, "code_envs"), codes, names, words)
    for role, content in (fixtures.get("roles") or {}).items():
        yield from _role(content, names, ("fixtures", "roles", role))


def _factors(
    at: Pointer,
    given: Collection[str],
    names: ContractNames,
    words: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Finding]:
    """Yield factors that look like misspelt ones; a bank may have factors that no contract names.

    `words` are those of the bank, which stand for factors of the contract.
    """
    known = (names.around("factor", *given) - words.keys()) | {*words.values()}
    for name in given if any(name not in names.of("factor") for name in given) else ():
        hint = did_you_mean(name, known - {*given}) if name not in known else ""
        if hint.startswith("did"):
            yield (*at, name), f"no contract has the factor {found(name)}", hint


# -- Listed customers: one of a misspelt segment would never be used, or own nothing. What the roles
# need without a contract is checked in `fixtures.role_checks`.
def _role(role: _Raw, names: ContractNames, at: Pointer) -> Iterator[Finding]:
    """Yield each name of a listed customer that no contract has, and values that none allows."""
    for name, noun, where in _role_names(role, at):
        known = names.around(noun, name)
        if known and name not in known:
            yield where, f"no contract has the {noun} {found(name)}", did_you_mean(name, known)
    for argument, value, where in _sent(role, names, at):
        for operation in names.operations.values():
            if operation.makes and argument in {operation.owned, *operation.arguments}:
                yield from names.not_allowed(operation, argument, value, where)


def _role_names(role: _Raw, at: Pointer) -> Iterator[tuple[str, str, Pointer]]:
    """Yield the names in a listed customer, each with the noun for it and its place."""
    if "segment" in role:
        yield role["segment"], "segment", (*at, "segment")
    for index, registration in enumerate(role.get("registrations") or ()):
        yield registration["argument"], "argument", (*at, "registrations", index, "argument")
    for index, holding in enumerate(role.get("owns") or ()):
        where: Pointer = (*at, "owns", index)
        yield holding["resource"], "resource", (*where, "resource")
        for trait in cast("_Raw", holding.get("traits") or {}):
            yield trait, f"{holding['resource']} state", (*where, "traits", trait)


def _sent(role: _Raw, names: ContractNames, at: Pointer) -> Iterator[tuple[str, Json, Pointer]]:
    """Yield the values of a customer that requests are sent with, each with its argument."""
    for index, registration in enumerate(role.get("registrations") or ()):
        where = (*at, "registrations", index, "value")
        yield registration["argument"], registration["value"], where
    for contract in names.contracts:
        arguments = {each.owned for each in contract.operations.values() if each.makes}
        for index, holding in enumerate(role.get("owns") or ()):
            if holding["resource"] in [owner.id for owner in roots(contract)[:1]]:
                for argument in filter(None, arguments):
                    yield argument, holding["key"], (*at, "owns", index, "key")


# -- Bindings of operations --------------------------------------------------------
def _operation(
    binding: _Raw, operation: Operation, names: ContractNames, at: Pointer
) -> Iterator[Finding]:
    """Yield the unknown names in the binding of one operation."""
    item = binding.get("item") or {}
    request = (operation.makes, operation.shows, operation.changes, operation.ends)
    shown = (*operation.lists, *(name for name in request if name))
    resources = ((item.get("resource") or {}).get("values") or ()) if operation.lists else ()
    for place, given, noun, known in (
        (("arguments",), binding.get("arguments"), "argument", arguments_of(operation)),
        (("modes",), binding.get("modes"), "mode", operation.modes),
        (("values",), binding.get("values"), "value", operation.disclosures),
        (("item", "fields"), item.get("fields"), "field", names.fields(shown)),
        (("item", "resource", "values"), resources, "resource", operation.lists),
        *(
            (
                ("arguments", argument, "each", "by"),
                ((spelling or {}).get("each") or {}).get("by"),
                "resource",
                names.of("resource"),
            )
            for argument, spelling in (binding.get("arguments") or {}).items()
        ),
    ):
        for name in given or ():
            if name not in known:
                what = f"the contract has no such {noun} here"
                yield (*at, *place, name), what, did_you_mean(name, known)


def _identifiers(
    place: Pointer,
    binding: _Raw,
    raw: _Raw,
    names: ContractNames,
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
        if lister not in operations and (more := names.outside()):
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


def _misplaced_authorization(binding: _Raw, operation: Operation, at: Pointer) -> Iterator[Finding]:
    """Yield what does not fit an operation whose result the customer authorises."""
    if authorization_parameters(binding) is None:
        return
    if not operation.makes:
        hint = "move it to the operation that makes the consent or the request"
        yield (*at, *AUTHORIZE), "the operation makes nothing that needs an authorization", hint
    elif not operation.by_tpp:
        what = "the operation is called with a customer's token, which is issued only after it"
        hint = f"write `by: tpp` at operations.{operation.id} of the contract"
        yield (*at, *AUTHORIZE), what, hint


# -- Values in the binding of an operation that no call could use, or that no answer could mean
# Each of them passes the schema, and would otherwise show in a run only as something that was never
# sent or never recognised. `binding.contract_names` checks the names.

#: The values that an argument has in requests.
_VALUES: Final = ("value", "other")
#: The states of which a request of one may also be listed under the other.
_NESTED: Final = frozenset({"open", "accepted"})


def _unusable(
    binding: _Raw, operation: Operation, names: ContractNames, at: Pointer
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
                        yield from names.not_allowed(operation, name, given, (*where, key))


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
        if not any("{}" in text for _, text in texts(shape)):
            yield where, "the shape has no placeholder for the value", 'write "{}" where it stands'


def _wrong_states(binding: _Raw, operation: Operation, at: Pointer) -> Iterator[Finding]:
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
