"""Generated mistakes in target files: the line is named, or the bank is not blamed.

For each bank, every pointer, argument, value, state, status and link of its target file is
changed in turn (`support/wrong_files.py`). `ASSAY_GENERATED_MISTAKES=all` tries all of them
in a few minutes and prints a table; `ASSAY_GENERATED_MISTAKES=blamed` also runs those that are
named, to count what a run would blame without the examination. A test run tries a sample.
"""

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml
from mistaken_banks import BANKS, Heard, MistakenBank, Verdicts
from wrong_files import WrongFile, wrong_files

from assay.errors import InputError
from assay.onboarding.doctor import examination
from assay.onboarding.doctor.record import Examined, Finding
from assay.preparation.prepare import Prepared
from assay.rules.verdict import Standing

pytestmark = pytest.mark.slow

#: What is tried: a sample, all, or all with what is blamed without the examination.
EXTENT = os.environ.get("ASSAY_GENERATED_MISTAKES", "sample")
STATUS = "operations.payment-status.item.fields.transactionStatus"
NO_CARDS = "operations.card-accounts.arguments.X-Request-ID"
NO_CONSENTS = "absent wrongly: absent = {{'operations': {{'{}': 'not at this bank'}}}}"
WITH_TOKEN = "given wrongly: operations.{} = {{'given': 'with-token'}}"
RETURNED = "operations.create-payment.arguments.successfulReportUrl"
SUBMISSION, MODIFY = "operations.create-payment.submission", "operations.modify-payment"
#: Mistakes that were blamed on the bank once, or named at another line; by the bank.
ONCE_MISSED = {
    "sandbox": {
        NO_CONSENTS.format("consents"),
        WITH_TOKEN.format("consents"),
        "item.key of a neighbour: operations.read-payment.item.key = '/links/self'",
    },
    "stet-1.4.0": {
        NO_CONSENTS.format("consents"),
        "item.fields without one: operations.accounts.item.fields.iban.0 = '(removed)'",
        "item.fields without one: operations.accounts.item.fields.iban.1 = '(removed)'",
        "item.key misspelt: operations.create-payment.item.key.header = 'Locaion'",
    },
    "errors": {
        "error.code of a neighbour: error.code.0 = '/class'",
        "error.code misspelt: error.code.1 = '/numer'",
        "error.codes removed: error.codes = '(removed)'",
        "error.codes swapped: error.codes.FORMAT = 'token'",
        "error.codes misspelt: error.codes.VALUE = 'vaue'",
        "error.fields of a neighbour: error.fields.class.at = '/detail/code'",
        "words misspelt: error.fields.class.words.limit = 'Lx'",
    },
    "kestrel": {
        "item.fields of a neighbour: operations.accounts.item.fields.iban.at = '/scheme'",
    },
    "merlin": {f"item.key of a neighbour: {SUBMISSION}.item.key = '/status'"},
    "morgan": {
        f"item.key of a neighbour: {SUBMISSION}.item.key = '/status'",
        f"path misspelt: {MODIFY}.path = '/payment-onsents/{{paymentRequestResourceId}}'",
    },
    "fjord": {
        "screens misspelt: sca.screens.0 = {'usr': 'login', 'secret': 'password'}",
        "decisions swapped: sca.decisions.confirm = 'deny'",
    },
    "existing": {
        "roles key misspelt: fixtures.roles.anna.owns.0.key = 'FR763000110002004121950842'",
        "roles key misspelt: fixtures.roles.anna.owns.5.key = 'FR763000110002004174315344'",
    },
    "coast": {
        "item.volatile misspelt: operations.accounts.item.volatile.0 = '/shwn'",
        "item.volatile without all: operations.accounts.item.volatile = []",
        f"argument adds misspelt: {RETURNED}.adds.0 = 'paymntId'",
    },
    "lab": {
        "factors swapped: sca.factors.pin = 'C'",
        "state word moved: operations.amend.item.state.values.done = [30, 20]",
    },
    "quay": {
        NO_CONSENTS.format("permit"),
        "argument exclusive flipped: operations.permit.arguments.until.exclusive = True",
        "headers removed: operations.entries.headers.Consent-ID = '(removed)'",
        "presence misspelt: presence.header = 'Customr-Here'",
        "state word moved: operations.permission.item.state.values.open = ['received', 'valid']",
        "values of a neighbour: operations.accounts.values.owner = '/next'",
    },
    "desk": {
        "argument misspelt: operations.entries.arguments.rows.query = 'ros'",
        "arguments swapped: operations.order.arguments.X-Request-ID.header = 'Order-Key'",
        "item.fields of a neighbour: operations.entries.item.fields.status = '/id'",
    },
    "parcels": {"argument misspelt: operations.parcels.arguments.trace.header = 'Trce'"},
    "xs2a": {
        NO_CONSENTS.format("make-consent"),
        f"item.fields of a neighbour: {STATUS} = '/scaStatus'",
        f"argument misspelt: {NO_CARDS}.header = 'X-Requst-ID'",
        f"argument elsewhere: {NO_CARDS} = {{'query': 'X-Request-ID', 'value': '{{unique}}'}}",
    },
    "holdout": {
        "hosts wrong: hosts.0 = 'http://localhost:8765/openbank/v1x'",
        "next of a neighbour: operations.accounts.next.cursor = '/donnees/cartes/0/reference'",
        "list misspelt: operations.accounts.list.1 = '/donnees/cares'",
        "list without one: operations.accounts.list.1 = '(removed)'",
        "values of a neighbour: operations.accounts.values.PsuIdentity = '/liens/suite'",
        "factors swapped: sca.factors.soft-token = 'COURRIEL'",
        "zone wrong: zone = 'America/New_York'",
    },
}
#: Ways in which a mistake can end, in the order of the table.
ENDS = ("check", "doctor", "unverified", "harmless", "blamed")
#: What the doctor names: the line that is wrong, its operation or section, or another place.
NAMED = ("line", "section", "elsewhere")


