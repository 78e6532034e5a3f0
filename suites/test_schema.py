"""Every operation, asked in all the ways that the exported document foresees, and some others."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from assay.fuzzing.schema.items import ItemResult

if find_spec("schemathesis") is None:
    reason = "there is no Schemathesis (pip install 'assay[schema]')"
    pytest.skip(reason, allow_module_level=True)


def test_schema(schema_told: ItemResult) -> None:
    """What is answered breaks no clause, and keeps to the document."""
    assert not schema_told.broken, str(schema_told)
    if not schema_told.cases:
        pytest.skip(f"unverified: {schema_told.stopped or 'nothing can be asked'}")
