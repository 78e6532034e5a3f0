"""Secrets in the record of the proxy: none stands in it, wherever a client or a bank puts one."""

import json
import os
from datetime import UTC, datetime
from random import Random

import pytest
from rows import for_each
from support.proxied_secrets import JSON, PLACES_OF_SECRETS, SECRET, generated, spelt

from assay.traffic.har import read_har
from assay.traffic.proxy.recorder import HarMasker, HarRecorder, ProxiedExchange


def exchange(url="https://bank.example/", *, sent=(), received=(), body=b"", answer=b"", **more):
    """Return an exchange with these headers and bodies."""
    made = ProxiedExchange(
        started=datetime.now(UTC),
        method="POST",
        url=url,
        version="HTTP/1.1",
        request_headers=sent,
        response_headers=received,
        **more,
    )
    made.request_body.take(body)
    made.response_body.take(answer)
    return made


def masked(place, *, keep_bodies=False):
    """Mask one exchange."""
    return HarMasker(keep_bodies=keep_bodies).mask(
        exchange(
            f"https://bank.example{place.path}",
            sent=(("Content-Type", place.kind), *place.headers.items()),
            received=(("Content-Type", place.answer_kind), *place.answer_headers),
            body=place.body,
            answer=place.answer,
        )
    )


@for_each("keep", [False, True])
@for_each("name", PLACES_OF_SECRETS)
def test_a_secret_at_every_place(name, keep):
    """A secret is masked wherever it stands; a body that cannot be read for secrets is withheld."""
    place = PLACES_OF_SECRETS[name]
    messages = masked(place, keep_bodies=keep)
    bodies = (messages.request_body, messages.response_body)
    assert place.secret not in repr(messages)
    withheld = [body for body in bodies if body.note]
    assert len(withheld) == (place.opaque and not keep)
    assert all("--keep-bodies" in body.note and not body.text for body in withheld)
    if withheld:
        return
    if name == "UTF-16":
        assert messages.response_body.packed
    elif place.secret != SECRET or not messages.response_body.packed:
        assert "-1>" in repr(messages)


def test_what_is_no_secret_stays():
    """Types, states, error codes and pages are no secrets."""
    place = PLACES_OF_SECRETS["token"]
    body = (
        b'{"token_type":"bearer","expires_in":3600,"code":"FORMAT_ERROR","tppMessages":'
        b'[{"code":"TOKEN_UNKNOWN"}],"otpMaxLength":6,"next":"https://b.example/?pageToken=abc"}'
    )
    messages = HarMasker().mask(
        exchange(
            "https://bank.example/?pageToken=abc&state=xyz&iban=FR76",
            sent=(("PSU-IP-Address", "192.0.2.1"), ("X-Request-ID", "4711")),
            received=(("Content-Type", "application/json"),),
            answer=body,
        )
    )
    assert body.decode() == messages.response_body.text
    assert messages.url.endswith("/?pageToken=abc&state=xyz&iban=FR76")
    assert ("X-Request-ID", "4711") in messages.request_headers
    assert place.secret == SECRET


@for_each("name", [name for name, place in PLACES_OF_SECRETS.items() if place.kind == JSON])
def test_masked_json_is_json(name):
    """A masked body of JSON is JSON, also where a number was masked."""
    place = PLACES_OF_SECRETS[name]
    if place.opaque or name == "UTF-16":
        return
    messages = masked(place)
    for body in (messages.request_body, messages.response_body):
        assert not body.text or isinstance(json.loads(body.text), dict)


def test_a_body_that_was_cut_off_is_masked():
    """Of JSON that was cut off, what is there is masked."""
    begun = b'{"a":[1,{"access_token":"' + SECRET.encode()[:9]
    cut = exchange(received=(("Content-Type", "application/json"),), answer=begun)
    cut.response_body.size += 1
    messages = HarMasker().mask(cut)
    assert '{"a":[1,{"access_token":"<token-1>"' == messages.response_body.text


def test_a_value_is_masked_in_later_exchanges():
    """A secret of one exchange is masked in another one, where no name gives it away."""
    masker = HarMasker()
    masker.mask(exchange(sent=(("Authorization", f"Bearer {SECRET}"),)))
    later = masker.mask(
        exchange(
            f"https://bank.example/a/{SECRET}/b",
            sent=(("X-Trace", SECRET),),
            body=b'["' + SECRET.encode() + b'"]',
            reason=f"OK {SECRET}",
        )
    )
    assert SECRET not in repr(later)
    assert ('["<token-1>"]', "OK <token-1>") == (later.request_body.text, later.reason)


def test_a_withheld_body_is_read_as_one_that_is_no_json(tmp_path, by_hand, tape):
    """A refusal in HTML is still a refusal when it is judged; two bodies stay distinguishable."""
    html = [("Content-Type", "text/html; charset=utf-8")]
    bank = by_hand(lambda path: (404, html, b"<p>" + path.encode() + b"</p>"))
    made = tape(bank.url)
    for path in ("/a", "/b", "/a"):
        made.client.get(path)
    entries = made.end()
    assert all("text" not in entry["response"]["content"] for entry in entries)
    first, second, third = read_har(made.path)
    assert [""] * 3 == [entry.lost for entry in (first, second, third)]
    assert first.wire.body == third.wire.body != second.wire.body.replace(b"/b", b"/a")
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(first.wire.body)


def test_bodies_are_kept_on_request(tmp_path):
    """`--keep-bodies` reaches the record."""
    recorder = HarRecorder(tmp_path / "r.har", keep_bodies=True)
    assert recorder._masker.keep_bodies
    recorder.close()


#: How many exchanges are made by a seed; the gate reads a sample.
GENERATED = int(os.environ.get("ASSAY_PROXIED_SECRETS", "600"))


def test_no_generated_secret_is_left():
    """Whatever its name, position and encoding, no secret stands in a recording, in any encoding."""
    random, left = Random(27), []
    for _ in range(GENERATED):
        name, secret, place = generated(random)
        for keep in (False, True):
            written = repr(masked(place, keep_bodies=keep))
            found = [way for way, text in spelt(secret).items() if text in written]
            left += [(name, secret, found, written)] if found else []
    assert [] == left
