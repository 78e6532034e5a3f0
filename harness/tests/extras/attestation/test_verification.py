"""Verification of runs: what was recorded is verified, and whatever a forger changes is named."""

import hashlib
import json
import os
from datetime import date

import pytest
from command_line import assay
from forging import JOURNAL, STANDINGS, forged, lines_of, recorded, with_verdict, written
from shipped import VARIANTS

from assay._resources import contract_dir
from assay.contexts.context import Depth
from assay.errors import InputError
from assay.extras.attestation.inputs import FindingKind, read_run
from assay.extras.attestation.verification import VerificationResult, verify
from assay.parsing.parse import parse_contract
from assay.planning.plan import Shard
from assay.report.merge import merge
from assay.sandbox.mutants import MUTANTS, PIS_MUTANTS
from assay.traffic.session import open_recording

#: A few faults, each with contexts: a page, an answer that is not well-formed, an effect that
#: every trial may show, and a right that is never given. `ASSAY_VERIFIED_MUTANTS=1000` tries all.
FAULTS = (
    ("listing.last-item-lost-with-consent", Depth.EACH),
    ("form.consents-cut-off", Depth.EACH),
    ("pis.modify.executes-as-created", Depth.BASE),
    ("consent.outstanding-never", Depth.BASE),
)
MANY = int(os.environ.get("ASSAY_VERIFIED_MUTANTS", "0"))
ALL = [(each.id, Depth.EACH) for each in (*MUTANTS, *PIS_MUTANTS)][:MANY]
#: A fault for forgeries of a short run.
IDENTITY = "identity.never"


def kinds(fault):
    """Return the clauses that a fault breaks, as keywords."""
    return " or ".join(sorted({name.split("/")[1] for name in VARIANTS[fault].breaks}))


def violated_in(path):
    """Return the obligations that a run found violated."""
    verdicts = (line for line in lines_of(path) if line["type"] == "verdict")
    return {line["obligation"] for line in verdicts if line["verdict"] == "violates"}


def differences(verification):
    """Return what differs, by what it is about."""
    return {each.where: each.what for each in verification.differences}


@pytest.fixture(scope="module")
def identity(tmp_path_factory):
    """Return the lines of a short run in which some obligations are violated."""
    path = recorded(
        tmp_path_factory.mktemp("run"),
        IDENTITY,
        "psu-identity or listing or payload-shapes",
        contracts=("aisp",),
    )
    lines = lines_of(path)
    assert {"conforms", "violates", "indeterminate", "unspecified"} == {
        line["verdict"] for line in lines if line["type"] == "verdict"
    }
    return lines


# -- what was recorded ------------------------------------------------------------
@pytest.mark.parametrize(("fault", "depth"), ALL or FAULTS)
def test_a_run_is_verified(fault, depth, tmp_path):
    """Every verdict is judged again and is the same, and each violation that is hidden is named."""
    path = recorded(tmp_path, fault, kinds(fault), contexts=depth)
    if not violated_in(path):  # of a clause that every trial judges: others show it
        path.unlink()
        contracts = tuple({name.split("/")[0] for name in VARIANTS[fault].breaks})
        path = recorded(tmp_path, fault, contracts=contracts, contexts=Depth.BASE)
    violated = violated_in(path)
    assert violated
    verification = verify(path)
    assert () == verification.differences
    lines = lines_of(path)
    unverifiable = {each.where for each in verification.open}
    if not ALL:
        assert (VerificationResult.VERIFIED, set()) == (verification.result, unverifiable)
        assert verification.verdicts == sum(line["type"] == "plan" for line in lines)
    for name in violated:
        lines = with_verdict(lines, name, "conforms")
    found = differences(verify(forged(path, lines)))
    assert violated - unverifiable == found.keys()
    assert all("judged again as violates" in what for what in found.values())


