"""Checks of the pointers into one item: key, date, resource, state and fields.

More than names is known: what the customer owns, what a request was sent with, which values
a contract allows in a field. A pointer that finds another value is recognised by that. The
keys of what customers own are known, and links to a created request end with its key.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation

from assay.binding.spelling import FieldAt
from assay.contract.files.document import Pointer
from assay.contract.model import Contract, Json, Operation
from assay.contract.scalars import same
from assay.doctor.context import DoctorContext, Finding, SeenAnswer, Weight
from assay.doctor.pointer_probe import (
    AnsweredOperation,
    Fits,
    PointerProbe,
    compare,
    correction,
    is_day,
    is_text,
    kind,
    nearest,
    values,
)
from assay.history import Owned
from assay.rules.clauses import clauses_of

#: How many different words of a bank are reported for one key.
_MOST_WORDS = 5
#: A shorter value may be part of a link by chance.
_DISTINCTIVE = 4


def date(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the date by which items are filtered."""
    if seen.binding.item.on:
        probe = PointerProbe(feature="on", at=seen.binding.item.on, fits=is_day, named=False)
        yield from compare(seen, probe, seen.items)


def bank_id(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the bank's own name of an item."""
    if seen.binding.item.id is not None:
        probe = PointerProbe(feature="id", at=(seen.binding.item.id,), fits=is_text)
        yield from compare(seen, probe, seen.items)


# -- Words for resources and states


def resource(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the words by which a bank says which resource an item is."""
    if bound := seen.binding.item.resource:
        known = {name: (word,) for name, word in bound.values.items()}
        yield from _words(seen, "resource", (bound.at,), known)


def state(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the words by which a bank says which state a request has."""
    if bound := seen.binding.item.state:
        known = {state.value: values for state, values in bound.values.items()}
        yield from _words(seen, "state", bound.at, known)


def _words(
    seen: AnsweredOperation,
    feature: str,
    pointers: tuple[str, ...],
    known: Mapping[str, tuple[Json, ...]],
) -> Iterator[Finding]:
    known_values = [word for several in known.values() for word in several]
    single = [word for word in known_values if not isinstance(word, tuple)]

    def fits(value: Json) -> bool:
        return any(same(value, word) for word in single) if single else is_text(value)

    probe = PointerProbe(
        feature=feature,
        below=("at",),
        at=pointers,
        what="one of the words under `values`",
        fits=fits,
        named=False,
    )
    shown = values(seen.items, pointers)
    if not shown:
        yield from compare(seen, probe, seen.items)
        return
    if len(single) < len(known_values):
        return  # words that only mean something together cannot be examined one by one
    unknown = {str(value): value for value in shown if not fits(value)}
    hint = "" if any(map(fits, shown)) else correction(seen.items, probe)
    if hint:
        place, found = (*seen.place(feature), "at"), f"another word at {pointers[0]}"
        yield seen.context.finding(place, probe.expected, found, hint)
        return
    for value in [*unknown.values()][:_MOST_WORDS]:
        yield _unknown_word(seen.context, (*seen.place(feature), "values"), known, value)


def _unknown_word(
    context: DoctorContext, place: Pointer, known: Mapping[str, tuple[Json, ...]], value: Json
) -> Finding:
    """Report a word that is missing, at the entry with a similar one if there is any."""
    word = str(value) if isinstance(value, str | int) else kind(value)
    similar = nearest(word, (str(value) for values in known.values() for value in values))
    entry = next((name for name, values in known.items() if similar in map(str, values)), None)
    masked = context.redactor.bounded(word, 40)
    where = (*place, entry) if entry else place
    expected = "a word listed in the target file"
    return context.finding(where, expected, repr(masked), f"add {masked!r}")


# -- Fields


def fields(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the fields: each must exist and hold a value that it can have."""
    for name, bound in seen.binding.item.fields.items():
        # The fields of a request are known only if it was sent with them.
        if not seen.operation.request or _sent_values(seen, name):
            yield from _field(seen, name, bound)


def _field(seen: AnsweredOperation, name: str, bound: FieldAt) -> Iterator[Finding]:
    fits = _field_fits(seen, name)
    shown = [value for value in values(seen.items, bound.at) if value is not None]
    if shown and (fits is None or any(map(fits, _decoded(seen, name)))):
        return
    probe = PointerProbe(
        feature="field",
        name=name,
        at=bound.at,
        what=f"the field {name}",
        fits=fits or is_plain,
        named=fits is None,
        names=(name,),
    )
    hint = correction(seen.items, probe)
    if hint:
        found = f"another value at {bound.at[0]}" if shown else f"nothing at {bound.at[0]}"
        yield seen.context.finding(seen.place("field", name), probe.expected, found, hint)
    elif not shown:
        place = _argument_of(seen, name) or seen.place("field", name)
        found = f"nothing at {bound.at[0]}"
        yield seen.context.finding(place, probe.expected, found, weight=Weight.DOUBT)


def _decoded(seen: AnsweredOperation, name: str) -> list[Json]:
    """Return a field of every item as decoded."""
    items = (item for answer in seen.answers for item in answer.exchange.items)
    return [item.fields[name] for item in items if name in item.fields]


def is_plain(value: Json) -> bool:
    """Whether it is a text, a number, or true or false."""
    return not isinstance(value, dict | list) and value is not None


def _argument_of(seen: AnsweredOperation, name: str) -> Pointer | None:
    """Return the place of the argument from which a field of a request has its value."""
    for operation in seen.context.operations if seen.operation.request else ():
        if operation.makes == seen.operation.request and name in operation.arguments:
            return ("operations", operation.id, "arguments", name)
    return None


def _sent_values(seen: AnsweredOperation, name: str) -> list[Json]:
    """Return what accepted calls sent for a field of a request."""
    request, operations = seen.operation.request, seen.context.operations
    sending = [
        operation.id for operation in operations if request in (operation.makes, operation.changes)
    ]
    calls = [answer.exchange.call for answer in seen.context.plain(*sending) if answer.accepted]
    return [call.arguments[name] for call in calls if name in call.arguments]


def _field_fits(seen: AnsweredOperation, name: str) -> Fits | None:
    """Return what recognises the value of a field, if anything is known of it."""
    if seen.operation.request:
        sent = _sent_values(seen, name)
        return lambda value: any(alike(value, argument) for argument in sent)
    contracts = seen.context.contracts_bound
    contract = next(
        candidate for candidate in contracts if seen.operation.id in candidate.operations
    )
    if name in {seen.operation.about, *(resource.key for resource in contract.resources.values())}:
        owned = {item.key for item in _owned(seen)}
        return lambda value: isinstance(value, str) and value in owned
    return _allowed(contract, name)


def _allowed(contract: Contract, name: str) -> Fits | None:
    """Return what recognises the values that clauses allow in a field, if any clause does."""
    value_sets = (clause.allowed_values(name) for clause in clauses_of(contract))
    allowed = [values for values in value_sets if values is not None]
    if not allowed:
        return None
    return lambda value: all(
        any(same(value, allowed_value) for allowed_value in each) for each in allowed
    )


def _owned(seen: AnsweredOperation) -> list[Owned]:
    """Return everything that the customers of the probes own."""
    return [owned for subject in seen.context.subjects.values() for owned in subject.owns]


def alike(value: Json, sent: Json) -> bool:
    """Whether a value in an answer may be one that was sent."""
    if same(value, sent) or str(value) == str(sent):
        return True
    try:
        return Decimal(str(value)) == Decimal(str(sent))
    except InvalidOperation:
        return str(value)[:10] == str(sent)[:10] and is_day(sent)


# -- Keys


def key(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the key: it must exist, and identify the item."""
    item, operation = seen.binding.item, seen.operation
    if not item.key:
        return
    if operation.makes:
        yield from _created_key(seen)
        return
    known = _known_keys(seen)
    probe = PointerProbe(
        feature="key",
        at=item.key,
        fits=(lambda value: is_text(value) and value in known) if known else is_text,
        named=not known,
    )
    finding = next(compare(seen, probe, seen.items), None)
    shown = values(seen.items, item.key)
    foreign = known and (finding is None or not finding.hint) and not operation.about
    if foreign and any(map(is_text, shown)):
        yield from _foreign_keys(seen)
    elif finding is not None and (known or not shown):
        yield finding


def _foreign_keys(seen: AnsweredOperation) -> Iterator[Finding]:
    """Report each customer whose list shows none of the items that the customer owns."""
    context = seen.context
    roles = {role.name for role in context.target.fixtures.roles}
    shown: defaultdict[str, set[str]] = defaultdict(set)
    for answer in seen.answers:
        shown[answer.subject] |= {item.key for item in answer.exchange.items if item.key}
    for name, keys in shown.items():
        subject, role = context.subjects.get(name), context.role_of.get(name, "")
        owned = {item.key for item in subject.owns} if subject else keys
        if keys and owned and not keys & owned:
            place = ("fixtures", "roles", role, "owns") if role in roles else seen.place("key")
            expected, found = "keys of items that the customer owns", "other keys in the list"
            yield context.finding(place, expected, found, weight=Weight.DOUBT)


def _known_keys(seen: AnsweredOperation) -> frozenset[Json]:
    """Return the keys of what the customers own, some of which an operation should list."""
    if seen.operation.request:
        return frozenset()
    if not seen.operation.about:
        return frozenset(owned.key for owned in _owned(seen))
    entries = (entry for owned in _owned(seen) for entry in owned.entries)
    return frozenset(entry.key for entry in entries if seen.binding.item.on)


def _created_key(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the key of a created request: links end with it, and no two are the same."""
    item, answer = seen.binding.item, seen.answers[0]
    keys = [key for key in values(seen.items, item.key) if is_text(key)]
    if not keys:
        probe = PointerProbe(feature="key", at=item.key, fits=is_text)
        yield from compare(seen, probe, seen.items)
        return
    repeated = len(keys) > 1 and len(set(map(str, keys))) == 1
    if _linked(answer, str(keys[0])) and not repeated:
        return

    def fits(value: Json) -> bool:
        return is_text(value) and len(str(value)) >= _DISTINCTIVE and _linked(answer, str(value))

    probe = PointerProbe(feature="key", at=item.key, fits=fits, named=False)
    hint = correction(seen.items, probe)
    if hint or repeated:
        found = "the same value in every request" if repeated else "a value that is in no link"
        yield seen.context.finding(seen.place("key"), probe.expected, found, hint)


def has_wrong_key(context: DoctorContext, operation: Operation) -> bool:
    """Whether the target file has the wrong key for what an operation creates."""
    good = [answer for answer in context.of(operation.id) if answer.good]
    if not good or not good[0].binding.item.key:
        return False
    seen = AnsweredOperation(context=context, operation=operation, answers=good)
    return any(True for _ in _created_key(seen))


def _linked(answer: SeenAnswer, value: str) -> bool:
    """Whether a link of the answer, or its Location, ends with a value."""
    wire = answer.exchange.wire
    links: Sequence[str] = (*wire.links, wire.header("Location") or "")
    return any(link.partition("?")[0].rstrip("/").endswith(f"/{value}") for link in links)
