"""The merge of shards is the run of the whole plan, also where something is violated or missing."""

import json
from dataclasses import dataclass, replace
from datetime import date

import pytest
from command_line import assay
from shipped import bank_of

from assay.binding.model.target import Waiver
from assay.errors import Exit, InputError, JournalError
from assay.journal.writer import Journal
from assay.judging.assembly import (
    MergedVerdicts,
    ShardObservations,
)
from assay.judging.corrections import AnswersSeen, StaticWatch
from assay.judging.exit_policy import ExitPolicy
from assay.planning.plan import Shard
from assay.planning.shards import divide
from assay.preparation.prepare import prepare
from assay.report import read_journal
from assay.report.merge import merge
from assay.rules.verdict import Agreement, Evidence, Standing, Verdict
from assay.running.environment import set_up
from assay.running.session import Options, Session, run_session
from assay.sandbox.app import make_app
from assay.traffic.session import open_recording

#: Clauses of both contracts, and open points.
SOME = "psu-identity or listing or unspecified or execution or duplicate"
#: Violates a clause in the trials of others.
ELSEWHERE = "pis.execution.immediate-twice"


def run(folder, variant="", shard=None, keywords=SOME, **options):
    """Run a plan, or a shard of it, and return its result."""
    prepared = prepare(keywords=keywords, shard=shard)
    bank = variant if callable(variant) else bank_of(variant)
    environment = set_up(prepared.target, bank=bank)
    session = Session(
        plan=prepared.plan,
        environment=environment,
        journal=Journal.at(folder / "journal.jsonl"),
        options=Options(**options),
    )
    try:
        return run_session(session)
    finally:
        environment.close()


@dataclass
class Mock:
    """A bank that answers each kind of reading with the same bytes, for each customer and question."""

    answers: dict
    app: object

    def __call__(self, environ, start_response):
        """Serve a request."""
        path = environ["PATH_INFO"]
        kind = path.rpartition("/")[2]
        if environ["REQUEST_METHOD"] != "GET" or "/assay-control/" in path:
            return self.app(environ, start_response)
        if kind not in self.answers:
            sent = []
            body = b"".join(self.app(environ, lambda *head: sent.append(head)))
            if not sent[0][0].startswith("200"):
                start_response(*sent[0])
                return [body]
            self.answers[kind] = sent[0], body
        head, body = self.answers[kind]
        start_response(*head)
        return [body]


def shards(folder, of, variant="", numbers=None, **options):
    """Run the shards of a plan, and return their folders."""
    folders = []
    for number in numbers or range(1, of + 1):
        folders.append(folder / f"shard-{number}")
        run(folders[-1], variant, Shard(number=number, of=of), **options)
    return folders


def shown(folder):
    """Return what a report says of each obligation, exchanges being numbered in their trial."""
    report = read_journal(folder / "journal.jsonl")
    first = {
        result.shown_by: min(
            (each.exchange for each in result.timeline if each.exchange), default=0
        )
        for result in report.results
    }

    def numbered(evidence, trial):
        """Return an observation with the numbers of exchanges from the first of its trial."""
        begin = first.get(trial, 0)
        return replace(
            evidence,
            exchanges=tuple(n - begin for n in evidence.exchanges),
            controls=tuple(n - begin for n in evidence.controls),
            decisive=evidence.decisive and evidence.decisive - begin,
        )

    return [
        (
            result.planned,
            result.standing,
            result.reason,
            result.trial,
            result.reproduce,
            [numbered(each, result.shown_by) for each in result.evidence],
            [(each.trial, each.operation, each.response.status) for each in result.exchanges],
        )
        for result in report.results
    ]


def lines(folder, kind):
    every = map(json.loads, (folder / "journal.jsonl").read_text("utf-8").splitlines())
    return [line for line in every if line["type"] == kind]


@pytest.mark.parametrize("variant", ["", ELSEWHERE, "listing.last-item-lost-with-consent"])
def test_merged_shards_are_the_whole_run(tmp_path, variant):
    """Obligation by obligation: verdict, reason, evidence, trial; and exit code and size."""
    whole = run(tmp_path / "whole", variant)
    merged = merge(shards(tmp_path, 3, variant), tmp_path / "merged", command="assay")
    assert shown(tmp_path / "whole") == shown(tmp_path / "merged")
    assert (whole.exit, whole.counts) == (merged.exit, merged.counts)
    (footer,) = lines(tmp_path / "merged", "footer")
    assert whole.exchanges == footer["exchanges"]