def test_a_sound_bank_is_not_accused(tmp_path):
    """A violation that no exchange shows differs."""
    path = recorded(tmp_path, keywords="listing")
    lines = lines_of(path)
    names = [line["obligation"] for line in lines if line["type"] == "verdict"]
    for name in names:
        found = differences(verify(forged(path, with_verdict(lines, name, "violates"))))
        assert {name} == found.keys()


# -- what is forged ---------------------------------------------------------------
def test_every_other_verdict_is_noticed(identity, tmp_path):
    """Each verdict of a run, written as any other: what differs is that one, and nothing else."""
    path = tmp_path / JOURNAL
    assert VerificationResult.VERIFIED is verify(written(path, identity)).result
    for line in [line for line in identity if line["type"] == "verdict"]:
        name, tried = line["obligation"], 0
        for standing in STANDINGS:
            if standing == line["verdict"]:
                continue
            tried += 1
            verification = verify(forged(path, with_verdict(identity, name, standing)))
            assert [name] == [each.where for each in verification.findings], (name, standing)
            still_open = {standing, line["verdict"]} == {"indeterminate", "unverified"}
            expected = VerificationResult.PARTIAL if still_open else VerificationResult.DIFFERS
            assert expected is verification.result
        assert tried


def test_a_value_that_the_journal_hides(tmp_path):
    """A verdict that rests on one is not judged again; a violation cannot be hidden behind it."""
    fault = "pis.withstands.create-address-with-user"
    name = "pis/values/create-payment-successfulReportUrl"
    path = recorded(tmp_path, fault, name, contracts=("pis",))
    verification = verify(path)
    assert VerificationResult.PARTIAL is verification.result
    assert [(name, True)] == [
        (each.where, "depends on values" in each.what) for each in verification.open
    ]
    name = "pis/values/create-payment-currency"
    other = recorded(tmp_path / "other", "pis.failing.currency-value", name, contracts=("pis",))
    lines = lines_of(other)
    (verdict,) = [line for line in lines if line["type"] == "verdict"]
    assert "violates" == verdict["verdict"]
    long = next(line["n"] for line in lines if "10,000" in line.get("variation", ""))
    evidence = [{**verdict["evidence"][0], "agreement": "agrees", "exchanges": [long]}]
    lines = [
        {**line, "verdict": "conforms", "evidence": evidence} if line is verdict else line
        for line in lines
    ]
    assert [verdict["obligation"]] == [*differences(verify(forged(other, lines)))]


def test_a_private_value_that_shows_a_violation(tmp_path):
    """A member that belongs to a person is masked whatever was sent, and nothing is forged by that."""
    name = "pis/values/create-payment-currency"
    path = recorded(tmp_path, "pis.failing.currency-value", name, contracts=("pis",))
    lines = lines_of(path)
    (verdict,) = [line for line in lines if line["type"] == "verdict"]
    disagreeing = [each for each in verdict["evidence"] if each["agreement"] == "disagrees"]
    assert len(disagreeing) < len(verdict["evidence"])
    decisive = {n for each in disagreeing for n in each["exchanges"]}
    for line in lines:
        if line.get("n") in decisive and line["type"] == "exchange" and line["variation"]:
            line["again"]["call"]["arguments"]["currency"] = "<private 0123456789abcdef01>"
    verification = verify(forged(path, lines))
    assert () == verification.differences
    assert [name] == [each.where for each in verification.open]


def test_a_value_that_a_check_cannot_recognise(identity, tmp_path):
    """What a check leaves open for a value that is masked is not judged again, and is not forged."""
    name = next(line["obligation"] for line in identity if line.get("verdict") == "conforms")
    (verdict,) = [
        line for line in identity if line["type"] == "verdict" and line["obligation"] == name
    ]
    cited = {n for each in verdict["evidence"] for n in each["exchanges"]}
    lines = [
        {**line, "again": {**line["again"], "confounded": "a value is masked"}}
        if line["type"] == "exchange" and line["n"] in cited
        else line
        for line in identity
    ]
    findings = {each.where: each for each in verify(forged(tmp_path / JOURNAL, lines)).findings}
    assert FindingKind.NOT_REJUDGED is findings[name].kind
    assert "values that the journal shortens or hides" in findings[name].what


