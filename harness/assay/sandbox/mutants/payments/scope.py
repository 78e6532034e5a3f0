"""Mutants of the scope of payments: segments, accounts, payment types and hosts."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from itertools import takewhile

from assay.sandbox.accounts import Base, Item
from assay.sandbox.messages import Answer
from assay.sandbox.mutants.methods import behind_a_name, elsewhere, lookalike
from assay.sandbox.mutants.mutant import allowing, breaking_pis
from assay.sandbox.payments.policies import SOUND_PAYMENTS, PaymentOperation, PaymentPlace
from assay.sandbox.payments.terms import PaymentType, Segment, is_iban
from assay.sandbox.policies import put

__all__ = ["SCOPE_FAULTS"]

_SOUND = SOUND_PAYMENTS


#: The excluded segments, with their names in the contract.
_EXCLUDED: tuple[tuple[Segment, str], ...] = (
    ("LARGE_PRO", "large-professional"),
    ("CORPORATE", "corporate"),
    ("ASSOCIATION", "association"),
    ("GUARDIAN", "legal-guardian"),
)


def _serves(served: Segment) -> Callable[[Segment, frozenset[Segment]], bool]:
    return allowing(lambda segment, _others: segment == served, _SOUND.segments)


def _not_small(segment: Segment, _others: frozenset[Segment]) -> bool:
    return segment == "PART"


def _taken_for_wards(segment: Segment, others: frozenset[Segment]) -> bool:
    return segment == "PRO" or (segment == "PART" and "GUARDIAN" not in others)


def _savings_too(item: Item, _others: Iterable[Item]) -> bool:
    return item.resource == "account" and item.active and item.online


def _inactive_too(item: Item, _others: Iterable[Item]) -> bool:
    return item.resource == "account" and item.online and not item.savings


def _offline_too(item: Item, _others: Iterable[Item]) -> bool:
    return item.resource == "account" and item.active and not item.savings


def _until_an_odd_one(item: Item, others: Iterable[Item]) -> bool:
    """Accept only accounts that precede the first ineligible one."""
    return item in takewhile(lambda other: _SOUND.debtor(other, ()), others)


def _first_of_all(asked: str, accounts: Collection[str]) -> str | None:
    """Debit the first account where a well-formed IBAN names none."""
    first = next(iter(accounts), None)
    return _SOUND.debited(asked, accounts) or (first if is_iban(asked) else None)


def _not_beside_deferred(type: PaymentType, open: frozenset[PaymentType]) -> bool:
    return type != "immediate" or "deferred" not in open


def _offers(*types: PaymentType) -> Callable[[PaymentType, bool], bool]:
    return allowing(lambda kind, _instant: kind in types, _SOUND.offered)


def _refuses(refused: PaymentType) -> Callable[[PaymentType, bool], bool]:
    return lambda kind, instant: kind != refused and _SOUND.offered(kind, instant)


def _first_form(host: str) -> bool:
    """Serve only the first form of host, not the one in the bank's own domain."""
    return not (host.startswith("www.") and host.endswith(".live.bank.example"))


_FACETS: tuple[tuple[PaymentPlace, str], ...] = (
    ("create-self", "create-payment-links"),
    ("read-self", "read-payment-links"),
    ("modify-self", "modify-payment-links"),
)
#: Types with the facets they break; valid calls of other operations use immediate payments.
_TYPES: tuple[tuple[PaymentType, str], ...] = (
    ("immediate", "payment-types/immediate payments.create/answers execution/main-flow"),
    ("deferred", "payment-types/deferred"),
    ("instant", "payment-types/instant-offered"),
)
_BASES: tuple[tuple[str, Base], ...] = (
    ("elsewhere", elsewhere),
    ("lookalike", lookalike),
    ("behind-a-name", behind_a_name),
)


def _located(
    on: PaymentOperation, base: str
) -> Callable[[PaymentOperation | None, Answer], Answer]:
    """Add the header `Location` to the accepted answers of an operation."""

    def respond(operation: PaymentOperation | None, answer: Answer) -> Answer:
        if operation != on or answer.status >= 300 or not isinstance(answer.body, Mapping):  # noqa: PLR2004
            return answer
        path = f"/payment-requests/{answer.body['paymentRequestResourceId']}"
        return replace(answer, headers=(*answer.headers, ("Location", base + path)))

    return respond


SCOPE_FAULTS = (
    *(
        breaking_pis(
            f"host.{operation}-location",
            f"host/{operation}-payment-links",
            f"the header Location in answers of {operation} names an internal host",
            respond=_located(operation, "http://payments-7.internal.example:8080"),
        )
        for operation in ("create", "modify")
    ),
    *(
        breaking_pis(
            f"segments.{segment}-served",
            f"segments/{word}",
            f"customers of the segment {segment} are served",
            segments=_serves(segment),
        )
        for segment, word in _EXCLUDED
    ),
    breaking_pis(
        "segments.PRO-refused",
        "segments/PRO",
        "customers of the segment PRO are not served",
        segments=_not_small,
    ),
    breaking_pis(
        "segments.PART-refused",
        "segments/PART execution/main-flow",
        "customers of the segment PART are not served if the bank has legal guardians",
        segments=_taken_for_wards,
    ),
    breaking_pis(
        "debtor.unknown-is-the-first",
        "eligible-accounts/refuses-unknown execution/as-asked",
        "where there is no such account, the first of the bank is debited",
        debited=_first_of_all,
    ),
    breaking_pis(
        "debtor.until-an-odd-one",
        "eligible-accounts/serves-ordinary",
        "accounts listed after an ineligible one cannot be debited",
        debtor=_until_an_odd_one,
    ),
    *(
        breaking_pis(
            f"debtor.{kind}",
            f"eligible-accounts/refuses-{kind}",
            f"{kind} accounts can be debited",
            debtor=debtor,
        )
        for kind, debtor in (
            ("savings", _savings_too),
            ("inactive", _inactive_too),
            ("offline", _offline_too),
        )
    ),
    breaking_pis(
        "types.instant-everywhere",
        "payment-types/instant-not-offered",
        "instant payments are accepted by a bank that does not offer them",
        offered=_offers("instant"),
    ),
    *(
        breaking_pis(
            f"types.{kind}-refused", facets, f"{kind} payments are refused", offered=_refuses(kind)
        )
        for kind, facets in _TYPES
    ),
    breaking_pis(
        "types.immediate-beside-deferred",
        "payment-types/immediate",
        "immediate payments are refused while a deferred one from the same account is open",
        beside=_not_beside_deferred,
    ),
    *(
        breaking_pis(
            f"host.{place}-{name}",
            f"host/{facet}",
            f"{place.partition('-')[0]}: the link {place.partition('-')[2]} leads to another host",
            links=put(_SOUND.links, **{place: base}),
        )
        for place, facet in _FACETS
        for name, base in _BASES
    ),
    breaking_pis(
        "host.first-form-only",
        "host/every-host",
        "the host in the bank's own domain is not served",
        serves=_first_form,
    ),
)
