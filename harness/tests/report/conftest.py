"""A builder of literal journals, for the tests of the reports."""

import hashlib
import json
from io import StringIO

import pytest

from assay.report import FORMATS, read_journal

HEADER = {
    "type": "header",
    "journal": 1,
    "tool": "assay",
    "version": "0.1.0",
    "started": "2026-11-21T10:00:00Z",
    "seed": 0,
    "contracts": [
        {
            "id": "aisp",
            "title": "Account information",
            "version": "1.0",
            "digest": "sha256:aa",
            "path": "contract/aisp.yaml",
            "document": "service.md",
        }
    ],
    "target": {
        "name": "sandbox",
        "transport": "embedded",
        "base_url": "https://bank.invalid",
        "digest": "sha256:bb",
    },
    "selection": {"k": "", "m": ""},
    "command": "assay run",
}

COUNTS = (
    "conforms",
    "violates",
    "indeterminate",
    "unverified",
    "unspecified",
    "not-applicable",
    "waived",
)


class Journal:
    """A journal in the making: add lines, then `write` it or `read` it back."""

    def __init__(self, path):
        self.path = path
        self.lines = [HEADER]

    def add(self, **line):
        """Add any line."""
        self.lines.append(line)
        return self

    def plan(self, name="aisp/batch-quota/next-day", **changes):
        """Add a plan line for an obligation."""
        contract, clause, facet = name.split("/")
        line = {
            "type": "plan",
            "obligation": name,
            "contract": contract,
            "clause": clause,
            "facet": facet,
            "kind": "quota",
            "level": "must",
            "says": "At most four accesses a day without the customer.",
            "asks": "The next day four are accepted again.",
            "sources": [{"section": "Limits", "line": 163, "text": "Up to 4 per calendar day"}],
            "line": 120,
            "needs": ["batch", "clock"],
            "calls": 6,
            "trial": f"{contract}/{clause}#{facet}",
            "disposition": "ask",
            "reason": "",
        }
        return self.add(**line | changes)

    def exchange(self, trial="aisp/batch-quota#next-day", n=17, body="{}", **changes):
        """Add an exchange."""
        line = {
            "type": "exchange",
            "trial": trial,
            "n": n,
            "at": "2026-09-16T10:00:00+02:00",
            "operation": "balances",
            "subject": "psu",
            "present": False,
            "variation": "without the customer",
            "request": {
                "method": "GET",
                "url": "https://bank.invalid/accounts/1/balances",
                "headers": [["authorization", "<token>"]],
                "body": "",
            },
            "response": {
                "status": 429,
                "headers": [["content-type", "application/json"]],
                "body": body,
                "truncated": False,
            },
            "outcome": {"kind": "rejected", "why": ""},
            "ms": 1.2,
        }
        return self.add(**line | changes)

    def verdict(self, name="aisp/batch-quota/next-day", verdict="conforms", reason="", **changes):
        """Add a verdict; a finding gets one piece of evidence citing exchange 17."""
        agreement = {"violates": "disagrees", "indeterminate": "unclear"}
        evidence = {
            "agreement": agreement.get(verdict, "agrees"),
            "expected": "accepted",
            "seen": "refused with 429",
            "variation": "without the customer",
            "exchanges": [17],
        }
        asked = verdict in {"conforms", "violates", "indeterminate"}
        line = {
            "type": "verdict",
            "obligation": name,
            "verdict": verdict,
            "reason": reason,
            "evidence": [evidence] if asked else [],
            "calls": 6,
            "reproduce": f"assay run -k '{name}' --seed 0",
        }
        return self.add(**line | changes)

    def finding(self, name="aisp/batch-quota/next-day", verdict="violates", **changes):
        """Add plan, exchange and verdict of one broken obligation."""
        contract, clause, facet = name.split("/")
        self.plan(name).exchange(f"{contract}/{clause}#{facet}")
        return self.verdict(name, verdict, "expected accepted; refused", **changes)

    def findings(self, count, verdict="violates"):
        """Add that many findings and the footer, and read it all as a report."""
        names = [f"aisp/clause-{n}/facet" for n in range(count)]
        for name in names:
            self.plan(name)
        for name in names:
            self.exchange(name.replace("/facet", "#facet"), body="y" * 3_000)
            self.verdict(name, verdict, f"expected 15; seen 17 by {name}")
        return self.footer().read()

    def search(self, *found, how="journeys", **changes):
        """Add a search that found these obligations broken, each in four steps."""
        line = {
            "type": "search",
            "contract": "aisp",
            "how": how,
            "made": 200,
            "exchanges": 4312,
            "seconds": 8.1,
            "seed": 0,
            "findings": [
                {
                    "obligation": name,
                    "sequence": f"sequences/{name.replace('/', '-')}.json",
                    "steps": 4,
                }
                for name in found
            ],
        }
        return self.add(**line | changes)

    def footer(self, **changes):
        """Add the footer that fits the lines so far."""
        verdicts = [line for line in self.lines if line.get("type") == "verdict"]
        counts = dict.fromkeys(COUNTS, 0)
        for line in verdicts:
            counts[line["verdict"]] = counts.get(line["verdict"], 0) + 1
        footer = {
            "type": "footer",
            "finished": "2026-11-21T10:00:02.100Z",
            "planned": sum(line.get("type") == "plan" for line in self.lines),
            "counts": counts,
            "exchanges": sum(line.get("type") == "exchange" for line in self.lines),
            "faults": sum(line.get("type") == "fault" for line in self.lines),
            "exit": 1 if counts["violates"] else 0,
            "digest": f"sha256:{hashlib.sha256(self.bytes()).hexdigest()}",
        }
        return self.add(**footer | changes)

    def bytes(self):
        """Return the lines as a journal has them."""
        return b"".join(json.dumps(line).encode() + b"\n" for line in self.lines)

    def write(self):
        """Write what is there and return where."""
        self.path.write_bytes(self.bytes())
        return self.path

    def read(self, *, partial=False):
        """Write the journal and read it as a report."""
        return read_journal(self.write(), partial=partial)


