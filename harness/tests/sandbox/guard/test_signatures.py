"""Both kinds of signatures: valid ones pass, and others are refused with a reason."""

import ssl
from base64 import b64decode
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest
from cryptography.hazmat.primitives.serialization import load_der_public_key, load_pem_public_key
from hypothesis import given
from hypothesis import strategies as st
from rows import for_each

from assay.sandbox.app import make_app
from assay.sandbox.guard import require_signature
from assay.sandbox.guard.cavage import check_cavage, signing_string
from assay.sandbox.guard.rfc9421 import check_rfc9421, read_bytes, read_signed, signature_base
from assay.sandbox.guard.server import Tls
from assay.sandbox.guard.signatures import BODY_LIMIT, Message, SignatureError, read_message, verify
from assay.sandbox.serve import serving

ALICE = {"Authorization": "Bearer demo-alice", "PSU-IP-Address": "192.0.2.7"}
BODY = b'{"accounts":[]}'
NOW = datetime(2026, 9, 16, 10, tzinfo=UTC)

#: The example of the draft's appendix C.2, and its key.
DRAFT_KEY = b"""-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDCFENGw33yGihy92pDjZQhl0C3
6rPJj+CvfSC8+q28hxA161QFNUd13wuCTUcq0Qd2qsBe/2hFyc2DCJJg0h1L78+6
Z4UMR7EOcpfdUE9Hf3m/hs+FUR45uBJeDK1HSFHD8bHKD6kv8FPGfJTotc+2xjJw
oYi+1hqp1fIekaxsyQIDAQAB
-----END PUBLIC KEY-----"""
DRAFT_SIGNATURE = (
    "qdx+H7PHHDZgy4y/Ahn9Tny9V3GP6YgBPyUXMmoxWtLbHpUnXS2mg2+SbrQDMCJypxBLSPQR2aAjn7ndmw2iicw3"
    "HMbe8VfEdKFYRqzic+efkb3nndiv/x1xSHDJWeSWkx3ButlYSuBskLu6kd9Fswtemr3lgdDEmn04swr2Os0="
)
#: The example of the RFC's appendix B.2.6, and its key.
RFC_KEY = "MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs="
RFC_INPUT = (
    'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length")'
    ';created=1618884473;keyid="test-key-ed25519"'
)
RFC_SIGNATURE = (
    "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw=="
)


def message(**changes):
    whole = {"method": "GET", "base": "https://bank.test", "target": "/a", "headers": {}}
    return Message(**{**whole, "body": b"", **changes})


def refused(answer, why):
    assert (401, why) == (answer.status_code, answer.json()["message"])
    assert "Signature" == answer.headers["WWW-Authenticate"]


def test_the_example_of_the_draft():
    """The draft's own signed example verifies, and a changed one does not."""
    headers = {"host": "example.com", "date": "Sun, 05 Jan 2014 21:31:40 GMT"}
    request = message(method="POST", target="/foo?param=value&pet=dog", headers=headers)
    key, names = load_pem_public_key(DRAFT_KEY), ["(request-target)", "host", "date"]
    verify("rsa-sha256", key, b64decode(DRAFT_SIGNATURE), signing_string(request, names))
    with pytest.raises(SignatureError, match="signature does not match"):
        verify("rsa-sha256", key, b64decode(DRAFT_SIGNATURE), signing_string(request, names[:2]))


def test_the_example_of_the_rfc():
    """The RFC's own signed example verifies, and a changed one does not."""
    headers = {
        "date": "Tue, 20 Apr 2021 02:07:55 GMT",
        "content-type": "application/json",
        "content-length": "18",
    }
    how = {"method": "POST", "target": "/foo?param=Value&Pet=dog", "headers": headers}
    signed = read_signed(RFC_INPUT)["sig-b26"]
    key = load_der_public_key(b64decode(RFC_KEY))
    base = signature_base(message(base="https://example.com", **how), signed)
    verify("ed25519", key, b64decode(RFC_SIGNATURE), base)
    base = signature_base(message(base="https://example.org", **how), signed)
    with pytest.raises(SignatureError, match="signature does not match"):
        verify("ed25519", key, b64decode(RFC_SIGNATURE), base)


