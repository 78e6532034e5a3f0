"""What a sound file was doubted for: several resources, unsigned requests, a bank that fails."""

from types import SimpleNamespace

from rows import for_each

from assay.history import Call, Owned, State
from assay.onboarding.doctor import rule_answers
from assay.onboarding.doctor.items import known_keys
from assay.onboarding.doctor.made_requests import _only_there
from assay.onboarding.doctor.record import RULE
from assay.onboarding.doctor.request_effects import _has_more
from assay.rules.verdict import DISAGREES, Evidence
from assay.testing import exchange, failed, history, listed

OWNS = (Owned(key="A1", resource="account"), Owned(key="B1", resource="branch"))
SUBJECT = SimpleNamespace(owns=OWNS, owned=lambda key: None)
RECORD = SimpleNamespace(subjects={"psu": SUBJECT}, makes_customers=True)


def listing(*resources):
    """Return an operation that lists these resources."""
    return SimpleNamespace(lists=resources, about=None, shows=None, request=None)


def test_the_keys_of_a_list_are_those_of_what_it_lists():
    """Entries of all accounts have keys of their own, which are not those of accounts."""
    for resources, keys in ((("account",), {"A1"}), (("account", "branch"), {"A1", "B1"})):
        seen = SimpleNamespace(operation=listing(*resources), record=RECORD)
        assert keys == known_keys(seen)
    assert set() == known_keys(SimpleNamespace(operation=listing("entry"), record=RECORD))


def test_a_list_has_more_pages_only_if_there_is_more_that_it_lists():
    """One branch on a page is all of one branch, whatever else the customer owns."""
    for resources, more in ((("branch",), False), (("account", "branch"), True)):
        first = SimpleNamespace(operation=listing(*resources), subject="psu", items=("B1",))
        assert more is _has_more(RECORD, first)


@for_each(("signed", "doubts"), [((), 0), (("a signature",), 1)])
def test_a_request_that_nobody_signs_may_be_done_at_once(signed, doubts):
    """What violates a rule about such a request is no reason to doubt the word for done."""
    state = SimpleNamespace(at=("/status",), values={})
    answer = SimpleNamespace(
        probe=f"orders {RULE} key",
        operation=SimpleNamespace(id="show", shows="order"),
        binding=SimpleNamespace(item=SimpleNamespace(state=state)),
        raw_items=({"status": "made"},),
        items=(SimpleNamespace(state=State.DONE),),
    )
    record = SimpleNamespace(
        operations=(answer.operation,),
        of=lambda _: (answer,),
        signed=signed,
        redactor=SimpleNamespace(bounded=lambda word, _: word),
        finding=lambda *what: what,
    )
    assert doubts == len([*_only_there(record, answer.probe, "key")])


@for_each(("answer", "doubts"), [(failed(status=500), 0), (listed("a"), 1)])
def test_a_bank_that_fails_over_an_argument_reads_it(monkeypatch, answer, doubts):
    """Only a call that is served in spite of it was perhaps made under another name."""
    spelling = SimpleNamespace(place=SimpleNamespace(value="query"), name="id")
    monkeypatch.setattr(rule_answers, "arguments_of", lambda *_: [("entries", "id", spelling)])
    wrong = Evidence(facet="f", agreement=DISAGREES, expected="e", seen="s", exchanges=(1,))
    kind = SimpleNamespace(facets=lambda: [SimpleNamespace(id="f")])
    record = SimpleNamespace(
        rules=[(None, "read", kind)],
        history=lambda *_: history(exchange(Call(operation="entries", subject="psu"), answer)),
        violations=lambda *_: [wrong],
        target=None,
        finding=lambda *what: what,
    )
    assert doubts == len([*rule_answers._ignored(record)])
