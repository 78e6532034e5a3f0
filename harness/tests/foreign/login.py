"""The authorization server of the foreign bank: its screens, and a token for each consent."""

import base64
import hashlib
import secrets
from datetime import timedelta
from urllib.parse import urlencode

LOGIN = '<input name="user"><input name="secret" type="password">'
DECISION = (
    '<button name="answer" value="allow">Allow</button>'
    '<button name="answer" value="deny">Deny</button>'
)


class Login:
    """What only a bank with an authorization server does."""

    back_to = "https://tpp.example/back"
    scope = "accounts"
    lifetime = timedelta(minutes=10)

    def __init__(self):
        self.refreshing, self.issued, self.sessions = {}, {}, {}

    # -- what it decides -------------------------------------------------------------------
    def asked(self, given):
        """Return the id of the consent that an authorization request names."""
        return given["consent_id"]

    def decline(self, session):
        """Refuse a consent; return the parameters of the redirect."""
        session["consent"].status = "rejected"
        return {"error": "access_denied"}

    def refreshable(self, consent):
        """Whether the token of a consent is renewed."""
        return self.usable(consent)

    def granted(self, world, client, consent):
        """Issue a token; return the answer with it."""
        token, until = f"access-{secrets.token_hex(12)}", world.now + self.lifetime
        self.let_in(token, world=world, tpp=client, consent=consent, until=until)
        body = {"access_token": token, "token_type": "Bearer"}
        body["expires_in"] = int(self.lifetime.total_seconds())
        if consent is not None:
            body["refresh_token"] = f"refresh-{secrets.token_hex(12)}"
            self.refreshing[client, body["refresh_token"]] = consent
        return 200, body

    def back(self, given, answer):
        """Return the customer to the TPP."""
        answer = {**answer, "state": given["state"]}
        return 302, "", [("Location", f"{given['redirect_uri']}?{urlencode(answer)}")]

    def code(self, session):
        code = f"code-{secrets.token_hex(12)}"
        self.issued[code] = session
        return code

    # -- the answers -----------------------------------------------------------------------
    def world_of(self, client):
        return next(world for world in self.worlds.values() if client in world.tpps)

    def authorize(self, call):
        return self.authorization(call.query)

    def authorization(self, given):
        """Show the first screen to the customer who is to authorise a consent."""
        world = self.world_of(given["client_id"])
        consent = world.requests[self.asked(given)]
        fits = given["response_type"] in {"code", "code id_token"}
        if consent.tpp != given["client_id"] or given["redirect_uri"] != self.back_to or not fits:
            raise ValueError
        if consent.status != self.first or given.get("scope") != self.scope:
            return self.back(given, {"error": "invalid_request"})
        key = f"s-{next(self.numbers)}"
        self.sessions[key] = {"given": given, "world": world, "consent": consent}
        return page(key, LOGIN)

    def screen(self, call, key):
        session, given = self.sessions[key], call.form
        if "customer" not in session:
            known = {(each.login, each.password): each for each in session["world"].customers}
            customer = known.get((given["user"], given["secret"]))
            if customer is not None:
                session["customer"] = customer
            return page(key, LOGIN if customer is None else DECISION)
        del self.sessions[key]
        consent, customer = session["consent"], session["customer"]
        if given["answer"] != "allow" or not {*consent.accounts} <= {*customer.accounts}:
            return self.back(session["given"], self.decline(session))
        consent.owner = customer
        self.on_signature(consent)
        return self.back(session["given"], {"code": self.code(session)})

    def token(self, call):
        pair = base64.b64decode(call.header("Authorization").removeprefix("Basic ")).decode()
        client, _, secret = pair.partition(":")
        world, given = self.world_of(client), call.form
        if world.tpps[client] != secret:
            return 401, {"error": "invalid_client"}
        match given["grant_type"]:
            case "client_credentials":
                return self.granted(world, client, None)
            case "authorization_code":
                session = self.issued.pop(given["code"], None)
                if session and session["given"]["client_id"] == client and proven(session, given):
                    return self.granted(world, client, session["consent"])
            case "refresh_token":
                consent = self.refreshing.get((client, given["refresh_token"]))
                if consent and self.refreshable(consent):
                    return self.granted(world, client, consent)
        return 400, {"error": "invalid_grant"}


def proven(session, given):
    """Whether the proof key is that of the authorization request (RFC 7636)."""
    challenge = session["given"].get("code_challenge")
    digest = hashlib.sha256(given.get("code_verifier", "").encode()).digest()
    return challenge in {None, base64.urlsafe_b64encode(digest).decode().rstrip("=")}


def page(key, fields):
    """Return a screen with a form."""
    return 200, f'<form method="post" action="/screens/{key}">{fields}<button>Go</button></form>'
