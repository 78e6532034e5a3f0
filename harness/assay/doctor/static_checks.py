"""What stands in the file and nothing uses, and what `assay init` only guessed.

Pure but for reading the files again, for comments are no data.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from assay.binding.target import AuthKind, ScaKind, Target, TransportKind
from assay.contract.model import Capability, Contract
from assay.doctor.context import DoctorContext
from assay.doctor.finding import Finding, Weight, at, one_line
from assay.errors import did_you_mean

__all__ = ["guessed", "unused"]

#: How a line is marked that was guessed, or that something is missing from.
_MARKS = (("# guessed:", "guessed"), ("# missing:", "missing"))


def unused(patient: DoctorContext) -> Iterator[Finding]:
    """Say what has no effect, so that a slip of the pen is not taken for an answer."""
    target, contracts = patient.target, patient.contracts_bound
    for place, what in _idle(target, contracts):
        yield at(target, place, "a key with an effect", what, weight=Weight.FAULT)


def _idle(
    target: Target, contracts: tuple[Contract, ...]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the places of what nothing uses, with why."""
    known = {name: one for each in contracts for name, one in each.operations.items()}
    for name, binding in target.operations.items():
        if name not in known:
            continue
        fields = _fields(contracts, name)
        for field in binding.item.fields:
            if field not in fields:
                hint = did_you_mean(field, fields)
                why = (
                    f"no field of the contract's ({hint})" if hint else "no field of the contract's"
                )
                yield ("operations", name, "item", "fields", field), why
    secure = target.base_url.startswith("https:") or target.transport is TransportKind.EMBEDDED
    if target.tls and not secure:
        yield ("tls",), "tls, and a base_url that is plain http"
    if target.sca.kind is not ScaKind.NONE and Capability.WRITE not in target.fixtures.offers:
        oauth = AuthKind.CODE in {target.auth.kind, *_provider(target)}
        if not oauth and any(one.makes for one in known.values()):
            yield ("sca",), "somebody who signs, and nothing to sign: fixtures.offers has no write"


def _provider(target: Target) -> set[AuthKind]:
    return {target.auth.provider.kind} if target.auth.provider else set()


def _fields(contracts: tuple[Contract, ...], operation: str) -> set[str]:
    """Return the fields that an operation's items may have."""
    contract = next(one for one in contracts if operation in one.operations)
    known = contract.operations[operation]
    resources = [*known.lists, *([known.request] if known.request else [])]
    named = {name for one in resources for name in contract.resources[one].fields}
    return named or {name for one in contract.resources.values() for name in one.fields}


def guessed(patient: DoctorContext) -> Iterator[Finding]:
    """List the lines that still hold a guess, in the file and in all that it extends."""
    document = patient.target.document
    if document is None:
        return
    paths = {document.path, *(patient.target.place(key)[0] for key in document.data)}
    for path in sorted(paths):
        try:
            lines = Path(path).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            continue
        for number, line in enumerate(lines, start=1):
            for mark, word in _MARKS:
                before, found, why = line.partition(mark)
                if found:
                    yield Finding(
                        weight=Weight.NOTE if word == "guessed" else Weight.UNSEEN,
                        path=path,
                        line=number,
                        key=before.strip(" #-").partition(":")[0],
                        expected="what the bank documents",
                        found=f"{word}: {one_line(why.strip())}",
                        hint="take the comment out once it is right",
                    )
