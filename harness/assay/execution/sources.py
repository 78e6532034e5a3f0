"""Sources of violations that were found outside the trial of their obligation.

A sequence, a trial in a further context, or the trial of another clause can show one. The command
that reproduces it has to run that, too.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingSource:
    """The trial that showed a violation, with its sequence or the obligation that it settles."""

    trial: str
    replay: Path | None = None
    settles: str = ""


@dataclass(slots=True, kw_only=True)
class Sources:
    """The sources of a run, by obligation; `command` is how the run was begun."""

    command: str = ""
    seed: int = 0
    _found: dict[str, FindingSource] = field(default_factory=dict[str, FindingSource])

    def add(self, obligation: str, source: FindingSource) -> None:
        """Note what showed the violation of an obligation."""
        self._found[obligation] = source

    def forget(self, obligation: str) -> None:
        """Forget it, since the trial of the obligation itself showed the violation."""
        self._found.pop(obligation, None)

    def get(self, obligation: str) -> str:
        """Return the trial that showed a violation; empty for that of the obligation."""
        source = self._found.get(obligation)
        return source.trial if source else ""

    def reproduce(self, obligation: str) -> str:
        """Return the command that shows the verdict on an obligation again."""
        source = self._found.get(obligation)
        if source is not None and source.replay is not None:
            return f"assay run{self.command} --replay {shlex.quote(str(source.replay))}"
        seed = f" --seed {self.seed}" if self.seed else ""
        settles = source.settles if source is not None else ""
        chosen = f"{settles} or {obligation}" if settles else obligation
        return f"assay run{self.command} -k {shlex.quote(chosen)}{seed}"
