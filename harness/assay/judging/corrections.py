"""Corrections of evidence and verdicts: maintenance, static answers, credentials, waivers.

Evidence against a target is doubtful if it was gathered in announced maintenance hours. A verdict
is taken back if it rests on an operation whose answers never change, or on credentials that the
target never accepted: a refusal for lack of a token looks like one that the contract demands. A
waiver changes the verdict on the obligation that it names. Nothing here does I/O.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from assay.binding.model.features import pointer_to
from assay.binding.model.pointer import MISSING
from assay.binding.model.request_parts import RequestParts
from assay.binding.model.security import shown_token
from assay.binding.model.target import Auth, Target
from assay.binding.wire.decode import body_of
from assay.contract.model import Operation
from assay.history import AnsweredCall, Call, Cause, Exchange, History, Indeterminate, Subject, Wire
from assay.planning.plan import Plan
from assay.rules.facets import Facts
from assay.rules.verdict import DECIDED, Agreement, Evidence, Standing, Verdict
from assay.transport.auth.diagnostics import place, place_of

UNAUTHORIZED, FORBIDDEN = 401, 403
#: Errors with which a target rejects a token (RFC 6750, section 3.1), by status.
TOKEN_ERRORS: Mapping[tuple[int, str], str] = {
    (UNAUTHORIZED, "invalid_token"): "the token is unknown or has expired",
    (FORBIDDEN, "insufficient_scope"): "the scope of the token is too narrow",
}
#: The error of the Bearer scheme, not one among the parameters of another scheme.
_BEARER_ERROR = re.compile(
    r'(?:^|,)\s*bearer\s(?:[^"]|"[^"]*")*?\berror\s*=\s*"?([a-z_]+)', re.IGNORECASE
)


def soften(evidence: Evidence, exchanges: Mapping[int, AnsweredCall], facts: Facts) -> Evidence:
    """Return evidence as unclear where it shows nothing.

    It does not if a varied request differs from its control in more than the variation, nor if
    it disagrees in announced maintenance hours.
    """
    for n in evidence.exchanges:
        if n in exchanges and exchanges[n].confounded:
            seen = f"{evidence.seen}; not judged: {exchanges[n].confounded}"
            return replace(evidence, agreement=Agreement.UNCLEAR, seen=seen)
    if evidence.agreement is not Agreement.DISAGREES:
        return evidence
    instants: list[datetime] = [exchanges[n].at for n in evidence.exchanges if n in exchanges]
    if not any(map(facts.closed_at, instants)):
        return evidence
    seen = f"{evidence.seen}, during the announced maintenance hours"
    return replace(evidence, agreement=Agreement.UNCLEAR, seen=seen)


def located(
    evidence: Evidence, exchanges: Mapping[int, AnsweredCall], target: Target | None
) -> Evidence:
    """Return evidence with the place of its decisive member at a target, instead of the member.

    What agrees rests on no single member. The pointer to a member that is missing leads to where it
    should be. It is empty if the body is no JSON, as in a history read from a journal.
    """
    member, exchange = evidence.member, exchanges.get(evidence.shown_by)
    if member is None:
        return evidence
    pointer = header = ""
    if target is not None and exchange is not None and evidence.agreement is not Agreement.AGREES:
        header = member.name if member.feature == "header" else ""
        body = body_of(exchange.wire)
        if body is not MISSING and not header:
            pointer = pointer_to(member, body, exchange.call.operation, target)
    return replace(evidence, member=None, pointer=pointer, header=header)


# -- support ---------------------------------------------------------------------
def discount_unsupported(verdict: Verdict, support: Verdict | None) -> Verdict:
    """Take back that something is refused if it was not seen that it can be accepted."""
    if verdict.standing is not Standing.CONFORMS or support is None:
        return verdict
    # What does not apply to this bank, another bank of the group would show.
    if support.standing in {Standing.CONFORMS, Standing.NOT_APPLICABLE}:
        return verdict
    reason = f"the refusal proves nothing: {support.obligation} does not conform"
    return replace(verdict, standing=Standing.INDETERMINATE, reason=reason)


# -- credentials -----------------------------------------------------------------
def rejected_token(operation: Operation, wire: Wire, target: Target) -> Indeterminate | None:
    """Return why a target rejected our token, if its response says so; None otherwise."""
    auth = target.auth.of(by_tpp=operation.by_tpp)
    if wire.status not in {UNAUTHORIZED, FORBIDDEN} or not _shows_token(auth, wire):
        return None
    for name, value in wire.headers:
        match = _BEARER_ERROR.search(value[:2048]) if name.lower() == "www-authenticate" else None
        if match and (meaning := TOKEN_ERRORS.get((wire.status, match[1].lower()))):
            scope = wire.status == FORBIDDEN
            where = credentials_place(target, by_tpp=operation.by_tpp, scope=scope)
            error = f"{wire.status} {match[1].lower()}: {meaning}"
            return Indeterminate(cause=Cause.AUTH, why=f"{Cause.AUTH.value} ({error}): {where}")
    return None


def _shows_token(auth: Auth, wire: Wire) -> bool:
    """Whether a request has the token of the target file, and not a customer's own credentials."""
    return shown_token(auth, RequestParts.of(wire)) is not None


