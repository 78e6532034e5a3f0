"""The proxy over real sockets: what it forwards, refuses and records, and how it is closed."""

import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import datetime
from threading import Event, Thread

import httpx
import pytest

from assay.cli.main import group
from assay.errors import InputError
from assay.sandbox.app import DEMO_TOKENS, make_app
from assay.sandbox.guard.certificates import open_certificates
from assay.sandbox.guard.server import Tls
from assay.sandbox.serve import serving
from assay.traffic.proxy.upstream import tls_context

TOKEN = next(iter(DEMO_TOKENS.values()))
JSON = [("Content-Type", "application/json")]


def headers(side):
    """Read the headers of a request or an answer in a HAR file."""
    return {one["name"].lower(): one["value"] for one in side["headers"]}


def plain(_path):
    """Answer with an empty object."""
    return 200, JSON, b"{}"


# -- forwarding -------------------------------------------------------


def test_a_client_of_the_sandbox_sees_no_difference(sandbox, tape):
    """Through the proxy, status, body and headers are the bank's own, except for links."""
    tape = tape(sandbox)
    asked = {"Authorization": f"Bearer {TOKEN}", "PSU-IP-Address": "192.0.2.7"}
    direct = httpx.get(f"{sandbox}/accounts?page=1", headers=asked, trust_env=False)
    through = tape.client.get("/accounts?page=1", headers=asked)
    text = through.text.replace(tape.proxy.url, sandbox)
    assert (direct.status_code, direct.text) == (through.status_code, text)
    kept = {"content-type", "server"}
    assert {name: direct.headers[name] for name in kept} == {
        name: through.headers[name] for name in kept
    }
    (entry,) = tape.end()
    assert direct.json() == json.loads(entry["response"]["content"]["text"])


def test_method_target_headers_and_body_arrive_as_they_were_sent(by_hand, tape):
    """Path, query, body and the values of headers arrive unchanged, also those for other proxies."""
    bank = by_hand(plain)
    tape = tape(bank.url)
    response = tape.raw(
        b"PATCH /a%2fb/./c//d;x?q=%20+a&q=&%zz|[] HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        b"X-MiXed: a\r\nX-Mixed:  b \r\nContent-Length: 5\r\nConnection: close, X-Hop\r\n"
        b"X-Forwarded-For: 192.0.2.7\r\nX-Hop: 1\r\nTE: trailers\r\n\r\n\x00\xff{}\n"
    )
    assert response.startswith(b"HTTP/1.1 200 ")
    ((line, given, body),) = bank.asked
    assert "PATCH /a%2fb/./c//d;x?q=%20+a&q=&%zz|[] HTTP/1.1" == line
    assert b"\x00\xff{}\n" == body
    sent = {"X-Mixed": "a, b", "X-Forwarded-For": "192.0.2.7"}
    assert {"Host": bank.url.removeprefix("http://"), **sent}.items() <= dict(given).items()
    assert not {"connection", "x-hop", "te"} & {name.lower() for name, _ in given}
    (entry,) = tape.end()
    assert f"{bank.url}/a%2fb/./c//d;x?q=%20+a&q=&%zz|[]" == entry["request"]["url"]
    assert {"x-mixed": "a, b", "te": "trailers"}.items() <= headers(entry["request"]).items()


def test_a_body_of_unknown_length_passes(by_hand, tape):
    """A chunked request arrives complete, and is recorded."""
    bank = by_hand(plain)
    tape = tape(bank.url, keep_bodies=True)
    tape.client.post("/x", content=iter([b"one ", b"two"]), headers={"Content-Type": "text/plain"})
    assert b"one two" == bank.asked[0][2]
    (entry,) = tape.end()
    assert {"mimeType": "text/plain", "text": "one two"} == entry["request"]["postData"]


@pytest.mark.parametrize(("method", "status"), [("HEAD", 200), ("GET", 204), ("GET", 304)])
def test_a_response_without_a_body_ends_after_its_head(by_hand, tape, method, status):
    """After a response without a body, the next response on the connection is read correctly."""
    bank = by_hand(lambda path: (status, JSON, b"") if path == "/none" else plain(path))
    tape = tape(bank.url)
    assert status == tape.client.request(method, "/none").status_code
    assert b"{}" == tape.client.get("/").content
    assert [status, 200] == [entry["response"]["status"] for entry in tape.end()]


