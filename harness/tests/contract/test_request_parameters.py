"""What rules say of requests has to be there: modes, days, and arguments of a change."""

import pytest
from rows import for_each

from assay.errors import InputError
from assay.files.load import loads
from assay.parsing.parse import find_contract, parse_document

TEXT = find_contract("pis").read_text("utf-8")


def problems(old, new):
    """List what is wrong with the contract once a text in it is another."""
    assert 1 == TEXT.count(old)
    with pytest.raises(InputError) as caught:
        parse_document(loads(TEXT.replace(old, new), "pis.yaml"))
    return [str(one).partition(": ")[2] for one in caught.value.problems]


@for_each(
    ("old", "new", "said"),
    [
        (
            "    request: payment\n    mode: deferred\n",
            "    request: payment\n    mode: instant\n",
            "the mode 'instant' is not deferred to a day",
        ),
        (
            "    request: payment\n    mode: deferred\n",
            "    request: payment\n    mode: defered\n",
            "there is no mode 'defered' (did you mean 'deferred'?)",
        ),
        ("    request: payment\n    mode: deferred\n", "    request: payment\n", "'mode'"),
        (
            "only: [deferred]",
            "only: [deferred, instant]",
            "only[1]: the mode 'instant' is not deferred",
        ),
        ("only: [deferred]", "only: []", "only"),
        ("fields: [amount, creditorAccount, date]", "fields: []", "fields"),
        (
            "fields: [amount, creditorAccount, date]",
            "fields: [amount, chargeBearer]",
            "fields[1]: 'chargeBearer' is no argument of a change",
        ),
        (
            "fields: [amount, creditorAccount, date]",
            "fields: [amuont]",
            "fields[0]: there is no argument 'amuont'",
        ),
        ("    changes: payment\n", "", "no operation changes 'payment'"),
        ("even: {amount:", "even: {amuont:", "even.amuont: there is no argument 'amuont'"),
    ],
)
def test_parameters_of_requests(old, new, said):
    """What cannot be asked is said where it is named, and once."""
    assert 1 == sum(said in one for one in problems(old, new))
