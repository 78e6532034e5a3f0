"""`decision`: a request is rejected if a condition holds, and accepted otherwise.

The condition combines atoms with all, any and not (`conditions`). A decision table is
derived from it; each row is a facet with a trial of its own, so that rows cannot affect
each other. A row that must be rejected follows its control, which differs from it in one
thing and is executed. A row that must be accepted needs a control only if it is
rejected: the control shows whether this rule is the cause.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property, partial
from typing import TypeAlias

from assay.contract.model import Capability, Json
from assay.history import Exchange, History, Registered, State, Subject
from assay.rules import conditions, parameters
from assay.rules.conditions import Control, ExecutedRequests, RowMatch, Values, control, controls
from assay.rules.conditions import table as conditions_table
from assay.rules.conditions.atoms import Age
from assay.rules.conditions.table import (
    DecidedRequest,
    DecisionRow,
    Point,
    Registrations,
    Table,
    describe_points,
)
from assay.rules.facets import Facts, make_facet
from assay.rules.lifecycle import comparison, request_queries, request_steps, tracker
from assay.rules.lifecycle.executions import GRACE
from assay.rules.lifecycle.parameters import the_request
from assay.rules.lifecycle.request_steps import RequestResult, make_sign_read
from assay.rules.lifecycle.tracker import Instance, InstanceOutcome
from assay.rules.refusing_kind import RefusingKind
from assay.rules.rule import Calls, Facet, Purpose, Scenario, Scope, Script, needs
from assay.rules.steps import Part
from assay.rules.verdict import AGREES, DISAGREES, UNCLEAR, Agreement, Evidence

#: The result if the condition holds, and otherwise.
REJECTED, ACCEPTED = "rejected", "accepted"
#: Why a rejection proves nothing.
NO_CONTROL = "no comparable request was executed"


@dataclass(frozen=True, kw_only=True)
class _Decided:
    """What follows from a condition; facts of other clauses are in it, so not while one is parsed."""

    when: Json
    lifecycle: tracker.Lifecycle

    @cached_property
    def table(self) -> Table:
        """The decision table."""
        return conditions.parse(self.when, self.lifecycle)

    @cached_property
    def controls(self) -> Mapping[str, Control]:
        """The control of each row of the table that has one."""
        every = {row.id: control(self.table, row) for row in self.table.rows}
        return {id_: each for id_, each in every.items() if each is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRule(RefusingKind):
    """A condition on a request, its decision table, and the control of each row."""

    name = "decision"
    scope = Scope(calls=Calls.NAMED)
    purpose = Purpose.LIMIT
    applies_to = ("makes",)

    lifecycle: tracker.Lifecycle = the_request()
    result: str = parameters.choice("rejected", key="result", description="rejected")
    when: Json = parameters.parameter(
        parameters.ref("condition"),
        lambda value, _: value,
        key="when",
        references=conditions.references,
    )
    decided: _Decided = parameters.derived(
        lambda _, known: _Decided(when=known["when"], lifecycle=known["lifecycle"])
    )

    @property
    def table(self) -> Table:
        """The decision table."""
        return self.decided.table

    @property
    def controls(self) -> Mapping[str, Control]:
        """The control of each row that has one."""
        return self.decided.controls

    def unaffected_by(self) -> Mapping[str, str]:
        """Return what the condition itself speaks of: registrations, and their age on a day."""
        if not any("registered" in atom for atom in conditions.atoms_of(self.when)):
            return {}
        why = "what is registered by the day of the request may count"
        modes = {f"mode={mode}": why for mode in self.lifecycle.deferred_modes}
        return {"payee": "the condition itself is about registered values", **modes}

    def unaffected_in(self, scenario: Scenario) -> Mapping[str, str]:
        """Return the same without the later days, where nothing is registered whose age would grow."""
        row, unaffected = self.table.row(scenario.id), self.unaffected_by()
        control = self.controls.get(row.id)
        points = (*row.points, *(control.points if control else ()))
        if any(Capability.REGISTRATIONS in point.needs for point in points):
            return unaffected
        return {name: why for name, why in unaffected.items() if not name.startswith("mode=")}

    def facts(self) -> Facts:
        """Return when the condition can hold, and the values that it names.

        The negation of a truth value is sent itself.
        """
        request = self.lifecycle.request.id
        named = (
            (str(atom["field"]), atom["is"])
            for atom in conditions.atoms_of(self.when)
            if "is" in atom and not isinstance(atom["is"], bool)
        )
        return Facts(
            rejections={request: (partial(conditions.may_hold, self.when),)},
            named_values={request: tuple(named)},
        )

    def facets(self) -> tuple[Facet, ...]:
        """Return one facet for each row, and inapplicable ones for what no row can show."""
        return (
            *(self._facet(row) for row in self.table.rows),
            *(
                make_facet(id_, f"not tested: {why}", id_, _BASE, not_applicable_because=why)
                for id_, why in self.table.hidden.items()
            ),
        )

    def refusing(self) -> Collection[str]:
        """Return the facets that expect a refusal."""
        return [row.id for row in self.table.rows if row.result]

    def accepts_variation(self, scenario: Scenario) -> bool:
        """Return True: the call is accepted; a request is rejected when it is signed."""
        return True

    def probe(self, scenario: Scenario) -> Script:
        """Make a row's request; if the customer lacks the factor for it, try another segment."""
        row = self.table.row(scenario.id)
        for segment in (
            None,
            *dict.fromkeys(segment for point in row.points for segment in point.segments),
        ):
            lacking = yield from self._trial(row, segment)
            if not lacking:
                return

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every request by what was known at its decision, compared with similar ones."""
        tracked, known = tracker.Tracker(lifecycle=self.lifecycle), Registrations()
        values: dict[int, Values] = {}

        def look(request: Instance) -> Values:
            return conditions.look(
                self.table,
                DecidedRequest(lifecycle=self.lifecycle, request=request, registrations=known),
            )

        for event in history.events:
            instance = tracked.note(event)
            if isinstance(event, Registered | Subject):
                known.note(event)
            elif instance is not None and comparison.is_decided_by(event, instance):
                values[id(instance)] = look(instance)
        executed = ExecutedRequests.of(self.table, self.lifecycle, tracked)
        for request in comparison.comparable(tracked):
            result = values[id(request)]
            if self.lifecycle.deferred(request.mode):
                # A later registration may count on the day of the request, or may not.
                readings = zip(result, look(request), strict=True)
                result = tuple(then if then == now else None for then, now in readings)
            bearing = conditions.match(self.table, result)
            yield from self._judge(request, bearing, executed, _remark(values[id(request)]))

    def explain(self) -> str | None:
        """Return the derived table as text."""
        return conditions_table.render(self.table, REJECTED, ACCEPTED)

    def _facet(self, row: DecisionRow) -> Facet:
        control = self.controls.get(row.id) if row.result else None
        points = (*row.points, *(control.points if control else ()))
        requirements = (
            *self.lifecycle.state_requirement(),
            *self.lifecycle.approval_requirement(),
            *(requirement for point in points for requirement in point.requires),
        )
        return Facet(
            id=row.id,
            description=f"{REJECTED if row.result else ACCEPTED}: {describe_points(row.points)}",
            scenario=Scenario(id=row.id),
            needs=(_BASE | self.lifecycle.signing_needs).union(
                *(point.needs for point in points), control.needs if control else ()
            ),
            requires=tuple(dict.fromkeys(requirements)),
        )

    def _trial(self, row: DecisionRow, segment: str | None) -> Part[bool]:
        """Make a row's request and its control; return whether a factor was lacking."""
        lifecycle, control = self.lifecycle, self.controls.get(row.id)
        two = control is not None and control.about_another and row.result
        name = f"psu-{segment}" if segment else "psu"
        psu = yield from request_steps.customer(
            lifecycle,
            name,
            count=2 if two else 1,
            segment=segment,
            unregistered=conditions.registered_arguments(self.when),
        )
        # A control may take time to be executed, and what both prepare is to have its exact age.
        after = any(point.prepared for point in row.points)
        if row.result and control is not None and not after:
            outcome = yield from self._control(control, psu, two=two)
            if outcome.factor_not_offered:
                return True
        variation = control.moved.description if control else describe_points(row.points)
        outcome = yield from self._make(row.points, psu, variation=variation)
        if row.result and control is not None and after and not outcome.factor_not_offered:
            yield from self._control(control, psu, two=two)
        waits = outcome.item is not None and outcome.item.state is State.OPEN
        if waits and outcome.confirmed and not row.result and not self._put_off(outcome.made):
            yield from request_steps.wait_days(psu, GRACE + 1)
            yield from request_steps.read(lifecycle, outcome.made)
        if (outcome.rejected or waits) and not row.result:
            for candidate in controls(self.table, row):
                if candidate.needs:
                    continue
                # Another rule may reject one of the controls, but hardly all.
                if not (yield from self._control(candidate, psu)).rejected:
                    break
        return outcome.factor_not_offered

    def _control(self, control: Control, psu: Subject, *, two: bool = False) -> Part[RequestResult]:
        if control.for_another:
            name = f"{psu.name}-beside"
            psu = yield from request_steps.customer(
                self.lifecycle,
                name,
                segment=psu.segment,
                unregistered=conditions.registered_arguments(self.when),
            )
        return (yield from self._make(control.points, psu, thing=1 if two else 0))

    def _make(
        self, points: Sequence[Point], psu: Subject, thing: int = 0, variation: str = ""
    ) -> Part[RequestResult]:
        """Make, sign and read one request about one of the customer's resources."""
        owned = self.lifecycle.create.owned
        about = {owned: psu.owns[thing].key} if owned else None
        call = request_steps.request(self.lifecycle, psu, arguments=about, variation=variation)
        for point in points:
            call = point.ask(call)
        for point in points:
            call = yield from point.prepare(self.lifecycle, psu, call)
        how = request_steps.SIGN
        for point in points:
            how = point.sign(how)
        return (yield from make_sign_read(self.lifecycle, call, how))

    def _judge(
        self, request: Instance, about: RowMatch, executed: ExecutedRequests, remark: str
    ) -> Iterator[Evidence]:
        if request.outcome in tracker.REJECTED and request_queries.rejected_otherwise(request):
            return
        control = executed.control(request)
        if about.result is None:
            judgement = _undecided(request, control)
        elif request.outcome in tracker.REJECTED:
            judgement = _rejected(request, about.result, executed)
        else:
            judgement = self._not_rejected(request, about.result, executed)
        if judgement is None or not (
            judgement[0] is DISAGREES or about.exact or about.result is None
        ):
            return
        agreement, why = judgement
        seen = "; ".join(filter(None, (request.describe(), remark, why)))
        controls = control.numbers if control else ()
        for row in about.rows:
            yield Evidence(
                facet=row.id,
                agreement=agreement,
                expected=f"{REJECTED if row.result else ACCEPTED}: {describe_points(row.points)}",
                seen=seen,
                exchanges=tuple(sorted({*request.numbers, *controls})),
                variation=request.made.call.variation,
                decisive=request.made.n,
                controls=controls,
            )

    def _not_rejected(
        self, request: Instance, result: bool, executed: ExecutedRequests
    ) -> _Judgement:
        if request.stands:
            return (DISAGREES if result else AGREES), ""
        # A fixture does not tell which consents are in force.
        looked = request.reads or (request.inquired and not self.lifecycle.create.grants)
        if request_queries.signature(request) is None or not looked:
            return None
        if not result and self._waits_in_vain(request) and not _doubt(request, executed):
            return DISAGREES, f"it was signed {GRACE} days before, and not executed"
        waits = self.lifecycle.deferred(request.mode) and request.outcome is InstanceOutcome.OPEN
        return (AGREES if waits and not result else UNCLEAR), ""

    def _put_off(self, made: Exchange) -> bool:
        return self.lifecycle.deferred(made.call.mode)

    def _waits_in_vain(self, request: Instance) -> bool:
        """Whether it was signed as it should be, is open many days later, and waits for no day."""
        signed, seen = request_queries.signature(request), request.seen_at
        if signed is None or seen is None or request_queries.rejected_otherwise(request):
            return False
        long_ago = seen - signed.at >= timedelta(days=GRACE)
        return (
            long_ago and request.outcome is InstanceOutcome.OPEN and not self._put_off(request.made)
        )


