"""Public names for writing a rule kind in a package of your own.

A kind is one frozen dataclass derived from `Kind`. Its package names the class in the
entry-point group `assay.rules`; `assay init --kind NAME` writes such a package. Everything
that a kind is written with is here, and `assay.testing` has what its tests are written with.
Other modules of Assay may change without notice.

Besides classes there are modules, each for one part of a kind:

- what a clause of the kind is for, so that a new or a removed one can be judged: `Purpose`
  (`purpose = Purpose.LIMIT`);
- fields of the class: `parameters`, `operation_parameters` for a kind about one operation,
  and `lifecycle_parameters` for a kind about requests;
- the base of a kind by which calls are refused, which may say with which code: `RefusingKind`;
- facets: `needs`, `consent`, `Capability`, `BindingRequirement`;
- the probe: `steps`, and `request_steps` for requests; `Script` is its return type;
- the check: `must_be_served`, `must_be_refused`, `describe_answer`, `doubt` and `UNAUTHENTICATED`;
  `queries` of a history, `consents` in it, `calendar` for what depends on a day, and
  `attempts`, `request_queries` and `tracker` for requests;
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
    Authorise,
    Authorised,
    Call,
    Cause,
    Code,
    Decision,
    Effect,
    Effects,
    Ending,
    Entry,
    ErrorBody,
    Event,
    Exchange,
    History,
    Holding,
    Indeterminate,
    Inquire,
    Item,
    Lack,
    Lacking,
    Malformed,
    Outcome,
    Owned,
    Register,
    Registered,
    Rejected,
    Renew,
    Renewed,
    Reply,
    ShownError,
    State,
    Step,
    Subject,
    Submit,
    Submitted,
    Unavailable,
    Wire,
    Withdraw,
    Withdrawn,
)
from assay.rules import consents, operation_parameters, parameters, queries, steps
from assay.rules.facets import (
    ArgumentSchema,
    BarredMode,
    CallLimit,
    Facts,
    FieldSchema,
    SchemaPiece,
)
from assay.rules.lifecycle import attempts, request_queries, request_steps, tracker
from assay.rules.lifecycle import parameters as lifecycle_parameters
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
    "Authorise",
    "Authorised",
    "BarredMode",
    "BindingRequirement",
    "Call",
    "CallLimit",
    "Capability",
    "Cause",
    "Clause",
    "Code",
    "Contract",
    "Decision",
    "Effect",
    "Effects",
    "Ending",
    "Entry",
    "ErrorBody",
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
    "Inquire",
    "Item",
    "Json",
    "Kind",
    "Lack",
    "Lacking",
    "Malformed",
    "Operation",
    "Outcome",
    "Owned",
    "Pointer",
    "Purpose",
    "Raw",
    "Reference",
    "RefusingKind",
    "Register",
    "Registered",
    "Rejected",
    "Renew",
    "Renewed",
    "Reply",
    "Resource",
    "Scenario",
    "SchemaPiece",
    "Script",
    "ShownError",
    "Standing",
    "State",
    "Step",
    "Subject",
    "Submit",
    "Submitted",
    "TppFacet",
    "Unavailable",
    "Wire",
    "Withdraw",
    "Withdrawn",
    "attempts",
    "calendar",
    "clauses_of",
    "consent",
    "consents",
    "describe_answer",
    "doubt",
    "facts_of",
    "lifecycle_parameters",
    "must_be_refused",
    "must_be_served",
    "needs",
    "operation_parameters",
    "parameters",
    "queries",
    "request_queries",
    "request_steps",
    "steps",
    "tpp_evidence",
    "tracker",
]
