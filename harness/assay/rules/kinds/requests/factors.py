"""`factors`: the authentication factors that customers sign with, none of which can be bypassed.

The offered factors are checked once for each segment of customers. Every factor is used
to check that a code is asked for, and that wrong codes are rejected; wrong passwords are
tried in the same way, the last one three times where the screen asks again. A factor that a segment does not have is sent as if the screen offered
it. A factor without a known code may be confirmed outside the screens, so it is no violation
if no code is asked for. Nor is it one if a screen that asks for the login offers all factors: the bank
does not know yet who signs.

Whether a customer is offered every factor of the segment is judged only where the contract or the bank says
so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from assay.contract.model import Capability, Json
from assay.history import Authorise, Authorised, Code, Decision, History
from assay.rules import parameters
from assay.rules.facets import Facts, make_facet
from assay.rules.lifecycle import request_queries, request_steps, signing, tracker
from assay.rules.lifecycle.parameters import the_request
from assay.rules.lifecycle.signing import Signing
from assay.rules.parameters import ref
from assay.rules.rule import (
    Calls,
    Facet,
    Kind,
    Purpose,
    Scenario,
    Scope,
    Script,
    facts_of,
    needs,
)
from assay.rules.verdict import AGREES, DISAGREES, UNCLEAR, Evidence

PASSWORD, FACTOR, CHECKED = "password-alone", "factor-alone", "code-checked"
KNOWN = "password-checked"
#: The scenarios with codes and passwords; each segment of customers has one of its own.
CODES, PASSWORDS = "codes", "passwords"
#: Invalid codes, in the order in which they are tried with the first factor.
BAD: Final = (Code.EMPTY, Code.HALF, Code.WRONG)

#: How often the last wrong thing is entered, if the screens ask again.
TRIES: Final = 3

#: The customer who signed, and the factor.
_SignerKey: TypeAlias = tuple[str, str | None]


_OFFERED: Mapping[str, Json] = {
    "description": "a list of factors for each segment",
    "type": "object",
    "minProperties": 1,
    "additionalProperties": ref("words"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorsScenario(Scenario):
    """The factors offered to a segment; signing with codes if `segment` is None.

    `forced` is a factor that the segment is not offered, and that is sent nevertheless.
    """

    segment: str | None = None
    forced: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Factors(Kind[FactorsScenario]):
    """The factors with which each segment of customers can sign a request."""

    name = "factors"
    # Customers of another segment may have fewer factors.
    hiding = ((CODES, "segment"),)
    scope = Scope(calls=Calls.NAMED, needs=(Authorised,))
    purpose = Purpose.LIMIT
    applies_to = ("makes",)

    lifecycle: tracker.Lifecycle = the_request(signed=True)
    offered: Mapping[str, tuple[str, ...]] = parameters.parameter(
        _OFFERED,
        lambda value, _: {segment: tuple(codes) for segment, codes in value.items()},
        key="offered",
    )

    everyone: bool = parameters.choice(
        "everyone",
        "unspecified",
        key="offered-to",
        description="everyone or unspecified",
        hint="is each factor of a segment offered to every customer of it?",
        required=False,
        default=False,
        convert=lambda value: value == "everyone",
    )

    @property
    def words(self) -> tuple[str, ...]:
        """All factors that the clause names."""
        return tuple(dict.fromkeys(word for codes in self.offered.values() for word in codes))

    def facts(self) -> Facts:
        """Return the factors that the clause offers to each segment."""
        return Facts(
            factors_by_segment={self.lifecycle.request.id: self.offered},
            factors=self.words,
            segments=tuple(self.offered),
        )

    @property
    def barred(self) -> Mapping[str, str]:
        """A factor that each segment is never offered, where there is one."""
        first = {
            segment: next((word for word in self.words if word not in offered), "")
            for segment, offered in self.offered.items()
        }
        return {segment: word for segment, word in first.items() if word}

    def facets(self) -> tuple[Facet, ...]:
        """Return facets for each segment and each factor kept from it, and four for all customers."""
        of_all = {
            PASSWORD: "a request cannot be signed with the password alone",
            FACTOR: "a request cannot be signed without the password",
            CHECKED: "a request cannot be signed with a wrong, empty or incomplete code",
            KNOWN: "a password that is wrong, empty or only half of one signs nothing",
        }
        by_segment, screens = needs(Capability.SEGMENTS), signing.requirements(self.lifecycle)
        rows = [
            (
                f"{segment}-offered",
                f"{segment} customers are offered no factor but {', '.join(factors)}",
                FactorsScenario(id=f"{segment}:offered", segment=segment),
                by_segment,
                self.lifecycle.approval_requirement(),
            )
            for segment, factors in self.offered.items()
        ]
        rows += [
            (
                _all_offered(segment),
                f"every {segment} customer is offered {', '.join(factors)}",
                FactorsScenario(id=f"{segment}:offered", segment=segment),
                by_segment,
                self.lifecycle.approval_requirement(),
            )
            for segment, factors in self.offered.items()
            if self.everyone
        ]
        rows += [
            (id_, text, FactorsScenario(id=PASSWORDS if id_ == KNOWN else CODES), needs(), screens)
            for id_, text in of_all.items()
        ]
        rows += [
            (
                _not_taken(segment, word),
                f"{segment} customers sign nothing with {word}",
                FactorsScenario(id=f"{segment}:{word}", segment=segment, forced=word),
                by_segment,
                screens,
            )
            for segment, word in self.barred.items()
        ]
        return tuple(
            make_facet(id_, text, scenario, signing.NEEDS | more, requires)
            for id_, text, scenario, more, requires in rows
        )

    def probe(self, scenario: FactorsScenario) -> Script:
        """Look at what is offered, and refuse; or sign with right codes, and then with wrong ones."""
        lifecycle = self.lifecycle
        tried = scenario
        segment = tried.segment
        if tried.id == PASSWORDS or tried.forced:
            psu = yield from request_steps.customer(lifecycle, count=1 + len(BAD), segment=segment)
            yield from signing.try_to_sign(lifecycle, psu, 0)
            for n, how in enumerate(_astray(tried.forced), start=1):
                yield from signing.try_to_sign(lifecycle, psu, n, how)
            return
        if segment is not None:
            psu = yield from request_steps.customer(lifecycle, segment=segment)
            made = yield from signing.make(lifecycle, psu, 0)
            yield from request_steps.sign(
                self.lifecycle, made, replace(request_steps.SIGN, decision=Decision.REFUSE)
            )
            return
        psu = yield from request_steps.customer(lifecycle, count=2 * len(self.words) + len(BAD) - 1)
        _, first = yield from signing.try_to_sign(lifecycle, psu, 0)
        offered = (first.offered if first else None) or ()
        others = [word for word in self.words if word in offered[1:]]
        tries = [replace(request_steps.SIGN, factor=word) for word in others]
        # Wrong codes come last, because a target may lock the customer out.
        tries += [_wrong(word, code) for word in offered[:1] for code in BAD]
        tries += [_wrong(word, Code.WRONG) for word in others]
        tries[-1:] = [replace(each, tries=TRIES) for each in tries[-1:]]
        for n, how in enumerate(tries, start=1):
            yield from signing.try_to_sign(lifecycle, psu, n, how)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge the factors offered, the inputs asked for, and the signatures accepted."""
        signings = signing.signings(self.lifecycle, history)
        ended = [attempt for attempt in signings if attempt.alone and not attempt.failed]
        coded = {_factor(attempt) for attempt in signings if "code" in attempt.event.screens}
        controls: dict[_SignerKey, Signing] = {}
        let_in: dict[str, Signing] = {}
        for attempt in ended:
            if attempt.plain and attempt.confirmed and attempt.done:
                let_in.setdefault(attempt.subject, attempt)
            if (
                attempt.plain
                and attempt.confirmed
                and attempt.done
                and "code" in attempt.event.screens
            ):
                controls.setdefault((attempt.subject, _factor(attempt)), attempt)
        astray: set[str] = set()
        for attempt in signings:
            yield from self._offered(attempt)
            yield from self._all_offered(attempt, locked=not astray.isdisjoint(_whose(attempt)))
            astray |= set() if attempt.event.step.right else _whose(attempt)
        for attempt in ended:
            if attempt.event.step.decision is Decision.CONFIRM:
                yield from _around(attempt, coded)
                yield from _typed(attempt, controls.get((attempt.subject, _factor(attempt))))
                yield from _logged_in(attempt, let_in.get(attempt.subject))
                yield from self._forced(attempt, let_in.get(attempt.subject))

    def _offered(self, signing: Signing) -> Iterator[Evidence]:
        """Judge the factors offered to a customer of a known segment."""
        subject, event = signing.request.subject, signing.event
        allowed = self.offered.get((subject.segment if subject else None) or "")
        if (
            allowed is None
            or event.offered is None
            or not request_queries.by_owner(signing.request, event)
        ):
            return
        extra = [word for word in event.offered if word not in allowed]
        # An unbound word may be the target's own name for one of the other factors.
        sure = [word for word in extra if word in self.words or word not in event.unspelt]
        certain = sure and not event.anonymous
        agreement = DISAGREES if certain else UNCLEAR if extra or not event.offered else AGREES
        unbound = f"{', '.join(extra)}: not bound in the target file"
        why = "before the bank knows who signs" if sure else unbound
        hint = f" ({why})" if extra and not certain else ""
        yield replace(
            signing.evidence(
                f"{subject.segment if subject else ''}-offered",
                agreement,
                f"no factor but {', '.join(allowed)} to be offered",
            ),
            seen=f"it offers {', '.join(event.offered) or 'nothing'}{hint}",
        )

    def _all_offered(self, signing: Signing, *, locked: bool) -> Iterator[Evidence]:
        """Judge whether a customer of a known segment was offered each of its factors.

        One may be `locked` after a wrong entry, that of an earlier trial for a customer who is not
        new, and those may be offered alone with which the bank would accept the request.
        """
        request, event = signing.request, signing.event
        segment = (request.subject.segment if request.subject else None) or ""
        allowed, offered = self.offered.get(segment, ()), event.offered
        if not (self.everyone and allowed) or offered is None or event.step.by:
            return
        missing = [word for word in allowed if word not in offered]
        decided = facts_of(self.contract).may_reject(self.lifecycle.request.id, request.arguments)
        sure = offered and not (event.unspelt or locked or decided)
        sure = sure and request_queries.is_known(request)
        agreement = AGREES if not missing else DISAGREES if sure else UNCLEAR
        expected = f"each of {', '.join(allowed)} to be offered"
        evidence = signing.evidence(_all_offered(segment), agreement, expected)
        yield replace(evidence, seen=f"it offers {', '.join(offered) or 'nothing'}")

    def _forced(self, signing: Signing, control: Signing | None) -> Iterator[Evidence]:
        """Judge a signature with a factor that the customer's kind is never offered."""
        event, subject = signing.event, signing.request.subject
        segment = (subject.segment if subject else None) or ""
        word = event.step.factor or ""
        if (
            not event.step.forced
            or self.barred.get(segment) != word
            or "factor" not in event.screens
        ):
            return
        offered = word in (event.offered or ()) and not event.anonymous
        if not _taken_from(signing) or offered:
            return  # that it is offered is another facet's
        facet, expected = _not_taken(segment, word), f"that {word} signs nothing for {segment}"
        if event.coded or not signing.done:
            yield from _signs_nothing(facet, signing, control, expected)


