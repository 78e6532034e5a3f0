"""Credentials of a customer in a request: where a target that accepted them would expect them.

No target may accept them. A call sends them where the target file says, or in one place: there
they have the names of the target file, or the usual ones where it has none.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from assay.binding.spelling import CredentialSpelling
from assay.history import CredentialPlace

#: What the credentials are called where nothing says otherwise, as in the password grant of
#: OAuth 2.0 (RFC 6749, section 4.3) and in most forms.
USUAL_NAMES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {"login": ("username", "login"), "password": ("password",)}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedCredentials:
    """The parts of a request that carry credentials; `body` has pointers."""

    headers: tuple[tuple[str, str], ...] = ()
    query: tuple[tuple[str, str], ...] = ()
    body: tuple[tuple[str, str], ...] = ()


def place_credentials(
    spelling: CredentialSpelling, place: CredentialPlace | None, login: str, password: str
) -> PlacedCredentials:
    """Return credentials as the target file spells them, or in one place."""
    values = {"login": login, "password": password}
    usual = tuple((name, values[part]) for part, names in USUAL_NAMES.items() for name in names)
    pair = base64.b64encode(f"{login}:{password}".encode()).decode()
    basic = ("Authorization", f"Basic {pair}")
    match place:
        case CredentialPlace.BASIC:
            return PlacedCredentials(headers=(basic,))
        case CredentialPlace.BODY:
            members = tuple((f"/{name}", value) for name, value in usual)
            return PlacedCredentials(body=_named(spelling.body, values) or members)
        case CredentialPlace.PARAMETERS:
            return PlacedCredentials(
                headers=tuple(filter(_fits_header, _named(spelling.headers, values) or usual)),
                query=_named(spelling.query, values) or usual,
            )
        case CredentialPlace.GRANT:
            return PlacedCredentials()
        case None:
            headers = _named(spelling.headers, values)
            return PlacedCredentials(
                headers=(*headers, basic) if spelling.basic else headers,
                query=_named(spelling.query, values),
                body=_named(spelling.body, values),
            )


def _named(names: Mapping[str, str], values: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, values[part]) for part, name in names.items() if part in values)


def _fits_header(header: tuple[str, str]) -> bool:
    """Whether a header can carry its value as it is."""
    return header[1].isascii() and header[1].isprintable()
