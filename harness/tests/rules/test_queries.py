"""The queries of a history: page walks, the resource of each key, consents."""

from dataclasses import replace
from datetime import timedelta

from account_information import (
    AISP,
    AT,
    DONE,
    FAILED,
    LOST,
    NO,
    NONE,
    PARIS,
    account,
    ask,
    card,
    consent,
    item,
    owner,
)
from rows import for_each

from assay.history import (
    Advanced,
    Authorise,
    Call,
    Malformed,
    Registered,
    Withdrawn,
)
from assay.rules import queries
from assay.rules.consents import Consents
from assay.rules.kinds.reading.filter import with_lasting
from assay.rules.queries import bare
from assay.testing import history, listed, signature

OURS = replace(AISP, zone=PARIS)
DAY = timedelta(days=1)


def signed(name, by=""):
    """Write down that a request was signed."""
    step = Authorise(subject=name, request="R", approval=None, factor="sms", by=by)
    return signature(step, at=AT)


def registered(name):
    """Write down that a creditor was registered."""
    return Registered(subject=name, argument="creditorAccount", value="DE1", since=AT)


def walked(*events):
    return [one.numbers for one in queries.page_walks(history(*events), "accounts", OURS)]


def test_pages_that_nobody_named_belong_to_no_walk():
    """A page turn out of nowhere, and one of another customer, are left out."""
    assert [(1,)] == walked(
        ask("accounts", listed(next="2")),
        ask("accounts", listed(), follow="9"),
        ask("accounts", listed(), follow="2", by="other"),
    )


@for_each(
    ("between", "same"),
    [
        ([consent("A1")], False),
        ([consent("A1", came=LOST)], False),
        ([consent("A1", came=NO)], True),
        ([consent("A1", by="other")], True),
        ([ask("balances", DONE, "A1")], True),
        ([owner("psu", account("A1"))], False),
        ([owner("other", account("A1"))], True),
        ([signed("psu")], False),
        ([signed("other")], True),
        ([signed("other", by="psu")], False),
        ([Withdrawn(subject="psu", request="R", done=True, now=AT)], False),
        ([registered("psu")], False),
        ([registered("other")], True),
        ([Advanced(now=AT)], True),
    ],
)
def test_what_may_change_a_list_ends_the_walk(between, same):
    """Page 2 of a link from before a consent is of no list: nobody knows of which."""
    events = ask("accounts", listed(next="2")), *between, ask("accounts", listed(), follow="2")
    last = sum(hasattr(event, "n") for event in events)
    assert [(1, last) if same else (1,)] == walked(*events)
    (walk, *_) = queries.page_walks(history(*events), "accounts", OURS)
    assert same is walk.ended


@for_each("change", [{"tpp": "two"}, {"consent": "C"}, {"at": AT + DAY}])
def test_a_page_of_another_party_or_day_is_of_another_list(change):
    """A TPP that follows the link of another one, or the next day, reads no second page."""
    page = ask("accounts", listed(), follow="2", **{k: v for k, v in change.items() if k != "tpp"})
    if "tpp" in change:
        page = replace(page, call=replace(page.call, by="two"))
    assert [(1,)] == walked(ask("accounts", listed(next="2")), page)


def test_a_walk_knows_how_often_its_list_may_have_changed():
    """Lists between which a consent was given are not to be compared."""
    events = ask("accounts", NONE), ask("accounts", NONE), consent("A1"), ask("accounts", NONE)
    walks = queries.page_walks(history(*events), "accounts", OURS)
    assert [0, 0, 1] == [walk.changes for walk in walks]


def test_what_lasts_around_a_list_is_not_what_another_consent_shows():
    """A list between two consents is compared with no list of another one."""
    shown = [ask("accounts", listed("A1", "A2")) for _ in range(2)]
    events = [shown[0], ask("accounts", listed("A1")), shown[1]]
    for narrowed, lasting in ((False, {"A1", "A2"}), (True, set())):
        middle = [consent("A1"), events[1], consent("A1", "A2")] if narrowed else [events[1]]
        walks = [*queries.page_walks(history(events[0], *middle, events[2]), "accounts", OURS)]
        found = {walk.numbers: {*items.items} for walk, items in with_lasting(walks, set())}
        assert lasting == found[walks[1].numbers]


