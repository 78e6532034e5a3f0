"""`own-data` judges whose every item is, as far as anybody knows."""

from dataclasses import replace
from pathlib import Path

from account_information import AT, FAILED, NO, account, ask, card, check, item, owner
from rows import for_each

from assay.files.load import loads
from assay.history import Call, Malformed, Owned, Subject
from assay.parsing.parse import parse_document
from assay.rules.rule import clauses_of
from assay.testing import START, accepted, evidence, exchange, history, kind_in, listed, refused
from assay.testing import history as literal

PSU = owner("psu", account("A1", 1, 2), account("A2", 3), card("C1", 1))
OTHER = owner("other", account("B1", 1), card("D1", 2))


def says(*events):
    return check("own-data", PSU, OTHER, *events)


@for_each(
    ("shown", "agreement"),
    [
        (listed(item("A1", resource="account")), "agrees"),
        (listed("A1"), "agrees"),
        (listed("A1", "ELSE"), "agrees"),
        (listed("A1", "B1"), "disagrees"),
        (listed("B1"), "disagrees"),
    ],
)
def test_a_list_shows_what_is_the_customers_own(shown, agreement):
    """What nobody is known to own may be the customer's."""
    assert [f"account {agreement} 1"] == says(ask("accounts", shown))
    assert [f"account {agreement} 2"] == says(
        ask("accounts", listed(next="2")), ask("accounts", shown, follow="2")
    )


@for_each("came", [listed(), listed("ELSE"), listed(item()), NO, FAILED, refused("B1")])
def test_a_list_of_nothing_that_is_known_says_nothing(came):
    """A refusal is another clause's business, also one that shows something."""
    assert [] == says(ask("accounts", came))


def test_where_there_is_nobody_else_nothing_can_be_anothers():
    """It could not have come out otherwise."""
    assert [] == check("own-data", PSU, ask("accounts", listed("A1")))
    only = owner("psu", account("A1", 1))
    assert [] == check("own-data", only, ask("balances", listed(item(iban="A1")), "A1"))


def test_what_two_own_is_anothers_for_neither():
    """A joint account stands in both lists."""
    other = owner("other", account("A1", 1, 2), account("B1", 1))

    assert ["account agrees 1", "account agrees 2"] == check(
        "own-data",
        PSU,
        other,
        ask("accounts", listed("A1")),
        ask("accounts", listed("A1", "B1"), by="other"),
    )


def test_of_a_customer_who_was_there_before_not_everything_is_known():
    """An account of another may be held by both."""
    psu = owner("psu", *PSU.owns, fresh=False)

    assert ["account unclear 1", "account agrees 2"] == check(
        "own-data", psu, OTHER, ask("accounts", listed("A1", "B1")), ask("accounts", listed("A1"))
    )


@for_each(
    ("shown", "agreement"),
    [
        (listed(item(iban="A1")), "agrees"),
        (listed(item(iban="A 1")), "agrees"),
        (listed(item(iban="A1"), item(iban="A2")), "disagrees"),
        (listed(item(iban="B1")), "disagrees"),
        (listed(item(iban="B 1")), "disagrees"),
    ],
)
def test_a_report_is_of_what_was_asked_about(shown, agreement):
    """Neither another one of the customer's, nor another customer's."""
    assert [f"balance {agreement} 1"] == says(ask("balances", shown, "A1"))


@for_each("shown", [item(), item(iban="XX"), item(iban=7), item("unknown")])
def test_an_item_that_does_not_say_whose_it_is_is_not_judged(shown):
    """A masked IBAN, or the other side of a transfer, accuses nobody."""
    assert [] == says(ask("transactions", listed(shown), "A1"))


def test_an_entry_is_known_by_its_key():
    """Where entries of two things can have one key, the key tells nothing."""
    assert ["transaction agrees 1"] == says(ask("transactions", listed("A1-1"), "A1"))
    assert ["transaction disagrees 1"] == says(ask("transactions", listed("A1-1", "A2-3"), "A1"))
    assert ["slip disagrees 1"] == says(ask("transactions", listed("D1-2"), "C1"))

    entries = account("A1", 1).entries
    twins = (
        owner("psu", account("A1", 1), account("A2", 2)),
        owner("other", type(card())(key="D1", resource="card", entries=entries)),
    )
    assert [] == check("own-data", *twins, ask("transactions", listed("A2-2"), "A1"))

    old = owner("psu", *PSU.owns, fresh=False, now=AT)
    assert [] == check("own-data", old, OTHER, ask("transactions", listed("A2-3"), "A1"))


FIRST = ask("accounts", listed("A1", next="2"))
ENTRIES = ask("transactions", listed("A1-1", next="2"), "A1")


