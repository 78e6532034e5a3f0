"""Findings of schema cases: violations of the contract, and of the exported document alone.

A contract check names an obligation, and that is what counts. A check may take a call
for valid that holds a value which was never accepted before; the refusal of such a call
is no violation. What only the schema validation sees (a server error, an undocumented
status, another media type, an invalid body) is attributed to a clause where the
document names one. A server error after input that the document forbids is one at a
malformed call, for which there may be an obligation. All else is general.

The document says of a schema which clauses put it there (`x-assay-from`). The innermost
one on the way to the failed keyword counts. Without one the remark is general: an
invalid schema does not prove that any sentence is violated.
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

#: The case of an exchange that comes before all cases.
BEFORE = "the accepted request, or its preparation"


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFinding:
    """A violation: whose clause it is, and the exchange that shows it.

    `obligation` is empty where only the schema validation saw it; `clauses` are those
    that the document names for it; without any it is general. `case` describes what set
    the exchange apart.
    """

    obligation: str = ""
    clauses: tuple[str, ...] = ()
    says: str
    case: str
    exchange: Exchange | None

    @property
    def general(self) -> bool:
        """Whether no clause is known to be violated."""
        return not self.obligation and not self.clauses


@dataclass(frozen=True, slots=True, kw_only=True)
class SentCase:
    """A case that was sent, and the remarks of the schema validation on its answer.

    `valid` says that the document allows it, `vouched` that it holds only values that
    were accepted before or are in the target file.
    """

    says: str
    valid: bool
    vouched: bool
    exchange: Exchange
    remarks: tuple[Remark, ...]

    @property
    def excused(self) -> bool:
        """Whether it was refused, possibly with reason, and disclosed nothing."""
        return self.exchange.refused and not self.exchange.items and not self.vouched


def vouched(call: Call, control: Call, binding: OperationBinding) -> bool:
    """Whether a call holds only values of its control or of the target file."""
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
    """Yield every obligation that the contract's checks see violated."""
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
    """Return a violation with the last case that it cites, or the last exchange."""
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
    """Yield what only the schema validation saw, outside announced maintenance hours."""
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
    """Return the obligation not to fail at malformed input; "" if no clause has it."""
    asked = plan.asked
    operation = sent.exchange.call.operation
    for clause in contract.clauses:
        id_ = f"{contract.id}/{clause.id}/survives-malformed"
        if clause.params.get("operation") == operation and id_ in asked:
            return id_
    return ""


def once(every: Sequence[SchemaFinding]) -> tuple[SchemaFinding, ...]:
    """Return each obligation once, and of the other remarks those that no obligation covers.

    Of equal remarks the first is kept.
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
    """Return the clauses that put a keyword into the schema of an answer."""
    responses: Mapping[str, Any] = document["paths"][path][method]["responses"]
    named = (str(status), f"{status // 100}XX", "default")
    response: Mapping[str, Any] = next((responses[one] for one in named if one in responses), {})
    here: Any = response.get("content", {}).get(JSON, {}).get("schema", {})
    found: tuple[str, ...] = ()
    for node in _way(document, here, at):
        found = tuple(cast("Sequence[str]", node.get("x-assay-from", ()))) or found
    return found


def _way(document: Mapping[str, Any], here: Any, at: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Yield every schema on the way, references resolved."""
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
