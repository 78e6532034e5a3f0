"""Requests that nobody signs: the call that makes one is all that it takes."""

import json
import os
from dataclasses import replace
from functools import cache
from itertools import count
from pathlib import Path

import pytest
import yaml
from embedded import JSON, Gate, run_plan
from rows import for_each

from assay.binding.model.target import Sca
from assay.binding.read.join import bind
from assay.contract.model import Capability
from assay.errors import InputError
from assay.files.document import Document, Spot
from assay.history import Authorise, State
from assay.parsing.parse import find_contract, parse_contract, parse_document
from assay.planning.plan import plan, restrict, script_of
from assay.preparation.target_file import find_target, read_target
from assay.rules import steps
from assay.rules.dry_run import DryTarget, dry_run
from assay.rules.lifecycle import request_steps, tracker
from assay.rules.verdict import Agreement, Standing
from assay.running.environment import set_up
from assay.running.executor import run_probe
from assay.sandbox.app import make_app
from assay.sandbox.messages import Answer
from assay.sandbox.mutants import PIS_MUTANTS
from assay.sandbox.payments.rules import DuplicateRule
from assay.sandbox.policies import SOUND

VIOLATES = Standing.VIOLATES
HERE = Path(__file__).parent
MUTANTS = {mutant.id: mutant for mutant in PIS_MUTANTS}
#: The statuses in which the sandbox carries a payment out, although it was not signed.
WAITING = ("received", "pending")


def unsigned(policies):
    """Return a bank whose payments nobody has to sign."""
    payments = replace(policies.payments, executable=lambda payment: payment.status in WAITING)
    return replace(policies, payments=payments)


class Weighed(Gate):
    """The bank with a limit to the weight of a parcel, and changes from known shops only."""

    def __init__(self, app, most):
        super().__init__(app)
        self.most = most

    def before(self, environ, body):
        """Refuse what is too heavy, and a change from an unknown shop."""
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        if method == "PUT" and b"cancelled" not in body and environ.get("HTTP_X_SHOP") != "S-1":
            return "400 Bad Request", JSON, b"{}"
        if (method, path) == ("POST", "/payment-requests"):
            try:
                heavy = float(json.loads(body)["amount"]) > self.most
            except (ValueError, TypeError, KeyError, OverflowError):
                heavy = False
            if heavy:
                return "422 Unprocessable", JSON, b"{}"
        return None


@cache
def parcels():
    """Return the plan for parcels, and its target."""
    target = read_target(HERE / "parcels-target.yaml")
    return plan(bind([parse_contract(HERE / "parcels.yaml")], target), target), target


def run(planned, target, policies, most=None):
    """Return the standing of each obligation at a bank."""

    def bank(base_url):
        app = make_app(policies, base_url=base_url)
        return app if most is None else Weighed(app, most)

    result = run_plan(planned, target, bank)
    return {each.obligation.partition("/")[2]: each.standing for each in result.verdicts}


def red(standings):
    """Return what is violated."""
    return {name for name, standing in standings.items() if standing is Standing.VIOLATES}


def test_nothing_is_signed():
    """No obligation needs a signer, and no trial asks for a signature."""
    planned, _ = parcels()
    contract = planned.contracts["parcels"]
    for item in planned.items:
        assert not item.obligation.needs & {Capability.SCA, Capability.SCREENS}
    for trial in planned.trials:
        steps = dry_run(script_of(planned, trial)[1], DryTarget(contract=contract))
        assert not [step for step in steps if isinstance(step, Authorise)]
    names = {item.obligation.facet for item in planned.items}
    assert not {"after-unsigned-accepted", "denied-undone", "refused-after-signing"} & names


def test_a_sound_bank():
    """Every obligation conforms, and each is shown."""
    planned, target = parcels()
    standings = run(planned, target, unsigned(SOUND), 31.5)
    assert {Standing.CONFORMS} == set(standings.values())
    assert {
        "heavy/weight-just-above-31.5",
        "twice/repeat-refused",
        "recall/by-tpp-never-done",
        "change/planned-accepted",
        "status/order",
        "status/final",
        "status/final-later",
    } <= set(standings)


def bent(**policies):
    """Return an unsigned bank with one fault in its payments."""
    return replace(unsigned(SOUND), payments=replace(unsigned(SOUND).payments, **policies))


def carries_out(*statuses):
    """Return a bank that executes requests in these statuses, too."""
    return bent(executable=lambda payment: payment.status in (*WAITING, *statuses))


