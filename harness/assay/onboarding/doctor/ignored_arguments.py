"""Check that the bank reads the headers and query parameters that a rule is about.

A bank serves a call with a parameter that it does not know as if nothing had been sent, and so
seems to violate what the contract says of the parameter. Whether it does, or whether the file has
another name for it, only its user can say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.contract.model import Contract
from assay.history import History
from assay.onboarding.doctor.context import DoctorContext, Finding, one_line
from assay.onboarding.doctor.probe_plan import ProbePlan
from assay.onboarding.doctor.probes import RULE
from assay.onboarding.doctor.probing import probe_plans
from assay.onboarding.doctor.rule_probes import arguments_of
from assay.rules.rule import Kind, clauses_of
from assay.rules.verdict import Agreement, Evidence

__all__ = ["evidence_of", "examine"]


def examine(context: DoctorContext) -> Iterator[Finding]:
    """Report each argument that the bank seems to ignore, by the rule about it."""
    reported: set[str] = set()
    for plan in probe_plans(context):
        for clause, kind in zip(plan.contract.clauses, clauses_of(plan.contract), strict=True):
            for finding in _ignored(context, plan, clause.id, kind):
                if finding.key not in reported:
                    reported.add(finding.key)
                    yield finding


def evidence_of(
    context: DoctorContext, contract: Contract, clause: str, kind: Kind, facet: str
) -> Sequence[Evidence]:
    """Return the evidence for a facet that its own probe shows."""
    events = context.events.get(f"{contract.id} {RULE} {clause} {facet}", ())
    history = History(events=tuple(events))
    return [each for each in kind.check(history) if each.facet == facet] if events else ()


def _ignored(context: DoctorContext, plan: ProbePlan, clause: str, kind: Kind) -> Iterator[Finding]:
    """Report the arguments with which the bank seems to violate a rule."""
    for facet in kind.facets():
        evidence = evidence_of(context, plan.contract, clause, kind, facet.id)
        wrong = [each for each in evidence if each.agreement is Agreement.DISAGREES]
        for operation, argument, spelling in arguments_of(plan, kind, facet) if wrong else ():
            place = ("operations", operation, "arguments", argument)
            where = f"the {spelling.place.value} {spelling.name}"
            found = f"an answer that would violate {clause}: {one_line(wrong[0].seen)}"
            hint = f"does the bank read {argument} in {where}?"
            expected = f"{where} to be read"
            yield context.finding(place, expected, found, hint)
