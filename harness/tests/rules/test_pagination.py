"""`pagination` judges walks: their sizes, their items, and their end."""

from dataclasses import replace
from datetime import timedelta

from account_information import (
    AISP,
    AT,
    FAILED,
    LOST,
    NO,
    NONE,
    TODAY,
    UNKNOWN,
    account,
    ask,
    check,
    consent,
    item,
    owner,
    ruled,
)
from rows import for_each

from assay.history import Entry
from assay.rules.kinds import kind_of
from assay.rules.verdict import Standing
from assay.testing import evidence, history, judge, listed, violated

PSU = owner("psu", *(account(f"A{n}") for n in range(1, 13)))
KEYS = [f"A{n}" for n in range(1, 13)]


def pages(*sheets, end=None, by="psu", **how):
    """Write a walk down, page by page."""
    out = []
    for n, sheet in enumerate(sheets):
        more = f"p{n + 1}" if n + 1 < len(sheets) else end
        follow = {"follow": f"p{n}"} if n else {}
        out.append(ask("accounts", listed(*sheet, next=more), by=by, **follow, **how))
    return out


def says(*events):
    return check("accounts.page-size", *events)


GOOD = KEYS[:5], KEYS[5:10], KEYS[10:]


def test_a_sound_walk_agrees_on_every_facet():
    """The last page is not judged by its size."""
    assert [
        "first-page agrees 1",
        "full-pages agrees 2",
        "complete agrees 1,2,3",
        "no-repeats agrees 1,2,3",
        "ends agrees 1,2,3",
    ] == says(PSU, *pages(*GOOD))


@for_each(
    ("sheets", "red"),
    [
        ((KEYS[:4], KEYS[4:9], KEYS[9:]), ["first-page disagrees 1"]),
        ((KEYS[:6], KEYS[6:11], KEYS[11:]), ["first-page disagrees 1"]),
        ((KEYS[:5], KEYS[5:9], KEYS[9:]), ["full-pages disagrees 2"]),
        ((KEYS[:5], KEYS[5:12]), ["full-pages disagrees 2"]),
        ((KEYS[:5], KEYS[5:10]), ["complete disagrees 1,2"]),
        ((KEYS[:5], KEYS[5:10], KEYS[9:]), ["no-repeats disagrees 1,2,3"]),
        ((KEYS,), ["first-page disagrees 1"]),
        ((KEYS[:5], [], KEYS[5:10], KEYS[10:]), ["full-pages disagrees 2"]),
    ],
)
def test_each_fault_turns_its_own_facet_red(sheets, red):
    """The second page is where banks slip."""
    assert red == [line for line in says(PSU, *pages(*sheets)) if "disagrees" in line]


@for_each(("end", "ends"), [("p1", ["ends disagrees 1,2,3"]), ("p3", [])])
def test_a_next_page_that_was_turned_before_is_a_circle(end, ends):
    """A walk that was simply not finished is none."""
    assert ends == [line for line in says(PSU, *pages(*GOOD, end=end)) if line.startswith("ends")]


def test_a_page_that_comes_round_again_is_the_business_of_ends_alone():
    """What is seen twice so is no repeat, and what was shown is whole."""
    walk = pages(*GOOD, KEYS[10:], end="p9")

    assert [
        "first-page agrees 1",
        "full-pages agrees 2",
        "complete agrees 1,2,3",
        "no-repeats agrees 1,2,3",
        "ends disagrees 1,2,3,4",
    ] == says(PSU, *walk)


def test_empty_pages_without_an_end_are_endless():
    """More pages than there are items, and still a next one."""
    walk = pages(*GOOD, *[[]] * 11, end="more")

    assert ["ends disagrees"] == [line[:14] for line in says(PSU, *walk) if "disagrees" in line]


def test_a_walk_that_somebody_broke_off_is_no_fault_of_the_bank():
    """Who reads one page of three has seen one page of three."""
    assert ["first-page agrees 1"] == says(PSU, *pages(KEYS[:5], end="p1"))
    assert ["first-page agrees 1"] == says(PSU, *pages(KEYS[:5], KEYS[5:10], end="p2"))[:1]
    assert not [line for line in says(PSU, *pages(KEYS[:5], KEYS[5:10], end="p2")) if "dis" in line]


