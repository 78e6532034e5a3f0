"""Exchanges with one secret each, at every place where clients and banks put secrets."""

from base64 import b64encode
from dataclasses import dataclass, field

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