@pytest.mark.parametrize("kind", ["cavage", "rfc9421"])
def test_well_signed_calls_pass(demand, signer, kind):
    """Calls with and without a body and a query reach the bank unchanged."""
    http, sign = demand(signatures=kind), getattr(signer, kind)
    for target in ("/accounts", "/accounts?page=1&x=%2F%C3%A9+", "/accounts/FR76%20x/transactions"):
        answer = http.get(target, headers=ALICE | sign("GET", target))
        assert answer.status_code in (200, 400), answer.text
    answer = http.put("/consents", content=BODY, headers=ALICE | sign("PUT", "/consents", BODY))
    assert "list-empty" in answer.json()["message"]
    assert 401 == http.get("/accounts", headers=sign("GET", "/accounts")).status_code


@pytest.mark.parametrize("kind", ["cavage", "rfc9421"])
def test_nothing_is_signed(demand, signer, kind):
    """A call without a signature is refused; the control API and screens need none."""
    http = demand(signatures=kind, oauth=True)
    refused(http.get("/accounts", headers=ALICE), "signature missing")
    refused(http.post("/payment-requests", json={}), "signature missing")
    refused(http.get("/nowhere"), "signature missing")
    assert 200 == http.get("/assay-control/1/").status_code
    assert 404 == http.get("/signing/demo/x").status_code
    assert 404 == http.get("/consent-approval/demo/x").status_code
    assert 400 == http.get("/oauth/authorize").status_code
    assert 401 == http.post("/oauth/token", data={"grant_type": "x"}).status_code


@pytest.mark.parametrize("kind", ["cavage", "rfc9421"])
@pytest.mark.parametrize("served", ["waitress", "tls"])
def test_the_target_is_what_was_sent(folder, signer, kind, served):
    """Over a network the target is signed as sent, with any escaping."""
    app = require_signature(make_app(), kind, folder.signers())
    tls = Tls(certificate=folder.certificate("server"), key=folder.key("server"))
    trust = ssl.create_default_context(cafile=folder.certificate("ca"))
    with serving(app, tls if served == "tls" else None) as url, httpx.Client(verify=trust) as http:
        target = "/%61ccounts?page=%31"
        host = url.partition("://")[2]
        how = {"host": host} if kind == "cavage" else {}
        if kind == "rfc9421":
            how["components"] = {"@method": "GET", "@target-uri": url + target}
        headers = ALICE | getattr(signer, kind)("GET", target, **how)
        assert 200 == http.get(url + target, headers=headers).status_code
        refused(http.get(f"{url}/accounts?page=1", headers=headers), "signature does not match")


CAVAGE = {
    "(request-target) is not signed": {"names": "x-request-id digest"},
    "x-request-id is not signed": {"names": "(request-target) digest"},
    "digest is not signed": {"digest": None},
    "a signed header is missing": {"names": "(request-target) x-request-id digest date"},
    "digest does not match": {"digest": "SHA-256=AAAA"},
    "unknown digest algorithm": {"digest": "MD5=AAAA"},
    "malformed date": {"date": "yesterday"},
    "date is too far from now": {"date": "Sun, 05 Jan 2014 21:31:40 GMT"},
    "the algorithm is not rsa-sha256": {"algorithm": "hs2019"},
    "unknown keyId": {"key_id": "somebody"},
    "the algorithm does not fit the key": {"key_id": "https://tpp.example/seal-ec.pem"},
    "signature does not match": {"base": "(request-target): put /consents"},
}


@pytest.mark.parametrize("why", CAVAGE)
def test_badly_signed_as_in_the_draft(demand, signer, why):
    """Each fault of a signature has its own reason."""
    headers = ALICE | signer.cavage("PUT", "/consents", BODY, **CAVAGE[why])
    answer = demand(signatures="cavage").put("/consents", content=BODY, headers=headers)
    refused(answer, why)


@pytest.mark.parametrize(
    ("header", "why"),
    [
        ("nonsense", "malformed header Signature"),
        ('keyId="a",keyId="b"', "malformed header Signature"),
        ('keyId="a",', "malformed header Signature"),
        ('keyId="a"', "the header Signature has no signature"),
        ('signature="a"', "the header Signature has no keyId"),
    ],
)
def test_a_header_that_does_not_read(demand, header, why):
    """A malformed header is named in the reason."""
    headers = {**ALICE, "X-Request-ID": "1", "Signature": header}
    refused(demand(signatures="cavage").get("/accounts", headers=headers), why)


