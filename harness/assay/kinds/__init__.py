"""Public names for writing a rule kind in a package of your own.

A kind is one frozen dataclass derived from `Kind`. Its package names the class in the
entry-point group `assay.rules`; `assay init --kind NAME` writes such a package. What a first
kind needs is here; `assay.kinds.requests` adds what is about consents and requests, and
`assay.testing` has what tests of kinds are written with. Other modules of Assay may change
without notice.

Besides classes there are modules, each for one part of a kind:

- what a clause of the kind is for, so that a new or a removed one can be judged: `Purpose`
  (`purpose = Purpose.LIMIT`);
- fields of the class: `parameters`, and `operation_parameters` for a kind about one operation;
- the base of a kind by which calls are refused, which may say with which code: `RefusingKind`;
- facets: `needs`, `consent`, `Capability`, `BindingRequirement`, and a `Scenario` for each probe
  (of a class of your own: `class Speed(Kind[Pace])`);
- the probe: `steps`; `Script` is its return type;
- the check: `must_be_served`, `must_be_refused`, `describe_answer`, `doubt` and `UNAUTHENTICATED`;
  `queries` of a history, and `calendar` for what depends on a day;
- the TPP's side: `tpp_evidence`;
- what a clause says that others depend on (its `facts` return `Facts`), and what all clauses of the
  contract say: `facts_of`, and `clauses_of`.

Type aliases: `Event` (anything in a history), `Finding` (place, problem, hint), `Json`,
`Outcome` (what an answer means), `Pointer` (a place in a file), `Raw` (a part of a contract
file of the right shape), `Reference` (a check of what a parameter refers to), `Reply` (what a
step is answered with), `SchemaPiece`, `Script` (a running probe) and `Step`.
"""

from __future__ import annotations

from assay.contract.model import Capability, Clause, Contract, Json, Operation, Resource
from assay.files.document import Finding, Pointer
from assay.history import (
    Accepted,
    Advance,
    Advanced,
    Arrange,
    Call,
    Event,
    Exchange,
    History,
    Holding,
    Indeterminate,
    Item,
    Malformed,
    Outcome,
    Rejected,
    Reply,
    Step,
    Subject,
    Unavailable,
    Wire,
)
from assay.rules import operation_parameters, parameters, queries, steps
from assay.rules.facets import (
    ArgumentSchema,
    BarredMode,
    CallLimit,
    Facts,
    FieldSchema,
    SchemaPiece,
)
from assay.rules.parameters import Raw, Reference
from assay.rules.refusing_kind import RefusingKind
from assay.rules.rule import (
    BindingRequirement,
    Facet,
    Kind,
    Purpose,
    Scenario,
    Script,
    TppFacet,
    clauses_of,
    consent,
    facts_of,
    needs,
)
from assay.rules.state import calendar
from assay.rules.verdict import (
    UNAUTHENTICATED,
    Agreement,
    Evidence,
    Standing,
    describe_answer,
    doubt,
    must_be_refused,
    must_be_served,
    tpp_evidence,
)

__all__ = [
    "UNAUTHENTICATED",
    "Accepted",
    "Advance",
    "Advanced",
    "Agreement",
    "ArgumentSchema",
    "Arrange",
    "BarredMode",
    "BindingRequirement",
    "Call",
    "CallLimit",
    "Capability",
    "Clause",
    "Contract",
    "Event",
    "Evidence",
    "Exchange",
    "Facet",
    "Facts",
    "FieldSchema",
    "Finding",
    "History",
    "Holding",
    "Indeterminate",
    "Item",
    "Json",
    "Kind",
    "Malformed",
    "Operation",
    "Outcome",
    "Pointer",
    "Purpose",
    "Raw",
    "Reference",
    "RefusingKind",
    "Rejected",
    "Reply",
    "Resource",
    "Scenario",
    "SchemaPiece",
    "Script",
    "Standing",
    "Step",
    "Subject",
    "TppFacet",
    "Unavailable",
    "Wire",
    "calendar",
    "clauses_of",
    "consent",
    "describe_answer",
    "doubt",
    "facts_of",
    "must_be_refused",
    "must_be_served",
    "needs",
    "operation_parameters",
    "parameters",
    "queries",
    "steps",
    "tpp_evidence",
]
