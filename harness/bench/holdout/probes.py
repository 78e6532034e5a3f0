"""Short sequences of calls by which a fault of the holdout bank can be seen."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from holdout.api import CREDITOR, OTHER, SECOND, Api, account, card
from holdout.domain import APP, CAP, INSTANT, LATER, MAIL, NOW, PREFIX, SMS, iban


def pages(api: Api, who: Any, **more: Any) -> None:
    after = ""
    for _ in range(6):
        found = api.call("GET", f"/comptes?apres={after}" if after else "/comptes", who, **more)
        after = found.get("suite", {}).get("curseur", "")
        if not after:
            break


def listing(api: Api) -> None:
    used = {
        name: (api.now - timedelta(days=days)).date().isoformat() for name, days in AGES.items()
    }
    who = api.customer(
        account(12),
        account(6, savings=True),
        account(1, inactive=True),
        account(2, offline=True),
        card(2),
        card(1, inactive=True),
        card(1, never_used=True),
        *(card(1, last_used=day) for day in used.values()),
    )
    pages(api, who)
    pages(api, who, host=SECOND)
    pages(api, who, absent=True)


AGES = {"edge": 62, "middle": 45, "old": 80}


def consents(api: Api) -> None:
    api.customer(account())
    who = api.customer(account(3), card(2))
    mine = [item["cle"] for item in who["avoirs"]]
    reads(api, who, mine)
    api.consent(who, who["avoirs"][0], {"genre": "compte", "cle": CREDITOR})
    reads(api, who, mine)
    api.call("GET", "/comptes", who)
    api.consent(who, who["avoirs"][0], who["avoirs"][1])
    reads(api, who, mine)
    pages(api, who)
    api.call("GET", "/comptes", who, absent=True)


def reads(api: Api, who: Any, keys: list[str]) -> None:
    for key in keys:
        for path in ("/soldes?compte=", "/comptes/soldes?compte=", "/comptes/operations?compte="):
            api.call("GET", path + key, who)
        api.call("GET", f"/soldes?compte={key}", who)
        api.call("GET", f"/operations?compte={key}", who)
    api.call("GET", f"/soldes?compte={keys[-1]}", who, absent=True)


def entries(api: Api) -> None:
    days = [(api.now - timedelta(days=3 * back)).date().isoformat() for back in range(42)]
    who = api.customer(account(1, days), card(1, days))
    api.consent(who, *who["avoirs"])
    for item in who["avoirs"]:
        for page in range(4):
            rest = f"compte={item['cle']}&page={page}"
            api.call("GET", f"/operations?{rest}", who)
            api.call("GET", f"/comptes/operations?{rest}", who)
            api.call("GET", f"/operations?{rest}&depuis={api.day(-200)}", who)
            api.call("GET", f"/operations?{rest}&depuis={api.day(-80)}", who)
    rest = f"compte={who['avoirs'][1]['cle']}&historique=aisp"
    api.call("GET", f"/operations?{rest}", who)


def quotas(api: Api) -> None:
    first, second = api.customer(account()), api.customer(account())
    for who in (first, second):
        api.consent(who, *who["avoirs"])
    key = first["avoirs"][0]["cle"]
    for _ in range(5):
        api.call("GET", "/comptes", first)
    api.call("GET", "/comptes", first, absent=True)
    for path in ("/operations", "/comptes/operations", "/soldes"):
        for _ in range(5):
            api.call("GET", f"{path}?compte={key}", first, absent=True)
    api.call("GET", "/soldes?compte=" + key, first)
    api.call("GET", "/soldes?compte=" + second["avoirs"][0]["cle"], second, absent=True)
    for hours in (3, 20):
        api.later(hours=hours)
        api.call("GET", f"/soldes?compte={key}", first, absent=True)
    for _ in range(4):
        api.call("GET", f"/soldes?compte={key}", first, absent=True)


def unavailable(api: Api) -> None:
    who = api.customer(account())
    api.call("GET", "/beneficiaires", who)
    api.call("GET", "/identite", who)
    made = api.pay(who)
    api.call("POST", f"/virements/{made['numero']}/confirmation")
    api.call("GET", "/comptes", who, basic=True)
    body = {"perimetre": [], "utilisateur": {"identifiant": "a"}}
    api.call("PUT", "/consentement", who, body)


def renewed(api: Api) -> None:
    who = api.customer(account())
    client = api.tiers
    query = {
        "client_id": client["client"],
        "redirect_uri": "https://tpp.example/x",
        "response_type": "code",
        "identifiant": who["identifiant"],
        "secret": who["secret"],
    }
    answer = api.client.post(f"{PREFIX}/acces", data=query)
    code = answer.headers["Location"].partition("code=")[2].partition("&")[0]
    auth = {"client_id": client["client"], "client_secret": client["secret"]}
    data = {"grant_type": "authorization_code", "code": code, **auth}
    made = api.client.post(f"{PREFIX}/jetons", data=data).json
    data = {"grant_type": "refresh_token", "refresh_token": made["refresh_token"], **auth}
    token = {"jeton": api.client.post(f"{PREFIX}/jetons", data=data).json["access_token"]}
    api.call("GET", f"/soldes?compte={who['avoirs'][0]['cle']}", token)
    for _ in range(5):
        api.call("GET", "/comptes", token, absent=True)


def requests(api: Api) -> None:
    who = api.customer(account(), account(1, savings=True))
    for kind in (NOW, LATER, INSTANT):
        for change in (
            {"frais": None},
            {"frais": "SHAR"},
            {"frais": "slev"},
            {"motif": None},
            {"beneficiaire": None},
            {"retour": {}},
            {"somme": {"montant": "5.00", "devise": "USD"}},
            {"more": {"ordres": [{}, {}]}},
            {"debiteur": {"compte": {"iban": who["avoirs"][1]["cle"]}}},
        ):
            api.pay(who, kind, **change)
    api.effects()


def segments(api: Api) -> None:
    for segment in ("PRO", "ENTREPRISE", "TUTEUR"):
        who = api.customer(account(), segment=segment)
        for kind in (NOW, LATER):
            api.pay(who, kind)
        made = api.pay(who, amount=None)
        if made:
            api.login(made, who)
            api.screen(made, moyen=APP)
    api.effects()
    api.office("manques", mode=INSTANT)
    api.pay(who, INSTANT)
    api.pay(api.customer(account()), INSTANT)
    api.effects()


def payments(api: Api) -> None:
    who = api.customer(account(2))
    first = api.pay(who, retour={"succes": "https://tpp.example/erst?z=9"})
    for kind in (NOW, INSTANT, LATER):
        made = api.pay(who, kind, host=SECOND)
        api.effects()
        api.sign(made, who)
        api.effects()
        api.pay(who, kind)
        api.pay(who, kind, motif={"code": "GDDS"})
    api.sign(first, who)
    large = {"montant": "2500.75", "devise": "EUR"}
    other = {"compte": {"iban": OTHER}}
    api.sign(api.pay(who, INSTANT, somme=large, beneficiaire=other), who)
    api.pay(who, INSTANT, somme=large, beneficiaire=other)
    api.sign(api.pay(who, somme={"montant": "5.00", "devise": "EUR"}), who)
    for days in (2, 1, 1):
        api.later(days=days)
        api.effects()
    api.sign(api.pay(who, motif={"code": "GDDS"}), who, choice="ABANDONNER")
    api.pay(who, motif={"code": "GDDS"})
    api.effects()


def cash(api: Api) -> None:
    who, other = api.customer(account()), api.customer(account())
    names = [iban("30001", number) for number in range(1, 5)]
    api.office("creanciers", client=who["client"], iban=names[0], age=73 * 3600)
    api.office("creanciers", client=who["client"], iban=names[1], age=30 * 3600)
    api.office("creanciers", client=other["client"], iban=names[2], age=99 * 3600)
    for creditor in names:
        for kind, factor in ((NOW, SMS), (INSTANT, CAP), (NOW, APP), (INSTANT, SMS)):
            to = {"compte": {"iban": creditor}}
            api.sign(api.pay(who, kind, motif={"code": "CASH"}, beneficiaire=to), who, factor)
    known = {"compte": {"iban": names[0]}}
    made = api.pay(who, LATER, motif={"code": "CASH"}, beneficiaire=known)
    api.sign(made, who)
    api.modify(made, beneficiaire={"compte": {"iban": names[3]}})
    api.effects()


def changes(api: Api) -> None:
    who = api.customer(account())
    for signed in (False, True):
        for kind in (NOW, LATER):
            made = api.pay(who, kind, motif={"code": "GDDS" if signed else "SUPP"})
            if signed and kind == LATER:
                api.sign(made, who)
            for amount in ("90.15", "91.15"):
                api.modify(made, somme={"montant": amount})
                api.read(made)
            api.modify(made, beneficiaire={"compte": {"iban": OTHER}})
            api.modify(made, echeance=api.day(5))
            if not signed and kind == LATER:
                api.sign(made, who)
            api.read(made)
    for days in (3, 2, 2):
        api.later(days=days)
        api.effects()


def cancellations(api: Api) -> None:
    who = api.customer(account())
    for kind in (NOW, LATER):
        for by in (api.cancel, api.withdraw):
            for signed in (False, True):
                made = api.pay(who, kind, motif={"code": "GDDS" if signed else "SUPP"})
                if signed and kind == LATER:
                    api.sign(made, who)
                by(made)
                api.read(made)
    api.tiers = api.office("tiers")
    made = api.pay(who, LATER)
    api.cancel(made)
    api.later(days=5)
    api.effects()


def signatures(api: Api) -> None:
    who, other = api.customer(account()), api.customer(account())
    api.login(api.pay(who), other)
    made = api.pay(who)
    api.login(made, who)
    api.screen(made, moyen=MAIL)
    api.login(made, who)
    api.screen(made, moyen=SMS)
    api.screen(made, otp="0", choix="VALIDER")
    api.screen(made, otp="1", choix="VALIDER")
    api.effects()
    for minutes in (2.0, 4.5, 11.0):
        made = api.pay(who)
        for login in (False, True):
            again = api.pay(who)
            if login:
                api.login(again, who)
            else:
                api.screen(again)
            api.later(minutes=minutes)
            api.screen(again, identifiant=who["identifiant"], secret=who["secret"])
            api.read(again)
    made = api.pay(who)
    for _ in range(12):
        api.screen(made)
        api.later(minutes=3)
    api.sign(api.pay(who, motif={"code": "GDDS"}), who)
    api.effects()


PROBES: dict[str, Callable[[Api], None]] = {
    probe.__name__: probe
    for probe in (
        *(listing, consents, entries, quotas, unavailable, renewed, requests, segments),
        *(payments, cash, changes, cancellations, signatures),
    )
}
