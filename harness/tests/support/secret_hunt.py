"""The hunt for planted secrets: every command against banks that repeat all they know.

    python harness/tests/support/secret_hunt.py [--secrets 1000]

Prints for each command how many secrets were known, how many forms of them were planted in how
many places, and what was found in anything that the command wrote. A line after `FOUND` is a leak.
"""

import argparse
import json
import re
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "traffic")]

import httpx  # noqa: E402 -- the folders of the tests come first
from clients import BASE, Client, clean  # noqa: E402
from support.command_line import assay  # noqa: E402 -- the folders of the tests come first
from support.echo_bank import EchoBank, leaks, readings  # noqa: E402
from support.proxied_secrets import PLACES_OF_SECRETS, SECRET, Place  # noqa: E402
from support.suite_runs import run_suites  # noqa: E402

from assay.report import FORMATS  # noqa: E402
from assay.sandbox.app import make_app  # noqa: E402
from assay.sandbox.guard import guarded  # noqa: E402
from assay.sandbox.serve import serving  # noqa: E402
from assay.traffic.proxy.recorder import HarRecorder  # noqa: E402
from assay.traffic.proxy.server import Proxy  # noqa: E402
from assay.traffic.proxy.upstream import Upstream  # noqa: E402

KEY, CLIENT_SECRET, DATABASE = "ck-7Jq0aZ.x-control", "demo-tpp-secret", "pw-R3dis/secret+7"

TARGET = """\
assay: 1
target: echo
extends: sandbox
transport: http
base_url: {url}
hosts: null
timeout: 10
fixtures: {{key_env: HUNT_KEY}}
"""
OAUTH = """\
auth:
  kind: authorization-code
  authorize_url: {url}/oauth/authorize
  token_url: {url}/oauth/token
  redirect_uri: https://tpp.example/back
  client_id: demo-tpp
  client_secret_env: HUNT_CLIENT
  scope: aisp
  pkce: true
  tpp: {{kind: client-credentials, token_url: "{url}/oauth/token", scope: pisp}}
"""
#: A selection of a run that makes calls, redirects, signatures and new tokens.
FEW = "accounts.available or psu-identity or redirect.approved or report-url or payments.content"


@dataclass(kw_only=True)
class Hunt:
    """One command with its bank, and every text that the command wrote."""

    name: str
    bank: EchoBank
    texts: list[tuple[str, str]] = field(default_factory=list)

    def wrote(self, name: str, text: str) -> None:
        """Keep a text that the command wrote."""
        self.texts += readings(name, text)

    def wrote_files(self, folder: Path) -> None:
        """Keep every file in a folder."""
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.wrote_file(path)

    def wrote_file(self, path: Path) -> None:
        """Keep a file."""
        self.wrote(path.name, path.read_text("utf-8", "replace"))

    def found(self) -> list[tuple[str, str, tuple]]:
        """List what was planted and found."""
        return leaks(self.bank, self.texts)


def environment() -> dict[str, str]:
    """Return the variables that the target files name, and the contexts of a run."""
    return {"HUNT_KEY": KEY, "HUNT_CLIENT": CLIENT_SECRET, "ASSAY_CONTEXTS": "each"}


def on_github(summary: Path) -> dict[str, str]:
    """Return the variables of a job of GitHub, to which a run writes as well."""
    return {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}


def target_file(folder: Path, url: str, *, oauth: bool) -> Path:
    """Write the target file of a bank."""
    path = folder / f"{'oauth' if oauth else 'plain'}.yaml"
    path.write_text((TARGET + (OAUTH if oauth else "")).format(url=url), "utf-8")
    return path


def echo_bank(*, oauth: bool = False) -> EchoBank:
    """Return a bank that repeats everything, with what it need not hear first."""
    app = make_app()
    bank = EchoBank(app=guarded(app, oauth=True) if oauth else app)
    bank.hear(KEY, "control key")
    if oauth:
        bank.hear(CLIENT_SECRET, "client secret")
    bank.planted[DATABASE] = ("database", "plain", "command line")
    return bank


