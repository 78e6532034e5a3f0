"""The sound banks of the tests with their target files, in which mistakes are generated.

Each is called in this process. Where an example is served over HTTP, its target file is loaded
with `transport: embedded`; where its fixture provider calls the bank's back office, that is
called in this process too.
"""

import importlib
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from coast_bank import Coast
from existing_bank import TOKENS, existing_bank, fixtures
from foreign import dialects
from wrong_files import WrongFile

from assay._resources import contract_dir
from assay.binding.read.join import bind
from assay.binding.wire.encode import Access
from assay.files.load import load
from assay.history import Event, Exchange, Submitted
from assay.journal.writer import Journal
from assay.onboarding.doctor import examination
from assay.parsing.parse import find_contract, parse_contract
from assay.planning.plan import plan
from assay.preparation.prepare import Prepared
from assay.preparation.target_file import extended, find_target, read_target
from assay.rules import kinds
from assay.rules.obligation import Obligation
from assay.rules.rule import Kind
from assay.rules.verdict import Standing
from assay.running.environment import set_up, sound_bank
from assay.running.ledger import default_path
from assay.running.session import Session, run_session

#: How each obligation stands.
Verdicts: TypeAlias = dict[str, Standing]
#: The operations that the trials of each obligation call.
Heard: TypeAlias = dict[str, set[str]]
TESTS = Path(__file__).parents[1]
SHIPPED = ("aisp", "pis")


@dataclass(kw_only=True)
class Listening(Journal):
    """A journal that keeps only which operations the trials of each obligation call."""

    settled: Mapping[str, Sequence[str]]
    heard: Heard

    def event(self, trial: str, event: Event, access: Access) -> None:
        """Keep the operation of a call."""
        if isinstance(event, Exchange | Submitted):
            for obligation in self.settled.get(trial, ()):
                self.heard.setdefault(obligation, set()).add(event.call.operation)


@dataclass(frozen=True, kw_only=True)
class MistakenBank:
    """A sound bank with its target file and contracts; every `step`th mistake is the sample, none for 0.

    `mistakes` is the least number of them, and `settings` replace keys of the target file. With
    `own` only the keys that stand in the file itself are wrong, not those that it inherits.
    """

    name: str
    target: Path
    contracts: tuple[str, ...]
    bank: Callable[[str], object]
    mistakes: int
    step: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    own: bool = False

    def data(self) -> dict[str, Any]:
        """Return the target file with what it inherits and the settings."""
        data = {**extended(load(self.target)).data, **self.settings}
        data["contracts"] = list(self.contracts)
        # Other banks of the group lack modes of the one contract, and are excluded by the other.
        left = {"extends"} if len(self.contracts) > 1 else {"extends", "banks"}
        data = {name: each for name, each in data.items() if name not in left and each is not None}
        known = {name for contract in self.parsed for name in contract.operations}
        operations = data["operations"].items()
        data["operations"] = {name: each for name, each in operations if name in known}
        return data

    def is_own(self, mistake: WrongFile) -> bool:
        """Whether a mistake is to be tried: whether its key stands in the file itself."""
        file = load(self.target).data
        data = {**(file if "extends" in file else {}), **self.settings}
        return not self.own or any(_stands(data, at) for at in mistake.touched)

    @property
    def parsed(self):
        """The contracts, read once."""
        return _parsed(self.contracts)

    def install(self, monkeypatch) -> None:
        """Make the kinds of guests known, and the bank that of an examination."""
        monkeypatch.setattr(kinds, "installed", cache(guest_kinds))
        monkeypatch.setattr(examination, "set_up", self.set_up)
        for name, token in TOKENS.items():
            monkeypatch.setenv(name, token)

    def prepared(self, path: Path) -> Prepared:
        """Return the plan of a target file."""
        target = read_target(path)
        bound = bind(self.parsed, target)
        return Prepared(target=target, bound=bound, plan=plan(bound, target), reproduce="")

    def set_up(self, target, ledger=None):
        """Make the bank ready; of listed customers, nothing was spent yet."""
        spent = default_path()
        for file in spent.parent.glob(f"{spent.name}*"):
            file.unlink()
        return set_up(target, bank=self.bank, ledger=ledger)

    def verdicts(
        self,
        prepared: Prepared,
        select: Callable[[Obligation], bool] = lambda _: True,
        heard: Heard | None = None,
    ) -> Verdicts:
        """Run what is selected, without an examination; `heard` gets the operations that it calls."""
        planned = plan(prepared.bound, prepared.target, select)
        settled = {trial.id: [each.id for each in trial.settles] for trial in planned.trials}
        journal = Listening(out=None, settled=settled, heard={} if heard is None else heard)
        environment = self.set_up(prepared.target)
        try:
            session = Session(plan=planned, environment=environment, journal=journal)
            result = run_session(session)
        finally:
            environment.close()
        assert () == result.faults
        return {verdict.obligation: verdict.standing for verdict in result.verdicts}


def _stands(data: Any, at: tuple[Any, ...]) -> bool:
    """Whether a file has a key, or a value in place of what is above it."""
    for step in at:
        if not isinstance(data, Mapping):
            return True
        if step not in data:
            return False
        data = data[step]
    return True


