"""The ledger: today's accesses, shared by all runs, without names."""

import hmac
import os
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from assay.binding.model.origin import place_of
from assay.errors import InputError, TargetError
from assay.running.ledger import APPLICATION, Ledger, QuotaUse, default_path

NOW = datetime(2026, 9, 16, 8, tzinfo=UTC)
IBAN = "FR7630006000011234567890189"


def use(customer=IBAN, method="accounts", day=date(2026, 9, 16), target="https://bank.example/v1"):
    at = datetime.combine(day, NOW.timetz())
    return QuotaUse(
        targets=(place_of(target),), customers=(customer,), method=method, at=at, zone=UTC
    )


def spend(ledger, of=None, most=None):
    return ledger.spend(of or use(), most=most, run="run")


def wrong(path):
    with pytest.raises(InputError) as caught:
        Ledger.at(path)
    (problem,) = caught.value.problems
    assert str(path) == problem.path
    return problem.what


def test_accesses_stay_recorded(tmp_path):
    """A later run finds the accesses of an earlier one."""
    path = tmp_path / "deep" / "ledger.sqlite"
    assert [True, True] == [spend(Ledger.at(path)) for _ in range(2)]
    found = Ledger.existing(path)
    assert found is not None
    assert 2 == found.used(use())


@pytest.mark.parametrize(
    "key",
    [
        use(customer="DE89370400440532013000"),
        use(method="balances"),
        use(day=date(2026, 9, 17)),
        use(target="https://other.example/v1"),
    ],
)
def test_each_count_is_separate(tmp_path, key):
    """Another customer, method, day or target has another count."""
    ledger = Ledger.at(tmp_path / "l")
    assert spend(ledger, most=1)
    assert 0 == ledger.used(key)
    assert spend(ledger, key, most=1)


def test_no_more_than_allowed(tmp_path):
    """An access beyond the limit is not recorded."""
    ledger = Ledger.at(tmp_path / "l")
    assert [True, True, False, False] == [spend(ledger, most=2) for _ in range(4)]
    assert 2 == ledger.used(use())
    assert not spend(ledger, use(method="other"), most=0)


def test_many_threads_share_it(tmp_path):
    """Of forty concurrent accesses in threads, five are allowed."""
    ledger = Ledger.at(tmp_path / "l")
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda _: spend(ledger, most=5), range(40)))
    assert 5 == sum(got) == ledger.used(use())


