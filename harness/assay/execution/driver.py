"""Driving one probe: performing each step it yields, telling it what became.

No judgement here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assay.contract.model import Operation
from assay.errors import CannotArrange
from assay.execution.environment import Stage
from assay.execution.executor import Recorder, playing
from assay.history import History
from assay.history.events import Driven
from assay.rules.rule import Script


def drive(
    script: Script,
    stage: Stage,
    operations: Mapping[str, Operation],
    *,
    number: Callable[[], int],
    record: Recorder,
) -> Driven:
    """Run a probe to its end, or to the step that cannot be performed.

    Raises:
        TargetError: the target's world cannot be reached or used at all.

    """
    stopped = ""
    with playing(stage, operations, number=number, record=record) as play:
        try:
            step = next(script)
            while True:
                step = script.send(play.perform(step))
        except StopIteration:
            pass
        except CannotArrange as error:
            stopped = f"needs {error}"
        finally:
            script.close()
    return Driven(history=History(events=tuple(play.events)), stopped=stopped)
