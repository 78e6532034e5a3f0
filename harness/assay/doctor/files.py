"""The secrets and the files that the profile names: there, readable, and in time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from assay.doctor.finding import Finding, Weight, at, told
from assay.doctor.patient import Patient
from assay.errors import InputError
from assay.run.environ import unset

__all__ = ["papers", "secrets"]

#: A certificate that expires within this is worth a word.
SOON: Final = timedelta(days=30)


def secrets(patient: Patient) -> Iterator[Finding]:
    """Say which variables of the environment hold nothing to call with."""
    yield from map(told, unset(patient.profile, os.environ))


def papers(patient: Patient) -> Iterator[Finding]:
    """Read certificates and keys, and say what is wrong with them."""
    profile = patient.profile
    if not profile.tls and not profile.signature:
        return
    from assay.run.auth.papers import check  # noqa: PLC0415 -- cryptography, seldom needed

    now = datetime.now(UTC)
    try:
        check(profile, os.environ, now)
    except InputError as error:
        yield from map(told, error.problems)
        return
    try:
        check(profile, os.environ, now + SOON)
    except InputError as error:
        for problem in error.problems:
            place = ("tls", "certificate_file")
            what = told(problem).found.replace("expired", "expires")
            yield at(profile, place, "a certificate with time left", what, weight=Weight.NOTE)