#: Each fault: the bank, the most that a parcel may weigh, and what is violated then.
FAULTS = {
    "heavy ones are taken": (unsigned(SOUND), 99.0, "heavy"),
    "repeats are taken": (bent(duplicate=DuplicateRule(originals=frozenset())), 31.5, "twice"),
    "no recall": (bent(cancellable=lambda _: False), 31.5, "recall"),
    "recalled and fetched": (carries_out("cancelled"), 31.5, "recall"),
    "no change": (bent(modifiable=lambda _: False), 31.5, "change"),
    "a change is forgotten": (bent(modified=lambda former, new: former), 31.5, "change"),
    "all can be changed": (bent(modifiable=lambda _: True), 31.5, "change"),
    "closed accounts send": (bent(debtor=lambda item, others: True), 31.5, "senders"),
    "fetched twice": (bent(times=lambda payment: 2), 31.5, "fetched"),
    "another pays": (unsigned(MUTANTS["pis.charge-bearer.shared"].change(SOUND)), 31.5, "payer"),
    "insured": (
        bent(confirmation=lambda signed: Answer(status=200, body={})),
        31.5,
        "insurance",
    ),
}


@for_each("fault", FAULTS)
def test_a_faulty_bank(fault):
    """A bank with one fault violates the rule that the fault breaks."""
    policies, most, rule = FAULTS[fault]
    planned, target = parcels()
    found = red(run(planned, target, policies, most))
    assert found
    # A parcel that is fetched after it was called back has another last word, too, and one whose
    # change is forgotten another content.
    shown = {"recall": {"status"}, "change": {"content"}}.get(rule, set())
    assert {rule, "fetched", *shown} >= {name.partition("/")[0] for name in found}
    assert any(name.startswith(f"{rule}/") for name in found)


#: The rules of payment initiation about signatures.
SIGNING = {"sca.required", "sca.factors", "redirect.idle", "redirect.overall", "report-url"}
#: Every how many mutants of the sandbox is tried; with ASSAY_UNSIGNED_MUTANTS=1, each.
STEP = int(os.environ.get("ASSAY_UNSIGNED_MUTANTS", "100"))


def settled(target):
    """Return a target at which an open payment is accepted for good."""
    operations = {
        name: replace(binding, item=replace(binding.item, state=with_accepted(binding.item.state)))
        if binding.item.state
        else binding
        for name, binding in target.operations.items()
    }
    return replace(target, operations=operations)


def with_accepted(state):
    """Return a state whose open words say that the request is accepted."""
    return replace(state, accepted=state.values[State.OPEN])


@cache
def payments():
    """Return the plan for payments that nobody signs, and its target."""
    data = yaml.safe_load(find_contract("pis").read_text(encoding="utf-8"))
    create = data["operations"]["create-payment"]
    create["signed"] = False
    del create["returns"], data["outline"]
    data["rules"] = [rule for rule in data["rules"] if rule["id"] not in SIGNING]
    for point in data["unspecified"]:
        point.pop("answers", None)
    for rule in data["rules"]:
        if rule["id"] == "cash":
            del rule["when"]["all"][1]  # the factor
        rule.pop("minutes" if rule["kind"] == "execution" else "", None)
    document = Document(data=data, path="pis.yaml", digest="", spots=Spot("pis.yaml", 1))
    target = settled(replace(read_target(find_target("sandbox")), sca=Sca()))
    return plan(bind([parse_document(document)], target), target), target


#: What a mutant breaks that is another facet, or none, where nobody signs.
ELSEWHERE = {"payments.confirmation", "execution", "values"}
#: Mutants that show something else, or nothing: an immediate payment is executed when it is made,
#: a deferred one is compared with others on its day only, and no factor serves as a control. The
#: same payment at another host may be a repeat.
OTHERWISE = {
    "pis.host.first-form-only",
    "pis.sca.instant-forbidden",
    "pis.cancel.500-if-signed",
    "pis.modify.immediate",
    "pis.modify.instant",
    "pis.modify.immediate-executed",
    "pis.duplicate.any-debtor",
    "pis.duplicate.of-cancelled",
    "pis.cash.sms-is-enough",
    "pis.cash.sms-is-enough-for-the-unknown",
    "pis.cash.usual-payments-too",
    "pis.cash.every-purpose",
}


#: With the one whose payments have no id, each is seen as not executed before it is repeated.
OF_PAYMENTS = dict.fromkeys(
    [None, "pis.execution.no-id", *[each for each in MUTANTS if each not in OTHERWISE][::STEP]]
)


@pytest.mark.parametrize("fault", OF_PAYMENTS)
def test_the_faults_of_payments(fault):
    """The bank violates what it violates where payments are signed; other trials may show more."""
    planned, target = payments()
    known = {item.obligation.id.partition("/")[2] for item in planned.items}
    change = MUTANTS[fault].change if fault else lambda policies: policies
    standings = run(planned, target, unsigned(change(SOUND)))
    expected = {name.partition("/")[2] for name in (MUTANTS[fault].breaks if fault else ())} & known
    rules = {name.partition("/")[0] for name in red(standings) | expected}
    if not rules & ELSEWHERE:
        assert expected <= red(standings)
    if fault is None:
        assert set() == red(standings)
        doubtful = {Standing.INDETERMINATE, Standing.UNVERIFIED}
        assert not [name for name, each in standings.items() if each in doubtful]


