"""`factors`: the authentication factors that customers sign with, none of which can be bypassed.

What the screens offer is looked at once for each kind of customer. Whether a code is
asked for is tried with every factor, and whether it is looked at with codes that are
wrong in several ways; the password is tried in the same way. A factor that is not offered
to a customer is sent nevertheless, as if the screen had it. A factor of which nobody knows a code may be shown elsewhere than
on the screens: that none is asked for convicts nobody, then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from assay.contract.model import Capability, Json
from assay.history import Authorise, Code, Decision, History
from assay.judging.verdict import Evidence
from assay.rules import parameters
from assay.rules.evidence import AGREES, DISAGREES, UNCLEAR
from assay.rules.lifecycle import request_queries, request_steps, signing, tracker
from assay.rules.lifecycle.parameters import the_request
from assay.rules.lifecycle.signing import Signing
from assay.rules.parameters import ref
from assay.rules.rule import BindingRequirement, Facet, Kind, Scenario, Script, needs, scenario_of

PASSWORD, FACTOR, CHECKED = "password-alone", "factor-alone", "code-checked"
KNOWN = "password-checked"
#: The scenarios in which codes and passwords are typed in; each kind of customer is another.
CODES, PASSWORDS = "codes", "passwords"
#: Codes that are none, in the order in which they are tried with the first factor.
BAD: Final = (Code.EMPTY, Code.HALF, Code.WRONG)

#: Whose signature it was, and with which factor.
_Whose: TypeAlias = tuple[str, str | None]


_OFFERED: Mapping[str, Json] = {
    "description": "a list of factors for each segment",
    "type": "object",
    "minProperties": 1,
    "additionalProperties": ref("words"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorsScenario(Scenario):
    """What customers of a segment are offered; signatures with codes, if it is None.

    `forced` is a factor that they are not offered, and sign with nevertheless.
    """

    segment: str | None = None
    forced: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Factors(Kind):
    """The factors that each segment of customers is offered to sign a request."""

    name = "factors"
    applies_to = ("makes",)

    lifecycle: tracker.Lifecycle = the_request()
    offered: Mapping[str, tuple[str, ...]] = parameters.parameter(
        _OFFERED,
        lambda value, _: {segment: tuple(words) for segment, words in value.items()},
        key="offered",
    )

    @property
    def words(self) -> tuple[str, ...]:
        """All factors that are named."""
        return tuple(dict.fromkeys(word for words in self.offered.values() for word in words))

    def factors(self) -> Sequence[str]:
        """Return all factors that the clause names."""
        return self.words

    def factors_by_segment(self, request: str) -> Mapping[str, tuple[str, ...]]:
        """Return the factors that the clause offers to each segment, for its request."""
        return self.offered if request == self.lifecycle.request.id else {}

    @property
    def barred(self) -> Mapping[str, str]:
        """A factor that each segment is never offered, where there is one."""
        first = {
            segment: next((word for word in self.words if word not in offered), "")
            for segment, offered in self.offered.items()
        }
        return {segment: word for segment, word in first.items() if word}

    def facets(self) -> tuple[Facet, ...]:
        """One facet for each kind of customer and each factor kept from it, and four for everybody."""
        asks = {
            PASSWORD: "the password alone signs nothing",
            FACTOR: "no factor signs anything without the password",
            CHECKED: "a code that is wrong, empty or only half of one signs nothing",
        }
        return (
            *(
                Facet(
                    id=f"{segment}-offered",
                    description=f"{segment} customers are offered some of {', '.join(words)}, and no more",
                    scenario=FactorsScenario(id=f"{segment}:offered", segment=segment),
                    needs=signing.NEEDS | needs(Capability.SEGMENTS),
                    requires=(
                        BindingRequirement(operation=self.lifecycle.create.id, feature="approval"),
                    ),
                )
                for segment, words in self.offered.items()
            ),
            *(
                Facet(
                    id=id_,
                    description=words,
                    scenario=FactorsScenario(id=CODES),
                    needs=signing.NEEDS,
                    requires=signing.requirements(self.lifecycle),
                )
                for id_, words in asks.items()
            ),
            Facet(
                id=KNOWN,
                description="a password that is wrong, empty or only half of one signs nothing",
                scenario=FactorsScenario(id=PASSWORDS),
                needs=signing.NEEDS,
                requires=signing.requirements(self.lifecycle),
            ),
            *(
                Facet(
                    id=_not_taken(segment, word),
                    description=f"{segment} customers sign nothing with {word}",
                    scenario=FactorsScenario(id=f"{segment}:{word}", segment=segment, forced=word),
                    needs=signing.NEEDS | needs(Capability.SEGMENTS),
                    requires=signing.requirements(self.lifecycle),
                )
                for segment, word in self.barred.items()
            ),
        )

    def probe(self, scenario: Scenario) -> Script:
        """Look at what is offered, and refuse; or sign with right codes, and then with wrong ones."""
        lifecycle = self.lifecycle
        tried = scenario_of(scenario, FactorsScenario)
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
                made, replace(request_steps.SIGN, decision=Decision.REFUSE)
            )
            return
        psu = yield from request_steps.customer(lifecycle, count=2 * len(self.words) + len(BAD) - 1)
        _, first = yield from signing.try_to_sign(lifecycle, psu, 0)
        offered = (first.offered if first else None) or ()
        others = [word for word in self.words if word in offered[1:]]
        tries = [replace(request_steps.SIGN, factor=word) for word in others]
        # Wrong codes come last, for a target may lock out who types them in.
        tries += [_wrong(word, code) for word in offered[:1] for code in BAD]
        tries += [_wrong(word, Code.WRONG) for word in others]
        for n, how in enumerate(tries, start=1):
            yield from signing.try_to_sign(lifecycle, psu, n, how)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge what was offered, what was asked for, and what was made of it."""
        given = signing.signings(self.lifecycle, history)
        ended = [one for one in given if one.alone and not one.failed]
        coded = {_factor(one) for one in given if "code" in one.event.screens}
        controls: dict[_Whose, Signing] = {}
        let_in: dict[str, Signing] = {}
        for one in ended:
            if one.plain and one.confirmed and one.done:
                let_in.setdefault(one.subject, one)
            if one.plain and one.confirmed and one.done and "code" in one.event.screens:
                controls.setdefault((one.subject, _factor(one)), one)
        for one in given:
            yield from _offered(self, one)
        for one in ended:
            if one.event.step.decision is Decision.CONFIRM:
                yield from _around(one, coded)
                yield from _typed(one, controls.get((one.subject, _factor(one))))
                yield from _logged_in(one, let_in.get(one.subject))
                yield from _forced(self, one, let_in.get(one.subject))


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
        yield replace(request_steps.SIGN, typed=code, variation=words)


