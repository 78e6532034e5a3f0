"""The closing steps of a sequence, which make its history conclusive.

A check reports a violation only beside a control, and only of a request whose result it
knows. So varied calls are repeated without variation, requests are read, and the
fixture is asked what was executed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from assay.contract.model import Contract, Json, Operation
from assay.fuzzing.sequences.abstract_step import (
    AbstractStep,
    OwnedRef,
    RelativeDay,
    RequestRef,
    leaves,
)
from assay.history import Call, Inquire

#: The most controls repeated, and requests read: those of the last ones.
CONTROLS, READ = 4, 3


def closing_reads(
    contract: Contract, story: Sequence[AbstractStep], made: Sequence[int], *, inquire: bool
) -> Iterator[AbstractStep]:
    """Yield the last steps of a story, whose requests were made at these places."""
    asked = {repr(told) for told in story}
    controls: dict[str, AbstractStep] = {}
    for told in reversed(story):
        if isinstance(told.step, Call) and told.page is None:
            control = plainly(told, told.step, contract.operations[told.step.operation])
            if control is not None and repr(control) not in asked:
                controls.setdefault(repr(control), control)
    yield from [*controls.values()][:CONTROLS]
    shows = next((one for one in contract.operations.values() if one.shows), None)
    for place in made[-READ:]:
        step = story[place].step
        if shows is not None and shows.about and isinstance(step, Call):
            arguments = {shows.about: RequestRef(place)}
            yield AbstractStep(
                step=Call(operation=shows.id, subject=step.subject, by=step.by, arguments=arguments)
            )
    if inquire:
        yield AbstractStep(step=Inquire())


def plainly(told: AbstractStep, step: Call, operation: Operation) -> AbstractStep | None:
    """Return the control of a call: the same with nothing bent; None where there is none."""
    if not operation.available or operation.changes or operation.ends:
        return None
    arguments = {
        name: value for name, value in step.arguments.items() if _named(operation, name, value)
    }
    control = Call(
        operation=step.operation,
        subject=step.subject,
        arguments=arguments,
        by=step.by,
        mode=step.mode if operation.makes else None,
    )
    return replace(told, step=control)


def _named(operation: Operation, name: str, value: Json) -> bool:
    """Whether an argument says whose or which, and is not there to be bent."""
    needed = {operation.about, operation.grants, operation.owned}
    due = operation.due.argument if operation.due else None
    refers = all(isinstance(one, OwnedRef | RequestRef | RelativeDay) for one in leaves(value))
    return refers and name in {*needed, due} and not isinstance(value, Mapping)
