"""Target files: what is read from them, what they build on, and what they must not hold."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from assay._resources import contract_dir
from assay.binding.model.target import (
    Auth,
    CredentialSpelling,
    FixtureKind,
    Matcher,
    Outcomes,
    Place,
    Presence,
    ResourceAt,
    RoleHolding,
    Spelling,
    Target,
    TransportKind,
    Waiver,
)
from assay.contract.model import Capability
from assay.errors import InputError
from assay.history import Entry
from assay.preparation.target_file import find_target, read_target

SMALLEST = """\
assay: 1
target: bank
transport: http
base_url: https://bank.example/v1
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, so that paths are short."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(text: str, name: str = "t.yaml") -> Target:
    """Write a target file into the working directory and read it."""
    Path(name).write_text(text)
    return read_target(name)


def problems(text: str) -> list[str]:
    """List the errors of a target file."""
    with pytest.raises(InputError) as caught:
        read(text)
    return [str(one) for one in caught.value.problems]


def test_the_sandbox() -> None:
    """The shipped sandbox's file arrives whole, with the line of each operation."""
    target = read_target(find_target("sandbox"))
    accounts, transactions = target.operations["accounts"], target.operations["transactions"]
    assert ("sandbox", TransportKind.EMBEDDED) == (target.name, target.transport)
    assert ZoneInfo("Europe/Paris") == target.zone
    assert FixtureKind.CONTROL is target.fixtures.kind
    assert Capability.CLOCK in target.fixtures.offers
    assert CredentialSpelling(basic=True) == accounts.credentials
    assert (
        ResourceAt(at="/kind", values={"account": "account", "card": "card"})
        == accounts.item.resource
    )
    assert Spelling(place=Place.QUERY, name="dateFrom") == transactions.arguments["since"]
    assert ("/bookingDate",) == transactions.item.on
    payment = target.operations["read-payment"].item
    assert ((), None) == (transactions.item.volatile, payment.volatile)
    assert target.lines["operations.transactions"] == transactions.line > accounts.line > 1


@pytest.mark.usefixtures("folder")
def test_what_is_left_out() -> None:
    """The smallest target file has the loosest honest reading of everything else."""
    target = read(SMALLEST)
    assert (Auth(), None, Outcomes(), 10.0, "sandbox") == (
        target.auth,
        target.presence,
        target.outcomes,
        target.timeout,
        target.environment,
    )
    assert {"assay": 1, "target": 2, "transport": 3, "base_url": 4} == target.lines


@pytest.mark.usefixtures("folder")
def test_everything_else() -> None:
    """Outcomes, roles, waivers and the rest arrive as values."""
    target = read(
        SMALLEST
        + """\
timeout: 2.5
presence: {header: X-Here, value: "1"}
outcomes: {rejected: [{statuses: [404, 4xx], empty: true, media_type: a/b, body: {/code: 7}}]}
outside: [group]
not_offered: {cards: there are none}
waivers:
  - {obligation: a/b/c, owner: o, reason: r, expires: 2027-01-31}
fixtures:
  kind: roles
  roles:
    alice:
      token_env: A
      owns:
        - {resource: card, key: K, traits: {used: "2026-01-01"}, entries: [{key: T, on: 2026-01-02}]}
        - {resource: card, key: L}
"""
    )
    assert Presence(place=Place.HEADER, name="X-Here", value="1") == target.presence
    matcher = Matcher(statuses=("404", "4xx"), empty=True, media_type="a/b", body={"/code": 7})
    assert Outcomes(rejected=(matcher,)) == target.outcomes
    assert (("group",), {"cards": "there are none"}) == (target.outside, target.not_offered)
    waiver = Waiver(obligation="a/b/c", owner="o", reason="r", expires="2027-01-31", line=11)
    assert (waiver,) == target.waivers
    (alice,) = target.fixtures.roles
    assert ("alice", "A", 15) == (alice.name, alice.token_env, alice.line)
    first = RoleHolding(
        resource="card",
        key="K",
        traits={"used": "2026-01-01"},
        entries=(Entry(key="T", on=date(2026, 1, 2)),),
    )
    assert (first, RoleHolding(resource="card", key="L")) == alice.owns
    assert 2.5 == target.timeout


