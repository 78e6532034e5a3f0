"""Badge of a run: an SVG image, and the JSON document of a shields.io endpoint.

It is green only if everything was verified that had to be; a violation is red, whatever else is.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape

from assay.judging.changes import OWED, TESTED
from assay.report.sanitize import clean, one_line
from assay.report.values import Report
from assay.report.wording import fault_count
from assay.rules.verdict import OPEN, Standing

#: The colours by the names that shields.io knows, and the text on each.
COLOURS = {
    "brightgreen": ("#2f7d32", "#fff"),
    "yellowgreen": ("#5b7f1c", "#fff"),
    "yellow": ("#dfb317", "#222"),
    "red": ("#b3261e", "#fff"),
    "blue": ("#1f5f99", "#fff"),
    "lightgrey": ("#6b6f76", "#fff"),
}
#: About the width of a character, and the margin at both ends, in pixels.
_CHARACTER, _MARGIN = 6.6, 12
#: The longest label, in characters.
_LONGEST = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """A label, a message and a colour."""

    label: str
    message: str
    colour: str


def badge_of(report: Report, label: str = "conformance") -> Badge:
    """Return the badge of a run."""
    message, colour = _state(report)
    return Badge(label=one_line(clean(label, _LONGEST)), message=message, colour=colour)


def _state(report: Report) -> tuple[str, str]:
    owed, tested = len(report.of(*OWED)), len(report.of(*TESTED))
    violated, waived = len(report.of(Standing.VIOLATES)), len(report.of(Standing.WAIVED))
    if violated:
        state = f"{violated:,} of {owed:,} violated", "red"
    elif fault_count(report):
        state = "harness fault", "lightgrey"
    elif not report.complete:
        state = "unfinished", "lightgrey"
    elif not tested:
        state = "nothing verified", "lightgrey"
    elif report.of(*OPEN):
        state = f"{tested:,} of {owed:,} verified", "yellow"
    elif number := sum(waiver.invalid for waiver in report.waivers):
        state = f"{number:,} waiver{'s' if number > 1 else ''} to edit", "yellow"
    elif report.header.shard or any(report.header.selection.values()):
        state = f"{tested:,} verified (a part)", "blue"
    elif waived:
        state = f"{tested - waived:,} conform, {waived:,} waived", "yellowgreen"
    else:
        state = f"{tested:,} conform", "brightgreen"
    return state


def as_endpoint(badge: Badge) -> str:
    """Return the JSON document that a shields.io endpoint badge reads."""
    values = {
        "schemaVersion": 1,
        "label": badge.label,
        "message": badge.message,
        "color": badge.colour,
        "isError": badge.colour == "red",
    }
    return json.dumps(values, ensure_ascii=False) + "\n"


def as_svg(badge: Badge) -> str:
    """Return the badge as an SVG image, which loads nothing."""
    left, right = (_width(text) for text in (badge.label, badge.message))
    fill, ink = COLOURS[badge.colour]
    label, message = escape(badge.label), escape(badge.message)
    title = f"{label}: {message}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" '
        f'role="img" aria-label="{title}">\n'
        f"<title>{title}</title>\n"
        f'<rect width="{left + right}" height="20" rx="3" fill="{fill}"/>\n'
        f'<path d="M3 0H{left}V20H3A3 3 0 0 1 0 17V3A3 3 0 0 1 3 0Z" fill="#3b3e44"/>\n'
        '<g font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">\n'
        f"{_text(label, left / 2, left, '#fff')}\n"
        f"{_text(message, left + right / 2, right, ink)}\n"
        "</g>\n</svg>\n"
    )


def _width(text: str) -> int:
    return round(len(text) * _CHARACTER) + _MARGIN


def _text(text: str, middle: float, width: int, ink: str) -> str:
    length = max(width - _MARGIN, 1)
    return (
        f'<text x="{middle:g}" y="14" fill="{ink}" textLength="{length}" '
        f'lengthAdjust="spacingAndGlyphs">{text}</text>'
    )


#: Every format of a badge, by its name.
FORMATS = {"svg": as_svg, "shields": as_endpoint}
