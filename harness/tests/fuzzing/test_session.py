"""Random searches as part of a run: by command and by pytest, recorded, saved and replayed."""

import json
import os
import re
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from wsgiref.types import WSGIApplication

import command_line
import pytest
from shipped import VARIANTS
from suite_runs import run_suites

from assay.binding.model.target import Safety
from assay.cli.resume import read_progress
from assay.errors import Exit
from assay.fuzzing.findings import SearchRequest
from assay.fuzzing.search import Search
from assay.fuzzing.sequences.abstract_step import AbstractStep
from assay.fuzzing.sequences.sequence_file import RecordedSequence, open_examples
from assay.fuzzing.session import SearchSession
from assay.history import Call
from assay.journal.writer import Journal
from assay.preparation.prepare import prepare
from assay.report import read_journal
from assay.rules.verdict import Standing
from assay.running.environment import set_up
from assay.running.session import Session, run_session
from assay.sandbox.app import make_app
from assay.sandbox.policies import SOUND
from assay.sandbox.serve import serving

pytestmark = pytest.mark.slow

#: An obligation that only a search finds violated at the tiring bank, soon: its trial asks once.
ASKED = "aisp/balances.available/answers"
#: How many sequences are more than enough for that.
SEQUENCES = 30


@dataclass
class Tiring:
    """A sound bank that tells each customer the balances twice, and answers 500 from then on."""

    bank: WSGIApplication
    read: Counter = field(default_factory=Counter)

    def __call__(self, environ, start):
        """Answer, or do not."""
        who = environ.get("HTTP_AUTHORIZATION")
        asked = who and "balances" in environ["PATH_INFO"]
        self.read[who] += bool(asked)
        if asked and self.read[who] > 2:
            start("500 Internal Server Error", [("Content-Length", "0")])
            return []
        return self.bank(environ, start)


@pytest.fixture(scope="module")
def faulty():
    with serving(Tiring(make_app())) as url:
        yield url


@pytest.fixture(scope="module")
def run(tmp_path_factory, faulty):
    """Search the faulty bank, and return the folder of the run and what it printed."""
    folder = tmp_path_factory.mktemp("run")
    code, out, err = assay(
        *("run", "-c", "aisp", "-t", faulty, "-k", ASKED),
        *("--journeys", SEQUENCES, "--out", "out", "--examples", "kept"),
        cwd=folder,
    )
    assert code == 1
    assert all(line.startswith("✗ ") for line in err.splitlines())
    return folder, out


def test_what_a_search_finds_is_a_verdict(run):
    """The output has the obligation, and the command that replays the recorded sequence."""
    folder, out = run
    assert f"✗ {ASKED}  violates" in out
    assert "The gateway violates the one obligation." in out
    sequence = folder / "out" / "sequences" / "aisp-balances.available-answers.json"
    assert f"--replay {sequence.relative_to(folder)}" in out
    assert "missing from the journal" not in out


