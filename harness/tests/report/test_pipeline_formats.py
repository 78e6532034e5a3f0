"""The formats for build servers are read by their consumers, with all seven verdicts in each."""

import json
import re
import tracemalloc
import xml.etree.ElementTree as ET
from io import StringIO
from pathlib import Path

import jsonschema
import pytest
from fluidattacks_core.sarif import SarifLog
from haralyzer import HarParser
from support.consumers import CTRF, junit_problems, workflow_commands

from assay._resources import contract_dir
from assay.report import FORMATS
from assay.report.formats import ctrf, github_annotations, har, sarif
from assay.report.formats.pipeline import FilePlaces, fingerprint
from assay.report.journal_exchanges import trial_seconds
from assay.rules.verdict import Standing

MANUAL = Path(__file__).parents[3] / "reports" / "README.md"
HOSTILE = (
    "a</failure>]]>\n::error file=x::forged\r%0A##[add-mask]x\n# EOF\n"
    'x{a="b"} 1 \x1b[31m\u202e\ud800\x00 \\"{{7*7}}<script>'
)
VERDICTS = [standing.value for standing in Standing]


def clause_of(verdict):
    """Return the id of the obligation that has a verdict in the report of all verdicts."""
    return f"aisp/{verdict}/facet"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Work in a folder without contracts: one that is there is the user's."""
    monkeypatch.chdir(tmp_path)


def with_all_verdicts(journal, text="a text"):
    """Return a report with every verdict, and a text of a target wherever there is one."""
    journal.lines[0] = journal.lines[0] | {"target": {"name": text, "base_url": text}}
    for verdict in VERDICTS:
        changes = {"says": text, "asks": text, "kind": text, "reason": text, "line": 7}
        journal.plan(clause_of(verdict), **changes)
    for n, verdict in enumerate(VERDICTS, start=1):
        trial = f"aisp/{verdict}#facet"
        request = {"method": "GET", "url": text, "headers": [["x", text]], "body": text}
        response = {"status": 200, "headers": [["location", text]], "body": text}
        journal.exchange(
            trial,
            17,
            request=request,
            response=response,
            operation=text,
            subject=text,
            ms=250.0 * n,
        )
        journal.exchange(f"{trial} [weekday=sunday]", 1, at="no time", variation=text, ms=500)
        evidence = {"agreement": "disagrees", "expected": text, "seen": text, "exchanges": [17]}
        asked = verdict in {"violates", "indeterminate"}
        journal.verdict(clause_of(verdict), verdict, text, evidence=[evidence] if asked else [])
    return journal.add(type="fault", where=text, what=text).footer().read()


@pytest.fixture(params=["plain", "hostile"])
def everything(request, journal):
    """Return a report with every verdict, of a target that means well or does not."""
    return with_all_verdicts(journal, {"plain": "a text", "hostile": HOSTILE}[request.param])


def verdicts_in_junit(text):
    """Return the result of each case that has one."""
    results = {}
    for case in ET.fromstring(text).iter("testcase"):
        (result,) = [each.tag for each in case if each.tag != "system-out"] or ["passed"]
        results[case.get("name")] = result
    return results


def verdicts_in_ctrf(text):
    """Return the status of each test."""
    return {test["name"]: test["status"] for test in json.loads(text)["results"]["tests"]}


def verdicts_in_sarif(text):
    """Return kind and level of each result, and the level of each notification."""
    run = json.loads(text)["runs"][0]
    levels = {
        each["properties"]["obligation"]: f"result: {each['kind']}, {each['level']}"
        + ", suppressed" * ("suppressions" in each)
        for each in run["results"]
    }
    for each in run["invocations"][0]["toolExecutionNotifications"]:
        if "properties" in each:
            levels[each["properties"]["obligation"]] = f"notification: {each['level']}"
    return levels


#: The verdict of the obligations that an annotation is about together.
GROUPS = {
    "1 obligation inconclusive": "indeterminate",
    "1 obligation not verified": "unverified",
}


def verdicts_in_github(text):
    """Return the command of each annotation of an obligation, or of a group of one."""
    commands = {}
    for name, properties, _ in workflow_commands(text):
        title = properties["title"]
        commands[clause_of(GROUPS[title]) if title in GROUPS else title.split(" ")[0]] = name
    return commands


READERS = {
    "junit": verdicts_in_junit,
    "ctrf": verdicts_in_ctrf,
    "sarif": verdicts_in_sarif,
    "github": verdicts_in_github,
}


