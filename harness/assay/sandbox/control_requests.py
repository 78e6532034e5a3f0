"""Strict parsing of control API requests.

The client of the control API is a program under development, so every refusal says what
was expected and where.
"""

from collections.abc import Mapping
from datetime import date, datetime
from typing import TypeGuard, TypeVar, cast

from assay.sandbox.calendar import parse_day, parse_moment
from assay.sandbox.messages import Resource
from assay.sandbox.world import HoldingSpec

__all__ = [
    "TRAITS",
    "ControlError",
    "read_choice",
    "read_holdings",
    "read_moment",
    "read_offers",
    "read_seed",
]

#: Traits that can be requested of an item.
TRAITS: Mapping[Resource, tuple[str, ...]] = {
    "account": ("savings", "inactive", "offline"),
    "card": ("inactive", "last-used", "never-used", "immediate-debit"),
}

_Name = TypeVar("_Name", bound=str)

_HOLDINGS = 100
_ITEMS = 1_000
_ENTRIES = 100_000
#: Entries counted against the limit for an item with generated entries.
_OWN_ENTRIES = 400


class ControlError(Exception):
    """A control request that cannot be carried out; says what was expected."""

    def __init__(self, message: str, status: int = 400) -> None:
        """Store the message and the status of the answer."""
        super().__init__(message)
        self.message = message
        self.status = status


def read_seed(content: Mapping[str, object]) -> int:
    """Parse the seed of a world; 0 if absent."""
    seed = content.get("seed", 0)
    if not _is_count(seed) or seed >= 2**63:
        raise ControlError("seed: expected an integer from 0 to 2^63 - 1")
    return seed


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def read_moment(content: Mapping[str, object], name: str) -> datetime | None:
    """Parse a moment; None if absent."""
    if name not in content:
        return None
    text = content[name]
    moment = parse_moment(text) if isinstance(text, str) else None
    if moment is None:
        raise ControlError(f"{name}: expected a moment like 2026-09-16T10:00:00+02:00")
    return moment


def read_choice(
    content: Mapping[str, object],
    name: str,
    choices: tuple[_Name, ...],
    default: _Name | None = None,
) -> _Name:
    """Parse one of several names."""
    value = content.get(name, default)
    for choice in choices:
        if choice == value:
            return choice
    raise ControlError(f"{name}: expected {', '.join(choices[:-1])} or {choices[-1]}")


def read_offers(content: Mapping[str, object]) -> bool:
    """Parse whether the bank offers instant payments."""
    offers = content.get("offers", {})
    if not isinstance(offers, dict):
        raise ControlError("offers: expected an object")
    offered = cast("dict[str, object]", offers)
    if unknown := offered.keys() - {"instant"}:
        raise ControlError(f"offers: unknown offer {min(unknown)!r}; expected instant")
    instant = offered.get("instant", True)
    if not isinstance(instant, bool):
        raise ControlError("instant: expected true or false")
    return instant


def read_holdings(content: Mapping[str, object]) -> list[HoldingSpec]:
    """Parse the holdings of a new customer."""
    holdings = content.get("holdings", [])
    if not isinstance(holdings, list):
        raise ControlError("holdings: expected a list")
    if len(cast("list[object]", holdings)) > _HOLDINGS:
        raise ControlError(f"holdings: at most {_HOLDINGS}")
    orders = [
        _order(holding, f"holdings[{at}]")
        for at, holding in enumerate(cast("list[object]", holdings))
    ]
    items = sum(order.count for order in orders)
    if items > _ITEMS:
        raise ControlError(f"holdings: at most {_ITEMS} items in all, not {items}")
    entries = sum(
        order.count * (_OWN_ENTRIES if order.entries is None else len(order.entries))
        for order in orders
    )
    if entries > _ENTRIES:
        raise ControlError(f"holdings: at most {_ENTRIES} entries in all, not {entries}")
    return orders


def _order(holding: object, where: str) -> HoldingSpec:
    if not isinstance(holding, dict):
        raise ControlError(f"{where}: expected an object")
    content = cast("dict[str, object]", holding)
    unknown = content.keys() - {"resource", "count", "traits", "entries"}
    if unknown:
        raise ControlError(f"{where}: unknown member {min(unknown)!r}")
    resource = content.get("resource")
    if resource not in ("account", "card"):
        raise ControlError(f"{where}.resource: expected account or card")
    count = content.get("count", 1)
    if not _is_count(count) or count == 0:
        raise ControlError(f"{where}.count: expected an integer from 1")
    traits = _traits(content.get("traits", {}), resource, f"{where}.traits")
    last_used = traits.pop("last-used", None)
    return HoldingSpec(
        resource=resource,
        count=count,
        entries=_entries(content, f"{where}.entries"),
        last_used=last_used if isinstance(last_used, date) else None,
        savings=bool(traits.get("savings")),
        inactive=bool(traits.get("inactive")),
        offline=bool(traits.get("offline")),
        never_used=bool(traits.get("never-used")),
        immediate_debit=bool(traits.get("immediate-debit")),
    )


def _traits(value: object, resource: Resource, where: str) -> dict[str, bool | date]:
    if not isinstance(value, dict):
        raise ControlError(f"{where}: expected an object")
    traits: dict[str, bool | date] = {}
    for name, wanted in cast("dict[str, object]", value).items():
        if name not in TRAITS[resource]:
            known = ", ".join(TRAITS[resource])
            raise ControlError(f"{where}: unknown {resource} trait {name!r}; expected {known}")
        traits[name] = _trait(name, wanted, where)
    if traits.get("never-used") and "last-used" in traits:
        raise ControlError(f"{where}: last-used and never-used exclude each other")
    return traits


def _trait(name: str, wanted: object, where: str) -> bool | date:
    if name == "last-used":
        return _day(wanted, f"{where}.{name}")
    if not isinstance(wanted, bool):
        raise ControlError(f"{where}.{name}: expected true or false")
    return wanted


def _entries(content: Mapping[str, object], where: str) -> tuple[date, ...] | None:
    value = content.get("entries")
    if value is None:
        return None
    if not isinstance(value, list):
        raise ControlError(f"{where}: expected a list of days")
    days = cast("list[object]", value)
    if len(days) > _ENTRIES:
        raise ControlError(f"{where}: at most {_ENTRIES}")
    return tuple(_day(day, f"{where}[{at}]") for at, day in enumerate(days))


def _day(value: object, where: str) -> date:
    day = parse_day(value) if isinstance(value, str) else None
    if day is None:
        raise ControlError(f"{where}: expected a day like 2026-09-16")
    return day
