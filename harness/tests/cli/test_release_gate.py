"""The release gate, exactly as the manual describes it: it blocks what became worse, and nothing else."""

import re
import shlex
import shutil
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pytest
from command_line import assay
from shipped import VARIANTS, bank_of

from assay.execution.environment import set_up
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
        ((WAIVED[1], KNOWN), 2, "1 waiver to remove, no longer needed: aisp/batch-quota/"),
        ((WAIVED[0], KNOWN), 2, "1 waiver to remove, no longer needed: aisp/iban"),
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
