"""Long recordings: copies of a short one, with the same verdicts, in little memory."""

import gc
import json
import sys
import tracemalloc
from collections import defaultdict
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from assay.contract.model import Party
from assay.errors import JournalError
from assay.history import Wire
from assay.rules.verdict import Standing
from assay.traffic.har import WireStore, read_har
from assay.traffic.session import open_recording

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import multiplied

#: The exchanges of one copy.
EACH = 160


@pytest.fixture(scope="module")
def made():
    """Make the exchanges of one copy, once."""
    before = dict(multiplied.COPY)
    multiplied.COPY.update(aisp=EACH // 2, pis=EACH // 2)
    yield multiplied.entries()
    multiplied.COPY.update(before)


def judged(made, length, folder, **options):
    """Judge a recording of some length; return the session, the result and the journal's lines."""
    folder.mkdir()
    multiplied.write(folder / "x.har", made, length)
    session = open_recording(folder / "x.har", bank_clock=True, **options)
    result = session.close(folder / "journal.jsonl")
    text = (folder / "journal.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    return session, result, lines


@pytest.mark.slow
@pytest.mark.parametrize("party", Party)
@pytest.mark.parametrize("complete", [False, True])
def test_copies(made, party, complete, tmp_path):
    """Independent copies of a recording show what the recording shows."""
    _, short, _ = judged(made, EACH, tmp_path / "short", party=party, complete=complete)
    session, long, _ = judged(made, 3 * EACH, tmp_path / "long", party=party, complete=complete)
    assert 3 * EACH == session.exchanges
    standings = {each.obligation: each.standing for each in short.verdicts}
    assert standings == {each.obligation: each.standing for each in long.verdicts}
    assert Standing.CONFORMS in standings.values()


def test_only_what_is_quoted_is_written(made, tmp_path):
    """The journal has the exchanges that its evidence quotes, and cannot be judged again."""
    _, _, lines = judged(made, 2 * EACH, tmp_path / "new")
    kinds = defaultdict(list)
    for line in lines:
        kinds[line["type"]].append(line)
    written = [line["n"] for line in kinds["exchange"]]
    quoted = {
        n for line in kinds["verdict"] for each in line["evidence"] for n in each["exchanges"]
    }
    assert quoted == set(written)
    assert len(quoted) == len(written) < 2 * EACH
    assert 2 * EACH == kinds["footer"][0]["exchanges"]
    with pytest.raises(JournalError, match="judge the original recording"):
        open_recording(tmp_path / "new" / "journal.jsonl")


def test_what_others_show_to_be_private(made, tmp_path):
    """A secret that stands under its name in one exchange is masked in another, written or not."""
    entries = [json.loads(text) for text in multiplied.copies(made, EACH)]
    secret = "Zx81QuietHarbour"
    for entry in entries:
        entry["response"]["statusText"] = secret
        entry["response"]["headers"].append({"name": "Vary", "value": f"of {secret}"})
    content = entries[0]["response"]["content"]
    content["text"] = json.dumps({**json.loads(content["text"]), "access_token": secret})
    content["size"] = len(content["text"])
    path = tmp_path / "x.har"
    path.write_text(json.dumps({"log": {"entries": entries}}), encoding="utf-8")
    open_recording(path).close(tmp_path / "journal.jsonl")
    assert secret not in (tmp_path / "journal.jsonl").read_text(encoding="utf-8")


@pytest.mark.slow
def test_memory(made, tmp_path):
    """Memory grows with the meaning of the exchanges, not with their headers and bodies."""
    kept = []
    for length in (EACH, 5 * EACH):
        multiplied.write(tmp_path / "x.har", made, length)
        gc.collect()
        tracemalloc.start()
        session = open_recording(tmp_path / "x.har")
        kept.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        assert length == session.exchanges
    # Each entry has 4,800 bytes in the file, and took seven times as much when all of it was kept.
    assert (kept[1] - kept[0]) / (4 * EACH) < 4_000


def test_stored_messages():
    """A message that is kept on disk is equal to the one that was given, and `replace` is, too."""
    store = WireStore()
    wires = [
        Wire(
            method="GET",
            url=f"https://bank.example/{n}",
            request_headers=(("A", "\udc80"), ("B", "x" * n)),
            request_body=b"\xff" * n,
            status=200 + n % 3,
            headers=(("Content-Type", "application/json"),),
            body=b"{}" * n,
            truncated=n % 2 == 0,
        )
        for n in range(0, 900, 7)
    ]
    stored = [store.keep(wire) for wire in wires]
    for wire, kept in zip(wires, stored, strict=True):
        names = Wire.__dataclass_fields__
        assert [getattr(wire, name) for name in names] == [getattr(kept, name) for name in names]
        assert "application/json" == kept.media_type
        assert replace(wire, status=0) == Wire(**asdict(replace(kept, status=0)))
        linked = kept.with_links(("x",))
        assert (("x",), wire.url) == (linked.links, linked.url)
    assert len(set(stored)) == len(stored)


def test_gaps_are_made_anew(made, tmp_path):
    """A history that is in doubt gives the same events whenever it is read."""
    multiplied.write(tmp_path / "x.har", made, EACH)
    session = open_recording(tmp_path / "x.har")
    for history in (each.history for each in session.histories[0].doubts()):
        first = list(history.events)
        assert first == list(history.exchanges)
        assert len(first) >= EACH
        assert [each for each in first if each.n > 0] == [
            each for each in history.events if each.n > 0
        ]
    assert EACH == len(read_har(tmp_path / "x.har"))
