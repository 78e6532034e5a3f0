"""What a run of the contract finds of each fault of the example, and what it does not."""

FOUND = {
    "request-id-not-required": (
        "request-id/cancel-payment-missing",
        "request-id/make-payment-invalid",
        "request-id/make-payment-missing",
        "request-id/payment-invalid",
        "request-id/payment-missing",
        "request-id/payment-status-invalid",
        "request-id/payment-status-missing",
    ),
    "request-id-not-echoed": (
        "request-id.returned/cancel-payment-returned",
        "request-id.returned/make-payment-returned",
        "request-id.returned/payment-returned",
        "request-id.returned/payment-status-returned",
    ),
    "request-id-of-its-own": (
        "request-id.returned/cancel-payment-returned",
        "request-id.returned/make-payment-returned",
        "request-id.returned/payment-returned",
        "request-id.returned/payment-status-returned",
    ),
    "answers-as-text": (
        "json/media-type",
    ),
    "links-to-another-host": (
        "links/make-payment-links",
    ),
    "idle-for-ten-minutes": (
        "payments.idle/dead-after",
    ),
    "idle-for-two-minutes": (
        "payments.idle/alive-before",
    ),
    "disconnected-goes-back": (
        "payments.idle/no-redirection",
    ),
    "back-to-where-the-browser-says": (
        "payments.back/only-there",
    ),
    "back-to-the-bank": (
        "payments.back/after-signing",
    ),
    "payment-without-link": (
        "payments.executed/main-flow",
    ),
    "payment-begins-otherwise": (
        "payments.status/words",
    ),
    "no-instant": (
        "payments.products/instant-sepa-credit-transfers",
    ),
    "target-2": (
        "payments.no-target-2/target-2-payments-refused",
    ),
    "debtorAccount-optional": (
        "payments.mandatory/debtorAccount-missing",
    ),
    "creditorAccount-optional": (
        "payments.mandatory/creditorAccount-missing",
    ),
    "creditorName-optional": (
        "payments.mandatory/creditorName-empty",
        "payments.mandatory/creditorName-missing",
        "payments.mandatory/creditorName-null",
        "payments.mandatory/creditorName-type",
    ),
    "instructedAmount-optional": (
        "payments.mandatory/instructedAmount-missing",
    ),
    "dollars": (
        "payments.euro/other-value",
    ),
    "another-name-shown": (
        "payments.content/creditorName",
    ),
    "executed-under-another-word": (
        "payments.status/words",
    ),
    "rejected-comes-back": (
        "payments.status/final-later",
    ),
    "signed-is-received": (
        "payments.status/signed",
    ),
    "received-is-signed": (
        "payments.status/first",
    ),
    "small-amounts-unsigned": (
        "payments.executed/unsigned-undone",
        "payments.sca/even-instructedAmount",
    ),
    "sca-not-finalised": (
        "payments.sca-status/signed",
    ),
    "a-day-late": (
        "payments.executed/not-late",
    ),
    "never-put-off": (
        "payments.executed/not-early",
    ),
    "no-cancellation": (
        "payments.cancel/accepted",
    ),
    "cancelled-is-executed": (
        "payments.cancel/by-customer-never-done",
        "payments.cancel/by-tpp-never-done",
        "payments.executed/cancelled-undone",
    ),
    "two-payments": (
        "payments.same-request/conflict",
        "payments.same-request/late",
        "payments.same-request/once",
        "payments.same-request/repeated",
    ),
    "one-for-an-hour": (
        "payments.same-request/late",
    ),
    "another-body-is-no-conflict": (
        "payments.same-request/conflict",
    ),
    "photo-tan-above-20000": (
        "payments.large/instructedAmount-just-above-15000",
    ),
    "photo-tan-from-15000": (
        "payments.large/instructedAmount-at-15000",
    ),
    "any-factor": (
        "payments.large/instructedAmount-just-above-15000",
    ),
}
#: Faults of what the contract does not say yet, with the reason.
NOT_FOUND: dict[str, str] = {
    "errors-of-another-form": "TODO",
    "day-of-utc": "TODO",
    "consent-without-link": "TODO",
    "consent-begins-otherwise": "TODO",
    "access-optional": "TODO",
    "recurringIndicator-optional": "TODO",
    "validUntil-optional": "TODO",
    "frequencyPerDay-optional": "TODO",
    "combinedServiceIndicator-optional": "TODO",
    "usable-before-authorisation": "TODO",
    "not-valid-after-authorisation": "TODO",
    "rejected-under-another-word": "TODO",
    "expired-under-another-word": "TODO",
    "another-frequency-shown": "TODO",
    "another-indicator-shown": "TODO",
    "consents-of-other-tpps": "TODO",
    "one-day-too-long": "TODO",
    "one-day-too-short": "TODO",
    "expired-not-shown": "TODO",
    "expired-with-another-code": "TODO",
    "validity-of-181-days": "TODO",
    "validity-of-90-days": "TODO",
    "reduced-in-silence": "TODO",
    "former-consent-stays": "TODO",
    "former-consent-ends-at-once": "TODO",
    "one-off-four-times": "TODO",
    "deleted-consent-opens": "TODO",
    "deleted-consent-shown-otherwise": "TODO",
    "all-accounts": "TODO",
    "first-account-only": "TODO",
    "account-without-currency": "TODO",
    "wrong-check-digits": "TODO",
    "balances-by-any-access": "TODO",
    "opening-balance": "TODO",
    "booking-status-optional": "TODO",
    "booked-with-pending": "TODO",
    "pending-with-booked": "TODO",
    "both-without-pending": "TODO",
    "from-excluded": "TODO",
    "to-excluded": "TODO",
    "whole-history-for-an-hour": "TODO",
    "history-of-120-days": "TODO",
    "pages-of-19": "TODO",
    "pages-with-gaps": "TODO",
    "five-times-a-day": "TODO",
    "four-times-whatever-was-agreed": "TODO",
    "one-count-for-all-accounts": "TODO",
    "one-count-for-all-endpoints": "TODO",
    "counts-for-ever": "TODO",
    "limit-with-customer": "TODO",
    "owner-always": "TODO",
    "owner-never": "TODO",
    "card-accounts": "TODO",
    "days-in-the-past": "TODO",
    "cancelled-shown-otherwise": "TODO",
    "three-decimals": "TODO",
}
