"""Many rows in one test: where each of them takes no time, an item for each takes more than the test."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def for_each(names: str | Iterable[str], rows: Iterable[Any]) -> Callable[[Any], Any]:
    """Call a test with each row, as `pytest.mark.parametrize` does, but in one item.

    All rows are tried. Those that fail are raised together, each with a note of what it is. Fixtures
    are shared by the rows, so a test must leave them as they are.
    """
    words = names.replace(",", " ").split() if isinstance(names, str) else list(names)
    known = [_values(row, len(words)) for row in rows]
    if not known:
        raise ValueError(f"no rows for {', '.join(words)}")

    def decorate(test: Any) -> Any:
        signature = inspect.signature(test)
        others = [each for name, each in signature.parameters.items() if name not in words]

        @functools.wraps(test)
        def looped(**fixtures: Any) -> None:
            failed: list[BaseException] = []
            for values in known:
                row = dict(zip(words, values, strict=True))
                try:
                    test(**row, **fixtures)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 -- raised below
                    error.add_note(f"with {row!r}")
                    failed.append(error)
            if len(failed) == 1:
                raise failed[0]
            if failed:
                raise BaseExceptionGroup(f"{len(failed)} of {len(known)} rows", failed)

        # From which pytest takes the fixtures.
        looped.__signature__ = signature.replace(parameters=others)
        return looped

    return decorate


def _values(row: Any, number: int) -> tuple[Any, ...]:
    if isinstance(row, type(pytest.param())):
        if row.marks:
            raise ValueError("a row with marks needs an item of its own")
        return tuple(row.values)
    return tuple(row) if number > 1 else (row,)