@pytest.fixture
def journal(tmp_path):
    """Return an empty journal: its header and no more."""
    return Journal(tmp_path / "journal.jsonl")


@pytest.fixture
def journal_at():
    """Return what makes an empty journal at a path."""
    return Journal


@pytest.fixture
def mixed(journal):
    """Return the report of a run with every verdict and a harness fault."""
    journal.plan("aisp/pages/complete").plan("aisp/batch-quota/next-day")
    journal.plan("aisp/pages/size").plan("aisp/batch-quota/midnight")
    journal.plan("aisp/instant/offered").plan("aisp/depth/ninety")
    journal.plan(
        "aisp/unspecified/status-codes",
        kind="unspecified",
        disposition="unspecified",
        says="Which status a refusal has is not shown.",
        asks="",
    )
    journal.exchange().exchange("aisp/pages#size", 17)
    journal.verdict("aisp/pages/complete")
    journal.verdict(verdict="violates", reason="expected accepted; refused")
    journal.verdict("aisp/pages/size", "indeterminate", "expected 15; a time-out")
    journal.verdict("aisp/batch-quota/midnight", "unverified", "needs clock")
    journal.verdict("aisp/instant/offered", "not-applicable", "not offered")
    journal.verdict("aisp/depth/ninety", "waived", "BANK-7, until 2027-01-01")
    journal.verdict("aisp/unspecified/status-codes", "unspecified", "not shown")
    journal.add(type="fault", where="aisp/pages/size", what="a probe crashed")
    return journal.footer().read()


@pytest.fixture
def written():
    """Return a function that renders a report in a named format, as text."""

    def render(report, name):
        out = StringIO()
        FORMATS[name].render(report, out)
        return out.getvalue()

    return render


#: The formats that have everything that a reader of a report is shown.
FULL = ("html", "json", "junit", "markdown", "text")


@pytest.fixture(params=FULL)
def view(request, tmp_path):
    """Return a function that renders a report in one format, for every full format."""
    return _view(request.param, tmp_path)


@pytest.fixture(params=sorted(FORMATS))
def any_view(request, tmp_path):
    """Return a function that renders a report in one format, for every format."""
    return _view(request.param, tmp_path)


def _view(name, tmp_path):
    chosen = FORMATS[name]

    def rendered(report):
        path = tmp_path / f"view-{chosen.file}"
        with path.open("w", encoding="utf-8", newline="\n") as out:
            chosen.render(report, out)
        return path.read_text(encoding="utf-8")

    rendered.format = name
    return rendered
