"""Exchanges with one secret each, at every place where clients and banks put secrets."""

import json
from base64 import b64encode, urlsafe_b64encode
from dataclasses import dataclass, field
from functools import partial
from html import escape
from quopri import encodestring
from random import Random
from urllib.parse import quote

#: Stands for the secret; a number is needed where digits stand for themselves.
SECRET, NUMBER = "S3cr3t-9fQz.7Lm", "840123"
JSON, FORM = "application/json", "application/x-www-form-urlencoded"


@dataclass(frozen=True, kw_only=True)
class Place:
    """One exchange: what the client sends, and what the bank answers.

    `opaque` says that the proxy withholds the body, unless it keeps all bodies.
    """

    path: str = "/x"
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = JSON
    body: bytes = b""
    answer_headers: tuple[tuple[str, str], ...] = ()
    answer_kind: str = JSON
    answer: bytes = b"{}"
    secret: str = SECRET
    opaque: bool = False


def _sent(text: str, kind: str = JSON, **more) -> Place:
    return Place(body=text.replace("@", SECRET).encode(), kind=kind, **more)


def _answered(text: str, kind: str = JSON, **more) -> Place:
    return Place(answer=text.replace("@", SECRET).encode(), answer_kind=kind, **more)


_PART = (
    '--b\r\nContent-Disposition: form-data; name="{}"\r\n\r\n@\r\n'
    '--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n1\r\n--b--\r\n'
)
#: Every place by its name.
PLACES_OF_SECRETS = {
    "number": Place(body=b'{"otp":840123,"x":[840123]}', secret=NUMBER),
    "short number": Place(body=b'{"x":1,"pin":73915}', secret="73915"),
    "list": _sent('{"password":["@","@"]}'),
    "object": _sent('{"password":{"value":"@"}}'),
    "nested list": _sent('{"secret":[["@"],{"a":["@"]}]}'),
    "accessToken": _answered('{"accessToken":"@"}'),
    "refreshToken": _answered('{"refreshToken":"@"}'),
    "token": _answered('{"data":{"token":"@"}}'),
    "secret": _answered('{"secret":"@"}'),
    "scaAuthenticationData": _sent('{"scaAuthenticationData":"@"}'),
    "encryptedPassword": _sent('{"psuData":{"encryptedPassword":"@"}}'),
    "code in a request": _sent('{"code":"@"}'),
    "code in an answer": _answered('{"code":"@"}'),
    "escaped name": _sent('{"pass\\u0077ord":"@"}'),
    "JSON in JSON": _answered('{"raw":"{\\"access_token\\":\\"@\\"}"}'),
    "JSON as text/plain": _answered('{"id_token":"@"}', "text/plain"),
    "link in JSON": _answered('{"href":"https://bank.example/a?token=@&x=1"}'),
    "echoed bearer": _answered(
        '{"message":"no: Bearer @"}', headers={"Authorization": f"Bearer {SECRET}"}
    ),
    "echoed bearer in base64": Place(
        headers={"Authorization": f"Bearer {SECRET}"},
        answer=b'{"t":"' + b64encode(f"Bearer {SECRET}".encode()) + b'"}',
    ),
    "echoed number": Place(body=b'{"otp":"840123"}', answer=b'{"got":840123}', secret=NUMBER),
    "Basic password": _answered(
        '{"message":"no: @"}',
        headers={"Authorization": "Basic " + b64encode(f"tpp:{SECRET}".encode()).decode()},
    ),
    "UTF-16": Place(answer=f'{{"access_token":"{SECRET}"}}'.encode("utf-16-le")),
    "not UTF-8": Place(
        answer=b'{"n":"\xe9","access_token":"' + SECRET.encode() + b'"}', opaque=True
    ),
    **{
        name: Place(headers={name: SECRET})
        for name in (
            *("Proxy-Authorization", "X-Auth", "X-Session", "DPoP", "X-API-Key"),
            *("Ocp-Apim-Subscription-Key", "X-Session-Token", "Cookie"),
        )
    },
    "Set-Cookie2": Place(answer_headers=(("Set-Cookie2", f"sid={SECRET}; Version=1"),)),
    "Set-Cookie": Place(answer_headers=(("Set-Cookie", f"sid={SECRET}; Path=/"),)),
    "Refresh": Place(answer_headers=(("Refresh", f"5; url=https://b.example/?token={SECRET}"),)),
    "Location": Place(answer_headers=(("Location", f"https://b.example/#id_token={SECRET}"),)),
    "multipart": _sent(_PART.format("password"), "multipart/form-data; boundary=b", opaque=True),
    "text": _answered("your token: @", "text/plain", opaque=True),
    "XML": _answered("<a><ns:password>@</ns:password></a>", "application/xml", opaque=True),
    "XML attribute": _answered('<a token="@"/>', "text/xml", opaque=True),
    "hidden field": _answered(
        '<form><input type="hidden" name="state" value="@"></form>', "text/html", opaque=True
    ),
    "script": _answered("<script>var token = '@';</script>", "text/html", opaque=True),
    **{
        f"{name}= in the URL": Place(path=f"/x?a=1&{name}={SECRET}&b=2")
        for name in ("token", "session", "id_token_hint", "access_token", "code")
    },
    "path parameter": Place(path=f"/x;jsessionid={SECRET}?a=1"),
    "user of a URL": Place(answer=f'{{"href":"https://user:{SECRET}@b.example/a"}}'.encode()),
    **{
        f"{name}= in a form": _sent(f"x=1&{name}=@", FORM)
        for name in (
            *("assertion", "client_assertion", "device_code", "refreshToken", "a[password]"),
            *("user.password", "pass%77ord", "client_secret", "code_verifier"),
        )
    },
}