@for_each(
    ("shown", "says"),
    [
        (listed("A2"), ["account disagrees 2"]),
        (listed("B1"), ["account agrees 2"]),
        (listed(), []),
        (NO, []),
        (FAILED, []),
    ],
)
def test_a_link_to_a_page_of_a_list_shows_others_nothing(shown, says):
    """Their own page, an empty one and a refusal are all right."""
    followed = ask("accounts", shown, by="other", follow="2")

    assert ["account agrees 1", *says] == check("own-data", PSU, OTHER, FIRST, followed)


@for_each(
    ("shown", "says"),
    [
        (listed("A1-2"), ["transaction disagrees 2"]),
        (listed("B1-1"), ["transaction agrees 2"]),
        (listed("ELSE"), []),
        (NO, []),
    ],
)
def test_a_link_to_a_page_of_a_report_shows_others_nothing(shown, says):
    """What counts is who owns the entries, not what the link is about."""
    followed = ask("transactions", shown, "A1", by="other", follow="2")

    assert ["transaction agrees 1", *says] == check("own-data", PSU, OTHER, ENTRIES, followed)


def test_the_same_link_may_be_given_to_two_customers():
    """Each follows an own one: it has only the number of the page."""
    theirs = ask("accounts", listed("B1", next="2"), by="other")
    followed = ask("accounts", listed("D1"), by="other", follow="2")

    told = check("own-data", PSU, OTHER, FIRST, theirs, followed)
    assert ["account agrees 1", "account agrees 2", "card agrees 3"] == told


# -- calls about what others own --------------------------------------------------------
DESK = Path(__file__).parents[1] / "general_kinds" / "desk.yaml"


def foreign(*events, joint=False):
    """Return what the desk's clause says of calls about others' accounts."""
    owners = [
        Subject(name=name, now=START, owns=(Owned(key=key, resource="account"),), fresh=not joint)
        for name, key in (("psu", "A"), ("other", "B"))
    ]
    every = evidence(kind_in(DESK, "own"), literal(*owners, *events))
    return [each for each in every if "foreign" in each]


def entries(answer, key, by="psu", **changes):
    """Write down a call for the entries of an account."""
    call = Call(operation="entries", subject=by, arguments={"number": key})
    return exchange(replace(call, **changes), answer)


def test_a_call_about_anothers_thing_is_refused_beside_the_owners():
    """Without the owner's own call a refusal shows nothing; served, it is a violation by itself."""
    own = entries(accepted("B-1"), "B", "other")

    assert [] == foreign(entries(refused(), "B"))
    assert ["entries-foreign agrees 1,2"] == foreign(own, entries(refused(), "B"))
    assert ["entries-foreign disagrees 1,2"] == foreign(own, entries(accepted("B-1"), "B"))
    assert ["entries-foreign disagrees 1"] == foreign(entries(accepted("B-1"), "B"))
    assert ["entries-foreign unclear 1,2"] == foreign(own, entries(refused(status=401), "B"))


def test_what_may_be_the_callers_is_not_judged():
    """An own account, one that is unknown, a malformed call; and a joint one may be known to neither."""
    own = entries(accepted("B-1"), "B", "other")
    malformed = entries(accepted("B-1"), "B", malformed=Malformed.BAD_IDENTIFIER)

    assert [] == foreign(own, entries(accepted("C-1"), "C"), malformed)
    assert ["entries-foreign unclear 1,2"] == foreign(
        own, entries(accepted("B-1"), "B"), joint=True
    )


TWO_LISTS = """\
resources:
  account: {says: an account, key: iban, fields: [iban]}
  entry: {says: an entry, of: account, key: id, fields: [id, iban]}
operations:
  booked: {method: GET, path: "/accounts/{iban}/booked", lists: [entry], about: iban}
  pending: {method: GET, path: "/accounts/{iban}/pending", lists: [entry], about: iban}
rules:
  - {id: own, kind: own-data, operations: [booked, pending], field: iban, says: So., source: {section: S, line: 1}}
"""


def test_two_operations_that_list_one_resource_have_a_facet_each():
    """Each is violated by its own answers, and has an id of its own."""
    beginning = (
        "assay: 1\ncontract: two\ntitle: T\nversion: '1'\ninterface: i\ndocument: d\nzone: UTC\n"
    )
    (clause,) = clauses_of(parse_document(loads(beginning + TWO_LISTS, "two.yaml")))
    assert ["booked-entry", "pending-entry"] == [facet.id for facet in clause.facets()]
    call = Call(operation="pending", subject="psu", arguments={"iban": "A1"})
    foreign = exchange(call, listed(item("E1", resource="entry", iban="B1")))
    assert ["pending-entry disagrees 1"] == evidence(clause, history(PSU, OTHER, foreign))
