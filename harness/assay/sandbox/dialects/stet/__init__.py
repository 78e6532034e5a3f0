"""The door of the dialect: from a call in STET's words to one of the bank's, and back.

A call below the dialect's root is turned into one of the bank's own and the answer into
STET's; the control API and the customer's screens pass as they are, and the bank's own
paths lead nowhere. What does not read is passed on, so that the bank refuses it: nothing
is decided here but how things are spelt. An answer that is no JSON object is passed on
too, with the media type that it declares.

The dialect of STET 1.4.0: its paths, HAL bodies, opaque identifiers and status words.

Written from what is publicly known of that interface, for a bank that speaks something
else. :mod:`~assay.sandbox.dialects.stet.edge` is its door. Not a validator of the
standard: what this bank does not look at, the dialect lets pass.
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
#: Where nothing of the bank's is.
_NOWHERE = "/stet"
_OF_ACCOUNT = re.compile(r"/accounts/(?P<id>.*)/(?P<what>balances|transactions)", re.DOTALL)
_REQUEST_ID = re.compile(r"[\x21-\x7e]{1,70}")
_CONFIRMATION = "/confirmation"
#: Every one of ours begins so; both are passed through.
_PASSING = (PREFIX, *PAYMENT_PATHS[1:])


@dataclass(frozen=True, slots=True, kw_only=True)
class _BankCall:
    """A call of the bank's: path and query as WSGI has them; None leaves the body alone."""

    path: str
    query: str
    body: bytes | None = None
    show: ToStet = show_as_it_is
    offered: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class _BankResponse:
    """What the bank answered, as it came."""

    line: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def status(self) -> int:
        """The status alone."""
        return int(self.line[:3])


def stet_middleware(app: "WSGIApplication") -> "WSGIApplication":
    """Put the dialect around a bank; what it issues and remembers lasts as long as it does."""
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
    """Find what a call means."""
    path: str = environ.get("PATH_INFO", "")
    query: str = environ.get("QUERY_STRING", "")
    rest = path.removeprefix(ROOT) if path.startswith(f"{ROOT}/") else ""
    if rest.startswith(PAYMENTS):
        return _payment(environ, rest, query, ids, sent)
    match rest:
        case "/accounts":
            return _BankCall(path=rest, query=query, show=lambda found: show_accounts(found, ids))
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
        # First, since of a name that comes twice the bank takes the first.
        query=f"iban={key}&{asked}" if asked else f"iban={key}",
        show=lambda found: show(found, ids),
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
    """Call the bank; for a HEAD as for a GET, so that there is a body to be measured."""
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
    """Turn an answer into one of STET's."""
    media = next((value for name, value in bank_answer.headers if name == "Content-Type"), "")
    kept = [one for one in bank_answer.headers if one[0] not in ("Content-Type", "Content-Length")]
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
    """Read an answer of the bank's; None when it is no JSON object."""
    try:
        content: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return cast("Content", content) if isinstance(content, dict) else None


def _echo(environ: "WSGIEnvironment", headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Give the request's own identifier back, if it has one and the bank gives none."""
    own: str = environ.get("HTTP_X_REQUEST_ID", "")
    given = any(name.lower() == "x-request-id" for name, _ in headers)
    return [("X-Request-ID", own)] if _REQUEST_ID.fullmatch(own) and not given else []


__all__: list[str] = []
