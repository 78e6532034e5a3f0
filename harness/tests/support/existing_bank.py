"""The sandbox with two customers who were there before, and what a target file says of them."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from assay.sandbox.app import make_app
from assay.sandbox.policies import SOUND
from assay.sandbox.world import HoldingSpec, Registry, open_holdings

#: What each customer owns; the token of a customer is the name.
OWNED = {
    "anna": (
        HoldingSpec(resource="account", count=17),
        HoldingSpec(resource="card", count=2),
        HoldingSpec(resource="account", savings=True),
    ),
    "ben": (HoldingSpec(resource="account", count=2), HoldingSpec(resource="card")),
}
#: The environment variables with their tokens.
TOKENS = {f"{name.upper()}_TOKEN": name for name in OWNED}


def _opened(registry: Registry) -> Mapping[str, Any]:
    """Create the customers; return them as a target file lists them."""
    world = registry.open(0, None, id="existing")
    roles = {}
    for name, orders in OWNED.items():
        customer = registry.add_customer(world, name)
        owns = []
        for order in orders:
            for item in open_holdings(world, customer, order, SOUND):
                traits = {"savings": True} if order.savings else {}
                if order.resource == "card":
                    traits = {"last-used": str((world.now - timedelta(days=1)).date())}
                owns.append({"resource": order.resource, "key": item.key, "traits": traits})
        roles[name] = {"token_env": f"{name.upper()}_TOKEN", "owns": owns}
    return roles


def existing_bank(base_url: str) -> object:
    """Return the bank with the two customers."""
    registry = Registry()
    _opened(registry)
    return make_app(base_url=base_url, registry=registry)


def fixtures() -> Mapping[str, Any]:
    """Return the fixtures of its target file."""
    registry = Registry()
    return {
        "kind": "roles",
        "offers": ["psu", "two-psu", "consent", "roster"],
        "now": "2026-09-16T10:00:00+02:00",
        "roles": _opened(registry),
    }
