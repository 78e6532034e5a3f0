"""Nordval Bank: account information and payment initiation gateway (sandbox)."""

import json
import secrets
import sys
from datetime import date, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any

import models as m
import sandbox
import screens
import uvicorn
from engine import BATCH_LIMIT, Customer, Holding, RefusedError, Task, bank
from fastapi import APIRouter, Depends, FastAPI, Header, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer
from starlette.exceptions import HTTPException

SECRETS = {"tpp-a": "alpha-key", "tpp-b": "beta-key"}
HISTORY_DAYS, MAX_DAYS_AHEAD, PAGE_LIFE = 90, 365, timedelta(minutes=10)
TAGS = [
    {"name": "access", "description": "Tokens of the TPP and links with customers"},
    {"name": "accounts", "description": "Account information (header X-Customer-Link needed)"},
    {"name": "payments", "description": "Payment initiation"},
    {"name": "test side", "description": "Sandbox only: clock, customers, shortcuts"},
]
ABOUT = """Gateway of Nordval Bank, version 1.0, sandbox. A TPP gets a token with its credentials
(`POST /auth/token`), links a customer for account information (`POST /psd2/v1/customer-links`) and
names the link in `X-Customer-Link`. Payments need the token only; the customer signs each payment at
its `redirectUrl`. Amounts are in cents, moments are in UTC. See MANUAL.md."""


def fails(*codes: int) -> dict[int | str, dict[str, Any]]:
    """Describe the refusals of an operation for the OpenAPI document."""
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {n: {"description": HTTPStatus(n).phrase, "content": content} for n in codes}


app = FastAPI(
    title="Nordval Bank PSD2 gateway", version="1.0", description=ABOUT, openapi_tags=TAGS
)


async def request_id(
    response: Response,
    x_request_id: Annotated[
        str, Header(alias="X-Request-Id", description="Any unique text; it is sent back")
    ],
) -> None:
    """Require the request identifier and send it back."""
    response.headers["X-Request-Id"] = x_request_id


bearer = HTTPBearer(auto_error=False, description="Token of POST /auth/token")
link_header = APIKeyHeader(name="X-Customer-Link", auto_error=False, description="An active link")
psd2 = APIRouter(prefix="/psd2/v1", dependencies=[Depends(request_id)])
Bearer = Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]
Present = Annotated[bool, Header(alias="X-Customer-Present", description="The customer asks now")]
PageSize = Annotated[int | None, Query(alias="pageSize", ge=1, le=100)]
PageToken = Annotated[str | None, Query(alias="pageToken", description="From the page before")]


def problem(status: int, code: str, detail: str, violations: list[Any] | None = None) -> Response:
    """Make the answer to a refused request."""
    body = m.Problem(title=HTTPStatus(status).phrase, status=status, code=code, detail=detail)
    content = body.model_dump() | {"violations": violations or []}
    return JSONResponse(content, status, media_type="application/problem+json")


@app.exception_handler(RefusedError)
async def on_problem(_: Request, error: RefusedError) -> Response:
    """Answer a refused request."""
    return problem(error.status, error.code, error.detail)


@app.exception_handler(HTTPException)
async def on_http(_: Request, error: HTTPException) -> Response:
    """Answer an unknown path or method."""
    return problem(error.status_code, "not-available", str(error.detail))


@app.exception_handler(RequestValidationError)
async def on_invalid(_: Request, error: RequestValidationError) -> Response:
    """Answer a request that does not meet the contract."""
    rows = [
        {"field": ".".join(str(part) for part in one["loc"]), "message": one["msg"]}
        for one in error.errors()
    ]
    return problem(400, "contract-violation", "The request does not meet the contract", rows)


def client_of(credentials: HTTPAuthorizationCredentials | None, scope: str) -> str:
    """Return the TPP of a token."""
    known = bank.tokens.get(credentials.credentials) if credentials else None
    if known is None or known[2] <= bank.now:
        raise RefusedError(401, "token-invalid", "The token is missing, unknown or expired")
    if scope not in known[1]:
        raise RefusedError(403, "scope-missing", f"The token lacks the scope {scope}")
    return known[0]


async def payer(credentials: Bearer) -> str:
    """Return the TPP of a payment call."""
    return client_of(credentials, "payments")


