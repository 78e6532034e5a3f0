"""The list of a large document: every member, whatever is around it, and nothing of a broken one."""

import json
from io import BytesIO

import pytest

from assay.traffic import har
from assay.traffic.har import JsonStream, StreamError

MEMBERS = [{"a": [1, {"b": "é\n\\u00e9"}]}, 7, "x" * 50, None, -1.5e3, [], {}, "\u2028", 12345678]
AROUND = {"creator": {"entries": [1], "log": 3}, "entries": MEMBERS, "version": "1.2"}


def read(raw, size=None):
    """Read the entries of a document, in chunks of some bytes."""
    stream = JsonStream(BytesIO(raw), **({"size": size} if size else {}))
    return list(stream.read_list("log", "entries"))


def in_chunks(monkeypatch, size):
    """Let every reading have this many bytes only."""
    monkeypatch.setattr(har, "CHUNK", size)
    return size


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 10_000])
@pytest.mark.parametrize("indent", [None, 1])
def test_members(size, indent, monkeypatch):
    """Members are those of the document, wherever a chunk ends and in whatever order keys are."""
    in_chunks(monkeypatch, size)
    for keys in (AROUND, dict(reversed(AROUND.items()))):
        document = {"x": [{"log": {"entries": [0]}}], "log": keys, "y": 12}
        text = json.dumps(document, indent=indent, ensure_ascii=False)
        assert MEMBERS == read(text.encode(), size)
        assert MEMBERS == read(b"\xef\xbb\xbf" + text.encode(), size)


@pytest.mark.parametrize("size", [1, 5, 10_000])
def test_a_file_that_is_cut_off_anywhere(size, monkeypatch):
    """A document is refused wherever it is cut off, and so is one that goes on behind its end."""
    in_chunks(monkeypatch, size)
    raw = json.dumps({"log": AROUND, "y": 12}, ensure_ascii=False).encode()
    for end in range(len(raw)):
        with pytest.raises((StreamError, UnicodeDecodeError)):
            read(raw[:end], size)
    with pytest.raises(StreamError, match="Extra data"):
        read(raw + b" ]", size)
    assert MEMBERS == read(raw + b" \n\t", size)


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ('{"log": {"entries": [1,\n2,\n{"a" 3}]}}', "not JSON: Expecting ':' delimiter", 3),
        ('{"log": {"entries": [1\n2]}}', "not JSON: Expecting ',' delimiter", 2),
        ('{"log": {"entries": [1,]}}', "not JSON: Expecting value", 1),
        ('{"log": {"entries": [1]},}', "not JSON: Expecting property name", 1),
        ('{"log": {\nentries: [1]}}', "not JSON: Expecting property name", 2),
        ('{"log" {}}', "not JSON: Expecting ':' delimiter", 1),
        ('{"log": {"entries": [1],\n"entries": [2]}}', "a second 'log.entries'", 2),
        ('{"log": {"entries": [1]}, "log": {"entries": []}}', "a second 'log'", 1),
        ('{"log": {"entries": [' + "[" * 100_000, "not JSON that can be read", 1),
        ('{"log": {"entries": [' + "9" * 5000 + "]}}", "not JSON that can be read", 1),
        ('{"log": {"entries": ["' + "x" * 5000, "not JSON: Unterminated string", 1),
        ('{"log": {"entries": ["\\q' + "x" * 5000 + '"]}}', r"not JSON: Invalid \\escape", 1),
    ],
)
@pytest.mark.parametrize("size", [3, 100, 1_000_000])
def test_a_broken_document(text, message, line, size, monkeypatch):
    """A broken document is refused with what is wrong and the line, however it is read."""
    in_chunks(monkeypatch, size)
    with pytest.raises(StreamError, match=message) as error:
        read(text.encode(), size)
    assert line == error.value.line
    assert len(error.value.what) < 100


def test_a_value_that_is_too_long(monkeypatch):
    """A single value has a limit, since it must be in memory."""
    monkeypatch.setattr(har, "MAX_VALUE", 3 * 1024 * 1024)
    raw = b'{"log": {"entries": ["' + b"x" * 10 * 1024 * 1024 + b'"]}}'
    with pytest.raises(StreamError, match="one value is longer than 3 MiB"):
        read(raw)
    assert 2 * 1024 * 1024 == len(read(raw.replace(b"x" * 8 * 1024 * 1024, b""))[0])


def test_a_list_that_has_no_end():
    """Members are yielded before the rest of the document is there."""

    class Endless:
        def __init__(self):
            self.begun = False

        def read(self, size):
            begin = b"" if self.begun else b'{"log": {"entries": [{}'
            self.begun = True
            return begin + b', {"a": 1}' * (size // 10)

    members = JsonStream(Endless()).read_list("log", "entries")
    assert [{}] + [{"a": 1}] * 30_000 == [next(members) for _ in range(30_001)]
