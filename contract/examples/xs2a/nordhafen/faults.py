"""Faulty banks: for each sentence of the document at least one that breaks it, and only it."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from nordhafen.policy import CONSENT_MEMBERS, INSTANT, PAYMENT_MEMBERS, SEPA, TARGET, Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One way to break the sentence in a line of `document.md`."""

    name: str
    line: int
    policy: Policy


def fault(line: int, name: str, **changes: Any) -> Fault:
    """Return the bank that differs from the document in these values."""
    return Fault(name=name, line=line, policy=replace(Policy(), **changes))


def without(members: tuple[str, ...], member: str) -> tuple[str, ...]:
    """Return the members but one."""
    return tuple(each for each in members if each != member)


FAULTS = (
    # -- 1 General ----------------------------------------------------------------------
    fault(3, "request-id-not-required", request_id_required=False),
    fault(3, "request-id-refused-with-422", statuses=(("X-Request-ID: a UUID", 422),)),
    fault(4, "request-id-not-echoed", request_id_echo="none"),
    fault(4, "request-id-of-its-own", request_id_echo="other"),
    fault(5, "answers-as-text", media_type="text/plain"),
    fault(5, "errors-of-another-form", error_member="errors"),
    fault(5, "errors-without-category", error_members=("code", "text")),
    fault(5, "errors-without-code", error_members=("category", "text")),
    fault(5, "errors-as-html", error_type="text/html"),
    fault(6, "day-of-utc", zone="UTC"),
    fault(7, "links-to-another-host", link_host="https://elsewhere.nordhafen.example"),
    # -- 2 Account information consent --------------------------------------------------
    fault(9, "consent-without-link", consent_link=False),
    fault(9, "consent-begins-otherwise", consent_words=(("received", "valid"),)),
    *(
        fault(10, f"{member}-optional", consent_members=without(CONSENT_MEMBERS, member))
        for member in CONSENT_MEMBERS
    ),
    fault(11, "usable-before-authorisation", usable=("received", "valid")),
    fault(11, "not-valid-after-authorisation", authorised_status="received"),
    fault(12, "rejected-under-another-word", consent_words=(("rejected", "refused"),)),
    fault(12, "expired-under-another-word", consent_words=(("expired", "over"),)),
    fault(13, "another-frequency-shown", consent_changes=(("frequencyPerDay", 3),)),
    fault(13, "another-indicator-shown", consent_changes=(("recurringIndicator", False),)),
    fault(14, "consents-of-other-tpps", foreign_consents=True),
    fault(14, "unknown-consent-is-400", statuses=(("no such consent", 400),)),
    fault(15, "one-day-too-long", days_after_valid_until=1),
    fault(15, "one-day-too-short", days_after_valid_until=-1),
    fault(15, "expired-not-shown", expired_shown=False),
    fault(15, "expired-with-another-code", expired_code="CONSENT_INVALID"),
    fault(15, "expired-is-403", statuses=(("CONSENT_EXPIRED", 403),)),
    fault(16, "validity-of-200-days", longest_validity=200),
    fault(16, "validity-of-90-days", longest_validity=90),
    fault(16, "reduced-in-silence", reduced_shown=False),
    fault(17, "former-consent-stays", replaces="never"),
    fault(17, "former-consent-ends-at-once", replaces="made"),
    fault(18, "one-off-four-times", one_off_frequencies=()),
    fault(19, "deleted-consent-opens", deleted_opens=True),
    fault(19, "deleted-consent-shown-otherwise", deleted_status="revokedByPsu"),
    fault(20, "idle-for-ten-minutes", idle=timedelta(minutes=10)),
    fault(20, "idle-for-two-minutes", idle=timedelta(minutes=2)),
    fault(20, "disconnected-goes-back", disconnected_goes_back=True),
    fault(21, "back-to-where-the-browser-says", returns_to="asked"),
    fault(21, "back-to-the-bank", returns_to="home"),
    # -- 3 Accounts, balances, transactions ---------------------------------------------
    fault(23, "all-accounts", accounts_listed="all"),
    fault(23, "first-account-only", accounts_listed="first"),
    fault(24, "account-without-currency", account_members=("resourceId", "iban")),
    fault(24, "wrong-check-digits", iban_valid=False),
    fault(25, "balances-by-any-access", balance_kinds=("accounts", "balances", "transactions")),
    fault(26, "opening-balance", balance_types=("closingBooked", "openingBooked")),
    fault(27, "booking-status-optional", booking_status_required=False),
    fault(
        27,
        "booking-status-refused-with-422",
        statuses=(("bookingStatus: booked, pending or both", 422),),
    ),
    fault(28, "booked-with-pending", shows_pending=("booked", "pending", "both")),
    fault(28, "pending-with-booked", shows_booked=("booked", "pending", "both")),
    fault(28, "both-without-pending", shows_pending=("pending",)),
    fault(29, "from-excluded", from_included=False),
    fault(29, "to-excluded", to_included=False),
    fault(30, "whole-history-for-an-hour", history_window=timedelta(hours=1)),
    fault(30, "whole-history-for-five-minutes", history_window=timedelta(minutes=5)),
    fault(30, "history-of-60-days", recent_days=60),
    fault(30, "history-of-91-days", recent_days=91),
    fault(30, "history-of-89-days", recent_days=89),
    fault(30, "history-of-120-days", recent_days=120),
    fault(31, "pages-of-19", page_size=19, page_step=19),
    fault(31, "pages-with-gaps", page_step=21),
    fault(32, "five-times-a-day", absent_limit=5, absent_more=1),
    fault(32, "four-times-whatever-was-agreed", absent_uses_frequency=False),
    fault(32, "as-often-as-was-agreed", absent_limit=1000),
    fault(
        32, "one-count-for-all-consents", absent_counts=("customer", "endpoint", "account", "day")
    ),
    fault(32, "one-count-for-each-tpp", absent_counts=("tpp", "endpoint", "account", "day")),
    fault(32, "one-count-for-all-accounts", absent_counts=("consent", "endpoint", "day")),
    fault(32, "one-count-for-all-endpoints", absent_counts=("consent", "account", "day")),
    fault(32, "counts-for-ever", absent_counts=("consent", "endpoint", "account")),
    fault(32, "exceeded-is-403", exceeded_status=403),
    fault(32, "exceeded-with-another-code", exceeded_code="SERVICE_BLOCKED"),
    fault(33, "limit-with-customer", present_limit=10),
    fault(34, "owner-always", owner_name="always"),
    fault(34, "owner-never", owner_name="never"),
    fault(34, "owner-once-asked", owner_name="once"),
    fault(34, "owner-of-the-second-account", owner_always=("others",)),
    fault(35, "card-accounts", card_accounts=True),
    fault(35, "card-accounts-are-400", statuses=(("no such path", 400),)),
    # -- 4 Payments -----------------------------------------------------------------------
    fault(37, "payment-without-link", payment_link=False),
    fault(37, "payment-begins-otherwise", payment_words=(("RCVD", "PDNG"),)),
    fault(38, "no-instant", products=(SEPA,)),
    fault(38, "target-2-is-400", statuses=(("PRODUCT_UNKNOWN", 400),)),
    fault(38, "target-2", products=(SEPA, INSTANT, TARGET)),
    *(
        fault(39, f"{member}-optional", payment_members=without(PAYMENT_MEMBERS, member))
        for member in PAYMENT_MEMBERS
    ),
    fault(39, "dollars", currencies=("EUR", "USD")),
    fault(40, "another-name-shown", payment_changes=(("creditorName", "Jemand"),)),
    fault(41, "executed-under-another-word", payment_words=(("ACSC", "ACCC"),)),
    fault(41, "rejected-comes-back", ended_stays=False),
    fault(42, "signed-is-received", payment_words=(("ACTC", "RCVD"),)),
    fault(42, "received-is-signed", payment_words=(("RCVD", "ACTC"),)),
    fault(43, "small-amounts-unsigned", unsigned_limit="30.00"),
    fault(43, "sca-not-finalised", sca_finalised="received"),
    fault(44, "days-in-the-past", past_days=True),
    fault(44, "past-day-is-422", statuses=(("requestedExecutionDate: in the past", 422),)),
    fault(44, "a-day-late", days_late=1),
    fault(44, "never-put-off", deferred=False),
    fault(45, "no-cancellation", cancellable=()),
    fault(45, "cancelled-is-executed", cancelled_executed=True),
    fault(45, "cancelled-shown-otherwise", cancelled_status="RJCT"),
    fault(46, "two-payments", same_request=timedelta(0)),
    fault(46, "one-for-an-hour", same_request=timedelta(hours=1)),
    fault(46, "another-body-is-no-conflict", conflict=False),
    fault(46, "another-body-is-400", statuses=(("REQUEST_ID_USED", 400),)),
    fault(47, "photo-tan-above-20000", photo_tan_above="20000.00"),
    fault(47, "photo-tan-from-15000", photo_tan_from=True),
    fault(47, "any-factor", large_factors=("photoTAN", "smsTAN")),
    fault(48, "three-decimals", decimals=3),
    fault(48, "three-decimals-are-422", statuses=(("amount", 422),)),
)