def test_a_compressed_response_stays_compressed_and_is_readable_in_the_record(by_hand, tape):
    """The client gets the bank's own bytes; the record has the decompressed text."""
    packed = gzip.compress(b'{"a": 1}')
    bank = by_hand(lambda _: (200, [*JSON, ("Content-Encoding", "gzip")], packed))
    tape = tape(bank.url)
    with tape.client.stream("GET", "/", headers={"Accept-Encoding": "br, gzip;q=0.5"}) as answer:
        assert packed == b"".join(answer.iter_raw())
    # What could not be read in the record is not asked for.
    assert "gzip;q=0.5" == dict(bank.asked[0][1])["Accept-Encoding"]
    (entry,) = tape.end()
    assert '{"a": 1}' == entry["response"]["content"]["text"]
    assert "br, gzip;q=0.5" == headers(entry["request"])["accept-encoding"]


def test_concurrent_clients_are_kept_apart(sandbox, tape):
    """Each of many clients gets its own response, and the record has each exchange once."""
    tape = tape(sandbox)
    urls = [f"/accounts/balances?iban=X{number}" for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(tape.client.get, urls))
    assert sorted(urls) == sorted(
        entry["request"]["url"].removeprefix(sandbox) for entry in tape.end()
    )


def test_a_bank_that_requires_a_client_certificate_gets_it(tmp_path, tape):
    """Over TLS the bank's certificate is verified, and the bank sees the client certificate."""
    folder = open_certificates(tmp_path / "papers")
    bank = Tls(
        certificate=folder.certificate("server"),
        key=folder.key("server"),
        clients=folder.certificate("ca"),
    )
    ca, client = folder.certificate("ca"), folder.certificate("client")
    with serving(make_app(), bank) as url:
        shown = tape(url, context=tls_context(ca, client, folder.key("client"), None))
        silent = tape(url, "silent.har", context=tls_context(ca, None, None, None))
        strange = tape(
            url, "strange.har", context=tls_context(None, client, folder.key("client"), None)
        )
        asked = {"Authorization": f"Bearer {TOKEN}"}
        codes = [one.client.get("/accounts", headers=asked) for one in (shown, silent, strange)]
        assert [200, 502, 502] == [one.status_code for one in codes]
        assert "certificate" in codes[2].text.lower()


# -- links ---------------------------------------------------------------------


def test_links_lead_back_to_the_proxy_and_stay_the_banks_in_the_record(by_hand, tape):
    """A client that follows links stays with the proxy; the record has the bank's own links."""
    said = []

    def answer(path):
        if path == "/moved":
            return 302, [("Location", f"{bank.url}/here?x=1")], b""
        said.append(f'{{"next": "{bank.url}/2", "no": "{bank.url}0/3", "e": "{bank.url}"}}')
        link = ("Link", f'<{bank.url}/4>; rel="next"')
        return 200, [*JSON, link], said[-1].encode()

    bank = by_hand(answer)
    tape = tape(bank.url)
    ours = tape.proxy.url
    told = tape.client.get("/list")
    assert {"next": f"{ours}/2", "no": f"{bank.url}0/3", "e": ours} == told.json()
    assert f'<{ours}/4>; rel="next"' == told.headers["Link"]
    assert f"{ours}/here?x=1" == tape.client.get("/moved").headers["Location"]
    listed, moved = tape.end()
    assert said[0] == listed["response"]["content"]["text"]
    assert f"{bank.url}/here?x=1" == moved["response"]["redirectURL"]


def test_links_in_compressed_responses_are_rewritten_too(by_hand, tape):
    """A compressed response that has links is compressed again after they are rewritten."""

    def answer(_path):
        body = gzip.compress(f'{{"next": "{bank.url}/2"}}'.encode())
        return 200, [*JSON, ("Content-Encoding", "gzip")], body

    bank = by_hand(answer)
    tape = tape(bank.url)
    response = tape.client.get("/")
    assert ("gzip", f"{tape.proxy.url}/2") == (
        response.headers["Content-Encoding"],
        response.json()["next"],
    )


def test_without_rewriting_nothing_is_changed(by_hand, tape):
    """With --no-rewrite, the client gets the bank's own body."""

    def answer(_path):
        return 200, JSON, f'{{"next": "{bank.url}/2"}}'.encode()

    bank = by_hand(answer)
    assert f"{bank.url}/2" == tape(bank.url, rewrite=False).client.get("/").json()["next"]


# -- the record ----------------------------------------------------------------