def _not_taken(segment: str, word: str) -> str:
    return f"{segment}-not-with-{word}"


def _factor(one: Signing) -> str | None:
    """Return the factor that was picked: the one asked for, or the first that was offered."""
    if "factor" not in one.event.screens:
        return None
    return one.event.step.factor or next(iter(one.event.offered or ()), None)


def _offered(p: Factors, one: Signing) -> Iterator[Evidence]:
    """Judge what the screens offered to a customer of a known kind."""
    subject, event = one.request.subject, one.event
    allowed = p.offered.get((subject.segment if subject else None) or "")
    if allowed is None or event.offered is None or not request_queries.by_owner(one.request, event):
        return
    more = [word for word in event.offered if word not in allowed]
    # A word that nobody spelt may be the target's own for one of the others.
    sure = [word for word in more if word in p.words or word not in event.unspelt]
    agreement = DISAGREES if sure else UNCLEAR if more or not event.offered else AGREES
    hint = f" ({', '.join(more)}: not bound in the target file)" if more and not sure else ""
    yield replace(
        one.evidence(
            f"{subject.segment if subject else ''}-offered",
            agreement,
            f"that nothing but {', '.join(allowed)} is offered",
        ),
        seen=f"it offers {', '.join(event.offered) or 'nothing'}{hint}",
    )


