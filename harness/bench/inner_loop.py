"""How soon a run shows something, and whether it knows how long it takes.

python harness/bench/inner_loop.py violations       20 mutants: seconds from the first call to the
first printed violation, and from the call that shows it
python harness/bench/inner_loop.py estimates        20 runs: expected calls beside the true number,
at the start and when a quarter of the calls was made
"""

import sys
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

sys.path.extend(
    str(Path(__file__).resolve().parents[1] / "tests" / name) for name in ("", "support")
)

from shipped import bank_of

from assay.cli.progress import Expectation
from assay.cli.run import expected, run_searches
from assay.contexts.context import Depth
from assay.journal.writer import Journal
from assay.preparation.prepare import prepare
from assay.proof.kill_matrix import variants
from assay.running.environment import set_up
from assay.running.session import Options, Session, run_session

#: The most seconds from the call that shows a violation, and the most percent of an estimate.
SOON, NEAR = 5, 25
#: The runs whose estimates are compared: what is selected, in which contexts, with which searches.
RUNS = [
    ("", Depth.BASE, {}),
    ("", Depth.EACH, {}),
    ("", Depth.EACH, {"lives": 2}),
    *(
        (mark, Depth.EACH, {})
        for mark in ("quota", "listing", "pagination", "duplicate", "factors")
    ),
    *(
        (mark, Depth.EACH, {})
        for mark in ("aisp", "pis", "execution", "idle", "field", "available")
    ),
    ("aisp", Depth.BASE, {"journeys": 30}),
    ("pis", Depth.BASE, {"journeys": 30}),
    ("aisp", Depth.BASE, {"fields": 60}),
    ("pis", Depth.BASE, {"fields": 60}),
    ("aisp", Depth.BASE, {"journeys": 20, "fields": 20, "lives": 2}),
    ("", Depth.BASE, {"journeys": 20, "fields": 20}),
]


@dataclass
class Watched:
    """What a run showed, and when: its calls, and the first violation."""

    expected: Expectation = field(default_factory=Expectation)
    times: list[float] = field(default_factory=list)
    totals: list[int] = field(default_factory=list)
    found: tuple[float, int] | None = None

    def on_call(self):
        """Count a call."""
        self.expected.calls += 1
        self.times.append(perf_counter())
        self.totals.append(self.expected.total)

    def on_violation(self, verdict):
        """Note the first violation."""
        shown = max((n for each in verdict.evidence for n in each.exchanges), default=0)
        self.found = self.found or (perf_counter(), shown)

    def on_trial(self, trial):
        """Note which part of the run begins."""
        self.expected.begin("contexts" if trial.context else "base")

    def on_search(self, contract, how):
        """The same of a search."""
        self.expected.begin(f"{contract}: {how}")


def watched(prepared, mutant="", searches=None, most=0):
    """Run, and return what was seen meanwhile."""
    seen = Watched()
    seen.expected.parts |= expected(prepared, searches or {})
    with TemporaryDirectory() as folder:
        session = Session(
            plan=prepared.plan,
            environment=set_up(prepared.target, bank=bank_of(mutant)),
            journal=Journal.at(Path(folder) / "journal.jsonl"),
            options=Options(most_violated=most),
            on_exchange=seen.on_call,
            on_violation=seen.on_violation,
        )
        search = partial(run_searches, session, prepared, searches or {}, seen, Path(folder), None)
        run_session(session, seen.on_trial, search)
        session.environment.close()
    return seen


def violations():
    """Print the seconds until a violation is printed."""
    names = [name for name, each in variants().items() if hasattr(each, "breaks")]
    worst = 0.0
    print(f"{'mutant':<44}{'since the first call':>22}{'since the call':>16}{'calls':>8}")
    for name in names[:: len(names) // 20][:20]:
        seen = watched(prepare(contexts=Depth.EACH), name, most=1)
        if seen.found is None:
            print(f"{name:<44}{'not found':>22}")
            continue
        at, number = seen.found
        since = at - seen.times[min(number, len(seen.times)) - 1]
        worst = max(worst, since)
        print(f"{name:<44}{at - seen.times[0]:>20.2f} s{since:>14.2f} s{number:>8}")
    return worst < SOON


def estimates():
    """Print expected calls beside the true number."""
    good = True
    print(f"{'run':<52}{'true':>8}{'at first':>16}{'at a quarter':>16}")
    for marks, depth, searches in RUNS:
        seen = watched(prepare(contexts=depth, marks=marks), searches=searches)
        true = len(seen.totals)
        first, quarter = seen.totals[0], seen.totals[true // 4]
        off = [100 * (each - true) / true for each in (first, quarter)]
        good &= abs(off[1]) <= NEAR
        name = f"{marks or 'all'} {depth.value} {searches or ''}"
        print(
            f"{name:<52}{true:>8}{first:>8}{off[0]:>+7.0f}%{quarter:>8}{off[1]:>+7.0f}%", flush=True
        )
    return good


if __name__ == "__main__":
    sys.exit(not {"violations": violations, "estimates": estimates}[sys.argv[1]]())