class Hesitant(Gate):
    """The bank behind a gate where every parcel is received, and examined later.

    What the bank refuses or rejects is shown as received, too: it has not decided yet. `kept` are
    the requests that it will refuse.
    """

    def __init__(self, app):
        super().__init__(app)
        self.kept = {}

    def before(self, environ, body):
        """Show a request that will be refused."""
        shown = self.kept.get(environ["PATH_INFO"].rpartition("/")[2])
        return shown and ("200 OK", JSON, shown)

    def after(self, environ, status, headers, body):
        """Receive what is refused."""
        makes = (environ["REQUEST_METHOD"], environ["PATH_INFO"]) == ("POST", "/payment-requests")
        if makes and status.startswith("4") and not status.startswith("401"):
            key = f"late-{len(self.kept)}"
            shown = {"paymentRequestResourceId": key, "status": "received"}
            self.kept[key] = body = json.dumps(shown).encode()
            status, headers = "201 Created", JSON
        return status, headers, body.replace(b'"rejected"', b'"received"')


@pytest.mark.parametrize("word", ["open", "accepted"])
def test_a_bank_that_examines_parcels_later(word):
    """What was accepted and is open may still be rejected, unless the target file excludes it."""
    planned, target = parcels()
    if word == "open":
        operations = {
            name: replace(
                each, item=replace(each.item, state=replace(each.item.state, accepted=()))
            )
            if each.item.state
            else each
            for name, each in target.operations.items()
        }
        target = replace(target, operations=operations)
    rules = ("heavy", "twice", "payer", "senders")
    ids = {
        item.obligation.id for item in planned.items if item.obligation.id.split("/")[1] in rules
    }

    def bank(base_url):
        return Hesitant(Weighed(make_app(unsigned(SOUND), base_url=base_url), 31.5))

    verdicts = run_plan(restrict(planned, ids), target, bank).verdicts
    broken = {each.obligation.split("/")[1] for each in verdicts if each.standing is VIOLATES}
    assert broken == ({*rules} if word == "accepted" else set())
    if word == "open":
        (heavy,) = (each for each in verdicts if each.obligation.endswith("weight-just-above-31.5"))
        assert Standing.INDETERMINATE is heavy.standing
        assert (
            "whether the bank has decided is unknown (`accepted` in item.state.values)"
            in heavy.reason
        )


RULES = {
    "notice": {},
    "factors": {"offered": {"any": ["sms"]}},
    "timeout": {"measure": "idle", "minutes": 5, "edge": "unspecified"},
    "return-address": {},
    "decision": {"result": "rejected", "when": {"factor": "sms"}},
}


def written(tmp_path, change):
    """Return the problems of the contract for parcels, changed."""
    data = yaml.safe_load((HERE / "parcels.yaml").read_text(encoding="utf-8"))
    change(data)
    path = tmp_path / "parcels.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False))
    with pytest.raises(InputError) as caught:
        parse_contract(path)
    return [str(each).partition(": ")[2] for each in caught.value.problems]


@pytest.mark.parametrize("kind", RULES)
def test_a_rule_about_a_signature_that_there_is_not(tmp_path, kind):
    """It has nothing to test: the contract is refused, with the place and what to do."""

    def change(data):
        rule = {"id": "signed", "kind": kind, "says": "It is signed.", "request": "parcel"}
        rule |= {"source": {"section": "Parcels", "line": 11}, **RULES[kind]}
        data["rules"].append(rule)

    (problem,) = written(tmp_path, change)
    assert "'parcel' is not signed" in problem
    assert "`signed: false` from the operation" in problem


@pytest.mark.parametrize(
    ("operation", "added", "problem"),
    [
        ("show", {"signed": False}, "operations.show.signed: only an operation that makes"),
        ("send", {"returns": "label"}, "operations.send.returns: the request is not signed"),
    ],
)
def test_keys_that_do_not_go_together(tmp_path, operation, added, problem):
    """Only what makes a request says that it is not signed, and then nobody comes back from it."""
    (found,) = written(tmp_path, lambda data: data["operations"][operation].update(added))
    assert found.startswith(problem)


def test_null_asks_for_nothing():
    """A request like one that had a null besides may be rejected as its repeat: no rule is broken."""
    planned, target = parcels()
    contract = planned.contracts["parcels"]
    lifecycle = tracker.lifecycle_of_request(contract, "parcel")

    def script():
        psu = yield from request_steps.customer(lifecycle)
        plain = request_steps.request(lifecycle, psu)
        for given in ({"pickUp": None}, {"weight": "0.01"}, {}):
            call = replace(plain, arguments={**plain.arguments, **given})
            made = yield from steps.send(call)
            yield from request_steps.read(lifecycle, made)

    environment = set_up(target, bank=lambda base: make_app(unsigned(SOUND), base_url=base))
    recorded = run_probe(
        script(), environment, contract.operations, number=count(1).__next__, record=lambda *_: None
    )
    assert State.REJECTED is recorded.history.exchanges[-1].item.state
    for bound in planned.clauses["parcels"].values():
        evidence = bound.kind.check(recorded.history)
        assert not [each for each in evidence if each.agreement is Agreement.DISAGREES]
