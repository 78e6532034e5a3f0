"""Requests and answers of account information as plain values, with parsing and WSGI output.

Handlers and policies see only these values and no HTTP library. Every parsing fault has a
name, so that the answer to it is a policy and a mutant can fail on a single fault. Input
is never repeated in an answer. Parsing says nothing about rights: a well-formed
identifier may belong to another customer.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from http import HTTPStatus
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar, cast

from assay.sandbox.calendar import parse_day

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

#: The four operations that the bank offers; each has its own quota.
Operation: TypeAlias = Literal["accounts", "consents", "balances", "transactions"]
#: The two operations that it does not offer.
Missing: TypeAlias = Literal["trustedBeneficiaries", "endUserIdentity"]
#: A current account or a delayed debit card.
Resource: TypeAlias = Literal["account", "card"]
#: Balances and transactions of accounts, outstandings and slips of cards.
Kind: TypeAlias = Literal["balance", "outstanding", "transaction", "slip"]
#: Which path of an operation was called: below /accounts, short, or with the IBAN.
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

#: One decision per name; replaced as a whole, never modified.
Table: TypeAlias = Mapping[_K, _V]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A TPP's call after routing."""

    method: str
    path: str
    #: None if the bank has no operation with this path and method.
    operation: Operation | Missing | None
    route: Route = "main"
    #: The identifier in the path, if any.
    identifier: str | None = None
    query: Mapping[str, str]
    authorization: str
    #: The login of the customer whom the call is about; empty if it is about none.
    customer: str = ""
    #: Whether the customer is present; if not, it is a batch access.
    attended: bool
    body: bytes = b""
    #: Scheme and host for links, without a trailing slash.
    base: str
    #: Whether another call may be handled at the same time.
    threaded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A response; a body of bytes is sent unchanged, anything else as JSON."""

    status: int
    body: "Json | bytes"
    media: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()


def error(status: int, message: str, *headers: tuple[str, str]) -> Answer:
    """Return a refusal in the bank's error format."""
    body: dict[str, Json] = {"status": status, "message": message}
    return Answer(status=status, body=body, headers=headers)


#: The bank whose hosts have no code, and the code in the others.
FIRST_BANK = "30001"
_BANK_CODE = re.compile(r"//www\.([0-9]{5})\.live\.")
_STATUS_LINES = {status.value: f"{status.value} {status.phrase}" for status in HTTPStatus}
_encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


def decoded_path(environ: "WSGIEnvironment") -> str:
    """Return the path decoded as UTF-8, which WSGI passes as Latin-1."""
    path: str = environ.get("PATH_INFO", "")
    if not path.isascii():
        path = path.encode("latin-1", "replace").decode("utf-8", "replace")
    return path or "/"


def read_body(environ: "WSGIEnvironment", limit: int) -> bytes:
    """Read a body, at most one byte more than the limit."""
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
    """Return the scheme and host that were called."""
    host = environ.get("HTTP_HOST")
    if not host:
        host = f"{environ['SERVER_NAME']}:{environ['SERVER_PORT']}"
    return f"{environ['wsgi.url_scheme']}://{host}"


def bank_called(base: str) -> str:
    """Return the code of the bank whose host was called; a host without one is the first bank's."""
    found = _BANK_CODE.search(base)
    return found[1] if found else FIRST_BANK


def send(answer: Answer, method: str, start_response: "StartResponse") -> Iterable[bytes]:
    """Send an answer through WSGI."""
    body = answer.body
    content = body if isinstance(body, bytes) else _encode(body).encode("ascii")
    if answer.status == HTTPStatus.NO_CONTENT:
        content = b""
    headers = [("Content-Length", str(len(content))), *answer.headers]
    if content:
        headers.insert(0, ("Content-Type", answer.media))
    start_response(_STATUS_LINES.get(answer.status, f"{answer.status} Other"), headers)
    return [b"" if method == "HEAD" else content]


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
    "list-empty",
]

#: Parses the identifiers in a consent; an empty result changes nothing.
ReadBody: TypeAlias = Callable[[bytes], Sequence[str]]

#: Longest body of a TPP request, in bytes.
BODY_LIMIT = 64 * 1024
_DEPTH_LIMIT = 16
_IDENTIFIER_LIMIT = 40
_IDENTIFIER = re.compile(r"[0-9A-Za-z_=+/-]+")
_PAGE = re.compile(r"[0-9]{1,6}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Malformed(Exception):  # noqa: N818 - the request is at fault
    """The request cannot be parsed; carries the name of the fault."""

    def __init__(self, fault: Fault) -> None:
        """Store the name of the fault."""
        super().__init__(fault)
        self.fault: Fault = fault


def read_page(query: Mapping[str, str]) -> int:
    """Parse the page number; 1 if absent."""
    text = query.get("page")
    if text is None:
        return 1
    if not _PAGE.fullmatch(text) or int(text) == 0:
        raise Malformed("page")
    return int(text)


def read_day(query: Mapping[str, str], name: str) -> date | None:
    """Parse a day in the query; None if absent."""
    text = query.get(name)
    if text is None:
        return None
    day = parse_day(text)
    if day is None:
        raise Malformed("date")
    return day


def read_identifier(text: str | None) -> str:
    """Parse an IBAN or an encrypted PAN; only its shape is checked."""
    if not text:
        raise Malformed("identifier-missing")
    if len(text) > _IDENTIFIER_LIMIT:
        raise Malformed("identifier-long")
    if _IDENTIFIER.fullmatch(text):
        return text
    control = _CONTROL.search(text)
    raise Malformed("identifier-control" if control else "identifier-alphabet")


def consented_keys(body: bytes) -> Sequence[str]:
    """Parse the identifiers that a consent names."""
    accounts = read_object(body).get("accounts")
    if not isinstance(accounts, list):
        raise Malformed("body-type")
    if not accounts:
        raise Malformed("list-empty")
    keys: list[str] = []
    for key in cast("list[object]", accounts):
        if not isinstance(key, str):
            raise Malformed("body-type")
        keys.append(key)
    return keys


def credentials_in(body: bytes) -> tuple[str, str] | None:
    """Return a login and password in a body, where a TPP must send none; else None."""
    try:
        return login_in(read_object(body))
    except Malformed:
        return None


def login_in(named: Mapping[str, object]) -> tuple[str, str] | None:
    """Return a login and password among named values, where a TPP must send none; else None."""
    login, password = named.get("login"), named.get("password")
    if isinstance(login, str) and isinstance(password, str):
        return login, password
    return None


def read_object(body: bytes) -> dict[str, object]:
    """Parse a JSON object within the limits of size and depth."""
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
    """Return whether JSON is nested deeper than the limit, without recursion."""
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
