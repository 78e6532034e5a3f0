"""The comparison of two runs: exactly what differs, from any form of a run."""

import json
from itertools import product

import pytest
from command_line import assay
from rows import for_each
from shipped import bank_of

from assay.contract.model import Source
from assay.errors import Exit, InputError, JournalError
from assay.journal.writer import Journal as RunJournal
from assay.judging.waivers import WaiverResult, WaiverState
from assay.preparation.prepare import prepare
from assay.report import render
from assay.report.build import read_journal
from assay.report.comparison import (
    DEFAULT,
    FORMATS,
    Category,
    compare,
    conditions,
    exit_of_comparison,
    read_run,
)
from assay.report.values import Header, PlannedObligation, Report, ReportedResult, TargetRef
from assay.rules.verdict import Standing
from assay.running.environment import set_up
from assay.running.session import Session, run_session
from assay.sandbox.mutants import MUTANTS

#: Clauses whose trials are short.
SOME = "aisp and (psu-identity or listing or iban or balance-type or euro or page-size)"
CLAUSES = ("psu-identity", "listing", "iban", "balance-type", "euro", "page-size")


def facet(name="aisp/quota/a", standing=Standing.CONFORMS, reason="", context="", **planned):
    """Return the result on one obligation of a run."""
    contract, clause, _ = name.split("/")
    values = {
        "id": name,
        "contract": contract,
        "clause": clause,
        "kind": "quota",
        "level": "must",
        "says": "Four accesses a day.",
        "sources": (Source(section="Limits", line=3),),
        "parameters": "abc",
        "disposition": "ask",
    }
    trial = f"{contract}/{clause}:trial [{context}]" if context else ""
    return ReportedResult(
        planned=PlannedObligation(**{**values, **planned}),
        standing=standing,
        reason=reason,
        trial=trial,
    )


def made(*results, seed=0, selection=None, waivers=()):
    """Return a run with these results."""
    header = Header(
        tool="assay",
        started="2026-09-16T10:00:00.123Z",
        seed=seed,
        contracts=(),
        target=TargetRef(name="bank"),
        selection=selection or {},
    )
    return Report(
        header=header,
        results=results,
        faults=(),
        footer=None,
        complete=True,
        journal="run",
        waivers=waivers,
    )


def waiver(**other):
    """Return a waiver of a run."""
    values = {"name": "w", "owner": "o", "reason": "r", "expires": "2027-01-01"}
    return WaiverResult(**{**values, "state": WaiverState.IN_FORCE, **other})


def differences(old, new):
    """Return the differences of two runs, in short."""
    return [(each.category.value, each.name) for each in compare(old, new).differences]


C, V, W, U, D, N = (
    Standing.CONFORMS,
    Standing.VIOLATES,
    Standing.WAIVED,
    Standing.UNVERIFIED,
    Standing.INDETERMINATE,
    Standing.NOT_APPLICABLE,
)


@for_each(
    ("before", "now", "category"),
    [
        (C, V, "newly-violated"),
        (U, V, "newly-violated"),
        (W, V, "newly-violated"),
        (None, V, "newly-violated"),
        (C, W, "newly-waived"),
        (V, W, "newly-waived"),
        (V, C, "fixed"),
        (W, C, "fixed"),
        (C, U, "newly-unverified"),
        (V, D, "newly-unverified"),
        (U, C, "newly-verified"),
        (U, D, "other"),
        (C, None, "no-longer-planned"),
        (V, N, "no-longer-planned"),
        (U, None, "no-longer-planned"),
        (None, C, "newly-planned"),
        (None, U, "newly-planned"),
        (N, C, "newly-planned"),
        (N, None, "other"),
    ],
)
def test_a_verdict(before, now, category):
    """Each change of a verdict is in one category."""
    old, new = (made(*([facet(standing=each)] if each else ())) for each in (before, now))
    assert [(category, "aisp/quota/a")] == differences(old, new)


