"""The release gate, exactly as the manual describes it: it blocks what became worse, and nothing else."""

import json
import re
import shlex
import shutil
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pytest
from command_line import assay
from shipped import VARIANTS, bank_of

from assay.running.environment import set_up
from assay.sandbox.policies import SOUND

PAGE = (Path(__file__).parents[3] / "contract" / "ci.md").read_text("utf-8")
SECTION = PAGE.partition("## Release gate\n")[2].partition("\n## ")[0]
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)
BASELINE, GATE = (text for language, text in BLOCKS if language == "sh")
#: Only to be quick: the gate is the same with all obligations.
SELECTED = ("-k", "batch-quota or iban or psu-identity or accounts.page-size", "--no-doctor")
#: The two deviations that the manual waives, and one that only the baseline knows.
WAIVED = ("quota.accounts-utc-day", "iban.wrong-check-digits")
KNOWN = "identity.misnamed"
#: A fault that is new.
THIRD = "paging.accounts-first-page-short"


def perform(block, folder, *faults):
    """Run the commands of a block on a bank with these faults; return the exit code of the run."""
    policies = SOUND
    for fault in faults:
        policies = VARIANTS[fault].change(policies)
    codes = {}
    with patch("assay.cli.run.set_up", partial(set_up, bank=bank_of(policies))):
        for line in filter(None, block.splitlines()):
            if not line.startswith("assay "):
                (folder / "baseline").mkdir(exist_ok=True)
                shutil.copy(folder / "production" / "report.json", folder / "baseline")
                continue
            _, name, *words = shlex.split(line)
            words += SELECTED if name == "run" else ()
            codes[name], out, err = assay(name, *words, cwd=folder, ASSAY_CONTEXTS="base")
            if name == "run":
                printed = out
            else:
                assert codes[name] == 0, (out, err)
    return codes["run"], printed


@pytest.fixture(scope="module")
def production(tmp_path_factory):
    """Return the folder of a user with target file, waivers and the baseline of a release."""
    folder = tmp_path_factory.mktemp("gate")
    (folder / "bank.yaml").write_text("assay: 1\ntarget: bank\nextends: sandbox\n", "utf-8")
    (waivers,) = (text for language, text in BLOCKS if language == "yaml")
    (folder / "waivers.yaml").write_text(waivers, "utf-8")
    code, _ = perform(BASELINE, folder, *WAIVED, KNOWN)
    assert code == 1
    return folder


@pytest.mark.parametrize(
    ("faults", "code", "reason"),
    [
        ((*WAIVED, KNOWN), 0, "nothing is worse than in the baseline (baseline, "),
        ((*WAIVED, KNOWN, THIRD), 1, "newly violated since the baseline"),
        (WAIVED, 0, "nothing is worse"),
        ((WAIVED[1], KNOWN), 2, "1 waiver to remove (no longer needed): aisp/batch-quota/"),
        ((WAIVED[0], KNOWN), 2, "1 waiver to remove (no longer needed): aisp/iban"),
    ],
    ids=["as-before", "a-third-fault", "one-is-fixed", "quota-healed", "iban-healed"],
)
def test_the_gate(production, tmp_path, faults, code, reason):
    """Two waived deviations and a known one pass, a third is blocked, a healed waiver is said."""
    folder = tmp_path / "user"
    shutil.copytree(production, folder)
    found, printed = perform(GATE, folder, *faults)
    assert (code, True) == (found, f"exit code {code}: " in printed), printed
    assert reason in printed
    changes = (folder / "candidate" / "changes.md").read_text("utf-8")
    assert ("Newly violated" in changes) == (code == 1)
    assert ("Fixed" in changes) == (KNOWN not in faults or code == 2)


def test_nothing_verified_is_no_pass(production, tmp_path):
    """Neither a floor nor a baseline is met by a run that verifies less than the one before."""
    shutil.copy(production / "waivers.yaml", tmp_path)
    blind = "assay: 1\ntarget: bank\nextends: sandbox\npresence: null\n"
    (tmp_path / "bank.yaml").write_text(blind, "utf-8")
    shutil.copytree(production / "baseline", tmp_path / "baseline")
    code, printed = perform(GATE, tmp_path, *WAIVED, KNOWN)
    assert code == 3
    assert "could not be verified, but conformed in the baseline" in printed
    assert "fewer than --min-verified 80%" in printed


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none", None, "no such journal"),
        ("empty", {}, "there is no journal.jsonl or report.json here"),
        ("damaged", {"journal.jsonl": "{}\n"}, "not an Assay journal"),
        ("foreign", {"report.json": "{}"}, "no report of the format"),
    ],
)
def test_a_baseline_that_cannot_be_used(name, content, message, tmp_path):
    """It is refused before anything is sent."""
    for file, text in (content or {}).items():
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_text(text, "utf-8")
    if content == {}:
        (tmp_path / name).mkdir()
    code, _, err = assay("run", "--baseline", name, "--out", "run", cwd=tmp_path)
    assert (2, True) == (code, message in err), err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "--shard", "1/2", "--min-verified", "3"), "pass --min-verified to `assay report"),
        (("run", "--min-verified", "some"), "for example 120, or 80%"),
        (("run", "--waivers", "none.yaml"), "there is no such file"),
        (("report", "j.jsonl", "--min-verified", "3"), "only for --merge"),
    ],
)
def test_options_that_cannot_be_used(words, message, tmp_path):
    """An option that would have no effect is refused, with what to do."""
    code, _, err = assay(*words, cwd=tmp_path)
    assert (2, True) == (code, message in err), err


