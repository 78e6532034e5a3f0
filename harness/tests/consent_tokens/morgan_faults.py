"""Faults of the bank beside it, each with the obligations that it breaks; and neutral variants."""

from merlin_faults import JudgesSubmissions, OtherAmount, TakesRefused, TakesUnsigned
from morgan_bank import Morgan


class TakesTokenOfTheTpp(Morgan):
    """The TPP's own token submits a payment that its customer has not authorised."""

    def __init__(self):
        super().__init__(TakesUnsigned())

    def may_submit(self, token, consent):
        return token["consent"] in {None, consent}


class CodeForRefused(Morgan):
    """A customer who refuses returns with a code, and its token submits the payment."""

    def __init__(self):
        super().__init__(TakesRefused())

    def answer_to(self, status):
        return None if status == "refused" else super().answer_to(status)


class SubmitsAnother(Morgan):
    """More is executed than the customer authorised."""

    def __init__(self):
        super().__init__(OtherAmount())


class JudgesAfterwards(Morgan):
    """The rules about repeats are applied to the submission, and not to the authorization."""

    def __init__(self):
        super().__init__(JudgesSubmissions())


FAULTS = {
    TakesTokenOfTheTpp: {
        "execution/unsigned-undone",
        "sca.required/even-amount",
        "sca.required/nothing-before-signing",
        "sca.required/only-the-owner",
    },
    CodeForRefused: {"execution/denied-undone", "sca.required/nothing-after-refusal"},
    SubmitsAnother: {
        "duplicate/amount-changed-accepted",
        "execution/as-asked",
        "modify.deferred-only/carried-out-as-changed",
    },
}
NEUTRAL = [Morgan, JudgesAfterwards]
