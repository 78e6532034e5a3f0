"""Giving customers their accounts and cards: the order form, and carrying it out.

The one place where items are made, for the control API and the demo alike. Not for
reading JSON: :mod:`assay.sandbox.control_requests` does that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from assay.sandbox.accounts import Item, Ledger
from assay.sandbox.calendar import months_before, today
from assay.sandbox.messages import Resource
from assay.sandbox.policies import Policies
from assay.sandbox.world import DEMO, Customer, Registry, World

__all__ = ["DEMO_PROVIDERS", "DEMO_TOKENS", "Order", "endow", "open_demo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """So many items of one make."""

    resource: Resource
    count: int = 1
    savings: bool = False
    inactive: bool = False
    offline: bool = False
    #: Cards: the last day of use; None stands for yesterday.
    last_used: date | None = None
    never_used: bool = False
    #: The days of each item's entries; None: the bank makes its own.
    entries: tuple[date, ...] | None = None


def endow(world: World, customer: Customer, order: Order, policies: Policies) -> Sequence[Item]:
    """Open the ordered items for a customer."""
    items = [_open(world, order, policies) for _ in range(order.count)]
    for item in items:
        customer.items[item.key] = item
        world.owners[item.key] = customer
    return items


def _open(world: World, order: Order, policies: Policies) -> Item:
    mark = world.mark()
    day = today(world.now)
    last_used = None
    if order.resource == "card" and not order.never_used:
        last_used = order.last_used or day - timedelta(days=1)
    return Item(
        resource=order.resource,
        key=policies.mint[order.resource](mark),
        serial=mark.serial,
        savings=order.savings,
        active=not order.inactive,
        online=not order.offline,
        last_used=last_used,
        ledger=Ledger(serial=mark.serial, days=order.entries, opened=day),
    )


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
