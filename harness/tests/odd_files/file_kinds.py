"""The kinds of files that Assay reads: real files of each, and the commands that read a mutated one.

Each command has the exit codes that are right for it. That a file was refused, or what it says was
judged, is right for any file; an error in Assay itself, a traceback or a hang is right for none.
"""

import hashlib
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml
from clients import Client, clean
from file_mutations import mutated_bytes, mutated_tree, written
from shipped import bank_of, prepared

from assay._resources import contract_dir
from assay.fuzzing.sequences.abstract_step import AbstractStep
from assay.fuzzing.sequences.actions import gather_actions
from assay.fuzzing.sequences.sequence_file import RecordedSequence, write
from assay.history import Call
from assay.journal.writer import Journal
from assay.openapi import document
from assay.planning.plan import Shard
from assay.preparation.prepare import prepare
from assay.report import FORMATS
from assay.running.environment import set_up
from assay.running.session import Session, run_session

TESTS = Path(__file__).parents[1]
#: Exit codes of a command that reads, of one that judges, and of one that tests a sound bank.
READ, JUDGED, SOUND = {0, 2}, {0, 1, 2, 3}, {0, 2, 3}


@dataclass(frozen=True)
class FileKind:
    """A kind of file: its suffix, real files of it, how one is mutated, and what reads it.

    `commands` yields, for the path of a file, the next command and its right exit codes; it is sent
    the exit code.
    """

    suffix: str
    seeds: Callable
    mutate: Callable
    commands: Callable


# -- contracts and target files --------------------------------------------------------------
@cache
def _contracts():
    files = (
        contract_dir() / "aisp.yaml",
        contract_dir() / "pis.yaml",
        TESTS / "elsewhere/lab.yaml",
    )
    return tuple(_yaml_seed(path) for path in files)


@cache
def _targets():
    files = (*sorted((contract_dir() / "targets").glob("*.yaml")), TESTS / "elsewhere/target.yaml")
    return tuple(_yaml_seed(path) for path in (*files, TESTS / "onboarding/doctor/guarded.yaml"))


def _yaml_seed(path):
    """Return the bytes of a file, and its values; scalars are texts, except for numbers."""
    raw = path.read_bytes()
    return raw, yaml.load(raw, Loader=_Loader)