def credentials_place(target: Target, *, by_tpp: bool, scope: bool = False) -> str:
    """Return the key and line of the target file that has the credentials of a party."""
    section = place(target, by_tpp=by_tpp)
    auth = target.auth.of(by_tpp=by_tpp)
    if scope and auth.oauth and auth.oauth.scope:
        return place_of(target, *section, "scope")
    if auth.token_env:
        return place_of(target, *section, "token_env")
    return place_of(target, *section)


def tpp_operations(plan: Plan) -> frozenset[str]:
    """Return the operations that TPPs call with credentials of their own."""
    return frozenset(
        operation.id
        for contract in plan.contracts.values()
        for operation in contract.operations.values()
        if operation.by_tpp
    )


def operations_on_requests(plan: Plan) -> tuple[frozenset[str], frozenset[str]]:
    """Return the operations that make requests, and those that are about one."""
    operations = [
        operation
        for contract in plan.contracts.values()
        for operation in contract.operations.values()
    ]
    making = frozenset(operation.id for operation in operations if operation.makes)
    about = frozenset(operation.id for operation in operations if operation.request)
    return making, about - making


def parties(plan: Plan) -> frozenset[bool]:
    """Return who acts in a plan's trials: customers (False), TPPs (True)."""
    contracts = [plan.contracts[name] for name in {trial.contract for trial in plan.trials}]
    return frozenset(
        operation.by_tpp for contract in contracts for operation in contract.operations.values()
    )


@dataclass(slots=True, kw_only=True)
class CredentialWatch:
    """Detects a party whose calls were never accepted, and some refused with a 401.

    A party is the customers (False) or the TPPs (True). `tpp_operations` are those that TPPs call
    with their own credentials; `without_token` are the calls that had not its own token.
    """

    tpp_operations: Collection[str] = ()
    accepted: set[bool] = field(default_factory=set[bool])
    refused: set[bool] = field(default_factory=set[bool])
    without_token: set[int] = field(default_factory=set[int])

    def see(self, exchange: Exchange) -> None:
        """Take in an exchange."""
        if not exchange.call.own_token:
            self.without_token.add(exchange.n)
            return
        party = exchange.call.operation in self.tpp_operations
        if exchange.accepted:
            self.accepted.add(party)
        elif exchange.wire.status == UNAUTHORIZED:
            self.refused.add(party)

    def rejected(self) -> frozenset[bool]:
        """Return the parties whose credentials were never accepted."""
        return frozenset(self.refused - self.accepted)


def discount_rejected(
    verdict: Verdict,
    watch: CredentialWatch,
    operations: Mapping[int, str],
    where: Callable[[bool], str],
) -> Verdict:
    """Take back a verdict that rests on calls with credentials never accepted.

    `where` says which key of the target file has the credentials of a party.
    """
    rejected = watch.rejected()
    if not rejected or verdict.standing not in DECIDED:
        return verdict
    cited = {n for evidence in verdict.evidence for n in evidence.exchanges if n in operations}
    callers = {operations[n] in watch.tpp_operations for n in cited - watch.without_token}
    if not callers & rejected:
        return verdict
    named = where(max(callers & rejected))
    reason = f"the target never accepted the credentials of the target file (401): {named}"
    return replace(verdict, standing=Standing.INDETERMINATE, reason=reason)


# -- static answers --------------------------------------------------------------------
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
    verdict: Verdict, static: frozenset[str], operations: Mapping[int, str]
) -> Verdict:
    """Take back that something conforms where that rests on an operation with static answers.

    A violation stands: it was seen, however the answers came about.
    """
    cited = {operations.get(n, "") for evidence in verdict.evidence for n in evidence.exchanges}
    affected = sorted(cited & static)
    if not affected or verdict.standing is not Standing.CONFORMS:
        return verdict
    reason = f"static answers: {', '.join(affected)} returns the same bytes for every request"
    return replace(verdict, standing=Standing.INDETERMINATE, reason=reason)


# -- all of them -----------------------------------------------------------------------
def corrected(
    verdicts: Iterable[Verdict],
    *,
    answers: StaticWatch,
    watch: CredentialWatch,
    operations: Mapping[int, str],
    where: Callable[[bool], str],
    recorded: Mapping[str, Verdict],
    rests_on: Mapping[str, str],
) -> tuple[Verdict, ...]:
    """Return verdicts without what all that was seen takes back.

    `operations` are those of the exchanges, by number. Of the `recorded` verdicts, `rests_on` names
    the one that each obligation rests on.
    """
    static = answers.static()

    def correct(verdict: Verdict) -> Verdict:
        verdict = discount_static(verdict, static, operations)
        verdict = discount_rejected(verdict, watch, operations, where)
        return discount_unsupported(verdict, recorded.get(rests_on.get(verdict.obligation, "")))

    return tuple(map(correct, verdicts))
