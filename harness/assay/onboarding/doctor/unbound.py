"""What rules need and the target file lacks, although the answers show it.

The answers of an operation are read as a document would describe them, and guessed at as `assay init`
guesses; but what the customers own is known, so keys, dates and words of resources are recognised by
their values. A proposal is no problem: without it, the obligations stay unverified.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Final, TypeAlias
from urllib.parse import parse_qsl, unquote, urlsplit

from assay.binding.model.features import BINDING_FEATURES, is_bound
from assay.binding.model.pointer import MISSING, find, lists
from assay.binding.model.spelling import Place
from assay.binding.wire.decode import body_of
from assay.binding.wire.links import id_of
from assay.contract.model import Contract, Json, Operation
from assay.files.edits import Edit, flow
from assay.onboarding.doctor.fixtures import made_requests
from assay.onboarding.doctor.items import all_owned, owned_list
from assay.onboarding.doctor.pointer_probe import AnsweredOperation, is_day, is_link, members
from assay.onboarding.doctor.record import Examined, Finding, SeenAnswer, Weight
from assay.onboarding.init import item_pointers, responses
from assay.onboarding.init.example_calls import MOST, WORD, schema
from assay.onboarding.init.openapi_operations import OpenApiOperation, distinctive_words
from assay.onboarding.init.operation_bindings import GUESSES
from assay.onboarding.init.operation_matching import MatchedOperation, OperationMatch
from assay.onboarding.init.yaml_writer import YamlEntry
from assay.onboarding.signer_guess import guessed_signer
from assay.report.cards import json_lines
from assay.rules.obligation import obligations
from assay.sca.html_forms import forms

#: The features that an answer shows.
_SHOWN: Final = (
    *("list", "one", "next", "approval", "links", "value"),
    *("key", "id", "on", "resource", "state", "field"),
)
#: The length of a day in ISO 8601, and the most pointers to the keys of one list.
_DAY: Final = len("2026-12-31")
_MOST_KEYS: Final = 3
#: How many lines of an answer are shown.
_EXCERPT: Final = 20


def examine(record: Examined) -> Iterator[Finding]:
    """Propose a line for each missing binding that an answer shows."""
    yield from _first_screen(record)
    for contract in record.contracts_bound:
        lacking: defaultdict[str, dict[str, set[str]]] = defaultdict(dict)
        for need in {need for each in obligations(contract) for need in each.requires}:
            if need.feature in _SHOWN and not is_bound(need, contract, record.target):
                lacking[need.operation].setdefault(need.feature, set()).add(need.name)
        for operation in contract.operations.values():
            binding, several = record.binding(operation), len(operation.lists) > 1
            if operation.lists and not binding.list:
                lacking[operation.id]["list"] = set()  # without it, nothing else can be read
            elif several and not operation.about and binding.item.resource is None:
                lacking[operation.id]["resource"] = set()
            if operation.available:
                yield from _by_link(record, contract, operation)
            answers = [each for each in record.of(operation.id) if each.good and not each.part]
            located = bool(operation.makes)
            answers = [each for each in answers if located or isinstance(each.body, dict | list)]
            if answers and (features := lacking[operation.id]):
                seen = AnsweredOperation(record=record, operation=operation, answers=answers)
                yield from _proposals(seen, contract, features)


def _first_screen(record: Examined) -> Iterator[Finding]:
    """Propose the fields of the page behind the link of a request, which was opened and left."""
    shown = forms(record.page.body) if record.page else ()
    if new := guessed_signer(shown, record.contracts_bound):
        hint = f"the first screen has these fields; later ones follow it: `sca: {flow(new)}`"
        edit = Edit(at=("sca",), old=None, new=new)
        yield record.finding(("sca",), "a signer", "none", hint, weight=Weight.NOTE, edit=edit)


def _proposals(
    seen: AnsweredOperation, contract: Contract, features: Mapping[str, set[str]]
) -> Iterator[Finding]:
    shape = _shape(seen, contract)
    placed = seen.binding.list or seen.binding.one is not None
    for feature in _SHOWN:
        inside = "item" in BINDING_FEATURES[feature].section
        inside = inside and not (feature == "key" and seen.operation.makes)
        if feature not in features or (inside and not placed):
            continue
        recognise = _RECOGNISED.get(feature)
        known = [*recognise(seen, shape)] if recognise else []
        named = {each.key for each in known}
        entries = known + [each for each in GUESSES[feature](shape) if each.key not in named]
        if feature == "resource" and all(each.missing for each in entries):
            place = seen.place(feature)
            expected, found = BINDING_FEATURES[feature].title, "nothing, so no item has a resource"
            hint = f"which of {', '.join(seen.operation.lists)} an item is stays unknown"
            yield seen.record.finding(place, expected, found, hint, weight=Weight.NOTE)
        for entry in entries:
            *_, last = BINDING_FEATURES[feature].key
            wanted = entry.key in features[feature] or not last.startswith("<")
            if wanted and not entry.missing:
                yield _proposal(seen, feature, entry, certain=entry in known)


def _proposal(seen: AnsweredOperation, feature: str, entry: YamlEntry, *, certain: bool) -> Finding:
    *section, last = seen.place(feature, entry.key)
    place = (*section, last)
    edit = Edit(at=place, old=None, new=entry.value, certain=certain or not entry.why)
    why = f" ({entry.why})" if entry.why else ""
    expected, hint = BINDING_FEATURES[feature].title, f"add `{last}: {flow(entry.value)}`{why}"
    found = "nothing, although the answers show it"
    finding = seen.record.finding(place, expected, found, hint, weight=Weight.NOTE, edit=edit)
    return replace(finding, answer=_excerpt(seen))


def _excerpt(seen: AnsweredOperation) -> str:
    """Return the beginning of the first answer, masked."""
    answer = seen.answers[0]
    lines = [*json_lines(seen.record.redactor.body(answer.wire.body)[0])]
    rest = f"\n    … {len(lines) - _EXCERPT} more lines" if len(lines) > _EXCERPT else ""
    said = "\n".join(f"    {line}" for line in lines[:_EXCERPT])
    return f"  {seen.operation.id} answers {answer.status}:\n{said}{rest}"


# -- Answers, read as a document would describe them ---------------------------------------------


def _shape(seen: AnsweredOperation, contract: Contract) -> MatchedOperation:
    """Return what `assay init` would know from a document with the schema of these answers."""
    operation, binding = seen.operation, seen.binding
    headers = {name for answer in seen.answers for name, _ in answer.wire.headers}
    node = {
        "responses": {"200": {"content": {"application/json": {"schema": schema(seen.bodies)}}}}
    }
    offered = OpenApiOperation(
        method=binding.method or operation.method,
        path=binding.path or operation.path,
        headers=tuple(headers),
        node=node,
    )
    shape = responses.with_items(
        MatchedOperation(
            contract=contract,
            operation=operation,
            match=OperationMatch(offered=offered),
            offered=offered,
            lister=operation.id if operation.lists and not operation.about else None,
        )
    )
    bound = tuple(leaf for leaf in offered.answer if leaf.pointer in binding.list)
    if bound:
        shape = replace(shape, lists=bound, item=tuple(responses.inside(shape, *bound)))
    return shape


# -- What is recognised by its value ----------------------------------------------------------------
_Recognise: TypeAlias = Callable[[AnsweredOperation, MatchedOperation], Iterator[YamlEntry]]


def _raw(seen: AnsweredOperation, shape: MatchedOperation) -> list[tuple[SeenAnswer, Json]]:
    """Return every item of the lists that were found, with its answer."""
    found = [
        (answer, item)
        for answer in seen.answers
        for leaf in shape.lists
        for item in lists(answer.body, leaf.pointer) or ()
    ]
    return found[:MOST]


def _key(seen: AnsweredOperation, shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield the pointers to the keys of what the customers own, the most frequent first."""
    if seen.operation.makes:
        yield from (
            each for each in item_pointers.key(shape) if each.value == {"header": "Location"}
        )
        return
    owned = {each.key for each in all_owned(seen)}
    if seen.operation.about or not owned:
        return
    left = [
        {at for at, value in members(item) if id_of(value) in owned}
        for _, item in _raw(seen, shape)
    ]
    pointers: list[Json] = []
    while left := [each for each in left if each]:
        (at, _), *_ = Counter(at for each in left for at in sorted(each)).most_common(1)
        pointers.append(at)
        left = [each for each in left if at not in each]
    if not 0 < len(pointers) <= _MOST_KEYS:
        return
    value: Json = pointers[0] if len(pointers) == 1 else pointers
    yield YamlEntry(key="key", value=value, why="it has what the customers own")


