"""The sandbox bank behind a gate that counts amounts in whole cents.

Nothing here knows of Assay. An amount that is no whole number is none, in a request.
"""

import json
from decimal import Decimal

from embedded import Gate

from assay.sandbox.app import make_app
from assay.sandbox.policies import SOUND


class CentsBank(Gate):
    """The bank; one instance is one run. The back office counts in euros."""

    def __init__(self, policies=SOUND):
        super().__init__(make_app(policies))

    def before(self, environ, body):
        """Pass on amounts in euros."""
        return body if is_own(environ) else translated(body, in_euros)

    def after(self, environ, status, headers, body):
        """Answer with amounts in cents."""
        return status, headers, body if is_own(environ) else translated(body, in_cents)


def is_own(environ):
    """Whether a call is one of the control API."""
    return environ["PATH_INFO"].startswith("/assay-control/")


def translated(content, change):
    """Return JSON with other amounts; anything else as it is."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return content
    if isinstance(value, dict) and "amount" in value:
        value["amount"] = change(value["amount"])
        return json.dumps(value).encode()
    return content


def in_euros(amount):
    """Return the text of an amount in cents; what is none is what it is, in a list."""
    is_whole = isinstance(amount, int) and not isinstance(amount, bool)
    return f"{Decimal(amount) / 100:.2f}" if is_whole else amount and [amount]


def in_cents(amount):
    """Return the cents of an amount."""
    return int(Decimal(amount) * 100) if isinstance(amount, str) else amount
