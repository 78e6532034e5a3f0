"""Parameter declarations for rules about a request, its modes and its arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay.contract.model import Json
from assay.errors import did_you_mean
from assay.files.document import Finding, Pointer
from assay.rules.lifecycle.tracker import lifecycle_of_request
from assay.rules.parameters import (
    Raw,
    Reference,
    about_one_thing,
    all_known,
    known,
    maker,
    names,
    parameter,
    ref,
)


def the_request(
    *, also: Reference | None = None, required: bool = True, signed: bool = False
) -> Any:
    """Declare the request that the clause is about; the value is its `Lifecycle`.

    With `signed`, the clause is about how a customer signs it.
    """

    def check(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
        yield from check_request(at, name, clause, raw)
        if signed and not maker(clause, raw).get("signed", True):
            yield from check_signed(at, name, clause, raw)
        elif also is not None and maker(clause, raw):
            yield from also(at, name, clause, raw)

    return parameter(
        ref("resource"),
        lambda value, contract: lifecycle_of_request(contract, value),
        key="request",
        references=check,
        required=required,
    )


def check_signed(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find a request that nobody signs: a rule about signatures has nothing to test."""
    if not maker(clause, raw).get("signed", True):
        hint = "remove the rule, or `signed: false` from the operation that makes it"
        yield at, f"{name!r} is not signed, and the rule is about its signature", hint


def check_request(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find a request that no operation makes."""
    yield from known(at, name, raw["resources"], "resource")
    made = [each["makes"] for each in raw["operations"].values() if "makes" in each]
    if not all(each in raw["resources"] for each in made):
        return  # a misspelt `makes`, which is reported where it stands, may be this request's
    if name in raw["resources"] and name not in made:
        yield at, f"no operation makes {name!r}", f"add `makes: {name}` to one"


def check_modes(at: Pointer, wanted: list[str], clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find modes in which the clause's request cannot be made."""
    defined = maker(clause, raw)
    if defined:
        yield from all_known(at, wanted, defined.get("modes", ()), "mode")


def check_arguments(at: Pointer, wanted: list[str], clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find arguments that the clause's request does not have."""
    defined = maker(clause, raw)
    if defined:
        yield from all_known(at, wanted, defined.get("arguments", ()), "argument")


def check_argument(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find an argument that the clause's request does not have."""
    defined = maker(clause, raw)
    if defined:
        yield from known(at, name, defined.get("arguments", ()), "argument")


def check_deferred(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find a mode in which a request is executed at once."""
    defined = maker(clause, raw)
    deferred = defined.get("due", {}).get("modes", ())
    misspelt = [mode for mode in deferred if mode not in defined.get("modes", ())]
    if name in defined.get("modes", ()) and name not in deferred and not misspelt:
        hint = did_you_mean(name, deferred) or "add it to the modes of `due`, if it is"
        yield at, f"the mode {name!r} is not deferred to a day", hint


def modes(*, key: str, schema: str = "names", required: bool = False) -> Any:
    """Declare modes in which the clause's request is made; empty where left out."""
    return names(ref(schema), key=key, references=check_modes, required=required)


def arguments(*, key: str = "fields") -> Any:
    """Declare arguments of the clause's request."""
    return names(ref("words"), key=key, references=check_arguments)


def _at_least_one(noun: str) -> Mapping[str, Json]:
    return {
        "description": f"a list of at least one {noun}",
        "type": "array",
        "minItems": 1,
        "uniqueItems": True,
        "items": ref("word"),
    }


_VALUES: Mapping[str, Json] = {
    "description": "values by argument",
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {"description": "a text or a number", "type": ["string", "number"]},
}


def some_modes(*, key: str) -> Any:
    """Declare modes in which the clause's request is made, at least one if it is given."""
    return names(_at_least_one("mode"), key=key, references=check_modes, required=False)


def values_by_argument(*, key: str) -> Any:
    """Declare values of arguments of the clause's request; empty where left out."""
    return parameter(
        _VALUES,
        lambda value, _: value,
        key=key,
        references=check_values,
        required=False,
        default={},
    )


def check_values(at: Pointer, value: Raw, clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find values of arguments that the clause's request does not have."""
    for name in value:
        yield from check_argument((*at, name), name, clause, raw)


def check_all_deferred(at: Pointer, wanted: list[str], clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find modes that leave no time to change a request."""
    yield from check_modes(at, wanted, clause, raw)
    for index, name in enumerate(wanted):
        yield from check_deferred((*at, index), name, clause, raw)


def check_changeable(at: Pointer, wanted: list[str], clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find arguments that a request has but a change of it does not."""
    yield from check_arguments(at, wanted, clause, raw)
    made = maker(clause, raw)
    if not made:
        return
    operations, request = raw["operations"], clause["request"]
    change: Raw = next((each for each in operations.values() if each.get("changes") == request), {})
    if not change:
        yield at, f"no operation changes {request!r}", f"add `changes: {request}` to one"
        return
    for index, name in enumerate(wanted):
        if name in made.get("arguments", ()) and name not in change.get("arguments", ()):
            hint = "add it to the arguments of what changes it, or leave it out here"
            yield (*at, index), f"{name!r} is no argument of a change", hint


def check_never(at: Pointer, wanted: list[str], clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find modes that can never be changed where no others can."""
    yield from check_modes(at, wanted, clause, raw)
    if "only" not in clause:
        yield at, "`never` without `only`", "add the modes that can be changed, or remove it"


def deferred_modes(*, key: str, required: bool = True) -> Any:
    """Declare modes whose requests are deferred to a day, at least one if it is given."""
    schema = _at_least_one("mode")
    return names(schema, key=key, references=check_all_deferred, required=required)


def check_kept(at: Pointer, wanted: list[str], clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find arguments that no change can name, and those that can be changed."""
    yield from check_changeable(at, wanted, clause, raw)
    for index, name in enumerate(wanted):
        if name in clause.get("fields", ()):
            yield (*at, index), f"{name!r} can be changed", "remove it here or from `fields`"


def changeable_arguments(*, key: str) -> Any:
    """Declare arguments that a request and a change of it have, at least one."""
    return names(_at_least_one("argument"), key=key, references=check_changeable)


def kept_arguments(*, key: str) -> Any:
    """Declare arguments of a request that a change of it can name, and does not change."""
    return names(_at_least_one("argument"), key=key, references=check_kept, required=False)


def check_deletable(at: Pointer, name: str, _clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find a request that no operation ends, or shows."""
    for key in ("ends", "shows"):
        if not any(each.get(key) == name for each in raw["operations"].values()):
            yield at, f"no operation {key} {name!r}", f"add `{key}: {name}` to one"


#: How an operation can be about a request that was made.
_ABOUT = ("shows", "changes", "ends")


def check_about_request(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find an operation that is not about the clause's request."""
    yield from about_one_thing(at, name, clause, raw)
    defined = raw["operations"][name]
    if "about" in defined and clause["request"] not in map(defined.get, _ABOUT):
        hint = f"add `shows`, `changes` or `ends` to operations.{name}, or leave it out here"
        yield at, f"{name!r} is about no {clause['request']!r}", hint
