"""`assay explain`: an obligation and its verdict, understood without our source code."""

from datetime import timedelta
from pathlib import Path
from typing import get_args

import pytest
from command_line import assay
from rows import for_each

from assay.cli.explain import START, in_words
from assay.history import (
    Advance,
    Arrange,
    Authorise,
    Call,
    Decision,
    Holding,
    Lack,
    Register,
    Resend,
    Step,
    Together,
)
from assay.history.steps import Renew, Submit, Withdraw
from assay.preparation.prepare import prepare

NEXT_DAY = "aisp/batch-quota/accounts-next-day"
XS2A = Path(__file__).parents[3] / "contract" / "examples" / "xs2a"


def explained(cwd, *arguments):
    """Return what the command prints, by section: the first line of each is its title."""
    code, out, err = assay("explain", *arguments, cwd=cwd)
    assert code == 0, err
    sections = [part.splitlines() for part in out.split("\n\n")]
    return {lines[0].partition(":")[0]: lines[1:] for lines in sections}


def test_an_obligation_of_a_shipped_contract(tmp_path):
    """Sentence and words of the document, the steps, criteria, keys with lines, duties, contexts."""
    found = explained(tmp_path, NEXT_DAY, "--contexts", "each")
    first, trial, verdict, file, contexts = (" ".join(lines) for lines in found.values())
    assert "each method can be called up to 4 times per calendar day" in first
    assert "source     Limits, line 116: “Batch accesses" in first
    assert "3. psu: accounts, without the customer (5 times)" in trial
    assert "the clock moves by 14 h 30 s, to Wednesday 2026-09-16 22:00:30" in trial
    assert "expected   an answer: a new day after 2026-09-16 has begun" in verdict
    assert "conforms   it was accepted (200)" in verdict
    assert "violates   it was refused (429)" in verdict
    assert "at a bank with this fault: accounts: the quota applies to the UTC day" in verdict
    assert "operations.accounts, line " in file
    assert "move the clock, which stands still between moves" in file
    assert "needs a marker for calls without the customer, a clock that can be moved" in file
    assert "by another TPP" in contexts


def test_with_listed_customers_nothing_is_created(tmp_path):
    """They are listed, and no clock is moved for them."""
    role = "{token_env: T, login_env: L, password_env: P, owns: [{resource: account, key: A1}]}"
    fixtures = f"{{kind: roles, offers: [psu, write], roles: {{ann: {role}}}}}"
    (tmp_path / "bank.yaml").write_text(
        "assay: 1\ntarget: bank\nextends: sandbox\ntransport: http\nbase_url: https://bank.example\n"
        f"hosts: null\nfixtures: {fixtures}\n"
    )
    found = explained(tmp_path, "aisp/accounts.available/answers", "--target", "bank.yaml")
    text = "\n".join("\n".join(lines) for lines in found.values())
    assert "fixtures, line 7: list such customers\n" in text
    assert "a customer psu with" in text


@for_each(
    ("name", "step", "expected", "seen"),
    [
        (
            "aisp/accounts.page-size/first-page",
            "the next page (2 times)",
            "5 items on page 1",
            "4 items",
        ),
        ("aisp/iban/account", "psu: accounts", "iban to be in the format iban", "check digits"),
        ("pis/duplicate/repeat-refused", "the same request again", "rejected", "then executed"),
        ("pis/sca.required/nothing-before-signing", "create-payment", "", ""),
    ],
)
def test_kinds_of_every_sort(tmp_path_factory, name, step, expected, seen):
    """Lists, fields, requests and signatures: what each verdict takes is said in its own words."""
    found = explained(tmp_path_factory.mktemp("explain"), name, "--contexts", "base")
    text = "\n".join("\n".join(lines) for lines in found.values())
    assert step in text
    assert any("expected   " in line and expected in line for line in found["Verdict"])
    assert any("violates   " in line and seen in line for line in found["Verdict"])


def test_a_contract_of_somebody_else(tmp_path):
    """Nothing of the sandbox explains it: what is expected comes from dry runs."""
    contract, target = str(XS2A / "xs2a.yaml"), str(XS2A / "nordhafen.yaml")
    plan = prepare([contract], target).plan
    settled = (each for trial in plan.trials for each in trial.settles)
    name = next(each.id for each in settled if each.kind == "quota")
    found = explained(tmp_path, name, "-c", contract, "-t", target)
    assert "with this fault" not in str(found)
    assert any(line.startswith("  expected   ") for line in found["Verdict"])


