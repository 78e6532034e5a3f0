"""Incomplete target files, run without an examination: nothing is blamed, and no silence lacks its cause.

From the target file of each sound bank, every key and every element of a list is left out in turn.
`ASSAY_INCOMPLETE_FILES=100` runs 100 of them for the sandbox (`all` for each one of all banks);
`ASSAY_NIGHT=n` takes others each night. A test run tries a sample.
"""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import yaml
from mistaken_banks import BANKS

import assay
from assay.cli.main import COMMANDS, find_command
from assay.errors import InputError
from assay.files.shape_check import schema
from assay.journal.writer import Journal
from assay.planning.plan import plan
from assay.proof.kill_matrix import variants
from assay.rules.verdict import OPEN, Standing
from assay.running.session import Session, run_session
from assay.sandbox.app import make_app
from assay.sandbox.mutants.mutant import Neutral
from assay.sandbox.policies import SOUND

pytestmark = pytest.mark.slow

EXTENT = os.environ.get("ASSAY_INCOMPLETE_FILES", "8")
NIGHT = int(os.environ.get("ASSAY_NIGHT", "0"))
#: Sections without which a file is none, and values, of which no part can be incomplete.
WHOLE = {"assay", "target", "contracts", "base_url", "transport", "fixtures", "value"}
#: What no reason may be: it names nothing that happened, and nothing to set.
EMPTY = ("no exchange of the trial", "recorded traffic does not show")


def leaves(variant) -> frozenset[str]:
    """Return the obligations that a neutral variant must leave open."""
    return variant.leaves if isinstance(variant, Neutral) else frozenset()


def places(data, at=()) -> Iterator[tuple]:
    """Yield where a key or an element can be left out."""
    if isinstance(data, dict | list):
        for name, part in data.items() if isinstance(data, dict) else enumerate(data):
            if len(at) or name not in WHOLE:
                yield (*at, name)
            if name != "value":
                yield from places(part, (*at, name))


def without(data, at):
    """Return a copy of a file without what stands at a place."""
    copied = json.loads(json.dumps(data))
    above = copied
    for step in at[:-1]:
        above = above[step]
    del above[at[-1]]
    return copied


@cache
def options() -> frozenset[str]:
    """Return every option of the command line."""
    every = [*map(find_command, COMMANDS)]
    return frozenset(name for each in every for option in each.params for name in option.opts)


def is_key(text: str) -> bool:
    """Whether a text is a key of target files, by their schema."""
    whole = schema("target.yaml")
    part = whole
    for step in text.split("."):
        while "$ref" in part:
            part = whole["$defs"].get(part["$ref"].rpartition("/")[2], {})
        named = part.get("properties", {})
        part = named.get(step) or part.get("additionalProperties") or {}
        if not isinstance(part, dict) or not part:
            return False
    return True


def has_cause(verdict, operations) -> bool:
    """Whether a verdict that decides nothing names an exchange, an operation, a key or an option."""
    if any(evidence.exchanges for evidence in verdict.evidence):
        return True
    words = re.findall(r"--[\w-]+|(?<=[`(])[\w.]+(?=[`)])|\w[\w-]*(?:\.[\w-]+)+", verdict.reason)
    named = any(word in options() or is_key(word) for word in words)
    named = named or any(word in operations for word in re.findall(r"[\w-]+", verdict.reason))
    return named or "signature" in verdict.reason


def run(bank, prepared):
    """Run everything against a bank, without an examination; return the verdicts."""
    environment = bank.set_up(prepared.target)
    try:
        planned = plan(prepared.bound, prepared.target)
        session = Session(plan=planned, environment=environment, journal=Journal(out=None))
        result = run_session(session)
    finally:
        environment.close()
    assert () == result.faults
    return result.verdicts


def silent(prepared, verdicts):
    """Return the reasons that name no cause."""
    operations = {name for each in prepared.bound for name in each.contract.operations}
    undecided = [verdict for verdict in verdicts if verdict.standing in OPEN]
    return {each.reason for each in undecided if not has_cause(each, operations)} | {
        each.reason for each in undecided if any(part in each.reason for part in EMPTY)
    }


@pytest.mark.parametrize("bank", BANKS, ids=lambda each: each.name)
def test_what_is_left_out_is_not_blamed_on_the_bank(bank, tmp_path, monkeypatch):
    """A key, a screen, a state or an offer that is left out costs verdicts, each with its cause."""
    bank.install(monkeypatch)
    data = json.loads(json.dumps(bank.data(), default=str))
    every = [*places(data)]
    many = len(every) if EXTENT == "all" else int(EXTENT) if bank.name == "sandbox" else 2
    blamed, causeless = {}, {}
    step = max(len(every) // many, 1)
    for shift in range(step):
        for at in every[(NIGHT + shift) % step :: step]:
            path = tmp_path / "incomplete.yaml"
            path.write_text(yaml.safe_dump(without(data, at), sort_keys=False), encoding="utf-8")
            try:
                prepared = bank.prepared(path)
            except InputError:
                continue
            verdicts = run(bank, prepared)
            blamed[at] = [one.obligation for one in verdicts if one.standing is Standing.VIOLATES]
            causeless[at] = silent(prepared, verdicts)
        if causeless:  # else none of these files can be read, and those of the next night are taken
            break
    assert causeless
    assert {} == {at: reasons for at, reasons in causeless.items() if reasons}
    if bank.name == "sandbox":
        assert {} == {at: names for at, names in blamed.items() if names}


@pytest.mark.parametrize("name", [name for name, each in variants().items() if leaves(each)])
def test_a_neutral_variant_leaves_nothing_open_without_a_cause(name, monkeypatch):
    """What a bank that only looks different leaves open has a cause as well."""
    sandbox = next(each for each in BANKS if each.name == "sandbox")
    policies = variants()[name].change(SOUND)
    bank = replace(sandbox, bank=lambda url: make_app(base_url=url, policies=policies))
    bank.install(monkeypatch)
    prepared = bank.prepared(bank.target)
    verdicts = run(bank, prepared)
    assert leaves(variants()[name]) <= {
        each.obligation for each in verdicts if each.standing in OPEN
    }
    assert set() == silent(prepared, verdicts)


def test_no_module_has_a_reason_without_a_cause():
    """The sentence that was told of six causes, and others like it, are gone from the code."""
    modules = Path(assay.__file__).parent.rglob("*.py")
    texts = {path.name: path.read_text(encoding="utf-8") for path in modules}
    assert {} == {name: part for name, text in texts.items() for part in EMPTY if part in text}