def test_secrets_become_pseudonyms_that_distinguish_callers(by_hand, tape):
    """No token, cookie or password is in the file; each has one pseudonym throughout."""
    given = b'{"access_token": "s3cret-B", "code": "NOT_A_SECRET", "expires_in": 5}'
    bank = by_hand(lambda _: (200, [*JSON, ("Set-Cookie", "sid=s3cret-C; Path=/")], given))
    tape = tape(bank.url)
    form = {"client_secret": "s3cret-D", "scope": "aisp", "code": "s3cret-E"}
    tape.client.get("/?access_token=s3cret-A&x=1", headers={"Authorization": "Bearer s3cret-A"})
    tape.client.post("/token", data=form, auth=("tpp", "s3cret-F"))
    tape.client.put("/c", json={"password": 's3cret-"G', "login": "l"})
    tape.client.get("/", headers={"Authorization": "Bearer s3cret-B", "X-API-Key": "s3cret-H"})
    query, form_post, json_put, key_get = tape.end()
    assert "s3cret" not in tape.path.read_text(encoding="utf-8")
    assert "Bearer <token-1>" == headers(query["request"])["authorization"]
    assert f"{bank.url}/?access_token=<token-1>&x=1" == query["request"]["url"]
    # A token that the bank issued is recognised where it is used.
    assert '"access_token": "<token-2>", "code": "NOT' in form_post["response"]["content"]["text"]
    assert "Bearer <token-2>" == headers(key_get["request"])["authorization"]
    assert (
        "client_secret=<secret-1>&scope=aisp&code=<code-1>"
        == form_post["request"]["postData"]["text"]
    )
    assert headers(form_post["request"])["authorization"].startswith("Basic <credentials-1>")
    assert "sid=<cookie-1>; Path=/" == headers(query["response"])["set-cookie"]
    assert "sid=<cookie-1>" == headers(json_put["request"])["cookie"]
    assert {"password": "<password-1>", "login": "l"} == json.loads(
        json_put["request"]["postData"]["text"]
    )


def test_an_entry_has_its_time_and_duration(by_hand, tape):
    """Times are UTC with milliseconds; the time of an entry is the sum of its timings."""
    tape = tape(by_hand(plain).url)
    tape.client.post("/", json={})
    (entry,) = tape.end()
    assert "Z" == entry["startedDateTime"][23:]
    assert datetime.fromisoformat(entry["startedDateTime"]).microsecond % 1000 == 0
    spans = [entry["timings"][name] for name in ("send", "wait", "receive")]
    assert all(span >= 0 for span in spans)
    assert abs(sum(spans) - entry["time"]) < 0.01


def test_only_the_record_bounds_long_and_binary_bodies(by_hand, tape):
    """The client gets a long body complete; the record has its beginning, and bytes as base64."""
    long = b'{"a": "' + b"x" * (5 << 20) + b'"}'
    bank = by_hand(lambda path: (200, JSON, long) if path == "/long" else (200, [], b"\xff\x00"))
    tape = tape(bank.url, keep_bodies=True)
    assert long == tape.client.get("/long").content
    assert b"\xff\x00" == tape.client.get("/bytes").content
    first, second = (entry["response"]["content"] for entry in tape.end())
    assert (len(long), 4 << 20) == (first["size"], len(first["text"]))
    assert "cut off after 4 MiB" == first["comment"]
    assert ("base64", "/wA=") == (second["encoding"], second["text"])


def test_nobody_else_can_read_the_record(by_hand, tape):
    """The file has customers' data, so only its owner can read it."""
    made = tape(by_hand(plain).url)
    assert 0o600 == made.path.stat().st_mode & 0o777


# -- failures -----------------------------------------------------------


