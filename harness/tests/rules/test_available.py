"""`available` judges answers to valid calls, other names, and malformed calls."""

from dataclasses import replace
from datetime import timedelta

from account_information import (
    AT,
    BROKEN,
    DONE,
    FAILED,
    GONE,
    LOST,
    NO,
    NONE,
    ODD,
    UNKNOWN,
    account,
    ask,
    card,
    check,
    consent,
    item,
    owner,
    ruled,
)
from rows import for_each

from assay.history import Accepted, Call, Lacking, Malformed, Owned
from assay.testing import accepted, evidence, exchange, history, kind_in, listed, refused

PSU = owner("psu", account("A1"), account("A2"), card("C1"))
OTHER = owner("other", account("B1"))


@for_each(
    ("came", "says"),
    [
        (listed("A1"), "agrees"),
        (NONE, "agrees"),
        (NO, "disagrees"),
        (GONE, "disagrees"),
        (FAILED, "disagrees"),
        (UNKNOWN, "unclear"),
        (LOST, "unclear"),
        (ODD, "unclear"),
    ],
)
def test_a_method_must_answer_a_valid_call(came, says):
    """A refusal or failure breaks it; a time-out or unknown credentials leave it open."""
    assert [f"answers {says} 1"] == check("accounts.available", PSU, ask("accounts", came))


@for_each(
    ("came", "says"),
    [
        (NO, "agrees"),
        (GONE, "agrees"),
        (listed("B1"), "disagrees"),
        (NONE, "unclear"),
        (UNKNOWN, "unclear"),
        (FAILED, "unclear"),
        (LOST, "unclear"),
    ],
)
def test_an_excluded_bank_must_refuse_its_customer(came, says):
    """The control is the same call at this bank before; what follows is no call at this bank."""
    here, there = ask("accounts", listed("A1")), ask("accounts", came, by="other")
    gone = Lacking(mode="", bank="bank-group", now=AT)
    expected = ["answers agrees 1", f"refused-outside {says} 1,2"]
    assert expected == sorted(check("accounts.available", PSU, here, gone, OTHER, there))
    alone = [f"refused-outside {says} 2"] if isinstance(came.outcome, Accepted) else []
    refused = check("accounts.available", PSU, ask("accounts", UNKNOWN), gone, OTHER, there)
    assert ["answers unclear 1", *alone] == sorted(refused)
    # A bank that is not excluded, and one from the beginning, is judged as any.
    other = replace(gone, bank="second")
    assert ["answers agrees 1"] == check("accounts.available", PSU, here, other, OTHER, there)
    assert ["answers agrees 1"] == check("accounts.available", other, PSU, here)


def test_data_of_a_consented_account_must_be_answered():
    """Once the consent covers it, a refusal is a violation."""
    assert ["answers disagrees 2"] == check(
        "balances.available", PSU, consent("A1"), ask("balances", NO, "A1")
    )


def test_recorded_traffic_is_judged_by_the_consent_alone():
    """With no roster, what was consented to must be answered all the same."""
    assert ["answers disagrees 2"] == check(
        "balances.available", consent("A1"), ask("balances", NO, "A1")
    )


@for_each(
    "events",
    [
        [ask("balances", NO, "A1")],
        [consent("A2"), ask("balances", NO, "A1")],
        [consent("A1", came=NO), ask("balances", NO, "A1")],
        [consent("A1", came=LOST), ask("balances", NO, "A1")],
        [consent("A1"), consent("A2"), ask("balances", NO, "A1")],
        [consent("A1", by="other"), ask("balances", NO, "A1")],
        [consent("B1"), ask("balances", NO, "B1")],
        [consent("A1"), ask("balances", NO)],
        [consent("A1"), ask("balances", NO, "A1", mode="full")],
        [consent("A1"), ask("balances", NO, "A1", arguments={"limit": 1})],
        [consent("A1"), ask("balances", NO, "A1", present=False)],
        [consent("A1"), ask("balances", NO, "A1", credentials=True)],
    ],
)
def test_a_refusal_that_may_be_right_is_no_evidence(events):
    """Only a call that surely had to be answered can disagree."""
    assert [] == check("balances.available", PSU, OTHER, *events)