@for_each(
    ("change", "detail"),
    [
        ({"says": "Five."}, "sentence"),
        ({"sources": (Source(section="Limits", line=4),)}, "sources"),
        ({"parameters": "def"}, "parameters"),
        ({"kind": "paging", "level": "may"}, "kind, level"),
        ({"parameters": ""}, None),
        ({"reason": "other words"}, None),
    ],
)
def test_a_clause(change, detail):
    """A clause that changed is named once, with what changed; a missing digest is no change."""
    old = made(facet(), facet("aisp/quota/b"))
    new = made(facet(**change), facet("aisp/quota/b", **change))
    found = compare(old, new).differences
    expected = [] if detail is None else [(Category.CLAUSE_CHANGED, "aisp/quota", detail)]
    assert expected == [(each.category, each.name, each.detail) for each in found]


def test_open_points_are_compared_one_by_one():
    """Points that the document leaves open share no clause."""
    names = ("aisp/unspecified/a", "aisp/unspecified/b")
    old, new = (
        made(*(facet(name, Standing.UNSPECIFIED, kind="unspecified", says=says) for name in names))
        for says in ("one", "two")
    )
    assert [("clause-changed", name) for name in names] == differences(old, new)


def test_contexts():
    """A violation in another context than before is a difference, without another verdict."""
    old, new = (made(facet(standing=V, context=context)) for context in ("instant", ""))
    (found,) = compare(old, new).differences
    assert ("instant", "the base context") == (found.before, found.now)
    assert Category.CONTEXT_CHANGED is found.category
    assert [] == differences(made(facet(context="x")), made(facet()))


def test_waivers_and_conditions():
    """A waiver that came, went or changed is a difference, and so are other conditions."""
    old = made(waivers=(waiver(), waiver(name="gone"), waiver(name="same")))
    new = made(
        waivers=(waiver(expires="2028-01-01"), waiver(name="new"), waiver(name="same")),
        seed=7,
        selection={"k": "quota"},
    )
    waivers = [("waiver-changed", name) for name in ("w", "new", "gone")]
    conditions = [("condition-changed", name) for name in ("seed", "selection")]
    assert [*waivers, *conditions] == differences(old, new)


@for_each(
    ("before", "now", "fail_on", "expected"),
    [
        (C, V, DEFAULT, Exit.VIOLATION),
        (C, U, DEFAULT, Exit.INCOMPLETE),
        (C, None, DEFAULT, Exit.INCOMPLETE),
        (V, C, DEFAULT, Exit.OK),
        (C, V, (), Exit.OK),
        (V, C, (Category.FIXED,), Exit.VIOLATION),
    ],
)
def test_what_fails(before, now, fail_on, expected):
    """The exit code is that of what is failed on."""
    old, new = (made(*([facet(standing=each)] if each else ())) for each in (before, now))
    comparison = compare(old, new)
    assert expected is exit_of_comparison(comparison, fail_on)
    for write in FORMATS.values():
        assert str(expected.value) in write(comparison, fail_on)


