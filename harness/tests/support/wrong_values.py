"""Changes of a loaded target file: values that are nearly right, gone, or swapped."""

import copy
from collections.abc import Mapping
from typing import Any

#: The keys and indexes that lead to a value.
Path = tuple[Any, ...]
#: A class of mistakes, the key, the wrong value, and all changes of the file that it takes.
Change = tuple[str, Path, Any, tuple[tuple[Path, Any], ...]]
#: Stands for a key that is removed.
GONE = object()


def value_at(data: Any, at: Path) -> Any:
    """Return what stands at a key."""
    for step in at:
        data = data[step]
    return data


def changed(data: Mapping[str, Any], *changes: tuple[Path, Any]) -> dict[str, Any]:
    """Return a copy with other values at some keys."""
    result = copy.deepcopy(dict(data))
    for at, value in changes:
        holder = value_at(result, at[:-1])
        if value is GONE:
            del holder[at[-1]]
        else:
            holder[at[-1]] = value
    return result


def misspelt(word: str) -> str:
    """Return a word without a letter in the middle of its last step."""
    head, slash, last = word.rpartition("/")
    middle = len(last) // 2
    shorter = last[:middle] + last[middle + 1 :]
    return f"{head}{slash}{shorter}" if shorter else f"{word}x"


def set_to(kind_of: str, at: Path, wrong: Any) -> Change:
    return kind_of, at, wrong, ((at, wrong),)


def swapped(kind_of: str, data: Any, at: Path, other: Path) -> Change:
    mine, others = value_at(data, at), value_at(data, other)
    return kind_of, at, others, ((at, others), (other, mine))


def nearly(word: Any) -> Any:
    """Return a value that is nearly the same."""
    if isinstance(word, list):
        return [*word[:-1], nearly(word[-1])] if word else ["none"]
    if isinstance(word, bool) or word is None:
        return not word
    if isinstance(word, int | float):
        return word + 1
    if isinstance(word, Mapping):
        return {misspelt(name): value for name, value in word.items()}
    return misspelt(word)
