"""Dry run of a trial: the probe is run as always, but nothing is sent.

The fixture is the real one where that needs no target, so whatever will stop a probe
stops it here too: a missing customer, a clock, a binding, a safety gate. What the
target would return comes from a dry target (`assay.rules.dry_run`) that grants every
step. The counts are therefore upper bounds for a target that conforms to its contract.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import count
from typing import Any

from assay.binding.model.security import ISSUING, Auth
from assay.binding.model.target import Role, RoleChoice, ScaKind, Target
from assay.binding.wire.encode import Access, HttpRequest
from assay.binding.wire.links import names_links
from assay.contract.model import Json, Operation
from assay.errors import CannotArrange, Shortage
from assay.fixtures.protocol import Fixture, ReadOnlyFixture
from assay.fixtures.providers import (
    Customers,
    MissingFixtures,
    customers_of,
    has_real_customers,
)
from assay.fixtures.roles import UNUSED, RolesFixture, access_of
from assay.fixtures.waiting import Waiting, waiting_of
from assay.history import (
    Accepted,
    Advanced,
    Arrange,
    Authorise,
    Authorised,
    Call,
    Ending,
    Event,
    Exchange,
    Item,
    Renew,
    State,
    Step,
    Subject,
    Submit,
    Submitted,
    Together,
    Wire,
)
from assay.planning.plan import Plan, Trial, script_of
from assay.rules.checks import checked
from assay.rules.dry_run import DryTarget
from assay.rules.rule import Script, facts_of
from assay.rules.steps import perform_all
from assay.running.calls import TrialCalls
from assay.running.environment import Environment
from assay.running.executor import Executor
from assay.running.fixture_events import PartialArrangement
from assay.running.guard import Customer, Guard, absent
from assay.running.trial_state import TrialState
from assay.sca.protocol import AnyReturnAddress, ScreenFlowResult, Signer, Wait
from assay.transport.protocol import Delivery, unanswered

#: How many steps of a probe are performed at most; the dry target might keep it going forever.
MOST = 1_000
#: The dry target's answer: well-formed, and without content.
ANSWER = Wire(
    method="GET",
    url="dry-run:",
    status=200,
    headers=(("content-type", "application/json"),),
    body=b"{}",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialEstimate:
    """What a trial will do. `stopped` says what will stop it; empty if nothing will.

    `observed` are the facets with evidence from before. `batch` are accesses without the customer present, by customer, operation and day; `consents` is
    how often one is transmitted, by the customer's name; `requests` what is written:
    operation and arguments. `customers` are the listed ones that it takes, `uses` how much it uses
    of each, and `items` how often it uses each thing that they own. `written` is what counts for the limits
    on the requests of a run.
    """

    stopped: str = ""
    shortage: Shortage | None = None
    observed: frozenset[str] = frozenset()
    calls: int = 0
    batch: Counter[tuple[Customer, str, date]] = field(
        default_factory=Counter[tuple[Customer, str, date]]
    )
    consents: Counter[str] = field(default_factory=Counter[str])
    requests: tuple[tuple[str, Mapping[str, Json]], ...] = ()
    customers: tuple[str, ...] = ()
    uses: Counter[str] = field(default_factory=Counter[str])
    items: Counter[str] = field(default_factory=Counter[str])
    signatures: int = 0
    waited: timedelta = timedelta(0)
    written: Mapping[str, Decimal] = field(default_factory=dict[str, Decimal])


@dataclass(kw_only=True)
class DryCalls(TrialCalls):
    """Calls that the dry target answers, and what they cost."""

    dry_target: DryTarget
    partly: PartialArrangement = field(default_factory=PartialArrangement)
    batch: Counter[tuple[Customer, str, date]] = field(
        default_factory=Counter[tuple[Customer, str, date]]
    )
    consents: Counter[str] = field(default_factory=Counter[str])
    requests: list[tuple[str, Mapping[str, Json]]] = field(
        default_factory=list[tuple[str, Mapping[str, Json]]]
    )
    uses: Counter[str] = field(default_factory=Counter[str])
    items: Counter[str] = field(default_factory=Counter[str])

    def submitted(self, call: Call, request: HttpRequest, key: str, target: Target) -> Exchange:
        """Check the safety gates, and accept the submission of a request."""
        trial = self.trial
        operation, guard = trial.operations[call.operation], trial.environment.guard
        guard.admit(call, operation, request, lambda: trial.who(call.subject), trial.look, target)
        binding = target.operations[operation.id]
        outcome = Accepted(
            items=(Item(key=key, state=State.DONE),),
            outputs=dict.fromkeys(binding.outputs, ANYTHING),
        )
        wire = replace(ANSWER, url=request.url)
        return Exchange(n=trial.number(), at=trial.look(), call=call, outcome=outcome, wire=wire)

    def exchanged(
        self,
        call: Call,
        request: HttpRequest,
        target: Target | None = None,
        delivery: tuple[Delivery, float] | None = None,
    ) -> Exchange:
        """Check the safety gates, record the cost, and answer as the dry target."""
        trial = self.trial
        operation, guard = trial.operations[call.operation], trial.environment.guard
        guard.admit(call, operation, request, lambda: trial.who(call.subject), trial.look)
        who = trial.who(call.subject)
        if has_real_customers(trial.target) and absent(call, request, trial.target):
            day = guard.use(operation.id, who, trial.look()).day
            self.batch[who, operation.id, day] += 1
            self.uses[who.name] += 1
        if operation.grants:
            self.consents[who.name] += 1
        if operation.writes and not operation.about_consent:
            self.requests.append((operation.id, call.arguments))
        if operation.writes or operation.grants:
            self.uses[who.name] += 1
            self.items.update(trial.used_items(call))
        self.dry_target.now = trial.look()
        event = self.dry_target.reply(call)
        assert isinstance(event, Exchange)  # noqa: S101 -- a call is answered by an exchange
        if self.partly.missing and operation.lists:
            # What can still be judged is seen only in lists of what the customer does own.
            event = replace(event, outcome=Accepted(items=tuple(self._listed(call, operation))))
        binding = trial.target.operations.get(operation.id)
        links = (request.url,) if binding and (binding.link_headers or names_links(binding)) else ()
        wire = replace(ANSWER, url=request.url, links=links)
        event = replace(event, n=trial.number(), wire=wire)
        if binding is not None and binding.outputs and isinstance(event.outcome, Accepted):
            outputs = dict.fromkeys(binding.outputs, ANYTHING)
            event = replace(event, outcome=replace(event.outcome, outputs=outputs))
            self.values.kept.keep(event, binding)
        return event

    def _listed(self, call: Call, operation: Operation) -> Iterator[Item]:
        """Yield an item for each thing that a list may have, of values that say nothing."""
        contract, now = self.dry_target.contract, self.dry_target.now
        facts = facts_of(contract)
        subjects = (event for event in self.trial.events if isinstance(event, Subject))
        owned = [thing for each in subjects if each.name == call.subject for thing in each.owns]
        key = call.arguments.get(operation.about or "")
        for resource in (contract.resources[name] for name in operation.lists):
            fields = dict.fromkeys(resource.fields, ANYTHING)
            for thing in owned:
                if operation.about and thing.key == key and thing.resource == resource.of:
                    yield Item(resource=resource.id, key=f"{key}-{resource.id}", fields=fields)
                elif thing.resource == resource.id and facts.surely_listed(thing, now, now):
                    yield Item(resource=resource.id, key=thing.key, fields=fields)


@dataclass(kw_only=True)
class DryExecutor(Executor):
    """Performs steps against a dry target. `granted` says that the fixtures are fake, too."""

    dry: DryCalls
    granted: bool
    signatures: int = 0

    def event_of(self, step: Step) -> Event:
        """Perform a step with the real fixture, or have the dry target answer it."""
        if isinstance(step, Authorise):
            return self._signed(step)
        if isinstance(step, Together):
            return Advanced(now=self.trial.look())  # the calls are asked for after it
        if isinstance(step, Call | Submit) or not (self.granted or isinstance(step, Renew)):
            event = super().event_of(step)
            if isinstance(event, Subject):
                self._give_fake_secrets(event.name)
            return event
        event = self.dry.dry_target.reply(step)
        if isinstance(event, Subject):
            self.trial.learn(event.name, event, self._fake_access())
        return event

    def _fake_access(self) -> Access:
        """Return the credentials of a fake customer."""
        factors = self.trial.target.sca.factors.values()
        codes = dict.fromkeys(factors, ANYTHING)
        auth = self.trial.target.auth
        further = *auth.further, *auth.of(by_tpp=True).further
        fake = Access(token=ANYTHING, login=ANYTHING, password=ANYTHING, codes=codes)
        return replace(fake, secrets={each.secret: ANYTHING for each in further})

    def _give_fake_secrets(self, subject: str) -> None:
        """Replace the secrets of a listed customer, which need not be set."""
        access, environment = self.trial.access, self.trial.environment
        name = access[subject].id
        for role in environment.target.fixtures.roles:
            if role.name == name:
                faked = access_of(role, _fake_secrets(role))
                access[subject] = replace(faked, token=faked.token or environment.common.token)

    def read_list(self, operation: str, owner: str, by: str = "") -> None:
        """Request a customer's list once; it is taken to have everything that the customer owns."""
        call = self.list_call(operation, owner, by)
        self.keep(self.calls.make(self.calls.ready(call)), owner)
        self.calls.values.ids |= {
            key: key for key, name in self.trial.owners.items() if name == owner
        }

    def _signed(self, step: Authorise) -> Authorised:
        """Check that a signer is available, and have the request signed."""
        trial, signer = self.trial, step.by or step.subject
        trial.environment.guard.check_running()
        trial.signer.sign(step, trial.access.get(signer, Access()), trial.wait)
        if step.pace or step.linger:
            screens = max(len(trial.target.sca.screens), 1)
            trial.wait(step.pace * screens + sum(step.linger, start=timedelta(0)))
        self.signatures += 1
        self.dry.uses[trial.who(signer).name] += 1
        self.dry.items.update(trial.used_items(step))
        event = self.dry.dry_target.reply(step)
        assert isinstance(event, Authorised)  # noqa: S101 -- as above
        return replace(event, n=trial.number(), moments=(trial.look(),))


