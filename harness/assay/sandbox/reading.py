"""Reading what a third party sent, and naming what is wrong with it.

Every fault has a name, so that the answer to it is a policy and a mutant can stumble
over a single one. Input is never repeated in an answer. Not about rights: an identifier
that reads well may still be somebody else's.

Cutting a list into pages: positions, and the number of the page after.

Works on positions, not on things, so that accounts and transactions share it. Not for
links: those are made in :mod:`assay.sandbox.render`.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Literal, TypeAlias, cast

from assay.sandbox.calendar import parse_day

Fault: TypeAlias = Literal[
    "page",
    "date",
    "identifier-missing",
    "identifier-long",
    "identifier-control",
    "identifier-alphabet",
    "body-size",
    "body-empty",
    "body-text",
    "body-truncated",
    "body-type",
    "body-deep",
]

#: Reads a consent: the identifiers in it. An empty reading changes nothing.
ReadBody: TypeAlias = Callable[[bytes], Sequence[str]]

#: Longest body of a third party, in bytes.
BODY_LIMIT = 64 * 1024
_DEPTH_LIMIT = 16
_IDENTIFIER_LIMIT = 40
_IDENTIFIER = re.compile(r"[0-9A-Za-z_=+/-]+")
_PAGE = re.compile(r"[0-9]{1,6}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Malformed(Exception):  # noqa: N818 - it is the request that is at fault
    """The request does not read; carries the name of its fault."""

    def __init__(self, fault: Fault) -> None:
        """Keep the fault's name."""
        super().__init__(fault)
        self.fault: Fault = fault


def read_page(query: Mapping[str, str]) -> int:
    """Read the page number; the first page when there is none."""
    text = query.get("page")
    if text is None:
        return 1
    if not _PAGE.fullmatch(text) or int(text) == 0:
        raise Malformed("page")
    return int(text)


def read_day(query: Mapping[str, str], name: str) -> date | None:
    """Read a day of the query; None when it is absent."""
    text = query.get(name)
    if text is None:
        return None
    day = parse_day(text)
    if day is None:
        raise Malformed("date")
    return day


def read_identifier(text: str | None) -> str:
    """Read an IBAN or an encrypted PAN; only its shape is looked at."""
    if not text:
        raise Malformed("identifier-missing")
    if len(text) > _IDENTIFIER_LIMIT:
        raise Malformed("identifier-long")
    if _IDENTIFIER.fullmatch(text):
        return text
    control = _CONTROL.search(text)
    raise Malformed("identifier-control" if control else "identifier-alphabet")


def consented_keys(body: bytes) -> Sequence[str]:
    """Read the identifiers that a consent names."""
    accounts = read_object(body).get("accounts")
    if not isinstance(accounts, list) or not accounts:
        raise Malformed("body-type")
    keys: list[str] = []
    for key in cast("list[object]", accounts):
        if not isinstance(key, str):
            raise Malformed("body-type")
        keys.append(key)
    return keys


def credentials_in(body: bytes) -> tuple[str, str] | None:
    """Find a login and a password in a body, where a third party must put none."""
    try:
        content = read_object(body)
    except Malformed:
        return None
    login, password = content.get("login"), content.get("password")
    if isinstance(login, str) and isinstance(password, str):
        return login, password
    return None


def read_object(body: bytes) -> dict[str, object]:
    """Read a JSON object that is neither too long nor too deep."""
    if len(body) > BODY_LIMIT:
        raise Malformed("body-size")
    if not body.strip():
        raise Malformed("body-empty")
    try:
        content: object = json.loads(body)
    except RecursionError:
        raise Malformed("body-deep") from None
    except ValueError:
        begun = body.lstrip()[:1] in (b"{", b"[", b'"')
        raise Malformed("body-truncated" if begun else "body-text") from None
    if _deeper_than(content, _DEPTH_LIMIT):
        raise Malformed("body-deep")
    if not isinstance(content, dict):
        raise Malformed("body-type")
    return cast("dict[str, object]", content)


def _deeper_than(content: object, limit: int) -> bool:
    """Go down level by level, without recursion."""
    level = [content]
    for _ in range(limit):
        below: list[object] = []
        for node in level:
            if isinstance(node, dict):
                below.extend(cast("dict[str, object]", node).values())
            elif isinstance(node, list):
                below.extend(cast("list[object]", node))
        if not below:
            return False
        level = below
    return True