@cache
def _parsed(contracts):
    return [parse_contract(find_contract(name)) for name in contracts]


def _imported(folder: Path, name: str):
    """Return a module of a folder that is not on the path."""
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))


def _beside(folder: Path, module: str, name: str) -> Callable[[str], object]:
    """Return the factory of a bank in a folder."""
    return lambda _url: getattr(_imported(folder, module), name)()


def _foreign(bank: type) -> Callable[[str], object]:
    """Return the factory of a dialect of the foreign bank."""
    return lambda _url: bank()


def _small(files: str, bank: Callable[[str], object], mistakes: int, step: int) -> MistakenBank:
    """Return one of the banks of the tests, with a contract and a target file in one folder."""
    folder, contract, target = files.split()
    at = TESTS / folder
    return MistakenBank(
        name=contract,
        target=at / f"{target}.yaml",
        contracts=(str(at / f"{contract}.yaml"),),
        bank=bank,
        mistakes=mistakes,
        step=step,
    )


def _holdout(url: str) -> object:
    """Return the holdout bank, a package beside these tests."""
    return _imported(TESTS, "holdout_in_process").new_bank(url)


def guest_kinds() -> Mapping[str, type[Kind]]:
    """Return the kinds of the package of guests, which is not installed."""
    at = TESTS / "guest_kinds"
    project = tomllib.loads((at / "pyproject.toml").read_text("utf-8"))["project"]
    points = {
        name: point.split(":") for name, point in project["entry-points"]["assay.rules"].items()
    }
    return {name: getattr(_imported(at, point[0]), point[1]) for name, point in points.items()}


XS2A = contract_dir() / "examples" / "xs2a"
BANKS = (
    MistakenBank(
        name="sandbox",
        target=find_target("sandbox"),
        contracts=SHIPPED,
        bank=sound_bank,
        mistakes=600,
        step=250,
    ),
    MistakenBank(
        name="stet-1.4.0",
        target=find_target("stet-1.4.0"),
        contracts=SHIPPED,
        bank=sound_bank,
        mistakes=630,
        step=450,
    ),
    _small("elsewhere lab target", _beside(TESTS / "elsewhere", "service", "Service"), 480, 120),
    _small("spellings kestrel kestrel-target", _foreign(dialects.KESTREL), 150, 76),
    _small("spellings sister sister-target", _foreign(dialects.SISTER), 30, 20),
    MistakenBank(
        name="osprey",
        target=TESTS / "spellings" / "osprey-target.yaml",
        contracts=(str(TESTS / "spellings" / "kestrel.yaml"),),
        bank=_foreign(dialects.OSPREY),
        mistakes=10,
        step=0,
        own=True,
    ),
    MistakenBank(
        name="coast",
        target=Path(__file__).parent / "coast-target.yaml",
        contracts=SHIPPED,
        bank=Coast,
        mistakes=10,
        step=0,
        own=True,
    ),
    MistakenBank(
        name="existing",
        target=find_target("sandbox"),
        contracts=("aisp",),
        bank=existing_bank,
        mistakes=60,
        step=0,
        settings={"fixtures": fixtures(), "sca": None},
        own=True,
    ),
    _small("consents quay target", _foreign(dialects.QUAY), 150, 78),
    _small("general_kinds desk desk-target", _foreign(dialects.DESK), 340, 171),
    _small("general_kinds counted counted-target", _foreign(dialects.COUNTED), 90, 45),
    _small("general_kinds errors errors-target", _foreign(dialects.ERRORS), 250, 0),
    _small("guest_kinds parcels parcels-target", _foreign(dialects.LOCKERS), 60, 31),
    _small("consent_tokens fjord target", _foreign(dialects.FJORD), 180, 0),
    MistakenBank(
        name="morgan",
        target=TESTS / "consent_tokens" / "morgan-target.yaml",
        contracts=("pis",),
        bank=_beside(TESTS / "consent_tokens", "morgan_bank", "Morgan"),
        mistakes=50,
        step=0,
        own=True,
    ),
    MistakenBank(
        name="merlin",
        target=TESTS / "submission" / "merlin-target.yaml",
        contracts=("pis",),
        bank=_beside(TESTS / "submission", "merlin_bank", "Merlin"),
        mistakes=40,
        step=0,
        own=True,
    ),
    MistakenBank(
        name="xs2a",
        target=XS2A / "nordhafen.yaml",
        contracts=(str(XS2A / "xs2a.yaml"),),
        bank=_beside(XS2A, "nordhafen.application", "Bank"),
        mistakes=670,
        step=340,
        settings={"transport": "embedded"},
    ),
    MistakenBank(
        name="holdout",
        target=TESTS / "holdout" / "target.yaml",
        contracts=SHIPPED,
        bank=_holdout,
        mistakes=630,
        step=400,
        settings={
            "transport": "embedded",
            "fixtures": {
                **load(TESTS / "holdout" / "target.yaml").data["fixtures"],
                "adapter": "holdout_in_process:LaboratoryFixtures",
                "customers": "created",
            },
        },
    ),
)
