"""Checks of the pointers into the fields of an item.

What a request was sent with, which values a contract allows, and what a customer owns is
known; a pointer that finds another value is recognised by that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import product
from typing import Final

from assay.binding.features import BINDING_FEATURES
from assay.binding.outputs import id_of
from assay.binding.spelling import FieldAt
from assay.binding.values import RequestValues, sent
from assay.contract.model import Json
from assay.contract.scalars import number_of, same, same_value, text_of
from assay.files.document import Pointer, spell
from assay.history import Owned
from assay.onboarding.doctor.context import DoctorContext, Finding, SeenAnswer, Weight
from assay.onboarding.doctor.pointer_probe import (
    AnsweredOperation,
    Fits,
    PointerProbe,
    correction,
    differs_in_spelling,
    is_day,
    members,
    nearest,
    paired,
    values,
)
from assay.onboarding.doctor.probes import RULE
from assay.rules.queries import has_value
from assay.rules.rule import clauses_of, facts_of

#: How many items are searched for a pointer that was meant.
_MOST_SEARCHED = 20
#: The units in which an amount may be counted by mistake: tenths of cents to thousands.
_UNITS: Final = tuple(Decimal(10) ** power for power in (-3, -2, 2, 3))


def fields(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the fields: each must exist and hold a value that it can have."""
    contract = seen.context.contract_of(seen.operation)
    conditional = facts_of(contract).conditional_fields
    for name, bound in seen.binding.item.fields.items():
        if when := conditional.get((seen.operation.id, name)):
            yield from examine(seen, name, bound, when)
            continue
        yield from alternatives(seen, "field", bound.at, name)
        # The fields of a request are known only if it was sent with them.
        known = _sent_values(seen, name) or _allowed(seen, name)
        if not seen.operation.request or known:
            yield from _field(seen, name, bound)


def _field(seen: AnsweredOperation, name: str, bound: FieldAt) -> Iterator[Finding]:
    fits = _field_fits(seen, name)
    shown = [value for value in values(seen.items, bound.at) if value is not None]
    if shown and (fits is None or any(map(fits, _decoded(seen, name)))):
        yield from _of_one_resource(seen, name, bound, fits)
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
    elif shown and (at := _transformed(seen, name)):
        found = f"the value after `{at[-1]}`"
        yield seen.context.finding(at, f"the {name} that was sent", found)
    elif shown and (unit := _other_unit(seen, name, bound)):
        found, hint = "a multiple of it", f'is it counted in units of "{unit}"? (`unit`)'
        expected = f"the {name} that was sent"
        yield seen.context.finding(seen.place("field", name), expected, found, hint)
    elif not shown:
        place = _argument_of(seen, name) or seen.place("field", name)
        found = f"nothing at {bound.at[0]}"
        yield seen.context.finding(place, probe.expected, found)
    elif (part := _mapping(bound)) and fits and _decoded(seen, name) and any(map(fits, shown)):
        found = f"a value different from the one at {bound.at[0]}"
        yield seen.context.finding(
            (*seen.place("field", name), part), f"the {name} that was sent", found
        )


def _of_one_resource(
    seen: AnsweredOperation, name: str, bound: FieldAt, fits: Fits | None
) -> Iterator[Finding]:
    """Doubt a field that all items of one resource have only where no pointer points."""
    if fits is None:
        return
    items: defaultdict[str, list[Json]] = defaultdict(list)
    for answer in seen.answers:
        for raw, item in paired(answer):
            items[item.resource or ""].append(raw)
    for resource, raw_items in items.items():
        if not resource or values(raw_items, bound.at):
            continue
        probe = PointerProbe(feature="field", name=name, at=bound.at, fits=fits, named=False)
        if hint := correction(raw_items, probe):
            expected, found = (
                f"the field {name} of each {resource}",
                f"nothing at {' or '.join(bound.at)}",
            )
            place = seen.place("field", name)
            yield seen.context.finding(place, expected, found, hint)


def _mapping(bound: FieldAt) -> str:
    """Return the key by which a field is another value than the one that is shown; "" for none."""
    return "words" if bound.words else "first" if bound.first else "unit" if bound.unit else ""


def _other_unit(seen: AnsweredOperation, name: str, bound: FieldAt) -> str:
    """Return the unit in which a field would be an amount that was sent; "" if there is none."""
    pairs = product(_decoded(seen, name), _sent_values(seen, name))
    units = (unit for shown, sent in pairs if (unit := unit_of(shown, sent)) is not None)
    return next((text_of(unit * (bound.unit or 1)) for unit in units), "")


