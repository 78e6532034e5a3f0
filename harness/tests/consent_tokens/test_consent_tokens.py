"""Tokens that belong to one consent: a sound bank conforms, each fault is found, no secret is written."""

import json
import secrets
from pathlib import Path

import pytest
from command_line import assay
from foreign.dialects import FJORD
from foreign.faults import in_fragment, revoke_marked, serving_if
from literal_har import entry, write

from assay.rules.verdict import Standing
from assay.sandbox.serve import serving
from assay.testing import verdicts

HERE = Path(__file__).parent
CONTRACT, TARGET = HERE / "fjord.yaml", HERE / "target.yaml"
#: What cannot be tested at this bank: nothing links to its screens, one operation alone has no other one to
#: be counted with, and nothing can be read without a consent.
NOT_APPLICABLE = {
    *("signed/link", "daily/per-method", "own/entry"),
    *("all/all-without-consent", "owner/withheld-before"),
}


class AnswersInTheFragment(FJORD):
    """The answer to an authorization request is in the fragment, with an ID token."""

    back = in_fragment


class OutlivesRevocation(FJORD):
    """The token of a consent lives on after the TPP ended that."""

    end, usable = revoke_marked, serving_if("was valid")


def standing(found, *standings):
    """Return the obligations that stand so."""
    return {obligation for obligation, each in found.items() if each in standings}


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ('{consent_id: "{consent-id}", nonce: "{unique}"}', '{scope: "accounts:{consent-id}"}'),
        (
            '{consent_id: "{consent-id}", nonce: "{unique}"}',
            '{claims: {id_token: {intent: {value: "{consent-id}"}}}, response_type: code id_token}',
        ),
    ],
)
def test_the_id_of_a_consent_can_be_in_the_scope_or_in_a_claim(right, wrong, tmp_path):
    """A parameter of the operation replaces that of `auth`; a mapping is sent as JSON."""

    class Elsewhere(AnswersInTheFragment):
        def asked(self, given):
            if "claims" in given:
                assert "code id_token" == given["response_type"]
                return json.loads(given["claims"])["id_token"]["intent"]["value"]
            given["scope"], _, consent = given["scope"].partition(":")
            return consent

    path = tmp_path / "target.yaml"
    path.write_text(TARGET.read_text("utf-8").replace(right, wrong))

    assert NOT_APPLICABLE == standing(
        verdicts(CONTRACT, path, Elsewhere()), *{*Standing} - {Standing.CONFORMS}
    )


def test_the_status_of_a_refusal_is_not_judged_where_another_token_was_refused(tmp_path):
    """The TPP's own token, and one that expired, are refused for what they are."""
    contract = tmp_path / "fjord.yaml"
    text = CONTRACT.read_text("utf-8")
    for rule in ("consent-authorisation", "consent-validity", "consent-revocation"):
        text = text.replace(f"kind: {rule},", f"kind: {rule}, refusal-status: 410,")
    contract.write_text(text)
    found = verdicts(contract, TARGET, FJORD())
    other = {"signed/unsigned-refused", "signed/declined-refused", "until/next-day-refused"}

    assert {Standing.CONFORMS} == {found[name] for name in other}
    assert {Standing.INDETERMINATE} == {found[f"{name}-status"] for name in other}
    assert {"revoked/ended-refused-status"} == {
        name for name in standing(found, Standing.VIOLATES) if name.startswith(("until", "revoked"))
    }


class WithoutRefresh(FJORD):
    """A bank whose tokens last for ten minutes and are not renewed."""

    said = ("access_token", "token_type", "expires_in")

    def granted(self, world, client, consent):
        status, body = super().granted(world, client, consent)
        return status, {name: body[name] for name in self.said}


class WithoutLifetime(WithoutRefresh):
    """The same, and no answer says how long a token lasts."""

    said = ("access_token", "token_type")


@pytest.mark.parametrize(
    ("bank", "left"),
    [(WithoutRefresh, Standing.UNVERIFIED), (WithoutLifetime, Standing.INDETERMINATE)],
)
def test_a_token_that_cannot_be_renewed_violates_nothing(bank, left):
    """What takes longer than the token lasts stays open: its refusal is none of the consent."""
    found = verdicts(CONTRACT, TARGET, bank())
    later = {
        *("until/last-day-served", "until/next-day-refused", "until/expired-shown"),
        *("daily/entries-next-day", "daily/before-midnight", "daily/long-day"),
    }

    assert set() == standing(found, Standing.VIOLATES)
    assert later == standing(found, left)
    assert NOT_APPLICABLE | later == standing(found, *{*Standing} - {Standing.CONFORMS})


# -- whole runs ------------------------------------------------------------------------
def served(path, address, *edits):
    """Write the target file for a bank at an address."""
    text = TARGET.read_text("utf-8").replace("transport: embedded", "transport: http")
    for host in ("api", "login"):
        text = text.replace(f"https://{host}.fjord.example", address)
    for right, wrong in edits:
        assert right in text
        text = text.replace(right, wrong)
    path.write_text(text)
    return path


