"""Checks of how calls are authenticated, protected and signed, beyond the schema.

Files are not opened and secrets not looked up here: see `transport.auth.certificates` and
`transport.secrets`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from assay.binding.security import ALGORITHMS, COVERS
from assay.binding.target import AuthKind, ClientAuth, ScaKind, SignatureKind, TransportKind
from assay.contract.files.document import Finding, Pointer, found
from assay.errors import did_you_mean

_Raw: TypeAlias = Mapping[str, Any]

#: Returns the problem of a URL and a hint.
BadUrl: TypeAlias = Callable[[str], tuple[str, str] | None]

URLS = ("token_url", "authorize_url", "redirect_uri")
#: The keys of OAuth, and those of authorization codes only.
ASKED = (
    *("token_url", "scope", "client_id", "client_id_env", "client_secret_env", "client_auth"),
    *("authorize_url", "redirect_uri", "pkce"),
)
AGREED = ("authorize_url", "redirect_uri", "pkce")
#: The signers that fill in the screens.
WALKED = frozenset({ScaKind.FORMS.value, ScaKind.BROWSER.value})

#: The algorithms of each kind of signature.
KINDS: Mapping[SignatureKind, frozenset[str]] = {
    SignatureKind.CAVAGE: frozenset({"rsa-sha256", "hs2019"}),
    SignatureKind.RFC9421: frozenset(
        {"rsa-v1_5-sha256", "rsa-pss-sha512", "ecdsa-p256-sha256", "ed25519"}
    ),
}
#: The components of each kind that are no headers.
DERIVED: Mapping[SignatureKind, frozenset[str]] = {
    SignatureKind.CAVAGE: frozenset({"(request-target)", "(created)"}),
    SignatureKind.RFC9421: frozenset(
        {"@method", "@target-uri", "@authority", "@scheme", "@request-target", "@path", "@query"}
    ),
}
#: Headers that every call has, or gets for its signature.
ALWAYS = frozenset({"accept", "host", "date", "x-request-id"})
#: The name of the other kind for the digest of a body, and the right one.
OTHER: Mapping[SignatureKind, tuple[str, str]] = {
    SignatureKind.CAVAGE: ("content-digest", "digest"),
    SignatureKind.RFC9421: ("digest", "content-digest"),
}


def security_findings(raw: _Raw, bad_url: BadUrl) -> Iterator[Finding]:
    """Find the problems of authentication, TLS and signatures."""
    auth = raw.get("auth", {})
    yield from _auth(auth, ("auth",), bad_url)
    code = auth.get("kind") == AuthKind.CODE.value
    if code and raw.get("sca", {}).get("kind", ScaKind.NONE.value) not in WALKED:
        hint = "set sca.kind to forms or browser, with the screens to log in and to consent"
        yield ("auth", "kind"), "authorization codes need an SCA signer that logs in", hint
    yield from _tls(raw)
    if "signature" in raw:
        yield from _signature(raw["signature"])


def _auth(auth: _Raw, at: Pointer, bad_url: BadUrl) -> Iterator[Finding]:
    """Check how calls are authenticated, or those of the TPP."""
    kind = auth.get("kind")
    if "header" in auth and kind != AuthKind.KEY.value:
        instead = "write `kind: key`, or remove it"
        yield (*at, "header"), "only `kind: key` has a header of its own", instead
    for name in URLS:
        if name in auth and (wrong := bad_url(auth[name])):
            yield (*at, name), *wrong
    if kind in {AuthKind.CLIENT.value, AuthKind.CODE.value}:
        yield from _oauth(auth, at)
    else:
        hint = "write `kind: client-credentials` or `kind: authorization-code`, or remove it"
        for name in ASKED:
            if name in auth:
                yield (*at, name), f"`kind: {kind}` does not use this key", hint
    if {"client_id", "client_id_env"} <= auth.keys():
        yield (*at, "client_id_env"), "client_id and client_id_env are both set", "keep one"
    if "provider" in auth:
        if len(at) > 1:
            yield (*at, "provider"), "auth.provider cannot be nested", "remove it"
        else:
            yield from _provider(auth["provider"], (*at, "provider"), bad_url)


def _provider(auth: _Raw, at: Pointer, bad_url: BadUrl) -> Iterator[Finding]:
    if auth.get("kind") == AuthKind.CODE.value:
        hint = "write `kind: client-credentials`"
        yield (*at, "kind"), "the TPP's own calls have no customer to log in", hint
    yield from _auth(auth, at, bad_url)


def _oauth(auth: _Raw, at: Pointer) -> Iterator[Finding]:
    if "token_env" in auth:
        what = "an OAuth token is requested, not read from a variable"
        yield (*at, "token_env"), what, "write `kind: bearer`, or remove it"
    if auth["kind"] == AuthKind.CLIENT.value:
        for name in AGREED:
            if name in auth:
                hint = "write `kind: authorization-code`, or remove it"
                yield (*at, name), "client credentials need no customer", hint
    none = auth.get("client_auth") == ClientAuth.NONE.value
    named = next((one for one in ("client_id", "client_id_env") if one in auth), None)
    if named and not none and "client_secret_env" not in auth:
        hint = "add `client_secret_env: NAME`, or `client_auth: none`"
        yield (*at, named), "client_secret_env is missing", hint
    if none and "client_secret_env" in auth:
        hint = "write `client_auth: basic` or `client_auth: post`, or remove the secret"
        yield (*at, "client_secret_env"), "`client_auth: none` sends no secret", hint
    if "client_secret_env" in auth and not named:
        hint = "add client_id or client_id_env"
        yield (*at, "client_secret_env"), "client_id is missing", hint


def _tls(raw: _Raw) -> Iterator[Finding]:
    if "tls" not in raw:
        return
    if raw["transport"] == TransportKind.EMBEDDED.value:
        hint = "write `transport: http` with an https base_url"
        yield ("tls",), "an embedded bank has no connection", hint
    elif urlsplit(raw["base_url"]).scheme != "https":
        yield ("tls",), "TLS needs an https base_url", "https://…"


def _signature(said: _Raw) -> Iterator[Finding]:
    kind = SignatureKind(said["kind"])
    known = KINDS[kind]
    algorithm = said.get("algorithm", ALGORITHMS[kind])
    if algorithm not in known:
        hint = f"known: {', '.join(sorted(known))}"
        yield (
            ("signature", "algorithm"),
            f"unknown algorithm of a {kind.value} signature: {found(algorithm)}",
            hint,
        )
    covers = said.get("covers", COVERS[kind])
    derived = DERIVED[kind]
    for index, name in enumerate(covers):
        at: Pointer = ("signature", "covers", index)
        other, meant = OTHER[kind]
        if name[0] in "(@" and name not in derived:
            hint = did_you_mean(name, derived)
            yield at, f"a {kind.value} signature cannot cover {found(name)}", hint
        elif name == other:
            hint = f"did you mean {meant!r}?"
            yield at, f"a {kind.value} signature cannot cover {found(name)}", hint
        elif name == "(created)" and algorithm != "hs2019":
            what = f"(created) cannot be used with {algorithm}"
            yield at, what, "write `algorithm: hs2019`, or cover date"
    if not derived & set(covers) and not ALWAYS & set(covers):
        hint = f"for example {', '.join(COVERS[kind])}"
        yield ("signature", "covers"), "some calls have none of these components", hint
