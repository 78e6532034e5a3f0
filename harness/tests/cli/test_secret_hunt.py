"""The hunt for planted secrets: in nothing that a command writes stands one, in any encoding.

This is the fast part of `support/secret_hunt.py`, which plants over 1,000 of them.
"""

from support import secret_hunt
from support.echo_bank import ENCODINGS, PLACES

from assay.journal.redact.known_values import KnownValues


def assert_nothing_found(hunt, *, secrets):
    """Fail if a hunt found something, or planted too little to find anything."""
    assert [] == hunt.found()[:5]
    assert secrets <= len(hunt.bank.secrets)


def test_a_run_and_its_journal_judged_again(tmp_path):
    """Tokens, logins, codes, names, accounts, the control key and the command line are masked."""
    run, judged = secret_hunt.hunt_run(tmp_path, secret_hunt.FEW, oauth=False)
    assert_nothing_found(run, secrets=250)
    assert_nothing_found(judged, secrets=250)
    planted = {*run.bank.planted.values()}
    assert len(ENCODINGS) == len({encoding for _, encoding, _ in planted})
    assert 20 <= len({place for _, _, place in planted} & {*PLACES})


def test_a_run_with_oauth(tmp_path):
    """Client secrets, Basic pairs, codes, access and refresh tokens are masked."""
    for hunt in secret_hunt.hunt_run(tmp_path, secret_hunt.FEW, oauth=True):
        assert_nothing_found(hunt, secrets=200)
        kinds = {*hunt.bank.secrets.values()}
        assert {"basic", "client secret", "code", "code_verifier", "refresh_token"} <= kinds


def test_a_run_with_listed_customers(tmp_path):
    """A secret that each customer has beside the token is sent for that customer, and masked."""
    for swapped, result in ((False, "conforms"), (True, "indeterminate")):
        folder = tmp_path / result
        folder.mkdir()
        (hunt,) = secret_hunt.hunt_roles(folder, swapped=swapped)
        assert_nothing_found(hunt, secrets=3)
        numbers = {form[2] for form in hunt.bank.planted.values()}
        assert {"member", "X-Debug"} & numbers
        out = next(text for name, text in hunt.texts if name == "stdout")
        assert result in out, out


def test_an_examination(tmp_path):
    """What `assay doctor` prints has no secret."""
    for hunt in secret_hunt.hunt_doctor(tmp_path):
        assert_nothing_found(hunt, secrets=50)


def test_the_pytest_plugin(tmp_path):
    """What pytest prints, its JUnit file and the journal have no secret."""
    (hunt,) = secret_hunt.hunt_pytest(tmp_path)
    assert_nothing_found(hunt, secrets=150)


def test_the_record_of_the_proxy(tmp_path):
    """The HAR file has no secret, neither by name nor repeated elsewhere."""
    for hunt in secret_hunt.hunt_proxy(tmp_path, 1):
        assert_nothing_found(hunt, secrets=50)


def test_a_foreign_recording(tmp_path):
    """What `assay judge` writes of a recording with all secrets in it has none."""
    for hunt in secret_hunt.hunt_judge(tmp_path):
        assert_nothing_found(hunt, secrets=4)


def test_a_drafted_target_file(tmp_path):
    """A target file from a document with somebody's secrets as examples has none."""
    (hunt,) = secret_hunt.hunt_init(tmp_path)
    assert_nothing_found(hunt, secrets=10)


def test_the_hunt_finds_what_is_not_masked(tmp_path, monkeypatch):
    """Without masking by value, every encoding is found: the hunt can fail."""
    monkeypatch.setattr(KnownValues, "spans", lambda *_: [])
    run, _ = secret_hunt.hunt_run(tmp_path, secret_hunt.FEW, oauth=False)
    assert {*ENCODINGS} == {encoding for _, _, (_, encoding, _) in run.found()}
