"""The holdout bank: it speaks its API, its target file is right, and it knows no harness."""

import re
from pathlib import Path
from typing import Any

import pytest
from command_line import assay
from holdout.api import CREDITOR, OTHER, Api, account, card
from holdout.domain import INSTANT, LATER, NOW, PREFIX, iban, iban_holds
from holdout.policy import Policy

HERE = Path(__file__).resolve().parent


@pytest.fixture
def api() -> Api:
    return Api(Policy())


def status(api: Api) -> int:
    return int(api.trace[-1][0])


def state(api: Api, made: Any) -> tuple[str, str | None]:
    shown = api.read(made)["dossier"]["suivi"]
    return shown["etat"], shown["cause"]


def moved(api: Api) -> list[tuple[str, str, str]]:
    made = api.office("virements")["virements"]
    return [(one["jour"], one["montant"], one["beneficiaire"]) for one in made]


def balances(api: Api, who: Any, **more: Any) -> int:
    api.call("GET", f"/soldes?compte={who['avoirs'][0]['cle']}", who, **more)
    return status(api)


# The sound bank.


def test_only_what_may_be_listed_is_listed_five_at_a_time(api):
    """Savings accounts and inactive cards are missing from pages of five."""
    who = api.customer(account(6), account(1, savings=True), card(1), card(1, inactive=True))
    first = api.call("GET", "/comptes", who)
    rest = api.call("GET", f"/comptes?apres={first['suite']['curseur']}", who)
    shown = [len(page["donnees"][kind]) for page in (first, rest) for kind in ("comptes", "cartes")]
    assert (sum(shown[:2]), sum(shown[2:]), rest["suite"]) == (5, 2, {})


def test_a_consent_opens_what_it_names_and_tells_who_the_customer_is(api):
    """Balances and transactions follow the consent, and so does the identity."""
    who = api.customer(account(2))
    assert (balances(api, who), "titulaire" in api.call("GET", "/comptes", who)) == (403, False)
    api.consent(who, who["avoirs"][0])
    assert status(api) == 201
    assert balances(api, who) == 200
    api.call("GET", f"/operations?compte={who['avoirs'][1]['cle']}", who)
    assert status(api) == 403
    assert api.call("GET", "/comptes", who)["titulaire"] == {"identite": who["nom"]}


def test_a_refused_consent_changes_nothing(api):
    """A consent for an account of somebody else opens nothing."""
    who = api.customer(account())
    api.consent(who, who["avoirs"][0], {"genre": "compte", "cle": CREDITOR})
    assert (status(api), balances(api, who)) == (422, 403)


def test_four_batch_accesses_a_day_and_any_number_with_the_customer(api):
    """The fifth access of a day is refused, unless the customer is present."""
    who = api.customer(account())
    api.consent(who, *who["avoirs"])
    assert [balances(api, who, absent=True) for _ in range(5)] == [200] * 4 + [429]
    assert [balances(api, who) for _ in range(6)] == [200] * 6
    api.later(hours=14)
    assert balances(api, who, absent=True) == 200


def test_entries_of_ninety_days_fifteen_to_a_page(api):
    """Older entries are missing, and a range has a first and a last day."""
    days = [api.day(-back)[:10] for back in range(75, 95)]
    who = api.customer(account(1, days))
    api.consent(who, *who["avoirs"])
    url = f"/operations?compte={who['avoirs'][0]['cle']}"
    first, second = (api.call("GET", f"{url}&page={page}", who) for page in (0, 1))
    assert [len(first["mouvements"]), len(second["mouvements"])] == [15, 1]
    assert (first["pagination"]["encore"], second["pagination"]["encore"]) == (True, False)
    cut = api.call("GET", f"{url}&depuis={api.day(-80)}&avant={api.day(-77)}", who)
    assert [row["comptabilise"]["jour"] for row in cut["mouvements"]] == days[5:2:-1]


