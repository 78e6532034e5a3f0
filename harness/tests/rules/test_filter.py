"""What an argument or a range of days selects from a list: literal histories."""

from dataclasses import replace
from datetime import date
from pathlib import Path

from rows import for_each

from assay.history import Accepted, Call, Item
from assay.history.events import Masked
from assay.testing import evidence, exchange, history, kind_in, listed, play, refused

DESK = Path(__file__).parents[1] / "general_kinds" / "desk.yaml"
KIND = kind_in(DESK, "selected")


def entry(key, word=None, day=14):
    """Return an entry with a status and a day of September."""
    fields = {} if word is None else {"status": word}
    return Item(key=key, on=date(2026, 9, day), fields=fields)


A, B, C = entry("A", "booked"), entry("B", "pending"), entry("C", "booked", 15)


def asked(answer, status="both", **changes):
    """Write down a call for entries with a status; other arguments by name."""
    names = {"since": "from", "until": "to"}
    sent = {"number": "N", "status": status}
    sent |= {names[name]: changes.pop(name) for name in ("since", "until") if name in changes}
    call = Call(operation="entries", subject="psu", arguments=sent)
    return exchange(replace(call, **changes), answer)


def says(*events, facet=""):
    """Return what the clause says of a history, or of one facet."""
    every = evidence(KIND, history(*events))
    return [each for each in every if each.startswith(facet)]


EVERY = asked(listed(A, B, C))


def test_nothing_else_is_shown():
    """One item of another kind is enough, on any page; an item without the field says nothing."""
    assert ["booked-only agrees 1"] == says(asked(listed(A, C), "booked"))
    assert ["booked-only disagrees 1"] == says(asked(listed(A, B), "booked"))
    assert [] == says(asked(listed(entry("D")), "booked"))
    assert [] == says(asked(listed(entry("D", Masked("status-1"))), "booked"))
    assert [] == says(asked(listed(A), "other"), asked(refused(), "booked"))
    more = asked(listed(A, next="p2"), "booked")
    rest = asked(listed(B), "booked", follow="p2")
    assert ["booked-only disagrees 1,2"] == says(more, rest)


def test_an_empty_list_agrees_where_others_could_have_been_shown():
    """Without others, nothing could have been wrong."""
    empty = asked(listed(), "pending")
    booked = asked(listed(A))

    assert [] == says(empty)
    assert ["pending-only agrees 1,2,3"] == says(booked, empty, booked, facet="pending")


def test_nothing_is_left_out():
    """What the lists before and after show was there in between."""
    short = asked(listed(A), "booked")

    assert [] == says(short, EVERY, facet="booked-all")
    assert [] == says(EVERY, short, facet="booked-all")
    assert ["booked-all disagrees 1,2,3"] == says(EVERY, short, EVERY, facet="booked-all")
    assert ["booked-all agrees 1,2,3"] == says(
        EVERY, asked(listed(A, C), "booked"), EVERY, facet="booked-all"
    )


@for_each(
    ("before", "between", "after"),
    [
        (EVERY, asked(listed(A, next="p2"), "booked"), EVERY),
        (EVERY, asked(listed(A, entry(None, "booked")), "booked"), EVERY),
        (asked(listed(A, entry("C", "pending", 15))), asked(listed(A), "booked"), EVERY),
        (EVERY, asked(listed(A), "booked", subject="other"), EVERY),
        (EVERY, asked(listed(A), "booked", since="2026-09-14"), EVERY),
        (EVERY, asked(listed(A), "booked", by="other"), EVERY),
    ],
)
def test_what_may_be_missing(before, between, after):
    """Half a list, items without a key, what changed meanwhile, and another question prove nothing."""
    assert [] == [each for each in says(before, between, after) if "booked-all disagrees" in each]


@for_each(
    ("change", "shown", "evidence"),
    [
        ({"since": "2026-09-14"}, (A, B, C), ["since agrees 1,2,3"]),
        ({"since": "2026-09-14"}, (C,), ["since disagrees 1,2,3"]),
        ({"until": "2026-09-15"}, (A, B), ["until agrees 1,2,3"]),
        ({"until": "2026-09-15"}, (A, B, C), ["until disagrees 2"]),
        ({"until": "2026-09-20"}, (A, B, C), []),
        ({"since": "2026-09-14", "until": "2026-09-15"}, (), []),
        ({"since": "soon"}, (), []),
    ],
)
def test_the_days_of_a_range(change, shown, evidence):
    """The first day is included and the last one is not; a range with both ends is left open."""
    found = says(EVERY, asked(listed(*shown), **change), EVERY)

    assert evidence == [each for each in found if "both" not in each]


def test_a_probe_reads_each_value_between_others():
    """So that what each selects is known before and after it."""
    calls = play(KIND, "values", lambda call: listed(A, B)).calls
    dated = play(KIND, "since", lambda call: listed(A, B)).calls

    assert ["both", "booked", "pending", "both", "booked", "pending", "both"] == [
        call.arguments["status"] for call in calls
    ]
    assert [False, True, False] == ["from" in call.arguments for call in dated]
    assert isinstance(listed().outcome, Accepted)


def test_a_range_begins_on_a_day_that_has_entries():
    """The entries of a customer who was there before may all be far from today."""
    old = [entry(f"O{day}", "booked", day) for day in (1, 3, 5)]
    dated = play(KIND, "since", lambda call: listed(*old)).calls
    assert [None, "2026-09-03", None] == [call.arguments.get("from") for call in dated]
    bare = play(KIND, "since", lambda call: listed()).calls
    assert bare[1].arguments["from"] not in {None, "2026-09-03"}
