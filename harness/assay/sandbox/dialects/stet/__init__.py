"""STET 1.4.0 dialect: middleware for its paths, HAL bodies, opaque ids and status codes.

Written from the public description of that interface. Calls below the dialect's root are
translated; the control API and the customer's screens pass unchanged, and the bank's own
paths do not exist. Malformed requests are passed on for the bank to refuse, and answers
that are no JSON objects pass with their media type. The dialect does not validate the
standard.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from io import BytesIO
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from assay.sandbox.control import PREFIX
from assay.sandbox.dialects.stet.accounts import (
    show_accounts,
    show_as_it_is,
    show_balances,
    show_transactions,
    to_bank_consent,
)
from assay.sandbox.dialects.stet.payments import (
    SentRequests,
    show_created,
    show_payment,
    to_bank_change,
    to_bank_payment,
)
from assay.sandbox.dialects.stet.responses import (
    PAYMENTS,
    ROOT,
    StetAnswer,
    ToStet,
    refusal,
    status_of,
)
from assay.sandbox.dialects.stet.values import Content, OpaqueIds, to_bank_query
from assay.sandbox.messages import BODY_LIMIT, decoded_path, read_body
from assay.sandbox.payments.terms import PAYMENT_PATHS

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


HAL = "application/hal+json;charset=utf-8"
#: A path that does not exist in the bank.
_NOWHERE = "/stet"
_OF_ACCOUNT = re.compile(r"/accounts/(?P<id>.*)/(?P<what>balances|transactions)", re.DOTALL)
_REQUEST_ID = re.compile(r"[\x21-\x7e]{1,70}")
_CONFIRMATION = "/confirmation"
#: Path prefixes that pass unchanged.
_PASSING = (PREFIX, *PAYMENT_PATHS[1:])


@dataclass(frozen=True, slots=True, kw_only=True)
class _BankCall:
    """A translated call: path and query in WSGI form; a body of None is not replaced."""

    path: str
    query: str
    body: bytes | None = None
    show: ToStet = show_as_it_is
    offered: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class _BankResponse:
    """The bank's response as received."""

    line: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def status(self) -> int:
        """The status code."""
        return int(self.line[:3])


