"""Trace of the policies that each trial uses, to find the trials that a changed policy affects.

The sound bank runs every trial once, with its policies wrapped from outside: it cannot know.
A policy that is a plain value concerns the trials that read it. One that is a function is also
called as each changed bank has it, with the same arguments: it concerns the trials in which an answer
differs. In all other trials the changed bank does what the sound one does, step by step, since each
trial has customers of its own. What is read outside a trial concerns all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass
from typing import Any, Final, TypeAlias, cast

from assay.sandbox.mutants.bundles import replaced
from assay.sandbox.policies import SOUND, Policies

#: Returns a changed bank.
Change: TypeAlias = Callable[[Policies], Policies]
#: The steps from the policies to one of them: names of fields, and keys of tables.
Path: TypeAlias = tuple[str, ...]

#: What is read while no trial runs.
OUTSIDE: Final = ""
_MISSING: Final = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedBank:
    """A changed bank: its policies, the places where they differ, and whether it keeps a state.

    A bank that is changed twice with two results has policies with a state of their own: these
    must not be called but by their bank.
    """

    id: str
    policies: Policies
    places: frozenset[str]
    has_state: bool

    @classmethod
    def of(cls, id_: str, change: Change) -> ChangedBank:
        """Return the variant that a change makes of the sound bank."""
        policies = change(SOUND)
        return cls(
            id=id_,
            policies=policies,
            places=replaced(SOUND, policies),
            has_state=bool(replaced(policies, change(SOUND))),
        )

    def concerns(self, place: str) -> bool:
        """Whether it differs at a place, in a part of it, or in what it is a part of."""
        return any(_within(place, changed) or _within(changed, place) for changed in self.places)


@dataclass(slots=True)
class Trace:
    """The trials that each variant concerns; `trial` is the one that runs now."""

    variants: tuple[ChangedBank, ...]
    trial: str = OUTSIDE
    trials: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    _concerned: dict[str, tuple[ChangedBank, ...]] = field(default_factory=dict[str, Any])
    _comparing: bool = False

    def policies(self) -> Policies:
        """Return the policies of the sound bank, wrapped; a bank cannot tell them from others."""
        return cast("Policies", _Record(SOUND, (), self))

    def concerning(self, variant: str) -> frozenset[str] | None:
        """Return the trials that a variant concerns; None if it is all of them."""
        trials = self.trials.get(variant, set[str]())
        return None if OUTSIDE in trials else frozenset(trials)

    def read(self, path: Path) -> None:
        """Note that a policy was read, or a table as a whole."""
        for variant in self._at(path):
            self._note(variant)

    def call(
        self, path: Path, policy: Callable[..., Any], args: Any, kwargs: Mapping[str, Any]
    ) -> Any:
        """Call a policy, and note each variant whose policy answers otherwise."""
        if self._comparing:
            return policy(*args, **kwargs)
        noted = [variant for variant in self._at(path) if not self._is_noted(variant)]
        if not noted:
            return policy(*args, **kwargs)
        args = [_rereadable(each) for each in args]
        answer = _outcome(policy, args, kwargs)
        self._comparing = True
        try:
            for variant in noted:
                changed = _at(variant.policies, path)
                same = callable(changed) and not variant.has_state
                if not (same and _equal(answer, _outcome(changed, args, kwargs))):
                    self._note(variant)
        finally:
            self._comparing = False
        if isinstance(answer, _Raised):
            raise answer.error
        return answer

    def _at(self, path: Path) -> tuple[ChangedBank, ...]:
        place = "".join(path)
        if place not in self._concerned:
            self._concerned[place] = tuple(
                variant for variant in self.variants if variant.concerns(place)
            )
        return self._concerned[place]

    def _is_noted(self, variant: ChangedBank) -> bool:
        return self.trial in self.trials.get(variant.id, ())

    def _note(self, variant: ChangedBank) -> None:
        self.trials.setdefault(variant.id, set()).add(self.trial)


def _within(place: str, whole: str) -> bool:
    """Whether a place is another one, or a part of it."""
    return place.startswith(whole) and place[len(whole) : len(whole) + 1] in {"", ".", "["}


def _at(policies: Policies, path: Path) -> Any:
    """Return what stands at a path; `_MISSING` if nothing does."""
    value: Any = policies
    for step in path:
        if step.startswith("."):
            value = getattr(value, step[1:], _MISSING)
        elif isinstance(value, Mapping):
            value = cast("Mapping[str, Any]", value).get(step[1:-1], _MISSING)
        else:
            return _MISSING
    return value


@dataclass(frozen=True, slots=True)
class _Raised:
    error: Exception


def _outcome(policy: Callable[..., Any], args: Any, kwargs: Mapping[str, Any]) -> Any:
    """Return what a policy answers, or the error that it raises."""
    try:
        return policy(
            *(each() if isinstance(each, _Rereadable) else each for each in args), **kwargs
        )
    except Exception as error:  # noqa: BLE001 -- an error is an answer as well
        return _Raised(error)


def _equal(one: Any, other: Any) -> bool:
    """Whether two answers are surely the same; iterators and functions hardly ever are."""
    if isinstance(one, _Raised) and isinstance(other, _Raised):
        errors = one.error, other.error
        return (
            type(errors[0]) is type(errors[1])
            and vars(errors[0]) == vars(errors[1])
            and (errors[0].args == errors[1].args)
        )
    if isinstance(one, Iterator) or isinstance(other, Iterator):
        return False
    return type(one) is type(other) and bool(one == other)


@dataclass(frozen=True, slots=True)
class _Rereadable:
    """An argument that can be read once only, as one that can be read again."""

    items: tuple[Any, ...]

    def __call__(self) -> Iterator[Any]:
        return iter(self.items)


def _rereadable(argument: Any) -> Any:
    """Return an argument that can be read again."""
    return _Rereadable(tuple(argument)) if isinstance(argument, Iterator) else argument


def _wrapped(value: Any, path: Path, trace: Trace) -> Any:
    """Wrap what can be asked further; note the reading of everything else."""
    if isinstance(value, Mapping):
        return _Table(cast("Mapping[str, Any]", value), path, trace)
    if callable(value):
        return _Function(value, path, trace)
    if is_dataclass(value) and type(value).__name__.endswith("Policies"):
        return _Record(value, path, trace)
    trace.read(path)
    return value


class _Record:
    """Policies whose fields are wrapped."""

    def __init__(self, value: Any, path: Path, trace: Trace) -> None:
        self._of = value, path, trace

    def __getattr__(self, name: str) -> Any:
        value, path, trace = self._of
        return _wrapped(getattr(value, name), (*path, f".{name}"), trace)


class _Table(Mapping[str, Any]):
    """A table whose entries are wrapped."""

    def __init__(self, value: Mapping[str, Any], path: Path, trace: Trace) -> None:
        self._of = value, path, trace

    def __getitem__(self, key: str) -> Any:
        value, path, trace = self._of
        entry = (*path, f"[{key}]")
        if key not in value:
            trace.read(entry)
        return _wrapped(value[key], entry, trace)

    def __iter__(self) -> Iterator[str]:
        value, path, trace = self._of
        trace.read(path)
        return iter(value)

    def __len__(self) -> int:
        value, path, trace = self._of
        trace.read(path)
        return len(value)


class _Function:
    """A policy that is called; whatever else is asked of it counts as a reading."""

    def __init__(self, value: Any, path: Path, trace: Trace) -> None:
        self._of = value, path, trace

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        value, path, trace = self._of
        return trace.call(path, value, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        value, path, trace = self._of
        trace.read(path)
        return getattr(value, name)
