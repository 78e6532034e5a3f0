"""Comparison with plain Schemathesis: the mutants that each finds, and the rates of both.

`python harness/bench/compare.py found` serves each mutant of `mutants.txt` and runs
`st run` on the exported document of the contract that it violates, with the settings of
an experienced user: the tokens of a customer with consents and of a TPP; an account, a
card and a date of that bank as examples; without the check that reports the sound bank's
refusals; and without an end at the first failure. A mutant counts as found if there is a
failure that the sound bank does not show with the same seed.

The other columns show what random sequences alone find on the same bank, in this process:
no probe of any obligation is run, every check of the contract judges, and the search ends
with the first violation. `journeys` instead of `found` leaves Schemathesis out.

`python harness/bench/compare.py rate` counts the requests sent and judged per second: by
`st run` over loopback, by random sequences and by field variations in this process and
over loopback. All are measured in each of three rounds (`rate 1`: one round), and the
medians count.

Schemathesis need not be installed here: the variable `ST` names its `st`.
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

from assay.binding.model.target import Target, TransportKind
from assay.fuzzing.findings import SearchResult
from assay.fuzzing.search import Search, SearchLimits
from assay.history import Arrange, Call, Holding
from assay.openapi import document
from assay.preparation.prepare import Prepared, prepare
from assay.proof.kill_matrix import changed_contracts, variants
from assay.running.environment import Environment, set_up
from assay.running.executor import executing
from assay.sandbox.app import make_app
from assay.sandbox.policies import SOUND
from assay.sandbox.serve import serving

MUTANTS = Path(__file__).with_name("mutants.txt")
SEED, ROUNDS, BOUND = 1, 3, 5.0
#: Seconds of searching that are measured each time.
STRETCH = 20.0
#: The check that reports every refusal of a valid request; the sound bank refuses some.
EXCLUDED = "positive_data_acceptance"
CONFIG = '[auth.openapi.{name}]\nbearer = "{token}"\n'

#: Seconds that random sequences have to find a mutant.
SEARCH_TIME = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemathesisRun:
    """The result of one `st run`; a failure is its title, the operation, and the case."""

    failures: frozenset[tuple[str, str, str]]
    cases: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedBank:
    """A served bank: the target to reach it, tokens, and examples of valid values."""

    target: Target
    customer: str
    tpp: str
    examples: Mapping[str, list[Any]]


def serve(mutant: str) -> None:
    """Serve a bank until standard input closes; print its URL."""
    policies = variants()[mutant].change(SOUND) if mutant else SOUND
    with serving(make_app(policies)) as url:
        print(url, flush=True)
        sys.stdin.read()


@contextmanager
def served(prepared: Prepared, mutant: str = "") -> Iterator[ServedBank]:
    """Serve a bank in a process of its own; a customer has consented, and a TPP is registered."""
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
        with executing(environment, operations, number=lambda: 0) as executor:
            holdings = tuple(Holding(resource=name, entries=None) for name in ("account", "card"))
            psu = executor.perform(Arrange(subject="psu", holdings=holdings))
            account, card = (owned.key for owned in psu.owns)
            granted = {"accounts": [account, card]}
            executor.perform(Call(operation="consents", subject="psu", arguments=granted))
            day = (psu.now.date() + timedelta(days=3)).isoformat()
            yield ServedBank(
                target=target,
                customer=executor.trial.access["psu"].token or "",
                tpp=executor.trial.fixture.tpp().token or "",
                examples={
                    "iban": [account, card],
                    "accounts": [[account, card]],
                    "debtorAccount": [account],
                    "requestedExecutionDate": [day],
                    # The type of payment that has a date.
                    "paymentType": ["deferred"],
                },
            )
        environment.close()
        child.stdin.close()


def with_examples(node: Any, examples: Mapping[str, list[Any]]) -> Any:
    """Return a document with the examples at everything in it that has their name."""
    if isinstance(node, list):
        return [with_examples(child, examples) for child in node]
    if not isinstance(node, dict):
        return node
    out = {name: with_examples(child, examples) for name, child in node.items()}
    named = dict(out["properties"]) if isinstance(out.get("properties"), dict) else {}
    if "in" in out and "schema" in out:
        named[out["name"]] = out["schema"]
    for name, schema in named.items():
        if name in examples:
            schema["examples"] = examples[name]
    return out


def st_run(prepared: Prepared, bank: ServedBank, *contracts: str) -> SchemathesisRun:
    """Run Schemathesis on a bank, as its users do."""
    with tempfile.TemporaryDirectory() as folder:
        schema, config, report = (Path(folder) / name for name in ("o.json", "st.toml", "r.ndjson"))
        bound = [joined for joined in prepared.bound if joined.contract.id in contracts]
        whole = with_examples(document(bound, prepared.target), bank.examples)
        schema.write_text(json.dumps(whole), encoding="utf-8")
        tokens = {"customer": bank.customer, "tpp": bank.tpp}
        schemes = whole["components"]["securitySchemes"]
        sections = (CONFIG.format(name=name, token=tokens[name]) for name in schemes)
        config.write_text("".join(sections), encoding="utf-8")
        began = perf_counter()
        done = subprocess.run(  # noqa: S603 -- a program that the user of this script names
            [
                *(os.environ.get("ST", "st"), "--config-file", str(config), "run", str(schema)),
                *("--url", bank.target.base_url, "--seed", str(SEED)),
                *("--exclude-checks", EXCLUDED, "--continue-on-failure"),
                *("--report", "ndjson", "--report-ndjson-path", str(report)),
            ],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        seconds = perf_counter() - began
        if not report.exists():
            raise SystemExit(f"st run wrote no report:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        failures, cases = set[tuple[str, str, str]](), 0
        for line in report.read_text(encoding="utf-8").splitlines():
            recorder = json.loads(line).get("ScenarioFinished", {}).get("recorder", {})
            cases += len(recorder.get("cases", {}))
            failures |= set(_failures(recorder))
    return SchemathesisRun(failures=frozenset(failures), cases=cases, seconds=seconds)


def _failures(recorder: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield title, operation and case of each failure; the phase instead of a random case."""
    for id_, checks in recorder.get("checks", {}).items():
        for check in checks:
            if check["status"] == "failure":
                failure = check["failure_info"]["failure"]
                phase = recorder["cases"][id_]["value"]["meta"]["phase"]
                case = phase["data"].get("description") if phase["name"] == "coverage" else None
                yield failure["title"], failure["operation"], case or phase["name"]


