"""What a report says in plain words, the same in every format.

The first sentences are for a reader who knows neither pytest nor HTTP, so they
say what the gateway does and what nobody knows, and never claim more than was
observed: a run that verified nothing says so. No format and no escaping here.
"""

from __future__ import annotations

from collections.abc import Mapping

from assay.judging.verdict import Standing
from assay.report.values import WAYS, FoundSequence, Report, ReportedSearch

#: Each verdict as a verb phrase after a number: "90 conform".
PHRASES: Mapping[Standing, str] = {
    Standing.CONFORMS: "conform",
    Standing.VIOLATES: "violate",
    Standing.INDETERMINATE: "indeterminate",
    Standing.UNVERIFIED: "unverified",
    Standing.UNSPECIFIED: "unspecified",
    Standing.NOT_APPLICABLE: "not applicable",
    Standing.WAIVED: "waived",
}

#: What each verdict means, for a reader who sees the word for the first time.
MEANINGS: Mapping[Standing, str] = {
    Standing.CONFORMS: "asked, and the gateway did what the contract says",
    Standing.VIOLATES: "asked, and the gateway did something else",
    Standing.INDETERMINATE: "asked, and the answer does not tell",
    Standing.UNVERIFIED: "could not be asked; the reason is given",
    Standing.UNSPECIFIED: "the document is silent; an open question",
    Standing.NOT_APPLICABLE: "this bank does not offer it",
    Standing.WAIVED: "a known variation, accepted by its owner for a time",
}

#: One sign per verdict; always beside its word, never instead of it.
SIGNS: Mapping[Standing, str] = {
    Standing.CONFORMS: "✓",
    Standing.VIOLATES: "✗",
    Standing.INDETERMINATE: "?",
    Standing.UNVERIFIED: "○",
    Standing.UNSPECIFIED: "…",
    Standing.NOT_APPLICABLE: "-",
    Standing.WAIVED: "~",
}


_CAVEATS: Mapping[Standing, tuple[str, str]] = {
    Standing.INDETERMINATE: (
        "1 was asked, but what came back does not tell.",
        "{} were asked, but what came back does not tell.",
    ),
    Standing.UNVERIFIED: ("1 could not be checked.", "{} could not be checked."),
    Standing.UNSPECIFIED: (
        "On 1 point the document is silent.",
        "On {} points the document is silent.",
    ),
    Standing.WAIVED: (
        "1 known variation is waived.",
        "{} known variations are waived.",
    ),
    Standing.NOT_APPLICABLE: (
        "1 does not apply to this bank.",
        "{} do not apply to this bank.",
    ),
}

#: What a bank cannot keep or break.
OWED_BY_NOBODY = (Standing.UNSPECIFIED, Standing.NOT_APPLICABLE)

_MINUTE = 60


def some(number: int, noun: str, plural: str = "") -> str:
    """Return "1 obligation" or "2 obligations"."""
    word = noun if number == 1 else plural or f"{noun}s"
    return f"{number:,} {word}"


def headline(report: Report) -> str:
    """Return the one sentence that matters most.

    What the document leaves open, and what this bank need not offer, is owed by nobody.
    """
    planned = len(report.results) - len(report.of(*OWED_BY_NOBODY))
    counts = {word: len(report.of(word)) for word in Standing}
    if broken := counts[Standing.VIOLATES]:
        return f"{judged(report)} breaks {broken:,} of {some(planned, 'obligation')}."
    if not counts[Standing.CONFORMS]:
        return "Nothing was verified: this report is no evidence of conformance."
    kept = counts[Standing.CONFORMS]
    if kept == planned and report.complete:
        return f"{judged(report)} keeps {_all(planned)}."
    return (
        f"{judged(report)} keeps {kept:,} of {some(planned, 'obligation')}; none was seen broken."
    )


def judged(report: Report) -> str:
    """Return who was judged, to begin a sentence with."""
    return "The provider" if report.header.party == "tpp" else "The gateway"


def _all(number: int) -> str:
    return "the one obligation" if number == 1 else f"all {number:,} obligations"


def caveats(report: Report) -> tuple[str, ...]:
    """Return what the headline alone would hide, one sentence each."""
    told = [] if report.complete else [unfinished(report)]
    for standing, (one, many) in _CAVEATS.items():
        if number := len(report.of(standing)):
            told.append((one if number == 1 else many).format(f"{number:,}"))
    if faults := fault_count(report):
        times = "once" if faults == 1 else f"{faults:,} times"
        told.append(f"The harness itself failed {times}; that says nothing about the gateway.")
    if strays := len(report.strays):
        what = "1 thing" if strays == 1 else f"{strays:,} things"
        told.append(f"Searching found {what} that no planned obligation is about.")
    if any(report.header.selection.values()):
        told.append("Only a selection of the contract was run.")
    return tuple(told)


def unfinished(report: Report) -> str:
    """Return why this report is of an unfinished run."""
    why = report.footer.aborted if report.footer else ""
    reason = f" ({why})" if why else ""
    return f"The run ended early{reason}: this report is incomplete."


def fault_count(report: Report) -> int:
    """Return how often the harness failed, by its lines or its footer, if more."""
    said = report.footer.faults if report.footer else 0
    return max(said, len(report.faults))


def searched(search: ReportedSearch) -> str:
    """Return what a search did and what came of it; one of nothing found nothing out."""
    made = some(search.made, *WAYS[search.how])
    did = f"{search.contract}: {made}, {some(search.exchanges, 'call')}, seed {search.seed}"
    if search.findings:
        return f"{did}: {len(search.findings):,} found"
    tried = search.made and search.exchanges
    return f"{did}: {'nothing found' if tried else 'nothing was tried'}"


def found(one: FoundSequence) -> str:
    """Return what a search found, in how many steps, and the file that tells them."""
    said = f"{one.obligation} in {some(one.steps, 'step')}"
    return f"{said}, {one.story}" if one.story else said


def closing(report: Report) -> str:
    """Return the one-line account: planned, the seven counts, time, exchanges."""
    counts = ", ".join(f"{len(report.of(word)):,} {phrase}" for word, phrase in PHRASES.items())
    line = f"{len(report.results):,} planned: {counts}"
    if report.seconds is not None:
        line += f" in {duration(report.seconds)}"
    if report.footer is not None:
        line += f", {some(report.footer.exchanges, 'exchange')}"
    if faults := fault_count(report):
        line += f", {some(faults, 'harness fault')}"
    return line if report.complete else f"{line}; INCOMPLETE"


def duration(seconds: float) -> str:
    """Return a length of time as people say it."""
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), _MINUTE)
    hours, minutes = divmod(minutes, _MINUTE)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
