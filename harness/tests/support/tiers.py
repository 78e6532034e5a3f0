"""What every night tests, and not every commit.

The gate runs the first cases of these tests only; `ASSAY_TIER=nightly` runs the others, and
`ASSAY_TIER=all` both. Nothing is in no tier.
"""

import os
from collections import Counter
from collections.abc import Iterable

#: `gate`, `nightly` or `all`.
TIER = os.environ.get("ASSAY_TIER", "gate")

#: How many cases of a test the gate runs; by file and test.
KEPT: dict[str, int] = {
    "doctor/test_mistakes.py::test_every_doubt_can_be_confirmed": 3,
}


def in_tier(tests: Iterable[str]) -> list[bool]:
    """Return of each case whether this session runs it; `tests` has the file and test of each."""
    seen: Counter[str] = Counter()
    chosen = []
    for test in tests:
        gate = seen[test] < KEPT.get(test, seen[test] + 1)
        chosen.append(TIER == "all" or gate is (TIER == "gate"))
        seen[test] += 1
    return chosen
