"""What is wrong in a target file that has the right shape: URLs, days, zones, roles.

What needs a contract to be known is asked in `target.join`. Secrets are not looked
up: see `run.environ`.

What is wrong in how calls are authenticated, protected and signed, beyond its shape.

Files are not opened and secrets not looked up here: see `run.auth.papers` and
`run.environ`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from assay.binding import role_checks
from assay.binding.build import ALGORITHMS, COVERS
from assay.binding.target import (
    AuthKind,
    ClientAuth,
    FixtureKind,
    ScaKind,
    SignatureKind,
    TransportKind,
)
from assay.contract.files.document import Finding, Pointer, found
from assay.contract.files.load import read_zone
from assay.errors import did_you_mean

_Raw: TypeAlias = Mapping[str, Any]


def findings(raw: _Raw) -> Iterator[Finding]:
    """Find what no schema can say."""
    for at, url in (
        (("base_url",), raw["base_url"]),
        (("fixtures", "url"), _world_url(raw)),
    ):
        if url is not None and (wrong := bad_url(url)):
            yield at, *wrong
    yield from security_findings(raw, bad_url)
    yield from _live(raw)
    if "zone" in raw and isinstance(hint := read_zone(raw["zone"]), str):
        yield ("zone",), f"there is no time zone {found(raw['zone'])}", hint
    for index, waiver in enumerate(raw.get("waivers", ())):
        yield from _day(("waivers", index, "expires"), waiver["expires"])
    yield from _sca(raw)
    yield from _roles(raw)
    yield from role_checks.findings(raw)
    yield from _matchers(raw)


def _live(raw: _Raw) -> Iterator[Finding]:
    """Nobody's money is spent on trust: who may be paid on a live bank, and how much."""
    safety = raw.get("safety", {})
    if raw.get("environment") == "live" and safety.get("allow_writes"):
        for name, hint in (
            ("only", "for example only: {creditorAccount: [FR7630006000011234567890189]}"),
            ("most", 'for example most: {amount: "1.00"}'),
        ):
            if not safety.get(name):
                what = f"writing on a live bank takes a limit: {name} is missing"
                yield ("safety", "allow_writes"), what, hint


def _world_url(raw: _Raw) -> str | None:
    url: str | None = raw.get("fixtures", {}).get("url")
    return url


def bad_url(url: str) -> tuple[str, str] | None:
    """Say what is wrong with a URL, and a hint; the URL itself may hold secrets."""
    example = "for example https://sandbox.bank.example/v1"
    try:
        parts = urlsplit(url)
        whole = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        whole = False
        parts = urlsplit("")
    if "@" in parts.netloc:
        return (
            "the URL holds credentials",
            "how calls are authenticated stands under auth",
        )
    if not whole or any(one.isspace() or not one.isprintable() for one in url):
        return "expected an http or https URL", example
    if parts.query or parts.fragment or "?" in url or "#" in url:
        return "the URL has a query or a fragment", example
    return None


def _day(at: Pointer, text: str) -> Iterator[Finding]:
    try:
        date.fromisoformat(text)
    except ValueError:
        yield at, f"there is no day {found(text)}", "for example 2026-12-31"


def _sca(raw: _Raw) -> Iterator[Finding]:
    """Say what who signs cannot do without."""
    sca = raw.get("sca", {})
    kind, at = sca.get("kind"), ("sca", "kind")
    if kind in {ScaKind.FORMS.value, ScaKind.BROWSER.value} and not sca.get("screens"):
        hint = "for example screens: [{user: login, secret: password}, {answer: decision}]"
        yield at, f"a {kind} signature needs to know the screens", hint
    if kind == ScaKind.MANUAL.value and "callback" not in sca:
        hint = "for example callback: http://127.0.0.1:8765"
        yield at, "nothing says where a person's browser comes back to", hint
    port = sca.get("callback", ":1").strip().rpartition(":")[2]
    if len(port) > len("65535") or int(port) not in range(1, 65536):
        hint = "a port is a number from 1 to 65535"
        yield ("sca", "callback"), f"there is no such port, in {found(sca['callback'])}", hint
    shown = kind in {ScaKind.BROWSER.value, ScaKind.MANUAL.value}
    if shown and raw["transport"] == TransportKind.EMBEDDED.value:
        hint = "transport: http, with the base_url that `assay serve` prints"
        yield at, "no browser reaches a bank that is embedded", hint