@pytest.mark.parametrize("wrong", ["!", "\xa7", "A"])
def test_a_signature_that_is_no_base64(folder, signer, wrong):
    """A signature that is not base64 has another reason than one that does not match."""
    headers = signer.cavage("GET", "/a")
    header = headers.pop("Signature").replace('signature="', f'signature="{wrong}')
    with pytest.raises(SignatureError, match="signature is not base64"):
        check_cavage(message(headers={**headers, "signature": header}), folder.signers(), NOW)


@for_each(
    ("environ", "target"),
    [
        ({"REQUEST_URI": "/%61?b"}, "/%61?b"),
        ({"RAW_URI": "/%61"}, "/%61"),
        ({"REQUEST_URI": "http://bank.test/%61?b"}, "/%61?b"),
        ({"REQUEST_URI": "HTTPS://bank.test"}, "/"),
        ({"REQUEST_URI": "/a?to=http://x/y"}, "/a?to=http://x/y"),
        ({"PATH_INFO": "/a b/\xc3\xa9", "QUERY_STRING": "c=%20"}, "/a%20b/%C3%A9?c=%20"),
        ({}, "/"),
    ],
)
def test_where_the_target_comes_from(environ, target):
    """The target is as sent if the server provides it, otherwise rebuilt from the path."""
    common = {"REQUEST_METHOD": "GET", "HTTP_HOST": "bank.test", "wsgi.url_scheme": "http"}
    assert target == read_message({**common, **environ}).target


@pytest.mark.parametrize(
    "algorithm", ["rsa-sha256", "rsa-pss-sha512", "ecdsa-p256-sha256", "ed25519"]
)
def test_a_key_is_used_for_its_own_algorithms(folder, algorithm):
    """A signature is verified only by the algorithm of its key."""
    key = folder.signers()[
        f"https://tpp.example/seal-{'ec' if 'ed' in algorithm else 'ed25519'}.pem"
    ]
    if algorithm == "ecdsa-p256-sha256":
        key = folder.signers()["https://tpp.example/seal-rsa.pem"]
    with pytest.raises(SignatureError, match="the algorithm does not fit the key"):
        verify(algorithm, key, b"x" * 64, b"")


def test_a_signature_of_the_wrong_length(folder):
    """With P-256, only two complete numbers are a signature."""
    key = folder.signers()["https://tpp.example/seal-ec.pem"]
    for length in (0, 63, 65):
        with pytest.raises(SignatureError, match="signature does not match"):
            verify("ecdsa-p256-sha256", key, b"x" * length, b"")


@pytest.mark.parametrize("wrong", ["!", "\xa7", "A", ""])
def test_a_digest_that_is_no_base64(folder, signer, wrong):
    """A digest that is not base64 does not match."""
    headers = signer.cavage("GET", "/a", digest=f"SHA-256={wrong}")
    headers["signature"] = headers.pop("Signature")
    with pytest.raises(SignatureError, match="digest does not match"):
        check_cavage(message(headers=headers), folder.signers(), NOW)


def test_dates_are_real(folder, signer):
    """A signed date may differ from now by at most five minutes."""
    keys = folder.signers()
    for minutes, fits in ((5, True), (-5, True), (6, False), (-6, False)):
        date = format_datetime(NOW + timedelta(minutes=minutes), usegmt=True)
        headers = signer.cavage("GET", "/a", date=date)
        request = message(headers={name.lower(): value for name, value in headers.items()})
        if fits:
            check_cavage(request, keys, NOW)
        else:
            with pytest.raises(SignatureError, match="date is too far"):
                check_cavage(request, keys, NOW)


@pytest.mark.parametrize("year", ["1", "99999", "9" * 30])
def test_dates_of_no_calendar(signer, year):
    """An impossible date is malformed, or too far from now."""
    headers = signer.cavage("GET", "/a", date=f"Sun, 05 Jan {year} 21:31:40 +2359")
    request = message(headers={name.lower(): value for name, value in headers.items()})
    with pytest.raises(SignatureError, match=r"malformed date|date is too far"):
        check_cavage(request, {}, NOW)


