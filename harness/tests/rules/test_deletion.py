"""`deletion`: reads and lists before and after something is deleted: literal histories."""

from dataclasses import replace
from pathlib import Path

from rows import for_each

from assay.history import Advanced, Call, Item, State, Subject
from assay.testing import (
    START,
    accepted,
    evidence,
    exchange,
    failed,
    history,
    kind_in,
    listed,
    lost,
    refused,
)

CONTRACT = Path(__file__).parents[1] / "general_kinds" / "register.yaml"
ADA, BOB = (Subject(name=name, now=START, owns=()) for name in ("ada", "bob"))
GONE, NO_CONTENT, ENDED = refused(status=404), accepted(status=204), State.ENDED


def shown(key="B1", state=None):
    return accepted(Item(key=key, state=state))


def call(operation, answer, key="B1", *, by="ada", **how):
    """Write down a call about something."""
    return exchange(Call(operation=operation, subject=by, arguments={"id": key}, **how), answer)


def add(key="B1", by="ada"):
    return exchange(Call(operation="add", subject=by), shown(key))


def read(answer=None, key="B1", **how):
    return call("show", answer or shown(key), key, **how)


def remove(answer=NO_CONTENT, key="B1", **how):
    return call("remove", answer, key, **how)


def by_another_tpp(event):
    return replace(event, call=replace(event.call, by="other"))


def listing(*keys, more=None, **how):
    items = [Item(key=key) if isinstance(key, str) else key for key in keys]
    return exchange(
        Call(operation="beneficiaries", subject="ada", **how), listed(*items, next=more)
    )


def says(*events, rule="gone", facet=""):
    """Return what a clause says, without that a deletion was accepted."""
    kind = replace(kind_in(CONTRACT, rule), refusal_statuses=())
    lines = evidence(kind, history(ADA, BOB, *events))
    return [line for line in lines if line != "accepted agrees 1,2,3" and facet in line]


BEFORE = add(), read(), remove()


@for_each(
    ("after", "judged"),
    [
        (GONE, "agrees"),
        (refused(status=403), "agrees"),
        (shown(), "disagrees"),
        (failed(status=500), "disagrees"),
        # It says itself that it is deleted; whether it must be refused, `shown-as-ended` says.
        (shown(state=ENDED), "unclear"),
        (accepted(), "unclear"),
        (refused(status=401), "unclear"),
        (refused(status=429), "unclear"),
        (lost(), "unclear"),
    ],
)
def test_what_is_deleted_cannot_be_read(after, judged):
    """A refusal counts for what it is about, and only beside a read that showed the thing."""
    assert [f"read-refused {judged} 1,2,3,4"] == says(*BEFORE, read(after))


@for_each(
    ("after", "judged"),
    [
        (shown(state=ENDED), "agrees"),
        (shown(state=State.OPEN), "disagrees"),
        (GONE, "disagrees"),
        (shown(), "unclear"),
        (failed(), "unclear"),
    ],
)
def test_what_is_deleted_is_shown_as_ended_where_that_is_said(after, judged):
    """A thing whose state is not shown may be deleted."""
    assert [f"read-ended {judged} 1,2,3,4"] == says(*BEFORE, read(after), rule="shown")


@for_each(
    "events",
    [
        # It was never seen, or its deletion may have failed, or is done later, or is to be signed.
        (add(), remove(), read(GONE)),
        (add(), read(), remove(lost()), read()),
        (add(), read(), remove(failed()), read()),
        (add(), read(), remove(accepted(status=202)), read()),
        (add(), read(), remove(shown(state=State.OPEN)), read()),
        # Another change may have made it again; another TPP may delete it; time passed.
        (*BEFORE, call("change", shown()), read()),
        (add(), read(), remove(by="ada"), Advanced(now=START), read()),
        (read(), remove(), read()),
        # Two calls made one thing.
        (add(), read(), add(), remove(), read()),
    ],
)
def test_what_may_still_be_there_is_not_judged(events):
    """The accepted deletion may be all that is certain, or not even that; no violation follows."""
    assert [] == [line for line in says(*events) if "disagrees" in line]