@for_each(
    ("came", "how", "end"),
    [
        (NO, {}, ["ends disagrees 1,2,3"]),
        (FAILED, {}, ["ends disagrees 1,2,3"]),
        (LOST, {}, []),
        (UNKNOWN, {}, []),
        (NO, {"present": False}, []),
    ],
)
def test_a_page_that_is_named_is_there(came, how, end):
    """Not so without the customer: page turns may count. What got lost is nobody's fault."""
    walk = [
        *pages(KEYS[:5], KEYS[5:10], end="p2", **how),
        ask("accounts", came, follow="p2", **how),
    ]

    assert ["first-page agrees 1", *end] == says(PSU, *walk)


ENTRIES = [f"A1-{n}" for n in range(30)]


def of_entries(*events):
    """Judge a list of two full pages of entries, and one of other length."""
    things = (Entry(key=key, on=TODAY) for key in ENTRIES)
    full = replace(account("A1"), entries=tuple(things))
    return [
        check("transactions.page-size", owner("psu", replace(full, entries=some)), *events)
        for some in (full.entries, full.entries[:28])
    ]


def entry_page(first, last, next_page=None, **how):
    return ask("transactions", listed(*ENTRIES[first:last], next=next_page), "A1", **how)


@for_each(
    ("came", "exact"),
    [
        (None, "exact agrees 1,2"),
        (NONE, "exact agrees 1,2,3"),
        (NO, "exact disagrees 1,2,3"),
        (FAILED, "exact disagrees 1,2,3"),
    ],
)
def test_a_list_that_fills_its_pages_is_read_to_its_end(came, exact):
    """An empty page may follow; one that is not there may not be named."""
    later = [] if came is None else [ask("transactions", came, "A1", follow="p2")]
    second = entry_page(15, 30, "p2" if later else None, follow="p1")

    full, other = of_entries(entry_page(0, 15, "p1"), second, *later)
    assert exact in full
    assert not [one for one in other if one.startswith("exact")]


def test_a_full_last_page_is_not_left_out():
    """Whoever divides the number of items by the size of a page may lose one."""
    full, other = of_entries(entry_page(0, 15))
    assert "exact disagrees 1" in full
    assert not [one for one in other if one.startswith("exact")]
    full, _ = of_entries(entry_page(0, 14))
    assert not [one for one in full if one.startswith("exact")]


def test_how_much_somebody_owns_is_not_arranged_to_the_last():
    """A list of what is owned has no facet of its own for full pages."""
    psu = owner("psu", *(account(key) for key in KEYS[:10]))
    dead = [*pages(KEYS[:5], KEYS[5:10], end="p2"), ask("accounts", NO, follow="p2")]

    assert "ends disagrees 1,2,3" in says(psu, *dead)


@for_each("came", [NONE, NO, FAILED, LOST])
def test_a_first_page_without_anything_is_another_clauses_business(came):
    """An empty list may be a refusal."""
    assert [] == says(PSU, ask("accounts", came))


@for_each(
    ("owned", "later", "found"),
    [
        ((), ["p2"], ["ends disagrees 1,2"]),
        ((), ["p2", "p3"], ["ends disagrees 1,2,3"]),
        ((), [None], ["ends agrees 1,2"]),
        ((), [], []),
        # What there is may be hidden, for want of a consent.
        ((Entry(key="E1", on=TODAY),), ["p2"], []),
    ],
)
def test_where_there_is_nothing_a_second_page_is_the_last(owned, later, found):
    """One empty page may follow, as after a full one."""
    account_of = replace(account("A1"), entries=owned)
    walk = [ask("transactions", listed(next="p1"), "A1")]
    walk += [
        ask("transactions", listed(next=more), "A1", follow=f"p{n}")
        for n, more in enumerate(later, 1)
    ]
    assert found == check("transactions.page-size", owner("psu", account_of), *walk)
    # What a real customer owns is not known to the last entry.
    assert [] == check("transactions.page-size", owner("psu", account_of, fresh=False), *walk)


def test_a_second_page_with_no_key_leaves_the_items_open():
    """Sizes can be told all the same."""
    walk = pages(KEYS[:5], [item()] * 5, KEYS[10:])

    assert [
        "first-page agrees 1",
        "full-pages agrees 2",
        "complete unclear 1,2,3",
        "no-repeats unclear 1,2,3",
        "ends agrees 1,2,3",
    ] == says(PSU, *walk)


def test_pages_on_which_nothing_has_a_key_are_no_circle():
    """A profile that spells no key still sees sizes and the end."""
    walk = pages([item()] * 5, [item()] * 5, [item()] * 2)

    assert ["first-page agrees 1", "full-pages agrees 2"] == says(PSU, *walk)[:2]
    assert "ends agrees 1,2,3" == says(PSU, *walk)[-1]


