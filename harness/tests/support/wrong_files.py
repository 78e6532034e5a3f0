"""Target files with one mistake each, generated from a sound file and the answers of its bank.

Every pointer, argument, value, state, status and link of the file is changed in turn, in the
ways in which people get them wrong: a letter is missing, it is the neighbour's, two are
swapped, it is elsewhere, it is gone. Names of the classes are those of the table that
`test_generated_mistakes` prints.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from wrong_reads import answered
from wrong_sends import addressed, matchers_of, requested
from wrong_values import GONE, Change, Path, changed, misspelt, set_to, swapped

from assay.doctor.context import SeenAnswer


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
        if operation:
            seen = [answer for answer in answers if answer.operation.id == name]
            at = ("operations", name)
            yield from answered(data, at, operation, seen)
            yield from requested(data, at, operation)
            yield from addressed(at, operation, contract.get(name))
    yield from _whole(data)


def _whole(data: Mapping[str, Any]) -> Iterator[Change]:
    yield from matchers_of(("outcomes",), data.get("outcomes") or {})
    if presence := data.get("presence"):
        yield set_to("presence misspelt", ("presence", "header"), misspelt(presence["header"]))
        when = "present" if presence.get("when") == "absent" else "absent"
        yield set_to("presence flipped", ("presence", "when"), when)
        yield set_to("presence with another value", ("presence", "value"), "-")
        yield set_to("presence removed", ("presence",), GONE)
    for name in data.get("headers") or {}:
        yield set_to("headers removed", ("headers", name), GONE)
        yield set_to("headers with another value", ("headers", name), "x")
    for n, host in enumerate(data.get("hosts") or ()):
        yield set_to("hosts wrong", ("hosts", n), f"{host}x")
    yield set_to("base_url wrong", ("base_url",), f"{data['base_url']}x")
    if data.get("zone"):
        yield set_to("zone wrong", ("zone",), "America/New_York")
        yield set_to("zone removed", ("zone",), GONE)
    yield set_to("auth none", ("auth",), {"kind": "none"})
    if header := data["auth"].get("header"):
        yield set_to("auth misspelt", ("auth", "header"), misspelt(header))
    yield from _provided(data, data.get("fixtures") or {})
    yield from _signed(data, data.get("sca") or {})


def _provided(data: Any, fixtures: Mapping[str, Any]) -> Iterator[Change]:
    for offer in fixtures.get("offers") or ():
        rest = [each for each in fixtures["offers"] if each != offer]
        yield set_to("offers without one", ("fixtures", "offers"), rest)
    for section in ("effects", "segments"):
        words = fixtures.get(section) or {}
        names = list(words)
        for name in names:
            yield set_to(f"{section} misspelt", ("fixtures", section, name), misspelt(words[name]))
            yield set_to(f"{section} removed", ("fixtures", section, name), GONE)
        for name, other in pairwise(names):
            at = ("fixtures", section)
            yield swapped(f"{section} swapped", data, (*at, name), (*at, other))


def _signed(data: Any, sca: Mapping[str, Any]) -> Iterator[Change]:
    for section in ("factors", "decisions"):
        words = sca.get(section) or {}
        names = list(words)
        for name in names:
            yield set_to(f"{section} misspelt", ("sca", section, name), misspelt(words[name]))
            yield set_to(f"{section} removed", ("sca", section, name), GONE)
        for name, other in pairwise(names):
            yield swapped(
                f"{section} swapped", data, ("sca", section, name), ("sca", section, other)
            )
    for n, screen in enumerate(sca.get("screens") or ()):
        for name, what in screen.items():
            renamed = {misspelt(key) if key == name else key: each for key, each in screen.items()}
            yield set_to("screens misspelt", ("sca", "screens", n), renamed)
            other = "code" if what != "code" else "password"
            yield set_to("screens filled wrongly", ("sca", "screens", n, name), other)
        if len(sca["screens"]) > 1:
            yield set_to("screens without one", ("sca", "screens", n), GONE)
    if sca:
        yield set_to("sca removed", ("sca",), GONE)
