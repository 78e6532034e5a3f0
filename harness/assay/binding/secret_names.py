"""Names under which secrets and personal data are sent, in members, parameters, forms and headers.

These tables are what masks by position, in journals and in the recordings of the proxy. The
manual's list is generated from them. A name is compared in lower case, without `_`, `-` and what precedes
its last part (`user.password`, `a[password]`); `*` stands for anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import translate
from functools import lru_cache
from urllib.parse import unquote_plus

__all__ = [
    "COOKIE_HEADERS",
    "NOT_SECRET",
    "ORDINARY_CODE",
    "PERSONAL_NAMES",
    "PERSONAL_WORD",
    "SECRET_HEADERS",
    "SECRET_NAMES",
    "secret_header",
    "secret_kind",
]

#: The names of a secret by its kind, which is the word of its pseudonym: `<token-1>`.
SECRET_NAMES: Mapping[str, tuple[str, ...]] = {
    "token": ("*token", "idtokenhint", "*assertion", "*jwt", "bearer"),
    "secret": ("*secret", "codeverifier", "privatekey", "*apikey", "subscriptionkey"),
    "password": ("*passw*", "passphrase", "pwd", "pin", "pincode", "psupin", "userpin", "newpin"),
    "code": (
        *("code", "authcode", "authorizationcode", "devicecode", "usercode", "smscode"),
        *("verificationcode", "confirmationcode", "*otp", "otpcode", "tan", "smstan", "mtan"),
        *("phototan", "scaauthenticationdata", "*authenticationfactor"),
    ),
    "session": ("session", "sessionid", "*sessionid", "*sessid", "sid", "cookie", "setcookie"),
    "credentials": ("authorization", "credentials", "*credential"),
}
#: Names like these that are no secrets: they name the pages of a list.
NOT_SECRET = ("*pagetoken", "nexttoken", "continuationtoken")
#: Parts of the names of members whose text is about a person, and whole names: masked in journals.
PERSONAL_NAMES = (
    *("name", "identity", "holder", "owner", "label", "remittance", "description", "address"),
    *("phone", "mail", "birth", "psu"),
)
PERSONAL_WORD = "details"
#: The names of headers with a secret; cookies are masked each, and of `Authorization` the scheme
#: stays.
SECRET_HEADERS = (
    *("*api-key", "*apikey", "*secret*", "*token*", "*passw*", "*session*", "*cookie*"),
    *("*authorization", "x-auth*", "auth", "auth-*", "dpop", "*subscription-key", "*credential*"),
    *("*jwt*", "*assertion*", "*otp", "*-pin", "assay-control-key"),
)
COOKIE_HEADERS = frozenset({"cookie", "cookie2", "set-cookie", "set-cookie2"})
#: What the member `code` of a JSON answer usually is: the word or the short number of an error.
ORDINARY_CODE = re.compile(r"[A-Za-z]+(?:[ _.-][A-Za-z]+)*|\d{1,4}")

_PART = re.compile(r"[^.\[\]:/]+")


def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns)))


_KINDS = {kind: _any_of(names) for kind, names in SECRET_NAMES.items()}
_NOT_SECRET, _HEADERS = _any_of(NOT_SECRET), _any_of(SECRET_HEADERS)


@lru_cache(4096)
def secret_kind(name: str) -> str | None:
    """Return the kind of secret that a member or a parameter holds, None if it is no secret."""
    parts = _PART.findall(unquote_plus(name[:512], errors="replace"))
    if not parts:
        return None
    word = parts[-1].strip().lower().replace("_", "").replace("-", "")
    if _NOT_SECRET.match(word):
        return None
    return next((kind for kind, pattern in _KINDS.items() if pattern.match(word)), None)


@lru_cache(1024)
def secret_header(name: str) -> bool:
    """Whether a header, named in lower case, holds a secret."""
    return _HEADERS.match(name) is not None
