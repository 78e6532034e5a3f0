"""Pushed authorization requests (RFC 9126): the bank keeps the parameters, and the link has a reference."""

import base64
from pathlib import Path
from types import MappingProxyType

import pytest
from command_line import assay
from foreign.dialects import FJORD

from assay.rules.verdict import Standing
from assay.sandbox.serve import serving
from assay.testing import verdicts

HERE = Path(__file__).parent
CONTRACT, TARGET = HERE / "fjord.yaml", HERE / "target.yaml"
PAR = "  par_url: https://login.fjord.example/par\n"


class Pushed(FJORD):
    """A sound bank that takes an authorization request by reference only, and each reference once."""

    routes = MappingProxyType({**FJORD.routes, "POST par": "par"})
    public = FJORD.public | {"par"}
    created = 201

    def __init__(self):
        super().__init__()
        self.pushed = {}

    def par(self, call):
        """Keep the parameters of a client that proves who it is."""
        pair = base64.b64decode(call.header("Authorization").removeprefix("Basic ")).decode()
        client, _, secret = pair.partition(":")
        if self.world_of(client).tpps[client] != secret:
            return 401, {"error": "invalid_client"}
        assert client == call.form["client_id"]
        assert "request_uri" not in call.form
        reference = f"urn:fjord:reference-{len(self.pushed)}-of-a-request"
        self.pushed[reference] = call.form
        return self.created, {"request_uri": reference, "expires_in": 60}

    def authorization(self, given):
        """Show the first screen for a reference, which the client of the request uses once."""
        if given.keys() != {"client_id", "request_uri"}:
            return 400, {"error": "invalid_request"}
        kept = self.pushed[given["request_uri"]]
        assert kept["client_id"] == given["client_id"]
        self.pushed[given["request_uri"]] = {"client_id": ""}
        return super().authorization(kept)


class Answers200(Pushed):
    """A bank that says 200 in place of 201."""

    created = 200


class WithoutReference(Pushed):
    """A bank whose answer has no reference."""

    def par(self, call):
        """Forget it."""
        super().par(call)
        return 201, {"expires_in": 60}


class Unknown(Pushed):
    """A bank that knows no client at its endpoint."""

    def par(self, call):
        """Refuse."""
        return 401, {"error": "invalid_client"}


class Down(Pushed):
    """A bank whose endpoint fails."""

    def par(self, call):
        """Fail."""
        return 503, {}


@pytest.fixture
def target(tmp_path):
    """Return a target file with the URL."""
    path = tmp_path / "target.yaml"
    path.write_text(TARGET.read_text("utf-8").replace("  pkce: true\n", f"  pkce: true\n{PAR}"))
    return path


@pytest.mark.parametrize("bank", [Pushed, Answers200])
def test_a_bank_that_takes_pushed_requests_only_conforms(bank, target):
    """The customer is sent with `client_id` and `request_uri`, and nothing else."""
    bank = bank()
    found = verdicts(CONTRACT, target, bank)
    assert {Standing.CONFORMS, Standing.NOT_APPLICABLE} == {*found.values()}
    assert 55 == [*found.values()].count(Standing.CONFORMS)
    assert len(bank.pushed) > 10
    assert {""} == {kept["client_id"] for kept in bank.pushed.values()}


@pytest.mark.parametrize(
    ("bank", "pushes", "said"),
    [
        (Pushed, False, "if the bank takes pushed requests only (RFC 9126), set `auth.par_url`"),
        (WithoutReference, True, "auth.par_url: this is not a PAR endpoint"),
        (FJORD, True, "the PAR endpoint refuses (401)"),
        (Unknown, True, "the PAR endpoint refuses (invalid_client)"),
        (Down, True, "auth.par_url: the PAR endpoint failed (503)"),
    ],
)
def test_the_doctor_says_what_is_missing(bank, pushes, said, target, tmp_path):
    """The bank is not blamed, and the reference is in no text."""
    text = (target if pushes else TARGET).read_text("utf-8").replace("embedded", "http")
    bank = bank()
    with serving(bank) as url:
        for host in ("api", "login"):
            text = text.replace(f"https://{host}.fjord.example", url)
        path = tmp_path / "served.yaml"
        path.write_text(text)
        _, out, err = assay("doctor", "-c", CONTRACT, "-t", path, cwd=tmp_path)
    assert said in " ".join((out + err).split()), out + err
    assert "reference-" not in out + err


def test_a_reference_is_masked_wherever_a_run_writes(target, tmp_path):
    """It stands for what the customer authorises, as a code does."""
    bank, out = Pushed(), tmp_path / "out"
    with serving(bank) as url:
        text = target.read_text("utf-8").replace("embedded", "http")
        for host in ("api", "login"):
            text = text.replace(f"https://{host}.fjord.example", url)
        path = tmp_path / "served.yaml"
        path.write_text(text)
        run = ("run", "-c", CONTRACT, "-t", path, "--no-doctor", "-k", "signed", "--out", out)
        _, shown, err = assay(*map(str, run), "--format", "all", cwd=tmp_path)
    assert bank.pushed
    written = [each.read_text("utf-8", "replace") for each in out.rglob("*") if each.is_file()]
    assert not [each for each in (shown, err, *written) if "reference-" in each]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("https://login.fjord.example/par", "login.fjord.example/par", "auth.par_url"),
        (
            "kind: authorization-code",
            "kind: client-credentials",
            "client credentials need no customer",
        ),
    ],
)
def test_a_wrong_key_is_an_error(old, new, said, target, tmp_path):
    """It has its line."""
    target.write_text(target.read_text("utf-8").replace(old, new, 1))
    _, out, err = assay("check", target, cwd=tmp_path)
    assert said in out + err
    assert "par_url" in out + err