def _roles(raw: _Raw) -> Iterator[Finding]:
    fixtures = raw.get("fixtures", {})
    python = fixtures.get("kind") == FixtureKind.PYTHON.value
    if python is not ("adapter" in fixtures):
        hint = "for example {kind: python, adapter: our_bank.fixtures:SandboxFixtures}"
        what = "an adapter and kind: python go together"
        yield ("fixtures", "adapter" if "adapter" in fixtures else "kind"), what, hint
    if fixtures.get("kind") != FixtureKind.ROLES.value:
        if "roles" in fixtures:
            yield (
                ("fixtures", "roles"),
                f"a world of kind {fixtures['kind']} has no roles",
                "kind: roles",
            )
        return
    if not fixtures.get("roles"):
        yield ("fixtures",), "a world of kind roles lists at least one role", "add roles"
    shared = "token_env" in raw.get("auth", {})
    for name, role in fixtures.get("roles", {}).items():
        at: Pointer = ("fixtures", "roles", name)
        # Whoever goes through OAuth is given a token for each customer.
        kind = raw.get("auth", {}).get("kind", "none")
        authenticated = kind in {AuthKind.BEARER.value, AuthKind.KEY.value}
        if authenticated and not shared and "token_env" not in role:
            hint = "add `token_env: NAME` here or under auth"
            yield at, "nothing says with which token to call for this customer", hint
        for index, holding in enumerate(role["owns"]):
            for number, entry in enumerate(holding.get("entries", ())):
                yield from _day((*at, "owns", index, "entries", number, "on"), entry["on"])


def _matchers(raw: _Raw) -> Iterator[Finding]:
    """Without a matcher nothing could ever be accepted, and nothing conform."""
    if raw.get("outcomes", {}).get("accepted") == []:
        hint = "name at least one matcher, or leave the key out"
        yield ("outcomes", "accepted"), "no answer could ever be accepted", hint


#: Says what is wrong with a URL, and a hint.
BadUrl: TypeAlias = Callable[[str], tuple[str, str] | None]

URLS = ("token_url", "authorize_url", "redirect_uri")
#: What only means something where tokens are asked for, and where customers are asked, too.
ASKED = (
    *("token_url", "scope", "client_id", "client_id_env", "client_secret_env", "client_auth"),
    *("authorize_url", "redirect_uri", "pkce"),
)
AGREED = ("authorize_url", "redirect_uri", "pkce")
#: Whose screens are walked by a program.
WALKED = frozenset({ScaKind.FORMS.value, ScaKind.BROWSER.value})

#: The algorithms of each kind of signature.
KINDS: Mapping[SignatureKind, frozenset[str]] = {
    SignatureKind.CAVAGE: frozenset({"rsa-sha256", "hs2019"}),
    SignatureKind.RFC9421: frozenset(
        {"rsa-v1_5-sha256", "rsa-pss-sha512", "ecdsa-p256-sha256", "ed25519"}
    ),
}
#: What each kind knows that is no header.
DERIVED: Mapping[SignatureKind, frozenset[str]] = {
    SignatureKind.CAVAGE: frozenset({"(request-target)", "(created)"}),
    SignatureKind.RFC9421: frozenset(
        {"@method", "@target-uri", "@authority", "@scheme", "@request-target", "@path", "@query"}
    ),
}
#: Headers that every call has, or is given for its signature.
ALWAYS = frozenset({"accept", "host", "date", "x-request-id"})
#: What the other kind calls the digest of a body, and what is meant.
OTHER: Mapping[SignatureKind, tuple[str, str]] = {
    SignatureKind.CAVAGE: ("content-digest", "digest"),
    SignatureKind.RFC9421: ("digest", "content-digest"),
}


def security_findings(raw: _Raw, bad_url: BadUrl) -> Iterator[Finding]:
    """Find what no schema can say."""
    auth = raw.get("auth", {})
    yield from _auth(auth, ("auth",), bad_url)
    code = auth.get("kind") == AuthKind.CODE.value
    if code and raw.get("sca", {}).get("kind", ScaKind.NONE.value) not in WALKED:
        hint = "sca: forms or browser, with the screens on which customers log in and agree"
        yield ("auth", "kind"), "nothing says how customers agree that there is a token", hint
    yield from _tls(raw)
    if "signature" in raw:
        yield from _signature(raw["signature"])