async def linker(credentials: Bearer) -> str:
    """Return the TPP of a call about a customer link."""
    return client_of(credentials, "accounts")


async def linked(
    client: Annotated[str, Depends(linker)], link_id: Annotated[str | None, Depends(link_header)]
) -> Task:
    """Return the active customer link that a call names."""
    task = bank.tasks.get(link_id or "")
    if task is None or task.client != client or task.status != "active":
        raise RefusedError(403, "link-not-active", "X-Customer-Link names no active link")
    return task


Payer, Linker = Annotated[str, Depends(payer)], Annotated[str, Depends(linker)]
Linked = Annotated[Task, Depends(linked)]


def person(task: Task) -> Customer:
    """Return the customer of an active link."""
    return task.customer


def count(task: Task, present: bool, method: str) -> None:
    """Count a batch access and refuse the fifth of a calendar day."""
    key = (task.client, person(task).number, method, bank.today)
    if not present:
        if bank.batch.get(key, 0) >= BATCH_LIMIT:
            raise RefusedError(429, "batch-limit", "4 accesses a day without the customer at most")
        bank.batch[key] = bank.batch.get(key, 0) + 1


def start_of(token: str | None, path: str, keys: list[str], size: int) -> tuple[int, int]:
    """Return where a page starts and its size, from the page token if there is one."""
    if token is None:
        return 0, size
    known = bank.pages.get(token)
    if known is None or known[0] != path or known[3] <= bank.now or known[1] not in keys:
        raise RefusedError(400, "page-token-invalid", "The page token is unknown or expired")
    return keys.index(known[1]) + 1, known[2]


def paging(path: str, keys: list[str], start: int, size: int) -> m.Paging:
    """Make the token of the page that follows."""
    end = start + size
    if end >= len(keys):
        return m.Paging(next_page_token=None)
    token = f"pg_{secrets.token_urlsafe(9)}"
    bank.pages[token] = (path, keys[end - 1], size, bank.now + PAGE_LIFE)
    return m.Paging(next_page_token=token)


def consented(task: Task, iban: str, right: m.Right) -> Holding:
    """Return an account or card for which the customer gave consent."""
    holding = person(task).holdings.get(iban)
    if holding is None or not bank.visible(holding):
        raise RefusedError(404, "account-unknown", "No available account has this identifier")
    if right not in task.consent.get(iban, []):
        raise RefusedError(403, "no-consent", f"No consent was given for the {right}")
    return holding


@app.post("/auth/token", tags=["access"], responses=fails(400, 401))
async def get_token(body: m.TokenRequest) -> m.Token:
    """Get an access token for the credentials of the TPP."""
    if SECRETS.get(body.client_id) != body.client_secret:
        raise RefusedError(401, "client-unknown", "clientId or clientSecret is wrong")
    token = f"nv_{secrets.token_urlsafe(18)}"
    bank.tokens[token] = (body.client_id, list(body.scopes), bank.now + timedelta(days=1))
    return m.Token(access_token=token, expires_in=86400)


def show_link(task: Task, request: Request) -> m.Link:
    """Show a customer link."""
    names = {"awaiting_authorisation": "pending", "rejected": "refused"}
    url = f"{request.base_url}sign/{task.ref}" if task.status == "awaiting_authorisation" else None
    status: Any = names.get(task.status, task.status)
    return m.Link(link_id=task.id, status=status, redirect_url=url)


@psd2.post("/customer-links", status_code=201, tags=["access"], responses=fails(400, 401, 403))
async def post_link(body: m.LinkRequest, client: Linker, request: Request) -> m.Link:
    """Ask for a link with a customer, who allows it at the redirectUrl."""
    link_id = f"lnk_{secrets.token_hex(8)}"
    task = Task(link_id, client, body.return_url, bank.now, bank.now)
    bank.tasks[link_id] = task
    return show_link(task, request)


@psd2.get("/customer-links/{link_id}", tags=["access"], responses=fails(400, 401, 403, 404))
async def get_link(link_id: str, client: Linker, request: Request) -> m.Link:
    """Read a customer link."""
    task = bank.tasks.get(link_id)
    if task is None or task.client != client or task.request is not None:
        raise RefusedError(404, "link-unknown", "No such link")
    return show_link(task, request)


