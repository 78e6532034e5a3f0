"""URLs are compared by the rules of RFC 3986 and no others."""

from rows import for_each

from assay.rules.lifecycle.request_queries import same_host, same_url, split_url

HERE = "https://tpp.example/back?a=1"


@for_each(
    "url",
    [
        HERE,
        "HTTPS://tpp.example/back?a=1",
        "https://TPP.EXAMPLE/back?a=1",
        "https://tpp.example:443/back?a=1",
        "https://tpp.example/b%61ck?a=%31",
    ],
)
def test_one_address_in_several_spellings(url):
    """Case of scheme and host, the usual port, escapes that need not be."""
    assert same_url(HERE, url)
    assert same_url(url, HERE)
    assert same_host(HERE, url)


@for_each(
    "url",
    [
        "https://tpp.example/Back?a=1",
        "https://tpp.example/back?A=1",
        "https://tpp.example/back?a=1&",
        "https://tpp.example/back?a=1#",
        "https://tpp.example/back/?a=1",
        "https://tpp.example:80/back?a=1",
        "https://me@tpp.example/back?a=1",
    ],
)
def test_what_is_spelt_alike_may_be_another(url):
    """Only a fragment that is empty is none."""
    assert same_url(HERE, url) is url.endswith("#")
    assert same_host(HERE, url)


@for_each("url", ["https://tpp.example.evil/", "https://example/", "http://tpp/"])
def test_another_host(url):
    """However alike it looks."""
    assert not same_host(HERE, url)
    assert not same_url(HERE, url)


@for_each(
    "bad",
    ["", "back", "/back", "//tpp.example/back", "app:back", "https://", "http://[", "a://b:0"],
)
def test_what_is_no_address_is_only_like_itself(bad):
    """Nothing is known of it but its text, and it is of no host."""
    assert split_url(bad) is None
    assert same_url(bad, bad)
    assert not same_url(bad, f"{bad}?")
    for one, other in ((bad, HERE), (HERE, bad), (bad, bad)):
        assert not same_host(one, other)
    assert not same_url(bad, HERE)
    assert not same_url(HERE, bad)
