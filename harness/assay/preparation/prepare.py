"""Preparation of a plan from the contracts, target and selection that the user named.

Command line and pytest plugin both start here. Files are found, checked, bound and
planned; nothing is sent.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from assay.binding.model.features import without_tpp_token
from assay.binding.model.spelling import keys_without_value, made_slots
from assay.binding.model.target import AuthKind, ScaKind, Target, TransportKind
from assay.binding.read.join import BoundContract, bind
from assay.binding.wire.encode import BARE
from assay.contexts.context import Depth
from assay.errors import InputError
from assay.fixtures.providers import Customers, customers_of
from assay.fixtures.roles import only_roles
from assay.history import Call
from assay.parsing.parse import parse_contracts
from assay.planning.contextual import ContextPlan, with_contexts
from assay.planning.plan import Plan, Shard, Trial, plan, restrict, script_of
from assay.planning.shards import part_of, with_share
from assay.preparation.banks import read_bank_target
from assay.preparation.target_file import find_target, read_target
from assay.rules.dry_run import DryTarget, dry_run
from assay.rules.obligation import Obligation

if TYPE_CHECKING:
    from assay.preparation.feasibility import Feasibility


#: The contracts and the target that are used when none is named.
SHIPPED, SANDBOX = ("aisp", "pis"), "sandbox"

#: The shipped target for each dialect of the sandbox, by the path of its base URL.
DIALECTS = {"/stet/psd2/v1": "stet-1.4.0"}

Select = Callable[[Obligation], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Contracts and target, bound and planned.

    `contexts` has the trials in further contexts and what they cover, if there are any, by the
    `depth`; `base_only` says why there are none where the base context was not asked for.
    `reproduce` has the command line options for both, `roles` the customers that were chosen by
    `--role`. `feasibility` is set
    where customers are real or limits are set: only a dry run shows there which trials can
    run. `assess` returns the feasibility of another plan of the same target.
    """

    target: Target
    bound: tuple[BoundContract, ...]
    plan: Plan
    reproduce: str
    depth: Depth = Depth.BASE
    contexts: ContextPlan | None = None
    base_only: str = ""
    feasibility: Feasibility | None = None
    roles: tuple[str, ...] = ()
    assess: Callable[[Plan], Feasibility] | None = field(default=None, repr=False, compare=False)

    def part(self, ids: Collection[str]) -> Plan:
        """Return the plan of these obligations only, with today's whole budget for them."""
        if self.assess is None or self.feasibility is None:
            return restrict(self.plan, ids)
        return self.assess(restrict(self.feasibility.before, ids)).plan

    def foreseen(self) -> Feasibility:
        """Return the feasibility of the plan, assessed now if planning did not need it."""
        from assay.preparation.feasibility import assess  # noqa: PLC0415 -- seldom needed

        return self.feasibility or assess(
            self.plan, self.target, now=self.target.fixtures.now or datetime.now(UTC)
        )

    def whole(self) -> Plan:
        """Return the plan of all obligations, without the selection."""
        return plan(self.bound, self.target)


def load_target(name: str | None, waivers: Path | None = None) -> Target:
    """Return the target of a file, a shipped name, a bank or a URL; the embedded sandbox for None.

    A URL is that of a sandbox served by `assay serve`; its path decides the dialect. `waivers` is
    a file of waivers, besides those of the target file.

    Raises:
        InputError: there is no such target, or its file has problems.

    """
    if name and name.startswith(("http://", "https://")):
        parts = urlsplit(name)
        shipped = DIALECTS.get(parts.path.rstrip("/"), SANDBOX)
        target = read_target(find_target(shipped), base_url=name, waivers=waivers)
        # The control API has no dialect: it is at the root of the host.
        fixtures = replace(target.fixtures, url=f"{parts.scheme}://{parts.netloc}")
        own = shipped == SANDBOX
        return replace(
            target, transport=TransportKind.HTTP, fixtures=target.fixtures if own else fixtures
        )
    if name and "#" in name and (bank := read_bank_target(name, waivers)):
        return bank
    return read_target(find_target(name or SANDBOX), waivers=waivers)


def markers(obligation: Obligation) -> frozenset[str]:
    """Return the pytest markers of an obligation: its kind, contract and level."""
    kind = obligation.kind
    return frozenset({kind, kind.replace("-", "_"), obligation.contract, obligation.level.value})


def selector(keywords: str = "", marks: str = "") -> Select:
    """Return the selection that pytest would make with these -k and -m expressions.

    Raises:
        InputError: an expression has an error.

    """
    if not keywords and not marks:
        return lambda _: True
    by_name = matching("-k", keywords)
    by_mark = _expression("-m", marks)

    def select(obligation: Obligation) -> bool:
        marked = markers(obligation)
        return by_name(obligation.id) and by_mark(lambda word: word in marked)

    return select