def test_many_processes_share_it(tmp_path):
    """Processes that create the file at the same time share its count."""
    path = tmp_path / "l"
    code = (
        "import sys; from pathlib import Path; from datetime import UTC, datetime;"
        "from assay.running.ledger import Ledger, QuotaUse; ledger = Ledger.at(Path(sys.argv[1]));"
        "now = datetime(2026, 9, 16, tzinfo=UTC);"
        "use = QuotaUse(targets=('t',), customers=('c',), method='m', at=now);"
        "print(sum(ledger.spend(use, most=10, run='r') for _ in range(8)))"
    )
    command = [sys.executable, "-c", code, str(path)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    got = [int(one.communicate(timeout=60)[0]) for one in running]
    assert 10 == sum(got)
    at = datetime(2026, 9, 16, tzinfo=UTC)
    same = QuotaUse(targets=("t",), customers=("c",), method="m", at=at)
    assert 10 == Ledger.at(path).used(same)


def test_created_by_many_at_once(tmp_path):
    """Eight threads that create a file at the same moment all get its one key."""
    for number in range(30):
        start = threading.Barrier(8)

        def opened(_, path=tmp_path / str(number), start=start):
            start.wait()
            return Ledger.at(path).key

        with ThreadPoolExecutor(8) as pool:
            assert 1 == len(set(pool.map(opened, range(8))))


def test_the_file_has_no_names(tmp_path):
    """A customer's key is hashed, differently in each ledger, and only the owner can read the file."""
    paths = [tmp_path / "one", tmp_path / "two"]
    hashes = []
    for path in paths:
        spend(Ledger.at(path))
        assert (
            b"".join(one.read_bytes() for one in tmp_path.glob(f"{path.name}*")).find(IBAN.encode())
            == -1
        )
        assert 0 == path.stat().st_mode & 0o077
        with closing(sqlite3.connect(path)) as connection:
            hashes += connection.execute("SELECT customer FROM access").fetchone()
    assert hashes[0] != hashes[1]
    assert IBAN not in repr(Ledger.at(paths[0]))
    assert Ledger.at(paths[0]).key.hex() not in repr(Ledger.at(paths[0]))


def test_reading_creates_nothing(tmp_path):
    """A ledger that does not exist is not created by reading."""
    assert Ledger.existing(tmp_path / "none" / "l") is None
    assert [] == list(tmp_path.iterdir())


def test_a_file_that_is_no_database(tmp_path):
    """A file that is no database is not overwritten."""
    path = tmp_path / "notes.txt"
    path.write_text("not a database, and longer than any header of one " * 10)
    before = path.read_bytes()
    assert "this is not a ledger of Assay" == wrong(path)
    assert before == path.read_bytes()
    with pytest.raises(InputError):
        Ledger.existing(path)


def test_another_program_s_database(tmp_path):
    """A database of another program is refused."""
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE access (name TEXT)")
    connection.close()
    assert "this is not a ledger of Assay" == wrong(path)


def test_a_ledger_of_a_later_format(tmp_path):
    """A ledger of a later format is refused."""
    path = tmp_path / "l"
    Ledger.at(path)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 7")
    connection.close()
    assert "the ledger has format 7; this version of Assay reads format 1" == wrong(path)


def test_a_ledger_that_is_locked(tmp_path, monkeypatch):
    """A locked ledger is an error, at first and later; nothing is sent then."""
    monkeypatch.setattr("assay.running.ledger.LOCK_TIMEOUT", 0.0)
    path = tmp_path / "l"
    ledger = Ledger.at(path)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    assert wrong(path).startswith("the ledger is locked by another program")
    with pytest.raises(TargetError, match=r"locked by another program.*nothing was sent"):
        spend(ledger)
    holder.close()
    assert spend(ledger)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_disk_that_is_read_only(tmp_path):
    """A ledger that cannot be written is an error before the run."""
    folder = tmp_path / "ro"
    folder.mkdir()
    folder.chmod(0o500)
    assert wrong(folder / "l").startswith("the ledger cannot be written")


def test_a_folder_is_no_ledger(tmp_path):
    """A path that cannot be a file is a clear error."""
    assert wrong(tmp_path)
    assert wrong(Path("/dev/null/l")).startswith("the ledger cannot be written")


def test_the_default_path():
    """The variable comes first, then the state directory, if it is an absolute path."""
    assert Path("/x/l") == default_path({"ASSAY_LEDGER": "/x/l", "XDG_STATE_HOME": "/s"})
    assert Path("/s/assay/ledger.sqlite") == default_path({"XDG_STATE_HOME": "/s"})
    home = Path.home() / ".local" / "state" / "assay" / "ledger.sqlite"
    assert home == default_path({}) == default_path({"XDG_STATE_HOME": "relative"})


def test_the_application_id(tmp_path):
    """The header of the file has Assay's application id."""
    Ledger.at(tmp_path / "l")
    assert APPLICATION.to_bytes(4, "big") == (tmp_path / "l").read_bytes()[68:72]


# -- one customer, one bank, one day, however they are described ----------------------
def known_as(*customers, at=NOW, zone=UTC, **more):
    targets = more.pop("targets", ("bank.example/v1",))
    return QuotaUse(
        targets=targets, customers=customers, method="accounts", at=at, zone=zone, **more
    )


def test_all_that_is_shared_counts(tmp_path):
    """Accesses under either of two identities count for who has both, and each only once."""
    ledger = Ledger.at(tmp_path / "l")
    for customers in (("name", "token"), ("token", "item"), ("item", "other")):
        assert spend(ledger, known_as(*customers))
    assert 3 == ledger.used(known_as("name", "item"))
    assert 2 == ledger.used(known_as("token"))
    assert 0 == ledger.used(known_as("stranger"))
    assert 0 == ledger.used(known_as("name", targets=("elsewhere.example/v1",)))


@pytest.mark.parametrize(
    ("first", "then", "later", "counted"),
    [
        # 22:30 in UTC is the next day in Paris.
        ("Europe/Paris", "Europe/Paris", "2026-09-16T22:30", False),
        ("UTC", "UTC", "2026-09-16T22:30", True),
        ("UTC", "Europe/Paris", "2026-09-16T22:30", True),
        ("Europe/Paris", "UTC", "2026-09-16T22:30", True),
        (None, "Europe/Paris", "2026-09-16T22:30", True),
        ("Europe/Paris", None, "2026-09-16T22:30", True),
        # Nowhere is it the same day after 24 hours.
        (None, None, "2026-09-17T07:50", True),
        (None, None, "2026-09-17T08:00", False),
        ("Pacific/Kiritimati", "Pacific/Pago_Pago", "2026-09-17T08:00", False),
    ],
)
def test_the_day_in_every_zone_that_the_bank_may_have(tmp_path, first, then, later, counted):
    """An access counts while it is the same day in the zone of its run or of the next one."""
    zones = [name and ZoneInfo(name) for name in (first, then)]
    ledger = Ledger.at(tmp_path / "l")
    assert spend(ledger, known_as("c", zone=zones[0]))
    at = datetime.fromisoformat(later).replace(tzinfo=UTC)
    assert counted == ledger.used(known_as("c", zone=zones[1], at=at))


def test_a_clock_that_was_set_back(tmp_path):
    """What was recorded at a later time counts at a live bank."""
    ledger = Ledger.at(tmp_path / "l")
    assert spend(ledger, known_as("c", at=datetime(2026, 9, 18, 8, tzinfo=UTC)))
    assert 0 == ledger.used(known_as("c"))
    assert 1 == ledger.used(known_as("c", later=True))


def test_a_ledger_of_the_first_version(tmp_path):
    """Accesses that the first version recorded count, under its spellings of bank and customer."""
    path = tmp_path / "l"
    key = Ledger.at(path).key
    old = [hmac.new(key, each.encode(), "sha256").hexdigest() for each in (IBAN, "token:T")]
    rows = [
        (target, old[n], "accounts", "2026-09-16", "run", NOW.isoformat())
        for n, target in enumerate(("https://bank.example:443//v1", "https://bank.example/v1"))
    ]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP INDEX customers")
        for column in ("zone", "access"):
            connection.execute(f"ALTER TABLE access DROP COLUMN {column}")
        connection.executemany("INSERT INTO access VALUES (?, ?, ?, ?, ?, ?)", rows)
    now = known_as("owns:1", earlier=(IBAN, "token:T"))
    for ledger in (Ledger.existing(path), Ledger.at(path)):
        assert 2 == ledger.used(now)
        assert 1 == ledger.used(known_as("owns:1", earlier=("token:T",)))
    assert not spend(ledger, now, most=2)
    assert spend(ledger, now, most=3)
    assert 3 == ledger.used(now)
