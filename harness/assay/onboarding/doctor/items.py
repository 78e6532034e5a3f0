"""Checks of the pointers into one item: key, date, resource, state and fields.

More than names is known: the keys of what customers own, and their resources; and links to a
created request end with its key.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from difflib import SequenceMatcher
from itertools import product
from typing import Final

from assay.binding.model.features import BINDING_FEATURES
from assay.binding.model.spelling import FieldAt
from assay.binding.wire.date_formats import EPOCHS, read
from assay.binding.wire.links import id_of
from assay.binding.wire.values import RequestValues, sent
from assay.contract.model import Capability, Json, Operation
from assay.contract.scalars import number_of, same, same_value, text_of
from assay.files.document import Pointer, spell
from assay.files.edits import Edit
from assay.history import Owned, Subject
from assay.onboarding.doctor.offers import place_of
from assay.onboarding.doctor.pointer_probe import (
    AnsweredOperation,
    Fits,
    Meant,
    PointerProbe,
    compare,
    correction,
    is_day,
    is_id,
    is_text,
    kind,
    meant,
    members,
    nearest,
    other_format,
    paired,
    respelt,
    values,
)
from assay.onboarding.doctor.record import Examined, Finding, SeenAnswer, Weight, rule_probe
from assay.rules.queries import has_value
from assay.rules.rule import facts_of

#: How many different words of a bank are reported for one key.
_MOST_WORDS = 5
#: The least similarity of two spellings of one word.
_SAME = 0.85
#: A shorter value may be part of a link by chance.
_DISTINCTIVE = 4
#: How many elements of a list are looked into.
_MOST_ITEMS = 200


def date(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the date by which items are filtered."""
    item = seen.binding.item

    def fits(value: Json) -> bool:
        return is_day(read(value, item.on_format, None) if item.on_format else value)

    shown = values(seen.items, item.on)
    probe = PointerProbe(feature="on", at=item.on, fits=fits, named=False)
    findings = tuple(compare(seen, probe))
    pattern = other_format(shown, is_day, None) if findings else ""
    if pattern or (shown and findings and item.on_format):
        hint = f"is it written as {pattern}? (`format`)" if pattern else ""
        findings = (seen.doubt("on", probe.expected, f"{kind(shown[0])} of another form", hint),)
    yield from findings or _days(seen)


def _days(seen: AnsweredOperation) -> Iterator[Finding]:
    """Report a date that differs, for every entry, from the day that the fixture provider says."""
    owned = all_owned(seen) if seen.record.makes_customers else ()
    days = {entry.key: entry.on for each in owned for entry in each.entries}
    items = [item for answer in seen.answers for item in answer.items]
    shown = [item.on == days[item.key] for item in items if item.on and item.key in days]
    if shown and not any(shown):
        expected, found = "the days on which the fixtures have entries", "another day for each"
        hint = "does the bank show two dates, or do the fixtures say other days than were created?"
        yield seen.doubt("on", expected, found, hint)