def matching(option: str, text: str) -> Callable[[str], bool]:
    """Return a function that says whether a name matches a -k expression.

    Raises:
        InputError: the expression has an error.

    """
    expression = _expression(option, text)

    def matches(name: str) -> bool:
        lower = name.lower()
        return expression(lambda word: word.lower() in lower)

    return matches


def _expression(option: str, text: str) -> Callable[[Callable[[str], bool]], bool]:
    if not text:
        return lambda _: True
    from _pytest.mark import expression  # noqa: PLC0415 -- what -k means is pytest's

    # Until pytest 9 it had an error of its own; since then it is a SyntaxError.
    unreadable: type[Exception] = getattr(expression, "ParseError", SyntaxError)
    try:
        compiled = expression.Expression.compile(text)
    except (unreadable, SyntaxError, RecursionError, MemoryError):
        hint = "join words with and, or, not and parentheses, as in pytest"
        what = f"cannot read the expression {text[:500]!r}"
        raise InputError.one(option, what, hint=hint) from None

    def evaluate(known: Callable[[str], bool]) -> bool:
        def matcher(word: str, /, **_: str | int | bool | None) -> bool:
            return known(word)

        return compiled.evaluate(matcher)

    return evaluate


def prepare(
    contracts: Sequence[str] = (),
    target_name: str | None = None,
    *,
    waivers: Path | None = None,
    keywords: str = "",
    marks: str = "",
    wait: timedelta | None = None,
    ledger: Path | None = None,
    contexts: Depth | None = Depth.BASE,
    shard: Shard | None = None,
    calls: int | None = None,
    roles: Sequence[str] = (),
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Prepared:
    """Find, check, bind, select and plan.

    `waivers` is a file of waivers, besides those of the target file. `wait` is the total time that the run may wait, `ledger` the file that records today's
    calls for real customers, `now` the clock of the plan. `contexts` None is each value where
    customers are created for each trial, and the base context elsewhere. `shard` is the part of the
    plan to run, with its share of the budget or as many `calls` as are given. Of the listed
    customers only `roles` are used, if any are given.

    Raises:
        InputError: a file or an option cannot be used, or nothing is selected.

    """
    select = selector(keywords, marks)
    target = load_target(target_name, waivers)
    target = only_roles(with_share(target, shard, calls), roles)
    if (moment := target.fixtures.now) is not None:
        now = partial(_standing, moment)
    bound = bind(parse_contracts(contracts or target.own_contracts or SHIPPED), target)
    whole = _lasting(plan(bound, target, select), target)
    planned = _waiting(whole, bound, target, select, wait=wait, now=now)
    if not planned.items:
        chosen = " ".join(part for part in (keywords, marks) if part)
        raise InputError.one(
            "selection",
            f"nothing is selected by {chosen!r}" if chosen else "the contracts have no obligations",
            hint="`assay plan` lists all obligations",
        )
    assess = _assessment(target, ledger, now, wait)
    depth = contexts or (Depth.EACH if assess is None else Depth.BASE)
    contextual = None if depth is Depth.BASE else with_contexts(planned, target, depth)
    planned = contextual.plan if contextual else planned
    planned = part_of(planned, shard) if shard else planned
    feasibility = assess(planned) if assess else None
    if feasibility is None:
        planned = _with_values(planned, target, now)
    options = [f"--contract {shlex.quote(name)}" for name in contracts]
    if target_name:
        options.append(f"--target {shlex.quote(target_name)}")
    if waivers is not None:
        options.append(f"--waivers {shlex.quote(str(waivers))}")
    if wait is not None:
        options.append(f"--wait {int(wait.total_seconds())}s")
    if contexts is not None and contexts is not Depth.BASE:
        options.append(f"--contexts {contexts.value}")
    return Prepared(
        target=target,
        bound=bound,
        plan=feasibility.plan if feasibility else planned,
        depth=depth,
        contexts=contextual,
        base_only=_base_only(target) if contexts is None and assess is not None else "",
        reproduce="".join(f" {option}" for option in options),
        feasibility=feasibility,
        roles=tuple(roles),
        assess=assess,
    )


def _lasting(planned: Plan, target: Target) -> Plan:
    """Return a plan in the order that customers need who are there before and after a trial."""
    return without_consents_first(planned) if customers_of(target) is Customers.LISTED else planned


def _standing(moment: datetime) -> datetime:
    """Return the time of a clock that stands still."""
    return moment


def _assessment(
    target: Target, ledger: Path | None, now: Callable[[], datetime], wait: timedelta | None
) -> Callable[[Plan], Feasibility] | None:
    """Return what assesses a plan where customers are real or limits are set.

    Elsewhere every planned trial can run, so there is nothing to assess.
    """
    safety = target.safety
    numbers = target.budget.calls, safety.requests
    limited = any((safety.only, safety.most, safety.total)) or numbers != (None, None)
    if customers_of(target) is Customers.CREATED and not limited:
        return None
    from assay.preparation.feasibility import assess  # noqa: PLC0415 -- not for a bank in this process

    return lambda planned: assess(planned, target, ledger=ledger, now=now(), wait=wait)


def _with_values(planned: Plan, target: Target, now: Callable[[], datetime]) -> Plan:
    """Leave out what needs a value or a token that the target file lacks."""
    operations = (
        (operation, made_slots(operation, each.operations.values(), target.operations))
        for each in planned.contracts.values()
        for operation in each.operations.values()
    )
    # Whether an answer has an output before it is needed, only a probe shows.
    if (
        not target.outputs
        and not any(
            operation.available
            and any(keys_without_value(operation, target.operations.get(operation.id, BARE), made))
            for operation, made in operations
        )
        and not any(without_tpp_token(each, target) for each in planned.contracts.values())
    ):
        return planned
    from assay.preparation.feasibility import without_valueless  # noqa: PLC0415 -- seldom needed

    return without_valueless(planned, target, now=now())


def _base_only(target: Target) -> str:
    """Return why no calls are spent on further contexts unless it is asked for."""
    reasons = {
        Customers.LISTED: "the customers of fixtures.roles are real",
        Customers.CHOSEN: "the customers of fixtures.adapter may be real",
        Customers.NONE: "the target file has no fixture provider",
    }
    return reasons.get(customers_of(target), "the target file limits what a run may do")


def _waiting(
    planned: Plan,
    bound: Sequence[BoundContract],
    target: Target,
    select: Select,
    *,
    wait: timedelta | None,
    now: Callable[[], datetime],
) -> Plan:
    """Plan the time rules that fit into `wait`, where no clock can be moved."""
    from assay.fixtures import waiting  # noqa: PLC0415 -- only for real customers

    if wait is not None:
        waiting.reject_useless_wait(target)
    if not waiting.can_wait(target):
        return planned
    from assay.preparation import cost as estimate  # noqa: PLC0415 -- as above

    timed = _lasting(plan(bound, waiting.with_clock(target), select), target)
    return estimate.with_waits(planned, timed, target, now(), most=wait or waiting.NONE)


# -- Trial order ---------------------------------------------------------------------------------
# Order of the trials of listed customers, whose consents persist between trials.
#
# Trials without a consent come first, so that no earlier one narrows what they read. Those that call
# something before their consent come next, while there are customers who never gave one.
def without_consents_first(plan: Plan) -> Plan:
    """Return a plan whose trials are in this order; those that a person signs stay last."""
    rank = {trial.id: _rank(plan, trial) for trial in plan.trials}

    def position(trial: Trial) -> tuple[bool, int]:
        return plan.person and trial.signed, rank[trial.id]

    return replace(plan, trials=tuple(sorted(plan.trials, key=position)))


def _rank(plan: Plan, trial: Trial) -> int:
    if not trial.consents:
        return 0
    contract = plan.contracts[trial.contract]
    _, script = script_of(plan, trial)
    granted, called_before = set[str](), set[str]()
    for step in dry_run(script, DryTarget(contract=contract)):
        if not isinstance(step, Call):
            continue
        if contract.operations[step.operation].grants:
            granted.add(step.subject)
        elif step.subject not in granted:
            called_before.add(step.subject)
    return 1 if granted & called_before else 2


# -- Targets that are examined before a run ------------------------------------------------------
def is_examined(target: Target, name: str | None) -> bool:
    """Whether a target of this name is examined before a run.

    Shipped target files are not, nor targets that are not called over a network, nor those for
    which a person would have to sign in.
    """
    shown = name is None or name.startswith(("http://", "https://"))
    return not shown and target.transport is TransportKind.HTTP and not _asks_a_person(target)


def _asks_a_person(target: Target) -> bool:
    """Whether the examination would ask a person to sign in, as the run does again."""
    auths = (target.auth, *([target.auth.tpp] if target.auth.tpp else []))
    code = any(auth.kind is AuthKind.CODE for auth in auths)
    return code and target.sca.kind is ScaKind.MANUAL
