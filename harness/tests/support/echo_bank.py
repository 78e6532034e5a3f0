"""A sandbox that repeats every secret it hears or hands out, everywhere and in every encoding.

It stands before the sandbox as a WSGI application. What it planted is remembered character by
character, so that files can be searched for it without knowing anything of how they are masked.
"""

import html
import json
import re
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from urllib.parse import parse_qsl

#: What may stand before a secret inside of base64 or digits: it moves the secret's position there.
BEFORE = ("", "Bearer ", "x ", "id:", "a=b&")


def _raw(secret: str, n: int) -> bytes:
    return (BEFORE[n % len(BEFORE)] + secret).encode()


#: The encodings of a secret; `n` varies what an encoding leaves open.
ENCODINGS = {
    "plain": lambda secret, _: secret,
    "base64": lambda secret, n: b64encode(_raw(secret, n)).decode(),
    "base64url": lambda secret, n: urlsafe_b64encode(_raw(secret, n)).decode().rstrip("="),
    "percent": lambda secret, n: "".join(
        f"%{byte:02x}" if n % 2 else f"%{byte:02X}" for byte in secret.encode()
    ),
    "entity": lambda secret, n: "".join(
        f"&#x{ord(char):x};" if n % 2 else f"&#{ord(char)};" for char in secret
    ),
    "json": lambda secret, _: "".join(f"\\u{ord(char):04x}" for char in secret),
    "hex": lambda secret, n: _raw(secret, n).hex().upper() if n % 2 else _raw(secret, n).hex(),
}
#: The members of a JSON answer in which a secret is repeated, made from its encoded form.
MEMBERS = {
    "member": lambda form: {"trace": form},
    "name of a member": lambda form: {form: 1},
    "list": lambda form: {"errors": [{"detail": ["x", form]}]},
    "sentence": lambda form: {"text": f"sorry, {form}. Try again"},
    "path of a link": lambda form: {"href": f"https://bank.example/a/{form}/b"},
    "query of a link": lambda form: {"more": f"https://bank.example/a?ref={form}&x=1"},
    "JSON in a text": lambda form: {"body": json.dumps({"inner": form})},
    "header in a text": lambda form: {"sent": f"Authorization: Bearer {form}\r\nX-A: b"},
    "pair": lambda form: {"pair": f"user:{form}"},
}
#: The headers in which a secret is repeated.
HEADERS = {
    "X-Request-Id": "{}",
    "Server": "bank ({})",
    "X-Debug": "{}",
    "Location": "/elsewhere/{}?a=b",
    "Link": '<https://bank.example/x?y={}>; rel="up"',
    "Set-Cookie": "trace={}; Path=/",
    "WWW-Authenticate": 'Bearer error="{}"',
    "Vary": "{}",
    "Cache-Control": 'private="{}"',
}
#: Further places: whole bodies, the status line, screens, and the control API.
FURTHER = ("status line", "HTML body", "text body", "screen", "control answer", "control message")
#: How many characters of a form are looked up at once.
KEY = 6
PLACES = (*MEMBERS, *HEADERS, *FURTHER)


