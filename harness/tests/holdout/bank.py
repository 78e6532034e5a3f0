"""The holdout bank: a WSGI application in a dialect of its own.

`Bank(policy)` is the application; `python -m holdout.bank PORT` serves it.
"""

import json
import sys
import threading
from collections.abc import Callable, Iterable
from datetime import date
from typing import Any, Self

from holdout import bureau, payments, screens
from holdout.domain import PREFIX, Call, Item, RefusedError, World
from holdout.policy import Policy
from werkzeug.exceptions import HTTPException
from werkzeug.http import http_date
from werkzeug.routing import Map, Rule
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Request, Response

OPERATIONS = {
    "accounts": ("GET", ["/comptes"]),
    "consents": ("PUT", ["/consentement"]),
    "balances": ("GET", ["/soldes", "/comptes/soldes"]),
    "transactions": ("GET", ["/operations", "/comptes/operations", "/comptes/<key>/operations"]),
    "beneficiaries": ("GET", ["/beneficiaires"]),
    "identity": ("GET", ["/identite"]),
    "create": ("POST", ["/virements"]),
    "read": ("GET", ["/virements/<id>"]),
    "modify": ("PUT", ["/virements/<id>"]),
    "cancel": ("POST", ["/virements/<id>/annulation"]),
    "confirm": ("POST", ["/virements/<id>/confirmation"]),
}
OFFERED_TO_TPPS = ("create", "read", "modify", "cancel", "confirm", "beneficiaries", "identity")
ROUTES = Map(
    [
        Rule(PREFIX + path, endpoint=operation, methods=[method])
        for operation, (method, paths) in OPERATIONS.items()
        for path in paths
    ]
    + [
        Rule(PREFIX + "/signature/<id>", endpoint="sign", methods=["GET", "POST"]),
        Rule(PREFIX + "/acces", endpoint="sign-in", methods=["GET", "POST"]),
        Rule(PREFIX + "/jetons", endpoint="tokens", methods=["POST"]),
        Rule("/bureau/<path:path>", endpoint="bureau", methods=["POST", "DELETE"]),
    ],
    strict_slashes=False,
)


class Bank:
    """The bank behind WSGI: every world that its bureau opened."""

    def __init__(self, policy: Policy | None = None) -> None:
        self.policy = policy or Policy()
        self.worlds: dict[str, World] = {}
        self.serial = 0
        self.lock = threading.Lock()

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        request = Request(environ)
        with self.lock:
            try:
                response = self.answer(request)
            except HTTPException as error:
                response = refusal(error.code or 400, "CHEMIN")
            except RefusedError as error:
                response = refusal(error.status, error.reason)
        return response(environ, start)

    def answer(self, request: Request) -> Response:
        endpoint, path = ROUTES.bind_to_environ(request.environ).match()
        if endpoint == "bureau":
            return told(200, bureau.answer(self, request, path["path"]))
        if endpoint in {"sign", "sign-in", "tokens"}:
            return screens.answer(self, request, endpoint, path)
        world, call = self.call(request, endpoint, path)
        payments.carry_out(self.policy, world)
        response = self.answered(call)
        response.headers["Date"] = http_date(world.moment)
        return response

    def answered(self, call: Call) -> Response:
        """What the operation answers, unless the call is refused before."""
        try:
            self.admit(call)
            if call.operation in OFFERED_TO_TPPS:
                return told(*payments.ANSWERS[call.operation](self.policy, call))
            self.spend(call)
            return told(*ANSWERS[call.operation](self.policy, call))
        except RefusedError as error:
            return refusal(error.status, error.reason)

    def admit(self, call: Call) -> None:
        """Refuse what is not offered, or may not be asked in this way."""
        if status := self.policy.unavailable(call):
            raise RefusedError(status, "NON_OFFERT")
        if self.policy.carries_credentials(call):
            raise RefusedError(400, "IDENTIFIANTS")
        if call.customer is None and call.operation not in OFFERED_TO_TPPS:
            raise RefusedError(403, "CLIENT")

    def spend(self, call: Call) -> None:
        """Count an access without the customer, or refuse it."""
        limit, key = self.policy.quota(call), self.policy.quota_key(call)
        if limit is not None and call.world.accesses[key] >= limit:
            raise RefusedError(429, "QUOTA")
        if self.policy.counts(call):
            call.world.accesses[key] += 1

    def call(self, request: Request, operation: str, path: dict[str, str]) -> tuple[World, Call]:
        """The call, after its token was recognised."""
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        basic = kind.lower() == "basic" or request.headers.get("Proxy-Authorization") is not None
        world = self.world_of(token)
        if world is None:
            raise RefusedError(400 if basic else 401, "IDENTIFIANTS" if basic else "JETON")
        grant = world.grants.get(token)
        if grant is None or (grant.until is not None and world.moment >= grant.until):
            raise RefusedError(401, "JETON")
        return world, Call(
            world=world,
            operation=operation,
            method=request.method,
            host=request.host,
            route=request.path.removeprefix(PREFIX),
            tpp=grant.tpp,
            customer=grant.customer,
            absent=request.headers.get("Acces-Differe", "").strip().lower() == "oui",
            renewed=grant.renewed,
            basic=basic,
            args=request.args.to_dict(),
            path=path,
            body=body_of(request),
        )

    def world_of(self, token: str) -> World | None:
        parts = token.split(".")
        return self.worlds.get(parts[1]) if len(parts) > 2 else None


