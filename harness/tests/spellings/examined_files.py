"""The doctor at a foreign bank in this process, with a target file as text."""

from functools import cache, partial
from pathlib import Path
from unittest.mock import patch

from assay.binding.read.join import bind
from assay.files.load import loads
from assay.onboarding.doctor import examination
from assay.parsing.parse import parse_contract
from assay.planning.plan import plan
from assay.preparation.prepare import Prepared
from assay.preparation.target_file import read_document
from assay.running.environment import set_up


@cache
def doubts(contract, text, bank):
    """Return what the doctor finds wrong in a target file, at a bank."""
    target = read_document(loads(text, str(Path(contract).parent / "changed.yaml")))
    bound = bind([parse_contract(contract)], target)
    prepared = Prepared(target=target, bound=bound, plan=plan(bound, target), reproduce="")
    with patch.object(examination, "set_up", partial(set_up, bank=lambda _: bank())):
        return tuple(examination.examine("changed.yaml", prepared=prepared).blocking)
