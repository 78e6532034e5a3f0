"""The TLS connection to a target: trusted authorities, client certificate, error messages.

TLS has many error codes for a refusal. Each is mapped to the key of the target file
that decides it, with its line: an authority, a name, the client certificate.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from assay.binding.target import Target
from assay.errors import InputError, Problem
from assay.transport.auth.diagnostics import problem

__all__ = ["Explain", "explainer", "tls_context"]

#: Returns the problem of the target file that explains a connection error; None if there
#: is none.
Explain: TypeAlias = Callable[[BaseException], Problem | None]

#: OpenSSL's numbers of verification errors.
EXPIRED, NOT_YET_VALID = 10, 9
UNTRUSTED = frozenset({2, 18, 19, 20, 21})
WRONG_NAME = frozenset({62, 63, 64})

#: OpenSSL's names of a peer's errors about our certificate, and their meaning.
ALERTS: Mapping[str, tuple[str, str]] = {
    "CERTIFICATE_EXPIRED": ("the target says that our certificate has expired", ""),
    "CERTIFICATE_REVOKED": ("the target says that our certificate was revoked", ""),
    "UNKNOWN_CA": (
        "the target does not know who issued our certificate",
        "check that it is for this environment, and that the file contains the whole chain",
    ),
    "BAD_CERTIFICATE": ("the target rejects our certificate", ""),
    "UNSUPPORTED_CERTIFICATE": (
        "the target rejects this type of certificate",
        "check that it is a certificate for TLS (QWAC), not one for signatures (QSEAL)",
    ),
    "CERTIFICATE_UNKNOWN": ("the target rejects our certificate", ""),
    "ACCESS_DENIED": ("the target recognises our certificate, but denies access with it", ""),
    "DECRYPT_ERROR": ("the target rejects our certificate's key", ""),
}
#: Errors of a target that requires a certificate, or another kind of connection.
REQUIRED = ("CERTIFICATE_REQUIRED", "HANDSHAKE_FAILURE")


def tls_context(
    target: Target, secrets: Mapping[str, str], urls: Iterable[str]
) -> ssl.SSLContext | None:
    """Return the TLS context of connections to these URLs; None for the usual one.

    Raises:
        InputError: the files cannot be used together.

    """
    settings = target.tls
    if settings is None:
        encrypted = any(not url.lower().startswith("http:") for url in urls)
        # One that trusts no authority: to read the certificates of all of them takes a while.
        return None if encrypted else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        if settings.ca_file is not None:
            context = ssl.create_default_context(cafile=settings.ca_file)
        else:
            import httpx  # noqa: PLC0415 -- the default authorities

            context = httpx.create_ssl_context(trust_env=False)
            context.load_default_certs()
        if settings.certificate_file is not None:
            # A password must be given: without one, OpenSSL asks on the terminal.
            password = secrets[settings.key_password_env] if settings.key_password_env else ""
            context.load_cert_chain(settings.certificate_file, settings.key_file, password)
    except (OSError, ValueError):
        what = "the files cannot be used together"
        raise InputError([problem(target, "tls", what=what)]) from None
    return context


def explainer(target: Target) -> Explain:
    """Return a function that explains a connection error by a line of this target file."""

    def explain(error: BaseException) -> Problem | None:
        for cause in _chain(error):
            if isinstance(cause, ssl.SSLCertVerificationError):
                return _untrusted(target, cause)
            if isinstance(cause, ssl.SSLError):
                return _refused(target, cause.reason or "")
        return None

    return explain


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its causes."""
    for _ in range(10):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def _untrusted(target: Target, error: ssl.SSLCertVerificationError) -> Problem:
    """Say why the target's certificate is not trusted."""
    code = error.verify_code
    if code in WRONG_NAME:
        what = "the target's certificate is for another name"
        return problem(target, "base_url", what=what, hint="check which host it is for")
    if code == EXPIRED:
        return problem(target, "base_url", what="the target's certificate has expired")
    if code == NOT_YET_VALID:
        what = "the target's certificate is not valid yet"
        return problem(target, "base_url", what=what, hint="check the clock of this machine")
    at = ("tls", "ca_file") if target.tls and target.tls.ca_file else ("base_url",)
    if code in UNTRUSTED:
        what = "the target's certificate comes from an authority that is not trusted"
        hint = "set tls.ca_file to the certificate of the authority"
        return problem(target, *at, what=what, hint=hint)
    return problem(target, *at, what=f"the target's certificate is not valid (OpenSSL: {code})")


def _refused(target: Target, reason: str) -> Problem:
    """Say why there was no TLS connection."""
    own = target.tls is not None and target.tls.certificate_file is not None
    at = ("tls", "certificate_file") if own else ("tls",) if target.tls else ("base_url",)
    if own:
        for alert, (what, hint) in ALERTS.items():
            if reason.endswith(f"ALERT_{alert}"):
                return problem(target, *at, what=what, hint=hint)
    if reason.endswith(REQUIRED):
        hint = (
            "check that it accepts this certificate, and TLS 1.2 or 1.3"
            if own
            else "it may require a client certificate: set tls.certificate_file"
        )
        return problem(target, *at, what="the target refuses the connection", hint=hint)
    if reason in {"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"}:
        what = "the target does not speak TLS on this port"
        return problem(target, "base_url", what=what, hint="use http instead of https?")
    what = f"no TLS connection (OpenSSL: {reason[:60] or 'no reason'})"
    return problem(target, "base_url", what=what)
