"""The sample reports in `reports/reference` are those of today."""

import json

import pytest
from support.sample_reports import FOLDER, SAMPLES, SUFFIXES, reports

#: The verdicts that each sample shows.
SHOWN = {
    "sound": {"conforms"},
    "broken": {"conforms", "violates"},
    "read-only": {"conforms", "unverified"},
}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_the_samples_are_up_to_date(sample, generated):
    """What a reader of the samples sees is what a run writes today."""
    for name, text in reports(sample).items():
        generated(FOLDER / f"{sample.name}{SUFFIXES[name]}", text)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_the_samples_show_what_they_are_for(sample):
    """Each has the verdicts that a reader should see, and none names this machine."""
    text = (FOLDER / f"{sample.name}.json").read_text(encoding="utf-8")
    verdicts = {result["verdict"] for result in json.loads(text)["obligations"]}
    assert SHOWN[sample.name] <= verdicts
    assert SHOWN[sample.name] >= verdicts & {"violates", "conforms", "indeterminate"}
    for suffix in SUFFIXES.values():
        text = (FOLDER / f"{sample.name}{suffix}").read_text(encoding="utf-8")
        assert len(text) < 500_000
        assert "/tmp" not in text
        assert "site-packages" not in text