def _transformed(seen: AnsweredOperation, name: str) -> Pointer | None:
    """Return the key of an argument by which another day is sent than the one that is shown."""
    place = _argument_of(seen, name)
    creating = seen.context.target.operations[str(place[1])] if place else None
    spelling = creating.arguments.get(name) if creating else None
    if place is None or spelling is None or not spelling.exclusive:
        return None
    sent_values = [sent(value, spelling, RequestValues()) for value in _sent_values(seen, name)]
    shown = _decoded(seen, name)
    is_shown = any(alike(value, each) for value in shown for each in sent_values)
    return (*place, "exclusive") if is_shown else None


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
    sent = _sent_values(seen, name) if seen.operation.request else []
    if sent:
        return lambda value: any(alike(value, argument) for argument in sent)
    contract = seen.context.contract_of(seen.operation)
    listed = (contract.resources[name] for name in seen.operation.lists)
    keys = {resource.key for resource in listed if not resource.of}
    owned = {item.key for item in all_owned(seen)} if name in {seen.operation.about, *keys} else ()
    if owned:
        return lambda value: id_of(value) in owned
    return _allowed(seen, name)


def _allowed(seen: AnsweredOperation, name: str) -> Fits | None:
    """Return what recognises the values that clauses allow in a field, if any clause does."""
    operation, contract = seen.operation, seen.context.contract_of(seen.operation)
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
    return [owned for subject in seen.context.subjects.values() for owned in subject.owns]


def alternatives(
    seen: AnsweredOperation, feature: str, pointers: tuple[str, ...], name: str = ""
) -> Iterator[Finding]:
    """Report each of several pointers that finds nothing, if only its spelling explains that."""
    for n, pointer in enumerate(pointers if len(pointers) > 1 else ()):
        if values(seen.items, (pointer,)):
            continue
        located = (at for item in seen.items[:_MOST_SEARCHED] for at, _ in members(item))
        meant = next(
            (at for at in located if at not in pointers and differs_in_spelling(at, pointer)), ""
        )
        if meant:
            place, found = (*seen.place(feature, name), n), f"nothing at {pointer}"
            expected = f"the field {name}" if name else BINDING_FEATURES[feature].title
            yield seen.context.finding(place, expected, found, f"did you mean {meant}?")


# -- Conditional fields --------------------------------------------------------------------------
# Checks of fields that only some answers have, such as those under a consent that asks for them.
#
# No ordinary call shows such a field. The probe of its own rule does; what the items of that probe
# have, and those of ordinary calls have not, is where the field can be.
def examine(seen: AnsweredOperation, name: str, bound: FieldAt, when: str) -> Iterator[Finding]:
    """Examine one field: the answers of its own rule show it, and ordinary ones do not."""
    context, place = seen.context, seen.place("field", name)
    probed = [*_answers(seen, name)]
    refused = [answer for answer, _ in _in_modes(probed) if answer.refused]
    if refused:
        yield _refused_mode(context, refused[0], name)
        return
    own = AnsweredOperation(
        context=context,
        operation=seen.operation,
        answers=[each for each in probed if _lists(seen, each)],
    )
    usual = [answer for answer in context.plain(seen.operation.id) if answer.accepted]
    plain = [item for answer in usual for item in answer.raw_items]
    if not own.items:
        if not context.quick:
            found = f"no answer {when}"
            yield context.finding(place, f"the field {name}", found, weight=Weight.UNSEEN)
        return
    always = any(map(has_value, values(plain, bound.at)))
    if not always and any(map(has_value, values(own.items, bound.at))):
        return
    pointer = bound.at[0]
    hint = _meant(own.items, plain, name, bound)
    if always:
        what, found = (
            f"the field {name}, {when} only",
            f"a value at {pointer} in other answers, too",
        )
    else:
        what, found = f"the field {name}", f"nothing at {pointer} {when}"
    modes = dict.fromkeys(spell(each.place("modes", mode)) for each, mode in _in_modes(probed))
    if not (hint or always) and modes:
        hint = f"does the bank read {' and '.join(modes)}?"
    yield context.finding(place, what, found, hint)


def _answers(seen: AnsweredOperation, name: str) -> Iterator[SeenAnswer]:
    """Yield the answers of the probes of the rules that say when a field is shown."""
    context, operation = seen.context, seen.operation
    contract = context.contract_of(operation)
    for clause, kind in zip(contract.clauses, clauses_of(contract), strict=True):
        if (operation.id, name) in kind.facts().conditional_fields:
            beginning = f"{contract.id} {RULE} {clause.id} "
            yield from (each for each in context.answers if each.probe.startswith(beginning))


def _in_modes(answers: Iterable[SeenAnswer]) -> Iterator[tuple[SeenAnswer, str]]:
    """Yield the answers to calls in a mode, with that."""
    for answer in answers:
        if answer.exchange.call.mode:
            yield answer, answer.exchange.call.mode


def _lists(seen: AnsweredOperation, answer: SeenAnswer) -> bool:
    return answer.operation.id == seen.operation.id and answer.accepted


def _refused_mode(context: DoctorContext, answer: SeenAnswer, name: str) -> Finding:
    mode = answer.exchange.call.mode or ""
    return context.finding(
        answer.place("modes", mode),
        f"a request in the mode {mode} to be accepted, as without it",
        f"{answer.status}: {context.excerpt(answer)}",
        f"if the bank does not offer the mode, remove it; the rule about {name} is then not tested",
    )


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
    meant = next(filter(None, similar), only)
    return f"did you mean {meant}?" if meant and meant not in bound.at else ""
