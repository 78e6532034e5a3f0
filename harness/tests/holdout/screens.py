"""What a customer sees: signing a payment, and signing in for a token; and the tokens."""

import base64
import binascii
import hashlib
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from holdout.domain import EXPIRED, OPEN, Customer, Grant, Payment, RefusedError, Session, World
from holdout.payments import carry_out, settle
from holdout.policy import Policy
from jinja2 import Environment
from werkzeug.wrappers import Request, Response

if TYPE_CHECKING:
    from holdout.bank import Bank

PAGE = Environment(autoescape=True).from_string(
    """<!doctype html><html lang="fr"><head><meta charset="utf-8"><title>{{ title }}</title></head>
<body><h1>{{ title }}</h1>{% for line in lines %}<p>{{ line }}</p>{% endfor %}
{% if kind %}<form method="post" action="{{ action }}">
{% for name, value in hidden.items() %}<input type="hidden" name="{{ name }}" value="{{ value }}">
{% endfor %}{% if kind == "login" %}
<label>Identifiant <input type="text" name="identifiant"></label>
<label>Code secret <input type="password" name="secret"></label>
<button type="submit">Continuer</button>
{% elif kind == "factor" %}{% for factor in factors %}
<label><input type="radio" name="moyen" value="{{ factor }}">{{ factor }}</label>{% endfor %}
<button type="submit">Continuer</button>
{% else %}
<label>Code <input type="text" name="otp"></label>
<button type="submit" name="choix" value="VALIDER">Valider</button>
<button type="submit" name="choix" value="ABANDONNER">Abandonner</button>
{% endif %}</form>{% endif %}</body></html>"""
)
TRIES = 3


def answer(bank: "Bank", request: Request, endpoint: str, path: dict[str, str]) -> Response:
    if endpoint == "sign":
        return signing(bank, request, path["id"])
    return sign_in(bank, request) if endpoint == "sign-in" else tokens(bank, request)


def page(title: str, *lines: str, status: int = 200, **form: Any) -> Response:
    text = PAGE.render(title=title, lines=lines, **form)
    return Response(text, status, content_type="text/html; charset=utf-8")


def left(title: str, to: str | None) -> Response:
    """The end of the screens: back to the TPP, or nowhere."""
    if to is None:
        return page(title)
    return Response("", 303, {"Location": to}, content_type="text/html; charset=utf-8")


# Signing.


def signing(bank: "Bank", request: Request, id: str) -> Response:
    world = bank.worlds.get(request.args.get("banque", ""))
    payment = world.payments.get(id) if world else None
    if world is None or payment is None:
        return page("Demande inconnue", status=404)
    policy, session = bank.policy, payment.session
    carry_out(policy, world)
    if payment.state != OPEN:
        gone = payment.cause == EXPIRED
        to = policy.disconnect_redirect(world, payment) if gone else None
        return left("Cette demande est close", to)
    if request.method == "GET":
        return shown(policy, world, payment, request)
    if session is None or session.id != request.form.get("seance"):
        return page("Vous avez été déconnecté")
    return submitted(policy, world, payment, session, request.form.to_dict())


def shown(policy: Policy, world: World, payment: Payment, request: Request) -> Response:
    """The first screen; or the same one again, for the browser that is there already."""
    session = payment.session
    if session is None or request.cookies.get("seance") != session.id:
        begun = session.started if session else world.now
        number = f"{world.chance.randrange(16**12):012x}"
        session = payment.session = Session(number, begun, world.now, host=request.host)
    policy.touch(world, session)
    response = screen(policy, world, payment, session)
    response.set_cookie("seance", session.id, path=request.path, httponly=True)
    return response


def submitted(
    policy: Policy, world: World, payment: Payment, session: Session, form: dict[str, str]
) -> Response:
    policy.touch(world, session)
    if session.customer is None:
        return identified(policy, world, payment, session, form)
    if not session.factor:
        factor = form.get("moyen", "")
        if not policy.factor_ok(world, payment, session.customer, factor):
            return again(policy, world, payment, session)
        session.factor = factor
        return screen(policy, world, payment, session)
    return decided(policy, world, payment, session, form)


def identified(
    policy: Policy, world: World, payment: Payment, session: Session, form: dict[str, str]
) -> Response:
    customer = login(policy, world, form)
    if customer is None or not policy.signer_ok(world, payment, customer):
        return again(policy, world, payment, session)
    session.customer = customer
    if policy.exempt(world, payment, customer):
        return signed(policy, world, payment, customer, "")
    return screen(policy, world, payment, session)


def decided(
    policy: Policy, world: World, payment: Payment, session: Session, form: dict[str, str]
) -> Response:
    if form.get("choix") == "ABANDONNER":
        payment.session = None
        policy.declined(world, payment)
        return left("Vous avez refusé", policy.declined_redirect(world, payment))
    code, customer = form.get("otp", ""), session.customer
    right = policy.code_ok(world, payment, session, code)
    if form.get("choix") != "VALIDER" or not right or customer is None:
        return again(policy, world, payment, session)
    return signed(policy, world, payment, customer, session.factor)


def again(policy: Policy, world: World, payment: Payment, session: Session) -> Response:
    session.failures += 1
    if session.failures >= TRIES:
        payment.session = None
        return page("Trop d'essais")
    return screen(policy, world, payment, session, "Saisie incorrecte")


