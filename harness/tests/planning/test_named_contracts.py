"""The contracts of a run where none is named: those of the target file, if all can be read."""

from rows import for_each

from assay.files.load import loads
from assay.preparation.target_file import read_document

FILE = "assay: 1\ntarget: t\ntransport: http\nbase_url: https://bank.example\n"


@for_each(
    ("named", "expected"),
    [
        ("contracts: [pis]\n", ("pis",)),
        ("contracts: [pis, aisp]\n", ("aisp", "pis")),
        ("contracts: [pis, meters]\n", ()),
        ("", ()),
    ],
)
def test_shipped_contracts_that_a_file_names_are_those_of_the_run(named, expected):
    """One of the user's own, named by its id, must be given with the command."""
    assert expected == read_document(loads(FILE + named)).own_contracts
