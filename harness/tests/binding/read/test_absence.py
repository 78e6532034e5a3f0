"""What a bank does not have: what then does not apply, and every name that excuses nothing."""

import os
from itertools import combinations

import pytest

from assay.binding.read.join import bind
from assay.contract.model import Capability
from assay.errors import InputError
from assay.history import Arrange, Call
from assay.journal.writer import outline_record
from assay.parsing.parse import find_contract, parse_contract
from assay.planning.plan import plan, script_of
from assay.preparation.target_file import read_target
from assay.rules.dry_run import DryTarget, dry_run

CONTRACTS = {name: parse_contract(find_contract(name)) for name in ("aisp", "pis")}


#: What the sandbox's target file binds of payment initiation.
PAYMENTS = ("create-payment", "read-payment", "modify-payment", "cancel-payment")


@pytest.fixture
def bound(tmp_path):
    """Give a function from a contract and the rest of a target file to the two, bound."""

    def together(contract, text, base="sandbox"):
        path = tmp_path / "t.yaml"
        path.write_text(f"assay: 1\ntarget: t\nextends: {base}\n{text}")
        target = read_target(path)
        (one,) = bind([CONTRACTS[contract]], target)
        return one, target

    return together


@pytest.fixture
def problems(bound):
    """Give a function from the rest of a target file to the problems of binding it."""

    def found(text, contract="aisp", base="sandbox"):
        with pytest.raises(InputError) as caught:
            bound(contract, text, base)
        return [f"{one.line}: {one.what} ({one.hint})" for one in caught.value.problems]

    return found


def not_applicable(one):
    """Return the reason of each obligation that the bank cannot have, by its name."""
    return {
        each.id.partition("/")[2]: each.not_applicable_because
        for each in one.obligations
        if each.not_applicable_because
    }


def test_a_bank_without_cards(bound):
    """What is about cards does not apply, with the reason; the rest is asked of accounts only."""
    one, _ = bound("aisp", "absent: {resources: {card: no cards here}}")
    lost = not_applicable(one)
    assert {"no cards here"} == set(lost.values())
    assert {"cards.eligible/lists-recent", "euro/outstanding", "euro/slip", "iban/card"} <= set(
        lost
    )
    assert all("card" in name or "outstanding" in name or "slip" in name for name in lost)
    whole, _ = bound("aisp", "")
    assert [each.id for each in whole.obligations] == [each.id for each in one.obligations]


def test_a_bank_without_consents(bound):
    """Data are asked for without a consent; what a consent does is not asked."""
    one, _ = bound("aisp", "absent: {operations: {consents: given with the token}}")
    lost = not_applicable(one)
    assert {"consent.scope/balance-granted", "consents.available/answers"} <= set(lost)
    assert not {"balances.available/answers", "euro/balance", "own-data/balance"} & set(lost)
    asked = [each for each in one.obligations if each.id.partition("/")[2] not in lost]
    assert not [each for each in asked if Capability.CONSENT in each.needs]


#: The only resource that a customer who pays owns.
ONLY = ("pis", "account")


def parts(contract):
    """Return every resource and available operation of a contract, as written under `absent`."""
    offered = [each.id for each in contract.operations.values() if each.available]
    return [
        *(("resources", name) for name in contract.resources if (contract.id, name) != ONLY),
        *(("operations", name) for name in offered),
    ]


#: Whether all pairs are tried, and not a sample.
EVERY = bool(os.environ.get("ASSAY_ABSENT_PAIRS"))
CASES = [
    (name, chosen)
    for name, contract in CONTRACTS.items()
    for number in (1, 2)
    for chosen in combinations(parts(contract), number)
    if not {("resources", "account"), ("resources", "card")} <= {*chosen}
]