def test_evidence_that_is_not_there(identity, tmp_path):
    """A verdict whose evidence is another exchange, or one with another meaning, differs."""
    (line,) = [
        line
        for line in identity
        if line["type"] == "verdict" and line["verdict"] == "violates" and len(line["evidence"]) > 1
    ][:1]
    for change, what in (
        ({"exchanges": [9999]}, "exchange 9999, not recorded"),
        ({"agreement": "agrees"}, "is recorded as agrees, judged again as disagrees"),
    ):
        evidence = [{**line["evidence"][0], **change}, *line["evidence"][1:]]
        lines = [{**line, "evidence": evidence} if each is line else each for each in identity]
        found = differences(verify(forged(tmp_path / JOURNAL, lines)))
        assert what in found[line["obligation"]]


def test_a_changed_exchange(tmp_path):
    """Answers that are changed so that a violation is none do not give the recorded verdict."""
    path = recorded(tmp_path, "identity.always", "psu-identity", contracts=("aisp",))
    lines, changed = lines_of(path), 0
    violated = {line["obligation"] for line in lines if line.get("verdict") == "violates"}
    for line in lines:
        if line["type"] == "exchange" and line["again"]["answer"].pop("values", None):
            changed += 1
    assert changed
    verification = verify(forged(path, lines))
    assert VerificationResult.DIFFERS is verification.result
    assert violated <= {each.where for each in verification.findings}


def test_exchanges_that_were_removed(identity, tmp_path):
    """A verdict that rests on what is not there any more differs."""
    disagreeing = {
        n
        for line in identity
        if line["type"] == "verdict" and line["verdict"] == "violates"
        for each in line["evidence"]
        for n in each["exchanges"]
    }
    lines = [line for line in identity if line.get("n") not in disagreeing]
    found = verify(forged(tmp_path / JOURNAL, lines)).differences
    assert any("not recorded" in each.what or "no recorded exchange" in each.what for each in found)


def test_an_obligation_that_was_left_out(identity, tmp_path):
    """What was selected and is not in the plan is named."""
    name = next(line["obligation"] for line in identity if line["type"] == "verdict")
    lines = [
        line
        for line in identity
        if line.get("obligation") != name
        and all(each["verdict"]["obligation"] != name for each in line.get("verdicts", ()))
    ]
    found = differences(verify(forged(tmp_path / JOURNAL, lines)))
    assert {name: "was selected but is not in the plan"} == found


def test_an_obligation_that_is_said_not_to_apply(identity, tmp_path):
    """What a bank offers cannot be planned as not applicable."""
    name = next(
        line["obligation"]
        for line in identity
        if line["type"] == "verdict" and line["verdict"] == "violates"
    )
    lines = [
        {**line, "disposition": "not-applicable", "reason": "not here"}
        if line["type"] == "plan" and line["obligation"] == name
        else line
        for line in with_verdict(identity, name, "not-applicable")
    ]
    found = differences(verify(forged(tmp_path / JOURNAL, lines)))
    assert "the plan says not-applicable" in found[name]


@pytest.mark.parametrize(
    "text", ["a and", "(" * 50_000, "not " * 50_000, " or ".join("a" * 20_000)]
)
def test_a_selection_that_cannot_be_read(identity, text, tmp_path):
    """An expression that no run has selected by is named, however deep it is."""
    lines = [{**identity[0], "selection": {"k": text, "m": ""}}, *identity[1:]]
    found = differences(verify(written(tmp_path / JOURNAL, lines)))
    assert {"selection": "the recorded selection (-k, -m) cannot be read"} == found


