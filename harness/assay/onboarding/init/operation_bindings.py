"""The `operations` section of a target file: what the document says about each binding feature.

`GUESSES` has functions for features of `binding.features`, which yield the entries or gaps at their
keys. A gap says what is missing: nothing is made up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import itemgetter
from typing import Any, Final, TypeAlias

from assay.binding.model.features import BINDING_FEATURES
from assay.binding.model.forms import FORM
from assay.binding.model.pointer import steps
from assay.binding.model.secret_names import secret_kind
from assay.binding.model.submission import SUBMISSION
from assay.contract.model import Contract, Json, Operation
from assay.files.edits import flow
from assay.onboarding.init import item_pointers, requests, responses
from assay.onboarding.init.defaults import GuessedAuth
from assay.onboarding.init.example_calls import OWN_DAYS
from assay.onboarding.init.inherited import InheritedTarget
from assay.onboarding.init.openapi_operations import (
    EACH,
    OpenApiOperation,
    SchemaLeaf,
    typed,
    words,
)
from assay.onboarding.init.operation_matching import (
    Found,
    MatchedOperation,
    OperationMatch,
    filled_path,
    plain_path,
    without_base,
)
from assay.onboarding.init.requests import bound_places, mode_slots, named_by_rules
from assay.onboarding.init.synonyms import cancelling
from assay.onboarding.init.yaml_writer import YamlEntry, gap, nested
from assay.rules.formats import is_iban
from assay.rules.obligation import obligations
from assay.rules.rule import facts_of

# -- Guesses of the members that a body must have besides its arguments --------------------------
# Values are those of the document, or made for each call: a day in the future, the current
# moment, an identifier. The examples of a document are not used for dates, which pass.
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T.*)?")
#: Words in the names of members that hold the moment of the request.
_MOMENT: Final = frozenset(["creation", "created", "send", "sent", "timestamp"])
_IDENTIFIERS: Final = frozenset(["id", "identification", "identifier", "uuid"])
#: Words in the names of identifiers that are the same for requests that ask for the same.
_ALIKE: Final = frozenset(["instruction", "end", "transaction", "payment", "reference"])
_SHOWN: Final = 8


def template(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield what else a body must contain; one that repeats the request is not made anew."""
    if shape.is_whole:
        return
    bound = bound_places(shape, "body") | {shape.token_member}
    value: dict[str, Any] = {}
    missing: list[str] = []
    for pointer in sorted(bound):
        # Without a list in the template, the element 0 would be a member of that name.
        before, element, _ = pointer.partition("/0/")
        if element:
            _put(value, steps(before), [{}])
    for leaf in _required(shape.offered.request, bound):
        if any(f"{pointer}/".startswith(f"{leaf.pointer}/") for pointer in bound):
            continue  # an argument or a mode fills it
        if leaf.kind == "object" or _has_members(shape, leaf):
            continue
        known = None if secret_kind(leaf.name) else _value(shape, leaf)
        if known is None:
            missing.append(".".join("0" if step == EACH else step for step in leaf.steps))
        else:
            _put(value, leaf.steps, known)
    if value:
        why = "required members, with the document's values or values made for each call"
        yield YamlEntry(key="template", value=value, why=why)
    if missing:
        rest = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        what = f"required members of the body: {', '.join(missing[:_SHOWN])}{rest}"
        first = missing[0].partition(".")[0]
        yield shape.gap("template", what=what, example=f"{{{first}: …}}")


def _required(leaves: Sequence[SchemaLeaf], bound: set[str]) -> Iterator[SchemaLeaf]:
    """Yield what is required where all above it is, or is there because of an argument."""
    there: set[tuple[str, ...]] = {()}
    for leaf in leaves:
        if not leaf.steps or leaf.steps[:-1] not in there:
            continue
        inside = f"{leaf.pointer}/"
        if leaf.needed or any(pointer.startswith(inside) for pointer in bound):
            there.add(leaf.steps)
        if leaf.needed:
            yield leaf


def _has_members(shape: MatchedOperation, leaf: SchemaLeaf) -> bool:
    """Whether a leaf without a type is an object, by what the document has below it."""
    depth = len(leaf.steps)
    return any(
        each.steps[:depth] == leaf.steps and len(each.steps) > depth and each.steps[depth] != EACH
        for each in shape.offered.request
    )


