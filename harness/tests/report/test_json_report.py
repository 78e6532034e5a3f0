"""The JSON report keeps to its published schema."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema

from assay.report.values import UnfinishedTrial

SCHEMA = json.loads((Path(__file__).parents[3] / "contract/schema/report.json").read_text("utf-8"))


def test_json_schema_is_one():
    """The published schema is itself valid."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_json_valid(mixed, written):
    """A real report is valid by the published schema."""
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(written(mixed, "json")))


def test_json_of_unfinished(journal, written):
    """A report of an unfinished run is valid too."""
    values = json.loads(written(journal.plan().read(partial=True), "json"))
    jsonschema.Draft202012Validator(SCHEMA).validate(values)


def test_json_of_a_trial_that_ended_early(mixed, written):
    """A trial in a further context that ended early stands in the report, as the schema has it."""
    early = UnfinishedTrial(trial="a/b#c [x]", reason="needs 1 more call")
    values = json.loads(written(replace(mixed, unfinished=(early,)), "json"))
    assert [{"trial": "a/b#c [x]", "reason": "needs 1 more call"}] == values["unfinished"]
    jsonschema.Draft202012Validator(SCHEMA).validate(values)


def test_json_of_a_decisive_member(journal, written):
    """The place of a decisive member is the journal's; evidence without one has no such member."""
    found = {"agreement": "disagrees", "expected": "a", "seen": "b", "exchanges": [17]}
    places = ({"pointer": "/accounts/2/iban"}, {"header": "Location"}, {})
    journal.plan().exchange()
    journal.verdict(verdict="violates", evidence=[found | place for place in places])
    values = json.loads(written(journal.footer().read(), "json"))
    jsonschema.Draft202012Validator(SCHEMA).validate(values)
    (obligation,) = values["obligations"]
    kept = [
        {name: each[name] for name in ("pointer", "header") if name in each}
        for each in obligation["evidence"]
    ]
    assert [*places] == kept


def objects(values):
    """Yield every object inside JSON values."""
    if isinstance(values, dict):
        yield values
    inner = values.values() if isinstance(values, dict) else values
    for one in inner if isinstance(values, dict | list) else ():
        yield from objects(one)


def test_json_unknown_property(mixed, written):
    """The schema refuses an unknown property in any object of a report."""
    values = json.loads(written(mixed, "json"))
    validator = jsonschema.Draft202012Validator(SCHEMA)
    for value in objects(values):
        value["surprise"] = 1
        assert not validator.is_valid(values)
        del value["surprise"]
    assert validator.is_valid(values)
