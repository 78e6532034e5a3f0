"""The upstream that a user names: its origin, and the path below it."""

import pytest

from assay.errors import InputError
from assay.traffic.proxy.upstream import parse_upstream


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://B.example:443/v1/", ("https://b.example", "/v1")),
        ("http://127.0.0.1:8080", ("http://127.0.0.1:8080", "")),
        ("http://[::1]:8080/", ("http://[::1]:8080", "")),
    ],
)
def test_the_upstream_is_an_origin_and_a_path(url, expected):
    """The origin has its normal form; the path is only shown to the user."""
    assert expected == parse_upstream(url)


@pytest.mark.parametrize("url", ["", "b.example", "ftp://b.example", "http://", "http://b:0"])
def test_an_upstream_that_is_no_url_is_refused(url):
    """Only an http or https URL with a host can be the upstream."""
    with pytest.raises(InputError, match="--upstream: "):
        parse_upstream(url)