@dataclass
class Trial:
    """How one mistake ended: what named it and where, and what a run would have blamed."""

    mistake: WrongFile
    end: str
    findings: Sequence[str] = ()
    named: str = ""
    blamed: tuple[str, ...] = ()


@dataclass
class Trials:
    """The mistakes of one bank, tried one after the other."""

    bank: MistakenBank
    folder: Path
    sound: Verdicts = field(default_factory=dict)
    heard: Heard = field(default_factory=dict)

    def write(self, data) -> Path:
        """Write a target file."""
        path = self.folder / "wrong.yaml"
        dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
        path.write_text(yaml.dump(data, sort_keys=False, Dumper=dumper), encoding="utf-8")
        return path

    def mistakes(self) -> Iterator[WrongFile]:
        """Yield the mistakes of the sound file, by the answers of the sound bank."""
        data = json.loads(json.dumps(self.bank.data(), default=str))
        record = Examined(target_name=None, prepared=self.bank.prepared(self.write(data)))
        for step in examination.STEPS:
            findings = [*step.look(record)]
            blocking = [str(each) for each in findings if each.blocking]
            assert [] == blocking, (step.name, blocking)
        bound = record.contracts_bound
        operations = {name: each for one in bound for name, each in one.operations.items()}
        answers = (*record.answers, *record.submissions)
        yield from filter(self.bank.is_own, wrong_files(data, answers, operations))

    def run_sound(self) -> None:
        """Keep how each obligation stands with the sound file, and what its trials call."""
        data = json.loads(json.dumps(self.bank.data(), default=str))
        self.sound = self.bank.verdicts(self.bank.prepared(self.write(data)), heard=self.heard)
        # What is red from the start would be taken for blame.
        assert [] == [name for name, each in self.sound.items() if each is Standing.VIOLATES]

    def run(self, mistake: WrongFile, prepared: Prepared) -> Verdicts:
        """Run the trials that call what a mistake is about; all of them if one violates something."""
        names = {*mistake.operations}
        names |= {
            name
            for name, each in prepared.target.operations.items()
            if any(spelling.found in names for spelling in each.arguments.values())
        }
        if not names:
            return self.bank.verdicts(prepared)
        skipped = {each for each, called in self.heard.items() if not called & names}
        contracts = (each.contract for each in prepared.bound)
        concerned = {each.id for each in contracts if names & {*each.operations}}
        verdicts = self.bank.verdicts(
            prepared,
            lambda each: each.id not in skipped and each.id.partition("/")[0] in concerned,
        )
        if Standing.VIOLATES in verdicts.values():
            return self.bank.verdicts(prepared)
        return verdicts

    def is_harmless(self, verdicts: Verdicts) -> bool:
        """Whether all that was run, and conforms with the sound file, conforms."""
        sound = {name for name, each in self.sound.items() if each is Standing.CONFORMS}
        return all(each is Standing.CONFORMS for name, each in verdicts.items() if name in sound)

    def examine(self, mistake: WrongFile) -> Trial:
        """Check, examine and, where nothing was said, run a file with a mistake."""
        path = self.write(mistake.data)
        try:
            prepared = self.bank.prepared(path)
        except InputError as error:
            return Trial(mistake, "check", [str(error.problems[0])])
        blocking = examination.examine(str(path), prepared=prepared).blocking
        findings, named = [str(each) for each in blocking], ""
        if blocking:
            lines = {prepared.target.place(*at) for at in mistake.touched}
            named = min((_named(each, mistake, lines) for each in blocking), key=NAMED.index)
        if blocking and EXTENT != "blamed":
            return Trial(mistake, "doctor", findings, named)
        verdicts = self.run(mistake, prepared)
        blamed = tuple(each for each, one in verdicts.items() if one is Standing.VIOLATES)
        if blocking:
            return Trial(mistake, "doctor", findings, named, blamed)
        end = "harmless" if self.is_harmless(verdicts) else "unverified"
        end = "blamed" if blamed else end
        return Trial(mistake, end, blamed=blamed)