def _value(shape: MatchedOperation, leaf: SchemaLeaf) -> Json | None:
    """Return a value for a required member; None if none is known."""
    mine = frozenset(leaf.words)
    special = named_by_rules(shape.contract)
    example = next((value for value in leaf.values if value not in special), "")
    example = example or next(iter(leaf.values), "")
    if is_iban(example) or any(each.fullmatch(example) for each in OWN_DAYS.values()):
        return None  # of the manual's customer, and of its day
    if leaf.form in {"date", "date-time"} or _DATE.fullmatch(example):
        return _date(leaf, mine)
    for usual in ("SEPA", "IBAN"):
        example = next((value for value in leaf.values if usual in value.upper()), example)
    if example and (leaf.fixed or "scheme" in mine):
        return typed(leaf, example)
    if leaf.form == "uuid" or (mine & _IDENTIFIERS and leaf.is_text):
        alike = shape.operation.writes and mine & _ALIKE and "request" not in mine
        return "{alike}" if alike else "{unique}" if {"request"} & mine or alike else None
    return typed(leaf, example) if example and leaf.kind in _SCALARS else None


_SCALARS: Final = frozenset(["string", "boolean", "integer", ""])


def _date(leaf: SchemaLeaf, mine: frozenset[str]) -> Json:
    """Return the moment of the request, or a day in the future."""
    if mine & _MOMENT:
        return "{now}"
    moment = leaf.form == "date-time" or "T" in (leaf.values[0] if leaf.values else "")
    return "{today+30}T00:00:00Z" if moment else "{today+30}"


def _put(value: dict[str, Any], way: tuple[str, ...], known: Json) -> None:
    """Put a value at the end of some steps; a list on the way has one element."""
    inside: Any = value
    for step, following in pairwise(way):
        empty: Any = [{}] if following == EACH else {}
        inside = inside[0] if step == EACH else inside.setdefault(step, empty)
    inside[way[-1]] = known


# -- The `operations` section of a target file: what the document says about each binding feature ----
_Guess: TypeAlias = Callable[[MatchedOperation], Iterable[YamlEntry]]


def _method(shape: MatchedOperation) -> Iterator[YamlEntry]:
    if shape.offered.method != shape.operation.method:
        yield YamlEntry(key="method", value=shape.offered.method, why=shape.match.why)


def _path(shape: MatchedOperation) -> Iterator[YamlEntry]:
    path = shape.offered.path
    if path != shape.operation.path:
        reasons = "; ".join(filter(None, (shape.match.why, shape.path_why)))
        yield YamlEntry(key="path", value=path, why=reasons)
    elif shape.explicit:
        yield YamlEntry(key="path", value=path)
    if shape.operation.available:
        for slot in requests.unfilled_slots(shape):
            example = path.replace(f"{{{slot}}}", "…")
            yield shape.gap("path", what=f"a value for {slot} in the path", example=example)


