"""Rejected credentials: detected, traced to a line, and no verdict rests on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from rows import for_each

from assay.binding.model.target import Auth, AuthKind, Target, TransportKind
from assay.history import Accepted, Call, Cause, Exchange, Indeterminate, Rejected, Wire
from assay.journal.writer import Journal
from assay.judging.corrections import (
    CredentialWatch,
    credentials_place,
    discount_rejected,
    rejected_token,
)
from assay.preparation.prepare import prepare
from assay.rules.verdict import Agreement, Evidence, Standing, Verdict
from assay.running.environment import set_up
from assay.running.session import RunResult, Session, run_session
from assay.sandbox.app import make_app

AISP = prepare(("aisp",), None).plan.contracts["aisp"].operations["accounts"]
TARGET = Target(
    name="t",
    transport=TransportKind.HTTP,
    base_url="https://bank.example",
    path="t.yaml",
    auth=Auth(kind=AuthKind.BEARER, token_env="T_TOKEN"),
    lines={"auth": 5, "auth.token_env": 6},
)
OURS = (("Authorization", "Bearer t"),)


def answer(status: int, *challenges: str, shown: tuple[tuple[str, str], ...] = OURS) -> Wire:
    return Wire(
        method="GET",
        url="https://bank.example/accounts",
        request_headers=shown,
        status=status,
        headers=tuple(("WWW-Authenticate", one) for one in challenges),
    )


@pytest.mark.parametrize(
    ("status", "challenge"),
    [
        (401, 'Bearer error="invalid_token"'),
        (401, 'bearer realm="a, b", error=invalid_token, error_description="expired"'),
        (401, 'Basic realm="x", Bearer error="INVALID_TOKEN"'),
        (403, 'Bearer error="insufficient_scope", scope="aisp"'),
    ],
)
def test_a_rejected_token_is_indeterminate(status: int, challenge: str) -> None:
    """An unknown or expired token, or one with too small a scope, does not answer the call."""
    judged = rejected_token(AISP, answer(status, challenge), TARGET)
    assert isinstance(judged, Indeterminate)
    assert Cause.AUTH is judged.cause
    assert "auth.token_env, line 6" in judged.why


@for_each(
    "wire",
    [
        answer(401),
        answer(401, "Bearer"),
        answer(401, 'Bearer error="invalid_request"'),
        answer(401, 'Digest error="invalid_token"'),
        answer(401, 'Bearer realm="error=invalid_token"'),
        answer(403, 'Bearer error="invalid_token"'),
        answer(401, 'Bearer error="insufficient_scope"'),
        answer(400, 'Bearer error="invalid_token"'),
        answer(200, 'Bearer error="invalid_token"'),
        answer(401, 'Bearer error="invalid_token"', shown=()),
        answer(401, 'Bearer error="invalid_token"', shown=(("Authorization", "Basic eA=="),)),
        answer(401, "Bearer " + "," * 5000 + 'error="invalid_token"'),
    ],
)
def test_other_refusals_are_answers(wire: Wire) -> None:
    """Any other refusal is an answer, also one of credentials that are not the target file's."""
    assert rejected_token(AISP, wire, TARGET) is None


def test_a_key_in_a_header_of_its_own() -> None:
    """Where calls are authenticated by a key, its header decides whether the key was rejected."""
    keyed = replace(TARGET, auth=Auth(kind=AuthKind.KEY, header="X-Key"))
    refused = 'Bearer error="invalid_token"'
    assert rejected_token(AISP, answer(401, refused), keyed) is None
    found = rejected_token(AISP, answer(401, refused, shown=(("x-key", "k"),)), keyed)
    assert found
    assert "auth, line 5" in found.why


def exchange(n: int, operation: str, status: int, **call: Any) -> Exchange:
    from datetime import UTC, datetime  # noqa: PLC0415

    return Exchange(
        n=n,
        at=datetime(2026, 3, 2, tzinfo=UTC),
        call=Call(operation=operation, subject="psu", **call),
        outcome=Accepted() if status == 200 else Rejected(),
        wire=Wire(method="GET", url="u", status=status),
        ms=1.0,
    )


def verdict(standing: Standing, *exchanges: int) -> Verdict:
    agreement = Agreement.AGREES if standing is Standing.CONFORMS else Agreement.DISAGREES
    one = Evidence(facet="f", agreement=agreement, expected="", seen="", exchanges=exchanges)
    return Verdict(obligation="a/b/f", standing=standing, reason="as it was", evidence=(one,))


def watched(*exchanges: Exchange) -> tuple[CredentialWatch, dict[int, str]]:
    watch = CredentialWatch(tpp_operations={"pay"})
    for one in exchanges:
        watch.see(one)
    return watch, {one.n: one.call.operation for one in exchanges}


