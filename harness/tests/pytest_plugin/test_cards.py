"""What a violation looks like in pytest, JUnit, pytest-html and Allure."""

import html
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from support.command_line import assay

from assay._resources import suites_dir
from assay.pytest_plugin import _found as found
from assay.sandbox.app import make_app
from assay.sandbox.mutants import MUTANTS
from assay.sandbox.policies import SOUND
from assay.sandbox.serve import serving

BROKEN = "aisp/batch-quota/accounts-next-day"
ITEM = f"test_obligations.py::test_access[{BROKEN}]"
WRONG = "violates: expected an answer: a new day after 2026-09-16 has begun; seen it was refused"


def run(*args, cwd):
    """Run pytest in a folder of its own, without the settings of this repository."""
    installed = any(point.name == "assay" for point in entry_points(group="pytest11"))
    loaded = [] if installed else ["-p", "assay.pytest_plugin"]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:schemathesis"),
            *("--rootdir", str(cwd), "-o", "addopts=", *loaded),
            *map(str, args),
        ],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "INTERNALERROR" not in done.stdout + done.stderr
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def faulty():
    """Serve a bank that counts its days in UTC."""
    (fault,) = (mutant for mutant in MUTANTS if mutant.id == "quota.accounts-utc-day")
    with serving(make_app(fault.change(SOUND))) as url:
        yield url


@pytest.fixture(scope="module")
def failed(tmp_path_factory, faulty):
    """Run the suites on it, with every report that there is."""
    folder = tmp_path_factory.mktemp("cards")
    reports = ("--junitxml=junit.xml", "--html=page.html", "--alluredir=allure")
    chosen = ("--assay-contexts", "base", "-k", "next-day and accounts")
    selected = ("--contract", "aisp", "--target", faulty, *chosen)
    code, out = run(suites_dir(), *selected, *reports, "--tb=short", cwd=folder)
    assert code == 1
    return folder, out


def test_a_failure_is_the_card(failed, faulty, tmp_path):
    """It shows what `assay run` shows of the obligation, and nothing of our own code."""
    _, out = failed
    shown = out.partition("= FAILURES =")[2].partition("= conformance of")[0]
    code, printed, _ = assay(
        *("run", "--contract", "aisp", "--target", faulty, "-k", BROKEN, "--out", "r"), cwd=tmp_path
    )
    assert code == 1
    card = printed[printed.index(f"✗ {BROKEN}") :].partition("\n\n")[0].splitlines()
    assert [] == [line for line in card if line not in shown.splitlines()]
    assert "    > GET " in shown
    assert "    < 429" in shown
    assert f"    reproduce  assay run --contract aisp --target {faulty} -k {BROKEN}" in shown
    for internal in ("Verdict(", "Standing", "assert ", "test_obligations.py:", ".py:", "Failed:"):
        assert internal not in shown, internal


def test_the_summary_says_what_is_wrong(failed):
    """One line for each violation, whatever the width, and the command for it alone."""
    _, out = failed
    conformance = out.partition("conformance of")[2].partition("short test summary")[0]
    assert WRONG in " ".join(conformance.split())
    assert f"rerun: pytest '{ITEM}' --assay-contract aisp --assay-target http" in conformance


def test_an_id_can_be_pasted_back(failed, faulty, tmp_path):
    """What pytest prints for an item selects it again, from any folder, with its file or without."""
    assert f"FAILED {ITEM}" in failed[1]
    other = "::test_access[aisp/batch-quota/consents-next-day]"
    code, out = run(ITEM, other, "--contract", "aisp", "--target", faulty, cwd=tmp_path)
    assert code == 1
    assert "1 failed, 1 passed" in out
    assert f"✗ {BROKEN}  violates" in out


def test_an_id_of_nothing_is_left_alone(tmp_path, monkeypatch):
    """Other files, other tests, and files that exist are not ours."""
    monkeypatch.chdir(tmp_path)
    for name in (
        "test_obligations.py::test_other",
        "test_other.py::test_access[x]",
        "::x",
        "a/b.py",
    ):
        assert name == found(name)
    assert found(ITEM) == f"{suites_dir()}/{ITEM}"
    (tmp_path / "test_obligations.py").touch()
    assert ITEM == found(ITEM)


def test_junit_has_the_card(failed):
    """The message is one line, the text the card, and the properties name the obligation."""
    folder, _ = failed
    cases = {case.get("name"): case for case in ET.parse(folder / "junit.xml").iter("testcase")}
    case = cases[f"test_access[{BROKEN}]"]
    failure = case.find("failure")
    assert failure.get("message").startswith(WRONG)
    assert failure.text.startswith(f"✗ {BROKEN}  violates\n    contract   Without the customer")
    properties = {each.get("name"): each.get("value") for each in case.iter("property")}
    assert properties["verdict"] == "violates"
    assert properties["obligation"] == BROKEN
    assert properties["statement"].startswith("Without the customer present")
    assert properties["reproduce"].endswith(f"-k {BROKEN}")


def test_allure_has_the_card(failed):
    """Title, description, groups, short parameters, one line of message, and the exchanges."""
    pytest.importorskip("allure_pytest")
    folder, _ = failed
    results = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in (folder / "allure").glob("*-result.json")
    ]
    (result,) = (each for each in results if each["status"] == "failed")
    labels = {label["name"]: label["value"] for label in result["labels"]}
    assert result["name"] == BROKEN
    assert "Limits, line 116: “Batch accesses" in result["description"]
    assert result["parameters"] == [{"name": "obligation", "value": f"'{BROKEN}'"}]
    assert (labels["feature"], labels["story"]) == ("Account information", "batch-quota")
    assert labels["severity"] == "critical"
    assert WRONG in result["statusDetails"]["message"]
    assert "\n" not in result["statusDetails"]["message"]
    card, exchange, *_ = result["attachments"]
    assert card["name"] == "card"
    assert exchange["name"].startswith("exchange ")
    text = (folder / "allure" / exchange["source"]).read_text(encoding="utf-8")
    assert "> GET " in text


def test_pytest_html_has_the_card(failed):
    """The log of the row is the card, and each exchange is a link."""
    pytest.importorskip("pytest_html")
    folder, _ = failed
    page = (folder / "page.html").read_text(encoding="utf-8")
    rows = json.loads(html.unescape(re.search(r'data-jsonblob="([^"]*)"', page)[1]))["tests"]
    (row,) = (row for rows_ in rows.values() for row in rows_ if row["result"] == "Failed")
    assert html.unescape(row["log"]).startswith(f"✗ {BROKEN}  violates")
    (extra, *_) = row["extras"]
    assert extra["name"].startswith("exchange ")
    assert "> GET " in (folder / extra["content"]).read_text(encoding="utf-8")


def test_the_suites_show_nothing_of_their_code():
    """No suite asserts by itself: a failing assertion would show our code instead of a card."""
    for path in Path(suites_dir()).glob("*.py"):
        assert "assert " not in path.read_text(encoding="utf-8"), path.name
