"""Options of `assay run`, new or resumed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from assay.contexts.context import Depth
from assay.judging.exit_policy import Floor
from assay.planning.plan import Shard


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of `assay run`, as click parsed them."""

    contracts: Sequence[str]
    target: str | None
    waivers: Path | None
    keywords: str
    marks: str
    seed: int
    out: Path | None
    resume: Path | None
    allow_incomplete: bool
    min_verified: Floor | None
    baseline: Path | None
    journeys: int
    fields: int
    schema: int
    replays: Sequence[Path]
    examples: str
    concurrency: int | None
    wait: timedelta | None
    ledger: Path | None
    contexts: Depth | None
    roles: Sequence[str]
    shard: Shard | None
    dry_run: bool
    no_doctor: bool
    quiet: bool
