"""Links in messages: whole origins are rewritten to the proxy, and nothing else."""

from rows import for_each

from assay.traffic.proxy.messages import LinkRewriter

PROXY = "http://127.0.0.1:8900"


@for_each(
    ("upstream", "text", "rewritten"),
    [
        ("https://b.example", "https://b.example/a", f"{PROXY}/a"),
        ("https://b.example", "https://b.example", PROXY),
        ("https://b.example", "HTTPS://B.Example:443?x=1", f"{PROXY}?x=1"),
        ("https://b.example", r"https:\/\/b.example\/a", r"http:\/\/127.0.0.1:8900\/a"),
        ("http://b.example:8080", "http://b.example:8080/a", f"{PROXY}/a"),
        ("http://[::1]:8080", "http://[::1]:8080/a", f"{PROXY}/a"),
    ],
)
def test_a_link_to_the_upstream_is_rewritten(upstream, text, rewritten):
    """A link is found in any case, with its default port or without, and with escaped slashes."""
    links = LinkRewriter(upstream=upstream, proxy=PROXY)
    assert rewritten == links.text(text.encode()).decode()


@for_each(
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
def test_other_links_stay(text):
    """A link with another scheme, port or host is to another origin, and stays."""
    links = LinkRewriter(upstream="https://b.example", proxy=PROXY)
    assert text == links.text(text.encode()).decode()
