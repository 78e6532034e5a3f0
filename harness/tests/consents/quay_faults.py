"""Banks with one fault each, and the facets that it breaks; and banks that only look different."""

from datetime import timedelta

from quay_bank import Bank, RefusedError


def fault(*breaks):
    """Note which facets a fault breaks."""

    def noted(bank):
        bank.breaks = set(breaks)
        return bank

    return noted


@fault("signed/unsigned-refused")
class UnsignedServes(Bank):
    """A consent can be used before it is signed."""

    def signed(self, consent):
        return consent.status != "rejected"


@fault("signed/declined-refused")
class DeclinedServes(Bank):
    """A consent can be used that its customer refused."""

    def signed(self, consent):
        return consent.status != "received"


@fault("signed/unsigned-shown")
class UnsignedIsValid(Bank):
    """A consent is shown as valid at once."""

    def shown(self, consent, now):
        return "valid" if consent.status == "received" else super().shown(consent, now)


@fault("signed/declined-shown")
class DeclinedIsValid(Bank):
    """A consent is shown as valid that its customer refused."""

    def shown(self, consent, now):
        return "valid" if consent.status == "rejected" else super().shown(consent, now)


@fault("signed/link")
class NowhereToSign(Bank):
    """A consent has no link to the screens where it is signed."""

    def make(self, body, customer, world):
        status, made = super().make(body, customer, world)
        return status, {name: value for name, value in made.items() if name != "sign"}


@fault("signed/signed-shown")
class SignedIsReceived(Bank):
    """A consent that is signed is shown as it was before."""

    def shown(self, consent, now):
        shown = super().shown(consent, now)
        return "received" if shown == "valid" else shown


@fault("until/next-day-refused")
class NeverExpires(Bank):
    """A consent can be used after its last day, although it is shown as expired."""

    def usable(self, consent, now):
        return self.signed(consent) and not self.over(consent)


@fault("until/last-day-served")
class ExpiresADayEarly(Bank):
    """A consent cannot be used on its last day."""

    def usable(self, consent, now):
        last = now.astimezone().date().isoformat() >= consent.until
        return super().usable(consent, now) and not last


@fault("until/last-day-served")
class ExpiresADayEarlyUnauthorised(ExpiresADayEarly):
    """A consent cannot be used on its last day, and the refusal may be meant for the token."""

    def late(self, consent, now):
        return True


@fault("until/next-day-refused", "until/expired-shown")
class ExpiresAnHourLate(Bank):
    """The day of a consent ends with that of a zone further west."""

    def expired(self, consent, now):
        return super().expired(consent, now - timedelta(hours=1))


@fault("until/expired-shown")
class ExpiredIsValid(Bank):
    """A consent is shown as valid after its last day, although it cannot be used."""

    def shown(self, consent, now):
        return consent.status


@fault("revoked/ended-refused")
class EndedServes(Bank):
    """A consent can be used after it was ended, but for one that another replaced."""

    def revoke(self, consent):
        consent.status = "ended"
        consent.opened.add("deleted")

    def over(self, consent):
        return consent.status == "ended" and "deleted" not in consent.opened


@fault("revoked/ended-shown")
class EndedIsValid(Bank):
    """A consent that was ended is shown as valid."""

    def revoke(self, consent):
        consent.status = "ended"
        consent.opened.add("deleted")

    def shown(self, consent, now):
        return "valid" if "deleted" in consent.opened else super().shown(consent, now)


@fault("revoked/end-accepted")
class NeverEnds(Bank):
    """A consent cannot be ended."""

    def revoke(self, consent):
        raise RefusedError(409)


@fault("one/former-refused")
class FormerServes(Bank):
    """The former consent can be used beside a new one, although it is shown as ended."""

    def replace(self, former):
        former.status = "ended"
        former.opened.add("replaced")

    def over(self, consent):
        return consent.status == "ended" and "replaced" not in consent.opened


@fault("one/replaced-shown")
class FormerIsValid(Bank):
    """The former consent is shown as valid, although it cannot be used."""

    def replace(self, former):
        former.status = "ended"
        former.opened.add("replaced")

    def shown(self, consent, now):
        return "valid" if "replaced" in consent.opened else super().shown(consent, now)


@fault("one/former-kept")
class EndsAtOnce(Bank):
    """The former consent ends when a new one is made, before anybody signs that."""

    def on_making(self, consent, world):
        for other in world.consents.values():
            if other.customer is consent.customer and other is not consent:
                self.replace(other)


@fault("scope/entry-refused")
class CoversAll(Bank):
    """A consent opens what it does not name."""

    def covers(self, consent, number):
        return True


@fault("signed/others-refused")
class AnyConsent(Bank):
    """The consent of any customer will do, for what the caller owns."""

    def chosen(self, consent_id, customer, world):
        if consent_id is None:
            raise RefusedError(403)
        return world.consents[consent_id]

    def covers(self, consent, number):
        return super().covers(consent, number) or number not in consent.customer.accounts


@fault("holder/withheld-otherwise")
class NamesHolders(Bank):
    """The holders of accounts are named whether the consent asks for them or not."""

    def names_holder(self, consent, number):
        return True


@fault("holder/shown-in-mode")
class NamesNoHolder(Bank):
    """The holders of accounts are never named."""

    def names_holder(self, consent, number):
        return False


@fault("holder/withheld-otherwise")
class NamesFurtherHolders(Bank):
    """The holders of all accounts but the first are named whether the consent asks or not."""

    def names_holder(self, consent, number):
        return super().names_holder(consent, number) or number != consent.accounts[0]


@fault("holder/withheld-otherwise")
class RemembersHolders(Bank):
    """An account whose holder a consent asked for is shown with it under every later consent."""

    def __init__(self):
        super().__init__()
        self.asked = set()

    def names_holder(self, consent, number):
        self.asked.update(consent.holders)
        return number in self.asked


@fault("payer/withheld-otherwise")
class NamesPayers(Bank):
    """The payers of entries are named whether the consent asks for them or not."""

    def names_payer(self, consent, number):
        return True


@fault("payer/shown-in-mode")
class NamesNoPayer(Bank):
    """The payers of entries are never named."""

    def names_payer(self, consent, number):
        return False


FAULTS = [
    each for each in [*globals().values()] if isinstance(each, type) and hasattr(each, "breaks")
]


class AnswersUnauthorised(Bank):
    """A consent that cannot be used is refused with 401."""

    def late(self, consent, now):
        return True


class ShowsRevoked(Bank):
    """Ended consents have another word."""

    def shown(self, consent, now):
        return "expired" if consent.status == "ended" else super().shown(consent, now)


class KeepsRefused(Bank):
    """A consent that its customer refused is shown as if it was ended."""

    def shown(self, consent, now):
        return "ended" if consent.status == "rejected" else super().shown(consent, now)


NEUTRAL = [Bank, AnswersUnauthorised, ShowsRevoked, KeepsRefused]
