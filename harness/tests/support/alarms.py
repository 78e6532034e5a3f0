"""False alarms of the searches: all three at banks that keep their document, seed by seed.

    python harness/tests/support/alarms.py --seeds 50 [--bank sandbox] [--journeys 100 --fields 50]

The banks are the sandbox, its neutral variants (several in each bank), the laboratory and the
holdout bank, both sound. Each seed has other customers, another day and other sequences; every
second one begins in a night in which clocks change. What is printed as found is a false alarm of a
rule.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

TESTS = Path(__file__).resolve().parents[1]
sys.path += [str(TESTS), str(TESTS / "support"), str(TESTS / "elsewhere")]

from holdout.bank import Bank, Served  # noqa: E402
from laboratory import Laboratory  # noqa: E402
from nights import NIGHTS, beginning  # noqa: E402
from service import Service  # noqa: E402
from shipped import bank_of, prepared  # noqa: E402

from assay.binding.model.target import Target  # noqa: E402
from assay.binding.read.join import bind  # noqa: E402
from assay.fuzzing import LIVES  # noqa: E402
from assay.fuzzing.findings import SearchResult, describe_findings  # noqa: E402
from assay.fuzzing.limits import SearchLimits  # noqa: E402
from assay.fuzzing.search import Search  # noqa: E402
from assay.fuzzing.session import SEARCH_METHODS  # noqa: E402
from assay.parsing.parse import parse_contract  # noqa: E402
from assay.planning.plan import plan  # noqa: E402
from assay.preparation.prepare import prepare  # noqa: E402
from assay.preparation.target_file import read_target  # noqa: E402
from assay.proof.kill_matrix import changed_contracts  # noqa: E402
from assay.running.environment import set_up, sound_bank  # noqa: E402
from assay.sandbox.mutants.bundles import bundles, together  # noqa: E402 -- the folders above

#: The sequences of a search at one seed, in full banks and in each bundle of variants.
SIZES = {"lives": 2, "journeys": 4, "fields": 6, "schema": 1}
FEW = {"lives": 2, "journeys": 1, "fields": 2, "schema": 1}
#: The sequences of a long search, at each seed: those of `assay run --journeys 100 --fields 50`.
MANY = {"lives": 2, "journeys": 100, "fields": 50, "schema": 1}
#: The seeds at which variants are searched by schemas: their cases are nearly the same.
SCHEMA_SEEDS = 2


@dataclass(frozen=True, kw_only=True)
class Searched:
    """A bank that is ready to be searched."""

    target: Target
    bound: tuple
    plan: object
    contracts: tuple[str, ...]
    make: object = sound_bank


@dataclass(frozen=True, kw_only=True)
class Sound:
    """A bank without a fault, by name; `open` makes it ready. It has some neutral `variants`."""

    name: str
    sizes: dict[str, int]
    open: object
    variants: tuple = ()

    def changed(self, policies: object) -> "Sound":
        """Return the sandbox with other policies."""
        return replace(self, open=lambda: _sandbox(policies))


@contextmanager
def _holdout() -> Iterator[Searched]:
    with Served(Bank()) as served, TemporaryDirectory() as folder:
        path = Path(folder) / "target.yaml"
        text = (TESTS / "holdout" / "target.yaml").read_text("utf-8")
        path.write_text(text.replace("8765", str(served.port)), "utf-8")
        (path.parent / "adapter.py").symlink_to(TESTS / "holdout" / "adapter.py")
        ready = prepare([], str(path))
        names = tuple(ready.plan.contracts)
        yield Searched(target=ready.target, bound=ready.bound, plan=ready.plan, contracts=names)


def _laboratory() -> AbstractContextManager[Searched]:
    target = read_target(TESTS / "elsewhere" / "target.yaml")
    bound = bind([parse_contract(TESTS / "elsewhere" / "lab.yaml")], target)
    searched = Searched(
        target=target,
        bound=bound,
        plan=plan(bound, target),
        contracts=("lab",),
        make=lambda _: Service(Laboratory()),
    )
    return nullcontext(searched)


def _sandbox(policies: object = None) -> AbstractContextManager[Searched]:
    ready = prepared()
    names = ("aisp", "pis") if policies is None else tuple(changed_contracts(policies))
    searched = Searched(
        target=ready.target,
        bound=ready.bound,
        plan=ready.plan,
        contracts=names,
        make=bank_of(policies),
    )
    return nullcontext(searched)


def banks() -> Iterator[Sound]:
    """Yield every bank."""
    yield Sound(name="sandbox", sizes=SIZES, open=_sandbox)
    yield Sound(name="laboratory", sizes=SIZES, open=_laboratory)
    for variants in bundles():
        name = f"variant {variants[0].id}+{len(variants) - 1}"
        sound = Sound(name=name, sizes=FEW, open=_sandbox, variants=variants)
        yield sound.changed(together(variants))
    yield Sound(name="holdout", sizes=SIZES, open=_holdout)


def search(bank: Searched, contract: str, how: str, seed: int, sequences: int) -> SearchResult:
    """Search one contract of a bank at one seed."""
    environment = set_up(bank.target, seed=seed, bank=bank.make)
    try:
        searching = Search(
            plan=bank.plan,
            contract=bank.plan.contracts[contract],
            environment=environment,
            limits=SearchLimits(sequences=sequences),
            strength=sequences if how == LIVES else 0,
            seed=seed,
            bound=bank.bound,
        )
        return SEARCH_METHODS[how](searching, lambda _: None)
    finally:
        environment.close()


def alarms(
    sound: Sound, seeds: range, ways: tuple[str, ...] = (), sizes: dict[str, int] | None = None
) -> Iterator[SearchResult]:
    """Yield the result of every search of a bank; any finding in it is a false alarm."""
    sizes = sizes or sound.sizes
    installed = find_spec("schemathesis") is not None
    with sound.open() as bank:
        for seed in seeds:
            for contract in bank.contracts:
                for how in ways or sizes:
                    repeated = sound.sizes is FEW and seed >= SCHEMA_SEEDS
                    if how == "schema" and (repeated or not installed):
                        continue
                    night = NIGHTS[seed // 2 % len(NIGHTS)] if seed % 2 else None
                    with beginning(night) if night else nullcontext():
                        result = search(bank, contract, how, seed, sizes[how])
                    note = f"{sound.name} {contract} {how} seed {seed} {night or ''}"
                    yield replace(result, notes=(note, *result.notes))


def say(text: str) -> None:
    """Print a text at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    """Search the banks, and print what is found and how much was sent."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--bank", default="")
    parser.add_argument("--journeys", type=int)
    parser.add_argument("--fields", type=int)
    options = parser.parse_args()
    total = 0
    for sound in banks():
        if not sound.name.startswith(options.bank):
            continue
        began, sequences, exchanges, found = monotonic(), 0, 0, 0
        given = {"journeys": options.journeys, "fields": options.fields}
        sizes = sound.sizes | {how: size for how, size in given.items() if size is not None}
        seeds = range(options.first, options.first + options.seeds)
        for result in alarms(sound, seeds, sizes=sizes):
            sequences, exchanges = sequences + result.sequences, exchanges + result.exchanges
            if result.findings or result.documented:
                found += 1
                say(f"FALSE ALARM at {result.notes[0]}\n{describe_findings(result)}")
        total += found
        seconds = monotonic() - began
        size = f"{sequences:,} sequences and cases, {exchanges:,} calls, {seconds:,.0f} s"
        say(f"{sound.name}: {options.seeds} seeds, {size}: {found} false alarms")
    return 1 if total else 0


if __name__ == "__main__":
    with TemporaryDirectory() as own:
        os.environ["ASSAY_LEDGER"] = str(Path(own) / "ledger.sqlite")
        sys.exit(main())
