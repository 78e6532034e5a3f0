"""What plain Schemathesis finds of our mutants, and how fast it is; and what we do.

`python harness/bench/compare.py found` serves each mutant of `mutants.txt` and runs
`st run` on the exported document of the contract that it breaks, with what an experienced
user would give it: the tokens of a customer with consents and of a provider, an account,
a card and a day of that bank's as examples, no check that takes the sound bank's refusals
for faults, and no end at the first failure. Found is a failure that the sound bank does
not show with the same seed.

Beside it stands what random sequences alone make of the same bank, in this process: no
directed probe of any obligation is held, every check of the contract judges, and the
search ends with the first that is broken. `journeys` in place of `found` leaves Schemathesis
out.

`python harness/bench/compare.py rate` counts what is sent and judged in a second, by
`st run` over loopback, by random sequences and by fields in this process and over the same
loopback, side by side in each of three rounds; the medians count.

Schemathesis need not be installed here: `ST` names its `st`.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from time import perf_counter
from typing import Any

from assay.binding.target import Target, TransportKind
from assay.execution.environment import Environment, set_up
from assay.execution.executor import executing
from assay.fuzzing.search import Search, SearchLimits, SearchResult
from assay.history import Arrange, Call, Holding
from assay.kill_matrix import changed_contracts, variants
from assay.openapi import document
from assay.planning.prepare import Prepared, prepare
from assay.sandbox.app import make_app
from assay.sandbox.policies import SOUND
from assay.sandbox.serve import serving

MUTANTS = Path(__file__).with_name("mutants.txt")
SEED, ROUNDS, BOUND = 1, 3, 5.0
#: So many seconds of searching are measured each time.
STRETCH = 20.0
#: It takes every refusal for a fault that no schema could foresee; the sound bank refuses.
LEFT_OUT = "positive_data_acceptance"
CONFIG = '[auth.openapi.{name}]\nbearer = "{token}"\n'

#: The seconds that a random search has to find a mutant.
PATIENCE = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What one `st run` came to: its failures (what, where, by what), its cases, its seconds."""

    failures: frozenset[tuple[str, str, str]]
    cases: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A served bank, the profile to reach it, and what a user of it knows."""

    target: Target
    customer: str
    provider: str
    examples: Mapping[str, list[Any]]


def serve(mutant: str) -> None:
    """Serve a bank until nobody listens any more; say where."""
    policies = variants()[mutant].change(SOUND) if mutant else SOUND
    with serving(make_app(policies)) as url:
        print(url, flush=True)
        sys.stdin.read()


@contextmanager
def served(prepared: Prepared, mutant: str = "") -> Iterator[Served]:
    """Serve a bank in a process of its own, with a customer who has consented and a provider."""
    command = [sys.executable, __file__, "serve", mutant]
    with subprocess.Popen(  # noqa: S603 -- this very file
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        if child.stdout is None or child.stdin is None:
            raise SystemExit("no bank can be served")
        url = child.stdout.readline().strip()
        target = replace(
            prepared.target, base_url=url, transport=TransportKind.HTTP, hosts=(), nearby=False
        )
        environment, operations = set_up(target), prepared.plan.contracts["aisp"].operations
        with executing(environment, operations, number=lambda: 0) as play:
            holdings = tuple(Holding(resource=one, entries=None) for one in ("account", "card"))
            psu = play.perform(Arrange(subject="psu", holdings=holdings))
            account, card = (one.key for one in psu.owns)
            granted = {"accounts": [account, card]}
            play.perform(Call(operation="consents", subject="psu", arguments=granted))
            day = (psu.now.date() + timedelta(days=3)).isoformat()
            yield Served(
                target=target,
                customer=play.access["psu"].token or "",
                provider=play.fixture.provider().token or "",
                examples={
                    "iban": [account, card],
                    "accounts": [[account, card]],
                    "debtorAccount": [account],
                    "requestedExecutionDate": [day],
                    # What goes with a day; an immediate payment has none.
                    "paymentType": ["deferred"],
                },
            )
        environment.close()
        child.stdin.close()


def exemplified(node: Any, examples: Mapping[str, list[Any]]) -> Any:
    """Return a document with examples wherever something in it has their name."""
    if isinstance(node, list):
        return [exemplified(one, examples) for one in node]
    if not isinstance(node, dict):
        return node
    out = {name: exemplified(one, examples) for name, one in node.items()}
    named = dict(out["properties"]) if isinstance(out.get("properties"), dict) else {}
    if "in" in out and "schema" in out:
        named[out["name"]] = out["schema"]
    for name, schema in named.items():
        if name in examples:
            schema["examples"] = examples[name]
    return out


def st_run(prepared: Prepared, bank: Served, *contracts: str) -> Ran:
    """Run Schemathesis on a bank, as its users do."""
    with tempfile.TemporaryDirectory() as folder:
        spelt, config, report = (Path(folder) / one for one in ("o.json", "st.toml", "r.ndjson"))
        bound = [one for one in prepared.bound if one.contract.id in contracts]
        whole = exemplified(document(bound, prepared.target), bank.examples)
        spelt.write_text(json.dumps(whole), encoding="utf-8")
        tokens = {"customer": bank.customer, "provider": bank.provider}
        used = whole["components"]["securitySchemes"]
        told = "".join(CONFIG.format(name=name, token=tokens[name]) for name in used)
        config.write_text(told, encoding="utf-8")
        began = perf_counter()
        done = subprocess.run(  # noqa: S603 -- a program that whoever runs this has named
            [
                *(os.environ.get("ST", "st"), "--config-file", str(config), "run", str(spelt)),
                *("--url", bank.target.base_url, "--seed", str(SEED)),
                *("--exclude-checks", LEFT_OUT, "--continue-on-failure"),
                *("--report", "ndjson", "--report-ndjson-path", str(report)),
            ],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        seconds = perf_counter() - began
        if not report.exists():
            raise SystemExit(f"st run told nothing:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        failures, cases = set[tuple[str, str, str]](), 0
        for line in report.read_text(encoding="utf-8").splitlines():
            recorder = json.loads(line).get("ScenarioFinished", {}).get("recorder", {})
            cases += len(recorder.get("cases", {}))
            failures |= set(_failures(recorder))
    return Ran(failures=frozenset(failures), cases=cases, seconds=seconds)


def _failures(recorder: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield what failed: what, where, and by what case, or in which phase if it was random."""
    for id_, checks in recorder.get("checks", {}).items():
        for check in checks:
            if check["status"] == "failure":
                failure = check["failure_info"]["failure"]
                phase = recorder["cases"][id_]["value"]["meta"]["phase"]
                case = phase["data"].get("description") if phase["name"] == "coverage" else None
                yield failure["title"], failure["operation"], case or phase["name"]


