"""The words of a status, and how they may follow one another: literal histories."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from rows import for_each

from assay.history import Authorise, Call, Code, Decision, Ending, Item, Malformed
from assay.history.events import Masked
from assay.testing import (
    START,
    accepted,
    evidence,
    exchange,
    history,
    kind_in,
    refused,
    signature,
)

DESK = Path(__file__).parents[1] / "general_kinds" / "desk.yaml"
DAY = timedelta(days=1)


def shown(word, key="O-1", operation="show", *, at=None, ms=0.0, **changes):
    """Write down an answer that shows a word; one about a known order may lack its key."""
    fields = {} if word is None else {"status": word}
    item = Item(key=None if operation == "show" else key, fields=fields)
    arguments = {} if operation == "order" else {"orderId": key}
    call = Call(operation=operation, subject="psu", arguments=arguments)
    return replace(exchange(replace(call, **changes), accepted(item), at=at), ms=ms)


def made(word, **changes):
    """Write down an order that is made."""
    return shown(word, operation="order", **changes)


def says(*events, facet=""):
    """Return what the clause says of a history, or what it says of one facet."""
    every = evidence(kind_in(DESK, "order-status"), history(*events))
    return [each for each in every if each.startswith(facet)]


def test_a_new_order_shows_the_first_word():
    """The answer that makes it counts; later, it may have had the word before."""
    assert ["first agrees 1"] == says(made("received"), facet="first")
    assert ["first disagrees 1"] == says(made("accepted"), facet="first")
    assert ["first disagrees 1"] == says(made("waiting"), facet="first")
    assert [] == says(made(None), shown("waiting"), facet="first")
    assert [] == says(made("refused"), facet="first")
    assert [] == says(shown("received"), facet="first")


def test_without_a_word_in_the_answer_the_first_reading_counts():
    """It agrees if it is a first word, and what such a word can become shows nothing."""
    assert ["first agrees 2"] == says(made(None), shown("received"), facet="first")
    assert [] == says(made(None), shown("accepted"), facet="first")


def signing(ending=Ending.CONFIRMED, **step):
    """Write down a signature of the order."""
    asked = Authorise(subject="psu", request="O-1", approval="https://desk.example/s", **step)
    return signature(asked, ending=ending)


def test_what_was_signed_shows_it():
    """The word after the signature is one of the signed ones, or one that can follow them."""
    assert ["signed agrees 2,3"] == says(
        made("received"), signing(), shown("accepted"), facet="signed"
    )
    assert ["signed agrees 2,3"] == says(made("received"), signing(), shown("done"), facet="signed")
    assert ["signed disagrees 2,3"] == says(
        made("received"), signing(), shown("received"), facet="signed"
    )
    assert ["signed disagrees 2,3"] == says(
        made("received"), signing(), shown("refused"), facet="signed"
    )


@for_each(
    "event",
    [
        signing(Ending.STOPPED),
        signing(Ending.REFUSED, decision=Decision.REFUSE),
        signing(code=Code.WRONG),
        signing(typed=Code.EMPTY),
        signing(forced=True),
        signing(by="another"),
        signing(linger=(DAY,)),
        signing(pace=DAY),
    ],
)
def test_what_is_no_plain_signature_shows_nothing(event):
    """It may not have been accepted."""
    assert [] == says(made("received"), event, shown("received"), facet="signed")
    assert [] == says(made("received"), event, signing(), shown("received"), facet="signed")


def test_what_the_tpp_ended_shows_it():
    """The word after an accepted end is one of the ended ones; after a refused one, any."""
    end = exchange(
        Call(operation="call-off", subject="psu", arguments={"orderId": "O-1"}), accepted()
    )
    no = exchange(
        Call(operation="call-off", subject="psu", arguments={"orderId": "O-1"}), refused()
    )
    assert ["ended agrees 2,3"] == says(made("received"), end, shown("cancelled"), facet="ended")
    assert ["ended disagrees 2,3"] == says(made("received"), end, shown("refused"), facet="ended")
    assert [] == says(made("received"), no, shown("refused"), facet="ended")


def test_a_repeated_call_may_be_answered_as_the_first_time():
    """Its answer says what the order was, and not what it is."""
    events = made("received"), signing(), shown("done"), made("received"), shown("done")
    assert not [line for line in says(*events) if "disagrees" in line]


def test_no_other_word_is_shown():
    """An unknown word is a violation of its own, and has no place in the order."""
    assert ["words agrees 1", "words disagrees 2", "words agrees 3"] == says(
        made("received"), shown("gone"), shown("received"), facet="words"
    )
    assert [] == says(made("received"), shown("gone"), shown("done"), facet="order disagrees")


@for_each(
    ("before", "after", "judged"),
    [
        ("received", "accepted", ["order agrees 1,2"]),
        ("received", "done", ["order agrees 1,2"]),
        ("accepted", "received", ["order disagrees 1,2"]),
        ("accepted", "refused", ["order disagrees 1,2"]),
        ("accepted", "accepted", []),
        ("done", "received", ["final disagrees 1,2"]),
        ("done", "done", ["final agrees 1,2"]),
        ("cancelled", "refused", ["final disagrees 1,2"]),
    ],
)
def test_what_may_follow(before, after, judged):
    """A word may be passed between two readings; a final one stays."""
    assert judged == [each for each in says(shown(before), shown(after)) if "words" not in each]


def test_a_final_word_on_a_later_day():
    """It lasts, counted from the first reading of it."""
    noon = START + timedelta(hours=1)
    late = shown("done", at=noon + DAY)

    assert ["final-later agrees 1,2"] == says(shown("done", at=noon), late, facet="final")
    assert ["final agrees 1,2", "final-later disagrees 2,3"] == says(
        shown("done", at=noon),
        shown("done", at=noon + timedelta(hours=1)),
        shown("accepted", at=noon + DAY),
        facet="final",
    )


def test_orders_are_followed_apart():
    """What another order shows says nothing, and neither does what is no reading of the bank's."""
    other = shown("received", "O-2")
    refusal = exchange(
        Call(operation="show", subject="psu", arguments={"orderId": "O-1"}), refused()
    )

    assert [] == says(shown("done"), other, facet="final")
    assert [] == says(shown("done"), refusal, facet="final")
    assert [] == says(shown("done"), shown("received", malformed=Malformed.EMPTY), facet="final")
    assert [] == says(shown("done"), shown(Masked("status-1")), shown(None), facet="final")