def _wrong(word: str, code: Code) -> Authorise:
    return replace(request_steps.SIGN, factor=word, code=code, variation=f"{word}: {code.value}")


def _astray(forced: str) -> Iterator[Authorise]:
    """Yield signatures with a factor that is not offered, or else with passwords that are none."""
    if forced:
        words = f"{forced} is sent, and was not offered"
        yield replace(request_steps.SIGN, factor=forced, forced=True, variation=words)
        return
    for code in BAD:
        words = code.value.replace("code", "password")
        tries = TRIES if code is BAD[-1] else 1
        yield replace(request_steps.SIGN, typed=code, tries=tries, variation=words)


def _all_offered(segment: str) -> str:
    return f"{segment}-all-offered"


def _whose(signing: Signing) -> set[str]:
    """Return who was on the screens, and whose request it was."""
    return {signing.event.step.subject, signing.event.step.by} - {""}


def _not_taken(segment: str, word: str) -> str:
    return f"{segment}-not-with-{word}"


def _factor(signing: Signing) -> str | None:
    """Return the factor that was picked: the signing asked for, or the first that was offered."""
    if "factor" not in signing.event.screens:
        return None
    return signing.event.step.factor or next(iter(signing.event.offered or ()), None)


def _around(signing: Signing, coded: set[str | None]) -> Iterator[Evidence]:
    """Judge an accepted signature by the inputs that it needed.

    It may have been accepted before a screen asked for the decision: certainly where others ask for a
    code; else the target file may describe other screens than the bank has.
    """
    screens = signing.event.screens
    early = bool(signing.event.redirected) and "code" not in screens
    if not (signing.confirmed or early) or not signing.done or not screens:
        return
    shown = f"executed after these inputs: {', '.join(dict.fromkeys(screens))}"
    has_code = "code" in screens
    if "password" in screens:
        picked = _factor(signing)
        sure = "factor" not in screens or signing.event.coded or picked in coded
        sure = sure and bool(signing.confirmed or coded)
        agreement = AGREES if has_code else DISAGREES if sure else UNCLEAR
        expected = "the screens to ask for more than a password"
        yield replace(signing.evidence(PASSWORD, agreement, expected), seen=shown)
    if has_code:
        agreement = AGREES if "password" in screens else DISAGREES
        expected = "the screens to ask for the password"
        yield replace(signing.evidence(FACTOR, agreement, expected), seen=shown)


