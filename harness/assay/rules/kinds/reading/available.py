"""`available`: an operation answers under each of its names, and withstands malformed calls.

Of two like reads at one moment, each is answered like one just before.
A refused valid call is a violation, and so is a server failure, also on a malformed call and
on one that must be refused (about something unknown, another customer's or without consent).
Where the history does not show that a call is valid, its refusal is none. A server failure is one all
the same if the call is a trial's own and has no variation but the customer's absence: of a later
page, in any mode, for any days. Recorded traffic does not show what was meant to be valid.
A refused change is none: which are accepted, and when, is for other clauses to say. Most documents
leave open how a malformed *read* is answered, so only a body that cannot be parsed must be refused.

A bank of the group that the `outside` statement excludes must refuse the call of its own customer.
The control is the same call at this bank, before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from assay.contract.model import Capability, Operation
from assay.errors import CannotArrange
from assay.history import Call, Exchange, History, Holding, Lack, Lacking, Malformed, Subject
from assay.rules import parameters, steps
from assay.rules.consents import Consents, consented_keys, names_each_once
from assay.rules.controls import refused_beside
from assay.rules.facets import make_facet
from assay.rules.lifecycle import request_steps, tracker
from assay.rules.lifecycle.validity import PastRequests, beyond_usual_amounts, is_valid
from assay.rules.queries import (
    answered_questions,
    at_own_bank,
    bare,
    ordinary,
    perhaps_exhausted,
    question,
    target_failed,
)
from assay.rules.rule import (
    BindingRequirement,
    Calls,
    Facet,
    Kind,
    Purpose,
    Scenario,
    Scope,
    Script,
    bound,
    consent,
    facts_of,
    needs,
)
from assay.rules.state.alias_comparison import ALIASES_AGREE, AT_ONCE, NamedAnswers
from assay.rules.verdict import (
    AGREES,
    DISAGREES,
    UNAUTHENTICATED,
    UNCLEAR,
    Evidence,
    Standing,
    describe_answer,
    failed_instead,
    must_be_refused,
)

READS = (
    Malformed.BAD_IDENTIFIER,
    Malformed.LONG_IDENTIFIER,
    Malformed.CONTROL_IDENTIFIER,
    Malformed.JUNK_QUERY,
)
BODIES = (
    Malformed.NOT_JSON,
    Malformed.TRUNCATED,
    Malformed.WRONG_TYPES,
    Malformed.EMPTY,
    Malformed.DEEP,
    Malformed.SCALAR,
    Malformed.HUGE,
)
#: The facet and the scenario of calls that must be refused.
UNSERVED = "survives-unserved"
#: The facet and the scenario of a bank that the document excludes.
OUTSIDE = "refused-outside"
#: The dimensions in which calls are made one by one, and not also at one moment.
_MET_ONE_BY_ONE = (
    *("item", "page", "owned", "order", "since", "name", "host", "tpp", "weekday", "season"),
    *("token", "past", "turn", "bank"),
)
#: Bodies that are unreadable under any contract.
UNREADABLE = frozenset({Malformed.NOT_JSON, Malformed.TRUNCATED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Available(Kind):
    """An operation that must answer, and the consent and resources needed to call it."""

    name = "available"
    scope = Scope(calls=Calls.NAMED)
    purpose = Purpose.PROMISE
    bare_calls = True
    of_each_bank = True
    across_banks = True

    operation: Operation = parameters.operation()
    grant: Operation | None = parameters.grant()
    outside: str | None = parameters.statement(key="outside")
    owners: tuple[str, ...] = parameters.derived(
        lambda contract, known: steps.owners(contract, known["operation"])
    )

    @property
    def lifecycle(self) -> tracker.Lifecycle | None:
        """The lifecycle of the request that the operation is about, if any."""
        if not self.operation.request:
            return None
        return tracker.lifecycle_of_operation(self.contract, self.operation)

    def facets(self) -> tuple[Facet, ...]:
        """Return one facet for answering, one for the aliases, one or two for malformed calls."""
        psu = needs(Capability.PSU) | consent(self.grant, self.operation)
        if self.operation.request:
            psu |= needs(Capability.WRITE)
        malformed = "a malformed call does not cause a server error"
        unserved = "a call for data that must not be served does not cause a server error"
        same = "every name of the operation returns the same data"
        refused = "a body that is not JSON is refused"
        named = bound(self.operation, "aliases", if_missing=Standing.NOT_APPLICABLE)
        aliased = self.operation.aliases and self.operation.lists
        outside = bound(
            self.operation, "banks", (self.outside,), if_missing=Standing.NOT_APPLICABLE
        )
        excluded = "a bank of the group that the document excludes refuses the call"
        two, identifier = psu | needs(Capability.TWO_PSU), self._identifier()
        unreadable = UNREADABLE & set(bends(self))
        alike = "of two like calls at one moment, each is answered like one just before"
        once = psu | needs(Capability.TOGETHER)
        rows = (
            (True, "answers", "a valid call is answered", "answers", psu, ()),
            (aliased, ALIASES_AGREE, same, "aliases", psu, named),
            (self._reads, AT_ONCE, alike, AT_ONCE, once, ()),
            (True, "survives-malformed", malformed, "malformed", psu, identifier),
            (self._names_what_is_served, UNSERVED, unserved, UNSERVED, two, identifier),
            (unreadable, "refuses-malformed", refused, "malformed", psu, ()),
            (self.outside, OUTSIDE, excluded, OUTSIDE, psu | needs(Capability.BANKS), outside),
        )
        return tuple(
            make_facet(id_, description, scenario, needed, requires)
            for there, id_, description, scenario, needed, requires in rows
            if there
        )

    def unaffected_by(self) -> Mapping[str, str]:
        """Return the customer's absence, which quotas limit, and the mode of a new request."""
        presence = {"presence": "a call without the customer may be refused for its number"}
        modes = {"mode": "which modes are accepted is for other clauses"}
        return presence | modes if self.operation.makes else presence

    def unaffected_in(self, scenario: Scenario) -> Mapping[str, str]:
        """Return the same; at one moment, nothing matters that the other scenarios ask one by one."""
        why = "what matters at one moment is that calls meet"
        met = dict.fromkeys(_MET_ONE_BY_ONE, why) if scenario.id == AT_ONCE else {}
        return {**self.unaffected_by(), **met}

    def probe(self, scenario: Scenario) -> Script:
        """Make a valid call; then one under each alias, or malformed ones; and a last valid one."""
        if self.lifecycle is not None:
            yield from self._about_request(self.lifecycle, malformed=scenario.id == "malformed")
            return
        now = yield from steps.clock()
        entries = steps.days_before(now.date(), 1, 2, 3)
        holdings = [Holding(resource=owner, entries=entries) for owner in self.owners]
        psu = yield from steps.arrange("psu", *holdings)
        if scenario.id == UNSERVED:
            yield from self._unserved(psu, holdings[0])
            return
        keys = [owned.key for owned in psu.owns]
        yield from steps.grant(self.grant, "psu", *keys)
        keys = keys if scenario.id == "aliases" else keys[:1]
        used = [steps.arguments(self.operation, key) for key in keys]
        name = self.operation.id
        calls = [Call(operation=name, subject="psu", arguments=given) for given in used]
        if scenario.id == "malformed":
            yield from self._bent(calls[0])
            return
        if scenario.id == OUTSIDE:
            yield from self._at_excluded_bank(calls[0])
            return
        for call in calls:
            yield from steps.send(call)
            if scenario.id == AT_ONCE:
                yield from steps.send_together(call, call)
                yield from steps.send(call)
            if scenario.id == "aliases":
                yield from self._by_other_names(call)
                # What changes by itself differs here, too.
                yield from steps.send(call)

    def _by_other_names(self, call: Call) -> Script:
        """Make a call under each other name; a target may have fewer than the contract."""
        for alias, path in enumerate(self.operation.aliases):
            try:
                yield from steps.send(
                    replace(call, alias=alias, variation=f"by its other name {path}")
                )
            except CannotArrange as missing:
                if "aliases" not in missing.key:
                    raise
                return

    def _about_request(self, lifecycle: tracker.Lifecycle, *, malformed: bool) -> Script:
        """Make a call about a request; read one that does not say what it is about, if it is taken."""
        psu, call = yield from request_steps.prepare_call(self.contract, self.operation)
        if call is not None:
            yield from (self._bent(call) if malformed else steps.send(call))
        if self.operation.shows and lifecycle.create.owned and not malformed:
            name = lifecycle.create.owned
            plain = request_steps.request(lifecycle, psu)
            given = {key: value for key, value in plain.arguments.items() if key != name}
            missing = replace(plain, arguments=given, variation=f"{name} is missing")
            made = yield from steps.send(missing)
            if made.accepted:
                call = request_steps.call_about(self.operation, made)
                yield from request_steps.send_if_any(call)

    def _at_excluded_bank(self, call: Call) -> Script:
        """Make a call here, and for another customer at a bank that the document excludes."""
        yield from steps.send(call)
        yield Lack(bank=self.outside or "")
        there = yield from steps.arrange("there", *(Holding(resource=each) for each in self.owners))
        given = steps.arguments(self.operation, there.owns[0].key)
        excluded = "at a bank that the document excludes"
        yield from steps.send(replace(call, subject="there", arguments=given, variation=excluded))

    def _outside(self, history: History) -> Iterator[Evidence]:
        """Judge the calls at an excluded bank, beside those that this bank accepted before."""
        there, controls = False, list[int]()
        for event in history.events:
            if isinstance(event, Lacking):
                there = event.bank == self.outside
            if not isinstance(event, Exchange) or event.call.operation != self.operation.id:
                continue
            if there and ordinary(event.call):
                why = "the document excludes this bank"
                yield from refused_beside(OUTSIDE, event, why, controls, failure_open=True)
            elif event.accepted:
                controls.append(event.n)

    @property
    def _reads(self) -> bool:
        """Whether a call changes nothing, so that the next one is answered alike."""
        return bool(self.operation.lists) and not (self.operation.grants or self.operation.request)

    @property
    def _names_what_is_served(self) -> bool:
        """Whether a well-formed call can name what is not to be served."""
        named = self.operation.about or self.operation.grants
        return bool(named) and not self.operation.request

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge the answers to valid calls, to aliases and to malformed calls."""
        if any(each.call.operation == self.operation.id for each in history.exchanges):
            yield from self._judged(history)

    def _judged(self, history: History) -> Iterator[Evidence]:
        if self.outside:
            yield from self._outside(history)
        history = at_own_bank(history)
        if not (self.operation.changes or self.operation.ends):  # when these are valid, depends
            yield from self._failures(history)
        if self.lifecycle is not None:
            yield from self._requests(self.lifecycle, history)
        else:
            yield from self._answers(history)

    def _answers(self, history: History) -> Iterator[Evidence]:
        """Judge calls that are about no request."""
        subjects = history.subjects
        consents = Consents.of(self.contract, self.grant, history)
        controlled: set[str] = set()
        named = NamedAnswers(zone=self.contract.zone)
        exhausted = perhaps_exhausted(self.contract, self.operation.id, history)
        for exchange in history.exchanges:
            call = exchange.call
            if consents.note(exchange):
                named.clear()
            if call.operation != self.operation.id or not call.present:
                continue
            if call.malformed:
                if call.subject in controlled:
                    yield from self._judge_bent(exchange, call.malformed)
            elif not bare(call, self.operation):
                continue
            elif named.compares(exchange):
                yield from named.other(exchange)
            else:
                twin = call.subject in controlled and self._names_what_is_served
                controlled |= {call.subject} if exchange.accepted else set()
                yield from named.main(exchange) if call.alias is None else ()
                subject = subjects.get(call.subject)
                sound = self._certainly_served(exchange, subject, consents)
                sound = sound and exchange.n not in exhausted
                yield from _plain(exchange, sound=sound, controlled=twin)

    def _failures(self, history: History) -> Iterator[Evidence]:
        """Yield that the target fails on a call of a trial that is no variation of another.

        Without the customer, the control is the same question with the customer there.
        """
        if not any(
            each.call.operation == self.operation.id and failed_instead(each)
            for each in history.exchanges
        ):
            return
        subjects, answered = history.subjects, answered_questions(history)
        consents = Consents.of(self.contract, self.grant, history)
        made: set[tuple[str, str]] = set()
        for exchange in history.exchanges:
            call = exchange.call
            consents.note(exchange)
            if self.lifecycle and call.operation == self.lifecycle.create.id and exchange.item:
                made.add((call.subject, str(exchange.item.key)))
            if call.operation != self.operation.id or not failed_instead(exchange):
                continue
            if self.lifecycle is None:
                named = call.follow is not None or self._certainly_served(
                    exchange, subjects.get(call.subject), consents
                )
            else:
                about = str(call.arguments.get(self.operation.about or ""))
                named = not self.operation.about or (call.subject, about) in made
            own = call.own_token and not (call.malformed or call.consent)
            absent = not call.present and question(call) in answered
            each = not self.operation.grants or names_each_once(call, self.operation)
            own = own and named and call.subject in subjects
            if own and each and (absent or not call.variation):
                yield _answers(exchange)

    def _identifier(self) -> tuple[BindingRequirement, ...]:
        return bound(self.operation, "argument", (self.operation.about,))

    def _unserved(self, psu: Subject, holding: Holding) -> Script:
        """Ask about a thing that does not exist, about another customer's, and without a consent."""
        first = psu.owns[0].key
        unknown = first[:-1] + ("1" if first.endswith("0") else "0")
        other = yield from steps.arrange("other", holding)
        yield from steps.grant(self.grant, "psu", first)
        call = steps.ask(self.operation, "psu", first)
        yield from steps.send(call)
        used = [
            (unknown, "something that does not exist"),
            (other.owns[0].key, "another customer's"),
        ]
        if len(psu.owns) > 1 and not self.operation.grants:
            used.append((psu.owns[1].key, "something without a consent"))
        for key, what in used:
            about = steps.arguments(self.operation, key)
            yield from steps.send(replace(call, arguments=about, variation=f"about {what}"))

    def _bent(self, call: Call) -> Script:
        yield from steps.send(call)
        for bend in bends(self):
            yield from steps.send(replace(call, malformed=bend, variation=bend.value))
        yield from steps.send(call)

    def _requests(self, lifecycle: tracker.Lifecycle, history: History) -> Iterator[Evidence]:
        """Judge valid calls about requests, and malformed ones after an accepted one."""
        operation = self.operation
        past = PastRequests(lifecycle=lifecycle, tracker=tracker.Tracker(lifecycle=lifecycle))
        controlled: set[str] = set()
        declined: Exchange | None = None
        for event in history.events:
            if isinstance(event, Exchange) and event.call.operation == operation.id:
                call = event.call
                if call.malformed:
                    if call.subject in controlled:
                        yield from self._judge_bent(event, call.malformed)
                elif ordinary(call):
                    controlled |= {call.subject} if event.accepted else set()
                    valid = event.accepted or is_valid(operation, event, past)
                    if valid and operation.changes and event.refused:
                        declined = declined or event
                    elif valid and not (event.refused and beyond_usual_amounts(event, past)):
                        yield _answers(event)
            past.note(event)
        if declined is not None and not controlled:
            yield replace(_answers(declined), agreement=UNCLEAR)

    def _certainly_served(
        self, exchange: Exchange, subject: Subject | None, consents: Consents
    ) -> bool:
        """Whether the history shows a call to be one that must be served.

        Its resource must belong to the customer, be listed, be covered by a consent, and be one that
        the operation can be about. A consent must name each thing once, in a list.
        """
        call, operation = exchange.call, self.operation
        if not operation.about and not operation.grants:
            return True
        if operation.grants:
            named = consented_keys(call, operation)
            if not names_each_once(call, operation):
                return False
        else:
            named = frozenset({str(call.arguments.get(operation.about or ""))})
        if self.grant and not named <= consents.certain(call.subject):
            return False
        if subject is None:
            return self.grant is not None
        facts, owned = facts_of(self.contract), [subject.owned(key) for key in named]
        return bool(owned) and all(
            thing is not None
            and thing.resource in self.owners
            and facts.surely_listed(thing, exchange.at, subject.now)
            for thing in owned
        )

    def _judge_bent(self, exchange: Exchange, bend: Malformed) -> Iterator[Evidence]:
        yield _survives("survives-malformed", exchange)
        if bend in UNREADABLE & set(bends(self)):
            yield must_be_refused("refuses-malformed", exchange, "the body cannot be read")