# -- made by a seed: names, positions and encodings --------------------------------------
#: Names that tell a secret, as banks and clients of several countries spell them.
NAMES = (
    *("scaCode", "passcode", "pushTan", "securityCode", "X-TAN", "kennwort", "motDePasse", "clave"),
    *("password", "pass_word", "userPwd", "accessToken", "client-secret", "otp", "smsOtp", "PIN"),
    *("onlinePin", "chipTAN", "securityAnswer", "contraseña", "parolaSegreta", "wachtwoord"),
    *("senha", "hasło", "heslo", "lösenord", "adgangskode", "Passwort", "freigabeCode", "puk"),
    *("verificationCode", "accessCode", "codice_otp", "codigoAcceso", "cvv2", "private_key"),
    *("hmacKey", "signingKey", "activationCode", "mfaCode", "authorisationCode", "sessionId"),
    *("refresh_token", "apiKey", "passphrase", "memorableWord", "recoveryPhrase", "loginCode"),
    *("unblockCode", "kodSms", "heimlicherCode"),
)


def made_secret(random: Random) -> str:
    """Return a secret: random letters and digits, a number, or with signs that are escaped."""
    letters = "".join(
        random.choices("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789", k=14)
    )
    number = "".join(random.choices("123456789", k=10))
    return random.choice([f"{letters}7x", number, f"{letters[:6]}+/{letters[6:]}9="])


def spelt(secret: str) -> dict[str, str]:
    """Return a secret as it is, and in every encoding."""
    data = secret.encode()
    packed = {
        f"base64 from {skip}": b64encode(b"x" * skip + data)[skip + (skip > 0) :].decode()[:-4]
        for skip in range(3)
    }
    entities = "".join(f"&#{ord(sign)};" for sign in secret)
    return {
        "plain": secret,
        "percent": quote(secret, safe=""),
        "every percent": "".join(f"%{byte:02X}" for byte in data),
        **packed,
        **{
            f"{name} for URLs": text.translate(str.maketrans("+/", "-_"))
            for name, text in packed.items()
        },
        "hexadecimal": data.hex(),
        "JSON": "".join(f"\\u{ord(sign):04x}" for sign in secret),
        "HTML": entities,
        "quoted-printable": secret.replace("=", "=3D"),
    }


def url_safe(text: str) -> str:
    """Return a text in base64 for URLs, as in claims."""
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


