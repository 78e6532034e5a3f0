"""Dry run of a trial: the probe is played as in a run, but nothing is sent.

The fixture is the real one where that needs no target, so whatever will stop a probe
stops it here too: a missing customer, a clock, a binding, a safety gate. What the
target would return comes from a dry target (`assay.rules.dry_run`) that grants every
step. The counts are therefore upper bounds for a target that conforms to its contract.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from itertools import count

from assay.binding.encode import Access, HttpRequest
from assay.binding.target import Budget, OperationBinding, Role, Target
from assay.contract.model import Json
from assay.errors import CannotArrange, Shortage
from assay.estimate.fakes import ANYTHING, NullLedger, NullTransport, fixture_of, signer_of
from assay.execution.environment import Environment
from assay.execution.executor import Executor
from assay.execution.guard import Customer, Guard, absent
from assay.fixtures.providers import (
    Customers,
    MissingFixtures,
    customers_of,
    has_real_customers,
)
from assay.fixtures.roles import access_of
from assay.history import (
    Arrange,
    Authorise,
    Authorised,
    Call,
    Event,
    Exchange,
    History,
    Step,
    Subject,
    Wire,
)
from assay.planning.plan import Plan, Trial, script_of
from assay.rules.dry_run import DryTarget
from assay.rules.rule import Script
from assay.rules.steps import perform_all

#: The most steps played of one probe; the dry target's answers might keep it going
#: forever.
MOST = 1_000
#: The dry target's answer: well-formed, and without content.
ANSWER = Wire(
    method="GET",
    url="nobody:",
    status=200,
    headers=(("content-type", "application/json"),),
    body=b"{}",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialEstimate:
    """What a trial will do. `stopped` says what will stop it; empty if nothing will.

    `tells` are the facets on which something is observed nevertheless. `batch` are
    accesses without the customer present, by customer, operation and day; `consents` is
    how often one is transmitted, by the customer's name; `requests` what is written:
    operation and arguments.
    """

    stopped: str = ""
    shortage: Shortage | None = None
    tells: frozenset[str] = frozenset()
    calls: int = 0
    batch: Counter[tuple[Customer, str, date]] = field(
        default_factory=Counter[tuple[Customer, str, date]]
    )
    consents: Counter[str] = field(default_factory=Counter[str])
    requests: tuple[tuple[str, Mapping[str, Json]], ...] = ()
    signatures: int = 0
    waited: timedelta = timedelta(0)


@dataclass(slots=True, kw_only=True)
class DryExecutor(Executor):
    """Plays a script against a dry target. `granted` says that the fixtures are fake, too."""

    dry_target: DryTarget
    granted: bool
    batch: Counter[tuple[Customer, str, date]] = field(
        default_factory=Counter[tuple[Customer, str, date]]
    )
    consents: Counter[str] = field(default_factory=Counter[str])
    requests: list[tuple[str, Mapping[str, Json]]] = field(
        default_factory=list[tuple[str, Mapping[str, Json]]]
    )
    signatures: int = 0

    def _event(self, step: Step) -> Event:
        if isinstance(step, Authorise):
            return self._signed(step)
        if isinstance(step, Call) or not self.granted:
            return Executor._event(self, step)  # noqa: SLF001 -- it is one itself
        event = self.dry_target.reply(step)
        if isinstance(event, Subject):
            self.access[event.name] = self._anybody()
            self.now = event.now
            self.owners |= dict.fromkeys((one.key for one in event.owns), event.name)
            self.resources |= {one.key: one.resource for one in event.owns}
        return event

    def _anybody(self) -> Access:
        """Return the credentials of a fake customer."""
        factors = self.environment.target.sca.factors.values()
        codes = dict.fromkeys(factors, ANYTHING)
        return Access(token=ANYTHING, login=ANYTHING, password=ANYTHING, codes=codes)

    def _arrange(self, step: Arrange) -> Subject:
        """Arrange with the real fixture; secrets need not be set."""
        subject = Executor._arrange(self, step)  # noqa: SLF001 -- as above
        named = self.access[step.subject].id
        for role in self.environment.target.fixtures.roles:
            if role.name == named:
                self.access[step.subject] = access_of(role, _everything(role))
        return subject

    def _find(self, call: Call, binding: OperationBinding) -> None:
        """Request a customer's list once, where the target uses keys of its own."""
        for name, spelling in binding.arguments.items():
            given = call.arguments.get(name)
            for key in given if isinstance(given, list | tuple) else (given,):
                owner = self.owners.get(str(key))
                if spelling.found is None or owner is None or call.follow is not None:
                    continue
                if str(key) not in self.ids:
                    self.keep(self._call(Call(operation=spelling.found, subject=owner)), owner)
                    self.ids |= {one: one for one, whose in self.owners.items() if whose == owner}

    def exchanged(self, call: Call, request: HttpRequest) -> Exchange:
        """Check the safety gates, record the cost, and answer as the dry target."""
        operation, guard = self.operations[call.operation], self.environment.guard
        guard.admit(call, operation, request, lambda: self.who(call.subject), self.look)
        who = self.who(call.subject)
        if has_real_customers(self.environment.target) and absent(
            call, request, self.environment.target
        ):
            day = guard.use(operation.id, who, self.look()).day
            self.batch[who, operation.id, day] += 1
        if operation.grants:
            self.consents[who.name] += 1
        if operation.writes:
            self.requests.append((operation.id, call.arguments))
        self.dry_target.now = self.look()
        event = self.dry_target.reply(call)
        assert isinstance(event, Exchange)  # noqa: S101 -- a call is answered by an exchange
        return replace(event, n=self.number(), wire=replace(ANSWER, url=request.url))

    def _signed(self, step: Authorise) -> Authorised:
        """Check that a signer is available, and have the request signed."""
        self.environment.guard.going()
        access = self.access.get(step.by or step.subject, Access())
        self.signer.sign(step, access, self.wait)
        if step.pace or step.linger:
            screens = max(len(self.environment.target.sca.screens), 1)
            self.wait(step.pace * screens + sum(step.linger, start=timedelta(0)))
        self.signatures += 1
        event = self.dry_target.reply(step)
        assert isinstance(event, Authorised)  # noqa: S101 -- as above
        return replace(event, n=self.number(), moments=(self.look(),))


