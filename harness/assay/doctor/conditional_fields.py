"""Checks of fields that only some answers have, such as those under a consent that asks for them.

No ordinary call shows such a field. The probe of its own rule does; what the items of that probe
have, and those of ordinary calls have not, is where the field can be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from assay.binding.spelling import FieldAt
from assay.contract.files.document import spell
from assay.contract.model import Json
from assay.doctor.context import DoctorContext, Finding, SeenAnswer, Weight
from assay.doctor.pointer_probe import AnsweredOperation, members, nearest, values
from assay.doctor.probes import RULE
from assay.rules.clauses import clauses_of
from assay.rules.queries import has_value

#: How many items are searched for a field that was meant.
_MOST_SEARCHED = 20


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
        if name in kind.conditional_fields(operation.id):
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
