"""Outcomes of calls in the contract's words, and the messages on the wire, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from typing import Final, TypeAlias

from assay.contract.model import Json

#: Stands in a record for the value of a header that may be a secret.
HIDDEN: Final = "<hidden>"


class State(Enum):
    """Where a request stands, in the four words that rules know."""

    OPEN = "open"
    DONE = "done"
    REJECTED = "rejected"
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One element of an answer's list, or the one thing that the answer shows.

    `id` is the target's own name for it, where calls do not name it by its key.
    `fields` are by the contract's names; `on` is its date and `state` where it stands,
    where the target says so and the profile knows where and how. `digest` stands for
    the whole of it as it was sent; empty where the profile does not say what of it
    changes by itself, or it is nested too deep.
    """

    resource: str | None = None
    key: str | None = None
    on: date | None = None
    state: State | None = None
    fields: Mapping[str, Json] = field(default_factory=dict[str, Json])
    id: str | None = field(default=None, compare=False)
    digest: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The target did what was asked. `items` is None when nothing is listed.

    `approval` is the link to the screens where the customer signs.
    """

    items: tuple[Item, ...] | None = None
    values: Mapping[str, Json] = field(default_factory=dict[str, Json])
    next: str | None = None
    approval: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """The target refused; `leaked` are items found in the refusal all the same."""

    leaked: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unavailable:
    """The target says that it does not offer this at all."""

    leaked: tuple[Item, ...] = ()


class Cause(Enum):
    """Why an answer says nothing about the contract."""

    SERVER = "the target failed"
    TRANSPORT = "no answer came"
    BINDING = "the target file does not describe this answer"
    AUTH = "the target rejects the credentials"


class Detail(Enum):
    """What exactly a cause was, for those who look for a mistake in the target file."""

    TIMEOUT = "no complete answer came in time"
    UNKNOWN_STATUS = "no outcome of the target file matches the status"


@dataclass(frozen=True, slots=True, kw_only=True)
class Indeterminate:
    """The answer does not show what the target did.

    `detail` is known while the target is called; a journal does not record it.
    """

    cause: Cause
    why: str
    detail: Detail | None = field(default=None, compare=False)


Outcome: TypeAlias = Accepted | Rejected | Unavailable | Indeterminate


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """What went over the wire, for the record and for judging well-formedness.

    Bodies are bytes as sent and received (bounded by the client); `status` 0
    means that no answer came.
    """

    method: str
    url: str
    request_headers: tuple[tuple[str, str], ...] = ()
    request_body: bytes = b""
    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    truncated: bool = False
    links: tuple[str, ...] = ()

    @property
    def media_type(self) -> str:
        """The declared media type in lower case without parameters, or ''."""
        for name, value in self.headers:
            if name.lower() == "content-type":
                return value.partition(";")[0].strip().lower()
        return ""

    def header(self, name: str) -> str | None:
        """Return the first header of this name in the answer, or None."""
        return _first(self.headers, name)

    def has_header(self, name: str, value: str) -> bool | None:
        """Whether the answer has this header with exactly this value.

        None where a record hides the value, because it may be a secret.
        """
        seen = self.header(name)
        return None if seen == HIDDEN else seen == value

    def request_header(self, name: str) -> str | None:
        """Return the first header of this name in the request, or None."""
        return _first(self.request_headers, name)


def _first(headers: tuple[tuple[str, str], ...], wanted: str) -> str | None:
    return next((value for name, value in headers if name.lower() == wanted.lower()), None)
