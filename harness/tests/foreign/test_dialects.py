"""A sound foreign bank conforms, and each fault violates exactly what it breaks."""

from functools import cache
from pathlib import Path

import pytest
from foreign.dialects import (
    COUNTED,
    DESK,
    ERRORS,
    FJORD,
    HERON,
    KESTREL,
    LOCKERS,
    PLOVER,
    QUAY,
    SISTER,
)
from foreign.faults import FAULTS
from mistaken_banks import guest_kinds

from assay.kinds import Standing
from assay.rules import kinds
from assay.testing import verdicts

HERE = Path(__file__).parent
#: The contract and the target file of each bank.
FILES = {
    KESTREL: "spellings/kestrel.yaml spellings/kestrel-target.yaml",
    PLOVER: "spellings/plover.yaml spellings/plover-target.yaml",
    SISTER: "spellings/sister.yaml spellings/sister-target.yaml",
    HERON: "spellings/heron.yaml spellings/heron-target.yaml",
    LOCKERS: "guest_kinds/parcels.yaml guest_kinds/parcels-target.yaml",
    COUNTED: "general_kinds/counted.yaml general_kinds/counted-target.yaml",
    ERRORS: "general_kinds/errors.yaml general_kinds/errors-target.yaml",
    FJORD: "consent_tokens/fjord.yaml consent_tokens/target.yaml",
    QUAY: "consents/quay.yaml consents/target.yaml",
    DESK: "general_kinds/desk.yaml general_kinds/desk-target.yaml",
}
NARROW = {"daily/per-method", "own/entry", "all/all-without-consent", "owner/withheld-before"}
#: What cannot be tested: one operation alone has no other one to be counted with, nothing can be
#: read without a consent, and nothing links to the screens of an authorization server.
NOT_APPLICABLE = {
    QUAY: NARROW,
    FJORD: NARROW | {"signed/link"},
    DESK: {"echo/accounts-in-refusals"},
    COUNTED: {"each/per-method"},
    ERRORS: {"own/entry"},
}
#: What takes a clock, of which the bank has none to move.
UNVERIFIED = {
    PLOVER: {
        "move/carried-out-as-changed",
        "move/done-refused",
        "call-off/by-tpp-never-done",
        "call-off/by-customer-shown",
        "call-off/by-customer-never-done",
    }
}
#: The clauses of which each facet has a fault, where that are not all, and facets that need none.
CLAUSES = {
    QUAY: {"signed", "until", "revoked", "one", "holder", "payer"},
    DESK: {"request-id", "status", "rows", "echo", "key", "order-status", "amount", "label", "day"}
    | {"usual-label", "until", "selected", "entry-id", "order-amount", "own"},
    COUNTED: {"together", "each"},
    LOCKERS: {"trace", "once"},
}
#: What a sound consent serves is refused in `test_consents.py`.
SERVED = {"signed/signed-served", "one/new-served"}
SOUND = [
    (bank, fault)
    for bank in FILES
    for fault in (None, *FAULTS[bank])
    if not (fault and fault.breaks)
]
FAULTY = [(bank, fault) for bank in FILES for fault in FAULTS[bank] if fault.breaks]


def named(value):
    """Name a bank or a fault in the id of a test."""
    return getattr(value, "name", None) or getattr(value, "__name__", "sound")


def run(bank, fault, monkeypatch):
    """Run the contract of a bank against it, with a fault; return the standing of each obligation."""
    monkeypatch.setattr(kinds, "installed", cache(guest_kinds))
    contract, target = (HERE.parent / name for name in FILES[bank].split())
    return verdicts(contract, target, (fault.of(bank) if fault else bank)())


@pytest.mark.parametrize(("bank", "fault"), SOUND, ids=named)
def test_a_sound_bank_conforms(bank, fault, monkeypatch):
    """Every kind works at it, however it spells, and whatever looks different."""
    found = run(bank, fault, monkeypatch)
    left = {name: each for name, each in found.items() if each is not Standing.CONFORMS}

    assert left == {
        **dict.fromkeys(NOT_APPLICABLE.get(bank, ()), Standing.NOT_APPLICABLE),
        **dict.fromkeys(UNVERIFIED.get(bank, ()), Standing.UNVERIFIED),
    }


@pytest.mark.parametrize(("bank", "fault"), FAULTY, ids=named)
def test_a_fault_violates_exactly_what_it_breaks(bank, fault, monkeypatch):
    """It turns its own obligations red and no other."""
    found = run(bank, fault, monkeypatch)
    violated = {name for name, each in found.items() if each is Standing.VIOLATES}
    assert fault.is_all_of(violated), violated ^ (fault.breaks | fault.shows)


@pytest.mark.parametrize("bank", CLAUSES, ids=named)
def test_every_facet_has_a_fault(bank, monkeypatch):
    """No check has never been seen to fail."""
    facets = {
        name for name in run(bank, None, monkeypatch) if name.partition("/")[0] in CLAUSES[bank]
    }
    broken = {name for fault in FAULTS[bank] for name in fault.breaks}

    assert facets - NOT_APPLICABLE.get(bank, set()) - SERVED == {
        name for name in broken if name.partition("/")[0] in CLAUSES[bank]
    }
