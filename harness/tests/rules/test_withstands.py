"""`withstands` wants an orderly answer to any value of an argument."""

from dataclasses import replace

from account_information import BROKEN, FAILED, LOST, NO, UNKNOWN
from payment_initiation import check, make, modify, payer, price, probed, ruled, shown
from rows import for_each

from assay.rules.kinds.requests.withstands import STRANGE, STRANGE_ADDRESSES
from assay.testing import refused


def says(*events):
    return check("values", payer(), *events)


@for_each("value", STRANGE.values())
@for_each(
    ("came", "word"),
    [
        (NO, "agrees"),
        (refused(status=429), "unclear"),
        (UNKNOWN, "agrees"),
        (shown("P2"), "agrees"),
        (BROKEN, "disagrees"),
        (FAILED, "unclear"),
        (LOST, "unclear"),
    ],
)
def test_any_value_gets_an_orderly_answer(value, came, word):
    """Accepted or refused, beside the same request with an ordinary value."""
    assert [f"create-payment-amount {word} 1,2"] == says(make(), make(came, amount=value))


def test_an_argument_that_the_control_does_not_have():
    """Nothing else differs."""
    strange = make(BROKEN, date="2026-02-30")
    assert ["create-payment-date disagrees 1,2"] == says(make(), strange)


def test_changes_are_judged_beside_changes():
    """By the same change of the same request."""
    control, strange = modify(amount="47.11"), modify(BROKEN, amount="-1E+400")
    assert ["modify-payment-amount disagrees 2,3"] == says(make(), control, strange)
    more = modify(BROKEN, amount="47.11", creditorAccount=None)
    assert ["modify-payment-creditorAccount disagrees 2,3"] == says(make(), control, more)
    assert [] == says(make(), strange)


@for_each(
    "events",
    [
        (make(BROKEN, amount=None),),
        (make(BROKEN), make(BROKEN, amount=None)),
        (make(NO), make(BROKEN, amount=None)),
        (make(), make(BROKEN, amount="12.31")),
        (make(), make(BROKEN, amount=None, currency=None)),
        (make(), make(BROKEN, amount=None, creditorAccount="C2")),
        (make(), make(BROKEN, amount=None, mode="instant")),
        (make(), make(BROKEN, amount=None, tpp="other")),
        (make(), payer("other"), make(BROKEN, amount=None, by="other")),
    ],
)
def test_what_shows_nothing_of_a_value(events):
    """There is no such request that was accepted, or more than one argument differs."""
    assert [] == says(*events)


def test_true_is_no_number():
    """Values are compared with their types: 1 is an ordinary value."""
    assert [] == says(make(), make(BROKEN, amount=1))


@for_each("value", STRANGE_ADDRESSES.values())
def test_the_address_to_return_to_has_strange_values_of_its_own(value):
    """They are ordinary ones of other arguments."""
    strange = make(BROKEN, successfulReportUrl=value)

    assert ["create-payment-successfulReportUrl disagrees 1,2"] == says(make(), strange)
    assert [] == says(make(), make(BROKEN, creditorAccount=value))
    played, _ = probed("values", "create-payment:successfulReportUrl")
    assert value in [call.arguments.get("successfulReportUrl") for call in played.calls]


def test_the_facets():
    """One for each argument of each operation."""
    facets = [one.id for one in ruled("values").facets()]
    assert 12 == len(facets) == len(set(facets))
    assert "create-payment-debtorAccount" in facets
    assert "modify-payment-currency" in facets


@for_each("argument", ["amount", "date", "debtorAccount"])
def test_the_price(argument):
    """A valid request, and one for each strange value."""
    scenario = f"create-payment:{argument}"
    played, _ = probed("values", scenario)
    assert 1 + len(STRANGE) == played.spent == price("values", scenario)
    sent = [call.arguments.get(argument) for call in played.calls[1:]]
    assert [*STRANGE.values()] == sent


def test_a_bank_that_takes_everything_conforms():
    """Orderly answers are all that is wanted."""
    for scenario in ("create-payment:amount", "modify-payment:amount"):
        _, said = probed("values", scenario)
        assert {f"{scenario.replace(':', '-')} agrees"} == set(said)


@for_each("status", [502, 503, 504])
def test_a_gateway_that_gives_up_is_no_error_of_the_bank(status):
    """To a header or a body that the bank's server does not read, a gateway answers by itself."""
    gateway = make(BROKEN, amount="A" * 10_000)
    gateway = replace(gateway, wire=replace(gateway.wire, status=status))
    assert ["create-payment-amount unclear 1,2"] == says(make(), gateway)
