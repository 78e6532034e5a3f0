"""Tests of many rows in one item: a table is gone through by a loop, not by the collection.

`pytest.mark.parametrize` sets every row up by itself, which costs more than most rows take.
Here rows share one set-up, so a test must keep nothing from one to the next. Rows that need
fixtures of their own, or that are to be chosen one by one, stay parametrised.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps


def for_each(
    names: str | Sequence[str], rows: Iterable[object]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test once for every row, as `parametrize` does, and name the row that fails.

    Several of them make a product of their rows.

    Raises:
        ValueError: there are no rows.

    """
    keys = names.replace(" ", "").split(",") if isinstance(names, str) else [*names]
    chosen = [*rows]
    if not chosen:
        raise ValueError(f"no rows of {', '.join(keys)}")

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)
        left = [one for name, one in signature.parameters.items() if name not in keys]

        @wraps(test)
        def run(*args: object, **fixtures: object) -> None:
            for row in chosen:
                values = (row,) if len(keys) == 1 else row
                assert isinstance(values, Iterable)
                named = dict(zip(keys, values, strict=True))
                try:
                    test(*args, **named, **fixtures)
                except BaseException as error:
                    error.add_note(f"with {named!r}")
                    raise

        run.__dict__["__signature__"] = signature.replace(parameters=left)
        return run

    return decorate