def body_of(request: Request) -> Any:
    text = request.get_data()
    if not text:
        return None
    try:
        return json.loads(text)
    except ValueError:
        raise RefusedError(400, "JSON") from None


def told(status: int, body: Any, headers: dict[str, str] | None = None) -> Response:
    text = json.dumps(body, ensure_ascii=False)
    return Response(text, status, headers, content_type="application/json; charset=utf-8")


def refusal(status: int, reason: str) -> Response:
    headers = {"WWW-Authenticate": 'Bearer error="invalid_token"'} if status == 401 else None
    return told(status, {"erreur": {"motif": reason}}, headers)


def accounts(policy: Policy, call: Call) -> tuple[int, Any]:
    items = policy.narrowed(call, policy.holds(call))
    rest = policy.list_rest(call, items, call.args.get("apres", ""))
    size = policy.list_size(call)
    page = rest[:size]
    links = {"soi": policy.link_base(call, "soi") + call.route}
    after = {}
    if len(rest) > size:
        after = {"curseur": page[-1].ref} if page else {}
        links["suite"] = f"{policy.link_base(call, 'suite')}{call.route}?apres={page[-1].ref}"
    answer = {
        "donnees": {
            "comptes": [account(policy, call, item) for item in page if not item.card],
            "cartes": [card(policy, call, item) for item in page if item.card],
        },
        "suite": after,
        "liens": links,
    }
    identity = policy.identity(call)
    if identity is not None:
        answer["titulaire"] = {"identite": identity}
    return 200, answer


def account(policy: Policy, call: Call, item: Item) -> dict[str, Any]:
    key = policy.list_key(call, item)
    return {"reference": item.ref, "genre": "COURANT", "coordonnees": {"iban": key}}


def card(policy: Policy, call: Call, item: Item) -> dict[str, Any]:
    key = policy.list_key(call, item)
    return {"reference": item.ref, "genre": "DEBIT_DIFFERE", "support": {"panChiffre": key}}


def consents(policy: Policy, call: Call) -> tuple[int, Any]:
    given = call.said("/perimetre")
    if not isinstance(given, list):
        raise RefusedError(400, "PERIMETRE")
    keys = [named(element) for element in given]
    texts = [key for key in keys if key is not None]
    customer = call.customer
    items = [customer.item(key) if customer else None for key in keys]
    if not all(policy.consentable(call, item) for item in items):
        policy.consent_refused(call, texts)
        raise RefusedError(422, "PERIMETRE")
    policy.consent_stored(call, texts)
    return 201, {"consentement": {"statut": "ENREGISTRE", "nombre": len(set(texts))}}


