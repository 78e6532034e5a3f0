"""The example of NextGenPSD2: the sound bank conforms, and each fault is found by its sentence."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from embedded import standing
from nordhafen.faults import FAULTS
from nordhafen.policy import Policy
from xs2a_example import (
    CONTRACT,
    FOLDER,
    SENTENCES,
    TARGET,
    contract,
    lines_of_clauses,
    plan_in,
    rows,
    run,
)
from xs2a_found import FOUND, NOT_FOUND

from assay.cli.main import group
from assay.rules.verdict import Standing

pytestmark = pytest.mark.slow

#: Every how many faults one is tried: all of them with ASSAY_FAULTS=1.
EVERY = int(os.environ.get("ASSAY_FAULTS", "40"))
#: Accounts cannot be listed without a consent, nothing in that call can be made invalid, and it is
#: the one method of its quota. The answer about a consent has no key.
NOT_APPLICABLE = {
    "consents.addressed/same-key",
    "accounts.listed/all-without-consent",
    "frequency/per-method",
    "request-id.returned/accounts-in-refusals",
    "links/consent-elsewhere",
    "links/end-consent-elsewhere",
}
README = (FOLDER / "README.md").read_text("utf-8")


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """The target and the plan, with the bank in this process."""
    return plan_in(tmp_path_factory.mktemp("example"))


@pytest.mark.parametrize("seed", [0, 7])
def test_the_sound_bank_conforms(planned, seed):
    """Nothing is violated, and nothing that can be asked stays open."""
    result = run(planned, Policy(), seed)

    assert standing(result, Standing.NOT_APPLICABLE) == NOT_APPLICABLE
    assert {Standing.CONFORMS, Standing.NOT_APPLICABLE} == {
        verdict.standing for verdict in result.verdicts
    }


def test_a_bank_whose_consents_a_tpp_cannot_end(tmp_path):
    """The consent with which ids are looked up stays in force, and nothing is violated."""
    absent = "operations: {end-consent: null}\nabsent: {operations: {end-consent: not offered}}\n"
    result = run(plan_in(tmp_path, absent), Policy())

    assert set() == standing(result, Standing.VIOLATES)
    assert "balances.covered/balance-granted" in standing(result, Standing.CONFORMS)


@pytest.mark.parametrize("fault", FAULTS[::EVERY], ids=lambda fault: fault.name)
def test_a_fault_is_found_by_the_clause_of_its_sentence(planned, fault):
    """All that turns red belongs to the sentence that is broken."""
    violated = standing(run(planned, fault.policy), Standing.VIOLATES)

    assert set(FOUND.get(fault.name, ())) == violated


def test_what_is_found_belongs_to_the_sentence():
    """Each obligation in the table is one of a clause that cites the broken sentence."""
    faults = {fault.name: fault for fault in FAULTS}

    assert faults.keys() == FOUND.keys() | NOT_FOUND.keys()
    assert not FOUND.keys() & NOT_FOUND.keys()
    for name, obligations in FOUND.items():
        assert obligations
        for obligation in obligations:
            assert faults[name].line in lines_of_clauses()[obligation.partition("/")[0]], name


def test_each_sentence_has_a_fault():
    """A sentence whose breach was never tried proves nothing."""
    assert SENTENCES.keys() == {fault.line for fault in FAULTS}
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


def test_the_contract_cites_sentences():
    """Each source is a sentence of the document, in its own words if it quotes any."""
    for clause in contract().clauses:
        for source in clause.sources:
            assert source.text in SENTENCES[source.line]


def test_the_coverage_is_that_of_the_contract():
    """Each sentence has a row with its clauses; it is whole if all its faults are found."""
    table = {int(row[0]): row for row in rows((FOLDER / "coverage.md").read_text("utf-8"))}

    assert SENTENCES.keys() == table.keys()
    for line, (_, _, _, after, clauses, reason) in table.items():
        citing = {id_ for id_, lines in lines_of_clauses().items() if line in lines}
        faults = {fault.name for fault in FAULTS if fault.line == line}
        assert citing == {id_.strip("` ") for id_ in clauses.split(",") if id_.strip()}, line
        assert after in ("whole", "in part", "not")
        assert (after == "whole") == (bool(citing) and not faults & NOT_FOUND.keys()), line
        assert (after == "whole") == (not reason), line


def test_the_two_commands_of_the_readme(tmp_path):
    """The first serves the bank, the second runs the contract against it."""
    serve, run_it = [line[2:].split() for line in README.splitlines() if line.startswith("$ ")]
    assert ["python", "contract/examples/xs2a/nordhafen"] == serve
    files = [f"contract/examples/xs2a/{path.name}" for path in (CONTRACT, TARGET)]
    assert ["assay", "run", "--contract", files[0], "--target", files[1]] == run_it

    bank = subprocess.Popen(
        [sys.executable, FOLDER / "nordhafen", "0"], stdout=subprocess.PIPE, text=True
    )
    try:
        address = bank.stdout.readline().split()[-1]
        target = tmp_path / "served.yaml"
        target.write_text(
            f"assay: 1\ntarget: nordhafen\nextends: {TARGET}\ntransport: http\nbase_url: {address}\n"
        )
        words = ["run", "--contract", str(CONTRACT), "--target", str(target), "--no-doctor"]
        out = ["--out", str(tmp_path / "run"), "-k", "payments.made or payments.products"]
        ended = CliRunner().invoke(group, [*words, *out])
    finally:
        bank.terminate()
        bank.communicate()
    assert 0 == ended.exit_code, ended.output
    assert Path(tmp_path, "run", "report.html").exists()