@psd2.get("/accounts", tags=["accounts"], responses=fails(400, 401, 403, 429))
async def get_accounts(
    link: Linked,
    present: Present = False,
    page_size: PageSize = None,
    page_token: PageToken = None,
) -> m.AccountList:
    """List accounts and cards (default 5 a page); after a consent, the consented ones."""
    rows = [h for h in person(link).holdings.values() if bank.visible(h)]
    rows = [h for h in rows if not link.consent or h.iban in link.consent]
    keys, path = [h.iban for h in rows], f"{link.id}/accounts"
    start, size = start_of(page_token, path, keys, page_size or 5)
    if page_token is None:
        count(link, present, "accounts")
    data = [
        m.Account(
            iban=h.iban,
            kind="DELAYED_DEBIT_CARD" if h.settings.kind == "card" else "CURRENT_ACCOUNT",
            label=h.settings.label,
            rights=link.consent.get(h.iban, []),
        )
        for h in rows[start : start + size]
    ]
    name = person(link).name if link.consent and link.share_identity else None
    return m.AccountList(data=data, psu_identity=name, paging=paging(path, keys, start, size))


@psd2.put("/consent", tags=["accounts"], responses=fails(400, 401, 403, 429))
async def put_consent(body: m.Consent, link: Linked, present: Present = False) -> m.ConsentAnswer:
    """Transmit the customer's consent for a set of accounts and cards."""
    for one in body.accounts:
        holding = person(link).holdings.get(one.iban)
        if holding is None or not bank.visible(holding):
            raise RefusedError(400, "account-unknown", f"{one.iban} is not an available account")
    count(link, present, "consent")
    link.consent = {one.iban: list(one.rights) for one in body.accounts}
    link.share_identity = body.share_identity
    return m.ConsentAnswer(data=body)


@psd2.get("/accounts/{iban}/balances", tags=["accounts"], responses=fails(400, 401, 403, 404, 429))
async def get_balances(iban: str, link: Linked, present: Present = False) -> m.BalanceList:
    """Report the balances of an account or the outstandings of a card."""
    holding = consented(link, iban, "balances")
    count(link, present, "balances")
    rows: Any = bank.balances(holding).items()
    return m.BalanceList(
        data=[m.Balance(balance_type=k, amount_minor=n, as_of=bank.now) for k, n in rows]
    )


@psd2.get(
    "/accounts/{iban}/transactions", tags=["accounts"], responses=fails(400, 401, 403, 404, 429)
)
async def get_transactions(
    *,
    iban: str,
    link: Linked,
    present: Present = False,
    since: Annotated[date | None, Query(alias="from", description="At most 90 days ago")] = None,
    page_size: PageSize = None,
    page_token: PageToken = None,
) -> m.TransactionList:
    """List transactions or card slips of up to 90 days, newest first (default 15 a page)."""
    holding = consented(link, iban, "transactions")
    first = bank.today - timedelta(days=HISTORY_DAYS)
    if since and since < first:
        raise RefusedError(400, "history-too-deep", f"The history begins on {first}")
    rows = [x for x in holding.moves if (since or first) <= x.booked <= bank.today]
    rows.sort(key=lambda x: (x.booked, x.id), reverse=True)
    keys, path = [x.id for x in rows], f"{link.id}/{iban}/{since}"
    start, size = start_of(page_token, path, keys, page_size or 15)
    if page_token is None:
        count(link, present, "transactions")
    data = [
        m.Transaction(
            transaction_id=x.id,
            amount_minor=x.minor,
            booked_on=x.booked,
            value_on=x.valued,
            text=x.text,
        )
        for x in rows[start : start + size]
    ]
    return m.TransactionList(data=data, paging=paging(path, keys, start, size))


def check_payment(body: m.PaymentRequest) -> None:
    """Refuse a payment that the bank cannot take."""
    if body.execution_date:
        ahead = (body.execution_date - bank.today).days
        if not 1 <= ahead <= MAX_DAYS_AHEAD:
            raise RefusedError(400, "date-out-of-range", "executionDate: 1 to 365 days ahead")
        if body.transfer_type == "SCT_INST":
            raise RefusedError(400, "instant-deferred", "An instant payment cannot be deferred")
    if body.debtor_iban and not bank.payable(bank.holding(body.debtor_iban)):
        raise RefusedError(400, "debtor-not-eligible", "No payments can be made from debtorIban")
    if body.debtor_iban and bank.repeats(body, body.execution_date or bank.today):
        raise RefusedError(409, "identical-payment", "An identical payment was already executed")


