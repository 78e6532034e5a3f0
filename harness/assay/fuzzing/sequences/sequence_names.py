"""Names in a recorded sequence that its contract does not have.

A sequence may be of another version of the contract, or written by hand.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.contract.model import Contract
from assay.errors import Problem, did_you_mean
from assay.fuzzing.sequences.sequence_file import RecordedSequence
from assay.history import Call, Register, Renew, Step


def foreign_names(recorded: RecordedSequence, contract: Contract) -> list[Problem]:
    """Return a problem for each name that the contract does not have."""
    return [
        Problem(
            path=recorded.path,
            line=0,
            what=f"steps[{number}].{key}: {contract.id} has no {key} {name!r}",
            hint=did_you_mean(name, known),
        )
        for number, abstract_step in enumerate(recorded.steps)
        for key, name, known in _names(abstract_step.step, contract)
        if name not in known
    ]


def _names(step: Step, contract: Contract) -> Iterator[tuple[str, str, list[str]]]:
    """Yield each name in a step, by its key, with the names that the contract has."""
    if isinstance(step, Call | Register | Renew):
        yield "operation", step.operation, [*contract.operations]