# -- runs --------------------------------------------------------------------------
def sample():
    """Return every few mutants that violate only the clauses that are run."""
    own = [
        mutant for mutant in MUTANTS if all(name.split("/")[1] in CLAUSES for name in mutant.breaks)
    ]
    return {mutant.id: mutant.breaks for mutant in own[:: max(len(own) // 10, 1)]}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Return the folder of a short run on the sound bank and on each mutant, and what is undecided."""
    prepared, folders = prepare(["aisp"], keywords=SOME), {}
    for name in ("", *sample()):
        folder = tmp_path_factory.mktemp("run")
        environment = set_up(prepared.target, bank=bank_of(name))
        journal = RunJournal.at(folder / "journal.jsonl")
        session = Session(plan=prepared.plan, environment=environment, journal=journal)
        verdicts = run_session(session).verdicts
        environment.close()
        folders[name] = folder, {each.obligation for each in verdicts if each.standing is D}
    return folders


@pytest.fixture
def sound(runs):
    """Return the folder of the run on the sound bank."""
    return runs[""][0]


def test_pairs_of_mutants(runs):
    """Of two banks exactly that differs which one violates or leaves undecided, and the other not."""
    breaks = {"": frozenset(), **sample()}
    compared = {name: read_run(folder) for name, (folder, _) in runs.items()}
    assert len(breaks) > 8
    for old, new in product(breaks, repeat=2):
        open_before, open_now = runs[old][1], runs[new][1]
        expected = {
            "newly-violated": breaks[new] - breaks[old],
            "newly-unverified": open_now - open_before,
            "fixed": breaks[old] - breaks[new] - open_now,
            "newly-verified": open_before - open_now - breaks[new],
        }
        found = differences(compared[old], compared[new])
        assert {(key, name) for key, names in expected.items() for name in names} == {*found}
        assert sum(map(len, expected.values())) == len(found)


def test_a_run_and_its_report_are_the_same(runs, tmp_path):
    """The folder, the journal and the JSON report of a run are read alike."""
    for folder, _ in [*runs.values()][:3]:
        journal = folder / "journal.jsonl"
        render(read_journal(journal), "json", tmp_path / "report.json")
        same = [read_run(path) for path in (folder, journal, tmp_path / "report.json", tmp_path)]
        assert [[]] * 4 == [differences(same[0], run) for run in same]
        told = (
            [(each.planned.id, each.standing, each.reason, each.trial) for each in run.results]
            for run in same
        )
        assert 1 == len({*map(repr, told)})
        assert 1 == len({repr((conditions(run), run.header.chosen)) for run in same})


def test_a_contract_that_changed(sound, tmp_path):
    """Changed parameters of a clause are seen in the plan, although no sentence changed."""
    lines = map(json.loads, (sound / "journal.jsonl").read_text().splitlines())
    planned = [each for each in lines if each["type"] == "plan"]
    assert all(each["kind"] == "unspecified" or each["parameters"] for each in planned)
    render(read_journal(sound / "journal.jsonl"), "json", tmp_path / "report.json")
    values = json.loads((tmp_path / "report.json").read_text())
    for each in values["obligations"]:
        if each["clause"] == "psu-identity":
            each["plan"]["parameters"] = "0" * 16
    (tmp_path / "changed.json").write_text(json.dumps(values))
    found = compare(read_run(sound), read_run(tmp_path / "changed.json")).differences
    assert [("aisp/psu-identity", "parameters")] == [(each.name, each.detail) for each in found]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "this is not JSON"),
        ("[]", "this is not a JSON object"),
        ("{}", "this is no report of the format assay-report/1"),
        ('{"schema": "assay-report/1"}', "the run ended early"),
        ('{"schema": "assay-report/1", "run": 5}', "'run' is not an object"),
        (
            '{"schema": "assay-report/1", "run": {"complete": true}, "planned": 2}',
            "2 obligations planned, but 0 are here",
        ),
        ("[" * 100_000, "this is not JSON"),
    ],
)
def test_a_report_that_cannot_be_used(content, message, tmp_path):
    """A damaged or foreign report is refused with its path."""
    path = tmp_path / "report.json"
    path.write_text(content, "utf-8")
    with pytest.raises((InputError, JournalError), match=message) as error:
        read_run(path)
    assert str(path) in str(error.value)


def test_the_command(runs, sound, tmp_path):
    """The command prints what differs, in each format, and exits with what is failed on."""
    broken = next(folder for name, (folder, _) in runs.items() if name)
    code, out, _ = assay("compare", sound, broken, cwd=tmp_path)
    assert (1, True) == (code, "Newly violated" in out)
    code, out, _ = assay("compare", sound, broken, "--fail-on", "none", "-f", "json", cwd=tmp_path)
    assert (0, {"newly-violated"}) == (
        code,
        {each["category"] for each in json.loads(out)["differences"]},
    )
    assert 0 == assay("compare", broken, sound, "-f", "markdown", "-o", "c.md", cwd=tmp_path)[0]
    assert "## Fixed" in (tmp_path / "c.md").read_text("utf-8")
    code, _, err = assay("compare", sound, tmp_path / "no", cwd=tmp_path)
    assert (2, True) == (code, "no such journal" in err)
    code, _, err = assay("compare", sound, sound, "--fail-on", "newly-violted", cwd=tmp_path)
    assert (2, True) == (code, "did you mean 'newly-violated'?" in err)