def test_data_of_what_is_not_listed_need_not_be_answered():
    """A savings account in a consent gives no right to its balances."""
    saver = owner("psu", account("A1", savings=True))

    assert [] == check("balances.available", saver, consent("A1"), ask("balances", NO, "A1"))


@for_each(
    ("keys", "says"),
    [(("A1", "C1"), ["answers disagrees 1"]), (("B1",), []), ((), [])],
)
def test_a_refused_consent_violates_only_if_all_in_it_is_the_customers(keys, says):
    """A bank may refuse a consent to things that are not there."""
    assert says == check("consents.available", PSU, OTHER, consent(*keys, came=NO))


@for_each("listed", ["A1", ["A1", "A1"], ["A1", 42], None])
def test_a_refused_consent_that_is_no_list_of_keys_is_no_evidence(listed):
    """A text, a number in the list, or one account named twice may be refused."""
    call = ask("consents", NO, arguments={"accounts": listed})
    assert [] == check("consents.available", PSU, call)


def test_a_refused_consent_of_a_stranger_to_the_roster_is_no_evidence():
    """In recorded traffic nobody knows whether the accounts exist."""
    assert [] == check("consents.available", consent("A1", came=NO))


def test_an_interface_without_consent_is_judged_by_the_roster():
    """Where nothing is consented to, an own account must be answered, a foreign one not."""
    params = ruled("balances.available")
    params = replace(params, grant=None)

    def says(*events):
        return [evidence.agreement.value for evidence in params.check(history(*events))]

    assert ["disagrees"] == says(PSU, ask("balances", NO, "A1"))
    assert [] == says(PSU, ask("balances", NO, "B1"))
    assert [] == says(ask("balances", NO, "A1"))
    assert ["agrees"] == says(ask("balances", listed("x"), "A1"))


MAIN = ask("balances", listed(item(balanceType="CLBD")), "A1")


@for_each(
    ("came", "says"),
    [
        (listed(item(balanceType="CLBD")), "agrees"),
        (listed(item(balanceType="VALU")), "disagrees"),
        (listed(), "disagrees"),
        (NO, "disagrees"),
        (FAILED, "disagrees"),
        (LOST, "unclear"),
    ],
)
def test_another_name_gives_the_same_data(came, says):
    """Items are compared one by one; a time-out leaves it open."""
    events = check(
        "balances.available", PSU, consent("A1"), MAIN, ask("balances", came, "A1", alias=0)
    )

    assert [f"aliases-agree {says} 2,3"] == events[1:]


def test_the_first_page_of_another_name_may_have_other_items():
    """The order of a list is open; a refusal of the other name is none of order."""
    first = ask("balances", listed("x", "y", next="2"), "A1")
    for came, says in ((listed("y", "z", next="2"), "unclear"), (NO, "disagrees")):
        other = ask("balances", came, "A1", alias=0)
        found = check("balances.available", PSU, consent("A1"), first, other)
        assert f"aliases-agree {says} 2,3" in found


@for_each(
    "events",
    [
        [ask("balances", NO, "A1"), ask("balances", listed("x"), "A1", alias=0)],
        [ask("balances", listed("x"), "A1", alias=0)],
        [MAIN, ask("balances", listed("y"), "A2", alias=0)],
        [MAIN, ask("balances", listed("y"), "A1", by="other", alias=0)],
        [MAIN, consent("A2"), ask("balances", NO, "A1", alias=0)],
        [MAIN, ask("balances", listed("y"), "A1", alias=0, at=AT + timedelta(hours=1))],
        [
            replace(MAIN, at=AT.replace(hour=23, minute=59)),
            ask("balances", listed("y"), "A1", alias=0, at=AT.replace(day=17, hour=0)),
        ],
        [ask("balances", listed(item()), "A1"), ask("balances", listed(item()), "A1", alias=0)],
        [ask("balances", NONE, "A1"), ask("balances", NONE, "A1", alias=0)],
    ],
)
def test_names_are_compared_only_where_it_can_tell(events):
    """What differs by right, or could not have differed, is no evidence."""
    assert [] == [
        line for line in check("balances.available", PSU, OTHER, *events) if "aliases" in line
    ]


