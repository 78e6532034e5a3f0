"""Mutations of files that are trees of JSON values: in the tree, in embedded JSON, and in the bytes.

A mutated file stays close to a real one, so that it gets past the first check. The same random
numbers give the same file.
"""

import json
import re
from copy import deepcopy

#: Marks a text that is written as it stands, without quotes, and a key that occurs twice.
RAW, TWICE = "\u2402raw:", "\u2402twice"

DATES = (
    "0001-01-01", "9999-12-31", "0000-00-00", "2026-02-30", "1582-10-10", "-0001-01-01",
    "10000-01-01", "2026-W01-1", "20260101", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999-12:00", "2026-12-31T23:59:60Z",
    "2026-01-01T24:00:00Z", "2026-01-01T00:00:00+99:99", "2026-01-01T00:00:00", "1970-01-01T00:00Z",
)  # fmt: skip
TEXTS = (
    "", " ", "\n", "a\nb", "\t", "\x00", "\x1b[31m", "\x7f", "\u2028", "\u202e", "\ufeff", "\ud800",
    "\udfff", "\U0001f600", "e\u0301", "\u0661\u0662", "\u00b2", "\uff11", "x" * 300, "x" * 70_000,
    "null", "true", "NaN", "0", "-1", "1e400", "0x10", "1_000", "*", "**", ".", "..", "/", "//", "\\",
    "../../etc/passwd", "/dev/null", "~", "$HOME", "${HOME}", "{}", "{", "}", "{a}", "{{a}}", "{0}",
    "%", "%zz", "%00", "%s", "<", "&", "'", '"', "<script>", "]]>", "#", "?", "a b", "a/b", "a.b", "a=b",
    "http://[", "http://[::1", "http://x:99999999", "http://x:y@z/", "https://", "://", "ftp://x",
    "http://x/{", "//x", "javascript:x", "data:,", "[", "(", "(?", "a{99999}", "or", "not", "and",
    "Europe/Atlantis", "UTC", "aisp", "assay", "__class__", "FR7630006000011234567890189",
)  # fmt: skip
NUMBERS = (0, 1, -1, 2, 7, 99, 2**31, 2**53 + 1, 2**63, 10**30, -(10**18), 0.1, -0.0, 1e308, 5e-324)
RAWS = (
    "NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1e-400", "1E+3", "-0", "00", "9" * 400,
    "9" * 5000, "0." + "3" * 500, "tru", "'x'", "",
)  # fmt: skip
CONTAINERS = ([], {}, [[]], [{}], [None], [[], {}], {"": ""}, {"a": {}}, {"$ref": "#"}, [0] * 50)


def nested(depth, opening="[", closing="]"):
    """Return a value that is nested this deep, as a text that is written as it stands."""
    return RAW + opening * depth + closing * depth


# -- trees ---------------------------------------------------------------------------------
def paths(tree, path=()):
    """Yield the path of every value in a tree, the root first."""
    yield path
    members = tree.items() if isinstance(tree, dict) else enumerate(tree) if is_list(tree) else ()
    for name, member in members:
        yield from paths(member, (*path, name))


def is_list(value):
    """Whether a value is a list."""
    return isinstance(value, list)


def at(tree, path):
    """Return the value at a path."""
    for step in path:
        tree = tree[step]
    return tree


def odd_value(rng):
    """Return a value that is odd nearly everywhere."""
    return rng.choice(ODD_VALUES)(rng)


#: The sorts of odd values; those that come often are listed more than once.
ODD_VALUES = (
    lambda rng: RAW + rng.choice(RAWS),
    lambda rng: deepcopy(rng.choice(CONTAINERS)),
    lambda rng: rng.choice((None, True, False)),
    *[lambda rng: rng.choice(NUMBERS)] * 2,
    *[lambda rng: rng.choice(DATES)] * 2,
    *[lambda rng: rng.choice(TEXTS)] * 3,
    lambda rng: nested(rng.choice((3, 3, 3, 30, 70, 1000, 100_000))),
)


def mutated_tree(tree, rng):
    """Return a tree with one to three mutations."""
    tree = {"": deepcopy(tree)}  # so that the root can be replaced, too
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        places = [*paths(tree)][1:]
        if places:
            rng.choice(TREE_MUTATIONS)(tree, rng.choice(places), places, rng)
    return tree.get("")


def _replace(tree, path, places, rng):
    at(tree, path[:-1])[path[-1]] = odd_value(rng)


def _retype(tree, path, places, rng):
    """Keep what a value says, in another type."""
    value = at(tree, path)
    other = [str(value), [value], {"value": value}, {"0": value}, bool(value)]
    if isinstance(value, str):
        other += [value.upper(), list(value[:9]), RAW + value, {value: None}]
    at(tree, path[:-1])[path[-1]] = rng.choice(other)


def _remove(tree, path, places, rng):
    del at(tree, path[:-1])[path[-1]]


