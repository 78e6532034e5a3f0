"""Comparable answers: answers to one customer between which nothing can have changed them.

Whatever may change an answer begins a new state: another day, maintenance hours that
passed, a consent, a request or its signature, another bank. Answers of one state must
agree. After a consent to less than before, answers may contain less, but not more.

One pass over a history, whose cost is proportional to its content. Nothing is judged here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import count
from typing import TypeAlias
from zoneinfo import ZoneInfo

from assay.contract.model import Contract, Operation
from assay.history import (
    Accepted,
    Advanced,
    Authorised,
    Call,
    Effects,
    Event,
    Exchange,
    Item,
    Renewed,
    Subject,
    Withdrawn,
)
from assay.rules.consents import Consents, confirmed, consented_keys, lists_keys
from assay.rules.queries import has_value, plain
from assay.rules.rule import facts_of
from assay.rules.state.calendar import dates, within_a_day

#: Entries older than this do not change, even for a customer with activity.
LATELY = timedelta(days=7)
#: Caller, operation, arguments and manner of a question: equal for equal questions.
Question: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of an answer: `marks` are equal if the items are, in any order.

    `given` are the values beside the list. Pages have the same `turn` if only their own
    question was asked between them, and the same `moves` if the clock was not moved.
    """

    n: int
    items: tuple[Item, ...]
    marks: tuple[str, ...]
    given: frozenset[str]
    more: bool
    turn: int
    moves: int


@dataclass(slots=True, kw_only=True)
class ComparedAnswer:
    """The pages of one answer; `whole` once the last page is there.

    `former` is the last answer to the question, of this state or of one whose consent
    covered no less.
    """

    call: Call
    state: int
    former: ComparedAnswer | None
    pages: list[Page] = field(default_factory=list[Page])
    whole: bool = False
    _keys: frozenset[str | None] | None = None

    @property
    def items(self) -> Iterator[Item]:
        """All items of all pages so far."""
        return (item for page in self.pages for item in page.items)

    @property
    def keys(self) -> frozenset[str | None]:
        """The keys of all items of a whole answer; None is there for one without a key."""
        if self._keys is None:
            self._keys = frozenset(item.key for item in self.items)
        return self._keys


@dataclass(slots=True, kw_only=True)
class SeenAnswers:
    """A new page, the `number`th of its answer, to be compared.

    `settled` says that the history shows everything that happened. Items
    dated before `lately` cannot have changed. `today` is the latest possible date.
    """

    answer: ComparedAnswer
    page: Page
    number: int
    settled: bool
    lately: date
    today: date


@dataclass(slots=True, kw_only=True)
class _Customer:
    fresh: bool
    state: int
    era: int = 0
    turn: int = 0
    asked: Question = ()
    answers: dict[Question, ComparedAnswer] = field(default_factory=dict[Question, ComparedAnswer])

    def ask(self, question: Question) -> None:
        """Process a question; one that differs from the last begins another turn."""
        if question != self.asked:
            self.turn += 1
            self.asked = question


