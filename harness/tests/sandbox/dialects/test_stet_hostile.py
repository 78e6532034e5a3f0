"""The dialect never fails on hostile input, and never accepts what the bank refuses."""

import json
from io import BytesIO

from hypothesis import given, settings
from hypothesis import strategies as st
from rows import for_each
from tiers import examples

from assay.sandbox.app import make_app
from assay.sandbox.dialects import DIALECTS
from assay.sandbox.policies import SOUND

ROOT = "/stet/psd2/v1"
STET = DIALECTS["stet"](make_app())
HOSTS = ("bank.test", "[::1", "b\xe9", "a/b?c#d", "http://x", "", "x\r\ny")
VERBS = ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW", "")


def call(app, method, path, query="", body=b"", **environ):
    """Call with arbitrary values; return status, headers and body."""
    begun = []
    parts = app(
        {
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_LENGTH": str(len(body)),
            "SERVER_NAME": "bank.test",
            "SERVER_PORT": "80",
            "HTTP_HOST": "bank.test",
            "HTTP_PSU_IP_ADDRESS": "192.0.2.7",
            "wsgi.url_scheme": "http",
            "wsgi.input": BytesIO(body),
            **environ,
        },
        lambda line, headers, error=None: begun.append((line, headers)),
    )
    line, headers = begun[-1]
    return int(line[:3]), dict(headers), b"".join(parts)


def is_sound(status, headers, body):
    """Return whether an answer is well-formed, accepted or refused, with its length."""
    if status >= 500:
        return status == 501
    if status >= 400 and body:
        refused = json.loads(body)
        assert {"status", "message", "path"} <= set(refused)
        assert refused["status"] == status
        assert len(refused["path"]) <= 140
    assert all(name.isprintable() and value.isprintable() for name, value in headers.items())
    return int(headers["Content-Length"]) == len(body) or not body


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
TREES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
ACCOUNTS = st.lists(
    st.fixed_dictionaries(
        {}, optional={"iban": TREES, "other": st.dictionaries(st.just("identification"), TREES)}
    )
    | TREES,
    max_size=3,
)
CONSENTS = st.fixed_dictionaries(
    {},
    optional={
        "balances": ACCOUNTS | TREES,
        "transactions": ACCOUNTS | TREES,
        "trustedBeneficiaries": st.booleans() | TREES,
        "psuIdentity": st.booleans() | TREES,
        "login": TREES,
        "password": TREES,
    },
)
PAYMENTS = st.fixed_dictionaries(
    {},
    optional={
        name: TREES | inner
        for name, inner in {
            "chargeBearer": st.just("SLEV"),
            "paymentTypeInformation": st.dictionaries(
                st.sampled_from(["serviceLevel", "localInstrument", "categoryPurpose"]), TREES
            ),
            "debtorAccount": st.dictionaries(st.just("iban"), TREES),
            "beneficiary": st.dictionaries(st.just("creditorAccount"), TREES),
            "requestedExecutionDate": st.dates().map(str) | st.datetimes().map(str),
            "creationDateTime": st.datetimes().map(str),
            "numberOfTransactions": st.integers(0, 3),
            "creditTransferTransaction": st.lists(
                st.dictionaries(
                    st.sampled_from(["instructedAmount", "remittanceInformation", "frequency"]),
                    TREES,
                ),
                max_size=2,
            ),
            "supplementaryData": st.dictionaries(st.just("successfulReportUrl"), TREES),
            "paymentInformationStatus": st.sampled_from(["RJCT", "CANC"]),
            "statusReasonInformation": st.sampled_from(["DS02", "DUPL"]),
        }.items()
    },
)
BODIES = st.binary(max_size=64) | (CONSENTS | PAYMENTS | TREES).map(
    lambda value: json.dumps(value).encode()
)
PATHS = st.sampled_from(
    [
        "/accounts",
        "/consents",
        "/trusted-beneficiaries",
        "/payment-requests",
        "/payment-requests/x",
        "/payment-requests/x/confirmation",
        "/payment-requests/",
        "/accounts/{}/balances",
        "/accounts/{}/transactions",
        "/payment-requests/{}",
        "/{}",
        "{}",
    ]
)
#: Text as in WSGI: bytes decoded as Latin-1.
LATIN = st.text(st.characters(max_codepoint=255), max_size=30)
QUERIES = LATIN | st.lists(
    st.tuples(st.sampled_from(["page", "dateFrom", "dateTo", "iban", "scope", "%00"]), LATIN),
    max_size=4,
).map(lambda pairs: "&".join(f"{name}={value}" for name, value in pairs))


