"""Every typical mistake in a target file: its line is named, and the bank is not blamed."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from assay.binding.features import BINDING_FEATURES
from assay.cli.main import main
from assay.onboarding.doctor import Weight, examine
from assay.onboarding.doctor.examination import EXAMINED_BY, STEPS
from assay.onboarding.doctor.pointers import POINTERS
from assay.rules.verdict import Exit
from assay.sandbox.app import make_app
from assay.sandbox.serve import serving

pytestmark = pytest.mark.slow

SOUND = Path(__file__).with_name("bank.yaml").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """A wrong text in place of the right one, with the line and key that must be reported."""

    name: str
    right: str
    wrong: str
    line: int
    key: str


MISTAKES = (
    Mistake(
        name="base path",
        right="base_url: URL",
        wrong="base_url: URL/aisp/v9",
        line=6,
        key="base_url",
    ),
    Mistake(
        name="no such host",
        right="base_url: URL",
        wrong="base_url: http://bank.invalid",
        line=6,
        key="base_url",
    ),
    Mistake(
        name="nobody listens",
        right="base_url: URL",
        wrong="base_url: http://127.0.0.1:9",
        line=6,
        key="base_url",
    ),
    Mistake(
        name="tls where there is none",
        right="base_url: URL\ntimeout: 5",
        wrong="base_url: SECURE\ntimeout: 0.5",
        line=6,
        key="base_url",
    ),
    Mistake(
        name="path",
        right="  balances:\n",
        wrong="  balances:\n    path: /account/balance\n",
        line=80,
        key="operations.balances.path",
    ),
    Mistake(
        name="method",
        right="  balances:\n",
        wrong="  balances:\n    method: POST\n",
        line=80,
        key="operations.balances.method",
    ),
    Mistake(
        name="alias",
        right="  balances:\n",
        wrong="  balances:\n    aliases: [/balance]\n",
        line=80,
        key="operations.balances.aliases[0]",
    ),
    Mistake(
        name="list",
        right="list: /accounts",
        wrong="list: /data/accounts",
        line=62,
        key="operations.accounts.list",
    ),
    Mistake(
        name="key",
        right="      key: /iban",
        wrong="      key: /id",
        line=68,
        key="operations.accounts.item.key",
    ),
    Mistake(
        name="key that is something else",
        right="      key: /iban",
        wrong="      key: /name",
        line=68,
        key="operations.accounts.item.key",
    ),
    Mistake(
        name="key of entries",
        right="      key: /id\n",
        wrong="      key: /label\n",
        line=100,
        key="operations.transactions.item.key",
    ),
    Mistake(
        name="key of what is made",
        right="  key: /paymentRequestResourceId\n      state: &state",
        wrong="  key: /status\n      state: &state",
        line=134,
        key="operations.create-payment.item.key",
    ),
    Mistake(
        name="date",
        right="on: /bookingDate",
        wrong="on: /valueDate",
        line=101,
        key="operations.transactions.item.on",
    ),
    Mistake(
        name="date that is none",
        right="on: /bookingDate",
        wrong="on: /label",
        line=101,
        key="operations.transactions.item.on",
    ),
    Mistake(
        name="field",
        right="currency: /currency\n      volatile: []\n  trans",
        wrong="currency: /curency\n      volatile: []\n  trans",
        line=87,
        key="operations.balances.item.fields.currency",
    ),
    Mistake(
        name="field that is another",
        right="balanceType: /balanceType",
        wrong="balanceType: /currency",
        line=86,
        key="operations.balances.item.fields.balanceType",
    ),
    Mistake(
        name="field of a request",
        right="        amount: /amount\n        currency",
        wrong="        amount: /currency\n        currency",
        line=154,
        key="operations.read-payment.item.fields.amount",
    ),
    Mistake(
        name="next",
        right="    next: /links/next\n    links: [/links/self, /links/next]\n    values",
        wrong="    next: /links/nxt\n    links: [/links/self]\n    values",
        line=63,
        key="operations.accounts.next",
    ),
    Mistake(
        name="page parameter",
        right="    list: /transactions\n    next: /links/next",
        wrong="    list: /transactions\n    next: {page: seite}",
        line=97,
        key="operations.transactions.next",
    ),
    Mistake(
        name="first page",
        right="    list: /transactions\n    next: /links/next",
        wrong="    list: /transactions\n    next: {page: page, first: 0}",
        line=97,
        key="operations.transactions.next",
    ),
    Mistake(
        name="cursor",
        right="    list: /transactions\n    next: /links/next",
        wrong="    list: /transactions\n    next: {cursor: /cursor, query: cursor}",
        line=97,
        key="operations.transactions.next",
    ),
    Mistake(
        name="link",
        right="links: [/links/self]\n    item:\n      fields:",
        wrong="links: [/_links/self]\n    item:\n      fields:",
        line=82,
        key="operations.balances.links[0]",
    ),
    Mistake(
        name="value",
        right="PsuIdentity: /PsuIdentity",
        wrong="PsuIdentity: /psuIdentity",
        line=65,
        key="operations.accounts.values.PsuIdentity",
    ),
    Mistake(
        name="query parameter",
        right="    arguments: {iban: {query: iban}}\n",
        wrong="    arguments: {iban: {query: accountId}}\n",
        line=80,
        key="operations.balances.arguments.iban",
    ),
    Mistake(
        name="since",
        right="since: {query: dateFrom}",
        wrong="since: {query: from}",
        line=92,
        key="operations.transactions.arguments.since",
    ),
    Mistake(
        name="until",
        right="until: {query: dateTo}",
        wrong="until: {query: to}",
        line=93,
        key="operations.transactions.arguments.until",
    ),
    Mistake(
        name="body of a consent",
        right="{accounts: {body: /accounts}}",
        wrong="{accounts: {body: /access/accounts}}",
        line=77,
        key="operations.consents.arguments.accounts",
    ),
    Mistake(
        name="body of a request",
        right="categoryPurpose: {body: /categoryPurpose,",
        wrong="categoryPurpose: {body: /purpose,",
        line=114,
        key="operations.create-payment.arguments.categoryPurpose",
    ),
    Mistake(
        name="value of an argument",
        right="value: SLEV",
        wrong="value: SHAR",
        line=113,
        key="operations.create-payment.arguments.chargeBearer.value",
    ),
    Mistake(
        name="another value that is none",
        right="value: DVPM, other: SUPP",
        wrong="value: DVPM, other: SUP",
        line=114,
        key="operations.create-payment.arguments.categoryPurpose.other",
    ),
    Mistake(
        name="mode",
        right="immediate: {body: /paymentType, value: immediate}",
        wrong="immediate: {body: /type, value: immediate}",
        line=125,
        key="operations.create-payment.modes.immediate",
    ),
    Mistake(
        name="argument that nobody reads",
        right="debtorAccount: {body: /debtorAccount}",
        wrong="debtorAccount: {body: /debtor}",
        line=120,
        key="operations.create-payment.arguments.debtorAccount",
    ),
    Mistake(
        name="presence the wrong way round",
        right="  value: 192.0.2.10",
        wrong="  value: 192.0.2.10\n  when: absent",
        line=14,
        key="presence.when",
    ),
    Mistake(
        name="presence by another name",
        right="header: PSU-IP-Address",
        wrong="header: PSU-IP",
        line=12,
        key="presence.header",
    ),
    Mistake(
        name="accepted",
        right="operations:\n  acc",
        wrong="outcomes:\n  accepted: [{statuses: [201]}]\n\noperations:\n  acc",
        line=61,
        key="outcomes.accepted",
    ),
    Mistake(
        name="rejected",
        right="operations:\n  acc",
        wrong="outcomes:\n  rejected:\n    - {statuses: [4xx]}\n    - {statuses: [200]}\n\noperations:\n  acc",
        line=63,
        key="outcomes.rejected[1]",
    ),
    Mistake(
        name="unavailable unknown",
        right="operations:\n  acc",
        wrong="outcomes:\n  unavailable: [{statuses: [404]}]\n  rejected: [{statuses: [400, 403, 404, 409, 422, 429]}]\n\noperations:\n  acc",
        line=61,
        key="outcomes.unavailable",
    ),
    Mistake(
        name="accepted too much",
        right="operations:\n  acc",
        wrong="outcomes:\n  unavailable: [{statuses: [501]}]\n  rejected: [{statuses: [400]}]\n  accepted:\n    - {statuses: [2xx]}\n    - {statuses: [4xx]}\n\noperations:\n  acc",
        line=65,
        key="outcomes.accepted[1]",
    ),
    Mistake(
        name="media type",
        right="operations:\n  acc",
        wrong="outcomes:\n  accepted:\n    - {statuses: [2xx], media_type: application/hal+json}\n\noperations:\n  acc",
        line=62,
        key="outcomes.accepted[0].media_type",
    ),
    Mistake(
        name="outcomes of one operation",
        right="  balances:\n",
        wrong="  balances:\n    outcomes:\n      accepted: [{statuses: [204]}]\n",
        line=81,
        key="operations.balances.outcomes.accepted",
    ),
    Mistake(
        name="state at the start",
        right="open: [received, pending]",
        wrong="open: [receivd, pending]",
        line=138,
        key="operations.create-payment.item.state.values.open",
    ),
    Mistake(
        name="state at the end",
        right="done: [executed]",
        wrong="done: [executd]",
        line=139,
        key="operations.read-payment.item.state.values.done",
    ),
    Mistake(
        name="state elsewhere",
        right="        at: /status",
        wrong="        at: /state",
        line=136,
        key="operations.create-payment.item.state.at",
    ),
    Mistake(
        name="resource",
        right="          card: card",
        wrong="          card: deferred-card",
        line=73,
        key="operations.accounts.item.resource.values.card",
    ),
    Mistake(
        name="resource elsewhere",
        right="        at: /kind",
        wrong="        at: /type",
        line=70,
        key="operations.accounts.item.resource.at",
    ),
    Mistake(
        name="approval",
        right="    approval: /links/consentApproval",
        wrong="    approval: /_links/approval",
        line=107,
        key="operations.create-payment.approval",
    ),
    Mistake(
        name="login field",
        right="{login: login, password: password}",
        wrong="{user: login, password: password}",
        line=49,
        key="sca.screens[0].user",
    ),
    Mistake(
        name="factor field",
        right="{factor: factor}",
        wrong="{faktor: factor}",
        line=50,
        key="sca.screens[1].faktor",
    ),
    Mistake(
        name="code field",
        right="{code: code}",
        wrong="{otp: code}",
        line=51,
        key="sca.screens[2].otp",
    ),
    Mistake(
        name="factor",
        right="    sms: sms",
        wrong="    sms: SMS-OTP",
        line=55,
        key="sca.factors.sms",
    ),
    Mistake(
        name="decision",
        right="  # The last",
        wrong="  decisions: {confirm: ja}\n  # The last",
        line=53,
        key="sca.decisions.confirm",
    ),
    Mistake(
        name="segment",
        right="corporate: CORPORATE",
        wrong="corporate: COMPANY",
        line=35,
        key="fixtures.segments.corporate",
    ),
    Mistake(
        name="effect",
        right="    creditorAccount: /creditor\n",
        wrong="    creditorAccount: /beneficiary\n",
        line=41,
        key="fixtures.effects.creditorAccount",
    ),
    Mistake(
        name="zone",
        right="zone: Europe/Paris",
        wrong="zone: America/New_York",
        line=8,
        key="zone",
    ),
    Mistake(
        name="control url",
        right="  kind: control\n",
        wrong="  kind: control\n  url: URL/control\n",
        line=17,
        key="fixtures.url",
    ),
    Mistake(
        name="no token",
        right="auth: {kind: bearer}",
        wrong="auth: {kind: none}",
        line=10,
        key="auth",
    ),
    Mistake(
        name="token in another header",
        right="auth: {kind: bearer}",
        wrong="auth: {kind: key, header: X-Token}",
        line=10,
        key="auth.kind",
    ),
    Mistake(
        name="one token for all",
        right="auth: {kind: bearer}",
        wrong="auth: {kind: bearer, token_env: DOCTOR_UNSET}",
        line=10,
        key="auth",
    ),
    Mistake(
        name="a field of nothing",
        right="        iban: /iban\n        balanceType",
        wrong="        ibann: /iban\n        balanceType",
        line=85,
        key="operations.balances.item.fields.ibann",
    ),
    Mistake(
        name="the bank's own name",
        right="    item:\n      key: /iban\n",
        wrong="    item:\n      id: /resourceId\n      key: /iban\n",
        line=68,
        key="operations.accounts.item.id",
    ),
    Mistake(
        name="single item",
        right='  modify-payment:\n    one: ""',
        wrong="  modify-payment:\n    one: /paymentRequest",
        line=159,
        key="operations.modify-payment.one",
    ),
    Mistake(
        name="unknown operation",
        right="  consents:\n",
        wrong="  consent:\n",
        line=76,
        key="operations.consent",
    ),
)

#: The sandbox accepts every media type, so no mistake in a header can be made there, and it needs
#: no outputs. A consent that no call makes is in `test_optional`.
WITHOUT_MISTAKE = {"given", "headers", "output", "submission", "submitted", "volatile"}
#: Mistakes that do not hide one another, by name: one run finds them all. Each of the
#: others has a run of its own.
TOGETHER = (
    ("path", "list", "value", "login field", "segment"),
    ("method", "key", "next", "resource elsewhere", "factor field", "zone"),
    ("alias", "key that is something else", "resource", "code field", "factor"),
    ("key of entries", "key of what is made", "date", "field", "field that is another", "page parameter", "link"),
    ("date that is none", "field of a request", "first page", "query parameter", "state at the start", "state at the end", "effect"),
    ("cursor", "since", "until", "body of a request"),
    ("presence by another name", "state elsewhere"),
    ("the bank's own name", "single item"),
)  # fmt: skip
BY_NAME = {one.name: one for one in MISTAKES}
RUNS = (
    *TOGETHER,
    *((name,) for name in BY_NAME if not any(name in names for names in TOGETHER)),
)


@pytest.fixture(scope="module")
def url():
    """Serve the sound bank on a free port, for all the files."""
    with serving(make_app()) as served:
        yield served


def written(text: str, url: str, folder: Path) -> Path:
    """Write a target file for the served bank."""
    path = folder / "bank.yaml"
    secure = url.replace("http:", "https:")
    path.write_text(text.replace("SECURE", secure).replace("URL", url), encoding="utf-8")
    return path


def assay(monkeypatch, capsys, *args) -> tuple[int, str, str]:
    """Run a command; return its code, its output and its errors."""
    monkeypatch.setattr(sys, "argv", ["assay", *map(str, args)])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code, *capsys.readouterr()


@pytest.mark.parametrize("names", RUNS, ids=lambda names: "+".join(names).replace(" ", "-"))
def test_mistakes_are_named_before_anything_is_judged(names, url, tmp_path, monkeypatch, capsys):
    """A run reports exactly the wrong lines and ends before any verdict."""
    text = SOUND
    for mistake in map(BY_NAME.get, names):
        assert SOUND.count(mistake.right) == text.count(mistake.right) == 1
        text = text.replace(mistake.right, mistake.wrong)
    path = written(text, url, tmp_path)
    out = tmp_path / "out"
    code, _, said = assay(monkeypatch, capsys, "run", "--target", path, "--out", out)
    assert (2, False) == (code, out.exists())
    assert len(names) == sum(f"{path}:" in line for line in said.splitlines())
    expected = sorted((BY_NAME[name].line, BY_NAME[name].key) for name in names)
    named = re.findall(rf"(.*){re.escape(str(path))}:(\d+): (.+?): ", said)
    assert [("assay: ", line, key) for line, key in expected] == sorted(
        (start, int(line), key) for start, line, key in named
    )


#: The checks whose faults no bank can cause by the way in which it answers ordinary calls; and
#: credentials with which nothing at all is accepted.
CERTAIN = {
    "auth",
    "target",
    "unused",
    "secrets",
    "files",
    "host",
    "port",
    "ready",
    "fixtures",
    "effects",
}


@pytest.mark.parametrize("names", RUNS, ids=lambda names: "+".join(names).replace(" ", "-"))
def test_every_doubt_can_be_confirmed(names, url, tmp_path, monkeypatch, capsys):
    """With the lines that the doctor prints, pasted as they are, only certain faults stop a run."""
    text, confirmed = SOUND, ""
    for mistake in map(BY_NAME.get, names):
        text = text.replace(mistake.right, mistake.wrong)
    while True:
        path = written(f"{text}{confirmed}", url, tmp_path)
        blocking = {
            ("auth" if finding.key[:4] == "auth" else step.step.name, finding.weight)
            for step in examine(str(path)).outcomes
            for finding in step.findings or ()
            if finding.blocking
        }
        if not any(weight is Weight.DOUBT for _, weight in blocking):
            break
        _, printed, _ = assay(monkeypatch, capsys, "doctor", "--target", path)
        *_, lines = printed.rpartition("confirmed:\n")
        further = "".join(f"{line}\n" for line in lines.splitlines() if line.startswith("  "))
        assert further
        confirmed = f"{confirmed or 'confirmed:' + chr(10)}{further.replace('REASON', 'as here')}"
    assert {name for name, _ in blocking} <= CERTAIN


def test_there_are_enough_of_them():
    """There are sixty-two mistakes, no two are the same, and each is made in one run."""
    assert (62, 62) == (len(MISTAKES), len(BY_NAME))
    assert sorted(BY_NAME) == sorted(name for names in RUNS for name in names)


def test_the_sound_file_is_found_sound(url, tmp_path):
    """The sound file has no findings, and no check is skipped."""
    examined = examine(str(written(SOUND, url, tmp_path)))
    assert (Exit.OK, ()) == (examined.exit, examined.findings)
    assert [] == [one.step.name for one in examined.outcomes if one.findings is None]
    assert 68 == examined.calls


def test_without_the_examination_the_bank_would_be_blamed(url, tmp_path, monkeypatch, capsys):
    """Without the examination, a wrong presence header turns obligations of a sound bank red."""
    path = written(SOUND.replace("header: PSU-IP-Address", "header: PSU-IP"), url, tmp_path)
    asked = ("run", "--target", path, "--out", tmp_path / "out", "-k", "online-unlimited")
    code, printed, _ = assay(monkeypatch, capsys, *asked, "--no-doctor")
    assert 1 == code
    assert "violates" in printed
    assert 2 == assay(monkeypatch, capsys, *asked)[0]


def test_a_sound_file_is_examined_and_then_run(url, tmp_path, monkeypatch, capsys):
    """The calls of the examination are announced, and the run follows."""
    path = written(SOUND, url, tmp_path)
    asked = ("--target", path, "--out", tmp_path / "out", "-k", "accounts.available")
    code, printed, said = assay(monkeypatch, capsys, "run", *asked)
    assert (0, "") == (code, said)
    assert printed.startswith("doctor: about 76 calls (accounts 18, balances 4, ")
    assert (tmp_path / "out" / "journal.jsonl").exists()


def test_a_guess_is_listed_and_breaks_nothing(url, tmp_path):
    """A line marked as guessed is a note; a line marked as missing is not seen."""
    guessed = SOUND.replace("list: /accounts", "list: /accounts  # guessed: the only list")
    examined = examine(str(written(guessed, url, tmp_path)))
    assert Exit.OK == examined.exit
    assert [(Weight.NOTE, 62, "list", "guessed: the only list")] == [
        (one.weight, one.line, one.key, one.found) for one in examined.findings
    ]
    missing = SOUND.replace("\ntimeout: 5", "\n# missing: the second host\ntimeout: 5")
    assert Exit.INCOMPLETE == examine(str(written(missing, url, tmp_path))).exit


def test_every_feature_is_examined_or_has_a_reason():
    """The features are those of the binding; none is in both tables; each check exists."""
    assert {*EXAMINED_BY} == {
        name for name, row in BINDING_FEATURES.items() if not row.not_examined
    }
    assert {*EXAMINED_BY.values()} <= {step.name for step in STEPS}
    assert {*POINTERS} == {name for name, step in EXAMINED_BY.items() if step == "pointers"}


@pytest.mark.parametrize("feature", sorted(EXAMINED_BY.keys() - WITHOUT_MISTAKE))
def test_every_examined_feature_has_a_mistake(feature):
    """Some mistake of `test_mistakes` is found at the very key of the feature."""
    steps = [re.escape(step) for step in BINDING_FEATURES[feature].place("OPERATION", "NAME")]
    key = r"\.".join(steps).replace("OPERATION", "[^.]+").replace("NAME", "[^.]+")
    assert any(re.fullmatch(rf"{key}([.\[].*)?", mistake.key) for mistake in MISTAKES)