def test_walks_of_two_customers_that_are_interleaved_are_told_apart():
    """Each page belongs to the walk of its own customer."""
    other = owner("other", *(account(f"B{n}") for n in range(1, 7)))
    ours = pages(*GOOD)
    theirs = pages([f"B{n}" for n in range(1, 6)], ["B6"], by="other")

    assert [] == [
        line
        for line in says(PSU, other, ours[0], theirs[0], ours[1], theirs[1], ours[2])
        if "agrees" not in line or "disagrees" in line
    ]


def test_two_walks_of_one_customer_by_the_same_links_are_told_apart():
    """Each page goes on from a walk that waits for it, once."""
    first, second = pages(*GOOD), pages(*GOOD)
    mixed = [one for pair in zip(first, second, strict=True) for one in pair]

    assert 10 == len([line for line in says(PSU, *mixed) if " agrees " in line])


def test_asking_for_another_size_or_a_part_is_not_the_default():
    """Only plain questions are judged."""
    for how in ({"arguments": {"limit": 3}}, {"mode": "m"}, {"credentials": True}):
        assert [] == says(PSU, *pages(KEYS[:3], end="p1", **how))


def test_with_too_few_items_nothing_is_said():
    """What fits one page shows nothing of pages."""
    few = owner("psu", account("A1"), account("A2"), account("A3", savings=True))

    assert [] == says(few, *pages(["A1", "A2"]))


def test_recorded_traffic_is_judged_by_its_own_pages():
    """With no roster, a later page shows that there was more."""
    assert ["first-page agrees 1", "no-repeats agrees 1,2", "ends agrees 1,2"] == says(
        *pages(KEYS[:5], KEYS[5:7])
    )
    assert "first-page disagrees 1" in says(*pages(KEYS[:3], KEYS[3:7]))
    assert [] == says(*pages(KEYS[:3]))


# -- transactions: what the history may leave out -----------------------------------
def entries(*ages):
    return [f"A1-{n}" for n in ages]


def depth(owned, shown, *, size=3):
    psu = owner("psu", account("A1", *owned))
    sheets = [shown[n : n + size] for n in range(0, len(shown), size)]
    walk = []
    for n, sheet in enumerate(sheets):
        more = f"p{n + 1}" if n + 1 < len(sheets) else None
        follow = {"follow": f"p{n}"} if n else {}
        walk.append(ask("transactions", listed(*entries(*sheet), next=more), "A1", **follow))
    found = check("transactions.page-size", psu, consent("A1"), *walk, size=size)
    return [one.rpartition(" ")[0] for one in found if not one.startswith(("ends", "no-rep"))]


@for_each(
    ("owned", "shown", "complete"),
    [
        ([1, 2, 3, 4], [1, 2, 3, 4], "agrees"),
        ([1, 2, 3, 4], [1, 2, 3], "disagrees"),
        ([1, 2, 30, 60], [1, 2, 30, 60], "agrees"),
        ([1, 2, 30, 60], [1, 2, 30], "unclear"),
        ([1, 2, 30, 60], [1, 2, 60], "disagrees"),
        ([1, 2, 30, 60], [1, 30, 60], "disagrees"),
        ([1, 2, 3, 4, 90, 91, 300], [1, 2, 3, 4], "agrees"),
    ],
)
def test_what_is_old_may_be_left_out_by_a_shorter_history(owned, shown, complete):
    """Up to ninety days may be given; a hole in the middle is no shorter history."""
    assert f"complete {complete}" in depth(owned, shown)


def test_what_is_beyond_the_depth_is_not_waited_for():
    """Old entries do not make the list longer than a page."""
    assert [] == depth([1, 2, 3, 100, 200], [1, 2, 3])


def test_a_short_first_page_of_a_shorter_history_is_none():
    """Three of four may be all that the bank keeps, if the fourth is old."""
    assert "first-page disagrees" in depth([1, 2, 3, 4], [1, 2])
    assert not [one for one in depth([1, 2, 40, 60], [1, 2]) if "first-page" in one]


def test_a_foreign_or_unknown_account_has_no_roster():
    """Pages about somebody else's account are judged by themselves."""
    assert [] == check(
        "transactions.page-size",
        owner("psu", account("A1", *range(1, 30))),
        ask("transactions", listed("x"), "B1"),
    )


