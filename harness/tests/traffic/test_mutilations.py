"""A mutilated recording never says what the whole recording does not say.

The whole recording is judged as complete, a mutilated one as any other file. Of each obligation:

* it is violated only if the whole recording violates it;
* where the whole recording violates it by exchanges that are all still there, unchanged, it does
  not conform.

So the verdict is that of the whole recording, or it is open. It may conform where the exchanges of
a violation are gone: what is left conforms. That is no evidence of absence, since `conforms` speaks
of the exchanges of a recording alone.
"""

import json
import os
from functools import cache
from random import Random

import pytest
from clients import BASE, Client, clean
from mutilations import ENTRY, MUTILATIONS, interleaved, mutilate, record

from assay.contract.model import Party
from assay.rules.verdict import Agreement, Standing
from assay.sandbox.app import make_app
from assay.sandbox.mutants import MUTANTS, PIS_MUTANTS
from assay.sandbox.policies import SOUND
from assay.traffic import session
from assay.traffic.judge import Judge
from assay.traffic.session import open_recording

FAULTS = (*MUTANTS, *PIS_MUTANTS)
#: Recordings, and mutilations of each.
RECORDINGS, EACH = int(os.environ.get("ASSAY_MUTILATED_RECORDINGS", "8")), 5
OPEN = {Standing.INDETERMINATE, Standing.UNVERIFIED}


@pytest.fixture(autouse=True)
def read_once(monkeypatch):
    """Read contracts and target files once: every recording is judged by the same ones."""
    for name in ("parse_contracts", "load_target"):
        monkeypatch.setattr(session, name, _cached(name))


@cache
def _cached(name):
    read = cache(getattr(session, name))
    return lambda *given: read(*(tuple(each) if isinstance(each, list) else each for each in given))


def judged(path, document, party, **options):
    """Return the verdicts on a document, and the entry of each exchange by its number."""
    path.write_text(json.dumps(document), encoding="utf-8")
    recording = open_recording(path, party=party, bank_clock=True, **options)
    judge = Judge(plan=recording.plan, target=recording.target, party=party)
    verdicts = judge.judge(recording.histories).conclusion.verdicts
    (named,) = recording.histories
    entries = {one.n: one.wire.header(ENTRY) for one in named.history.exchanges}
    return {one.obligation: one for one in verdicts}, entries


def by_number(document):
    """Return the entries of a document by their own numbers."""
    return {
        header["value"]: entry
        for entry in document["log"]["entries"]
        for header in entry["response"]["headers"]
        if header["name"] == ENTRY
    }


def contradictions(verdicts, whole, entries, unchanged):
    """Yield the obligations on which a mutilated recording says what the whole one does not."""
    for obligation, verdict in verdicts.items():
        true = whole[obligation]
        violated = true.standing is Standing.VIOLATES
        if verdict.standing is Standing.VIOLATES and not violated:
            yield f"{obligation}: violates, not {true.standing.value}"
        if verdict.standing is Standing.CONFORMS and violated:
            shown = [
                {entries[n] for n in one.exchanges if n in entries}
                for one in true.evidence
                if one.agreement is Agreement.DISAGREES
            ]
            if any(numbers <= unchanged for numbers in shown):
                yield f"{obligation}: conforms, in spite of what is still there"


@pytest.mark.parametrize("seed", range(RECORDINGS))
def test_mutilated_recordings(seed, tmp_path):
    """Whatever a recording lost, its verdicts are those of the whole recording, or open."""
    rng = Random(seed)
    fault = rng.choice(FAULTS) if rng.random() < 0.3 else None
    app = make_app(fault.change(SOUND), base_url=BASE) if fault else None
    document = record(tmp_path / "whole.har", rng, app=app)
    whole = {
        party: judged(tmp_path / "whole.har", document, party, complete=True) for party in Party
    }
    entries = by_number(document)
    wrong = []
    for number in range(EACH):
        # Each way of mutilating is used, whatever the random numbers are.
        only = [MUTILATIONS[(seed * EACH + number) % len(MUTILATIONS)]] if number == 0 else None
        mutilated, how = mutilate(document, rng, only)
        left = by_number(mutilated)
        unchanged = {one for one, entry in left.items() if entry == entries[one]}
        for party in Party:
            verdicts, _ = judged(tmp_path / "part.har", mutilated, party)
            said = contradictions(verdicts, *whole[party], unchanged)
            wrong += [f"{number}, {how}, {party.value}: {one}" for one in said]
    assert [] == wrong