_BASE = needs(Capability.PSU, Capability.WRITE)


def _remark(values: Values) -> str:
    """Say what is known of a request's registration, where it is only near the row's."""
    return "; ".join(each.remark for each in values if isinstance(each, Age) and each.remark)


#: The agreement and a remark; None if the request proves nothing.
_Judgement: TypeAlias = tuple[Agreement, str] | None


def _undecided(request: Instance, control: Instance | None) -> _Judgement:
    """Judge a request for which the condition cannot be evaluated."""
    early = request.outcome in tracker.REJECTED and request_queries.signature(request) is None
    if not early or control is None:
        return None
    return UNCLEAR, "it was decided before it was signed"


def _rejected(request: Instance, result: bool, executed: ExecutedRequests) -> _Judgement:
    if request.made.refused and not request_queries.was_refused(request.made):
        return None
    if result:
        good = executed.control(request) is not None and not executed.strange(request)
        return (AGREES, "") if good else (UNCLEAR, NO_CONTROL)
    why = _doubt(request, executed)
    return (UNCLEAR, why) if why else (DISAGREES, "")


def _doubt(request: Instance, executed: ExecutedRequests) -> str:
    """Return why a rejection may have another cause; empty if it cannot."""
    if executed.control(request) is None:
        return NO_CONTROL
    if executed.strange(request):
        return "it has a value that has not been accepted before"
    if executed.repeats(request):
        return "it may be rejected as a repeat"
    return (
        ""
        if request_queries.is_known(request)
        else "it may repeat a request from before this history"
    )
