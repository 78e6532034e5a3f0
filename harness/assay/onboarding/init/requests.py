"""Guesses of the features of requests: where arguments and modes go, and what else is sent.

Guessed by the names of parameters and of members of the body.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import cast

from assay.binding.model.pointer import texts
from assay.binding.model.secret_names import secret_header, secret_kind
from assay.contract.model import Contract, Json
from assay.files.edits import flow
from assay.onboarding.init.argument_matching import argument, made_with
from assay.onboarding.init.example_calls import DAYS, IBAN, LIKE_AN_IBAN
from assay.onboarding.init.openapi_operations import (
    EACH,
    OpenApiParameter,
    SchemaLeaf,
    typed,
    words,
)
from assay.onboarding.init.operation_matching import MatchedOperation, item_words, names_item
from assay.onboarding.init.synonyms import (
    beside,
    called,
    cancelling,
    days_of,
    is_unique_header,
    unit_of,
)
from assay.onboarding.init.yaml_writer import YamlEntry
from assay.rules.formats import is_iban
from assay.rules.lifecycle.execution_record import USUAL
from assay.rules.rule import facts_of

#: Usual names of the beginning and the end of a range, in other languages as well.
_SINCE = (
    *(("date", "from"), ("from",), ("since",), ("start",), ("date", "start")),
    *(("oldest", "date"), ("oldest", "time")),
    *(("desde",), ("fecha", "desde"), ("von",), ("datum", "von"), ("depuis",), ("date", "debut")),
    *(("dal",), ("vanaf",)),
)
_UNTIL = (
    *(("date", "to"), ("to",), ("until",), ("end",), ("date", "end")),
    *(("newest", "date"), ("newest", "time")),
    *(("hasta",), ("fecha", "hasta"), ("bis",), ("datum", "bis"), ("jusqu",), ("date", "fin")),
    *(("al",), ("tot",)),
)
#: Other words for the modes of a request.
_MODES = {
    "deferred": (frozenset({"future", "dated"}), frozenset({"future"})),
    "instant": (frozenset({"inst"}),),
}
_IBAN = re.compile(r"\biban\b", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII)
#: Descriptions of the end of a range without its day; "on or before" is with it.
_OUT = re.compile(r"exclu|not included|non inclus|(?<!\bor )\bbefore\b", re.IGNORECASE)


def arguments(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield where each argument goes, or that this is missing."""
    operation = shape.operation
    if operation.about:
        yield from _about(shape, operation.about)
    for name, forms in ((operation.since, _SINCE), (operation.until, _UNTIL)):
        if name and name not in operation.arguments:
            yield _range(shape, name, forms, end=name == operation.until)
    if operation.grants:
        yield granted(shape, operation.grants)
    # A DELETE says by its method that it ends a request.
    unsaid = operation.ends and shape.offered.method == "DELETE"
    for name in operation.arguments:
        named = name in shape.offered.named("header") | shape.offered.named("query")
        if name != operation.grants and (named or not unsaid):
            yield from _member(shape, name)


def _about(shape: MatchedOperation, name: str) -> Iterator[YamlEntry]:
    """Yield where the item that a call is about is named: in the path or a parameter."""
    paths, query = shape.offered.named("path"), shape.offered.named("query")
    slot = about_slot(shape)
    if name in shape.slots:
        return
    if name in query:
        yield YamlEntry(key=name, value={"query": name})
    elif slot is not None:
        yield _named(shape, name, "path", paths.get(slot) or query.get(slot), slot)
    elif near := [
        taken for taken in _taken(shape) if names_item(shape.contract, shape.operation, taken.name)
    ] or [taken for taken in _taken(shape) if (name, taken.leaf.form) == (IBAN, IBAN)]:
        yield _named(shape, name, near[0].place, near[0], near[0].at)
    else:
        what = "the parameter that names the item of a call"
        yield shape.gap("argument", name, what=what, example=f"{{query: {name}}}")


def _taken(shape: MatchedOperation) -> list[OpenApiParameter]:
    """Return the query parameters, and at the top of the body of a POST that reads, the members."""
    reads = shape.offered.method == "POST" and not (shape.operation.makes or shape.operation.grants)
    members = [
        OpenApiParameter(
            name=leaf.name,
            place="body",
            required=leaf.required,
            leaf=leaf,
            description=leaf.description,
        )
        for leaf in (shape.offered.request if reads else ())
        if leaf.is_member and leaf.is_value
    ]
    return [*shape.offered.named("query").values(), *members]


