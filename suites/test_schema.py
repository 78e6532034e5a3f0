"""Every operation, tested with cases generated from its exported OpenAPI document."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from assay.fuzzing.schema.items import ItemResult

if find_spec("schemathesis") is None:
    reason = "Schemathesis is not installed (pip install 'assay[schema]')"
    pytest.skip(reason, allow_module_level=True)


def test_schema(schema_result: ItemResult) -> None:
    """The responses violate no clause, and are valid by the document."""
    assert not schema_result.broken, str(schema_result)
    if not schema_result.cases:
        pytest.skip(f"unverified: {schema_result.stopped or 'there is nothing to test'}")
