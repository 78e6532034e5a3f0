"""TLS over a real socket: handshakes and HTTP."""

import socket
import ssl
import threading
from contextlib import ExitStack

import httpx
import pytest
from rows import for_each

from assay.sandbox.app import make_app
from assay.sandbox.guard.server import Tls
from assay.sandbox.serve import listen, serving

ALICE = {"Authorization": "Bearer demo-alice", "PSU-IP-Address": "192.0.2.7"}


def tls(folder, **how):
    return Tls(certificate=folder.certificate("server"), key=folder.key("server"), **how)


def mutual(folder, **how):
    return tls(folder, clients=folder.certificate("ca"), **how)


def context(folder, name=None):
    made = ssl.create_default_context(cafile=folder.certificate("ca"))
    if name:
        made.load_cert_chain(folder.certificate(name), folder.key(name))
    return made


def get(url, folder, name=None, path="/accounts"):
    with httpx.Client(verify=context(folder, name), base_url=url) as http:
        return http.get(path, headers=ALICE)


def echo(environ, start_response):
    """Answer with the method, the path and the length of the body."""
    body = f"{environ['REQUEST_METHOD']} {environ['REQUEST_URI']} {environ['PATH_INFO']} "
    body += f"{environ['QUERY_STRING']} {len(environ['wsgi.input'].read())}"
    status = environ.get("HTTP_STATUS", "200 OK")
    start_response(status, [])
    return [body.encode("latin-1")]


def raw(url, folder, *sent):
    """Send bytes over one connection, and return everything received until it ends."""
    host, _, port = url.removeprefix("https://").partition(":")
    plain = socket.create_connection((host, int(port)), timeout=10)
    with context(folder).wrap_socket(plain, server_hostname="localhost") as connection:
        for part in sent:
            connection.sendall(part)
        come = b""
        while part := connection.recv(65536):
            come += part
    return come


def test_served_over_tls(folder):
    """The bank answers over TLS with https links; clients without its authority fail."""
    with serving(make_app(), tls(folder)) as url:
        assert url.startswith("https://")
        answer = get(url, folder)
        assert 200 == answer.status_code
        assert answer.json()["links"]["self"].startswith(url)
        with pytest.raises(httpx.ConnectError, match=r"self-signed|unable to get local issuer"):
            httpx.get(f"{url}/accounts")


def test_idle_clients_block_nobody(folder):
    """Of three hundred connections that send nothing, the first make room for a client."""
    with serving(make_app(), tls(folder)) as url, ExitStack() as idle:
        address = ("127.0.0.1", int(url.rpartition(":")[2]))
        clients = [idle.enter_context(socket.create_connection(address, 10)) for _ in range(300)]
        assert b"" == clients[0].recv(1)
        assert 200 == get(url, folder).status_code


def test_a_good_certificate(folder):
    """A TPP with its certificate completes the handshake."""
    with serving(make_app(), mutual(folder)) as url:
        assert 200 == get(url, folder, "client").status_code


@for_each(
    ("name", "alert"),
    [
        (None, "certificate required"),
        ("expired", "certificate expired"),
        ("stranger", "unknown ca"),
    ],
)
@for_each("path", ["/accounts", "/assay-control/1/", "/signing/demo/x"])
def test_no_connection_without_a_good_certificate(folder, name, alert, path):
    """Without a certificate, or with an invalid one, no connection is made for any path."""
    with serving(make_app(), mutual(folder)) as url:
        with pytest.raises(httpx.TransportError, match=alert):
            get(url, folder, name, path)
        assert 200 == get(url, folder, "client").status_code


def test_the_answer_demands_a_certificate(folder):
    """In the other mode, the bank answers 401 to TPPs only."""
    with serving(make_app(), mutual(folder, demand="answer")) as url:
        refused = get(url, folder)
        assert (401, "client certificate missing") == (
            refused.status_code,
            refused.json()["message"],
        )
        assert 401 == get(url, folder, path="/oauth/token").status_code
        assert 200 == get(url, folder, "client").status_code
        assert 200 == get(url, folder, path="/assay-control/1/").status_code
        assert 404 == get(url, folder, path="/signing/demo/x").status_code
        with pytest.raises(httpx.TransportError, match="unknown ca"):
            get(url, folder, "stranger")


