"""What comes in and what goes out: the request and the answer, as plain values.

Everything after :mod:`assay.sandbox.edge` sees these two and no HTTP library. Not a
general HTTP model: only what this bank looks at.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

__all__ = [
    "KINDS",
    "OPERATIONS",
    "Answer",
    "Json",
    "Kind",
    "Missing",
    "Operation",
    "Request",
    "Resource",
    "Route",
    "Table",
    "decoded_path",
    "error",
    "own_base",
    "read_body",
    "send",
]

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

#: The four methods which the bank offers; each has its own quota.
Operation: TypeAlias = Literal["accounts", "consents", "balances", "transactions"]
#: The two methods which it does not offer.
Missing: TypeAlias = Literal["trustedBeneficiaries", "endUserIdentity"]
#: What a customer holds: a current account, or a delayed debit card.
Resource: TypeAlias = Literal["account", "card"]
#: What is read: balances and transactions of accounts, outstandings and slips of cards.
Kind: TypeAlias = Literal["balance", "outstanding", "transaction", "slip"]
#: Which of a method's paths was used: under /accounts, short, or with the IBAN in it.
Route: TypeAlias = Literal["main", "short", "path"]

OPERATIONS: tuple[Operation, ...] = (
    "accounts",
    "consents",
    "balances",
    "transactions",
)

KINDS: Mapping[tuple[Operation, Resource], Kind] = {
    ("balances", "account"): "balance",
    ("balances", "card"): "outstanding",
    ("transactions", "account"): "transaction",
    ("transactions", "card"): "slip",
}

_K = TypeVar("_K", bound=str)
_V = TypeVar("_V")

#: One decision for each of a few names; replaced whole, never written to.
Table: TypeAlias = Mapping[_K, _V]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A third party's call, after routing."""

    method: str
    path: str
    #: None when no method of the bank has this path and verb.
    operation: Operation | Missing | None
    route: Route = "main"
    #: The identifier, when it stands in the path.
    identifier: str | None = None
    query: Mapping[str, str]
    authorization: str
    #: Is the customer there? Absent means a batch access.
    attended: bool
    body: bytes = b""
    #: Scheme and host that links start with, without a slash at the end.
    base: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the bank says; bytes are sent as they are, anything else as JSON."""

    status: int
    body: "Json | bytes"
    media: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()


def error(status: int, message: str, *headers: tuple[str, str]) -> Answer:
    """Say no in the bank's one shape of error."""
    body: dict[str, Json] = {"status": status, "message": message}
    return Answer(status=status, body=body, headers=headers)


_STATUS_LINES = {status.value: f"{status.value} {status.phrase}" for status in HTTPStatus}
_encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


def decoded_path(environ: "WSGIEnvironment") -> str:
    """Read the path as UTF-8, which WSGI hides inside Latin-1."""
    path: str = environ.get("PATH_INFO", "")
    if not path.isascii():
        path = path.encode("latin-1", "replace").decode("utf-8", "replace")
    return path or "/"


def read_body(environ: "WSGIEnvironment", limit: int) -> bytes:
    """Read a body up to one byte more than the limit."""
    try:
        length = int(environ.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return b""
    if length <= 0:
        if "HTTP_TRANSFER_ENCODING" not in environ:
            return b""
        length = limit + 1
    body: bytes = environ["wsgi.input"].read(min(length, limit + 1))
    return body


def own_base(environ: "WSGIEnvironment") -> str:
    """Give the scheme and the host that were called."""
    host = environ.get("HTTP_HOST")
    if not host:
        host = f"{environ['SERVER_NAME']}:{environ['SERVER_PORT']}"
    return f"{environ['wsgi.url_scheme']}://{host}"


def send(answer: Answer, method: str, start_response: "StartResponse") -> Iterable[bytes]:
    """Write an answer."""
    body = answer.body
    content = body if isinstance(body, bytes) else _encode(body).encode("ascii")
    if answer.status == HTTPStatus.NO_CONTENT:
        content = b""
    headers = [("Content-Length", str(len(content))), *answer.headers]
    if content:
        headers.insert(0, ("Content-Type", answer.media))
    start_response(_STATUS_LINES.get(answer.status, f"{answer.status} Other"), headers)
    return [b"" if method == "HEAD" else content]
