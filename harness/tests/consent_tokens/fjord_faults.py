"""Banks with one fault each, and the facets that it breaks; and banks that only look different."""

from datetime import timedelta

from fjord_bank import Bank, RefusedError, Token


def fault(*breaks):
    """Note which facets a fault breaks."""

    def noted(bank):
        bank.breaks = set(breaks)
        return bank

    return noted


@fault("scope/entry-refused")
class OpensAllAccounts(Bank):
    """The token of one consent opens accounts of its customer that only another consent would name."""

    def covers(self, token, number):
        return True


@fault("signed/others-refused", "scope/entry-foreign")
class OpensAnyCustomer(Bank):
    """The token of one consent opens what any consent of the TPP names."""

    def covers(self, token, number):
        consents = token.world.consents.values()
        mine = token.consent.customer.accounts
        if number in mine:
            return super().covers(token, number)
        return any(number in each.accounts for each in consents if each.tpp == token.tpp)

    def owner(self, token, number):
        customers = token.world.customers.values()
        return next((each for each in customers if number in each.accounts), None)


@fault("revoked/ended-refused")
class OutlivesRevocation(Bank):
    """The token of a consent lives on after the TPP ended that."""

    def revoke(self, consent):
        consent.marks.add(consent.status)
        super().revoke(consent)

    def usable(self, consent, now):
        return super().usable(consent, now) or "authorised" in consent.marks


@fault("until/next-day-refused")
class OutlivesLastDay(Bank):
    """The token of a consent is renewed after the last day, although the consent is shown as expired."""

    def usable(self, consent, now):
        return consent.status == "authorised"


@fault("until/last-day-served")
class EndsADayEarly(Bank):
    """The token of a consent is refused on its last day, and not renewed."""

    def usable(self, consent, now):
        last = now.date().isoformat() >= consent.until
        return super().usable(consent, now) and not last

    def refreshable(self, consent, now):
        return super().usable(consent, now)


@fault("one/former-refused")
class OutlivesReplacement(Bank):
    """The token of the former consent lives on beside a new one, although it is shown as revoked."""

    def replace(self, former):
        if former.status == "authorised":
            former.marks.add("replaced")
        super().replace(former)

    def usable(self, consent, now):
        return super().usable(consent, now) or "replaced" in consent.marks


@fault("one/former-kept")
class DiesWithTheNext(Bank):
    """The token of a consent dies when the TPP makes another one, before anybody authorises that."""

    def make(self, body, tpp, world):
        for each in world.consents.values():
            said = {account["number"] for account in body["consent"]["accounts"]}
            if said & {*each.accounts} and each.tpp == tpp:
                self.replace(each)
        return super().make(body, tpp, world)


@fault("signed/declined-refused")
class DeclinedHasAToken(Bank):
    """A customer who refuses a consent returns with a code, and its token opens the accounts."""

    def screen(self, key, given):
        session = self.sessions[key]
        answer = super().screen(key, given)
        if given.get("answer") == "deny":
            consent = session["consent"]
            consent.customer = session["customer"]
            consent.marks.add("declined")
            return self.back(session["given"], {"code": self.code(session)})
        return answer

    def usable(self, consent, now):
        return super().usable(consent, now) or "declined" in consent.marks


@fault(
    *("signed/unsigned-refused", "signed/declined-refused"),
    *("scope/entry-before", "scope/entry-usurped"),
)
class OpensToTheTpp(Bank):
    """The TPP's own token opens every account, whether its customer ever authorised anything."""

    def opened(self, token, now):
        if token.consent is not None:
            super().opened(token, now)

    def entries(self, environ, number, token, world):
        if token.consent is None:
            return 200, {"entries": [{"id": f"{number}-0", "day": "2026-09-15"}]}, []
        return super().entries(environ, number, token, world)


FAULTS = [
    each for each in [*globals().values()] if isinstance(each, type) and hasattr(each, "breaks")
]


class AnswersForbidden(Bank):
    """A token of a consent that is over is refused with 403, and no error of a token."""

    def opened(self, token, now):
        try:
            super().opened(token, now)
        except RefusedError as refusal:
            raise RefusedError(403) from refusal


class AnswersInsufficientScope(Bank):
    """What a consent does not name is refused as outside the scope of the token."""

    def entries(self, environ, number, token, world):
        try:
            return super().entries(environ, number, token, world)
        except RefusedError as refusal:
            if refusal.args == (403,):
                raise RefusedError(403, "insufficient_scope") from refusal
            raise


class LastsForLong(Bank):
    """A token of a consent lasts for a year, and there is no refresh token."""

    def issued(self, world, client, consent):
        status, body, headers = super().issued(world, client, consent)
        if consent is not None:
            del body["refresh_token"]
            body["expires_in"] = 365 * 86400
            until = world.now + timedelta(days=365)
            self.tokens[body["access_token"]] = Token(world, client, until, consent)
        return status, body, headers


class RefreshesForever(Bank):
    """A refresh token never ends; the access token that it gives is refused."""

    def refreshable(self, consent, now):
        return True


class AnswersInTheFragment(Bank):
    """The answer to an authorization request is in the fragment, with an ID token."""

    def back(self, given, answer):
        if "code" in answer:
            answer = {**answer, "id_token": f"id-{answer['code'][::-1]}"}
        status, body, [(name, url)] = super().back(given, answer)
        return status, body, [(name, url.replace("?", "#", 1))]


NEUTRAL = [
    Bank,
    AnswersForbidden,
    AnswersInsufficientScope,
    LastsForLong,
    RefreshesForever,
    AnswersInTheFragment,
]
