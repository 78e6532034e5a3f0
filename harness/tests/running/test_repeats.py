"""Requests that repeat another one: the values that the target file makes up are the same again."""

import json

import pytest
from command_line import assay

FILE = """\
assay: 1
target: ours
extends: sandbox
operations:
  create-payment:
    template: {TEMPLATE}
    arguments:
      successfulReportUrl:
        body: /successfulReportUrl
        value: "https://tpp.example/return?state={unique}"
"""


@pytest.mark.slow
def test_a_repeat_has_the_very_values_of_the_first_request(tmp_path):
    """An argument that is new in every request is not new in a repeat, so the clause can be judged."""
    (tmp_path / "ours.yaml").write_text(FILE.replace("TEMPLATE", ""), "utf-8")
    run = "run", "--target", "ours.yaml", "--out", "out", "-k"
    code, _, _ = assay(*run, "duplicate and (repeat or amount or refused)", cwd=tmp_path)
    report = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    assert (0, {"conforms"}) == (code, {each["verdict"] for each in report["obligations"]})


@pytest.mark.parametrize(
    ("member", "noted"),
    [
        ('remittance: "{unique}"', True),
        ('requests: {id: "{unique}"}', True),
        ('remittance: "{alike}"', False),
        ('head: {requestId: "{unique}"}', False),
    ],
)
def test_a_body_that_is_never_the_same(tmp_path, member, noted):
    """Where a clause has repeats rejected, it is noted that no request would repeat another."""
    text = FILE.replace("TEMPLATE", member)
    (tmp_path / "ours.yaml").write_text(text, "utf-8")
    _, out, _ = assay("check", "pis", "ours.yaml", cwd=tmp_path)
    what = "ours.yaml:6: note: operations.create-payment.template: {unique} where duplicate has"
    assert noted is (what in out)