@pytest.mark.parametrize(
    "algorithm", ["rsa-v1_5-sha256", "rsa-pss-sha512", "ecdsa-p256-sha256", "ed25519"]
)
def test_every_algorithm(demand, signer, algorithm):
    """Each algorithm verifies signatures of its key, and no others."""
    http = demand(signatures="rfc9421")
    headers = signer.rfc9421("GET", "/accounts", algorithm=algorithm)
    assert 200 == http.get("/accounts", headers=ALICE | headers).status_code
    answer = http.get("/accounts?page=1", headers=ALICE | headers)
    refused(answer, "signature does not match")


def written(created=0, **more):
    """Build parameters, created a number of seconds from now."""
    moment = int(datetime.now(UTC).timestamp()) + created
    more = {"keyid": '"https://tpp.example/seal-ec.pem"', **more}
    return f";created={moment}" + "".join(f";{name}={value}" for name, value in more.items())


#: Parameters are built when a test runs, which may be long after it was collected.
OWN = {"@method": "PUT", "@target-uri": "http://bank.test/consents"}
RFC9421 = {
    "@method is not signed": {"components": {"@target-uri": "http://bank.test/consents"}},
    "neither @target-uri nor both of @path and @query are signed": {
        "components": {"@method": "PUT", "@path": "/consents"}
    },
    "content-digest is not signed": {"content_digest": None},
    "a signed header is missing": {"components": {**OWN, "content-digest": "", "x": ""}},
    "unknown signed component": {"components": {**OWN, "content-digest": "", "@status": ""}},
    "digest does not match": {"content_digest": "sha-256=:AAAA:"},
    "unknown digest algorithm": {"content_digest": "md5=:AAAA:"},
    "malformed structured field": {"content_digest": "SHA-256=AAAA"},
    "created is missing": {"parameters": ';keyid="https://tpp.example/seal-ec.pem"'},
    "created is too far from now": {"parameters": lambda: written(-400)},
    "the signature has expired": {"parameters": lambda: written(expires=1)},
    "unknown keyid": {"parameters": lambda: written(keyid='"somebody"')},
    "unknown alg": {"parameters": lambda: written(alg='"hmac-sha256"')},
    "the algorithm does not fit the key": {"parameters": lambda: written(alg='"ed25519"')},
    "signature does not match": {"components": {**OWN, "@method": "GET", "content-digest": ""}},
}


@pytest.mark.parametrize("why", RFC9421)
def test_badly_signed_as_in_the_rfc(demand, signer, why):
    """Each fault of a signature has its own reason."""
    fault = {key: value() if callable(value) else value for key, value in RFC9421[why].items()}
    headers = ALICE | signer.rfc9421("PUT", "/consents", BODY, **fault)
    if "content-digest" not in headers and "content_digest" not in fault:
        headers["content-digest"] = signer.rfc9421("PUT", "/", BODY)["content-digest"]
    answer = demand(signatures="rfc9421").put("/consents", content=BODY, headers=headers)
    refused(answer, why)


@pytest.mark.parametrize(
    ("made", "given", "why"),
    [
        ("", "sig1=:AAAA:", "signature missing"),
        ('sig1=("@method")', "", "signature missing"),
        (
            'sig1=("@method")',
            "sig2=:AAAA:",
            "Signature and Signature-Input have no label in common",
        ),
        ('sig1=("@method"', "sig1=:AAAA:", "malformed structured field"),
        ('sig1=("@method""@path")', "sig1=:AAAA:", "malformed structured field"),
        ("sig1=(@method)", "sig1=:AAAA:", "malformed structured field"),
        ('sig1=("@method"),', "sig1=:AAAA:", "malformed structured field"),
        ('sig1=("@method")', "sig1=:AAA:", "malformed structured field"),
        ('sig1=("@method" "@method")', "sig1=:AAAA:", "a component is signed twice"),
        (
            'sig1=("@query-param";name="a")',
            "sig1=:AAAA:",
            "parameters of components are not supported",
        ),
    ],
)
def test_fields_that_do_not_read(demand, made, given, why):
    """A malformed header is named in the reason."""
    headers = {**ALICE, "Signature-Input": made, "Signature": given}
    refused(demand(signatures="rfc9421").get("/accounts", headers=headers), why)