def where(target: Any) -> Any:
    return lambda by_tpp: credentials_place(target, by_tpp=by_tpp)


@pytest.mark.parametrize("standing", [Standing.CONFORMS, Standing.VIOLATES])
def test_credentials_never_accepted(standing: Standing) -> None:
    """If no call was ever accepted and some got a 401, no verdict stands."""
    watch, operations = watched(exchange(1, "accounts", 401), exchange(2, "accounts", 404))
    judged = discount_rejected(verdict(standing, 2), watch, operations, where(TARGET))
    assert Standing.INDETERMINATE is judged.standing
    why = (
        "the target never accepted the credentials of the target file (401): auth.token_env, line 6"
    )
    assert why == judged.reason


@for_each(
    "exchanges",
    [
        (exchange(1, "accounts", 200), exchange(2, "accounts", 401)),
        (exchange(1, "balances", 200), exchange(2, "accounts", 401)),
        (exchange(1, "accounts", 403), exchange(2, "accounts", 404)),
        (exchange(1, "pay", 401), exchange(2, "accounts", 403)),
        (exchange(1, "accounts", 401, credentials=True), exchange(2, "accounts", 403)),
        (exchange(1, "accounts", 401), exchange(2, "accounts", 200, credentials=True)),
    ],
)
def test_refusals_that_count(exchanges: tuple[Exchange, ...]) -> None:
    """With an accepted call of the party, or without a 401 to it, verdicts stay."""
    watch, operations = watched(*exchanges)
    before = verdict(Standing.VIOLATES, 2)
    assert before == discount_rejected(before, watch, operations, where(TARGET))


def test_parties_are_separate() -> None:
    """If only the TPP was never accepted, verdicts from customers' calls stay."""
    watch, operations = watched(exchange(1, "pay", 401), exchange(2, "accounts", 200))
    ours, theirs = verdict(Standing.CONFORMS, 2), verdict(Standing.CONFORMS, 1)
    own = replace(TARGET, auth=replace(TARGET.auth, tpp=Auth(kind=AuthKind.BEARER)))
    found = [discount_rejected(each, watch, operations, where(own)) for each in (ours, theirs)]
    assert (Standing.CONFORMS, Standing.INDETERMINATE) == tuple(one.standing for one in found)
    assert found[1].reason.endswith("(401): auth.tpp, line 5")


def run(keywords: str, around: Callable[[Any], Any], kind: AuthKind = AuthKind.BEARER) -> RunResult:
    """Run trials against a bank behind middleware that does not change the control API."""
    prepared = prepare(("aisp",), None, keywords=keywords)

    def bank(base_url: str) -> Any:
        app = make_app(base_url=base_url)
        outer = around(app)

        def answers(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
            control = environ["PATH_INFO"].startswith("/assay-control")
            return app(environ, start) if control else outer(environ, start)

        return answers

    environment = set_up(replace(prepared.target, auth=Auth(kind=kind)), bank=bank)
    try:
        return run_session(
            Session(plan=prepared.plan, environment=environment, journal=Journal(out=None))
        )
    finally:
        environment.close()


JSON = [("Content-Type", "application/json")]


def closed(_: Any) -> Any:
    """Answer every call with a 401."""

    def answers(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        start("401 Unauthorized", JSON)
        return [b'{"message":"no"}']

    return answers


def leaky(app: Any) -> Any:
    """Turn repeated refusals into a 401 that has the data of an earlier response."""
    accepted: dict[tuple[str, str], bytes] = {}

    def answers(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        started: list[Any] = []
        body = b"".join(app(environ, lambda *head: started.append(head)))
        request = environ.get("HTTP_AUTHORIZATION", ""), environ["PATH_INFO"]
        status, headers = started[-1][:2]
        if status.startswith("200"):
            accepted[request] = body
        elif request in accepted:
            start("401 Unauthorized", JSON)
            return [accepted[request]]
        start(status, headers)
        return [body]

    return answers


@pytest.mark.parametrize("kind", [AuthKind.BEARER, AuthKind.NONE])
def test_a_bank_that_rejects_everyone(kind: AuthKind) -> None:
    """A 401 to everything neither violates nor conforms, with a wrong token or none."""
    result = run("", closed, kind)
    assert 0 == result.counts["violates"] == result.counts["conforms"]
    assert result.counts["indeterminate"] > 0


def test_a_401_that_violates_the_contract() -> None:
    """If other calls are accepted, data in a 401 is a violation of the bank."""
    result = run("quota", leaky)
    red = {one.obligation for one in result.verdicts if one.standing is Standing.VIOLATES}
    assert "aisp/batch-quota/accounts-refused" in red
