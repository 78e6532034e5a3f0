"""Checks of the target file that send nothing: unused keys, guesses, secrets, certificates."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from assay.binding.target import AuthKind, ScaKind, Target, TransportKind
from assay.contract.model import Capability, Contract
from assay.doctor.context import DoctorContext
from assay.doctor.finding import Finding, Weight, at, from_problem, one_line
from assay.errors import InputError, did_you_mean
from assay.transport.secrets import unset

__all__ = ["certificates", "guessed", "secrets", "unused"]

#: The comments of `assay init` at a guessed line and at a gap.
_MARKS = (("# guessed:", "guessed"), ("# missing:", "missing"))


def unused(context: DoctorContext) -> Iterator[Finding]:
    """Report keys without an effect: most are spelling mistakes."""
    target, contracts = context.target, context.contracts_bound
    for place, found in _unused_keys(target, contracts):
        yield at(target, place, "a key with an effect", found)


def _unused_keys(
    target: Target, contracts: tuple[Contract, ...]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield each key that nothing uses, and why."""
    known = {name: one for each in contracts for name, one in each.operations.items()}
    for name, binding in target.operations.items():
        if name not in known:
            continue
        fields = _fields(contracts, name)
        for field in binding.item.fields:
            if field not in fields:
                hint = did_you_mean(field, fields)
                why = "a name that is no field of the contract"
                why += f" ({hint})" if hint else ""
                yield ("operations", name, "item", "fields", field), why
    secure = target.base_url.startswith("https:") or target.transport is TransportKind.EMBEDDED
    if target.tls and not secure:
        yield ("tls",), "TLS settings for a base_url with plain http"
    if target.sca.kind is not ScaKind.NONE and Capability.WRITE not in target.fixtures.offers:
        oauth = AuthKind.CODE in {target.auth.kind, *_provider(target)}
        if not oauth and any(one.makes for one in known.values()):
            yield ("sca",), "an SCA signer but nothing to sign: fixtures.offers has no write"


def _provider(target: Target) -> set[AuthKind]:
    return {target.auth.provider.kind} if target.auth.provider else set()


def _fields(contracts: tuple[Contract, ...], operation: str) -> set[str]:
    """Return the fields that an operation's items may have."""
    contract = next(one for one in contracts if operation in one.operations)
    known = contract.operations[operation]
    resources = [*known.lists, *([known.request] if known.request else [])]
    named = {name for one in resources for name in contract.resources[one].fields}
    return named or {name for one in contract.resources.values() for name in one.fields}


def guessed(context: DoctorContext) -> Iterator[Finding]:
    """List the lines still marked as guesses or gaps, in the file and those it extends."""
    document = context.target.document
    if document is None:
        return
    paths = {document.path, *(context.target.place(key)[0] for key in document.data)}
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
                        hint="remove the comment once the line is right",
                    )


#: A certificate that expires within this time is reported.
SOON: Final = timedelta(days=30)


def secrets(context: DoctorContext) -> Iterator[Finding]:
    """Report the environment variables that hold no usable secret."""
    yield from map(from_problem, unset(context.target, os.environ))


def certificates(context: DoctorContext) -> Iterator[Finding]:
    """Read certificates and keys, and report those that cannot be used or expire soon."""
    target = context.target
    if not target.tls and not target.signature:
        return
    from assay.transport.auth.certificates import check, expiry  # noqa: PLC0415 -- cryptography

    now = datetime.now(UTC)
    try:
        check(target, os.environ, now)
    except InputError as error:
        yield from map(from_problem, error.problems)
        return
    expires = expiry(target)
    if expires is not None and expires < now + SOON:
        place, expected = ("tls", "certificate_file"), f"a certificate valid for {SOON.days} days"
        found = f"one that expires on {expires:%Y-%m-%d}"
        yield at(target, place, expected, found, weight=Weight.NOTE)