def test_the_record_of_a_search(run):
    """The journal has the extent of the search, and the exchanges of the sequence."""
    folder, _ = run
    report = read_journal(folder / "out" / "journal.jsonl")
    lines = (folder / "out" / "journal.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    (search,) = [record for record in records if record["type"] == "search"]
    assert (search["contract"], search["how"], search["seed"]) == ("aisp", "journeys", 0)
    assert search["made"] >= SEQUENCES // 2
    assert search["exchanges"] > SEQUENCES
    assert [ASKED] == [finding["obligation"] for finding in search["findings"]]
    trials = {record.get("trial") for record in records if record["type"] == "exchange"}
    assert "aisp/journeys#balances.available/answers" in trials
    assert [exchange for result in report.results for exchange in result.exchanges]


def test_a_recorded_sequence_has_no_key_of_a_customer(run):
    """A recorded sequence can be sent to anybody."""
    folder, _ = run
    for path in (folder / "out" / "sequences").iterdir():
        text = path.read_text()
        assert re.search(r'"own": \d', text)
        assert "FR76" not in text


def test_a_recorded_sequence_is_replayed(run, faulty):
    """It violates the obligation again at the faulty bank, and not at the sound one."""
    folder, _ = run
    code, out, _ = assay("run", "-t", faulty, "--replay", "out/sequences", cwd=folder)
    assert code == 1
    assert f"✗ {ASKED}  violates" in out
    code, out, _ = assay("run", "--replay", "out/sequences", cwd=folder)
    assert code == 0
    assert "The gateway meets the one obligation." in out


def test_saved_sequences_are_tried_first(run, faulty):
    """A saved sequence finds the fault at once; it is deleted where it violates nothing."""
    folder, _ = run
    again = ("run", "-c", "aisp", "-k", ASKED, "--journeys", 1, "--examples", "kept")
    code, out, _ = assay(*again, "-t", faulty, cwd=folder)
    assert code == 1, out
    assert assay(*again, cwd=folder)[0] == 0
    assert assay(*again, "-t", faulty, cwd=folder)[0] == 0


def test_saved_sequences_of_another_contract_version_are_left_out(run, faulty):
    """A saved sequence with an operation that the contract no longer has is kept, and not tried."""
    folder, _ = run
    examples = open_examples(str(folder / "foreign"))
    step = AbstractStep(step=Call(operation="acounts", subject="psu"))
    saved = RecordedSequence(name="x", contract="aisp", breaks=(ASKED,), steps=(step,))
    examples.save(saved)
    once = ("run", "-c", "aisp", "-k", ASKED, "--journeys", 1, "--examples", "foreign")
    assert assay(*once, cwd=folder)[0] == 0
    assert ["x"] == [recorded.name for recorded in examples.sequences("aisp")]


def test_a_run_without_a_search(tmp_path):
    """A run without a search reports none, and saves no sequences."""
    code, out, _ = assay("run", "-k", "aisp/accounts.available", cwd=tmp_path)
    assert code == 0
    assert "Search" not in out
    assert not (tmp_path / "reports" / "local" / "examples").exists()


def test_a_search_that_finds_nothing(tmp_path):
    """A search without findings reports how many sequences it ran."""
    code, out, _ = assay("run", "-k", "euro", "--journeys", 3, cwd=tmp_path)
    assert code == 0
    assert "aisp: 3 random sequences" in out
    assert "no violation found" in out


def test_fields_are_searched_in_the_same_way(tmp_path):
    """A request with one mutated field finds the bank that does not check it."""
    with serving(make_app(VARIANTS["pis.mandatory.creditorAccount-type"].change(SOUND))) as url:
        code, out, _ = assay(
            *("run", "-c", "pis", "-t", url, "-k", "content/creditorAccount"),
            *("--fields", 150, "--out", "out", "--examples", "none"),
            cwd=tmp_path,
        )
    assert code == 1, out
    assert "✗ pis/payments.content/creditorAccount  violates" in out
    assert "found by random search (fields), in a sequence of" in out
    assert "pis: 150 field variations" in out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--replay", "none.json"), "none.json"),
        (("--replay", "empty"), "there is no recorded sequence in this folder"),
        (("--replay", "bad.json"), "bad.json:1"),
        (("--replay", "other.json"), "there is no obligation aisp/batch-quotas/x"),
        (("--replay", "foreign.json"), "steps[0].operation: aisp has no operation 'acounts'"),
        (("--replay", "foreign.json"), "(did you mean 'accounts'?)"),
        (("--journeys", "-1"), "-1"),
        (("--journeys", "1", "--examples", "redis://127.0.0.1:1/0"), "redis"),
    ],
    ids=str,
)
def test_bad_input_is_an_error_of_one_line(tmp_path, args, message):
    """The error names file and line, and no call is made."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad.json").write_text('{"assay": 2}')
    head = {"assay": 1, "sequence": "x", "contract": "aisp", "breaks": ["aisp/batch-quotas/x"]}
    (tmp_path / "other.json").write_text(json.dumps({**head, "steps": [{"do": "inquire"}]}))
    foreign = {**head, "breaks": ["aisp/batch-quota/accounts-served"]}
    call = {"do": "call", "operation": "acounts", "subject": "psu"}
    (tmp_path / "foreign.json").write_text(json.dumps({**foreign, "steps": [call]}))
    code, out, err = assay("run", *args, cwd=tmp_path)
    assert (code, out) == (2, "")
    assert message in err


def assay(*args, cwd):
    """Run the command on a wide terminal."""
    return command_line.assay(*args, cwd=cwd, COLUMNS="200")


def test_pytest_searches_with_the_option(tmp_path, faulty):
    """Each contract is one item; a finding fails it with its sequence, step by step."""
    search = ("-c", os.devnull, "--contract", "aisp", "--assay-journeys", SEQUENCES)
    code, out, _ = run_suites(*search, "-k", "journeys", "--target", faulty, cwd=tmp_path)
    assert code == 1, out
    assert f"{ASKED} violates" in out
    assert '"do": "arrange"' in out
    code, out, _ = run_suites(*search[:-1], 3, "-k", "journeys or accounts.listing", cwd=tmp_path)
    assert code == 0, out
    assert "4 passed" in out


def test_pytest_does_not_search_without_the_option(tmp_path):
    """Without the option there is no item for a search."""
    code, out, _ = run_suites("-c", os.devnull, "--contract", "aisp", "--co", cwd=tmp_path)
    assert code == 0
    assert "journeys" not in out


def test_the_journal_of_a_pytest_run(tmp_path):
    """The journal of a pytest run has the search, too."""
    code, out, _ = run_suites(
        *("-c", os.devnull, "--contract", "aisp", "-k", "euro or journeys"),
        *("--assay-journeys", 2, "--assay-journal", "j.jsonl", "--assay-examples", "kept"),
        cwd=tmp_path,
    )
    assert code == 0, out
    report = read_journal(tmp_path / "j.jsonl")
    assert [(search.contract, search.how, search.made) for search in report.searches] == [
        ("aisp", "journeys", 2)
    ]


@pytest.mark.skipif(find_spec("schemathesis") is None, reason="there is no Schemathesis")
def test_pytest_searches_each_operation_by_its_document(tmp_path):
    """Each operation is one item of `--assay-schema`, and one search of the journal."""
    code, out, _ = run_suites(
        *("-c", os.devnull, "--contract", "aisp", "-k", "schema and (accounts or identity)"),
        *("--assay-schema", "--assay-journal", "j.jsonl"),
        cwd=tmp_path,
    )
    assert code == 0, out
    assert "2 passed" in out
    report = read_journal(tmp_path / "j.jsonl")
    assert [(search.how, search.operation) for search in report.searches] == [
        ("schema", "accounts"),
        ("schema", "end-user-identity"),
    ]


# -- what ends a search ---------------------------------------------------------------
def gone(environ, start):
    """Answer nothing but 503."""
    start("503 Service Unavailable", [("Content-Length", "0")])
    return [b""]


def half_gone(environ, start):
    """Answer nothing but 503, except for the control API."""
    return [] if "/assay-control/" in environ["PATH_INFO"] else gone(environ, start)


def ctrl_c(environ, start):
    """Interrupt the run."""
    raise KeyboardInterrupt


@pytest.fixture
def searched(tmp_path, monkeypatch):
    """Run a search at the tiring bank, which comes to an `end` once a violation was seen."""
    seen = []

    def judged(search, history, judged=Search._judged):
        broken = judged(search, history)
        seen.extend(broken)
        return broken

    monkeypatch.setattr(Search, "_judged", judged)

    def run(end):
        def bank(base):
            tiring = Tiring(make_app(base_url=base))
            return lambda *call: (seen and end(*call)) or tiring(*call)

        prepared = prepare(["aisp"], keywords=ASKED)
        target = replace(prepared.target, safety=Safety(breaker=20))
        journal = Journal.at(tmp_path / "journal.jsonl")
        environment = set_up(target, bank=bank)
        session = Session(plan=prepared.plan, environment=environment, journal=journal)
        searches = SearchSession(session=session, plan=prepared.plan, whole=prepared.plan)
        request = SearchRequest(contract="aisp", how="journeys", times=SEQUENCES)
        with closing(journal.out):
            return run_session(session, search=lambda: searches.search(request))

    return run


def violated(folder):
    """Return the violations of a journal, each of which has an exchange in it."""
    report = read_journal(folder / "journal.jsonl", partial=True)
    found = [each for each in report.results if each.standing is Standing.VIOLATES]
    assert all(each.exchanges for each in found)
    return [each.planned.id for each in found]


@pytest.mark.parametrize(
    ("end", "why"),
    [(half_gone, "20 failures in a row (safety.breaker)"), (gone, "the fixture provider failed")],
)
def test_a_bank_that_goes_away_in_a_search(tmp_path, searched, end, why):
    """A violation found before is reported with its exchanges, and the run says that it ended early."""
    result = searched(end)
    assert [ASKED] == violated(tmp_path)
    assert why in result.stopped
    assert Exit.VIOLATION is result.exit
    lines = map(json.loads, (tmp_path / "journal.jsonl").read_text().splitlines())
    (search,) = (line for line in lines if line["type"] == "search")
    assert why in search["stopped"]
    assert any("ended early" in note for note in search["notes"])
    # A resumed run keeps the verdict, and searches again.
    progress = read_progress(tmp_path / "journal.jsonl")[1]
    assert Standing.VIOLATES is progress.verdicts[ASKED].verdict.standing
    assert not progress.searches


def test_an_interrupt_in_a_search(tmp_path, searched):
    """Ctrl-C while a violation is shortened ends the run, and the violation is reported."""
    with pytest.raises(KeyboardInterrupt):
        searched(ctrl_c)
    assert [ASKED] == violated(tmp_path)


def test_an_error_of_ours_in_a_search(tmp_path, searched, monkeypatch):
    """While a violation is shortened: it is reported, and so is the fault, with its exit code."""

    def fails(*_args, **_options):
        raise RuntimeError("no good")

    monkeypatch.setattr("assay.fuzzing.search.shrink", fails)
    result = searched(lambda *_: [])
    assert Exit.FAULT is result.exit
    assert ("aisp/journeys: RuntimeError: no good",) == result.faults
    assert [ASKED] == violated(tmp_path)