def test_a_contract_without_a_depth_waits_for_all():
    """Where no clause says how far back, everything owned is old at most."""
    params = ruled("transactions.page-size", size=2)
    clauses = tuple(clause for clause in AISP.clauses if clause.kind != "history-depth")
    bare = replace(AISP, clauses=clauses)
    psu = owner("psu", account("A1", 1, 2, 300))
    walk = history(
        psu,
        ask("transactions", listed("A1-1", "A1-2", next="2"), "A1"),
        ask("transactions", listed("A1-300"), "A1", follow="2"),
    )
    found = {one.facet for one in replace(params, contract=bare).check(walk)}

    assert "complete" in found
    assert "complete" not in {evidence.facet for evidence in params.check(walk)}


def test_entries_of_tomorrow_are_not_waited_for():
    """What is dated ahead need not be shown yet, also where the zone is unknown."""
    psu = owner("psu", account("A1", -1, 1, 2))
    event = ask("transactions", listed("A1-1", "A1-2"), "A1", at=AT + timedelta(minutes=1))

    assert [] == check("transactions.page-size", psu, event, size=2)
    assert [] == check("transactions.page-size", psu, event, size=2, zone=None)


# -- lists that a consent may narrow, and pages of two days -----------------------------------
def complete(*events):
    return [one for one in says(*events) if one.startswith(("first", "complete"))]


def test_a_list_of_what_is_consented_to_is_whole():
    """After a consent to six, six are on the pages; all may be there, too."""
    some = consent(*KEYS[:6])
    for sheets in (GOOD, (KEYS[:5], KEYS[5:6]), (KEYS[:5], KEYS[5:7])):
        numbers = ",".join(str(n) for n in range(2, 2 + len(sheets)))
        assert ["first-page agrees 2", f"complete agrees {numbers}"] == complete(
            PSU, some, *pages(*sheets)
        )
    assert ["complete disagrees 2"] == complete(PSU, some, *pages(KEYS[:5]))[1:]
    assert [] == complete(PSU, consent("A1"), *pages(["A1"]))


def test_an_earlier_consent_may_narrow_a_list():
    """Of a customer who was there before only what is there is known."""
    old = replace(PSU, fresh=False)
    assert ["first-page agrees 1", "complete agrees 1,2,3"] == complete(old, *pages(*GOOD))
    assert [] == complete(old, *pages(KEYS[:3]))
    assert ["first-page disagrees 2", "complete disagrees 2"] == complete(
        old, consent(*KEYS), *pages(KEYS[:3])
    )


def test_pages_of_two_days_are_no_one_list():
    """Somebody turned the last page after midnight: what went before may have gone since.

    The first page alone shows how long a page is.
    """
    first, *later = pages(*GOOD)
    late = replace(first, at=AT.replace(hour=23, minute=59))
    early = [replace(one, at=AT.replace(day=17, hour=0)) for one in later]
    assert ["first-page agrees 1"] == says(PSU, late, *early)
    assert [] != says(PSU, late, *(replace(one, at=late.at) for one in later))


def test_the_probe_asks_again_after_a_consent():
    """A customer who was there before lacks something: the second time nothing explains it."""
    p = ruled("accounts.page-size")
    script = p.probe(p.facets()[0].scenario)
    arranged = next(script)
    owns = tuple(
        replace(account(f"{holding.resource}-{n}"), resource=holding.resource)
        for holding in arranged.holdings
        for n in range(holding.count)
    )
    call = script.send(owner("psu", *owns, fresh=False))
    assert "accounts" == call.operation
    granted = script.send(
        history(replace(ask("accounts", listed("account-0")), call=call)).events[0]
    )
    assert {"accounts": [one.key for one in owns]} == granted.arguments
    again = script.send(history(replace(consent(), call=granted)).events[0])
    assert call == again


@for_each(
    ("sizes", "said"),
    [
        ((15, 3), ["first-page agrees 1"]),
        ((15, 15, 1), ["first-page agrees 1", "full-pages agrees 2"]),
        ((30, 3), ["first-page disagrees 1"]),
        ((15, 16), ["first-page agrees 1", "full-pages disagrees 2"]),
        # Three entries may be all that lie in the range.
        ((3,), []),
    ],
)
def test_pages_of_a_range_are_as_long(sizes, said):
    """What lies in the range is not known, but how many stand on a page is."""
    arguments = {"since": (TODAY - timedelta(days=80)).isoformat()}
    out, key = [], 0
    for n, size in enumerate(sizes):
        items = [item(f"E{key + at}", on=TODAY) for at in range(size)]
        more = f"p{n + 1}" if n + 1 < len(sizes) else None
        follow = {"follow": f"p{n}"} if n else {}
        out.append(
            ask("transactions", listed(*items, next=more), "A1", arguments=arguments, **follow)
        )
        key += size
    assert said == check("transactions.page-size", owner("psu", account("A1")), *out)


