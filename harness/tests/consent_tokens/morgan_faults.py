"""Faults of the bank beside it, each a row with the obligations that it breaks; and neutral variants."""

from faulty import changed, row
from merlin_faults import OTHER_AMOUNT, TAKES_REFUSED, TAKES_UNSIGNED, JudgesSubmissions
from morgan_bank import Merlin, Morgan

FAULTS = (
    # The TPP's own token submits a payment that its customer has not authorised.
    row("takes the token of the TPP", *TAKES_UNSIGNED.breaks, behind=TAKES_UNSIGNED.of(Merlin),
        may_submit=lambda bank, token, consent: token["consent"] in {None, consent}),
    # A customer who refuses returns with a code, and its token submits the payment.
    row("a code for refused payments", *TAKES_REFUSED.breaks, behind=TAKES_REFUSED.of(Merlin),
        answer_to=lambda bank, status: (
            None if status == "refused" else Morgan.answer_to(bank, status))),
    row("submits another amount", *OTHER_AMOUNT.breaks,
        shows=[*OTHER_AMOUNT.shows, "cash/categoryPurpose-not-CASH"],
        behind=OTHER_AMOUNT.of(Merlin)),
)  # fmt: skip
NEUTRAL = (Morgan, changed(Morgan, "JudgesAfterwards", behind=JudgesSubmissions))
