"""Names under which secrets and personal data are sent, in members, parameters, forms and headers.

These tables are what masks by position, in journals and in the recordings of the proxy. The
manual's list is generated from them. A name is compared in lower case, without accents, `_`, `-`, spaces
and what precedes its last part (`user.password`, `a[password]`); `*` stands for anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import translate
from functools import lru_cache
from unicodedata import combining, normalize
from urllib.parse import unquote_plus

__all__ = [
    "COOKIE_HEADERS",
    "ERROR_CODE",
    "NOT_SECRET",
    "ORDINARY_CODE",
    "PERHAPS_SECRET",
    "PERSONAL_NAMES",
    "PERSONAL_WORD",
    "SECRET_HEADERS",
    "SECRET_NAMES",
    "kind_of_value",
    "secret_header",
    "secret_kind",
]

#: The names of a secret by its kind, which is the word of its pseudonym: `<token-1>`. Languages are
#: those of the banks of Europe.
SECRET_NAMES: Mapping[str, tuple[str, ...]] = {
    "token": ("*token", "idtokenhint", "*assertion", "*jwt", "bearer", "samlresponse", "ticket"),
    "secret": (
        *("*secret", "codeverifier", "*apikey", "subscriptionkey", "*privatekey", "*secretkey"),
        *("*accesskey", "*encryptionkey", "*signingkey", "*symmetrickey", "*masterkey", "passkey"),
        *("*sessionkey", "*sharedkey", "*hmackey", "*authkey", "*clientkey", "*licensekey"),
        *("*recoveryphrase", "*mnemonic", "geheim*", "*secreto", "*segreto", "*segreta"),
    ),
    "password": (
        *("*passw*", "*passphrase", "*pwd", "pass", "*pin", "pincode", "*puk", "kennwort*"),
        *(
            "losung*",
            "motdepasse*",
            "mdp",
            "clave",
            "claveacceso",
            "clavede*",
            "contrasen*",
            "parolachiave",
            "parola",
        ),
        *("senha*", "palavrapasse", "wachtwoord*", "haslo*", "has\u0142o*", "heslo*", "jelszo*"),
        *("losenord*", "passord*", "adgangskode*", "salasana*", "parool*", "geslo*", "lozinka*"),
        *(
            "slaptazodis*",
            "sifre*",
            "\u043f\u0430\u0440\u043e\u043b*",
            "\u03ba\u03c9\u03b4\u03b9\u03ba*",
        ),
        *("memorableword", "?*answer", "?*antwort", "?*reponse", "?*respuesta", "?*risposta"),
        *("cvv*", "cvc*", "*cvv", "*cvc", "*securitynumber"),
    ),
    "code": (
        *("code", "*authcode", "authorizationcode", "authorisationcode", "devicecode", "usercode"),
        *(
            "*smscode",
            "*verificationcode",
            "*confirmationcode",
            "*otp",
            "*otpcode",
            "*tan",
            "*tans",
        ),
        *("*scacode", "*passcode", "*securitycode", "*accesscode", "*secretcode", "*pincode"),
        *("*activationcode", "*recoverycode", "*backupcode", "*resetcode", "*logincode"),
        *("*authenticationcode", "*signingcode", "*challengeresponse", "onetime*code", "*mfacode"),
        *("scaauthenticationdata", "*authenticationfactor", "codesms"),
        *("codeconfidentiel", "codiceotp", "codicedispositivo", "codigoacceso"),
        *("codigoacesso", "codigosms", "toegangscode", "beveiligingscode", "kodsms"),
        *("kodautoryzacyjny", "kodjednorazowy", "sicherheitscode", "freigabecode"),
    ),
    "session": ("session", "sessionid", "*sessionid", "*sessid", "sid", "cookie", "setcookie"),
    "credentials": ("authorization", "credentials", "*credential"),
}
#: Names that hold a secret if their value is neither a word nor a short number.
PERHAPS_SECRET = ("*code", "*kode", "*kod", "*codice", "*codigo")
#: Names like these that are no secrets: they name the pages of a list, or are words of banking.
NOT_SECRET = (
    *("*pagetoken", "nexttoken", "continuationtoken", "zipcode", "post*code", "sortcode"),
    *("bank*code", "branchcode", "*country*code", "*currency*code", "*purpose*code"),
    *("*statuscode", "*errorcode", "*reasoncode", "*resultcode", "*responsecode", "*typecode"),
    *("*languagecode", "*categorycode", "*transactioncode", "*domaincode", "*familycode"),
    *("*biccode", "*swiftcode", "*isocode", "*clearing*code", "*schemecode", "*servicelevelcode"),
    *("*instrumentcode", "*product*code", "*region*code", "*areacode", "*unitcode", "barcode"),
)
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
    *("*jwt*", "*assertion*", "*otp", "*-pin", "*-tan", "assay-control-key"),
)
COOKIE_HEADERS = frozenset({"cookie", "cookie2", "set-cookie", "set-cookie2"})
#: What a code is that is no secret: a word, or a short number.
ORDINARY_CODE = re.compile(r"[A-Za-z]+(?:[ _.-][A-Za-z]+)*|\d{1,4}")
#: What the member `code` of a JSON answer usually is: that, or the code of an error (`AC01`, `ERR-1002`).
ERROR_CODE = re.compile(rf"{ORDINARY_CODE.pattern}|[A-Za-z]{{2,}}[_.-]?\d{{1,4}}")

_PART = re.compile(r"[^.\[\]:/]+")
_JOINING = str.maketrans("", "", "_- ")


def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns)))


_KINDS = {kind: _any_of(names) for kind, names in SECRET_NAMES.items()}
_PERHAPS, _NOT_SECRET = _any_of(PERHAPS_SECRET), _any_of(NOT_SECRET)
_HEADERS = _any_of(SECRET_HEADERS)


@lru_cache(4096)
def _word(name: str) -> str:
    """Return what is compared of a name: its last part, without accents and what joins words."""
    parts = _PART.findall(unquote_plus(name[:512], errors="replace"))
    plain = normalize("NFKD", parts[-1].strip().casefold()) if parts else ""
    return "".join(sign for sign in plain if not combining(sign)).translate(_JOINING)


@lru_cache(4096)
def secret_kind(name: str) -> str | None:
    """Return the kind of secret that a member or a parameter holds, None if it is no secret."""
    word = _word(name)
    if not word or _NOT_SECRET.match(word):
        return None
    return next((kind for kind, pattern in _KINDS.items() if pattern.match(word)), None)


def kind_of_value(name: str, value: str) -> str | None:
    """Return the kind of secret that a value is, by its name and, where that is unsure, by itself."""
    word = _word(name)
    unsure = _PERHAPS.match(word) and not _NOT_SECRET.match(word)
    perhaps = "code" if unsure and not ORDINARY_CODE.fullmatch(value) else None
    return secret_kind(name) or perhaps


@lru_cache(1024)
def secret_header(name: str) -> bool:
    """Whether a header, named in lower case, holds a secret."""
    own = name.removeprefix("x-")
    return _HEADERS.match(name) is not None or secret_kind(own) is not None