@pytest.mark.parametrize("seed", range(RECORDINGS // 4))
def test_two_clients(seed, tmp_path):
    """Two clients in one recording violate nothing that neither of them violates."""
    rng, app = Random(f"two {seed}"), make_app(base_url=BASE)
    first, second = (record(tmp_path / "one.har", rng, app=app) for _ in range(2))
    for party in Party:
        alone = [
            judged(tmp_path / "one.har", each, party, complete=True)[0] for each in (first, second)
        ]
        for complete in (False, True):
            both, _ = judged(
                tmp_path / "two.har", interleaved(first, second), party, complete=complete
            )
            for obligation, verdict in both.items():
                if verdict.standing is Standing.VIOLATES:
                    assert Standing.VIOLATES in {each[obligation].standing for each in alone}, (
                        obligation
                    )


@pytest.mark.parametrize("seed", range(4))
def test_one_of_two_contracts(seed, tmp_path):
    """What a recording says of one contract, it says of it beside another one, in any selection.

    Calls of the other contract may leave open what a part of the recording decides.
    """
    document, har = record(tmp_path / "whole.har", Random(f"contracts {seed}")), tmp_path / "x.har"
    for party in Party:
        both = standings(judged(har, document, party)[0])
        assert both == standings(judged(har, document, party, contracts=("pis", "aisp"))[0])
        for contract in ("aisp", "pis"):
            expected = {name: one for name, one in both.items() if name.startswith(f"{contract}/")}
            selected = standings(judged(har, document, party, keywords=contract)[0])
            alone = standings(judged(har, document, party, contracts=(contract,))[0])
            assert expected == selected
            assert expected.keys() == alone.keys()
            for name, verdict in alone.items():
                assert verdict is expected[name] or OPEN & {verdict, expected[name]}, name


def standings(verdicts):
    """Return the standing of each verdict, by obligation."""
    return {name: verdict.standing for name, verdict in verdicts.items()}


def recorded(tmp_path, act):
    """Return the recording of a clean client that then does something else, as a document."""
    client = Client()
    psu = clean(client)
    act(client, psu)
    return json.loads(client.har(tmp_path / "x.har").read_text(encoding="utf-8"))


def asks_for_the_other(client, psu):
    """Ask for what the consent does not cover."""
    client.get("/accounts/balances", psu, params={"iban": psu["holdings"][1]["key"]})


def test_a_consent_may_be_missing(tmp_path):
    """Nothing is violated for lack of a consent unless the user says that no call is missing."""
    document, scope = recorded(tmp_path, asks_for_the_other), "aisp/consent.scope/only-consented"
    default, _ = judged(tmp_path / "x.har", document, Party.TPP)
    complete, _ = judged(tmp_path / "x.har", document, Party.TPP, complete=True)
    assert Standing.INDETERMINATE is default[scope].standing
    assert "--complete" in default[scope].reason
    assert Standing.VIOLATES is complete[scope].standing


@pytest.mark.parametrize("lost", ["body", "text", "entry", "time"])
def test_a_consent_that_is_not_recorded(lost, tmp_path):
    """A consent without its body, its entry, or its place in time is no violation (strangers, A4)."""
    document = recorded(tmp_path, lambda client, psu: None)
    entries = document["log"]["entries"]
    (consent,) = [
        one
        for one in entries
        if one["request"]["method"] == "PUT" and "consents" in one["request"]["url"]
    ]
    match lost:
        case "body":
            del consent["request"]["postData"]
        case "text":
            del consent["request"]["postData"]["text"]
        case "entry":
            entries.remove(consent)
        case _:
            entries.remove(consent)
            entries.append(consent)
            for entry in entries:
                entry["startedDateTime"] = consent["startedDateTime"]
    verdicts, _ = judged(tmp_path / "x.har", document, Party.TPP)
    assert not {name for name, one in verdicts.items() if one.standing is Standing.VIOLATES}
