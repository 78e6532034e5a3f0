"""A request that was made, taken apart: what stands at each place that a target file can name.

Who reads the value of a place reads it here: the token of a request, the sign that the customer is
present, the arguments of a recorded request or of one that is sent again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Protocol, Self
from urllib.parse import parse_qsl, urlsplit

from assay.binding.model.forms import as_json
from assay.binding.model.pointer import MISSING, find, read_json
from assay.binding.model.spelling import Place
from assay.contract.model import Json
from assay.history import Wire


class Placed(Protocol):
    """Anything that has a place in a request, and a name or a pointer there."""

    @property
    def place(self) -> Place:
        """The part of the request."""
        ...

    @property
    def name(self) -> str:
        """The name there; in a body the pointer."""
        ...


class RequestParts:
    """A request that was made; its query and its body are read when they are first asked for.

    `headers` has the first value of each header, under its name in lower case.
    """

    def __init__(
        self, method: str, url: str, headers: Iterable[tuple[str, str]], body: bytes
    ) -> None:
        self.method = method.upper()
        self.url = urlsplit(url)
        self._headers = tuple((name.lower(), value) for name, value in headers)
        self.headers: dict[str, str] = dict(reversed(self._headers))
        self._body = body

    @classmethod
    def of(cls, wire: Wire) -> Self:
        """Take the request of an exchange apart."""
        return cls(wire.method, wire.url, wire.request_headers, wire.request_body)

    @cached_property
    def query(self) -> list[tuple[str, str]]:
        """The names and values in its query."""
        return parse_qsl(self.url.query, keep_blank_values=True)

    @cached_property
    def body(self) -> Json:
        """Its body as JSON, a form too; `MISSING` without one, or if it cannot be read."""
        return read_json(as_json(self._headers, self._body))

    def values_at(self, at: Placed) -> list[Json]:
        """Return what stands at a place outside of the path: one value, several, or none."""
        if at.place is Place.HEADER:
            return [value for name, value in self._headers if name == at.name.lower()]
        if at.place is Place.QUERY:
            return [value for name, value in self.query if name == at.name]
        value = find(self.body, at.name) if at.place is Place.BODY else MISSING
        return [] if value is MISSING else [value]

    def value_at(self, at: Placed, slots: Mapping[str, str] = MappingProxyType({})) -> Json:
        """Return the value at a place, of several the first; `MISSING` without one.

        `slots` are the values of the parameters of its path.
        """
        if at.place is Place.PATH:
            return slots.get(at.name, MISSING)
        return next(iter(self.values_at(at)), MISSING)
