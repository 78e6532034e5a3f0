"""`assay run --resume`: what is missing is run, and another run is refused before anything is written."""

import json
import os
import shutil
from pathlib import Path

import pytest
from command_line import assay, files_up_to

from assay.cli import run as run_command
from assay.journal import journal_file
from assay.parsing.parse import find_contract
from assay.preparation.target_file import find_target
from assay.report import read_journal

RUN = ("run", "-k", "psu-identity or trusted", "--quiet")
JOURNAL = "journal.jsonl"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return the folder of a run that was not cut short."""
    folder = tmp_path_factory.mktemp("run")
    assert 0 == assay(*RUN, "--out", "whole", cwd=folder)[0]
    return folder / "whole"


def cut(whole, folder, size):
    """Leave what a run has written until a size, or its last lines if that is negative."""
    folder.mkdir(exist_ok=True)
    (folder / JOURNAL).write_bytes((whole / JOURNAL).read_bytes()[:size])
    return folder / JOURNAL


def half(whole, folder):
    """Leave half of a journal, which ends in the middle of a line."""
    return cut(whole, folder, (whole / JOURNAL).stat().st_size // 2)


def shown(journal):
    """Return what a report shows of each obligation."""
    results = read_journal(journal).results
    return [(each.planned.id, each.standing, each.observations, each.calls) for each in results]


def lines_of(journal):
    """Return the lines of a journal."""
    return [json.loads(line) for line in journal.read_bytes().splitlines()]


def refused(cwd, *options):
    """Return the one line with which resuming the run in `out` is refused; nothing is changed."""
    journal = cwd / "out" / JOURNAL
    before = journal.read_bytes() if journal.is_file() else None
    code, out, err = assay("run", "--resume", "out", *options, cwd=cwd)
    assert (2, "") == (code, out)
    assert before == (journal.read_bytes() if journal.is_file() else None)
    (line,) = err.splitlines()
    assert line.endswith(")")  # a hint
    return line


# -- what is missing is run --------------------------------------------------------
def test_a_run_cut_anywhere_is_continued(whole, tmp_path):
    """After a header, in the plan, in a trial, before its last line: the same verdicts."""
    raw = (whole / JOURNAL).read_bytes()
    ends = [n for n, byte in enumerate(raw) if byte == 10]
    places = [ends[0] + 1, ends[2] + 7, *ends[4::29], *(end + 40 for end in ends[8::37])]
    for number, size in enumerate({*places, len(raw) - 1}):
        folder = tmp_path / f"cut-{number}"
        journal = cut(whole, folder, size)
        assert 0 == assay("run", "--resume", folder, "--quiet", cwd=tmp_path)[0], size
        assert shown(whole / JOURNAL) == shown(journal), size
        after = journal.read_bytes()
        assert after.startswith(raw[: raw[:size].rfind(b"\n") + 1])
        numbers = [line["n"] for line in lines_of(journal) if line["type"] == "exchange"]
        assert len(numbers) == len({*numbers})
        assert (folder / "report.html").is_file()


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_shard_is_continued_as_a_shard(whole, tmp_path, share):
    """Merged with the other shard, it gives the verdicts of the whole run."""
    for number in (1, 2):
        code, _, _ = assay(*RUN, "--shard", f"{number}/2", "--out", f"part-{number}", cwd=tmp_path)
        assert code == 0
    journal = tmp_path / "part-1" / JOURNAL
    raw = journal.read_bytes()
    header = raw.index(b"\n") + 1
    size = header + int((len(raw) - header) * share)
    cut(tmp_path / "part-1", tmp_path / "out", size)
    assert "--shard" in refused(tmp_path, "--shard", "2/2")
    assert 0 == assay("run", "--resume", "out", "--quiet", cwd=tmp_path)[0]
    assert shown(journal) == shown(tmp_path / "out" / JOURNAL)
    code, _, err = assay("report", "--merge", "out", "part-2", "--out", "merged", cwd=tmp_path)
    assert (0, "") == (code, err)
    assert shown(whole / JOURNAL) == shown(tmp_path / "merged" / JOURNAL)


def test_a_line_that_lacks_only_its_end_is_kept(whole, tmp_path):
    """A complete line is completed, and a line that is cut is cut off."""
    raw = (whole / JOURNAL).read_bytes()
    ends = [n for n, byte in enumerate(raw) if byte == 10]
    journal = cut(whole, tmp_path / "out", ends[9])
    assert 0 == assay("run", "--resume", "out", "--quiet", cwd=tmp_path)[0]
    assert journal.read_bytes().startswith(raw[: ends[9] + 1])


def test_only_what_is_missing_is_run(whole, tmp_path):
    """Trials that ended are not run again; a line says when the run was resumed, and by what."""
    journal = half(whole, tmp_path / "out")
    done = [
        line["trial"]
        for line in map(json.loads, journal.read_bytes().splitlines()[:-1])
        if line["type"] == "ended"
    ]
    assert len(done) > 2
    assay("run", "--resume", "out", "--quiet", cwd=tmp_path)
    lines = lines_of(journal)
    (at,) = (n for n, line in enumerate(lines) if line["type"] == "resumed")
    assert {"at", "version", "abandoned"} < lines[at].keys()
    again = {line["trial"] for line in lines[at:] if line["type"] == "exchange"}
    assert again
    assert not again & {*done}
    ended = [line["trial"] for line in lines if line["type"] == "ended"]
    assert ended == [line["trial"] for line in lines_of(whole / JOURNAL) if line["type"] == "ended"]


def test_a_pseudonym_stands_for_one_value(whole, tmp_path):
    """What a resumed run masks has no pseudonym that the first part used for something else."""
    journal = half(whole, tmp_path / "out")
    known = journal.read_text("utf-8", "ignore")
    assay("run", "--resume", "out", "--quiet", cwd=tmp_path)
    text = journal.read_text("utf-8")
    first, rest = text.split('{"type": "resumed"')
    events = [line for line in rest.splitlines() if line.startswith('{"type": "subject"')]
    owned = {thing["key"] for line in events for thing in json.loads(line)["owns"]}
    assert owned
    assert not any(key in known for key in owned)
    assert first.count("<account-1>")


def test_a_complete_run_is_not_run_again(whole, tmp_path):
    """It says so, writes the reports that are missing, and exits as the run did."""
    shutil.copytree(whole, tmp_path / "out")
    (tmp_path / "out" / "report.html").unlink()
    before = (tmp_path / "out" / JOURNAL).read_bytes()
    code, out, err = assay("run", "--resume", "out", "--quiet", cwd=tmp_path)
    assert (0, "assay: the run in out is complete; nothing was run again\n") == (code, err)
    assert "conform" in out
    assert (tmp_path / "out" / "report.html").is_file()
    assert before == (tmp_path / "out" / JOURNAL).read_bytes()


def test_the_digest_covers_all_lines(whole, tmp_path):
    """A change in a line before the cut, even one that was abandoned, makes the journal damaged."""
    journal = half(whole, tmp_path / "out")
    assay("run", "--resume", "out", "--quiet", cwd=tmp_path)
    raw = journal.read_bytes()
    (abandoned,) = (line["abandoned"] for line in lines_of(journal) if line["type"] == "resumed")
    first, _ = abandoned[0]
    lines = raw.splitlines(keepends=True)
    lines[first - 1] = lines[first - 1].replace(b'"', b"'", 1)
    journal.write_bytes(b"".join(lines))
    code, _, err = assay("report", "out/" + JOURNAL, cwd=tmp_path)
    assert (2, True) == (code, "the digest does not match" in err)


@pytest.mark.parametrize(
    "abandoned", [[[1, 4]], [[3, 2]], [[2, 9999]], [[2]], ["x"], 7, [[2, True]]]
)
def test_lines_that_cannot_be_abandoned(whole, tmp_path, abandoned):
    """A journal that abandons its header, or what is to come, is damaged."""
    journal = half(whole, tmp_path / "out")
    raw = journal.read_bytes()
    line = json.dumps({"type": "resumed", "at": "", "version": "", "abandoned": abandoned})
    journal.write_bytes(raw[: raw.rfind(b"\n") + 1] + line.encode() + b"\n")
    code, _, err = assay("report", "--partial", "out/" + JOURNAL, cwd=tmp_path)
    assert 2 == code
    assert "'abandoned'" in err


def test_searches_that_ended_are_not_repeated(tmp_path):
    """A search whose line was written stays; one that was cut begins again."""
    searches = ("--journeys", "1", "--fields", "1", "--examples", "none")
    assay(
        "run", "-c", "aisp", "-k", "trusted", *searches, "--out", "whole", "--quiet", cwd=tmp_path
    )
    raw = (tmp_path / "whole" / JOURNAL).read_bytes()
    lines = lines_of(tmp_path / "whole" / JOURNAL)
    kinds = [line["type"] for line in lines]
    assert kinds.count("search") == 2
    first = kinds.index("search")
    size = len(b"".join(raw.splitlines(keepends=True)[: first + 2]))
    journal = cut(tmp_path / "whole", tmp_path / "out", size)
    assert 0 == assay("run", "--resume", "out", "--quiet", cwd=tmp_path)[0]
    searched = [line["how"] for line in lines_of(journal) if line["type"] == "search"]
    assert searched == [line["how"] for line in lines if line["type"] == "search"]
    assert lines[first] in lines_of(journal)


# -- another run is refused --------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--seed", "7"), "the run was recorded with --seed 0"),
        (("-k", "quota"), "the run was recorded with -k psu-identity or trusted"),
        (("-m", "must"), "the run was recorded with -m"),
        (("--contexts", "base"), "the run was recorded with --contexts"),
        (("--journeys", "5"), "the run was recorded with --journeys 0"),
        (("-c", "aisp"), "the run was recorded with other contracts: aisp, pis"),
        (("-t", "stet-1.4.0"), "the target file has changed since the run began"),
        (("--out", "there"), "--out cannot be combined with --resume"),
        (("--dry-run",), "--dry-run cannot be combined with --resume"),
    ],
)
def test_other_options(whole, tmp_path, options, what):
    """What would make it another run is one line of error."""
    half(whole, tmp_path / "out")
    assert what in refused(tmp_path, *options)


def test_the_same_options_may_be_given_again(whole, tmp_path):
    """An option with its recorded value is no contradiction."""
    journal = half(whole, tmp_path / "out")
    assert 0 == assay(*RUN, "--seed", "0", "--resume", "out", cwd=tmp_path)[0]
    assert shown(whole / JOURNAL) == shown(journal)


def test_the_customers_of_a_run_stay_the_same(whole, tmp_path):
    """A run that was limited to a role is continued with that role, given again or not, or refused."""
    journal = half(whole, tmp_path / "out")
    assert "was recorded without --role (leave out --role" in refused(tmp_path, "--role", "bob")
    header, rest = journal.read_bytes().split(b"\n", 1)
    values = json.loads(header)
    values["invocation"]["roles"] = ["bob", "carol"]
    journal.write_bytes(json.dumps(values).encode() + b"\n" + rest)
    other = refused(tmp_path, "--role", "carol", "--role", "bob")
    assert "was recorded with --role bob --role carol (leave out --role" in other
    for same in ((), ("--role", "bob", "--role", "carol")):
        assert "--role: sandbox has no role 'bob'" in refused(tmp_path, *same)


@pytest.fixture(scope="module")
def own_files(tmp_path_factory):
    """Return a folder with a contract, a target file, and a run on them that was cut short."""
    folder = tmp_path_factory.mktemp("own")
    shutil.copy(find_contract("aisp"), folder / "own.yaml")
    shutil.copy(find_target("sandbox"), folder / "bank.yaml")
    options = ("-c", "own.yaml", "-t", "bank.yaml", "-k", "psu-identity", "--quiet")
    assert 0 == assay("run", *options, "--out", "whole", cwd=folder)[0]
    half(folder / "whole", folder / "out")
    return folder


@pytest.fixture
def own(own_files, tmp_path):
    """Return a copy of that folder."""
    return Path(shutil.copytree(own_files, tmp_path / "own"))


@pytest.mark.parametrize(
    ("file", "what"),
    [
        ("own.yaml", "the contract aisp has changed since the run began"),
        ("bank.yaml", "the target file has changed since the run began, or is a different one"),
    ],
)
def test_a_file_that_has_changed(own, file, what):
    """A run is continued with the very same contract and target file."""
    with (own / file).open("a") as out:
        out.write("# a remark\n")
    assert what in refused(own)


def test_files_that_are_elsewhere(own):
    """From another directory, a message says what to pass; with that, the run is continued."""
    (own / "sub").mkdir()
    shutil.move(own / "out", own / "sub" / "out")
    line = refused(own / "sub")
    assert "the run was recorded with own.yaml, which is not found here" in line
    assert "pass it with --contract, or resume in the directory of the first run" in line
    assert "--target" in refused(own / "sub", "-c", "../own.yaml")
    options = ("-c", "../own.yaml", "-t", "../bank.yaml", "--quiet")
    assert 0 == assay("run", "--resume", "out", *options, cwd=own / "sub")[0]
    assert shown(own / "whole" / JOURNAL) == shown(own / "sub" / "out" / JOURNAL)


def test_another_address(own):
    """The same target file at another address is another bank."""
    journal = own / "out" / JOURNAL
    raw = journal.read_bytes()
    journal.write_bytes(raw.replace(b"//www.30001.live", b"//www.30002.live", 1))
    assert "the run was recorded at a different address" in refused(own)


def test_folders_without_a_journal_to_resume(whole, tmp_path):
    """No folder, an empty journal, half a header, something else: one line each."""
    assert "there is no journal to resume" in refused(tmp_path)
    journal = cut(whole, tmp_path / "out", 0)
    for content, what in (
        (b"", "it is empty"),
        ((whole / JOURNAL).read_bytes()[:100], "the run ended while writing the first line"),
        (b"something else\n", "not JSON"),
        (b'{"type": "header", "journal": 2}\n', "journal format 2 is unknown"),
        (b'{"type": "header", "journal": true}\n', "is unknown"),
    ):
        journal.write_bytes(content)
        code, out, err = assay("run", "--resume", "out", cwd=tmp_path)
        assert (2, "", 1) == (code, out, err.count("\n"))
        assert what in err
        assert journal.read_bytes() == content


def test_a_journal_that_does_not_say_how(whole, tmp_path):
    """A journal of pytest, or of judged traffic, is not continued."""
    journal = half(whole, tmp_path / "out")
    first, rest = journal.read_bytes().split(b"\n", 1)
    header = {name: value for name, value in json.loads(first).items() if name != "invocation"}
    journal.write_bytes(json.dumps(header).encode() + b"\n" + rest)
    assert "this run cannot be resumed" in refused(tmp_path)


def test_other_obligations(whole, tmp_path):
    """A version of Assay that plans something else does not continue a run."""
    journal = half(whole, tmp_path / "out")
    changed = journal.read_bytes().replace(b"psu-identity/own-value", b"psu-identity/other")
    journal.write_bytes(changed)
    assert "plans other obligations" in refused(tmp_path)


def test_a_second_run_on_the_same_folder(whole, tmp_path):
    """A journal that is being written is locked."""
    journal = half(whole, tmp_path / "out")
    out = journal_file.reopen(journal)
    try:
        assert "another run is writing this journal" in refused(tmp_path)
    finally:
        out.close()
    assert 0 == assay("run", "--resume", "out", "--quiet", cwd=tmp_path)[0]


def test_a_running_run_is_not_resumed(tmp_path):
    """A new journal is locked, too."""
    out = journal_file.create(tmp_path / "out" / JOURNAL)
    try:
        assert "another run is writing this journal" in refused(tmp_path)
    finally:
        out.close()


def test_a_read_only_folder(whole, tmp_path, monkeypatch):
    """Nothing is run if no report could be written, or no line of the journal."""
    journal = half(whole, tmp_path / "out")
    with monkeypatch.context() as patched:
        patched.setattr(journal_file.os, "access", lambda _, mode: mode != os.W_OK)
        assert "the folder is read-only, so no report can be written" in refused(tmp_path)
    real = Path.open

    def denied(path, mode="r", *given, **named):
        if path == journal.relative_to(tmp_path) and "+" in mode:
            raise PermissionError(13, "Permission denied")
        return real(path, mode, *given, **named)

    monkeypatch.setattr(Path, "open", denied)
    assert "cannot write the journal: Permission denied" in refused(tmp_path)


def test_a_full_disk(whole, tmp_path):
    """What was recorded stays; when there is room again, the run is continued."""
    journal = half(whole, tmp_path / "out")
    before = journal.read_bytes()
    for room in (10, 3_000, 20_000):
        with files_up_to(len(before) + room):
            code, _, err = assay("run", "--resume", "out", "--quiet", cwd=tmp_path)
        assert 2 == code
        assert "cannot write the journal: File too large" in err
        assert journal.read_bytes().startswith(before[: before.rfind(b"\n") + 1])
    assert 0 == assay("run", "--resume", "out", "--quiet", cwd=tmp_path)[0]
    assert shown(whole / JOURNAL) == shown(journal)


def test_a_credential_is_not_recorded(tmp_path):
    """An option with a password must be given again; the message says so, and not the password."""
    url = "redis://:hunter22hunter@localhost:1/0"
    assert 0 == assay(*RUN, "--examples", url, "--out", "whole", cwd=tmp_path)[0]
    journal = half(tmp_path / "whole", tmp_path / "out")
    assert b"hunter22" not in journal.read_bytes()
    line = refused(tmp_path)
    assert "--examples is not recorded" in line
    assert "pass --examples again" in line
    code, _, _ = assay("run", "--resume", "out", "--examples", url, "--quiet", cwd=tmp_path)
    assert (0, False) == (code, b"hunter22" in journal.read_bytes())


def test_an_interrupted_run_names_the_command(tmp_path, monkeypatch):
    """Who interrupts a run reads how to continue it."""
    monkeypatch.setattr(run_command.Session, "run_trial", _interrupted)
    code, _, err = assay(*RUN, "--out", "out", cwd=tmp_path)
    assert 130 == code
    assert "assay run --resume out" in err
    monkeypatch.undo()
    assert 0 == assay("run", "--resume", "out", "--quiet", cwd=tmp_path)[0]


def _interrupted(*_):
    raise KeyboardInterrupt
