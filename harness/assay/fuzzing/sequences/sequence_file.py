"""The file format of a recorded sequence, for replay on another day or target.

It holds no key of a customer, no token and no address: what only a target can name is a
reference (see `step_codec`). Its schema is `contract/schema/story.yaml`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from assay.contract.files.document import Document, Pointer, problem
from assay.contract.files.load import load, loads
from assay.contract.files.shape_check import check
from assay.errors import InputError
from assay.fuzzing.sequences import step_codec
from assay.fuzzing.sequences.abstract_step import AbstractStep


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSequence:
    """A story with its name, its contract, what it breaks, and the seed of its world."""

    name: str
    contract: str
    breaks: tuple[str, ...]
    story: tuple[AbstractStep, ...]
    seed: int = 0
    says: str = ""
    path: str = ""


def write(kept: RecordedSequence) -> str:
    """Write a story down, a step a line."""
    head = {
        "assay": 1,
        "story": kept.name,
        "contract": kept.contract,
        "breaks": list(kept.breaks),
        "says": kept.says,
        "seed": kept.seed,
    }
    lines = [f"  {_line(name)}: {_line(value)}," for name, value in head.items()]
    told = ",\n".join(f"    {_line(step_codec.encode(one))}" for one in kept.story)
    return "{\n" + "\n".join(lines) + f'\n  "steps": [\n{told}\n  ]\n}}\n'


def read(path: str | Path) -> RecordedSequence:
    """Read a story from a file.

    Raises:
        InputError: it cannot be read, or is no story; all that is wrong is said.

    """
    return _kept(load(path))


def read_text(text: str, path: str) -> RecordedSequence:
    """Read a story from a text, as if it were the content of the file `path`.

    Raises:
        InputError: it is no story.

    """
    return _kept(loads(text, path))


def _kept(document: Document) -> RecordedSequence:
    problems = check(document, "story")
    if problems:
        raise InputError(problems)
    raw = cast("Mapping[str, Any]", document.data)
    told: list[AbstractStep] = []
    for place, step in enumerate(raw["steps"]):
        try:
            told.append(step_codec.decode(step, place))
        except step_codec.Unreadable as error:
            where: Pointer = ("steps", place, *error.where)
            problems.append(problem(document, where, error.what, error.hint))
    if problems:
        raise InputError(problems)
    return RecordedSequence(
        name=raw["story"],
        contract=raw["contract"],
        breaks=tuple(raw["breaks"]),
        story=tuple(told),
        seed=raw.get("seed", 0),
        says=raw.get("says", ""),
        path=document.path,
    )


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
