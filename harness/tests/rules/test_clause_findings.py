"""What is wrong in a clause is a finding, with a hint: a name, a number, a pattern, a key too few."""

from pathlib import Path

from rows import for_each
from xs2a_consents import XS2A

from assay.testing import problems

DESK = Path(__file__).parents[1] / "general_kinds" / "desk.yaml"


@for_each(
    ("contract", "clause", "right", "wrong", "problem"),
    [
        (XS2A, "accounts.owner", "mode: with-owner-name", "mode: with-ownername", "did you mean 'with-owner-name'"),
        (XS2A, "accounts.owner", "field: ownerName", "field: ownersName", "did you mean 'ownerName'"),
        (XS2A, "accounts.owner", "operation: accounts\n    mode", "operation: end-consent\n    mode", "lists nothing"),
        (XS2A, "accounts.owner", "request: consent\n", "request: payment\n", "is no consent"),
        (XS2A, "balances.named", "mode: without-balances", "mode: without-balance", "did you mean 'without-balances'"),
        (XS2A, "frequency.account", "argument: frequencyPerDay,", "argument: frequency,", "there is no argument"),
        (XS2A, "frequency.account", "    counted-for: consent\n", "", "add `counted-for: consent`"),
        (XS2A, "frequency.account", "    grant: make-consent\n", "", "no operation that makes consents"),
        (XS2A, "frequency.account", "at-most: 4}", "at-least: 4}", "at-most"),
        (DESK, "selected", "    argument: status\n", "", "`values` without `argument`"),
        (DESK, "selected", "field: status", "field: state", "there is no field 'state' (did you mean 'status'?)"),
        (DESK, "selected", "operation: entries", "operation: accounts", "'accounts' takes no such day"),
        (DESK, "selected", "since: included", "since: maybe", "expected included or excluded, found 'maybe'"),
        (DESK, "amount", "field: amount", "field: amont", "there is no argument 'amont' (did you mean 'amount'?)"),
        (DESK, "amount", "    decimals: 2\n", "", "at least one of decimals, max-length"),
        (DESK, "amount", "decimals: 2", "decimals: -1", "expected a whole number of at most 10, found -1"),
        (DESK, "label", "max-length: 30", "max-length: long", "expected a whole number of at least 1, found 'long'"),
        (DESK, "request-id", "argument: X-Request-ID", "argument: X-Request-Id", "there is no argument 'X-Request-Id' (did you mean 'X-Request-ID'?)"),
        (DESK, "request-id", "format: uuid", "format: guid", "expected uuid or date, found 'guid'"),
        (DESK, "request-id", "format: uuid", 'pattern: "["', "no regular expression: missing ]: ["),
        (DESK, "request-id", "format: uuid", 'pattern: "(?=a)"', "no regular expression: invalid perl operator: (?="),
        (DESK, "request-id", "format: uuid", 'pattern: "a"\n    format: date', "`pattern` beside `format` (say one of them)"),
        (DESK, "rows", "limit: 100", "limit: 0", "expected a whole number of at least 1, found 0"),
        (DESK, "order-status", "resource: order", "resource: odrer", "there is no resource 'odrer' (did you mean 'order'?)"),
        (DESK, "order-status", "field: status", "field: state", "'order' has no field 'state' (did you mean 'status'?)"),
        (DESK, "order-status", "first: [received]", "first: [received]\n    operation: entries", "the operation 'entries' does not show 'order'"),
        (DESK, "order-status", "first: [received]", "first: [new]\n    words: [received, accepted, done, refused, cancelled]", "there is no word 'new'"),
        (DESK, "order-status", "first: [received]", "words: [received, accepted, done, refused]", "there is no word 'cancelled'"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_clause_is_a_finding(
    contract, clause, right, wrong, problem, *, tmp_path
):
    """It is said what was found, and what was probably meant."""
    before, id_, after = contract.read_text("utf-8").partition(f"  - id: {clause}\n")
    assert right in after
    path = tmp_path / contract.name
    path.write_text(before + id_ + after.replace(right, wrong, 1))
    found = problems(path)
    assert any(problem in each for each in found), found