def test_static_answers_are_found_by_all_shards_together(tmp_path):
    """A mock that no shard alone unmasks is unmasked by the merge, as by a whole run."""
    answers = {}
    selected = {"keywords": "aisp and (available or own-data or psu-identity)"}

    def mock(base_url):
        return Mock(answers, make_app(base_url=base_url))

    run(tmp_path / "whole", mock, **selected)
    folders = shards(tmp_path, 4, mock, **selected)
    merge(folders, tmp_path / "merged", command="assay")
    assert shown(tmp_path / "whole") == shown(tmp_path / "merged")
    reasons = {
        folder.name: [result[2] for result in shown(folder) if "static answers" in result[2]]
        for folder in (*folders, tmp_path / "merged")
    }
    own = sum(len(each) for name, each in reasons.items() if name != "merged")
    assert len(reasons["merged"]) > own


def test_what_a_trial_shows_of_another_shard_survives(tmp_path):
    """An obligation whose own trial conforms is violated by the trial of another shard."""
    folders = shards(tmp_path, 3, ELSEWHERE)
    owned = {line["obligation"] for folder in folders for line in lines(folder, "verdict")}
    elsewhere = [
        (line["obligation"], line["verdict"])
        for folder in folders
        for line in lines(folder, "preliminary")
        if line["obligation"] not in {each["obligation"] for each in lines(folder, "plan")}
    ]
    assert ("pis/execution/once", "violates") in elsewhere, elsewhere
    assert {name for name, _ in elsewhere} <= owned
    (own,) = (
        line
        for folder in folders
        for line in lines(folder, "verdict")
        if line["obligation"] == "pis/execution/once"
    )
    assert own["verdict"]
    merge(folders, tmp_path / "merged", command="assay")
    report = read_journal(tmp_path / "merged" / "journal.jsonl")
    (result,) = (each for each in report.results if each.planned.id == "pis/execution/once")
    assert Standing.VIOLATES is result.standing
    assert result.exchanges


def test_a_merged_journal_is_judged_as_a_whole_one(tmp_path):
    """`assay judge` says of both the same, so no two exchanges have the same number."""
    run(tmp_path / "whole", ELSEWHERE)
    merge(shards(tmp_path, 2, ELSEWHERE), tmp_path / "merged", command="assay")
    numbers = [line["n"] for line in lines(tmp_path / "merged", "exchange")]
    assert len(numbers) == len(set(numbers)) > 0
    counts = [
        open_recording(tmp_path / name / "journal.jsonl").close(tmp_path / f"{name}.jsonl").counts
        for name in ("whole", "merged")
    ]
    assert counts[0] == counts[1]


def test_a_missing_shard_is_unverified(tmp_path):
    """Its obligations have the reason; what the plan decides alone stays; nothing is allowed."""
    plan = prepare(keywords=SOME).plan
    number = divide(plan, 3)["pis/unspecified/payload-shapes"]
    folders = shards(tmp_path, 3, numbers={1, 2, 3} - {number})
    merged = merge(
        folders, tmp_path / "merged", command="assay", policy=ExitPolicy(allow_incomplete=True)
    )
    report = read_journal(tmp_path / "merged" / "journal.jsonl")
    own = {line["obligation"] for folder in folders for line in lines(folder, "plan")}
    missing = [result for result in report.results if result.planned.id not in own]
    assert {"ask", "unspecified"} == {result.planned.disposition for result in missing}
    for result in missing:
        if result.planned.disposition == "ask":
            assert Standing.UNVERIFIED is result.standing
            assert f"shard {number}/3 was not run" == result.reason
        else:
            assert Standing.UNSPECIFIED is result.standing
    assert Exit.INCOMPLETE is merged.exit
    assert f"shard {number}/3 was not run" == lines(tmp_path / "merged", "footer")[0]["stopped"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": "0"}, "the version of Assay differs"),
        ({"seed": 7}, "the seed differs"),
        ({"selection": {"k": "x", "m": ""}}, "the selection .* differs"),
        ({"division": "sha256:0"}, "the division of the plan differs"),
        ({"shard": "2/3"}, "the number of shards differs"),
        ({"shard": "1/2"}, "shard 1/2 was given twice"),
    ],
)
def test_shards_of_other_plans_are_refused(tmp_path, change, message):
    """The error names what differs, and in which journal."""
    first, second = shards(tmp_path, 2, keywords="psu-identity or listing")
    _alter(second, change)
    with pytest.raises(InputError, match=rf"shard-2.*{message}"):
        merge([first, second], tmp_path / "merged", command="assay")
    assert not (tmp_path / "merged").exists()


