"""Mutants of what lists show: the currencies, types and identifiers in them.

A missing identifier is shown on an extra row of a one-page list: if it were removed from a
real account, that account would be missing from the list too.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import cast

from assay.sandbox.accounts import Currency, IdSeed, Position, iban
from assay.sandbox.messages import KINDS, Answer, Json, Request, Resource
from assay.sandbox.mutants.mutant import answering, breaking
from assay.sandbox.policies import SOUND, put

__all__ = ["FIELDS"]

_PAGE = 5


def _first_dollar(position: Position) -> str:
    return "EUR" if position.index else "USD"


def _last_franc(position: Position) -> str:
    return "CHF" if position.index == position.count - 1 else "EUR"


def _lower(_spot: Position) -> str:
    return "eur"


_CURRENCIES: tuple[tuple[str, str, Currency], ...] = (
    ("first-in-dollars", "the first entry is in dollars", _first_dollar),
    ("last-in-francs", "the very last entry is in francs", _last_franc),
    ("lower-case", "the currency code is in lower case", _lower),
)


_READ: tuple[tuple[Resource, str], ...] = (("account", "balance"), ("card", "outstanding"))
_TYPES: tuple[tuple[str, str, str, tuple[str | None, ...]], ...] = (
    ("other-type", "", "the last has the type ITAV", ("CLBD", "VALU", "ITAV")),
    ("type-lower-case", "", "a type is in lower case", ("CLBD", "valu", "OTHR")),
    ("fourth-type", "", "there is a fourth with the type XPCD", ("CLBD", "VALU", "OTHR", "XPCD")),
    ("last-untyped", "-present", "the last has no type", ("CLBD", "VALU", None)),
    ("first-untyped", "-present", "the first has no type", (None, "VALU", "OTHR")),
)


def _wrong_check_digits(id_seed: IdSeed) -> str:
    right = iban(id_seed)
    return f"FR{(int(right[2:4]) + 1) % 100:02d}{right[4:]}"


def _wrong_last_digit(id_seed: IdSeed) -> str:
    right = iban(id_seed)
    return f"{right[:-1]}{(int(right[-1]) + 1) % 10}"


def _domestic(id_seed: IdSeed) -> str:
    return iban(id_seed)[4:]


def _clear_pan(prefix: int) -> Callable[[IdSeed], str]:
    def pan(id_seed: IdSeed) -> str:
        digits = f"{prefix:06d}{(id_seed.seed + id_seed.serial * 7919) % 10**9:09d}"
        doubled = [int(digit) * 2 for digit in digits[::2]]
        total = sum(map(int, digits[1::2])) + sum(n - 9 * (n > 9) for n in doubled)  # noqa: PLR2004
        return f"{digits}{-total % 10}"

    return pan


def _blotted(id_seed: IdSeed) -> str:
    pan = _clear_pan(497_010)(id_seed)
    return f"{pan[:6]}XXXXXX{pan[12:]}"


def _with_room(request: Request, answer: Answer) -> bool:
    """Return whether the answer is a last page with room for one more row."""
    if request.operation != "accounts" or answer.status != HTTPStatus.OK:
        return False
    body = cast("Mapping[str, Mapping[str, Json]]", answer.body)
    return "next" not in body["links"] and len(body["accounts"]) < _PAGE


def _nameless(resource: Resource) -> Callable[[Request, Answer], Answer]:
    row: Mapping[str, Json] = {"kind": resource, "name": "En cours d'ouverture", "currency": "EUR"}

    def altered(answer: Answer) -> Answer:
        body = cast("dict[str, list[Json]]", answer.body)
        body = {**body, "accounts": [*body["accounts"], row]}
        return replace(answer, body=cast("Json", body))

    return answering(_with_room, altered)


FIELDS = (
    *(
        breaking(
            f"euro.{kind}-{name}",
            f"euro/{kind}",
            f"{kind}: {says}",
            currency=put(SOUND.currency, **{kind: currency}),
        )
        for kind in KINDS.values()
        for name, says, currency in _CURRENCIES
    ),
    *(
        breaking(
            f"balance-type.{read}-{name}",
            f"balance-type/{read}{facet}",
            f"{read}: {says}",
            balance_types=put(SOUND.balance_types, **{resource: types}),
        )
        for resource, read in _READ
        for name, facet, says, types in _TYPES
    ),
    breaking(
        "iban.wrong-check-digits",
        "iban/account",
        "the check digits of IBANs are one too high",
        mint=put(SOUND.mint, account=_wrong_check_digits),
    ),
    breaking(
        "iban.wrong-last-digit",
        "iban/account",
        "the last digit of IBANs is wrong",
        mint=put(SOUND.mint, account=_wrong_last_digit),
    ),
    breaking(
        "iban.domestic",
        "iban/account",
        "the domestic account number is shown instead of the IBAN",
        mint=put(SOUND.mint, account=_domestic),
    ),
    breaking(
        "iban.clear-visa",
        "iban/card",
        "cards are identified by their clear PAN",
        mint=put(SOUND.mint, card=_clear_pan(497_010)),
    ),
    breaking(
        "iban.clear-mastercard",
        "iban/card",
        "cards are identified by their clear PAN of another scheme",
        mint=put(SOUND.mint, card=_clear_pan(513_200)),
    ),
    breaking(
        "iban.masked-pan",
        "iban/card",
        "cards are identified by a PAN of which six digits are blotted out",
        mint=put(SOUND.mint, card=_blotted),
    ),
    breaking(
        "iban.account-nameless",
        "iban/account-present",
        "an account is listed without its IBAN",
        respond=_nameless("account"),
    ),
    breaking(
        "iban.card-nameless",
        "iban/card-present",
        "a card is listed without its encrypted PAN",
        respond=_nameless("card"),
    ),
)
