"""pytest at a bank with listed customers: `--assay-role`, and one worker for all trials."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from suite_runs import run_suites

from assay.preparation.prepare import load_target
from assay.pytest_plugin.suites import serial_reason
from assay.sandbox.app import make_app
from assay.sandbox.serve import serving

pytestmark = pytest.mark.slow


@dataclass
class Listing:
    """A served sandbox, and the environment of a run with two of its customers."""

    url: str
    folder: Path
    tokens: dict = field(default_factory=dict)

    def list(self, *names):
        """Make customers through the control API, and write the target file that lists them."""
        control, roles = f"{self.url}/assay-control/1/worlds", {}
        holdings = [{"resource": "account", "count": 2}, {"resource": "card", "count": 1}]
        with httpx.Client(trust_env=False) as http:
            made = http.post(control, json={}).json()
            for name in names:
                customers = f"{control}/{made['world']}/customers"
                customer = http.post(customers, json={"holdings": holdings}).json()
                self.tokens[f"T_{name.upper()}"] = customer["token"]
                roles[name] = {
                    "token_env": f"T_{name.upper()}",
                    "owns": [
                        {"resource": each["resource"], "key": each["key"]}
                        for each in customer["holdings"]
                    ],
                }
        (self.folder / "bank.yaml").write_text(
            f"""\
assay: 1
target: bank
extends: sandbox
transport: http
base_url: {self.url}
hosts: null
fixtures:
  kind: roles
  now: "{made["now"]}"
  offers: [psu, two-psu, consent, roster]
  roles: {json.dumps(roles)}
""",
            "utf-8",
        )

    def run(self, *args, words="available"):
        """Run the suites in a process of their own; return the exit code and what it prints."""
        code, out, err = run_suites(
            *("--contract", "aisp", "--target", "bank.yaml", "-k", words, *args),
            cwd=self.folder,
            env={**self.tokens, "ASSAY_LEDGER": str(self.folder / "ledger.db")},
        )
        return code, out + err


@pytest.fixture
def bank(tmp_path):
    """Serve the sandbox, with two customers in a target file."""
    with serving(make_app()) as url:
        listing = Listing(url=url, folder=tmp_path)
        listing.list("alice", "bob")
        yield listing


def customers(journal):
    """Return the listed customers whose accesses a journal counts."""
    return set(re.findall(r'"customer": "([a-z]*)"', journal.read_text("utf-8")))


def test_a_run_is_limited_to_a_role(bank):
    """Only the named customer is used; without the option, the other one is as well."""
    code, out = bank.run("--assay-role", "bob", "--assay-journal", "bob.jsonl", words="batch")
    assert (3, True) == (code, "conforms" in out), out
    assert {"bob"} == customers(bank.folder / "bob.jsonl")
    bank.run("--assay-journal", "all.jsonl", words="batch")
    assert "alice" in customers(bank.folder / "all.jsonl")


def test_an_unknown_role_is_one_line(bank):
    """The error names the option as it is in pytest, and what is close."""
    code, out = bank.run("--assay-role", "bo")
    assert 4 == code
    assert "ERROR: --assay-role: bank has no role 'bo' (did you mean 'bob'?)" in out


def test_workers_do_not_share_customers(bank):
    """The trials of listed customers affect one another: one worker runs them all, and pytest says so."""
    code, out = bank.run("-n", "2", "-v")
    assert 0 == code, out
    assert "one worker runs all obligations: trials share customers or the clock" in out
    workers = set(re.findall(r"^\[(gw\d)\].*\[aisp/", out, re.MULTILINE))
    assert 1 == len(workers)


def test_a_distribution_of_their_own_is_refused(bank):
    """With `--dist` the user would divide them."""
    code, out = bank.run("-n", "2", "--dist", "worksteal")
    assert 0 != code
    assert "--dist worksteal: trials share customers or the clock" in out


@pytest.mark.parametrize(
    ("more", "workers", "reason"),
    [
        ("", 8, ""),
        ("budget: {calls: 100}", 2, "trials share a budget and spend it in order (budget.calls)"),
        ("safety: {concurrency: 2}", 2, ""),
        ("safety: {concurrency: 2}", 3, "safety.concurrency"),
        ("safety: {concurrency: 1}", None, ""),
    ],
)
def test_what_workers_may_share(tmp_path, more, workers, reason):
    """Each worker has a guard of its own, so a limit of the target is that of one worker."""
    path = tmp_path / "t.yaml"
    path.write_text(f"assay: 1\ntarget: t\nextends: sandbox\n{more}\n", "utf-8")
    config = SimpleNamespace(option=SimpleNamespace(numprocesses=workers))
    assert reason == serial_reason(config, load_target(str(path)))
