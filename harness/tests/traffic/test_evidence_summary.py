"""What a verdict needs of the evidence: the same as if every piece of it were kept."""

from dataclasses import replace
from random import Random

from rows import for_each

from assay.judging.corrections import DECIDED
from assay.rules.verdict import Agreement, Evidence, Standing, weigh
from assay.traffic.doubts import MISSING
from assay.traffic.judge import (
    MAX_EVIDENCE,
    ORDER_UNKNOWN,
    EvidenceSummary,
    MergedEvidence,
)


def pieces(rng, weights):
    """Return evidence on one facet, each piece with whether it is in doubt."""
    drawn = rng.choices([*Agreement], weights, k=rng.randrange(0, 90))
    return [
        (
            Evidence(
                facet="x",
                agreement=agreement,
                expected="this",
                seen=f"that {n}",
                exchanges=tuple(rng.sample(range(3000), 3)),
            ),
            agreement is Agreement.DISAGREES and rng.random() < 0.7,
        )
        for n, agreement in enumerate(drawn)
    ]


def all_kept(histories):
    """Return the verdict by keeping everything, with the trial of the gravest history."""
    known, standings = [], []
    for trial, (shown, agreed) in enumerate(histories):
        if not shown:
            continue
        decided = weigh(evidence for evidence, _ in shown)[0] in DECIDED
        history = []
        for evidence, doubted in shown:
            why = "" if agreed else ORDER_UNKNOWN
            why = why or (MISSING if doubted else "")
            clear = evidence.agreement is not Agreement.UNCLEAR
            seen = f"{evidence.seen}; {why}"
            unclear = replace(evidence, agreement=Agreement.UNCLEAR, seen=seen)
            history.append(unclear if decided and why and clear else evidence)
        known += history
        standings.append((weigh(history)[0], str(trial)))
    standing, reason = weigh(known)
    left = dict.fromkeys(Agreement, MAX_EVIDENCE)
    first = []
    for each in known:
        left[each.agreement] -= 1
        first += [each] if left[each.agreement] >= 0 else []
    calls = len({n for each in known for n in each.exchanges})
    gravest = next((trial for each, trial in standings if each is standing), None)
    return standing, reason, tuple(first), calls, gravest


@for_each("seed", range(150))
def test_a_verdict_on_many_pieces(seed):
    """The verdict, its reason, its first pieces and their number do not depend on what is dropped."""
    rng = Random(seed)
    weights = rng.choice([(9, 1, 1), (1, 9, 1), (1, 1, 9), (1, 0, 0), (5, 0, 2), (5, 2, 0)])
    histories = [(pieces(rng, weights), rng.random() < 0.7) for _ in range(rng.choice([1, 1, 3]))]
    merged = MergedEvidence()
    for trial, (shown, agreed) in enumerate(histories):
        summary = EvidenceSummary()
        for evidence, doubted in shown:
            summary.add(evidence, doubt=MISSING if doubted else "")
        if shown:
            merged.take(summary.certain(agreed=agreed), summary.numbers, str(trial))
    verdict, trial = merged.verdict("a/b/x", "nothing")
    standing, reason, first, calls, gravest = all_kept(histories)
    if gravest is None:
        assert Standing.UNVERIFIED is verdict.standing
        return
    assert (standing, reason, first, calls) == (
        verdict.standing,
        verdict.reason,
        verdict.evidence,
        verdict.calls,
    )
    assert gravest == trial
