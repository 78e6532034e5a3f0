"""The output formats of a comparison: what each says, and that no text of a contract breaks it."""

import io
import json
import re
from dataclasses import replace

import jsonschema
import pytest
from fluidattacks_core.sarif import SarifLog
from support.consumers import workflow_commands

from assay._resources import contract_dir
from assay.extras.diff import compare
from assay.extras.diff.formats import FORMATS
from assay.files.load import loads

SCHEMA = json.loads((contract_dir() / "schema" / "diff.json").read_text("utf-8"))
AISP = (contract_dir() / "aisp.yaml").read_text("utf-8")
QUOTA = "rules/batch-quota/limit: 4 → 3"

#: What a reader of each format might act on.
HOSTILE = (
    "::error::x\\r\\n::warning::y <script>alert(1)</script> | `a` [b](http://c.example) @you "
    "\\u202e %0A ]]> \\U0001F4A3"
)


def edited(*edits):
    """Return the comparison of a shipped contract with an edited one."""
    text = AISP
    for before, after in edits:
        assert before in text
        text = text.replace(before, after, 1)
    return compare(loads(AISP, "old.yaml"), loads(text, "new.yaml"))


def rendered(diff, name):
    """Return a comparison in a format."""
    out = io.StringIO()
    FORMATS[name](diff, out)
    return out.getvalue()


@pytest.fixture(autouse=True)
def _repository(monkeypatch, tmp_path):
    """Be in a folder that is no repository: paths are as given."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def quota():
    """Return the comparison of a contract with one of a lower quota."""
    return edited(("    limit: 4", "    limit: 3"))


@pytest.fixture(scope="module")
def hostile():
    """Return a comparison in which every text that a contract may choose is hostile."""
    return edited(
        ("title: Account information", f'title: "{HOSTILE}"'),
        ("savings: it is not a current account", f'savings: "{HOSTILE}"'),
        ("const: EUR", f'const: "{HOSTILE}"'),
        ("A page of transactions has 15 items by default", "A"),
        ("    limit: 4", "    limit: 3"),
        ("says: Without the customer present, each", f'says: "{HOSTILE}" # '),
    )


def test_text_says_what_changes_for_whom(quota):
    """The headline counts, each change has impacts, reason, sentence, places and id."""
    assert rendered(quota, "text") == (
        "aisp 1.0 → aisp 1.0: 1 change\n"
        "  TPP  1 review\n"
        "  bank 1 review\n"
        "\n"
        "Review (1)\n"
        f"  {QUOTA}\n"
        "      TPP review, bank review: changed; both parties must review it\n"
        "      Without the customer present, each method can be called up to 4 times per calendar day.\n"
        "      old.yaml:380, new.yaml:380  [quota.limit-changed]\n"
    )


def test_markdown_is_a_table_of_changes(quota):
    """Counts by party with the meaning of each impact, and one row for each change."""
    page = rendered(quota, "markdown")
    assert "| review | 1 | 1 | depends on the case; needs a decision |" in page
    assert "| `rules/batch-quota/limit` 4 → 3 <br>Without the customer" in page
    assert "| review | review | changed; both parties must review it | 380 → 380 |" in page
    token = "rules:\n  - {id: more, kind: token-required, says: A., source: {section: Limits, line: 116}}\n"
    page = rendered(edited(("rules:\n", token)), "markdown")
    assert "| **breaking** | adjust | the bank must refuse or withhold more |" in page


def test_markdown_stays_below_the_limit_of_a_step_summary(quota):
    """What does not fit into 1 MiB is counted."""
    page = rendered(replace(quota, changes=quota.changes * 4_500), "markdown")
    assert len(page.encode()) < 1 << 20
    left_out = int(re.search(r"\*([\d,]+) more changes are left out", page)[1].replace(",", ""))
    assert 4_500 == page.count("<br>") + left_out


def test_json_keeps_to_its_schema(quota, hostile):
    """It has all values; a version without the value has no key for it."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    missing = edited(("    mandatory: true\n", ""), ("limit: 4", "limit: 5"))
    moved = compare(
        *(
            loads(text)
            for text in (AISP, AISP.replace("kind: own-data", "kind: modes\n    served: [a]"))
        )
    )
    for diff in (quota, hostile, missing, moved, edited()):
        jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(rendered(diff, "json")))
    (change, _) = sorted(
        json.loads(rendered(missing, "json"))["changes"], key=lambda each: each["id"]
    )
    assert ("field.mandatory-removed", True) == (change["id"], change["old"])
    assert "new" not in change


