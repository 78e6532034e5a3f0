"""The sentences and words of a report, the same in every format.

The first sentences are for a reader who knows neither pytest nor HTTP. They never
claim more than was observed: a report of a run that verified nothing says so.
Formatting and escaping belong to the formats.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from assay.binding.model.target import Target
from assay.judging.waivers import WaiverResult, WaiverState, untested
from assay.report.values import (
    EMBEDDED,
    WAYS,
    DocumentedAnswer,
    FoundSequence,
    Report,
    ReportedSearch,
)
from assay.rules.verdict import Standing

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
    Standing.CONFORMS: "tested: the contract is met",
    Standing.VIOLATES: "tested: the contract is violated",
    Standing.INDETERMINATE: "tested, but the answers are inconclusive",
    Standing.UNVERIFIED: "could not be tested; the reason is given",
    Standing.UNSPECIFIED: "the source document leaves this open",
    Standing.NOT_APPLICABLE: "does not apply to this target; the reason is given",
    Standing.WAIVED: "a known non-conformity, accepted by its owner until a date",
}

#: One sign per verdict; it accompanies the word and never replaces it.
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
        "1 obligation is inconclusive.",
        "{} obligations are inconclusive.",
    ),
    Standing.UNVERIFIED: (
        "1 obligation could not be verified.",
        "{} obligations could not be verified.",
    ),
    Standing.UNSPECIFIED: (
        "The source document leaves 1 point open.",
        "The source document leaves {} points open.",
    ),
    Standing.WAIVED: (
        "1 known non-conformity is waived.",
        "{} known non-conformities are waived.",
    ),
    Standing.NOT_APPLICABLE: (
        "1 obligation does not apply to this target.",
        "{} obligations do not apply to this target.",
    ),
}

#: Whether a bank does what it answers, and what is said of an answer that nothing judges.
KEPT: Mapping[bool | None, str] = {True: "kept", False: "not kept", None: "not tested"}
SAID = "not judged"

#: Verdicts on obligations that cannot be met or violated; the headline does not count them.
NOT_OWED = (Standing.UNSPECIFIED, Standing.NOT_APPLICABLE)

_MINUTE = 60


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: "1 obligation", "2 obligations"."""
    word = noun if number == 1 else plural or f"{noun}s"
    return f"{number:,} {word}"


