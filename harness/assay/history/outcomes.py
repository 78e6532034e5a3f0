"""Outcomes of calls in the contract's words, and the messages on the wire, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from typing import Final, TypeAlias

from assay.contract.model import Json

#: The value in a record of a header that may be a secret.
HIDDEN: Final = "<hidden>"


class State(Enum):
    """The state of a request or of a consent, in the words that rules use."""

    OPEN = "open"
    VALID = "valid"
    DONE = "done"
    REJECTED = "rejected"
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One element of a list in a response, or the single thing that the response shows.

    `id` is the target's own id for it, where calls do not use its key. `fields` are by
    the contract's names; `on` is its date and `state` its state, where the response has
    them and the target file says where; `accepted` says that the bank no longer rejects what is
    open. `digest` represents the whole item as it was
    sent; it is empty if the target file does not say which parts change by themselves,
    or if the item is nested too deep. `content` is that of the item without texts that may be
    links; it is empty if there are none.
    """

    resource: str | None = None
    key: str | None = None
    on: date | None = None
    state: State | None = None
    accepted: bool = False
    fields: Mapping[str, Json] = field(default_factory=dict[str, Json])
    id: str | None = field(default=None, compare=False)
    digest: str = field(default="", compare=False)
    content: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The target accepted the call. `items` is None when nothing is listed.

    `approval` is the link to the screens where the customer signs. `outputs` are values that later
    calls send; a journal does not record them.
    """

    items: tuple[Item, ...] | None = None
    values: Mapping[str, Json] = field(default_factory=dict[str, Json])
    next: str | None = None
    approval: str | None = None
    outputs: Mapping[str, str] = field(default_factory=dict[str, str], compare=False, repr=False)


#: The name of the field of an error that is its code.
ERROR_CODE = "code"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownError:
    """One error in the body of a refusal.

    `fields` are by the contract's names. `codes` are the words of the contract that its code
    stands for, or the code itself if that is none.
    """

    fields: Mapping[str, Json] = field(default_factory=dict[str, Json])
    codes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorBody:
    """The errors in the body of a refusal.

    `located` are the fields that the target file locates, `ERROR_CODE` among them. What it does
    not locate may be there nevertheless.
    """

    located: tuple[str, ...] = ()
    errors: tuple[ShownError, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """The target refused the call; `leaked` are items in the refusal nevertheless.

    `error` is None if the target file does not say where errors are. `other_token` says that the call
    had not a valid token of its consent, so that the refusal may have the code and status of that.
    `early` says that the call may have been refused before it reached the application: the refusal
    is one, but its form is that of a server or a firewall.
    """

    leaked: tuple[Item, ...] = ()
    error: ErrorBody | None = None
    other_token: bool = False
    early: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Unavailable:
    """The target says that it does not offer this operation or mode; the rest as in `Rejected`."""

    leaked: tuple[Item, ...] = ()
    error: ErrorBody | None = None
    early: bool = False


class Cause(Enum):
    """Why an answer says nothing about the contract."""

    SERVER = "the target failed"
    TRANSPORT = "no answer"
    BINDING = "the target file does not describe this answer"
    AUTH = "the target rejects the credentials"


class Detail(Enum):
    """The exact cause, for finding a mistake in the target file."""

    TIMEOUT = "no complete answer in time"
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
    """A request and its response as they were transmitted.

    Bodies are bytes as sent and received, bounded by the client; `status` 0 means that
    there was no response.
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


class Aspect(Enum):
    """What of an answer a document describes."""

    STATUS = "status"
    MEDIA_TYPE = "media-type"
    STRUCTURE = "structure"
    HEADERS = "headers"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRemark:
    """Whether an answer is as the bank's own document has it, in one aspect; None if that is open.

    `says` is what differs, or why it is open, without values of the answer.
    """

    aspect: Aspect
    fits: bool | None
    says: str = ""
