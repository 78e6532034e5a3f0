"""The connection to a target: whom we trust, as whom we come, and why it came to nothing.

TLS has many words for a refusal. Each is put down to the key of the profile that decides
it, with its line: an authority, a name, our own certificate.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from assay.binding.target import Target
from assay.errors import InputError, Problem
from assay.transport.auth.diagnostics import problem

__all__ = ["Explain", "context", "explainer"]

#: Says what of the profile an error of a connection is about; None if it is about nothing there.
Explain: TypeAlias = Callable[[BaseException], Problem | None]

#: How OpenSSL numbers what it finds wrong with a certificate.
EXPIRED, NOT_YET = 10, 9
UNKNOWN = frozenset({2, 18, 19, 20, 21})
MISNAMED = frozenset({62, 63, 64})

#: What a target may say of our certificate, as OpenSSL spells it, and what that means.
ALERTS: Mapping[str, tuple[str, str]] = {
    "CERTIFICATE_EXPIRED": ("the target says that our certificate has expired", ""),
    "CERTIFICATE_REVOKED": ("the target says that our certificate was revoked", ""),
    "UNKNOWN_CA": (
        "the target does not know who issued our certificate",
        "is it for this environment? does the file hold the certificates between, too?",
    ),
    "BAD_CERTIFICATE": ("the target does not take our certificate", ""),
    "UNSUPPORTED_CERTIFICATE": (
        "the target does not take certificates of this kind",
        "is it one to be recognised by (QWAC), and not one to sign with?",
    ),
    "CERTIFICATE_UNKNOWN": ("the target does not take our certificate", ""),
    "ACCESS_DENIED": ("the target knows our certificate, and lets nobody in with it", ""),
    "DECRYPT_ERROR": ("the target does not take our certificate's key", ""),
}
#: What a target says that wants a certificate, or wants another kind of connection.
WANTED = ("CERTIFICATE_REQUIRED", "HANDSHAKE_FAILURE")


def context(target: Target, secrets: Mapping[str, str]) -> ssl.SSLContext | None:
    """Return what connections are made with; None where the profile says nothing of it.

    Raises:
        InputError: the files cannot be used together.

    """
    said = target.tls
    if said is None:
        return None
    try:
        if said.ca_file is not None:
            made = ssl.create_default_context(cafile=said.ca_file)
        else:
            import httpx  # noqa: PLC0415 -- which authorities are trusted where nothing is said

            made = httpx.create_ssl_context(trust_env=False)
            made.load_default_certs()
        if said.certificate_file is not None:
            # A password must be given: with none, OpenSSL asks on the terminal.
            password = secrets[said.key_password_env] if said.key_password_env else ""
            made.load_cert_chain(said.certificate_file, said.key_file, password)
    except (OSError, ValueError):
        what = "the files cannot be used together"
        raise InputError([problem(target, "tls", what=what)]) from None
    return made


def explainer(target: Target) -> Explain:
    """Return what puts an error of a connection down to a line of this profile."""

    def explain(error: BaseException) -> Problem | None:
        for one in _chain(error):
            if isinstance(one, ssl.SSLCertVerificationError):
                return _distrusted(target, one)
            if isinstance(one, ssl.SSLError):
                return _refused(target, one.reason or "")
        return None

    return explain


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what it came of."""
    for _ in range(10):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def _distrusted(target: Target, error: ssl.SSLCertVerificationError) -> Problem:
    """Say what we have against the target's certificate."""
    code = error.verify_code
    if code in MISNAMED:
        what = "the target's certificate is for another name"
        return problem(target, "base_url", what=what, hint="which host is it for?")
    if code == EXPIRED:
        return problem(target, "base_url", what="the target's certificate has expired")
    if code == NOT_YET:
        what = "the target's certificate is not valid yet"
        return problem(target, "base_url", what=what, hint="is the clock of this machine right?")
    at = ("tls", "ca_file") if target.tls and target.tls.ca_file else ("base_url",)
    if code in UNKNOWN:
        what = "the target's certificate comes from an authority that is not trusted"
        hint = "tls.ca_file names the certificate of the authority"
        return problem(target, *at, what=what, hint=hint)
    return problem(target, *at, what=f"the target's certificate is not taken (OpenSSL: {code})")


def _refused(target: Target, reason: str) -> Problem:
    """Say what the target has against us, or how else no connection came about."""
    own = target.tls is not None and target.tls.certificate_file is not None
    at = ("tls", "certificate_file") if own else ("tls",) if target.tls else ("base_url",)
    if own:
        for word, (what, hint) in ALERTS.items():
            if reason.endswith(f"ALERT_{word}"):
                return problem(target, *at, what=what, hint=hint)
    if reason.endswith(WANTED):
        if own:
            what = "the target refuses the connection"
            hint = "does it take this certificate? does it speak TLS 1.2 or 1.3?"
        else:
            what = "the target refuses the connection"
            hint = "does it ask for a client certificate? that is tls.certificate_file"
        return problem(target, *at, what=what, hint=hint)
    if reason in {"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"}:
        what = "TLS is not spoken there"
        return problem(target, "base_url", what=what, hint="http, and not https?")
    what = f"no connection with TLS (OpenSSL: {reason[:60] or 'no reason'})"
    return problem(target, "base_url", what=what)