def listed(names: Sequence[str], most: int = 5) -> str:
    """Return names as a list, the first few only."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def headline(report: Report) -> str:
    """Return the most important sentence of a report.

    Open points and obligations that do not apply are not counted.
    """
    planned = len(report.results) - len(report.of(*NOT_OWED))
    met, violated = len(report.of(Standing.CONFORMS)), len(report.of(Standing.VIOLATES))
    party = party_name(report)
    if violated:
        part = f"{violated:,} of its {planned:,} obligations"
        return f"{party} violates {part if planned > 1 else _all(planned)}."
    if not met:
        return "Nothing was verified: this report is no evidence of conformance."
    if met == planned and report.complete:
        return f"{party} meets {_all(planned)}."
    part = f"{met:,} of {counted(planned, 'obligation')}"
    return f"{party} meets {part}; no violation was found."


def party_name(report: Report) -> str:
    """Return the party that was judged, as the subject of a sentence."""
    return "The TPP" if report.header.party == "tpp" else "The gateway"


def _all(number: int) -> str:
    return "the one obligation" if number == 1 else f"all {number:,} obligations"


def caveats(report: Report) -> tuple[str, ...]:
    """Return what a reader must know besides the headline, one sentence each."""
    return *target_caveats(report), *harness_notes(report)


def decided_summary(report: Report) -> str:
    """Return how many of the open points the bank answers, and how many answers it keeps."""
    decided = report.decided
    if not decided:
        return ""
    kept = [point.kept for point in decided if point.results]
    answers = f"Of {counted(len(report.open_questions), 'open point')}, this bank answers"
    sentence = f"{answers} {len(decided):,}"
    if kept:
        sentence += f"; {len(kept):,} can be judged, and it keeps {kept.count(True):,}"
    broken, open_ = kept.count(False), kept.count(None)
    sentence += f", breaks {broken:,}" if broken else ""
    return f"{sentence}; {open_:,} could not be tested." if open_ else f"{sentence}."


def documented_summary(report: Report) -> str:
    """Return how the bank does by its own OpenAPI document, which no contract contains."""
    results = [each for each in report.results if each.planned.of_bank_document]
    if not results:
        return ""
    met, broken = (
        sum(each.standing is standing for each in results)
        for standing in (Standing.CONFORMS, Standing.VIOLATES)
    )
    sentence = f"From the bank's own OpenAPI document: {counted(len(results), 'obligation')}"
    return f"{sentence}, {met:,} met, {broken:,} violated, {len(results) - met - broken:,} open."


def harness_notes(report: Report) -> Iterator[str]:
    """Yield what went wrong in the harness itself, one sentence each."""
    if faults := fault_count(report):
        times = "once" if faults == 1 else f"{faults:,} times"
        yield f"The harness itself failed {times}. This is not a finding about the target."
    for reason, number in Counter(trial.reason for trial in report.unfinished).most_common(3):
        trials = counted(number, "trial")
        yield f"In further contexts, {trials} ended early: {reason}."


def target_caveats(report: Report) -> tuple[str, ...]:
    """Return what a reader must know of the target and the plan, one sentence each."""
    sentences = [] if report.complete else [unfinished(report)]
    for standing, (singular, plural) in _CAVEATS.items():
        if number := len(report.of(standing)):
            sentences.append((singular if number == 1 else plural).format(f"{number:,}"))
    sentences += filter(None, [decided_summary(report), documented_summary(report)])
    sentences += waiver_caveats(report.waivers)
    if strays := len(report.strays):
        violations = counted(strays, "violation")
        sentences.append(f"The search found {violations} of obligations that were not planned.")
    if answers := len(report.documented):
        seen = counted(answers, "answer")
        sentences.append(
            f"The search saw {seen} that the exported document does not allow. This alone"
            " violates no obligation."
        )
    if report.header.shard:
        others = counted(len(report.elsewhere), "obligation")
        sentences.append(f"This is shard {report.header.shard} of a plan; {others} are in others.")
    if violated := [each.planned.id for each in report.elsewhere if each.violated]:
        names = ", ".join(violated[:3]) + (", …" if violated[3:] else "")
        violations = counted(len(violated), "violation")
        sentences.append(
            f"Its trials show {violations} of obligations in other shards: {names}."
            " `assay report --merge` reports them."
        )
    if any(report.header.selection.values()):
        sentences.append("Only selected obligations were tested.")
    return tuple(sentences)


def unfinished(report: Report) -> str:
    """Return the sentence on a run that ended early, with its reason."""
    why = report.footer.aborted if report.footer else ""
    reason = f" ({why})" if why else ""
    return f"The run ended early{reason}: this report is incomplete."


def fault_count(report: Report) -> int:
    """Return how often the harness failed: by its fault lines, or its footer if that has more."""
    total = report.footer.faults if report.footer else 0
    return max(total, len(report.faults))


def search_summary(search: ReportedSearch) -> str:
    """Return the size and the result of a search; a search without calls has no result."""
    cases = counted(search.made, *WAYS[search.how])
    about = f"{search.contract} {search.operation}".rstrip()
    size = f"{about}: {cases}, {counted(search.exchanges, 'call')}, seed {search.seed}"
    tested = search.made and search.exchanges
    result = "no violation found" if tested else "nothing was tested"
    if search.findings:
        result = f"{counted(len(search.findings), 'violation')} found"
    if search.documented:
        answers = counted(len(search.documented), "answer")
        result += f", {answers} that the exported document does not allow"
    return f"{size}: {result}"


def search_notes(search: ReportedSearch) -> tuple[str, ...]:
    """Return what a search reached, why it stopped early, and what was not searched."""
    stopped = (
        f"stopped early, after {search.made:,} of {search.asked:,}:"
        f" nothing new in the last {search.quiet:,}"
    )
    pairs = f"{search.pairs:,} of {counted(search.possible, 'pair')} of dimension values"
    reached = [pairs] if search.possible else []
    reached += [counted(search.states, "state")] if search.states else []
    parts = [stopped] if search.quiet else []
    parts += [f"reached {', '.join(reached)}"] if reached else []
    return (*(["; ".join(parts)] if parts else []), *search.notes)


def answer_summary(answer: DocumentedAnswer) -> str:
    """Return what the exported document does not allow in an answer, and whose clause that is."""
    names = ", ".join(answer.clauses)
    whose = f"by {names}" if names else "no clause requires it"
    return f"{answer.operation}: {answer.says} ({whose}); sent with {answer.case}"


def finding_summary(finding: FoundSequence) -> str:
    """Return what a search found violated, in how many steps, and the file of the sequence."""
    summary = f"{finding.obligation} in {counted(finding.steps, 'step')}"
    return f"{summary}, {finding.sequence}" if finding.sequence else summary


def about(report: Report) -> str:
    """Return what was tested, in one line: target, contracts with versions, seed, tool."""
    header = report.header
    names = ", ".join(f"{each.id} {each.version}".rstrip() for each in header.contracts)
    contracts = f"contract{'' if len(header.contracts) == 1 else 's'} {names}"
    target = f"{header.target.name} ({header.target.transport})"
    if header.target.base_url and header.target.transport != EMBEDDED:
        target = f"{header.target.name} at {header.target.base_url}"
    tool = f"{header.tool} {header.version}"
    return f"tested: {target}, {contracts}, seed {header.seed}, {tool}, {header.started}"


def closing(report: Report) -> str:
    """Return the summary line: obligations planned, the seven counts, duration, exchanges."""
    counts = ", ".join(
        f"{len(report.of(standing)):,} {phrase}" for standing, phrase in PHRASES.items()
    )
    line = f"{len(report.results):,} planned: {counts}"
    if report.seconds is not None:
        line += f" in {duration(report.seconds)}"
    if report.footer is not None:
        line += f", {counted(report.footer.exchanges, 'exchange')}"
    if faults := fault_count(report):
        line += f", {counted(faults, 'harness fault')}"
    return line if report.complete else f"{line}; INCOMPLETE"


def exit_reasons(report: Report) -> tuple[str, ...]:
    """Return the exit code of a run with the reasons for it, the decisive one first."""
    if report.footer is None or not report.footer.reasons:
        return ()
    first, *others = report.footer.reasons
    return f"exit code {report.footer.exit}: {first}", *(f"besides: {each}" for each in others)


def duration(seconds: float) -> str:
    """Return a duration in seconds, minutes or hours."""
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), _MINUTE)
    hours, minutes = divmod(minutes, _MINUTE)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


#: How long one trial would wait, at the end of the reason why it is not run.
_WAIT: Final = re.compile(r"--wait \S+ \(this trial\)$")


def shared_reasons(reasons: Iterable[str]) -> Mapping[str, str]:
    """Return each reason in words that it shares with those that differ only in a time to wait."""
    known = tuple(dict.fromkeys(reasons))
    plain = {reason: _WAIT.sub("--wait (`assay plan` shows how long)", reason) for reason in known}
    alike = Counter(plain.values())
    return {reason: plain[reason] if alike[plain[reason]] > 1 else reason for reason in known}


# -- waivers ---------------------------------------------------------------------------
#: What is to be done about a waiver in each state, after its name and owner.
_SENTENCES: Mapping[WaiverState, str] = {
    WaiverState.IN_FORCE: "{name}: waived until {expires}",
    WaiverState.EXPIRES_SOON: "{name}: the waiver expires soon, on {expires}",
    WaiverState.EXPIRED: "{name}: the waiver expired on {expires}; renew or remove it",
    WaiverState.SUPERFLUOUS: "{name}: the obligation conforms now; remove the waiver",
    WaiverState.UNMATCHED: "{name}: the waiver matches no obligation of the contract; correct or remove it",
}
#: The headings of waivers that need attention, for one and for several.
_HEADINGS: Mapping[WaiverState, tuple[str, str]] = {
    WaiverState.SUPERFLUOUS: ("1 waiver to remove", "{} waivers to remove"),
    WaiverState.UNMATCHED: ("1 waiver matches nothing", "{} waivers match nothing"),
    WaiverState.EXPIRED: ("1 waiver has expired", "{} waivers have expired"),
    WaiverState.EXPIRES_SOON: ("1 waiver expires soon", "{} waivers expire soon"),
}
#: What to do if a waiver is superfluous in this run, but not in others.
INTERMITTENT = "set `intermittent: true` if only some runs show the violation"


def waiver_sentence(waiver: WaiverResult) -> str:
    """Return what is to be known about a waiver: its state, owner and reason."""
    sentence = _SENTENCES[waiver.state].format(name=waiver.name, expires=waiver.expires)
    hint = f", or {INTERMITTENT}" if waiver.state is WaiverState.SUPERFLUOUS else ""
    return f"{sentence}{hint} ({waiver.owner}: {waiver.reason})"


def needing_attention(waivers: Sequence[WaiverResult]) -> tuple[WaiverResult, ...]:
    """Return the waivers that must be removed or renewed, now or soon, the gravest first."""
    order = [*_HEADINGS]
    shown = [each for each in waivers if each.state in _HEADINGS]
    return tuple(sorted(shown, key=lambda each: order.index(each.state)))


def waiver_caveats(waivers: Sequence[WaiverResult]) -> Iterator[str]:
    """Yield a sentence for each state that needs attention, with the waivers in it."""
    for state, (singular, plural) in _HEADINGS.items():
        named = [each for each in waivers if each.state is state]
        if named:
            heading = singular if len(named) == 1 else plural.format(f"{len(named):,}")
            names = [f"{each.name} ({each.owner}, {_day(each)})" for each in named]
            yield f"{heading}: {listed(names)}."


def _day(waiver: WaiverResult) -> str:
    if waiver.state is WaiverState.SUPERFLUOUS:
        return "it conforms now"
    return waiver.expires


def lapsed(waivers: Sequence[WaiverResult]) -> dict[str, str]:
    """Return by violated obligation that its waiver has expired, when, and whose it was."""
    return {
        name: f"expired on {waiver.expires} ({waiver.owner}: {waiver.reason})"
        for waiver in waivers
        if waiver.state is WaiverState.EXPIRED
        for name in waiver.violated
    }


def waiver_notes(target: Target) -> Iterator[str]:
    """Yield a line for each waiver that has expired or expires soon, with its place."""
    today = datetime.now(UTC).date()
    for index, waiver in enumerate(target.waivers):
        result = untested(waiver, today)
        if result.state is not WaiverState.IN_FORCE:
            path, line = target.place("waivers", index)
            yield f"{path}:{line}: note: {waiver_sentence(result)}"
