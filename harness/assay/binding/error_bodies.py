"""Errors in the body of a refusal, as the target file says where they stand and what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final

from assay.binding.field_values import field_of
from assay.binding.outputs import in_body
from assay.binding.pointer import MISSING, find, lists
from assay.binding.spelling import ErrorAt
from assay.contract.model import Json
from assay.contract.scalars import is_word, text_of
from assay.history import ErrorBody, ShownError

#: How many errors of one answer are read.
MOST_ERRORS: Final = 100


def errors_of(body: Json, where: ErrorAt | None) -> ErrorBody | None:
    """Return the errors in the body of a refusal, as far as the target file says where they are."""
    if where is None:
        return None
    errors = error_elements(body, where)
    return ErrorBody(
        located=where.located, errors=tuple(shown_error(error, where) for error in errors)
    )


def error_elements(body: Json, where: ErrorAt) -> Sequence[Json]:
    """Return the errors in the body of a refusal, as they were sent."""
    if not where.list:
        error = find(body, where.one)
        return [error] if isinstance(error, dict) else []
    return [error for pointer in where.list for error in lists(body, pointer) or ()][:MOST_ERRORS]


def shown_error(error: Json, where: ErrorAt) -> ShownError:
    """Return an error in the contract's words."""
    fields = {name: field_of(error, place) for name, place in where.fields.items()}
    code = in_body(error, where.code)
    return ShownError(
        fields={name: value for name, value in fields.items() if value is not MISSING},
        codes=tuple(_codes(code, where.codes)),
    )


def _codes(code: Json, words: Mapping[str, tuple[Json, ...]]) -> Iterator[str]:
    """Yield the contract's codes that the target spells so; its own code where there is none."""
    if not isinstance(code, str | int | Decimal) or code == "":
        return
    own = [word for word, known in words.items() if any(is_word(each, code) for each in known)]
    text = text_of(code)
    # A code that is spelled otherwise does not stand for itself.
    yield from own or [f"{text} (not in `codes`)" if text in words else text]