def manual_table():
    """Return the table of the manual: by format, what each verdict becomes."""
    (section,) = re.findall(
        r"(?ms)^## Verdicts in each format\n(.*?)^## ", MANUAL.read_text("utf-8")
    )
    rows = [
        [cell.strip().replace("`", "") for cell in line.strip("|").split("|")]
        for line in section.splitlines()
        if line.startswith("|")
    ]
    names, *lines = [row for row in rows if len(row) == len(rows[0]) and row[0] != "---"]
    return {
        name: {row[0]: row[number] for row in lines}
        for number, name in enumerate(names)
        if name in READERS
    }


@pytest.mark.parametrize("name", READERS)
def test_every_verdict_in_every_format(everything, written, name):
    """Each of the seven verdicts becomes what the table of the manual says."""
    seen = READERS[name](written(everything, name))
    table = manual_table()[name]
    assert {*VERDICTS} == {*table}
    assert table == {verdict: seen.get(clause_of(verdict), "-") for verdict in VERDICTS}


def test_every_verdict_has_its_row():
    """No table lacks a verdict, and none has one twice."""
    for table in (ctrf.STATUSES, github_annotations.COMMANDS):
        assert {*Standing} == {*table}
    assert {*Standing} == {*sarif.RESULTS} ^ {*sarif.NOTIFICATIONS}
    assert {*READERS, "har"} | {"html", "json", "markdown", "text"} == {*FORMATS}


def test_junit_is_valid(everything, written):
    """The file is valid by the schemas of Surefire and Jenkins, and a fault is an error in it."""
    text = written(everything, "junit")
    assert [] == junit_problems(text)
    assert 1 == len(ET.fromstring(text).findall(".//error"))


def test_junit_times(journal, written):
    """A case has the time of its trial in all contexts, and a suite that of all its trials."""
    report = with_all_verdicts(journal)
    assert trial_seconds(report)["aisp/violates#facet"] == 1.0
    root = ET.fromstring(written(report, "junit"))
    times = {case.get("name"): case.get("time") for case in root.iter("testcase")}
    assert times[clause_of("conforms")] == "0.750"
    assert times[clause_of("violates")] == "1.000"
    assert root.find("testsuite[@name='aisp']").get("time") == "10.500"


def test_obligations_of_one_trial(journal, written):
    """The time of a trial of two obligations counts once in the suite."""
    journal.plan().plan("aisp/batch-quota/midnight", trial="aisp/batch-quota#next-day")
    journal.exchange(ms=2000).verdict().verdict("aisp/batch-quota/midnight")
    root = ET.fromstring(written(journal.footer().read(), "junit"))
    assert ["2.000", "2.000"] == [case.get("time") for case in root.iter("testcase")]
    assert "2.000" == root.find("testsuite").get("time")


def test_ctrf_is_valid(everything, written):
    """The file has the members of CTRF and no others, and its summary adds up."""
    values = json.loads(written(everything, "ctrf"))
    jsonschema.Draft202012Validator(CTRF).validate(values)
    summary = values["results"]["summary"]
    assert 8 == summary["tests"] == sum(summary[name] for name in ctrf_statuses())
    assert 2 == summary["failed"]  # the violation, and the harness fault


def ctrf_statuses():
    """Return the statuses that CTRF knows."""
    return CTRF["properties"]["results"]["properties"]["tests"]["items"]["properties"]["status"][
        "enum"
    ]


