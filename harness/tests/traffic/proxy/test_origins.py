"""Which links are turned to the proxy: whole origins, and nothing that only begins so."""

import pytest

from assay.errors import InputError
from assay.traffic.proxy.origins import Origins, upstream

OURS = "http://127.0.0.1:8900"


@pytest.mark.parametrize(
    ("theirs", "text", "turned"),
    [
        ("https://b.example", "https://b.example/a", f"{OURS}/a"),
        ("https://b.example", "https://b.example", OURS),
        ("https://b.example", "HTTPS://B.Example:443?x=1", f"{OURS}?x=1"),
        ("https://b.example", r"https:\/\/b.example\/a", r"http:\/\/127.0.0.1:8900\/a"),
        ("http://b.example:8080", "http://b.example:8080/a", f"{OURS}/a"),
        ("http://[::1]:8080", "http://[::1]:8080/a", f"{OURS}/a"),
    ],
)
def test_a_link_of_the_upstream_is_turned(theirs, text, turned):
    """In any case, with its usual port or without, and with slashes as JSON may write them."""
    assert turned == Origins(theirs=theirs, ours=OURS).turn(text.encode()).decode()


@pytest.mark.parametrize(
    "text",
    [
        "http://b.example/a",
        "https://b.example.evil/a",
        "https://b.example:444/a",
        "https://b.example@evil.example/a",
        "https://bb.example/a",
        "xhttps://b.example/a",
        "https://a.b.example/a",
        "//b.example/a",
    ],
)
def test_other_links_are_left(text):
    """Another scheme, port or host is another origin."""
    assert text == Origins(theirs="https://b.example", ours=OURS).turn(text.encode()).decode()


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("https://B.example:443/v1/", ("https://b.example", "/v1")),
        ("http://127.0.0.1:8080", ("http://127.0.0.1:8080", "")),
        ("http://[::1]:8080/", ("http://[::1]:8080", "")),
    ],
)
def test_the_upstream_is_an_origin_and_a_path(url, wanted):
    """An origin is spelt in one way; the path only tells a client where to begin."""
    assert wanted == upstream(url)


@pytest.mark.parametrize("url", ["", "b.example", "ftp://b.example", "http://", "http://b:0"])
def test_what_is_no_upstream_is_refused(url):
    """Only an http or https URL with a host can be passed on to."""
    with pytest.raises(InputError, match="--upstream: "):
        upstream(url)
