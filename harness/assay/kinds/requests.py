"""Public names for a rule kind about consents, or about requests that a TPP makes.

They come in addition to those of `assay.kinds`:

- fields of the class: `lifecycle_parameters` for a kind about requests;
- the probe: `request_steps`, and the steps that sign, submit, register and withdraw;
- the check: `consents` in a history; `attempts`, `request_queries` and `tracker` for requests;
- events: what a signature ended with, what was executed, and what an error body says.
"""

from __future__ import annotations

from assay.history import (
    Authorise,
    Authorised,
    Cause,
    Code,
    Decision,
    Effect,
    Effects,
    Ending,
    Entry,
    ErrorBody,
    Inquire,
    Lack,
    Lacking,
    Owned,
    Register,
    Registered,
    Renew,
    Renewed,
    ShownError,
    State,
    Submit,
    Submitted,
    Withdraw,
    Withdrawn,
)
from assay.rules import consents
from assay.rules.lifecycle import attempts, request_queries, request_steps, tracker
from assay.rules.lifecycle import parameters as lifecycle_parameters

__all__ = [
    "Authorise",
    "Authorised",
    "Cause",
    "Code",
    "Decision",
    "Effect",
    "Effects",
    "Ending",
    "Entry",
    "ErrorBody",
    "Inquire",
    "Lack",
    "Lacking",
    "Owned",
    "Register",
    "Registered",
    "Renew",
    "Renewed",
    "ShownError",
    "State",
    "Submit",
    "Submitted",
    "Withdraw",
    "Withdrawn",
    "attempts",
    "consents",
    "lifecycle_parameters",
    "request_queries",
    "request_steps",
    "tracker",
]