def shown(content, digest="d", **item_):
    """Say that a balance came back whose content, apart from links, is known."""
    whole = replace(item(balanceType="CLBD", **item_), digest=digest, content=content)
    return listed(whole)


def under_names(*answers):
    """Ask under the main name, another one, and the main name."""
    calls = [ask("balances", came, "A1", alias=[None, 0][n % 2]) for n, came in enumerate(answers)]
    lines = check("balances.available", PSU, consent("A1"), *calls)
    return [line for line in lines if "aliases" in line]


@for_each(
    ("answers", "says"),
    [
        ([shown("x"), shown("y"), shown("x")], ["agrees 2,3", "disagrees 2,3,4"]),
        ([shown("", "x"), shown("", "y"), shown("", "x")], ["agrees 2,3", "disagrees 2,3,4"]),
        ([shown("x", "1"), shown("x", "2"), shown("x", "1")], ["agrees 2,3"]),
        ([shown("x"), shown("y"), shown("z")], ["agrees 2,3"]),
        ([shown("x"), shown("y"), FAILED], ["agrees 2,3"]),
        ([shown("x"), shown("y")], ["agrees 2,3"]),
        ([shown("", ""), shown("", ""), shown("", "")], ["agrees 2,3"]),
    ],
)
def test_all_values_of_an_item_are_compared_between_names(answers, says):
    """They are if the main name shows the same before and after."""
    assert [f"aliases-agree {line}" for line in says] == under_names(*answers)


def test_items_may_come_in_any_order_under_another_name():
    """A document says nothing of an order."""
    one, two = (replace(item(key), digest=key) for key in "ab")
    assert ["aliases-agree agrees 2,3"] == under_names(
        listed(one, two), listed(two, one), listed(one, two)
    )


def at_one_moment(before, first, second, after):
    """Ask, then twice at one moment, and once more."""
    answers = (before, 0), (first, 1), (second, 1), (after, 0)
    calls = [ask("balances", came, "A1", together=group) for came, group in answers]
    return check("balances.available", PSU, consent("A1"), *calls)


@for_each(
    ("second", "says"),
    [
        (shown("x"), ["agrees 2,4"]),
        (shown("y"), ["agrees 2,4", "disagrees 2,4,5"]),
        (listed(), ["disagrees 2,4,5"]),
        (FAILED, ["disagrees 2,4"]),
        (NO, ["unclear 2,4"]),
        (LOST, ["unclear 2,4"]),
    ],
)
def test_like_reads_at_one_moment_are_answered_alike(second, says):
    """A failure or other data break it; a bank may limit calls, and an answer may be lost."""
    lines = at_one_moment(shown("x"), shown("x"), second, shown("x"))
    expected = ["answers agrees 2", "at-once agrees 2,3", *(f"at-once {each}" for each in says)]
    assert sorted([*expected, "answers agrees 5"]) == sorted(lines)


@for_each("after", [listed(), shown("y"), FAILED, LOST])
def test_other_data_at_one_moment_say_nothing_unless_nothing_changed(after):
    """What comes later may differ by itself, and then it may have differed at the moment, too."""
    lines = at_one_moment(shown("x"), listed(), listed(), after)
    assert [] == [line for line in lines if line.startswith("at-once")]


