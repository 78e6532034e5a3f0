"""Merging of evidence into verdicts, of verdicts into counts, of counts into an exit code."""

from rows import for_each

from assay.errors import Exit
from assay.rules.verdict import Agreement, Evidence, Standing, Verdict, explain, tally, weigh

YES, NO, OPEN = Agreement.AGREES, Agreement.DISAGREES, Agreement.UNCLEAR


def seen(agreement, expected="this", seen="that", **fields):
    return Evidence(
        facet="f", agreement=agreement, expected=expected, seen=seen, exchanges=(1, 2), **fields
    )


@for_each(
    ("agreements", "standing"),
    [
        ([], Standing.INDETERMINATE),
        ([YES], Standing.CONFORMS),
        ([YES, YES], Standing.CONFORMS),
        ([OPEN], Standing.INDETERMINATE),
        ([YES, OPEN], Standing.INDETERMINATE),
        ([NO], Standing.VIOLATES),
        ([YES, NO], Standing.VIOLATES),
        ([OPEN, NO, YES], Standing.VIOLATES),
    ],
)
def test_a_violation_outweighs_doubt_and_doubt_a_pass(agreements, standing):
    """A violation outweighs doubt, doubt outweighs a pass, and no evidence is never a pass."""
    assert standing is weigh(map(seen, agreements))[0]


def test_the_reason_is_the_first_that_decides():
    """The first deciding evidence is the reason; a pass has none, and neither has no evidence."""
    first, second = seen(NO, "a", "b"), seen(NO, "c", "d")

    assert "expected a; b" == weigh([seen(YES), first, second])[1]
    assert "expected c; d" == weigh([second, first])[1]
    assert "expected this; that" == weigh([seen(OPEN)])[1]
    assert "" == weigh([seen(YES)])[1]
    assert (Standing.INDETERMINATE, "") == weigh([])


def verdicts(*standings):
    return [Verdict(obligation=str(n), standing=one) for n, one in enumerate(standings)]


def test_every_standing_is_counted_also_where_there_is_none():
    """Every standing is counted, even if there is none, in a fixed order."""
    counts = tally(verdicts(Standing.WAIVED, Standing.CONFORMS, Standing.CONFORMS))

    assert [
        ("conforms", 2),
        ("violates", 0),
        ("indeterminate", 0),
        ("unverified", 0),
        ("unspecified", 0),
        ("not-applicable", 0),
        ("waived", 1),
    ] == list(counts.items())


def test_the_exit_codes_are_five():
    """There are five exit codes; 2 is for what the user must correct."""
    assert [0, 1, 2, 3, 4] == [one.value for one in Exit]


def test_a_verdict_is_explained_by_what_disagrees():
    """An explanation has the disagreeing evidence with its calls, and its variation if any."""
    verdict = Verdict(
        obligation="aisp/x/y",
        standing=Standing.VIOLATES,
        reason="expected a; b",
        evidence=(seen(YES, "no", "no"), seen(NO, "a", "b", variation="by night"), seen(NO)),
    )

    assert (
        "aisp/x/y violates: expected a; b\n"
        "  expected a\n"
        "  seen     b (call 1, 2)\n"
        "  by       by night\n"
        "  expected this\n"
        "  seen     that (call 1, 2)"
    ) == explain(verdict)
