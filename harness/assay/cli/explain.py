"""`assay explain`: what one obligation asks, how it is tested, and what its verdict rests on.

The steps are those of a dry run at a made-up bank that keeps the contract: nothing is sent, and a
real trial may need more pages. What conforms and what violates is what the check says of the
sandbox, sound and with faults, or of dry runs where a contract is not a shipped one. With a run it
also shows what happened there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from assay.cli import options
from assay.contexts.context import Depth, label
from assay.contract.model import Contract
from assay.errors import InputError, did_you_mean
from assay.extras.attestation.inputs import file_digest, find_inputs, read_run
from assay.fixtures.providers import Customers, customers_of
from assay.history import (
    Advance,
    Arrange,
    Authorise,
    Authorised,
    Call,
    Decision,
    Event,
    Exchange,
    History,
    Holding,
    Inquire,
    Lack,
    Register,
    Renew,
    Step,
    Submit,
    Together,
    Withdraw,
)
from assay.journal.journal_file import JOURNAL
from assay.journal.writer import Journal
from assay.parsing.parse import find_contract
from assay.planning.plan import Disposition, Planned, Trial, script_of
from assay.planning.remedies import REMEDIES
from assay.preparation.prepare import SHIPPED, Prepared, prepare
from assay.report import Report
from assay.report.sanitize import bounded
from assay.report.timeline import span_text
from assay.report.views import by_cause, by_reason, card_lines, source_text
from assay.report.wording import counted, listed
from assay.rules.checks import checked
from assay.rules.dry_run import START, ConformingTarget
from assay.rules.obligation import UNSPECIFIED
from assay.rules.rule import Kind
from assay.rules.steps import each_step
from assay.rules.verdict import Agreement, Standing
from assay.running.environment import set_up
from assay.running.session import Session
from assay.transport.auth.diagnostics import place, place_of

EPILOG = """\b
Examples:
  assay explain aisp/batch-quota/accounts-refused
  assay explain --target bank.yaml pis/duplicate/repeat-refused
  assay explain --target bank.yaml pis/duplicate/repeat-refused reports/local/before-go-live