def _around(one: Signing, coded: set[str | None]) -> Iterator[Evidence]:
    """Judge a signature that was carried out by what the customer had to show for it."""
    screens = one.event.screens
    if not one.confirmed or not one.done or "decision" not in screens:
        return
    shown = f"it was carried out after these were filled in: {', '.join(dict.fromkeys(screens))}"
    asked = "code" in screens
    if "password" in screens:
        picked = _factor(one)
        sure = "factor" not in screens or one.event.coded or picked in coded
        agreement = AGREES if asked else DISAGREES if sure else UNCLEAR
        expected = "that more than a password is asked for"
        yield replace(one.evidence(PASSWORD, agreement, expected), seen=shown)
    if asked:
        agreement = AGREES if "password" in screens else DISAGREES
        expected = "that the password is asked for"
        yield replace(one.evidence(FACTOR, agreement, expected), seen=shown)


def _typed(one: Signing, control: Signing | None) -> Iterator[Evidence]:
    """Judge a signature for which a code was typed in that is not right."""
    event = one.event
    if event.step.code is Code.RIGHT or "code" not in event.screens or _otherwise(event.step):
        return
    if one.done:
        sure = event.coded and (one.confirmed or one.before is not None)
        agreement = DISAGREES if sure else UNCLEAR
    elif control is None:
        return
    else:
        refused = one.undone and (not one.confirmed or one.over)
        agreement = AGREES if refused and event.coded else UNCLEAR
    expected = f"that nothing is signed with {event.step.code.value}"
    yield one.evidence(CHECKED, agreement, expected, *(control.request.numbers if control else ()))


def _otherwise(step: Authorise) -> bool:
    """Whether more than the code of a factor was not as it should be."""
    return step.typed is not Code.RIGHT or step.forced


def _logged_in(one: Signing, control: Signing | None) -> Iterator[Evidence]:
    """Judge a signature for which a password was typed in that is not right."""
    step = one.event.step
    if step.typed is Code.RIGHT or "password" not in one.event.screens:
        return
    if step.code is not Code.RIGHT or step.forced or step.spoof or step.by:
        return
    typed = step.typed.value.replace("code", "password")
    yield from _signs_nothing(KNOWN, one, control, f"that nothing is signed with {typed}")


def _forced(p: Factors, one: Signing, control: Signing | None) -> Iterator[Evidence]:
    """Judge a signature with a factor that the customer's kind is never offered."""
    event, subject = one.event, one.request.subject
    segment = (subject.segment if subject else None) or ""
    word = event.step.factor or ""
    if not event.step.forced or p.barred.get(segment) != word or "factor" not in event.screens:
        return
    if not _taken_from(one) or word in (event.offered or ()):
        return  # that it is offered is another facet's
    facet, expected = _not_taken(segment, word), f"that {word} signs nothing for {segment}"
    if event.coded or not one.done:
        yield from _signs_nothing(facet, one, control, expected)


def _taken_from(one: Signing) -> bool:
    """Whether the customer gave everything else as it should be."""
    step = one.event.step
    return step.code is step.typed is Code.RIGHT and not (step.spoof or step.by)


def _signs_nothing(
    facet: str, one: Signing, control: Signing | None, expected: str
) -> Iterator[Evidence]:
    if one.done:
        agreement = DISAGREES if one.confirmed or one.before is not None else UNCLEAR
    elif control is None:
        return
    else:
        agreement = AGREES if one.undone and (not one.confirmed or one.over) else UNCLEAR
    yield one.evidence(facet, agreement, expected, *(control.request.numbers if control else ()))
