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
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest
import yaml
from wrong_files import WrongFile, wrong_files

from assay.binding.join import bind
from assay.binding.read import extended, find_target, read_target
from assay.contract.files.load import load
from assay.contract.parse import find_contract, parse_contract
from assay.doctor import examination
from assay.doctor.context import DoctorContext
from assay.errors import InputError
from assay.execution.environment import set_up, sound_bank
from assay.execution.session import Session, run_session
from assay.journal.writer import Journal
from assay.judging.verdict import Standing
from assay.planning.plan import plan
from assay.planning.prepare import Prepared

pytestmark = pytest.mark.slow

ELSEWHERE = Path(__file__).parents[1] / "elsewhere"
#: What is tried: a sample, all, or all with what is blamed without the examination.
EXTENT = os.environ.get("ASSAY_GENERATED_MISTAKES", "sample")
#: Mistakes that are blamed all the same. Two factors without names of their own, one for the
#: other: only the bank could say which of them the customer used.
KNOWN = {"factors swapped: sca.factors.pin = 'C'"}
#: Ways in which a mistake can end, in the order of the table.
ENDS = ("check", "doctor", "unverified", "harmless", "blamed")


@dataclass(frozen=True)
class Laboratory:
    """A sound bank with its target file and contracts; every `step`th mistake is the sample."""

    name: str
    target: Path
    contracts: tuple[str, ...]
    bank: Callable[[str], object]
    mistakes: int
    step: int

    @property
    def parsed(self):
        """The contracts, read once."""
        return parsed(self.contracts)

    def prepared(self, path: Path) -> Prepared:
        """Return the plan of a target file."""
        target = read_target(path)
        bound = bind(self.parsed, target)
        return Prepared(target=target, bound=bound, plan=plan(bound, target), reproduce="")

    def set_up(self, target, ledger=None):
        """Make the bank ready."""
        return set_up(target, bank=self.bank, ledger=ledger)

    def verdicts(self, prepared: Prepared) -> dict[str, Standing]:
        """Run everything, without an examination."""
        environment = self.set_up(prepared.target)
        try:
            session = Session(
                plan=prepared.plan, environment=environment, journal=Journal(out=None)
            )
            result = run_session(session)
        finally:
            environment.close()
        assert () == result.faults
        return {verdict.obligation: verdict.standing for verdict in result.verdicts}


@cache
def parsed(contracts):
    """Return contracts by their names or paths."""
    return [parse_contract(find_contract(name)) for name in contracts]


def hill(_url: str):
    """Return the laboratory that is no bank."""
    sys.path.insert(0, str(ELSEWHERE))
    try:
        from service import Service  # noqa: PLC0415
    finally:
        sys.path.remove(str(ELSEWHERE))
    return Service()


SHIPPED = ("aisp", "pis")
LABORATORIES = (
    Laboratory("sandbox", find_target("sandbox"), SHIPPED, sound_bank, 600, 97),
    Laboratory("stet-1.4.0", find_target("stet-1.4.0"), SHIPPED, sound_bank, 750, 190),
    Laboratory(
        "laboratory",
        ELSEWHERE / "target.yaml",
        (str(ELSEWHERE / "lab.yaml"),),
        hill,
        480,
        23,
    ),
)


@dataclass
class Trial:
    """How one mistake ended: who named it, and what a run would have blamed."""

    mistake: WrongFile
    end: str
    named: str = ""
    blamed: tuple[str, ...] = ()


@dataclass
class Trials:
    """All mistakes of one bank, tried one after the other."""

    laboratory: Laboratory
    folder: Path
    tried: list[Trial] = field(default_factory=list)

    def write(self, data) -> Path:
        """Write a target file."""
        path = self.folder / "wrong.yaml"
        dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
        path.write_text(yaml.dump(data, sort_keys=False, Dumper=dumper), encoding="utf-8")
        return path

    def mistakes(self) -> Iterator[WrongFile]:
        """Yield the mistakes of the sound file, by the answers of the sound bank."""
        data = json.loads(json.dumps(extended(load(self.laboratory.target)).data, default=str))
        data.pop("extends", None)
        context = DoctorContext(
            target_name=None, prepared=self.laboratory.prepared(self.write(data))
        )
        for step in examination.STEPS:
            assert [] == [*step.look(context)], step.name
        bound = context.contracts_bound
        operations = {name: each for one in bound for name, each in one.operations.items()}
        yield from wrong_files(data, context.answers, operations)

    def examine(self, mistake: WrongFile, conforming: int) -> Trial:
        """Check, examine and, where nothing was said, run a file with a mistake."""
        path = self.write(mistake.data)
        try:
            prepared = self.laboratory.prepared(path)
        except InputError as error:
            return Trial(mistake, "check", str(error.problems[0]))
        blocking = examination.examine(str(path), prepared=prepared).blocking
        if blocking and EXTENT != "blamed":
            return Trial(mistake, "doctor", str(blocking[0]))
        verdicts = self.laboratory.verdicts(prepared)
        blamed = tuple(each for each, one in verdicts.items() if one is Standing.VIOLATES)
        if blocking:
            return Trial(mistake, "doctor", str(blocking[0]), blamed)
        conforms = [*verdicts.values()].count(Standing.CONFORMS)
        end = "blamed" if blamed else "harmless" if conforms >= conforming else "unverified"
        return Trial(mistake, end, blamed=blamed)


def table(trials: list[Trials]) -> str:
    """Return how many mistakes ended in which way, for each bank."""
    rows = [("bank", "mistakes", *ENDS, "blamed without doctor")]
    for each in trials:
        ends = Counter(one.end for one in each.tried)
        without = sum(bool(one.blamed) for one in each.tried)
        counts = (len(each.tried), *(ends[end] for end in ENDS))
        shown = str(without) if EXTENT == "blamed" else "-"
        rows.append((each.laboratory.name, *map(str, counts), shown))
    return "\n".join("".join(f"{cell:>14}" for cell in row) for row in rows)


@pytest.mark.parametrize("laboratory", LABORATORIES, ids=lambda each: each.name)
def test_no_mistake_in_the_file_is_blamed_on_the_bank(laboratory, tmp_path, monkeypatch, capsys):
    """Each mistake is named by `check` or the doctor, or nothing is violated because of it."""
    monkeypatch.setattr(examination, "set_up", laboratory.set_up)
    trials = Trials(laboratory, tmp_path)
    mistakes = [*trials.mistakes()]
    assert laboratory.mistakes <= len(mistakes)
    chosen = mistakes if EXTENT != "sample" else mistakes[:: laboratory.step]
    sound = laboratory.verdicts(laboratory.prepared(laboratory.target))
    conforming = [*sound.values()].count(Standing.CONFORMS)
    trials.tried += [trials.examine(mistake, conforming) for mistake in chosen]
    with capsys.disabled():
        if EXTENT != "sample":
            sys.stdout.write(f"\n{table([trials])}\n")
    blamed = {str(one.mistake): one.blamed[0] for one in trials.tried if one.end == "blamed"}
    assert set() == blamed.keys() - KNOWN