@pytest.mark.parametrize("key", ["says", "level", "trial"])
def test_a_plan_that_says_something_else(identity, key, tmp_path):
    """The sentence, the level and the trial of an obligation are those of the contract."""
    number = next(n for n, line in enumerate(identity) if line["type"] == "plan")
    lines = [*identity]
    lines[number] = {**lines[number], key: "other"}
    name = lines[number]["obligation"]
    assert name in differences(verify(forged(tmp_path / JOURNAL, lines)))


def test_an_exit_code_that_does_not_follow(identity, tmp_path):
    """The exit code of the footer is that of the verdicts."""
    lines = [*identity[:-1], {**identity[-1], "exit": 0}]
    found = differences(verify(written(tmp_path / JOURNAL, lines)))
    assert {"footer": "exit code 0, by the verdicts 1"} == found


# -- lines ------------------------------------------------------------------------
def test_a_line_that_was_touched_without_care(identity, tmp_path):
    """One changed, removed, or moved line is named by its number."""
    whole = written(tmp_path / JOURNAL, identity).read_bytes().splitlines(keepends=True)
    n = len(whole) // 2
    for lines, line in (
        ([*whole[:n], whole[n].replace(b'"', b"'", 1), *whole[n + 1 :]], n + 1),
        ([*whole[:n], *whole[n + 1 :]], n + 1),
        ([*whole[:n], whole[n + 1], whole[n], *whole[n + 2 :]], n + 2),
    ):
        path = tmp_path / "touched.jsonl"
        path.write_bytes(b"".join(lines))
        verification = verify(path)
        assert VerificationResult.DIFFERS is verification.result
        assert f"touched.jsonl:{line}" in differences(verification)


def test_a_journal_without_a_chain(identity, tmp_path):
    """A chain that is left out is noticed: the journal is verified in part only."""
    path = written(tmp_path / JOURNAL, identity)
    lines = path.read_text("utf-8").splitlines()
    plain = [line.partition(', "chain"')[0] + "}\n" for line in lines]
    footer = json.loads(plain[-1])
    footer["digest"] = "sha256:" + hashlib.sha256("".join(plain[:-1]).encode()).hexdigest()
    path.write_text("".join(plain[:-1]) + json.dumps(footer) + "\n", "utf-8")
    verification = verify(path)
    assert VerificationResult.PARTIAL is verification.result
    assert "no hash chain" in verification.open[0].what


# -- files ------------------------------------------------------------------------
def other_contract(folder):
    """Write a contract with another sentence, and return its path."""
    text = (contract_dir() / "aisp.yaml").read_text("utf-8")
    path = folder / "aisp.yaml"
    path.write_text(text.replace("says: ", "says: Perhaps "), "utf-8")
    return path


def test_a_swapped_contract(identity, tmp_path):
    """Another contract is noticed, given or at the path that the run recorded."""
    other = other_contract(tmp_path)
    path = written(tmp_path / JOURNAL, identity)
    given = verify(path, contracts=[str(other)])
    assert {"contract aisp": f"{other} is not the file that the run used"} == differences(given)
    assert given.rejudged is None
    contracts = [{**each, "id": "mine", "path": str(other)} for each in identity[0]["contracts"]]
    lines = [{**identity[0], "contracts": contracts[:1]}, *identity[1:]]
    assert "contract mine" in differences(verify(written(path, lines)))


def test_a_contract_that_was_swapped_with_its_digest(identity, tmp_path):
    """A journal that says that it was judged by another contract has another plan."""
    other = other_contract(tmp_path)
    digest = parse_contract(other).digest
    (aisp,) = identity[0]["contracts"]
    lines = [{**identity[0], "contracts": [{**aisp, "digest": digest}]}, *identity[1:]]
    path = written(tmp_path / JOURNAL, lines)
    assert "contract aisp" in differences(verify(path))
    given = verify(path, contracts=[str(other)])
    assert any("its plan says something else" in each.what for each in given.differences)


