"""What `assay doctor --fix` makes of generated mistakes in target files.

    python harness/bench/first_hour/repaired.py [--step 10] [--all] [bank ...]

Every `step`th mistake of each bank of the test suite (`test_generated_mistakes.py`) is made, the file is
repaired with what is certain, or with `--all` with everything that is proposed, and examined again:

    right     each key that was wrong is as it was
    other     nothing is doubted any more, the file is another one, and a run blames the bank for nothing
    left      something is still doubted, or was not named at all
    WORSE     nothing is doubted any more, and a run blames a sound bank
"""

import argparse
import json
import os
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml

TESTS = Path(__file__).resolve().parents[2] / "tests"
sys.path[:0] = [str(TESTS / name) for name in ("support", "", "onboarding/doctor")]
os.environ.setdefault("ASSAY_GENERATED_MISTAKES", "all")

from test_generated_mistakes import BANKS, Trials  # noqa: E402

from assay.errors import InputError  # noqa: E402
from assay.onboarding.doctor import examination  # noqa: E402
from assay.onboarding.doctor.examination import Examination  # noqa: E402
from assay.onboarding.doctor.repair import repair  # noqa: E402
from assay.rules.verdict import Standing  # noqa: E402


def at(data, pointer):
    """Return what stands at a place of a file; None if nothing does."""
    for step in pointer:
        if isinstance(data, list):
            data = data[int(step)] if int(step) < len(data) else None
        else:
            data = data.get(step) if isinstance(data, dict) else None
    return data


def repaired(trials: Trials, mistake, right, *, everything: bool) -> str:
    """Return how the repair of one mistake ends; empty if `assay check` refuses the file."""
    path = trials.write(mistake.data)

    def examine() -> Examination:
        return examination.examine(str(path), prepared=trials.bank.prepared(path))

    def decide(proposal):
        return proposal.finding.edit if proposal.certain or everything else None

    try:
        examined, changes = repair(path, examine, decide)
    except InputError:
        return ""
    made = yaml.safe_load(path.read_text("utf-8"))
    if all(at(made, where) == at(right, where) for where in mistake.touched):
        return "right"
    if examined.blocking or not changes:
        return "left"
    verdicts = trials.bank.verdicts(trials.bank.prepared(path))
    return "WORSE" if Standing.VIOLATES in verdicts.values() else "other"


def main() -> None:
    """Print a row for each bank, and each mistake that was made worse."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("banks", nargs="*")
    parser.add_argument("--step", type=int, default=10)
    parser.add_argument("--all", action="store_true", dest="everything")
    given = parser.parse_args()
    total = Counter()
    for bank in BANKS:
        if given.banks and bank.name not in given.banks:
            continue
        with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
            bank.install(patch)
            trials = Trials(bank, Path(folder))
            right = json.loads(json.dumps(bank.data(), default=str))
            ends = Counter()
            for mistake in [*trials.mistakes()][:: given.step]:
                end = repaired(trials, mistake, right, everything=given.everything)
                ends[end or "refused"] += 1
                if end == "WORSE":
                    print(f"WORSE {bank.name}: {mistake}", flush=True)
            total += ends
            print(f"{bank.name:16}", dict(sorted(ends.items())), flush=True)
    print(f"{'all':16}", dict(sorted(total.items())))


if __name__ == "__main__":
    main()
