"""What the harness finds of the faults that others reported: found, by the right clause, missed.

    python harness/bench/field/measure.py                   all fifty
    python harness/bench/field/measure.py --contexts base --json base.json next-is-itself
    python harness/bench/field/measure.py --seen            whether the faults themselves can be seen
    python harness/bench/field/measure.py --contexts base --json base.json
    python harness/bench/field/measure.py -x --missed base.json    the missed ones, in all contexts
    python harness/bench/field/measure.py --kept *.json     a Markdown table of runs that were kept

`measuring.py` says what a run is, and when a fault is found. A miss has its cause.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.extend(
    str(Path(__file__).resolve().parents[1] / name) for name in ("", "holdout", "../tests")
)

from faults import FAULTS, Fault
from measuring import KINDS, Run, kept, measure, parser, say
from probes import PROBES
from situations import SITUATIONS

#: Why a fault is missed that takes effect, and is not merely seen and not judged.
CAUSES = {
    "links-without-host": "read as a relative link, which stays at the host",
    "down-every-night": "503 is also what a load balancer answers, and is judged beside the hours of maintenance only",
    "stranger-after-owner": "another customer signs only where the owner has not been: the screens of a second try cost more calls than the price allows",
    "recent-twice": "no rule judges an entry that the customer does not have",
    "slips-without-key": "left open: the document does not say that each slip names its card",
    "quota-per-account": "not counted; the document leaves open what counts as an access",
    "link-without-id": "screens that are not found leave 59 obligations undecided",
}


def right(fault: Fault, violated: set[str]) -> bool:
    return any(one.partition("/")[2].partition("/")[0] in fault.clauses for one in violated)


def summary(runs: Sequence[Run]) -> None:
    """Print a Markdown table by class, and every miss with its cause."""
    mine = {f.id: [run for run in runs if run.fault == f.id] for f in FAULTS}
    found = {name: {one for run in made for one in run.violated} for name, made in mine.items()}
    base = {run.fault for run in runs if run.contexts == "base" and run.violated}
    say("| class | faults | found | in base contexts | by the right clause | missed |")
    say("|---|---:|---:|---:|---:|---:|")
    for kind in (*KINDS, "all"):
        every = [f for f in FAULTS if mine[f.id] and kind in (f.kind, "all")]
        seen = [f for f in every if found[f.id]]
        rightly = sum(right(f, found[f.id]) for f in seen)
        inbase = sum(f.id in base for f in seen)
        missed = len(every) - len(seen)
        say(f"| {kind} | {len(every)} | {len(seen)} | {inbase} | {rightly} | {missed} |")
    say("\n| no. | missed | its effect was seen | cause |\n|---:|---|---:|---|")
    for f in FAULTS:
        if mine[f.id] and not found[f.id]:
            times = max(run.triggered or 0 for run in mine[f.id])
            cause = CAUSES.get(f.id, "seen and not judged" if times else "never happens in a run")
            say(f"| {f.number} | {f.sentence} | {times} times | {cause} |")
    say("\n| no. | found | by |\n|---:|---|---|")
    for f in FAULTS:
        if names := sorted(found[f.id]):
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            wrong = "" if right(f, found[f.id]) else " (not the right clause)"
            say(f"| {f.number} | {f.sentence} | {', '.join(names[:3])}{more}{wrong} |")


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("--kept", type=Path, nargs="+", help="files of kept runs: run nothing")
    args = options.parse_args()
    summary(kept(args.kept) if args.kept else measure(args, FAULTS, {**SITUATIONS, **PROBES}))