def _repeat(tree, path, places, rng):
    parent = at(tree, path[:-1])
    if is_list(parent):
        times = rng.choice((1, 1, 2, 100)) if len(str(parent)) < 3000 else 1
        parent += [deepcopy(parent[path[-1]]) for _ in range(times)]
    else:
        parent[f"{path[-1]}{TWICE}"] = deepcopy(parent[path[-1]])


def _rename(tree, path, places, rng):
    parent = at(tree, path[:-1])
    if isinstance(parent, dict):
        names = [place[-1] for place in places if isinstance(place[-1], str)]
        name = rng.choice([*names, rng.choice(TEXTS), f"{path[-1]}s"])
        parent[name] = parent.pop(path[-1])


def _copy(tree, path, places, rng):
    """Put another value of the same file here."""
    value = deepcopy(at(tree, rng.choice(places)))
    if len(str(value)) < 100_000:
        at(tree, path[:-1])[path[-1]] = value


def _edit(tree, path, places, rng):
    """Change a text a little."""
    value = at(tree, path)
    if isinstance(value, str):
        where = rng.randrange(len(value) + 1)
        until = where + rng.choice((0, 0, 1, 5))
        value = value[:where] + rng.choice((*TEXTS, *DATES)) + value[until:]
        at(tree, path[:-1])[path[-1]] = value
    elif isinstance(value, int | float):
        at(tree, path[:-1])[path[-1]] = rng.choice((-value, value + 1, value * 1000, value / 7))


def _add(tree, path, places, rng):
    value = at(tree, path)
    if isinstance(value, dict):
        value[rng.choice(TEXTS)] = odd_value(rng)
    elif is_list(value):
        value.insert(rng.randrange(len(value) + 1), odd_value(rng))
    else:
        _replace(tree, path, places, rng)


def _embedded(tree, path, places, rng):
    """Mutate the JSON in a text, as in the body of a message; or a date in any text."""
    texts = [place for place in places if isinstance(at(tree, place), str)]
    bodies = [place for place in texts if at(tree, place).startswith(("{", "["))]
    place = rng.choice(bodies or texts or [path])
    value = at(tree, place)
    if not isinstance(value, str):
        return
    try:
        value = written(mutated_tree(json.loads(value), rng), None)
    except ValueError:
        value = re.sub(r"\d{4}-\d\d-\d\d", lambda _: rng.choice(DATES), value, count=1)
    at(tree, place[:-1])[place[-1]] = value


def _all_dates(tree, path, places, rng):
    """Write another date in place of one, wherever it occurs."""
    text = json.dumps(tree)
    known = sorted(set(re.findall(r"\d{4}-\d\d-\d\d(?:T[0-9:.]+(?:Z|[+-]\d\d:\d\d))?", text)))
    if known:
        tree.update(json.loads(text.replace(rng.choice(known), rng.choice(DATES))))


TREE_MUTATIONS = (
    *(_replace, _replace, _replace, _retype, _retype, _remove, _remove, _repeat, _rename),
    *(_copy, _copy, _edit, _edit, _add, _embedded, _embedded, _all_dates),
)


def written(tree, indent=1):
    """Write a tree as JSON, with the marked texts as they stand."""
    text = json.dumps(tree, indent=indent)
    text = text.replace(json.dumps(TWICE)[1:-1], "")
    mark = re.escape(json.dumps(RAW)[1:-1])
    return re.sub(f'"{mark}((?:[^"\\\\]|\\\\.)*)"', lambda match: match[1], text)


# -- bytes ---------------------------------------------------------------------------------
BOMB = "\n".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
)
PIECES = (
    b"\x00", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xfe\xff", b"\x1a", b"\x85", b"\r", b"\t",
    b"{", b"}", b"[", b"]", b'"', b"'", b",", b":", b": ", b"- ", b"? ", b"*a", b"&a ", b"!!python/name:x ",
    b"!x ", b"<<: ", b"---\n", b"...\n", b"%YAML 9.9\n", b"%TAG ! x:\n", b"|\n", b">\n", b"# ", b"\\ud800",
    b"\\x", b"\n\n\n", b"1e400", b"NaN", BOMB.encode(), b"[" * 5000, b"{a: " * 2000, b"- " * 3000,
)  # fmt: skip


def mutated_bytes(raw, rng):
    """Return bytes that were cut off, or in which some were changed, doubled or moved."""
    for _ in range(rng.choice((1, 1, 2))):
        a, b = sorted(rng.randrange(len(raw) + 1) for _ in range(2))
        b = min(b, a + rng.choice((1, 10, 1000)))
        kind = rng.randrange(6)
        if kind == 0:
            raw = raw[: rng.randrange(len(raw) + 1)]
        elif kind == 1:
            raw = raw[:a] + raw[b:]
        elif kind == 2:
            raw = raw[:b] + raw[a:]
        elif kind == 3 and raw:
            a = min(a, len(raw) - 1)
            raw = raw[:a] + bytes([raw[a] ^ (1 << rng.randrange(8))]) + raw[a + 1 :]
        else:
            raw = raw[:a] + rng.choice(PIECES) + raw[a:]
    return raw
