"""The bank on the wire: a WSGI application that answers calls, screens and the control API."""

import json
import uuid
from dataclasses import dataclass, field
from datetime import date
from threading import Lock
from typing import Any
from zoneinfo import ZoneInfo

from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Request, Response

from nordhafen import accounts, consents, control, payments, screens
from nordhafen.domain import Caller, RefusedError, World
from nordhafen.policy import Policy

CONTROL, SCA, API = "/assay-control/1/", "/sca/", "/v1/"


@dataclass(slots=True, kw_only=True)
class Bank:
    """All worlds, and the policy that they follow."""

    policy: Policy = field(default_factory=Policy)
    worlds: dict[str, World] = field(default_factory=dict)
    serial: int = 0
    lock: Any = field(default_factory=Lock)

    def __call__(self, environ: Any, start_response: Any) -> Any:
        """Answer one request."""
        request = Request(environ)
        with self.lock:
            try:
                response = self.answer(request)
            except HTTPException as error:
                response = error.get_response(environ)
        return response(environ, start_response)

    def answer(self, request: Request) -> Response:
        """Answer one request: of the control API, of a customer's browser, or of a TPP."""
        if request.path.startswith(CONTROL):
            return control.answer(self, request, request.path.removeprefix(CONTROL))
        if request.path.startswith(SCA):
            return screens.answer(self, request, request.path.removeprefix(SCA))
        try:
            response = self.call(request)
        except RefusedError as refusal:
            response = self.error(refusal)
        sent = request.headers.get("X-Request-ID")
        if sent is not None and self.policy.request_id_echo != "none":
            same = self.policy.request_id_echo == "same"
            response.headers["X-Request-ID"] = sent if same else str(uuid.uuid4())
        return response

    def call(self, request: Request) -> Response:
        """Answer a TPP's call."""
        if self.policy.request_id_required and not is_uuid(request.headers.get("X-Request-ID")):
            raise RefusedError(400, "FORMAT_ERROR", "X-Request-ID: a UUID")
        if not request.path.startswith(API):
            raise RefusedError(404, "RESOURCE_UNKNOWN")
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        for world in self.worlds.values():
            caller = world.tokens.get(token)
            if caller is not None:
                call = Call(bank=self, world=world, caller=caller, request=request)
                return call.routed(request.path.removeprefix(API).split("/"))
        raise RefusedError(401, "TOKEN_UNKNOWN")

    def error(self, refusal: RefusedError) -> Response:
        """Return the answer that says why a call is refused."""
        policy = self.policy
        message = {"category": "ERROR", "code": refusal.code, "text": refusal.text}
        shown = {name: message[name] for name in policy.error_members}
        status = dict(policy.statuses).get(refusal.text or refusal.code, refusal.status)
        response = self.json({policy.error_member: [shown]}, status)
        response.content_type = policy.error_type
        return response

    def json(self, body: Any, status: int = 200) -> Response:
        """Return an answer with a body."""
        return Response(json.dumps(body), status, content_type=self.policy.media_type)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a TPP."""

    bank: Bank
    world: World
    caller: Caller
    request: Request

    @property
    def policy(self) -> Policy:
        """What this bank does."""
        return self.bank.policy

    @property
    def today(self) -> date:
        """The bank's calendar day."""
        return self.world.now.astimezone(ZoneInfo(self.policy.zone)).date()

    @property
    def present(self) -> bool:
        """Whether the customer asked for this call."""
        return "PSU-IP-Address" in self.request.headers

    @property
    def body(self) -> dict[str, Any]:
        """The JSON object that was sent."""
        try:
            body = json.loads(self.request.get_data())
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            raise RefusedError(400, "FORMAT_ERROR", "a JSON object is expected")
        return body

    def link(self, path: str) -> dict[str, str]:
        """Return a link of an answer."""
        return {"href": f"{self.policy.link_host or self.own_host}{path}"}

    def screens(self, path: str) -> dict[str, str]:
        """Return the link to the customer's screens."""
        return {"href": f"{self.own_host}{path}"}

    @property
    def own_host(self) -> str:
        """The host that was called."""
        return self.request.host_url.rstrip("/")

    def json(self, body: Any, status: int = 200) -> Response:
        """Return an answer with a body."""
        return self.bank.json(body, status)

    def routed(self, path: list[str]) -> Response:  # noqa: PLR0911 -- the table of paths
        """Answer the call at its path."""
        match self.request.method, path:
            case "POST", ["consents"]:
                return consents.make(self)
            case "GET", ["consents", consent]:
                return consents.show(self, consent)
            case "GET", ["consents", consent, "status"]:
                return consents.show_status(self, consent)
            case "DELETE", ["consents", consent]:
                return consents.end(self, consent)
            case "GET", ["accounts"]:
                return accounts.listed(self)
            case "GET", ["accounts", account, "balances"]:
                return accounts.balances(self, account)
            case "GET", ["accounts", account, "transactions"]:
                return accounts.transactions(self, account)
            case "GET", ["card-accounts"] if self.policy.card_accounts:
                return self.json({"cardAccounts": []})
            case _, ["payments", product, *rest]:
                return self.payment(product, rest)
        raise RefusedError(404, "RESOURCE_UNKNOWN", "no such path")

    def payment(self, product: str, rest: list[str]) -> Response:
        """Answer a call about payments."""
        if product not in self.policy.products:
            raise RefusedError(404, "PRODUCT_UNKNOWN")
        match self.request.method, rest:
            case "POST", []:
                return payments.make(self, product)
            case "GET", [payment]:
                return payments.show(self, product, payment)
            case "GET", [payment, "status"]:
                return payments.show_status(self, product, payment)
            case "DELETE", [payment]:
                return payments.cancel(self, product, payment)
        raise RefusedError(404, "RESOURCE_UNKNOWN")


def is_uuid(text: str | None) -> bool:
    """Whether a text is a UUID."""
    try:
        return bool(uuid.UUID(text or ""))
    except ValueError:
        return False