def hunt_run(folder: Path, keywords: str, *, oauth: bool) -> Iterator[Hunt]:
    """`assay run`, and `assay judge` on its journal."""
    bank = echo_bank(oauth=oauth)
    kind = "OAuth" if oauth else "tokens"
    with serving(bank) as url:
        file = target_file(folder, url, oauth=oauth)
        hunt = Hunt(name=f"run ({kind})", bank=bank)
        examples = f"redis://:{DATABASE.replace('/', '%2F')}@127.0.0.1:1/0"
        bank.planted[DATABASE.replace("/", "%2F")] = ("database", "percent", "command line")
        _, out, err = assay(
            *("run", "--target", file, "--no-doctor", "-k", keywords, "--contexts", "each"),
            *("--examples", examples, "--out", folder / f"run-{kind}", "--format", "all"),
            # Which answers the bank replaces depends on the order of the calls.
            *(("--concurrency", "1") if oauth or keywords == FEW else ()),
            cwd=folder,
            **environment(),
            **on_github(folder / f"summary-{kind}.md"),
        )
        hunt.wrote("stdout", out)
        hunt.wrote("stderr", err)
        hunt.wrote_files(folder / f"run-{kind}")
        hunt.wrote_file(folder / f"summary-{kind}.md")
        assert len(FORMATS) + 2 <= len({name.partition(" (")[0] for name, _ in hunt.texts})
        yield hunt
        judged = Hunt(name=f"judge ({kind})", bank=bank)
        journal = folder / f"run-{kind}" / "journal.jsonl"
        _, out, err = assay(
            *("judge", journal, "--target", file, "--out", folder / f"judged-{kind}"),
            *("--format", "all"),
            cwd=folder,
            **environment(),
        )
        judged.wrote("stdout", out + err)
        judged.wrote_files(folder / f"judged-{kind}")
        yield judged


#: Listed customers, each with a number that their calls have beside the token.
NUMBERS = {
    "HUNT_ANNA": "anna-token-8c1f0e",
    "HUNT_BEN": "ben-token-77d3a2",
    "HUNT_ANNA_NUMBER": "anna-number-40817c",
    "HUNT_BEN_NUMBER": "ben-number-9920ab",
}
SHELVES = """\
assay: 1
contract: shelves
title: Shelves
version: "1"
interface: shelves
document: Shelves
zone: UTC
resources: {{shelf: {{says: a shelf, key: id, fields: [id]}}}}
operations: {{shelves: {{method: GET, path: /shelves, lists: [shelf]}}}}
rules:
  - id: all
    kind: listing
    says: All shelves are listed.
    source: {{section: Shelves, line: 1}}
    operation: shelves
"""
LISTED = """\
assay: 1
target: listed
contracts: [shelves.yaml]
transport: http
base_url: {url}
auth: {{kind: bearer, further: [{{header: X-Customer-Number, secret: customer-number}}]}}
fixtures:
  kind: roles
  offers: [psu, roster]
  roles:
    anna:
      token_env: HUNT_ANNA
      secret_envs: {{customer-number: HUNT_ANNA_NUMBER}}
      owns: [{{resource: shelf, key: shelf-of-anna}}]
    ben:
      token_env: HUNT_BEN
      secret_envs: {{customer-number: HUNT_BEN_NUMBER}}
      owns: [{{resource: shelf, key: shelf-of-ben}}]
operations:
  shelves: {{list: /shelves, item: {{key: /id}}}}
"""


def shelves(environ, start_response):
    """Answer a customer whose number belongs to the token; refuse all others."""
    token = environ.get("HTTP_AUTHORIZATION", "").removeprefix("Bearer ")
    name = token.partition("-")[0].upper()
    known = token == NUMBERS.get(f"HUNT_{name}")
    if not known or environ.get("HTTP_X_CUSTOMER_NUMBER") != NUMBERS[f"HUNT_{name}_NUMBER"]:
        start_response("403 Forbidden", [("Content-Type", "application/json")])
        return [b'{"error": "no such customer"}']
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps({"shelves": [{"id": f"shelf-of-{name.lower()}"}]}).encode()]


