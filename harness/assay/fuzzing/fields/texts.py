"""Generated texts: account numbers, URLs, codes, any other text, and keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from assay.contract.model import Json
from assay.fuzzing.draws import Draw, of_number, one_of
from assay.fuzzing.fields.arguments import Argument, Keys, Value
from assay.fuzzing.sequences.abstract_step import OwnedRef
from assay.fuzzing.sequences.actions import OTHER, SELF
from assay.rules.formats import is_iban

_CODE = re.compile(r"[A-Z0-9]{1,12}")
#: Examples that registries of the format print: the shortest, the longest, others.
IBANS = (
    "NO9386011117947",
    "MT84MALT011000012345MTLCAST001S",
    "BE68539007547034",
    "GB82WEST12345698765432",
)
#: The most things of a customer among which a key is picked.
MANY = 64
#: The most keys in a list of them.
FEW = 4
#: Keys that exist nowhere, whatever a target's keys look like.
UNKNOWN = ("0", "unknown-4711", "00000000-0000-4000-8000-000000000000", *IBANS)


def _text(argument: Argument) -> str:
    return next((value for value in argument.good_values if isinstance(value, str)), "")


def as_good(argument: Argument) -> Draw[Value]:
    """One of the binding's values; no others are known to be good."""
    says = ("the usual one", "the other good one")
    return one_of([Value(*pair) for pair in zip(says, argument.good_values, strict=False)])


def no_values(_argument: Argument) -> Iterator[Value]:
    """Return no values."""
    yield from ()


def _respelt(text: str) -> Iterator[Value]:
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


def _without_good(values: Iterable[Value], argument: Argument) -> Iterator[Value]:
    """Leave out equally good values, and duplicates."""
    seen = {*map(str, argument.good_values), *map(str, argument.named.right), ""}
    for value in values:
        if value.json not in seen:
            seen.add(str(value.json))
            yield value


# -- account numbers ---------------------------------------------------------------
def is_account(argument: Argument) -> bool:
    """Whether the binding's value is an IBAN."""
    return is_iban(argument.own)


def checked(country: str, rest: str) -> str:
    """Put the check digits into an IBAN (ISO 13616)."""
    digits = "".join(str(int(sign, 36)) for sign in f"{rest}{country}00")
    return f"{country}{98 - int(digits) % 97:02d}{rest}"


def edge_accounts(argument: Argument) -> Iterator[Value]:
    """Valid ones of other countries, the shortest and the longest, and one in groups of four."""
    for iban in IBANS:
        yield Value("valid and of another country", iban)
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
        *_respelt(own),
    ]
    yield from _without_good(texts, argument)


# -- addresses ---------------------------------------------------------------------
def is_address(argument: Argument) -> bool:
    """Whether the binding's value is a URL."""
    own = argument.own
    return isinstance(own, str) and urlsplit(own).scheme in {"http", "https"}


def valid_address(argument: Argument) -> Draw[Value]:
    """The same address with another query."""
    own = urlsplit(_text(argument))
    return of_number(
        0, 9999, lambda n: Value("with another query", own._replace(query=f"state={n}").geturl())
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
        *(Value(f"with the scheme {name}", f"{name}://{rest}") for name in ("ftp", "file", "tpp")),
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
    yield from _without_good(texts, argument)


# -- codes, and any other text -----------------------------------------------------
def is_code(argument: Argument) -> bool:
    """Whether the binding's value is a code: a few capitals and digits."""
    return isinstance(argument.own, str) and bool(_CODE.fullmatch(argument.own))


def is_text(argument: Argument) -> bool:
    """Whether the binding's value is a text, or is missing."""
    return argument.own is None or isinstance(argument.own, str)


def known_codes(argument: Argument) -> Iterator[Value]:
    """The values that the contract names."""
    for code in argument.named.known:
        if code not in argument.good_values and code not in argument.named.right:
            yield Value(repr(code), code)


def beyond_codes(argument: Argument) -> Iterator[Value]:
    """Other spellings, and codes that no list has."""
    own = _text(argument)
    texts = [
        *(Value(repr(code), code) for code in argument.named.others),
        *_respelt(own),
        Value("an unknown code", "Q" * max(len(own), 1)),
        Value("the code twice", f"{own},{own}"),
    ]
    yield from _without_good(texts, argument)


# -- keys, which only the target can name ------------------------------------------
def is_key(argument: Argument) -> bool:
    """Whether the argument names one thing, or one request."""
    return argument.keys in {Keys.OWNED, Keys.MADE}


def is_key_list(argument: Argument) -> bool:
    """Whether the argument names things, in a list."""
    return argument.keys is Keys.SEVERAL


def own_key(_argument: Argument) -> Draw[Value]:
    """One thing of the customer's, by number; the builder wraps around at the last."""
    return of_number(0, MANY - 1, lambda n: Value("the customer's own", OwnedRef(SELF, n)))


def own_key_list(_argument: Argument) -> Draw[Value]:
    """One thing of the customer's, or the first few."""

    def listed(n: int) -> Value:
        first, count = divmod(n, FEW)
        return Value(
            "the customer's own", [OwnedRef(SELF, first + place) for place in range(count + 1)]
        )

    return of_number(0, MANY - 1, listed)


def beyond_keys(argument: Argument) -> Iterator[Value]:
    """Keys of another customer, and keys that do not exist."""
    if argument.keys is Keys.OWNED:
        yield Value("another customer's", OwnedRef(OTHER, 0))
    for text in dict.fromkeys((*UNKNOWN, *argument.strange)):
        yield Value("unknown to the target", text)


def edge_key_lists(_argument: Argument) -> Iterator[Value]:
    """One thing, the same thing twice, and two in another order."""
    first, second = OwnedRef(SELF, 0), OwnedRef(SELF, 1)
    yield Value("a list of one", [first])
    yield Value("a list with one twice", [first, first])
    yield Value("a list in another order", [second, first])


def beyond_key_lists(argument: Argument) -> Iterator[Value]:
    """Lists that name what is not the customer's beside what is, or nothing, or no key."""
    first = OwnedRef(SELF, 0)
    listed: list[tuple[str, list[Json]]] = [
        ("an empty list", []),
        ("a list of another customer's", [OwnedRef(OTHER, 0)]),
        ("a list of the customer's own and another's", [first, OwnedRef(OTHER, 0)]),
        ("a list of null", [None]),
        ("a list of the customer's own and null", [first, None]),
        ("a list of a number", [4711]),
        ("a list of an empty text", [""]),
        ("a list of a list", [[first]]),
        ("a list of an object", [{"key": first}]),
        ("a list with one many times", [first] * 500),
    ]
    for text in UNKNOWN[:2]:
        listed.append(("a list of an unknown key", [text]))
        listed.append(("a list of the customer's own and an unknown key", [first, text]))
    yield from (Value(says, value) for says, value in listed)
    yield Value("a single key instead of a list", first)
    yield Value("an object with one key", {"0": first})
