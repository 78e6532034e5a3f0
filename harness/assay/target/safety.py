"""How much may be asked of a target, and what must not happen there, as values.

Kept by `run.guard`; nothing is counted here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How much may be asked; None where nothing bounds it.

    `calls` in one run; `batch` accesses without the customer, for each customer, method
    and calendar day, by whichever run.
    """

    calls: int | None = None
    batch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Safety:
    """What must not happen to somebody's money.

    Without `allow_writes` a live bank is only read. `only` lists the values that an
    argument of what is written may have, `most` the largest number. After `breaker`
    failures in a row nothing more is sent; None for never.
    """

    allow_writes: bool = False
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    most: Mapping[str, str] = field(default_factory=dict[str, str])
    breaker: int | None = None
