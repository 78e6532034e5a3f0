"""Loading of a file or text into a `Document`, and dumping of data as YAML.

`load` reports errors of the file itself: it is missing, unreadable, too large, not UTF-8, or
empty. `strict_yaml` reads its text. `dump` writes data in block style, with keys in order and
without aliases, and quotes text that looks like a number. `read_zone` returns the time zone
with an IANA name.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any, Final, cast
from zoneinfo import ZoneInfo, available_timezones

import yaml

from assay._resources import contract_dir
from assay.contract.files.document import Document
from assay.contract.files.strict_yaml import read
from assay.contract.model import Json
from assay.errors import InputError, did_you_mean

#: A contract of a thousand operations has 4 MiB. More is another kind of file, which is not read to its end.
MAX_BYTES: Final = 16 * 1024 * 1024
_BEGIN: Final = "begin with `assay: 1`"
_OWN_KEY: Final = re.compile(rb"(?m)^[{\s\"']*assay[\"']?\s*:")


def load(path: str | Path) -> Document:
    """Read the file at `path`; its problems raise an `InputError`."""
    raw = _bytes(Path(path))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError.one(
            str(path),
            "this is not UTF-8 text",
            line=raw.count(b"\n", 0, error.start) + 1,
            hint="save the file as UTF-8",
        ) from None
    return _document(text, str(path), raw)


def load_named(path: str | Path) -> Document:
    """Read a file that another file names; of one without `assay: 1`, nothing is quoted.

    It may be any file of the machine, and who wrote the other one may read the error.
    """
    try:
        document = load(path)
    except InputError as error:
        # Without a line, the error is about the file as a whole.
        if not error.problems[0].line or _OWN_KEY.search(_bytes(Path(path))):
            raise
        document = None
    if document is None or "assay" not in document.data:
        what = "this is no file of Assay (it has no key `assay`)"
        raise InputError.one(str(path), what, hint=_BEGIN)
    return document


def loads(text: str, path: str = "<text>") -> Document:
    """Read `text` as if it were the content of the file `path`."""
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) > MAX_BYTES:
        raise _too_big(path)
    return _document(text.removeprefix("\ufeff"), path, raw)


def _document(text: str, path: str, raw: bytes) -> Document:
    root = read(text, path)
    if root is None:
        raise InputError.one(path, "the file is empty", hint=_BEGIN)
    if not isinstance(root.value, dict):
        what = "expected a mapping of names to values"
        raise InputError.one(path, what, line=root.spot.line, hint=_BEGIN)
    digest = "sha256:" + hashlib.sha256(raw).hexdigest()
    data = cast("dict[str, Json]", root.value)
    return Document(data=data, path=path, digest=digest, spots=root.spot)


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise InputError.one(str(path), "there is no such file", hint=_neighbour(path)) from None
    except IsADirectoryError:
        raise InputError.one(str(path), "this is a directory", hint="name a file in it") from None
    except (OSError, ValueError) as error:
        why = (getattr(error, "strerror", None) or str(error)).lower()
        raise InputError.one(
            str(path), f"the file cannot be read: {why}", hint="check the path"
        ) from None
    if len(raw) > MAX_BYTES:
        raise _too_big(str(path))
    return raw


def _too_big(path: str) -> InputError:
    return InputError.one(
        path,
        f"the file is larger than {MAX_BYTES >> 20} MiB",
        hint="is it a contract or target file?",
    )


def _neighbour(path: Path) -> str:
    try:
        names = [file.name for file in path.parent.iterdir() if file.is_file()]
    except (OSError, ValueError):
        return f"there is no folder {str(path.parent)!r} either"
    folders = () if path.parent.name else (contract_dir(), contract_dir() / "targets")
    shipped = [each.stem for folder in folders for each in folder.glob("*.yaml")]
    hint = did_you_mean(path.name, [*names, *shipped])
    folder = path.parent.resolve()
    return hint if hint.startswith("did you") else f"there is none in {folder}"


class _NoAliasDumper(yaml.SafeDumper):
    """A dumper that writes repeated values in full."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def dump(data: dict[str, Any]) -> str:
    """Return JSON data as a YAML document."""
    text: str = yaml.dump(
        data, Dumper=_NoAliasDumper, sort_keys=False, allow_unicode=True, width=100
    )
    return text


#: A time zone written as its distance from UTC.
_OFFSET: Final = re.compile(r"(UTC|GMT)?(?P<sign>[+-])(?P<hours>0?[0-9]|1[0-4])(:?00)?")


def read_zone(name: str) -> ZoneInfo | str:
    """Return the time zone with this name, or a hint if there is none."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        if offset := _OFFSET.fullmatch(name):
            # In Etc/GMT-2 the sign is that of POSIX: west of Greenwich is positive.
            sign = "-" if offset["sign"] == "+" else "+"
            fixed = f"Etc/GMT{sign}{int(offset['hours'])}"
            return f"an IANA name such as Europe/Paris; {fixed} if it has no summer time"
        return did_you_mean(name, available_timezones()) or "an IANA name, as in Europe/Paris"