@pytest.mark.usefixtures("folder")
def test_extending() -> None:
    """Mappings are laid over each other, lists and values replace, null takes away."""
    base = read_target(find_target("sandbox"))
    target = read(
        """\
assay: 1
target: mine
extends: sandbox
base_url: http://127.0.0.1:8000/
presence: null
fixtures: {offers: [psu]}
operations:
  transactions: {item: {key: /ref}, links: []}
"""
    )
    mine, theirs = target.operations["transactions"], base.operations["transactions"]
    assert ("mine", TransportKind.EMBEDDED) == (target.name, target.transport)
    assert "http://127.0.0.1:8000" == target.base_url
    assert target.presence is None
    assert {Capability.PSU} == target.fixtures.offers
    assert (("/ref",), ("/bookingDate",), ()) == (mine.item.key, mine.item.on, mine.links)
    assert (theirs.arguments, theirs.item.fields) == (mine.arguments, mine.item.fields)
    assert base.operations["accounts"].item == target.operations["accounts"].item
    assert (8, 3) == (mine.line, target.operations["accounts"].line)
    assert (6, 3) == (target.lines["fixtures"], target.lines["auth"])
    assert base.digest != target.digest


@pytest.mark.usefixtures("folder")
def test_further_values_of_a_mode_are_not_those_of_another_value() -> None:
    """What is as good as the value of the base is sent no more once that is replaced."""
    top = "assay: 1\ntarget: mine\nextends: sandbox\noperations:\n  create-payment:\n    modes: "
    for several, others in (
        ("{}", ()),
        ("{several: {value: {bulk: 1}}}", ()),
        ("{several: {value: {bulk: 1}, others: [{batch: 2}]}}", ({"batch": 2},)),
    ):
        target = read(f"{top}{several}\n")
        assert others == target.operations["create-payment"].modes["several"].others


