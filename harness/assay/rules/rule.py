"""The base class of rule kinds, and the values that a kind hands out.

A rule kind is one frozen dataclass in one file of `rules.kinds`. Its fields are the
parameters of a clause, declared with the functions of `rules.parameters`. Its methods say which
facets there are, how each is probed, and how any history is judged.

A probe is a generator that yields steps and receives replies. A check is a pure function of a history.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

from assay.contract.model import Clause, Contract, Json, Operation
from assay.history import Authorise, Call, History, Owned, Reply, Step, Subject
from assay.rules.call_limit import CallLimit
from assay.rules.consequences import Purpose
from assay.rules.facets import (
    FEATURES,
    LINK,
    RETURN,
    BindingRequirement,
    Facet,
    Scenario,
    TppFacet,
    consent,
    needs,
    scenario_of,
)
from assay.rules.parameter_declaration import Parameter, Raw, Reference, kind_schema, one_of_several
from assay.rules.parameters import the_contract
from assay.rules.scope import Scope
from assay.rules.verdict import Evidence

if TYPE_CHECKING:
    from assay.files.document import Finding, Pointer
    from assay.rules.schema_pieces import SchemaPiece

__all__ = [
    "FEATURES",
    "LINK",
    "RETURN",
    "BindingRequirement",
    "Facet",
    "Kind",
    "Scenario",
    "Script",
    "TppFacet",
    "consent",
    "needs",
    "scenario_of",
]

#: A running probe: it yields steps, and receives replies.
Script: TypeAlias = Generator[Step, Reply, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A rule kind; an instance is one clause with its parsed parameters.

    A subclass sets `name`, declares parameters as fields, defines `facets`, `probe` and `check`.
    """

    #: The word after `kind:` in a contract.
    name: ClassVar[str]
    #: What clauses of the kind are for: it says what a new or a removed one means for each party.
    purpose: ClassVar[Purpose] = Purpose.UNSTATED
    #: Parameters of which a clause must have at least one.
    at_least_one_of: ClassVar[tuple[str, ...]] = ()
    #: Parameters of which a clause must have exactly one.
    exactly_one_of: ClassVar[tuple[str, ...]] = ()
    #: Parameters of which a clause can have one.
    at_most_one_of: ClassVar[tuple[str, ...]] = ()
    #: Whether a clause holds for every available operation, not only for those that it names.
    whole_interface: ClassVar[bool] = False
    #: Parameters that set a limit, which OpenAPI documents list; None where there is none.
    limits: ClassVar[tuple[str, ...] | None] = None
    #: What operations on a request that a clause applies to do (makes, shows, ...); empty: any.
    applies_to: ClassVar[tuple[str, ...]] = ()
    #: Whether violations also count that the check finds in the trials of other clauses.
    ambient: ClassVar[bool] = False
    #: Whether it blames not that a call was refused, but how, or what happened in spite of that.
    accepts_refusals: ClassVar[bool] = False
    #: Whether the check judges no call with an optional argument: it need not be served.
    bare_calls: ClassVar[bool] = False
    #: Whether probes make the consents that they need, because they also call without one.
    own_consents: ClassVar[bool] = False
    #: The part of a history that can make a difference to the check.
    scope: ClassVar[Scope] = Scope()

    contract: Contract = the_contract()  # noqa: RUF009 -- declares a parameter

    @classmethod
    def declared(cls) -> Mapping[str, Parameter]:
        """Return the declared parameters by the name of their field."""
        return {
            each.name: each.metadata["parameter"]
            for each in fields(cls)
            if "parameter" in each.metadata
        }

    @classmethod
    def schema(cls) -> Mapping[str, Json]:
        """Return the JSON Schema of a clause of this kind."""
        parameters = list(cls.declared().values())
        return kind_schema(cls.name, parameters, cls.at_least_one_of, cls.exactly_one_of)

    @classmethod
    def references(cls, at: Pointer, clause: Raw, contract: Raw) -> Iterator[Finding]:
        """Find the names in a clause that refer to nothing; `contract` is the whole file."""
        yield from one_of_several(at, clause, cls.at_most_one_of)
        for parameter in cls.declared().values():
            check: Reference | None = parameter.references
            if check is not None and parameter.key in clause:
                yield from check((*at, parameter.key), clause[parameter.key], clause, contract)

    @classmethod
    def parse(cls, clause: Clause, contract: Contract) -> Self:
        """Make an instance of a clause that has the right shape."""
        values: dict[str, Any] = {}
        for field_name, parameter in cls.declared().items():
            values[field_name] = parameter.read(clause, contract, values)
        return cls(**values)

    def facets(self) -> Sequence[Facet]:
        """Return the ways in which the clause can hold or be broken."""
        raise NotImplementedError

    def probe(self, scenario: Scenario) -> Script:
        """Yield the steps that show the facets of a scenario."""
        raise NotImplementedError

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge any history; yield the evidence of each exchange for a facet."""
        raise NotImplementedError

    def accepts_variation(self, scenario: Scenario) -> bool:
        """Whether a bank that conforms accepts the calls of a scenario that have a variation."""
        return False

    def price(self, scenario: Scenario, submitted: frozenset[str] = frozenset()) -> int:
        """Return how many calls and signatures a dry run takes; the TPP submits requests of `submitted`."""
        from assay.rules import consent_probes, dry_run  # noqa: PLC0415 -- they ask kinds for page sizes

        accepts = self.accepts_variation(scenario)
        dry_target = dry_run.ConformingTarget(
            contract=self.contract, accepts_variation=accepts, submitted=submitted
        )
        played = dry_run.play(consent_probes.probe_of(self, scenario), dry_target)
        return sum(isinstance(step, Call | Authorise) for step in played) + dry_target.submissions

    def unaffected_by(self) -> Mapping[str, str]:
        """Return the dimensions of contexts that cannot matter to the clause, each with why.

        A key is the name of a dimension ("payee"), or a dimension and a value ("mode=deferred").
        """
        return {}

    def unaffected_in(self, scenario: Scenario) -> Mapping[str, str]:
        """Return the same for one scenario, for which more may matter than for others."""
        del scenario
        return self.unaffected_by()

    def explain(self) -> str | None:
        """Return an explanation of what was derived from the parameters, for `assay plan --verbose`."""
        return None

    def scenario(self, id_: str) -> Scenario:
        """Return the scenario of this id; raise `KeyError` where no facet has it."""
        for facet in self.facets():
            if facet.scenario.id == id_:
                return facet.scenario
        raise KeyError(id_)

    # -- the TPP's side --------------------------------------------------------------
    def tpp_facet(self) -> TppFacet | None:
        """Return the obligation of the TPP under the clause, if it has one."""
        return None

    def check_tpp(self, history: History) -> Iterator[Evidence]:
        """Judge the TPP by any history; yield evidence only on calls that could violate the clause."""
        yield from ()

    # -- questions to every kind ---------------------------------
    def schema_pieces(self) -> Iterator[SchemaPiece]:
        """Yield the constraints that the clause puts on the shape of a request or an answer."""
        yield from ()

    def page_size(self, operation: str) -> int | None:
        """Return how many items a full page of an operation has, if the clause says so."""
        return None

    def listed_by_trait(self, thing: Owned, at: datetime) -> Mapping[str, bool]:
        """Return for each trait of an owned thing that the clause judges whether it is listed."""
        return {}

    def history_days(self, operation: str) -> int | None:
        """Return how many days back an operation answers, if the clause says so."""
        return None

    def factors_by_segment(self, request: str) -> Mapping[str, tuple[str, ...]]:
        """Return the factors with which customers of each segment sign a request, if any."""
        return {}

    def signing_limits(self, request: str) -> Mapping[str, timedelta]:
        """Return how long a customer may take to sign a request, by what is measured."""
        return {}

    def factors(self) -> Sequence[str]:
        """Return all factors that the clause names."""
        return ()

    def segments(self) -> Sequence[str]:
        """Return all segments of customers that the clause names."""
        return ()

    def admits(self, request: str, call: Call, subject: Subject | None) -> bool:
        """Whether the clause allows a bank to accept a call that makes a request."""
        return True

    def may_reject(self, request: str, arguments: Mapping[str, Json]) -> bool:
        """Whether the clause may reject a request because of the value of an argument."""
        return False

    def alters(self, argument: str, value: Json, at: datetime) -> bool:
        """Whether the clause lets a bank keep another value of an argument of a request."""
        return False

    def call_ids(self, operation: str) -> Sequence[str]:
        """Return the arguments of an operation that only identify a call."""
        return ()

    def bars(self, call: Call) -> bool:
        """Whether the clause has a call refused for a header or a query parameter."""
        return False

    def rejects_repeats(self, request: str) -> bool:
        """Whether the clause rejects a request that repeats an earlier one."""
        return False

    def changeable_modes(self, request: str) -> tuple[str, ...] | None:
        """Return the modes in which a request can be changed, if the clause restricts them."""
        return None

    def changeable_fields(self, request: str) -> Sequence[str]:
        """Return the arguments of a request that the clause says can be changed."""
        return ()

    def accepted_modes(self, request: str) -> Sequence[str]:
        """Return the modes in which the clause says that a request is accepted, if offered."""
        return ()

    def disclosed_with_consent(self, operation: str) -> str | None:
        """Return the value that an operation discloses with a consent only, if there is one."""
        return None

    def conditional_fields(self, operation: str) -> Mapping[str, str]:
        """Return the fields that only some answers of an operation have, and when they have them."""
        return {}

    def closed_at(self, instant: datetime) -> bool:
        """Whether the clause announces that the interface is closed at an instant."""
        return False

    def closure_phase(self, instant: datetime) -> int | None:
        """Return -1, 0 or 1 before, during or after the announced closure of a week, if any."""
        return None

    def call_limits(self) -> Mapping[str, CallLimit]:
        """Return how many calls of each operation are allowed in a period."""
        return {}

    def allowed_values(self, resource: str, field: str) -> Sequence[Json] | None:
        """Return the values that a field of a resource may have, if the clause lists them."""
        return None

    def fixed_value(self, argument: str) -> Json:
        """Return the fixed value of an argument of a request, if the clause states one."""
        return None

    def expects(self, operation: Operation, argument: str, value: Json) -> str:
        """Return what an argument of an ordinary call must be, if the value breaks the clause.

        A target file with such a value would have every call break it, whatever the bank does.
        """
        return ""

    def named_values(self, request: str) -> Iterable[tuple[str, Json]]:
        """Return the values of arguments with which a request is expected to have another outcome."""
        return ()

    def bars_credentials(self, operation: str) -> bool:
        """Whether the clause forbids the customer's credentials in calls of an operation."""
        return False

    def control_of(self, operation: str) -> str | None:
        """Return the operation that is the control for another, if the clause names one."""
        return None