def test_sarif_is_valid(everything, written):
    """The file is valid by the published schema, and has what code scanning asks of a rule."""
    text = written(everything, "sarif")
    # The package calls this member as a draft of the standard did.
    SarifLog.model_validate_json(text.replace('"status": "accepted"', '"state": "accepted"'))
    run = json.loads(text)["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert all(rule["help"]["text"] and rule["shortDescription"]["text"] for rule in rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert 7 == result["locations"][0]["physicalLocation"]["region"]["startLine"]
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert not uri.startswith("/")
    assert run["invocations"][0]["executionSuccessful"] is False


def test_sarif_has_the_first_exchange(journal, written):
    """A violation has request and response of the exchange that its card shows first."""
    (result,) = json.loads(written(journal.finding().footer().read(), "sarif"))["runs"][0][
        "results"
    ]
    assert "https://bank.invalid/accounts/1/balances" == result["webRequest"]["target"]
    assert 429 == result["webResponse"]["statusCode"]


def test_fingerprints_are_those_of_the_obligation(journal, tmp_path, written):
    """A fingerprint stays the same when the contract is edited, and differs between targets."""
    first = journal.finding(line=120).footer().read()
    other = type(journal)(tmp_path / "other.jsonl")
    other.plan(line=400, says="Another sentence.").exchange().verdict(verdict="violates")
    second = other.footer().read()
    prints = [
        re.findall(r'LineHash": "(\w+)"', written(report, "sarif")) for report in (first, second)
    ]
    assert prints[0] == prints[1] != []
    header = second.header
    elsewhere = type(header.target)(name="another bank")
    assert fingerprint(first, "a/b/c") != fingerprint(
        type(first)(
            **{
                field: getattr(second, field)
                for field in ("results", "faults", "footer", "complete")
            },
            header=type(header)(tool="", contracts=(), target=elsewhere),
        ),
        "a/b/c",
    )


def test_har_is_read(everything, written):
    """A HAR parser reads every exchange, in order, with its messages."""
    log = HarParser(json.loads(written(everything, "har")))
    entries = log.har_data["entries"]
    assert "1.2" == log.har_data["version"]
    assert [250.0, 500, 500.0, 500] == [entry["time"] for entry in entries[:4]]
    assert 14 == len(entries)
    assert entries[0]["request"]["headers"][0]["name"] == "x"
    assert entries[0]["response"]["status"] == 200
    assert entries[1]["startedDateTime"] == har.NO_TIME
    assert "exchange 17" in entries[0]["comment"]


def test_har_memory_is_flat(journal):
    """A thousand exchanges take no more memory than a hundred."""

    class Nowhere(StringIO):
        def write(self, text):
            return len(text)

    peaks = []
    for number in (100, 1_000):
        big = type(journal)(journal.path.with_name(f"{number}.jsonl")).plan()
        for n in range(number):
            big.exchange(n=n, body="x" * 2_000)
        report = big.verdict().footer().read()
        tracemalloc.start()
        har.render(report, Nowhere())
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0]


def test_abandoned_exchanges_are_left_out(journal, written):
    """What a resumed run did again is neither in the HAR file nor in any time."""
    journal.plan().exchange(n=1, ms=1000).exchange(n=2, ms=1000)
    journal.add(type="resumed", at="2026-11-21T10:00:01Z", version="0.1.0", abandoned=[[3, 3]])
    report = journal.exchange(n=1, ms=3000).verdict().footer().read()
    assert {"aisp/batch-quota#next-day": 4.0} == trial_seconds(report)
    assert 2 == len(json.loads(written(report, "har"))["log"]["entries"])


# -- waivers -----------------------------------------------------------------------
def waived_report(journal):
    """Return a report of a run in which all conforms, and waivers need attention."""
    about = {"owner": "gateway team", "reason": "BANK-7", "tested": True}
    waivers = [
        {"name": "aisp/a/one", "expires": "2027-01-01", "state": "superfluous"},
        {"name": "aisp/a/soon", "expires": "2026-12-01", "state": "expires-soon"},
        {"name": "aisp/a/long", "expires": "2027-12-01", "state": "in-force"},
    ]
    journal.plan().exchange().verdict()
    journal.add(type="waivers", waivers=[waiver | about for waiver in waivers])
    return journal.footer().read()


def test_a_waiver_to_remove_is_an_error(journal, written):
    """A waiver that fails the run without a violation is an error in every format."""
    report = waived_report(journal)
    name, said = "waiver: aisp/a/one", "remove the waiver"
    error = ET.fromstring(written(report, "junit")).find(
        "testsuite[@name='assay.run']/testcase/error"
    )
    assert ("waiver", True) == (error.get("type"), said in error.get("message"))
    test = json.loads(written(report, "ctrf"))["results"]["tests"][-1]
    assert (name, "failed", "waiver") == (test["name"], test["status"], test["rawStatus"])
    invocation = json.loads(written(report, "sarif"))["runs"][0]["invocations"][0]
    first = invocation["toolExecutionNotifications"][0]
    assert ("error", True) == (first["level"], first["message"]["text"].startswith(name))
    command, properties, _ = workflow_commands(written(report, "github"))[0]
    assert ("error", f"Assay: {name}") == (command, properties["title"])
    assert [] == junit_problems(written(report, "junit"))


def test_a_waiver_that_expires_soon_is_a_warning(journal, written):
    """It is in every format, and an error in none; one in force for long is in none."""
    report = waived_report(journal)
    for name in READERS:
        text = written(report, name)
        assert "aisp/a/soon" in text
        assert "aisp/a/long" not in text
    commands = workflow_commands(written(report, "github"))
    assert ["error", "warning", "notice"] == [command for command, _, _ in commands]
    assert 2 == len(ET.fromstring(written(report, "junit")).findall(".//testcase"))


