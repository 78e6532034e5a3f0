"""A keyword of JSON Schema that a value fails -> what to tell the one who wrote it.

"Is not valid under any of the given schemas" helps nobody, so each keyword has its
own words, from the `description` and `x-hint` of the shape. Where the value stands
in its file is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, TypeAlias

from assay.errors import did_you_mean
from assay.files.finding import Finding, found
from assay.files.shapes import described
from assay.model import Json

__all__ = ["Failed", "words"]

_SECRET: Final = re.compile(
    r"token|password|passwd|secret|credential|(api|private).?key", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A keyword that a value fails, and the schema in which the keyword stands.

    `is_key` is true if the value is the key of a mapping.
    """

    keyword: str
    asked: Any
    value: Any
    schema: Mapping[str, Any]
    is_key: bool = False


_Words: TypeAlias = Callable[[Failed], Iterator[Finding]]


def words(failed: Failed) -> Iterator[Finding]:
    """Say what is wrong; places are seen from the value."""
    say = _key if failed.is_key else _WORDS.get(failed.keyword, _expected)
    return say(failed)


def _expected(failed: Failed) -> Iterator[Finding]:
    schema, value = failed.schema, failed.value
    secret = schema.get("writeOnly") and isinstance(value, str) and value
    seen = "something else, not shown here" if secret else found(value)
    wanted = schema.get("description") or f"{failed.keyword} {failed.asked}"
    hint = schema.get("x-hint", "")
    if not hint and failed.keyword == "enum" and isinstance(value, str):
        close = did_you_mean(value, [str(one) for one in failed.asked])
        hint = close if close.startswith("did") else ""
    if not hint and schema.get("type") == "string" and _quotable(value):
        hint = f'write it in quotes: "{found(value)}"'
    yield (), f"expected {wanted}, found {seen}", hint


def _quotable(value: Json) -> bool:
    """Whether a text was perhaps meant, that reads as something else unquoted."""
    return isinstance(value, bool | int | Decimal)


def _const(failed: Failed) -> Iterator[Finding]:
    wanted = failed.schema.get("description") or found(failed.asked)
    yield (), f"expected {wanted}, found {found(failed.value)}", ""


def _unknown_keys(failed: Failed) -> Iterator[Finding]:
    known = set(failed.schema.get("properties", {}))
    for key, value in failed.value.items():
        if key in known:
            continue
        if _SECRET.search(key) and not isinstance(value, dict | list):
            names = sorted(one for one in known if one.endswith("_env"))
            likely = (f"{key}_env", "token_env", *names)
            name = next((one for one in likely if one in names), "token_env")
            hint = f"name an environment variable instead: `{name}: BANK_TOKEN`"
            yield (key,), "a secret never stands in a file", hint
        else:
            yield (key,), f"unknown key {found(key)}", did_you_mean(key, known)


def _missing(failed: Failed) -> Iterator[Finding]:
    for key in failed.asked:
        if key not in failed.value:
            wanted = described(failed.schema.get("properties", {}).get(key, {}))
            yield (), f"{key!r} is missing", f"expected {wanted}" if wanted else ""


def _twice(failed: Failed) -> Iterator[Finding]:
    seen: list[object] = []
    for index, item in enumerate(failed.value):
        if item in seen:
            yield (index,), f"{found(item)} stands twice in the list", "keep one"
        seen.append(item)


def _too_long(failed: Failed) -> Iterator[Finding]:
    size = len(failed.value)
    yield (), f"expected at most {failed.asked} characters, found {size}", "shorten it"


def _too_much(failed: Failed) -> Iterator[Finding]:
    yield (), f"expected at most {failed.asked}, found {found(failed.value)}", ""


def _key(failed: Failed) -> Iterator[Finding]:
    wanted = failed.schema.get("description", "another name")
    what = f"expected {wanted} as the key, found {found(failed.value)}"
    yield (failed.value,), what, failed.schema.get("x-hint", "")


_WORDS: Final[Mapping[str, _Words]] = {
    "additionalProperties": _unknown_keys,
    "const": _const,
    "maxLength": _too_long,
    "maximum": _too_much,
    "required": _missing,
    "uniqueItems": _twice,
}
