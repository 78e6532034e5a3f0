"""Fixtures for the harness from the back office of the holdout bank."""

import json
from datetime import date, datetime
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from assay.fixtures.spi import (
    Access,
    Arrange,
    Authorise,
    CannotArrange,
    Decision,
    Effect,
    Entry,
    Lack,
    Owned,
    ReadOnlyFixture,
    Register,
    Subject,
    Withdraw,
)

RESOURCES = {"account": "compte", "card": "carte"}
FACTORS = ("OTP_SMS", "LECTEUR", "APPLI", "COURRIEL")
SEGMENTS = {
    "PART": "PART",
    "PRO": "PRO",
    "large-professional": "GRAND_PRO",
    "corporate": "ENTREPRISE",
    "association": "ASSOCIATION",
    "legal-guardian": "TUTEUR",
}


class LaboratoryFixtures:
    """Opens a world of the bank for each trial."""

    def __init__(self, base_url: str, office: str = "/bureau", seed: int = 0) -> None:
        parts = urlsplit(base_url)
        self.office, self.seed = f"{parts.scheme}://{parts.netloc}{office}", seed

    def open(self) -> "LaboratoryFixture":
        world = ask(f"{self.office}/mondes", {"graine": self.seed})
        return LaboratoryFixture(f"{self.office}/mondes/{world['monde']}", world["maintenant"])


class LaboratoryFixture(ReadOnlyFixture):
    """One world: customers, TPPs, a clock, and what was executed."""

    def __init__(self, url: str, now: str) -> None:
        self.url, self.now = url, datetime.fromisoformat(now)
        self.ids: dict[str, str] = {}

    def arrange(self, step: Arrange) -> tuple[Subject, Access]:
        if step.segment is not None and step.segment not in SEGMENTS:
            raise CannotArrange(f"a customer of segment {step.segment}")
        wanted = [
            {
                "genre": RESOURCES[holding.resource],
                "nombre": holding.count,
                "etats": {name: plain(value) for name, value in dict(holding.traits).items()},
                "mouvements": None
                if holding.entries is None
                else [day.isoformat() for day in holding.entries],
            }
            for holding in step.holdings
        ]
        segment = SEGMENTS[step.segment] if step.segment is not None else None
        made = ask(f"{self.url}/clients", {"avoirs": wanted, "segment": segment})
        self.ids[step.subject] = made["client"]
        self.now = datetime.fromisoformat(made["maintenant"])
        owns = tuple(
            Owned(
                key=item["cle"],
                resource="card" if item["genre"] == "carte" else "account",
                traits=item["etats"],
                entries=tuple(
                    Entry(key=entry["cle"], on=date.fromisoformat(entry["jour"]))
                    for entry in item["mouvements"]
                ),
            )
            for item in made["avoirs"]
        )
        subject = Subject(name=step.subject, now=self.now, owns=owns, segment=step.segment)
        return subject, Access(
            token=made["jeton"],
            login=made["identifiant"],
            password=made["secret"],
            codes={ours: made["codes"][ours] for ours in FACTORS},
            name=made["nom"],
            id=made["client"],
            client_id=made["tiers"]["client"],
            client_secret=made["tiers"]["secret"],
        )

    def clock(self, to: datetime | None) -> datetime:
        body = {"vers": to.isoformat()} if to is not None else {}
        self.now = datetime.fromisoformat(ask(f"{self.url}/horloge", body)["maintenant"])
        return self.now

    def close(self) -> None:
        ask(self.url, {}, "DELETE")

    def tpp(self) -> Access:
        made = ask(f"{self.url}/tiers", {})
        return Access(
            token=made["jeton"],
            client_id=made["client"],
            client_secret=made["secret"],
            id=made["client"],
        )

    def lack(self, step: Lack) -> datetime:
        if step.mode != "instant":
            raise CannotArrange(f"a bank without {step.mode}")
        made = ask(f"{self.url}/manques", {"mode": "INSTANTANE"})
        return datetime.fromisoformat(made["maintenant"])

    def register(self, step: Register, access: Access, value: Any) -> datetime:
        if step.argument != "creditorAccount":
            raise CannotArrange(f"a known {step.argument}")
        body = {
            "client": self.ids[step.subject],
            "iban": value,
            "age": step.age.total_seconds(),
        }
        return datetime.fromisoformat(ask(f"{self.url}/creanciers", body)["depuis"])

    def withdraw(self, step: Withdraw) -> bool:
        return bool(ask(f"{self.url}/retraits", {"dossier": step.request})["accepte"])

    def sign(self, step: Authorise, access: Access, factor: str) -> bool:
        body = {
            "dossier": step.request,
            "client": access.id or self.ids[step.by or step.subject],
            "moyen": factor,
            "choix": "VALIDER" if step.decision is Decision.CONFIRM else "ABANDONNER",
        }
        return bool(ask(f"{self.url}/signatures", body)["accepte"])

    def effects(self) -> tuple[Effect, ...]:
        return tuple(
            Effect(
                request=made["dossier"],
                on=date.fromisoformat(made["jour"]),
                fields={
                    "amount": made["montant"],
                    "creditorAccount": made["beneficiaire"],
                    "debtorAccount": made["debiteur"],
                },
            )
            for made in ask(f"{self.url}/virements", {})["virements"]
        )


def plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value


def ask(url: str, body: object, method: str = "POST") -> dict[str, Any]:
    headers = {"Content-Type": "application/json"}
    request = Request(url, json.dumps(body).encode(), headers, method=method)
    with urlopen(request, timeout=20) as answer:
        found: dict[str, Any] = json.loads(answer.read() or "{}")
        return found