def test_files_that_are_not_here(identity, tmp_path):
    """Without contract or target file nothing is judged again, and the result says so."""
    head = identity[0]
    target = {**head["target"], "name": "private"}
    contract = {**head["contracts"][0], "id": "private", "path": "nowhere.yaml"}
    for lines, what in (
        ([{**head, "target": target}, *identity[1:]], "target private"),
        ([{**head, "contracts": [contract]}, *identity[1:]], "contract private"),
    ):
        verification = verify(written(tmp_path / JOURNAL, lines))
        assert VerificationResult.PARTIAL is verification.result
        assert [what] == [each.where for each in verification.open]
        assert 0 == verification.verdicts


def test_another_target_file(identity, tmp_path):
    """A target file with another digest is not that of the run."""
    own = tmp_path / "own.yaml"
    own.write_text("assay: 1\ntarget: sandbox\nextends: sandbox\n", "utf-8")
    found = differences(verify(written(tmp_path / JOURNAL, identity), target=str(own)))
    assert {"target sandbox": f"{own} is not the target file that the run used"} == found


def test_a_contract_that_the_run_does_not_have(identity, tmp_path):
    """A contract that has nothing to do with the run is refused."""
    lab = contract_dir() / "pis.yaml"
    lines = [{**identity[0], "contracts": identity[0]["contracts"][:1]}, *identity[1:]]
    with pytest.raises(InputError, match="pis is no contract of this run"):
        verify(written(tmp_path / JOURNAL, lines), contracts=[str(lab)])


def test_a_path_that_a_journal_names_is_not_read(identity, tmp_path):
    """Neither a device nor a pipe nor a file that is not YAML is opened for a forged journal."""
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    for name in ("/dev/zero", str(pipe), str(tmp_path), "/etc/passwd", "\0", "x" * 5000):
        contracts = [{**identity[0]["contracts"][0], "id": "x", "path": name}]
        lines = [{**identity[0], "contracts": contracts}, *identity[1:]]
        found = verify(written(tmp_path / JOURNAL, lines)).open
        assert ["contract x"] == [each.where for each in found]


# -- runs of other sorts ----------------------------------------------------------
def test_shards_and_their_merge(tmp_path):
    """Each shard is verified, and so is the run that they make together."""
    fault, words = "pis.execution.immediate-twice", "execution or duplicate"
    folders = [tmp_path / f"shard-{number}" for number in (1, 2)]
    for number, folder in enumerate(folders, 1):
        path = recorded(folder, fault, words, shard=Shard(number=number, of=2))
        assert VerificationResult.VERIFIED is verify(path).result, verify(path).findings
    merged = merge(folders, tmp_path / "merged", command="assay report --merge").journal
    verification = verify(merged)
    assert (VerificationResult.VERIFIED, ()) == (verification.result, verification.findings)
    lines = lines_of(merged)
    name = next(line["obligation"] for line in lines if line.get("verdict") == "violates")
    found = differences(verify(forged(merged, with_verdict(lines, name, "conforms"))))
    assert {name} == found.keys()