def hunt_roles(folder: Path, *, swapped: bool = False) -> Iterator[Hunt]:
    """`assay run` for listed customers, each with a secret beside the token, or that of another one."""
    bank = EchoBank(app=shelves, replaced=1_000_000)
    file = folder / "listed.yaml"
    (folder / "shelves.yaml").write_text(SHELVES.format(), "utf-8")
    text = LISTED.replace("HUNT_ANNA_N", "HUNT_BEN_N") if swapped else LISTED
    for name, secret in NUMBERS.items():
        if re.search(rf"\b{name}\b", text):
            bank.hear(secret, name)
    with serving(bank) as url:
        file.write_text(text.format(url=url), "utf-8")
        ran = assay(
            *("run", "--target", file, "--no-doctor", "--out", folder / "out", "--format", "all"),
            cwd=folder,
            **NUMBERS,
        )
    hunt = Hunt(name="run (roles)", bank=bank)
    hunt.wrote("stdout", ran[1])
    hunt.wrote("stderr", ran[2])
    hunt.wrote_files(folder / "out")
    yield hunt


def hunt_doctor(folder: Path) -> Iterator[Hunt]:
    """`assay doctor`, as text and as JSON."""
    bank = echo_bank()
    with serving(bank) as url:
        file = target_file(folder, url, oauth=False)
        for option in ((), ("--json",)):
            hunt = Hunt(name=" ".join(("doctor", *option)), bank=bank)
            _, out, err = assay("doctor", "--target", file, *option, cwd=folder, **environment())
            hunt.wrote("stdout", out)
            hunt.wrote("stderr", err)
            yield hunt


def hunt_pytest(folder: Path) -> Iterator[Hunt]:
    """The suites under pytest, with a journal and a JUnit file."""
    bank = echo_bank()
    with serving(bank) as url:
        file = target_file(folder, url, oauth=False)
        out = folder / "pytest"
        out.mkdir()
        _, said, errors = run_suites(
            *("-ra", "-q", "-k", f"{FEW} or accounts.listing"),
            *("--target", str(file), "--assay-journal", str(out / "journal.jsonl")),
            f"--junitxml={out / 'junit.xml'}",
            cwd=folder,
            env=environment(),
            timeout=600,
        )
        hunt = Hunt(name="pytest", bank=bank)
        hunt.wrote("stdout", said)
        hunt.wrote("stderr", errors)
        assert (out / "journal.jsonl").exists(), said + errors
        hunt.wrote_files(out)
        yield hunt


def hunt_proxy(folder: Path, rounds: int) -> Iterator[Hunt]:
    """The record of `assay proxy`, with and without bodies that it cannot read."""
    for keep in (False, True):
        bank = EchoBank(app=_scripted_answer, replaced=1_000_000)
        path = folder / f"proxy-{keep}.har"
        with serving(bank) as url:
            proxy = Proxy(upstream=Upstream(origin=url), record=HarRecorder(path, keep_bodies=keep))
            with proxy, httpx.Client(base_url=proxy.url, trust_env=False) as client:
                for number in range(rounds):
                    for name, place in enumerate(PLACES_OF_SECRETS.values()):
                        _exchange(client, bank, place, f"{number}{name:02d}", keep=keep)
        hunt = Hunt(name=f"proxy{' --keep-bodies' * keep}", bank=bank)
        hunt.wrote_file(path)
        yield hunt


#: What the scripted bank answers next.
_ANSWERS: list[Place] = []


def _scripted_answer(_environ, start_response):
    place = _ANSWERS[-1]
    start_response("200 OK", [("Content-Type", place.answer_kind), *place.answer_headers])
    return [place.answer]


def _exchange(
    client: httpx.Client, bank: EchoBank, place: Place, number: str, *, keep: bool
) -> None:
    """Make an exchange with a secret of its own."""
    if place.secret != SECRET:
        own = place.secret[: -len(number)] + number
    else:
        own = f"S3{number}-{b64encode(number.encode() * 3).decode()}"
    packed = b64encode(f"tpp:{own}".encode()).decode()

    def with_own(text: str) -> str:
        basic = b64encode(f"tpp:{SECRET}".encode()).decode()
        return text.replace(place.secret, own).replace(basic, packed)

    def own_bytes(data: bytes) -> bytes:
        for encoding in ("ascii", "utf-16-le"):
            data = data.replace(place.secret.encode(encoding), own.encode(encoding))
        return data

    _ANSWERS.append(
        replace(
            place,
            answer=own_bytes(place.answer),
            answer_headers=tuple((name, with_own(value)) for name, value in place.answer_headers),
        )
    )
    if place.opaque and not keep:
        bank.planted[own] = (
            "proxied",
            "plain",
            "withheld body",
        )  # unknown to the proxy, so not repeated
    else:
        bank.hear(own, "proxied")
    client.post(
        with_own(place.path),
        content=own_bytes(place.body),
        headers={
            "Content-Type": place.kind,
            **{name: with_own(value) for name, value in place.headers.items()},
        },
    )