def named(element: Any) -> str | None:
    """The account or card that an element of a consent names."""
    if not isinstance(element, dict):
        return None
    for kind, name in (("compte", "iban"), ("carte", "panChiffre")):
        inner = element.get(kind)
        if isinstance(inner, dict) and isinstance(inner.get(name), str):
            return str(inner[name])
    return None


def addressed(policy: Policy, call: Call) -> Item:
    """The account or card that a call is about, if it may be read."""
    key = call.path.get("key") or call.args.get("compte")
    if not key:
        raise RefusedError(400, "COMPTE")
    item = policy.addressed(call, key)
    if item is None or not policy.listed(call, item):
        raise RefusedError(404, "COMPTE")
    if not policy.consented(call, item):
        raise RefusedError(403, "CONSENTEMENT")
    return policy.shown_item(call, item)


def balances(policy: Policy, call: Call) -> tuple[int, Any]:
    item = addressed(policy, call)
    rows = [
        {
            "support": policy.shown_key(call, item),
            "type": kind,
            "solde": {
                "montant": f"{1000 + 7 * number + len(item.ref)}.{number}0",
                "devise": policy.currency(call, item),
            },
        }
        for number, kind in enumerate(policy.kinds(call, item))
    ]
    return 200, {"soldes": rows, "liens": {"soi": policy.link_base(call, "soi") + call.route}}


def transactions(policy: Policy, call: Call) -> tuple[int, Any]:
    if "historique" in call.args and not policy.extended(call):
        raise RefusedError(400, "HISTORIQUE")
    item = addressed(policy, call)
    since, end = moment(call, "depuis"), moment(call, "avant")
    if since and end and since >= end:
        raise RefusedError(400, "PERIODE")
    number = call.args.get("page", "0")
    if not number.isascii() or not number.isdigit():
        raise RefusedError(400, "PAGE")
    shown = [row for row in item.entries if policy.entry_shown(call, item, row, since, end)]
    rows, more = policy.entry_page(call, item, policy.entries(call, item, shown), int(number))
    base = policy.link_base(call, "soi")
    return 200, {
        "mouvements": [
            {
                "numero": row.key,
                "support": policy.shown_key(call, item),
                "comptabilise": {"jour": policy.entry_date(call, row).isoformat()},
                "valeur": {
                    "montant": f"{row.cents // 100}.{row.cents % 100:02d}",
                    "devise": policy.currency(call, item),
                },
            }
            for row in rows
        ],
        "pagination": {"page": int(number), "encore": more},
        "liens": {"soi": f"{base}{call.route}?page={number}"},
    }


def moment(call: Call, name: str) -> date | None:
    text = call.args.get(name)
    if text is None:
        return None
    if not text.endswith("T00:00:00"):
        raise RefusedError(400, "PERIODE")
    try:
        return date.fromisoformat(text.removesuffix("T00:00:00"))
    except ValueError:
        raise RefusedError(400, "PERIODE") from None


ANSWERS = {
    "accounts": accounts,
    "consents": consents,
    "balances": balances,
    "transactions": transactions,
}


class Handler(WSGIRequestHandler):
    """Keeps connections, and keeps quiet."""

    protocol_version = "HTTP/1.1"

    def log(self, type: str, message: str, *args: Any) -> None:
        pass


class Served:
    """A bank behind a port of this machine, in a thread: a context manager."""

    def __init__(self, bank: Bank, port: int = 0) -> None:
        self.server = make_server("127.0.0.1", port, bank, threaded=True, request_handler=Handler)
        self.port = self.server.server_port

    def __enter__(self) -> Self:
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.server.shutdown()
        self.server.server_close()


if __name__ == "__main__":
    make_server(
        "127.0.0.1", int(sys.argv[1]), Bank(), threaded=True, request_handler=Handler
    ).serve_forever()
