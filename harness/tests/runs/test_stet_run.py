"""The STET binding: a whole run through it says what a run in the bank's own dialect says."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from pathlib import Path

import pytest
from embedded import run_plan
from embedded import standings as standings_of
from shipped import bank_of

from assay.planning.plan import restrict
from assay.preparation.prepare import Prepared, prepare
from assay.rules.verdict import Standing
from assay.sandbox.app import make_app
from assay.sandbox.dialects import DIALECTS
from assay.sandbox.mutants import MUTANTS, PIS_MUTANTS
from assay.sandbox.policies import SOUND, Policies
from assay.sandbox.serve import serving

pytestmark = pytest.mark.slow

#: A method has one name in STET, and the document gives some of them several. STET addresses
#: accounts by ids of its own: what is not listed cannot be asked for, and a report of balances
#: does not name its account. It has two purposes only, and asks for the extended history in the
#: scope of a token.
NAMES = frozenset(
    {
        "aisp/balances.available/aliases-agree",
        "aisp/transactions.available/aliases-agree",
        "aisp/accounts.eligible/withholds-savings",
        "aisp/accounts.eligible/withholds-inactive",
        "aisp/accounts.eligible/withholds-offline",
        "aisp/cards.delayed-debit/withholds-immediate-debit",
        "aisp/own-data/balance",
        "aisp/own-data/outstanding",
        "aisp/no-extended-history/gives-no-more",
        "pis/cash/categoryPurpose-not-CASH-other",
        "pis/duplicate/categoryPurpose-changed-accepted",
        # The dialect is that of one bank.
        "aisp/accounts.available/refused-outside",
        "pis/host/read-payment-elsewhere",
        "pis/host/modify-payment-elsewhere",
        "pis/host/cancel-payment-elsewhere",
    }
)
STET = "stet-1.4.0"
#: What a fault shows in STET alone: the payment is read after another customer tried to sign it.
MORE = {"pis.sca.immediate-unsigned": {"pis/sca.required/only-the-owner"}}
#: Faults that STET cannot have: the id of a payment is in a header, and in no answer to a change;
#: nothing of a refused one is in the answer, and no credentials are read from bodies.
ABSENT = frozenset(
    {
        "pis.credentials.body-for-create",
        "pis.credentials.body-for-modify",
        "pis.embedded.body-in-create",
        "pis.embedded.body-in-modify",
        "pis.execution.no-id",
        "pis.modify.another-key",
        "pis.execution.deferred-without-id",
        "pis.execution.instant-without-id",
        "pis.execution.refused-open",
    }
)
#: Left open in STET, where nothing says that a payment was not executed before its customer came.
OPEN = frozenset({"pis/redirect.idle/nothing-done", "pis/redirect.overall/nothing-done"})
#: Each so manyth fault is tried.
EACH = int(os.environ.get("ASSAY_STET_FAULTS", "120"))


def standings(
    prepared: Prepared, policies: Policies = SOUND, ids: Collection[str] = ()
) -> dict[str, Standing]:
    """Run against a bank of our own, all or some obligations; return what became of each."""
    chosen = restrict(prepared.plan, ids) if ids else prepared.plan
    return standings_of(run_plan(chosen, prepared.target, bank_of(policies)))


def test_the_same_verdicts() -> None:
    """Every verdict is that of the bank's own dialect, but for names that STET does not have."""
    own, stet = standings(prepare()), standings(prepare(target_name=STET))
    assert own.keys() == stet.keys()
    different = {name for name in own if own[name] is not stet[name]}
    assert NAMES == different
    assert {Standing.NOT_APPLICABLE} == {stet[name] for name in NAMES}


def test_the_same_over_http() -> None:
    """A served sandbox is known to speak STET by its URL alone."""
    with serving(DIALECTS["stet"](make_app())) as url:
        prepared = prepare(target_name=f"{url}/stet/psd2/v1", keywords="available or segments")
        assert {Standing.CONFORMS, Standing.NOT_APPLICABLE} == set(standings(prepared).values())


def every(number: int) -> list[str]:
    """Return each so manyth fault of the bank."""
    return [one.id for one in (*MUTANTS, *PIS_MUTANTS)][::number]


#: The faults with which all trials are run anyway.
WHOLE = frozenset(every(12))


@pytest.mark.parametrize("fault", every(EACH))
def test_the_same_faults(fault: str) -> None:
    """A faulty bank violates the same in both dialects.

    The trials of its own obligations come first, and all where these do not show every one.
    """
    (mutant,) = (one for one in (*MUTANTS, *PIS_MUTANTS) if one.id == fault)
    contract = "aisp" if mutant in MUTANTS else "pis"
    more = MORE.get(fault, set())
    # What trials of other clauses show depends on the size of a page and the like.
    own = mutant.breaks - OPEN | more

    def red(target: str, ids: Collection[str] = ()) -> set[str]:
        by_id = standings(prepare([contract], target), mutant.change(SOUND), ids)
        violated = {name for name, each in by_id.items() if each is Standing.VIOLATES}
        return violated - NAMES

    if fault in ABSENT:
        assert not red(STET)
        return
    if fault in WHOLE or not (
        (red("sandbox", own) | more) & own == own - NAMES == red(STET, own) & own
    ):
        assert (red("sandbox") | more) & own == red(STET) & own


def test_a_mode_that_varies_more(tmp_path: Path) -> None:
    """A mode whose transfers lack members is refused for that anywhere: its refusal proves nothing."""
    short = {"amount": "1.00", "currency": "EUR"}
    lists = [{"instructedAmount": short}, {"instructedAmount": short}]
    several = {"body": "", "value": {"creditTransferTransaction": lists}}
    create = {"modes": {"several": several}}
    raw = {"assay": 1, "target": "own", "extends": STET, "operations": {"create-payment": create}}
    (tmp_path / "own.yaml").write_text(json.dumps(raw), encoding="utf-8")
    prepared = prepare(target_name=str(tmp_path / "own.yaml"), keywords="several-refused")
    assert {"pis/single/several-refused": Standing.INDETERMINATE} == standings(prepared)