@pytest.mark.parametrize(
    ("name", "chosen"),
    CASES[:: 1 if EVERY else 8],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_nothing_absent_is_asked_for(bound, name, chosen):
    """Whatever is absent, no trial calls it or needs a customer who owns it."""
    sections = {"resources": {}, "operations": {}}
    for section, part in chosen:
        sections[section][part] = "there is none"
    given = {section: names for section, names in sections.items() if names}
    one, target = bound(name, f"absent: {given}")
    planned = plan([one], target)
    dry = DryTarget(contract=one.contract)
    for trial in planned.trials:
        for step in dry_run(script_of(planned, trial)[1], dry):
            if isinstance(step, Call):
                assert step.operation not in sections["operations"]
            if isinstance(step, Arrange):
                assert not {held.resource for held in step.holdings} & set(sections["resources"])


def test_the_lines_of_the_document_stay_known(bound):
    """A line of a rule that does not apply is no line that the contract leaves out."""
    one, _ = bound("aisp", "absent: {resources: {card: none}}")
    lacking = ["cards.eligible", "cards.delayed-debit", "outstanding-type"]
    assert lacking == [each.id for each in one.contract.not_applicable]
    assert outline_record(CONTRACTS["aisp"]) == outline_record(one.contract)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "absent:\n  resources:\n    crad: none\n",
            (
                "6: absent.resources.crad: no contract of this run has such a resource "
                "(did you mean 'card'?)"
            ),
        ),
        (
            "absent:\n  operations:\n    consent: none\n",
            (
                "6: absent.operations.consent: no contract of this run has such an operation "
                "(did you mean 'consents'?)"
            ),
        ),
        (
            "absent:\n  operations:\n    end-user-identity: none\n",
            (
                "6: absent.operations.end-user-identity: the contract itself says that this"
                " operation is not available (remove it, and set"
                " operations.end-user-identity.path to the path that the bank would use)"
            ),
        ),
        (
            (
                "absent:\n  operations:\n    consents: none\n"
                "operations:\n  consents: {path: /consent}\n"
            ),
            (
                "6: absent.operations.consents: the operation is absent, and operations.consents says "
                "how it is called (remove one of the two)"
            ),
        ),
        (
            "not_offered:\n  batch-qouta: none\n",
            (
                "5: not_offered.batch-qouta: no contract of this run has such a rule "
                "(did you mean 'batch-quota'?)"
            ),
        ),
        (
            "operations:\n  consents: null\n",
            (
                "5: operations.consents: null removes what is inherited, and the contract has"
                " this operation (if the bank does not have it, write absent.operations.consents"
                " with the reason; otherwise bind it)"
            ),
        ),
        (
            (
                "absent: {resources: {card: none}}\n"
                "fixtures:\n  kind: roles\n  offers: [psu]\n  roles:\n    anna:\n      token_env: T\n"
                "      owns:\n"
                "        - {resource: account, key: A}\n        - {resource: card, key: C}\n"
            ),
            (
                "13: fixtures.roles.anna.owns[1]: the customer owns a card, and the bank has none "
                "(remove it here, or absent.resources.card)"
            ),
        ),
    ],
    ids=["resource", "operation", "unavailable", "bound", "rule", "null", "owned"],
)
def test_names_that_excuse_nothing(problems, text, message):
    """Each is a problem with the line of its key, and says what to do."""
    assert [message] == problems(text)


def test_a_bank_without_anything(problems):
    """A contract whose customers would own nothing is not for this bank."""
    assert [
        (
            "4: absent.resources.account: without these resources, a customer of pis can own nothing "
            "(leave the contract pis out of the run)"
        )
    ] == problems("absent: {resources: {account: none}}", "pis")


def test_names_of_the_other_contracts_of_a_file(bound):
    """A file for several contracts can say what one of them does not have."""
    text = (
        "absent: {resources: {payment: none}, operations: {cancel-payment: none}}\n"
        "not_offered: {cancel: none}\n"
    )
    one, _ = bound("aisp", text)
    assert {} == not_applicable(one)


def test_null_for_an_operation_of_no_contract_of_the_run(bound):
    """It removes what a base file has and a smaller contract does not; there is no more to remove."""
    removed = "".join(f"  {name}: null\n" for name in PAYMENTS)
    assert bound("aisp", f"contracts: [aisp]\noperations:\n{removed}", "stet-1.4.0")
    with pytest.raises(
        InputError, match=r"found nothing \(if the bank does not have it, write absent"
    ):
        bound("pis", "operations: {confirm-payment: null}")


def test_a_file_can_take_back_what_its_base_says(bound, tmp_path):
    """An inherited absence ends with null, and an absent operation may be bound by the base."""
    (tmp_path / "base.yaml").write_text(
        "assay: 1\ntarget: b\nextends: sandbox\nabsent: {resources: {card: no}, operations: {consents: no}}\n"
    )
    one, target = bound("aisp", "absent: {resources: {card: null}}", "./base.yaml")
    assert ({}, {"consents": "no"}) == (target.absent.resources, target.absent.operations)
    assert "card" in one.contract.resources
    assert "consents" not in one.contract.operations


def test_the_tpp_is_not_asked_about_what_is_absent(bound):
    """What a TPP must not do with an absent operation does not apply to it."""
    one, _ = bound("aisp", "absent: {operations: {consents: none}}")
    whole, _ = bound("aisp", "")
    reasons = {each.id: each.not_applicable_because for each in one.tpp_obligations}
    assert reasons.keys() == {each.id for each in whole.tpp_obligations}
    assert reasons["aisp/consent.scope/only-consented"] == "none"
    assert reasons["aisp/transactions.depth/nothing-older-asked"] == ""
