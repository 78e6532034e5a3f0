"""Faults of links: they leave the host that was chosen."""

from dataclasses import replace

from assay.sandbox.mutants.mutant import Change, breaking
from assay.sandbox.policies import put
from assay.sandbox.render import Base, LinkPlace

__all__ = ["LINKS", "behind_a_name", "elsewhere", "lookalike"]


def elsewhere(_base: str) -> str:
    """Name another host altogether."""
    return "https://gateway.bank.example"


def lookalike(base: str) -> str:
    """Name a host that begins like this one."""
    return f"{base}.cdn.example"


def behind_a_name(base: str) -> str:
    """Put this host where a user's name stands, before another host."""
    scheme, _, host = base.partition("://")
    return f"{scheme}://{host}@cdn.example"


def _leaves(place: LinkPlace, base: Base) -> Change:
    return lambda bank: replace(bank, links=put(bank.links, **{place.replace("-", "_"): base}))


_LEAVING: tuple[tuple[LinkPlace, str, Base], ...] = (
    ("accounts-self", "elsewhere", elsewhere),
    ("accounts-self", "lookalike", lookalike),
    ("accounts-next", "elsewhere", elsewhere),
    ("balances-self", "elsewhere", elsewhere),
    ("balances-self", "behind-a-name", behind_a_name),
    ("transactions-self", "elsewhere", elsewhere),
    ("transactions-self", "lookalike", lookalike),
    ("transactions-next", "elsewhere", elsewhere),
)

LINKS = tuple(
    breaking(
        f"links.{place}-{name}",
        f"live-host/{place.partition('-')[0]}-links",
        f"the link {place.partition('-')[2]} of {place.partition('-')[0]} leaves the host",
        _leaves(place, base),
    )
    for place, name, base in _LEAVING
)
