"""Values that enter and leave a session: options, the result of a trial, the result of a run.

They only carry data; `session` decides what becomes of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.contract.model import Json
from assay.judging.exit_policy import ExitPolicy
from assay.rules.verdict import Exit, Verdict
from assay.running.ambient import FindingSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of the user that shape verdicts and the journal."""

    seed: int = 0
    policy: ExitPolicy = field(default_factory=ExitPolicy)
    selection: Mapping[str, str] = field(default_factory=dict[str, str])
    command: str = "assay run"
    #: How many trials run side by side.
    concurrency: int = 1
    #: The part of a reproduction command between `assay run` and the selection.
    reproduce: str = ""
    #: The listed customers to which the user restricted the run.
    roles: tuple[str, ...] = ()
    #: The options with which the run can be resumed, if it can.
    invocation: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult:
    """What a trial shows: verdicts, and violations of other obligations, with what shows them.

    It is not `done` if the target could not be used; then a resumed run runs it again.
    """

    verdicts: tuple[Verdict, ...]
    findings: tuple[tuple[Verdict, FindingSource], ...] = ()
    done: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """Result of a finished run; `stopped` says what ended it early."""

    verdicts: tuple[Verdict, ...]
    counts: Mapping[str, int]
    exchanges: int
    faults: tuple[str, ...]
    exit: Exit
    stopped: str = ""
