"""Telling the stories to the target, each in a world of its own, and keeping what it answered.

Every call passes what the calls of a run pass. The pages that a customer is shown are kept
too, as far as they come over the same connection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from assay.binding.encode import Access, HttpRequest
from assay.contract.model import Contract
from assay.doctor.context import DoctorContext
from assay.doctor.finding import Finding, Weight, at, one_line, told
from assay.doctor.probe_plan import ProbePlan
from assay.doctor.probes import doctor_probes
from assay.errors import CannotArrange, InputError, TargetError
from assay.execution.executor import executing
from assay.history import Authorised, Event, Subject, Wire
from assay.rules.rule import Script
from assay.rules.steps import perform_all
from assay.transport.auth.diagnostics import AuthenticationError
from assay.transport.protocol import Delivery, Transport


@dataclass(slots=True, kw_only=True)
class RecordingTransport:
    """A carrier that remembers the last answer."""

    transport: Transport
    base_url: str = field(init=False)
    reached: bool = False
    last: Wire = field(default_factory=lambda: Wire(method="", url=""))

    def __post_init__(self) -> None:
        self.base_url = self.transport.base_url

    def send(self, request: HttpRequest) -> Delivery:
        """Send, and remember what came."""
        sent = self.transport.send(request)
        self.last, self.reached = sent.wire, self.transport.reached
        return sent

    def control(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[int, Any]:
        """Call the control API."""
        return self.transport.control(method, path, body)

    def close(self) -> None:
        """Close the carrier."""
        self.transport.close()


def run_probes(patient: DoctorContext) -> None:
    """Tell every story, and note in the patient what became of it."""
    numbers = count(1)
    for telling in tellings(patient):
        for name, story in doctor_probes(telling).items():
            lack = _tell(patient, telling.contract, name, story(), numbers)
            if lack:
                key = telling.contract.id, *name.split(" ", 1)
                patient.lacks[key] = one_line(patient.redactor.text(lack))


def tellings(patient: DoctorContext) -> Iterator[ProbePlan]:
    """Yield what can be told, one contract after the other."""
    for contract in patient.contracts_bound:
        yield ProbePlan(
            contract=contract,
            target=patient.target,
            whole=patient.whole,
            today=patient.today,
        )


def _tell(
    patient: DoctorContext,
    contract: Contract,
    name: str,
    script: Script,
    numbers: Iterator[int],
) -> str:
    """Tell one story as far as it goes, and return what it lacked to go on."""
    environment = patient.environment
    if environment is None:
        return "no target"
    watching = RecordingTransport(transport=environment.screens or environment.client)

    def record(event: Event, access: Access) -> None:
        if isinstance(event, Subject):
            patient.redactor.learn(event, access)
            patient.played[f"{contract.id} {name} {event.name}"] = access.id or ""
        patient.note(f"{contract.id} {name}", contract, event)
        if isinstance(event, Authorised):
            patient.signed.append((event, watching.last))
        patient.on_call()

    watched = replace(environment, screens=watching)
    try:
        with executing(
            watched, contract.operations, number=lambda: next(numbers), record=record
        ) as play:
            perform_all(script, play.perform)
    except InputError as error:
        patient.problems += error.problems
    except AuthenticationError as error:
        patient.problems.append(error.problem)
    except (CannotArrange, TargetError) as error:
        return str(error)
    finally:
        script.close()
    return ""


def lacking(patient: DoctorContext) -> Iterator[Finding]:
    """Say which stories ended early, and for the want of what."""
    for problem in dict.fromkeys(patient.problems):
        yield told(problem)
    for name, lack in patient.lacks.items():
        for segment in name[2:]:
            expected = f"the bank's word for {segment}"
            yield at(patient.target, ("fixtures", "segments", segment), expected, lack)
        if name[2:]:
            continue
        place = _named(lack)
        weight = Weight.UNSEEN if place[0] == "operations" else Weight.DOUBT
        yield at(patient.target, place, "what it takes to call", f"it needs {lack}", weight=weight)


def _named(lack: str) -> tuple[str, ...]:
    """Return the key of the profile that a reason names, or the world."""
    for word in lack.replace("(", " ").replace(")", " ").split():
        if word.startswith(("operations.", "world.", "sca.", "auth.")):
            return tuple(word.strip(".,:").split("."))
    return ("fixtures",)
