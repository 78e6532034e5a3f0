"""The doctor's probes of a quick examination: three calls at most, of all contracts together.

A list is read first, then a request is made and shown; where no request can be made, a consent
is transmitted, and one item is asked about. What these calls do not show is not seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from assay.contract.model import Operation
from assay.doctor.probe_plan import ProbePlan
from assay.doctor.probes import READS, REQUESTS, DoctorProbe
from assay.history import Call, Holding
from assay.rules import steps
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.tracker import lifecycle_of_operation
from assay.rules.rule import Script


def quick_probes(plan: ProbePlan, left: int, *, lists_only: bool) -> Iterator[DoctorProbe]:
    """Yield the probes of a contract that make at most `left` calls.

    With `lists_only`, the calls after the list are left to the requests of another contract.
    """
    if plan.lists and left > 0:
        reads = partial(_reads, plan, 1 if lists_only else left)
        yield DoctorProbe(name=READS, start=reads)
        left -= 1
    if plan.makes and left > 0:
        yield DoctorProbe(name=REQUESTS, start=partial(_request, plan, plan.makes, left))


def _reads(plan: ProbePlan, left: int) -> Script:
    """Read one list; where calls are left for it, transmit a consent and ask about an item."""
    owner = plan.owner()
    psu = yield from steps.arrange("psu", *([Holding(resource=owner)] if owner else []))
    yield from steps.send(Call(operation=plan.lists[0].id, subject="psu"))
    about = [each for each in plan.reads if each.available and each.about]
    if not about or not psu.owns:
        return
    if plan.grant and left > 2:  # noqa: PLR2004 -- the list, the consent and the item
        yield from steps.grant(plan.grant, "psu", *(owned.key for owned in psu.owns))
    if left > 1:
        arguments = steps.arguments(about[0], psu.owns[0].key)
        yield from steps.send(Call(operation=about[0].id, subject="psu", arguments=arguments))


def _request(plan: ProbePlan, create: Operation, left: int) -> Script:
    """Make a request, and show it where a call is left for that."""
    lifecycle = lifecycle_of_operation(plan.contract, create)
    psu = yield from request_steps.customer(lifecycle)
    made = yield from steps.send(request_steps.request(lifecycle, psu))
    if left > 1:
        yield from request_steps.read(lifecycle, made)
