"""What the harness finds of the faults of the holdout bank.

    python harness/bench/holdout/measure.py                 all 150 faults
    python harness/bench/holdout/measure.py -n 2 duplicate cash-never
    python harness/bench/holdout/measure.py --kind context --json found.json
    python harness/bench/holdout/measure.py --seen          whether the faults themselves can be seen
    python harness/bench/holdout/measure.py --contexts base --json base.json
    python harness/bench/holdout/measure.py -x --missed base.json    the missed ones, in all contexts

`measuring.py` says what a run is, and when a fault is found. A missed fault that the document does not
forbid is printed with the reason.
"""

import sys
from pathlib import Path

sys.path.extend(str(Path(__file__).resolve().parents[1] / name) for name in ("", "../tests"))

from faults import FAULTS
from measuring import measure, parser, say
from probes import PROBES

#: Faults that break no sentence of the document as the contracts read it, and why.
LEFT_OPEN = {
    "extended-history": "the mode is taken, and shows 90 days as without it",
    "credentials-consent": "credentials beside a valid token have no effect; they need not be refused",
    "modify-signed": "the document does not say whether before or after the signature",
    "modify-cancels": "a bank may put a new request in the place of a changed one",
    "refused-signature-redirect": "where a customer who refused returns to is not said",
    "instant-next-day": "the document does not say when an instant payment is executed",
    "credentials": "credentials beside a valid token have no effect; they need not be refused",
    "depth-60": "the history is up to 90 days long; `least` holds a bank to more (shorter-history)",
    "quota-alias": "whether two names share a count is open; `names` holds a bank to it (what-counts)",
    "refused-signature-open": "whether a refused request stops being open is not said (end-of-a-state)",
}

if __name__ == "__main__":
    for made in measure(parser(__doc__).parse_args(), FAULTS, PROBES):
        if made.fault in LEFT_OPEN and not made.violated:
            say(f"left open    {made.fault:<28} {LEFT_OPEN[made.fault]}")
