"""The cost of judging one exchange, in histories of a hundred to a hundred thousand exchanges.

Every clause of both contracts judges histories of growing length: of customers who come
and go, and of the same few customers. A check that looks back at the whole history for
every exchange costs ten times as much per exchange in a history ten times as long; a
single pass costs the same. The processor time of this process is measured. The garbage
collector is off meanwhile, because its cost depends on everything else in memory.

In these histories an inquiry reports what was carried out since the previous inquiry. In
a recorded history in which each inquiry reports everything again, the lists themselves
grow with the square of the length.

`python harness/bench/judging.py 1000` stops at a thousand exchanges, and checks no bound.
`python harness/bench/judging.py command` measures `assay judge` itself, its memory included, on
HAR files of 10^3 to 10^5 exchanges; a number after it is the largest (`command 1000000`).
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Mapping

import judge_command
from wandering import driven, stretched

from assay.contract.model import Contract
from assay.history import History
from assay.rules.obligation import bound_clauses

SIZES, ROUNDS = (10**2, 10**3, 10**4, 10**5), (3, 3, 1, 1)
#: The lengths of the HAR files that the command judges.
COMMAND_SIZES = (10**3, 10**4, 10**5, 10**6)
#: The number of exchanges that are really made; longer histories repeat them.
STRETCH = 1000
#: The growth of the cost from 10^3 to 10^5 exchanges, of all clauses and of one. Data that no
#: processor cache holds any more costs up to twice as much to read. If a fiftieth of a clause's
#: cost is quadratic at 10^3, it grows three times; if all of it is, a hundred times.
BOUND, ALONE = 2.0, 3.0
#: A clause that takes less than this part of the total has no bound of its own.
PART = 0.05
#: The number of clauses that are listed.
WORST = 5


def largest() -> int:
    """Return the size of the largest history: the argument, if there is one."""
    return int(sys.argv[1]) if sys.argv[1:] else SIZES[-1]


def seconds(contract: Contract, history: History, rounds: int) -> Mapping[str, float]:
    """Judge a history by every clause; return the fastest of some rounds, by clause."""
    fastest: dict[str, float] = {}
    _ = history.exchanges  # computed once, and shared by all checks
    for id_, bound in bound_clauses(contract).items():
        took: list[float] = []
        for _ in range(rounds):
            began = time.process_time()
            for _ in bound.kind.check(history):
                pass
            took.append(time.process_time() - began)
        fastest[id_] = min(took)
    return fastest


def measure(name: str, *, same: bool) -> bool:
    """Print the cost at every size; return whether its growth is within the bounds."""
    contract, real = driven(name, STRETCH)
    each: dict[int, Mapping[str, float]] = {}
    print(f"{name}, {'the same customers' if same else 'changing customers'}")
    limit = largest()
    for size, rounds in zip(SIZES, ROUNDS, strict=True):
        if size > limit:
            return True
        took = seconds(contract, stretched(real, size, same=same), rounds)
        each[size] = {id_: 1e6 * time_ / size for id_, time_ in took.items()}
        whole = sum(took.values())
        print(f"{size:9,} exchanges {whole:8.3f} s {1e6 * whole / size:8.1f} us per exchange")
    first, last = each[SIZES[1]], each[SIZES[-1]]
    whole = sum(last.values())
    growth = {id_: last[id_] / first[id_] for id_ in last}
    large = [id_ for id_ in last if last[id_] > PART * whole]
    for id_ in sorted(growth, key=growth.__getitem__, reverse=True)[:WORST]:
        part = last[id_] / whole
        print(
            f"    {id_:<28} {last[id_]:7.2f} us  {part:4.0%} of the total  grows {growth[id_]:5.2f}x"
        )
    ratio = whole / sum(first.values())
    worst = max((growth[id_] for id_ in large), default=ratio)
    print(
        f"    all clauses grow {ratio:.2f}x, the worst of the large ones {worst:.2f}x, from {SIZES[1]:,} on"
    )
    return ratio <= BOUND and worst <= ALONE


def main() -> int:
    """Measure the command, or both contracts with changing customers and with the same few."""
    if sys.argv[1:2] == ["command"]:
        most = int(sys.argv[2]) if sys.argv[2:] else COMMAND_SIZES[2]
        judge_command.measure([size for size in COMMAND_SIZES if size <= most])
        return 0
    gc.disable()
    constant = [measure(name, same=same) for name in ("aisp", "pis") for same in (False, True)]
    if largest() < SIZES[-1]:
        return 0
    print(f"bound: at most {BOUND:.2f}x for all clauses, {ALONE:.2f}x for one")
    return 0 if all(constant) else 1


if __name__ == "__main__":
    sys.exit(main())