def test_a_history_that_does_not_begin_with_the_customer_is_uncertain():
    """What was made is known, but somebody else may have made it again."""
    kind = replace(kind_in(CONTRACT, "gone"), refusal_statuses=())
    lines = evidence(kind, history(*BEFORE, read()))
    assert ["accepted agrees 1,2,3", "read-refused unclear 1,2,3,4"] == lines


@for_each(
    ("second", "judged"),
    [
        (GONE, ["repeated agrees 1,2,3,4"]),
        (NO_CONTENT, ["repeated agrees 1,2,3,4"]),
        (failed(status=500), ["repeated disagrees 1,2,3,4"]),
        (failed(status=503), []),
        (lost(), []),
        (refused(status=401), []),
    ],
)
def test_deleting_again_causes_no_server_error(second, judged):
    """Whether it is refused is open; a gateway that has no answer is no server error of the bank."""
    assert judged == says(*BEFORE, remove(second))


@for_each(
    ("answer", "then", "judged"),
    [
        (refused(status=403), shown(), ["accepted disagrees 1,2,3,4"]),
        (refused(status=403), GONE, []),
        (refused(status=409), shown(), []),
        (refused(status=429), shown(), []),
        (refused(status=401), shown(), []),
    ],
)
def test_a_refused_deletion_of_what_is_there_is_a_violation(answer, then, judged):
    """Not where it was gone already, or where another call or a version may explain it."""
    assert judged == says(add(), read(), remove(answer), read(then))


@for_each(
    ("before", "after", "judged"),
    [
        (listing("B1", "B2"), listing("B2"), ["unlisted agrees 1,2,4,5"]),
        (listing("B2"), listing("B2"), []),
        (listing("B1"), listing("B1"), ["unlisted disagrees 1,2,4,5"]),
        (listing("B2"), listing("B1"), ["unlisted disagrees 1,2,4,5"]),
        # It may be on the next page; a list of deleted things may say so.
        (listing("B1"), listing("B2", more="2"), []),
        (listing("B1"), listing(Item(key="B1", state=ENDED)), ["unlisted unclear 1,2,4,5"]),
        (listing("B1"), listing("B2", mode="m"), []),
    ],
)
def test_no_list_shows_what_is_deleted(before, after, judged):
    """That it is missing counts where an earlier list showed it, and where the list is whole."""
    assert judged == says(add(), read(), before, remove(), after, facet="unlisted")


@for_each(
    ("then", "judged"),
    [
        (shown("B2"), "agrees"),
        (GONE, "disagrees"),
        (shown("B2", state=ENDED), "disagrees"),
        (lost(), None),
        (refused(status=401), None),
        (refused(status=429), None),
    ],
)
def test_what_nobody_deleted_stays(then, judged):
    """Of another customer, also where the first one tried to delete it, whatever the answer was."""
    seen = add("B2", "bob"), read(key="B2", by="bob"), add(), remove()
    last = read(then, "B2", by="bob")
    for tried in ([], [remove(key="B2")], [remove(GONE, "B2")], [remove(lost(), "B2")]):
        lines = says(*seen, *tried, last, facet="others-stay")
        numbers = f"1,2,4,{5 + len(tried)}"
        assert ([f"others-stay {judged} {numbers}"] if judged else []) == lines


def test_what_may_be_gone_for_another_reason_is_not_judged():
    """Its own customer deleted it, another TPP may have, it was never seen, or time passed."""
    first = add("B2"), read(key="B2"), add(), remove()
    for events in (
        (*first, remove(key="B2"), read(GONE, "B2")),
        (*first, remove(lost(), "B2"), read(GONE, "B2")),
        (*first, by_another_tpp(remove(key="B2")), read(GONE, "B2")),
        (add("B2"), add(), remove(), read(GONE, "B2")),
        (*first[:3], Advanced(now=START), first[3], read(GONE, "B2")),
    ):
        assert [] == says(*events, facet="others-stay")


def test_the_names_in_a_clause_are_checked():
    """Something deletes and shows what is deleted, and a list is one."""
    kind = type(kind_in(CONTRACT, "gone"))
    operations = {"o": {"makes": "r"}}
    raw = {"resources": {"r": {}}, "operations": operations}
    given = {"request": "r", "list": "o"}
    assert [
        "no operation ends 'r'",
        "no operation shows 'r'",
        "the operation 'o' lists nothing",
    ] == [what for _, what, _ in kind.references((), given, raw)]