def show_payment(task: Task, request: Request) -> m.PaymentAnswer:
    """Show a payment."""
    url = f"{request.base_url}sign/{task.ref}" if task.status == "awaiting_authorisation" else None
    view = task.request.model_dump() | {"payment_id": task.id, "status": task.status}
    view |= {"status_reason": task.reason, "created_at": task.created}
    return m.PaymentAnswer(data=m.Payment(**view, executed_at=task.executed, redirect_url=url))


def own_payment(payment_id: str, client: str) -> Task:
    """Return a payment of the calling TPP."""
    task = bank.tasks.get(payment_id)
    if task is None or task.client != client or task.request is None:
        raise RefusedError(404, "payment-unknown", "No such payment")
    return task


def changeable(payment_id: str, client: str) -> Task:
    """Return a deferred payment that is not finished."""
    task = own_payment(payment_id, client)
    if not task.deferred:
        raise RefusedError(
            409, "not-deferred", "Only deferred payments can be changed or cancelled"
        )
    if task.status not in ("awaiting_authorisation", "scheduled"):
        raise RefusedError(409, "already-finished", f"The payment is {task.status}")
    return task


@psd2.post("/payments", status_code=201, tags=["payments"], responses=fails(400, 401, 403, 409))
async def post_payment(body: m.PaymentRequest, client: Payer, request: Request) -> m.PaymentAnswer:
    """Create a payment, which the customer signs at the redirectUrl."""
    check_payment(body)
    task = Task(f"pay_{secrets.token_hex(8)}", client, "", bank.now, bank.now, request=body)
    bank.tasks[task.id] = task
    return show_payment(task, request)


@psd2.get("/payments/{payment_id}", tags=["payments"], responses=fails(400, 401, 403, 404))
async def get_payment(payment_id: str, client: Payer, request: Request) -> m.PaymentAnswer:
    """Read a payment."""
    return show_payment(own_payment(payment_id, client), request)


@psd2.put("/payments/{payment_id}", tags=["payments"], responses=fails(400, 401, 403, 404, 409))
async def put_payment(
    payment_id: str, body: m.PaymentChange, client: Payer, request: Request
) -> m.PaymentAnswer:
    """Modify a deferred payment; the customer signs it again."""
    task = changeable(payment_id, client)
    changed = task.request.model_copy(update=body.model_dump(exclude_none=True))
    check_payment(changed)
    task.request, task.status, task.signed = changed, "awaiting_authorisation", None
    task.ref, task.failures = secrets.token_urlsafe(12), 0
    task.offered, task.opened = bank.now, None
    return show_payment(task, request)


@psd2.delete("/payments/{payment_id}", tags=["payments"], responses=fails(400, 401, 403, 404, 409))
async def delete_payment(payment_id: str, client: Payer, request: Request) -> m.PaymentAnswer:
    """Cancel a deferred payment."""
    task = changeable(payment_id, client)
    task.end("cancelled", "cancelled_by_tpp")
    return show_payment(task, request)


def openapi() -> dict[str, Any]:
    """Return the OpenAPI document of the gateway."""
    if app.openapi_schema is None:
        parts = {"version": app.version, "description": ABOUT, "tags": TAGS, "routes": app.routes}
        document = get_openapi(title=app.title, **parts)
        schemas = document["components"]["schemas"]
        schemas["Problem"] = m.Problem.model_json_schema()
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        for operations in document["paths"].values():
            for operation in operations.values():
                operation["responses"].pop("422", None)
        app.openapi_schema = document
    return app.openapi_schema


app.openapi = openapi
app.include_router(psd2)
app.include_router(screens.router)
app.include_router(sandbox.router)

if __name__ == "__main__":
    text = json.dumps(app.openapi(), indent=2) + "\n"
    Path(__file__).with_name("openapi.json").write_text(text, encoding="utf-8")
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