def search_mutant(prepared: Prepared, id_: str) -> SearchResult:
    """Search a mutant by random sequences, until something is found broken or time is up."""
    policies = variants()[id_].change(SOUND)
    (contract,) = changed_contracts(policies)
    environment = set_up(
        prepared.target, bank=lambda base_url: make_app(policies, base_url=base_url)
    )
    try:
        return Search(
            plan=prepared.plan,
            contract=prepared.plan.contracts[contract],
            environment=environment,
            limits=SearchLimits(sequences=10**6, seconds=PATIENCE, findings=1),
        ).run_machine()
    finally:
        environment.close()


def journeys(ids: list[str]) -> None:
    """Print what random sequences find of each mutant, in how many steps and seconds."""
    prepared = prepare()
    print("| mutant | found by random sequences | steps | s |\n|---|---|---|---|")
    every = list[SearchResult]()
    for id_ in ids:
        every.append(search_mutant(prepared, id_))
        print(f"| {id_} | {_row(every[-1])}", flush=True)
    _sum_up(every)


def _row(done: SearchResult) -> str:
    if not done.findings:
        return f"- | - | {done.seconds:.1f} |"
    first = done.findings[0]
    return f"{first.obligation} | {len(first.sequence)} | {first.seconds:.1f} |"


def _sum_up(every: list[SearchResult]) -> None:
    firsts = [done.findings[0] for done in every if done.findings]
    if firsts:
        steps = statistics.mean(len(one.sequence) for one in firsts)
        slowest = max(one.seconds for one in firsts)
        print(
            f"\nrandom sequences found {len(firsts)} of {len(every)}, in {steps:.1f} steps on average, "
            f"the slowest in {slowest:.1f} s"
        )