def _fake_secrets(role: Role) -> Mapping[str, str]:
    """Return a value for every variable that a customer's entry names."""
    mapped = role.code_envs, role.token_envs, role.secret_envs
    named = [name for each in mapped for name in each.values()]
    variables = (role.token_env, role.login_env, role.password_env, *named)
    return {name: ANYTHING for name in variables if name}


def _shared_access(auth: Auth) -> Access:
    """Return the credentials that the target file itself will give, without any secret."""
    given = auth.token_env is not None or auth.kind in ISSUING
    return Access(token=ANYTHING) if given else Access()


def dry_run_trial(
    plan: Plan,
    trial: Trial,
    target: Target,
    now: datetime,
    *,
    waits: bool = False,
    choice: RoleChoice | None = None,
) -> TrialEstimate:
    """Run a trial against a dry target, at this time, and return what it will do.

    `waits` says that a clock which cannot be moved is waited for, `choice` which listed customers
    are taken first.
    """
    contract = plan.contracts[trial.contract]
    clause, script = script_of(plan, trial)
    dry_target = DryTarget(contract=contract, now=now)
    granted = customers_of(target) in {Customers.CREATED, Customers.CHOSEN}
    environment = Environment(
        target=target,
        client=NullTransport(target.base_url),
        fixtures=MissingFixtures(),
        # Budgets are checked where all trials are considered together.
        guard=Guard(target=target, unbounded=True),
        common=_shared_access(target.auth),
        party=_shared_access(target.auth.tpp) if target.auth.tpp else None,
        waiting=_waiting(target, dry_target, waits=waits),
    )
    environment.guard.learn(plan)
    fixture = fixture_of(target, dry_target, choice or trial.choice or UNUSED)
    numbers = count(1)
    state = TrialState(
        environment=environment,
        fixture=fixture,
        signer=signer_of(environment, fixture),
        operations=contract.operations,
        number=lambda: next(numbers),
    )
    calls = DryCalls(trial=state, dry_target=dry_target)
    executor = DryExecutor(calls=calls, dry=calls, granted=granted)
    executor.fixture_events.partly = calls.partly
    stopped = _play(calls.partly.going_on(script), executor)
    history = executor.history
    observed: set[str] = set()
    if stopped:
        with suppress(Exception):  # a check may fail on the answers of a dry target
            observed |= {evidence.facet for evidence in checked(clause.kind, history)}
    return TrialEstimate(
        stopped=stopped,
        observed=frozenset(observed),
        calls=sum(isinstance(event, Exchange | Submitted) for event in history.events),
        batch=calls.batch,
        consents=calls.consents,
        requests=tuple(calls.requests),
        customers=tuple(fixture.taken) if isinstance(fixture, RolesFixture) else (),
        uses=calls.uses,
        items=calls.items,
        signatures=executor.signatures,
        waited=_waited(environment, dry_target.now - now) if waits else timedelta(0),
        written=environment.guard.written,
    )