CALLS = st.fixed_dictionaries(
    {
        "method": st.sampled_from(VERBS),
        "query": QUERIES,
        "body": BODIES,
        "HTTP_AUTHORIZATION": st.sampled_from(
            ["Bearer demo-alice", "Bearer demo-tpp", "Basic x", ""]
        ),
        "HTTP_HOST": st.sampled_from(HOSTS),
        "HTTP_X_REQUEST_ID": LATIN,
    }
)


@settings(max_examples=examples(400))
@given(path=PATHS, text=LATIN, how=CALLS)
def test_anything_is_answered(path, text, how):
    """The answer is well-formed for every method, path, query, host and body."""
    assert is_sound(*call(STET, path=ROOT + path.format(text), **how))


@settings(max_examples=examples(200))
@given(body=BODIES)
def test_a_body_that_is_no_request_is_refused(body):
    """Arbitrary requests create neither a consent nor a payment."""
    consent = call(
        STET, "PUT", f"{ROOT}/consents", "", body, HTTP_AUTHORIZATION="Bearer demo-alice"
    )
    payment = call(
        STET, "POST", f"{ROOT}/payment-requests", "", body, HTTP_AUTHORIZATION="Bearer demo-tpp"
    )
    assert [4, 4] == [consent[0] // 100, payment[0] // 100]


@for_each(
    "body",
    [
        b"",
        b" ",
        b"<consent/>",
        b'{"balances": [',
        b'"text"',
        b"[]",
        b"null",
        b'{"a":' * 100 + b"1" + b"}" * 100,
        b"[" * 200_000,
        b'{"a":"' + b"9" * 2_000_000 + b'"}',
        b'{"a":' + b"9" * 5_000 + b"}",
        b'{"balances": NaN, "transactions": Infinity}',
        b'\xff\xfe{\x00"\x00',
        b'{"balances": [{"iban": "\\ud800"}], "transactions": []}',
        b'{"creditTransferTransaction": [[[]]], "beneficiary": {"creditorAccount": [1]}}',
    ],
)
@for_each(
    ("verb", "path", "token"),
    [
        ("PUT", "/consents", "demo-alice"),
        ("POST", "/payment-requests", "demo-tpp"),
        ("PUT", "/payment-requests/x", "demo-tpp"),
        ("POST", "/payment-requests/x/confirmation", "demo-tpp"),
    ],
)
def test_bodies_that_do_not_read(verb, path, token, body):
    """An empty, broken, huge, deep or ill-typed body is refused with a well-formed answer."""
    answer = call(STET, verb, ROOT + path, "", body, HTTP_AUTHORIZATION=f"Bearer {token}")
    assert 400 <= answer[0] < 500
    assert is_sound(*answer)


@for_each("length", ["-1", "none", "", "99999999999", "0"])
@for_each("encoding", [None, "chunked"])
def test_lengths_that_are_none(length, encoding):
    """A wrong content length is not trusted."""
    environ = {"HTTP_TRANSFER_ENCODING": encoding} if encoding else {}
    answer = call(
        STET,
        "PUT",
        f"{ROOT}/consents",
        body=b'{"balances": []}',
        HTTP_AUTHORIZATION="Bearer demo-alice",
        **{"CONTENT_LENGTH": length, **environ},
    )
    assert answer[0] == 400


class Crooked:
    """A bank that answers every request with a given answer."""

    def __init__(self, body, media="application/json", line="200 OK"):
        self.body, self.media, self.line, self.closed = body, media, line, False

    def __call__(self, environ, start_response):
        start_response(self.line, [("Content-Type", self.media), ("X-Bank", "yes")])
        return self

    def __iter__(self):
        return iter([self.body[:3], self.body[3:]])

    def close(self):
        self.closed = True


ROWS = [
    None,
    1,
    "x",
    [],
    {},
    {"iban": 7},
    {"iban": None, "kind": ["card"]},
    {"amount": 1, "label": {}},
]


@for_each("path", ["/accounts", "/accounts/x/balances", "/accounts/x/transactions"])
@for_each("rows", [None, 1, "x", {}, [], ROWS])
@for_each("links", [None, 1, [], {}, {"self": 1}, {"self": "http://[", "next": ""}])
def test_lists_of_any_shape_are_passed_on(path, rows, links):
    """Every element of an odd list is shown."""
    name = path.rpartition("/")[2]
    bank = Crooked(json.dumps({name: rows, "links": links, "x": [1]}).encode())
    status, headers, body = call(DIALECTS["stet"](bank), "GET", ROOT + path)
    assert bank.closed
    if status == 204:
        assert (name, rows) == ("accounts", [])
        return
    shown = json.loads(body)
    assert (headers["X-Bank"], shown["x"]) == ("yes", [1])
    assert shown[name] == rows or len(shown[name]) == len(rows)


def test_what_is_missing_is_not_made_up():
    """An empty answer becomes an answer with empty links."""
    bank = DIALECTS["stet"](Crooked(b"{}"))
    for verb, path, shown in (
        ("GET", "/accounts", {"_links": {}}),
        ("GET", "/accounts/x/balances", {"_links": {}}),
        ("GET", "/accounts/x/transactions", {"_links": {}}),
        ("PUT", "/consents", {}),
        ("POST", "/payment-requests", {"_links": {}}),
        ("GET", "/payment-requests/1", {"paymentRequest": {}, "_links": {}}),
    ):
        status, headers, body = call(bank, verb, ROOT + path)
        assert (200, shown) == (status, json.loads(body))
        assert "Location" not in headers


@for_each("status", [["x"], 1, None, "lost", "rejected"])
@for_each("links", [None, {"self": 1}, {"self": "/payment-requests/1"}])
def test_payments_of_any_shape_are_passed_on(status, links):
    """Missing members stay missing, and an unknown status is passed on."""
    bank = Crooked(json.dumps({"status": status, "links": links, "amount": {}}).encode())
    for verb in ("GET", "PUT", "POST"):
        answer = call(DIALECTS["stet"](bank), verb, f"{ROOT}/payment-requests/1")
        payment = json.loads(answer[2])["paymentRequest"]
        word = {"rejected": "RJCT"}.get(status, status) if isinstance(status, str) else None
        assert word == payment.get("paymentInformationStatus")
        assert "resourceId" not in payment


@for_each("body", [b"", b"{", b"ERREUR Technique", b"[]", b"<html>", b'"x"', b"[" * 9_999])
@for_each("line", ["200 OK", "404 Not Found", "503 Service Unavailable", "299 Odd"])
def test_what_is_no_object_is_passed_on(body, line):
    """A malformed answer stays malformed, and keeps its media type."""
    bank = Crooked(body, "text/x-odd", line)
    for path in ("/accounts", "/consents", "/payment-requests/1"):
        status, headers, shown = call(DIALECTS["stet"](bank), "GET", ROOT + path)
        assert (line, body) == (f"{status} {line[4:]}", shown)
        assert headers.get("Content-Type") == ("text/x-odd" if body else None)


@for_each(("status", "code"), [(418, "I'm a Teapot"), (599, "Refused"), (500, "INTE")])
def test_other_refusals_keep_their_status(status, code):
    """A refusal without a STET code has the status phrase."""
    bank = Crooked(b'{"message": "no"}', line=f"{status} Odd")
    shown, _, body = call(DIALECTS["stet"](bank), "GET", f"{ROOT}/accounts")
    assert (status, code.lower()) == (shown, json.loads(body)["message"].lower())


def test_the_sound_bank_is_not_changed():
    """The dialect does not change the policies of the bank."""
    before = repr(SOUND)
    call(STET, "GET", f"{ROOT}/accounts", HTTP_AUTHORIZATION="Bearer demo-alice")
    assert before == repr(SOUND)
