"""Thirty mutations of the sandbox's answers, each of which its exported document forbids."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from embedded import Gate


@dataclass(frozen=True, kw_only=True)
class Mutation:
    """An operation of the sandbox whose answers are changed, and the facet that shows it.

    `when` says which answers; by default those to an accepted call. `ambient` says that no plain
    call shows it.
    """

    id: str
    contract: str
    operation: str
    facet: str
    change: Callable
    when: Callable = lambda environ, status: status < 300
    ambient: bool = False


#: Method and path of the operations.
CALLS = {
    "accounts": ("GET", "/accounts"),
    "balances": ("GET", "/accounts/balances"),
    "transactions": ("GET", "/accounts/transactions"),
    "consents": ("PUT", "/consents"),
    "create-payment": ("POST", "/payment-requests"),
    "read-payment": ("GET", "/payment-requests/"),
    "modify-payment": ("PUT", "/payment-requests/"),
}


class Mutant(Gate):
    """A bank whose answers are changed on their way out."""

    def __init__(self, app, mutation):
        super().__init__(app)
        self.mutation, self.calls = mutation, 0

    def before(self, environ, body):
        """Count the calls of the TPP."""
        self.calls += not environ["PATH_INFO"].startswith(("/_", "/control", "/assay"))

    def after(self, environ, status, headers, body):
        """Change the answer, if it is one of the operation."""
        method, path = CALLS[self.mutation.operation]
        here = environ["PATH_INFO"]
        mine = here.startswith(path) and len(here) > len(path) if path[-1] == "/" else here == path
        if environ["REQUEST_METHOD"] != method or not mine:
            return status, headers, body
        if not self.mutation.when(environ, int(status[:3])):
            return status, headers, body
        return self.mutation.change(status, headers, body)


def put(*steps, value=None):
    """Put a value at a place of the body; `*` is every element."""

    def within(here, first, *rest):
        keys = range(len(here)) if first == "*" else [first]
        for key in keys:
            if rest:
                within(here[key], *rest)
            else:
                here[key] = value

    def change(status, headers, body):
        content = json.loads(body)
        within(content, *steps)
        return status, headers, json.dumps(content).encode()

    return change


def drop(*steps):
    """Leave a member out."""

    def within(here, first, *rest):
        for key in range(len(here)) if first == "*" else [first]:
            if rest:
                within(here[key], *rest)
            else:
                here.pop(key, None)

    def change(status, headers, body):
        content = json.loads(body)
        within(content, *steps)
        return status, headers, json.dumps(content).encode()

    return change


def body(content):
    """Send another body."""
    return lambda status, headers, _: (status, headers, content)


def status(line):
    """Send another status."""
    return lambda _, headers, content: (line, headers, content)


def media(name):
    """Send another media type, or none."""

    def change(line, headers, content):
        kept = [each for each in headers if each[0].lower() != "content-type"]
        return line, [*kept, *([("Content-Type", name)] if name else [])], content

    return change


def second_page(environ, code):
    """Whether an answer is not to a first page."""
    return code < 300 and "page" in environ.get("QUERY_STRING", "")


def one(id_, operation, facet, change, **more):
    """Return a mutation."""
    contract = "pis" if "payment" in operation else "aisp"
    return Mutation(
        id=id_, contract=contract, operation=operation, facet=facet, change=change, **more
    )


def refused(_, code):
    """Whether a call was refused."""
    return 400 <= code < 500


def absent(environ, code):
    """Whether the customer is absent."""
    return code < 300 and "HTTP_PSU_IP_ADDRESS" not in environ


MUTATIONS = [
    one("list-missing", "accounts", "structure", drop("accounts")),
    one("list-an-object", "accounts", "structure", put("accounts", value={})),
    one("list-null", "accounts", "structure", put("accounts")),
    one("iban-a-number", "accounts", "structure", put("accounts", "*", "iban", value=4711)),
    one("iban-wrong", "accounts", "structure", put("accounts", "*", "iban", value="FR7612345")),
    one("iban-empty", "accounts", "structure", put("accounts", "*", "iban", value="")),
    one("iban-missing", "accounts", "structure", drop("accounts", "*", "iban")),
    one("next-a-number", "accounts", "structure", put("links", value={"next": 2})),
    one("body-a-list", "accounts", "structure", body(b"[]")),
    one("body-cut-off", "accounts", "structure", body(b'{"accounts": [')),
    one("body-missing", "accounts", "structure", body(b"")),
    one("status-302", "accounts", "status", status("302 Found")),
    one("status-500", "accounts", "status", status("500 Internal Server Error")),
    one("html", "accounts", "media-type", media("text/html")),
    one("no-media-type", "accounts", "media-type", media("")),
    one("balances-missing", "balances", "structure", drop("balances")),
    one("balance-of-new-type", "balances", "structure", put("balances", "*", "balanceType", value="XPCD")),
    one("balance-in-dollars", "balances", "structure", put("balances", "*", "currency", value="USD")),
    one("balances-a-text", "balances", "structure", put("balances", value="none")),
    one("entries-missing", "transactions", "structure", drop("transactions")),
    one("entry-in-dollars", "transactions", "structure", put("transactions", "*", "currency", value="USD")),
    one("self-a-list", "transactions", "structure", put("links", "self", value=[])),
    one("second-page", "transactions", "structure", put("links", "self", value=1), when=second_page, ambient=True),
    one("refusal-302", "transactions", "status", status("302 Found"), when=refused, ambient=True),
    one("absent-500", "accounts", "status", status("500 Error"), when=absent, ambient=True),
    one("consent-302", "consents", "status", status("302 Found")),
    one("payment-self-a-number", "create-payment", "structure", put("links", "self", value=1)),
    one("payment-as-text", "read-payment", "media-type", media("text/plain")),
    one("change-500", "modify-payment", "status", status("500 Internal Server Error")),
]  # fmt: skip