def written(folder):
    """Return the text of everything in a folder."""
    return "".join(each.read_text("utf-8") for each in folder.rglob("*") if each.is_file())


def test_a_run_writes_no_secret_and_is_judged_again_to_the_same_verdicts(tmp_path, monkeypatch):
    """Codes, tokens and the customer's login are in no file, whatever answer they come in."""
    issued, hexes = [], secrets.token_hex
    monkeypatch.setattr(secrets, "token_hex", lambda size: issued.append(hexes(size)) or issued[-1])
    with serving(AnswersInTheFragment()) as address:
        target = served(tmp_path / "target.yaml", address)
        out = "--contract", CONTRACT, "--target", target, "--allow-incomplete", "--out"
        code, shown, err = assay(
            *("run", "--no-doctor", "--journeys", "10", *out, "run"), cwd=tmp_path
        )
    assert 0 == code, err
    judged, _, err = assay("judge", "run/journal.jsonl", *out, "again", cwd=tmp_path)
    assert judged in {0, 3}, err
    first, second = (
        json.loads((tmp_path / name / "report.json").read_text("utf-8"))["counts"]
        for name in ("run", "again")
    )
    text = written(tmp_path / "run") + shown + err

    # In the contexts with another TPP, that renews the tokens of its own consents.
    assert "ended early" not in shown
    assert first["violates"] == second["violates"] == 0
    assert first["conforms"] == second["conforms"]
    assert len(issued) > 100
    assert [] == [secret for secret in issued if secret in text]
    assert [] == [secret[::-1] for secret in issued if secret[::-1] in text]


def test_an_interrupted_run_is_resumed_to_the_same_verdicts(tmp_path):
    """What the trials so far authorised is not needed: each trial has consents of its own."""
    with serving(OutlivesRevocation()) as address:
        target = served(tmp_path / "target.yaml", address)
        words = "--contract", CONTRACT, "--target", target, "--allow-incomplete", "--no-doctor"
        whole, _, _ = assay("run", *words, "--out", "whole", cwd=tmp_path)
        lines = (tmp_path / "whole" / "journal.jsonl").read_text("utf-8").splitlines(keepends=True)
        (tmp_path / "cut").mkdir()
        (tmp_path / "cut" / "journal.jsonl").write_text("".join(lines[: len(lines) // 2]))
        resumed, _, err = assay("run", "--resume", "cut", *words, cwd=tmp_path)
    reports = [
        json.loads((tmp_path / name / "report.json").read_text("utf-8"))["counts"]
        for name in ("whole", "cut")
    ]

    assert 1 == whole == resumed, err
    assert reports[0] == reports[1]


def test_the_doctor_finds_nothing_wrong_with_a_right_file(tmp_path):
    """It authorises a consent before it reads, at a sound bank."""
    with serving(FJORD()) as address:
        target = served(tmp_path / "target.yaml", address)
        code, shown, err = assay("doctor", "-c", CONTRACT, "-t", target, cwd=tmp_path)
    assert 0 == code, shown + err


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (
            ('consent_id: "{consent-id}"', 'intent: "{consent-id}"'),
            "operations.permit.approval.authorize: the bank shows no screens (400)",
        ),
        (
            ("scope: accounts", "scope: account"),
            "operations.permit.approval.authorize: the bank refused the authorization",
        ),
        (("{user: login", "{usr: login"), "sca.screens: no screen matches sca.screens"),
        (
            ("outputs: {consent-id: /consent/id}", "outputs: {consent-id: /consent/ids}"),
            "operations.permit.outputs.consent-id: expected this value for later calls",
        ),
    ],
)
def test_the_doctor_names_the_line_of_what_gives_no_token(edit, said, tmp_path):
    """Each mistake is named with its line."""
    with serving(FJORD()) as address:
        target = served(tmp_path / "target.yaml", address, edit)
        code, shown, _ = assay("doctor", "-c", CONTRACT, "-t", target, cwd=tmp_path)
    line = next(each for each in shown.splitlines() if each.lstrip()[:5] in {"fault", "doubt"})

    assert 2 == code, shown
    assert said in line, shown
    assert f"{target}:" in line


class NoCode(FJORD):
    """A bank that returns the customer without a code."""

    def back(self, given, answer):
        return super().back(given, {})


class ForeignState(FJORD):
    """A bank that returns the customer with a state of another request."""

    def back(self, given, answer):
        return super().back({**given, "state": "another"}, answer)


class NoToken(FJORD):
    """A bank that does not exchange the code."""

    def granted(self, world, client, consent):
        if consent is not None:
            return 400, {"error": "invalid_grant"}
        return super().granted(world, client, consent)


@pytest.mark.parametrize(
    ("bank", "said"),
    [
        (NoCode, "auth.authorize_url: the redirect has no code"),
        (ForeignState, "auth.authorize_url: the redirect has a different state than the request"),
        (NoToken, "auth.redirect_uri: the token endpoint refuses (invalid_grant)"),
    ],
)
def test_a_plain_consent_without_a_token_proves_nothing_about_the_bank(bank, said, tmp_path):
    """The doctor names the line; in a run, no verdict rests on it."""
    with serving(bank()) as address:
        target = served(tmp_path / "target.yaml", address)
        words = "-c", CONTRACT, "-t", target
        examined, found, _ = assay("doctor", *words, cwd=tmp_path)
        code, shown, err = assay("run", *words, "--no-doctor", "-k", "signed", cwd=tmp_path)

    assert said in found
    assert 2 == examined
    assert 3 == code, err
    assert said in shown + err


# -- the target file ---------------------------------------------------------------------
@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        (
            'authorize: {consent_id: "{consent-id}", nonce',
            'authorize: {consent_id: "{consent}", nonce',
            "nothing has the name '{consent}' (did you mean 'consent-id'?)",
        ),
        (
            'authorize: {consent_id: "{consent-id}", ',
            "authorize: {",
            "no parameter identifies what is authorised",
        ),
        ("nonce:", "state:", "the parameter 'state' is set by Assay"),
        (
            "  permission:\n",
            '  permission:\n    outputs: {own: /id}\n    approval: {authorize: {id: "{own}"}}\n',
            "the operation makes nothing that needs an authorization",
        ),
        ("authorize: {", "authorise: {", "expected a JSON pointer, the header with the link"),
    ],
)
def test_a_wrong_authorization_request_is_a_finding(right, wrong, said, tmp_path):
    """Each has a line and a hint."""
    path = tmp_path / "target.yaml"
    path.write_text(TARGET.read_text("utf-8").replace(right, wrong))
    code, _, err = assay("check", CONTRACT, path, cwd=tmp_path)

    assert 2 == code
    assert any(
        said in line and "target.yaml:" in line and "(" in line for line in err.splitlines()
    ), err