def test_one_of_several_pages_at_one_moment_says_nothing():
    """The order of a list is open, and so is what its first page has."""
    page, other = listed("x", "y", next="2"), listed("y", "z", next="2")
    lines = at_one_moment(page, page, other, page)
    assert ["at-once agrees 2,3"] == [line for line in lines if line.startswith("at-once")]


BENT = {"malformed": Malformed.NOT_JSON}


@for_each(
    ("came", "survives", "refuses"),
    [
        (NO, "agrees", "agrees"),
        (DONE, "agrees", "disagrees"),
        (FAILED, "disagrees", "unclear"),
        (LOST, "unclear", "unclear"),
    ],
)
def test_a_body_that_is_no_json_is_refused_in_good_order(came, survives, refuses):
    """To fail is one violation, to accept it another; a time-out is neither."""
    assert [
        "answers agrees 1",
        f"survives-malformed {survives} 2",
        f"refuses-malformed {refuses} 2",
    ] == check("consents.available", PSU, consent("A1"), consent("A1", came=came, **BENT))


def test_a_malformed_read_may_be_served_or_refused():
    """What a bad identifier should get is left open, as long as nothing breaks."""
    for came in (NO, listed("x")):
        assert ["survives-malformed agrees 3"] == [
            line
            for line in check(
                "balances.available",
                consent("A1"),
                MAIN,
                ask("balances", came, "A1", malformed=Malformed.BAD_IDENTIFIER),
            )
            if "malformed" in line
        ]


@for_each("by", ["psu", "other"])
def test_without_a_control_a_malformed_call_says_nothing(by):
    """The same customer must have been answered before."""
    events = [] if by == "psu" else [consent("B1", by="other")]

    assert [] == [
        line
        for line in check("consents.available", *events, consent("A1", came=NO, **BENT))
        if "malformed" in line
    ]


@for_each(
    ("came", "says"),
    [(NO, "agrees"), (GONE, "agrees"), (NONE, "agrees"), (FAILED, "disagrees"), (LOST, "unclear")],
)
@for_each("about", ["A2", "B1", "unknown"])
def test_what_is_not_to_be_served_breaks_nothing(about, came, says):
    """It may be refused in any way; a server failure is none. The control comes before it."""
    control = consent("A1"), ask("balances", listed("x"), "A1")
    asked = ask("balances", came, about)

    assert f"survives-unserved {says} 3" in check("balances.available", PSU, OTHER, *control, asked)
    assert [] == check("balances.available", PSU, OTHER, consent("A1"), asked)
    absent = ask("balances", came, about, present=False)
    assert ["answers agrees 2"] == check("balances.available", PSU, OTHER, *control, absent)
    granted = check("consents.available", PSU, OTHER, consent("A1"), consent(about, came=came))
    assert (f"survives-unserved {says} 2" in granted) is (about != "A2")


RANGE = {"iban": "A1", "since": "2026-09-01"}


@for_each(("came", "says"), [(BROKEN, ["answers disagrees 2"]), (FAILED, []), (NO, []), (LOST, [])])
@for_each(
    "call",
    [
        ask("transactions", NO, arguments=RANGE),
        ask("transactions", NO, follow="2"),
        ask("transactions", NO, "A1", mode="extended_transaction_history"),
    ],
)
def test_a_target_may_refuse_what_is_not_surely_valid_but_not_fail_over_it(call, came, says):
    """A gateway may be out of order for a moment (503); the target that answers 500 works, and fails."""
    failed = replace(ask("x", came), call=call.call)

    assert says == check("transactions.available", PSU, consent("A1"), failed)
    varied = replace(failed, call=replace(call.call, variation="about something else"))
    assert "answers disagrees 2" not in check("transactions.available", PSU, consent("A1"), varied)
    assert says[:0] == check("transactions.available", consent("A1"), failed)


