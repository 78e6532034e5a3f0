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

from assay.binding.pointer import find
from assay.binding.spelling import same
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
        bound = (spelling.value, spelling.other) if spelling else ()
        known = [control.arguments[name], *(own for own in bound if own is not None)]
        if not any(same(value, own) for own in known):
            return False
    return True


def by_checks(
    plan: Plan, contract: Contract, events: Sequence[Event], sent: Sequence[SentCase]
) -> Iterator[SchemaFinding]:
    """Yield every obligation that the contract's checks see violated."""
    history = History(events=tuple(events))
    exchanges = {exchange.n: exchange for exchange in history.exchanges}
    cases = {case.exchange.n: case for case in sent}
    excused = {case.exchange.n for case in sent if case.excused}
    for breach in breaches(plan, contract.id, history, clauses_of(contract)):
        if not excused & set(breach.evidence.exchanges):
            yield _by_breach(breach, cases, exchanges)


def _by_breach(
    breach: Breach, cases: Mapping[int, SentCase], exchanges: Mapping[int, Exchange]
) -> SchemaFinding:
    """Return a violation with the last case that it cites, or the last exchange."""
    evidence = breach.evidence
    cited = [n for n in evidence.exchanges if n in exchanges]
    last = ([n for n in cited if n in cases] or cited)[-1:]
    return SchemaFinding(
        obligation=breach.obligation,
        says=f"expected {evidence.expected}; seen: {evidence.seen}",
        case=next((cases[n].says for n in last if n in cases), BEFORE),
        exchange=next((exchanges[n] for n in last), None),
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
    for case in sent:
        exchange = case.exchange
        if closed_at(contract, exchange.at):
            continue
        for remark in case.remarks:
            failed = remark.check == FAILED and not case.valid
            yield SchemaFinding(
                obligation=_survival(plan, contract, exchange) if failed else "",
                clauses=clauses(document, path, method, exchange.wire.status, remark.at),
                says=remark.says,
                case=case.says,
                exchange=exchange,
            )


def _survival(plan: Plan, contract: Contract, exchange: Exchange) -> str:
    """Return the obligation not to fail at malformed input; "" if no clause has it."""
    planned = plan.asked
    for clause in contract.clauses:
        obligation = f"{contract.id}/{clause.id}/survives-malformed"
        same_operation = clause.params.get("operation") == exchange.call.operation
        if same_operation and obligation in planned:
            return obligation
    return ""


def once(findings: Sequence[SchemaFinding]) -> tuple[SchemaFinding, ...]:
    """Return each obligation once, and of the other remarks those that no obligation covers.

    Of equal remarks the first is kept.
    """
    first: dict[tuple[str, str], SchemaFinding] = {}
    covered = {
        finding.exchange.n for finding in findings if finding.obligation and finding.exchange
    }
    for finding in findings:
        if finding.obligation:
            first.setdefault((finding.obligation, ""), finding)
        elif finding.exchange is None or finding.exchange.n not in covered:
            first.setdefault(("", finding.says), finding)
    return tuple(first.values())


JSON = "application/json"


def clauses(
    document: Mapping[str, Any], path: str, method: str, status: int, at: Sequence[str]
) -> tuple[str, ...]:
    """Return the clauses that put a keyword into the schema of an answer."""
    responses: Mapping[str, Any] = document["paths"][path][method]["responses"]
    keys = (str(status), f"{status // 100}XX", "default")
    response: Mapping[str, Any] = next((responses[key] for key in keys if key in responses), {})
    schema: Any = response.get("content", {}).get(JSON, {}).get("schema", {})
    innermost: tuple[str, ...] = ()
    for node in _path_nodes(document, schema, at):
        innermost = tuple(cast("Sequence[str]", node.get("x-assay-from", ()))) or innermost
    return innermost


def _path_nodes(
    document: Mapping[str, Any], here: Any, at: Sequence[str]
) -> Iterator[Mapping[str, Any]]:
    """Yield every schema on the path to a keyword, references resolved."""
    for step in (*at, ""):
        while isinstance(here, dict) and "$ref" in here:
            yield here
            here = find(document, str(here["$ref"]).removeprefix("#"))
        if isinstance(here, dict):
            yield here
            here = here if step == "$ref" else cast("dict[str, Any]", here).get(step)
        elif isinstance(here, list) and step.isdecimal() and int(step) < len(here):
            here = here[int(step)]
        else:
            return
