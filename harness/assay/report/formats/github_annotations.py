"""GitHub annotations: ten workflow commands, the worst first, and one with all counts.

GitHub shows ten annotations of a kind in a step. A workflow command is a line that begins with
`::`, so line breaks and percent signs in texts are escaped, and in properties colons and commas
too: nothing that a target sent can begin a command or end a property.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TextIO

from assay.report.formats.pipeline import (
    FilePlace,
    FilePlaces,
    expiring_waivers,
    observation,
    run_errors,
)
from assay.report.sanitize import bounded
from assay.report.values import Report, ReportedResult
from assay.report.views import Group, by_cause, by_reason, reason_of
from assay.report.wording import closing, counted, waiver_sentence
from assay.rules.verdict import Standing

#: The command of an annotation by verdict; those without one only count in the last line.
COMMANDS: Mapping[Standing, str] = {
    Standing.CONFORMS: "",
    Standing.VIOLATES: "error",
    Standing.INDETERMINATE: "warning",
    Standing.UNVERIFIED: "warning",
    Standing.UNSPECIFIED: "",
    Standing.NOT_APPLICABLE: "",
    Standing.WAIVED: "notice",
}
#: The command of a violation of what is not a `must`.
NOT_MUST = "warning"
#: How many annotations there are besides that with the counts.
MOST = 10
#: The lengths of a title and of a message, in characters.
TITLE, MESSAGE = 200, 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """One annotation; without a place it belongs to the step."""

    command: str
    title: str
    message: str
    place: FilePlace | None = None


def render(report: Report, out: TextIO) -> None:
    """Write the annotations of a report as workflow commands, one on each line."""
    found = [*_annotations(report)]
    shown = found if len(found) <= MOST else found[: MOST - 1]
    out.writelines(command_line(annotation) for annotation in shown)
    if hidden := len(found) - len(shown):
        more = counted(hidden, "more annotation")
        message = f"{more}, the first of them: {found[len(shown)].title}. The report lists all."
        left_out = Annotation(command=found[len(shown)].command, title="Assay", message=message)
        out.write(command_line(left_out))
    out.write(command_line(Annotation(command="notice", title="Assay", message=closing(report))))


def _annotations(report: Report) -> Iterator[Annotation]:
    """Yield what is worth an annotation, the worst first."""
    places = FilePlaces(report)
    for error in run_errors(report):
        yield Annotation(command="error", title=f"Assay: {error.title}", message=error.what)
    violated = report.of(Standing.VIOLATES)
    for result in sorted(violated, key=lambda each: each.planned.level != "must"):
        yield _annotation(result, places)
    for waiver in expiring_waivers(report):
        title = f"Assay: waiver of {waiver.name}"
        yield Annotation(command="warning", title=title, message=waiver_sentence(waiver))
    for group in by_cause(report):
        yield _group(group, "inconclusive", COMMANDS[Standing.INDETERMINATE])
    for group in by_reason(report.of(Standing.UNVERIFIED)):
        yield _group(group, "not verified", COMMANDS[Standing.UNVERIFIED])
    for result in report.of(Standing.WAIVED):
        yield _annotation(result, places)


def _group(group: Group, verdict: str, command: str) -> Annotation:
    names = ", ".join(each.planned.id for each in group.results)
    return Annotation(
        command=command,
        title=f"{counted(len(group.results), 'obligation')} {verdict}",
        message="\n".join(filter(None, (group.reason, group.advice, names))),
    )


def _annotation(result: ReportedResult, places: FilePlaces) -> Annotation:
    planned, standing = result.planned, result.standing
    place = places.of(planned)
    violates = standing is Standing.VIOLATES
    detail = observation(result) if violates else reason_of(result)
    return Annotation(
        command=NOT_MUST if violates and planned.level != "must" else COMMANDS[standing],
        title=f"{planned.id} {standing.value}",
        message=f"{planned.says}\n{detail}",
        place=place if place.exists else None,
    )


def command_line(annotation: Annotation) -> str:
    """Return an annotation as a line that GitHub reads as a command."""
    place = annotation.place
    properties = {
        **({"file": place.path, "line": str(place.line)} if place else {}),
        "title": bounded(annotation.title, TITLE),
    }
    listed = ",".join(f"{name}={_property(text)}" for name, text in properties.items())
    return f"::{annotation.command} {listed}::{_data(bounded(annotation.message, MESSAGE))}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
