"""`eligible-for` judges what a request may be about, by an ordinary thing of the same customer."""

from dataclasses import replace

import pytest
from account_information import AT, BROKEN, LOST, NO, account, card, owner
from payment_initiation import (
    DONE,
    PIS,
    REJECTED,
    carrying_out,
    check,
    make,
    price,
    probed,
    read,
    shown,
    sign,
)
from rows import for_each

from assay.rules.formats import is_iban
from assay.rules.kinds import kind_of
from assay.rules.kinds.access.eligible_for import ORDINARY, stranger

PSU = owner(
    "psu",
    account("A1"),
    account("S1", savings=True),
    account("S2", savings=True, offline=True),
    account("D1", dormant="2026-01-01"),
    account("D2", savings="2026-01-01"),
    account("A2", savings=False),
    card("K1"),
)


def says(*events, who=PSU):
    return check("eligible-accounts", who, *events)


def about(key, came=None, **changes):
    return make(came or shown(f"P-{key}"), debtorAccount=key, **changes)


def test_ordinary_things_are_served_and_others_refused():
    """A refusal counts beside the same request about an ordinary thing."""
    assert ["serves-ordinary agrees 1", "refuses-savings agrees 1,2"] == says(
        about("A1"), about("S1", NO)
    )
    assert ["refuses-savings agrees 1,2", "serves-ordinary agrees 2"] == says(
        about("S1", shown("P-S1", REJECTED)), about("A2")
    )


def test_what_is_rejected_at_once_is_no_control_though_it_is_signed():
    """A bank may offer its screens all the same."""
    twice = [make(shown(key, REJECTED), key=key, at=AT, debtorAccount="A1") for key in ("P1", "P2")]
    said = says(*twice, sign(key="P2", at=AT))
    assert not any("disagrees" in each for each in said), said


@for_each("key", ["S2", "D1", "D2", "K1", "unknown"])
def test_what_nobody_can_place_is_not_judged(key):
    """It has several traits, or an odd one, or is another kind of thing, or is not owned."""
    done = sign(key=f"P-{key}"), read(shown(f"P-{key}", DONE), key=f"P-{key}")
    assert ["serves-ordinary agrees 1"] == says(about("A1"), about(key, NO))
    assert ["serves-ordinary agrees 1"] == says(about("A1"), about(key), *done)
    assert [] == says(about(key), about("S1", NO))


def test_a_trait_that_this_clause_does_not_name_is_not_judged():
    """Only what is said to be refused must be."""
    said = check("eligible-accounts", PSU, about("A1"), about("S1", NO), refuses=["offline"])
    assert ["serves-ordinary agrees 1"] == said


def test_the_refusal_of_another_customer_counts_on_neither_side():
    """It may be for who he is."""
    other = owner("other", account("A2"), account("S1", savings=True))
    said = says(other, about("A1"), about("A2", NO, by="other"), about("S1", NO, by="other"))
    assert ["serves-ordinary agrees 1"] == said


def test_every_thing_is_asked_about_once():
    """An ordinary one first and last, so that no order hides anything."""

    def bank(call, key):
        return shown(key) if call.arguments["debtorAccount"] in {"psu-1", "psu-5"} else NO

    played, said = probed("eligible-accounts", "each", bank)
    traits = [list(step.traits) for step in played.steps[0].holdings]
    assert [[], ["savings"], ["inactive"], ["offline"], []] == traits
    asked = [call.arguments["debtorAccount"] for call in played.calls]
    assert ["psu-1", "psu-2", "psu-3", "psu-4", "psu-5"] == asked
    assert [False, True, True, True, False] == [bool(step.variation) for step in played.calls]
    assert price("eligible-accounts", "each") == played.spent
    assert [
        ORDINARY,
        "refuses-savings",
        "refuses-inactive",
        "refuses-offline",
        ORDINARY,
    ] == [line.removesuffix(" agrees") for line in said]


def test_a_lenient_bank_is_pressed():
    """What may not be used is signed for, and nothing else is."""
    played, said = probed("eligible-accounts", "each", carrying_out)
    signed = [step.request for step in played.signatures]
    assert ["R200-0001-4711", "R300-0001-4711", "R400-0001-4711"] == signed
    assert 3 == sum(line.endswith("disagrees") for line in said)


def test_a_late_rejection_is_compared_with_an_ordinary_one():
    """Which is signed last."""

    def bank(call, key):
        asked = call.arguments.get("paymentRequestResourceId")
        if asked is None:
            return shown(key)
        return shown(asked, DONE if asked.startswith("R1") else REJECTED)

    played, said = probed("eligible-accounts", "each", bank)
    signed = [step.request for step in played.signatures]
    assert ["R200-0001-4711", "R300-0001-4711", "R400-0001-4711", "R100-0001-4711"] == signed
    assert all(line.endswith("agrees") for line in said)


def test_a_request_that_is_about_nothing_is_a_fault_of_the_harness():
    """The contract's references have been checked before."""
    create = replace(PIS.operations["create-payment"], owned=None)
    contract = replace(PIS, operations={**PIS.operations, "create-payment": create})
    clause = next(clause for clause in PIS.clauses if clause.id == "eligible-accounts")
    with pytest.raises(TypeError, match="names no resource"):
        kind_of("eligible-for").parse(clause, contract)


# -- a key that nobody has --------------------------------------------------------------
IBAN = "FR7630006000011234567890189"


def strange(came=None, key="A1", **changes):
    return about(stranger(key), came, **changes)


@for_each(("key", "other"), [("A1", "F8"), (IBAN, "FR2630006000011234432109810"), ("0042", "9957")])
def test_a_key_that_nobody_has_looks_like_a_real_one(key, other):
    """An IBAN has right check digits, too."""
    assert other == stranger(key)
    assert is_iban(key) == is_iban(other)


@for_each(("came", "word"), [(NO, "agrees 1,2"), (BROKEN, "disagrees 1,2"), (LOST, "unclear 2")])
def test_what_nobody_owns_is_refused(came, word):
    """Beside the same request about an ordinary thing of the customer's."""
    said = says(about("A1"), strange(came))
    assert ["serves-ordinary agrees 1", f"refuses-unknown {word}"] == said


def test_what_nobody_owns_and_is_carried_out_is_a_violation():
    """To be accepted alone does not: it may be rejected when the customer signs."""
    key = f"P-{stranger('A1')}"
    done = sign(key=key), read(shown(key, DONE), key=key)
    assert "refuses-unknown disagrees 2,3,4" in says(about("A1"), strange(), *done)
    assert "refuses-unknown unclear 2" in says(about("A1"), strange())
    rejected = strange(shown(key, REJECTED))
    assert "refuses-unknown agrees 1,2" in says(about("A1"), rejected)


def test_without_an_ordinary_thing_a_refusal_is_no_merit():
    """Nor is any value a key."""
    assert [] == says(strange(NO))
    assert ["serves-ordinary agrees 1"] == says(about("A1"), about({"iban": "A1"}, NO))


def test_a_key_that_nobody_has_is_asked_about_once():
    """And signed, where it is accepted."""
    played, said = probed("eligible-accounts", "refuses-unknown", carrying_out)
    assert ["psu-1", stranger("psu-1")] == [
        one.arguments["debtorAccount"] for one in played.calls if "debtorAccount" in one.arguments
    ]
    assert "refuses-unknown disagrees" in said
    refusing, _ = probed(
        "eligible-accounts",
        "refuses-unknown",
        lambda call, key: shown(key) if call.arguments["debtorAccount"] == "psu-1" else NO,
    )
    assert price("eligible-accounts", "refuses-unknown") == refusing.spent
