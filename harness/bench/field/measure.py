"""What the harness finds of the faults that others reported: found, by the right clause, missed.

    python harness/bench/field/measure.py                   all fifty
    python harness/bench/field/measure.py --contexts base next-is-itself
    python harness/bench/field/measure.py --seen            whether the faults themselves can be seen

`measuring.py` says what a run is, and when a fault is found.
"""

import sys
from pathlib import Path

sys.path.extend(
    str(Path(__file__).resolve().parents[1] / name) for name in ("", "holdout", "../tests")
)

from faults import FAULTS
from measuring import measure, parser
from probes import PROBES
from situations import SITUATIONS

if __name__ == "__main__":
    measure(parser(__doc__).parse_args(), FAULTS, {**PROBES, **SITUATIONS})