"""
#: The most lines of steps, examples and contexts.
STEPS, EXAMPLES, CONTEXTS = 60, 5, 12
#: The width of the labels of sentences.
LABEL = 11
CREATED, LISTED = "create the customers above, with nothing else", "list such customers"
#: What the fixtures must do for a step.
DUTIES = {
    CREATED: Arrange,
    "move the clock, which stands still between moves": Advance,
    "say which requests were executed": Inquire,
    "register creditors": Register,
    "cancel a request as the customer": Withdraw,
    "renew tokens": Renew,
}
#: The most of a text of a run.
WIDTH = 400
#: The most steps of a probe that are played.
MOST = 1_000


@click.command(epilog=EPILOG)
@click.argument("obligation", metavar="ID")
@click.argument("run", required=False, type=click.Path(path_type=Path, exists=True))
@options.contracts
@options.target
@options.contexts
def command(
    obligation: str,
    run: Path | None,
    contracts: Sequence[str],
    target: str | None,
    contexts: Depth | None,
) -> int:
    """Explain one obligation: its source, the steps of its trial, and what conforms or violates.

    With RUN, the folder or journal of a run, also what happened there and what to do about it.
    Nothing is sent.
    """
    journal = run / JOURNAL if run and run.is_dir() else run
    recorded = None if journal is None else read_run(journal, passes=True)
    if recorded is not None:
        found = find_inputs(recorded, contracts, target)
        contracts = [each.path for each in found.contracts.values()]
        target = str(found.target.path) if found.target else target
        for name, why in {**found.other, **found.missing}.items():
            click.echo(f"{name}: {why}", err=True)
    prepared = prepare(contracts, target, contexts=contexts)
    item = find(prepared, obligation)
    for line in lines(prepared, item):
        click.echo(line)
    if recorded is not None:
        for line in run_lines(recorded.report, obligation):
            click.echo(line)
    return 0


def find(prepared: Prepared, name: str) -> Planned:
    """Return the planned obligation of this id.

    Raises:
        InputError: there is none, with those that it may mean.

    """
    known = {item.obligation.id: item for item in prepared.plan.items}
    if name in known:
        return known[name]
    within = [id_ for id_ in known if name in id_]
    hint = f"did you mean {listed(within)}?" if within else did_you_mean(name, known)
    raise InputError.one(name, "there is no such obligation", hint=hint or "`assay plan` lists all")


def lines(prepared: Prepared, item: Planned) -> Iterator[str]:
    """Yield what an obligation asks, and how it is tested at a target."""
    obligation = item.obligation
    yield f"{obligation.id}  {obligation.level.value}, rule kind {obligation.kind}"
    yield f"  {'contract':<{LABEL}}{obligation.statement}"
    if obligation.kind != UNSPECIFIED:
        yield f"  {'facet':<{LABEL}}{obligation.description}"
    for source in obligation.sources:
        yield f"  {'source':<{LABEL}}{source_text(source)}"
    if obligation.rests_on:
        what = f"{obligation.rests_on} conforms, or else a refusal proves nothing"
        yield f"  {'only if':<{LABEL}}{what}"
    if item.disposition is not Disposition.ASK:
        yield f"  {item.disposition.value:<{LABEL}}{item.reason}"
    trial = next((each for each in prepared.plan.trials if obligation in each.settles), None)
    if trial is not None:
        yield from _trial(prepared, trial, item)


def _trial(prepared: Prepared, trial: Trial, item: Planned) -> Iterator[str]:
    """Yield steps, criteria, places and contexts of a trial."""
    contract = prepared.plan.contracts[trial.contract]
    kind = prepared.plan.clauses[trial.contract][trial.clause].kind
    played = {accepts: play(prepared, trial, accepts=accepts) for accepts in (False, True)}
    steps = played[kind.accepts_variation(trial.scenario)].steps
    others = [each.id for each in trial.settles if each.id != item.obligation.id]
    also = f", also decides {listed(others, 3)}" if others else ""
    yield ""
    yield f"Trial: {counted(item.calls, 'call')}{also}"
    yield from numbered(steps, contract)
    yield ""
    yield "Verdict"
    found = [*(_examples(contract, item) or _criteria(kind, item, played.values()))]
    found = found or [f"expected   {item.obligation.description}"]
    yield from (f"  {bounded(line, WIDTH)}" for line in found)
    yield ""
    yield f"Target file {prepared.target.path}"
    yield from (f"  {line}" for line in _places(prepared, item, steps))
    contexts = [each for each in prepared.plan.contextual if each.settles == trial.settles]
    if contexts:
        calls = sum(each.calls for each in contexts)
        yield ""
        yield f"Further contexts: {counted(len(contexts), 'trial')}, {counted(calls, 'call')}"
        yield from (f"  {label(each.context)}" for each in contexts[:CONTEXTS])
        if contexts[CONTEXTS:]:
            yield f"  and {counted(len(contexts) - CONTEXTS, 'more trial')}"


def _places(prepared: Prepared, item: Planned, steps: Sequence[Step]) -> Iterator[str]:
    """Yield the keys that a trial rests on, and what the fixtures must do."""
    target, calls = prepared.target, [step for step in steps if isinstance(step, Call)]
    operations = prepared.plan.contracts[item.obligation.contract].operations
    for name in dict.fromkeys(call.operation for call in calls):
        yield place_of(target, "operations", name)
    for by_tpp in sorted({operations[call.operation].by_tpp for call in calls}):
        yield place_of(target, *place(target, by_tpp=by_tpp))
    if any(isinstance(step, Authorise) for step in steps):
        yield place_of(target, "sca")
    asked = [step for step in steps if not isinstance(step, Advance) or step.to is not None]
    duties = [duty for duty, kind in DUTIES.items() if any(isinstance(s, kind) for s in asked)]
    if customers_of(target) is Customers.LISTED:
        duties = [LISTED for duty in duties if duty is CREATED]
    if duties:
        yield f"{place_of(target, 'fixtures')}: {'; '.join(duties)}"
    needs = sorted(item.obligation.needs, key=lambda each: each.value)
    if needs:
        yield f"needs {listed([REMEDIES[each].missing for each in needs], len(needs))}"


# -- What a dry run shows ------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class DryPlay:
    """The steps and events of a dry run."""

    steps: tuple[Step, ...]
    events: tuple[Event, ...]


def play(prepared: Prepared, trial: Trial, *, accepts: bool) -> DryPlay:
    """Play a trial to a made-up bank that keeps the contract, or `accepts` what is varied."""
    _, script = script_of(prepared.plan, trial)
    contract = prepared.plan.contracts[trial.contract]
    bank = ConformingTarget(contract=contract, accepts_variation=accepts)
    steps: list[Step] = []
    events: list[Event] = []

    def reply(step: Step) -> Event:
        event = bank.reply(step)
        if isinstance(event, Exchange | Authorised):
            event = replace(event, n=len(events) + 1)
        events.append(event)
        return event

    with suppress(Exception):  # a probe may fail on made-up answers; what it did is shown
        steps.extend(each_step(script, reply, MOST))
    return DryPlay(tuple(steps), tuple(events))


def _criteria(kind: Kind, item: Planned, played: Iterable[DryPlay]) -> Iterator[str]:
    """Yield what is expected, as the check says it of dry runs, and what would contradict it."""
    expected: dict[str, dict[str, None]] = {}
    for each in played:
        with suppress(Exception):  # a check may fail on made-up answers
            for evidence in checked(kind, History(events=each.events)):
                if evidence.facet == item.obligation.facet:
                    seen = expected.setdefault(evidence.expected, {})
                    if evidence.agreement is Agreement.DISAGREES:
                        seen[evidence.seen] = None
    for text, contradictions in list(expected.items())[:EXAMPLES]:
        yield f"expected   {text}"
        yield from (f"violates   if {each}" for each in contradictions)


def _examples(contract: Contract, item: Planned) -> list[str]:
    """Return what is seen at the sandbox, and where it has a fault; nothing of other contracts."""
    name = contract.id
    of_bank = item.obligation.decision is not None  # the sandbox has no such obligation
    if of_bank or name not in SHIPPED or file_digest(find_contract(name)) != contract.digest:
        return []
    from assay.proof.kill_matrix import bank_of  # noqa: PLC0415 -- only here, as the two below
    from assay.sandbox.mutants import MUTANTS, PIS_MUTANTS  # noqa: PLC0415
    from assay.sandbox.policies import SOUND  # noqa: PLC0415

    asked = item.obligation.id
    own = prepare([name], None, keywords=asked, contexts=Depth.BASE)
    obligation = next(each.obligation for each in own.plan.items if each.obligation.id == asked)
    wrong = [each for each in (*MUTANTS, *PIS_MUTANTS) if asked in each.breaks][:EXAMPLES]
    found: list[str] = []
    for policies, says in ((SOUND, ""), *((each.change(SOUND), each.says) for each in wrong)):
        with closing(set_up(own.target, bank=bank_of(policies))) as environment:
            session = Session(plan=own.plan, environment=environment, journal=Journal(out=None))
            shown = session.settle(obligation).evidence
        wanted = Agreement.DISAGREES if says else Agreement.AGREES
        for each in [each for each in shown if each.agreement is wanted][:1]:
            found += [] if says else [f"expected   {each.expected}"]
            found.append(f"{'violates' if says else 'conforms'}   {each.seen}")
            found += [f"           at a bank with this fault: {says}"] if says else []
    return found


# -- Steps in words ------------------------------------------------------------------------------
def numbered(steps: Sequence[Step], contract: Contract) -> Iterator[str]:
    """Yield steps in words, those that are the same one after another as one."""
    texts = [text for text in in_words(steps, contract) if text]
    grouped = [(text, len([*same])) for text, same in groupby(texts)]
    for number, (text, times) in enumerate(grouped[:STEPS], 1):
        yield f"  {number:>3}. {text}" + (f" ({times} times)" if times > 1 else "")
    if grouped[STEPS:]:
        yield f"       and {counted(len(grouped) - STEPS, 'more step')}"


def in_words(steps: Iterable[Step], contract: Contract) -> Iterator[str]:
    """Yield each step in words; nothing for a look at the clock."""
    now = START
    for step in steps:
        if isinstance(step, Call):
            yield _call(step, contract)
        elif isinstance(step, Advance):
            span = step.to - now if step.to else timedelta(0)
            now += span
            if span > timedelta(0):
                yield f"the clock moves by {span_text(span)}, to {now:%A %Y-%m-%d %H:%M:%S %z}"
        elif type(step) in _WORDS:
            yield _WORDS[type(step)](step)


def _arranged(step: Arrange) -> str:
    owns = ", ".join(map(_holding, step.holdings)) or "nothing"
    return f"a customer {step.subject} with {owns}" + (
        f", segment {step.segment}" if step.segment else ""
    )


def _signed(step: Authorise) -> str:
    verb = "signs" if step.decision is Decision.CONFIRM else "refuses"
    varied = f" [{step.variation}]" if step.variation else ""
    return f"{step.by or step.subject} {verb} the request on the bank's screens{varied}"


def _lacking(step: Lack) -> str:
    which = [step.bank, f"which does not offer {step.mode}" if step.mode else ""]
    return ", ".join(["the trial goes on at another bank of the group", *filter(None, which)])


#: Each step but calls and the clock.
_WORDS: Mapping[type, Callable[[Any], str]] = {
    Arrange: _arranged,
    Authorise: _signed,
    Lack: _lacking,
    Register: lambda step: (
        f"{step.argument} is registered by {step.subject} since {span_text(step.age)}"
    ),
    Withdraw: lambda step: f"{step.subject} cancels the request at the bank",
    Renew: lambda step: f"the token for {step.operation} is renewed",
    Submit: lambda step: f"{step.subject}'s request is submitted: {step.variation or 'not signed'}",
    Inquire: lambda _: "the fixtures say which requests were executed",
    Together: lambda step: f"the next {len(step.steps)} are sent at one moment:",
}


def _holding(holding: Holding) -> str:
    traits = ", ".join(f"{name} {value}" for name, value in holding.traits.items())
    entries = counted(len(holding.entries), "entry", "entries") if holding.entries else ""
    details = "; ".join(filter(None, (traits, entries)))
    return f"{holding.count} {holding.resource}" + (f" ({details})" if details else "")


def _call(call: Call, contract: Contract) -> str:
    operation = contract.operations[call.operation]
    caller = call.by or ("the TPP" if operation.by_tpp else call.subject)
    how = [
        "" if call.present or operation.by_tpp else "without the customer",
        f"at its {call.alias + 1}. address" if call.alias else "",
        f"at host {call.host + 1}" if call.host else "",
        f"mode {call.mode}" if call.mode else "",
        "the next page" if call.follow else "",
    ]
    varied = f" [{call.variation}]" if call.variation and call.variation not in how else ""
    return ", ".join([f"{caller}: {operation.id}", *filter(None, how)]) + varied


# -- What happened in a run ----------------------------------------------------------------------
def run_lines(report: Report, obligation: str) -> Iterator[str]:
    """Yield the verdict of a run on an obligation, its card, and what to do about it.

    Raises:
        InputError: the run has no such obligation.

    """
    result = next((each for each in report.results if each.planned.id == obligation), None)
    if result is None:
        raise InputError.one(obligation, f"it was not planned in {report.journal}")
    yield ""
    yield f"In {report.journal}: {result.standing.value}"
    groups = {
        Standing.UNVERIFIED: by_reason(report.of(Standing.UNVERIFIED)),
        Standing.INDETERMINATE: by_cause(report),
    }.get(result.standing, ())
    for group in groups:
        if result in group.results:
            yield f"  reason: {bounded(group.reason, WIDTH)}"
            if group.results[1:]:
                others = [each.planned.id for each in group.results if each is not result]
                yield f"  the same reason leaves {listed(others, 3)} open"
            if group.advice:
                yield f"  what to do: {group.advice}"
    for line in card_lines(result, exchanges=3, entries=30):
        yield f"  {bounded(line, WIDTH)}" if line else ""
