"""Runs of a fleet on a cluster in this process: the report, the exit code, and an interruption."""

import json
from dataclasses import replace

import pytest
from rows import for_each

from assay.errors import Exit, InputError
from assay.extras.fleet.cluster import open_cluster
from assay.extras.fleet.run import (
    FILES,
    FleetCallbacks,
    FleetSettings,
    exit_of_fleet,
    read_policy,
    run_fleet,
    write_fleet,
)
from assay.extras.fleet.task import FleetOptions, divide_fleet
from assay.judging.waivers import WaiverResult, WaiverState
from assay.preparation.banks import read_banks
from assay.report.fleet import BankRow, CellState, FleetCell, read_before
from assay.report.values import PlannedObligation, ReportedResult
from assay.rules.verdict import Standing

SOME = "listing or psu-identity"
LOST = "listing.last-item-lost-with-consent"
AWAY = {
    "overrides": {
        "transport": "http",
        "base_url": "http://127.0.0.1:1",
        "fixtures": {"url": "http://127.0.0.1:1"},
    }
}


@pytest.fixture(scope="module")
def client():
    with open_cluster(None, 2, processes=False) as client:
        yield client


def run(client, path, folder, callbacks=None, since=None, **options):
    file = read_banks(path)
    settings = {"keywords": SOME, "doctor": False, **options}
    banks = divide_fleet(file, FleetOptions(folder=folder, **settings))
    folder.mkdir(parents=True)
    report = run_fleet(
        client,
        banks,
        FleetSettings(
            name=file.name,
            folder=folder,
            command="assay fleet",
            policy=read_policy("any"),
            before=read_before(since) if since else None,
        ),
        callbacks or FleetCallbacks(),
    )
    write_fleet(report, folder)
    return report


def test_one_bank_is_its_own_row(client, write, served, tmp_path):
    """What one bank violates is its own; one that cannot be reached does not end the fleet."""
    path = write({"sound": {}, "lost": served(LOST), "away": AWAY})
    seen = []
    callbacks = FleetCallbacks(on_cell=lambda task, cell: seen.append((task.bank, cell.state)))
    report = run(client, path, tmp_path / "out", callbacks)
    sound, lost, away = report.banks
    assert (0, 1) == (sound.counts["violates"], lost.counts["violates"])
    assert "127.0.0.1" in away.reasons[0]
    assert [("lost",)] == [each.banks(Standing.VIOLATES) for each in report.own]
    assert () == report.common == report.several
    assert Exit.VIOLATION.value == report.exit
    assert 3 == len(seen)
    assert ("away", CellState.FAILED) in seen
    assert set(FILES) <= {each.name for each in (tmp_path / "out").iterdir()}
    values = json.loads((tmp_path / "out" / "fleet.json").read_text("utf-8"))
    assert "1 of 3 banks violates 1 obligation." == values["headline"]


def test_what_all_banks_violate_is_common(client, write, served, tmp_path):
    """It is a group of its own; the banks are compared by obligation."""
    report = run(client, write({"a": served(LOST), "b": served(LOST)}), tmp_path / "out")
    assert 1 == len(report.common)
    assert () == report.own == report.several
    text = (tmp_path / "out" / "fleet.txt").read_text("utf-8")
    assert "Violated by all tested banks (1)" in text


def test_changes_since_another_run(client, write, served, tmp_path):
    """New violations, resolved ones, banks added and removed are reported."""
    sound, lost = served(), served(LOST)
    few = {"keywords": "listing"}
    run(client, write({"a": sound, "b": lost, "c": {}}), tmp_path / "one", **few)
    path = write({"a": lost, "b": sound, "d": {}})
    report = run(client, path, tmp_path / "two", since=tmp_path / "one", **few)
    assert ["a"] == [each.bank for each in report.changes.new_violations]
    assert ["b"] == [each.bank for each in report.changes.resolved]
    assert (("d",), ("c",)) == (report.changes.added, report.changes.removed)
    same = run(client, write({"a": lost}), tmp_path / "three", since=tmp_path / "two", **few)
    assert () == same.changes.verdicts
    text = (tmp_path / "two" / "fleet.txt").read_text("utf-8")
    assert "1 new violation\n" in text


def test_shards_of_a_bank_are_merged(client, write, served, tmp_path):
    """A bank in shards has the verdicts of one that is not divided."""
    lost = served(LOST)
    path = write({"whole": lost, "parts": {**lost, "shards": 3}}, contracts=["aisp", "pis"])
    report = run(client, path, tmp_path / "out")
    for obligation in report.obligations:
        whole, parts = obligation.verdicts["whole"], obligation.verdicts["parts"]
        assert (whole.standing, whole.reason) == (parts.standing, parts.reason)
    assert 1 == len(report.common)
    # Nothing of the other contract is selected, so it is not run.
    (cell,) = report.banks[1].cells
    assert "banks/parts/aisp/merged/journal.jsonl" == cell.journal


