"""A world written in Python by somebody else: its class found, and made.

It is looked for beside the file that names it, and then wherever Python looks. What
its scenes answer is checked elsewhere (`checked_scene`). Only a run imports it: a
target file is read and planned without.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from assay.errors import InputError, TargetError, did_you_mean
from assay.model import Capability
from assay.run.checked_scene import CheckedScene, blame, blamed
from assay.target.profile import Profile
from assay.target.world import Scene, World

__all__ = ["PythonWorld", "found"]

#: What a scene has to be able to do.
SCENE = ("arrange", "clock", "close", "provider", "lack", "register", "withdraw", "sign", "effects")


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonWorld:
    """Opens the scenes of a world called `name`; `moves` if it offers a clock."""

    world: World
    name: str
    moves: bool

    def open(self) -> CheckedScene:
        """Begin a trial."""
        scene = self._opened()
        for method in SCENE:
            if not callable(getattr(scene, method, None)):
                hint = "assay.worlds.NoRequests has what can only be refused"
                raise TargetError(f"the scene of {self.name} has no {method} ({hint})")
        return CheckedScene(scene=scene, name=self.name, moves=self.moves)

    def _opened(self) -> Scene:
        with blamed(f"{self.name}.open"):
            return self.world.open()


def found(profile: Profile, seed: int) -> PythonWorld:
    """Find the class that a profile names, and make the world.

    Raises:
        InputError: there is no such module or class, it does not take these options, or
            it fails when it is imported or made.

    """
    module_name, _, class_name = profile.world.adapter.partition(":")
    module = _module(profile, module_name)
    made: object = getattr(module, class_name, None)
    if not isinstance(made, type):
        classes = [name for name, one in vars(module).items() if isinstance(one, type)]
        hint = did_you_mean(class_name, classes)
        raise _wrong(profile, f"{module_name} has no class {class_name!r}", hint)
    arguments = _arguments(made, profile, seed)
    try:
        world: Any = made(**arguments)
    except (Exception, SystemExit) as error:  # noqa: BLE001 -- whatever stands in there
        raise _wrong(profile, f"{class_name} cannot be made: {blame(error)}") from None
    if not callable(getattr(world, "open", None)):
        raise _wrong(profile, f"{class_name} has no method open", "see assay.worlds.World")
    moves = Capability.CLOCK in profile.world.offers
    return PythonWorld(world=world, name=class_name, moves=moves)


def _module(profile: Profile, name: str) -> ModuleType:
    path = profile.place("world", "adapter")[0]
    try:
        return _imported(name, Path(path).resolve().parent)
    except ModuleNotFoundError as error:
        missing = error.name or name
        if f"{name}.".startswith(f"{missing}."):
            hint = f"looked beside {Path(path).name}, and then where Python looks"
            raise _wrong(profile, f"there is no module {missing!r}", hint) from None
        what = f"{name} imports {missing!r}, which is not there"
        raise _wrong(profile, what, "install it where Assay is installed") from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 -- whatever stands in there
        raise _wrong(profile, f"{name} cannot be imported: {blame(error)}") from None


def _wrong(profile: Profile, what: str, hint: str = "", *under: str) -> InputError:
    path, line = profile.place("world", *(under or ("adapter",)))
    return InputError.one(
        path, f"world.{'.'.join(under or ('adapter',))}: {what}", line=line, hint=hint
    )


def _imported(name: str, folder: Path) -> ModuleType:
    """Import a module, from a folder if it is there."""
    importlib.invalidate_caches()
    top = name.partition(".")[0]
    beside = PathFinder.find_spec(top, [str(folder)])
    known = sys.modules.get(top)
    if beside and known and getattr(known.__spec__, "origin", None) != beside.origin:
        # Another folder's of the same name; Python's own are never put aside.
        for one in [one for one in sys.modules if one == top or one.startswith(f"{top}.")]:
            if top not in {*sys.stdlib_module_names, "assay"}:
                del sys.modules[one]
    with _looking_in(folder):
        return importlib.import_module(name)


@contextmanager
def _looking_in(folder: Path) -> Generator[None]:
    """Look for modules in a folder first; afterwards still, but last.

    What is imported later, when a customer is made, is found as well, and stands in
    nobody's way.
    """
    place = str(folder)
    sys.path.insert(0, place)
    try:
        yield
    finally:
        sys.path.remove(place)
        if place not in sys.path:
            sys.path.append(place)


def _arguments(made: type, profile: Profile, seed: int) -> Mapping[str, object]:
    """Return what a class is made with: its options, and what it asks for by name."""
    options = profile.world.options
    try:
        asked = inspect.signature(made).parameters
    except (TypeError, ValueError):  # made by other means than Python
        return options
    given: Mapping[str, object] = {"seed": seed, "base_url": profile.base_url}
    named = [
        name for name, one in asked.items() if one.kind not in {one.VAR_KEYWORD, one.VAR_POSITIONAL}
    ]
    anything = any(one.kind is one.VAR_KEYWORD for one in asked.values())
    for name in options:
        if name not in named and not anything:
            hint = did_you_mean(name, set(named) - given.keys())
            raise _wrong(profile, f"{made.__name__} takes no such option", hint, "options", name)
    for name in named:
        if asked[name].default is inspect.Parameter.empty and name not in {*options, *given}:
            what = f"{made.__name__} needs the option {name!r}"
            raise _wrong(profile, what, f"add options: {{{name}: …}}", "options")
    return {**{name: one for name, one in given.items() if name in named}, **options}
