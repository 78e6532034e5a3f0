"""Declaring parameters that name a request, its modes, or its arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.contract.files.document import Finding, Pointer
from assay.errors import did_you_mean
from assay.rules.lifecycle.tracker import lifecycle_of_request
from assay.rules.parameters import Raw, Reference, all_known, known, maker, names, parameter, ref


def the_request(*, also: Reference | None = None, required: bool = True) -> Any:
    """Declare the request that the clause is about; the value is its `Lifecycle`."""

    def check(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
        yield from check_request(at, name, clause, raw)
        if also is not None and maker(clause, raw):
            yield from also(at, name, clause, raw)

    return parameter(
        ref("resource"),
        lambda value, contract: lifecycle_of_request(contract, value),
        key="request",
        references=check,
        required=required,
    )


def check_request(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find fault with a request that no operation makes."""
    yield from known(at, name, raw["resources"], "resource")
    if name in raw["resources"] and not maker(clause, raw):
        yield at, f"no operation makes {name!r}", f"add `makes: {name}` to one"


def check_modes(at: Pointer, wanted: list[str], clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find fault with modes in which the clause's request cannot be made."""
    defined = maker(clause, raw)
    if defined:
        yield from all_known(at, wanted, defined.get("modes", ()), "mode")


def check_arguments(at: Pointer, wanted: list[str], clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find fault with arguments that the clause's request does not have."""
    defined = maker(clause, raw)
    if defined:
        yield from all_known(at, wanted, defined.get("arguments", ()), "argument")


def check_argument(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find fault with an argument that the clause's request does not have."""
    defined = maker(clause, raw)
    if defined:
        yield from known(at, name, defined.get("arguments", ()), "argument")


def check_deferred(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find fault with a mode in which a request is carried out at once."""
    defined = maker(clause, raw)
    deferred = defined.get("due", {}).get("modes", ())
    if name in defined.get("modes", ()) and name not in deferred:
        hint = did_you_mean(name, deferred) or "add it to the modes of `due`, if it is"
        yield at, f"the mode {name!r} is put off to no day", hint


def modes(*, key: str, schema: str = "names", required: bool = False) -> Any:
    """Declare modes in which the clause's request is made; empty where left out."""
    return names(ref(schema), key=key, references=check_modes, required=required)


def arguments(*, key: str = "fields") -> Any:
    """Declare arguments of the clause's request."""
    return names(ref("words"), key=key, references=check_arguments)
