"""What is broken in a story of cases: by the contract's checks, and by the document alone.

A check of the contract names an obligation, and that is what counts. It may take a call
for valid that holds a value which nobody vouches for, since no probe ever sends one: so
the refusal of such a call convicts nobody. What only the judge of schemas sees (a server's
failure, an undocumented status, another media type, a body against its schema) is a clause's
where the document says whose. A failure at what the document forbids is a failure at a
malformed call, for which there may be an obligation. All else is general.

Whose clause it is that an answer breaks, where the judge of schemas alone sees it.

The document says of a schema which clauses put it there (`x-assay-from`). The innermost
one on the way to the keyword that does not hold is meant; without one, the remark is
general, and no clause is named for it: that a schema is broken is no proof that a
sentence is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from assay.binding.decode import same
from assay.binding.target import OperationBinding
from assay.contract.model import Contract
from assay.fuzzing.schema.generator import FAILED, Remark
from assay.history import Call, Event, Exchange, History
from assay.judging.judge import Breach, breaches
from assay.planning.plan import Plan
from assay.rules.clauses import clauses_of, closed_at

#: What is said of what is no case, but comes before all of them.
BEFORE = "the known-good request, or what comes before it"


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFinding:
    """Something that is broken: whose clause it is, and by which exchange it is shown.

    `obligation` is empty where only the judge of schemas saw it; `clauses` are those that
    the document names for it, and where there are none it is general. `case` says in
    words what set the exchange apart.
    """

    obligation: str = ""
    clauses: tuple[str, ...] = ()
    says: str
    case: str
    exchange: Exchange | None

    @property
    def general(self) -> bool:
        """Whether no clause is known to be broken by it."""
        return not self.obligation and not self.clauses


@dataclass(frozen=True, slots=True, kw_only=True)
class SentCase:
    """A case that was sent, and what is wrong with its answer by the document alone.

    `valid` says that the document allows it, `vouched` that there is nothing in it but what was accepted before, or what the
    profile has there.
    """

    says: str
    valid: bool
    vouched: bool
    exchange: Exchange
    remarks: tuple[Remark, ...]

    @property
    def excused(self) -> bool:
        """Whether it was refused, shows nothing all the same, and may have been with reason."""
        return self.exchange.refused and not self.exchange.items and not self.vouched


def vouched(call: Call, control: Call, binding: OperationBinding) -> bool:
    """Whether a call holds only what its control has, or what the profile has instead."""
    if call.arguments.keys() != control.arguments.keys() or call.mode != control.mode:
        return False
    for name, value in call.arguments.items():
        spelling = binding.arguments.get(name)
        has = (spelling.value, spelling.other) if spelling else ()
        known = [control.arguments[name], *(one for one in has if one is not None)]
        if not any(same(value, one) for one in known):
            return False
    return True


def by_checks(
    plan: Plan, contract: Contract, events: Sequence[Event], sent: Sequence[SentCase]
) -> Iterator[SchemaFinding]:
    """Yield every obligation that the checks of a contract see broken."""
    history = History(events=tuple(events))
    known = {one.n: one for one in history.exchanges}
    cases = {one.exchange.n: one for one in sent}
    doubtful = {one.exchange.n for one in sent if one.excused}
    for one in breaches(plan, contract.id, history, clauses_of(contract)):
        if not doubtful & set(one.evidence.exchanges):
            yield _broken(one, cases, known)


def _broken(
    breach: Breach, cases: Mapping[int, SentCase], known: Mapping[int, Exchange]
) -> SchemaFinding:
    """Return a breach with the last of the cases that it cites, or the last exchange."""
    evidence = breach.evidence
    every = [n for n in evidence.exchanges if n in known]
    last = ([n for n in every if n in cases] or every)[-1:]
    return SchemaFinding(
        obligation=breach.obligation,
        says=f"expected {evidence.expected}; seen: {evidence.seen}",
        case=next((cases[n].says for n in last if n in cases), BEFORE),
        exchange=next((known[n] for n in last), None),
    )


def by_document(
    document: Mapping[str, Any],
    path: str,
    method: str,
    *,
    plan: Plan,
    contract: Contract,
    sent: Sequence[SentCase],
) -> Iterator[SchemaFinding]:
    """Yield what the judge of schemas alone saw, outside of announced maintenance hours."""
    for one in sent:
        if closed_at(contract, one.exchange.at):
            continue
        for remark in one.remarks:
            status = one.exchange.wire.status
            survival = "" if one.valid or remark.check != FAILED else _survival(plan, contract, one)
            yield SchemaFinding(
                obligation=survival,
                clauses=clauses(document, path, method, status, remark.at),
                says=remark.says,
                case=one.says,
                exchange=one.exchange,
            )


def _survival(plan: Plan, contract: Contract, sent: SentCase) -> str:
    """Return the obligation not to fail at what is malformed; "" where nobody has it."""
    asked = plan.asked
    operation = sent.exchange.call.operation
    for clause in contract.clauses:
        id_ = f"{contract.id}/{clause.id}/survives-malformed"
        if clause.params.get("operation") == operation and id_ in asked:
            return id_
    return ""


def once(every: Sequence[SchemaFinding]) -> tuple[SchemaFinding, ...]:
    """Return each obligation once, and of the rest what no obligation's evidence shows.

    Of remarks that say the same the first is kept.
    """
    first: dict[tuple[str, str], SchemaFinding] = {}
    shown = {one.exchange.n for one in every if one.obligation and one.exchange}
    for one in every:
        if one.obligation:
            first.setdefault((one.obligation, ""), one)
        elif one.exchange is None or one.exchange.n not in shown:
            first.setdefault(("", one.says), one)
    return tuple(first.values())


JSON = "application/json"


def clauses(
    document: Mapping[str, Any], path: str, method: str, status: int, at: Sequence[str]
) -> tuple[str, ...]:
    """Return the clauses that put a keyword into the schema of an answer, if any did."""
    responses: Mapping[str, Any] = document["paths"][path][method]["responses"]
    named = (str(status), f"{status // 100}XX", "default")
    response: Mapping[str, Any] = next((responses[one] for one in named if one in responses), {})
    here: Any = response.get("content", {}).get(JSON, {}).get("schema", {})
    found: tuple[str, ...] = ()
    for node in _way(document, here, at):
        found = tuple(cast("Sequence[str]", node.get("x-assay-from", ()))) or found
    return found


def _way(document: Mapping[str, Any], here: Any, at: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Yield every schema on the way, references followed."""
    for step in (*at, ""):
        while isinstance(here, dict) and "$ref" in here:
            yield here
            here = _referred(document, str(here["$ref"]))
        if isinstance(here, dict):
            yield here
            here = here if step == "$ref" else cast("dict[str, Any]", here).get(step)
        elif isinstance(here, list) and step.isdecimal() and int(step) < len(here):
            here = here[int(step)]
        else:
            return


def _referred(document: Mapping[str, Any], reference: str) -> Any:
    here: Any = document
    for step in reference.removeprefix("#/").split("/"):
        here = here.get(step.replace("~1", "/").replace("~0", "~"), {})
    return here