def _auth(auth: _Raw, at: Pointer, bad_url: BadUrl) -> Iterator[Finding]:
    """Say what is wrong in how calls are authenticated, or those of the third party."""
    kind = auth.get("kind")
    if "header" in auth and kind != AuthKind.KEY.value:
        instead = "write `kind: key`, or leave it out"
        yield (*at, "header"), "only a key stands in a header of its own", instead
    for name in URLS:
        if name in auth and (wrong := bad_url(auth[name])):
            yield (*at, name), *wrong
    if kind in {AuthKind.CLIENT.value, AuthKind.CODE.value}:
        yield from _oauth(auth, at)
    else:
        hint = "write `kind: client-credentials` or `kind: authorization-code`, or leave it out"
        for name in ASKED:
            if name in auth:
                yield (*at, name), f"a {kind} token is not asked for", hint
    if {"client_id", "client_id_env"} <= auth.keys():
        yield (*at, "client_id_env"), "the client_id stands there twice", "keep one"
    if "provider" in auth:
        if len(at) > 1:
            yield (*at, "provider"), "the third party has no third party", "take it out"
        else:
            yield from _provider(auth["provider"], (*at, "provider"), bad_url)


def _provider(auth: _Raw, at: Pointer, bad_url: BadUrl) -> Iterator[Finding]:
    if auth.get("kind") == AuthKind.CODE.value:
        hint = "write `kind: client-credentials`"
        yield (*at, "kind"), "no customer agrees to what a third party does for itself", hint
    yield from _auth(auth, at, bad_url)


def _oauth(auth: _Raw, at: Pointer) -> Iterator[Finding]:
    if "token_env" in auth:
        what = "a token that is asked for stands in no variable"
        yield (*at, "token_env"), what, "write `kind: bearer`, or leave it out"
    if auth["kind"] == AuthKind.CLIENT.value:
        for name in AGREED:
            if name in auth:
                hint = "write `kind: authorization-code`, or leave it out"
                yield (*at, name), "no customer is asked for client-credentials", hint
    none = auth.get("client_auth") == ClientAuth.NONE.value
    named = next((one for one in ("client_id", "client_id_env") if one in auth), None)
    if named and not none and "client_secret_env" not in auth:
        hint = "add client_secret_env: NAME, or `client_auth: none`"
        yield (*at, named), "nothing says with which secret the client asks", hint
    if none and "client_secret_env" in auth:
        hint = "client_auth: basic or post, or leave the secret out"
        yield (*at, "client_secret_env"), "with `client_auth: none` no secret is shown", hint
    if "client_secret_env" in auth and not named:
        hint = "add client_id, or client_id_env"
        yield (*at, "client_secret_env"), "nothing says whose secret that is", hint


def _tls(raw: _Raw) -> Iterator[Finding]:
    if "tls" not in raw:
        return
    if raw["transport"] == TransportKind.EMBEDDED.value:
        hint = "transport: http, with an https base_url"
        yield ("tls",), "there is no connection to a bank that is embedded", hint
    elif urlsplit(raw["base_url"]).scheme != "https":
        yield ("tls",), "TLS is not spoken with an http base_url", "https://…"


def _signature(said: _Raw) -> Iterator[Finding]:
    kind = SignatureKind(said["kind"])
    known = KINDS[kind]
    algorithm = said.get("algorithm", ALGORITHMS[kind])
    if algorithm not in known:
        hint = f"known there: {', '.join(sorted(known))}"
        yield (
            ("signature", "algorithm"),
            f"a {kind.value} signature has no {found(algorithm)}",
            hint,
        )
    covers = said.get("covers", COVERS[kind])
    derived = DERIVED[kind]
    for index, name in enumerate(covers):
        at: Pointer = ("signature", "covers", index)
        other, meant = OTHER[kind]
        if name[0] in "(@" and name not in derived:
            hint = did_you_mean(name, derived)
            yield at, f"a {kind.value} signature covers no {found(name)}", hint
        elif name == other:
            hint = f"did you mean {meant!r}?"
            yield at, f"a {kind.value} signature has no {found(name)} of a body", hint
        elif name == "(created)" and algorithm != "hs2019":
            what = f"the draft has no (created) with {algorithm}"
            yield at, what, "algorithm: hs2019, or cover date"
    if not derived & set(covers) and not ALWAYS & set(covers):
        hint = f"for example {', '.join(COVERS[kind])}"
        yield ("signature", "covers"), "a call may have nothing of what is signed", hint
