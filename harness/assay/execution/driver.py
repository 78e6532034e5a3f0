"""Driving one probe: performing each step it yields, telling it what became.

No judgement here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assay.contract.model import Operation
from assay.errors import CannotArrange
from assay.execution.environment import Environment
from assay.execution.executor import Recorder, executing
from assay.history import History
from assay.history.events import ProbeRun
from assay.rules.rule import Script


def run_probe(
    script: Script,
    environment: Environment,
    operations: Mapping[str, Operation],
    *,
    number: Callable[[], int],
    record: Recorder,
) -> ProbeRun:
    """Run a probe to its end, or to the step that cannot be performed.

    Raises:
        TargetError: the target's world cannot be reached or used at all.

    """
    stopped, shortage = "", None
    with executing(environment, operations, number=number, record=record) as play:
        try:
            step = next(script)
            while True:
                step = script.send(play.perform(step))
        except StopIteration:
            pass
        except CannotArrange as error:
            stopped, shortage = f"needs {error}", error.shortage
        finally:
            script.close()
    return ProbeRun(history=History(events=tuple(play.events)), stopped=stopped, shortage=shortage)
