"""Impacts on the bank, compared with what a run says of a bank that has not changed.

The sandbox keeps to the shipped contracts. Tested by an edited one, it violates it exactly
where the change is `breaking` or `adjust` for the bank.
"""

import pytest
from command_line import assay

from assay._resources import contract_dir
from assay.extras.diff import compare
from assay.files.load import loads
from assay.rules.consequences import Impact

#: Contract, what is edited, and the obligations that can show it.
EDITS = [
    ("aisp", "    limit: 4", "    limit: 3", "batch-quota/accounts-refused"),
    ("aisp", "    limit: 4", "    limit: 5", "batch-quota/accounts-served"),
    ("aisp", "size: 5", "size: 4", "accounts.page-size/first-page"),
    ("aisp", "    days: 90\n    edge", "    days: 60\n    edge", "transactions.depth/default"),
    ("aisp", "    days: 90\n    edge", "    days: 120\n    edge", "transactions.depth/default"),
    ("aisp", "months: 2", "months: 3", "cards.eligible/lists-just-inside"),
    ("aisp", "[CLBD, VALU, OTHR]", "[CLBD, VALU]", "balance-type/balance"),
    ("aisp", "[CLBD, VALU, OTHR]", "[CLBD, VALU, OTHR, ITAV]", "balance-type/balance"),
    ("aisp", 'from: "02:00"', 'from: "03:00"', "maintenance/before"),
    ("aisp", 'from: "02:00"', 'from: "01:00"', "maintenance/before"),
    ("pis", "minutes: 30", "minutes: 20", "redirect.overall/dead-after"),
    ("pis", "hours: 72", "hours: 24", "cash/creditorAccount-just-over-24h"),
    ("pis", "hours: 72", "hours: 96", "cash/creditorAccount-at-96h"),
    ("pis", "PRO: [sms, cap]", "PRO: [sms]", "sca.factors/PRO-offered"),
    ("pis", "PRO: [sms, cap]", "PRO: [sms, cap, soft-token]", "sca.factors/PRO-offered"),
    ("pis", "served: [PART, PRO]\n    refused: [", "served: [PART]\n    refused: [PRO, ", "segments/PRO"),
    ("pis", "refuses: [savings, inactive,", "refuses: [savings,", "eligible-accounts/refuses"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "before", "after", "shown"), EDITS, ids=range(len(EDITS)))
def test_an_unchanged_bank_violates_what_is_not_easier(tmp_path, name, before, after, shown):
    """A change that the bank need not follow keeps it green; any other turns it red."""
    text = (contract_dir() / f"{name}.yaml").read_text("utf-8")
    assert before in text
    edited = text.replace(before, after, 1)
    (tmp_path / "new.yaml").write_text(edited, "utf-8")
    (change,) = compare(loads(text), loads(edited)).changes
    must_change = change.consequence.bank in {Impact.BREAKING, Impact.ADJUST}

    select = ("--contract", "new.yaml", "-k", f"{name}/{shown}")
    code, out, _ = assay("run", *select, "--out", "out", cwd=tmp_path)
    assert (1 if must_change else 0) == code, out
