"""The operations of a contract around one kind of request, and what a request is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.contract.model import Capability, Contract, Json, Operation, Resource
from assay.history import Exchange
from assay.rules import clauses, steps
from assay.rules.rule import BindingRequirement, needs


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifecycle:
    """The operations of a contract around one kind of request, and what it is about.

    `owner` is the resource of the customer that `create.owned` names.
    """

    request: Resource
    create: Operation
    read: Operation | None
    change: Operation | None
    end: Operation | None
    owner: str
    contract: Contract

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations that the contract has."""
        parts = (self.create, self.read, self.change, self.end)
        return tuple(operation for operation in parts if operation is not None)

    @property
    def mode(self) -> str | None:
        """The mode of a plain request: the first that the contract names."""
        return self.create.modes[0] if self.create.modes and not self.create.grants else None

    @property
    def open_mode(self) -> str | None:
        """A mode in which a request is not executed at once, so that none repeats it: the plain one.

        Where nobody signs, it is a deferred one, if there is any.
        """
        return self.mode if self.signed else next(iter(self.deferred_modes), self.mode)

    @property
    def changeable_mode(self) -> str | None:
        """A mode in which requests can be changed, or the plain one where no clause names any."""
        only = clauses.changeable_modes(self.contract, self.request.id)
        return next((modes[0] for modes in (*only, self.deferred_modes) if modes), self.mode)

    @property
    def changeable_arguments(self) -> tuple[str, ...]:
        """The arguments of a plain change: one argument, which is not the day.

        It is one that a clause calls changeable, if a clause names any: another may only identify
        the call, as a header does.
        """
        day = self.change.due.argument if self.change and self.change.due else None
        day = day or (self.create.due.argument if self.create.due else None)
        named = self.change.arguments if self.change else ()
        fields = clauses.changeable_fields(self.contract, self.request.id) or {*named}
        return tuple(name for name in named if name != day and name in fields)[:1]

    def new_values(self, change: Exchange) -> Mapping[str, Json]:
        """Return what a change asks for: the request's arguments in it that no call id is."""
        sent = clauses.without_call_ids(self.contract, change).call.arguments
        return {name: value for name, value in sent.items() if name in self.create.arguments}

    @property
    def deferred_modes(self) -> tuple[str, ...]:
        """The modes whose requests are executed on a later day."""
        return self.create.due.modes if self.create.due else ()

    @property
    def signed(self) -> bool:
        """Whether a customer signs a request before it is executed."""
        return self.create.signed

    @property
    def signing_needs(self) -> frozenset[Capability]:
        """What it takes to sign a request: nothing where the call that makes it is enough."""
        return needs(Capability.SCA) if self.signed else needs()

    def deferred(self, mode: str | None) -> bool:
        """Whether a request of this mode is executed on a later day."""
        return mode in self.deferred_modes

    def state_requirement(self) -> tuple[BindingRequirement, ...]:
        """Require the target file to bind a request's state."""
        return (BindingRequirement(operation=self.read.id, feature="state"),) if self.read else ()

    def open_mode_requirement(self) -> tuple[BindingRequirement, ...]:
        """Require the target file to bind the mode in which requests stay open, if not the plain one."""
        mode = self.open_mode
        if mode is None or mode == self.mode:
            return ()
        return (BindingRequirement(operation=self.create.id, feature="mode", name=mode),)

    def approval_requirement(self) -> tuple[BindingRequirement, ...]:
        """Require the target file to bind what it takes to sign a request, if it is signed."""
        if not self.signed:
            return ()
        approval = BindingRequirement(operation=self.create.id, feature="approval")
        return (approval, self.key_requirement())

    def key_requirement(self) -> BindingRequirement:
        """Require the target file to bind the key of a request that was made."""
        return BindingRequirement(operation=self.create.id, feature="key")


def lifecycle_of_request(contract: Contract, request: str) -> Lifecycle:
    """Return the lifecycle of a request in a contract."""
    offered = [each for each in contract.operations.values() if each.available]

    def does(what: str) -> Operation | None:
        return next((each for each in offered if getattr(each, what) == request), None)

    create = does("makes")
    if create is None:
        raise TypeError(f"nothing makes {request}")
    roots = steps.roots(contract)
    return Lifecycle(
        request=contract.resources[request],
        create=create,
        read=does("shows"),
        change=does("changes"),
        end=does("ends"),
        owner=roots[0].id if roots else "",
        contract=contract,
    )


def lifecycle_of_operation(contract: Contract, operation: Operation) -> Lifecycle:
    """Return the lifecycle of the request that an operation makes, shows, changes or ends."""
    return lifecycle_of_request(contract, operation.request or "")
