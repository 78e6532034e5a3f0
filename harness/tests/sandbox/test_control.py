"""The control API: what it creates, and how it refuses."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from assay.sandbox.world import DEMO, Registry

ROOT = "/assay-control/1"


def test_about(bank):
    """It reports its name, its capabilities and its traits."""
    about = bank.http.get(f"{ROOT}/").json()
    assert about["api"] == "assay-control/1"
    assert "clock" in about["capabilities"]
    assert about["traits"]["card"] == ["inactive", "last-used", "never-used", "immediate-debit"]


def test_worlds_are_repeatable(bank):
    """The same seed results in the same clock and the same accounts."""
    first, second = bank.world(seed=7), bank.world(seed=7)
    assert first.now == second.now
    assert (
        first.customer({"resource": "card"}).keys() == second.customer({"resource": "card"}).keys()
    )
    assert (
        bank.world().customer({"resource": "card"}).keys()
        != first.customer({"resource": "card"}).keys()
    )


def test_seed_zero_starts_on_a_wednesday(bank):
    """The world of seed 0 starts on 16 September 2026."""
    assert bank.world().now == "2026-09-16T10:00:00+02:00"


def test_seeds_start_on_ordinary_days(bank):
    """No start is on a Sunday, within two days of a clock change, or out of office hours."""
    paris = ZoneInfo("Europe/Paris")
    changes = {"2026-03-29", "2026-10-25", "2027-03-28", "2027-10-31"}
    for seed in range(1, 400):
        now = datetime.fromisoformat(bank.world(seed=seed).now).astimezone(paris)
        assert now.year in (2026, 2027)
        assert now.isoweekday() < 7
        assert 9 <= now.hour < 18
        assert now.second == 0
        for change in changes:
            assert abs((now.date() - datetime.fromisoformat(change).date()).days) > 1


def test_an_explicit_moment_wins(bank):
    """A world starts at the requested moment."""
    world = bank.world(seed=3, now="2027-01-05T08:00:00Z")
    assert world.now == "2027-01-05T09:00:00+01:00"


def test_clock(world):
    """The clock moves forward or stands still, and never goes back."""
    assert world.at("2026-09-16T10:00:00+02:00").status_code == 200
    moved = world.at("2026-10-25T02:30:00+01:00")
    assert moved.json() == {"now": "2026-10-25T02:30:00+01:00"}
    back = world.at("2026-10-25T02:30:00+02:00")
    assert back.status_code == 409
    assert "already" in back.json()["message"]


def test_customers_have_what_was_ordered(world):
    """Each item has its own key and its own entries, in the requested order."""
    guest = world.customer(
        {"resource": "account", "count": 2, "entries": ["2026-09-01", "2026-09-02"]},
        {"resource": "card", "traits": {"last-used": "2026-07-17"}, "entries": []},
        {"resource": "card", "traits": {"never-used": True}, "entries": []},
    )
    first, second, card, unused = guest.holdings
    assert [entry["date"] for entry in first["entries"]] == ["2026-09-01", "2026-09-02"]
    ids = {entry["key"] for item in (first, second) for entry in item["entries"]}
    assert len(ids) == 4
    assert card["traits"] == {"last-used": "2026-07-17"}
    assert unused["traits"] == {"never-used": True}


def test_cards_were_used_yesterday(world):
    """An item is ordinary by default."""
    card = world.customer({"resource": "card", "entries": []}).holdings[0]
    assert card["traits"] == {"last-used": "2026-09-15"}


def test_the_banks_own_entries(world):
    """By default, 200 days of one to three entries are generated."""
    entries = world.customer({"resource": "account"}).holdings[0]["entries"]
    dates = [entry["date"] for entry in entries]
    assert len(set(dates)) == 200
    assert {1, 2, 3} == {dates.count(day) for day in set(dates)}


def test_a_customer_has_a_token_for_the_second_tpp(bank, world):
    """It reads the same data, and does not outlive the world."""
    made = world.control("customers", holdings=[{"resource": "account", "entries": []}]).json()
    (tpp,) = made["tokens"]
    world.control("tpps")
    assert tpp == world.control("tpps").json()["tpp"]
    mine, other = ({"Authorization": f"Bearer {x}"} for x in (made["token"], made["tokens"][tpp]))
    assert mine != other
    lists = [bank.http.get("/accounts", headers=each).json()["accounts"] for each in (mine, other)]
    assert lists[0] == lists[1] != []
    bank.http.delete(f"{ROOT}/worlds/{world.id}")
    assert bank.http.get("/accounts", headers=other).status_code == 401


def test_closing_a_world(bank, world):
    """A closed world does not exist any more, nor do its tokens."""
    guest = world.customer({"resource": "account", "entries": []})
    assert bank.http.delete(f"{ROOT}/worlds/{world.id}").status_code == 204
    assert bank.http.delete(f"{ROOT}/worlds/{world.id}").status_code == 404
    assert bank.http.delete(f"{ROOT}/worlds/demo").status_code == 409
    assert bank.http.post(f"{ROOT}/worlds/demo/customers", json={}).status_code == 201
    assert guest.get("/accounts").status_code == 401


def test_worlds_are_apart(bank):
    """The clock of one world is not that of another."""
    first, second = bank.world(), bank.world()
    guest = second.customer({"resource": "account", "entries": []})
    first.at("2026-09-20T03:00:00+02:00")
    assert guest.get("/accounts").status_code == 200


@pytest.mark.parametrize(
    ("path", "body", "status", "says"),
    [
        ("worlds", {"seed": "x"}, 400, "seed"),
        ("worlds", {"seed": -1}, 400, "seed"),
        ("worlds", {"seed": True}, 400, "seed"),
        ("worlds", {"now": "yesterday"}, 400, "now"),
        ("worlds", {"now": "2026-09-16T10:00:00"}, 400, "now"),
        ("worlds", {"now": "0001-01-01T00:00:00+14:00"}, 400, "now"),
        ("worlds", [], 400, "object"),
        ("worlds/w0/clock", {"to": "2026-09-17T10:00:00+02:00"}, 404, "w0"),
        ("worlds/demo/clock", {}, 400, "to"),
        ("worlds/demo/nothing", {}, 404, "GET /assay-control/1/"),
        ("worlds/demo/customers", {"holdings": 1}, 400, "list"),
        ("worlds/demo/customers", {"holdings": [1]}, 400, "object"),
        ("worlds/demo/customers", {"holdings": [{}]}, 400, "resource"),
        ("worlds/demo/customers", {"holdings": [{}] * 101}, 400, "100"),
    ],
)
def test_what_cannot_be_done(bank, path, body, status, says):
    """A refusal says what was expected."""
    answer = bank.http.post(f"{ROOT}/{path}", json=body)
    assert status == answer.status_code
    assert says in answer.json()["message"]


@pytest.mark.parametrize(
    ("holding", "says"),
    [
        ({"resource": "loan"}, "resource"),
        ({"resource": ["card"]}, "resource"),
        ({"count": 0}, "count"),
        ({"count": True}, "count"),
        ({"count": 1001}, "1000"),
        ({"colour": 1}, "colour"),
        ({"traits": {"last-used": "2026-09-01"}}, "savings, inactive, offline"),
        ({"traits": {"savings": 1}}, "true or false"),
        ({"traits": []}, "object"),
        ({"entries": 3}, "list"),
        ({"entries": ["2026-02-30"]}, "entries[0]"),
        ({"entries": ["2026-02-03"] * 60_000, "count": 2}, "100000"),
        ({"count": 300}, "100000"),
        (
            {
                "resource": "card",
                "traits": {"never-used": True, "last-used": "2026-01-01"},
            },
            "exclude",
        ),
    ],
)
def test_what_nobody_can_hold(bank, holding, says):
    """A request that cannot be carried out has no effect."""
    order = {"holdings": [{"resource": "account", **holding}]}
    answer = bank.http.post(f"{ROOT}/worlds/demo/customers", json=order)
    assert answer.status_code == 400
    assert says in answer.json()["message"]


@pytest.mark.parametrize("body", [b"{", b"\xff", b"[" * 100_000, b" " * (1 << 21)])
def test_bodies_that_do_not_read(bank, body):
    """Malformed and huge bodies are refused."""
    assert bank.http.post(f"{ROOT}/worlds", content=body).status_code == 400


def test_old_worlds_make_room(monkeypatch):
    """The oldest world is removed when there are too many; the demo world stays."""
    monkeypatch.setattr("assay.sandbox.world._WORLDS", 3)
    registry = Registry()
    registry.open(0, None, id=DEMO)
    made = [registry.open(0, None).id for _ in range(4)]
    assert registry.world(DEMO)
    assert [bool(registry.world(world)) for world in made] == [False, False, True, True]
