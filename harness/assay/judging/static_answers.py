"""Static answers: operations that return the same bytes whatever is asked.

Such a target is a mock, so that nothing conforms by its answers. Only keyed digests of questions
and answers are kept: the parts of a run can be compared, and nothing can be guessed. Nothing here
does I/O.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from assay.history import Call, Exchange, History, Subject
from assay.rules.verdict import Standing, Verdict

#: Different questions that must get the very same bytes before answers are static.
SAME_ANSWERS = 4
#: Two answers are enough to know that something changes.
ENOUGH = 2


def digest_key(secrets: Iterable[str]) -> bytes:
    """Return a key for digests, the same in all runs with the same lasting secrets."""
    return hashlib.sha256(
        "\0".join(["digests", *sorted(secrets)]).encode("utf-8", "replace")
    ).digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersSeen:
    """What a `StaticWatch` has seen, for other parts of a run. `trials` are not compared.

    What is seen in several parts can be put together in any order.
    """

    questions: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, "tuple[str, ...]"])
    bodies: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, "tuple[str, ...]"])
    answers: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, "tuple[str, ...]"])
    refusing: tuple[str, ...] = ()
    trials: int = field(default=0, compare=False)


@dataclass(slots=True, kw_only=True)
class StaticWatch:
    """Detects operations that return the same bytes for questions whose answers must differ.

    One operation shows it after several such questions. Once it is shown, the target is a
    mock, and an operation that accepted every request of the right shape and never varied is
    static as well, also if its answers are empty.

    Answers must differ where they name what was asked about. The same answer may be right for two
    customers at two banks (each trial has a bank of its own), so `making` operations are compared
    within a trial only: two requests with different content have different keys. What is `about` a
    request is asked by the key of it alone, and no matter for whom.

    `key` keys the digests. `part` is the shard of the run, whose trials are its own.
    """

    key: bytes = b""
    part: str = ""
    making: Collection[str] = ()
    about_requests: Collection[str] = ()
    questions: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    bodies: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    answers: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    refusing: set[str] = field(default_factory=set[str])
    trials: int = 0
    _changed: set[str] = field(default_factory=set[str])

    def see(self, history: History) -> None:
        """Take in the exchanges of one trial; only lists with named items in them count."""
        self.trials += 1
        subjects = history.subjects
        made: dict[str, set[str]] = {}
        for exchange in history.exchanges:
            call = exchange.call
            self._note(exchange)
            named = any(item.key is not None for item in exchange.items)
            if not exchange.accepted or not named or call.malformed:
                continue
            if len(self.bodies.get(call.operation, ())) == ENOUGH:
                continue
            self._add(self.bodies, call.operation, self._digest(exchange.wire.body))
            if len(self.questions.get(call.operation, ())) >= SAME_ANSWERS:
                continue
            subject = subjects.get(call.subject)
            asked = _asked(call, subject)
            if call.operation in self.making:
                contents = made.setdefault(call.operation, set())
                contents.add(asked)
                if len(contents) > 1:
                    question = self._digest_of(self.part, self.trials, asked)
                    self._add(self.questions, call.operation, question)
            elif call.operation in self.about_requests:
                self._add(self.questions, call.operation, self._digest_of(asked))
            else:
                owns = [thing.key for thing in subject.owns] if subject else None
                question = self._digest_of(owns, asked, call.follow)
                self._add(self.questions, call.operation, question)

    def _note(self, exchange: Exchange) -> None:
        name, wire = exchange.call.operation, exchange.wire
        if exchange.accepted:
            if len(self.answers.get(name, ())) < ENOUGH:
                self._add(self.answers, name, f"{wire.status} {self._digest(wire.body)}")
        # A mock that validates requests refuses what has the wrong shape, and reads no more.
        elif not (exchange.call.malformed or exchange.call.credentials or name in self.refusing):
            self.refusing.add(name)
            self._changed.add(name)

    def _add(self, known: dict[str, set[str]], name: str, digest: str) -> None:
        digests = known.setdefault(name, set())
        if digest not in digests:
            digests.add(digest)
            self._changed.add(name)

    def _digest_of(self, *values: object) -> str:
        return self._digest(repr(values).encode("utf-8", "surrogatepass"))

    def _digest(self, content: bytes) -> str:
        return hashlib.blake2b(content, digest_size=12, key=self.key).hexdigest()

    def seen(self) -> AnswersSeen:
        """Return what was seen; of what varies, the questions do not matter any more."""
        return self._seen({*self.answers, *self.bodies, *self.refusing})

    def changes(self) -> AnswersSeen:
        """Return what was seen of the operations that showed something new since the last time."""
        changed, self._changed = self._changed, set()
        return self._seen(changed)

    def _seen(self, names: Collection[str]) -> AnswersSeen:
        def digests(of: Mapping[str, set[str]]) -> dict[str, tuple[str, ...]]:
            return {name: tuple(sorted(of[name])) for name in sorted(names) if name in of}

        bodies = digests(self.bodies)
        return AnswersSeen(
            questions={
                name: each
                for name, each in digests(self.questions).items()
                if len(bodies.get(name, ())) == 1
            },
            bodies=bodies,
            answers=digests(self.answers),
            refusing=tuple(sorted(self.refusing.intersection(names))),
            trials=self.trials,
        )

    def take(self, seen: AnswersSeen) -> None:
        """Take in what another part of the run has seen."""
        for known, more in (
            (self.questions, seen.questions),
            (self.bodies, seen.bodies),
            (self.answers, seen.answers),
        ):
            for name, digests in more.items():
                known.setdefault(name, set()).update(digests)
        self.refusing |= set(seen.refusing)
        self.trials = max(self.trials, seen.trials)

    def static(self) -> frozenset[str]:
        """Return the operations that were asked enough and never varied."""
        shown = frozenset(
            operation
            for operation, questions in self.questions.items()
            if len(questions) >= SAME_ANSWERS and len(self.bodies.get(operation, ())) == 1
        )
        if not shown:
            return shown
        return shown | {
            operation
            for operation, answers in self.answers.items()
            if len(answers) == 1 and operation not in self.refusing
        }


def _asked(call: Call, subject: Subject | None) -> str:
    """Return the arguments of a call; a thing with entries is what its entries are.

    Two things with the same entries may have the same answer.
    """
    entries = {owned.key: owned.entries for owned in subject.owns} if subject else {}
    asked = [
        (name, entries.get(value) or value if isinstance(value, str) else value)
        for name, value in sorted(call.arguments.items())
    ]
    return repr(asked)


def discount_static(
    verdicts: Iterable[Verdict], static: frozenset[str], operations: Mapping[int, str]
) -> tuple[Verdict, ...]:
    """Take back that something conforms where that rests on an operation with static answers.

    A violation stands: it was seen, however the answers came about.
    """
    return tuple(_discount_static(verdict, static, operations) for verdict in verdicts)


def _discount_static(
    verdict: Verdict, static: frozenset[str], operations: Mapping[int, str]
) -> Verdict:
    cited = {operations.get(n, "") for evidence in verdict.evidence for n in evidence.exchanges}
    affected = sorted(cited & static)
    if not affected or verdict.standing is not Standing.CONFORMS:
        return verdict
    reason = f"static answers: {', '.join(affected)} returns the same bytes for every request"
    return replace(verdict, standing=Standing.INDETERMINATE, reason=reason)