def _aliases(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield which other paths of an operation the document has, if not all."""
    operation = shape.operation
    if not operation.aliases or not shape.offers:
        return
    others: dict[str, Json] = {
        without_base(offer.path): alias
        for offer in shape.offers
        if offer.method == operation.method and (alias := _alias(shape, offer))
    }
    others.pop(without_base(shape.match.offered.path), None)
    plain = [*map(plain_path, operation.aliases)]
    kept = [others[path] for path in plain if path in others]
    if kept != [*operation.aliases]:
        why = "the document has only these of the contract's other paths"
        why = why if kept else "the document has none of the contract's other paths"
        yield YamlEntry(key="aliases", value=kept, why=why)


def _alias(shape: MatchedOperation, offer: OpenApiOperation) -> Json:
    """Return another path as it is written, where it takes the item that a call is about."""
    about, paths = shape.operation.about or "", offer.named("path")
    if _names_item(shape, offer):
        return offer.path
    # A parameter of another name may take the same value.
    if len(paths) == 1 and requests.may_be_iban(about, *paths.values()):
        return {"path": offer.path, "arguments": {about: {"path": next(iter(paths))}}}
    return None


def _names_item(shape: MatchedOperation, offer: OpenApiOperation) -> bool:
    """Whether another path takes the item that a call is about in the same place."""
    if not shape.operation.about:
        return True
    slot = requests.about_slot(shape)
    if slot:
        return f"{{{slot}}}" in offer.path
    if f"{{{shape.operation.about}}}" in offer.path:
        return True
    return bool(
        bound_places(shape, "query") & offer.named("query").keys() and "{" not in offer.path
    )


def _whole(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield that a change repeats the request, where its body has all that the request must have."""
    if shape.is_whole:
        why = f"{shape.offered} takes all that a new request must have"
        yield YamlEntry(key="whole", value=True, why=why)


def _credentials(shape: MatchedOperation) -> Iterator[YamlEntry]:
    if shape.operation.id not in facts_of(shape.contract).without_credentials:
        return
    if not shape.offers:
        yield shape.gap("credentials")
    else:
        why = "how HTTP sends a login and a password; or where else a client might send them"
        yield YamlEntry(key="credentials", value={"basic": True}, why=why)


#: The guess of a feature; of any other, a gap says that a rule requires it.
GUESSES: Final[Mapping[str, _Guess]] = {
    "method": _method,
    "path": _path,
    "aliases": _aliases,
    "argument": requests.arguments,
    "mode": requests.modes,
    "queries": requests.queries,
    "template": template,
    "credentials": _credentials,
    "list": responses.list_of_items,
    "one": responses.single_item,
    "next": responses.next_page,
    "approval": responses.approval,
    "whole": _whole,
    "links": responses.links,
    "key": item_pointers.key,
    "id": item_pointers.bank_id,
    "on": item_pointers.date,
    "resource": item_pointers.resource,
    "state": item_pointers.state,
    "field": item_pointers.fields,
    "volatile": item_pointers.volatile,
    "value": responses.values,
}
#: The features that matter where a call is refused in any case.
_OF_UNAVAILABLE: Final = frozenset({"method", "path", "aliases", "argument", "template"})


def operations(
    contracts: Sequence[Contract],
    offers: Sequence[OpenApiOperation] | None,
    matches: Found,
    inherited: InheritedTarget,
    auth: GuessedAuth,
) -> Iterator[YamlEntry]:
    """Yield an entry for each operation; without a document, everything in it is missing."""
    for contract in contracts:
        found = matches.get(contract.id, {})
        required = {need for each in obligations(contract) for need in each.requires}
        named = _by_own_names(contract, matches)
        sent = sent_outputs(contract, found)
        listers = {*_with_ids(contract, found), *inherited.with_ids()}
        unknown = offers is not None and any(
            not operation.available and name not in found
            for name, operation in contract.operations.items()
        )
        for operation in contract.operations.values():
            match = found.get(operation.id)
            if offers is None:
                only = OpenApiOperation(method=operation.method, path=operation.path)
                match = OperationMatch(offered=only)
            if match is not None:
                shape = _shape(contract, operation, match, offers or (), named=named)
                member = auth.of(by_tpp=operation.by_tpp).member
                needs = {each.feature for each in required if each.operation == operation.id}
                shape = replace(shape, has_ids=shape.lister in listers, token_member=member)
                shape = replace(
                    shape, required=frozenset(needs), made=_made(operation, contract, found)
                )
                # With paths of its own, a target is not asked at those of the contract.
                placed = _entries(replace(shape, explicit=unknown and not inherited.raw))
                below = nested(inherited.corrections(shape, placed))
                announced = submission(operation, match.offered, offers or ())
                below = (*announced, *_sent(sent, operation, match.offered), *below)
                if below:
                    yield YamlEntry(key=operation.id, below=below)
            elif not inherited.operation(operation.id):
                yield _not_offered(operation)


def _sent(
    sent: SentOutputs, operation: Operation, offered: OpenApiOperation
) -> Iterator[YamlEntry]:
    """Yield the values of answers that an operation gives or sends, and that its body is a form."""
    why = "an identifier and a header have the same name"
    form = {"Content-Type": FORM} if offered.is_form and operation.available else {}
    outputs, headers = (each.get(operation.id, {}) for each in (sent.outputs, sent.headers))
    if outputs:
        yield YamlEntry(key="outputs", value={**outputs}, why=why)
    if form or headers:
        yield YamlEntry(key="headers", value={**form, **headers}, why=why if headers else "")


def _not_offered(operation: Operation) -> YamlEntry:
    """Return the comment for an operation that the document does not have."""
    absent = f"`absent: {{operations: {{{operation.id}: …}}}}`"
    what = (
        f"no operation of the document matches; if the bank has none, give the reason with {absent}"
    )
    if operation.grants:
        # Such a bank has nothing to transmit: the customer consents where the token is given.
        what += f"; if a customer's token covers everything, write `{operation.id}: {{given: with-token}}`"
    if not operation.available:
        what = f"the path at which this bank would offer {operation.method} {operation.path}"
    return gap("operations", operation.id, what=what, example="{path: /…}")


def _entries(shape: MatchedOperation) -> Iterator[tuple[tuple[str, ...], YamlEntry]]:
    """Yield what is guessed or missing of each feature, with the keys that lead to it."""
    for name, feature in BINDING_FEATURES.items():
        if feature.not_guessed or not (shape.operation.available or name in _OF_UNAVAILABLE):
            continue
        if name in GUESSES:
            yield from ((feature.section, entry) for entry in GUESSES[name](shape))
        elif name in shape.required:
            yield feature.section, shape.gap(name)


def _shape(
    contract: Contract,
    operation: Operation,
    match: OperationMatch,
    offers: Sequence[OpenApiOperation] = (),
    *,
    named: bool = True,
) -> MatchedOperation:
    """Return a match; `named` says whether calls use the bank's own names of items."""
    matched = MatchedOperation(
        contract=contract,
        operation=operation,
        match=match,
        offered=_of_one_body(operation, match.offered),
        offers=offers,
        lister=_lister(contract, operation) if named or operation.about else None,
    )
    path, why = _filled(matched)
    filled = replace(matched, offered=replace(matched.offered, path=path), path_why=why)
    return responses.with_items(filled)


def _of_one_body(operation: Operation, offered: OpenApiOperation) -> OpenApiOperation:
    """Return an operation with that of its bodies that cancels, or with the first that does not."""
    if not (operation.ends or operation.changes):
        return offered
    fitting = (
        each for each in offered.bodies if bool(cancelling(each.request)) is bool(operation.ends)
    )
    return next(fitting, offered)


def _made(
    operation: Operation, contract: Contract, found: Mapping[str, OperationMatch]
) -> OpenApiOperation | None:
    """Return the call that makes the request that an operation is about."""
    about = None if operation.makes else operation.request
    making = (name for name, each in contract.operations.items() if about and each.makes == about)
    return next((found[name].offered for name in making if name in found), None)


def _by_own_names(contract: Contract, matches: Found) -> bool:
    """Whether calls use the bank's own names of items, which then must be looked up."""
    operations = contract.operations
    entries = (
        entry
        for name, match in matches.get(contract.id, {}).items()
        for shape in [replace(_shape(contract, operations[name], match), has_ids=True)]
        for entry in requests.arguments(shape)
    )
    return any(isinstance(entry.value, dict) and "found" in entry.value for entry in entries)


def _with_ids(contract: Contract, found: Mapping[str, OperationMatch]) -> Iterator[str]:
    """Yield the operations that show the bank's own names of items."""
    for name, match in found.items():
        shape = _shape(contract, contract.operations[name], match)
        if shape.operation.available and any(
            not entry.missing for entry in item_pointers.bank_id(shape)
        ):
            yield name


def _lister(contract: Contract, operation: Operation) -> str | None:
    """Return the operation that lists the items that an operation is about, if there is one."""
    resources = contract.resources
    if not operation.about:
        owners = {resource.of for resource in resources.values()}
        return operation.id if owners & set(operation.lists) else None
    about = {resources[name].of for name in operation.lists}
    candidates = (candidate for candidate in contract.operations.values() if not candidate.about)
    return next((candidate.id for candidate in candidates if about & set(candidate.lists)), None)


def _filled(shape: MatchedOperation) -> tuple[str, str]:
    """Return the path, with the document's value for parameters that the contract does not have."""
    kept = requests.about_slot(shape)
    path, why = filled_path(shape.offered, mode_slots(shape))
    return (shape.offered.path, "") if kept and f"{{{kept}}}" not in path else (path, why)


def outcomes(paired: Found, inherited: InheritedTarget) -> Iterator[YamlEntry]:
    """Yield the statuses of success, where the document lists them."""
    offers = [match.offered for matches in paired.values() for match in matches.values()]
    statuses = sorted({status for offered in offers for status in offered.statuses})
    if statuses and all(status.isdigit() for status in statuses):
        if inherited.raw and inherited.accepts(map(int, statuses)):
            return
        accepted = [{"statuses": [int(status) for status in statuses]}]
        why = "the success statuses in the document"
        inner = YamlEntry(key="accepted", value=accepted, why=why)
        yield YamlEntry(key="outcomes", below=(inner,))


# -- A call that executes what another call announced, such as a payment after its consent -------
# Whether customers sign the first one, a document says in prose only: the draft names both calls.
#: The least share of the parts of a body that its announcement has, too.
_SHARED = 0.6


def submission(
    operation: Operation, offered: OpenApiOperation, offers: Sequence[OpenApiOperation]
) -> Iterator[YamlEntry]:
    """Yield a comment that names the call whose answer has an id that a new request requires."""
    if not operation.makes or offered.method != "POST":
        return
    for leaf in offered.request:
        if not leaf.required or leaf.words[-1:] != ("id",) or len(leaf.words) == 1:
            continue
        alike = sorted(
            ((_likeness(offer, offered, leaf), offer) for offer in offers), key=itemgetter(0)
        )
        share, first = alike[-1]
        if share >= _SHARED and [each for each, _ in alike].count(share) == 1:
            yield _comment(operation, first, offered, leaf)
            return


def _likeness(first: OpenApiOperation, second: OpenApiOperation, leaf: SchemaLeaf) -> float:
    """Return how much of a body a call has that answers the id in it; 0 for any other call."""
    own = {each.steps for each in first.request}
    theirs = {each.steps for each in second.request}
    answered = any(each.steps == leaf.steps for each in first.answer)
    announces = first.method == "POST" and answered and leaf.steps not in own
    return len(own & theirs) / len(theirs) if announces else 0.0


def _comment(
    operation: Operation, first: OpenApiOperation, second: OpenApiOperation, leaf: SchemaLeaf
) -> YamlEntry:
    output = "-".join(leaf.words)
    body: Mapping[str, Any] | str = f"{{{output}}}"
    for step in reversed(leaf.steps):
        body = {step: body}
    what = (
        f"POST {second.path} requires {'.'.join(leaf.steps)}, which POST {first.path} returns. If"
        f" customers sign that one, write `path: {first.path}` and `outputs: {{{output}:"
        f" {leaf.pointer}}}`, and submit it"
    )
    example = flow({"path": second.path, "template": body})
    return gap("operations", operation.id, SUBMISSION, what=what, example=example)


# -- Values of answers that later calls send in a header, such as the id of a consent --------------
# Guessed where a contract has an operation that makes a resource: its answer has an identifier,
# and other operations take a header of the same name.


@dataclass(frozen=True, slots=True, kw_only=True)
class SentOutputs:
    """The outputs of operations, and the headers in which others send them, by operation."""

    outputs: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    headers: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])

    @property
    def names(self) -> frozenset[str]:
        """The headers that carry an output, in lower case."""
        return frozenset(name.lower() for sent in self.headers.values() for name in sent)


def sent_outputs(contract: Contract, found: Mapping[str, OperationMatch]) -> SentOutputs:
    """Return the identifiers of what operations make that others take in a header."""
    outputs: dict[str, dict[str, str]] = {}
    headers: dict[str, dict[str, str]] = {}
    for name, match in found.items():
        if not contract.operations[name].makes:
            continue
        members = [leaf for leaf in match.offered.answer if leaf.is_member]
        for leaf in members:
            taking = {
                other: header
                for other, each in found.items()
                for header, parameter in each.offered.named("header").items()
                if (parameter.required or contract.operations[other].lists)
                and other != name
                and words(header) == leaf.words
                and leaf.words[-1:] == ("id",)
            }
            output = "-".join(leaf.words)
            for other, header in taking.items():
                outputs.setdefault(name, {})[output] = leaf.pointer
                headers.setdefault(other, {})[header] = f"{{{output}}}"
    return SentOutputs(outputs=outputs, headers=headers)
