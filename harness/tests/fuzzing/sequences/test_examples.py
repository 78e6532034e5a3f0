"""What was found is kept, and tried first the next time."""

import pytest

from assay.errors import InputError
from assay.fuzzing.examples import open_examples
from assay.fuzzing.sequences.abstract_step import AbstractStep
from assay.fuzzing.sequences.sequence_file import RecordedSequence
from assay.history import Call


def kept(name="one", contract="pis"):
    told = AbstractStep(step=Call(operation="read-payment", subject="psu"))
    return RecordedSequence(
        name=name, contract=contract, breaks=(f"{contract}/a/b",), story=(told,)
    )


def names(examples, contract="pis"):
    return sorted(one.name for one in examples.stories(contract))


@pytest.fixture(params=["directory", "redis"])
def where(request, tmp_path, monkeypatch):
    """Return where a database is."""
    if request.param == "directory":
        return str(tmp_path / "examples")
    fakeredis = pytest.importorskip("fakeredis")
    server = fakeredis.FakeServer()
    monkeypatch.setattr(
        "redis.Redis.from_url", lambda _url, **_: fakeredis.FakeRedis(server=server)
    )
    return "redis://team.example/0"


def test_stories_are_kept_between_runs(where):
    """By contract, until they are dropped; another run sees them."""
    first = open_examples(where)
    first.save(kept())
    first.save(kept("two"))
    first.save(kept("other", contract="aisp"))
    again = open_examples(where)
    assert names(again) == ["one", "two"]
    assert names(again, "aisp") == ["other"]
    again.drop(next(one for one in again.stories("pis") if one.name == "one"))
    assert names(open_examples(where)) == ["two"]


def test_what_cannot_be_read_is_dropped(where):
    """A story of another version, or no story at all, stops no run."""
    examples = open_examples(where)
    examples.save(kept())
    examples.database.save(b"assay/stories/1/pis", b"\xff not a story")
    examples.database.save(b"assay/stories/1/pis", b'{"assay": 1}')
    assert names(examples) == ["one"]
    assert len([*examples.database.fetch(b"assay/stories/1/pis")]) == 1


def test_nowhere():
    """For whoever wants nothing kept."""
    assert open_examples("none") is None


def test_a_database_that_does_not_answer_is_said(monkeypatch):
    """In one line, without the password that the URL may hold."""
    pytest.importorskip("redis")
    with pytest.raises(InputError, match="redis cannot be used") as error:
        open_examples("redis://:secret@127.0.0.1:1/0")
    assert "secret" not in str(error.value)
