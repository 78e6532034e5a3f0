"""What a run of the contract finds of each fault of the example, and what it does not."""

#: By fault, `clause/facet,facet`: a line that is indented continues the one before.
TABLE = """\
request-id-not-required:
    request-id/accounts-invalid,accounts-missing,balances-invalid,balances-missing
    request-id/cancel-payment-missing,consent-invalid,consent-missing,consent-status-invalid
    request-id/consent-status-missing,end-consent-invalid,end-consent-missing
    request-id/make-consent-invalid,make-consent-missing,make-payment-invalid
    request-id/make-payment-missing,payment-invalid,payment-missing,payment-status-invalid
    request-id/payment-status-missing,transactions-invalid,transactions-missing
request-id-not-echoed:
    request-id.returned/accounts-returned,balances-returned,cancel-payment-returned
    request-id.returned/consent-returned,consent-status-returned,end-consent-returned
    request-id.returned/make-consent-returned,make-payment-returned,payment-returned
    request-id.returned/payment-status-returned,transactions-returned
request-id-of-its-own:
    request-id.returned/accounts-returned,balances-returned,cancel-payment-returned
    request-id.returned/consent-returned,consent-status-returned,end-consent-returned
    request-id.returned/make-consent-returned,make-payment-returned,payment-returned
    request-id.returned/payment-status-returned,transactions-returned
answers-as-text: json/media-type
day-of-utc: consents.validity/expired-shown,next-day-refused
    frequency.account/balances-next-day,transactions-next-day frequency/accounts-next-day
links-to-another-host: links/accounts-links,consent-links,make-consent-links,make-payment-links
    links/transactions-links
consent-without-link: consents.authorised/link
consent-begins-otherwise: consents.authorised/unsigned-shown consents.status/first,order
access-optional: consents.mandatory/access-missing
recurringIndicator-optional: consents.mandatory/recurringIndicator-missing,recurringIndicator-null
validUntil-optional: consents.mandatory/validUntil-missing,validUntil-null
frequencyPerDay-optional: consents.mandatory/frequencyPerDay-missing,frequencyPerDay-null
combinedServiceIndicator-optional:
    consents.mandatory/combinedServiceIndicator-missing,combinedServiceIndicator-null
usable-before-authorisation: consents.authorised/unsigned-refused
not-valid-after-authorisation: consents.status/signed
rejected-under-another-word: consents.status/words
expired-under-another-word: consents.status/words
another-frequency-shown: consents.content/frequencyPerDay
another-indicator-shown: consents.content/recurringIndicator
consents-of-other-tpps: consents.addressed/consent-foreign,consent-status-foreign
one-day-too-long: consents.validity/expired-shown,next-day-refused
one-day-too-short: consents.validity/last-day-served
expired-not-shown: consents.validity/expired-shown
validity-of-200-days: consents.longest/reduced
validity-of-90-days: consents.longest/reduced
reduced-in-silence: consents.longest/reduced
former-consent-stays: consents.replaced/former-refused,replaced-shown
former-consent-ends-at-once: consents.replaced/former-kept
one-off-four-times: consents.one-off/frequencyPerDay-not-1-other,recurringIndicator-false
deleted-consent-opens: consents.ended/ended-refused
deleted-consent-shown-otherwise: consents.status/ended
idle-for-ten-minutes: consents.idle/dead-after payments.idle/dead-after
idle-for-two-minutes: consents.idle/alive-before payments.idle/alive-before
disconnected-goes-back: consents.idle/no-redirection payments.idle/no-redirection
back-to-where-the-browser-says: consents.back/only-there payments.back/only-there
back-to-the-bank: consents.back/after-signing payments.back/after-signing
all-accounts: accounts.listed/nothing-else
first-account-only: accounts.listed/consented-with-consent
account-without-currency: accounts.currency/account-present
wrong-check-digits: accounts.iban/account
balances-by-any-access: balances.named/mode-refused
opening-balance: balances.types/balance
booking-status-optional: transactions.booking-status/transactions-missing
booked-with-pending: transactions.selected/booked-only
pending-with-booked: transactions.selected/pending-only
both-without-pending: transactions.selected/both-all
from-excluded: transactions.range/since
to-excluded: transactions.range/until
whole-history-for-an-hour: transactions.recent/old-after
whole-history-for-five-minutes: transactions.recent/old-inside
history-of-60-days: transactions.recent/recent-after
history-of-89-days: transactions.recent/recent-after
history-of-91-days: transactions.recent/old-after
history-of-120-days: transactions.recent/old-after
pages-of-19: transactions.pages/first-page,full-pages
pages-with-gaps: transactions.pages/complete
five-times-a-day: frequency.account/balances-refused,fewer-named,more-named,transactions-refused
    frequency/accounts-refused,fewer-named,more-named
four-times-whatever-was-agreed: frequency.account/fewer-named frequency/fewer-named
as-often-as-was-agreed: frequency.account/more-named frequency/more-named
one-count-for-all-consents: frequency.account/per-consent frequency/per-consent
one-count-for-each-tpp: frequency.account/per-consent frequency/per-consent,per-customer
one-count-for-all-accounts: frequency.account/per-item
one-count-for-all-endpoints: frequency.account/per-method
counts-for-ever: frequency.account/balances-next-day,transactions-next-day
    frequency/accounts-next-day
limit-with-customer: present/accounts-unlimited,balances-unlimited,transactions-unlimited
owner-always: accounts.owner/withheld-otherwise
owner-never: accounts.owner/shown-in-mode
owner-once-asked: accounts.owner/withheld-otherwise
owner-of-the-second-account: accounts.owner/withheld-otherwise
card-accounts: no-card-accounts/refused-without-consent
payment-without-link: payments.executed/main-flow
payment-begins-otherwise: payments.status/words
no-instant: payments.products/instant-sepa-credit-transfers
target-2: payments.no-target-2/target-2-payments-refused
debtorAccount-optional: payments.mandatory/debtorAccount-missing
creditorAccount-optional: payments.mandatory/creditorAccount-missing
creditorName-optional:
    payments.mandatory/creditorName-empty,creditorName-missing,creditorName-null
    payments.mandatory/creditorName-type
instructedAmount-optional: payments.mandatory/instructedAmount-missing
dollars: payments.euro/other-value
another-name-shown: payments.content/creditorName
executed-under-another-word: payments.status/words
rejected-comes-back: payments.status/final-later
signed-is-received: payments.status/signed
received-is-signed: payments.status/first
small-amounts-unsigned: payments.executed/unsigned-undone payments.sca/even-instructedAmount
sca-not-finalised: payments.sca-status/signed
days-in-the-past: payments.no-past-day/past
a-day-late: payments.executed/not-late
never-put-off: payments.executed/not-early
no-cancellation: payments.cancel/accepted
cancelled-is-executed: payments.cancel/by-customer-never-done,by-tpp-never-done
    payments.executed/cancelled-undone
cancelled-shown-otherwise: payments.status/ended
two-payments: payments.same-request/conflict,late,once,repeated
one-for-an-hour: payments.same-request/late
another-body-is-no-conflict: payments.same-request/conflict
photo-tan-above-20000: payments.large/instructedAmount-just-above-15000
photo-tan-from-15000: payments.large/instructedAmount-at-15000
any-factor: payments.large/instructedAmount-just-above-15000
three-decimals: payments.decimals/too-precise
request-id-refused-with-422: request-id/make-consent-invalid-status,make-consent-missing-status
    request-id/consent-invalid-status,consent-missing-status,consent-status-invalid-status
    request-id/consent-status-missing-status,end-consent-invalid-status
    request-id/end-consent-missing-status,accounts-invalid-status,accounts-missing-status
    request-id/balances-invalid-status,balances-missing-status,transactions-invalid-status
    request-id/transactions-missing-status,make-payment-invalid-status
    request-id/make-payment-missing-status,payment-invalid-status,payment-missing-status
    request-id/payment-status-invalid-status,payment-status-missing-status
    request-id/cancel-payment-invalid-status,cancel-payment-missing-status
errors-without-category: errors/category-present
errors-without-code: errors/code-present
errors-of-another-form: errors/category-present,code-present
errors-as-html: errors/media-type
unknown-consent-is-400: consents.addressed/consent-foreign-status,consent-unknown-status
    consents.addressed/consent-status-foreign-status,consent-status-unknown-status
expired-is-403: consents.validity/next-day-refused-status
expired-with-another-code: consents.validity/next-day-refused-code
booking-status-refused-with-422:
    transactions.booking-status/transactions-invalid-status,transactions-missing-status
exceeded-is-403: frequency.account/fewer-named-status,more-named-status,balances-refused-status
    frequency.account/before-midnight-status,long-day-status,transactions-refused-status
    frequency/fewer-named-status,more-named-status,accounts-refused-status
    frequency/before-midnight-status,long-day-status
exceeded-with-another-code:
    frequency.account/fewer-named-code,more-named-code,balances-refused-code
    frequency.account/before-midnight-code,long-day-code,transactions-refused-code
    frequency/fewer-named-code,more-named-code,accounts-refused-code,before-midnight-code
    frequency/long-day-code
card-accounts-are-400: no-card-accounts/refused-without-consent-status
target-2-is-400: payments.no-target-2/target-2-payments-refused-status
past-day-is-422: payments.no-past-day/past-status
another-body-is-400: payments.same-request/conflict-status
three-decimals-are-422: payments.decimals/too-precise-status
"""
#: The obligations that each fault violates.
FOUND = {
    name: tuple(
        f"{clause}/{facet}"
        for clause, _, facets in (word.partition("/") for word in words.split())
        for facet in facets.split(",")
    )
    for name, _, words in (
        line.partition(":") for line in TABLE.replace("\n    ", " ").strip().splitlines()
    )
}
#: Faults that are not found, with the reason.
NOT_FOUND: dict[str, str] = {}
