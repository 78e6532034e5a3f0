"""Check of a recorded plan: it must follow from the contracts and the target file.

A forger may leave out an obligation that is violated, or say that the bank does not offer it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.attestation.findings import VerificationFinding, differs, not_rejudged
from assay.attestation.inputs import FoundInputs
from assay.attestation.recorded_run import WrittenRun
from assay.binding.join import BoundContract, bind
from assay.binding.target import Target
from assay.contract.model import Party
from assay.errors import InputError
from assay.journal.lines import Line
from assay.journal.writer import planned
from assay.planning.obligation import bound_clauses
from assay.planning.plan import Disposition, Plan, Planned, plan
from assay.planning.prepare import selector
from assay.traffic.session import plan_recording

#: What a plan line says that the run itself decides, or a dry run of it.
OF_THE_RUN = frozenset({"calls", "disposition", "reason"})
#: What a plan decides for good: no option of a run changes it.
_DECIDED = frozenset({Disposition.UNSPECIFIED, Disposition.NOT_APPLICABLE})
_DISPOSITIONS = {each.value: each for each in Disposition}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedPlan:
    """The recorded plan, made again from contracts and target file, and what does not fit."""

    plan: Plan
    party: Party
    findings: tuple[VerificationFinding, ...]


def check_plan(run: WrittenRun, inputs: FoundInputs, target: Target) -> CheckedPlan:
    """Compare the plan of a run with the one that its files give, and return it to be judged.

    Raises:
        InputError: contracts and target file do not fit together.

    """
    party = Party(run.report.header.party) if run.report.header.party in _PARTIES else Party.BANK
    bound = bind(list(inputs.contracts.values()), target)
    known = _expected(run, bound, target, party)
    findings = [*_compare(run, known), *_left_out(run, known)]
    items = tuple(
        _as_recorded(known[name], line) for name, line in run.plan.items() if name in known
    )
    made = Plan(
        items=items,
        trials=(),
        clauses={each.contract.id: bound_clauses(each.contract) for each in bound},
        contracts={each.contract.id: each.contract for each in bound},
    )
    return CheckedPlan(plan=made, party=party, findings=tuple(findings))


_PARTIES = frozenset(each.value for each in Party)


def _expected(
    run: WrittenRun, bound: Sequence[BoundContract], target: Target, party: Party
) -> Mapping[str, Planned]:
    made = plan_recording(bound, target, party) if run.of_judge else plan(bound, target)
    return {item.obligation.id: item for item in made.items}


def _disposition(line: Line) -> Disposition:
    word = line.text("disposition")
    if word not in _DISPOSITIONS:
        line.refuse("'disposition' is not known")
    return _DISPOSITIONS[word]


def _as_recorded(item: Planned, line: Line) -> Planned:
    """Return an obligation as it was planned: options of the run may have changed what is tested."""
    return Planned(
        obligation=item.obligation,
        disposition=_disposition(line),
        reason=line.text("reason", ""),
    )


def _compare(run: WrittenRun, known: Mapping[str, Planned]) -> Iterator[VerificationFinding]:
    for name, line in run.plan.items():
        item = known.get(name)
        if item is None:
            yield differs(name, "is not an obligation of these contracts", line.number)
            continue
        expected = json.loads(json.dumps(planned(item)))
        for key in expected.keys() - OF_THE_RUN:
            if line.values.get(key) != expected[key]:
                what = f"its plan says something else than the contract: {key!r}"
                yield differs(name, what, line.number)
                break
        else:
            yield from _compare_disposition(name, line, item)


def _compare_disposition(name: str, line: Line, item: Planned) -> Iterator[VerificationFinding]:
    recorded, reason = _disposition(line), line.text("reason", "")
    if recorded is item.disposition and (recorded is Disposition.ASK or reason == item.reason):
        return
    if recorded in _DECIDED or item.disposition in _DECIDED:
        made = f"{item.disposition.value} ({item.reason})" if item.reason else "tested"
        what = f"the plan says {recorded.value}; by contract and target file it is {made}"
        yield differs(name, what, line.number)
    elif recorded is Disposition.UNVERIFIED:
        yield not_rejudged(name, f"the run skipped it: {reason}", line.number)


def _left_out(run: WrittenRun, known: Mapping[str, Planned]) -> Iterator[VerificationFinding]:
    """Yield what the plan lacks of all that was selected."""
    options = run.invocation
    selection = run.report.header.selection
    try:
        select = selector(selection.get("k", ""), selection.get("m", ""))
    except InputError:
        yield differs("selection", "the recorded selection (-k, -m) cannot be read", 1)
        return
    selected = {name for name, item in known.items() if select(item.obligation)}
    lacking = sorted(selected - run.plan.keys() - run.shards)
    if not lacking:
        return
    if options.get("replays") or not (options or run.of_judge):
        what = "the journal does not say which obligations were selected"
        yield not_rejudged("selection", f"{what}: {len(lacking)} are not in its plan")
        return
    for name in lacking:
        yield differs(name, "was selected but is not in the plan")