class _Loader(yaml.SafeLoader):
    """A loader without dates and without YAML's other words for true and false."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in resolvers if "timestamp" not in tag]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    if first not in "yYnNoO"
}


def _mutate_yaml(seed, rng):
    raw, tree = seed
    if rng.random() < 0.3:
        return mutated_bytes(raw, rng)
    return _encoded(written(mutated_tree(tree, rng)))


def _check_and_plan(path, rng):
    if (yield ("check", path), READ) == 0:
        yield ("plan", "--contract", path, "--contexts", "base"), READ


def _check_and_export(path, rng):
    if (yield ("check", path), READ) == 0:
        if rng.random() < 0.5:
            yield ("plan", "--target", path, "--contexts", "base", "-c", "aisp"), READ
        else:
            yield ("export", "openapi", "--target", path), READ


# -- HAR files -------------------------------------------------------------------------------
@cache
def _recordings():
    client = Client()
    clean(client)
    entries = [_entry(*entry) for entry in client.entries]
    parts = (entries, entries[:12], entries[12:])
    return tuple({"log": {"version": "1.2", "entries": part}} for part in parts)


def _entry(at, request, answer):
    sent = request.content.decode()
    posted = {"postData": {"mimeType": "application/json", "text": sent}} if sent else {}
    return {
        "startedDateTime": at.isoformat(),
        "time": 1.5,
        "request": {
            "method": request.method,
            "url": str(request.url),
            "headers": _headers(request),
            "bodySize": len(sent),
            **posted,
        },
        "response": {
            "status": answer.status_code,
            "headers": _headers(answer),
            "bodySize": len(answer.content),
            "content": {
                "mimeType": answer.headers.get("content-type", ""),
                "size": len(answer.content),
                "text": answer.text,
            },
        },
    }


def _headers(message):
    return [{"name": name, "value": value} for name, value in message.headers.items()]


def _mutate_json(tree, rng):
    if rng.random() < 0.1:
        return mutated_bytes(json.dumps(tree).encode(), rng)
    return _encoded(written(mutated_tree(tree, rng)))


def _judge_recording(path, rng):
    target = path.with_name("target.yaml")
    settings = rng.choice(("zone: null", "zone: Pacific/Kiritimati", "presence: null"))
    target.write_text(f"assay: 1\ntarget: other\nextends: sandbox\n{settings}\n", "utf-8")
    options = [(), ("--party", "tpp"), ("--complete",), ("--target", "stet-1.4.0")]
    options = rng.choice([*options, ("-t", target), ("-t", target), ("-t", target, "--complete")])
    yield ("judge", path, "--out", path.with_suffix(".out"), "-q", *options), JUDGED


# -- journals --------------------------------------------------------------------------------
JOURNALS = {
    "aisp/accounts.available or aisp/batch-quota/accounts": "",
    "pis/payments.content or pis/payments-sca or pis/cash": "",
    "aisp/batch-quota": "quota.accounts-utc-day",
}


@cache
def _journals(folder):
    return tuple(
        _journal(folder / f"seed-{number}.jsonl", *run)
        for number, run in enumerate(JOURNALS.items())
    )


def _journal(path, keywords, variant, number=0):
    """Run a few obligations, or a shard of them; return the lines of the journal."""
    shard = Shard(number=number, of=2) if number else None
    planned = prepare((), None, keywords=keywords, shard=shard)
    environment = set_up(planned.target, bank=bank_of(variant))
    run_session(Session(plan=planned.plan, environment=environment, journal=Journal.at(path)))
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _mutate_journal(lines, rng):
    """Mutate some lines, mostly with a digest that fits: what is wrong is found by reading."""
    lines = [*lines]
    for _ in range(rng.choice((1, 1, 2))):
        by_kind = {}
        for number, line in enumerate(lines):
            by_kind.setdefault(str(isinstance(line, dict) and line.get("type")), []).append(number)
        number = rng.choice(by_kind[rng.choice(sorted(by_kind))])
        how = rng.randrange(12)
        if how == 0:
            del lines[number]
        elif how == 1:
            lines.insert(rng.randrange(len(lines) + 1), lines[number])
        else:
            lines[number] = mutated_tree(lines[number], rng)
    raw = [_encoded(written(line, None)).replace(b"\n", b" ") + b"\n" for line in lines]
    if rng.random() < 0.1:
        return mutated_bytes(b"".join(raw), rng)
    if rng.random() < 0.95 and lines and isinstance(lines[-1], dict):
        digest = "sha256:" + hashlib.sha256(b"".join(raw[:-1])).hexdigest()
        raw[-1] = _encoded(written({**lines[-1], "digest": digest}, None)) + b"\n"
    return b"".join(raw)


def _render_and_judge(path, rng):
    form = rng.choice(sorted(FORMATS))
    yield ("report", path, "-f", form, *rng.choice([(), ("--partial",)])), READ
    yield ("judge", path, "--out", path.with_suffix(".out"), "-q"), JUDGED
    yield ("verify", path, *rng.choice([(), ("-c", "aisp"), ("-f", "json")])), JUDGED


# -- shards ----------------------------------------------------------------------------------
@cache
def _shards(folder):
    """Return the lines of the journals of two shards, the first one of which is mutated."""
    return tuple(
        _journal(folder / f"shard-{number}.jsonl", "pis/execution or listing", "", number)
        for number in (1, 2)
    )


def _merge(path, rng):
    other = path.parents[1] / rng.choice(("shard-1.jsonl", "shard-2.jsonl"))
    both = rng.choice([(path,), (path, other), (other, path)])
    options = rng.choice([(), ("--partial",), ("--allow-incomplete",)])
    yield ("report", "--merge", *both, "--out", path.with_suffix(".merged"), *options), JUDGED


# -- files of banks --------------------------------------------------------------------------
TEMPLATE = """\
assay: 1
target: gateway
extends: sandbox
base_url: https://${host}/v1
zone: ${zone}
auth: {kind: bearer, token_env: TOKEN}
"""
BANKS = """\
assay: 1
fleet: ours
template: gateway.yaml
contracts: [aisp, pis]
shards: 2
banks:
  first:
    variables: {host: first.example, zone: Europe/Paris}
    secrets: {TOKEN: FIRST_TOKEN}
    shards: 3
  second:
    variables: {host: second.example, zone: Europe/Rome}
    contracts: [aisp]
    overrides: {transport: http, budget: {calls: 50}, headers: {X-Bank: b}}