def about_slot(shape: MatchedOperation) -> str | None:
    """Return the path parameter that names the item of a call, if there is one."""
    name = shape.operation.about
    if name is None:
        return None
    if name in shape.slots:
        return name
    mine = item_words(shape.contract, shape.operation)
    near = sorted(shape.slots, key=lambda slot: -len(mine & set(words(slot))))
    if near and (len(near) == 1 or mine & set(words(near[0]))):
        return near[0]
    # Where no name is similar, the path ends with the item.
    ends = shape.operation.path.endswith("}") and shape.offered.path.endswith("}")
    return shape.slots[-1] if near and ends else None


def _named(
    shape: MatchedOperation, name: str, place: str, parameter: OpenApiParameter | None, called: str
) -> YamlEntry:
    """Return that a parameter takes the key of an item, or the bank's own name from a list."""
    about = f"{parameter.leaf.form} {parameter.description}" if parameter else ""
    is_key = bool(set(words(name)) & set(words(called)))
    # A resource id, and any that a list shows, is the bank's own name, whatever is said of it.
    is_own = "resource" in words(called) or ("id" in words(called) and shape.has_ids)
    if "iban" in words(name) and not is_own:
        is_key |= bool(_IBAN.search(about)) or words(called) == ("account", "number")
    if is_key or not shape.lister:
        why = f"{called} names the item of the call"
        return YamlEntry(key=name, value={place: called}, why=why)
    if not shape.has_ids:
        what = f"{called} is not {name}, and {shape.lister} shows no id of its items"
        example = f"{{{place}: {called}, found: {shape.lister}}}"
        return shape.gap("argument", name, what=what, example=example)
    why = f"{called} is not {name}, so it is looked up in {shape.lister}"
    return YamlEntry(key=name, value={place: called, "found": shape.lister}, why=why)


def may_be_iban(name: str, parameter: OpenApiParameter) -> bool:
    """Whether the document says of a parameter that it takes the IBAN that a call is about."""
    return "iban" in words(name) and bool(_IBAN.search(parameter.description))


def _range(
    shape: MatchedOperation, name: str, forms: Sequence[tuple[str, ...]], *, end: bool
) -> YamlEntry:
    """Return the parameter for the beginning or the end of a range of dates."""
    everything = _taken(shape)
    if any(taken.place == "query" and taken.at == name for taken in everything):
        return YamlEntry(key=name, value={"query": name})
    similar = [taken for form in forms for taken in everything if _has_form(taken, form)]
    # Of several dates, lists are filtered by that of the booking.
    taken = next((each for each in similar if "booking" in words(each.name)), None)
    taken = taken or next(iter(similar), None)
    if taken is None:
        what = f"the parameter for the {'to' if end else 'from'} date"
        return shape.gap("argument", name, what=what, example=f"{{query: {name}}}")
    spelling: dict[str, Json] = {taken.place: taken.at, **days_of(taken.leaf)}
    why = f"the parameter {taken.name} is similar to {name}"
    excludes = end and bool(_OUT.search(taken.description))
    if taken.leaf.form == "date-time" or "time" in words(taken.name):
        spelling["text"] = "{}T23:59:59{offset}" if end and not excludes else "{}T00:00:00{offset}"
        why += ", with a time"
    if excludes:
        spelling["exclusive"] = True
        why += ", and excludes the day"
    return YamlEntry(key=name, value=spelling, why=why)


def _has_form(parameter: OpenApiParameter, form: tuple[str, ...]) -> bool:
    """Whether a parameter has the words of a form; with several, in any order."""
    mine = words(parameter.name)
    return mine == form or (len(form) > 1 and set(form) <= set(mine))


