"""Addresses: which spellings of a URL lead to the same place."""

import pytest
from rows import for_each

from assay.binding.model.origin import place_of

PLACE = "bank.example/v1"


@for_each(
    ("url", "place"),
    [
        ("https://bank.example/v1", PLACE),
        ("https://bank.example:443/v1/", PLACE),
        ("http://bank.example:80//v1", PLACE),
        ("HTTPS://user:pw@BANK.Example./v2/.././v1", PLACE),
        ("https://b%61nk.example/%76%31;a=b", PLACE),
        ("https://bank.example/%2E%2e/V1", PLACE),
        ("https://bank.example", "bank.example"),
        ("https://bank.example:8443/v1", "bank.example:8443/v1"),
        ("https://bank.example/v1/accounts/{id}/", "bank.example/v1/accounts/{}"),
        ("https://b\u00fcro.example/v1", "xn--bro-hoa.example/v1"),
        ("https://xn--bro-hoa.example/v1", "xn--bro-hoa.example/v1"),
        ("http://127.0.0.1:8000/v1", "localhost:8000/v1"),
        ("http://localhost:8000/v1", "localhost:8000/v1"),
        ("http://[::1]:8000/v1", "localhost:8000/v1"),
        ("http://[::ffff:127.0.0.1]:8000/v1", "localhost:8000/v1"),
        ("http://127.1:8000/v1", "localhost:8000/v1"),
        ("http://192.0.2.1/v1", "192.0.2.1/v1"),
        ("http://0xc0000201/v1", "192.0.2.1/v1"),
        ("http://[2001:DB8:0::1]/v1", "2001:db8::1/v1"),
        ("http://bank.example:x/v1", "http://bank.example:x/v1"),
    ],
)
def test_the_place_of_a_url(url, place):
    """Scheme, default port, case, root dot, user, escapes, dots and slashes make no difference."""
    assert place == place_of(url)


@pytest.mark.parametrize(
    "other",
    ["https://bank.example/v2", "https://a.bank.example/v1", "https://bank.example:1/v1"],
)
def test_another_place(other):
    """Another host, port or path is another place."""
    assert place_of(other) != PLACE