# -- pages of at most so many items --------------------------------------------------
PARAMS = {"operation": "accounts", "at-most": 5}
UP_TO = kind_of("pagination").parse(
    replace(AISP.clauses[0], rule=kind_of("pagination"), params=PARAMS), AISP
)
SHORT = KEYS[:5], KEYS[5:8], KEYS[8:11], KEYS[11:]


def up_to(*events):
    return evidence(UP_TO, history(*events))


def test_pages_of_fewer_items_agree():
    """The last pages show nothing: what is left would fit one of them."""
    assert [
        "first-page agrees 1",
        "later-pages agrees 2",
        "complete agrees 1,2,3,4",
        "no-repeats agrees 1,2,3,4",
        "ends agrees 1,2,3,4",
    ] == up_to(PSU, *pages(*SHORT))
    assert ["first-page", "later-pages", "complete", "no-repeats", "ends"] == [
        facet.id for facet in UP_TO.facets()
    ]


@for_each(
    ("sheets", "red"),
    [
        ((KEYS[:6], *SHORT[1:]), ["first-page disagrees 1", "no-repeats disagrees 1,2,3,4"]),
        ((KEYS[:6], KEYS[6:11], KEYS[11:]), ["first-page disagrees 1"]),
        ((KEYS[:5], KEYS[5:11], KEYS[11:]), ["later-pages disagrees 2"]),
        ((KEYS,), ["first-page disagrees 1"]),
        ((KEYS[:3], KEYS[3:7], KEYS[8:]), ["complete disagrees 1,2,3"]),
        ((KEYS[:3], KEYS[3:7], KEYS[6:9], KEYS[9:]), ["no-repeats disagrees 1,2,3,4"]),
        ((KEYS[:1], *([key] for key in KEYS[1:])), []),
        (([], KEYS[:5], [], KEYS[5:10], KEYS[10:], []), []),
    ],
)
def test_more_items_than_a_page_may_have_are_a_violation(sheets, red):
    """Fewer are none, and neither is a page without any."""
    assert red == [line for line in up_to(PSU, *pages(*sheets)) if "disagrees" in line]


def test_pages_that_need_not_be_full_say_nothing_of_what_is_missing():
    """With no roster, a short page is as good as another; what fits one page shows nothing."""
    assert ["no-repeats agrees 1,2", "ends agrees 1,2"] == up_to(*pages(KEYS[:2], KEYS[2:4]))
    assert "first-page agrees 1" in up_to(*pages(KEYS[:3], KEYS[3:7]))
    assert [] == up_to(owner("psu", *(account(key) for key in KEYS[:5])), *pages(KEYS[:5]))
    ten = owner("psu", *(account(key) for key in KEYS[:10]))
    assert "complete disagrees 1" in up_to(ten, *pages(KEYS[:5]))
    assert not [line for line in up_to(ten, *pages(KEYS[:5])) if line.startswith("exact")]


def paged(*sizes, keys=(), last=None):
    """Return a bank whose pages have these sizes, which lists keys of 13 things, or some others."""
    listed_keys = keys or [f"psu-{n + 1}" for n in range(UP_TO.total)]
    starts = [sum(sizes[:n]) for n in range(len(sizes))]

    def bank(call):
        number = int(call.follow or 0)
        at = starts[number]
        more = str(number + 1) if number + 1 < len(sizes) else last
        return listed(*listed_keys[at : at + sizes[number]], next=more)

    return lambda: bank


@for_each(
    ("bank", "broken"),
    [
        (paged(5, 5, 3), set()),
        (paged(4, 4, 4, 1), set()),
        (paged(*[1] * 13), set()),
        (paged(6, 5, 2), {"first-page"}),
        (paged(5, 6, 2), {"later-pages"}),
        (paged(5, 5), {"complete"}),
        (paged(5, 5, 3, last="1"), {"ends"}),
        (paged(5, 5, 4, keys=[f"psu-{n}" for n in (*range(1, 14), 1)]), {"no-repeats"}),
    ],
)
def test_each_mutant_breaks_its_own_facet(bank, broken):
    """A bank may choose any size of a page up to the one that is said."""
    assert broken == violated(UP_TO, bank)
    if not broken:
        assert {Standing.CONFORMS} == {*judge(UP_TO, bank).values()}
