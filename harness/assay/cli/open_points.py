"""The open points of contracts: how a bank answers them, can answer them, or what it does.

`assay plan --open-points` lists them without a call, and `assay init` asks for the answers. `assay
doctor --open-points` asks the bank: it runs the trials of each answer, and proposes those that the bank
keeps. A proposal is no answer, and nothing is judged by it: the bank's own manual says what is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import click

from assay.binding.model.target import Decided, Target
from assay.binding.read.join import bind
from assay.contract.model import Contract, Json, OpenPoint, PossibleAnswer
from assay.errors import InputError, did_you_mean
from assay.files.edits import flow
from assay.fixtures.providers import Customers, customers_of
from assay.journal.writer import Journal
from assay.planning.plan import Plan
from assay.planning.plan import plan as make_plan
from assay.preparation.prepare import Prepared
from assay.report.wording import counted
from assay.rules.verdict import Standing
from assay.running.environment import set_up
from assay.running.session import Session, run_session


def open_point_lines(prepared: Prepared) -> Iterator[str]:
    """Yield each open point: what the bank answers, or how it can, and what that adds to a run."""
    contracts = [bound.contract for bound in prepared.bound]
    answered = {
        (bound.contract.id, name): decision
        for bound in prepared.bound
        for name, decision in bound.decisions.items()
    }
    for contract in contracts:
        for point in contract.open_points:
            yield f"{contract.id}/{point.id}"
            yield f"  {point.statement}"
            if decision := answered.get((contract.id, point.id)):
                source = f" ({decision.source})" if decision.source else ""
                yield f"  answered: {decision.says}{source}"
                continue
            for answer in point.answers.values():
                yield f"  {answer.statement}"
                yield f'    decided: {{{point.id}: {{value: {answer.id}, source: "..."}}}}'
                yield f"    {_addition(prepared, contract, point, answer)}"
            if point.opens:
                parameters = ", ".join(f"{key}: ..." for key in point.opens)
                rules = f"{{rules: {{RULE: {{{parameters}}}}}"
                yield f'    decided: {{{contract.id}/{point.id}: {rules}, source: "..."}}}}'
            if not point.answers and not point.opens:
                yield f'    decided: {{{point.id}: {{says: "...", source: "..."}}}}; not judged'
    total = sum(len(contract.open_points) for contract in contracts)
    open_ = [
        point
        for contract in contracts
        for point in contract.open_points
        if (contract.id, point.id) not in answered
    ]
    can = sum(bool(point.answers or point.opens) for point in open_)
    yield ""
    yield (
        f"{counted(total, 'open point')}: {total - len(open_)} answered, {can} more can be judged"
        f" once answered, {len(open_) - can} can be answered in words"
    )


def _decided(
    contracts: Sequence[Contract], target: Target, point: OpenPoint, answer: PossibleAnswer
) -> Plan:
    """Return the plan of what follows from an answer, at a target that gives it."""
    decided = {**target.decided, point.id: Decided(value=(answer.id,), source="-")}
    deciding = replace(target, decided=decided, waivers=())
    return make_plan(
        bind(contracts, deciding),
        deciding,
        lambda each: each.decision is not None and each.decision.point == point.id,
    )


def _addition(
    prepared: Prepared, contract: Contract, point: OpenPoint, answer: PossibleAnswer
) -> str:
    """Say what an answer adds to a run."""
    added = _decided([contract], prepared.target, point, answer)
    before = {trial.id: trial.calls for trial in prepared.plan.trials}
    calls = sum(trial.calls - before.get(trial.id, 0) for trial in added.trials)
    return f"adds {counted(len(added.asked), 'obligation')}, {counted(max(calls, 0), 'call')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """An answer that a bank keeps, as far as its trials show."""

    contract: Contract
    point: OpenPoint
    answer: PossibleAnswer


def proposals(prepared: Prepared) -> Iterator[KeptAnswer]:
    """Run the trials of each answer that is not given, and yield those that the bank keeps.

    Raises:
        InputError: the customers are real, so the calls would spend their accesses.

    """
    target = prepared.target
    if target.is_live or customers_of(target) is not Customers.CREATED:
        what = "open points are asked only where the fixture provider creates the customers"
        hint = "answer them from the bank's manual: assay plan --open-points lists them"
        raise InputError.one(target.path, what, hint=hint)
    for bound in prepared.bound:
        contract = bound.contract
        for point in contract.open_points:
            if point.id not in bound.decisions:
                for answer in point.answers.values():
                    if _keeps(_decided([contract], target, point, answer), target):
                        yield KeptAnswer(contract=contract, point=point, answer=answer)


def _keeps(planned: Plan, target: Target) -> bool:
    """Whether everything that follows from an answer conforms."""
    if not planned.asked:
        return False
    session = Session(plan=planned, environment=set_up(target), journal=Journal(out=None))
    try:
        result = run_session(session)
    finally:
        session.environment.close()
    mine = {each.standing for each in result.verdicts if each.obligation in planned.asked}
    return mine == {Standing.CONFORMS}


def proposal_lines(found: Sequence[KeptAnswer]) -> Iterator[str]:
    """Yield the proposals as they stand in a target file, each with the place for its source."""
    if not found:
        yield "No answer could be seen."
        return
    yield "The bank does as these answers say. Keep those that its manual states, with the page:"
    by_point: dict[str, list[str]] = {}
    for each in found:
        by_point.setdefault(f"{each.contract.id}/{each.point.id}", []).append(each.answer.id)
    yield from _as_written({id_: (values, "TODO") for id_, values in by_point.items()})


def _as_written(given: Mapping[str, tuple[Sequence[str], str]]) -> Iterator[str]:
    """Yield answers, each with its source, as they stand in a target file."""
    yield "decided:"
    for id_, (values, source) in given.items():
        answer: dict[str, Json] = {"value": [*values], "source": source}
        yield f"  {id_}: {flow(answer)}"


def ask_for_answers(contracts: Sequence[Contract]) -> str:
    """Ask for the answers that rules can judge; return the part of a target file with them."""
    points = [
        (f"{contract.id}/{point.id}", point)
        for contract in contracts
        for point in contract.open_points
        if point.answers
    ]
    counting = counted(len(points), "point")
    question = (
        f"The document leaves {counting} open that the bank's manual may answer. Answer them?"
    )
    if not points or not click.confirm(question, default=False):
        return ""
    given: dict[str, tuple[Sequence[str], str]] = {}
    for id_, point in points:
        click.echo(f"\n{point.statement}")
        for answer in point.answers.values():
            click.echo(f"  {answer.id}: {answer.statement}")
        if values := _chosen(point):
            where = "Where does the bank say so? (for example: developer manual, page 12)"
            given[id_] = values, click.prompt(where)
    return "\n".join(("", *_as_written(given), "")) if given else ""


def _chosen(point: OpenPoint) -> Sequence[str]:
    """Ask for the answers to a point until all of them are known; none is possible."""
    while True:
        text: str = click.prompt("Answer, or several with commas; - for none", default="-")
        values = [value for each in text.split(",") if (value := each.strip()) not in {"", "-"}]
        unknown = next((value for value in values if value not in point.answers), None)
        if unknown is None:
            return values
        click.echo(f"  no answer {unknown!r} ({did_you_mean(unknown, point.answers)})")
