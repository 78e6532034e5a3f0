"""Limit of a `quota`: a number of calls, or the number that each consent names, up to a largest one.

Where consents name it, probes make consents that name the largest number, fewer and more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from assay.contract.model import Contract, Json
from assay.files.document import Finding, Pointer
from assay.rules import parameters
from assay.rules.consents import MadeConsent
from assay.rules.parameter_declaration import as_number
from assay.rules.parameters import Raw, known
from assay.rules.state.counts import Allowed

#: What is refused beyond the number of a consent that names fewer calls, or more, than the largest one.
FEWER, MORE = "fewer-named", "more-named"
#: The number that probes take as the largest one where a contract says none.
USUAL = 4
#: More calls than any bank serves.
UNLIMITED = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaLimit:
    """How many calls are served in a period.

    `argument` is what a consent names the number in, empty where the contract says it; `number` is
    the largest one then, and `capped` whether the contract says that there is a largest one.
    """

    number: int
    argument: str = ""
    capped: bool = True

    @property
    def fewer(self) -> int:
        """A smaller number for a consent to name; 0 where there is none."""
        return self.number // 2 if self.argument else 0

    @property
    def more(self) -> int:
        """A number beyond the largest one for a consent to name; 0 where there is no largest one."""
        return self.number + 2 if self.argument and self.capped else 0

    def arguments(self, number: int | None = None) -> Mapping[str, Json]:
        """Return the arguments of a consent that allows a number of calls."""
        return {self.argument: number or self.number} if self.argument else {}

    def allowed(self, consent: MadeConsent | None) -> Allowed:
        """Return how many calls are served under a consent, which may be unknown."""
        if not self.argument:
            return Allowed(least=self.number, most=self.number)
        named = consent.arguments.get(self.argument) if consent is not None else None
        if not isinstance(named, int) or isinstance(named, bool) or named < 1:
            return Allowed(least=0, most=self.number if self.capped else UNLIMITED)
        number = min(named, self.number) if self.capped else named
        facet = (
            FEWER if named < self.number else MORE if self.capped and named > self.number else ""
        )
        return Allowed(least=number, most=number, facet=facet)


def quota_limit() -> Any:
    """Declare the limit of the clause: a whole number, or `argument` with `at-most`."""
    schema: dict[str, Json] = {
        "description": "a whole number of at least 1",
        "type": ["integer", "object"],
        "minimum": 1,
        "maximum": 100000,
        "additionalProperties": False,
        "required": ["argument"],
        "properties": {"argument": parameters.ref("word"), "at-most": parameters.ref("whole")},
    }
    return parameters.parameter(schema, _limit, key="limit", references=_check)


def _limit(value: Any, _: Contract) -> QuotaLimit:
    if not isinstance(value, Mapping):
        return QuotaLimit(number=as_number(value))
    named: Raw = value  # pyright: ignore[reportUnknownVariableType]
    number = named.get("at-most")
    return QuotaLimit(number=number or USUAL, argument=named["argument"], capped=number is not None)


def _check(at: Pointer, value: Any, clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find a number that no consent of the clause names."""
    if not isinstance(value, Mapping):
        return
    if clause.get("counted-for") != "consent":
        hint = "add `counted-for: consent`"
        yield at, "a number that a consent names, for a count of each customer", hint
    made = raw["operations"].get(clause.get("grant"), {})
    if made:
        yield from known(
            (*at, "argument"), value["argument"], made.get("arguments", ()), "argument"
        )


def counted_for() -> Any:
    """Declare who has a count of its own; the value is whether it is each consent."""

    def check(at: Pointer, value: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
        made = raw["operations"].get(clause.get("grant"), {})
        if value == "consent" and "makes" not in made:
            hint = "name the operation that makes the consents in `grant`"
            yield at, "a count of each consent, and no operation that makes consents", hint

    return parameters.parameter(
        {
            "description": "customer or consent",
            "x-hint": "has each customer a count, or each of a customer's consents?",
            "enum": ["customer", "consent"],
        },
        lambda value, _: value == "consent",
        key="counted-for",
        references=check,
        required=False,
        default=False,
    )
