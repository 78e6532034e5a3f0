"""Faults of form: an accepted answer that is no JSON, or does not say that it is.

One method each, so that the others can still be judged.
"""

import json
from collections.abc import Callable
from dataclasses import replace

from assay.sandbox.mutants.mutant import Change, answering, breaking
from assay.sandbox.wire import OPERATIONS, Answer, Operation

__all__ = ["FORM", "as_text", "cut_off"]


def cut_off(answer: Answer) -> Answer:
    """Leave the last brace out."""
    return replace(answer, body=json.dumps(answer.body).encode("ascii")[:-1])


def as_text(answer: Answer) -> Answer:
    """Say that it is plain text."""
    return replace(answer, media="text/plain; charset=utf-8")


def _accepted(operation: Operation, altered: Callable[[Answer], Answer]) -> Change:
    respond = answering(
        lambda request, answer: request.operation == operation and answer.status < 300,  # noqa: PLR2004
        altered,
    )
    return lambda bank: replace(bank, respond=respond)


FORM = (
    *(
        breaking(
            f"form.{operation}-cut-off",
            "well-formed/json",
            f"{operation}: the answer lacks its last brace",
            _accepted(operation, cut_off),
        )
        for operation in OPERATIONS
    ),
    *(
        breaking(
            f"form.{operation}-as-text",
            "well-formed/media-type",
            f"{operation}: the answer is JSON and says text/plain",
            _accepted(operation, as_text),
        )
        for operation in OPERATIONS
    ),
)
