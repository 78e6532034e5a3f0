"""Inquiries: one list of executions from the fixture counts for every request."""

from datetime import timedelta

from account_information import AT
from account_information import DONE as TAKEN
from payment_initiation import cancel, check, effects, make, payer, sign

#: Another request, and one that is put off to the next day.
OTHER = {"amount": "5.00", "key": "P2"}
PUT_OFF = {"mode": "deferred", "date": "2026-09-17"}
#: The day after that.
LATER = AT + timedelta(days=2)


def test_what_was_not_carried_out_by_then_was_not_carried_out_unsigned():
    """A signature that came after the world was asked takes nothing back."""
    story = payer(), make(), make(**OTHER), sign(key="P2"), effects("P2")

    assert ["nothing-before-signing agrees 1,2,3"] == check("sca.required", *story)
    assert ["nothing-before-signing agrees 1,2,3,4"] == check("sca.required", *story, sign())


def test_what_was_made_since_was_not_asked_about():
    """The world said nothing of it."""
    story = payer(), make(**OTHER), sign(key="P2"), effects("P2"), make()

    assert [] == check("sca.required", *story)


def test_what_was_cancelled_since_was_not_asked_about():
    """That it was not executed before it was cancelled says nothing of after."""
    first = payer(), make(**PUT_OFF), make(**PUT_OFF, **OTHER), sign(), sign(key="P2")
    done, ended = effects("P2", now=LATER), cancel(TAKEN)

    after = [line for line in check("cancel", *first, ended, done) if "never-done" in line]
    before = [line for line in check("cancel", *first, done, ended) if "never-done" in line]
    assert (1, 0) == (len(after), len(before))
    assert "by-tpp-never-done agrees" in after[0]
