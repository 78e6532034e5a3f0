"""A recording of any length: calls to the embedded bank, as HAR, in independent copies.

A number of exchanges is really made. Every copy has other tokens, account numbers and keys of
requests, and is a number of whole weeks later, so that no copy has to do with another one.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from email.utils import format_datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote
from zoneinfo import ZoneInfo

from wandering import driven

from assay.history import Exchange

Headers: TypeAlias = tuple[tuple[str, str], ...]

#: Where the bank's clock is.
ZONE = ZoneInfo("Europe/Paris")
#: The exchanges of one copy, by contract.
COPY = {"aisp": 500, "pis": 500}
WORD = re.compile(r"\d{4}-\d\d-\d\d(?=[T\"&])|[A-Za-z0-9_-]{8,}")
DAY = re.compile(r"\d{4}-\d\d-\d\d")
IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")
#: What a certificate is made of here.
CERTIFICATE = sha256(b"certificate").digest()
HEAD = '{"log": {"version": "1.2", "creator": {"name": "bench", "version": "1"}, "entries": [\n'


def entries() -> list[dict[str, Any]]:
    """Make the exchanges of one copy; every call begins later than the one before.

    Times are those of the bank's clock in `ZONE`, some whole weeks later: a bank that is sound is
    sound in the recording.
    """
    made: list[dict[str, Any]] = []
    at = datetime.min  # noqa: DTZ901 -- in ZONE
    for contract, length in COPY.items():
        _, history = driven(contract, length)
        times = [each.at.astimezone(ZONE).replace(tzinfo=None) for each in history.exchanges]
        weeks = timedelta(weeks=(at - times[0]).days // 7 + 1 if made else 0)
        for exchange, time in zip(history.exchanges, times, strict=True):
            at = max(at + timedelta(seconds=1), time + weeks)
            made.append(entry(exchange, at))
    return made


def gateway_headers(exchange: Exchange, at: datetime) -> tuple[Headers, Headers]:
    """Return the headers that a signed call through a gateway has, beside those of the sandbox."""
    wire = exchange.wire
    marks = [sha256(f"{exchange.n} {n}".encode()) for n in range(12)]
    signature = b64encode(b"".join(mark.digest() for mark in marks[:8])).decode()
    certificate = b64encode(CERTIFICATE * 40).decode()
    digest = b64encode(sha256(wire.request_body).digest()).decode()
    signed = "(request-target) date digest x-request-id"
    request = {
        "User-Agent": "tpp-client/4.11 (production)",
        "Accept": "application/json",
        "Date": format_datetime(at),
        "X-Request-ID": marks[8].hexdigest()[:32],
        "Digest": f"SHA-256={digest}",
        "Signature": f'keyId="tpp",algorithm="rsa-sha256",headers="{signed}",signature="{signature}"',
        "TPP-Signature-Certificate": certificate,
    }
    response = {
        "Date": format_datetime(at),
        "X-Request-ID": request["X-Request-ID"],
        "Digest": f"SHA-256={b64encode(sha256(wire.body).digest()).decode()}",
        "Signature": request["Signature"],
        "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "Vary": "Accept-Encoding",
    }
    return tuple(request.items()), tuple(response.items())


def entry(exchange: Exchange, at: datetime) -> dict[str, Any]:
    """Return an exchange as browsers and proxies record it."""
    wire = exchange.wire
    sent, answered = gateway_headers(exchange, at)
    posted = {"mimeType": "application/json", "text": wire.request_body.decode()}
    return {
        "startedDateTime": at.isoformat(),
        "time": 12.5,
        "request": {
            "method": wire.method,
            "url": wire.url,
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": [
                {"name": name, "value": value} for name, value in (*wire.request_headers, *sent)
            ],
            "queryString": [],
            **({"postData": posted} if wire.request_body else {}),
            "headersSize": -1,
            "bodySize": len(wire.request_body),
        },
        "response": {
            "status": wire.status,
            "statusText": "",
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": [
                {"name": name, "value": value} for name, value in (*wire.headers, *answered)
            ],
            "content": {
                "size": len(wire.body),
                "mimeType": wire.media_type,
                "text": wire.body.decode("utf-8", "replace"),
            },
            "redirectURL": "",
            "headersSize": -1,
            "bodySize": len(wire.body),
        },
        "cache": {},
        "timings": {"send": 0, "wait": 12, "receive": 0.5},
    }


def private_words(made: list[dict[str, Any]]) -> frozenset[str]:
    """Return the tokens, account numbers and keys of a copy."""
    words: set[str] = set()
    for each in made:
        request = each["request"]
        words |= {
            header["value"].partition(" ")[2]
            for header in request["headers"]
            if header["name"].lower() == "authorization"
        }
        bodies = each["response"]["content"]["text"], request.get("postData", {}).get("text", "")
        text = " ".join((unquote(request["url"]), *bodies))
        words |= {word for word in WORD.findall(text) if IBAN.fullmatch(word)}
        words |= set(
            re.findall(r'"(?:[a-zA-Z]*[iI]d|reference|key)": ?"([A-Za-z0-9_-]{8,})"', text)
        )
        words |= set(re.findall(r"/payment-requests/([A-Za-z0-9_-]{8,})", text))
    return frozenset(words - {""})


def renamed(word: str, copy: int) -> str:
    """Return another word of the same form; an account number keeps right check digits."""
    mark = sha256(f"{copy} {word}".encode()).hexdigest()
    if not IBAN.fullmatch(word):
        return word[:-7] + mark[:7] if len(word) > 12 else word[:3] + mark[: len(word) - 3]  # noqa: PLR2004
    digits = str(int(mark[:16], 16))[:9]
    rest = word[4:-9] + digits
    turned = "".join(str(int(letter, 36)) for letter in f"{rest}{word[:2]}00")
    return f"{word[:2]}{98 - int(turned) % 97:02}{rest}"


def copies(made: list[dict[str, Any]], length: int) -> Iterator[str]:
    """Yield the entries of a recording of this length, as text."""
    words = private_words(made)
    moments = [datetime.fromisoformat(each["startedDateTime"]) for each in made]
    weeks = (moments[-1] - moments[0]).days // 7 + 1
    texts = [json.dumps(each) for each in made]
    for n in range(length):
        copy, place = divmod(n, len(made))
        if not place:
            names: Mapping[str, str] = {word: renamed(word, copy) for word in words} if copy else {}
        later = timedelta(weeks=weeks * copy)

        def other(
            found: re.Match[str], names: Mapping[str, str] = names, later: timedelta = later
        ) -> str:
            word = found[0]
            if word in names:
                return names[word]
            return (date.fromisoformat(word) + later).isoformat() if DAY.fullmatch(word) else word

        moment = moments[place] + later
        text = WORD.sub(other, texts[place]) if copy else texts[place]
        local = moment.replace(tzinfo=ZONE)
        text = text.replace(format_datetime(moments[place]), format_datetime(local))
        yield text.replace(_begun(moment), _begun(local), 1)


def _begun(moment: datetime) -> str:
    return f'"startedDateTime": "{moment.isoformat()}"'


def write(path: Path, made: list[dict[str, Any]], length: int) -> None:
    """Write a recording of this length."""
    with path.open("w", encoding="utf-8") as out:
        out.write(HEAD)
        for n, text in enumerate(copies(made, length)):
            out.write(f",\n{text}" if n else text)
        out.write("\n]}}\n")
