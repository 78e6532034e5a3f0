"""What a world written in Python is made of: the words of its bargain, at one place.

A class that a target file names (`world: {kind: python, adapter: our_bank.worlds:Ours}`)
has `open`, which returns a `Scene`. A scene brings customers into being as `Subject`,
with the `Access` that their calls are authorised with. What it cannot do it says with
`CannotArrange`, and then an obligation is unverified for that reason; `TargetError` says
that nothing works at all. `NoRequests` answers everything that takes more than customers
and a clock: it cannot. Nothing here does anything: the rest of Assay is not promised.
"""

from assay.errors import CannotArrange, TargetError
from assay.history import (
    Arrange,
    Authorise,
    Decision,
    Effect,
    Entry,
    Holding,
    Lack,
    Owned,
    Register,
    Subject,
    Withdraw,
)
from assay.model import Json
from assay.target.encode import Access
from assay.target.world import NoRequests, Scene, World

__all__ = [
    "Access",
    "Arrange",
    "Authorise",
    "CannotArrange",
    "Decision",
    "Effect",
    "Entry",
    "Holding",
    "Json",
    "Lack",
    "NoRequests",
    "Owned",
    "Register",
    "Scene",
    "Subject",
    "TargetError",
    "Withdraw",
    "World",
]
