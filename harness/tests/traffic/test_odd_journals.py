"""Journals with a value of a wrong type, and journals that end anywhere."""

import hashlib
import json
from copy import deepcopy
from io import StringIO

import pytest
from runs import recorded

from assay.cli.results import REPORTS
from assay.errors import AssayError, Exit, JournalError
from assay.journal.codec import EVENTS, decode
from assay.journal.typed_values import InvalidValueError
from assay.report import FORMATS, read_journal
from assay.rules.verdict import Standing
from assay.sandbox.app import make_app
from assay.sandbox.mutants import MUTANTS
from assay.sandbox.policies import SOUND
from assay.traffic.journal_trials import read_trials
from assay.traffic.session import open_recording

#: One value of each type of JSON.
VALUES = (None, True, 7, 1.5, "x", [], {})
#: Parts of an event that may have any value: what a call sends, and what an answer shows.
ANY = ("arguments", "fields", "values")
#: Parts of an event that may be missing, and so null.
OPTIONAL = {
    "approval",
    "done",
    "items",
    "key",
    "mode",
    "offered",
    "redirected",
    "resource",
    "state",
}


def places(value, place=()):
    """Yield the place of each value in a line, as keys and indices."""
    if place:
        yield place
    members = value.items() if isinstance(value, dict) else ()
    members = enumerate(value) if isinstance(value, list) else members
    for key, member in members:
        yield from places(member, (*place, key))


def at(value, place):
    """Return what stands at a place."""
    for key in place:
        value = value[key]
    return value


def mutated(line, place, value):
    """Return a line with another value at a place."""
    changed = deepcopy(line)
    at(changed, place[:-1])[place[-1]] = value
    return changed


def shapes(lines):
    """Yield the number and the line of each kind of place, once; the chain is read by no reader."""
    seen = set()
    for number, line in enumerate(lines):
        kind = line["type"], line.get("operation") == "signing", str(line.get("outcome"))
        for place in places({key: line[key] for key in line if key != "chain"}):
            shape = kind, tuple("#" if isinstance(key, int) else key for key in place)
            if shape not in seen:
                seen.add(shape)
                yield number, line, place


def written(path, lines):
    """Write a journal with a footer whose digest is right, unless the digest is what is wrong."""
    *before, last = [json.dumps(line).encode() + b"\n" for line in lines]
    footer = lines[-1]
    if isinstance(footer.get("digest"), str) and footer["digest"].startswith("sha256:"):
        digest = hashlib.sha256(b"".join(before)).hexdigest()
        last = json.dumps({**footer, "digest": f"sha256:{digest}"}).encode() + b"\n"
    path.write_bytes(b"".join((*before, last)))
    return path


@pytest.fixture(scope="module")
def journal(tmp_path_factory):
    """Return the path of the journal of a short run, in which one obligation is violated."""
    path = tmp_path_factory.mktemp("run") / "journal.jsonl"
    fault = next(each for each in MUTANTS if each.id == "identity.never")
    bank = lambda base: make_app(fault.change(SOUND), base_url=base)  # noqa: E731
    standings = recorded(path, bank=bank, contracts=("aisp",), keywords="psu-identity or trusted")
    assert Standing.VIOLATES in standings.values()
    return path


@pytest.fixture(scope="module")
def payments(tmp_path_factory):
    """Return the lines of a run with requests, signatures, effects and cancellations."""
    path = tmp_path_factory.mktemp("run") / "journal.jsonl"
    recorded(path, contracts=("pis",), keywords="deferred-only or cancellation")
    return lines_of(path)


def lines_of(path):
    """Return the lines of a journal."""
    return [json.loads(line) for line in path.read_bytes().splitlines()]


# -- wrong types -------------------------------------------------------------------
def test_each_value_of_each_wrong_type(journal, tmp_path):
    """Whatever value of a journal has another type, it is one line of error, with its place."""
    lines, tried = lines_of(journal), 0
    for number, line, place in shapes(lines):
        for value in VALUES:
            if type(value) is type(at(line, place)) or (place, value) == (("type",), "x"):
                continue
            changed = [*lines[:number], mutated(line, place, value), *lines[number + 1 :]]
            path = written(tmp_path / "odd.jsonl", changed)
            tried += 1
            if may_be(line, place, value):
                read_trials(path)
                continue
            with pytest.raises(JournalError) as caught:
                read_trials(path)
            assert str(caught.value).startswith(f"{path}:{number + 1}: "), (place, value)
            assert "\n" not in str(caught.value)
    assert tried > 500


def may_be(line, place, value):
    """Whether a value may stand there: any JSON does, null does, or whole seconds do."""
    if line["type"] not in EVENTS or place[:1] == ("owns",):
        return False
    if any(name in ANY for name in place[:-1]):
        return value != {"x": 1}
    numbers = isinstance(at(line, place), float) and value == 7
    return numbers or (value is None and place[-1] in OPTIONAL)


def test_each_value_of_an_event(payments):
    """Every event is read by the types of its fields, or refused with the place in the line."""
    tried = 0
    for _, line, place in shapes([line for line in payments if line["type"] in EVENTS]):
        for value in VALUES if place not in {("type",), ("trial",)} else ():
            if type(value) is type(at(line, place)):
                continue
            tried += 1
            changed = mutated(line, place, value)
            if may_be(line, place, value):
                decode(changed)
                continue
            with pytest.raises(InvalidValueError) as caught:
                decode(changed)
            named = [key for key in place if isinstance(key, str)][-1]
            assert named in str(caught.value), (place, value, str(caught.value))
    assert tried > 800


