"""Arguments that every call must have, and that the target file fixes once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.binding.model.target import OperationBinding, Place, Spelling, Target, TransportKind
from assay.binding.wire.encode import Access, encode
from assay.binding.wire.values import generated
from assay.contract.model import Operation
from assay.errors import CannotArrange
from assay.history import Call

TABLES = Operation(
    id="tables",
    method="GET",
    path="/{region}/tables",
    about="port",
    arguments=("region", "tenant", "port"),
)
CALL = Call(operation="tables", subject="anna", arguments={"port": "BRE"})
PORT = Spelling(place=Place.QUERY, name="harbour")


def bound(**arguments: Spelling) -> Target:
    """Make a profile with these spellings of arguments."""
    binding = OperationBinding(arguments=arguments)
    return Target(
        name="t",
        transport=TransportKind.HTTP,
        base_url="https://tides.example",
        operations={"tables": binding},
    )


def test_a_fixed_argument_is_part_of_every_call() -> None:
    """It is sent where the profile says, in the path or elsewhere, although no probe names it."""
    target = bound(
        region=Spelling(place=Place.PATH, name="region", value="north sea"),
        tenant=Spelling(place=Place.HEADER, name="X-Tenant", value="t1"),
        port=PORT,
    )
    request = encode(CALL, TABLES, target, Access())
    assert "https://tides.example/north%20sea/tables?harbour=BRE" == request.url
    assert ("X-Tenant", "t1") in request.headers


@pytest.mark.parametrize(
    "tenant", [{}, {"tenant": Spelling(place=Place.HEADER, name="X-Tenant")}], ids=["no", "bare"]
)
def test_without_a_value_nothing_is_sent(tenant: dict[str, Spelling]) -> None:
    """A call with a hole in it would blame the target for a gap in its profile."""
    region = Spelling(place=Place.PATH, name="region", value="north")
    with pytest.raises(
        CannotArrange, match=r"a value for operations\.tables\.arguments\.tenant in the target"
    ):
        encode(CALL, TABLES, bound(region=region, port=PORT, **tenant), Access())


def test_a_change_has_the_headers_of_every_call() -> None:
    """It sends what is to be changed and no other value; a header is no part of what it asks for."""
    move = Operation(
        id="tables", method="PATCH", path="/tables", changes="table", arguments=("tenant", "size")
    )
    target = bound(
        tenant=Spelling(place=Place.HEADER, name="X-Tenant", value="t1"),
        size=Spelling(place=Place.BODY, name="/size", value="4", other="6"),
    )
    plain = Call(operation="tables", subject="anna")
    request = encode(plain, move, target, Access())
    assert ("X-Tenant", "t1") in request.headers
    assert b"size" not in (request.body or b"")
    changed = encode(replace(plain, varied=("size",)), move, target, Access())
    assert ("X-Tenant", "t1") in changed.headers
    assert b'"6"' in (changed.body or b"")
    bare = encode(replace(plain, without=("tenant",)), move, target, Access())
    assert "X-Tenant" not in dict(bare.headers)


def test_only_what_the_file_makes_anew_counts_as_generated() -> None:
    """A value of the probe in the place of `{unique}` is chosen, so that it is compared."""
    trace = Spelling(place=Place.HEADER, name="Trace", value="t-{unique}")
    binding = bound(trace=trace, tenant=replace(PORT, value="acme")).operations["tables"]
    given = {"trace": "t-1", "tenant": "acme"}
    assert ("trace",) == generated(CALL, given, binding)
    assert () == generated(replace(CALL, arguments={"trace": "t-1"}), given, binding)