def test_a_page_that_is_asked_twice_goes_on_from_one_walk_once():
    """A retry after a failure is no part of the walk that failed."""
    assert [(1, 2)] == walked(
        ask("accounts", listed(next="2")),
        ask("accounts", LOST, follow="2"),
        ask("accounts", listed(), follow="2"),
    )


def test_bent_calls_begin_no_walk():
    """A malformed call or one with credentials is no question."""
    assert [] == walked(
        ask("accounts", listed(), malformed=Malformed.JUNK_QUERY),
        ask("accounts", listed(), credentials=True),
        ask("balances", listed(), "A1"),
    )


def test_a_walk_ended_only_where_every_page_was_served():
    """A failed page, and one that names another, end nothing."""
    for last, ended in ((listed(), True), (listed(next="3"), False), (NO, False), (FAILED, False)):
        events = history(ask("accounts", listed(next="2")), ask("accounts", last, follow="2"))
        (walk,) = queries.page_walks(events, "accounts", OURS)

        assert ended is walk.ended


def test_a_walk_knows_its_keys_and_whether_one_is_missing():
    """Items without a key count as items all the same."""
    (walk,) = queries.page_walks(history(ask("accounts", listed("A1", item()))), "accounts", OURS)

    assert ({"A1"}, True, 2) == (walk.keys, walk.has_unnamed_items, len(walk.items))


def test_the_roster_says_what_a_thing_is_before_any_list_does():
    """A list is believed only where the roster is silent, and about known kinds."""
    events = history(
        owner("psu", account("A1")),
        ask("accounts", listed(item("A1", resource="card"), item("C1", resource="card"))),
        ask("accounts", listed(item("X1", resource="vault"), item("X2"), item(resource="card"))),
    )

    assert {"A1": "account", "C1": "card"} == queries.resources_by_key(events, AISP)


# -- consents -----------------------------------------------------------------------
def consents(*events):
    state = Consents(grant=AISP.operations["consents"])
    for event in history(*events).exchanges:
        state.note(event)
    return sorted(state.certain("psu")), sorted(state.possible("psu"))


@for_each(
    ("events", "certain", "possible"),
    [
        ([], [], []),
        ([consent("A1")], ["A1"], ["A1"]),
        ([consent("A1"), consent("A2")], ["A2"], ["A1", "A2"]),
        ([consent("A1"), consent("A2", came=NO)], ["A1"], ["A1"]),
        ([consent("A1"), consent("A2", came=LOST)], [], ["A1", "A2"]),
        ([consent("A1", "A2"), consent("A2", came=FAILED)], ["A2"], ["A1", "A2"]),
        ([consent("A1", malformed=Malformed.EMPTY)], [], ["A1"]),
        ([consent("A1", by="other")], [], []),
        ([ask("consents", DONE, arguments={"accounts": "A1"})], [], ["A1"]),
        ([consent("A1"), consent("A2", "A2")], [], ["A1", "A2"]),
        ([ask("accounts", DONE)], [], []),
    ],
)
def test_consents_are_certain_or_possible(events, certain, possible):
    """The last consent that was accepted is certain; any that was not refused is possible."""
    assert (certain, possible) == consents(*events)


def test_without_a_grant_there_are_no_consents():
    """An interface may have no operation that transmits consents."""
    state = Consents(grant=None)
    (event,) = history(consent("A1")).exchanges

    assert not state.note(event)
    assert card("C1").key not in state.possible("psu")


def test_a_call_without_an_argument_that_it_must_have_is_not_bare():
    """The contract says of `arguments` that every call has them."""
    operation = replace(AISP.operations["balances"], arguments=("bookingStatus",))
    call = Call(operation="balances", subject="psu", arguments={"iban": "A1"})
    assert bare(call, operation)
    assert bare(replace(call, without=("other",)), operation)
    assert not bare(replace(call, without=("bookingStatus",)), operation)
