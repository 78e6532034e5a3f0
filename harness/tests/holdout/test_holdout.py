"""The holdout bank: it speaks its API, its target file is right, and its faults are seen."""

import ast
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from holdout.domain import INSTANT, LATER, NOW, PREFIX, iban, iban_holds
from holdout.faults import BY_ID, CONSEQUENCE, CONTEXT, FAULTS, PLAIN, Fault
from holdout.measure import ASSAY
from holdout.policy import Policy
from holdout.probes import CREDITOR, OTHER, PROBES, Api, account, card, trace

HERE = Path(__file__).resolve().parent
LAST_LINE = 133

# By which probe each fault is seen.
SEEN_BY = {
    "listing": """
        list-savings list-inactive list-offline card-inactive
        card-never-used card-three-months card-one-month list-page-6
        quota-present savings-on-page-2 offline-absent card-inactive-recent
        list-page-later list-page-loses-one quota-counts-present links-first-host
    """,
    "unavailable": """
        beneficiaries identity-offered confirmation-offered credentials
        credentials-consent
    """,
    "entries": """
        entry-page-20 depth-120 depth-60 currency-usd
        extended-history entry-page-card entry-page-since entry-repeated
        entry-lost depth-card depth-since depth-alias
        currency-card consent-lost range-forgotten entries-end-early
        consent-first-only
    """,
    "renewed": """
        no-consent-needed empty-without-consent psu-identity-always quota-none
        quota-3 quota-5 quota-renewed-token consent-renewed-token
        iban-masked-absent
    """,
    "quotas": """
        no-psu-identity balance-type quota-weekend identity-absent
        quota-transactions quota-shared quota-alias quota-customers
        quota-noon quota-blocks-customer quota-next-day
    """,
    "requests": """
        charge-any charge-missing purpose-missing creditor-missing
        success-missing currency-any several charge-deferred
        charge-lower-case purpose-missing-instant success-missing-deferred currency-instant
        incomplete-refused-and-paid several-refused-and-paid account-refused-and-paid
    """,
    "segments": """
        instant-lacking segments-all segment-pro password-alone
        pro-soft-token email-code segment-guardian segment-deferred
        segment-refused-and-paid instant-refused-and-paid paid-unsigned
    """,
    "payments": """
        duplicate duplicate-instant duplicate-large exempt-small
        exempt-second repeat-refused-and-paid refused-signature-paid refused-signature-redirect
        refused-signature-open return-of-another instant-next-day instant-wrong-creditor
        wrong-debtor done-but-unpaid paid-but-open instant-refused
    """,
    "cash": """
        cash-never cash-soft-token cash-24h cash-instant
        cash-cap cash-any-customer cash-modified cash-rejected-and-paid
    """,
    "changes": """
        modify-immediate modify-never duplicate-purpose modify-signed
        modify-second modified-old-amount modified-old-creditor modified-old-day
        modified-shown-old modified-both-paid modify-refused-and-done modify-cancels
        paid-twice deferred-day-late deferred-never cents-lost
    """,
    "cancellations": """
        cancel-never cancel-second-tpp no-return return-without-query
        cancelled-still-paid withdrawn-still-paid cancelled-shown-planned cancel-refused-and-done
        deferred-at-once deferred-twice cancelled-counts-as-executed
    """,
    "signatures": """
        idle-10 overall-none idle-redirect code-second-try
        idle-before-login wrong-code-paid disconnected-paid wrong-signer-paid
    """,
    "consents": """
        consent-alias consent-slips consent-absent consent-refused-stored
        consent-opens-all other-account-shown identity-of-another
    """,
}
CASES = [(fault, probe) for probe, ids in SEEN_BY.items() for fault in ids.split()]


@pytest.fixture
def api() -> Api:
    return Api(Policy())


@cache
def sound(probe: str) -> list[Any]:
    return trace(Policy(), probe)


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


# The target files, and the faults.


@pytest.mark.parametrize("name", ["target.yaml", "target-oauth.yaml"])
def test_the_target_file_is_right(name):
    """`assay check` accepts both target files."""
    done = subprocess.run([ASSAY, "check", str(HERE / name)], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_there_are_fifty_faults_of_each_class():
    """150 faults with ids of their own, 50 of each class."""
    assert Counter(fault.kind for fault in FAULTS) == {
        "plain": 50,
        "context": 50,
        "consequence": 50,
    }
    assert (len(PLAIN), len(CONTEXT), len(CONSEQUENCE), len(BY_ID)) == (50, 50, 50, 150)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_a_fault_is_one_sentence_about_decisions_of_the_bank(fault: Fault):
    """Each names a line of the document, and decisions that the bank makes."""
    assert 1 <= fault.line <= LAST_LINE
    assert fault.sentence[0].islower()
    assert "." not in fault.sentence
    assert fault.overrides
    assert all(hasattr(Policy, name) for name in fault.overrides)


def test_the_bank_does_not_know_of_faults():
    """No module of the bank has a name with the word in it."""
    for module in ("bank", "bureau", "domain", "payments", "screens", "policy", "account_policy"):
        tree = ast.parse((HERE / f"{module}.py").read_text(encoding="utf-8"))
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert not {name for name in names if "fault" in name.lower()}


def test_every_fault_is_seen_by_a_probe():
    """The table of probes names each fault once."""
    assert Counter(fault for fault, _ in CASES) == Counter(list(BY_ID))


@pytest.mark.parametrize("probe", sorted(PROBES))
def test_the_sound_bank_answers_a_probe_always_alike(probe):
    """Two runs of a probe cannot differ by chance."""
    assert trace(Policy(), probe) == sound(probe)


@pytest.mark.parametrize(("fault", "probe"), CASES)
def test_a_faulty_bank_is_seen_to_differ(fault, probe):
    """Its answers to a probe are not those of the sound bank."""
    assert trace(BY_ID[fault].policy(), probe) != sound(probe)


def test_nothing_of_the_harness_is_used_by_the_bank():
    """The bank runs without the adapter, the only module that imports the harness."""
    assert not [name for name in sys.modules if name.startswith("holdout.adapter")]
