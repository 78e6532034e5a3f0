"""Generated numbers and dates around the limits that the contract names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal

from hypothesis.strategies import SearchStrategy, integers

from assay.contract.model import Json
from assay.fuzzing.fields.arguments import Argument, Value
from assay.fuzzing.sequences.abstract_step import RelativeDay

_AMOUNT = re.compile(r"[0-9]+\.[0-9]+")
#: The days ahead of a future date, first and last, and the days back of a past one.
SOON, LATER, BACK = 2, 28, 30
#: A large number of units that is still plausible.
MUCH = 10**9


# -- numbers, as such or as a text -------------------------------------------------
def is_number(argument: Argument) -> bool:
    """Whether the binding's value is a number, or an amount as a text."""
    own = argument.own
    if isinstance(own, str):
        return bool(_AMOUNT.fullmatch(own))
    return isinstance(own, int | float | Decimal) and not isinstance(own, bool)


def _step(argument: Argument) -> Decimal:
    """Return the smallest unit in which the binding's own number is written."""
    exponent = Decimal(str(argument.own)).as_tuple().exponent
    return Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)


def valid_number(argument: Argument) -> SearchStrategy[Value]:
    """Any number up to twice those of the binding, in the same spelling."""
    step = _step(argument)
    most = max(Decimal(str(value)) for value in argument.good_values if _readable(value)) * 2
    return integers(1, int(most / step)).map(lambda n: Value("as good as the usual one", n * step))


def _readable(value: Json) -> bool:
    return isinstance(value, int | float | Decimal) or bool(_AMOUNT.fullmatch(str(value)))


def edge_numbers(argument: Argument) -> Iterator[Value]:
    """The smallest unit, each limit and one unit below it, and a large number."""
    step = _step(argument)
    yield Value("the smallest unit", step)
    yield Value("much", MUCH + 1 - step)
    for limit in argument.named.limits:
        yield Value(f"at {limit}", Decimal(limit))
        yield Value(f"one unit below {limit}", Decimal(limit) - step)
    for small in argument.named.small:
        yield Value(small, Decimal(small))


def beyond_numbers(argument: Argument) -> Iterator[Value]:
    """Above each limit; zero, negative, too many decimals; and other spellings."""
    step = _step(argument)
    for limit in argument.named.limits:
        yield Value(f"one unit above {limit}", Decimal(limit) + step)
    yield Value("nothing", step - step)
    yield Value("negative", -step)
    yield Value("finer than the smallest unit", step / 10)
    if not isinstance(argument.own, str):
        return
    text = argument.own
    yield Value("with a comma", text.replace(".", ","))
    yield Value("with a sign", f"+{text}")
    yield Value("with spaces around it", f" {text} ")
    yield Value("with an exponent", f"{text}E0")
    yield Value("with a grouping sign", f"1_0{text}")
    yield Value(
        "with digits of another script", text.translate({48 + n: 1632 + n for n in range(10)})
    )
    yield Value("with its unit", f"{text} units")
    yield Value("without digits before the point", f".{text.partition('.')[2]}")
    yield Value("without digits after the point", f"{text.partition('.')[0]}.")


# -- days --------------------------------------------------------------------------
def is_day(argument: Argument) -> bool:
    """Whether the binding's value is a date, or the contract says that it is one."""
    if argument.own is None:
        return bool(argument.named.days) or argument.ahead
    try:
        date.fromisoformat(str(argument.own))
    except ValueError:
        return False
    return isinstance(argument.own, str)


def valid_day(argument: Argument) -> SearchStrategy[Value]:
    """A date in the near future, or in the recent past."""
    if argument.ahead:
        return integers(SOON, LATER).map(lambda n: Value(f"in {n} days", RelativeDay(n)))
    least = min(argument.named.days, default=BACK)
    return integers(0, least - 1).map(lambda n: Value(f"{n} days ago", RelativeDay(-n)))


def edge_days(argument: Argument) -> Iterator[Value]:
    """The first and the last date that are allowed, as far as the contract says."""
    if argument.ahead:
        yield Value("tomorrow", RelativeDay(1))
        yield Value("in a month", RelativeDay(31))
        return
    yield Value("today", RelativeDay(0))
    for days in argument.named.days:
        yield Value(f"{days - 1} days ago", RelativeDay(1 - days))
        yield Value(f"{days} days ago", RelativeDay(-days))


def beyond_days(argument: Argument) -> Iterator[Value]:
    """Dates too early or too late, invalid dates, and other spellings."""
    if argument.ahead:
        for n in (0, -1, -31):
            yield Value("not in the future", RelativeDay(n))
        yield Value("in ten years", RelativeDay(3653))
    else:
        yield Value("tomorrow", RelativeDay(1))
        for days in argument.named.days:
            for beyond in (1, 2, 10, 109, 640):
                yield Value(f"{days + beyond} days ago", RelativeDay(-days - beyond))
    yield Value("the last possible date", "9999-12-31")
    yield Value("the first possible date", "0001-01-01")
    for text in ("2024-02-30", "2024-5-1", "20240515", "15/05/2024", "2024-05-15T00:00:00Z"):
        yield Value("not an ISO 8601 date", text)