def test_the_end_of_an_order_is_a_reading_too():
    """The answer that ends it shows the word."""
    ended = shown("cancelled", operation="call-off")

    assert ["order agrees 1,2"] == says(made("received"), ended, facet="order")


def test_overlapping_calls_have_no_order():
    """A later call may have been answered first."""
    slow = shown("done", at=START + timedelta(seconds=10), ms=2000.0)
    inside, after = (shown("accepted", at=START + timedelta(seconds=s)) for s in (11, 13))

    assert [] == says(slow, inside, facet="final")
    assert ["final disagrees 1,2"] == says(slow, after, facet="final")


LISTED = """\
    resource: entry
    field: status
    transitions: {pending: [booked]}
    final: [booked]
"""


def test_a_listed_resource_is_followed_by_its_key(tmp_path):
    """What is not made has no first word; a final one is judged day by day."""
    text = DESK.read_text("utf-8")
    path = tmp_path / "desk.yaml"
    path.write_text(text[: text.rindex("    resource: order")] + LISTED)
    kind = kind_in(path, "order-status")

    def listing(*words, days=0):
        items = [Item(key=f"E-{n}", fields={"status": word}) for n, word in enumerate(words)]
        call = Call(operation="entries", subject="psu", arguments={"number": "A"})
        return exchange(call, accepted(*items), at=START + DAY * days)

    assert ["words", "order", "final-later"] == [facet.id for facet in kind.facets()]
    found = evidence(
        kind, history(listing("pending", "booked", days=1), listing("booked", "pending", days=2))
    )
    assert ["order agrees 1,2", "final-later disagrees 1,2"] == [
        each for each in found if "words" not in each
    ]
