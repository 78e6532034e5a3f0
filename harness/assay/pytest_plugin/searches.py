"""The searches of a pytest run: one item for each contract and way of searching.

Beside `suite_plugin`, which has the obligations. A way of searching is named by the mark
`searches` of a suite, and is asked for by its own option; an item for which nobody asked
is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import pytest

from assay.execution.session import Session
from assay.fuzzing.examples import open_examples
from assay.fuzzing.findings import SearchResult
from assay.planning.plan import Plan
from assay.planning.prepare import Prepared

#: The parameter of an item that searches.
PARAMETER = "sought"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What an item searches: a contract, in a way, so many times."""

    contract: str
    how: str
    times: int


def ways_of(function: object) -> tuple[str, ...]:
    """Return the ways of searching that a test function says it takes."""
    marks = cast("list[pytest.Mark]", getattr(function, "pytestmark", []))
    return tuple(how for mark in marks if mark.name == "searches" for how in mark.args)


def parametrize(metafunc: pytest.Metafunc, plan: Plan) -> None:
    """Give a suite its items: one a contract that has trials, if that was asked for."""
    items = [
        Sought(contract=contract, how=how, times=times)
        for how in ways_of(metafunc.function)
        if (times := int(metafunc.config.getoption(f"assay_{how}") or 0))
        for contract in dict.fromkeys(trial.contract for trial in plan.trials)
    ]
    metafunc.parametrize(
        PARAMETER, [pytest.param(one, id=f"{one.contract}/{one.how}") for one in items]
    )


def params_of(item: pytest.Item) -> Mapping[str, object]:
    """Return the parameters of an item, none if it has none."""
    return getattr(getattr(item, "callspec", None), "params", {})


def sought_by(item: pytest.Item) -> Sought | None:
    """Return what an item searches, if it searches."""
    found = params_of(item).get(PARAMETER)
    return found if isinstance(found, Sought) else None


def search(
    session: Session, prepared: Prepared, sought: Sought, examples: str | None
) -> SearchResult:
    """Search as an item asks.

    Raises:
        AssayError: the target was never reached, or the record cannot be written.

    """
    from assay.fuzzing import session as fuzzing_session  # noqa: PLC0415 -- Hypothesis only where it searches

    kept = open_examples(examples) if examples else None
    whole = prepared.whole()
    return fuzzing_session.SearchSession(
        session=session, plan=prepared.plan, whole=whole, examples=kept
    ).search(
        sought.contract,
        sought.how,
        fuzzing_session.limits_of(session.environment.target, sought.times),
        fuzzing_session.MAKERS[sought.how],
    )
