"""Items of the suites: one for each obligation, and their order.

The parameter of an item is the id of its obligation; the plan has the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pytest

from assay.execution.ambient import ambient_obligations
from assay.planning.obligation import Obligation
from assay.planning.plan import Plan
from assay.planning.prepare import markers
from assay.pytest_plugin import searches
from assay.pytest_plugin.presentation import allure_marks
from assay.pytest_plugin.searches import params_of, search_of
from assay.rules.kinds import installed

#: The parameter of an item that tests an obligation.
PARAMETER = "obligation"
#: The rule kinds whose obligations a test function asserts, as a mark.
DISCHARGES = "discharges"


def add_markers(config: pytest.Config, plan: Plan) -> None:
    """Declare the markers of the items of a plan."""
    for name in sorted({mark for item in plan.items for mark in markers(item.obligation)}):
        config.addinivalue_line(
            "markers", f"{name}: obligations of this rule kind, contract or level"
        )
    says = "the rule kinds whose obligations a test asserts; with packages=True those of packages"
    config.addinivalue_line("markers", f"{DISCHARGES}(*kinds): {says}")
    config.addinivalue_line(
        "markers", "searches(*kinds): the kinds of search that a test makes in a contract"
    )


def kinds_of(function: object) -> frozenset[str]:
    """Return the rule kinds in the `discharges` marks of a test function.

    A mark with `packages` has those of installed packages, whatever these are.
    """
    marks = cast("list[pytest.Mark]", getattr(function, "pytestmark", []))
    own = [mark for mark in marks if mark.name == DISCHARGES]
    named = frozenset(kind for mark in own for kind in mark.args)
    return named | (installed().keys() if any(mark.kwargs for mark in own) else frozenset())


def parametrize(metafunc: pytest.Metafunc, plan: Plan) -> frozenset[str]:
    """Give a test function the obligations of its kinds; return their ids."""
    kinds = kinds_of(metafunc.function)
    allure = {
        name: allure_marks(metafunc.config, metafunc.function, contract)
        for name, contract in plan.contracts.items()
    }
    parameters = [
        pytest.param(each.id, id=each.id, marks=[*_marks(each), *allure[each.contract](each)])
        for each in (item.obligation for item in plan.items)
        if each.kind in kinds
    ]
    metafunc.parametrize(PARAMETER, parameters)
    return frozenset(str(parameter.id) for parameter in parameters)


def _marks(obligation: Obligation) -> Iterator[pytest.MarkDecorator]:
    for name in sorted(markers(obligation)):
        yield pytest.MarkDecorator(pytest.Mark(name, (), {}, _ispytest=True), _ispytest=True)


def obligation_of(item: pytest.Item) -> str:
    """Return the id of the obligation of an item, '' if it has none."""
    name = params_of(item).get(PARAMETER)
    return name if isinstance(name, str) else ""


def asks_nothing(item: pytest.Item) -> bool:
    """Whether an item is the placeholder of a test without any parameter set."""
    asks = obligation_of(item) or search_of(item)
    return bool(params_of(item).keys() & {PARAMETER, searches.PARAMETER}) and not asks


def sort(items: list[pytest.Item], plan: Plan, *, waiting: bool) -> None:
    """Put searches and signatures last, and before them what every trial is judged by.

    So the verdict of such an item is final. Where a run is `waiting`, trials keep the order of the
    plan: the shortest wait first.
    """
    ambient = ambient_obligations(plan)
    items.sort(key=lambda item: obligation_of(item) in ambient)
    items.sort(key=lambda item: search_of(item) is not None)
    if waiting:
        turn = {each.id: n for n, trial in enumerate(plan.trials) for each in trial.settles}
        items.sort(key=lambda item: turn.get(obligation_of(item), -1))
    if plan.person:
        signed = {each.id for trial in plan.trials if trial.signed for each in trial.settles}
        items.sort(key=lambda item: obligation_of(item) in signed)
