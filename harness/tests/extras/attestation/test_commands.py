"""`assay attest` and `assay verify`: what is signed, and that any other byte of it is found."""

import json
import random
import shutil
from base64 import b64decode

import pytest
from command_line import assay
from forging import JOURNAL, forged, lines_of, recorded, with_verdict
from google.protobuf.json_format import ParseDict
from in_toto_attestation.predicates.test_result.v0 import test_result_pb2
from in_toto_attestation.v1.statement_pb2 import Statement

from assay._resources import contract_dir
from assay.extras.attestation.envelope import public_key
from assay.extras.attestation.statement import (
    ATTESTATION,
    STATEMENT,
    TEST_RESULT,
    check_attestation,
)

PASSWORD = "correct horse battery staple"


@pytest.fixture(scope="module")
def signed(tmp_path_factory):
    """Return a folder with keys, and a run that was signed, with its reports."""
    folder = tmp_path_factory.mktemp("signed")
    code, out, err = assay("attest", "--new-key", "key.pem", cwd=folder)
    assert (0, "") == (code, err)
    assert "without a password; keep it secret" in out
    selected = "psu-identity or listing or payload-shapes"
    assert 0 == assay("run", "-q", "-k", selected, "--out", "run", cwd=folder)[0]
    code, out, err = assay("attest", "run", "--key", "key.pem", cwd=folder)
    assert (0, "") == (code, err)
    assert f"run/{ATTESTATION}: 9 subjects signed\n" == out
    return folder


@pytest.fixture
def run(signed, tmp_path):
    """Return a copy of the signed run."""
    shutil.copytree(signed, tmp_path / "copy")
    return tmp_path / "copy" / "run"


def verified(run, *options):
    """Verify a signed run, and return the exit code and the result."""
    code, out, _ = assay(
        "verify", run, "--key", run.parent / "key.pem.pub", "-f", "json", *options, cwd=run.parent
    )
    return code, json.loads(out)


def statement(run):
    """Return the statement about a run."""
    return json.loads(b64decode(json.loads((run / ATTESTATION).read_bytes())["payload"]))


def test_a_signed_run_is_verified(run):
    """The signature, every file and every verdict are verified; the summary says what was done."""
    code, result = verified(run)
    assert (0, "verified", [], []) == (
        code,
        result["result"],
        result["differences"],
        result["not_rejudged"],
    )
    assert result["verdicts"] == result["planned"] > 5
    assert result["attestation"]["attested"].endswith("Z")
    code, out, err = assay("verify", run, "--key", "key.pem.pub", cwd=run.parent)
    assert (0, "") == (code, err)
    assert "by the signer's clock, 9 subjects" in out
    assert out.endswith(
        "Verified: signed, and every verdict follows from the recorded exchanges.\n"
    )


def test_without_a_key(run):
    """An attestation that is not checked is said to be, and a run without one has none."""
    code, out, _ = assay("verify", run, cwd=run)
    assert (0, True) == (code, "attestation: not checked; pass the public key with --key" in out)
    (run / ATTESTATION).unlink()
    code, out, _ = assay("verify", run / JOURNAL, cwd=run)
    assert (0, True) == (code, "attestation: none" in out)
    code, _, err = assay("verify", run, "--key", "../key.pem.pub", cwd=run)
    assert (2, True) == (code, f"{ATTESTATION}: cannot be read" in err)


def test_what_is_signed(run):
    """A test result as in-toto has it, about every file; of the target file only the digest."""
    made = statement(run)
    assert (STATEMENT, TEST_RESULT) == (made["_type"], made["predicateType"])
    names = [subject["name"] for subject in made["subject"]]
    reports = ["junit.xml", "report.html", "report.json", "report.md"]
    contracts = ["contract/aisp", "contract/pis", "target/sandbox", "assay"]
    assert [JOURNAL, *reports, *contracts] == names
    assert names[5:] == [each["name"] for each in made["predicate"]["configuration"]]
    for subject in made["subject"]:
        ((algorithm, value),) = subject["digest"].items()
        assert len(value) == 64
        assert ("dirHash" if subject["name"] == "assay" else "sha256") == algorithm
    result = made["predicate"]
    assert "PASSED" == result["result"]
    assert "aisp/psu-identity/disclosed-after" in {*result["passedTests"]}
    assert [] == result["warnedTests"]
    assert [] == result["failedTests"]


def test_the_schema_of_in_toto_accepts_it(run):
    """Statement and predicate have the fields of in-toto's own classes, and no others."""
    made = statement(run)
    read = ParseDict(made, Statement())
    assert (9, TEST_RESULT) == (len(read.subject), read.predicate_type)
    result = ParseDict(made["predicate"], test_result_pb2.TestResult())
    assert made["predicate"]["passedTests"] == [*result.passed_tests]