def _on(seen: AnsweredOperation, shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield the pointer to the days of the customers' entries; none if several have the same."""
    days: defaultdict[str, Counter[date]] = defaultdict(Counter)
    for owned in all_owned(seen):
        days[str(owned.key)].update(entry.on for entry in owned.entries)
    shown: defaultdict[tuple[str, int], Counter[date]] = defaultdict(Counter)
    known: dict[str, str] = {}
    for answer, item in _raw(seen, shape):
        for at, day in members(item) if days[answer.about] else ():
            if is_day(day):
                shown[at, answer.n][date.fromisoformat(str(day)[:_DAY])] += 1
                known[at] = str(day)
    about = {answer.n: answer.about for answer in seen.answers}
    wrong = {at for (at, n), each in shown.items() if not each <= days[about[n]]}
    right = [at for at in known if at not in wrong]
    if len(right) != 1:
        return
    (at,) = right
    value: Json = at if len(known[at]) == _DAY else {"at": at, "first": _DAY}
    yield YamlEntry(key="on", value=value, why="it has the days of the customers' entries")


def _resource(seen: AnsweredOperation, shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield the word for each resource: what differs with it in the items that customers own."""
    owned = {str(each.key): each.resource for each in all_owned(seen)}
    words: defaultdict[str, defaultdict[str, set[Json]]] = defaultdict(lambda: defaultdict(set))
    for _, item in _raw(seen, shape):
        inside = [*members(item)]
        mine = next((owned[str(v)] for _, v in inside if str(id_of(v)) in owned), None)
        for at, value in inside if mine else ():
            if isinstance(value, str) and WORD.fullmatch(value):
                words[at][mine or ""].add(value)
    for at, by_resource in words.items():
        single = {name: next(iter(each)) for name, each in by_resource.items() if len(each) == 1}
        if set(single) == {*seen.operation.lists} and len({*single.values()}) == len(single) > 1:
            words_of: Json = {"at": at, "values": {**single}}
            yield YamlEntry(key="resource", value=words_of, why="it differs with the resource")
            return


def _list(seen: AnsweredOperation, _shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield the pointer to the only list with something that the customers own."""
    at = owned_list(seen)
    if at is not None:
        yield YamlEntry(key="list", value=at, why="it has what customers own")


def _next(seen: AnsweredOperation, shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield the pointer to the only link that is called the next one."""
    links = {
        at
        for body in seen.bodies
        for at, value in members(body)
        if is_link(value) and re.search(r"/next(/href|/url|/uri)?$", at)
    }
    if len(links) != 1:
        return
    yield YamlEntry(key="next", value=links.pop(), why="it is a link to the next page")


def _field(seen: AnsweredOperation, _shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield the pointer to each field that shows what was sent for it, where no other does."""
    shown: dict[str, set[str]] = {}
    made = made_requests(seen.record)
    # The first answer of each request: it may be changed later.
    for answer in {each.about: each for each in reversed(seen.answers) if each.raw_items}.values():
        for maker in made.get(answer.about, ())[:1]:
            body = body_of(replace(maker.wire, body=maker.wire.request_body))
            for name, spelling in maker.binding.arguments.items():
                sent = find(body, spelling.name) if spelling.place is Place.BODY else MISSING
                plain = spelling.text == "{}" and not (spelling.words or spelling.each)
                if isinstance(sent, str) and plain and not spelling.unit:
                    same = {at for at, value in members(answer.raw_items[0]) if value == sent}
                    shown[name] = shown.get(name, same) & same
    for name, pointers in shown.items():
        if len(pointers) == 1:
            yield YamlEntry(key=name, value=pointers.pop(), why="it shows what was sent")


_RECOGNISED: Final[Mapping[str, _Recognise]] = {
    "list": _list,
    "next": _next,
    "key": _key,
    "on": _on,
    "resource": _resource,
    "field": _field,
}


# -- Addresses that the answers link to --------------------------------------------------------------


def _by_link(record: Examined, contract: Contract, operation: Operation) -> Iterator[Finding]:
    """Propose the address of an operation about an item, where the list of items links to it."""
    first = record.first(operation.id)
    if not operation.about or operation.request or (first is not None and first.accepted):
        return
    mine = distinctive_words([operation.id])
    for lister in contract.operations.values():
        for answer in record.of(lister.id) if lister.lists and not lister.about else ():
            for raw, item in zip(answer.raw_items, answer.items, strict=False):
                for at, value in members(raw):
                    if is_link(value) and mine & distinctive_words([at, urlsplit(str(value)).path]):
                        yield from _address(
                            record, operation, lister, str(value), (item.key, item.id)
                        )
                        return


def _address(
    record: Examined, operation: Operation, lister: Operation, link: str, names: Sequence[Json]
) -> Iterator[Finding]:
    """Propose the path of a link, with the place at which it names the item."""
    parts, base = urlsplit(link), urlsplit(record.target.base_url).path.rstrip("/")
    path = parts.path.removeprefix(base)
    about, (key, _) = operation.about or "", names
    argument: Json = None
    for name, value in parse_qsl(parts.query):
        if value in map(str, filter(None, names)):
            argument = {"query": name} if value == key else {"query": name, "found": lister.id}
    steps = path.split("/")
    for number, step in enumerate(steps):
        if unquote(step) in map(str, filter(None, names)) and argument is None:
            steps[number] = f"{{{about}}}"
            argument = (
                {"path": about} if unquote(step) == key else {"path": about, "found": lister.id}
            )
    if argument is None:
        return
    for place, new in ((("path",), "/".join(steps)), (("arguments", about), argument)):
        at = ("operations", operation.id, *place)
        old = record.binding(operation).path if place == ("path",) else None
        edit = Edit(at=at, old=old, new=new)
        hint = f"{lister.id} links to `{place[-1]}: {flow(new)}`"
        yield record.finding(
            at, "the address to which answers link", "another", hint, weight=Weight.NOTE, edit=edit
        )