def found(ids: list[str]) -> None:
    """Print what is found of each mutant, by whom, and in what time."""
    prepared = prepare()
    sound: dict[tuple[str, ...], Ran] = {}
    print("| mutant | `st run` found | s | cases | found by random sequences | steps | s |")
    print("|---|---|---|---|---|---|---|", flush=True)
    killed, every = 0, list[SearchResult]()
    for id_ in ids:
        every.append(search_mutant(prepared, id_))
        contracts = changed_contracts(variants()[id_].change(SOUND))
        if contracts not in sound:
            with served(prepared) as bank:
                sound[contracts] = st_run(prepared, bank, *contracts)
        with served(prepared, id_) as bank:
            ran = st_run(prepared, bank, *contracts)
        new = sorted({what for what, _, _ in ran.failures - sound[contracts].failures})
        killed += bool(new)
        row = f"| {id_} | {'; '.join(new) or '-'} | {ran.seconds:.0f} | {ran.cases} |"
        print(f"{row} {_row(every[-1])}", flush=True)
    _sum_up(every)
    print(f"`st run` found {killed} of {len(ids)}")
    for contracts, ran in sound.items():
        told = "; ".join(": ".join(one) for one in sorted(ran.failures)) or "nothing"
        print(
            f"the sound bank, {', '.join(contracts)}: {ran.cases} cases, {ran.seconds:.0f} s, "
            f"failing {told}",
            flush=True,
        )


# -- how fast ------------------------------------------------------------------


def _searches(
    prepared: Prepared, environment: Environment, seed: int
) -> Iterator[tuple[str, SearchResult]]:
    """Search each contract for a stretch, by random sequences and by fields."""
    from assay.fuzzing.fields import field_sequences  # noqa: PLC0415 -- slow to load, and not always measured

    for contract in prepared.plan.contracts.values():
        limits = SearchLimits(sequences=10**6, seconds=STRETCH / len(prepared.plan.contracts))
        for name in ("journeys", "fields"):
            search = Search(
                plan=prepared.plan,
                contract=contract,
                environment=environment,
                limits=limits,
                seed=seed,
            )
            strategy = field_sequences(prepared.plan, contract, prepared.target)
            if name == "journeys":
                yield name, search.run_machine()
            elif strategy is not None:
                yield name, search.run_strategy(strategy)


def _rates(prepared: Prepared, environment: Environment, where: str, seed: int) -> dict[str, float]:
    """Return judged exchanges a second, of both contracts together."""
    sums: dict[str, list[float]] = {}
    for name, done in _searches(prepared, environment, seed):
        for one in done.findings:  # a false alarm, which costs time to shorten
            print(f"{name}, {where}: {one.obligation} is taken for broken", flush=True)
        both = sums.setdefault(f"{name}, {where}", [0.0, 0.0])
        both[0] += done.exchanges
        both[1] += done.seconds
    return {name: exchanges / seconds for name, (exchanges, seconds) in sums.items()}


def rate() -> None:
    """Print the rates and their ratios; exit with 1 below the bound."""
    prepared = prepare()
    rates: dict[str, list[float]] = {}
    for n in range(ROUNDS):
        with served(prepared) as bank:
            ran = st_run(prepared, bank, *prepared.plan.contracts)
            environment = set_up(bank.target)
            round_ = {
                "st run, over loopback": ran.cases / ran.seconds,
                **_rates(prepared, set_up(prepared.target), "in process", n),
                **_rates(prepared, environment, "over loopback", n),
            }
            environment.close()
        print(f"round {n + 1}: " + ", ".join(f"{k} {v:.0f}" for k, v in round_.items()), flush=True)
        for name, value in round_.items():
            rates.setdefault(name, []).append(value)
    medians = {name: statistics.median(values) for name, values in rates.items()}
    plain = medians["st run, over loopback"]
    print("\n| | judged a second | times `st run` |\n|---|---|---|")
    for name, value in medians.items():
        print(f"| {name} | {value:.0f} | {value / plain:.1f} |")
    if any(value / plain < BOUND for name, value in medians.items() if not name.startswith("st")):
        sys.exit(1)


if __name__ == "__main__":
    what, *ids = sys.argv[1:] or ["rate"]
    if what == "serve":
        serve("".join(ids))
    elif what in {"found", "journeys"}:
        listed = ids or MUTANTS.read_text(encoding="utf-8").split()
        found(listed) if what == "found" else journeys(listed)
    else:
        rate()
