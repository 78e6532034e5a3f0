"""Creation of accounts and cards for customers, and the demo world.

The only place where items are created, for the control API and the demo alike. In the
demo world Alice has one item for every kind of eligibility, and Bob has enough accounts
for a second page. Checks open worlds of their own. :mod:`assay.sandbox.control_requests`
parses the specifications from JSON.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from assay.sandbox.accounts import Item, Ledger
from assay.sandbox.calendar import months_before, today
from assay.sandbox.messages import Resource
from assay.sandbox.policies import Policies
from assay.sandbox.world import DEMO, Customer, Registry, World

__all__ = ["DEMO_PROVIDERS", "DEMO_TOKENS", "HoldingSpec", "open_demo", "open_holdings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldingSpec:
    """A number of identical items to create."""

    resource: Resource
    count: int = 1
    savings: bool = False
    inactive: bool = False
    offline: bool = False
    #: Last day of use of a card; None means yesterday.
    last_used: date | None = None
    never_used: bool = False
    #: Days of each item's entries; None for generated entries.
    entries: tuple[date, ...] | None = None


def open_holdings(
    world: World, customer: Customer, order: HoldingSpec, policies: Policies
) -> Sequence[Item]:
    """Create the specified items for a customer."""
    items = [_open(world, order, policies) for _ in range(order.count)]
    for item in items:
        customer.items[item.key] = item
        world.owners[item.key] = customer
    return items


def _open(world: World, order: HoldingSpec, policies: Policies) -> Item:
    id_seed = world.next_id_seed()
    day = today(world.now)
    last_used = None
    if order.resource == "card" and not order.never_used:
        last_used = order.last_used or day - timedelta(days=1)
    return Item(
        resource=order.resource,
        key=policies.mint[order.resource](id_seed),
        serial=id_seed.serial,
        savings=order.savings,
        active=not order.inactive,
        online=not order.offline,
        last_used=last_used,
        ledger=Ledger(serial=id_seed.serial, days=order.entries, opened=day),
    )


#: Access token of each demo customer, by first name.
DEMO_TOKENS = {"alice": "demo-alice", "bob": "demo-bob"}
#: Access tokens of the demo TPPs that initiate payments.
DEMO_PROVIDERS = ("demo-tpp", "demo-tpp-2")


def open_demo(registry: Registry, policies: Policies) -> None:
    """Create the demo world."""
    world = registry.open(0, None, id=DEMO)
    orders = {
        "alice": _one_of_each(world),
        "bob": (HoldingSpec(resource="account", count=7),),
    }
    for name, token in DEMO_TOKENS.items():
        customer = registry.add_customer(world, token)
        for order in orders[name]:
            open_holdings(world, customer, order, policies)
    for token in DEMO_PROVIDERS:
        registry.add_tpp(world, token)


def _one_of_each(world: World) -> tuple[HoldingSpec, ...]:
    edge = months_before(today(world.now), 2)
    return (
        HoldingSpec(resource="account", count=2),
        HoldingSpec(resource="account", savings=True),
        HoldingSpec(resource="account", inactive=True),
        HoldingSpec(resource="account", offline=True),
        HoldingSpec(resource="card"),
        HoldingSpec(resource="card", last_used=edge + timedelta(days=1)),
        HoldingSpec(resource="card", last_used=edge - timedelta(days=1)),
        HoldingSpec(resource="card", inactive=True),
        HoldingSpec(resource="card", never_used=True),
    )
