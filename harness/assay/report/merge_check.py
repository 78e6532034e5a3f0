"""Check that journals are the shards of one plan, before they are merged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from assay.errors import InputError
from assay.report.values import Header, Report

#: What must be the same in all shards, by the words for it.
_SAME: Mapping[str, Callable[[Header], object]] = {
    "the number of shards": lambda header: header.shard.partition("/")[2],
    "the version of Assay": lambda header: header.version,
    "the contracts": lambda header: [each.id for each in header.contracts],
    "the content of the contract files": lambda header: [each.digest for each in header.contracts],
    "the target": lambda header: header.target.name,
    "the content of the target file": lambda header: header.target.digest,
    "the base URL of the target": lambda header: header.target.base_url,
    "the seed": lambda header: header.seed,
    "the selection (-k, -m)": lambda header: sorted(header.selection.items()),
    "the division of the plan": lambda header: header.division,
}


def check_same_plan(shards: Sequence[tuple[str, Report]]) -> None:
    """Check that reports, each with its path, are different shards of one plan.

    Raises:
        InputError: they are not; it names what differs.

    """
    first_path, first = shards[0]
    seen: dict[str, str] = {}
    for path, report in shards:
        shard = report.header.shard
        if shard in seen:
            hint = "leave out one of them"
            what = f"shard {shard} was given twice; the other one is {seen[shard]}"
            raise InputError.one(path, what, hint=hint)
        seen[shard] = path
        for name, read in _SAME.items():
            if read(report.header) != read(first.header):
                what = f"not a shard of the plan of {first_path}: {name} differs"
                seen_values = f"{_shown(read(report.header))} and {_shown(read(first.header))}"
                raise InputError.one(path, what, hint=f"{seen_values}")
        _check_positions(path, report)
    plan = [*positions([first])]
    for path, report in shards:
        if [*positions([report])] != plan:
            what = f"not a shard of the plan of {first_path}: the obligations differ"
            raise InputError.one(path, what, hint="was only part of one shard selected in pytest?")


def _check_positions(path: str, report: Report) -> None:
    """Check that the obligations of a shard and those of the others fill the whole plan."""
    places = {each.position for each in report.elsewhere}
    total = len(report.results) + len(report.elsewhere)
    outside = any(not 0 <= place < total for place in places)
    if len(places) < len(report.elsewhere) or outside:
        hint = "was only part of it selected in pytest?"
        raise InputError.one(path, "the shard does not have all its obligations", hint=hint)


def _shown(value: object) -> str:
    text = str(value)
    return text if len(text) <= 80 else f"{text[:80]}…"  # noqa: PLR2004 -- a line of a message


def positions(reports: Sequence[Report]) -> Iterator[tuple[str, int]]:
    """Yield each obligation of the whole plan and the number of its shard, in the plan's order."""
    report = reports[0]
    number = int(report.header.shard.partition("/")[0])
    elsewhere = {each.position: each for each in report.elsewhere}
    own = iter(report.results)
    for position in range(len(report.results) + len(elsewhere)):
        other = elsewhere.get(position)
        if other is not None:
            yield other.planned.id, other.shard
        else:
            yield next(own).planned.id, number