def modes(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield how each mode is requested: by a value of a parameter or member.

    Where one of two values is that of another mode, the ordinary one has what is left.
    """
    modes = shape.operation.modes
    known = {mode: found for mode in modes if (found := _mode_value(shape, mode))}
    ordinary = {*modes[:1], *(shape.operation.due.modes if shape.operation.due else ())}
    for mode in modes:
        found = known.get(mode)
        used = {value for _, _, value in known.values()}
        for place, leaf, value in known.values() if found is None and mode in ordinary else ():
            left = [each for each in leaf.values if each not in used]
            plain = {*words(value)} - _own_words(value, leaf.values)
            left = [each for each in left if {*words(each)} == plain] or left
            if len(left) == 1 and leaf.fixed:
                found = place, leaf, left[0]
        if found is None:
            again = granted_again(shape, mode)
            yield (
                again
                or (_unsaid(shape, mode) if mode in ordinary else None)
                or _unknown_mode(shape, mode)
            )
            continue
        place, leaf, value = found
        at = leaf.pointer if place == "body" else leaf.name
        why = f"{value} is a value of {leaf.name}"
        yield YamlEntry(key=mode, value={place: at, "value": value}, why=why)


def _mode_value(shape: MatchedOperation, mode: str) -> tuple[str, SchemaLeaf, str] | None:
    """Return the place with a value for a mode, and the value."""
    usual = [frozenset(words(mode)), *_MODES.get(mode, ())]
    for place, leaf in _choices(shape):
        whole = [each for each in leaf.values if frozenset(words(each)) in usual]
        besides = [each for each in leaf.values if _own_words(each, leaf.values) in usual]
        value = next(iter(whole or besides), None)
        if value is not None:
            return place, leaf, value
    return None


def _own_words(value: str, values: Sequence[str]) -> frozenset[str]:
    """Return the words of a value without those of another one that it is made from, if there is one.

    So `instant` is what `instant-credit-transfers` says beside `credit-transfers`.
    """
    mine = frozenset(words(value))
    others = (frozenset(words(each)) for each in values if each != value)
    return min((mine - each for each in others if each and each < mine), key=len, default=mine)


def _unsaid(shape: MatchedOperation, mode: str) -> YamlEntry | None:
    """Return that nothing says a mode but the day, where there is one and no word that might."""
    due = shape.operation.due
    day = argument(shape, due.argument) if due else None
    may_say = any(leaf.fixed and len(leaf.values) > 1 for _, leaf in _choices(shape))
    if day is None or may_say or mode_slots(shape):
        return None
    why = f"nothing but {day[0].name} tells the modes apart"
    return YamlEntry(key=mode, value={"body": "", "value": {}}, why=why)


def _unknown_mode(shape: MatchedOperation, mode: str) -> YamlEntry:
    """Return that a mode is missing: with a date to come, nothing else need say so."""
    slots = [slot for slot in shape.slots if slot in mode_slots(shape)]
    due = shape.operation.due
    if due is None or mode not in due.modes or slots:
        example = flow({"path": slots[0], "value": "…"}) if slots else ""
        return shape.gap("mode", mode, example=example)
    what = f"how this mode is requested; as here, if {due.argument} alone says so"
    return shape.gap("mode", mode, what=what, example='{body: "", value: {}}')


def _choices(shape: MatchedOperation) -> Iterator[tuple[str, SchemaLeaf]]:
    for name in shape.slots:
        if name in mode_slots(shape):
            leaf = shape.offered.named("path")[name].leaf
            yield "path", replace(leaf, steps=(name,))
    for place in ("query", "header"):
        for name, parameter in shape.offered.named(place).items():
            yield place, SchemaLeaf(steps=(name,), values=parameter.leaf.values)
    yield from (("body", leaf) for leaf in shape.offered.request if leaf.values and leaf.steps)


def unfilled_slots(shape: MatchedOperation) -> Iterator[str]:
    """Yield the path parameters that no argument of the contract fills.

    A request keeps the mode in whose path it was made.
    """
    filled = bound_places(shape, "path") | {shape.operation.about}
    if not shape.operation.makes:
        filled |= mode_slots(shape)
    yield from (slot for slot in shape.slots if slot not in filled)


def queries(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield required query parameters that no argument of the contract fills."""
    bound = bound_places(shape, "query")
    for name, parameter in shape.offered.named("query").items():
        if parameter.required and name not in bound:
            known = parameter.leaf.values and not secret_kind(name)
            value = _usual_value(parameter) if known else "…"
            what = f"a value for {name}, which the document requires in the query"
            yield shape.gap("queries", what=what, example=flow({name: value}))


def _usual_value(parameter: OpenApiParameter) -> str:
    """Return the value of a parameter that asks for the usual: of entries, those that are booked."""
    values = parameter.leaf.values
    return "booked" if "booked" in values else values[0]


def bound_places(shape: MatchedOperation, place: str) -> set[str]:
    """Return what arguments and modes are bound to in a place: parameters, or pointers."""
    entries = (*arguments(shape), *modes(shape))
    bound = (entry.value.get(place) for entry in entries if isinstance(entry.value, dict))
    pointers = (at if isinstance(at, list) else [at] for at in bound if at)
    return {str(at) for several in pointers for at in several}


def _member(shape: MatchedOperation, name: str) -> Iterator[YamlEntry]:
    """Yield where an argument of a request goes, and that its value is missing."""
    entry, is_date = _cancels(shape, name) or _placed(shape, name)
    spelling = entry.value if isinstance(entry.value, dict) else {}
    if shape.is_whole:  # the body of the request has the value
        spelling = {key: value for key, value in spelling.items() if key != "value"}
        entry = replace(entry, value=spelling or None)
    elif shape.operation.changes and _is_another(shape, name, spelling.get("value")):
        spelling["other"] = spelling.pop("value")
        entry = replace(entry, value=spelling)
    yield entry
    own = is_date or name == shape.operation.owned
    fixed = shape.operation.makes or not ({"body", "path"} & spelling.keys())
    if fixed and spelling and "value" not in spelling and not own:
        what = f"the {name} of an ordinary request"
        example = flow({**spelling, "value": "…"})
        yield shape.gap("argument", name, what=what, example=example)
    own = own or bool(facts_of(shape.contract).fixed_values.get(name))
    changed = shape.operation.changes and "other" in shape.required and spelling and not own
    if changed and "other" not in spelling:
        what, example = f"the {name} that a change gives", flow({**spelling, "other": "…"})
        yield shape.gap("argument", name, what=what, example=example)


def _is_another(shape: MatchedOperation, name: str, value: Json) -> bool:
    """Whether a change shows a value that the new request of the document does not have."""
    made = made_with(shape, name)
    return value is not None and made is not None and str(value) not in made.values


def _cancels(shape: MatchedOperation, name: str) -> tuple[YamlEntry, bool] | None:
    """Return that a word for a state cancels a request, where nothing has the name of the argument."""
    found = cancelling(shape.offered.request) if shape.operation.ends else None
    if found is None or called(name, shape.offered.request):
        return None
    leaf, word = found
    value: Json = {"body": leaf.pointer, "value": word}
    return YamlEntry(key=name, value=value, why=f"{word} is a value of {leaf.name}"), False


def _is_secret(place: str, name: str) -> bool:
    """Whether the value of a parameter is a secret, by its name."""
    return bool(secret_kind(name)) or (place == "header" and secret_header(name.lower()))


def _placed(shape: MatchedOperation, name: str) -> tuple[YamlEntry, bool]:
    """Return where an argument goes: a parameter of its name, or in the body; and if it is a date."""
    for place in ("header", "query"):
        parameter = shape.offered.named(place).get(name)
        if parameter is not None:
            taken: dict[str, Json] = {place: name}
            known = parameter.required and parameter.leaf.values and not _is_secret(place, name)
            if place == "header" and is_unique_header(name):
                taken["value"] = "{unique}"
            elif known and parameter.leaf.fixed:
                taken["value"] = _usual_value(parameter)
            elif known:
                taken["value"] = parameter.leaf.values[0]
                return YamlEntry(key=name, value=taken, why="the document's example"), False
            return YamlEntry(key=name, value=taken), False
    found = argument(shape, name)
    if found is None:
        what = f"the place of {name} in the request"
        # Names of headers have hyphens, and members of a body have none.
        place = f"header: {name}" if "-" in name else f"body: /{name}"
        example = f"{{{place}, value: …}}"
        return shape.gap("argument", name, what=what, example=example), False
    leaf, why = found
    spelling: dict[str, Json] = {"body": leaf.pointer}
    # The account of the customer is that of the fixture, whatever the document's example.
    spelling |= {**unit_of(leaf), **days_of(leaf), **_sums(leaf)}
    if leaf.form not in DAYS and name != shape.operation.owned and not unit_of(leaf):
        spelling |= dict(zip(("value", "other"), _valid(shape, name, leaf), strict=False))
        spelling |= {**_another_sum(shape, name, spelling.get("value")), **spelling}
    if leaf.form == "date-time":
        spelling["text"] = "{}T00:00:00Z"
    due = shape.operation.due
    if leaf.form == "date" and shape.operation.makes and not (due and due.argument == name):
        spelling["value"] = "{today+30}"
    is_date = leaf.form in DAYS
    return YamlEntry(key=name, value=spelling, why=why), is_date


def _sums(leaf: SchemaLeaf) -> dict[str, Json]:
    """Return an ordinary amount and another one, where a document shows one in minor units."""
    cents = next(filter(_NUMBER.fullmatch, leaf.values), "") if unit_of(leaf) else ""
    amount = Decimal(cents or 0).scaleb(-2)
    other = _one_more(amount)
    return {"value": f"{amount:.2f}", **other} if other else {}


def _another_sum(shape: MatchedOperation, name: str, value: Json) -> dict[str, Json]:
    """Return one more of the main unit than an ordinary amount; of another argument, nothing."""
    amounts = {each.amount for each in shape.contract.operations.values()}
    numeric = name in amounts and _NUMBER.fullmatch(str(value))
    return _one_more(Decimal(str(value))) if numeric else {}


def _one_more(amount: Decimal) -> dict[str, Json]:
    """Return one more of the main unit than an ordinary amount; than another, nothing."""
    usual = USUAL[0] <= amount <= USUAL[1] - 1
    return {"other": f"{amount + 1:.2f}"} if usual else {}


def _valid(shape: MatchedOperation, name: str, leaf: SchemaLeaf) -> tuple[Json, ...]:
    """Return valid values: that of the contract, or those of the document.

    A value that a rule of the contract names is no ordinary one, and of an enumeration the
    bank may accept just some: only its first is taken.
    """
    fixed = facts_of(shape.contract).fixed_values.get(name)
    if fixed:
        return fixed[:1]
    special = named_by_rules(shape.contract)
    ordinary = tuple(
        typed(leaf, value)
        for value in leaf.values
        if value not in special and _is_ordinary(shape, name, value)
    )
    return ordinary[:1] if leaf.fixed else ordinary[:2]


def named_by_rules(contract: Contract) -> frozenset[str]:
    """Return the values that rules of a contract name: with one of them, a request is no ordinary one."""
    return frozenset(text for _, text in texts([clause.params for clause in contract.clauses]))


def _is_ordinary(shape: MatchedOperation, name: str, value: str) -> bool:
    """Whether a bank may accept a document's example: an IBAN that exists, an amount that is usual."""
    if name == shape.operation.amount:
        return not _NUMBER.fullmatch(value) or USUAL[0] <= Decimal(value) <= USUAL[1]
    return not LIKE_AN_IBAN.fullmatch(value) or is_iban(value)


# -- Where a consent lists what it covers, and in which shape ------------------------------------
def granted(shape: MatchedOperation, name: str) -> YamlEntry:
    """Return where a consent lists what it covers, possibly in several lists."""
    arrays = [leaf for leaf in shape.offered.request if leaf.kind == "array" and not leaf.is_listed]
    operations = shape.contract.operations.values()
    available = [operation.id for operation in operations if operation.available]
    known = {word for known in (name, *available) for word in words(known)}
    inside = [leaf for leaf in arrays if [words(name)] == [*map(words, leaf.steps[-2:-1])]]
    lists = [leaf for leaf in inside if _item_shape(shape, leaf)]
    lists = lists or [leaf for leaf in arrays if set(leaf.words) & known]
    lists = lists or [leaf for leaf in arrays if _item_shape(shape, leaf)][:1]
    lists = lists or (arrays if len(arrays) == 1 and not shape.match.why else [])
    if not lists:
        what = "the pointer to the list of what a consent covers"
        return shape.gap("argument", name, what=what, example=f"{{body: /{name}}}")
    pointers = [leaf.pointer for leaf in lists if len(leaf.steps) == len(lists[0].steps)]
    spelling: dict[str, Json] = {"body": pointers[0] if len(pointers) == 1 else [*pointers]}
    several = "the list" if len(pointers) == 1 else f"the {len(pointers)} lists"
    why = f"{several} in the body of {shape.offered}"
    item = _item_shape(shape, lists[0])
    if item:
        spelling["each"] = item
        resources = item.get("by")
        keys = resources if isinstance(resources, dict) else item
        why += f" with {' and '.join(keys)} in each"
    elif (lister := _listing_all(shape)) and _has_numbers(shape, lists[0]):
        spelling |= {"found": lister, "unit": "1"}
        why += f", with the ids that {lister} shows"
    elif pointers == [f"/{name}"]:
        why = ""
    return YamlEntry(key=name, value=spelling, why=why)


def granted_again(shape: MatchedOperation, mode: str) -> YamlEntry | None:
    """Return the list of the name of a mode that names once more what a consent covers, if any."""
    name = shape.operation.grants
    known = granted(shape, name).value if name else None
    places = known.get("body", ()) if isinstance(known, dict) else ()
    taken = (places,) if isinstance(places, str) else cast("Sequence[str]", places)
    first = next((leaf for leaf in shape.offered.request if leaf.pointer in taken), None)
    if name is None or first is None:
        return None
    for leaf in shape.offered.request:
        alike = leaf.kind == "array" and _item_shape(shape, leaf) == _item_shape(shape, first)
        if alike and leaf.pointer not in taken and set(leaf.words) <= {*words(mode)}:
            why = f"{leaf.name} lists what {taken[0]} lists"
            return YamlEntry(
                key=mode, value={"body": leaf.pointer, "value": f"{{{name}}}"}, why=why
            )
    return None


def _listing_all(shape: MatchedOperation) -> str | None:
    """Return the operation that lists what customers own."""
    operations = shape.contract.operations.values()
    return next((each.id for each in operations if each.lists and not each.about), None)


def _has_numbers(shape: MatchedOperation, array: SchemaLeaf) -> bool:
    """Whether the elements of a list are whole numbers."""
    each = (*array.steps, EACH)
    return any(leaf.steps == each and leaf.kind == "integer" for leaf in shape.offered.request)


def _item_shape(shape: MatchedOperation, array: SchemaLeaf) -> dict[str, Json]:
    """Return the shape of one item in a list; empty if an item is only a key."""
    inside = (leaf.below((*array.steps, EACH)) for leaf in shape.offered.request)
    members = [leaf for leaf in inside if leaf and leaf.is_text]
    members = [leaf for leaf in members if not leaf.is_listed]
    resources = shape.contract.resources.values()
    keys = {resource.key for resource in resources if resource.key}
    first = next((leaf for leaf in members if leaf.steps[-1] in keys), None)
    if first is None:
        return _nested(members[0].steps) if len(members) == 1 else {}
    neighbour = next((leaf for leaf in members if leaf.words == ("pan",)), beside(first, members))
    operations = shape.contract.operations.values()
    listed = {name for operation in operations for name in operation.lists}
    kinds = [each.id for each in resources if each.key and not each.of and each.id in listed]
    if neighbour is None or len(kinds) == 1:
        return _nested(first.steps)
    rest: dict[str, Json] = dict.fromkeys(kinds[1:], _nested(neighbour.steps))
    return {"by": {kinds[0]: _nested(first.steps), **rest}}


def _nested(steps: tuple[str, ...]) -> dict[str, Json]:
    """Return an object with the key at the end of some steps."""
    first, *rest = steps
    return {first: _nested(tuple(rest)) if rest else "{}"}


# -- Modes of requests that a document has in a path, as values of a path parameter ----------------
# Only values with the very name of a mode count, perhaps in front of that of another value: what
# else a value means, a document does not say. A request is read, changed and cancelled under the path under which it was made.


def mode_slots(shape: MatchedOperation) -> frozenset[str]:
    """Return the path parameters of an operation with a value that is a mode of its request."""
    requests = {shape.operation.makes, shape.operation.request} - {None}
    modes = {
        frozenset(words(mode))
        for maker in shape.contract.operations.values()
        if maker.makes in requests
        for mode in maker.modes
    }
    return frozenset(
        name
        for name, parameter in shape.offered.named("path").items()
        if parameter.leaf.fixed
        and any(
            modes & {frozenset(words(value)), _own_words(value, parameter.leaf.values)}
            for value in parameter.leaf.values
        )
    )
