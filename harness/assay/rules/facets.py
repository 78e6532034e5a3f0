"""What a kind hands out: facets, facts, and pieces of schemas.

A facet is a way in which a clause can hold or be broken, with what testing it needs and the
scenario of its trial; how it is probed is for the kind to say. The facts are what a clause says that
matters to other clauses, and to other rooms: a probe that reads whole pages needs the page size of
the clause on pagination. They are put together for a contract once (`rule.facts_of`), so no kind
knows another by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from typing import Any, Final, Self, TypeAlias, TypeVar

from assay.contract.model import Capability, Json, Operation
from assay.history import Call, Exchange, Owned, Subject
from assay.rules.verdict import Standing

#: What a target file can bind at an operation, and what a facet can require of it.
FEATURES: Final = (
    "path",
    "key",
    "list",
    "on",
    "field",
    "state",
    "argument",
    "unlisted",
    "other",
    "mode",
    "next",
    "value",
    "links",
    "approval",
    "aliases",
    "credentials",
    "output",
    "submission",
    "token",
    "token-endpoint",
    "error",
    "banks",
)

#: The name of an `approval` that the facet is about, so that a signer without screens needs it, too.
LINK: Final = "link"
#: Why what takes another bank of the group cannot be tested at a target that names none.
NO_BANKS: Final = "the target file names no other bank of its group (`banks`)"
#: The same for one that needs the address to which the customer returns to be that of the request.
RETURN: Final = "return"


@dataclass(frozen=True, slots=True, kw_only=True)
class BindingRequirement:
    """A feature that the target file must bind before a facet can be tested.

    `feature` is one of `FEATURES`; `name` says which argument, field, mode or value is meant.
    `if_missing` is the verdict where the target does not bind it.
    """

    operation: str
    feature: str
    name: str = ""
    if_missing: Standing = Standing.UNVERIFIED

    def __str__(self) -> str:
        tail = f".{self.name}" if self.name else ""
        return f"operations.{self.operation}.{self.feature}{tail}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """The setting of one trial, named by `id`; a kind may derive a class with further fields."""

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallScenario(Scenario):
    """Calls of one operation."""

    operation: Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """One way in which a clause can hold or be broken; becomes one obligation.

    `description` completes the clause's sentence. `not_applicable_because` gives the reason
    where the facet can neither hold nor be broken. `rests_on` is the facet that shows that a
    bank can accept what is refused here: unless that one conforms, a refusal proves nothing.
    `exercises` are the operations that a bank must have accepted before it can conform: a facet of
    several operations is not shown by one of them.
    """

    id: str
    description: str
    scenario: Scenario
    needs: frozenset[Capability]
    requires: tuple[BindingRequirement, ...] = ()
    not_applicable_because: str = ""
    rests_on: str = ""
    exercises: tuple[str, ...] = ()


def make_facet(
    id_: str,
    description: str,
    scenario: Scenario | str,
    needed: frozenset[Capability],
    requires: tuple[BindingRequirement, ...] = (),
    *,
    not_applicable_because: str = "",
) -> Facet:
    """Return a facet; a scenario of which the probe needs to know nothing more is an id."""
    return Facet(
        id=id_,
        description=description,
        scenario=Scenario(id=scenario) if isinstance(scenario, str) else scenario,
        needs=needed,
        requires=requires,
        not_applicable_because=not_applicable_because,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TppFacet:
    """The obligation of the TPP under a clause; only recordings can show it.

    `needs` and `requires` are what the target file must define before a recording can
    show it.
    """

    id: str
    description: str
    needs: frozenset[Capability] = frozenset()
    requires: tuple[BindingRequirement, ...] = ()


def needs(*capabilities: Capability) -> frozenset[Capability]:
    """Return the capabilities as the set that a facet takes."""
    return frozenset(capabilities)


def bound(
    operation: Operation | None,
    feature: str,
    name: str | Iterable[str | None] = "",
    *,
    if_missing: Standing = Standing.UNVERIFIED,
) -> tuple[BindingRequirement, ...]:
    """Require the target file to bind a feature of an operation, or one for each of some names."""
    if operation is None:
        return ()
    return tuple(
        BindingRequirement(
            operation=operation.id, feature=feature, name=each, if_missing=if_missing
        )
        for each in ((name,) if isinstance(name, str) else filter(None, name))
    )


def call_needs(
    operation: Operation, grant: Operation | None, *more: Capability
) -> frozenset[Capability]:
    """Return what a customer's call of an operation needs: a consent, where it is about a thing."""
    consenting = grant if operation.about and not operation.request else operation
    writing = [Capability.WRITE] if operation.request else []
    return needs(Capability.PSU, *writing, *more) | consent(consenting)


