"""What the harness finds of the faults of the holdout bank.

    python harness/bench/holdout/measure.py                 all 150 faults
    python harness/bench/holdout/measure.py -n 2 duplicate cash-never
    python harness/bench/holdout/measure.py --kind context --json found.json
    python harness/bench/holdout/measure.py --seen          whether the faults themselves can be seen

`measuring.py` says what a run is, and when a fault is found.
"""

import sys
from pathlib import Path

sys.path.extend(str(Path(__file__).resolve().parents[1] / name) for name in ("", "../tests"))

from faults import FAULTS
from measuring import measure, parser
from probes import PROBES

if __name__ == "__main__":
    measure(parser(__doc__).parse_args(), FAULTS, PROBES)
