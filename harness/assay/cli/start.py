"""Entry point of the console script: an interruption while modules are loaded ends it at once."""

from __future__ import annotations

import gc
import sys
from types import ModuleType
from typing import cast

from assay.cli.signals import loading


def main() -> None:
    """Load the command line and run it."""
    gc.disable()  # what is loaded stays: to look through it for garbage is a waste
    # httpx loads a command line of its own, with Rich and Pygments, if they are installed.
    sys.modules["httpx._main"] = cast("ModuleType", None)
    with loading():
        from assay.cli import main as command_line  # noqa: PLC0415 -- guarded
    command_line.main()