def search_mutant(prepared: Prepared, id_: str) -> SearchResult:
    """Search a mutant by random sequences until a violation is found or time is up."""
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
            limits=SearchLimits(sequences=10**6, seconds=SEARCH_TIME, findings=1),
        ).run_actions()
    finally:
        environment.close()


def journeys(ids: list[str]) -> None:
    """Print what random sequences find on each mutant, in how many steps and seconds."""
    prepared = prepare()
    print("| mutant | violation found by random sequences | steps | s |\n|---|---|---|---|")
    results = list[SearchResult]()
    for id_ in ids:
        results.append(search_mutant(prepared, id_))
        print(f"| {id_} | {_row(results[-1])}", flush=True)
    _sum_up(results)


def _row(done: SearchResult) -> str:
    if not done.findings:
        return f"- | - | {done.seconds:.1f} |"
    first = done.findings[0]
    return f"{first.obligation} | {len(first.sequence)} | {first.seconds:.1f} |"


def _sum_up(results: list[SearchResult]) -> None:
    firsts = [done.findings[0] for done in results if done.findings]
    if firsts:
        steps = statistics.mean(len(finding.sequence) for finding in firsts)
        slowest = max(finding.seconds for finding in firsts)
        print(
            f"\nrandom sequences found {len(firsts)} of {len(results)}, in {steps:.1f} steps on average, "
            f"the slowest in {slowest:.1f} s"
        )


def found(ids: list[str]) -> None:
    """Print what both find on each mutant, and in what time."""
    prepared = prepare()
    sound: dict[tuple[str, ...], SchemathesisRun] = {}
    print(
        "| mutant | `st run` found | s | cases | violation found by random sequences | steps | s |"
    )
    print("|---|---|---|---|---|---|---|", flush=True)
    killed, results = 0, list[SearchResult]()
    for id_ in ids:
        results.append(search_mutant(prepared, id_))
        contracts = changed_contracts(variants()[id_].change(SOUND))
        if contracts not in sound:
            with served(prepared) as bank:
                sound[contracts] = st_run(prepared, bank, *contracts)
        with served(prepared, id_) as bank:
            ran = st_run(prepared, bank, *contracts)
        new = sorted({title for title, _, _ in ran.failures - sound[contracts].failures})
        killed += bool(new)
        row = f"| {id_} | {'; '.join(new) or '-'} | {ran.seconds:.0f} | {ran.cases} |"
        print(f"{row} {_row(results[-1])}", flush=True)
    _sum_up(results)
    print(f"`st run` found {killed} of {len(ids)}")
    for contracts, ran in sound.items():
        failures = "; ".join(map(": ".join, sorted(ran.failures))) or "none"
        print(
            f"the sound bank, {', '.join(contracts)}: {ran.cases} cases, {ran.seconds:.0f} s, "
            f"failures: {failures}",
            flush=True,
        )


# -- rates ------------------------------------------------------------------


def _searches(
    prepared: Prepared, environment: Environment, seed: int
) -> Iterator[tuple[str, SearchResult]]:
    """Search each contract for some seconds, by random sequences and by field variations."""
    from assay.fuzzing.fields import stories  # noqa: PLC0415 -- slow to load, and not always measured

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
            sequences = stories(prepared.plan, contract, prepared.target)
            if name == "journeys":
                yield name, search.travel()
            elif sequences is not None:
                yield name, search.examine(sequences)


def _rates(prepared: Prepared, environment: Environment, where: str, seed: int) -> dict[str, float]:
    """Return the judged exchanges per second, of both contracts together."""
    sums: dict[str, list[float]] = {}
    for name, done in _searches(prepared, environment, seed):
        for finding in done.findings:  # a false alarm, and the time to shrink it
            print(f"{name}, {where}: false violation of {finding.obligation}", flush=True)
        both = sums.setdefault(f"{name}, {where}", [0.0, 0.0])
        both[0] += done.exchanges
        both[1] += done.seconds
    return {name: exchanges / seconds for name, (exchanges, seconds) in sums.items()}


def rate(rounds: int) -> None:
    """Print the rates and their ratios; exit with 1 below the bound."""
    prepared = prepare()
    rates: dict[str, list[float]] = {}
    for n in range(rounds):
        with served(prepared) as bank:
            ran = st_run(prepared, bank, *prepared.plan.contracts)
            environment = set_up(bank.target)
            round_ = {
                "st run, over loopback": ran.cases / ran.seconds,
                **_rates(prepared, set_up(prepared.target), "in process", n),
                **_rates(prepared, environment, "over loopback", n),
            }
            environment.close()
        print(
            f"round {n + 1}: " + ", ".join(f"{name} {value:.0f}" for name, value in round_.items()),
            flush=True,
        )
        for name, value in round_.items():
            rates.setdefault(name, []).append(value)
    medians = {name: statistics.median(values) for name, values in rates.items()}
    plain = medians["st run, over loopback"]
    print("\n| | judged per second | times `st run` |\n|---|---|---|")
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
        rate(int(ids[0]) if ids else ROUNDS)