def test_a_bank_that_is_down_is_reported(tape):
    """The client gets 502 with the reason; the record says that there was no response."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        bank = f"http://127.0.0.1:{taken.getsockname()[1]}"
        tape = tape(bank)
        told = tape.client.get("/accounts")
    assert 502 == told.status_code
    assert told.text.startswith(f"assay proxy: cannot connect to {bank}: ")
    (entry,) = tape.end()
    assert 0 == entry["response"]["status"]
    assert entry["comment"].startswith("cannot connect to")


def test_a_response_that_breaks_off_is_reported(by_hand, tape):
    """An incomplete response is not completed, and the record says so."""
    bank = by_hand(lambda _: (200, [("Content-Length", "10")], b"half"))
    # The bank announces two lengths, which makes the response invalid.
    tape = tape(bank.url)
    assert 502 == tape.client.get("/").status_code
    assert "broke" in tape.end()[0]["comment"]


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        (b"GET http://elsewhere.example/ HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n", 421),
        (b"CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n", 421),
        (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
        (b"GET / HTTP/1.1\r\nHost: [\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"hello\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1, 2\r\n\r\n", 400),
    ],
    ids=[
        "absolute",
        "tunnel",
        "rebound",
        "no-host",
        "two-hosts",
        "host-missing",
        "no-http",
        "lengths",
    ],
)
def test_it_is_no_open_proxy(by_hand, tape, asked, status):
    """A request that names another host, or is not HTTP, reaches neither the bank nor the record."""
    bank = by_hand(plain)
    tape = tape(bank.url)
    assert str(status).encode() == tape.raw(asked).split(b" ")[1]
    assert ([], []) == (bank.asked, tape.end())


def test_a_client_that_disconnects_does_not_disturb_others(by_hand, tape):
    """A request that never ends reaches neither the bank nor the record; others are served."""
    bank = by_hand(plain)
    tape = tape(bank.url)
    tape.raw(b"POST /half HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf")
    assert 200 == tape.client.get("/").status_code
    assert ["GET / HTTP/1.1"] == [line for line, _, _ in bank.asked]
    assert [f"{bank.url}/"] == [entry["request"]["url"] for entry in tape.end()]


def test_a_client_that_does_not_wait_for_the_response_is_recorded(by_hand, tape):
    """What the client did not receive of a long response is said in the record."""
    tape = tape(by_hand(lambda _: (200, [], b"x" * 50_000_000)).url)
    with connect(tape.proxy, b"GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n") as client:
        client.recv(1)
    (entry,) = tape.end()
    assert (200, "the client went away") == (entry["response"]["status"], entry["comment"])


def test_a_response_that_breaks_off_later_is_not_completed(tape):
    """Where the head of the response was sent already, the connection ends within the body."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def half():
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")

        bank = Thread(target=half)
        bank.start()
        tape = tape(f"http://127.0.0.1:{listening.getsockname()[1]}")
        with pytest.raises(httpx.RemoteProtocolError):
            tape.client.get("/")
        bank.join()
    (entry,) = tape.end()
    assert (200, 4) == (entry["response"]["status"], entry["response"]["bodySize"])
    assert "broke" in entry["comment"]


# -- many clients ---------------------------------------------------------------


def connect(proxy, sent):
    """Open a connection, and send the beginning of something."""
    client = socket.create_connection(("127.0.0.1", proxy.port), timeout=10)
    client.sendall(sent)
    return client


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET /acc", b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx"],
)
def test_idle_clients_block_nobody(by_hand, tape, sent):
    """Three hundred connections that wait leave room for a client that does not."""
    tape = tape(by_hand(plain).url)
    with ExitStack() as idle:
        for _ in range(300):
            idle.enter_context(connect(tape.proxy, sent))
        assert 200 == tape.client.get("/accounts").status_code


def test_slow_readers_block_nobody(by_hand, tape, monkeypatch):
    """Clients that do not read a long response take no exchange from those that do."""
    monkeypatch.setattr("assay.traffic.proxy.server.MAX_EXCHANGES", 2)
    monkeypatch.setattr("assay.traffic.proxy.server.GRACE", 0.1)
    content = b"x" * 30_000_000
    bank = by_hand(lambda path: (200, [], content if path == "/long" else b"{}"))
    tape = tape(bank.url)
    with ExitStack() as idle:
        for _ in range(3):
            idle.enter_context(
                connect(tape.proxy, b"GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n")
            )
        assert 200 == tape.client.get("/accounts").status_code


def test_it_closes_while_all_connections_are_taken(by_hand, tape):
    """Clients that are idle do not delay closing."""
    tape = tape(by_hand(plain).url)
    assert 200 == tape.client.get("/").status_code
    with connect(tape.proxy, b"POST / HTT"):
        began = time.monotonic()
        tape.proxy.close()
    assert time.monotonic() - began < 5
    assert 1 == tape.proxy.record.exchanges


# -- the command ---------------------------------------------------------------

ASSAY = [sys.executable, "-c", "from assay.cli.main import main; main()", "proxy"]