def test_other_components(demand, signer):
    """Path and query replace the whole URI, and other components are allowed."""
    http = demand(signatures="rfc9421")
    for target, query in (("/accounts?page=1", "?page=1"), ("/accounts", "?")):
        components = {
            "@method": "GET",
            "@path": "/accounts",
            "@query": query,
            "@authority": "bank.test",
            "@scheme": "http",
            "@request-target": target,
            "psu-ip-address": "192.0.2.7",
        }
        headers = signer.rfc9421("GET", target, components=components)
        assert 200 == http.get(target, headers=ALICE | headers).status_code


def test_without_a_name_the_key_decides(demand, signer):
    """A signature without an algorithm is verified by that of its key."""
    http = demand(signatures="rfc9421")
    for algorithm, name in (("rsa-pss-sha512", "seal-rsa"), ("ed25519", "seal-ed25519")):
        parameters = written(keyid=f'"https://tpp.example/{name}.pem"')
        headers = signer.rfc9421("GET", "/accounts", algorithm=algorithm, parameters=parameters)
        assert 200 == http.get("/accounts", headers=ALICE | headers).status_code


def test_one_good_signature_is_enough(demand, signer):
    """One valid signature of several is enough, in any position."""
    headers = signer.rfc9421("GET", "/accounts")
    bad = headers["Signature-Input"].replace("sig1", "bad").replace("created=", "created=1")
    headers["Signature-Input"] = f"{bad}, {headers['Signature-Input']}"
    headers["Signature"] = f"bad=:AAAA:, {headers['Signature']}"
    http = demand(signatures="rfc9421")
    assert 200 == http.get("/accounts", headers=ALICE | headers).status_code
    headers["Signature"] = "bad=:AAAA:"
    refused(http.get("/accounts", headers=ALICE | headers), "created is too far from now")


def test_a_digest_counts_wherever_it_is(demand, signer):
    """A digest that does not match is refused even if none is required."""
    headers = signer.cavage("GET", "/accounts", digest="SHA-256=AAAA")
    answer = demand(signatures="cavage").get("/accounts", headers=ALICE | headers)
    refused(answer, "digest does not match")
    headers = signer.rfc9421("GET", "/accounts", content_digest="sha-512=:AAAA:")
    answer = demand(signatures="rfc9421").get("/accounts", headers=ALICE | headers)
    refused(answer, "digest does not match")


def test_too_long_to_verify(demand):
    """An endless body is not read to its end."""
    http = demand(signatures="cavage")
    answer = http.put("/consents", content=b" " * (BODY_LIMIT + 1))
    assert 413 == answer.status_code


def test_fields_are_written_as_they_must_be():
    """The signature covers the canonical form of a field, however it was sent."""
    text = 'a=( "b"  "c" ); created=1;x;y=?0;z=tok;w=:YQ==:;q="\\"\\\\"'
    assert '("b" "c");created=1;x;y=?0;z=tok;w=:YQ==:;q="\\"\\\\"' == str(read_signed(text)["a"])
    assert {"a": b"a", "b": b""} == read_bytes("a=:YQ==:;x=1,\t b=::")


texts = st.text(st.characters(max_codepoint=255, exclude_characters="\r\n"), max_size=80)
pieces = st.lists(
    st.sampled_from(
        ['sig1=("@method" "@path" "@query")', ";created=1", ';keyid="a"', ":AAAA:", "sig1=", ",",
         'keyId="a"', ',signature="AAAA"', ',headers="', "(request-target) x-request-id", '"', " ",
         "(", ")", ";", "=", "?1", "*", "-1", "é"]
    )
).map("".join)  # fmt: skip


@given(texts | pieces, texts | pieces, texts | pieces)
def test_anything_is_refused_in_order(one, two, three):
    """Arbitrary headers are refused without an error."""
    headers = {"x-request-id": "1", "date": three, "digest": three, "content-digest": three}
    whole = message(headers=headers | {"signature": one, "signature-input": two})
    for check in (check_cavage, check_rfc9421):
        with pytest.raises(SignatureError):
            check(whole, {}, NOW)