def test_every_byte_of_every_file(run):
    """Any byte of any file that was signed, with another bit, is found; so is one of the envelope."""
    key, rng = public_key(run.parent / "key.pem.pub"), random.Random(15)
    attestation = run / ATTESTATION
    names = [subject["name"] for subject in statement(run)["subject"]][:5]
    assert () == check_attestation(attestation, run / JOURNAL, key).findings
    for path in (attestation, *(run / name for name in names)):
        raw = path.read_bytes()
        for _ in range(100 if path == attestation else 60):
            changed = bytearray(raw)
            changed[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
            path.write_bytes(changed)
            (finding,) = check_attestation(attestation, run / JOURNAL, key).findings
            assert path.name == finding.where
        path.write_bytes(raw)
    assert () == check_attestation(attestation, run / JOURNAL, key).findings


def test_every_byte_of_contract_and_target_file(signed, tmp_path):
    """A contract or a target file that is not byte for byte that of the run is named."""
    contract, target = tmp_path / "own.yaml", tmp_path / "bank.yaml"
    text = (contract_dir() / "aisp.yaml").read_text("utf-8")
    contract.write_text(text + "# our own copy\n", "utf-8")
    target.write_text("assay: 1\ntarget: bank\nextends: sandbox\n", "utf-8")
    files = ("-c", "own.yaml", "-t", "bank.yaml")
    assay("run", "-q", "-k", "psu-identity", *files, "--out", "run", cwd=tmp_path)
    assert 0 == assay("attest", "run", "--key", signed / "key.pem", cwd=tmp_path)[0]
    verify = ("verify", "run", "--key", signed / "key.pem.pub")
    code, out, _ = assay(*verify, cwd=tmp_path)
    assert (0, True) == (code, "contracts: aisp 1.0; target: bank" in out)
    rng = random.Random(16)
    for path, what in ((contract, "contract aisp: own.yaml"), (target, "target bank: bank.yaml")):
        raw = path.read_bytes()
        for _ in range(3):
            changed = bytearray(raw)
            changed[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
            path.write_bytes(changed)
            code, out, _ = assay(*verify, cwd=tmp_path)
            assert (1, True) == (code, f"differs: {what} is not the" in out)
        path.write_bytes(raw)
    assert 0 == assay(*verify, cwd=tmp_path)[0]


def test_a_file_that_is_gone(run):
    """A report that was signed and is not there is named."""
    (run / "report.html").unlink()
    code, result = verified(run)
    assert (1, [{"where": "report.html", "what": "was signed but is missing"}]) == (
        code,
        result["differences"],
    )


def test_a_signature_of_something_else(signed, run):
    """The attestation of another run, or with another key, is not that of this one."""
    other = recorded(run.parent / "other", keywords="psu-identity")
    code, _, _ = assay("attest", other.parent, "--key", signed / "key.pem", cwd=run.parent)
    assert 0 == code
    shutil.copy(other.parent / ATTESTATION, run / ATTESTATION)
    code, result = verified(run)
    assert 1 == code
    assert {JOURNAL, ATTESTATION} == {each["where"] for each in result["differences"]}
    assert 0 == assay("attest", "--new-key", "mine.pem", cwd=run.parent)[0]
    code, out, _ = assay("verify", run, "--key", "mine.pem.pub", cwd=run.parent)
    assert (1, True) == (code, "attestation: signed with a different key" in out)


def test_a_forged_journal_is_not_signed(run):
    """A key holder does not sign a verdict that the exchanges do not show."""
    path = run / JOURNAL
    lines = lines_of(path)
    name = next(line["obligation"] for line in lines if line.get("verdict") == "conforms")
    forged(path, with_verdict(lines, name, "violates"))
    (run / ATTESTATION).unlink()
    code, out, _ = assay("attest", run, "--key", "../key.pem", cwd=run)
    assert (1, True) == (code, f"differs: {name}: recorded as violates" in out)
    assert not (run / ATTESTATION).exists()


def test_a_key_with_a_password(run):
    """The password is that of an environment variable; a missing or wrong one is an error."""
    new = ("attest", "--new-key", "own.pem", "--key-password-env", "KEY_PASSWORD")
    assert 2 == assay(*new, cwd=run)[0]
    assert 0 == assay(*new, cwd=run, KEY_PASSWORD=PASSWORD)[0]
    (run / ATTESTATION).unlink()
    sign = ("attest", run, "--key", "own.pem")
    for options, env, what in (
        ((), {}, "the key has a password"),
        (new[3:], {"KEY_PASSWORD": "other"}, "the password is wrong"),
        (new[3:], {}, "$KEY_PASSWORD is not set"),
    ):
        code, _, err = assay(*sign, *options, cwd=run, **env)
        assert (2, True) == (code, what in err)
        assert PASSWORD not in err
    code, out, _ = assay(*sign, *new[3:], cwd=run, KEY_PASSWORD=PASSWORD)
    assert (0, False) == (code, PASSWORD in out)
    assert 0 == assay("verify", run, "--key", "own.pem.pub", cwd=run)[0]


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("attest",), "RUN is missing"),
        (("attest", "."), "--key is missing"),
        (("attest", ".", "--key", "../key.pem"), "there is already an attestation"),
        (("attest", ".", "--key", "../key.pem", "--new-key", "x"), "cannot be combined"),
        (("attest", ".", "--key", "nowhere"), "nowhere: cannot be read"),
        (("verify", "nowhere"), "nowhere"),
        (("verify", "report.json"), "this is not a journal of Assay"),
        (("verify", ".."), "journal.jsonl"),
        (("verify", ".", "--key", "../key.pem"), "this is a private key"),
        (("verify", ".", "--contract", "nowhere"), "there is no such contract"),
        (("verify", ".", "--target", "nowhere"), "no such target"),
    ],
)
def test_options_that_cannot_be_used(options, what, run):
    """What a user can fix is one line, and the exit code is 2."""
    code, out, err = assay(*options, cwd=run)
    assert (2, "") == (code, out)
    assert what in err
    assert len(err.splitlines()) == 1


def test_hostile_texts_are_shown_safely(run):
    """Control characters of a forged journal do not reach the terminal."""
    path = run / JOURNAL
    lines = lines_of(path)
    for line in lines:
        if line["type"] == "plan":
            line["says"] = "\x1b[31m\u202e\n"
            line["obligation"] = "\x1b[2J" + line["obligation"]
    forged(path, lines)
    for form in ("text", "json"):
        _, out, err = assay("verify", run, "-f", form, cwd=run)
        assert all(line.isprintable() for line in (out + err).splitlines())
