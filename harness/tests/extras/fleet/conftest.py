"""Fleets of sandboxes: embedded ones, and served ones with a fault."""

import json
from contextlib import ExitStack

import pytest

from assay.sandbox.app import make_app
from assay.sandbox.mutants import MUTANTS
from assay.sandbox.policies import SOUND
from assay.sandbox.serve import serving

TEMPLATE = """\
assay: 1
target: gateway
extends: sandbox
"""


@pytest.fixture
def write(tmp_path):
    """Return what writes a file of banks, of embedded sandboxes by default."""

    def write(banks, template=TEMPLATE, **keys):
        (tmp_path / "gateway.yaml").write_text(template)
        path = tmp_path / "banks.yaml"
        file = {"assay": 1, "fleet": "demo", "template": "gateway.yaml", "contracts": ["aisp"]}
        path.write_text(json.dumps({**file, **keys, "banks": banks}))
        return path

    return write


@pytest.fixture
def served():
    """Return what serves a bank with a fault, and gives the entry of such a bank."""
    with ExitStack() as stack:

        def serve(fault=""):
            policies = next((each.change(SOUND) for each in MUTANTS if each.id == fault), SOUND)
            url = stack.enter_context(serving(make_app(policies)))
            overrides = {"transport": "http", "base_url": url, "fixtures": {"url": url}}
            return {"overrides": overrides}

        yield serve
