"""What the bank does where the document says it: one value for each way to break a sentence.

`Policy()` is the bank as the document has it. `faults.py` lists the values that break it. The
number in a comment is the line of the sentence in `document.md`.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

CONSENT_MEMBERS = (
    "access",
    "recurringIndicator",
    "validUntil",
    "frequencyPerDay",
    "combinedServiceIndicator",
)
PAYMENT_MEMBERS = ("debtorAccount", "creditorAccount", "creditorName", "instructedAmount")
SEPA, INSTANT, TARGET = (
    "sepa-credit-transfers",
    "instant-sepa-credit-transfers",
    "target-2-payments",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One way to run the bank."""

    #: Other statuses of refusals, by the text of the refusal or else its code.
    statuses: tuple[tuple[str, int], ...] = ()  # 3, 14, 15, 27, 35, 38, 44, 46, 48

    # -- 1 General --------------------------------------------------------------------
    request_id_required: bool = True  # 3
    request_id_echo: str = "same"  # 4: same, none, other
    media_type: str = "application/json"  # 5
    error_member: str = "tppMessages"  # 5
    error_members: tuple[str, ...] = ("category", "code", "text")  # 5
    error_type: str = "application/json"  # 5
    zone: str = "Europe/Berlin"  # 6
    link_host: str | None = None  # 7: the host of the call

    # -- 2 Account information consent ------------------------------------------------
    consent_link: bool = True  # 9
    consent_members: tuple[str, ...] = CONSENT_MEMBERS  # 10
    usable: tuple[str, ...] = ("valid",)  # 11
    authorised_status: str = "valid"  # 11
    consent_words: tuple[tuple[str, Any], ...] = ()  # 9, 12: other words for some statuses
    consent_changes: tuple[tuple[str, Any], ...] = ()  # 13: members that are shown otherwise
    foreign_consents: bool = False  # 14
    days_after_valid_until: int = 0  # 15
    expired_code: str = "CONSENT_EXPIRED"  # 15
    expired_shown: bool = True  # 15
    longest_validity: int = 180  # 16
    reduced_shown: bool = True  # 16
    replaces: str = "authorised"  # 17: authorised, made, never
    one_off_frequencies: tuple[int, ...] = (1,)  # 18
    deleted_status: str = "terminatedByTpp"  # 19
    deleted_opens: bool = False  # 19
    idle: timedelta = timedelta(minutes=5)  # 20
    disconnected_goes_back: bool = False  # 20
    returns_to: str = "own"  # 21: own, asked (what the browser says), home

    # -- 3 Accounts, balances, transactions -------------------------------------------
    accounts_listed: str = "named"  # 23: named, all, first
    account_members: tuple[str, ...] = ("resourceId", "iban", "currency")  # 24
    iban_valid: bool = True  # 24
    balance_kinds: tuple[str, ...] = ("balances",)  # 25
    balance_types: tuple[str, ...] = ("closingBooked", "expected", "interimAvailable")  # 26
    booking_status_required: bool = True  # 27
    shows_booked: tuple[str, ...] = ("booked", "both")  # 28
    shows_pending: tuple[str, ...] = ("pending", "both")  # 28
    from_included: bool = True  # 29
    to_included: bool = True  # 29
    recent_days: int = 90  # 30
    history_window: timedelta = timedelta(minutes=15)  # 30
    page_size: int = 20  # 31
    page_step: int = 20  # 31
    absent_limit: int = 4  # 32
    absent_more: int = 0  # 32
    absent_uses_frequency: bool = True  # 32
    absent_counts: tuple[str, ...] = ("consent", "endpoint", "account", "day")  # 32
    exceeded_status: int = 429  # 32
    exceeded_code: str = "ACCESS_EXCEEDED"  # 32
    present_limit: int | None = None  # 33
    owner_name: str = "asked"  # 34: asked, always, never, once (asked by any former consent)
    owner_always: tuple[
        str, ...
    ] = ()  # 34: given unasked for "others" (all but the first), "absent"
    card_accounts: bool = False  # 35

    # -- 4 Payments ---------------------------------------------------------------------
    payment_link: bool = True  # 37
    products: tuple[str, ...] = (SEPA, INSTANT)  # 38
    payment_members: tuple[str, ...] = PAYMENT_MEMBERS  # 39
    currencies: tuple[str, ...] = ("EUR",)  # 39
    payment_changes: tuple[tuple[str, Any], ...] = ()  # 40: members that are shown otherwise
    payment_words: tuple[tuple[str, Any], ...] = ()  # 37, 41, 42: other words for some statuses
    ended_stays: bool = True  # 41
    signed_status: str = "ACTC"  # 42
    unsigned_limit: str | None = None  # 43: amounts below this need no SCA
    sca_finalised: str = "finalised"  # 43
    past_days: bool = False  # 44
    days_late: int = 0  # 44: days between the requested day and the execution
    deferred: bool = True  # 44
    cancellable: tuple[str, ...] = ("RCVD", "ACTC")  # 45
    cancelled_status: str = "CANC"  # 45
    cancelled_executed: bool = False  # 45
    same_request: timedelta = timedelta(hours=24)  # 46
    conflict: bool = True  # 46: another body is refused
    photo_tan_above: str = "15000.00"  # 47
    photo_tan_from: bool = False  # 47: needed for the amount itself, too
    large_factors: tuple[str, ...] = ("photoTAN",)  # 47
    decimals: int = 2  # 48
