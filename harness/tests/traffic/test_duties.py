"""The provider's side: a client that keeps every duty, and one that breaks each."""

import pytest
from clients import BREAKS, Client, clean

from assay.contract.model import Party
from assay.contract.parse import find_contract, parse_contract
from assay.judging.verdict import Standing
from assay.planning.obligation import tpp_obligations
from assay.traffic.session import open_recording


def judged(har, tmp_path, **more):
    """Return the verdicts of a case, by obligation."""
    case = open_recording(har, party=Party.TPP, **more)
    result = case.close(tmp_path / "journal.jsonl")
    return {one.obligation: one for one in result.verdicts}


def broken(verdicts):
    """Return what is violated."""
    return {name for name, one in verdicts.items() if one.standing is Standing.VIOLATES}


def test_a_clean_client(tmp_path):
    """A client that does all that may be done, and no more, keeps every duty there is."""
    client = Client()
    clean(client)
    verdicts = judged(client.har(tmp_path / "clean.har"), tmp_path)
    assert {Standing.CONFORMS} == {one.standing for one in verdicts.values()}
    owed = [
        one
        for name in ("aisp", "pis")
        for one in tpp_obligations(parse_contract(find_contract(name)))
    ]
    assert {one.id for one in owed} == set(verdicts)


@pytest.mark.parametrize("duty", BREAKS)
def test_each_duty_broken(duty, tmp_path):
    """Who breaks one duty is found out in it, and in no other."""
    client = Client()
    psu = clean(client)
    BREAKS[duty](client, psu)
    verdicts = judged(client.har(tmp_path / "broken.har"), tmp_path)
    assert {duty} == broken(verdicts)


def test_every_duty_is_broken_by_somebody():
    """There is no duty that no client here breaks."""
    owed = [
        one
        for name in ("aisp", "pis")
        for one in tpp_obligations(parse_contract(find_contract(name)))
    ]
    assert {one.id for one in owed} == set(BREAKS)
