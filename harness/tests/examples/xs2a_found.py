"""What a run of the contract finds of each fault of the example, and what it does not."""

FOUND = {
    "request-id-not-required": (
        "request-id/accounts-invalid",
        "request-id/accounts-missing",
        "request-id/balances-invalid",
        "request-id/balances-missing",
        "request-id/cancel-payment-missing",
        "request-id/consent-invalid",
        "request-id/consent-missing",
        "request-id/consent-status-invalid",
        "request-id/consent-status-missing",
        "request-id/end-consent-invalid",
        "request-id/end-consent-missing",
        "request-id/make-consent-invalid",
        "request-id/make-consent-missing",
        "request-id/make-payment-invalid",
        "request-id/make-payment-missing",
        "request-id/payment-invalid",
        "request-id/payment-missing",
        "request-id/payment-status-invalid",
        "request-id/payment-status-missing",
        "request-id/transactions-invalid",
        "request-id/transactions-missing",
    ),
    "request-id-not-echoed": (
        "request-id.returned/accounts-returned",
        "request-id.returned/balances-returned",
        "request-id.returned/cancel-payment-returned",
        "request-id.returned/consent-returned",
        "request-id.returned/consent-status-returned",
        "request-id.returned/end-consent-returned",
        "request-id.returned/make-consent-returned",
        "request-id.returned/make-payment-returned",
        "request-id.returned/payment-returned",
        "request-id.returned/payment-status-returned",
        "request-id.returned/transactions-returned",
    ),
    "request-id-of-its-own": (
        "request-id.returned/accounts-returned",
        "request-id.returned/balances-returned",
        "request-id.returned/cancel-payment-returned",
        "request-id.returned/consent-returned",
        "request-id.returned/consent-status-returned",
        "request-id.returned/end-consent-returned",
        "request-id.returned/make-consent-returned",
        "request-id.returned/make-payment-returned",
        "request-id.returned/payment-returned",
        "request-id.returned/payment-status-returned",
        "request-id.returned/transactions-returned",
    ),
    "answers-as-text": (
        "json/media-type",
    ),
    "day-of-utc": (
        "consents.validity/expired-shown",
        "consents.validity/next-day-refused",
        "frequency.account/balances-next-day",
        "frequency.account/transactions-next-day",
        "frequency/accounts-next-day",
    ),
    "links-to-another-host": (
        "links/accounts-links",
        "links/consent-links",
        "links/make-consent-links",
        "links/make-payment-links",
        "links/transactions-links",
    ),
    "consent-begins-otherwise": (
        "consents.authorised/unsigned-shown",
        "consents.status/first",
        "consents.status/order",
    ),
    "recurringIndicator-optional": (
        "consents.mandatory/recurringIndicator-missing",
        "consents.mandatory/recurringIndicator-null",
    ),
    "validUntil-optional": (
        "consents.mandatory/validUntil-missing",
        "consents.mandatory/validUntil-null",
    ),
    "frequencyPerDay-optional": (
        "consents.mandatory/frequencyPerDay-missing",
        "consents.mandatory/frequencyPerDay-null",
    ),
    "combinedServiceIndicator-optional": (
        "consents.mandatory/combinedServiceIndicator-missing",
        "consents.mandatory/combinedServiceIndicator-null",
    ),
    "usable-before-authorisation": (
        "consents.authorised/unsigned-refused",
    ),
    "not-valid-after-authorisation": (
        "consents.status/signed",
    ),
    "rejected-under-another-word": (
        "consents.status/words",
    ),
    "expired-under-another-word": (
        "consents.status/words",
    ),
    "another-frequency-shown": (
        "consents.content/frequencyPerDay",
    ),
    "another-indicator-shown": (
        "consents.content/recurringIndicator",
    ),
    "consents-of-other-tpps": (
        "consents.addressed/consent-foreign",
        "consents.addressed/consent-status-foreign",
    ),
    "one-day-too-long": (
        "consents.validity/expired-shown",
        "consents.validity/next-day-refused",
    ),
    "expired-not-shown": (
        "consents.validity/expired-shown",
    ),
    "validity-of-200-days": (
        "consents.longest/reduced",
    ),
    "validity-of-90-days": (
        "consents.longest/reduced",
    ),
    "reduced-in-silence": (
        "consents.longest/reduced",
    ),
    "former-consent-stays": (
        "consents.replaced/former-refused",
        "consents.replaced/replaced-shown",
    ),
    "former-consent-ends-at-once": (
        "consents.replaced/former-kept",
    ),
    "one-off-four-times": (
        "consents.one-off/frequencyPerDay-not-1-other",
        "consents.one-off/recurringIndicator-false",
    ),
    "deleted-consent-opens": (
        "consents.ended/ended-refused",
    ),
    "deleted-consent-shown-otherwise": (
        "consents.status/ended",
    ),
    "idle-for-ten-minutes": (
        "consents.idle/dead-after",
        "payments.idle/dead-after",
    ),
    "idle-for-two-minutes": (
        "consents.idle/alive-before",
        "payments.idle/alive-before",
    ),
    "disconnected-goes-back": (
        "consents.idle/no-redirection",
        "payments.idle/no-redirection",
    ),
    "back-to-where-the-browser-says": (
        "consents.back/only-there",
        "payments.back/only-there",
    ),
    "back-to-the-bank": (
        "consents.back/after-signing",
        "payments.back/after-signing",
    ),
    "all-accounts": (
        "accounts.listed/nothing-else",
    ),
    "first-account-only": (
        "accounts.listed/consented-with-consent",
    ),
    "account-without-currency": (
        "accounts.currency/account-present",
    ),
    "wrong-check-digits": (
        "accounts.iban/account",
    ),
    "opening-balance": (
        "balances.types/balance",
    ),
    "booking-status-optional": (
        "transactions.booking-status/transactions-missing",
    ),
    "booked-with-pending": (
        "transactions.selected/booked-only",
    ),
    "pending-with-booked": (
        "transactions.selected/pending-only",
    ),
    "both-without-pending": (
        "transactions.selected/both-all",
    ),
    "from-excluded": (
        "transactions.range/since",
    ),
    "to-excluded": (
        "transactions.range/until",
    ),
    "pages-of-19": (
        "transactions.pages/first-page",
        "transactions.pages/full-pages",
    ),
    "pages-with-gaps": (
        "transactions.pages/complete",
    ),
    "five-times-a-day": (
        "frequency.account/balances-refused",
        "frequency.account/transactions-refused",
        "frequency/accounts-refused",
    ),
    "one-count-for-all-accounts": (
        "frequency.account/per-item",
    ),
    "one-count-for-all-endpoints": (
        "frequency.account/per-method",
    ),
    "counts-for-ever": (
        "frequency.account/balances-next-day",
        "frequency.account/transactions-next-day",
        "frequency/accounts-next-day",
    ),
    "limit-with-customer": (
        "present/accounts-unlimited",
        "present/balances-unlimited",
        "present/transactions-unlimited",
    ),
    "card-accounts": (
        "no-card-accounts/refused-without-consent",
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
    "days-in-the-past": (
        "payments.no-past-day/past",
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
    "cancelled-shown-otherwise": (
        "payments.status/ended",
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
    "three-decimals": (
        "payments.decimals/too-precise",
    ),
}
#: Faults that are not found, with the reason.
NOT_FOUND: dict[str, str] = {
    "errors-of-another-form": "that an error has tppMessages: no kind looks into the body of a refusal",
    "consent-without-link": "a consent without the link to sign it leaves the rest of its rules unverified, and violates none",
    "access-optional": "that access is mandatory: a rule cannot name the argument that lists what a consent covers",
    "one-day-too-short": "the code CONSENT_EXPIRED: no kind looks into the body of a refusal; a consent that ends a day early leaves its rule indeterminate",
    "expired-with-another-code": "the code CONSENT_EXPIRED: no kind looks into the body of a refusal; a consent that ends a day early leaves its rule indeterminate",
    "balances-by-any-access": "a consent that names an account without its balances: the list of a consent stands in all parts of access alike",
    "whole-history-for-an-hour": "no kind knows a time after the authorisation of a consent",
    "history-of-120-days": "no kind knows a time after the authorisation of a consent",
    "four-times-whatever-was-agreed": "a frequency that the consent names, and a count for each account",
    "owner-always": "a consent that asks for ownerName, beside one that does not",
    "owner-never": "a consent that asks for ownerName, beside one that does not",
}