def test_an_interruption_keeps_what_is_there(client, write, tmp_path):
    """Tasks that run close their journals, others do not begin; the report says so."""
    ended = []

    def interrupt(_progress):
        if not ended:
            ended.append(True)

    def beat():
        if len(ended) == 1:
            ended.append(True)
            raise KeyboardInterrupt

    path = write({name: {} for name in ("a", "b", "c", "d", "e", "f")})
    callbacks = FleetCallbacks(on_progress=interrupt, on_beat=beat)
    report = run(client, path, tmp_path / "out", callbacks, keywords="", contexts="each")
    assert report.interrupted
    states = {cell.state for bank in report.banks for cell in bank.cells}
    assert CellState.INTERRUPTED in states
    assert CellState.FAILED not in states
    journals = [cell.journal for bank in report.banks for cell in bank.cells if cell.journal]
    assert journals
    assert not (tmp_path / "out" / "stop").exists()
    assert "interrupted" in (tmp_path / "out" / "fleet.txt").read_text("utf-8")


def bank(*standings, state=CellState.TESTED, exit_=Exit.OK):
    verdicts = tuple(
        ReportedResult(
            planned=PlannedObligation(
                id=str(n),
                contract="c",
                clause="c",
                kind="k",
                level="must",
                says="s",
                disposition="ask",
            ),
            standing=standing,
        )
        for n, standing in enumerate(standings)
    )
    cell = FleetCell(bank="b", contract="c", state=state, exit=exit_, verdicts=verdicts)
    return BankRow(name="b", cells=(cell,))


OPEN_MUST = Standing.INDETERMINATE
SOUND = bank(Standing.CONFORMS)
BAD = bank(Standing.VIOLATES, exit_=Exit.VIOLATION)
OPEN = bank(Standing.UNVERIFIED, exit_=Exit.INCOMPLETE)
FAILED = bank(state=CellState.FAILED)


@for_each(
    ("policy", "banks", "expected"),
    [
        ("any", [SOUND, SOUND], Exit.OK),
        ("any", [SOUND, BAD], Exit.VIOLATION),
        ("majority", [SOUND, BAD], Exit.OK),
        ("majority", [SOUND, BAD, BAD], Exit.VIOLATION),
        ("2", [SOUND, BAD, SOUND], Exit.OK),
        ("2", [SOUND, BAD, BAD, SOUND, SOUND], Exit.VIOLATION),
        ("none", [BAD, BAD], Exit.OK),
        ("none", [BAD, OPEN], Exit.INCOMPLETE),
        ("none", [bank(Standing.VIOLATES, OPEN_MUST, exit_=Exit.VIOLATION)], Exit.INCOMPLETE),
        ("any", [SOUND, OPEN], Exit.INCOMPLETE),
        ("any", [SOUND, FAILED], Exit.INCOMPLETE),
        ("any", [BAD, FAILED], Exit.VIOLATION),
        ("none", [BAD, bank(exit_=Exit.FAULT)], Exit.FAULT),
    ],
)
def test_the_exit_code_follows_the_policy(policy, banks, expected):
    """A fault comes first, then violations by policy, then what could not be tested."""
    assert expected is exit_of_fleet(banks, read_policy(policy))


def test_a_waiver_to_remove():
    """It comes after a violation by policy, and before what is open."""
    waiver = WaiverResult(
        name="a/b/c", owner="o", reason="r", expires="2099-01-01", state=WaiverState.SUPERFLUOUS
    )
    row = replace(SOUND, cells=tuple(replace(cell, waivers=(waiver,)) for cell in SOUND.cells))
    assert Exit.USAGE is exit_of_fleet([row, OPEN], read_policy("any"))
    assert Exit.VIOLATION is exit_of_fleet([row, BAD], read_policy("any"))


def test_what_is_allowed_to_be_open():
    """`--allow-incomplete` allows what was not verified, and not a bank that was not tested."""
    policy = read_policy("any")
    assert Exit.OK is exit_of_fleet([SOUND, OPEN], policy, allow_incomplete=True)
    assert Exit.INCOMPLETE is exit_of_fleet([SOUND, FAILED], policy, allow_incomplete=True)


@for_each("text", ["", "0", "some", "-1", "1.5", "²"])
def test_a_policy_is_one_of_four(text):
    """Another word is refused."""
    with pytest.raises(InputError, match="--fail-on: expected any, majority, none or a number"):
        read_policy(text)


def test_another_file_is_no_fleet_run(tmp_path):
    """`--since` names a folder with the report of a fleet."""
    for content in (None, "no", "[]", '{"schema": "assay-fleet/1"}'):
        if content is not None:
            (tmp_path / "fleet.json").write_text(content)
        with pytest.raises(InputError, match=r"fleet.json"):
            read_before(tmp_path)
