"""The probes of rules that an examination runs where no ordinary request shows the same.

A rule that rejects requests shows words for states that no other request has. A rule about an
argument in the header or the query shows whether the bank reads it there: a bank serves a call
with a name that it does not know as if nothing had been sent. Where the file translates the errors
of refusals, a rule about a code shows one. A rule about a field that only a
consent of its own shows is the only one to show it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from functools import partial
from typing import Final, cast

from assay.binding.spelling import Spelling
from assay.binding.target import Place
from assay.history import Authorise, Step
from assay.onboarding.doctor.probe_plan import ProbePlan
from assay.rules.consent_probes import probe_of
from assay.rules.dry_run import DryTarget, dry_run
from assay.rules.kinds.reading.error_body import ErrorBodyRule
from assay.rules.refusing_kind import RefusingKind
from assay.rules.rule import BindingRequirement, Facet, Kind, Script, clauses_of

#: How many facets of a rule that rejects requests are probed, besides one for each factor.
_FACETS: Final = 2
#: The most steps of a probe that are looked at; a longer one is not performed for its refusal alone.
_MOST_STEPS: Final = 100
#: The features without which the probe of a conditional field shows nothing.
_BINDINGS: Final = frozenset({"mode", "field"})
#: The places of arguments that a bank ignores if it does not know their names.
_IGNORED: Final = frozenset({Place.QUERY, Place.HEADER})


def rule_probes(plan: ProbePlan) -> Iterator[tuple[str, partial[Script]]]:
    """Yield the probe of each facet, with the names of its clause and of the facet."""
    read: set[tuple[str, str, Place, str]] = set()
    for clause, kind in zip(plan.contract.clauses, clauses_of(plan.contract), strict=True):
        if clause.id in plan.target.not_offered:
            continue
        if isinstance(kind, ErrorBodyRule) and plan.target.error is not None:
            first = kind.facets()[0]
            yield f"{clause.id} {first.id}", partial(kind.probe, first.scenario)
        for facet in _showing(plan, kind):
            yield f"{clause.id} {facet.id}", partial(kind.probe, facet.scenario)
        if kind.own_consents:
            continue
        facets = [each for each in kind.facets() if not each.not_applicable_because]
        chosen = {each.id: each for each in _rejecting(plan, kind, facets)}
        chosen |= {each.id: each for each in _coded(plan, kind, facets)}
        for facet in facets:
            for operation, argument, spelling in arguments_of(plan, kind, facet):
                about = (clause.id, argument, spelling.place, spelling.name)
                if about not in read and plan.contract.operations[operation].available:
                    read.add(about)
                    chosen[facet.id] = facet
        for facet in chosen.values():
            yield f"{clause.id} {facet.id}", partial(kind.probe, facet.scenario)


def _showing(plan: ProbePlan, kind: Kind) -> Iterator[Facet]:
    """Yield the facet of a rule whose probe shows a bound field that no ordinary call shows."""
    if not plan.signs or plan.grant is None:
        return
    named = kind.facts().conditional_fields
    for facet in kind.facets()[:1]:
        required = [each for each in facet.requires if each.feature in _BINDINGS]
        bound = all(_is_bound(plan, each) for each in required)
        if bound and any((each.operation, each.name) in named for each in required):
            yield facet


def _is_bound(plan: ProbePlan, required: BindingRequirement) -> bool:
    binding = plan.binding(plan.contract.operations[required.operation])
    names = binding.modes if required.feature == "mode" else binding.item.fields
    return required.name in names


def _rejecting(plan: ProbePlan, kind: Kind, facets: list[Facet]) -> Iterator[Facet]:
    """Yield the first facets of a rule by which a request is rejected, and one for each factor."""
    if not plan.signs or not plan.makes or not kind.facts().rejections:
        return
    yield from facets[:_FACETS]
    signed = {factor for facet in facets[:_FACETS] for factor in _factors(plan, kind, facet)}
    for facet in facets[_FACETS:] if signed and len(plan.target.sca.factors) > 1 else ():
        further = _factors(plan, kind, facet)
        if not further <= signed:
            signed |= further
            yield facet


def _coded(plan: ProbePlan, kind: Kind, facets: list[Facet]) -> Iterator[Facet]:
    """Yield the first facet of a rule whose refusal has a code, if the file locates codes.

    Where the file translates nothing, one such rule is enough.
    """
    error = plan.target.error
    if error is None or not error.code or not isinstance(kind, RefusingKind) or not kind.codes:
        return
    coded = (each for each in clauses_of(plan.contract) if isinstance(each, RefusingKind))
    first = next(each for each in coded if each.codes and not each.own_consents)
    if error.codes or any(field.words for field in error.fields.values()) or kind is first:
        refusing = kind.refusing()
        facet = next((each for each in facets if each.id in refusing), None)
        if facet is not None and len(_steps(plan, kind, facet)) < _MOST_STEPS:
            yield facet


def _steps(plan: ProbePlan, kind: Kind, facet: Facet) -> Sequence[Step]:
    """Return the first steps of the probe of a facet."""
    target = DryTarget(contract=plan.contract)
    return [*dry_run(probe_of(kind, facet.scenario), target, _MOST_STEPS)]


def _factors(plan: ProbePlan, kind: Kind, facet: Facet) -> set[str]:
    """Return the factors with which the probe of a facet signs."""
    steps = _steps(plan, kind, facet)
    return {step.factor for step in steps if isinstance(step, Authorise) and step.factor}


def arguments_of(plan: ProbePlan, kind: Kind, facet: Facet) -> Iterator[tuple[str, str, Spelling]]:
    """Yield the arguments that a rule names and that a bank may ignore, with their operations."""
    named = {*_names(kind)}
    for needed in facet.requires:
        operation = plan.contract.operations.get(needed.operation)
        if needed.feature != "argument" or needed.name not in named or operation is None:
            continue
        spelling = plan.binding(operation).arguments.get(needed.name)
        if spelling is not None and spelling.place in _IGNORED:
            yield operation.id, needed.name, spelling


def _names(kind: Kind) -> Iterator[str]:
    """Yield the names in a rule's own parameters."""
    for each in fields(kind):
        value = getattr(kind, each.name)
        listed = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
        yield from (name for name in listed if isinstance(name, str))