def _everything(role: Role) -> Mapping[str, str]:
    """Return a value for every variable that a customer's entry names."""
    named = (role.token_env, role.login_env, role.password_env, *role.code_envs.values())
    return {name: ANYTHING for name in named if name}


def dry_run_trial(
    plan: Plan, trial: Trial, target: Target, now: datetime, *, waits: bool = False
) -> TrialEstimate:
    """Play a trial against a dry target, at this time, and return what it will do.

    `waits` says that a clock which cannot be moved is waited for.
    """
    contract = plan.contracts[trial.contract]
    applied, script = script_of(plan, trial)
    dry_target = DryTarget(contract=contract, now=now)
    granted = customers_of(target) in {Customers.CREATED, Customers.CHOSEN}
    environment = Environment(
        target=target,
        client=NullTransport(target.base_url),
        fixtures=MissingFixtures(),
        # Budgets are checked where all trials are considered together.
        guard=Guard(target=replace(target, budget=Budget()), book=NullLedger()),
    )
    environment.guard.learn(plan)
    fixture = fixture_of(target, dry_target, waits=waits)
    numbers = count(1)
    played = DryExecutor(
        environment=environment,
        fixture=fixture,
        signer=signer_of(environment, fixture),
        operations=contract.operations,
        number=lambda: next(numbers),
        record=lambda _event, _access: None,
        dry_target=dry_target,
        granted=granted,
    )
    stopped = _played(script, played)
    history = History(events=tuple(played.events))
    tells: set[str] = set()
    if stopped:
        with suppress(Exception):  # no check may expect these answers
            tells |= {one.facet for one in applied.kind.check(history)}
    return TrialEstimate(
        stopped=stopped,
        tells=frozenset(tells),
        calls=len(history.exchanges),
        batch=played.batch,
        consents=played.consents,
        requests=tuple(played.requests),
        signatures=played.signatures,
        waited=dry_target.now - now if waits else timedelta(0),
    )


def _played(script: Script, played: DryExecutor) -> str:
    """Play a probe to its end; return what stopped it, empty if nothing did."""
    try:
        perform_all(script, played.perform, MOST)
    except CannotArrange as error:
        return f"needs {error}"
    except Exception:  # noqa: BLE001 -- it stumbled over nobody's answers
        return ""
    return ""
