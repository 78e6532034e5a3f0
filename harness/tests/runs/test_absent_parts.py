"""Banks that lack a part of the contract: nothing is violated, and nothing conforms unasked."""

from dataclasses import replace
from datetime import date

import pytest
from embedded import JSON, Gate, run_plan, standings

from assay.preparation.prepare import prepare
from assay.rules.verdict import Standing
from assay.sandbox.access import Decision, account_eligible
from assay.sandbox.app import make_app
from assay.sandbox.policies import SOUND


class Lacking(Gate):
    """The sandbox without a part: a request for it is recorded and refused."""

    def __init__(self, app, is_part):
        super().__init__(app)
        self.is_part, self.asked = is_part, []

    def before(self, environ, body):
        """Refuse a request for the part."""
        request = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        if not self.is_part(*request, body):
            return None
        self.asked.append(request)
        return "404 Not Found", JSON, b"{}"


def run(tmp_path, text, contract, *, is_part, policies=SOUND, keywords=""):
    """Return the standing of each obligation at a bank that lacks a part, and what was asked of it."""
    path = tmp_path / "bank.yaml"
    path.write_text(f"assay: 1\ntarget: bank\n{text}")
    prepared = prepare([contract], str(path), keywords=keywords)
    banks = []

    def bank(base_url):
        banks.append(Lacking(make_app(policies, base_url), is_part))
        return banks[-1]

    found = standings(run_plan(prepared.plan, prepared.target, bank))
    return found, [request for each in banks for request in each.asked]


#: What a bank that lacks a part may say: never a violation, and nothing that was not seen.
SOUND_STANDINGS = {Standing.CONFORMS, Standing.NOT_APPLICABLE, Standing.UNSPECIFIED}


def asks_for_a_card(method, path, body):
    """Whether a request of the control API makes a card."""
    return "assay-control" in path and b'"card"' in body


def test_a_bank_without_cards(tmp_path):
    """At a bank that speaks STET no card is made or asked for; what accounts have conforms."""
    text = "extends: stet-1.4.0\nabsent: {resources: {card: no cards}}\n"
    found, asked = run(
        tmp_path,
        text,
        "aisp",
        is_part=asks_for_a_card,
    )
    assert [] == asked
    assert SOUND_STANDINGS >= set(found.values())
    for name in ("accounts.available/answers", "euro/balance", "consent.scope/balance-granted"):
        assert Standing.CONFORMS is found[f"aisp/{name}"]
    for name in ("cards.eligible/lists-recent", "euro/slip", "consent.scope/outstanding-granted"):
        assert Standing.NOT_APPLICABLE is found[f"aisp/{name}"]


def own_and_eligible(request):
    """Serve what a customer owns, as if each had consented with the token."""
    item = request.item
    card = item.resource == "card"
    shown = not item.immediate_debit if card else account_eligible(item, date.min)
    return Decision.SERVED if request.own and shown else Decision.REFUSED


CONSENTED = replace(SOUND, scope=dict.fromkeys(SOUND.scope, own_and_eligible))
WITHOUT_CONSENTS = "extends: sandbox\nabsent: {operations: {consents: given with the token}}\n"


def asks_for_a_consent(method, path, body):
    """Whether a request transmits a consent."""
    return path.endswith("/consents")


def test_a_bank_without_consents(tmp_path):
    """A consent is never transmitted, and what can be read without one is judged."""
    found, asked = run(
        tmp_path,
        WITHOUT_CONSENTS,
        "aisp",
        is_part=asks_for_a_consent,
        policies=CONSENTED,
    )
    assert [] == asked
    assert SOUND_STANDINGS >= set(found.values())
    asked_of_it = {name for name, standing in found.items() if standing is Standing.CONFORMS}
    assert {
        "aisp/balances.available/answers",
        "aisp/own-data/balance",
        "aisp/euro/slip",
    } <= asked_of_it
    assert not [name for name in asked_of_it if name.startswith(("aisp/consent", "aisp/psu-id"))]


def test_a_fault_of_a_bank_without_consents(tmp_path):
    """What is asked without a consent can be violated: one customer reads another's data."""
    leaking = replace(CONSENTED, scope=dict.fromkeys(SOUND.scope, lambda _: Decision.SERVED))
    found, _ = run(
        tmp_path,
        WITHOUT_CONSENTS,
        "aisp",
        is_part=asks_for_a_consent,
        policies=leaking,
        keywords="eligible and withholds",
    )
    assert {Standing.VIOLATES} == set(found.values())


def asks_for_a_change(method, path, body):
    """Whether a request changes or cancels a payment."""
    return method == "PUT" and "payment-requests" in path


IMMEDIATE = replace(
    SOUND,
    payments=replace(
        SOUND.payments,
        offered=lambda type_, instant: type_ == "immediate" or (type_ == "instant" and instant),
    ),
)


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("absent: {operations: {modify-payment: none, cancel-payment: none}}\n", False),
        ("not_offered: {payments.modify: none, modify.deferred-only: none, cancel: none}\n", True),
    ],
    ids=["absent", "not-offered"],
)
def test_a_bank_without_deferred_payments(tmp_path, text, doubt):
    """Nothing is violated; where changes are absent, none is asked for."""
    text = f"extends: stet-1.4.0\n{text}"
    text = text.replace("cancel: none", "cancel: none, payment-types: none")
    if "payment-types" not in text:
        text += "not_offered: {payment-types: nothing can be put off}\n"
    found, asked = run(
        tmp_path,
        text,
        "pis",
        is_part=asks_for_a_change,
        policies=IMMEDIATE,
    )
    assert doubt or [] == asked
    assert Standing.VIOLATES not in found.values()
    assert Standing.CONFORMS is found["pis/payments.create/answers"]
    assert Standing.NOT_APPLICABLE is found["pis/modify.deferred-only/deferred-accepted"]
    unclear = {name for name, each in found.items() if each is Standing.INDETERMINATE}
    assert doubt is any("modify-payment" in name for name in unclear)
    assert 115 < sum(each is Standing.CONFORMS for each in found.values())