def test_the_customer_cannot_authorise_what_is_made_with_the_customers_token(tmp_path):
    """There is no such token before, so the operation is one of the TPP."""
    contract = tmp_path / "fjord.yaml"
    contract.write_text(
        CONTRACT.read_text("utf-8").replace(
            "path: /consents, by: tpp, makes", "path: /consents, makes"
        )
    )
    code, _, err = assay("check", contract, TARGET, cwd=tmp_path)

    assert 2 == code
    assert "write `by: tpp` at operations.permit" in err


def test_without_an_authorization_server_there_is_nothing_to_authorise_at(tmp_path):
    """The kind of `auth` is that of codes."""
    text = TARGET.read_text("utf-8")
    start, end = text.index("auth:\n"), text.index("presence:")
    path = tmp_path / "target.yaml"
    path.write_text(text[:start] + "auth: {kind: bearer}\n" + text[end:])
    code, _, err = assay("check", CONTRACT, path, cwd=tmp_path)

    assert 2 == code
    assert "there is no authorization server at which customers log in" in err


# -- the recording of a client -------------------------------------------------------------
def call(method, path, status, body, token, sent=None):  # noqa: PLR0917
    """Return an entry of a HAR file, without its time."""
    url, here = f"https://api.fjord.example{path}", {"Customer-Here": "1"}
    return entry("", method, url, status, body, token=token, sent=sent, headers=here)


def consent_made(id_, number):
    """Return the entry of a consent that a TPP makes."""
    sent = {"consent": {"accounts": [{"number": number}], "until": "2027-01-01"}}
    body = {"consent": {"id": id_, "status": "awaiting"}}
    return call("POST", "/consents", 201, body, "access-of-the-tpp", sent)


def entries_read(number, status, token):
    """Return the entry of a read."""
    body = {"entries": [{"id": "1", "day": "2026-09-15"}]} if status == 200 else {}
    return call("GET", f"/accounts/{number}/entries", status, body, token)


def test_a_recording_of_a_client_does_not_show_whose_consent_a_token_is(tmp_path):
    """A sound bank is not blamed for what each token opens; no token is written."""
    entries = [
        consent_made("consent-4711", "NO-1"),
        consent_made("consent-4712", "NO-2"),
        entries_read("NO-1", 200, "access-of-4711"),
        entries_read("NO-2", 403, "access-of-4711"),
        entries_read("NO-2", 200, "access-of-4712"),
        call(
            "GET",
            "/consents/consent-4711",
            200,
            {"consent": {"status": "authorised"}},
            "access-of-the-tpp",
        ),
        call("DELETE", "/consents/consent-4711", 204, {}, "access-of-the-tpp"),
        entries_read("NO-1", 401, "access-of-4711"),
        entries_read("NO-2", 200, "access-of-4712"),
    ]
    for n, each in enumerate(entries):
        each["startedDateTime"] = f"2026-09-16T09:00:{n:02d}Z"
    write(tmp_path / "x.har", entries)
    words = "judge", "x.har", "-c", CONTRACT, "-t", TARGET, "--out", "run"
    _, shown, err = assay(*words, cwd=tmp_path)
    report = json.loads((tmp_path / "run" / "report.json").read_text("utf-8"))
    text = written(tmp_path / "run") + shown + err

    assert 0 == report["counts"]["violates"], shown
    assert [] == [each for each in ("access-of", "consent-471") if each in text]