def test_a_signed_payment_is_carried_out_and_its_repeat_refused(api):
    """Nothing moves before the signature, and the same cannot be asked for twice."""
    who = api.customer(account())
    made = api.pay(who)
    assert moved(api) == []
    api.sign(made, who)
    assert state(api, made) == ("EXECUTE", None)
    assert moved(api) == [(api.now.date().isoformat(), "83.50", CREDITOR)]
    assert (api.pay(who), status(api)) == (None, 200)
    assert api.pay(who, INSTANT) is not None


def test_a_customer_who_signs_is_sent_back_and_one_who_refuses_is_not(api):
    """The address for success is reached by a signature only."""
    who = api.customer(account())
    for choice, to in (("VALIDER", "https://tpp.example/fait?n=1"), ("ABANDONNER", None)):
        made = api.pay(who, INSTANT if to else NOW)
        api.sign(made, who, choice=choice)
        assert api.trace[-2][1] == to
    assert state(api, made) == ("CLOS", "REFUS")


def test_a_deferred_payment_is_modified_and_carried_out_on_its_day(api):
    """What is executed is what the payment was changed to."""
    who = api.customer(account())
    made = api.pay(who, LATER)
    api.sign(made, who)
    api.modify(made, somme={"montant": "90.15"}, beneficiaire={"compte": {"iban": OTHER}})
    assert state(api, made) == ("PROGRAMME", None)
    api.later(days=4)
    assert moved(api) == [(api.day(-1)[:10], "90.15", OTHER)]


def test_a_cancelled_payment_is_not_carried_out(api):
    """A cancellation through the API holds on the day of the payment."""
    who = api.customer(account())
    made = api.pay(who, LATER)
    api.sign(made, who)
    api.cancel(made)
    api.later(days=4)
    assert (state(api, made), moved(api)) == (("CLOS", "ANNULATION"), [])


def test_a_customer_who_is_idle_for_four_minutes_is_disconnected(api):
    """After exactly four minutes the screens are closed."""
    who = api.customer(account())
    made = api.pay(who)
    api.login(made, who)
    api.later(minutes=4)
    assert "moyen" not in api.screen(made, moyen="OTP_SMS").text
    assert state(api, made) == ("CLOS", "EXPIRATION")


def test_cash_is_for_known_creditors_or_the_soft_token(api):
    """The age of a registered creditor decides, or the soft token does."""
    who = api.customer(account())
    for number, (age, factor, ends) in enumerate(
        ((71, "OTP_SMS", "CLOS"), (73, "OTP_SMS", "EXECUTE"), (1, "APPLI", "EXECUTE")), 1
    ):
        to = iban("30001", number)
        api.office("creanciers", client=who["client"], iban=to, age=age * 3600)
        made = api.pay(who, motif={"code": "CASH"}, beneficiaire={"compte": {"iban": to}})
        api.sign(made, who, factor)
        assert state(api, made)[0] == ends


def test_another_tpp_does_not_find_a_payment(api):
    """A request is shown to the TPP that made it, and to no other."""
    made = api.pay(api.customer(account()))
    api.call("GET", f"/virements/{made['numero']}", api.office("tiers"))
    assert status(api) == 404


def test_the_ibans_of_the_bank_are_ibans():
    """They have the check digits that the bank itself asks for."""
    assert all(iban_holds(iban("30099", number)) for number in (1, 10**7, 10**11 - 1))


def test_links_stay_at_the_host_of_the_call(api):
    """A flow that began at the second host goes on there."""
    made = api.pay(api.customer(account()), host="localhost")
    assert {link.split(PREFIX)[0] for link in made["liens"].values()} == {"http://localhost"}


# The target files.


@pytest.mark.parametrize("name", ["target.yaml", "target-oauth.yaml"])
def test_the_target_file_is_right(name, tmp_path):
    """`assay check` accepts both target files."""
    code, _, err = assay("check", HERE / name, cwd=tmp_path)
    assert (0, "") == (code, err)


def test_nothing_of_the_harness_is_used_by_the_bank():
    """Only the adapter imports it."""
    others = [
        path for path in HERE.glob("*.py") if path.name not in {"adapter.py", Path(__file__).name}
    ]
    assert [] == [
        path.name
        for path in others
        if re.search("(?m)^(from|import) assay", path.read_text("utf-8"))
    ]
