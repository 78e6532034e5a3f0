"""Faults of who and what is served: segments, accounts, types of payments, and hosts."""

from collections.abc import Callable

from assay.sandbox.mutants.links import behind_a_name, elsewhere, lookalike
from assay.sandbox.mutants.mutant import Mutant
from assay.sandbox.mutants.payments.change import breaking_pis
from assay.sandbox.payments.policies import SOUND_PAYMENTS, PaymentPlace
from assay.sandbox.payments.terms import SEGMENTS, PaymentType, Segment
from assay.sandbox.policies import put
from assay.sandbox.render import Base
from assay.sandbox.roster import Item

__all__ = ["SCOPE_FAULTS"]

_SOUND = SOUND_PAYMENTS


def _segment(segment: Segment) -> Mutant:
    served = segment in _SOUND.segments
    return breaking_pis(
        f"segments.{segment}-{'refused' if served else 'served'}",
        f"segments/{segment}",
        f"customers of the segment {segment} are {'not ' if served else ''}served",
        segments=_SOUND.segments ^ {segment},
    )


def _savings_too(item: Item) -> bool:
    return item.resource == "account" and item.active and item.online


def _inactive_too(item: Item) -> bool:
    return item.resource == "account" and item.online and not item.savings


def _offline_too(item: Item) -> bool:
    return item.resource == "account" and item.active and not item.savings


def _offers(*types: PaymentType) -> Callable[[PaymentType, bool], bool]:
    return lambda kind, instant: kind in types or _SOUND.offered(kind, instant)


def _refuses(refused: PaymentType) -> Callable[[PaymentType, bool], bool]:
    return lambda kind, instant: kind != refused and _SOUND.offered(kind, instant)


def _first_form(host: str) -> bool:
    """Answer the first form of host, and not the one of the bank's own domain."""
    return not (host.startswith("www.") and host.endswith(".live.bank.example"))


_FACETS: tuple[tuple[PaymentPlace, str], ...] = (
    ("create-self", "create-payment-links"),
    ("create-approval", "create-payment-links"),
    ("read-self", "read-payment-links"),
    ("modify-self", "modify-payment-links"),
)
_TYPES: tuple[tuple[PaymentType, str], ...] = (
    ("immediate", "immediate"),
    ("deferred", "deferred"),
    ("instant", "instant-offered"),
)
_BASES: tuple[tuple[str, Base], ...] = (
    ("elsewhere", elsewhere),
    ("lookalike", lookalike),
    ("behind-a-name", behind_a_name),
)

SCOPE_FAULTS = (
    *(_segment(segment) for segment in SEGMENTS),
    *(
        breaking_pis(
            f"debtor.{kind}",
            f"eligible-accounts/refuses-{kind}",
            f"payments may be made from accounts that are {kind}",
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
        "instant payments are accepted at a bank that does not offer them",
        offered=_offers("instant"),
    ),
    *(
        breaking_pis(
            f"types.{kind}-refused",
            f"payment-types/{facet}",
            f"{kind} payments are refused",
            offered=_refuses(kind),
        )
        for kind, facet in _TYPES
    ),
    *(
        breaking_pis(
            f"host.{place}-{name}",
            f"host/{facet}",
            f"the link {place.partition('-')[2]} of {place.partition('-')[0]} leaves the host",
            links=put(_SOUND.links, **{place: base}),
        )
        for place, facet in _FACETS
        for name, base in _BASES
    ),
    breaking_pis(
        "host.first-form-only",
        "host/every-host",
        "the host of the bank's own domain is not served",
        serves=_first_form,
    ),
)