def login(policy: Policy, world: World, form: dict[str, str]) -> Customer | None:
    name = form.get("identifiant")
    customer = next((one for one in world.customers if one.login == name), None)
    if customer is None or not policy.password_ok(world, customer, form.get("secret", "")):
        return None
    return customer


def screen(
    policy: Policy, world: World, payment: Payment, session: Session, *lines: str
) -> Response:
    order = payment.order
    customer = session.customer
    kind = "login" if customer is None else "code" if session.factor else "factor"
    return page(
        "Votre virement",
        f"{order.amount} {order.currency} pour {order.creditor}",
        *lines,
        kind=kind,
        factors=policy.factors(world, payment, customer) if customer else (),
        hidden={"seance": session.id},
        action=f"?{urlencode({'banque': world.id})}",
    )


def signed(
    policy: Policy, world: World, payment: Payment, customer: Customer, factor: str
) -> Response:
    sign(policy, world, payment, customer, factor)
    if payment.cause is not None:
        return left("Virement rejeté", policy.rejected_redirect(world, payment))
    return left("Virement accepté", policy.success_redirect(world, payment))


def sign(policy: Policy, world: World, payment: Payment, customer: Customer, factor: str) -> None:
    """The customer has signed: what is due is executed, or rejected."""
    payment.session, payment.customer, payment.factor = None, customer, factor
    if payment.order.debtor is None:
        order = payment.order
        items = [item for item in customer.items if policy.debtor_ok(world, item, order)]
        payment.order = order.with_(debtor=items[0].key if items else None)
    settle(policy, world, payment)


# Signing in, and tokens.


def sign_in(bank: "Bank", request: Request) -> Response:
    asked = {**request.args.to_dict(), **request.form.to_dict()}
    world = world_of_client(bank, asked.get("client_id", ""))
    back = asked.get("redirect_uri")
    if world is None or not back or asked.get("response_type") != "code":
        return page("Demande inconnue", status=400)
    words = ("client_id", "redirect_uri", "response_type", "state", "scope", "code_challenge")
    hidden = {word: asked[word] for word in words if word in asked}
    if request.method == "POST":
        customer = login(bank.policy, world, asked)
        if customer is not None:
            code = f"code.{world.id}.{world.number()}.{world.chance.randrange(16**12):012x}"
            challenge = asked.get("code_challenge", "")
            world.codes[code] = (asked["client_id"], customer, challenge)
            query = urlencode({"code": code, "state": asked.get("state", "")})
            return left("Connexion", back + ("&" if "?" in back else "?") + query)
    return page("Connexion", kind="login", hidden=hidden, action="")


def world_of_client(bank: "Bank", client: str) -> World | None:
    parts = client.split(".")
    world = bank.worlds.get(parts[1]) if len(parts) > 2 else None
    return world if world and client in world.clients else None


def tokens(bank: "Bank", request: Request) -> Response:
    client, secret = client_of(request)
    world = world_of_client(bank, client)
    if world is None or world.clients.get(client) != secret:
        return oauth_error("invalid_client", 401)
    kind = request.form.get("grant_type")
    try:
        if kind == "client_credentials":
            grant = Grant(client, None)
        elif kind == "authorization_code":
            grant = Grant(client, by_code(world, client, request))
        elif kind == "refresh_token":
            grant = by_refresh(world, client, request)
        else:
            return oauth_error("unsupported_grant_type")
    except RefusedError:
        return oauth_error("invalid_grant")
    return issued(bank, world, grant)


def issued(bank: "Bank", world: World, grant: Grant) -> Response:
    until = bank.policy.expires_at(world.moment)
    token = world.token(Grant(grant.tpp, grant.customer, until, grant.renewed))
    answer: dict[str, Any] = {
        "access_token": token,
        "token_type": "Bearer",
        "expires_in": int((until - world.moment).total_seconds()),
    }
    if grant.customer is not None:
        refresh = f"suite.{world.id}.{world.number()}.{world.chance.randrange(16**12):012x}"
        world.refreshes[refresh] = grant
        answer["refresh_token"] = refresh
    return Response(
        json.dumps(answer), content_type="application/json", headers={"Cache-Control": "no-store"}
    )


def client_of(request: Request) -> tuple[str, str]:
    kind, _, text = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "basic":
        return request.form.get("client_id", ""), request.form.get("client_secret", "")
    try:
        client, _, secret = base64.b64decode(text).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return "", ""
    return client, secret


def by_code(world: World, client: str, request: Request) -> Customer:
    issued_to, customer, challenge = world.codes.pop(
        request.form.get("code", ""), ("", Customer("", "", "", "", "", {}), "")
    )
    if issued_to != client:
        raise RefusedError(400, "CODE")
    if challenge:
        digest = hashlib.sha256(request.form.get("code_verifier", "").encode()).digest()
        if base64.urlsafe_b64encode(digest).decode().rstrip("=") != challenge:
            raise RefusedError(400, "CODE")
    return customer


def by_refresh(world: World, client: str, request: Request) -> Grant:
    grant = world.refreshes.pop(request.form.get("refresh_token", ""), None)
    if grant is None or grant.tpp != client:
        raise RefusedError(400, "SUITE")
    return Grant(client, grant.customer, renewed=True)


def oauth_error(error: str, status: int = 400) -> Response:
    return Response(json.dumps({"error": error}), status, content_type="application/json")
