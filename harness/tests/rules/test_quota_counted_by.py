"""Limits that several operations share, or that each item has: literal histories."""

from datetime import timedelta
from pathlib import Path

from assay.history import Call, Owned, Subject
from assay.rules.queries import perhaps_exhausted
from assay.rules.rule import facts_of
from assay.testing import START, accepted, evidence, exchange, history, kind_in, refused

COUNTED = Path(__file__).parents[1] / "general_kinds" / "counted.yaml"
PSU = Subject(
    name="psu", now=START, owns=tuple(Owned(key=key, resource="account") for key in ("A", "B"))
)
MINUTE = timedelta(minutes=1)
NO = refused(status=429)


def read(operation, answer=accepted("A"), *, at=START, item=""):  # noqa: B008 -- frozen
    """Write down a reading of a list, or of the entries of an account."""
    arguments = {"number": item} if item else {}
    call = Call(operation=operation, subject="psu", arguments=arguments)
    return exchange(call, answer, at=at + timedelta(seconds=1))


def says(clause, *events):
    """Return what a clause says of a history that is not that a call was served as it should be."""
    every = evidence(kind_in(COUNTED, clause), history(PSU, *events))
    return [each for each in every if "-served agrees" not in each]


def test_what_operations_share_is_used_up_by_any_of_them():
    """After five calls of one operation the other one is refused, and served in another minute."""
    later = read("favourites", at=START + 3 * MINUTE)
    five = [read("accounts")] * 5

    assert ["shared agrees 6", "favourites-next-minute agrees 7"] == says(
        "together", *five, read("favourites", NO), later
    )
    assert ["shared disagrees 6"] == says("together", *five, read("favourites"))
    assert ["accounts-refused agrees 6"] == says("together", *five, read("accounts", NO))


def test_calls_of_both_count():
    """What a mixture uses up is refused by the operation that was called before."""
    mixed = [*[read("accounts")] * 3, *[read("favourites")] * 2]

    assert ["favourites-refused disagrees 6"] == says("together", *mixed, read("favourites"))
    assert [] == says("together", *mixed[1:], read("favourites"))


def test_a_refusal_before_the_limit_is_a_violation():
    """The count of both is known."""
    assert ["favourites-served disagrees 3"] == says(
        "together", read("accounts"), read("favourites"), read("favourites", NO)
    )


def test_each_item_has_a_count():
    """Three calls about one account leave another one its own."""
    three = [read("entries", item="A")] * 3

    assert ["entries-refused agrees 4"] == says("each", *three, read("entries", NO, item="A"))
    assert ["per-item agrees 4"] == says("each", *three, read("entries", item="B"))
    assert ["per-item disagrees 4"] == says(
        "each",
        *three,
        read("entries", NO, item="B"),
        read("entries", at=START + MINUTE * 3, item="B"),
    )


def test_a_minute_may_be_one_of_the_clock_or_not():
    """Calls in the minute before count only if they do by both readings."""
    calls = [read("entries", at=START + timedelta(seconds=50), item="A")] * 3

    assert [] == says("each", *calls, read("entries", at=START + timedelta(seconds=65), item="A"))
    assert ["entries-refused disagrees 4"] == says(
        "each", *calls, read("entries", at=START + timedelta(seconds=51), item="A")
    )


def test_others_know_that_a_limit_is_shared():
    """Calls of the other operation may have used it up, too."""
    contract = kind_in(COUNTED, "together").contract
    calls = history(PSU, *[read("accounts")] * 5, read("favourites"), read("entries", item="A"))

    assert {"accounts", "favourites"} == facts_of(contract).counted_together("favourites")
    assert {"entries"} == facts_of(contract).counted_together("entries")
    assert {6} == perhaps_exhausted(contract, "favourites", calls)


def test_the_tpp_owes_the_shared_limit():
    """The sixth call is one too many, whichever operation it is of."""
    calls = [*[read("accounts")] * 5, read("favourites")]
    found = evidence(kind_in(COUNTED, "together"), history(PSU, *calls), tpp=True)

    assert "not-exceeded disagrees 1,2,3,4,5,6" == found[-1]
    assert 5 == sum("agrees" in each and "disagrees" not in each for each in found)