def hunt_judge(folder: Path) -> Iterator[Hunt]:
    """`assay judge` on a HAR file that another recorder wrote, with all secrets in it."""
    bank = EchoBank(app=make_app(base_url=BASE), replaced=1000, hear_control=False)
    client = Client(app=bank)
    for _ in range(3):
        with suppress(LookupError, TypeError, ValueError):
            clean(client)
    recording = client.har(folder / "foreign.har")
    for party in ("bank", "tpp"):
        out = folder / f"foreign-{party}"
        _, text, err = assay("judge", recording, "--party", party, "--out", out, cwd=folder)
        hunt = Hunt(name=f"judge HAR ({party})", bank=bank)
        hunt.wrote("stdout", text + err)
        hunt.wrote_files(out)
        yield hunt


def hunt_init(folder: Path) -> Iterator[Hunt]:
    """`assay init` from a document whose examples are somebody's real secrets."""
    bank = EchoBank(app=None)
    document = json.loads((TESTS / "onboarding" / "init" / "stet.json").read_text("utf-8"))

    def example(kind: str) -> str:
        secret = f"init-{kind}-{len(bank.secrets)}-x7"
        bank.hear(secret, kind)
        return secret

    document["servers"].insert(0, {"url": f"https://u:{example('server')}@bank.example/v1"})
    for path in document["paths"].values():
        for operation in path.values():
            if isinstance(operation, dict) and "responses" in operation:
                operation.setdefault("parameters", []).extend(
                    {
                        "in": place,
                        "name": name,
                        "required": True,
                        "schema": {"type": "string", "enum": [example(name)]},
                    }
                    for place, name in (("query", "otp"), ("query", "apiKey"), ("header", "X-Auth"))
                )
    (folder / "document.json").write_text(json.dumps(document), "utf-8")
    code, out, err = assay(
        "init", "--yes", "--openapi", "document.json", "-o", "b.yaml", cwd=folder
    )
    assert code == 0, err
    hunt = Hunt(name="init", bank=bank)
    hunt.wrote("stdout", out + err)
    hunt.wrote_file(folder / "b.yaml")
    yield hunt


def main() -> int:
    """Hunt, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--secrets", type=int, default=1000, help="at least so many")
    wanted = parser.parse_args().secrets
    total = failed = 0
    places, encodings = set(), set()
    with TemporaryDirectory() as name:
        folder = Path(name)
        for hunt in hunts(folder, "aisp or pis" if wanted > 200 else FEW):
            found = hunt.found()
            bank = hunt.bank
            total += len(bank.secrets)
            places |= {place for _, _, place in bank.planted.values()}
            encodings |= {encoding for _, encoding, _ in bank.planted.values()}
            print(
                f"{hunt.name:<18} {len(bank.secrets):>5} secrets {len(bank.planted):>6} forms"
                f" {len(hunt.texts):>3} texts  {'FOUND ' if found else ''}{len(found)}",
                flush=True,
            )
            failed += len(found)
            for text, form, where in found[:20]:
                print(f"    {text}: {form!r:.60} {where}")
    print(f"{total} secrets, {len(places)} places, {len(encodings)} encodings: {failed} found")
    return 1 if failed or total < wanted else 0


def hunts(folder: Path, keywords: str) -> Iterator[Hunt]:
    """Yield every command's hunt."""
    yield from hunt_run(folder, keywords, oauth=False)
    yield from hunt_run(folder, FEW, oauth=True)
    yield from hunt_doctor(folder)
    yield from hunt_pytest(folder)
    yield from hunt_proxy(folder, 1)
    yield from hunt_judge(folder)
    yield from hunt_init(folder)


if __name__ == "__main__":
    sys.exit(main())
