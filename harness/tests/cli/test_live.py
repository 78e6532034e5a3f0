"""`--live`: the report while the run goes on, for a browser of this machine alone."""

from functools import partial
from unittest.mock import patch

import httpx
import pytest
from command_line import assay
from shipped import VARIANTS, bank_of

from assay.cli.live import serving
from assay.running.environment import set_up
from assay.sandbox.policies import SOUND

RUN = ("run", "-c", "aisp", "-k", "iban", "--contexts", "base", "--no-doctor", "--out", "run")


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """Return the lines of the journal of a run that found a violation, and what was printed."""
    folder = tmp_path_factory.mktemp("live")
    policies = VARIANTS["iban.wrong-check-digits"].change(SOUND)
    with patch("assay.cli.run.set_up", partial(set_up, bank=bank_of(policies))):
        code, _, err = assay(*RUN, "--live", cwd=folder)
    assert code == 1
    return (folder / "run/journal.jsonl").read_bytes().splitlines(keepends=True), err


@pytest.fixture
def live(tmp_path):
    """Serve a journal that is not there yet; return it, and its address."""
    journal = tmp_path / "journal.jsonl"
    with serving(journal) as url:
        yield journal, url


def test_the_address_is_printed(lines):
    """And nobody is served there any more when the run has ended."""
    (line,) = (row for row in lines[1].splitlines() if row.startswith("live: "))
    with pytest.raises(httpx.ConnectError):
        httpx.get(line.removeprefix("live: "))


def test_the_page_grows_with_the_journal(live, lines):
    """From nothing, by a journal that is cut anywhere, to the whole one."""
    journal, url = live
    assert "The run begins" in httpx.get(url).text
    whole, _ = lines
    first = next(n for n, line in enumerate(whole) if b'"violates"' in line)
    journal.write_bytes(b"".join(whole[:first]) + whole[first][:10])
    part = httpx.get(url).text
    assert "<title>The gateway violates" not in part
    assert f'<meta name="assay-live" content="{journal.stat().st_size}">' in part
    assert httpx.get(f"{url}size").text == str(journal.stat().st_size)
    journal.write_bytes(b"".join(whole))
    page = httpx.get(url).text
    assert "<title>The gateway violates 1 of its 4 obligations." in page
    assert page.count("connect-src 'self'; script-src 'sha256-") == 1


@pytest.mark.parametrize(
    "path", ["/", "/size", "{secret}", "{secret}/../", "{secret}/journal.jsonl"]
)
def test_nothing_else_is_served(live, path):
    """Neither the journal nor anything at an address that can be guessed."""
    _, url = live
    base, _, secret = url.rstrip("/").rpartition("/")
    assert httpx.get(base + path.format(secret=f"/{secret}")).status_code == 404


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:1", "x"])
def test_a_page_of_another_host_reads_nothing(live, host):
    """Whatever name it gives to this machine."""
    _, url = live
    assert httpx.get(url, headers={"Host": host}).status_code == 404