def _named(finding: Finding, mistake: WrongFile, lines: set[tuple[str, int]]) -> str:
    """Return whether a finding names the line of a mistake, its section, or another place.

    A key directly above or below the wrong one stands in the same line of a usual file.
    """
    key = tuple(finding.key.replace("[", ".").replace("]", "").split("."))
    wrong = [tuple(map(str, at)) for at in mistake.touched]
    if (finding.path, finding.line) in lines or any(_beside(key, at) for at in wrong):
        return "line"
    # Outside the operations, a section is short enough to be read as a whole.
    sections = {at[:2] if at[0] == "operations" else at[:1] for at in wrong}
    return "section" if any(key[: len(each)] == each for each in sections) else "elsewhere"


def _beside(key: tuple[str, ...], at: tuple[str, ...]) -> bool:
    """Whether one key is the other, or directly above it; places in a list do not count."""
    names, wrong = (tuple(step for step in each if not step.isdigit()) for each in (key, at))
    shorter, longer = sorted((names, wrong), key=len)
    deep = len(shorter) > 1 or names == wrong
    return deep and longer[: len(shorter)] == shorter and len(longer) - len(shorter) <= 1


def table(bank: MistakenBank, trials: Sequence[Trial]) -> str:
    """Return how many mistakes ended in which way, and what the doctor named."""
    ends = Counter(trial.end for trial in trials)
    named = Counter(trial.named for trial in trials)
    without = str(sum(bool(trial.blamed) for trial in trials)) if EXTENT == "blamed" else "-"
    head = ("bank", "mistakes", *ENDS, *(f"by {name}" for name in NAMED), "without doctor")
    counts = (len(trials), *(ends[end] for end in ENDS), *(named[name] for name in NAMED))
    rows = (head, (bank.name, *map(str, counts), without))
    return "\n".join("".join(f"{cell:>14}" for cell in row) for row in rows)


@pytest.mark.parametrize("bank", BANKS, ids=lambda each: each.name)
def test_the_sound_file_is_not_doubted(bank, tmp_path, monkeypatch):
    """The doctor finds nothing at a sound bank, so that a run begins."""
    bank.install(monkeypatch)
    assert any(Trials(bank, tmp_path).mistakes()), "there are mistakes to make"


@pytest.mark.parametrize("bank", BANKS, ids=lambda each: each.name)
def test_no_mistake_in_the_file_is_blamed_on_the_bank(bank, tmp_path, monkeypatch, capsys):
    """Each mistake is named by `check` or the doctor, or nothing is violated because of it."""
    bank.install(monkeypatch)
    trials = Trials(bank, tmp_path)
    mistakes = [*trials.mistakes()]
    assert bank.mistakes <= len(mistakes)
    if EXTENT != "sample":
        trials.run_sound()
    once = ONCE_MISSED.get(bank.name, set())
    assert once <= {str(each) for each in mistakes}
    sample = {*map(str, mistakes[:: bank.step] if bank.step else ()), *once}
    tried = [
        trials.examine(mistake)
        for mistake in mistakes
        if EXTENT != "sample" or str(mistake) in sample
    ]
    with capsys.disabled():
        if EXTENT != "sample":
            sys.stdout.write(f"\n{table(bank, tried)}\n")
    blamed = {str(trial.mistake): trial.blamed[0] for trial in tried if trial.end == "blamed"}
    assert {} == blamed
    named = {str(trial.mistake): trial.named for trial in tried}
    checked = {str(trial.mistake) for trial in tried if trial.end == "check"}
    assert set() == {each for each in once - checked if named[each] not in NAMED[:2]}
