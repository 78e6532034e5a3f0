"""The searches of a pytest run: one item for each contract and way of searching.

A way of searching is named by the mark `searches` of a test function and requested by its
own option (`--assay-lives`, `--assay-journeys`, `--assay-fields`, `--assay-schema`). A search by schemas has an
item for each operation. The obligations are in `suites`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import cast

import pytest

from assay.fuzzing.findings import SearchRequest, SearchResult, requested_searches
from assay.fuzzing.sequences.sequence_file import open_examples
from assay.planning.plan import Plan
from assay.preparation.prepare import Prepared
from assay.running.session import Session

#: The parameter of an item that searches.
PARAMETER = "search_request"
#: The way of searching that has an item for each operation.
SCHEMA = "schema"


def marked(function: object, name: str) -> tuple[str, ...]:
    """Return the arguments of the marks of this name on a test function."""
    marks = cast("list[pytest.Mark]", getattr(function, "pytestmark", []))
    return tuple(argument for mark in marks if mark.name == name for argument in mark.args)


def parametrize(metafunc: pytest.Metafunc, plan: Plan) -> None:
    """Give a test function one item for each search that was requested."""
    times = {
        how: int(metafunc.config.getoption(f"assay_{how}") or 0)
        for how in marked(metafunc.function, "searches")
    }
    requests = [
        each
        for request in requested_searches(plan, times)
        for each in (_by_operation(plan, request) if request.how == SCHEMA else (request,))
    ]
    metafunc.parametrize(PARAMETER, [pytest.param(each, id=_name(each)) for each in requests])


def _by_operation(plan: Plan, request: SearchRequest) -> Iterator[SearchRequest]:
    """Yield the search of each operation of a contract, offered or not."""
    for operation in plan.contracts[request.contract].operations:
        yield replace(request, operation=operation)


def _name(request: SearchRequest) -> str:
    if request.operation:
        return f"{request.how}/{request.contract}/{request.operation}"
    return f"{request.contract}/{request.how}"


def params_of(item: pytest.Item) -> Mapping[str, object]:
    """Return the parameters of an item, none if it has none."""
    return getattr(getattr(item, "callspec", None), "params", {})


def search_of(item: pytest.Item) -> SearchRequest | None:
    """Return the search of an item, None if it does not search."""
    request = params_of(item).get(PARAMETER)
    return request if isinstance(request, SearchRequest) else None


def search(
    session: Session, prepared: Prepared, request: SearchRequest, examples: str | None
) -> SearchResult:
    """Run the search of an item.

    Raises:
        AssayError: the target cannot be reached, or the record cannot be written.

    """
    from assay.fuzzing.session import run_search  # noqa: PLC0415 -- Hypothesis only for a search

    return run_search(
        session,
        request,
        plan=prepared.plan,
        whole=prepared.whole(),
        bound=prepared.bound,
        examples=open_examples(examples) if examples else None,
    )
