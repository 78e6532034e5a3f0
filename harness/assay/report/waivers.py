"""Sentences on the waivers of a run, the same in every format and command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from assay.binding.target import Target
from assay.judging.waivers import WaiverResult, WaiverState, untested

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
#: How many waivers a heading names.
NAMED = 5
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
            names = ", ".join(f"{each.name} ({each.owner}, {_day(each)})" for each in named[:NAMED])
            more = f" and {len(named) - NAMED:,} more" if named[NAMED:] else ""
            yield f"{heading}: {names}{more}."


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
