"""Generated numbers and dates around the limits that the contract names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal

from hypothesis.strategies import SearchStrategy, integers

from assay.contract.model import Json
from assay.fuzzing.fields.shape import Argument, Value
from assay.fuzzing.sequences.abstract_step import RelativeDay

_AMOUNT = re.compile(r"[0-9]+\.[0-9]+")
#: Days into the future of a date to come, and into the past of an earlier one.
SOON, LATER, BACK = 2, 28, 30
#: A large number of units that is still plausible.
MUCH = 10**9


# -- numbers, as such or as a text -------------------------------------------------
def is_number(argument: Argument) -> bool:
    """Whether the binding has a number there, or an amount as a text."""
    own = argument.own
    if isinstance(own, str):
        return bool(_AMOUNT.fullmatch(own))
    return isinstance(own, int | float | Decimal) and not isinstance(own, bool)


def _step(argument: Argument) -> Decimal:
    """Return the smallest unit in which the binding's own number is written."""
    exponent = Decimal(str(argument.own)).as_tuple().exponent
    return Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)


def valid_number(argument: Argument) -> SearchStrategy[Value]:
    """Any number up to twice those of the binding; exact, to be spelt as they are."""
    step = _step(argument)
    most = max(Decimal(str(one)) for one in argument.goods if _readable(one)) * 2
    return integers(1, int(most / step)).map(lambda n: Value("as good", n * step))


def _readable(value: Json) -> bool:
    return isinstance(value, int | float | Decimal) or bool(_AMOUNT.fullmatch(str(value)))


def edge_numbers(argument: Argument) -> Iterator[Value]:
    """The smallest unit, at and one unit below each limit, and much."""
    step = _step(argument)
    yield Value("the smallest unit", step)
    yield Value("much", MUCH + 1 - step)
    for limit in argument.named.limits:
        yield Value(f"at {limit}", Decimal(limit))
        yield Value(f"one unit below {limit}", Decimal(limit) - step)
    for small in argument.named.small:
        yield Value(small, Decimal(small))


def beyond_numbers(argument: Argument) -> Iterator[Value]:
    """Above each limit; nothing, less than nothing, too fine; and written otherwise."""
    step = _step(argument)
    for limit in argument.named.limits:
        yield Value(f"one unit above {limit}", Decimal(limit) + step)
    yield Value("nothing", step - step)
    yield Value("less than nothing", -step)
    yield Value("finer than the smallest unit", step / 10)
    if not isinstance(argument.own, str):
        return
    text = argument.own
    yield Value("with a comma", text.replace(".", ","))
    yield Value("with a sign", f"+{text}")
    yield Value("with blanks around it", f" {text} ")
    yield Value("with an exponent", f"{text}E0")
    yield Value("with a grouping sign", f"1_0{text}")
    yield Value(
        "with digits of another script", text.translate({48 + n: 1632 + n for n in range(10)})
    )
    yield Value("with its unit", f"{text} units")
    yield Value("with nothing before the point", f".{text.partition('.')[2]}")
    yield Value("with nothing after the point", f"{text.partition('.')[0]}.")


# -- days --------------------------------------------------------------------------
def is_day(argument: Argument) -> bool:
    """Whether the binding has a day there, or the contract says that one stands there."""
    if argument.own is None:
        return bool(argument.named.days) or argument.ahead
    try:
        date.fromisoformat(str(argument.own))
    except ValueError:
        return False
    return isinstance(argument.own, str)


def valid_day(argument: Argument) -> SearchStrategy[Value]:
    """A day soon to come, or one lately past."""
    if argument.ahead:
        return integers(SOON, LATER).map(lambda n: Value(f"in {n} days", RelativeDay(n)))
    least = min(argument.named.days, default=BACK)
    return integers(0, least - 1).map(lambda n: Value(f"{n} days ago", RelativeDay(-n)))


def edge_days(argument: Argument) -> Iterator[Value]:
    """The first and the last that are allowed, as far as the contract says."""
    if argument.ahead:
        yield Value("tomorrow", RelativeDay(1))
        yield Value("in a month", RelativeDay(31))
        return
    yield Value("today", RelativeDay(0))
    for days in argument.named.days:
        yield Value(f"{days - 1} days ago", RelativeDay(1 - days))
        yield Value(f"{days} days ago", RelativeDay(-days))


def beyond_days(argument: Argument) -> Iterator[Value]:
    """A day too early or too late, and days that are none, or written otherwise."""
    if argument.ahead:
        for n in (0, -1, -31):
            yield Value("no day to come", RelativeDay(n))
        yield Value("in ten years", RelativeDay(3653))
    else:
        yield Value("tomorrow", RelativeDay(1))
        for days in argument.named.days:
            for more in (1, 2, 10, 109, 640):
                yield Value(f"{days + more} days ago", RelativeDay(-days - more))
    yield Value("the last day of all", "9999-12-31")
    yield Value("the first day of all", "0001-01-01")
    for text in ("2024-02-30", "2024-5-1", "20240515", "15/05/2024", "2024-05-15T00:00:00Z"):
        yield Value("no day as ISO 8601 writes it", text)