#: How a text is encoded once more: the name of an encoding, and the encoded text.
ENCODINGS = {
    "plain": str,
    "percent": lambda text: quote(text, safe=""),
    "base64": lambda text: b64encode(text.encode()).decode(),
    "base64url": url_safe,
    "hexadecimal": lambda text: text.encode().hex(),
    "HTML": escape,
    "JSON in JSON": lambda text: json.dumps(text)[1:-1],
    "quoted-printable": lambda text: (
        encodestring(text.encode()).decode().replace("=\n", "").strip()
    ),
}
#: What has a secret: with a name, or without one.
WITH_NAME = {
    "member": lambda name, secret: json.dumps({"a": 1, name: secret}),
    "member in a list": lambda name, secret: json.dumps([{"x": {name: [secret, secret]}}]),
    "pair": lambda name, secret: json.dumps({"name": name, "value": secret}),
    "pair in turn": lambda name, secret: json.dumps({"fields": [{"value": secret, "key": name}]}),
    "two in a list": lambda name, secret: json.dumps({"headers": [[name, secret]]}),
    "form": lambda name, secret: f"a=1&{quote(name)}={quote(secret, safe='')}&b=2",
    "pair in a form": lambda name, secret: f"name={quote(name)}&value={quote(secret, safe='')}",
}
WITHOUT = {
    "Bearer in a text": lambda secret: f"curl -H 'Authorization: Bearer {secret}' failed",
    "PEM": lambda secret: (
        f"-----BEGIN RSA PRIVATE KEY-----\n{secret}\n-----END RSA PRIVATE KEY-----"
    ),
    "user of a URL": lambda secret: f"see https://tpp:{quote(secret, safe='')}@bank.example/x",
    "user without a scheme": lambda secret: f"proxy is tpp:{quote(secret, safe='')}@proxy.example",
    "link": lambda secret: f"https://bank.example/reset/{quote(secret, safe='')}",
    "link to a password": lambda secret: f"/app/reset-password/{quote(secret, safe='')}?lang=de",
    "JWK": lambda secret: json.dumps({"kty": "oct", "kid": "1", "k": secret}),
    "JWT": lambda secret: (
        f"eyJhbGciOiJIUzI1NiJ9.{url_safe(json.dumps({'jti': secret}))}.{url_safe(secret)}"
    ),
}


def generated(random: Random) -> tuple[str, str, Place]:
    """Return a name for an exchange with one secret, the secret, and the exchange."""
    secret, name = made_secret(random), random.choice(NAMES)
    kinds = {**{key: partial(make, name) for key, make in WITH_NAME.items()}, **WITHOUT}
    kind, encoding = random.choice([*kinds]), random.choice([*ENCODINGS])
    plain = kinds[kind](secret)
    text = ENCODINGS[encoding](plain)
    is_json, is_form = (
        encoding == "plain" and plain[0] in "{[",
        encoding == "plain" and "form" in kind,
    )
    header = text if text.isascii() and text.isprintable() else quote(text)
    places = {
        "query": Place(path=f"/x?a=1&d={quote(text, safe='')}"),
        "form field": Place(kind=FORM, body=f"d={quote(text, safe='')}&x=1".encode()),
        "member of a request": Place(body=json.dumps({"d": text, "x": 1}).encode()),
        "member of an answer": Place(answer=json.dumps({"items": [{"d": text}]}).encode()),
        "header": Place(headers={"X-Data": header}),
        "header of an answer": Place(answer_headers=(("X-Data", header),)),
        "Location": Place(
            answer_headers=(("Location", f"https://b.example/?d={quote(text, safe='')}"),)
        ),
    }
    if is_json:
        places["body"] = Place(body=text.encode())
        places["body of an answer"] = Place(answer=text.encode())
    if is_form:
        places["whole form"] = Place(kind=FORM, body=text.encode())
        places["whole query"] = Place(path=f"/x?{text}")
    if kind in WITH_NAME and encoding == "plain":
        places["header of its own"] = Place(headers={quote(name): secret})
        places["cookie"] = Place(headers={"Cookie": f"{quote(name)}={quote(secret)}; a=1"})
    place = random.choice([*places])
    return f"{name}, {kind}, {encoding}, {place}", secret, places[place]