# -- parts of a run ----------------------------------------------------------------
def waivers_of(folder):
    """Return the waivers of a run with their states and what they excuse."""
    report = json.loads((folder / "report.json").read_text("utf-8"))
    return [(each["name"], each["state"], each["waived"]) for each in report["waivers"]]


def run(folder, *words, bank="quota.accounts-utc-day"):
    """Run a command on a bank with one fault; return its exit code."""
    with patch("assay.cli.run.set_up", partial(set_up, bank=bank_of(bank))):
        words += SELECTED if words[0] == "run" and "--resume" not in words else ()
        return assay(*words, cwd=folder, ASSAY_CONTEXTS="base")[0]


@pytest.fixture(scope="module")
def whole(production):
    """Return the folder of a whole run, in which one waiver is needed and one is not."""
    assert 2 == run(production, "run", "--waivers", "waivers.yaml", "--out", "whole")
    return production / "whole"


EXPECTED = [
    ("aisp/batch-quota/accounts-next-day", "in-force", ["aisp/batch-quota/accounts-next-day"]),
    ("aisp/iban", "superfluous", []),
]


def test_shards(production, whole, tmp_path):
    """Waivers of a clause are judged by all shards together, as in a whole run."""
    shutil.copy(production / "waivers.yaml", tmp_path)
    for number in (1, 2):
        words = ("run", "--waivers", "waivers.yaml", "--shard", f"{number}/2", "--out", number)
        assert run(tmp_path, *words) in {0, 2}
    merge = ("report", "--merge", "1", "2")
    assert 2 == run(tmp_path, *merge, "--out", "merged")
    assert EXPECTED == waivers_of(whole) == waivers_of(tmp_path / "merged")
    code = run(tmp_path, *merge, "--out", "other", "--baseline", whole, "--min-verified", "999")
    assert 2 == code
    reasons = json.loads((tmp_path / "other" / "report.json").read_text())["run"]["exit_reasons"]
    assert [True, True] == ["waiver to remove" in reasons[0], "--min-verified 999" in reasons[1]]


def test_a_resumed_run(production, whole, tmp_path):
    """A run that was cut short goes on with its waivers, and with what it must verify."""
    words = ("run", "--waivers", "waivers.yaml", "--min-verified", "999", "--out", "cut")
    shutil.copy(production / "waivers.yaml", tmp_path)
    assert 2 == run(tmp_path, *words)
    journal = tmp_path / "cut" / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[: len(lines) // 2]))
    assert 2 == run(tmp_path, "run", "--resume", "cut")
    assert EXPECTED == waivers_of(tmp_path / "cut")
    report = json.loads((tmp_path / "cut" / "report.json").read_text("utf-8"))
    assert "--min-verified 999" in report["run"]["exit_reasons"][1]
    (tmp_path / "waivers.yaml").write_text("assay: 1\nwaivers: []\n", "utf-8")
    journal.write_bytes(b"".join(lines[: len(lines) // 2]))
    code, _, err = assay("run", "--resume", "cut", cwd=tmp_path)
    assert (2, True) == (code, "the target file has changed since the run began" in err)


def test_a_journal_is_judged_with_waivers(production, whole, tmp_path):
    """`assay judge` takes the same options, and comes to the same result."""
    words = ("--waivers", production / "waivers.yaml", *SELECTED[:2], "--out", "judged")
    assert 2 == run(tmp_path, "judge", whole / "journal.jsonl", *words)
    assert EXPECTED == waivers_of(tmp_path / "judged")


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("obligation: aisp/batch-quota/nextday", 2, "no such obligation in this run"),
        ("clause: aisp/bath-quota", 2, "did you mean 'aisp/batch-quota'?"),
        ("clause: aisp/unspecified", 2, "no such clause in this run"),
        ("clause: aisp/batch-quota", 0, ""),
    ],
)
def test_what_check_and_plan_say(text, code, message, tmp_path):
    """A waiver that matches nothing is an error with its line, before anything is sent."""
    waiver = f"assay: 1\nwaivers:\n  - {text}\n    owner: o\n    reason: r\n    expires: "
    (tmp_path / "w.yaml").write_text(f"{waiver}2099-01-01\n", "utf-8")
    for words in (("check", "aisp", "w.yaml"), ("plan", "-k", "iban", "--waivers", "w.yaml")):
        found, _, err = assay(*words, cwd=tmp_path)
        assert (code, True) == (found, message in err), err
        assert (code == 0) or "w.yaml:3: waiver of" in err


def test_expired_waivers_are_noted(tmp_path):
    """`check` and `plan` note which waivers have expired or will soon, with file and line."""
    soon = (datetime.now(UTC) + timedelta(days=3)).date()
    items = [
        (f"aisp/batch-quota/{name}", day)
        for name, day in (("long-day", "2020-01-01"), ("per-method", soon))
    ]
    entries = [
        {"obligation": n, "owner": "o", "reason": "r", "expires": str(day)} for n, day in items
    ]
    target = f"assay: 1\ntarget: t\nextends: sandbox\nwaivers: {json.dumps(entries)}\n"
    (tmp_path / "t.yaml").write_text(target, "utf-8")
    for words in (("check", "aisp", "t.yaml"), ("plan", "-k", "iban", "--target", "t.yaml")):
        code, out, _ = assay(*words, cwd=tmp_path)
        assert code == 0
        assert "t.yaml:4: note: aisp/batch-quota/long-day: the waiver expired on 2020-01-01" in out
        assert f"aisp/batch-quota/per-method: the waiver expires soon, on {soon}" in out
