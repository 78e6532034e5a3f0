"""The test kit for authors of kinds: what its banks, histories and runs do."""

from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest
from foreign.dialects import LOCKERS

from assay.errors import KindError
from assay.history import Owned, Subject
from assay.kinds import (
    Advance,
    Arrange,
    BindingRequirement,
    Call,
    Capability,
    Evidence,
    Facet,
    Holding,
    Kind,
    Scenario,
    Standing,
    TppFacet,
    must_be_refused,
    must_be_served,
    needs,
)
from assay.kinds.requests import (
    Authorise,
    Authorised,
    Decision,
    Ending,
    Inquire,
    Lack,
    Register,
    Withdraw,
)
from assay.parsing.parse import find_contract
from assay.rules.kinds import find_kind
from assay.testing import (
    START,
    accepted,
    evidence,
    exchange,
    failed,
    history,
    judge,
    kind_in,
    listed,
    lost,
    play,
    problems,
    refused,
    signature,
    use_kind,
    verdicts,
)

HERE = Path(__file__).parent
CALL = Call(operation="parcels", subject="psu")
DAY = timedelta(days=1)
#: A step of every sort, in an order in which a probe can ask for them.
STEPS = (
    Lack(mode="express"),
    Advance(),
    Arrange(
        subject="psu", holdings=(Holding(resource="locker", count=2, entries=(START.date(),)),)
    ),
    Advance(to=START + DAY),
    CALL,
    Authorise(subject="psu", request="R", approval=None),
    Authorise(subject="psu", request="R", approval=None, decision=Decision.REFUSE),
    Register(subject="psu", operation="book", argument="number", age=DAY),
    Withdraw(subject="psu", request="R"),
    Inquire(),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Every(Kind):
    """A kind that asks for every sort of step, and judges calls."""

    name = "every"

    def facets(self):
        return (
            Facet(
                id="served",
                description="it is served",
                scenario=Scenario(id="all"),
                needs=needs(Capability.PSU),
            ),
            Facet(
                id="never",
                description="it cannot be tested",
                scenario=Scenario(id="none"),
                needs=needs(Capability.PSU),
                not_applicable_because="it is an example",
            ),
        )

    def probe(self, scenario):
        for step in STEPS:  # noqa: UP028 -- a tuple takes no replies
            yield step

    def check(self, history):
        for each in history.exchanges:
            yield must_be_served("served", each, "it is offered")

    def tpp_facet(self):
        return TppFacet(id="tpp", description="the TPP calls nothing")

    def check_tpp(self, history):
        for each in history.exchanges:
            yield replace(must_be_refused("tpp", each, "it is not its own"), exchanges=(7,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken(Every):
    """A kind whose check has a mistake."""

    name = "broken"

    def check(self, history):
        raise ValueError("a mistake in a check")
        yield Evidence  # makes it a generator

    def probe(self, scenario):
        yield from ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Misspelt(Every):
    """A kind whose check names a facet that it does not have."""

    name = "misspelt"

    def check(self, history):
        for each in history.exchanges:
            yield must_be_served("serves", each, "it is offered")

    def probe(self, scenario):
        psu = yield Arrange(subject="psu", holdings=(Holding(resource="locker"),))
        yield replace(CALL, arguments={"number": psu.owns[0].key})


@dataclass(frozen=True, slots=True, kw_only=True)
class Demanding(Every):
    """A kind that requires what no target file can bind."""

    name = "demanding"
    #: What the one facet requires.
    requirement = BindingRequirement(operation="parcels", feature="key")

    def facets(self):
        served, _ = Every.facets(self)
        return (replace(served, requires=(self.requirement,)),)


@pytest.fixture
def contract(tmp_path):
    """Return what writes a contract with one clause of a kind."""

    def contract(kind):
        text = (HERE / "parcels.yaml").read_text("utf-8").partition("rules:\n")[0]
        path = tmp_path / "contract.yaml"
        clause = f"{{id: c, kind: {kind}, says: It is so., source: {{section: s, line: 1}}}}"
        path.write_text(f"{text}rules: [{clause}]\n")
        return path

    return contract


@pytest.fixture
def clause(contract):
    """Return the clause of the kind `every`."""
    with use_kind(Every):
        yield kind_in(contract("every"), "c")


def test_a_scripted_bank_grants_every_step(clause):
    """Each step but a look at the clock becomes an event, numbered and in order."""
    played = play(clause, "all", lambda call: accepted("A"))

    assert STEPS == played.steps
    assert (CALL,) == played.calls
    lacking, subject, moved, called, signed, not_signed, known, ended, done = played.history.events
    assert ("express", START) == (lacking.mode, lacking.now)
    assert ["psu-1", "psu-2"] == [thing.key for thing in subject.owns]
    assert ["psu-1-1"] == [entry.key for entry in subject.owns[0].entries]
    assert START + DAY == moved.now < called.at
    assert (1, 2, 3) == (called.n, signed.n, not_signed.n)
    assert "the request was signed" == signed.ending.value
    assert "the request was refused" == not_signed.ending.value
    assert START == known.since
    assert ended.done
    assert done.done is None


def test_a_reply_may_be_another_one(clause):
    """What replaces it is sent to the probe, and stands in the history, from another moment on."""

    def reply(step, reply):
        return replace(reply, ending=Ending.STOPPED) if isinstance(step, Authorise) else reply

    played = play(clause, "all", lambda call: accepted("A"), reply=reply, start=START - DAY)

    signed = [event for event in played.history.events if isinstance(event, Authorised)]
    assert [Ending.STOPPED] * 2 == [event.ending for event in signed]
    assert (2, 3) == (len(played.signatures), played.spent)
    assert START - DAY == played.history.events[0].now


def test_a_facet_that_cannot_be_tested_is_not_played(clause):
    """Only what a run would ask for is judged."""
    assert {"served": Standing.VIOLATES} == judge(clause, lambda: lambda call: refused())
    assert {"served": Standing.INDETERMINATE} == judge(clause, lambda: lambda call: lost())


def test_both_sides_are_judged(clause):
    """A literal history is numbered; the check of the TPP's side is asked for by name."""
    said = history(exchange(CALL, listed()), exchange(CALL, failed(), at=START + DAY))

    assert ["served agrees 1", "served unclear 2"] == evidence(clause, said)
    assert ["tpp unclear 7", "tpp unclear 7"] == evidence(clause, said, tpp=True)
    assert [START + timedelta(seconds=1), START + DAY] == [each.at for each in said.exchanges]


def test_a_signature_without_a_time_gets_one():
    """It is a second after the event before it; one that was given stays, even `START` by chance."""
    step = Authorise(subject="psu", request="R", approval=None)
    equal = START + DAY - DAY
    called, signed, late = history(
        exchange(CALL, lost(), at=equal), signature(step), signature(step, at=START + DAY)
    ).events

    assert (START, START + timedelta(seconds=2), START + DAY) == (called.at, signed.at, late.at)
    assert (1, 2, 3) == (called.n, signed.n, late.n)


def test_a_check_can_be_asked_alone():
    """A refusal that a breach of the TPP's duty under another clause explains disagrees then."""
    clause = Every(contract=kind_in(find_contract("aisp"), "batch-quota").contract)
    consent = Call(operation="consents", subject="psu", arguments={"accounts": ["A1"]})
    batch = Call(operation="balances", subject="psu", arguments={"iban": "A1"}, present=False)
    owner = Subject(name="psu", now=START, owns=(Owned(key="A1", resource="account"),))
    served = [exchange(call, accepted("A1")) for call in (consent, *[batch] * 4)]
    said = history(owner, *served, exchange(batch, refused()))

    assert ["served unclear 6"] == evidence(clause, said)[5:]
    assert ["served disagrees 6"] == evidence(clause, said, alone=True)[5:]


def test_a_kind_is_known_within_its_block_only(contract):
    """Afterwards a contract with it is wrong again."""
    path = contract("every")
    with use_kind(Every):
        assert [] == problems(path)
        assert Every is find_kind("every")
    assert find_kind("every") is None
    assert 1 == len(problems(path))


def test_a_clause_that_is_not_there(contract):
    """The id of a clause must be one of the contract's."""
    with use_kind(Every), pytest.raises(KeyError, match="other"):
        kind_in(contract("every"), "other")


def test_a_check_that_raises_ends_the_run(contract):
    """A mistake of a kind is no verdict."""
    with use_kind(Broken), pytest.raises(RuntimeError, match="a mistake in a check"):
        verdicts(contract("broken"), HERE / "parcels-target.yaml", LOCKERS())


def test_evidence_for_an_unknown_facet_is_an_error(contract):
    """A misspelt facet id is not dropped: the error names the one that was probably meant."""
    with use_kind(Misspelt):
        clause = kind_in(contract("misspelt"), "c")
    hint = r"'serves', which is none of its facets \(did you mean 'served'\?\)"
    with pytest.raises(KindError, match=hint):
        judge(clause, lambda: lambda call: accepted())
    with pytest.raises(KindError, match=hint):
        evidence(clause, history(exchange(CALL, accepted())))


def test_evidence_for_an_unknown_facet_is_a_fault_of_a_run(contract):
    """A run records one line, and ends with a harness fault instead of a verdict."""
    with use_kind(Misspelt), pytest.raises(RuntimeError) as raised:
        verdicts(contract("misspelt"), HERE / "parcels-target.yaml", LOCKERS())
    assert str(raised.value) == (
        "parcels/c#all: KindError: the check of kind 'misspelt' yields evidence for 'serves', "
        "which is none of its facets (did you mean 'served'?)"
    )


def test_evidence_for_a_tpp_facet_that_is_not_there_is_an_error(clause):
    """A kind that judges the TPP declares the facet, too."""
    silent = type("Silent", (Every,), {"tpp_facet": lambda _: None})
    kind = silent(contract=clause.contract)
    with pytest.raises(KindError, match=r"'tpp', .* \(it has no facet at all\)"):
        evidence(kind, history(exchange(CALL, accepted())), tpp=True)


@pytest.mark.parametrize(
    ("operation", "feature", "problem"),
    [
        ("parcels", "kay", "an unknown feature 'kay' (did you mean 'key'?)"),
        ("parcel", "key", "an unknown operation 'parcel' (did you mean 'parcels'?)"),
    ],
)
def test_an_unknown_requirement_is_a_finding(contract, monkeypatch, operation, feature, problem):
    """What a facet requires of the target file is checked with the contract, with a hint."""
    path = contract("demanding")
    with use_kind(Demanding):
        assert [] == problems(path)
        requirement = BindingRequirement(operation=operation, feature=feature)
        monkeypatch.setattr(Demanding, "requirement", requirement)
        (found,) = problems(path)
    assert f"the facet 'served' of kind 'demanding' requires {problem}" in found
    assert found.startswith(f"{path}:")


def test_shipped_kinds_can_be_played_too():
    """A clause of a shipped contract is like any other; this bank serves at every bank of its group."""
    clause = kind_in(find_contract("aisp"), "accounts.available")
    conforming = dict.fromkeys(("answers", "survives-malformed", "at-once"), Standing.CONFORMS)

    assert conforming | {"refused-outside": Standing.VIOLATES} == judge(
        clause, lambda: lambda call: accepted("A")
    )