def bends(clause: Available) -> tuple[Malformed, ...]:
    """Return the malformations that apply to this operation."""
    if clause.operation.method in {"PUT", "POST", "PATCH"}:
        return BODIES
    days = (
        (clause.operation.since, Malformed.BAD_SINCE),
        (clause.operation.until, Malformed.BAD_UNTIL),
    )
    reads = READS if clause.operation.about else (Malformed.JUNK_QUERY,)
    return (*reads, *(bend for name, bend in days if name))


def _plain(exchange: Exchange, *, sound: bool, controlled: bool) -> Iterator[Evidence]:
    """Judge a well-formed call, by whether it is to be served."""
    if not sound and controlled:
        yield _survives(UNSERVED, exchange)
    if sound or (exchange.accepted and exchange.items):
        yield _answers(exchange)


def _answers(exchange: Exchange) -> Evidence:
    known = exchange.wire.status != UNAUTHENTICATED
    broken = (exchange.refused and known) or target_failed(exchange)
    return Evidence(
        facet="answers",
        agreement=AGREES if exchange.accepted else DISAGREES if broken else UNCLEAR,
        expected="an answer to a valid call",
        seen=describe_answer(exchange)
        + ("" if known else "; check the credentials in the target file"),
        exchanges=(exchange.n,),
    )


def _survives(facet: str, exchange: Exchange) -> Evidence:
    sound = exchange.accepted or exchange.refused
    return Evidence(
        facet=facet,
        agreement=AGREES if sound else DISAGREES if target_failed(exchange) else UNCLEAR,
        expected="an answer or a refusal, not a server error",
        seen=describe_answer(exchange),
        exchanges=(exchange.n,),
        variation=exchange.call.variation,
    )