"""


def _banks(_folder):
    return ((BANKS.encode(), yaml.load(BANKS, Loader=_Loader)),)


def _divide(path, rng):
    path.with_name("gateway.yaml").write_text(TEMPLATE, "utf-8")
    options = rng.choice([(), ("--bank", "second"), ("-k", "listing")])
    yield ("fleet", path, "--dry-run", *options), READ


# -- recorded sequences ----------------------------------------------------------------------
@cache
def _sequences():
    """Return a sequence of each contract with every kind of step."""
    plan = prepared().plan
    seeds = []
    for contract in ("aisp", "pis"):
        actions = gather_actions(plan, plan.contracts[contract])
        steps = (*actions.households[:1], *actions.plain, *actions.varied[:8], *actions.asides[:9])
        steps = (*steps, *actions.signatures[:4])
        first = next(
            item.obligation.id for item in plan.items if item.obligation.contract == contract
        )
        read = AbstractStep(step=Call(operation="accounts", subject="psu-1"))
        for part in (steps, (*steps[:4], read)):
            recorded = RecordedSequence(name="a", contract=contract, breaks=(first,), steps=part)
            seeds.append(json.loads(write(recorded)))
    return tuple(seeds)


def _replay(path, rng):
    yield ("run", "--replay", path, "--out", path.with_suffix(".out"), "-q"), SOUND


# -- OpenAPI documents -----------------------------------------------------------------------
@cache
def _documents():
    planned = prepared()
    ours = json.loads(json.dumps(document(planned.bound, planned.target)))
    stet = json.loads((TESTS / "onboarding/init/stet.json").read_text("utf-8"))
    return ours, stet, stet, _yaml_seed(TESTS / "onboarding/init/berlin.yaml")[1]


def _init_and_check(path, rng):
    drafted = path.with_name("drafted.yaml")
    options = rng.choice(
        [(), ("-c", "aisp"), ("--auth", "client-credentials"), ("--fixtures", "control")]
    )
    yield ("init", "--yes", "--openapi", path, "--out", drafted, *options), READ
    if drafted.exists():
        yield ("check", drafted), {0}


def _encoded(text):
    return text.encode("utf-8", "surrogatepass")


KINDS = {
    "contracts": FileKind(".yaml", lambda _: _contracts(), _mutate_yaml, _check_and_plan),
    "target files": FileKind(".yaml", lambda _: _targets(), _mutate_yaml, _check_and_export),
    "HAR files": FileKind(".har", lambda _: _recordings(), _mutate_json, _judge_recording),
    "journals": FileKind(".jsonl", _journals, _mutate_journal, _render_and_judge),
    "shards": FileKind(".jsonl", _shards, _mutate_journal, _merge),
    "files of banks": FileKind(".yaml", _banks, _mutate_yaml, _divide),
    "sequences": FileKind(".json", lambda _: _sequences(), _mutate_json, _replay),
    "OpenAPI documents": FileKind(".json", lambda _: _documents(), _mutate_json, _init_and_check),
}


def mutated_file(kind, seeds, number):
    """Return the content of a mutated file; the same number gives the same file."""
    rng = random.Random(f"{number}")
    return kind.mutate(rng.choice(seeds), rng)
