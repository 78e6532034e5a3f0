"""The chain of a journal's lines: what was done to a file is found, and at which line."""

from io import BytesIO

import pytest
from rows import for_each

from assay.journal.journal_file import create
from assay.journal.lines import chain_breaks, is_chained
from assay.journal.writer import Journal


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """Return the lines of a journal, some of which are the same but for their place."""
    path = tmp_path_factory.mktemp("chain") / "journal.jsonl"
    journal = Journal(out=create(path))
    for number in range(12):
        journal.write("fault", {"where": "a", "what": f"number {number % 3}"})
    journal.footer({"planned": 0})
    return path.read_bytes().splitlines(keepends=True)


def breaks(lines):
    """Return what the chain says of these lines."""
    return [(each.line, each.what) for each in chain_breaks(BytesIO(b"".join(lines)), "journal")]


def test_lines_as_they_were_written(lines):
    """A whole journal has no break, and neither has the beginning of one."""
    assert is_chained(BytesIO(b"".join(lines)), "journal")
    assert all(not breaks(lines[:number]) for number in range(len(lines) + 1))


@for_each("number", range(1, 13))
def test_a_changed_line(lines, number):
    """Any line but the last is found when one byte of it is another, and no other line is."""
    changed = lines[number - 1].replace(b"number", b"Number")
    expected = [(number, "was changed after it was written")]
    assert expected == breaks([*lines[: number - 1], changed, *lines[number:]])


def test_several_changed_lines(lines):
    """Each one is found by itself."""
    changed = [line.replace(b"number 1", b"number 2") for line in lines]
    assert [2, 5, 8, 11] == [line for line, _ in breaks(changed)]


@for_each("number", range(1, 13))
def test_a_removed_line(lines, number):
    """Any line but the last is missed when it is removed."""
    expected = (number, f"does not follow the line before it: line {number} is missing")
    assert [expected] == breaks([*lines[: number - 1], *lines[number:]])


def test_removed_lines(lines):
    """What is missing at one place is named together."""
    what = "does not follow the line before it: lines {} are missing"
    both = [*lines[:2], *lines[5:8], *lines[10:]]
    assert [(3, what.format("3-5")), (6, what.format("9-10"))] == breaks(both)


@for_each("number", range(1, 12))
def test_two_lines_in_the_other_order(lines, number):
    """The line that comes too late is named."""
    swapped = [*lines[: number - 1], lines[number], lines[number - 1], *lines[number + 1 :]]
    assert [(number + 1, f"is out of order: it was written as line {number}")] == breaks(swapped)


def test_a_line_that_is_there_twice(lines):
    """A copy is found, wherever it stands."""
    what = "is not the only one: it was written as line 4"
    assert [(5, what)] == breaks([*lines[:4], lines[3], *lines[4:]])
    assert [(10, what)] == breaks([*lines[:9], lines[3], *lines[9:]])


def test_a_line_from_elsewhere(lines):
    """A line that no run wrote has no place."""
    what = "has no place in the chain: it was not written by the run"
    inserted = [*lines[:4], b'{"type": "fault", "where": "a", "what": ""}\n', *lines[4:]]
    assert [(5, what)] == breaks(inserted)


def test_numbers_that_no_run_writes(lines):
    """A gap costs no memory, however long it is said to be."""
    far = [lines[0].replace(b'"1:', b'"%d:' % (10**12 - number)) for number in range(50, 0, -1)]
    assert 50 == len(breaks(far))


def test_a_journal_without_a_chain(lines):
    """A journal of an older version has none."""
    plain = [line.partition(b', "chain"')[0] + b"}\n" for line in lines]
    assert not is_chained(BytesIO(b"".join(plain)), "journal")