def started(bank, path, *options):
    """Start the command; return the process and the URL that it prints."""
    process = subprocess.Popen(
        [*ASSAY, "--upstream", f"{bank}/v1", "--record", path, "--listen", "127.0.0.1:0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    line = process.stdout.readline()
    assert line.startswith("recording http://127.0.0.1:"), process.stderr.read()
    return process, line.split()[1]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_gracefully(by_hand, tmp_path, how):
    """At a signal, or several, running exchanges are finished, and the record is complete."""
    reached, go_on = Event(), Event()

    def slow(path):
        reached.set()
        assert go_on.wait(10)
        return plain(path)

    bank = by_hand(slow)
    process, url = started(bank.url, tmp_path / "r.har")
    assert url.endswith("/v1")
    with process, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(httpx.get, f"{url}/accounts", trust_env=False)
        assert reached.wait(10)
        process.send_signal(how)
        process.send_signal(how)
        time.sleep(0.2)
        process.send_signal(how)
        go_on.set()
        assert 200 == asked.result(10).status_code
        process.wait(20)
        out, err = process.stdout.read(), process.stderr.read()
    assert (0, "") == (process.returncode, err)
    assert f"assay judge {tmp_path / 'r.har'} --party tpp --target my-bank.yaml" in out
    assert out.endswith(f"1 exchange recorded in {tmp_path / 'r.har'}\n")
    log = json.loads((tmp_path / "r.har").read_text(encoding="utf-8"))["log"]
    assert [f"{bank.url}/v1/accounts"] == [one["request"]["url"] for one in log["entries"]]


def test_a_record_can_be_read_after_a_crash(by_hand, tmp_path):
    """A killed proxy leaves a valid HAR file with the exchanges that had ended."""
    process, url = started(by_hand(plain).url, tmp_path / "r.har")
    with process:
        with httpx.Client(trust_env=False) as client:
            for number in range(3):
                client.get(f"{url}/{number}")
        # The client may get a response before its entry is written; only the last one can be missing.
        process.kill()
        process.communicate(timeout=20)
    log = json.loads((tmp_path / "r.har").read_text(encoding="utf-8"))["log"]
    assert len(log["entries"]) in {2, 3}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--upstream", "bank.example", "--record", "new.har"], "--upstream: not an http or https"),
        (["--upstream", "https://u:p@b.example", "--record", "new.har"], "credentials in it"),
        (["--upstream", "http://b.example:x", "--record", "new.har"], "--upstream: not a URL"),
        (
            ["--upstream", "http://b.example", "--record", "there.har"],
            "there.har: this file already exists",
        ),
        (["--upstream", "http://b.example", "--record", "no/new.har"], "cannot be written"),
        (
            ["--upstream", "http://b.example", "--record", "new.har", "--listen", "8900"],
            "--listen: expected HOST:PORT, found '8900'",
        ),
        (
            ["--upstream", "http://b.example", "--record", "new.har", "--listen", "192.0.2.1:1"],
            "--listen: cannot listen on 192.0.2.1:1",
        ),
        (["--upstream", "http://b.example", "--record", "new.har", "--ca", "there.har"], "--ca: "),
        (["--upstream", "http://b.example", "--record", "new.har", "--key", "k"], "--key: "),
        (["--upstream", "http://b.example", "--record", "new.har", "--cert", "x"], "--cert: "),
    ],
)
def test_an_option_that_cannot_be_used_is_one_clear_line(tmp_path, monkeypatch, args, message):
    """A mistake in the options is reported in one line, and no file is left."""
    monkeypatch.chdir(tmp_path)
    there = tmp_path / "there.har"
    there.write_text("mine")
    with pytest.raises(InputError) as caught:
        group.main(["proxy", *args], standalone_mode=False)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert [there] == list(tmp_path.iterdir())
    assert "mine" == there.read_text()


def test_a_browser_as_the_client(sandbox, tape, browser, tmp_path):
    """The requests in Chromium's own HAR are in the record of the proxy, too."""
    tape = tape(sandbox)
    script = """async () => {
        const asked = {headers: {Authorization: 'Bearer %s'}};
        return (await fetch('/accounts', asked)).status;
    }"""
    assert 200 == browser(f"{tape.proxy.url}/", tmp_path / "theirs.har", script % TOKEN)
    theirs = json.loads((tmp_path / "theirs.har").read_text(encoding="utf-8"))["log"]["entries"]
    ours = tape.end()
    assert "/accounts" in {one["request"]["url"].removeprefix(sandbox) for one in ours}
    asked = {one["request"]["url"].removeprefix(tape.proxy.url) for one in theirs}
    assert asked <= {one["request"]["url"].removeprefix(sandbox) for one in ours}


