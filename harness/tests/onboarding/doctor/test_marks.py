"""Lines marked as guesses and gaps are counted as long as nothing else in the target file says it."""

import pytest
from rows import for_each

from assay.onboarding.doctor.preflight import guessed
from assay.onboarding.doctor.record import Examined
from assay.preparation.prepare import prepare

DRAFT = """\
assay: 1
target: draft
contracts: [pis]
transport: http
base_url: https://bank.example/v1
# TODO: X-Signed is required by POST /payments, for example `headers: {X-Signed: …}`
# TODO: the signer, instead of the line below, for example `sca: {kind: forms}`
sca: {kind: control}
operations:
  create-payment:
    # arguments:
      # TODO: where it is, for example `amount: {body: /amount, value: …}`
    item:
      key: /id  # guessed: the only one
  read-payment:
    item:
      state: {at: /status, values: {open: [RCVD]}}
      # TODO: which of NEW, OLD are done, for example `state: {at: /status, values: {…: [NEW, OLD]}}`
  # TODO: no operation matches, for example `cancel-payment: {path: /…}`
"""
#: Each mark, by the key that it is about, and a line that says it.
MARKS = {
    "X-Signed": "headers: {X-Signed: a}",
    "signer": "sca: {kind: forms, screens: [{a: login, b: password}, {c: decision}]}",
    "where it is": "operations: {create-payment: {arguments: {amount: {query: amount, value: '1'}}}}",
    "the only one": "operations: {create-payment: {item: {key: /paymentId}}}",
    "NEW, OLD": "operations: {read-payment: {item: {state: {at: /status, values: {done: [NEW, OLD]}}}}}",
    "no operation": "absent: {operations: {cancel-payment: customers do so at the bank}}",
}


def open_marks(folder, line="", draft=DRAFT):
    """Return what is still marked in a draft, or in a file with a line that extends it."""
    path = folder / "draft.yaml"
    path.write_text(draft, "utf-8")
    if line:
        path = folder / "bank.yaml"
        path.write_text(f"assay: 1\ntarget: bank\nextends: ./draft.yaml\n{line}\n", "utf-8")
    record = Examined(target_name=str(path), prepared=prepare((), str(path)))
    found = [finding.found for finding in guessed(record)]
    return {mark for mark in MARKS if any(mark in each for each in found)}


def test_a_draft_counts_all_its_marks(tmp_path):
    """A line in the place of a gap, as long as it stands below it, is none that was typed."""
    assert {*MARKS} == open_marks(tmp_path)


@for_each("mark", MARKS)
def test_a_mark_that_an_extending_file_answers_is_not_counted(mark, tmp_path):
    """And no other is."""
    assert {*MARKS} - {mark} == open_marks(tmp_path, MARKS[mark])


@for_each(
    ("mark", "line"),
    [
        ("X-Signed", "headers: {X-Other: a}"),
        ("where it is", "operations: {create-payment: {arguments: {amount: {body: /amount}}}}"),
        ("NEW, OLD", "operations: {read-payment: {item: {state: {values: {done: [NEW]}}}}}"),
    ],
)
def test_half_of_what_is_missing_is_not_enough(mark, line, tmp_path):
    """What the example leaves open must be there."""
    assert mark in open_marks(tmp_path, line)


@pytest.mark.parametrize(
    ("mark", "old", "new"),
    [
        ("X-Signed", "\nsca:", "\nheaders: {X-Signed: a}\nsca:"),
        ("where it is", "    item:\n      key", "    arguments:\n      amount: {body: /a, value: '1'}\n    item:\n      key"),
    ],
)  # fmt: skip
def test_a_line_in_the_same_file_counts(mark, old, new, tmp_path):
    """Whoever types what is missing may forget the comment."""
    assert mark not in open_marks(tmp_path, draft=DRAFT.replace(old, new, 1))