def test_a_run_that_has_not_ended(identity, tmp_path):
    """Preliminary verdicts are judged again; the rest is said to be missing."""
    path = written(tmp_path / JOURNAL, identity)
    raw = path.read_bytes()
    path.write_bytes(raw[: len(raw) * 3 // 4])
    verification = verify(path)
    assert () == verification.differences
    assert "the run has not ended: its verdicts are preliminary" in {
        each.what for each in verification.open
    }
    assert 0 < verification.verdicts < len(verification.run.plan)


def test_waivers_are_those_of_the_day_of_the_run(identity, tmp_path):
    """A waiver that was valid then is valid in a verification, whenever that is."""
    name = next(line["obligation"] for line in identity if line.get("verdict") == "violates")
    own = tmp_path / "own.yaml"
    own.write_text(
        "assay: 1\ntarget: own\nextends: sandbox\nwaivers:\n"
        f"  - {{obligation: {name}, owner: we, reason: known, expires: 2099-12-31}}\n",
        "utf-8",
    )
    path = recorded(
        tmp_path / "run", IDENTITY, "psu-identity", target_name=str(own), contracts=("aisp",)
    )
    lines = lines_of(path)
    assert "waived" in {line.get("verdict") for line in lines}
    assert VerificationResult.VERIFIED is verify(path, target=str(own)).result
    later = [{**lines[0], "started": "2100-01-01T00:00:00Z"}, *lines[1:]]
    found = differences(verify(written(path, later), target=str(own)))
    assert "recorded as waived, judged again as violates" in found[name]
    assert date(2100, 1, 1) == read_run(path).day
    needless = [
        {**line, "waivers": [{**each, "state": "superfluous"} for each in line["waivers"]]}
        if line["type"] == "waivers"
        else {**line, **({"exit": 2} if line["type"] == "footer" else {})}
        for line in lines
    ]
    found = differences(verify(written(path, needless), target=str(own)))
    assert {f"waiver of {name}": "recorded as superfluous, by the verdicts in-force"} == found


def test_a_file_of_waivers(tmp_path):
    """It is found where the run had it, or given; if it is not here, the result says so."""
    own = "- {obligation: aisp/psu-identity/own-value, owner: we, reason: a, expires: 2099-12-31}"
    (tmp_path / "waivers.yaml").write_text(f"assay: 1\nwaivers:\n  {own}\n", "utf-8")
    options = ("-q", "-k", "psu-identity", "--waivers", "waivers.yaml", "--out", "run")
    assert 2 == assay("run", *options, cwd=tmp_path)[0]  # it is not needed
    assert 0 == assay("verify", "run", cwd=tmp_path)[0]
    (tmp_path / "waivers.yaml").rename(tmp_path / "moved.yaml")
    code, out, _ = assay("verify", "run", cwd=tmp_path)
    assert (3, True) == (code, "its file of waivers, waivers.yaml, is not here" in out)
    assert 0 == assay("verify", "run", "--waivers", "moved.yaml", cwd=tmp_path)[0]


def test_a_resumed_run(tmp_path):
    """A run that was cut short and continued is verified as any other."""
    options = ("-q", "-k", "psu-identity or listing", "--contexts", "base", "--out", "run")
    assert 0 == assay("run", *options, cwd=tmp_path)[0]
    path = tmp_path / "run" / JOURNAL
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert 0 == assay("run", "-q", "--resume", "run", cwd=tmp_path)[0]
    lines = lines_of(path)
    assert "resumed" in {line["type"] for line in lines}
    assert VerificationResult.VERIFIED is verify(path).result
    name = next(line["obligation"] for line in lines if line["type"] == "verdict")
    found = differences(verify(forged(path, with_verdict(lines, name, "violates"))))
    assert {name} == found.keys()


def test_a_judged_journal(identity, tmp_path):
    """What `assay judge` wrote of a journal is verified, what it does not show included."""
    path = written(tmp_path / JOURNAL, identity)
    judged = tmp_path / "judged" / JOURNAL
    open_recording(path).close(judged)
    assert VerificationResult.VERIFIED is verify(judged).result
    lines = lines_of(judged)
    name = next(line["obligation"] for line in lines if line.get("verdict") == "violates")
    found = differences(verify(forged(judged, with_verdict(lines, name, "conforms"))))
    assert {name} == found.keys()


def test_a_trial_that_the_run_did_not_judge(identity, tmp_path):
    """A trial that ended early has no verdict to compare: the reason of the run is repeated."""
    name, trial = next(
        (line["obligation"], line["trial"])
        for line in identity
        if line["type"] == "plan" and line["disposition"] == "ask"
    )
    lines = [
        {**line, "done": False} if (line["type"], line.get("trial")) == ("ended", trial) else line
        for line in with_verdict(identity, name, "indeterminate")
    ]
    verification = verify(forged(tmp_path / JOURNAL, lines))
    assert {(name, FindingKind.NOT_REJUDGED)} <= {
        (each.where, each.kind) for each in verification.findings
    }