# -- annotations -------------------------------------------------------------------
def test_annotations_are_ten_and_worst_first(journal, written):
    """Faults come first, then violations of a must; the tenth says how many are left out."""
    names = [f"aisp/clause-{n}/facet" for n in range(30)]
    for n, name in enumerate(names):
        journal.plan(name, level="must" if n % 2 else "may")
    for name in names:
        journal.exchange(name.replace("/facet", "#facet")).verdict(name, "violates", "broken")
    journal.add(type="fault", where="a probe", what="it crashed")
    *shown, rest, last = workflow_commands(written(journal.footer().read(), "github"))
    assert 9 == len(shown)
    assert ("error", {"title": "Assay: harness fault: a probe"}, "it crashed") == shown[0]
    assert [("error", f"aisp/clause-{n}/facet violates") for n in range(1, 17, 2)] == [
        (name, properties["title"]) for name, properties, _ in shown[1:]
    ]
    assert rest[2].startswith(
        "22 more annotations, the first of them: aisp/clause-17/facet violates."
    )
    assert "notice" == last[0]
    assert "30 violate" in last[2]


def test_annotations_cannot_be_forged(journal, written):
    """A target that writes workflow commands gets none executed, in any field."""
    text = written(with_all_verdicts(journal, HOSTILE), "github")
    commands = workflow_commands(text)
    assert {"error", "warning", "notice"} == {name for name, _, _ in commands}
    for _, properties, _ in commands:
        assert {*properties} <= {"file", "line", "title"}
        assert "x" != properties.get("file")


# -- places ------------------------------------------------------------------------
def placed(journal, path):
    """Return a report with one violation of a contract at this path."""
    contract = journal.lines[0]["contracts"][0] | {"path": str(path)}
    journal.lines[0] = journal.lines[0] | {"contracts": [contract]}
    return journal.finding().footer().read()


def test_a_contract_in_the_repository_has_a_place(journal, written, tmp_path, monkeypatch):
    """Paths are relative to the root of the repository, also in a folder of it."""
    folder = tmp_path / "repo" / "ck"
    folder.mkdir(parents=True)
    (tmp_path / "repo" / ".git").mkdir()
    (folder / "my bank.yaml").write_text("assay: 1", "utf-8")
    monkeypatch.chdir(folder)
    for path in ("my bank.yaml", folder / "my bank.yaml"):
        report = placed(type(journal)(journal.path), path)
        case = ET.fromstring(written(report, "junit")).find(".//testcase")
        assert ("ck/my bank.yaml", "120") == (case.get("file"), case.get("line"))
        assert [] == junit_problems(written(report, "junit"), extended=True)
        (test,) = json.loads(written(report, "ctrf"))["results"]["tests"]
        assert ("ck/my bank.yaml", 120) == (test["filePath"], test["line"])
        assert '"uri": "ck/my%20bank.yaml"' in written(report, "sarif")
        ((_, properties, _), _) = workflow_commands(written(report, "github"))
        assert ("ck/my bank.yaml", "120") == (properties["file"], properties["line"])


@pytest.mark.parametrize(
    "path",
    ["../outside.yaml", "/etc/hostname", "none.yaml", "a\x00b.yaml", "x" * 5_000, "", "."],
)
def test_a_contract_elsewhere_has_none(journal, written, tmp_path, monkeypatch, path):
    """A contract outside of the repository, or one that is not there, gets no path of a file."""
    (tmp_path / "outside.yaml").write_text("assay: 1", "utf-8")
    (tmp_path / "repo").mkdir()
    monkeypatch.chdir(tmp_path / "repo")
    report = placed(journal, path)
    case = ET.fromstring(written(report, "junit")).find(".//testcase")
    assert (None, None) == (case.get("file"), case.get("line"))
    assert "file=" not in written(report, "github")
    place = FilePlaces(report).of(report.results[0].planned)
    assert ("contract/aisp.yaml", False) == (place.path, place.exists)
    (run,) = json.loads(written(report, "sarif"))["runs"]
    (location,) = run["results"][0]["locations"]
    # A viewer does not look for it in the repository.
    base = location["physicalLocation"]["artifactLocation"]["uriBaseId"]
    assert "uri" not in run["originalUriBaseIds"][base]


def test_a_shipped_contract_has_none(journal, written, monkeypatch):
    """A shipped contract is not the user's, even in a clone of Assay."""
    monkeypatch.chdir(contract_dir().parent)
    report = placed(journal, contract_dir() / "aisp.yaml")
    assert "file=" not in written(report, "github")
    assert [] == junit_problems(written(report, "junit"))
