"""Mutants of which payments are served (segments, accounts, types, hosts), repeats and CASH."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import takewhile

from assay.sandbox.accounts import Base, Item
from assay.sandbox.messages import Answer
from assay.sandbox.mutants.methods import behind_a_name, elsewhere, lookalike
from assay.sandbox.mutants.mutant import (
    allowing,
    always,
    breaking_pis,
    edge_flipped,
    never,
    one_less,
    one_more,
)
from assay.sandbox.payments.policies import (
    SOUND_PAYMENTS,
    NamingCall,
    PaymentOperation,
    PaymentPlace,
)
from assay.sandbox.payments.records import Payment
from assay.sandbox.payments.rules import (
    MORE_THAN_72_HOURS,
    CashRule,
    DuplicateRule,
    Facts,
    compared_parameters,
    own_registration,
)
from assay.sandbox.payments.terms import (
    PURPOSES,
    Factor,
    PaymentType,
    Segment,
    Status,
    Terms,
    is_iban,
)
from assay.sandbox.policies import put

__all__ = ["RULE_FAULTS", "SCOPE_FAULTS"]

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
_ELSEWHERE: tuple[tuple[NamingCall, str], ...] = (
    ("read", "shows a payment"),
    ("modify", "takes changes"),
    ("cancel", "takes cancellations"),
)


def _at_any(_same: bool) -> bool:
    return True


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


# fmt: off
SCOPE_FAULTS = (
    *(breaking_pis(f"host.{operation}-location", f"host/{operation}-payment-links",
          f"the header Location in answers of {operation} names an internal host",
          respond=_located(operation, "http://payments-7.internal.example:8080"))
      for operation in ("create", "modify")),
    *(breaking_pis(f"segments.{segment}-served", f"segments/{word}",
          f"customers of the segment {segment} are served", segments=_serves(segment))
      for segment, word in _EXCLUDED),
    breaking_pis("segments.PRO-refused", "segments/PRO",
        "customers of the segment PRO are not served", segments=_not_small),
    breaking_pis("segments.PRO-rejected", "segments/PRO",
        "payments of the segment PRO are accepted, and rejected once they are signed",
        segments=_not_small, at_once=False),
    breaking_pis("segments.PART-refused", "segments/PART execution/main-flow",
        "customers of the segment PART are not served if the bank has legal guardians",
        segments=_taken_for_wards),
    breaking_pis("debtor.unknown-is-the-first",
        "eligible-accounts/refuses-unknown execution/as-asked",
        "where there is no such account, the first of the bank is debited", debited=_first_of_all),
    breaking_pis("debtor.until-an-odd-one", "eligible-accounts/serves-ordinary",
        "accounts listed after an ineligible one cannot be debited", debtor=_until_an_odd_one),
    *(breaking_pis(f"debtor.{kind}", f"eligible-accounts/refuses-{kind}",
          f"{kind} accounts can be debited", debtor=debtor)
      for kind, debtor in (
          ("savings", _savings_too),
          ("inactive", _inactive_too),
          ("offline", _offline_too),
      )),
    breaking_pis("types.instant-everywhere", "payment-types/instant-not-offered",
        "instant payments are accepted by a bank that does not offer them",
        offered=_offers("instant")),
    *(breaking_pis(f"types.{kind}-refused", facets,
          f"{kind} payments are refused", offered=_refuses(kind))
      for kind, facets in _TYPES),
    breaking_pis("types.instant-rejected-late", "payment-types/instant-offered",
        "instant payments are accepted, and rejected once they are signed",
        offered=_refuses("instant"), at_once=False),
    breaking_pis("types.immediate-beside-deferred", "payment-types/immediate",
        "immediate payments are refused while a deferred one from the same account is open",
        beside=_not_beside_deferred),
    *(breaking_pis(f"host.{place}-{name}", f"host/{facet}",
          f"{place.partition('-')[0]}: the link {place.partition('-')[2]} leads to another host",
          links=put(_SOUND.links, **{place: base}))
      for place, facet in _FACETS for name, base in _BASES),
    *(breaking_pis(f"host.{asked}-elsewhere", f"host/{asked}-payment-elsewhere",
          f"the gateway {says} at the host of any bank",
          at_banks=put(_SOUND.at_banks, **{asked: _at_any}))
      for asked, says in _ELSEWHERE),
    breaking_pis("host.first-form-only", "host/every-host",
        "the host in the bank's own domain is not served", serves=_first_form),
)
# fmt: on


_CASH = CashRule()
_DUPLICATE = DuplicateRule()
_ORIGINALS = _DUPLICATE.originals


def _hours(count: int) -> timedelta:
    return timedelta(hours=count)


def _other_than_72_hours(age: timedelta) -> bool:
    """Compare for inequality with 72 hours instead of for more."""
    return age != _hours(72)


def _whole_hours(age: timedelta) -> bool:
    """Round hours up."""
    return -(-age // _hours(1)) >= 72  # noqa: PLR2004


def _within_four_days(age: timedelta) -> bool:
    return _hours(72) < age < _hours(96)


def _whole_days(age: timedelta) -> bool:
    """Require more than three whole days."""
    return age.days > 3  # noqa: PLR2004


def _anybodys(facts: Facts) -> datetime | None:
    return facts.registered or facts.registered_by_others


def _known_from_the_start(facts: Facts) -> datetime | None:
    """Treat an unregistered creditor as registered long ago."""
    return own_registration(facts) or facts.signed - _hours(1_000)


def _sms_for_the_unknown(facts: Facts) -> datetime | None:
    """Treat a creditor no customer registered as trusted, if signed with an SMS code."""
    unknown = facts.registered is None and facts.registered_by_others is None
    return _known_from_the_start(facts) if unknown and facts.factor == "sms" else facts.registered


def _not_by_soft_token(payment: Payment) -> bool:
    odd = payment.terms.purpose == "CASH" and payment.factor == "soft-token"
    return not odd and _SOUND.executable(payment)


def _exempt(*factors: Factor) -> CashRule:
    return replace(_CASH, exempt=frozenset(factors))


def _purposes(*purposes: str) -> CashRule:
    return replace(_CASH, purposes=frozenset(purposes))


#: A parameter that does not count, its field, and what else that breaks: customers of two segments
#: pay the same from accounts of their own.
_IGNORED = (
    ("debtor", "debtorAccount", " segments/PRO"),
    ("creditor", "creditorAccount", ""),
    ("amount", "amount", ""),
    ("purpose", "categoryPurpose", ""),
)


_NOT_EXECUTED: tuple[tuple[Status, str], ...] = (
    ("cancelled", "cancelled"),
    ("refused", "refused"),
    ("received", "unsigned"),
)


def _ignoring(parameter: str) -> DuplicateRule:
    """Ignore one parameter in comparing payments."""

    def parameters(terms: Terms, day: date) -> Hashable:
        if parameter == "amount":
            return compared_parameters(replace(terms, amount="1.00"), day)
        return compared_parameters(replace(terms, **{parameter: ""}), day)  # type: ignore[arg-type]

    return replace(_DUPLICATE, parameters=parameters)


def _any_day(terms: Terms, _day: date) -> Hashable:
    return compared_parameters(terms, date.min)


def _same_month(terms: Terms, day: date) -> Hashable:
    return compared_parameters(terms, day.replace(day=1))


#: Rows that must be rejected and are signed with an SMS code.
_SIGNED_WITH_SMS = (
    "cash/categoryPurpose-CASH cash/creditorAccount-by-another"
    " cash/creditorAccount-just-under-72h cash/creditorAccount-at-72h"
)

# fmt: off
RULE_FAULTS = (
    breaking_pis("duplicate.races", "duplicate/at-once",
        "two payments signed at the same time are both checked before either is executed",
        interleaves=bool),
    breaking_pis("duplicate.never", "duplicate/repeat-refused duplicate/at-once",
        "a repeat is executed like any other payment",
        duplicate=replace(_DUPLICATE, originals=frozenset())),
    breaking_pis("duplicate.for-an-hour", "duplicate/repeat-refused",
        "a repeat after more than an hour is executed like any other payment",
        duplicate=replace(_DUPLICATE, window=timedelta(hours=1))),
    breaking_pis("duplicate.only-the-last", "duplicate/repeat-refused",
        "a repeat is executed if another payment was signed in between",
        duplicate=replace(_DUPLICATE, memory=1)),
    *(breaking_pis(f"duplicate.any-{parameter}",
          f"duplicate/{field}-changed-accepted{more}",
          f"payments that differ only in their {parameter} count as repeats",
          duplicate=_ignoring(parameter))
      for parameter, field, more in _IGNORED),
    breaking_pis("duplicate.any-day", "duplicate/next-day-accepted",
        "payments of different days count as repeats",
        duplicate=replace(_DUPLICATE, parameters=_any_day)),
    breaking_pis("duplicate.same-month", "duplicate/next-day-accepted",
        "payments of the same month count as repeats",
        duplicate=replace(_DUPLICATE, parameters=_same_month)),
    *(breaking_pis(f"duplicate.of-{status}", f"duplicate/after-{facet}-accepted",
          f"a payment that is {status} cannot be repeated, like an executed one",
          duplicate=replace(_DUPLICATE, originals=_ORIGINALS | {status}))
      for status, facet in _NOT_EXECUTED),
    breaking_pis("cash.never", f"{_SIGNED_WITH_SMS} cash/factor-cap",
        "CASH is executed like any other payment", cash=_purposes()),
    breaking_pis("cash.sms-is-enough", _SIGNED_WITH_SMS,
        "an SMS code exempts from the rule, like the soft token",
        cash=_exempt("soft-token", "sms")),
    breaking_pis("cash.sms-is-enough-for-the-unknown", "cash/categoryPurpose-CASH",
        "an SMS code exempts payments to creditors that no customer registered",
        cash=replace(_CASH, registration=_sms_for_the_unknown)),
    breaking_pis("cash.cap-is-enough", "cash/factor-cap",
        "the card reader exempts from the rule, like the soft token",
        cash=_exempt("soft-token", "cap")),
    breaking_pis("cash.soft-token-too", "cash/factor-soft-token",
        "the soft token does not exempt from the rule", cash=_exempt()),
    breaking_pis("cash.soft-token-waits", "cash/factor-soft-token",
        "CASH payments signed with the soft token wait for ever", executable=_not_by_soft_token),
    breaking_pis("cash.usual-payments-too", "cash/categoryPurpose-not-CASH execution/main-flow",
        "dividends are treated like CASH", cash=_purposes("CASH", "DVPM")),
    breaking_pis("cash.suppliers-too", "cash/categoryPurpose-not-CASH-other",
        "payments to suppliers are treated like CASH", cash=_purposes("CASH", "SUPP")),
    breaking_pis("cash.every-purpose",
        "cash/categoryPurpose-not-CASH cash/categoryPurpose-not-CASH-other execution/main-flow",
        "every payment is treated like CASH", cash=_purposes(*PURPOSES)),
    breaking_pis("cash.unregistered",
        "cash/categoryPurpose-CASH cash/factor-cap cash/creditorAccount-by-another",
        "creditors that the customer never registered are trusted",
        cash=replace(_CASH, registration=_known_from_the_start)),
    breaking_pis("cash.anybodys-registration", "cash/creditorAccount-by-another",
        "a registration by another customer counts", cash=replace(_CASH, registration=_anybodys)),
    breaking_pis("cash.registration-ignored",
        "cash/creditorAccount-just-over-72h cash/creditorAccount-long",
        "registrations are ignored", cash=replace(_CASH, trusted=never(MORE_THAN_72_HOURS))),
    breaking_pis("cash.other-than-72-hours", "cash/creditorAccount-just-under-72h",
        "a registration of any age except 72 hours is trusted",
        cash=replace(_CASH, trusted=_other_than_72_hours)),
    breaking_pis("cash.at-72-hours", "cash/creditorAccount-at-72h",
        "a registration of exactly 72 hours is trusted",
        cash=replace(_CASH, trusted=edge_flipped(MORE_THAN_72_HOURS))),
    *(breaking_pis(f"cash.{name}",
          "cash/creditorAccount-at-72h cash/creditorAccount-just-under-72h",
          says, cash=replace(_CASH, trusted=trusted))
      for name, says, trusted in (
          ("begun-hours", "the age of a registration is rounded up to whole hours", _whole_hours),
          ("over-71-hours", "a registration of more than 71 hours is trusted",
           one_less(MORE_THAN_72_HOURS)),
          ("any-registration", "a registration of any age is trusted", always(MORE_THAN_72_HOURS)),
      )),
    *(breaking_pis(f"cash.{name}", "cash/creditorAccount-just-over-72h",
          says, cash=replace(_CASH, trusted=trusted))
      for name, says, trusted in (
          ("over-73-hours", "a registration must be more than 73 hours old",
           one_more(MORE_THAN_72_HOURS)),
          ("whole-days", "a registration must be four whole days old", _whole_days),
      )),
    breaking_pis("cash.within-four-days", "cash/creditorAccount-long",
        "a registration of four days or more has expired",
        cash=replace(_CASH, trusted=_within_four_days)),
)
# fmt: on
