"""Faults of links: they leave the host that was chosen."""

from dataclasses import replace

from assay.sandbox.mutants.mutant import Change, breaking
from assay.sandbox.policies import put
from assay.sandbox.render import Base, LinkPlace

__all__ = ["LINKS"]


def _elsewhere(_base: str) -> str:
    return "https://gateway.bank.example"


def _lookalike(base: str) -> str:
    return f"{base}.cdn.example"


def _behind_a_name(base: str) -> str:
    scheme, _, host = base.partition("://")
    return f"{scheme}://{host}@cdn.example"


def _leaves(place: LinkPlace, base: Base) -> Change:
    return lambda bank: replace(bank, links=put(bank.links, **{place.replace("-", "_"): base}))


_LEAVING: tuple[tuple[LinkPlace, str, Base], ...] = (
    ("accounts-self", "elsewhere", _elsewhere),
    ("accounts-self", "lookalike", _lookalike),
    ("accounts-next", "elsewhere", _elsewhere),
    ("balances-self", "elsewhere", _elsewhere),
    ("balances-self", "behind-a-name", _behind_a_name),
    ("transactions-self", "elsewhere", _elsewhere),
    ("transactions-self", "lookalike", _lookalike),
    ("transactions-next", "elsewhere", _elsewhere),
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
