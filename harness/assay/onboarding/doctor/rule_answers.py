"""Checks of what the probes of rules show: where the errors of refusals are, and which arguments are read.

A wrong pointer under `error` would look as if the bank's refusals had no errors. A bank may also answer some
refusals in another form, so a pointer is doubted only if it finds nothing in any of them, or in
one that a rule is about. A word that the file does not translate, or translates wrongly, would look
as if the bank gave another reason: what would violate a rule is doubted, except a code that is the
contract's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from assay.binding.model.pointer import MISSING
from assay.binding.model.spelling import ErrorAt
from assay.binding.read.contract_names import ContractNames
from assay.binding.wire.decode import error_elements, shown_error
from assay.contract.model import Contract
from assay.files.document import Pointer, found
from assay.history import ERROR_CODE, ErrorBody, Exchange, History, ShownError
from assay.onboarding.doctor.pointer_probe import members
from assay.onboarding.doctor.probe_plan import arguments_of
from assay.onboarding.doctor.record import Examined, Finding, SeenAnswer, by_key, one_line
from assay.rules.checks import OF_CODE, check_refusals
from assay.rules.kinds.reading.error_body import ALLOWED, ErrorBodyRule
from assay.rules.queries import has_error_field
from assay.rules.refusing_kind import RefusingKind
from assay.rules.verdict import Agreement, Evidence, failed_instead

#: The hint about a code that is not the expected one.
_ASK: Final = "is this the bank's word for it? then say so under error.codes"


def error_pointers(record: Examined) -> Iterator[Finding]:
    """Doubt the keys under `error` with which a refusal seems to lack an error, or to give another."""
    where = record.target.error
    if where is None:
        return
    read = [each for each in record.answers if each.body is not MISSING]
    refusals = [each for each in read if each.error is not None]
    errors = [error for each in refusals for error in _errors(each.error)]
    if refusals and not errors:
        answer = refusals[0]
        what = f"{found(answer.body)} in a refusal ({answer.status}) of {answer.operation.id}"
        yield record.finding(_place(where), "the errors of a refusal", what)
        return
    yield from by_key((*_nowhere(record, errors), *_violating(record)))


def _nowhere(record: Examined, errors: list[ShownError]) -> Iterator[Finding]:
    """Doubt the pointers that find nothing in any error."""
    where = record.target.error
    for name in where.located if where and errors else ():
        if not any(has_error_field(error, name) for error in errors):
            yield _lacking(record, name, f"none in {len(errors)} errors")


def _lacking(record: Examined, name: str, found: str, hint: str = "") -> Finding:
    return record.finding(_key(name), f"the {name} of an error", found, hint)


def _violating(record: Examined) -> Iterator[Finding]:
    """Doubt the keys that may be why a refusal seems to violate a rule."""
    codes = ContractNames(contracts=record.contracts_bound).codes
    for contract, clause, kind in record.rules:
        if isinstance(kind, ErrorBodyRule):
            yield from _form(record, clause, kind)
        elif isinstance(kind, RefusingKind) and kind.codes:
            yield from _codes(record, contract, clause, kind, codes)


def _form(record: Examined, clause: str, kind: ErrorBodyRule) -> Iterator[Finding]:
    """Doubt where a field is, or its words, if an error seems to lack it or to have another value."""
    where = record.target.error or ErrorAt()
    answers = [each for each in record.answers if kind.concerns(each)]
    for name in (each for each in kind.fields if each in where.located):
        for pointer, answer in _left_unread(record, answers, name):
            what = f"none in a refusal ({answer.status}) of {answer.operation.id}"
            yield _lacking(record, name, what, f"is it {pointer}?")
    for answer in answers:
        for evidence in kind.check(History(events=(answer,))):
            name = evidence.facet.removesuffix(ALLOWED)
            disagrees = evidence.agreement is Agreement.DISAGREES
            if disagrees and evidence.facet.endswith(ALLOWED) and _is_translated(where, name):
                yield record.finding(_key(name), evidence.expected, _would(clause, evidence))


def _is_translated(where: ErrorAt, name: str) -> bool:
    """Whether the file translates the values of a field of errors."""
    return bool(where.codes if name == ERROR_CODE else where.fields[name].words)


def _left_unread(
    record: Examined, answers: Sequence[SeenAnswer], name: str
) -> Iterator[tuple[str, SeenAnswer]]:
    """Yield where errors without a field may have it: at its name, or at what only they have."""
    where = record.target.error or ErrorAt()
    seen: dict[str, SeenAnswer] = {}
    named = {*where.code, *(pointer for each in where.fields.values() for pointer in each.at)}
    known: set[str] = set()
    for answer in answers:
        for error in error_elements(answer.body, where):
            scalars = [at for at, value in members(error) if not isinstance(value, dict | list)]
            if has_error_field(shown_error(error, where), name):
                known |= {*scalars}
            else:
                seen |= {at: answer for at in scalars if at not in seen}
    for at, answer in seen.items():
        if at not in named and (at not in known or at.rpartition("/")[2] == name):
            yield at, answer


def _codes(
    record: Examined,
    contract: Contract,
    clause: str,
    kind: RefusingKind,
    codes: frozenset[str],
) -> Iterator[Finding]:
    """Doubt the words for the codes of a rule, if a refusal seems to have another."""
    where = record.target.error or ErrorAt()
    known = where.codes.keys() or codes
    read = {code for each in record.answers for code in _shown(each)} & known
    for facet in kind.facets():
        history = record.history(contract, clause, facet.id)
        evidences = check_refusals(kind, history, kind.check(history)) if history.events else ()
        for evidence in evidences:
            wrong = evidence.agreement is Agreement.DISAGREES and evidence.facet.endswith(OF_CODE)
            decisive = (each for each in history.exchanges if each.n == evidence.decisive)
            shown = {code for each in decisive for code in _shown(each)}
            # A code of the contract that the file does not translate is the bank's own word.
            if wrong and shown - (codes - where.codes.keys()):
                expected = [code for code in kind.codes if code in where.codes][:1]
                place = ("error", "codes", *expected) if read else ("error", ERROR_CODE)
                yield record.finding(place, evidence.expected, _would(clause, evidence), _ASK)


def _shown(exchange: Exchange) -> Iterator[str]:
    """Yield the codes of the errors in a refusal."""
    for error in _errors(exchange.error):
        yield from error.codes


def _would(clause: str, evidence: Evidence) -> str:
    return f"what would violate {clause}: {one_line(evidence.seen)}"


def _key(name: str) -> Pointer:
    """Return the key of a field of errors."""
    return ("error", ERROR_CODE) if name == ERROR_CODE else ("error", "fields", name)


def _place(where: ErrorAt) -> Pointer:
    return ("error", "list") if where.list else ("error", "one") if where.one else ("error",)


def _errors(error: ErrorBody | None) -> tuple[ShownError, ...]:
    return error.errors if error else ()


# -- Check that the bank reads the headers and query parameters that a rule is about ---------------
# A bank serves a call with a parameter that it does not know as if nothing had been sent, and so
# seems to violate what the contract says of the parameter. Whether it does, or whether the file has
# another name for it, only its user can say.


def ignored_arguments(record: Examined) -> Iterator[Finding]:
    """Report each argument that the bank seems to ignore, by the rule about it."""
    yield from by_key(_ignored(record))


def _ignored(record: Examined) -> Iterator[Finding]:
    """Report the arguments with which the bank seems to violate a rule."""
    for contract, clause, kind in record.rules:
        for facet in kind.facets():
            history = record.history(contract, clause, facet.id)
            failed = {each.n for each in history.exchanges if failed_instead(each)}
            # A bank that fails over a value has read it.
            violations = record.violations(contract, clause, kind, facet.id)
            wrong = [each for each in violations if failed.isdisjoint(each.exchanges)]
            used = arguments_of(contract, record.target, kind, facet) if wrong else ()
            for operation, argument, spelling in used:
                place = ("operations", operation, "arguments", argument)
                where = f"the {spelling.place.value} {spelling.name}"
                found = f"an answer that would violate {clause}: {one_line(wrong[0].seen)}"
                hint = f"does the bank read {argument} in {where}?"
                yield record.finding(place, f"{where} to be read", found, hint)
