"""The world of a bank's sandbox, whose back office has an API of its own."""

import json
from datetime import datetime
from urllib.request import Request, urlopen

from assay.worlds import Access, Arrange, CannotArrange, Entry, NoRequests, Owned, Subject


class SandboxWorld:
    """Opens a scene for each trial, so that nothing leaks from one to the next."""

    def __init__(self, base_url: str, office: str, seed: int = 0) -> None:
        self.office, self.seed = f"{base_url}{office}", seed

    def open(self) -> "SandboxScene":
        answer = ask(f"{self.office}/worlds", {"seed": self.seed})
        return SandboxScene(f"{self.office}/worlds/{answer['world']}", answer["now"])


class SandboxScene(NoRequests):
    """Makes customers and moves the clock; what else there is, `NoRequests` refuses."""

    def __init__(self, url: str, now: str) -> None:
        self.url, self.now = url, datetime.fromisoformat(now)

    def arrange(self, step: Arrange) -> tuple[Subject, Access]:
        if step.segment is not None:
            raise CannotArrange(f"a customer of segment {step.segment}")
        wanted = [
            {
                "resource": one.resource,
                "count": one.count,
                "traits": dict(one.traits),
                "entries": [day.isoformat() for day in one.entries or ()],
            }
            for one in step.holdings
        ]
        made = ask(f"{self.url}/customers", {"holdings": wanted})
        owns = tuple(
            Owned(
                key=one["key"],
                resource=one["resource"],
                traits=one["traits"],
                entries=tuple(
                    Entry(key=each["key"], on=datetime.fromisoformat(each["date"]).date())
                    for each in one["entries"]
                ),
            )
            for one in made["holdings"]
        )
        return Subject(name=step.subject, now=self.now, owns=owns), Access(token=made["token"])

    def clock(self, to: datetime | None) -> datetime:
        if to is not None:
            self.now = datetime.fromisoformat(
                ask(f"{self.url}/clock", {"to": to.isoformat()})["now"]
            )
        return self.now

    def close(self) -> None:
        ask(self.url, {}, "DELETE")


def ask(url: str, body: object, method: str = "POST") -> dict:
    headers = {"Content-Type": "application/json"}
    request = Request(url, json.dumps(body).encode(), headers, method=method)
    with urlopen(request, timeout=10) as answer:
        return json.loads(answer.read() or "{}")
