"""The dimensions of requests: who makes them, what is in them, and how they are signed."""

from __future__ import annotations

from functools import partial

from assay.contexts import customers, requests
from assay.contexts.context import DimensionValue
from assay.contexts.situation import Situation, Values
from assay.contract.model import Capability
from assay.rules import clauses

#: The name of the second TPP in steps; the fixture provider knows it under this name.
OTHER_TPP = "other"
#: Amounts far below and far above those that target files usually give.
AMOUNTS = {"small": "0.01", "large": "15000.50"}


def modes(at: Situation) -> Values:
    """Yield the modes in which requests are made, but for the plain one."""
    for operation in requests.creating(at.contract).values():
        for mode in clauses.accepted_modes(at.contract, operation.makes or "")[1:]:
            if mode not in at.binding(operation.id).modes:
                yield mode, f"operations.{operation.id}.modes.{mode} in the target file"
                continue
            yield DimensionValue(
                dimension="mode",
                name=mode,
                description=f"for {mode} requests",
                reason=partial(requests.mode_reason, at.contract),
                mapper=partial(requests.InMode, contract=at.contract, mode=mode),
            )


def segments(at: Situation) -> Values:
    """Yield the segments of customers that are served, but for the first."""
    for operation in requests.creating(at.contract).values():
        served = clauses.factors_by_segment(at.contract, operation.makes or "")
        for segment in list(served)[1:]:
            if Capability.SEGMENTS not in at.offered:
                yield segment, "`segments` in `fixtures.offers` in the target file"
                continue
            yield DimensionValue(
                dimension="segment",
                name=segment,
                description=f"for {segment} customers",
                reason=customers.segment_reason,
                mapper=partial(customers.InSegment, segment=segment),
            )


def factors(at: Situation) -> Values:
    """Yield each factor that the contract offers to sign with."""
    for operation in requests.creating(at.contract).values():
        by_segment = clauses.factors_by_segment(at.contract, operation.makes or "")
        every = dict.fromkeys(factor for offered in by_segment.values() for factor in offered)
        for factor in every:
            if Capability.SCA not in at.offered or factor not in at.target.sca.factors:
                yield factor, f"`sca.factors.{factor}` in the target file"
                continue
            yield DimensionValue(
                dimension="factor",
                name=factor,
                description=f"signed with {factor}",
                reason=requests.factor_reason,
                mapper=partial(requests.WithFactor, factor=factor, by_segment=by_segment),
            )


def amounts(at: Situation) -> Values:
    """Yield a small and a large amount, where requests have one."""
    for operation in requests.creating(at.contract).values():
        if operation.amount is None:
            continue
        if operation.amount not in at.binding(operation.id).arguments:
            for name in AMOUNTS:
                where = f"operations.{operation.id}.arguments.{operation.amount}"
                yield name, f"`{where}` in the target file"
            continue
        for name, value in AMOUNTS.items():
            yield DimensionValue(
                dimension="amount",
                name=name,
                description=f"for {name} amounts ({value})",
                reason=partial(requests.argument_reason, at.contract, operation.amount),
                mapper=partial(
                    requests.WithArgument,
                    contract=at.contract,
                    argument=operation.amount,
                    value=value,
                ),
            )


def payees(at: Situation) -> Values:
    """Yield a payee whom the customer has registered, where requests have one."""
    for operation in requests.creating(at.contract).values():
        if operation.payee is None:
            continue
        if Capability.REGISTRATIONS not in at.offered:
            yield "registered", "`registrations` in `fixtures.offers` in the target file"
            continue
        yield DimensionValue(
            dimension="payee",
            name="registered",
            description="to a registered payee",
            reason=partial(requests.registration_reason, at.contract),
            mapper=partial(
                requests.PayeeRegistered, operation=operation.id, argument=operation.payee
            ),
        )


def tpps(at: Situation) -> Values:
    """Yield a second TPP, where calls are made in the name of one."""
    own = frozenset(one.id for one in at.contract.operations.values() if one.by_tpp)
    if not own:
        return
    if Capability.TPPS not in at.offered:
        yield OTHER_TPP, "`tpps` in `fixtures.offers` in the target file"
        return
    yield DimensionValue(
        dimension="tpp",
        name=OTHER_TPP,
        description="by another TPP",
        reason=partial(requests.tpp_reason, own),
        mapper=partial(requests.ByAnotherTpp, operations=own, tpp=OTHER_TPP),
    )
