"""The export by binding feature: whatever is bound is in the document, or has a reason."""

import copy
import json

import pytest

from assay.binding.model.features import BINDING_FEATURES
from assay.binding.read.join import bind
from assay.files.load import dump, load, loads
from assay.openapi import document
from assay.parsing.parse import find_contract, parse_contract
from assay.preparation.target_file import find_target, read_document

CONTRACTS = tuple(parse_contract(find_contract(name)) for name in ("aisp", "pis"))
#: What the sandbox leaves as it is in the contract, bound otherwise for one operation.
BOUND = {
    "method": "POST",
    "path": "/all-accounts",
    "aliases": ["/account-list"],
    "headers": {"Accept-Language": "en"},
    "queries": {"view": "full"},
    "template": {"view": "full"},
    "outcomes": {"accepted": [{"statuses": [203]}]},
    "outputs": {"cursor": "/cursor"},
}
#: The second call of a bank where a consent precedes a payment, and how payments are read then.
SUBMITTED = {
    "create-payment": {"submission": {"path": "/payments"}},
    "read-payment": {"submitted": {"path": "/payments/{paymentRequestResourceId}"}},
}


@pytest.fixture
def data():
    """Return the data of a target file that binds every feature."""
    data = load(find_target("sandbox")).data
    data["operations"]["accounts"] |= BOUND
    for name, keys in SUBMITTED.items():
        data["operations"][name] |= keys
    data["operations"]["accounts"]["item"] |= {"id": "/resourceId", "volatile": ["/seen"]}
    return data


def drop(section, key):
    """Remove a key from a mapping; NAME stands for every name."""
    first, *rest = key
    for name in list(section) if first == "NAME" else [first]:
        if name in section and rest:
            drop(section[name], rest)
        else:
            section.pop(name, None)


def exported(data):
    """Return the document for the data of a target file, as text."""
    target = read_document(loads(dump(data)))
    return json.dumps(document(bind(CONTRACTS, target), target))


@pytest.mark.parametrize("feature", BINDING_FEATURES)
def test_what_is_bound_is_in_the_document(feature, data):
    """Without the key of the feature, the document says less; or there is a reason."""
    if feature == "given":
        data["operations"]["consents"]["given"] = "with-token"
    if feature == "whole":
        data["operations"]["modify-payment"]["whole"] = True
    if feature == "submission":
        del data["operations"]["read-payment"]["submitted"]
    before = exported(data)
    without = copy.deepcopy(data)
    for operation in without["operations"].values():
        drop(operation, BINDING_FEATURES[feature].place("", "NAME")[2:])
    assert data != without
    assert (before != exported(without)) is not bool(BINDING_FEATURES[feature].not_exported)
