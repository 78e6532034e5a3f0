"""Generated texts: account numbers, URLs, codes, and any other text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from hypothesis.strategies import SearchStrategy, integers, sampled_from

from assay.fuzzing.fields.shape import Argument, Value
from assay.rules.formats import is_iban

_CODE = re.compile(r"[A-Z0-9]{1,12}")
#: Examples that registries of the format print: the shortest, the longest, others.
IBANS = (
    "NO9386011117947",
    "MT84MALT011000012345MTLCAST001S",
    "BE68539007547034",
    "GB82WEST12345698765432",
)


def _text(argument: Argument) -> str:
    return next((one for one in argument.goods if isinstance(one, str)), "")


def as_good(argument: Argument) -> SearchStrategy[Value]:
    """One of the binding's values; no others are known to be good."""
    says = ("the usual one", "the other good one")
    return sampled_from([Value(*pair) for pair in zip(says, argument.goods, strict=False)])


def nothing(_argument: Argument) -> Iterator[Value]:
    """Return no values."""
    yield from ()


def _otherwise(text: str) -> Iterator[Value]:
    """Variants of a text in spelling, and with small changes."""
    yield Value("in lower case", text.lower())
    yield Value("in upper case", text.upper())
    yield Value("with a leading space", f" {text}")
    yield Value("with a trailing space", f"{text} ")
    yield Value("with a trailing line break", f"{text}\n")
    yield Value("with a leading tab", f"\t{text}")
    yield Value("one character longer", text + text[-1:])
    yield Value("one character shorter", text[:-1])
    yield Value("reversed", text[::-1])
    yield Value("different in every character", "".join(map(_next, text)))
    yield Value("different in its last character", text[:-1] + "".join(map(_next, text[-1:])))


def _next(letter: str) -> str:
    for first, last in ("AZ", "az", "09"):
        if first <= letter <= last:
            return first if letter == last else chr(ord(letter) + 1)
    return letter


def _others(texts: Iterator[Value], argument: Argument) -> Iterator[Value]:
    """Leave out equally good values, and duplicates."""
    seen = {*map(str, argument.goods), *argument.named.right, ""}
    for one in texts:
        if one.json not in seen:
            seen.add(str(one.json))
            yield one


# -- account numbers -----------------------------------------------------------------
def is_account(argument: Argument) -> bool:
    """Whether the binding's value is an IBAN."""
    return is_iban(argument.own)


def checked(country: str, rest: str) -> str:
    """Put the check digits into an IBAN (ISO 13616)."""
    digits = "".join(str(int(sign, 36)) for sign in f"{rest}{country}00")
    return f"{country}{98 - int(digits) % 97:02d}{rest}"


def edge_accounts(argument: Argument) -> Iterator[Value]:
    """Valid ones of other countries, the shortest and the longest, and one in groups of four."""
    for one in IBANS:
        yield Value("valid and of another country", one)
    own = _text(argument)
    yield Value("valid and of another account", checked(own[:2], own[4:-1] + _next(own[-1])))


def beyond_accounts(argument: Argument) -> Iterator[Value]:
    """Wrong check digits, a wrong length with right check digits, and all other spellings."""
    own = _text(argument)
    wrong = (int(own[2:4]) + 1) % 100
    texts = [
        Value("with wrong check digits", f"{own[:2]}{wrong:02d}{own[4:]}"),
        Value("valid except for an extra digit", checked(own[:2], f"{own[4:]}0")),
        Value("valid except for a missing digit", checked(own[:2], own[4:-1])),
        Value("of a country that does not exist", checked("XX", own[4:])),
        Value("without country and check digits", own[4:]),
        Value("in groups of four", " ".join(re.findall(".{1,4}", own))),
        *_otherwise(own),
    ]
    yield from _others(iter(texts), argument)


# -- addresses -----------------------------------------------------------------------
def is_address(argument: Argument) -> bool:
    """Whether the binding's value is a URL."""
    own = argument.own
    return isinstance(own, str) and urlsplit(own).scheme in {"http", "https"}


def valid_address(argument: Argument) -> SearchStrategy[Value]:
    """The same address with another query."""
    own = urlsplit(_text(argument))
    return integers(0, 9999).map(
        lambda n: Value("with another query", own._replace(query=f"state={n}").geturl())
    )


def edge_addresses(argument: Argument) -> Iterator[Value]:
    """Long and short URLs, with a port, with escapes, with a fragment."""
    own = urlsplit(_text(argument))
    site = own._replace(path="", query="", fragment="")
    yield Value("only scheme and host", site.geturl())
    yield Value("with an explicit port", site._replace(netloc=f"{own.hostname}:443").geturl())
    yield Value("long", own._replace(query="q=" + "a" * 1_000).geturl())
    yield Value("with escapes", own._replace(query="q=%20%C3%A9%2F").geturl())
    yield Value("with a fragment", own._replace(fragment="top").geturl())


def beyond_addresses(argument: Argument) -> Iterator[Value]:
    """Invalid URLs: another scheme, no host, invalid characters."""
    text, own = _text(argument), urlsplit(_text(argument))
    rest = text.partition("://")[2]
    texts = [
        *(Value(f"with the scheme {one}", f"{one}://{rest}") for one in ("ftp", "file", "tpp")),
        Value("a script", "javascript:alert(1)"),
        Value("without a scheme", f"//{rest}"),
        Value("a path only", own.path or "/"),
        Value("without a host", "https:///return"),
        Value("with a user", own._replace(netloc=f"bank.example@{own.netloc}").geturl()),
        Value("with a space", f"{text} x"),
        Value("with a port out of range", own._replace(netloc=f"{own.hostname}:65536").geturl()),
        Value("with a line break", f"{text}\r\nSet-Cookie: a=b"),
        Value("with an invalid escape", f"{text}%zz"),
        Value("longer than any", own._replace(query="q=" + "a" * 10_000).geturl()),
    ]
    yield from _others(iter(texts), argument)


# -- codes, and any other text ---------------------------------------------------------
def is_code(argument: Argument) -> bool:
    """Whether the binding's value is a code: a few capitals and digits."""
    return isinstance(argument.own, str) and bool(_CODE.fullmatch(argument.own))


def is_text(argument: Argument) -> bool:
    """Whether the binding's value is a text, or is missing."""
    return argument.own is None or isinstance(argument.own, str)


def known_codes(argument: Argument) -> Iterator[Value]:
    """The values that the contract names."""
    for one in argument.named.known:
        if one not in argument.goods and one not in argument.named.right:
            yield Value(repr(one), one)


def beyond_codes(argument: Argument) -> Iterator[Value]:
    """Other spellings, and codes that no list has."""
    own = _text(argument)
    texts = [
        *(Value(repr(one), one) for one in argument.named.others),
        *_otherwise(own),
        Value("an unknown code", "Q" * max(len(own), 1)),
        Value("the code twice", f"{own},{own}"),
    ]
    yield from _others(iter(texts), argument)
