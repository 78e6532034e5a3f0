"""A client of the holdout bank that keeps everything that was answered.

The bank is the same from run to run, so two banks that answer the same calls differently are
different.
"""

import re
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from holdout.bank import Bank
from holdout.domain import LATER, NOW, PREFIX, SMS
from holdout.policy import Policy
from werkzeug.test import Client

FIRST, SECOND = "127.0.0.1", "localhost"
CREDITOR, OTHER = "BE68539007547034", "NL91ABNA0417164300"


class Api:
    """A bank with one world, and everything that it answered."""

    def __init__(self, policy: Policy, bank: Bank | None = None) -> None:
        self.client = Client(bank or Bank(policy))
        self.trace: list[Any] = []
        self.screened = ""
        made = self.send("POST", "/bureau/mondes", {"graine": 3})
        self.world, self.tiers = made["monde"], made["tiers"]
        self.now = datetime.fromisoformat(made["maintenant"])

    def send(self, method: str, url: str, body: Any = None, **more: Any) -> Any:
        host = more.pop("host", FIRST)
        answer = self.client.open(url, method=method, json=body, base_url=f"http://{host}", **more)
        self.trace.append((answer.status_code, answer.headers.get("Location"), answer.text))
        self.screened = answer.text if "seance" in answer.text else self.screened
        return answer.json if answer.is_json and answer.text else answer

    def office(self, word: str, **body: Any) -> Any:
        return self.send("POST", f"/bureau/mondes/{self.world}/{word}", body)

    def call(self, method: str, path: str, who: Any = None, body: Any = None, **more: Any) -> Any:
        token = (who or self.tiers)["jeton"]
        headers = {"Authorization": f"Bearer {token}"}
        if more.pop("absent", False):
            headers["Acces-Differe"] = "oui"
        if more.pop("basic", False):
            headers["Authorization"] = "Basic YTpi"
        return self.send(method, PREFIX + path, body, headers=headers, **more)

    def customer(self, *owned: dict[str, Any], segment: str | None = None) -> Any:
        return self.office("clients", avoirs=owned, segment=segment)

    def later(self, **span: float) -> None:
        self.now += timedelta(**span)
        self.office("horloge", vers=self.now.isoformat())

    def day(self, days: int) -> str:
        return f"{(self.now + timedelta(days=days)).date()}T00:00:00"

    def consent(self, who: Any, *items: Any) -> Any:
        named = [
            {"carte": {"panChiffre": i["cle"]}}
            if i["genre"] == "carte"
            else {"compte": {"iban": i["cle"]}}
            for i in items
        ]
        return self.call("PUT", "/consentement", who, {"perimetre": named})

    def pay(self, who: Any, kind: str = NOW, host: str = FIRST, **change: Any) -> Any:
        order: dict[str, Any] = {
            "execution": kind,
            "frais": "SLEV",
            "motif": {"code": "SUPP"},
            "beneficiaire": {"compte": {"iban": CREDITOR}},
            "debiteur": {"compte": {"iban": who["avoirs"][0]["cle"]}},
            "somme": {"montant": "83.50", "devise": "EUR"},
        }
        if kind == LATER:
            order["echeance"] = self.day(3)
        body = {"virement": order, "retour": {"succes": "https://tpp.example/fait?n=1"}}
        body["retour"] = change.pop("retour", body["retour"])
        more = change.pop("more", {})
        order.update(change)
        body["virement"] = {name: value for name, value in order.items() if value is not None}
        return self.call("POST", "/virements", None, {**body, **more}, host=host).get("dossier")

    def read(self, made: Any) -> Any:
        return self.call("GET", f"/virements/{made['numero']}") if made else None

    def modify(self, made: Any, **virement: Any) -> None:
        if made:
            self.call("PUT", f"/virements/{made['numero']}", None, {"virement": virement})

    def cancel(self, made: Any) -> None:
        if made:
            body = {"cause": "DEMANDE_TPP"}
            self.call("POST", f"/virements/{made['numero']}/annulation", None, body)

    def withdraw(self, made: Any) -> None:
        if made:
            self.office("retraits", dossier=made["numero"])

    def screen(self, made: Any, **form: str) -> Any:
        """Open the screens, or submit one."""
        if not made or "signature" not in made["liens"]:
            return None
        to = urlsplit(made["liens"]["signature"])
        url = f"{to.path}?{to.query}"
        if not form:
            return self.send("GET", url)
        if found := re.search('name="seance" value="([0-9a-f]+)"', self.screened):
            form = {"seance": found.group(1), **form}
        answer = self.client.post(url, data=form, base_url=f"http://{FIRST}")
        self.trace.append((answer.status_code, answer.headers.get("Location"), answer.text))
        return answer

    def login(self, made: Any, who: Any) -> None:
        self.screen(made)
        self.screen(made, identifiant=who["identifiant"], secret=who["secret"])

    def sign(self, made: Any, who: Any, factor: str = SMS, choice: str = "VALIDER") -> None:
        if made and "signature" in made["liens"]:
            self.login(made, who)
            self.screen(made, moyen=factor)
            self.screen(made, otp=who["codes"][factor], choix=choice)
            self.read(made)

    def effects(self) -> None:
        self.office("virements")


def account(number: int = 1, days: list[str] | None = None, **traits: Any) -> dict[str, Any]:
    return {"genre": "compte", "nombre": number, "etats": traits, "mouvements": days}


def card(number: int = 1, days: list[str] | None = None, **traits: Any) -> dict[str, Any]:
    named = {name.replace("_", "-"): value for name, value in traits.items()}
    return {"genre": "carte", "nombre": number, "etats": named, "mouvements": days}
