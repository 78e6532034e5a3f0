"""Check of `error` in a target file: the refusals of an examination have their errors there.

A wrong pointer would look as if the bank's refusals had no errors. A bank may also answer some
refusals in another form, so a pointer is doubted only if it finds nothing in any of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.binding.pointer import MISSING
from assay.binding.spelling import ErrorAt
from assay.contract.files.document import Pointer, found
from assay.doctor.context import DoctorContext, Finding, Weight
from assay.history import ERROR_CODE, ErrorBody, ShownError
from assay.rules.queries import has_error_field


def examine(context: DoctorContext) -> Iterator[Finding]:
    """Doubt the pointers under `error` that find nothing in any refusal with a JSON body."""
    where = context.target.error
    if where is None:
        return
    read = [each for each in context.answers if each.body is not MISSING]
    refusals = [each for each in read if each.exchange.error is not None]
    errors = [error for each in refusals for error in _errors(each.exchange.error)]
    if refusals and not errors:
        answer = refusals[0]
        what = f"{found(answer.body)} in a refusal ({answer.status}) of {answer.operation.id}"
        yield _doubt(context, _place(where), "the errors of a refusal", what)
        return
    for name in where.located if errors else ():
        if not any(has_error_field(error, name) for error in errors):
            place: Pointer = (
                ("error", ERROR_CODE) if name == ERROR_CODE else ("error", "fields", name)
            )
            what = f"none in {len(errors)} errors"
            yield _doubt(context, place, f"the {name} of an error", what)


def _doubt(context: DoctorContext, place: Pointer, expected: str, seen: str) -> Finding:
    return context.finding(place, expected, seen, weight=Weight.DOUBT)


def _place(where: ErrorAt) -> Pointer:
    return ("error", "list") if where.list else ("error", "one") if where.one else ("error",)


def _errors(error: ErrorBody | None) -> tuple[ShownError, ...]:
    return error.errors if error else ()