def _waited(environment: Environment, passed: timedelta) -> timedelta:
    """Return how long a trial waited in the time that passed: brief waits do not count."""
    listed = customers_of(environment.target) is Customers.LISTED
    return environment.waiting.waited if listed and environment.waiting else passed


def _play(script: Script, executor: DryExecutor) -> str:
    """Run a probe to its end; return what stopped it, empty if nothing did."""
    try:
        perform_all(script, executor.perform, MOST)
    except CannotArrange as error:
        return f"needs {error}"
    except Exception:  # noqa: BLE001 -- the probe failed on the answers of a dry target
        return ""
    return ""


# -- Fakes for a dry run: transport, fixtures, signer and ledger ---------------------------------
# Only the fixture of listed customers is the real one, because it contacts nothing.
#: Stands for every secret of a fake customer.
ANYTHING = "-"


@dataclass(slots=True)
class NullTransport:
    """A transport that sends nothing."""

    base_url: str
    reached: bool = False

    def send(self, request: HttpRequest) -> Delivery:
        """Return a delivery without an answer."""
        return unanswered(request, "nothing is sent")

    def control(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[int, Any]:
        """Raise `CannotArrange`: there is no control API."""
        raise CannotArrange("a control API")

    def close(self) -> None:
        """Do nothing."""


@dataclass(slots=True)
class FakeFixture(ReadOnlyFixture):
    """A fixture whose clock moves, and which signs and renews whatever it is asked to."""

    dry_target: DryTarget

    def arrange(self, step: Arrange) -> tuple[Subject, Access]:
        """Raise `CannotArrange`: customers come from the dry target."""
        raise CannotArrange("a fixture provider")

    def clock(self, to: datetime | None) -> datetime:
        """Move the clock, or only read it."""
        self.dry_target.now = to or self.dry_target.now
        return self.dry_target.now

    def tpp(self) -> Access:
        """Return fake credentials of a TPP."""
        return Access(token=ANYTHING)

    def renew(self, access: Access, *, by_tpp: bool) -> Access:
        """Return fake credentials."""
        return Access(token=ANYTHING)

    def sign(self, step: Authorise, access: Access, factor: str) -> bool:
        """Accept the signature."""
        return True

    def close(self) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True)
