"""A bank where the token of a payment's consent submits it: Merlin behind an authorization server.

A TPP makes the consent with its own token. The customer authorises it on the screens of the sandbox bank,
which the authorization server leads to, and which lead back with a code. The token of that code
alone carries the payment out. What faults change is in methods of its own.
"""

import io
import json
import sys
from base64 import b64decode
from http.cookies import SimpleCookie
from pathlib import Path
from secrets import token_hex
from urllib.parse import parse_qsl, urlencode

sys.path.insert(0, str(Path(__file__).parents[1] / "submission"))

from merlin_bank import CONSENTS, PAYMENTS, Merlin, read

BACK = "https://tpp.example/oauth"
LIFETIME = 3600
#: How the state of a consent in the sandbox bank is answered to the TPP.
ANSWERS = {"refused": "access_denied", "rejected": "access_denied"}


class Morgan:
    """The bank; one instance is one run. `links` are those to the screens, by the id of a consent."""

    behind = Merlin

    def __init__(self):
        self.merlin = self.behind()
        self.clients, self.tokens, self.codes, self.links = {}, {}, {}, {}

    # -- what faults change --------------------------------------------------------------
    def may_submit(self, token, consent):
        """Whether a token is that of the consent that is submitted."""
        return token["consent"] == consent

    def answer_to(self, status):
        """Return the error for a consent that is not signed; None if a code is issued."""
        return ANSWERS.get(status)

    # -- the authorization server ----------------------------------------------------------
    def authorize(self, given):
        """Lead the customer to the screens of a consent."""
        link = self.links.get(given.get("payment_id"))
        if link is None or given.get("redirect_uri") != BACK or given.get("scope") != "payments":
            return 400, [], b"{}"
        cookie = urlencode({"id": given["payment_id"], "state": given["state"]})
        path = "/" + link.split("/", 3)[3]
        return 303, [("Location", path), ("Set-Cookie", f"flow={cookie}; HttpOnly")], b""

    def token(self, environ, given):
        """Issue a token: a TPP's own, or that of one consent."""
        pair = b64decode(environ["HTTP_AUTHORIZATION"].removeprefix("Basic ")).decode()
        client, _, secret = pair.partition(":")
        if client not in self.clients or self.clients[client][0] != secret:
            return 401, [], b'{"error": "invalid_client"}'
        kinds = {
            "authorization_code": self.codes.pop(given.get("code"), ""),
            "client_credentials": None,
        }
        consent = kinds.get(given["grant_type"], "")
        if consent == "":
            return 400, [], b'{"error": "invalid_grant"}'
        token = f"access-{token_hex(12)}"
        self.tokens[token] = {"own": self.clients[client][1], "consent": consent}
        shown = {"access_token": token, "token_type": "bearer", "expires_in": LIFETIME}
        return 200, [("Content-Type", "application/json")], json.dumps(shown).encode()

    def returning(self, environ, status, headers, body):
        """Answer the TPP in place of the last page of the screens."""
        cookie = SimpleCookie(environ.get("HTTP_COOKIE", "")).get("flow")
        if cookie is None or environ["REQUEST_METHOD"] != "POST":
            return status, headers, body
        flow = dict(parse_qsl(cookie.value))
        world = self.merlin.registry.world(environ["PATH_INFO"].split("/")[2])
        state = world.payments.payments[flow["id"]].status
        if state not in {"pending", *ANSWERS}:
            return status, headers, body
        wrong = self.answer_to(state)
        answer = {"error": wrong} if wrong else {"code": self.code(flow["id"])}
        location = f"{BACK}?{urlencode({**answer, 'state': flow['state']})}"
        return "303 .", [("Location", location)], b""

    def code(self, consent):
        """Issue a code for a consent."""
        code = f"code-{token_hex(12)}"
        self.codes[code] = consent
        return code

    # -- the interface ---------------------------------------------------------------------
    def __call__(self, environ, start):
        path = environ["PATH_INFO"]
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        if path in {"/oauth/authorize", "/oauth/token"}:
            text = body.decode() if environ["REQUEST_METHOD"] == "POST" else environ["QUERY_STRING"]
            given = dict(parse_qsl(text))
            own = self.token(environ, given) if path.endswith("token") else self.authorize(given)
            start(f"{own[0]} .", own[1])
            return [own[2]]
        if path.startswith((CONSENTS, PAYMENTS)):
            refused = self.exchanged(environ, path, read(body))
            if refused is not None:
                start(f"{refused} .", [("Content-Type", "application/json")])
                return [b"{}"]
        lines = []
        answer = b"".join(self.merlin(environ, lambda *given: lines.extend(given)))
        status, headers, answer = self.noted(environ, path, *lines[:2], answer)
        headers = [each for each in headers if each[0] != "Content-Length"]
        start(status, [*headers, ("Content-Length", str(len(answer)))])
        return [answer]

    def exchanged(self, environ, path, sent):
        """Put the bank's own token into a call; return the status of a refusal."""
        bearer = environ.get("HTTP_AUTHORIZATION", "").removeprefix("Bearer ")
        token = self.tokens.get(bearer)
        if token is None:
            return None
        if (environ["REQUEST_METHOD"], path) == ("POST", PAYMENTS):
            consent = sent.get("consent") if isinstance(sent, dict) else None
            if not self.may_submit(token, consent):
                return 403
        elif token["consent"] is not None:
            return 403
        environ["HTTP_AUTHORIZATION"] = f"Bearer {token['own']}"
        return None

    def noted(self, environ, path, status, headers, answer):
        """Return an answer of Merlin as this bank gives it."""
        if path.startswith("/signing/"):
            return self.returning(environ, status, headers, answer)
        shown = read(answer)
        if path.endswith("/tpps") and status.startswith("2"):
            client, secret = f"client-{token_hex(4)}", token_hex(12)
            self.clients[client] = secret, shown.pop("token")
            shown |= {"client_id": client, "client_secret": secret}
        elif path == CONSENTS and status.startswith("2"):
            self.links[shown["paymentRequestResourceId"]] = shown["links"].pop("consentApproval")
        else:
            return status, headers, answer
        return status, headers, json.dumps(shown).encode()
