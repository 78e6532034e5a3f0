"""Runs judged again from their journals: the same verdicts, or none, and never another."""

import hashlib
import json

import pytest
from runs import recorded

from assay.errors import InputError, JournalError
from assay.history.events import Masked
from assay.journal.codec import EVENTS
from assay.judging.verdict import Standing
from assay.rules.formats import is_iban, is_no_clear_pan
from assay.sandbox.app import make_app
from assay.sandbox.mutants import MUTANTS, PIS_MUTANTS
from assay.sandbox.policies import SOUND
from assay.traffic.session import open_recording

BROKEN = {one.id: one for one in (*MUTANTS, *PIS_MUTANTS)}
#: One fault of each sort, those first that are seen in a value's form.
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
    "pis.host.create-approval-lookalike": "pis",
    "pis.content.creditorAccount": "pis",
    "pis.report-url.first-parameter": "pis",
    "pis.cash.begun-hours": "pis",
    "pis.redirect.idle-a-second-late": "pis",
    "pis.duplicate.any-debtor": "pis",
}


def again(path):
    """Judge a journal, and return the verdicts by obligation."""
    result = open_recording(path).close(path.with_name("again.jsonl"))
    return {one.obligation: one.standing for one in result.verdicts}


def differ(run, second):
    """Return what was judged otherwise the second time, but for what is not shown."""
    return {
        name: (one, second[name])
        for name, one in run.items()
        if second[name] not in (one, Standing.UNVERIFIED)
    }


def test_a_sound_run(tmp_path):
    """The journal of a sound run gives its verdicts, nearly all of them."""
    run = recorded(tmp_path / "journal.jsonl")
    second = again(tmp_path / "journal.jsonl")
    assert {} == differ(run, second)
    lost = [name for name, one in run.items() if second[name] is not one]
    assert len(lost) <= 3, lost
    # And the record of judging it can be judged as well.
    assert {} == differ(second, again_of(tmp_path / "again.jsonl"))


def again_of(path):
    """Judge the record of a case once more."""
    result = open_recording(path).close(path.with_name("thrice.jsonl"))
    return {one.obligation: one.standing for one in result.verdicts}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_bank(fault, tmp_path):
    """What a run found broken is found broken in its journal, and nothing else."""
    kinds = {one.split("/")[1] for one in BROKEN[fault].breaks}
    run = recorded(
        tmp_path / "journal.jsonl",
        bank=lambda base: make_app(BROKEN[fault].change(SOUND), base_url=base),
        contracts=(FAULTS[fault],),
        keywords=" or ".join(sorted(kinds)),
    )
    second = again(tmp_path / "journal.jsonl")
    assert {} == differ(run, second)
    red = {name for name, one in run.items() if one is Standing.VIOLATES}
    assert red
    assert red == {name for name in run if second[name] is Standing.VIOLATES}


def test_the_form_of_what_was_masked():
    """Of a masked text the forms are known that the text itself had, whatever stands for it."""
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


def test_nothing_private_is_told_again(lines):
    """What a journal tells for judging again is masked like all else in it."""
    told = [one for one in map(json.loads, lines) if one["type"] in EVENTS]
    assert len(told) > 3
    text = json.dumps([one.get("again", one) for one in told])
    assert "FR76" not in text
    assert "PsuIdentity" in text
    (names,) = {
        json.dumps(one["again"]["answer"]["values"])
        for one in told
        if one.get("again", {}).get("answer", {}).get("values")
    }
    assert '{"PsuIdentity": "<private>"}' == names


@pytest.mark.parametrize("old", ['"again": ', '"call": ', '"answer": ', '"outcome": '])
def test_a_journal_that_tells_less(old, lines, tmp_path):
    """A journal that tells too little, or of another make, is refused with its line."""
    path = tmp_path / "journal.jsonl"
    path.write_text("".join(signed(one.replace(old, '"xxxxx": ') for one in lines)))
    with pytest.raises(JournalError, match=r"journal.jsonl:\d+: (written by|damaged)"):
        open_recording(path)


def test_another_contract(lines, tmp_path):
    """A run is not judged by another contract than the one that it was made for."""
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
