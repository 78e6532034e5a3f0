"""Reasons for what a target lacks: what is missing, and which keys of its file provide it."""

from rows import for_each

from assay.contract.model import Capability
from assay.planning.remedies import ALLOW_WRITES, REMEDIES, needs


def test_every_capability_has_a_remedy():
    """A reason is never a name alone; it names a key of the target file."""
    assert {*Capability} == {*REMEDIES}
    assert all(str(remedy).endswith("in the target file)") for remedy in REMEDIES.values())


@for_each(
    ("missing", "reason"),
    [
        (
            ["psu"],
            "needs a test customer (add `psu` to `fixtures.offers` in the target file)",
        ),
        (
            ["clock"],
            (
                "needs a clock that can be moved (set `fixtures.kind` to `control` or `python`,"
                " with `clock` in `fixtures.offers`, in the target file)"
            ),
        ),
        (
            ["zone"],
            "needs the time zone of the bank's calendar day (set `zone` in the target file)",
        ),
        (
            ["psu", "two-psu"],
            (
                "needs a test customer and a second test customer"
                " (in the target file: add `psu` and `two-psu` to `fixtures.offers`)"
            ),
        ),
        (
            ["batch", "zone"],
            (
                "needs a marker for calls without the customer and the time zone of the bank's"
                " calendar day (in the target file: set `presence`; set `zone`)"
            ),
        ),
        (
            ["effects", "psu", "sca"],
            (
                "needs a record of the requests that the bank executed, a test customer and an SCA signer"
                " (in the target file: set `fixtures.kind` to `control` or `python`,"
                " with `effects` and `psu` in `fixtures.offers`; set `sca`)"
            ),
        ),
    ],
)
def test_a_reason_names_the_target_file_once(missing, reason):
    """Several things that are missing make one sentence, with the keys to set together."""
    assert reason == needs([REMEDIES[Capability(name)] for name in missing])
    assert 1 == reason.count("target file")


def test_permission_to_write_is_one_of_them():
    """What a live bank needs besides its capabilities stands in the same sentence."""
    assert (
        "needs permission to make requests and permission to write to a live bank"
        " (in the target file: add `write` to `fixtures.offers`; set `safety.allow_writes`)"
    ) == needs([REMEDIES[Capability.WRITE], ALLOW_WRITES])
