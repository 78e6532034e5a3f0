"""Short sequences of calls that show what the probes of the holdout's faults do not show."""

from collections.abc import Callable
from datetime import timedelta

from holdout.api import Api, account, card
from holdout.domain import LATER, iban
from werkzeug.test import Client


def days(api: Api, *back: int) -> list[str]:
    return [(api.now - timedelta(days=number)).date().isoformat() for number in back]


def lists(api: Api) -> None:
    """Many accounts, many entries, several entries of one day; each read more than once."""
    who = api.customer(account(19), card())
    after = ""
    for _ in range(6):
        found = api.call("GET", f"/comptes?apres={after}" if after else "/comptes", who)
        after = found.get("suite", {}).get("curseur", "")
    who = api.customer(
        account(1, days(api, *range(20), *range(20), *range(50, 80), 91)), account(), account(1, [])
    )
    api.consent(who, *who["avoirs"])
    for item in who["avoirs"] * 3:
        for page in (0, 1, 2):
            api.call("GET", f"/operations?compte={item['cle']}&page={page}", who)
    api.call("GET", f"/comptes/{who['avoirs'][1]['cle']}/operations", who)
    api.later(minutes=5)
    key = who["avoirs"][1]["cle"]
    api.call("GET", f"/operations?compte={key}&avant={api.day(1)}", who)
    api.call("GET", f"/operations?compte={key}&depuis={api.day(-95)}", who)
    api.call("GET", f"/operations?compte={key}", who)
    api.call("GET", "/comptes", api.customer(account(), segment="PRO"))


def time(api: Api) -> None:
    """A history at night, and days later; accesses on two days within 24 hours."""
    who = api.customer(account(2, days(api, 1, 80, 90)))
    api.consent(who, *who["avoirs"])
    url = f"/operations?compte={who['avoirs'][0]['cle']}"
    for item in who["avoirs"] * 3:
        api.call("GET", f"/operations?compte={item['cle']}", who, absent=True)
    for hours in (14, 2, 24 * 3):
        api.later(hours=hours)
        api.call("GET", url, who, absent=True)
        api.call("GET", url, who)


def strangers(api: Api) -> None:
    """A consent for two accounts of which the second is somebody else's; other signers."""
    who, other = api.customer(account()), api.customer(account())
    api.consent(who, *who["avoirs"], *other["avoirs"])
    for owner_first in (True, False):
        made = api.pay(who)
        if owner_first:
            api.login(made, who)
        api.client = Client(api.client.application)  # another browser
        api.sign(made, other)
        api.effects()


def on_screens(api: Api) -> None:
    """Two requests on the screens at once, one without a debtor, one unknown, one in an outage."""
    who = api.customer(account())
    first, second = api.pay(who), api.pay(who, LATER)
    api.cancel(second)
    api.login(first, who)
    api.read(first)
    api.sign(api.pay(who, motif={"code": "GDDS"}), who)
    api.effects()
    api.read({"numero": "VIR-00000-00000000"})
    api.read(api.pay(who, debiteur=None))
    api.pay(who, beneficiaire={"compte": {"iban": iban("30099", 7)[:-1] + "0"}})
    made = api.pay(who, somme={"montant": "7.00", "devise": "EUR"})
    api.login(made, who)
    for form in ({"moyen": "OTP_SMS"}, {"otp": "0", "choix": "VALIDER"}):
        api.screen(made, **form)
    api.screen(made, otp=who["codes"]["OTP_SMS"], choix="VALIDER")
    api.effects()
    api.later(days=(7 - api.now.weekday()) % 7 or 7, hours=3 - api.now.hour)
    api.sign(api.pay(who, motif={"code": "SALA"}), who)
    api.effects()


SITUATIONS: dict[str, Callable[[Api], None]] = {
    probe.__name__: probe for probe in (lists, time, strangers, on_screens)
}