def _alter(folder, change):
    """Change the first line of a journal, and make its digest right again."""
    import hashlib  # noqa: PLC0415 -- only here

    path = folder / "journal.jsonl"
    head, *rest = path.read_text("utf-8").splitlines()
    *rest, last = [json.dumps({**json.loads(head), **change}), *rest]
    raw = "".join(f"{line}\n" for line in rest).encode()
    footer = {**json.loads(last), "digest": f"sha256:{hashlib.sha256(raw).hexdigest()}"}
    path.write_bytes(raw + json.dumps(footer).encode() + b"\n")


@pytest.mark.parametrize("key", ["contracts", "target"])
def test_another_file_is_refused(tmp_path, key):
    """Contracts and target file are compared by their digests."""
    first, second = shards(tmp_path, 2, keywords="psu-identity or listing")
    (header,) = lines(second, "header")
    other = header[key][0] if key == "contracts" else header[key]
    other["digest"] = "sha256:0"
    _alter(second, {key: header[key]})
    with pytest.raises(
        InputError, match=r"the content of the (contract files|target file) differs"
    ):
        merge([first, second], tmp_path / "merged", command="assay")


def test_a_whole_run_is_no_shard(tmp_path):
    """The journal of a run without `--shard` is refused."""
    run(tmp_path / "whole", keywords="listing")
    with pytest.raises(InputError, match="not the journal of a shard"):
        merge([tmp_path / "whole"], tmp_path / "merged", command="assay")


def test_a_shard_that_ended_early_counts_only_if_it_may(tmp_path):
    """It is refused; with `partial` it counts as far as it goes, and the rest is unverified."""
    first, second = shards(tmp_path, 2)
    path = second / "journal.jsonl"
    kept = path.read_bytes().splitlines(keepends=True)
    settled = [n for n, line in enumerate(kept) if line.startswith(b'{"type": "preliminary"')]
    path.write_bytes(b"".join(kept[: settled[-3]]))
    with pytest.raises(JournalError, match="unfinished"):
        merge([first, second], tmp_path / "no", command="assay")
    merged = merge([first, second], tmp_path / "merged", command="assay", partial=True)
    report = read_journal(tmp_path / "merged" / "journal.jsonl")
    reasons = {result.reason for result in report.of(Standing.UNVERIFIED)}
    assert {"shard 2/2 ended early"} == reasons
    own = {line["obligation"] for line in lines(second, "plan")}
    assert any(each.planned.id in own for each in report.of(Standing.CONFORMS))
    assert Exit.INCOMPLETE is merged.exit


# -- what all shards observe together ------------------------------------------------
def observed(**given):
    """Return observations of a shard in which nothing was seen but what is given."""
    empty = {
        "answers": AnswersSeen(),
        "accepted": frozenset(),
        "refused": frozenset(),
        "where": {False: "auth", True: "auth.tpp"},
        "tpp_operations": frozenset(),
        "rests_on": {},
        "waivers": (),
        "today": date(2026, 9, 16),
    }
    return ShardObservations(**{**empty, **given})


def asked(*questions, bodies=("same",)):
    """Return what a shard has seen that asked these questions, and got these answers."""
    return AnswersSeen(
        questions={"accounts": questions}, bodies={"accounts": bodies}, answers={"accounts": bodies}
    )


def static(*seen):
    """Return the operations that are static over all shards."""
    watch = StaticWatch()
    for each in seen:
        watch.take(each)
    return watch.static()