def bank_id(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the bank's own name of an item."""
    pointer = seen.binding.item.id
    at = () if pointer is None else (pointer,)
    yield from compare(seen, PointerProbe(feature="id", at=at, fits=is_id))
    # Each trial may create the same account anew, under another name.
    told: dict[str, set[str]] = {}
    for owned in all_owned(seen):
        if owned.id:
            told.setdefault(owned.key, set()).add(owned.id)
    items = [item for answer in seen.answers for item in answer.items]
    if any(item.id and item.id not in told.get(item.key or "", {item.id}) for item in items):
        hint = "do the fixtures say the name that calls need? (`Owned.id`)"
        yield seen.doubt("id", "the ids that the fixtures say", "another id of an item", hint)


# -- Words for resources and states


def resource(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the words by which a bank says which resource an item is."""
    if bound := seen.binding.item.resource:
        known = {name: (word,) for name, word in bound.values.items()}
        findings = tuple(_words(seen, "resource", (bound.at,), known))
        yield from findings or _resources(seen)


def _resources(seen: AnsweredOperation) -> Iterator[Finding]:
    """Report a word that is shown only for owned items of another resource than its own."""
    owned = {item.key: item.resource for item in all_owned(seen)}
    items = [item for answer in seen.answers for item in answer.items]
    shown = {(item.resource, owned[item.key]) for item in items if item.key in owned}
    for resource, actual in sorted(pair for pair in shown if pair[0] and pair[0] != pair[1]):
        if (resource, resource) not in shown and resource:
            expected, below = f"the word for {resource}", ("values", resource)
            yield seen.doubt("resource", expected, f"that for {actual}", below=below)


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
        recognised=bool(single),
    )
    shown = values(seen.items, pointers)
    if not shown:
        yield from compare(seen, probe)
        return
    if len(single) < len(known_values):
        return  # words that only mean something together cannot be examined one by one
    unknown = {str(value): value for value in shown if not fits(value)}
    instead = None if any(map(fits, shown)) else correction(seen.items, probe)
    if instead:
        found = f"another word at {pointers[0]}"
        yield seen.doubt(feature, probe.expected, found, below=("at",), instead=instead)
        return
    for value in [*unknown.values()][:_MOST_WORDS]:
        yield _unknown_word(seen.record, (*seen.place(feature), "values"), known, value)


def _unknown_word(
    record: Examined, place: Pointer, known: Mapping[str, tuple[Json, ...]], value: Json
) -> Finding:
    """Report a word that is missing, at the entry with a similar one if there is any."""
    word = str(value) if isinstance(value, str | int) else kind(value)
    similar = nearest(word, (str(value) for values in known.values() for value in values))
    entry = next((name for name, values in known.items() if similar in map(str, values)), None)
    masked = repr(record.redactor.bounded(word, 40))
    where, expected = (*place, entry) if entry else place, "a word listed in the target file"
    edit = None
    if entry and isinstance(value, str) and SequenceMatcher(None, similar, word).ratio() >= _SAME:
        edit = Edit(at=where, old=similar, new=word)
    return record.finding(where, expected, masked, f"add {masked}", edit=edit)


# -- Keys


def key(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the key: it must exist, and identify the item."""
    item, operation = seen.binding.item, seen.operation
    if not item.key:
        return
    if operation.makes:
        yield from _created_key(seen)
        return
    yield from alternatives(seen, "key", item.key)
    known = known_keys(seen)
    probe = PointerProbe(
        feature="key",
        at=item.key,
        fits=(lambda value: id_of(value) in known) if known else is_id,
        named=not known,
        recognised=bool(known),
    )
    finding = next(compare(seen, probe), None)
    shown = values(seen.items, item.key)
    if operation.writes and shown and finding is not None and not finding.hint:
        return  # a change may answer with a request of its own, in the place of the former one
    foreign = known and (finding is None or not finding.hint) and not operation.about
    if foreign and any(map(is_id, shown)):
        yield from tuple(_foreign_keys(seen)) or _keys_of_resources(seen)
    elif finding is not None and (known or not shown):
        yield finding


def _foreign_keys(seen: AnsweredOperation) -> Iterator[Finding]:
    """Report each customer whose list shows none of what the customer owns, or more than that."""
    record = seen.record
    roles = {role.name for role in record.target.fixtures.roles}
    complete = Capability.ROSTER in record.target.fixtures.offers
    shown: defaultdict[str, set[str]] = defaultdict(set)
    for answer in seen.answers:
        shown[answer.subject] |= {item.key for item in answer.items if item.key}
    for name, keys in shown.items():
        subject, role = record.subjects.get(name), record.role_of.get(name, "")
        owned = {item.key for item in subject.owns} if subject else keys
        listed = ("fixtures", "roles", role, "owns")
        if keys and owned and not keys & owned:
            place = listed if role in roles else seen.place("key")
            expected = "keys of items that the customer owns"
            yield record.finding(place, expected, "other keys in the list")
        elif role in roles and complete and keys - owned and _lacks(seen, subject, keys):
            expected = "only keys of items that the customer owns"
            found = f"{len(keys - owned)} other keys in the list of {seen.operation.id}"
            hint = "is a key misspelt, or is something missing here?"
            yield record.finding(listed, expected, found, hint)
        elif record.makes_customers and complete and keys - {item.key for item in all_owned(seen)}:
            expected, found = "all that a customer owns, as offered", "further items in the list"
            yield record.finding(place_of(record, Capability.ROSTER), expected, found)


def _lacks(seen: AnsweredOperation, subject: Subject | None, keys: set[str]) -> bool:
    """Whether a customer's list lacks something that is surely listed."""
    facts = facts_of(seen.record.contract_of(seen.operation))
    return subject is not None and any(
        item.resource in seen.operation.lists
        and item.key not in keys
        and facts.surely_listed(item, subject.now, subject.now)
        for item in subject.owns
    )


def _keys_of_resources(seen: AnsweredOperation) -> Iterator[Finding]:
    """Report a resource none of whose items has the key of one that a customer owns."""
    shown: defaultdict[str, set[str]] = defaultdict(set)
    owned: defaultdict[str, set[str]] = defaultdict(set)
    for answer in seen.answers:
        for item in answer.items:
            if item.resource and item.key:
                shown[item.resource].add(item.key)
    for thing in all_owned(seen) if seen.record.makes_customers else ():
        owned[thing.resource].add(thing.key)
    for resource, keys in shown.items():
        if owned[resource] and not keys & owned[resource]:
            yield seen.doubt("key", f"the key of each {resource}", "something else")


def known_keys(seen: AnsweredOperation) -> frozenset[Json]:
    """Return the keys of what the customers own or the calls name, some of which an operation shows."""
    if seen.operation.request:
        if any(each.part for each in seen.answers):
            return frozenset()  # what was submitted may have a key of its own
        about = seen.operation.about or ""
        return frozenset(key for each in seen.answers if (key := each.call.arguments.get(about)))
    if not seen.operation.about:
        listed = (each for each in all_owned(seen) if each.resource in seen.operation.lists)
        return frozenset(each.key for each in listed)
    entries = (entry for owned in all_owned(seen) for entry in owned.entries)
    return frozenset(entry.key for entry in entries if seen.binding.item.on)


def _created_key(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the key of a created request: links end with it, and no two are the same."""
    item, answer = seen.binding.item, seen.answers[0]
    keys = [key for key in values(seen.items, item.key) if is_id(key)]
    if not keys:
        probe = PointerProbe(feature="key", at=item.key, fits=is_id)
        yield from compare(seen, probe)
        return
    # A request that is sent twice for the same thing may have the same key twice, and no more often.
    repeated = len(keys) > 1 and 2 * len(set(map(str, keys))) <= len(keys)
    if _linked(answer, str(keys[0])) and not repeated:
        return

    def fits(value: Json) -> bool:
        return is_id(value) and len(str(value)) >= _DISTINCTIVE and _linked(answer, str(value))

    probe = PointerProbe(feature="key", at=item.key, fits=fits, named=False, recognised=True)
    instead = correction(seen.items, probe)
    if instead or repeated:
        found = "the same value in many requests" if repeated else "a value that is in no link"
        yield seen.doubt("key", probe.expected, found, instead=instead)


def has_wrong_key(record: Examined, operation: Operation) -> bool:
    """Whether the target file has the wrong key for what an operation creates."""
    good = [answer for answer in record.of(operation.id) if answer.good]
    if not good or not good[0].binding.item.key:
        return False
    seen = AnsweredOperation(record=record, operation=operation, answers=good)
    return any(True for _ in _created_key(seen))


def _linked(answer: SeenAnswer, value: str) -> bool:
    """Whether a link of the answer, or its Location, ends with a value."""
    wire = answer.wire
    links: Sequence[str] = (*wire.links, wire.header("Location") or "")
    return any(link.partition("?")[0].rstrip("/").endswith(f"/{value}") for link in links)


# -- Checks of the pointers into the fields of an item ---------------------------------------------
# What a request was sent with, which values a contract allows, and what a customer owns is
# known; a pointer that finds another value is recognised by that.

#: How many items are searched for a pointer that was meant.
_MOST_SEARCHED = 20
#: The units in which an amount may be counted by mistake: tenths of cents to thousands.
_UNITS: Final = tuple(Decimal(10) ** power for power in (-3, -2, 2, 3))


def fields(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the fields: each must exist and hold a value that it can have."""
    contract = seen.record.contract_of(seen.operation)
    conditional = facts_of(contract).conditional_fields
    for name, bound in seen.binding.item.fields.items():
        if when := conditional.get((seen.operation.id, name)):
            yield from _conditional(seen, name, bound, when)
            continue
        yield from alternatives(seen, "field", bound.at, name)
        # The fields of a request are known only if it was sent with them.
        known = _sent_values(seen, name) or _allowed(seen, name)
        if not seen.operation.request or known:
            yield from _field(seen, name, bound)


def _field(seen: AnsweredOperation, name: str, bound: FieldAt) -> Iterator[Finding]:
    fits = _field_fits(seen, name)
    shown = [value for value in values(seen.items, bound.at) if value is not None]
    # Of answers that do not count as accepted, the outcome is named.
    uncounted = not any(answer.items for answer in seen.answers)
    if shown and (fits is None or uncounted or any(map(fits, _decoded(seen, name)))):
        yield from _of_one_resource(seen, name, bound, fits)
        return
    probe = PointerProbe(
        feature="field",
        name=name,
        at=bound.at,
        what=_what(name),
        fits=fits or is_plain,
        named=fits is None,
        recognised=fits is not None,
        names=(name,),
    )
    place, nothing = seen.place("field", name), f"nothing at {bound.at[0]}"
    expected = f"the {name} that was sent"
    if instead := correction(seen.items, probe):
        found = f"another value at {bound.at[0]}" if shown else nothing
        yield seen.doubt("field", probe.expected, found, name=name, instead=instead)
    elif not shown:
        yield seen.record.finding(_argument_of(seen, name) or place, probe.expected, nothing)
    elif at := _transformed(seen, name):
        yield seen.record.finding(at, expected, f"the value after `{at[-1]}`")
    elif pattern := other_format(shown, fits, seen.record.contract_of(seen.operation).zone):
        hint = f"is it written as {pattern}? (`format`{', with `first: 10`' * (pattern in EPOCHS)})"
        yield seen.record.finding(place, expected, "a date or time in another form", hint)
    elif unit := _other_unit(seen, name, bound):
        hint = f'is it counted in units of "{unit}"? (`unit`)'
        edit = Edit(at=(*place, "unit"), old=text_of(bound.unit) if bound.unit else None, new=unit)
        yield seen.record.finding(place, expected, "a multiple of it", hint, edit=edit)
    elif (part := _mapping(bound)) and fits and _decoded(seen, name) and any(map(fits, shown)):
        found = f"a value different from the one at {bound.at[0]}"
        yield seen.record.finding((*place, part), expected, found)


def _of_one_resource(
    seen: AnsweredOperation, name: str, bound: FieldAt, fits: Fits | None
) -> Iterator[Finding]:
    """Doubt a field that all items of one resource have only where no pointer points."""
    items: defaultdict[str, list[Json]] = defaultdict(list)
    for answer in seen.answers if fits else ():
        for raw, item in paired(answer):
            items[item.resource or ""].append(raw)
    for resource, raw_items in items.items():
        if fits is None or not resource or values(raw_items, bound.at):
            continue
        probe = PointerProbe(feature="field", name=name, at=bound.at, fits=fits, named=False)
        if other := correction(raw_items, probe):
            expected, found = f"{_what(name)} of each {resource}", " or ".join(bound.at)
            hint = meant(other.value)
            yield seen.doubt("field", expected, f"nothing at {found}", hint, name=name)


def _mapping(bound: FieldAt) -> str:
    """Return the key by which a field is another value than the one that is shown; "" for none."""
    return next((key for key in ("words", "first", "unit", "format") if getattr(bound, key)), "")


def _other_unit(seen: AnsweredOperation, name: str, bound: FieldAt) -> str:
    """Return the unit in which a field would be an amount that was sent; "" if there is none."""
    pairs = product(_decoded(seen, name), _sent_values(seen, name))
    units = (unit for shown, sent in pairs if (unit := unit_of(shown, sent)) is not None)
    return next((text_of(unit * (bound.unit or 1)) for unit in units), "")


def _transformed(seen: AnsweredOperation, name: str) -> Pointer | None:
    """Return the key of an argument by which another day is sent than the one that is shown."""
    place = _argument_of(seen, name)
    creating = seen.record.target.operations[str(place[1])] if place else None
    spelling = creating.arguments.get(name) if creating else None
    if place is None or spelling is None or not spelling.exclusive:
        return None
    sent_values = [sent(value, spelling, RequestValues()) for value in _sent_values(seen, name)]
    shown = _decoded(seen, name)
    is_shown = any(alike(value, each) for value in shown for each in sent_values)
    return (*place, "exclusive") if is_shown else None


def _decoded(seen: AnsweredOperation, name: str) -> list[Json]:
    """Return a field of every item as decoded."""
    items = (item for answer in seen.answers for item in answer.items)
    return [item.fields[name] for item in items if name in item.fields]


def is_plain(value: Json) -> bool:
    """Whether it is a text, a number, or true or false."""
    return not isinstance(value, dict | list) and value is not None


def _argument_of(seen: AnsweredOperation, name: str) -> Pointer | None:
    """Return the place of the argument from which a field of a request has its value."""
    for operation in seen.record.operations if seen.operation.request else ():
        if operation.makes == seen.operation.request and name in operation.arguments:
            return ("operations", operation.id, "arguments", name)
    return None


def _sent_values(seen: AnsweredOperation, name: str) -> list[Json]:
    """Return what accepted calls sent for a field of a request."""
    request, operations = seen.operation.request, seen.record.operations
    sending = [
        operation.id for operation in operations if request in (operation.makes, operation.changes)
    ]
    calls = [answer.call for answer in seen.record.plain(*sending) if answer.accepted]
    return [call.arguments[name] for call in calls if name in call.arguments]


def _field_fits(seen: AnsweredOperation, name: str) -> Fits | None:
    """Return what recognises the value of a field, if anything is known of it."""
    sent = _sent_values(seen, name) if seen.operation.request else []
    if sent:
        return lambda value: any(alike(value, argument) for argument in sent)
    contract = seen.record.contract_of(seen.operation)
    listed = (contract.resources[name] for name in seen.operation.lists)
    keys = {resource.key for resource in listed if not resource.of}
    owned = {item.key for item in all_owned(seen)} if name in {seen.operation.about, *keys} else ()
    if owned:
        return lambda value: id_of(value) in owned
    return _allowed(seen, name)


def _allowed(seen: AnsweredOperation, name: str) -> Fits | None:
    """Return what recognises the values that clauses allow in a field, if any clause does."""
    operation, contract = seen.operation, seen.record.contract_of(seen.operation)
    resources = operation.lists or (operation.request or "",)
    known = facts_of(contract).allowed_values
    allowed = [known.get((resource, name), ()) for resource in resources]
    if not all(allowed):
        return None
    return lambda value: any(
        all(any(same(value, word) for word in words) for words in named) for named in allowed
    )


def alike(value: Json, sent: Json) -> bool:
    """Whether a value in an answer may be one that was sent."""
    return same_value(value, sent) or (str(value)[:10] == str(sent)[:10] and is_day(sent))


def unit_of(shown: Json, sent: Json) -> Decimal | None:
    """Return the unit in which an amount that is shown is the one that was sent; None for no unit."""
    amount, count = number_of(sent), number_of(shown)
    unit = amount / count if amount is not None and count else None
    return unit if unit in _UNITS else None


def all_owned(seen: AnsweredOperation) -> list[Owned]:
    """Return everything that the customers of the probes own."""
    return [owned for subject in seen.record.subjects.values() for owned in subject.owns]


def owned_list(seen: AnsweredOperation) -> str | None:
    """Return the pointer to the only list with something that the customers own."""
    owned = all_owned(seen)
    known = {each.key for each in owned} | {e.key for each in owned for e in each.entries}
    pointers = {
        at
        for body in seen.bodies
        for at, value in [("", body), *members(body)]
        if isinstance(value, list)
        if any(id_of(name) in known for item in value[:_MOST_ITEMS] for _, name in members(item))
    }
    return pointers.pop() if len(pointers) == 1 else None


def alternatives(
    seen: AnsweredOperation, feature: str, pointers: tuple[str, ...], name: str = ""
) -> Iterator[Finding]:
    """Report each of several pointers that finds nothing, if only its spelling explains that."""
    expected = _what(name) if name else BINDING_FEATURES[feature].title
    for n, pointer in enumerate(pointers if len(pointers) > 1 else ()):
        if values(seen.items, (pointer,)):
            continue
        if similar := respelt(seen.items[:_MOST_SEARCHED], pointer, pointers):
            found = f"nothing at {pointer}"
            instead = Meant(of=pointer, value=similar)
            yield seen.doubt(feature, expected, found, name=name, below=(n,), instead=instead)


def _what(name: str) -> str:
    return f"the field {name}"


# -- Conditional fields --------------------------------------------------------------------------
# Checks of fields that only some answers have, such as those under a consent that asks for them.
#
# No ordinary call shows such a field. The probe of its own rule does; what the items of that probe
# have, and those of ordinary calls have not, is where the field can be.
def _conditional(
    seen: AnsweredOperation, name: str, bound: FieldAt, when: str
) -> Iterator[Finding]:
    """Examine one field: the answers of its own rule show it, and ordinary ones do not."""
    record, probed = seen.record, [*_rule_answers(seen, name)]
    modes = [(each, each.call.mode) for each in probed if each.call.mode]
    if refused := [answer for answer, _ in modes if answer.refused]:
        yield record.refused_mode(refused[0], f"the rule about {name} is then not tested")
        return
    own = _items(each for each in probed if each.operation.id == seen.operation.id)
    plain = _items(record.plain(seen.operation.id))
    if not own:
        if not record.quick:
            found = f"no answer {when}"
            yield seen.doubt("field", _what(name), found, name=name, weight=Weight.UNSEEN)
        return
    always = any(map(has_value, values(plain, bound.at)))
    if not always and any(map(has_value, values(own, bound.at))):
        return
    hint = _meant(own, plain, name, bound)
    if always:
        expected = f"{_what(name)}, {when} only"
        found = f"a value at {bound.at[0]} in other answers, too"
    else:
        expected, found = _what(name), f"nothing at {bound.at[0]} {when}"
        keys = dict.fromkeys(spell(each.place("modes", mode)) for each, mode in modes)
        hint = hint or (f"does the bank read {' and '.join(keys)}?" if keys else "")
    yield seen.doubt("field", expected, found, hint, name=name)


def _items(answers: Iterable[SeenAnswer]) -> list[Json]:
    """Return every item of the accepted answers, as it was sent."""
    return [item for answer in answers if answer.accepted for item in answer.raw_items]


def _rule_answers(seen: AnsweredOperation, name: str) -> Iterator[SeenAnswer]:
    """Yield the answers of the probes of the rules that say when a field is shown."""
    record, operation = seen.record, seen.operation
    own = record.contract_of(operation)
    for contract, clause, rule in record.rules:
        if contract is own and (operation.id, name) in rule.facts().conditional_fields:
            beginning = rule_probe(contract, clause)
            yield from (each for each in record.answers if each.probe.startswith(beginning))


def _meant(own: Sequence[Json], plain: Sequence[Json], name: str, bound: FieldAt) -> str:
    """Return the hint that names a pointer that only the items of the rule's probe have."""
    usual = {at for item in plain for at, _ in members(item)}
    further = dict.fromkeys(
        at
        for item in own[:_MOST_SEARCHED]
        for at, value in members(item)
        if at not in usual and has_value(value)
    )
    similar = (nearest(wanted, further) for wanted in (*bound.at, name))
    only = next(iter(further)) if len(further) == 1 else ""
    pointer = next(filter(None, similar), only)
    return "" if pointer in bound.at else meant(pointer)
