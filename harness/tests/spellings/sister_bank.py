"""Two banks behind one token endpoint: the mode of a payment is in its token, or in its host."""

import json
from itertools import count
from urllib.parse import parse_qs, parse_qsl

#: The scopes that a token for payments can have.
SCOPES = ("payments", "payments trusted", "payments sealed")


class Bank:
    """Two banks and their token endpoint; `seen` are the payments: host, path and scope."""

    refuses_seal = True

    def __init__(self):
        self.numbers, self.tokens, self.seen = count(1), {}, []
        self.owned = {}

    def __call__(self, environ, start_response):
        """Answer a request."""
        content = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        status, body = self.answer(environ, content)
        start_response(f"{status} .", [("Content-Type", "application/json")])
        return [json.dumps(body).encode()]

    def answer(self, environ, content):
        """Return the status and the body of an answer."""
        host, path = environ["HTTP_HOST"], environ["PATH_INFO"]
        if path.startswith("/assay-control"):
            return self.control(path, content)
        if (host, path) == ("login.example", "/token"):
            token = f"t-{next(self.numbers)}"
            self.tokens[token] = dict(parse_qsl(content.decode())).get("scope")
            body = {"access_token": token, "token_type": "Bearer", "expires_in": 3600}
            return 200, body
        token = environ.get("HTTP_AUTHORIZATION", "").removeprefix("Bearer ")
        if (host, path, environ["REQUEST_METHOD"]) == ("one.example", "/v1/accounts", "GET"):
            return (200, self.owned[token]) if token in self.owned else (403, {})
        scope = self.tokens.get(token)
        if (host, path) not in {("one.example", "/v1/payments"), ("two.example", "/v2/payments")}:
            return 404, {}
        kind = parse_qs(environ["QUERY_STRING"]).get("kind")
        self.seen.append((host, kind, scope))
        return self.payment(kind, scope)

    def payment(self, kind, scope):
        """Return the answer to a payment in a mode."""
        if scope not in SCOPES or (scope == "payments sealed" and self.refuses_seal):
            return 403, {}
        if kind not in (None, ["plain"]):
            return 422, {}
        return 201, {"number": f"P-{next(self.numbers)}", "stage": "PAID"}

    def control(self, path, content):
        """Answer a call of the control API."""
        now = "2026-09-16T08:00:00+00:00"
        if path.endswith("/worlds"):
            return 201, {"world": "w", "now": now}
        if not path.endswith("/customers"):
            return 200, {}
        holdings = [
            {"resource": "account", "key": f"A-{next(self.numbers)}", "traits": {}, "entries": []}
            for wanted in json.loads(content)["holdings"]
            for _ in range(wanted["count"])
        ]
        token = f"c-{next(self.numbers)}"
        self.owned[token] = [{"number": each["key"]} for each in holdings]
        return 201, {"customer": "c", "token": token, "holdings": holdings, "now": now}
