"""Which texts are absolute http(s) URLs that a customer can be sent to; and our own paths.

Only what RFC 3986 allows in a URL, so that nothing in it can end a header or a content
policy, and with no user name, which would only deceive whoever reads it. Not about
whether anybody answers there.
"""

import re

__all__ = ["PAYMENT_PATHS", "is_absolute_url", "origin"]

#: What the paths of this half of the bank begin with.
PAYMENT_PATHS = ("/payment-requests", "/consent-approval/", "/signing/")

_URL = re.compile(
    r"(?P<origin>https?://(?:[0-9A-Za-z_.-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?)"
    r"(?:[/?#](?:[0-9A-Za-z_.~!$&'()*+,;=:@/?#-]|%[0-9A-Fa-f]{2})*)?",
    re.IGNORECASE,
)
_LONGEST = 2_000
_PORTS = range(1, 65_536)


def is_absolute_url(text: str) -> bool:
    """Check the whole text."""
    found = _URL.fullmatch(text) if len(text) <= _LONGEST else None
    return found is not None and int(found["port"] or 80) in _PORTS


def origin(url: str) -> str:
    """Give scheme, host and port of a URL; nothing when it is none."""
    found = _URL.fullmatch(url)
    return found["origin"] if found else ""
