"""The TPP's side: a client that meets every obligation, and one that violates each."""

import pytest
from clients import VIOLATIONS, Client, clean

from assay.contract.model import Party
from assay.parsing.parse import find_contract, parse_contract
from assay.rules.obligation import tpp_obligations
from assay.rules.verdict import Standing
from assay.traffic.session import open_recording

#: What only the lack of a call shows: a recording may lack one, if nobody says that it is complete.
BY_ABSENCE = "aisp/consent.scope/only-consented"


def judged(har, tmp_path, *, complete=False):
    """Return the verdicts on a TPP's recording, which has the times of the bank, by obligation."""
    session = open_recording(har, party=Party.TPP, complete=complete, bank_clock=True)
    result = session.close(tmp_path / f"journal-{complete}.jsonl")
    return {verdict.obligation: verdict.standing for verdict in result.verdicts}


def all_obligations():
    """Return the ids of a TPP's obligations under the shipped contracts."""
    contracts = [parse_contract(find_contract(name)) for name in ("aisp", "pis")]
    return {obligation.id for contract in contracts for obligation in tpp_obligations(contract)}


def test_a_clean_client(tmp_path):
    """A client that does everything allowed, and nothing else, meets every obligation."""
    client = Client()
    clean(client)
    verdicts = judged(client.har(tmp_path / "clean.har"), tmp_path)
    assert dict.fromkeys(all_obligations(), Standing.CONFORMS) == verdicts


@pytest.mark.parametrize("obligation", VIOLATIONS)
def test_each_violation(obligation, tmp_path):
    """A client that violates one obligation is found to violate it, and no other."""
    client = Client()
    psu = clean(client)
    VIOLATIONS[obligation](client, psu)
    har = client.har(tmp_path / "broken.har")
    for complete in (True, False):
        verdicts = judged(har, tmp_path, complete=complete)
        open_ = not complete and obligation == BY_ABSENCE
        violated = [name for name, one in verdicts.items() if one is Standing.VIOLATES]
        assert [obligation][open_:] == violated
        assert Standing.INDETERMINATE is verdicts[obligation] or not open_


def test_every_obligation_has_a_violation():
    """The table of violations has every obligation of a TPP."""
    assert all_obligations() == set(VIOLATIONS)