class FakeSigner(AnyReturnAddress):
    """A signer in place of a person or a browser, which confirms every request."""

    def sign(self, step: Authorise, access: Access, wait: Wait) -> ScreenFlowResult:
        """Confirm the request."""
        return ScreenFlowResult(
            ending=Ending.CONFIRMED, wire=Wire(method="SIGN", url="dry-run:", status=200)
        )


def fixture_of(target: Target, dry_target: DryTarget, choice: RoleChoice) -> Fixture:
    """Return a trial's fixture; `choice` says which listed customers are taken first."""
    match customers_of(target):
        case Customers.LISTED:
            return RolesFixture(
                roles=target.fixtures.roles,
                tpps=target.fixtures.tpps,
                operations=target.operations,
                standing=target.fixtures.now is not None,
                choice=choice,
                environ={tpp.token_env: ANYTHING for tpp in target.fixtures.tpps},
                find_bank=target.group_bank,
                now=lambda: dry_target.now,
            )
        case Customers.CREATED | Customers.CHOSEN:
            return FakeFixture(dry_target)
        case Customers.NONE:
            return MissingFixtures().open()


def _waiting(target: Target, dry_target: DryTarget, *, waits: bool) -> Waiting | None:
    """Return what waits for the clock of real customers, without taking any time."""

    def sleep(seconds: float) -> None:
        dry_target.now += timedelta(seconds=seconds)

    most = timedelta.max if waits and customers_of(target) is Customers.LISTED else None
    waiting = waiting_of(target, most, sleep)
    return replace(waiting, piece=timedelta.max) if waiting else None


def signer_of(environment: Environment, fixture: Fixture) -> Signer:
    """Return the signer: the real one where it needs no person and no browser."""
    if environment.target.sca.kind in {ScaKind.BROWSER, ScaKind.MANUAL}:
        return FakeSigner()
    return environment.signer(fixture)