@dataclass(kw_only=True)
class EchoBank:
    """The application; `secrets` are those heard so far, `planted` their forms, each with its place."""

    app: object
    #: One in so many answers is replaced by another body.
    replaced: int = 9
    #: Whether the control API is heard, too; a recording does not have it.
    hear_control: bool = True
    secrets: dict[str, str] = field(default_factory=dict)
    planted: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    _turn: Iterator[int] = field(default_factory=count)
    _answers: Iterator[int] = field(default_factory=count)

    def __call__(self, environ, start_response):
        """Answer as the bank does, and repeat what was heard."""
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = _Body(body)
        self._hear_request(environ, body)
        started = []
        parts = self.app(environ, lambda status, headers, *_: started.append((status, headers)))
        content = b"".join(parts)
        (status, headers) = started[-1]
        path = environ["PATH_INFO"]
        plain = content
        if path.startswith("/assay-control/"):
            if self.hear_control:
                status, content = self._control(environ, status, content)
        elif content.lstrip().startswith(b"<"):
            content = content.replace(b"</form>", f"<p>{self.form('screen')}</p></form>".encode())
        else:
            status, headers, content = self._answer(status, headers, content)
        if status[:3] not in {"409", "503"}:  # others were not delivered
            self._hear_answer(path, plain)
        kept = [pair for pair in headers if pair[0].lower() != "content-length"]
        start_response(status, [*kept, ("Content-Length", str(len(content)))])
        return [content]

    def hear(self, value, kind) -> None:
        """Remember a secret."""
        if isinstance(value, str) and len(value) >= 4:
            self.secrets.setdefault(value, kind)

    def _hear_request(self, environ, body: bytes) -> None:
        scheme, _, value = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
        self.hear(value, scheme.lower())
        if scheme == "Basic":
            self.hear(b64decode(value).decode().partition(":")[2], "client secret")
        self.hear(environ.get("HTTP_ASSAY_CONTROL_KEY"), "control key")
        if "form-urlencoded" in environ.get("CONTENT_TYPE", ""):
            for name, value in parse_qsl(body.decode("latin-1")):
                wrong = value in {"000000", "111111"}  # typed on purpose: no secret
                if (
                    name in {"client_secret", "refresh_token", "code", "code_verifier"}
                    and not wrong
                ):
                    self.hear(value, name)

    def _hear_answer(self, path: str, content: bytes) -> None:
        try:
            answer = json.loads(content)
        except ValueError:
            return
        if not isinstance(answer, dict):
            return
        for name in ("access_token", "refresh_token"):
            self.hear(answer.get(name), name)
        if path.startswith("/assay-control/") and self.hear_control:
            for name in ("token", "login", "password", "name", "client_secret"):
                self.hear(answer.get(name), name)
            for factor, code in (answer.get("factors") or {}).items():
                self.hear(code, f"code {factor}")
            for holding in answer.get("holdings") or ():
                self.hear(holding["key"], holding["resource"])

    def form(self, place: str, *, ascii_only: bool = False) -> str:
        """Plant the next secret at a place: return it in the next encoding."""
        turn = next(self._turn)
        recent = [*self.secrets][-9:] + [*self.secrets][:3] + [*self.secrets][-60:-50]
        if not recent:
            return "-"
        secret = recent[turn % len(recent)]
        name = [*ENCODINGS][turn % len(ENCODINGS)]
        form = ENCODINGS[name](secret, turn // len(ENCODINGS))
        if ascii_only and not (form.isascii() and form.isprintable()):
            form = ENCODINGS["percent"](secret, 0)
        self.planted[form] = (self.secrets[secret], name, place)
        return form

    def _answer(self, status, headers, content):
        n = next(self._answers)
        name = [*HEADERS][n % len(HEADERS)]
        added = [(name, HEADERS[name].format(self.form(name, ascii_only=True)))]
        if name == "Vary":
            status = f"{status[:3]} {self.form('status line', ascii_only=True)}"
        if n % self.replaced == self.replaced - 1:
            kind = ("HTML", "text")[n // self.replaced % 2]
            form = self.form(f"{kind} body")
            text = f"<html><body>{form}</body></html>" if kind == "HTML" else f"no: {form}"
            kept = [pair for pair in headers if pair[0].lower() != "content-type"]
            return "503 X", [*kept, ("Content-Type", f"text/{kind.lower()}"), *added], text.encode()
        if content[:1] == b"{" and content[-1:] == b"}":
            content = content[:-1] + (b"," if len(content) > 2 else b"") + self._members() + b"}"
        return status, [*headers, *added], content

    def _members(self) -> bytes:
        """Return members in JSON in which secrets are repeated; escapes stand as they are."""
        parts = []
        for place, made in MEMBERS.items():
            marked = json.dumps(made("@@"), ensure_ascii=False)[1:-1]
            form = self.form(place)
            escaped = form if "\\u" in form else json.dumps(form, ensure_ascii=False)[1:-1]
            parts.append(marked.replace("@@", escaped))
        return ",".join(parts).encode()

    def _control(self, environ, status, content):
        """Repeat secrets in the control API, and sometimes refuse a customer by name."""
        if environ["REQUEST_METHOD"] == "POST" and content[:1] == b"{":
            n = next(self._answers)
            if environ["PATH_INFO"].endswith("/customers") and n % 23 == 22:
                said = f"Jeanne Planted has {self.form('control message')} already"
                self.planted["Jeanne Planted"] = ("name", "plain", "control message")
                return "409 Conflict", json.dumps({"message": said}).encode()
            answer = {**json.loads(content), "note": self.form("control answer")}
            return status, json.dumps(answer).encode()
        return status, content


@dataclass
class _Body:
    """The body of a request, which was read already."""

    content: bytes

    def read(self, size: int = -1) -> bytes:
        """Return the next part of it."""
        size = len(self.content) if size < 0 else size
        part, self.content = self.content[:size], self.content[size:]
        return part


def leaks(bank: EchoBank, texts: Iterable[tuple[str, str]]) -> list[tuple[str, str, tuple]]:
    """List what was planted, or is a secret, and stands in a text all the same."""
    sought = {secret: (kind, "plain", "anywhere") for secret, kind in bank.secrets.items()}
    sought = {**bank.planted, **sought}
    by_start: dict[str, list[str]] = {}
    for form in sought:
        by_start.setdefault(form[:KEY], []).append(form)
    return [
        (name, form, sought[form])
        for name, text in texts
        for form in sorted(_forms_in(text, by_start))
        if not form.isdigit() or _alone(form, text)
    ]


def _forms_in(text: str, by_start: dict[str, list[str]]) -> set[str]:
    """Return the forms that stand in a text; one pass over it serves all of them."""
    found = {form for start, forms in by_start.items() for form in forms if len(start) < KEY}
    found = {form for form in found if form in text}
    for place in range(len(text)):
        forms = by_start.get(text[place : place + KEY])
        if forms:
            found.update(form for form in forms if text.startswith(form, place))
    return found


def _alone(number: str, text: str) -> bool:
    """Whether a number stands in a text by itself, and not inside of an id or a digest."""
    return re.search(rf"(?<![0-9A-Za-z]){number}(?![0-9A-Za-z])", text) is not None


def readings(name: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield a text as it is, and with one or two levels of escapes undone."""
    once = text.replace("\\\\", "\\").replace("\\/", "/")
    twice = once.replace("\\\\", "\\")
    yield name, text
    for number, other in enumerate({once, twice, html.unescape(text)} - {text}):
        yield f"{name} ({number})", other
