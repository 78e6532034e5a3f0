"""Target files with one mistake each, generated from a sound file and the answers of its bank.

Every pointer, argument, value, state, status and link of the file is changed in turn, in the
ways in which people get them wrong: a letter is missing, it is the neighbour's, two are
swapped, it is elsewhere, it is gone. Names of the classes are those of the table that
`test_generated_mistakes` prints.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wrong_reads import answered
from wrong_sections import sections
from wrong_sends import addressed, requested
from wrong_values import GONE, Change, Path, changed

from assay.onboarding.doctor.record import SeenAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongFile:
    """A file with one mistake: its class, the key that is wrong, what stands there, the data.

    `touched` are all the keys that differ from the sound file.
    """

    kind: str
    at: Path
    wrong: Any
    data: Mapping[str, Any]
    touched: tuple[Path, ...]

    @property
    def operations(self) -> frozenset[str]:
        """The operations that it is about; empty if it is about all of them."""
        inside = all(at[0] == "operations" and len(at) > 1 for at in self.touched)
        return frozenset(at[1] for at in self.touched) if inside else frozenset()

    def __str__(self) -> str:
        """Name the mistake for people."""
        return f"{self.kind}: {'.'.join(map(str, self.at))} = {self.wrong!r}"


def wrong_files(
    data: Mapping[str, Any], answers: Sequence[SeenAnswer], operations: Mapping[str, Any]
) -> Iterator[WrongFile]:
    """Yield every wrong file, in the order of the sound one; no mistake twice."""
    distinct: set[tuple[Path, str]] = set()
    for kind_of, at, wrong, changes in _all(data, answers, operations):
        new = changed(data, *changes)
        if (at, repr(wrong)) not in distinct and new != data:
            distinct.add((at, repr(wrong)))
            shown = "(removed)" if wrong is GONE else wrong
            touched = tuple(place for place, _ in changes)
            yield WrongFile(kind=kind_of, at=at, wrong=shown, data=new, touched=touched)


def _all(
    data: Mapping[str, Any], answers: Sequence[SeenAnswer], contract: Mapping[str, Any]
) -> Iterator[Change]:
    for name, operation in (data.get("operations") or {}).items():
        for part in ("", "submission", "submitted"):
            binding = (operation or {}).get(part) if part else operation
            if binding:
                seen = [each for each in answers if (each.operation.id, each.part) == (name, part)]
                at = ("operations", name, *filter(None, (part,)))
                yield from answered(data, at, binding, seen)
                yield from requested(data, at, binding)
                yield from addressed(at, binding, contract.get(name))
    refusals = [answer.body for answer in answers if not answer.accepted]
    yield from sections(data, refusals, contract)