def consent(*operations: Operation | None) -> frozenset[Capability]:
    """Return the need for consents, where one of the operations transmits them."""
    granting = any(operation is not None and operation.grants for operation in operations)
    return needs(Capability.CONSENT) if granting else needs()


# -- what a clause says of the shape of a request or an answer -------------------------------
#: A part of a JSON Schema.
Schema: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSchema:
    """What stands in a field of a listed resource; `mandatory` if the field must be there.

    `clause` is filled in where the pieces of a contract are gathered.
    """

    resource: str
    field: str
    schema: Schema
    mandatory: bool
    clause: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentSchema:
    """What must stand in an argument of an operation; `mandatory` if it must be there."""

    operation: str
    argument: str
    schema: Schema = field(default_factory=dict[str, Any])
    mandatory: bool = False
    clause: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BarredMode:
    """A mode in which an operation must not be called; `word` says why."""

    operation: str
    mode: str
    word: str
    clause: str = ""


SchemaPiece: TypeAlias = FieldSchema | ArgumentSchema | BarredMode


# -- what a clause says that others depend on ------------------------------------------------
_K = TypeVar("_K")
_V = TypeVar("_V")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimit:
    """A number of calls in a period; `attended` if calls with the customer count, too.

    `shared` are the operations whose calls count together; empty if each has its own count.
    A consent that `grant` makes may name a smaller number, in `argument`.
    """

    number: int
    attended: bool
    daily: bool
    shared: frozenset[str] = frozenset()
    argument: str = ""
    grant: str = ""


_Names: TypeAlias = tuple[str, ...]
_Several: TypeAlias = tuple[_Names, ...]
_Jsons: TypeAlias = tuple[Json, ...]
_Lists: TypeAlias = tuple[_Jsons, ...]
_Values: TypeAlias = tuple[tuple[str, Json], ...]
_Offered: TypeAlias = Mapping[str, _Names]
_Times: TypeAlias = Mapping[str, timedelta]
_Limits: TypeAlias = tuple[CallLimit, ...]
_Pair: TypeAlias = tuple[str, str]
_OfCall: TypeAlias = tuple[Callable[[Call], bool], ...]
_OfCustomer: TypeAlias = tuple[Callable[[Call, Subject | None], bool], ...]
_OfArguments: TypeAlias = tuple[Callable[[Mapping[str, Json]], bool], ...]
_OfExpected: TypeAlias = tuple[Callable[[Json], str], ...]
_OfValue: TypeAlias = tuple[Callable[[Json, datetime], bool], ...]
_OfThing: TypeAlias = tuple[Callable[[Owned, datetime], bool], ...]


# -- how those of several clauses are put together --------------------------------------
def _by_key(
    parts: Iterable[Mapping[_K, _V]], together: Callable[[Sequence[_V]], _V]
) -> Mapping[_K, _V]:
    """Put together what several clauses say under each key."""
    said: dict[_K, list[_V]] = {}
    for part in parts:
        for key, value in part.items():
            said.setdefault(key, []).append(value)
    return {key: together(values) for key, values in said.items()}


def _first(values: Sequence[_V]) -> _V:
    return values[0]


def _last(values: Sequence[_V]) -> _V:
    return values[-1]


def _all(values: Iterable[tuple[_V, ...]]) -> tuple[_V, ...]:
    return tuple(chain.from_iterable(values))


def _distinct(values: Iterable[tuple[_V, ...]]) -> tuple[_V, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(values)))


