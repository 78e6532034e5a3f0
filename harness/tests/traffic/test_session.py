"""Runs judged again from their journals: the same verdict on each obligation, or none."""

import hashlib
import json
import re

import pytest
from runs import recorded

from assay.errors import InputError, JournalError
from assay.history.events import Masked
from assay.journal.codec import EVENTS
from assay.proof.kill_matrix import variants
from assay.rules.formats import is_iban, is_no_clear_pan
from assay.rules.verdict import Standing
from assay.sandbox.app import make_app
from assay.sandbox.mutants import MUTANTS, PIS_MUTANTS
from assay.sandbox.policies import SOUND
from assay.traffic.session import open_recording

BROKEN = {one.id: one for one in (*MUTANTS, *PIS_MUTANTS)}
#: One fault of each kind; the first ones show in the format of a value.
FAULTS = {
    "iban.domestic": "aisp",
    "iban.clear-visa": "aisp",
    "form.accounts-cut-off": "aisp",
    "links.accounts-next-elsewhere": "aisp",
    "paging.transactions-overlap": "aisp",
    "depth.utc-day": "aisp",
    "quota.24-hour-day": "aisp",
    "identity.always": "aisp",
    "consistent.second-has-another-amount": "aisp",
    "pis.host.create-self-lookalike": "pis",
    "pis.content.creditorAccount": "pis",
    "pis.report-url.first-parameter": "pis",
    "pis.cash.begun-hours": "pis",
    "pis.redirect.idle-two-seconds-late": "pis",
    "pis.duplicate.any-debtor": "pis",
}


def judged(path, name="judged.jsonl"):
    """Judge a journal, write another one, and return the verdicts by obligation."""
    result = open_recording(path).close(path.with_name(name))
    return {verdict.obligation: verdict.standing for verdict in result.verdicts}


def differences(first, second):
    """Return the verdicts that differ the second time; `unverified` does not count."""
    return {
        name: (standing, second[name])
        for name, standing in first.items()
        if second[name] not in (standing, Standing.UNVERIFIED)
    }


@pytest.mark.slow
def test_a_sound_run(tmp_path):
    """The journal of a sound run gives the same verdict on every obligation."""
    run = recorded(tmp_path / "journal.jsonl")
    second = judged(tmp_path / "journal.jsonl")
    assert run == second
    # The journal that judging writes can be judged as well.
    assert {} == differences(second, judged(tmp_path / "judged.jsonl", "third.jsonl"))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_bank(fault, tmp_path):
    """The journal of a run shows the same violations as the run, and no other."""
    kinds = {one.split("/")[1] for one in BROKEN[fault].breaks}
    run = recorded(
        tmp_path / "journal.jsonl",
        bank=lambda base: make_app(BROKEN[fault].change(SOUND), base_url=base),
        contracts=(FAULTS[fault],),
        keywords=" or ".join(sorted(kinds)),
    )
    second = judged(tmp_path / "journal.jsonl")
    assert {} == differences(run, second)
    red = {name for name, one in run.items() if one is Standing.VIOLATES}
    assert red
    assert red == {name for name in run if second[name] is Standing.VIOLATES}


def test_what_the_trials_of_other_clauses_show(tmp_path):
    """An effect that every trial may show is violated, though its own trials conform."""
    fault = BROKEN["pis.modify.executes-as-created"]
    path = tmp_path / "journal.jsonl"
    run = recorded(
        path,
        bank=lambda base: make_app(fault.change(SOUND), base_url=base),
        contracts=("pis",),
        keywords="deferred-only or execution",
    )
    second = judged(path)
    assert Standing.VIOLATES is run["pis/execution/as-asked"] is second["pis/execution/as-asked"]
    assert {} == differences(run, second)


@pytest.mark.slow
@pytest.mark.parametrize(
    "variant", ["pis.ibans-in-groups", "pis.debtor-hidden", "pis.modifiable-after-signing"]
)
def test_a_bank_that_leaves_verdicts_open(variant, tmp_path):
    """What differs is indeterminate in the run, and `unverified` with a reason in the journal."""
    neutral = variants()[variant]
    path = tmp_path / "journal.jsonl"
    bank = {"bank": lambda base: make_app(neutral.change(SOUND), base_url=base)}
    run = recorded(path, contracts=("pis",), **bank)
    result = open_recording(path).close(tmp_path / "judged.jsonl")
    second = {verdict.obligation: verdict for verdict in result.verdicts}
    assert {} == differences(run, {name: each.standing for name, each in second.items()})
    for name, standing in run.items():
        if second[name].standing is not standing:
            assert (Standing.INDETERMINATE, True) == (standing, bool(second[name].reason))
            assert name in neutral.leaves


def test_the_formats_of_a_masked_text():
    """A masked text keeps the formats that the private text had."""
    assert is_iban(Masked("<account-1>", ["iban"]))
    assert not is_iban(Masked("<account-1>"))
    assert is_no_clear_pan(Masked("<card-1>", ["no-clear-pan"]))
    assert not is_no_clear_pan(Masked("<card-1>", ["iban"]))
    assert Masked("<card-1>", ["iban"]) == "<card-1>"


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """Return the lines of a short journal."""
    path = tmp_path_factory.mktemp("run") / "journal.jsonl"
    recorded(path, contracts=("aisp",), keywords="psu-identity")
    return path.read_text(encoding="utf-8").splitlines(keepends=True)


def test_the_machine_readable_part_is_masked(lines):
    """The part of a journal from which it is judged again is masked like the rest."""
    events = [line for line in map(json.loads, lines) if line["type"] in EVENTS]
    assert len(events) > 3
    text = json.dumps([event.get("again", event) for event in events])
    assert "FR76" not in text
    assert "PsuIdentity" in text
    names = [
        event["again"]["answer"]["values"]
        for event in events
        if event.get("again", {}).get("answer", {}).get("values")
    ]
    assert names
    assert {"PsuIdentity"} == {key for values in names for key in values}
    # A keyed digest says which of them are the same, and nothing else.
    for values in names:
        assert re.fullmatch("<private> [0-9a-f]{18}", values["PsuIdentity"])


@pytest.mark.parametrize("key", ['"again": ', '"call": ', '"answer": ', '"outcome": '])
def test_a_journal_with_missing_keys(key, lines, tmp_path):
    """A journal that lacks a key, or is of another version, is refused with its line."""
    path = tmp_path / "journal.jsonl"
    path.write_text("".join(signed(line.replace(key, '"xxxxx": ') for line in lines)))
    with pytest.raises(JournalError, match=r"journal.jsonl:\d+: (written by|damaged)"):
        open_recording(path)


def test_another_contract(lines, tmp_path):
    """A run is not judged by another version of its contract."""
    head = json.loads(lines[0])
    head["contracts"][0]["digest"] = "sha256:other"
    path = tmp_path / "journal.jsonl"
    path.write_text("".join(signed([json.dumps(head) + "\n", *lines[1:]])))
    with pytest.raises(InputError, match="another version of the contract aisp"):
        open_recording(path)


def signed(lines):
    """Close lines with a footer whose digest fits them."""
    *before, last = lines
    footer = json.loads(last)
    digest = hashlib.sha256("".join(before).encode()).hexdigest()
    return [*before, json.dumps({**footer, "digest": f"sha256:{digest}"}) + "\n"]