def stet_middleware(app: "WSGIApplication") -> "WSGIApplication":
    """Put the dialect in front of a bank; identifiers last as long as the middleware."""
    ids, sent = OpaqueIds(), SentRequests()

    def stet(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        if environ.get("PATH_INFO", "").startswith(_PASSING):
            return app(environ, start_response)
        call = _to_bank_call(environ, ids, sent)
        bank_answer = _call_bank(app, environ, call)
        line, headers, body = _answer(environ, bank_answer, call)
        start_response(line, headers)
        return [b"" if environ["REQUEST_METHOD"] == "HEAD" else body]

    return stet


def _to_bank_call(environ: "WSGIEnvironment", ids: OpaqueIds, sent: SentRequests) -> _BankCall:
    """Translate a call."""
    path: str = environ.get("PATH_INFO", "")
    query: str = environ.get("QUERY_STRING", "")
    rest = path.removeprefix(ROOT) if path.startswith(f"{ROOT}/") else ""
    if rest.startswith(PAYMENTS):
        return _payment(environ, rest, query, ids, sent)
    match rest:
        case "/accounts":
            return _BankCall(
                path=rest, query=query, show=lambda content: show_accounts(content, ids)
            )
        case "/consents":
            return _BankCall(
                path=rest, query=query, body=to_bank_consent(read_body(environ, BODY_LIMIT))
            )
        case "/trusted-beneficiaries":
            return _BankCall(path="/trustedBeneficiaries", query=query, offered=False)
        case "/end-user-identity":
            return _BankCall(path="/endUserIdentity", query=query, offered=False)
        case _:
            return _of_account(environ, query, ids)


def _of_account(environ: "WSGIEnvironment", query: str, ids: OpaqueIds) -> _BankCall:
    path = decoded_path(environ)
    named = _OF_ACCOUNT.fullmatch(path.removeprefix(ROOT)) if path.startswith(f"{ROOT}/") else None
    if named is None:
        return _BankCall(path=_NOWHERE, query=query)
    show = show_balances if named["what"] == "balances" else show_transactions
    key = quote(ids.key(named["id"]), safe="")
    asked = to_bank_query(query)
    return _BankCall(
        path=f"/accounts/{named['what']}",
        # First, because the bank uses the first value of a repeated name.
        query=f"iban={key}&{asked}" if asked else f"iban={key}",
        show=lambda content: show(content, ids),
    )


def _payment(
    environ: "WSGIEnvironment", path: str, query: str, ids: OpaqueIds, sent: SentRequests
) -> _BankCall:
    body = read_body(environ, BODY_LIMIT)
    if path == PAYMENTS:
        show = show_created(body, sent, ids)
        return _BankCall(path=path, query=query, body=to_bank_payment(body), show=show)
    if path.endswith(_CONFIRMATION):
        return _BankCall(path=path, query=query, body=body)
    change = body if environ["REQUEST_METHOD"] == "PUT" else b""
    show = show_payment(change, sent, ids)
    return _BankCall(
        path=path, query=query, body=to_bank_change(body) if change else body, show=show
    )


def _call_bank(
    app: "WSGIApplication", environ: "WSGIEnvironment", call: _BankCall
) -> _BankResponse:
    """Call the bank; HEAD is called as GET to determine the content length."""
    inner: dict[str, Any] = {**environ, "PATH_INFO": call.path, "QUERY_STRING": call.query}
    if environ["REQUEST_METHOD"] == "HEAD":
        inner["REQUEST_METHOD"] = "GET"
    if call.body is not None:
        inner["wsgi.input"] = BytesIO(call.body)
        inner["CONTENT_LENGTH"] = str(len(call.body))
    begun: list[tuple[str, list[tuple[str, str]]]] = []
    written: list[bytes] = []

    def start(line: str, headers: list[tuple[str, str]], _error: object = None) -> Any:
        begun.append((line, headers))
        return written.append

    parts = app(inner, cast("StartResponse", start))
    body = b"".join([*parts, *written])
    close = getattr(parts, "close", None)
    if close is not None:
        close()
    line, headers = begun[-1]
    return _BankResponse(line=line, headers=tuple(headers), body=body)


def _answer(
    environ: "WSGIEnvironment", bank_answer: _BankResponse, call: _BankCall
) -> tuple[str, list[tuple[str, str]], bytes]:
    """Translate a response."""
    media = next((value for name, value in bank_answer.headers if name == "Content-Type"), "")
    kept = [
        header
        for header in bank_answer.headers
        if header[0] not in ("Content-Type", "Content-Length")
    ]
    line, body, content = bank_answer.line, bank_answer.body, _object(bank_answer.body)
    if content is not None:
        if bank_answer.status >= HTTPStatus.BAD_REQUEST:
            line, shown = _refused(environ, bank_answer, content, call)
        else:
            shown = call.show(content)
            media = HAL if media == "application/json" else media
        line = _line(HTTPStatus.NO_CONTENT) if shown.body is None else line
        body = b"" if shown.body is None else json.dumps(shown.body).encode()
        kept += shown.headers
    headers = [*kept, *_echo(environ, kept), ("Content-Length", str(len(body)))]
    return line, [("Content-Type", media), *headers] if body else headers, body


def _refused(
    environ: "WSGIEnvironment", bank_answer: _BankResponse, content: Content, call: _BankCall
) -> tuple[str, StetAnswer]:
    status = status_of(bank_answer.status, offered=call.offered)
    path = decoded_path(environ)
    payments = call.path.startswith(PAYMENTS)
    body = refusal(content, bank_answer.status, status, path, payments=payments)
    return bank_answer.line if status == bank_answer.status else _line(
        HTTPStatus(status)
    ), StetAnswer(body=body)


def _line(status: HTTPStatus) -> str:
    return f"{status.value} {status.phrase}"


def _object(body: bytes) -> Content | None:
    """Parse a JSON object in a response; None if it is none."""
    try:
        content: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return cast("Content", content) if isinstance(content, dict) else None


def _echo(environ: "WSGIEnvironment", headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the request's own X-Request-ID header, unless the bank sets one."""
    own: str = environ.get("HTTP_X_REQUEST_ID", "")
    is_given = any(name.lower() == "x-request-id" for name, _ in headers)
    return [("X-Request-ID", own)] if _REQUEST_ID.fullmatch(own) and not is_given else []


__all__: list[str] = []