def test_an_open_point_and_what_is_not_tested(tmp_path):
    """There is no trial; the reason of the plan is there."""
    (only,) = explained(tmp_path, "aisp/unspecified/rule-order", "-c", "aisp").values()
    assert "the source document leaves this open" in " ".join(only)


def test_an_unknown_id_says_which_may_be_meant(tmp_path):
    """By a part of it, or by the nearest."""
    code, _, err = assay("explain", "repeat-refused", cwd=tmp_path)
    assert code == 2
    assert "did you mean pis/duplicate/repeat-refused" in err
    assert "did you mean" in assay("explain", "aisp/batch-quota/per-metod", cwd=tmp_path)[2]


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """Return the folder of a run in which one obligation conforms and others were not reached."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "bank.yaml").write_text("assay: 1\ntarget: bank\nextends: sandbox\nzone: null\n")
    run = (
        "run",
        "-t",
        "bank.yaml",
        "-c",
        "aisp",
        "-k",
        "batch-quota or iban",
        "--contexts",
        "base",
    )
    assay(*run, "--no-doctor", "--quiet", "--out", "out", cwd=folder)
    return folder


def test_what_happened_in_a_run(stopped):
    """Contract and target come from the journal; a reason has those that it leaves open, too."""
    found = explained(stopped, NEXT_DAY, "out")
    (happened,) = (lines for title, lines in found.items() if title.startswith("In out"))
    assert any("reason: " in line for line in happened)
    assert any("the same reason leaves" in line for line in happened)
    conforming = explained(stopped, "aisp/iban/account", "out/journal.jsonl")
    assert "In out/journal.jsonl" in conforming
    assert any("bank.yaml" in title for title in map(str, _titles(stopped)))


def test_what_shows_that_an_obligation_conforms(tmp_path):
    """The exchanges that its evidence cites are read, too."""
    name = "aisp/iban/account"
    assay("run", "-k", name, "--contexts", "base", "--quiet", "--out", "out", cwd=tmp_path)
    code, out, err = assay("explain", name, "out", cwd=tmp_path)
    assert (0, "") == (code, err)
    assert "accepted (200)" in out.partition("In out")[2]
    assert "missing from the journal" not in out


def _titles(folder):
    return assay("explain", "aisp/iban/account", "out", cwd=folder)[1].splitlines()


def test_an_obligation_that_a_run_did_not_plan(stopped):
    """It says so, after what the obligation asks."""
    code, out, err = assay("explain", "aisp/own-data/account", "out", cwd=stopped)
    assert (code, "it was not planned in out/journal.jsonl" in err) == (2, True), (out, err)


# -- steps in words ----------------------------------------------------------------
CONTRACT = prepare(["pis"]).plan.contracts["pis"]


def test_every_step_of_a_probe_has_words():
    """But a request that is sent again, which no probe does, and a look at the clock."""
    plain = {
        Arrange: Arrange(subject="psu", holdings=()),
        Authorise: Authorise(subject="psu", request="1", approval=None),
        Call: Call(operation="create-payment", subject="psu"),
        Advance: Advance(to=START + timedelta(hours=1)),
        Lack: Lack(mode="instant"),
        Register: Register(
            subject="psu", operation="create-payment", argument="payee", age=timedelta(days=3)
        ),
        Withdraw: Withdraw(subject="psu", request="1"),
        Renew: Renew(subject="psu", operation="create-payment"),
        Submit: Submit(subject="psu", request="1"),
        Together: Together(steps=()),
    }
    others = {kind: kind() for kind in get_args(Step) if kind not in {*plain, Resend}}
    for kind, step in {**plain, **others}.items():
        assert [*in_words([step], CONTRACT)], kind
    assert [] == [*in_words([Advance()], CONTRACT)]


@for_each(
    ("step", "text"),
    [
        (
            Arrange(subject="psu", holdings=(Holding(resource="account", count=3),), segment="PRO"),
            "a customer psu with 3 account, segment PRO",
        ),
        (
            Authorise(subject="psu", request="1", approval=None, decision=Decision.REFUSE, by="b"),
            "b refuses the request on the bank's screens",
        ),
        (
            Call(operation="create-payment", subject="psu", by="other", host=1, variation="late"),
            "other: create-payment, at host 2 [late]",
        ),
        (
            Advance(to=START + timedelta(days=1, seconds=1)),
            "the clock moves by 1 day 1 s, to Thursday 2026-09-17 08:00:01 +0000",
        ),
        (
            Lack(mode="instant", bank="b"),
            "the trial goes on at another bank of the group, b, which does not offer instant",
        ),
    ],
)
def test_steps_in_words(step, text):
    """Who does what, how, and the one thing that is varied."""
    assert [text] == [*in_words([step], CONTRACT)]
