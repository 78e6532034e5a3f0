"""Names of files made of other names: nothing in them that a file system minds."""

from __future__ import annotations

__all__ = ["file_name"]


def file_name(text: str, most: int) -> str:
    """Return a text as the name of a file, in so many characters at the most."""
    return "".join(one if one.isalnum() or one in "-_." else "-" for one in text)[:most]