def test_answers_are_static_only_over_all_shards():
    """Two shards that ask twice show it together; one other body anywhere refutes it."""
    assert frozenset() == static(asked("a", "b"))
    assert {"accounts"} == static(asked("a", "b"), asked("c", "d"))
    assert frozenset() == static(asked("a", "b"), asked("a", "b"))
    assert frozenset() == static(asked(*"abcd"), asked("e", bodies=("other",)))


def conforming(name, *exchanges):
    evidence = Evidence(
        facet="", agreement=Agreement.AGREES, expected="", seen="", exchanges=exchanges
    )
    return Verdict(obligation=name, standing=Standing.CONFORMS, evidence=(evidence,))


def final(shards_, *verdicts, **given):
    merged = MergedVerdicts(recorded={each.obligation: each for each in verdicts}, **given)
    return {name: each.standing for name, each in merged.final(shards_).items()}


def test_credentials_that_one_shard_saw_accepted_are_accepted():
    """A verdict stands as soon as any shard saw the credentials of its caller accepted."""
    refused = observed(refused=frozenset({False}))
    accepted = observed(accepted=frozenset({False}))
    verdict, operations = conforming("a", 1), {1: "accounts"}
    assert {"a": Standing.INDETERMINATE} == final([refused], verdict, operations=operations)
    assert {"a": Standing.CONFORMS} == final([refused, accepted], verdict, operations=operations)


def test_a_refusal_rests_on_the_obligation_of_another_shard():
    """It proves nothing where the acceptance does not conform there."""
    resting = [observed(rests_on={"a": "b"}), observed()]
    violated = Verdict(obligation="b", standing=Standing.VIOLATES)
    assert Standing.INDETERMINATE is final(resting, conforming("a"), violated)["a"]
    assert Standing.CONFORMS is final(resting, conforming("a"), conforming("b"))["a"]


def test_a_waiver_covers_what_another_shard_shows():
    """A violation that only another shard saw is waived like one of its own."""
    waiver = Waiver(obligation="a", owner="we", reason="known", expires="2026-12-31")
    violated = Verdict(obligation="a", standing=Standing.VIOLATES)
    assert {"a": Standing.WAIVED} == final([observed(waivers=(waiver,))], violated)


# -- the command ---------------------------------------------------------------------
def test_commands_run_and_merge(tmp_path):
    """`run --shard` and `report --merge` make one report with the exit code of the whole."""
    for number in (1, 2):
        shard, out = f"{number}/2", tmp_path / f"s{number}"
        code, text, _ = assay(
            *("run", "-k", "listing or psu-identity", "--shard", shard, "--out", out), cwd=tmp_path
        )
        assert 0 == code
        assert f"This is shard {shard} of a plan" in text
    code, text, _ = assay("report", "--merge", "s1", "s2", "--out", "all", cwd=tmp_path)
    assert 0 == code
    assert "shard" not in text
    assert {"journal.jsonl", "junit.xml", "report.html", "report.json", "report.md"} == {
        path.name for path in (tmp_path / "all").iterdir()
    }
    code, text, _ = assay("report", "--merge", "s2", "--out", "half", cwd=tmp_path)
    assert 3 == code
    assert "shard 1/2 was not run" in text
    code, _, err = assay("report", "--merge", "s1", "s2", "--out", "all", cwd=tmp_path)
    assert 2 == code
    assert "a journal already exists" in err
    code, _, err = assay("report", "--merge", "s1", "s2", cwd=tmp_path)
    assert (2, "assay: --merge: no folder to write to (add --out DIR)\n") == (code, err)


def test_a_violation_of_another_shard_fails_the_shard(tmp_path):
    """A shard whose own obligations conform exits with 1 if its trials violate others."""
    of, codes = 3, set()
    for number in range(1, of + 1):
        result = run(tmp_path / str(number), ELSEWHERE, Shard(number=number, of=of))
        own = result.counts["violates"]
        elsewhere = read_journal(tmp_path / str(number) / "journal.jsonl").elsewhere
        violated = any(each.violated for each in elsewhere)
        assert (Exit.VIOLATION if own or violated else Exit.OK) is result.exit
        codes.add((bool(own), violated))
    assert (False, True) in codes
