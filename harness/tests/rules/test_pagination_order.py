"""`pagination` in an order: neighbours on a page, and the extremes of pages: literal histories."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from account_information import AISP, NO, TODAY, ask, item
from rows import for_each

from assay.history.events import Masked
from assay.rules.kinds import kind_of
from assay.testing import evidence, history, listed

PARAMS = {"operation": "transactions", "at-most": 2}
PAGINATION = kind_of("pagination")


def clause(direction="descending", **params):
    """Return a clause about the transactions of an account."""
    given = {**PARAMS, direction: "bookingDate", **params}
    return PAGINATION.parse(replace(AISP.clauses[0], rule=PAGINATION, params=given), AISP)


def says(*pages, direction="descending", **call):
    """Return what a clause says of pages with these values; None is an item without one."""
    walk = []
    for n, values in enumerate(pages):
        items = [item(f"E{n}-{at}", bookingDate=value) for at, value in enumerate(values)]
        more = f"p{n + 1}" if n + 1 < len(pages) else None
        follow = {"follow": f"p{n}"} if n else {}
        walk.append(ask("transactions", listed(*items, next=more), "A1", **follow, **call))
    lines = evidence(clause(direction), history(*walk))
    return [line.removeprefix("order-") for line in lines if line.startswith("order-")]


@for_each(
    ("values", "judged"),
    [
        (["2026-09-16", "2026-09-15", "2026-09-15", "2026-09-01"], "agrees"),
        (["2026-09-15", "2026-09-16"], "disagrees"),
        (["2026-09-16", "2026-09-14", "2026-09-15"], "disagrees"),
        ([10, 9.5, Decimal("9.25"), -3], "agrees"),
        (["10.00", "9.50"], "agrees"),
        (["9.50", "10.00"], "disagrees"),
        # Two offsets of one clock; the texts would be in another order.
        (["2026-09-16T10:00:00+02:00", "2026-09-16T09:00:00+00:00"], "disagrees"),
        (["2026-09-16T09:00:00+00:00", "2026-09-16T10:00:00+02:00"], "agrees"),
        # In the night in which clocks are set back, the day is all that is certain.
        (["2026-10-25T02:10:00", "2026-10-25T02:50:00", "2026-10-24T03:00:00"], "agrees"),
        (["2026-10-24T02:10:00", "2026-10-25T02:50:00"], "disagrees"),
        (["2026-09-16", "2026-09-15T10:00:00Z"], "unclear"),
        (["2026-09-16", None, "2026-09-15"], "unclear"),
        (["2026-09-15", None, "2026-09-16"], "disagrees"),
        ([None, None], "unclear"),
        # The first of two dates is the later one: their digits are no number.
        (["16092026", "17082026"], "unclear"),
        (["160926", "170826"], "unclear"),
        (["20260916", "20260915"], "agrees"),
        ([Masked("a"), Masked("b")], "unclear"),
        (["b", "a"], "unclear"),
        ([True, False], "unclear"),
    ],
)
def test_the_neighbours_on_a_page_are_compared(values, judged):
    """A value that is missing, or of another sort, is no violation."""
    assert [f"within-page {judged} 1"] == says(values)


@for_each("values", [[], ["2026-09-16"], [None], ["2026-09-16", "2026-09-16"], [7, 7, 7]])
def test_a_page_of_equal_values_shows_nothing(values):
    """It would be in order either way."""
    assert [] == says(values)
    assert [] == says(values, direction="ascending")


def test_ascending_is_the_other_way_round():
    """What agrees with one order violates the other."""
    assert ["within-page agrees 1"] == says([1, 2, 2, 3], direction="ascending")
    assert ["within-page disagrees 1"] == says([3, 2], direction="ascending")


@for_each(
    ("pages", "judged"),
    [
        (([6, 5], [4, 3], [2, 1]), ["within", "within", "across agrees 2", "within", "across agrees 3"]),
        (([2, 1], [4, 3]), ["within", "within", "across disagrees 2"]),
        (([6, 4], [5, 3]), ["within", "within", "across disagrees 2"]),
        (([6, 5], [4, 3], [5, 1]), ["within", "within", "across agrees 2", "within", "across disagrees 3"]),
        (([6, 5], [], [7]), ["within", "across disagrees 3"]),
        (([5, 5], [5, 5]), []),
        (([6, None], [4, 3]), ["within", "within", "across unclear 2"]),
        (([6, None], [7, 3]), ["within", "within", "across disagrees 2"]),
        ((["2026-09-16"], [3]), ["across unclear 2"]),
    ],
)  # fmt: skip
def test_pages_are_compared_by_their_extremes(pages, judged):
    """Every value of a page comes after those of the pages before."""
    lines = [line if line.startswith("across") else line.partition("-")[0] for line in says(*pages)]
    assert judged == [line.replace("-pages", "") for line in lines]


def test_the_order_on_a_page_is_not_that_of_pages():
    """Pages in the right order, each the wrong way round, violate one facet only."""
    found = says([5, 6], [3, 4])
    assert ["within-page disagrees 1", "within-page disagrees 2", "across-pages agrees 2"] == found


def test_other_lists_are_not_judged():
    """Arguments may ask for another order, except those for a range of days; a refusal has none."""
    wrong = ["2026-09-15", "2026-09-16"]
    since = {"since": (TODAY - timedelta(days=80)).isoformat()}
    assert ["within-page disagrees 1"] == says(wrong, arguments=since)
    assert [] == says(wrong, arguments={"sort": "date"})
    assert [] == says(wrong, mode="m")
    assert [] == evidence(clause(), history(ask("transactions", NO, "A1")))


def test_without_a_size_there_is_one_facet():
    """No clause says how long a page is, so nothing can be put on a second one."""
    params = {"operation": "transactions", "ascending": "bookingDate"}
    one = PAGINATION.parse(replace(AISP.clauses[0], params=params), AISP)
    assert ["order-within-page"] == [facet.id for facet in one.facets()]
    walk = history(
        ask("transactions", listed(item("A", bookingDate=2), next="p"), "A1"),
        ask("transactions", listed(item("B", bookingDate=1)), "A1", follow="p"),
    )
    assert [] == evidence(one, walk)
    assert {} == one.facts().page_sizes


def found(**params):
    """Return what is wrong in the parameters of a clause about a list of things with a date."""
    raw = {
        "operations": {"o": {"lists": ["r"]}},
        "resources": {"r": {"fields": ["bookingDate"]}},
    }
    return [what for _, what, _ in PAGINATION.references((), {"operation": "o", **params}, raw)]


def test_what_is_wrong_in_a_clause_is_found():
    """The field is one of what the operation lists, and there is one order and one size."""
    assert [] == found(descending="bookingDate", size=2)
    assert ["there is no field 'bookingDat'"] == found(ascending="bookingDat")
    assert ["`at-most` beside `size`"] == found(**{"size": 2, "at-most": 3})
    both = found(descending="bookingDate", ascending="bookingDate")
    assert "`ascending` beside `descending`" in both
