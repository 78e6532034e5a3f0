"""Submission of a request: the second call with which a bank executes what a customer signed.

A target file describes the call below the operation that makes the request (`submission`), and below
an operation about a request where that differs since then (`submitted`). What either does not say is
as at the operation itself, by the rules of `extends`. A request and its submission say the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias, cast

from assay.contract.model import Operation
from assay.files.document import Finding, Pointer, laid_over

_Raw: TypeAlias = Mapping[str, Any]

SUBMISSION: Final = "submission"
SUBMITTED: Final = "submitted"
WHOLE: Final = "whole"
#: What a submission has of the operation that makes the request, unless it says otherwise.
REPEATED: Final = frozenset(
    {"method", "headers", "queries", "template", "arguments", "modes", "one", "item", "outcomes"}
)
#: The keys of an argument that say where it is sent, of which it has one.
PLACES: Final = frozenset({"query", "header", "body", "path"})


def whole_submission(binding: _Raw) -> _Raw:
    """Return the whole binding of the submission in the raw binding of an operation."""
    base = {name: value for name, value in binding.items() if name in REPEATED}
    return _whole(base, binding[SUBMISSION])


def whole_submitted(binding: _Raw) -> _Raw:
    """Return the whole binding of an operation about a request that was submitted."""
    base = {name: value for name, value in binding.items() if name != SUBMITTED}
    return _whole(base, binding[SUBMITTED])


def whole_alias(binding: _Raw, alias: _Raw) -> _Raw:
    """Return the whole binding of an operation under another path, which has its own arguments."""
    base = {name: value for name, value in binding.items() if name != "aliases"}
    arguments = {**base.get("arguments", {}), **alias["arguments"]}
    own = {name: spelling for name, spelling in arguments.items() if spelling is not None}
    return {**base, "path": alias["path"], "arguments": own}


def without_removals(data: _Raw) -> _Raw:
    """Return a target file whose submissions lack the nulls that remove a key of the operation."""
    raw = data.get("operations")
    operations = {
        name: {
            key: _kept(binding, value) if key in (SUBMISSION, SUBMITTED) else value
            for key, value in cast("_Raw", binding).items()
        }
        if isinstance(binding, Mapping)
        else binding
        for name, binding in (cast("_Raw", raw).items() if isinstance(raw, Mapping) else ())
    }
    return {**data, **({"operations": operations} if operations else {})}


def _kept(base: Any, top: Any) -> Any:
    if not isinstance(base, Mapping) or not isinstance(top, Mapping):
        return top
    return {
        name: _kept(cast("_Raw", base).get(name), value)
        for name, value in cast("_Raw", top).items()
        if value is not None or name not in base
    }


def _whole(base: _Raw, top: _Raw) -> _Raw:
    """Return a binding laid over another; an argument that is sent elsewhere is not sent twice."""
    moved = {
        name: {key: value for key, value in spelling.items() if key not in PLACES}
        for name, spelling in base.get("arguments", {}).items()
        if PLACES & ((top.get("arguments") or {}).get(name) or {}).keys()
    }
    base = {**base, "arguments": {**base.get("arguments", {}), **moved}}
    return cast("_Raw", laid_over(base, top))


def all_bindings(operations: Mapping[str, _Raw | None]) -> Iterator[tuple[Pointer, str, _Raw]]:
    """Yield the raw binding of each operation and the parts below it: its place, operation, and keys."""
    for operation, binding in operations.items():
        at: Pointer = ("operations", operation)
        if binding is None:
            continue
        yield at, operation, binding
        for part in (SUBMISSION, SUBMITTED):
            if isinstance(below := binding.get(part), Mapping):
                yield (*at, part), operation, cast("_Raw", below)


def misplaced(binding: _Raw, operation: Operation, at: Pointer) -> Iterator[Finding]:
    """Yield the parts of a binding that an operation of this meaning cannot have."""
    if SUBMISSION in binding and not operation.makes:
        hint = "move it to the operation that makes the request"
        yield (*at, SUBMISSION), "the operation makes no request", hint
    if WHOLE in binding and not operation.changes:
        yield (*at, WHOLE), "the operation changes no request", "remove the key"
    if SUBMITTED in binding and not (operation.shows or operation.changes or operation.ends):
        hint = "move it to an operation that shows, changes or ends a request"
        yield (*at, SUBMITTED), "the operation is about no request", hint


def without_submission(
    operations: Mapping[str, _Raw | None], known: Mapping[str, Operation]
) -> Iterator[Finding]:
    """Yield each `submitted` of an operation on requests that no call submits."""
    made = {
        operation.makes
        for name, operation in known.items()
        if SUBMISSION in (operations.get(name) or {})
    }
    for name, operation in known.items():
        if SUBMITTED in (operations.get(name) or {}) and operation.request not in made:
            hint = "add `submission` to the operation that makes the request, or remove the key"
            yield ("operations", name, SUBMITTED), "no call submits the request", hint
