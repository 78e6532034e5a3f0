"""`field` judges every item of every accepted answer."""

from dataclasses import replace
from pathlib import Path

from account_information import AISP, FAILED, NO, account, ask, card, check, item, owner, ruled
from rows import for_each

from assay.history import Call, Item
from assay.history.events import Masked
from assay.planning.plan import count_calls
from assay.testing import accepted, evidence, exchange, kind_in, listed, refused
from assay.testing import history as literal

IBAN, PAN = "FR7630006000011234567890189", "4111111111111111"
PSU = owner("psu", account("A1"), card("C1"))


def balance(*types, about="A1"):
    return ask("balances", listed(*(item(balanceType=one) for one in types)), about)


@for_each(
    ("types", "value", "there"),
    [
        (["CLBD", "VALU", "OTHR"], "agrees", "agrees"),
        (["CLBD", "clbd"], "disagrees", "agrees"),
        (["CLBD", "XPCD"], "disagrees", "agrees"),
        (["CLBD", 7], "disagrees", "agrees"),
        (["CLBD", ["CLBD"]], "disagrees", "agrees"),
        (["CLBD", None], "agrees", "disagrees"),
        (["CLBD", ""], "agrees", "disagrees"),
    ],
)
def test_each_value_is_one_of_the_set(types, value, there):
    """Case matters; a missing value is another facet."""
    assert [f"balance {value} 1", f"balance-present {there} 1"] == check(
        "balance-type", PSU, balance(*types)
    )


def test_where_nothing_is_given_only_its_absence_is_judged():
    """A value that never shows is not said to be right."""
    assert ["balance-present disagrees 1"] == check("balance-type", PSU, balance(None))


def test_an_outstanding_is_what_a_card_has():
    """What is listed below a card is judged under its own name."""
    assert ["outstanding agrees 1"] == check("outstanding-type", PSU, balance("CLBD", about="C1"))
    assert [] == check("balance-type", PSU, balance("CLBD", about="C1"))


def test_an_outstanding_may_have_no_type():
    """The document says it of balances; one that has a type has one of the three."""
    assert [] == check("outstanding-type", PSU, balance(None, about="C1"))


def test_recorded_traffic_tells_what_a_thing_is_by_the_list():
    """With no roster, the list of accounts has named it."""
    seen = ask("accounts", listed(item("C1", resource="card")))

    assert ["outstanding disagrees 2"] == check("outstanding-type", seen, balance("x", about="C1"))


def test_what_nobody_has_named_is_left_alone():
    """It may be an account or a card."""
    assert [] == check("balance-type", balance("CLBD"))


@for_each("came", [NO, FAILED, refused("x"), listed()])
def test_what_is_not_served_is_not_judged(came):
    """Fields are those of accepted answers."""
    assert [] == check("balance-type", PSU, ask("balances", came, "A1"))


def test_the_odd_one_is_on_the_last_page():
    """Page turns are judged like first pages."""
    euro, franc = listed(item(currency="EUR"), next="2"), listed(item(currency="CHF"))

    assert ["transaction agrees 1", "transaction disagrees 2"] == check(
        "euro",
        PSU,
        ask("transactions", euro, "A1"),
        ask("transactions", franc, "A1", follow="2"),
    )


def test_a_currency_that_is_not_given_is_no_evidence():
    """The document does not say that it must be there."""
    assert [] == check("euro", PSU, ask("transactions", listed(item(), item(currency="")), "A1"))


@for_each("value", ["eur", "EURO", "XEU", "EUR ", 978])
def test_euro_is_spelt_one_way(value):
    """The constant is compared as it stands."""
    assert ["transaction disagrees 1"] == check(
        "euro", PSU, ask("transactions", listed(item(currency=value)), "A1")
    )


def test_each_resource_of_a_list_has_its_own_format():
    """An account has an IBAN, a card anything but its clear number."""
    came = listed(item("1", resource="account", iban=IBAN), item("2", resource="card", iban=PAN))

    assert [
        "account agrees 1",
        "account-present agrees 1",
        "card disagrees 1",
        "card-present agrees 1",
    ] == check("iban", PSU, ask("accounts", came))


def test_an_item_of_another_or_no_kind_is_left_alone():
    """What the profile cannot tell apart is not judged."""
    assert [] == check("iban", PSU, ask("accounts", listed(item("1", iban="x"), "2")))


def test_a_call_of_another_contract_is_left_alone():
    """A history may hold more than one interface."""
    assert [] == check("iban", ask("payments", listed("x")), ask("consents", NO))