def _typed(signing: Signing, control: Signing | None) -> Iterator[Evidence]:
    """Judge a signature for which a code was typed in that is not right."""
    event = signing.event
    step = event.step
    if step.code is Code.RIGHT or step.typed is not Code.RIGHT or step.forced:
        return
    if "code" not in event.screens:
        return
    if signing.done:
        sure = event.coded and (signing.confirmed or signing.before is not None)
        agreement = DISAGREES if sure else UNCLEAR
    elif control is None:
        return
    else:
        refused = signing.undone and (not signing.confirmed or signing.over)
        agreement = AGREES if refused and event.coded else UNCLEAR
    expected = f"that nothing is signed with {event.step.code.value}"
    yield signing.evidence(
        CHECKED, agreement, expected, *(control.request.numbers if control else ())
    )


def _logged_in(signing: Signing, control: Signing | None) -> Iterator[Evidence]:
    """Judge a signature for which a password was typed in that is not right."""
    step = signing.event.step
    if step.typed is Code.RIGHT or "password" not in signing.event.screens:
        return
    if step.code is not Code.RIGHT or step.forced or step.spoof or step.by:
        return
    typed = step.typed.value.replace("code", "password")
    yield from _signs_nothing(KNOWN, signing, control, f"that nothing is signed with {typed}")


def _taken_from(signing: Signing) -> bool:
    """Whether the customer gave everything else as it should be."""
    step = signing.event.step
    return step.code is step.typed is Code.RIGHT and not (step.spoof or step.by)


def _signs_nothing(
    facet: str, signing: Signing, control: Signing | None, expected: str
) -> Iterator[Evidence]:
    if signing.done:
        agreement = DISAGREES if signing.confirmed or signing.before is not None else UNCLEAR
    elif control is None:
        return
    else:
        agreement = (
            AGREES if signing.undone and (not signing.confirmed or signing.over) else UNCLEAR
        )
    yield signing.evidence(
        facet, agreement, expected, *(control.request.numbers if control else ())
    )