def _union(values: Iterable[frozenset[_V]]) -> frozenset[_V]:
    return frozenset(chain.from_iterable(values))


#: The key under which a field of `Facts` says how what several clauses say is put together.
_TOGETHER: Final = "together"


def _said(together: Callable[..., object], *, default: Callable[[], object] = tuple) -> Any:
    """Declare a fact, and how what several clauses say of it is put together."""
    return field(default_factory=default, metadata={_TOGETHER: together})


def _keyed(together: Callable[..., object], keys: int = 1) -> Any:
    """Declare facts under a key, or under two, one in the other."""
    merge: Any = together
    for _ in range(keys):
        merge = partial(_by_key, together=merge)
    return _said(merge, default=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What one clause, or all clauses of a contract, say that others depend on."""

    # -- by the id of an operation ---------------------------------------------------
    #: How many items a full page has.
    page_sizes: Mapping[str, int] = _keyed(_first)
    #: How many days back an operation answers.
    history_days: Mapping[str, int] = _keyed(_first)
    #: How many calls are allowed in a period.
    call_limits: Mapping[str, _Limits] = _keyed(_all)
    #: The arguments that only identify a call.
    call_ids: Mapping[str, _Names] = _keyed(_all)
    #: Whether a call is to be refused for a header or a query parameter.
    bars: Mapping[str, _OfCall] = _keyed(_all)
    #: The values that an operation discloses with a consent only.
    disclosures: Mapping[str, _Names] = _keyed(_all)
    #: The operation that is the control for another.
    controls: Mapping[str, str] = _keyed(_first)
    #: The operations whose calls must not have the customer's credentials.
    without_credentials: frozenset[str] = _said(_union, default=frozenset)
    #: When an operation shows a field that only some of its answers have; by both.
    conditional_fields: Mapping[_Pair, str] = _keyed(_last)
    #: What an argument of an ordinary call must be, if a value breaks the clause; by both. With such
    #: a value in the target file every call would break it, whatever the bank does.
    expected: Mapping[_Pair, _OfExpected] = _keyed(_all)

    # -- by the name of a request ----------------------------------------------------
    #: The factors with which customers of each segment sign.
    factors_by_segment: Mapping[str, _Offered] = _keyed(_all, keys=2)
    #: How long a customer may take to sign, by what is measured: the shortest time.
    signing_limits: Mapping[str, _Times] = _keyed(min, keys=2)
    #: Whether a bank is allowed to accept a call that makes a request.
    admissions: Mapping[str, _OfCustomer] = _keyed(_all)
    #: Whether a request may be rejected because of the value of an argument.
    rejections: Mapping[str, _OfArguments] = _keyed(_all)
    #: The arguments with the values with which a request is expected to have another outcome.
    named_values: Mapping[str, _Values] = _keyed(_all)
    #: The modes in which a request is accepted, if offered.
    accepted_modes: Mapping[str, _Names] = _keyed(_distinct)
    #: The modes in which a request can be changed, for each clause that restricts them.
    changeable_modes: Mapping[str, _Several] = _keyed(_all)
    #: The arguments that can be changed.
    changeable_fields: Mapping[str, _Names] = _keyed(_all)
    #: The requests that are rejected where they repeat an earlier one.
    unrepeatable: frozenset[str] = _said(_union, default=frozenset)

    # -- by the name of an argument --------------------------------------------------
    #: The only value of an argument of a request, for each clause that states one.
    fixed_values: Mapping[str, _Jsons] = _keyed(_all)
    #: Whether a bank may keep another value than the one that was sent.
    alterations: Mapping[str, _OfValue] = _keyed(_all)

    # -- by the name of a resource, and that of a field or trait of it ------------------
    #: The values that a field may have, for each clause that lists them.
    allowed_values: Mapping[_Pair, _Lists] = _keyed(_all)
    #: The fields with an IBAN.
    iban_fields: frozenset[_Pair] = _said(_union, default=frozenset)
    #: Whether an owned thing with a trait is known to be listed.
    listed: Mapping[_Pair, _OfThing] = _keyed(_all)

    # -- of the whole interface ------------------------------------------------------
    #: Return -1, 0 or 1 before, during or after the announced closure of a week; None if unknown.
    closures: tuple[Callable[[datetime], int | None], ...] = _said(_all)
    #: Whether the error in a refusal must have a code.
    coded_refusals: tuple[Callable[[Exchange], bool], ...] = _said(_all)
    #: All factors that are named.
    factors: tuple[str, ...] = _said(_distinct)
    #: All segments of customers that are named.
    segments: tuple[str, ...] = _said(_distinct)

    @classmethod
    def together(cls, parts: Sequence[Facts]) -> Self:
        """Return the facts of several clauses as one value."""
        merged = {
            each.name: each.metadata[_TOGETHER]([getattr(part, each.name) for part in parts])
            for each in fields(cls)
        }
        return cls(**merged)

    # -- what follows from several facts, or from a function --------------------------
    def surely_listed(self, thing: Owned, at: datetime, said: datetime) -> bool:
        """Whether every trait of an owned thing is known to allow listing it.

        `said` is when its customer was known to own it. A thing whose date the fixtures do not say is
        listed that day; how long it stays so is not known.
        """
        for trait, value in thing.traits.items():
            judges = self.listed.get((thing.resource, trait), ())
            if (value and not judges) or not all(listed(thing, at) for listed in judges):
                return False
        dated = (trait for resource, trait in self.listed if resource == thing.resource)
        return at.date() == said.date() or all(thing.traits.get(trait) for trait in dated)

    def allows(self, thing: Owned, trait: str, at: datetime) -> bool:
        """Whether a trait of an owned thing is known to allow listing it."""
        judges = self.listed.get((thing.resource, trait), ())
        return bool(judges) and all(listed(thing, at) for listed in judges)

    def closed_at(self, instant: datetime) -> bool:
        """Whether the interface is announced to be closed at an instant."""
        return any(phase(instant) == 0 for phase in self.closures)

    def admits(self, request: str, call: Call, subject: Subject | None) -> bool:
        """Whether every clause allows a bank to accept a call that makes a request."""
        return all(admits(call, subject) for admits in self.admissions.get(request, ()))

    def may_reject(self, request: str, arguments: Mapping[str, Json]) -> bool:
        """Whether a clause may reject a request because of the value of an argument."""
        return any(may_reject(arguments) for may_reject in self.rejections.get(request, ()))

    def is_barred(self, call: Call) -> bool:
        """Whether a clause has a call refused for a header or a query parameter."""
        return any(bars(call) for bars in self.bars.get(call.operation, ()))

    def without_call_ids(self, exchange: Exchange) -> Exchange:
        """Return an exchange without the arguments that only identify its call.

        One that the call leaves out, or that has a bad value, does more than that: it is kept.
        """
        call = exchange.call
        ids = frozenset(self.call_ids.get(call.operation, ()))
        if missing := ids.intersection(call.without):
            kept: dict[str, Json] = {**call.arguments, **dict.fromkeys(missing)}
            return replace(exchange, call=replace(call, arguments=kept))
        if ids.isdisjoint(call.arguments) or self.is_barred(call):
            return exchange
        rest = {name: value for name, value in call.arguments.items() if name not in ids}
        return replace(exchange, call=replace(call, arguments=rest))

    def limit(self, operation: str, *, attended: bool) -> int | None:
        """Return how many calls of an operation are allowed in a period, None for any number."""
        limits = self.call_limits.get(operation, ())
        return min((each.number for each in limits if each.attended is attended), default=None)

    def limits(self, *, attended: bool) -> Mapping[str, int]:
        """Return how many calls are allowed in a period, by operation.

        They are those where calls with the customer count, too, or else those where they do not.
        """
        limits = {name: self.limit(name, attended=attended) for name in self.call_limits}
        return {name: limit for name, limit in limits.items() if limit is not None}

    def counted_together(self, operation: str) -> frozenset[str]:
        """Return the operations whose calls may count for the same limit as those of an operation."""
        shared = (limit.shared for limit in self.call_limits.get(operation, ()))
        return frozenset({operation}).union(*shared)


#: The facts of a clause that says nothing on which others depend.
NOTHING: Final = Facts()
