"""What judging costs for each exchange, from a hundred exchanges to a hundred thousand.

Every clause of both contracts judges histories of growing length, of customers who
come and go and of the same few to the end. A check that looks back at what was before
for every exchange costs ten times as much for each of them in a history ten times as
long; a fold costs the same. What counts is the time of this process; the garbage collector is off while the clock runs: how
often it looks at all there is depends on what else is in memory.

An inquiry tells what was carried out since the one before it. Of a recorded history in
which each tells all of it again, the lists are the length.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Mapping

from wandering import driven, stretched

from assay.contract.model import Contract
from assay.history import History
from assay.planning.obligation import bound_clauses

SIZES, ROUNDS = (10**2, 10**3, 10**4, 10**5), (3, 3, 1, 1)
#: So many exchanges are really made, and then had again and again.
STRETCH = 1000
#: From 10^3 to 10^5 exchanges, for the whole and for one clause. What no cache of a processor
#: holds any more costs up to twice as much to look at. A clause of which a fiftieth grows with
#: the square at 10^3 comes to three times; one that looks back for all, to a hundred times.
BOUND, ALONE = 2.0, 3.0
#: A clause that takes less than this part of the whole is not judged by itself.
PART = 0.05
#: So many clauses are named.
WORST = 5


def seconds(contract: Contract, history: History, rounds: int) -> Mapping[str, float]:
    """Judge a history by every clause; return the least of some rounds by clause."""
    out: dict[str, float] = {}
    _ = history.exchanges  # worked out once for all checks, and no check's own
    for id_, ruled in bound_clauses(contract).items():
        took: list[float] = []
        for _ in range(rounds):
            began = time.process_time()
            for _ in ruled.rule.check(ruled.params, history):
                pass
            took.append(time.process_time() - began)
        out[id_] = min(took)
    return out


def measure(name: str, *, same: bool) -> bool:
    """Print what judging costs at every size; return whether it stays the same."""
    contract, real = driven(name, STRETCH)
    each: dict[int, Mapping[str, float]] = {}
    print(f"{name}, {'the same customers' if same else 'customers of their own'}")
    for size, rounds in zip(SIZES, ROUNDS, strict=True):
        took = seconds(contract, stretched(real, size, same=same), rounds)
        each[size] = {id_: 1e6 * one / size for id_, one in took.items()}
        whole = sum(took.values())
        print(f"{size:9,} exchanges {whole:8.3f} s {1e6 * whole / size:8.1f} us an exchange")
    first, last = each[SIZES[1]], each[SIZES[-1]]
    whole = sum(last.values())
    growth = {id_: last[id_] / first[id_] for id_ in last}
    large = [id_ for id_ in last if last[id_] > PART * whole]
    for id_ in sorted(growth, key=growth.__getitem__, reverse=True)[:WORST]:
        part = last[id_] / whole
        print(f"    {id_:<28} {last[id_]:7.2f} us  {part:4.0%} of all  grows {growth[id_]:5.2f}x")
    ratio = whole / sum(first.values())
    worst = max((growth[id_] for id_ in large), default=ratio)
    print(f"    all {ratio:.2f}x, the worst of the large {worst:.2f}x from {SIZES[1]:,} on")
    return ratio <= BOUND and worst <= ALONE


def main() -> int:
    """Measure both contracts, with customers who come and go and with the same few."""
    gc.disable()
    flat = [measure(name, same=same) for name in ("aisp", "pis") for same in (False, True)]
    print(f"bound: at most {BOUND:.2f}x for all, {ALONE:.2f}x for one")
    return 0 if all(flat) else 1


if __name__ == "__main__":
    sys.exit(main())
