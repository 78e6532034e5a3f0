"""Notes on the waivers of a target file before a run: which have expired, and which will soon."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from assay.binding.target import Target
from assay.judging.waivers import WaiverState, untested
from assay.report.waivers import waiver_sentence


def waiver_notes(target: Target) -> Iterator[str]:
    """Yield a line for each waiver that has expired or expires soon, with its place."""
    today = datetime.now(UTC).date()
    for index, waiver in enumerate(target.waivers):
        result = untested(waiver, today)
        if result.state is not WaiverState.IN_FORCE:
            path, line = target.place("waivers", index)
            yield f"{path}:{line}: note: {waiver_sentence(result)}"
