"""The coverage table of `assay plan`: clause by dimension, and why a value is not tested."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assay.contexts.coverage import Cell
from assay.planning.contextual import ContextPlan
from assay.planning.plan import Plan
from assay.report.wording import counted

#: The width of the column of clauses.
_CLAUSE = 26


def base_only_lines(base_only: str) -> Iterator[str]:
    """Yield why the base context alone is tested, and what to do about it."""
    if base_only:
        yield ""
        yield f"in the base context only: {base_only}"
        yield "  `--contexts each` tests the rules in further contexts, too, with more calls"


def coverage_lines(plan: Plan, contexts: ContextPlan | None, verbose: bool) -> Iterator[str]:
    """Yield what the contexts cost and cover; each value that is not tested if `verbose`."""
    if contexts is None:
        return
    trials = plan.contextual
    calls = sum(trial.calls for trial in trials)
    yield ""
    yield f"in further contexts: {counted(len(trials), 'trial')} with {counted(calls, 'call')}"
    if not verbose:
        return
    for contract, clauses in contexts.coverage.items():
        names = [dimension.name for dimension in contexts.dimensions[contract]]
        yield ""
        yield f"{contract:<{_CLAUSE}}" + "".join(f"{name:>10}" for name in names)
        for clause, cells in clauses.items():
            yield f"  {clause:<{_CLAUSE - 2}}" + "".join(_cell(cells, name) for name in names)
        yield from _reasons(clauses)


def _cell(cells: Sequence[Cell], dimension: str) -> str:
    """Return how many values of a dimension are tested, of how many."""
    mine = [cell for cell in cells if cell.dimension == dimension]
    tested = sum(cell.trials > 0 for cell in mine)
    return f"{f'{tested} of {len(mine)}' if tested else '-':>10}"


def _reasons(clauses: Mapping[str, Sequence[Cell]]) -> Iterator[str]:
    """Yield each reason why values are not tested, with the clauses and values."""
    by_reason: dict[str, dict[str, list[str]]] = {}
    for clause, cells in clauses.items():
        for cell in cells:
            if not cell.trials:
                values = by_reason.setdefault(cell.reason, {}).setdefault(clause, [])
                values.append(f"{cell.dimension}={cell.value}")
    for reason, untested in by_reason.items():
        yield f"  not tested: {reason}"
        for clause, values in untested.items():
            yield f"    {clause}: {', '.join(values)}"


def coverage_records(contexts: ContextPlan | None) -> Iterator[dict[str, object]]:
    """Yield one record a clause and value, for `--json`."""
    if contexts is None:
        return
    for contract, clauses in contexts.coverage.items():
        for cells in clauses.values():
            for cell in cells:
                yield {
                    "contract": contract,
                    "clause": cell.clause,
                    "dimension": cell.dimension,
                    "value": cell.value,
                    "trials": cell.trials,
                    "reason": cell.reason,
                }