@dataclass(slots=True, kw_only=True)
class Answers:
    """All answers at a point of a history that still count.

    `note` advances it. It returns the pages of these operations.
    """

    contract: Contract
    operations: frozenset[str]
    grant: Operation | None
    _consents: Consents = field(init=False)
    _customers: dict[str, _Customer] = field(default_factory=dict[str, _Customer])
    _named: dict[tuple[str, str], list[tuple[Question, ComparedAnswer]]] = field(
        default_factory=dict[tuple[str, str], list[tuple[Question, ComparedAnswer]]]
    )
    _states: count[int] = field(default_factory=count)
    _era: int = 0
    _moves: int = 0
    _span: tuple[object, ...] = ()
    _requested: bool = False
    _made: dict[str, tuple[str, bool]] = field(default_factory=dict[str, tuple[str, bool]])

    def __post_init__(self) -> None:
        self._consents = Consents(grant=self.grant, contract=self.contract)

    @property
    def zone(self) -> ZoneInfo | None:
        """The time zone of the calendar day, if known."""
        return self.contract.zone

    def note(self, event: Event) -> SeenAnswers | None:
        """Process an event; return its page, if that can be compared."""
        match event:
            case Exchange():
                return self._exchange(event)
            case Subject(name=name, now=now, fresh=fresh):
                self._at(now)
                self._consents.note(event)
                new = _Customer(fresh=fresh, state=next(self._states), era=self._era)
                self._customers[name] = new
            case Advanced(now=now):
                self._moves += 1
                self._at(now)
            case Effects(now=now) | Renewed(now=now):
                self._at(now)
            case Authorised(step=step) if step.request in self._made:
                name, mild = self._made[step.request]
                self._signed(event, name, mild=mild)
            case Authorised() | Withdrawn():
                self._request()
            case _:
                self._era += 1
        return None

    def _at(self, instant: datetime) -> None:
        """Process the time: on another day, or after maintenance, nothing is comparable."""
        closures = facts_of(self.contract).closures
        span = (within_a_day(instant, self.zone), *(phase(instant) for phase in closures))
        if span != self._span:
            self._span = span
            self._era += 1

    def _request(self) -> None:
        """Note that a request may be executed at any time from now on."""
        self._requested = True
        self._era += 1

    def _exchange(self, exchange: Exchange) -> SeenAnswers | None:
        self._at(exchange.at)
        call = exchange.call
        operation = self.contract.operations.get(call.operation)
        reads = operation is not None and operation.method == "GET" and not operation.writes
        if not reads and not (operation and (operation.grants or operation.about_consent)):
            self._request()
        customer = self._customers.get(call.subject)
        if customer is None:
            # No fixture reported the customer, so it may have a past.
            customer = _Customer(fresh=False, state=next(self._states), era=self._era)
            self._customers[call.subject] = customer
        if customer.era != self._era:
            self._forget(customer)
        if reads and operation and operation.about_consent:
            self._consents.note(exchange)
        if reads and not (operation and operation.grants):
            return self._read(exchange, customer)
        self._write(exchange, customer)
        return None

    def _forget(self, customer: _Customer) -> None:
        customer.state, customer.era = next(self._states), self._era
        customer.answers = {}

    def _write(self, exchange: Exchange, customer: _Customer) -> None:
        """Process a call that may change answers; only a smaller consent has a limited effect."""
        call, grant = exchange.call, self.grant
        customer.ask(("write", exchange.n))
        consenting = grant is not None and call.operation == grant.id and lists_keys(call, grant)
        granted = consented_keys(call, grant) if grant and consenting else frozenset[str]()
        mild = granted and plain(call) and not call.by and not exchange.refused
        mild = bool(mild) and granted <= self._consents.certain(call.subject)
        self._granted(customer, mild=mild)
        self._consents.note(exchange)
        if grant is not None and grant.makes and exchange.item and exchange.item.key:
            self._made[exchange.item.key] = call.subject, mild

    def _signed(self, event: Authorised, name: str, *, mild: bool) -> None:
        """Process the signature of a consent, which takes effect now."""
        self._consents.note(event)
        if name in self._customers:
            self._granted(self._customers[name], mild=mild and confirmed(event))

    def _granted(self, customer: _Customer, *, mild: bool) -> None:
        """Process a consent; of one that covers no more than before, answers may contain less."""
        if mild:
            customer.state = next(self._states)
        else:
            self._forget(customer)

    def _read(self, exchange: Exchange, customer: _Customer) -> SeenAnswers | None:
        call, outcome = exchange.call, exchange.outcome
        question = _question(call)
        answer = None
        if call.follow is not None:
            waiting = self._named.get((call.subject, call.follow))
            question, answer = waiting.pop() if waiting else (question, None)
        customer.ask(question)
        if not isinstance(outcome, Accepted) or outcome.items is None:
            return None
        if call.operation not in self.operations or call.malformed or call.credentials:
            return None
        if 0 in self._span[1:]:  # disturbances are possible now
            return None
        if call.follow is None:
            answer = self._begin(call, question, customer)
        if answer is None or answer.state != customer.state:
            return None
        page = Page(
            n=exchange.n,
            items=outcome.items,
            marks=tuple(sorted(map(mark, outcome.items))),
            given=frozenset(k for k, v in outcome.values.items() if has_value(v)),
            more=bool(outcome.next),
            turn=customer.turn,
            moves=self._moves,
        )
        answer.pages.append(page)
        answer.whole = not outcome.next
        if outcome.next:
            self._named.setdefault((call.subject, outcome.next), []).append((question, answer))
        days = dates(exchange.at, self.zone)
        return SeenAnswers(
            answer=answer,
            page=page,
            number=len(answer.pages) - 1,
            settled=customer.fresh and not self._requested,
            lately=days[0] - LATELY,
            today=days[-1],
        )

    @staticmethod
    def _begin(call: Call, question: Question, customer: _Customer) -> ComparedAnswer:
        former = customer.answers.get(question)
        if former is not None:
            former.former = None  # otherwise every answer would keep all earlier ones
        answer = ComparedAnswer(call=call, state=customer.state, former=former)
        customer.answers[question] = answer
        return answer


def mark(item: Item) -> str:
    """Return a text that is equal for equal items, as far as is known."""
    return item.digest or known_of(item)


def known_of(item: Item) -> str:
    """Return a text that is equal for items with equal fields of the contract."""
    return repr((item.key, item.on, item.resource, sorted(item.fields.items())))


def _question(call: Call) -> Question:
    """Return the parts of a call that may change its answer."""
    asked = repr(sorted(call.arguments.items()))
    way = call.alias, call.host, call.by, call.present, call.mode, call.without, call.varied
    return call.operation, asked, way, call.malformed, call.credentials, call.follow
