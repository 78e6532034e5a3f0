"""Credentials that are not taken: noticed, put down to a line, and no verdict rests on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest

from assay.binding.target import Auth, AuthKind, Target, TransportKind
from assay.execution.environment import set_up
from assay.execution.session import RunResult, Session, run_session
from assay.history import Accepted, Call, Cause, Exchange, Indeterminate, Rejected, Wire
from assay.journal.writer import Journal
from assay.judging.rejected_credentials import CredentialWatch, discount_untaken, not_taken
from assay.judging.verdict import Agreement, Evidence, Standing, Verdict
from assay.planning.prepare import prepare
from assay.sandbox.app import make_app

AISP = prepare(("aisp",), None).plan.contracts["aisp"].operations["accounts"]
PROFILE = Target(
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
def test_what_the_target_says_of_a_token(status: int, challenge: str) -> None:
    """A token that is not known, has expired, or is not for this is no answer to the call."""
    found = not_taken(AISP, answer(status, challenge), PROFILE)
    assert isinstance(found, Indeterminate)
    assert Cause.AUTH is found.cause
    assert "auth.token_env, line 6" in found.why


@pytest.mark.parametrize(
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
def test_what_says_nothing_of_our_token(wire: Wire) -> None:
    """Any other refusal is the contract's matter, and so is one of somebody else's credentials."""
    assert not_taken(AISP, wire, PROFILE) is None


def test_a_key_in_a_header_of_its_own() -> None:
    """Where calls are authenticated by a key, it is the key that is not taken."""
    keyed = replace(PROFILE, auth=Auth(kind=AuthKind.KEY, header="X-Key"))
    refused = 'Bearer error="invalid_token"'
    assert not_taken(AISP, answer(401, refused), keyed) is None
    found = not_taken(AISP, answer(401, refused, shown=(("x-key", "k"),)), keyed)
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
    watch = CredentialWatch(provided={"pay"})
    for one in exchanges:
        watch.see(one)
    return watch, {one.n: one.call.operation for one in exchanges}


@pytest.mark.parametrize("standing", [Standing.CONFORMS, Standing.VIOLATES])
def test_never_taken(standing: Standing) -> None:
    """With no call ever let in and some refused for want of a token, nothing is concluded."""
    watch, operations = watched(exchange(1, "accounts", 401), exchange(2, "accounts", 404))
    (found,) = discount_untaken([verdict(standing, 2)], watch, operations, PROFILE)
    assert Standing.INDETERMINATE is found.standing
    why = (
        "the target never accepted the credentials of the target file (401): auth.token_env, line 6"
    )
    assert why == found.reason


@pytest.mark.parametrize(
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
def test_a_refusal_that_means_something(exchanges: tuple[Exchange, ...]) -> None:
    """A 401 beside calls that were let in, or to others, or no 401 at all: verdicts stay."""
    watch, operations = watched(*exchanges)
    before = verdict(Standing.VIOLATES, 2)
    assert (before,) == discount_untaken([before], watch, operations, PROFILE)


def test_parties_are_told_apart() -> None:
    """What customers' calls showed stays, when it is the third party that was never let in."""
    watch, operations = watched(exchange(1, "pay", 401), exchange(2, "accounts", 200))
    ours, theirs = verdict(Standing.CONFORMS, 2), verdict(Standing.CONFORMS, 1)
    own = replace(PROFILE, auth=replace(PROFILE.auth, provider=Auth(kind=AuthKind.BEARER)))
    found = discount_untaken([ours, theirs], watch, operations, own)
    assert (Standing.CONFORMS, Standing.INDETERMINATE) == tuple(one.standing for one in found)
    assert found[1].reason.endswith("(401): auth.provider, line 5")


def run(keywords: str, around: Callable[[Any], Any], kind: AuthKind = AuthKind.BEARER) -> RunResult:
    """Hold trials with a bank that something stands around; the control API is let through."""
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
    """Let nobody in."""

    def answers(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        start("401 Unauthorized", JSON)
        return [b'{"message":"no"}']

    return answers


def leaky(app: Any) -> Any:
    """Turn every refusal into a 401 that tells, all the same, what was told before."""
    told: dict[tuple[str, str], bytes] = {}

    def answers(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        begun: list[Any] = []
        body = b"".join(app(environ, lambda *given: begun.append(given)))
        asked = environ.get("HTTP_AUTHORIZATION", ""), environ["PATH_INFO"]
        status, headers = begun[-1][:2]
        if status.startswith("200"):
            told[asked] = body
        elif asked in told:
            start("401 Unauthorized", JSON)
            return [told[asked]]
        start(status, headers)
        return [body]

    return answers


@pytest.mark.parametrize("kind", [AuthKind.BEARER, AuthKind.NONE])
def test_a_bank_that_lets_nobody_in(kind: AuthKind) -> None:
    """A 401 to everything convicts of nothing and earns nothing, with a wrong token or none."""
    result = run("", closed, kind)
    assert 0 == result.counts["violates"] == result.counts["conforms"]
    assert result.counts["indeterminate"] > 0


def test_a_bank_whose_401_breaks_the_contract_is_convicted() -> None:
    """Where other calls are let in, what stands in a 401 is the bank's own fault."""
    result = run("quota", leaky)
    red = {one.obligation for one in result.verdicts if one.standing is Standing.VIOLATES}
    assert "aisp/batch-quota/accounts-refused" in red