def test_a_contract_without_pages_is_priced_by_one_page_each():
    """Where no page size is stated everything is expected at once."""
    params = ruled("euro")
    clauses = tuple(clause for clause in AISP.clauses if clause.kind != "pagination")
    params = replace(params, contract=replace(AISP, clauses=clauses))

    assert 1 + 6 + 6 == count_calls(params, params.scenario("everything"))


def test_encrypted_numbers_may_look_like_card_numbers():
    """Where another one has as many digits and is none, one that passes Luhn may be by chance."""

    def cards(*numbers):
        items = (item(str(n), resource="card", iban=one) for n, one in enumerate(numbers))
        return ask("accounts", listed(*items))

    assert "card disagrees 1" in check("iban", PSU, cards(PAN, "c2VjcmV0"))
    assert "card unclear 1" in check("iban", PSU, cards(PAN, "4111111111111112"))
    assert "card unclear 1" in check("iban", PSU, cards(PAN), cards("9111111111111112"))
    assert "card agrees 1" in check("iban", PSU, cards("9111111111111112"))
    assert "card unclear 1" in check("iban", PSU, cards("4111111111111112", "c2VjcmV0"))
    assert "card disagrees 1" in check("iban", PSU, cards("411111XXXXXX1111"))


def test_card_numbers_beside_other_characters_are_no_chance_if_all_of_several_have_them():
    """One or two tokens may have such digits by chance, and so may some of many."""

    def cards(*numbers):
        items = (item(str(n), resource="card", iban=one) for n, one in enumerate(numbers))
        return ask("accounts", listed(*items))

    clear = [f"cb-{number}" for number in (PAN, "5555555555554444", "378282246310005")]
    assert "card disagrees 1,2" in check("iban", PSU, cards(*clear[:1]), cards(*clear[1:]))
    for few in (clear[:2], [*clear, "cb-4111111111111112"], [clear[0]] * 3):
        assert "card agrees 1" in check("iban", PSU, cards(*few))
        assert not [line for line in check("iban", PSU, cards(*few)) if "disagrees" in line]


# -- patterns, presence alone, and requests -----------------------------------------------
DESK = Path(__file__).parents[1] / "general_kinds" / "desk.yaml"


def says(clause, operation, *items, **changes):
    """Return what a clause of the desk says of one answer; changes are those of the clause."""
    kind = replace(kind_in(DESK, clause), **changes)
    call = Call(operation=operation, subject="psu", arguments={"number": "A", "orderId": "O-1"})
    answer = accepted(*(Item(key="1", fields=fields) for fields in items))
    return evidence(kind, literal(exchange(call, answer)))


def test_presence_alone():
    """Any value will do; an empty one is none."""
    assert ["entry-present agrees 1"] == says("entry-id", "entries", {"id": 7}, {"id": "x"})
    assert ["entry-present disagrees 1"] == says("entry-id", "entries", {"id": "x"}, {"id": ""})
    assert ["entry-present"] == [facet.id for facet in kind_in(DESK, "entry-id").facets()]


@for_each(
    ("value", "agreement"),
    [("10.00", "agrees"), ("10.0", "disagrees"), (10.5, "disagrees"), ("1.000,00", "disagrees")],
)
def test_a_pattern(value, agreement):
    """A text has it or not; what is no text has not."""
    assert [f"order {agreement} 1", "order-present agrees 1"] == says(
        "order-amount", "show", {"amount": value}
    )


def test_a_masked_text_has_no_pattern_to_judge():
    """A journal does not keep it."""
    assert ["order-present agrees 1"] == says(
        "order-amount", "show", {"amount": Masked("amount-1")}
    )


def test_where_a_request_must_have_it():
    """The answer that reads it must; the others have a right value or none."""
    assert ["order-present disagrees 1"] == says("order-amount", "show", {})
    assert [] == says("order-amount", "order", {})
    assert ["order disagrees 1"] == says("order-amount", "order", {"amount": "x"})


@for_each(
    ("form", "value", "agreement"),
    [
        ("uuid", "6c1f8a52-7f0b-4c55-9a0c-1e6d3b2f9010", "agrees"),
        ("uuid", "6c1f8a52", "disagrees"),
        ("date", "2026-02-28", "agrees"),
        ("date", "28.02.2026", "disagrees"),
    ],
)
def test_uuids_and_dates(form, value, agreement):
    """They are formats like an IBAN."""
    assert f"order {agreement} 1" in says(
        "order-amount", "show", {"amount": value}, pattern="", format={"order": form}
    )
