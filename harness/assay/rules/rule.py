"""The base class of rule kinds, and the values that a kind hands out.

A rule kind is one frozen dataclass in one file of `rules.kinds`. Its fields are the
parameters of a clause, declared with the functions of `rules.parameters`. Its methods say which
facets there are, how each is probed, and how any history is judged.

A probe is a generator that yields steps and receives replies. A check is a pure function of a history.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeAlias

from typing_extensions import TypeVar

from assay.contract.model import Clause, Contract, Json, Operation
from assay.history import History, Reply, Step
from assay.history.events import Cached
from assay.rules.facets import (
    FEATURES,
    LINK,
    NO_BANKS,
    NOTHING,
    RETURN,
    BindingRequirement,
    CallScenario,
    Facet,
    Facts,
    Scenario,
    TppFacet,
    bound,
    call_needs,
    consent,
    needs,
)
from assay.rules.parameters import (
    Parameter,
    Raw,
    Reference,
    kind_schema,
    one_of_several,
    the_contract,
)
from assay.rules.verdict import Evidence

if TYPE_CHECKING:
    from assay.files.document import Finding, Pointer
    from assay.rules.facets import SchemaPiece

__all__ = [
    "FEATURES",
    "LINK",
    "NO_BANKS",
    "RETURN",
    "BindingRequirement",
    "CallScenario",
    "Facet",
    "Kind",
    "Scenario",
    "Script",
    "TppFacet",
    "bound",
    "call_needs",
    "consent",
    "needs",
]

#: The class of a kind's scenarios: `Kind[Pace]`.
S = TypeVar("S", bound=Scenario, default=Any)

#: A running probe: it yields steps, and receives replies.
Script: TypeAlias = Generator[Step, Reply, None]


class Purpose(Enum):
    """What clauses of a kind are for: what a new one asks of the bank, and a removed one no longer."""

    #: The bank serves or returns something.
    PROMISE = "promise"
    #: The bank refuses or withholds something.
    LIMIT = "limit"
    #: The bank prevents what no TPP is entitled to.
    SAFEGUARD = "safeguard"
    #: The bank may fail to serve at times.
    EXCUSE = "excuse"
    #: The kind does not say.
    UNSTATED = "unstated"


# -- Scope of a check: the part of a history that can make a difference to its evidence. A long -----
# recording has calls of every operation, and most rules are about a few of them, so the judge leaves
# out the others. A kind that sets no scope gets the whole history.
class Calls(Enum):
    """The calls that a check looks at.

    `NAMED` are those of the operations that the clause names, of all operations on the same
    requests, and of those that transmit consents or change a request: a list may change with them. `CONTRACT` are those of the contract's operations.
    """

    ALL = "all"
    CONTRACT = "contract"
    NAMED = "named"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The calls that a check looks at, beside all other events.

    `needs` are kinds of events; a history without any of one kind shows the check nothing.
    """

    calls: Calls = Calls.ALL
    needs: tuple[type[object], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind(Cached, Generic[S]):
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
    #: Whether trials that make a request end with an inquiry of what was executed, for the check.
    inquires: ClassVar[bool] = False
    #: Whether it blames not that a call was refused, but how, or what happened in spite of that.
    accepts_refusals: ClassVar[bool] = False
    #: Whether the check judges no call with an optional argument: it need not be served.
    bare_calls: ClassVar[bool] = False
    #: Whether the trials of all clauses show what it judges, so that its own are not run in contexts.
    ambient: ClassVar[bool] = False
    #: Whether its clauses are tried at each bank of the group: about hosts, or what a bank offers.
    of_each_bank: ClassVar[bool] = False
    #: Whether it judges calls at other banks of the group, and what follows them.
    across_banks: ClassVar[bool] = False
    #: Whether what its probes ask for with a variation must not be shown, however its identifier is written.
    respells: ClassVar[bool] = False
    #: Whether probes make the consents that they need, because they also call without one.
    own_consents: ClassVar[bool] = False
    #: The scenarios by their ids ("": any), each with a dimension in whose values it shows less than in the
    #: base context. Each such value has a context of its own, where it hides nothing that others would
    #: show. A run finds out by itself what hides something: this saves it the trials.
    hiding: ClassVar[tuple[tuple[str, str], ...]] = ()
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

    @property
    def own_facets(self) -> tuple[Facet, ...]:
        """The facets of the clause, computed once: each check asks for them."""
        known: tuple[Facet, ...] | None = getattr(self, "_cache", None)
        if known is None:
            known = tuple(self.facets())
            object.__setattr__(self, "_cache", known)
        return known

    def probe(self, scenario: S) -> Script:
        """Yield the steps that show the facets of a scenario."""
        raise NotImplementedError

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge any history; yield the evidence of each exchange for a facet."""
        raise NotImplementedError

    def accepts_variation(self, scenario: S) -> bool:
        """Whether a bank that conforms accepts the calls of a scenario that have a variation."""
        return False

    def unaffected_by(self) -> Mapping[str, str]:
        """Return the dimensions of contexts that cannot matter to the clause, each with why.

        A key is the name of a dimension ("payee"), or a dimension and a value ("mode=deferred").
        """
        return {}

    def unaffected_in(self, scenario: S) -> Mapping[str, str]:
        """Return the same for one scenario, for which more may matter than for others."""
        del scenario
        return self.unaffected_by()

    def explain(self) -> str | None:
        """Return an explanation of what was derived from the parameters, for `assay plan --verbose`."""
        return None

    def scenario(self, id_: str) -> Scenario:
        """Return the scenario of this id; raise `KeyError` where no facet has it."""
        for facet in self.own_facets:
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

    # -- for other clauses, and other rooms ----------------------------------------------
    def facts(self) -> Facts:
        """Return what the clause says that others depend on."""
        return NOTHING

    def schema_pieces(self) -> Iterator[SchemaPiece]:
        """Yield the constraints that the clause puts on the shape of a request or an answer."""
        yield from ()


@lru_cache(maxsize=64)
def clauses_of(contract: Contract) -> tuple[Kind, ...]:
    """Return every clause of a contract as an instance of its kind, in order."""
    parsed = (clause.rule.parse(clause, contract) for clause in contract.clauses)
    return tuple(each for each in parsed if isinstance(each, Kind))  # which they all are


@lru_cache(maxsize=64)
def facts_of(contract: Contract) -> Facts:
    """Return the facts of all clauses of a contract; no kind asks for them while it is parsed."""
    return Facts.together([clause.facts() for clause in clauses_of(contract)])


def all_pages(contract: Contract, operation: Operation) -> tuple[BindingRequirement, ...]:
    """Require the way to the next page, where a list has pages: what is missing may be there."""
    return bound(operation, "next") if operation.id in facts_of(contract).page_sizes else ()