def test_github_annotates_the_ten_most_severe(quota):
    """Each at its line in the new file; what merely changes words is none."""
    first, headline = rendered(quota, "github").splitlines()
    assert "::notice title=Assay::aisp 1.0 → aisp 1.0: 1 change" == headline
    assert first == (
        "::warning file=new.yaml,line=380,title=quota.limit-changed::"
        f"{QUOTA} (TPP review, bank review: changed; both parties must review it)"
    )
    names = re.findall(r"^  ([a-z-]+):\n    method: GET", AISP, re.MULTILINE)
    many = edited(
        *((f"  {name}:\n    method: GET", f"  {name}:\n    method: POST") for name in names),
        (
            "fields: [iban, balanceType, currency]",
            "fields: [iban, balanceType, currency, a, b, c, d]",
        ),
        ("size: 5", "size: 6"),
        ("size: 15", "size: 16"),
        ("title: Account", "title: Accounts"),
    )
    *annotations, headline = rendered(many, "github").splitlines()
    assert 10 == len(annotations)
    assert 10 == sum(line.startswith("::warning ") for line in annotations)
    assert headline.endswith(f": {len(many.changes)} changes, 1 more annotation")


def test_sarif_has_rules_results_and_fingerprints(quota, hostile):
    """Each result names a rule of the driver, a level, a place in each file, and its fingerprint."""
    log = json.loads(rendered(quota, "sarif"))
    (run,) = log["runs"]
    (result,) = run["results"]
    assert ("2.1.0", ["quota.limit-changed"]) == (
        log["version"],
        [rule["id"] for rule in run["tool"]["driver"]["rules"]],
    )
    assert ("quota.limit-changed", "warning") == (result["ruleId"], result["level"])
    assert {"tpp": "review", "bank": "review"} == result["properties"]
    assert {"assayContractChange/v1": "b2b63c0364d2f5c2318a87e70aba910d"} == result[
        "partialFingerprints"
    ]
    places = [
        (place["artifactLocation"]["uri"], place["region"]["startLine"])
        for each in (*result["locations"], *result["relatedLocations"])
        for place in (each["physicalLocation"],)
    ]
    assert [("new.yaml", 380), ("old.yaml", 380)] == places
    for diff in (quota, hostile):
        SarifLog.model_validate_json(rendered(diff, "sarif"))


@pytest.mark.parametrize("name", FORMATS)
def test_no_changes(name):
    """Two versions that say the same have an output in every format."""
    text = rendered(edited(), name)
    if name in {"text", "markdown", "github"}:
        assert "no changes" in text
    else:
        values = json.loads(text)
        assert [] == values.get("changes", [])


def test_hostile_texts_are_harmless(hostile):
    """A contract adds no line, command, markup, link or control character to an output."""
    assert 5 == len(hostile.changes) - 1
    for name in ("text", "markdown", "github"):
        text = rendered(hostile, name)
        assert not {"\x1b", "\u202e", "\r"} & set(text)
    text = rendered(hostile, "github")
    assert ["warning", "warning", "warning", "notice"] == [
        command for command, _, _ in workflow_commands(text)
    ]
    page = rendered(hostile, "markdown")
    assert not re.search(r"<script|(?<!\\)\[b|@you|http://", page)
    table = page[page.index("| Change") :].strip().splitlines()
    assert 2 + len(hostile.changes) == len(table)
    lines = rendered(hostile, "text").splitlines()
    assert not [line for line in lines if line.startswith(("::", "Violations"))]


def test_numbers_beyond_floating_point_are_texts():
    """JSON has no number for them that every reader takes."""
    condition = "kind: decision\n    request: a\n    when: {field: a, above: %s}"
    old, new = (loads(AISP.replace("kind: own-data", condition % n)) for n in ("1.5", "1e999"))
    (change,) = json.loads(rendered(compare(old, new), "json"))["changes"]
    assert (1.5, "1E+999") == (change["old"], change["new"])
