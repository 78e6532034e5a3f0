"""Nothing that belongs to a customer stands in what a run writes, in any spelling.

A whole run on a bank that repeats in every answer whatever it knows; everything
that its control API ever handed out is then searched for in every byte written.
"""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from assay.journal.writer import Journal
from assay.preparation.prepare import prepare
from assay.report import FORMATS, read_journal, render
from assay.running.environment import set_up
from assay.running.session import RunResult, Session, run_session
from assay.sandbox.app import make_app
from assay.sandbox.messages import Answer, Request
from assay.sandbox.policies import SOUND, Policies


@dataclass
class Loudmouth:
    """A sandbox behind a listener that keeps what its control API hands out."""

    policies: Policies
    customers: list[dict[str, Any]] = field(default_factory=list)
    links: list[str] = field(default_factory=list)

    def open(self, base_url: str) -> Callable[..., Iterable[bytes]]:
        """Open the bank; with chatter, answers repeat the last customers' secrets."""
        app = make_app(self.policies, base_url=base_url)

        def listened(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            body = b"".join(app(environ, start_response))
            *_, world, last = environ["PATH_INFO"].split("/")
            if last == "customers":
                self.customers.append({**json.loads(body), "fixtures": world})
            elif b'"consentApproval"' in body:
                self.links.append(json.loads(body)["links"]["consentApproval"])
            elif b'action="/signing/' in body:
                self.links.append(body.split(b'action="', 1)[1].split(b'"', 1)[0].decode())
            return [body]

        return listened

    def chatter(self, request: Request, answer: Answer) -> Answer:
        """Repeat what is known of the last customers, in every spelling.

        Of somebody in another world everything but the name, which could be anybody's.
        """
        if not isinstance(answer.body, dict):
            return answer
        said: list[str] = []
        for customer in self.customers[-3:]:
            present = customer["fixtures"] == self.customers[-1]["fixtures"]
            said += spellings(customer) if present else foreign(customer)
        extra = {
            "message": f"{request.authorization} {request.path} {request.query}",
            "trace": said,
            "raw": request.body.decode("utf-8", "replace"),
        }
        headers = (("X-Request-Id", said[0] if said else "-"), ("X-Debug", " ".join(said)))
        printable = tuple(
            (name, value) for name, value in headers if value.isascii() and value.isprintable()
        )
        body = {**answer.body, **extra}
        return replace(answer, body=body, headers=(*answer.headers, *printable))


def secrets(customer: dict[str, Any]) -> Iterator[str]:
    """Give what belongs to a customer."""
    for name in ("token", "login", "password", "name"):
        yield customer[name]
    yield f"{customer['login']}:{customer['password']}"
    yield from (holding["key"] for holding in customer["holdings"])


def spellings(customer: dict[str, Any]) -> set[str]:
    """Give every secret plain, quoted for URLs, JSON and HTML, and in base64."""
    out: set[str] = set()
    for secret in secrets(customer):
        raw = secret.encode()
        packed = {b64encode(raw).decode(), urlsafe_b64encode(raw).decode()}
        in_json = json.dumps(secret)[1:-1]
        out |= {secret, quote(secret, safe=""), quote_plus(secret), in_json, html.escape(secret)}
        if secret not in {holding["key"] for holding in customer["holdings"]}:
            out |= packed | {name.rstrip("=") for name in packed} | set(map(quote, packed))
    return out


def foreign(customer: dict[str, Any]) -> set[str]:
    """Give what belongs to a customer and to nobody else of the same name."""
    return {one for one in secrets(customer) if one != customer["name"] and ":" not in one}


def hold(bank: Loudmouth, folder: Path) -> RunResult:
    """Run everything there is to ask, with a journal, and render every format."""
    prepared = prepare()
    environment = set_up(prepared.target, bank=bank.open)
    path = folder / "journal.jsonl"
    session = Session(plan=prepared.plan, environment=environment, journal=Journal.at(path))
    try:
        result = run_session(session)
    finally:
        environment.close()
    report = read_journal(path)
    for name, form in FORMATS.items():
        render(report, name, folder / form.file)
    return result


def found(bank: Loudmouth, folder: Path) -> list[tuple[str, str]]:
    """List what was handed out and stands in a file all the same."""
    written = {path.name: path.read_text("utf-8") for path in sorted(folder.iterdir())}
    assert len(FORMATS) + 1 == len(written)
    secret_words = {one for customer in bank.customers for one in spellings(customer)}
    # Whoever has the last part of such a link can sign, or go on signing.
    secret_words |= {link.rpartition("/")[2] for link in bank.links}
    return [(name, word) for name, text in written.items() for word in secret_words if word in text]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Loudmouth, RunResult, Path]:
    """Return the sound bank, the result of a run of everything, and its folder."""
    bank, folder = Loudmouth(SOUND), tmp_path_factory.mktemp("sound")
    return bank, hold(bank, folder), folder


@pytest.mark.slow
def test_a_sound_bank(sound: tuple[Loudmouth, RunResult, Path]) -> None:
    """The journal of a run on the sound bank has nothing private of its customers."""
    bank, result, folder = sound
    assert (315, 0) == (result.counts["conforms"], len(result.faults))
    assert 60 < len(bank.customers)
    assert 100 < len(bank.links)
    assert [] == found(bank, folder)


@pytest.mark.parametrize("form", ["as it is", "refusing"])
def test_a_bank_that_repeats_everything(tmp_path: Path, form: str) -> None:
    """A customer's data in a target's responses are masked, in findings and in exchanges."""
    bank = Loudmouth(SOUND)

    def respond(request: Request, answer: Answer) -> Answer:
        loud = bank.chatter(request, answer)
        # A status that no matcher knows puts every exchange into the reports.
        return replace(loud, status=302) if form == "refusing" else loud

    bank.policies = replace(SOUND, respond=respond)
    result = hold(bank, tmp_path)
    assert () == result.faults
    if form == "refusing":
        assert 90 < result.counts["indeterminate"]
    assert '"trace"' in (tmp_path / "journal.jsonl").read_text("utf-8").replace("\\", "")
    assert [] == found(bank, tmp_path)


def test_the_same_value_has_one_name(sound: tuple[Loudmouth, RunResult, Path]) -> None:
    """An account has one pseudonym throughout, and no id or digest has one inside."""
    _, _, folder = sound
    text = (folder / "journal.jsonl").read_text("utf-8")
    assert [] == re.findall(r"[0-9a-f]<[a-z-]+-\d+>|<[a-z-]+-\d+>[0-9a-f]", text)
    # Not `splitlines`: values that a target sends back may have separators of Unicode's.
    lines = [json.loads(line) for line in text.split("\n") if line]
    trial = "aisp/consent.scope#balance"
    (psu, other) = (one for one in lines if one["type"] == "subject" and one["trial"] == trial)
    first, second = (one["key"] for one in psu["owns"])
    (theirs,) = (one["key"] for one in other["owns"])
    assert 3 == len({first, second, theirs})
    calls = [one for one in lines if one["type"] == "exchange" and one["trial"] == trial]
    asked = [one["request"]["url"].rpartition("=")[2] for one in calls if "balances" in str(one)]
    assert {first, second, theirs} == set(asked) & {first, second, theirs}
    consent = next(one for one in calls if one["operation"] == "consents")
    assert json.dumps({"accounts": [first]}) == consent["request"]["body"]
    granted = next(
        one for one in calls if one["operation"] == "balances" and one["response"]["status"] == 200
    )
    assert first in granted["request"]["url"]
    assert f'"iban":"{first}"' in granted["response"]["body"]