def test_a_connection_goes_on(folder):
    """Many calls use one connection, with bodies and without."""
    threads = set()

    def app(environ, start_response):
        threads.add(threading.get_ident())
        return echo(environ, start_response)

    with (
        serving(app, tls(folder)) as url,
        httpx.Client(verify=context(folder), base_url=url) as http,
    ):
        assert "GET /a%2Fb?x=%20 /a/b x=%20 0" == http.get("/a%2Fb?x=%20").text
        assert "POST /p /p  100000" == http.post("/p", content=b"x" * 100_000).text
        assert "PUT /p /p  5" == http.put("/p", content=iter([b"abc", b"de"])).text
        assert "" == http.head("/").text
        assert "" == http.get("/", headers={"Status": "204 No Content"}).text
        assert "BREW / /  0" == http.request("BREW", "/").text
    assert 1 == len(threads)


def test_nothing_is_left(folder):
    """Closing leaves no thread, even with open or silent connections."""
    before = set(threading.enumerate())
    with httpx.Client(verify=context(folder)) as http:
        with serving(make_app(), tls(folder)) as url:
            host, _, port = url.removeprefix("https://").partition(":")
            with socket.create_connection((host, int(port))):
                # A silent connection does not block the others.
                assert 200 == http.get(f"{url}/accounts", headers=ALICE).status_code
                http.get(f"{url}/accounts", headers=ALICE)
        assert before == set(threading.enumerate())
        with pytest.raises(httpx.TransportError):
            http.get(f"{url}/accounts")


@for_each(
    ("sent", "status"),
    [
        (b"POST /\r\n\r\n", b"400"),
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nContent-Length: 9999999999999999\r\n\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1_0\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n", b"400"),
        (
            b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"a: b\r\n" * 100,
            b"400",
        ),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", b"414"),
        (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 200 + b"\r\n", b"431"),
    ],
)
def test_what_is_no_http(folder, sent, status):
    """Malformed HTTP is refused, and the connection ends."""
    with serving(echo, tls(folder)) as url:
        assert b" " + status + b" " in raw(url, folder, sent).splitlines()[0]


@pytest.mark.parametrize(
    ("target", "body"),
    [
        (b"/%00%ff?%zz", b"GET /%00%ff?%zz /\x00\xff %zz 0"),
        (b"//a//b", b"GET //a//b /a//b  0"),
        (b"https://localhost/a?b", b"GET https://localhost/a?b /a b 0"),
        (b"/[//]:x", b"GET /[//]:x /[//]:x  0"),
        (b"/\xc3\xa9", b"GET /\xc3\xa9 /\xc3\xa9  0"),
    ],
)
def test_targets(folder, target, body):
    """The target is provided as sent, and its path decoded."""
    request = b"GET " + target + b" HTTP/1.1\r\nConnection: close\r\n\r\n"
    with serving(echo, tls(folder)) as url:
        assert body == raw(url, folder, request).partition(b"\r\n\r\n")[2]


def test_headers(folder):
    """Repeated headers are joined; names with an underscore are dropped as ambiguous."""

    def app(environ, start_response):
        body = f"{environ['HTTP_A']} {environ.get('HTTP_B_C')} {environ.get('CONTENT_TYPE')}"
        start_response("200 OK", [("Content-Length", str(len(body)))])
        return [body.encode()]

    request = (
        b"GET / HTTP/1.1\r\nA: 1\r\na: 2\r\nB_C: 3\r\nContent-Type: x\r\nConnection: close\r\n\r\n"
    )
    with serving(app, tls(folder)) as url:
        assert b"1, 2 None x" == raw(url, folder, request).partition(b"\r\n\r\n")[2]


def test_a_fault_of_ours_is_not_hidden(folder, capsys):
    """An exception in the application ends the connection, and is reported on the server."""

    def app(environ, start_response):
        raise RuntimeError("broken")

    with serving(app, tls(folder)) as url:
        assert b"" == raw(url, folder, b"GET / HTTP/1.1\r\n\r\n")
    assert "RuntimeError: broken" in capsys.readouterr().err


def test_asked_to_go_on(folder):
    """A client that expects 100-continue gets it."""
    head = (
        b"POST / HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
    )
    with serving(echo, tls(folder)) as url:
        come = raw(url, folder, head, b"ab")
    assert come.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 ")


def test_listening_fails(folder, tmp_path):
    """A port in use, and invalid certificates, raise OSError."""
    with serving(make_app(), tls(folder)) as url, pytest.raises(OSError, match="in use"):
        listen("127.0.0.1", int(url.rpartition(":")[2]), make_app(), tls(folder))
    nothing = tmp_path / "nothing.pem"
    with pytest.raises(OSError, match="No such file"):
        listen("127.0.0.1", 0, make_app(), Tls(certificate=nothing, key=nothing))
    nothing.write_text("nothing")
    with pytest.raises(OSError, match="PEM"):
        listen("127.0.0.1", 0, make_app(), Tls(certificate=nothing, key=nothing))
