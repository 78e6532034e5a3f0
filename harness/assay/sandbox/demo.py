"""The demo world: two customers and two providers with fixed tokens, for curl.

Alice has one of every kind of eligibility, Bob has enough accounts for a second page.
Not for checks: those open worlds of their own.
"""

from datetime import timedelta

from assay.sandbox.days import months_before, today
from assay.sandbox.holdings import Order, endow
from assay.sandbox.policies import Policies
from assay.sandbox.world import DEMO, Registry, World

__all__ = ["DEMO_PROVIDERS", "DEMO_TOKENS", "open_demo"]

#: Token of each demo customer, by first name.
DEMO_TOKENS = {"alice": "demo-alice", "bob": "demo-bob"}
#: Tokens of the demo providers, who initiate payments.
DEMO_PROVIDERS = ("demo-tpp", "demo-tpp-2")


def open_demo(registry: Registry, policies: Policies) -> None:
    """Open the demo world."""
    world = registry.open(0, None, id=DEMO)
    orders = {
        "alice": _one_of_each(world),
        "bob": (Order(resource="account", count=7),),
    }
    for name, token in DEMO_TOKENS.items():
        customer = registry.welcome(world, token)
        for order in orders[name]:
            endow(world, customer, order, policies)
    for token in DEMO_PROVIDERS:
        registry.enroll(world, token)


def _one_of_each(world: World) -> tuple[Order, ...]:
    edge = months_before(today(world.now), 2)
    return (
        Order(resource="account", count=2),
        Order(resource="account", savings=True),
        Order(resource="account", inactive=True),
        Order(resource="account", offline=True),
        Order(resource="card"),
        Order(resource="card", last_used=edge + timedelta(days=1)),
        Order(resource="card", last_used=edge - timedelta(days=1)),
        Order(resource="card", inactive=True),
        Order(resource="card", never_used=True),
    )