@pytest.mark.usefixtures("folder")
def test_extending_a_file() -> None:
    """A path is seen from the file it stands in, and an error names the file it is in."""
    Path("below").mkdir()
    Path("below/base.yaml").write_text(SMALLEST + "timeout: long\nzone: Europe/Viena\n")
    top = "assay: 1\ntarget: mine\nextends: ./below/base.yaml\nwaivers: 5\n"
    wrong = (
        "expected a list of waivers, or the path of a file of waivers, found 5"
        " (for example waivers.yaml, next to this file)"
    )
    assert [
        f"t.yaml:4: waivers: {wrong}",
        "below/base.yaml:5: timeout: expected a number of seconds, above 0 and at most 600, found 'long'",
    ] == problems(top)
    Path("below/base.yaml").write_text(SMALLEST + "zone: Europe/Viena\n")
    said = (
        "below/base.yaml:5: zone: unknown time zone 'Europe/Viena' (did you mean 'Europe/Vienna'?)"
    )
    assert [said] == problems(top.replace("waivers: 5", "waivers: []"))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("sandbx", "extends: no shipped target 'sandbx' (did you mean 'sandbox'?)"),
        ("./none.yaml", "extends: './none.yaml': there is no such file"),
        (
            "./t.yaml",
            "extends: './t.yaml' extends this file, directly or indirectly (remove one of the two extends)",
        ),
        ("./.", "extends: './.': this is a directory (name a file in it)"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_extending_what_is_not_there(name: str, said: str) -> None:
    """What cannot be built on is said in the line of `extends`."""
    (found,) = problems(f"assay: 1\ntarget: mine\nextends: {name}\n")
    assert found.startswith(f"t.yaml:3: {said}")


@pytest.mark.usefixtures("folder")
def test_circles_and_long_chains_end() -> None:
    """Files that extend each other are refused, in a circle as in an endless row."""
    Path("u.yaml").write_text("assay: 1\ntarget: u\nextends: ./t.yaml\n")
    (said,) = problems("assay: 1\ntarget: t\nextends: ./u.yaml\n")
    assert (
        "u.yaml:3: extends: './t.yaml' extends this file, directly or indirectly (remove one of the two extends)"
        == said
    )
    for n in range(20):
        Path(f"c{n}.yaml").write_text(f"assay: 1\ntarget: c\nextends: ./c{n + 1}.yaml\n")
    (said,) = problems("assay: 1\ntarget: t\nextends: ./c0.yaml\n")
    assert "more than 8 files extend each other" in said


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://bank.example", "expected an http or https URL"),
        ("bank.example", "expected an http or https URL"),
        ("https://", "expected an http or https URL"),
        ("https://[::1", "expected an http or https URL"),
        ("https://bank.example:99999", "expected an http or https URL"),
        ("https://bank.example/a b", "expected an http or https URL"),
        ("https://anna:hunter2@bank.example", "the URL contains credentials"),
        ("https://bank.example/?key=hunter2", "the URL has a query or a fragment"),
        ("https://bank.example/#", "the URL has a query or a fragment"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_base_urls(url: str, said: str) -> None:
    """A URL is http(s) with a host and nothing else, and never repeated: it may hold secrets."""
    (found,) = problems(SMALLEST.replace("https://bank.example/v1", f"'{url}'"))
    assert found.startswith(f"t.yaml:4: base_url: {said} (")
    with pytest.raises(InputError, match=f"--target: {said}") as caught:
        read_target(find_target("sandbox"), base_url=url)
    assert "hunter2" not in found + str(caught.value)


def test_another_base_url() -> None:
    """A base URL that is given wins, and then calls go over HTTP."""
    target = read_target(find_target("sandbox"), base_url="http://127.0.0.1:8000/")
    assert ("http://127.0.0.1:8000", TransportKind.HTTP) == (target.base_url, target.transport)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("operations: {a: {list: items}}", "t.yaml:5: operations.a.list: expected a JSON pointer or a list of them, or at and optional, found 'items' (did you mean '/items'?)"),
        ("operations: {a: {values: {x: /a~2}}}", "t.yaml:5: operations.a.values.x: expected a JSON pointer, found '/a~2' (for example /links/next)"),
        ("operations: {a: {arguments: {x: {query: x, number: true}}}}", "t.yaml:5: operations.a.arguments.x.number: number needs format beside it (add `format`, or remove `number`)"),
        ("operations: {a: {arguments: {x: {query: x, path: x}}}}", "t.yaml:5: operations.a.arguments.x: expected exactly one of query, header, body and path, found query and path (for example {query: iban})"),
        ("operations: {a: {arguments: {x: {body: x}}}}", "t.yaml:5: operations.a.arguments.x.body: expected a JSON pointer or a list of them, found 'x' (did you mean '/x'?)"),
        ("operations: {a: {modes: {x: {query: x}}}}", "t.yaml:5: operations.a.modes.x: 'value' is missing"),
        ('operations: {a: {modes: {x: {body: "", value: soon}}}}', 't.yaml:5: operations.a.modes.x.value: expected an object at `body: ""`'),
        ("operations: {a: {arguments: {x: {query: x, each: {iban: '{}'}}}}}", "t.yaml:5: operations.a.arguments.x: expected nothing here, found a mapping"),
        ("outcomes: {rejected: [{statuses: [6xx]}]}", "t.yaml:5: outcomes.rejected[0].statuses[0]: expected a status such as 404, or a class such as 4xx, found '6xx'"),
        ("outcomes: {rejected: [{statuses: [4040]}]}", "t.yaml:5: outcomes.rejected[0].statuses[0]: expected at most 599, found 4040"),
        ("outcomes: {rejected: [{}]}", "t.yaml:5: outcomes.rejected[0]: expected at least one of statuses, empty, media_type, body and states, found an empty mapping"),
        ("outcomes: {accepted: []}", "t.yaml:5: outcomes.accepted: no answer would ever be accepted (add at least one matcher, or remove the key)"),
        ("presence: {header: Authorization, value: x}", "t.yaml:5: presence.header: expected the name of a header that carries no secret, found 'Authorization' (for example PSU-IP-Address; how calls are authenticated stands under auth)"),
        ('presence: {header: X, value: "a\\r\\nB: c"}', "t.yaml:5: presence.value: expected the value in one line, in a body also true, false or a whole number, found 'a\\r\\nB: c'"),
        ("waivers: [{obligation: a/b/c, owner: o, reason: r}]", "t.yaml:5: waivers[0]: 'expires' is missing (expected a date such as 2026-12-31)"),
        ("waivers: [{obligation: a/b/c, owner: o, reason: r, expires: soon}]", "t.yaml:5: waivers[0].expires: expected a date such as 2026-12-31, found 'soon'"),
        ("waivers: [{obligation: a/b/c, owner: o, reason: r, expires: 2026-02-30}]", "t.yaml:5: waivers[0].expires: not a date: '2026-02-30' (for example 2026-12-31)"),
        ("waivers: [{obligation: a-b, owner: o, reason: r, expires: 2026-02-03}]", "t.yaml:5: waivers[0].obligation: expected the id of an obligation, such as aisp/batch-quota/next-day, found 'a-b'"),
        ("waivers: [{owner: o, reason: r, expires: 2026-02-03}]", "t.yaml:5: waivers[0]: 'obligation' is missing (name an obligation, or a clause with `clause`)"),
        ("waivers: [{obligation: a/b/c, clause: a/b, owner: o, reason: r, expires: 2026-02-03}]", "t.yaml:5: waivers[0]: obligation and clause are both set (keep one)"),
        ("waivers: [{clause: a/b/c, owner: o, reason: r, expires: 2026-02-03}]", "t.yaml:5: waivers[0].clause: expected the id of a clause, such as aisp/batch-quota, found 'a/b/c'"),
        ("waivers: none.yaml", "t.yaml:5: waivers: 'none.yaml': there is no such file (write a list of waivers, or the path of a file of waivers)"),
        ("fixtures: {kind: roles}", "t.yaml:5: fixtures: `kind: roles` needs at least one role (add roles)"),
        ("fixtures: {kind: none, roles: {a: {owns: []}}}", "t.yaml:5: fixtures.roles: `kind: none` has no roles (write `kind: roles`, or remove the key: a file that extends this one says `roles: null`)"),
        ("auth: {kind: bearer}\nfixtures: {kind: roles, roles: {a: {owns: []}}}", "t.yaml:6: fixtures.roles.a: this customer has no token (add `token_env: NAME` here or under auth)"),
        ("fixtures: {kind: roles, roles: {a: {owns: [{resource: r, key: 7}]}}}", 't.yaml:5: fixtures.roles.a.owns[0].key: expected its key in quotes, found 7 (write it in quotes: "7")'),
        ("fixtures: {kind: roles, roles: {a: {owns: [{resource: r, key: k, entries: [{key: e, on: 2026-13-01}]}]}}}", "t.yaml:5: fixtures.roles.a.owns[0].entries[0].on: not a date: '2026-13-01' (for example 2026-12-31)"),
        ("fixtures: {kind: control, url: control}", "t.yaml:5: fixtures.url: expected an http or https URL (for example https://sandbox.bank.example/v1)"),
        ("banks: {b: {base_url: 'https://bank.example/'}, c: {base_url: 'https://bank.example'}}", "t.yaml:5: banks.c.base_url: the same URL as banks.b.base_url (each bank of the group has its own; `hosts` are further URLs of this bank)"),
        ("hosts: ['https://b.example']\nbanks: {b: {base_url: 'https://b.example'}}", "t.yaml:6: banks.b.base_url: the same URL as hosts (each bank of the group has its own; `hosts` are further URLs of this bank)"),
        ("banks: {b: {base_url: b.example}}", "t.yaml:5: banks.b.base_url: expected an http or https URL (for example https://sandbox.bank.example/v1)"),
        ("banks: {b: {lacks: [x]}}", "t.yaml:5: banks.b: 'base_url' is missing (expected an http or https URL)"),
        ("fixtures: {kind: control, offers: [clocks]}", "t.yaml:5: fixtures.offers[0]: expected psu, two-psu, consent, batch, clock, roster, zone, credentials, entries, write, segments, registrations, tpps, tpp-tokens, banks, effects, direct-access, renewal, sca, screens, hosts or together, found 'clocks' (did you mean 'clock'?)"),
        ("fixtures: {kind: control, offers: [providers]}", "t.yaml:5: fixtures.offers[0]: expected psu, two-psu, consent, batch, clock, roster, zone, credentials, entries, write, segments, registrations, tpps, tpp-tokens, banks, effects, direct-access, renewal, sca, screens, hosts or together, found 'providers' (renamed: write 'tpps')"),
        ("auth: {kind: bearer, provider: {kind: none}}", "t.yaml:5: auth.provider: unknown key 'provider' (renamed: write 'tpp')"),
        ("world: {kind: none}", "t.yaml:5: world: unknown key 'world' (renamed: write 'fixtures')"),
        ("auth: {kind: key}", "t.yaml:5: auth: 'header' is missing"),
        ("auth: {kind: bearer, header: X-Api-Key}", "t.yaml:5: auth.header: only `kind: key` has a header of its own (write `kind: key`, or remove it)"),
        ("auth: {kind: key, header: a b}", "t.yaml:5: auth.header: expected the name of the header for the key, found 'a b' (for example X-Api-Key)"),
        ("auth: {kind: key, header: K}\nfixtures: {kind: roles, roles: {a: {owns: []}}}", "t.yaml:6: fixtures.roles.a: this customer has no token (add `token_env: NAME` here or under auth)"),
        ("auth: {kind: bearer, token: hunter2}", "t.yaml:5: auth.token: a file must not contain a secret (name an environment variable instead: `token_env: BANK_TOKEN`)"),
        ("timeout: 0", "t.yaml:5: timeout: expected a number of seconds, above 0 and at most 600, found 0"),
        ("enviroment: live", "t.yaml:5: enviroment: unknown key 'enviroment' (did you mean 'environment'?)"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("folder")
def test_wording(text: str, said: str) -> None:
    """Each mistake is one line that says where, what was expected, what was found, a hint."""
    (found,) = problems(SMALLEST + text + "\n")
    assert found.startswith(said)


@pytest.mark.usefixtures("folder")
def test_all_renamings_are_named_at_once() -> None:
    """What stands below a renamed key is examined under its present name, at the same time."""
    text = "auth: {kind: bearer, provider: {kind: none}}\nworld: {kind: control, offers: [providers]}\n"
    found = problems(SMALLEST + text)
    hints = ["renamed: write 'tpp'", "renamed: write 'fixtures'", "renamed: write 'tpps'"]
    assert [True] * 3 == [hint in each for hint, each in zip(hints, found, strict=True)]
    assert "t.yaml:6: world.offers[0]" in found[2]


@pytest.mark.parametrize("name", ["remote", "live"])
def test_templates_are_right_as_they_are(name: str) -> None:
    """The templates can be read before anybody has changed them."""
    target = read_target(find_target(name))
    assert (name, TransportKind.HTTP) == (target.name, target.transport)
    assert all(role.token_env for role in target.fixtures.roles)


@pytest.mark.parametrize("name", ["remote", "live"])
@pytest.mark.usefixtures("folder")
def test_what_templates_suggest_is_right_too(name: str) -> None:
    """What stands in their comments can be switched on."""
    text = (contract_dir() / "targets" / f"{name}.yaml").read_text("utf-8")
    rows, on = [], False
    for row in text.splitlines():
        on = row.startswith(("# operations:", "# outcomes:", "# waivers:", "# out", "# not_")) or (
            on and row.startswith("#   ")
        )
        rows.append(row[2:] if on else row)
    target = read("\n".join(rows) + "\n")
    assert target.waivers or target.not_offered


def test_finding_targets(folder: Path) -> None:
    """A shipped name is a target; anything that looks like a path is taken as it is."""
    assert contract_dir() / "targets" / "sandbox.yaml" == find_target("sandbox")
    assert Path("mine.yaml") == find_target("mine.yaml")
    assert folder == find_target(folder)
    with pytest.raises(InputError, match=r"sandbax: no such target \(did you mean 'sandbox'"):
        find_target("sandbax")