@for_each("call", [ask("transactions", BROKEN), ask("transactions", BROKEN, "A2")])
def test_a_failure_over_what_is_not_to_be_served_is_none(call):
    """Without an account, or for one without a consent, the call is not valid."""
    assert [] == check("transactions.available", PSU, consent("A1"), call)


def test_without_the_customer_the_control_is_the_same_call_with_the_customer():
    """A limit of calls is no reason to fail, and where nothing is answered there is no control."""
    batch = ask("accounts", BROKEN, present=False, variation="call 5 of a day")
    answered = ask("accounts", listed("A1"))

    for events in ((answered, batch), (batch, answered)):
        assert [True] == [
            "disagrees" in line
            for line in check("accounts.available", PSU, *events)
            if f"{events.index(batch) + 1}" in line
        ]
    assert [] == check("accounts.available", PSU, batch)


def test_a_consent_that_names_something_twice_is_not_known_to_be_valid():
    """Over a list that no document describes a target may stumble; another rule judges that."""
    for keys, says in ((("A1", "A1"), []), (("A1", "A2"), ["answers disagrees 1"])):
        said = check("consents.available", PSU, consent(*keys, came=BROKEN))
        assert says == list(dict.fromkeys(said))


#: A contract with a key that only identifies a call.
ORDERS = """\
{assay: 1, contract: orders, title: Orders, version: "1", interface: orders, document: Orders, zone: Etc/UTC,
 resources: {order: {says: an order, key: id, fields: [id]}},
 operations: {
   order: {method: POST, path: /orders, makes: order, signed: false, arguments: [Order-Key]},
   show: {method: GET, path: "/orders/{id}", shows: order, about: id}},
 rules: [
   {id: made, kind: available, operation: order, says: Made., source: {section: A, line: 1}},
   {id: key, kind: idempotency, request: order, key: Order-Key, says: One., source: {section: A, line: 2}}]}
"""


def test_an_id_that_is_the_variation_may_be_refused(tmp_path):
    """A server may refuse a header of 10,000 letters before the application sees it."""
    (tmp_path / "orders.yaml").write_text(ORDERS, "utf-8")
    made, customer = kind_in(tmp_path / "orders.yaml", "made"), owner("psu", account("A"))

    def ordered(answer, key, **changes):
        call = Call(operation="order", subject="psu", arguments={"Order-Key": key}, **changes)
        return exchange(call, answer)

    first, another = ordered(accepted("O-1"), "k"), ordered(refused(), "another")
    long = ordered(refused(), "A" * 10_000, variation="Order-Key is a text of 10,000 letters")

    assert ["answers agrees 1", "answers disagrees 2"] == evidence(
        made, history(customer, first, another)
    )
    assert ["answers agrees 1"] == evidence(made, history(customer, first, long))


#: A contract whose branches have no entries.
BRANCHES = """\
{assay: 1, contract: branches, title: Branches, version: "1", interface: branches, document: Branches, zone: Etc/UTC,
 resources: {
   account: {says: an account, key: id, fields: [id]}, branch: {says: a branch, key: id, fields: [id]},
   entry: {says: an entry, of: account}},
 operations: {entries: {method: GET, path: "/accounts/{id}/entries", lists: [entry], about: id}},
 rules: [{id: read, kind: available, operation: entries, says: Read., source: {section: A, line: 1}}]}
"""


def test_a_call_about_a_thing_that_has_no_entries_may_be_refused(tmp_path):
    """A random sequence asks about a branch as about an account."""
    (tmp_path / "branches.yaml").write_text(BRANCHES, "utf-8")
    clause = kind_in(tmp_path / "branches.yaml", "read")
    customer = owner("psu", account("A"), Owned(key="B", resource="branch"))

    def says(key, answer=NO):
        call = Call(operation="entries", subject="psu", arguments={"id": key})
        return evidence(clause, history(customer, exchange(call, answer)))

    assert ["answers disagrees 1"] == says("A")
    assert [] == says("B")
    assert [] == says("B", BROKEN)