#: What a page of another site tries: each of them with a POST, or with a request that is no link.
ATTACKS = """async (proxy) => {
    const sent = (how) => fetch(proxy + '/pay', {mode: 'no-cors', ...how}).catch(() => 0);
    await sent({method: 'POST', body: 'a=1'});
    await sent({method: 'POST', body: 'a=1', referrerPolicy: 'no-referrer'});
    await sent({method: 'POST', mode: 'cors', headers: {'Content-Type': 'application/json'}});
    await sent({method: 'DELETE', mode: 'cors'});
    await sent({});
    navigator.sendBeacon(proxy + '/pay', 'a=1');
    for (const enctype of ['text/plain', 'application/x-www-form-urlencoded']) {
        const frame = document.createElement('iframe');
        frame.name = enctype;
        document.body.append(frame);
        const form = document.createElement('form');
        Object.assign(form, {method: 'POST', action: proxy + '/pay', target: enctype, enctype});
        document.body.append(form);
        const loaded = new Promise((done) => { frame.onload = done; });
        form.submit();
        await loaded;
    }
}"""
HTML = [("Content-Type", "text/html")]
LOGIN = b"<form method=POST action=/pay><input name=pin><button>Sign</button></form>"


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_a_page_of_another_site_reaches_no_bank(by_hand, tape, browser, tmp_path, name):
    """Neither forms nor scripts of another origin, on this machine or not, use the proxy."""
    bank, evil = by_hand(plain), by_hand(lambda _: (200, HTML, b"<body>"))
    tape = tape(bank.url)
    page = f"http://{name}:{evil.url.rpartition(':')[2]}/"
    browser(page, tmp_path / "theirs.har", f"({ATTACKS})({tape.proxy.url!r})")
    assert ([], []) == (bank.asked, tape.end())


@pytest.mark.parametrize("policy", ["no-referrer", "strict-origin-when-cross-origin"])
def test_the_screens_of_the_bank_work_in_a_browser(by_hand, tape, browser, tmp_path, policy):
    """A customer comes by the TPP's link, fills in the bank's form, and returns to the TPP."""
    tpp = by_hand(lambda _: (200, HTML, b"<a href=''>sign</a>"))

    def screens(path):
        headers = [*HTML, ("Referrer-Policy", policy)]
        return (
            (303, [("Location", f"{tpp.url}/back")], b"")
            if path == "/pay"
            else (200, headers, LOGIN)
        )

    bank = by_hand(screens)
    tape = tape(bank.url)

    def walk(page):
        page.evaluate(f"document.querySelector('a').href = '{tape.proxy.url}/login'")
        page.click("a")
        page.fill("input", "4711")
        page.click("button")
        page.wait_for_url(f"{tpp.url}/back")

    browser(f"{tpp.url.replace('127.0.0.1', 'localhost')}/", tmp_path / "theirs.har", walk)
    asked = [line.split(" ")[:2] for line, _, _ in bank.asked if "favicon" not in line]
    assert [["GET", "/login"], ["POST", "/pay"]] == asked
    assert b"pin=4711" == bank.asked[-1][2]


@pytest.mark.parametrize(
    ("host", "lines", "status"),
    [
        ("evil.example", "", 421),
        ("192.0.2.7:8900", "", 200),
        ("recorder", "", 200),
        ("recorder", "Origin: http://recorder\r\n", 200),
        ("recorder", "Origin: http://evil.example\r\n", 403),
        ("recorder", "Origin: null\r\n", 403),
        ("recorder", "Referer: http://recorder/login\r\n", 200),
        ("recorder", "Referer: http://evil.example/\r\n", 403),
    ],
)
def test_a_proxy_for_a_network_is_none_for_pages(by_hand, tape, host, lines, status):
    """On an address of a network, too, public names and pages of other origins are refused."""
    bank = by_hand(plain)
    tape = tape(bank.url, host="0.0.0.0")
    asked = f"POST /pay HTTP/1.1\r\nHost: {host}\r\n{lines}Content-Length: 0\r\n\r\n"
    assert tape.raw(asked.encode()).startswith(b"HTTP/1.1 %d " % status)
    assert (status == 200) == bool(bank.asked)