def test_odd_values_of_the_right_type(payments):
    """Moments, days, numbers and words that no run writes are refused, and nothing else is raised."""
    odd = {
        str: ("", "x", "\ud800", "0001-01-01", "0001-01-01T00:00:00+14:00", "2026-01-01T00:00:00"),
        int: (-1, 10**400),
        float: (1e300, -1e300),
        list: ([], [[]], [["a"]], [{}]),
        dict: ({}, {"decimal": "1e" + "9" * 30}, {"decimal": "NaN"}, {"object": [["a"]]}),
    }
    refused = 0
    for _, line, place in shapes([line for line in payments if line["type"] in EVENTS]):
        for value in odd.get(type(at(line, place)), ()):
            try:
                decode(mutated(line, place, value) | {"type": line["type"]})
            except InvalidValueError:
                refused += 1
    assert refused > 200


# -- journals that were cut --------------------------------------------------------
def settled(lines):
    """Return the verdicts in some lines: a final one counts more than a preliminary one."""
    verdicts = {}
    for kind in ("preliminary", "verdict"):
        verdicts |= {line["obligation"]: line["verdict"] for line in lines if line["type"] == kind}
    return verdicts


def test_cut_at_any_byte(journal, tmp_path):
    """A report of any prefix has the verdicts that were recorded in it."""
    raw = journal.read_bytes()
    first = raw.index(b"\n") + 1
    ends = [n + 1 for n, byte in enumerate(raw) if byte == ord("\n")]
    cuts = sorted({*ends, *(end - 1 for end in ends), *range(0, len(raw), 211)})
    path = tmp_path / "cut.jsonl"
    for cut in cuts:
        path.write_bytes(raw[:cut])
        if cut < first - 1:
            with pytest.raises(JournalError, match=r"unfinished: the run ended|it is empty"):
                read_journal(path, partial=True)
            continue
        report = read_journal(path, partial=True)
        whole = [
            json.loads(line) for line in raw[:cut].splitlines(keepends=True)[: complete(raw, cut)]
        ]
        known = settled(whole)
        for result in report.results:
            assert known.get(result.planned.id, "unverified") == result.standing.value
        planned = [line for line in whole if line["type"] == "plan"]
        assert len(planned) == len(report.results)
        assert (cut >= len(raw) - 1) is report.complete


def complete(raw, cut):
    """Return how many lines of a prefix can be read; the last one needs no line end."""
    return raw[:cut].count(b"\n") + (raw[cut : cut + 1] == b"\n")


def test_every_format_of_a_report_renders_a_part(journal, tmp_path):
    """A report of a part is made in every format, wherever the lines end."""
    lines = journal.read_bytes().splitlines(keepends=True)
    assert {*REPORTS} <= {*FORMATS}
    for number in range(1, len(lines), 3):
        path = tmp_path / "cut.jsonl"
        path.write_bytes(b"".join(lines[:number]))
        report = read_journal(path, partial=True)
        for form in FORMATS.values():
            form.render(report, out := StringIO())
            assert out.getvalue()


def test_a_part_is_judged(journal, tmp_path):
    """A prefix is judged by the trials that ended in it, and is incomplete at best."""
    raw, violated = journal.read_bytes(), 0
    lines = raw.splitlines(keepends=True)
    whole = judged(journal, tmp_path / "whole")
    for number in range(len(lines)):
        path = tmp_path / "cut.jsonl"
        path.write_bytes(b"".join(lines[:number]) + lines[number][: len(lines[number]) // 2])
        if not number:
            with pytest.raises(AssayError):
                judged(path, tmp_path / "cut")
            continue
        result = judged(path, tmp_path / f"cut-{number}")
        standings = {verdict.obligation: verdict.standing for verdict in result.verdicts}
        known = settled(map(json.loads, lines[:number])).keys() | ended(lines[:number])
        for verdict in whole.verdicts:
            reached = standings[verdict.obligation] is not Standing.UNVERIFIED
            assert standings[verdict.obligation] in {verdict.standing, Standing.UNVERIFIED}
            shown = verdict.standing is not Standing.UNVERIFIED
            assert reached is (shown and verdict.obligation in known)
        red = Standing.VIOLATES in standings.values()
        assert (Exit.VIOLATION if red else Exit.INCOMPLETE) is result.exit
        assert "the recorded run ended early" in result.stopped
        violated += red
    assert violated
    assert ("", Exit.VIOLATION) == (whole.stopped, whole.exit)


def ended(lines):
    """Return the obligations of the trials that ended, whose verdicts may be on the next lines."""
    return {
        each["verdict"]["obligation"]
        for line in map(json.loads, lines)
        if line["type"] == "ended"
        for each in line["verdicts"]
    }


def judged(path, folder):
    """Judge a journal by what it was a run of."""
    return open_recording(path, contracts=("aisp",), keywords="psu-identity or trusted").close(
        folder / "journal.jsonl"
    )


def test_preliminary_verdicts_of_a_whole_journal_say_nothing(journal, tmp_path):
    """A finished journal has the same report without them."""
    lines = [line for line in lines_of(journal) if line["type"] != "preliminary"]
    assert len(lines) < len(lines_of(journal))
    path = written(tmp_path / "without.jsonl", lines)
    assert read_journal(journal).results == read_journal(path).results
